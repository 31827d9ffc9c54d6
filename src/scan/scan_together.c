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

/* Numerics as the batch has them, for the frame's rows. */
static bool
decimals_of_attno(void *arg, AttrNumber attno, const StrataExprFrame *frame,
				  StrataDecimals *decimals)
{
	return strata_expr_batch_decimals(((StrataOpenBatch *) arg)->reader, attno,
									  frame, decimals);
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
 * Take the rows at positions from .. to that do not pass out of the vector;
 * returns how many are left of them.
 */
static int
keep_marked_rows(StrataScanState *scan, StrataOpenBatch *batch, int from,
				 int to, const uint8 *pass)
{
	StrataVectorBatch *vector = &batch->vector;
	int			nrows = vector->nrows;
	int			n = from;
	uint16	   *rows;

	if (memchr(pass, 0, to - from) == NULL)
		return to - from;
	rows = strata_batch_row_space(scan, batch, batch->reader->nrows);
	if (vector->rows == NULL)
		for (int i = 0; i < nrows; i++)
			rows[i] = (uint16) i;
	vector->rows = rows;
	for (int i = from; i < to; i++)
	{
		rows[n] = rows[i];
		n += pass[i - from];
	}
	memmove(rows + n, rows + to, sizeof(uint16) * (nrows - to));
	InstrCountFiltered1(&scan->css, to - n);
	vector->nrows -= to - n;
	return n - from;
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

/*
 * See scan_batch_private.h.  Rows tried together stand side by side: what is
 * tried next begins where the last ones end.
 */
bool
strata_batch_filter_rows(StrataScanState *scan, StrataOpenBatch *batch,
						 int from, int n, bool all_wanted)
{
	StrataExprSource source = {column_of_attno, strata_batch_part, batch,
	scan->run.econtext, scan->run.slot, decimals_of_attno};
	StrataVectorBatch *vector = &batch->vector;
	int			npassed = 0;

	Assert(batch->passed_to == 0 || from == batch->passed_to);	/* scan:R4 */
	n = Min(n, vector->nrows - from);
	if (!strata_enable_vector_filter || vector->reverse || batch->unsorted)
		return false;
	while (npassed < batch->nresiduals && n > 0)
	{
		StrataExpr *expr = together_at(scan, batch, npassed, all_wanted);
		StrataExprFrame frame = {n, NULL, from};
		MemoryContext old;
		uint8	   *pass;
		bool		done;

		if (expr == NULL)
			break;
		Assert(all_wanted || !strata_expr_may_raise(expr)); /* scan:R4 */
		if (vector->rows != NULL)
			frame.rows = vector->rows + from;
		scan->run.econtext->ecxt_scantuple = scan->run.slot;
		old = MemoryContextSwitchTo(batch->reader->batch_mcxt);
		pass = palloc(n);
		done = strata_expr_filter(expr, &source, &frame, pass);
		MemoryContextSwitchTo(old);
		strata_batch_account(scan, batch);
		if (!done)
			break;
		n = keep_marked_rows(scan, batch, from, from + n, pass);
		npassed++;
	}
	if (n == 0)
		return true;
	/* of rows that were tried before as many have been passed, or more */
	if (npassed == 0 || (batch->passed_to > 0 && npassed < batch->npassed))
		return false;
	if (batch->passed_to == 0)
	{
		batch->passed_from = from;
		batch->npassed = npassed;
	}
	batch->npassed = Min(batch->npassed, npassed);
	batch->passed_to = from + n;
	return npassed == batch->nresiduals;
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
