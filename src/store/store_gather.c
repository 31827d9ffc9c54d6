/*-------------------------------------------------------------------------
 *
 * store_gather.c
 *	  Puts rows into the order of batches without sorting them all.
 *
 * Rows mostly arrive in the order of their time (or its reverse) within a
 * segment.  They are gathered per segment; whenever a segment has a batch full
 * it is put in order, usually a matter of looking, and written.  A row that
 * comes before what its segment has written already ("late") goes through a
 * tuplesort at the end, with the incomplete batches, so that batches of one
 * call overlap little however the input is ordered.
 *
 * Segments are told apart by the image of their values, as batches are.
 *
 * Memory: half for gathered rows, half for the sort.  When the first half is
 * used up (many segments), everything goes to the sort.  Rows of slow segments
 * hold on to the blocks they share with rows of fast ones, long since written:
 * then they move together.
 *
 * Over 600 lines: what is gathered, written and sorted in the end are the same
 * segments.
 *
 * src/store/store_gather.c
 *-------------------------------------------------------------------------
 */
#include "store/store_private.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

/* One segment being gathered; also, with borrowed values, a key to look up. */
typedef struct Segment
{
	uint32		hash;
	Datum	   *values;			/* layout->nsegment */
	bool	   *isnull;
	int			nrows;
	MinimalTuple *rows;			/* room for a batch; NULL until the first */
	bool		written;		/* a batch was: the bound is valid */
	bool		reversed;		/* rows arrive against the layout's order */
	bool		bound_isnull;
	Datum		bound;			/* first order key furthest ahead */
} Segment;

typedef struct SegmentEntry
{
	Segment    *segment;		/* hash key */
	uint32		hash;
	char		status;
} SegmentEntry;

/* How far ahead to prefetch gathered rows, and how much of each. */
#define PREFETCH_ROWS 8
#define PREFETCH_LINES 3

/* About what a segment takes, without its rows. */
#define SEGMENT_BYTES 300

static bool segment_equal(const StrataGather *gather, const Segment *a, const Segment *b);

#define SH_PREFIX segments
#define SH_ELEMENT_TYPE SegmentEntry
#define SH_KEY_TYPE Segment *
#define SH_KEY segment
#define SH_HASH_KEY(tb, key) ((key)->hash)
#define SH_EQUAL(tb, a, b) segment_equal((tb)->private_data, a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, a) ((a)->hash)
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

struct StrataGather
{
	MemoryContext mcxt;			/* owns everything here */
	MemoryContext rows_mcxt;	/* gathered tuples */
	Relation	rel;
	const StrataLayout *layout;
	StrataBatchWriter *writer;
	Tuplesortstate *sort;		/* late rows and leftovers; made when needed */
	TupleTableSlot *slot;		/* for minimal tuples */
	SortSupportData *order;		/* layout->norder */
	segments_hash *segments;
	Segment    *last;			/* the segment of the row before */
	Size		limit;			/* bytes for gathered rows */
	int			sort_kilobytes;
	Size		pending;		/* bytes of rows gathered now */
	Size		overhead;		/* bytes of segments, never given back */
	bool		overflowed;		/* memory ran out: all rows go to the sort */
	Segment		probe;
	int			few;			/* batches that would have fewer rows are not made */
	StrataRowPut put;			/* they go there */
	void	   *put_arg;
	/* scratch of write_segment, for one batch */
	Datum	   *keys;
	bool	   *keys_isnull;
	int		   *permutation;
};

static Form_pg_attribute
attribute(const StrataGather *gather, AttrNumber attno)
{
	return TupleDescAttr(RelationGetDescr(gather->rel), attno - 1);
}

static bool
segment_equal(const StrataGather *gather, const Segment *a, const Segment *b)
{
	if (a->hash != b->hash)
		return false;
	for (int i = 0; i < gather->layout->nsegment; i++)
	{
		Form_pg_attribute att = attribute(gather, gather->layout->segment[i]);

		if (a->isnull[i] != b->isnull[i])
			return false;
		if (!a->isnull[i] && !datum_image_eq(a->values[i], b->values[i], att->attbyval, att->attlen))
			return false;
	}
	return true;
}

static void
init_order(StrataGather *gather)
{
	const StrataLayout *layout = gather->layout;

	gather->order = palloc0(sizeof(SortSupportData) * Max(layout->norder, 1));
	for (int i = 0; i < layout->norder; i++)
	{
		Form_pg_attribute att = attribute(gather, layout->order[i].attno);
		TypeCacheEntry *type = lookup_type_cache(att->atttypid, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
		SortSupport sort = &gather->order[i];

		sort->ssup_cxt = gather->mcxt;
		sort->ssup_collation = att->attcollation;
		sort->ssup_nulls_first = layout->order[i].nulls_first;
		sort->ssup_attno = layout->order[i].attno;
		PrepareSortSupportFromOrderingOp(layout->order[i].desc ? type->gt_opr : type->lt_opr, sort);
	}
}

static MemoryContext
create_rows_context(MemoryContext parent)
{
	return GenerationContextCreate(parent, "strata gathered rows", 0, 64 * 1024, 64 * 1024);
}

/* See store_private.h. */
StrataGather *
strata_gather_begin(StrataBatchWriter *writer, const StrataLayout *layout, int kilobytes)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext, "strata gather",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	StrataGather *gather = palloc0(sizeof(StrataGather));
	int			nkeys = writer->batch_rows * Max(layout->norder, 1);

	gather->mcxt = mcxt;
	gather->limit = (Size) kilobytes * 1024 / 2;
	gather->sort_kilobytes = Max(kilobytes / 2, 64);
	gather->rows_mcxt = create_rows_context(mcxt);
	gather->rel = writer->store->rel;
	gather->layout = layout;
	gather->writer = writer;
	gather->slot = MakeSingleTupleTableSlot(RelationGetDescr(gather->rel), &TTSOpsMinimalTuple);
	init_order(gather);
	gather->segments = segments_create(mcxt, 256, gather);
	gather->probe.values = palloc(sizeof(Datum) * Max(layout->nsegment, 1));
	gather->probe.isnull = palloc(sizeof(bool) * Max(layout->nsegment, 1));
	gather->keys = palloc(sizeof(Datum) * nkeys);
	gather->keys_isnull = palloc(sizeof(bool) * nkeys);
	gather->permutation = palloc(sizeof(int) * writer->batch_rows);
	MemoryContextSwitchTo(old);
	return gather;
}

/* Without keys there is nothing to sort by. */
static bool
has_keys(const StrataGather *gather)
{
	return gather->layout->nsegment + gather->layout->norder > 0;
}

/* See store_private.h. */
void
strata_gather_keep_few(StrataGather *gather, int rows, StrataRowPut put, void *arg)
{
	gather->few = rows;
	gather->put = put;
	gather->put_arg = arg;
}

/* See store_private.h. */
void
strata_gather_sort_all(StrataGather *gather)
{
	gather->overflowed = has_keys(gather);
}

/* The final sort, by segment and order, in R's collations. */
static Tuplesortstate *
begin_sort(StrataGather *gather)
{
	const StrataLayout *layout = gather->layout;
	int			nkeys = layout->nsegment + layout->norder;
	AttrNumber *attnos = palloc(sizeof(AttrNumber) * nkeys);
	Oid		   *operators = palloc(sizeof(Oid) * nkeys);
	Oid		   *collations = palloc(sizeof(Oid) * nkeys);
	bool	   *nulls_first = palloc0(sizeof(bool) * nkeys);

	for (int i = 0; i < nkeys; i++)
	{
		bool		segment = i < layout->nsegment;
		const StrataOrderKey *key = segment ? NULL : &layout->order[i - layout->nsegment];
		Form_pg_attribute att = attribute(gather, segment ? layout->segment[i] : key->attno);
		TypeCacheEntry *type = lookup_type_cache(att->atttypid, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);

		attnos[i] = att->attnum;
		operators[i] = !segment && key->desc ? type->gt_opr : type->lt_opr;
		collations[i] = att->attcollation;
		nulls_first[i] = !segment && key->nulls_first;
	}
	return tuplesort_begin_heap(RelationGetDescr(gather->rel), nkeys, attnos, operators, collations,
								nulls_first, gather->sort_kilobytes, NULL, TUPLESORT_NONE);
}

/* Give a row to the final sort. */
static void
sort_row(StrataGather *gather, TupleTableSlot *slot)
{
	if (gather->sort == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(gather->mcxt);

		gather->sort = begin_sort(gather);
		MemoryContextSwitchTo(old);
	}
	tuplesort_puttupleslot(gather->sort, slot);
}

/* The segment of a row, made when it is new. */
static Segment *
find_segment(StrataGather *gather, TupleTableSlot *slot)
{
	const StrataLayout *layout = gather->layout;
	Segment    *probe = &gather->probe;
	SegmentEntry *entry;
	bool		found;

	probe->hash = 0;
	for (int i = 0; i < layout->nsegment; i++)
	{
		AttrNumber	attno = layout->segment[i];
		Form_pg_attribute att = attribute(gather, attno);
		uint32		h = 0;

		probe->values[i] = slot->tts_values[attno - 1];
		probe->isnull[i] = slot->tts_isnull[attno - 1];
		if (!probe->isnull[i])
			h = datum_image_hash(probe->values[i], att->attbyval, att->attlen);
		probe->hash = pg_rotate_left32(probe->hash, 5) ^ h;
	}
	if (gather->last != NULL && segment_equal(gather, gather->last, probe))
		return gather->last;
	entry = segments_insert_hash(gather->segments, probe, probe->hash, &found);
	if (!found)
	{
		MemoryContext old = MemoryContextSwitchTo(gather->mcxt);
		Segment    *segment = palloc0(sizeof(Segment));

		segment->hash = probe->hash;
		segment->values = palloc(sizeof(Datum) * Max(layout->nsegment, 1));
		segment->isnull = palloc(sizeof(bool) * Max(layout->nsegment, 1));
		for (int i = 0; i < layout->nsegment; i++)
		{
			Form_pg_attribute att = attribute(gather, layout->segment[i]);

			segment->isnull[i] = probe->isnull[i];
			if (!probe->isnull[i])
				segment->values[i] = att->attlen == -1 ?
					PointerGetDatum(PG_DETOAST_DATUM_COPY(probe->values[i])) :
					datumCopy(probe->values[i], att->attbyval, att->attlen);
		}
		MemoryContextSwitchTo(old);
		entry->segment = segment;
		gather->overhead += SEGMENT_BYTES;
	}
	gather->last = entry->segment;
	return entry->segment;
}

/* Does the row come before what its segment has written? */
static bool
is_late(StrataGather *gather, Segment *segment, TupleTableSlot *slot)
{
	int			c;
	AttrNumber	attno;

	if (!segment->written || gather->layout->norder == 0)
		return false;
	attno = gather->layout->order[0].attno;
	c = ApplySortComparator(slot->tts_values[attno - 1], slot->tts_isnull[attno - 1],
							segment->bound, segment->bound_isnull, &gather->order[0]);
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
											gather->keys_isnull[a * norder + k],
											gather->keys[b * norder + k],
											gather->keys_isnull[b * norder + k],
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
 * A segment's rows have come over a long time, and stand among those of others:
 * by now they are in no cache.  Most are this long at most.
 */
static inline void
prefetch(const Segment *segment, int row)
{
	if (row < segment->nrows)
		for (int line = 0; line < PREFETCH_LINES; line++)
			__builtin_prefetch((const char *) segment->rows[row] + line * 64);
}

static void
extract_keys(StrataGather *gather, Segment *segment)
{
	int			norder = gather->layout->norder;

	for (int row = 0; row < segment->nrows; row++)
	{
		prefetch(segment, row + PREFETCH_ROWS);
		ExecStoreMinimalTuple(segment->rows[row], gather->slot, false);
		/* the values point into the tuple, which stays */
		for (int k = 0; k < norder; k++)
			gather->keys[row * norder + k] = slot_getattr(gather->slot, gather->layout->order[k].attno,
														  &gather->keys_isnull[row * norder + k]);
	}
}

/*
 * Order of the gathered rows: permutation is filled.  Mostly they are in order
 * or exactly reversed.
 */
static void
order_rows(StrataGather *gather, Segment *segment)
{
	int			n = segment->nrows;
	bool		forward = true;
	bool		backward = true;

	for (int row = 1; row < n && (forward || backward); row++)
	{
		int			c = compare_rows(gather, row - 1, row);

		forward &= c <= 0;
		backward &= c > 0;
	}
	for (int row = 0; row < n; row++)
		gather->permutation[row] = forward || !backward ? row : n - 1 - row;
	if (!forward && !backward)
		qsort_arg(gather->permutation, n, sizeof(int), compare_permutation, gather);
	if (!segment->written)
		segment->reversed = !forward && compare_rows(gather, 0, n - 1) > 0;
}

/* Remember how far the segment has been written. */
static void
set_bound(StrataGather *gather, Segment *segment)
{
	int			row = gather->permutation[segment->reversed ? 0 : segment->nrows - 1];
	int			key = row * gather->layout->norder;
	Form_pg_attribute att = attribute(gather, gather->layout->order[0].attno);
	MemoryContext old = MemoryContextSwitchTo(gather->mcxt);

	if (segment->written && !att->attbyval && !segment->bound_isnull)
		pfree(DatumGetPointer(segment->bound));
	segment->bound_isnull = gather->keys_isnull[key];
	segment->bound = segment->bound_isnull ? (Datum) 0 :
		datumCopy(gather->keys[key], att->attbyval, att->attlen);
	segment->written = true;
	MemoryContextSwitchTo(old);
}

/* Free the gathered rows of a segment. */
static void
clear_segment(StrataGather *gather, Segment *segment)
{
	for (int row = 0; row < segment->nrows; row++)
	{
		gather->pending -= GetMemoryChunkSpace(segment->rows[row]);
		pfree(segment->rows[row]);
	}
	segment->nrows = 0;
}

/* A batch full: put it in order and write it. */
static void
write_segment(StrataGather *gather, Segment *segment)
{
	bool		ordered = gather->layout->norder > 0;

	if (ordered)
	{
		extract_keys(gather, segment);
		order_rows(gather, segment);
		set_bound(gather, segment);
	}
	for (int i = 0; i < segment->nrows; i++)
	{
		int			row = ordered ? gather->permutation[i] : i;

		ExecStoreMinimalTuple(segment->rows[row], gather->slot, false);
		slot_getallattrs(gather->slot);
		strata_batch_writer_add(gather->writer, gather->slot->tts_values, gather->slot->tts_isnull);
	}
	strata_batch_writer_flush(gather->writer);
	ExecClearTuple(gather->slot);
	clear_segment(gather, segment);
}

/* Everything gathered goes to the final sort. */
static void
spill(StrataGather *gather)
{
	segments_iterator it;
	SegmentEntry *entry;

	segments_start_iterate(gather->segments, &it);
	while ((entry = segments_iterate(gather->segments, &it)) != NULL)
	{
		Segment    *segment = entry->segment;

		for (int row = 0; row < segment->nrows; row++)
		{
			ExecStoreMinimalTuple(segment->rows[row], gather->slot, false);
			sort_row(gather, gather->slot);
		}
		ExecClearTuple(gather->slot);
		clear_segment(gather, segment);
	}
}

/* All gathered rows into new blocks, without the gaps that written ones left. */
static void
move_together(StrataGather *gather)
{
	MemoryContext rows_mcxt = create_rows_context(gather->mcxt);
	MemoryContext old = MemoryContextSwitchTo(rows_mcxt);
	segments_iterator it;
	SegmentEntry *entry;

	segments_start_iterate(gather->segments, &it);
	while ((entry = segments_iterate(gather->segments, &it)) != NULL)
		for (int row = 0; row < entry->segment->nrows; row++)
			entry->segment->rows[row] = heap_copy_minimal_tuple(entry->segment->rows[row]);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(gather->rows_mcxt);
	gather->rows_mcxt = rows_mcxt;
}

/* Is there no room for more rows? */
static bool
is_full(StrataGather *gather)
{
	if (gather->overhead + MemoryContextMemAllocated(gather->rows_mcxt, false) <= gather->limit)
		return false;
	if (gather->overhead + gather->pending > gather->limit / 2)
		return true;
	move_together(gather);
	return false;
}

/* See store_private.h. */
void
strata_gather_add(StrataGather *gather, TupleTableSlot *slot)
{
	Segment    *segment;
	MemoryContext old;

	if (gather->overflowed)
	{
		sort_row(gather, slot);
		return;
	}
	segment = find_segment(gather, slot);
	if (is_late(gather, segment, slot))
	{
		sort_row(gather, slot);
		return;
	}
	if (segment->rows == NULL)
	{
		segment->rows = MemoryContextAlloc(gather->mcxt, sizeof(MinimalTuple) * gather->writer->batch_rows);
		gather->overhead += sizeof(MinimalTuple) * gather->writer->batch_rows;
	}
	old = MemoryContextSwitchTo(gather->rows_mcxt);
	segment->rows[segment->nrows] = ExecCopySlotMinimalTuple(slot);
	MemoryContextSwitchTo(old);
	gather->pending += GetMemoryChunkSpace(segment->rows[segment->nrows]);
	segment->nrows++;
	if (segment->nrows >= gather->writer->batch_rows)
		write_segment(gather, segment);
	else if (is_full(gather))
	{
		if (has_keys(gather))
		{
			gather->overflowed = true;
			spill(gather);
		}
		else
			write_segment(gather, segment);
	}
}

/* What was sorted, into batches. */
static void
write_sorted(StrataGather *gather)
{
	StrataFewRows *few = NULL;
	int64		nwritten = 0;

	if (gather->put != NULL)
		few = strata_few_begin(gather->writer, gather->layout, gather->few, gather->put, gather->put_arg);
	else
		strata_progress_phase(STRATA_PHASE_SORTING);
	tuplesort_performsort(gather->sort);
	if (few == NULL)
		strata_progress_phase(STRATA_PHASE_WRITING);
	while (tuplesort_gettupleslot(gather->sort, true, false, gather->slot, NULL))
	{
		slot_getallattrs(gather->slot);
		if (few != NULL)
			strata_few_add(few, gather->slot);
		else
			strata_batch_writer_add(gather->writer, gather->slot->tts_values, gather->slot->tts_isnull);
		if ((++nwritten & 1023) == 0)
			CHECK_FOR_INTERRUPTS();
	}
	if (few != NULL)
		strata_few_end(few);
	ExecClearTuple(gather->slot);
	tuplesort_end(gather->sort);
}

/* A table with neither segments nor order has one segment, as it came. */
static void
end_unordered(StrataGather *gather)
{
	Segment    *segment = gather->last;

	if (segment == NULL || segment->nrows == 0)
		return;
	if (gather->put == NULL || segment->nrows >= gather->few)
	{
		write_segment(gather, segment);
		return;
	}
	for (int row = 0; row < segment->nrows; row++)
	{
		ExecStoreMinimalTuple(segment->rows[row], gather->slot, false);
		slot_getallattrs(gather->slot);
		gather->put(gather->slot, gather->put_arg);
	}
	ExecClearTuple(gather->slot);
}

/* See store_private.h. */
void
strata_gather_end(StrataGather *gather)
{
	if (!has_keys(gather))
		end_unordered(gather);
	else
		spill(gather);
	if (gather->sort != NULL)
		write_sorted(gather);
	ExecDropSingleTupleTableSlot(gather->slot);
	MemoryContextDelete(gather->mcxt);
}
