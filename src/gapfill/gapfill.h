/*-------------------------------------------------------------------------
 *
 * gapfill.h
 *	  time_bucket_gapfill(), locf(), interpolate(): rows for empty buckets.
 *
 * src/gapfill/gapfill.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_GAPFILL_H
#define STRATA_GAPFILL_H

#include "postgres.h"

#include "nodes/params.h"
#include "nodes/pathnodes.h"

extern void strata_gapfill_init(void);

/*
 * Before planning: every query that groups by time_bucket_gapfill() becomes
 * three levels, in place.  *functions receives the oids of SQL functions that
 * were inlined to look into them: the plan depends on them.
 */
extern void strata_gapfill_rewrite(Query *query, ParamListInfo params,
								   List **functions);

/* UPPERREL_FINAL: the middle one of those levels gets its node. */
extern void strata_gapfill_create_paths(PlannerInfo *root,
										RelOptInfo *final_rel);

#endif							/* STRATA_GAPFILL_H */
