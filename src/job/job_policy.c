/*-------------------------------------------------------------------------
 *
 * job_policy.c
 *	  Policies: jobs of ours on the chunks of a hypertable.  Adding and
 *	  removing them.  What they do is in job_policy_run.c.
 *
 * A policy's parameters are in its config, under TimescaleDB's keys.  It
 * belongs to the owner of the table, whoever that is when it runs, and goes
 * with the table.
 *
 * src/job/job_policy.c
 *-------------------------------------------------------------------------
 */
#include "job/job_private.h"

#include "base/base.h"
#include "hypertable/hypertable.h"
#include "hypertable/hypertable.h"
#include "job/job.h"

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(strata_add_compression_policy);
PG_FUNCTION_INFO_V1(strata_add_columnstore_policy);
PG_FUNCTION_INFO_V1(strata_add_default_policy);
PG_FUNCTION_INFO_V1(strata_add_retention_policy);
PG_FUNCTION_INFO_V1(strata_add_reorder_policy);
PG_FUNCTION_INFO_V1(strata_remove_policy);

/* What kinds there are. */
typedef struct PolicyKind
{
	const char *word;			/* in messages */
	const char *proc;
	const char *name;			/* of the job */
	const char *after;			/* config keys */
	const char *created;
	int64		max_interval;	/* default schedule: half a chunk, at most
								 * this */
	int64		max_runtime;
	int64		retry_period;
} PolicyKind;

static const PolicyKind compression = {"compression",
	"policy_compression",
	"Compression Policy",
	"compress_after",
	"compress_created_before",
	12 * USECS_PER_HOUR,
	0,
USECS_PER_HOUR};

/* The same, named as programs look for what they made with the newer words. */
static const PolicyKind columnstore = {"compression",
	"policy_compression",
	"Columnstore Policy",
	"compress_after",
	"compress_created_before",
	12 * USECS_PER_HOUR,
	0,
USECS_PER_HOUR};
static const PolicyKind retention =
{"retention", "policy_retention", "Retention Policy",
	"drop_after", "drop_created_before", USECS_PER_DAY,
5 * USECS_PER_MINUTE, 5 * USECS_PER_MINUTE};
static const PolicyKind reorder = {
	"reorder", "policy_reorder", "Reorder Policy", NULL, NULL,
	4 * USECS_PER_DAY, 0, 5 * USECS_PER_MINUTE
};

/* {"key": value} with the value as a number or a string. */
static Datum
make_config(const char *key, const char *value, bool number)
{
	StringInfoData json;

	initStringInfo(&json);
	appendStringInfo(&json, "{\"%s\": ", key);
	if (number)
		appendStringInfoString(&json, value);
	else
		escape_json(&json, value);
	appendStringInfoChar(&json, '}');
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}

/* See job_private.h. */
char *
strata_policy_interval_text(const Interval *interval)
{
	struct pg_itm parts;
	char		text[MAXDATELEN + 1];

	interval2itm(*interval, &parts);
	EncodeInterval(&parts, INTSTYLE_POSTGRES, text);
	return pstrdup(text);
}

/* See job_private.h. */
Datum
strata_policy_parse_interval(const char *text)
{
	return DirectFunctionCall3(interval_in, CStringGetDatum(text),
							   ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}

/* See job_private.h. */
int64
strata_policy_now(const StrataHypertable *ht)
{
	StrataOwnerContext saved;
	char	   *name = get_rel_name(ht->relid);
	bool		limited = strata_in_background_worker();
	int64 volatile now = 0;

	strata_role_enter(strata_relation_owner(ht->relid), &saved);
	/* who waits for it in a session may cancel it */
	if (limited)
		strata_limit_begin(STRATA_NOW_MS);
	PG_TRY();
	{
		now = strata_hypertable_now(ht);
		if (limited)
			(void) strata_limit_end();
	}
	PG_CATCH();
	{
		if (limited && strata_limit_end())
			ereport(ERROR,
					(errcode(ERRCODE_QUERY_CANCELED),
					 errmsg("what now is to table \"%s\" took longer than %d ms to learn",
							name != NULL ? name : "", STRATA_NOW_MS)));
		PG_RE_THROW();
	}
	PG_END_TRY();
	strata_owner_leave(&saved);
	return now;
}

/*
 * The config of a policy that acts `after` some time, of the kind the
 * hypertable needs.
 */
static Datum
after_config(const StrataHypertable *ht, const PolicyKind *kind, Oid type,
			 Datum value)
{
	bool		integer = strata_time_type_is_integer(ht->key_type);
	Interval   *interval;

	if (type == UNKNOWNOID && !integer)
	{
		value = strata_policy_parse_interval(DatumGetCString(value));
		type = INTERVALOID;
	}
	else if (type == UNKNOWNOID)
	{
		value = DirectFunctionCall1(int8in,
									CStringGetDatum(DatumGetCString(value)));
		type = INT8OID;
	}
	if (integer != strata_time_type_is_integer(type) ||
		(!integer && type != INTERVALOID))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("%s of hypertable \"%s\" must be %s",
							   kind->after, get_rel_name(ht->relid),
							   integer ? "an integer" : "an interval"),
						errdetail("Its time is of type %s.",
								  format_type_be(ht->key_type))));
	if (integer)
	{
		/* fails here, not at night, when nobody said what now is */
		(void) strata_policy_now(ht);
		return make_config(kind->after,
						   psprintf(INT64_FORMAT,
									strata_time_from_datum(type, value)),
						   true);
	}
	interval = DatumGetIntervalP(value);
	strata_job_check_interval(interval, kind->after, true);
	return make_config(kind->after, strata_policy_interval_text(interval),
					   false);
}

/*
 * Half a chunk, within bounds; integer time does not say how long a chunk
 * lasts.
 */
static Interval
default_interval(const StrataHypertable *ht, const PolicyKind *kind)
{
	Interval	interval = {0};
	int64		half = kind->max_interval;

	if (kind != &retention && !strata_time_type_is_integer(ht->key_type))
		half = Min(half,
				   strata_time_interval_length(ht->key_type, ht->interval) *
				   (ht->key_type == DATEOID ? USECS_PER_DAY : 1) /
				   2);
	interval.time = Max(half, USECS_PER_SEC);
	interval.day = (int32) (interval.time / USECS_PER_DAY);
	interval.time -= interval.day * USECS_PER_DAY;
	return interval;
}

/* Is there such a policy?  Then say so, as if_not_exists asks. */
static bool
exists_already(const PolicyKind *kind, Oid relid, bool if_not_exists,
			   Datum config)
{
	int32		id;
	StrataJob  *job;

	/* two sessions do not add one each */
	LockRelationOid(relid, ShareUpdateExclusiveLock);
	id = strata_job_find_policy(kind->proc, relid);
	if (id == 0)
		return false;
	if (!if_not_exists)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("%s policy already exists for hypertable \"%s\"",
						kind->word, get_rel_name(relid)),
				 errhint("SELECT alter_job(%d, ...), or remove_%s_policy() first.",
						 id, kind->word)));
	job = strata_job_get(id);
	if (job->has_config &&
		DatumGetBool(DirectFunctionCall2(jsonb_eq, job->config, config)))
		ereport(NOTICE,
				(errmsg("%s policy already exists for hypertable \"%s\", skipping",
						kind->word, get_rel_name(relid))));
	else
		ereport(WARNING,
				(errmsg("%s policy already exists for hypertable \"%s\" with other arguments, skipping",
						kind->word, get_rel_name(relid))));
	return true;
}

/* See job_private.h. */
StrataSchedule
strata_policy_schedule(FunctionCallInfo fcinfo, int interval, int start,
					   int timezone)
{
	StrataSchedule schedule = {0};

	if (interval >= 0 && !PG_ARGISNULL(interval))
	{
		schedule.interval = PG_GETARG_INTERVAL_P(interval);
		strata_job_check_interval(schedule.interval, "schedule_interval",
								  false);
	}
	schedule.has_start = !PG_ARGISNULL(start);
	schedule.start = schedule.has_start ? PG_GETARG_TIMESTAMPTZ(start) : 0;
	schedule.timezone = PG_ARGISNULL(timezone) ?
		NULL :
		text_to_cstring(PG_GETARG_TEXT_PP(timezone));
	return schedule;
}

/* Add a policy's job; its id, or -1 when there is one. */
static int32
add_policy(const StrataHypertable *ht, const PolicyKind *kind,
		   bool if_not_exists, Datum config, const StrataSchedule *schedule)
{
	StrataJob	job = {0};

	if (exists_already(kind, ht->relid, if_not_exists, config))
		return -1;
	job.name = pstrdup(kind->name);
	job.schedule_interval = schedule->interval != NULL ?
		*schedule->interval :
		default_interval(ht, kind);
	job.max_runtime.time = kind->max_runtime;
	job.max_retries = -1;
	job.retry_period.time = kind->retry_period;
	job.proc_schema = STRATA_INTERNAL_SCHEMA;
	job.proc_name = pstrdup(kind->proc);
	job.owner = GetUserId();
	job.scheduled = true;
	job.fixed_schedule = schedule->has_start;
	job.timezone = schedule->timezone;
	job.hypertable = ht->relid;
	job.has_config = true;
	job.config = config;
	strata_job_add(&job, schedule->has_start, schedule->start);
	return job.id;
}

/*
 * (hypertable, after, if_not_exists, schedule_interval, initial_start,
 * timezone, created_before).  NULL for the table or if_not_exists makes
 * nothing, and gives NULL, as with TimescaleDB.
 */
static Datum
add_after_policy(FunctionCallInfo fcinfo, const PolicyKind *kind)
{
	StrataHypertable *ht;
	Datum		config;
	StrataSchedule schedule;

	PreventCommandIfReadOnly("add policy");
	if (PG_ARGISNULL(0) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	ht = strata_hypertable_open(PG_GETARG_OID(0));
	if (kind != &retention)
		strata_table_refuse_distributed(ht->relid);
	if (PG_ARGISNULL(1) == PG_ARGISNULL(6))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("one of %s and %s must be given", kind->after,
							   kind->created)));
	if (!PG_ARGISNULL(1))
		config = after_config(ht, kind, get_fn_expr_argtype(fcinfo->flinfo, 1),
							  PG_GETARG_DATUM(1));
	else
	{
		strata_job_check_interval(PG_GETARG_INTERVAL_P(6), kind->created,
								  true);
		config = make_config(kind->created,
							 strata_policy_interval_text(PG_GETARG_INTERVAL_P(6)), false);
	}
	schedule = strata_policy_schedule(fcinfo, 3, 4, 5);
	PG_RETURN_INT32(add_policy(ht, kind, PG_GETARG_BOOL(2), config,
							   &schedule));
}

Datum
strata_add_compression_policy(PG_FUNCTION_ARGS)
{
	return add_after_policy(fcinfo, &compression);
}

/* The same as a procedure. */
Datum
strata_add_columnstore_policy(PG_FUNCTION_ARGS)
{
	(void) add_after_policy(fcinfo, &columnstore);
	PG_RETURN_VOID();
}

/*
 * add_default_policy(hypertable): what CREATE TABLE WITH (tsdb.hypertable)
 * makes beside the table, as with TimescaleDB: chunks are compressed when the
 * next is over.
 */
Datum
strata_add_default_policy(PG_FUNCTION_ARGS)
{
	StrataHypertable *ht = strata_hypertable_open(PG_GETARG_OID(0));
	StrataSchedule schedule = {0};
	char	   *length;
	Datum		after;

	if (strata_time_type_is_integer(ht->key_type))
	{
		char	   *table = strata_sql_name(ht->relid);

		ereport(NOTICE,
				(errmsg("hypertable \"%s\" has no columnstore policy: nobody said what is now in its integer time",
						get_rel_name(ht->relid)),
				 errhint("SELECT set_integer_now_func(%s, 'function'); CALL add_columnstore_policy(%s, after => " INT64_FORMAT
						 ");",
						 quote_literal_cstr(table), quote_literal_cstr(table),
						 ht->interval)));
		PG_RETURN_VOID();
	}
	length = strata_time_interval_to_text(ht->key_type, ht->interval);
	after = strata_policy_parse_interval(length);
	(void) add_policy(ht, &columnstore, true,
					  make_config(columnstore.after,
								  strata_policy_interval_text(DatumGetIntervalP(after)),
								  false),
					  &schedule);
	PG_RETURN_VOID();
}

Datum
strata_add_retention_policy(PG_FUNCTION_ARGS)
{
	return add_after_policy(fcinfo, &retention);
}

/* (hypertable, index_name, if_not_exists, initial_start, timezone) */
Datum
strata_add_reorder_policy(PG_FUNCTION_ARGS)
{
	StrataHypertable *ht;
	char	   *index_name;
	Oid			index;
	StrataSchedule schedule;

	PreventCommandIfReadOnly("add policy");
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	ht = strata_hypertable_open(PG_GETARG_OID(0));
	strata_table_refuse_distributed(ht->relid);
	index_name = NameStr(*PG_GETARG_NAME(1));
	index = get_relname_relid(index_name, get_rel_namespace(ht->relid));
	if (!OidIsValid(index) ||
		get_rel_relkind(index) != RELKIND_PARTITIONED_INDEX ||
		IndexGetRelation(index, true) != ht->relid)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
						errmsg("\"%s\" is not an index of hypertable \"%s\"",
							   index_name, get_rel_name(ht->relid))));
	schedule = strata_policy_schedule(fcinfo, -1, 3, 4);
	PG_RETURN_INT32(add_policy(ht, &reorder, PG_GETARG_BOOL(2),
							   make_config("index_name", index_name, false),
							   &schedule));
}

/* remove_policy(hypertable, if_exists, procedure): was there one? */
Datum
strata_remove_policy(PG_FUNCTION_ARGS)
{
	StrataHypertable *ht;
	char	   *proc;
	int32		id;

	PreventCommandIfReadOnly("remove policy");
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	ht = strata_hypertable_open(PG_GETARG_OID(0));
	proc = NameStr(*PG_GETARG_NAME(2));
	id = strata_job_find_policy(proc, ht->relid);
	if (id == 0)
	{
		ereport(PG_GETARG_BOOL(1) ? NOTICE : ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("%s policy not found for hypertable \"%s\"",
						proc + strlen("policy_"), get_rel_name(ht->relid))));
		PG_RETURN_BOOL(false);
	}
	strata_job_delete(id);
	strata_job_wake_at_commit();
	PG_RETURN_BOOL(true);
}
