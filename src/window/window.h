/*-------------------------------------------------------------------------
 *
 * window.h
 *	  StrataWindow: window functions of rows that are near.
 *
 * src/window/window.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_WINDOW_H
#define STRATA_WINDOW_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "nodes/plannodes.h"

/* Register the plan node; called once by _PG_init. */
extern void strata_window_init(void);

/*
 * To be called from create_upper_paths_hook for the stage of window functions,
 * after other users of that hook.  Adds paths to window_rel in the place of
 * those WindowAggs whose functions can be had so.
 */
extern void strata_window_create_paths(PlannerInfo *root,
									   RelOptInfo *input_rel,
									   RelOptInfo *window_rel);

/*
 * To be called from set_rel_pathlist_hook: conditions on a subquery are tried
 * by the window that it consists of, too.
 */
extern void strata_window_set_rel_pathlist(RelOptInfo *rel,
										   const RangeTblEntry *rte);

/*
 * How many nodes this process has planned; where it has grown, what came of
 * the planner is to be given to strata_window_finish_plan().
 */
extern uint64 strata_window_nplanned;
extern void strata_window_finish_plan(PlannedStmt *stmt);

/*
 * The child's column, one of PARTITION BY, that a column of the node's result
 * is: rows of a partition go together.  0: none, or another node.
 */
extern AttrNumber strata_window_child_column(PlanState *node,
											 AttrNumber resno);

/*
 * The table of a query of its first rows that counts all of them beside, by
 * one count(*) OVER () and no other window function; InvalidOid: it is
 * another.  And, of such a query, have it counted apart; before the planner.
 */
extern Oid	strata_window_table_of_total(const Query *query);
extern void strata_window_replace_total(Query *query);

#endif							/* STRATA_WINDOW_H */
