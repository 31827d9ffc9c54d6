/*-------------------------------------------------------------------------
 *
 * agg_private.h
 *	  The node's state, and what its parts do with it.
 *
 * The life of a query's vector:
 *
 *	agg_input.c		reads the child plan: a batch as a scan selected it, or up
 *					to STRATA_AGG_CHUNK_ROWS rows of a row store turned into
 *					columns
 *	agg_value.c		what keys and aggregates are about: columns, and
 *					expressions
 *	agg_key.c		cuts the vector into runs of rows of one group
 *	agg_scatter.c	or puts rows of a row store into the order of groups
 *	agg_lookup.c	finds the groups of all runs
 *	agg_hash.c		or that of one
 *	agg_add.c		has the group's cells take the run in,
 *	agg_kernel.c	by kernels
 *
 * src/agg/agg_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_AGG_PRIVATE_H
#define STRATA_AGG_PRIVATE_H

#include "postgres.h"

#include "access/parallel.h"
#include "agg/agg_best_private.h"
#include "agg/agg_group_private.h"
#include "agg/agg_kernel_private.h"
#include "agg/agg_plan_private.h"
#include "agg/agg_vector_private.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "scan/scan_vector.h"

struct StrataAggState;

/*
 * agg_exec.c: the next of the table's groups as a scan tuple; NULL at the end.
 */
extern TupleTableSlot *strata_agg_next_group(struct StrataAggState *agg);

/*
 * agg_lookup.c: the group of each run; NULL: they are to be looked up one by
 * one.  codes: of each run, or NULL.
 */
extern AggGroup **strata_agg_groups_of_runs(struct StrataAggState *agg,
											AggCodes *codes);

/*
 * The groups of the selected rows at these positions, which ascend, when keys
 * are loaded; those that are not there are made.  Memory: the current context.
 */
extern AggGroup **strata_agg_look_up_rows(struct StrataAggState *agg,
										  const int *positions, int n);

/* agg_add.c: take a vector in, run after run into the groups. */
extern void strata_agg_add_vector(struct StrataAggState *agg,
								  AggVector *vector);

/*
 * agg_summary.c: take the whole batch into the cell by what its summary says;
 * false: cannot.
 */
extern bool strata_agg_summarize(struct StrataAggState *agg, AggCall *call,
								 AggCell *cell);

/* Take so many rows into all cells, of calls that count them. */
extern void strata_agg_take_count(struct StrataAggState *agg,
								  const StrataRowCount *count);

/* Aggregation of a group with no rows. */
extern void strata_agg_init_cells(struct StrataAggState *agg, AggCell *cells);

/* agg_stop.c: which batches and rows cannot change the result any more. */
typedef struct AggStop
{
	AggStopKind kind;
	bool		last;			/* greatest values are wanted */
	int			by;				/* value that decides */
	AggKey	   *key;			/* TOP: what n values are wanted of */
	int64		reach;			/* TOP: a bucket is that far from its times,
								 * at most */
	bool		nulls_matter;	/* TOP: all nulls are wanted too */
	int			n;
	int			nseen;			/* up to n values, the best first */
	int64	   *seen;
	uint16	   *rows;			/* TOP: those left of a row store's vector */
	AggTable   *segments;		/* PICK: groups that are the one of a batch;
								 * NULL: none yet */
	MemoryContext segment_mcxt;
} AggStop;

extern void strata_agg_stop_init(struct StrataAggState *agg);
extern void strata_agg_stop_reset(struct StrataAggState *agg);

/*
 * What a batch could do to the result, to be asked again when others were
 * read.
 */
typedef struct AggBatchRank
{
	int64		rank;			/* the highest should be read first */
	const AggGroup *segment;	/* the one group of all its rows; NULL:
								 * unknown, or no matter */
} AggBatchRank;

/*
 * Rank the batch, whose columns are R's attnos; false: it cannot change the
 * result any more.
 */
extern bool strata_agg_stop_rank(struct StrataAggState *agg,
								 StrataBatchReader *reader,
								 const AttrNumber *attnos, AggBatchRank *rank);

/* May it still change the result? */
extern bool strata_agg_stop_wants(struct StrataAggState *agg,
								  const AggBatchRank *rank);

/* If not, may one of a lower rank? */
static inline bool
strata_agg_stop_is_by_rank(const AggStop *stop)
{
	return stop->kind == AGG_STOP_TOP;
}

/* Leave rows of the vector that may; false: none is left. */
extern bool strata_agg_stop_restrict(struct StrataAggState *agg,
									 AggVector *vector);

/*
 * May the rows of a partition, which the StrataScan is of, change the result?
 * Asked before any of them is read.
 */
extern bool strata_agg_stop_wants_partition(struct StrataAggState *agg,
											PlanState *node,
											const AttrNumber *attnos);

/*
 * Are a row store's rows to be read by an index of the table, since few of
 * them may change the result?  Asked before the first of them, when the
 * batches have been read; then strata_scan_next_indexed_row gives them.
 */
extern bool strata_agg_stop_by_index(struct StrataAggState *agg,
									 PlanState *node,
									 const AttrNumber *attnos);

/*
 * PICK: may the selected rows [from, to) of a vector change the cells of
 * their group?
 */
extern bool strata_agg_stop_wants_run(struct StrataAggState *agg,
									  const AggCell *cells, int from, int to);

/*
 * PICK: the positions of those selected rows of a row store that may change
 * the cells of their groups, one for each row; returns how many.  Asked again
 * of each (strata_agg_stop_wants_run) when those before it are in.
 */
extern int	strata_agg_stop_wanted_rows(struct StrataAggState *agg,
										AggCell *const *cells,
										uint16 *wanted);

/* Take note of the current values of the keys. */
extern void strata_agg_stop_see(struct StrataAggState *agg);

/*
 * A key that varies: of each selected row a word, 0 if it is null, and whether
 * it is.
 */
typedef struct AggKeyWords
{
	AggKey	   *key;
	uint64	   *words;
	bool	   *nulls;			/* NULL: none is */
} AggKeyWords;

/*
 * Those of all keys that vary, in the current context; returns how many these
 * are.  The word of a value by reference is its address.
 */
extern int	strata_agg_load_key_words(struct StrataAggState *agg,
									  AggKeyWords *keys);

/*
 * agg_memo.c: the cells of the group of each selected row of a row store,
 * until the next vector; NULL: keys have to be looked up otherwise.
 */
typedef struct AggMemo AggMemo;
extern bool strata_agg_may_remember(const struct StrataAggState *agg);
extern AggMemo *strata_agg_memo_create(struct StrataAggState *agg);
extern AggCell **strata_agg_memo_cells(struct StrataAggState *agg);

/* Before groups leave the table; NULL is fine. */
extern void strata_agg_memo_forget(AggMemo *memo);

typedef struct AggCounters
{
	int64		vectors;		/* batches */
	int64		chunks;			/* of rows */
	int64		rows;
	int64		summarized;		/* batches answered by their summary alone */
	int64		counted;		/* ... of which only the number of rows was
								 * asked for */
	int64		fetched;		/* and those of them that had to be looked up
								 * for it */
	int64		skipped;		/* batches that could not change the result */
	int64		runs;
	int64		singles;		/* rows added one by one */
	int64		groups;
	int64		spills;
	Size		memory;
} AggCounters;

/*
 * Blocks of a context of groups are small beside what they may take, so that
 * what is allocated is what is used.
 */
#define AGG_GROUP_BLOCK (256 * 1024)

typedef struct AggShared AggShared; /* agg_parallel.c */
typedef struct AggWords AggWords;	/* agg_words.c */

typedef struct StrataAggState
{
	CustomScanState css;		/* must be first */
	AggPlanData plan;
	AggInput   *input;			/* NULL: groups come from workers */
	ExprContext *input_econtext;	/* keys' and arguments' expressions */
	TupleTableSlot *input_slot; /* outer tuple of input_econtext */
	MemoryContext vector_mcxt;	/* reset for each vector */
	MemoryContext group_mcxt;	/* groups and their states; reset by spilling */
	AggVector  *vector;			/* current */
	int			nvalues;
	AggValue   *values;
	int			nstored;		/* inputs */
	AggStored  *stored;			/* shared by sets, as values are */
	int			nkeys;
	AggKey	   *keys;
	int			ncalls;
	AggCall    *calls;
	int			cells_size;		/* bytes of a group's cells */
	List	   *distincts;		/* AggDistinct of calls */
	bool		has_sums;		/* of numerics, outside of cells of groups in
								 * memory */
	int			nholds;			/* of calls, each once */
	bool		held_full;		/* a group holds more rows than it should */
	int		   *runs;			/* starts of runs, and the end */
	int			nruns;			/* of the current vector */
	bool		scatters;		/* rows may be put in the order of groups */
	int			scatter_pause;	/* ... but not for so many vectors */
	bool		scatters_codes; /* and of a batch, by codes */
	bool		words_tried;
	AggWords   *words;			/* the groups, without aggregates; or NULL */
	AggMemo    *memo;			/* groups of a row store's rows; NULL: rows
								 * are not added one by one */
	struct AggNumbers *numbers; /* groups by numbers of strings; or NULL */
	bool		rows_have_codes;	/* the last batch was put so: runs are not
									 * worth cutting */
	AggStop		stop;
	AggBest    *best;			/* rows are picked by an order; or NULL */
	AggTable   *table;			/* with keys */
	AggSets    *sets;			/* NULL: groups are of all keys */
	uint32		set;			/* of keys' current values, by number */
	AggOrder   *order;			/* NULL: groups come in any */
	AggCell    *cells;			/* without */
	bool		done;			/* all rows are in */
	bool		returned;		/* without keys: the row was returned */
	AggCounters counters;
	AggShared  *shared;			/* among workers; or NULL */
} StrataAggState;

/* agg_parallel.c: combine what the workers return. */
extern void strata_agg_read_partials(StrataAggState *agg);

/* Callbacks for the counters of workers. */
extern Size strata_agg_estimate_shared(CustomScanState *node,
									   ParallelContext *pcxt);
extern void strata_agg_initialize_shared(CustomScanState *node,
										 ParallelContext *pcxt, void *area);
extern void strata_agg_reinitialize_shared(CustomScanState *node,
										   ParallelContext *pcxt, void *area);
extern void strata_agg_attach_shared(CustomScanState *node, shm_toc *toc,
									 void *area);
extern void strata_agg_shutdown_shared(CustomScanState *node);

/* agg_explain.c */
struct ExplainState;
extern void strata_agg_explain(CustomScanState *node, List *ancestors,
							   struct ExplainState *es);

#endif							/* STRATA_AGG_PRIVATE_H */
