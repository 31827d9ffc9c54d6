/*-------------------------------------------------------------------------
 *
 * job_scheduler.c
 *	  One look at the jobs of a database: start what is due, note what died,
 *	  say when the next one is due, and go.
 *
 * A job whose row says "running" but which no process is in charge of was
 * interrupted (killed worker, crash, shutdown, failover): that is recorded as
 * a failed run and the job gets its retry.
 *
 * src/job/job_scheduler.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "job/job_private.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/errcodes.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

/*
 * A worker that was started enters its slot within this, or is presumed dead.
 */
#define STARVED_RETRY_SECONDS 30

/* With no jobs at all: look again some time. */
#define IDLE_SECONDS 3600

PGDLLEXPORT void strata_job_scheduler_main(Datum arg);

/*
 * The role a job's process connects as.  Policies run as the system and take
 * on the owner of their table for each piece of work (which may be a role that
 * cannot log in); so do the jobs that came with the extension.
 */
static Oid
role_of(const StrataJob *job)
{
	return strata_job_is_system(job) ? InvalidOid : job->owner;
}

/* See job_private.h. */
void
strata_job_each(List *jobs, void (*work) (StrataJob *job))
{
	MemoryContext mcxt = CurrentMemoryContext;
	ResourceOwner resowner = CurrentResourceOwner;
	ListCell   *lc;

	foreach(lc, jobs)
	{
		BeginInternalSubTransaction(NULL);
		MemoryContextSwitchTo(mcxt);
		PG_TRY();
		{
			work(lfirst(lc));
			ReleaseCurrentSubTransaction();
		}
		PG_CATCH();
		{
			ErrorData  *edata;

			MemoryContextSwitchTo(mcxt);
			edata = CopyErrorData();
			FlushErrorState();
			RollbackAndReleaseCurrentSubTransaction();
			MemoryContextSwitchTo(mcxt);
			ereport(WARNING,
					(errcode(edata->sqlerrcode),
					 errmsg("job %d is passed over: %s",
							((StrataJob *) lfirst(lc))->id,
							edata->message)));
		}
		PG_END_TRY();
		MemoryContextSwitchTo(mcxt);
		CurrentResourceOwner = resowner;
	}
}

/*
 * A run that is marked as such though nobody runs it any more has failed.
 */
static void
record_interrupted(StrataJob *job)
{
	TimestampTz now = GetCurrentTimestamp();
	StrataJobError error = {0};

	if (strata_job_slot_taken(job->id))
		return;
	error.sqlerrcode = ERRCODE_ADMIN_SHUTDOWN;
	error.message = psprintf("job %d was interrupted", job->id);
	error.detail = psprintf("Its process %d is gone: it was terminated, or the server stopped or crashed.",
							job->running_pid);
	error.crash = true;

	/*
	 * a worker records its run before it leaves the slot: by now the row
	 * tells
	 */
	if (strata_job_finish(job, now,
						  strata_job_retry_start(job, now,
												 job->consecutive_failures + 1),
						  job->running_pid, &error))
		ereport(WARNING, (errmsg("%s", error.message),
						  errdetail_internal("%s", error.detail)));
}

/* Until version 17 a process connects as roles that can log in only. */
static bool
may_log_in(Oid role)
{
	HeapTuple	tuple = SearchSysCache1(AUTHOID, ObjectIdGetDatum(role));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		return false;
	result = ((Form_pg_authid) GETSTRUCT(tuple))->rolcanlogin;
	ReleaseSysCache(tuple);
	return result;
}

/*
 * A process that could not connect as the owner: a failed run, for all to see.
 * Of the job only the id is given.
 */
static void
record_unstarted(StrataJob *due)
{
	StrataJob  *job;
	StrataJobError error = {0};
	TimestampTz now;
	char	   *owner;

	if (!strata_job_claim(due->id))
		return;
	CommandCounterIncrement();
	now = GetCurrentTimestamp();
	job = strata_job_get(due->id);
	owner = GetUserNameFromId(job->owner, true);
	error.sqlerrcode = ERRCODE_INVALID_AUTHORIZATION_SPECIFICATION;
	error.message = psprintf("the process of job %d could not be started",
							 job->id);
	error.detail =
		owner != NULL ?
		psprintf("It could not connect as the job's owner \"%s\"; the server log says why.",
				 owner) :
		psprintf("The role with OID %u, which owns the job, does not exist.",
				 job->owner);
	error.hint = owner != NULL && !may_log_in(job->owner) ?
		psprintf("ALTER ROLE %s LOGIN;", quote_identifier(owner)) :
		psprintf("SELECT delete_job(%d);", job->id);
	(void) strata_job_finish(job, now,
							 strata_job_retry_start(job, now,
													job->consecutive_failures + 1),
							 MyProcPid, &error);
}

static void
record_all_unstarted(void)
{
	StrataJob	due = {0};

	while ((due.id = strata_job_take_unstarted()) != 0)
		strata_job_each(list_make1(&due), record_unstarted);
}

/* Remember since when due jobs wait. */
static void
note_starved(bool starved)
{
	LWLockAcquire(strata_job_shared->lock, LW_EXCLUSIVE);
	if (!starved)
		strata_job_shared->starved_since = 0;
	else if (strata_job_shared->starved_since == 0)
		strata_job_shared->starved_since = GetCurrentTimestamp();
	LWLockRelease(strata_job_shared->lock);
}

/* See job_private.h. */
TimestampTz
strata_job_schedule_pass(bool *starved)
{
	ListCell   *lc;
	TimestampTz next;
	TimestampTz restored;
	bool		started = false;
	bool		full = false;

	*starved = false;
	restored = strata_job_schedule_restored();
	strata_job_each(strata_job_list(STRATA_JOB_RUNNING), record_interrupted);
	record_all_unstarted();
	CommandCounterIncrement();
	foreach(lc, strata_job_list(STRATA_JOB_DUE))
	{
		StrataJob  *job = lfirst(lc);
		bool		running;

		if (strata_job_start_worker(MyDatabaseId, job->id, role_of(job),
									&running))
			started = true;
		else if (!running)
		{
			*starved = true;
			/* policies may have a worker where users' jobs have none */
			if (!OidIsValid(role_of(job)))
			{
				full = true;
				break;
			}
		}
	}
	if (!full && strata_space_queue_earliest() <= GetCurrentTimestamp())
	{
		bool		running;

		if (strata_job_start_worker(MyDatabaseId, JOB_SPACE, InvalidOid,
									&running))
			started = true;
		else if (!running)
			*starved = true;
	}
	note_starved(*starved);
	next = strata_job_earliest();

	/*
	 * what was started is not marked as running yet; its worker will wake us
	 */
	if (next <= GetCurrentTimestamp())
		next = GetCurrentTimestamp() + (started && !*starved ? USECS_PER_SEC :
										STARVED_RETRY_SECONDS * USECS_PER_SEC);
	next = Min(next, restored);
	return Min(next, GetCurrentTimestamp() + IDLE_SECONDS * USECS_PER_SEC);
}

/* The process: one transaction. */
void
strata_job_scheduler_main(Datum arg)
{
	TimestampTz next = DT_NOEND;
	bool		starved = false;

	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	if (!strata_job_slot_attach())
		proc_exit(0);
	BackgroundWorkerInitializeConnectionByOid(strata_job_slot_database(),
											  InvalidOid, 0);
	strata_worker_pin_settings();
	pgstat_report_appname("strata scheduler");
	/* nobody who locks our tables keeps other databases waiting */
	SetConfigOption("lock_timeout", "10s", PGC_SUSET, PGC_S_OVERRIDE);

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	pgstat_report_activity(STATE_RUNNING, "looking for jobs");
	if (strata_job_tables_lock())
		next = strata_job_schedule_pass(&starved);
	PopActiveSnapshot();
	CommitTransactionCommand();

	if (starved)
		strata_job_wake(strata_job_slot_database(), next, true);
	strata_job_wake_at_exit(next);
	proc_exit(0);
}
