/*-------------------------------------------------------------------------
 *
 * batch_measure.h
 *	  What batches would take on disk, for advice.
 *
 * src/batch/batch_measure.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_BATCH_MEASURE_H
#define STRATA_BATCH_MEASURE_H

#include "postgres.h"

#include "batch/batch_build.h"
#include "codec/codec.h"

typedef struct StrataColumnMeasure
{
	double		raw;			/* bytes of the values that are not null */
	double		bytes;			/* encoded */
	int64		batches;
	int64		used[STRATA_CODEC_COUNT];	/* batches by codec */

	/*
	 * if candidates were asked for: bytes if each codec were wanted, and
	 * batches it held
	 */
	bool		tried[STRATA_CODEC_COUNT];
	double		candidate[STRATA_CODEC_COUNT];
	int64		held[STRATA_CODEC_COUNT];
} StrataColumnMeasure;

/*
 * Pages that rows are placed on; gaps are where PostgreSQL's free space map
 * would find them.
 */
#define STRATA_MEASURE_GAPS 256
typedef struct StrataPagesMeasure
{
	double		pages;
	Size		page_free;		/* of the last one used */
	uint32		gaps[STRATA_MEASURE_GAPS];	/* pages with free space of 32
											 * bytes times the index, at least */
} StrataPagesMeasure;

/* Batch rows, cut down to some size, and their columns out of line. */
typedef struct StrataPlaceMeasure
{
	StrataPagesMeasure main;
	StrataPagesMeasure toast;
	double		toast_chunks;
} StrataPlaceMeasure;

/* The same batches, cut down in each way. */
typedef struct StrataCutMeasure
{
	StrataPlaceMeasure cut[STRATA_BATCH_CUTS];
} StrataCutMeasure;

typedef struct StrataBatchMeasure
{
	bool		candidates;		/* encode with every codec too */
	StrataColumnMeasure *columns;	/* indexed by attno - 1 */
	double		nbatches;
	double		rows_encoded;
	StrataCutMeasure places;
	StrataBatchCut cut;			/* that is taken unless another is better */
	Size		row_bytes;		/* of the last batch row, nothing out of line */
	int			nindexes;
	double		index_bytes;
} StrataBatchMeasure;

/*
 * Encode what was added, add its sizes to m and empty the builder; its schema
 * may be without a companion.
 */
extern void strata_batch_builder_measure(StrataBatchBuilder *builder,
										 StrataBatchMeasure *m);

/* Empty the builder. */
extern void strata_batch_builder_discard(StrataBatchBuilder *builder);

/* Bytes that a varlena of so many takes in a row. */
extern Size strata_measure_varlena(Size nbytes);

/*
 * A batch row: `plain` bytes that stay in it, and varlena columns of so many.
 * Returns what it takes with nothing out of line.
 */
extern Size strata_measure_cut_row(StrataCutMeasure *m, Size plain,
								   const Size *columns, int ncolumns);

/*
 * How batch rows are best cut down, if now they are cut like this: another way
 * must save a thirtieth, what a TOAST table takes for itself counted.
 */
extern StrataBatchCut strata_measure_best_cut(const StrataCutMeasure *m,
											  StrataBatchCut now,
											  double scale);

/* Bytes on disk, `scale` times what was measured, with indexes and maps. */
extern double strata_measure_disk_bytes(const StrataBatchMeasure *m,
										double scale);

#endif							/* STRATA_BATCH_MEASURE_H */
