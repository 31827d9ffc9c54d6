/*-------------------------------------------------------------------------
 *
 * expr_decimal_result.c
 *	  Numerics as integers of one scale: what others take of them.
 *
 * src/expr/expr_decimal_result.c
 *-------------------------------------------------------------------------
 */
#include "expr/expr_decimal_private.h"

#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

/* See expr_decimal_private.h. */
bool
strata_expr_eval_compare(const StrataExprSource *source, ExprNode *node,
						 const StrataExprFrame *frame, ExprVector *out)
{
	int			n = frame->n;
	ExprDecimals a;
	ExprDecimals b;

	if (!strata_expr_eval_decimal_pair(source, node, frame, &a, &b) ||
		!strata_decimals_rescale(n, &a, Max(a.scale, b.scale)) ||
		!strata_decimals_rescale(n, &b, Max(a.scale, b.scale)))
		return node->args[2] != NULL &&
			strata_expr_eval(source, node->args[2], frame, out);
	out->v = palloc(sizeof(int64) * n);
	out->null = strata_decimals_nulls(n, a.null, b.null);
	return node->function->kernel(n, a.v, b.v, out->null, out->v);
}

/* See expr_private.h. */
bool
strata_expr_eval_convert(const StrataExprSource *source, ExprNode *node,
						 const StrataExprFrame *frame, ExprVector *out)
{
	ExprDecimals a;
	const int64 *v;

	if (!strata_expr_eval_decimals(source, node->args[0], frame, &a))
		return false;
	out->null = a.null;
	if (node->class == EXPR_FLOAT)
	{
		out->v = palloc(sizeof(float8) * frame->n);
		strata_decimals_to_floats(frame->n, &a, out->v);
		return true;
	}
	if (!strata_decimals_to_integers(frame->n, &a, node->typlen, &v))
		return false;
	out->v = unconstify(int64 *, v);
	return true;
}

/* integer / 10^scale as a numeric, into room for one if it is short. */
static Datum
decimal_numeric(int64 integer, unsigned scale, unsigned display, char *room)
{
	uint32		len = strata_numeric_write(integer, scale, display,
										   (uint8 *) VARDATA(room));
	Datum		value;

	if (len > 0)
	{
		SET_VARSIZE(room, VARHDRSZ + len);
		return PointerGetDatum(room);
	}
	value = NumericGetDatum(int64_div_fast_to_numeric(integer, (int) scale));
	return DirectFunctionCall2(numeric_round, value,
							   Int32GetDatum((int32) display));
}

/* See expr_decimal_private.h. */
Datum *
strata_decimals_numerics(int n, const ExprDecimals *from)
{
	Size		size = MAXALIGN(VARHDRSZ + STRATA_NUMERIC_BYTES);
	Datum	   *v = palloc(sizeof(Datum) * n);
	char	   *room = palloc(size * n);

	for (int i = 0; i < n; i++)
		v[i] = from->null != NULL && from->null[i] ? 0 :
			decimal_numeric(from->v[i], from->scale, from->displays != NULL ?
							from->displays[i] : from->display,
							room + size * i);
	return v;
}

/* See expr_decimal_private.h. */
bool
strata_expr_eval_numerics(const StrataExprSource *source, ExprNode *node,
						  const StrataExprFrame *frame, ExprVector *out)
{
	ExprDecimals from;

	if (!strata_expr_eval_decimals(source, node, frame, &from))
		return false;
	out->v = strata_decimals_numerics(frame->n, &from);
	out->null = from.null;
	return true;
}

/* Least and greatest of the values that are not null; false: all are. */
static bool
range_of_decimals(int n, const ExprDecimals *from, int64 *least,
				  int64 *greatest)
{
	*least = PG_INT64_MAX;
	*greatest = PG_INT64_MIN;
	if (from->null == NULL)
		for (int i = 0; i < n; i++)
		{
			*least = Min(*least, from->v[i]);
			*greatest = Max(*greatest, from->v[i]);
		}
	else
		for (int i = 0; i < n; i++)
			if (!from->null[i])
			{
				*least = Min(*least, from->v[i]);
				*greatest = Max(*greatest, from->v[i]);
			}
	return *least <= *greatest;
}

/* A dictionary has room for places of so many numbers for each row. */
#define DICTIONARY_SPREAD 4

/* See expr_decimal_private.h. */
bool
strata_decimals_dictionary(const ExprDecimals *from,
						   const StrataExprFrame *frame, int nrows,
						   StrataColumn *col)
{
	ExprDecimals entries = *from;
	int			n = frame->n;
	int64		least;
	int64		greatest;
	uint32	   *numbers;		/* 1 + the code of least + place */
	int64	   *v;
	uint32	   *codes;

	/* equal ones that are shown with other decimals are other values */
	if (from->displays != NULL ||
		!range_of_decimals(n, from, &least, &greatest) ||
		(uint64) greatest - (uint64) least >= (uint64) n * DICTIONARY_SPREAD)
		return false;
	numbers = palloc0(sizeof(uint32) * (greatest - least + 1));
	v = palloc(sizeof(int64) * n);
	codes = palloc0(sizeof(uint32) * nrows);
	col->ndict = 0;
	for (int i = 0; i < n; i++)
	{
		uint32	   *number;

		if (from->null != NULL && from->null[i])
			continue;
		number = &numbers[from->v[i] - least];
		if (*number == 0)
		{
			v[col->ndict++] = from->v[i];
			*number = (uint32) col->ndict;
		}
		codes[expr_row(frame, i)] = *number - 1;
	}
	entries.v = v;
	entries.null = NULL;
	col->dict = strata_decimals_numerics(col->ndict, &entries);
	col->codes = codes;
	return true;
}

/* The frame's rows at their places; those of others are 0 and not null. */
static void
scatter_decimals(const ExprDecimals *from, const StrataExprFrame *frame,
				 StrataDecimals *out)
{
	int			first = expr_row(frame, 0);
	int			nrows = expr_row(frame, frame->n - 1) - first + 1;
	int64	   *v = palloc0(sizeof(int64) * nrows);
	uint8	   *displays = palloc0(nrows);
	bool	   *isnull = from->null == NULL ? NULL : palloc0(nrows);

	for (int i = 0; i < frame->n; i++)
		v[expr_row(frame, i) - first] = from->v[i];
	for (int i = 0; i < frame->n; i++)
		displays[expr_row(frame, i) - first] = from->displays != NULL ?
			from->displays[i] : (uint8) from->display;
	for (int i = 0; i < frame->n && isnull != NULL; i++)
		isnull[expr_row(frame, i) - first] = from->null[i] != 0;
	out->v = v - first;
	out->displays = displays - first;
	out->isnull = isnull == NULL ? NULL : isnull - first;
}

/* See expr.h. */
bool
strata_expr_decimals(StrataExpr *expr, const StrataExprSource *source,
					 const StrataExprFrame *frame, StrataDecimals *out)
{
	ExprDecimals values;
	uint8	   *displays;

	if (!strata_expr_eval_decimals(source, expr->roots[0], frame, &values))
		return strata_expr_give_up(expr, source, frame);
	out->scale = values.scale;
	if (frame->rows != NULL)
	{
		scatter_decimals(&values, frame, out);
		return true;
	}
	if (values.displays == NULL)
	{
		values.displays = displays = palloc(frame->n);
		memset(displays, (int) values.display, frame->n);
	}
	out->v = values.v - frame->first;
	out->displays = values.displays - frame->first;
	out->isnull = values.null == NULL ? NULL :
		(const bool *) values.null - frame->first;
	return true;
}

/* See expr.h. */
bool
strata_expr_batch_decimals(StrataBatchReader *reader, AttrNumber attno,
						   const StrataExprFrame *frame,
						   StrataDecimals *decimals)
{
	int			from = expr_row(frame, 0);
	int			to = expr_row(frame, frame->n - 1) + 1;

	decimals->isnull = NULL;
	decimals->v = strata_batch_reader_scaled(reader, attno, from, to - from,
											 &decimals->displays,
											 &decimals->scale,
											 &decimals->isnull);
	if (decimals->v == NULL)
		return false;
	decimals->v -= from;
	decimals->displays -= from;
	decimals->isnull = decimals->isnull == NULL ? NULL :
		decimals->isnull - from;
	return true;
}
