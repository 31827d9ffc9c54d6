/*-------------------------------------------------------------------------
 *
 * expr_decimal_round.c
 *	  Numerics as integers of one scale: round(), trunc(), floor(), ceil(),
 *	  sign() and casts to numeric(p,s).
 *
 * Each is a division by a power of ten of the integers, once something was
 * added that says which way it goes.
 *
 * src/expr/expr_decimal_round.c
 *-------------------------------------------------------------------------
 */
#include "base/clones.h"
#include "expr/expr_decimal_private.h"

/* An unsigned divisor, and what to multiply by instead of dividing. */
typedef struct Divisor
{
	uint64		by;
	uint64		magic;			/* 2^(63 + bits) / by, rounded up */
	int			bits;			/* by <= 2^bits */
} Divisor;

static void
init_divisor(Divisor *divisor, uint64 by)
{
	Assert(by >= 2 && by <= (uint64) PG_INT64_MAX); /* expr:E8 */
	divisor->by = by;
	divisor->bits = 1;
	while (((uint64) 1 << divisor->bits) < by)
		divisor->bits++;
#ifdef HAVE_INT128
	divisor->magic = (uint64) ((((uint128) 1 << (63 + divisor->bits)) +
								by - 1) / by);
#endif
}

/*
 * value / by, of a value below 2^63: the product is too large by less than
 * 2^63 parts of 2^(63 + bits), which is less than what is left to the next
 * multiple.
 */
static inline uint64
divide(uint64 value, const Divisor *divisor)
{
#ifdef HAVE_INT128
	return (uint64) (((uint128) value * divisor->magic) >>
					 (63 + divisor->bits));
#else
	return value / divisor->by;
#endif
}

/* With what is added to values that are positive, and negative. */
static void
divide_all(int n, const int64 *restrict from, const Divisor *divisor,
		   uint64 positive, uint64 negative, int64 *restrict to)
{
	Divisor		local = *divisor;

	for (int i = 0; i < n; i++)
	{
		uint64		sign = (uint64) (from[i] >> 63);
		uint64		value = ((uint64) from[i] ^ sign) - sign;
		uint64		quotient = divide(value + (sign != 0 ? negative :
											   positive), &local);

		to[i] = (int64) ((quotient ^ sign) - sign);
	}
}

/* See expr_decimal_private.h. */
bool
strata_decimals_round(int n, const ExprDecimals *a, ExprDecimalOp op,
					  unsigned places, ExprDecimals *out)
{
	Divisor		divisor;
	int64		power;
	int64	   *v;

	*out = *a;
	out->display = places;
	out->displays = NULL;
	if (a->scale <= places)
		return true;
	if (!strata_decimals_power(a->scale - places, &power) ||
		a->bound > (uint64) PG_INT64_MAX - (uint64) power)
		return false;
	init_divisor(&divisor, (uint64) power);
	out->v = v = palloc(sizeof(int64) * n);
	out->scale = places;
	out->bound = a->bound / (uint64) power + 1;
	if (op == DECIMAL_ROUND)
		divide_all(n, a->v, &divisor, (uint64) power / 2, (uint64) power / 2,
				   v);
	else
		divide_all(n, a->v, &divisor,
				   op == DECIMAL_CEIL ? (uint64) power - 1 : 0,
				   op == DECIMAL_FLOOR ? (uint64) power - 1 : 0, v);
	return true;
}

static STRATA_AVX2_CLONES bool
any_beyond(int n, const int64 *restrict v, const uint8 *restrict null,
		   int64 limit)
{
	uint8		beyond = 0;

	for (int i = 0; i < n; i++)
		beyond |= (uint8) ((v[i] >= limit || v[i] <= -limit) &
						   (null == NULL || !null[i]));
	return beyond != 0;
}

/* See expr_decimal_private.h. */
bool
strata_decimals_fit(int n, const ExprDecimals *a, unsigned precision,
					unsigned scale)
{
	int64		limit;

	Assert(scale <= precision); /* expr:E8 */
	return !strata_decimals_power(precision - scale + a->scale, &limit) ||
		a->bound < (uint64) limit || !any_beyond(n, a->v, a->null, limit);
}

/* See expr_decimal_private.h. */
bool
strata_decimals_cast(int n, const ExprDecimals *a, unsigned precision,
					 unsigned scale, ExprDecimals *out)
{
	return strata_decimals_round(n, a, DECIMAL_ROUND, scale, out) &&
		strata_decimals_fit(n, out, precision, scale);
}

/* See expr_decimal_private.h. */
void
strata_decimals_sign(int n, const ExprDecimals *a, ExprDecimals *out)
{
	int64	   *v = palloc(sizeof(int64) * n);

	for (int i = 0; i < n; i++)
		v[i] = (a->v[i] > 0) - (a->v[i] < 0);
	*out = *a;
	out->v = v;
	out->bound = 1;
	out->scale = out->display = 0;
	out->displays = NULL;
}
