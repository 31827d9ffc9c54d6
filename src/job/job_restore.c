/*-------------------------------------------------------------------------
 *
 * job_restore.c
 *	  Jobs that came from a dump, and when they start.
 *
 * Such a job has a row in _strata.job and none in job_stat.  It must not run
 * into the restore that brought it: retention would drop chunks whose indexes
 * are still to come.  So it gets its regular next start, and an earlier one
 * when the session that restored it has ended: each such session keeps a
 * lock.  pg_restore's sessions, and psql's, last as long as the restore.
 *
 * A job of a user that has a fixed schedule keeps to it: a report of the night
 * is not written at noon.  Policies and all others start soon.
 *
 * src/job/job_restore.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "catalog/catalog.h"
#include "job/job_private.h"

#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/timestamp.h"

/* How long after the end of the restore; also, how often one looks for it. */
#define RESTORE_PAUSE_SECONDS 60

/* In the fourth field of an advisory lock's tag; SQL's functions use 1 and 2. */
#define RESTORE_LOCK_CLASS 0x5354

/*
 * An advisory lock: it outlives the session's transactions, failed ones too,
 * and PostgreSQL releases it when the session ends.
 */
static void
restore_lock_tag(LOCKTAG *tag)
{
	SET_LOCKTAG_ADVISORY(*tag, MyDatabaseId, RelationRelationId,
						 strata_job_relation(), RESTORE_LOCK_CLASS);
}

/* See job.h. */
void
strata_job_note_restore(void)
{
	LOCKTAG		tag;

	restore_lock_tag(&tag);
	(void) LockAcquire(&tag, ShareLock, true, false);
}

/* Does a session that has restored jobs go on? */
static bool
restore_goes_on(void)
{
	LOCKTAG		tag;

	restore_lock_tag(&tag);
	if (LockAcquire(&tag, ExclusiveLock, false, true) ==
		LOCKACQUIRE_NOT_AVAIL)
		return true;
	LockRelease(&tag, ExclusiveLock, false);
	return false;
}

/* The regular next start of a job that has none. */
static void
schedule_restored(StrataJob *job)
{
	strata_job_set_next_start(job->id,
							  strata_job_next_start(job,
													GetCurrentTimestamp()));
	if (job->id >= STRATA_JOB_FIRST_USER_ID)
		strata_job_set_restored(job->id);
}

/* See job_private.h. */
TimestampTz
strata_job_schedule_restored(void)
{
	TimestampTz soon = GetCurrentTimestamp() +
	RESTORE_PAUSE_SECONDS * USECS_PER_SEC;

	strata_job_each(strata_job_list(STRATA_JOB_WITHOUT_STAT),
					schedule_restored);
	if (!strata_job_any_restored())
		return DT_NOEND;
	if (restore_goes_on())
		return soon;
	strata_job_start_restored(soon);
	return DT_NOEND;
}
