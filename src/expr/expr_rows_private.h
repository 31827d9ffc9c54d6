/*-------------------------------------------------------------------------
 *
 * expr_rows_private.h
 *	  Rows of a frame that a condition has not decided yet.
 *
 * src/expr/expr_rows_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_EXPR_ROWS_PRIVATE_H
#define STRATA_EXPR_ROWS_PRIVATE_H

#include "expr/expr_private.h"

/* Rows of a frame that are still to be decided, and where they are in it. */
typedef struct ExprPart
{
	StrataExprFrame frame;
	uint16	   *rows;
	uint16	   *places;
} ExprPart;

static inline void
expr_init_part(ExprPart *part, int n)
{
	part->rows = palloc(sizeof(uint16) * n);
	part->places = palloc(sizeof(uint16) * n);
	part->frame.n = 0;
	part->frame.rows = part->rows;
	part->frame.first = 0;
}

static inline void
expr_take_all(ExprPart *part, const StrataExprFrame *frame)
{
	int			n = frame->n;

	expr_init_part(part, n);
	for (int i = 0; i < n; i++)
		part->rows[i] = (uint16) expr_row(frame, i);
	for (int i = 0; i < n; i++)
		part->places[i] = (uint16) i;
	part->frame.n = n;
}

/*
 * Rows for which the condition holds are hits, the others stay.  Which they
 * are is any, so that nothing here depends on it but where a row is written.
 */
static inline void
expr_divide(ExprPart *part, ExprPart *hits, const uint8 *truth)
{
	int			nhits = 0;
	int			nleft = 0;

	for (int i = 0; i < part->frame.n; i++)
	{
		uint16		row = part->rows[i];
		uint16		place = part->places[i];
		int			hit = truth[i];

		hits->rows[nhits] = row;
		hits->places[nhits] = place;
		nhits += hit;
		part->rows[nleft] = row;
		part->places[nleft] = place;
		nleft += !hit;
	}
	Assert(nhits + nleft == part->frame.n); /* expr:E1 */
	hits->frame.n = nhits;
	part->frame.n = nleft;
}

/* Rows of the part are those of the frame as long as all are left. */
static inline const StrataExprFrame *
expr_frame_of_part(const ExprPart *part, const StrataExprFrame *frame)
{
	Assert(part->frame.n <= frame->n);	/* expr:E1 */
	return part->frame.n == frame->n ? frame : &part->frame;
}

#endif							/* STRATA_EXPR_ROWS_PRIVATE_H */
