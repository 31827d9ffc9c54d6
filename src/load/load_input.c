/*-------------------------------------------------------------------------
 *
 * load_input.c
 *	  COPY's most frequent conversions from text, for values in plain form.
 *
 * Half the time of a COPY of metrics goes into strtod() and the general parser
 * of dates.  Numbers of few digits, and times as PostgreSQL and most programs
 * write them, are read here in a tenth of it; whatever looks different in any
 * way goes to PostgreSQL's own function, which alone raises errors.  What is
 * read here depends on no setting, and has the same bits.
 *
 * src/load/load_input.c
 *-------------------------------------------------------------------------
 */
#include "load/load_private.h"
#include "pg/pg.h"

#include "commands/copyfrom_internal.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/fmgroids.h"
#include "utils/timestamp.h"

#include <float.h>

/*
 * A whole number below 2^53 divided by a power of ten up to 10^22: both are
 * exact, so that the quotient is rounded once, as strtod() rounds.
 */
#define MAX_EXACT8 (UINT64CONST(1) << 53)
#define MAX_EXACT4 (UINT64CONST(1) << 24)
#define MAX_DIGITS 19
#define MAX_SCALE8 22
#define MAX_SCALE4 10

static const float8 powers8[] = {
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22
};
static const float4 powers4[] = {
	1e0f, 1e1f, 1e2f, 1e3f, 1e4f, 1e5f, 1e6f, 1e7f, 1e8f, 1e9f, 1e10f
};

static inline bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* [-]digits[.digits], of at most MAX_DIGITS digits, and nothing else. */
static inline bool
read_decimal(const char *p, bool *negative, uint64 *digits, int *scale)
{
	const char *begin;
	uint64		n = 0;

	*negative = *p == '-';
	p += *negative;
	for (begin = p; is_digit(*p); p++)
		n = n * 10 + (*p - '0');
	if (p == begin || p - begin > MAX_DIGITS)
		return false;
	*scale = 0;
	if (*p == '.')
	{
		const char *point = p;

		while (is_digit(*++p))
			n = n * 10 + (*p - '0');
		*scale = p - point - 1;
		if (*scale == 0 || p - begin - 1 > MAX_DIGITS)
			return false;
	}
	*digits = n;
	return *p == '\0';
}

static Datum
read_float8(PG_FUNCTION_ARGS)
{
	bool		negative;
	uint64		digits;
	int			scale;
	float8		value;

	if (FLT_EVAL_METHOD != 0 ||
		!read_decimal(PG_GETARG_CSTRING(0), &negative, &digits, &scale) ||
		digits > MAX_EXACT8 || scale > MAX_SCALE8)
		return float8in(fcinfo);
	value = (float8) digits / powers8[scale];
	Assert(DatumGetFloat8(float8in(fcinfo)) ==
		   (negative ? -value : value));	/* load:L3 */
	PG_RETURN_FLOAT8(negative ? -value : value);
}

static Datum
read_float4(PG_FUNCTION_ARGS)
{
	bool		negative;
	uint64		digits;
	int			scale;
	float4		value;

	if (FLT_EVAL_METHOD != 0 ||
		!read_decimal(PG_GETARG_CSTRING(0), &negative, &digits, &scale) ||
		digits > MAX_EXACT4 || scale > MAX_SCALE4)
		return float4in(fcinfo);
	value = (float4) digits / powers4[scale];
	Assert(DatumGetFloat4(float4in(fcinfo)) ==
		   (negative ? -value : value));	/* load:L3 */
	PG_RETURN_FLOAT4(negative ? -value : value);
}

/* Two digits, or -1. */
static inline int
read_two(const char *p)
{
	return is_digit(p[0]) && is_digit(p[1]) ?
		(p[0] - '0') * 10 + (p[1] - '0') :
		-1;
}

/* YYYY-MM-DD at *p, which is moved behind it; the Julian day. */
static inline bool
read_day(const char **p, int *day)
{
	const char *s = *p;
	int			century = read_two(s);
	int			y = century < 0 ? -1 : read_two(s + 2);
	int			m;
	int			d;

	if (y < 0 || s[4] != '-')
		return false;
	y += century * 100;
	m = read_two(s + 5);
	if (y < 1 || m < 1 || m > MONTHS_PER_YEAR || s[7] != '-')
		return false;
	d = read_two(s + 8);
	if (d < 1 || d > day_tab[isleap(y)][m - 1])
		return false;
	*day = date2j(y, m, d);
	*p = s + 10;
	return true;
}

/* HH:MM:SS[.ffffff] at *p, which is moved behind it. */
static inline bool
read_time(const char **p, int64 *time)
{
	const char *s = *p;
	int			hour = read_two(s);
	int			minute;
	int			second;
	int			usecs = 0;

	if (hour < 0 || hour >= HOURS_PER_DAY || s[2] != ':')
		return false;
	minute = read_two(s + 3);
	if (minute < 0 || minute >= MINS_PER_HOUR || s[5] != ':')
		return false;
	second = read_two(s + 6);
	if (second < 0 || second >= SECS_PER_MINUTE)
		return false;
	s += 8;
	if (*s == '.')
	{
		int			unit = 100000;

		if (!is_digit(*++s))
			return false;
		for (; is_digit(*s); s++, unit /= 10)
		{
			/* beyond microseconds it is rounded */
			if (unit == 0)
				return false;
			usecs += (*s - '0') * unit;
		}
	}
	*time = ((hour * MINS_PER_HOUR + minute) * (int64) SECS_PER_MINUTE +
			 second) * USECS_PER_SEC + usecs;
	*p = s;
	return true;
}

/* The day, a blank or T, and the time. */
static inline bool
read_day_and_time(const char **p, Timestamp *result)
{
	int			day;
	int64		time;

	if (!read_day(p, &day) || (**p != ' ' && **p != 'T'))
		return false;
	(*p)++;
	if (!read_time(p, &time))
		return false;
	*result = (day - POSTGRES_EPOCH_JDATE) * USECS_PER_DAY + time;
	return true;
}

/* +HH or +HH:MM, and nothing behind; in minutes. */
static inline bool
read_zone(const char *p, int *minutes)
{
	int			hour;
	int			minute = 0;

	if (*p != '+' && *p != '-')
		return false;
	hour = read_two(p + 1);
	/* PostgreSQL knows the limit */
	if (hour < 0 || hour >= MAX_TZDISP_HOUR)
		return false;
	*minutes = hour * MINS_PER_HOUR;
	if (p[3] == ':')
	{
		minute = read_two(p + 4);
		if (minute < 0 || minute >= MINS_PER_HOUR || p[6] != '\0')
			return false;
	}
	else if (p[3] != '\0')
		return false;
	*minutes += minute;
	if (*p == '-')
		*minutes = -*minutes;
	return true;
}

static Datum
read_timestamptz(PG_FUNCTION_ARGS)
{
	const char *p = PG_GETARG_CSTRING(0);
	Timestamp	result;
	int			zone;

	if (PG_GETARG_INT32(2) >= 0 || !read_day_and_time(&p, &result) ||
		!read_zone(p, &zone))
		return timestamptz_in(fcinfo);
	Assert(DatumGetTimestampTz(timestamptz_in(fcinfo)) ==
		   result - zone * USECS_PER_MINUTE);	/* load:L3 */
	PG_RETURN_TIMESTAMPTZ(result - zone * USECS_PER_MINUTE);
}

static Datum
read_timestamp(PG_FUNCTION_ARGS)
{
	const char *p = PG_GETARG_CSTRING(0);
	Timestamp	result;

	if (PG_GETARG_INT32(2) >= 0 || !read_day_and_time(&p, &result) ||
		*p != '\0')
		return timestamp_in(fcinfo);
	Assert(DatumGetTimestamp(timestamp_in(fcinfo)) == result);	/* load:L3 */
	PG_RETURN_TIMESTAMP(result);
}

static Datum
read_date(PG_FUNCTION_ARGS)
{
	const char *p = PG_GETARG_CSTRING(0);
	int			day;

	if (!read_day(&p, &day) || *p != '\0')
		return date_in(fcinfo);
	Assert(DatumGetDateADT(date_in(fcinfo)) ==
		   day - POSTGRES_EPOCH_JDATE); /* load:L3 */
	PG_RETURN_DATEADT(day - POSTGRES_EPOCH_JDATE);
}

static const struct
{
	Oid			function;
	PGFunction	faster;
}			inputs[] = {
	{F_FLOAT8IN, read_float8},
	{F_FLOAT4IN, read_float4},
	{F_TIMESTAMPTZ_IN, read_timestamptz},
	{F_TIMESTAMP_IN, read_timestamp},
	{F_DATE_IN, read_date}
};

/* See load_private.h. */
void
strata_copy_speed_input(CopyFromState copy)
{
	ListCell   *lc;

	foreach(lc, copy->attnumlist)
	{
		Oid			function = copy->in_functions[lfirst_int(lc) - 1].fn_oid;

		for (int i = 0; i < lengthof(inputs); i++)
			if (function == inputs[i].function)
				strata_copy_replace_input(copy, lfirst_int(lc),
										  inputs[i].faster);
	}
}
