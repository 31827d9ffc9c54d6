/*-------------------------------------------------------------------------
 *
 * rollup_bucket.c
 *	  The buckets of a rollup: one arithmetic for widths, months and zones.
 *
 * Times are int64 as in time/time.h, of the type that the bucket is of; ranges
 * are half-open.  A bucket counts as whole when both its start and the start
 * of the next one are valid times: the last of a type, and infinities, are
 * never part of a range of whole buckets.
 *
 * src/rollup/rollup_bucket.c
 *-------------------------------------------------------------------------
 */
#include "rollup/rollup.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

/* Starts of buckets that are looked at one by one. */
#define MAX_STARTS 20000

/* Argument number i as a constant; false: it is none, or NULL. */
static bool
constant_argument(const List *args, int i, Const **value)
{
	if (i >= list_length(args) || !IsA(list_nth(args, i), Const))
		return false;
	*value = list_nth_node(Const, args, i);
	return !(*value)->constisnull;
}

/* May argument number i be there only as a constant NULL? */
static bool
is_absent(const List *args, int i)
{
	return i >= list_length(args) ||
		(IsA(list_nth(args, i), Const) &&
		 list_nth_node(Const, args, i)->constisnull);
}

/* (width, time, zone, origin or NULL, offset or NULL) */
static bool
init_zoned(StrataRollupBucket *bucket, const List *args)
{
	Const	   *width;
	Const	   *zone;
	Const	   *value;

	if (!constant_argument(args, 0, &width) ||
		!constant_argument(args, 2, &zone))
		return false;
	bucket->zoned = true;
	bucket->type = TIMESTAMPTZOID;
	strata_zone_bucket_init(&bucket->zone, width->constvalue,
							zone->constvalue);
	if (constant_argument(args, 3, &value))
		strata_zone_bucket_set_origin(&bucket->zone,
									  DatumGetTimestampTz(value->constvalue));
	else if (!is_absent(args, 3))
		return false;
	if (constant_argument(args, 4, &value))
		strata_zone_bucket_set_offset(&bucket->zone, value->constvalue);
	else if (!is_absent(args, 4))
		return false;
	return true;
}

/* (width, time [, origin or offset]) */
static bool
init_plain(StrataRollupBucket *bucket, const List *args, Oid type)
{
	Const	   *width;
	Const	   *rest;

	if (!constant_argument(args, 0, &width))
		return false;
	bucket->type = type;
	strata_bucket_init(&bucket->rule, type, width->constvalue);
	if (list_length(args) < 3)
		return true;
	if (!constant_argument(args, 2, &rest))
		return false;
	if (rest->consttype == INTERVALOID)
		strata_bucket_set_offset(&bucket->rule, rest->constvalue);
	else
		strata_bucket_set_origin(&bucket->rule,
								 strata_bucket_get(type, rest->constvalue));
	return true;
}

/*
 * date_trunc() of a timestamp, which no setting has a say in: the widths that
 * buckets have, too, counted from where date_trunc() does.
 */
static bool
init_truncated(StrataRollupBucket *bucket, const List *args)
{
	static const struct
	{
		const char *unit;
		const char *width;
	}			units[] = {
		{"second", "1 s"}, {"minute", "1 min"}, {"hour", "1 h"},
		{"day", "1 day"}, {"week", "7 days"}, {"month", "1 mon"},
		{"quarter", "3 mon"}, {"year", "12 mon"}
	};
	Const	   *unit;

	if (!constant_argument(args, 0, &unit))
		return false;
	for (int i = 0; i < lengthof(units); i++)
		if (pg_strcasecmp(TextDatumGetCString(unit->constvalue),
						  units[i].unit) == 0)
		{
			bucket->type = TIMESTAMPOID;
			strata_bucket_init(&bucket->rule, TIMESTAMPOID,
							   DirectFunctionCall3(interval_in,
												   CStringGetDatum(units[i].width),
												   ObjectIdGetDatum(InvalidOid),
												   Int32GetDatum(-1)));
			return true;
		}
	return false;
}

/* See rollup.h. */
bool
strata_rollup_bucket_init(StrataRollupBucket *bucket, Node *node, Expr **time)
{
	FuncExpr   *call;
	const char *symbol;

	memset(bucket, 0, sizeof(*bucket));
	node = eval_const_expressions(NULL, node);
	if (!IsA(node, FuncExpr))
		return false;
	call = (FuncExpr *) node;
	if (list_length(call->args) < 2)
		return false;
	*time = lsecond(call->args);
	if (call->funcid == F_DATE_TRUNC_TEXT_TIMESTAMP)
		return init_truncated(bucket, call->args);
	symbol = strata_time_bucket_symbol(call->funcid);
	if (symbol == NULL)
		return false;
	if (strcmp(symbol, "strata_time_bucket_zone") == 0 ||
		strcmp(symbol, "strata_uuid_bucket_zone") == 0)
		return init_zoned(bucket, call->args);
	return init_plain(bucket, call->args, call->funcresulttype);
}

/* See rollup.h. */
bool
strata_rollup_bucket_start(StrataRollupBucket *bucket, int64 time,
						   int64 *start)
{
	if (strata_bucket_is_infinite(bucket->type, time))
		return false;
	if (bucket->zoned)
		return strata_zone_bucket_start(&bucket->zone, time, start);
	if (time < bucket->rule.min || time > bucket->rule.max)
		return false;
	return strata_bucket_start(&bucket->rule, time, start);
}

/* See rollup.h. */
bool
strata_rollup_bucket_next(StrataRollupBucket *bucket, int64 time, int64 *start)
{
	const StrataBucket *rule = strata_rollup_rule(bucket);

	if (time < rule->min)
		time = rule->min;
	if (time > rule->max)
		return false;
	return bucket->zoned ?
		strata_zone_bucket_next(&bucket->zone, time, start) :
		strata_bucket_next(rule, time, start);
}

/* See rollup.h. */
StrataRange
strata_rollup_bucket_outward(StrataRollupBucket *bucket, int64 lo, int64 hi)
{
	StrataRange range;

	Assert(lo <= hi);			/* rollup:Z2 */
	if (!strata_rollup_bucket_start(bucket, lo, &range.lo))
		range.lo = lo > strata_rollup_rule(bucket)->max ? lo : PG_INT64_MIN;
	if (!strata_rollup_bucket_next(bucket, hi, &range.hi))
		range.hi = PG_INT64_MAX;
	Assert(range.lo <= lo && range.hi >= hi);	/* rollup:Z2 */
	return range;
}

/* See rollup.h. */
StrataRange
strata_rollup_bucket_inward(StrataRollupBucket *bucket, int64 lo, int64 hi)
{
	const StrataBucket *rule = strata_rollup_rule(bucket);
	StrataRange range = {PG_INT64_MIN, PG_INT64_MAX};

	if (lo >= hi)
		return strata_range(0, 0);
	if (lo > rule->min &&
		(!strata_rollup_bucket_start(bucket, lo, &range.lo) ||
		 range.lo < lo) &&
		!strata_rollup_bucket_next(bucket, lo, &range.lo))
		return strata_range(0, 0);
	if (hi <= rule->max &&
		!strata_rollup_bucket_start(bucket, hi, &range.hi))
		return strata_range(0, 0);
	return range.lo < range.hi ? range : strata_range(0, 0);
}

/* See rollup.h. */
int64
strata_rollup_bucket_width(const StrataRollupBucket *bucket)
{
	const StrataBucket *rule = strata_rollup_rule(bucket);

	return rule->months > 0 ? rule->months * 30 * rule->unit : rule->width;
}

/* Does a bucket of the rule start at that time? */
static bool
starts_at(StrataRollupBucket *bucket, int64 time)
{
	int64		start;

	return strata_rollup_bucket_start(bucket, time, &start) && start == time;
}

/* See rollup.h. */
bool
strata_rollup_bucket_nests(StrataRollupBucket *wide,
						   StrataRollupBucket *narrow,
						   const StrataRanges *ranges)
{
	const StrataBucket *w = strata_rollup_rule(wide);
	const StrataBucket *n = strata_rollup_rule(narrow);
	int			count = 0;
	int64		start;

	if (!wide->zoned && !narrow->zoned && w->months == 0 && n->months == 0)
		return ranges->n == 0 ||
			(w->width % n->width == 0 &&
			 strata_rollup_bucket_start(wide, ranges->r[0].lo, &start) &&
			 starts_at(narrow, start));
	for (int i = 0; i < ranges->n; i++)
	{
		if (!strata_rollup_bucket_start(wide, ranges->r[i].lo, &start))
			return false;
		while (start < ranges->r[i].hi)
		{
			if ((start >= ranges->r[i].lo && !starts_at(narrow, start)) ||
				++count > MAX_STARTS ||
				!strata_rollup_bucket_next(wide, start, &start))
				return false;
		}
	}
	return true;
}
