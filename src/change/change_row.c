/*-------------------------------------------------------------------------
 *
 * change_row.c
 *	  Locking, updating and deleting one compressed row.
 *
 * The row's entry (store_entry.c) does for it what a tuple header does for a
 * row of the row store:
 *
 *	lock	a lock entry is made, if there is none, and locked by heapam as any
 *			tuple: modes, queues, NOWAIT, SKIP LOCKED, multixacts are its own
 *	update	the new version goes into the row store, an "updated" entry names
 *			it
 *	delete	a "deleted" entry
 *	move	a copy goes into the row store, unchanged, with index entries:
 *			where heapam or an index must find the row itself (logical
 *			decoding, unique keys); what follows is heapam's
 *
 * Who may do so, and who waits for whom: change_claim.c.
 *
 * Command ids: entries carry the id of the command that changed the row, so
 * "already changed by this command" is told as heapam tells it.  Acting on a
 * moved row must be done as strata_promoted_cid says.
 *
 * src/change/change_row.c
 *-------------------------------------------------------------------------
 */
#include "change/change_private.h"
#include "stat/stat.h"
#include "store/store_write.h"

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

static void
error_concurrent_update(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("could not serialize access due to concurrent update")));
}

/*
 * Serializable transactions that have read the batch conflict with its
 * writers.
 */
static void
check_readers(StrataClaim *claim)
{
	if (!claim->found)
		return;
	CheckForSerializableConflictIn(claim->batches, &claim->values.batch_tid,
								   ItemPointerGetBlockNumber(&claim->values.batch_tid));
}

/*
 * Does the snapshot of a referential action see the row?  Only such actions of
 * REPEATABLE READ transactions ask.
 */
static bool
crosscheck_sees(StrataClaim *claim, Snapshot crosscheck)
{
	StrataStore *store;
	TupleTableSlot *slot;
	StrataEntry entry;
	bool		seen;

	if (crosscheck == InvalidSnapshot)
		return true;
	store = strata_store_open(claim->rel, AccessShareLock);
	slot = table_slot_create(store->batches, NULL);
	seen = strata_batches_find(store->batches, claim->row, crosscheck, slot);
	ExecDropSingleTupleTableSlot(slot);
	strata_store_close(store, NoLock);
	if (!seen)
		return false;
	strata_entry_find(claim->batches, claim->values.first_row, claim->row,
					  crosscheck, &entry);
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
check_move_seen(StrataClaim *claim)
{
	StrataEntry entry;

	if (!IsolationUsesXactSnapshot() || claim->entry.ours)
		return;
	strata_entry_find(claim->batches, claim->values.first_row, claim->row,
					  GetTransactionSnapshot(), &entry);
	if (strata_entry_is_in_batch(&entry))
		error_concurrent_update();
}

/* Copy the claimed row, which is in its batch, into the row store. */
static void
move_claimed(StrataClaim *claim, ItemPointer tid)
{
	StrataRowWriter *writer = strata_row_writer_begin(claim->rel);
	CommandId	cid = GetCurrentCommandId(true);

	Assert(strata_entry_is_in_batch(&claim->entry));	/* store:S2 */
	strata_batch_row_store(claim->rel, &claim->values, writer->slot);
	strata_row_writer_put(writer);
	*tid = writer->slot->tts_tid;

	/*
	 * who has read the batch must conflict with writers of the moved row from
	 * now on
	 */
	TransferPredicateLocksToHeapRelation(claim->batches);
	strata_claim_write_entry(claim, STRATA_ENTRY_MOVED, tid, cid, true);
	/* last: index expressions and unique checks may do anything, and wait */
	strata_row_writer_index(writer);
	strata_row_writer_end(writer);
	strata_remember_moved(claim->rel, tid, cid);
	strata_stat_count(RelationGetRelid(claim->rel), STRATA_STAT_ROWS_MOVED, 1);
	CommandCounterIncrement();
}

/*
 * See change.h.  Memory: what is allocated here lives in the caller's context.
 */
TM_Result
strata_store_move_row(Relation rel, int64 row, LockWaitPolicy policy,
					  CommandId cid, ItemPointer target, TM_FailureData *tmfd)
{
	StrataClaim claim;
	TM_Result	result;

	memset(tmfd, 0, sizeof(*tmfd));
	strata_claim_begin(&claim, rel, row);
	result = strata_claim_row(&claim, LockTupleNoKeyExclusive, policy, false,
							  cid, tmfd);
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
	strata_claim_end(&claim);
	return result;
}

/*-------------------------------------------------------------------------
 * What the access method asks for
 *-------------------------------------------------------------------------
 */

/* The claimed row is going from its batch. */
static void
track_claimed(StrataClaim *claim)
{
	StrataTracked tracked;
	bool		isnull;
	Datum		time;

	if (likely(!strata_store_tracked(claim->rel, &tracked)))
		return;
	time = strata_batch_row_value(&claim->values, tracked.attno, &isnull);
	strata_track_value(&tracked, time, isnull);
}

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
claim_for_change(StrataClaim *claim, LockTupleMode mode, LockWaitPolicy policy,
				 bool make_lock_entry, CommandId cid, Snapshot crosscheck,
				 ItemPointer target, TM_FailureData *tmfd)
{
	TM_Result	result;

	ItemPointerSetInvalid(target);
	check_readers(claim);
	result = strata_claim_row(claim, mode, policy, make_lock_entry, cid, tmfd);
	if (result != TM_Ok)
		return result;
	if (!strata_entry_is_in_batch(&claim->entry))
	{
		check_move_seen(claim);
		*target = claim->entry.tid;
	}
	else if (!crosscheck_sees(claim, crosscheck))
	{
		strata_claim_end_writing(claim);
		strata_tid_set(&tmfd->ctid, claim->row);
		return TM_Updated;
	}
	return TM_Ok;
}

/* See change.h. */
TM_Result
strata_store_delete_row(Relation rel, int64 row, CommandId cid,
						Snapshot crosscheck, LockWaitPolicy policy,
						bool changing_part, ItemPointer target,
						TM_FailureData *tmfd)
{
	StrataClaim claim;
	TM_Result	result;

	if (needs_move(rel))
		return strata_store_move_row(rel, row, policy, cid, target, tmfd);
	/* the notes are of DELETE; a row that moves to another chunk is UPDATE's */
	if (!changing_part &&
		strata_ahead_take(strata_companion_oid(rel), row, cid))
	{
		ItemPointerSetInvalid(target);
		return TM_Ok;
	}
	memset(tmfd, 0, sizeof(*tmfd));
	strata_claim_begin(&claim, rel, row);
	result = claim_for_change(&claim, LockTupleExclusive, policy, false, cid,
							  crosscheck, target, tmfd);
	if (result == TM_Ok && !ItemPointerIsValid(target))
	{
		ItemPointerData elsewhere;

		ItemPointerSetMovedPartitions(&elsewhere);
		strata_claim_write_entry(&claim,
								 changing_part ? STRATA_ENTRY_UPDATED :
								 STRATA_ENTRY_DELETED,
								 changing_part ? &elsewhere : NULL, cid,
								 false);
		track_claimed(&claim);
		pgstat_count_heap_delete(rel);
		strata_stat_count(RelationGetRelid(rel), STRATA_STAT_ROWS_DELETED, 1);
	}
	strata_claim_end(&claim);
	return result;
}

/* The lockers that the version at tuple->t_self was given, to the tuple. */
static void
copy_xmax(Relation rel, HeapTuple tuple)
{
	HeapTupleData stored;
	Buffer		buffer;

	stored.t_self = tuple->t_self;
	if (!heap_fetch(rel, SnapshotAny, &stored, &buffer, false))
		return;
	HeapTupleHeaderSetXmax(tuple->t_data,
						   HeapTupleHeaderGetRawXmax(stored.t_data));
	tuple->t_data->t_infomask = (tuple->t_data->t_infomask & ~HEAP_XMAX_BITS) |
		(stored.t_data->t_infomask & HEAP_XMAX_BITS);
	ReleaseBuffer(buffer);
}

/* See change.h. */
TM_Result
strata_store_update_row(Relation rel, int64 row, TupleTableSlot *slot,
						CommandId cid, Snapshot crosscheck,
						LockWaitPolicy policy, ItemPointer target,
						TM_FailureData *tmfd, LockTupleMode *lockmode)
{
	StrataClaim claim;
	TM_Result	result;
	bool		unique_changes = false;
	bool		key_changes = false;

	if (needs_move(rel))
		return strata_store_move_row(rel, row, policy, cid, target, tmfd);
	memset(tmfd, 0, sizeof(*tmfd));
	strata_claim_begin(&claim, rel, row);
	if (claim.found)
	{
		unique_changes = strata_unique_key_changes(rel, &claim.values, slot);
		key_changes = unique_changes &&
			strata_reference_key_changes(rel, &claim.values, slot);
	}
	*lockmode = key_changes ? LockTupleExclusive : LockTupleNoKeyExclusive;
	/* a look for equal keys may wait: not while writing */
	result = claim_for_change(&claim, *lockmode, policy, unique_changes, cid,
							  crosscheck, target, tmfd);
	if (result == TM_Ok && !ItemPointerIsValid(target))
	{
		bool		shouldFree;
		HeapTuple	tuple;

		/* the look waits for others' rows */
		Assert(!unique_changes || !claim.writing);	/* change:X5 */
		if (unique_changes)
			strata_store_check_unique(rel, slot, row, STRATA_DUPLICATE_MOVE);
		tuple = ExecFetchSlotHeapTuple(slot, true, &shouldFree);
		slot->tts_tableOid = RelationGetRelid(rel);
		tuple->t_tableOid = slot->tts_tableOid;
		heap_insert(rel, tuple, cid, 0, NULL);
		ItemPointerCopy(&tuple->t_self, &slot->tts_tid);
		strata_claim_write_entry(&claim, STRATA_ENTRY_UPDATED, &slot->tts_tid,
								 cid, !key_changes);
		track_claimed(&claim);
		/* RETURNING looks at the slot */
		if (claim.entry.kind == STRATA_ENTRY_LOCK)
			copy_xmax(rel, tuple);
		if (shouldFree)
			pfree(tuple);
		/* an update, not an insert */
		pgstat_count_heap_insert(rel, -1);
		strata_pgstat_count_update(rel);
		strata_stat_count(RelationGetRelid(rel), STRATA_STAT_ROWS_MOVED, 1);
	}
	strata_claim_end(&claim);
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

/* See change.h. */
bool
strata_store_next_version(Relation rel, const StrataEntry *entry,
						  ItemPointer tid)
{
	if (entry->kind != STRATA_ENTRY_UPDATED &&
		entry->kind != STRATA_ENTRY_MOVED)
		return false;
	if (!is_version_of(rel, &entry->tid, entry->xmin))
		return false;
	*tid = entry->tid;
	return true;
}

/*
 * FOR KEY SHARE of a row that another transaction has updated, and we see as
 * it was: heapam locks it as it was and as it is, if only other columns
 * changed. The locked version's place is the next one's; heapam goes on from
 * there.
 */
static bool
lock_kept_key(StrataClaim *claim, CommandId cid, LockWaitPolicy policy,
			  TM_Result *result)
{
	const TableAmRoutine *heap = GetHeapamTableAmRoutine();
	Relation	rel = claim->rel;
	TupleTableSlot *slot;
	bool		kept;
	TM_FailureData tmfd;

	if (!claim->found || claim->entry.kind != STRATA_ENTRY_UPDATED ||
		claim->entry.ours ||
		ItemPointerIndicatesMovedPartitions(&claim->entry.tid) ||
		!is_version_of(rel, &claim->entry.tid, claim->entry.xmin))
		return false;
	slot = MakeSingleTupleTableSlot(RelationGetDescr(rel),
									&TTSOpsBufferHeapTuple);
	kept = heap->tuple_fetch_row_version(rel, &claim->entry.tid, SnapshotAny,
										 slot) &&
		!strata_reference_key_changes(rel, &claim->values, slot);
	if (kept)
	{
		ItemPointerData tid = claim->entry.tid;

		*result = heap->tuple_lock(rel, &tid, SnapshotAny, slot, cid,
								   LockTupleKeyShare, policy,
								   TUPLE_LOCK_FLAG_LOCK_UPDATE_IN_PROGRESS,
								   &tmfd);
		/* what we did to it since does not make it less ours */
		if (*result == TM_SelfModified || *result == TM_Invisible)
			*result = TM_Ok;
		kept = *result == TM_Ok || *result == TM_WouldBlock;
	}
	ExecDropSingleTupleTableSlot(slot);
	return kept;
}

/* See change.h. */
TM_Result
strata_store_lock_row(Relation rel, int64 row, TupleTableSlot *slot,
					  CommandId cid, LockTupleMode mode, LockWaitPolicy policy,
					  bool follow, ItemPointer target, TM_FailureData *tmfd)
{
	StrataClaim claim;
	TM_Result	result;
	bool		as_it_was;

	ItemPointerSetInvalid(target);
	memset(tmfd, 0, sizeof(*tmfd));
	strata_claim_begin(&claim, rel, row);
	result = strata_claim_row(&claim, mode, policy, true, cid, tmfd);
	as_it_was = result == TM_Updated && mode == LockTupleKeyShare &&
		lock_kept_key(&claim, cid, policy, &result);
	if (result == TM_Ok &&
		(as_it_was || strata_entry_is_in_batch(&claim.entry)))
	{
		MemoryContext old = MemoryContextSwitchTo(slot->tts_mcxt);

		strata_batch_row_store(rel, &claim.values, slot);
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
	strata_claim_end(&claim);
	return result;
}
