/*-------------------------------------------------------------------------
 *
 * local_bound.c
 *	  What comparisons of a date, of a truncated or of a local time say of the
 *	  time itself.
 *
 * ts::date = '2026-01-10', date_trunc('month', ts) >= ..., extract(year FROM
 * ts) = 2026, ts AT TIME ZONE 'Europe/Paris' < ...: such a function of a
 * column of times follows it within a length that is known, so the column is
 * not earlier than the value, and not later, by more than that.  That is less
 * than the comparison says, but what chunks and batches are told apart by.
 *
 * All times are put on one axis, microseconds since 2000-01-01 as the value
 * itself shows them, a date at its midnight.  A zone that is a constant moves
 * a value by an offset that the zone has had around then.  The session's zone
 * may be another one when a plan is run: how it moves the value is left to
 * who asks, but for how often it does so.
 *
 * src/time/local_bound.c
 *-------------------------------------------------------------------------
 */
#include "time/time_private.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "pgtime.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

static const struct
{
	const char *name;
	int64		longest;
}			units[] = {
	{"second", USECS_PER_SEC},
	{"minute", USECS_PER_MINUTE},
	{"hour", USECS_PER_HOUR},
	{"day", USECS_PER_DAY},
	{"week", 7 * USECS_PER_DAY},
	{"month", 31 * USECS_PER_DAY},
	{"quarter", 92 * USECS_PER_DAY},
	{"year", 366 * USECS_PER_DAY}
};

/* See time_private.h. */
int64
strata_time_unit_length(Node *name)
{
	char	   *word;

	if (!IsA(name, Const) || ((Const *) name)->constisnull)
		return 0;
	word = TextDatumGetCString(((Const *) name)->constvalue);
	for (int i = 0; i < lengthof(units); i++)
		if (pg_strcasecmp(units[i].name, word) == 0)
			return units[i].longest;
	return 0;
}

/*
 * The least and the greatest offset that a zone has within a week of a local
 * time, whatever zone that is; false: the name is not a constant, or none.
 */
static bool
offsets_of(Node *name, int64 time, int64 *least, int64 *most)
{
	Const	   *zone = (Const *) name;
	char	   *word;

	if (!IsA(name, Const) || zone->constisnull)
		return false;
	word = TextDatumGetCString(zone->constvalue);
	/* a zone's function has an error for other names, if it is called */
	if (strlen(word) > TZ_STRLEN_MAX || pg_tzset(word) == NULL)
		return false;
	strata_zone_offsets(zone->constvalue, time - STRATA_ZONE_FURTHEST,
						time + STRATA_ZONE_FURTHEST, least, most);
	return true;
}

/*
 * The time that the value shows is another's in the zone, at the function's
 * argument: UTC's if it is local.
 */
static bool
move_by_zone(Node *zone, bool local, StrataLocalBound *bound)
{
	int64		least;
	int64		most;

	if (!bound->known)
	{
		bound->least -= STRATA_ZONE_FURTHEST;
		bound->most += STRATA_ZONE_FURTHEST;
		return true;
	}
	if (!offsets_of(zone, bound->least, &least, &most))
		return false;
	bound->least += local ? -most : least;
	(void) offsets_of(zone, bound->most, &least, &most);
	bound->most += local ? -least : most;
	return true;
}

/* A length that is added (or, sign -1, subtracted): the column is without. */
static bool
move_by_length(Node *node, int sign, bool zoned, StrataLocalBound *bound)
{
	Const	   *length = (Const *) node;
	int64		moved;

	if (!IsA(node, Const) || length->constisnull)
		return false;
	if (length->consttype == INT4OID)
		moved = DatumGetInt32(length->constvalue) * USECS_PER_DAY;
	else if (length->consttype == INTERVALOID)
	{
		Interval   *interval = DatumGetIntervalP(length->constvalue);

		if (interval->month != 0 ||
			fabs((double) interval->day) > STRATA_BOUND_YEARS * 366 ||
			fabs((double) interval->time) > STRATA_BOUND_FURTHEST)
			return false;
		moved = interval->day * USECS_PER_DAY + interval->time;
		/* days of a zone are not all of one length */
		if (zoned && interval->day != 0)
		{
			bound->least -= STRATA_OFFSETS_APART;
			bound->most += STRATA_OFFSETS_APART;
		}
	}
	else
		return false;
	if (fabs((double) moved) > STRATA_BOUND_FURTHEST)
		return false;
	bound->least -= sign * moved;
	bound->most -= sign * moved;
	return true;
}

/* date_trunc(): its argument is not earlier, and later by less than a unit. */
static bool
move_by_unit(Node *name, bool zoned, StrataLocalBound *bound)
{
	int64		length = strata_time_unit_length(name);

	if (length == 0)
		return false;
	bound->most += length - 1;

	/*
	 * a midnight that the clock shows twice is the second one, so it may be
	 * later than what was truncated
	 */
	if (zoned && length >= USECS_PER_DAY)
	{
		bound->least -= STRATA_OFFSETS_APART;
		bound->most += STRATA_OFFSETS_APART;
	}
	return true;
}

/*
 * Take the outermost function of *node away; false: it is not one that
 * follows its argument.
 */
static bool
unwrap(Node **node, StrataLocalBound *bound)
{
	Oid			function;
	List	   *args;
	Node	   *first;

	if (IsA(*node, OpExpr))
	{
		function = get_opcode(((OpExpr *) *node)->opno);
		args = ((OpExpr *) *node)->args;
	}
	else if (IsA(*node, FuncExpr))
	{
		function = ((FuncExpr *) *node)->funcid;
		args = ((FuncExpr *) *node)->args;
	}
	else
		return false;
	if (args == NIL)
		return false;
	first = linitial(args);
	*node = list_length(args) > 1 ? lsecond(args) : first;
	switch (function)
	{
		case F_DATE_TIMESTAMPTZ:
			bound->shifts++;
			/* FALLTHROUGH */
		case F_DATE_TIMESTAMP:
			bound->most += USECS_PER_DAY - 1;
			return true;
		case F_TIMESTAMP_TIMESTAMPTZ:
		case F_TIMESTAMPTZ_TIMESTAMP:
		case F_TIMESTAMPTZ_DATE:
			bound->shifts++;
			return true;
		case F_TIMESTAMP_DATE:
			return true;
		case F_TIMEZONE_TEXT_TIMESTAMPTZ:
			return move_by_zone(first, true, bound);
		case F_TIMEZONE_TEXT_TIMESTAMP:
			return move_by_zone(first, false, bound);
		case F_DATE_TRUNC_TEXT_TIMESTAMP:
			return move_by_unit(first, false, bound);
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ:
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT:
			return move_by_unit(first, true, bound);
		default:
			break;
	}
	if (list_length(args) != 2)
		return false;
	*node = first;
	switch (function)
	{
		case F_TIMESTAMP_PL_INTERVAL:
		case F_DATE_PL_INTERVAL:
		case F_DATE_PLI:
			return move_by_length(lsecond(args), 1, false, bound);
		case F_TIMESTAMP_MI_INTERVAL:
		case F_DATE_MI_INTERVAL:
		case F_DATE_MII:
			return move_by_length(lsecond(args), -1, false, bound);
		case F_TIMESTAMPTZ_PL_INTERVAL:
			return move_by_length(lsecond(args), 1, true, bound);
		case F_TIMESTAMPTZ_MI_INTERVAL:
			return move_by_length(lsecond(args), -1, true, bound);
		default:
			return false;
	}
}

/* See time.h. */
bool
strata_time_is_local_type(Oid type)
{
	return type == TIMESTAMPTZOID || type == TIMESTAMPOID || type == DATEOID;
}

/* See time.h. */
bool
strata_time_bound(Node *node, StrataLocalBound *bound)
{
	bound->direct = true;
	while (!IsA(node, Var))
	{
		/* the innermost function alone may be the session's zone */
		bound->direct = bound->shifts == 0;
		if (!unwrap(&node, bound) ||
			fabs((double) bound->least) > STRATA_BOUND_FURTHEST ||
			fabs((double) bound->most) > STRATA_BOUND_FURTHEST)
			return false;
	}
	Assert(bound->least <= bound->most);	/* time:U7 */
	bound->var = (Var *) node;
	bound->direct &= bound->shifts == 1;
	return strata_time_is_local_type(bound->var->vartype);
}

/* See time.h. */
Node *
strata_time_year_of(Node *node)
{
	FuncExpr   *call = (FuncExpr *) node;
	Const	   *unit;

	if (!IsA(node, FuncExpr))
		return NULL;
	switch (call->funcid)
	{
		case F_EXTRACT_TEXT_TIMESTAMPTZ:
		case F_EXTRACT_TEXT_TIMESTAMP:
		case F_EXTRACT_TEXT_DATE:
		case F_DATE_PART_TEXT_TIMESTAMPTZ:
		case F_DATE_PART_TEXT_TIMESTAMP:
			break;
		default:
			return NULL;
	}
	unit = linitial(call->args);
	if (!IsA(unit, Const) || unit->constisnull ||
		pg_strcasecmp(TextDatumGetCString(unit->constvalue), "year") != 0)
		return NULL;
	return lsecond(call->args);
}
