/*-------------------------------------------------------------------------
 *
 * compress_segment.c
 *	  Rows on their way into batches, by segment, and the memory they take.
 *
 * Segments are told apart by the image of their values, as batches are.  Rows
 * are records (batch/batch_record.c) in pieces of a few, which go from segment
 * to segment.  Chunks of slow segments hold on to the blocks they share with
 * those of fast ones, long since freed: when that is too much they move
 * together.
 *
 * src/compress/compress_segment.c
 *-------------------------------------------------------------------------
 */
#include "compress/compress_segment_private.h"

#include "executor/executor.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"
#include "utils/typcache.h"

typedef struct SegmentEntry
{
	StrataSegment *segment;		/* hash key */
	uint32		hash;
	char		status;
} SegmentEntry;

/*
 * About how large a piece is, and how many records it has at most (as a power
 * of two).
 */
#define PIECE_BYTES 2048
#define PIECE_SHIFT 5

/* About what a segment takes, without its rows. */
#define SEGMENT_BYTES 300

static bool segment_equal(const StrataSegments *segments,
						  const StrataSegment *a, const StrataSegment *b);

#define SH_PREFIX segments
#define SH_ELEMENT_TYPE SegmentEntry
#define SH_KEY_TYPE StrataSegment *
#define SH_KEY segment
#define SH_HASH_KEY(tb, key) ((key)->hash)
#define SH_EQUAL(tb, a, b) segment_equal((tb)->private_data, a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(tb, a) ((a)->hash)
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

static Form_pg_attribute
attribute(const StrataSegments *segments, int i)
{
	return TupleDescAttr(segments->desc, segments->layout->segment[i] - 1);
}

/* datum_image_eq, at once where values are as they mostly are. */
static inline bool
image_equal(Datum a, Datum b, Form_pg_attribute att)
{
	struct varlena *x = (struct varlena *) DatumGetPointer(a);
	struct varlena *y = (struct varlena *) DatumGetPointer(b);

	if (att->attlen == -1 && !VARATT_IS_EXTERNAL(x) &&
		!VARATT_IS_COMPRESSED(x) && !VARATT_IS_EXTERNAL(y) &&
		!VARATT_IS_COMPRESSED(y))
		return VARSIZE_ANY_EXHDR(x) == VARSIZE_ANY_EXHDR(y) &&
			memcmp(VARDATA_ANY(x), VARDATA_ANY(y), VARSIZE_ANY_EXHDR(x)) == 0;
	return datum_image_eq(a, b, att->attbyval, att->attlen);
}

static bool
segment_equal(const StrataSegments *segments, const StrataSegment *a,
			  const StrataSegment *b)
{
	if (a->hash != b->hash)
		return false;
	for (int i = 0; i < segments->layout->nsegment; i++)
	{
		Form_pg_attribute att = attribute(segments, i);

		if (a->isnull[i] != b->isnull[i])
			return false;
		if (!a->isnull[i] && !image_equal(a->values[i], b->values[i], att))
			return false;
	}
	return true;
}

static MemoryContext
create_chunks_context(MemoryContext parent)
{
	return GenerationContextCreate(parent, "strata gathered values", 0,
								   64 * 1024, 64 * 1024);
}

/* See compress_segment_private.h. */
StrataSegments *
strata_segments_create(Relation rel, const StrataLayout *layout,
					   int batch_rows)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "strata segments",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	StrataSegments *segments = palloc0(sizeof(StrataSegments));

	segments->mcxt = mcxt;
	segments->chunks_mcxt = create_chunks_context(mcxt);
	segments->desc = RelationGetDescr(rel);
	segments->layout = layout;
	segments->batch_rows = batch_rows;
	segments->form = strata_record_form_create(segments->desc, layout);
	while (segments->piece_shift < PIECE_SHIFT &&
		   segments->form->size << segments->piece_shift < PIECE_BYTES)
		segments->piece_shift++;
	segments->slot = MakeSingleTupleTableSlot(segments->desc, &TTSOpsVirtual);
	/* dropped columns stay null */
	memset(segments->slot->tts_isnull, true, segments->desc->natts);
	segments->hash = segments_create(mcxt, 256, segments);
	segments->probe.values = palloc(sizeof(Datum) * Max(layout->nsegment, 1));
	segments->probe.isnull = palloc(sizeof(bool) * Max(layout->nsegment, 1));
	MemoryContextSwitchTo(old);
	return segments;
}

/* See compress_segment_private.h. */
void
strata_segments_free(StrataSegments *segments)
{
	ExecDropSingleTupleTableSlot(segments->slot);
	MemoryContextDelete(segments->mcxt);
}

/* What to look for. */
static StrataSegment *
get_probe(StrataSegments *segments, TupleTableSlot *slot)
{
	const StrataLayout *layout = segments->layout;
	StrataSegment *probe = &segments->probe;

	probe->hash = 0;
	for (int i = 0; i < layout->nsegment; i++)
	{
		AttrNumber	attno = layout->segment[i];
		Form_pg_attribute att = attribute(segments, i);
		uint32		h = 0;

		probe->values[i] = slot->tts_values[attno - 1];
		probe->isnull[i] = slot->tts_isnull[attno - 1];
		if (!probe->isnull[i])
			h = datum_image_hash(probe->values[i], att->attbyval, att->attlen);
		probe->hash = pg_rotate_left32(probe->hash, 5) ^ h;
	}
	return probe;
}

/* See compress_segment_private.h. */
bool
strata_segment_was_written(StrataSegments *segments, TupleTableSlot *slot)
{
	SegmentEntry *entry = segments_lookup(segments->hash,
										  get_probe(segments, slot));

	return entry != NULL && entry->segment->written;
}

/* See compress_segment_private.h. */
StrataSegment *
strata_segment_find(StrataSegments *segments, TupleTableSlot *slot)
{
	const StrataLayout *layout = segments->layout;
	StrataSegment *probe = get_probe(segments, slot);
	SegmentEntry *entry;
	bool		found;

	if (segments->last != NULL &&
		segment_equal(segments, segments->last, probe))
		return segments->last;
	entry = segments_insert_hash(segments->hash, probe, probe->hash, &found);
	if (!found)
	{
		MemoryContext old = MemoryContextSwitchTo(segments->mcxt);
		StrataSegment *segment = palloc0(sizeof(StrataSegment));

		segment->hash = probe->hash;
		segment->values = palloc(sizeof(Datum) * Max(layout->nsegment, 1));
		segment->isnull = palloc(sizeof(bool) * Max(layout->nsegment, 1));
		for (int i = 0; i < layout->nsegment; i++)
		{
			Form_pg_attribute att = attribute(segments, i);

			segment->isnull[i] = probe->isnull[i];
			if (!probe->isnull[i])
				segment->values[i] = att->attlen == -1 ?
					PointerGetDatum(PG_DETOAST_DATUM_COPY(probe->values[i])) :
					datumCopy(probe->values[i], att->attbyval, att->attlen);
		}
		MemoryContextSwitchTo(old);
		entry->segment = segment;
		segments->overhead += SEGMENT_BYTES;
	}
	segments->last = entry->segment;
	return entry->segment;
}

/* See compress_segment_private.h. */
void
strata_segment_clear(StrataSegments *segments, StrataSegment *segment,
					 const bool *keep)
{
	int			npieces;
	int			n = 0;

	npieces = (segment->nrows + (1 << segments->piece_shift) - 1) >>
		segments->piece_shift;
	for (int row = 0; row < segment->nrows; row++)
	{
		char	   *record = strata_segment_record(segments, segment, row);
		char	   *chunk = strata_record_chunk(segments->form, record);

		if (keep != NULL && keep[row])
		{
			/* the places before it are free by now */
			if (n < row)
				memcpy(strata_segment_record(segments, segment, n), record,
					   segments->form->size);
			n++;
		}
		else if (chunk != NULL)
		{
			segments->pending -= GetMemoryChunkSpace(chunk);
			pfree(chunk);
		}
	}
	for (int i =
		 (n + (1 << segments->piece_shift) - 1) >> segments->piece_shift;
		 i < npieces; i++)
	{
		StrataPiece piece = segment->pieces[i];

		*(StrataPiece *) piece = segments->free_pieces;
		segments->free_pieces = piece;
		segments->spare += (Size) segments->form->size
			<< segments->piece_shift;
	}
	segment->nrows = n;
}

/* See compress_segment_private.h. */
TupleTableSlot *
strata_segment_columns(StrataSegments *segments, const StrataSegment *segment)
{
	ExecClearTuple(segments->slot);
	for (int i = 0; i < segments->layout->nsegment; i++)
	{
		segments->slot->tts_values[segments->layout->segment[i] - 1] =
			segment->values[i];
		segments->slot->tts_isnull[segments->layout->segment[i] - 1] =
			segment->isnull[i];
	}
	return segments->slot;
}

/* See compress_segment_private.h. */
TupleTableSlot *
strata_segment_row(StrataSegments *segments, const StrataSegment *segment,
				   int row)
{
	(void) strata_segment_columns(segments, segment);
	strata_record_deform(segments->form,
						 strata_segment_record(segments, segment, row),
						 segments->slot->tts_values,
						 segments->slot->tts_isnull);
	return ExecStoreVirtualTuple(segments->slot);
}

/* All chunks into new blocks, without the gaps that written ones left. */
static void
move_together(StrataSegments *segments)
{
	MemoryContext chunks_mcxt = create_chunks_context(segments->mcxt);
	MemoryContext old = MemoryContextSwitchTo(chunks_mcxt);
	segments_iterator it;
	SegmentEntry *entry;

	segments_start_iterate(segments->hash, &it);
	while ((entry = segments_iterate(segments->hash, &it)) != NULL)
		for (int row = 0; row < entry->segment->nrows; row++)
			strata_record_move_chunk(segments->form,
									 strata_segment_record(segments,
														   entry->segment,
														   row));
	MemoryContextSwitchTo(old);
	MemoryContextDelete(segments->chunks_mcxt);
	segments->chunks_mcxt = chunks_mcxt;
}

/* See compress_segment_private.h. */
bool
strata_segments_exceed(StrataSegments *segments, Size limit)
{
	Size		records = segments->overhead - segments->spare;

	if (records + MemoryContextMemAllocated(segments->chunks_mcxt, false) <=
		limit)
		return false;
	/* moving must be worth it for some time */
	if (!segments->form->has_chunk ||
		records + segments->pending > limit / 4 * 3)
		return true;
	move_together(segments);
	return false;
}

/* The place for a segment's next record. */
static char *
next_record(StrataSegments *segments, StrataSegment *segment)
{
	int			shift = segments->piece_shift;
	Size		piece_bytes = (Size) segments->form->size << shift;

	if (segment->pieces == NULL)
	{
		Size		nbytes;

		nbytes = sizeof(StrataPiece) * ((segments->batch_rows >> shift) + 1);
		segment->pieces = MemoryContextAlloc(segments->mcxt, nbytes);
		segments->overhead += nbytes;
	}
	if ((segment->nrows & ((1 << shift) - 1)) == 0)
	{
		StrataPiece *piece = &segment->pieces[segment->nrows >> shift];

		*piece = segments->free_pieces;
		if (*piece != NULL)
		{
			segments->free_pieces = *(StrataPiece *) *piece;
			segments->spare -= piece_bytes;
		}
		else
		{
			*piece = MemoryContextAlloc(segments->mcxt, piece_bytes);
			segments->overhead += piece_bytes;
		}
	}
	return strata_segment_record(segments, segment, segment->nrows);
}

/* See compress_segment_private.h. */
void
strata_segment_add(StrataSegments *segments, StrataSegment *segment,
				   TupleTableSlot *slot)
{
	char	   *record = next_record(segments, segment);
	MemoryContext old = MemoryContextSwitchTo(segments->chunks_mcxt);
	char	   *chunk = strata_record_fill(segments->form, record,
										   slot->tts_values, slot->tts_isnull);

	MemoryContextSwitchTo(old);
	if (chunk != NULL)
		segments->pending += GetMemoryChunkSpace(chunk);
	segment->nrows++;
}

/* Segments in the order of their values, as the sort has them. */
static int
compare_segments(const void *a, const void *b, void *arg)
{
	const StrataSegment *x = *(StrataSegment *const *) a;
	const StrataSegment *y = *(StrataSegment *const *) b;
	SortSupport sort = arg;

	for (int i = 0; sort[i].comparator != NULL; i++)
	{
		int			c = ApplySortComparator(x->values[i], x->isnull[i],
											y->values[i], y->isnull[i],
											&sort[i]);

		if (c != 0)
			return c;
	}
	return (x->hash > y->hash) - (x->hash < y->hash);
}

/* See compress_segment_private.h. */
int
strata_segments_list(StrataSegments *segments, StrataSegment ***list)
{
	int			nsegment = segments->layout->nsegment;
	SortSupportData *sort = palloc0(sizeof(SortSupportData) * (nsegment + 1));
	segments_iterator it;
	SegmentEntry *entry;
	int			n = 0;

	for (int i = 0; i < nsegment; i++)
	{
		Form_pg_attribute att = attribute(segments, i);

		strata_sort_init(&sort[i], att->atttypid, att->attcollation, false,
						 false, CurrentMemoryContext);
	}
	*list = MemoryContextAllocHuge(segments->mcxt, sizeof(StrataSegment *) *
								   Max(segments->hash->members, 1));
	segments_start_iterate(segments->hash, &it);
	while ((entry = segments_iterate(segments->hash, &it)) != NULL)
		if (entry->segment->nrows > 0)
			(*list)[n++] = entry->segment;
	qsort_arg(*list, n, sizeof(StrataSegment *), compare_segments, sort);
	return n;
}
