/*-------------------------------------------------------------------------
 *
 * agg_bucket.c
 *	  Functions that map ranges of time to their start: date_trunc, date_bin,
 *	  time_bucket.
 *
 * What is known here is a range around a timestamp in which the function
 * surely gives the same, so that it is called once for many rows.  Where the
 * value is the start of that range, not even that:
 *
 *	date_trunc	the second, minute, hour, day or week, cut at the changes of
 *				the time zone's offset, for around them local days may come in
 *				pieces (America/St_Johns fell back at 00:01).  Of local days
 *				and weeks the value is what the function says: a midnight that
 *				comes twice is the second one;
 *	date_bin	behind the origin, the bin;
 *	time_bucket	the bucket that starts at the value, if the timestamp is in it;
 *				of a zone's clock, from that start to the next.
 *
 * Other units, months of variable length among them, get the range of one day
 * where the day surely is in one unit, else of the timestamp itself.
 *
 * Over 600 lines: the four functions share their ranges.
 *
 * src/agg/agg_bucket.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_private.h"
#include "time/time.h"

#include "access/xact.h"
#include "catalog/pg_proc_d.h"
#include "catalog/pg_type_d.h"
#include "commands/extension.h"
#include "common/int.h"
#include "catalog/dependency.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/scansup.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

typedef enum BucketForm
{
	BUCKET_NONE,
	BUCKET_TRUNC,				/* date_trunc(unit, column) */
	BUCKET_BIN,					/* date_bin(stride, column, origin) */
	BUCKET_WIDTH,				/* time_bucket(width, column) */
	BUCKET_ZONE					/* time_bucket(width, column, zone) */
} BucketForm;

struct AggBucket
{
	BucketForm	form;
	Oid			type;			/* of the argument */
	bool		local;			/* the argument is a timestamptz, truncated in
								 * local time */
	int64		width;			/* microseconds, or integers; 0: each value by
								 * itself */
	int64		phase;			/* ranges start at multiples of width from
								 * here */
	bool		starts;			/* the value is the start of the (whole) range */

	/*
	 * ZONE: width and zone as the function has them; decoded when it was
	 * called
	 */
	Datum		zone_args[2];
	StrataZoneBucket *zone;
	ExprState  *expr;			/* of the timestamp in the slot */
	TupleTableSlot *slot;
	ExprContext *econtext;
	bool		defers;			/* raises no errors */
	int64		settled_lo;		/* defers: there are none in this range */
	int64		settled_hi;
	/* the range found last */
	bool		known;
	int64		lo;
	int64		hi;
	Datum		value;
	/* local: in [offset_lo, offset_hi] the zone's offset is this */
	bool		offset_known;
	int64		offset_lo;
	int64		offset_hi;
	int64		offset;
};

/* Is the function the extension's time_bucket()? */
static bool
is_time_bucket(Oid funcid)
{
	char	   *name = get_func_name(funcid);
	Oid			extension = get_extension_oid(STRATA_EXTENSION, true);

	return name != NULL && strcmp(name, "time_bucket") == 0 &&
		OidIsValid(extension) &&
		getExtensionOfObject(ProcedureRelationId, funcid) == extension;
}

/*
 * Which of the functions whose ranges are known the expression calls, judged
 * by its function alone.
 */
static BucketForm
bucket_form(Expr *expr)
{
	FuncExpr   *func = (FuncExpr *) expr;

	if (!IsA(expr, FuncExpr))
		return BUCKET_NONE;
	switch (func->funcid)
	{
		case F_DATE_TRUNC_TEXT_TIMESTAMP:
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ:
			return BUCKET_TRUNC;
		case F_DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP:
		case F_DATE_BIN_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ:
			return BUCKET_BIN;
		default:
			return list_length(func->args) == 2 &&
				is_time_bucket(func->funcid) ?
				BUCKET_WIDTH :
				BUCKET_NONE;
	}
}

/*
 * A function of constants and one column, in the place of its time argument?
 */
static bool
match_bucket(Expr *expr, BucketForm *form, Expr **arg)
{
	FuncExpr   *func = (FuncExpr *) expr;
	Expr	   *column;
	Oid			type;

	*form = bucket_form(expr);
	if (*form == BUCKET_NONE || list_length(func->args) < 2)
		return false;
	for (int i = 0; i < list_length(func->args); i++)
	{
		Node	   *node = list_nth(func->args, i);

		if (i != 1 && (!IsA(node, Const) || ((Const *) node)->constisnull))
			return false;
	}
	column = lsecond(func->args);
	while (IsA(column, RelabelType))
		column = ((RelabelType *) column)->arg;
	type = exprType((Node *) column);
	*arg = column;
	return IsA(column, Var) && exprType((Node *) func) == type &&
		(type == TIMESTAMPOID || type == TIMESTAMPTZOID ||
		 (*form == BUCKET_WIDTH && (type == INT8OID || type == INT4OID ||
									type == INT2OID || type == DATEOID)));
}

/* time_bucket() of a constant width on the clock of a constant zone? */
static bool
match_zone_bucket(Expr *expr, Expr **arg)
{
	FuncExpr   *func = (FuncExpr *) expr;

	if (!IsA(expr, FuncExpr) || list_length(func->args) != 5 ||
		!is_time_bucket(func->funcid))
		return false;
	for (int i = 0; i < 5; i++)
	{
		Node	   *node = list_nth(func->args, i);

		/* neither origin nor offset */
		if (i != 1 && (!IsA(node, Const) ||
					   ((Const *) node)->constisnull != (i > 2)))
			return false;
	}
	*arg = lsecond(func->args);
	return IsA(*arg, Var) && exprType((Node *) *arg) == TIMESTAMPTZOID;
}

/* See agg_vector_private.h. */
bool
strata_agg_is_bucket(Expr *expr)
{
	BucketForm	form;
	Expr	   *arg;

	return match_bucket(expr, &form, &arg);
}

/* Microseconds of an interval; 0 when it has months, or overflows. */
static int64
interval_width(const Interval *interval)
{
	int64		days;
	int64		result;

	if (interval->month != 0 ||
		pg_mul_s64_overflow(interval->day, USECS_PER_DAY, &days) ||
		pg_add_s64_overflow(days, interval->time, &result))
		return 0;
	return result;
}

/* DTK_HOUR and so on; -1: no unit. */
static int
decode_unit(const Const *unit)
{
	char	   *name = TextDatumGetCString(unit->constvalue);
	int			value;

	return DecodeUnits(0,
					   downcase_identifier(name, (int) strlen(name), false,
										   false),
					   &value) == UNITS ?
		value :
		-1;
}

/*
 * date_trunc: the width and phase of ranges of time in which the unit, a valid
 * one, cannot change; width 0 where there are none.
 */
static void
init_trunc(AggBucket *bucket, const Const *unit)
{
	int			value = decode_unit(unit);

	bucket->starts = value == DTK_SECOND || value == DTK_MINUTE ||
		value == DTK_HOUR || value == DTK_DAY ||
		value == DTK_WEEK;
	switch (value)
	{
		case DTK_MILLISEC:
			bucket->width = 1000;
			break;
		case DTK_SECOND:
			bucket->width = USECS_PER_SEC;
			break;
		case DTK_MINUTE:
			bucket->width = USECS_PER_MINUTE;
			break;
		case DTK_HOUR:
			bucket->width = USECS_PER_HOUR;
			break;
		case DTK_WEEK:
			/* 2000-01-03 was a Monday */
			bucket->width = 7 * USECS_PER_DAY;
			bucket->phase = 2 * USECS_PER_DAY;
			break;
		case DTK_DAY:
		case DTK_MONTH:
		case DTK_QUARTER:
		case DTK_YEAR:
		case DTK_DECADE:
		case DTK_CENTURY:
		case DTK_MILLENNIUM:
			/* these consist of days */
			bucket->width = USECS_PER_DAY;
			break;
		default:
			break;
	}
}

/*
 * The width of the ranges in which the function cannot change, 0 if that is
 * not known; starts, if the value is the start of its range.
 */
static void
init_width(AggBucket *bucket, const FuncExpr *func)
{
	const Const *first = linitial(func->args);
	Expr	   *last = llast(func->args);

	switch (bucket->form)
	{
		case BUCKET_TRUNC:
			init_trunc(bucket, first);
			break;
		case BUCKET_BIN:
			bucket->width =
				interval_width(DatumGetIntervalP(first->constvalue));
			bucket->starts = true;
			bucket->phase = DatumGetInt64(((Const *) last)->constvalue);
			break;
		case BUCKET_WIDTH:
			if (first->consttype == INTERVALOID &&
				func->funcresulttype != DATEOID)
				bucket->width =
					interval_width(DatumGetIntervalP(first->constvalue));
			else if (first->consttype == INT2OID)
				bucket->width = DatumGetInt16(first->constvalue);
			else if (first->consttype == INT4OID)
				bucket->width = DatumGetInt32(first->constvalue);
			else if (first->consttype == INT8OID)
				bucket->width = DatumGetInt64(first->constvalue);
			break;
		default:
			break;
	}
	bucket->width = Max(bucket->width, 0);
}

/* See agg_vector_private.h. */
double
strata_agg_bucket_width(Expr *expr, Expr **arg)
{
	AggBucket	bucket = {0};
	BucketForm	form;

	if (!match_bucket(expr, &form, arg))
		return 0;
	bucket.form = form;
	init_width(&bucket, (FuncExpr *) expr);
	if (form == BUCKET_TRUNC)
		switch (decode_unit(linitial(((FuncExpr *) expr)->args)))
		{
			case DTK_MONTH:
				return 30.0 * USECS_PER_DAY;
			case DTK_QUARTER:
				return 91.0 * USECS_PER_DAY;
			case DTK_YEAR:
			case DTK_DECADE:
			case DTK_CENTURY:
			case DTK_MILLENNIUM:
				return 365.0 * USECS_PER_DAY;
		}
	return (double) bucket.width;
}

/*
 * More than local midnights can be off because the time zone's offset changes.
 */
#define ZONE_SLACK (2 * USECS_PER_DAY)

/*
 * Units that are cut in local time, and how many days they have at most; 0:
 * none of these.
 */
static int
days_of_unit(int unit)
{
	switch (unit)
	{
		case DTK_DAY:
			return 1;
		case DTK_WEEK:
			return 7;
		case DTK_MONTH:
			return 31;
		case DTK_QUARTER:
			return 92;
		case DTK_YEAR:
			return 366;
		default:
			return 0;
	}
}

/*
 * See agg_vector_private.h.  A bucket starts at or before its values, but
 * for local days: an hour that a time zone repeats at midnight belongs to a
 * day that begins later.
 */
bool
strata_agg_bucket_reach(Expr *expr, bool last, int64 *reach)
{
	AggBucket	bucket = {0};
	Expr	   *arg;
	bool		local;
	int			days = 0;

	if (!match_bucket(expr, &bucket.form, &arg))
		return false;
	local = bucket.form == BUCKET_TRUNC &&
		exprType((Node *) arg) == TIMESTAMPTZOID;
	init_width(&bucket, (FuncExpr *) expr);
	if (bucket.form == BUCKET_TRUNC)
	{
		days = days_of_unit(decode_unit(linitial(((FuncExpr *) expr)->args)));
		/* decades and longer: not known here */
		if (days == 0 &&
			(bucket.width == 0 || bucket.width >= USECS_PER_DAY) &&
			(local || !last))
			return false;
	}
	if (last)
		*reach = local && days > 0 ? ZONE_SLACK : 0;
	else if (days > 0)
		*reach = days * USECS_PER_DAY + (local ? ZONE_SLACK : 0);
	else
		*reach = bucket.width;
	return last || *reach > 0;
}

/* Memory: the current context. */
AggBucket *
strata_agg_bucket_create(StrataAggState *agg, Expr *expr, Expr **arg)
{
	AggBucket  *bucket;
	BucketForm	form;
	FuncExpr   *func;
	TupleDesc	desc;
	Oid			type;

	if (match_zone_bucket(expr, arg))
		form = BUCKET_ZONE;
	else if (!match_bucket(expr, &form, arg))
		return NULL;
	bucket = palloc0(sizeof(AggBucket));
	bucket->form = form;
	func = (FuncExpr *) copyObject(expr);
	init_width(bucket, func);
	if (form == BUCKET_ZONE)
	{
		bucket->zone_args[0] = ((Const *) linitial(func->args))->constvalue;
		bucket->zone_args[1] = ((Const *) lthird(func->args))->constvalue;
	}
	type = exprType((Node *) *arg);
	bucket->type = type;
	bucket->local = form == BUCKET_TRUNC && type == TIMESTAMPTZOID;

	/*
	 * a midnight that a time zone repeats is the second one, whichever came
	 * first
	 */
	if (bucket->local && bucket->width >= USECS_PER_DAY)
		bucket->starts = false;
	/* the function of a slot with one column */
	desc = CreateTemplateTupleDesc(1);
	TupleDescInitEntry(desc, 1, "value", type, -1, 0);
	bucket->slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	ExecStoreAllNullTuple(bucket->slot);
	bucket->econtext = CreateExprContext(agg->css.ss.ps.state);
	bucket->econtext->ecxt_outertuple = bucket->slot;
	list_nth_cell(func->args, 1)->ptr_value = makeVar(OUTER_VAR, 1, type, -1,
													  InvalidOid, 0);
	bucket->expr = ExecInitExpr((Expr *) func, &agg->css.ss.ps);
	return bucket;
}

/*
 * Find the zone's offset at ts, and since and until when it holds, looking
 * from `back` seconds before.  False: it changes in between.
 */
static bool
find_offset_from(AggBucket *bucket, int64 ts, int64 back)
{
	pg_time_t	t = timestamptz_to_time_t(ts) - back;
	pg_time_t	boundary;
	long int	before;
	long int	after;
	int			isdst;
	int			rc = pg_next_dst_boundary(&t, &before, &isdst, &boundary,
										  &after, &isdst, session_timezone);

	if (rc < 0)
		return false;
	bucket->offset = before * USECS_PER_SEC;
	bucket->offset_lo = time_t_to_timestamptz(t);
	/* a second to spare for rounding */
	bucket->offset_hi = rc == 0 ?
		PG_INT64_MAX :
		time_t_to_timestamptz(boundary) - USECS_PER_SEC;
	return ts >= bucket->offset_lo && ts <= bucket->offset_hi;
}

static void
find_offset(AggBucket *bucket, int64 ts)
{
	bucket->offset_known = find_offset_from(bucket, ts, 32 * SECS_PER_DAY) ||
		find_offset_from(bucket, ts, SECS_PER_DAY) ||
		find_offset_from(bucket, ts, SECS_PER_HOUR) ||
		find_offset_from(bucket, ts, 1);
}

/* Start of the range of width that x is in. */
static inline int64
range_start(const AggBucket *bucket, int64 x)
{
	int64		rest = (x - bucket->phase) % bucket->width;

	return x - (rest < 0 ? rest + bucket->width : rest);
}

/* Far enough from the ends of the type for all that is computed here. */
#define FAR_PAST INT64CONST(-200000000000000000)	/* 4338 BC */
#define FAR_FUTURE (PG_INT64_MAX / 4)

/*
 * A range around ts in which all timestamps have the same bucket; true: that
 * is its start.
 */
static bool
find_range(AggBucket *bucket, int64 ts)
{
	int64		offset = 0;

	bucket->lo = bucket->hi = ts;
	if (bucket->width <= 0 || bucket->width > USECS_PER_DAY * 10000 ||
		ts < FAR_PAST || ts > FAR_FUTURE)
		return false;
	if (bucket->form == BUCKET_BIN &&
		(bucket->phase < FAR_PAST || bucket->phase > ts))
		return false;
	if (bucket->local)
	{
		if (!bucket->offset_known || ts < bucket->offset_lo ||
			ts > bucket->offset_hi)
			find_offset(bucket, ts);
		if (!bucket->offset_known)
			return false;
		offset = bucket->offset;
	}
	bucket->lo = range_start(bucket, ts + offset) - offset;
	bucket->hi = bucket->lo + bucket->width - 1;
	if (!bucket->local)
		return bucket->starts;
	bucket->hi = Min(bucket->hi, bucket->offset_hi);
	if (bucket->lo >= bucket->offset_lo)
		return bucket->starts;
	bucket->lo = bucket->offset_lo;
	return false;
}

/* The bucket of ts, by the function itself. */
static Datum
call_function(AggBucket *bucket, int64 ts)
{
	TupleTableSlot *slot = bucket->slot;
	bool		isnull;
	Datum		value;

	slot->tts_values[0] = Int64GetDatum(ts);
	slot->tts_isnull[0] = false;
	ResetExprContext(bucket->econtext);
	value = ExecEvalExprSwitchContext(bucket->expr, bucket->econtext, &isnull);
	if (isnull)
		elog(ERROR, "a bucket function returned NULL");
	return value;
}

/*
 * So far from the first timestamp that a millennium is valid that begins
 * before it: 2437 BC.
 */
#define SAFE_PAST INT64CONST(-140000000000000000)

/*
 * See agg_vector_private.h.  Where the width is not known, the function's
 * answer would be good for nothing but the timestamp itself.
 */
bool
strata_agg_bucket_is_safe(const AggBucket *bucket, int64 ts)
{
	int64		start;

	if (bucket->width <= 0 || pg_sub_s64_overflow(ts, bucket->width, &start))
		return false;
	switch (bucket->type)
	{
		case INT2OID:
			return start >= PG_INT16_MIN;
		case INT4OID:
			return start >= PG_INT32_MIN;
		case INT8OID:
			return true;
		default:
			return start >= SAFE_PAST && ts <= FAR_FUTURE;
	}
}

/* time_bucket(): the range is told by the value. */
static void
find_width_bucket(AggBucket *bucket, int64 ts)
{
	int64		start;

	bucket->value = call_function(bucket, ts);
	bucket->lo = bucket->hi = ts;
	start = DatumGetInt64(bucket->value);
	if (bucket->width > 0 && bucket->width < FAR_FUTURE && ts > -FAR_FUTURE &&
		ts < FAR_FUTURE && start <= ts && start > -FAR_FUTURE &&
		ts - start < bucket->width)
	{
		bucket->lo = start;
		bucket->hi = start + bucket->width - 1;
	}
}

/*
 * The same of a zone's clock.  The function itself is called first, so that it
 * raises the errors that its arguments have.
 */
static void
find_zone_bucket(AggBucket *bucket, int64 ts)
{
	TimestampTz start;
	TimestampTz next;

	bucket->lo = bucket->hi = ts;
	if (bucket->zone == NULL || ts < FAR_PAST || ts > FAR_FUTURE)
	{
		bucket->value = call_function(bucket, ts);
		/* infinite times have no bucket, whatever the width */
		if (bucket->zone != NULL || TIMESTAMP_NOT_FINITE(ts))
			return;
		bucket->zone = MemoryContextAllocZero(GetMemoryChunkContext(bucket),
											  sizeof(StrataZoneBucket));
		strata_zone_bucket_init(bucket->zone, bucket->zone_args[0],
								bucket->zone_args[1]);
		return;
	}
	if (!strata_zone_bucket_start(bucket->zone, ts, &start) ||
		!strata_zone_bucket_next(bucket->zone, ts, &next))
	{
		bucket->value = call_function(bucket, ts);
		return;
	}
	bucket->value = TimestampTzGetDatum(start);
	bucket->lo = start;
	bucket->hi = next - 1;
}

/*-------------------------------------------------------------------------
 * Below a join
 *-------------------------------------------------------------------------
 */

/* No bucket starts further before its values; 0: unknown, or it may raise. */
static int64
longest_bucket(BucketForm form, FuncExpr *func)
{
	AggBucket	bucket = {.form = form};
	const Const *first = linitial(func->args);

	init_width(&bucket, func);
	if (form == BUCKET_TRUNC)
		return bucket.width > 0 ? INT64CONST(1001) * 366 * USECS_PER_DAY : 0;
	if (form == BUCKET_BIN)
		return bucket.phase >= FAR_PAST && bucket.phase <= FAR_FUTURE ?
			bucket.width : 0;
	if (first->consttype == INTERVALOID)
	{
		const Interval *width = DatumGetIntervalP(first->constvalue);

		if (width->month > 0 && width->month < 12000 && width->day == 0 &&
			width->time == 0)
			return width->month * INT64CONST(31) *
				(func->funcresulttype == DATEOID ? 1 : USECS_PER_DAY);
		if (func->funcresulttype == DATEOID)
			return width->month == 0 && width->time == 0 &&
				width->day > 0 ? width->day : 0;
	}
	return bucket.width;
}

/*
 * Where no call raises an error: false, there is no such range.  Upper bounds
 * are where a day that begins later is still far from the end.
 */
static bool
settled_range(Expr *expr, int64 *lo, int64 *hi)
{
	BucketForm	form;
	Expr	   *arg;
	Oid			type;
	int64		length;

	if (!match_bucket(expr, &form, &arg))
		return false;
	type = exprType((Node *) expr);
	length = longest_bucket(form, (FuncExpr *) expr);
	*lo = type == INT2OID ? PG_INT16_MIN : type == INT4OID ? PG_INT32_MIN :
		type == INT8OID ? PG_INT64_MIN :
		type == DATEOID ? FAR_PAST / USECS_PER_DAY : FAR_PAST;
	*hi = type == INT2OID || type == INT4OID || type == INT8OID ?
		PG_INT64_MAX :
		type == DATEOID ? FAR_FUTURE / USECS_PER_DAY :
		FAR_FUTURE - 3 * USECS_PER_DAY;
	return length > 0 && !pg_add_s64_overflow(*lo, length, lo) && *lo < *hi;
}

/* See agg_vector_private.h. */
bool
strata_agg_bucket_can_defer(Expr *expr)
{
	int64		lo;
	int64		hi;

	return settled_range(expr, &lo, &hi);
}

/* See agg_vector_private.h. */
Expr *
strata_agg_column_below(Expr *key)
{
	return !strata_agg_is_bucket(key) ? key :
		(Expr *) makeRelabelType(key, exprType((Node *) key), -1, InvalidOid,
								 COERCE_IMPLICIT_CAST);
}

/* See agg_vector_private.h. */
Node *
strata_agg_deferred(Node *column)
{
	return IsA(column, RelabelType) &&
		strata_agg_is_bucket(((RelabelType *) column)->arg) ?
		(Node *) ((RelabelType *) column)->arg : NULL;
}

/* See agg_vector_private.h. */
Node *
strata_agg_settle_deferred(Node *bucket, Var *column)
{
	FuncExpr   *result = copyObject((FuncExpr *) bucket);

	lsecond(result->args) = column;
	return (Node *) result;
}

/* See agg_vector_private.h. */
void
strata_agg_bucket_defer(AggBucket *bucket, Expr *expr)
{
	bucket->defers = settled_range(expr, &bucket->settled_lo,
								   &bucket->settled_hi);
	Assert(bucket->defers);		/* agg:G20 */
}

/* The value itself, as one of its type. */
static Datum
argument_datum(const AggBucket *bucket, int64 x)
{
	switch (bucket->type)
	{
		case INT2OID:
			return Int16GetDatum((int16) x);
		case INT4OID:
		case DATEOID:
			return Int32GetDatum((int32) x);
		default:
			return Int64GetDatum(x);
	}
}

/*
 * See agg_vector_private.h; ts is the argument as an integer, whatever its
 * type.
 */
Datum
strata_agg_bucket_of(AggBucket *bucket, int64 ts, int64 *lo, int64 *hi)
{
	if (!bucket->known || ts < bucket->lo || ts > bucket->hi)
	{
		bucket->known = false;
		if (bucket->defers &&
			(ts < bucket->settled_lo || ts > bucket->settled_hi))
		{
			bucket->value = argument_datum(bucket, ts);
			bucket->lo = bucket->hi = ts;
		}
		else if (bucket->form == BUCKET_WIDTH)
			find_width_bucket(bucket, ts);
		else if (bucket->form == BUCKET_ZONE)
			find_zone_bucket(bucket, ts);
		else if (find_range(bucket, ts))
			bucket->value = Int64GetDatum(bucket->lo);
		else
		{
			bucket->value = call_function(bucket, ts);
			/* a midnight that a zone repeats is not in the day it begins */
			if (bucket->defers &&
				call_function(bucket, DatumGetInt64(bucket->value)) !=
				bucket->value)
				bucket->value = argument_datum(bucket, ts);
		}
		bucket->known = true;
	}
	Assert(bucket->lo <= ts && ts <= bucket->hi);	/* agg:G5 */
	*lo = bucket->lo;
	*hi = bucket->hi;
	return bucket->value;
}
