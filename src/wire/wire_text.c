/*-------------------------------------------------------------------------
 *
 * wire_text.c
 *	  Values as text, as PostgreSQL's output functions write them.
 *
 * A number of up to four decimals is told from others by one division: of the
 * decimals of up to 15 digits no two are the same double (DBL_DIG), so the one
 * that gives the double is the shortest that does.
 *
 * src/wire/wire_text.c
 *-------------------------------------------------------------------------
 */
#include "wire/wire_private.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "common/shortest_dec.h"
#include "datatype/timestamp.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

/* Decimals that are looked for, and which numbers have 15 digits with them. */
#define DECIMALS 4
#define DECIMAL_UNIT 10000
#define DECIMAL_LIMIT 1e10

static int
write_bool(StrataWireColumn *column, Datum value, char *to)
{
	*to = DatumGetBool(value) ? 't' : 'f';
	return 1;
}

static int
write_int2(StrataWireColumn *column, Datum value, char *to)
{
	return pg_itoa(DatumGetInt16(value), to);
}

static int
write_int4(StrataWireColumn *column, Datum value, char *to)
{
	return pg_ltoa(DatumGetInt32(value), to);
}

static int
write_int8(StrataWireColumn *column, Datum value, char *to)
{
	return pg_lltoa(DatumGetInt64(value), to);
}

static int
write_float4(StrataWireColumn *column, Datum value, char *to)
{
	return extra_float_digits > 0 ?
		float_to_shortest_decimal_buf(DatumGetFloat4(value), to) :
		-1;
}

/*
 * A point and fraction / unit, without zeros at its end; nothing if it is
 * zero.
 */
static char *
put_fraction(char *to, int fraction, int unit)
{
	if (fraction > 0)
		*to++ = '.';
	while (fraction > 0)
	{
		unit /= 10;
		*to++ = '0' + fraction / unit;
		fraction %= unit;
	}
	return to;
}

/* number / DECIMAL_UNIT. */
static int
write_decimal(bool negative, uint64 number, char *to)
{
	uint64		whole = number / DECIMAL_UNIT;
	char	   *p = to;

	if (negative)
		*p++ = '-';
	if (whole < 10)
		*p++ = '0' + (int) whole;
	else
		p += pg_ulltoa_n(whole, p);
	return (int) (put_fraction(p, (int) (number % DECIMAL_UNIT),
							   DECIMAL_UNIT) -
				  to);
}

static int
write_float8(StrataWireColumn *column, Datum value, char *to)
{
	float8		number = DatumGetFloat8(value);
	float8		magnitude = fabs(number);

	if (extra_float_digits <= 0)
		return -1;
	if (magnitude < DECIMAL_LIMIT)
	{
		uint64		units = (uint64) (int64) (magnitude * DECIMAL_UNIT + 0.5);

		if ((float8) (int64) units / DECIMAL_UNIT == magnitude)
			return write_decimal(signbit(number) != 0, units, to);
	}
	return double_to_shortest_decimal_buf(number, to);
}

/*-------------------------------------------------------------------------
 * Times: the date, the zone and the era of a day are written once
 *-------------------------------------------------------------------------
 */

/* Are clocks at offset seconds from UTC in all of [from, to)? */
static bool
is_offset_constant(int64 from, int64 to, int offset)
{
	pg_time_t	start = timestamptz_to_time_t(from);
	pg_time_t	change;
	long int	before;
	long int	after;
	int			before_is_dst;
	int			after_is_dst;
	int			found = pg_next_dst_boundary(&start, &before, &before_is_dst,
											 &change, &after, &after_is_dst,
											 session_timezone);

	return found >= 0 && before == offset &&
		(found == 0 || change >= timestamptz_to_time_t(to));
}

/* The day of the value; false: none that can be written once. */
static bool
start_day(StrataWireDay *day, int64 value, const pg_tz *zone)
{
	int64		offset = 0;
	int64		local;
	char	   *text;
	char	   *time;

	day->from = day->to = 0;
	day->zone = zone;
	if (zone != NULL)
	{
		struct pg_tm tm;
		fsec_t		fsec;
		int			west;

		if (timestamp2tm(value, &west, &tm, &fsec, NULL, NULL) != 0)
			return false;
		offset = -west * USECS_PER_SEC;
	}
	local = value + offset;
	local -= ((local % USECS_PER_DAY) + USECS_PER_DAY) % USECS_PER_DAY;
	if (!IS_VALID_TIMESTAMP(local - offset) || !IS_VALID_TIMESTAMP(local) ||
		(zone != NULL &&
		 !is_offset_constant(local - offset, local - offset + USECS_PER_DAY,
							 (int) (offset / USECS_PER_SEC))))
		return false;
	text =
		DatumGetCString(zone != NULL ?
						DirectFunctionCall1(timestamptz_out,
											TimestampTzGetDatum(local -
																offset)) :
						DirectFunctionCall1(timestamp_out,
											TimestampGetDatum(local)));
	time = strstr(text, " 00:00:00");
	if (time != NULL && time + 1 - text <= (int) sizeof(day->before) &&
		strlen(time + 9) <= sizeof(day->after))
	{
		day->nbefore = (int) (time + 1 - text);
		memcpy(day->before, text, day->nbefore);
		day->nafter = (int) strlen(time + 9);
		memcpy(day->after, time + 9, day->nafter);
		day->from = local - offset;
		day->to = day->from + USECS_PER_DAY;
	}
	pfree(text);
	return day->to > day->from;
}

static char *
put_two_digits(char *to, int number)
{
	to[0] = '0' + number / 10;
	to[1] = '0' + number % 10;
	return to + 2;
}

/*
 * Write a timestamp in ISO style; -1 where that is not how it is to be shown.
 */
static int
write_time(StrataWireDay *day, int64 value, const pg_tz *zone, char *to)
{
	char	   *p = to;
	int			seconds;

	if (DateStyle != USE_ISO_DATES || TIMESTAMP_NOT_FINITE(value) ||
		((value < day->from || value >= day->to || zone != day->zone) &&
		 !start_day(day, value, zone)))
		return -1;
	seconds = (int) ((value - day->from) / USECS_PER_SEC);
	/* constant lengths are copied without a call */
	memcpy(p, day->before, sizeof(day->before));
	p = put_two_digits(p + day->nbefore, seconds / SECS_PER_HOUR);
	*p++ = ':';
	p = put_two_digits(p, seconds / SECS_PER_MINUTE % MINS_PER_HOUR);
	*p++ = ':';
	p = put_two_digits(p, seconds % SECS_PER_MINUTE);
	p = put_fraction(p, (int) ((value - day->from) % USECS_PER_SEC),
					 (int) USECS_PER_SEC);
	memcpy(p, day->after, sizeof(day->after));
	return (int) (p + day->nafter - to);
}

static int
write_timestamp(StrataWireColumn *column, Datum value, char *to)
{
	return write_time(&column->day, DatumGetTimestamp(value), NULL, to);
}

static int
write_timestamptz(StrataWireColumn *column, Datum value, char *to)
{
	return write_time(&column->day, DatumGetTimestampTz(value),
					  session_timezone, to);
}

/* See wire_private.h. */
void
strata_wire_text_init(StrataWireColumn *column, Oid type)
{
	switch (type)
	{
		case BOOLOID:
			column->writer = write_bool;
			break;
		case INT2OID:
			column->writer = write_int2;
			break;
		case INT4OID:
			column->writer = write_int4;
			break;
		case INT8OID:
			column->writer = write_int8;
			break;
		case FLOAT4OID:
			column->writer = write_float4;
			break;
		case FLOAT8OID:
			column->writer = write_float8;
			break;
		case TIMESTAMPOID:
			column->writer = write_timestamp;
			break;
		case TIMESTAMPTZOID:
			column->writer = write_timestamptz;
			break;
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case JSONOID:
			column->bytes = STRATA_WIRE_TEXT;
			break;
		default:
			break;
	}
}
