/*-------------------------------------------------------------------------
 *
 * top_expr_private.h
 *	  Keys that are expressions.
 *
 * src/top/top_expr_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_TOP_EXPR_PRIVATE_H
#define STRATA_TOP_EXPR_PRIVATE_H

#include "postgres.h"

#include "expr/expr.h"
#include "nodes/execnodes.h"

struct StrataTopState;
struct TopRows;

/* An expression of the inputs. */
typedef struct TopExpr
{
	ExprState  *state;
	StrataExpr *vector;			/* NULL: row by row */
	StrataColumnType type;
	StrataColumn column;		/* of rows that it was computed for last */
} TopExpr;

/* All of them; they stand behind the inputs in a row. */
typedef struct TopExprs
{
	int			first;			/* column of the first one in a row, from 0 */
	int			n;
	TopExpr    *exprs;
	int			ninputs;
	int		   *inputs;			/* that they read, from 0 */
	bool		checked;		/* one may raise an error or fail: all are
								 * computed for all rows */
	bool		by_rows;		/* in each row, then in the next: who raises
								 * the first error is not known otherwise */
	int			last;			/* computed last; it may raise an error */
	MemoryContext mcxt;			/* of columns */
	const struct TopRows *rows; /* of the frame that is computed */
} TopExprs;

/* top_expr.c.  The expressions of a plan; NULL: there are none. */
extern TopExprs *strata_top_exprs_create(struct StrataTopState *top,
										 List *tlist, int first);

/* The expression that key k is; NULL: a column, or a distance. */
extern TopExpr *strata_top_key_expr(const struct StrataTopState *top, int k);

/* Are all rows looked at, since keys of any of them may be errors? */
extern bool strata_top_is_checked(const struct StrataTopState *top);

/*
 * Compute expressions from .. to, or all of them if they are checked, for
 * rows of a vector, at least one, ascending (NULL: all of `rows'); what
 * columns held before is gone, if from is 0.
 */
extern void strata_top_exprs_compute(struct StrataTopState *top,
									 const struct TopRows *rows,
									 const uint16 *chosen, int n, int from,
									 int to);

/* Compute them for the row whose inputs are in top->put, behind these. */
extern void strata_top_exprs_of_row(struct StrataTopState *top);

/* Put what was computed for that row of the vector behind top->put's inputs. */
extern void strata_top_exprs_load(struct StrataTopState *top, int row);

#endif							/* STRATA_TOP_EXPR_PRIVATE_H */
