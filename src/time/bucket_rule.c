/*-------------------------------------------------------------------------
 *
 * bucket_rule.c
 *	  The arithmetic of buckets: which bucket holds a time, where the next
 *	  one starts.  Hides calendars, overflow and the range of each type.
 *
 * Buckets of a fixed width start at origin + k * width.  Buckets of months
 * start on the first of a month, counted from the origin's month.  A shift
 * moves all of them.  Nothing here allocates.
 *
 * src/time/bucket_rule.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "time/time.h"

#include "catalog/pg_type.h"
#include "common/int.h"
#include "utils/date.h"
#include "utils/datetime.h"

/* Monday 2000-01-03, in days since 2000-01-01. */
#define DEFAULT_ORIGIN_DAY 2

/* The month number of January 2000. */
#define DEFAULT_ORIGIN_MONTH (2000 * MONTHS_PER_YEAR)

/* See time.h. */
bool
strata_bucket_type(Oid type)
{
	return type == TIMESTAMPOID || type == TIMESTAMPTZOID || type == DATEOID ||
		type == INT2OID || type == INT4OID || type == INT8OID;
}

/* The length of an interval without months, in microseconds. */
static int64
interval_length(const Interval *interval)
{
	int64		length;

	if (pg_mul_s64_overflow(interval->day, USECS_PER_DAY, &length) ||
		pg_add_s64_overflow(length, interval->time, &length))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("interval out of range")));
	return length;
}

/* The same in units of the rule's type: dates have whole days. */
static int64
interval_units(const StrataBucket *bucket, const Interval *interval)
{
	int64		length = interval_length(interval);

	if (bucket->unit != 1)
		return length;
	if (length % USECS_PER_DAY != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("interval must not have sub-day precision"),
				 errdetail("Buckets of dates are whole days."),
				 errhint("Cast the date to timestamp.")));
	return length / USECS_PER_DAY;
}

/* Least and greatest value of a type, in internal units. */
static void
set_limits(StrataBucket *bucket, Oid type)
{
	memset(bucket, 0, sizeof(*bucket));
	switch (type)
	{
		case INT2OID:
			bucket->min = PG_INT16_MIN;
			bucket->max = PG_INT16_MAX;
			break;
		case INT4OID:
			bucket->min = PG_INT32_MIN;
			bucket->max = PG_INT32_MAX;
			break;
		case INT8OID:
			bucket->min = PG_INT64_MIN;
			bucket->max = PG_INT64_MAX;
			break;
		case DATEOID:
			bucket->unit = 1;
			bucket->min = DATETIME_MIN_JULIAN - POSTGRES_EPOCH_JDATE;
			bucket->max = DATE_END_JULIAN - POSTGRES_EPOCH_JDATE - 1;
			break;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			bucket->unit = USECS_PER_DAY;
			bucket->min = MIN_TIMESTAMP;
			bucket->max = END_TIMESTAMP - 1;
			break;
		default:
			elog(ERROR, "no buckets of type %u", type);
	}
}

/* See time.h. */
void
strata_bucket_init(StrataBucket *bucket, Oid type, Datum width)
{
	set_limits(bucket, type);
	if (bucket->unit == 0)
		bucket->width = strata_bucket_get(type, width);
	else
	{
		Interval   *interval = DatumGetIntervalP(width);

		if (STRATA_INTERVAL_IS_INFINITE(interval))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("bucket width must be finite")));
		if (interval->month != 0 &&
			(interval->day != 0 || interval->time != 0))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("month intervals cannot have day or time component")));
		bucket->months = interval->month;
		if (interval->month == 0)
			bucket->width = interval_units(bucket, interval);
		bucket->origin = interval->month != 0 ? DEFAULT_ORIGIN_MONTH :
			DEFAULT_ORIGIN_DAY * bucket->unit;
	}
	if (bucket->months < 0 || (bucket->months == 0 && bucket->width <= 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bucket width must be greater than 0")));
}

/* a modulo b, never negative. */
static int64
modulo(int64 a, int64 b)
{
	int64		rest = a % b;

	return rest < 0 ? rest + b : rest;
}

/* How far a lies above a multiple of width from origin; no overflow. */
static int64
distance(int64 a, int64 origin, int64 width)
{
	int64		d = modulo(a, width) - modulo(origin, width);

	if (d < 0)
		d += width;
	Assert(d >= 0 && d < width);	/* time:U4 */
	return d;
}

/* Month number of a time, and whether the time is the very start of it. */
static int64
month_of(const StrataBucket *bucket, int64 time, bool *is_start)
{
	int64		rest = modulo(time, bucket->unit);
	int			year,
				month,
				day;

	j2date((int) ((time - rest) / bucket->unit) + POSTGRES_EPOCH_JDATE, &year,
		   &month, &day);
	*is_start = rest == 0 && day == 1;
	return (int64) year * MONTHS_PER_YEAR + month - 1;
}

/* Start of a month as a time; false when no valid one. */
static bool
month_start(const StrataBucket *bucket, int64 number, int64 *time)
{
	int64		month = modulo(number, MONTHS_PER_YEAR);
	int64		year = (number - month) / MONTHS_PER_YEAR;

	if (year < JULIAN_MINYEAR || year > JULIAN_MAXYEAR)
		return false;
	*time = ((int64) date2j((int) year, (int) month + 1, 1) -
			 POSTGRES_EPOCH_JDATE);
	return !pg_mul_s64_overflow(*time, bucket->unit, time);
}

/* See time.h. */
void
strata_bucket_set_origin(StrataBucket *bucket, int64 origin)
{
	if (bucket->unit != 0 && (origin < bucket->min || origin > bucket->max))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("origin must be finite")));
	if (bucket->months != 0)
	{
		bool		is_start;

		/*
		 * TimescaleDB's rule: months start on their first day, wherever in
		 * one the origin is
		 */
		origin = month_of(bucket, origin, &is_start);
	}
	bucket->origin = origin;
}

/* See time.h. */
void
strata_bucket_set_offset(StrataBucket *bucket, Datum offset)
{
	Interval   *interval = DatumGetIntervalP(offset);

	if (STRATA_INTERVAL_IS_INFINITE(interval))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("offset must be finite")));
	if (interval->month != 0 && bucket->months == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("offset of buckets cannot have months unless their width has"),
				 errhint("Use the argument origin.")));
	/* months move the origin, the rest moves the starts */
	if (bucket->months != 0)
		bucket->origin += interval->month;
	bucket->shift = interval_units(bucket, interval);
}

/* See time.h. */
int64
strata_bucket_get(Oid type, Datum time)
{
	switch (type)
	{
		case INT2OID:
			return DatumGetInt16(time);
		case INT4OID:
			return DatumGetInt32(time);
		case DATEOID:
			return DatumGetDateADT(time);
		default:
			return DatumGetInt64(time);
	}
}

/* See time.h. */
Datum
strata_bucket_datum(Oid type, int64 time)
{
	switch (type)
	{
		case INT2OID:
			Assert(time == (int16) time);	/* time:U4 */
			return Int16GetDatum((int16) time);
		case INT4OID:
			Assert(time == (int32) time);	/* time:U4 */
			return Int32GetDatum((int32) time);
		case DATEOID:
			Assert(time == (DateADT) time); /* time:U4 */
			return DateADTGetDatum((DateADT) time);
		default:
			return Int64GetDatum(time);
	}
}

/* See time.h. */
bool
strata_bucket_is_infinite(Oid type, int64 time)
{
	switch (type)
	{
		case DATEOID:
			return DATE_NOT_FINITE((DateADT) time);
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return TIMESTAMP_NOT_FINITE(time);
		default:
			return false;
	}
}

/* time - shift into *result: 0, or on which side of the range it would lie. */
static int
unshift(const StrataBucket *bucket, int64 time, int64 *result)
{
	if (pg_sub_s64_overflow(time, bucket->shift, result))
		return bucket->shift > 0 ? -1 : 1;
	if (*result < bucket->min)
		return -1;
	return *result > bucket->max ? 1 : 0;
}

/* Is start + shift a valid time?  Then it is the answer. */
static bool
give(const StrataBucket *bucket, int64 start, int64 *result)
{
	return !pg_add_s64_overflow(start, bucket->shift, result) &&
		*result >= bucket->min && *result <= bucket->max;
}

/* The last start <= time. */
static bool
start_at(const StrataBucket *bucket, int64 time, int64 *start)
{
	if (unshift(bucket, time, &time) != 0)
		return false;
	if (bucket->months != 0)
	{
		bool		is_start;
		int64		month = month_of(bucket, time, &is_start);

		month -= distance(month, bucket->origin, bucket->months);
		return month_start(bucket, month, start) &&
			give(bucket, *start, start);
	}
	return !pg_sub_s64_overflow(time,
								distance(time, bucket->origin, bucket->width),
								start) &&
		give(bucket, *start, start);
}

/* See time.h. */
bool
strata_bucket_start(const StrataBucket *bucket, int64 time, int64 *start)
{
	bool		found = start_at(bucket, time, start);

	Assert(!found ||
		   (*start <= time && *start >= bucket->min));	/* time:U1 */
	return found;
}

/* The smallest start >= time, or > time if after; time is without shift. */
static bool
start_from(const StrataBucket *bucket, int64 time, bool after, int64 *start)
{
	if (bucket->months != 0)
	{
		bool		is_start;
		int64		month = month_of(bucket, time, &is_start);
		int64		above = distance(month, bucket->origin, bucket->months);

		if (above != 0 || !is_start || after)
			month += bucket->months - above;
		return month_start(bucket, month, start) &&
			give(bucket, *start, start);
	}
	else
	{
		int64		above = distance(time, bucket->origin, bucket->width);

		if (above == 0 && !after)
			*start = time;
		else if (pg_add_s64_overflow(time, bucket->width - above, start))
			return false;
		return give(bucket, *start, start);
	}
}

/* See time.h. */
bool
strata_bucket_first(const StrataBucket *bucket, int64 time, int64 *start)
{
	int64		bare;
	int			side = unshift(bucket, time, &bare);
	bool		found;

	found = side <= 0 &&
		start_from(bucket, side < 0 ? bucket->min : bare, false, start);
	Assert(!found || *start >= time);	/* time:U1 */
	return found;
}

/* See time.h. */
bool
strata_bucket_next(const StrataBucket *bucket, int64 time, int64 *start)
{
	int64		bare;
	int			side = unshift(bucket, time, &bare);
	bool		found;

	found = side <= 0 &&
		start_from(bucket, side < 0 ? bucket->min : bare, side == 0, start);
	Assert(!found || *start > time);	/* time:U1 */
	return found;
}
