/*-------------------------------------------------------------------------
 *
 * scan_pending.c
 *	  Ordered output: the batches that are not open yet.
 *
 * Each is represented by its bound, the least key it can hold as far as
 * metadata tells.  Where the bounds come from:
 *	- access by MIN or MAX, or by SEGMENT (and its MAX) with one segment:
 *	batches
 *	  of the layout are read from that index in the order of their bounds, one
 *	  ahead, of which the index's key says enough where it is the bound;
 *	  batches of other layouts are listed first;
 *	- otherwise: all batches are listed first, and the list is sorted.
 *
 * src/scan/scan_pending.c
 *-------------------------------------------------------------------------
 */
#include "scan/scan_merge_private.h"
#include "store/store.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

/* Is the column the same for all rows of the loaded batch? */
static bool
constant_key(StrataBatchReader *reader, AttrNumber attno, Datum *value,
			 bool *isnull)
{
	StrataColumn *col;

	if (strata_layout_segment_index(reader->layout, attno) < 0 &&
		strata_batch_reader_is_stored(reader, attno))
		return false;
	col = strata_batch_reader_column(reader, attno);
	*value = col->value;
	*isnull = col->value_isnull;
	return true;
}

/* Of a column that is not null in all rows. */
static bool
may_have_null(StrataBatchReader *reader, AttrNumber attno)
{
	const StrataColumnSummary *summary;

	if (strata_attribute_is_not_null(reader->schema->rel_desc, attno))
		return false;
	if (reader->layout->norder > 0 && reader->layout->order[0].attno == attno)
		return false;
	summary = strata_batch_reader_summary(reader, attno);
	return summary == NULL || summary->nnulls != 0;
}

/* The bound of the loaded batch, as far as metadata tells. */
static void
compute_bound(StrataMerge *merge, StrataBatchReader *reader, MergeBound *bound)
{
	bool		more = true;

	bound->n = 0;
	for (int i = 0; i < merge->nkeys && more; i++)
	{
		const StrataOrderKey *key = &merge->keys[i];
		Datum		value;
		Datum		max;
		bool		isnull;

		if (!constant_key(reader, key->attno, &value, &isnull))
		{
			if (!strata_prune_bounds(reader, key->attno, &value, &max,
									 &isnull))
				break;
			if (!isnull)
			{
				more = false;
				if (key->desc)
					value = max;
				isnull = key->nulls_first && may_have_null(reader, key->attno);
			}
		}
		bound->isnull[i] = isnull;
		bound->values[i] = isnull ? (Datum) 0 :
			strata_merge_copy_key(merge, i, value);
		bound->n++;
	}
	if (bound->n > 0)
		bound->abbreviated = strata_merge_abbreviate(merge, bound->values[0],
													 bound->isnull[0]);
}

static void
init_bound(StrataMerge *merge, MergeBound *bound)
{
	bound->n = 0;
	bound->values = palloc0(sizeof(Datum) * merge->nkeys);
	bound->isnull = palloc0(sizeof(bool) * merge->nkeys);
}

/* List the batches of the range being read, with their bounds. */
static void
list_range(StrataMerge *merge)
{
	StrataScanState *scan = merge->scan;
	StrataOpenBatch *batch = merge->lister->batch;

	while (strata_source_next_in_range(scan->source, batch->batch_slot))
	{
		MemoryContext old;
		MergeBound *bound;

		if (!strata_batch_load(scan, batch, false))
			continue;
		old = MemoryContextSwitchTo(merge->pending_mcxt);
		if (merge->npending == merge->pending_size)
		{
			merge->pending_size = Max(merge->pending_size * 2, 64);
			merge->pending =
				merge->pending == NULL ?
				palloc(sizeof(MergeBound) * merge->pending_size) :
				repalloc_huge(merge->pending,
							  sizeof(MergeBound) * merge->pending_size);
		}
		bound = &merge->pending[merge->npending++];
		init_bound(merge, bound);
		bound->tid = batch->batch_slot->tts_tid;
		bound->nverdicts = scan->filter->nquals;
		bound->verdicts = palloc(sizeof(StrataVerdict) *
								 Max(bound->nverdicts, 1));
		memcpy(bound->verdicts, batch->verdicts,
			   sizeof(StrataVerdict) * bound->nverdicts);
		compute_bound(merge, batch->reader, bound);
		MemoryContextSwitchTo(old);
	}
}

/* A bound that is a prefix of another comes first. */
static int
compare_bounds(const void *a, const void *b, void *arg)
{
	const MergeBound *x = a;
	const MergeBound *y = b;
	int			c = strata_merge_compare(arg, Min(x->n, y->n), x->values,
										 x->isnull, y->values, y->isnull);

	return c != 0 ? c : x->n - y->n;
}

static ScanDirection
index_direction(StrataMerge *merge)
{
	return merge->keys[0].desc ? BackwardScanDirection : ForwardScanDirection;
}

/*
 * Start the next range that is read in the order of the first key; false when
 * there is none.  Batches that are null in it stand at one end of the index:
 * if at the wrong one, they are read apart.
 */
static bool
start_range_in_order(StrataMerge *merge)
{
	StrataScanState *scan = merge->scan;
	const StrataOrderKey *key = &merge->keys[0];
	TupleDesc	desc = RelationGetDescr(scan->css.ss.ss_currentRelation);
	bool		whole;

	whole = key->desc == key->nulls_first ||
		strata_attribute_is_not_null(desc, key->attno);
	if (merge->nranges == (whole ? 1 : 2))
		return false;
	strata_source_start_range(scan->source, scan->filter,
							  !whole && (merge->nranges == 0) ==
							  key->nulls_first ?
							  STRATA_RANGE_LAYOUT_NULL :
							  STRATA_RANGE_LAYOUT,
							  index_direction(merge), !whole);
	merge->nranges++;
	Assert(merge->nranges <= 2);	/* scan:R13: bounds, and nulls apart */
	return true;
}

/*
 * Is the key by which the index is ordered the bound of the first key?  It is
 * not where nulls come first and a batch may have some beside others.
 */
static bool
can_peek(StrataMerge *merge)
{
	const StrataLayout *layout = strata_source_layout(merge->scan->source);
	const StrataBatchSchema *schema = merge->scan->store->schema;
	const StrataOrderKey *key = &merge->keys[0];
	AttrNumber	attno = key->attno;
	AttrNumber	catt;

	catt = key->desc ? schema->max_att[attno] : schema->min_att[attno];
	return TupleDescAttr(schema->rel_desc, attno - 1)->attbyval &&
		layout->norder > 0 && layout->order[0].attno == attno &&
		strata_layout_segment_index(layout, attno) < 0 &&
		catt != 0 && strata_batch_schema_same_type(schema, attno, catt);
}

/*
 * Look at the key of the next batch of the index; false: there is none left.
 */
static bool
peek(StrataMerge *merge)
{
	MergeBound *bound = &merge->lookahead_bound;

	Assert(merge->incremental || merge->nranges > 0);	/* scan:R11 */
	while (!strata_source_peek(merge->scan->source, &bound->values[0],
							   &bound->isnull[0]))
		if (!start_range_in_order(merge))
			return false;
	bound->n = 1;
	bound->abbreviated = strata_merge_abbreviate(merge, bound->values[0],
												 bound->isnull[0]);
	return true;
}

/* How many batch rows of all scans of the session are pinned. */
static int	all_pinned = 0;

/* See scan_merge_private.h. */
void
strata_merge_note_pins(StrataMerge *merge, int more)
{
	merge->npins += more;
	all_pinned += more;
}

/*
 * May one more batch row stay where it is, under a pin of its buffer?  As many
 * as PostgreSQL lets one session pin of what all may have; a session's own
 * buffers, those of temporary tables, are few.
 */
static bool
may_pin(const StrataMerge *merge)
{
	return !RelationUsesLocalBuffers(merge->scan->store->batches) &&
		all_pinned < Min(NBuffers / MaxBackends, 512);
}

/*
 * Keep the batch row that was just found: in its buffer, or, where many
 * batches are open, a copy.
 */
static void
keep_found_row(StrataMerge *merge, MergeInput *input)
{
	if (!input->pins && may_pin(merge))
	{
		input->pins = true;
		strata_merge_note_pins(merge, 1);
	}
	if (!input->pins)
		ExecMaterializeSlot(input->batch->batch_slot);
}

/*
 * Load the batch peeked at, or the one after it; NULL: no row of it can pass.
 */
static MergeInput *
load_peeked(StrataMerge *merge)
{
	MergeInput *input = strata_merge_get_input(merge);

	if (strata_source_next_peeked(merge->scan->source,
								  input->batch->batch_slot))
	{
		keep_found_row(merge, input);
		if (strata_batch_load(merge->scan, input->batch, false))
			return input;
	}
	strata_merge_release_input(merge, input);
	return NULL;
}

/*
 * Load the next batch of the index that has rows; false: there is none left.
 */
static bool
load_next(StrataMerge *merge)
{
	StrataScanState *scan = merge->scan;
	MergeInput *input = strata_merge_get_input(merge);
	MemoryContext old;

	do
	{
		while (!strata_source_next_in_range(scan->source,
											input->batch->batch_slot))
			if (!start_range_in_order(merge))
			{
				strata_merge_release_input(merge, input);
				return false;
			}
		keep_found_row(merge, input);
	} while (!strata_batch_load(scan, input->batch, false));
	old = MemoryContextSwitchTo(input->batch->reader->batch_mcxt);
	init_bound(merge, &merge->lookahead_bound);
	compute_bound(merge, input->batch->reader, &merge->lookahead_bound);

	/*
	 * batches that are null in the first key come in any order of the others
	 */
	merge->lookahead_bound.n = Min(merge->lookahead_bound.n, 1);
	MemoryContextSwitchTo(old);
	merge->lookahead = input;
	return true;
}

/* Have the bound of the next batch of the index, if there is one left. */
static void
fill_lookahead(StrataMerge *merge)
{
	merge->lookahead = NULL;
	merge->has_lookahead = merge->peeking ? peek(merge) : load_next(merge);
	if (!merge->has_lookahead)
		merge->scan->counters.exhausted++;
}

/*
 * Has the batch a row that must, or may have to, come before the heap's first?
 */
static bool
is_due(StrataMerge *merge, const MergeBound *bound)
{
	MergeInput *first;
	MemoryContext old;
	int			c;

	if (merge->nheap == 0)
		return true;
	first = merge->heap[0];
	if (bound->n > 0 && bound->abbreviated != first->abbreviated)
		return bound->abbreviated < first->abbreviated;
	old = strata_merge_start_comparing(merge);
	c = strata_merge_compare(merge, bound->n, bound->values, bound->isnull,
							 first->values, first->isnull);
	MemoryContextSwitchTo(old);

	/*
	 * when all keys are in the bound, rows equal to it may come in any order
	 */
	return c < 0 || (c == 0 && bound->n < merge->nkeys);
}

/* Load the next listed batch; false when no row of it can pass. */
static bool
load_listed(StrataMerge *merge, MergeInput *input)
{
	StrataScanState *scan = merge->scan;
	MergeBound *bound = &merge->pending[merge->next_pending++];
	ItemPointer tid = &bound->tid;

	Assert(merge->next_pending <= merge->npending); /* scan:R1 */
	if (!strata_source_fetch(scan->source, tid, input->batch->batch_slot))
		elog(ERROR, "batch (%u,%u) of \"%s\" has disappeared",
			 ItemPointerGetBlockNumber(tid), ItemPointerGetOffsetNumber(tid),
			 RelationGetRelationName(scan->css.ss.ss_currentRelation));
	keep_found_row(merge, input);
	/* the values of a join above may have come meanwhile */
	return bound->nverdicts == scan->filter->nquals ?
		strata_batch_load_known(scan, input->batch, bound->verdicts) :
		strata_batch_load(scan, input->batch, true);
}

/*
 * Load a batch that may hold the next row; NULL when there is none (any more).
 */
MergeInput *
strata_pending_take(StrataMerge *merge)
{
	MergeInput *input;

	while (merge->next_pending < merge->npending &&
		   is_due(merge, &merge->pending[merge->next_pending]))
	{
		input = strata_merge_get_input(merge);
		if (load_listed(merge, input))
			return input;
		strata_merge_release_input(merge, input);
	}
	while (merge->has_lookahead && is_due(merge, &merge->lookahead_bound))
	{
		input = merge->peeking ? load_peeked(merge) : merge->lookahead;
		fill_lookahead(merge);
		if (input != NULL)
			return input;
	}
	return NULL;
}

/*
 * Start to read the layout's batches in the order of their bounds, if the
 * index has it.
 */
static bool
start_in_order(StrataMerge *merge)
{
	StrataScanState *scan = merge->scan;
	StrataAccess access = strata_source_access(scan->source);
	bool		desc = merge->keys[0].desc;

	if (!scan->info.incremental ||
		(access != (desc ? STRATA_ACCESS_MAX : STRATA_ACCESS_MIN) &&
		 access != (desc ? STRATA_ACCESS_SEGMENT_MAX : STRATA_ACCESS_SEGMENT)))
		return false;
	merge->nranges = 0;
	merge->peeking = can_peek(merge);
	strata_source_want_keys(scan->source, merge->peeking);
	start_range_in_order(merge);
	if (merge->peeking)
	{
		MemoryContext old = MemoryContextSwitchTo(merge->pending_mcxt);

		init_bound(merge, &merge->lookahead_bound);
		MemoryContextSwitchTo(old);
	}
	return strata_source_is_ordered(scan->source);
}

/* List the batches of a range. */
static void
list_pending(StrataMerge *merge, StrataRange range)
{
	strata_source_start_range(merge->scan->source, merge->scan->filter, range,
							  ForwardScanDirection, false);
	list_range(merge);
}

/*
 * List the batches, and load the first one of the index if it gives them in
 * order.
 */
void
strata_pending_start(StrataMerge *merge)
{
	StrataScanState *scan = merge->scan;
	MemoryContext old = MemoryContextSwitchTo(scan->mcxt);

	merge->lister = strata_merge_get_input(merge);
	strata_source_want_keys(scan->source, false);
	if (strata_source_access(scan->source) != STRATA_ACCESS_SEQ)
	{
		list_pending(merge, STRATA_RANGE_BEFORE);
		list_pending(merge, STRATA_RANGE_AFTER);
	}
	merge->incremental = start_in_order(merge);
	if (!merge->incremental)
	{
		strata_source_want_keys(scan->source, false);
		list_pending(merge, STRATA_RANGE_LAYOUT);
	}
	strata_merge_release_input(merge, merge->lister);
	merge->lister = NULL;
	qsort_arg(merge->pending, merge->npending, sizeof(MergeBound),
			  compare_bounds, merge);
	if (merge->incremental)
		fill_lookahead(merge);
	else
		scan->counters.exhausted++;
	MemoryContextSwitchTo(old);
}

/* Forget them. */
void
strata_pending_reset(StrataMerge *merge)
{
	merge->lookahead = NULL;
	merge->has_lookahead = false;
	merge->pending = NULL;
	merge->npending = merge->pending_size = merge->next_pending = 0;
	MemoryContextReset(merge->pending_mcxt);
}
