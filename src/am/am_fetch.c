/*-------------------------------------------------------------------------
 *
 * am_fetch.c
 *	  Rows by TID, of both halves.
 *
 * Only SnapshotAny follows a forwarding entry: under an MVCC snapshot that
 * sees the entry, the row's place is its heap TID, and the compressed TID is
 * nobody's any more.
 *
 * src/am/am_fetch.c
 *-------------------------------------------------------------------------
 */
#include "am/am_private.h"

#include "executor/executor.h"
#include "utils/snapmgr.h"

/* Fetch a compressed row into slot; false when the snapshot does not see it. */
static bool
fetch_compressed(Relation rel, ItemPointer tid, Snapshot snapshot, TupleTableSlot *slot)
{
	bool		any = snapshot->snapshot_type == SNAPSHOT_ANY;
	int64		row = strata_tid_row(tid);
	StrataStore *store = strata_store_open(rel, AccessShareLock);
	TupleTableSlot *batch;
	SnapshotData self;
	bool		found = false;

	if (store == NULL)
		return false;
	self.snapshot_type = SNAPSHOT_SELF;
	InitDirtySnapshot(self);
	self.snapshot_type = SNAPSHOT_SELF;
	batch = table_slot_create(store->batches, NULL);
	if (strata_store_find_batch(store, row, any ? &self : snapshot, batch))
	{
		ItemPointerData forwarded;

		if (strata_store_forwarded(store, batch, row, &forwarded))
			found = any && strata_heap_am->tuple_fetch_row_version(rel, &forwarded, snapshot, slot);
		else
		{
			StrataBatchReader *reader = strata_batch_reader_create(rel, store->schema);

			strata_batch_reader_load(reader, batch);
			strata_batch_store_row(rel, reader, (int) (row - reader->first_row), slot);
			/* by-reference values of a virtual slot lie in the reader */
			ExecMaterializeSlot(slot);
			strata_batch_reader_free(reader);
			found = true;
		}
	}
	ExecDropSingleTupleTableSlot(batch);
	strata_store_close(store, AccessShareLock);
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
 * The heap TID of compressed row *tid, if its batch is promoted for snapshot;
 * else *tid is left alone.
 */
static void
forward_tid(Relation rel, Snapshot snapshot, ItemPointer tid)
{
	StrataStore *store = strata_store_open(rel, AccessShareLock);
	TupleTableSlot *batch;

	if (store == NULL)
		return;
	batch = table_slot_create(store->batches, NULL);
	if (strata_store_find_batch(store, strata_tid_row(tid), snapshot, batch))
		(void) strata_store_forwarded(store, batch, strata_tid_row(tid), tid);
	ExecDropSingleTupleTableSlot(batch);
	strata_store_close(store, AccessShareLock);
}

/*
 * A compressed row has one version, its own, until it is promoted.  A cursor
 * opened before that still stands on the compressed TID (WHERE CURRENT OF).
 */
static void
tuple_get_latest_tid(TableScanDesc scan, ItemPointer tid)
{
	if (strata_tid_is_compressed(tid))
		forward_tid(scan->rs_rd, scan->rs_snapshot, tid);
	if (!strata_tid_is_compressed(tid))
		strata_heap_am->tuple_get_latest_tid(strata_inner_scan(scan), tid);
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
