/*-------------------------------------------------------------------------
 *
 * scan_vector.h
 *	  A scan read batch by batch, not row by row; for src/agg.
 *
 * A vector is a batch in a reader plus the numbers of the rows that the query
 * sees and that passed the quals, in output order.  Columns are decoded when
 * asked for (strata_batch_reader_column), so a consumer pays for what it
 * reads.
 *
 * src/scan/scan_vector.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_SCAN_VECTOR_H
#define STRATA_SCAN_VECTOR_H

#include "postgres.h"

#include "batch/batch.h"
#include "batch/batch_reader.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "store/store.h"

typedef struct StrataVectorBatch
{
	StrataBatchReader *reader;
	int			nrows;			/* rows selected */
	uint16	   *rows;			/* their numbers; NULL: 0 .. nrows - 1 */
	bool		reverse;		/* walk from the last to the first */
} StrataVectorBatch;

/*
 * The column of relation varno that an expression is, binary relabelling
 * stripped; NULL: it is none, or a system column.
 */
extern Var *strata_match_column(Node *node, Index varno);

/* Number of the i-th selected row in output order. */
static inline int
strata_vector_row(const StrataVectorBatch *vector, int i)
{
	Assert(i >= 0 && i < vector->nrows);	/* scan:R1 */
	if (vector->reverse)
		i = vector->nrows - 1 - i;
	return vector->rows != NULL ? vector->rows[i] : i;
}

/*
 * Does the vector hold every row of the batch?  Only then what the batch's
 * summary says is true of the vector.  Rows that are not in the batch any more
 * are not in a vector, so a batch that lost some is not whole.
 */
static inline bool
strata_vector_is_whole(const StrataVectorBatch *vector)
{
	return vector->rows == NULL && vector->nrows == vector->reader->nrows;
}

/*
 * Are its rows of the batch, in the batch's order, and each there once?  For
 * assertions.
 */
static inline bool
strata_vector_is_sound(const StrataVectorBatch *vector)
{
	if (vector->nrows < 1 || vector->nrows > vector->reader->nrows)
		return false;
	for (int i = 1; vector->rows != NULL && i < vector->nrows; i++)
		if (vector->rows[i - 1] >= vector->rows[i])
			return false;
	return vector->rows == NULL ||
		vector->rows[vector->nrows - 1] < vector->reader->nrows;
}

/* What of a StrataScan path's total cost is for what not everybody needs. */
typedef struct StrataVectorCost
{
	Cost		rows;			/* making rows out of batches, and reading the
								 * row store by these: vectors save it */
	Cost		decode;			/* fetching and decoding their columns */
	Cost		look;			/* of the rest: looking at batches, not only
								 * counting their rows */
} StrataVectorCost;

/*
 * Is path a StrataScan that can be read by vectors?  Sets *cost, unless that
 * is NULL.
 */
extern bool strata_scan_path_gives_vectors(Path *path, StrataVectorCost *cost);

/* A partial path, or the same with no more than so many workers (one or more). */
extern Path *strata_scan_path_limit_workers(Path *path, int workers);

/*
 * Of a partial StrataScan path that gives vectors: how many pieces, batches
 * and pages, all processes read.  A batch has rows of one value of the
 * *segment columns, in the order of column *order (0: of none).
 */
extern double strata_scan_path_pieces(Path *path, const Bitmapset **segment,
									  AttrNumber *order);

/* Is an initialised plan node a StrataScan, of whatever form? */
extern bool strata_scan_state_is_ours(PlanState *node);

/* Does an initialised plan node give vectors? */
extern bool strata_scan_state_gives_vectors(PlanState *node);

/* Vectors are what will be asked of such a node; EXPLAIN shows it. */
extern void strata_scan_expect_vectors(PlanState *node);

/*
 * For who wants the row with the greatest (least, if not last) value of column
 * `by` for each value of the keys, and of a StrataScan path that gives
 * vectors: where keys are segmentby columns, a copy that lists batches of a
 * segment from its best end and can skip the rest; path itself where that is
 * not so, or not cheaper.
 */
extern Path *strata_scan_path_by_segment(Path *path, const Bitmapset *keys,
										 AttrNumber by, bool last);

/*
 * The same for who wants the rows with the greatest (least) values of column
 * `by`, which are about that share of the path's: from that end of the table
 * on, whatever the segments.
 */
extern Path *strata_scan_path_from_end(Path *path, AttrNumber by, bool last,
									   double share);
extern bool strata_scan_state_is_best_first(PlanState *node);

/*
 * Have EXPLAIN say why an aggregation above is not vectorised, if path is a
 * StrataScan of whatever form.
 */
extern void strata_scan_path_note(Path *path, const char *reason);

/*
 * The greatest (least, if not last) value of an integer or time column of that
 * width that the node's table can have, since it is a partition by ranges of
 * that column, which is then never null; false: there is no such bound.
 */
extern bool strata_scan_partition_best(PlanState *node, AttrNumber attno,
									   bool last, int width, int64 *best);

/* Is the column of the node's table never null? */
extern bool strata_scan_is_not_null(PlanState *node, AttrNumber attno);

/* What metadata says of a column of a batch, in the column's usual order. */
typedef struct StrataBatchBounds
{
	bool		has_min;
	bool		has_max;
	Datum		min;			/* of values that are not null */
	Datum		max;
	int			nnulls;			/* -1: not known */
} StrataBatchBounds;

/* Nothing is decoded for it. */
extern void strata_scan_batch_bounds(StrataBatchReader *reader,
									 AttrNumber attno,
									 StrataBatchBounds *bounds);

/*
 * The column of the table that a result column (from 1) of a scan is; 0: it is
 * none.
 */
extern AttrNumber strata_scan_result_attno(PlanState *node, int resno);

/*
 * Reading, in place of ExecProcNode: all rows of the row store first, as they
 * lie in the table (not projected), then the vectors.  NULL at the end.  All
 * quals have been evaluated.  A vector, and its columns, live until the next
 * call; so does a row.  The context of the node's expressions is reset by each
 * call.
 */
extern TupleTableSlot *strata_scan_next_heap_row(PlanState *node);
extern StrataVectorBatch *strata_scan_next_vector(PlanState *node);

/* Rows of the row store as columns. */
typedef struct StrataRowVector
{
	int			nrows;			/* values in each column */
	int			nselected;		/* of them, rows that passed the quals */
	const uint16 *rows;			/* their numbers, ascending; NULL: all */
	const StrataColumn *columns;	/* by attno - 1; only those asked for */
	const ItemPointerData *tids;	/* where the rows are, if asked for */
	const uint16 *const *numbers;	/* by attno - 1; NULL: a column's values
									 * have no numbers */
	uint64		numbering;		/* which numbers these are */
} StrataRowVector;

/*
 * The number of a row's value: the same number, in the same numbering, is the
 * same bytes.  Some values have none; the numbers of nulls say nothing.
 */
#define STRATA_NO_NUMBER PG_UINT16_MAX
#define STRATA_MAX_NUMBERS 1024

/* So many rows at most. */
#define STRATA_ROW_VECTOR_SIZE 1024

/*
 * In place of strata_scan_next_heap_row, for a node that can
 * (strata_scan_gives_row_vectors, asked before the first row of each scan):
 * the next rows, of which some passed the quals, with these columns.  False at
 * the end.  A vector lives until the next call.
 */
extern bool strata_scan_gives_row_vectors(PlanState *node);
extern bool strata_scan_next_row_vector(PlanState *node,
										const AttrNumber *attnos, int nattnos,
										bool with_tids,
										StrataRowVector *vector);

/* The row at tid, of such a vector, in a slot of the table. */
extern TupleTableSlot *strata_scan_fetch_row(PlanState *node, ItemPointer tid);

/*
 * In place of strata_scan_next_heap_row and row vectors, before the first row
 * of each scan: only rows that pass the quals and whose column is at least
 * (greatest) or at most a value, or beyond it if not inclusive; nulls are not
 * among them.  False: there is no index for that, or there are many such rows.
 * The bound is copied.
 */
extern bool strata_scan_rows_by_bound(PlanState *node, AttrNumber attno,
									  bool greatest, bool inclusive,
									  Datum bound);

/*
 * The same: for each value of the key (null is one) a row that passes the
 * quals with the greatest (least, if not last) value of column `by`, which is
 * never null.  About so many values there may be; 0: unknown.
 */
extern bool strata_scan_rows_by_group(PlanState *node, AttrNumber key,
									  AttrNumber by, bool last,
									  uint32 nvalues);

/*
 * Such a row, in a slot of the table; NULL at the end.  *gave_up: there turned
 * out to be so many groups that all rows are to be read after all.
 */
extern TupleTableSlot *strata_scan_next_indexed_row(PlanState *node,
													bool *gave_up);

/*
 * In place of all vectors, for who only wants to know how many rows they have;
 * false: that takes reading them.
 */
extern bool strata_scan_count_rows(PlanState *node, StrataRowCount *count);

/*
 * The same in the order that the caller likes, and without batches that it
 * does not: list the batches that metadata cannot prune (NULL at the end), go
 * to one of them, and read it where it stands (NULL: no row passed the quals).
 * The reader has metadata, and columns that are constant in the batch.
 */
extern StrataBatchReader *strata_scan_list_batch(PlanState *node,
												 ItemPointer tid);

/*
 * best_first: list no more batches, by segment of that of the one listed last.
 */
extern void strata_scan_skip_rest(PlanState *node);
extern StrataBatchReader *strata_scan_go_to_batch(PlanState *node,
												  ItemPointer tid);
extern StrataVectorBatch *strata_scan_read_batch(PlanState *node);

/*
 * The last step in two, for who may not want all rows that pass.  Quals that
 * take more than a look at vectors are late ones.  Read the batch where it
 * stands, without those (*late: there are some; again: it was read before);
 * then try them on some of its rows, numbers in ascending order: returns how
 * many pass, whose numbers are left in rows, which has room for all of them.
 */
extern bool strata_scan_has_late_quals(PlanState *node);
extern StrataVectorBatch *strata_scan_read_early(PlanState *node, bool again,
												 bool *late);
extern int	strata_scan_try_rows(PlanState *node, uint16 *rows, int n);

/*
 * For who wants the rows nearest to a value, by an ordering operator of a GiST
 * index.  Has the table such an index?
 */
extern bool strata_scan_has_distances(Relation rel, AttrNumber attno,
									  Oid opno, Oid collation);

/*
 * Of a node that gives vectors; NULL: its table has none.  The value, not
 * null, is the caller's and is asked for once a scan, before anything is read.
 */
typedef struct StrataNearest StrataNearest;
extern StrataNearest *strata_scan_nearest_begin(PlanState *node,
												AttrNumber attno, Oid opno,
												Oid collation);
extern void strata_scan_nearest_ask(StrataNearest *nearest, Datum value);
extern const char *strata_scan_nearest_index(const StrataNearest *nearest);
extern void strata_scan_nearest_end(StrataNearest *nearest);

/*
 * How near the nearest row of a batch is at least; minus infinity: not known.
 * As far as rounding goes.
 */
extern double strata_scan_nearest_distance(const StrataNearest *nearest,
										   const StrataBatchReader *reader);

/*
 * Is it better to go by distances, than to list what other conditions leave?
 * Then, in place of strata_scan_list_batch: the next batch, the nearest first,
 * that is not farther than the limit.
 */
extern bool strata_scan_nearest_leads(const StrataNearest *nearest);
extern StrataBatchReader *strata_scan_nearest_next(StrataNearest *nearest,
												   double limit,
												   double *distance);

/*
 * In place of strata_scan_next_heap_row and row vectors, before the first row
 * of each scan: false: not so.  Then rows that pass the quals, in the order of
 * the index, in a slot of the table; NULL: none is left that is not farther
 * than the limit.  in_order: that is the order of their distances.
 */
extern bool strata_scan_nearest_rows(StrataNearest *nearest);
extern TupleTableSlot *strata_scan_nearest_next_row(StrataNearest *nearest,
													double limit,
													bool *in_order);

/*
 * EXPLAIN ANALYZE of a node above several scans: what they have read in all.
 */
struct ExplainState;
extern void strata_scan_explain_all(CustomScanState *above,
									struct ExplainState *es);

#endif							/* STRATA_SCAN_VECTOR_H */
