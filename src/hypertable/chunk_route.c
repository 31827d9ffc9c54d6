/*-------------------------------------------------------------------------
 *
 * chunk_route.c
 *	  The plan node below an INSERT that has missing chunks made.
 *
 * PostgreSQL's ModifyTable routes each row it is handed; this node hands a row
 * up only when there is a partition for it.  When a partition appeared, made
 * here or by others, the statement's routing is set up anew; the old one stays
 * until the statement ends, since triggers may still refer to it.
 *
 * src/hypertable/chunk_route.c
 *-------------------------------------------------------------------------
 */
#include "hypertable/hypertable_private.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "executor/execPartition.h"
#include "executor/executor.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

typedef struct RouteState
{
	CustomScanState css;
	ModifyTableState *mt;		/* NULL: not told yet */
	Relation	rel;
	Oid			key_type;
	AttrNumber	attno;			/* 0: key is an expression */
	ExprState  *key;
	StrataChunkRange known;		/* a range that the routing has */
	bool		has_known;
	List	   *routings;		/* replaced ones */
	List	   *directories;
} RouteState;

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

		/* a null constant may stand for a dropped column, and ModifyTable insists on it */
		if (!IsA(expr, Const) || !((Const *) expr)->constisnull)
			expr = (Expr *) makeVar(varno, te->resno, exprType((Node *) te->expr), exprTypmod((Node *) te->expr),
									exprCollation((Node *) te->expr), 0);
		result = lappend(result, makeTargetEntry(expr, te->resno, te->resname, te->resjunk));
	}
	return result;
}

static CustomScan *
make_route(Plan *child)
{
	CustomScan *scan = makeNode(CustomScan);
	Plan	   *plan = &scan->scan.plan;

	scan->methods = &route_methods;
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

static void
route_plan(PlannedStmt *stmt, Plan *plan)
{
	ModifyTable *modify = (ModifyTable *) plan;

	if (plan == NULL || !IsA(plan, ModifyTable) || modify->operation != CMD_INSERT)
		return;
	if (strata_hypertable_is(rt_fetch(linitial_int(modify->resultRelations), stmt->rtable)->relid))
		outerPlan(plan) = (Plan *) make_route(outerPlan(plan));
}

/* See hypertable.h. */
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

	state->routings = lappend(state->routings, state->mt->mt_partition_tuple_routing);
	if (estate->es_partition_directory != NULL)
		state->directories = lappend(state->directories, estate->es_partition_directory);
	estate->es_partition_directory = NULL;
	state->mt->mt_partition_tuple_routing = ExecSetupPartitionTupleRouting(estate, state->rel);
	MemoryContextSwitchTo(old);
}

/* Look the value up in a descriptor, and remember the range it is in. */
static bool
find_in(RouteState *state, PartitionDesc desc, Datum value)
{
	state->has_known = strata_partition_find(RelationGetPartitionKey(state->rel), desc, state->key_type,
											 value, &state->known) >= 0;
	return state->has_known;
}

/* The value has no partition that the routing knows. */
static void
provide_chunk(RouteState *state, Datum value)
{
	int64		time = strata_time_from_datum(state->key_type, value);

	/* others may have made it meanwhile */
	AcceptInvalidationMessages();
	if (!find_in(state, RelationGetPartitionDesc(state->rel, true), value))
	{
		strata_chunk_create_on_demand(state->rel, time);
		AcceptInvalidationMessages();
		if (!find_in(state, RelationGetPartitionDesc(state->rel, true), value))
			return;				/* ModifyTable says what is wrong */
	}
	renew_routing(state);
}

static bool
is_known(const RouteState *state, Datum value)
{
	int64		time;

	if (!state->has_known)
		return false;
	time = strata_time_from_datum(state->key_type, value);
	return (state->known.no_lo || time >= state->known.lo) && (state->known.no_hi || time < state->known.hi);
}

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

/* As ModifyTable would say it after routing, which cannot come to that. */
static void
refuse_null(RouteState *state)
{
	if (state->attno == 0 || !strata_attribute_is_not_null(RelationGetDescr(state->rel), state->attno))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_NOT_NULL_VIOLATION),
			 errmsg("null value in column \"%s\" of relation \"%s\" violates not-null constraint",
					NameStr(TupleDescAttr(RelationGetDescr(state->rel), state->attno - 1)->attname),
					RelationGetRelationName(state->rel)),
			 errtablecol(state->rel, state->attno)));
}

static TupleTableSlot *
exec_route(CustomScanState *css)
{
	RouteState *state = (RouteState *) css;
	TupleTableSlot *slot = ExecProcNode(outerPlanState(css));
	bool		isnull;
	Datum		value;

	if (TupIsNull(slot) || state->mt == NULL)
		return slot;
	value = key_of(state, slot, &isnull);
	if (isnull)
		refuse_null(state);
	if (isnull || is_known(state, value))
		return slot;
	if (!find_in(state, PartitionDirectoryLookup(css->ss.ps.state->es_partition_directory, state->rel), value))
	{
		/* the row must outlast whatever happens meanwhile */
		ExecMaterializeSlot(slot);
		if (state->key == NULL)
			value = slot_getattr(slot, state->attno, &isnull);
		provide_chunk(state, value);
	}
	return slot;
}

static void
begin_route(CustomScanState *css, EState *estate, int eflags)
{
	outerPlanState(css) = ExecInitNode(outerPlan(css->ss.ps.plan), estate, eflags);
}

static void
end_route(CustomScanState *css)
{
	RouteState *state = (RouteState *) css;
	ListCell   *lc;

	ExecEndNode(outerPlanState(css));
	foreach(lc, state->routings)
		ExecCleanupTupleRouting(state->mt, lfirst(lc));
	foreach(lc, state->directories)
		DestroyPartitionDirectory(lfirst(lc));
}

static void
rescan_route(CustomScanState *css)
{
	ExecReScan(outerPlanState(css));
}

static const CustomExecMethods route_exec_methods = {
	.CustomName = "StrataChunkRoute",
	.BeginCustomScan = begin_route,
	.ExecCustomScan = exec_route,
	.EndCustomScan = end_route,
	.ReScanCustomScan = rescan_route
};

static Node *
create_route_state(CustomScan *scan)
{
	RouteState *state = (RouteState *) newNode(sizeof(RouteState), T_CustomScanState);

	state->css.methods = &route_exec_methods;
	return (Node *) state;
}

static void
bind(ModifyTableState *mt)
{
	PlanState  *child = outerPlanState(mt);
	RouteState *state = (RouteState *) child;
	PartitionKey key;

	if (child == NULL || !IsA(child, CustomScanState) || state->css.methods != &route_exec_methods ||
		mt->mt_partition_tuple_routing == NULL)
		return;
	state->rel = mt->rootResultRelInfo->ri_RelationDesc;
	key = RelationGetPartitionKey(state->rel);
	if (key->strategy != PARTITION_STRATEGY_RANGE || key->partnatts != 1)
		return;
	state->attno = key->partattrs[0];
	state->key_type = getBaseType(key->parttypid[0]);
	if (state->attno == 0)
		state->key = ExecPrepareExpr(linitial(key->partexprs), child->state);
	state->mt = mt;
}

/* Has a statement of this session been through our hooks? */
static bool hooks_have_run = false;

/* See hypertable.h. */
void
strata_route_bind(QueryDesc *query_desc)
{
	ListCell   *lc;

	hooks_have_run = true;
	if (query_desc->operation == CMD_INSERT && IsA(query_desc->planstate, ModifyTableState))
		bind((ModifyTableState *) query_desc->planstate);
	foreach(lc, query_desc->estate->es_auxmodifytables)
		bind(lfirst(lc));
}

/* See hypertable.h. */
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
	strata_copy_init();
	strata_route_init();
}
