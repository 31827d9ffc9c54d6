/*-------------------------------------------------------------------------
 *
 * scan_vector.h
 *	  The rows of one batch that a scan selected; for src/agg.
 *
 * A vector is a batch in a reader plus the row numbers that passed the quals
 * tried on whole columns, in output order.  Columns are decoded when asked
 * for (strata_batch_reader_column), so a consumer pays for what it reads.
 *
 * src/scan/scan_vector.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_SCAN_VECTOR_H
#define STRATA_SCAN_VECTOR_H

#include "postgres.h"

#include "batch/batch.h"

typedef struct StrataVectorBatch
{
	StrataBatchReader *reader;
	int			nrows;			/* rows selected */
	uint16	   *rows;			/* their numbers; NULL: 0 .. nrows - 1 */
	bool		reverse;		/* walk from the last to the first */
} StrataVectorBatch;

/* Number of the i-th selected row in output order. */
static inline int
strata_vector_row(const StrataVectorBatch *vector, int i)
{
	if (vector->reverse)
		i = vector->nrows - 1 - i;
	return vector->rows != NULL ? vector->rows[i] : i;
}

#endif							/* STRATA_SCAN_VECTOR_H */
