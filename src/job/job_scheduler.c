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

/* Jobs that found no worker are looked at again after this, at the latest. */
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

	if (strata_job_slot_taken(MyDatabaseId, job->id))
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

static void
start_due(int32 id, Oid role, JobLook *look)
{
	bool		running;

	if (strata_job_start_worker(MyDatabaseId, id, role, &running))
		look->started = true;
	else if (!running)
		look->starved = true;
}

/* See job_private.h. */
TimestampTz
strata_job_schedule_pass(JobLook *look)
{
	ListCell   *lc;
	TimestampTz next;
	TimestampTz restored;

	strata_job_look_begin(look);
	restored = strata_job_schedule_restored();
	strata_job_each(strata_job_list(STRATA_JOB_RUNNING), record_interrupted);
	record_all_unstarted();
	CommandCounterIncrement();
	foreach(lc, strata_job_list(STRATA_JOB_DUE))
	{
		StrataJob  *job = lfirst(lc);

		/* one may have a worker where another has none */
		start_due(job->id, role_of(job), look);
	}
	if (strata_space_queue_earliest() <= GetCurrentTimestamp())
		start_due(JOB_SPACE, InvalidOid, look);
	strata_job_note_starved(look->starved);
	next = strata_job_earliest();

	/*
	 * what was started is not marked as running yet; its worker will wake us
	 */
	if (next <= GetCurrentTimestamp())
		next = GetCurrentTimestamp() + USECS_PER_SEC *
			(look->started && !look->starved ? 1 : STARVED_RETRY_SECONDS);
	next = Min(next, restored);
	return Min(next, GetCurrentTimestamp() + IDLE_SECONDS * USECS_PER_SEC);
}

/* The extension is not here (any more): nothing is known of its jobs. */
static void
forget_jobs(void)
{
	strata_job_note_starved(false);
	while (strata_job_take_unstarted() != 0)
		continue;
}

/* The process: one transaction. */
void
strata_job_scheduler_main(Datum arg)
{
	TimestampTz next = DT_NOEND;
	JobLook		look = {0};

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
		next = strata_job_schedule_pass(&look);
	else
		forget_jobs();
	PopActiveSnapshot();
	CommitTransactionCommand();

	strata_job_wake_at_exit(next, &look);
	proc_exit(0);
}
