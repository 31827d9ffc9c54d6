/*-------------------------------------------------------------------------
 *
 * store_promote.c
 *	  Compressed rows become rows of the row store when something must happen
 *	  to one of them (spike.md D).
 *
 * The batch row is locked; its rows are inserted into the row store, with
 * index entries, not logically decoded; the batch row becomes a forwarding
 * entry: nrows negative, `forward` an array of heap TIDs.  All in the
 * transaction of the one who asked: if it aborts, the batch is as before.  Old
 * snapshots see the batch, new ones the rows; whoever holds a compressed TID
 * translates it.
 *
 * Command ids: the promoted rows carry the running command's id as cmin, or a
 * later one, so heapam would call them invisible to that command.  Acting on
 * them must be done as strata_promoted_cid says.
 *
 * src/store/store_promote.c
 *-------------------------------------------------------------------------
 */
#include "store/store_private.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/predicate.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/*-------------------------------------------------------------------------
 * Rows promoted by this transaction
 *-------------------------------------------------------------------------
 */
typedef struct PromotedKey
{
	Oid			relid;
	ItemPointerData tid;
} PromotedKey;

typedef struct PromotedEntry
{
	PromotedKey key;
	CommandId	cid;			/* the promoted row's cmin */
} PromotedEntry;

static HTAB *promoted_rows = NULL;

static void
set_key(PromotedKey *key, Relation rel, const ItemPointerData *tid)
{
	/* no padding may differ */
	memset(key, 0, sizeof(*key));
	key->relid = RelationGetRelid(rel);
	key->tid = *tid;
}

static void
remember_promoted(Relation rel, const ItemPointerData *tid, CommandId cid)
{
	PromotedKey key;
	PromotedEntry *entry;

	if (promoted_rows == NULL)
	{
		HASHCTL		ctl = {0};

		ctl.keysize = sizeof(PromotedKey);
		ctl.entrysize = sizeof(PromotedEntry);
		ctl.hcxt = TopTransactionContext;
		promoted_rows = hash_create("strata promoted rows", 1024, &ctl,
									HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	set_key(&key, rel, tid);
	entry = hash_search(promoted_rows, &key, HASH_ENTER, NULL);
	entry->cid = cid;
}

/* See store.h. */
CommandId
strata_promoted_cid(Relation rel, ItemPointer tid, CommandId cid)
{
	PromotedKey key;
	PromotedEntry *entry;

	if (promoted_rows == NULL)
		return cid;
	set_key(&key, rel, tid);
	entry = hash_search(promoted_rows, &key, HASH_FIND, NULL);
	if (entry == NULL || cid > entry->cid)
		return cid;
	/* the id after it is current or past; have the next command go beyond */
	(void) GetCurrentCommandId(true);
	return entry->cid + 1;
}

static void
at_transaction_end(XactEvent event, void *arg)
{
	/* its memory went, or goes, with TopTransactionContext */
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE ||
		event == XACT_EVENT_PARALLEL_COMMIT || event == XACT_EVENT_PARALLEL_ABORT)
		promoted_rows = NULL;
}

void
strata_promote_init(void)
{
	RegisterXactCallback(at_transaction_end, NULL);
}

/*-------------------------------------------------------------------------
 * Rows into the row store, with index entries
 *-------------------------------------------------------------------------
 */

/* See store_private.h. */
StrataRowWriter *
strata_row_writer_begin(Relation rel)
{
	StrataRowWriter *writer = palloc0(sizeof(StrataRowWriter));

	writer->rel = rel;
	writer->slot = table_slot_create(rel, NULL);
	writer->estate = CreateExecutorState();
	writer->rri = makeNode(ResultRelInfo);
	InitResultRelInfo(writer->rri, rel, 0, NULL, 0);
	ExecOpenIndices(writer->rri, false);
	return writer;
}

/* See store_private.h. */
void
strata_row_writer_insert(StrataRowWriter *writer)
{
	bool		shouldFree;
	HeapTuple	tuple = ExecFetchSlotHeapTuple(writer->slot, true, &shouldFree);

	CHECK_FOR_INTERRUPTS();
	/* a system-looking header of a compressed row must not be taken over */
	heap_insert(writer->rel, tuple, GetCurrentCommandId(true), HEAP_INSERT_NO_LOGICAL, NULL);
	ItemPointerCopy(&tuple->t_self, &writer->slot->tts_tid);
	if (writer->rri->ri_NumIndices > 0)
	{
		ResetPerTupleExprContext(writer->estate);
		(void) strata_insert_index_tuples(writer->rri, writer->slot, writer->estate);
	}
	if (shouldFree)
		pfree(tuple);
}

/* See store_private.h. */
void
strata_row_writer_end(StrataRowWriter *writer)
{
	ExecCloseIndices(writer->rri);
	ExecDropSingleTupleTableSlot(writer->slot);
	FreeExecutorState(writer->estate);
}

/*-------------------------------------------------------------------------
 * Promotion
 *-------------------------------------------------------------------------
 */

/* Heap TID that a forwarding entry gives for `row`. */
static void
forwarded_tid(StrataStore *store, TupleTableSlot *batch, int64 row, ItemPointer tid)
{
	int64		first = DatumGetInt64(batch->tts_values[STRATA_BATCH_ATT_FIRST_ROW - 1]);
	int64		nrows = -DatumGetInt32(batch->tts_values[STRATA_BATCH_ATT_NROWS - 1]);
	bytea	   *forward;

	if (batch->tts_isnull[STRATA_BATCH_ATT_FORWARD - 1])
		strata_error_corrupt(store->rel, first, NULL, "a promoted batch has no forwarding list");
	forward = DatumGetByteaPP(batch->tts_values[STRATA_BATCH_ATT_FORWARD - 1]);
	if (VARSIZE_ANY_EXHDR(forward) != nrows * sizeof(ItemPointerData))
		strata_error_corrupt(store->rel, first, NULL, "the forwarding list has the wrong length");
	memcpy(tid, VARDATA_ANY(forward) + (row - first) * sizeof(ItemPointerData), sizeof(ItemPointerData));
}

/* See store.h. */
bool
strata_store_forwarded(StrataStore *store, TupleTableSlot *batch, int64 row, ItemPointer tid)
{
	if (DatumGetInt32(batch->tts_values[STRATA_BATCH_ATT_NROWS - 1]) >= 0)
		return false;
	forwarded_tid(store, batch, row, tid);
	return true;
}

/* Insert the rows of the locked batch; returns their TIDs as a bytea. */
static bytea *
insert_rows(StrataStore *store, StrataBatchReader *reader)
{
	int			nrows = reader->nrows;
	Size		size = VARHDRSZ + nrows * sizeof(ItemPointerData);
	bytea	   *forward = palloc(size);
	StrataRowWriter *writer = strata_row_writer_begin(store->rel);

	SET_VARSIZE(forward, size);
	for (int i = 0; i < nrows; i++)
	{
		/* index expressions may have advanced it since the row before */
		CommandId	cid = GetCurrentCommandId(true);

		strata_batch_store_row(store->rel, reader, i, writer->slot);
		strata_row_writer_insert(writer);
		memcpy(VARDATA(forward) + i * sizeof(ItemPointerData), &writer->slot->tts_tid,
			   sizeof(ItemPointerData));
		remember_promoted(store->rel, &writer->slot->tts_tid, cid);
	}
	strata_row_writer_end(writer);
	return forward;
}

/* Turn the locked batch in slot into a forwarding entry; returns its TIDs. */
static bytea *
promote_batch(StrataStore *store, TupleTableSlot *slot)
{
	TupleDesc	desc = RelationGetDescr(store->batches);
	StrataBatchReader *reader = strata_batch_reader_create(store->rel, store->schema);
	Datum	   *values = palloc0(sizeof(Datum) * desc->natts);
	bool	   *isnull = palloc(sizeof(bool) * desc->natts);
	HeapTuple	tuple;
	bytea	   *forward;
	ItemPointerData tid = slot->tts_tid;

	if (!strata_batch_reader_load(reader, slot))
		elog(ERROR, "batch is promoted already");
	memset(isnull, true, desc->natts);
	for (int i = 0; i < STRATA_BATCH_ATT_LAYOUT; i++)
	{
		values[i] = slot->tts_values[i];
		isnull[i] = false;
	}
	values[STRATA_BATCH_ATT_NROWS - 1] = Int32GetDatum(-reader->nrows);
	forward = insert_rows(store, reader);
	values[STRATA_BATCH_ATT_FORWARD - 1] = PointerGetDatum(forward);
	isnull[STRATA_BATCH_ATT_FORWARD - 1] = false;
	tuple = heap_form_tuple(desc, values, isnull);
	/* who has read the batch's rows must conflict with their writers from now on */
	TransferPredicateLocksToHeapRelation(store->batches);
	CatalogTupleUpdate(store->batches, &tid, tuple);
	heap_freetuple(tuple);
	strata_batch_reader_free(reader);
	CommandCounterIncrement();
	return forward;
}

/*
 * The row was compressed when the caller's snapshot was taken, and its batch is
 * gone: recompressed, decompressed, rewritten.  Its rows are not deleted, they
 * are elsewhere, and nothing says where.
 */
static void
error_moved(Relation rel)
{
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("could not serialize access due to concurrent compression or decompression of table \"%s\"",
					RelationGetRelationName(rel))));
}

/*
 * Lock the batch row that holds `row`, in its last version, into slot.
 */
static TM_Result
lock_batch(StrataStore *store, int64 row, LockWaitPolicy wait_policy, TupleTableSlot *slot,
		   TM_FailureData *tmfd)
{
	TM_Result	result;
	ItemPointerData tid;

	PushActiveSnapshot(GetLatestSnapshot());
	if (!strata_store_find_batch(store, row, GetActiveSnapshot(), slot))
		error_moved(store->rel);
	tid = slot->tts_tid;
	ExecClearTuple(slot);
	/* heapam's error for NOWAIT would name the companion */
	result = table_tuple_lock(store->batches, &tid, GetActiveSnapshot(), slot,
							  GetCurrentCommandId(true), LockTupleExclusive,
							  wait_policy == LockWaitError ? LockWaitSkip : wait_policy,
							  TUPLE_LOCK_FLAG_FIND_LAST_VERSION, tmfd);
	PopActiveSnapshot();
	if (result == TM_WouldBlock && wait_policy == LockWaitError)
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("could not obtain lock on row in relation \"%s\"",
						RelationGetRelationName(store->rel))));
	return result;
}

/*
 * A batch that somebody promoted since our transaction's snapshot was taken is
 * still a batch to that snapshot, whatever we do to its rows in the row store:
 * a changed row would be seen twice.  So rows of it cannot be changed.
 */
static void
check_snapshot(StrataStore *store, int64 row)
{
	TupleTableSlot *slot;
	ItemPointerData tid;
	bool		seen;

	if (!IsolationUsesXactSnapshot())
		return;
	slot = table_slot_create(store->batches, NULL);
	seen = strata_store_find_batch(store, row, GetTransactionSnapshot(), slot) &&
		!strata_store_forwarded(store, slot, row, &tid);
	ExecDropSingleTupleTableSlot(slot);
	if (seen)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access due to concurrent update")));
}

/* See store.h. */
TM_Result
strata_store_promote(Relation rel, int64 row, bool change, LockWaitPolicy wait_policy,
					 ItemPointer tid, TM_FailureData *tmfd)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext, "strata promote",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	StrataStore *store = strata_store_open(rel, RowExclusiveLock);
	TupleTableSlot *slot;
	TM_Result	result;

	memset(tmfd, 0, sizeof(*tmfd));
	if (store == NULL)
		error_moved(rel);
	slot = table_slot_create(store->batches, NULL);
	result = lock_batch(store, row, wait_policy, slot, tmfd);
	if (result == TM_Ok)
	{
		slot_getallattrs(slot);
		if (strata_store_forwarded(store, slot, row, tid))
		{
			if (change)
				check_snapshot(store, row);
		}
		else
		{
			int64		first = DatumGetInt64(slot->tts_values[STRATA_BATCH_ATT_FIRST_ROW - 1]);
			bytea	   *forward = promote_batch(store, slot);

			memcpy(tid, VARDATA(forward) + (row - first) * sizeof(ItemPointerData),
				   sizeof(ItemPointerData));
		}
	}
	ExecDropSingleTupleTableSlot(slot);
	strata_store_close(store, NoLock);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mcxt);
	return result;
}
