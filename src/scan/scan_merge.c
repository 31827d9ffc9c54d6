/*-------------------------------------------------------------------------
 *
 * scan_merge.c
 *	  Ordered output: a merge of the row store and of batches.
 *
 * Each input, the row store or an open batch, comes in the order of the keys;
 * a heap holds the inputs by their current rows.  A batch that is not open yet
 * is represented by its bound: the least key it can hold, as far as metadata
 * tells.  It is opened when its bound is not above the least current row, so
 * that LIMIT touches the batches it needs and no others (scan_pending.c).
 *
 * A batch of a layout that does not sort by the keys, or whose nulls stand at
 * the wrong end, or whose column has another type since, is sorted in memory.
 *
 * Over 600 lines: inputs, their heap and the groups they are counted to share
 * their state.
 *
 * src/scan/scan_merge.c
 *-------------------------------------------------------------------------
 */
#include "scan/scan_merge_private.h"
#include "store/store.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

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
		input->batch = strata_batch_open_create(merge->scan,
												merge->all == NIL ? NULL :
												((MergeInput *) linitial(merge->all))->batch);
		merge->all = lappend(merge->all, input);
	}
	MemoryContextSwitchTo(old);
	return input;
}

/* See scan_merge_private.h. */
MergeInput *
strata_merge_get_input(StrataMerge *merge)
{
	MergeInput *input;

	if (merge->unused == NIL)
		return make_input(merge, true);
	input = llast(merge->unused);
	merge->unused = list_delete_last(merge->unused);
	return input;
}

/* See scan_merge_private.h. */
void
strata_merge_release_input(StrataMerge *merge, MergeInput *input)
{
	MemoryContext old = MemoryContextSwitchTo(merge->scan->mcxt);

	ExecClearTuple(input->batch->batch_slot);
	strata_merge_note_pins(merge, -(int) input->pins);
	input->pins = false;
	merge->unused = lappend(merge->unused, input);
	MemoryContextSwitchTo(old);
}

/*
 * How keys are compared: as the types' default order has it, in their
 * directions.
 */
static void
init_keys(StrataMerge *merge)
{
	TupleDesc	desc;

	desc = RelationGetDescr(merge->scan->css.ss.ss_currentRelation);
	merge->sorts = palloc0(sizeof(SortSupportData) * merge->nkeys);
	for (int i = 0; i < merge->nkeys; i++)
	{
		const StrataOrderKey *key = &merge->keys[i];
		Form_pg_attribute att = TupleDescAttr(desc, key->attno - 1);

		strata_sort_init(&merge->sorts[i], att->atttypid, att->attcollation,
						 key->desc, key->nulls_first, merge->scan->mcxt);
	}
	merge->integer_width =
		strata_integer_width(getBaseType(TupleDescAttr(desc,
													   merge->keys[0].attno -
													   1)->atttypid));
}

/* See scan_merge_private.h. */
Datum
strata_merge_copy_key(StrataMerge *merge, int i, Datum value)
{
	Form_pg_attribute att;

	att =
		TupleDescAttr(RelationGetDescr(merge->scan->css.ss.ss_currentRelation),
					  merge->keys[i].attno - 1);
	if (!att->attbyval && att->attlen == -1)
		return PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
	return datumCopy(value, att->attbyval, att->attlen);
}

static inline int
compare_inputs(const StrataMerge *merge, const MergeInput *a,
			   const MergeInput *b)
{
	if (a->abbreviated != b->abbreviated)
		return a->abbreviated < b->abbreviated ? -1 : 1;
	return strata_merge_compare(merge, merge->nkeys, a->values, a->isnull,
								b->values, b->isnull);
}

/*-------------------------------------------------------------------------
 * The heap
 *-------------------------------------------------------------------------
 */

/* The first input's row has changed: restore the heap. */
static void
heap_sift_down(StrataMerge *merge)
{
	MemoryContext old = strata_merge_start_comparing(merge);
	MergeInput **heap = merge->heap;
	MergeInput *input = heap[0];
	int			hole = 0;

	for (;;)
	{
		int			child = 2 * hole + 1;

		if (child >= merge->nheap)
			break;
		if (child + 1 < merge->nheap &&
			compare_inputs(merge, heap[child + 1], heap[child]) < 0)
			child++;
		if (compare_inputs(merge, input, heap[child]) <= 0)
			break;
		heap[hole] = heap[child];
		hole = child;
	}
	heap[hole] = input;
	MemoryContextSwitchTo(old);
}

/* Add an input to the heap, by its current row. */
static void
heap_add(StrataMerge *merge, MergeInput *input)
{
	MemoryContext old = strata_merge_start_comparing(merge);
	int			hole = merge->nheap++;

	if (merge->nheap > merge->heap_size)
	{
		merge->heap_size *= 2;
		merge->heap = repalloc(merge->heap,
							   sizeof(MergeInput *) * merge->heap_size);
	}
	while (hole > 0 &&
		   compare_inputs(merge, input, merge->heap[(hole - 1) / 2]) < 0)
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
		input->passes = true;
		for (int i = 0; i < merge->nkeys; i++)
			input->values[i] = slot_getattr(input->slot, merge->keys[i].attno,
											&input->isnull[i]);
		input->abbreviated = strata_merge_abbreviate(merge, input->values[0],
													 input->isnull[0]);
		return true;
	}
	input->row = strata_batch_next_candidate(merge->scan, input->batch,
											 &input->passes);
	if (input->row < 0)
		return false;
	if (input->windowed)
		input->columns[0] = strata_batch_column_at(merge->scan, input->batch,
												   merge->keys[0].attno,
												   input->row);
	for (int i = 0; i < merge->nkeys; i++)
		input->values[i] = strata_column_get(input->columns[i], input->row,
											 &input->isnull[i]);
	input->abbreviated = strata_merge_abbreviate(merge, input->values[0],
												 input->isnull[0]);
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
		const StrataOrderKey *order;
		AttrNumber	min_att = reader->schema->min_att[key->attno];
		BatchOrder	wanted;

		order = next < layout->norder ? &layout->order[next] : NULL;
		if (input->columns[i]->constant)
		{
			if (order != NULL && order->attno == key->attno)
				next++;
			continue;
		}
		if (order == NULL || order->attno != key->attno || min_att == 0 ||
			!strata_batch_schema_same_type(reader->schema, key->attno,
										   min_att))
			return ORDER_NONE;
		wanted = key->desc == order->desc ? ORDER_FORWARD : ORDER_BACKWARD;
		if (decided && wanted != result)
			return ORDER_NONE;
		if (input->columns[i]->isnull != NULL &&
			(key->nulls_first == order->nulls_first) !=
			(wanted == ORDER_FORWARD))
			return ORDER_NONE;
		result = wanted;
		decided = true;
		next++;
	}
	return result;
}

/* For sort_batch_rows(). */
typedef struct RowSort
{
	StrataMerge *merge;
	MergeInput *input;
} RowSort;

/* qsort_arg's comparison of two row numbers of a batch, by the merge keys. */
static int
compare_batch_rows(const void *a, const void *b, void *arg)
{
	const RowSort *sort = arg;

	for (int i = 0; i < sort->merge->nkeys; i++)
	{
		const StrataColumn *col = sort->input->columns[i];
		bool		x_isnull;
		bool		y_isnull;
		Datum		x = strata_column_get(col, *(const uint16 *) a, &x_isnull);
		Datum		y = strata_column_get(col, *(const uint16 *) b, &y_isnull);
		int			c = ApplySortComparator(x, x_isnull, y, y_isnull,
											&sort->merge->sorts[i]);

		if (c != 0)
			return c;
	}
	return 0;
}

/* Bring the selected rows of a batch into the order of the keys. */
static void
sort_batch_rows(StrataMerge *merge, MergeInput *input)
{
	StrataVectorBatch *vector = &input->batch->vector;
	RowSort		sort = {merge, input};
	MemoryContext old = strata_merge_start_comparing(merge);

	Assert(!vector->reverse);	/* scan:R11 */
	if (vector->rows == NULL)
	{
		vector->rows = strata_batch_row_space(merge->scan, input->batch,
											  vector->nrows);
		for (int i = 0; i < vector->nrows; i++)
			vector->rows[i] = (uint16) i;
	}
	qsort_arg(vector->rows, vector->nrows, sizeof(uint16), compare_batch_rows,
			  &sort);
	input->batch->unsorted = true;
	MemoryContextSwitchTo(old);
}

/*
 * Is the one key the first orderby column of the batch, in the order the batch
 * is in?  Nulls are not in the way: they stand apart (batch:B10).
 */
static bool
is_window_key(StrataMerge *merge, const StrataBatchReader *reader)
{
	return merge->nkeys == 1 &&
		strata_batch_reader_direction(reader, merge->keys[0].attno) != 0;
}

/*-------------------------------------------------------------------------
 * Groups of which the first rows are wanted (scan_window.c)
 *-------------------------------------------------------------------------
 */

/* Are the rows of the group that are wanted all there? */
static inline bool
group_is_full(const StrataMerge *merge)
{
	return merge->scan->group_limit > 0 &&
		merge->group_rows >= merge->scan->group_limit;
}

static bool
is_of_group(StrataMerge *merge, const Datum *values, const bool *isnull)
{
	MemoryContext old = strata_merge_start_comparing(merge);
	bool		result;

	result = strata_merge_compare(merge, merge->scan->group_columns,
								  merge->group, merge->group_isnull, values,
								  isnull) == 0;
	MemoryContextSwitchTo(old);
	return result;
}

/* Count the input's row to its group; false: it is not wanted. */
static bool
count_to_group(StrataMerge *merge, const MergeInput *input)
{
	MemoryContext old;

	if (merge->group_rows > 0 &&
		is_of_group(merge, input->values, input->isnull))
	{
		if (group_is_full(merge))
			return false;
		merge->group_rows++;
		return true;
	}
	MemoryContextReset(merge->group_mcxt);
	old = MemoryContextSwitchTo(merge->group_mcxt);
	for (int i = 0; i < merge->scan->group_columns; i++)
	{
		merge->group_isnull[i] = input->isnull[i];
		merge->group[i] = input->isnull[i] ? (Datum) 0 :
			strata_merge_copy_key(merge, i, input->values[i]);
	}
	MemoryContextSwitchTo(old);
	merge->group_rows = 1;
	return true;
}

/* Do all rows of a loaded batch belong to one group, and is that full? */
static bool
batch_is_of_full_group(StrataMerge *merge, const StrataOpenBatch *batch)
{
	const StrataLayout *layout = batch->reader->layout;
	int			n = merge->scan->group_columns;
	Datum	   *values;
	bool	   *isnull;
	bool		result;

	Assert(n <= merge->nkeys);	/* scan:R16 */
	if (!group_is_full(merge) || n > layout->nsegment)
		return false;
	values = palloc(sizeof(Datum) * n);
	isnull = palloc(sizeof(bool) * n);
	result = true;
	for (int i = 0; i < n && result; i++)
	{
		const StrataColumn *col = NULL;

		for (int s = 0; s < layout->nsegment; s++)
			if (layout->segment[s] == merge->keys[i].attno)
				col = strata_batch_reader_column(batch->reader,
												 merge->keys[i].attno);
		result = col != NULL && col->constant;
		if (!result)
			break;
		values[i] = col->value;
		isnull[i] = col->value_isnull;
	}
	result = result && is_of_group(merge, values, isnull);
	pfree(values);
	pfree(isnull);
	return result;
}

/*-------------------------------------------------------------------------
 * Opening batches
 *-------------------------------------------------------------------------
 */

/*
 * Open a loaded batch; its input goes into the heap, or back when no row is
 * left.
 */
static void
open_batch(StrataMerge *merge, MergeInput *input)
{
	StrataOpenBatch *batch = input->batch;

	if (batch_is_of_full_group(merge, batch) ||
		!strata_batch_filter(merge->scan, batch))
	{
		strata_merge_release_input(merge, input);
		return;
	}
	input->windowed = is_window_key(merge, batch->reader);
	if (input->windowed)
		batch->vector.reverse = merge->keys[0].desc !=
			batch->reader->layout->order[0].desc;
	else
		for (int i = 0; i < merge->nkeys; i++)
			input->columns[i] =
				strata_batch_reader_column(batch->reader,
										   merge->keys[i].attno);
	switch (input->windowed ? ORDER_FORWARD : batch_order(merge, input))
	{
		case ORDER_FORWARD:
			break;
		case ORDER_BACKWARD:
			batch->vector.reverse = true;
			break;
		case ORDER_NONE:
			sort_batch_rows(merge, input);
			break;
	}
	if (advance_input(merge, input))
		heap_add(merge, input);
	else
		strata_merge_release_input(merge, input);
}

/* Open all batches that may hold the next row. */
static void
open_due_batches(StrataMerge *merge)
{
	MergeInput *input;

	while ((input = strata_pending_take(merge)) != NULL)
		open_batch(merge, input);
}

/*-------------------------------------------------------------------------
 * Interface
 *-------------------------------------------------------------------------
 */

/* Its memory goes, at an error perhaps, and its pins have gone. */
static void
forget_pins(void *arg)
{
	StrataMerge *merge = arg;

	strata_merge_note_pins(merge, -merge->npins);
}

/* See scan_merge_private.h. */
StrataMerge *
strata_merge_create(StrataScanState *scan)
{
	MemoryContext old = MemoryContextSwitchTo(scan->mcxt);
	StrataMerge *merge = palloc0(sizeof(StrataMerge));

	merge->scan = scan;
	merge->gone.func = forget_pins;
	merge->gone.arg = merge;
	MemoryContextRegisterResetCallback(scan->mcxt, &merge->gone);
	merge->nkeys = scan->info.nkeys;
	merge->keys = scan->info.keys;
	init_keys(merge);
	merge->heap_size = 16;
	merge->heap = palloc(sizeof(MergeInput *) * merge->heap_size);
	merge->rowstore = make_input(merge, false);
	merge->group = palloc0(sizeof(Datum) * merge->nkeys);
	merge->group_isnull = palloc0(sizeof(bool) * merge->nkeys);
	merge->group_mcxt = AllocSetContextCreate(scan->mcxt, "strata merge group",
											  ALLOCSET_SMALL_SIZES);
	merge->pending_mcxt = AllocSetContextCreate(scan->mcxt,
												"strata batches to merge",
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
merge_start(StrataMerge *merge)
{
	StrataScanState *scan = merge->scan;

	Assert(merge->nheap == 0 &&
		   merge->npending ==
		   0);					/* scan:R1: nothing is left of a scan before */
	merge->started = true;
	scan->counters.loops++;
	if (advance_input(merge, merge->rowstore))
		heap_add(merge, merge->rowstore);
	strata_scan_open_store(scan);
	if (scan->store == NULL)
		return;
	if (!scan->filter->prepared)
		strata_filter_prepare(scan->filter, scan->run.econtext);
	strata_pending_start(merge);
}

#ifdef USE_ASSERT_CHECKING
/*
 * Rows must come in the order of the keys (scan:R11).  Where they do not, we
 * are wrong, or metadata on disk is: an error, as for other damage.
 */
static void
check_order(StrataMerge *merge, MergeInput *input)
{
	MemoryContext old;

	if (merge->has_last &&
		strata_merge_compare(merge, merge->nkeys, merge->last,
							 merge->last_isnull, input->values,
							 input->isnull) > 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("rows of table \"%s\" are not in the order that its batches claim",
						RelationGetRelationName(merge->scan->css.ss.ss_currentRelation))));
	MemoryContextReset(merge->check_mcxt);
	old = MemoryContextSwitchTo(merge->check_mcxt);
	merge->last = palloc(sizeof(Datum) * merge->nkeys);
	merge->last_isnull = palloc(sizeof(bool) * merge->nkeys);
	for (int i = 0; i < merge->nkeys; i++)
	{
		merge->last_isnull[i] = input->isnull[i];
		merge->last[i] = input->isnull[i] ?
			(Datum) 0 :
			strata_merge_copy_key(merge, i, input->values[i]);
	}
	merge->has_last = true;
	MemoryContextSwitchTo(old);
}
#endif

/* The first input goes on to its next row. */
static void
step_first(StrataMerge *merge)
{
	MergeInput *input = merge->heap[0];

	if (advance_input(merge, input))
	{
		if (merge->nheap > 1)
			heap_sift_down(merge);
		return;
	}
	heap_remove_first(merge);
	if (input->batch != NULL)
		strata_merge_release_input(merge, input);
}

/* The same behind the rows of a group that is full: batches of it end. */
static void
pass_over_first(StrataMerge *merge)
{
	MergeInput *input = merge->heap[0];

	CHECK_FOR_INTERRUPTS();
	if (input->batch == NULL || !batch_is_of_full_group(merge, input->batch))
	{
		step_first(merge);
		return;
	}
	heap_remove_first(merge);
	strata_merge_release_input(merge, input);
}

/*
 * Have the row that is next in front, if there is one: rows are tried in their
 * turn, so that LIMIT has none tried that come behind its last.
 */
static void
settle_first(StrataMerge *merge)
{
	for (;;)
	{
		MergeInput *input;

		open_due_batches(merge);
		if (merge->nheap == 0 || (input = merge->heap[0])->passes)
			return;
		CHECK_FOR_INTERRUPTS();
		Assert(input->batch != NULL);	/* scan:R18 */
		if (strata_batch_candidate_passes(merge->scan, input->batch,
										  input->row))
		{
			input->passes = true;
			return;
		}
		step_first(merge);
	}
}

/* The next row, projected; NULL at the end. */
TupleTableSlot *
strata_merge_next(StrataMerge *merge)
{
	StrataScanState *scan = merge->scan;
	MergeInput *input;

	if (merge->finished)
		return NULL;
	if (!merge->started)
		merge_start(merge);
	else if (merge->advance)
		step_first(merge);
	merge->advance = false;
	settle_first(merge);
	while (scan->group_limit > 0 && merge->nheap > 0 &&
		   !count_to_group(merge, merge->heap[0]))
	{
		pass_over_first(merge);
		settle_first(merge);
	}
	if (merge->nheap == 0)
	{
		merge->finished = true;
		return NULL;
	}
	merge->advance = true;
	input = merge->heap[0];
	Assert((input->batch == NULL) ==
		   (input == merge->rowstore)); /* scan:R1 */
#ifdef USE_ASSERT_CHECKING
	check_order(merge, input);
#endif
	if (input->batch == NULL)
		return strata_rowstore_emit(scan, input->slot);
	Assert(input->row >= 0 &&
		   input->row < input->batch->vector.reader->nrows);	/* scan:R1 */
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
	merge->group_rows = 0;
	strata_pending_reset(merge);
	list_free(merge->unused);
	merge->unused = NIL;
	foreach(lc, merge->all)
		strata_merge_release_input(merge, lfirst(lc));
#ifdef USE_ASSERT_CHECKING
	merge->has_last = false;
#endif
}

void
strata_merge_end(StrataMerge *merge)
{
	/* the first is whose memory the others share: last */
	for (int i = list_length(merge->all) - 1; i >= 0; i--)
		strata_batch_open_free(((MergeInput *) list_nth(merge->all, i))->batch,
							   i > 0);
}
