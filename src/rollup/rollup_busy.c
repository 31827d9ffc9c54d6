/*-------------------------------------------------------------------------
 *
 * rollup_busy.c
 *	  Where there is something to do for a refresh: times in which there are
 *	  chunks, of the source or of the archive.
 *
 * A chunk may be far longer than the times of its rows, and these may lie far
 * apart: of one with very many buckets it is asked where its rows are.  What
 * comes to other times meanwhile is not missed: slices take them along.
 *
 * src/rollup/rollup_busy.c
 *-------------------------------------------------------------------------
 */
#include "rollup/rollup_busy_private.h"
#include "rollup/rollup_private.h"

#include "hypertable/hypertable.h"

#include "catalog/pg_inherits.h"

/* Chunks of more buckets than these are looked into. */
#define WIDE_BUCKETS INT64CONST(100000)

/* Buckets of the window in which one of the two tables has something. */
static void
add_busy(const StrataRollup *rollup, bool archived, StrataRange window,
		 Snapshot snapshot, StrataRanges *busy)
{
	StrataRollupBucket bucket = rollup->bucket;
	int64		width = strata_rollup_bucket_width(&bucket);
	int64		wide = width < PG_INT64_MAX / WIDE_BUCKETS ?
	width * WIDE_BUCKETS : PG_INT64_MAX;
	ListCell   *lc;

	Assert(width > 0);			/* rollup:Z2 */
	foreach(lc, find_inheritance_children(archived ? rollup->archive :
										  rollup->source, NoLock))
	{
		int64		lo = PG_INT64_MIN;
		int64		hi = PG_INT64_MAX;
		StrataRange range;

		/* a default partition may hold any time */
		(void) strata_chunk_times(lfirst_oid(lc), &lo, &hi);
		range = strata_rollup_bucket_outward(&bucket, lo, hi);
		range.lo = Max(range.lo, window.lo);
		range.hi = Min(range.hi, window.hi);
		if (range.lo >= range.hi)
			continue;
		if ((uint64) range.hi - (uint64) range.lo > (uint64) wide)
			strata_rollup_occupied(rollup, archived, range, wide, snapshot,
								   busy);
		else
			strata_ranges_add(busy, range);
	}
}

/* See rollup_private.h. */
void
strata_rollup_busy(const StrataRollup *rollup, StrataRange window,
				   Snapshot snapshot, StrataRanges *busy)
{
	add_busy(rollup, false, window, snapshot, busy);
	add_busy(rollup, true, window, snapshot, busy);
}

/* See rollup_private.h. */
int64
strata_rollup_next_busy(const StrataRanges *busy, int64 from, bool backward)
{
	int			n = 0;
	int			end = busy->n;

	/* how many lie before that */
	while (n < end)
	{
		int			middle = (n + end) / 2;

		if (backward ? busy->r[middle].lo < from : busy->r[middle].hi <= from)
			n = middle + 1;
		else
			end = middle;
	}
	if (backward)
		return n > 0 ? Min(busy->r[n - 1].hi, from) : PG_INT64_MIN;
	return n < busy->n ? Max(busy->r[n].lo, from) : PG_INT64_MAX;
}
