/*-------------------------------------------------------------------------
 *
 * job_database.c
 *	  What all processes are to know of a database: that its due jobs wait for
 *	  a worker, that nothing is to start there for a moment, and whose process
 *	  could not connect.
 *
 * A database is noted while there is something to say of it; the launcher has
 * those forgotten that are gone.
 *
 * src/job/job_database.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "job/job_private.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include <signal.h>

/* How long a database that nobody may use is left alone. */
#define BLOCK_SECONDS 10

/* Caller holds the lock.  NULL: not noted, or, with make, no room. */
static JobDatabase *
find_noted(Oid database, bool make)
{
	JobShared  *shared = strata_job_shared;
	JobDatabase *unused = NULL;

	Assert(LWLockHeldByMe(shared->lock));	/* job:J6 */
	for (int i = 0; i < DATABASE_ENTRIES; i++)
	{
		JobDatabase *entry = &shared->databases[i];

		if (entry->database == database)
			return entry;
		if (unused == NULL && entry->database == InvalidOid)
			unused = entry;
	}
	if (!make || unused == NULL)
		return NULL;
	memset(unused, 0, sizeof(*unused));
	unused->database = database;
	return unused;
}

/* Caller holds the lock: one of whom there is nothing to say is no entry. */
static void
leave_noted(JobDatabase *entry)
{
	if (entry->starved_since == 0 && entry->blocked_at == 0)
		entry->database = InvalidOid;
}

/* See job_private.h. */
void
strata_job_note_starved(bool starved)
{
	JobDatabase *entry;

	LWLockAcquire(strata_job_shared->lock, LW_EXCLUSIVE);
	entry = find_noted(MyDatabaseId, starved);
	if (entry != NULL)
	{
		if (!starved)
			entry->starved_since = 0;
		else if (entry->starved_since == 0)
			entry->starved_since = GetCurrentTimestamp();
		leave_noted(entry);
	}
	LWLockRelease(strata_job_shared->lock);
}

/* See job.h. */
TimestampTz
strata_job_starved_since(void)
{
	JobDatabase *entry;
	TimestampTz since;

	if (strata_job_shared == NULL)
		return 0;
	LWLockAcquire(strata_job_shared->lock, LW_SHARED);
	entry = find_noted(MyDatabaseId, false);
	since = entry != NULL ? entry->starved_since : 0;
	LWLockRelease(strata_job_shared->lock);
	return since;
}

/* See job_private.h. */
bool
strata_job_others_starve(void)
{
	bool		result = false;

	LWLockAcquire(strata_job_shared->lock, LW_SHARED);
	for (int i = 0; i < DATABASE_ENTRIES; i++)
		if (strata_job_shared->databases[i].database != MyDatabaseId &&
			strata_job_shared->databases[i].starved_since != 0)
			result = true;
	LWLockRelease(strata_job_shared->lock);
	return result;
}

/* See job_private.h. */
bool
strata_job_had_turn(instr_time start)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, start);
	return INSTR_TIME_GET_MILLISEC(now) >= TURN_MS;
}

/* See job_private.h. */
bool
strata_job_is_blocked(Oid database)
{
	JobDatabase *entry = find_noted(database, false);
	TimestampTz now = GetCurrentTimestamp();

	/* that the clock is set back blocks nothing */
	return entry != NULL && entry->blocked_at != 0 &&
		now >= entry->blocked_at &&
		!TimestampDifferenceExceeds(entry->blocked_at, now,
									BLOCK_SECONDS * 1000);
}

/* Caller holds the lock.  Forget what is noted of unstarted jobs there. */
static void
forget_unstarted(Oid database)
{
	JobShared  *shared = strata_job_shared;
	int			kept = 0;

	for (int i = 0; i < shared->nunstarted; i++)
		if (shared->unstarted[i].database != database)
			shared->unstarted[kept++] = shared->unstarted[i];
	shared->nunstarted = kept;
}

/* See job.h. */
void
strata_job_stop_database(Oid database)
{
	JobDatabase *entry;

	if (strata_job_shared == NULL)
		return;
	LWLockAcquire(strata_job_shared->lock, LW_EXCLUSIVE);
	entry = find_noted(database, true);
	if (entry != NULL)
		entry->blocked_at = GetCurrentTimestamp();
	for (int i = 0; i < JOB_SLOTS + SCHEDULER_SLOTS; i++)
	{
		JobSlot    *slot = &strata_job_shared->slots[i];

		if (slot->database == database && slot->pid != 0)
			(void) kill(slot->pid, SIGTERM);
	}
	forget_unstarted(database);
	LWLockRelease(strata_job_shared->lock);
}

/* See job.h. */
void
strata_job_resume_database(Oid database)
{
	JobDatabase *entry;

	if (strata_job_shared == NULL || !OidIsValid(database))
		return;
	LWLockAcquire(strata_job_shared->lock, LW_EXCLUSIVE);
	entry = find_noted(database, false);
	if (entry != NULL)
	{
		entry->blocked_at = 0;
		leave_noted(entry);
	}
	LWLockRelease(strata_job_shared->lock);
	strata_job_wake(database, 0);
}

/* See job_private.h. */
void
strata_job_forget_databases(bool (*is_there) (Oid database))
{
	JobShared  *shared = strata_job_shared;
	int			kept = 0;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < DATABASE_ENTRIES; i++)
		if (OidIsValid(shared->databases[i].database) &&
			!is_there(shared->databases[i].database) &&
			!strata_job_is_blocked(shared->databases[i].database))
			shared->databases[i].database = InvalidOid;
	for (int i = 0; i < shared->nunstarted; i++)
		if (is_there(shared->unstarted[i].database))
			shared->unstarted[kept++] = shared->unstarted[i];
	shared->nunstarted = kept;
	LWLockRelease(shared->lock);
}

/* See job_private.h. */
void
strata_job_note_unstarted(Oid database, int32 job_id)
{
	JobShared  *shared = strata_job_shared;

	Assert(LWLockHeldByMeInMode(shared->lock, LW_EXCLUSIVE));	/* job:J6 */
	if (strata_job_is_blocked(database))
		return;
	for (int i = 0; i < shared->nunstarted; i++)
		if (shared->unstarted[i].database == database &&
			shared->unstarted[i].job_id == job_id)
			return;
	if (shared->nunstarted < UNSTARTED_ENTRIES)
	{
		shared->unstarted[shared->nunstarted].database = database;
		shared->unstarted[shared->nunstarted++].job_id = job_id;
	}
}

/* See job_private.h. */
int32
strata_job_take_unstarted(void)
{
	JobShared  *shared = strata_job_shared;
	int32		id = 0;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < shared->nunstarted; i++)
		if (shared->unstarted[i].database == MyDatabaseId)
		{
			id = shared->unstarted[i].job_id;
			shared->unstarted[i] = shared->unstarted[--shared->nunstarted];
			break;
		}
	LWLockRelease(shared->lock);
	return id;
}
