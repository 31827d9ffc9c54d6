/*-------------------------------------------------------------------------
 *
 * now_shift.c
 *	  Expressions of now(): some time before or after it.
 *
 * Conditions on a time that goes on are made of them.  Two folders ask:
 * pruning at plan time wants what grows with now(), and filters want what
 * raises no error.
 *
 * src/time/now_shift.c
 *-------------------------------------------------------------------------
 */
#include "time/time_private.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "nodes/primnodes.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

/* So many years before and after now every type has times. */
#define MAX_YEARS 4000

/* now(), and nothing else. */
static bool
is_now(Node *node)
{
	if (IsA(node, FuncExpr))
	{
		Oid			function = ((FuncExpr *) node)->funcid;

		/* transaction_timestamp() is the same function under another name */
		return ((FuncExpr *) node)->args == NIL &&
			get_func_rettype(function) == TIMESTAMPTZOID &&
			(function == F_NOW || function == F_TRANSACTION_TIMESTAMP);
	}
	if (!IsA(node, SQLValueFunction))
		return false;
	switch (((SQLValueFunction *) node)->op)
	{
		case SVFOP_CURRENT_TIMESTAMP:
		case SVFOP_LOCALTIMESTAMP:
		case SVFOP_CURRENT_DATE:
			return true;
		default:
			return false;
	}
}

/*
 * Functions that grow with their first argument, but for days, months and the
 * time zone.
 */
static bool
is_monotone(Oid function)
{
	switch (function)
	{
		case F_TIMESTAMPTZ_MI_INTERVAL:
		case F_TIMESTAMPTZ_PL_INTERVAL:
		case F_TIMESTAMP_MI_INTERVAL:
		case F_TIMESTAMP_PL_INTERVAL:
		case F_DATE_MI_INTERVAL:
		case F_DATE_PL_INTERVAL:
		case F_DATE_MII:
		case F_DATE_PLI:
		case F_DATE_TIMESTAMPTZ:
		case F_DATE_TIMESTAMP:
		case F_TIMESTAMP_TIMESTAMPTZ:
		case F_TIMESTAMP_DATE:
		case F_TIMESTAMPTZ_DATE:
		case F_TIMESTAMPTZ_TIMESTAMP:
			return true;
		default:
			return false;
	}
}

/*
 * A length that may be added or subtracted, with those before it; further from
 * now sums overflow: these are left to the executor.
 */
static bool
read_length(Node *node, StrataNowLengths *lengths)
{
	Const	   *length = (Const *) node;
	Interval	interval = {0};

	if (!IsA(node, Const) || length->constisnull)
		return false;
	if (length->consttype == INT4OID)
		interval.day = DatumGetInt32(length->constvalue);
	else if (length->consttype == INTERVALOID)
	{
		interval = *DatumGetIntervalP(length->constvalue);
		lengths->ndays += interval.day != 0;
		lengths->nmonths += interval.month != 0;
	}
	else
		return false;
	lengths->years += 1 + fabs((double) interval.month) / 12 +
		fabs((double) interval.day) / 365 +
		fabs((double) interval.time) / USECS_PER_DAY / 365;
	return lengths->years <= MAX_YEARS;
}

/* See time.h. */
bool
strata_time_is_of_now(Node *node, StrataNowLengths *lengths)
{
	List	   *args;
	Oid			function;

	if (is_now(node))
		return true;
	if (IsA(node, OpExpr))
	{
		/* opfuncid is not set in all queries that come here */
		function = get_opcode(((OpExpr *) node)->opno);
		args = ((OpExpr *) node)->args;
	}
	else if (IsA(node, FuncExpr))
	{
		function = ((FuncExpr *) node)->funcid;
		args = ((FuncExpr *) node)->args;
	}
	else
		return false;
	if (function == F_DATE_TRUNC_TEXT_TIMESTAMPTZ ||
		function == F_DATE_TRUNC_TEXT_TIMESTAMP)
	{
		int64		length = strata_time_unit_length(linitial(args));

		lengths->years += 1;
		lengths->truncated += length + STRATA_OFFSETS_APART;
		return length > 0 && strata_time_is_of_now(lsecond(args), lengths);
	}
	if (!is_monotone(function) ||
		!strata_time_is_of_now(linitial(args), lengths))
		return false;
	return list_length(args) == 1 || read_length(lsecond(args), lengths);
}
