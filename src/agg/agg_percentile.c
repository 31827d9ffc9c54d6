/*-------------------------------------------------------------------------
 *
 * agg_percentile.c
 *	  percentile_cont, percentile_disc and mode of integers, times and floats.
 *
 * Values are held as 64 bit integers that ascend in the order that is wanted,
 * once for all such aggregates of the same values.  The places that any of
 * these asks for are looked for together (agg_rank.c).
 *
 * src/agg/agg_percentile.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_hold_private.h"

#include <math.h>

#include "catalog/pg_aggregate.h"
#include "catalog/pg_type_d.h"
#include "lib/qunique.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* What values are, beside numbers. */
struct AggNumbers
{
	Oid			type;			/* of the argument */
	Oid			base;			/* the same, but of a domain */
	int16		width;
	char		align;
	int64		flip;			/* -1: the order descends */
};

/* Places that are asked for. */
struct HeldPlaces
{
	int			n;
	int			space;
	int64	   *ranks;			/* once chosen, ascending and different */
	int64	   *numbers;		/* there; NULL: not chosen yet */
};

/* Is the one column's sort operator the less or the greater of its type? */
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

/*
 * See agg_hold_private.h.  Only percentiles and modes leave nulls out; of
 * those types percentile_cont is the one for float8.
 */
AggNumbers *
strata_agg_percentile_init(const AggHold *hold)
{
	const Aggref *aggref = hold->aggref;
	AggNumbers *numbers;
	bool		descending;
	Oid			type;
	Oid			base;
	bool		byval;

	if (!hold->skips_null || hold->ncolumns != 1 || hold->nargs != 1 ||
		list_length(aggref->aggorder) != 1 ||
		sizeof(Datum) != sizeof(int64) || !is_plain_order(aggref, &descending))
		return NULL;
	type = exprType((Node *) linitial_node(TargetEntry, aggref->args)->expr);
	base = getBaseType(type);
	if (base != FLOAT8OID && base != FLOAT4OID &&
		!strata_agg_is_time_type(base))
		return NULL;
	numbers = palloc(sizeof(AggNumbers));
	numbers->type = type;
	numbers->base = base;
	get_typlenbyvalalign(base, &numbers->width, &byval, &numbers->align);
	numbers->flip = descending ? -1 : 0;
	return numbers;
}

/*-------------------------------------------------------------------------
 * Values and numbers
 *-------------------------------------------------------------------------
 */

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

/* See agg_hold_private.h.  Memory: the current context. */
const Datum *
strata_agg_percentile_numbers(const AggNumbers *numbers, const Datum *values,
							  int n)
{
	int64	   *v = palloc(sizeof(int64) * Max(n, 1));
	int64		flip = numbers->flip;

	if (numbers->base == FLOAT8OID)
		for (int i = 0; i < n; i++)
			v[i] = flip ^ integer_of_float(DatumGetFloat8(values[i]));
	else if (numbers->base == FLOAT4OID)
		for (int i = 0; i < n; i++)
			v[i] = flip ^
				integer_of_float((float8) DatumGetFloat4(values[i]));
	else
		for (int i = 0; i < n; i++)
			v[i] = flip ^ strata_datum_integer(values[i], numbers->width);
	return (const Datum *) v;
}

static float8
float_of_number(const AggNumbers *numbers, int64 v)
{
	return float_of_integer(numbers->flip ^ v);
}

/* The value in its type. */
static Datum
value_of_number(const AggNumbers *numbers, int64 v)
{
	v ^= numbers->flip;
	if (numbers->base == FLOAT8OID)
		return Float8GetDatum(float_of_integer(v));
	if (numbers->base == FLOAT4OID)
		return Float4GetDatum((float4) float_of_integer(v));
	return strata_integer_datum(v, numbers->width);
}

/* Of 0 and -0 the numbers differ. */
static bool
is_same_float(int64 a, int64 b)
{
	return float_of_integer(a) == float_of_integer(b);
}

/* The same in descending order. */
static bool
is_same_flipped(int64 a, int64 b)
{
	return is_same_float(~a, ~b);
}

static Datum
most_frequent(AggHold *hold, HeldRows *rows)
{
	const AggNumbers *numbers = hold->numbers;
	bool		floats = numbers->base == FLOAT8OID ||
	numbers->base == FLOAT4OID;

	return value_of_number(numbers,
						   strata_agg_rank_most_frequent(hold, rows,
														 !floats ? NULL :
														 numbers->flip == 0 ?
														 is_same_float :
														 is_same_flipped));
}

/*-------------------------------------------------------------------------
 * Fractions and places
 *-------------------------------------------------------------------------
 */

/* What an aggregate asks for. */
typedef struct Fractions
{
	bool		between;		/* percentile_cont */
	ArrayType  *array;			/* NULL: there is one */
	int			n;
	Datum	   *v;
	bool	   *isnull;
} Fractions;

static bool
is_continuous(const Aggref *aggref)
{
	return aggref->aggfnoid == F_PERCENTILE_CONT_FLOAT8_FLOAT8 ||
		aggref->aggfnoid == F_PERCENTILE_CONT__FLOAT8_FLOAT8;
}

static bool
takes_array(const Aggref *aggref)
{
	return aggref->aggfnoid == F_PERCENTILE_CONT__FLOAT8_FLOAT8 ||
		aggref->aggfnoid == F_PERCENTILE_DISC__FLOAT8_ANYELEMENT;
}

/* argument must stay; an array is not null. */
static void
load_fractions(const Aggref *aggref, NullableDatum *argument,
			   Fractions *fractions)
{
	fractions->between = is_continuous(aggref);
	fractions->array = NULL;
	if (takes_array(aggref))
	{
		fractions->array = DatumGetArrayTypeP(argument->value);
		deconstruct_array(fractions->array, FLOAT8OID, sizeof(float8),
						  FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &fractions->v,
						  &fractions->isnull, &fractions->n);
		return;
	}
	fractions->n = 1;
	fractions->v = &argument->value;
	fractions->isnull = &argument->isnull;
}

static bool
is_fraction(float8 p)
{
	return p >= 0 && p <= 1;
}

/* The ranks that a fraction of n values is at, or between. */
static void
places_of(float8 p, bool between, int64 n, int64 *first, int64 *second)
{
	if (between)
	{
		*first = (int64) floor(p * (float8) (n - 1));
		*second = (int64) ceil(p * (float8) (n - 1));
		return;
	}
	*first = *second = Max((int64) ceil(p * (float8) n), 1) - 1;
}

static void
want_rank(HeldPlaces *places, int64 rank)
{
	if (places->n == places->space)
	{
		places->space *= 2;
		places->ranks = repalloc(places->ranks, sizeof(int64) * places->space);
	}
	places->ranks[places->n++] = rank;
}

/* See agg_hold_private.h.  Who asks for too much is told in his turn. */
void
strata_agg_percentile_want(HeldRows *rows, const Aggref *aggref,
						   NullableDatum *argument)
{
	Fractions	fractions;
	int64		n = rows->n + rows->nfile;

	if (rows->places == NULL)
	{
		rows->places = palloc0(sizeof(HeldPlaces));
		rows->places->space = 8;
		rows->places->ranks = palloc(sizeof(int64) * rows->places->space);
	}
	if (n == 0 || aggref->aggfnoid == F_MODE || argument->isnull)
		return;
	load_fractions(aggref, argument, &fractions);
	for (int i = 0; i < fractions.n; i++)
	{
		float8		p = DatumGetFloat8(fractions.v[i]);
		int64		first;
		int64		second;

		if (fractions.isnull[i] || !is_fraction(p))
			continue;
		places_of(p, fractions.between, n, &first, &second);
		want_rank(rows->places, first);
		if (second != first)
			want_rank(rows->places, second);
	}
}

static int
compare_ranks(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return x < y ? -1 : x > y;
}

/* Find the numbers at all places that are wanted. */
static void
choose_places(AggHold *hold, HeldRows *rows)
{
	HeldPlaces *places = rows->places;

	qsort(places->ranks, (size_t) places->n, sizeof(int64), compare_ranks);
	places->n = (int) qunique(places->ranks, (size_t) places->n,
							  sizeof(int64), compare_ranks);
	places->numbers = palloc(sizeof(int64) * Max(places->n, 1));
	strata_agg_rank_choose(hold, rows, places->ranks, places->n,
						   places->numbers);
}

/* The number of a rank, which was wanted. */
static int64
ranked_number(const HeldPlaces *places, int64 rank)
{
	const int64 *found = bsearch(&rank, places->ranks, (size_t) places->n,
								 sizeof(int64), compare_ranks);

	Assert(found != NULL);		/* agg:G28 */
	return places->numbers[found - places->ranks];
}

/* The value of a fraction of n values. */
static Datum
fraction_value(const AggHold *hold, const HeldRows *rows, float8 p,
			   bool between)
{
	int64		n = rows->n + rows->nfile;
	int64		first;
	int64		second;
	int64		number;
	float8		low;
	float8		high;

	places_of(p, between, n, &first, &second);
	number = ranked_number(rows->places, first);
	if (!between)
		return value_of_number(hold->numbers, number);
	low = float_of_number(hold->numbers, number);
	if (first == second)
		return Float8GetDatum(low);
	number = ranked_number(rows->places, second);
	high = float_of_number(hold->numbers, number);
	return Float8GetDatum(low + (p * (float8) (n - 1) - (float8) first) *
						  (high - low));
}

static void
check_fraction(float8 p)
{
	if (!is_fraction(p))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("percentile value %g is not between 0 and 1", p)));
}

/* An array of the shape of that of fractions. */
static Datum
fraction_values(const AggHold *hold, const HeldRows *rows,
				const Fractions *fractions)
{
	const AggNumbers *numbers = hold->numbers;
	Datum	   *v;

	if (fractions->n == 0)
		return PointerGetDatum(construct_empty_array(numbers->type));
	for (int i = 0; i < fractions->n; i++)
		if (!fractions->isnull[i])
			check_fraction(DatumGetFloat8(fractions->v[i]));
	v = palloc0(sizeof(Datum) * fractions->n);
	for (int i = 0; i < fractions->n; i++)
		if (!fractions->isnull[i])
			v[i] = fraction_value(hold, rows, DatumGetFloat8(fractions->v[i]),
								  fractions->between);
	return PointerGetDatum(construct_md_array(v, fractions->isnull,
											  ARR_NDIM(fractions->array),
											  ARR_DIMS(fractions->array),
											  ARR_LBOUND(fractions->array),
											  numbers->type, numbers->width,
											  true, numbers->align));
}

/* See agg_hold_private.h.  Checks are those of PostgreSQL, in its order. */
Datum
strata_agg_percentile_result(AggHold *hold, const Aggref *aggref,
							 HeldRows *rows, NullableDatum *argument,
							 bool *isnull)
{
	bool		mode = aggref->aggfnoid == F_MODE;
	Fractions	fractions;

	*isnull = true;
	if (!mode && argument->isnull)
		return (Datum) 0;
	if (!mode && !takes_array(aggref))
		check_fraction(DatumGetFloat8(argument->value));
	if (rows == NULL || rows->n + rows->nfile == 0)
		return (Datum) 0;
	Assert(rows->isnull == NULL);	/* agg:G28 */
	*isnull = false;
	if (mode)
		return most_frequent(hold, rows);
	if (rows->places->numbers == NULL)
		choose_places(hold, rows);
	load_fractions(aggref, argument, &fractions);
	if (fractions.array != NULL)
		return fraction_values(hold, rows, &fractions);
	return fraction_value(hold, rows, DatumGetFloat8(argument->value),
						  fractions.between);
}
