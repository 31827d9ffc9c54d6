/*-------------------------------------------------------------------------
 *
 * agg_join_first.c
 *	  DISTINCT and DISTINCT ON above a join: one relation is grouped before it.
 *
 * Rows of one relation, called fact here, that are equal in the columns that
 * the join's conditions and the query's keys read are joined with the same
 * rows of the others.  So of each such group the row that comes first by what
 * ORDER BY reads of fact is enough: whatever row of the result begins a group
 * of the query's, there is one with such a row of fact that is as good.  What
 * the join makes of these few rows is sorted and made unique as ever.
 *
 * src/agg/agg_join_first.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg.h"
#include "agg/agg_join_private.h"
#include "agg/agg_private.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"

/* See agg_join_private.h. */
Path *
strata_agg_join_distinct(JoinBelow *below, const AggShape *part)
{
	PlannerInfo *root = below->root;
	RelOptInfo *fact = below->fact;
	PathTarget *target = create_empty_pathtarget();
	RelOptInfo *rel;
	CustomPath *path;
	double		ngroups = strata_agg_estimate_groups(root, fact, part,
													 fact->rows);

	if (ngroups * AGG_ROWS_PER_GROUP > fact->rows)
		return NULL;
	below->share = ngroups / fact->rows;
	below->keys = part->keys;
	below->exprs = list_concat_copy(part->keys, part->picks);
	add_new_columns_to_pathtarget(target, below->exprs);
	set_pathtarget_cost_width(root, target);
	rel = strata_agg_relation_like(fact, target, ngroups);
	rel->reloptkind = RELOPT_UPPER_REL;
	rel->baserestrictinfo = NIL;
	path = strata_agg_reading_path(root, fact, rel, target,
								   strata_agg_find_input(fact->pathlist),
								   part, AGG_STAGE_WHOLE);
	if (path == NULL)
		return NULL;
	path->path.parallel_safe = false;
	return &path->path;
}

/* See agg_plan_private.h. */
void
strata_agg_create_joined_distinct_paths(PlannerInfo *root,
										RelOptInfo *input_rel,
										RelOptInfo *distinct_rel)
{
	JoinBelow	below = {root};
	AggShape	part;
	Path	   *path;
	List	   *pathkeys = root->distinct_pathkeys;
	double		rows;

	if (!strata_enable_vector_agg || !strata_enable_join_aggregation ||
		!strata_enable_first_rows || IS_DUMMY_REL(input_rel) ||
		distinct_rel->pathlist == NIL || pathkeys == NIL)
		return;
	below.fact = strata_agg_join_fact(root, input_rel, NIL);
	if (below.fact == NULL)
		return;
	path = strata_agg_join_choose(&below, input_rel);
	if (path == NULL)
		return;
	strata_agg_first_below_shape(root, below.fact, below.columns, &part);
	if (part.reason != NULL || part.keys == NIL)
		return;
	strata_agg_stop_plan(root, below.fact, false, &part);
	below.groups = strata_agg_join_distinct(&below, &part);
	if (below.groups == NULL)
		return;
	path = strata_agg_join_groups(&below, path);
	path = (Path *) create_projection_path(root, distinct_rel, path,
										   input_rel->cheapest_total_path->pathtarget);
	if (root->parse->hasDistinctOn &&
		list_length(pathkeys) < list_length(root->sort_pathkeys))
		pathkeys = root->sort_pathkeys;
	rows = Min(((Path *) linitial(distinct_rel->pathlist))->rows, path->rows);
	path = (Path *) create_sort_path(root, distinct_rel, path, pathkeys, -1);
	add_path(distinct_rel, (Path *)
			 create_upper_unique_path(root, distinct_rel, path,
									  list_length(root->distinct_pathkeys),
									  rows));
}
