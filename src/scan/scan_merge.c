/*-------------------------------------------------------------------------
 *
 * scan_merge.c
 *	  Ordered output: a merge of the row store and of batches.
 *
 * Each input, the row store or an open batch, comes in the order of the keys;
 * a heap holds the inputs by their current rows.  A batch that is not open yet
 * is represented by its bound: the least key it can hold, as far as metadata
 * tells.  It is opened when its bound is not above the least current row, so
 * that LIMIT touches the batches it needs and no others.
 *
 * Where the bounds come from:
 *	- access by MIN or MAX: batches of the layout are read from that index in
 *	  the order of their bounds, one ahead; batches of other layouts are listed
 *	  first;
 *	- otherwise: all batches are listed first, and the list is sorted.
 *
 * A batch of a layout that does not sort by the keys, or whose nulls stand at
 * the wrong end, or whose column has another type since, is sorted in memory.
 *
 * src/scan/scan_merge.c
 *-------------------------------------------------------------------------
 */
#include "scan/scan_private.h"

#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

/* The least key of a batch, on the first n keys. */
typedef struct MergeBound
{
	ItemPointerData tid;		/* of the batch row */
	int			n;
	Datum	   *values;
	bool	   *isnull;
	int64		abbreviated;	/* of the first key, when n > 0 */
} MergeBound;

/* An input standing on a row; batch is NULL for the row store. */
typedef struct MergeInput
{
	StrataOpenBatch *batch;
	StrataColumn **columns;		/* of the keys */
	int			row;			/* batch: current row */
	TupleTableSlot *slot;		/* row store: current row */
	Datum	   *values;			/* its keys */
	bool	   *isnull;
	int64		abbreviated;	/* the first key, when it is an integer inside */
} MergeInput;

struct StrataMerge
{
	StrataScanState *scan;
	int			nkeys;
	const StrataOrderKey *keys;
	SortSupport sorts;
	Oid			integer_type;	/* of the first key, if it compares as an integer */
	bool		started;
	bool		finished;
	/* heap of inputs; the least is first, and was returned when advance is set */
	MergeInput **heap;
	int			nheap;
	int			heap_size;
	bool		advance;
	MergeInput *rowstore;
	List	   *unused;			/* inputs with batches to be used again */
	List	   *all;
	/* batches to come */
	MemoryContext pending_mcxt;
	MergeBound *pending;		/* listed ones, by bound */
	int			npending;
	int			pending_size;
	int			next_pending;
	MergeInput *lister;
	bool		incremental;
	StrataRange range;			/* of the lookahead */
	MergeInput *lookahead;		/* loaded, not open; NULL: none */
	MergeBound	lookahead_bound;
#ifdef USE_ASSERT_CHECKING
	MemoryContext check_mcxt;
	Datum	   *last;
	bool	   *last_isnull;
	bool		has_last;
#endif
};

/*-------------------------------------------------------------------------
 * Keys
 *-------------------------------------------------------------------------
 */

static MergeInput *
make_input(StrataMerge *merge, bool with_batch)
{
	MemoryContext old = MemoryContextSwitchTo(merge->scan->mcxt);
	MergeInput *input = palloc0(sizeof(MergeInput));

	input->columns = palloc0(sizeof(StrataColumn *) * merge->nkeys);
	input->values = palloc0(sizeof(Datum) * merge->nkeys);
	input->isnull = palloc0(sizeof(bool) * merge->nkeys);
	if (with_batch)
	{
		input->batch = strata_batch_open_create(merge->scan);
		merge->all = lappend(merge->all, input);
	}
	MemoryContextSwitchTo(old);
	return input;
}

/* An input with room for a batch. */
static MergeInput *
get_input(StrataMerge *merge)
{
	MergeInput *input;

	if (merge->unused == NIL)
		return make_input(merge, true);
	input = llast(merge->unused);
	merge->unused = list_delete_last(merge->unused);
	return input;
}

static void
release_input(StrataMerge *merge, MergeInput *input)
{
	MemoryContext old = MemoryContextSwitchTo(merge->scan->mcxt);

	ExecClearTuple(input->batch->batch_slot);
	merge->unused = lappend(merge->unused, input);
	MemoryContextSwitchTo(old);
}

static void
init_keys(StrataMerge *merge)
{
	TupleDesc	desc = RelationGetDescr(merge->scan->css.ss.ss_currentRelation);

	merge->sorts = palloc0(sizeof(SortSupportData) * merge->nkeys);
	for (int i = 0; i < merge->nkeys; i++)
	{
		const StrataOrderKey *key = &merge->keys[i];
		Form_pg_attribute att = TupleDescAttr(desc, key->attno - 1);
		TypeCacheEntry *typcache = lookup_type_cache(att->atttypid,
													 TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
		SortSupport sort = &merge->sorts[i];

		sort->ssup_cxt = merge->scan->mcxt;
		sort->ssup_collation = att->attcollation;
		sort->ssup_nulls_first = key->nulls_first;
		PrepareSortSupportFromOrderingOp(key->desc ? typcache->gt_opr : typcache->lt_opr, sort);
	}
	merge->integer_type = getBaseType(TupleDescAttr(desc, merge->keys[0].attno - 1)->atttypid);
}

/*
 * The first key as an integer that orders as the key does, but for ties, which
 * are left to the comparator.  Zero for types that are not integers inside.
 */
static inline int64
abbreviate(const StrataMerge *merge, Datum value, bool isnull)
{
	int64		x;

	switch (merge->integer_type)
	{
		case INT2OID:
			x = DatumGetInt16(value);
			break;
		case INT4OID:
		case DATEOID:
			x = DatumGetInt32(value);
			break;
		case INT8OID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			x = DatumGetInt64(value);
			break;
		default:
			return 0;
	}
	if (isnull)
		return merge->keys[0].nulls_first ? PG_INT64_MIN : PG_INT64_MAX;
	return merge->keys[0].desc ? ~x : x;
}

static inline int
compare_keys(const StrataMerge *merge, int n, const Datum *a, const bool *a_isnull,
			 const Datum *b, const bool *b_isnull)
{
	for (int i = 0; i < n; i++)
	{
		int			c = ApplySortComparator(a[i], a_isnull[i], b[i], b_isnull[i],
											&merge->sorts[i]);

		if (c != 0)
			return c;
	}
	return 0;
}

static inline int
compare_inputs(const StrataMerge *merge, const MergeInput *a, const MergeInput *b)
{
	if (a->abbreviated != b->abbreviated)
		return a->abbreviated < b->abbreviated ? -1 : 1;
	return compare_keys(merge, merge->nkeys, a->values, a->isnull, b->values, b->isnull);
}

/*-------------------------------------------------------------------------
 * The heap
 *-------------------------------------------------------------------------
 */

/* Comparisons may leave memory behind: let it be a row's. */
static inline MemoryContext
start_comparing(const StrataMerge *merge)
{
	return MemoryContextSwitchTo(merge->scan->run.econtext->ecxt_per_tuple_memory);
}

static void
heap_sift_down(StrataMerge *merge)
{
	MemoryContext old = start_comparing(merge);
	MergeInput **heap = merge->heap;
	MergeInput *input = heap[0];
	int			hole = 0;

	for (;;)
	{
		int			child = 2 * hole + 1;

		if (child >= merge->nheap)
			break;
		if (child + 1 < merge->nheap && compare_inputs(merge, heap[child + 1], heap[child]) < 0)
			child++;
		if (compare_inputs(merge, input, heap[child]) <= 0)
			break;
		heap[hole] = heap[child];
		hole = child;
	}
	heap[hole] = input;
	MemoryContextSwitchTo(old);
}

static void
heap_add(StrataMerge *merge, MergeInput *input)
{
	MemoryContext old = start_comparing(merge);
	int			hole = merge->nheap++;

	if (merge->nheap > merge->heap_size)
	{
		merge->heap_size *= 2;
		merge->heap = repalloc(merge->heap, sizeof(MergeInput *) * merge->heap_size);
	}
	while (hole > 0 && compare_inputs(merge, input, merge->heap[(hole - 1) / 2]) < 0)
	{
		merge->heap[hole] = merge->heap[(hole - 1) / 2];
		hole = (hole - 1) / 2;
	}
	merge->heap[hole] = input;
	MemoryContextSwitchTo(old);
}

static void
heap_remove_first(StrataMerge *merge)
{
	merge->heap[0] = merge->heap[--merge->nheap];
	if (merge->nheap > 0)
		heap_sift_down(merge);
}

/*-------------------------------------------------------------------------
 * Inputs
 *-------------------------------------------------------------------------
 */

/* Step to the next row and take its keys; false at the end. */
static bool
advance_input(StrataMerge *merge, MergeInput *input)
{
	if (input->batch == NULL)
	{
		input->slot = strata_rowstore_next(merge->scan);
		if (input->slot == NULL)
			return false;
		for (int i = 0; i < merge->nkeys; i++)
			input->values[i] = slot_getattr(input->slot, merge->keys[i].attno,
											&input->isnull[i]);
		input->abbreviated = abbreviate(merge, input->values[0], input->isnull[0]);
		return true;
	}
	input->row = strata_batch_next_row(merge->scan, input->batch);
	if (input->row < 0)
		return false;
	for (int i = 0; i < merge->nkeys; i++)
		input->values[i] = strata_column_get(input->columns[i], input->row, &input->isnull[i]);
	input->abbreviated = abbreviate(merge, input->values[0], input->isnull[0]);
	return true;
}

typedef enum BatchOrder
{
	ORDER_FORWARD,
	ORDER_BACKWARD,
	ORDER_NONE
} BatchOrder;

/* How the open batch's rows stand to the keys. */
static BatchOrder
batch_order(StrataMerge *merge, MergeInput *input)
{
	StrataBatchReader *reader = input->batch->reader;
	const StrataLayout *layout = reader->layout;
	BatchOrder	result = ORDER_FORWARD;
	bool		decided = false;
	int			next = 0;

	for (int i = 0; i < merge->nkeys; i++)
	{
		const StrataOrderKey *key = &merge->keys[i];
		const StrataOrderKey *order = next < layout->norder ? &layout->order[next] : NULL;
		AttrNumber	min_att = reader->schema->min_att[key->attno];
		BatchOrder	wanted;

		if (input->columns[i]->constant)
		{
			if (order != NULL && order->attno == key->attno)
				next++;
			continue;
		}
		if (order == NULL || order->attno != key->attno || min_att == 0 ||
			!strata_batch_schema_same_type(reader->schema, key->attno, min_att))
			return ORDER_NONE;
		wanted = key->desc == order->desc ? ORDER_FORWARD : ORDER_BACKWARD;
		if (decided && wanted != result)
			return ORDER_NONE;
		if (input->columns[i]->isnull != NULL &&
			(key->nulls_first == order->nulls_first) != (wanted == ORDER_FORWARD))
			return ORDER_NONE;
		result = wanted;
		decided = true;
		next++;
	}
	return result;
}

/* For sort_rows(). */
typedef struct RowSort
{
	StrataMerge *merge;
	MergeInput *input;
} RowSort;

static int
compare_rows(const void *a, const void *b, void *arg)
{
	const RowSort *sort = arg;

	for (int i = 0; i < sort->merge->nkeys; i++)
	{
		const StrataColumn *col = sort->input->columns[i];
		bool		x_isnull;
		bool		y_isnull;
		Datum		x = strata_column_get(col, *(const uint16 *) a, &x_isnull);
		Datum		y = strata_column_get(col, *(const uint16 *) b, &y_isnull);
		int			c = ApplySortComparator(x, x_isnull, y, y_isnull, &sort->merge->sorts[i]);

		if (c != 0)
			return c;
	}
	return 0;
}

/* Bring the selected rows of a batch into the order of the keys. */
static void
sort_rows(StrataMerge *merge, MergeInput *input)
{
	StrataVectorBatch *vector = &input->batch->vector;
	RowSort		sort = {merge, input};
	MemoryContext old = start_comparing(merge);

	if (vector->rows == NULL)
	{
		vector->rows = strata_batch_row_space(merge->scan, input->batch, vector->nrows);
		for (int i = 0; i < vector->nrows; i++)
			vector->rows[i] = (uint16) i;
	}
	qsort_arg(vector->rows, vector->nrows, sizeof(uint16), compare_rows, &sort);
	MemoryContextSwitchTo(old);
}

/* Open a loaded batch; its input goes into the heap, or back when no row is left. */
static void
open_batch(StrataMerge *merge, MergeInput *input)
{
	StrataOpenBatch *batch = input->batch;

	if (!strata_batch_filter(merge->scan, batch))
	{
		release_input(merge, input);
		return;
	}
	for (int i = 0; i < merge->nkeys; i++)
		input->columns[i] = strata_batch_reader_column(batch->reader, merge->keys[i].attno);
	switch (batch_order(merge, input))
	{
		case ORDER_FORWARD:
			break;
		case ORDER_BACKWARD:
			batch->vector.reverse = true;
			break;
		case ORDER_NONE:
			sort_rows(merge, input);
			break;
	}
	if (advance_input(merge, input))
		heap_add(merge, input);
	else
		release_input(merge, input);
}

/*-------------------------------------------------------------------------
 * Batches to come
 *-------------------------------------------------------------------------
 */

static Datum
copy_key(StrataMerge *merge, int i, Datum value)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(merge->scan->css.ss.ss_currentRelation),
										  merge->keys[i].attno - 1);

	if (!att->attbyval && att->attlen == -1)
		return PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
	return datumCopy(value, att->attbyval, att->attlen);
}

/* Is the column the same for all rows of the loaded batch? */
static bool
constant_key(StrataBatchReader *reader, AttrNumber attno, Datum *value, bool *isnull)
{
	AttrNumber	catt = reader->schema->col_att[attno];
	StrataColumn *col;

	if (strata_layout_segment_index(reader->layout, attno) < 0 &&
		catt != 0 && !reader->batch_slot->tts_isnull[catt - 1])
		return false;
	col = strata_batch_reader_column(reader, attno);
	*value = col->value;
	*isnull = col->value_isnull;
	return true;
}

/*
 * The bound of the loaded batch, as far as metadata tells.  ordered_index: it
 * came from an index in order of the first key, where rows with nulls in it
 * either come last or cannot be returned at all.
 */
static void
compute_bound(StrataMerge *merge, StrataBatchReader *reader, bool ordered_index,
			  MergeBound *bound)
{
	bool		more = true;

	bound->n = 0;
	for (int i = 0; i < merge->nkeys && more; i++)
	{
		const StrataOrderKey *key = &merge->keys[i];
		const StrataColumnSummary *summary;
		Datum		value;
		Datum		max;
		bool		isnull;

		if (!constant_key(reader, key->attno, &value, &isnull))
		{
			if (!strata_prune_bounds(reader, key->attno, &value, &max, &isnull))
				break;
			if (!isnull)
			{
				summary = strata_batch_reader_summary(reader, key->attno);
				more = false;
				if (key->desc)
					value = max;
				if (key->nulls_first && !ordered_index &&
					(summary == NULL || summary->nnulls != 0))
					isnull = true;
			}
		}
		bound->isnull[i] = isnull;
		bound->values[i] = isnull ? (Datum) 0 : copy_key(merge, i, value);
		bound->n++;
	}
	if (bound->n > 0)
		bound->abbreviated = abbreviate(merge, bound->values[0], bound->isnull[0]);
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
			merge->pending = merge->pending == NULL ?
				palloc(sizeof(MergeBound) * merge->pending_size) :
				repalloc_huge(merge->pending, sizeof(MergeBound) * merge->pending_size);
		}
		bound = &merge->pending[merge->npending++];
		init_bound(merge, bound);
		bound->tid = batch->batch_slot->tts_tid;
		compute_bound(merge, batch->reader, false, bound);
		MemoryContextSwitchTo(old);
	}
}

/* A bound that is a prefix of another comes first. */
static int
compare_bounds(const void *a, const void *b, void *arg)
{
	const MergeBound *x = a;
	const MergeBound *y = b;
	int			c = compare_keys(arg, Min(x->n, y->n), x->values, x->isnull,
								 y->values, y->isnull);

	return c != 0 ? c : x->n - y->n;
}

static ScanDirection
index_direction(StrataMerge *merge)
{
	return merge->keys[0].desc ? BackwardScanDirection : ForwardScanDirection;
}

/* Load the next batch of the index, if there is one left. */
static void
look_ahead(StrataMerge *merge)
{
	StrataScanState *scan = merge->scan;
	MergeInput *input = get_input(merge);

	for (;;)
	{
		MemoryContext old;

		while (!strata_source_next_in_range(scan->source, input->batch->batch_slot))
		{
			if (merge->range == STRATA_RANGE_LAYOUT_NULL)
			{
				release_input(merge, input);
				merge->lookahead = NULL;
				return;
			}
			merge->range = STRATA_RANGE_LAYOUT_NULL;
			strata_source_start_range(scan->source, scan->filter, merge->range,
									  index_direction(merge), false);
		}
		/* keep the row, not the buffer pin: many batches may be open */
		ExecMaterializeSlot(input->batch->batch_slot);
		if (!strata_batch_load(scan, input->batch, false))
			continue;
		old = MemoryContextSwitchTo(input->batch->reader->batch_mcxt);
		init_bound(merge, &merge->lookahead_bound);
		compute_bound(merge, input->batch->reader, true, &merge->lookahead_bound);
		MemoryContextSwitchTo(old);
		merge->lookahead = input;
		return;
	}
}

/* Has the batch a row that must, or may have to, come before the heap's first? */
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
	old = start_comparing(merge);
	c = compare_keys(merge, bound->n, bound->values, bound->isnull,
					 first->values, first->isnull);
	MemoryContextSwitchTo(old);
	/* when all keys are in the bound, rows equal to it may come in any order */
	return c < 0 || (c == 0 && bound->n < merge->nkeys);
}

/* Open all batches that may hold the next row. */
static void
open_due_batches(StrataMerge *merge)
{
	StrataScanState *scan = merge->scan;

	while (merge->next_pending < merge->npending &&
		   is_due(merge, &merge->pending[merge->next_pending]))
	{
		MergeInput *input = get_input(merge);
		ItemPointer tid = &merge->pending[merge->next_pending++].tid;

		if (!strata_source_fetch(scan->source, tid, input->batch->batch_slot))
			elog(ERROR, "batch (%u,%u) of \"%s\" has disappeared",
				 ItemPointerGetBlockNumber(tid), ItemPointerGetOffsetNumber(tid),
				 RelationGetRelationName(scan->css.ss.ss_currentRelation));
		ExecMaterializeSlot(input->batch->batch_slot);
		if (strata_batch_load(scan, input->batch, true))
			open_batch(merge, input);
		else
			release_input(merge, input);
	}
	while (merge->lookahead != NULL && is_due(merge, &merge->lookahead_bound))
	{
		open_batch(merge, merge->lookahead);
		look_ahead(merge);
	}
}

/*-------------------------------------------------------------------------
 * Interface
 *-------------------------------------------------------------------------
 */

StrataMerge *
strata_merge_create(StrataScanState *scan)
{
	MemoryContext old = MemoryContextSwitchTo(scan->mcxt);
	StrataMerge *merge = palloc0(sizeof(StrataMerge));

	merge->scan = scan;
	merge->nkeys = scan->info.nkeys;
	merge->keys = scan->info.keys;
	init_keys(merge);
	merge->heap_size = 16;
	merge->heap = palloc(sizeof(MergeInput *) * merge->heap_size);
	merge->rowstore = make_input(merge, false);
	merge->pending_mcxt = AllocSetContextCreate(scan->mcxt, "strata batches to merge",
												ALLOCSET_DEFAULT_SIZES);
#ifdef USE_ASSERT_CHECKING
	merge->check_mcxt = AllocSetContextCreate(scan->mcxt, "strata merge check",
											  ALLOCSET_SMALL_SIZES);
#endif
	MemoryContextSwitchTo(old);
	return merge;
}

/* List or look ahead, and stand on the first row of the row store. */
static void
start(StrataMerge *merge)
{
	StrataScanState *scan = merge->scan;
	MemoryContext old;
	StrataAccess access;

	merge->started = true;
	scan->counters.loops++;
	if (advance_input(merge, merge->rowstore))
		heap_add(merge, merge->rowstore);
	strata_scan_open_store(scan);
	if (scan->store == NULL)
		return;
	if (!scan->filter->prepared)
		strata_filter_prepare(scan->filter, scan->run.econtext);
	access = strata_source_access(scan->source);
	merge->incremental = access == (merge->keys[0].desc ? STRATA_ACCESS_MAX : STRATA_ACCESS_MIN) &&
		scan->info.incremental;

	old = MemoryContextSwitchTo(scan->mcxt);
	if (merge->lister == NULL)
		merge->lister = get_input(merge);
	if (access == STRATA_ACCESS_SEQ || !merge->incremental)
	{
		strata_source_start_range(scan->source, scan->filter, STRATA_RANGE_LAYOUT,
								  ForwardScanDirection, false);
		list_range(merge);
	}
	if (access != STRATA_ACCESS_SEQ)
	{
		strata_source_start_range(scan->source, scan->filter, STRATA_RANGE_BEFORE,
								  ForwardScanDirection, false);
		list_range(merge);
		strata_source_start_range(scan->source, scan->filter, STRATA_RANGE_AFTER,
								  ForwardScanDirection, false);
		list_range(merge);
	}
	ExecClearTuple(merge->lister->batch->batch_slot);
	qsort_arg(merge->pending, merge->npending, sizeof(MergeBound), compare_bounds, merge);
	if (merge->incremental)
	{
		merge->range = STRATA_RANGE_LAYOUT;
		strata_source_start_range(scan->source, scan->filter, merge->range,
								  index_direction(merge), true);
		look_ahead(merge);
	}
	MemoryContextSwitchTo(old);
}

#ifdef USE_ASSERT_CHECKING
/* Rows must come in the order of the keys. */
static void
check_order(StrataMerge *merge, MergeInput *input)
{
	MemoryContext old;

	Assert(!merge->has_last ||
		   compare_keys(merge, merge->nkeys, merge->last, merge->last_isnull,
						input->values, input->isnull) <= 0);
	MemoryContextReset(merge->check_mcxt);
	old = MemoryContextSwitchTo(merge->check_mcxt);
	merge->last = palloc(sizeof(Datum) * merge->nkeys);
	merge->last_isnull = palloc(sizeof(bool) * merge->nkeys);
	for (int i = 0; i < merge->nkeys; i++)
	{
		merge->last_isnull[i] = input->isnull[i];
		merge->last[i] = input->isnull[i] ? (Datum) 0 : copy_key(merge, i, input->values[i]);
	}
	merge->has_last = true;
	MemoryContextSwitchTo(old);
}
#endif

/* The next row, projected; NULL at the end. */
TupleTableSlot *
strata_merge_next(StrataMerge *merge)
{
	StrataScanState *scan = merge->scan;
	MergeInput *input;

	if (merge->finished)
		return NULL;
	if (!merge->started)
		start(merge);
	else if (merge->advance)
	{
		input = merge->heap[0];
		if (advance_input(merge, input))
		{
			if (merge->nheap > 1)
				heap_sift_down(merge);
		}
		else
		{
			heap_remove_first(merge);
			if (input->batch != NULL)
				release_input(merge, input);
		}
	}
	merge->advance = false;
	open_due_batches(merge);
	if (merge->nheap == 0)
	{
		merge->finished = true;
		scan->counters.finished++;
		return NULL;
	}
	merge->advance = true;
	input = merge->heap[0];
#ifdef USE_ASSERT_CHECKING
	check_order(merge, input);
#endif
	if (input->batch == NULL)
		return strata_rowstore_emit(scan, input->slot);
	return strata_batch_emit(scan, input->batch, input->row);
}

/* Forget everything that was read; values may be different now. */
void
strata_merge_rescan(StrataMerge *merge)
{
	ListCell   *lc;

	merge->started = merge->finished = false;
	merge->advance = false;
	merge->nheap = 0;
	merge->lookahead = NULL;
	merge->lister = NULL;
	merge->pending = NULL;
	merge->npending = merge->pending_size = merge->next_pending = 0;
	MemoryContextReset(merge->pending_mcxt);
	list_free(merge->unused);
	merge->unused = NIL;
	foreach(lc, merge->all)
		release_input(merge, lfirst(lc));
#ifdef USE_ASSERT_CHECKING
	merge->has_last = false;
#endif
}

void
strata_merge_end(StrataMerge *merge)
{
	ListCell   *lc;

	foreach(lc, merge->all)
		strata_batch_open_free(((MergeInput *) lfirst(lc))->batch);
}
