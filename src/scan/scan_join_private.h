/*-------------------------------------------------------------------------
 *
 * scan_join_private.h
 *	  Values that the other side of a hash join has for a column.
 *
 * src/scan/scan_join_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_SCAN_JOIN_PRIVATE_H
#define STRATA_SCAN_JOIN_PRIVATE_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "scan/filter_private.h"

/* Rows of an inner side beyond which its values are not listed. */
#define STRATA_JOIN_MAX_ROWS 50000

struct StrataScanState;

/* scan_join_span.c: many values of a key, none of which is listed. */
typedef struct StrataJoinSpan
{
	bool		empty;
	Datum		ends[2];		/* the least and the greatest */
	FilterKeys	keys;			/* of integers and times: places */
} StrataJoinSpan;

/*
 * Read the span of column attno of the join's table, which has nrows; false:
 * that would not pay.  Memory: the current context.
 */
extern bool strata_join_span_read(StrataJoinSpan *span, HashJoinState *join,
								  double nrows, AttrNumber attno, Oid type,
								  FmgrInfo *cmp, Oid collation);

/*
 * scan_join_key.c: one condition "outer = inner" of a hash join, and the
 * values that the inner side has, which scans of the outer side share.
 * Memory: the current context, of the whole execution.  NULL: the condition is
 * not one that scans can use.
 */
typedef struct StrataJoinKey StrataJoinKey;

extern StrataJoinKey *strata_join_key_create(HashJoinState *join, int keyno);

/* The outer side of the condition; what stands for a column there. */
extern Expr *strata_join_key_outer(const StrataJoinKey *key);

typedef enum StrataJoinValues
{
	STRATA_JOIN_NOT_YET,		/* not known, or not any more */
	STRATA_JOIN_KNOWN,
	STRATA_JOIN_NEVER			/* nobody will know */
} StrataJoinValues;

/* Are the values known by now?  They are read when they are first asked for. */
extern StrataJoinValues strata_join_key_ready(StrataJoinKey *key);

/* How many there are; PG_INT32_MAX: they are not listed. */
extern int	strata_join_key_nvalues(const StrataJoinKey *key);

/* Hashes of the values by a function of their type, once they are known. */
extern const uint32 *strata_join_key_hashes(StrataJoinKey *key, Oid hasher);

/* "column = ANY (values)", once they are known. */
extern Expr *strata_join_key_clause(const StrataJoinKey *key,
									Expr *column);

/* Set the run-time values of the leaf that was compiled from such a clause. */
extern void strata_join_key_fill(StrataJoinKey *key, FilterNode *leaf);

/*
 * scan_join.c.  Take in the values that are known by now, as quals of the
 * filter; true: there are new ones.
 */
extern bool strata_scan_take_join_values(struct StrataScanState *scan);

/*
 * scan_join_index.c: ask batch indexes where values of the key are, which the
 * leaf compares a column with; before batches are first read.  What they say
 * is in scan->join_ranges.  _seek: let the source go by these.
 */
extern void strata_scan_look_up_join(struct StrataScanState *scan,
									 StrataJoinKey *key,
									 const FilterNode *leaf);
extern void strata_scan_seek_join(struct StrataScanState *scan);

/* The same for all values known that were not looked up yet. */
extern void strata_scan_look_up_joins(struct StrataScanState *scan);

/*
 * Is such a qual to be tried on the rows of the reader's batch?  The join
 * looks at those that are left: only where a kernel is faster than that, and
 * where it has left out some.  _run: do it, and keep account of that.
 */
extern bool strata_join_qual_pays(StrataBatchReader *reader,
								  const StrataQual *qual);
extern void strata_join_qual_run(StrataQual *qual, StrataFilterRun *run,
								 uint8 *mask);

/*
 * Does no join above use the row of the row store?  Only what costs less than
 * asking the join is tried.
 */
extern bool strata_join_leaves_out(struct StrataScanState *scan,
								   TupleTableSlot *slot);

#endif							/* STRATA_SCAN_JOIN_PRIVATE_H */
