/*-------------------------------------------------------------------------
 *
 * filter_order.c
 *	  Which operators may judge a batch by its minimum and maximum.
 *
 * A batch is left out, taken whole, or deleted whole by comparing its bounds
 * with a value.  That is right only where the comparison never falls while the
 * column's value rises.  This is the one place that says so of an operator:
 *
 *	1. Both input types are the same: the bounds were found, and the
 *	companion's
 *	   indexes are sorted, by that very order.
 *	2. The types differ, and the operator is immutable: the family promises one
 *	   order over all its types, and no setting can take part in it.  Of
 *	   PostgreSQL's own these are integers of different widths, float4 and
 *	   float8, text and name, date and timestamp: the narrower value is widened
 *	   without loss, or is out of the other's range and then beyond all of it.
 *	3. The types differ, and it is not immutable: the promise cannot be held,
 *	as
 *	   the same two values compare otherwise under another setting.  These
 *	   judge nothing, but for PostgreSQL's own of timestamptz:
 *	   a. The column is the timestamptz.  The comparand, a date or a timestamp,
 *		  is what is converted, and then is one value for all rows.
 *	   b. The column is local time, timestamp or date, and converted row by
 *	   row:
 *		  to an hour later than the next row where clocks are set forward over
 *		  both.  But it is moved by no more than the zone's offsets from UTC,
 *		  so that two local times, mostly the same, bound the rows for which
 *		  the order says nothing: strata_local_bounds().
 *
 * src/scan/filter_order.c
 *-------------------------------------------------------------------------
 */
#include "scan/filter_operator_private.h"

#include "access/nbtree.h"
#include "access/transam.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "pgtime.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

/*
 * Zones are less than this away from UTC: a POSIX zone by less than 168 hours,
 * all others by 26.
 */
#define FURTHEST_ZONE (7 * SECS_PER_DAY)

/*
 * Times whose offset may be that of local times up to a day more than
 * FURTHEST_ZONE away
 */
#define SECS_BEFORE (10 * SECS_PER_DAY)
#define SECS_BEHIND (16 * SECS_PER_DAY)

/*
 * See filter_operator_private.h.  For an operator with function opcode, of a
 * btree family.
 */
StrataOrder
strata_operator_order(Oid opcode, Oid opfamily, Oid lefttype, Oid righttype)
{
	Oid			comparison;

	if (lefttype == righttype)
		return STRATA_ORDER_TOTAL;
	comparison = get_opfamily_proc(opfamily, lefttype, righttype,
								   BTORDER_PROC);
	if (func_volatile(opcode) == PROVOLATILE_IMMUTABLE &&
		OidIsValid(comparison) &&
		func_volatile(comparison) == PROVOLATILE_IMMUTABLE)
		return STRATA_ORDER_TOTAL;
	if (opcode >= FirstGenbkiObjectId)
		return STRATA_ORDER_NONE;
	if (lefttype == TIMESTAMPTZOID &&
		(righttype == TIMESTAMPOID || righttype == DATEOID))
		return STRATA_ORDER_TOTAL;
	if (righttype == TIMESTAMPTZOID &&
		(lefttype == TIMESTAMPOID || lefttype == DATEOID))
		return STRATA_ORDER_LOCAL;
	return STRATA_ORDER_NONE;
}

/*
 * The least and greatest offset from UTC in effect some time from "from" to
 * "to"; false: not known.
 */
static bool
zone_offsets(pg_time_t from, pg_time_t to, long *least, long *greatest)
{
	for (int i = 0; i < 100; i++)
	{
		pg_time_t	boundary;
		long		before;
		long		after;
		int			isdst[2];
		int			found = pg_next_dst_boundary(&from, &before, &isdst[0],
												 &boundary, &after, &isdst[1],
												 session_timezone);

		if (found < 0 || labs(before) > FURTHEST_ZONE)
			return false;
		*least = i == 0 ? before : Min(*least, before);
		*greatest = i == 0 ? before : Max(*greatest, before);
		if (found == 0 || boundary > to)
			return true;
		from = boundary;
	}
	return false;
}

/*
 * Local times by which a timestamptz is compared with a column of timestamp or
 * date: where the column is less than *low, its value is less, and where it is
 * greater than *high, its value is greater; where it equals *low, its value is
 * not greater, and where it equals *high, not less.  By the session's time
 * zone.
 *
 * PostgreSQL takes a local time x for x - offset, with an offset in effect
 * from a day before x (as if that were UTC) to the first change of clocks
 * after that, and that change lies no further from x than the offset.  So a
 * local time less than FURTHEST_ZONE + 1 day from the value has an offset that
 * is in effect between SECS_BEFORE and SECS_BEHIND it: if the least and
 * greatest of these are a and b, x < value + a is less than the value, x >
 * value + b is greater.  Other local times are further from the value than any
 * offset can move them.
 */
void
strata_local_bounds(Datum value, Datum *low, Datum *high)
{
	TimestampTz time = DatumGetTimestampTz(value);
	pg_time_t	seconds = timestamptz_to_time_t(time);
	long		least;
	long		greatest;

	if (TIMESTAMP_NOT_FINITE(time))
		*low = *high = TimestampGetDatum(time);
	else if (zone_offsets(seconds - SECS_BEFORE, seconds + SECS_BEHIND, &least,
						  &greatest))
	{
		*low = TimestampGetDatum(time + least * USECS_PER_SEC);
		*high = TimestampGetDatum(time + greatest * USECS_PER_SEC);
	}
	else
	{
		*low = TimestampGetDatum(DT_NOBEGIN);
		*high = TimestampGetDatum(DT_NOEND);
	}
}
