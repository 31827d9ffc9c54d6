/*-------------------------------------------------------------------------
 *
 * load_private.h
 *	  What the files of src/load share among themselves.
 *
 * src/load/load_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_LOAD_PRIVATE_H
#define STRATA_LOAD_PRIVATE_H

#include "base/base.h"
#include "hypertable/hypertable.h"
#include "load/load.h"

#include "commands/copy.h"
#include "nodes/execnodes.h"
#include "partitioning/partdesc.h"

/* COPY: may rows be collected before they are inserted? */
extern bool strata_load_can_collect(ModifyTableState *mt, CopyFromState copy,
									List *where);

/* The part of that which triggers say. */
extern bool strata_load_triggers_allow(const TriggerDesc *triggers);

/*
 * Insert all rows that come from the node under a started ModifyTable, many at
 * a time; copy is where they come from, or NULL.  Returns how many became
 * batches.
 */
extern int64 strata_load_rows(ModifyTableState *mt, CopyFromState copy);

/* Are rows for the table to become batches, by its options or load.h? */
extern bool strata_load_wants_batches(Relation rel);

/* Have plain values read faster by this COPY; see load_input.c. */
extern void strata_copy_speed_input(CopyFromState copy);

/*
 * load_volatile.c: does a query or expression call a volatile function that
 * might look at rows which this statement has inserted?  context: NULL.
 */
extern bool strata_load_has_volatile(Node *node, void *context);

/* The same of the defaults of a table's columns. */
extern bool strata_load_default_is_volatile(Relation rel);

/* The same of a table's CHECK constraints. */
extern bool strata_load_check_is_volatile(Relation rel);

extern void strata_copy_init(void);

#endif							/* STRATA_LOAD_PRIVATE_H */
