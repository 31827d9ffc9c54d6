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
#include "utils/timestamp.h"

typedef struct StrataBucket
{
	int64		unit;			/* times in a day; 0 for integers */
	int64		min;			/* valid times, both inclusive */
	int64		max;
	int64		months;			/* width in months, or 0 and then ... */
	int64		width;			/* ... in times */
	int64		origin;			/* a bucket starts here; a month number if months */
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

/* Move the rule: to an origin (of the type), or by an offset (Interval or integer). */
extern void strata_bucket_set_origin(StrataBucket *bucket, int64 origin);
extern void strata_bucket_set_offset(StrataBucket *bucket, Datum offset);

/* A Datum of a bucketable type as int64, and back. */
extern int64 strata_bucket_get(Oid type, Datum time);
extern Datum strata_bucket_datum(Oid type, int64 time);

/* -infinity or infinity of the type? */
extern bool strata_bucket_is_infinite(Oid type, int64 time);

/* Start of the bucket that holds time; false when it is out of range. */
extern bool strata_bucket_start(const StrataBucket *bucket, int64 time, int64 *start);

/* The smallest start >= time; false when there is none in range. */
extern bool strata_bucket_first(const StrataBucket *bucket, int64 time, int64 *start);

/* The smallest start > time; false when there is none in range. */
extern bool strata_bucket_next(const StrataBucket *bucket, int64 time, int64 *start);

/* Replace comparisons of time_bucket() by comparisons of what it buckets; in place. */
extern void strata_time_rewrite_quals(Query *query);

/* UPPERREL_GROUP_AGG: groups by time_bucket() are as many as buckets, not as times. */
extern void strata_time_estimate_groups(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel);

#endif							/* STRATA_TIME_H */
