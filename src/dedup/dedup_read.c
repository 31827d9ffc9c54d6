/*-------------------------------------------------------------------------
 *
 * dedup_read.c
 *	  Reading: heapam's callbacks fill slots that are lent to them.
 *
 * heapam looks at headers only, so nothing but slots have to know of symbols.
 * An error on the way leaves a slot lent: it is one of a statement that ends
 * with it, and clearing it is the same for both kinds.
 *
 * src/dedup/dedup_read.c
 *-------------------------------------------------------------------------
 */
#include "dedup/dedup_private.h"

#include "access/heapam.h"
#include "miscadmin.h"

static const TupleTableSlotOps *
slot_callbacks(Relation rel)
{
	return &strata_dedup_slot_ops;
}

static bool
next_of_heap(TableScanDesc scan, ScanDirection direction, TupleTableSlot *slot)
{
	bool		lent = strata_dedup_lend(slot);
	bool		found = strata_dedup_heap->scan_getnextslot(scan, direction,
															slot);

	strata_dedup_take_back(slot, lent);
	return found;
}

/* Does the row in the slot meet the keys of a scan?  As HeapKeyTest(). */
static bool
meets_keys(TupleTableSlot *slot, int nkeys, ScanKey keys)
{
	for (int i = 0; i < nkeys; i++)
	{
		ScanKey		key = &keys[i];
		bool		isnull;
		Datum		value;

		if (key->sk_flags & SK_ISNULL)
			return false;
		value = key->sk_attno > 0 ?
			slot_getattr(slot, key->sk_attno, &isnull) :
			slot_getsysattr(slot, key->sk_attno, &isnull);
		if (isnull ||
			!DatumGetBool(FunctionCall2Coll(&key->sk_func, key->sk_collation,
											value, key->sk_argument)))
			return false;
	}
	return true;
}

/*
 * heapam would compare the keys with the tuple as it is in the page, so it is
 * not shown them.  They stay in the scan, which a rescan changes.
 */
static bool
next_by_keys(TableScanDesc scan, ScanDirection direction,
			 TupleTableSlot *slot)
{
	int			nkeys = scan->rs_nkeys;
	bool		found;

	do
	{
		CHECK_FOR_INTERRUPTS();
		scan->rs_nkeys = 0;
		found = next_of_heap(scan, direction, slot);
		scan->rs_nkeys = nkeys;
	} while (found && !meets_keys(slot, nkeys, scan->rs_key));
	return found;
}

static bool
dedup_scan_getnextslot(TableScanDesc scan, ScanDirection direction,
					   TupleTableSlot *slot)
{
	return unlikely(scan->rs_nkeys > 0) ?
		next_by_keys(scan, direction, slot) :
		next_of_heap(scan, direction, slot);
}

static bool
dedup_scan_getnextslot_tidrange(TableScanDesc scan, ScanDirection direction,
								TupleTableSlot *slot)
{
	bool		lent = strata_dedup_lend(slot);
	bool		found =
	strata_dedup_heap->scan_getnextslot_tidrange(scan, direction, slot);

	strata_dedup_take_back(slot, lent);
	return found;
}

#if STRATA_BITMAP_BY_BLOCK
static bool
dedup_scan_bitmap_next_tuple(TableScanDesc scan,
							 struct TBMIterateResult *tbmres,
							 TupleTableSlot *slot)
{
	bool		lent = strata_dedup_lend(slot);
	bool		found = strata_dedup_heap->scan_bitmap_next_tuple(scan, tbmres,
																  slot);

	strata_dedup_take_back(slot, lent);
	return found;
}
#else
static bool
dedup_scan_bitmap_next_tuple(TableScanDesc scan, TupleTableSlot *slot,
							 bool *recheck,
							 uint64 *lossy_pages, uint64 *exact_pages)
{
	bool		lent = strata_dedup_lend(slot);
	bool		found =
	strata_dedup_heap->scan_bitmap_next_tuple(scan, slot, recheck,
											  lossy_pages, exact_pages);

	strata_dedup_take_back(slot, lent);
	return found;
}
#endif

static bool
dedup_scan_sample_next_tuple(TableScanDesc scan, struct SampleScanState *state,
							 TupleTableSlot *slot)
{
	bool		lent = strata_dedup_lend(slot);
	bool		found = strata_dedup_heap->scan_sample_next_tuple(scan, state,
																  slot);

	strata_dedup_take_back(slot, lent);
	return found;
}

static bool
dedup_scan_analyze_next_tuple(TableScanDesc scan, TransactionId oldest_xmin,
							  double *live_rows, double *dead_rows,
							  TupleTableSlot *slot)
{
	bool		lent = strata_dedup_lend(slot);
	bool		found =
	strata_dedup_heap->scan_analyze_next_tuple(scan, oldest_xmin,
											   live_rows, dead_rows, slot);

	strata_dedup_take_back(slot, lent);
	return found;
}

static bool
dedup_index_fetch_tuple(struct IndexFetchTableData *scan, ItemPointer tid,
						Snapshot snapshot, TupleTableSlot *slot, bool *call_again,
						bool *all_dead)
{
	bool		lent = strata_dedup_lend(slot);
	bool		found = strata_dedup_heap->index_fetch_tuple(scan, tid,
															 snapshot, slot,
															 call_again,
															 all_dead);

	strata_dedup_take_back(slot, lent);
	return found;
}

static bool
dedup_tuple_fetch_row_version(Relation rel, ItemPointer tid, Snapshot snapshot,
							  TupleTableSlot *slot)
{
	bool		lent = strata_dedup_lend(slot);
	bool		found = strata_dedup_heap->tuple_fetch_row_version(rel, tid,
																   snapshot,
																   slot);

	strata_dedup_take_back(slot, lent);
	return found;
}

/*
 * A slot that owns its tuple has no buffer, which heapam wants: look the row
 * up again.
 */
static bool
dedup_tuple_satisfies_snapshot(Relation rel, TupleTableSlot *slot,
							   Snapshot snapshot)
{
	HeapTupleData tuple;
	Buffer		buffer;
	bool		visible;

	if (((HeapTupleTableSlot *) slot)->tuple != NULL &&
		BufferIsValid(((BufferHeapTupleTableSlot *) slot)->buffer))
	{
		bool		lent = strata_dedup_lend(slot);

		visible = strata_dedup_heap->tuple_satisfies_snapshot(rel, slot,
															  snapshot);
		strata_dedup_take_back(slot, lent);
		return visible;
	}
	tuple.t_self = slot->tts_tid;
	visible = heap_fetch(rel, snapshot, &tuple, &buffer, false);
	if (visible)
		ReleaseBuffer(buffer);
	return visible;
}

static TM_Result
dedup_tuple_lock(Relation rel, ItemPointer tid, Snapshot snapshot,
				 TupleTableSlot *slot, CommandId cid, LockTupleMode mode,
				 LockWaitPolicy wait_policy, uint8 flags, TM_FailureData *tmfd)
{
	bool		lent = strata_dedup_lend(slot);
	TM_Result	result;

	result = strata_dedup_heap->tuple_lock(rel, tid, snapshot, slot, cid, mode,
										   wait_policy, flags, tmfd);
	strata_dedup_take_back(slot, lent);
	return result;
}

void
strata_dedup_read_init(TableAmRoutine *am)
{
	am->slot_callbacks = slot_callbacks;
	am->scan_getnextslot = dedup_scan_getnextslot;
	am->scan_getnextslot_tidrange = dedup_scan_getnextslot_tidrange;
	am->scan_bitmap_next_tuple = dedup_scan_bitmap_next_tuple;
	am->scan_sample_next_tuple = dedup_scan_sample_next_tuple;
	am->scan_analyze_next_tuple = dedup_scan_analyze_next_tuple;
	am->index_fetch_tuple = dedup_index_fetch_tuple;
	am->tuple_fetch_row_version = dedup_tuple_fetch_row_version;
	am->tuple_satisfies_snapshot = dedup_tuple_satisfies_snapshot;
	am->tuple_lock = dedup_tuple_lock;
}
