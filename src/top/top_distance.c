/*-------------------------------------------------------------------------
 *
 * top_distance.c
 *	  A first key that is a distance: "column <-> value".
 *
 * Its values are computed of the column's, and bounds of batches come from a
 * GiST index of the table (scan_nearest.c) as floats.  Index and operator may
 * differ in how they round, so a bound gives way a little.
 *
 * src/top/top_distance.c
 *-------------------------------------------------------------------------
 */
#include "top/top_private.h"

#include <float.h>
#include <math.h>

#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

/* Of a distance, by which a bound gives way; floats of 4 bytes: the other. */
#define ROUNDING 1e-9
#define ROUNDING_FLOAT4 1e-5

/* Longer than from any time to any other. */
#define INFINITE_SECONDS 1e14

/*-------------------------------------------------------------------------
 * Planning
 *-------------------------------------------------------------------------
 */

/* Can bounds be given for distances of the type? */
static bool
is_bounded_type(Oid type)
{
	return type == FLOAT8OID || type == FLOAT4OID || type == INT2OID ||
		type == INT4OID || type == INT8OID || type == INTERVALOID;
}

/* See top_private.h. */
bool
strata_top_match_distance(Expr *expr, const SortGroupClause *clause,
						  Index relid, StrataTopDistancePlan *plan)
{
	const OpExpr *op = (OpExpr *) expr;
	Oid			type = exprType((Node *) expr);
	Node	   *value;
	Oid			function;

	if (!IsA(expr, OpExpr) || list_length(op->args) != 2 ||
		!is_bounded_type(type) || clause->nulls_first ||
		clause->sortop != lookup_type_cache(type, TYPECACHE_LT_OPR)->lt_opr)
		return false;
	plan->column = strata_match_column(linitial(op->args), relid);
	plan->commuted = plan->column == NULL;
	if (plan->commuted)
		plan->column = strata_match_column(lsecond(op->args), relid);
	value = plan->commuted ? linitial(op->args) : lsecond(op->args);
	plan->opno = plan->commuted ? get_commutator(op->opno) : op->opno;
	function = get_opcode(op->opno);
	if (plan->column == NULL || !OidIsValid(plan->opno) ||
		!func_strict(function) ||
		func_volatile(function) == PROVOLATILE_VOLATILE ||
		contain_var_clause(value) || contain_subplans(value) ||
		contain_volatile_functions(value))
		return false;
	plan->value = (Expr *) value;
	plan->expr = expr;
	return true;
}

/* See top_private.h. */
bool
strata_top_table_has_distances(Oid relid, const StrataTopDistancePlan *plan,
							   const Var *column)
{
	Relation	rel = table_open(relid, NoLock);
	bool		has = strata_scan_has_distances(rel, column->varattno,
												plan->opno,
												exprInputCollation((Node *)
																   plan->expr));

	table_close(rel, NoLock);
	return has;
}

/*-------------------------------------------------------------------------
 * Values
 *-------------------------------------------------------------------------
 */

/* See top_private.h. */
StrataTopDistance *
strata_top_distance_create(StrataTopState *top, AttrNumber input,
						   const OpExpr *op, bool commuted, Expr *value)
{
	StrataTopDistance *distance = palloc0(sizeof(StrataTopDistance));

	distance->input = input;
	distance->commuted = commuted;
	distance->opno = commuted ? get_commutator(op->opno) : op->opno;
	distance->collation = op->inputcollid;
	distance->type = op->opresulttype;
	fmgr_info(get_opcode(op->opno), &distance->function);
	distance->expr = ExecInitExpr(value, &top->css.ss.ps);
	get_typlenbyval(exprType((Node *) value), &distance->typlen,
					&distance->typbyval);
	distance->mcxt = AllocSetContextCreate(CurrentMemoryContext,
										   "StrataTop value",
										   ALLOCSET_SMALL_SIZES);
	distance->work = AllocSetContextCreate(CurrentMemoryContext,
										   "StrataTop distances",
										   ALLOCSET_SMALL_SIZES);
	return distance;
}

/* See top_private.h. */
void
strata_top_distance_start(StrataTopState *top)
{
	StrataTopDistance *distance = top->distance;
	ExprContext *econtext = top->css.ss.ps.ps_ExprContext;
	MemoryContext old;

	if (distance == NULL)
		return;
	MemoryContextReset(distance->mcxt);
	old = MemoryContextSwitchTo(distance->mcxt);
	distance->value = ExecEvalExpr(distance->expr, econtext,
								   &distance->isnull);
	/* out of line or compressed, it would be read again for each row */
	if (!distance->isnull && distance->typlen == -1)
		distance->value =
			PointerGetDatum(PG_DETOAST_DATUM_COPY(distance->value));
	MemoryContextSwitchTo(old);
}

/* See top_private.h. */
void
strata_top_distance_of(StrataTopState *top, Datum column, bool isnull,
					   Datum *result, bool *result_isnull)
{
	StrataTopDistance *distance = top->distance;
	MemoryContext old = MemoryContextSwitchTo(distance->work);

	LOCAL_FCINFO(fcinfo, 2);

	*result = (Datum) 0;
	*result_isnull = isnull || distance->isnull;
	if (!*result_isnull)
	{
		InitFunctionCallInfoData(*fcinfo, &distance->function, 2,
								 distance->collation, NULL, NULL);
		fcinfo->args[0].value = distance->commuted ? distance->value : column;
		fcinfo->args[1].value = distance->commuted ? column : distance->value;
		fcinfo->args[0].isnull = fcinfo->args[1].isnull = false;
		*result = FunctionCallInvoke(fcinfo);
		*result_isnull = fcinfo->isnull;
	}
	MemoryContextSwitchTo(old);
}

/*-------------------------------------------------------------------------
 * Bounds
 *-------------------------------------------------------------------------
 */

/* A distance less (or more) what rounding may have done to it. */
static double
give_way(const StrataTopDistance *distance, double value, double direction)
{
	double		rounding = distance->type == FLOAT4OID ? ROUNDING_FLOAT4 :
	ROUNDING;

	return isinf(value) ? value :
		value + direction * (fabs(value) * rounding + DBL_MIN);
}

/* The greatest integer of n bits that is not above value. */
static int64
floor_to(double value, int bits)
{
	double		end = ldexp(1, bits - 1);

	if (value >= end)
		return (int64) ((UINT64CONST(1) << (bits - 1)) - 1);
	if (value < -end)
		return -(int64) ((UINT64CONST(1) << (bits - 1)) - 1) - 1;
	return (int64) floor(value);
}

/* See top_private.h. */
bool
strata_top_distance_bound(StrataTopState *top, double least, TopValue *bound)
{
	StrataTopDistance *distance = top->distance;
	double		value = give_way(distance, least, -1);
	Interval   *interval;
	Datum		datum;

	if (isinf(value) && value < 0)
		return false;
	switch (distance->type)
	{
		case FLOAT8OID:
			datum = Float8GetDatum(value);
			break;
		case FLOAT4OID:
			if (fabs(value) > FLT_MAX)
				return false;
			datum = Float4GetDatum((float4) value);
			break;
		case INT2OID:
			datum = Int16GetDatum((int16) floor_to(value, 16));
			break;
		case INT4OID:
			datum = Int32GetDatum((int32) floor_to(value, 32));
			break;
		case INT8OID:
			datum = Int64GetDatum(floor_to(value, 64));
			break;
		default:
			Assert(distance->type == INTERVALOID);	/* top:N7 */
			interval = MemoryContextAllocZero(top->list_mcxt,
											  sizeof(Interval));
			interval->time = floor_to(value * USECS_PER_SEC, 63);
			datum = IntervalPGetDatum(interval);
			break;
	}
	strata_top_value(&top->keys[0], datum, false, bound);
	return true;
}

/* See top_private.h. */
double
strata_top_distance_limit(StrataTopState *top)
{
	const TopValue *worst = top->heap.values;
	const Interval *interval;
	double		value;

	if (!strata_top_heap_is_full(&top->heap) || worst->isnull)
		return get_float8_infinity();
	switch (top->distance->type)
	{
		case FLOAT8OID:
			value = DatumGetFloat8(worst->value);
			break;
		case FLOAT4OID:
			value = DatumGetFloat4(worst->value);
			break;
		case INT2OID:
			value = DatumGetInt16(worst->value);
			break;
		case INT4OID:
			value = DatumGetInt32(worst->value);
			break;
		case INT8OID:
			value = (double) DatumGetInt64(worst->value);
			break;
		default:
			Assert(top->distance->type == INTERVALOID); /* top:N7 */
			interval = DatumGetIntervalP(worst->value);
			value = interval->time / (double) USECS_PER_SEC +
				interval->day * (double) SECS_PER_DAY +
				interval->month * (double) (DAYS_PER_MONTH * SECS_PER_DAY);
			/* the greatest interval stands for one without an end */
			if (value > INFINITE_SECONDS)
				value = get_float8_infinity();
			break;
	}
	return isnan(value) ? get_float8_infinity() :
		give_way(top->distance, value, 1);
}
