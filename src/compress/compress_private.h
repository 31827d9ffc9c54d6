/*-------------------------------------------------------------------------
 *
 * compress_private.h
 *	  What the files of src/compress share among themselves.
 *
 * src/compress/compress_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_COMPRESS_PRIVATE_H
#define STRATA_COMPRESS_PRIVATE_H

#include "base/base.h"
#include "catalog/catalog.h"
#include "compress/compress.h"
#include "store/store_companion.h"
#include "store/store_write.h"

/*
 * Recompress those batches of the layout, seen by the snapshot, that overlap
 * with neighbours, fit into one with them, or have lost rows;
 * compress_merge.c.
 */
extern void strata_store_merge_batches(StrataStore *store,
									   const StrataLayout *layout,
									   Snapshot snapshot,
									   StrataBatchWriter *writer);

/* Which rows fit into a batch; compress_fit.c. */
typedef struct StrataRowCheck StrataRowCheck;
extern StrataRowCheck *strata_row_check_create(Relation rel,
											   const StrataLayout *layout);
extern void strata_row_check_free(StrataRowCheck *check);

/* May this row go into a batch?  Its attributes are deformed. */
extern bool strata_row_fits(StrataRowCheck *check, TupleTableSlot *slot);

/*
 * The row with all values in it: the slot itself, or one of the check's, which
 * the caller clears before the current context ends.
 */
extern TupleTableSlot *strata_row_fetch_external(StrataRowCheck *check,
												 TupleTableSlot *slot);

/*
 * Indexes of the table that might refuse a row; compress_refuse.c.  take: an
 * error where one would have raised it; false: the row store is to decide.
 */
typedef struct StrataPickyIndexes StrataPickyIndexes;
extern StrataPickyIndexes *strata_picky_indexes_open(Relation rel);
extern void strata_picky_indexes_close(StrataPickyIndexes *picky);
extern bool strata_picky_indexes_take(StrataPickyIndexes *picky,
									  TupleTableSlot *slot);

/*
 * Sorted rows to the writer, but to put those of segments with fewer than
 * limit of them and no batch yet; compress_few.c.
 */
typedef struct StrataFewRows StrataFewRows;
struct StrataSegments;
extern StrataFewRows *strata_few_begin(StrataBatchWriter *writer,
									   const StrataLayout *layout,
									   struct StrataSegments *segments,
									   int limit, StrataRowPut put, void *arg);
extern void strata_few_add(StrataFewRows *few, TupleTableSlot *slot);
extern void strata_few_end(StrataFewRows *few);

/*
 * Sorts rows by segment and order; equal ones stay in the order they were put.
 * See compress_sort.c.
 */
typedef struct StrataRowSort StrataRowSort;

/* kilobytes: of memory; the rest goes to disk. */
extern StrataRowSort *strata_row_sort_begin(TupleDesc table,
											const StrataLayout *layout,
											int kilobytes);

/* The slot's attributes are deformed. */
extern void strata_row_sort_put(StrataRowSort *sort, TupleTableSlot *slot);

/* All rows were put. */
extern void strata_row_sort_perform(StrataRowSort *sort);

/*
 * The next row, all attributes deformed, until the one after; NULL after the
 * last.
 */
extern TupleTableSlot *strata_row_sort_next(StrataRowSort *sort);
extern void strata_row_sort_end(StrataRowSort *sort);

/* Puts rows that come in any order into batches; see compress_gather.c. */
typedef struct StrataGather StrataGather;

/* kilobytes: of memory, about; the rest goes to disk. */
extern StrataGather *strata_gather_begin(StrataBatchWriter *writer,
										 const StrataLayout *layout,
										 int kilobytes);

/* Segments that have fewer than `rows` in all are given to put instead. */
extern void strata_gather_keep_few(StrataGather *gather, int rows,
								   StrataRowPut put, void *arg);

/* Sort all rows as a whole: batches that do not overlap, whatever comes in. */
extern void strata_gather_sort_all(StrataGather *gather);

/* The slot's attributes are deformed, nothing in it is out of line. */
extern void strata_gather_add(StrataGather *gather, TupleTableSlot *slot);
extern void strata_gather_end(StrataGather *gather);

#endif							/* STRATA_COMPRESS_PRIVATE_H */
