/*-------------------------------------------------------------------------
 *
 * time.h
 *	  Buckets of time: arithmetic that other folders may use, and wiring.
 *
 * A bucket rule cuts the line of times into half-open buckets.  Times are
 * int64: microseconds since 2000-01-01 (timestamp, timestamptz in UTC), days
 * since then (date), or the integers themselves.
 *
 * src/time/time.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_TIME_H
#define STRATA_TIME_H

#include "postgres.h"

#include "nodes/parsenodes.h"
#include "nodes/pathnodes.h"
#include "pgtime.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

typedef struct StrataBucket
{
	int64		unit;			/* times in a day; 0 for integers */
	int64		min;			/* valid times, both inclusive */
	int64		max;
	int64		months;			/* width in months, or 0 and then ... */
	int64		width;			/* ... in times */
	int64		origin;			/* a bucket starts here; a month number if
								 * months */
	int64		shift;			/* all starts are moved by this */
} StrataBucket;

/* Does strata_bucket_init know times of this type? */
extern bool strata_bucket_type(Oid type);

/*
 * A rule for times of `type` with the default origin (Monday 2000-01-03, or
 * January 2000 for months, or 0).  width: Interval for times, the integer
 * itself for integers.  ereports on a width that makes no buckets.
 */
extern void strata_bucket_init(StrataBucket *bucket, Oid type, Datum width);

/*
 * Move the rule: to an origin (of the type), or by an offset (Interval or
 * integer).
 */
extern void strata_bucket_set_origin(StrataBucket *bucket, int64 origin);
extern void strata_bucket_set_offset(StrataBucket *bucket, Datum offset);

/* A Datum of a bucketable type as int64, and back. */
extern int64 strata_bucket_get(Oid type, Datum time);
extern Datum strata_bucket_datum(Oid type, int64 time);

/* -infinity or infinity of the type? */
extern bool strata_bucket_is_infinite(Oid type, int64 time);

/* Start of the bucket that holds time; false when it is out of range. */
extern bool strata_bucket_start(const StrataBucket *bucket, int64 time,
								int64 *start);

/* The smallest start >= time; false when there is none in range. */
extern bool strata_bucket_first(const StrataBucket *bucket, int64 time,
								int64 *start);

/* The smallest start > time; false when there is none in range. */
extern bool strata_bucket_next(const StrataBucket *bucket, int64 time,
							   int64 *start);

/*
 * Buckets of the wall clock of a time zone.  Times are timestamptz.  A bucket
 * starts when the clock shows a start of the rule; what that means where the
 * clock is set forward or back is told in bucket_zone.c.
 */
typedef struct StrataZoneSpan
{
	int64		lo;				/* in [lo, hi) the zone's offset is the same; */
	int64		hi;				/* the extremes of int64: no end */
	int64		before;			/* microseconds east of UTC: up to lo, */
	int64		offset;			/* in the span, */
	int64		after;			/* from hi */
} StrataZoneSpan;

typedef struct StrataZoneBucket
{
	StrataBucket rule;			/* of the wall clock, without shift */
	int64		shift;			/* all starts are moved by this */
	char		name[TZ_STRLEN_MAX + 1];	/* of the zone decoded; empty:
											 * none */
	pg_tz	   *tz;				/* where the offset changes; NULL: nowhere */
	bool		abbreviation;	/* offsets are those that the name had, not
								 * tz's */
	int64		fixed;			/* the offset when tz is NULL */
	StrataZoneSpan spans[2];	/* used last; lo = hi: none */
	int			nextspan;
} StrataZoneBucket;

/*
 * As strata_bucket_init, for a timestamptz and a zone (text).  What is known
 * of the zone is kept when *bucket was of the same zone; zeroes make it new.
 */
extern void strata_zone_bucket_init(StrataZoneBucket *bucket, Datum width,
									Datum zone);
extern void strata_zone_bucket_set_origin(StrataZoneBucket *bucket,
										  TimestampTz origin);
extern void strata_zone_bucket_set_offset(StrataZoneBucket *bucket,
										  Datum offset);

/*
 * Start of the bucket that holds a finite time, and the smallest start > time;
 * false: out of range.
 */
extern bool strata_zone_bucket_start(StrataZoneBucket *bucket,
									 TimestampTz time, TimestampTz *start);
extern bool strata_zone_bucket_next(StrataZoneBucket *bucket, TimestampTz time,
									TimestampTz *start);

/*
 * Times in UUIDs of version 7, in microseconds: of one, which ereports when it
 * is of another version; of one that is a bound, whatever it is; and the least
 * UUID of a time, which ereports when it is out of range.
 */
#define STRATA_UUID_MIN_TIME \
	((UNIX_EPOCH_JDATE - POSTGRES_EPOCH_JDATE) * USECS_PER_DAY)
#define STRATA_UUID_MAX_TIME \
	(STRATA_UUID_MIN_TIME + (INT64CONST(1) << 48) * 1000 - 1)
extern TimestampTz strata_uuid_time(const pg_uuid_t *uuid);
extern TimestampTz strata_uuid_bound_time(const pg_uuid_t *uuid);
extern void strata_uuid_boundary(TimestampTz time, pg_uuid_t *uuid);

/* Is it our to_uuidv7_boundary()? */
extern bool strata_uuid_is_boundary(Oid funcid);

/* The lengths that were added to now() or subtracted. */
typedef struct StrataNowLengths
{
	double		years;			/* as if all went one way */
	int			ndays;			/* so many have days, */
	int			nmonths;		/* ... and so many months */
	int64		truncated;		/* so much may a truncation be less by, in
								 * another time zone */
} StrataNowLengths;

/*
 * Is it made of now(), casts between times, date_trunc(), and constant lengths
 * of less than some thousand years?  It grows with now(), but for the lengths
 * of days and months and the time zone, and raises no error.  Adds to lengths.
 */
extern bool strata_time_is_of_now(Node *node, StrataNowLengths *lengths);

/* No further from 2000 are times of which bounds are told, in microseconds. */
#define STRATA_BOUND_YEARS 4000
#define STRATA_BOUND_FURTHEST (STRATA_BOUND_YEARS * 365 * USECS_PER_DAY)

/* No zone is so far from UTC. */
#define STRATA_ZONE_FURTHEST (7 * USECS_PER_DAY)

/*
 * No two offsets that one zone has ever had lie further apart (Apia: -11:30
 * and +14:00).
 */
#define STRATA_OFFSETS_APART (2 * USECS_PER_DAY)

/*
 * Where a function of a column of times is known to lie: the column is not
 * before least, and not after most, in microseconds since 2000-01-01 as the
 * value shows it (a date: its midnight).
 */
typedef struct StrataLocalBound
{
	bool		known;			/* least and most are times; else they are
								 * added to a time that is not known */
	int64		least;
	int64		most;
	int			shifts;			/* so many times the session's time zone lies
								 * between them and the column */
	bool		direct;			/* once, and next to the column */
	Var		   *var;			/* the column */
} StrataLocalBound;

/* date, timestamp or timestamptz? */
extern bool strata_time_is_local_type(Oid type);

/*
 * Follow a value that lies from least to most through the functions that made
 * it, to the column; false: some of them are not known.
 */
extern bool strata_time_bound(Node *node, StrataLocalBound *bound);

/* What extract(year ...) or date_part('year', ...) is of; NULL: another. */
extern Node *strata_time_year_of(Node *node);

/* The least and the greatest offset of a zone (text) between two times. */
extern void strata_zone_offsets(Datum zone, int64 from, int64 to, int64 *least,
								int64 *most);

/* The C name of our time_bucket(), or NULL: it is another function. */
extern const char *strata_time_bucket_symbol(Oid funcid);

/*
 * Replace comparisons of time_bucket() by comparisons of what it buckets; in
 * place.
 */
extern void strata_time_rewrite_quals(Query *query);

/*
 * Have conditions on buckets that a subquery makes be conditions of its rows,
 * where pruning sees them; in place.
 */
extern void strata_time_push_quals(Query *query);

/*
 * UPPERREL_GROUP_AGG: groups by time_bucket() are as many as buckets, not as
 * times.
 */
extern void strata_time_estimate_groups(PlannerInfo *root,
										RelOptInfo *input_rel,
										RelOptInfo *grouped_rel);

#endif							/* STRATA_TIME_H */
