/*-------------------------------------------------------------------------
 *
 * api_job.c
 *	  add_job, alter_job, delete_job, run_job: arguments and rights.
 *
 * A job belongs to who added it (a policy's: to the owner of its table), and
 * members of that role may change it.
 *
 * src/api/api_job.c
 *-------------------------------------------------------------------------
 */
#include "api/api_private.h"
#include "job/job.h"
#include "store/store_companion.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "pgtime.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(strata_check_preload);
PG_FUNCTION_INFO_V1(strata_add_job);
PG_FUNCTION_INFO_V1(strata_alter_job);
PG_FUNCTION_INFO_V1(strata_delete_job);
PG_FUNCTION_INFO_V1(strata_run_job);
PG_FUNCTION_INFO_V1(strata_job_changed);
PG_FUNCTION_INFO_V1(strata_job_next_start_sql);
PG_FUNCTION_INFO_V1(strata_job_scheduler_state);

#define DEFAULT_RETRY_MINUTES 5

/*
 * The job is started as its owner, who must therefore be able to log in
 * (before 17), and is not dropped meanwhile.
 */
static void
check_job_owner(Oid owner)
{
	HeapTuple	tuple;
	bool		login;

	shdepLockAndCheckObject(AuthIdRelationId, owner);
	tuple = SearchSysCache1(AUTHOID, ObjectIdGetDatum(owner));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for role %u", owner);
	login = ((Form_pg_authid) GETSTRUCT(tuple))->rolcanlogin;
	ReleaseSysCache(tuple);
	if (!login && STRATA_JOB_OWNER_MUST_LOGIN)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("role \"%s\" cannot own a job because it cannot log in",
						GetUserNameFromId(owner, false)),
				 errhint("ALTER ROLE %s LOGIN; or add the job as another role.",
						 quote_identifier(GetUserNameFromId(owner, false)))));
}

/*
 * Schema and name of a routine that takes these arguments and that we may
 * call.
 */
static void
resolve_routine(Oid procid, int nargs, const Oid *types, const char *expected,
				char **schema, char **name)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(procid));
	Form_pg_proc form;
	AclResult	acl;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("function or procedure with OID %u does not exist",
						procid)));
	form = (Form_pg_proc) GETSTRUCT(tuple);
	*schema = get_namespace_name(form->pronamespace);
	*name = pstrdup(NameStr(form->proname));
	if (form->pronargs != nargs ||
		memcmp(form->proargtypes.values, types, sizeof(Oid) * nargs) != 0 ||
		(form->prokind != PROKIND_FUNCTION &&
		 form->prokind != PROKIND_PROCEDURE) ||
		form->proretset)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" cannot be called by a job", *name),
				 errdetail("It must be a function or procedure with the arguments %s.",
						   expected)));
	ReleaseSysCache(tuple);
	acl = strata_function_aclcheck(procid, GetUserId(), ACL_EXECUTE);
	if (acl != ACLCHECK_OK)
		aclcheck_error(acl, OBJECT_FUNCTION, *name);
}

static void
set_check(StrataJob *job, Oid procid)
{
	Oid			types[1] = {JSONBOID};

	/* whoever gets the policy's table later does not call it as himself */
	job->named_owner = job->owner;
	if (!OidIsValid(procid))
		job->check_schema = job->check_name = NULL;
	else
		resolve_routine(procid, 1, types, "(config jsonb)", &job->check_schema,
						&job->check_name);
}

/*
 * add_job(proc, schedule_interval, config, initial_start, scheduled,
 *		   check_config, fixed_schedule, timezone, job_name)
 */
Datum
strata_add_job(PG_FUNCTION_ARGS)
{
	StrataJob	job = {0};
	Oid			types[2] = {INT4OID, JSONBOID};

	PreventCommandIfReadOnly("add_job()");
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("proc and schedule_interval of a job cannot be null")));
	resolve_routine(PG_GETARG_OID(0), 2, types,
					"(job_id integer, config jsonb)", &job.proc_schema,
					&job.proc_name);
	job.owner = GetUserId();
	check_job_owner(job.owner);
	job.schedule_interval = *PG_GETARG_INTERVAL_P(1);
	strata_job_check_interval(&job.schedule_interval, "schedule_interval",
							  false);
	job.max_retries = -1;
	job.retry_period.time = DEFAULT_RETRY_MINUTES * USECS_PER_MINUTE;
	job.has_config = !PG_ARGISNULL(2);
	job.config = job.has_config ? PG_GETARG_DATUM(2) : (Datum) 0;
	job.fixed_schedule = PG_ARGISNULL(6) || PG_GETARG_BOOL(6);
	job.scheduled = PG_ARGISNULL(4) || PG_GETARG_BOOL(4);
	if (!PG_ARGISNULL(5))
		set_check(&job, PG_GETARG_OID(5));
	job.timezone = PG_ARGISNULL(7) ? NULL :
		text_to_cstring(PG_GETARG_TEXT_PP(7));
	job.name = PG_ARGISNULL(8) ? "User-Defined Action" :
		text_to_cstring(PG_GETARG_TEXT_PP(8));
	strata_job_add(&job, !PG_ARGISNULL(3),
				   PG_ARGISNULL(3) ? 0 : PG_GETARG_TIMESTAMPTZ(3));
	PG_RETURN_INT32(job.id);
}

/* The job, which the current user may change. */
static StrataJob *
get_own_job(int32 id, bool missing_ok)
{
	StrataJob  *job = strata_job_get(id);

	if (job == NULL)
	{
		ereport(missing_ok ? NOTICE : ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("job %d does not exist", id),
				 missing_ok ?
				 0 :
				 errhint("SELECT job_id, application_name FROM strata.jobs; lists them.")));
		return NULL;
	}
	if (!has_privs_of_role(GetUserId(), job->owner))
		ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
						errmsg("must be owner of job %d", id),
						errdetail("It belongs to the role \"%s\".",
								  GetUserNameFromId(job->owner, true) ?
								  GetUserNameFromId(job->owner, true) :
								  "?")));
	return job;
}

/* The same, locked; he may not make others wait who may not change it. */
static StrataJob *
lock_own_job(int32 id, bool missing_ok)
{
	if (get_own_job(id, missing_ok) == NULL)
		return NULL;
	strata_job_lock(id);
	return get_own_job(id, missing_ok);
}

/* Arguments of alter_job, by position. */
enum
{
	ALTER_ID,
	ALTER_INTERVAL,
	ALTER_MAX_RUNTIME,
	ALTER_MAX_RETRIES,
	ALTER_RETRY_PERIOD,
	ALTER_SCHEDULED,
	ALTER_CONFIG,
	ALTER_NEXT_START,
	ALTER_IF_EXISTS,
	ALTER_CHECK,
	ALTER_FIXED,
	ALTER_INITIAL_START,
	ALTER_TIMEZONE,
	ALTER_NAME,
	ALTER_CONFIG_MERGE
};

/* Take over what is not NULL; true if the times of starts are new. */
static bool
alter_schedule(FunctionCallInfo fcinfo, StrataJob *job)
{
	bool		changed = false;

	if (!PG_ARGISNULL(ALTER_INTERVAL))
	{
		job->schedule_interval = *PG_GETARG_INTERVAL_P(ALTER_INTERVAL);
		strata_job_check_interval(&job->schedule_interval, "schedule_interval",
								  false);
		changed = true;
	}
	if (!PG_ARGISNULL(ALTER_FIXED))
	{
		job->fixed_schedule = PG_GETARG_BOOL(ALTER_FIXED);
		changed = true;
	}
	if (!PG_ARGISNULL(ALTER_INITIAL_START))
	{
		job->has_initial_start = true;
		job->initial_start = PG_GETARG_TIMESTAMPTZ(ALTER_INITIAL_START);
		if (TIMESTAMP_IS_NOBEGIN(job->initial_start))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("initial_start cannot be -infinity")));
		changed = true;
	}
	if (!PG_ARGISNULL(ALTER_TIMEZONE))
	{
		job->timezone = text_to_cstring(PG_GETARG_TEXT_PP(ALTER_TIMEZONE));
		changed = true;
	}
	if (job->fixed_schedule && !job->has_initial_start)
	{
		job->has_initial_start = true;
		job->initial_start = GetCurrentTransactionStartTimestamp();
	}
	if (changed)
		strata_job_check_schedule(job);
	return changed;
}

/*
 * Take over the arguments of alter_job() that are not about when it runs; NULL
 * leaves as it is.
 */
static void
alter_rest(FunctionCallInfo fcinfo, StrataJob *job)
{
	if (!PG_ARGISNULL(ALTER_MAX_RUNTIME))
	{
		job->max_runtime = *PG_GETARG_INTERVAL_P(ALTER_MAX_RUNTIME);
		strata_job_check_interval(&job->max_runtime, "max_runtime", true);
	}
	if (!PG_ARGISNULL(ALTER_MAX_RETRIES))
	{
		job->max_retries = PG_GETARG_INT32(ALTER_MAX_RETRIES);
		if (job->max_retries < -1 || job->max_retries == PG_INT32_MAX)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("max_retries must be -1 (no limit) or more")));
	}
	if (!PG_ARGISNULL(ALTER_RETRY_PERIOD))
	{
		job->retry_period = *PG_GETARG_INTERVAL_P(ALTER_RETRY_PERIOD);
		strata_job_check_interval(&job->retry_period, "retry_period", true);
	}
	if (!PG_ARGISNULL(ALTER_SCHEDULED))
		job->scheduled = PG_GETARG_BOOL(ALTER_SCHEDULED);
	if (!PG_ARGISNULL(ALTER_NAME))
	{
		job->name = text_to_cstring(PG_GETARG_TEXT_PP(ALTER_NAME));
		strata_job_check_name(job);
	}
	if (!PG_ARGISNULL(ALTER_CHECK))
		set_check(job, PG_GETARG_OID(ALTER_CHECK));
	if (!PG_ARGISNULL(ALTER_CONFIG))
	{
		job->has_config = true;
		job->config = PG_GETARG_DATUM(ALTER_CONFIG);
	}
	if (!PG_ARGISNULL(ALTER_CONFIG_MERGE))
	{
		if (!JB_ROOT_IS_OBJECT(PG_GETARG_JSONB_P(ALTER_CONFIG_MERGE)) ||
			(job->has_config &&
			 !JB_ROOT_IS_OBJECT(DatumGetJsonbP(job->config))))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("only objects can be merged: \"config_merge\" or the job's config is none"),
					 errhint("Give the whole config: SELECT alter_job(%d, config => ...);",
							 job->id)));
		job->config =
			job->has_config ?
			DirectFunctionCall2(jsonb_concat, job->config,
								PG_GETARG_DATUM(ALTER_CONFIG_MERGE)) :
			PG_GETARG_DATUM(ALTER_CONFIG_MERGE);
		job->has_config = true;
	}
}

/* The row that alter_job returns. */
static Datum
describe_job(FunctionCallInfo fcinfo, const StrataJob *job)
{
	TupleDesc	desc;
	Datum		values[13];
	bool		nulls[13] = {false};
	NameData	name;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	values[0] = Int32GetDatum(job->id);
	values[1] = IntervalPGetDatum(&job->schedule_interval);
	values[2] = IntervalPGetDatum(&job->max_runtime);
	values[3] = Int32GetDatum(job->max_retries);
	values[4] = IntervalPGetDatum(&job->retry_period);
	values[5] = BoolGetDatum(job->scheduled);
	values[6] = job->config;
	nulls[6] = !job->has_config;
	values[7] = TimestampTzGetDatum(job->next_start);
	nulls[7] = !job->has_stat;
	nulls[8] = job->check_name == NULL;
	values[8] =
		nulls[8] ?
		(Datum) 0 :
		CStringGetTextDatum(quote_qualified_identifier(job->check_schema,
													   job->check_name));
	values[9] = BoolGetDatum(job->fixed_schedule);
	values[10] = TimestampTzGetDatum(job->initial_start);
	nulls[10] = !job->has_initial_start;
	nulls[11] = job->timezone == NULL;
	values[11] = nulls[11] ? (Datum) 0 : CStringGetTextDatum(job->timezone);
	namestrcpy(&name, psprintf("%s [%d]", job->name, job->id));
	values[12] = NameGetDatum(&name);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values,
											 nulls));
}

/*
 * alter_job(): one row, or none with if_exists and no such job.  The job must
 * be the caller's.
 */
Datum
strata_alter_job(PG_FUNCTION_ARGS)
{
	FuncCallContext *call;
	StrataJob  *job;
	bool		new_times;

	/* whoever wants no second row does not make the second call */
	if (!SRF_IS_FIRSTCALL())
	{
		call = SRF_PERCALL_SETUP();
		SRF_RETURN_DONE(call);
	}
	call = SRF_FIRSTCALL_INIT();
	PreventCommandIfReadOnly("alter_job()");
	job = PG_ARGISNULL(ALTER_ID) ?
		NULL :
		lock_own_job(PG_GETARG_INT32(ALTER_ID),
					 !PG_ARGISNULL(ALTER_IF_EXISTS) &&
					 PG_GETARG_BOOL(ALTER_IF_EXISTS));
	if (job == NULL)
		SRF_RETURN_DONE(call);
	new_times = alter_schedule(fcinfo, job);
	alter_rest(fcinfo, job);
	strata_job_check_config(job);
	strata_job_update(job);
	if (!PG_ARGISNULL(ALTER_NEXT_START))
	{
		job->next_start = PG_GETARG_TIMESTAMPTZ(ALTER_NEXT_START);
		if (TIMESTAMP_IS_NOBEGIN(job->next_start))
			job->next_start = GetCurrentTransactionStartTimestamp();
	}
	else if (!PG_ARGISNULL(ALTER_INITIAL_START) &&
			 job->initial_start > GetCurrentTransactionStartTimestamp())
		job->next_start = job->initial_start;
	else if (new_times && job->has_last_finish)
		job->next_start = strata_job_next_start(job, job->last_finish);
	else
		new_times = false;
	if (new_times || !PG_ARGISNULL(ALTER_NEXT_START))
	{
		strata_job_set_next_start(job->id, job->next_start);
		job->has_stat = true;
	}
	strata_job_wake_at_commit();
	SRF_RETURN_NEXT(call, describe_job(fcinfo, job));
}

Datum
strata_delete_job(PG_FUNCTION_ARGS)
{
	StrataJob  *job;

	PreventCommandIfReadOnly("delete_job()");
	job = lock_own_job(PG_GETARG_INT32(0), false);
	strata_job_delete(job->id);
	strata_job_wake_at_commit();
	PG_RETURN_VOID();
}

/*
 * CALL run_job(id): in this session, as the job's owner.  Who is the owner may
 * have the job commit; for another member of the role it is one transaction,
 * because PostgreSQL has no transaction control under a changed user.
 */
Datum
strata_run_job(PG_FUNCTION_ARGS)
{
	StrataJob  *job;
	bool		atomic;
	StrataOwnerContext saved;

	if (PG_ARGISNULL(0))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
						errmsg("job_id cannot be null")));
	atomic = fcinfo->context == NULL || !IsA(fcinfo->context, CallContext) ||
		((CallContext *) fcinfo->context)->atomic;
	job = get_own_job(PG_GETARG_INT32(0), false);
	/* policies take on the owner themselves, one piece of work at a time */
	if (job->owner == GetUserId() || strata_job_is_system(job))
		strata_job_call(job, atomic);
	else
	{
		/*
		 * restricted: nothing of his may be left to run as us, such as
		 * deferred triggers
		 */
		strata_role_enter(job->owner, &saved);
		strata_job_call(job, true);
		strata_owner_leave(&saved);
	}
	PG_RETURN_VOID();
}

/* Trigger on _strata.job. */
Datum
strata_job_changed(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"job_changed\" was not called by trigger manager")));
	strata_job_wake_at_commit();
	PG_RETURN_POINTER(NULL);
}

/*
 * next_start(schedule_interval, initial_start, timezone, fixed_schedule,
 * after)
 */
Datum
strata_job_next_start_sql(PG_FUNCTION_ARGS)
{
	StrataJob	job = {0};

	if (PG_ARGISNULL(0) || PG_ARGISNULL(3) || PG_ARGISNULL(4))
		PG_RETURN_NULL();
	job.schedule_interval = *PG_GETARG_INTERVAL_P(0);
	strata_job_check_interval(&job.schedule_interval, "schedule_interval",
							  false);
	job.has_initial_start = !PG_ARGISNULL(1);
	job.initial_start = job.has_initial_start ? PG_GETARG_TIMESTAMPTZ(1) : 0;
	job.timezone = PG_ARGISNULL(2) ? NULL :
		text_to_cstring(PG_GETARG_TEXT_PP(2));
	job.fixed_schedule = PG_GETARG_BOOL(3);
	PG_RETURN_TIMESTAMPTZ(strata_job_next_start(&job,
												PG_GETARG_TIMESTAMPTZ(4)));
}

/* check_preload(): at the end of CREATE EXTENSION. */
Datum
strata_check_preload(PG_FUNCTION_ARGS)
{
	/* what is in the queue is nothing to subscribers */
	strata_companion_silence(strata_space_queue_relation());
	strata_job_check_preload();
	PG_RETURN_VOID();
}

/* scheduler_state() -> (preloaded, starved_since) */
Datum
strata_job_scheduler_state(PG_FUNCTION_ARGS)
{
	TupleDesc	desc;
	Datum		values[2];
	bool		nulls[2] = {false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	values[0] = BoolGetDatum(strata_job_preloaded());
	nulls[1] = strata_job_starved_since() == 0;
	values[1] = TimestampTzGetDatum(strata_job_starved_since());
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values,
											 nulls));
}
