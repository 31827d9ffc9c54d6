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
 * Nothing here raises an error: the scheduler of all jobs computes with what
 * is in the row of one.
 *
 * src/job/job_schedule.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "job/job_private.h"

#include "common/int.h"
#include "common/pg_prng.h"
#include "pgtime.h"
#include "utils/datetime.h"

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

/* The clock of a zone at a moment; false: out of range. */
static bool
to_clock(TimestampTz moment, pg_tz *zone, Timestamp *clock)
{
	struct pg_tm tm;
	fsec_t		fsec;
	int			offset;

	return timestamp2tm(moment, &offset, &tm, &fsec, NULL, zone) == 0 &&
		tm2timestamp(&tm, fsec, NULL, clock) == 0;
}

/* The moment when the clock of a zone shows this; false: out of range. */
static bool
from_clock(Timestamp clock, pg_tz *zone, TimestampTz *moment)
{
	struct pg_tm tm;
	fsec_t		fsec;
	int			offset;

	if (timestamp2tm(clock, NULL, &tm, &fsec, NULL, NULL) != 0)
		return false;
	offset = DetermineTimeZoneOffset(&tm, zone);
	return tm2timestamp(&tm, fsec, &offset, moment) == 0;
}

/*
 * Add months and days, neither negative, as timestamp_pl_interval() does, but
 * say false where that raises: out of range.
 */
static bool
add_calendar(Timestamp *clock, int64 months, int64 days)
{
	struct pg_tm tm;
	fsec_t		fsec;
	int64		year;
	int64		julian;
	int			last;

	Assert(months >= 0 && days >= 0);	/* job:J4 */
	if (timestamp2tm(*clock, NULL, &tm, &fsec, NULL, NULL) != 0)
		return false;
	months += tm.tm_mon - 1;
	year = tm.tm_year + months / MONTHS_PER_YEAR;
	if (year >= JULIAN_MAXYEAR)
		return false;
	tm.tm_year = (int) year;
	tm.tm_mon = (int) (months % MONTHS_PER_YEAR) + 1;
	last = day_tab[isleap(tm.tm_year)][tm.tm_mon - 1];
	tm.tm_mday = Min(tm.tm_mday, last);
	julian = date2j(tm.tm_year, tm.tm_mon, tm.tm_mday) + days;
	if (julian >= TIMESTAMP_END_JULIAN)
		return false;
	j2date((int) julian, &tm.tm_year, &tm.tm_mon, &tm.tm_mday);
	return tm2timestamp(&tm, fsec, NULL, clock) == 0;
}

/*
 * The k-th start of a fixed schedule, from the clock of the zone at the first;
 * DT_NOEND: out of range.  The first is when it was said to be, also in the
 * hour before clocks are set back, whose times the clock shows twice.
 */
static TimestampTz
kth_start(const StrataJob *job, pg_tz *zone, Timestamp clock, int64 k)
{
	const Interval *step = &job->schedule_interval;
	int64		time;
	TimestampTz result;

	if (k == 0)
		return job->initial_start;
	if (!add_calendar(&clock, step->month * k, step->day * k) ||
		pg_mul_s64_overflow(step->time, k, &time) ||
		pg_add_s64_overflow(clock, time, &clock) ||
		!IS_VALID_TIMESTAMP(clock) || !from_clock(clock, zone, &result))
		return DT_NOEND;
	return result;
}

/* See job.h. */
pg_tz *
strata_job_zone(const char *name)
{
	return pg_tzset(name != NULL ? name : "UTC");
}

/*
 * The first time after `after` that is a multiple of the interval from
 * initial_start, by the clock of the job's zone where days or months count.
 * DT_NOEND: there is none, or the zone is not known.
 */
static TimestampTz
fixed_next(const StrataJob *job, TimestampTz after)
{
	const Interval *interval = &job->schedule_interval;
	TimestampTz start = job->initial_start;
	int64		length = Max(schedule_length(interval), 1);
	pg_tz	   *zone;
	Timestamp	clock;
	int64		elapsed;
	int64		k;
	TimestampTz next;

	if (start > after)
		return start;
	if (pg_sub_s64_overflow(after, start, &elapsed))
		return DT_NOEND;
	if (interval->month == 0 && interval->day == 0)
		return add_clamped(after, length - elapsed % length);

	/* a zone that was known when the job was made need not be so here */
	zone = strata_job_zone(job->timezone);
	if (zone == NULL || !to_clock(start, zone, &clock))
		return DT_NOEND;
	/* an estimate from below, some steps off for months and clock changes */
	k = Max(elapsed / length - 2, 0);
	while ((next = kth_start(job, zone, clock, k)) <= after)
		k++;
	/* and from above, if the estimate was not below */
	while (k > 0)
	{
		TimestampTz earlier = kth_start(job, zone, clock, k - 1);

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
	Timestamp	clock;
	TimestampTz next;

	/* parts that cancel each other out would be counted without end */
	if (job->schedule_interval.month < 0 || job->schedule_interval.day < 0 ||
		job->schedule_interval.time < 0)
		return DT_NOEND;
	if (TIMESTAMP_NOT_FINITE(after))
		after = GetCurrentTimestamp();
	if (job->fixed_schedule && job->has_initial_start &&
		!TIMESTAMP_NOT_FINITE(job->initial_start))
		return fixed_next(job, after);
	if (job->schedule_interval.month == 0)
		return add_clamped(after,
						   Max(schedule_length(&job->schedule_interval), 1));
	if (!to_clock(after, session_timezone, &clock) ||
		!add_calendar(&clock, job->schedule_interval.month,
					  job->schedule_interval.day) ||
		!from_clock(clock, session_timezone, &next))
		return DT_NOEND;
	return job->schedule_interval.time > 0 ?
		add_clamped(next, job->schedule_interval.time) : next;
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
