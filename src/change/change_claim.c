/*-------------------------------------------------------------------------
 *
 * change_claim.c
 *	  Claiming one compressed row, to lock or change it.
 *
 * The row's entry (store_entry.c) does for it what a tuple header does for a
 * row of the row store.  Here is who may make, lock and replace it, and who
 * waits for whom:
 *
 * Two makers of the same row's entry meet in a heavyweight lock on the batch's
 * first row number, held for the instant of writing.  Whoever finds an entry
 * of a transaction in progress waits for its end, as for a tuple; one that is
 * being replaced, in heapam's own way, which lets FOR KEY SHARE pass.
 *
 * src/change/change_claim.c
 *-------------------------------------------------------------------------
 */
#include "change/change_private.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "base/compat.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/snapmgr.h"

/*
 * The row was compressed when the caller's snapshot was taken, and its batch
 * is gone: recompressed, decompressed, rewritten.  It is not deleted, it is
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
	ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
					errmsg("could not obtain lock on row in relation \"%s\"",
						   RelationGetRelationName(rel))));
}

/* See change_private.h. */
void
strata_claim_begin(StrataClaim *claim, Relation rel, int64 row)
{
	Oid			companion = strata_companion_oid(rel);

	memset(claim, 0, sizeof(*claim));
	claim->rel = rel;
	claim->row = row;
	if (!OidIsValid(companion))
		error_moved(rel);
	Assert(CheckRelationLockedByMe(rel, RowShareLock, true));	/* store:S9 */
	claim->batches = table_open(companion, RowExclusiveLock);
	claim->found = strata_batch_row_find(rel, claim->batches, row,
										 &claim->values);
}

/* See change_private.h. */
void
strata_claim_end(StrataClaim *claim)
{
	Assert(!claim->writing);	/* change:X5 */
	table_close(claim->batches, NoLock);
}

static void
begin_writing(StrataClaim *claim)
{
	strata_batch_writing_lock(claim->batches, claim->values.first_row, true);
	claim->writing = true;
}

/* See change_private.h. */
void
strata_claim_end_writing(StrataClaim *claim)
{
	if (claim->writing)
		strata_batch_writing_lock(claim->batches, claim->values.first_row,
								  false);
	claim->writing = false;
}

/*
 * Wait for the transaction that is making the entry, or sweeping; TM_Ok: look
 * again.
 */
static TM_Result
wait_for_maker(StrataClaim *claim, LockWaitPolicy policy)
{
	ItemPointerData tid;

	strata_tid_set(&tid, claim->row);
	Assert(!claim->writing);	/* change:X5 */
	switch (policy)
	{
		case LockWaitBlock:
			XactLockTableWait(claim->entry.wait, claim->rel, &tid,
							  XLTW_Update);
			return TM_Ok;
		case LockWaitError:
			if (!strata_conditional_xact_wait(claim->entry.wait))
				error_locked(claim->rel);
			return TM_Ok;
		default:
			return strata_conditional_xact_wait(claim->entry.wait) ?
				TM_Ok :
				TM_WouldBlock;
	}
}

/*
 * FOR KEY SHARE of an entry that `updater` is replacing: lock the row's next
 * version, too, wherever that is.  Returns a transaction to wait for, if any.
 */
static TransactionId
lock_next_version(StrataClaim *claim, TransactionId updater, ItemPointer next)
{
	TupleTableSlot *slot;
	TransactionId self = GetCurrentTransactionId();
	TransactionId wait = InvalidTransactionId;

	slot = MakeSingleTupleTableSlot(RelationGetDescr(claim->batches),
									&TTSOpsBufferHeapTuple);
	/* gone, or another's: that transaction has failed */
	if (table_tuple_fetch_row_version(claim->batches, next, SnapshotAny, slot))
	{
		HeapTupleHeader header;

		header = ((BufferHeapTupleTableSlot *) slot)->base.tuple->t_data;
		if (TransactionIdEquals(HeapTupleHeaderGetRawXmin(header), updater))
		{
			StrataEntry entry;

			slot_getsomeattrs(slot, STRATA_BATCH_FIXED_ATTS);
			strata_entry_parse(claim->batches, slot, &entry);
			wait = strata_versions_lock(claim->rel, updater, &entry.tid, &self,
										1);
		}
	}
	ExecDropSingleTupleTableSlot(slot);
	return wait;
}

/*
 * Lock the row's lock entry.  *again: somebody has changed the row meanwhile.
 */
static TM_Result
lock_entry(StrataClaim *claim, LockTupleMode mode, LockWaitPolicy policy,
		   bool *again)
{
	TupleTableSlot *slot;
	TransactionId followed = InvalidTransactionId;
	TransactionId wait = InvalidTransactionId;
	TM_FailureData tmfd;
	TM_Result	result;

	slot = MakeSingleTupleTableSlot(RelationGetDescr(claim->batches),
									&TTSOpsBufferHeapTuple);
	for (;;)
	{
		TransactionId updater;
		ItemPointerData next;

		Assert(!claim->writing);	/* change:X5 */
		/* heapam's error for NOWAIT would name the companion */
		result = table_tuple_lock(claim->batches, &claim->entry.self,
								  SnapshotAny, slot, GetCurrentCommandId(true),
								  mode,
								  policy == LockWaitError ? LockWaitSkip :
								  policy,
								  0, &tmfd);
		if (result != TM_Ok || mode != LockTupleKeyShare)
			break;

		/*
		 * the lock holds beside an update of other columns when the new
		 * version has it as well
		 */
		updater = strata_tuple_updater(slot, &next);
		if (!TransactionIdIsValid(updater) ||
			TransactionIdEquals(updater, followed))
			break;
		followed = updater;
		wait = lock_next_version(claim, updater, &next);
		if (TransactionIdIsValid(wait))
			break;
	}
	ExecDropSingleTupleTableSlot(slot);
	*again = result == TM_Updated || result == TM_Deleted;
	if (TransactionIdIsValid(wait))
	{
		claim->entry.wait = wait;
		result = wait_for_maker(claim, policy);
		*again = result == TM_Ok;
	}
	if (result == TM_WouldBlock && policy == LockWaitError)
		error_locked(claim->rel);
	if (result != TM_Ok && result != TM_WouldBlock && !*again)
		elog(ERROR, "unexpected result %d of locking a row entry", result);
	return result;
}

/*
 * The row is not where it was any more: as heapam would tell it to a command
 * with this id.
 */
static TM_Result
tell_changed(StrataClaim *claim, CommandId cid, TM_FailureData *tmfd)
{
	StrataEntry *entry = &claim->entry;

	Assert(!strata_entry_is_in_batch(entry));	/* change:X3 */
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

/* Frozen, but for a batch that is ours. */
static void
insert_lock_entry(StrataClaim *claim)
{
	Assert(claim->writing &&
		   claim->entry.kind == STRATA_ENTRY_NONE); /* store:S3 */
	strata_entry_insert(claim->batches, claim->row, STRATA_ENTRY_LOCK, NULL,
						FirstCommandId, !claim->values.batch_is_ours,
						&claim->entry.self);
	claim->entry.kind = STRATA_ENTRY_LOCK;
}

/*
 * The row's batch is gone.  With its rows: as heapam would tell it to a
 * command with this id.
 */
static TM_Result
tell_swept(StrataClaim *claim, const StrataBatchFate *fate, CommandId cid,
		   TM_FailureData *tmfd)
{
	Assert(!claim->writing);	/* change:X5 */
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
 * The row that this command has locked last.  An upsert, and whoever else
 * locks a row to change it, claims it a second time at once: the lock keeps
 * its entry as it is.  Nobody but this command may have come in between, nor
 * has a subtransaction ended.
 */
static struct
{
	Oid			companion;
	int64		row;
	TransactionId transaction;
	SubTransactionId subtransaction;
	CommandId	cid;
	LockTupleMode mode;
	StrataEntry entry;
}			locked_last = {InvalidOid};

static void
note_locked(StrataClaim *claim, LockTupleMode mode)
{
	locked_last.companion = RelationGetRelid(claim->batches);
	locked_last.row = claim->row;
	locked_last.transaction = GetTopTransactionIdIfAny();
	locked_last.subtransaction = GetCurrentSubTransactionId();
	locked_last.cid = GetCurrentCommandId(false);
	locked_last.mode = mode;
	locked_last.entry = claim->entry;
}

static bool
is_locked_last(StrataClaim *claim, LockTupleMode mode)
{
	return locked_last.companion == RelationGetRelid(claim->batches) &&
		locked_last.row == claim->row &&
		TransactionIdEquals(locked_last.transaction,
							GetTopTransactionIdIfAny()) &&
		locked_last.subtransaction == GetCurrentSubTransactionId() &&
		locked_last.cid == GetCurrentCommandId(false) &&
		locked_last.mode >= mode;
}

/* See change_private.h. */
TM_Result
strata_claim_row(StrataClaim *claim, LockTupleMode mode, LockWaitPolicy policy,
				 bool make_lock_entry, CommandId cid, TM_FailureData *tmfd)
{
	StrataBatchFate fate;

	if (!claim->found)
	{
		strata_batch_find_fate(claim->batches, NULL, claim->row, &fate);
		return tell_swept(claim, &fate, cid, tmfd);
	}
	if (is_locked_last(claim, mode))
	{
		claim->entry = locked_last.entry;
		return TM_Ok;
	}
	for (;;)
	{
		TM_Result	result;
		bool		again;

		CHECK_FOR_INTERRUPTS();
		/* nobody touched most rows: then we write next */
		if (!claim->writing)
			begin_writing(claim);
		strata_entry_find_dirty(claim->batches, claim->values.first_row,
								claim->row, &claim->entry);
		if (claim->entry.kind == STRATA_ENTRY_NONE)
		{
			/* who sweeps has seen that there is no entry */
			strata_batch_find_fate(claim->batches, &claim->values.batch_tid,
								   claim->row, &fate);
			if (fate.kind == STRATA_BATCH_SWEPT ||
				fate.kind == STRATA_BATCH_MOVED)
			{
				strata_claim_end_writing(claim);
				return tell_swept(claim, &fate, cid, tmfd);
			}
			claim->entry.wait = fate.xid;
		}
		/* heapam waits for whoever is replacing a lock entry, in its queue */
		if (TransactionIdIsValid(claim->entry.wait) &&
			claim->entry.kind != STRATA_ENTRY_LOCK)
		{
			strata_claim_end_writing(claim);
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
				insert_lock_entry(claim);
				/* FALLTHROUGH */
			case STRATA_ENTRY_LOCK:
				strata_claim_end_writing(claim);
				result = lock_entry(claim, mode, policy, &again);
				if (again)
					continue;
				/* beside FOR KEY SHARE the row may change */
				if (result == TM_Ok && mode >= LockTupleNoKeyExclusive)
					note_locked(claim, mode);
				return result;
			case STRATA_ENTRY_MOVED:
				strata_claim_end_writing(claim);
				return TM_Ok;
			default:
				strata_claim_end_writing(claim);
				return tell_changed(claim, cid, tmfd);
		}
	}
}

/* See change_private.h. */
void
strata_claim_write_entry(StrataClaim *claim, StrataEntryKind kind,
						 const ItemPointerData *tid, CommandId cid,
						 bool keeps_key)
{
	HeapTuple	entry;

	Assert(claim->writing ==
		   (claim->entry.kind == STRATA_ENTRY_NONE));	/* store:S3 */
	Assert(strata_entry_is_in_batch(&claim->entry));	/* change:X2 */
	Assert(kind != STRATA_ENTRY_NONE &&
		   kind != STRATA_ENTRY_LOCK);	/* store:S3 */
	locked_last.companion = InvalidOid;
	if (claim->entry.kind == STRATA_ENTRY_NONE && keeps_key)
		insert_lock_entry(claim);
	if (claim->entry.kind == STRATA_ENTRY_NONE)
		strata_entry_insert(claim->batches, claim->row, kind, tid, cid, false,
							NULL);
	else
	{
		entry = strata_entry_replace(claim->batches, &claim->entry, kind, tid,
									 cid);
		if (tid != NULL && !ItemPointerIndicatesMovedPartitions(tid))
			strata_lockers_hand_on(claim->rel, entry, tid);
		heap_freetuple(entry);
	}
	Assert(!keeps_key ||
		   claim->entry.kind == STRATA_ENTRY_LOCK); /* change:X4 */
	strata_claim_end_writing(claim);
}
