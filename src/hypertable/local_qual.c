/*-------------------------------------------------------------------------
 *
 * local_qual.c
 *	  Conditions on dates and local times of a hypertable's time prune chunks.
 *
 * ts::date = '2026-01-10', date_trunc('day', ts) >= current_date, extract(year
 * FROM ts) = 2026: nothing prunes by them, so every chunk is read.  Beside
 * them we put what they imply for the column (src/time/local_bound.c):
 *
 *	- comparisons with constants, which prune while the query is planned.
 *	  Where the session's time zone takes part they allow for all zones, since
 *	  the plan may be kept and run under another one;
 *	- then, and where the value is one of now(), comparisons with an
 *	  expression, which the executor evaluates when the query starts: under
 *	  the zone of then, but for changes of the clock.
 *
 * What is added raises no error: values are some thousand years from now at
 * most, and are not parameters of a generic plan.
 *
 * src/hypertable/local_qual.c
 *-------------------------------------------------------------------------
 */
#include "hypertable/hypertable_private.h"
#include "time/time.h"

#include <math.h>

#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

/* `of` is compared with `value`, or equals an element of it. */
typedef struct LocalComparison
{
	Node	   *of;
	Node	   *value;
	int			strategy;
	bool		elements;
	ParamListInfo params;
} LocalComparison;

static bool
is_users_function(Oid function, void *context)
{
	return function >= FirstNormalObjectId;
}

static bool
calls_users_function(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (check_functions_in_node(node, is_users_function, NULL))
		return true;
	return expression_tree_walker(node, calls_users_function, context);
}

/* The constant that the planner will make of the node; or NULL. */
static Const *
constant_of(Node *node, ParamListInfo params)
{
	PlannerInfo root = {.type = T_PlannerInfo};
	PlannerGlobal planner = {.type = T_PlannerGlobal};
	Const	   *value;

	/* a plan does not depend on functions of the server's */
	if (!IsA(node, Const) && calls_users_function(node, NULL))
		return NULL;
	planner.boundParams = params;
	root.glob = &planner;
	value = (Const *) eval_const_expressions(&root, copyObject(node));
	return IsA(value, Const) && !value->constisnull ? value : NULL;
}

/* A time on the axis; false: it is infinite, or very far from now. */
static bool
known_time(Oid type, Datum value, int64 *time)
{
	*time = strata_time_from_datum(type, value);
	if (*time == PG_INT64_MIN || *time == PG_INT64_MAX)
		return false;
	if (type == DATEOID)
	{
		if (fabs((double) *time) > STRATA_BOUND_YEARS * 366)
			return false;
		*time *= USECS_PER_DAY;
	}
	return fabs((double) *time) <= STRATA_BOUND_FURTHEST;
}

/* The least and the greatest of the times in an array. */
static bool
ends_of_array(Const *array, StrataLocalBound *bound)
{
	ArrayType  *values = DatumGetArrayTypeP(array->constvalue);
	Oid			type = ARR_ELEMTYPE(values);
	int16		len;
	bool		byval;
	char		align;
	Datum	   *elements;
	bool	   *isnull;
	int			n;
	bool		any = false;

	if (!strata_time_is_local_type(type))
		return false;
	get_typlenbyvalalign(type, &len, &byval, &align);
	deconstruct_array(values, type, len, byval, align, &elements, &isnull, &n);
	for (int i = 0; i < n; i++)
	{
		int64		time;

		if (isnull[i])
			continue;
		if (!known_time(type, elements[i], &time))
			return false;
		bound->least = any ? Min(bound->least, time) : time;
		bound->most = any ? Max(bound->most, time) : time;
		any = true;
	}
	return any;
}

/* Midnight of the first of January. */
static int64
year_begins(int year)
{
	return (date2j(year, 1, 1) - POSTGRES_EPOCH_JDATE) * USECS_PER_DAY;
}

/* The years that a number is compared with. */
static bool
years_of(const Const *value, int strategy, StrataLocalBound *bound)
{
	double		year;

	if (value->consttype == NUMERICOID)
		year = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
												  value->constvalue));
	else if (value->consttype == FLOAT8OID)
		year = DatumGetFloat8(value->constvalue);
	else
		return false;
	if (!(year >= 1 && year <= STRATA_BOUND_YEARS) ||
		(strategy == BTEqualStrategyNumber && year != (int) year))
		return false;
	bound->least = year_begins((int) year);
	bound->most = year_begins((int) year + 1) - 1;
	return true;
}

/* The comparison, whichever side the column is on. */
static bool
match_local(Node *qual, LocalComparison *comparison)
{
	List	   *args;
	Oid			opno;
	bool		swapped;
	TypeCacheEntry *entry;

	comparison->elements = IsA(qual, ScalarArrayOpExpr);
	if (IsA(qual, OpExpr))
	{
		args = ((OpExpr *) qual)->args;
		opno = ((OpExpr *) qual)->opno;
	}
	else if (comparison->elements && ((ScalarArrayOpExpr *) qual)->useOr)
	{
		args = ((ScalarArrayOpExpr *) qual)->args;
		opno = ((ScalarArrayOpExpr *) qual)->opno;
	}
	else
		return false;
	if (list_length(args) != 2)
		return false;
	swapped = !comparison->elements &&
		(IsA(lsecond(args), FuncExpr) || IsA(lsecond(args), OpExpr)) &&
		contain_var_clause(lsecond(args));
	comparison->of = swapped ? lsecond(args) : linitial(args);
	comparison->value = swapped ? linitial(args) : lsecond(args);
	if (swapped)
		opno = get_commutator(opno);
	if (!(IsA(comparison->of, FuncExpr) || IsA(comparison->of, OpExpr)) ||
		!OidIsValid(opno))
		return false;
	entry = lookup_type_cache(exprType(comparison->of),
							  TYPECACHE_BTREE_OPFAMILY);
	comparison->strategy = OidIsValid(entry->btree_opf) ?
		get_op_opfamily_strategy(opno, entry->btree_opf) : 0;
	return comparison->strategy != 0 &&
		(!comparison->elements ||
		 comparison->strategy == BTEqualStrategyNumber);
}

/* The bounds on the axis of the comparison's value, if that is a constant. */
static bool
value_bounds(const LocalComparison *comparison, const Const *value,
			 StrataLocalBound *bound)
{
	if (comparison->elements)
		return ends_of_array((Const *) value, bound);
	if (!strata_time_is_local_type(value->consttype) ||
		!known_time(value->consttype, value->constvalue, &bound->least))
		return false;
	/* dates are whole days */
	if (value->consttype == DATEOID && exprType(comparison->of) == DATEOID)
	{
		if (comparison->strategy == BTLessStrategyNumber)
			bound->least -= USECS_PER_DAY;
		else if (comparison->strategy == BTGreaterStrategyNumber)
			bound->least += USECS_PER_DAY;
	}
	bound->most = bound->least;
	return true;
}

/* The operator of two values of a type. */
static Node *
bound_qual(const StrataLocalBound *bound, int strategy, Node *value)
{
	Oid			type = bound->var->vartype;
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY);
	Node	   *qual;

	qual = (Node *)
		make_opclause(get_opfamily_member(entry->btree_opf, type, type,
										  strategy),
					  BOOLOID, false,
					  (Expr *) copyObject(bound->var), (Expr *) value,
					  InvalidOid, InvalidOid);
	set_opfuncid((OpExpr *) qual);
	return qual;
}

static Node *
time_constant(Oid type, int64 time)
{
	if (type == DATEOID)
		time = time / USECS_PER_DAY - (time % USECS_PER_DAY < 0);
	return (Node *) makeConst(type, -1, InvalidOid, get_typlen(type),
							  strata_time_to_datum(type, time), false,
							  get_typbyval(type));
}

static Node *
call(Oid function, Oid type, List *args)
{
	return (Node *) makeFuncExpr(function, type, args, InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

/* The time plus a length, which is a plain number of microseconds. */
static Node *
plus(Node *value, int64 length)
{
	Interval   *interval;
	Oid			type = exprType(value);

	if (length == 0)
		return value;
	interval = palloc0(sizeof(Interval));
	interval->time = length;
	return call(type == TIMESTAMPTZOID ? F_TIMESTAMPTZ_PL_INTERVAL :
				F_TIMESTAMP_PL_INTERVAL, type,
				list_make2(value,
						   makeConst(INTERVALOID, -1, InvalidOid,
									 sizeof(Interval),
									 IntervalPGetDatum(interval), false,
									 false)));
}

/* A timestamp, with time zone or without, as another type of time. */
static Node *
cast_to(Oid type, Node *value)
{
	bool		zoned = exprType(value) == TIMESTAMPTZOID;

	switch (type)
	{
		case DATEOID:
			return call(zoned ? F_DATE_TIMESTAMPTZ : F_DATE_TIMESTAMP, type,
						list_make1(value));
		case TIMESTAMPOID:
			return zoned ?
				call(F_TIMESTAMP_TIMESTAMPTZ, type, list_make1(value)) :
				value;
		default:
			return zoned ? value :
				call(F_TIMESTAMPTZ_TIMESTAMP, type, list_make1(value));
	}
}

static bool
bounds_below(int strategy)
{
	return strategy >= BTEqualStrategyNumber;
}

static bool
bounds_above(int strategy)
{
	return strategy <= BTEqualStrategyNumber;
}

/*
 * Comparisons with what the executor evaluates: least and most are times (or
 * one of now()) that the session's zone moves once more.
 */
static List *
compare_at_start(const StrataLocalBound *bound, int strategy, Node *least,
				 Node *most)
{
	Oid			type = bound->var->vartype;
	List	   *result = NIL;

	Assert(bound->shifts <= 1); /* hypertable:Y16 */
	if (bounds_below(strategy))
		result = lappend(result,
						 bound_qual(bound, BTGreaterEqualStrategyNumber,
									cast_to(type, least)));
	if (bounds_above(strategy))
		result = lappend(result,
						 bound_qual(bound, BTLessEqualStrategyNumber,
									cast_to(type, most)));
	return result;
}

/* What a comparison with constants implies. */
static List *
implied_by_constants(const StrataLocalBound *bound, int strategy)
{
	Oid			type = bound->var->vartype;
	int64		slack = bound->shifts * STRATA_ZONE_FURTHEST;
	Oid			shown = type == TIMESTAMPTZOID ? TIMESTAMPOID : TIMESTAMPTZOID;
	List	   *result = NIL;

	if (bounds_below(strategy))
		result = lappend(result,
						 bound_qual(bound, BTGreaterEqualStrategyNumber,
									time_constant(type, bound->least - slack)));
	if (bounds_above(strategy))
		result = lappend(result,
						 bound_qual(bound, BTLessEqualStrategyNumber,
									time_constant(type, bound->most + slack)));
	if (!bound->direct)
		return result;
	return list_concat(result,
					   compare_at_start(bound, strategy,
										time_constant(shown, bound->least -
													  STRATA_OFFSETS_APART),
										time_constant(shown, bound->most +
													  STRATA_OFFSETS_APART)));
}

/* What a comparison with an expression of now() implies. */
static List *
implied_by_now(const LocalComparison *comparison,
			   const StrataLocalBound *bound)
{
	Oid			type = exprType(comparison->value);
	StrataNowLengths lengths = {0};
	int64		apart = 0;
	List	   *result = NIL;
	Node	   *value;
	Datum		present;
	int64		time;

	if (!strata_time_is_local_type(type) ||
		!strata_time_is_of_now(comparison->value, &lengths) ||
		lengths.years > STRATA_BOUND_YEARS / 2 ||
		fabs((double) bound->least) > STRATA_BOUND_FURTHEST / 4 ||
		fabs((double) bound->most) > STRATA_BOUND_FURTHEST / 4)
		return NIL;
	if (bounds_below(comparison->strategy) &&
		strata_now_least_value(comparison->value, type, &present) &&
		known_time(type, present, &time))
	{
		time += bound->least - bound->shifts * STRATA_ZONE_FURTHEST;
		result = list_make1(bound_qual(bound, BTGreaterEqualStrategyNumber,
									   time_constant(bound->var->vartype, time)));
	}
	if (bound->shifts > 0 && !bound->direct)
		return result;
	/* the cast from one to the other is the session's */
	if (bound->shifts > 0)
		apart = STRATA_OFFSETS_APART;
	else if ((type == TIMESTAMPTZOID) !=
			 (bound->var->vartype == TIMESTAMPTZOID))
		apart = STRATA_ZONE_FURTHEST;
	value = comparison->value;
	if (type == DATEOID)
		value = call(F_TIMESTAMP_DATE, TIMESTAMPOID, list_make1(value));
	return list_concat(result,
					   compare_at_start(bound, comparison->strategy,
										plus(copyObject(value),
											 bound->least - apart),
										plus(copyObject(value),
											 bound->most + apart)));
}

/* See hypertable_private.h. */
List *
strata_local_implied(Node *qual, Query *query, ParamListInfo params)
{
	LocalComparison comparison = {.params = params};
	StrataLocalBound bound = {.known = true};
	Const	   *value;
	Node	   *of;
	Node	   *year;

	if (!match_local(qual, &comparison) ||
		contain_var_clause(comparison.value) ||
		contain_volatile_functions(comparison.value) ||
		checkExprHasSubLink(comparison.value))
		return NIL;
	of = comparison.of;
	year = strata_time_year_of(of);
	if (year == NULL && !strata_time_is_local_type(exprType(of)))
		return NIL;
	value = constant_of(comparison.value, params);
	if (year != NULL)
	{
		if (value == NULL || comparison.elements ||
			!years_of(value, comparison.strategy, &bound))
			return NIL;
		of = year;
		bound.shifts = exprType(of) == TIMESTAMPTZOID;
	}
	else
	{
		Oid			type = exprType(comparison.value);

		if (comparison.elements)
			type = get_element_type(type);
		bound.known = value != NULL;
		if (bound.known && !value_bounds(&comparison, value, &bound))
			return NIL;
		/* compared across types, by the session's zone */
		bound.shifts = (exprType(of) == TIMESTAMPTZOID) !=
			(type == TIMESTAMPTZOID);
	}
	if (!strata_time_bound(of, &bound) ||
		!strata_is_time_column(bound.var, query))
		return NIL;
	return bound.known ? implied_by_constants(&bound, comparison.strategy) :
		implied_by_now(&comparison, &bound);
}
