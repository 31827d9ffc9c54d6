/*-------------------------------------------------------------------------
 *
 * api_job_restore.c
 *	  Rows of _strata.job that pg_restore copies in as a role that is no
 *	  superuser.
 *
 * Who owns the database may insert jobs (hook/hook_permission.c lets him), and
 * gets those he could have added himself: he has the rights of the job's
 * owner, and of the owner of the policy's table, and what acts on a table is
 * one of the extension's own procedures.  Any other row is left out
 * with a warning, so that the rest of the dump is restored.  Jobs wait for the
 * end of the session that does it (job_restore.c).
 *
 * src/api/api_job_restore.c
 *-------------------------------------------------------------------------
 */
#include "api/api_private.h"
#include "hypertable/hypertable.h"
#include "job/job.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "commands/extension.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(strata_job_restored);

static Datum
nullable_value(TriggerData *data, const char *column, bool *isnull)
{
	return heap_getattr(data->tg_trigtuple,
						get_attnum(RelationGetRelid(data->tg_relation),
								   column),
						RelationGetDescr(data->tg_relation), isnull);
}

/*
 * The value of a column of the new row; 0 when it is NULL (NOT NULL is looked
 * at after us).
 */
static Datum
new_value(TriggerData *data, const char *column)
{
	bool		isnull;
	Datum		value = nullable_value(data, column, &isnull);

	return isnull ? (Datum) 0 : value;
}

static char *
new_name(TriggerData *data, const char *column)
{
	Datum		value = new_value(data, column);

	return value == (Datum) 0 ? pstrdup("") : NameStr(*DatumGetName(value));
}

/*
 * A policy acts on the table with the rights of the table's owner, so it calls
 * what is the extension's own.
 */
static bool
may_have_policy(const StrataJob *job)
{
	return get_rel_name(job->hypertable) != NULL &&
		has_privs_of_role(GetUserId(),
						  strata_relation_owner(job->hypertable)) &&
		strata_job_is_system(job);
}

/*
 * What is the extension's own runs with the system's rights, and is not for
 * everybody.
 */
static bool
may_call(const StrataJob *job)
{
	return !strata_job_is_system(job) ||
		strata_function_aclcheck(strata_job_procedure(job), job->owner,
								 ACL_EXECUTE) == ACLCHECK_OK;
}

/*
 * An error unless the schedule is one that the scheduler can follow: one job
 * must not keep it from all others.
 */
static void
check_schedule(TriggerData *data, StrataJob *job)
{
	Datum		interval = new_value(data, "schedule_interval");
	bool		no_start;
	Datum		start = nullable_value(data, "initial_start", &no_start);
	Datum		timezone = new_value(data, "timezone");

	if (interval == (Datum) 0)
		return;
	job->schedule_interval = *DatumGetIntervalP(interval);
	strata_job_check_interval(&job->schedule_interval, "schedule_interval",
							  false);
	job->fixed_schedule = DatumGetBool(new_value(data, "fixed_schedule"));
	job->has_initial_start = !no_start;
	job->initial_start = no_start ? 0 : DatumGetTimestampTz(start);
	job->timezone = timezone == (Datum) 0 ? NULL :
		TextDatumGetCString(timezone);
	strata_job_check_schedule(job);
}

/* Row trigger before INSERT on _strata.job. */
Datum
strata_job_restored(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	StrataJob	job = {0};

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"job_restored\" was not called by trigger manager")));
	/* not add_job() and the like, who write it restricted */
	if (!InSecurityRestrictedOperation() && !creating_extension)
		strata_job_note_restore();
	if (has_privs_of_role(GetUserId(), data->tg_relation->rd_rel->relowner))
		return PointerGetDatum(data->tg_trigtuple);
	check_schedule(data, &job);
	job.id = DatumGetInt32(new_value(data, "id"));
	job.owner = DatumGetObjectId(new_value(data, "owner"));
	job.hypertable = DatumGetObjectId(new_value(data, "hypertable"));
	job.proc_schema = new_name(data, "proc_schema");
	job.proc_name = new_name(data, "proc_name");
	if (job.id >= STRATA_JOB_FIRST_USER_ID && OidIsValid(job.owner) &&
		has_privs_of_role(GetUserId(), job.owner) &&
		(!OidIsValid(job.hypertable) || may_have_policy(&job)) &&
		may_call(&job))
		return PointerGetDatum(data->tg_trigtuple);
	ereport(WARNING,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("job %d of role \"%s\" is not restored", job.id,
					GetUserNameFromId(job.owner, true)),
			 OidIsValid(job.hypertable) && !strata_job_is_system(&job) ?
			 errdetail("What acts on a table for its owner is one of the extension's own procedures.") :
			 errdetail("Only a superuser may restore jobs of other roles."),
			 errhint("Have that role call add_job(), or restore the data of table _strata.job as a superuser.")));
	return PointerGetDatum(NULL);
}
