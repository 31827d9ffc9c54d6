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
#include "nodes/parsenodes.h"

extern void strata_hook_apply_init(void);
extern void strata_hook_object_init(void);
extern void strata_hook_permission_init(void);
extern void strata_hook_planner_init(void);
extern void strata_hook_publication_init(void);
extern void strata_hook_route_init(void);
extern void strata_hook_stale_plan_init(void);
extern void strata_hook_sweep_init(void);
extern void strata_hook_torture_init(void);
extern void strata_hook_upsert_init(void);
extern void strata_hook_utility_init(void);
extern void strata_hook_wire_init(void);

/*
 * Unless the statement names owners, or the user is a superuser, name all owners
 * of what it is about but companions.  Changes stmt; allocates in the current context.
 */
extern void strata_move_all_without_companions(AlterTableMoveAllStmt *stmt);

/* Torture mode: compress relid if it is a strata table that can be. */
extern void strata_torture_relation(Oid relid);

/*
 * hook_option.c.  Split our options off a list: returned ones have names without
 * prefix, and in defnamespace what was typed, or NULL where that is strata.<name>.
 * Does any element name one of them?
 */
extern List *strata_hook_take_options(List **options);
extern bool strata_hook_has_options(List *options);

/* Check and store options on a table; on one that has just been made. */
extern void strata_hook_apply_options(Oid relid, List *set, List *reset);
extern void strata_hook_apply_new_options(Oid relid, List *options);

/* SET of a setting of TimescaleDB's: check its value, or say that it means nothing. */
extern void strata_hook_check_setting(VariableSetStmt *stmt);

#endif							/* STRATA_HOOK_H */
