/*-------------------------------------------------------------------------
 *
 * scan_parallel.c
 *	  A scan shared by a leader and its workers.
 *
 * Both halves are shared as PostgreSQL shares a heap: pages of the row store
 * and pages of the companion are handed out by two parallel table scans in the
 * node's piece of shared memory.  A child plan shares itself.
 *
 * src/scan/scan_parallel.c
 *-------------------------------------------------------------------------
 */
#include "scan/scan_private.h"

#include "access/parallel.h"
#include "access/tableam.h"
#include "storage/spin.h"

/* The node's piece of shared memory; the parallel scans follow. */
struct StrataParallel
{
	bool		has_batches;
	Size		heap_offset;	/* 0: a child reads the row store */
	Size		batch_offset;
	slock_t		mutex;
	StrataCounters counters;	/* of the workers that have finished */
};

Size
strata_parallel_estimate(CustomScanState *node, ParallelContext *pcxt)
{
	StrataScanState *scan = (StrataScanState *) node;
	Snapshot	snapshot = node->ss.ps.state->es_snapshot;
	Size		size = MAXALIGN(sizeof(StrataParallel));

	strata_scan_open_store(scan);
	if (scan->child == NULL)
		size = add_size(size, MAXALIGN(table_parallelscan_estimate(
																   node->ss.ss_currentRelation, snapshot)));
	if (scan->store != NULL)
		size =
			add_size(size,
					 MAXALIGN(table_parallelscan_estimate(scan->store->batches,
														  snapshot)));
	return size;
}

static ParallelTableScanDesc
scan_at(StrataParallel *shared, Size offset)
{
	return (ParallelTableScanDesc) ((char *) shared + offset);
}

/* Take part in the shared scans. */
static void
attach(StrataScanState *scan, StrataParallel *shared)
{
	scan->parallel = shared;
	if (shared->heap_offset != 0)
		scan->heap_pscan = scan_at(shared, shared->heap_offset);
	Assert(scan->info.nkeys == 0);	/* scan:R11 */
	if (shared->has_batches)
		strata_source_set_parallel(scan->source,
								   scan_at(shared, shared->batch_offset));
}

/* See scan_private.h. */
void
strata_parallel_initialize(CustomScanState *node, ParallelContext *pcxt,
						   void *area)
{
	StrataScanState *scan = (StrataScanState *) node;
	Snapshot	snapshot = node->ss.ps.state->es_snapshot;
	StrataParallel *shared = area;
	Size		offset = MAXALIGN(sizeof(StrataParallel));

	memset(shared, 0, sizeof(StrataParallel));
	SpinLockInit(&shared->mutex);
	if (scan->child == NULL)
	{
		Relation	rel = node->ss.ss_currentRelation;

		shared->heap_offset = offset;
		table_parallelscan_initialize(rel, scan_at(shared, offset), snapshot);
		offset += MAXALIGN(table_parallelscan_estimate(rel, snapshot));
	}
	if (scan->store != NULL)
	{
		shared->has_batches = true;
		shared->batch_offset = offset;
		table_parallelscan_initialize(scan->store->batches,
									  scan_at(shared, offset), snapshot);
	}
	attach(scan, shared);
}

void
strata_parallel_reinitialize(CustomScanState *node, ParallelContext *pcxt,
							 void *area)
{
	StrataScanState *scan = (StrataScanState *) node;
	StrataParallel *shared = area;

	if (shared->heap_offset != 0)
		table_parallelscan_reinitialize(node->ss.ss_currentRelation,
										scan_at(shared, shared->heap_offset));
	if (shared->has_batches)
		table_parallelscan_reinitialize(scan->store->batches,
										scan_at(shared, shared->batch_offset));
}

void
strata_parallel_worker(CustomScanState *node, shm_toc *toc, void *area)
{
	StrataScanState *scan = (StrataScanState *) node;
	StrataParallel *shared = area;

	/* what the leader did not see is not read by anybody */
	if (shared->has_batches)
		strata_scan_open_store(scan);
	else
		scan->store_opened = true;
	if (shared->has_batches && scan->store == NULL)
		elog(ERROR, "companion of \"%s\" has disappeared",
			 RelationGetRelationName(node->ss.ss_currentRelation));
	attach(scan, shared);
}

static void
add_counters(StrataCounters *to, const StrataCounters *from)
{
	to->considered += from->considered;
	to->pruned_segment += from->pruned_segment;
	to->pruned_range += from->pruned_range;
	to->pruned_join += from->pruned_join;
	to->scanned += from->scanned;
	to->counted += from->counted;
	to->columns_decoded += from->columns_decoded;
	to->batches_decoded += from->batches_decoded;
	to->rows_filtered += from->rows_filtered;
	to->batch_rows += from->batch_rows;
	to->heap_rows += from->heap_rows;
	to->column_rows += from->column_rows;
}

/* A worker leaves its counters; the leader takes those that are there. */
void
strata_parallel_shutdown(CustomScanState *node)
{
	StrataScanState *scan = (StrataScanState *) node;
	StrataParallel *shared = scan->parallel;

	if (shared == NULL)
		return;
	/* each process tells what it has counted itself */
	strata_scan_tell(scan);
	SpinLockAcquire(&shared->mutex);
	if (IsParallelWorker())
		add_counters(&shared->counters, &scan->counters);
	else
		add_counters(&scan->counters, &shared->counters);
	SpinLockRelease(&shared->mutex);
	scan->told = scan->counters;
	scan->parallel = NULL;
}
