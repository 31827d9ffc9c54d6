/*-------------------------------------------------------------------------
 *
 * expr_range.c
 *	  Functions of time that say the same for an hour, or a day.
 *
 * extract(hour from ts) is the same from hour to hour, and so is what is
 * computed of nothing else.  Where times have a zone, hours are local ones, as
 * long as the zone's offset is the same.
 *
 * src/expr/expr_range.c
 *-------------------------------------------------------------------------
 */
#include "expr/expr_private.h"

#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/timestamp.h"

/* Units of extract() and date_trunc() that are not smaller than a minute. */
static const struct
{
	const char *name;
	int64		unit;
}			units[] = {
	{"minute", USECS_PER_MINUTE},
	{"hour", USECS_PER_HOUR},
	{"day", USECS_PER_DAY},
	{"dow", USECS_PER_DAY},
	{"isodow", USECS_PER_DAY},
	{"doy", USECS_PER_DAY},
	{"week", USECS_PER_DAY},
	{"month", USECS_PER_DAY},
	{"quarter", USECS_PER_DAY},
	{"year", USECS_PER_DAY}
};

/*
 * For how long is the function of time the same?  0: unknown.  *arg: of what.
 */
static int64
call_unit(FuncExpr *call, Node **arg, bool *zoned)
{
	Const	   *name = linitial(call->args);
	char	   *word;

	*zoned = false;
	*arg = llast(call->args);
	switch (call->funcid)
	{
		case F_EXTRACT_TEXT_TIMESTAMPTZ:
		case F_DATE_PART_TEXT_TIMESTAMPTZ:
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ:
			*zoned = true;
			break;
		case F_EXTRACT_TEXT_TIMESTAMP:
		case F_DATE_PART_TEXT_TIMESTAMP:
		case F_DATE_TRUNC_TEXT_TIMESTAMP:
			break;
		case F_DATE_TIMESTAMPTZ:
			*zoned = true;
			return USECS_PER_DAY;
		case F_DATE_TIMESTAMP:
			return USECS_PER_DAY;
		default:
			return 0;
	}
	if (!IsA(name, Const) || name->constisnull)
		return 0;
	word = TextDatumGetCString(name->constvalue);
	for (int i = 0; i < lengthof(units); i++)
		if (strcmp(units[i].name, word) == 0 &&
		/* there is none of these to truncate to */
			(list_length(call->args) == 2 &&
			 ((call->funcid != F_DATE_TRUNC_TEXT_TIMESTAMP &&
			   call->funcid != F_DATE_TRUNC_TEXT_TIMESTAMPTZ) ||
			  strstr(word, "do") == NULL)))
			return units[i].unit;
	return 0;
}

/* extract() of a unit that there is raises no error, whatever it is given. */
bool
strata_expr_cuts_time(Node *node)
{
	FuncExpr   *call = (FuncExpr *) node;
	Node	   *arg;
	bool		zoned;

	if (call->funcid != F_EXTRACT_TEXT_TIMESTAMPTZ &&
		call->funcid != F_EXTRACT_TEXT_TIMESTAMP &&
		call->funcid != F_DATE_PART_TEXT_TIMESTAMPTZ &&
		call->funcid != F_DATE_PART_TEXT_TIMESTAMP)
		return false;
	return call_unit(call, &arg, &zoned) > 0;
}

typedef struct UnitContext
{
	int64		unit;			/* least so far; 0: none */
	bool		zoned;
	AttrNumber	attno;
	bool		other;			/* something else is read */
} UnitContext;

/*
 * Look for calls whose value changes with a unit of one column's time only;
 * true: there is something else.
 */
static bool
find_unit(Node *node, UnitContext *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, FuncExpr) && list_length(((FuncExpr *) node)->args) >= 1)
	{
		Node	   *arg;
		bool		zoned;
		int64		unit = call_unit((FuncExpr *) node, &arg, &zoned);

		if (unit > 0 && IsA(arg, Var))
		{
			Var		   *var = (Var *) arg;

			if (context->unit > 0 && (context->attno != var->varattno ||
									  context->zoned != zoned))
				context->other = true;
			context->unit = context->unit > 0 ? Min(context->unit, unit) :
				unit;
			context->attno = var->varattno;
			context->zoned = zoned;
			return context->other;
		}
	}
	if (IsA(node, Var))
		context->other = true;
	return context->other ||
		expression_tree_walker(node, find_unit, context);
}

/* See expr_private.h. */
int64
strata_expr_unit(Node *expr, bool *zoned)
{
	UnitContext context = {0};

	(void) find_unit(expr, &context);
	*zoned = context.zoned;
	return context.other ? 0 : context.unit;
}

/* From here on times are years apart from where zones are computed anew. */
#define ZONED_FROM (-INT64CONST(100) * 365 * USECS_PER_DAY)
#define ZONED_TO (INT64CONST(200) * 365 * USECS_PER_DAY)
#define EPOCH_SECONDS \
	((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY)

/* The offset at ts, and the last time up to which it is known to be the same. */
static bool
zone_offset_at(int64 ts, int64 *offset, int64 *last)
{
	int64		seconds = ts / USECS_PER_SEC - (ts % USECS_PER_SEC < 0);
	pg_time_t	at = (pg_time_t) (seconds + EPOCH_SECONDS);
	pg_time_t	boundary;
	long		before;
	long		after;
	int			before_dst;
	int			after_dst;
	int			found = pg_next_dst_boundary(&at, &before, &before_dst,
											 &boundary, &after, &after_dst,
											 session_timezone);

	if (found < 0)
		return false;
	*offset = (int64) before * USECS_PER_SEC;
	*last = found == 0 ? ZONED_TO :
		((int64) boundary - EPOCH_SECONDS) * USECS_PER_SEC - 1;
	return true;
}

/* See expr_private.h. */
void
strata_expr_range(int64 unit, bool zoned, int64 ts, int64 *lo, int64 *hi)
{
	int64		offset = 0;
	int64		last = PG_INT64_MAX;
	int64		offset_before;
	int64		last_before;
	int64		into;

	*lo = *hi = ts;
	/* also times that are infinite, and the first and last of all */
	if (ts < ZONED_FROM || ts > ZONED_TO ||
		(zoned && !zone_offset_at(ts, &offset, &last)))
		return;
	into = (ts + offset) % unit;
	if (into < 0)
		into += unit;
	*hi = Min(ts - into + unit - 1, Max(last, ts));
	/* the offset before ts is not known to be that of ts */
	if (!zoned ||
		(zone_offset_at(ts - into, &offset_before, &last_before) &&
		 offset_before == offset && last_before >= ts))
		*lo = ts - into;
	Assert(*lo <= ts && ts <= *hi); /* expr:E5 */
}
