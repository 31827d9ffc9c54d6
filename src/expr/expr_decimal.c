/*-------------------------------------------------------------------------
 *
 * expr_decimal.c
 *	  Numeric expressions evaluated with integers of one scale.
 *
 * A column's numerics of a batch are such integers; others are taken apart.
 * Where one is none (NaN, infinity, too many digits), or a result does not
 * fit, PostgreSQL evaluates the rows.
 *
 * src/expr/expr_decimal.c
 *-------------------------------------------------------------------------
 */
#include "expr/expr_decimal_private.h"
#include "expr/expr_rows_private.h"

#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

/*-------------------------------------------------------------------------
 * Numerics taken apart
 *-------------------------------------------------------------------------
 */

/* The bytes of a numeric behind its length; false: they are elsewhere. */
static bool
bytes_of_numeric(Datum value, const uint8 **bytes, Size *len)
{
	const struct varlena *v = (struct varlena *) DatumGetPointer(value);

	if (!strata_varlena_is_plain(v))
		return false;
	*bytes = (const uint8 *) VARDATA_ANY(v);
	*len = VARSIZE_ANY_EXHDR(v);
	return true;
}

/* See expr_decimal_private.h. */
bool
strata_decimal_take(Datum value, StrataDecimal *decimal)
{
	const uint8 *bytes;
	Size		len;
	int64		display;

	if (!bytes_of_numeric(value, &bytes, &len) ||
		!strata_numeric_decimals(bytes, len, &display, &decimal->scale) ||
		!strata_numeric_integer(bytes, len, decimal->scale,
								&decimal->integer))
		return false;
	decimal->display = (unsigned) display;
	return true;
}

/*
 * n values, those of null[i] but for them, over the largest of their scales;
 * false: one cannot be.
 */
static bool
take_datums(int n, const Datum *values, const uint8 *null, ExprDecimals *out)
{
	int64	   *v = palloc(sizeof(int64) * n);
	uint8	   *displays = palloc(n);
	const uint8 *bytes;
	Size		len;

	out->v = v;
	out->null = null;
	out->scale = 0;
	out->displays = displays;
	for (int i = 0; i < n; i++)
	{
		int64		display = 0;
		unsigned	decimals = 0;

		if ((null == NULL || !null[i]) &&
			(!bytes_of_numeric(values[i], &bytes, &len) ||
			 !strata_numeric_decimals(bytes, len, &display, &decimals)))
			return false;
		displays[i] = (uint8) display;
		out->scale = Max(out->scale, decimals);
	}
	for (int i = 0; i < n; i++)
	{
		v[i] = 0;
		if ((null == NULL || !null[i]) &&
			(!bytes_of_numeric(values[i], &bytes, &len) ||
			 !strata_numeric_integer(bytes, len, out->scale, &v[i])))
			return false;
	}
	return true;
}

/* The same of a column's rows. */
static bool
take_column(const StrataColumn *col, const StrataExprFrame *frame,
			ExprDecimals *out)
{
	int			n = frame->n;
	Datum	   *values = palloc(sizeof(Datum) * n);
	uint8	   *null = palloc(n);
	bool		isnull;

	for (int i = 0; i < n; i++)
	{
		values[i] = strata_column_get(col, expr_row(frame, i), &isnull);
		null[i] = isnull;
	}
	return take_datums(n, values, memchr(null, 1, n) != NULL ? null : NULL,
					   out);
}

/* The same of the entries of its dictionary, if these are fewer. */
static bool
take_entries(const StrataColumn *col, const StrataExprFrame *frame,
			 ExprDecimals *out)
{
	int			n = frame->n;
	int64	   *v = palloc(sizeof(int64) * n);
	uint8	   *displays = palloc(n);
	uint8	   *null = palloc0(n);
	ExprDecimals entries;

	if (!take_datums(col->ndict, col->dict, NULL, &entries))
		return false;
	if (col->isnull != NULL)
		for (int i = 0; i < n; i++)
			null[i] = col->isnull[expr_row(frame, i)];
	for (int i = 0; i < n; i++)
	{
		uint32		code = null[i] ? 0 : col->codes[expr_row(frame, i)];

		v[i] = entries.v[code];
		displays[i] = entries.displays[code];
	}
	*out = entries;
	out->v = v;
	out->displays = displays;
	out->null = memchr(null, 1, n) != NULL ? null : NULL;
	return true;
}

/* Those that the source has, of the frame's rows. */
static void
gather_decimals(const StrataDecimals *from, const StrataExprFrame *frame,
				ExprDecimals *out)
{
	int			n = frame->n;
	int64	   *v;
	uint8	   *displays;
	uint8	   *null = NULL;

	Assert(n > 0);				/* expr:E1 */
	out->scale = from->scale;
	out->null = NULL;
	if (frame->rows == NULL)
	{
		out->v = from->v + frame->first;
		out->displays = from->displays + frame->first;
		if (from->isnull != NULL &&
			memchr(from->isnull + frame->first, 1, n) != NULL)
			out->null = (const uint8 *) from->isnull + frame->first;
		return;
	}
	out->v = v = palloc(sizeof(int64) * n);
	out->displays = displays = palloc(n);
	for (int i = 0; i < n; i++)
		v[i] = from->v[frame->rows[i]];
	for (int i = 0; i < n; i++)
		displays[i] = from->displays[frame->rows[i]];
	if (from->isnull == NULL)
		return;
	null = palloc(n);
	for (int i = 0; i < n; i++)
		null[i] = from->isnull[frame->rows[i]];
	out->null = memchr(null, 1, n) != NULL ? null : NULL;
}

/* What is known of all values at once. */
static bool
settle_leaf(int n, ExprDecimals *out)
{
	strata_decimals_settle(n, out);
	return strata_decimals_bound(n, out->v, &out->bound);
}

static bool
eval_decimal_column(const StrataExprSource *source, const ExprNode *node,
					const StrataExprFrame *frame, ExprDecimals *out)
{
	StrataDecimals stored;
	const StrataColumn *col;
	bool		taken = true;

	if (source->decimals != NULL &&
		source->decimals(source->arg, node->attno, frame, &stored))
		gather_decimals(&stored, frame, out);
	else
	{
		col = source->column(source->arg, node->attno);
		taken = col->codes != NULL && !col->constant && col->ndict > 0 &&
			col->ndict <= frame->n ? take_entries(col, frame, out) :
			take_column(col, frame, out);
	}
	return taken && settle_leaf(frame->n, out);
}

/* A constant, as often as there are rows. */
static void
eval_decimal_const(const ExprNode *node, const StrataExprFrame *frame,
				   ExprDecimals *out)
{
	const StrataDecimal *constant = node->decimal;
	int64	   *v = palloc(sizeof(int64) * frame->n);
	uint8	   *null;

	for (int i = 0; i < frame->n; i++)
		v[i] = constant->integer;
	out->v = v;
	out->null = NULL;
	out->bound = (uint64) (constant->integer < 0 ? -constant->integer :
						   constant->integer);
	out->scale = constant->scale;
	out->display = constant->display;
	out->displays = NULL;
	if (!node->isnull)
		return;
	out->null = null = palloc(frame->n);
	memset(null, 1, frame->n);
}

/*-------------------------------------------------------------------------
 * Calls
 *-------------------------------------------------------------------------
 */

static bool
eval_decimal_int(const StrataExprSource *source, ExprNode *arg,
				 const StrataExprFrame *frame, ExprDecimals *out)
{
	ExprVector	values;

	if (!strata_expr_eval(source, arg, frame, &values))
		return false;
	Assert(arg->class == EXPR_INT); /* expr:E8 */
	out->v = values.v;
	out->null = values.null;
	out->scale = out->display = 0;
	out->displays = NULL;
	return strata_decimals_bound(frame->n, out->v, &out->bound);
}

static bool
eval_decimal_take(const StrataExprSource *source, ExprNode *arg,
				  const StrataExprFrame *frame, ExprDecimals *out)
{
	ExprVector	values;

	return strata_expr_eval(source, arg, frame, &values) &&
		take_datums(frame->n, values.v, values.null, out) &&
		settle_leaf(frame->n, out);
}

/* Which rows have no result. */
static const uint8 *
nulls_of_both(int n, const uint8 *a, const uint8 *b)
{
	uint8	   *null;

	if (a == NULL || b == NULL || a == b)
		return a != NULL ? a : b;
	null = palloc(n);
	for (int i = 0; i < n; i++)
		null[i] = a[i] | b[i];
	return null;
}

/* A sum, difference or product; false: cannot. */
static bool
eval_decimal_binary(const StrataExprSource *source, const ExprNode *node,
					const StrataExprFrame *frame, ExprDecimals *out)
{
	int			n = frame->n;
	ExprDecimals a;
	ExprDecimals b;

	if (!strata_expr_eval_decimals(source, node->args[0], frame, &a) ||
		!strata_expr_eval_decimals(source, node->args[1], frame, &b) ||
		!strata_decimals_displays(n, &a, &b, node->op == DECIMAL_MUL, out))
		return false;
	out->null = nulls_of_both(n, a.null, b.null);
	if (node->op == DECIMAL_MUL)
		return strata_decimals_mul(n, &a, &b, out);
	if (!strata_decimals_rescale(n, &a, Max(a.scale, b.scale)) ||
		!strata_decimals_rescale(n, &b, Max(a.scale, b.scale)))
		return false;
	return node->op == DECIMAL_ADD ? strata_decimals_add(n, &a, &b, out) :
		strata_decimals_sub(n, &a, &b, out);
}

/* The same of any operation, or a value that others give. */
static bool
eval_decimal_call(const StrataExprSource *source, const ExprNode *node,
				  const StrataExprFrame *frame, ExprDecimals *out)
{
	ExprDecimals arg;

	switch (node->op)
	{
		case DECIMAL_INT:
			return eval_decimal_int(source, node->args[0], frame, out);
		case DECIMAL_TAKE:
			return eval_decimal_take(source, node->args[0], frame, out);
		case DECIMAL_SAME:
			return strata_expr_eval_decimals(source, node->args[0], frame,
											 out);
		case DECIMAL_NEG:
		case DECIMAL_ABS:
			if (!strata_expr_eval_decimals(source, node->args[0], frame, &arg))
				return false;
			if (node->op == DECIMAL_NEG)
				strata_decimals_neg(frame->n, &arg, out);
			else
				strata_decimals_abs(frame->n, &arg, out);
			return true;
		default:
			return eval_decimal_binary(source, node, frame, out);
	}
}

/*-------------------------------------------------------------------------
 * CASE and COALESCE
 *-------------------------------------------------------------------------
 */

/* Values of some of a frame's rows after those of others. */
typedef struct Gathering
{
	ExprDecimals all;			/* v is of the largest scale up to now, */
	int64	   *v;				/* ... 0 of rows that have none yet */
	uint8	   *null;
	uint8	   *displays;
} Gathering;

static void
init_gathering(Gathering *to, int n)
{
	memset(&to->all, 0, sizeof(to->all));
	to->all.v = to->v = palloc0(sizeof(int64) * n);
	to->null = palloc0(n);
	to->displays = palloc0(n);
	to->all.null = to->null;
}

/* Evaluate node for the part's rows; false: cannot. */
static bool
gather_part(const StrataExprSource *source, ExprNode *node,
			const ExprPart *part, const StrataExprFrame *frame, Gathering *to)
{
	int			n = part->frame.n;
	ExprDecimals values;

	if (n == 0)
		return true;
	if (!strata_expr_eval_decimals(source, node,
								   expr_frame_of_part(part, frame), &values) ||
		!strata_decimals_rescale(n, &values,
								 Max(values.scale, to->all.scale)) ||
		!strata_decimals_rescale(frame->n, &to->all, values.scale))
		return false;
	to->v = (int64 *) to->all.v;
	to->all.bound = Max(to->all.bound, values.bound);
	for (int i = 0; i < n; i++)
		to->v[part->places[i]] = values.v[i];
	for (int i = 0; i < n; i++)
		to->displays[part->places[i]] = values.displays != NULL ?
			values.displays[i] : (uint8) values.display;
	for (int i = 0; i < n; i++)
		to->null[part->places[i]] = values.null != NULL && values.null[i];
	return true;
}

static void
finish_gathering(Gathering *from, int n, ExprDecimals *out)
{
	*out = from->all;
	out->displays = from->displays;
	if (memchr(from->null, 1, n) == NULL)
		out->null = NULL;
	strata_decimals_settle(n, out);
}

/* CASE, as eval_case() does it; false: cannot. */
static bool
eval_decimal_case(const StrataExprSource *source, ExprNode *node,
				  const StrataExprFrame *frame, ExprDecimals *out)
{
	ExprPart	part;
	ExprPart	hits;
	Gathering	to;
	uint8	   *truth = palloc(frame->n);

	init_gathering(&to, frame->n);
	expr_take_all(&part, frame);
	expr_init_part(&hits, frame->n);
	for (int k = 0; k + 1 < node->nargs && part.frame.n > 0; k += 2)
	{
		if (!strata_expr_truth(source, node->args[k],
							   expr_frame_of_part(&part, frame), truth))
			return false;
		expr_divide(&part, &hits, truth);
		if (!gather_part(source, node->args[k + 1], &hits, frame, &to))
			return false;
	}
	if (!gather_part(source, node->args[node->nargs - 1], &part, frame, &to))
		return false;
	finish_gathering(&to, frame->n, out);
	return true;
}

/* COALESCE: each argument for the rows that had none yet; false: likewise. */
static bool
eval_decimal_coalesce(const StrataExprSource *source, ExprNode *node,
					  const StrataExprFrame *frame, ExprDecimals *out)
{
	ExprPart	part;
	Gathering	to;

	init_gathering(&to, frame->n);
	expr_take_all(&part, frame);
	for (int k = 0; k < node->nargs && part.frame.n > 0; k++)
	{
		int			nleft = 0;

		if (!gather_part(source, node->args[k], &part, frame, &to))
			return false;
		for (int i = 0; i < part.frame.n; i++)
		{
			uint16		place = part.places[i];

			part.rows[nleft] = part.rows[i];
			part.places[nleft] = place;
			nleft += to.null[place];
		}
		part.frame.n = nleft;
	}
	finish_gathering(&to, frame->n, out);
	return true;
}

/* See expr_decimal_private.h. */
bool
strata_expr_eval_decimals(const StrataExprSource *source, ExprNode *node,
						  const StrataExprFrame *frame, ExprDecimals *out)
{
	Assert(node->class == EXPR_DECIMAL);	/* expr:E8 */
	switch (node->kind)
	{
		case EXPR_COLUMN:
			return eval_decimal_column(source, node, frame, out);
		case EXPR_CONST:
			eval_decimal_const(node, frame, out);
			return true;
		case EXPR_CASE:
			return eval_decimal_case(source, node, frame, out);
		case EXPR_COALESCE:
			return eval_decimal_coalesce(source, node, frame, out);
		default:
			return eval_decimal_call(source, node, frame, out);
	}
}

/*-------------------------------------------------------------------------
 * What others take
 *-------------------------------------------------------------------------
 */

/* See expr_decimal_private.h. */
bool
strata_expr_eval_compare(const StrataExprSource *source, ExprNode *node,
						 const StrataExprFrame *frame, ExprVector *out)
{
	int			n = frame->n;
	ExprDecimals a;
	ExprDecimals b;

	if (!strata_expr_eval_decimals(source, node->args[0], frame, &a) ||
		!strata_expr_eval_decimals(source, node->args[1], frame, &b) ||
		!strata_decimals_rescale(n, &a, Max(a.scale, b.scale)) ||
		!strata_decimals_rescale(n, &b, Max(a.scale, b.scale)))
		return node->args[2] != NULL &&
			strata_expr_eval(source, node->args[2], frame, out);
	out->v = palloc(sizeof(int64) * n);
	out->null = nulls_of_both(n, a.null, b.null);
	return node->function->kernel(n, a.v, b.v, out->null, out->v);
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
bool
strata_expr_eval_numerics(const StrataExprSource *source, ExprNode *node,
						  const StrataExprFrame *frame, ExprVector *out)
{
	int			n = frame->n;
	Size		size = MAXALIGN(VARHDRSZ + STRATA_NUMERIC_BYTES);
	ExprDecimals from;
	Datum	   *v;
	char	   *room;

	if (!strata_expr_eval_decimals(source, node, frame, &from))
		return false;
	v = palloc(sizeof(Datum) * n);
	room = palloc(size * n);
	for (int i = 0; i < n; i++)
		v[i] = from.null != NULL && from.null[i] ? 0 :
			decimal_numeric(from.v[i], from.scale, from.displays != NULL ?
							from.displays[i] : from.display, room + size * i);
	out->v = v;
	out->null = from.null;
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
