/*-------------------------------------------------------------------------
 *
 * agg_numeric.c
 *	  Sums of numerics that batches hold as integers.
 *
 * The values of a batch's numeric column are integers of one scale, v /
 * 10^scale. They are added up as such, in 128 bits; the numeric is made at the
 * end.  Values of another form (from the row store, too large, NaN) and sums
 * of another scale go to the state of PostgreSQL's functions, which stands
 * beside the sum (agg_generic.c); the result adds both.
 *
 * The decimals that a sum is shown with are the most that one of its values is
 * shown with, as in PostgreSQL's own sum().
 *
 * src/agg/agg_numeric.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_numeric_private.h"

#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

/*
 * Of two sums of less than this size the sum fits, and so do 2^60 more values
 * of 64 bits.
 */
#define ROOM ((AggWide) 1 << (8 * sizeof(AggWide) - 3))

/* See agg_numeric_private.h. */
Datum
strata_agg_wide_numeric(AggWide value, unsigned scale)
{
	AggUnsignedWide u;
	char		digits[40];		/* 2^128 has 39 */
	char	   *p = digits + sizeof(digits);
	char	   *text;

	u = value < 0 ? -(AggUnsignedWide) value : (AggUnsignedWide) value;
	if (scale == 0 && value == (int64) value)
		return NumericGetDatum(int64_to_numeric((int64) value));
	*--p = '\0';
	do
		*--p = (char) ('0' + (int) (u % 10));
	while ((u /= 10) != 0);
	text = psprintf("%s%se-%u", value < 0 ? "-" : "", p, scale);
	return DirectFunctionCall3(numeric_in, CStringGetDatum(text),
							   ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}

/* See agg_numeric_private.h. */
Datum
strata_agg_numeric_value(const AggNumericSum *sum)
{
	return DirectFunctionCall2(numeric_round,
							   strata_agg_wide_numeric(sum->sum, sum->scale),
							   Int32GetDatum((int32) sum->display));
}

/* See agg_numeric_private.h. */
bool
strata_agg_numeric_has_room(const AggNumericSum *sum, unsigned scale)
{
	return sum->n == 0 ||
		(sum->scale == scale && sum->sum < ROOM && sum->sum > -ROOM);
}

/* See agg_numeric_private.h. */
int
strata_agg_numeric_run(AggNumericSum *sum, const AggRun *run, unsigned scale,
					   const uint8 *displays)
{
	const int64 *v = run->v;
	AggWide		s = 0;
	uint8		display = 0;
	int			n = 0;

	Assert(strata_agg_numeric_has_room(sum, scale));	/* agg:G18 */
	if (run->valid == NULL)
	{
		for (int i = 0; i < run->n; i++)
			s += v[i];
		for (int i = 0; i < run->n; i++)
			display = Max(display, displays[i]);
		n = run->n;
	}
	else
		for (int i = 0; i < run->n; i++)
			if (run->valid[i])
			{
				s += v[i];
				display = Max(display, displays[i]);
				n++;
			}
	sum->sum += s;
	sum->n += n;
	sum->scale = scale;
	sum->display = Max(sum->display, display);
	return n;
}

/* See agg_numeric_private.h. */
void
strata_agg_numeric_combine(AggNumericSum *sum, const AggNumericSum *other)
{
	Assert(strata_agg_numeric_has_room(sum, other->scale)); /* agg:G18 */
	sum->sum += other->sum;
	sum->n += other->n;
	sum->scale = other->scale;
	sum->display = Max(sum->display, other->display);
}
