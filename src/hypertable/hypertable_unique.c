/*-------------------------------------------------------------------------
 *
 * hypertable_unique.c
 *	  Unique keys of hypertables whose chunks go by a function of a column.
 *
 * Equal values of the column have the same function value, so they meet in one
 * chunk, and a unique key that includes the column holds over all chunks.
 * create_hypertable keeps such a key, but PostgreSQL refuses to make one (as a
 * restored dump does): DefineIndex() takes no partition key that is an
 * expression.  While such a statement runs, the relcache entry therefore shows
 * a partition key that is the column itself (pg/pg_relcache.c).
 *
 * Nothing else may see that: it would compare values of the column as if they
 * were times.  So the true key is back as soon as anything is planned, or
 * another utility statement begins (in an event trigger, or a function that an
 * index calls); at worst PostgreSQL then refuses as before.
 *
 * src/hypertable/hypertable_unique.c
 *-------------------------------------------------------------------------
 */
#include "hypertable/hypertable_private.h"
#include "pg/pg.h"

#include "access/table.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

/* See hypertable_private.h. */
bool
strata_unique_key_column(Relation rel, const StrataHypertable *ht)
{
	PartitionKey key = RelationGetPartitionKey(rel);
	Form_pg_attribute att;

	if (!ht->has_function || key == NULL || ht->attno <= 0 ||
		key->partnatts != 1 || key->partattrs[0] != 0 ||
		list_length(pull_var_clause((Node *) key->partexprs, 0)) != 1)
		return false;
	att = TupleDescAttr(RelationGetDescr(rel), ht->attno - 1);
	return strata_equal_is_identical(att->atttypid, att->attcollation);
}

/* See hypertable.h. */
bool
strata_unique_key_allow(Oid relid)
{
	StrataHypertable *ht = strata_hypertable_get(relid);
	StrataOwnerContext saved;
	Relation	rel;
	bool		allowed;

	strata_partition_key_restore();
	if (ht == NULL || !ht->has_function ||
		(rel = try_table_open(relid, AccessShareLock)) == NULL)
		return false;
	strata_owner_enter(rel->rd_rel->relowner, &saved);
	allowed = strata_unique_key_column(rel, ht);
	if (allowed)
		strata_partition_key_show(rel, ht->attno);
	strata_owner_leave(&saved);
	table_close(rel, AccessShareLock);
	return allowed;
}
