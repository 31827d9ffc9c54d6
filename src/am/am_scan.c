/*-------------------------------------------------------------------------
 *
 * am_scan.c
 *	  Plain scans: the row store first, then the batches.
 *
 * For all who do not go through StrataScan: COPY, ALTER TABLE, checks,
 * sessions without the planner hook.  Index and bitmap scans see the row store
 * only (the planner never leaves them alone on a table with batches).
 *
 * src/am/am_scan.c
 *-------------------------------------------------------------------------
 */
#include "am/am_private.h"
#include "stat/stat.h"
#include "store/store.h"

#include "access/parallel.h"
#include "port/atomics.h"
#include "utils/memutils.h"

/* Shared state of a parallel scan: heapam's, and who reads the batches. */
typedef struct ParallelScan
{
	ParallelBlockTableScanDescData heap;
	pg_atomic_uint32 claimed;
} ParallelScan;

static TableScanDesc
scan_begin(Relation rel, Snapshot snapshot, int nkeys, struct ScanKeyData *key,
		   ParallelTableScanDesc pscan, uint32 flags)
{
	StrataScanDesc *scan = palloc0(sizeof(StrataScanDesc));

	scan->heap = strata_heap_am->scan_begin(rel, snapshot, nkeys, key, pscan,
											flags);
	scan->base = *scan->heap;
	scan->with_batches = (flags & (SO_TYPE_SEQSCAN | SO_TYPE_TIDRANGESCAN)) !=
		0;
	scan->is_counted = scan->with_batches;
	return (TableScanDesc) scan;
}

/*
 * A worker's bitmap scan is given its snapshot after scan_begin, by
 * table_scan_update_snapshot on the outer descriptor: hand it on.
 */
static void
sync_snapshot(StrataScanDesc *scan)
{
	scan->heap->rs_snapshot = scan->base.rs_snapshot;
	scan->heap->rs_flags |= scan->base.rs_flags & SO_TEMP_SNAPSHOT;
}

/* Add the scan to the table's statistics. */
static void
tell_counted(const StrataScanDesc *scan)
{
	int64		counts[STRATA_STATS] = {0};

	if (!scan->is_counted || !scan->started)
		return;
	counts[STRATA_STAT_SCANS] = IsParallelWorker() ? 0 : 1;
	counts[STRATA_STAT_ROW_STORE_ROWS] = scan->heap_rows;
	counts[STRATA_STAT_BATCH_ROWS] = scan->batch_rows;
	if (scan->batches != NULL)
	{
		counts[STRATA_STAT_BATCHES_SCANNED] = scan->batches->nbatches;
		counts[STRATA_STAT_BATCHES_DECODED] = scan->batches->nbatches;
	}
	strata_stat_add(RelationGetRelid(scan->base.rs_rd), counts);
}

static void
scan_end(TableScanDesc sscan)
{
	StrataScanDesc *scan = (StrataScanDesc *) sscan;

	tell_counted(scan);
	if (scan->batches != NULL)
		strata_row_scan_end(scan->batches);
	strata_analyze_end(scan);
	strata_sample_end(scan);
	sync_snapshot(scan);
	strata_heap_am->scan_end(scan->heap);
	pfree(scan);
}

static void
scan_rescan(TableScanDesc sscan, struct ScanKeyData *key, bool set_params,
			bool allow_strat, bool allow_sync, bool allow_pagemode)
{
	StrataScanDesc *scan = (StrataScanDesc *) sscan;

	if (scan->batches != NULL)
		strata_row_scan_rescan(scan->batches);
	scan->started = false;
	scan->in_batches = false;
	scan->batches_claimed = false;
	strata_sample_rescan(scan);
	strata_heap_am->scan_rescan(scan->heap, key, set_params, allow_strat,
								allow_sync, allow_pagemode);
}

/* Are the batches ours to read?  In a parallel scan one participant's. */
static bool
claim_batches(StrataScanDesc *scan)
{
	ParallelScan *pscan = (ParallelScan *) scan->base.rs_parallel;
	uint32		expected = 0;

	if (!scan->with_batches)
		return false;
	if (pscan == NULL || scan->batches_claimed)
		return true;
	scan->batches_claimed = pg_atomic_compare_exchange_u32(&pscan->claimed,
														   &expected, 1);
	return scan->batches_claimed;
}

/* Next row of the batches; opens them when needed. */
static bool
next_compressed(StrataScanDesc *scan, ScanDirection direction,
				TupleTableSlot *slot)
{
	if (!claim_batches(scan))
		return false;
	if (scan->batches == NULL)
	{
		/* the caller may be in a context that lives for one row */
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(scan));

		/* compression may have committed since the table was opened */
		(void) strata_companion_oid_now(scan->base.rs_rd);
		scan->batches = strata_row_scan_begin(scan->base.rs_rd,
											  slot->tts_tupleDescriptor,
											  scan->base.rs_snapshot);
		MemoryContextSwitchTo(old);
		if (scan->batches == NULL)
		{
			scan->with_batches = false;
			return false;
		}
	}
	Assert(scan->with_batches && scan->in_batches); /* am:M2 */
	/* of participants of a parallel scan one reads them */
	Assert(scan->base.rs_parallel == NULL ||
		   scan->batches_claimed);	/* am:M2 */
	if (!strata_row_scan_next(scan->batches, direction, slot))
		return false;
	scan->batch_rows++;
	return true;
}

/* Next row of the row store. */
static bool
next_row_store_row(StrataScanDesc *scan, ScanDirection direction,
				   TupleTableSlot *slot)
{
	if (!strata_heap_am->scan_getnextslot(scan->heap, direction, slot))
		return false;
	scan->heap_rows++;
	return true;
}

/*
 * The row store ends where the batches begin, for a backward scan too:
 * heapam starts a backward scan that has run off its end at the last page.
 */
static bool
scan_getnextslot(TableScanDesc sscan, ScanDirection direction,
				 TupleTableSlot *slot)
{
	StrataScanDesc *scan = (StrataScanDesc *) sscan;

	if (ScanDirectionIsBackward(direction))
	{
		if (!scan->started && scan->with_batches)
			scan->in_batches = true;
		scan->started = true;
		if (scan->in_batches)
		{
			if (next_compressed(scan, direction, slot))
				return true;
			scan->in_batches = false;
		}
		return next_row_store_row(scan, direction, slot);
	}
	scan->started = true;
	if (!scan->in_batches)
	{
		if (next_row_store_row(scan, direction, slot))
			return true;
		if (!scan->with_batches)
			return false;
		scan->in_batches = true;
	}
	if (next_compressed(scan, direction, slot))
		return true;
	ExecClearTuple(slot);
	return false;
}

static void
scan_set_tidrange(TableScanDesc sscan, ItemPointer min, ItemPointer max)
{
	StrataScanDesc *scan = (StrataScanDesc *) sscan;

	ItemPointerCopy(min, &scan->base.STRATA_RS_MINTID);
	ItemPointerCopy(max, &scan->base.STRATA_RS_MAXTID);
	strata_heap_am->scan_set_tidrange(scan->heap, min, max);
}

/* The row store's rows in the range, then the compressed ones in it. */
static bool
scan_getnextslot_tidrange(TableScanDesc sscan, ScanDirection direction,
						  TupleTableSlot *slot)
{
	StrataScanDesc *scan = (StrataScanDesc *) sscan;
	bool		backward = ScanDirectionIsBackward(direction);

	if (backward && !scan->started)
		scan->in_batches = true;
	scan->started = true;
	for (;;)
	{
		if (!scan->in_batches)
		{
			if (strata_heap_am->scan_getnextslot_tidrange(scan->heap,
														  direction, slot))
			{
				scan->heap_rows++;
				return true;
			}
			if (backward)
				return false;
			scan->in_batches = true;
		}
		if (!next_compressed(scan, direction, slot))
		{
			if (!backward)
				break;
			scan->in_batches = false;
		}
		else if (ItemPointerCompare(&slot->tts_tid,
									&scan->base.STRATA_RS_MINTID) >= 0 &&
				 ItemPointerCompare(&slot->tts_tid,
									&scan->base.STRATA_RS_MAXTID) <= 0)
			return true;
	}
	ExecClearTuple(slot);
	return false;
}

/* See store.h, strata_rowstore_only_hook. */
static BlockNumber
rowstore_only(TableScanDesc scan)
{
	if (scan->rs_rd->rd_tableam == strata_am_routine)
	{
		((StrataScanDesc *) scan)->with_batches = false;
		((StrataScanDesc *) scan)->is_counted = false;
		scan = strata_inner_scan(scan);
	}
	return ((HeapScanDesc) scan)->rs_nblocks;
}

static Size
parallelscan_estimate(Relation rel)
{
	return sizeof(ParallelScan);
}

static Size
parallelscan_initialize(Relation rel, ParallelTableScanDesc pscan)
{
	(void) strata_heap_am->parallelscan_initialize(rel, pscan);
	pg_atomic_init_u32(&((ParallelScan *) pscan)->claimed, 0);
	return sizeof(ParallelScan);
}

static void
parallelscan_reinitialize(Relation rel, ParallelTableScanDesc pscan)
{
	strata_heap_am->parallelscan_reinitialize(rel, pscan);
	pg_atomic_write_u32(&((ParallelScan *) pscan)->claimed, 0);
}

/* A bitmap's pages are the row store's. */
#if STRATA_BITMAP_BY_BLOCK
static bool
scan_bitmap_next_block(TableScanDesc scan, struct TBMIterateResult *tbmres)
{
	sync_snapshot((StrataScanDesc *) scan);
	return strata_heap_am->scan_bitmap_next_block(strata_inner_scan(scan),
												  tbmres);
}

static bool
scan_bitmap_next_tuple(TableScanDesc scan, struct TBMIterateResult *tbmres,
					   TupleTableSlot *slot)
{
	return strata_heap_am->scan_bitmap_next_tuple(strata_inner_scan(scan),
												  tbmres, slot);
}
#else
static bool
scan_bitmap_next_tuple(TableScanDesc scan, TupleTableSlot *slot, bool *recheck,
					   uint64 *lossy_pages, uint64 *exact_pages)
{
	TableScanDesc heap = strata_inner_scan(scan);

	sync_snapshot((StrataScanDesc *) scan);
	/* a new one after each rescan */
	heap->st.rs_tbmiterator = scan->st.rs_tbmiterator;
	return strata_heap_am->scan_bitmap_next_tuple(heap, slot, recheck,
												  lossy_pages, exact_pages);
}
#endif

void
strata_am_scan_init(TableAmRoutine *am)
{
	am->scan_begin = scan_begin;
	am->scan_end = scan_end;
	am->scan_rescan = scan_rescan;
	am->scan_getnextslot = scan_getnextslot;
	am->scan_set_tidrange = scan_set_tidrange;
	am->scan_getnextslot_tidrange = scan_getnextslot_tidrange;
	am->parallelscan_estimate = parallelscan_estimate;
	am->parallelscan_initialize = parallelscan_initialize;
	am->parallelscan_reinitialize = parallelscan_reinitialize;
#if STRATA_BITMAP_BY_BLOCK
	am->scan_bitmap_next_block = scan_bitmap_next_block;
#endif
	am->scan_bitmap_next_tuple = scan_bitmap_next_tuple;
	strata_rowstore_only_hook = rowstore_only;
}
