/*-------------------------------------------------------------------------
 *
 * store_private.h
 *	  What the files of src/store share among themselves.
 *
 * src/store/store_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_STORE_PRIVATE_H
#define STRATA_STORE_PRIVATE_H

#include "base/base.h"
#include "batch/batch_measure.h"
#include "catalog/catalog.h"
#include "store/store.h"

#include "access/heapam.h"
#include "catalog/indexing.h"
#include "nodes/execnodes.h"
#include "port/atomics.h"
#include "utils/typcache.h"

/*
 * store_proof.c: the table (InvalidOid: none) of that name and owner, which is
 * the name of rel's companion, if it is that; InvalidOid, or an error, if it
 * is not. snapshot: NULL, or the one to look with.
 */
extern Oid	strata_companion_prove(Relation rel, const char *name, Oid table,
								   Oid owner, Snapshot snapshot);

/*
 * An error unless we made the companion and its owner is one who may have it.
 */
extern void strata_companion_check(Relation batches);

/*
 * store_companion.c: as strata_companion_oid(), out of the catalog; of rel its
 * row in pg_class and its file count.
 */
extern Oid	strata_companion_lookup(Relation rel);

/* Does the snapshot see a batch?  By the index on first_row. */
extern bool strata_companion_sees_batch(Relation batches, Relation index,
										Snapshot snapshot);

/* Or InvalidOid. */
extern Oid	strata_owner_of_table(Oid table);

/* Schema companions of that persistence live in; InvalidOid: there is none. */
extern Oid	strata_companion_namespace(char persistence);

/* An index of the companion on exactly these of its columns, or InvalidOid. */
extern Oid	strata_companion_find_index(Relation batches,
										const AttrNumber *keys, int nkeys);

/*
 * What a column that the batch in batch_slot has not got is in all of its
 * rows, in the current context.  An error when the snapshot is too old to
 * tell.
 */
extern Datum strata_missing_value(TupleDesc rel_desc, AttrNumber attno,
								  TupleTableSlot *batch_slot, bool *isnull);

/* A column of an index that is to be made, in its usual order. */
extern IndexElem *strata_index_elem(const char *column);

/* How rows described by desc are stored in the companion. */
extern StrataBatchSchema *strata_companion_schema(TupleDesc desc,
												  Relation batches);

/*
 * Columns of the layout's indexes, see store.h, into keys (INDEX_MAX_KEYS);
 * returns how many, 0 when there can be no such index.
 */
typedef int (*StrataIndexKeys) (const StrataBatchSchema *schema,
								const StrataLayout *layout, bool by_max,
								AttrNumber *keys);
extern int	strata_companion_segment_keys(const StrataBatchSchema *schema,
										  const StrataLayout *layout,
										  bool by_max, AttrNumber *keys);
extern int	strata_companion_order_keys(const StrataBatchSchema *schema,
										const StrataLayout *layout,
										bool by_max,
										AttrNumber *keys);
extern int	strata_companion_span_keys(const StrataBatchSchema *schema,
									   const StrataLayout *layout, bool by_max,
									   AttrNumber *keys);
extern int	strata_companion_layout_keys(const StrataBatchSchema *schema,
										 const StrataLayout *layout,
										 bool by_max, AttrNumber *keys);

/*
 * Are batches to have the rows that an archive's have?  Entropy coding and LZ
 * gain by them; in a small table less than TOAST takes for itself.  companion:
 * InvalidOid if there is none yet.
 */
extern bool strata_store_is_large_archive(Relation rel, Oid companion,
										  StrataLevel level);

/* The companion's option, and how to set it; not beside other writers. */
extern DefElem *strata_cut_option(StrataBatchCut cut);
extern void strata_companion_set_cut(Relation batches, StrataBatchCut cut);

/*
 * A batch row was written, of these values; tuple: nothing of it out of line.
 * Then, after nbatches: rows are cut as was found to take the least.
 */
extern void strata_cut_learn(StrataCutMeasure *measure, Relation batches,
							 HeapTuple tuple, const Datum *values,
							 const bool *isnull);
extern void strata_cut_adapt(const StrataCutMeasure *measure, Relation batches,
							 int64 nbatches);

/* Columns of R's unique keys, see store.h, from the catalogs. */
extern Bitmapset *strata_unique_columns_find(Relation rel, bool *any);

/*
 * Rows of batches kept as tuples; store_kept.c.  find: fills in *found, with a
 * tuple in the current context.  add: the row and some around it; row->reader
 * has its batch, which is live.
 */
extern bool strata_kept_find(Relation rel, Relation batches, int64 row,
							 StrataBatchRow *found);
extern void strata_kept_add(Relation rel, Relation batches,
							const StrataBatchRow *row);

/* All of a table, or companion, is void; InvalidOid: of all tables. */
extern void strata_kept_invalidate(Oid relid);

/* The transaction ends, and its memory goes. */
extern void strata_kept_forget(void);

/*
 * As strata_batch_store_row, by a reader without a fetcher (after an error it
 * has one that is gone), of a row that others need not follow.
 */
extern void strata_batch_store_alone(Relation rel, StrataBatchReader *reader,
									 int row, TupleTableSlot *slot);

/*
 * Is it known that the row, of a batch whose first row is batch, has no entry,
 * not even one of a transaction in progress?  store_touched.c.
 */
extern bool strata_row_is_untouched(Relation batches, int64 batch, int64 row);

/*
 * An entry of some of the rows [from, to] was made, and is in the index; the
 * caller still has the batch's writing lock.
 */
extern void strata_rows_note_touched(Relation batches, int64 from, int64 to);

/*
 * The counter of a window of row numbers, or of what else has a number; NULL:
 * there are none.
 */
extern pg_atomic_uint64 *strata_touched_counter(Oid companion, int64 number);

/* A key was put into the companion's index on first_row; store_ends.c. */
extern void strata_ends_note(Relation batches, int64 key);

/*
 * The key of a row's entry in the index on first_row, and of an entry of rows
 * deleted together, of which row is the first.  All are negative.
 */
#define STRATA_TOGETHER_KEYS (INT64CONST(1) << 40)

static inline int64
strata_entry_key(int64 row)
{
	return -row - 1;
}

static inline int64
strata_together_key(int64 row)
{
	return -STRATA_TOGETHER_KEYS - row - 1;
}

#endif							/* STRATA_STORE_PRIVATE_H */
