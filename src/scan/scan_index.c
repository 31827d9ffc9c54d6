/*-------------------------------------------------------------------------
 *
 * scan_index.c
 *	  Plans that do without R's indexes, and the end of such plans.
 *
 * R's indexes lead to rows of the row store only.  When all rows lie in
 * batches there is nothing to be found through them, so the planner is not
 * shown those that are good for nothing else: it would spend a third of the
 * time of a short query's planning on them.  (Nor would it like what it gets:
 * the extreme values that it looks up in an index are the row store's.)
 *
 * A kept plan may outlive that: new rows come into the row store.  PostgreSQL
 * makes plans anew when ANALYZE runs, which for R, in whose number of rows the
 * batches count, may take a long time.  So a scan that finds the row store
 * many times larger than it was at planning has all plans for R made anew.
 *
 * src/scan/scan_index.c
 *-------------------------------------------------------------------------
 */
#include "scan/scan_private.h"
#include "store/store.h"

#include "access/parallel.h"
#include "access/table.h"
#include "access/xlog.h"
#include "scan/scan.h"
#include "utils/inval.h"

/* Below this many pages reading them all is as good as an index. */
#define OUTGROWN_PAGES 32

/* A row store grown by this is another one. */
#define OUTGROWN_FACTOR 8

/* Is the index of use to the planner even where it finds no row? */
static bool
proves_something(const IndexOptInfo *index)
{
	return index->unique || index->indexprs != NIL || index->indpred != NIL;
}

/* See scan.h. */
void
strata_scan_get_relation_info(PlannerInfo *root, Oid relid, bool inhparent,
							  RelOptInfo *rel)
{
	Relation	relation;
	StrataStoreSize size;
	ListCell   *lc;

	if (rel->indexlist == NIL || inhparent || !strata_enable_scan)
		return;
	relation = table_open(relid, NoLock);

	/*
	 * the access method has just been asked for rel->pages, and told both
	 * halves'
	 */
	if (strata_relation_is_strata(relation) &&
		OidIsValid(strata_companion_oid(relation)) &&
		strata_store_last_size(strata_companion_oid(relation), &size) &&
		rel->pages <= size.main_pages + size.toast_pages)
	{
		foreach(lc, rel->indexlist)
		{
			if (!proves_something(lfirst_node(IndexOptInfo, lc)))
				rel->indexlist = foreach_delete_current(rel->indexlist, lc);
		}
	}
	table_close(relation, NoLock);
}

/* See scan_plan_private.h. */
void
strata_scan_check_outgrown(Relation rel, BlockNumber planned,
						   BlockNumber found)
{
	if (found <= OUTGROWN_PAGES || found / OUTGROWN_FACTOR <= planned ||
		rel->rd_rel->relhasindex == false || RecoveryInProgress() ||
		IsInParallelMode())
		return;
	CacheInvalidateRelcache(rel);
}
