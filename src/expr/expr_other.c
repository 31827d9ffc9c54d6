/*-------------------------------------------------------------------------
 *
 * expr_other.c
 *	  What PostgreSQL evaluates: for each row, or once for rows that must have
 *	  the same result.
 *
 * src/expr/expr_other.c
 *-------------------------------------------------------------------------
 */
#include "expr/expr_private.h"

#include "executor/executor.h"
#include "utils/datum.h"

/* Evaluate it for a row of the batch; the value is a copy. */
static bool
eval_row(const StrataExprSource *source, ExprNode *node, int row, void *v,
		 int i)
{
	TupleTableSlot *slot = source->slot;
	bool		isnull;
	Datum		value;

	for (int k = 0; k < node->natts; k++)
	{
		int			att = node->atts[k] - 1;

		slot->tts_values[att] = strata_column_get(node->columns[k], row,
												  &slot->tts_isnull[att]);
	}
	ResetExprContext(source->econtext);
	value = ExecEvalExprSwitchContext(node->state, source->econtext, &isnull);
	if (isnull)
		((Datum *) v)[i] = 0;
	else if (node->class == EXPR_DATUM)
		((Datum *) v)[i] = datumCopy(value, false, node->typlen);
	else
		expr_put(node, v, i, value);
	return isnull;
}

/* Once for each entry of the dictionary that a row has, in their order. */
static void
eval_entries(const StrataExprSource *source, ExprNode *node,
			 const StrataExprFrame *frame, uint64 *v, uint8 *null)
{
	const StrataColumn *col = node->columns[0];
	uint8	   *known = palloc0(col->ndict + 1);
	uint64	   *values = palloc(sizeof(uint64) * (col->ndict + 1));

	for (int i = 0; i < frame->n; i++)
	{
		int			row = expr_row(frame, i);
		uint32		code;

		code = col->isnull != NULL && col->isnull[row] ? (uint32) col->ndict :
			col->codes[row];
		if (!known[code])
			known[code] = 1 + eval_row(source, node, row, values, (int) code);
		v[i] = values[code];
		null[i] = known[code] - 1;
	}
}

/* Once for each range of times in which it is the same. */
static void
eval_ranges(const StrataExprSource *source, ExprNode *node,
			const StrataExprFrame *frame, uint64 *v, uint8 *null)
{
	const StrataColumn *col = node->columns[0];
	const int64 *times = col->fixed;
	int64		lo = 1;
	int64		hi = 0;

	for (int i = 0; i < frame->n; i++)
	{
		int			row = expr_row(frame, i);

		if (col->isnull != NULL && col->isnull[row])
		{
			null[i] = eval_row(source, node, row, v, i);
			lo = 1;
			hi = 0;
			continue;
		}
		if (times[row] >= lo && times[row] <= hi)
		{
			Assert(i > 0);		/* expr:E5 */
			v[i] = v[i - 1];
			null[i] = null[i - 1];
			continue;
		}
		null[i] = eval_row(source, node, row, v, i);
		strata_expr_range(node->unit, node->zoned, times[row], &lo, &hi);
	}
}

/* See expr_private.h. */
void
strata_expr_eval_other(const StrataExprSource *source, ExprNode *node,
					   const StrataExprFrame *frame, ExprVector *out)
{
	int			n = frame->n;
	uint64	   *v = palloc(sizeof(uint64) * n);
	uint8	   *null = palloc(n);
	bool		constant = true;

	for (int k = 0; k < node->natts; k++)
	{
		node->columns[k] = source->column(source->arg, node->atts[k]);
		constant &= node->columns[k]->constant;
	}
	if (constant)
	{
		null[0] = eval_row(source, node, expr_row(frame, 0), v, 0);
		for (int i = 1; i < n; i++)
			v[i] = v[0];
		memset(null, null[0], n);
	}
	else if (node->natts == 1 && node->columns[0]->codes != NULL)
		eval_entries(source, node, frame, v, null);
	else if (node->natts == 1 && node->unit > 0 &&
			 node->columns[0]->fixed != NULL)
		eval_ranges(source, node, frame, v, null);
	else
		for (int i = 0; i < n; i++)
			null[i] = eval_row(source, node, expr_row(frame, i), v, i);
	out->v = v;
	out->null = memchr(null, 1, n) != NULL ? null : NULL;
}
