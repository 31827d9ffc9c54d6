/*-------------------------------------------------------------------------
 *
 * compress_gather.c
 *	  Puts rows into the order of batches without sorting them all.
 *
 * Rows mostly arrive in the order of their time (or its reverse) within a
 * segment.  They are gathered per segment, as records (batch/batch_record.c);
 * whenever a segment has a batch full it is put in order, usually a matter of
 * looking, and written.  Where order is lost, the rows furthest ahead wait for
 * the next batch.  A row that comes before what its segment has written
 * already ("late") goes through a tuplesort at the end, with what is left of
 * its segment, so that batches of one call overlap little however the input is
 * ordered.  What is left of other segments is written as it is.
 *
 * Segments are told apart by the image of their values, as batches are.
 *
 * Memory: three quarters for gathered rows, the rest for the sort, which has
 * all of it when nothing is gathered.  When the first part is used up (many
 * segments), batches no longer wait for the rows that would fill a page; when
 * that is not enough, everything goes to the sort.
 *
 * src/compress/compress_gather.c
 *-------------------------------------------------------------------------
 */
#include "compress/compress_private.h"
#include "compress/compress_segment_private.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"
#include "utils/typcache.h"

/* How far ahead to prefetch gathered rows, and how much of each. */
#define PREFETCH_ROWS 8
#define PREFETCH_LINES 2

/*
 * Where rows come out of order, one of so many waits for others to come
 * between.
 */
#define SLACK_SHARE 16

struct StrataGather
{
	MemoryContext mcxt;			/* owns everything here */
	Relation	rel;
	const StrataLayout *layout;
	StrataBatchWriter *writer;
	StrataSegments *segments;
	StrataRowSort *sort;		/* late rows and leftovers; made when needed */
	SortSupportData *order;		/* layout->norder */
	Size		limit;			/* bytes for gathered rows */
	int			sort_kilobytes;
	bool		tight;			/* memory ran out: batches have no more rows
								 * than they must */
	bool		overflowed;		/* and again: all rows go to the sort */
	int			few;			/* a segment with fewer rows gets no batch */
	StrataRowPut put;			/* they go there */
	void	   *put_arg;
	/* scratch for writing a batch */
	Datum	   *keys;
	bool	   *keys_isnull;
	int		   *permutation;
	bool	   *keep;
	char	  **records;
};

static Form_pg_attribute
gather_attribute(const StrataGather *gather, AttrNumber attno)
{
	return TupleDescAttr(RelationGetDescr(gather->rel), attno - 1);
}

/* How rows are compared: by the columns of orderby, in their directions. */
static void
init_order(StrataGather *gather)
{
	const StrataLayout *layout = gather->layout;

	gather->order = palloc0(sizeof(SortSupportData) * Max(layout->norder, 1));
	for (int i = 0; i < layout->norder; i++)
	{
		Form_pg_attribute att = gather_attribute(gather,
												 layout->order[i].attno);

		strata_sort_init(&gather->order[i], att->atttypid, att->attcollation,
						 layout->order[i].desc, layout->order[i].nulls_first,
						 gather->mcxt);
		gather->order[i].ssup_attno = layout->order[i].attno;
	}
}

/* See compress_private.h. */
StrataGather *
strata_gather_begin(StrataBatchWriter *writer, const StrataLayout *layout,
					int kilobytes)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "strata gather",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	StrataGather *gather = palloc0(sizeof(StrataGather));
	int			room = writer->goal.most + writer->goal.most / SLACK_SHARE + 1;
	int			nkeys = room * Max(layout->norder, 1);

	gather->mcxt = mcxt;
	gather->limit = (Size) kilobytes * 1024 / 4 * 3;
	gather->sort_kilobytes = Max(kilobytes / 4, 64);
	gather->rel = writer->store->rel;
	gather->layout = layout;
	gather->writer = writer;
	gather->segments = strata_segments_create(gather->rel, layout, room);
	init_order(gather);
	gather->keys = palloc(sizeof(Datum) * nkeys);
	gather->keys_isnull = palloc(sizeof(bool) * nkeys);
	gather->permutation = palloc(sizeof(int) * room);
	gather->keep = palloc(sizeof(bool) * room);
	gather->records = palloc(sizeof(char *) * room);
	MemoryContextSwitchTo(old);
	return gather;
}

/* Without keys there is nothing to sort by. */
static bool
has_keys(const StrataGather *gather)
{
	return gather->layout->nsegment + gather->layout->norder > 0;
}

/* See compress_private.h. */
void
strata_gather_keep_few(StrataGather *gather, int rows, StrataRowPut put,
					   void *arg)
{
	Assert(gather->writer->shared); /* compress:K3 */
	gather->few = rows;
	gather->put = put;
	gather->put_arg = arg;
}

/* See compress_private.h. */
void
strata_gather_sort_all(StrataGather *gather)
{
	gather->overflowed = has_keys(gather);
	/* nothing will be gathered */
	if (gather->overflowed)
		gather->sort_kilobytes += gather->limit / 1024;
}

/* Give a row to the final sort. */
static void
sort_row(StrataGather *gather, TupleTableSlot *slot)
{
	if (gather->sort == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(gather->mcxt);

		gather->sort = strata_row_sort_begin(RelationGetDescr(gather->rel),
											 gather->layout,
											 gather->sort_kilobytes);
		MemoryContextSwitchTo(old);
	}
	strata_row_sort_put(gather->sort, slot);
}

/* Does the row come before what its segment has written? */
static bool
is_late(StrataGather *gather, StrataSegment *segment, TupleTableSlot *slot)
{
	int			c;
	AttrNumber	attno;

	if (!segment->written || gather->layout->norder == 0)
		return false;
	attno = gather->layout->order[0].attno;
	c = ApplySortComparator(slot->tts_values[attno - 1],
							slot->tts_isnull[attno - 1], segment->bound,
							segment->bound_isnull, &gather->order[0]);
	return segment->reversed ? c > 0 : c < 0;
}

/* Compare gathered rows a and b by the extracted keys. */
static int
compare_rows(const StrataGather *gather, int a, int b)
{
	int			norder = gather->layout->norder;

	for (int k = 0; k < norder; k++)
	{
		int			c = ApplySortComparator(gather->keys[a * norder + k],
											gather->keys_isnull[a * norder +
																k],
											gather->keys[b * norder + k],
											gather->keys_isnull[b * norder +
																k],
											&gather->order[k]);

		if (c != 0)
			return c;
	}
	return 0;
}

static int
compare_permutation(const void *a, const void *b, void *arg)
{
	int			i = *(const int *) a;
	int			j = *(const int *) b;
	int			c = compare_rows(arg, i, j);

	return c != 0 ? c : (i > j) - (i < j);
}

/*
 * A segment's rows have come over a long time, in pieces that stand among
 * those of others: by now they are in no cache.
 */
static inline void
prefetch(const StrataGather *gather, const StrataSegment *segment, int row)
{
	if (row < segment->nrows)
		for (int line = 0; line < PREFETCH_LINES; line++)
			__builtin_prefetch(strata_segment_record(gather->segments, segment,
													 row) +
							   line * 64);
}

static void
extract_keys(StrataGather *gather, StrataSegment *segment)
{
	int			norder = gather->layout->norder;

	for (int row = 0; row < segment->nrows; row++)
	{
		const char *record = strata_segment_record(gather->segments, segment,
												   row);

		prefetch(gather, segment, row + PREFETCH_ROWS);
		/* the values point into the record's chunk, which stays */
		for (int k = 0; k < norder; k++)
			gather->keys[row * norder + k] =
				strata_record_get(gather->segments->form, record,
								  gather->layout->order[k].attno,
								  &gather->keys_isnull[row * norder + k]);
	}
}

/*
 * Order of the gathered rows: permutation is filled.  Mostly they are in order
 * or exactly reversed, and true is returned.
 */
static bool
order_rows(StrataGather *gather, StrataSegment *segment)
{
	int			n = segment->nrows;
	bool		forward = true;
	bool		backward = true;

	extract_keys(gather, segment);
	for (int row = 1; row < n && (forward || backward); row++)
	{
		int			c = compare_rows(gather, row - 1, row);

		forward &= c <= 0;
		backward &= c > 0;
	}
	for (int row = 0; row < n; row++)
		gather->permutation[row] = forward || !backward ? row : n - 1 - row;
	if (!forward && !backward)
		qsort_arg(gather->permutation, n, sizeof(int), compare_permutation,
				  gather);
	Assert(n == 0 || compare_permutation(&gather->permutation[0],
										 &gather->permutation[n - 1],
										 gather) <= 0); /* compress:K1 */
	if (!segment->written)
		segment->reversed = !forward && compare_rows(gather, 0, n - 1) > 0;
	return forward || backward;
}

/* Remember how far the segment has been written: to that row. */
static void
set_bound(StrataGather *gather, StrataSegment *segment, int row)
{
	int			key = row * gather->layout->norder;
	Form_pg_attribute att = gather_attribute(gather,
											 gather->layout->order[0].attno);
	MemoryContext old = MemoryContextSwitchTo(gather->mcxt);

	if (segment->written && !att->attbyval && !segment->bound_isnull)
		pfree(DatumGetPointer(segment->bound));
	segment->bound_isnull = gather->keys_isnull[key];
	segment->bound = segment->bound_isnull ? (Datum) 0 :
		datumCopy(gather->keys[key], att->attbyval, att->attlen);
	MemoryContextSwitchTo(old);
}

/*
 * Write a segment's rows, which are in order, but for those furthest ahead: so
 * many stay.
 */
static void
write_ordered(StrataGather *gather, StrataSegment *segment, int nkept)
{
	int			n = segment->nrows - nkept;
	const int  *rows = gather->permutation + (segment->reversed ? nkept : 0);
	TupleTableSlot *slot = strata_segment_columns(gather->segments, segment);

	Assert(n > 0);				/* compress:K1 */
	if (gather->layout->norder > 0)
		set_bound(gather, segment, rows[segment->reversed ? 0 : n - 1]);
	segment->written = true;
	memset(gather->keep, true, sizeof(bool) * segment->nrows);
	for (int i = 0; i < n; i++)
	{
		gather->records[i] = strata_segment_record(gather->segments, segment,
												   rows[i]);
		gather->keep[rows[i]] = false;
	}
	strata_batch_writer_add_records(gather->writer, gather->segments->form,
									slot->tts_values, slot->tts_isnull,
									gather->records, n);
	strata_segment_clear(gather->segments, segment, gather->keep);
}

/* The last rows of a segment. */
static void
write_rest(StrataGather *gather, StrataSegment *segment)
{
	(void) order_rows(gather, segment);
	write_ordered(gather, segment, 0);
}

/*
 * A segment has a batch full.  A row far ahead of its neighbours (heap puts
 * rows into gaps of earlier pages) would make those that come until then late
 * ones, so where order is lost some rows wait.
 */
static void
write_full(StrataGather *gather, StrataSegment *segment)
{
	int			nkept = segment->slack;
	bool		in_order = order_rows(gather, segment);

	if (in_order)
		segment->slack = 0;
	else if (nkept == 0 && !gather->tight)
	{
		segment->slack = segment->nrows / SLACK_SHARE + 1;
		return;
	}
	write_ordered(gather, segment, nkept);
}

/* How many rows make a batch full. */
static int
full_rows(const StrataGather *gather, const StrataSegment *segment)
{
	return (gather->tight ? gather->writer->batch_rows :
			gather->writer->goal_rows) +
		segment->slack;
}

/* What was gathered of a segment goes to the sort. */
static void
sort_segment(StrataGather *gather, StrataSegment *segment)
{
	for (int row = 0; row < segment->nrows; row++)
		sort_row(gather, strata_segment_row(gather->segments, segment, row));
	strata_segment_clear(gather->segments, segment, NULL);
}

/* Everything gathered goes to the sort. */
static void
spill(StrataGather *gather)
{
	StrataSegment **list;
	int			n = strata_segments_list(gather->segments, &list);

	for (int i = 0; i < n; i++)
		sort_segment(gather, list[i]);
	pfree(list);
}

/*
 * Memory ran out: segments that have enough rows for a batch need not wait for
 * more.
 */
static bool
write_full_segments(StrataGather *gather)
{
	StrataSegment **list;
	int			n;

	if (gather->tight)
		return false;
	gather->tight = true;
	n = strata_segments_list(gather->segments, &list);
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (list[i]->nrows >= full_rows(gather, list[i]))
			write_full(gather, list[i]);
	}
	pfree(list);
	return !strata_segments_exceed(gather->segments, gather->limit);
}

/* See compress_private.h. */
void
strata_gather_add(StrataGather *gather, TupleTableSlot *slot)
{
	StrataSegment *segment;

	if (gather->overflowed)
	{
		sort_row(gather, slot);
		return;
	}
	segment = strata_segment_find(gather->segments, slot);
	if (is_late(gather, segment, slot))
	{
		segment->sorted = true;
		sort_row(gather, slot);
		return;
	}
	strata_segment_add(gather->segments, segment, slot);
	if (segment->nrows >= full_rows(gather, segment))
		write_full(gather, segment);
	else if (strata_segments_exceed(gather->segments, gather->limit) &&
			 !write_full_segments(gather))
	{
		if (has_keys(gather))
		{
			gather->overflowed = true;
			spill(gather);
		}
		else
			write_rest(gather, segment);
	}
}

/* What was sorted, into batches. */
static void
write_sorted(StrataGather *gather)
{
	StrataFewRows *few = NULL;
	TupleTableSlot *slot;
	int64		nwritten = 0;

	if (gather->put != NULL)
		few = strata_few_begin(gather->writer, gather->layout,
							   gather->segments, gather->few, gather->put,
							   gather->put_arg);
	else
		strata_progress_phase(STRATA_PHASE_SORTING);
	Assert(strata_batch_builder_nrows(gather->writer->builder) ==
		   0);					/* compress:K1 */
	strata_row_sort_perform(gather->sort);
	if (few == NULL)
		strata_progress_phase(STRATA_PHASE_WRITING);
	while ((slot = strata_row_sort_next(gather->sort)) != NULL)
	{
		if (few != NULL)
			strata_few_add(few, slot);
		else
			strata_batch_writer_add(gather->writer, slot->tts_values,
									slot->tts_isnull);
		if ((++nwritten & 1023) == 0)
		{
			CHECK_FOR_INTERRUPTS();
			if (few == NULL)
				strata_progress_written(gather->writer->nrows);
		}
	}
	if (few != NULL)
		strata_few_end(few);
	strata_row_sort_end(gather->sort);
}

/* What is left of a segment, when all rows have come. */
static void
end_segment(StrataGather *gather, StrataSegment *segment)
{
	if (segment->sorted)
		sort_segment(gather, segment);
	else if (gather->put == NULL || segment->written ||
			 segment->nrows >= gather->few)
		write_rest(gather, segment);
	else
	{
		for (int row = 0; row < segment->nrows; row++)
			gather->put(strata_segment_row(gather->segments, segment, row),
						gather->put_arg);
		strata_segment_clear(gather->segments, segment, NULL);
	}
}

/* See compress_private.h. */
void
strata_gather_end(StrataGather *gather)
{
	StrataSegment **list;
	int			n = strata_segments_list(gather->segments, &list);

	if (gather->put == NULL)
		strata_progress_phase(STRATA_PHASE_WRITING);
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		end_segment(gather, list[i]);
		if (gather->put == NULL)
			strata_progress_written(gather->writer->nrows);
	}
	if (gather->sort != NULL)
		write_sorted(gather);
	strata_segments_free(gather->segments);
	MemoryContextDelete(gather->mcxt);
}
