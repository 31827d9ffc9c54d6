/*-------------------------------------------------------------------------
 *
 * hook_stale_plan.c
 *	  A plan must not run that misses rows which its snapshot sees.
 *
 * A table without batches keeps PostgreSQL's own plans, which see the row
 * store only.  Compression does not conflict with readers, so it may commit
 * between a query's planning and its snapshot: the plan would then miss the
 * rows that have become batches.  Locks do not help (readers must not wait),
 * nor does plan invalidation (it comes at the next lock).
 *
 * A hypertable likewise: others make chunks while plans that read it are kept,
 * and a session that holds all its locks does not hear of them.
 *
 * And a plan that reads a rollup's archive holds only where that is clean.
 *
 * So a plan that reads such a table carries the query it was made from, and
 * ExecutorStart, when the snapshot stands, plans again if a table has a
 * companion, or a hypertable has changed, by then, or an archive is not clean
 * in the snapshot.
 *
 * src/hook/hook_stale_plan.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "hook/hook_private.h"
#include "hypertable/hypertable.h"
#include "pg/pg.h"
#include "rollup/rollup.h"
#include "store/store.h"

#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "storage/lmgr.h"
#include "utils/inval.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

/*
 * A plan's note (pg/pg_plan_note.c): the oids of strata tables that had no
 * companion, the query, its cursor options, the oids of hypertables, the
 * moment they were looked up, and what it uses of archives.
 */
static List *
make_note(List *relids, int cursor_options, const StrataStaleQuery *stale)
{
	List	   *note = list_make5(relids, stale->query,
								  makeInteger(cursor_options),
								  stale->hypertables,
								  makeFloat(psprintf(UINT64_FORMAT,
													 stale->moment)));

	return lappend(note, stale->uses);
}

/*-------------------------------------------------------------------------
 * Planning
 *-------------------------------------------------------------------------
 */

/* May relid be a strata table, or hold one as a partition or child? */
static bool
may_be_strata(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Form_pg_class form;
	bool		result;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_class) GETSTRUCT(tuple);
	result = form->relkind == RELKIND_PARTITIONED_TABLE ||
		(form->relkind == RELKIND_RELATION && form->relhassubclass) ||
		(RELKIND_HAS_TABLE_AM(form->relkind) &&
		 strata_is_strata_am(form->relam));
	ReleaseSysCache(tuple);
	return result;
}

/*
 * May a plan that reads the table miss rows some day?  Not where it has
 * batches already: they stay with its storage, and the companion stays under
 * our lock.
 */
static bool
may_miss_rows(Oid relid)
{
	Relation	rel = table_open(relid, NoLock);
	bool		result;

	result = rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ||
		(rel->rd_rel->relkind == RELKIND_RELATION &&
		 rel->rd_rel->relhassubclass);
	if (!result && strata_relation_is_strata(rel))
	{
		Oid			companion = strata_companion_oid(rel);

		if (OidIsValid(companion))
			LockRelationOid(companion, AccessShareLock);
		result = !OidIsValid(companion) ||
			strata_companion_oid(rel) != companion;
	}
	table_close(rel, NoLock);
	return result;
}

/* The table that an INSERT writes to, and does not read, or NULL. */
static RangeTblEntry *
insert_target(Query *query)
{
	return query->commandType == CMD_INSERT ?
		rt_fetch(query->resultRelation, query->rtable) :
		NULL;
}

/* May a plan of the query, those inside it left out, go stale? */
static bool
may_go_stale(Query *query, void *context)
{
	RangeTblEntry *target = insert_target(query);
	ListCell   *lc;

	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte == target)
			continue;
		if (strata_rte_may_be_inlined(rte) ||
			(rte->rtekind == RTE_RELATION &&
			 (RELKIND_HAS_TABLE_AM(rte->relkind) ||
			  rte->relkind == RELKIND_PARTITIONED_TABLE) &&
			 may_miss_rows(rte->relid)))
			return true;
	}
	return false;
}

/* Which hypertables does it read?  Call before they are looked into. */
static bool
find_hypertables(Query *query, void *context)
{
	StrataStaleQuery *found = context;
	RangeTblEntry *target = insert_target(query);
	ListCell   *lc;

	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_RELATION &&
			rte->relkind == RELKIND_PARTITIONED_TABLE && rte != target &&
			strata_hypertable_is(rte->relid))
		{
			uint64		moment = strata_hypertable_watch(rte->relid);

			if (found->hypertables == NIL)
				found->moment = moment;
			found->hypertables = list_append_unique_oid(found->hypertables,
														rte->relid);
		}
	}
	return false;
}

/* Strata tables of a finished plan that have no companion. */
static List *
uncompressed_tables(PlannedStmt *stmt)
{
	RangeTblEntry *target;
	List	   *relids = NIL;
	ListCell   *lc;

	target = stmt->commandType == CMD_INSERT ?
		rt_fetch(linitial_int(stmt->resultRelations), stmt->rtable) : NULL;
	foreach(lc, stmt->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);
		Relation	rel;

		if (rte->rtekind != RTE_RELATION || rte == target ||
			!RELKIND_HAS_TABLE_AM(rte->relkind))
			continue;
		rel = table_open(rte->relid, NoLock);
		if (strata_relation_is_strata(rel) &&
			!OidIsValid(strata_companion_oid(rel)))
			relids = list_append_unique_oid(relids, rte->relid);
		table_close(rel, NoLock);
	}
	return relids;
}

/* See hook_private.h. */
void
strata_stale_plan_keep(Query *query, StrataStaleQuery *stale)
{
	memset(stale, 0, sizeof(*stale));
	/* what other sessions did to tables that we hold locks on already */
	AcceptInvalidationMessages();
	if (query->commandType == CMD_UTILITY ||
		!strata_query_visit_all(query, may_go_stale, NULL))
		return;
	stale->query = copyObject(query);
	Assert(stale->query != query);	/* hook:H2 */
	(void) strata_query_visit_all(stale->query, find_hypertables, stale);
}

/* See hook_private.h. */
void
strata_stale_plan_uses(Query *query, List *uses, StrataStaleQuery *stale)
{
	if (uses == NIL)
		return;
	Assert(stale->query != NULL);	/* hook:H2: what it is made of, too */
	stale->uses = list_concat(stale->uses, uses);
	(void) strata_query_visit_all(query, find_hypertables, stale);
}

/* See hook_private.h. */
void
strata_stale_plan_carry(PlannedStmt *stmt, int cursor_options,
						const StrataStaleQuery *stale)
{
	List	   *relids;

	if (stale->query == NULL)
		return;
	Assert(stale->query->commandType ==
		   stmt->commandType);	/* hook:H3: planned again, it is the same
								 * statement */
	relids = uncompressed_tables(stmt);
	if (relids != NIL || stale->hypertables != NIL || stale->uses != NIL)
		strata_plan_note_attach(stmt,
								make_note(relids, cursor_options, stale));
}

/*-------------------------------------------------------------------------
 * Execution
 *-------------------------------------------------------------------------
 */

static bool
any_compressed_now(List *relids)
{
	ListCell   *lc;

	foreach(lc, relids)
	{
		Relation	rel = table_open(lfirst_oid(lc), NoLock);
		bool		compressed;

		compressed = strata_relation_is_strata(rel) &&
			OidIsValid(strata_companion_oid_now(rel));
		table_close(rel, NoLock);
		if (compressed)
			return true;
	}
	return false;
}

static bool
any_changed(List *hypertables, uint64 moment)
{
	ListCell   *lc;

	if (hypertables != NIL)
		AcceptInvalidationMessages();
	foreach(lc, hypertables)
	{
		if (strata_hypertable_changed_since(lfirst_oid(lc), moment))
			return true;
	}
	return false;
}

/* Does a plan with this note miss what its snapshot sees? */
static bool
is_stale(List *note, Snapshot snapshot, ParamListInfo params)
{
	if (note == NIL)
		return false;
	return any_changed(list_nth(note, 3),
					   strtou64(castNode(Float, list_nth(note, 4))->fval, NULL,
								10)) ||
		any_compressed_now(linitial(note)) ||
		!strata_rollup_uses_hold(list_nth(note, 5), snapshot, params);
}

/* Does the plan lock rows of a table that may be strata's? */
static bool
locks_strata_rows(PlannedStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, stmt->rowMarks)
	{
		PlanRowMark *mark = lfirst_node(PlanRowMark, lc);

		if (RowMarkRequiresRowShareLock(mark->markType) &&
			may_be_strata(rt_fetch(mark->rti, stmt->rtable)->relid))
			return true;
	}
	return false;
}

/* Have chunks been dropped, whose rows a rollup keeps now, since its snapshot? */
static bool
misses_kept_rows(const QueryDesc *query_desc)
{
	List	   *note = strata_plan_note_find(query_desc->plannedstmt);
	List	   *uses = note == NIL ? NIL : list_nth(note, 5);

	return uses != NIL && query_desc->snapshot != NULL &&
		strata_rollup_past_moved(uses, query_desc->snapshot);
}

/* Has one of its hypertables been divided since the snapshot was taken? */
static bool
misses_divided_rows(const QueryDesc *query_desc)
{
	List	   *note = strata_plan_note_find(query_desc->plannedstmt);
	ListCell   *lc;

	if (note == NIL || query_desc->snapshot == NULL)
		return false;
	foreach(lc, list_nth(note, 3))
	{
		if (strata_hypertable_divided_since(lfirst_oid(lc),
											query_desc->snapshot))
			return true;
	}
	return false;
}

/*
 * See hook_private.h.  EXECUTE of a SELECT FOR UPDATE takes its snapshot
 * before it waits for its locks.  Rows that a compression moved in between
 * would look deleted to it, so it gets a snapshot from after the wait, as
 * every other statement that locks or changes rows does.  So does a query that
 * has waited for a transaction which dropped chunks that a rollup keeps, or
 * has divided a chunk.
 */
void
strata_stale_snapshot_renew(QueryDesc *query_desc)
{
	Snapshot	snapshot;

	if (IsolationUsesXactSnapshot() || IsParallelWorker())
		return;
	if (!misses_kept_rows(query_desc) && !misses_divided_rows(query_desc) &&
		(query_desc->operation != CMD_SELECT ||
		 query_desc->plannedstmt->rowMarks == NIL ||
		 !locks_strata_rows(query_desc->plannedstmt)))
		return;
	Assert(query_desc->estate ==
		   NULL);				/* hook:H3: nobody has used the old one */
	snapshot = GetTransactionSnapshot();
	if (query_desc->snapshot->snapshot_type != SNAPSHOT_MVCC ||
		query_desc->snapshot->snapXactCompletionCount ==
		snapshot->snapXactCompletionCount)
		return;
	UnregisterSnapshot(query_desc->snapshot);
	query_desc->snapshot = RegisterSnapshot(snapshot);
}

/* A plan for what the snapshot sees, in place of a stale one. */
static void
plan_again(QueryDesc *query_desc, List *note)
{
	PlannedStmt *old = query_desc->plannedstmt;
	PlannedStmt *stmt;

	Assert(query_desc->planstate == NULL &&
		   list_length(note) == 6); /* hook:H3 */
	/* what is planned for is what this snapshot sees */
	PushActiveSnapshot(query_desc->snapshot);
	stmt = strata_plan_query(copyObject(lsecond(note)), query_desc->sourceText,
							 intVal(lthird(note)), query_desc->params);
	PopActiveSnapshot();
	stmt->canSetTag = old->canSetTag;
	stmt->queryId = old->queryId;
	stmt->stmt_location = old->stmt_location;
	stmt->stmt_len = old->stmt_len;
	query_desc->plannedstmt = stmt;
}

/* See hook_private.h. */
void
strata_stale_plan_renew(QueryDesc *query_desc)
{
	List	   *note = strata_plan_note_find(query_desc->plannedstmt);

	if (is_stale(note, query_desc->snapshot, query_desc->params))
	{
		plan_again(query_desc, note);
		note = strata_plan_note_find(query_desc->plannedstmt);
	}
	if (note != NIL && list_nth(note, 5) != NIL && !IsParallelWorker())
		strata_rollup_past_check(list_nth(note, 5), query_desc->snapshot);

	/*
	 * what the snapshot sees was in another chunk; rows that have changed
	 * their chunk may be missing
	 */
	if (!IsParallelWorker() && misses_divided_rows(query_desc))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access: chunks of a hypertable were divided or merged after this transaction had taken its snapshot"),
				 errhint("Retry the transaction.")));
}
