/*-------------------------------------------------------------------------
 *
 * expr_unit_private.h
 *	  For how long functions of time say the same.
 *
 * src/expr/expr_unit_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_EXPR_UNIT_PRIVATE_H
#define STRATA_EXPR_UNIT_PRIVATE_H

#include "postgres.h"

#include "pgtime.h"

/* A part of a time that is all that counts of it. */
typedef enum ExprTimePart
{
	EXPR_PART_NONE,
	EXPR_PART_MINUTE,
	EXPR_PART_HOUR,
	EXPR_PART_DOW,
	EXPR_PART_DAY,
	EXPR_PART_MONTH,
	EXPR_PART_WEEK,
	EXPR_PART_DOY
} ExprTimePart;

/* Ranges of time, and where they start: at multiples of the unit on a clock. */
typedef struct StrataTimeUnit
{
	int64		unit;			/* microseconds; 0: none is known */
	ExprTimePart part;
	bool		zoned;			/* the clock is that of a zone, */
	pg_tz	   *zone;			/* ... NULL: the session's; */
	int64		offset;			/* else so far east of UTC */
} StrataTimeUnit;

#endif							/* STRATA_EXPR_UNIT_PRIVATE_H */
