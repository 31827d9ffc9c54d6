/*-------------------------------------------------------------------------
 *
 * gapfill_sequence.c
 *	  The buckets from start to finish, as time_bucket() would give them.
 *
 * With a time zone the buckets are those of the wall clock.  Where clocks go
 * forward some wall clock times never come: a bucket that consists of such
 * times only is left out, and one that merely starts with them is, as a
 * timestamp, later than the wall clock says; it is held back until it is due.
 *
 * src/gapfill/gapfill_sequence.c
 *-------------------------------------------------------------------------
 */
#include "gapfill/gapfill_private.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/fmgrprotos.h"

static void
check_bound(Oid type, NullableDatum bound, const char *name)
{
	if (bound.isnull)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid time_bucket_gapfill argument: %s cannot be NULL", name),
				 errhint("Specify start and finish as arguments or in the WHERE clause.")));
	if (strata_bucket_is_infinite(type, strata_bucket_get(type, bound.value)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid time_bucket_gapfill argument: %s must be finite", name),
				 errhint("Specify start and finish as arguments or in the WHERE clause.")));
}

/* A time on the wall clock, and back. */
static int64
to_clock(const GapfillSequence *seq, int64 time)
{
	return DatumGetTimestamp(DirectFunctionCall2(timestamptz_zone, seq->zone, TimestampTzGetDatum(time)));
}

static int64
from_clock(const GapfillSequence *seq, int64 clock)
{
	return DatumGetTimestampTz(DirectFunctionCall2(timestamp_zone, seq->zone, TimestampGetDatum(clock)));
}

/* Does the wall clock ever show it? */
static bool
comes(const GapfillSequence *seq, int64 clock)
{
	return to_clock(seq, from_clock(seq, clock)) == clock;
}

/* See gapfill_private.h. */
void
strata_gapfill_sequence_init(GapfillSequence *seq, Oid type, NullableDatum width,
							 bool zoned, NullableDatum zone, NullableDatum start, NullableDatum finish)
{
	int64		time;

	if (width.isnull)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid time_bucket_gapfill argument: bucket_width cannot be NULL")));
	if (zoned && zone.isnull)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid time_bucket_gapfill argument: timezone cannot be NULL")));
	check_bound(type, start, "start");
	check_bound(type, finish, "finish");

	memset(seq, 0, sizeof(*seq));
	seq->type = type;
	seq->zoned = zoned;
	seq->zone = zone.value;
	seq->finish = strata_bucket_get(type, finish.value);
	strata_bucket_init(&seq->rule, zoned ? TIMESTAMPOID : type, width.value);
	time = strata_bucket_get(type, start.value);
	if (zoned)
		time = to_clock(seq, time);
	if (!strata_bucket_start(&seq->rule, time, &seq->first))
		ereport(ERROR,
				(errcode(seq->rule.unit == 0 ? ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE :
						 ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("invalid time_bucket_gapfill argument: start out of range")));
	strata_gapfill_sequence_reset(seq);
}

/* See gapfill_private.h. */
void
strata_gapfill_sequence_reset(GapfillSequence *seq)
{
	seq->next = seq->first;
	seq->more = true;
	seq->has_held = false;
}

/* The next bucket of the wall clock that comes, as a time. */
static bool
next_of_clock(GapfillSequence *seq, int64 *bucket, bool *exact)
{
	while (seq->more)
	{
		int64		clock = seq->next;

		CHECK_FOR_INTERRUPTS();
		seq->more = strata_bucket_next(&seq->rule, clock, &seq->next);
		*bucket = from_clock(seq, clock);
		*exact = comes(seq, clock);
		if (*exact || !seq->more || comes(seq, seq->next - 1))
			return true;
	}
	return false;
}

static bool
next_zoned(GapfillSequence *seq, int64 *bucket)
{
	bool		exact;
	int64		held = seq->held;

	if (seq->has_held && seq->more)
	{
		/* whichever is first; the other is held */
		if (!next_of_clock(seq, bucket, &exact))
			seq->has_held = false;
		else if (*bucket > held)
		{
			seq->held = *bucket;
			*bucket = held;
			return true;
		}
		else
		{
			if (*bucket == held)
				seq->has_held = false;
			return true;
		}
		*bucket = held;
		return true;
	}
	if (seq->has_held)
	{
		seq->has_held = false;
		*bucket = held;
		return true;
	}
	if (!next_of_clock(seq, bucket, &exact))
		return false;
	if (exact)
		return true;
	seq->held = *bucket;
	seq->has_held = true;
	return next_zoned(seq, bucket);
}

/* See gapfill_private.h. */
bool
strata_gapfill_sequence_next(GapfillSequence *seq, int64 *bucket)
{
	if (seq->zoned)
		return next_zoned(seq, bucket) && *bucket < seq->finish;
	if (!seq->more || seq->next >= seq->finish)
		return false;
	*bucket = seq->next;
	seq->more = strata_bucket_next(&seq->rule, seq->next, &seq->next);
	return true;
}
