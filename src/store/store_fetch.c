/*-------------------------------------------------------------------------
 *
 * store_fetch.c
 *	  Batches kept decoded for those who come row by row.
 *
 * UPDATE, DELETE, row locks, triggers and unique keys ask for compressed rows
 * one at a time, by TID, in the order of the batch or, for rows of many
 * segments that come together, by turns.  The last batches stay decoded,
 * within work_mem, until the transaction ends, something about their table
 * changes, or a subtransaction fails (which may give up the lock that kept
 * them in place). What a caller was given stays until two others have been
 * asked for.  Where they do not suffice, single rows are kept (store_kept.c),
 * and batches that are decoded again are found where they were.
 *
 * src/store/store_fetch.c
 *-------------------------------------------------------------------------
 */
#include "store/store_private.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#define CACHED_BATCHES 64

/* What a place may keep that holds no batch. */
#define MAX_SHELL_BYTES (128 * 1024)

typedef struct CachedBatch
{
	MemoryContext mcxt;			/* NULL: not in use */
	Oid			relid;
	Oid			companion;
	bool		stale;			/* its descriptors may be of the past */
	bool		live;			/* it cannot be replaced while we hold our
								 * lock */
	ItemPointerData tid;		/* of the batch row */
	TupleTableSlot *slot;
	StrataBatchReader *reader;
} CachedBatch;

/* Where a batch was, by the number of its first row, for the transaction. */
typedef struct BatchPlaceKey
{
	int64		first_row;
	Oid			companion;
	uint32		zero;
} BatchPlaceKey;

typedef struct BatchPlace
{
	BatchPlaceKey key;
	ItemPointerData tid;
} BatchPlace;

#define MAX_BATCH_PLACES 65536

static HTAB *batch_places = NULL;

static CachedBatch cached[CACHED_BATCHES];
static int	last_used = 0;
static int	used_before = 0;	/* the one before that */
static int	next_unloaded = 0;

/* In this transaction a batch had to make room for another. */
static bool given_up = false;

static void
invalidate(Datum arg, Oid relid)
{
	for (int i = 0; i < CACHED_BATCHES; i++)
		if (!OidIsValid(relid) || relid == cached[i].relid ||
			relid == cached[i].companion)
			cached[i].stale = true;
	strata_kept_invalidate(relid);
}

static void
at_transaction_end(XactEvent event, void *arg)
{
	/* the memory goes with TopTransactionContext */
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
		event == XACT_EVENT_PREPARE || event == XACT_EVENT_PARALLEL_COMMIT ||
		event == XACT_EVENT_PARALLEL_ABORT)
	{
		memset(cached, 0, sizeof(cached));
		batch_places = NULL;
		given_up = false;
		strata_kept_forget();
	}
}

static void
at_subtransaction_end(SubXactEvent event, SubTransactionId id,
					  SubTransactionId parent, void *arg)
{
	if (event != SUBXACT_EVENT_ABORT_SUB)
		return;
	invalidate((Datum) 0, InvalidOid);
	/* the lock may be given up that keeps blocks where they are */
	if (batch_places != NULL)
		hash_destroy(batch_places);
	batch_places = NULL;
}

void
strata_fetch_init(void)
{
	RegisterXactCallback(at_transaction_end, NULL);
	RegisterSubXactCallback(at_subtransaction_end, NULL);
	strata_relcache_callback_add(invalidate);
}

static void
free_place(CachedBatch *place)
{
	if (place->mcxt != NULL)
		MemoryContextDelete(place->mcxt);
	memset(place, 0, sizeof(*place));
}

static CachedBatch *
use_place(int i)
{
	if (i != last_used)
		used_before = last_used;
	last_used = i;
	return &cached[i];
}

/* The place whose reader stands at the batch of `row`, or NULL. */
static CachedBatch *
find_place(Relation rel, Relation batches, int64 row)
{
	for (int i = 0; i < CACHED_BATCHES; i++)
	{
		CachedBatch *place = &cached[i];

		if (place->relid == RelationGetRelid(rel) && !place->stale &&
			place->companion == RelationGetRelid(batches) &&
			row >= place->reader->first_row &&
			row < place->reader->first_row + place->reader->nrows)
		{
			/* what it was given before may be closed by now */
			place->reader->rel = rel;
			place->reader->toast = NULL;
			return use_place(i);
		}
	}
	return NULL;
}

/*
 * A place to be used for something else, not the last two.  At random: of
 * batches that are asked for in turns, more than there are places, some are
 * still there.
 */
static int
pick_victim(void)
{
	static uint32 state = 1;
	int			victim;

	for (int i = 0; i < CACHED_BATCHES; i++)
		if (cached[i].mcxt == NULL ||
			((cached[i].stale || cached[i].reader->nrows == 0) &&
			 i != last_used && i != used_before))
			return i;
	do
	{
		state = state * 1664525 + 1013904223;
		victim = (state >> 16) % CACHED_BATCHES;
	} while (victim == last_used || victim == used_before);
	given_up = true;
	return victim;
}

/*
 * Let go of the batch; the reader, which is dear to make, stays unless it is
 * large.
 */
static void
unload_place(CachedBatch *place)
{
	MemoryContextReset(place->reader->batch_mcxt);
	ExecClearTuple(place->slot);
	place->reader->nrows = 0;
	if (place->stale ||
		MemoryContextMemAllocated(place->mcxt, true) > MAX_SHELL_BYTES)
		free_place(place);
}

/* Unload what is over work_mem, but for the last two in use. */
static void
limit_memory(void)
{
	Size		limit = (Size) work_mem * 1024;
	Size		sum = 0;

	for (int i = 0; i < CACHED_BATCHES; i++)
		if (cached[i].mcxt != NULL && cached[i].reader->nrows > 0)
			sum += MemoryContextMemAllocated(cached[i].mcxt, true);
	for (int i = 0; i < CACHED_BATCHES && sum > limit; i++)
	{
		CachedBatch *place;

		next_unloaded = (next_unloaded + 1) % CACHED_BATCHES;
		place = &cached[next_unloaded];
		if (next_unloaded == last_used || next_unloaded == used_before ||
			place->mcxt == NULL || place->reader->nrows == 0)
			continue;
		sum -= Min(sum, MemoryContextMemAllocated(place->mcxt, true));
		unload_place(place);
		given_up = true;
	}
}

/*
 * A place for one more batch of the table, with a reader for its present
 * shape.
 */
static CachedBatch *
make_place(Relation rel, Relation batches)
{
	CachedBatch *place;
	MemoryContext old;

	limit_memory();
	place = use_place(pick_victim());
	if (place->relid == RelationGetRelid(rel) &&
		place->companion == RelationGetRelid(batches) && !place->stale)
	{
		/* until it is loaded */
		place->stale = true;
		return place;
	}
	free_place(place);
	place->stale = true;
	place->mcxt = AllocSetContextCreate(TopTransactionContext,
										"strata cached batch",
										ALLOCSET_DEFAULT_SIZES);
	place->relid = RelationGetRelid(rel);
	place->companion = RelationGetRelid(batches);
	old = MemoryContextSwitchTo(place->mcxt);
	place->slot = MakeSingleTupleTableSlot(
										   CreateTupleDescCopy(RelationGetDescr(batches)),
										   &TTSOpsBufferHeapTuple);
	place->reader = strata_batch_reader_create(rel, strata_batch_schema_create(
																			   CreateTupleDescCopyConstr(RelationGetDescr(rel)),
																			   place->slot->tts_tupleDescriptor,
																			   batches->rd_rel->reltoastrelid, strata_missing_value));
	MemoryContextSwitchTo(old);
	return place;
}

/* Take over the batch in place->slot. */
static StrataBatchReader *
load(CachedBatch *place, Relation rel, bool live)
{
	place->reader->rel = rel;
	place->reader->toast = NULL;
	place->tid = place->slot->tts_tid;
	if (!strata_batch_reader_load(place->reader, place->slot))
		return NULL;
	place->live = live;
	place->stale = false;
	return place->reader;
}

/* Remember where the batch of a place is; made for who needs a second look. */
static void
note_batch_place(const CachedBatch *place)
{
	BatchPlaceKey key = {.first_row = place->reader->first_row,
	.companion = place->companion};
	BatchPlace *noted;
	bool		found;

	if (batch_places == NULL)
	{
		HASHCTL		ctl = {0};

		ctl.keysize = sizeof(BatchPlaceKey);
		ctl.entrysize = sizeof(BatchPlace);
		ctl.hcxt = TopTransactionContext;
		batch_places = hash_create("strata places of batches", 256, &ctl,
								   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	if (hash_get_num_entries(batch_places) >= MAX_BATCH_PLACES)
		return;
	noted = hash_search(batch_places, &key, HASH_ENTER, &found);
	noted->tid = place->tid;
}

/*
 * Is the batch that begins with the row where it was, to the snapshot?  This
 * transaction may have written the companion anew: the place may be another
 * batch's, or no more.
 */
static bool
find_in_place(Relation batches, int64 row, Snapshot snapshot,
			  TupleTableSlot *slot)
{
	BatchPlaceKey key = {.first_row = row,
	.companion = RelationGetRelid(batches)};
	BatchPlace *noted;
	bool		isnull;

	if (batch_places == NULL ||
		(noted = hash_search(batch_places, &key, HASH_FIND, NULL)) == NULL ||
		ItemPointerGetBlockNumber(&noted->tid) >=
		RelationGetNumberOfBlocks(batches) ||
		!table_tuple_fetch_row_version(batches, &noted->tid, snapshot, slot))
		return false;
	if (DatumGetInt64(slot_getattr(slot, STRATA_BATCH_ATT_FIRST_ROW,
								   &isnull)) != row)
	{
		ExecClearTuple(slot);
		return false;
	}
	ExecMaterializeSlot(slot);
	return true;
}

/* See store.h. */
StrataBatchReader *
strata_cached_batch(Relation rel, Relation batches, int64 row, ItemPointer tid)
{
	CachedBatch *place = find_place(rel, batches, row);

	/* or what is found could be replaced */
	Assert(CheckRelationLockedByMe(rel, RowShareLock, true));	/* store:S3 */
	if (place != NULL && !place->live)
		place->stale = true;
	if (place == NULL || !place->live)
	{
		Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
		bool		found;

		place = make_place(rel, batches);
		found = find_in_place(batches, row, snapshot, place->slot) ||
			strata_batches_find(batches, row, snapshot, place->slot);
		UnregisterSnapshot(snapshot);
		if (!found || load(place, rel, true) == NULL)
			return NULL;
		if (given_up)
			note_batch_place(place);
	}
	*tid = place->tid;
	return place->reader;
}

static StrataBatchReader *
cached_any_batch(Relation rel, Relation batches, int64 row)
{
	CachedBatch *place = make_place(rel, batches);
	SnapshotData self;

	self.snapshot_type = SNAPSHOT_SELF;
	if (!strata_batches_find(batches, row, &self, place->slot) &&
		!strata_batches_find(batches, row, SnapshotAny, place->slot))
		return NULL;
	return load(place, rel, false);
}

/* Was the batch made by this transaction? */
static bool
batch_is_ours(StrataBatchReader *reader)
{
	HeapTuple	tuple;

	tuple = ((BufferHeapTupleTableSlot *) reader->batch_slot)->base.tuple;
	return !HeapTupleHeaderXminFrozen(tuple->t_data) &&
		TransactionIdIsCurrentTransactionId(
											HeapTupleHeaderGetRawXmin(tuple->t_data));
}

static void
set_decoded(StrataBatchRow *found, StrataBatchReader *reader, int64 row)
{
	found->reader = reader;
	found->tuple = NULL;
	found->desc = NULL;
	found->row = row;
	found->first_row = reader->first_row;
}

/* See store.h. */
bool
strata_batch_row_find(Relation rel, Relation batches, int64 row,
					  StrataBatchRow *found)
{
	bool		keeps = given_up && strata_enable_row_cache;
	StrataBatchReader *reader;
	CachedBatch *place = find_place(rel, batches, row);
	bool		decoded = place != NULL && place->live;

	/* who cannot rely on what was kept looks at the batch as it is */
	if (!decoded && keeps && strata_kept_find(rel, batches, row, found))
		return true;
	reader = strata_cached_batch(rel, batches, row, &found->batch_tid);
	if (reader == NULL)
		return false;
	set_decoded(found, reader, row);
	found->batch_is_ours = batch_is_ours(reader);
	if (!decoded && keeps)
		strata_kept_add(rel, batches, found);
	return true;
}

/* See store.h. */
bool
strata_batch_row_find_any(Relation rel, Relation batches, int64 row,
						  StrataBatchRow *found)
{
	CachedBatch *place = find_place(rel, batches, row);
	StrataBatchReader *reader;

	if (place == NULL && given_up && strata_enable_row_cache &&
		strata_kept_find(rel, batches, row, found))
		return true;
	reader = place != NULL ? place->reader :
		cached_any_batch(rel, batches, row);
	if (reader == NULL)
		return false;
	set_decoded(found, reader, row);
	return true;
}

/* See store.h. */
Datum
strata_batch_row_value(const StrataBatchRow *row, AttrNumber attno,
					   bool *isnull)
{
	int			within;

	if (row->reader == NULL)
		return heap_getattr(row->tuple, attno, row->desc, isnull);
	within = (int) (row->row - row->first_row);
	return strata_column_get(strata_batch_reader_row(row->reader, attno,
													 within),
							 within, isnull);
}

/* See store.h. */
void
strata_batch_row_store(Relation rel, const StrataBatchRow *row,
					   TupleTableSlot *slot)
{
	HeapTuple	tuple;

	if (row->reader != NULL)
	{
		strata_batch_store_alone(rel, row->reader,
								 (int) (row->row - row->first_row), slot);
		return;
	}
	if (slot->tts_ops == &TTSOpsVirtual)
	{
		ExecClearTuple(slot);
		heap_deform_tuple(row->tuple, row->desc, slot->tts_values,
						  slot->tts_isnull);
		ExecStoreVirtualTuple(slot);
	}
	else
	{
		tuple = heap_copytuple(row->tuple);
		tuple->t_tableOid = RelationGetRelid(rel);
		ExecForceStoreHeapTuple(tuple, slot, true);
	}
	slot->tts_tid = row->tuple->t_self;
	slot->tts_tableOid = RelationGetRelid(rel);
}
