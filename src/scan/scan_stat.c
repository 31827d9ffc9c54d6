/*-------------------------------------------------------------------------
 *
 * scan_stat.c
 *	  What a scan has counted, for strata.stat_tables.
 *
 * EXPLAIN ANALYZE counts batches that an index led past by reading all of
 * them; here they are estimated, from what the planner last knew.
 *
 * src/scan/scan_stat.c
 *-------------------------------------------------------------------------
 */
#include "scan/scan_private.h"
#include "stat/stat.h"

#include "access/parallel.h"

/*
 * Batches that were not looked at: behind an index, or behind the end of a
 * scan that was not gone on with.
 */
static int64
batches_not_seen(const StrataScanState *scan)
{
	const StrataCounters *c = &scan->counters;
	StrataStoreSize size;
	double		all;

	if (IsParallelWorker() || scan->store == NULL || c->loops == 0 ||
		(scan->info.access == STRATA_ACCESS_SEQ && c->exhausted >= c->loops) ||
		!strata_store_last_size(RelationGetRelid(scan->store->batches), &size))
		return 0;
	all = size.batches * (c->loops - scan->told.loops);
	return (int64) Max(all - (c->considered - scan->told.considered), 0);
}

/* See scan_private.h. */
void
strata_scan_tell(StrataScanState *scan)
{
	const StrataCounters *c = &scan->counters;
	const StrataCounters *told = &scan->told;
	int64		counts[STRATA_STATS] = {0};
	int64		loops = c->loops - told->loops;

	if (!strata_stat_enabled())
		return;
	if (scan->batch != NULL)
		strata_batch_account(scan, scan->batch);
	counts[STRATA_STAT_ROW_STORE_ROWS] = c->heap_rows - told->heap_rows;
	/* one that the row store was enough for never came to the batches */
	if (loops == 0 && counts[STRATA_STAT_ROW_STORE_ROWS] == 0)
		return;
	if (!IsParallelWorker())
		counts[STRATA_STAT_SCANS] = Max(loops, told->loops == 0);
	counts[STRATA_STAT_BATCHES_SCANNED] = c->scanned - told->scanned;
	counts[STRATA_STAT_BATCHES_DECODED] = c->batches_decoded -
		told->batches_decoded;
	counts[STRATA_STAT_PRUNED_SEGMENT] = c->pruned_segment -
		told->pruned_segment;
	counts[STRATA_STAT_PRUNED_RANGE] = c->pruned_range - told->pruned_range;
	counts[STRATA_STAT_COUNTED] = c->counted - told->counted;
	/* of those that were listed too, not all need have been read */
	counts[STRATA_STAT_PASSED] = batches_not_seen(scan) +
		Max(c->considered - told->considered -
			counts[STRATA_STAT_PRUNED_SEGMENT] -
			counts[STRATA_STAT_PRUNED_RANGE] -
			counts[STRATA_STAT_BATCHES_SCANNED] -
			counts[STRATA_STAT_COUNTED] - scan->nswept, 0);
	counts[STRATA_STAT_BATCH_ROWS] = c->batch_rows - told->batch_rows;
	strata_stat_add(RelationGetRelid(scan->css.ss.ss_currentRelation), counts);
	scan->told = *c;
}
