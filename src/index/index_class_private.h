/*-------------------------------------------------------------------------
 *
 * index_class_private.h
 *	  Batch indexes by operator classes: summaries (BRIN, GiST) and keys (GIN).
 *
 * src/index/index_class_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_INDEX_CLASS_PRIVATE_H
#define STRATA_INDEX_CLASS_PRIVATE_H

#include "index/index_private.h"

/*
 * index_summary.c: summaries of batches, in the order of their numbers, as
 * rows of a run.
 */
typedef struct StrataSummaryWriter StrataSummaryWriter;
extern StrataSummaryWriter *strata_summary_writer_begin(Relation relation,
														const StrataIndexRun
														*run);

/* One that is too large is left out: the batch has none then. */
extern void strata_summary_writer_add(StrataSummaryWriter *writer,
									  int64 first_row, const void *summary,
									  Size size);
extern void strata_summary_writer_end(StrataSummaryWriter *writer,
									  StrataIndexRun *run);

/* A row of a run of summaries, decoded. */
typedef struct StrataSummaryRow
{
	int			n;
	Size		nbytes;			/* of it in memory */
	int64	   *first_rows;		/* of the batches */
	const void **summaries;		/* aligned; NULL: the batch has none */
	uint16	   *sizes;
} StrataSummaryRow;

typedef struct StrataSummaryCursor StrataSummaryCursor;
extern StrataSummaryCursor *strata_summary_cursor_begin(Relation relation,
														Snapshot snapshot,
														const StrataIndexRun
														*run);

/*
 * The next row, of batches with numbers from `from` on; NULL: there is none.
 * In the current context.
 */
extern void strata_summary_cursor_seek(StrataSummaryCursor *cursor,
									   int64 from);
extern StrataSummaryRow *strata_summary_cursor_next(StrataSummaryCursor
													*cursor);
extern void strata_summary_cursor_end(StrataSummaryCursor *cursor);

/*
 * index_class.c: summaries as the operator classes of an open BRIN or GiST
 * index make them, see pg.h.
 */
typedef struct StrataClass StrataClass;
extern StrataClass *strata_class_open(Relation index);
extern void strata_class_close(StrataClass *class);
extern void strata_class_start(StrataClass *class);

/* False: the value, of that base type, has no place in a summary. */
extern bool strata_class_add(StrataClass *class, int column, Oid type,
							 Datum value, bool isnull);
extern const void *strata_class_finish(StrataClass *class, Size *size);
extern void strata_class_ask(StrataClass *class, ScanKey keys, int nkeys);
extern bool strata_class_may_hold(StrataClass *class, const void *summary);
extern bool strata_class_covers(StrataClass *class, const void *summary,
								const void *part);

/* Of GiST: see strata_gist_distance. */
extern double strata_class_distance(StrataClass *class, const void *summary,
									ScanKey key);

/* index_summarise.c: runs of summaries made, merged, verified. */
extern void strata_index_summarise(StrataStore *store, Relation relation,
								   StrataIndexRun *run);
extern void strata_index_merge_summaries(StrataStore *store, Relation relation,
										 const StrataIndexRun *older,
										 const StrataIndexRun *newer,
										 StrataIndexRun *result);
extern void strata_index_verify_summaries(StrataStore *store,
										  Relation relation, Snapshot snapshot,
										  const StrataIndexTarget *target,
										  StrataIndexReport report, void *arg);

/* index_summarise.c: see strata_index_probe_begin and what follows it. */
typedef struct StrataSummaryProbe StrataSummaryProbe;
extern StrataSummaryProbe *strata_summary_probe_begin(Relation batches,
													  Snapshot snapshot,
													  Relation index);
extern StrataIndexRanges *strata_summary_probe_find(StrataSummaryProbe *probe,
													ScanKey keys, int nkeys);
extern double strata_summary_probe_share(StrataSummaryProbe *probe,
										 ScanKey keys, int nkeys);
extern StrataIndexNearest *strata_summary_probe_nearest(StrataSummaryProbe
														*probe, ScanKey key);
extern void strata_summary_probe_end(StrataSummaryProbe *probe);

/* index_gin.c: the same of keys. */
typedef struct StrataKeyProbe StrataKeyProbe;
extern StrataKeyProbe *strata_key_probe_begin(Relation batches,
											  Snapshot snapshot,
											  Relation index);
extern StrataIndexRanges *strata_key_probe_find(StrataKeyProbe *probe,
												ScanKey keys, int nkeys,
												double *sought);

/* Can it be asked for any of many values together?  Then where they are. */
extern bool strata_key_probe_lists(StrataKeyProbe *probe);
extern StrataIndexRanges *strata_key_probe_find_any(StrataKeyProbe *probe,
													ScanKey keys, int n);
extern void strata_key_probe_end(StrataKeyProbe *probe);

/*
 * index_values.c: what an open index of R has of a batch.  Between open and
 * close the session has the rights of R's owner where there is something to
 * evaluate.
 */
typedef struct StrataIndexValues StrataIndexValues;
extern StrataIndexValues *strata_index_values_open(Relation rel,
												   Relation index);
extern void strata_index_values_close(StrataIndexValues *values);

/* The reader's batch; false: none of its rows is in the index. */
extern bool strata_index_values_load(StrataIndexValues *values,
									 StrataBatchReader *reader);

/*
 * The values of a column of the index, from 0; each that a row has at least
 * once, null among them.  They live as long as the batch.
 */
extern void strata_index_values_start(StrataIndexValues *values, int column);
extern bool strata_index_values_next(StrataIndexValues *values, Datum *value,
									 bool *isnull);

/*
 * index_keys.c: hashes of the keys that an open index has for the rows of a
 * batch: GIN's of all columns, of others the values of the first.
 */
typedef struct StrataBatchKeys StrataBatchKeys;
extern StrataBatchKeys *strata_index_keys_open(Relation index);
extern void strata_index_keys_close(StrataBatchKeys *keys);

/* NULL: it is not of GIN. */
extern struct StrataGin *strata_index_keys_gin(StrataBatchKeys *keys);

/* Most of a batch: if there are more, only that there are is said. */
#define STRATA_INDEX_KEYS_MAX 49152

/*
 * Each once; *hashes until the next call; returns how many.  The values are
 * those of the index.
 */
extern int	strata_index_keys_of_batch(StrataBatchKeys *keys,
									   StrataIndexValues *values,
									   StrataBatchReader *reader,
									   const uint32 **hashes);

/* Of a column's key, counted from 0; of an item that has none. */
extern uint32 strata_index_key_hash(StrataBatchKeys *keys, int column,
									Datum key, bool isnull);
extern uint32 strata_index_key_hash_empty(int column);

/* Batches that have it may have any key. */
#define STRATA_INDEX_KEY_ANY ((uint32) 0x5bd1e995)

/* Of an index with a predicate: batches with a row of it. */
#define STRATA_INDEX_KEY_SOME ((uint32) 0x85ebca77)

#endif							/* STRATA_INDEX_CLASS_PRIVATE_H */
