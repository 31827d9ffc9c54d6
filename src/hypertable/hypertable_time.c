/*-------------------------------------------------------------------------
 *
 * hypertable_time.c
 *	  Arithmetic of time: values, chunk lengths, chunk ranges, their texts.
 *
 * All of it without a catalog.  Ranges are aligned to 1970-01-01 (UTC), as
 * TimescaleDB aligns them, so that the range of any time is known by a
 * division.  A length of calendar months is the negative number of months;
 * these ranges begin on the first of a month (UTC), aligned to January 2000,
 * as buckets of months are (time/bucket_rule.c).
 *
 * src/hypertable/hypertable_time.c
 *-------------------------------------------------------------------------
 */
#include "hypertable/hypertable_private.h"
#include "time/time.h"

#include "catalog/pg_type.h"
#include "common/int.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#define EPOCH_DAYS (UNIX_EPOCH_JDATE - POSTGRES_EPOCH_JDATE)	/* negative */

/* See hypertable.h. */
bool
strata_time_type_is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

/* See hypertable.h. */
bool
strata_time_type_is_known(Oid type)
{
	return strata_time_type_is_integer(type) || type == DATEOID ||
		type == TIMESTAMPOID || type == TIMESTAMPTZOID || type == UUIDOID;
}

/* The type's own limits: ends of ranges beyond them are unbounded. */
static void
limits_of(Oid key_type, int64 *min, int64 *max)
{
	switch (key_type)
	{
		case INT2OID:
			*min = PG_INT16_MIN;
			*max = PG_INT16_MAX;
			break;
		case INT4OID:
			*min = PG_INT32_MIN;
			*max = PG_INT32_MAX;
			break;
		case INT8OID:
			*min = PG_INT64_MIN;
			*max = PG_INT64_MAX;
			break;
		case DATEOID:
			*min = DATETIME_MIN_JULIAN - POSTGRES_EPOCH_JDATE;
			*max = DATE_END_JULIAN - POSTGRES_EPOCH_JDATE - 1;
			break;
		case UUIDOID:
			*min = STRATA_UUID_MIN_TIME;
			*max = STRATA_UUID_MAX_TIME;
			break;
		default:
			*min = MIN_TIMESTAMP;
			*max = END_TIMESTAMP - 1;
			break;
	}
}

/* See hypertable.h. */
int64
strata_time_from_datum(Oid key_type, Datum value)
{
	switch (key_type)
	{
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
			return DatumGetInt32(value);
		case INT8OID:
			return DatumGetInt64(value);
		case DATEOID:
			if (DATE_IS_NOBEGIN(DatumGetDateADT(value)))
				return PG_INT64_MIN;
			if (DATE_IS_NOEND(DatumGetDateADT(value)))
				return PG_INT64_MAX;
			return DatumGetDateADT(value);
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return DatumGetTimestamp(value);	/* infinities are the extremes */
		case UUIDOID:
			return strata_uuid_time(DatumGetUUIDP(value));
		default:
			elog(ERROR, "type %u cannot be a hypertable's time", key_type);
	}
}

/* See hypertable_private.h. */
int64
strata_time_from_bound(Oid key_type, Datum value)
{
	return key_type == UUIDOID ? strata_uuid_bound_time(DatumGetUUIDP(value)) :
		strata_time_from_datum(key_type, value);
}

/*
 * The least UUID of a time; what lies beyond all UUIDs is the first or the
 * last.
 */
static pg_uuid_t *
uuid_of(int64 time)
{
	pg_uuid_t  *uuid = palloc(sizeof(pg_uuid_t));

	strata_uuid_boundary(Min(Max(time, STRATA_UUID_MIN_TIME),
							 STRATA_UUID_MAX_TIME),
						 uuid);
	return uuid;
}

/* See hypertable.h. */
Datum
strata_time_to_datum(Oid key_type, int64 time)
{
	switch (key_type)
	{
		case INT2OID:
			return Int16GetDatum((int16) time);
		case INT4OID:
			return Int32GetDatum((int32) time);
		case INT8OID:
			return Int64GetDatum(time);
		case DATEOID:
			if (time == PG_INT64_MIN)
				return DateADTGetDatum(DATEVAL_NOBEGIN);
			if (time == PG_INT64_MAX)
				return DateADTGetDatum(DATEVAL_NOEND);
			return DateADTGetDatum((DateADT) time);
		case UUIDOID:
			return UUIDPGetDatum(uuid_of(time));
		default:
			return TimestampGetDatum(time);
	}
}

/* The length must be positive, fit the type, and for dates be whole days. */
static int64
check_interval(Oid key_type, int64 interval)
{
	int64		min;
	int64		max;

	if (interval <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid chunk interval: must be greater than 0")));
	limits_of(key_type, &min, &max);
	if (interval > max)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid chunk interval: must be between 1 and %lld for type %s",
						(long long) max, format_type_be(key_type))));
	return interval;
}

/* See hypertable.h. */
void
strata_time_interval_doubt(Oid key_type, int64 interval)
{
	if ((key_type == TIMESTAMPOID || key_type == TIMESTAMPTZOID ||
		 key_type == UUIDOID) &&
		interval > 0 && interval < USECS_PER_SEC)
		ereport(WARNING,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unexpected chunk interval: smaller than one second"),
				 errhint("The interval is specified in microseconds.")));
}

/* Microseconds into the units of key_type. */
static int64
interval_from_usecs(Oid key_type, int64 usecs)
{
	if (key_type != DATEOID)
		return usecs;
	if (usecs % USECS_PER_DAY != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid chunk interval for type date: must be a whole number of days")));
	return usecs / USECS_PER_DAY;
}

/* See hypertable.h. */
int64
strata_time_interval_usecs(const Interval *interval)
{
	int64		days;
	int64		result;

	days = (int64) interval->month * DAYS_PER_MONTH + interval->day;
	if (pg_mul_s64_overflow(days, USECS_PER_DAY, &result) ||
		pg_add_s64_overflow(result, interval->time, &result))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("interval out of range")));
	return result;
}

/* See hypertable.h. */
int64
strata_time_interval_length(Oid key_type, int64 interval)
{
	Assert(interval > 0 ||
		   !strata_time_type_is_integer(key_type)); /* hypertable:Y1 */
	if (interval > 0)
		return interval;
	return -interval * DAYS_PER_MONTH *
		(key_type == DATEOID ? 1 : USECS_PER_DAY);
}

/* See hypertable.h. */
int64
strata_time_interval_times(Oid key_type, int64 interval, int64 factor)
{
	/* intervals are read as microseconds */
	int64		longest = key_type == DATEOID ?
	PG_INT64_MAX / USECS_PER_DAY : PG_INT64_MAX;
	int64		length = strata_time_interval_length(key_type, interval);

	return length <= longest / factor ? interval * factor : interval;
}

/* Whole months and nothing else? */
static bool
is_months(const Interval *interval)
{
	return interval->month > 0 && interval->day == 0 && interval->time == 0;
}

/* See hypertable.h. */
int64
strata_time_interval_from_datum(Oid key_type, Oid type, Datum value)
{
	int64		number;

	if (type == INTERVALOID)
	{
		if (strata_time_type_is_integer(key_type))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("invalid chunk interval: type %s needs an integer, not an interval",
							format_type_be(key_type)),
					 errhint("Give the interval in the units of the time column, such as chunk_time_interval => 86400.")));
		number = strata_time_interval_usecs(DatumGetIntervalP(value));
		number = check_interval(key_type,
								interval_from_usecs(key_type, number));
		return is_months(DatumGetIntervalP(value)) ?
			-(int64) DatumGetIntervalP(value)->month :
			number;
	}
	if (!strata_time_type_is_integer(type))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid type %s for a chunk interval",
						format_type_be(type)),
				 errhint("Give an interval, such as INTERVAL '1 day', or an integer.")));
	number = strata_time_from_datum(type, value);
	if (!strata_time_type_is_integer(key_type) && number > 0)
		number = interval_from_usecs(key_type, number);
	return check_interval(key_type, number);
}

/* See hypertable.h. */
int64
strata_time_interval_from_text(Oid key_type, const char *text)
{
	char	   *end;

	errno = 0;
	(void) strtoll(text, &end, 10);
	if (end != text && *end == '\0' && errno == 0)
		return strata_time_interval_from_datum(key_type, INT8OID,
											   Int64GetDatum(strtoll(text,
																	 NULL,
																	 10)));
	return strata_time_interval_from_datum(key_type, INTERVALOID,
										   DirectFunctionCall3(interval_in, CStringGetDatum(text),
															   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
}

/* See hypertable.h. */
int64
strata_time_interval_default(Oid key_type)
{
	switch (key_type)
	{
		case INT2OID:
			return 10000;
		case INT4OID:
			return 100000;
		case INT8OID:
			return 1000000;
		default:
			return strata_time_interval_from_text(key_type, "7 days");
	}
}

/* See hypertable.h.  The text does not depend on any setting. */
char *
strata_time_interval_to_text(Oid key_type, int64 interval)
{
	static const struct
	{
		int64		length;
		const char *name;
	}			units[] = {
		{USECS_PER_DAY, "day"},
		{USECS_PER_HOUR, "hour"},
		{USECS_PER_MINUTE, "minute"},
		{USECS_PER_SEC, "second"},
		{1, "microsecond"},
		{1, "day"}				/* dates count days */
	};

	if (strata_time_type_is_integer(key_type))
		return psprintf(INT64_FORMAT, interval);
	if (interval < 0)
		return psprintf(INT64_FORMAT " month%s", -interval,
						interval == -1 ? "" : "s");
	for (int i = key_type == DATEOID ? lengthof(units) - 1 : 0;
		 i < (int) lengthof(units); i++)
	{
		int64		length = key_type == DATEOID ? 1 : units[i].length;

		if (interval % length == 0)
			return psprintf(INT64_FORMAT " %s%s", interval / length,
							units[i].name, interval == length ? "" : "s");
	}
	return NULL;				/* not reached: everything is whole
								 * microseconds or days */
}

/*
 * Months since January 2000 of a finite time (UTC).  *first: it is the first
 * moment of its month.
 */
static int64
month_number(Oid key_type, int64 time, bool *first)
{
	int64		unit = key_type == DATEOID ? 1 : USECS_PER_DAY;
	int64		days = time / unit - (time % unit < 0);
	int			year;
	int			month;
	int			day;

	j2date((int) (days + POSTGRES_EPOCH_JDATE), &year, &month, &day);
	*first = day == 1 && time % unit == 0;
	return ((int64) year - 2000) * MONTHS_PER_YEAR + month - 1;
}

/* See hypertable_private.h. */
int64
strata_time_chunk_number(Oid key_type, int64 interval, int64 lo)
{
	bool		first;

	if (interval > 0)
		return lo / interval - (lo % interval < 0);
	lo = month_number(key_type, lo, &first);
	return lo / -interval - (lo % -interval < 0);
}

/* See hypertable.h. */
int64
strata_time_interval_between(Oid key_type, int64 lo, int64 hi)
{
	bool		lo_first;
	bool		hi_first;
	int64		months;

	Assert(lo < hi);			/* hypertable:Y1 */
	if (strata_time_type_is_integer(key_type))
		return hi - lo;
	months = month_number(key_type, hi, &hi_first) -
		month_number(key_type, lo, &lo_first);
	return lo_first && hi_first ? -months : hi - lo;
}

/* The range of so many months that a time within the limits is in. */
static void
months_range(Oid key_type, int64 months, int64 time, StrataChunkRange *range)
{
	Interval	width = {.month = (int32) months};
	StrataBucket bucket;

	strata_bucket_init(&bucket,
					   key_type == UUIDOID ? TIMESTAMPTZOID : key_type,
					   IntervalPGetDatum(&width));
	range->lo = PG_INT64_MIN;
	range->hi = PG_INT64_MAX;
	range->no_lo = !strata_bucket_start(&bucket, time, &range->lo);
	range->no_hi = !strata_bucket_next(&bucket, time, &range->hi);
}

/* The range of a fixed length that a time within the limits is in. */
static void
fixed_range(Oid key_type, int64 interval, int64 time, StrataChunkRange *range)
{
	int64		origin = 0;
	int64		into;

	if (key_type == DATEOID)
		origin = EPOCH_DAYS;
	else if (!strata_time_type_is_integer(key_type))
		origin = EPOCH_DAYS * USECS_PER_DAY;
	/* how far into its range the time is; no step can overflow */
	into = (time % interval) - (origin % interval);
	into %= interval;
	if (into < 0)
		into += interval;
	range->no_lo = pg_sub_s64_overflow(time, into, &range->lo);
	range->no_hi = pg_add_s64_overflow(time, interval - into, &range->hi);
}

/* See hypertable_private.h. */
void
strata_time_chunk_range(Oid key_type, int64 interval, int64 time,
						StrataChunkRange *range)
{
	int64		min;
	int64		max;

	limits_of(key_type, &min, &max);
	/* infinities live in the outermost chunks, which have no end */
	time = Min(Max(time, min), max);
	if (interval < 0)
		months_range(key_type, -interval, time, range);
	else
		fixed_range(key_type, interval, time, range);
	range->no_lo |= range->lo <= min;
	range->no_hi |= range->hi > max;
	Assert(range->no_lo || range->lo <= time);	/* hypertable:Y1 */
	Assert(range->no_hi || range->hi > time);	/* hypertable:Y1 */
	if (range->no_lo)
		range->lo = PG_INT64_MIN;
	if (range->no_hi)
		range->hi = PG_INT64_MAX;
}

/* ISO, and independent of the session's settings. */
static char *
timestamp_text(Oid key_type, int64 time)
{
	struct pg_tm tm;
	fsec_t		fsec;
	char		buf[MAXDATELEN + 1];

	if (timestamp2tm(key_type == DATEOID ? time * USECS_PER_DAY : time, NULL,
					 &tm, &fsec, NULL, NULL) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp out of range")));

	/*
	 * without this no zone is printed, and the reader would take it for his
	 * own
	 */
	tm.tm_isdst = 0;
	EncodeDateTime(&tm, fsec, key_type == TIMESTAMPTZOID, 0, NULL,
				   USE_ISO_DATES, buf);
	Assert(buf[0] >= '0' && buf[0] <= '9'); /* hypertable:Y5 */
	return pstrdup(buf);
}

static char *
date_text(int64 time)
{
	struct pg_tm tm;
	char		buf[MAXDATELEN + 1];

	Assert(time > PG_INT32_MIN &&
		   time < PG_INT32_MAX);	/* hypertable:Y5 */
	memset(&tm, 0, sizeof(tm));
	j2date((int) time + POSTGRES_EPOCH_JDATE, &tm.tm_year, &tm.tm_mon,
		   &tm.tm_mday);
	EncodeDateOnly(&tm, USE_ISO_DATES, buf);
	Assert(buf[0] >= '0' && buf[0] <= '9'); /* hypertable:Y5 */
	return pstrdup(buf);
}

/* See hypertable_private.h. */
char *
strata_time_literal(Oid key_type, int64 time)
{
	if (strata_time_type_is_integer(key_type))
		return psprintf("'" INT64_FORMAT "'", time);
	if (key_type == UUIDOID)
		return quote_literal_cstr(DatumGetCString(
												  DirectFunctionCall1(uuid_out, UUIDPGetDatum(uuid_of(time)))));
	if (time == PG_INT64_MIN || time == PG_INT64_MAX)
		return pstrdup(time == PG_INT64_MIN ? "'-infinity'" : "'infinity'");
	return quote_literal_cstr(key_type == DATEOID ?
							  date_text(time) :
							  timestamp_text(key_type, time));
}

/* See hypertable_private.h. */
char *
strata_time_label(Oid key_type, int64 time, int64 interval)
{
	char	   *text;
	char	   *out;

	if (strata_time_type_is_integer(key_type))
		return time < 0 ?
			psprintf("m%llu", (unsigned long long) -(uint64) time) :
			psprintf(INT64_FORMAT, time);
	text = key_type == DATEOID ? date_text(time) :
		timestamp_text(TIMESTAMPOID, time);

	/*
	 * 2026-01-31 04:00:00 BC becomes 20260131_0400bc, as short as the chunks
	 * allow
	 */
	out = text;
	for (char *in = text; *in != '\0'; in++)
	{
		if (*in == ' ')
		{
			if (strncmp(in, " BC", 3) == 0)
			{
				*out++ = 'b';
				*out++ = 'c';
				break;
			}
			if (interval % USECS_PER_DAY == 0 &&
				strncmp(in, " 00:00:00", 9) == 0)
				in += strlen(" 00:00:00") - 1;
			else
				*out++ = '_';
		}
		else if (*in == '.')
			*out++ = '_';
		else if (*in != '-' && *in != ':')
			*out++ = *in;
	}
	*out = '\0';
	return text;
}
