/*-------------------------------------------------------------------------
 *
 * am.h
 *	  The table access method "strata".
 *
 * src/am/am.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_AM_H
#define STRATA_AM_H

#include "postgres.h"

#include "utils/rel.h"

/* Fill the routine and install callbacks; called once by _PG_init. */
extern void strata_am_init(void);

/*
 * Set while indexes are built anew that were right before, by whoever holds
 * ACCESS EXCLUSIVE: compressed rows are not read to check their keys again.
 */
extern bool strata_am_trust_batches;

/* Set while a table is rewritten for its row store alone. */
extern bool strata_am_keep_batches;

/*
 * Called when the row is in that is the first of a partition's row store;
 * NULL: nobody wants to know.
 */
extern void (*strata_am_first_row) (Relation partition);

/*
 * A heap table, or materialized view, uses strata from now on: its pages are
 * the row store as they are, and no row is read.  ereports when it could not
 * be compressed.  The caller holds AccessExclusiveLock and owns the table.
 */
extern void strata_am_adopt_heap(Relation rel);

/* ereport when that could not be; any lock will do. */
extern void strata_am_check_heap(Relation rel);

/*
 * VACUUM of a table goes on with its batches; off in a process that knows them
 * to be new.
 */
extern bool strata_am_vacuum_batches;

/*
 * Call run, which may be a command that ANALYZEs, with progress kept: by that
 * a table knows that it is analyzed.
 */
extern void strata_analyze_run(void (*run) (void *arg), void *arg);

#endif							/* STRATA_AM_H */
