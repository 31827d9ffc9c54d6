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

/* Times in which the offset of a clock is known. */
typedef struct ExprZoneSpan
{
	bool		known;
	int64		from;
	int64		to;
	int64		offset;
} ExprZoneSpan;

/*
 * The offset at ts, in span, which has what was found before; false: it is not
 * known.  range: the times around ts, of which this is true.
 */
extern bool strata_expr_find_offset(const StrataTimeUnit *unit, int64 ts,
									ExprZoneSpan *span);
extern void strata_expr_range(const StrataTimeUnit *unit, int64 ts,
							  ExprZoneSpan *span, int64 *lo, int64 *hi);

/* Is it a call that cuts a time, and by its zone if that changes? */
extern bool strata_expr_is_of_zone(Node *node);

/*
 * expr_times.c: results of an expression of times.  begin: of another frame.
 * find: the entry of a time, -1 if it is to be put, and the range of which its
 * result is true.  put: the result for the time that was not found; values by
 * reference are copied.  number: of an entry among those of the frame, which
 * go to dict.
 */
struct times_hash;

typedef struct ExprTimes
{
	int			n;				/* results */
	uint64	   *values;
	uint8	   *null;
	int			of_null;		/* of no time; 0: not known, else entry + 1 */
	/* private */
	const StrataTimeUnit *unit;
	bool		keep;			/* results hold in the next frame */
	bool		byref;
	int16		typlen;
	MemoryContext owner;
	MemoryContext mcxt;			/* of what is kept; NULL: nothing was yet */
	pg_tz	   *session;		/* the zone that results are of */
	ExprZoneSpan span;
	int			size;
	struct times_hash *places;	/* by where ranges begin; or: */
	int		   *parts;			/* by part; 0: none, else entry + 1 */
	int		   *place;			/* of the time that was not found; NULL: none */
	uint32		frame;
	uint32	   *frames;			/* in which an entry was numbered last, */
	uint32	   *numbers;		/* ... and its number there */
} ExprTimes;

extern ExprTimes *strata_times_create(Node *expr, const StrataTimeUnit *unit,
									  bool byref, int16 typlen);
extern void strata_times_begin(ExprTimes *times);
extern int	strata_times_find(ExprTimes *times, int64 ts, int64 *lo,
							  int64 *hi);
extern int	strata_times_put(ExprTimes *times, uint64 value, bool isnull);
extern uint32 strata_times_number(ExprTimes *times, int entry, Datum *dict,
								  int *ndict);

/* Is it known that a function of a unit's name never raises an error? */
extern bool strata_expr_cuts_time(Node *node);
extern bool strata_expr_is_of_usual_times(Node *node);

#endif							/* STRATA_EXPR_RANGE_PRIVATE_H */
