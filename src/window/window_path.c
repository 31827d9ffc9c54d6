/*-------------------------------------------------------------------------
 *
 * window_path.c
 *	  When a StrataWindow is offered.
 *
 * In the place of a WindowAgg of PostgreSQL's, over the same input in the same
 * order, where all that its functions need of other rows is near them.
 * Queries that read no table of ours are left alone.
 *
 * src/window/window_path.c
 *-------------------------------------------------------------------------
 */
#include "window/window.h"

#include "base/base.h"
#include "base/compat.h"
#include "access/stratnum.h"
#include "catalog/pg_opfamily_d.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"
#include "scan/scan_vector.h"
#include "top/top.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "window/window_private.h"

/* Does the query read a table with batches? */
static bool
reads_any_batches(PlannerInfo *root)
{
	check_stack_depth();
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		RelOptInfo *rel = root->simple_rel_array[i];
		ListCell   *lc;

		if (rel == NULL)
			continue;
		if (rel->subroot != NULL && reads_any_batches(rel->subroot))
			return true;
		foreach(lc, rel->pathlist)
		{
			Path	   *path = lfirst(lc);

			while (IsA(path, ProjectionPath))
				path = ((ProjectionPath *) path)->subpath;
			if (strata_scan_path_gives_vectors(path, NULL))
				return true;
		}
	}
	return false;
}

/* The WindowFuncs of the clause in the target. */
static List *
functions_of(const WindowClause * clause, const PathTarget *target)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, pull_var_clause((Node *) target->exprs,
								PVC_INCLUDE_WINDOWFUNCS |
								PVC_INCLUDE_AGGREGATES |
								PVC_INCLUDE_PLACEHOLDERS))
	{
		WindowFunc *func = lfirst(lc);

		if (IsA(func, WindowFunc) && func->winref == clause->winref)
			result = list_append_unique(result, func);
	}
	return result;
}

/*
 * Add the columns that PARTITION BY, or ORDER BY, compares; false: one is not
 * there.
 */
static bool
add_window_keys(const List *clauses, const PathTarget *inputs, List **keys,
				List **eqops, List **collations)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		SortGroupClause *sort = lfirst_node(SortGroupClause, lc);
		int			column = -1;

		for (int i = 0; i < list_length(inputs->exprs); i++)
			if (get_pathtarget_sortgroupref(inputs, i) ==
				sort->tleSortGroupRef)
				column = i;
		if (column < 0)
			return false;
		*keys = lappend_int(*keys, column);
		*eqops = lappend_oid(*eqops, sort->eqop);
		*collations = lappend_oid(*collations,
								  exprCollation(list_nth(inputs->exprs,
														 column)));
	}
	return true;
}

/* Does one of the functions ask which rows are peers? */
static bool
asks_for_peers(const List *funcs)
{
	ListCell   *lc;

	foreach(lc, funcs)
	{
		Oid			winfnoid = lfirst_node(WindowFunc, lc)->winfnoid;

		if (winfnoid == F_RANK_ || winfnoid == F_DENSE_RANK_)
			return true;
	}
	return false;
}

/*
 * May the node leave out the rows for which a run condition is not true?  It
 * does so where rows of a table are sorted for it; an ordered scan gives
 * the first rows of each partition to PostgreSQL's node (scan:R16).
 */
static bool
can_be_filter(const WindowAggPath * window, const List *run,
			  const List *funcs)
{
	ListCell   *lc;

	if (run == NIL)
		return true;
	if (!window->topwindow || !(strata_sort_path_is_ours(window->subpath) ||
								strata_top_path_is_ours(window->subpath)))
		return false;
	foreach(lc, run)
	{
		const OpExpr *op = lfirst(lc);

		if (!IsA(op, OpExpr) || list_length(op->args) != 2 ||
			list_member(funcs, linitial(op->args)) ==
			list_member(funcs, lsecond(op->args)))
			return false;
	}

	/*
	 * PostgreSQL makes the first row that is left out, errors and all; what
	 * the child has evaluated is a column
	 */
	foreach(lc, window->path.pathtarget->exprs)
	{
		if (!IsA(lfirst(lc), Var) && !IsA(lfirst(lc), Const) &&
			!IsA(lfirst(lc), WindowFunc) &&
			!list_member(window->subpath->pathtarget->exprs, lfirst(lc)))
			return false;
	}
	return true;
}

/* A path in the place of the WindowAgg; NULL: it cannot be had. */
static Path *
replace_window(PlannerInfo *root, RelOptInfo *window_rel,
			   WindowAggPath * window)
{
	const		WindowClause *clause = window->winclause;
	const PathTarget *inputs = window->subpath->pathtarget;
	List	   *funcs = functions_of(clause, window->path.pathtarget);
	List	   *run = strata_window_run_condition(window);
	CustomPath *path;
	List	   *keys = NIL;
	List	   *eqops = NIL;
	List	   *collations = NIL;
	int			norder = 0;
	ListCell   *lc;

	if (funcs == NIL || window->qual != NIL ||
		!can_be_filter(window, run, funcs) ||
		!add_window_keys(clause->partitionClause, inputs, &keys, &eqops,
						 &collations))
		return NULL;
	if (asks_for_peers(funcs))
	{
		if (!add_window_keys(clause->orderClause, inputs, &keys, &eqops,
							 &collations))
			return NULL;
		norder = list_length(clause->orderClause);
	}
	foreach(lc, funcs)
	{
		if (!strata_window_can_call(lfirst_node(WindowFunc, lc), clause,
									inputs->exprs))
			return NULL;
	}
	path = makeNode(CustomPath);
	path->path.pathtype = T_CustomScan;
	path->path.parent = window_rel;
	path->path.pathtarget = window->path.pathtarget;
	path->path.rows = window->path.rows;
	path->path.pathkeys = window->path.pathkeys;
	path->path.startup_cost = window->subpath->startup_cost +
		window->path.pathtarget->cost.startup;
	/* what goes through no tuplestore */
	path->path.total_cost = Max(window->path.total_cost -
								cpu_tuple_cost * window->path.rows,
								window->subpath->total_cost);
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_paths = list_make1(window->subpath);
	path->methods = &strata_window_path_methods;
	strata_window_path_set_data(path, inputs->exprs, funcs, keys, eqops,
								collations, norder, run);
	strata_path_copy_disabled(&path->path, window->subpath);
	return &path->path;
}

/*-------------------------------------------------------------------------
 * The first rows only
 *-------------------------------------------------------------------------
 */

/*
 * The greatest number that a run condition lets row_number(), or (*ties)
 * rank(), have, of type int8; NULL: this one does not say.  Nothing is
 * evaluated that PostgreSQL would not evaluate: it is a constant or a
 * parameter of the statement.
 */
static Node *
bound_of_run_condition(const OpExpr *op, bool *ties)
{
	const		WindowFunc *func = linitial(op->args);
	Node	   *bound = lsecond(op->args);
	int			strategy = get_op_opfamily_strategy(op->opno,
													INTEGER_BTREE_FAM_OID);
	Oid			cast;

	if (!IsA(func, WindowFunc))
	{
		func = lsecond(op->args);
		bound = linitial(op->args);
		/* greater ones become less */
		strategy = strategy > 0 ? BTMaxStrategyNumber + 1 - strategy : 0;
	}
	if (!IsA(func, WindowFunc) ||
		(func->winfnoid != F_ROW_NUMBER && func->winfnoid != F_RANK_) ||
		(strategy != BTLessStrategyNumber &&
		 strategy != BTLessEqualStrategyNumber))
		return NULL;
	*ties = func->winfnoid == F_RANK_;
	if (IsA(bound, Const))
	{
		const Const *value = (Const *) bound;
		int64		n;

		if (value->constisnull)
			return NULL;
		n = value->consttype == INT8OID ? DatumGetInt64(value->constvalue) :
			value->consttype == INT4OID ? DatumGetInt32(value->constvalue) :
			DatumGetInt16(value->constvalue);
		return (Node *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
								  Int64GetDatum(Max(n, 0)), false,
								  FLOAT8PASSBYVAL);
	}
	if (!IsA(bound, Param) || ((Param *) bound)->paramkind != PARAM_EXTERN)
		return NULL;
	cast = exprType(bound) == INT4OID ? F_INT8_INT4 : F_INT8_INT2;
	return exprType(bound) == INT8OID ? copyObject(bound) :
		(Node *) makeFuncExpr(cast, INT8OID, list_make1(copyObject(bound)),
							  InvalidOid, InvalidOid, COERCE_IMPLICIT_CAST);
}

/* How many rows do functions look ahead? */
static int64
rows_ahead(const WindowClause * clause, List *funcs, List *inputs)
{
	int64		result = 0;
	ListCell   *lc;

	foreach(lc, funcs)
		result = Max(result,
					 strata_window_rows_ahead(lfirst_node(WindowFunc, lc),
											  clause, inputs));
	return result;
}

/*
 * Of the only window, without partitions, whose row_number() may be no greater
 * than that: a copy over the first rows of its order, and those that functions
 * look ahead to; NULL: it is something else, or these cannot be had.
 */
static WindowAggPath *
window_of_first_rows(PlannerInfo *root, RelOptInfo *input_rel,
					 WindowAggPath * window)
{
	const		WindowClause *clause = window->winclause;
	Path	   *below = window->subpath;
	Path	   *first;
	WindowAggPath *copy;
	Node	   *bound = NULL;
	bool		ties = false;
	int64		ahead;
	ListCell   *lc;

	if (!window->topwindow || clause->partitionClause != NIL)
		return NULL;
	foreach(lc, strata_window_run_condition(window))
	{
		const OpExpr *op = lfirst(lc);

		if (bound == NULL && IsA(op, OpExpr) && list_length(op->args) == 2)
			bound = bound_of_run_condition(op, &ties);
	}
	if (IsA(below, SortPath))
		below = ((SortPath *) below)->subpath;
	if (bound == NULL || IsA(below, WindowAggPath))
		return NULL;
	Assert(exprType(bound) == INT8OID); /* window:WF7 */
	ahead = rows_ahead(clause, functions_of(clause, window->path.pathtarget),
					   below->pathtarget->exprs);
	/* it is not known how many rows are before those */
	if (ties && ahead > 0)
		return NULL;
	first = strata_top_make_window_input(root, input_rel, clause->orderClause,
										 window->subpath->pathtarget, bound,
										 (Node *)
										 makeConst(INT8OID, -1, InvalidOid,
												   sizeof(int64),
												   Int64GetDatum(ahead),
												   false, FLOAT8PASSBYVAL),
										 ties);
	if (first == NULL)
		return NULL;
	copy = makeNode(WindowAggPath);
	*copy = *window;
	copy->subpath = first;
	copy->path.pathkeys = first->pathkeys;
	copy->path.rows = first->rows;
	copy->path.startup_cost = first->startup_cost;
	copy->path.total_cost = first->total_cost +
		(window->path.total_cost - window->subpath->total_cost) *
		first->rows / Max(window->path.rows, 1);
	return copy;
}

/* See window.h. */
void
strata_window_create_paths(PlannerInfo *root, RelOptInfo *input_rel,
						   RelOptInfo *window_rel)
{
	List	   *paths = NIL;
	ListCell   *lc;

	if (!strata_enable_windows || root->parse->hasTargetSRFs ||
		!reads_any_batches(root))
		return;
	/* all of them first: adding one may free those that cost more */
	foreach(lc, window_rel->pathlist)
	{
		WindowAggPath *window = lfirst(lc);

		if (!IsA(window, WindowAggPath))
			continue;
		paths = lappend(paths, replace_window(root, window_rel, window));
		window = window_of_first_rows(root, input_rel, window);
		if (window != NULL)
			paths = lappend(paths, replace_window(root, window_rel, window));
	}
	foreach(lc, paths)
	{
		if (lfirst(lc) != NULL)
			add_path(window_rel, lfirst(lc));
	}
}
