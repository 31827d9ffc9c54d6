/*-------------------------------------------------------------------------
 *
 * scan_batch_private.h
 *	  One batch being read: the quals tried on its rows, its columns, its
 *	  output.
 *
 * src/scan/scan_batch_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_SCAN_BATCH_PRIVATE_H
#define STRATA_SCAN_BATCH_PRIVATE_H

#include "postgres.h"

#include "scan/filter_private.h"
#include "scan/scan_vector.h"
#include "store/store.h"

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
	StrataParts *parts;			/* ROW: it reads these parts; or NULL */
	StrataColumn **part_columns;
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
	int			together;		/* rows that they are tried on together next;
								 * 0: each is tried alone */
	int			passed_from;	/* rows from this position of the vector on,
								 * ... */
	int			passed_to;		/* ... before this one, ... */
	int			npassed;		/* ... have passed so many residuals already */
	StrataColumn **targets;		/* columns to return */
	bool		by_parts;		/* the result is made of parts of columns: */
	StrataColumn **part_columns;
	bool		targets_ready;	/* in the window: */
	int			window_from;	/* rows [from, from + n) */
	int			window_n;
	bool		unsorted;		/* vector.rows are not in ascending order */
	bool		decoded;		/* some column of this batch was */
	int64		ndecoded;		/* reader's count already in the counters */
} StrataOpenBatch;

/*
 * Space for one batch at a time; beside: one that is freed after this one, and
 * whose memory it shares, or NULL.
 */
extern StrataOpenBatch *strata_batch_open_create(struct StrataScanState *scan,
												 StrataOpenBatch *beside);
extern void strata_batch_open_free(StrataOpenBatch *batch, bool beside);

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

/* The same again, where the verdicts on all quals are known. */
extern bool strata_batch_load_known(struct StrataScanState *scan,
									StrataOpenBatch *batch,
									const StrataVerdict *verdicts);
extern bool strata_batch_filter(struct StrataScanState *scan,
								StrataOpenBatch *batch);

/*
 * scan_together.c: evaluate the first residuals for the rows of the vector
 * from a position on, at most n of them that were not tried yet, each for the
 * rows that passed those before it, as long as that raises no error.  Rows
 * that do not pass leave the vector.  all_wanted: who asks will ask for each
 * row, so that it may raise that of the first row that has one.  True: all
 * residuals; else the others are still to be evaluated on each row.
 */
extern bool strata_batch_filter_rows(struct StrataScanState *scan,
									 StrataOpenBatch *batch, int from, int n,
									 bool all_wanted);

/*
 * Evaluate the residuals; rows that do not pass leave the vector.  The same of
 * some of its rows only, numbers in ascending order; the vector stays as it
 * is, and may be asked again.  Returns how many pass, whose numbers are left
 * in rows, which has room for all of the batch.
 */
extern void strata_batch_keep_passing(struct StrataScanState *scan,
									  StrataOpenBatch *batch);
extern int	strata_batch_try_rows(struct StrataScanState *scan,
								  StrataOpenBatch *batch, uint16 *rows,
								  int n);

/* Parts of a batch's columns, of which arg is the StrataOpenBatch. */
extern StrataColumn *strata_batch_part(void *arg, const StrataPart *part,
									   const StrataExprFrame *frame);

/*
 * The same for rows of the row store as columns (scan_rows.c), all of which
 * are wanted: can all quals be tried on many rows at a time?  And the rows
 * that pass those that are no vectors, of n; returns how many.
 */
extern bool strata_rows_go_together(struct StrataScanState *scan);
extern int	strata_rows_filter_rest(struct StrataScanState *scan,
									StrataBatchReader *batch, uint16 *rows,
									int n);

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
 * The same in two steps, for who may not want the row: to one that may pass,
 * and does if *passes; then, whether the one that was stepped to last does.
 */
extern int	strata_batch_next_candidate(struct StrataScanState *scan,
										StrataOpenBatch *batch, bool *passes);
extern bool strata_batch_candidate_passes(struct StrataScanState *scan,
										  StrataOpenBatch *batch, int row);

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

#endif							/* STRATA_SCAN_BATCH_PRIVATE_H */
