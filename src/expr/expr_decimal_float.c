/*-------------------------------------------------------------------------
 *
 * expr_decimal_float.c
 *	  Floats as numerics, that is as integers of one scale, and the way back.
 *
 * PostgreSQL makes a numeric of a float8 by printing it with 15 digits
 * (float4: 6).  Those digits are computed here: the float is an integer times
 * a power of two, of which the digits are the product with a power of five,
 * exact in 128 bits, shifted right and rounded to the nearest, of two to the
 * even one, as printf() does.
 *
 * Where they are rounded to few decimals at once, as by round(x::numeric, 2),
 * the float product with a power of ten says mostly which way that goes: where
 * it is further from a half than all that printing may change, or so near to
 * it that the digits are those of the half.  What is in between takes its
 * digits.  What is too large or small for that is PostgreSQL's.
 *
 * src/expr/expr_decimal_float.c
 *-------------------------------------------------------------------------
 */
#include "base/clones.h"
#include "expr/expr_decimal_private.h"

#include <float.h>
#include <math.h>

#include "common/int.h"
#include "utils/fmgrprotos.h"
#include "utils/float.h"
#include "utils/numeric.h"

/* 5^27 is the largest power of 63 bits. */
#define FIVES_MAX 27

/* What is known of the printed digits of a kind of float. */
typedef struct FloatDigits
{
	int			digits;			/* so many are printed */
	float8		largest;		/* products below have a digit to spare */
	float8		clear;			/* printing changes a product by less than
								 * this part of it */
	float8		near;			/* a half that is within this part of the
								 * product is what is printed */
} FloatDigits;

/*
 * The last of d digits is from 10^-d to 10^(1-d) of the value, of which
 * printing changes half at most, and the product's own error is 2^-53.
 */
static const FloatDigits of_float8 = {DBL_DIG, 1e13, 6e-15, 3e-16};
static const FloatDigits of_float4 = {FLT_DIG, 1e4, 6e-6, 4e-7};

/*-------------------------------------------------------------------------
 * All digits
 *-------------------------------------------------------------------------
 */

#ifdef HAVE_INT128
/*
 * mantissa * 2^exponent * 10^places rounded to an integer; *below, if it is
 * below that of so many digits, and *beyond, if beyond.
 */
static int64
scaled_digits(uint64 mantissa, int exponent, int places, int64 limit,
			  bool *below, bool *beyond)
{
	uint128		product = mantissa;
	uint128		whole;
	uint128		rest;
	int			shift = -(exponent + places);
	uint64		fives = 1;

	for (int i = 0; i < places; i++)
		fives *= 5;
	product *= fives;
	Assert(shift > 0 && shift < 128);	/* expr:E8 */
	whole = product >> shift;
	*beyond = whole >= (uint128) limit;
	*below = whole < (uint128) (limit / 10);
	if (*beyond)
		return 0;
	rest = product - (whole << shift);
	if (rest > (uint128) 1 << (shift - 1) ||
		(rest == (uint128) 1 << (shift - 1) && (whole & 1) != 0))
		whole++;
	return (int64) whole;
}
#endif

/*
 * The digits of a float as integer / 10^*places, with no zeros at the end
 * behind the point; false: it has to be printed.
 */
static bool
digits_of_float(float8 value, const FloatDigits *kind, int64 *integer,
				int *places)
{
#ifdef HAVE_INT128
	int			exponent;
	float8		fraction = frexp(fabs(value), &exponent);
	uint64		mantissa;
	int64		limit;
	bool		below;
	bool		beyond;

	*integer = 0;
	*places = 0;
	if (value == 0)
		return true;
	if (!(fabs(value) >= 1e-12 && fabs(value) < 1e15))
		return false;
	if (!strata_decimals_power((unsigned) kind->digits, &limit))
		return false;
	mantissa = (uint64) ldexp(fraction, DBL_MANT_DIG);
	/* 10^n <= value < 10^(n + 1), or n is one too small */
	*places = kind->digits - 1 - (int) floor((exponent - 1) * 0.30102999);
	for (;; *places += beyond ? -1 : 1)
	{
		if (*places < 0 || *places > FIVES_MAX)
			return false;
		*integer = scaled_digits(mantissa, exponent - DBL_MANT_DIG, *places,
								 limit, &below, &beyond);
		if (!below && !beyond)
			break;
	}
	for (; *places > 0 && *integer % 10 == 0; --*places)
		*integer /= 10;
	if (value < 0)
		*integer = -*integer;
	return true;
#else
	return false;
#endif
}

/* What PostgreSQL makes of one; false: no such integer. */
static bool
take_printed(float8 value, const FloatDigits *kind, StrataDecimal *decimal)
{
	Datum		numeric = kind->digits == DBL_DIG ?
	DirectFunctionCall1(float8_numeric, Float8GetDatum(value)) :
	DirectFunctionCall1(float4_numeric, Float4GetDatum((float4) value));
	bool		taken = strata_decimal_take(numeric, decimal);

	pfree(DatumGetPointer(numeric));
	return taken;
}

/* One float; false: no such integer. */
static bool
take_float(float8 value, const FloatDigits *kind, StrataDecimal *decimal)
{
	int			places;

	if (!digits_of_float(value, kind, &decimal->integer, &places))
		return take_printed(value, kind, decimal);
	decimal->scale = decimal->display = (unsigned) places;
	return true;
}

/* See expr_decimal_private.h. */
bool
strata_decimals_of_floats(int n, const float8 *floats, const uint8 *null,
						  bool single, ExprDecimals *out)
{
	const FloatDigits *kind = single ? &of_float4 : &of_float8;
	int64	   *v = palloc(sizeof(int64) * n);
	uint8	   *displays = palloc(n);
	uint8	   *scales = palloc(n);
	int64		power;
	bool		fits = true;

	out->v = v;
	out->null = null;
	out->displays = displays;
	out->scale = 0;
	for (int i = 0; i < n; i++)
	{
		StrataDecimal decimal = {0};

		if ((null == NULL || !null[i]) &&
			(!take_float(floats[i], kind, &decimal) ||
			 decimal.display > DECIMAL_PLACES_MAX))
			return false;
		v[i] = decimal.integer;
		displays[i] = (uint8) decimal.display;
		scales[i] = (uint8) decimal.scale;
		out->scale = Max(out->scale, decimal.scale);
	}
	for (int i = 0; i < n; i++)
		if (v[i] != 0)
			fits &= strata_decimals_power(out->scale - scales[i], &power) &&
				!pg_mul_s64_overflow(v[i], power, &v[i]);
	strata_decimals_settle(n, out);
	return fits && strata_decimals_bound(n, v, &out->bound);
}

/*-------------------------------------------------------------------------
 * Few decimals
 *-------------------------------------------------------------------------
 */

/* Products rounded, and which are not sure; returns whether one is not. */
static STRATA_AVX2_CLONES bool
round_products(int n, const float8 *restrict floats, float8 power,
			   const FloatDigits *kind, int64 *restrict v,
			   uint8 *restrict unsure)
{
	float8		largest = kind->largest;
	float8		clear = kind->clear;
	float8		near = kind->near;
	uint8		any = 0;

	for (int i = 0; i < n; i++)
	{
		float8		product = floats[i] * power;
		float8		size = fabs(product);
		bool		fits = size < largest;
		int64		whole = (int64) (fits ? size : 0);
		float8		past = size - (float8) whole - 0.5;
		float8		away = fabs(past);

		whole += past >= -near * size;
		v[i] = product < 0 ? -whole : whole;
		unsure[i] = (uint8) ((fits == 0) | ((away <= clear * size) &
											(away > near * size)));
		any |= unsure[i];
	}
	return any != 0;
}

/* One that is not sure, as integer / 10^places; false: it is none. */
static bool
round_one(float8 value, const FloatDigits *kind, unsigned places,
		  int64 *integer)
{
	StrataDecimal decimal;
	ExprDecimals one;
	ExprDecimals rounded;

	if (!take_float(value, kind, &decimal))
		return false;
	one.v = &decimal.integer;
	one.null = NULL;
	one.scale = decimal.scale;
	if (!strata_decimals_bound(1, one.v, &one.bound) ||
		!strata_decimals_round(1, &one, DECIMAL_ROUND, places, &rounded) ||
		!strata_decimals_rescale(1, &rounded, places))
		return false;
	*integer = rounded.v[0];
	return true;
}

/* See expr_decimal_private.h. */
bool
strata_decimals_round_floats(int n, const float8 *floats, const uint8 *null,
							 bool single, unsigned places, ExprDecimals *out)
{
	const FloatDigits *kind = single ? &of_float4 : &of_float8;
	int64	   *v = palloc(sizeof(int64) * n);
	uint8	   *unsure = palloc(n);
	int64		power;

	if (!strata_decimals_power(places, &power))
		return false;
	out->v = v;
	out->null = null;
	out->scale = out->display = places;
	out->displays = NULL;
	if (round_products(n, floats, (float8) power, kind, v, unsure))
		for (int i = 0; i < n; i++)
			if (unsure[i] && (null == NULL || !null[i]) &&
				!round_one(floats[i], kind, places, &v[i]))
				return false;
	return strata_decimals_bound(n, v, &out->bound);
}

/*-------------------------------------------------------------------------
 * The way back
 *-------------------------------------------------------------------------
 */

/* Floats are exact up to these, and as powers of ten. */
#define EXACT_MAX ((uint64) 1 << DBL_MANT_DIG)
#define EXACT_POWER_MAX 22

/* value / 10^scale as PostgreSQL reads it. */
static float8
read_float(int64 value, unsigned scale)
{
	Datum		numeric = NumericGetDatum(int64_div_fast_to_numeric(value,
																	(int) scale));

	return DatumGetFloat8(DirectFunctionCall1(numeric_float8, numeric));
}

/*
 * See expr_decimal_private.h.  PostgreSQL reads the printed number, and gets
 * the float next to it; so does a division of two that are exact.
 */
void
strata_decimals_to_floats(int n, const ExprDecimals *a, float8 *out)
{
	float8		power = 1;

	for (unsigned i = 0; i < Min(a->scale, EXACT_POWER_MAX); i++)
		power *= 10;
	if (a->bound <= EXACT_MAX && a->scale <= EXACT_POWER_MAX)
		for (int i = 0; i < n; i++)
			out[i] = (float8) a->v[i] / power;
	else
		for (int i = 0; i < n; i++)
			out[i] = a->scale <= EXACT_POWER_MAX &&
				a->v[i] <= (int64) EXACT_MAX && a->v[i] >= -(int64) EXACT_MAX ?
				(float8) a->v[i] / power : read_float(a->v[i], a->scale);
}

/* See expr_decimal_private.h. */
bool
strata_decimals_to_integers(int n, const ExprDecimals *a, int width,
							const int64 **out)
{
	ExprDecimals rounded;
	int64		limit = width == sizeof(int16) ? PG_INT16_MAX :
	width == sizeof(int32) ? PG_INT32_MAX : PG_INT64_MAX;

	if (!strata_decimals_round(n, a, DECIMAL_ROUND, 0, &rounded))
		return false;
	*out = rounded.v;
	if (rounded.bound <= (uint64) limit)
		return true;
	for (int i = 0; i < n; i++)
		if ((rounded.v[i] > limit || rounded.v[i] < -limit - 1) &&
			(a->null == NULL || !a->null[i]))
			return false;
	return true;
}
