/*-------------------------------------------------------------------------
 *
 * scan.h
 *	  StrataScan: the planner's way to read a table with compressed rows.
 *
 * src/scan/scan.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_SCAN_H
#define STRATA_SCAN_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"

/* Register the plan node; called once by _PG_init. */
extern void strata_scan_init(void);

/*
 * To be called from set_rel_pathlist_hook, after other users of that hook.
 * Replaces the paths of a strata table that has compressed rows by ones that
 * see both halves; has Parallel Appends above such tables pay for the start of
 * their workers; leaves every other relation alone.
 */
extern void strata_scan_set_rel_pathlist(PlannerInfo *root, RelOptInfo *rel,
										 Index rti, RangeTblEntry *rte);

/*
 * To be called from get_relation_info_hook: hides the indexes of a table all
 * of whose rows are compressed, but for those that tell the planner something
 * else.
 */
extern void strata_scan_get_relation_info(PlannerInfo *root, Oid relid,
										  bool inhparent, RelOptInfo *rel);

/*
 * An executor has started.  If this is the state of a DELETE, StrataScans
 * right below it may delete whole batches of its targets; see scan_sweep.c.
 * complete: it will be run to its end.
 */
extern void strata_scan_allow_sweep(PlanState *node, bool complete);

/*
 * To be called from set_join_pathlist_hook, after other users of that hook:
 * adds a hash join that costs what it does where its values prune batches.
 */
extern void strata_scan_set_join_pathlist(PlannerInfo *root,
										  RelOptInfo *joinrel,
										  RelOptInfo *outer,
										  RelOptInfo *inner, JoinType jointype,
										  JoinPathExtraData *extra);

/*
 * A copy of path, one of outer's, that costs and returns what is left where
 * values of a hash join with inner by these clauses prune; NULL: they do not.
 */
extern Path *strata_scan_pruned_by_join(PlannerInfo *root, RelOptInfo *outer,
										RelOptInfo *inner, JoinType jointype,
										List *clauses, Path *path);

/* Those of the join's clauses by which its sides can be hashed. */
extern List *strata_join_hash_clauses(const RelOptInfo *joinrel,
									  const RelOptInfo *outer,
									  const RelOptInfo *inner,
									  JoinType jointype, List *clauses);

/*
 * Of a custom scan of another layer: the column of its child's result that
 * column resno of its own result is, where a row of the child without which
 * that column would not have its value matters to no row with another value;
 * else 0.
 */
typedef AttrNumber (*StrataChildColumn) (PlanState *node, AttrNumber resno);

/*
 * An executor has started: StrataScans below the outer sides of hash joins
 * leave out what these would not use.
 */
extern void strata_scan_bind_joins(PlanState *node,
								   StrataChildColumn child_column);

/*
 * Likewise: scans share what hashed subplans that are the same in all of them
 * return.
 */
extern void strata_scan_bind_subplans(PlanState *node);

/*
 * Likewise: those below row_number() OVER (PARTITION BY ...) <= k leave out
 * what it would.
 */
extern void strata_scan_bind_windows(PlanState *node);

#endif							/* STRATA_SCAN_H */
