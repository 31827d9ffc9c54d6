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
eval_decimal_float(const StrataExprSource *source, const ExprNode *node,
				   const StrataExprFrame *frame, ExprDecimals *out)
{
	ExprNode   *arg = node->args[0];
	bool		single = arg->typlen == sizeof(float4);
	ExprVector	values;

	if (!strata_expr_eval(source, arg, frame, &values))
		return false;
	Assert(arg->class == EXPR_FLOAT);	/* expr:E8 */
	return node->places < 0 ?
		strata_decimals_of_floats(frame->n, values.v, values.null, single,
								  out) :
		strata_decimals_round_floats(frame->n, values.v, values.null, single,
									 (unsigned) node->places, out);
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

/* See expr_decimal_private.h. */
const uint8 *
strata_decimals_nulls(int n, const uint8 *a, const uint8 *b)
{
	uint8	   *null;

	if (a == NULL || b == NULL || a == b)
		return a != NULL ? a : b;
	null = palloc(n);
	for (int i = 0; i < n; i++)
		null[i] = a[i] | b[i];
	return null;
}

/* See expr_decimal_private.h. */
bool
strata_expr_eval_decimal_pair(const StrataExprSource *source,
							  const ExprNode *node,
							  const StrataExprFrame *frame,
							  ExprDecimals *a, ExprDecimals *b)
{
	return strata_expr_eval_decimals(source, node->args[0], frame, a) &&
		strata_expr_eval_decimals(source, node->args[1], frame, b);
}

/*
 * A quotient, times a factor if there is one, rounded or cast; false: cannot.
 */
static bool
eval_decimal_quotient(const StrataExprSource *source, const ExprNode *node,
					  const StrataExprFrame *frame, ExprDecimals *out)
{
	int			n = frame->n;
	ExprDecimals a;
	ExprDecimals b;

	if (!strata_expr_eval_decimal_pair(source, node, frame, &a, &b))
		return false;
	out->null = strata_decimals_nulls(n, a.null, b.null);
	return strata_decimals_quotient(n, &a, &b, node->decimal, node->op,
									(unsigned) node->places, out) &&
		(node->op != DECIMAL_CAST ||
		 strata_decimals_fit(n, out, (unsigned) node->precision,
							 (unsigned) node->places));
}

/* A sum, difference, product or rest; false: cannot. */
static bool
eval_decimal_binary(const StrataExprSource *source, const ExprNode *node,
					const StrataExprFrame *frame, ExprDecimals *out)
{
	int			n = frame->n;
	ExprDecimals a;
	ExprDecimals b;

	if (!strata_expr_eval_decimal_pair(source, node, frame, &a, &b) ||
		!strata_decimals_displays(n, &a, &b, node->op == DECIMAL_MUL, out))
		return false;
	out->null = strata_decimals_nulls(n, a.null, b.null);
	if (node->op == DECIMAL_MUL)
		return strata_decimals_mul(n, &a, &b, out);
	if (!strata_decimals_rescale(n, &a, Max(a.scale, b.scale)) ||
		!strata_decimals_rescale(n, &b, Max(a.scale, b.scale)))
		return false;
	if (node->op == DECIMAL_MOD)
		return strata_decimals_mod(n, &a, &b, out);
	return node->op == DECIMAL_ADD ? strata_decimals_add(n, &a, &b, out) :
		strata_decimals_sub(n, &a, &b, out);
}

/* Of one numeric. */
static bool
eval_decimal_unary(const StrataExprSource *source, const ExprNode *node,
				   const StrataExprFrame *frame, ExprDecimals *out)
{
	ExprDecimals arg;
	int			n = frame->n;

	if (!strata_expr_eval_decimals(source, node->args[0], frame, &arg))
		return false;
	switch (node->op)
	{
		case DECIMAL_NEG:
			strata_decimals_neg(n, &arg, out);
			return true;
		case DECIMAL_ABS:
			strata_decimals_abs(n, &arg, out);
			return true;
		case DECIMAL_SIGN:
			strata_decimals_sign(n, &arg, out);
			return true;
		case DECIMAL_DIVIDE:
			return strata_decimals_divide(n, &arg, node->decimal, out);
		case DECIMAL_CAST:
			return strata_decimals_cast(n, &arg, (unsigned) node->precision,
										(unsigned) node->places, out);
		default:
			return strata_decimals_round(n, &arg, node->op,
										 (unsigned) node->places, out);
	}
}

/* The same of any operation, or a value that others give. */
static bool
eval_decimal_call(const StrataExprSource *source, const ExprNode *node,
				  const StrataExprFrame *frame, ExprDecimals *out)
{
	switch (node->op)
	{
		case DECIMAL_INT:
			return eval_decimal_int(source, node->args[0], frame, out);
		case DECIMAL_FLOAT:
			return eval_decimal_float(source, node, frame, out);
		case DECIMAL_TAKE:
			return eval_decimal_take(source, node->args[0], frame, out);
		case DECIMAL_SAME:
			return strata_expr_eval_decimals(source, node->args[0], frame,
											 out);
		case DECIMAL_ADD:
		case DECIMAL_SUB:
		case DECIMAL_MUL:
		case DECIMAL_MOD:
			return eval_decimal_binary(source, node, frame, out);
		default:
			if (node->nargs == 2)
				return eval_decimal_quotient(source, node, frame, out);
			return eval_decimal_unary(source, node, frame, out);
	}
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
			return strata_expr_eval_decimal_case(source, node, frame, out);
		case EXPR_COALESCE:
			return strata_expr_eval_decimal_coalesce(source, node, frame, out);
		case EXPR_NULLIF:
			return strata_expr_eval_decimal_nullif(source, node, frame, out);
		case EXPR_MINMAX:
			return strata_expr_eval_decimal_minmax(source, node, frame, out);
		default:
			return eval_decimal_call(source, node, frame, out);
	}
}
