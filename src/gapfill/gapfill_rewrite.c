/*-------------------------------------------------------------------------
 *
 * gapfill_rewrite.c
 *	  A query that groups by time_bucket_gapfill() becomes three levels:
 *
 *	  inner		FROM, WHERE, GROUP BY and HAVING as written, with
 *				time_bucket(); its columns are the grouping expressions and the
 *				aggregates
 *	  middle	reads inner, in order of the groups and the bucket; here the
 *				node of gapfill_exec.c adds rows and computes locf and
 *				interpolate
 *	  outer		the SELECT list, window functions, DISTINCT, ORDER BY, LIMIT,
 *				as written, over the columns of the middle one
 *
 * So everything below and above is planned as for any other query.  The calls
 * of our functions stand in the middle's target list, where the planner brings
 * their arguments (subqueries, parameters) into shape; they never run.
 *
 * LIMIT ALL keeps the middle one apart: nothing is pulled up, no condition is
 * pushed down, as both would change which rows the gaps are filled from.
 *
 * Over 600 lines: three levels of one query, made together.
 *
 * src/gapfill/gapfill_rewrite.c
 *-------------------------------------------------------------------------
 */
#include "gapfill/gapfill_private.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parse_func.h"
#include "parser/parse_oper.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* The middle level reads, and the outer level reads, their entry 1. */
#define INPUT 1

typedef struct Split
{
	List	   *keys;			/* grouping expressions as written */
	List	   *columns;		/* of inner: the keys, then what else is read */
	List	   *fills;			/* calls of locf and interpolate, for the
								 * middle */
	int			depth;			/* of subqueries we are in */
	bool		in_fill;
} Split;

/*-------------------------------------------------------------------------
 * Moving expressions
 *-------------------------------------------------------------------------
 */

typedef struct CteShift
{
	int			depth;
	int			by;
} CteShift;

/* References to the WITH queries of the level itself. */
static bool
shift_ctes(Node *node, CteShift *shift)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		RangeTblEntry *rte = (RangeTblEntry *) node;

		if (rte->rtekind == RTE_CTE && (int) rte->ctelevelsup == shift->depth)
			rte->ctelevelsup += shift->by;
		return false;
	}
	if (IsA(node, Query))
	{
		bool		result;

		shift->depth++;
		result = query_tree_walker((Query *) node, shift_ctes, shift,
								   QTW_EXAMINE_RTES_BEFORE);
		shift->depth--;
		return result;
	}
	return expression_tree_walker(node, shift_ctes, shift);
}

/*
 * What an expression, or the query that was this level, refers to outside of
 * itself is now `by` levels further up.
 */
static void
move_down(Node *node, int by)
{
	CteShift	shift = {.depth = 0,.by = by};

	IncrementVarSublevelsUp(node, by, 1);
	if (IsA(node, Query))
		(void) query_tree_walker((Query *) node, shift_ctes, &shift,
								 QTW_EXAMINE_RTES_BEFORE);
	else
		(void) shift_ctes(node, &shift);
}

/*-------------------------------------------------------------------------
 * Splitting expressions
 *-------------------------------------------------------------------------
 */

/* Does it belong to the level that is split, and is it computed below? */
static bool
is_computed_below(Node *node, int depth)
{
	if (IsA(node, Var))
		return (int) ((Var *) node)->varlevelsup == depth;
	if (IsA(node, Aggref))
		return (int) ((Aggref *) node)->agglevelsup == depth;
	if (IsA(node, GroupingFunc))
		return (int) ((GroupingFunc *) node)->agglevelsup == depth;
	return false;
}

/*
 * Number of the column of inner that node is, added when it has to be, or 0.
 */
static int
column_of(Split *split, Node *node)
{
	ListCell   *lc;
	Node	   *copy = node;
	bool		below;

	if (IsA(node, List) || IsA(node, Query) || IsA(node, RangeTblEntry) ||
		IsA(node, TargetEntry))
		return 0;
	below = is_computed_below(node, split->depth);
	if (!below && (IsA(node, Var) || IsA(node, Const)))
		return 0;
	if (split->depth > 0)
	{
		if (!below && !IsA(node, FuncExpr) && !IsA(node, OpExpr) &&
			!contain_vars_of_level(node, split->depth))
			return 0;
		copy = copyObject(node);
		IncrementVarSublevelsUp(copy, -split->depth, split->depth);
	}
	foreach(lc, below ? split->columns : split->keys)
	{
		if (equal(lfirst(lc), copy))
			return foreach_current_index(lc) + 1;
	}
	if (!below)
		return 0;
	split->columns = lappend(split->columns, copyObject(copy));
	return list_length(split->columns);
}

static Node *
column_reference(Split *split, int attno)
{
	Node	   *expr = list_nth(split->columns, attno - 1);

	return (Node *) makeVar(INPUT, attno, exprType(expr), exprTypmod(expr),
							exprCollation(expr), split->depth);
}

static Node *split_expression(Node *node, Split *split);

/* A call of locf or interpolate becomes a column of the middle level. */
static Node *
split_fill(FuncExpr *func, GapfillFunction function, Split *split)
{
	const char *name = function == GAPFILL_LOCF ? "locf" : "interpolate";
	FuncExpr   *call = strata_gapfill_complete(func);
	int			i;

	if (split->in_fill)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("multiple interpolate/locf function calls per resultset column not supported")));
	if (contain_window_function((Node *) call->args))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("window functions must not be below %s", name)));
	split->in_fill = true;
	call->args = (List *) split_expression((Node *) call->args, split);
	split->in_fill = false;

	for (i = 0; i < list_length(split->fills); i++)
		if (equal(list_nth(split->fills, i), call))
			break;
	if (i == list_length(split->fills))
		split->fills = lappend(split->fills, call);
	return (Node *) makeVar(INPUT, list_length(split->columns) + 1 + i,
							call->funcresulttype, exprTypmod((Node *) call),
							exprCollation((Node *) call), 0);
}

/*
 * A copy of an expression in which columns of the input stand for what is
 * computed below.
 */
static Node *
split_expression(Node *node, Split *split)
{
	int			attno;

	if (node == NULL)
		return NULL;
	attno = column_of(split, node);
	if (attno != 0)
		return column_reference(split, attno);
	if (split->depth == 0)
	{
		GapfillFunction function = strata_gapfill_node(node);

		if (function == GAPFILL_LOCF || function == GAPFILL_INTERPOLATE)
			return split_fill((FuncExpr *) node, function, split);
	}
	if (IsA(node, Query))
	{
		Node	   *result;

		split->depth++;
		result = (Node *) query_tree_mutator((Query *) node, split_expression,
											 split, 0);
		split->depth--;
		return result;
	}
	return expression_tree_mutator(node, split_expression, split);
}

/*-------------------------------------------------------------------------
 * Building the levels
 *-------------------------------------------------------------------------
 */

/*
 * time_bucket() of the same arguments, from the schema of
 * time_bucket_gapfill().
 */
static Expr *
make_time_bucket(const FuncExpr *func, const GapfillCall *call)
{
	Oid			types[5] =
	{exprType((Node *) call->width), call->type, TEXTOID,
	TIMESTAMPTZOID, INTERVALOID};
	List	   *name = list_make2(
								  makeString(get_namespace_name(get_func_namespace(func->funcid))),
								  makeString("time_bucket"));
	List	   *args = list_make2(copyObject(call->width),
								  copyObject(call->time));

	if (call->zone != NULL)
	{
		args = lappend(args, copyObject(call->zone));
		args = lappend(args, makeNullConst(TIMESTAMPTZOID, -1, InvalidOid));
		args = lappend(args, makeNullConst(INTERVALOID, -1, InvalidOid));
	}
	return (Expr *) makeFuncExpr(LookupFuncName(name, list_length(args), types,
												false),
								 call->type, args, InvalidOid,
								 func->inputcollid, COERCE_EXPLICIT_CALL);
}

/*
 * In WHERE and HAVING, which see no rows but those of the query, a call stands
 * for the bucket of its row, whatever its start and finish.
 */
static Node *
call_time_bucket(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (strata_gapfill_node(node) == GAPFILL_BUCKET)
	{
		FuncExpr   *func = strata_gapfill_complete((FuncExpr *) node);
		GapfillCall call;

		strata_gapfill_call_get(func, &call);
		return (Node *) make_time_bucket(func, &call);
	}
	return expression_tree_mutator(node, call_time_bucket, context);
}

/* The same in conditions of FROM and WHERE, in place. */
static void
conditions_call_time_bucket(Node *node)
{
	ListCell   *lc;

	if (node != NULL && IsA(node, FromExpr))
	{
		foreach(lc, ((FromExpr *) node)->fromlist)
			conditions_call_time_bucket(lfirst(lc));
		((FromExpr *) node)->quals =
			call_time_bucket(((FromExpr *) node)->quals, NULL);
	}
	else if (node != NULL && IsA(node, JoinExpr))
	{
		conditions_call_time_bucket(((JoinExpr *) node)->larg);
		conditions_call_time_bucket(((JoinExpr *) node)->rarg);
		((JoinExpr *) node)->quals =
			call_time_bucket(((JoinExpr *) node)->quals, NULL);
	}
}

/* The grouping half of the query; takes its FROM, WHERE, GROUP BY, HAVING. */
static Query *
make_inner(Query *query, Split *split, int bucket, Expr *time_bucket)
{
	Query	   *inner = makeNode(Query);
	ListCell   *lc;

	*inner = *query;
	inner->targetList = NIL;
	foreach(lc, split->columns)
	{
		int			i = foreach_current_index(lc);
		Expr	   *expr = i == bucket ? time_bucket : lfirst(lc);
		TargetEntry *tle = makeTargetEntry(expr, i + 1, psprintf("c%d", i + 1),
										   false);

		if (i < list_length(split->keys))
			tle->ressortgroupref = i + 1;
		inner->targetList = lappend(inner->targetList, tle);
	}
	inner->groupClause = copyObject(query->groupClause);
	foreach(lc, inner->groupClause)
		lfirst_node(SortGroupClause, lc)->tleSortGroupRef =
		foreach_current_index(lc) + 1;
	inner->havingQual = call_time_bucket(query->havingQual, NULL);
	conditions_call_time_bucket((Node *) inner->jointree);
	inner->cteList = NIL;
	inner->hasModifyingCTE = inner->hasRecursive = false;
	inner->hasWindowFuncs = inner->hasTargetSRFs = inner->hasDistinctOn =
		false;
	inner->windowClause = inner->distinctClause = inner->sortClause = NIL;
	inner->limitOffset = inner->limitCount = NULL;
	inner->limitOption = LIMIT_OPTION_COUNT;
	strata_query_forget_groups(inner);
	move_down((Node *) inner, 2);
	return inner;
}

/* A query with the subquery as its only FROM. */
static void
set_input(Query *query, Query *subquery)
{
	RangeTblEntry *rte = makeNode(RangeTblEntry);
	RangeTblRef *rtr = makeNode(RangeTblRef);
	ListCell   *lc;

	rte->rtekind = RTE_SUBQUERY;
	rte->subquery = subquery;
	rte->alias = makeAlias(STRATA_GAPFILL_ALIAS, NIL);
	rte->eref = makeAlias(STRATA_GAPFILL_ALIAS, NIL);
	rte->enrname = pstrdup(STRATA_GAPFILL_ALIAS);
	foreach(lc, subquery->targetList)
	{
		TargetEntry *tle = lfirst(lc);

		if (!tle->resjunk)
			rte->eref->colnames = lappend(rte->eref->colnames,
										  makeString(tle->resname));
	}
	rte->inFromCl = true;
	rtr->rtindex = INPUT;
	query->rtable = list_make1(rte);
	strata_query_clear_permissions(query);
	query->jointree = makeFromExpr(list_make1(rtr), NULL);
}

static SortGroupClause *
make_sort(const SortGroupClause *group, Index ref, Node *expr)
{
	SortGroupClause *sort = copyObject(unconstify(SortGroupClause *, group));

	sort->tleSortGroupRef = ref;
	if (!OidIsValid(sort->sortop))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("time_bucket_gapfill cannot be grouped with values of type %s",
						format_type_be(exprType(expr))),
				 errdetail("Values of that type cannot be sorted.")));
	return sort;
}

/* Ascending, with NULL last: what the node expects of the bucket. */
static SortGroupClause *
make_bucket_sort(Oid type, Index ref)
{
	SortGroupClause *sort = makeNode(SortGroupClause);

	get_sort_group_operators(type, true, true, false, &sort->sortop,
							 &sort->eqop, NULL, &sort->hashable);
	sort->tleSortGroupRef = ref;
	return sort;
}

/*
 * Columns: those of inner at the same place, with a call of
 * time_bucket_gapfill(width, bucket, start, finish) for the bucket; the fills;
 * unseen, the bucket again.  Order: the groups, the bucket, and what goes up.
 */
static Query *
make_middle(Query *query, Query *inner, Split *split, int bucket,
			FuncExpr *func, GapfillCall *call)
{
	Query	   *middle = makeNode(Query);
	FuncExpr   *marker = copyObject(func);
	Node	   *bucket_var = column_reference(split, bucket + 1);
	List	   *exprs = NIL;
	ListCell   *lc;
	Index		ref;

	ref = list_length(split->columns) + list_length(split->fills) + 1;
	marker->args = list_make2(call->width, bucket_var);
	if (list_length(func->args) == 5)
		marker->args = lappend(marker->args, lthird(func->args));
	marker->args = lappend(lappend(marker->args, call->start), call->finish);
	marker = copyObject(marker);	/* move_down must not meet a node twice */

	foreach(lc, split->columns)
	{
		int			i = foreach_current_index(lc);

		exprs = lappend(exprs, i == bucket ? (Node *) marker :
						column_reference(split, i + 1));
	}
	exprs = list_concat(exprs, copyObject(split->fills));
	exprs = lappend(exprs, copyObject(bucket_var));

	middle->commandType = CMD_SELECT;
	middle->canSetTag = true;
	middle->querySource = query->querySource;
	middle->hasSubLinks = query->hasSubLinks;
	foreach(lc, exprs)
	{
		TargetEntry *tle;
		int			i = foreach_current_index(lc) + 1;

		move_down(lfirst(lc), 1);
		tle = makeTargetEntry(lfirst(lc), i, psprintf("c%d", i),
							  i == (int) ref);
		if (i <= list_length(split->keys) || i == (int) ref)
			tle->ressortgroupref = i;
		middle->targetList = lappend(middle->targetList, tle);
	}
	foreach(lc, inner->groupClause)
	{
		int			i = foreach_current_index(lc);

		if (i != bucket)
			middle->sortClause = lappend(middle->sortClause,
										 make_sort(lfirst(lc), i + 1,
												   list_nth(split->keys, i)));
	}
	middle->sortClause = lappend(middle->sortClause,
								 make_bucket_sort(call->type, ref));
	middle->sortClause = lappend(middle->sortClause,
								 make_bucket_sort(call->type, bucket + 1));
	middle->limitCount = (Node *) makeNullConst(INT8OID, -1, InvalidOid);
	middle->limitOption = LIMIT_OPTION_COUNT;
	set_input(middle, inner);
	return middle;
}

/* Calls of time_bucket_gapfill that are left where they cannot work. */
static bool
calls_gapfill(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (strata_gapfill_node(node) == GAPFILL_BUCKET)
		return true;
	return expression_tree_walker(node, calls_gapfill, context);
}

/* The same in what is selected, or grouped by (which 18 keeps elsewhere). */
static bool
query_calls_gapfill(const Query *query)
{
	ListCell   *lc;

	foreach(lc, query->rtable)
	{
		const RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (strata_rte_is_group(rte) &&
			calls_gapfill((Node *) strata_rte_group_exprs(rte), NULL))
			return true;
	}
	return calls_gapfill((Node *) query->targetList, NULL);
}

/* Calls of locf or interpolate in what is computed before gaps are filled. */
static bool
calls_fill(Node *node, void *context)
{
	GapfillFunction function;

	if (node == NULL)
		return false;
	function = strata_gapfill_node(node);
	if (function == GAPFILL_LOCF || function == GAPFILL_INTERPOLATE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("aggregate functions must be below %s",
						function == GAPFILL_LOCF ? "locf" : "interpolate")));
	return expression_tree_walker(node, calls_fill, context);
}

/* Position of the call in the grouping expressions, or -1. */
static int
find_call(Query *query, List *keys)
{
	ListCell   *lc;
	int			result = -1;

	foreach(lc, keys)
	{
		if (strata_gapfill_node(lfirst(lc)) == GAPFILL_BUCKET)
		{
			if (result >= 0)
				ereport(ERROR,
						(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						 errmsg("multiple time_bucket_gapfill calls not allowed")));
			result = foreach_current_index(lc);
		}
	}
	return result;
}

/*
 * The keys of the query, without PostgreSQL 18's range table entry for them.
 */
static List *
grouping_expressions(Query *query)
{
	List	   *keys = NIL;
	ListCell   *lc;

	foreach(lc, query->groupClause)
		keys = lappend(keys, get_sortgroupclause_expr(lfirst(lc),
													  query->targetList));
	return keys;
}

/* Is it the middle one of three levels already? */
static bool
is_middle(Query *query)
{
	return list_length(query->rtable) == 1 &&
		strata_gapfill_is_input(linitial(query->rtable));
}

/* See gapfill_private.h. */
bool
strata_gapfill_rewrite_query(Query *query)
{
	Split		split = {0};
	GapfillCall call;
	FuncExpr   *func;
	Query	   *inner,
			   *middle;
	List	   *tlist;
	int			bucket;

	if (query->commandType != CMD_SELECT || is_middle(query))
		return false;
	if (!query_calls_gapfill(query))
		return false;
	/* not before: the planner marks what grouping sets make NULL in there */
	strata_query_flatten_groups(query);
	split.keys = copyObject(grouping_expressions(query));
	bucket = find_call(query, split.keys);
	if (bucket < 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("no top level time_bucket_gapfill in group by clause"),
				 errhint("Cast or change the bucket in a query around this one.")));
	if (query->groupingSets != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("time_bucket_gapfill cannot be used with grouping sets")));

	func = strata_gapfill_complete(list_nth_node(FuncExpr, split.keys,
												 bucket));
	strata_gapfill_call_get(func, &call);
	strata_gapfill_bounds(query, &call);

	/* once to know the columns, and again when their number is known */
	split.columns = list_copy(split.keys);
	(void) split_expression((Node *) query->targetList, &split);
	split.fills = NIL;
	tlist = (List *) split_expression((Node *) query->targetList, &split);
	(void) calls_fill((Node *) split.columns, NULL);
	if (calls_gapfill((Node *) list_copy_tail(split.columns,
											  list_length(split.keys)),
					  NULL) ||
		calls_gapfill((Node *) split.fills, NULL) ||
		calls_gapfill((Node *) tlist, NULL))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("multiple time_bucket_gapfill calls not allowed")));

	inner = make_inner(query, &split, bucket, make_time_bucket(func, &call));
	middle = make_middle(query, inner, &split, bucket, func, &call);

	query->targetList = tlist;
	query->groupClause = NIL;
	query->groupDistinct = false;
	query->havingQual = NULL;
	query->hasAggs = false;
	set_input(query, middle);
	return true;
}
