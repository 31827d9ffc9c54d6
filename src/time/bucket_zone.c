/*-------------------------------------------------------------------------
 *
 * bucket_zone.c
 *	  Buckets of a time zone's wall clock.  Hides where clocks are changed.
 *
 * All buckets of a rule and a zone are told by one set of starts, so that they
 * can neither overlap nor leave gaps: a time's bucket begins at the last start
 * that is not later.  A span is a time during which the zone's offset from UTC
 * is the same. Starts are
 *
 *	- the times at which the clock shows a start of the rule;
 *	- where the clock goes forward: from the last start before that, the rule
 *	goes on as
 *	  if the clock had not been set, up to the first start that the clock shows
 *	  again.  So a midnight that is skipped is the moment of the change, and
 *	  hours stay hours whatever minute they begin at;
 *	- where the clock goes back, starts come twice.  For buckets no longer than
 *	what is
 *	  repeated both are starts.  A longer bucket starts once: at the time that
 *	  has less of the clock in the bucket beside the one where it belongs; if
 *	  equal the second time, which is what PostgreSQL takes such a clock time
 *	  for.
 *
 * An offset of the buckets is a length of time, not a way on the clock: it
 * moves the starts.
 *
 * src/time/bucket_zone.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "time/time.h"

#include "catalog/pg_type.h"
#include "common/int.h"
#include "parser/scansup.h"
#include "utils/builtins.h"
#include "utils/datetime.h"

#define FOREVER PG_INT64_MAX
#define EVER PG_INT64_MIN

/* A second before zones had times of their own: 208 BC. */
#define BEFORE_ALL_CHANGES (-(INT64CONST(1) << 36))

/*
 * Take over a zone's name; nothing is done when it is the one there is.
 * Raises an error for an unknown zone.
 */
static void
set_zone(StrataZoneBucket *bucket, Datum zone)
{
	char		name[TZ_STRLEN_MAX + 1];
	pg_tz	   *tz = NULL;
	int			east = 0;
	int			type;

	text_to_cstring_buffer(DatumGetTextPP(zone), name, sizeof(name));
	if (name[0] != '\0' && strcmp(name, bucket->name) == 0)
		return;
	type = strata_decode_zone(name, &east, &tz);
	if (type != TZNAME_FIXED_OFFSET && tz == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("time zone \"%s\" not recognized", name)));
	memset(bucket, 0, sizeof(*bucket));
	bucket->abbreviation = type == TZNAME_DYNTZ;
	bucket->tz = type == TZNAME_FIXED_OFFSET ? NULL : tz;
	bucket->fixed = east * USECS_PER_SEC;
	strlcpy(bucket->name, name, sizeof(bucket->name));
}

/* See time.h. */
void
strata_zone_bucket_init(StrataZoneBucket *bucket, Datum width, Datum zone)
{
	set_zone(bucket, zone);
	strata_bucket_init(&bucket->rule, TIMESTAMPOID, width);
	bucket->shift = 0;
}

/*-------------------------------------------------------------------------
 * The zone
 *-------------------------------------------------------------------------
 */

/* The second that holds a time, as the zone counts them. */
static pg_time_t
second_of(int64 time)
{
	int64		seconds = time / USECS_PER_SEC;

	if (time % USECS_PER_SEC < 0)
		seconds--;
	return (pg_time_t) seconds +
		(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY;
}

static int64
time_of(pg_time_t second)
{
	return ((int64) second -
			(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY) *
		USECS_PER_SEC;
}

/* Offset at a second; *next: when it changes next, false if never. */
static bool
offset_at(const StrataZoneBucket *bucket, pg_time_t second, int64 *offset,
		  pg_time_t *next)
{
	long int	before = 0,
				after = 0;
	int			dst;
	pg_time_t	asked = second;
	int			result = pg_next_dst_boundary(&second, &before, &dst, next,
											  &after, &dst, bucket->tz);

	if (result < 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("timestamp out of range")));
	*offset = before * USECS_PER_SEC;
	if (bucket->abbreviation)
	{
		int			west = DetermineTimeZoneAbbrevOffsetTS(time_of(asked),
														   bucket->name,
														   bucket->tz, &dst);

		*offset = -west * USECS_PER_SEC;
	}
	return result > 0;
}

/* The span that holds a time. */
static const StrataZoneSpan *
span_of(StrataZoneBucket *bucket, int64 time)
{
	pg_time_t	second = second_of(time);
	pg_time_t	from = second;
	pg_time_t	next;
	StrataZoneSpan *span;

	for (int i = 0; i < (int) lengthof(bucket->spans); i++)
		if (time >= bucket->spans[i].lo && time < bucket->spans[i].hi)
			return &bucket->spans[i];
	span = &bucket->spans[bucket->nextspan];
	bucket->nextspan = (bucket->nextspan + 1) % lengthof(bucket->spans);
	span->lo = EVER;
	span->hi = FOREVER;
	span->before = span->offset = span->after = bucket->fixed;
	if (bucket->tz == NULL)
		return span;

	/*
	 * begin before a change that comes no later than the time, or before all
	 * changes
	 */
	for (int64 back = 200 * SECS_PER_DAY; from > BEFORE_ALL_CHANGES; back *= 4)
	{
		from = second - back;
		if (offset_at(bucket, from, &span->offset, &next) && next <= second)
			break;
	}
	while (offset_at(bucket, from, &span->offset, &next) && next <= second)
	{
		span->before = span->offset;
		span->lo = time_of(next);
		from = next;
	}
	/* a change that no timestamp can name is none */
	if (offset_at(bucket, from, &span->offset, &next) &&
		next <= second_of(PG_INT64_MAX))
	{
		pg_time_t	unused;

		span->hi = time_of(next);
		(void) offset_at(bucket, next, &span->after, &unused);
	}
	Assert(span->lo <= time &&
		   (time < span->hi || span->hi == FOREVER));	/* time:U1 */
	return span;
}

/*-------------------------------------------------------------------------
 * Starts, without shift
 *-------------------------------------------------------------------------
 */

/*
 * Is the start, shown by the clock in the span, one of two that the clock
 * shows, and the other one counts?
 */
static bool
is_repeated(const StrataZoneBucket *bucket, const StrataZoneSpan *span,
			int64 start)
{
	int64		repeat;

	if (span->lo != EVER)
	{
		repeat = span->before - span->offset;
		if (start - span->lo < repeat &&
			(bucket->rule.months != 0 || bucket->rule.width > repeat))
			return start - span->lo < repeat - (start - span->lo);
	}
	if (span->hi != FOREVER)
	{
		repeat = span->offset - span->after;
		if (span->hi - start <= repeat &&
			(bucket->rule.months != 0 || bucket->rule.width > repeat))
			return start + repeat - span->hi >= span->hi - start;
	}
	return false;
}

/* The last start <= time. */
static bool
last_start(StrataZoneBucket *bucket, int64 time, int64 *start)
{
	const int64 asked = time;

	for (;;)
	{
		const StrataZoneSpan *span = span_of(bucket, time);

		CHECK_FOR_INTERRUPTS();
		if (!strata_bucket_start(&bucket->rule, time + span->offset, start))
			return false;
		*start -= span->offset;
		if (*start >= span->lo)
		{
			if (!is_repeated(bucket, span, *start))
				return true;
			time = *start - 1;
			continue;
		}
		if (span->before < span->offset)
		{
			int64		going_on;

			if (!strata_bucket_start(&bucket->rule, time + span->before,
									 &going_on))
				return false;
			if (going_on - span->before >= span->lo)
			{
				*start = going_on - span->before;
				return true;
			}
		}
		time = span->lo - 1;
		/* spans that lie between, and are in the midst of a wide bucket */
		if (time < asked - STRATA_OFFSETS_APART)
			time = Min(time, *start + STRATA_OFFSETS_APART);
	}
}

/* The first start >= time. */
static bool
first_start(StrataZoneBucket *bucket, int64 time, int64 *start)
{
	const int64 asked = time;

	for (;;)
	{
		const StrataZoneSpan *span = span_of(bucket, time);

		CHECK_FOR_INTERRUPTS();
		if (span->lo != EVER && span->before < span->offset)
		{
			int64		shown,
						going_on;

			/*
			 * the first that is shown after the change, and one before it as
			 * if there was none
			 */
			if (!strata_bucket_first(&bucket->rule, span->lo + span->offset,
									 &shown) ||
				!strata_bucket_first(&bucket->rule, time + span->before,
									 &going_on))
				return false;
			*start = going_on - span->before;
			if (*start < shown - span->offset && *start < span->hi)
				return true;
		}
		if (!strata_bucket_first(&bucket->rule, time + span->offset, start))
			return false;
		*start -= span->offset;
		if (*start < span->hi)
		{
			if (!is_repeated(bucket, span, *start))
				return true;
			time = *start + 1;
			continue;
		}
		time = span->hi;
		if (time > asked + STRATA_OFFSETS_APART)
			time = Max(time, *start - STRATA_OFFSETS_APART);
	}
}

/*-------------------------------------------------------------------------
 * See time.h
 *-------------------------------------------------------------------------
 */

void
strata_zone_bucket_set_origin(StrataZoneBucket *bucket, TimestampTz origin)
{
	if (!TIMESTAMP_NOT_FINITE(origin))
		origin += span_of(bucket, origin)->offset;
	strata_bucket_set_origin(&bucket->rule, origin);
}

void
strata_zone_bucket_set_offset(StrataZoneBucket *bucket, Datum offset)
{
	strata_bucket_set_offset(&bucket->rule, offset);
	bucket->shift = bucket->rule.shift;
	bucket->rule.shift = 0;
}

/* Is it a valid time after the shift? */
static bool
shifted(const StrataZoneBucket *bucket, bool found, TimestampTz *start)
{
	return found && !pg_add_s64_overflow(*start, bucket->shift, start) &&
		IS_VALID_TIMESTAMP(*start);
}

bool
strata_zone_bucket_start(StrataZoneBucket *bucket, TimestampTz time,
						 TimestampTz *start)
{
	bool		found;

	if (pg_sub_s64_overflow(time, bucket->shift, &time) ||
		!IS_VALID_TIMESTAMP(time))
		return false;
	found = last_start(bucket, time, start);
	Assert(!found || *start <= time);	/* time:U1 */
	return shifted(bucket, found, start);
}

bool
strata_zone_bucket_next(StrataZoneBucket *bucket, TimestampTz time,
						TimestampTz *start)
{
	bool		found;

	if (pg_sub_s64_overflow(time, bucket->shift, &time) ||
		!IS_VALID_TIMESTAMP(time))
		return false;
	found = first_start(bucket, time + 1, start);
	Assert(!found || *start > time);	/* time:U1 */
	return shifted(bucket, found, start);
}

/* Spans follow each other. */
void
strata_zone_offsets(Datum zone, int64 from, int64 to, int64 *least,
					int64 *most)
{
	StrataZoneBucket bucket = {0};

	set_zone(&bucket, zone);
	*least = FOREVER;
	*most = EVER;
	for (;;)
	{
		const StrataZoneSpan *span = span_of(&bucket, from);

		*least = Min(*least, span->offset);
		*most = Max(*most, span->offset);
		if (span->hi > to)
			break;
		from = span->hi;
	}
	Assert(*least <= *most &&
		   *most - *least <= STRATA_OFFSETS_APART); /* time:U7 */
}
