/*-------------------------------------------------------------------------
 *
 * agg_percentile.c
 *	  percentile_cont, percentile_disc and mode of integers, times and floats
 *	  that are held in memory.
 *
 * Values become 64 bit integers that are in the same order.  A percentile is
 * looked for by parting them, not by sorting all.
 *
 * src/agg/agg_percentile.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_hold_private.h"

#include <math.h>

#include "catalog/pg_aggregate.h"
#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#define ST_SORT sort_integers
#define ST_ELEMENT_TYPE int64
#define ST_COMPARE(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#define ST_DECLARE
#include "lib/sort_template.h"

/* The one column's sort operator is the less or the greater of its type. */
static bool
is_plain_order(const Aggref *aggref, bool *descending)
{
	SortGroupClause *clause = linitial_node(SortGroupClause,
											aggref->aggorder);
	Oid			type = exprType((Node *) linitial_node(TargetEntry,
													   aggref->args)->expr);
	TypeCacheEntry *typcache = lookup_type_cache(type, TYPECACHE_LT_OPR |
												 TYPECACHE_GT_OPR);

	*descending = clause->sortop == typcache->gt_opr;
	return *descending || clause->sortop == typcache->lt_opr;
}

/* See agg_hold_private.h. */
bool
strata_agg_percentile_can(const AggHold *hold, const Aggref *aggref)
{
	bool		descending;
	Oid			type;

	if (aggref->aggkind != AGGKIND_ORDERED_SET || hold->ncolumns != 1 ||
		hold->nargs != 1 || list_length(aggref->aggorder) != 1 ||
		!is_plain_order(aggref, &descending))
		return false;
	type = getBaseType(exprType((Node *) linitial_node(TargetEntry,
													   aggref->args)->expr));
	if (aggref->aggfnoid == F_PERCENTILE_CONT_FLOAT8_FLOAT8)
		return type == FLOAT8OID;
	return (aggref->aggfnoid == F_PERCENTILE_DISC_FLOAT8_ANYELEMENT ||
			aggref->aggfnoid == F_MODE) &&
		(type == FLOAT8OID || type == FLOAT4OID ||
		 strata_agg_is_time_type(type));
}

/* A float as an integer in the same order; NaN, any of them, is greatest. */
static inline int64
integer_of_float(float8 value)
{
	int64		bits;

	if (isnan(value))
		return PG_INT64_MAX;
	memcpy(&bits, &value, sizeof(bits));
	return bits ^ ((bits >> 63) & PG_INT64_MAX);
}

static inline float8
float_of_integer(int64 bits)
{
	float8		value;

	if (bits == PG_INT64_MAX)
		return get_float8_nan();
	bits ^= (bits >> 63) & PG_INT64_MAX;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* What values are, beside numbers. */
typedef struct Numbers
{
	Oid			type;
	int			width;
	bool		descending;
	int64		n;
	int64	   *v;				/* ascending in the order that is wanted */
} Numbers;

/* The rows' values; memory: the current context. */
static void
load_numbers(const HeldRows *rows, const Aggref *aggref, Numbers *numbers)
{
	Expr	   *arg = linitial_node(TargetEntry, aggref->args)->expr;
	const Datum *from = rows->v;
	int64		flip;

	numbers->type = getBaseType(exprType((Node *) arg));
	numbers->width = get_typlen(numbers->type);
	is_plain_order(aggref, &numbers->descending);
	flip = numbers->descending ? -1 : 0;
	numbers->n = rows->n;
	numbers->v = MemoryContextAllocHuge(CurrentMemoryContext,
										sizeof(int64) * rows->n);
	if (numbers->type == FLOAT8OID)
		for (int64 i = 0; i < rows->n; i++)
			numbers->v[i] = flip ^ integer_of_float(DatumGetFloat8(from[i]));
	else if (numbers->type == FLOAT4OID)
		for (int64 i = 0; i < rows->n; i++)
			numbers->v[i] = flip ^
				integer_of_float((float8) DatumGetFloat4(from[i]));
	else
		for (int64 i = 0; i < rows->n; i++)
			numbers->v[i] = flip ^ strata_datum_integer(from[i],
														numbers->width);
}

static float8
float_at(const Numbers *numbers, int64 i)
{
	return float_of_integer(numbers->descending ? ~numbers->v[i] :
							numbers->v[i]);
}

/* The value in its type. */
static Datum
value_of_place(const Numbers *numbers, int64 i)
{
	int64		v = numbers->descending ? ~numbers->v[i] : numbers->v[i];

	if (numbers->type == FLOAT8OID)
		return Float8GetDatum(float_of_integer(v));
	if (numbers->type == FLOAT4OID)
		return Float4GetDatum((float4) float_of_integer(v));
	switch (numbers->width)
	{
		case 2:
			return Int16GetDatum((int16) v);
		case 4:
			return Int32GetDatum((int32) v);
		default:
			return Int64GetDatum(v);
	}
}

/*
 * Bring the k-th least value to its place among n, those before it being no
 * greater, and those behind it no less.
 */
static void
part(int64 *v, int64 n, int64 k)
{
	int64		left = 0;
	int64		right = n - 1;
	int			rounds = 0;

	while (right - left > 16)
	{
		int64		mid = left + (right - left) / 2;
		int64		i = left;
		int64		j = right;
		int64		a = v[left];
		int64		b = v[mid];
		int64		c = v[right];
		int64		pivot;

		CHECK_FOR_INTERRUPTS();
		/* unlucky pivots: sort what is left */
		if (++rounds > 64)
			break;
		pivot = Max(Min(a, b), Min(Max(a, b), c));
		while (i <= j)
		{
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i <= j)
			{
				int64		swap = v[i];

				v[i++] = v[j];
				v[j--] = swap;
			}
		}
		if (k <= j)
			right = j;
		else if (k >= i)
			left = i;
		else
			return;
	}
	sort_integers(v + left, (size_t) (right - left + 1));
}

/* Between two values. */
static Datum
continuous(Numbers *numbers, float8 fraction)
{
	float8		place = fraction * (float8) (numbers->n - 1);
	int64		first = (int64) floor(place);
	int64		second = (int64) ceil(place);
	float8		low;
	float8		high;

	part(numbers->v, numbers->n, first);
	low = float_at(numbers, first);
	if (first == second)
		return Float8GetDatum(low);
	/* the least of those behind it */
	for (int64 i = second + 1; i < numbers->n; i++)
		if (numbers->v[i] < numbers->v[second])
			numbers->v[second] = numbers->v[i];
	high = float_at(numbers, second);
	return Float8GetDatum(low + (place - (float8) first) * (high - low));
}

/* One of the values. */
static Datum
discrete(Numbers *numbers, float8 fraction)
{
	int64		place = (int64) ceil(fraction * (float8) numbers->n);
	int64		k = Max(place, 1) - 1;

	part(numbers->v, numbers->n, k);
	return value_of_place(numbers, k);
}

/* The first of the values that are there most often. */
static Datum
most_frequent(Numbers *numbers)
{
	bool		floats = numbers->type == FLOAT8OID ||
	numbers->type == FLOAT4OID;
	int64		best = 0;
	int64		best_n = 0;
	int64		start = 0;

	sort_integers(numbers->v, (size_t) numbers->n);
	for (int64 i = 1; i <= numbers->n; i++)
	{
		/* of 0 and -0 the numbers differ */
		if (i < numbers->n &&
			(numbers->v[i] == numbers->v[start] ||
			 (floats && float_at(numbers, i) == float_at(numbers, start))))
			continue;
		if (i - start > best_n)
		{
			best = start;
			best_n = i - start;
		}
		start = i;
	}
	return value_of_place(numbers, best);
}

/* See agg_hold_private.h.  Checks are those of PostgreSQL, in its order. */
Datum
strata_agg_percentile_result(const AggHold *hold, const Aggref *aggref,
							 const HeldRows *rows, Datum fraction,
							 bool fraction_null, bool *isnull)
{
	Numbers		numbers;
	Datum		result;
	float8		p = 0;

	*isnull = true;
	if (aggref->aggfnoid != F_MODE)
	{
		if (fraction_null)
			return (Datum) 0;
		p = DatumGetFloat8(fraction);
		if (p < 0 || p > 1 || isnan(p))
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("percentile value %g is not between 0 and 1",
							p)));
	}
	if (rows == NULL || rows->n == 0)
		return (Datum) 0;
	Assert(hold->skips_null && rows->isnull == NULL);	/* agg:G21 */
	*isnull = false;
	load_numbers(rows, aggref, &numbers);
	if (aggref->aggfnoid == F_MODE)
		result = most_frequent(&numbers);
	else if (aggref->aggfnoid == F_PERCENTILE_CONT_FLOAT8_FLOAT8)
		result = continuous(&numbers, p);
	else
		result = discrete(&numbers, p);
	pfree(numbers.v);
	return result;
}
