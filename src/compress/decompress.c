/*-------------------------------------------------------------------------
 *
 * decompress.c
 *	  Batches -> row store: the way back, whole table.
 *
 * Not logically decoded: for subscribers nothing changes.
 *
 * src/compress/decompress.c
 *-------------------------------------------------------------------------
 */
#include "compress/compress_private.h"
#include "index/index.h"
#include "stat/stat.h"

#include "access/table.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/predicate.h"
#include "utils/inval.h"
#include "utils/snapmgr.h"

/* See compress.h. */
int64
strata_store_decompress(Relation rel)
{
	Snapshot	snapshot = RegisterSnapshot(IsolationUsesXactSnapshot() ?
											GetTransactionSnapshot() :
											GetLatestSnapshot());
	StrataRowScan *scan = strata_row_scan_begin(rel, RelationGetDescr(rel),
												snapshot);
	StrataRowWriter *writer;
	int64		nrows = 0;

	if (scan == NULL)
	{
		UnregisterSnapshot(snapshot);
		strata_settings_note_compressed(rel, false);
		return 0;
	}
	strata_progress_start(rel);
	strata_progress_expect(2 * strata_store_rows_in_batches(rel, snapshot));
	strata_progress_phase(STRATA_PHASE_RESTORING);
	PushActiveSnapshot(snapshot);
	TransferPredicateLocksToHeapRelation(rel);
	TransferPredicateLocksToHeapRelation(scan->store->batches);
	Assert(CheckRelationLockedByMe(rel, ExclusiveLock,
								   true));	/* compress:K2 */
	/* before the rows are put back: some may be back already, by an update */
	strata_store_delete_batches(scan->store, snapshot,
								GetCurrentCommandId(true));
	strata_index_clear(scan->store);
	writer = strata_row_writer_begin(rel);
	while (strata_row_scan_next(scan, ForwardScanDirection, writer->slot))
	{
		strata_row_writer_put(writer);
		strata_row_writer_index(writer);
		if ((++nrows & 1023) == 0)
			strata_progress_rows(nrows, nrows);
	}
	strata_row_writer_end(writer);

	strata_row_scan_end(scan);
	PopActiveSnapshot();
	UnregisterSnapshot(snapshot);
	strata_settings_note_compressed(rel, false);
	CacheInvalidateRelcache(rel);
	CommandCounterIncrement();
	strata_progress_end();
	strata_stat_decompressed(RelationGetRelid(rel));
	return nrows;
}
