/*-------------------------------------------------------------------------
 *
 * chunk_route.c
 *	  The plan node below INSERT, UPDATE and MERGE that has missing chunks
 *	  made.
 *
 * PostgreSQL's ModifyTable routes each row it is handed; this node hands a row
 * up only when there is a partition for it.  When a partition appeared, made
 * here or by others, the statement's routing is set up anew; the old one stays
 * until the statement ends, since triggers may still refer to it.
 *
 * What an UPDATE and a MERGE make of a row is known only above: after BEFORE
 * triggers, or when another session's change was waited for.  There we stand
 * in for two expressions: the check whether the new row belongs to the
 * partition it is in, which precedes every move, and the projection of a
 * MERGE's INSERT.
 *
 * Over 600 lines: all statements share the routing that is renewed.
 *
 * src/hypertable/chunk_route.c
 *-------------------------------------------------------------------------
 */
#include "hypertable/chunk_route.h"
#include "hypertable/hypertable_private.h"
#include "track/track.h"
#include "pg/pg.h"

#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_class.h"
#include "executor/execPartition.h"
#include "executor/executor.h"
#include "executor/nodeModifyTable.h"
#include "base/compat.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "storage/proc.h"
#include "utils/datum.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

typedef struct RouteState
{
	CustomScanState css;
	ModifyTableState *mt;		/* NULL: not told yet */
	Relation	rel;
	Oid			key_type;
	bool		by_value;		/* of the key's type */
	int16		length;
	AttrNumber	attno;			/* 0: key is an expression */
	AttrNumber	column;			/* of the time, or what the key is made of;
								 * known whatever becomes of the table's
								 * options */
	ExprState  *key;
	TupleTableSlot *made;		/* for a key that is an expression: a row that
								 * has only what it needs */
	StrataChunkRange known;		/* a range that the routing has */
	bool		has_known;
	List	   *routings;		/* replaced ones */
	List	   *directories;
} RouteState;

/* Stands in for the check of a partition's bounds on an updated row. */
typedef struct MoveGuard
{
	ExprState	expression;
	RouteState *state;
	Relation	partition;
	bool		prepared;		/* check and column are */
	ExprState  *check;
	AttrNumber	column;
} MoveGuard;

/* Stands in for the projection of a MERGE's INSERT action. */
typedef struct InsertGuard
{
	ProjectionInfo projection;
	RouteState *state;
	ProjectionInfo *original;
} InsertGuard;

static Node *create_route_state(CustomScan *scan);

static const CustomScanMethods route_methods = {
	.CustomName = "StrataChunkRoute",
	.CreateCustomScanState = create_route_state
};

/*-------------------------------------------------------------------------
 * Planning
 *-------------------------------------------------------------------------
 */

/* Target list entries that pass the child's columns through. */
static List *
pass_through(List *targetlist, int varno)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, targetlist)
	{
		TargetEntry *te = lfirst_node(TargetEntry, lc);
		Expr	   *expr = te->expr;

		/*
		 * a null constant may stand for a dropped column, and ModifyTable
		 * insists on it
		 */
		if (!IsA(expr, Const) || !((Const *) expr)->constisnull)
			expr = (Expr *) makeVar(varno, te->resno,
									exprType((Node *) te->expr),
									exprTypmod((Node *) te->expr),
									exprCollation((Node *) te->expr), 0);
		result = lappend(result, makeTargetEntry(expr, te->resno, te->resname,
												 te->resjunk));
	}
	return result;
}

/* See chunk_route.h. */
CustomScan *
strata_make_pass_through(Plan *child, const CustomScanMethods *methods)
{
	CustomScan *scan = makeNode(CustomScan);
	Plan	   *plan = &scan->scan.plan;

	scan->methods = methods;
	outerPlan(plan) = child;
	plan->startup_cost = child->startup_cost;
	plan->total_cost = child->total_cost;
	plan->plan_rows = child->plan_rows;
	plan->plan_width = child->plan_width;
	plan->extParam = bms_copy(child->extParam);
	plan->allParam = bms_copy(child->allParam);
	plan->targetlist = pass_through(child->targetlist, INDEX_VAR);
	scan->custom_scan_tlist = pass_through(child->targetlist, OUTER_VAR);
	return scan;
}

/*
 * May the UPDATE change a row's time?  BEFORE triggers may, whatever is set.
 */
static bool
may_move(ModifyTable *modify, PlannedStmt *stmt, const StrataHypertable *ht)
{
	Oid			target = rt_fetch(linitial_int(modify->resultRelations),
								  stmt->rtable)->relid;
	AttrNumber	attno = get_attnum(target,
								   get_attname(ht->relid, ht->attno, false));
	ListCell   *lc;

	if (modify->updateColnosLists != NIL &&
		list_member_int(linitial(modify->updateColnosLists), attno))
		return true;
	foreach(lc, modify->resultRelations)
	{
		RangeTblEntry *rte = rt_fetch(lfirst_int(lc), stmt->rtable);
		Relation	rel = RelationIdGetRelation(rte->relid);
		bool		triggers;

		triggers = rel != NULL && rel->trigdesc != NULL &&
			rel->trigdesc->trig_update_before_row;
		if (rel != NULL)
			RelationClose(rel);
		if (triggers)
			return true;
	}
	return false;
}

/*
 * Put the node under one ModifyTable, if it puts rows into a hypertable, or
 * may move them.
 */
static void
route_plan(PlannedStmt *stmt, Plan *plan)
{
	ModifyTable *modify = (ModifyTable *) plan;
	StrataHypertable *ht;
	CustomScan *route;
	Index		target;

	if (plan == NULL || !IsA(plan, ModifyTable) ||
		modify->operation == CMD_DELETE)
		return;

	/*
	 * without a root there is one target: of INSERT, or with no partition at
	 * all
	 */
	target = modify->rootRelation != 0 ? modify->rootRelation :
		(Index) linitial_int(modify->resultRelations);
	ht = strata_hypertable_get(rt_fetch(target, stmt->rtable)->relid);
	if (ht == NULL)
		return;
	if (modify->operation == CMD_UPDATE && !may_move(modify, stmt, ht))
		return;
	route = strata_make_pass_through(outerPlan(plan), &route_methods);
	outerPlan(plan) = (Plan *) route;
}

/* See chunk_route.h. */
void
strata_route_plan(PlannedStmt *stmt)
{
	ListCell   *lc;

	route_plan(stmt, stmt->planTree);
	foreach(lc, stmt->subplans)
		route_plan(stmt, lfirst(lc));
}

/*-------------------------------------------------------------------------
 * Execution
 *-------------------------------------------------------------------------
 */

/* Have ModifyTable route by the partitions that there are now. */
static void
renew_routing(RouteState *state)
{
	EState	   *estate = state->css.ss.ps.state;
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);

	Assert(state->has_known);	/* hypertable:Y2 */
	if (state->mt->mt_partition_tuple_routing != NULL)
		state->routings = lappend(state->routings,
								  state->mt->mt_partition_tuple_routing);
	if (estate->es_partition_directory != NULL)
		state->directories = lappend(state->directories,
									 estate->es_partition_directory);
	estate->es_partition_directory = NULL;
	/* an UPDATE sets it up when the first row moves */
	if (state->mt->mt_partition_tuple_routing != NULL)
		state->mt->mt_partition_tuple_routing =
			ExecSetupPartitionTupleRouting(estate, state->rel);
	MemoryContextSwitchTo(old);
}

/* Look the value up in a descriptor, and remember the range it is in. */
static bool
find_in(RouteState *state, PartitionDesc desc, Datum value)
{
	state->has_known =
		strata_partition_find(RelationGetPartitionKey(state->rel), desc,
							  state->key_type, value, &state->known) >= 0;
	return state->has_known;
}

/*
 * The value has no partition that the routing knows.  Whoever lists the
 * partitions leaves some kilobytes for each in the current context, and a
 * statement may need thousands of chunks.
 */
static void
provide_chunk(RouteState *state, Datum value)
{
	int64		time = strata_time_from_datum(state->key_type, value);
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext,
												  "strata new chunk",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);
	bool		found;

	/* others may have made it meanwhile */
	AcceptInvalidationMessages();
	found = find_in(state, RelationGetPartitionDesc(state->rel, true), value);
	/* it may have ceased to be a hypertable since the statement began */
	if (!found && strata_hypertable_is(RelationGetRelid(state->rel)))
	{
		strata_chunk_create_on_demand(state->rel, time, DeadlockTimeout);
		AcceptInvalidationMessages();
		strata_partitions_settle(state->rel);
		found = find_in(state, RelationGetPartitionDesc(state->rel, true),
						value);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	if (found)					/* else ModifyTable says what is wrong */
		renew_routing(state);
}

static bool
is_known(const RouteState *state, Datum value)
{
	return state->has_known &&
		strata_range_holds(&state->known,
						   strata_time_from_datum(state->key_type, value));
}

/* Evaluate the key over a row of the hypertable. */
static Datum
key_of(RouteState *state, TupleTableSlot *slot, bool *isnull)
{
	ExprContext *context;

	if (state->key == NULL)
		return slot_getattr(slot, state->attno, isnull);
	context = state->css.ss.ps.ps_ExprContext;
	ResetExprContext(context);
	context->ecxt_scantuple = slot;
	return ExecEvalExprSwitchContext(state->key, context, isnull);
}

/*
 * The key, from the value that the time column, or the column the key is made
 * of, is to have.
 */
static Datum
key_from_value(RouteState *state, Datum value, bool *isnull)
{
	TupleTableSlot *slot = state->made;

	if (state->key == NULL || *isnull)
		return value;
	ExecStoreAllNullTuple(slot);
	slot->tts_values[state->column - 1] = value;
	slot->tts_isnull[state->column - 1] = false;
	return key_of(state, slot, isnull);
}

/* As ModifyTable would say it after routing, which cannot come to that. */
static void
refuse_null(RouteState *state)
{
	if (state->attno == 0 ||
		!strata_attribute_is_not_null(RelationGetDescr(state->rel),
									  state->attno))
		return;
	ereport(
			ERROR,
			(errcode(ERRCODE_NOT_NULL_VIOLATION),
			 errmsg(
					"null value in column \"%s\" of relation \"%s\" violates not-null constraint",
					NameStr(TupleDescAttr(RelationGetDescr(state->rel),
										  state->attno - 1)->attname),
					RelationGetRelationName(state->rel)),
			 errtablecol(state->rel, state->attno)));
}

/*
 * Make the chunk for a key value if there is none.  slot: the row, when it
 * comes from below.
 */
static void
provide(RouteState *state, TupleTableSlot *slot, Datum value)
{
	EState	   *estate = state->css.ss.ps.state;
	PartitionDesc desc;

	if (is_known(state, value))
		return;
	desc = estate->es_partition_directory != NULL ?
		PartitionDirectoryLookup(estate->es_partition_directory, state->rel) :
		RelationGetPartitionDesc(state->rel, true);
	if (find_in(state, desc, value))
		return;
	/* the row must outlast whatever happens meanwhile */
	if (slot != NULL)
		ExecMaterializeSlot(slot);
	value = datumCopy(value, state->by_value, state->length);
	provide_chunk(state, value);
}

/*
 * The partition's column that is the hypertable's time column, or what the key
 * is made of.
 */
static AttrNumber
time_column_of(RouteState *state, Relation partition)
{
	return get_attnum(RelationGetRelid(partition),
					  get_attname(RelationGetRelid(state->rel), state->column,
								  false));
}

/*
 * In place of the check whether an updated row stays: where it goes there must
 * be a chunk.
 */
static Datum
check_move(ExprState *expression, ExprContext *context, bool *isnull)
{
	MoveGuard  *guard = (MoveGuard *) expression;
	RouteState *state = guard->state;
	EState	   *estate = state->css.ss.ps.state;

	if (!guard->prepared)
	{
		MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);

		guard->column = time_column_of(state, guard->partition);
		guard->check =
			ExecPrepareCheck(RelationGetPartitionQual(guard->partition),
							 estate);
		guard->prepared = true;
		MemoryContextSwitchTo(old);
	}
	Assert(guard->column > 0);	/* hypertable:Y2 */
	*isnull = false;
	if (!ExecCheck(guard->check, context))
	{
		TupleTableSlot *row = context->ecxt_scantuple;
		bool		null;
		Datum		value = slot_getattr(row, guard->column, &null);

		value = key_from_value(state, value, &null);
		if (!null)
			provide(state, NULL, value);
		return BoolGetDatum(false);
	}
	return BoolGetDatum(true);
}

/*
 * In place of the projection of a MERGE's INSERT: the same, and the row gets
 * its chunk.
 */
static Datum
project_insert(ExprState *expression, ExprContext *context, bool *isnull)
{
	InsertGuard *guard = (InsertGuard *) ((char *) expression -
										  offsetof(InsertGuard,
												   projection.pi_state));
	RouteState *state = guard->state;
	AttrNumber	column = state->column;
	TupleTableSlot *row = expression->resultslot;
	Datum		result = ExecEvalExpr(&guard->original->pi_state, context,
									  isnull);
	bool		null = row->tts_isnull[column - 1];
	Datum		value = key_from_value(state, row->tts_values[column - 1],
									   &null);

	if (!null)
		provide(state, NULL, value);
	return result;
}

static TupleTableSlot *
exec_route(CustomScanState *css)
{
	RouteState *state = (RouteState *) css;
	TupleTableSlot *slot = ExecProcNode(outerPlanState(css));
	bool		isnull;
	Datum		value;

	if (TupIsNull(slot) || state->mt == NULL ||
		state->mt->operation != CMD_INSERT)
		return slot;
	value = key_of(state, slot, &isnull);
	if (isnull)
		refuse_null(state);
	else
		provide(state, slot, value);
	return slot;
}

static void
end_route(CustomScanState *css)
{
	RouteState *state = (RouteState *) css;
	ListCell   *lc;

	strata_custom_end_child(css);
	foreach(lc, state->routings)
		ExecCleanupTupleRouting(state->mt, lfirst(lc));
	foreach(lc, state->directories)
		DestroyPartitionDirectory(lfirst(lc));
}

static const CustomExecMethods route_exec_methods = {
	.CustomName = "StrataChunkRoute",
	.BeginCustomScan = strata_custom_begin_child,
	.ExecCustomScan = exec_route,
	.EndCustomScan = end_route,
	.ReScanCustomScan = strata_custom_rescan_child
};

static Node *
create_route_state(CustomScan *scan)
{
	return strata_custom_state(sizeof(RouteState), &route_exec_methods);
}

/* Be there when rows leave the partitions that an UPDATE or MERGE changes. */
static void
guard_moves(RouteState *state, ModifyTableState *mt)
{
	MoveGuard  *guards = palloc0(sizeof(MoveGuard) * mt->mt_nrels);

	for (int i = 0; i < mt->mt_nrels; i++)
	{
		ResultRelInfo *target = &mt->resultRelInfo[i];
		MoveGuard  *guard = &guards[i];

		if (!target->ri_RelationDesc->rd_rel->relispartition ||
			target->ri_PartitionCheckExpr != NULL)
			continue;
		guard->expression.type = T_ExprState;
		guard->expression.evalfunc = check_move;
		guard->state = state;
		guard->partition = target->ri_RelationDesc;
		target->ri_PartitionCheckExpr = &guard->expression;
	}
}

/* Be there when a MERGE makes a row. */
static void
guard_inserts(RouteState *state, ModifyTableState *mt)
{
	for (int i = 0; i < mt->mt_nrels; i++)
	{
		ListCell   *lc;

		foreach(lc, strata_merge_not_matched_actions(&mt->resultRelInfo[i]))
		{
			MergeActionState *action = lfirst_node(MergeActionState, lc);
			InsertGuard *guard;

			if (action->mas_action->commandType != CMD_INSERT)
				continue;
			guard = palloc0(sizeof(InsertGuard));
			guard->projection.type = T_ProjectionInfo;
			guard->projection.pi_exprContext =
				action->mas_proj->pi_exprContext;
			guard->projection.pi_state.type = T_ExprState;
			guard->projection.pi_state.evalfunc = project_insert;
			guard->projection.pi_state.resultslot =
				action->mas_proj->pi_state.resultslot;
			guard->state = state;
			guard->original = action->mas_proj;
			action->mas_proj = &guard->projection;
		}
	}
}

/*
 * Tell the node under a ModifyTable, if there is one, what it needs to know of
 * it.
 */
static void
bind_route(ModifyTableState *mt)
{
	PlanState  *child = outerPlanState(mt);
	RouteState *state = (RouteState *) child;
	PartitionKey key;
	MemoryContext old;

	if (child == NULL || !IsA(child, CustomScanState) ||
		state->css.methods != &route_exec_methods ||
		(mt->operation == CMD_INSERT &&
		 mt->mt_partition_tuple_routing == NULL))
		return;
	state->rel = mt->rootResultRelInfo->ri_RelationDesc;
	key = RelationGetPartitionKey(state->rel);
	if (key == NULL || key->strategy != PARTITION_STRATEGY_RANGE ||
		key->partnatts != 1)
		return;
	state->attno = state->column = key->partattrs[0];
	if (state->attno == 0)
		state->column =
			linitial_node(Var, pull_var_clause(linitial(key->partexprs),
											   0))->varattno;
	state->key_type = getBaseType(key->parttypid[0]);
	state->by_value = key->parttypbyval[0];
	state->length = key->parttyplen[0];
	old = MemoryContextSwitchTo(child->state->es_query_cxt);
	if (state->attno == 0)
	{
		state->key = ExecPrepareExpr(linitial(key->partexprs), child->state);
		state->made = ExecInitExtraTupleSlot(child->state,
											 RelationGetDescr(state->rel),
											 &TTSOpsVirtual);
	}
	if (mt->operation == CMD_INSERT)
		strata_modify_table_keep_headers(mt);
	else
		guard_moves(state, mt);
	if (mt->operation == CMD_MERGE)
		guard_inserts(state, mt);
	MemoryContextSwitchTo(old);
	state->mt = mt;
}

/* Has a statement of this session been through our hooks? */
static bool hooks_have_run = false;

/* See chunk_route.h. */
void
strata_route_bind(QueryDesc *query_desc)
{
	ListCell   *lc;

	hooks_have_run = true;
	if (IsA(query_desc->planstate, ModifyTableState))
		bind_route((ModifyTableState *) query_desc->planstate);
	foreach(lc, query_desc->estate->es_auxmodifytables)
		bind_route(lfirst(lc));
}

/* See chunk_route.h. */
bool
strata_route_is_node(const CustomScan *scan)
{
	return scan->methods == &route_methods;
}

/* See chunk_route.h. */
bool
strata_route_is_active(void)
{
	return hooks_have_run;
}

/* See hypertable_private.h. */
void
strata_route_init(void)
{
	RegisterCustomScanMethods(&route_methods);
}

/* See hypertable.h. */
void
strata_hypertable_init(void)
{
	strata_track_chunk_range = strata_chunk_times;
	strata_ahead_init();
	strata_route_init();
	strata_turns_init();
	strata_watch_init();
}
