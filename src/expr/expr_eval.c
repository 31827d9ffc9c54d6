/*-------------------------------------------------------------------------
 *
 * expr_eval.c
 *	  Nodes evaluated for the rows of a frame.
 *
 * A branch of CASE, COALESCE, AND and OR is evaluated for the rows only that
 * PostgreSQL would evaluate it for: a frame of them is made.
 *
 * Over 600 lines: one function for each kind of node.
 *
 * src/expr/expr_eval.c
 *-------------------------------------------------------------------------
 */
#include "expr/expr_decimal_private.h"
#include "expr/expr_rows_private.h"

#include "utils/memutils.h"

static void
init_vector(ExprVector *out, int n)
{
	out->v = palloc(sizeof(int64) * n);
	out->null = NULL;
}

/* Write what a part has been evaluated to; null is of the whole frame. */
static void
scatter(const ExprPart *part, const ExprVector *values, ExprVector *out,
		uint8 *null)
{
	const uint64 *from = values->v;
	uint64	   *to = out->v;

	Assert(out->null == NULL);	/* expr:E4: not set yet */
	for (int i = 0; i < part->frame.n; i++)
		to[part->places[i]] = from[i];
	if (values->null == NULL)
		for (int i = 0; i < part->frame.n; i++)
			null[part->places[i]] = 0;
	else
		for (int i = 0; i < part->frame.n; i++)
			null[part->places[i]] = values->null[i];
}

static void
set_nulls(ExprVector *out, const uint8 *null, int n)
{
	out->null = memchr(null, 1, n) != NULL ? null : NULL;
}

/*-------------------------------------------------------------------------
 * Leaves
 *-------------------------------------------------------------------------
 */

#define GATHER(tin, tout) \
	do { \
		const tin  *from_ = col->fixed; \
		tout	   *to_ = out->v; \
		if (frame->rows == NULL) \
			for (int i_ = 0; i_ < frame->n; i_++) \
				to_[i_] = from_[frame->first + i_]; \
		else \
			for (int i_ = 0; i_ < frame->n; i_++) \
				to_[i_] = from_[frame->rows[i_]]; \
	} while (0)

/* Values of the frame's rows of a packed column, widened to 8 bytes. */
static void
gather_column(const ExprNode *node, const StrataColumn *col,
			  const StrataExprFrame *frame, ExprVector *out)
{
	if (node->class == EXPR_FLOAT)
	{
		if (node->typlen == sizeof(float4))
			GATHER(float4, float8);
		else
			GATHER(float8, float8);
		return;
	}
	switch (node->typlen)
	{
		case 1:
			GATHER(int8, int64);
			break;
		case 2:
			GATHER(int16, int64);
			break;
		case 4:
			GATHER(int32, int64);
			break;
		default:
			GATHER(int64, int64);
			break;
	}
}

/* The same, and which are null; without nulls maybe where they lie. */
static void
eval_packed(const ExprNode *node, const StrataColumn *col,
			const StrataExprFrame *frame, ExprVector *out)
{
	int64	   *v;
	uint8	   *null;

	if (col->isnull == NULL && frame->rows == NULL &&
		node->typlen == sizeof(int64))
	{
		out->v = (int64 *) col->fixed + frame->first;
		out->null = NULL;
		return;
	}
	init_vector(out, frame->n);
	gather_column(node, col, frame, out);
	if (col->isnull == NULL)
		return;
	v = out->v;
	null = palloc(frame->n);
	for (int i = 0; i < frame->n; i++)
		null[i] = col->isnull[expr_row(frame, i)];
	/* what stands at a null is any */
	for (int i = 0; i < frame->n; i++)
		v[i] = null[i] ? 0 : v[i];
	set_nulls(out, null, frame->n);
}

/* Values of the frame's rows of a column, whatever form it has. */
static void
eval_column(const StrataExprSource *source, const ExprNode *node,
			const StrataExprFrame *frame, ExprVector *out)
{
	const StrataColumn *col = node->parts != NULL ?
	node->parts->columns[node->attno - 1] :
	source->column(source->arg, node->attno);
	int			n = frame->n;
	uint8	   *null;
	bool		isnull;

	if (!col->constant && col->fixed != NULL)
	{
		eval_packed(node, col, frame, out);
		return;
	}
	init_vector(out, n);
	null = palloc(n);
	for (int i = 0; i < n; i++)
	{
		Datum		value;

		value = strata_column_get(col, expr_row(frame, i), &isnull);

		null[i] = isnull;
		if (isnull)
			((uint64 *) out->v)[i] = 0;
		else
			expr_put(node, out->v, i, value);
	}
	set_nulls(out, null, n);
}

/* Its values are kept: they are the same for every frame. */
static void
eval_const(ExprNode *node, const StrataExprFrame *frame, ExprVector *out)
{
	if (node->nfilled < frame->n)
	{
		int			n = Max(frame->n, 1024);

		node->filled = MemoryContextAlloc(node->mcxt, sizeof(int64) * n);
		node->nulls = MemoryContextAlloc(node->mcxt, n);
		memset(node->nulls, node->isnull, n);
		for (int i = 0; i < n; i++)
			if (node->isnull)
				((uint64 *) node->filled)[i] = 0;
			else
				expr_put(node, node->filled, i, node->value);
		node->nfilled = n;
	}
	out->v = node->filled;
	out->null = node->isnull ? node->nulls : NULL;
}

/*-------------------------------------------------------------------------
 * Functions
 *-------------------------------------------------------------------------
 */

/*
 * A call of a strict function that has a kernel; false: it failed, and
 * PostgreSQL has to evaluate the rows.
 */
static bool
eval_call(const StrataExprSource *source, ExprNode *node,
		  const StrataExprFrame *frame, ExprVector *out)
{
	ExprVector	a;
	ExprVector	b;

	if (!strata_expr_eval(source, node->args[0], frame, &a))
		return false;
	b = a;
	if (node->nargs == 2 &&
		!strata_expr_eval(source, node->args[1], frame, &b))
		return false;
	init_vector(out, frame->n);
	out->null = a.null != NULL ? a.null : b.null;
	if (a.null != NULL && b.null != NULL && a.null != b.null)
	{
		uint8	   *null = palloc(frame->n);

		for (int i = 0; i < frame->n; i++)
			null[i] = a.null[i] | b.null[i];
		out->null = null;
	}
	Assert(node->can_fail || !node->function->can_fail);	/* expr:E3 */
	return node->function->kernel(frame->n, a.v, b.v, out->null, out->v);
}

static bool
is_among(const ExprNode *node, int64 x)
{
	int			from = 0;
	int			to = node->nvalues;

	while (to - from > 1)
	{
		int			mid = from + (to - from) / 2;

		if (node->values[mid] <= x)
			from = mid;
		else
			to = mid;
	}
	return node->values[from] == x;
}

static bool
eval_in(const StrataExprSource *source, ExprNode *node,
		const StrataExprFrame *frame, ExprVector *out)
{
	ExprVector	arg;

	if (!strata_expr_eval(source, node->args[0], frame, &arg))
		return false;
	init_vector(out, frame->n);
	for (int i = 0; i < frame->n; i++)
		((int64 *) out->v)[i] = is_among(node, ((int64 *) arg.v)[i]) !=
			node->negated;
	out->null = arg.null;
	return true;
}

static bool
bool_test(BoolTestType test, bool isnull, bool value)
{
	switch (test)
	{
		case IS_TRUE:
			return !isnull && value;
		case IS_NOT_TRUE:
			return isnull || !value;
		case IS_FALSE:
			return !isnull && !value;
		case IS_NOT_FALSE:
			return isnull || value;
		case IS_UNKNOWN:
			return isnull;
		default:
			return !isnull;
	}
}

/* A condition that is never null; false: failed. */
static bool
eval_truth(const StrataExprSource *source, ExprNode *node,
		   const StrataExprFrame *frame, ExprVector *out)
{
	uint8	   *truth = palloc(frame->n);

	if (!strata_expr_truth(source, node, frame, truth))
		return false;
	init_vector(out, frame->n);
	for (int i = 0; i < frame->n; i++)
		((int64 *) out->v)[i] = truth[i];
	return true;
}

/* NOT, IS NULL, IS TRUE and their like. */
static bool
eval_test(const StrataExprSource *source, ExprNode *node,
		  const StrataExprFrame *frame, ExprVector *out)
{
	int			n = frame->n;
	ExprVector	arg;
	int64	   *v;

	if (node->kind == EXPR_NULL_TEST && strata_expr_is_plain(node))
		return eval_truth(source, node, frame, out);
	if (!strata_expr_eval(source, node->args[0], frame, &arg))
		return false;
	init_vector(out, n);
	v = out->v;
	if (node->kind == EXPR_NULL_TEST)
	{
		int64		yes = node->test == IS_NULL;

		if (arg.null == NULL)
			for (int i = 0; i < n; i++)
				v[i] = !yes;
		else
			for (int i = 0; i < n; i++)
				v[i] = arg.null[i] == yes;
	}
	else if (node->kind == EXPR_NOT)
	{
		for (int i = 0; i < n; i++)
			v[i] = !((const int64 *) arg.v)[i];
		out->null = arg.null;
	}
	else
		for (int i = 0; i < n; i++)
			v[i] = bool_test((BoolTestType) node->test, expr_is_null(&arg, i),
							 ((const int64 *) arg.v)[i] != 0);
	return true;
}

/*-------------------------------------------------------------------------
 * What evaluates its arguments for some of the rows
 *-------------------------------------------------------------------------
 */

/*
 * What an argument of AND or OR says of the part's rows: those that it decides
 * leave the part.
 */
static pg_attribute_always_inline void
decide_part(ExprPart *part, int64 decides, const int64 *arg,
			const uint8 *arg_null, int64 *v, uint8 *null)
{
	int			nleft = 0;

	for (int i = 0; i < part->frame.n; i++)
	{
		uint16		place = part->places[i];
		uint8		isnull = arg_null != NULL ? arg_null[i] : 0;
		int			decided = (arg[i] == decides) & !isnull;

		v[place] = decided ? decides : !decides;
		null[place] = (null[place] | isnull) & !decided;
		part->rows[nleft] = part->rows[i];
		part->places[nleft] = place;
		nleft += !decided;
	}
	part->frame.n = nleft;
}

/*
 * AND, OR: a row that an argument has decided is not evaluated for the next.
 */
static bool
eval_and_or(const StrataExprSource *source, ExprNode *node,
			const StrataExprFrame *frame, ExprVector *out)
{
	int64		decides = node->kind == EXPR_OR;
	uint8	   *null = palloc0(frame->n);
	ExprPart	part;

	init_vector(out, frame->n);
	expr_take_all(&part, frame);
	for (int k = 0; k < node->nargs && part.frame.n > 0; k++)
	{
		ExprVector	arg;

		if (!strata_expr_eval(source, node->args[k],
							  expr_frame_of_part(&part, frame), &arg))
			return false;
		if (arg.null == NULL)
			decide_part(&part, decides, arg.v, NULL, out->v, null);
		else
			decide_part(&part, decides, arg.v, arg.null, out->v, null);
	}
	set_nulls(out, null, frame->n);
	return true;
}

static bool
eval_part(const StrataExprSource *source, ExprNode *node, const ExprPart *part,
		  const StrataExprFrame *frame, ExprVector *out, uint8 *null)
{
	ExprVector	values;

	if (part->frame.n == 0)
		return true;
	if (!strata_expr_eval(source, node, expr_frame_of_part(part, frame),
						  &values))
		return false;
	scatter(part, &values, out, null);
	return true;
}

/* Is it there for all rows, at little cost, and raises nothing? */
static bool
is_at_hand(const ExprNode *node)
{
	return node->kind == EXPR_CONST ||
		(node->kind == EXPR_COLUMN && node->parts == NULL &&
		 node->class != EXPR_DATUM);
}

/* v[i], null[i] of a where the condition holds, and else of b. */
static void
choose_values(const ExprVector *a, const ExprVector *b, const uint8 *hit,
			  int n, uint64 *v, uint8 *null)
{
	const uint64 *av = a->v;
	const uint64 *bv = b->v;

	for (int i = 0; i < n; i++)
		v[i] = hit[i] ? av[i] : bv[i];
	if (null == NULL)
		return;
	for (int i = 0; i < n; i++)
		null[i] = hit[i] ? (a->null != NULL && a->null[i]) :
			(b->null != NULL && b->null[i]);
}

/*
 * CASE with one condition and results that are at hand: the condition chooses
 * between them for each row, without a branch.
 */
static bool
eval_choice(const StrataExprSource *source, ExprNode *node,
			const StrataExprFrame *frame, ExprVector *out)
{
	int			n = frame->n;
	uint8	   *hit = palloc(n);
	uint8	   *null = NULL;
	ExprVector	a;
	ExprVector	b;

	if (!strata_expr_truth(source, node->args[0], frame, hit))
		return false;
	if (memchr(hit, !hit[0], n) == NULL)
		return strata_expr_eval(source, node->args[hit[0] ? 1 : 2], frame,
								out);
	if (!strata_expr_eval(source, node->args[1], frame, &a) ||
		!strata_expr_eval(source, node->args[2], frame, &b))
		return false;
	init_vector(out, n);
	if (a.null != NULL || b.null != NULL)
		null = palloc(n);
	choose_values(&a, &b, hit, n, out->v, null);
	if (null != NULL)
		set_nulls(out, null, n);
	return true;
}

/*
 * CASE of constants: which of its results each row has; false: failed.  A
 * condition that may be evaluated for any row is, for all.
 */
static bool
pick_results(const StrataExprSource *source, ExprNode *node,
			 const StrataExprFrame *frame, uint8 *which)
{
	int			n = frame->n;
	int			nconditions = node->nargs / 2;
	uint8	   *truth = palloc(n);
	bool		plain = true;
	ExprPart	part;
	ExprPart	hits;

	for (int k = 1; k < nconditions; k++)
		plain &= strata_expr_is_plain(node->args[2 * k]);
	memset(which, nconditions, n);
	if (!plain)
	{
		expr_take_all(&part, frame);
		expr_init_part(&hits, n);
	}
	/* the first that is true is the last to be written */
	for (int k = nconditions - 1; plain && k >= 0; k--)
	{
		if (!strata_expr_truth(source, node->args[2 * k], frame, truth))
			return false;
		for (int i = 0; i < n; i++)
			which[i] = truth[i] ? (uint8) k : which[i];
	}
	for (int k = 0; !plain && k < nconditions && part.frame.n > 0; k++)
	{
		if (!strata_expr_truth(source, node->args[2 * k],
							   expr_frame_of_part(&part, frame), truth))
			return false;
		expr_divide(&part, &hits, truth);
		for (int i = 0; i < hits.frame.n; i++)
			which[hits.places[i]] = (uint8) k;
	}
	return true;
}

/* Number k of a CASE's results, the last being that of ELSE. */
static const ExprNode *
result_of_case(const ExprNode *node, int k)
{
	return node->args[Min(2 * k + 1, node->nargs - 1)];
}

/* What CASE picks from; returns whether some of it is null. */
static bool
list_results(const ExprNode *node, uint64 *values, uint8 *nulls)
{
	bool		any_null = false;

	for (int k = 0; k <= node->nargs / 2; k++)
	{
		const ExprNode *result = result_of_case(node, k);

		values[k] = 0;
		nulls[k] = result->isnull;
		any_null |= result->isnull;
		if (!result->isnull)
			expr_put(result, values, k, result->value);
	}
	return any_null;
}

/* CASE of constants; false: failed. */
static bool
eval_picks(const StrataExprSource *source, ExprNode *node,
		   const StrataExprFrame *frame, ExprVector *out)
{
	uint8	   *which = palloc(frame->n);
	uint64		values[EXPR_MAX_PICKED + 1];
	uint8		nulls[EXPR_MAX_PICKED + 1];
	uint8	   *null;

	if (!pick_results(source, node, frame, which))
		return false;
	init_vector(out, frame->n);
	if (list_results(node, values, nulls))
	{
		null = palloc(frame->n);
		for (int i = 0; i < frame->n; i++)
			null[i] = nulls[which[i]];
		set_nulls(out, null, frame->n);
	}
	for (int i = 0; i < frame->n; i++)
		((uint64 *) out->v)[i] = values[which[i]];
	return true;
}

/*
 * CASE: each condition for the rows that no earlier one held for, each result
 * for the rows of its condition; false: failed.
 */
static bool
eval_case(const StrataExprSource *source, ExprNode *node,
		  const StrataExprFrame *frame, ExprVector *out)
{
	uint8	   *null;
	uint8	   *truth;
	ExprPart	part;
	ExprPart	hits;

	if (node->picks)
		return eval_picks(source, node, frame, out);
	if (node->nargs == 3 && is_at_hand(node->args[1]) &&
		is_at_hand(node->args[2]))
		return eval_choice(source, node, frame, out);
	null = palloc(frame->n);
	init_vector(out, frame->n);
	expr_take_all(&part, frame);
	expr_init_part(&hits, frame->n);
	truth = palloc(frame->n);
	for (int k = 0; k + 1 < node->nargs && part.frame.n > 0; k += 2)
	{
		if (!strata_expr_truth(source, node->args[k],
							   expr_frame_of_part(&part, frame), truth))
			return false;
		expr_divide(&part, &hits, truth);
		if (!eval_part(source, node->args[k + 1], &hits, frame, out, null))
			return false;
	}
	if (!eval_part(source, node->args[node->nargs - 1], &part, frame, out,
				   null))
		return false;
	set_nulls(out, null, frame->n);
	return true;
}

/* COALESCE: each argument for the rows that had none yet; false: failed. */
static bool
eval_coalesce(const StrataExprSource *source, ExprNode *node,
			  const StrataExprFrame *frame, ExprVector *out)
{
	uint8	   *null = palloc0(frame->n);
	ExprPart	part;

	init_vector(out, frame->n);
	expr_take_all(&part, frame);
	for (int k = 0; k < node->nargs && part.frame.n > 0; k++)
	{
		int			nleft = 0;

		if (!eval_part(source, node->args[k], &part, frame, out, null))
			return false;
		for (int i = 0; i < part.frame.n; i++)
		{
			uint16		place = part.places[i];

			part.rows[nleft] = part.rows[i];
			part.places[nleft] = place;
			nleft += null[place];
		}
		part.frame.n = nleft;
	}
	set_nulls(out, null, frame->n);
	return true;
}

/* See expr_private.h. */
ExprNode *
strata_expr_arm(const StrataExprSource *source, ExprNode *either,
				const StrataExprFrame *frame)
{
	return strata_parts_find(either->parts, source, frame) ?
		either->args[0] : either->args[1];
}

/* See expr_private.h. */
bool
strata_expr_eval(const StrataExprSource *source, ExprNode *node,
				 const StrataExprFrame *frame, ExprVector *out)
{
	Assert(frame->n > 0);		/* expr:E1 */
	if (node->class == EXPR_DECIMAL)
		return strata_expr_eval_numerics(source, node, frame, out);
	switch (node->kind)
	{
		case EXPR_COLUMN:
			eval_column(source, node, frame, out);
			return true;
		case EXPR_CONST:
			eval_const(node, frame, out);
			return true;
		case EXPR_CALL:
			return eval_call(source, node, frame, out);
		case EXPR_AND:
		case EXPR_OR:
			return eval_and_or(source, node, frame, out);
		case EXPR_NOT:
		case EXPR_NULL_TEST:
		case EXPR_BOOL_TEST:
			return eval_test(source, node, frame, out);
		case EXPR_IN:
			return eval_in(source, node, frame, out);
		case EXPR_CASE:
			return eval_case(source, node, frame, out);
		case EXPR_COALESCE:
			return eval_coalesce(source, node, frame, out);
		case EXPR_DISTINCT:
			return strata_expr_eval_distinct(source, node, frame, out);
		case EXPR_NULLIF:
			return strata_expr_eval_nullif(source, node, frame, out);
		case EXPR_MINMAX:
			return strata_expr_eval_minmax(source, node, frame, out);
		case EXPR_LIKE:
			return strata_expr_eval_like(source, node, frame, out);
		case EXPR_COMPARE:
			return strata_expr_eval_compare(source, node, frame, out);
		case EXPR_CONVERT:
			return strata_expr_eval_convert(source, node, frame, out);
		case EXPR_EITHER:
			return strata_expr_eval(source,
									strata_expr_arm(source, node, frame),
									frame, out);
		case EXPR_OTHER:
			break;
	}
	return strata_expr_eval_other(source, node, frame, out);
}

/*-------------------------------------------------------------------------
 * Results
 *-------------------------------------------------------------------------
 */

#define PUT_ALL(tin, tout) \
	do { \
		const tin  *from_ = values->v; \
		tout	   *to_ = col->fixed; \
		if (frame->rows == NULL) \
			for (int i_ = 0; i_ < frame->n; i_++) \
				to_[frame->first + i_] = (tout) from_[i_]; \
		else \
			for (int i_ = 0; i_ < frame->n; i_++) \
				to_[frame->rows[i_]] = (tout) from_[i_]; \
	} while (0)

/*
 * Put values of the frame's rows into a packed column, narrowed to its width.
 */
static void
put_result(const ExprNode *node, const ExprVector *values,
		   const StrataExprFrame *frame, int nrows, StrataColumn *col)
{
	if (col->type.width == sizeof(int64) && frame->rows == NULL)
	{
		/* they are there */
		col->fixed = (int64 *) values->v - frame->first;
		return;
	}
	col->fixed = palloc0((Size) col->type.width * nrows);
	if (node->class == EXPR_FLOAT)
	{
		if (col->type.width == sizeof(float4))
			PUT_ALL(float8, float4);
		else
			PUT_ALL(float8, float8);
		return;
	}
	switch (col->type.width)
	{
		case 1:
			PUT_ALL(int64, int8);
			break;
		case 2:
			PUT_ALL(int64, int16);
			break;
		case 4:
			PUT_ALL(int64, int32);
			break;
		default:
			PUT_ALL(int64, int64);
			break;
	}
}

/*
 * See expr_private.h.  Whatever failed: once a guarded node has raised an
 * error, PostgreSQL evaluates the rows in their order, and raises the first
 * there is
 * (expr:E3).  Returns false, where only a kernel failed.
 */
bool
strata_expr_give_up(const StrataExpr *expr, const StrataExprSource *source,
					const StrataExprFrame *frame)
{
	if (expr->error != NULL)
	{
		Assert(expr->whole != NULL);	/* expr:E3 */
		strata_expr_eval_errors(source, expr->whole, frame);
		ReThrowError(expr->error);
	}
	return false;
}

/* The column where it is a part of another, in its own form. */
static bool
take_part(const ExprNode *node, StrataColumn *col)
{
	const StrataColumn *part;
	StrataColumnType type = col->type;

	if (node->kind != EXPR_COLUMN || node->parts == NULL)
		return false;
	part = node->parts->columns[node->attno - 1];
	if (part->codes == NULL)
		return false;
	*col = *part;
	col->type = type;
	return true;
}

#define PUT_PICKS(ctype, from) \
	do { \
		ctype		results_[EXPR_MAX_PICKED + 1]; \
		ctype	   *to_ = col->fixed; \
		for (int k_ = 0; k_ < nresults; k_++) \
			results_[k_] = (ctype) ((const from *) values)[k_]; \
		if (frame->rows == NULL) \
			for (int i_ = 0; i_ < frame->n; i_++) \
				to_[frame->first + i_] = results_[which[i_]]; \
		else \
			for (int i_ = 0; i_ < frame->n; i_++) \
				to_[frame->rows[i_]] = results_[which[i_]]; \
	} while (0)

/* What CASE picks for each row, into a packed column. */
static void
put_picks(const ExprNode *node, const uint64 *values, const uint8 *which,
		  const StrataExprFrame *frame, int nrows, StrataColumn *col)
{
	int			nresults = node->nargs / 2 + 1;

	col->fixed = palloc0((Size) col->type.width * nrows);
	if (col->type.width == sizeof(int64))
		PUT_PICKS(uint64, uint64);
	else if (node->class == EXPR_FLOAT)
		PUT_PICKS(float4, float8);
	else if (col->type.width == sizeof(int32))
		PUT_PICKS(int32, int64);
	else if (col->type.width == sizeof(int16))
		PUT_PICKS(int16, int64);
	else
		PUT_PICKS(int8, int64);
}

/*
 * A column of what CASE picks from constants: those by reference are a
 * dictionary; false: failed.
 */
static bool
pick_column(const StrataExprSource *source, ExprNode *node,
			const StrataExprFrame *frame, int nrows, StrataColumn *col)
{
	uint8	   *which = palloc(frame->n);
	uint64		values[EXPR_MAX_PICKED + 1];
	uint8		nulls[EXPR_MAX_PICKED + 1];
	uint32	   *codes;

	if (!pick_results(source, node, frame, which))
		return false;
	if (list_results(node, values, nulls))
	{
		col->isnull = palloc0(sizeof(bool) * nrows);
		for (int i = 0; i < frame->n; i++)
			col->isnull[expr_row(frame, i)] = nulls[which[i]];
	}
	if (node->class != EXPR_DATUM)
	{
		put_picks(node, values, which, frame, nrows, col);
		return true;
	}
	col->ndict = node->nargs / 2 + 1;
	col->dict = palloc(sizeof(Datum) * col->ndict);
	memcpy(col->dict, values, sizeof(Datum) * col->ndict);
	col->codes = codes = palloc0(sizeof(uint32) * nrows);
	for (int i = 0; i < frame->n; i++)
		codes[expr_row(frame, i)] = which[i];
	return true;
}

/* Is a dictionary of its one column all that is to be looked at? */
static bool
is_of_dictionary(const StrataExprSource *source, const ExprNode *node,
				 const StrataExprFrame *frame)
{
	StrataDecimals stored;

	return node->mapped != NULL && node->mapped->natts == 1 &&
		(source->decimals == NULL ||
		 !source->decimals(source->arg, node->mapped->atts[0], frame,
						   &stored));
}

/*
 * Values of a column, or which are null, and a dictionary with codes in it;
 * false: failed.
 */
static bool
eval_column_values(const StrataExprSource *source, ExprNode *node,
				   const StrataExprFrame *frame, int nrows,
				   StrataColumn *col, ExprVector *out)
{
	ExprDecimals decimals;

	if (node->class != EXPR_DECIMAL)
		return strata_expr_eval(source, node, frame, out);
	if (!strata_expr_eval_decimals(source, node, frame, &decimals))
		return false;
	out->v = NULL;
	out->null = decimals.null;
	if (!strata_decimals_dictionary(&decimals, frame, nrows, col))
		out->v = strata_decimals_numerics(frame->n, &decimals);
	return true;
}

/* See expr.h. */
bool
strata_expr_column(StrataExpr *expr, const StrataExprSource *source,
				   const StrataExprFrame *frame, int nrows, StrataColumn *col)
{
	ExprNode   *node = expr->roots[0];
	ExprVector	values;

	Assert(expr->nroots == 1 &&
		   node->typlen == col->type.typlen);	/* expr:E4 */
	if (node->kind == EXPR_EITHER)
		node = strata_expr_arm(source, node, frame);
	if (take_part(node, col) ||
		strata_expr_eval_dictionary(source, node, frame, nrows, col) ||
		(is_of_dictionary(source, node, frame) &&
		 strata_expr_eval_dictionary(source, node->mapped, frame, nrows,
									 col)))
		return true;
	col->decoded = true;
	if (node->kind == EXPR_CASE && node->picks)
		return pick_column(source, node, frame, nrows, col) ||
			strata_expr_give_up(expr, source, frame);
	if (!eval_column_values(source, node, frame, nrows, col, &values))
		return strata_expr_give_up(expr, source, frame);
	if (values.null != NULL)
	{
		col->isnull = palloc0(sizeof(bool) * nrows);
		for (int i = 0; i < frame->n; i++)
			col->isnull[expr_row(frame, i)] = values.null[i];
	}
	if (values.v == NULL)
		return true;
	if (node->class == EXPR_INT || node->class == EXPR_FLOAT)
	{
		put_result(node, &values, frame, nrows, col);
		return true;
	}
	if (frame->rows == NULL)
	{
		/* they are there */
		col->datums = (Datum *) values.v - frame->first;
		return true;
	}
	col->datums = palloc0(sizeof(Datum) * nrows);
	for (int i = 0; i < frame->n; i++)
		col->datums[expr_row(frame, i)] = ((Datum *) values.v)[i];
	return true;
}

/* All conditions for all rows; false: they are not to be evaluated so. */
static bool
filter_plain(StrataExpr *expr, const StrataExprSource *source,
			 const StrataExprFrame *frame, uint8 *pass)
{
	uint8	   *truth;

	for (int k = 0; k < expr->nroots; k++)
		if (!strata_expr_is_plain(expr->roots[k]))
			return false;
	truth = palloc(frame->n);
	memset(pass, 1, frame->n);
	for (int k = 0; k < expr->nroots && memchr(pass, 1, frame->n) != NULL; k++)
	{
		(void) strata_expr_truth(source, expr->roots[k], frame, truth);
		for (int i = 0; i < frame->n; i++)
			pass[i] &= truth[i];
	}
	return true;
}

/* See expr.h.  As ExecQual() does, the first that is not true is the last. */
bool
strata_expr_filter(StrataExpr *expr, const StrataExprSource *source,
				   const StrataExprFrame *frame, uint8 *pass)
{
	ExprPart	part;
	ExprPart	hits;
	uint8	   *truth;

	if (expr->nroots == 1)
		return strata_expr_truth(source, expr->roots[0], frame, pass) ||
			strata_expr_give_up(expr, source, frame);
	if (filter_plain(expr, source, frame, pass))
		return true;
	memset(pass, 0, frame->n);
	expr_take_all(&part, frame);
	expr_init_part(&hits, frame->n);
	truth = palloc(frame->n);
	for (int k = 0; k < expr->nroots && part.frame.n > 0; k++)
	{
		ExprPart	others = part;

		if (!strata_expr_truth(source, expr->roots[k],
							   expr_frame_of_part(&part, frame), truth))
			return strata_expr_give_up(expr, source, frame);
		expr_divide(&others, &hits, truth);
		part = hits;
		hits = others;
	}
	for (int i = 0; i < part.frame.n; i++)
		pass[part.places[i]] = 1;
	return true;
}
