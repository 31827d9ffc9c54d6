/*-------------------------------------------------------------------------
 *
 * agg.h
 *	  StrataAgg: aggregation over whole batches.
 *
 * src/agg/agg.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_AGG_H
#define STRATA_AGG_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"

/* Register the plan node; called once by _PG_init. */
extern void strata_agg_init(void);

/*
 * To be called from create_upper_paths_hook for the grouping stages, after
 * other users of that hook.  Adds a path to grouped_rel when its aggregation
 * can be done by StrataAgg; extra is the hook's.
 */
extern void strata_agg_create_paths(PlannerInfo *root, RelOptInfo *input_rel,
									RelOptInfo *grouped_rel, void *extra);

/* The same for the stage of DISTINCT. */
extern void strata_agg_create_distinct_paths(PlannerInfo *root,
											 RelOptInfo *input_rel,
											 RelOptInfo *distinct_rel);

/*
 * To be called from set_join_pathlist_hook, at its end: keeps a hash join that
 * a StrataAgg may read, should the planner prefer another.
 */
extern void strata_agg_set_join_pathlist(PlannerInfo *root,
										 RelOptInfo *joinrel,
										 RelOptInfo *outer, RelOptInfo *inner,
										 JoinType jointype,
										 JoinPathExtraData *extra);

/*
 * The same, before that: offers semi and anti joins with groups of the inner
 * side.
 */
extern void strata_agg_set_semi_pathlist(PlannerInfo *root,
										 RelOptInfo *joinrel,
										 RelOptInfo *outer, RelOptInfo *inner,
										 JoinType jointype,
										 JoinPathExtraData *extra);

/*
 * To be called before a query is planned: NOT IN (SELECT ...) looks into the
 * different values of a table that is_ours.
 */
extern void strata_agg_look_up_once(Query *query, bool (*is_ours) (Oid relid));

/*
 * Of a StrataAgg whose groups have nothing to do with each other: the column
 * of its child's result that column resno of its own is, as a key; 0: it is
 * none, or another node.
 */
extern AttrNumber strata_agg_child_column(PlanState *node, AttrNumber resno);

#endif							/* STRATA_AGG_H */
