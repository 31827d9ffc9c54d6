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

#include "executor/executor.h"
#include "utils/memutils.h"

static StrataColumn *
column_of_rows(void *arg, AttrNumber attno)
{
	return &((StrataBatchReader *) arg)->columns[attno - 1];
}

static StrataColumn *
column_of_attno(void *arg, AttrNumber attno)
{
	return strata_batch_reader_column(((StrataOpenBatch *) arg)->reader,
									  attno);
}

/* See scan_batch_private.h. */
StrataColumn *
strata_batch_part(void *arg, const StrataPart *part,
				  const StrataExprFrame *frame)
{
	return strata_batch_reader_part(((StrataOpenBatch *) arg)->reader,
									part->attno, part, frame->rows,
									frame->first, frame->n);
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

/*
 * The expression of a residual, if it may be evaluated for many rows before
 * the ones behind it are; or NULL.  Where both may have errors, a row's second
 * may come before another row's first.
 */
static StrataExpr *
together_at(StrataScanState *scan, const StrataOpenBatch *batch, int at,
			bool all_wanted)
{
	StrataExpr *expr = strata_qual_together(scan->filter,
											batch->residuals[at].qual);

	if (expr == NULL || !strata_expr_may_raise(expr))
		return expr;
	for (int i = at + 1; i < batch->nresiduals && all_wanted; i++)
	{
		StrataExpr *behind = strata_qual_together(scan->filter,
												  batch->residuals[i].qual);

		all_wanted = behind != NULL && !strata_expr_may_fail(behind);
	}
	return all_wanted ? expr : NULL;
}

/* See scan_batch_private.h. */
bool
strata_batch_filter_rest(StrataScanState *scan, StrataOpenBatch *batch,
						 bool all_wanted)
{
	StrataExprSource source = {column_of_attno, strata_batch_part, batch,
	scan->run.econtext, scan->run.slot};
	StrataVectorBatch *vector = &batch->vector;

	batch->passed_from = batch->next;
	batch->npassed = 0;
	if (!strata_enable_vector_filter || vector->reverse || batch->unsorted)
		return false;
	while (batch->npassed < batch->nresiduals && batch->next < vector->nrows)
	{
		StrataExpr *expr = together_at(scan, batch, batch->npassed,
									   all_wanted);
		StrataExprFrame frame = {vector->nrows - batch->next, NULL,
		batch->next};
		MemoryContext old;
		uint8	   *pass;
		bool		done;

		if (expr == NULL)
			return false;
		Assert(all_wanted || !strata_expr_may_raise(expr)); /* scan:R4 */
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

/* See scan_batch_private.h. */
bool
strata_rows_go_together(StrataScanState *scan)
{
	StrataFilter *filter = scan->filter;
	bool		raises = false;

	for (int i = 0; i < filter->nown; i++)
	{
		const StrataQual *qual = &filter->quals[i];
		StrataExpr *expr;

		if (!strata_enable_vector_filter)
			return false;
		if (qual->way == STRATA_QUAL_VECTOR && qual->promotable &&
			!qual->waits)
			continue;
		expr = strata_qual_together(filter, qual);
		if (expr == NULL || (raises && strata_expr_may_fail(expr)))
			return false;
		raises |= strata_expr_may_raise(expr);
	}
	return true;
}

/* Does a row pass the quals from number `from` on that are no vectors? */
static bool
row_passes(StrataScanState *scan, StrataBatchReader *batch, int from, int row)
{
	ExprContext *econtext = scan->run.econtext;
	TupleTableSlot *slot = scan->run.slot;
	bool		pass = true;

	for (int i = from; i < scan->filter->nown && pass; i++)
	{
		const StrataQual *qual = &scan->filter->quals[i];
		int			att = -1;

		if (qual->way == STRATA_QUAL_VECTOR)
			continue;
		while ((att = bms_next_member(qual->attnos, att)) >= 0)
			slot->tts_values[att - 1] =
				strata_column_get(&batch->columns[att - 1], row,
								  &slot->tts_isnull[att - 1]);
		econtext->ecxt_scantuple = slot;
		pass = ExecQual(strata_qual_state(scan->filter, qual), econtext);
		ResetExprContext(econtext);
	}
	return pass;
}

/* See scan_batch_private.h. */
int
strata_rows_filter_rest(StrataScanState *scan, StrataBatchReader *batch,
						uint16 *rows, int n)
{
	StrataExprSource source = {column_of_rows, NULL, batch,
	scan->run.econtext, scan->run.slot};
	MemoryContext old = MemoryContextSwitchTo(batch->batch_mcxt);
	uint8	   *pass = palloc(n);

	for (int i = 0; i < scan->filter->nown && n > 0; i++)
	{
		const StrataQual *qual = &scan->filter->quals[i];
		StrataExprFrame frame = {n, rows, 0};
		bool		done;

		if (qual->way == STRATA_QUAL_VECTOR)
			continue;
		scan->run.econtext->ecxt_scantuple = scan->run.slot;
		done = strata_expr_filter(strata_qual_together(scan->filter, qual),
								  &source, &frame, pass);
		if (!done)
			for (int k = 0; k < n; k++)
				pass[k] = row_passes(scan, batch, i, rows[k]);
		n = 0;
		for (int k = 0; k < frame.n; k++)
		{
			rows[n] = rows[k];
			n += pass[k];
		}
		if (!done)
			break;
	}
	MemoryContextSwitchTo(old);
	return n;
}
