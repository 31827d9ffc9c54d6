/*-------------------------------------------------------------------------
 *
 * store_size.c
 *	  How big the batch store is, for the planner.
 *
 * src/store/store_size.c
 *-------------------------------------------------------------------------
 */
#include "store/store_private.h"

#include <math.h>

#include "access/table.h"
#include "executor/executor.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* Pages of the companion looked at to estimate the rest. */
#define SAMPLE_PAGES 32

/* Remembered per companion while its size stays about the same. */
typedef struct SizeCache
{
	Oid			companion;		/* hash key */
	BlockNumber pages;			/* when it was counted */
	double		batches_per_page;
	double		rows_per_page;
	StrataStoreSize last;		/* as told last */
} SizeCache;

static HTAB *size_caches = NULL;

/* Count live batches and their rows in blocks [start, start + n). */
static void
count_blocks(Relation companion, BlockNumber start, BlockNumber n,
			 double *batches, double *rows)
{
	Snapshot	snapshot = RegisterSnapshot(strata_latest_snapshot());
	TableScanDesc scan = table_beginscan_strat(companion, snapshot, 0, NULL,
											   true, false);
	TupleTableSlot *slot = table_slot_create(companion, NULL);

	heap_setscanlimits(scan, start, n);
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		bool		isnull;
		int32		nrows = DatumGetInt32(slot_getattr(slot,
													   STRATA_BATCH_ATT_NROWS,
													   &isnull));

		if (nrows <= 0)
			continue;
		*batches += 1;
		*rows += nrows;
	}
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	UnregisterSnapshot(snapshot);
}

/* Exact when the companion has few pages, else from evenly spread ones. */
static void
sample(Relation companion, SizeCache *cache, BlockNumber pages)
{
	BlockNumber looked = Min(pages, SAMPLE_PAGES);
	double		batches = 0;
	double		rows = 0;

	if (pages <= SAMPLE_PAGES)
		count_blocks(companion, 0, pages, &batches, &rows);
	else
	{
		for (int i = 0; i < SAMPLE_PAGES; i++)
			count_blocks(companion,
						 (BlockNumber) ((double) pages * i / SAMPLE_PAGES), 1,
						 &batches, &rows);
	}
	cache->pages = pages;
	cache->batches_per_page = looked > 0 ? batches / looked : 0;
	cache->rows_per_page = looked > 0 ? rows / looked : 0;
}

static double
toast_pages(Relation companion)
{
	Oid			toast = companion->rd_rel->reltoastrelid;
	Relation	rel;
	double		result;

	if (!OidIsValid(toast))
		return 0;
	rel = table_open(toast, AccessShareLock);
	result = RelationGetNumberOfBlocks(rel);
	table_close(rel, AccessShareLock);
	return result;
}

/* See store.h. */
void
strata_store_estimate_size(Relation companion, StrataStoreSize *size)
{
	BlockNumber pages = RelationGetNumberOfBlocks(companion);
	Oid			relid = RelationGetRelid(companion);
	SizeCache  *cache;
	bool		found;

	if (size_caches == NULL)
	{
		HASHCTL		ctl = {0};

		ctl.keysize = sizeof(Oid);
		ctl.entrysize = sizeof(SizeCache);
		ctl.hcxt = CacheMemoryContext;
		size_caches = hash_create("strata store sizes", 16, &ctl,
								  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	cache = hash_search(size_caches, &relid, HASH_ENTER, &found);
	if (!found)
	{
		cache->pages = InvalidBlockNumber;
		cache->last.main_pages = -1;
	}
	/* small ones are counted each time: it is cheap, and they change most */
	if (!found || pages <= 4 ||
		fabs((double) pages - cache->pages) > 0.1 * cache->pages)
		sample(companion, cache, pages);
	/* batches that need TOAST take place here too */
	if (cache->last.main_pages != pages)
		cache->last.toast_pages = toast_pages(companion);
	cache->last.main_pages = pages;
	cache->last.batches = cache->batches_per_page * pages;
	cache->last.rows = cache->rows_per_page * pages;
	*size = cache->last;
}

/* See store.h. */
double
strata_store_estimate_row_store(Relation rel, Snapshot snapshot)
{
	BlockNumber pages = RelationGetNumberOfBlocks(rel);
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	TableScanDesc scan;
	double		rows = 0;

	if (pages <= SAMPLE_PAGES)
	{
		scan = table_beginscan(rel, snapshot, 0, NULL);
		(void) strata_rowstore_only_hook(scan);
		while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
			rows++;
		table_endscan(scan);
	}
	for (int i = 0; pages > SAMPLE_PAGES && i < SAMPLE_PAGES; i++)
	{
		BlockNumber page = (BlockNumber) ((double) pages * i / SAMPLE_PAGES);
		ItemPointerData first;
		ItemPointerData last;

		ItemPointerSet(&first, page, FirstOffsetNumber);
		ItemPointerSet(&last, page, MaxOffsetNumber);
		scan = table_beginscan_tidrange(rel, snapshot, &first, &last);
		(void) strata_rowstore_only_hook(scan);
		while (table_scan_getnextslot_tidrange(scan, ForwardScanDirection,
											   slot))
			rows += (double) pages / SAMPLE_PAGES;
		table_endscan(scan);
	}
	ExecDropSingleTupleTableSlot(slot);
	return rows;
}

/* See store.h. */
bool
strata_store_last_size(Oid companion, StrataStoreSize *size)
{
	SizeCache  *cache;

	cache = size_caches == NULL ? NULL :
		hash_search(size_caches, &companion, HASH_FIND, NULL);
	if (cache == NULL || cache->last.main_pages < 0)
		return false;
	*size = cache->last;
	return true;
}
