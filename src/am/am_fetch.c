/*-------------------------------------------------------------------------
 *
 * am_fetch.c
 *	  Rows by TID, of both halves.
 *
 * A compressed TID stands for the version of the row that is in the batch; a
 * snapshot that sees that the row was changed does not see that version.  Who
 * wants the present one asks for the latest TID first.
 *
 * src/am/am_fetch.c
 *-------------------------------------------------------------------------
 */
#include "am/am_private.h"
#include "change/change.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "executor/executor.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

static void
store_row(Relation rel, const StrataBatchRow *row, TupleTableSlot *slot)
{
	/* the slot may keep the tuple that is made */
	MemoryContext old = MemoryContextSwitchTo(slot->tts_mcxt);

	strata_batch_row_store(rel, row, slot);
	MemoryContextSwitchTo(old);
	/* by-reference values of a virtual slot lie in the reader */
	ExecMaterializeSlot(slot);
}

/*
 * Under SnapshotAny: the row that once had this TID, be it changed or its
 * batch recompressed or decompressed by now, as heapam gives out dead
 * versions.
 */
static bool
fetch_any(Relation rel, Relation batches, int64 row, TupleTableSlot *slot)
{
	StrataBatchRow found;

	/* who asks has just got the TID from us */
	if (!strata_batch_row_find_any(rel, batches, row, &found))
		strata_error_corrupt(rel, row, NULL,
							 "there is no batch with this row");
	store_row(rel, &found, slot);
	return true;
}

static int64
batch_first_row(TupleTableSlot *batch)
{
	bool		isnull;

	return DatumGetInt64(slot_getattr(batch, STRATA_BATCH_ATT_FIRST_ROW,
									  &isnull));
}

/*
 * Under a snapshot that looks: if the row is in a batch that it sees.  slot:
 * NULL, or gets the row.
 */
static bool
fetch_seen(Relation rel, int64 row, Snapshot snapshot, TupleTableSlot *slot)
{
	StrataStore *store = strata_store_open(rel, AccessShareLock);
	TupleTableSlot *batch = table_slot_create(store->batches, NULL);
	StrataEntry entry;
	bool		found = false;

	if (strata_batches_find(store->batches, row, snapshot, batch))
	{
		strata_entry_find(store->batches, batch_first_row(batch), row,
						  snapshot, &entry);
		found = strata_entry_is_in_batch(&entry);
	}
	if (found && slot != NULL)
	{
		StrataBatchReader *reader = strata_batch_reader_create(rel,
															   store->schema);
		StrataBatchRow decoded = {.reader = reader,.row = row};

		strata_batch_reader_load(reader, batch);
		decoded.first_row = reader->first_row;
		store_row(rel, &decoded, slot);
		strata_batch_reader_free(reader);
	}
	ExecDropSingleTupleTableSlot(batch);
	strata_store_close(store, AccessShareLock);
	return found;
}

/*
 * Fetch a compressed row into slot, if any; false when the snapshot does not
 * see it.
 */
static bool
fetch_compressed(Relation rel, ItemPointer tid, Snapshot snapshot,
				 TupleTableSlot *slot)
{
	int64		row = strata_tid_row(tid);
	MemoryContext mcxt;
	MemoryContext old;
	bool		found;

	if (!OidIsValid(strata_companion_oid(rel)))
		return false;
	/* callers fetch row after row in a context that lives for the statement */
	mcxt = AllocSetContextCreate(CurrentMemoryContext, "strata fetch",
								 ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(mcxt);
	if (snapshot->snapshot_type == SNAPSHOT_ANY)
	{
		Relation	batches = table_open(strata_companion_oid(rel),
										 AccessShareLock);

		found = fetch_any(rel, batches, row, slot);
		table_close(batches, AccessShareLock);
	}
	else
		found = fetch_seen(rel, row, snapshot, slot);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mcxt);
	return found;
}

static bool
tuple_fetch_row_version(Relation rel, ItemPointer tid, Snapshot snapshot,
						TupleTableSlot *slot)
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
error_fetched_moved(Relation rel)
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

	Assert(!strata_tid_is_compressed(tid)); /* am:M1 */
	strata_heap_am->tuple_get_latest_tid(scan->heap, tid);
	if (!OidIsValid(strata_companion_oid_now(rel)))
		return;
	slot = table_slot_create(rel, NULL);
	if (!strata_heap_am->tuple_fetch_row_version(rel, tid,
												 scan->base.rs_snapshot,
												 slot) &&
		strata_heap_am->tuple_fetch_row_version(rel, tid, SnapshotAny, slot))
	{
		HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, false, NULL);

		moved = HeapTupleHeaderIndicatesMovedPartitions(tuple->t_data);
	}
	ExecDropSingleTupleTableSlot(slot);
	if (moved)
		error_fetched_moved(rel);
}

/*
 * A compressed row has one version, its own, until it is updated or moved;
 * the versions that follow are in the row store.
 */
static void
tuple_get_latest_tid(TableScanDesc sscan, ItemPointer tid)
{
	StrataScanDesc *scan = (StrataScanDesc *) sscan;
	Relation	rel = sscan->rs_rd;
	int64		row = strata_tid_row(tid);
	StrataStore *store;
	TupleTableSlot *batch;
	StrataEntry entry;
	bool		went_on = false;
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
	if (strata_batches_find(store->batches, row, sscan->rs_snapshot, batch))
	{
		strata_entry_find(store->batches, batch_first_row(batch), row,
						  sscan->rs_snapshot, &entry);
		moved = entry.kind == STRATA_ENTRY_LOST;
		went_on = strata_store_next_version(rel, &entry, tid);
	}
	else
		moved = strata_batches_find(store->batches, row, SnapshotAny, batch) &&
			!strata_batch_is_swept(batch);
	ExecDropSingleTupleTableSlot(batch);
	strata_store_close(store, AccessShareLock);
	if (moved)
		error_fetched_moved(rel);
	if (went_on)
		latest_heap_tid(scan, tid);
}

/*
 * Upserts of a transaction with one snapshot ask; triggers of foreign keys do
 * with SnapshotSelf, of rows that they have just got.
 */
static bool
tuple_satisfies_snapshot(Relation rel, TupleTableSlot *slot, Snapshot snapshot)
{
	if (strata_tid_is_compressed(&slot->tts_tid))
		return !IsMVCCSnapshot(snapshot) ||
			fetch_compressed(rel, &slot->tts_tid, snapshot, NULL);
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
