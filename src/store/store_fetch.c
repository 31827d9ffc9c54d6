/*-------------------------------------------------------------------------
 *
 * store_fetch.c
 *	  Batches kept decoded for those who come row by row.
 *
 * UPDATE, DELETE, row locks and triggers ask for compressed rows one at a time,
 * by TID, mostly in the order of the batch.  The last few batches stay decoded
 * until the transaction ends, something about their table changes, or a
 * subtransaction fails (which may give up the lock that kept them in place).
 *
 * src/store/store_fetch.c
 *-------------------------------------------------------------------------
 */
#include "store/store_private.h"

#include "access/table.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#define CACHED_TABLES 4

typedef struct CachedBatch
{
	MemoryContext mcxt;			/* NULL: not in use */
	Oid			relid;
	Oid			companion;
	bool		stale;			/* its descriptors may be of the past */
	bool		live;			/* it cannot be replaced while we hold our lock */
	ItemPointerData tid;		/* of the batch row */
	TupleTableSlot *slot;
	StrataBatchReader *reader;
} CachedBatch;

static CachedBatch cached[CACHED_TABLES];
static int	next_victim = 0;

static void
invalidate(Datum arg, Oid relid)
{
	for (int i = 0; i < CACHED_TABLES; i++)
		if (!OidIsValid(relid) || relid == cached[i].relid || relid == cached[i].companion)
			cached[i].stale = true;
}

static void
at_transaction_end(XactEvent event, void *arg)
{
	/* the memory goes with TopTransactionContext */
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE ||
		event == XACT_EVENT_PARALLEL_COMMIT || event == XACT_EVENT_PARALLEL_ABORT)
		memset(cached, 0, sizeof(cached));
}

static void
at_subtransaction_end(SubXactEvent event, SubTransactionId id, SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		invalidate((Datum) 0, InvalidOid);
}

void
strata_fetch_init(void)
{
	RegisterXactCallback(at_transaction_end, NULL);
	RegisterSubXactCallback(at_subtransaction_end, NULL);
	CacheRegisterRelcacheCallback(invalidate, (Datum) 0);
}

/* The table's place, with a reader for its present shape. */
static CachedBatch *
find_place(Relation rel, Relation batches)
{
	CachedBatch *place = NULL;
	MemoryContext old;

	for (int i = 0; i < CACHED_TABLES; i++)
		if (cached[i].mcxt != NULL && cached[i].relid == RelationGetRelid(rel))
			place = &cached[i];
	if (place != NULL && !place->stale && place->companion == RelationGetRelid(batches))
		return place;
	if (place == NULL)
	{
		place = &cached[next_victim];
		next_victim = (next_victim + 1) % CACHED_TABLES;
	}
	if (place->mcxt != NULL)
		MemoryContextDelete(place->mcxt);
	memset(place, 0, sizeof(*place));
	place->stale = true;
	place->mcxt = AllocSetContextCreate(TopTransactionContext, "strata cached batch",
										ALLOCSET_DEFAULT_SIZES);
	place->relid = RelationGetRelid(rel);
	place->companion = RelationGetRelid(batches);
	old = MemoryContextSwitchTo(place->mcxt);
	place->slot = MakeSingleTupleTableSlot(CreateTupleDescCopy(RelationGetDescr(batches)),
										   &TTSOpsBufferHeapTuple);
	place->reader = strata_batch_reader_create(rel, strata_batch_schema_create(CreateTupleDescCopyConstr(RelationGetDescr(rel)),
																			   place->slot->tts_tupleDescriptor));
	MemoryContextSwitchTo(old);
	return place;
}

/* The reader, if it stands at the batch of `row`. */
static StrataBatchReader *
current_reader(CachedBatch *place, Relation rel, int64 row)
{
	StrataBatchReader *reader = place->reader;

	if (place->stale || reader->nrows == 0 || row < reader->first_row ||
		row >= reader->first_row + reader->nrows)
		return NULL;
	/* what it was given before may be closed by now */
	reader->rel = rel;
	return reader;
}

/* Take over the batch in place->slot. */
static StrataBatchReader *
load(CachedBatch *place, Relation rel, bool live)
{
	place->reader->rel = rel;
	place->tid = place->slot->tts_tid;
	if (!strata_batch_reader_load(place->reader, place->slot))
		return NULL;
	place->live = live;
	place->stale = false;
	return place->reader;
}

/* See store_private.h. */
StrataBatchReader *
strata_cached_batch(Relation rel, Relation batches, int64 row, ItemPointer tid)
{
	CachedBatch *place = find_place(rel, batches);
	StrataBatchReader *reader = place->live ? current_reader(place, rel, row) : NULL;

	if (reader == NULL)
	{
		Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
		bool		found;

		place->stale = true;
		place->reader->nrows = 0;
		found = strata_batches_find(batches, row, snapshot, place->slot);
		UnregisterSnapshot(snapshot);
		if (!found)
			return NULL;
		reader = load(place, rel, true);
	}
	*tid = place->tid;
	return reader;
}

/* See store.h. */
StrataBatchReader *
strata_cached_any_batch(Relation rel, Relation batches, int64 row)
{
	CachedBatch *place = find_place(rel, batches);
	StrataBatchReader *reader = current_reader(place, rel, row);
	SnapshotData self;

	if (reader != NULL)
		return reader;
	place->stale = true;
	place->reader->nrows = 0;
	self.snapshot_type = SNAPSHOT_SELF;
	if (!strata_batches_find(batches, row, &self, place->slot) &&
		!strata_batches_find_any(batches, row, place->slot))
		return NULL;
	return load(place, rel, false);
}
