/*-------------------------------------------------------------------------
 *
 * expr_truth.c
 *	  Conditions for the rows of a frame, as one byte a row: is it true?
 *
 * Whoever asks does not tell false from null: FILTER, WHEN.  A column that is
 * compared with a constant is looked at as it lies there, in its own width,
 * and no values are made of it.  AND and OR of nothing but such comparisons
 * and tests for null take them all for all rows: none of them raises an error,
 * and a branch for each row would take longer.
 *
 * src/expr/expr_truth.c
 *-------------------------------------------------------------------------
 */
#include "base/clones.h"
#include "expr/expr_private.h"

#include <math.h>

/*-------------------------------------------------------------------------
 * Columns and constants
 *-------------------------------------------------------------------------
 */

#define TEST_ALL(condition) \
	do { \
		for (int i = 0; i < n; i++) \
		{ \
			x = v[i]; \
			truth[i] = (uint8) (condition); \
		} \
	} while (0)

/*
 * truth[i] = v[i] compared with a, no NaN; one of the column is above all.
 * For integers the negations are what they seem to be.
 */
#define DEFINE_TEST(name, ctype, vtype) \
STRATA_AVX2_CLONES static void \
name(const ctype *pg_restrict v, int n, ExprTest test, vtype a, \
	 uint8 *pg_restrict truth) \
{ \
	vtype		x; \
 \
	switch (test) \
	{ \
		case EXPR_TEST_EQ: \
			TEST_ALL(x == a); \
			break; \
		case EXPR_TEST_NE: \
			TEST_ALL(!(x == a)); \
			break; \
		case EXPR_TEST_LT: \
			TEST_ALL(x < a); \
			break; \
		case EXPR_TEST_LE: \
			TEST_ALL(x <= a); \
			break; \
		case EXPR_TEST_GT: \
			TEST_ALL(!(x <= a)); \
			break; \
		default: \
			TEST_ALL(!(x < a)); \
			break; \
	} \
}

DEFINE_TEST(test_int8, int8, int8)
DEFINE_TEST(test_int16, int16, int16)
DEFINE_TEST(test_int32, int32, int32)
DEFINE_TEST(test_int64, int64, int64)
DEFINE_TEST(test_float4, float4, float8)
DEFINE_TEST(test_float8, float8, float8)

/* The same with the operands exchanged. */
static ExprTest
commuted(ExprTest test)
{
	switch (test)
	{
		case EXPR_TEST_LT:
			return EXPR_TEST_GT;
		case EXPR_TEST_LE:
			return EXPR_TEST_GE;
		case EXPR_TEST_GT:
			return EXPR_TEST_LT;
		case EXPR_TEST_GE:
			return EXPR_TEST_LE;
		default:
			return test;
	}
}

static bool
is_whole_column(const ExprNode *node)
{
	return node->kind == EXPR_COLUMN && node->parts == NULL;
}

/* A constant that a column's own width can be compared with? */
static bool
fits_column(const ExprNode *constant, const ExprNode *column)
{
	int64		x;
	int64		limit;

	if (constant->kind != EXPR_CONST || constant->isnull)
		return false;
	if (column->class == EXPR_FLOAT)
	{
		float8		f;

		expr_put(constant, &f, 0, constant->value);
		return constant->class == EXPR_FLOAT && !isnan(f);
	}
	if (column->class != EXPR_INT || constant->class != EXPR_INT)
		return false;
	if (column->typlen == sizeof(int64))
		return true;
	expr_put(constant, &x, 0, constant->value);
	limit = INT64CONST(1) << (8 * column->typlen - 1);
	return x >= -limit && x < limit;
}

/* A comparison of a column with a constant; *column: which argument it is. */
static bool
match_comparison(const ExprNode *node, int *column)
{
	if (node->kind != EXPR_CALL || node->function->test == EXPR_TEST_NONE)
		return false;
	for (*column = 0; *column < 2; ++*column)
		if (is_whole_column(node->args[*column]) &&
			fits_column(node->args[1 - *column], node->args[*column]))
			return true;
	return false;
}

/* See expr_private.h. */
bool
strata_expr_is_plain(const ExprNode *node)
{
	int			column;

	if (node->kind == EXPR_NULL_TEST)
		return is_whole_column(node->args[0]);
	return node->plain || match_comparison(node, &column);
}

#define GATHER_OWN(ctype) \
	do { \
		const ctype *from_ = col->fixed; \
		for (int i_ = 0; i_ < frame->n; i_++) \
			((ctype *) out)[i_] = from_[frame->rows[i_]]; \
	} while (0)

/* Packed values of the frame's rows, side by side. */
static const void *
own_values(const StrataColumn *col, int width, const StrataExprFrame *frame)
{
	void	   *out;

	if (frame->rows == NULL)
		return (const char *) col->fixed + (Size) frame->first * width;
	out = palloc((Size) width * frame->n);
	switch (width)
	{
		case 1:
			GATHER_OWN(int8);
			break;
		case 2:
			GATHER_OWN(int16);
			break;
		case 4:
			GATHER_OWN(int32);
			break;
		default:
			GATHER_OWN(int64);
			break;
	}
	return out;
}

/* truth[i] &= the frame's row i is null, or not. */
static void
mask_nulls(const bool *isnull, bool wanted, const StrataExprFrame *frame,
		   uint8 *truth)
{
	if (frame->rows == NULL)
		for (int i = 0; i < frame->n; i++)
			truth[i] &= (uint8) (isnull[frame->first + i] == wanted);
	else
		for (int i = 0; i < frame->n; i++)
			truth[i] &= (uint8) (isnull[frame->rows[i]] == wanted);
}

/* Compare a column's values; false: they are not packed. */
static bool
compare_column(const StrataExprSource *source, const ExprNode *node,
			   const StrataExprFrame *frame, uint8 *truth)
{
	int			which;
	ExprTest	test = node->function->test;
	const ExprNode *constant;
	const ExprNode *column;
	const StrataColumn *col;
	const void *v;
	int64		x;
	float8		f;

	if (!match_comparison(node, &which))
		return false;
	column = node->args[which];
	constant = node->args[1 - which];
	col = source->column(source->arg, column->attno);
	if (col->constant || col->fixed == NULL)
		return false;
	if (which == 1)
		test = commuted(test);
	v = own_values(col, column->typlen, frame);
	if (column->class == EXPR_FLOAT)
	{
		expr_put(constant, &f, 0, constant->value);
		if (column->typlen == sizeof(float4))
			test_float4(v, frame->n, test, f, truth);
		else
			test_float8(v, frame->n, test, f, truth);
	}
	else
	{
		expr_put(constant, &x, 0, constant->value);
		if (column->typlen == sizeof(int8))
			test_int8(v, frame->n, test, (int8) x, truth);
		else if (column->typlen == sizeof(int16))
			test_int16(v, frame->n, test, (int16) x, truth);
		else if (column->typlen == sizeof(int32))
			test_int32(v, frame->n, test, (int32) x, truth);
		else
			test_int64(v, frame->n, test, x, truth);
	}
	if (col->isnull != NULL)
		mask_nulls(col->isnull, false, frame, truth);
	return true;
}

/* See expr_private.h. */
const StrataColumn *
strata_expr_nulls(const StrataExprSource *source, ExprNode *column,
				  const StrataExprFrame *frame)
{
	const StrataColumn *col = NULL;

	if (source->part != NULL)
		col = source->part(source->arg, &column->nulls_part, frame);
	return col != NULL ? col : source->column(source->arg, column->attno);
}

/* Is a column null, or not? */
static void
test_nulls(const StrataExprSource *source, const ExprNode *node,
		   const StrataExprFrame *frame, uint8 *truth)
{
	const StrataColumn *col = strata_expr_nulls(source, node->args[0], frame);
	bool		wanted = node->test == IS_NULL;

	if (col->constant || col->isnull == NULL)
	{
		memset(truth, (col->constant && col->value_isnull) == wanted,
			   frame->n);
		return;
	}
	memset(truth, 1, frame->n);
	mask_nulls(col->isnull, wanted, frame, truth);
}

/*-------------------------------------------------------------------------
 * Conditions
 *-------------------------------------------------------------------------
 */

/* AND, OR of plain conditions; false: failed. */
static bool
join_conditions(const StrataExprSource *source, const ExprNode *node,
				const StrataExprFrame *frame, uint8 *truth)
{
	uint8	   *other = palloc(frame->n);
	bool		is_or = node->kind == EXPR_OR;

	if (!strata_expr_truth(source, node->args[0], frame, truth))
		return false;
	for (int k = 1; k < node->nargs; k++)
	{
		/* all is known of all rows: a column less to decode */
		if (memchr(truth, !is_or, frame->n) == NULL)
			break;
		if (!strata_expr_truth(source, node->args[k], frame, other))
			return false;
		if (is_or)
			for (int i = 0; i < frame->n; i++)
				truth[i] |= other[i];
		else
			for (int i = 0; i < frame->n; i++)
				truth[i] &= other[i];
	}
	pfree(other);
	return true;
}

/* Of any condition; false: failed. */
static bool
truth_of_values(const StrataExprSource *source, ExprNode *node,
				const StrataExprFrame *frame, uint8 *truth)
{
	ExprVector	values;
	const int64 *v;

	if (!strata_expr_eval(source, node, frame, &values))
		return false;
	v = values.v;
	if (values.null == NULL)
		for (int i = 0; i < frame->n; i++)
			truth[i] = v[i] != 0;
	else
		for (int i = 0; i < frame->n; i++)
			truth[i] = (v[i] != 0) & !values.null[i];
	return true;
}

/* See expr_private.h. */
bool
strata_expr_truth(const StrataExprSource *source, ExprNode *node,
				  const StrataExprFrame *frame, uint8 *truth)
{
	Assert(frame->n > 0);		/* expr:E1 */
	if (node->kind == EXPR_EITHER)
		node = strata_expr_arm(source, node, frame);
	if (node->kind == EXPR_NULL_TEST && is_whole_column(node->args[0]))
	{
		test_nulls(source, node, frame, truth);
		return true;
	}
	if (node->plain)
		return join_conditions(source, node, frame, truth);
	if ((node->kind == EXPR_CALL &&
		 compare_column(source, node, frame, truth)) ||
		(node->kind == EXPR_LIKE &&
		 strata_expr_like_truth(source, node, frame, truth)) ||
		(node->kind == EXPR_OTHER &&
		 strata_expr_other_truth(source, node, frame, truth)))
		return true;
	return truth_of_values(source, node, frame, truth);
}
