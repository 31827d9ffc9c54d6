/*-------------------------------------------------------------------------
 *
 * expr_range.c
 *	  Functions of time that say the same for an hour, or a day.
 *
 * extract(hour from ts) is the same from hour to hour, and so is what is
 * computed of nothing else.  Where times have a zone, hours are local ones, as
 * long as the zone's offset is the same: that of the session, or one that the
 * expression names (ts AT TIME ZONE 'Europe/Berlin').
 *
 * src/expr/expr_range.c
 *-------------------------------------------------------------------------
 */
#include "base/compat.h"
#include "expr/expr_decimal_private.h"
#include "expr/expr_range_private.h"

#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/scansup.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"
#include "utils/timestamp.h"

/* Units of extract() and date_trunc() that are not smaller than a minute. */
static const struct
{
	const char *name;
	int64		unit;
	ExprTimePart part;			/* that extract() makes its result of */
}			units[] = {
	{"minute", USECS_PER_MINUTE, EXPR_PART_MINUTE},
	{"hour", USECS_PER_HOUR, EXPR_PART_HOUR},
	{"day", USECS_PER_DAY, EXPR_PART_DAY},
	{"dow", USECS_PER_DAY, EXPR_PART_DOW},
	{"isodow", USECS_PER_DAY, EXPR_PART_DOW},
	{"doy", USECS_PER_DAY, EXPR_PART_DOY},
	{"week", USECS_PER_DAY, EXPR_PART_WEEK},
	{"month", USECS_PER_DAY, EXPR_PART_MONTH},
	{"quarter", USECS_PER_DAY, EXPR_PART_MONTH},
	{"year", USECS_PER_DAY, EXPR_PART_NONE}
};

/*
 * For how long is extract(), date_trunc() and the like, of a unit's name, the
 * same?  0: unknown.
 */
static int64
named_unit(Node *name, bool truncates, ExprTimePart *part)
{
	char	   *word;

	if (!IsA(name, Const) || ((Const *) name)->constisnull)
		return 0;
	word = TextDatumGetCString(((Const *) name)->constvalue);
	for (int i = 0; i < lengthof(units); i++)
	{
		if (strcmp(units[i].name, word) != 0)
			continue;
		/* there is none of these to truncate to */
		if (truncates && strstr(word, "do") != NULL)
			return 0;
		*part = truncates ? EXPR_PART_NONE : units[i].part;
		return units[i].unit;
	}
	return 0;
}

/*
 * The same of to_char(): what the pattern has no letters for cannot change.
 * Letters may stand for themselves, which costs time only.
 */
static int64
pattern_unit(Node *pattern)
{
	static const char *const smaller[] = {"ss", "ms", "us", "ff"};
	char	   *letters;

	if (!IsA(pattern, Const) || ((Const *) pattern)->constisnull)
		return 0;
	letters = TextDatumGetCString(((Const *) pattern)->constvalue);
	for (char *c = letters; *c != '\0'; c++)
		*c = (char) pg_ascii_tolower((unsigned char) *c);
	for (int i = 0; i < lengthof(smaller); i++)
		if (strstr(letters, smaller[i]) != NULL)
			return 0;
	return strstr(letters, "mi") != NULL ? USECS_PER_MINUTE : USECS_PER_HOUR;
}

/*
 * The zone of a name that is a constant; false: there is none, or its offset
 * is that of an abbreviation that has meant different things.
 */
static bool
find_zone(Node *name, StrataTimeUnit *unit)
{
	char	   *word;
	pg_tz	   *zone;
	int			east = 0;

	if (!IsA(name, Const) || ((Const *) name)->constisnull)
		return false;
	word = TextDatumGetCString(((Const *) name)->constvalue);
	/* where it is no zone either, the function has an error */
	if (strlen(word) > TZ_STRLEN_MAX || (zone = pg_tzset(word)) == NULL)
		return false;
	switch (strata_decode_zone(word, &east, &zone))
	{
		case TZNAME_FIXED_OFFSET:
			unit->offset = east * USECS_PER_SEC;
			return true;
		case TZNAME_ZONE:
			unit->zoned = zone != NULL;
			unit->zone = zone;
			return zone != NULL;
		default:
			return false;
	}
}

/*
 * For how long is the function of time the same?  False: unknown.  *arg: of
 * what.
 */
static bool
call_unit(FuncExpr *call, StrataTimeUnit *unit, Node **arg)
{
	Node	   *first = linitial(call->args);

	memset(unit, 0, sizeof(*unit));
	*arg = llast(call->args);
	switch (call->funcid)
	{
		case F_EXTRACT_TEXT_TIMESTAMPTZ:
		case F_DATE_PART_TEXT_TIMESTAMPTZ:
			unit->zoned = true;
			/* FALLTHROUGH */
		case F_EXTRACT_TEXT_TIMESTAMP:
		case F_DATE_PART_TEXT_TIMESTAMP:
			unit->unit = named_unit(first, false, &unit->part);
			break;
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ:
			unit->zoned = true;
			/* FALLTHROUGH */
		case F_DATE_TRUNC_TEXT_TIMESTAMP:
			unit->unit = named_unit(first, true, &unit->part);
			break;
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT:
			*arg = lsecond(call->args);
			unit->unit = find_zone(lthird(call->args), unit) ?
				named_unit(first, true, &unit->part) : 0;
			break;
		case F_DATE_TIMESTAMPTZ:
			unit->zoned = true;
			/* FALLTHROUGH */
		case F_DATE_TIMESTAMP:
			unit->unit = USECS_PER_DAY;
			break;
		case F_TO_CHAR_TIMESTAMPTZ_TEXT:
			unit->zoned = true;
			/* FALLTHROUGH */
		case F_TO_CHAR_TIMESTAMP_TEXT:
			*arg = first;
			unit->unit = pattern_unit(lsecond(call->args));
			break;
		default:
			break;
	}
	return unit->unit > 0;
}

/* The same, where the argument may be a column at the time of a zone. */
static bool
column_unit(FuncExpr *call, StrataTimeUnit *unit, Var **var)
{
	Node	   *arg;

	if (list_length(call->args) == 0 || !call_unit(call, unit, &arg))
		return false;
	if (IsA(arg, FuncExpr) &&
		((FuncExpr *) arg)->funcid == F_TIMEZONE_TEXT_TIMESTAMPTZ)
	{
		FuncExpr   *at_zone = (FuncExpr *) arg;

		if (unit->zoned || !find_zone(linitial(at_zone->args), unit))
			return false;
		arg = lsecond(at_zone->args);
	}
	*var = (Var *) arg;
	return IsA(arg, Var);
}

/* Is it the name of one of these units, as we would write it? */
static bool
is_one_of(Node *name, const char *const *known, int n)
{
	char	   *word;

	if (!IsA(name, Const) || ((Const *) name)->constisnull)
		return false;
	word = TextDatumGetCString(((Const *) name)->constvalue);
	for (int i = 0; i < n; i++)
		if (strcmp(known[i], word) == 0)
			return true;
	return false;
}

/* See expr_range_private.h. */
bool
strata_expr_is_of_zone(Node *node)
{
	StrataTimeUnit unit;
	Node	   *arg;

	/* to_char() may say it in a language that is set */
	return IsA(node, FuncExpr) && ((FuncExpr *) node)->args != NIL &&
		((FuncExpr *) node)->funcid != F_TO_CHAR_TIMESTAMPTZ_TEXT &&
		((FuncExpr *) node)->funcid != F_TO_CHAR_TIMESTAMP_TEXT &&
		call_unit((FuncExpr *) node, &unit, &arg);
}

/*
 * extract() of a unit that there is raises no error, whatever it is given: of
 * infinite times either, which have none of some units, and infinite numbers
 * of others.
 */
bool
strata_expr_cuts_time(Node *node)
{
	static const char *const of_days[] = {"day", "dow", "isodow", "doy",
		"week", "month", "quarter", "year", "isoyear", "decade", "century",
	"millennium", "julian", "epoch"};
	static const char *const of_times[] = {"microseconds", "milliseconds",
	"second", "minute", "hour"};
	FuncExpr   *call = (FuncExpr *) node;
	Node	   *name;

	if (list_length(call->args) != 2)
		return false;
	name = linitial(call->args);
	switch (call->funcid)
	{
		case F_EXTRACT_TEXT_TIMESTAMPTZ:
		case F_EXTRACT_TEXT_TIMESTAMP:
		case F_DATE_PART_TEXT_TIMESTAMPTZ:
		case F_DATE_PART_TEXT_TIMESTAMP:
			return is_one_of(name, of_days, lengthof(of_days)) ||
				is_one_of(name, of_times, lengthof(of_times));
		case F_EXTRACT_TEXT_DATE:
			return is_one_of(name, of_days, lengthof(of_days));
		default:
			return false;
	}
}

/*
 * Does it raise an error for times near the ends of the type only?  It reads
 * one column of them, and what it makes of a time is at most a thousand years
 * away.
 */
bool
strata_expr_is_of_usual_times(Node *node)
{
	FuncExpr   *call = (FuncExpr *) node;
	StrataTimeUnit unit;
	Var		   *var;

	if (!IsA(call, FuncExpr))
		return false;
	switch (call->funcid)
	{
		case F_TIMESTAMP_TIMESTAMPTZ:
		case F_TIMESTAMPTZ_TIMESTAMP:
			return IsA(linitial(call->args), Var);
		case F_TIMEZONE_TEXT_TIMESTAMPTZ:
		case F_TIMEZONE_TEXT_TIMESTAMP:
			return find_zone(linitial(call->args), &unit) &&
				IsA(lsecond(call->args), Var);
		case F_TO_CHAR_TIMESTAMPTZ_TEXT:
		case F_TO_CHAR_TIMESTAMP_TEXT:
			return false;
		default:
			return list_length(call->args) > 0 &&
				column_unit(call, &unit, &var);
	}
}

typedef struct SinglyContext
{
	bool		(*known) (Node *node, void *arg);
	void	   *arg;
} SinglyContext;

static bool
lacks_kernel(Oid funcid, void *context)
{
	return strata_expr_function_find(funcid) == NULL &&
		!strata_expr_is_decimal_function(funcid);
}

/* See strata_expr_calls_singly(). */
static bool
calls_singly(Node *node, SinglyContext *context)
{
	Expr	   *arg;

	if (node == NULL || !contain_var_clause(node) ||
		context->known(node, context->arg))
		return false;
	if (check_functions_in_node(node, lacks_kernel, NULL))
		return strata_like_compile(node, &arg) == NULL &&
			strata_expr_unit(node).unit == 0;
	return expression_tree_walker(node, calls_singly, context);
}

/* See expr.h. */
bool
strata_expr_calls_singly(Node *node, bool (*known) (Node *node, void *arg),
						 void *arg)
{
	SinglyContext context = {known, arg};

	return calls_singly(node, &context);
}

typedef struct UnitContext
{
	StrataTimeUnit unit;		/* least so far; 0: none */
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
	StrataTimeUnit unit;
	Var		   *var;

	if (node == NULL)
		return false;
	if (IsA(node, FuncExpr) && column_unit((FuncExpr *) node, &unit, &var))
	{
		StrataTimeUnit *least = &context->unit;

		if (least->unit > 0 &&
			(context->attno != var->varattno || least->zoned != unit.zoned ||
			 least->zone != unit.zone || least->offset != unit.offset))
			context->other = true;
		if (least->unit > 0)
		{
			unit.unit = Min(unit.unit, least->unit);
			if (unit.part != least->part)
				unit.part = EXPR_PART_NONE;
		}
		*least = unit;
		context->attno = var->varattno;
		return context->other;
	}
	if (IsA(node, Var))
		context->other = true;
	return context->other ||
		expression_tree_walker(node, find_unit, context);
}

/* See expr_private.h. */
StrataTimeUnit
strata_expr_unit(Node *expr)
{
	UnitContext context = {{0}};

	(void) find_unit(expr, &context);
	if (context.other)
		context.unit.unit = 0;
	return context.unit;
}

/* From here on times are years apart from where zones are computed anew. */
#define ZONED_FROM (-INT64CONST(100) * 365 * USECS_PER_DAY)
#define ZONED_TO (INT64CONST(200) * 365 * USECS_PER_DAY)
#define EPOCH_SECONDS \
	((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY)

/* The offset at ts, and the last time up to which it is known to be the same. */
static bool
zone_offset_at(const StrataTimeUnit *unit, int64 ts, int64 *offset,
			   int64 *last)
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
											 unit->zone != NULL ? unit->zone :
											 session_timezone);

	if (found < 0)
		return false;
	*offset = (int64) before * USECS_PER_SEC;
	*last = found == 0 ? ZONED_TO :
		((int64) boundary - EPOCH_SECONDS) * USECS_PER_SEC - 1;
	return true;
}

/* So long before a time the offset is likely to be the same. */
#define LOOK_BACK (30 * USECS_PER_DAY)

/* Is the offset the same from that time on? */
static void
look_back(const StrataTimeUnit *unit, int64 at, ExprZoneSpan *span)
{
	int64		offset;
	int64		last;

	if (at >= ZONED_FROM && zone_offset_at(unit, at, &offset, &last) &&
		offset == span->offset && last >= span->from)
		span->from = at;
}

/* See expr_range_private.h. */
bool
strata_expr_find_offset(const StrataTimeUnit *unit, int64 ts,
						ExprZoneSpan *span)
{
	/* also times that are infinite, and the first and last of all */
	if (ts < ZONED_FROM || ts > ZONED_TO)
		return false;
	if (span->known && ts >= span->from && ts <= span->to)
		return true;
	span->known = true;
	span->offset = unit->offset;
	span->from = ZONED_FROM - USECS_PER_DAY;
	span->to = PG_INT64_MAX;
	if (!unit->zoned)
		return true;
	span->known = zone_offset_at(unit, ts, &span->offset, &span->to);
	span->from = ts;
	span->to = Max(span->to, ts);
	if (span->known)
		look_back(unit, ts - LOOK_BACK, span);
	return span->known;
}

/* See expr_range_private.h. */
void
strata_expr_range(const StrataTimeUnit *unit, int64 ts, ExprZoneSpan *span,
				  int64 *lo, int64 *hi)
{
	int64		into;

	*lo = *hi = ts;
	if (!strata_expr_find_offset(unit, ts, span))
		return;
	into = (ts + span->offset) % unit->unit;
	if (into < 0)
		into += unit->unit;
	*hi = Min(ts - into + unit->unit - 1, span->to);
	if (ts - into < span->from)
		look_back(unit, ts - into, span);
	/* the offset before that is not known to be that of ts */
	if (ts - into >= span->from)
		*lo = ts - into;
	Assert(*lo <= ts && ts <= *hi); /* expr:E5 */
}

/* See expr.h. */
AttrNumber
strata_expr_time_column(const StrataExpr *expr)
{
	const ExprNode *node = expr->roots[0];

	return node->kind == EXPR_OTHER && node->unit.unit > 0 &&
		node->parts == NULL && node->natts == 1 &&
		node->guard == NULL ?
		node->atts[0] : 0;
}

static StrataColumn *
the_time(void *arg, AttrNumber attno)
{
	return arg;
}

/* See expr.h. */
bool
strata_expr_at_times(StrataExpr *expr, const StrataExprSource *source,
					 int64 min, int64 max, StrataColumn *col)
{
	StrataExprSource at_time = *source;
	StrataExprFrame frame = {.n = 1};
	StrataColumn time = {.decoded = true,.n = 1,.constant = true};
	int64		lo;
	ExprZoneSpan span = {0};
	int64		hi;

	Assert(strata_expr_time_column(expr) != 0); /* expr:E5 */
	strata_expr_range(&expr->roots[0]->unit, min, &span, &lo, &hi);
	if (max > hi)
		return false;
	time.value = Int64GetDatum(min);
	at_time.column = the_time;
	at_time.arg = &time;
	if (!strata_expr_column(expr, &at_time, &frame, 1, col))
		return false;
	col->value = strata_column_get(col, 0, &col->value_isnull);
	col->constant = true;
	col->isnull = NULL;
	col->fixed = NULL;
	col->datums = NULL;
	return true;
}
