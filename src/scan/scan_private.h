/*-------------------------------------------------------------------------
 *
 * scan_private.h
 *	  What the files of src/scan share: the plan's private data, the node's
 *	  state and its parts.
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
#include "nodes/pathnodes.h"
#include "pg/pg.h"
#include "scan/filter.h"
#include "scan/scan_vector.h"
#include "store/store.h"
#include "utils/sortsupport.h"
#include "utils/tuplesort.h"

/*-------------------------------------------------------------------------
 * Paths and plans
 *-------------------------------------------------------------------------
 */

/* How batch rows are found in the companion. */
typedef enum StrataAccess
{
	STRATA_ACCESS_SEQ,			/* all of them */
	STRATA_ACCESS_SEGMENT,		/* index on (layout, segment values...) */
	STRATA_ACCESS_MIN,			/* index on (layout, min of the first orderby
								 * column) */
	STRATA_ACCESS_MAX,			/* the same with max */
	STRATA_ACCESS_SEGMENT_MAX	/* as SEGMENT, but by max within a segment */
} StrataAccess;

/*
 * What reading batches in the order of one bound, the best first, does to a
 * path's cost.
 */
typedef struct StrataEndCost
{
	Cost		saving;			/* when few batches are enough; 0: none, or it
								 * cannot be */
	Cost		walk;			/* of that, what is lost again when all are
								 * needed */
	bool		by_span;		/* it needs the widest batch of all */
} StrataEndCost;

/*
 * What a path decided: path and plan carry it (scan_plan_data.c).
 */
typedef struct StrataScanInfo
{
	StrataAccess access;
	char	   *layout;			/* text of the layout access is about */
	int			nkeys;			/* ordered output: sort keys, else 0 */
	StrataOrderKey *keys;
	bool		incremental;	/* ordered: access should give batches in
								 * order */
	bool		by_span;		/* a segment has so many batches that its
								 * widest is asked for */
	bool		has_child;		/* row store through an index, by the child
								 * plan */
	BlockNumber heap_pages;		/* of the row store, when planned */
	bool		best_first;		/* access gives the best bound first (of each
								 * segment), and may skip the rest */
	StrataVectorCost vector_cost;	/* paths only */

	/*
	 * what best_first would save, by segment or of the table as one; paths
	 * only
	 */
	Cost		segment_saving; /* 0: none, or it cannot be */
	Bitmapset  *segment;		/* segmentby columns, of partial paths too */
	AttrNumber	order;			/* column of the bound */
	double		nread;			/* batches that a partial path's processes
								 * read */
	bool		has_segment_index[2];	/* by min, by max */
	StrataEndCost end[2];		/* likewise */
	char	   *note;			/* why the aggregation above is not
								 * vectorised, or "" */
	int			nquals;			/* plans only */
	bool	   *promotable;
} StrataScanInfo;

/*
 * Of a path: the struct itself, which it shares with whoever sets or asks for
 * it.  Of a plan: without what is for paths only; what is read is in the
 * current memory context.
 */
extern void strata_scan_path_set_info(CustomPath *path, StrataScanInfo *info);
extern StrataScanInfo *strata_scan_path_info(const CustomPath *path);
extern void strata_scan_plan_write(CustomScan *cscan,
								   const StrataScanInfo *info);
extern void strata_scan_plan_read(const CustomScan *cscan,
								  StrataScanInfo *info);

/* What planning knows of a relation. */
typedef struct StrataRelInfo
{
	PlannerInfo *root;
	RelOptInfo *rel;
	TupleDesc	desc;			/* of R; valid while planning the relation */
	StrataStore *store;			/* likewise */
	StrataLayout *layout;		/* of the batches, if they all have one; else
								 * of present settings */
	StrataStoreSize size;
	double		heap_pages;		/* of the row store */
	double		heap_tuples;
	double		random_page_cost;	/* of R's tablespace */
	double		seq_page_cost;
	double		nsegments;		/* distinct segments, estimated */
	int			ncolumns;		/* columns that the query needs */
	bool		has_segment_index;
	bool		has_segment_max_index;
	bool		has_min_index;
	bool		has_max_index;
	bool		has_span_index;
	bool		by_span;		/* see StrataScanInfo */
	List	   *shapes;			/* of scan_cost.c: what it knows of the quals */
	List	   *ops;			/* and of each of them */
} StrataRelInfo;

/* A path being considered: what it is, then what it costs. */
typedef struct StrataCandidate
{
	ParamPathInfo *param_info;
	Path	   *child;			/* or NULL: the row store is read as it lies */
	int			nkeys;			/* ordered output */
	const StrataOrderKey *keys;
	bool		incremental;	/* batches come in order from an index */
	int			workers;		/* > 0: partial */
	/* results */
	StrataAccess access;
	double		memory;			/* ordered: bytes of batches open at a time */
	double		rows;
	Cost		startup;
	Cost		total;
	StrataVectorCost vector_cost;
	double		nread;			/* batches that are read, by all processes */
	Cost		segment_saving; /* of total: not there when one batch of each
								 * segment is looked for; 0: none */
	StrataEndCost end[2];		/* from the least, from the greatest */
} StrataCandidate;

/* scan_cost.c: the comparison with a column that a clause is, or NULL. */
extern const StrataColumnOp *strata_scan_clause_op(StrataRelInfo *info,
												   RestrictInfo *rinfo);

/*
 * scan_cost.c: choose the access (unless incremental) and fill in the results.
 */
extern void strata_scan_cost(StrataRelInfo *info, StrataCandidate *candidate);

/*
 * scan_share.c: of all batches, those that the clauses do not prune by
 * summaries.
 */
extern Selectivity strata_scan_unpruned_share(StrataRelInfo *info,
											  List *clauses);

/*
 * scan_index.c: the row store is about to be read from end to end, which was
 * decided when it had `planned` pages.  May have the plan made anew, next
 * time.
 */
extern void strata_scan_check_outgrown(Relation rel, BlockNumber planned,
									   BlockNumber found);

/* scan_plan.c */
extern const struct CustomPathMethods strata_path_methods;
extern const struct CustomScanMethods strata_scan_methods;

/*-------------------------------------------------------------------------
 * Execution
 *-------------------------------------------------------------------------
 */

/* Counters, for EXPLAIN; parallel workers add theirs to the leader's. */
typedef struct StrataCounters
{
	int64		considered;		/* batch rows looked at, promoted ones left
								 * out */
	int64		pruned_segment;
	int64		pruned_range;
	int64		pruned_filter;
	int64		scanned;
	int64		counted;		/* by an index, without being looked at */
	int64		columns_decoded;
	int64		rows_filtered;	/* by vector filters */
	int64		heap_rows;
	int64		loops;			/* scans begun */
	int64		exhausted;		/* of them, those that saw all batch rows
								 * there are */
} StrataCounters;

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

extern StrataSource *strata_source_create(StrataStore *store,
										  Snapshot snapshot,
										  StrataAccess access,
										  const char *layout, bool by_span);
extern StrataAccess strata_source_access(const StrataSource *source);

/* The layout it was made for; NULL for access SEQ. */
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


/* scan_prune.c: what metadata says of the quals. */
typedef struct StrataPruner StrataPruner;

typedef enum StrataPruned
{
	STRATA_PRUNED_NOT,
	STRATA_PRUNED_SEGMENT,
	STRATA_PRUNED_RANGE,
	STRATA_PRUNED_FILTER
} StrataPruned;

extern StrataPruner *strata_pruner_create(StrataFilter *filter,
										  const StrataBatchSchema *schema);

/*
 * Fills verdicts[nquals] for the batch in run->reader, unless it is pruned.
 * proven: per qual, all rows are known to pass; or NULL.
 */
extern StrataPruned strata_prune_batch(StrataPruner *pruner,
									   StrataFilterRun *run,
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

struct StrataScanState;

/* scan_batch.c: one batch being read. */
typedef enum StrataResidualMode
{
	STRATA_RESIDUAL_NEW,		/* mode not decided yet for this batch */
	STRATA_RESIDUAL_CONSTANT,	/* same result for every row */
	STRATA_RESIDUAL_MEMO,		/* one result per dictionary entry */
	STRATA_RESIDUAL_ROW
} StrataResidualMode;

/* A qual that is evaluated when a row is about to be returned. */
typedef struct StrataResidual
{
	const StrataQual *qual;
	int			ncolumns;
	AttrNumber *attnos;
	StrataColumn **columns;
	StrataResidualMode mode;
	int			varying;		/* MEMO: the column that is not constant */
	bool		result;			/* CONSTANT */
	uint8	   *memo;			/* MEMO: 0 unknown, 1 false, 2 true */
	uint8		null_memo;
} StrataResidual;

typedef struct StrataOpenBatch
{
	StrataVectorBatch vector;
	StrataBatchReader *reader;
	TupleTableSlot *batch_slot;
	uint16	   *rows;			/* strata_batch_row_space() */
	int			rows_size;
	int			next;			/* position in the vector, behind the current
								 * row */
	StrataVerdict *verdicts;
	int			nresiduals;
	StrataResidual *residuals;	/* nquals allocated */
	StrataColumn **targets;		/* columns to return */
	bool		targets_ready;	/* in the window: */
	int			window_from;	/* rows [from, from + n) */
	int			window_n;
	bool		unsorted;		/* vector.rows are not in ascending order */
	int64		ndecoded;		/* reader's count already in the counters */
} StrataOpenBatch;

extern StrataOpenBatch *strata_batch_open_create(struct StrataScanState *scan);
extern void strata_batch_open_free(StrataOpenBatch *batch);

/*
 * Load the batch row in batch->batch_slot and try quals on it as a whole;
 * false when no row is left.
 */
extern bool strata_batch_select(struct StrataScanState *scan,
								StrataOpenBatch *batch);

/*
 * The first half of it: metadata only; false when it is pruned.  again: it was
 * counted when it was first loaded, and is not the one the source stands on.
 */
extern bool strata_batch_load(struct StrataScanState *scan,
							  StrataOpenBatch *batch, bool again);
extern bool strata_batch_filter(struct StrataScanState *scan,
								StrataOpenBatch *batch);

/* Columns decoded since the last call go into the counters. */
extern void strata_batch_account(struct StrataScanState *scan,
								 StrataOpenBatch *batch);

/* Space for vector.rows. */
extern uint16 *strata_batch_row_space(struct StrataScanState *scan,
									  StrataOpenBatch *batch, int n);

/* Step to the next row that passes the remaining quals; -1 at the end. */
extern int	strata_batch_next_row(struct StrataScanState *scan,
								  StrataOpenBatch *batch);

/*
 * Column attno, with the row there: the rows around it that are likely to be
 * asked for next are decoded, not the others.
 */
extern StrataColumn *strata_batch_column_at(struct StrataScanState *scan,
											StrataOpenBatch *batch,
											AttrNumber attno, int row);

/* Step to the one before; -1 at the start. */
extern int	strata_batch_previous_row(struct StrataScanState *scan,
									  StrataOpenBatch *batch);
static inline void
strata_batch_stand_behind(StrataOpenBatch *batch)
{
	batch->next = batch->vector.nrows + 1;
}

/* Put a row into the scan slot, or straight into the result slot. */
extern TupleTableSlot *strata_batch_emit(struct StrataScanState *scan,
										 StrataOpenBatch *batch, int row);

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

/* scan_explain.c */
struct ExplainState;
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
	bool		needs_heap_tuple;	/* xmin and the like are wanted */
	TupleTableSlot *table_slot; /* R's own kind: row store, EvalPlanQual */
	TupleTableSlot *row_slot;	/* virtual: rows of batches */
	TupleTableSlot *tuple_slot; /* heap tuple: the same with system columns */
	/* row store */
	PlanState  *child;			/* or NULL: read by heap_scan */
	TableScanDesc heap_scan;
	BlockNumber heap_pages;		/* it reads */
	ParallelTableScanDesc heap_pscan;
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
	int			nwindows;		/* opened since the (re)scan began, see
								 * scan_batch.c */
	uint8	   *mask;
	Size		mask_size;
	StrataOpenBatch *batch;		/* unordered */
	bool		batches_started;
	bool		batches_before; /* backward: stands before the first batch */
	bool		batches_done;	/* stands behind the last */
	StrataMerge *merge;			/* ordered */
	/* DELETE of whole batches */
	ModifyTableState *sweeper;	/* NULL: not allowed */
	bool		sweep_locked;	/* the companion, for that */
	int64		nswept;			/* batches */
	/* accounting */
	StrataParallel *parallel;
	StrataCounters counters;
} StrataScanState;

/* The node as ours, or NULL. */
extern StrataScanState *strata_scan_state(PlanState *node);

/*
 * The plan's quals, for a row of the row store; compiled when first asked for.
 */
extern ExprState *strata_scan_qual(StrataScanState *scan);
extern void strata_scan_open_store(StrataScanState *scan);

/* Evaluate run-time values, and stand before the first batch. */
extern void strata_scan_start_batches(StrataScanState *scan);

#endif							/* STRATA_SCAN_PRIVATE_H */
