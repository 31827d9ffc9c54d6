/*-------------------------------------------------------------------------
 *
 * gapfill_fill.c
 *	  locf and interpolate: the values of one column for empty buckets.
 *
 * What a query's own rows say comes first; the lookup expressions are asked
 * once per group at most, and only where an empty bucket has no row of the
 * group before (prev) or after (next) it.  A row with a NULL is a row: it is
 * carried, and what lies beside it is not interpolated.
 *
 * src/gapfill/gapfill_fill.c
 *-------------------------------------------------------------------------
 */
#include "gapfill/gapfill_private.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* A value at a time. */
typedef struct Sample
{
	bool		known;			/* by a row, or because it was looked up */
	bool		isnull;
	int64		time;
	Datum		value;
} Sample;

struct GapfillFill
{
	GapfillFunction function;
	Oid			type;
	Oid			time_type;
	int16		typlen;
	bool		typbyval;
	ExprState  *value;
	ExprState  *prev;			/* NULL: no such argument */
	ExprState  *next;			/* interpolate */
	ExprState  *missing;		/* locf: treat_null_as_missing */
	bool		null_is_missing;

	NullableDatum ahead;		/* value of the row that comes next */
	Sample		before;			/* locf: what is carried */
	bool		carries_row;	/* a row of the group has been seen */
	Sample		after;			/* interpolate: looked up */
};

/* An argument, unless it is the constant NULL. */
static ExprState *
optional(Expr *expr, PlanState *parent)
{
	return IsA(expr, Const) && ((Const *) expr)->constisnull ?
		NULL :
		ExecInitExpr(expr, parent);
}

/* See gapfill_private.h. */
GapfillFill *
strata_gapfill_fill_create(GapfillFunction function, Oid type, Oid time_type,
						   List *args, PlanState *parent)
{
	GapfillFill *fill = palloc0(sizeof(GapfillFill));

	fill->function = function;
	fill->type = type;
	fill->time_type = time_type;
	get_typlenbyval(type, &fill->typlen, &fill->typbyval);
	fill->value = ExecInitExpr(linitial(args), parent);
	fill->prev = optional(lsecond(args), parent);
	if (function == GAPFILL_LOCF)
		fill->missing = ExecInitExpr(lthird(args), parent);
	else
		fill->next = optional(lthird(args), parent);
	return fill;
}

/* A scan begins. */
void
strata_gapfill_fill_begin(GapfillFill *fill, ExprContext *context)
{
	bool		isnull;

	if (fill->missing == NULL)
		return;
	fill->null_is_missing = DatumGetBool(ExecEvalExpr(fill->missing, context,
													  &isnull));
	if (isnull)
		fill->null_is_missing = false;
}

/* A group begins. */
void
strata_gapfill_fill_group(GapfillFill *fill)
{
	memset(&fill->before, 0, sizeof(Sample));
	memset(&fill->after, 0, sizeof(Sample));
	fill->before.isnull = fill->after.isnull = true;
	fill->carries_row = false;
}

/* See gapfill_private.h. */
void
strata_gapfill_fill_ahead(GapfillFill *fill, ExprContext *context)
{
	fill->ahead.value = ExecEvalExpr(fill->value, context,
									 &fill->ahead.isnull);
}

static NullableDatum
sample_value(const Sample *sample)
{
	NullableDatum result = {.value = sample->value,.isnull = sample->isnull};

	return result;
}

/*-------------------------------------------------------------------------
 * locf
 *-------------------------------------------------------------------------
 */

static void
carry(GapfillFill *fill, NullableDatum value, MemoryContext group)
{
	MemoryContext old = MemoryContextSwitchTo(group);
	Datum		former = fill->before.value;
	bool		had = !fill->before.isnull;

	fill->before.isnull = value.isnull;
	fill->before.value = value.isnull ? (Datum) 0 :
		datumCopy(value.value, fill->typbyval,
				  fill->typlen);
	if (had && !fill->typbyval)
		pfree(DatumGetPointer(former));
	MemoryContextSwitchTo(old);
}

/* The value carried here, looked up when no row has one. */
static NullableDatum
carried(GapfillFill *fill, ExprContext *context, MemoryContext group)
{
	if (!fill->carries_row && fill->prev != NULL && !fill->before.known)
	{
		NullableDatum value;

		Assert(fill->before
			   .isnull);		/* gapfill:F4: no row of the group has
								 * answered */
		value.value = ExecEvalExprSwitchContext(fill->prev, context,
												&value.isnull);
		fill->before.known = true;
		carry(fill, value, group);
	}
	return sample_value(&fill->before);
}

/*-------------------------------------------------------------------------
 * interpolate
 *-------------------------------------------------------------------------
 */

/* Ask a lookup expression, which returns (time, value). */
static void
look_up_fill(GapfillFill *fill, ExprState *expr, ExprContext *context,
			 Sample *sample)
{
	bool		isnull;
	Datum		record;
	HeapTupleHeader header;
	HeapTupleData tuple;
	TupleDesc	desc;
	Datum		values[2];
	bool		nulls[2];

	Assert(!sample->known);		/* gapfill:F4 */
	sample->known = true;
	sample->isnull = true;
	if (expr == NULL)
		return;
	record = ExecEvalExprSwitchContext(expr, context, &isnull);
	if (isnull)
		return;
	header = DatumGetHeapTupleHeader(record);
	desc = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(header),
								  HeapTupleHeaderGetTypMod(header));
	if (desc->natts != 2)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("interpolate RECORD arguments must have 2 elements")));
	if (TupleDescAttr(desc, 0)->atttypid != fill->time_type)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("first argument of interpolate returned record must match used timestamp datatype"),
				 errdetail("Returned type %s does not match expected type %s.",
						   format_type_be(TupleDescAttr(desc, 0)->atttypid),
						   format_type_be(fill->time_type))));
	if (TupleDescAttr(desc, 1)->atttypid != fill->type)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("second argument of interpolate returned record must match used interpolate datatype"),
				 errdetail("Returned type %s does not match expected type %s.",
						   format_type_be(TupleDescAttr(desc, 1)->atttypid),
						   format_type_be(fill->type))));
	tuple.t_len = HeapTupleHeaderGetDatumLength(header);
	ItemPointerSetInvalid(&tuple.t_self);
	tuple.t_tableOid = InvalidOid;
	tuple.t_data = header;
	heap_deform_tuple(&tuple, desc, values, nulls);
	ReleaseTupleDesc(desc);
	if (nulls[0] || nulls[1])
		return;
	sample->isnull = false;
	sample->time = strata_bucket_get(fill->time_type, values[0]);
	sample->value = values[1];
}

/*
 * As the weighted mean of the two; integers are computed exactly and rounded,
 * halves away from zero.
 */
static Datum
interpolated(const GapfillFill *fill, const Sample *before,
			 const Sample *after, int64 time)
{
	int128		left = (int128) time - before->time;
	int128		right = (int128) after->time - time;
	double		y0,
				y1,
				y;

	if (left + right == 0)
		return before->value;
	if (fill->type == FLOAT4OID || fill->type == FLOAT8OID)
	{
		y0 = fill->type == FLOAT4OID ? DatumGetFloat4(before->value) :
			DatumGetFloat8(before->value);
		y1 = fill->type == FLOAT4OID ? DatumGetFloat4(after->value) :
			DatumGetFloat8(after->value);
		y = y0 + (y1 - y0) * ((double) left / (double) (left + right));
		if (isinf(y1 - y0) && !isinf(y0) && !isinf(y1))
			y = y0 * ((double) right / (double) (left + right)) +
				y1 * ((double) left / (double) (left + right));
		return fill->type == FLOAT4OID ? Float4GetDatum((float4) y) :
			Float8GetDatum(y);
	}
	else
	{
		int64		from = strata_bucket_get(fill->type, before->value);
		int64		to = strata_bucket_get(fill->type, after->value);
		int128		sum = from * right + to * left;
		int128		length = left + right;
		int128		rest = sum % length;
		int128		result = sum / length;

		if ((rest < 0 ? -rest : rest) >= length - (rest < 0 ? -rest : rest))
			result += rest < 0 ? -1 : 1;
		if (result != (int64) result ||
			(fill->type == INT4OID && result != (int32) result) ||
			(fill->type == INT2OID && result != (int16) result))
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("%s out of range", format_type_be(fill->type)),
					 errdetail("The times that interpolate looked up do not surround the bucket.")));
		return strata_bucket_datum(fill->type, (int64) result);
	}
}

/*-------------------------------------------------------------------------
 * Rows and gaps
 *-------------------------------------------------------------------------
 */

/* See gapfill_private.h. */
NullableDatum
strata_gapfill_fill_row(GapfillFill *fill, ExprContext *context,
						const int64 *time, MemoryContext group)
{
	NullableDatum value = fill->ahead;

	if (fill->function == GAPFILL_INTERPOLATE)
	{
		if (time != NULL)
		{
			fill->before.known = true;
			fill->before.isnull = value.isnull;
			fill->before.time = *time;
			fill->before.value = value.value;
		}
		return value;
	}
	if (value.isnull && fill->null_is_missing)
		return carried(fill, context, group);
	carry(fill, value, group);
	fill->carries_row = true;
	return value;
}

/* See gapfill_private.h. */
NullableDatum
strata_gapfill_fill_gap(GapfillFill *fill, ExprContext *context, int64 time,
						const int64 *ahead, MemoryContext group)
{
	Sample		after;
	NullableDatum result = {.isnull = true};

	Assert(ahead == NULL || *ahead > time); /* gapfill:F2 */
	if (fill->function == GAPFILL_LOCF)
		return carried(fill, context, group);

	if (!fill->before.known)
		look_up_fill(fill, fill->prev, context, &fill->before);
	if (ahead != NULL)
	{
		after.isnull = fill->ahead.isnull;
		after.time = *ahead;
		after.value = fill->ahead.value;
	}
	else
	{
		if (!fill->after.known)
			look_up_fill(fill, fill->next, context, &fill->after);
		after = fill->after;
	}
	if (!fill->before.isnull && !after.isnull)
	{
		result.value = interpolated(fill, &fill->before, &after, time);
		result.isnull = false;
	}
	return result;
}
