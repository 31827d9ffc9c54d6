/*-------------------------------------------------------------------------
 *
 * job_refresh.c
 *	  Policies that refresh continuous aggregates: add, remove, and what they
 *	  do.
 *
 * A policy is of the archive, as those that compress it or drop its chunks
 * are.  There may be several of one, for windows that do not overlap.
 *
 * src/job/job_refresh.c
 *-------------------------------------------------------------------------
 */
#include "job/job_private.h"

#include "base/base.h"
#include "hypertable/hypertable.h"
#include "rollup/rollup.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(strata_add_continuous_aggregate_policy);
PG_FUNCTION_INFO_V1(strata_remove_continuous_aggregate_policy);
PG_FUNCTION_INFO_V1(strata_policy_refresh_continuous_aggregate);

#define REFRESH_PROC "policy_refresh_continuous_aggregate"

/* Arguments of add_continuous_aggregate_policy(). */
enum
{
	ADD_VIEW, ADD_START, ADD_END, ADD_INTERVAL, ADD_IF_NOT_EXISTS,
	ADD_INITIAL_START, ADD_TIMEZONE, ADD_TIERED, ADD_BUCKETS, ADD_BATCHES,
	ADD_NEWEST
};

/*-------------------------------------------------------------------------
 * Offsets
 *-------------------------------------------------------------------------
 */

/*
 * An end of a window, so long before now.  length: how long that is, a month
 * counted as 30 days; for windows to be compared by.
 */
typedef struct WindowOffset
{
	bool		given;
	char	   *text;			/* as in the config */
	int64		length;
} WindowOffset;

static int64
bucket_length(const StrataRollupBucket *bucket)
{
	return strata_rollup_bucket_width(bucket) *
		(bucket->type == DATEOID ? USECS_PER_DAY : 1);
}

/* An argument of type "any": an interval, or with integer time a number. */
static void
read_offset(FunctionCallInfo fcinfo, int number, const char *name,
			const StrataHypertable *ht, WindowOffset *offset)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, number);
	bool		integer = strata_time_type_is_integer(ht->key_type);
	Datum		value;

	memset(offset, 0, sizeof(*offset));
	if (PG_ARGISNULL(number))
		return;
	offset->given = true;
	value = PG_GETARG_DATUM(number);
	if (type == UNKNOWNOID && !integer)
	{
		value = strata_policy_parse_interval(DatumGetCString(value));
		type = INTERVALOID;
	}
	else if (type == UNKNOWNOID)
	{
		value = DirectFunctionCall1(int8in, value);
		type = INT8OID;
	}
	if (integer ? !strata_time_type_is_integer(type) : type != INTERVALOID)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid type %s of argument \"%s\"",
						format_type_be(type), name),
				 errhint(integer ? "Give an integer, or NULL." :
						 "Give an interval, or NULL.")));
	if (integer)
	{
		offset->length = strata_time_from_datum(type, value);
		offset->text = psprintf(INT64_FORMAT, offset->length);
		return;
	}
	if (STRATA_INTERVAL_IS_INFINITE(DatumGetIntervalP(value)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be finite", name),
				 errhint("NULL is no end.")));
	offset->length = strata_time_interval_usecs(DatumGetIntervalP(value));
	offset->text = strata_policy_interval_text(DatumGetIntervalP(value));
}

static void
check_offsets(StrataRollup *rollup, const WindowOffset *start,
			  const WindowOffset *end)
{
	int64		least;
	int64		length;

	if (!start->given || !end->given)
		return;
	if (!pg_mul_s64_overflow(bucket_length(&rollup->bucket), 2, &least) &&
		!pg_sub_s64_overflow(start->length, end->length, &length) &&
		length >= least)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("policy refresh window too small"),
			 errdetail("The start and end offsets must be at least two buckets apart."),
			 errhint("Give a start offset that is two buckets longer than the end offset.")));
}

/* The offset of a policy that is there. */
static WindowOffset
offset_of_config(const StrataHypertable *ht, Datum config, const char *key)
{
	WindowOffset offset = {0};

	Datum		interval;

	offset.text = strata_policy_config(config, key);
	offset.given = offset.text != NULL;
	if (!offset.given)
		return offset;
	if (strata_time_type_is_integer(ht->key_type))
	{
		offset.length =
			DatumGetInt64(DirectFunctionCall1(int8in,
											  CStringGetDatum(offset.text)));
		return offset;
	}
	interval = strata_policy_parse_interval(offset.text);
	offset.length = strata_time_interval_usecs(DatumGetIntervalP(interval));
	return offset;
}

static bool
same_offset(const WindowOffset *a, const WindowOffset *b)
{
	return a->given == b->given && a->length == b->length;
}

/* Does the window begin before the other ends? */
static bool
begins_before(const WindowOffset *start, const WindowOffset *end)
{
	return !start->given || !end->given || start->length > end->length;
}

/*-------------------------------------------------------------------------
 * Adding and removing
 *-------------------------------------------------------------------------
 */

/* The continuous aggregate, which the user owns; and its hypertable. */
static StrataRollup *
open_view(FunctionCallInfo fcinfo, StrataHypertable **archive)
{
	Oid			view;
	char	   *name;
	StrataRollup *rollup;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("continuous_aggregate cannot be null")));
	view = PG_GETARG_OID(0);
	name = strata_owned_relation_name(view);
	rollup = strata_rollup_open(view, true);
	if (rollup == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("relation \"%s\" is not a continuous aggregate",
						name)));
	*archive = strata_hypertable_open(view);
	Assert((*archive)->relid == rollup->archive);	/* rollup:Z5 */
	return rollup;
}

/* Is there a policy of the same window?  ereports on one that overlaps. */
static bool
policy_exists(const StrataRollup *rollup, const StrataHypertable *archive,
			  const WindowOffset *start, const WindowOffset *end,
			  bool if_not_exists)
{
	ListCell   *lc;

	/* two sessions do not add one each */
	LockRelationOid(archive->relid, ShareUpdateExclusiveLock);
	foreach(lc, strata_job_list_policies(REFRESH_PROC, archive->relid))
	{
		StrataJob  *job = lfirst(lc);
		WindowOffset from = offset_of_config(archive, job->config,
											 "start_offset");
		WindowOffset to = offset_of_config(archive, job->config, "end_offset");

		if (same_offset(&from, start) && same_offset(&to, end))
		{
			ereport(if_not_exists ? NOTICE : ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 if_not_exists ?
					 errmsg("continuous aggregate policy already exists for \"%s\", skipping",
							get_rel_name(rollup->view)) :
					 errmsg("continuous aggregate policy already exists for \"%s\"",
							get_rel_name(rollup->view)),
					 errdetail("It is job %d.", job->id)));
			return true;
		}
		if (begins_before(&from, end) && begins_before(start, &to))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("refresh window overlaps with that of another policy for \"%s\"",
							get_rel_name(rollup->view)),
					 errdetail("It is job %d.", job->id),
					 errhint("SELECT remove_continuous_aggregate_policy('%s'); removes all of them.",
							 strata_sql_name(rollup->view))));
	}
	return false;
}

/* A number of 0 or more, as a key of the config; NULL: none. */
static void
append_number(StringInfo json, FunctionCallInfo fcinfo, int number,
			  const char *name)
{
	if (PG_ARGISNULL(number))
		return;
	if (PG_GETARG_INT32(number) < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be 0 or more", name)));
	appendStringInfo(json, ", \"%s\": %d", name, PG_GETARG_INT32(number));
}

static void
append_offset(StringInfo json, const StrataHypertable *ht, const char *key,
			  const WindowOffset *offset)
{
	appendStringInfo(json, "%s\"%s\": ", json->len > 1 ? ", " : "", key);
	if (!offset->given)
		appendStringInfoString(json, "null");
	else if (strata_time_type_is_integer(ht->key_type))
		appendStringInfoString(json, offset->text);
	else
		escape_json(json, offset->text);
}

/*
 * add_continuous_aggregate_policy(continuous_aggregate, start_offset "any",
 *		end_offset "any", schedule_interval, if_not_exists, initial_start,
 *		timezone, include_tiered_data, buckets_per_batch,
 *		max_batches_per_execution, refresh_newest_first) -> job's id, or -1
 */
Datum
strata_add_continuous_aggregate_policy(PG_FUNCTION_ARGS)
{
	StrataHypertable *archive;
	StrataRollup *rollup;
	WindowOffset start;
	WindowOffset end;
	StrataSchedule schedule;
	StrataJob	job = {0};
	StringInfoData json;

	PreventCommandIfReadOnly("add_continuous_aggregate_policy()");
	rollup = open_view(fcinfo, &archive);
	if (PG_ARGISNULL(ADD_INTERVAL))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("schedule_interval cannot be null")));
	read_offset(fcinfo, ADD_START, "start_offset", archive, &start);
	read_offset(fcinfo, ADD_END, "end_offset", archive, &end);
	check_offsets(rollup, &start, &end);
	if (strata_time_type_is_integer(archive->key_type))
		/* fails here, not at night, when nobody said what now is */
		(void) strata_policy_now(archive);
	schedule = strata_policy_schedule(fcinfo, ADD_INTERVAL, ADD_INITIAL_START,
									  ADD_TIMEZONE);
	initStringInfo(&json);
	appendStringInfoChar(&json, '{');
	append_offset(&json, archive, "start_offset", &start);
	append_offset(&json, archive, "end_offset", &end);
	append_number(&json, fcinfo, ADD_BUCKETS, "buckets_per_batch");
	append_number(&json, fcinfo, ADD_BATCHES, "max_batches_per_execution");
	if (!PG_ARGISNULL(ADD_NEWEST))
		appendStringInfo(&json, ", \"refresh_newest_first\": %s",
						 PG_GETARG_BOOL(ADD_NEWEST) ? "true" : "false");
	appendStringInfoChar(&json, '}');
	if (policy_exists(rollup, archive, &start, &end,
					  !PG_ARGISNULL(ADD_IF_NOT_EXISTS) &&
					  PG_GETARG_BOOL(ADD_IF_NOT_EXISTS)))
		PG_RETURN_INT32(-1);
	job.name = pstrdup("Refresh Continuous Aggregate Policy");
	job.schedule_interval = *schedule.interval;
	job.max_retries = -1;
	job.retry_period.time = USECS_PER_HOUR;
	job.proc_schema = STRATA_INTERNAL_SCHEMA;
	job.proc_name = REFRESH_PROC;
	job.owner = GetUserId();
	job.scheduled = true;
	job.fixed_schedule = schedule.has_start;
	job.timezone = schedule.timezone;
	job.hypertable = archive->relid;
	job.has_config = true;
	job.config = DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
	strata_job_add(&job, schedule.has_start, schedule.start);
	PG_RETURN_INT32(job.id);
}

/*
 * remove_continuous_aggregate_policy(continuous_aggregate, if_not_exists,
 *		if_exists): all there are.  The second argument is what the third
 *		means; the third counts if it is given.
 */
Datum
strata_remove_continuous_aggregate_policy(PG_FUNCTION_ARGS)
{
	StrataHypertable *archive;
	StrataRollup *rollup;
	bool		if_exists;
	List	   *jobs;
	ListCell   *lc;

	PreventCommandIfReadOnly("remove_continuous_aggregate_policy()");
	rollup = open_view(fcinfo, &archive);
	if_exists = !PG_ARGISNULL(2) ? PG_GETARG_BOOL(2) :
		!PG_ARGISNULL(1) && PG_GETARG_BOOL(1);
	jobs = strata_job_list_policies(REFRESH_PROC, archive->relid);
	if (jobs == NIL)
		ereport(if_exists ? NOTICE : ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 if_exists ?
				 errmsg("continuous aggregate policy not found for \"%s\", skipping",
						get_rel_name(rollup->view)) :
				 errmsg("continuous aggregate policy not found for \"%s\"",
						get_rel_name(rollup->view))));
	foreach(lc, jobs)
		strata_job_delete(((StrataJob *) lfirst(lc))->id);
	strata_job_wake_at_commit();
	PG_RETURN_VOID();
}

/*-------------------------------------------------------------------------
 * Running
 *-------------------------------------------------------------------------
 */

/* See job_private.h. */
int64
strata_policy_before(const StrataHypertable *ht, const char *text,
					 const char *what)
{
	int64		now;
	int64		before;
	int64		time;

	if (!strata_time_type_is_integer(ht->key_type))
		return strata_hypertable_point(ht, INTERVALOID,
									   strata_policy_parse_interval(text),
									   what, false);
	now = strata_policy_now(ht);
	before = DatumGetInt64(DirectFunctionCall1(int8in,
											   CStringGetDatum(text)));
	if (pg_sub_s64_overflow(now, before, &time))
		return before > 0 ? PG_INT64_MIN : PG_INT64_MAX;
	return time;
}

/* The same of a config's key; open: NULL is no end. */
static int64
policy_window_end(const StrataHypertable *ht, Datum config, const char *key,
				  int64 open)
{
	char	   *text = strata_policy_config(config, key);

	return text == NULL ? open : strata_policy_before(ht, text, key);
}

static int
number_of_config(Datum config, const char *key, int otherwise)
{
	char	   *text = strata_policy_config(config, key);

	return text == NULL ? otherwise :
		DatumGetInt32(DirectFunctionCall1(int4in, CStringGetDatum(text)));
}

/* true, unless the config says false. */
static bool
switch_of_config(Datum config, const char *key)
{
	JsonbValue	buffer;
	JsonbValue *value;

	value = getKeyJsonValueFromContainer(&DatumGetJsonbP(config)->root, key,
										 (int) strlen(key), &buffer);
	if (value != NULL && value->type != jbvNull && value->type != jbvBool)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" in the config of a policy must be true or false",
						key)));
	return value == NULL || value->type == jbvNull || value->val.boolean;
}

/* CALL policy_refresh_continuous_aggregate(job_id, config) */
Datum
strata_policy_refresh_continuous_aggregate(PG_FUNCTION_ARGS)
{
	StrataHypertable *archive = strata_policy_open(fcinfo);
	Datum		config = PG_GETARG_DATUM(1);
	StrataRefresh refresh = {.quiet = true};

	refresh.view = strata_rollup_of_archive(archive->relid);
	if (!OidIsValid(refresh.view))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("the table of job %d is not that of a continuous aggregate",
						PG_GETARG_INT32(0)),
				 errhint("SELECT delete_job(%d);", PG_GETARG_INT32(0))));
	refresh.lo = policy_window_end(archive, config, "start_offset", PG_INT64_MIN);
	refresh.hi = policy_window_end(archive, config, "end_offset", PG_INT64_MAX);
	refresh.buckets_per_batch = number_of_config(config, "buckets_per_batch",
												 -1);
	refresh.max_batches = number_of_config(config,
										   "max_batches_per_execution", 0);
	refresh.newest_first = switch_of_config(config, "refresh_newest_first");
	refresh.manner = fcinfo->context != NULL &&
		IsA(fcinfo->context, CallContext) &&
		!((CallContext *) fcinfo->context)->atomic ?
		STRATA_REFRESH_PROCEDURE : STRATA_REFRESH_IN_BLOCK;
	Assert(OidIsValid(strata_relation_owner(refresh.view)));	/* job:J2 */
	if (refresh.lo < refresh.hi)
		strata_rollup_refresh(&refresh);
	PG_RETURN_VOID();
}
