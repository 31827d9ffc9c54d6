/*-------------------------------------------------------------------------
 *
 * scan_batch.c
 *	  One batch being read: quals on the whole, then row after row.
 *
 * Late materialisation: columns are decoded when somebody needs them.  Vector
 * quals decode theirs, one qual after the other while rows are left; the
 * remaining quals theirs when the first row gets to them; the columns of the
 * result when the first row is returned, and only in the window of rows that
 * the scan is about to return.
 *
 * Quals that are not vectors are evaluated on a row only when the query asks
 * for the next row, in the order of the plan, so that errors and side effects
 * are those of a row store.  Those that raise no errors are evaluated for that
 * row and some behind it together, for more of them each time.
 *
 * Over 600 lines: the stages a batch goes through share its state.
 *
 * src/scan/scan_batch.c
 *-------------------------------------------------------------------------
 */
#include "scan/filter_subplan_private.h"
#include "scan/scan_join_private.h"
#include "scan/scan_private.h"
#include "store/store_entry.h"

#include "access/htup_details.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "utils/memutils.h"

/* Rows of a batch's first window. */
#define FIRST_WINDOW 64

/* So many batches of which more was wanted: all are read whole from then on. */
#define WHOLE_AFTER 4

/*
 * Rows of a batch that are tried together at first, LIMIT may want no more,
 * and how many times as many then.
 */
#define FIRST_TOGETHER 16
#define TOGETHER_GROWS 4

enum
{
	MEMO_UNKNOWN, MEMO_FALSE, MEMO_TRUE
};

/* See scan_batch_private.h.  Memory: the scan's. */
StrataOpenBatch *
strata_batch_open_create(StrataScanState *scan, StrataOpenBatch *beside)
{
	MemoryContext old = MemoryContextSwitchTo(scan->mcxt);
	StrataOpenBatch *batch = palloc0(sizeof(StrataOpenBatch));
	int			nquals = Max(scan->filter->nmax, 1);
	int			ncolumns = 1;

	batch->reader = beside != NULL ?
		strata_batch_reader_create_beside(beside->reader) :
		strata_batch_reader_create(scan->store->rel, scan->store->schema);
	batch->reader->toast = scan->store->toast;
	batch->batch_slot =
		MakeSingleTupleTableSlot(RelationGetDescr(scan->store->batches),
								 table_slot_callbacks(scan->store->batches));
	batch->vector.reader = batch->reader;
	batch->verdicts = palloc(sizeof(StrataVerdict) * nquals);
	batch->residuals = palloc0(sizeof(StrataResidual) * nquals);
	/* a residual may hold any qual: room for the one with the most columns */
	for (int i = 0; i < scan->filter->nown; i++)
		ncolumns = Max(ncolumns,
					   bms_num_members(scan->filter->quals[i].attnos));
	for (int i = 0; i < scan->filter->nown; i++)
	{
		batch->residuals[i].attnos = palloc(sizeof(AttrNumber) * ncolumns);
		batch->residuals[i].columns = palloc(sizeof(StrataColumn *) *
											 ncolumns);
	}
	batch->targets = palloc0(sizeof(StrataColumn *) * Max(scan->ntargets, 1));
	MemoryContextSwitchTo(old);
	return batch;
}

/* See scan_batch_private.h. */
void
strata_batch_open_free(StrataOpenBatch *batch, bool beside)
{
	ExecDropSingleTupleTableSlot(batch->batch_slot);
	if (!beside)
		strata_batch_reader_free(batch->reader);
	if (batch->rows != NULL)
		pfree(batch->rows);
}

/* See scan_batch_private.h. */
void
strata_batch_account(StrataScanState *scan, StrataOpenBatch *batch)
{
	if (batch->reader->ndecoded == batch->ndecoded)
		return;
	scan->counters.columns_decoded += batch->reader->ndecoded -
		batch->ndecoded;
	scan->counters.batches_decoded += !batch->decoded;
	batch->decoded = true;
	batch->ndecoded = batch->reader->ndecoded;
}

/* Take the batch row in batch->batch_slot; false: it is a row entry. */
static bool
begin_batch(StrataOpenBatch *batch)
{
	CHECK_FOR_INTERRUPTS();
	batch->next = 0;
	batch->targets_ready = false;
	batch->window_n = 0;
	batch->unsorted = false;
	batch->decoded = false;
	batch->nresiduals = 0;
	batch->together = FIRST_TOGETHER;
	batch->passed_from = 0;
	batch->passed_to = 0;
	batch->npassed = 0;
	batch->vector.nrows = 0;
	batch->vector.reverse = false;
	return strata_batch_reader_load(batch->reader, batch->batch_slot);
}

/* See scan_batch_private.h. */
bool
strata_batch_load(StrataScanState *scan, StrataOpenBatch *batch, bool again)
{
	StrataPruned pruned;
	int64		ndecoded PG_USED_FOR_ASSERTS_ONLY;

	if (!begin_batch(batch))
		return false;
	scan->run.reader = batch->reader;
	ndecoded = batch->reader->ndecoded;
	pruned = strata_prune_batch(scan->pruner, &scan->run, scan->entries,
								again ? NULL :
								strata_source_proven(scan->source),
								batch->verdicts);
	Assert(batch->reader->ndecoded == ndecoded);	/* scan:R8 */
	if (!again)
	{
		if (pruned == STRATA_PRUNED_NOT && scan->join_ranges != NULL &&
			!strata_ranges_have(scan->join_ranges, batch->reader->first_row))
			pruned = STRATA_PRUNED_JOIN;
		scan->counters.considered++;
		scan->counters.pruned_segment += pruned == STRATA_PRUNED_SEGMENT;
		scan->counters.pruned_range += pruned == STRATA_PRUNED_RANGE;
		scan->counters.pruned_join += pruned == STRATA_PRUNED_JOIN;
	}
	return pruned == STRATA_PRUNED_NOT;
}

/* See scan_batch_private.h. */
bool
strata_batch_load_known(StrataScanState *scan, StrataOpenBatch *batch,
						const StrataVerdict *verdicts)
{
	memcpy(batch->verdicts, verdicts,
		   sizeof(StrataVerdict) * scan->filter->nquals);
	return begin_batch(batch);
}

/* A qual to be evaluated row by row. */
static void
init_residual(StrataResidual *residual, const StrataQual *qual)
{
	int			attno = -1;

	residual->qual = qual;
	residual->parts = NULL;
	residual->mode = STRATA_RESIDUAL_NEW;
	residual->ncolumns = 0;
	while ((attno = bms_next_member(qual->attnos, attno)) >= 0)
		residual->attnos[residual->ncolumns++] = (AttrNumber) attno;
}

/* Make the mask one of n passing rows. */
static void
init_mask(StrataScanState *scan, int n)
{
	Size		size = n;

	for (int i = 0; i < scan->filter->nquals; i++)
	{
		const StrataQual *qual = &scan->filter->quals[i];

		if (qual->way == STRATA_QUAL_VECTOR)
			size = Max(size, n + strata_filter_scratch_size(qual->tree, n));
	}
	if (scan->mask_size < size)
	{
		if (scan->mask != NULL)
			pfree(scan->mask);
		scan->mask = MemoryContextAlloc(scan->mcxt, size);
		scan->mask_size = size;
	}
	memset(scan->mask, 1, n);
	scan->run.scratch = scan->mask + n;
}

/* Room for the row numbers of a batch of n rows, and one more. */
uint16 *
strata_batch_row_space(StrataScanState *scan, StrataOpenBatch *batch, int n)
{
	if (batch->rows_size <= n)
	{
		if (batch->rows != NULL)
			pfree(batch->rows);
		batch->rows = MemoryContextAlloc(scan->mcxt, sizeof(uint16) *
										 STRATA_FILTER_ROW_SPACE(n));
		batch->rows_size = n + 1;
	}
	return batch->rows;
}

/* Row numbers of the passing rows; returns how many. */
static int
rows_from_mask(StrataScanState *scan, StrataOpenBatch *batch, int n)
{
	return strata_filter_mask_rows(scan->mask, n,
								   strata_batch_row_space(scan, batch, n));
}

/*
 * Take the rows that have left the batch out of those selected, all or by the
 * mask.  Entries are read of the rows from the first to the last selected:
 * who looks for one row does not pay for changes of the others.
 */
static void
leave_out_gone(StrataScanState *scan, StrataOpenBatch *batch)
{
	StrataVectorBatch *vector = &batch->vector;
	int			n = batch->reader->nrows;
	int			from = vector->rows == NULL ? 0 : vector->rows[0];
	int			to = vector->rows == NULL ? n :
	vector->rows[vector->nrows - 1] + 1;

	strata_entries_apply_between(scan->entries, batch->reader, from, to);
	if (batch->reader->ngone == 0)
		return;
	if (vector->rows == NULL)
		init_mask(scan, n);
	for (int i = 0; i < batch->reader->ngone; i++)
		scan->mask[batch->reader->gone[i]] = 0;
	vector->nrows = rows_from_mask(scan, batch, n);
	vector->rows = batch->rows;
}

/*
 * Second half of select: try vector quals on the loaded batch, which raise no
 * errors, then leave out the rows that are gone.  False when no row is left.
 */
bool
strata_batch_filter(StrataScanState *scan, StrataOpenBatch *batch)
{
	int			n = batch->reader->nrows;
	bool		masked = false;
	bool		empty = false;

	scan->counters.scanned++;
	scan->run.reader = batch->reader;
	scan->run.bounded = true;
	for (int i = 0; i < scan->filter->nquals; i++)
	{
		const StrataQual *qual = &scan->filter->quals[i];

		Assert(batch->verdicts[i] !=
			   STRATA_NONE);	/* scan:R6: it would have been pruned */
		if (batch->verdicts[i] == STRATA_ALL || empty)
			continue;
		if (i >= scan->filter->nown)
		{
			if (!strata_join_qual_pays(batch->reader, qual))
				continue;
		}
		else if (qual->way != STRATA_QUAL_VECTOR ||
				 !strata_enable_vector_filter)
		{
			init_residual(&batch->residuals[batch->nresiduals++], qual);
			continue;
		}
		if (!masked)
			init_mask(scan, n);
		masked = true;
		Assert(qual->promotable);	/* scan:R4 */
		if (i >= scan->filter->nown)
			strata_join_qual_run(&scan->filter->quals[i], &scan->run,
								 scan->mask);
		else
			strata_filter_vector(qual->tree, &scan->run, scan->mask);
		empty = memchr(scan->mask, 1, n) == NULL;
	}
	batch->vector.rows = NULL;
	batch->vector.nrows = empty ? 0 : n;
	if (masked && !empty)
	{
		batch->vector.nrows = rows_from_mask(scan, batch, n);
		if (batch->vector.nrows < n)
			batch->vector.rows = batch->rows;
	}
	if (batch->vector.nrows < n)
	{
		scan->counters.rows_filtered += n - batch->vector.nrows;
		InstrCountFiltered1(&scan->css, n - batch->vector.nrows);
	}
	if (!empty)
		leave_out_gone(scan, batch);
	scan->counters.batch_rows += batch->vector.nrows;
	strata_batch_account(scan, batch);
	Assert(batch->vector.nrows == 0 ||
		   strata_vector_is_sound(&batch->vector)); /* scan:R1 */
	return batch->vector.nrows > 0;
}

/* See scan_batch_private.h. */
bool
strata_batch_select(StrataScanState *scan, StrataOpenBatch *batch)
{
	if (!strata_batch_load(scan, batch, false))
		return false;
	if (likely(scan->sweeper == NULL))
		return strata_batch_filter(scan, batch);
	return !strata_sweep_batch(scan, batch) &&
		strata_batch_filter(scan, batch) && strata_sweep_rows(scan, batch);
}

/* Put a row's values of the residual's columns into the filter slot. */
static inline void
load_columns(StrataScanState *scan, const StrataResidual *residual, int row)
{
	TupleTableSlot *slot = scan->run.slot;

	for (int i = 0; i < residual->ncolumns; i++)
	{
		int			att = residual->attnos[i] - 1;

		slot->tts_values[att] = strata_column_get(residual->columns[i], row,
												  &slot->tts_isnull[att]);
	}
}

/* Evaluate the residual's qual on a row. */
static bool
eval_residual(StrataScanState *scan, StrataOpenBatch *batch,
			  StrataResidual *residual, int row)
{
	ExprContext *econtext = scan->run.econtext;
	TupleTableSlot *slot = scan->run.slot;
	bool		result;

	Assert(!residual->qual->rows_only ||
		   !scan->needs_heap_tuple);	/* scan:R9 */
	load_columns(scan, residual, row);
	slot->tts_tableOid = RelationGetRelid(scan->store->rel);
	strata_tid_set(&slot->tts_tid, batch->reader->first_row + row);
	econtext->ecxt_scantuple = slot;
	if (residual->parts != NULL)
		strata_parts_load(residual->parts, residual->part_columns, econtext,
						  row);
	result = strata_qual_passes(scan->filter, residual->parts != NULL ?
								residual->qual->parted :
								strata_qual_state(scan->filter,
												  residual->qual),
								econtext);
	ResetExprContext(econtext);
	return result;
}

/* The columns that were found for parts, for as long as the batch. */
static StrataColumn **
keep_columns(StrataOpenBatch *batch, const StrataParts *parts)
{
	Size		size = sizeof(StrataColumn *) * parts->n;
	StrataColumn **columns = MemoryContextAlloc(batch->reader->batch_mcxt,
												size);

	memcpy(columns, parts->columns, size);
	return columns;
}

/*
 * The parts that are all a residual reads of their columns; false: these are
 * read whole.
 */
static bool
find_parts(StrataScanState *scan, StrataOpenBatch *batch,
		   StrataResidual *residual)
{
	const StrataVectorBatch *vector = &batch->vector;
	StrataExprSource source = {NULL, strata_batch_part, batch, NULL, NULL};
	StrataExprFrame frame = {vector->nrows, vector->rows, 0};
	ExprState  *parted;
	StrataParts *parts = strata_qual_parts(scan->filter, residual->qual,
										   &parted);
	int			n = 0;

	if (parts == NULL || !strata_parts_find(parts, &source, &frame))
		return false;
	for (int i = 0; i < residual->ncolumns; i++)
	{
		bool		in_part = false;

		for (int k = 0; k < parts->n; k++)
			in_part |= parts->parts[k].attno == residual->attnos[i];
		if (!in_part)
			residual->attnos[n++] = residual->attnos[i];
	}
	residual->ncolumns = n;
	residual->parts = parts;
	residual->part_columns = keep_columns(batch, parts);
	return true;
}

/*
 * First row of the batch to get here: decode the columns and see whether the
 * result can be shared among rows.
 */
static void
start_residual(StrataScanState *scan, StrataOpenBatch *batch,
			   StrataResidual *residual, int row)
{
	int			nvarying = 0;
	StrataColumn *col = NULL;
	bool		by_parts = strata_enable_vector_filter &&
	find_parts(scan, batch, residual);

	for (int i = 0; i < residual->ncolumns; i++)
	{
		residual->columns[i] = strata_batch_reader_column(batch->reader,
														  residual->attnos[i]);
		if (!residual->columns[i]->constant)
		{
			col = residual->columns[i];
			residual->varying = i;
			nvarying++;
		}
	}
	strata_batch_account(scan, batch);
	residual->mode = STRATA_RESIDUAL_ROW;
	if (by_parts || !strata_enable_vector_filter || !residual->qual->stable ||
		residual->qual->rows_only)
		return;
	Assert(!contain_volatile_functions((Node *) residual->qual
									   ->clause));	/* scan:R5: one result for
													 * many rows */
	if (nvarying == 0)
	{
		residual->mode = STRATA_RESIDUAL_CONSTANT;
		residual->result = eval_residual(scan, batch, residual, row);
	}
	else if (nvarying == 1 && col->codes != NULL)
	{
		residual->mode = STRATA_RESIDUAL_MEMO;
		residual->null_memo = MEMO_UNKNOWN;
		residual->memo = MemoryContextAllocZero(batch->reader->batch_mcxt,
												Max(col->ndict, 1));
	}
}

/* The same of an entry of a dictionary, which may have come before. */
static bool
eval_entry(StrataScanState *scan, StrataOpenBatch *batch,
		   StrataResidual *residual, int row, uint32 code)
{
	StrataMemo *memo = residual->ncolumns == 1 ?
	strata_qual_memo(scan->filter, residual->qual) : NULL;
	StrataColumn *col = residual->columns[residual->varying];
	uint64		numbering = 0;
	const uint16 *numbers = memo == NULL ? NULL :
	strata_column_numbers(col, &numbering);
	StrataMemoEntry *entry;
	uint64		result;
	bool		isnull;

	if (numbers != NULL &&
		strata_memo_find_number(memo, numbering, numbers[code], &result,
								&isnull))
		return result != 0;
	entry = memo == NULL ? NULL :
		strata_memo_find(memo, STRATA_MEMO_ENTRIES, col->dict[code]);
	if (entry == NULL)
		return eval_residual(scan, batch, residual, row);
	if (!entry->known)
	{
		bool		passed = eval_residual(scan, batch, residual, row);

		strata_memo_put(memo, entry, passed, false);
	}
	if (numbers != NULL)
		strata_memo_put_number(memo, numbering, numbers[code],
							   col->dict[code]);
	return entry->result != 0;
}

static inline uint8
to_memo(bool result)
{
	return result ? MEMO_TRUE : MEMO_FALSE;
}

/* One result per dictionary entry, found when first needed. */
static bool
memo_residual(StrataScanState *scan, StrataOpenBatch *batch,
			  StrataResidual *residual, int row)
{
	const StrataColumn *col = residual->columns[residual->varying];
	uint8	   *memo;

	memo = (col->isnull != NULL && col->isnull[row]) ? &residual->null_memo :
		&residual->memo[col->codes[row]];
	Assert(memo == &residual->null_memo ||
		   col->codes[row] < col->ndict);	/* scan:R5 */
	if (*memo == MEMO_UNKNOWN)
		*memo = memo == &residual->null_memo ?
			to_memo(eval_residual(scan, batch, residual, row)) :
			to_memo(eval_entry(scan, batch, residual, row, col->codes[row]));
	return *memo == MEMO_TRUE;
}

static inline bool
in_window(const StrataOpenBatch *batch, int row)
{
	return row >= batch->window_from &&
		row - batch->window_from < batch->window_n;
}

/*
 * Make the window one with the row.  The first of a batch is small, because
 * LIMIT may want no more, until that was wrong for some batches; the others
 * reach as far as selected rows.
 */
static void
open_window(StrataScanState *scan, StrataOpenBatch *batch, int row)
{
	const StrataVectorBatch *vector = &batch->vector;
	int			from = 0;
	int			to = batch->reader->nrows;

	if (vector->rows != NULL && !batch->unsorted)
	{
		from = vector->rows[0];
		to = vector->rows[vector->nrows - 1] + 1;
	}
	if (batch->window_n == 0 && scan->nwhole < WHOLE_AFTER &&
		!batch->unsorted)
	{
		if (vector->reverse)
		{
			to = row + 1;
			from = Max(from, to - FIRST_WINDOW);
		}
		else
		{
			from = row;
			to = Min(to, from + FIRST_WINDOW);
		}
	}
	else
	{
		scan->nwhole++;
		/* what was read of it already is behind */
		if (!vector->reverse && !batch->unsorted &&
			row >= batch->window_from + batch->window_n)
			from = Max(from, row);
	}
	Assert(from <= row && row < to &&
		   to <= batch->reader->nrows); /* scan:R8 */
	batch->window_from = from;
	batch->window_n = to - from;
	batch->targets_ready = false;
}

/* See scan_batch_private.h. */
StrataColumn *
strata_batch_column_at(StrataScanState *scan, StrataOpenBatch *batch,
					   AttrNumber attno, int row)
{
	if (!in_window(batch, row))
		open_window(scan, batch, row);
	return strata_batch_reader_rows(batch->reader, attno, batch->window_from,
									batch->window_n);
}

/*
 * The parts that are all the result reads of their columns, for the selected
 * rows of the window; false: these are read whole.
 */
static bool
find_result_parts(StrataScanState *scan, StrataOpenBatch *batch, int row)
{
	const StrataVectorBatch *vector = &batch->vector;
	StrataExprSource source = {NULL, strata_batch_part, batch, NULL, NULL};
	StrataExprFrame frame;

	if (scan->parts == NULL)
		return false;
	if (!in_window(batch, row))
		open_window(scan, batch, row);
	frame = (StrataExprFrame)
	{
		batch->window_n, NULL, batch->window_from
	};
	if (vector->rows != NULL && !batch->unsorted)
	{
		int			from = 0;
		int			to = vector->nrows;

		while (from < to && vector->rows[from] < batch->window_from)
			from++;
		while (to > from && vector->rows[to - 1] >= batch->window_from +
			   batch->window_n)
			to--;
		frame.rows = vector->rows + from;
		frame.n = to - from;
	}
	if (frame.n == 0 || !strata_parts_find(scan->parts, &source, &frame))
		return false;
	for (int i = 0; i < scan->parts->n; i++)
		scan->row_slot->tts_isnull[scan->parts->parts[i].attno - 1] = true;
	batch->part_columns = keep_columns(batch, scan->parts);
	return true;
}

/* Have the targets' values of the row. */
static inline void
resolve_targets(StrataScanState *scan, StrataOpenBatch *batch, int row)
{
	if (likely(batch->targets_ready && in_window(batch, row)))
		return;
	batch->by_parts = find_result_parts(scan, batch, row);
	if (batch->by_parts)
		for (int i = 0; i < scan->npart_targets; i++)
			batch->targets[i] = strata_batch_column_at(scan, batch,
													   scan->part_targets[i],
													   row);
	for (int i = 0; i < scan->ntargets && !batch->by_parts; i++)
		batch->targets[i] = strata_batch_column_at(scan, batch,
												   scan->targets[i], row);
	batch->targets_ready = true;
	strata_batch_account(scan, batch);
}

/*
 * The row with its system columns, as a tuple that everybody has seen: what a
 * frozen tuple of the row store would be.
 */
static TupleTableSlot *
store_heap_tuple(StrataScanState *scan, StrataOpenBatch *batch, int row)
{
	TupleTableSlot *values = scan->row_slot;
	MemoryContext old;
	HeapTuple	tuple;

	resolve_targets(scan, batch, row);
	for (int i = 0; i < scan->ntargets; i++)
	{
		int			att = scan->targets[i] - 1;

		values->tts_values[att] = strata_column_get(batch->targets[i], row,
													&values->tts_isnull[att]);
	}
	old = MemoryContextSwitchTo(scan->mcxt);
	tuple = heap_form_tuple(values->tts_tupleDescriptor, values->tts_values,
							values->tts_isnull);
	MemoryContextSwitchTo(old);
	HeapTupleHeaderSetXmin(tuple->t_data, FrozenTransactionId);
	HeapTupleHeaderSetXmax(tuple->t_data, InvalidTransactionId);
	HeapTupleHeaderSetCmin(tuple->t_data, FirstCommandId);
	tuple->t_data->t_infomask |= HEAP_XMIN_FROZEN | HEAP_XMAX_INVALID;
	strata_tid_set(&tuple->t_self, batch->reader->first_row + row);
	tuple->t_data->t_ctid = tuple->t_self;
	tuple->t_tableOid = RelationGetRelid(scan->store->rel);
	ExecForceStoreHeapTuple(tuple, scan->tuple_slot, true);
	scan->tuple_slot->tts_tid = tuple->t_self;
	scan->tuple_slot->tts_tableOid = tuple->t_tableOid;
	return scan->tuple_slot;
}

/* A qual on a row in full, with system columns. */
static bool
heap_tuple_residual(StrataScanState *scan, StrataOpenBatch *batch,
					StrataResidual *residual, int row)
{
	ExprContext *econtext = scan->run.econtext;
	bool		result;

	econtext->ecxt_scantuple = store_heap_tuple(scan, batch, row);
	result = strata_qual_passes(scan->filter,
								strata_qual_state(scan->filter,
												  residual->qual),
								econtext);
	ResetExprContext(econtext);
	return result;
}

/*
 * Evaluate the quals that are not vectors, and that the rows from this
 * position on have not passed yet, on a row, in the plan's order; false at the
 * first that does not hold.
 */
static bool
residuals_pass(StrataScanState *scan, StrataOpenBatch *batch, int position,
			   int row)
{
	int			first = position >= batch->passed_from &&
	position < batch->passed_to ? batch->npassed : 0;

	for (int i = first; i < batch->nresiduals; i++)
	{
		StrataResidual *residual = &batch->residuals[i];
		bool		pass = false;

		if (residual->qual->rows_only && scan->needs_heap_tuple)
		{
			if (!heap_tuple_residual(scan, batch, residual, row))
				return false;
			continue;
		}
		if (residual->mode == STRATA_RESIDUAL_NEW)
			start_residual(scan, batch, residual, row);
		switch (residual->mode)
		{
			case STRATA_RESIDUAL_CONSTANT:
				pass = residual->result;
				break;
			case STRATA_RESIDUAL_MEMO:
				pass = memo_residual(scan, batch, residual, row);
				break;
			default:
				pass = eval_residual(scan, batch, residual, row);
				break;
		}
		if (!pass)
			return false;
	}
	return true;
}

/* See scan_batch_private.h. */
int
strata_batch_next_candidate(StrataScanState *scan, StrataOpenBatch *batch,
							bool *passes)
{
	if (batch->next >= batch->vector.nrows)
		return -1;
	*passes = batch->nresiduals == 0 ||
		(batch->next >= batch->passed_from &&
		 batch->next < batch->passed_to &&
		 batch->npassed == batch->nresiduals);
	return strata_vector_row(&batch->vector, batch->next++);
}

/*
 * Try residuals on the row at a position and some behind it together, if none
 * of them was; false: the row does not pass, and has left the vector.
 */
static bool
try_together(StrataScanState *scan, StrataOpenBatch *batch, int position,
			 int row)
{
	const StrataVectorBatch *vector = &batch->vector;
	int			passed_to = batch->passed_to;

	if (batch->together == 0 || (passed_to > 0 && position != passed_to))
		return true;
	if (!strata_batch_filter_rows(scan, batch, position, batch->together,
								  false) && batch->passed_to == passed_to)
		batch->together = 0;
	else
		batch->together = Min(batch->together * TOGETHER_GROWS,
							  batch->reader->nrows);
	if (position < vector->nrows && strata_vector_row(vector, position) == row)
		return true;
	batch->next = position;
	return false;
}

/* See scan_batch_private.h. */
bool
strata_batch_candidate_passes(StrataScanState *scan, StrataOpenBatch *batch,
							  int row)
{
	int			position = batch->next - 1;

	if (!try_together(scan, batch, position, row))
		return false;
	if (residuals_pass(scan, batch, position, row))
		return true;
	InstrCountFiltered1(&scan->css, 1);
	return false;
}

/* See scan_batch_private.h. */
int
strata_batch_try_rows(StrataScanState *scan, StrataOpenBatch *batch,
					  uint16 *rows, int n)
{
	StrataVectorBatch vector = batch->vector;
	uint16	   *space = batch->rows;
	int			size = batch->rows_size;

	/* parts are had of the rows that are tried, no others */
	for (int i = 0; i < batch->nresiduals; i++)
		if (batch->residuals[i].parts != NULL)
			init_residual(&batch->residuals[i], batch->residuals[i].qual);
	batch->next = batch->passed_from = batch->passed_to = batch->npassed = 0;
	batch->vector.rows = batch->rows = rows;
	batch->vector.nrows = n;
	batch->rows_size = batch->reader->nrows + 1;
	Assert(strata_vector_is_sound(&batch->vector)); /* scan:R1 */
	strata_batch_keep_passing(scan, batch);
	n = batch->vector.nrows;
	batch->vector = vector;
	batch->rows = space;
	batch->rows_size = size;
	return n;
}

/* See scan_batch_private.h. */
void
strata_batch_keep_passing(StrataScanState *scan, StrataOpenBatch *batch)
{
	uint16	   *rows;
	int			n = 0;
	int			row;

	if (batch->nresiduals == 0 ||
		strata_batch_filter_rows(scan, batch, 0, batch->vector.nrows, true))
		return;
	rows = strata_batch_row_space(scan, batch, batch->reader->nrows);
	batch->together = 0;
	/* a row is written at or before the place it was read from */
	while ((row = strata_batch_next_row(scan, batch)) >= 0)
		rows[n++] = (uint16) row;
	if (n < batch->vector.nrows)
		batch->vector.rows = rows;
	batch->vector.nrows = n;
}

/* See scan_batch_private.h. */
int
strata_batch_next_row(StrataScanState *scan, StrataOpenBatch *batch)
{
	int			row;
	bool		passes;

	while ((row = strata_batch_next_candidate(scan, batch, &passes)) >= 0)
		if (passes || strata_batch_candidate_passes(scan, batch, row))
			break;
	return row;
}

/* See scan_batch_private.h. */
int
strata_batch_previous_row(StrataScanState *scan, StrataOpenBatch *batch)
{
	while (batch->next >= 2)
	{
		int			position = --batch->next - 1;
		int			row = strata_vector_row(&batch->vector, position);

		if (batch->nresiduals == 0 ||
			residuals_pass(scan, batch, position, row))
			return row;
		InstrCountFiltered1(&scan->css, 1);
	}
	return -1;
}

/*
 * See scan_batch_private.h.  The scan slot tells the position in any case,
 * for WHERE CURRENT OF.
 */
TupleTableSlot *
strata_batch_emit(StrataScanState *scan, StrataOpenBatch *batch, int row)
{
	TupleTableSlot *scan_slot = scan->row_slot;
	TupleTableSlot *out = scan_slot;
	ExprContext *econtext = scan->css.ss.ps.ps_ExprContext;

	if (scan->needs_heap_tuple)
		scan_slot = out = store_heap_tuple(scan, batch, row);
	else
	{
		resolve_targets(scan, batch, row);
		if (TTS_SHOULDFREE(scan_slot))
			ExecClearTuple(scan_slot);
		if (scan->ndirect >= 0)
		{
			out = scan->css.ss.ps.ps_ResultTupleSlot;
			if (TTS_SHOULDFREE(out))
				ExecClearTuple(out);
			for (int i = 0; i < scan->ndirect; i++)
				out->tts_values[i] = strata_column_get(batch->targets[i], row,
													   &out->tts_isnull[i]);
			out->tts_flags &= ~TTS_FLAG_EMPTY;
			out->tts_nvalid = (AttrNumber) out->tts_tupleDescriptor->natts;
		}
		else
		{
			const AttrNumber *targets = batch->by_parts ? scan->part_targets :
			scan->targets;
			int			n = batch->by_parts ? scan->npart_targets :
			scan->ntargets;

			for (int i = 0; i < n; i++)
			{
				int			att = targets[i] - 1;

				out->tts_values[att] =
					strata_column_get(batch->targets[i], row,
									  &out->tts_isnull[att]);
			}
		}
		scan_slot->tts_flags &= ~TTS_FLAG_EMPTY;
		scan_slot->tts_nvalid = (AttrNumber)
			scan_slot->tts_tupleDescriptor->natts;
		scan_slot->tts_tableOid = RelationGetRelid(scan->store->rel);
		strata_tid_set(&scan_slot->tts_tid, batch->reader->first_row + row);
	}
	Assert(ItemPointerIsValid(&scan_slot->tts_tid) &&
		   OidIsValid(scan_slot->tts_tableOid));	/* scan:R9 */
	scan->css.ss.ss_ScanTupleSlot = scan_slot;
	if (out != scan_slot || scan->css.ss.ps.ps_ProjInfo == NULL)
		return out;
	econtext->ecxt_scantuple = scan_slot;
	if (scan->parts != NULL && !scan->needs_heap_tuple && batch->by_parts)
	{
		strata_parts_load(scan->parts, batch->part_columns, econtext, row);
		return ExecProject(scan->part_projection);
	}
	return ExecProject(scan->css.ss.ps.ps_ProjInfo);
}
