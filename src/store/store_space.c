/*-------------------------------------------------------------------------
 *
 * store_space.c
 *	  The companion's space: vacuumed with its table, rewritten when it pays.
 *
 * What recompression replaces is dead space at the front of the companion, and
 * what it writes lies behind, so VACUUM can hardly ever cut the file short: the
 * space is used again by the next recompression only.  VACUUM FULL and CLUSTER
 * of the table rewrite the companion as they do the table.
 *
 * src/store/store_space.c
 *-------------------------------------------------------------------------
 */
#include "store/store_private.h"

#include "access/table.h"
#include "access/xact.h"
#include "base/compat.h"
#include "commands/cluster.h"
#include "commands/vacuum.h"
#include "storage/bufmgr.h"
#include "storage/freespace.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"

/* An index has this many pages when there is next to nothing in it. */
#define MIN_INDEX_PAGES 2

/* Fewer free pages are not worth the work. */
#define MIN_FREE_PAGES 8

/* Rewriting more pages than this would keep readers waiting for too long. */
#define MAX_PAGES 8192

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

/* See store.h. */
void
strata_companion_vacuum(Relation rel, VacuumParams *params, BufferAccessStrategy strategy)
{
	Oid			companion = strata_companion_oid(rel);
	Oid			toast;

	if (!OidIsValid(companion))
		return;
	vacuum_one(companion, params, strategy);
	toast = toast_of(companion);
	if (OidIsValid(toast) && (params->options & VACOPT_PROCESS_TOAST) != 0)
		vacuum_one(toast, params, strategy);
}

/* See store.h. */
void
strata_companion_rewrite(Oid companion)
{
	strata_cluster_rel(companion);
	CommandCounterIncrement();
	/* the new TOAST table is decoded like any other's */
	strata_companion_silence(companion);
}

/* Add the relation's pages, and its indexes'; *used: without what its free space map knows to be free. */
static void
count_pages(Oid relid, uint64 *pages, double *used)
{
	Relation	rel = table_open(relid, AccessShareLock);
	BlockNumber npages = RelationGetNumberOfBlocks(rel);
	ListCell   *lc;
	List	   *indexes = RelationGetIndexList(rel);

	*pages += npages;
	for (BlockNumber page = 0; page < npages; page++)
	{
		if ((page & 1023) == 0)
			CHECK_FOR_INTERRUPTS();
		*used += 1 - (double) GetRecordedFreeSpace(rel, page) / BLCKSZ;
	}
	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		*pages += Max(RelationGetNumberOfBlocks(index), MIN_INDEX_PAGES) - MIN_INDEX_PAGES;
		index_close(index, NoLock);
	}
	list_free(indexes);
	table_close(rel, NoLock);
}

/* See store.h. */
bool
strata_companion_is_bloated(Oid companion)
{
	Oid			toast = toast_of(companion);
	uint64		pages = 0;
	double		used = 0;

	count_pages(companion, &pages, &used);
	if (OidIsValid(toast))
		count_pages(toast, &pages, &used);
	/* indexes, fresh, take a fraction of what they lead to */
	return used <= MAX_PAGES && pages > 1.5 * used + MIN_FREE_PAGES;
}
