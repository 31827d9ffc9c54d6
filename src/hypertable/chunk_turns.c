/*-------------------------------------------------------------------------
 *
 * chunk_turns.c
 *	  ORDER BY time LIMIT n, min(time), max(time): chunks are planned when
 *	  their turn comes.
 *
 * A query without a condition on the time is planned for each chunk there is,
 * and all of them are opened, though the first rows come out of the newest, or
 * the oldest.  So such a query is planned with a condition that leaves the
 * first chunks.  A node above that plan hands its rows on, and when there are
 * fewer than LIMIT asks for, it plans and runs the same query for the next
 * chunks, four times as many each time.  Parts are of times, not of chunks:
 * all times are in one of them, whatever chunks there are by then.
 *
 * min(time) or max(time) is that of the first part with a row.  Both in one
 * query are asked of the first chunk and of the last (turns_ends.c), and of
 * all if one of them has no row.
 *
 * Who opens a cursor need not be who fetches from it.  PostgreSQL plans a
 * query and checks privileges when it begins, so later parts are planned and
 * begun as the user, and with the search_path, that the query began with:
 * planned under another path they may be of other functions.  They run, as any
 * plan does, as whoever fetches.
 *
 * Chunks of later parts are not locked before: the snapshot tells whether one
 * was truncated or written anew since, and then the query fails; a copy with
 * all versions of rows is as good as what was copied.
 *
 * Later parts run to their end, for as many rows as are still asked for,
 * before the first of their rows is handed on.
 *
 * src/hypertable/chunk_turns.c
 *-------------------------------------------------------------------------
 */
#include "hypertable/chunk_route.h"
#include "hypertable/turns_private.h"
#include "base/compat.h"
#include "store/store.h"
#include "store/store_companion.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "commands/explain.h"
#ifdef STRATA_EXPLAIN_IS_SPLIT
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "executor/executor.h"
#include "executor/tstoreReceiver.h"
#include "miscadmin.h"
#include "tcop/tcopprot.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

typedef struct TurnsState
{
	CustomScanState css;
	StrataTurns turns;			/* after the part that has run */
	int			parts;			/* that ran after the first */
	bool		first_done;
	uint64		delivered;
	bool		unlimited;
	uint64		limit;			/* known when first_done */
	StrataStarter starter;		/* of the query */
	Snapshot	locked;			/* of when the query had its table locked */
	Tuplestorestate *rows;		/* of a later part, or NULL */
	TupleTableSlot *slot;
} TurnsState;

/* Is a part of a query being planned? */
static bool planning_part = false;

static Node *create_turns_state(CustomScan *scan);

static const CustomScanMethods turns_methods = {
	.CustomName = "StrataChunksInTurn",
	.CreateCustomScanState = create_turns_state
};

/*-------------------------------------------------------------------------
 * Planning
 *-------------------------------------------------------------------------
 */

/* See chunk_route.h. */
bool
strata_turns_plan(PlannedStmt *stmt, List *turns)
{
	CustomScan *scan;
	ListCell   *above;
	ListCell   *below;

	if (turns == NIL)
		return true;
	if (!IsA(stmt->planTree, Limit) && !strata_turns_aggregate(turns))
		return false;
	scan = strata_make_pass_through(stmt->planTree, &turns_methods);
	/* the client is told which columns they are */
	forboth(above, scan->scan.plan.targetlist, below,
			stmt->planTree->targetlist)
	{
		TargetEntry *te = lfirst_node(TargetEntry, above);

		te->resorigtbl = lfirst_node(TargetEntry, below)->resorigtbl;
		te->resorigcol = lfirst_node(TargetEntry, below)->resorigcol;
	}
	strata_turns_put(scan, turns);
	stmt->planTree = (Plan *) scan;
	return true;
}

/*-------------------------------------------------------------------------
 * Execution
 *-------------------------------------------------------------------------
 */

static void
begin_turns(CustomScanState *css, EState *estate, int eflags)
{
	TurnsState *state = (TurnsState *) css;
	CustomScan *scan = castNode(CustomScan, css->ss.ps.plan);

	strata_turns_read(scan, &state->turns);
	strata_starter_note(&state->starter);
	strata_custom_begin_child(css, estate, eflags);
	state->locked = RegisterSnapshot(GetCatalogSnapshot(InheritsRelationId));
	state->slot = ExecInitExtraTupleSlot(estate,
										 ExecGetResultType(outerPlanState(css)),
										 &TTSOpsMinimalTuple);
}

/* A part's query is ours: columns of ORDER BY alone come, too. */
static Query *
own_query(Query *query)
{
	ListCell   *lc;

	foreach(lc, query->targetList)
		lfirst_node(TargetEntry, lc)->resjunk = false;
	/* it is no statement that anybody has sent */
	query->queryId = 0;
	return query;
}

/*
 * The query for the part that comes next, in the current context; NULL: there
 * is none.
 */
static Query *
next_part(TurnsState *state)
{
	StrataTurns *turns = &state->turns;
	EState	   *estate = state->css.ss.ps.state;
	Query	   *query;
	Relation	rel;
	Const	   *edge;
	MemoryContext old;
	int			chunks;

	if (turns->edge == NULL)
		return NULL;
	query = copyObject(turns->query);
	if (turns->other != 0)
	{
		/* both ends, and one has no rows: all chunks are asked */
		turns->edge = NULL;
		return own_query(query);
	}
	strata_now_add_quals(query, estate->es_param_list_info);
	rel = table_open(linitial_node(RangeTblEntry, query->rtable)->relid,
					 AccessShareLock);
	strata_turns_add_condition(query, RelationGetPartitionKey(rel),
							   turns->edge, turns->desc);
	chunks = strata_turns_limit(query, rel, turns->desc, turns->chunks * 4,
								0, estate->es_param_list_info, &edge);
	table_close(rel, NoLock);
	old = MemoryContextSwitchTo(estate->es_query_cxt);
	turns->edge = copyObject(edge);
	MemoryContextSwitchTo(old);
	turns->chunks = Max(chunks, 1);
	return own_query(query);
}

/* A table as pg_class has it at a snapshot. */
typedef struct TableThen
{
	StrataLocator file;			/* number 0: there was no such table */
	NameData	name;
} TableThen;

/* What the snapshot knows of the table. */
static TableThen
table_at(Relation pg_class, Oid relid, Snapshot snapshot)
{
	TableThen	result = {0};
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_class_oid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relid));
	scan = systable_beginscan(pg_class, ClassOidIndexId, true, snapshot, 1,
							  &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);

		STRATA_LOCATOR_NUMBER(result.file) = form->relfilenode;
		STRATA_LOCATOR_SPACE(result.file) =
			OidIsValid(form->reltablespace) ? form->reltablespace :
			MyDatabaseTableSpace;
		result.name = form->relname;
	}
	systable_endscan(scan);
	return result;
}

/*
 * Has the table the batches that it had with that file?  Then its row store
 * was copied, or moved, with all versions of rows (VACUUM FULL; the process
 * that gives back space does so by itself).  TRUNCATE and rewrites of ALTER
 * TABLE leave no companion, or make another.
 */
static bool
has_kept_versions(Relation rel, const StrataLocator *file, Relation pg_class,
				  Snapshot snapshot)
{
	Oid			companion = strata_companion_oid(rel);
	TableThen	then;
	char		name[NAMEDATALEN];

	if (!OidIsValid(companion))
		return false;
	then = table_at(pg_class, companion, snapshot);
	strata_companion_name(name, file);
	return strcmp(name, NameStr(then.name)) == 0;
}

/*
 * Tables that are read from now on were not locked before.  One that has
 * another file than when the table was locked was truncated meanwhile, or
 * written anew: what the query may see is perhaps gone.
 */
static void
check_files(const PlannedStmt *stmt, Snapshot snapshot)
{
	Relation	pg_class = table_open(RelationRelationId, AccessShareLock);
	ListCell   *lc;

	foreach(lc, stmt->rtable)
	{
		const RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);
		TableThen	then;
		Relation	rel;

		if (rte->rtekind != RTE_RELATION ||
			get_rel_relkind(rte->relid) != RELKIND_RELATION)
			continue;
		then = table_at(pg_class, rte->relid, snapshot);
		rel = table_open(rte->relid, AccessShareLock);
		/* hypertable:Y12 */
		if (OidIsValid(STRATA_LOCATOR_NUMBER(then.file)) &&
			STRATA_LOCATOR_NUMBER(then.file) != rel->rd_rel->relfilenode &&
			!has_kept_versions(rel, &then.file, pg_class, snapshot))
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("could not serialize access due to a TRUNCATE or rewrite of table \"%s\"",
							RelationGetRelationName(rel)),
					 errdetail("Chunks are locked when their turn comes; this one has another file than when the query began."),
					 errhint("The transaction might succeed if retried; or before it: SET strata.enable_chunks_in_turn = off;")));
		table_close(rel, AccessShareLock);
	}
	table_close(pg_class, AccessShareLock);
}

/* Partitions of the table, sorted; of a snapshot, or (NULL) of now. */
static List *
partitions_at(Oid relid, Snapshot snapshot)
{
	Relation	pg_inherits = table_open(InheritsRelationId, AccessShareLock);
	List	   *result = NIL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_inherits_inhparent, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(relid));
	scan = systable_beginscan(pg_inherits, InheritsParentIndexId, true,
							  snapshot, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		result = lappend_oid(result,
							 ((Form_pg_inherits) GETSTRUCT(tuple))->inhrelid);
	systable_endscan(scan);
	table_close(pg_inherits, AccessShareLock);
	list_sort(result, list_oid_cmp);
	return result;
}

/*
 * The lock on the table, which it had when the snapshot was taken, keeps other
 * sessions from taking chunks away, but not this one, which has them open only
 * when their turn has come.
 */
static void
check_partitions_left(Oid relid, Snapshot snapshot)
{
	List	   *before = partitions_at(relid, snapshot);
	List	   *now = partitions_at(relid, NULL);
	ListCell   *lc;
	int			i = 0;

	foreach(lc, before)
	{
		while (i < list_length(now) && list_nth_oid(now, i) < lfirst_oid(lc))
			i++;
		/* hypertable:Y12 */
		if (i == list_length(now) || list_nth_oid(now, i) != lfirst_oid(lc))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("cannot go on reading table \"%s\", of which this session has dropped or detached chunks since the query began",
							get_rel_name(relid)),
					 errhint("Read to the end first; or before the query: SET strata.enable_chunks_in_turn = off;")));
	}
	list_free(before);
	list_free(now);
}

/* Plan a part and start it. */
static QueryDesc *
start_part(TurnsState *state, Query *query, DestReceiver *receiver)
{
	EState	   *estate = state->css.ss.ps.state;
	Oid			relid = linitial_node(RangeTblEntry, query->rtable)->relid;
	bool		outer = planning_part;
	QueryDesc  *volatile result = NULL;

	/* a function that the planner evaluates may have a query in turns itself */
	planning_part = true;
	PG_TRY();
	{
		PlannedStmt *stmt = pg_plan_query(query, estate->es_sourceText,
										  CURSOR_OPT_PARALLEL_OK,
										  estate->es_param_list_info);

		check_partitions_left(relid, state->locked);
		check_files(stmt, state->locked);
		/* the first part has checked them, when the query began */
		strata_plan_drop_permissions(stmt);
		result = CreateQueryDesc(stmt, estate->es_sourceText,
								 estate->es_snapshot, InvalidSnapshot,
								 receiver, estate->es_param_list_info,
								 estate->es_queryEnv, 0);
		ExecutorStart(result, 0);
	}
	PG_FINALLY();
	{
		planning_part = outer;
	}
	PG_END_TRY();
	return result;
}

/* Plan and begin the next part as who began the query; NULL: there is none. */
static QueryDesc *
begin_part(TurnsState *state, DestReceiver *receiver)
{
	StrataOwnerContext saved;
	Query	   *query;
	QueryDesc  *result = NULL;

	strata_starter_enter(&state->starter, &saved);
	query = next_part(state);
	if (query != NULL)
		result = start_part(state, query, receiver);
	strata_owner_leave(&saved);
	return result;
}

/* Run the next part; false: there is none. */
static bool
run_part(TurnsState *state)
{
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext,
												  "strata chunks in turn",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);
	DestReceiver *receiver = CreateDestReceiver(DestTuplestore);
	QueryDesc  *query_desc;
	bool		found;

	SetTuplestoreDestReceiverParams(receiver, state->rows, scratch, false,
									NULL, NULL);
	query_desc = begin_part(state, receiver);
	found = query_desc != NULL;
	if (found)
	{
		strata_executor_run_rows(query_desc, state->unlimited ? 0 :
								 state->limit - state->delivered);
		ExecutorFinish(query_desc);
		ExecutorEnd(query_desc);
		FreeQueryDesc(query_desc);
		state->parts++;
	}
	receiver->rDestroy(receiver);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	return found;
}

/* Make room for the rows of later parts. */
static void
begin_rows(TurnsState *state)
{
	MemoryContext old;

	old = MemoryContextSwitchTo(state->css.ss.ps.state->es_query_cxt);
	state->rows = tuplestore_begin_heap(false, false, work_mem);
	MemoryContextSwitchTo(old);
}

/* The first part is over: how many rows were wanted? */
static void
end_first_part(TurnsState *state)
{
	LimitState *limit = castNode(LimitState, outerPlanState(state));

	state->first_done = true;
	state->unlimited = limit->noCount;
	state->limit = limit->noCount ? 0 : limit->count;
	begin_rows(state);
}

/* Has a part's row of an aggregate, or of one of two, no time? */
static bool
is_null_aggregate(const TurnsState *state, TupleTableSlot *slot)
{
	bool		isnull;

	Assert(Max(state->turns.aggregate, state->turns.other) <=
		   slot->tts_tupleDescriptor->natts);	/* hypertable:Y12 */
	(void) slot_getattr(slot, state->turns.aggregate, &isnull);
	if (!isnull && state->turns.other != 0)
		(void) slot_getattr(slot, state->turns.other, &isnull);
	return isnull;
}

/*
 * The row of the first part that has a time in it, or else that of the last.
 */
static TupleTableSlot *
exec_aggregate(TurnsState *state)
{
	TupleTableSlot *slot;

	if (state->first_done)
		return ExecClearTuple(state->slot);
	Assert(state->rows == NULL);	/* hypertable:Y12 */
	state->first_done = true;
	slot = ExecProcNode(outerPlanState(state));
	if (TupIsNull(slot) || !is_null_aggregate(state, slot))
		return slot;
	begin_rows(state);
	state->unlimited = true;
	for (;;)
	{
		if (state->turns.edge == NULL || !run_part(state))
			return slot;
		if (!tuplestore_gettupleslot(state->rows, true, false, state->slot))
			return slot;
		slot = state->slot;
		if (!is_null_aggregate(state, slot))
			return slot;
		/* the row is the only one, and stays as long as the next is not */
		if (state->turns.edge == NULL)
			return slot;
		tuplestore_clear(state->rows);
	}
}

/* The rows of the first part as they come, then those of each later one. */
static TupleTableSlot *
exec_turns(CustomScanState *css)
{
	TurnsState *state = (TurnsState *) css;

	CHECK_FOR_INTERRUPTS();
	if (state->turns.aggregate != 0)
		return exec_aggregate(state);
	if (!state->first_done)
	{
		TupleTableSlot *slot = ExecProcNode(outerPlanState(css));

		if (!TupIsNull(slot))
		{
			state->delivered++;
			return slot;
		}
		end_first_part(state);
	}
	while (state->unlimited || state->delivered < state->limit)
	{
		if (tuplestore_gettupleslot(state->rows, true, false, state->slot))
		{
			state->delivered++;
			return state->slot;
		}
		tuplestore_clear(state->rows);
		if (!run_part(state))
			break;
	}
	return ExecClearTuple(state->slot);
}

static void
end_turns(CustomScanState *css)
{
	TurnsState *state = (TurnsState *) css;

	strata_custom_end_child(css);
	UnregisterSnapshot(state->locked);
	if (state->rows != NULL)
		tuplestore_end(state->rows);
	state->rows = NULL;
}

static void
rescan_turns(CustomScanState *css)
{
	TurnsState *state = (TurnsState *) css;
	CustomScan *scan = castNode(CustomScan, css->ss.ps.plan);

	if (state->rows != NULL)
		tuplestore_end(state->rows);
	state->rows = NULL;
	state->first_done = false;
	state->delivered = 0;
	strata_turns_read(scan, &state->turns);
	strata_custom_rescan_child(css);
}

static void
explain_turns(CustomScanState *css, List *ancestors, ExplainState *es)
{
	TurnsState *state = (TurnsState *) css;

	if (es->analyze)
		ExplainPropertyInteger("Later Parts", NULL, state->parts, es);
}

static const CustomExecMethods turns_exec_methods = {
	.CustomName = "StrataChunksInTurn",
	.BeginCustomScan = begin_turns,
	.ExecCustomScan = exec_turns,
	.EndCustomScan = end_turns,
	.ReScanCustomScan = rescan_turns,
	.ExplainCustomScan = explain_turns
};

static Node *
create_turns_state(CustomScan *scan)
{
	return strata_custom_state(sizeof(TurnsState), &turns_exec_methods);
}

/* See turns_private.h. */
bool
strata_turns_is_part(void)
{
	return planning_part;
}

/* See hypertable_private.h. */
void
strata_turns_init(void)
{
	RegisterCustomScanMethods(&turns_methods);
}
