/*-------------------------------------------------------------------------
 *
 * expr_choice.c
 *	  Calls that look at nulls themselves: IS DISTINCT FROM, NULLIF, GREATEST
 *	  and LEAST.
 *
 * Unlike CASE they evaluate all of their arguments for all rows.
 *
 * src/expr/expr_choice.c
 *-------------------------------------------------------------------------
 */
#include "expr/expr_private.h"

#include "utils/float.h"

/*
 * Evaluate both arguments, and set equal to what the node's function, an
 * equality, says of the rows in which neither is null; false: failed.
 */
static bool
eval_equality(const StrataExprSource *source, ExprNode *node,
			  const StrataExprFrame *frame, ExprVector *a, ExprVector *b,
			  int64 *equal)
{
	Assert(!node->function->can_fail);	/* expr:E3 */
	return strata_expr_eval(source, node->args[0], frame, a) &&
		strata_expr_eval(source, node->args[1], frame, b) &&
		node->function->kernel(frame->n, a->v, b->v, NULL, equal);
}

/* See expr_private.h. */
bool
strata_expr_eval_distinct(const StrataExprSource *source, ExprNode *node,
						  const StrataExprFrame *frame, ExprVector *out)
{
	int64	   *v = palloc(sizeof(int64) * frame->n);
	ExprVector	a;
	ExprVector	b;

	if (!eval_equality(source, node, frame, &a, &b, v))
		return false;
	for (int i = 0; i < frame->n; i++)
	{
		bool		a_null = expr_is_null(&a, i);
		bool		b_null = expr_is_null(&b, i);

		v[i] = a_null || b_null ? a_null != b_null : !v[i];
	}
	out->v = v;
	out->null = NULL;
	return true;
}

/* See expr_private.h. */
bool
strata_expr_eval_nullif(const StrataExprSource *source, ExprNode *node,
						const StrataExprFrame *frame, ExprVector *out)
{
	int64	   *equal = palloc(sizeof(int64) * frame->n);
	uint8	   *null = palloc(frame->n);
	ExprVector	a;
	ExprVector	b;

	if (!eval_equality(source, node, frame, &a, &b, equal))
		return false;
	for (int i = 0; i < frame->n; i++)
		null[i] = expr_is_null(&a, i) ||
			(!expr_is_null(&b, i) && equal[i]);
	out->v = a.v;
	out->null = null;
	return true;
}

/* Is the second value the greatest, or least, so far?  Not if it is equal. */
static inline bool
is_beyond(const ExprNode *node, const void *so_far, const void *next, int i)
{
	const void *a = node->greatest ? so_far : next;
	const void *b = node->greatest ? next : so_far;

	return node->class == EXPR_FLOAT ?
		float8_lt(((const float8 *) a)[i], ((const float8 *) b)[i]) :
		((const int64 *) a)[i] < ((const int64 *) b)[i];
}

/* See expr_private.h. */
bool
strata_expr_eval_minmax(const StrataExprSource *source, ExprNode *node,
						const StrataExprFrame *frame, ExprVector *out)
{
	uint64	   *v = palloc0(sizeof(uint64) * frame->n);
	uint8	   *null = palloc(frame->n);

	Assert(node->class != EXPR_DATUM);	/* expr:E4 */
	memset(null, 1, frame->n);
	for (int k = 0; k < node->nargs; k++)
	{
		ExprVector	arg;

		if (!strata_expr_eval(source, node->args[k], frame, &arg))
			return false;
		for (int i = 0; i < frame->n; i++)
			if (!expr_is_null(&arg, i) &&
				(null[i] || is_beyond(node, v, arg.v, i)))
			{
				v[i] = ((const uint64 *) arg.v)[i];
				null[i] = 0;
			}
	}
	out->v = v;
	out->null = null;
	return true;
}
