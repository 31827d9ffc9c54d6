/*-------------------------------------------------------------------------
 *
 * scan_sweep_private.h
 *	  What scan_sweep.c (rows right below DELETE) and scan_gather.c (through
 *	  other nodes) share.
 *
 * src/scan/scan_sweep_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_SCAN_SWEEP_PRIVATE_H
#define STRATA_SCAN_SWEEP_PRIVATE_H

#include "nodes/execnodes.h"

/*
 * May rows of the target be deleted before the node has looked at them, if the
 * statement allows it?
 */
extern bool strata_sweep_all_are_deleted(const ResultRelInfo *target);

/*
 * Does the statement have a query that is run once, when it is first asked
 * for, and may look at what was deleted before?
 */
extern bool strata_sweep_is_noticed_once(ModifyTableState *mt);

/*
 * The node, a DELETE that is run to its end, is fed by another node than a
 * scan: delete rows of batches together, if nobody can notice.
 */
extern void strata_sweep_gather(ModifyTableState *mt);

#endif							/* STRATA_SCAN_SWEEP_PRIVATE_H */
