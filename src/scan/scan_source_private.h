/*-------------------------------------------------------------------------
 *
 * scan_source_private.h
 *	  Batch rows of the companion, one after the other, and what their metadata
 *	  says of the quals.
 *
 * src/scan/scan_source_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_SCAN_SOURCE_PRIVATE_H
#define STRATA_SCAN_SOURCE_PRIVATE_H

#include "postgres.h"

#include "access/relscan.h"
#include "access/skey.h"
#include "scan/filter_private.h"
#include "scan/scan_plan_private.h"
#include "store/store.h"

/* scan_span.c: how wide the widest batch is. */
typedef struct StrataSpans StrataSpans;

extern StrataSpans *strata_spans_create(StrataStore *store, Snapshot snapshot,
										const StrataLayout *layout);

/*
 * The span that no batch exceeds of those the keys name: segment values and
 * layout; or of all segments, when there is none but the layout's.  False when
 * it is not known.
 */
extern bool strata_spans_widest(StrataSpans *spans, ScanKey keys, int nkeys,
								int16 *span);
extern void strata_spans_end(StrataSpans *spans);

/*
 * A key for the first column of an index, without the value; false: it has no
 * such operator.
 */
extern bool strata_init_first_key(ScanKey key, Relation index,
								  StrategyNumber strategy);

/* scan_source.c: batch rows of the companion, one after the other. */
typedef struct StrataSource StrataSource;

/* Ranges of the companion's rows; SEQ has only the first, with all rows. */
typedef enum StrataRange
{
	STRATA_RANGE_LAYOUT,		/* batches of the layout, by the index keys */
	STRATA_RANGE_LAYOUT_NULL,	/* ... whose min or max is null */
	STRATA_RANGE_BEFORE,		/* layouts that sort before it */
	STRATA_RANGE_AFTER,
	STRATA_RANGE_COUNT
} StrataRange;

/* indexes: of the access INDEX, see StrataScanInfo. */
extern StrataSource *strata_source_create(StrataStore *store,
										  Snapshot snapshot,
										  StrataAccess access,
										  const char *layout, bool by_span,
										  const List *indexes);
extern StrataAccess strata_source_access(const StrataSource *source);

/* The layout it was made for; NULL for access SEQ and INDEX. */
extern const StrataLayout *strata_source_layout(const StrataSource *source);
extern void strata_source_set_parallel(StrataSource *source,
									   ParallelTableScanDesc pscan);

/*
 * Give batches of the layout in the order of the bound that the access is
 * about, the best first; segment by segment if the access is by segment.
 * _skip_rest leaves out what is left, of the segment of the batch row read
 * last or at all; it does nothing where batches come otherwise.
 */
extern void strata_source_set_best_first(StrataSource *source);
extern void strata_source_skip_rest(StrataSource *source);

/*
 * Leave out batches that are not in the ranges, where that saves looking at
 * them (access INDEX), from the next start on.  The ranges are kept.
 */
extern void strata_source_narrow(StrataSource *source,
								 const StrataIndexRanges *ranges);

/* Start over, with keys from the (prepared) filter; all ranges, forward. */
extern void strata_source_rescan(StrataSource *source,
								 const StrataFilter *filter);

/* The next batch row of all ranges in the direction; false at the end. */
extern bool strata_source_next(StrataSource *source, ScanDirection direction,
							   TupleTableSlot *slot);

/* After the end was reached: go on in the direction, away from that end. */
extern void strata_source_turn(StrataSource *source, ScanDirection direction);

/* Start over with one range in one direction; then _next_in_range. */
extern void strata_source_start_range(StrataSource *source,
									  const StrataFilter *filter,
									  StrataRange range,
									  ScanDirection direction, bool not_null);
extern bool strata_source_next_in_range(StrataSource *source,
										TupleTableSlot *slot);

/*
 * Do the batch rows of the range just started, of the layout's two, come in
 * the order of the bound that the access is about?
 */
extern bool strata_source_is_ordered(const StrataSource *source);

/*
 * The key by which the range being read is ordered, of the next batch row,
 * which is not read; false at the end.  _next_peeked then reads it, false: it
 * is not there for the snapshot.  Only in ranges that were started while keys
 * are wanted.
 */
extern bool strata_source_peek(StrataSource *source, Datum *bound,
							   bool *isnull);
extern bool strata_source_next_peeked(StrataSource *source,
									  TupleTableSlot *slot);
extern void strata_source_want_keys(StrataSource *source, bool wanted);

/*
 * Per qual of the filter: true when batch rows of the range pass it because of
 * its keys.
 */
extern const bool *strata_source_proven(const StrataSource *source);

/* The batch row at tid. */
extern bool strata_source_fetch(StrataSource *source, ItemPointer tid,
								TupleTableSlot *slot);
extern void strata_source_end(StrataSource *source);

/*
 * scan_index_source.c: batch rows that indexes of R lead to, in the order of
 * their numbers, and those that they know nothing of.  start: with the
 * filter's values of the moment.
 */
typedef struct StrataIndexSource StrataIndexSource;

extern StrataIndexSource *strata_index_source_create(StrataStore *store,
													 Snapshot snapshot,
													 const List *indexes);

/* From the next start on, of batches in the ranges alone, which are kept. */
extern void strata_index_source_narrow(StrataIndexSource *source,
									   const StrataIndexRanges *ranges);
extern void strata_index_source_start(StrataIndexSource *source,
									  const StrataFilter *filter,
									  ScanDirection direction);
extern bool strata_index_source_next(StrataIndexSource *source,
									 ScanDirection direction,
									 TupleTableSlot *slot);
extern void strata_index_source_end(StrataIndexSource *source);

/*
 * scan_index_match.c: what a condition on relation varno asks of an index by
 * its operator classes.
 */
typedef struct StrataIndexMatch
{
	AttrNumber	column;			/* of the index, from 1 */
	int			strategy;
	Oid			righttype;
	Oid			function;		/* of the operator */
	Oid			collation;
	bool		is_array;		/* any of an array's elements */
	Expr	   *value;
} StrataIndexMatch;

/* Is the expression a column of the index, from 0? */
extern bool strata_index_is_column(Relation index, Index varno, int column,
								   Node *node);
extern bool strata_index_match(Relation index, Index varno,
							   const Expr *clause, StrataIndexMatch *match);
extern void strata_index_match_key(const StrataIndexMatch *match, Datum value,
								   ScanKey key);

/* The value, or those of the array that are not null. */
extern Datum *strata_index_match_values(const StrataIndexMatch *match,
										Datum value, int *n);

/* scan_prune.c: what metadata says of the quals. */
typedef struct StrataPruner StrataPruner;

typedef enum StrataPruned
{
	STRATA_PRUNED_NOT,
	STRATA_PRUNED_SEGMENT,
	STRATA_PRUNED_RANGE,
	STRATA_PRUNED_JOIN			/* by values of the other side of a join */
} StrataPruned;

extern StrataPruner *strata_pruner_create(StrataFilter *filter,
										  const StrataBatchSchema *schema);

/*
 * Fills verdicts[nquals] for the batch in run->reader, unless it is pruned.
 * entries: rows that are gone.  proven: per qual, all rows are known to pass;
 * or NULL.
 */
extern StrataPruned strata_prune_batch(StrataPruner *pruner,
									   StrataFilterRun *run,
									   StrataEntries *entries,
									   const bool *proven,
									   StrataVerdict *verdicts);

/*
 * min and max of an orderby column, when the companion keeps them with R's
 * type; false otherwise.  *isnull: every row is null.
 */
extern bool strata_prune_bounds(StrataBatchReader *reader, AttrNumber attno,
								Datum *min, Datum *max, bool *isnull);

/*
 * Of "column <strategy> value": what it is for values of which the least and
 * the greatest compare so with it; NULL: not known.
 */
extern StrataVerdict strata_prune_compare(int strategy, const int *lo,
										  const int *hi);

/* Does a batch of layout have at most columns of its segment in the qual? */
extern bool strata_prune_is_segment_qual(const StrataLayout *layout,
										 const StrataQual *qual);

/* Could the tree prune by min and max with batches of layout? */
extern bool strata_prune_is_range_qual(const StrataLayout *layout,
									   const StrataQual *qual);

#endif							/* STRATA_SCAN_SOURCE_PRIVATE_H */
