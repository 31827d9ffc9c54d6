/*-------------------------------------------------------------------------
 *
 * expr_decimal_private.h
 *	  Numerics as integers of one scale.
 *
 * src/expr/expr_decimal_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_EXPR_DECIMAL_PRIVATE_H
#define STRATA_EXPR_DECIMAL_PRIVATE_H

#include "expr/expr_private.h"

/* What is computed with integers / 10^scale. */
typedef enum ExprDecimalOp
{
	DECIMAL_ADD,
	DECIMAL_SUB,
	DECIMAL_MUL,
	DECIMAL_NEG,
	DECIMAL_ABS,
	DECIMAL_SAME,
	DECIMAL_ROUND,				/* to places decimals, half away from 0 */
	DECIMAL_TRUNC,
	DECIMAL_FLOOR,				/* of places 0 */
	DECIMAL_CEIL,
	DECIMAL_SIGN,
	DECIMAL_CAST,				/* to numeric(precision, places) */
	DECIMAL_DIVIDE,				/* by a constant */
	DECIMAL_MOD,
	DECIMAL_INT,				/* of an integer */
	DECIMAL_FLOAT,				/* of a float; rounded, if places >= 0 */
	DECIMAL_TAKE				/* of what PostgreSQL evaluated */
} ExprDecimalOp;

/* expr_compile.c: what compiles the nodes of an expression. */
typedef struct ExprCompiler ExprCompiler;

extern ExprNode *strata_expr_make_node(ExprKind kind, Expr *expr, int nargs);
extern ExprNode *strata_expr_compile_node(ExprCompiler *c, Expr *expr);
extern ExprNode *strata_expr_compile_other(ExprCompiler *c, Expr *expr);

/* The condition of a WHEN; NULL: it is of no form that is known. */
extern Expr *strata_expr_when(CaseExpr * expr, CaseWhen * when);

/* A node of the expression failed: false, or an error. */
extern bool strata_expr_give_up(const StrataExpr *expr,
								const StrataExprSource *source,
								const StrataExprFrame *frame);

/* No value is shown with more decimals, or has more. */
#define DECIMAL_PLACES_MAX 63

/*
 * Values v / 10^scale of a node for the rows of a frame, one after the other.
 * Nobody changes them.
 */
typedef struct ExprDecimals
{
	const int64 *v;				/* of a row that is null: any below bound */
	const uint8 *null;			/* NULL: none is */
	uint64		bound;			/* no integer is further from 0; at most
								 * PG_INT64_MAX */
	unsigned	scale;
	unsigned	display;		/* all are shown with so many decimals, ... */
	const uint8 *displays;		/* ... unless each has its own here */
} ExprDecimals;

/*
 * expr_decimal_kernel.c: kernels; out->null is set before.  False: the result
 * of a row that is not null does not fit.  Memory: the current context.
 */
extern bool strata_decimals_bound(int n, const int64 *v, uint64 *bound);
extern bool strata_decimals_add(int n, const ExprDecimals *a,
								const ExprDecimals *b, ExprDecimals *out);
extern bool strata_decimals_sub(int n, const ExprDecimals *a,
								const ExprDecimals *b, ExprDecimals *out);
extern bool strata_decimals_mul(int n, const ExprDecimals *a,
								const ExprDecimals *b, ExprDecimals *out);
extern void strata_decimals_neg(int n, const ExprDecimals *a,
								ExprDecimals *out);
extern void strata_decimals_abs(int n, const ExprDecimals *a,
								ExprDecimals *out);

/* The same values with a larger scale; false: likewise. */
extern bool strata_decimals_rescale(int n, ExprDecimals *a, unsigned scale);

/* 10^n; false: it is none of an int64. */
extern bool strata_decimals_power(unsigned n, int64 *power);

/*
 * expr_decimal_round.c: places decimals, of which round() and its like make
 * no more; the same for a cast, which fails where PostgreSQL's does; does it
 * fail for what was rounded already; the sign.
 */
extern bool strata_decimals_round(int n, const ExprDecimals *a,
								  ExprDecimalOp op, unsigned places,
								  ExprDecimals *out);
extern bool strata_decimals_cast(int n, const ExprDecimals *a,
								 unsigned precision, unsigned scale,
								 ExprDecimals *out);
extern bool strata_decimals_fit(int n, const ExprDecimals *a,
								unsigned precision, unsigned scale);
extern void strata_decimals_sign(int n, const ExprDecimals *a,
								 ExprDecimals *out);

/*
 * expr_decimal_float.c: floats cast to numeric, with all their digits or
 * rounded; single: of float4.
 */
extern bool strata_decimals_of_floats(int n, const float8 *floats,
									  const uint8 *null, bool single,
									  ExprDecimals *out);

/* The way back: float8, or integers of a width; false: out of range. */
extern void strata_decimals_to_floats(int n, const ExprDecimals *a,
									  float8 *out);
extern bool strata_decimals_to_integers(int n, const ExprDecimals *a,
										int width, const int64 **out);
extern bool strata_decimals_round_floats(int n, const float8 *floats,
										 const uint8 *null, bool single,
										 unsigned places, ExprDecimals *out);

/*
 * expr_decimal_divide.c: a / b * factor (NULL: 1), rounded or cast to places
 * decimals as op says, of which a cast's precision is not looked at; a divided
 * by a constant; which constants these are, with how many decimals more, and
 * by what the integers are multiplied then; the rest of a division of two of
 * one scale.
 */
typedef struct StrataDecimal StrataDecimal;
extern bool strata_decimals_quotient(int n, const ExprDecimals *a,
									 const ExprDecimals *b,
									 const StrataDecimal *factor,
									 ExprDecimalOp op, unsigned places,
									 ExprDecimals *out);
extern bool strata_decimals_divide(int n, const ExprDecimals *a,
								   const StrataDecimal *by,
								   ExprDecimals *out);
extern bool strata_decimals_divides(const StrataDecimal *by,
									unsigned *decimals, int64 *times);
extern bool strata_decimals_mod(int n, const ExprDecimals *a,
								const ExprDecimals *b, ExprDecimals *out);

/* Have one display where all are the same. */
extern void strata_decimals_settle(int n, ExprDecimals *a);

/* With how many decimals a sum (the larger), or product (both) is shown. */
extern bool strata_decimals_displays(int n, const ExprDecimals *a,
									 const ExprDecimals *b, bool product,
									 ExprDecimals *out);

/* One numeric, integer / 10^scale; false: another form, or too large. */
struct StrataDecimal
{
	int64		integer;
	unsigned	scale;
	unsigned	display;
};

extern bool strata_decimal_take(Datum value, StrataDecimal *decimal);

/* Are there such nodes for it?  Sets *computes if there is an operation. */
extern bool strata_expr_takes_decimals(Expr *expr, bool *computes);

/*
 * expr_decimal_compile.c.  Is it a numeric that has nodes of class
 * EXPR_DECIMAL, and is more than a column or a constant?  Such nodes.
 */
extern bool strata_expr_is_decimal(Expr *expr);
extern ExprNode *strata_expr_compile_decimal(ExprCompiler *c, Expr *expr);

/* Such nodes of an expression that computes, or NULL. */
extern ExprNode *strata_expr_compile_computed(ExprCompiler *c, Expr *expr);

/* A comparison of numerics, or NULL. */
extern ExprNode *strata_expr_compile_compare(ExprCompiler *c, Expr *expr);

/* A numeric cast to an integer or a float8, or NULL. */
extern ExprNode *strata_expr_compile_converted(ExprCompiler *c, Expr *expr);

/* Is it computed, or compared, by integers? */
extern bool strata_expr_is_decimal_function(Oid funcid);

/*
 * expr_decimal.c.  Such a node; a node's first two arguments; as Datums; a
 * comparison; a number made of one.  False: cannot.
 */
extern bool strata_expr_eval_decimals(const StrataExprSource *source,
									  ExprNode *node,
									  const StrataExprFrame *frame,
									  ExprDecimals *out);
extern bool strata_expr_eval_decimal_pair(const StrataExprSource *source,
										  const ExprNode *node,
										  const StrataExprFrame *frame,
										  ExprDecimals *a, ExprDecimals *b);
extern bool strata_expr_eval_numerics(const StrataExprSource *source,
									  ExprNode *node,
									  const StrataExprFrame *frame,
									  ExprVector *out);
extern bool strata_expr_eval_compare(const StrataExprSource *source,
									 ExprNode *node,
									 const StrataExprFrame *frame,
									 ExprVector *out);
extern bool strata_expr_eval_convert(const StrataExprSource *source,
									 ExprNode *node,
									 const StrataExprFrame *frame,
									 ExprVector *out);

/*
 * Values that lie close together, and are shown alike, into the codes and the
 * dictionary of a column; false: they are not.
 */
extern bool strata_decimals_dictionary(const ExprDecimals *from,
									   const StrataExprFrame *frame,
									   int nrows, StrataColumn *col);

/* Numerics of n values, 0 of nulls. */
extern Datum *strata_decimals_numerics(int n, const ExprDecimals *from);

/* expr_decimal_choice.c: false likewise. */
extern bool strata_expr_eval_decimal_case(const StrataExprSource *source,
										  ExprNode *node,
										  const StrataExprFrame *frame,
										  ExprDecimals *out);
extern bool strata_expr_eval_decimal_coalesce(const StrataExprSource *source,
											  ExprNode *node,
											  const StrataExprFrame *frame,
											  ExprDecimals *out);
extern bool strata_expr_eval_decimal_nullif(const StrataExprSource *source,
											ExprNode *node,
											const StrataExprFrame *frame,
											ExprDecimals *out);
extern bool strata_expr_eval_decimal_minmax(const StrataExprSource *source,
											ExprNode *node,
											const StrataExprFrame *frame,
											ExprDecimals *out);

/* expr_decimal.c: a row of a or of b that is null is of both. */
extern const uint8 *strata_decimals_nulls(int n, const uint8 *a,
										  const uint8 *b);

#endif							/* STRATA_EXPR_DECIMAL_PRIVATE_H */
