/*-------------------------------------------------------------------------
 *
 * top.h
 *	  StrataTop: the first n rows of an order, found in whole batches.
 *
 * src/top/top.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_TOP_H
#define STRATA_TOP_H

#include "postgres.h"

#include "batch/batch_reader.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"

/* Register the plan node; called once by _PG_init. */
extern void strata_top_init(void);

/*
 * To be called from create_upper_paths_hook for the stage of ORDER BY, after
 * other users of that hook.  Adds a path to ordered_rel that returns the first
 * rows only, when the query wants no more.
 */
extern void strata_top_create_paths(PlannerInfo *root, RelOptInfo *input_rel,
									RelOptInfo *ordered_rel);

/*
 * Likewise: StrataSort in the place of a sort of all rows, for ORDER BY; and
 * below window functions, for the stage of these, before anybody replaces
 * WindowAggs.
 */
extern void strata_sort_create_paths(PlannerInfo *root,
									 RelOptInfo *input_rel,
									 RelOptInfo *ordered_rel);
extern void strata_sort_create_window_paths(PlannerInfo *root,
											RelOptInfo *input_rel,
											RelOptInfo *window_rel);

/*
 * A StrataTop of the relation, by these SortGroupClauses and root's
 * window_pathkeys, in the place of a sort below a window function that wants
 * no more than limit + offset rows of it, expressions of type int8, and, with
 * ties, those that are as good as the last; NULL: it cannot be had.
 */
extern Path *strata_top_make_window_input(PlannerInfo *root,
										  RelOptInfo *input_rel,
										  List *clauses, PathTarget *target,
										  Node *limit, Node *offset,
										  bool ties);

/*
 * Rows of a StrataSort as columns.  begin: has it sort; false: another node,
 * or its rows come one by one only.  next: put up to n of the next rows into
 * the columns of its result, whose null flags, and values packed or as Datums,
 * have room for them from entry `at' on; returns how many there were, fewer at
 * the end.  Values by reference live as long as the sort.
 */
extern bool strata_sort_begin_columns(PlanState *node);
extern int	strata_sort_next_columns(PlanState *node, StrataColumn *columns,
									 int at, int n);

extern bool strata_sort_path_is_ours(const Path *path);
extern bool strata_top_path_is_ours(const Path *path);

/* The child's column that a column of a StrataSort is; 0: none, another node. */
extern AttrNumber strata_sort_child_column(PlanState *node, AttrNumber resno);

#endif							/* STRATA_TOP_H */
