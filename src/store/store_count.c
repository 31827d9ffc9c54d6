/*-------------------------------------------------------------------------
 *
 * store_count.c
 *	  How many rows there are in batches, by the index on first_row alone.
 *
 * The index has the number of rows beside its key, so a batch on a page of
 * which VACUUM has noted that everybody sees everything is counted without a
 * look at it; of others the row is looked up, to see whether the snapshot sees
 * it.
 *
 * No checksum covers an index.  But numbers are given out without gaps, so
 * where a batch ends, by its number of rows, the next one begins; where that
 * is not so, as behind batches that were deleted or replaced, the batch row is
 * read, and its checksum tells.
 *
 * Serializable: the companion is locked as one who reads all of it would lock
 * it.
 *
 * src/store/store_count.c
 *-------------------------------------------------------------------------
 */
#include "store/store_companion.h"
#include "store/store_private.h"

#include "access/genam.h"
#include "access/itup.h"
#include "access/table.h"
#include "access/visibilitymap.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

/* An entry of the index. */
typedef struct IndexedBatch
{
	ItemPointerData tid;
	int64		first_row;
	int32		nrows;
} IndexedBatch;

typedef struct Counting
{
	StrataStore *store;
	Snapshot	snapshot;
	StrataEntries *entries;
	IndexScanDesc scan;
	TupleTableSlot *slot;
	StrataBatchReader *reader;	/* NULL: none was needed */
	Buffer		visible;		/* page of the visibility map */
	StrataRowCount *count;
} Counting;

/* Does the snapshot see the batch of the index scan's current entry? */
static bool
is_visible(Counting *c)
{
	bool		visible;

	if (VM_ALL_VISIBLE(c->store->batches,
					   ItemPointerGetBlockNumber(&c->scan->xs_heaptid),
					   &c->visible))
		return true;
	c->count->fetched++;
	visible = index_fetch_heap(c->scan, c->slot);
	ExecClearTuple(c->slot);
	return visible;
}

/* The number of rows that the batch itself says it has. */
static int
read_nrows(Counting *c, const IndexedBatch *batch)
{
	ItemPointerData tid = batch->tid;
	bool		again = false;
	int			nrows;

	if (c->reader == NULL)
		c->reader = strata_batch_reader_create(c->store->rel,
											   c->store->schema);
	c->count->fetched++;
	if (!table_index_fetch_tuple(c->scan->xs_heapfetch, &tid, c->snapshot,
								 c->slot, &again, NULL) ||
		!strata_batch_reader_load(c->reader, c->slot) ||
		c->reader->first_row != batch->first_row)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("index \"%s\" leads to something else than batch " INT64_FORMAT,
						RelationGetRelationName(c->scan->indexRelation),
						batch->first_row),
				 errhint("REINDEX TABLE %s.%s;", STRATA_INTERNAL_SCHEMA,
						 RelationGetRelationName(c->store->batches))));
	nrows = c->reader->nrows;
	ExecClearTuple(c->slot);
	return nrows;
}

/*
 * Count the rows of a batch, behind which the next one begins at row `next`.
 */
static void
count_batch(Counting *c, const IndexedBatch *batch, int64 next)
{
	int			nrows = batch->nrows;

	if (batch->first_row + batch->nrows != next)
		nrows = read_nrows(c, batch);
	c->count->batches++;
	c->count->rows += nrows -
		strata_entries_find(c->entries, batch->first_row, nrows);
}

/*
 * Count the rows of all batches by the index, each looked at only where its
 * page is not all visible.
 */
static void
count_all(Counting *c)
{
	TupleDesc	desc = RelationGetDescr(c->scan->indexRelation);
	IndexedBatch batch = {.first_row = -1};

	while (strata_index_getnext_tid(c->scan, ForwardScanDirection) != NULL)
	{
		IndexedBatch next;
		bool		isnull;

		CHECK_FOR_INTERRUPTS();

		/*
		 * where the index leads to: looking at the row may move on from there
		 */
		next.tid = c->scan->xs_heaptid;
		next.first_row = DatumGetInt64(index_getattr(c->scan->xs_itup, 1, desc,
													 &isnull));
		next.nrows = DatumGetInt32(index_getattr(c->scan->xs_itup, 2, desc,
												 &isnull));
		if (!is_visible(c))
			continue;
		if (batch.first_row >= 0)
			count_batch(c, &batch, next.first_row);
		batch = next;
	}
	if (batch.first_row >= 0)
		count_batch(c, &batch, -1);
}

/* See store_private.h. */
bool
strata_companion_sees_batch(Relation batches, Relation index,
							Snapshot snapshot)
{
	IndexScanDesc scan = strata_index_beginscan(batches, index, snapshot, 1,
												0);
	TupleTableSlot *slot = table_slot_create(batches, NULL);
	ScanKeyData key;
	bool		found;

	/* below are entries */
	ScanKeyInit(&key, 1, BTGreaterEqualStrategyNumber, F_INT8GE,
				Int64GetDatum(0));
	index_rescan(scan, &key, 1, NULL, 0);
	found = strata_index_getnext_slot(scan, ForwardScanDirection, slot);
	ExecDropSingleTupleTableSlot(slot);
	index_endscan(scan);
	return found;
}

/* See store.h. */
bool
strata_store_has_batches(Relation rel, Snapshot snapshot)
{
	Oid			companion = strata_companion_oid(rel);
	Relation	batches;
	Relation	index;
	bool		found;

	batches = OidIsValid(companion) ?
		try_table_open(companion, AccessShareLock) : NULL;
	if (batches == NULL)
		return false;
	index = index_open(strata_row_index_of(batches), AccessShareLock);
	found = strata_companion_sees_batch(batches, index, snapshot);
	index_close(index, AccessShareLock);
	table_close(batches, AccessShareLock);
	return found;
}

/* See store.h. */
bool
strata_store_count_rows(StrataStore *store, Snapshot snapshot,
						StrataEntries *entries, StrataRowCount *count)
{
	Counting	c = {store, snapshot, entries,.visible = InvalidBuffer,
	.count = count};
	Relation	index;
	ScanKeyData key;

	memset(count, 0, sizeof(*count));
	if (!IsMVCCSnapshot(snapshot))
		return false;
	PredicateLockRelation(store->batches, snapshot);
	index = index_open(strata_row_index_of(store->batches), AccessShareLock);
	c.scan = strata_index_beginscan(store->batches, index, snapshot, 1, 0);
	c.scan->xs_want_itup = true;
	/* below are entries */
	ScanKeyInit(&key, 1, BTGreaterEqualStrategyNumber, F_INT8GE,
				Int64GetDatum(0));
	index_rescan(c.scan, &key, 1, NULL, 0);
	c.slot = MakeSingleTupleTableSlot(RelationGetDescr(store->batches),
									  &TTSOpsBufferHeapTuple);
	count_all(&c);
	if (BufferIsValid(c.visible))
		ReleaseBuffer(c.visible);
	if (c.reader != NULL)
		strata_batch_reader_free(c.reader);
	ExecDropSingleTupleTableSlot(c.slot);
	index_endscan(c.scan);
	index_close(index, AccessShareLock);
	return true;
}

/* See store.h. */
double
strata_store_rows_in_batches(Relation rel, Snapshot snapshot)
{
	StrataStore *store = strata_store_open(rel, AccessShareLock);
	StrataEntries *entries;
	StrataRowCount count;
	bool		known;

	if (store == NULL)
		return 0;
	entries = strata_entries_create(store->batches, snapshot);
	known = strata_store_count_rows(store, snapshot, entries, &count);
	strata_entries_free(entries);
	strata_store_close(store, AccessShareLock);
	return known ? (double) count.rows : 0;
}
