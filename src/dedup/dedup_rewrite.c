/*-------------------------------------------------------------------------
 *
 * dedup_rewrite.c
 *	  VACUUM FULL and CLUSTER: the new pages are deduplicated before they are
 *	  written, as long as that makes room.
 *
 * Which rows are copied, and in which order, is as heapam has it
 * (heapam_relation_copy_for_cluster), which would copy tuples as they are;
 * rewriteheap.c does the writing.  Its page is in memory that nobody else
 * knows, so a round costs no record of the log.
 *
 * src/dedup/dedup_rewrite.c
 *-------------------------------------------------------------------------
 */
#include "dedup/dedup_private.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/rewriteheap.h"
#include "access/xact.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/tuplesort.h"

typedef struct DedupRewrite
{
	RewriteState state;
	Relation	from;
	Relation	to;
	TransactionId oldest_xmin;
	Tuplesortstate *sort;		/* NULL: tuples are written as they come */
	bool		deduplicate;
	bool	   *plain;
	BlockNumber hopeless;		/* page that would not gain */
	Size		hopeless_free;	/* free bytes that it had */
	Datum	   *values;
	bool	   *isnull;
	double		rows;
	double		removed;
	double		recently_dead;
} DedupRewrite;

/* Make room in the page that is being filled, if the next tuple would not fit. */
static void
dedup_make_room(DedupRewrite *rewrite, Size len)
{
	BlockNumber block;
	char	   *page = strata_rewrite_page(rewrite->state, rewrite->from,
										   rewrite->to, &block);
	StrataPageWork *work = strata_dedup_work();
	Size		room;

	if (page == NULL)
		return;
	room = PageGetHeapFreeSpace(page);
	if (room >= MAXALIGN(len) +
		RelationGetTargetPageFreeSpace(rewrite->to,
									   HEAP_DEFAULT_FILLFACTOR))
		return;
	/* a large tuple may be followed by smaller ones, with other values */
	if (rewrite->hopeless == block && room == rewrite->hopeless_free)
		return;
	if (strata_page_deduplicate(page, RelationGetDescr(rewrite->to),
								rewrite->plain, strata_dedup_rule_now(),
								STRATA_DEDUP_ANOTHER_ROUND,
								work) == STRATA_PAGE_CHANGED)
		memcpy(page, strata_page_work_result(work), BLCKSZ);
	else
	{
		rewrite->hopeless = block;
		rewrite->hopeless_free = room;
	}
}

/* Write a tuple without symbols, dropped columns emptied. */
static void
rewrite_row(DedupRewrite *rewrite, HeapTuple tuple)
{
	TupleDesc	desc = RelationGetDescr(rewrite->to);
	HeapTuple	copy;

	heap_deform_tuple(tuple, RelationGetDescr(rewrite->from), rewrite->values,
					  rewrite->isnull);
	for (int i = 0; i < desc->natts; i++)
		if (TupleDescAttr(desc, i)->attisdropped)
			rewrite->isnull[i] = true;
	copy = heap_form_tuple(desc, rewrite->values, rewrite->isnull);
	if (rewrite->deduplicate)
		dedup_make_room(rewrite, copy->t_len);
	rewrite_heap_tuple(rewrite->state, tuple, copy);
	heap_freetuple(copy);
}

/* Of a row of which a transaction is still running: it must be ours. */
static void
check_in_progress(Relation rel, TransactionId xid, const char *what)
{
	if (!TransactionIdIsCurrentTransactionId(xid))
		elog(WARNING, "concurrent %s in progress within table \"%s\"", what,
			 RelationGetRelationName(rel));
}

/* Is the row one that nobody can see any more?  Counts it. */
static bool
is_dead(DedupRewrite *rewrite, HeapTuple tuple, Buffer buffer)
{
	bool		dead = false;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	switch (HeapTupleSatisfiesVacuum(tuple, rewrite->oldest_xmin, buffer))
	{
		case HEAPTUPLE_DEAD:
			dead = true;
			break;
		case HEAPTUPLE_RECENTLY_DEAD:
			rewrite->recently_dead += 1;
			break;
		case HEAPTUPLE_DELETE_IN_PROGRESS:
			check_in_progress(rewrite->from,
							  HeapTupleHeaderGetUpdateXid(tuple->t_data),
							  "delete");
			rewrite->recently_dead += 1;
			break;
		case HEAPTUPLE_INSERT_IN_PROGRESS:
			check_in_progress(rewrite->from,
							  HeapTupleHeaderGetXmin(tuple->t_data),
							  "insert");
			break;
		case HEAPTUPLE_LIVE:
			break;
	}
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return dead;
}

/* Copy the row that the slot is at, or have it sorted. */
static void
copy_row(DedupRewrite *rewrite, TupleTableSlot *slot)
{
	BufferHeapTupleTableSlot *b = (BufferHeapTupleTableSlot *) slot;
	HeapTuple	tuple = b->base.tuple;
	HeapTuple	plain = tuple;

	if (is_dead(rewrite, tuple, b->buffer))
	{
		rewrite->removed += 1;
		if (rewrite_heap_dead_tuple(rewrite->state, tuple))
		{
			/* one that was taken for recently dead is dead */
			rewrite->removed += 1;
			rewrite->recently_dead -= 1;
		}
		return;
	}
	rewrite->rows += 1;
	if (strata_page_is_flagged(tuple->t_data))
		plain = strata_dedup_plain_copy(tuple, b->buffer,
										slot->tts_tupleDescriptor);
	if (rewrite->sort != NULL)
		tuplesort_putheaptuple(rewrite->sort, plain);
	else
	{
		rewrite_row(rewrite, plain);
		pgstat_progress_update_param(PROGRESS_CLUSTER_HEAP_TUPLES_WRITTEN,
									 rewrite->rows);
	}
	pgstat_progress_update_param(PROGRESS_CLUSTER_HEAP_TUPLES_SCANNED,
								 rewrite->rows);
	if (plain != tuple)
		heap_freetuple(plain);
}

/* Copy the rows in the order of an index. */
static void
copy_by_index(DedupRewrite *rewrite, Relation index, TupleTableSlot *slot)
{
	IndexScanDesc scan = strata_index_beginscan(rewrite->from, index,
												SnapshotAny, 0, 0);

	pgstat_progress_update_param(PROGRESS_CLUSTER_PHASE,
								 PROGRESS_CLUSTER_PHASE_INDEX_SCAN_HEAP);
	pgstat_progress_update_param(PROGRESS_CLUSTER_INDEX_RELID,
								 RelationGetRelid(index));
	index_rescan(scan, NULL, 0, NULL, 0);
	while (strata_index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (scan->xs_recheck)
			elog(ERROR, "CLUSTER does not support lossy index conditions");
		copy_row(rewrite, slot);
	}
	index_endscan(scan);
}

/* Copy the rows as they come, or have them sorted. */
static void
copy_by_page(DedupRewrite *rewrite, TupleTableSlot *slot)
{
	TableScanDesc scan = table_beginscan(rewrite->from, SnapshotAny, 0, NULL);
	HeapScanDesc heap = (HeapScanDesc) scan;
	BlockNumber block = InvalidBlockNumber;

	pgstat_progress_update_param(PROGRESS_CLUSTER_PHASE,
								 PROGRESS_CLUSTER_PHASE_SEQ_SCAN_HEAP);
	pgstat_progress_update_param(PROGRESS_CLUSTER_TOTAL_HEAP_BLKS,
								 heap->rs_nblocks);
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (block != heap->rs_cblock)
		{
			/* a scan may begin in the middle, and end before that */
			block = heap->rs_cblock;
			pgstat_progress_update_param(PROGRESS_CLUSTER_HEAP_BLKS_SCANNED,
										 (block + heap->rs_nblocks -
										  heap->rs_startblock) %
										 heap->rs_nblocks + 1);
		}
		copy_row(rewrite, slot);
	}
	pgstat_progress_update_param(PROGRESS_CLUSTER_HEAP_BLKS_SCANNED,
								 heap->rs_nblocks);
	table_endscan(scan);
}

/* Write what was sorted. */
static void
rewrite_sorted(DedupRewrite *rewrite)
{
	HeapTuple	tuple;
	double		written = 0;

	pgstat_progress_update_param(PROGRESS_CLUSTER_PHASE,
								 PROGRESS_CLUSTER_PHASE_SORT_TUPLES);
	tuplesort_performsort(rewrite->sort);
	pgstat_progress_update_param(PROGRESS_CLUSTER_PHASE,
								 PROGRESS_CLUSTER_PHASE_WRITE_NEW_HEAP);
	while ((tuple = tuplesort_getheaptuple(rewrite->sort, true)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		rewrite_row(rewrite, tuple);
		written += 1;
		pgstat_progress_update_param(PROGRESS_CLUSTER_HEAP_TUPLES_WRITTEN,
									 written);
	}
	tuplesort_end(rewrite->sort);
}

/* See above; `to` may be a heap, or a table of ours. */
static void
dedup_relation_copy_for_cluster(Relation from, Relation to, Relation index,
								bool use_sort, TransactionId oldest_xmin,
								TransactionId *xid_cutoff, MultiXactId *multi_cutoff,
								double *num_tuples, double *tups_vacuumed,
								double *tups_recently_dead)
{
	DedupRewrite rewrite = {0};
	int			natts = RelationGetDescr(to)->natts;
	TupleTableSlot *slot = table_slot_create(from, NULL);

	rewrite.from = from;
	rewrite.to = to;
	rewrite.oldest_xmin = oldest_xmin;
	rewrite.hopeless = InvalidBlockNumber;

	rewrite.deduplicate = strata_enable_deduplication &&
		strata_is_dedup(to) &&
		strata_dedup_wanted(to, &rewrite.plain);
	rewrite.values = palloc(natts * sizeof(Datum));
	rewrite.isnull = palloc(natts * sizeof(bool));
	rewrite.state = begin_heap_rewrite(from, to, oldest_xmin, *xid_cutoff,
									   *multi_cutoff);
	if (use_sort)
		rewrite.sort = tuplesort_begin_cluster(RelationGetDescr(from), index,
											   maintenance_work_mem, NULL,
											   TUPLESORT_NONE);
	if (index != NULL && !use_sort)
		copy_by_index(&rewrite, index, slot);
	else
		copy_by_page(&rewrite, slot);
	ExecDropSingleTupleTableSlot(slot);
	if (rewrite.sort != NULL)
		rewrite_sorted(&rewrite);
	end_heap_rewrite(rewrite.state);
	*num_tuples = rewrite.rows;
	*tups_vacuumed = rewrite.removed;
	*tups_recently_dead = rewrite.recently_dead;
}

void
strata_dedup_rewrite_init(TableAmRoutine *am)
{
	am->relation_copy_for_cluster = dedup_relation_copy_for_cluster;
}
