/*-------------------------------------------------------------------------
 *
 * job_worker.c
 *	  The process that runs a job and records what came of it.
 *
 * It is connected as the job's owner, authenticated as that role and nobody
 * else, so that the job can do exactly what its owner can: no SET ROLE leads
 * further.  Reads and writes of our tables go through catalog_job.c.  When a
 * run is over the process takes the next due job of the same role, after
 * DISCARD ALL; if there is none it goes.  It also goes when it has had its
 * turn, and jobs of another role or database wait.
 *
 * A run:  claim (commit) - call, with transactions of its own - record
 * (commit). Errors end up in the server log as usual and in job_history.
 *
 * src/job/job_worker.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "job/job_private.h"

#include "access/xact.h"
#include "commands/discard.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/procsignal.h"
#include "tcop/pquery.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/snapmgr.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"

PGDLLEXPORT void strata_job_worker_main(Datum arg);

static TimeoutId runtime_timeout;
static volatile sig_atomic_t runtime_exceeded = 0;	/* how often canceled */

/* max_runtime is over. */
static void
on_runtime_timeout(void)
{
	runtime_exceeded++;
	strata_limit_cancel(runtime_exceeded);
}

/* Have the job canceled when it has run for max_runtime; 0: never. */
static void
arm_timeout(const StrataJob *job)
{
	const Interval *limit = &job->max_runtime;
	double		ms;

	ms = limit->time / 1000.0 + limit->day * 86400000.0 + limit->month * 30.0 *
		86400000.0;
	runtime_exceeded = 0;
	if (ms <= 0)
		return;

	/*
	 * a timer takes an int of milliseconds: 24 days, more is as good as none
	 */
	if (ms < PG_INT32_MAX)
		enable_timeout_every(runtime_timeout,
							 TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
														 (int64) Max(ms, 1)),
							 STRATA_CANCEL_AGAIN_MS);
}

/* "work_mem" in the config of a job is its work_mem; DISCARD ALL ends it. */
static void
set_memory(const StrataJob *job)
{
	JsonbValue	buffer;
	JsonbValue *value;
	char	   *text;

	if (!job->has_config || !JB_ROOT_IS_OBJECT(DatumGetJsonbP(job->config)))
		return;
	value = getKeyJsonValueFromContainer(&DatumGetJsonbP(job->config)->root,
										 "work_mem", (int) strlen("work_mem"),
										 &buffer);
	if (value == NULL || value->type == jbvNull)
		return;
	if (value->type == jbvString)
		text = pnstrdup(value->val.string.val, value->val.string.len);
	else if (value->type == jbvNumeric)
		text = DatumGetCString(DirectFunctionCall1(
												   numeric_out, NumericGetDatum(value->val.numeric)));
	else
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"work_mem\" in the config of a job must be a string with a unit"),
				 errhint("SELECT alter_job(%d, config_merge => '{\"work_mem\": \"256MB\"}');",
						 job->id)));
	(void) set_config_option("work_mem", text, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SET, true, ERROR, false);
}

/* A transaction of our own, whatever the role's settings make of others. */
static void
begin_job_transaction(void)
{
	Assert(!IsTransactionState());	/* job:J3 */
	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	XactReadOnly = false;
	XactIsoLevel = XACT_READ_COMMITTED;
	strata_worker_limit_nothing();
	PushActiveSnapshot(GetTransactionSnapshot());
}

static void
commit(void)
{
	if (ActiveSnapshotSet())
		PopActiveSnapshot();
	CommitTransactionCommand();
}

/* Is the process connected as the role that the job is to run as? */
static bool
is_for_this_role(const StrataJob *job)
{
	return strata_job_slot_role() ==
		(strata_job_is_system(job) ? InvalidOid : job->owner);
}

/*
 * Call the job's routine in a portal, as if a client had sent CALL: procedures
 * may commit, which needs a portal that lives through it.
 */
static void
call_in_portal(const StrataJob *job)
{
	Portal		portal;

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	portal = CreatePortal("", true, true);
	portal->visible = false;
	portal->status = PORTAL_ACTIVE;
	portal->activeSubid = GetCurrentSubTransactionId();
	PortalContext = portal->portalContext;
	ActivePortal = portal;
	/* what the call is made of must outlive a COMMIT in it */
	MemoryContextSwitchTo(portal->portalContext);
	EnsurePortalSnapshotExists();
	if (!is_for_this_role(job))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("job %d has another owner, or calls another routine, since its process was started",
						job->id)));
	Assert(strata_job_is_system(job) ||
		   GetSessionUserId() == job->owner);	/* job:J2 */
	set_memory(job);
	strata_job_call(job, false);
	if (portal->portalSnapshot != NULL)
	{
		portal->portalSnapshot = NULL;
		PopActiveSnapshot();
	}
	portal->status = PORTAL_DONE;
	/* the portal's context goes with it */
	MemoryContextSwitchTo(TopTransactionContext);
	PortalDrop(portal, false);
	ActivePortal = NULL;
	PortalContext = NULL;
	CommitTransactionCommand();
}

/* The error that ended the run, in the current context. */
static StrataJobError *
error_of(const StrataJob *job, ErrorData *edata)
{
	StrataJobError *error = palloc0(sizeof(StrataJobError));

	error->sqlerrcode = edata->sqlerrcode;
	error->message = edata->message;
	error->detail = edata->detail;
	error->hint = edata->hint;
	error->context = edata->context;
	if (runtime_exceeded > 0 && edata->sqlerrcode == ERRCODE_QUERY_CANCELED)
	{
		error->message =
			psprintf("job %d was canceled: it ran longer than its max_runtime",
					 job->id);
		error->hint = psprintf("SELECT * FROM alter_job(%d, max_runtime => interval '...');",
							   job->id);
	}
	return error;
}

/* Says in the server log whose error it was. */
static void
job_context(void *arg)
{
	const StrataJob *job = arg;

	errcontext("strata job %d (%s.%s)", job->id, job->proc_schema,
			   job->proc_name);
}

/* Run the routine; NULL, or what went wrong.  In mcxt. */
static StrataJobError *
call_job(const StrataJob *job, MemoryContext mcxt)
{
	StrataJobError *volatile error = NULL;

	ErrorContextCallback callback;

	arm_timeout(job);
	PG_TRY();
	{
		callback.callback = job_context;
		callback.arg = unconstify(StrataJob *, job);
		callback.previous = error_context_stack;
		error_context_stack = &callback;
		call_in_portal(job);
		error_context_stack = callback.previous;
		disable_timeout(runtime_timeout, false);
		/* a cancellation that came too late is for nobody */
		QueryCancelPending = false;
	}
	PG_CATCH();
	{
		ErrorData  *edata;

		disable_timeout(runtime_timeout, false);
		HOLD_INTERRUPTS();
		QueryCancelPending = false;
		MemoryContextSwitchTo(mcxt);
		edata = CopyErrorData();
		error_context_stack = NULL;
		EmitErrorReport();
		FlushErrorState();

		/*
		 * nobody may drop a portal that is active, and the next job needs one
		 * of its name
		 */
		if (ActivePortal != NULL)
			MarkPortalFailed(ActivePortal);
		AbortOutOfAnyTransaction();
		PortalErrorCleanup();
		ActivePortal = NULL;
		PortalContext = NULL;
		MemoryContextSwitchTo(mcxt);
		error = error_of(job, edata);
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(mcxt);
	return error;
}

/*
 * Nothing of one job is left for the next, nor for the recording of the run.
 */
static void
discard_all(void)
{
	DiscardStmt *stmt;

	StartTransactionCommand();
	stmt = makeNode(DiscardStmt);
	stmt->target = DISCARD_ALL;
	/* as a statement has one: rows of catalogs go with temporary tables */
	PushActiveSnapshot(GetTransactionSnapshot());
	DiscardCommand(stmt, true);
	PopActiveSnapshot();
	CommitTransactionCommand();
}

/* See job_private.h. */
void
strata_job_run(int32 id)
{
	MemoryContext mcxt = AllocSetContextCreate(TopMemoryContext, "strata job",
											   ALLOCSET_DEFAULT_SIZES);
	StrataJob  *job = NULL;
	StrataJobError *error;
	TimestampTz finish;

	begin_job_transaction();
	if (strata_job_tables_lock() && strata_job_claim(id))
	{
		MemoryContext old = MemoryContextSwitchTo(mcxt);

		CommandCounterIncrement();
		job = strata_job_get(id);
		MemoryContextSwitchTo(old);
	}
	Assert(job == NULL || job->running_pid == MyProcPid);	/* job:J3 */
	commit();
	if (job != NULL)
	{
		char	   *title;

		MemoryContextSwitchTo(mcxt);
		title = psprintf("%s [%d]", job->name, job->id);
		pgstat_report_appname(title);
		pgstat_report_activity(STATE_RUNNING, title);
		error = call_job(job, mcxt);
		pgstat_report_activity(STATE_RUNNING, "recording the run");

		discard_all();
		begin_job_transaction();
		finish = GetCurrentTimestamp();
		/* it may have been altered, or deleted, meanwhile */
		if (strata_job_tables_lock())
		{
			StrataJob  *now = strata_job_get(id);

			if (now != NULL)
			{
				now->last_start = job->last_start;
				(void) strata_job_finish(now, finish,
										 error == NULL ?
										 strata_job_next_start(now, finish) :
										 strata_job_retry_start(now, finish,
																now->consecutive_failures + 1),
										 MyProcPid, error);
			}
		}
		commit();
		pgstat_report_stat(true);
	}
	MemoryContextSwitchTo(TopMemoryContext);
	MemoryContextDelete(mcxt);
}

/*
 * Another due job of this process's role that nobody has; 0 if none, or if it
 * is the turn of others.
 */
static int32
take_next(bool had_turn, TimestampTz *next)
{
	int32		id = 0;
	ListCell   *lc;

	begin_job_transaction();
	*next = DT_NOEND;
	if (strata_job_tables_lock())
	{
		foreach(lc, strata_job_list(STRATA_JOB_DUE))
		{
			StrataJob  *job = lfirst(lc);

			if (had_turn && (strata_job_others_starve() ||
							 (!is_for_this_role(job) &&
							  !strata_job_slot_taken(MyDatabaseId,
													 job->id))))
				break;
			if (is_for_this_role(job) && strata_job_slot_switch(job->id))
			{
				id = job->id;
				break;
			}
		}
		if (id == 0)
			*next = strata_job_earliest();
	}
	commit();
	return id;
}

/* The process. */
void
strata_job_worker_main(Datum arg)
{
	TimestampTz next = DT_NOEND;
	instr_time	start;
	int32		id;

	pqsignal(SIGTERM, die);
	pqsignal(SIGINT, StatementCancelHandler);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();
	if (!strata_job_slot_attach())
		proc_exit(0);
	BackgroundWorkerInitializeConnectionByOid(strata_job_slot_database(),
											  strata_job_slot_role(),
											  STRATA_BGWORKER_ANY_ROLE);
	/* a user's job has the settings that its owner's sessions have */
	if (!OidIsValid(strata_job_slot_role()))
		strata_worker_pin_settings();
	/* but what fails is recorded */
	SetConfigOption("exit_on_error", "off", PGC_SUSET, PGC_S_OVERRIDE);
	strata_job_slot_connected();
	runtime_timeout = RegisterTimeout(USER_TIMEOUT, on_runtime_timeout);

	INSTR_TIME_SET_CURRENT(start);
	for (id = strata_job_slot_job(); id != 0;
		 id = take_next(strata_job_had_turn(start), &next))
	{
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
		strata_job_run(id);
	}
	strata_job_wake_at_exit(next, NULL);
	proc_exit(0);
}
