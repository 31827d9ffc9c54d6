/*-------------------------------------------------------------------------
 *
 * change_sweep.c
 *	  Whole batches deleted by one tuple: sweeping them.
 *
 * A DELETE that takes every row of a batch deletes the batch's row instead of
 * writing an entry per row.  It does so holding the batch's writing lock, and
 * only when no row of it has a live entry, be it of a transaction in progress,
 * but of rows that the statement sees deleted: then nobody is changing or has
 * locked a row of it, and whoever wants to next finds the batch deleted, or
 * being deleted, under the same lock.  Entries of deleted rows go along: the
 * batch tells the same of those rows from then on.  So do lock entries that
 * nobody holds, first, as somebody may be about to lock them: he looks again.
 *
 * A swept batch is marked in its t_ctid ("moved to another partition") to be
 * told from one that compression or decompression has replaced: of the one the
 * rows are deleted, of the other they are elsewhere.
 *
 * What is cached about batches may be too much, never too little; so a sweep
 * that does not last makes it void.
 *
 * Of a batch that loses some of its rows, those that nobody has to do with are
 * deleted together: one entry tells of them all, written under that lock.
 *
 * src/change/change_sweep.c
 *-------------------------------------------------------------------------
 */
#include "change/change_private.h"
#include "stat/stat.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/predicate.h"
#include "store/store_entry.h"

static bool swept = false;		/* in this transaction */

static void
forget_caches(void)
{
	strata_ranges_forget();
	strata_key_directories_forget();
}

static void
sweep_transaction_end(XactEvent event, void *arg)
{
	/* a prepared transaction may yet be rolled back, by anybody */
	if (swept && (event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE))
		forget_caches();
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
		event == XACT_EVENT_PREPARE)
		swept = false;
}

static void
sweep_subtransaction_end(SubXactEvent event, SubTransactionId id,
						 SubTransactionId parent, void *arg)
{
	if (swept && event == SUBXACT_EVENT_ABORT_SUB)
		forget_caches();
}

void
strata_sweep_init(void)
{
	RegisterXactCallback(sweep_transaction_end, NULL);
	RegisterSubXactCallback(sweep_subtransaction_end, NULL);
}

/*-------------------------------------------------------------------------
 * What became of a batch
 *-------------------------------------------------------------------------
 */

/*
 * Is the batch at tid, if it is one with this number, there to a dirty
 * snapshot?
 */
static bool
is_here(Relation batches, const ItemPointerData *tid, int64 row,
		TransactionId *deleter)
{
	SnapshotData dirty;
	HeapTupleData tuple;
	Buffer		buffer;
	bool		isnull;
	int64		first;
	bool		here;

	InitDirtySnapshot(dirty);
	tuple.t_self = *tid;
	if (!heap_fetch(batches, &dirty, &tuple, &buffer, false))
		return false;
	/* the place may have been used again */
	first = DatumGetInt64(heap_getattr(&tuple, STRATA_BATCH_ATT_FIRST_ROW,
									   RelationGetDescr(batches), &isnull));
	here = first >= 0 && first <= row &&
		row - first <
		DatumGetInt32(heap_getattr(&tuple, STRATA_BATCH_ATT_NROWS,
								   RelationGetDescr(batches), &isnull));
	ReleaseBuffer(buffer);
	*deleter = dirty.xmax;
	return here;
}

/* The same without knowing the place. */
static bool
find_here(Relation batches, int64 row, TupleTableSlot *slot,
		  TransactionId *deleter)
{
	SnapshotData dirty;
	bool		found;

	InitDirtySnapshot(dirty);
	found = strata_batches_find(batches, row, &dirty, slot);
	*deleter = dirty.xmax;
	return found;
}

/* See change.h. */
bool
strata_batch_is_swept(TupleTableSlot *slot)
{
	return HeapTupleHeaderIndicatesMovedPartitions(
												   ExecFetchSlotHeapTuple(slot, false, NULL)->t_data);
}

/* See change_private.h. */
void
strata_batch_find_fate(Relation batches, const ItemPointerData *tid, int64 row,
					   StrataBatchFate *fate)
{
	TupleTableSlot *slot;

	memset(fate, 0, sizeof(*fate));
	if (tid != NULL && is_here(batches, tid, row, &fate->xid))
	{
		fate->kind = TransactionIdIsValid(fate->xid) ? STRATA_BATCH_GOING :
			STRATA_BATCH_HERE;
		return;
	}
	slot = MakeSingleTupleTableSlot(RelationGetDescr(batches),
									&TTSOpsBufferHeapTuple);
	fate->kind = STRATA_BATCH_MOVED;
	if (find_here(batches, row, slot, &fate->xid))
		fate->kind = TransactionIdIsValid(fate->xid) ? STRATA_BATCH_GOING :
			STRATA_BATCH_HERE;
	else if (strata_batches_find(batches, row, SnapshotAny, slot) &&
			 strata_batch_is_swept(slot))
	{
		HeapTupleHeader header = ExecFetchSlotHeapTuple(slot, false,
														NULL)->t_data;

		fate->kind = STRATA_BATCH_SWEPT;
		fate->xid = HeapTupleHeaderGetUpdateXid(header);
		fate->ours = TransactionIdIsCurrentTransactionId(fate->xid);
		if (fate->ours)
			fate->cmax = HeapTupleHeaderGetCmax(header);
	}
	ExecDropSingleTupleTableSlot(slot);
}

/* See change_private.h. */
bool
strata_store_row_is_live(Relation rel, Relation batches, int64 first_row,
						 int64 row, const ItemPointerData *batch)
{
	StrataEntry entry;
	ItemPointerData tid;

	strata_tid_set(&tid, row);
	for (;;)
	{
		strata_entry_find_dirty(batches, first_row, row, &entry);
		if (entry.kind == STRATA_ENTRY_NONE)
		{
			StrataBatchFate fate;

			strata_batch_find_fate(batches, batch, row, &fate);
			if (fate.kind == STRATA_BATCH_SWEPT ||
				fate.kind == STRATA_BATCH_MOVED)
				return false;
			entry.wait = fate.xid;
		}
		if (!TransactionIdIsValid(entry.wait))
			return strata_entry_is_in_batch(&entry);
		XactLockTableWait(entry.wait, rel, &tid, XLTW_InsertIndex);
	}
}

/*-------------------------------------------------------------------------
 * Sweeping
 *-------------------------------------------------------------------------
 */

/* See change_private.h. */
void
strata_batch_writing_lock(Relation batches, int64 first_row, bool lock)
{
	ItemPointerData tid;

	strata_tid_set(&tid, first_row);
	if (lock)
		LockTuple(batches, &tid, ExclusiveLock);
	else
		UnlockTuple(batches, &tid, ExclusiveLock);
}

/* See change.h. */
bool
strata_store_can_sweep(Relation rel)
{
	/* decoding has to tell each row */
	return !RelationIsLogicallyLogged(rel);
}

/* Where some entries are. */
typedef struct EntryPlaces
{
	int			n;
	int			size;
	ItemPointerData *tids;
} EntryPlaces;

/* What the live entries of a batch tell. */
typedef struct Entries
{
	int			ndeleted;		/* rows deleted for good */
	bool		others;			/* rows that somebody has, or had, to do with */
	EntryPlaces deleted;		/* entries of deleted rows */
	EntryPlaces locks;			/* lock entries, held or not */
} Entries;

static void
note_place(EntryPlaces *places, const ItemPointerData *tid)
{
	if (places->n == places->size)
	{
		places->size = Max(8, 2 * places->size);
		places->tids = places->tids == NULL ?
			palloc(sizeof(ItemPointerData) * places->size) :
			repalloc(places->tids, sizeof(ItemPointerData) * places->size);
	}
	places->tids[places->n++] = *tid;
}

/*
 * Note what somebody has, or had, to do with a row of a batch that is to be
 * swept.
 */
static void
take_entry(Relation batches, const StrataEntry *entry, void *arg)
{
	Entries    *entries = arg;

	if (TransactionIdIsValid(entry->wait))
		entries->others = true;
	else if (entry->kind == STRATA_ENTRY_LOCK)
		note_place(&entries->locks, &entry->self);
	else if (entry->kind == STRATA_ENTRY_DELETED)
	{
		entries->ndeleted += strata_entry_count(entry);
		note_place(&entries->deleted, &entry->self);
	}
	else
		entries->others = true;
}

/*
 * Are the rows the snapshot sees deleted, ngone of them, the only ones with an
 * entry?
 */
static bool
read_entries(Relation batches, int64 first_row, int nrows, int ngone,
			 Entries *entries)
{
	SnapshotData dirty;

	InitDirtySnapshot(dirty);
	memset(entries, 0, sizeof(*entries));
	strata_entries_visit(batches, &dirty, first_row, first_row,
						 first_row + nrows - 1, take_entry, entries);
	return !entries->others && entries->ndeleted == ngone;
}

/*
 * Delete the lock entries; false: somebody holds one, or does something else
 * with it.
 */
static bool
delete_locks(Relation batches, const Entries *entries, CommandId cid)
{
	TM_FailureData tmfd;

	for (int i = 0; i < entries->locks.n; i++)
		if (heap_delete(batches, &entries->locks.tids[i], cid, InvalidSnapshot,
						false, &tmfd, false) != TM_Ok)
			return false;
	return true;
}

/* See change.h. */
bool
strata_store_sweep_batch(Relation rel, Relation batches,
						 const ItemPointerData *tid, int64 first_row,
						 int nrows, int ngone, CommandId cid)
{
	ItemPointerData self = *tid;
	TM_FailureData tmfd;
	Entries		entries;
	bool		done = false;

	Assert(CheckRelationLockedByMe(rel, RowExclusiveLock,
								   true));	/* store:S9 */
	Assert(strata_store_can_sweep(rel));	/* store:S5 */
	strata_batch_writing_lock(batches, first_row, true);
	if (read_entries(batches, first_row, nrows, ngone, &entries) &&
		delete_locks(batches, &entries, cid))
	{
		/* before: the batch must not be gone with the caches as they are */
		swept = true;
		done = strata_tuple_delete_as_moved(batches, &self, cid, false);
	}

	/*
	 * An entry that was made of a lock's may still carry our lock: only who
	 * may wait gets past his own.
	 */
	for (int i = 0; done && i < entries.deleted.n; i++)
		if (heap_delete(batches, &entries.deleted.tids[i], cid,
						InvalidSnapshot, true, &tmfd, false) != TM_Ok)
			elog(ERROR,
				 "entry of a deleted row in \"%s\" changed concurrently",
				 RelationGetRelationName(batches));
	strata_batch_writing_lock(batches, first_row, false);
	if (entries.deleted.tids != NULL)
		pfree(entries.deleted.tids);
	if (entries.locks.tids != NULL)
		pfree(entries.locks.tids);
	for (int i = ngone; done && i < nrows; i++)
		pgstat_count_heap_delete(rel);
	if (done)
		strata_stat_count(RelationGetRelid(rel), STRATA_STAT_ROWS_DELETED,
						  nrows - ngone);
	return done;
}

/*-------------------------------------------------------------------------
 * Some rows of a batch deleted together
 *-------------------------------------------------------------------------
 */

/* What the live entries of a batch tell of its rows, by position. */
typedef struct RowStates
{
	int64		first_row;
	int			nrows;
	bool	   *touched;		/* somebody has, or had, to do with it */
	ItemPointerData *locks;		/* of lock entries, held or not; else invalid */
} RowStates;

static void
note_state(Relation batches, const StrataEntry *entry, void *arg)
{
	RowStates  *states = arg;
	int64		first = entry->row - states->first_row;

	if (entry->kind == STRATA_ENTRY_LOCK && !TransactionIdIsValid(entry->wait))
		states->locks[first] = entry->self;
	else
		for (int64 row = first;
			 row < first + entry->span && row < states->nrows; row++)
			states->touched[row] |=
				strata_entry_is_about(entry, states->first_row + row);
}

/*
 * Is the row nobody's, to be deleted?  A lock entry that nobody holds goes, as
 * it does before a sweep.
 */
static bool
take_free_row(Relation batches, const RowStates *states, int row,
			  CommandId cid)
{
	TM_FailureData tmfd;

	if (states->touched[row])
		return false;
	return !ItemPointerIsValid(&states->locks[row]) ||
		heap_delete(batches, &states->locks[row], cid, InvalidSnapshot, false,
					&tmfd, false) == TM_Ok;
}

/* See change.h. */
int
strata_store_delete_rows(Relation rel, Relation batches,
						 const ItemPointerData *tid, int64 first_row,
						 uint16 *rows, int nrows, CommandId cid, bool told)
{
	int			last = rows[nrows - 1];
	ItemPointerData self = *tid;
	TransactionId deleter = InvalidTransactionId;
	SnapshotData dirty;
	RowStates	states = {first_row, last + 1};
	uint16	   *taken = palloc(sizeof(uint16) * nrows);
	int			ntaken = 0;
	int			nleft = 0;

	Assert(CheckRelationLockedByMe(rel, RowExclusiveLock,
								   true));	/* store:S9 */
	Assert(strata_store_can_sweep(rel));	/* store:S5 */
	CheckForSerializableConflictIn(batches, &self,
								   ItemPointerGetBlockNumber(&self));
	InitDirtySnapshot(dirty);
	states.touched = palloc0(sizeof(bool) * (last + 1));
	states.locks = palloc0(sizeof(ItemPointerData) * (last + 1));
	strata_batch_writing_lock(batches, first_row, true);
	/* the batch is being swept, or gone: they are told one by one */
	if (!is_here(batches, &self, first_row, &deleter) ||
		TransactionIdIsValid(deleter))
		nleft = nrows;
	else
	{
		strata_entries_visit(batches, &dirty, first_row, first_row + rows[0],
							 first_row + last, note_state, &states);
		for (int i = 0; i < nrows; i++)
		{
			if (take_free_row(batches, &states, rows[i], cid))
				taken[ntaken++] = rows[i];
			else
				rows[nleft++] = rows[i];
		}
		/* alone to make them, under the lock: store:S3 */
		if (ntaken > 0)
			strata_entries_insert_deleted(batches, first_row, taken, ntaken,
										  cid);
	}
	strata_batch_writing_lock(batches, first_row, false);
	if (told && ntaken > 0)
		strata_ahead_note(batches, first_row, taken,
						  ntaken, cid);
	for (int i = 0; i < ntaken; i++)
		pgstat_count_heap_delete(rel);
	if (ntaken > 0)
		strata_stat_count(RelationGetRelid(rel), STRATA_STAT_ROWS_DELETED,
						  ntaken);
	Assert(nleft + ntaken == nrows);	/* store:S2 */
	pfree(states.touched);
	pfree(states.locks);
	pfree(taken);
	return nleft;
}

/* See change.h. */
void
strata_store_track_rows(Relation rel, StrataBatchReader *reader,
						const uint16 *rows, int nrows)
{
	StrataTracked tracked;
	StrataColumn *col;

	if (likely(!strata_store_tracked(rel, &tracked)))
		return;
	col = strata_batch_reader_column(reader, tracked.attno);
	for (int i = 0; i < nrows; i++)
	{
		bool		isnull;
		Datum		value = strata_column_get(col, rows == NULL ? i : rows[i],
											  &isnull);

		strata_track_value(&tracked, value, isnull);
	}
}

/* See change.h. */
void
strata_store_delete_ahead(Relation rel, const int64 *rows, int n,
						  CommandId cid)
{
	Oid			companion = strata_companion_oid(rel);
	uint16	   *together;
	Relation	batches;

	if (!OidIsValid(companion))
		return;
	together = palloc(sizeof(uint16) * n);
	batches = table_open(companion, RowExclusiveLock);

	/*
	 * From the last on: who is told asks for the first rows first, and the
	 * newest note is in front.
	 */
	while (n > 0)
	{
		ItemPointerData tid;
		StrataBatchReader *reader = strata_cached_batch(rel, batches,
														rows[n - 1], &tid);
		int			from = n - 1;
		int			k = 0;

		while (reader != NULL && from > 0 &&
			   rows[from - 1] >= reader->first_row)
			from--;
		for (int i = from; i < n; i++)
			if (reader != NULL && (i == from || rows[i] != rows[i - 1]))
				together[k++] = (uint16) (rows[i] - reader->first_row);
		if (k > 1)
		{
			strata_store_track_rows(rel, reader, together, k);
			(void) strata_store_delete_rows(rel, batches, &tid,
											reader->first_row, together, k,
											cid, true);
		}
		n = from;
	}
	table_close(batches, NoLock);
	pfree(together);
}
