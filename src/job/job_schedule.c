/*-------------------------------------------------------------------------
 *
 * job_schedule.c
 *	  When a job starts next.  Hides calendars, time zones and back-off.
 *
 * A fixed schedule is initial_start + k * schedule_interval.  Months and days
 * are counted on the wall clock of the job's zone, from initial_start each
 * time, so that the 31st stays the 31st where there is one, and 02:00 stays
 * 02:00 when clocks change.  Intervals of hours and less are counted in real
 * time.
 *
 * src/job/job_schedule.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "job/job_private.h"

#include "common/int.h"
#include "common/pg_prng.h"
#include "fmgr.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"

/* A failed job is not tried again sooner than this. */
#define MIN_RETRY_DELAY USECS_PER_SEC

/* Doublings of the retry period. */
#define MAX_DOUBLINGS 16

/* About how long an interval is, in microseconds; saturates. */
static int64
schedule_length(const Interval *interval)
{
	double		length;

	length = (double) interval->time + (double) interval->day * USECS_PER_DAY +
		(double) interval->month * (DAYS_PER_YEAR / MONTHS_PER_YEAR) *
		USECS_PER_DAY;
	if (length > (double) (PG_INT64_MAX / 4))
		return PG_INT64_MAX / 4;
	if (length < 0)
		return 0;
	return (int64) length;
}

/* a + b within the valid timestamps. */
static TimestampTz
add_clamped(TimestampTz a, int64 b)
{
	TimestampTz sum;

	Assert(b > 0 && !TIMESTAMP_IS_NOBEGIN(a));	/* job:J4 */
	if (pg_add_s64_overflow(a, b, &sum) || !IS_VALID_TIMESTAMP(sum))
		return DT_NOEND;
	return sum;
}

/* The k-th start of a fixed schedule, in local time of the zone. */
static TimestampTz
kth_start(const StrataJob *job, Datum zone, Timestamp local_start, int64 k)
{
	Interval	step;
	Datum		local;

	step.month = (int32) (job->schedule_interval.month * k);
	step.day = (int32) (job->schedule_interval.day * k);
	step.time = job->schedule_interval.time * k;
	local = DirectFunctionCall2(timestamp_pl_interval,
								TimestampGetDatum(local_start),
								IntervalPGetDatum(&step));
	return DatumGetTimestampTz(DirectFunctionCall2(timestamp_zone, zone,
												   local));
}

/*
 * The first time after `after` that is a multiple of the interval from
 * initial_start, by the clock of the job's zone where days or months count.
 */
static TimestampTz
fixed_next(const StrataJob *job, TimestampTz after)
{
	const Interval *interval = &job->schedule_interval;
	TimestampTz start = job->initial_start;
	int64		length = Max(schedule_length(interval), 1);
	Datum		zone;
	Timestamp	local_start;
	int64		k;
	TimestampTz next;

	if (start > after)
		return start;
	if (interval->month == 0 && interval->day == 0)
		return add_clamped(after, length - (after - start) % length);

	zone = CStringGetTextDatum(job->timezone != NULL ? job->timezone : "UTC");
	local_start =
		DatumGetTimestamp(DirectFunctionCall2(timestamptz_zone, zone,
											  TimestampTzGetDatum(start)));
	/* an estimate from below, some steps off for months and clock changes */
	k = Max((after - start) / length - 2, 0);
	while ((next = kth_start(job, zone, local_start, k)) <= after)
		k++;
	/* and from above, if the estimate was not below */
	while (k > 0)
	{
		TimestampTz earlier = kth_start(job, zone, local_start, k - 1);

		if (earlier <= after)
			break;
		next = earlier;
		k--;
	}
	Assert(next > after);		/* job:J4 */
	return next;
}

/* See job.h. */
TimestampTz
strata_job_next_start(const StrataJob *job, TimestampTz after)
{
	if (TIMESTAMP_NOT_FINITE(after))
		after = GetCurrentTimestamp();
	if (job->fixed_schedule && job->has_initial_start &&
		!TIMESTAMP_NOT_FINITE(job->initial_start))
		return fixed_next(job, after);
	if (job->schedule_interval.month == 0)
		return add_clamped(after,
						   Max(schedule_length(&job->schedule_interval), 1));
	return DatumGetTimestampTz(DirectFunctionCall2(timestamptz_pl_interval,
												   TimestampTzGetDatum(after),
												   IntervalPGetDatum(&job->schedule_interval)));
}

/* See job.h. */
TimestampTz
strata_job_retry_start(const StrataJob *job, TimestampTz after, int failures)
{
	TimestampTz regular = strata_job_next_start(job, after);
	int			attempt = failures;
	int64		delay;
	TimestampTz retry;

	/* each scheduled start has its own retries */
	if (job->max_retries >= 0)
	{
		attempt = failures % (job->max_retries + 1);
		if (attempt == 0)
			return Max(regular, add_clamped(after, MIN_RETRY_DELAY));
	}
	delay = schedule_length(&job->retry_period);
	for (int i = 1;
		 i < attempt && i <= MAX_DOUBLINGS && delay < PG_INT64_MAX / 4; i++)
		delay *= 2;
	/* never rarer than the schedule asks for */
	delay = Min(delay, Max(schedule_length(&job->schedule_interval),
						   schedule_length(&job->retry_period)));

	/*
	 * an eighth up or down, so that jobs that failed together do not return
	 * together
	 */
	delay += (int64) ((pg_prng_double(&pg_global_prng_state) - 0.5) / 4.0 *
					  (double) delay);
	retry = add_clamped(after, Max(delay, MIN_RETRY_DELAY));
	if (regular > after && regular < retry)
		retry = Max(regular, add_clamped(after, MIN_RETRY_DELAY));
	Assert(retry >= add_clamped(after, MIN_RETRY_DELAY));	/* job:J4 */
	Assert(regular <= after ||
		   retry <=
		   Max(regular, add_clamped(after, MIN_RETRY_DELAY)));	/* job:J4 */
	return retry;
}
