/*-------------------------------------------------------------------------
 *
 * index_collect.c
 *	  Hashes of a column's values, or of an index's keys, batch after batch,
 *	  in order.
 *
 * As many batches as fit maintenance_work_mem are given to whoever asked, the
 * entries sorted by hash; then the next ones.
 *
 * src/index/index_collect.c
 *-------------------------------------------------------------------------
 */
#include "index/index_class_private.h"
#include "store/store_companion.h"

#include "access/tableam.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"

/* Least entries that are sorted at a time. */
#define ENTRIES_MIN 65536

/* Digits of the radix sort. */
#define DIGIT_BITS 11
#define DIGITS (1 << DIGIT_BITS)

/* See index_private.h. */
void
strata_index_batches_begin(StrataIndexBatches *batches, StrataStore *store,
						   int64 from, Snapshot snapshot)
{
	ScanKeyData key;

	InitDirtySnapshot(batches->dirty);
	batches->store = store;
	batches->key = index_open(strata_row_index_of(store->batches),
							  AccessShareLock);
	batches->slot = table_slot_create(store->batches, NULL);
	batches->scan = strata_index_beginscan(store->batches, batches->key,
										   snapshot != NULL ? snapshot :
										   &batches->dirty, 1, 0);
	ScanKeyInit(&key, 1, BTGreaterEqualStrategyNumber, F_INT8GE,
				Int64GetDatum(from));
	index_rescan(batches->scan, &key, 1, NULL, 0);
}

/* See index_private.h. */
bool
strata_index_batches_next(StrataIndexBatches *batches, int64 *first_row)
{
	bool		isnull;

	CHECK_FOR_INTERRUPTS();
	if (!strata_index_getnext_slot(batches->scan, ForwardScanDirection,
								   batches->slot))
		return false;
	*first_row = DatumGetInt64(slot_getattr(batches->slot,
											STRATA_BATCH_ATT_FIRST_ROW,
											&isnull));
	return true;
}

/* See index_private.h. */
void
strata_index_batches_end(StrataIndexBatches *batches)
{
	ExecDropSingleTupleTableSlot(batches->slot);
	index_endscan(batches->scan);
	index_close(batches->key, AccessShareLock);
}

/*
 * Sort by hash; entries of a hash stay in the order in which they came, that
 * of their batches.
 */
static void
sort_by_hash(StrataIndexCollector *collector)
{
	Size	   *counts = palloc(sizeof(Size) * DIGITS);

	for (int shift = 32; shift < 64; shift += DIGIT_BITS)
	{
		uint64	   *swap = collector->entries;
		Size		sum = 0;

		memset(counts, 0, sizeof(Size) * DIGITS);
		for (Size i = 0; i < collector->n; i++)
			counts[(swap[i] >> shift) & (DIGITS - 1)]++;
		for (int i = 0; i < DIGITS; i++)
		{
			Size		count = counts[i];

			counts[i] = sum;
			sum += count;
		}
		for (Size i = 0; i < collector->n; i++)
			collector->other[counts[(swap[i] >> shift) & (DIGITS - 1)]++] =
				swap[i];
		collector->entries = collector->other;
		collector->other = swap;
		CHECK_FOR_INTERRUPTS();
	}
	pfree(counts);
}

/* Give what was collected, all of the batches with numbers below `to`. */
static void
hand_over(StrataIndexCollector *collector, int64 to, StrataIndexTake take,
		  void *arg)
{
	sort_by_hash(collector);
	take(collector, to, arg);
	collector->n = 0;
	collector->nbatches = 0;
	collector->nrows = 0;
}

/* What the values of a batch are hashed by. */
typedef struct Hasher
{
	const StrataIndexTarget *target;
	FmgrInfo	function;		/* of a column's values */
	Oid			collation;
	uint32	   *hashes;
	Relation	index;			/* of keys */
	StrataIndexValues *values;
	StrataBatchKeys *keys;
} Hasher;

static void
hasher_begin(Hasher *hasher, Relation rel, const StrataIndexTarget *target)
{
	memset(hasher, 0, sizeof(*hasher));
	hasher->target = target;
	if (target->kind == STRATA_INDEX_KEYS)
	{
		hasher->index = index_open(target->function, AccessShareLock);
		hasher->values = strata_index_values_open(rel, hasher->index);
		hasher->keys = strata_index_keys_open(hasher->index);
		return;
	}
	hasher->collation = TupleDescAttr(RelationGetDescr(rel),
									  target->attno - 1)->attcollation;
	hasher->hashes = palloc(sizeof(uint32) * ENTRIES_MIN);
	fmgr_info(target->function, &hasher->function);
}

static void
hasher_end(Hasher *hasher)
{
	if (hasher->target->kind == STRATA_INDEX_KEYS)
	{
		strata_index_keys_close(hasher->keys);
		strata_index_values_close(hasher->values);
		index_close(hasher->index, NoLock);
		return;
	}
	pfree(hasher->hashes);
}

/* Hashes of the reader's batch; returns how many. */
static int
hash_reader(Hasher *hasher, StrataBatchReader *reader, const uint32 **hashes)
{
	AttrNumber	attno = hasher->target->attno;

	if (hasher->target->kind == STRATA_INDEX_KEYS)
		return strata_index_keys_of_batch(hasher->keys, hasher->values, reader,
										  hashes);
	Assert(strata_index_hashes_max(reader, attno) <=
		   ENTRIES_MIN);		/* index:I3 */
	*hashes = hasher->hashes;
	return strata_index_hash_batch(reader, attno, &hasher->function,
								   hasher->collation, hasher->hashes);
}

/* Take the hashes of the reader's batch, for which there is room. */
static void
collect_batch(StrataIndexCollector *collector, StrataBatchReader *reader,
			  const uint32 *hashes, int n)
{
	if (collector->nbatches == collector->batches_size)
	{
		collector->batches_size *= 2;
		collector->first_rows = repalloc_huge(collector->first_rows,
											  sizeof(int64) *
											  collector->batches_size);
	}
	collector->first_rows[collector->nbatches] = reader->first_row;
	Assert(collector->n + n <= collector->size);	/* index:I3 */
	for (int i = 0; i < n; i++)
		collector->entries[collector->n++] = ((uint64) hashes[i] << 32) |
			(uint32) collector->nbatches;
	collector->nbatches++;
	collector->nrows += reader->nrows;
}

/* See index_private.h. */
void
strata_index_collect(StrataIndexCollector *collector, StrataStore *store,
					 Snapshot snapshot, const StrataIndexTarget *target,
					 int64 from, int64 to, StrataIndexTake take, void *arg)
{
	StrataBatchReader *reader = strata_batch_reader_create(store->rel,
														   store->schema);
	StrataIndexBatches batches;
	Hasher		hasher;
	int64		first_row;

	memset(collector, 0, sizeof(*collector));
	collector->attno = target->attno;
	collector->size = Max((Size) maintenance_work_mem * 1024 /
						  (2 * sizeof(uint64)), ENTRIES_MIN);
	collector->entries = MemoryContextAllocHuge(CurrentMemoryContext,
												sizeof(uint64) *
												collector->size);
	collector->other = MemoryContextAllocHuge(CurrentMemoryContext,
											  sizeof(uint64) *
											  collector->size);
	collector->batches_size = 1024;
	collector->first_rows = palloc(sizeof(int64) * collector->batches_size);
	hasher_begin(&hasher, store->rel, target);
	reader->toast = store->toast;
	strata_index_batches_begin(&batches, store, from, snapshot);
	while (strata_index_batches_next(&batches, &first_row) && first_row < to)
	{
		const uint32 *hashes;
		int			n;

		if (!strata_batch_reader_load(reader, batches.slot))
			continue;
		n = hash_reader(&hasher, reader, &hashes);
		if (collector->n + n > collector->size)
			hand_over(collector, first_row, take, arg);
		collect_batch(collector, reader, hashes, n);
	}
	strata_index_batches_end(&batches);
	hand_over(collector, to, take, arg);
	hasher_end(&hasher);
	strata_batch_reader_free(reader);
	pfree(collector->entries);
	pfree(collector->other);
	pfree(collector->first_rows);
}
