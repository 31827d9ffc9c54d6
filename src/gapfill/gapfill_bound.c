/*-------------------------------------------------------------------------
 *
 * gapfill_bound.c
 *	  From where to where are buckets filled?
 *
 * What the call does not say is read from the conditions that WHERE and inner
 * joins AND together: comparisons of the very expression that is bucketed with
 * something that does not depend on the row.  Several narrow the range
 * together, as they do for the rows.
 *
 * src/gapfill/gapfill_bound.c
 *-------------------------------------------------------------------------
 */
#include "gapfill/gapfill_private.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parse_func.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* Does it read the row, or aggregates? */
static bool
reads_row(Node *node)
{
	return contain_vars_of_level(node, 0) || contain_aggs_of_level(node, 0) ||
		contain_window_function(node);
}

/* Is it absent, or a constant NULL once it is evaluated? */
static bool
folds_to_null(Expr *expr)
{
	expr = (Expr *) eval_const_expressions(NULL, (Node *) expr);
	return expr == NULL || (IsA(expr, Const) && ((Const *) expr)->constisnull);
}

/* An argument that the planner may evaluate anywhere, or an error. */
static void
check_simple(Expr *expr, const char *name)
{
	if (expr != NULL && reads_row((Node *) expr))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid time_bucket_gapfill argument: %s must be a simple expression",
						name),
				 errdetail("It must have one value for the whole query, so it cannot refer to columns.")));
}

/* _strata.gapfill_bound(NULL::type, value, after) */
static Expr *
make_bound(Oid type, Expr *value, bool after)
{
	Oid			types[3] = {ANYELEMENTOID, ANYOID, BOOLOID};
	List	   *name = list_make2(makeString(STRATA_INTERNAL_SCHEMA),
								  makeString("gapfill_bound"));
	Oid			funcid = LookupFuncName(name, 3, types, false);

	return (Expr *) makeFuncExpr(funcid, type,
								 list_make3(makeNullConst(type, -1,
														  InvalidOid),
											copyObject(value),
											makeBoolConst(after, false)),
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

typedef struct Bounds
{
	Expr	   *time;			/* what is bucketed */
	Oid			type;
	List	   *starts;			/* expressions of that type */
	List	   *finishes;
} Bounds;

/*
 * Take a comparison of the time with something that is no column for a bound,
 * if it is one.
 */
static void
look_at_comparison(Bounds *bounds, OpExpr *op)
{
	Oid			opno = op->opno;
	Oid			left,
				right;
	Expr	   *value;
	int			strategy;
	TypeCacheEntry *entry = lookup_type_cache(bounds->type,
											  TYPECACHE_BTREE_OPFAMILY);

	if (list_length(op->args) != 2)
		return;
	if (equal(linitial(op->args), bounds->time))
		value = lsecond(op->args);
	else if (equal(lsecond(op->args), bounds->time))
	{
		value = linitial(op->args);
		opno = get_commutator(opno);
	}
	else
		return;
	if (!OidIsValid(opno) || !OidIsValid(entry->btree_opf))
		return;
	strategy = get_op_opfamily_strategy(opno, entry->btree_opf);
	if (strategy == 0 || reads_row((Node *) value) ||
		contain_volatile_functions((Node *) value))
		return;
	op_input_types(opno, &left, &right);
	if (left != bounds->type || !strata_bucket_type(right))
		return;
	if (strategy == BTGreaterEqualStrategyNumber ||
		strategy == BTGreaterStrategyNumber ||
		strategy == BTEqualStrategyNumber)
		bounds->starts = lappend(bounds->starts,
								 make_bound(bounds->type, value,
											strategy ==
											BTGreaterStrategyNumber));
	if (strategy == BTLessEqualStrategyNumber ||
		strategy == BTLessStrategyNumber || strategy == BTEqualStrategyNumber)
		bounds->finishes = lappend(bounds->finishes,
								   make_bound(bounds->type, value,
											  strategy !=
											  BTLessStrategyNumber));
}

static void
look_at_qual(Bounds *bounds, Node *qual)
{
	ListCell   *lc;

	if (qual == NULL)
		return;
	if (IsA(qual, List))
	{
		foreach(lc, (List *) qual)
			look_at_qual(bounds, lfirst(lc));
	}
	else if (is_andclause(qual))
		look_at_qual(bounds, (Node *) ((BoolExpr *) qual)->args);
	else if (IsA(qual, OpExpr))
		look_at_comparison(bounds, (OpExpr *) qual);
}

/*
 * Look for bounds in WHERE and in the conditions of inner joins; those of
 * outer joins bound nothing.
 */
static void
look_at_jointree(Bounds *bounds, Node *node)
{
	ListCell   *lc;

	if (node == NULL)
		return;
	if (IsA(node, FromExpr))
	{
		foreach(lc, ((FromExpr *) node)->fromlist)
			look_at_jointree(bounds, lfirst(lc));
		look_at_qual(bounds, ((FromExpr *) node)->quals);
	}
	else if (IsA(node, JoinExpr) &&
			 ((JoinExpr *) node)->jointype == JOIN_INNER)
	{
		look_at_jointree(bounds, ((JoinExpr *) node)->larg);
		look_at_jointree(bounds, ((JoinExpr *) node)->rarg);
		look_at_qual(bounds, ((JoinExpr *) node)->quals);
	}
}

/*
 * The narrowest of them.  GREATEST and LEAST pass over NULL, so a comparison
 * with NULL, which selects no row, does not count when there is another.
 */
static Expr *
narrowest(List *values, Oid type, bool greatest)
{
	MinMaxExpr *result;

	if (list_length(values) == 1)
		return linitial(values);
	result = makeNode(MinMaxExpr);
	result->minmaxtype = type;
	result->op = greatest ? IS_GREATEST : IS_LEAST;
	result->args = values;
	result->location = -1;
	return (Expr *) result;
}

static void
complain(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("missing time_bucket_gapfill argument: could not infer %s from WHERE clause",
					name),
			 errhint("Specify start and finish as arguments or in the WHERE clause.")));
}

/* See gapfill_private.h. */
void
strata_gapfill_bounds(Query *query, GapfillCall *call)
{
	Bounds		bounds = {.time = call->time,.type = call->type};
	bool		infer_start,
				infer_finish;

	check_simple(call->width, "bucket_width");
	check_simple(call->zone, "timezone");
	check_simple(call->start, "start");
	check_simple(call->finish, "finish");
	infer_start = folds_to_null(call->start);
	infer_finish = folds_to_null(call->finish);
	if (!infer_start && !infer_finish)
		return;
	look_at_jointree(&bounds, (Node *) query->jointree);
	if (infer_start)
	{
		if (bounds.starts == NIL)
			complain("start");
		call->start = narrowest(bounds.starts, call->type, true);
	}
	if (infer_finish)
	{
		if (bounds.finishes == NIL)
			complain("finish");
		call->finish = narrowest(bounds.finishes, call->type, false);
	}
}
