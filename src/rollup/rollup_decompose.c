/*-------------------------------------------------------------------------
 *
 * rollup_decompose.c
 *	  How an aggregate is kept: which of it is known to combine.
 *
 * An aggregate is kept as values that combine: sum and count for an average,
 * each in a column of its own type, shared by all aggregates that need it.
 * Sums of floats may then be added in another order, as by a parallel plan.
 * Deviations of integers and numerics have the sum of squares besides.
 * Deviations and regressions of floats are kept as PostgreSQL's own state, an
 * array; first() and last() as their value beside the time of it.  Aggregates
 * that do not combine, or not exactly, are kept as their value, which is good
 * for buckets of just this width.
 *
 * src/rollup/rollup_decompose.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "rollup/rollup_decompose_private.h"
#include "rollup/rollup_private.h"

#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_func.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

static Oid
catalog_aggregate(const char *name, Oid type)
{
	return LookupFuncName(list_make2(makeString("pg_catalog"),
									 makeString(pstrdup(name))),
						  1, &type, false);
}

/* One of ours, in the extension's own schema. */
static Oid
internal_aggregate(const char *name, int nargs, Oid type)
{
	Oid			types[2] = {type, type};

	return LookupFuncName(list_make2(makeString(STRATA_INTERNAL_SCHEMA),
									 makeString(pstrdup(name))),
						  nargs, types, false);
}

/* How are deviations and regressions kept: aggregate of ours, its arguments. */
static const char *
state_aggregate(Oid aggregate, int *nargs)
{
	*nargs = 1;
	switch (aggregate)
	{
		case F_VARIANCE_FLOAT4:
		case F_VARIANCE_FLOAT8:
		case F_VAR_SAMP_FLOAT4:
		case F_VAR_SAMP_FLOAT8:
		case F_VAR_POP_FLOAT4:
		case F_VAR_POP_FLOAT8:
		case F_STDDEV_FLOAT4:
		case F_STDDEV_FLOAT8:
		case F_STDDEV_SAMP_FLOAT4:
		case F_STDDEV_SAMP_FLOAT8:
		case F_STDDEV_POP_FLOAT4:
		case F_STDDEV_POP_FLOAT8:
			return "deviation_state";
		case F_REGR_SXX:
		case F_REGR_SYY:
		case F_REGR_SXY:
		case F_REGR_AVGX:
		case F_REGR_AVGY:
		case F_REGR_R2:
		case F_REGR_SLOPE:
		case F_REGR_INTERCEPT:
		case F_COVAR_POP:
		case F_COVAR_SAMP:
		case F_CORR:
			*nargs = 2;
			return "regression_state";
		default:
			return NULL;
	}
}

/*
 * Is it a deviation of integers or numerics?  Of a sample, or of all there
 * are; the root of the variance, or that?
 */
static bool
is_deviation(const Aggref *aggref, bool *sample, bool *root)
{
	char	   *name;

	if (aggref->aggtype != NUMERICOID || list_length(aggref->args) != 1 ||
		aggref->aggfnoid >= FirstUnpinnedObjectId)
		return false;
	name = get_func_name(aggref->aggfnoid);
	*root = strncmp(name, "stddev", 6) == 0;
	*sample = strcmp(name, "stddev_pop") != 0 && strcmp(name, "var_pop") != 0;
	return *root || strcmp(name, "variance") == 0 ||
		strcmp(name, "var_samp") == 0 || strcmp(name, "var_pop") == 0;
}

/*
 * Of our first(value, time) and last(value, time): the aggregate of the time
 * that tells which value it is; InvalidOid: it is none of these, or there is
 * no such aggregate of the type.
 */
static Oid
picking_aggregate(const Aggref *aggref)
{
	char	   *name;
	Oid			type;
	Oid			extension = get_extension_oid(STRATA_EXTENSION, true);

	if (list_length(aggref->args) != 2 || !OidIsValid(extension) ||
		getExtensionOfObject(ProcedureRelationId,
							 aggref->aggfnoid) != extension)
		return InvalidOid;
	name = get_func_name(aggref->aggfnoid);
	if (strcmp(name, "first") != 0 && strcmp(name, "last") != 0)
		return InvalidOid;
	type = exprType((Node *) lsecond_node(TargetEntry, aggref->args)->expr);
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT8OID:
		case NUMERICOID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return catalog_aggregate(strcmp(name, "first") == 0 ? "min" :
									 "max", type);
		default:
			return InvalidOid;
	}
}

/* Is it our histogram(), with the same bounds for all rows? */
static bool
is_histogram(const Aggref *aggref)
{
	Oid			extension = get_extension_oid(STRATA_EXTENSION, true);

	for (int i = 1; i < list_length(aggref->args); i++)
	{
		if (contain_var_clause((Node *) list_nth_node(TargetEntry,
													  aggref->args, i)->expr))
			return false;
	}
	return list_length(aggref->args) == 4 && OidIsValid(extension) &&
		getExtensionOfObject(ProcedureRelationId,
							 aggref->aggfnoid) == extension &&
		strcmp(get_func_name(aggref->aggfnoid), "histogram") == 0;
}

/*
 * How to keep the aggregate; sets *combine.  By function: what is not named
 * here is not known to combine exactly.
 */
StrataDecomposition
strata_rollup_decompose(const Aggref *aggref, Oid *combine)
{
	int			nargs;
	bool		sample;
	bool		root;

	*combine = InvalidOid;
	if (aggref->aggkind != AGGKIND_NORMAL || aggref->aggdistinct != NIL ||
		aggref->aggorder != NIL || aggref->aggvariadic)
		return KEEP_VALUE;
	switch (aggref->aggfnoid)
	{
		case F_COUNT_:
		case F_COUNT_ANY:
		case F_REGR_COUNT:
			*combine = F_SUM_INT8;
			return KEEP_COMBINED;
		case F_SUM_INT2:
		case F_SUM_INT4:
			*combine = F_SUM_INT8;
			return KEEP_COMBINED;
		case F_SUM_INT8:
			*combine = F_SUM_NUMERIC;
			return KEEP_COMBINED;
		case F_SUM_NUMERIC:
		case F_SUM_FLOAT4:
		case F_SUM_FLOAT8:
		case F_SUM_INTERVAL:
		case F_SUM_MONEY:
		case F_BOOL_AND:
		case F_BOOL_OR:
		case F_EVERY:
		case F_BIT_AND_INT2:
		case F_BIT_AND_INT4:
		case F_BIT_AND_INT8:
		case F_BIT_OR_INT2:
		case F_BIT_OR_INT4:
		case F_BIT_OR_INT8:
		case F_BIT_XOR_INT2:
		case F_BIT_XOR_INT4:
		case F_BIT_XOR_INT8:
			*combine = aggref->aggfnoid;
			return KEEP_COMBINED;
		case F_AVG_INT2:
		case F_AVG_INT4:
		case F_AVG_INT8:
		case F_AVG_NUMERIC:
		case F_AVG_FLOAT4:
		case F_AVG_FLOAT8:
		case F_AVG_INTERVAL:
			return KEEP_AVERAGE;
		default:
			break;
	}
	if (state_aggregate(aggref->aggfnoid, &nargs) != NULL)
		return KEEP_STATE;
	if (is_deviation(aggref, &sample, &root))
		return KEEP_DEVIATION;
	if (OidIsValid(picking_aggregate(aggref)))
	{
		*combine = aggref->aggfnoid;
		return KEEP_PICK;
	}
	if (is_histogram(aggref))
	{
		*combine = internal_aggregate("histogram_total", 1, INT4ARRAYOID);
		return KEEP_COMBINED;
	}
	/* the least of the least is the least, whatever the type */
	if (strata_aggregate_is_extremum(aggref->aggfnoid) &&
		list_length(aggref->args) == 1 &&
		exprType((Node *) linitial_node(TargetEntry, aggref->args)->expr) ==
		aggref->aggtype)
	{
		*combine = aggref->aggfnoid;
		return KEEP_COMBINED;
	}
	return KEEP_VALUE;
}

/* Is it one of PostgreSQL's own min() and max()? */
bool
strata_aggregate_is_extremum(Oid aggregate)
{
	char	   *name;

	if (aggregate >= FirstUnpinnedObjectId)
		return false;
	name = get_func_name(aggregate);
	return name != NULL && (strcmp(name, "min") == 0 ||
							strcmp(name, "max") == 0);
}

/* An aggregate of one argument over the same rows. */
Aggref *
strata_rollup_make_aggref(Oid aggregate, Expr *arg, Expr *filter,
						  Oid collation)
{
	Aggref	   *aggref = makeNode(Aggref);

	aggref->aggfnoid = aggregate;
	aggref->aggtype = get_func_rettype(aggregate);
	if (IsPolymorphicType(aggref->aggtype))
		aggref->aggtype = exprType((Node *) arg);
	aggref->aggcollid = OidIsValid(get_typcollation(aggref->aggtype)) ?
		collation : InvalidOid;
	aggref->inputcollid = collation;
	aggref->aggargtypes = list_make1_oid(exprType((Node *) arg));
	aggref->args = list_make1(makeTargetEntry(arg, 1, NULL, false));
	aggref->aggfilter = filter;
	aggref->aggkind = AGGKIND_NORMAL;
	aggref->aggsplit = AGGSPLIT_SIMPLE;
	aggref->aggno = -1;
	aggref->aggtransno = -1;
	aggref->location = -1;
	return aggref;
}

/* Sum and count of what is averaged. */
void
strata_rollup_average_partials(const Aggref *aggref, Aggref **sum,
							   Aggref **count)
{
	Expr	   *arg = linitial_node(TargetEntry, aggref->args)->expr;
	Expr	   *summed = arg;
	Oid			type = exprType((Node *) arg);

	/* avg(float4) adds in double precision, sum(float4) does not */
	if (aggref->aggfnoid == F_AVG_FLOAT4)
	{
		type = FLOAT8OID;
		summed = (Expr *) makeFuncExpr(F_FLOAT8_FLOAT4, FLOAT8OID,
									   list_make1(copyObject(arg)), InvalidOid,
									   InvalidOid, COERCE_EXPLICIT_CAST);
	}
	*sum = strata_rollup_make_aggref(catalog_aggregate("sum", type), copyObject(summed),
									 copyObject(aggref->aggfilter), InvalidOid);
	*count = strata_rollup_make_aggref(F_COUNT_ANY, copyObject(arg),
									   copyObject(aggref->aggfilter), InvalidOid);
	(*count)->aggargtypes = list_make1_oid(exprType((Node *) arg));
}

static Expr *
as_numeric(Expr *value)
{
	return (Expr *) coerce_to_target_type(NULL, (Node *) value,
										  exprType((Node *) value),
										  NUMERICOID, -1, COERCION_EXPLICIT,
										  COERCE_EXPLICIT_CAST, -1);
}

/* The sum of squares of integers or numerics. */
Aggref *
strata_rollup_squares_partial(const Aggref *aggref)
{
	Expr	   *arg = linitial_node(TargetEntry, aggref->args)->expr;
	Expr	   *square;

	arg = as_numeric(copyObject(arg));
	square = make_opclause(OpernameGetOprid(list_make2(makeString("pg_catalog"),
													   makeString("*")),
											NUMERICOID, NUMERICOID),
						   NUMERICOID, false, arg, copyObject(arg),
						   InvalidOid, InvalidOid);
	set_opfuncid((OpExpr *) square);
	return strata_rollup_make_aggref(F_SUM_NUMERIC, square,
									 copyObject(aggref->aggfilter),
									 InvalidOid);
}

/* The deviation out of the three. */
Expr *
strata_rollup_deviation_value(const Aggref *aggref, Expr *sum, Expr *count,
							  Expr *squares)
{
	Oid			types[] = {INT8OID, NUMERICOID, NUMERICOID, BOOLOID, BOOLOID};
	bool		sample = false;
	bool		root = false;
	Oid			function;

	(void) is_deviation(aggref, &sample, &root);
	function = LookupFuncName(list_make2(makeString(STRATA_INTERNAL_SCHEMA),
										 makeString("numeric_deviation")),
							  lengthof(types), types, false);
	return (Expr *) makeFuncExpr(function, NUMERICOID,
								 list_make5(count, as_numeric(sum), squares,
											makeBoolConst(sample, false),
											makeBoolConst(root, false)),
								 InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

/* What a float8 is made of the argument of a deviation. */
static Expr *
as_float8(const Expr *arg)
{
	if (exprType((const Node *) arg) == FLOAT8OID)
		return copyObjectImpl(arg);
	Assert(exprType((const Node *) arg) == FLOAT4OID);	/* rollup:Z5 */
	return (Expr *) makeFuncExpr(F_FLOAT8_FLOAT4, FLOAT8OID,
								 list_make1(copyObjectImpl(arg)), InvalidOid,
								 InvalidOid, COERCE_EXPLICIT_CAST);
}

/* The state that a deviation or a regression is made of. */
Aggref *
strata_rollup_state_partial(const Aggref *aggref)
{
	Expr	   *first = linitial_node(TargetEntry, aggref->args)->expr;
	Aggref	   *state;
	int			nargs;
	const char *name = state_aggregate(aggref->aggfnoid, &nargs);
	Oid			aggregate = internal_aggregate(name, nargs, FLOAT8OID);

	state = strata_rollup_make_aggref(aggregate, as_float8(first),
									  copyObject(aggref->aggfilter),
									  InvalidOid);
	if (nargs == 2)
	{
		Expr	   *second = lsecond_node(TargetEntry, aggref->args)->expr;

		state->args = lappend(state->args,
							  makeTargetEntry(as_float8(second), 2, NULL,
											  false));
		state->aggargtypes = lappend_oid(state->aggargtypes, FLOAT8OID);
	}
	return state;
}

/* What combines them. */
Oid
strata_rollup_state_combine(const Aggref *aggref)
{
	int			nargs;

	(void) state_aggregate(aggref->aggfnoid, &nargs);
	return internal_aggregate(nargs == 2 ? "regression_total" :
							  "deviation_total", 1, FLOAT8ARRAYOID);
}

/* See rollup_decompose_private.h. */
bool
strata_rollup_picks(const Aggref *aggref)
{
	return OidIsValid(picking_aggregate(aggref));
}

/* The time of what first() or last() picks. */
Aggref *
strata_rollup_picked_time(const Aggref *aggref)
{
	Expr	   *time = lsecond_node(TargetEntry, aggref->args)->expr;

	return strata_rollup_make_aggref(picking_aggregate(aggref),
									 copyObject(time),
									 copyObject(aggref->aggfilter),
									 InvalidOid);
}
