/*-------------------------------------------------------------------------
 *
 * agg_join_path.c
 *	  Hash joins that the planner found, as inputs that give vectors.
 *
 * The path is copied, with columns and an outer side of our own: that side is
 * a table, or another such join.
 *
 * src/agg/agg_join_path.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_join_private.h"
#include "agg/agg_match_private.h"
#include "agg/agg_private.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"
#include "utils/selfuncs.h"

/* Of what PostgreSQL's join takes, what vectors leave. */
#define JOIN_SHARE 0.2

/* A small side has equal keys where fewer of its rows are different. */
#define DIFFERENT_SHARE 0.95

/* The column of those relations that an operand is. */
static bool
is_plain_of(Node *expr, Relids relids)
{
	while (IsA(expr, RelabelType))
		expr = (Node *) ((RelabelType *) expr)->arg;
	return IsA(expr, Var) && ((Var *) expr)->varattno > 0 &&
		bms_is_member((int) ((Var *) expr)->varno, relids);
}

/*
 * Are the join's keys columns, of operators of ours?  Collects the small
 * side's.
 */
static bool
are_plain_keys(HashPath *path, List **small_keys)
{
	Relids		outer = path->jpath.outerjoinpath->parent->relids;
	Relids		small = path->jpath.innerjoinpath->parent->relids;
	ListCell   *lc;

	*small_keys = NIL;
	foreach(lc, path->path_hashclauses)
	{
		RestrictInfo *info = lfirst_node(RestrictInfo, lc);
		Node	   *left = get_leftop(info->clause);
		Node	   *right = get_rightop(info->clause);

		if (!strata_agg_can_match_by(info->hashjoinoperator))
			return false;
		if (is_plain_of(left, outer) && is_plain_of(right, small))
			*small_keys = lappend(*small_keys, right);
		else if (is_plain_of(right, outer) && is_plain_of(left, small))
			*small_keys = lappend(*small_keys, left);
		else
			return false;
	}
	return true;
}

/* Has each row of the outer side one match at most, or is it enough? */
static bool
matches_once(PlannerInfo *root, const HashPath *path, List *small_keys)
{
	const		JoinPath *join = &path->jpath;
	double		rows = join->innerjoinpath->rows;

	if (join->inner_unique || rows <= 1)
		return true;
	if ((join->jointype == JOIN_SEMI || join->jointype == JOIN_ANTI) &&
		list_length(join->joinrestrictinfo) ==
		list_length(path->path_hashclauses))
		return true;
	return estimate_num_groups(root, small_keys, rows, NULL, NULL) >=
		DIFFERENT_SHARE * rows;
}

/* See agg_join_private.h. */
bool
strata_agg_gives_joined_vectors(PlannerInfo *root, Path *path)
{
	HashPath   *hash = (HashPath *) path;
	JoinPath   *join = &hash->jpath;
	List	   *small_keys;
	ListCell   *lc;

	check_stack_depth();
	if (!IsA(path, HashPath) || path->param_info != NULL ||
		path->parallel_aware || hash->num_batches > 1 ||
		join->innerjoinpath->param_info != NULL ||
		!strata_agg_joins_by_vectors(join->jointype) ||
		!strata_agg_can_match_rows(join->innerjoinpath->rows,
								   list_length(join->innerjoinpath->pathtarget
											   ->exprs)))
		return false;
	foreach(lc, join->joinrestrictinfo)
	{
		Node	   *clause = (Node *) lfirst_node(RestrictInfo, lc)->clause;
		ListCell   *lc2;

		if (contain_volatile_functions(clause) || contain_subplans(clause))
			return false;
		foreach(lc2, pull_var_clause(clause, PVC_INCLUDE_PLACEHOLDERS))
		{
			if (!IsA(lfirst(lc2), Var))
				return false;
		}
	}
	if (!are_plain_keys(hash, &small_keys) ||
		!matches_once(root, hash, small_keys))
		return false;
	path = strata_agg_strip_projection(join->outerjoinpath);
	return path->parent->reloptkind == RELOPT_JOINREL ?
		strata_agg_gives_joined_vectors(root, path) :
		strata_agg_find_input(list_make1(path)) != NULL;
}

/* See agg_join_private.h. */
Var *
strata_agg_column_of(const RelOptInfo *rel, Var *var)
{
	ListCell   *lc;

	foreach(lc, rel->reltarget->exprs)
	{
		Var		   *own = lfirst(lc);

		if (IsA(own, Var) && own->varno == var->varno &&
			own->varattno == var->varattno)
			return own;
	}
	return var;
}

/* Columns of the relation among the expressions, beside those there are. */
static List *
add_columns_of(const RelOptInfo *rel, List *columns, Node *exprs)
{
	ListCell   *lc;

	foreach(lc, pull_var_clause(exprs, 0))
	{
		Var		   *var = lfirst_node(Var, lc);

		if (bms_is_member((int) var->varno, rel->relids))
			columns = list_append_unique(columns,
										 strata_agg_column_of(rel, var));
	}
	return columns;
}

/* A copy of the join that returns these columns; NULL: one is not there. */
static Path *
copy_join(PlannerInfo *root, Path *path, List *columns, Cost *saved)
{
	HashPath   *copy = makeNode(HashPath);
	JoinPath   *join = &copy->jpath;
	AggShape	shape = {0};
	PathTarget *target = create_empty_pathtarget();
	Path	   *outer;
	Cost		own;
	ListCell   *lc;

	*copy = *(HashPath *) path;
	outer = strata_agg_strip_projection(join->outerjoinpath);
	own = Max(path->total_cost - join->outerjoinpath->total_cost -
			  join->innerjoinpath->total_cost, 0);
	shape.inputs = add_columns_of(outer->parent, NIL, (Node *) columns);
	foreach(lc, join->joinrestrictinfo)
		shape.inputs = add_columns_of(outer->parent, shape.inputs,
									  (Node *) lfirst_node(RestrictInfo,
														   lc)->clause);
	if (outer->parent->reloptkind == RELOPT_JOINREL)
		outer = copy_join(root, outer, shape.inputs, saved);
	else
		outer = strata_agg_child_path(root, outer->parent, outer, &shape,
									  saved);
	if (outer == NULL)
		return NULL;
	join->outerjoinpath = outer;
	add_new_columns_to_pathtarget(target, columns);
	join->path.pathtarget = set_pathtarget_cost_width(root, target);
	join->path.pathkeys = NIL;
	join->path.total_cost = outer->total_cost +
		join->innerjoinpath->total_cost + own;
	*saved += own * (1 - JOIN_SHARE);
	return &join->path;
}

/* See agg_join_private.h. */
Path *
strata_agg_cheapest_joined(PlannerInfo *root, const RelOptInfo *joinrel)
{
	Path	   *best = NULL;
	ListCell   *lc;

	foreach(lc, strata_agg_join_paths(joinrel))
	{
		Path	   *path = strata_agg_strip_projection(lfirst(lc));

		if ((best == NULL || path->total_cost < best->total_cost) &&
			strata_agg_gives_joined_vectors(root, path))
			best = path;
	}
	return best;
}

/* See agg_join_private.h. */
Path *
strata_agg_join_child_path(PlannerInfo *root, RelOptInfo *rel,
						   const AggShape *shape, Cost *saved)
{
	Path	   *best = strata_enable_join_vectors ?
	strata_agg_cheapest_joined(root, rel) : NULL;

	*saved = 0;
	return best == NULL ? NULL :
		copy_join(root, best, shape->inputs, saved);
}
