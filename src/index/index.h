/*-------------------------------------------------------------------------
 *
 * index.h
 *	  Batch indexes: from the hash of a value to the batches that may have it.
 *
 * src/index/index.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_INDEX_H
#define STRATA_INDEX_H

#include "postgres.h"

#include "store/store.h"

/*
 * R's index by which column attno has a batch index, or is to have one;
 * InvalidOid: none.  Looks at caches alone.
 */
extern Oid	strata_index_of_column(Relation rel, AttrNumber attno);

/*
 * Do values that the operator finds equal, in this collation, have equal
 * hashes?  Then the function that hashes the column's, and the one for what
 * they are compared with.
 */
extern bool strata_index_can_look_up(Oid opno, Oid collation, Oid *column,
									 Oid *value);

/*
 * Make the batch indexes of R speak for all batches that there are now, and
 * give up those that nobody wants.  The caller's lock on R keeps away others
 * who delete batches but by sweeping.  Small companions are left alone.
 */
extern void strata_index_update(StrataStore *store);

/* The same, all from the beginning. */
extern void strata_index_rebuild(StrataStore *store);

/* All batches have been deleted: what led to them goes, too. */
extern void strata_index_clear(StrataStore *store);

/* What the planner asks of a batch index that is there. */
typedef struct StrataIndexShape
{
	int			nruns;
	double		entries;
	int64		covered;		/* row numbers below it are spoken for */
	Oid			function;		/* that hashed the values */
} StrataIndexShape;

/* False: the snapshot sees none for the column. */
extern bool strata_index_shape(StrataStore *store, Snapshot snapshot,
							   AttrNumber attno, StrataIndexShape *shape);

/* Batches whose first row's number is in [from, to). */
typedef struct StrataIndexRange
{
	int64		from;
	int64		to;
} StrataIndexRange;

/* Such ranges in ascending order, which do not touch. */
typedef struct StrataIndexRanges
{
	int			n;
	StrataIndexRange *ranges;
} StrataIndexRanges;

/* Both, either; new, in the current context. */
extern StrataIndexRanges *strata_ranges_common(const StrataIndexRanges *a,
											   const StrataIndexRanges *b);
extern StrataIndexRanges *strata_ranges_union(const StrataIndexRanges *a,
											  const StrataIndexRanges *b);

typedef struct StrataIndexLookup StrataIndexLookup;

/*
 * Look-ups for a column's values that function hashes (others have entries of
 * other hashes).  Memory: the current context.
 */
extern StrataIndexLookup *strata_index_lookup_begin(Relation batches,
													Snapshot snapshot,
													AttrNumber attno,
													Oid function);

/*
 * Where the batches are that may have a value of one of these hashes; never
 * fewer than one range: the last has all batches that no index speaks for.  In
 * the current context.
 */
extern StrataIndexRanges *strata_index_lookup_find(StrataIndexLookup *lookup,
												   const uint32 *hashes,
												   int n);
extern void strata_index_lookup_end(StrataIndexLookup *lookup);

/*
 * Say of each batch that the snapshot sees, and of which a batch index lacks a
 * value that it ought to have.
 */
typedef void (*StrataIndexReport) (void *arg, int64 first_row,
								   AttrNumber attno, const char *problem);
extern void strata_index_verify(StrataStore *store, Snapshot snapshot,
								StrataIndexReport report, void *arg);

#endif							/* STRATA_INDEX_H */
