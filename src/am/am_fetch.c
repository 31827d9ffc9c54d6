/*-------------------------------------------------------------------------
 *
 * am_fetch.c
 *	  Rows by TID, of both halves.
 *
 * Of fetches only those under SnapshotAny follow a forwarding entry: under an
 * MVCC snapshot that sees the entry, the row's place is its heap TID.  Who holds
 * a compressed TID from before asks for its latest version first.
 *
 * src/am/am_fetch.c
 *-------------------------------------------------------------------------
 */
#include "am/am_private.h"

#include "access/htup_details.h"
#include "executor/executor.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* The row with this number, of the batch in batch_slot, into slot. */
static void
decode_row(Relation rel, StrataStore *store, TupleTableSlot *batch, int64 row, TupleTableSlot *slot)
{
	StrataBatchReader *reader = strata_batch_reader_create(rel, store->schema);
	MemoryContext old;

	strata_batch_reader_load(reader, batch);
	/* the slot may keep the tuple that is made */
	old = MemoryContextSwitchTo(slot->tts_mcxt);
	strata_batch_store_row(rel, reader, (int) (row - reader->first_row), slot);
	MemoryContextSwitchTo(old);
	/* by-reference values of a virtual slot lie in the reader */
	ExecMaterializeSlot(slot);
	strata_batch_reader_free(reader);
}

/*
 * Under SnapshotAny: the row that once had this TID, be its batch promoted,
 * recompressed or decompressed by now, as heapam gives out dead versions.
 */
static bool
fetch_any(Relation rel, StrataStore *store, int64 row, TupleTableSlot *batch, TupleTableSlot *slot)
{
	SnapshotData self;
	ItemPointerData forwarded;

	self.snapshot_type = SNAPSHOT_SELF;
	if (strata_store_find_batch(store, row, &self, batch))
	{
		if (!strata_store_forwarded(store, batch, row, &forwarded))
		{
			decode_row(rel, store, batch, row, slot);
			return true;
		}
		if (strata_heap_am->tuple_fetch_row_version(rel, &forwarded, SnapshotAny, slot))
			return true;
	}
	if (!strata_store_find_any_batch(store, row, batch))
		return false;
	decode_row(rel, store, batch, row, slot);
	return true;
}

/* Fetch a compressed row into slot; false when the snapshot does not see it. */
static bool
fetch_compressed(Relation rel, ItemPointer tid, Snapshot snapshot, TupleTableSlot *slot)
{
	int64		row = strata_tid_row(tid);
	MemoryContext mcxt;
	MemoryContext old;
	StrataStore *store;
	TupleTableSlot *batch;
	ItemPointerData forwarded;
	bool		found = false;

	if (!OidIsValid(strata_companion_oid(rel)))
		return false;
	/* callers fetch row after row in a context that lives for the statement */
	mcxt = AllocSetContextCreate(CurrentMemoryContext, "strata fetch", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(mcxt);
	store = strata_store_open(rel, AccessShareLock);
	batch = table_slot_create(store->batches, NULL);
	if (snapshot->snapshot_type == SNAPSHOT_ANY)
		found = fetch_any(rel, store, row, batch, slot);
	else if (strata_store_find_batch(store, row, snapshot, batch) &&
			 !strata_store_forwarded(store, batch, row, &forwarded))
	{
		decode_row(rel, store, batch, row, slot);
		found = true;
	}
	ExecDropSingleTupleTableSlot(batch);
	strata_store_close(store, AccessShareLock);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mcxt);
	return found;
}

static bool
tuple_fetch_row_version(Relation rel, ItemPointer tid, Snapshot snapshot, TupleTableSlot *slot)
{
	if (strata_tid_is_compressed(tid))
		return fetch_compressed(rel, tid, snapshot, slot);
	return strata_heap_am->tuple_fetch_row_version(rel, tid, snapshot, slot);
}

static bool
tuple_tid_valid(TableScanDesc scan, ItemPointer tid)
{
	if (strata_tid_is_compressed(tid))
		return true;
	return strata_heap_am->tuple_tid_valid(strata_inner_scan(scan), tid);
}

/*
 * A row that compression moved has no link from its old place to its new one.
 * Who holds on to the old one (WHERE CURRENT OF) must not take it for deleted.
 */
static void
error_moved(Relation rel)
{
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("could not find a row of table \"%s\" again because it was compressed or decompressed concurrently",
					RelationGetRelationName(rel))));
}

/* A row store TID: its latest version, unless that was moved into a batch. */
static void
latest_heap_tid(StrataScanDesc *scan, ItemPointer tid)
{
	Relation	rel = scan->base.rs_rd;
	TupleTableSlot *slot;
	bool		moved = false;

	strata_heap_am->tuple_get_latest_tid(scan->heap, tid);
	if (!OidIsValid(strata_companion_oid_now(rel)))
		return;
	slot = table_slot_create(rel, NULL);
	if (!strata_heap_am->tuple_fetch_row_version(rel, tid, scan->base.rs_snapshot, slot) &&
		strata_heap_am->tuple_fetch_row_version(rel, tid, SnapshotAny, slot))
	{
		HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, false, NULL);

		moved = HeapTupleHeaderIndicatesMovedPartitions(tuple->t_data);
	}
	ExecDropSingleTupleTableSlot(slot);
	if (moved)
		error_moved(rel);
}

/*
 * A compressed row has one version, its own, until it is promoted; then the
 * versions are those of the row store.
 */
static void
tuple_get_latest_tid(TableScanDesc sscan, ItemPointer tid)
{
	StrataScanDesc *scan = (StrataScanDesc *) sscan;
	Relation	rel = sscan->rs_rd;
	StrataStore *store;
	TupleTableSlot *batch;
	ItemPointerData forwarded;
	bool		promoted = false;
	bool		moved = false;

	if (!strata_tid_is_compressed(tid))
	{
		latest_heap_tid(scan, tid);
		return;
	}
	store = strata_store_open(rel, AccessShareLock);
	if (store == NULL)
		return;
	batch = table_slot_create(store->batches, NULL);
	if (strata_store_find_batch(store, strata_tid_row(tid), sscan->rs_snapshot, batch))
		promoted = strata_store_forwarded(store, batch, strata_tid_row(tid), &forwarded);
	else
		moved = strata_store_find_any_batch(store, strata_tid_row(tid), batch);
	ExecDropSingleTupleTableSlot(batch);
	strata_store_close(store, AccessShareLock);
	if (moved)
		error_moved(rel);
	if (promoted)
	{
		*tid = forwarded;
		latest_heap_tid(scan, tid);
	}
}

/* A slot without a buffer holds a compressed row that its scan's snapshot saw. */
static bool
tuple_satisfies_snapshot(Relation rel, TupleTableSlot *slot, Snapshot snapshot)
{
	if (strata_tid_is_compressed(&slot->tts_tid))
		return true;
	return strata_heap_am->tuple_satisfies_snapshot(rel, slot, snapshot);
}

void
strata_am_fetch_init(TableAmRoutine *am)
{
	am->tuple_fetch_row_version = tuple_fetch_row_version;
	am->tuple_tid_valid = tuple_tid_valid;
	am->tuple_get_latest_tid = tuple_get_latest_tid;
	am->tuple_satisfies_snapshot = tuple_satisfies_snapshot;
}
