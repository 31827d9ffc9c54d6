/*-------------------------------------------------------------------------
 *
 * hook.h
 *	  Our places in PostgreSQL's hooks; each file chains one hook.
 *
 * src/hook/hook.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_HOOK_H
#define STRATA_HOOK_H

#include "postgres.h"

extern void strata_hook_apply_init(void);
extern void strata_hook_object_init(void);
extern void strata_hook_planner_init(void);
extern void strata_hook_publication_init(void);
extern void strata_hook_route_init(void);
extern void strata_hook_stale_plan_init(void);
extern void strata_hook_sweep_init(void);
extern void strata_hook_torture_init(void);
extern void strata_hook_upsert_init(void);
extern void strata_hook_utility_init(void);
extern void strata_hook_wire_init(void);

/* Torture mode: compress relid if it is a strata table that can be. */
extern void strata_torture_relation(Oid relid);

#endif							/* STRATA_HOOK_H */
