/*-------------------------------------------------------------------------
 *
 * store_gone.c
 *	  Which rows of batches are not there any more, to a snapshot.
 *
 * Usually there are no entries, or few: after a few batches all are read ahead
 * that a query may ask for.  Where there are many, each batch asks for its
 * own.
 *
 * src/store/store_gone.c
 *-------------------------------------------------------------------------
 */
#include "store/store_companion.h"
#include "store/store_private.h"
#include "pg/pg.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"

/* Entries read ahead of all batches; with more each batch asks. */
#define PRELOAD 512

/* So many batches are asked for one by one before entries are read ahead. */
#define ASKED_BEFORE_PRELOAD 4

struct StrataEntries
{
	Relation	batches;
	Snapshot	snapshot;
	bool		check;			/* visibility is to be tested here */
	Relation	index;			/* opened when first needed */
	IndexScanDesc scan;
	TupleTableSlot *slot;
	MemoryContext mcxt;
	bool		together;		/* there may be entries of several rows */
	int			asked;			/* batches asked for so far */
	bool		complete;		/* all, and all_together, is all there is */
	bool		loaded;
	int			nall;
	int64	   *all;			/* PRELOAD row numbers, greatest first */
	int			nall_together;
	StrataEntry *all_together;	/* the same of entries of several rows */
	uint16	   *rows;			/* what the last call gave out */
	int			rows_size;
	bool	   *mask;			/* of the rows asked about: gone, together */
	int			mask_size;
};

/* See store_entry.h. */
StrataEntries *
strata_entries_create(Relation batches, Snapshot snapshot)
{
	StrataEntries *entries = palloc0(sizeof(StrataEntries));

	entries->batches = batches;
	entries->snapshot = snapshot;
	entries->mcxt = CurrentMemoryContext;

	/*
	 * Serializable: the index pages read here must not be locked against all
	 * writers of other batches.  Reading the batch itself has left the lock
	 * that writers of its rows look for.
	 */
	entries->check = IsolationIsSerializable() && IsMVCCSnapshot(snapshot);
	return entries;
}

/* Begin with the entries whose keys are in [from, to]. */
static void
begin_range(StrataEntries *entries, int64 from, int64 to)
{
	ScanKeyData keys[2];

	if (entries->scan == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(entries->mcxt);

		entries->slot =
			MakeSingleTupleTableSlot(RelationGetDescr(entries->batches),
									 &TTSOpsBufferHeapTuple);
		entries->scan = strata_index_beginscan(entries->batches,
											   entries->index,
											   entries->check ?
											   SnapshotAny :
											   entries->snapshot,
											   2, 0);
		MemoryContextSwitchTo(old);
	}
	ScanKeyInit(&keys[0], 1, BTGreaterEqualStrategyNumber, F_INT8GE,
				Int64GetDatum(from));
	ScanKeyInit(&keys[1], 1, BTLessEqualStrategyNumber, F_INT8LE,
				Int64GetDatum(to));
	index_rescan(entries->scan, keys, 2, NULL, 0);
}

/*
 * The next entry of rows that have left their batch; *visited counts what was
 * looked at.
 */
static bool
next_gone(StrataEntries *entries, ScanDirection direction, StrataEntry *entry,
		  int *visited)
{
	while (strata_index_getnext_slot(entries->scan, direction, entries->slot))
	{
		(*visited)++;
		if (entries->check &&
			!table_tuple_satisfies_snapshot(entries->batches, entries->slot,
											entries->snapshot))
			continue;
		slot_getsomeattrs(entries->slot, STRATA_BATCH_FIXED_ATTS);
		strata_entry_parse(entries->batches, entries->slot, entry);
		if (entry->kind != STRATA_ENTRY_LOCK)
			return true;
	}
	return false;
}

/* Usually there are no entries: one look at the index tells. */
static void
look_for_any(StrataEntries *entries)
{
	int64		least;

	entries->index = index_open(strata_row_index_of(entries->batches),
								AccessShareLock);
	least = strata_companion_least_key(entries->batches, entries->index);
	if (least >= 0)
		entries->complete = true;
	entries->together = least < -STRATA_TOGETHER_KEYS;
}

/* Keep an entry of several rows. */
static void
keep_together(StrataEntries *entries, const StrataEntry *entry)
{
	StrataEntry *kept;

	if (entries->all_together == NULL)
		entries->all_together =
			MemoryContextAlloc(entries->mcxt, sizeof(StrataEntry) * PRELOAD);
	kept = &entries->all_together[entries->nall_together++];
	*kept = *entry;
	if (entry->bits != NULL)
	{
		Size		nbytes = (entry->span + 7) / 8;

		kept->bits = memcpy(MemoryContextAlloc(entries->mcxt, nbytes),
							entry->bits, nbytes);
	}
}

/* Usually there are few entries: learn them all. */
static void
preload(StrataEntries *entries)
{
	int			visited = 0;
	StrataEntry entry;
	bool		found = false;

	entries->loaded = true;
	entries->all = MemoryContextAlloc(entries->mcxt, sizeof(int64) * PRELOAD);
	begin_range(entries, PG_INT64_MIN, -1);
	while (visited < PRELOAD &&
		   (found = next_gone(entries, ForwardScanDirection, &entry,
							  &visited)))
	{
		if (entry.together)
			keep_together(entries, &entry);
		else
			entries->all[entries->nall++] = entry.row;
	}
	entries->complete = !found;
	ExecClearTuple(entries->slot);
}

/* Position in all of the least row number that is >= row, or -1. */
static int
find_preloaded(StrataEntries *entries, int64 row)
{
	int			low = 0;
	int			high = entries->nall;	/* all[low ..] < row */

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (entries->all[middle] >= row)
			low = middle + 1;
		else
			high = middle;
	}
	return low - 1;
}

static void
give_out(StrataEntries *entries, int n, int position)
{
	if (entries->rows_size <= n)
	{
		int			size = Max(64, entries->rows_size * 2);

		entries->rows = entries->rows == NULL ?
			MemoryContextAlloc(entries->mcxt, sizeof(uint16) * size) :
			repalloc(entries->rows, sizeof(uint16) * size);
		entries->rows_size = size;
	}
	Assert(n == 0 || entries->rows[n - 1] < position ||
		   !IsMVCCSnapshot(entries->snapshot)); /* store:S3 */
	entries->rows[n] = (uint16) position;
}

/* Rows [first, last] that have an entry of their own; how many. */
static int
find_single(StrataEntries *entries, int64 first, int64 last)
{
	int			visited = 0;
	int			n = 0;
	StrataEntry entry;

	if (entries->complete)
	{
		for (int i = find_preloaded(entries, first);
			 i >= 0 && entries->all[i] <= last; i--)
			give_out(entries, n++, (int) (entries->all[i] - first));
		return n;
	}
	/* ascending rows: descending keys */
	begin_range(entries, strata_entry_key(last), strata_entry_key(first));
	while (next_gone(entries, BackwardScanDirection, &entry, &visited))
		give_out(entries, n++, (int) (entry.row - first));
	ExecClearTuple(entries->slot);
	return n;
}

/* Rows [first, last] of an entry into the mask; true: there are some. */
static bool
mark_rows(StrataEntries *entries, const StrataEntry *entry, int64 first,
		  int64 last, bool marked)
{
	int64		from = Max(first, entry->row);
	int64		to = Min(last, entry->row + entry->span - 1);

	if (from > to)
		return marked;
	if (!marked)
	{
		int			n = (int) (last - first) + 1;

		if (entries->mask_size < n)
		{
			if (entries->mask != NULL)
				pfree(entries->mask);
			entries->mask = MemoryContextAlloc(entries->mcxt, n);
			entries->mask_size = n;
		}
		memset(entries->mask, 0, n);
	}
	if (entry->bits == NULL)
		memset(entries->mask + (from - first), true, to - from + 1);
	else
		for (int64 row = from; row <= to; row++)
			if (strata_entry_is_about(entry, row))
				entries->mask[row - first] = true;
	return true;
}

/*
 * Rows [first, last] of the batch that begins with row batch, which were
 * deleted together, into the mask; false: there are none.
 */
static bool
find_together(StrataEntries *entries, int64 batch, int64 first, int64 last)
{
	bool		marked = false;
	int			visited = 0;
	StrataEntry entry;

	if (entries->complete)
	{
		int			low = 0;
		int			high = entries->nall_together;	/* [high ..] <= last */

		while (low < high)
		{
			int			middle = (low + high) / 2;

			if (entries->all_together[middle].row > last)
				low = middle + 1;
			else
				high = middle;
		}
		for (int i = low; i < entries->nall_together &&
			 entries->all_together[i].row >= batch; i++)
			marked = mark_rows(entries, &entries->all_together[i], first, last,
							   marked);
		return marked;
	}
	begin_range(entries, strata_together_key(last),
				strata_together_key(batch));
	while (next_gone(entries, ForwardScanDirection, &entry, &visited))
		marked = mark_rows(entries, &entry, first, last, marked);
	ExecClearTuple(entries->slot);
	return marked;
}

/*
 * The rows of a batch, [first, first + nrows), that are gone, given out as
 * positions counted from first on; how many.
 */
static int
find_gone(StrataEntries *entries, int64 batch, int64 first, int nrows)
{
	int64		last = first + nrows - 1;
	int			n;

	/* the index scan lives longer than a caller's memory of one row */
	MemoryContext old = MemoryContextSwitchTo(entries->mcxt);

	if (entries->index == NULL)
		look_for_any(entries);
	/* who wants a few batches reads no entries of others */
	if (!entries->complete && !entries->loaded &&
		entries->asked++ >= ASKED_BEFORE_PRELOAD)
		preload(entries);
	n = find_single(entries, first, last);
	if (entries->together && find_together(entries, batch, first, last))
	{
		for (int i = 0; i < n; i++)
			entries->mask[entries->rows[i]] = true;
		n = 0;
		for (int i = 0; i < nrows; i++)
			if (entries->mask[i])
				give_out(entries, n++, i);
	}
	MemoryContextSwitchTo(old);
	return n;
}

/* See store_entry.h. */
int
strata_entries_find(StrataEntries *entries, int64 first_row, int nrows)
{
	return find_gone(entries, first_row, first_row, nrows);
}

/* See store_entry.h. */
void
strata_entries_apply_between(StrataEntries *entries, StrataBatchReader *reader,
							 int from, int to)
{
	Assert(0 <= from && from <= to && to <= reader->nrows); /* store:S2 */
	reader->ngone = find_gone(entries, reader->first_row,
							  reader->first_row + from, to - from);
	reader->gone = entries->rows;
	for (int i = 0; i < reader->ngone && from > 0; i++)
		entries->rows[i] += (uint16) from;
}

/* See store_entry.h. */
void
strata_entries_apply(StrataEntries *entries, StrataBatchReader *reader)
{
	strata_entries_apply_between(entries, reader, 0, reader->nrows);
}

/* See store_entry.h. */
void
strata_entries_free(StrataEntries *entries)
{
	if (entries->scan != NULL)
	{
		index_endscan(entries->scan);
		ExecDropSingleTupleTableSlot(entries->slot);
	}
	if (entries->index != NULL)
		index_close(entries->index, AccessShareLock);
	if (entries->all != NULL)
		pfree(entries->all);
	for (int i = 0; i < entries->nall_together; i++)
		if (entries->all_together[i].bits != NULL)
			pfree(unconstify(uint8 *, entries->all_together[i].bits));
	if (entries->all_together != NULL)
		pfree(entries->all_together);
	if (entries->mask != NULL)
		pfree(entries->mask);
	if (entries->rows != NULL)
		pfree(entries->rows);
	pfree(entries);
}
