/*-------------------------------------------------------------------------
 *
 * agg_join_semi.c
 *	  Semi and anti joins that look into different values, not into rows.
 *
 * EXISTS, IN and NOT EXISTS ask of their inner side only whether there is such
 * a row.  Rows that are equal in all columns that the join's conditions read
 * are one row to it.  So where that side is a table that gives vectors, joins
 * are offered that have its groups by those columns in its place.
 *
 * src/agg/agg_join_semi.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg.h"
#include "agg/agg_join_private.h"
#include "agg/agg_private.h"
#include "scan/scan.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"

/* Does an expression that the join returns read the relation? */
static bool
returns_columns_of(const RelOptInfo *joinrel, const RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, pull_var_clause((Node *) joinrel->reltarget->exprs,
								PVC_RECURSE_PLACEHOLDERS))
	{
		if (lfirst_node(Var, lc)->varno == (int) rel->relid)
			return true;
	}
	return false;
}

/*
 * The different rows of inner, by what the clauses read of it; NULL: there are
 * about as many of them, or more than columns is read.
 */
static Path *
make_groups(PlannerInfo *root, RelOptInfo *inner, List *clauses)
{
	JoinBelow	below = {root, inner};
	AggShape	part = {0};
	ListCell   *lc;

	if (!strata_agg_join_add_columns(&below, clauses))
		return NULL;
	foreach(lc, below.columns)
	{
		/* an anti join may have made an outer join's mark on it void */
		Expr	   *column = (Expr *) strata_agg_column_of(inner, lfirst(lc));

		strata_agg_add_part_key(column, &part);
		strata_agg_can_evaluate((Node *) column, inner->relid, &part);
	}
	/* without keys there would be a group where there are no rows */
	if (part.reason != NULL || part.keys == NIL ||
		list_length(part.keys) > AGG_MAX_KEYS)
		return NULL;
	return strata_agg_join_distinct(&below, &part);
}

/*
 * Is each row of the other side equal to one group at most?  All conditions
 * are equalities with a column of rel, whose values are equal when their bytes
 * are.
 */
static bool
match_once(const RelOptInfo *rel, List *clauses)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *info = lfirst_node(RestrictInfo, lc);
		OpExpr	   *clause = (OpExpr *) info->clause;
		Node	   *own;
		Node	   *column;

		if (!IsA(clause, OpExpr) || list_length(clause->args) != 2)
			return false;
		if (bms_equal(info->left_relids, rel->relids) &&
			!bms_overlap(info->right_relids, rel->relids))
			own = linitial(clause->args);
		else if (bms_equal(info->right_relids, rel->relids) &&
				 !bms_overlap(info->left_relids, rel->relids))
			own = lsecond(clause->args);
		else
			return false;
		column = own;
		while (IsA(column, RelabelType))
			column = (Node *) ((RelabelType *) column)->arg;
		if (!IsA(column, Var) ||
			(OidIsValid(clause->inputcollid) &&
			 !get_collation_isdeterministic(clause->inputcollid)) ||
			!strata_agg_is_equal_by_image(exprType(own), exprCollation(own),
										  clause->opno))
			return false;
	}
	return true;
}

/*
 * Groups that are all different in the join's keys, as PostgreSQL's costs of
 * hash joins know such a side; the plan is that of the groups.
 */
static Path *
as_unique(Path *groups)
{
	UniquePath *path = makeNode(UniquePath);

	path->path = *groups;
	path->path.type = T_UniquePath;
	path->path.pathtype = T_Unique;
	path->subpath = groups;
	path->umethod = UNIQUE_PATH_NOOP;
	return &path->path;
}

/* See agg_join_private.h. */
Path *
strata_agg_semi_groups(PlannerInfo *root, const RelOptInfo *joinrel,
					   RelOptInfo *inner, List *clauses)
{
	Path	   *groups;

	if (!strata_enable_vector_agg || !strata_enable_join_aggregation ||
		inner->reloptkind != RELOPT_BASEREL ||
		inner->rtekind != RTE_RELATION || IS_DUMMY_REL(inner) ||
		inner->lateral_relids != NULL || joinrel->lateral_relids != NULL ||
		strata_agg_find_input(inner->pathlist) == NULL ||
		returns_columns_of(joinrel, inner))
		return NULL;
	groups = make_groups(root, inner, clauses);
	return groups != NULL && match_once(inner, clauses) ?
		as_unique(groups) : groups;
}

/* Offer a hash join of the two. */
static void
offer_hash_join(PlannerInfo *root, RelOptInfo *joinrel, JoinType jointype,
				Path *outer, Path *inner, JoinPathExtraData *extra)
{
	JoinCostWorkspace workspace;
	List	   *clauses;

	if (!enable_hashjoin || outer->param_info != NULL ||
		inner->param_info != NULL)
		return;
	clauses = strata_join_hash_clauses(joinrel, outer->parent, inner->parent,
									   jointype, extra->restrictlist);
	if (clauses == NIL)
		return;
	initial_cost_hashjoin(root, &workspace, jointype, clauses, outer, inner,
						  extra, false);
	add_path(joinrel, (Path *)
			 create_hashjoin_path(root, joinrel, jointype, &workspace, extra,
								  outer, inner, false, extra->restrictlist,
								  NULL, clauses));
}

/* Offer to look each group up by an index of inner's, or whatever it has. */
static void
offer_nested_loops(PlannerInfo *root, RelOptInfo *joinrel, Path *groups,
				   const RelOptInfo *inner, JoinPathExtraData *extra)
{
	ListCell   *lc;

	foreach(lc, inner->cheapest_parameterized_paths)
	{
		Path	   *path = lfirst(lc);
		JoinCostWorkspace workspace;

		if (path->param_info == NULL ||
			!bms_is_subset(path->param_info->ppi_req_outer,
						   groups->parent->relids))
			continue;
		initial_cost_nestloop(root, &workspace, JOIN_INNER, groups, path,
							  extra);
		add_path(joinrel, (Path *)
				 create_nestloop_path(root, joinrel, JOIN_INNER, &workspace,
									  extra, groups, path,
									  extra->restrictlist, NIL, NULL));
	}
}

/* See agg.h. */
void
strata_agg_set_semi_pathlist(PlannerInfo *root, RelOptInfo *joinrel,
							 RelOptInfo *outer, RelOptInfo *inner,
							 JoinType jointype, JoinPathExtraData *extra)
{
	Path	   *groups;

	if (jointype == JOIN_UNIQUE_OUTER)
	{
		/* PostgreSQL makes rows of outer unique to join them with inner's */
		groups = strata_agg_semi_groups(root, joinrel, outer,
										extra->restrictlist);
		if (groups == NULL || !IsA(groups, UniquePath))
			return;
		offer_hash_join(root, joinrel, JOIN_INNER, groups,
						inner->cheapest_total_path, extra);
		offer_nested_loops(root, joinrel, groups, inner, extra);
	}
	else if (jointype == JOIN_SEMI || jointype == JOIN_ANTI)
	{
		groups = strata_agg_semi_groups(root, joinrel, inner,
										extra->restrictlist);
		if (groups == NULL)
			return;
		Assert(!returns_columns_of(joinrel, inner));	/* agg:G32 */
		offer_hash_join(root, joinrel, jointype, outer->cheapest_total_path,
						groups, extra);
	}
}
