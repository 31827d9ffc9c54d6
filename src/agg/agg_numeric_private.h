/*-------------------------------------------------------------------------
 *
 * agg_numeric_private.h
 *	  Sums of numerics as integers, used only where there are integers of 128
 *	  bits; and the best of them.
 *
 * src/agg/agg_numeric_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_AGG_NUMERIC_PRIVATE_H
#define STRATA_AGG_NUMERIC_PRIVATE_H

#include "agg/agg_private.h"

#ifdef HAVE_INT128
typedef int128 AggWide;
typedef uint128 AggUnsignedWide;
#else
typedef int64 AggWide;
typedef uint64 AggUnsignedWide;
#endif

/* A sum of numerics, in the groups' memory. */
typedef struct AggNumericSum
{
	AggWide		sum;			/* of values, times 10^scale */
	AggCell    *rest;			/* state of PostgreSQL's functions for all
								 * other values; NULL: there are none */
	uint8		scale;
	uint8		display;		/* the most decimals that one of them is shown
								 * with */
	bool		any;			/* has values */
} AggNumericSum;

/* agg_kernel.c: the int64 of a run that count. */
#ifdef HAVE_INT128
extern int128 strata_agg_sum_int128(const AggRun *run);
#endif

/* value / 10^scale, in the current context. */
extern Datum strata_agg_wide_numeric(AggWide value, unsigned scale);

/* The sum with its decimals, in the current context. */
extern Datum strata_agg_numeric_value(const AggNumericSum *sum);

/* Can values of a scale be added to the sum? */
extern bool strata_agg_numeric_has_room(const AggNumericSum *sum,
										unsigned scale);

/*
 * Bring two sums to the larger of their scales; false: one is too large for
 * that, and must not be used.
 */
extern bool strata_agg_numeric_align(int64 *a, unsigned a_scale, int64 *b,
									 unsigned *b_scale);

/*
 * Add a run of int64 of a scale, each shown with so many decimals; returns how
 * many there were.
 */
extern int	strata_agg_numeric_run(AggNumericSum *sum, const AggRun *run,
								   unsigned scale, const uint8 *displays);

/* Add a sum that there is room for. */
extern void strata_agg_numeric_combine(AggNumericSum *sum,
									   const AggNumericSum *other);

/*
 * Of a run of int64 the place of the greatest or least, the last of equal
 * ones, as numeric_larger() and numeric_smaller() take it, and how many count;
 * -1: none does.
 */
extern int	strata_agg_numeric_best(const AggRun *run, bool greatest,
									int *count);

/* integer / 10^scale with its decimals, in the current context. */
extern Datum strata_agg_integer_numeric(int64 integer, unsigned scale,
										unsigned display);

/* agg_generic.c: does it take runs of integers? */
extern bool strata_agg_generic_takes_scaled(const AggGeneric *generic);

/* agg_generic.c: each value of a run into a cell of its own, at behind cells[i]. */
extern void strata_agg_generic_rows_scaled(AggGeneric *generic,
										   AggCell *const *cells, int at,
										   const AggRun *run, unsigned scale,
										   const uint8 *displays);

/*
 * The selected rows' numerics as integers / 10^*scale, of rows from *from on,
 * and with how many decimals each row's is shown; NULL: one has too many
 * digits.  Memory: the current context.
 */
extern const int64 *strata_agg_numeric_integers(const AggVector *vector,
												const StrataColumn *col,
												int *from, unsigned *scale,
												const uint8 **displays);

#endif							/* STRATA_AGG_NUMERIC_PRIVATE_H */
