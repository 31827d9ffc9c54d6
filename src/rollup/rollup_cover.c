/*-------------------------------------------------------------------------
 *
 * rollup_cover.c
 *	  Of which times a rollup's archive may be used, and of which it must not.
 *
 * Cover says what was complete when it was written; marks say what has changed
 * since.  A refresh folds them: it takes marked buckets out of the cover of
 * every rollup of the table and the marks away, in one transaction.  So there
 * is one way to be wrong less: what is dirty and what was never computed are
 * the same, namely not covered.
 *
 * src/rollup/rollup_cover.c
 *-------------------------------------------------------------------------
 */
#include "rollup/rollup_private.h"

#include "catalog/catalog.h"
#include "hypertable/hypertable.h"
#include "store/store.h"
#include "track/track.h"

#include "access/htup_details.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* Half-open ranges, as cover has them. */
static void
collect_range(int64 lo, int64 hi, void *arg)
{
	strata_ranges_add(arg, strata_range(lo, hi));
}

/* Of whose buckets what is taken away. */
typedef struct Dirt
{
	StrataRollupBucket *bucket;
	StrataRanges *ranges;
} Dirt;

/* Times from lo to hi, both inclusive, are dirty. */
static void
take_away(int64 lo, int64 hi, void *arg)
{
	Dirt	   *dirt = arg;

	strata_ranges_subtract(dirt->ranges,
						   strata_rollup_bucket_outward(dirt->bucket, lo, hi));
}

/* Take everything that is not in `clean` out of the ranges, by buckets. */
static void
take_away_others(Dirt *dirt, const StrataRanges *clean)
{
	int64		from = PG_INT64_MIN;

	for (int i = 0; i < clean->n; i++)
	{
		if (clean->r[i].lo > from)
			take_away(from, clean->r[i].lo - 1, dirt);
		from = clean->r[i].hi;
	}
	take_away(from, PG_INT64_MAX, dirt);
}

/* See rollup.h. */
void
strata_rollup_covered(const StrataRollup *rollup, Snapshot snapshot,
					  StrataRanges *covered)
{
	memset(covered, 0, sizeof(*covered));
	strata_cover_visit(rollup->view, snapshot, collect_range, covered);
}

/* Have rows of the archive gone that the snapshot should find? */
static bool
has_lost(const StrataRollup *rollup, Snapshot snapshot)
{
	StrataRollupRow *then = rollup->losses == 0 || snapshot == NULL ? NULL :
	strata_rollup_row_at(rollup->view, snapshot);

	return then != NULL && then->losses != rollup->losses;
}

/* See rollup.h. */
void
strata_rollup_clean(const StrataRollup *rollup, Snapshot snapshot,
					StrataRanges *clean)
{
	StrataRollupBucket bucket = rollup->bucket;
	Dirt		dirt = {&bucket, clean};
	Oid			below;

	strata_rollup_covered(rollup, snapshot, clean);
	/* the snapshot has the cover still, but not the archive's rows */
	if (clean->n > 0 && has_lost(rollup, snapshot))
		clean->n = 0;
	if (clean->n == 0)
		return;
	strata_track_marks_visit(rollup->source, snapshot, take_away, &dirt);
	strata_track_pending(rollup->source, take_away, &dirt);
	below = strata_rollup_of_archive(rollup->source);
	if (OidIsValid(below) && clean->n > 0)
		strata_rollup_trust_below(rollup, below, snapshot, clean);
}

/* See rollup_private.h. */
void
strata_rollup_trust_below(const StrataRollup *rollup, Oid below,
						  Snapshot snapshot, StrataRanges *ranges)
{
	StrataRollupBucket bucket = rollup->bucket;
	Dirt		dirt = {&bucket, ranges};
	StrataRollup *lower = strata_rollup_open(below, false);
	StrataRanges clean;

	strata_rollup_clean(lower, snapshot, &clean);
	take_away_others(&dirt, &clean);
}

/*-------------------------------------------------------------------------
 * Folding
 *-------------------------------------------------------------------------
 */

/* Marks, both ends inclusive, that do not touch the others. */
typedef struct Marks
{
	int			n;
	int			space;
	StrataRange *r;
} Marks;

static void
keep_mark(int64 lo, int64 hi, void *arg)
{
	Marks	   *marks = arg;

	/* a transaction's marks follow each other */
	if (marks->n > 0 && marks->r[marks->n - 1].lo <= lo &&
		marks->r[marks->n - 1].hi >= hi)
		return;
	if (marks->n >= marks->space)
	{
		marks->space = Max(64, 2 * marks->space);
		marks->r = marks->r == NULL ?
			palloc(sizeof(StrataRange) * marks->space) :
			repalloc_huge(marks->r, sizeof(StrataRange) * marks->space);
	}
	marks->r[marks->n++] = strata_range(lo, hi);
}

/* See rollup_private.h. */
void
strata_rollup_put_cover(Oid view, const StrataRanges *before,
						const StrataRanges *after)
{
	int			b = 0;
	int			a = 0;

	Assert(before->n >= 0 && after->n >= 0);	/* rollup:Z1 */

	/* first all that goes: the rest may begin where one of those did */
	for (; b < before->n; b++)
	{
		while (a < after->n && after->r[a].lo < before->r[b].lo)
			a++;
		if (a >= after->n || after->r[a].lo != before->r[b].lo ||
			after->r[a].hi != before->r[b].hi)
			strata_cover_remove(view, before->r[b].lo);
	}
	for (a = 0, b = 0; a < after->n; a++)
	{
		while (b < before->n && before->r[b].lo < after->r[a].lo)
			b++;
		if (b >= before->n || before->r[b].lo != after->r[a].lo ||
			before->r[b].hi != after->r[a].hi)
			strata_cover_add(view, after->r[a].lo, after->r[a].hi);
	}
}

/* See rollup_private.h. */
int
strata_rollup_fold(Oid source, Snapshot snapshot)
{
	Marks		marks = {0};
	ListCell   *lc;

	strata_track_marks_take(source, snapshot, keep_mark, &marks);
	if (marks.n == 0)
		return 0;
	Assert(snapshot != NULL && snapshot->regd_count > 0);	/* rollup:Z3 */
	foreach(lc, strata_rollups_of_source(source))
	{
		StrataRollup *rollup = strata_rollup_open(lfirst_oid(lc), true);
		StrataRanges before;
		StrataRanges after;
		Dirt		dirt = {NULL, &after};

		if (rollup == NULL)
			continue;
		dirt.bucket = &rollup->bucket;
		strata_rollup_covered(rollup, snapshot, &before);
		strata_ranges_copy(&after, &before);
		for (int i = 0; i < marks.n && after.n > 0; i++)
			take_away(marks.r[i].lo, marks.r[i].hi, &dirt);
		strata_rollup_put_cover(rollup->view, &before, &after);
	}
	return marks.n;
}

/* See rollup.h. */
void
strata_rollup_uncover(Oid archive, int64 lo, int64 hi)
{
	StrataRollup *rollup;
	StrataRanges before;
	StrataRanges after;
	Oid			view = strata_rollup_of_archive(archive);

	rollup = OidIsValid(view) ? strata_rollup_open(view, true) : NULL;
	if (rollup == NULL)
		return;
	/* refreshes of other views fold marks here */
	(void) strata_rollup_lock(rollup->source, true);
	strata_rollup_covered(rollup, NULL, &before);
	strata_ranges_copy(&after, &before);
	strata_ranges_subtract(&after,
						   strata_rollup_bucket_outward(&rollup->bucket, lo,
														hi));
	strata_rollup_put_cover(view, &before, &after);
}

/* The rollup whose archive the table is, or is a chunk of; or NULL. */
static StrataRollupRow *
row_of_table(Oid relid)
{
	Oid			archive = relid;

	if (get_rel_relispartition(relid))
		archive = get_partition_parent(relid, true);
	return get_rel_relkind(archive) == RELKIND_PARTITIONED_TABLE &&
		strata_rollup_is_archive(archive) ?
		strata_rollup_row_of_archive(archive) : NULL;
}

/* See rollup.h. */
void
strata_rollup_written(Oid relid)
{
	StrataRollupRow *row = strata_rollup_is_refreshing ? NULL :
	row_of_table(relid);

	if (row == NULL)
		return;
	/* also where nothing is covered: a refresh may be about to */
	(void) strata_rollup_lock(row->source, true);
	strata_cover_forget(row->view);
}

/* See rollup.h. */
void
strata_rollup_rewritten(Oid relid)
{
	StrataRollupRow *row = row_of_table(relid);

	if (row != NULL)
		strata_rollup_row_lose(row->view, true);
}

/*-------------------------------------------------------------------------
 * What can be covered
 *-------------------------------------------------------------------------
 */

/*
 * Does the access method that tracks see what is written to the partition, and
 * what becomes of it?
 */
static bool
is_seen(Oid chunk)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(chunk));
	bool		seen;

	if (!HeapTupleIsValid(tuple))
		return true;			/* it is gone, which was seen */
	/* a crash empties what is not logged, and nobody says so */
	seen = ((Form_pg_class) GETSTRUCT(tuple))->relkind == RELKIND_RELATION &&
		((Form_pg_class) GETSTRUCT(tuple))->relpersistence ==
		RELPERSISTENCE_PERMANENT &&
		strata_is_strata_am(((Form_pg_class) GETSTRUCT(tuple))->relam);
	ReleaseSysCache(tuple);
	return seen;
}

/* See rollup_private.h. */
void
strata_rollup_drop_unseen(const StrataRollup *rollup, StrataRanges *ranges)
{
	StrataRollupBucket bucket = rollup->bucket;
	Dirt		dirt = {&bucket, ranges};
	ListCell   *lc;

	foreach(lc, find_inheritance_children(rollup->source, NoLock))
	{
		int64		lo = PG_INT64_MIN;
		int64		hi = PG_INT64_MAX;

		if (is_seen(lfirst_oid(lc)))
			continue;
		/* a default partition may hold any time */
		(void) strata_chunk_times(lfirst_oid(lc), &lo, &hi);
		take_away(lo, hi, &dirt);
	}
}
