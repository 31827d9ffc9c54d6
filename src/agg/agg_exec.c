/*-------------------------------------------------------------------------
 *
 * agg_exec.c
 *	  The plan node: read all rows, then return a row for each group.
 *
 * The scan tuple has the keys, then the aggregates.  HAVING and whatever is
 * computed of aggregates is PostgreSQL's: quals and projection of the node.
 *
 * Over 600 lines: the node and the order in which it adds runs are one.
 *
 * src/agg/agg_exec.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_hold_private.h"

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
	int			values[FUNC_MAX_ARGS];
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
	call->replay = strata_agg_replay_create(agg, aggref, call->hold);
}

/*
 * Add an aggregate, once the user may execute it.  agg->calls has room for it.
 */
static void
init_call(StrataAggState *agg, const Aggref *aggref)
{
	AggCall    *call = &agg->calls[agg->ncalls];

	check_permission(aggref->aggfnoid);
	call->aggref = aggref;
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
	{
		ListCell   *lc;

		foreach(lc, pull_var_clause((Node *) aggref->aggfilter, 0))
			call->filter_inputs =
			list_append_unique_int(call->filter_inputs,
								   lfirst_node(Var, lc)->varattno - 1);
		call->filter = ExecInitQual(make_ands_implicit(aggref->aggfilter),
									&agg->css.ss.ps);
		call->filter_vector =
			strata_expr_compile(make_ands_implicit(aggref->aggfilter),
								&agg->css.ss.ps);
	}
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
		agg->input = strata_agg_input_create(child, desc->natts);
	agg->input_slot = ExecInitExtraTupleSlot(estate, desc, &TTSOpsVirtual);
	ExecStoreAllNullTuple(agg->input_slot);
	agg->input_econtext = CreateExprContext(estate);
	agg->input_econtext->ecxt_outertuple = agg->input_slot;
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
		agg->distincts != NIL || agg->stop.kind != AGG_STOP_NONE)
		return false;
	for (int i = 0; i < agg->ncalls; i++)
		if (agg->calls[i].hold != NULL ||
			agg->calls[i].kernel->result == AGG_RESULT_PICK)
			return false;
	return true;
}

/* May rows of a row store be added one by one, each to its group? */
static bool
may_add_rows(const StrataAggState *agg)
{
	if (!strata_enable_row_grouping || agg->nkeys == 0 ||
		agg->distincts != NIL)
		return false;
	for (int k = 0; k < agg->nkeys; k++)
		if (!agg->keys[k].typbyval &&
			agg->values[agg->keys[k].value].input < 0)
			return false;
	for (int i = 0; i < agg->ncalls; i++)
		if (agg->calls[i].hold != NULL ||
			(agg->stop.kind != AGG_STOP_PICK &&
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
	ncalls = list_length(plan->aggrefs) + list_length(plan->picks);

	/*
	 * the keeper block is what most vectors need, so that resets cost nothing
	 */
	agg->vector_mcxt = AllocSetContextCreate(estate->es_query_cxt,
											 "StrataAgg vector", 128 * 1024,
											 64 * 1024,
											 ALLOCSET_DEFAULT_MAXSIZE);

	/*
	 * its blocks are small beside what groups may take, so that what is
	 * allocated is what is used
	 */
	agg->group_mcxt = AllocSetContextCreate(estate->es_query_cxt,
											"StrataAgg groups", 0,
											ALLOCSET_DEFAULT_INITSIZE,
											256 * 1024);
	init_input(agg, estate, eflags);
	agg->keys = palloc0(sizeof(AggKey) * Max(nkeys, 1));
	agg->calls = palloc0(sizeof(AggCall) * Max(ncalls, 1));
	agg->values = palloc0(sizeof(AggValue) *
						  (nkeys + 2 * ncalls + 1 +
						   count_arguments(plan->aggrefs)));
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
			lfirst_node(Aggref, lc)->aggfilter == NULL;
	}
	if (counts)
		strata_agg_input_count(agg->input, agg);
	foreach(lc, plan->picks)
		init_pick(agg, lfirst(lc), plan->by, plan->stop.last);
	strata_agg_value_note_integers(agg);
	strata_agg_stop_init(agg);
	agg->sets = strata_agg_sets_create(plan->sets, plan->groupings);
	if (agg->nkeys > 0)
	{
		agg->table = strata_agg_table_create(agg, agg->group_mcxt);
		agg->order = strata_agg_order_create(agg, plan->order);
	}
	else
	{
		agg->cells = palloc0(sizeof(AggCell) * Max(agg->ncalls, 1));
		strata_agg_init_cells(agg, agg->cells);
	}
	strata_agg_distinct_begin(agg);
	agg->scatters = may_scatter(agg);
	agg->scatters_codes = may_scatter_codes(agg);
	if (may_add_rows(agg))
		agg->memo = strata_agg_memo_create(agg);
}

/* See agg_private.h. */
void
strata_agg_init_cells(StrataAggState *agg, AggCell *cells)
{
	memset(cells, 0, sizeof(AggCell) * agg->ncalls);
	for (int i = 0; i < agg->ncalls; i++)
		if (agg->calls[i].generic != NULL)
			strata_agg_generic_init(agg->calls[i].generic, &cells[i]);
}

/*-------------------------------------------------------------------------
 * Aggregating
 *-------------------------------------------------------------------------
 */

static const int kind_width[] = {
	[AGG_VALUE_NONE] = 0,
	[AGG_VALUE_INT16] = sizeof(int16),
	[AGG_VALUE_INT32] = sizeof(int32),
	[AGG_VALUE_INT64] = sizeof(int64),
	[AGG_VALUE_FLOAT4] = sizeof(float4),
	[AGG_VALUE_FLOAT8] = sizeof(float8),
	[AGG_VALUE_DATUM] = sizeof(Datum)
};

/*
 * One byte for each selected row: neither null nor filtered out; NULL: all
 * are.
 */
static const uint8 *
valid_rows(StrataAggState *agg, int i, const StrataColumn *col)
{
	AggCall    *call = &agg->calls[i];
	AggVector  *vector = agg->vector;
	int			n = vector->nselected;
	const uint8 *pass = NULL;
	uint8	   *valid;

	if (call->filter != NULL)
		pass = strata_agg_filter(agg, call);
	if (col == NULL ||
		(col->constant ? !col->value_isnull : col->isnull == NULL))
		return pass;
	valid = palloc0(n);
	for (int j = 0; j < n && !col->constant; j++)
		valid[j] = (pass == NULL || pass[j]) &
			!col->isnull[agg_vector_row(vector, j)];
	return valid;
}

/* Of the selected rows. */
static const uint8 *
selected_displays(const AggVector *vector, const uint8 *displays)
{
	uint8	   *out;

	if (vector->rows == NULL)
		return displays + vector->first;
	out = palloc(vector->nselected);
	for (int i = 0; i < vector->nselected; i++)
		out[i] = displays[vector->rows[i]];
	return out;
}

/* Load the second argument; a row counts where neither is null. */
static void
prepare_second(StrataAggState *agg, AggCall *call)
{
	AggVector  *vector = agg->vector;
	const StrataColumn *col = strata_agg_value_column(agg, call->by);
	uint8	   *valid;

	call->v2 = strata_agg_selected_datums(vector, col);
	if (col->constant ? !col->value_isnull : col->isnull == NULL)
		return;
	valid = palloc(vector->nselected);
	for (int j = 0; j < vector->nselected; j++)
		valid[j] = (call->valid == NULL || call->valid[j]) &&
			!col->constant && !col->isnull[agg_vector_row(vector, j)];
	call->valid = valid;
}

/*
 * Bring the values of an aggregate's argument into the form its kernel takes.
 */
static void
prepare_call(StrataAggState *agg, int i)
{
	AggCall    *call = &agg->calls[i];
	AggValueKind kind = call->kernel->kind;
	MemoryContext old = MemoryContextSwitchTo(agg->vector_mcxt);
	const StrataColumn *col = NULL;

	call->ready = true;
	call->width = kind_width[kind];
	call->v = NULL;
	call->v2 = NULL;
	call->integers = call->scaled = false;
	/* a value that is picked may be null, and may not be needed */
	if (call->value >= 0 && call->kernel->result != AGG_RESULT_PICK)
	{
		col = strata_agg_value_integers(agg, call->value);
		call->integers = col != NULL;
		if (call->generic != NULL &&
			strata_agg_generic_adds_numerics(call->generic))
		{
			col = strata_agg_value_scaled(agg, call->value);
			call->scaled = col != NULL;
			if (call->scaled)
				call->displays =
					selected_displays(agg->vector,
									  agg->values[call->value].displays);
		}
		if (col == NULL)
			col = strata_agg_value_column(agg, call->value);
	}
	Assert(!call->integers ||
		   (call->filter == NULL &&
			strata_agg_takes_integers(call->kernel)));	/* agg:G16 */
	Assert(!call->scaled || call->generic != NULL); /* agg:G18 */
	call->valid = valid_rows(agg, i, col);
	if (call->scaled)
		call->v = strata_agg_selected_values(agg->vector, col);
	else if (kind == AGG_VALUE_DATUM)
		call->v = strata_agg_selected_datums(agg->vector, col);
	else if (kind != AGG_VALUE_NONE)
	{
		if (call->integers)
			call->width = col->type.width;
		else if (col->type.width != call->width)
			elog(ERROR, "aggregate %u takes values of %d bytes, not %d",
				 call->aggref->aggfnoid, call->width, col->type.width);
		call->v = strata_agg_selected_values(agg->vector, col);
	}
	if (call->generic != NULL && call->by >= 0)
		prepare_second(agg, call);
	MemoryContextSwitchTo(old);
}

/*
 * A run of integers whose sum is not known to be exact, as the kernel's
 * floats.
 */
static void
run_as_floats(StrataAggState *agg, AggCall *call, AggCell *cell, AggRun run)
{
	bool		is_float4 = call->kernel->kind == AGG_VALUE_FLOAT4;
	void	   *v = MemoryContextAlloc(agg->vector_mcxt,
									   (Size) run.n *
									   kind_width[call->kernel->kind]);

	Assert(call->width == sizeof(int16) ||
		   call->width == sizeof(int32));	/* agg:G16 */
	for (int i = 0; i < run.n; i++)
	{
		int32		x;

		x = call->width == sizeof(int16) ? ((const int16 *) run.v)[i] :
			((const int32 *) run.v)[i];
		if (is_float4)
			((float4 *) v)[i] = (float4) x;
		else
			((float8 *) v)[i] = (float8) x;
	}
	run.v = v;
	call->kernel->run(cell, &run);
}

/*
 * Add the selected rows [from, to) to the cells of their group.  Returns
 * whether that needed no values.
 */
static bool
add_run(StrataAggState *agg, AggCell *cells, int from, int to)
{
	bool		whole = agg->vector->whole && from == 0 &&
	to == agg->vector->nselected;
	bool		summarized = whole;

	Assert(from >= 0 && from < to &&
		   to <= agg->vector->nselected);	/* agg:G1 */
	for (int i = 0; i < agg->ncalls; i++)
	{
		AggCall    *call = &agg->calls[i];
		AggRun		run;

		/* the set of its values takes the rows in */
		if (call->distinct != NULL)
		{
			summarized = false;
			continue;
		}
		if (call->hold != NULL)
		{
			summarized = false;
			if (call->holder == i)
				strata_agg_hold_run(call->hold, call, &cells[i], from, to);
			continue;
		}
		if (whole && call->filter == NULL &&
			strata_agg_summarize(agg, call, &cells[i]))
			continue;
		summarized = false;
		if (!call->ready)
			prepare_call(agg, i);
		run.v = call->v + (Size) from * call->width;
		run.valid = call->valid != NULL ? call->valid + from : NULL;
		run.n = to - from;
		run.v2 = call->v2 != NULL ? call->v2 + from : NULL;
		if (call->scaled)
			strata_agg_generic_run_scaled(call->generic, &cells[i], &run,
										  agg->values[call->value].scale,
										  call->displays + from);
		else if (call->generic != NULL)
			strata_agg_generic_run(call->generic, &cells[i], &run);
		else if (call->kernel->result == AGG_RESULT_PICK)
			strata_agg_pick_run(agg, call, &cells[i], call->valid, from, to);
		else if (!call->integers || call->kernel->kind == AGG_VALUE_NONE)
			call->kernel->run(&cells[i], &run);
		else if (!strata_agg_run_integers(call->kernel, &cells[i], &run,
										  call->width))
			run_as_floats(agg, call, &cells[i], run);
	}
	return summarized;
}

/* The cells of the group of run number i (in order). */
static AggCell *
cells_of_run(StrataAggState *agg, AggCodes *codes, int i)
{
	AggGroup  **found = codes != NULL ? &codes->groups[codes->codes[i]] :
	NULL;
	AggGroup   *group;

	if (found != NULL && *found != NULL && agg->stop.kind == AGG_STOP_NONE)
		return agg_group_cells(*found, agg->nkeys);
	strata_agg_load_run(agg, i);
	if (agg->stop.kind == AGG_STOP_TOP)
		strata_agg_stop_see(agg);
	group = strata_agg_table_find(agg->table);
	if (found != NULL)
		*found = group;
	return agg_group_cells(group, agg->nkeys);
}

/* Take in those rows of a row store that are better than what is there. */
static void
add_best_rows(StrataAggState *agg, AggCell **cells)
{
	uint16		wanted[STRATA_AGG_CHUNK_ROWS];
	int			n;

	Assert(agg->vector->nselected <= STRATA_AGG_CHUNK_ROWS);	/* agg:G24 */
	n = strata_agg_stop_wanted_rows(agg, cells, wanted);
	for (int i = 0; i < n; i++)
	{
		int			row = wanted[i];

		if (strata_agg_stop_wants_run(agg, cells[row], row, row + 1))
			(void) add_run(agg, cells[row], row, row + 1);
	}
}

/* Take in the rows of a row store, each as it stands there; false: cannot. */
static bool
add_rows(StrataAggState *agg)
{
	AggCell   **cells = strata_agg_memo_cells(agg);

	if (cells == NULL)
		return false;
	agg->nruns = 0;
	agg->counters.singles += agg->vector->nselected;
	if (agg->stop.kind == AGG_STOP_PICK)
	{
		add_best_rows(agg, cells);
		return true;
	}
	for (int i = 0; i < agg->ncalls; i++)
	{
		AggCall    *call = &agg->calls[i];
		AggRun		run = {.n = agg->vector->nselected};

		prepare_call(agg, i);
		Assert(!call->integers && !call->scaled);	/* agg:G24 */
		run.v = call->v;
		run.valid = call->valid;
		call->kernel->rows(cells, i, &run);
	}
	return true;
}

/*
 * Take the vector in by runs of rows of one group; returns whether the last of
 * them needed no values.
 */
static bool
add_runs(StrataAggState *agg)
{
	AggCodes   *codes = NULL;
	bool		summarized = false;

	agg->nruns = strata_agg_scatter(agg);
	if (agg->nruns == 0)
	{
		agg->nruns = strata_agg_cut_runs(agg);
		codes = strata_agg_codes_create(agg);
		agg->rows_have_codes = codes != NULL &&
			strata_agg_scatter_codes(agg, codes);
	}
	for (int i = 0; i < agg->nruns; i++)
	{
		AggCell    *cells = cells_of_run(agg, codes, i);

		if (agg->stop.kind == AGG_STOP_PICK && agg->vector->batch == NULL &&
			!strata_agg_stop_wants_run(agg, cells, agg->runs[i],
									   agg->runs[i + 1]))
			continue;
		summarized = add_run(agg, cells, agg->runs[i], agg->runs[i + 1]);
	}
	return summarized;
}

/*
 * Take a vector in: run after run into the groups.  Forgets what was computed
 * of the vector before; groups may be spilled.
 */
static void
add_vector(StrataAggState *agg, AggVector *vector)
{
	bool		summarized = false;

	Assert(!vector->whole ||
		   (vector->batch != NULL &&
			vector->nselected == vector->nrows));	/* agg:G1 */
	agg->vector = vector;
	agg->nruns = 1;
	MemoryContextReset(agg->vector_mcxt);
	strata_agg_value_reset(agg);
	for (int i = 0; i < agg->ncalls; i++)
	{
		agg->calls[i].ready = false;
		agg->calls[i].pass = NULL;
		if (agg->calls[i].hold != NULL)
			strata_agg_hold_new_vector(agg->calls[i].hold);
	}
	if (agg->nkeys == 0)
		summarized = add_run(agg, agg->cells, 0, vector->nselected);
	else
	{
		if (!add_rows(agg))
			summarized = add_runs(agg);
		if (agg->held_full || strata_agg_table_is_full(agg->table))
		{
			strata_agg_memo_forget(agg->memo);
			strata_agg_table_spill(agg->table);
		}
		agg->held_full = false;
	}
	strata_agg_distinct_take(agg);
	agg->counters.rows += vector->nselected;
	agg->counters.runs += agg->nruns;
	agg->counters.summarized += summarized;
	if (vector->batch != NULL)
		agg->counters.vectors++;
	else
		agg->counters.chunks++;
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
				add_vector(agg, vector);
	strata_agg_distinct_finish(agg);
	agg->done = true;
	if (agg->sets != NULL)
		strata_agg_sets_add_empty(agg);
	if (agg->table != NULL)
		strata_agg_table_finish(agg->table);
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
	if (agg->nkeys > 0)
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
	for (int k = 0; k < agg->nkeys; k++)
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
	for (int i = 0; i < agg->ncalls; i++)
	{
		AggCall    *call = &agg->calls[i];
		AggCell    *cell = &cells[call->hold != NULL ? call->holder : i];

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
	strata_agg_memo_forget(agg->memo);
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
	if (agg->table != NULL)
		strata_agg_table_end(agg->table);
	ExecEndNode(linitial(node->custom_ps));
}
