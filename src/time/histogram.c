/*-------------------------------------------------------------------------
 *
 * histogram.c
 *	  Aggregate histogram(value, min, max, nbuckets): how many values fell
 *	  below min, into each of nbuckets equal parts of [min, max), and above.
 *
 * NULL values do not count; the bounds are those of the first row that counts
 * and must not change.  The part of a value is width_bucket()'s, of smaller
 * numbers in the same proportions where those given would overflow in it.
 *
 * src/time/histogram.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/int.h"
#include "fmgr.h"
#include "libpq/pqformat.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

PG_FUNCTION_INFO_V1(strata_histogram_transition);
PG_FUNCTION_INFO_V1(strata_histogram_combine);
PG_FUNCTION_INFO_V1(strata_histogram_serialize);
PG_FUNCTION_INFO_V1(strata_histogram_deserialize);
PG_FUNCTION_INFO_V1(strata_histogram_final);
PG_FUNCTION_INFO_V1(strata_histogram_add);

/* More makes arrays nobody can want. */
#define MAX_BUCKETS 1000000

typedef struct Histogram
{
	double		min;
	double		max;
	int32		ncounts;		/* buckets and both ends */
	int64		counts[FLEXIBLE_ARRAY_MEMBER];
} Histogram;

static MemoryContext
histogram_context(FunctionCallInfo fcinfo)
{
	MemoryContext mcxt;

	if (!AggCheckCallContext(fcinfo, &mcxt))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("histogram cannot be called outside of an aggregate")));
	return mcxt;
}

static Size
histogram_size(int32 ncounts)
{
	return offsetof(Histogram, counts) + sizeof(int64) * ncounts;
}

/*
 * An empty histogram, with a bucket more at either end; checks what the user
 * gave.
 */
static Histogram *
make_histogram(MemoryContext mcxt, double min, double max, int32 nbuckets)
{
	Histogram  *state;

	if (nbuckets < 1 || nbuckets > MAX_BUCKETS)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("number of buckets must be between 1 and %d",
							   MAX_BUCKETS)));
	if (min >= max)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("lower bound of a histogram must be less than its upper bound")));
	state = MemoryContextAllocZero(mcxt, histogram_size(nbuckets + 2));
	state->ncounts = nbuckets + 2;
	state->min = min;
	state->max = max;
	return state;
}

/* width_bucket(), which raises what is wrong with NaN and infinite bounds. */
static int32
part_of(double value, double min, double max, int32 nbuckets)
{
	/*
	 * (max - min) * nbuckets may be infinite, of which PostgreSQL 15 makes
	 * any integer
	 */
	int			scale = max - min > 1e290 ? -64 : 0;

	return DatumGetInt32(DirectFunctionCall4(width_bucket_float8,
											 Float8GetDatum(ldexp(value,
																  scale)),
											 Float8GetDatum(ldexp(min, scale)),
											 Float8GetDatum(ldexp(max, scale)),
											 Int32GetDatum(nbuckets)));
}

/* histogram(value, min, max, nbuckets): count a value; NULLs are left out. */
Datum
strata_histogram_transition(PG_FUNCTION_ARGS)
{
	MemoryContext mcxt = histogram_context(fcinfo);
	Histogram  *state;
	int32		part;

	state = PG_ARGISNULL(0) ? NULL : (Histogram *) PG_GETARG_POINTER(0);
	if (PG_ARGISNULL(1))
	{
		if (state == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(state);
	}
	if (PG_ARGISNULL(2) || PG_ARGISNULL(3) || PG_ARGISNULL(4))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("bounds and number of buckets of a histogram cannot be null")));
	part = part_of(PG_GETARG_FLOAT8(1), PG_GETARG_FLOAT8(2),
				   PG_GETARG_FLOAT8(3), PG_GETARG_INT32(4));
	if (state == NULL)
		state = make_histogram(mcxt, PG_GETARG_FLOAT8(2), PG_GETARG_FLOAT8(3),
							   PG_GETARG_INT32(4));
	else if (state->ncounts != (int64) PG_GETARG_INT32(4) + 2 ||
			 state->min != PG_GETARG_FLOAT8(2) ||
			 state->max != PG_GETARG_FLOAT8(3))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bounds and number of buckets must not change between rows of a histogram")));
	if (part < 0 || part >= state->ncounts)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value of a histogram out of range")));
	state->counts[part]++;
	PG_RETURN_POINTER(state);
}

/* Combine two states: the counts of both, which must have the same buckets. */
Datum
strata_histogram_combine(PG_FUNCTION_ARGS)
{
	MemoryContext mcxt = histogram_context(fcinfo);
	Histogram  *state;
	Histogram  *other;

	state = PG_ARGISNULL(0) ? NULL : (Histogram *) PG_GETARG_POINTER(0);
	other = PG_ARGISNULL(1) ? NULL : (Histogram *) PG_GETARG_POINTER(1);
	if (other == NULL)
	{
		if (state == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(state);
	}
	if (state == NULL)
		state = make_histogram(mcxt, other->min, other->max,
							   other->ncounts - 2);
	if (state->ncounts != other->ncounts || state->min != other->min ||
		state->max != other->max)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bounds and number of buckets must not change between rows of a histogram")));
	for (int i = 0; i < state->ncounts; i++)
		state->counts[i] += other->counts[i];
	PG_RETURN_POINTER(state);
}

Datum
strata_histogram_serialize(PG_FUNCTION_ARGS)
{
	Histogram  *state = (Histogram *) PG_GETARG_POINTER(0);
	StringInfoData buf;

	(void) histogram_context(fcinfo);
	pq_begintypsend(&buf);
	pq_sendint32(&buf, state->ncounts);
	pq_sendfloat8(&buf, state->min);
	pq_sendfloat8(&buf, state->max);
	for (int i = 0; i < state->ncounts; i++)
		pq_sendint64(&buf, state->counts[i]);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

/* A state from the bytes of strata_histogram_serialize(). */
Datum
strata_histogram_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	StringInfoData buf;
	Histogram  *state;
	int32		ncounts;
	double		min,
				max;

	(void) histogram_context(fcinfo);
	initStringInfo(&buf);
	appendBinaryStringInfo(&buf, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
	ncounts = pq_getmsgint(&buf, 4);
	min = pq_getmsgfloat8(&buf);
	max = pq_getmsgfloat8(&buf);
	state = make_histogram(CurrentMemoryContext, min, max, ncounts - 2);
	for (int i = 0; i < ncounts; i++)
		state->counts[i] = pq_getmsgint64(&buf);
	pq_getmsgend(&buf);
	pfree(buf.data);
	PG_RETURN_POINTER(state);
}

/* int4[]: what TimescaleDB gives.  The state itself is not touched. */
Datum
strata_histogram_final(PG_FUNCTION_ARGS)
{
	Histogram  *state;
	Datum	   *counts;

	state = PG_ARGISNULL(0) ? NULL : (Histogram *) PG_GETARG_POINTER(0);
	(void) histogram_context(fcinfo);
	if (state == NULL)
		PG_RETURN_NULL();
	counts = palloc(sizeof(Datum) * state->ncounts);
	for (int i = 0; i < state->ncounts; i++)
	{
		if (state->counts[i] > PG_INT32_MAX)
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("integer out of range")));
		counts[i] = Int32GetDatum((int32) state->counts[i]);
	}
	PG_RETURN_ARRAYTYPE_P(construct_array(counts, state->ncounts, INT4OID, 4,
										  true, TYPALIGN_INT));
}

/* histogram_add(counts, counts): of histograms with the same buckets. */
Datum
strata_histogram_add(PG_FUNCTION_ARGS)
{
	ArrayType  *a = PG_GETARG_ARRAYTYPE_P_COPY(0);
	ArrayType  *b = PG_GETARG_ARRAYTYPE_P(1);
	int			n = ArrayGetNItems(ARR_NDIM(a), ARR_DIMS(a));
	int32	   *sum = (int32 *) ARR_DATA_PTR(a);
	const int32 *more = (const int32 *) ARR_DATA_PTR(b);

	if (n != ArrayGetNItems(ARR_NDIM(b), ARR_DIMS(b)) || ARR_HASNULL(a) ||
		ARR_HASNULL(b))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("histograms to be added must have the same buckets")));
	Assert(ARR_ELEMTYPE(b) == INT4OID); /* time:U4 */
	for (int i = 0; i < n; i++)
	{
		if (pg_add_s32_overflow(sum[i], more[i], &sum[i]))
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("integer out of range")));
	}
	PG_RETURN_ARRAYTYPE_P(a);
}
