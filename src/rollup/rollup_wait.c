/*-------------------------------------------------------------------------
 *
 * rollup_wait.c
 *	  Who may write without saying so, while what is tracked grows.
 *
 * Whoever locks a chunk after the new limits are committed reads them.
 * Whoever had it locked before may have read the old ones, and goes on by them
 * until his transaction ends.  So nothing is covered of a chunk before these
 * have ended; they are waited for with nothing in hand, and not for ever.
 *
 * src/rollup/rollup_wait.c
 *-------------------------------------------------------------------------
 */
#include "rollup/rollup_private.h"

#include "catalog/catalog.h"
#include "hypertable/hypertable.h"
#include "track/track.h"

#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

/* Between looks at what is waited for (ms). */
#define PAUSE 5

/* Rest a moment; false: the deadline is over. */
static bool
rest(TimestampTz deadline)
{
	CHECK_FOR_INTERRUPTS();
	if (GetCurrentTimestamp() >= deadline)
		return false;
	/* CREATE INDEX CONCURRENTLY would wait for it, and we for that */
	InvalidateCatalogSnapshot();
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 PAUSE, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	return true;
}

/*
 * Lock the source against those who make or attach chunks, and who publish.
 * It is asked for, not queued for: nobody waits behind us.
 */
static bool
keep_chunks(Oid source, TimestampTz deadline)
{
	while (!ConditionalLockRelationOid(source, ShareUpdateExclusiveLock))
		if (!rest(deadline))
			return false;
	return true;
}

/* See rollup_private.h. */
bool
strata_rollup_publish(Oid source, int64 lo, int64 hi, TimestampTz deadline,
					  bool *published)
{
	int64		from;
	int64		to;

	*published = false;
	if (strata_track_source_get(source, &from, &to) && from <= lo && to >= hi)
		return true;
	if (!keep_chunks(source, deadline))
		return false;
	list_free(strata_track_publish(source, lo, hi));
	*published = true;
	Assert(strata_track_source_get(source, &from, &to));	/* rollup:Z4 */
	return true;
}

/* Have those ended who were changing rows of the chunk? */
static bool
writers_have_ended(Oid chunk, TimestampTz deadline)
{
	LOCKTAG		tag;
	VirtualTransactionId *writers;

	SET_LOCKTAG_RELATION(tag, MyDatabaseId, chunk);
	/* our own transaction is not among them */
	writers = GetLockConflicts(&tag, ShareLock, NULL);
	for (int i = 0; VirtualTransactionIdIsValid(writers[i]); i++)
		while (!VirtualXactLock(writers[i], false))
			if (!rest(deadline))
				return false;
	return true;
}

/* See rollup_private.h. */
void
strata_rollup_settle(Oid source, StrataRange range, TimestampTz deadline,
					 StrataRanges *settled)
{
	int64		from;
	int64		to;
	ListCell   *lc;

	memset(settled, 0, sizeof(*settled));

	/*
	 * Whoever published has let go of this lock once all sessions were told;
	 * and nobody has a chunk with rows in hand that we do not see.
	 */
	if (!keep_chunks(source, deadline))
		return;
	UnlockRelationOid(source, ShareUpdateExclusiveLock);
	if (!strata_track_source_get(source, &from, &to))
		return;
	strata_ranges_add(settled, strata_range(from, to < PG_INT64_MAX ? to + 1 :
											to));
	strata_ranges_clip(settled, range);
	foreach(lc, find_inheritance_children(source, NoLock))
	{
		int64		lo = PG_INT64_MIN;
		int64		hi = PG_INT64_MAX;

		(void) strata_chunk_times(lfirst_oid(lc), &lo, &hi);
		if (settled->n == 0 || lo >= range.hi || hi < range.lo)
			continue;
		if (!writers_have_ended(lfirst_oid(lc), deadline))
			strata_ranges_subtract(settled, strata_range(lo, hi < PG_INT64_MAX
														 ? hi + 1 : hi));
	}
}
