/*-------------------------------------------------------------------------
 *
 * batch_builder_private.h
 *	  A batch being built: columns that fill up (batch_fill.c) and are encoded
 *	  (batch_builder.c).
 *
 * src/batch/batch_builder_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_BATCH_BUILDER_PRIVATE_H
#define STRATA_BATCH_BUILDER_PRIVATE_H

#include "batch/batch_build.h"
#include "batch/batch_private.h"

#include "utils/sortsupport.h"

/* One column being gathered. */
typedef struct ColumnBuffer
{
	AttrNumber	attno;
	AttrNumber	catt;			/* col_ column of the companion */
	StrataColumnType type;
	StrataCodecId wanted;
	uint32		n;				/* non-null values so far */
	bool	   *isnull;			/* max_rows flags */
	bool		hasnull;
	char	   *fixed;			/* by value: packed */
	uint8	   *payload;		/* bytes: concatenated */
	Size		payload_cap;
	uint32	   *offsets;		/* bytes: max_rows + 1 */
} ColumnBuffer;

/* Least and greatest value of one orderby column. */
typedef struct OrderRange
{
	AttrNumber	attno;
	AttrNumber	min_catt;
	AttrNumber	max_catt;
	int16		typlen;
	bool		typbyval;
	bool		has;
	Datum		min;
	Datum		max;
	SortSupportData sort;		/* ascending, column's collation */
} OrderRange;

/* A batch closes when the bytes of its by-reference values reach this. */
#define BATCH_BYTE_LIMIT (16 * 1024 * 1024)

struct StrataBatchBuilder
{
	MemoryContext mcxt;			/* owns everything here */
	MemoryContext batch_mcxt;	/* values of the batch: segment, min, max */
	MemoryContext out_mcxt;		/* what finish() returns, reset by the next */
	const StrataBatchSchema *schema;
	const StrataLayout *layout;
	StrataLevel level;
	int			max_rows;		/* there is room for */
	int			limit;			/* a batch is to have */
	Size		byte_limit;		/* it ends with the row that reaches this */
	int			nrows;
	Size		nbytes;
	int			ncolumns;
	ColumnBuffer *columns;
	int			nranges;
	OrderRange *ranges;
	Datum	   *segment;		/* layout->nsegment values */
	bool	   *segment_isnull;
	void	   *scratch;
	Size		scratch_size;
};

#endif							/* STRATA_BATCH_BUILDER_PRIVATE_H */
