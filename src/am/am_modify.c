/*-------------------------------------------------------------------------
 *
 * am_modify.c
 *	  Insert, update, delete and lock.
 *
 * Rows go into the row store, after a look for equal unique keys in batches,
 * and their times to track/, where rollups want to know.
 * A compressed row is changed or locked by store/, unless it has been in the
 * row store for a while; there everything is heapam's.
 *
 * src/am/am_modify.c
 *-------------------------------------------------------------------------
 */
#include "am/am.h"
#include "am/am_private.h"
#include "change/change.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/*
 * What the store allocates is freed at once: the executor works on row after
 * row in a context that lives for the statement.
 */
static MemoryContext
begin_work(MemoryContext *old)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "strata row",
											   ALLOCSET_DEFAULT_SIZES);

	*old = MemoryContextSwitchTo(mcxt);
	return mcxt;
}

static void
end_work(MemoryContext mcxt, MemoryContext old)
{
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mcxt);
}

static void
check_unique(Relation rel, TupleTableSlot *slot, StrataDuplicate duplicate)
{
	MemoryContext mcxt;
	MemoryContext old;

	if (!rel->rd_rel->relhasindex || !OidIsValid(strata_companion_oid(rel)) ||
		strata_store_keys_are_new(rel, slot))
		return;
	mcxt = begin_work(&old);
	strata_store_check_unique(rel, slot, -1, duplicate);
	end_work(mcxt, old);
}

void		(*strata_am_first_row) (Relation partition) = NULL;

/* The row store of a partition begins with the row at tid: say so. */
static void
tell_first_row(Relation rel, ItemPointer tid)
{
	if (rel->rd_rel->relispartition && strata_am_first_row != NULL &&
		ItemPointerGetBlockNumber(tid) == 0 &&
		ItemPointerGetOffsetNumber(tid) == FirstOffsetNumber)
	{
		MemoryContext old;
		MemoryContext mcxt = begin_work(&old);

		strata_am_first_row(rel);
		end_work(mcxt, old);
	}
}

/* A row has come: its time has changed, where rollups want to know. */
static inline void
track_new(Relation rel, TupleTableSlot *slot)
{
	StrataTracked tracked;

	if (unlikely(strata_store_tracked(rel, &tracked)))
		strata_track_slot(&tracked, slot);
}

/* The row at tid, in the row store, has gone. */
static void
track_old(Relation rel, ItemPointer tid)
{
	StrataTracked tracked;
	TupleTableSlot *slot;

	if (likely(!strata_store_tracked(rel, &tracked)))
		return;
	slot = table_slot_create(rel, NULL);
	if (!strata_heap_am->tuple_fetch_row_version(rel, tid, SnapshotAny, slot))
		elog(ERROR, "row that was changed is gone from \"%s\"",
			 RelationGetRelationName(rel));
	strata_track_slot(&tracked, slot);
	ExecDropSingleTupleTableSlot(slot);
}

static void
tuple_insert(Relation rel, TupleTableSlot *slot, CommandId cid, int options,
			 struct BulkInsertStateData *bistate)
{
	check_unique(rel, slot, STRATA_DUPLICATE_RAISE);
	strata_heap_am->tuple_insert(rel, slot, cid, options, bistate);
	track_new(rel, slot);
	tell_first_row(rel, &slot->tts_tid);
}

static void
tuple_insert_speculative(Relation rel, TupleTableSlot *slot, CommandId cid,
						 int options, struct BulkInsertStateData *bistate,
						 uint32 token)
{
	/*
	 * conflicts it decides by were found before (am_uncover.c); the index
	 * raises the others
	 */
	check_unique(rel, slot, STRATA_DUPLICATE_MOVE);
	strata_heap_am->tuple_insert_speculative(rel, slot, cid, options, bistate,
											 token);
	track_new(rel, slot);
	tell_first_row(rel, &slot->tts_tid);
}

static void
multi_insert(Relation rel, TupleTableSlot **slots, int nslots, CommandId cid,
			 int options, struct BulkInsertStateData *bistate)
{
	if (OidIsValid(strata_companion_oid(rel)))
		for (int i = 0; i < nslots; i++)
			check_unique(rel, slots[i], STRATA_DUPLICATE_RAISE);
	strata_heap_am->multi_insert(rel, slots, nslots, cid, options, bistate);
	for (int i = 0; i < nslots; i++)
		track_new(rel, slots[i]);
	/* COPY also flushes buffers of partitions that have nothing new */
	if (nslots > 0)
		tell_first_row(rel, &slots[0]->tts_tid);
}

/*
 * heapam's answer in terms of the caller's command id: a row that this very
 * command changed says cmax = the id it acted with.
 */
static TM_Result
restore_cmax(TM_Result result, TM_FailureData *tmfd, CommandId acted,
			 CommandId cid)
{
	Assert(acted >= cid);		/* am:M4 */
	if (result == TM_SelfModified && acted != cid && tmfd->cmax == acted)
		tmfd->cmax = cid;
	return result;
}

/*
 * Serializable transactions: heapam looks for readers of the row where it is
 * now.  Those who read it when it was compressed are found by the companion.
 */
static void
check_batch_readers(Relation rel)
{
	Oid			companion;
	Relation	batches;

	if (!IsolationIsSerializable() ||
		!OidIsValid(companion = strata_companion_oid(rel)))
		return;
	batches = table_open(companion, AccessShareLock);
	CheckForSerializableConflictIn(batches, NULL, InvalidBlockNumber);
	table_close(batches, AccessShareLock);
}

static inline LockWaitPolicy
wait_policy_of(bool wait)
{
	return wait ? LockWaitBlock : LockWaitSkip;
}

/*
 * A compressed row gets an entry; one that had to be moved to the row store
 * first is deleted there.
 */
static TM_Result
tuple_delete(Relation rel, ItemPointer tid, CommandId cid, Snapshot snapshot,
			 Snapshot crosscheck, bool wait, TM_FailureData *tmfd,
			 bool changing_part)
{
	ItemPointerData target = *tid;
	CommandId	acted;
	TM_Result	result;

	if (strata_tid_is_compressed(tid))
	{
		MemoryContext old;
		MemoryContext mcxt = begin_work(&old);

		result = strata_store_delete_row(rel, strata_tid_row(tid), cid,
										 crosscheck, wait_policy_of(wait),
										 changing_part, &target, tmfd);
		end_work(mcxt, old);
		if (result != TM_Ok || !ItemPointerIsValid(&target))
			return result;
	}
	check_batch_readers(rel);
	acted = strata_promoted_cid(rel, &target, cid);
	Assert(!strata_tid_is_compressed(&target)); /* am:M1 */
	result = strata_heap_am->tuple_delete(rel, &target, acted, snapshot,
										  crosscheck, wait, tmfd,
										  changing_part);
	if (result == TM_Ok)
		track_old(rel, &target);
	return restore_cmax(result, tmfd, acted, cid);
}

/*
 * Does new_slot's row differ from the one at tid, in the row store, in a
 * unique key?
 */
static bool
unique_key_changes(Relation rel, ItemPointer tid, TupleTableSlot *new_slot)
{
	bool		changes;
	Bitmapset  *attrs = strata_store_unique_columns(rel, &changes);
	TupleTableSlot *old_slot;
	int			attno = -1;

	if (changes || attrs == NULL)
		return changes;
	old_slot = table_slot_create(rel, NULL);
	if (!strata_heap_am->tuple_fetch_row_version(rel, tid, SnapshotAny,
												 old_slot))
		changes = true;
	while (!changes && (attno = bms_next_member(attrs, attno)) >= 0)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel),
											  attno - 1);
		bool		old_null;
		bool		new_null;
		Datum		old_value = slot_getattr(old_slot, attno, &old_null);
		Datum		new_value = slot_getattr(new_slot, attno, &new_null);

		changes = old_null != new_null ||
			(!old_null && !datum_image_eq(old_value, new_value,
										  att->attbyval, att->attlen));
	}
	ExecDropSingleTupleTableSlot(old_slot);
	return changes;
}

/* Equal keys in batches, before a row of the row store gets a new key. */
static void
check_updated_key(Relation rel, ItemPointer tid, TupleTableSlot *slot)
{
	MemoryContext old;
	MemoryContext mcxt;

	if (!OidIsValid(strata_companion_oid(rel)))
		return;
	mcxt = begin_work(&old);
	/* not ours to say: the update may yet turn out not to happen */
	if (unique_key_changes(rel, tid, slot))
		strata_store_check_unique(rel, slot, -1, STRATA_DUPLICATE_MOVE);
	end_work(mcxt, old);
}

/*
 * Is a value in the tuple out of line in R, and the new one the same, in full?
 */
static bool
stays_stored(Datum old_value, bool old_null, Datum new_value, bool new_null)
{
	return !old_null && !new_null &&
		VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(old_value)) &&
		!VARATT_IS_EXTERNAL(DatumGetPointer(new_value)) &&
		datum_image_eq(old_value, new_value, false, -1);
}

/*
 * slot comes of a row that was compressed, so all its values are in full.
 * That row was copied to tid; what lies out of line there, and is not changed,
 * need not be stored, and decoded, once more.
 */
static void
keep_stored_values(Relation rel, ItemPointer tid, TupleTableSlot *slot)
{
	TupleDesc	desc = RelationGetDescr(rel);
	MemoryContext old;
	MemoryContext mcxt;
	TupleTableSlot *old_slot;
	bool		keeps = false;

	if (!OidIsValid(rel->rd_rel->reltoastrelid))
		return;
	mcxt = begin_work(&old);
	old_slot = table_slot_create(rel, NULL);
	if (strata_heap_am->tuple_fetch_row_version(rel, tid, SnapshotAny,
												old_slot))
	{
		Datum	   *values = palloc(sizeof(Datum) * desc->natts);

		slot_getallattrs(old_slot);
		slot_getallattrs(slot);
		for (int i = 0; i < desc->natts; i++)
		{
			bool		keep;

			keep = TupleDescAttr(desc, i)->attlen == -1 &&
				stays_stored(old_slot->tts_values[i], old_slot->tts_isnull[i],
							 slot->tts_values[i], slot->tts_isnull[i]);
			values[i] = keep ? old_slot->tts_values[i] : slot->tts_values[i];
			keeps |= keep;
		}
		if (keeps)
		{
			Oid			tableoid = slot->tts_tableOid;
			HeapTuple	tuple;

			/* the slot's to free */
			MemoryContextSwitchTo(slot->tts_mcxt);
			tuple = heap_form_tuple(desc, values, slot->tts_isnull);
			MemoryContextSwitchTo(mcxt);
			ExecForceStoreHeapTuple(tuple, slot, true);
			slot->tts_tableOid = tableoid;
		}
	}
	ExecDropSingleTupleTableSlot(old_slot);
	end_work(mcxt, old);
}

/*
 * A compressed row gets an entry and a new version in the row store; one that
 * had to be moved there first is updated there.
 */
static TM_Result
tuple_update(Relation rel, ItemPointer otid, TupleTableSlot *slot,
			 CommandId cid, Snapshot snapshot, Snapshot crosscheck, bool wait,
			 TM_FailureData *tmfd, LockTupleMode *lockmode,
			 StrataUpdateIndexes *update_indexes)
{
	ItemPointerData target = *otid;
	CommandId	acted;
	TM_Result	result;

	if (strata_tid_is_compressed(otid))
	{
		MemoryContext old;
		MemoryContext mcxt = begin_work(&old);

		result = strata_store_update_row(rel, strata_tid_row(otid), slot, cid,
										 crosscheck, wait_policy_of(wait),
										 &target, tmfd, lockmode);
		end_work(mcxt, old);
		*update_indexes = STRATA_UPDATE_ALL_INDEXES;
		if (result == TM_Ok)
			track_new(rel, slot);
		if (result != TM_Ok || !ItemPointerIsValid(&target))
			return result;
		keep_stored_values(rel, &target, slot);
	}
	check_batch_readers(rel);
	check_updated_key(rel, &target, slot);
	acted = strata_promoted_cid(rel, &target, cid);
	Assert(!strata_tid_is_compressed(&target)); /* am:M1 */
	result = strata_heap_am->tuple_update(rel, &target, slot, acted, snapshot,
										  crosscheck, wait, tmfd, lockmode,
										  update_indexes);
	if (result == TM_Ok)
	{
		track_old(rel, &target);
		track_new(rel, slot);
	}
	return restore_cmax(result, tmfd, acted, cid);
}

/*
 * An apply worker without an index to search by reads all rows, copies the
 * slot of the one it wants and locks that.  A copied slot of heap's kind has
 * lost its TID, if it had no buffer, but its tuple knows it.  heapam would
 * take an invalid TID's block for the order to extend the table.
 */
static void
recover_tid(ItemPointer tid, TupleTableSlot *slot)
{
	if (ItemPointerIsValid(tid))
		return;
	if (tid == &slot->tts_tid && TTS_IS_BUFFERTUPLE(slot) &&
		((HeapTupleTableSlot *) slot)->tuple != NULL)
		*tid = ((HeapTupleTableSlot *) slot)->tuple->t_self;
	if (!ItemPointerIsValid(tid))
		elog(ERROR, "row to be locked has no place");
}

/*
 * A compressed row that another transaction updated, and we the version at tid
 * that followed: heapam, coming from the old version, would go to the end of
 * our updates and tell the last one's command.  Asked for the version at tid
 * it would tell the first one's, and the executor could take the work of a
 * function that this command calls for its own.
 */
static bool
updated_since_by_us(Relation rel, const ItemPointerData *tid, CommandId cid,
					TM_FailureData *tmfd)
{
	HeapTupleData tuple;
	TransactionId prior = InvalidTransactionId;
	bool		changed = false;

	tuple.t_self = *tid;
	for (;;)
	{
		Buffer		buffer;
		TransactionId xmax;
		ItemPointerData next;

		if (!heap_fetch(rel, SnapshotAny, &tuple, &buffer, false))
			break;
		if (TransactionIdIsValid(prior))
		{
			if (!TransactionIdEquals(HeapTupleHeaderGetXmin(tuple.t_data),
									 prior))
			{
				ReleaseBuffer(buffer);
				break;
			}
			tmfd->ctid = tuple.t_self;
			tmfd->xmax = prior;
			tmfd->cmax = HeapTupleHeaderGetCmin(tuple.t_data);
			changed = true;
		}
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		xmax = HeapTupleHeaderGetUpdateXid(tuple.t_data);
		next = tuple.t_data->t_ctid;
		if (tuple.t_data->t_infomask & HEAP_XMAX_INVALID ||
			HEAP_XMAX_IS_LOCKED_ONLY(tuple.t_data->t_infomask))
			xmax = InvalidTransactionId;
		UnlockReleaseBuffer(buffer);
		if (!TransactionIdIsValid(xmax) ||
			!TransactionIdIsCurrentTransactionId(xmax) ||
			ItemPointerEquals(&next, &tuple.t_self) ||
			ItemPointerIndicatesMovedPartitions(&next))
			break;
		tuple.t_self = next;
		prior = xmax;
	}
	return changed && tmfd->cmax >= cid;
}

/* *tid is written back: the executor goes on from the locked version. */
static TM_Result
tuple_lock(Relation rel, ItemPointer tid, Snapshot snapshot,
		   TupleTableSlot *slot, CommandId cid, LockTupleMode mode,
		   LockWaitPolicy wait_policy, uint8 flags, TM_FailureData *tmfd)
{
	ItemPointerData target;
	CommandId	acted;
	bool		traversed = false;
	TM_Result	result;

	recover_tid(tid, slot);
	target = *tid;
	if (strata_tid_is_compressed(tid))
	{
		MemoryContext old;
		MemoryContext mcxt = begin_work(&old);

		result = strata_store_lock_row(rel, strata_tid_row(tid), slot, cid,
									   mode, wait_policy,
									   (flags &
										TUPLE_LOCK_FLAG_FIND_LAST_VERSION) !=
									   0,
									   &target, tmfd);
		end_work(mcxt, old);
		if (result != TM_Ok || !ItemPointerIsValid(&target))
			return result;
		traversed = tmfd->traversed;
		if (traversed && updated_since_by_us(rel, &target, cid, tmfd))
			return TM_SelfModified;
	}
	acted = strata_promoted_cid(rel, &target, cid);
	Assert(!strata_tid_is_compressed(&target)); /* am:M1 */
	result = strata_heap_am->tuple_lock(rel, &target, snapshot, slot, acted,
										mode, wait_policy, flags, tmfd);
	*tid = target;
	tmfd->traversed |= traversed;
	Assert(result != TM_Ok ||
		   ItemPointerEquals(tid, &slot->tts_tid)); /* am:M3 */
	return restore_cmax(result, tmfd, acted, cid);
}

void
strata_am_modify_init(TableAmRoutine *am)
{
	am->tuple_insert = tuple_insert;
	am->tuple_insert_speculative = tuple_insert_speculative;
	am->multi_insert = multi_insert;
	am->tuple_delete = tuple_delete;
	am->tuple_update = tuple_update;
	am->tuple_lock = tuple_lock;
}
