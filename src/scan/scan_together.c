/*-------------------------------------------------------------------------
 *
 * scan_together.c
 *	  Quals that are no vectors, for many rows of a batch together (expr/).
 *
 * src/scan/scan_together.c
 *-------------------------------------------------------------------------
 */
#include "expr/expr.h"
#include "scan/scan_private.h"

#include "utils/memutils.h"

static StrataColumn *
column_of_attno(void *arg, AttrNumber attno)
{
	return strata_batch_reader_column(((StrataOpenBatch *) arg)->reader,
									  attno);
}

/*
 * Take the rows from batch->next on that do not pass out of the vector; they
 * are as many as were filtered out.
 */
static void
keep_marked_rows(StrataScanState *scan, StrataOpenBatch *batch,
				 const uint8 *pass)
{
	StrataVectorBatch *vector = &batch->vector;
	uint16	   *rows = strata_batch_row_space(scan, batch,
											  batch->reader->nrows);
	int			n = batch->next;

	if (vector->rows == NULL)
		for (int i = 0; i < n; i++)
			rows[i] = (uint16) i;
	/* a row is written at or before the place it was read from */
	for (int i = batch->next; i < vector->nrows; i++)
	{
		rows[n] = (uint16) strata_vector_row(vector, i);
		n += pass[i - batch->next];
	}
	InstrCountFiltered1(&scan->css, vector->nrows - n);
	if (n < vector->nrows)
		vector->rows = rows;
	vector->nrows = n;
}

/* See scan_batch_private.h. */
bool
strata_batch_filter_rest(StrataScanState *scan, StrataOpenBatch *batch)
{
	StrataExprSource source = {column_of_attno, batch, scan->run.econtext,
	scan->run.slot};
	StrataVectorBatch *vector = &batch->vector;

	batch->passed_from = batch->next;
	batch->npassed = 0;
	if (!strata_enable_vector_filter || vector->reverse || batch->unsorted)
		return false;
	while (batch->npassed < batch->nresiduals && batch->next < vector->nrows)
	{
		StrataResidual *residual = &batch->residuals[batch->npassed];
		StrataExpr *expr = strata_qual_together(scan->filter, residual->qual);
		StrataExprFrame frame = {vector->nrows - batch->next, NULL,
		batch->next};
		MemoryContext old;
		uint8	   *pass;
		bool		done;

		if (expr == NULL)
			return false;
		Assert(!strata_expr_may_raise(expr));	/* scan:R4 */
		if (vector->rows != NULL)
			frame.rows = vector->rows + batch->next;
		scan->run.econtext->ecxt_scantuple = scan->run.slot;
		old = MemoryContextSwitchTo(batch->reader->batch_mcxt);
		pass = palloc(frame.n);
		done = strata_expr_filter(expr, &source, &frame, pass);
		MemoryContextSwitchTo(old);
		strata_batch_account(scan, batch);
		if (!done)
			return false;
		keep_marked_rows(scan, batch, pass);
		batch->npassed++;
	}
	return true;
}
