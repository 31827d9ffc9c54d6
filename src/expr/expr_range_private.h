/*-------------------------------------------------------------------------
 *
 * expr_range_private.h
 *	  Functions of time that say the same for a while.
 *
 * src/expr/expr_range_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_EXPR_RANGE_PRIVATE_H
#define STRATA_EXPR_RANGE_PRIVATE_H

#include "expr/expr_private.h"

/*
 * expr_range.c: for how long can expr not change, if all its Vars are
 * arguments of functions that cut times?
 */
extern StrataTimeUnit strata_expr_unit(Node *expr);

/* The range around ts, of which this is true. */
extern void strata_expr_range(const StrataTimeUnit *unit, int64 ts, int64 *lo,
							  int64 *hi);

/*
 * Ranges of a frame's times that were met, and a row of each.  find: that row,
 * or -1, and the range around ts, which is met from now on, by row i.
 */
#define EXPR_RANGES 256

typedef struct ExprRange
{
	int64		lo;
	int64		hi;
	int			i;
} ExprRange;

typedef struct ExprRanges
{
	const StrataTimeUnit *unit;
	int			nmet;			/* so often none was known */
	bool		aligned;		/* ranges are likely to start at phase */
	int64		phase;
	ExprRange  *ranges;			/* by their numbers; NULL: few were met */
} ExprRanges;

extern int	strata_expr_find_range(ExprRanges *ranges, int64 ts, int i,
								   int64 *lo, int64 *hi);

/* Is it known that a function of a unit's name never raises an error? */
extern bool strata_expr_cuts_time(Node *node);
extern bool strata_expr_is_of_usual_times(Node *node);

#endif							/* STRATA_EXPR_RANGE_PRIVATE_H */
