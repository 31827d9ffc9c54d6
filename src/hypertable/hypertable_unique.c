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
 * a partition key that is the column itself.
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

#include "access/nbtree.h"
#include "access/table.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "commands/defrem.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/*
 * The entry's key that is not as it should be, or NULL; and what it should
 * say.
 */
static PartitionKey shown = NULL;
static Oid	true_family;
static Oid	true_type;
static Oid	true_collation;

/* The relcache entry goes, and the key with it. */
static void
key_is_gone(void *arg)
{
	if (shown == arg)
		shown = NULL;
}

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
	Relation	rel;

	strata_unique_key_done();
	if (ht == NULL || !ht->has_function ||
		(rel = try_table_open(relid, AccessShareLock)) == NULL)
		return false;
	if (strata_unique_key_column(rel, ht))
	{
		PartitionKey key = RelationGetPartitionKey(rel);
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel),
											  ht->attno - 1);
		Oid			opclass = GetDefaultOpClass(att->atttypid, BTREE_AM_OID);
		MemoryContextCallback *callback;

		true_family = key->partopfamily[0];
		true_type = key->partopcintype[0];
		true_collation = key->partcollation[0];
		callback = MemoryContextAlloc(rel->rd_partkeycxt,
									  sizeof(MemoryContextCallback));
		callback->func = key_is_gone;
		callback->arg = key;
		MemoryContextRegisterResetCallback(rel->rd_partkeycxt, callback);
		key->partopfamily[0] = get_opclass_family(opclass);
		key->partopcintype[0] = get_opclass_input_type(opclass);
		key->partcollation[0] = att->attcollation;
		key->partattrs[0] = ht->attno;
		shown = key;
	}
	table_close(rel, AccessShareLock);
	return shown != NULL;
}

/* See hypertable.h. */
void
strata_unique_key_done(void)
{
	if (shown == NULL)
		return;
	shown->partattrs[0] = 0;
	shown->partopfamily[0] = true_family;
	shown->partopcintype[0] = true_type;
	shown->partcollation[0] = true_collation;
	shown = NULL;
}
