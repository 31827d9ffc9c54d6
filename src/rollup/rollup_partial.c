/*-------------------------------------------------------------------------
 *
 * rollup_partial.c
 *	  What is kept of an aggregate, and its value out of that.
 *
 * An aggregate is kept as values that combine: sum and count for an average,
 * each in a column of its own type, shared by all aggregates that need it.
 * Sums of floats may then be added in another order, as by a parallel plan.
 * Aggregates that do not combine, or not exactly, are kept as their value,
 * which is good for buckets of just this width.
 *
 * src/rollup/rollup_partial.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "rollup/rollup_private.h"

#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_func.h"
#include "parser/parse_oper.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/*-------------------------------------------------------------------------
 * Partials of an aggregate
 *-------------------------------------------------------------------------
 */
typedef enum Decomposition
{
	KEEP_VALUE,					/* its value, which does not combine */
	KEEP_COMBINED,				/* its value, combined by `combine` */
	KEEP_AVERAGE				/* sum and count */
} Decomposition;

static Oid
catalog_aggregate(const char *name, Oid type)
{
	return LookupFuncName(list_make2(makeString("pg_catalog"),
									 makeString(pstrdup(name))),
						  1, &type, false);
}

/*
 * How to keep the aggregate; sets *combine.  By function: what is not named
 * here is not known to combine exactly.
 */
static Decomposition
decompose(const Aggref *aggref, Oid *combine)
{
	*combine = InvalidOid;
	if (aggref->aggkind != AGGKIND_NORMAL || aggref->aggdistinct != NIL ||
		aggref->aggorder != NIL || aggref->aggvariadic)
		return KEEP_VALUE;
	switch (aggref->aggfnoid)
	{
		case F_COUNT_:
		case F_COUNT_ANY:
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
static Aggref *
make_aggref(Oid aggregate, Expr *arg, Expr *filter, Oid collation)
{
	Aggref	   *aggref = makeNode(Aggref);

	aggref->aggfnoid = aggregate;
	aggref->aggtype = get_func_rettype(aggregate);
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
static void
average_partials(const Aggref *aggref, Aggref **sum, Aggref **count)
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
	*sum = make_aggref(catalog_aggregate("sum", type), copyObject(summed),
					   copyObject(aggref->aggfilter), InvalidOid);
	*count = make_aggref(F_COUNT_ANY, copyObject(arg),
						 copyObject(aggref->aggfilter), InvalidOid);
	(*count)->aggargtypes = list_make1_oid(exprType((Node *) arg));
}

/*-------------------------------------------------------------------------
 * Columns of the archive
 *-------------------------------------------------------------------------
 */
static StrataRollupColumn *
find_kept(const List *columns, const Expr *expr, AttrNumber *attno)
{
	ListCell   *lc;

	*attno = 1;
	foreach(lc, columns)
	{
		StrataRollupColumn *column = lfirst(lc);

		if (equal(column->expr, expr))
			return column;
		(*attno)++;
	}
	return NULL;
}

/* A name that no column has, beginning with this. */
static char *
unused_name(const List *columns, const char *wanted)
{
	char		name[NAMEDATALEN];

	strlcpy(name, wanted, sizeof(name));
	for (int i = 1;; i++)
	{
		bool		used = false;
		ListCell   *lc;

		foreach(lc, columns)
			used |= strcmp(((StrataRollupColumn *) lfirst(lc))->name,
						   name) == 0;
		if (!used)
			return pstrdup(name);
		snprintf(name, sizeof(name), "%.*s_%d", NAMEDATALEN - 12, wanted, i);
	}
}

/* See rollup_private.h. */
void
strata_rollup_add_column(List **columns, StrataRollupKind kind, Expr *expr,
						 Oid combine, const char *name)
{
	StrataRollupColumn *column;
	AttrNumber	attno;

	column = find_kept(*columns, expr, &attno);
	if (column != NULL)
		return;
	column = palloc0(sizeof(StrataRollupColumn));
	column->kind = kind;
	column->expr = expr;
	column->combine = combine;
	column->name = unused_name(*columns, name);
	column->type = exprType((Node *) expr);
	column->typmod = exprTypmod((Node *) expr);
	column->collation = exprCollation((Node *) expr);
	*columns = lappend(*columns, column);
}

/* "sum_usage" of sum(usage), "count" of count(*), "sum" of others. */
static char *
partial_name(const Query *query, const Aggref *aggref)
{
	char	   *name = get_func_name(aggref->aggfnoid);
	Expr	   *arg = aggref->args == NIL ? NULL :
	linitial_node(TargetEntry, aggref->args)->expr;

	while (arg != NULL && IsA(arg, FuncExpr) &&
		   list_length(((FuncExpr *) arg)->args) == 1)
		arg = linitial(((FuncExpr *) arg)->args);
	if (arg != NULL && IsA(arg, Var) && ((Var *) arg)->varattno > 0)
		name = psprintf("%s_%s", name,
						get_rte_attribute_name(list_nth(query->rtable,
														((Var *) arg)->varno - 1),
											   ((Var *) arg)->varattno));
	return name;
}

/* See rollup_private.h. */
void
strata_rollup_add_partials(StrataRollup *rollup, const Aggref *aggref,
						   const char *name)
{
	Aggref	   *sum;
	Aggref	   *count;
	Oid			combine;

	switch (decompose(aggref, &combine))
	{
		case KEEP_AVERAGE:
			average_partials(aggref, &sum, &count);
			strata_rollup_add_partials(rollup, sum, NULL);
			strata_rollup_add_partials(rollup, count, NULL);
			break;
		case KEEP_COMBINED:
		case KEEP_VALUE:
			strata_rollup_add_column(&rollup->columns, STRATA_ROLLUP_PARTIAL,
									 copyObjectImpl(aggref), combine,
									 name != NULL ? name :
									 partial_name(rollup->query, aggref));
			break;
	}
}

/*-------------------------------------------------------------------------
 * Values out of columns
 *-------------------------------------------------------------------------
 */
typedef struct FinalContext
{
	const StrataRollup *rollup;
	Index		varno;
	bool		combined;
} FinalContext;

/* The column that holds the expression, combined if it is to be. */
static Expr *
column_value(const FinalContext *cx, const Expr *expr)
{
	AttrNumber	attno;
	StrataRollupColumn *column = find_kept(cx->rollup->columns, expr,
										   &attno);
	Expr	   *value;

	if (column == NULL)
		return NULL;
	value = (Expr *) makeVar(cx->varno, attno, column->type, column->typmod,
							 column->collation, 0);
	if (!cx->combined || column->kind != STRATA_ROLLUP_PARTIAL)
		return value;
	Assert(OidIsValid(column->combine));	/* rollup:Z5 */
	value = (Expr *) make_aggref(column->combine, value, NULL,
								 ((const Aggref *) expr)->inputcollid);
	/* a sum of counts is numeric */
	return (Expr *) coerce_to_target_type(NULL, (Node *) value,
										  exprType((Node *) value),
										  column->type, -1, COERCION_EXPLICIT,
										  COERCE_IMPLICIT_CAST, -1);
}

/*
 * The value of an average out of sum and count, by the division that the
 * aggregate does itself.
 */
static Expr *
average_value(const FinalContext *cx, const Aggref *aggref)
{
	Aggref	   *sum;
	Aggref	   *count;
	Expr	   *total;
	Expr	   *n;
	Expr	   *quotient;
	Oid			by = NUMERICOID;

	average_partials(aggref, &sum, &count);
	total = column_value(cx, (Expr *) sum);
	n = column_value(cx, (Expr *) count);
	if (total == NULL || n == NULL)
		return NULL;
	if (aggref->aggtype == FLOAT8OID || aggref->aggtype == INTERVALOID)
		by = FLOAT8OID;
	else
		total = (Expr *) coerce_to_target_type(NULL, (Node *) total,
											   exprType((Node *) total),
											   NUMERICOID, -1,
											   COERCION_EXPLICIT,
											   COERCE_IMPLICIT_CAST, -1);
	n = (Expr *) coerce_to_target_type(NULL, (Node *) n, INT8OID, by, -1,
									   COERCION_EXPLICIT,
									   COERCE_IMPLICIT_CAST, -1);
	quotient = make_opclause(OpernameGetOprid(list_make2(makeString("pg_catalog"),
														 makeString("/")),
											  exprType((Node *) total), by),
							 aggref->aggtype, false, total, n, InvalidOid,
							 InvalidOid);
	set_opfuncid((OpExpr *) quotient);
	return quotient;
}

/* Grouping expressions and aggregates, made of the archive's columns. */
static Node *
final_mutator(Node *node, void *context)
{
	const FinalContext *cx = context;
	Expr	   *value = NULL;
	Oid			combine;

	if (node == NULL || IsA(node, Const))
		return copyObject(node);
	if (IsA(node, Aggref) &&
		decompose((Aggref *) node, &combine) == KEEP_AVERAGE)
		value = average_value(cx, (Aggref *) node);
	else
		value = column_value(cx, (Expr *) node);
	if (value != NULL)
		return (Node *) value;
	if (IsA(node, Var) || IsA(node, Aggref))
		elog(ERROR, "a rollup lacks a column");
	return expression_tree_mutator(node, final_mutator, context);
}

/* See rollup.h. */
Expr *
strata_rollup_final(const StrataRollup *rollup, const Expr *expr, Index varno,
					bool combined)
{
	FinalContext cx = {rollup, varno, combined};

	Assert(!combined || strata_rollup_combines(rollup, expr));	/* rollup:Z5 */
	return (Expr *) final_mutator((Node *) expr, &cx);
}

/* See rollup_private.h. */
bool
strata_rollup_knows(const StrataRollup *rollup, const Aggref *aggref)
{
	Aggref	   *sum;
	Aggref	   *count;
	Oid			combine;
	AttrNumber	attno;

	if (decompose(aggref, &combine) != KEEP_AVERAGE)
		return find_kept(rollup->columns, (const Expr *) aggref,
						 &attno) != NULL;
	average_partials(aggref, &sum, &count);
	return find_kept(rollup->columns, (Expr *) sum, &attno) != NULL &&
		find_kept(rollup->columns, (Expr *) count, &attno) != NULL;
}

static bool
has_single(Node *node, void *context)
{
	Oid			combine;

	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
		return decompose((Aggref *) node, &combine) == KEEP_VALUE;
	return expression_tree_walker(node, has_single, context);
}

/* See rollup.h. */
bool
strata_rollup_combines(const StrataRollup *rollup, const Expr *expr)
{
	return !has_single((Node *) expr, NULL);
}
