/*-------------------------------------------------------------------------
 *
 * am_modify.c
 *	  Insert, update, delete and lock.
 *
 * Rows go into the row store, after a look for equal unique keys in batches.
 * A compressed row that is updated, deleted or locked is promoted first; from
 * then on everything is heapam's.
 *
 * src/am/am_modify.c
 *-------------------------------------------------------------------------
 */
#include "am/am_private.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "storage/predicate.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/*
 * strata_store_check_unique, with what it allocates freed: the executor inserts
 * row after row in a context that lives for the statement.
 */
static void
check_unique(Relation rel, TupleTableSlot *slot)
{
	MemoryContext mcxt;
	MemoryContext old;

	if (!rel->rd_rel->relhasindex || !OidIsValid(strata_companion_oid(rel)))
		return;
	mcxt = AllocSetContextCreate(CurrentMemoryContext, "strata unique check",
								 ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(mcxt);
	strata_store_check_unique(rel, slot);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mcxt);
}

static void
tuple_insert(Relation rel, TupleTableSlot *slot, CommandId cid, int options,
			 struct BulkInsertStateData *bistate)
{
	check_unique(rel, slot);
	strata_heap_am->tuple_insert(rel, slot, cid, options, bistate);
}

static void
tuple_insert_speculative(Relation rel, TupleTableSlot *slot, CommandId cid, int options,
						 struct BulkInsertStateData *bistate, uint32 token)
{
	check_unique(rel, slot);
	strata_heap_am->tuple_insert_speculative(rel, slot, cid, options, bistate, token);
}

static void
multi_insert(Relation rel, TupleTableSlot **slots, int nslots, CommandId cid, int options,
			 struct BulkInsertStateData *bistate)
{
	if (OidIsValid(strata_companion_oid(rel)))
		for (int i = 0; i < nslots; i++)
			check_unique(rel, slots[i]);
	strata_heap_am->multi_insert(rel, slots, nslots, cid, options, bistate);
}

/*
 * heapam's answer in terms of the caller's command id: a row that this very
 * command changed says cmax = the id it acted with.
 */
static TM_Result
restore_cmax(TM_Result result, TM_FailureData *tmfd, CommandId acted, CommandId cid)
{
	if (result == TM_SelfModified && acted != cid && tmfd->cmax == acted)
		tmfd->cmax = cid;
	return result;
}

/*
 * The heap TID to act on for tid: itself, or that of the promoted row.  TM_Ok
 * or why not.
 */
static TM_Result
heap_tid(Relation rel, ItemPointer tid, bool change, LockWaitPolicy wait_policy,
		 ItemPointer result, TM_FailureData *tmfd)
{
	if (!strata_tid_is_compressed(tid))
	{
		*result = *tid;
		return TM_Ok;
	}
	return strata_store_promote(rel, strata_tid_row(tid), change, wait_policy, result, tmfd);
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

	if (!IsolationIsSerializable() || !OidIsValid(companion = strata_companion_oid(rel)))
		return;
	batches = table_open(companion, AccessShareLock);
	CheckForSerializableConflictIn(batches, NULL, InvalidBlockNumber);
	table_close(batches, AccessShareLock);
}

static TM_Result
tuple_delete(Relation rel, ItemPointer tid, CommandId cid, Snapshot snapshot,
			 Snapshot crosscheck, bool wait, TM_FailureData *tmfd, bool changing_part)
{
	ItemPointerData target;
	CommandId	acted;
	TM_Result	result = heap_tid(rel, tid, true, wait ? LockWaitBlock : LockWaitSkip, &target, tmfd);

	if (result != TM_Ok)
		return result;
	check_batch_readers(rel);
	acted = strata_promoted_cid(rel, &target, cid);
	result = strata_heap_am->tuple_delete(rel, &target, acted, snapshot, crosscheck, wait, tmfd,
										  changing_part);
	return restore_cmax(result, tmfd, acted, cid);
}

/* Attributes of unique indexes; *any when an index has expressions. */
static Bitmapset *
unique_attrs(Relation rel, bool *any)
{
	Bitmapset  *attrs = NULL;
	List	   *indexes = RelationGetIndexList(rel);
	ListCell   *lc;

	*any = false;
	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		if (index->rd_index->indisunique)
		{
			*any |= RelationGetIndexExpressions(index) != NIL ||
				RelationGetIndexPredicate(index) != NIL;
			for (int i = 0; i < index->rd_index->indnkeyatts; i++)
				if (index->rd_index->indkey.values[i] > 0)
					attrs = bms_add_member(attrs, index->rd_index->indkey.values[i]);
		}
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
	return attrs;
}

/* Does new_slot's row differ from the one at tid in a unique key? */
static bool
unique_key_changes(Relation rel, ItemPointer tid, TupleTableSlot *new_slot)
{
	bool		any;
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext, "strata unique keys",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	Bitmapset  *attrs = unique_attrs(rel, &any);
	TupleTableSlot *old_slot;
	int			attno = -1;
	bool		changes = any;

	if (any || attrs == NULL)
	{
		MemoryContextSwitchTo(old);
		MemoryContextDelete(mcxt);
		return any;
	}
	old_slot = table_slot_create(rel, NULL);
	if (!strata_heap_am->tuple_fetch_row_version(rel, tid, SnapshotAny, old_slot))
		changes = true;
	while (!changes && (attno = bms_next_member(attrs, attno)) >= 0)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attno - 1);
		bool		old_null;
		bool		new_null;
		Datum		old_value = slot_getattr(old_slot, attno, &old_null);
		Datum		new_value = slot_getattr(new_slot, attno, &new_null);

		changes = old_null != new_null ||
			(!old_null && !datum_image_eq(old_value, new_value, att->attbyval, att->attlen));
	}
	ExecDropSingleTupleTableSlot(old_slot);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mcxt);
	return changes;
}

static TM_Result
tuple_update(Relation rel, ItemPointer otid, TupleTableSlot *slot, CommandId cid,
			 Snapshot snapshot, Snapshot crosscheck, bool wait, TM_FailureData *tmfd,
			 LockTupleMode *lockmode, StrataUpdateIndexes *update_indexes)
{
	ItemPointerData target;
	CommandId	acted;
	TM_Result	result = heap_tid(rel, otid, true, wait ? LockWaitBlock : LockWaitSkip, &target, tmfd);

	if (result != TM_Ok)
		return result;
	check_batch_readers(rel);
	if (OidIsValid(strata_companion_oid(rel)) && unique_key_changes(rel, &target, slot))
		check_unique(rel, slot);
	acted = strata_promoted_cid(rel, &target, cid);
	result = strata_heap_am->tuple_update(rel, &target, slot, acted, snapshot, crosscheck, wait,
										  tmfd, lockmode, update_indexes);
	return restore_cmax(result, tmfd, acted, cid);
}

/* *tid is written back: the executor goes on from the locked version. */
static TM_Result
tuple_lock(Relation rel, ItemPointer tid, Snapshot snapshot, TupleTableSlot *slot, CommandId cid,
		   LockTupleMode mode, LockWaitPolicy wait_policy, uint8 flags, TM_FailureData *tmfd)
{
	ItemPointerData target;
	CommandId	acted;
	TM_Result	result = heap_tid(rel, tid, false, wait_policy, &target, tmfd);

	if (result != TM_Ok)
		return result;
	acted = strata_promoted_cid(rel, &target, cid);
	result = strata_heap_am->tuple_lock(rel, &target, snapshot, slot, acted, mode, wait_policy,
										flags, tmfd);
	*tid = target;
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
