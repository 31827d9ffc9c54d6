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

#include "access/skey.h"
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

/* How an index of R leads to batches. */
typedef enum StrataIndexKind
{
	STRATA_INDEX_NONE,
	STRATA_INDEX_HASHES,		/* btree, hash: hashes of its first column */
	STRATA_INDEX_SUMMARIES,		/* BRIN, GiST: a summary of each batch */
	STRATA_INDEX_KEYS			/* GIN: hashes of keys of all its columns;
								 * btree, hash on an expression or of some
								 * rows: hashes of the values it begins with */
} StrataIndexKind;

extern StrataIndexKind strata_index_kind(Oid index);

/*
 * How an index of R leads to batches, or will; NONE: not.  (The
 * companion's own indexes may do that instead of hashes.)
 */
extern StrataIndexKind strata_index_serves(Relation rel, Oid index);

/*
 * Why an open index of R (or of the table that it is a chunk of) leads to no
 * batches, in a sentence; NULL: it does.
 */
extern const char *strata_index_obstacle(Relation rel, Relation index);

/*
 * Are batches found by "=" of R's column: by an index, or by the order that
 * they are in?  If not, *obstacle: why an index would not do, in a sentence;
 * NULL: it would.
 */
extern bool strata_index_finds_equal(Relation rel, AttrNumber attno,
									 const char **obstacle);

/* What is kept beside batches for one purpose. */
typedef struct StrataIndexTarget
{
	StrataIndexKind kind;
	AttrNumber	attno;			/* of R; of several the first; of expressions
								 * less than 0 */
	Oid			function;		/* HASHES: that hashes it; else R's index */
	Oid			opclass;		/* of the index; HASHES: InvalidOid */
} StrataIndexTarget;

/* What the planner asks of a batch index that is there. */
typedef struct StrataIndexShape
{
	int			nruns;
	double		entries;
	double		nrows;			/* that these are kept in */
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

/* Is a batch in them whose first row has the number? */
extern bool strata_ranges_have(const StrataIndexRanges *ranges, int64 number);

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

/* NULL: there are more than max such places, and it has not looked further. */
extern StrataIndexRanges *strata_index_lookup_few(StrataIndexLookup *lookup,
												  const uint32 *hashes, int n,
												  int max);
extern void strata_index_lookup_end(StrataIndexLookup *lookup);

/* Of an open index of kind KEYS: are these values, and no GIN's? */
extern bool strata_index_is_of_values(Relation index);

/*
 * Can an open index of kind SUMMARIES or KEYS be asked for an operator that
 * its family of the column (from 1) has?
 */
extern bool strata_index_can_ask(Relation index, AttrNumber column, Oid opno);

/*
 * Visit all that is kept for look-ups of the column: a hash, and the batches
 * whose first row's number >> shift is place; run after run (from 0), in each
 * in the order of hashes.  Returns up to which number that speaks for batches.
 */
typedef void (*StrataIndexVisit) (void *arg, int run, int shift, uint32 hash,
								  int64 place);
extern int64 strata_index_visit(Relation batches, Snapshot snapshot,
								AttrNumber attno, Oid function,
								StrataIndexVisit visit, void *arg);

/*
 * Questions to an open index of R, of kind SUMMARIES or KEYS: operators of its
 * operator classes, with values that are not null; all must be true.  Memory:
 * the current context.
 */
typedef struct StrataIndexProbe StrataIndexProbe;

/* What is kept for it, as the snapshot sees it; false: nothing. */
extern bool strata_index_probe_shape(StrataStore *store, Snapshot snapshot,
									 Relation index, StrataIndexShape *shape);
extern StrataIndexProbe *strata_index_probe_begin(Relation batches,
												  Snapshot snapshot,
												  Relation index);

/*
 * As strata_index_lookup_find.  Without keys all batches; of an index of kind
 * KEYS with a predicate those with a row that it lets in.
 */
extern StrataIndexRanges *strata_index_probe_find(StrataIndexProbe *probe,
												  ScanKey keys, int nkeys);

/* Where one of the keys is true, which are of one column; NULL: anywhere. */
extern StrataIndexRanges *strata_index_probe_find_any(StrataIndexProbe *probe,
													  ScanKey keys, int n);

/*
 * About which share of the batches that is; of summaries some are looked at.
 * *sought is raised by the hashes that were looked up.
 */
extern double strata_index_probe_share(StrataIndexProbe *probe,
									   const StrataStoreSize *size,
									   ScanKey keys, int nkeys,
									   double *sought);
extern void strata_index_probe_end(StrataIndexProbe *probe);

/* A batch, and how near to a value the nearest of its rows is at least. */
typedef struct StrataIndexNear
{
	int64		first_row;
	double		distance;
} StrataIndexNear;

/* In the order of their numbers; of those from `covered` on nothing is known. */
typedef struct StrataIndexNearest
{
	int			n;
	StrataIndexNear *batches;
	int64		covered;
} StrataIndexNearest;

/*
 * The open index's column, from 1, that an ordering operator gives distances
 * of column attno by, and the key without its value; 0: it does not.
 */
extern AttrNumber strata_index_distance_key(Relation index, AttrNumber attno,
											Oid opno, Oid collation,
											ScanKey key);

/* Can distances from such a value be asked for? */
extern bool strata_index_has_place(Oid type, Datum value);

/* By such a key; in the current context. */
extern StrataIndexNearest *strata_index_probe_nearest(StrataIndexProbe *probe,
													  ScanKey key);

/*
 * Say of each batch that the snapshot sees, and of which a batch index lacks a
 * value that it ought to have.
 */
typedef void (*StrataIndexReport) (void *arg, int64 first_row,
								   AttrNumber attno, const char *problem);
extern void strata_index_verify(StrataStore *store, Snapshot snapshot,
								StrataIndexReport report, void *arg);

#endif							/* STRATA_INDEX_H */
