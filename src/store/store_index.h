/*-------------------------------------------------------------------------
 *
 * store_index.h
 *	  The relation that leads from values to batches: where it is, and what
 *	  numbers of rows it speaks for.  What is in it is index/'s.
 *
 * src/store/store_index.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_STORE_INDEX_H
#define STRATA_STORE_INDEX_H

#include "postgres.h"

#include "utils/rel.h"

/*
 * Columns of _strata.batch_index_<oid of the companion>.  A run is described
 * by one row, whose run is -1 - its number, and has its entries in others, in
 * the order of their hashes (summaries: of their batches); docs/format.md, "Batch indexes".
 */
#define STRATA_INDEX_ATT_RUN 1	/* int4 */
#define STRATA_INDEX_ATT_HASH 2 /* int8: the first; of a description the
								 * operator class, or 0 */
#define STRATA_INDEX_ATT_PLACE 3	/* int8: its batch's; of a description how
									 * many rows the run has */
#define STRATA_INDEX_ATT_ENTRIES 4	/* int8: how many */
#define STRATA_INDEX_ATT_HASHES 5	/* bytea, NULL in a description */
#define STRATA_INDEX_ATT_BATCHES 6	/* the same */
#define STRATA_INDEX_ATT_COLUMN 7	/* int2 of R; this and what follows are
									 * NULL but in a description */
#define STRATA_INDEX_ATT_FUNCTION 8 /* oid: that hashed the values, or R's
									 * index whose operator class made what is
									 * kept */
#define STRATA_INDEX_ATT_SHIFT 9	/* int2 */
#define STRATA_INDEX_ATT_FROM 10	/* int8: row numbers of the batches: from */
#define STRATA_INDEX_ATT_TO 11	/* int8: to before */
#define STRATA_INDEX_NATTS 11

/* Or InvalidOid. */
extern Oid	strata_index_relation_oid(Relation batches);

/* Its b-tree on (run, hash, place). */
extern Oid	strata_index_key_of(Relation relation);

/* Make it.  The caller is alone in doing so. */
extern Oid	strata_index_relation_create(Relation batches);

/*
 * Row numbers below this one may be spoken for by runs, whoever sees them: no
 * batch may get one any more.
 */
extern int64 strata_index_high_water(Relation batches);

/*
 * Row numbers of batches are taken one batch at a time, by who has this lock,
 * also those of a companion that others write to.
 */
extern void strata_numbering_lock(Relation batches);
extern void strata_numbering_unlock(Relation batches);

/* The next free one; the caller excludes other writers, or has the lock. */
struct StrataStore;
extern int64 strata_store_next_row(struct StrataStore *store);

#endif							/* STRATA_STORE_INDEX_H */
