/*-------------------------------------------------------------------------
 *
 * gapfill_function.c
 *	  The SQL functions, which never run, and how calls of them are known.
 *
 * A call that is executed was not taken apart before planning: it stands where
 * it may not, or the library was not there when the query was planned.
 *
 * src/gapfill/gapfill_function.c
 *-------------------------------------------------------------------------
 */
#include "gapfill/gapfill_private.h"

#include <ctype.h>

#include "catalog/pg_collation.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(strata_gapfill_bucket);
PG_FUNCTION_INFO_V1(strata_gapfill_locf);
PG_FUNCTION_INFO_V1(strata_gapfill_interpolate);
PG_FUNCTION_INFO_V1(strata_gapfill_bound);

Datum
strata_gapfill_bucket(PG_FUNCTION_ARGS)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("no top level time_bucket_gapfill in group by clause"),
			 errdetail("time_bucket_gapfill must be an expression of GROUP BY, and no part of a larger one."),
			 errhint("If it is, the library was not loaded when the query was planned: add strata to shared_preload_libraries, or call LOAD 'strata' first.")));
	PG_RETURN_NULL();
}

Datum
strata_gapfill_locf(PG_FUNCTION_ARGS)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("locf must be used in the SELECT list of a query that groups by time_bucket_gapfill")));
	PG_RETURN_NULL();
}

Datum
strata_gapfill_interpolate(PG_FUNCTION_ARGS)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("interpolate must be used in the SELECT list of a query that groups by time_bucket_gapfill")));
	PG_RETURN_NULL();
}

/*
 * See gapfill_private.h.  By C symbol: nobody's function of that name is
 * mistaken.
 */
GapfillFunction
strata_gapfill_function(Oid funcid)
{
	HeapTuple	tuple;
	GapfillFunction result = GAPFILL_NONE;

	if (funcid < FirstNormalObjectId)
		return GAPFILL_NONE;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));
	if (!HeapTupleIsValid(tuple))
		return GAPFILL_NONE;
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId)
	{
		bool		isnull;
		Datum		source = SysCacheGetAttr(PROCOID, tuple,
											 Anum_pg_proc_prosrc, &isnull);
		char	   *symbol = isnull ? "" : TextDatumGetCString(source);

		if (strcmp(symbol, "strata_gapfill_bucket") == 0)
			result = GAPFILL_BUCKET;
		else if (strcmp(symbol, "strata_gapfill_locf") == 0)
			result = GAPFILL_LOCF;
		else if (strcmp(symbol, "strata_gapfill_interpolate") == 0)
			result = GAPFILL_INTERPOLATE;
	}
	ReleaseSysCache(tuple);
	return result;
}

/* See gapfill_private.h. */
GapfillFunction
strata_gapfill_node(const Node *node)
{
	return node != NULL && IsA(node, FuncExpr) ?
		strata_gapfill_function(((const FuncExpr *) node)->funcid) :
		GAPFILL_NONE;
}

/*
 * time_bucket_gapfill('1 day', time, '2026-01-01', '2026-02-01'): PostgreSQL
 * prefers text for a literal, and so the function with a time zone.  No time
 * zone begins with a digit, so what does is meant as start.
 */
static void
correct_literal(FuncExpr *call)
{
	Const	   *zone =
	list_length(call->args) == 5 ? lthird(call->args) : NULL;
	Const	   *last = zone != NULL ? list_nth(call->args, 4) : NULL;
	char	   *literal;
	Datum		start;

	if (zone == NULL || !IsA(zone, Const))
		return;
	if (zone->constisnull)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid time_bucket_gapfill argument: timezone cannot be NULL")));
	literal = TextDatumGetCString(zone->constvalue);
	if (!isdigit((unsigned char) literal[0]) || !IsA(last, Const) ||
		!last->constisnull)
		return;
	start = DirectFunctionCall3(timestamptz_in, CStringGetDatum(literal),
								ObjectIdGetDatum(InvalidOid),
								Int32GetDatum(-1));
	lfirst(list_nth_cell(call->args, 4)) = list_nth(call->args, 3);
	lfirst(list_nth_cell(call->args,
						 3)) = makeConst(TIMESTAMPTZOID, -1, InvalidOid,
										 sizeof(TimestampTz), start, false,
										 FLOAT8PASSBYVAL);
	lfirst(list_nth_cell(call->args,
						 2)) = makeNullConst(TEXTOID, -1,
											 DEFAULT_COLLATION_OID);
}

/* See gapfill_private.h. */
FuncExpr *
strata_gapfill_complete(const FuncExpr *call)
{
	FuncExpr   *result = copyObject(unconstify(FuncExpr *, call));
	HeapTuple	tuple = SearchSysCache1(PROCOID,
										ObjectIdGetDatum(call->funcid));

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", call->funcid);
	result->args = expand_function_arguments(result->args, false,
											 result->funcresulttype, tuple);
	ReleaseSysCache(tuple);
	if (strata_gapfill_function(call->funcid) == GAPFILL_BUCKET)
		correct_literal(result);
	return result;
}

/* See gapfill_private.h. */
void
strata_gapfill_call_get(const FuncExpr *func, GapfillCall *call)
{
	bool		zoned = list_length(func->args) == 5;

	call->type = func->funcresulttype;
	call->width = linitial(func->args);
	call->time = lsecond(func->args);
	call->zone = zoned ? lthird(func->args) : NULL;
	call->start = list_nth(func->args, zoned ? 3 : 2);
	call->finish = list_nth(func->args, zoned ? 4 : 3);
	if (zoned && IsA(call->zone, Const) && ((Const *) call->zone)->constisnull)
		call->zone = NULL;
}

/*-------------------------------------------------------------------------
 * Bounds out of WHERE
 *-------------------------------------------------------------------------
 */

/*
 * A date or timestamp as microseconds, compared with times of the type `as`.
 */
static int64
microseconds(Datum value, Oid type, Oid as)
{
	bool		zone = type == TIMESTAMPTZOID;
	bool		as_zone = as == TIMESTAMPTZOID;

	if (type == DATEOID)
		return DatumGetTimestamp(DirectFunctionCall1(as_zone ?
													 date_timestamptz :
													 date_timestamp,
													 value));
	if (zone && !as_zone)
		value = DirectFunctionCall1(timestamptz_timestamp, value);
	else if (!zone && as_zone)
		value = DirectFunctionCall1(timestamp_timestamptz, value);
	return DatumGetTimestamp(value);
}

/*
 * _strata.gapfill_bound(NULL::type, value, after): the first time of the type
 * that is >= value, or (after) > value; infinite for an infinite value.
 */
Datum
strata_gapfill_bound(PG_FUNCTION_ARGS)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, 0);
	Oid			value_type = get_fn_expr_argtype(fcinfo->flinfo, 1);
	bool		after;
	int64		value,
				result;
	StrataBucket limits;

	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	after = PG_GETARG_BOOL(2);
	if (!strata_bucket_type(type) || !strata_bucket_type(value_type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("gapfill_bound() does not take these types")));
	if (type != DATEOID && type != TIMESTAMPOID && type != TIMESTAMPTZOID)
	{
		strata_bucket_init(&limits, type, strata_bucket_datum(type, 1));
		result = value = strata_bucket_get(value_type, PG_GETARG_DATUM(1));
		if (after && value < PG_INT64_MAX)
			result++;
		if (result < limits.min || result > limits.max ||
			(after && result == value))
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("%s out of range", format_type_be(type))));
		return strata_bucket_datum(type, result);
	}
	value = microseconds(PG_GETARG_DATUM(1), value_type, type);
	if (TIMESTAMP_NOT_FINITE(value))
		return type != DATEOID ?
			TimestampGetDatum(value) :
			DateADTGetDatum(value == DT_NOBEGIN ? DATEVAL_NOBEGIN :
							DATEVAL_NOEND);
	if (type == DATEOID)
	{
		int64		rest = value % USECS_PER_DAY;

		result = value / USECS_PER_DAY - (rest < 0);
		if (rest != 0 || after)
			result++;
		return DateADTGetDatum((DateADT) result);
	}
	return TimestampGetDatum(value + after);
}
