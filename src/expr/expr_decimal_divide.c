/*-------------------------------------------------------------------------
 *
 * expr_decimal_divide.c
 *	  Numerics as integers of one scale: division.
 *
 * A quotient has 16 digits at least, mostly more than an integer has.  So one
 * is computed where it is rounded to few decimals at once, as by round(a / b,
 * 2), and by constants of which a power of ten is a multiple (x / 100), which
 * are multiplications.
 *
 * PostgreSQL rounds a quotient before it is rounded to few decimals.  That
 * changes it by at most half of its last digit, which is seldom enough to
 * reach a half (or a whole number, for trunc() and its like) that the quotient
 * has not reached; where it may, PostgreSQL evaluates the rows.
 *
 * src/expr/expr_decimal_divide.c
 *-------------------------------------------------------------------------
 */
#include "base/clones.h"
#include "expr/expr_decimal_private.h"

#include "common/int.h"

/* Digits that a quotient has at least, and those of PostgreSQL's digits. */
#define QUOTIENT_DIGITS 16
#define DIGIT_DECIMALS 4
#define DIGIT_BASE 10000

#ifdef HAVE_INT128

/* Sizes of dividends and divisors that are to be divided as integers. */
typedef struct Quotients
{
	uint64		times;			/* of a dividend's integer, ... */
	uint64		divisor_times;	/* ... and of a divisor's */
	uint64		factor;			/* the quotient is multiplied by factor /
								 * 10^factor_scale; 1 and 0, if it is not */
	unsigned	factor_scale;
	bool		exact;			/* it is not */
	ExprDecimalOp op;			/* what is done to the result: ROUND, TRUNC,
								 * FLOOR, CEIL, CAST */
	int			spare;			/* decimals PostgreSQL's quotient has beyond
								 * those that are left, at least */
	const uint8 *null;			/* rows that have no result; NULL: none */
	/* of each row: */
	uint64	   *quotient;
	uint64	   *rest;
	uint64	   *divisor;
} Quotients;

static inline uint64
size_of(int64 value)
{
	return value < 0 ? -(uint64) value : (uint64) value;
}

/*
 * Divide, rounding to zero; false: by 0, or a result is too large.  *largest
 * is that of the quotients.
 */
static bool
divide_sizes(int n, const ExprDecimals *a, const ExprDecimals *b,
			 Quotients *q, uint64 *largest)
{
	uint64		bound;
	bool		narrow = !pg_mul_u64_overflow(a->bound, q->times, &bound);
	bool		bad = pg_mul_u64_overflow(b->bound, q->divisor_times,
										  &bound) ||
	bound > (uint64) PG_INT64_MAX / 2;

	*largest = 0;
	for (int i = 0; i < n && !bad; i++)
	{
		uint64		x = size_of(a->v[i]);
		uint64		y = size_of(b->v[i]) * q->divisor_times;
		bool		isnull = q->null != NULL && q->null[i];

		bad = y == 0 && !isnull;
		if (y == 0 || isnull)
		{
			x = 0;
			y = 1;
		}
		q->divisor[i] = y;
		if (narrow)
		{
			q->quotient[i] = x * q->times / y;
			q->rest[i] = x * q->times % y;
		}
		else
		{
			uint128		product = (uint128) x * q->times;
			uint128		quotient = product / y;

			bad |= quotient >= (uint128) PG_INT64_MAX;
			q->quotient[i] = (uint64) quotient;
			q->rest[i] = (uint64) (product - quotient * y);
		}
		*largest = Max(*largest, q->quotient[i]);
	}
	return !bad && *largest < (uint64) PG_INT64_MAX;
}

/*
 * The decimals that PostgreSQL's quotients have at least, of which the largest
 * times the factor is largest / 10^places: 16, less four for each of its own
 * digits before the first.
 */
static int
least_decimals(const Quotients *q, uint64 largest, unsigned places)
{
	float8		size = ((float8) largest + 1) * (1 + 1e-9);
	int			decimals = QUOTIENT_DIGITS;

	for (unsigned i = 0; i < q->factor_scale; i++)
		size *= 10;
	for (unsigned i = 0; i < places; i++)
		size /= 10;
	for (size /= (float8) q->factor; size >= DIGIT_BASE; size /= DIGIT_BASE)
		decimals -= DIGIT_DECIMALS;
	return decimals;
}

/* Twice how far a rest is from where the result changes. */
static inline uint64
rest_away(const Quotients *q, int i)
{
	uint64		rest = q->rest[i];
	uint64		divisor = q->divisor[i];

	if (q->op == DECIMAL_ROUND || q->op == DECIMAL_CAST)
		return 2 * rest > divisor ? 2 * rest - divisor : divisor - 2 * rest;
	return 2 * Min(rest, divisor - rest);
}

/* Has a / b no more than so many decimals? */
static bool
is_exact(const ExprDecimals *a, const ExprDecimals *b, int i, int decimals)
{
	uint64		divisor = size_of(b->v[i]);
	uint128		rest = divisor == 0 ? 0 : size_of(a->v[i]) % divisor;
	int			left = decimals + (int) b->scale - (int) a->scale;

	for (; left > 0 && rest != 0; left--)
		rest = rest * 10 % divisor;
	return rest == 0 && left >= 0;
}

/* Would PostgreSQL's rounding of the quotients make no difference? */
static bool
are_sure(int n, const ExprDecimals *a, const ExprDecimals *b,
		 const Quotients *q, unsigned places)
{
	int64		power;

	if (q->spare < 1 ||
		!strata_decimals_power(Min((unsigned) q->spare + q->factor_scale, 18),
							   &power))
		return false;
	for (int i = 0; i < n; i++)
	{
		uint64		away = rest_away(q, i);

		if (q->null != NULL && q->null[i])
			continue;
		if (away == 0 ? !q->exact &&
			!is_exact(a, b, i, q->spare + (int) places) :
			(uint128) away * (uint64) power <=
			(uint128) q->factor * q->divisor[i])
			return false;
	}
	return true;
}

/* Quotients one further from 0 where op says so, and their signs. */
static void
settle_quotients(int n, const ExprDecimals *a, const ExprDecimals *b,
				 bool negative, const Quotients *q, int64 *v)
{
	for (int i = 0; i < n; i++)
	{
		bool		minus = negative ^ ((a->v[i] ^ b->v[i]) < 0);
		uint64		rest = q->rest[i];
		bool		further;

		switch (q->op)
		{
			case DECIMAL_FLOOR:
				further = minus && rest > 0;
				break;
			case DECIMAL_CEIL:
				further = !minus && rest > 0;
				break;
			case DECIMAL_TRUNC:
				further = false;
				break;
			default:
				further = 2 * rest >= q->divisor[i];
				break;
		}
		v[i] = (int64) (q->quotient[i] + further);
		if (minus)
			v[i] = -v[i];
	}
}

/* What the integers are multiplied by; false: too much. */
static bool
init_quotients(Quotients *q, int n, const ExprDecimals *a,
			   const ExprDecimals *b, const StrataDecimal *factor,
			   unsigned places)
{
	int			shift;
	int64		power;

	q->exact = factor == NULL;
	q->factor = factor == NULL ? 1 : size_of(factor->integer);
	q->factor_scale = factor == NULL ? 0 : factor->scale;
	shift = (int) (places + b->scale) - (int) (a->scale + q->factor_scale);
	if (q->factor == 0 ||
		!strata_decimals_power((unsigned) (shift < 0 ? -shift : shift),
							   &power) ||
		pg_mul_u64_overflow(q->factor, shift < 0 ? 1 : (uint64) power,
							&q->times))
		return false;
	q->divisor_times = shift < 0 ? (uint64) power : 1;
	q->quotient = palloc(sizeof(uint64) * n);
	q->rest = palloc(sizeof(uint64) * n);
	q->divisor = palloc(sizeof(uint64) * n);
	return true;
}
#endif

/* See expr_decimal_private.h. */
bool
strata_decimals_quotient(int n, const ExprDecimals *a, const ExprDecimals *b,
						 const StrataDecimal *factor, ExprDecimalOp op,
						 unsigned places, ExprDecimals *out)
{
#ifdef HAVE_INT128
	Quotients	q = {.op = op,.null = out->null};
	uint64		largest;
	int64	   *v;

	Assert(n > 0);				/* expr:E1 */
	if (!init_quotients(&q, n, a, b, factor, places) ||
		!divide_sizes(n, a, b, &q, &largest))
		return false;
	q.spare = least_decimals(&q, largest, places) - (int) places;
	if (!are_sure(n, a, b, &q, places))
		return false;
	out->v = v = palloc(sizeof(int64) * n);
	settle_quotients(n, a, b, factor != NULL && factor->integer < 0, &q, v);
	out->scale = out->display = places;
	out->displays = NULL;
	return strata_decimals_bound(n, v, &out->bound);
#else
	return false;
#endif
}

/*-------------------------------------------------------------------------
 * By constants of which a power of ten is a multiple
 *-------------------------------------------------------------------------
 */

/* See expr_decimal_private.h. */
bool
strata_decimals_divides(const StrataDecimal *by, unsigned *decimals,
						int64 *times)
{
	int64		size = by->integer < 0 ? -by->integer : by->integer;
	int64		power;

	if (size == 0)
		return false;
	for (*decimals = 0; strata_decimals_power(*decimals, &power); ++*decimals)
		if (power % size == 0)
		{
			*times = power / by->integer;
			return true;
		}
	return false;
}

/*
 * The first of PostgreSQL's digits of a number that is not 0, and what it
 * counts, as a power of these.
 */
static void
first_digit(uint64 size, unsigned scale, int *digit, int *weight)
{
	int			exponent = -(int) scale;

	/* a multiple of four decimals, of which the last is the first digit */
	for (; exponent % DIGIT_DECIMALS != 0 && size < (uint64) 1 << 60;
		 exponent--)
		size *= 10;
	for (; exponent % DIGIT_DECIMALS != 0; exponent++)
		size /= 10;
	*weight = exponent / DIGIT_DECIMALS;
	for (; size >= DIGIT_BASE; size /= DIGIT_BASE)
		++* weight;
	*digit = (int) size;
}

/*
 * With how many decimals each quotient is shown: 16 digits, as PostgreSQL
 * estimates them by the first digits of both, and no fewer than one of them.
 * False: more than there may be, or fewer than least.
 */
static bool
displays_of_quotients(int n, const ExprDecimals *a, const StrataDecimal *by,
					  unsigned least, ExprDecimals *out)
{
	uint8	   *displays = palloc(n);
	int			by_digit;
	int			by_weight;
	bool		fits = true;

	first_digit(by->integer < 0 ? -(uint64) by->integer :
				(uint64) by->integer, by->scale, &by_digit, &by_weight);
	for (int i = 0; i < n; i++)
	{
		int			digit = 0;
		int			weight = 0;
		int			decimals;
		int			shown = a->displays != NULL ? (int) a->displays[i] :
		(int) a->display;

		if (a->v[i] != 0)
			first_digit(a->v[i] < 0 ? -(uint64) a->v[i] : (uint64) a->v[i],
						a->scale, &digit, &weight);
		weight -= by_weight + (digit <= by_digit);
		decimals = Max(QUOTIENT_DIGITS - weight * DIGIT_DECIMALS, shown);
		decimals = Max(decimals, (int) by->display);
		displays[i] = (uint8) decimals;
		fits &= (decimals >= (int) least && decimals <= DECIMAL_PLACES_MAX) ||
			(a->null != NULL && a->null[i]);
	}
	out->displays = displays;
	return fits;
}

/* See expr_decimal_private.h. */
bool
strata_decimals_divide(int n, const ExprDecimals *a, const StrataDecimal *by,
					   ExprDecimals *out)
{
	ExprDecimals dividends = *a;
	ExprDecimals factor;
	unsigned	decimals;
	int64		times;
	int64	   *v;

	if (!strata_decimals_divides(by, &decimals, &times))
		return false;
	if (a->scale + decimals < by->scale &&
		!strata_decimals_rescale(n, &dividends, by->scale - decimals))
		return false;
	factor.v = v = palloc(sizeof(int64) * n);
	for (int i = 0; i < n; i++)
		v[i] = times;
	factor.bound = (uint64) (times < 0 ? -times : times);
	factor.scale = 0;
	out->null = a->null;
	if (!strata_decimals_mul(n, &dividends, &factor, out))
		return false;
	out->scale = dividends.scale + decimals - by->scale;
	if (out->scale > DECIMAL_PLACES_MAX ||
		!displays_of_quotients(n, a, by, out->scale, out))
		return false;
	strata_decimals_settle(n, out);
	return true;
}

/* See expr_decimal_private.h. */
bool
strata_decimals_mod(int n, const ExprDecimals *a, const ExprDecimals *b,
					ExprDecimals *out)
{
	int64	   *v = palloc(sizeof(int64) * n);
	bool		bad = false;

	Assert(a->scale == b->scale);	/* expr:E8 */
	for (int i = 0; i < n; i++)
	{
		bad |= b->v[i] == 0 && (out->null == NULL || !out->null[i]);
		v[i] = b->v[i] == 0 ? 0 : a->v[i] % b->v[i];
	}
	out->v = v;
	out->bound = Min(a->bound, b->bound);
	out->scale = a->scale;
	return !bad;
}
