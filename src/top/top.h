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

#endif							/* STRATA_TOP_H */
