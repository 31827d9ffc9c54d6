/*-------------------------------------------------------------------------
 *
 * hook_object.c
 *	  A table that is dropped takes its companion along, and its rows' times
 *	  have changed.
 *
 * Dependencies cannot say this (a companion is an extension member, and R's
 * drop would become the extension's).  Those of its columns that a command can
 * drop by themselves stand before the table in its list
 * (strata_companion_bind).
 *
 * src/hook/hook_object.c
 *-------------------------------------------------------------------------
 */
#include "hook/hook_private.h"
#include "base/base.h"
#include "catalog/catalog.h"
#include "hypertable/hypertable.h"
#include "rollup/rollup.h"
#include "stat/stat.h"
#include "store/store_companion.h"
#include "track/track.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/objectaccess.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

static object_access_hook_type previous_hook = NULL;

/* A chunk is about to be dropped: its rows go. */
static void
track_dropped(Oid relid)
{
	/* DROP has locked it */
	Relation	rel = table_open(relid, NoLock);
	StrataTracked tracked;

	if (strata_store_tracked(rel, &tracked))
		strata_track_whole(&tracked);
	table_close(rel, NoLock);
}

/*
 * A chunk is dropped, or detached: what was kept there is not any more, unless
 * another chunk has it.
 */
static void
uncover(Oid chunk, Oid parent)
{
	int64		lo = PG_INT64_MIN;
	int64		hi = PG_INT64_MAX;

	if (strata_rollup_row_of_archive(parent) == NULL)
		return;
	(void) strata_chunk_times(chunk, &lo, &hi);
	Assert(lo <= hi);			/* track:D1 */
	if (strata_chunk_is_merging)
		strata_rollup_uncover(parent, lo, hi);
	else
		strata_rollup_lose(parent, lo, hi);
}

/*
 * A table is about to be dropped, by whatever statement: its companion goes
 * along, if it is one of ours, and its policies.
 */
static void
drop_companion(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Form_pg_class form;
	StrataLocator locator = {0};

	if (!HeapTupleIsValid(tuple))
		return;
	form = (Form_pg_class) GETSTRUCT(tuple);
	if (form->relkind == RELKIND_VIEW)
	{
		StrataRollupRow *row = strata_rollup_row(relid);

		if (row != NULL)
		{
			/* in the order in which a refresh locks */
			LockRelationOid(row->archive, AccessExclusiveLock);
			strata_rollup_note_dropped(row->archive);
		}
		strata_rollup_forget(relid);
	}
	if (form->relkind == RELKIND_PARTITIONED_TABLE)
	{
		StrataRollupRow *row = strata_rollup_row_of_archive(relid);

		if (row != NULL)
			strata_rollup_forget(row->view);
		strata_track_source_forget(relid);
		/* temporary tables have none */
		if (form->relpersistence != RELPERSISTENCE_TEMP &&
			strata_job_tables_exist())
			strata_job_delete_of(relid);
	}
	if ((form->relkind == RELKIND_RELATION ||
		 form->relkind == RELKIND_MATVIEW) &&
		strata_is_strata_am(form->relam))
	{
		STRATA_LOCATOR_SPACE(locator) = OidIsValid(form->reltablespace) ?
			form->reltablespace : MyDatabaseTableSpace;
		STRATA_LOCATOR_NUMBER(locator) = form->relfilenode;
		/* also when it has been detached */
		strata_divide_dropped(relid);
		if (form->relispartition)
		{
			track_dropped(relid);
			uncover(relid, get_partition_parent(relid, true));
		}
		strata_companion_drop_of(&locator, form->relpersistence);
		strata_stat_dropped(relid);
	}
	ReleaseSysCache(tuple);
}

/*
 * A table is made a child of another, or is one no more.  One without rows,
 * like a chunk just made, changes nothing.
 */
static void
track_child(Oid relid, Oid parent)
{
	Relation	rel;
	StrataTracked tracked;
	bool		empty;

	if (get_rel_relkind(parent) != RELKIND_PARTITIONED_TABLE)
		return;
	/* one that goes is a partition still, and one that comes is none yet */
	if (get_rel_relispartition(relid))
		uncover(relid, parent);
	if (!strata_track_source_get(parent, &tracked.lo, &tracked.hi))
		return;
	Assert(tracked.lo <= tracked.hi);	/* track:D1 */
	/* who does this has it locked */
	rel = relation_open(relid, NoLock);
	empty = RELKIND_HAS_STORAGE(rel->rd_rel->relkind) &&
		RelationGetNumberOfBlocks(rel) == 0 &&
		!OidIsValid(strata_companion_oid(rel));
	relation_close(rel, NoLock);
	if (!empty)
		strata_track_moved(relid, parent, get_rel_relispartition(relid));
}

/*
 * ALTER TABLE has changed a column of the table, which it has locked.  Values
 * of one that is computed may be others now (17: SET EXPRESSION).
 */
static void
track_computed(Oid relid, AttrNumber attno)
{
	Relation	rel = relation_open(relid, AccessShareLock);
	StrataTracked tracked;

	if (rel->rd_rel->relkind == RELKIND_RELATION &&
		rel->rd_rel->relispartition &&
		TupleDescAttr(RelationGetDescr(rel), attno - 1)->attgenerated != 0 &&
		strata_relation_is_strata(rel) && strata_store_tracked(rel, &tracked))
		strata_track_whole(&tracked);	/* track:D1 */
	relation_close(rel, AccessShareLock);
}

/*
 * See hook_private.h.  A partition that becomes a heap is changed unheard from
 * then on, an unlogged one is emptied by a crash; one that is detached
 * concurrently is out of sight at the end of the command's first transaction.
 */
void
strata_hook_track_alter(const AlterTableStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst_node(AlterTableCmd, lc);
		RangeVar   *name = NULL;
		Oid			relid;
		Relation	rel;
		StrataTracked tracked;

		if (cmd->subtype == AT_SetAccessMethod ||
			cmd->subtype == AT_SetUnLogged)
			name = stmt->relation;
		else if (cmd->subtype == AT_DetachPartition)
			name = castNode(PartitionCmd, cmd->def)->name;
		if (name == NULL)
			continue;
		relid = RangeVarGetRelid(name, NoLock, true);
		rel = OidIsValid(relid) ? try_relation_open(relid, AccessShareLock) :
			NULL;
		if (rel == NULL)
			continue;
		if (rel->rd_rel->relispartition &&
			strata_relation_is_strata(rel) &&
			strata_store_tracked(rel, &tracked))
			strata_track_whole(&tracked);
		relation_close(rel, AccessShareLock);
	}
}

/* See hook_private.h.  Who has detached it has it locked. */
void
strata_hook_follow_detach(const AlterTableStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst_node(AlterTableCmd, lc);
		Oid			relid;

		if (cmd->subtype != AT_DetachPartition &&
			cmd->subtype != AT_DetachPartitionFinalize)
			continue;
		CommandCounterIncrement();
		relid = RangeVarGetRelid(castNode(PartitionCmd, cmd->def)->name,
								 NoLock, true);
		if (OidIsValid(relid) && !get_rel_relispartition(relid))
			strata_divide_give_up(relid);
	}
}

/* What the server says of objects that are made, changed or dropped. */
static void
object_access(ObjectAccessType access, Oid class_id, Oid object_id, int sub_id,
			  void *arg)
{
	if (previous_hook)
		previous_hook(access, class_id, object_id, sub_id, arg);
	if (access == OAT_DROP && class_id == RelationRelationId && sub_id == 0)
		drop_companion(object_id);
	if (access == OAT_DROP && class_id == RelationRelationId && sub_id > 0)
		strata_hook_column_dropped(object_id, sub_id);
	if (access == OAT_POST_ALTER && class_id == RelationRelationId &&
		sub_id > 0)
	{
		strata_hook_column_altered(object_id, sub_id);
		track_computed(object_id, (AttrNumber) sub_id);
	}
	if (access == OAT_POST_ALTER && class_id == InheritsRelationId &&
		sub_id == 0 && arg != NULL)
		track_child(object_id,
					((ObjectAccessPostAlter *) arg)->auxiliary_id);
}

void
strata_object_hook_init(void)
{
	Assert(object_access_hook != object_access);	/* hook:H1 */
	previous_hook = object_access_hook;
	object_access_hook = object_access;
}
