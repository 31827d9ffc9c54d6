/*-------------------------------------------------------------------------
 *
 * expr_decimal_choice.c
 *	  Numerics as integers of one scale: CASE, COALESCE, NULLIF, GREATEST and
 *	  LEAST.
 *
 * src/expr/expr_decimal_choice.c
 *-------------------------------------------------------------------------
 */
#include "expr/expr_decimal_private.h"
#include "expr/expr_rows_private.h"

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

/* See expr_decimal_private.h: as eval_case() does it. */
bool
strata_expr_eval_decimal_case(const StrataExprSource *source, ExprNode *node,
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

/* See expr_decimal_private.h: each argument for the rows that had none yet. */
bool
strata_expr_eval_decimal_coalesce(const StrataExprSource *source,
								  ExprNode *node,
								  const StrataExprFrame *frame,
								  ExprDecimals *out)
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

/* See expr_decimal_private.h: the first, unless it equals the second. */
bool
strata_expr_eval_decimal_nullif(const StrataExprSource *source,
								ExprNode *node,
								const StrataExprFrame *frame,
								ExprDecimals *out)
{
	int			n = frame->n;
	ExprDecimals a;
	ExprDecimals b;
	uint8	   *null = palloc(n);

	if (!strata_expr_eval_decimal_pair(source, node, frame, &a, &b))
		return false;
	*out = a;
	if (!strata_decimals_rescale(n, &a, Max(a.scale, b.scale)) ||
		!strata_decimals_rescale(n, &b, Max(a.scale, b.scale)))
		return false;
	for (int i = 0; i < n; i++)
		null[i] = (a.v[i] == b.v[i] && (b.null == NULL || !b.null[i])) ||
			(a.null != NULL && a.null[i]);
	out->null = memchr(null, 1, n) != NULL ? null : NULL;
	return true;
}

/* Take over values of b that are better than those of a; both of one scale. */
static void
take_better(int n, bool greatest, const ExprDecimals *a,
			const ExprDecimals *b, ExprDecimals *out)
{
	int64	   *v = palloc(sizeof(int64) * n);
	uint8	   *displays = palloc(n);
	uint8	   *null = palloc(n);

	for (int i = 0; i < n; i++)
	{
		bool		anull = a->null != NULL && a->null[i];
		bool		bnull = b->null != NULL && b->null[i];
		bool		better = !bnull &&
		(anull || (greatest ? b->v[i] > a->v[i] : b->v[i] < a->v[i]));
		const ExprDecimals *from = better ? b : a;

		v[i] = from->v[i];
		displays[i] = from->displays != NULL ? from->displays[i] :
			(uint8) from->display;
		null[i] = anull && bnull;
	}
	out->v = v;
	out->displays = displays;
	out->null = memchr(null, 1, n) != NULL ? null : NULL;
	out->bound = Max(a->bound, b->bound);
	out->scale = a->scale;
	strata_decimals_settle(n, out);
}

/* See expr_decimal_private.h: of equal ones the first. */
bool
strata_expr_eval_decimal_minmax(const StrataExprSource *source,
								ExprNode *node,
								const StrataExprFrame *frame,
								ExprDecimals *out)
{
	int			n = frame->n;
	ExprDecimals best;
	ExprDecimals next;

	if (!strata_expr_eval_decimals(source, node->args[0], frame, &best))
		return false;
	for (int k = 1; k < node->nargs; k++)
	{
		if (!strata_expr_eval_decimals(source, node->args[k], frame, &next) ||
			!strata_decimals_rescale(n, &best, Max(best.scale, next.scale)) ||
			!strata_decimals_rescale(n, &next, Max(best.scale, next.scale)))
			return false;
		take_better(n, node->greatest, &best, &next, out);
		best = *out;
	}
	*out = best;
	return true;
}
