/*-------------------------------------------------------------------------
 *
 * hook_index.c
 *	  Indexes that commands make, and what leads from them to batches.
 *
 * src/hook/hook_index.c
 *-------------------------------------------------------------------------
 */
#include "hook/hook_private.h"
#include "hypertable/hypertable.h"
#include "index/index.h"
#include "store/store.h"
#include "base/base.h"

#include "access/heapam.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/lsyscache.h"

/* See hook_private.h. */
void
strata_hook_index_batches(Oid relid, LOCKMODE lockmode, bool all)
{
	ListCell   *lc;

	foreach(lc, find_all_inheritors(relid, NoLock, NULL))
	{
		Relation	rel = try_relation_open(lfirst_oid(lc), lockmode);
		StrataStore *store;

		if (rel == NULL)
			continue;
		store = strata_relation_is_strata(rel) ?
			strata_store_open(rel, RowExclusiveLock) : NULL;
		if (store != NULL)
		{
			Assert(CheckRelationLockedByMe(rel, lockmode,
										   true));	/* index:I4 */
			if (all)
				strata_index_rebuild(store);
			else
				strata_index_update(store);
			strata_store_close(store, NoLock);
		}
		relation_close(rel, NoLock);
	}
}

/*
 * REINDEX SCHEMA or DATABASE has been run, outside of a transaction block: the
 * same for what leads to the batches of all tables in it, each in its own
 * transaction, so that no table is locked while another is read.
 */
void
strata_hook_reindex_all(const ReindexStmt * reindex)
{
	Relation	pg_class = table_open(RelationRelationId, AccessShareLock);
	ScanKeyData key[1];
	TableScanDesc scan;
	HeapTuple	tuple;
	List	   *relids = NIL;
	ListCell   *lc;
	MemoryContext old;
	int			nkeys = 0;

	if (reindex->kind == REINDEX_OBJECT_SCHEMA)
		ScanKeyInit(&key[nkeys++], Anum_pg_class_relnamespace,
					BTEqualStrategyNumber, F_OIDEQ,
					ObjectIdGetDatum(get_namespace_oid(reindex->name,
													   false)));
	scan = table_beginscan_catalog(pg_class, nkeys, key);
	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);

		if (form->relkind == RELKIND_RELATION &&
			form->relam != HEAP_TABLE_AM_OID &&
			form->relpersistence != RELPERSISTENCE_TEMP)
		{
			old = MemoryContextSwitchTo(PortalContext);
			relids = lappend_oid(relids, form->oid);
			MemoryContextSwitchTo(old);
		}
	}
	table_endscan(scan);
	table_close(pg_class, AccessShareLock);
	foreach(lc, relids)
	{
		/* an event trigger's function (17) has left that of the portal */
		if (ActiveSnapshotSet())
			PopActiveSnapshot();
		CommitTransactionCommand();
		StartTransactionCommand();
		PushActiveSnapshot(GetTransactionSnapshot());
		strata_hook_index_batches(lfirst_oid(lc), ShareUpdateExclusiveLock,
								  true);
		PopActiveSnapshot();
	}
}

/* See hook_private.h. */
bool
strata_hook_alters_batch_indexes(const AlterTableCmd *cmd)
{
	ListCell   *lc;

	switch (cmd->subtype)
	{
		case AT_AddConstraint:
			return castNode(Constraint, cmd->def)->contype == CONSTR_PRIMARY ||
				castNode(Constraint, cmd->def)->contype == CONSTR_UNIQUE;
		case AT_AttachPartition:
			/* indexes of the column are others then, which have summaries */
		case AT_AlterColumnType:
			return true;
		case AT_AddColumn:
			return castNode(ColumnDef, cmd->def)->constraints != NIL;
		case AT_SetRelOptions:
		case AT_ResetRelOptions:
			foreach(lc, (List *) cmd->def)
			{
				const DefElem *option = lfirst_node(DefElem, lc);

				if (strcmp(option->defname, "batch_index") == 0 ||
					strcmp(option->defname, "strata.batch_index") == 0)
					return true;
			}
			return false;
		default:
			return false;
	}
}

static bool
is_index(Oid oid)
{
	char		kind = OidIsValid(oid) ? get_rel_relkind(oid) : '\0';

	return kind == RELKIND_INDEX || kind == RELKIND_PARTITIONED_INDEX;
}

/* The index that a CREATE INDEX has made, opened; NULL: there is none. */
static Relation
open_made(Relation rel, const IndexStmt *index)
{
	Oid			oid = index->idxname == NULL ? InvalidOid :
	get_relname_relid(index->idxname, RelationGetNamespace(rel));
	ListCell   *lc;

	/* without a name it is the latest */
	if (index->idxname == NULL)
		foreach(lc, RelationGetIndexList(rel))
			oid = Max(oid, lfirst_oid(lc));
	return is_index(oid) ? try_relation_open(oid, AccessShareLock) : NULL;
}

/* See hook_private.h. */
void
strata_hook_tell_of_index(Oid relid, const IndexStmt *index)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);
	Relation	made;
	const char *obstacle;

	if (rel == NULL)
		return;
	made = (strata_relation_is_strata(rel) || strata_hypertable_is(relid)) &&
		strata_settings_batch_index(rel) ? open_made(rel, index) : NULL;
	if (made != NULL)
	{
		obstacle = strata_index_obstacle(rel, made);
		if (obstacle != NULL)
			ereport(NOTICE,
					(errmsg("index \"%s\" does not lead to compressed rows",
							RelationGetRelationName(made)),
					 errdetail_internal("%s", obstacle),
					 errhint("It serves the rows that are not compressed yet; queries read the others. Indexes by b-tree, hash, BRIN, GiST and GIN lead to these, also on an expression of another type.")));
		relation_close(made, AccessShareLock);
	}
	relation_close(rel, AccessShareLock);
}

/* See hook_private.h. */
void
strata_hook_check_drop_index(const DropStmt *stmt)
{
	ListCell   *lc;

	if (stmt->removeType != OBJECT_INDEX || !stmt->concurrent)
		return;
	foreach(lc, stmt->objects)
	{
		RangeVar   *name = makeRangeVarFromNameList(lfirst_node(List, lc));
		Oid			relid = RangeVarGetRelid(name, NoLock, true);

		if (OidIsValid(relid) &&
			get_rel_relkind(relid) == RELKIND_PARTITIONED_INDEX &&
			strata_hypertable_is(IndexGetRelation(relid, true)))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot drop index \"%s\" of a hypertable concurrently",
							name->relname),
					 errhint("DROP INDEX %s; with a short lock_timeout, lest others wait behind it.",
							 strata_sql_name(relid))));
	}
}
