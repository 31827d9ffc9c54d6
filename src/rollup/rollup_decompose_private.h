/*-------------------------------------------------------------------------
 *
 * rollup_decompose_private.h
 *	  How an aggregate is kept, and what it is then made of.
 *
 * src/rollup/rollup_decompose_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_ROLLUP_DECOMPOSE_PRIVATE_H
#define STRATA_ROLLUP_DECOMPOSE_PRIVATE_H

#include "postgres.h"

#include "nodes/primnodes.h"

/* How an aggregate is kept; *combine: see rollup.h. */
typedef enum StrataDecomposition
{
	KEEP_VALUE,					/* its value, which does not combine */
	KEEP_COMBINED,				/* its value, combined by `combine` */
	KEEP_AVERAGE,				/* sum and count */
	KEEP_DEVIATION,				/* sum and count, and the sum of squares */
	KEEP_STATE,					/* the transition state */
	KEEP_PICK					/* its value, and the least or greatest time */
} StrataDecomposition;

extern StrataDecomposition strata_rollup_decompose(const Aggref *aggref,
												   Oid *combine);

/*
 * What it is made of: sum and count of an average, and of a deviation of
 * integers or numerics; the sum of squares of that, and its value by all
 * three; the state of a deviation of floats or of a regression, and what
 * combines that; the time of what first() or last() picks.  Is it one of
 * these two?
 */
extern void strata_rollup_average_partials(const Aggref *aggref, Aggref **sum,
										   Aggref **count);
extern Aggref *strata_rollup_squares_partial(const Aggref *aggref);
extern Expr *strata_rollup_deviation_value(const Aggref *aggref, Expr *sum,
										   Expr *count, Expr *squares);
extern Aggref *strata_rollup_state_partial(const Aggref *aggref);
extern Oid	strata_rollup_state_combine(const Aggref *aggref);
extern Aggref *strata_rollup_picked_time(const Aggref *aggref);
extern bool strata_rollup_picks(const Aggref *aggref);

/* An aggregate of one argument. */
extern Aggref *strata_rollup_make_aggref(Oid aggregate, Expr *arg,
										 Expr *filter, Oid collation);

#endif							/* STRATA_ROLLUP_DECOMPOSE_PRIVATE_H */
