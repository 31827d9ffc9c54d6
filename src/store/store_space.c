/*-------------------------------------------------------------------------
 *
 * store_space.c
 *	  The companion's space: vacuumed with its table, rewritten when it pays.
 *
 * What recompression replaces is dead space at the front of the companion, and
 * what it writes lies behind, so VACUUM can hardly ever cut the file short:
 * the space is used again by the next recompression only.  VACUUM FULL and
 * CLUSTER of the table rewrite the companion as they do the table.  The same
 * is true of a row store where rows came in behind those that were
 * compressed, before VACUUM had made room for them in front.
 *
 * src/store/store_space.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"
#include "store/store_companion.h"
#include "store/store_index.h"
#include "store/store_private.h"

#include "access/table.h"
#include "access/xact.h"
#include "base/compat.h"
#include "commands/cluster.h"
#include "commands/vacuum.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"
#include "utils/memutils.h"

/* An index has this many pages when there is next to nothing in it. */
#define MIN_INDEX_PAGES 2

/* Fewer free pages are not worth the work. */
#define MIN_FREE_PAGES 8

/* Rewriting more pages than this would keep readers waiting for too long. */
#define MAX_PAGES 8192

/* The same of a row store, whose indexes are made anew as well. */
#define MAX_ROW_PAGES 2048

/* A row store has so many free pages, or more, when it is rewritten. */
#define MIN_FREE_ROW_PAGES 32

/* More are not looked through while readers wait, */
#define MAX_FREE_PAGES 262144

/* ... and of a row store, which are all read, these. */
#define MAX_READ_PAGES 65536

static Oid
toast_of(Oid companion)
{
	Relation	rel = try_relation_open(companion, AccessShareLock);
	Oid			toast = InvalidOid;

	if (rel != NULL)
	{
		toast = rel->rd_rel->reltoastrelid;
		relation_close(rel, NoLock);
	}
	return toast;
}

/* The relation beside it that leads from values to batches. */
static Oid
index_of(Oid companion)
{
	Relation	rel = try_relation_open(companion, AccessShareLock);
	Oid			index = InvalidOid;

	if (rel != NULL)
	{
		index = strata_index_relation_oid(rel);
		relation_close(rel, NoLock);
	}
	return index;
}

static void
vacuum_one(Oid relid, VacuumParams *params, BufferAccessStrategy strategy)
{
	Relation	rel;

	/* somebody else's VACUUM will do */
	if (!ConditionalLockRelationOid(relid, ShareUpdateExclusiveLock))
		return;
	rel = try_relation_open(relid, NoLock);
	if (rel == NULL)
	{
		UnlockRelationOid(relid, ShareUpdateExclusiveLock);
		return;
	}
	table_relation_vacuum(rel, params, strategy);
	relation_close(rel, NoLock);
}

/* See store_companion.h. */
void
strata_companion_vacuum(Relation rel, VacuumParams *params,
						BufferAccessStrategy strategy)
{
	Oid			companion = strata_companion_oid(rel);
	Oid			index;
	Oid			toast;

	if (!OidIsValid(companion))
		return;
	index = index_of(companion);
	vacuum_one(companion, params, strategy);
	toast = toast_of(companion);
	if (OidIsValid(toast) && (params->options & VACOPT_PROCESS_TOAST) != 0)
		vacuum_one(toast, params, strategy);
	if (OidIsValid(index))
		vacuum_one(index, params, strategy);
}

/* See store_companion.h. */
void
strata_companion_rewrite(Oid companion)
{
	Relation	rel;

	strata_cluster_rel(companion);
	CommandCounterIncrement();
	rel = table_open(companion, NoLock);
	strata_log_removed_rows(rel, GetOldestNonRemovableTransactionId(rel));
	table_close(rel, NoLock);
	/* the new TOAST table is decoded like any other's */
	strata_companion_silence(companion);
}

/*
 * Add the relation's pages, those of its indexes, and what of its own pages
 * its free space map does not know to be free; false when that is too much.
 */
static bool
count_pages(Oid relid, uint64 *pages, uint64 *index_pages, double *used)
{
	Relation	rel = table_open(relid, AccessShareLock);
	BlockNumber npages = RelationGetNumberOfBlocks(rel);
	ListCell   *lc;
	List	   *indexes;

	if (npages > MAX_FREE_PAGES)
	{
		table_close(rel, AccessShareLock);
		return false;
	}
	*pages += npages;
	for (BlockNumber page = 0; page < npages && *used <= MAX_PAGES; page++)
	{
		if ((page & 1023) == 0)
			CHECK_FOR_INTERRUPTS();
		*used += 1 - (double) GetRecordedFreeSpace(rel, page) / BLCKSZ;
	}
	indexes = RelationGetIndexList(rel);
	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		*index_pages += Max(RelationGetNumberOfBlocks(index),
							MIN_INDEX_PAGES) - MIN_INDEX_PAGES;
		index_close(index, NoLock);
	}
	list_free(indexes);
	table_close(rel, NoLock);
	return *used <= MAX_PAGES;
}

/* See store_companion.h. */
bool
strata_store_may_be_truncated(Relation rel)
{
	return strata_heap_may_be_truncated(rel);
}

/* See store_companion.h. */
bool
strata_row_store_is_bloated(Relation rel)
{
	uint64		pages = 0;
	uint64		index_pages = 0;
	double		used = 0;
	double		in_toast = 0;

	if (!count_pages(RelationGetRelid(rel), &pages, &index_pages, &used) ||
		(OidIsValid(rel->rd_rel->reltoastrelid) &&
		 !count_pages(rel->rd_rel->reltoastrelid, &pages, &index_pages,
					  &in_toast)))
		return false;
	/* a copy leaves as much of each page free as the table is to have */
	used = used * 100 / RelationGetFillFactor(rel, HEAP_DEFAULT_FILLFACTOR) +
		in_toast;
	/* rows that come later would fill what is less */
	return used <= MAX_ROW_PAGES && pages <= MAX_READ_PAGES &&
		pages > 4 * used + MIN_FREE_ROW_PAGES;
}

/* See store_companion.h. */
bool
strata_companion_is_bloated(Oid companion)
{
	Oid			toast = toast_of(companion);
	uint64		pages = 0;
	uint64		index_pages = 0;
	double		used = 0;

	if (!count_pages(companion, &pages, &index_pages, &used) ||
		(OidIsValid(toast) &&
		 !count_pages(toast, &pages, &index_pages, &used)))
		return false;
	/* fresh indexes take a fraction of what they lead to */
	return pages > 1.5 * used + MIN_FREE_PAGES ||
		index_pages > used + MIN_FREE_PAGES;
}
