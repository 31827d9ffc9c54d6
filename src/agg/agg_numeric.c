/*-------------------------------------------------------------------------
 *
 * agg_numeric.c
 *	  Sums of numerics as integers, and the greatest and least of them.
 *
 * The values of a batch's numeric column are integers of one scale, v /
 * 10^scale, and so are expressions of them (expr/); those of rows are taken
 * apart (agg_value.c).
 * They are added up as such, in 128 bits; the numeric is made at the end.  Of
 * two scales the sum takes the larger one.  Values of another form (too many
 * digits, NaN) and sums of scales far apart go to the state of PostgreSQL's
 * functions, which stands beside the sum (agg_generic.c); the result adds
 * both.
 *
 * The decimals that a sum is shown with are the most that one of its values is
 * shown with, as in PostgreSQL's own sum().
 *
 * src/agg/agg_numeric.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_numeric_private.h"
#include "base/clones.h"

#include "common/int.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

/*
 * Of two sums of less than this size the sum fits, and so do a vector's values
 * of 64 bits, shifted by so many decimals: 2^(63 + 16 + 30).
 */
#define ROOM ((AggWide) 1 << (8 * sizeof(AggWide) - 3))
#define MAX_SHIFT 9

static const int64 powers[MAX_SHIFT + 1] = {
	1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000
};

/* See agg_numeric_private.h. */
Datum
strata_agg_wide_numeric(AggWide value, unsigned scale)
{
	AggUnsignedWide u;
	char		digits[40];		/* 2^128 has 39 */
	char	   *p = digits + sizeof(digits);
	char	   *text;

	u = value < 0 ? -(AggUnsignedWide) value : (AggUnsignedWide) value;
	if (value == (int64) value)
		return NumericGetDatum(int64_div_fast_to_numeric((int64) value,
														 (int) scale));
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
	Datum		value = strata_agg_wide_numeric(sum->sum, sum->scale);

	if (sum->display == sum->scale)
		return value;
	return DirectFunctionCall2(numeric_round, value,
							   Int32GetDatum((int32) sum->display));
}

/* See agg_numeric_private.h. */
bool
strata_agg_numeric_has_room(const AggNumericSum *sum, unsigned scale)
{
	AggWide		room = ROOM;

	if (!sum->any)
		return true;
	if (scale > sum->scale + MAX_SHIFT || sum->scale > scale + MAX_SHIFT)
		return false;
	if (scale > sum->scale)
		room /= powers[scale - sum->scale];
	return sum->sum < room && sum->sum > -room;
}

/* See agg_numeric_private.h. */
bool
strata_agg_numeric_align(int64 *a, unsigned a_scale, int64 *b,
						 unsigned *b_scale)
{
	bool		b_is_less = *b_scale < a_scale;
	unsigned	shift = b_is_less ? a_scale - *b_scale : *b_scale - a_scale;
	int64	   *v = b_is_less ? b : a;

	if (shift > MAX_SHIFT || pg_mul_s64_overflow(*v, powers[shift], v))
		return false;
	*b_scale = Max(*b_scale, a_scale);
	return true;
}

/*
 * Add what values of a scale sum up to; of two scales the larger one is that
 * of the sum.
 */
static void
add_sum(AggNumericSum *sum, AggWide more, unsigned scale)
{
	if (!sum->any)
		sum->scale = (uint8) scale;
	if (scale > sum->scale)
	{
		sum->sum *= powers[scale - sum->scale];
		sum->scale = (uint8) scale;
	}
	sum->sum += more * powers[sum->scale - scale];
	sum->any = true;
	Assert(sum->scale >= scale);	/* agg:G18 */
}

/* The int64 of a run that count. */
static AggWide
sum_run(const AggRun *run)
{
#ifdef HAVE_INT128
	return strata_agg_sum_int128(run);
#else
	const int64 *v = run->v;
	AggWide		s = 0;

	for (int i = 0; i < run->n; i++)
		s += run->valid == NULL || run->valid[i] ? v[i] : 0;
	return s;
#endif
}

/* See agg_numeric_private.h. */
int
strata_agg_numeric_run(AggNumericSum *sum, const AggRun *run, unsigned scale,
					   const uint8 *displays)
{
	const uint8 *valid = run->valid;
	uint8		display = sum->display;
	int			n = 0;

	Assert(strata_agg_numeric_has_room(sum, scale));	/* agg:G18 */
	if (valid == NULL)
	{
		n = run->n;
		for (int i = 0; i < n; i++)
			display = Max(display, displays[i]);
	}
	else
		for (int i = 0; i < run->n; i++)
		{
			uint8		shown = displays[i] & (uint8) -valid[i];

			display = Max(display, shown);
			n += valid[i];
		}
	if (n > 0)
		add_sum(sum, sum_run(run), scale);
	sum->display = display;
	return n;
}

/* See agg_numeric_private.h. */
void
strata_agg_numeric_combine(AggNumericSum *sum, const AggNumericSum *other)
{
	Assert(strata_agg_numeric_has_room(sum, other->scale)); /* agg:G18 */
	add_sum(sum, other->sum, other->scale);
	sum->display = Max(sum->display, other->display);
}

/*-------------------------------------------------------------------------
 * The best of them
 *-------------------------------------------------------------------------
 */

static STRATA_AVX2_CLONES int64
greatest_of(int n, const int64 *v)
{
	int64		best = PG_INT64_MIN;

	for (int i = 0; i < n; i++)
		best = Max(best, v[i]);
	return best;
}

static STRATA_AVX2_CLONES int64
least_of(int n, const int64 *v)
{
	int64		best = PG_INT64_MAX;

	for (int i = 0; i < n; i++)
		best = Min(best, v[i]);
	return best;
}

/* See agg_numeric_private.h. */
int
strata_agg_numeric_best(const AggRun *run, bool greatest, int *count)
{
	const int64 *v = run->v;
	int			found = -1;
	int64		best;

	*count = 0;
	if (run->valid == NULL)
	{
		*count = run->n;
		best = greatest ? greatest_of(run->n, v) : least_of(run->n, v);
		for (found = run->n - 1; v[found] != best; found--)
			Assert(found > 0);	/* agg:G18 */
		return found;
	}
	for (int i = 0; i < run->n; i++)
	{
		if (!run->valid[i])
			continue;
		++*count;
		if (found < 0 || (greatest ? v[i] >= v[found] : v[i] <= v[found]))
			found = i;
	}
	return found;
}

/* See agg_numeric_private.h. */
Datum
strata_agg_integer_numeric(int64 integer, unsigned scale, unsigned display)
{
	AggNumericSum one = {.sum = integer,.scale = (uint8) scale};
	char	   *room = palloc(VARHDRSZ + STRATA_NUMERIC_BYTES);
	uint32		len = strata_numeric_write(integer, scale, display,
										   (uint8 *) VARDATA(room));

	one.display = (uint8) display;
	if (len == 0)
		return strata_agg_numeric_value(&one);
	SET_VARSIZE(room, VARHDRSZ + len);
	return PointerGetDatum(room);
}

/*-------------------------------------------------------------------------
 * Numerics of rows
 *-------------------------------------------------------------------------
 */

/* The bytes of a numeric behind its length; false: they are elsewhere. */
static bool
numeric_bytes(Datum value, const uint8 **bytes, Size *len)
{
	const struct varlena *v = (struct varlena *) DatumGetPointer(value);

	if (!strata_varlena_is_plain(v))
		return false;
	*bytes = (const uint8 *) VARDATA_ANY(v);
	*len = VARSIZE_ANY_EXHDR(v);
	return true;
}

/* See agg_numeric_private.h. */
const int64 *
strata_agg_numeric_integers(const AggVector *vector, const StrataColumn *col,
							int *from, unsigned *scale,
							const uint8 **displays)
{
	int			to = 0;
	const uint8 *bytes;
	Size		len;
	bool		isnull;
	int64	   *v;
	uint8	   *shown;

	/* rows need not ascend here */
	*from = PG_INT32_MAX;
	*scale = 0;
	for (int j = 0; j < vector->nselected; j++)
	{
		*from = Min(*from, agg_vector_row(vector, j));
		to = Max(to, agg_vector_row(vector, j) + 1);
	}
	v = palloc0(sizeof(int64) * (to - *from));
	shown = palloc0(to - *from);
	for (int j = 0; j < vector->nselected; j++)
	{
		int			row = agg_vector_row(vector, j);
		Datum		datum = strata_column_get(col, row, &isnull);
		int64		display;
		unsigned	decimals;

		if (isnull)
			continue;
		if (!numeric_bytes(datum, &bytes, &len) ||
			!strata_numeric_decimals(bytes, len, &display, &decimals))
			return NULL;
		shown[row - *from] = (uint8) display;
		*scale = Max(*scale, decimals);
	}
	for (int j = 0; j < vector->nselected; j++)
	{
		int			row = agg_vector_row(vector, j);
		Datum		datum = strata_column_get(col, row, &isnull);

		if (!isnull && (!numeric_bytes(datum, &bytes, &len) ||
						!strata_numeric_integer(bytes, len, *scale,
												&v[row - *from])))
			return NULL;
	}
	*displays = shown - *from;
	return v;
}
