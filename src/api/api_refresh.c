/*-------------------------------------------------------------------------
 *
 * api_refresh.c
 *	  CALL refresh_continuous_aggregate(), and which times are clean.
 *
 * src/api/api_refresh.c
 *-------------------------------------------------------------------------
 */
#include "api/api_private.h"
#include "catalog/catalog.h"
#include "rollup/rollup.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

PG_FUNCTION_INFO_V1(strata_refresh_continuous_aggregate);
PG_FUNCTION_INFO_V1(strata_rollup_clean_sql);

/* A number of options; ereports when it is none, or below zero. */
static int
option_number(const char *name, const JsonbValue *value)
{
	int64		number = -1;

	if (value->type == jbvNumeric)
		number = DatumGetInt64(DirectFunctionCall1(numeric_int8,
												   NumericGetDatum(value->val.numeric)));
	else if (value->type == jbvNull)
		return -1;
	if (number < 0 || number > PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" must be an integer of 0 or more",
						name)));
	return (int) number;
}

static void
take_option(StrataRefresh *refresh, const char *name, const JsonbValue *value)
{
	if (strcmp(name, "buckets_per_batch") == 0)
		refresh->buckets_per_batch = option_number(name, value);
	else if (strcmp(name, "max_batches_per_execution") == 0)
		refresh->max_batches = Max(option_number(name, value), 0);
	else if (strcmp(name, "refresh_newest_first") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown option \"%s\"", name),
				 errhint("There are buckets_per_batch, max_batches_per_execution and refresh_newest_first.")));
	else if (value->type == jbvBool)
		refresh->newest_first = value->val.boolean;
	else if (value->type != jbvNull)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" must be true or false", name)));
}

/* An object of options. */
static void
take_options(StrataRefresh *refresh, Jsonb *options)
{
	JsonbIterator *it = JsonbIteratorInit(&options->root);
	JsonbIteratorToken token;
	JsonbValue	value;
	char	   *name = NULL;

	if (!JB_ROOT_IS_OBJECT(options))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("options must be a JSON object")));
	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
			name = pnstrdup(value.val.string.val, value.val.string.len);
		else if (token == WJB_VALUE)
			take_option(refresh, name, &value);
	}
}

/* An end of the window, or `open` when there is none. */
static int64
window_end(FunctionCallInfo fcinfo, int number, const char *name,
		   const StrataHypertable *ht, bool up, int64 open)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, number);

	if (PG_ARGISNULL(number))
		return open;
	return strata_hypertable_point(ht, type, PG_GETARG_DATUM(number), name,
								   up);
}

/* The rollup of a view that the user owns; ereports otherwise. */
static StrataRollup *
own_rollup(Oid view)
{
	char	   *name = strata_owned_relation_name(view);
	StrataRollup *rollup = strata_rollup_open(view, true);

	if (rollup == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("relation \"%s\" is not a continuous aggregate",
						name)));
	Assert(strata_table_ownercheck(view, GetUserId())); /* api:P1 */
	return rollup;
}

/* ereport when the window holds no whole bucket. */
static void
check_window(StrataRollup *rollup, const StrataRefresh *refresh)
{
	StrataRange buckets;

	if (refresh->lo < refresh->hi)
	{
		buckets = strata_rollup_bucket_inward(&rollup->bucket, refresh->lo,
											  refresh->hi);
		if (buckets.lo < buckets.hi)
			return;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("refresh window too small"),
			 errdetail("The refresh window must cover at least one bucket."),
			 errhint("Align the refresh window with the buckets, or make it at least two buckets wide.")));
}

/*
 * refresh_continuous_aggregate(continuous_aggregate, window_start, window_end,
 *		force, options, refresh_newest_first)
 */
Datum
strata_refresh_continuous_aggregate(PG_FUNCTION_ARGS)
{
	StrataRefresh refresh = {.newest_first = true,.buckets_per_batch = -1};
	StrataRollup *rollup;
	StrataHypertable *ht;

	PreventCommandIfReadOnly("refresh_continuous_aggregate()");
	PreventCommandIfParallelMode("refresh_continuous_aggregate()");
	strata_api_require_argument(fcinfo, 0, "continuous_aggregate");
	refresh.view = PG_GETARG_OID(0);
	rollup = own_rollup(refresh.view);
	ht = strata_hypertable_require(rollup->source);
	refresh.lo = window_end(fcinfo, 1, "window_start", ht, true,
							PG_INT64_MIN);
	refresh.hi = window_end(fcinfo, 2, "window_end", ht, false,
							PG_INT64_MAX);
	refresh.force = !PG_ARGISNULL(3) && PG_GETARG_BOOL(3);
	if (!PG_ARGISNULL(4))
		take_options(&refresh, PG_GETARG_JSONB_P(4));
	if (!PG_ARGISNULL(5))
		refresh.newest_first = PG_GETARG_BOOL(5);
	check_window(rollup, &refresh);
	refresh.manner = fcinfo->context != NULL &&
		IsA(fcinfo->context, CallContext) &&
		!((CallContext *) fcinfo->context)->atomic ?
		STRATA_REFRESH_PROCEDURE : STRATA_REFRESH_IN_BLOCK;
	strata_rollup_refresh(&refresh);
	PG_RETURN_VOID();
}

/* rollup_clean(view) -> (lo, hi) */
Datum
strata_rollup_clean_sql(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	StrataRanges clean;

	InitMaterializedSRF(fcinfo, 0);
	strata_rollup_clean(own_rollup(PG_GETARG_OID(0)), GetActiveSnapshot(),
						&clean);
	for (int i = 0; i < clean.n; i++)
	{
		Datum		values[2] = {Int64GetDatum(clean.r[i].lo),
		Int64GetDatum(clean.r[i].hi)};
		bool		isnull[2] = {false, false};

		tuplestore_putvalues(result->setResult, result->setDesc, values,
							 isnull);
	}
	PG_RETURN_VOID();
}
