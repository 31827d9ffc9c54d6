/*-------------------------------------------------------------------------
 *
 * scan_vector.c
 *	  A scan read batch by batch, without making rows of them.
 *
 * The caller has our plan node as a child and calls here in place of
 * ExecProcNode, so we do what that does: rescan when a parameter changed, and
 * keep the instrumentation.
 *
 * src/scan/scan_vector.c
 *-------------------------------------------------------------------------
 */
#include "scan/scan_join_private.h"
#include "scan/scan_private.h"
#include "store/store.h"

#include "executor/executor.h"
#include "executor/instrument.h"

/* See scan_vector.h. */
bool
strata_scan_path_gives_vectors(Path *path, StrataVectorCost *cost)
{
	CustomPath *custom = (CustomPath *) path;
	StrataScanInfo *info;

	if (!IsA(path, CustomPath) || custom->methods != &strata_path_methods)
		return false;
	info = strata_scan_path_info(custom);
	if (cost != NULL)
		*cost = info->vector_cost;
	return info->nkeys == 0;
}

/* See scan_vector.h. */
Path *
strata_scan_path_limit_workers(Path *path, int workers)
{
	while (path->parallel_workers > workers &&
		   strata_scan_path_gives_vectors(path, NULL))
	{
		Path	   *fewer = strata_scan_path_info((CustomPath *) path)->fewer;

		if (fewer == NULL)
			break;
		path = fewer;
	}
	return path;
}

/* See scan_vector.h. */
void
strata_scan_path_note(Path *path, const char *reason)
{
	CustomPath *custom = (CustomPath *) path;

	if (IsA(path, CustomPath) && custom->methods == &strata_path_methods)
		strata_scan_path_info(custom)->note = (char *) reason;
}

/* See scan_vector.h. */
bool
strata_scan_state_is_ours(PlanState *node)
{
	return strata_scan_state(node) != NULL;
}

/* See scan_vector.h. */
bool
strata_scan_state_gives_vectors(PlanState *node)
{
	CustomScan *cscan = (CustomScan *) node->plan;

	return IsA(node, CustomScanState) &&
		cscan->methods == &strata_scan_methods &&
		((StrataScanState *) node)->info.nkeys == 0;
}

/* See scan_vector.h. */
void
strata_scan_expect_vectors(PlanState *node)
{
	((StrataScanState *) node)->in_vectors = true;
}

/* The path, read with the best bound of the access first. */
static StrataScanInfo *
copy_best_first(Path **path, StrataAccess access, Cost saving)
{
	CustomPath *copy = makeNode(CustomPath);
	StrataScanInfo *info = palloc(sizeof(StrataScanInfo));

	*copy = *(CustomPath *) *path;
	copy->path.total_cost = Max(copy->path.total_cost - saving,
								copy->path.startup_cost);
	*info = *strata_scan_path_info(copy);
	Assert(info->nkeys == 0 && access != STRATA_ACCESS_SEQ);	/* scan:R13 */
	info->access = access;
	info->best_first = true;
	strata_scan_path_set_info(copy, info);
	*path = &copy->path;
	return info;
}

/* See scan_vector.h. */
Path *
strata_scan_path_by_segment(Path *path, const Bitmapset *keys, AttrNumber by,
							bool last)
{
	StrataScanInfo *info = strata_scan_path_info((CustomPath *) path);

	if (info->segment_saving > 0 && bms_is_subset(keys, info->segment) &&
		info->order == by && info->has_segment_index[last])
		(void) copy_best_first(&path,
							   last ? STRATA_ACCESS_SEGMENT_MAX :
							   STRATA_ACCESS_SEGMENT,
							   info->segment_saving);
	return path;
}

/* See scan_vector.h. */
Path *
strata_scan_path_from_end(Path *path, AttrNumber by, bool last, double share)
{
	StrataScanInfo *info = strata_scan_path_info((CustomPath *) path);
	const StrataEndCost *end = &info->end[last];
	Cost		saving = end->saving - share * end->walk;

	if (saving > 0 && info->order == by)
		copy_best_first(&path, last ? STRATA_ACCESS_MAX : STRATA_ACCESS_MIN,
						saving)->by_span = end->by_span;
	return path;
}

/* See scan_vector.h. */
double
strata_scan_path_pieces(Path *path, const Bitmapset **segment,
						AttrNumber *order)
{
	const StrataScanInfo *info = strata_scan_path_info((CustomPath *) path);

	*segment = info->segment;
	*order = info->order;
	return info->nread + info->heap_pages;
}

/* See scan_vector.h. */
bool
strata_scan_state_is_best_first(PlanState *node)
{
	return ((StrataScanState *) node)->info.best_first;
}

/* See scan_vector.h. */
AttrNumber
strata_scan_result_attno(PlanState *node, int resno)
{
	Var		   *var = (Var *) list_nth_node(TargetEntry,
											node->plan->targetlist,
											resno - 1)->expr;

	return IsA(var, Var) && var->varno == ((Scan *) node->plan)->scanrelid &&
		var->varattno > 0 ?
		var->varattno :
		0;
}

/* See scan_vector.h. */
bool
strata_scan_is_not_null(PlanState *node, AttrNumber attno)
{
	TupleDesc	desc = RelationGetDescr(((ScanState *) node)
										->ss_currentRelation);

	return strata_attribute_is_not_null(desc, attno);
}

/* Select the rows of the loaded batch; false when there are none. */
static bool
read_loaded(StrataScanState *scan, StrataOpenBatch *batch)
{
	if (!strata_batch_filter(scan, batch))
		return false;
	strata_batch_keep_passing(scan, batch);
	/* nobody steps through this batch row by row */
	batch->next = batch->vector.nrows;
	Assert(batch->vector.nrows == 0 ||
		   strata_vector_is_sound(&batch->vector)); /* scan:R1 */
	return batch->vector.nrows > 0;
}

/* The next batch of which rows pass the quals; NULL at the end. */
static StrataVectorBatch *
next_vector(StrataScanState *scan)
{
	StrataOpenBatch *batch;

	if (!scan->batches_started)
		strata_scan_start_batches(scan);
	scan->batches_before = false;
	if (scan->batches_done || scan->store == NULL)
		return NULL;
	batch = scan->batch;
	strata_batch_account(scan, batch);
	if (unlikely(scan->njoins_open > 0))
		(void) strata_scan_take_join_values(scan);
	while (strata_source_next(scan->source, ForwardScanDirection,
							  batch->batch_slot))
	{
		if (strata_batch_load(scan, batch, false) && read_loaded(scan, batch))
			return &batch->vector;
	}
	scan->batches_done = true;
	batch->vector.nrows = 0;
	scan->counters.exhausted++;
	return NULL;
}

/* See scan_vector.h. */
StrataVectorBatch *
strata_scan_next_vector(PlanState *node)
{
	StrataScanState *scan = (StrataScanState *) node;
	StrataVectorBatch *vector;

	if (node->chgParam != NULL)
		ExecReScan(node);
	strata_scan_share_subplans(scan);
	if (node->instrument)
		InstrStartNode(node->instrument);
	ResetExprContext(node->ps_ExprContext);
	vector = next_vector(scan);
	if (node->instrument)
		InstrStopNode(node->instrument, vector != NULL ? vector->nrows : 0);
	return vector;
}

/*
 * All batches at once: without quals, and when they are not shared among
 * processes.
 */
static bool
count_rows(StrataScanState *scan, StrataRowCount *count)
{
	strata_scan_open_store(scan);
	if (!strata_enable_summary_agg || scan->filter->nquals > 0 ||
		scan->parallel != NULL || scan->store == NULL ||
		!strata_store_count_rows(scan->store,
								 scan->css.ss.ps.state->es_snapshot,
								 scan->entries, count))
		return false;
	Assert(!scan->batches_started); /* scan:R1: none was given as a vector */
	scan->batches_started = true;
	scan->batches_done = true;
	scan->counters.loops++;
	scan->counters.exhausted++;
	scan->counters.considered += count->batches;
	scan->counters.counted += count->batches;
	scan->counters.batch_rows += count->rows;
	return true;
}

/* See scan_vector.h. */
bool
strata_scan_count_rows(PlanState *node, StrataRowCount *count)
{
	bool		counted;

	if (node->chgParam != NULL)
		ExecReScan(node);
	if (node->instrument)
		InstrStartNode(node->instrument);
	counted = count_rows((StrataScanState *) node, count);
	if (node->instrument)
		InstrStopNode(node->instrument, counted ? (double) count->rows : 0);
	return counted;
}

/* See scan_vector.h. */
TupleTableSlot *
strata_scan_next_heap_row(PlanState *node)
{
	StrataScanState *scan = (StrataScanState *) node;
	TupleTableSlot *slot = NULL;

	if (node->chgParam != NULL)
		ExecReScan(node);
	if (scan->heap_done)
		return NULL;
	strata_scan_share_subplans(scan);
	if (node->instrument)
		InstrStartNode(node->instrument);
	ResetExprContext(node->ps_ExprContext);
	slot = strata_rowstore_next(scan);
	Assert(slot == NULL ||
		   slot->tts_tableOid ==
		   RelationGetRelid(scan->css.ss
							.ss_currentRelation));	/* scan:R9 */
	if (node->instrument)
		InstrStopNode(node->instrument, slot != NULL ? 1.0 : 0.0);
	return slot;
}

/* See scan_vector.h. */
StrataBatchReader *
strata_scan_list_batch(PlanState *node, ItemPointer tid)
{
	StrataScanState *scan = (StrataScanState *) node;
	StrataOpenBatch *batch;

	if (node->chgParam != NULL)
		ExecReScan(node);
	ResetExprContext(node->ps_ExprContext);
	if (!scan->batches_started)
		strata_scan_start_batches(scan);
	scan->batches_before = false;
	if (scan->batches_done || scan->store == NULL)
		return NULL;
	batch = scan->batch;
	strata_batch_account(scan, batch);
	while (strata_source_next(scan->source, ForwardScanDirection,
							  batch->batch_slot))
	{
		if (!strata_batch_load(scan, batch, false))
			continue;
		*tid = batch->batch_slot->tts_tid;
		return batch->reader;
	}
	scan->batches_done = true;
	batch->vector.nrows = 0;
	/* what was skipped was not seen */
	scan->counters.exhausted += !scan->info.best_first;
	return NULL;
}

/* See scan_vector.h. */
void
strata_scan_skip_rest(PlanState *node)
{
	strata_source_skip_rest(((StrataScanState *) node)->source);
}

/* See scan_vector.h. */
StrataBatchReader *
strata_scan_go_to_batch(PlanState *node, ItemPointer tid)
{
	StrataScanState *scan = (StrataScanState *) node;
	StrataOpenBatch *batch = scan->batch;

	ResetExprContext(node->ps_ExprContext);
	strata_batch_account(scan, batch);
	if (!strata_source_fetch(scan->source, tid, batch->batch_slot) ||
		!strata_batch_load(scan, batch, true))
		elog(ERROR, "a batch has vanished from the companion of \"%s\"",
			 RelationGetRelationName(scan->css.ss.ss_currentRelation));
	return batch->reader;
}

/* See scan_vector.h. */
StrataVectorBatch *
strata_scan_read_batch(PlanState *node)
{
	StrataScanState *scan = (StrataScanState *) node;
	bool		found;

	if (node->instrument)
		InstrStartNode(node->instrument);
	found = read_loaded(scan, scan->batch);
	if (node->instrument)
		InstrStopNode(node->instrument, found ? scan->batch->vector.nrows : 0);
	return found ? &scan->batch->vector : NULL;
}

/* See scan_vector.h. */
bool
strata_scan_has_late_quals(PlanState *node)
{
	const StrataFilter *filter = ((StrataScanState *) node)->filter;

	for (int i = 0; i < filter->nown; i++)
		if (filter->quals[i].way != STRATA_QUAL_VECTOR)
			return true;
	return false;
}

/* Try quals that are vectors; again: what that counts was counted before. */
static bool
filter_early(StrataScanState *scan, bool again)
{
	StrataCounters *counters = &scan->counters;
	Instrumentation *instrument = scan->css.ss.ps.instrument;
	int64		scanned = counters->scanned;
	int64		batch_rows = counters->batch_rows;
	int64		rows_filtered = counters->rows_filtered;
	double		nfiltered = instrument != NULL ? instrument->nfiltered1 : 0;
	bool		found = strata_batch_filter(scan, scan->batch);

	if (!again)
		return found;
	counters->scanned = scanned;
	counters->batch_rows = batch_rows;
	counters->rows_filtered = rows_filtered;
	if (instrument != NULL)
		instrument->nfiltered1 = nfiltered;
	return found;
}

/* See scan_vector.h. */
StrataVectorBatch *
strata_scan_read_early(PlanState *node, bool again, bool *late)
{
	StrataScanState *scan = (StrataScanState *) node;
	StrataOpenBatch *batch = scan->batch;
	bool		found;

	if (node->instrument)
		InstrStartNode(node->instrument);
	found = filter_early(scan, again);
	*late = found && batch->nresiduals > 0;
	/* nobody steps through this batch row by row */
	batch->next = batch->vector.nrows;
	if (node->instrument)
		InstrStopNode(node->instrument,
					  found && !*late ? batch->vector.nrows : 0);
	return found ? &batch->vector : NULL;
}

/* See scan_vector.h. */
int
strata_scan_try_rows(PlanState *node, uint16 *rows, int n)
{
	StrataScanState *scan = (StrataScanState *) node;

	if (n == 0)
		return 0;
	if (node->instrument)
		InstrStartNode(node->instrument);
	n = strata_batch_try_rows(scan, scan->batch, rows, n);
	if (node->instrument)
		InstrStopNode(node->instrument, n);
	return n;
}
