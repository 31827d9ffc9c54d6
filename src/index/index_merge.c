/*-------------------------------------------------------------------------
 *
 * index_merge.c
 *	  Two runs made one; entries that lead nowhere stay behind.
 *
 * src/index/index_merge.c
 *-------------------------------------------------------------------------
 */
#include "index/index_private.h"

#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"

/* Places of batches, of which some are there. */
typedef struct Places
{
	int64		base;
	int64		n;
	uint8	   *bits;
} Places;

/*
 * The places in [from, to) that have a batch, to who sees also what is not
 * committed: what he does not see is deleted for all who see the new run.
 */
static void
find_places(StrataStore *store, int64 from, int64 to, int shift,
			Places *places)
{
	StrataIndexBatches batches;
	int64		first_row;

	places->base = from >> shift;
	places->n = to > from ? ((to - 1) >> shift) - places->base + 1 : 0;
	places->bits = MemoryContextAllocExtended(CurrentMemoryContext,
											  (Size) (places->n / 8 + 1),
											  MCXT_ALLOC_HUGE |
											  MCXT_ALLOC_ZERO);
	strata_index_batches_begin(&batches, store, from, NULL);
	while (strata_index_batches_next(&batches, &first_row) && first_row < to)
	{
		int64		i = (first_row >> shift) - places->base;

		places->bits[i / 8] |= (uint8) (1 << (i % 8));
	}
	strata_index_batches_end(&batches);
}

static bool
has_batch(const Places *places, int64 place)
{
	int64		i = place - places->base;

	return i >= 0 && i < places->n &&
		(places->bits[i / 8] & (1 << (i % 8))) != 0;
}

/* The next entry of a run, its place as the new run counts them. */
static bool
next_entry(StrataIndexCursor *cursor, int shift, StrataIndexEntry *entry)
{
	if (!strata_index_cursor_next(cursor, entry))
		return false;
	entry->place >>= shift;
	return true;
}

static bool
is_before(const StrataIndexEntry *a, const StrataIndexEntry *b)
{
	return a->hash != b->hash ? a->hash < b->hash : a->place <= b->place;
}

/* See index_private.h. */
void
strata_index_merge(StrataStore *store, Relation relation,
				   const StrataIndexRun *older, const StrataIndexRun *newer,
				   StrataIndexRun *result)
{
	const StrataIndexRun *runs[2] = {older, newer};
	StrataIndexCursor *cursors[2];
	StrataIndexEntry entries[2];
	StrataIndexEntry last = {0};
	bool		some = false;
	bool		there[2];
	int			shifts[2];
	Places		places;
	StrataIndexWriter *writer;

	Assert(older->to == newer->from && older->attno == newer->attno &&
		   older->function == newer->function); /* index:I2 */
	Assert(CheckRelationLockedByMe(relation, RowExclusiveLock,
								   true));	/* index:I4 */
	result->from = older->from;
	result->to = newer->to;
	result->shift = Max(older->shift, newer->shift);
	find_places(store, result->from, result->to, result->shift, &places);
	for (int i = 0; i < 2; i++)
	{
		cursors[i] = strata_index_cursor_begin(relation, SnapshotSelf,
											   runs[i]->number);
		shifts[i] = result->shift - runs[i]->shift;
		there[i] = next_entry(cursors[i], shifts[i], &entries[i]);
	}
	writer = strata_index_writer_begin(relation, result);
	while (there[0] || there[1])
	{
		int			i = !there[1] ||
		(there[0] && is_before(&entries[0], &entries[1])) ? 0 : 1;

		if (has_batch(&places, entries[i].place) &&
			(!some || last.hash != entries[i].hash ||
			 last.place != entries[i].place))
		{
			strata_index_writer_add(writer, entries[i].hash, entries[i].place);
			last = entries[i];
			some = true;
		}
		there[i] = next_entry(cursors[i], shifts[i], &entries[i]);
	}
	strata_index_writer_end(writer, result);
	for (int i = 0; i < 2; i++)
		strata_index_cursor_end(cursors[i]);
	pfree(places.bits);
}
