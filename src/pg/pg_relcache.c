/*-------------------------------------------------------------------------
 *
 * pg_relcache.c
 *	  Relcache entries of partitioned tables that show, for the time of one
 *	  statement, what is not so.
 *
 * DefineIndex() refuses a unique key of a table whose partition key is an
 * expression, and ATTACH PARTITION refuses a table that the session is using.
 * Both look at the relcache entry only.
 *
 * src/pg/pg_relcache.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"

#include "access/xact.h"
#include "catalog/pg_am.h"
#include "commands/defrem.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/partcache.h"

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

/* See pg.h. */
void
strata_partition_key_show(Relation rel, AttrNumber attno)
{
	PartitionKey key = RelationGetPartitionKey(rel);
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attno - 1);
	Oid			opclass = GetDefaultOpClass(att->atttypid, BTREE_AM_OID);
	Oid			family = get_opclass_family(opclass);
	Oid			type = get_opclass_input_type(opclass);
	MemoryContextCallback *callback;

	Assert(shown == NULL);		/* pg:Q3 */
	Assert(key->partnatts == 1 && key->partattrs[0] == 0);	/* pg:Q3 */
	callback = MemoryContextAlloc(rel->rd_partkeycxt,
								  sizeof(MemoryContextCallback));
	callback->func = key_is_gone;
	callback->arg = key;
	MemoryContextRegisterResetCallback(rel->rd_partkeycxt, callback);
	true_family = key->partopfamily[0];
	true_type = key->partopcintype[0];
	true_collation = key->partcollation[0];
	key->partopfamily[0] = family;
	key->partopcintype[0] = type;
	key->partcollation[0] = att->attcollation;
	key->partattrs[0] = attno;
	shown = key;
}

/* See pg.h. */
void
strata_partition_key_restore(void)
{
	if (shown == NULL)
		return;
	shown->partattrs[0] = 0;
	shown->partopfamily[0] = true_family;
	shown->partopcintype[0] = true_type;
	shown->partcollation[0] = true_collation;
	shown = NULL;
}

/* Keep a context of partition descriptors until the end of the transaction. */
static void
keep_context(MemoryContext *context)
{
	if (*context != NULL)
		MemoryContextSetParent(*context, TopTransactionContext);
	*context = NULL;
}

/* See pg.h. */
StrataRelationUse
strata_relation_hide_use(Relation rel)
{
	StrataRelationUse use = {rel->rd_refcnt, rel->rd_createSubid};

	Assert(use.refcnt > 0);		/* pg:Q3 */
	keep_context(&rel->rd_pdcxt);
	keep_context(&rel->rd_pddcxt);
	rel->rd_partdesc = NULL;
	rel->rd_partdesc_nodetached = NULL;
	/* one made in this transaction is never thrown away, used or not */
	if (use.created == InvalidSubTransactionId)
		rel->rd_createSubid = GetCurrentSubTransactionId();
	rel->rd_refcnt = 0;
	return use;
}

/* See pg.h. */
void
strata_relation_restore_use(Relation rel, StrataRelationUse use)
{
	rel->rd_refcnt += use.refcnt;
	rel->rd_createSubid = use.created;
}
