/*-------------------------------------------------------------------------
 *
 * batch_span.c
 *	  How far the values of a batch's first orderby column reach.
 *
 * Batches lie side by side on the column, mostly, but one that holds late rows
 * may reach over many others: by minima and maxima alone, whoever looks for the
 * batches around a value must look at all to one side of it.  Knowing the
 * widest, one stops at its width.  Kept as the exponent of a power of two, so
 * that few differ, and their index is small.
 *
 * For types that are integers in an order of integers; of others no span is
 * known.
 *
 * src/batch/batch_span.c
 *-------------------------------------------------------------------------
 */
#include "batch/batch.h"

#include "catalog/pg_type.h"
#include "common/int.h"
#include "port/pg_bitutils.h"

/* The value as an integer of the same order; returns its bytes, 0 when the type is none of these. */
static int
span_value(Oid typid, Datum value, int64 *result)
{
	switch (typid)
	{
		case INT2OID:
			*result = DatumGetInt16(value);
			return sizeof(int16);
		case INT4OID:
		case DATEOID:
			*result = DatumGetInt32(value);
			return sizeof(int32);
		case INT8OID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			*result = DatumGetInt64(value);
			return sizeof(int64);
		default:
			return 0;
	}
}

/* See batch.h. */
bool
strata_span_is_known(Oid typid)
{
	int64		value;

	return span_value(typid, (Datum) 0, &value) > 0;
}

/* See batch.h. */
bool
strata_span_of(Oid typid, Datum min, Datum max, int16 *span)
{
	int64		from;
	int64		to;
	uint64		width;

	if (span_value(typid, min, &from) == 0 || span_value(typid, max, &to) == 0)
		return false;
	width = (uint64) to - (uint64) from;
	*span = width <= 1 ? 0 : (int16) (pg_leftmost_one_pos64(width - 1) + 1);
	return true;
}

/* See batch.h. */
bool
strata_span_move(Oid typid, Datum value, int16 span, bool up, Datum *result)
{
	int64		from;
	int64		to;
	int			nbytes = span_value(typid, value, &from);

	if (nbytes == 0 || span < 0 || span > 62)
		return false;
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
