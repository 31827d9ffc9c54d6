/*-------------------------------------------------------------------------
 *
 * scan_private.h
 *	  The node's state, and what its parts do with it.
 *
 * src/scan/scan_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_SCAN_PRIVATE_H
#define STRATA_SCAN_PRIVATE_H

#include "postgres.h"

#include "access/relscan.h"
#include "base/base.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "pg/pg.h"
#include "scan/filter_private.h"
#include "scan/scan_batch_private.h"
#include "scan/scan_plan_private.h"
#include "scan/scan_source_private.h"
#include "scan/scan_vector.h"
#include "store/store.h"
#include "utils/sortsupport.h"
#include "utils/tuplesort.h"

/* Counters, for EXPLAIN; parallel workers add theirs to the leader's. */
typedef struct StrataCounters
{
	int64		considered;		/* batch rows looked at, promoted ones left
								 * out */
	int64		pruned_segment;
	int64		pruned_range;
	int64		pruned_join;
	int64		scanned;
	int64		counted;		/* by an index, without being looked at */
	int64		columns_decoded;
	int64		batches_decoded;	/* of those scanned; of the others what is
									 * stored of them was enough */
	int64		rows_filtered;	/* by vector filters */
	int64		batch_rows;		/* that passed them */
	int64		heap_rows;
	int64		column_rows;	/* of them, read as columns */
	int64		loops;			/* scans begun */
	int64		exhausted;		/* of them, those that saw all batch rows
								 * there are */
} StrataCounters;

struct StrataScanState;

/* scan_rowstore.c: rows of the row store. */
extern void strata_rowstore_begin(struct StrataScanState *scan, EState *estate,
								  int eflags);
extern void strata_rowstore_rescan(struct StrataScanState *scan);
extern void strata_rowstore_end(struct StrataScanState *scan);

/*
 * The next row that passes the quals, or NULL; in order when the scan is
 * ordered.
 */
extern TupleTableSlot *strata_rowstore_next(struct StrataScanState *scan);
extern TupleTableSlot *strata_rowstore_emit(struct StrataScanState *scan,
											TupleTableSlot *slot);

/*
 * scan_rows.c: the same rows, many at a time, as columns, if they can be read
 * so and there is no child; for who wants all rows that pass the quals.
 * Columns asked for are those of the first call since the scan began.
 */
typedef struct StrataRowReader StrataRowReader;
extern bool strata_row_reader_can_read(struct StrataScanState *scan);
extern bool strata_row_reader_next(struct StrataScanState *scan,
								   const AttrNumber *attnos, int nattnos,
								   bool with_tids, StrataRowVector *vector);
extern void strata_row_reader_rescan(StrataRowReader *reader);

/* Have columns read from the next vector on. */
extern void strata_row_reader_want(StrataRowReader *reader,
								   const AttrNumber *attnos, int nattnos);
extern void strata_row_reader_end(StrataRowReader *reader);

/* scan_row_index.c: some of the rows, by an index. */
typedef struct StrataRowIndex StrataRowIndex;
extern void strata_row_index_end(struct StrataScanState *scan);

/* May a query use R's index, of all rows, as the planner judges it? */
extern bool strata_row_index_is_usable(Relation index);

/* scan_merge.c: ordered output. */
typedef struct StrataMerge StrataMerge;
extern StrataMerge *strata_merge_create(struct StrataScanState *scan);
extern void strata_merge_rescan(StrataMerge *merge);
extern TupleTableSlot *strata_merge_next(StrataMerge *merge);
extern void strata_merge_end(StrataMerge *merge);

/*
 * scan_sweep.c: delete the loaded batch, all of whose rows pass, as a whole;
 * false: not so.
 */
extern bool strata_sweep_batch(struct StrataScanState *scan,
							   StrataOpenBatch *batch);

/*
 * Delete the selected rows of the batch that nobody has to do with; false:
 * none is left to be returned.
 */
extern bool strata_sweep_rows(struct StrataScanState *scan,
							  StrataOpenBatch *batch);

/* scan_parallel.c */
typedef struct StrataParallel StrataParallel;
extern Size strata_parallel_estimate(CustomScanState *node,
									 ParallelContext *pcxt);
extern void strata_parallel_initialize(CustomScanState *node,
									   ParallelContext *pcxt, void *area);
extern void strata_parallel_reinitialize(CustomScanState *node,
										 ParallelContext *pcxt, void *area);
extern void strata_parallel_worker(CustomScanState *node, shm_toc *toc,
								   void *area);
extern void strata_parallel_shutdown(CustomScanState *node);

/* scan_join.c: names of the columns that joins give values for, or NULL. */
extern char *strata_scan_join_columns(struct StrataScanState *scan);

/* scan_explain.c */
struct ExplainState;

/*
 * str ends with lines about a chunk that was not read: if the chunk before it
 * was not either, these are one line.
 */
extern void strata_scan_explain_unread(StringInfo str);
extern void strata_scan_explain(CustomScanState *node, List *ancestors,
								struct ExplainState *es);

/* The node. */
typedef struct StrataScanState
{
	CustomScanState css;		/* must be first */
	StrataScanInfo info;
	MemoryContext mcxt;			/* of the node; parts hang below it */
	/* output */
	int			ntargets;		/* columns that rows are returned with */
	AttrNumber *targets;
	int			ndirect;		/* result columns that are columns of R, or -1 */
	AttrNumber *direct;
	StrataParts *parts;			/* that are all the result reads of their
								 * columns; or NULL */
	ProjectionInfo *part_projection;	/* by them, and by: */
	int			npart_targets;
	AttrNumber *part_targets;
	bool		in_vectors;		/* rows are asked for in vectors */
	bool		needs_heap_tuple;	/* xmin and the like are wanted */
	TupleTableSlot *table_slot; /* R's own kind: row store, EvalPlanQual */
	TupleTableSlot *row_slot;	/* virtual: rows of batches */
	TupleTableSlot *tuple_slot; /* heap tuple: the same with system columns */
	/* row store */
	PlanState  *child;			/* or NULL: read by heap_scan */
	bool		child_began;	/* it was asked for a row */
	TableScanDesc heap_scan;
	BlockNumber heap_pages;		/* it reads */
	ParallelTableScanDesc heap_pscan;
	StrataRowReader *row_reader;	/* in place of heap_scan; NULL: not used */
	StrataRowVector row_vector; /* of it, whose rows are handed up one by one, */
	int			row_at;			/* ... from here on */
	int			row_more;		/* columns that are returned, and no qual's */
	bool		row_whole;		/* they are read, too */
	bool		rows_tried;		/* it is known whether rows come so: */
	bool		rows_by_vectors;
	bool		backward_asked; /* rows may be asked for backward */
	StrataRowIndex *row_index;	/* rows come by it; NULL: they do not */
	AttrNumber	bound_attno;	/* what the partition's bound was asked for
								 * last (scan_partition.c); 0: not yet */
	bool		bound_last;
	bool		bound_found;
	int64		bound;
	int64		nindexed;		/* scans that read them so */
	bool		heap_done;
	Tuplesortstate *heap_sort;	/* NULL when sorted: it is empty */
	bool		heap_sorted;
	TupleDesc	sort_desc;
	TupleTableSlot *sort_slot;	/* R's columns and a tid */
	TupleTableSlot *sort_input;
	/* batches; store is NULL when there are none */
	bool		store_opened;
	StrataStore *store;
	StrataSource *source;
	StrataFilter *filter;
	StrataEntries *entries;		/* rows that have left their batches */
	StrataPruner *pruner;
	StrataFilterRun run;
	int			nwhole;			/* windows of batches that were not small,
								 * since the (re)scan began, see scan_batch.c */
	uint8	   *mask;
	Size		mask_size;
	StrataOpenBatch *batch;		/* unordered */
	bool		batches_started;
	bool		batches_before; /* backward: stands before the first batch */
	bool		batches_done;	/* stands behind the last */
	bool		batches_first;	/* the row store, read from end to end, comes
								 * behind them */
	StrataMerge *merge;			/* ordered */
	int			group_columns;	/* the first keys of the order: of rows that
								 * are the same in them ... */
	int64		group_limit;	/* ... so many are wanted; 0: all */
	List	  **subplan_states; /* of all nodes, by number; NULL: all of its
								 * own have tables, or need none */
	int			subplan_looks;	/* so often it was looked for these */
	/* joins above that give values */
	List	   *joins;			/* of StrataScanJoin */
	Bitmapset  *join_attnos;	/* columns that they are about */
	int			njoins_open;	/* of them, those whose values are not known
								 * yet */
	bool		sought_by_join; /* access was chosen for their values */
	StrataIndexRanges *join_ranges; /* their rows are in batches of these;
									 * NULL: not known */
	List	   *join_indexes;	/* OIDs of R's indexes that say so */
	/* DELETE of whole batches */
	ModifyTableState *sweeper;	/* NULL: not allowed */
	bool		sweep_tells;	/* rows are returned as well */
	bool		sweep_locked;	/* the companion, for that */
	int64		nswept;			/* batches */
	int64		nswept_rows;	/* of others */
	/* accounting */
	StrataParallel *parallel;
	StrataCounters counters;
	StrataCounters told;		/* of them, what strata.stat_tables has */
	int64		nbatches;		/* there are; -1: EXPLAIN has not counted yet */
} StrataScanState;

/* The node as ours, or NULL. */
extern StrataScanState *strata_scan_state(PlanState *node);

/*
 * The plan's quals, for a row of the row store; compiled when first asked for.
 */
extern ExprState *strata_scan_qual(StrataScanState *scan);
extern void strata_scan_open_store(StrataScanState *scan);

/* Add what was counted since the last call to the table's statistics. */
extern void strata_scan_tell(StrataScanState *scan);

/* scan_subplan.c: take hash tables that the same subplans elsewhere have. */
extern void strata_scan_take_subplans(StrataScanState *scan);

/* Before rows are looked at. */
static inline void
strata_scan_share_subplans(StrataScanState *scan)
{
	if (unlikely(scan->subplan_states != NULL))
		strata_scan_take_subplans(scan);
}

/* Evaluate run-time values, and stand before the first batch. */
extern void strata_scan_start_batches(StrataScanState *scan);

#endif							/* STRATA_SCAN_PRIVATE_H */
