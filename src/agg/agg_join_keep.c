/*-------------------------------------------------------------------------
 *
 * agg_join_keep.c
 *	  Hash joins that the planner throws away, and StrataAgg would read.
 *
 * A nested loop that looks rows up costs less than a hash join that returns
 * all of them one by one, and is all that the planner keeps then.  What reads
 * the hash join by vectors, or joins groups, returns no such rows.  So where
 * there will be something to group one hash join is kept for us, beside the
 * paths of each join: it is never an input of PostgreSQL's nodes.
 *
 * src/agg/agg_join_keep.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg.h"
#include "agg/agg_join_private.h"
#include "agg/agg_match_private.h"
#include "agg/agg_private.h"
#include "scan/scan.h"

#include "optimizer/cost.h"
#include "optimizer/pathnode.h"

/* What is kept of the join; NULL: nothing. */
static Path *
kept_path(const RelOptInfo *joinrel)
{
	/* the field is a foreign data wrapper's, where the join is one's */
	if (joinrel->reloptkind != RELOPT_JOINREL || joinrel->fdwroutine != NULL)
		return NULL;
	return (Path *) joinrel->fdw_private;
}

/* See agg_join_private.h. */
List *
strata_agg_join_paths(const RelOptInfo *joinrel)
{
	Path	   *kept = kept_path(joinrel);

	return kept == NULL ? joinrel->pathlist :
		lappend(list_copy(joinrel->pathlist), kept);
}

/* The path of a hash join's outer side that is good for us; NULL: none is. */
static Path *
outer_path_of(PlannerInfo *root, const RelOptInfo *outer)
{
	Path	   *path;

	if (outer->reloptkind != RELOPT_JOINREL)
		return strata_agg_find_input(outer->pathlist);
	path = strata_agg_cheapest_joined(root, outer);
	return path != NULL ? path : kept_path(outer);
}

/* Will there be something to group, without functions that return sets? */
static bool
may_group_joined(const PlannerInfo *root, const RelOptInfo *joinrel,
				 RelOptInfo *outer, const RelOptInfo *inner, JoinType jointype)
{
	const Query *query = root->parse;

	return strata_enable_vector_agg &&
		(strata_enable_join_vectors || strata_enable_join_aggregation) &&
		enable_hashjoin && strata_agg_joins_by_vectors(jointype) &&
		(query->hasAggs || query->groupClause != NIL ||
		 query->distinctClause != NIL) &&
		!query->hasTargetSRFs &&
		joinrel->reloptkind == RELOPT_JOINREL && joinrel->fdwroutine == NULL &&
		joinrel->lateral_relids == NULL && !IS_DUMMY_REL(outer) &&
		inner->cheapest_total_path->param_info == NULL;
}

/*
 * Is the path better than the one that is kept?  What gives vectors is, and of
 * two the cheaper one; whether a path does is found out all the way down, for
 * one of them mostly.
 */
static bool
is_better_to_keep(PlannerInfo *root, Path *path, Path *kept)
{
	if (path->total_cost < kept->total_cost)
		return strata_agg_gives_joined_vectors(root, path) ||
			!strata_agg_gives_joined_vectors(root, kept);
	return !strata_agg_gives_joined_vectors(root, kept) &&
		strata_agg_gives_joined_vectors(root, path);
}

/* See agg.h. */
void
strata_agg_set_join_pathlist(PlannerInfo *root, RelOptInfo *joinrel,
							 RelOptInfo *outer, RelOptInfo *inner,
							 JoinType jointype, JoinPathExtraData *extra)
{
	Path	   *kept = kept_path(joinrel);
	Path	   *outer_path;
	Path	   *inner_path = inner->cheapest_total_path;
	Path	   *path;
	List	   *clauses;
	JoinCostWorkspace workspace;

	if (!may_group_joined(root, joinrel, outer, inner, jointype))
		return;
	clauses = strata_join_hash_clauses(joinrel, outer, inner, jointype,
									   extra->restrictlist);
	if (clauses == NIL)
		return;
	outer_path = outer_path_of(root, outer);
	if (outer_path == NULL)
		return;
	path = strata_scan_pruned_by_join(root, outer, inner, jointype, clauses,
									  outer_path);
	if (path != NULL)
		outer_path = path;
	path = jointype == JOIN_SEMI || jointype == JOIN_ANTI ?
		strata_agg_semi_groups(root, joinrel, inner, extra->restrictlist) :
		NULL;
	if (path != NULL && path->total_cost < inner_path->total_cost)
		inner_path = path;
	initial_cost_hashjoin(root, &workspace, jointype, clauses, outer_path,
						  inner_path, extra, false);
	/* it costs that or more */
	if (kept != NULL && workspace.total_cost >= kept->total_cost &&
		strata_agg_gives_joined_vectors(root, kept))
		return;
	path = (Path *) create_hashjoin_path(root, joinrel, jointype, &workspace,
										 extra, outer_path, inner_path, false,
										 extra->restrictlist, NULL, clauses);
	Assert(path->param_info == NULL);	/* agg:G29 */
	if (kept != NULL && !is_better_to_keep(root, path, kept))
		return;
	joinrel->fdw_private = path;
}
