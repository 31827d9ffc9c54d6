/*-------------------------------------------------------------------------
 *
 * hook_torture.c
 *	  strata.torture: compress a table after every statement that wrote to it.
 *
 * For developers: any suite then runs on compressed rows.  A table that cannot
 * be locked at once, has after-triggers still to fire, or is not the user's,
 * is left alone.
 *
 * src/hook/hook_torture.c
 *-------------------------------------------------------------------------
 */
#include "hook/hook_private.h"
#include "base/base.h"
#include "compress/compress.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

static bool busy = false;

/* See hook_private.h. */
void
strata_torture_relation(Oid relid)
{
	Relation	rel;
	StrataCompressResult result;
	StrataOwnerContext saved;

	if (busy || !strata_table_ownercheck(relid, GetUserId()) ||
		!ConditionalLockRelationOid(relid, ExclusiveLock))
		return;
	rel = try_table_open(relid, NoLock);
	if (rel == NULL)
		return;
	if (strata_relation_is_strata(rel) && !AfterTriggerPendingOnRel(relid) &&
		rel->rd_refcnt == 1 && strata_store_can_compress(rel, NULL))
	{
		busy = true;
		/* a failure must not leave torture off for good */
		PG_TRY();
		{
			strata_owner_enter(rel->rd_rel->relowner, &saved);
			strata_store_compress(rel, false, &result);
			strata_owner_leave(&saved);
		}
		PG_FINALLY();
		{
			busy = false;
		}
		PG_END_TRY();
	}
	table_close(rel, NoLock);
}

/* See hook_private.h. */
List *
strata_torture_list(QueryDesc *query_desc)
{
	List	   *written = NIL;

	if (!strata_torture || busy || query_desc->operation == CMD_SELECT ||
		!IsTransactionState() ||
		query_desc->estate->es_result_relations == NULL)
		return NIL;
	for (Index i = 0; i < query_desc->estate->es_range_table_size; i++)
	{
		ResultRelInfo *rri = query_desc->estate->es_result_relations[i];

		if (rri != NULL && rri->ri_RelationDesc != NULL &&
			strata_relation_is_strata(rri->ri_RelationDesc))
			written = lappend_oid(written,
								  RelationGetRelid(rri->ri_RelationDesc));
	}
	return written;
}

/* See hook_private.h. */
void
strata_torture_tables(List *written)
{
	ListCell   *lc;

	if (written != NIL)
		CommandCounterIncrement();
	foreach(lc, written)
		strata_torture_relation(lfirst_oid(lc));
}

/* See hook_private.h. */
void
strata_torture_table(const RangeVar *name)
{
	Oid			relid;

	relid = name != NULL ? RangeVarGetRelid(name, NoLock, true) : InvalidOid;
	if (!strata_torture || !OidIsValid(relid) ||
		get_rel_relkind(relid) != RELKIND_RELATION)
		return;
	CommandCounterIncrement();
	strata_torture_relation(relid);
}
