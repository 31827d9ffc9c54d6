/*-------------------------------------------------------------------------
 *
 * scan_exec.c
 *	  The plan node: begin, next row, rescan, end.
 *
 * Rows of the row store come first, then the batches; or the other way round,
 * where batches are looked up for each value of a parameter; or both merged,
 * when the output is ordered.  The quals of the plan node stand in ps.qual in
 * full, for rows of the row store that we read ourselves and for EvalPlanQual,
 * from when they are first needed (strata_scan_qual()); batches are filtered
 * by scan_batch.c.
 *
 * ss_ScanTupleSlot always points at the slot with the current row, whichever
 * half it came from (WHERE CURRENT OF looks there).  The slots differ in kind,
 * so expressions are compiled for a scan slot of any kind.
 *
 * src/scan/scan_exec.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "scan/filter_subplan_private.h"
#include "scan/scan_join_private.h"
#include "scan/scan_private.h"
#include "store/store_entry.h"

#include "access/sysattr.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "scan/scan.h"
#include "utils/memutils.h"
#include "utils/rel.h"

static Node *create_state(CustomScan *cscan);
static void begin_scan(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *exec_scan(CustomScanState *node);
static void end_scan(CustomScanState *node);
static void rescan(CustomScanState *node);

const CustomScanMethods strata_scan_methods = {
	.CustomName = "StrataScan",
	.CreateCustomScanState = create_state,
};

static const CustomExecMethods exec_methods = {
	.CustomName = "StrataScan",
	.BeginCustomScan = begin_scan,
	.ExecCustomScan = exec_scan,
	.EndCustomScan = end_scan,
	.ReScanCustomScan = rescan,
	.EstimateDSMCustomScan = strata_parallel_estimate,
	.InitializeDSMCustomScan = strata_parallel_initialize,
	.ReInitializeDSMCustomScan = strata_parallel_reinitialize,
	.InitializeWorkerCustomScan = strata_parallel_worker,
	.ShutdownCustomScan = strata_parallel_shutdown,
	.ExplainCustomScan = strata_scan_explain,
};

void
strata_scan_init(void)
{
	RegisterCustomScanMethods(&strata_scan_methods);
}

static Node *
create_state(CustomScan *cscan)
{
	return strata_custom_state(sizeof(StrataScanState), &exec_methods);
}

/* By an index late rows that cost so much are fetched from many pages. */
#define MANY_LATE_ROWS 50

/* See scan_private.h. */
StrataScanState *
strata_scan_state(PlanState *node)
{
	if (node == NULL || !IsA(node, CustomScanState) ||
		((CustomScanState *) node)->methods != &exec_methods)
		return NULL;
	return (StrataScanState *) node;
}

/* All columns of R that are not dropped. */
static Bitmapset *
all_columns(TupleDesc desc)
{
	Bitmapset  *result = NULL;

	for (int i = 0; i < desc->natts; i++)
		if (strata_attribute_is_kept(TupleDescAttr(desc, i)))
			result = bms_add_member(result, i + 1);
	return result;
}

/*
 * Columns of R that node reads; all of them for a whole-row reference.  Sets
 * *system when a system column is read that only a heap tuple has.
 */
static Bitmapset *
columns_read(Node *node, Index varno, TupleDesc desc, bool *system)
{
	Bitmapset  *attrs = NULL;
	Bitmapset  *result = NULL;
	int			i = -1;

	pull_varattnos(node, varno, &attrs);
	while ((i = bms_next_member(attrs, i)) >= 0)
	{
		int			attno = i + FirstLowInvalidHeapAttributeNumber;

		if (attno > 0)
			result = bms_add_member(result, attno);
		else if (attno == 0)
			result = bms_add_members(result, all_columns(desc));
		else if (attno != SelfItemPointerAttributeNumber &&
				 attno != TableOidAttributeNumber)
			*system = true;
	}
	return result;
}

/* If the result consists of plain columns of R: fill direct with them. */
static bool
find_direct(StrataScanState *scan, List *tlist, Index varno)
{
	ListCell   *lc;

	scan->ndirect = 0;
	scan->direct = palloc(sizeof(AttrNumber) * Max(list_length(tlist), 1));
	foreach(lc, tlist)
	{
		Var		   *var = (Var *) lfirst_node(TargetEntry, lc)->expr;

		if (!IsA(var, Var) || var->varno != varno || var->varattno <= 0)
			return false;
		scan->direct[scan->ndirect++] = var->varattno;
	}
	return true;
}

/* Which columns of a batch's row are needed, and how it is handed up. */
static void
init_targets(StrataScanState *scan)
{
	CustomScan *cscan = (CustomScan *) scan->css.ss.ps.plan;
	List	   *tlist = cscan->scan.plan.targetlist;
	Index		varno = cscan->scan.scanrelid;
	TupleDesc	desc = RelationGetDescr(scan->css.ss.ss_currentRelation);
	bool		system = false;
	Bitmapset  *columns;
	Bitmapset  *qual_columns;
	int			attno = -1;

	columns = scan->css.ss.ps.ps_ProjInfo == NULL ? all_columns(desc) :
		columns_read((Node *) tlist, varno, desc, &system);
	qual_columns = columns_read((Node *) cscan->scan.plan.qual, varno, desc,
								&system);
	scan->needs_heap_tuple = system;
	if (system)
		columns = bms_add_members(columns, qual_columns);
	else if (scan->css.ss.ps.ps_ProjInfo != NULL &&
			 find_direct(scan, tlist, varno))
	{
		scan->ntargets = scan->ndirect;
		scan->targets = scan->direct;
		return;
	}
	scan->ndirect = -1;
	scan->targets = palloc(sizeof(AttrNumber) *
						   Max(bms_num_members(columns), 1));
	while ((attno = bms_next_member(columns, attno)) >= 0)
		scan->targets[scan->ntargets++] = (AttrNumber) attno;
}

/*
 * Which parts of columns the result reads, if it reads no more of these.
 * Memory: the current context.
 */
static void
init_parts(StrataScanState *scan)
{
	CustomScan *cscan = (CustomScan *) scan->css.ss.ps.plan;
	PlanState  *ps = &scan->css.ss.ps;
	Node	   *tlist = (Node *) cscan->scan.plan.targetlist;
	Node	   *parted;
	bool		system;
	Bitmapset  *columns;
	int			attno = -1;

	if (ps->ps_ProjInfo == NULL || scan->needs_heap_tuple ||
		scan->ndirect >= 0 || contain_subplans(tlist))
		return;
	scan->parts = strata_parts_extract(tlist, &parted);
	if (scan->parts == NULL)
		return;
	scan->part_projection =
		ExecBuildProjectionInfo((List *) parted, ps->ps_ExprContext,
								ps->ps_ProjInfo->pi_state.resultslot, ps,
								NULL);
	columns = columns_read(parted, cscan->scan.scanrelid,
						   RelationGetDescr(scan->css.ss.ss_currentRelation),
						   &system);
	scan->part_targets = palloc(sizeof(AttrNumber) *
								Max(bms_num_members(columns), 1));
	while ((attno = bms_next_member(columns, attno)) >= 0)
		scan->part_targets[scan->npart_targets++] = (AttrNumber) attno;
}

/* A virtual slot of R's descriptor in which all columns are null. */
static TupleTableSlot *
make_row_slot(StrataScanState *scan, EState *estate)
{
	TupleTableSlot *slot =
	ExecInitExtraTupleSlot(estate,
						   RelationGetDescr(scan->css.ss
											.ss_currentRelation),
						   &TTSOpsVirtual);

	return ExecStoreAllNullTuple(slot);
}

/* See scan_private.h. */
ExprState *
strata_scan_qual(StrataScanState *scan)
{
	PlanState  *ps = &scan->css.ss.ps;

	if (ps->qual == NULL && ps->plan->qual != NIL)
	{
		MemoryContext old = MemoryContextSwitchTo(ps->state->es_query_cxt);

		ps->qual = ExecInitQual(ps->plan->qual, ps);
		MemoryContextSwitchTo(old);
	}
	return ps->qual;
}

/*
 * The core has set up a virtual scan slot and compiled quals and projection
 * for it; do it again for slots of any kind.
 */
static void
init_slots(StrataScanState *scan, EState *estate)
{
	ScanState  *ss = &scan->css.ss;
	Relation	rel = ss->ss_currentRelation;
	bool		has_subplans;

	ExecInitScanTupleSlot(estate, ss, RelationGetDescr(rel),
						  table_slot_callbacks(rel));
	ss->ps.scanopsfixed = false;
	has_subplans = ss->ps.subPlan != NIL;
	ss->ps.subPlan = NIL;
	ExecAssignScanProjectionInfo(ss);
	ss->ps.qual = NULL;
	/* subplans must be known to the plan node from its start */
	if (has_subplans)
		(void) strata_scan_qual(scan);
	scan->table_slot = ss->ss_ScanTupleSlot;
	scan->row_slot = make_row_slot(scan, estate);
	scan->run.slot = make_row_slot(scan, estate);
	scan->run.econtext = ss->ps.ps_ExprContext;
}

/*
 * Does the scan look up a few batches for each value of a parameter, and have
 * no index for the rows beside them, or one that finds many?  Who asks so may
 * want no more than one row (EXISTS), and batches are likely to have it.
 */
static bool
looks_up_batches(StrataScanState *scan)
{
	return strata_enable_join_pruning && scan->info.nkeys == 0 &&
		(scan->child == NULL ||
		 scan->child->plan->total_cost > MANY_LATE_ROWS) &&
		(scan->info.access == STRATA_ACCESS_SEGMENT ||
		 scan->info.access == STRATA_ACCESS_SEGMENT_MAX ||
		 scan->info.access == STRATA_ACCESS_INDEX) &&
		!bms_is_empty(scan->css.ss.ps.plan->extParam);
}

/*
 * BeginCustomScan: slots, quals and the row store's child.  What lives with
 * the node is in scan->mcxt.
 */
static void
begin_scan(CustomScanState *node, EState *estate, int eflags)
{
	StrataScanState *scan = (StrataScanState *) node;
	CustomScan *cscan = (CustomScan *) node->ss.ps.plan;
	MemoryContext old;

	scan->nbatches = -1;
	scan->mcxt = AllocSetContextCreate(estate->es_query_cxt, "StrataScan",
									   ALLOCSET_DEFAULT_SIZES);
	init_slots(scan, estate);
	old = MemoryContextSwitchTo(scan->mcxt);
	strata_scan_plan_read(cscan, &scan->info);
	init_targets(scan);
	init_parts(scan);
	if (scan->needs_heap_tuple)
		scan->tuple_slot =
			ExecInitExtraTupleSlot(estate,
								   RelationGetDescr(node->ss
													.ss_currentRelation),
								   &TTSOpsHeapTuple);
	scan->filter =
		strata_filter_create(cscan->scan.plan.qual, scan->info.promotable,
							 cscan->scan.scanrelid,
							 RelationGetDescr(node->ss.ss_currentRelation),
							 &node->ss.ps);
	MemoryContextSwitchTo(old);
	strata_rowstore_begin(scan, estate, eflags);
	scan->batches_first = looks_up_batches(scan) &&
		(eflags & EXEC_FLAG_BACKWARD) == 0;
}

/* Open the companion, once; scan->store stays NULL when there is none. */
void
strata_scan_open_store(StrataScanState *scan)
{
	MemoryContext old;

	if (scan->store_opened)
		return;
	scan->store_opened = true;
	old = MemoryContextSwitchTo(scan->mcxt);
	scan->store = strata_store_open(scan->css.ss.ss_currentRelation,
									AccessShareLock);
	if (scan->store != NULL)
	{
		scan->source = strata_source_create(scan->store,
											scan->css.ss.ps.state->es_snapshot,
											scan->info.access,
											scan->info.layout,
											scan->info.by_span,
											scan->info.indexes);
		if (scan->info.best_first)
			strata_source_set_best_first(scan->source);
		scan->entries =
			strata_entries_create(scan->store->batches,
								  scan->css.ss.ps.state->es_snapshot);
		scan->pruner = strata_pruner_create(scan->filter, scan->store->schema);
	}
	MemoryContextSwitchTo(old);
}

/* See scan_private.h. */
void
strata_scan_start_batches(StrataScanState *scan)
{
	strata_scan_open_store(scan);
	if (scan->njoins_open > 0)
		(void) strata_scan_take_join_values(scan);
	strata_scan_share_subplans(scan);
	scan->batches_started = true;
	Assert(scan->info.nkeys ==
		   0);					/* scan:R11: ordered scans have their own ways */
	scan->batches_before = true;
	scan->counters.loops++;
	if (scan->store == NULL)
		return;
	if (scan->joins != NIL)
		strata_scan_look_up_joins(scan);
	if (!scan->filter->prepared)
		strata_filter_prepare(scan->filter, scan->run.econtext);
	if (scan->batch == NULL)
		scan->batch = strata_batch_open_create(scan, NULL);
	strata_source_rescan(scan->source, scan->filter);
}

/* The next row of the batches, projected; NULL at the end. */
static TupleTableSlot *
next_batch_row(StrataScanState *scan)
{
	if (!scan->batches_started)
		strata_scan_start_batches(scan);
	else if (scan->batches_before && scan->store != NULL)
		strata_source_turn(scan->source, ForwardScanDirection);
	scan->batches_before = false;
	if (scan->batches_done || scan->store == NULL)
		return NULL;
	for (;;)
	{
		int			row = strata_batch_next_row(scan, scan->batch);

		if (row >= 0)
			return strata_batch_emit(scan, scan->batch, row);
		if (unlikely(scan->njoins_open > 0))
			(void) strata_scan_take_join_values(scan);
		do
		{
			if (!strata_source_next(scan->source, ForwardScanDirection,
									scan->batch->batch_slot))
			{
				scan->batches_done = true;
				scan->batch->vector.nrows = 0;
				scan->counters.exhausted++;
				return NULL;
			}
		} while (!strata_batch_select(scan, scan->batch));
	}
}

/*
 * The row before the current one, projected; NULL at the start of the batches.
 */
static TupleTableSlot *
previous_batch_row(StrataScanState *scan)
{
	if (!scan->batches_started || scan->batches_before || scan->store == NULL)
		return NULL;
	if (scan->batches_done)
	{
		strata_source_turn(scan->source, BackwardScanDirection);
		scan->batch->next = 0;
	}
	scan->batches_done = false;
	for (;;)
	{
		int			row = strata_batch_previous_row(scan, scan->batch);

		if (row >= 0)
			return strata_batch_emit(scan, scan->batch, row);
		do
		{
			if (!strata_source_next(scan->source, BackwardScanDirection,
									scan->batch->batch_slot))
			{
				scan->batches_before = true;
				scan->batch->vector.nrows = 0;
				scan->batch->next = 0;
				return NULL;
			}
		} while (!strata_batch_select(scan, scan->batch));
		strata_batch_stand_behind(scan->batch);
	}
}

/*
 * Backward, for cursors: from the batches into the row store, which a scan
 * that has run off its end enters from behind.
 */
static TupleTableSlot *
previous_row(StrataScanState *scan)
{
	TupleTableSlot *slot;

	if (scan->heap_done)
	{
		slot = previous_batch_row(scan);
		if (slot != NULL)
			return slot;
		scan->heap_done = false;
	}
	slot = strata_rowstore_next(scan);
	return slot != NULL ? strata_rowstore_emit(scan, slot) : NULL;
}

/* At the end: no current row, and an empty slot of the right descriptor. */
static TupleTableSlot *
no_more_rows(StrataScanState *scan)
{
	ProjectionInfo *projection = scan->css.ss.ps.ps_ProjInfo;

	ExecClearTuple(scan->row_slot);
	scan->css.ss.ss_ScanTupleSlot = scan->row_slot;
	return projection != NULL ?
		ExecClearTuple(projection->pi_state.resultslot) :
		scan->row_slot;
}

/* EvalPlanQual has a row for us (or knows there is none): no scan. */
static bool
has_epq_row(StrataScanState *scan)
{
	EPQState   *epq = scan->css.ss.ps.state->es_epq_active;
	Index		i = ((Scan *) scan->css.ss.ps.plan)->scanrelid - 1;

	return epq != NULL &&
		(epq->relsubs_done[i] || epq->relsubs_slot[i] != NULL ||
		 epq->relsubs_rowmark[i] != NULL);
}

static TupleTableSlot *
epq_next(ScanState *ss)
{
	return NULL;				/* not reached: EvalPlanQual has the row */
}

/* The row is checked against all quals by ExecScan. */
static bool
epq_recheck(ScanState *ss, TupleTableSlot *slot)
{
	return true;
}

/*
 * ExecCustomScan: the next row that passes the quals, projected, in the order
 * of the plan.
 */
static TupleTableSlot *
exec_scan(CustomScanState *node)
{
	StrataScanState *scan = (StrataScanState *) node;
	TupleTableSlot *slot;

	if (unlikely(node->ss.ps.state->es_epq_active != NULL) &&
		has_epq_row(scan))
	{
		(void) strata_scan_qual(scan);
		Assert((node->ss.ps.qual == NULL) ==
			   (node->ss.ps.plan->qual == NIL));	/* scan:R10 */
		node->ss.ss_ScanTupleSlot = scan->table_slot;
		return ExecScan(&node->ss, epq_next, epq_recheck);
	}
	strata_scan_share_subplans(scan);
	ResetExprContext(node->ss.ps.ps_ExprContext);
	Assert(IsMVCCSnapshot(node->ss.ps.state->es_snapshot)); /* scan:R2 */
	if (scan->info.nkeys > 0)
	{
		Assert(ScanDirectionIsForward(node->ss.ps.state
									  ->es_direction)); /* scan:R11 */
		if (scan->merge == NULL)
			scan->merge = strata_merge_create(scan);
		slot = strata_merge_next(scan->merge);
		return slot != NULL ? slot : no_more_rows(scan);
	}
	if (ScanDirectionIsBackward(node->ss.ps.state->es_direction))
	{
		slot = previous_row(scan);
		return slot != NULL ? slot : no_more_rows(scan);
	}
	if (scan->batches_first && (slot = next_batch_row(scan)) != NULL)
		return slot;
	if (!scan->heap_done && (slot = strata_rowstore_next(scan)) != NULL)
		return strata_rowstore_emit(scan, slot);
	slot = scan->batches_first ? NULL : next_batch_row(scan);
	return slot != NULL ? slot : no_more_rows(scan);
}

/*
 * ReScanCustomScan: begin anew; values of quals are evaluated again where a
 * parameter changed.
 */
static void
rescan(CustomScanState *node)
{
	StrataScanState *scan = (StrataScanState *) node;

	if (node->ss.ps.chgParam != NULL)
		scan->filter->prepared = false;
	strata_filter_params_changed(scan->filter, node->ss.ps.chgParam);
	strata_rowstore_rescan(scan);
	if (scan->batch != NULL)
	{
		scan->batch->vector.nrows = 0;
		scan->batch->next = 0;
	}
	scan->batches_started = false;
	scan->batches_before = false;
	scan->batches_done = false;
	scan->nwhole = 0;
	if (scan->merge != NULL)
		strata_merge_rescan(scan->merge);
	ExecClearTuple(scan->row_slot);
	node->ss.ss_ScanTupleSlot = scan->table_slot;
	ExecScanReScan(&node->ss);
}

/* EndCustomScan: close all; locks stay to the end of the transaction. */
static void
end_scan(CustomScanState *node)
{
	StrataScanState *scan = (StrataScanState *) node;

	strata_scan_tell(scan);
	node->ss.ss_ScanTupleSlot = scan->table_slot;
	if (scan->merge != NULL)
		strata_merge_end(scan->merge);
	if (scan->batch != NULL)
		strata_batch_open_free(scan->batch, false);
	strata_rowstore_end(scan);
	if (scan->store != NULL)
	{
		strata_source_end(scan->source);
		strata_entries_free(scan->entries);
		strata_store_close(scan->store, NoLock);
	}

	/*
	 * mcxt itself goes with the executor's state: functions in quals may have
	 * left callbacks that look into it when the expression contexts go.
	 */
}
