/*-------------------------------------------------------------------------
 *
 * expr_decimal_kernel.c
 *	  Numerics as integers of one scale: sums and products.
 *
 * What the integers of a vector are at most says for all of them, mostly, that
 * no result is too large; only else each is looked at.
 *
 * src/expr/expr_decimal_kernel.c
 *-------------------------------------------------------------------------
 */
#include "base/clones.h"
#include "expr/expr_decimal_private.h"

#include "common/int.h"

/* 10^18 is the largest power of an int64. */
#define POWER_MAX 18

/* See expr_decimal_private.h. */
bool
strata_decimals_power(unsigned n, int64 *power)
{
	*power = 1;
	if (n > POWER_MAX)
		return false;
	for (; n > 0; n--)
		*power *= 10;
	return true;
}

static STRATA_AVX2_CLONES uint64
bits_set(int n, const int64 *v)
{
	uint64		bits = 0;

	for (int i = 0; i < n; i++)
		bits |= (uint64) (v[i] ^ (v[i] >> 63));
	return bits;
}

/* See expr_decimal_private.h. */
bool
strata_decimals_bound(int n, const int64 *v, uint64 *bound)
{
	uint64		bits = bits_set(n, v);

	if (bits < PG_INT64_MAX)
	{
		*bound = bits + 1;
		return true;
	}
	*bound = PG_INT64_MAX;
	for (int i = 0; i < n; i++)
		if (v[i] == PG_INT64_MIN)
			return false;
	return true;
}

typedef void (*DecimalAll) (int n, const int64 *restrict a,
							const int64 *restrict b, int64 *restrict out);
typedef bool (*DecimalEach) (int n, const int64 *a, const int64 *b,
							 const uint8 *null, int64 *out);

/* r of x and y; strictly: as it is computed where it may not fit. */
#define DECIMAL_KERNEL(name, result, overflows) \
static STRATA_AVX2_CLONES void \
name##_all(int n, const int64 *restrict a, const int64 *restrict b, \
		   int64 *restrict out) \
{ \
	for (int i = 0; i < n; i++) \
	{ \
		int64		x = a[i]; \
		int64		y = b[i]; \
 \
		out[i] = (result); \
	} \
} \
 \
static bool \
name##_each(int n, const int64 *a, const int64 *b, const uint8 *null, \
			int64 *out) \
{ \
	bool		bad = false; \
 \
	for (int i = 0; i < n; i++) \
	{ \
		int64		r = 0; \
		bool		large = overflows(a[i], b[i], &r) || r == PG_INT64_MIN; \
 \
		out[i] = large ? 0 : r; \
		bad |= large && (null == NULL || !null[i]); \
	} \
	return !bad; \
}

DECIMAL_KERNEL(decimal_add, x + y, pg_add_s64_overflow)
DECIMAL_KERNEL(decimal_sub, x - y, pg_sub_s64_overflow)
DECIMAL_KERNEL(decimal_mul, x * y, pg_mul_s64_overflow)

/* Of a sum and of a difference. */
static bool
bound_of_sum(const ExprDecimals *a, const ExprDecimals *b, uint64 *bound)
{
	*bound = a->bound + b->bound;
	return *bound <= PG_INT64_MAX;
}

static bool
bound_of_product(uint64 a, uint64 b, uint64 *bound)
{
	return !pg_mul_u64_overflow(a, b, bound) && *bound <= PG_INT64_MAX;
}

/* A sum or a difference, by kernels for values that fit and that may not. */
static bool
sum_or_difference(int n, const ExprDecimals *a, const ExprDecimals *b,
				  ExprDecimals *out, DecimalAll all, DecimalEach each)
{
	int64	   *v = palloc(sizeof(int64) * n);

	Assert(n > 0);				/* expr:E1 */
	Assert(a->scale == b->scale);	/* expr:E8 */
	out->v = v;
	out->scale = a->scale;
	if (bound_of_sum(a, b, &out->bound))
	{
		all(n, a->v, b->v, v);
		return true;
	}
	out->bound = PG_INT64_MAX;
	return each(n, a->v, b->v, out->null, v);
}

/* See expr_decimal_private.h. */
bool
strata_decimals_add(int n, const ExprDecimals *a, const ExprDecimals *b,
					ExprDecimals *out)
{
	return sum_or_difference(n, a, b, out, decimal_add_all, decimal_add_each);
}

/* See expr_decimal_private.h. */
bool
strata_decimals_sub(int n, const ExprDecimals *a, const ExprDecimals *b,
					ExprDecimals *out)
{
	return sum_or_difference(n, a, b, out, decimal_sub_all, decimal_sub_each);
}

/* See expr_decimal_private.h. */
bool
strata_decimals_mul(int n, const ExprDecimals *a, const ExprDecimals *b,
					ExprDecimals *out)
{
	int64	   *v = palloc(sizeof(int64) * n);

	out->v = v;
	out->scale = a->scale + b->scale;
	if (out->scale > DECIMAL_PLACES_MAX)
		return false;
	if (bound_of_product(a->bound, b->bound, &out->bound))
	{
		decimal_mul_all(n, a->v, b->v, v);
		return true;
	}
	out->bound = PG_INT64_MAX;
	return decimal_mul_each(n, a->v, b->v, out->null, v);
}

/* See expr_decimal_private.h. */
void
strata_decimals_neg(int n, const ExprDecimals *a, ExprDecimals *out)
{
	int64	   *v = palloc(sizeof(int64) * n);

	for (int i = 0; i < n; i++)
		v[i] = -a->v[i];
	*out = *a;
	out->v = v;
}

/* See expr_decimal_private.h. */
void
strata_decimals_abs(int n, const ExprDecimals *a, ExprDecimals *out)
{
	int64	   *v = palloc(sizeof(int64) * n);

	for (int i = 0; i < n; i++)
		v[i] = a->v[i] < 0 ? -a->v[i] : a->v[i];
	*out = *a;
	out->v = v;
}

static STRATA_AVX2_CLONES void
multiply_by(int n, const int64 *restrict from, int64 by, int64 *restrict to)
{
	for (int i = 0; i < n; i++)
		to[i] = from[i] * by;
}

/* See expr_decimal_private.h. */
bool
strata_decimals_rescale(int n, ExprDecimals *a, unsigned scale)
{
	const int64 *from = a->v;
	bool		fits = true;
	int64		power;
	int64	   *v;

	Assert(scale >= a->scale);	/* expr:E8 */
	if (scale == a->scale)
		return true;
	if (scale > DECIMAL_PLACES_MAX ||
		!strata_decimals_power(scale - a->scale, &power))
		return false;
	a->scale = scale;
	a->v = v = palloc(sizeof(int64) * n);
	if (bound_of_product(a->bound, (uint64) power, &a->bound))
	{
		multiply_by(n, from, power, v);
		return true;
	}
	a->bound = PG_INT64_MAX;
	for (int i = 0; i < n; i++)
	{
		bool		large = pg_mul_s64_overflow(from[i], power, &v[i]) ||
		v[i] == PG_INT64_MIN;

		if (large)
			v[i] = 0;
		fits &= !large || (a->null != NULL && a->null[i]);
	}
	return fits;
}

/*-------------------------------------------------------------------------
 * With how many decimals they are shown
 *-------------------------------------------------------------------------
 */

/* What the bytes that are not null have beside display; 0: it is that. */
static STRATA_AVX2_CLONES unsigned
differing_bits(int n, const uint8 *restrict displays,
			   const uint8 *restrict null, uint8 display)
{
	uint8		bits = 0;

	if (null == NULL)
		for (int i = 0; i < n; i++)
			bits |= displays[i] ^ display;
	else
		for (int i = 0; i < n; i++)
			bits |= (uint8) ((displays[i] ^ display) & (null[i] - 1));
	return bits;
}

/* See expr_decimal_private.h. */
void
strata_decimals_settle(int n, ExprDecimals *a)
{
	int			i = 0;

	if (a->displays == NULL)
		return;
	while (a->null != NULL && i < n - 1 && a->null[i])
		i++;
	if (differing_bits(n, a->displays, a->null, a->displays[i]) != 0)
		return;
	a->display = a->displays[i];
	a->displays = NULL;
}

/* See expr_decimal_private.h. */
bool
strata_decimals_displays(int n, const ExprDecimals *a, const ExprDecimals *b,
						 bool product, ExprDecimals *out)
{
	uint8	   *displays;
	uint8		most = 0;

	out->displays = NULL;
	if (a->displays == NULL && b->displays == NULL)
	{
		out->display = product ? a->display + b->display :
			Max(a->display, b->display);
		return out->display <= DECIMAL_PLACES_MAX;
	}
	out->displays = displays = palloc(n);
	for (int i = 0; i < n; i++)
	{
		unsigned	x = a->displays != NULL ? a->displays[i] : a->display;
		unsigned	y = b->displays != NULL ? b->displays[i] : b->display;

		displays[i] = (uint8) (product ? x + y : Max(x, y));
	}
	for (int i = 0; i < n; i++)
		most = Max(most, displays[i]);
	return most <= DECIMAL_PLACES_MAX;
}
