/*-------------------------------------------------------------------------
 *
 * top_exec.c
 *	  The plan node: read what may matter, sort it, return the first rows.
 *
 * Rows go into a sort of PostgreSQL's that keeps the first n.  Beside it stand
 * the keys of the n best in a heap of ours, which says what can be passed
 * over.  How many rows are wanted is known when the query runs, at the latest;
 * where that is too many for the heap, all rows go into the sort.
 *
 * Over 600 lines: StrataTop and StrataSort begin, end and are shown alike.
 *
 * src/top/top_exec.c
 *-------------------------------------------------------------------------
 */
#include "top/top_private.h"

#include "commands/explain.h"
#ifdef STRATA_EXPLAIN_IS_SPLIT
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "executor/execPartition.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "common/int.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "top/top.h"
#include "top/top_sort_private.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"

static Node *create_top_state(CustomScan *cscan);
static Node *create_sort_state(CustomScan *cscan);
static void begin_top(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *exec_top(CustomScanState *node);
static TupleTableSlot *exec_sort(CustomScanState *node);
static void end_top(CustomScanState *node);
static void rescan_top(CustomScanState *node);

const CustomScanMethods strata_top_scan_methods = {
	.CustomName = "StrataTop",
	.CreateCustomScanState = create_top_state,
};

static const CustomExecMethods exec_methods = {
	.CustomName = "StrataTop",
	.BeginCustomScan = begin_top,
	.ExecCustomScan = exec_top,
	.EndCustomScan = end_top,
	.ReScanCustomScan = rescan_top,
	.ExplainCustomScan = strata_top_explain,
};

const CustomScanMethods strata_sort_scan_methods = {
	.CustomName = "StrataSort",
	.CreateCustomScanState = create_sort_state,
};

static const CustomExecMethods sort_exec_methods = {
	.CustomName = "StrataSort",
	.BeginCustomScan = begin_top,
	.ExecCustomScan = exec_sort,
	.EndCustomScan = end_top,
	.ReScanCustomScan = rescan_top,
	.ExplainCustomScan = strata_top_explain,
};

void
strata_top_init(void)
{
	RegisterCustomScanMethods(&strata_top_scan_methods);
	RegisterCustomScanMethods(&strata_sort_scan_methods);
}

static Node *
create_top_state(CustomScan *cscan)
{
	return strata_custom_state(sizeof(StrataTopState), &exec_methods);
}

static Node *
create_sort_state(CustomScan *cscan)
{
	Node	   *state = strata_custom_state(sizeof(StrataTopState),
											&sort_exec_methods);

	((StrataTopState *) state)->all = true;
	return state;
}

/* May we read the Append's children in its place? */
static bool
can_read_children(PlanState *child)
{
	AppendState *append = (AppendState *) child;

	return IsA(child, AppendState) && child->qual == NULL &&
		child->ps_ProjInfo == NULL && append->as_nasyncplans == 0 &&
		!child->plan->parallel_aware && append->as_nplans > 0;
}

/* The child, or children, that rows come from. */
static void
init_sources(StrataTopState *top, EState *estate, int eflags)
{
	CustomScan *cscan = (CustomScan *) top->css.ss.ps.plan;
	PlanState  *child = ExecInitNode(linitial(cscan->custom_plans), estate,
									 eflags);

	top->css.custom_ps = list_make1(child);
	top->nsources = 1;
	if (can_read_children(child))
	{
		top->append = (AppendState *) child;
		top->nsources = top->append->as_nplans;
	}
	top->sources = palloc0(sizeof(TopSource) * top->nsources);
	for (int i = 0; i < top->nsources; i++)
		strata_top_source_init(top, &top->sources[i],
							   top->append != NULL ?
							   top->append->appendplans[i] : child);
}

/* BeginCustomScan: keys, and the child. */
static void
begin_top(CustomScanState *node, EState *estate, int eflags)
{
	StrataTopState *top = (StrataTopState *) node;
	CustomScan *cscan = (CustomScan *) node->ss.ps.plan;
	TupleDesc	desc = node->ss.ss_ScanTupleSlot->tts_tupleDescriptor;

	strata_top_plan_read(top);
	top->exprs = strata_top_exprs_create(top, cscan->custom_scan_tlist,
										 top->ninputs +
										 (top->distance != NULL));
	for (int k = 0; k < top->nkeys; k++)
		strata_top_key_init(&top->keys[k],
							TupleDescAttr(desc,
										  top->keys[k].plan.input - 1)
							->atttypid);
	init_sources(top, estate, eflags);
	top->put = ExecInitExtraTupleSlot(estate, desc, &TTSOpsVirtual);
	top->got = ExecInitExtraTupleSlot(estate, desc, &TTSOpsMinimalTuple);
	top->values = palloc0(sizeof(TopValue) * top->nkeys);
	top->columns = palloc0(sizeof(StrataColumn *) * desc->natts);
	top->key_columns = palloc0(sizeof(StrataColumn *) * top->nkeys);
	top->heap.keys = top->keys;
	top->heap.nkeys = top->nkeys;
	top->heap.mcxt = AllocSetContextCreate(CurrentMemoryContext,
										   "StrataTop keys",
										   ALLOCSET_DEFAULT_SIZES);
	top->list_mcxt = AllocSetContextCreate(CurrentMemoryContext,
										   "StrataTop batches",
										   ALLOCSET_DEFAULT_SIZES);
}

/*-------------------------------------------------------------------------
 * Running
 *-------------------------------------------------------------------------
 */

/* LIMIT's or OFFSET's value; -1: none, or one that Limit will not accept. */
static int64
eval_count(StrataTopState *top, ExprState *expr)
{
	bool		isnull;
	Datum		value;

	if (expr == NULL)
		return -1;
	value = ExecEvalExprSwitchContext(expr, top->css.ss.ps.ps_ExprContext,
									  &isnull);
	return isnull || DatumGetInt64(value) < 0 ? -1 : DatumGetInt64(value);
}

/* How many rows are wanted; -1: all. */
static int64
count_wanted(StrataTopState *top)
{
	int64		n = eval_count(top, top->limit);
	int64		offset = eval_count(top, top->offset);

	if (n < 0 || (offset > 0 && pg_add_s64_overflow(n, offset, &n)))
		return -1;
	return n;
}

/* See top_private.h. */
void
strata_top_begin_sort(StrataTopState *top, int64 wanted)
{
	AttrNumber *attnos = palloc(sizeof(AttrNumber) * top->nkeys);
	Oid		   *operators = palloc(sizeof(Oid) * top->nkeys);
	Oid		   *collations = palloc(sizeof(Oid) * top->nkeys);
	bool	   *nulls_first = palloc(sizeof(bool) * top->nkeys);
	TopHeap    *heap = &top->heap;
	int64		room = (int64) work_mem * 1024 / 2 /
	(int64) (sizeof(TopValue) * top->nkeys);

	for (int k = 0; k < top->nkeys; k++)
	{
		attnos[k] = top->keys[k].plan.input;
		operators[k] = top->keys[k].plan.sortop;
		collations[k] = top->keys[k].plan.collation;
		nulls_first[k] = top->keys[k].plan.nulls_first;
	}
	top->sort = tuplesort_begin_heap(top->put->tts_tupleDescriptor, top->nkeys,
									 attnos, operators, collations,
									 nulls_first, work_mem, NULL,
									 TUPLESORT_ALLOWBOUNDED);
	/* the sort has copied them, and there is one for each rescan */
	pfree(attnos);
	pfree(operators);
	pfree(collations);
	pfree(nulls_first);
	MemoryContextReset(heap->mcxt);
	heap->n = 0;
	heap->size = 0;
	if (wanted <= 0)
		return;
	if (!top->ties)
		tuplesort_set_bound(top->sort, wanted);
	if (wanted > room)
		return;
	heap->size = wanted;
	Assert((int64) sizeof(TopValue) * top->nkeys * wanted <=
		   (int64) work_mem * 512); /* top:N6 */
	heap->values = MemoryContextAllocHuge(heap->mcxt, sizeof(TopValue) *
										  top->nkeys * wanted);
}

/* Sources that run-time pruning leaves, as Append would ask. */
static Bitmapset *
valid_sources(StrataTopState *top)
{
	AppendState *append = top->append;

	if (append == NULL)
		return bms_make_singleton(0);
	if (append->ps.chgParam != NULL)
		ExecReScan(&append->ps);
	if (append->as_prune_state != NULL &&
		append->as_prune_state->do_exec_prune)
		return bms_copy(strata_find_matching_subplans(append->as_prune_state));
	return bms_add_range(NULL, 0, top->nsources - 1);
}

/* Can a partition by the first key have rows that are among the best? */
static bool
source_matters(StrataTopState *top, const TopSource *source)
{
	TopKey	   *key = &top->keys[0];
	TopValue	best;
	int64		bound;

	if (!top->ordered || source->bound_attno == 0 ||
		strata_top_is_checked(top) ||
		!strata_top_heap_is_full(&top->heap) ||
		!strata_scan_partition_best(source->node,
									source->bound_attno, key->desc,
									key->width, &bound))
		return true;
	best.isnull = false;
	best.rank = key->desc ? ~bound : bound;
	return strata_top_compare(key, &best, &top->heap.values[0]) <
		strata_top_takes_equal(top);
}

/* Read all that matters. */
static void
fill_sort(StrataTopState *top)
{
	Bitmapset  *valid = valid_sources(top);

	for (int i = 0; i < top->nsources; i++)
	{
		int			number = top->reverse ? top->nsources - 1 - i : i;
		TopSource  *source = &top->sources[number];
		Instrumentation *instrument = top->append != NULL ?
		top->append->ps.instrument : NULL;

		if (!bms_is_member(number, valid))
			continue;
		if (!source_matters(top, source))
		{
			top->nsources_passed++;
			continue;
		}
		if (instrument != NULL)
			InstrStartNode(instrument);
		if (top->all)
			strata_sort_source_read(top, source);
		else
			strata_top_source_read(top, source);
		if (instrument != NULL)
			InstrStopNode(instrument, 0);
	}
	bms_free(valid);
}

/* The row in the scan slot, projected. */
static TupleTableSlot *
project_row(CustomScanState *node)
{
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;

	if (node->ss.ps.ps_ProjInfo == NULL)
		return slot;
	node->ss.ps.ps_ExprContext->ecxt_scantuple = slot;
	return ExecProject(node->ss.ps.ps_ProjInfo);
}

static TupleTableSlot *
no_row(CustomScanState *node)
{
	return node->ss.ps.ps_ProjInfo != NULL ?
		ExecClearTuple(node->ss.ps.ps_ResultTupleSlot) :
		node->ss.ss_ScanTupleSlot;
}

/* The next row of PostgreSQL's sort, into the scan slot; false: none. */
static bool
load_next_row(StrataTopState *top)
{
	TupleTableSlot *slot = top->css.ss.ss_ScanTupleSlot;
	int			natts = slot->tts_tupleDescriptor->natts;

	if (!tuplesort_gettupleslot(top->sort, true, false, top->got, NULL))
		return false;
	slot_getallattrs(top->got);
	memcpy(slot->tts_values, top->got->tts_values, sizeof(Datum) * natts);
	memcpy(slot->tts_isnull, top->got->tts_isnull, sizeof(bool) * natts);
	ExecStoreVirtualTuple(slot);
	return true;
}

/* Keys of the row in the scan slot, in top->values. */
static void
load_slot_keys(StrataTopState *top)
{
	const TupleTableSlot *slot = top->css.ss.ss_ScanTupleSlot;

	for (int k = 0; k < top->nkeys; k++)
	{
		int			att = top->keys[k].plan.input - 1;

		strata_top_value(&top->keys[k], slot->tts_values[att],
						 slot->tts_isnull[att], &top->values[k]);
	}
}

/*
 * Keep the keys of the last row that is wanted, to see which are as good; the
 * heap of the best is no more needed.
 */
static void
keep_last(StrataTopState *top)
{
	TopHeap    *heap = &top->heap;

	load_slot_keys(top);
	MemoryContextReset(heap->mcxt);
	heap->n = 0;
	heap->size = 1;
	heap->values = MemoryContextAlloc(heap->mcxt, sizeof(TopValue) *
									  top->nkeys);
	strata_top_heap_add(heap, top->values);
	top->last = heap->values;
}

/* Is the row in the scan slot as good as the last that is wanted? */
static bool
is_like_last(StrataTopState *top)
{
	if (top->last == NULL)
		return false;
	load_slot_keys(top);
	return strata_top_heap_compare(&top->heap, top->values) == 0;
}

/* There are no more rows, whoever asks. */
static TupleTableSlot *
end_rows(CustomScanState *node)
{
	StrataTopState *top = (StrataTopState *) node;

	top->nleft = 0;
	top->last = NULL;
	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	return no_row(node);
}

/* ExecCustomScan: the next of the first rows, projected. */
static TupleTableSlot *
exec_top(CustomScanState *node)
{
	StrataTopState *top = (StrataTopState *) node;

	if (top->sort == NULL)
	{
		int64		wanted = count_wanted(top);

		Assert(top->limit != NULL); /* top:N4 */
		strata_top_begin_sort(top, wanted);
		strata_top_distance_start(top);
		if (wanted != 0)
			fill_sort(top);
		tuplesort_performsort(top->sort);
		top->nleft = wanted;
		top->last = NULL;
	}
	ResetExprContext(node->ss.ps.ps_ExprContext);
	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	/* a window function above asks for more, in vain */
	if (top->nleft == 0 && !top->ties)
		return no_row(node);
	if (!load_next_row(top) || (top->nleft == 0 && !is_like_last(top)))
		return end_rows(node);
	if (top->nleft > 0 && --top->nleft == 0 && top->ties)
		keep_last(top);
	return project_row(node);
}

/* See top_sort_private.h. */
void
strata_sort_all(StrataTopState *top)
{
	MemoryContext old =
	MemoryContextSwitchTo(top->css.ss.ps.state->es_query_cxt);

	top->sorter = strata_sort_create(top);
	MemoryContextSwitchTo(old);
	fill_sort(top);
	if (top->sorter != NULL)
		strata_sort_finish(top->sorter);
	else
		tuplesort_performsort(top->sort);
}

/* ExecCustomScan: the next of all rows, projected. */
static TupleTableSlot *
exec_sort(CustomScanState *node)
{
	StrataTopState *top = (StrataTopState *) node;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	const char *record;

	CHECK_FOR_INTERRUPTS();
	if (top->sorter == NULL && top->sort == NULL)
		strata_sort_all(top);
	ResetExprContext(node->ss.ps.ps_ExprContext);
	ExecClearTuple(slot);
	if (top->sorter == NULL)
		return load_next_row(top) ? project_row(node) : no_row(node);
	record = strata_sort_next(top->sorter);
	if (record == NULL)
		return no_row(node);
	strata_sort_load(top->sorter, record, slot->tts_values,
					 slot->tts_isnull);
	ExecStoreVirtualTuple(slot);
	return project_row(node);
}

/* See top_sort_private.h. */
AttrNumber
strata_sort_row_column(PlanState *node, AttrNumber resno)
{
	CustomScan *cscan = (CustomScan *) node->plan;
	Var		   *var;

	if (cscan->methods != &strata_sort_scan_methods)
		return 0;
	var = (Var *) list_nth_node(TargetEntry, cscan->scan.plan.targetlist,
								resno - 1)->expr;
	return IsA(var, Var) && var->varno == INDEX_VAR ? var->varattno : 0;
}

/* See top.h. */
AttrNumber
strata_sort_child_column(PlanState *node, AttrNumber resno)
{
	AttrNumber	attno = strata_sort_row_column(node, resno);

	return attno > 0 && attno <= ((StrataTopState *) node)->ninputs ? attno :
		0;
}

/* The sort, and all that points into it. */
static void
forget_rows(StrataTopState *top)
{
	ExecClearTuple(top->css.ss.ss_ScanTupleSlot);
	ExecClearTuple(top->put);
	ExecClearTuple(top->got);
	if (top->sort != NULL)
		tuplesort_end(top->sort);
	top->sort = NULL;
	if (top->sorter != NULL)
		strata_sort_free(top->sorter);
	top->sorter = NULL;
}

/* ReScanCustomScan: LIMIT may be another, so all is read again. */
static void
rescan_top(CustomScanState *node)
{
	PlanState  *child = linitial(node->custom_ps);

	forget_rows((StrataTopState *) node);
	if (node->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(child, node->ss.ps.chgParam);
	if (child->chgParam == NULL)
		ExecReScan(child);
}

static void
end_top(CustomScanState *node)
{
	StrataTopState *top = (StrataTopState *) node;

	forget_rows(top);
	for (int i = 0; i < top->nsources; i++)
		strata_top_source_end(&top->sources[i]);
	ExecEndNode(linitial(node->custom_ps));
}

/*-------------------------------------------------------------------------
 * EXPLAIN
 *-------------------------------------------------------------------------
 */

/* A key as Sort shows it. */
static char *
key_text(const TopKey *key, Node *expr, List *context, ExplainState *es)
{
	char	   *text = deparse_expression(expr, context,
										  strata_explain_uses_prefix(es),
										  true);

	if (key->desc)
		text = psprintf("%s DESC", text);
	if (key->plan.nulls_first != key->desc)
		text = psprintf("%s NULLS %s", text,
						key->plan.nulls_first ? "FIRST" : "LAST");
	return text;
}

/* The index of the first table that has one for distances. */
static void
show_distance_index(StrataTopState *top, ExplainState *es)
{
	for (int i = 0; i < top->nsources && top->distance != NULL; i++)
	{
		const TopSource *source = &top->sources[i];
		StrataNearest *nearest = source->nearest;

		if (!source->vectors)
			continue;
		if (nearest == NULL)
			nearest = strata_scan_nearest_begin(source->node,
												source->key_attnos[0],
												top->distance->opno,
												top->distance->collation);
		if (nearest == NULL)
			continue;
		ExplainPropertyText("Nearest By", strata_scan_nearest_index(nearest),
							es);
		if (source->nearest == NULL)
			strata_scan_nearest_end(nearest);
		return;
	}
}

/* See top_private.h. */
void
strata_top_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	StrataTopState *top = (StrataTopState *) node;
	CustomScan *cscan = (CustomScan *) node->ss.ps.plan;
	List	   *context = set_deparse_context_plan(es->deparse_cxt,
												   node->ss.ps.plan,
												   ancestors);
	List	   *texts = NIL;

	for (int k = 0; k < top->nkeys; k++)
		texts = lappend(texts, key_text(&top->keys[k],
										list_nth(cscan->custom_exprs, k),
										context, es));
	ExplainPropertyList("Sort Key", texts, es);
	show_distance_index(top, es);
	if (!es->analyze)
		return;
	strata_explain_count("Batches Read", top->nread, es);
	if (!top->all)
		strata_explain_count("Batches Passed Over", top->npassed, es);
	if (top->ordered)
		strata_explain_count("Partitions Passed Over", top->nsources_passed,
							 es);
	strata_explain_count("Rows Sorted", top->ntaken, es);
	if (top->all && top->sort != NULL)
		ExplainPropertyText("Sorted By", "rows", es);
	else if (top->sorter != NULL && top->sorter->nruns > 0)
		strata_explain_count("Runs on Disk", top->sorter->nruns, es);
	strata_scan_explain_all(node, es);
}
