/*-------------------------------------------------------------------------
 *
 * store_change.c
 *	  Locking, updating and deleting one compressed row.
 *
 * The row's entry (store_entry.c) does for it what a tuple header does for a
 * row of the row store:
 *
 *	lock	a lock entry is made, if there is none, and locked by heapam as any
 *			tuple: modes, queues, NOWAIT, SKIP LOCKED, multixacts are its own
 *	update	the new version goes into the row store, an "updated" entry names it
 *	delete	a "deleted" entry
 *	move	a copy goes into the row store, unchanged, with index entries: where
 *			heapam or an index must find the row itself (logical decoding, unique
 *			keys); what follows is heapam's
 *
 * Two makers of the same row's entry meet in a heavyweight lock on the batch's
 * first row number, held for the instant of writing; whoever finds an entry of
 * a transaction in progress waits for its end, as for a tuple.
 *
 * Command ids: entries carry the id of the command that changed the row, so
 * "already changed by this command" is told as heapam tells it.  Acting on a
 * moved row must be done as strata_promoted_cid says.
 *
 * src/store/store_change.c
 *-------------------------------------------------------------------------
 */
#include "store/store_private.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/predicate.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/*-------------------------------------------------------------------------
 * Claiming a row
 *-------------------------------------------------------------------------
 */

/* A compressed row somebody wants to lock or change. */
typedef struct Claim
{
	Relation	rel;
	Relation	batches;
	StrataBatchReader *reader;	/* its batch, loaded; NULL: it is gone */
	ItemPointerData batch_tid;
	int64		row;
	StrataEntry entry;			/* NONE, LOCK: the row is in its batch */
	bool		writing;		/* we hold the heavyweight lock */
} Claim;

/*
 * The row was compressed when the caller's snapshot was taken, and its batch is
 * gone: recompressed, decompressed, rewritten.  It is not deleted, it is
 * elsewhere, and nothing says where.
 */
static void
error_moved(Relation rel)
{
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("could not serialize access due to concurrent compression or decompression of table \"%s\"",
					RelationGetRelationName(rel))));
}

static void
error_locked(Relation rel)
{
	ereport(ERROR,
			(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
			 errmsg("could not obtain lock on row in relation \"%s\"", RelationGetRelationName(rel))));
}

static void
error_concurrent_update(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("could not serialize access due to concurrent update")));
}

static void
begin_claim(Claim *claim, Relation rel, int64 row)
{
	Oid			companion = strata_companion_oid(rel);

	memset(claim, 0, sizeof(*claim));
	claim->rel = rel;
	claim->row = row;
	if (!OidIsValid(companion))
		error_moved(rel);
	claim->batches = table_open(companion, RowExclusiveLock);
	claim->reader = strata_cached_batch(rel, claim->batches, row, &claim->batch_tid);
}

static void
end_claim(Claim *claim)
{
	table_close(claim->batches, NoLock);
}

static void
begin_writing(Claim *claim)
{
	strata_batch_writing_lock(claim->batches, claim->reader->first_row, true);
	claim->writing = true;
}

static void
end_writing(Claim *claim)
{
	if (claim->writing)
		strata_batch_writing_lock(claim->batches, claim->reader->first_row, false);
	claim->writing = false;
}

/* Wait for the transaction that is making the entry, or sweeping; TM_Ok: look again. */
static TM_Result
wait_for_maker(Claim *claim, LockWaitPolicy policy)
{
	ItemPointerData tid;

	strata_tid_set(&tid, claim->row);
	switch (policy)
	{
		case LockWaitBlock:
			XactLockTableWait(claim->entry.wait, claim->rel, &tid, XLTW_Update);
			return TM_Ok;
		case LockWaitError:
			if (!strata_conditional_xact_wait(claim->entry.wait))
				error_locked(claim->rel);
			return TM_Ok;
		default:
			return strata_conditional_xact_wait(claim->entry.wait) ? TM_Ok : TM_WouldBlock;
	}
}

/*
 * Lock the row's lock entry.  *again: somebody has changed the row meanwhile.
 */
static TM_Result
lock_entry(Claim *claim, LockTupleMode mode, LockWaitPolicy policy, bool *again)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(claim->batches),
													&TTSOpsBufferHeapTuple);
	TM_FailureData tmfd;
	TM_Result	result;

	/* heapam's error for NOWAIT would name the companion */
	result = table_tuple_lock(claim->batches, &claim->entry.self, SnapshotAny, slot,
							  GetCurrentCommandId(true), mode,
							  policy == LockWaitError ? LockWaitSkip : policy, 0, &tmfd);
	ExecDropSingleTupleTableSlot(slot);
	if (result == TM_WouldBlock && policy == LockWaitError)
		error_locked(claim->rel);
	*again = result == TM_Updated || result == TM_Deleted;
	if (result != TM_Ok && result != TM_WouldBlock && !*again)
		elog(ERROR, "unexpected result %d of locking a row entry", result);
	return result;
}

/*
 * The row is not where it was any more: as heapam would tell it to a command
 * with this id.
 */
static TM_Result
tell_changed(Claim *claim, CommandId cid, TM_FailureData *tmfd)
{
	StrataEntry *entry = &claim->entry;

	if (entry->kind == STRATA_ENTRY_LOST)
		error_moved(claim->rel);
	tmfd->xmax = entry->xmin;
	tmfd->cmax = InvalidCommandId;
	if (entry->kind == STRATA_ENTRY_UPDATED)
		tmfd->ctid = entry->tid;
	else
		strata_tid_set(&tmfd->ctid, claim->row);
	if (entry->ours)
	{
		tmfd->cmax = entry->cmin;
		return entry->cmin >= cid ? TM_SelfModified : TM_Invisible;
	}
	return entry->kind == STRATA_ENTRY_UPDATED ? TM_Updated : TM_Deleted;
}

/* Was the batch made by this transaction, whose failure would take it back? */
static bool
batch_is_ours(Claim *claim)
{
	HeapTuple	tuple = ((BufferHeapTupleTableSlot *) claim->reader->batch_slot)->base.tuple;

	return !HeapTupleHeaderXminFrozen(tuple->t_data) &&
		TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetRawXmin(tuple->t_data));
}

/*
 * The row's batch is gone.  With its rows: as heapam would tell it to a command
 * with this id.
 */
static TM_Result
tell_swept(Claim *claim, const StrataBatchFate *fate, CommandId cid, TM_FailureData *tmfd)
{
	if (fate->kind != STRATA_BATCH_SWEPT)
		error_moved(claim->rel);
	tmfd->xmax = fate->xid;
	tmfd->cmax = InvalidCommandId;
	strata_tid_set(&tmfd->ctid, claim->row);
	if (fate->ours)
	{
		tmfd->cmax = fate->cmax;
		return fate->cmax >= cid ? TM_SelfModified : TM_Invisible;
	}
	return TM_Deleted;
}

/*
 * Claim the row in the given mode, as table_tuple_lock would.  TM_Ok with
 *	- entry NONE: nobody touched it; we are writing, the caller makes the entry
 *	  (not with make_lock_entry)
 *	- entry LOCK: it is locked in that mode
 *	- entry MOVED: the row is in the row store
 */
static TM_Result
claim_row(Claim *claim, LockTupleMode mode, LockWaitPolicy policy, bool make_lock_entry,
		  CommandId cid, TM_FailureData *tmfd)
{
	StrataBatchFate fate;

	if (claim->reader == NULL)
	{
		strata_batch_find_fate(claim->batches, NULL, claim->row, &fate);
		return tell_swept(claim, &fate, cid, tmfd);
	}
	for (;;)
	{
		TM_Result	result;
		bool		again;

		CHECK_FOR_INTERRUPTS();
		/* nobody touched most rows: then we write next */
		if (!claim->writing)
			begin_writing(claim);
		strata_entry_find_dirty(claim->batches, claim->row, &claim->entry);
		if (claim->entry.kind == STRATA_ENTRY_NONE)
		{
			/* who sweeps has seen that there is no entry */
			strata_batch_find_fate(claim->batches, &claim->batch_tid, claim->row, &fate);
			if (fate.kind == STRATA_BATCH_SWEPT || fate.kind == STRATA_BATCH_MOVED)
			{
				end_writing(claim);
				return tell_swept(claim, &fate, cid, tmfd);
			}
			claim->entry.wait = fate.xid;
		}
		if (TransactionIdIsValid(claim->entry.wait))
		{
			end_writing(claim);
			if ((result = wait_for_maker(claim, policy)) != TM_Ok)
				return result;
			continue;
		}
		switch (claim->entry.kind)
		{
			case STRATA_ENTRY_NONE:
				if (!make_lock_entry)
					return TM_Ok;
				/* the command that makes it must be able to lock it */
				(void) GetCurrentCommandId(true);
				strata_entry_insert(claim->batches, claim->row, STRATA_ENTRY_LOCK, NULL,
									FirstCommandId, !batch_is_ours(claim));
				continue;
			case STRATA_ENTRY_LOCK:
				end_writing(claim);
				result = lock_entry(claim, mode, policy, &again);
				if (again)
					continue;
				return result;
			case STRATA_ENTRY_MOVED:
				end_writing(claim);
				return TM_Ok;
			default:
				end_writing(claim);
				return tell_changed(claim, cid, tmfd);
		}
	}
}

/* Write down what became of the claimed row, which is in its batch. */
static void
write_entry(Claim *claim, StrataEntryKind kind, const ItemPointerData *tid, CommandId cid)
{
	if (claim->entry.kind == STRATA_ENTRY_NONE)
		strata_entry_insert(claim->batches, claim->row, kind, tid, cid, false);
	else
		strata_entry_replace(claim->batches, &claim->entry, kind, tid, cid);
	end_writing(claim);
}

/* Serializable transactions that have read the batch conflict with its writers. */
static void
check_readers(Claim *claim)
{
	if (claim->reader == NULL)
		return;
	CheckForSerializableConflictIn(claim->batches, &claim->batch_tid,
								   ItemPointerGetBlockNumber(&claim->batch_tid));
}

/*
 * Does the snapshot of a referential action see the row?  Only such actions of
 * REPEATABLE READ transactions ask.
 */
static bool
crosscheck_sees(Claim *claim, Snapshot crosscheck)
{
	StrataStore *store;
	TupleTableSlot *slot;
	StrataEntry entry;
	bool		seen;

	if (crosscheck == InvalidSnapshot)
		return true;
	store = strata_store_open(claim->rel, AccessShareLock);
	slot = table_slot_create(store->batches, NULL);
	seen = strata_store_find_batch(store, claim->row, crosscheck, slot);
	ExecDropSingleTupleTableSlot(slot);
	strata_store_close(store, NoLock);
	if (!seen)
		return false;
	strata_entry_find(claim->batches, claim->row, crosscheck, &entry);
	return strata_entry_is_in_batch(&entry);
}

/*-------------------------------------------------------------------------
 * Moving
 *-------------------------------------------------------------------------
 */

/*
 * A row that somebody moved since our transaction's snapshot was taken is in
 * its batch to that snapshot, whatever we do to it in the row store: a changed
 * row would be seen twice.  So it cannot be changed.
 */
static void
check_move_seen(Claim *claim)
{
	StrataEntry entry;

	if (!IsolationUsesXactSnapshot() || claim->entry.ours)
		return;
	strata_entry_find(claim->batches, claim->row, GetTransactionSnapshot(), &entry);
	if (strata_entry_is_in_batch(&entry))
		error_concurrent_update();
}

/* Copy the claimed row, which is in its batch, into the row store. */
static void
move_claimed(Claim *claim, ItemPointer tid)
{
	StrataRowWriter *writer = strata_row_writer_begin(claim->rel);
	CommandId	cid = GetCurrentCommandId(true);

	strata_batch_store_row(claim->rel, claim->reader, (int) (claim->row - claim->reader->first_row),
						   writer->slot);
	strata_row_writer_put(writer);
	*tid = writer->slot->tts_tid;
	/* who has read the batch must conflict with writers of the moved row from now on */
	TransferPredicateLocksToHeapRelation(claim->batches);
	write_entry(claim, STRATA_ENTRY_MOVED, tid, cid);
	/* last: index expressions and unique checks may do anything, and wait */
	strata_row_writer_index(writer);
	strata_row_writer_end(writer);
	strata_remember_moved(claim->rel, tid, cid);
	CommandCounterIncrement();
}

/*
 * See store.h.  Memory: what is allocated here lives in the caller's context.
 */
TM_Result
strata_store_move_row(Relation rel, int64 row, LockWaitPolicy policy, CommandId cid,
					  ItemPointer target, TM_FailureData *tmfd)
{
	Claim		claim;
	TM_Result	result;

	memset(tmfd, 0, sizeof(*tmfd));
	begin_claim(&claim, rel, row);
	result = claim_row(&claim, LockTupleExclusive, policy, false, cid, tmfd);
	if (result == TM_Ok)
	{
		if (strata_entry_is_in_batch(&claim.entry))
			move_claimed(&claim, target);
		else
		{
			check_move_seen(&claim);
			*target = claim.entry.tid;
		}
	}
	end_claim(&claim);
	return result;
}

/*-------------------------------------------------------------------------
 * What the access method asks for
 *-------------------------------------------------------------------------
 */

/* Are changes of rel's rows to be decoded?  Then heapam must make them. */
static bool
needs_move(Relation rel)
{
	return RelationIsLogicallyLogged(rel);
}

/*
 * Claim the row for a change.  TM_Ok with *target valid: it is in the row
 * store, there; else it is in its batch, ours to change.
 */
static TM_Result
claim_for_change(Claim *claim, LockWaitPolicy policy, bool make_lock_entry, CommandId cid,
				 Snapshot crosscheck, ItemPointer target, TM_FailureData *tmfd)
{
	TM_Result	result;

	ItemPointerSetInvalid(target);
	check_readers(claim);
	result = claim_row(claim, LockTupleExclusive, policy, make_lock_entry, cid, tmfd);
	if (result != TM_Ok)
		return result;
	if (!strata_entry_is_in_batch(&claim->entry))
	{
		check_move_seen(claim);
		*target = claim->entry.tid;
	}
	else if (!crosscheck_sees(claim, crosscheck))
	{
		end_writing(claim);
		strata_tid_set(&tmfd->ctid, claim->row);
		return TM_Updated;
	}
	return TM_Ok;
}

/* See store.h. */
TM_Result
strata_store_delete_row(Relation rel, int64 row, CommandId cid, Snapshot crosscheck,
						LockWaitPolicy policy, bool changing_part, ItemPointer target,
						TM_FailureData *tmfd)
{
	Claim		claim;
	TM_Result	result;

	if (needs_move(rel))
		return strata_store_move_row(rel, row, policy, cid, target, tmfd);
	memset(tmfd, 0, sizeof(*tmfd));
	begin_claim(&claim, rel, row);
	result = claim_for_change(&claim, policy, false, cid, crosscheck, target, tmfd);
	if (result == TM_Ok && !ItemPointerIsValid(target))
	{
		ItemPointerData elsewhere;

		ItemPointerSetMovedPartitions(&elsewhere);
		write_entry(&claim, changing_part ? STRATA_ENTRY_UPDATED : STRATA_ENTRY_DELETED,
					changing_part ? &elsewhere : NULL, cid);
		pgstat_count_heap_delete(rel);
	}
	end_claim(&claim);
	return result;
}

/* See store.h. */
TM_Result
strata_store_update_row(Relation rel, int64 row, TupleTableSlot *slot, CommandId cid,
						Snapshot crosscheck, LockWaitPolicy policy, ItemPointer target,
						TM_FailureData *tmfd, LockTupleMode *lockmode)
{
	Claim		claim;
	TM_Result	result;
	bool		key_changes;

	if (needs_move(rel))
		return strata_store_move_row(rel, row, policy, cid, target, tmfd);
	memset(tmfd, 0, sizeof(*tmfd));
	begin_claim(&claim, rel, row);
	key_changes = claim.reader != NULL &&
		strata_unique_key_changes(rel, claim.reader, (int) (row - claim.reader->first_row), slot);
	*lockmode = key_changes ? LockTupleExclusive : LockTupleNoKeyExclusive;
	/* a look for equal keys may wait: not while writing */
	result = claim_for_change(&claim, policy, key_changes, cid, crosscheck, target, tmfd);
	if (result == TM_Ok && !ItemPointerIsValid(target))
	{
		bool		shouldFree;
		HeapTuple	tuple;

		if (key_changes)
			strata_store_check_unique(rel, slot, row, STRATA_DUPLICATE_MOVE);
		tuple = ExecFetchSlotHeapTuple(slot, true, &shouldFree);
		slot->tts_tableOid = RelationGetRelid(rel);
		tuple->t_tableOid = slot->tts_tableOid;
		heap_insert(rel, tuple, cid, 0, NULL);
		ItemPointerCopy(&tuple->t_self, &slot->tts_tid);
		if (shouldFree)
			pfree(tuple);
		write_entry(&claim, STRATA_ENTRY_UPDATED, &slot->tts_tid, cid);
		/* an update, not an insert */
		pgstat_count_heap_insert(rel, -1);
		pgstat_count_heap_update(rel, false);
	}
	end_claim(&claim);
	return result;
}

/* Is the row at tid still the one that transaction xid put there? */
static bool
is_version_of(Relation rel, const ItemPointerData *tid, TransactionId xid)
{
	HeapTupleData tuple;
	Buffer		buffer;
	bool		same;

	tuple.t_self = *tid;
	if (!heap_fetch(rel, SnapshotAny, &tuple, &buffer, false))
		return false;
	same = TransactionIdEquals(HeapTupleHeaderGetRawXmin(tuple.t_data), xid);
	ReleaseBuffer(buffer);
	return same;
}

/* See store.h. */
bool
strata_store_next_version(Relation rel, const StrataEntry *entry, ItemPointer tid)
{
	if (entry->kind != STRATA_ENTRY_UPDATED && entry->kind != STRATA_ENTRY_MOVED)
		return false;
	if (!is_version_of(rel, &entry->tid, entry->xmin))
		return false;
	*tid = entry->tid;
	return true;
}

/* See store.h. */
TM_Result
strata_store_lock_row(Relation rel, int64 row, TupleTableSlot *slot, CommandId cid,
					  LockTupleMode mode, LockWaitPolicy policy, bool follow, ItemPointer target,
					  TM_FailureData *tmfd)
{
	Claim		claim;
	TM_Result	result;

	ItemPointerSetInvalid(target);
	memset(tmfd, 0, sizeof(*tmfd));
	begin_claim(&claim, rel, row);
	result = claim_row(&claim, mode, policy, true, cid, tmfd);
	if (result == TM_Ok && strata_entry_is_in_batch(&claim.entry))
	{
		MemoryContext old = MemoryContextSwitchTo(slot->tts_mcxt);

		strata_batch_store_row(rel, claim.reader, (int) (row - claim.reader->first_row), slot);
		MemoryContextSwitchTo(old);
		ExecMaterializeSlot(slot);
	}
	else if (result == TM_Ok)
		*target = claim.entry.tid;
	else if (result == TM_Updated && follow)
	{
		if (ItemPointerIndicatesMovedPartitions(&claim.entry.tid))
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("tuple to be locked was already moved to another partition due to concurrent update")));
		if (strata_store_next_version(rel, &claim.entry, target))
		{
			result = TM_Ok;
			tmfd->traversed = true;
		}
		else
			result = TM_Deleted;
	}
	end_claim(&claim);
	return result;
}
