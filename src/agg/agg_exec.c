/*-------------------------------------------------------------------------
 *
 * agg_exec.c
 *	  The plan node: read all rows, then return a row for each group.
 *
 * The scan tuple has the keys, then the aggregates.  HAVING and whatever is
 * computed of aggregates is PostgreSQL's: quals and projection of the node.
 *
 * src/agg/agg_exec.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_hold_private.h"
#include "agg/agg_join_private.h"
#include "agg/agg_number_private.h"
#include "agg/agg_words_private.h"

#include "agg/agg.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_proc.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

static Node *create_agg_state(CustomScan *cscan);
static void begin_agg(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *exec_agg(CustomScanState *node);
static void end_agg(CustomScanState *node);
static void rescan_agg(CustomScanState *node);

const CustomScanMethods strata_agg_scan_methods = {
	.CustomName = "StrataAgg",
	.CreateCustomScanState = create_agg_state,
};

static const CustomExecMethods exec_methods = {
	.CustomName = "StrataAgg",
	.BeginCustomScan = begin_agg,
	.ExecCustomScan = exec_agg,
	.EndCustomScan = end_agg,
	.ReScanCustomScan = rescan_agg,
	.EstimateDSMCustomScan = strata_agg_estimate_shared,
	.InitializeDSMCustomScan = strata_agg_initialize_shared,
	.ReInitializeDSMCustomScan = strata_agg_reinitialize_shared,
	.InitializeWorkerCustomScan = strata_agg_attach_shared,
	.ShutdownCustomScan = strata_agg_shutdown_shared,
	.ExplainCustomScan = strata_agg_explain,
};

void
strata_agg_init(void)
{
	RegisterCustomScanMethods(&strata_agg_scan_methods);
}

static Node *
create_agg_state(CustomScan *cscan)
{
	return strata_custom_state(sizeof(StrataAggState), &exec_methods);
}

/*-------------------------------------------------------------------------
 * Begin
 *-------------------------------------------------------------------------
 */

/* As nodeAgg.c does: who runs the query must be allowed to. */
static void
check_permission(Oid aggfnoid)
{
	AclResult	result = strata_function_aclcheck(aggfnoid, GetUserId(),
												  ACL_EXECUTE);

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_AGGREGATE, get_func_name(aggfnoid));
	InvokeFunctionExecuteHook(aggfnoid);
}

/*
 * The value of an aggregate's argument; a computed one is the call's own, and
 * computed where its FILTER lets rows pass.
 */
static int
add_argument(StrataAggState *agg, AggCall *call, TargetEntry *arg)
{
	int			i = strata_agg_value_add(agg, arg->expr);

	if (agg->values[i].input < 0 && call->aggref->aggfilter != NULL)
		agg->values[i].call = call;
	return i;
}

/* Have the call's rows held; those of constants have no value. */
static void
init_hold(StrataAggState *agg, AggCall *call)
{
	const Aggref *aggref = call->aggref;

	/* beside arguments there are what it sorts by, as many as you like */
	int		   *values = palloc(sizeof(int) *
								Max(list_length(aggref->args), 1));
	ListCell   *lc;

	call->hold = strata_agg_hold_share(agg, aggref, &call->holder);
	if (call->hold == NULL)
	{
		foreach(lc, aggref->args)
		{
			TargetEntry *arg = lfirst_node(TargetEntry, lc);

			values[foreach_current_index(lc)] = IsA(arg->expr, Const) ? -1 :
				add_argument(agg, call, arg);
		}
		call->hold = strata_agg_hold_create(agg, aggref, values);
	}
	pfree(values);
	call->replay = strata_agg_replay_create(agg, aggref, call->hold);
}

/*
 * FILTER is one expression: behind a null its AND goes on to what may raise an
 * error.  Where nothing does, it may end there.
 */
static void
init_filter(StrataAggState *agg, AggCall *call)
{
	Expr	   *filter = call->aggref->aggfilter;
	ListCell   *lc;

	foreach(lc, pull_var_clause((Node *) filter, 0))
		call->filter_inputs =
		list_append_unique_int(call->filter_inputs,
							   lfirst_node(Var, lc)->varattno - 1);
	call->filter = ExecInitQual(list_make1(filter), &agg->css.ss.ps);
	call->filter_vector = strata_expr_compile(make_ands_implicit(filter),
											  &agg->css.ss.ps);
	if (call->filter_vector != NULL &&
		strata_expr_may_fail(call->filter_vector))
		call->filter_vector = strata_expr_compile(list_make1(filter),
												  &agg->css.ss.ps);
}

/*
 * Add an aggregate, once the user may execute it.  agg->calls has room for it.
 */
static void
init_call(StrataAggState *agg, const Aggref *aggref)
{
	AggCall    *call = &agg->calls[agg->ncalls];

	check_permission(aggref->aggfnoid);
	call->aggref = aggref = strata_agg_as_filtered(aggref);
	call->kernel = strata_agg_kernel_find(aggref);
	call->value = call->by = -1;
	call->resulttype = aggref->aggtype;
	get_typlenbyval(call->resulttype, &call->resultlen, &call->resultbyval);
	if (strata_agg_is_held(aggref))
		init_hold(agg, call);
	else if (strata_agg_is_distinct(aggref))
	{
		call->distinct = strata_agg_distinct_add(agg, aggref);
		call->value = strata_agg_distinct_value(call->distinct);
	}
	else if (!strata_agg_counts_rows(aggref))
		call->value = add_argument(agg, call, linitial(aggref->args));
	if (call->kernel->result == AGG_RESULT_PICK ||
		(call->kernel->result == AGG_RESULT_GENERIC && call->hold == NULL &&
		 list_length(aggref->args) == 2))
		call->by = add_argument(agg, call, lsecond(aggref->args));
	if (aggref->aggfilter != NULL)
		init_filter(agg, call);
	if (call->kernel->result == AGG_RESULT_GENERIC && call->hold == NULL)
		call->generic = strata_agg_generic_create(agg, aggref);
	agg->ncalls++;
}

/* A column of the row that is picked from each group. */
static void
init_pick(StrataAggState *agg, Expr *column, Expr *by, bool last)
{
	AggCall    *call = &agg->calls[agg->ncalls++];

	call->kernel = strata_agg_pick_of(last);
	call->value = strata_agg_value_add(agg, column);
	call->by = strata_agg_value_add(agg, by);
	call->resulttype = exprType((Node *) column);
	get_typlenbyval(call->resulttype, &call->resultlen, &call->resultbyval);
}

static void
init_input(StrataAggState *agg, EState *estate, int eflags)
{
	CustomScan *cscan = (CustomScan *) agg->css.ss.ps.plan;
	PlanState  *child = ExecInitNode(linitial(cscan->custom_plans), estate,
									 eflags);
	TupleDesc	desc = ExecGetResultType(child);

	agg->css.custom_ps = list_make1(child);
	if (agg_stage_reads(agg->plan.stage))
		agg->input = strata_agg_input_create(child, desc->natts,
											 &agg->css.ss.ps);
	agg->input_slot = ExecInitExtraTupleSlot(estate, desc, &TTSOpsVirtual);
	ExecStoreAllNullTuple(agg->input_slot);
	agg->nstored = desc->natts;
	agg->stored = palloc0(sizeof(AggStored) * Max(desc->natts, 1));
	agg->input_econtext = CreateExprContext(estate);
	agg->input_econtext->ecxt_outertuple = agg->input_slot;
}

/* Where each call's cell stands in a group. */
static void
place_cells(StrataAggState *agg)
{
	agg->cells_size = 0;
	for (int i = 0; i < agg->ncalls; i++)
	{
		AggCall    *call = &agg->calls[i];

		call->at = agg->cells_size;
		call->size = call->aggref == NULL ? (int) sizeof(AggCell) :
			strata_agg_cell_size(call->aggref);
		Assert(call->size == sizeof(AggCell) ||
			   (call->hold == NULL && call->generic == NULL));	/* agg:G29 */
		agg->cells_size += call->size;
	}
}

static int
count_arguments(List *aggrefs)
{
	int			n = 0;
	ListCell   *lc;

	foreach(lc, aggrefs)
		n += list_length(lfirst_node(Aggref, lc)->args);
	return n;
}

/*
 * May rows of a row store be put in another order?  Not where a FILTER has
 * expressions evaluated for some of them.
 */
static bool
may_scatter(const StrataAggState *agg)
{
	if (!strata_enable_row_grouping || agg->nkeys == 0 ||
		agg->distincts != NIL)
		return false;
	for (int i = 0; i < agg->ncalls; i++)
		if (agg->calls[i].filter != NULL)
			return false;
	return true;
}

/*
 * May rows of a batch be put in another order?  Not where values are decoded
 * row by row, or looked at once more.
 */
static bool
may_scatter_codes(const StrataAggState *agg)
{
	if (!strata_enable_key_codes || agg->nkeys == 0 ||
		agg->distincts != NIL || agg->stop.kind == AGG_STOP_TOP)
		return false;
	for (int i = 0; i < agg->ncalls; i++)
		if (agg->calls[i].hold != NULL ||
			agg->calls[i].kernel->result == AGG_RESULT_PICK ||
			agg->calls[i].kernel->result == AGG_RESULT_BEST)
			return false;
	return true;
}

/* May rows of a row store be added one by one, each to its group? */
static bool
may_add_rows(const StrataAggState *agg)
{
	if (!strata_agg_may_remember(agg) || agg->distincts != NIL)
		return false;
	for (int i = 0; i < agg->ncalls; i++)
		if (agg->calls[i].hold != NULL ||
			(agg->stop.kind != AGG_STOP_PICK && agg->best == NULL &&
			 agg->calls[i].kernel->rows == NULL))
			return false;
	return true;
}

/*
 * BeginCustomScan: what keys and aggregates are about, and the child.  What
 * lives with the node is in the query's context.
 */
static void
begin_agg(CustomScanState *node, EState *estate, int eflags)
{
	StrataAggState *agg = (StrataAggState *) node;
	AggPlanData *plan = &agg->plan;
	int			nkeys;
	int			ncalls;
	bool		counts;
	ListCell   *lc;
	ListCell   *lc2;

	strata_agg_plan_read((CustomScan *) node->ss.ps.plan, plan);
	nkeys = list_length(plan->keys);
	ncalls = list_length(plan->aggrefs) +
		(plan->ranked ? 1 : list_length(plan->picks));

	/*
	 * the keeper block is what most vectors need, so that resets cost nothing
	 */
	agg->vector_mcxt = AllocSetContextCreate(estate->es_query_cxt,
											 "StrataAgg vector", 128 * 1024,
											 64 * 1024,
											 ALLOCSET_DEFAULT_MAXSIZE);

	agg->group_mcxt = AllocSetContextCreate(estate->es_query_cxt,
											"StrataAgg groups", 0,
											ALLOCSET_DEFAULT_INITSIZE,
											AGG_GROUP_BLOCK);
	init_input(agg, estate, eflags);
	agg->keys = palloc0(sizeof(AggKey) * Max(nkeys, 1));
	agg->calls = palloc0(sizeof(AggCall) * Max(ncalls, 1));
	agg->values = palloc0(sizeof(AggValue) *
						  (nkeys + 2 * ncalls + 1 +
						   count_arguments(plan->aggrefs) +
						   list_length(plan->picks) +
						   list_length(plan->ranks)));
	forboth(lc, plan->keys, lc2, plan->eqops)
		strata_agg_key_init(agg, &agg->keys[agg->nkeys++], lfirst(lc),
							lfirst_oid(lc2));
	counts = nkeys == 0 && agg->input != NULL;
	foreach(lc, plan->aggrefs)
	{
		init_call(agg, lfirst_node(Aggref, lc));
		/* without a value it counts rows */
		counts &= agg->calls[agg->ncalls - 1].value < 0 &&
			agg->calls[agg->ncalls - 1].hold == NULL &&
			agg->calls[agg->ncalls - 1].filter == NULL;
	}
	if (counts)
		strata_agg_input_count(agg->input, agg);
	if (plan->ranked)
		agg->best = strata_agg_best_create(agg, plan);
	foreach(lc, plan->picks)
	{
		if (!plan->ranked)
			init_pick(agg, lfirst(lc), plan->by, plan->stop.last);
	}
	strata_agg_value_note_integers(agg);
	place_cells(agg);
	strata_agg_stop_init(agg);
	agg->sets = strata_agg_sets_create(plan->sets, plan->groupings);
	if (agg->nkeys > 0)
	{
		agg->table = strata_agg_table_create(agg, agg->group_mcxt);
		agg->order = strata_agg_order_create(agg, plan->order);
	}
	else
	{
		agg->cells = palloc0(Max(agg->cells_size, sizeof(AggCell)));
		strata_agg_init_cells(agg, agg->cells);
	}
	strata_agg_distinct_begin(agg);
	agg->scatters = may_scatter(agg);
	agg->scatters_codes = may_scatter_codes(agg);
	if (may_add_rows(agg))
		agg->memo = strata_agg_memo_create(agg);
	agg->numbers = strata_agg_numbers_create(agg);
}

/* See agg_private.h. */
void
strata_agg_init_cells(StrataAggState *agg, AggCell *cells)
{
	memset(cells, 0, agg->cells_size);
	for (int i = 0; i < agg->ncalls; i++)
		if (agg->calls[i].generic != NULL)
			strata_agg_generic_init(agg->calls[i].generic,
									agg_cell(cells, &agg->calls[i]));
}

/* Take in all rows, or partial results; then the groups are complete. */
static void
read_all(StrataAggState *agg)
{
	AggVector  *vector;

	if (agg->plan.stage == AGG_STAGE_FINAL)
		strata_agg_read_partials(agg);
	else if (agg->plan.stage == AGG_STAGE_JOINED)
		strata_agg_read_joined(agg);
	else
		while ((vector = strata_agg_input_next(agg->input)) != NULL)
			if (agg->stop.kind != AGG_STOP_TOP ||
				strata_agg_stop_restrict(agg, vector))
				strata_agg_add_vector(agg, vector);
	strata_agg_distinct_finish(agg);
	agg->done = true;
	if (agg->sets != NULL)
		strata_agg_sets_add_empty(agg);
	if (agg->table != NULL)
		strata_agg_table_finish(agg->table);
	if (agg->words != NULL)
		strata_agg_words_finish(agg);
	if (agg->order != NULL)
		strata_agg_order_sort(agg->order, agg);
}

/*-------------------------------------------------------------------------
 * Returning
 *-------------------------------------------------------------------------
 */

/* A group as bytes, for the leader.  Memory: the current context. */
static TupleTableSlot *
return_partial(StrataAggState *agg, TupleTableSlot *slot,
			   const AggGroup *group)
{
	StringInfoData buf;

	Assert(agg->stop.kind == AGG_STOP_NONE);	/* agg:G13 */
	initStringInfo(&buf);
	strata_agg_group_write(agg, group, &buf);
	slot->tts_values[0] = PointerGetDatum(buf.data);
	slot->tts_isnull[0] = false;
	return ExecStoreVirtualTuple(slot);
}

/* See agg_private.h. */
TupleTableSlot *
strata_agg_next_group(StrataAggState *agg)
{
	TupleTableSlot *slot = agg->css.ss.ss_ScanTupleSlot;
	AggGroup   *group = NULL;
	AggCell    *cells = agg->cells;

	Assert(agg->done);			/* agg:G1 */
	ExecClearTuple(slot);
	if (agg->words != NULL)
	{
		if (!strata_agg_words_next(agg, slot->tts_values, slot->tts_isnull))
			return NULL;
	}
	else if (agg->nkeys > 0)
	{
		group = strata_agg_table_next(agg->table);
		if (group == NULL)
			return NULL;
		cells = agg_group_cells(group, agg->nkeys);
	}
	else if (agg->returned)
		return NULL;
	agg->returned = true;
	agg->counters.groups++;
	if (agg->plan.stage == AGG_STAGE_PARTIAL)
		return return_partial(agg, slot, group);
	for (int k = 0; k < agg->nkeys && group != NULL; k++)
	{
		slot->tts_values[k] = agg_group_keys(group)[k];
		slot->tts_isnull[k] = (group->nulls >> k) & 1;
	}
	if (agg->plan.stage == AGG_STAGE_BELOW)
	{
		StringInfoData buf;

		initStringInfo(&buf);
		strata_agg_cells_write(agg, cells, &buf);
		slot->tts_values[agg->nkeys] = PointerGetDatum(buf.data);
		slot->tts_isnull[agg->nkeys] = false;
		return ExecStoreVirtualTuple(slot);
	}
	if (agg->best != NULL)
	{
		strata_agg_best_return(agg->best, cells, slot->tts_values + agg->nkeys,
							   slot->tts_isnull + agg->nkeys);
		return ExecStoreVirtualTuple(slot);
	}
	for (int i = 0; i < agg->ncalls; i++)
	{
		AggCall    *call = &agg->calls[i];
		AggCell    *cell = agg_cell(cells, call->hold != NULL ?
									&agg->calls[call->holder] : call);

		slot->tts_values[agg->nkeys + i] =
			strata_agg_result(agg, call, cell,
							  &slot->tts_isnull[agg->nkeys + i]);
		if (call->hold != NULL)
			strata_agg_hold_done(call->hold, cell, i);
	}
	if (agg->sets != NULL)
		strata_agg_sets_groupings_of(agg->sets, group,
									 slot->tts_values + agg->nkeys +
									 agg->ncalls,
									 slot->tts_isnull + agg->nkeys +
									 agg->ncalls);
	return ExecStoreVirtualTuple(slot);
}

/*
 * ExecCustomScan: the next group that passes HAVING, projected.  The first
 * call reads all rows.
 */
static TupleTableSlot *
exec_agg(CustomScanState *node)
{
	StrataAggState *agg = (StrataAggState *) node;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;
	ProjectionInfo *projection = node->ss.ps.ps_ProjInfo;

	if (!agg->done)
		read_all(agg);
	for (;;)
	{
		MemoryContext old;
		TupleTableSlot *slot;

		CHECK_FOR_INTERRUPTS();
		ResetExprContext(econtext);
		old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		if (!strata_agg_order_next(agg->order, agg, &slot))
			slot = strata_agg_next_group(agg);
		MemoryContextSwitchTo(old);
		if (slot == NULL)
			return projection != NULL ?
				ExecClearTuple(projection->pi_state.resultslot) :
				node->ss.ss_ScanTupleSlot;
		econtext->ecxt_scantuple = slot;
		if (node->ss.ps.qual == NULL || ExecQual(node->ss.ps.qual, econtext))
			return projection != NULL ? ExecProject(projection) : slot;
		InstrCountFiltered1(node, 1);
	}
}

/* Give back what is not memory. */
static void
release_holds(StrataAggState *agg)
{
	for (int i = 0; i < agg->ncalls; i++)
	{
		if (agg->calls[i].hold == NULL)
			continue;
		strata_agg_hold_reset(agg->calls[i].hold);
		strata_agg_replay_reset(agg->calls[i].replay);
	}
	agg->held_full = false;
}

/* ReScanCustomScan: forget all groups, and have the child begin anew. */
static void
rescan_agg(CustomScanState *node)
{
	StrataAggState *agg = (StrataAggState *) node;
	PlanState  *child = linitial(node->custom_ps);

	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	if (node->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(child, node->ss.ps.chgParam);
	if (child->chgParam == NULL)
		ExecReScan(child);
	if (agg->input != NULL)
		strata_agg_input_rescan(agg->input);
	strata_agg_stop_reset(agg);
	strata_agg_order_reset(agg->order);
	strata_agg_distinct_reset(agg);
	release_holds(agg);
	strata_agg_words_end(agg);
	strata_agg_memo_forget(agg->memo);
	strata_agg_numbers_forget(agg->numbers);
	agg->done = false;
	agg->returned = false;
	if (agg->table != NULL)
		strata_agg_table_reset(agg->table);
	else
	{
		MemoryContextReset(agg->group_mcxt);
		strata_agg_init_cells(agg, agg->cells);
	}
}

static void
end_agg(CustomScanState *node)
{
	StrataAggState *agg = (StrataAggState *) node;

	strata_agg_order_end(agg->order);
	strata_agg_distinct_end(agg);
	release_holds(agg);
	strata_agg_words_end(agg);
	if (agg->table != NULL)
		strata_agg_table_end(agg->table);
	agg->table = NULL;
	ExecEndNode(linitial(node->custom_ps));
}
