/*-------------------------------------------------------------------------
 *
 * top_sort_path.c
 *	  When a StrataSort is offered.
 *
 * In the place of a sort of all rows of a table, by columns: for ORDER BY, and
 * below window functions, which then read its rows in the order of their
 * partitions.
 *
 * src/top/top_sort_path.c
 *-------------------------------------------------------------------------
 */
#include "top/top_private.h"

#include <math.h>

#include "base/compat.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "top/top.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

/* Per row, in units of cpu_operator_cost: it is put in order, ... */
#define COST_ORDER 4.0
/* ... and each of its columns goes in and out. */
#define COST_COLUMN 0.5
/* Of a page that goes to disk and back, in units of seq_page_cost. */
#define COST_PAGE 0.5

/* Rows of a vector, as batches mostly have, and what a value is kept with. */
#define VECTOR_ROWS 1000.0
#define VALUE_BYTES 8

/*
 * Does a scan, or one behind the other, give the rows in that order?  Then
 * nothing is gained.  Merging several of them takes longer than sorting; and
 * what is sorted for processes to be merged (GatherMerge) is among the paths.
 */
static bool
comes_in_order(const RelOptInfo *rel, List *pathkeys)
{
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		Path	   *path = lfirst(lc);

		while (IsA(path, ProjectionPath))
			path = ((ProjectionPath *) path)->subpath;
		if ((IsA(path, CustomPath) || IsA(path, IndexPath) ||
			 IsA(path, AppendPath)) && path->param_info == NULL &&
			pathkeys_contained_in(pathkeys, path->pathkeys))
			return true;
	}
	return false;
}

/*
 * Bytes of values by reference that a sort keeps: of a key each different
 * value once, of another column once for each vector.
 */
static double
bytes_of_values(PlannerInfo *root, const RelOptInfo *rel,
				const TopShape *shape, double rows)
{
	double		bytes = 0;
	ListCell   *lc;

	foreach(lc, shape->inputs)
	{
		Var		   *var = lfirst_node(Var, lc);
		int32		width = rel->attr_widths[var->varattno - rel->min_attr];
		double		n;

		if (get_typbyval(var->vartype))
			continue;
		if (width <= 0)
			width = get_typavgwidth(var->vartype, var->vartypmod);
		n = estimate_num_groups(root, list_make1(var), rows, NULL, NULL);
		if (!list_member(shape->keys, var))
			n *= ceil(rows / VECTOR_ROWS);
		bytes += Min(n, rows) * (width + VALUE_BYTES);
	}
	foreach(lc, shape->keys)
	{
		Node	   *key = lfirst(lc);

		if (IsA(key, Var) || get_typbyval(exprType(key)))
			continue;
		bytes += (get_typavgwidth(exprType(key), exprTypmod(key)) +
				  VALUE_BYTES) *
			estimate_num_groups(root, list_make1(key), rows, NULL, NULL);
	}
	return bytes;
}

/*
 * Add what sorting costs.  Where values by reference are too many, all rows
 * go through PostgreSQL's sort.
 */
static void
add_sort_cost(PlannerInfo *root, const RelOptInfo *rel, const TopShape *shape,
			  const PathTarget *target, List *pathkeys, double rows,
			  Cost *cost)
{
	int			ninputs = list_length(shape->inputs);
	double		bytes = rows * (8.0 * ninputs + 8);
	Path		sorted;

	*cost += rows * (shape->expr_cost + cpu_operator_cost *
					 (COST_ORDER + COST_COLUMN * ninputs));
	if (bytes_of_values(root, rel, shape, rows) > work_mem * 1024.0 / 2)
	{
		strata_cost_sort(&sorted, root, pathkeys, *cost, rows, target->width,
						 -1);
		*cost = sorted.total_cost;
	}
	else if (bytes > work_mem * 1024.0)
		*cost += COST_PAGE * seq_page_cost * bytes / BLCKSZ;
}

/* A StrataSort of the relation by the clauses; NULL: it cannot be had. */
static Path *
make_sort_path(PlannerInfo *root, RelOptInfo *rel, RelOptInfo *parent,
			   List *clauses, PathTarget *target, List *pathkeys)
{
	TopShape	shape;
	Path	   *child;
	CustomPath *path;
	Cost		cost;

	if (rel->reloptkind != RELOPT_BASEREL || rel->rtekind != RTE_RELATION ||
		IS_DUMMY_REL(rel) || comes_in_order(rel, pathkeys) ||
		!strata_top_find_columns(root, rel, clauses, target, &shape) ||
		contain_volatile_functions((Node *) target->exprs))
		return NULL;
	/* a column may be there twice, in orders that differ */
	for (int k = 0; k < list_length(shape.keys); k++)
		for (int j = 0; j < k; j++)
			if (equal(list_nth(shape.keys, j), list_nth(shape.keys, k)))
				return NULL;
	child = strata_top_make_input(root, rel, &shape, &cost);
	if (child == NULL)
		return NULL;
	add_sort_cost(root, rel, &shape, target, pathkeys, child->rows, &cost);
	path = makeNode(CustomPath);
	path->path.pathtype = T_CustomScan;
	path->path.parent = parent;
	path->path.pathtarget = target;
	path->path.pathkeys = pathkeys;
	path->path.parallel_safe = parent->consider_parallel &&
		child->parallel_safe;
	path->path.rows = child->rows;
	path->path.startup_cost = cost + target->cost.startup;
	path->path.total_cost = path->path.startup_cost +
		child->rows * (cpu_operator_cost + target->cost.per_tuple);
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_paths = list_make1(child);
	path->methods = &strata_sort_path_methods;
	strata_top_path_set_data(path, &shape);
	strata_path_copy_disabled(&path->path, child);
	return &path->path;
}

/* Are all rows of a relation wanted, and nothing but these? */
static bool
wants_all_rows(PlannerInfo *root)
{
	const Query *parse = root->parse;

	return strata_enable_vector_sort && enable_sort &&
		parse->commandType == CMD_SELECT && parse->rowMarks == NIL &&
		parse->setOperations == NULL && parse->groupClause == NIL &&
		parse->groupingSets == NIL && !parse->hasAggs &&
		!parse->hasTargetSRFs && !root->hasHavingQual;
}

/*
 * See top.h.  Who wants a part of the rows (a cursor, a LIMIT above) has
 * PostgreSQL's sort, which can go back and keeps no more than that.
 */
void
strata_sort_create_paths(PlannerInfo *root, RelOptInfo *input_rel,
						 RelOptInfo *ordered_rel)
{
	Path	   *path = NULL;

	if (wants_all_rows(root) && root->limit_tuples < 0 &&
		root->tuple_fraction <= 0 &&
		root->parse->distinctClause == NIL &&
		!root->parse->hasWindowFuncs && root->sort_pathkeys != NIL)
		path = make_sort_path(root, input_rel, ordered_rel,
							  root->parse->sortClause,
							  root->upper_targets[UPPERREL_ORDERED],
							  root->sort_pathkeys);
	if (path != NULL)
		add_path(ordered_rel, path);
}

/* See top.h. */
bool
strata_sort_path_is_ours(const Path *path)
{
	return IsA(path, CustomPath) &&
		((const CustomPath *) path)->methods == &strata_sort_path_methods;
}

/*-------------------------------------------------------------------------
 * Below window functions
 *-------------------------------------------------------------------------
 */

/* Windows of a path, the last first; NULL: the path is something else. */
static WindowAggPath *
first_window(Path *path)
{
	WindowAggPath *first = NULL;

	for (;;)
	{
		if (IsA(path, WindowAggPath))
		{
			first = (WindowAggPath *) path;
			path = first->subpath;
		}
		else if (IsA(path, SortPath))
			path = ((SortPath *) path)->subpath;
		else
			return first;
	}
}

/* A copy of the path with another input of its first window. */
static Path *
copy_windows(Path *path, Path *old, Path *input)
{
	Path	  **subpath;
	Path	   *copy;
	Path	   *below;

	if (path == old)
		return input;
	if (IsA(path, WindowAggPath))
	{
		WindowAggPath *window = makeNode(WindowAggPath);

		*window = *(WindowAggPath *) path;
		subpath = &window->subpath;
		copy = &window->path;
	}
	else
	{
		SortPath   *sort = makeNode(SortPath);

		Assert(IsA(path, SortPath));	/* top:N8 */
		*sort = *(SortPath *) path;
		subpath = &sort->subpath;
		copy = &sort->path;
	}
	below = *subpath;
	*subpath = copy_windows(below, old, input);
	copy->startup_cost += (*subpath)->startup_cost - below->startup_cost;
	copy->total_cost += (*subpath)->total_cost - below->total_cost;
	if (IsA(copy, WindowAggPath))
		copy->pathkeys = (*subpath)->pathkeys;
	strata_path_copy_disabled(copy, *subpath);
	return copy;
}

/*
 * Does a window above ask for the first rows of each partition only, which an
 * ordered scan that is there can give it?
 */
static bool
is_limited(WindowAggPath * window)
{
	return strata_window_run_condition(window) != NIL &&
		!IsA(window->subpath, SortPath);
}

/* See top.h. */
void
strata_sort_create_window_paths(PlannerInfo *root, RelOptInfo *input_rel,
								RelOptInfo *window_rel)
{
	Path	   *path;
	Path	   *input;
	WindowAggPath *first;
	ListCell   *lc;

	if (!wants_all_rows(root) || root->window_pathkeys == NIL)
		return;
	foreach(lc, window_rel->pathlist)
	{
		first = first_window(lfirst(lc));
		if (first != NULL && is_limited(first))
			return;
	}
	path = window_rel->cheapest_total_path != NULL ?
		window_rel->cheapest_total_path : linitial(window_rel->pathlist);
	first = first_window(path);
	if (first == NULL)
		return;
	input = make_sort_path(root, input_rel, input_rel,
						   list_concat_copy(first->winclause->partitionClause,
											first->winclause->orderClause),
						   first->subpath->pathtarget, root->window_pathkeys);
	if (input != NULL)
		add_path(window_rel, copy_windows(path, first->subpath, input));
}
