/*-------------------------------------------------------------------------
 *
 * top_path.c
 *	  When a StrataTop is offered, over which paths, and at what cost.
 *
 * The input is a StrataScan, or an Append of the partitions of a table of
 * which at least one is.  Either is given a target of its own, the columns
 * that are needed; what the query computes of them we compute, of the rows
 * that are returned.
 *
 * Over 600 lines: LIMIT, and a window that wants the first rows only, share
 * most of it.
 *
 * src/top/top_path.c
 *-------------------------------------------------------------------------
 */
#include "top/top_private.h"

#include <math.h>

#include "access/stratnum.h"
#include "access/table.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "top/top.h"
#include "utils/lsyscache.h"

/* Per row, in units of cpu_operator_cost: its key is looked at. */
#define COST_LOOK 0.05
/* Of what a key that is an expression costs row by row. */
#define COST_EXPR 0.5
/* ... and per row that is kept for a while. */
#define COST_KEEP 4.0

/*
 * The share of a table that is read for the nearest rows: at least, and as a
 * multiple of theirs; how rows lie is not known.
 */
#define NEAREST_LEAST 0.02
#define NEAREST_SHARE 4.0

/* LIMIT's value when the plan does not know it. */
#define DEFAULT_LIMIT 100.0

/*-------------------------------------------------------------------------
 * The query
 *-------------------------------------------------------------------------
 */

/* Can the node evaluate LIMIT's or OFFSET's expression when it runs? */
static bool
is_simple_count(Node *expr)
{
	return !contain_volatile_functions(expr) && !contain_subplans(expr) &&
		!contain_var_clause(expr);
}

/* Does the query want no more than the first rows of an order, as they are? */
static bool
wants_first_rows(PlannerInfo *root)
{
	const Query *parse = root->parse;

	return parse->commandType == CMD_SELECT && parse->limitCount != NULL &&
		root->sort_pathkeys != NIL && parse->setOperations == NULL &&
		parse->rowMarks == NIL && parse->groupClause == NIL &&
		parse->groupingSets == NIL && parse->distinctClause == NIL &&
		!parse->hasAggs && !parse->hasWindowFuncs && !parse->hasTargetSRFs &&
		!root->hasHavingQual && is_simple_count(parse->limitCount) &&
		is_simple_count(parse->limitOffset);
}

/* A count that the plan knows; -1: it does not. */
static double
known_count(Node *expr)
{
	Const	   *value = (Const *) expr;

	if (expr == NULL)
		return 0;
	if (!IsA(expr, Const) || value->constisnull)
		return -1;
	return (double) DatumGetInt64(value->constvalue);
}

/* The column that a key is, in the column's own order; NULL: it is none. */
static Var *
column_of_key(Expr *expr, Index relid)
{
	Var		   *var = strata_match_column((Node *) expr, relid);

	return var != NULL && var->varcollid == exprCollation((Node *) expr) ?
		var : NULL;
}

/* Can a key be computed of columns of the relation? */
static bool
is_computable(Expr *expr)
{
	Node	   *node = (Node *) expr;

	return contain_var_clause(node) && !contain_subplans(node) &&
		!contain_volatile_functions(node) &&
		!type_is_rowtype(exprType(node));
}

/*
 * Fill in the keys; false: one is neither a column, nor what else the shape
 * may have: a distance in front, or expressions.
 */
static bool
find_top_keys(PlannerInfo *root, RelOptInfo *rel, List *clauses,
			  bool by_distance, TopShape *shape)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		Expr	   *expr = (Expr *)
		get_sortgroupclause_expr(clause, root->processed_tlist);
		Var		   *column = column_of_key(expr, rel->relid);

		if (by_distance && lc == list_head(clauses) &&
			(column != NULL ||
			 !strata_top_match_distance(expr, clause, rel->relid,
										&shape->distance)))
			return false;
		if (column == NULL && (!by_distance || lc != list_head(clauses)) &&
			(by_distance || !is_computable(expr)))
			return false;
		shape->keys = lappend(shape->keys,
							  column != NULL ? (Expr *) column : expr);
		shape->clauses = lappend(shape->clauses, clause);
	}
	return shape->keys != NIL;
}

/* Add columns that the expressions read; false: they read something else. */
static bool
add_columns_read(RelOptInfo *rel, void *exprs, TopShape *shape)
{
	ListCell   *lc;

	foreach(lc, pull_var_clause((Node *) exprs,
								PVC_INCLUDE_PLACEHOLDERS |
								PVC_INCLUDE_AGGREGATES |
								PVC_INCLUDE_WINDOWFUNCS))
	{
		Var		   *var = lfirst(lc);

		if (!IsA(var, Var) || var->varno != rel->relid || var->varattno <= 0)
			return false;
		shape->inputs = list_append_unique(shape->inputs, var);
	}
	return true;
}

/* The columns that are needed; false: something else is. */
static bool
find_inputs(PlannerInfo *root, RelOptInfo *rel, PathTarget *target,
			TopShape *shape)
{
	QualCost	cost;
	ListCell   *lc;

	Assert(list_length(shape->keys) ==
		   list_length(shape->clauses));	/* top:N5 */
	foreach(lc, shape->keys)
	{
		Expr	   *expr = lfirst(lc);
		bool		is_distance = expr == shape->distance.expr;

		if (is_distance)
			expr = (Expr *) shape->distance.column;
		if (!add_columns_read(rel, expr, shape))
			return false;
		if (is_distance || IsA(expr, Var))
			continue;
		cost_qual_eval_node(&cost, (Node *) expr, root);
		shape->expr_cost += cost.per_tuple * COST_EXPR;
	}
	shape->nlooked = list_length(shape->inputs);
	return add_columns_read(rel, target->exprs, shape);
}

/* Do the partitions of the relation follow each other by the column? */
static bool
follows_partitions(const RelOptInfo *rel, const Var *column)
{
	return rel->part_scheme != NULL &&
		rel->part_scheme->strategy == PARTITION_STRATEGY_RANGE &&
		rel->part_scheme->partnatts == 1 && rel->partexprs != NULL &&
		list_member(rel->partexprs[0], column);
}

/* Can the column be null, in the table or a child of it? */
static bool
is_nullable(PlannerInfo *root, RelOptInfo *rel, const Var *column)
{
	RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);
	Relation	relation;
	bool		result;

	if (rte->inh && rte->relkind != RELKIND_PARTITIONED_TABLE)
		return true;
	relation = table_open(rte->relid, NoLock);
	result = !strata_attribute_is_not_null(RelationGetDescr(relation),
										   column->varattno);
	table_close(relation, NoLock);
	return result;
}

/* Is there a qual that has to be evaluated for every row? */
static bool
has_volatile_qual(const RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
	{
		if (contain_volatile_functions((Node *) lfirst_node(RestrictInfo, lc)
									   ->clause))
			return true;
	}
	return false;
}

/*
 * Fill in how many rows of the shape's keys are wanted, as far as the plan
 * knows (-1: it does not), and what is known of the first key; false: it is
 * not for us.
 */
static bool
find_first_rows(PlannerInfo *root, RelOptInfo *rel, double count,
				double offset, TopShape *shape)
{
	SortGroupClause *clause;
	Var		   *first;
	Oid			family;
	Oid			type;
	StrataSortOrder order;

	shape->n = count < 0 ? DEFAULT_LIMIT : count + Max(offset, 0);
	if (shape->n < 1 ||
		shape->n * sizeof(TopValue) * list_length(shape->keys) >
		work_mem * 1024.0 / 2)
		return false;
	if (shape->distance.expr != NULL)
		return true;
	first = linitial(shape->keys);
	shape->nullable = !IsA(first, Var);
	if (shape->nullable)
		return true;
	clause = linitial_node(SortGroupClause, shape->clauses);
	if (!get_ordering_op_properties(clause->sortop, &family, &type, &order))
		return false;
	shape->desc = order == STRATA_SORT_DESC;
	shape->nullable = clause->nulls_first && is_nullable(root, rel, first);
	shape->ordered = strata_integer_width(getBaseType(first->vartype)) > 0 &&
		follows_partitions(rel, first);
	return true;
}

/* Fill in the shape; false: it is not for us. */
static bool
find_shape(PlannerInfo *root, RelOptInfo *rel, PathTarget *target,
		   bool by_distance, TopShape *shape)
{
	const Query *parse = root->parse;
	double		count = known_count(parse->limitCount);
	double		offset = known_count(parse->limitOffset);

	memset(shape, 0, sizeof(*shape));
	shape->ties = parse->limitOption == LIMIT_OPTION_WITH_TIES;
	if (!wants_first_rows(root) || (shape->ties && by_distance) ||
		has_volatile_qual(rel) ||
		!find_top_keys(root, rel, root->parse->sortClause, by_distance,
					   shape) ||
		!find_inputs(root, rel, target, shape))
		return false;
	if (IsA(parse->limitCount, Const) && count < 0)
		return false;			/* LIMIT NULL, or an error */
	shape->limits = parse->limitOffset == NULL ?
		list_make1(parse->limitCount) :
		list_make2(parse->limitCount, parse->limitOffset);
	return find_first_rows(root, rel, count, offset, shape);
}

/* See top_private.h. */
bool
strata_top_find_columns(PlannerInfo *root, RelOptInfo *rel, List *clauses,
						PathTarget *target, TopShape *shape)
{
	memset(shape, 0, sizeof(*shape));
	shape->all = true;
	return !has_volatile_qual(rel) &&
		find_top_keys(root, rel, clauses, false, shape) &&
		find_inputs(root, rel, target, shape);
}

/*-------------------------------------------------------------------------
 * Paths
 *-------------------------------------------------------------------------
 */

static Path *
without_projection(Path *path)
{
	while (IsA(path, ProjectionPath) &&
		   ((ProjectionPath *) path)->subpath->parent == path->parent)
		path = ((ProjectionPath *) path)->subpath;
	return path;
}

/*
 * The relation's path with these columns as its target, from the best end on
 * where the scan can do so; adds to *cost what reading it takes.
 */
static Path *
make_scan_input(PlannerInfo *root, Path *path, List *exprs,
				const TopShape *shape, double share, Cost *cost)
{
	PathTarget *target = create_empty_pathtarget();
	StrataVectorCost saved;
	ListCell   *lc;

	foreach(lc, exprs)
	{
		if (!list_member(path->pathtarget->exprs, lfirst(lc)))
			return NULL;
	}
	if (strata_scan_path_gives_vectors(path, &saved))
	{
		/* keys are decoded, of the rest little */
		double		rest = 1.0 - (double) shape->nlooked /
		list_length(exprs);

		if (shape->distance.expr == NULL && !shape->nullable && share < 1)
			path = strata_scan_path_from_end(path,
											 linitial_node(Var, exprs)
											 ->varattno, shape->desc, share);
		*cost += Max(path->total_cost - saved.rows - rest * saved.decode,
					 path->startup_cost);
	}
	else
		*cost += path->total_cost;
	*cost += path->rows * COST_LOOK * cpu_operator_cost;
	add_new_columns_to_pathtarget(target, exprs);
	set_pathtarget_cost_width(root, target);
	return (Path *) create_projection_path(root, path->parent, path, target);
}

/* Can path be read by us, and are there vectors in it? */
static bool
is_usable_input(Path *path)
{
	ListCell   *lc;

	if (path->param_info != NULL)
		return false;
	if (!IsA(path, AppendPath))
		return strata_scan_path_gives_vectors(path, NULL);
	if (path->parallel_aware || path->parallel_workers > 0)
		return false;
	foreach(lc, ((AppendPath *) path)->subpaths)
	{
		if (strata_scan_path_gives_vectors(without_projection(lfirst(lc)),
										   NULL))
			return true;
	}
	return false;
}

/* The cheapest input; NULL: there is none. */
static Path *
find_top_input(List *paths)
{
	Path	   *best = NULL;
	ListCell   *lc;

	foreach(lc, paths)
	{
		Path	   *path = without_projection(lfirst(lc));

		if (is_usable_input(path) &&
			(best == NULL || path->total_cost < best->total_cost))
			best = path;
	}
	return best;
}

/* Has the path's table an index that gives the distances of the first key? */
static bool
has_distances(PlannerInfo *root, const TopShape *shape, List *exprs,
			  const Path *path)
{
	const RangeTblEntry *rte = planner_rt_fetch(path->parent->relid, root);
	ListCell   *lc;
	ListCell   *lc2;

	forboth(lc, shape->inputs, lc2, exprs)
	{
		if (lfirst(lc) == shape->distance.column ||
			equal(lfirst(lc), shape->distance.column))
			return IsA(lfirst(lc2), Var) &&
				strata_scan_path_gives_vectors((Path *) path, NULL) &&
				strata_top_table_has_distances(rte->relid, &shape->distance,
											   lfirst_node(Var, lc2));
	}
	return false;
}

/*
 * A child that gives no vectors: its path in the order of the distances, which
 * an index of it gives; or NULL.
 */
static Path *
find_child_by_distance(PlannerInfo *root, const TopShape *shape, Path *path)
{
	ListCell   *lc;

	if (shape->distance.expr == NULL ||
		strata_scan_path_gives_vectors(without_projection(path), NULL))
		return NULL;
	foreach(lc, path->parent->pathlist)
	{
		Path	   *own = without_projection(lfirst(lc));

		if (IsA(own, IndexPath) && own->param_info == NULL &&
			((IndexPath *) own)->indexorderbys != NIL &&
			pathkeys_contained_in(root->sort_pathkeys, own->pathkeys))
			return own;
	}
	return NULL;
}

/*
 * A child's path: itself, or the cheapest one of its relation that gives
 * vectors.
 */
static Path *
find_child(Path *path)
{
	Path	   *own = without_projection(path);
	Path	   *found = find_top_input(own->parent->pathlist);

	return found != NULL && !IsA(found, AppendPath) ? found : own;
}

/* The Append over the same children, with the inputs as its target. */
static Path *
make_append_input(PlannerInfo *root, RelOptInfo *rel, AppendPath *append,
				  const TopShape *shape, Cost *cost)
{
	int			n = list_length(append->subpaths);
	List	   *subpaths = list_copy(append->subpaths);
	PathTarget *target = create_empty_pathtarget();
	double		missing = shape->n;
	bool		has = shape->distance.expr == NULL;
	AppendPath *result;

	for (int i = 0; i < n; i++)
	{
		int			number = shape->ordered && shape->desc ? n - 1 - i : i;
		Path	   *nearest = find_child_by_distance(root, shape,
													 list_nth(subpaths,
															  number));
		Path	   *path = nearest != NULL ? nearest :
		find_child(list_nth(subpaths, number));
		List	   *exprs = (List *)
		strata_adjust_appendrel_attrs_multilevel(root,
												 (Node *) shape->inputs,
												 path->parent, rel);
		Cost		mine = 0;
		double		rows = path->rows;
		double		share = Min(Max(missing, 1) / Max(rows, 1), 1.0);
		bool		by_distance = nearest != NULL ||
		(shape->distance.expr != NULL &&
		 has_distances(root, shape, exprs, path));

		has = has || by_distance;
		path = make_scan_input(root, path, exprs, shape, share, &mine);
		if (path == NULL)
			return NULL;
		if (by_distance)
			mine *= Min(NEAREST_LEAST + NEAREST_SHARE * share, 1);
		/* partitions behind those that have enough are not read */
		if (!shape->ordered || missing > 0)
			*cost += mine;
		if (shape->ordered)
			missing -= rows;
		lfirst(list_nth_cell(subpaths, number)) = path;
	}
	if (!has)
		return NULL;
	result = create_append_path(root, rel, subpaths, NIL, NIL, NULL, 0, false,
								-1);
	add_new_columns_to_pathtarget(target, shape->inputs);
	result->path.pathtarget = set_pathtarget_cost_width(root, target);
	return &result->path;
}

/*
 * What the first rows of an Append that has the order cost.  Its own startup
 * cost is that of all its children, though the later ones are not begun.
 */
static Cost
first_rows_cost(const AppendPath *append, double n)
{
	Cost		cost = 0;
	ListCell   *lc;

	foreach(lc, append->subpaths)
	{
		const Path *path = lfirst(lc);
		double		share = Min(n / Max(path->rows, 1), 1.0);

		if (n <= 0)
			break;
		cost += path->startup_cost +
			share * (path->total_cost - path->startup_cost);
		n -= path->rows;
	}
	return cost;
}

/* Is there an Append that gives the first rows in their order for less? */
static bool
is_ordered_already(const RelOptInfo *rel, List *pathkeys, double n, Cost cost)
{
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		Path	   *path = without_projection(lfirst(lc));

		if (IsA(path, AppendPath) && path->param_info == NULL &&
			pathkeys_contained_in(pathkeys, path->pathkeys) &&
			first_rows_cost((AppendPath *) path, n) <= cost)
			return true;
	}
	return false;
}

/* The path over its child, which costs so much. */
static CustomPath *
make_top_path(RelOptInfo *parent, PathTarget *target, List *pathkeys,
			  Path *child, const TopShape *shape, Cost cost)
{
	CustomPath *path = makeNode(CustomPath);
	double		rows = clamp_row_est(Min(shape->n, child->rows));

	cost += child->rows * shape->expr_cost;
	path->path.pathtype = T_CustomScan;
	path->path.parent = parent;
	path->path.pathtarget = target;
	path->path.pathkeys = pathkeys;
	path->path.parallel_safe = parent->consider_parallel &&
		child->parallel_safe;
	path->path.rows = rows;
	/* so many rows are likely to be better than those before them */
	cost += rows * (1 + log(Max(child->rows / rows, 1))) * COST_KEEP *
		cpu_operator_cost * log(rows + 2) / log(2.0);
	path->path.startup_cost = cost + target->cost.startup;
	path->path.total_cost = path->path.startup_cost +
		rows * (cpu_tuple_cost + target->cost.per_tuple);
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_paths = list_make1(child);
	strata_top_path_set_data(path, shape);
	path->methods = &strata_top_path_methods;
	strata_path_copy_disabled(&path->path, child);
	return path;
}

/* See top_private.h. */
Path *
strata_top_make_input(PlannerInfo *root, RelOptInfo *rel, TopShape *shape,
					  Cost *cost)
{
	Path	   *input = find_top_input(rel->pathlist);
	Path	   *child;
	double		share;

	*cost = 0;
	if (input == NULL)
		return NULL;
	if (shape->all)
		shape->n = input->rows;
	if (IsA(input, AppendPath))
		return make_append_input(root, rel, (AppendPath *) input, shape,
								 cost);
	if (shape->distance.expr != NULL &&
		!has_distances(root, shape, shape->inputs, input))
		return NULL;
	share = Min(shape->n / Max(input->rows, 1), 1.0);
	child = make_scan_input(root, input, shape->inputs, shape, share, cost);
	if (shape->distance.expr != NULL)
		*cost *= Min(NEAREST_LEAST + NEAREST_SHARE * share, 1);
	return child;
}

/* Is it a table, with rows that we can read? */
static bool
is_table(RelOptInfo *rel)
{
	return rel->reloptkind == RELOPT_BASEREL &&
		rel->rtekind == RTE_RELATION && !IS_DUMMY_REL(rel) &&
		find_top_input(rel->pathlist) != NULL;
}

/*
 * The shape of the query and the path that its rows come from, by distances
 * or not; NULL: there is none.
 */
static Path *
find_child_of_query(PlannerInfo *root, RelOptInfo *rel, PathTarget *target,
					bool by_distance, TopShape *shape, Cost *cost)
{
	return find_shape(root, rel, target, by_distance, shape) ?
		strata_top_make_input(root, rel, shape, cost) : NULL;
}

/* See top.h. */
void
strata_top_create_paths(PlannerInfo *root, RelOptInfo *input_rel,
						RelOptInfo *ordered_rel)
{
	PathTarget *target = root->upper_targets[UPPERREL_ORDERED];
	TopShape	shape;
	Path	   *child;
	Cost		cost;

	if (!strata_enable_top_n || !is_table(input_rel))
		return;
	child = find_child_of_query(root, input_rel, target, true, &shape, &cost);
	if (child == NULL)
		child = find_child_of_query(root, input_rel, target, false, &shape,
									&cost);
	if (child != NULL &&
		!is_ordered_already(input_rel, root->sort_pathkeys, shape.n, cost))
		add_path(ordered_rel, (Path *)
				 make_top_path(ordered_rel, target, root->sort_pathkeys,
							   child, &shape, cost));
}

/* See top.h. */
Path *
strata_top_make_window_input(PlannerInfo *root, RelOptInfo *input_rel,
							 List *clauses, PathTarget *target, Node *limit,
							 Node *offset, bool ties)
{
	TopShape	shape;
	Path	   *child;
	Cost		cost;

	if (!strata_enable_top_n || !is_table(input_rel) ||
		root->parse->rowMarks != NIL ||
		contain_volatile_functions((Node *) target->exprs) ||
		!strata_top_find_columns(root, input_rel, clauses, target, &shape))
		return NULL;
	shape.all = false;
	shape.ties = ties;
	shape.limits = list_make2(limit, offset);
	if (!find_first_rows(root, input_rel, known_count(limit),
						 known_count(offset), &shape))
		return NULL;
	child = strata_top_make_input(root, input_rel, &shape, &cost);
	if (child == NULL ||
		is_ordered_already(input_rel, root->window_pathkeys, shape.n, cost))
		return NULL;
	return (Path *) make_top_path(input_rel, target, root->window_pathkeys,
								  child, &shape, cost);
}

/* See top.h. */
bool
strata_top_path_is_ours(const Path *path)
{
	return IsA(path, CustomPath) &&
		((const CustomPath *) path)->methods == &strata_top_path_methods;
}
