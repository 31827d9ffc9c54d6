/*-------------------------------------------------------------------------
 *
 * batch_span.c
 *	  How far the values of a batch's first orderby column reach.
 *
 * Batches lie side by side on the column, mostly, but one that holds late rows
 * may reach over many others: by minima and maxima alone, whoever looks for
 * the batches around a value must look at all to one side of it.  Knowing the
 * widest, one stops at its width.  Kept as the exponent of a power of two, so
 * that few differ, and their index is small.
 *
 * For types that are integers in an order of integers; of others no span is
 * known.
 *
 * src/batch/batch_span.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "batch/batch.h"

#include "common/int.h"
#include "port/pg_bitutils.h"

/* See batch.h. */
bool
strata_span_is_known(Oid typid)
{
	return strata_integer_width(typid) > 0;
}

/* See batch.h. */
bool
strata_span_of(Oid typid, Datum min, Datum max, int16 *span)
{
	int			nbytes = strata_integer_width(typid);
	uint64		width;

	if (nbytes == 0)
		return false;
	width = (uint64) strata_datum_integer(max, nbytes) -
		(uint64) strata_datum_integer(min, nbytes);
	*span = width <= 1 ? 0 : (int16) (pg_leftmost_one_pos64(width - 1) + 1);
	return true;
}

/* See batch.h. */
bool
strata_span_move(Oid typid, Datum value, int16 span, bool up, Datum *result)
{
	int			nbytes = strata_integer_width(typid);
	int64		from;
	int64		to;

	if (nbytes == 0 || span < 0 || span > 62)
		return false;
	from = strata_datum_integer(value, nbytes);
	if (up ? pg_add_s64_overflow(from, INT64CONST(1) << span, &to) :
		pg_sub_s64_overflow(from, INT64CONST(1) << span, &to))
		return false;
	switch (nbytes)
	{
		case sizeof(int16):
			*result = Int16GetDatum((int16) to);
			return to == (int16) to;
		case sizeof(int32):
			*result = Int32GetDatum((int32) to);
			return to == (int32) to;
		default:
			*result = Int64GetDatum(to);
			return true;
	}
}
