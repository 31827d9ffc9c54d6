/*-------------------------------------------------------------------------
 *
 * store_write.h
 *	  Batches into a companion, rows into the row store, and batches out.
 *
 * src/store/store_write.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_STORE_WRITE_H
#define STRATA_STORE_WRITE_H

#include "batch/batch_build.h"
#include "batch/batch_measure.h"
#include "store/store.h"

#include "access/heapam.h"
#include "catalog/indexing.h"
#include "nodes/execnodes.h"

/*
 * The goal of who compresses rel, nothing known of its batches: how many rows
 * they are to have, and how rows of them are cut.
 */
extern StrataBatchCut strata_store_init_goal(StrataRowGoal *goal, Relation rel,
											 Oid companion, StrataLevel level);

/* Index entries of a batch row; HOT updates need none. */
extern void strata_batch_index(CatalogIndexState indexes, HeapTuple tuple);

/*
 * Delete all batches the snapshot sees, row entries too (whoever could hold
 * such a TID has our lock ahead), under ExclusiveLock on R.  What has changed
 * since the snapshot is a serialization failure.
 */
extern void strata_store_delete_batches(StrataStore *store, Snapshot snapshot,
										CommandId cid);

/* One batch, and the entries of its rows that the snapshot sees. */
extern void strata_store_delete_batch_with_entries(StrataStore *store,
												   const ItemPointerData *tid,
												   int64 first_row, int nrows,
												   Snapshot snapshot,
												   CommandId cid);

/*
 * Raise a serialization failure if rows have left their batches since the
 * snapshot.
 */
extern void strata_store_check_entries(StrataStore *store, Snapshot snapshot);

/* Writes batch rows into a companion, numbering rows. */
typedef struct StrataBatchWriter
{
	StrataStore *store;
	StrataBatchBuilder *builder;
	CatalogIndexState indexes;
	int64		next_row;
	int64		nrows;			/* written so far */
	int64		nbatches;
	int			batch_rows;		/* that a batch is to have, at least */
	StrataRowGoal goal;			/* what is learned of how many fill a page */
	StrataCutMeasure cuts;		/* and of how batch rows are best cut */
	int			goal_rows;		/* so many, then, from batch_rows to goal.most */
	bool		shared;			/* others may write batches of R too: numbers
								 * are taken one batch at a time */
	CommandId	cid;			/* to write with; InvalidCommandId: the
								 * current one */
	MemoryContext mcxt;			/* for one batch */
	Datum	   *values;			/* of the companion's descriptor */
	bool	   *isnull;
} StrataBatchWriter;

/* shared: under RowExclusiveLock on R, beside others who do so. */
extern StrataBatchWriter *strata_batch_writer_begin(StrataStore *store,
													const StrataLayout *layout,
													bool shared);

/* Rows must come sorted by segment, then by the layout's order. */
extern void strata_batch_writer_add(StrataBatchWriter *writer,
									const Datum *values, const bool *isnull);

/*
 * Batches of records of one segment, in the layout's order; see
 * strata_batch_builder_add_records.
 */
extern void strata_batch_writer_add_records(StrataBatchWriter *writer,
											const StrataRecordForm *form,
											const Datum *values,
											const bool *isnull,
											char *const *records, int n);
extern void strata_batch_writer_flush(StrataBatchWriter
									  *writer); /* end the batch */
extern void strata_batch_writer_end(StrataBatchWriter *writer);

/* Puts rows into R's heap and indexes, not logically decoded. */
typedef struct StrataRowWriter
{
	Relation	rel;
	TupleTableSlot *slot;		/* the caller fills it before each insert */
	EState	   *estate;
	ResultRelInfo *rri;
} StrataRowWriter;

extern StrataRowWriter *strata_row_writer_begin(Relation rel);
extern void strata_row_writer_put(StrataRowWriter
								  *writer); /* the heap's half */
extern void strata_row_writer_index(StrataRowWriter
									*writer);	/* and the indexes' */
extern void strata_row_writer_end(StrataRowWriter *writer);

/*
 * Between these, within one transaction, changes of R's heap are hidden from
 * logical decoding.  begin: false when nothing is logged for it; then no end.
 */
extern bool strata_silence_begin(Relation rel);
extern void strata_silence_end(Relation rel);

/* Phases of strata.progress; see store_progress.c. */
typedef enum StrataPhase
{
	STRATA_PHASE_READING = 1,
	STRATA_PHASE_SORTING,
	STRATA_PHASE_WRITING,
	STRATA_PHASE_RESTORING
} StrataPhase;
extern void strata_progress_start(Relation rel);
extern void strata_progress_phase(StrataPhase phase);

/*
 * How many rows will be passed: each one that is read, written, or looked at
 * by a merge.  An estimate, from which the end is estimated.
 */
extern void strata_progress_expect(double npassed);
extern void strata_progress_rows(int64 nread, int64 nwritten);
extern void strata_progress_written(int64 nwritten);

/* A merge has come by nrows more. */
extern void strata_progress_merged(int64 nrows);
extern void strata_progress_end(void);

#endif							/* STRATA_STORE_WRITE_H */
