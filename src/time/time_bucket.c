/*-------------------------------------------------------------------------
 *
 * time_bucket.c
 *	  The SQL functions time_bucket(), and the edges of buckets for the
 *	  planner.
 *
 * timestamptz is bucketed in UTC unless a time zone is named, so that nothing
 * here depends on the session.  Infinite times are their own bucket.
 *
 * src/time/time_bucket.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "time/time.h"

#include "catalog/pg_type.h"
#include "common/int.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/date.h"

PG_FUNCTION_INFO_V1(strata_time_bucket_int2);
PG_FUNCTION_INFO_V1(strata_time_bucket_int4);
PG_FUNCTION_INFO_V1(strata_time_bucket_int8);
PG_FUNCTION_INFO_V1(strata_time_bucket_timestamp);
PG_FUNCTION_INFO_V1(strata_time_bucket_timestamp_offset);
PG_FUNCTION_INFO_V1(strata_time_bucket_date);
PG_FUNCTION_INFO_V1(strata_time_bucket_date_offset);
PG_FUNCTION_INFO_V1(strata_time_bucket_zone);
PG_FUNCTION_INFO_V1(strata_uuid_bucket);
PG_FUNCTION_INFO_V1(strata_uuid_bucket_offset);
PG_FUNCTION_INFO_V1(strata_uuid_bucket_zone);
PG_FUNCTION_INFO_V1(strata_time_bucket_edge);
PG_FUNCTION_INFO_V1(strata_time_bucket_zone_edge);

static void
raise_out_of_range(Oid type)
{
	bool		is_integer;

	is_integer = type == INT2OID || type == INT4OID || type == INT8OID;
	ereport(ERROR,
			(errcode(is_integer ? ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE :
					 ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
			 errmsg("%s out of range", format_type_be(type)),
			 errdetail("The bucket starts before the first valid value.")));
}

/* The bucket of time, as a Datum of the type. */
static Datum
bucket_of(const StrataBucket *bucket, Oid type, int64 time)
{
	int64		start;

	if (strata_bucket_is_infinite(type, time))
		return strata_bucket_datum(type, time);
	if (!strata_bucket_start(bucket, time, &start))
		raise_out_of_range(type);
	return strata_bucket_datum(type, start);
}

/*
 * (width, time [, origin]), all of one integer type or times with an interval.
 */
static Datum
bucket_with_origin(FunctionCallInfo fcinfo, Oid type)
{
	StrataBucket bucket;

	strata_bucket_init(&bucket, type, PG_GETARG_DATUM(0));
	if (PG_NARGS() > 2)
		strata_bucket_set_origin(&bucket,
								 strata_bucket_get(type, PG_GETARG_DATUM(2)));
	return bucket_of(&bucket, type,
					 strata_bucket_get(type, PG_GETARG_DATUM(1)));
}

/* (width, time, offset interval) */
static Datum
bucket_with_offset(FunctionCallInfo fcinfo, Oid type)
{
	StrataBucket bucket;

	strata_bucket_init(&bucket, type, PG_GETARG_DATUM(0));
	strata_bucket_set_offset(&bucket, PG_GETARG_DATUM(2));
	return bucket_of(&bucket, type,
					 strata_bucket_get(type, PG_GETARG_DATUM(1)));
}

Datum
strata_time_bucket_int2(PG_FUNCTION_ARGS)
{
	return bucket_with_origin(fcinfo, INT2OID);
}

Datum
strata_time_bucket_int4(PG_FUNCTION_ARGS)
{
	return bucket_with_origin(fcinfo, INT4OID);
}

Datum
strata_time_bucket_int8(PG_FUNCTION_ARGS)
{
	return bucket_with_origin(fcinfo, INT8OID);
}

/* timestamp, and timestamptz in UTC */
Datum
strata_time_bucket_timestamp(PG_FUNCTION_ARGS)
{
	return bucket_with_origin(fcinfo, TIMESTAMPOID);
}

Datum
strata_time_bucket_timestamp_offset(PG_FUNCTION_ARGS)
{
	return bucket_with_offset(fcinfo, TIMESTAMPOID);
}

Datum
strata_time_bucket_date(PG_FUNCTION_ARGS)
{
	return bucket_with_origin(fcinfo, DATEOID);
}

Datum
strata_time_bucket_date_offset(PG_FUNCTION_ARGS)
{
	return bucket_with_offset(fcinfo, DATEOID);
}

/*
 * (width, timestamptz, zone, origin or NULL, offset or NULL): buckets of the
 * wall clock of a zone.  What is known of the zone is kept from call to call.
 */
Datum
strata_time_bucket_zone(PG_FUNCTION_ARGS)
{
	StrataZoneBucket *bucket = fcinfo->flinfo->fn_extra;
	TimestampTz time,
				start;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	if (bucket == NULL)
		fcinfo->flinfo->fn_extra = bucket =
			MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(*bucket));
	strata_zone_bucket_init(bucket, PG_GETARG_DATUM(0), PG_GETARG_DATUM(2));
	if (!PG_ARGISNULL(3))
		strata_zone_bucket_set_origin(bucket, PG_GETARG_TIMESTAMPTZ(3));
	if (!PG_ARGISNULL(4))
		strata_zone_bucket_set_offset(bucket, PG_GETARG_DATUM(4));
	time = PG_GETARG_TIMESTAMPTZ(1);
	if (TIMESTAMP_NOT_FINITE(time))
		PG_RETURN_TIMESTAMPTZ(time);
	if (!strata_zone_bucket_start(bucket, time, &start))
		raise_out_of_range(TIMESTAMPTZOID);
	PG_RETURN_TIMESTAMPTZ(start);
}

/*
 * Of the time of a UUID.  These names do not begin with strata_time_bucket_:
 * the result is of another type than what is bucketed, which the planner's
 * half does not know.
 */
static void
take_time_of_uuid(FunctionCallInfo fcinfo)
{
	if (!PG_ARGISNULL(1))
		fcinfo->args[1].value =
			TimestampTzGetDatum(strata_uuid_time(PG_GETARG_UUID_P(1)));
}

Datum
strata_uuid_bucket(PG_FUNCTION_ARGS)
{
	take_time_of_uuid(fcinfo);
	return strata_time_bucket_timestamp(fcinfo);
}

Datum
strata_uuid_bucket_offset(PG_FUNCTION_ARGS)
{
	take_time_of_uuid(fcinfo);
	return strata_time_bucket_timestamp_offset(fcinfo);
}

Datum
strata_uuid_bucket_zone(PG_FUNCTION_ARGS)
{
	take_time_of_uuid(fcinfo);
	return strata_time_bucket_zone(fcinfo);
}

/*
 * bucket_edge(c, last, width [, origin or offset]): where the comparison of a
 * bucket with c has its edge among the times that are bucketed.
 *	  last = false: the first time whose bucket is >= c, infinity when none is;
 *	  last = true: the last time whose bucket is <= c.
 * Times only, no integers, so that "none" can be said.
 */
Datum
strata_time_bucket_edge(PG_FUNCTION_ARGS)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, 0);
	int64		time,
				start;
	bool		last = PG_GETARG_BOOL(1);
	StrataBucket bucket;

	if ((type != TIMESTAMPOID && type != TIMESTAMPTZOID && type != DATEOID) ||
		get_fn_expr_argtype(fcinfo->flinfo, 2) != INTERVALOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("bucket_edge() does not take these types")));
	time = strata_bucket_get(type, PG_GETARG_DATUM(0));
	strata_bucket_init(&bucket, type, PG_GETARG_DATUM(2));
	if (PG_NARGS() > 3)
	{
		Oid			rest = get_fn_expr_argtype(fcinfo->flinfo, 3);

		if (rest == INTERVALOID)
			strata_bucket_set_offset(&bucket, PG_GETARG_DATUM(3));
		else if (rest == type)
			strata_bucket_set_origin(&bucket,
									 strata_bucket_get(type,
													   PG_GETARG_DATUM(3)));
		else
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("bucket_edge() does not take these types")));
	}
	if (strata_bucket_is_infinite(type, time))
		return strata_bucket_datum(type, time);
	if (!last)
	{
		if (!strata_bucket_first(&bucket, time, &start))
			return type == DATEOID ? DateADTGetDatum(DATEVAL_NOEND) :
				TimestampGetDatum(DT_NOEND);
		return strata_bucket_datum(type, start);
	}
	return strata_bucket_datum(type,
							   strata_bucket_next(&bucket, time, &start) ?
							   start - 1 :
							   bucket.max);
}

/*
 * No two offsets from UTC that one zone has ever had lie further apart
 * (Apia: from -11:30 to +14:00).
 */
#define MAX_OFFSET_CHANGE (26 * USECS_PER_HOUR)

/*
 * zone_bucket_edge(c, last, width): a time that no time whose bucket in some
 * zone is >= c lies before; or (last) that no time whose bucket is <= c lies
 * after.  The first is c, for a bucket is never later than its times.
 */
Datum
strata_time_bucket_zone_edge(PG_FUNCTION_ARGS)
{
	TimestampTz c = PG_GETARG_TIMESTAMPTZ(0);
	bool		last = PG_GETARG_BOOL(1);
	StrataBucket bucket;
	int64		length;

	if (TIMESTAMP_NOT_FINITE(c))
		PG_RETURN_TIMESTAMPTZ(c);
	if (!last)
		PG_RETURN_TIMESTAMPTZ(c);
	strata_bucket_init(&bucket, TIMESTAMPOID, PG_GETARG_DATUM(2));
	if (bucket.months != 0 &&
		pg_mul_s64_overflow(bucket.months, 31 * USECS_PER_DAY, &length))
		PG_RETURN_TIMESTAMPTZ(DT_NOEND);
	if (bucket.months == 0)
		length = bucket.width;
	if (length > END_TIMESTAMP - MAX_OFFSET_CHANGE ||
		c > END_TIMESTAMP - MAX_OFFSET_CHANGE - length)
		PG_RETURN_TIMESTAMPTZ(DT_NOEND);
	PG_RETURN_TIMESTAMPTZ(c + length + MAX_OFFSET_CHANGE);
}
