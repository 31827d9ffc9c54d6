/*-------------------------------------------------------------------------
 *
 * hook.h
 *	  Our places in PostgreSQL's hooks.
 *
 * src/hook/hook.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_HOOK_H
#define STRATA_HOOK_H

/* Take our place in each hook; in any order beside the other layers' init. */
extern void strata_hooks_init(void);

#endif							/* STRATA_HOOK_H */
