/*-------------------------------------------------------------------------
 *
 * rollup_refresh.c
 *	  Bring a rollup up to date: a window of times, in slices.
 *
 * First the window becomes tracked, which takes a commit and a wait
 * (rollup_wait.c).  Then each slice is a transaction: locks; then the
 * snapshot; marks are folded into what is covered; buckets that are not
 * covered are computed and written; they are covered.  What is done is not to
 * be done any more, so that a refresh that ended early is gone on with by the
 * next.
 *
 * Times without chunks, of the source and of the archive, cost nothing: a
 * slice takes them along, however many buckets that are.  So it does long
 * times without rows in a chunk.
 *
 * In a transaction block nothing can be committed: there the one slice takes
 * what can be covered at once, and leaves the rest to another refresh.
 *
 * src/rollup/rollup_refresh.c
 *-------------------------------------------------------------------------
 */
#include "rollup/rollup_busy_private.h"
#include "rollup/rollup_private.h"

#include "base/base.h"
#include "catalog/catalog.h"
#include "hypertable/hypertable.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "tcop/pquery.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

/* A slice where the caller has not said how much that is. */
#define SLICE_BUCKETS 1000
#define SLICE_CHUNKS 30

/* How long writers are waited for (ms), where lock_timeout does not say. */
#define WAIT 10000

typedef struct Run
{
	StrataRefresh *refresh;
	MemoryContext mcxt;			/* lives from transaction to transaction */
	Oid			source;
	int64		interval;		/* of its chunks */
	StrataRange window;			/* whole buckets */
	StrataRanges busy;			/* those in which chunks are, or were when the
								 * run began */
	StrataRanges settled;
	StrataRanges done;			/* by this run */
	bool		more;			/* slices */
	bool		left;			/* buckets that can be covered by no slice */
	StrataRollupCounts counts;
} Run;

/*-------------------------------------------------------------------------
 * Transactions
 *-------------------------------------------------------------------------
 */

/* Commit, where that is allowed; then there is no snapshot, and no lock. */
static void
end_slice(const Run *run)
{
	if (run->refresh->manner == STRATA_REFRESH_PROCEDURE)
		SPI_commit();
	else if (run->refresh->manner == STRATA_REFRESH_COMMAND)
	{
		while (ActiveSnapshotSet())
			PopActiveSnapshot();
		CommitTransactionCommand();
		StartTransactionCommand();
	}
	MemoryContextSwitchTo(run->mcxt);
}

/* What is going to be run needs a snapshot. */
static void
have_snapshot(const Run *run)
{
	if (run->refresh->manner == STRATA_REFRESH_PROCEDURE)
		EnsurePortalSnapshotExists();
	else if (!ActiveSnapshotSet())
		PushActiveSnapshot(GetTransactionSnapshot());
}

/* The rollup; ereports when it was dropped meanwhile. */
static StrataRollup *
open_rollup(const Run *run)
{
	StrataRollup *rollup = strata_rollup_open(run->refresh->view, true);

	if (rollup == NULL || rollup->source != run->source)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("continuous aggregate was dropped while it was refreshed")));
	return rollup;
}

/* See rollup_private.h. */
void
strata_rollup_work_as_owner(Oid view, StrataOwnerContext *saved)
{
	static const char *const settings[][2] = {
		{"DateStyle", "ISO"}, {"IntervalStyle", "postgres"},
		{"extra_float_digits", "3"}, {"row_security", "off"}
	};

	strata_owner_enter(strata_relation_owner(view), saved);
	strata_search_path_pin();
	for (int i = 0; i < lengthof(settings); i++)
		(void) set_config_option(settings[i][0], settings[i][1], PGC_USERSET,
								 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
								 false);
}

/*-------------------------------------------------------------------------
 * Slices
 *-------------------------------------------------------------------------
 */

/* Whole buckets of what is in the ranges. */
static void
align_inward(StrataRollupBucket *bucket, StrataRanges *ranges)
{
	StrataRanges aligned = {0};

	for (int i = 0; i < ranges->n; i++)
		strata_ranges_add(&aligned,
						  strata_rollup_bucket_inward(bucket, ranges->r[i].lo,
													  ranges->r[i].hi));
	*ranges = aligned;
}

/* The part of a range that a slice takes of it; *buckets, *span: what it may. */
static StrataRange
slice_of(StrataRollupBucket *bucket, StrataRange range, bool newest_first,
		 const StrataRanges *busy, int *buckets, int64 *span)
{
	StrataRange part = newest_first ? strata_range(range.hi, range.hi) :
	strata_range(range.lo, range.lo);

	while (*buckets > 0 && *span > 0 &&
		   (newest_first ? part.lo > range.lo : part.hi < range.hi))
	{
		StrataRange before = part;
		int64		from = newest_first ? part.lo : part.hi;
		int64		next = strata_rollup_next_busy(busy, from, newest_first);
		bool		found;

		if (newest_first)
			part.lo = Max(range.lo, next);
		else
			part.hi = Min(range.hi, next);
		if (part.lo != before.lo || part.hi != before.hi)
			continue;
		found = newest_first ?
			strata_rollup_bucket_start(bucket, part.lo - 1, &part.lo) :
			strata_rollup_bucket_next(bucket, part.hi, &part.hi);
		Assert(found && part.lo >= range.lo &&
			   part.hi <= range.hi);	/* rollup:Z2 */
		if (!found)
			break;
		*span -= (before.lo - part.lo) + (part.hi - before.hi);
		(*buckets)--;
	}
	return part;
}

/* What of the buckets to be done a slice takes. */
static void
pick_slice(const Run *run, StrataRollupBucket *bucket,
		   const StrataRanges *todo, StrataRanges *slice)
{
	const StrataRefresh *refresh = run->refresh;
	int			buckets = refresh->buckets_per_batch > 0 ?
	refresh->buckets_per_batch : SLICE_BUCKETS;
	int64		span = PG_INT64_MAX;

	memset(slice, 0, sizeof(*slice));
	if (refresh->buckets_per_batch == 0)
	{
		strata_ranges_copy(slice, todo);
		return;
	}
	if (refresh->buckets_per_batch < 0 &&
		run->interval < PG_INT64_MAX / SLICE_CHUNKS)
		span = run->interval * SLICE_CHUNKS;
	for (int i = 0; i < todo->n && buckets > 0 && span > 0; i++)
		strata_ranges_add(slice,
						  slice_of(bucket,
								   todo->r[refresh->newest_first ?
										   todo->n - 1 - i : i],
								   refresh->newest_first, &run->busy,
								   &buckets, &span));
}

/* What is kept below is read there, with what may come to it, every time. */
static void
leave_kept_below(const StrataRollup *rollup, Oid below, Snapshot snapshot,
				 StrataRanges *todo, StrataRanges *coverable)
{
	StrataRollupBucket bucket = rollup->bucket;
	StrataRanges kept;

	strata_rollup_kept(below, snapshot, &kept);
	for (int i = 0; i < kept.n; i++)
	{
		StrataRange range;

		range = strata_rollup_bucket_outward(&bucket, kept.r[i].lo,
											 kept.r[i].hi - 1);
		strata_ranges_subtract(todo, range);
		strata_ranges_subtract(coverable, range);
	}
}

/*
 * What is to be done of the window, and (*coverable) what of that can be
 * covered: times that were covered, and are dirty; and those of which every
 * writer says what he does.
 */
static void
find_buckets(Run *run, StrataRollup *rollup, Snapshot snapshot,
			 const StrataRanges *before, const StrataRanges *covered,
			 StrataRanges *todo, StrataRanges *coverable)
{
	Oid			below = strata_rollup_of_archive(rollup->source);
	StrataRanges kept;

	memset(todo, 0, sizeof(*todo));
	strata_ranges_add(todo, run->window);
	strata_ranges_remove(todo, run->refresh->force ? &run->done : covered);
	strata_rollup_kept(rollup->view, snapshot, &kept);
	strata_ranges_remove(todo, &kept);
	strata_ranges_copy(coverable, before);
	for (int i = 0; i < run->settled.n; i++)
		strata_ranges_add(coverable, run->settled.r[i]);
	strata_ranges_keep(coverable, todo);
	if (coverable->n > 0)
		strata_rollup_drop_unseen(rollup, coverable);
	if (OidIsValid(below))
		leave_kept_below(rollup, below, snapshot, todo, coverable);
	if (OidIsValid(below) && coverable->n > 0)
		strata_rollup_trust_below(rollup, below, snapshot, coverable);
	align_inward(&rollup->bucket, coverable);
	Assert(coverable->n == 0 || todo->n > 0);	/* rollup:Z4 */
}

/* See rollup_private.h. */
void
strata_rollup_lock_archive(const StrataRollup *rollup, StrataRange range)
{
	StrataHypertable *archive = strata_hypertable_get(rollup->archive);
	ListCell   *lc;

	LockRelationOid(rollup->archive, RowExclusiveLock);
	/* a chunk that is compressed after the snapshot would be in our way */
	foreach(lc, archive != NULL ? strata_chunk_list(archive) : NIL)
	{
		StrataChunk *chunk = lfirst(lc);

		if ((chunk->range.no_hi || chunk->range.hi > range.lo) &&
			(chunk->range.no_lo || chunk->range.lo < range.hi))
			LockRelationOid(chunk->relid, RowExclusiveLock);
	}
}

/* Lock what a slice writes to, before there is a snapshot. */
static void
lock_for_slice(const Run *run, const StrataRollup *rollup)
{
	LockRelationOid(run->source, AccessShareLock);
	strata_rollup_lock_archive(rollup, run->window);
	(void) strata_rollup_lock(run->source, true);
}

/* Have the archive say what the rows say, and no other archive. */
static void
write_slice(Run *run, const StrataRollup *rollup, const StrataRanges *slice,
			Snapshot snapshot)
{
	strata_rollup_is_refreshing = true;
	PG_TRY();
	{
		for (int i = 0; i < slice->n; i++)
		{
			int			number = run->refresh->newest_first ?
			slice->n - 1 - i : i;

			CHECK_FOR_INTERRUPTS();
			strata_rollup_write(rollup, slice->r[number], snapshot,
								&run->counts);
		}
	}
	PG_FINALLY();
	{
		strata_rollup_is_refreshing = false;
	}
	PG_END_TRY();
}

/* One slice, in the transaction that is; is there more to do? */
static void
do_slice(Run *run)
{
	StrataOwnerContext saved;
	StrataRollup *rollup = open_rollup(run);
	Snapshot	snapshot;
	StrataRanges before;
	StrataRanges covered;
	StrataRanges after;
	StrataRanges todo;
	StrataRanges coverable;
	StrataRanges slice;

	lock_for_slice(run, rollup);
	rollup = open_rollup(run);
	snapshot = RegisterSnapshot(GetTransactionSnapshot());
	PushActiveSnapshot(snapshot);
	Assert(GetActiveSnapshot()->xmin == snapshot->xmin);	/* rollup:Z3 */
	strata_rollup_next_generation(run->source);
	strata_rollup_covered(rollup, snapshot, &before);
	(void) strata_rollup_fold(run->source, snapshot);
	CommandCounterIncrement();
	strata_rollup_covered(rollup, NULL, &covered);
	find_buckets(run, rollup, snapshot, &before, &covered, &todo, &coverable);
	pick_slice(run, &rollup->bucket, &coverable, &slice);
	strata_rollup_work_as_owner(run->refresh->view, &saved);
	write_slice(run, rollup, &slice, snapshot);
	strata_owner_leave(&saved);
	strata_ranges_copy(&after, &covered);
	for (int i = 0; i < slice.n; i++)
		strata_ranges_add(&after, slice.r[i]);
	Assert(after.n > 0 || slice.n == 0);	/* rollup:Z1 */
	strata_rollup_put_cover(rollup->view, &covered, &after);
	PopActiveSnapshot();
	UnregisterSnapshot(snapshot);

	strata_ranges_remove(&todo, &coverable);
	strata_ranges_remove(&coverable, &slice);
	run->left = todo.n > 0;
	run->more = coverable.n > 0;
	run->refresh->batches += slice.n > 0;
	MemoryContextSwitchTo(run->mcxt);
	/* what was covered can be again, by this slice or by a later one */
	for (int i = 0; i < before.n; i++)
		strata_ranges_add(&run->settled, before.r[i]);
	for (int i = 0; i < slice.n; i++)
		strata_ranges_add(&run->done, slice.r[i]);
}

/*-------------------------------------------------------------------------
 * The run
 *-------------------------------------------------------------------------
 */

/* Look at rows as the owner, and not at what archives say of them. */
static void
look_at_rows(Run *run, StrataRollup *rollup,
			 void (*look) (Run *run, StrataRollup *rollup, Snapshot snapshot))
{
	StrataOwnerContext saved;
	Snapshot	snapshot;

	strata_rollup_work_as_owner(run->refresh->view, &saved);
	snapshot = RegisterSnapshot(GetTransactionSnapshot());
	strata_rollup_is_refreshing = true;
	PG_TRY();
	{
		look(run, rollup, snapshot);
	}
	PG_FINALLY();
	{
		strata_rollup_is_refreshing = false;
	}
	PG_END_TRY();
	UnregisterSnapshot(snapshot);
	strata_owner_leave(&saved);
}

static void
clip_to_rows(Run *run, StrataRollup *rollup, Snapshot snapshot)
{
	StrataRange extent = strata_rollup_extent(rollup, run->window, snapshot);

	run->window.lo = Max(run->window.lo, extent.lo);
	run->window.hi = Min(run->window.hi, extent.hi);
}

/*
 * The window: whole buckets of what the caller asks for, as far as there are
 * rows, of the source or of the archive.  false: it is empty.
 */
static bool
find_window(Run *run, StrataRollup *rollup)
{
	StrataRefresh *refresh = run->refresh;

	run->window = strata_rollup_bucket_inward(&rollup->bucket, refresh->lo,
											  refresh->hi);
	if (run->window.lo < run->window.hi && !refresh->beyond_rows)
		look_at_rows(run, rollup, clip_to_rows);
	return run->window.lo < run->window.hi;
}

static void
find_busy(Run *run, StrataRollup *rollup, Snapshot snapshot)
{
	MemoryContextSwitchTo(run->mcxt);
	strata_rollup_busy(rollup, run->window, snapshot, &run->busy);
}

/* What is not clean below cannot be covered above. */
static void
refresh_below(Run *run, Oid below)
{
	StrataRefresh first = *run->refresh;

	first.view = below;
	first.lo = run->window.lo;
	first.hi = run->window.hi;
	first.force = false;
	first.beyond_rows = true;
	first.quiet = true;
	first.max_batches = 0;
	first.batches = 0;
	first.buckets_per_batch = -1;
	strata_rollup_refresh(&first);
	MemoryContextSwitchTo(run->mcxt);
	have_snapshot(run);
}

/* Have the window tracked, and wait for those who do not know that. */
static void
prepare_window(Run *run, const StrataRollup *rollup)
{
	TimestampTz deadline;
	StrataRanges missing = {0};
	StrataRanges covered;
	StrataRanges kept;
	StrataRange hull;
	bool		published;

	/* in the order in which a slice locks; and there may be one already */
	(void) open_rollup(run);
	if (run->refresh->manner == STRATA_REFRESH_IN_BLOCK)
		lock_for_slice(run, rollup);
	/* what is tracked stays so while this rollup is there */
	(void) strata_rollup_lock(run->source, true);
	(void) open_rollup(run);
	strata_rollup_covered(rollup, NULL, &covered);
	strata_ranges_add(&missing, run->window);
	strata_ranges_remove(&missing, &covered);
	strata_rollup_kept(rollup->view, NULL, &kept);
	strata_ranges_remove(&missing, &kept);
	if (missing.n == 0)
		return;
	hull = strata_range(missing.r[0].lo, missing.r[missing.n - 1].hi);
	if (run->refresh->manner == STRATA_REFRESH_IN_BLOCK)
	{
		/* who came and went since an old snapshot is not to be waited for */
		if (IsolationUsesXactSnapshot() && FirstSnapshotSet)
			return;
		MemoryContextSwitchTo(run->mcxt);
		strata_rollup_settle(run->source, hull, 0, &run->settled);
		return;
	}
	deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
										   LockTimeout > 0 ? LockTimeout :
										   WAIT);
	if (!strata_rollup_publish(run->source, hull.lo, hull.hi - 1, deadline,
							   &published))
		return;
	end_slice(run);
	strata_rollup_settle(run->source, hull, deadline, &run->settled);
	end_slice(run);
}

/* Say what is left, and why. */
static void
report_left(const Run *run)
{
	const StrataRefresh *refresh = run->refresh;
	const char *name = get_rel_name(refresh->view);

	if (run->left && refresh->manner == STRATA_REFRESH_IN_BLOCK)
		ereport(NOTICE,
				(errmsg("refresh of continuous aggregate \"%s\" is left incomplete in a transaction block",
						name),
				 errdetail("Buckets that were refreshed before are up to date; queries compute the others from the rows until the next refresh outside of a block.")));
	else if (run->left)
		ereport(NOTICE,
				(errmsg("refresh of continuous aggregate \"%s\" leaves some buckets out",
						name),
				 errdetail("Transactions are still writing there, or partitions do not use strata. Queries compute these buckets from the rows.")));
	else if (refresh->batches == 0 && !run->more)
		ereport(NOTICE,
				(errmsg("continuous aggregate \"%s\" is already up-to-date",
						name)));
}

/* All of the run, once there is somewhere to remember what it does. */
static void
run_slices(Run *run)
{
	StrataRefresh *refresh = run->refresh;
	StrataRollup *rollup = strata_rollup_open(refresh->view, false);
	StrataHypertable *source = strata_hypertable_require(rollup->source);
	Oid			below;

	(void) strata_rollup_is_fit(rollup, true);
	run->source = rollup->source;
	run->interval = strata_time_interval_length(source->key_type,
												source->interval);
	below = strata_rollup_of_archive(rollup->source);
	if (find_window(run, rollup))
	{
		if (OidIsValid(below))
			refresh_below(run, below);
		look_at_rows(run, rollup, find_busy);
		prepare_window(run, rollup);
		do
		{
			int			batches = refresh->batches;

			have_snapshot(run);
			do_slice(run);
			end_slice(run);
			if (refresh->batches == batches)
				break;
		} while (run->more && (refresh->max_batches == 0 ||
							   refresh->batches < refresh->max_batches));
		have_snapshot(run);
	}
	refresh->inserted = run->counts.inserted;
	refresh->deleted = run->counts.deleted;
	refresh->complete = !run->left && !run->more;
	if (!refresh->quiet)
		report_left(run);
}

/* See rollup.h. */
void
strata_rollup_refresh(StrataRefresh *refresh)
{
	Run			run = {.refresh = refresh};
	MemoryContext old;

	run.mcxt = AllocSetContextCreate(PortalContext != NULL ? PortalContext :
									 TopMemoryContext, "strata refresh",
									 ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(run.mcxt);
	if (refresh->manner == STRATA_REFRESH_PROCEDURE &&
		SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	MemoryContextSwitchTo(run.mcxt);
	run_slices(&run);
	if (refresh->manner == STRATA_REFRESH_PROCEDURE)
		SPI_finish();
	MemoryContextSwitchTo(refresh->manner == STRATA_REFRESH_COMMAND ?
						  CurTransactionContext : old);
	MemoryContextDelete(run.mcxt);
}
