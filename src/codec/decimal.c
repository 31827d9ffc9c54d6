/*-------------------------------------------------------------------------
 *
 * decimal.c
 *	  Codec DECIMAL: floats as integers, scaled by a power of ten if they are
 *	  decimal numbers, else their bits.
 *
 *	OFFSET	SIZE	MEANING
 *	0		1		exponent e, 0 .. 22; 255: the bits, see below
 *			1-3		number of exceptions, varint
 *			2 each	their positions among the n values, ascending
 *			width	each: their values, little-endian
 *			...		n integers i, an integer stream (int_stream.c)
 *
 * Value = i / 10^e, one IEEE 754 division of doubles (for width 4 rounded to
 * float afterwards), |i| < 2^51; except for exceptions, whose integer repeats
 * the one before.  The encoder does the division too and compares bits, so -0,
 * NaN, infinities and whatever is no short decimal become exceptions.
 *
 * With e = 255 there are no exceptions and nothing in their place: the n
 * integers follow at offset 1.  They are the bits of the values rotated left
 * by one, so that the sign is the lowest and values of nearly the same size
 * have nearly the same integer, for width 8 with the top bit inverted.
 *
 * Differences to the paper: it multiplies by 10^f and 10^-e, the latter
 * inexact, and looks for the (e, f) with the fewest failures.  i / 10^e with
 * both exact is the correctly rounded decimal, so it never fails on one, has a
 * single parameter and leaves the trailing zeros to the gcd of the integer
 * stream.  And where it cuts real doubles into two parts, the minimum and
 * width of a block do much the same.
 *
 * References: A. Afroozeh, L. Kuffo, P. Boncz, "ALP: adaptive lossless
 * floating-point compression", SIGMOD 2023; W. Clinger, "How to read floating
 * point numbers accurately", PLDI 1990 (exactness of the division).
 *
 * src/codec/decimal.c
 *-------------------------------------------------------------------------
 */
#include <float.h>
#include <stdio.h>

#include "codec/bitstream.h"
#include "codec/decimal.h"

#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0
#error "floating point arithmetic must be done in double precision (i386: -msse2 -mfpmath=sse)"
#endif

#define EXPONENT_MAX 22
#define EXPONENT_BITS 255
#define EXPONENT_TRIED 17
#define SAMPLE_ROWS 32
#define SAMPLE_GIVE_UP 8

#define MAGIC STRATA_DECIMAL_MAGIC
#define MAGIC_BITS STRATA_DECIMAL_MAGIC_BITS
#define LIMIT STRATA_DECIMAL_LIMIT

#define TOP_BIT (UINT64_C(1) << 63)

static const double powers[EXPONENT_MAX + 1] = {
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22
};

STRATA_INLINE uint64_t
double_bits(double d)
{
	uint64_t	bits;

	memcpy(&bits, &d, sizeof(bits));
	return bits;
}

STRATA_INLINE double
bits_double(uint64_t bits)
{
	double		d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

/*
 * --- encoding
 * ----------------------------------------------------------------
 */

static size_t
decimal_encode_scratch_size(const StrataVector *v)
{
	return 2 * STRATA_ARENA_SIZE(v->n * sizeof(int64_t)) +
		strata_ints_scratch_size(v->n);
}

/* The integer of a value, and whether it gives the value back. */
STRATA_INLINE bool
to_integer(double value, double power, bool is_float4, int64_t *integer)
{
	double		scaled = value * power;
	double		shifted = scaled + MAGIC;
	double		back = (shifted - MAGIC) / power;
	uint64_t	same;

	*integer = (int64_t) (double_bits(shifted) - MAGIC_BITS);
	if (is_float4)
		back = (double) (float) back;
	same = double_bits(back) ^ double_bits(value);
	return same == 0 && scaled < LIMIT && scaled > -LIMIT;
}

/* Value i of a vector, as a double. */
STRATA_INLINE double
value_at(const StrataVector *v, uint32_t i)
{
	return v->width == 8 ? ((const double *) v->fixed)[i] :
		(double) ((const float *) v->fixed)[i];
}

/* The smallest exponent that holds a value, or EXPONENT_TRIED + 1. */
static unsigned
exponent_of(double value, bool is_float4)
{
	unsigned	e = 0;
	int64_t		integer;

	while (e <= EXPONENT_TRIED &&
		   !to_integer(value, powers[e], is_float4, &integer))
		e++;
	return e;
}

/*
 * The exponent with the least cost by a sample: a digit is log2(10) bits for
 * every value, an exception its width and a position.  False when the sample
 * says that hardly any value is decimal.
 */
static bool
choose_exponent(const StrataVector *v, unsigned *exponent)
{
	unsigned	having[EXPONENT_TRIED + 2] = {0};
	uint32_t	step = v->n / SAMPLE_ROWS + 1;
	uint64_t	exception_cost = (v->width * 8 + 16) * 100;
	uint64_t	best = 0;
	unsigned	sampled = 0;
	unsigned	held = 0;

	for (uint32_t i = 0; i < v->n; i += step)
	{
		having[exponent_of(value_at(v, i), v->width == 4)]++;
		sampled++;
		if (sampled == SAMPLE_GIVE_UP && having[EXPONENT_TRIED + 1] == sampled)
			return false;
	}
	for (unsigned e = 0; e <= EXPONENT_TRIED; e++)
	{
		uint64_t	cost;

		held += having[e];
		cost = (sampled - held) * exception_cost +
			(uint64_t) sampled * e * 333;
		if (e == 0 || cost < best)
		{
			best = cost;
			*exponent = e;
		}
	}
	return true;
}

/*
 * Integers of values from the `from`-th on; bad[i] is 1 where they do not give
 * the value back.
 */
STRATA_CLONES
static void
to_integers(const StrataVector *v, uint32_t from, double power,
			int64_t *integers, uint64_t *bad)
{
	if (v->width == 8)
		for (uint32_t i = from; i < v->n; i++)
			bad[i] = !to_integer(((const double *) v->fixed)[i], power, false,
								 &integers[i]);
	else
		for (uint32_t i = from; i < v->n; i++)
			bad[i] = !to_integer(((const float *) v->fixed)[i], power, true,
								 &integers[i]);
}

/*
 * Integers of exceptions repeat the one before; the first ones take the first
 * that is none.
 */
static void
smooth_exceptions(uint32_t n, const uint64_t *bad, int64_t *integers)
{
	int64_t		before = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!bad[i])
		{
			before = integers[i];
			break;
		}
	for (uint32_t i = 0; i < n; i++)
	{
		if (bad[i])
			integers[i] = before;
		before = integers[i];
	}
}

/* Write positions and values of the exceptions. */
static void
write_exceptions(const StrataVector *v, uint32_t count, const uint64_t *bad,
				 StrataWriter *out)
{
	uint8_t    *positions = strata_write_space(out, (size_t) count * 2);
	uint32_t	done = 0;

	for (uint32_t i = 0; i < v->n; i++)
	{
		if (!bad[i])
			continue;
		strata_store16(positions + 2 * (size_t) done++, (uint16_t) i);
		if (v->width == 8)
			strata_write_u64(out, ((const uint64_t *) v->fixed)[i]);
		else
			strata_write_u32(out, ((const uint32_t *) v->fixed)[i]);
	}
}

/* The values by their bits, as integers. */
STRATA_CLONES
static void
rotate_bits(const StrataVector *v, int64_t *integers)
{
	if (v->width == 8)
		for (uint32_t i = 0; i < v->n; i++)
		{
			uint64_t	bits = ((const uint64_t *) v->fixed)[i];

			integers[i] = (int64_t) ((bits << 1 | bits >> 63) ^ TOP_BIT);
		}
	else
		for (uint32_t i = 0; i < v->n; i++)
		{
			uint32_t	bits = ((const uint32_t *) v->fixed)[i];

			integers[i] = bits << 1 | bits >> 31;
		}
}

/* What a payload will be, and its size; the arena keeps what it needs. */
StrataCodecResult
strata_decimal_plan(const StrataVector *v, StrataArena *arena,
					StrataDecimalPlan *plan)
{
	int64_t    *integers = strata_arena_alloc(arena, v->n * sizeof(int64_t));
	uint64_t   *bad = strata_arena_alloc(arena, v->n * sizeof(uint64_t));
	uint64_t	count = 0;
	StrataCodecResult rc;

	if (integers == NULL || bad == NULL)
		return STRATA_CODEC_NO_SPACE;
	plan->exponent = EXPONENT_BITS;
	if (choose_exponent(v, &plan->exponent))
	{
		double		power = powers[plan->exponent];
		uint32_t	done;

		done = v->width == 8 ?
			strata_decimal_simd_to_integers(v->fixed, v->n, power, integers,
											bad) : 0;
		to_integers(v, done, power, integers, bad);
		for (uint32_t i = 0; i < v->n; i++)
			count += bad[i];
		if (count > v->n / 2)
			plan->exponent = EXPONENT_BITS;
	}
	if (plan->exponent == EXPONENT_BITS)
	{
		count = 0;
		rotate_bits(v, integers);
	}
	else if (count > 0)
		smooth_exceptions(v->n, bad, integers);
	plan->bad = bad;
	plan->exact = plan->exponent != EXPONENT_BITS && count == 0 ? integers :
		NULL;
	plan->nexceptions = (uint32_t) count;
	rc = strata_ints_plan(integers, v->n, v->level, arena, &plan->integers);
	plan->nbytes = 1 +
		(plan->exponent == EXPONENT_BITS ?
		 0 :
		 strata_varint_size(count)) +
		(size_t) count * (v->width + 2U) + plan->integers.nbytes;
	return rc;
}

/* Append a planned payload. */
StrataCodecResult
strata_decimal_write(const StrataVector *v, const StrataDecimalPlan *plan,
					 StrataWriter *out)
{
	if (plan->nbytes > strata_writer_left(out))
		out->failed = true;
	if (out->failed)
		return STRATA_CODEC_NO_SPACE;
	strata_write_u8(out, (uint8_t) plan->exponent);
	if (plan->exponent != EXPONENT_BITS)
		strata_write_varint(out, plan->nexceptions);
	if (plan->nexceptions > 0)
		write_exceptions(v, plan->nexceptions, plan->bad, out);
	return strata_ints_write(&plan->integers, out);
}

static StrataCodecResult
decimal_encode(const StrataVector *v, StrataArena *scratch, StrataWriter *out)
{
	StrataArena arena = *scratch;
	StrataDecimalPlan plan;
	StrataCodecResult rc = strata_decimal_plan(v, &arena, &plan);

	Assert(v->n > 0);			/* codec:C4 */
	return rc == STRATA_CODEC_OK ? strata_decimal_write(v, &plan, out) : rc;
}

/*
 * --- decoding
 * ----------------------------------------------------------------
 */

/* A payload taken apart. */
typedef struct DecimalParts
{
	unsigned	exponent;
	uint32_t	nexceptions;
	const uint8_t *positions;
	const uint8_t *values;
	const uint8_t *integers;
	size_t		integers_len;
} DecimalParts;

static bool
decimal_parse(const StrataPayload *p, DecimalParts *parts)
{
	StrataReader in = strata_reader(p->data, p->len);
	uint64_t	count;

	parts->exponent = strata_read_u8(&in);
	count = parts->exponent == EXPONENT_BITS ? 0 : strata_read_varint(&in);
	if (in.failed ||
		(parts->exponent > EXPONENT_MAX && parts->exponent != EXPONENT_BITS) ||
		count > p->n)
		return false;
	parts->nexceptions = (uint32_t) count;
	parts->positions = strata_read_bytes(&in, count * 2);
	parts->values = strata_read_bytes(&in, count * p->width);
	parts->integers = in.next;
	parts->integers_len = strata_reader_left(&in);
	return !in.failed;
}

static StrataCodecResult
decimal_decode_scratch_size(const StrataPayload *p, uint32_t from, uint32_t n,
							size_t *size)
{
	(void) from;
	*size = p->width == 4 ? STRATA_ARENA_SIZE(n * sizeof(int64_t)) : 0;
	return STRATA_CODEC_OK;
}

/* Integers to doubles, in place, from the `from`-th on. */
STRATA_CLONES
static void
to_doubles(uint64_t *values, uint32_t from, uint32_t n, double power)
{
	if (power == 1.0)
		for (uint32_t i = from; i < n; i++)
			values[i] = double_bits(bits_double(values[i] + MAGIC_BITS) -
									MAGIC);
	else
		for (uint32_t i = from; i < n; i++)
			values[i] = double_bits((bits_double(values[i] + MAGIC_BITS) -
									 MAGIC) /
									power);
}

/* Integers to floats, from the `from`-th on. */
STRATA_CLONES
static void
to_floats(const uint64_t *values, uint32_t from, uint32_t n, double power,
		  float *out)
{
	for (uint32_t i = from; i < n; i++)
		out[i] = (float) ((bits_double(values[i] + MAGIC_BITS) - MAGIC) /
						  power);
}

/* Integers to the floats whose rotated bits they are. */
STRATA_CLONES
static void
floats_from_bits(const uint64_t *integers, uint32_t n, uint32_t *out)
{
	for (uint32_t i = 0; i < n; i++)
		out[i] = (uint32_t) integers[i] >> 1 | (uint32_t) integers[i] << 31;
}

/*
 * Integers to doubles, in place, by their rotated bits if the power is 0: a
 * sink of integers.
 */
STRATA_CLONES
static void
finish_doubles(double power, uint64_t *values, uint32_t n)
{
	if (power > 0)
		to_doubles(values,
				   power == 1.0 ?
				   0 :
				   strata_decimal_simd_to_doubles(values, n, power),
				   n, power);
	else
		for (uint32_t i = 0; i < n; i++)
		{
			values[i] ^= TOP_BIT;
			values[i] = values[i] >> 1 | values[i] << 63;
		}
}

/* The first exception at or behind a position. */
static uint32_t
first_exception(const DecimalParts *parts, uint32_t position)
{
	uint32_t	lo = 0;
	uint32_t	hi = parts->nexceptions;

	while (lo < hi)
	{
		uint32_t	middle = (lo + hi) / 2;

		if (strata_load16(parts->positions + 2 * (size_t) middle) < position)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo;
}

/* The values of a payload, exceptions not put in. */
static StrataCodecResult
decode_integers(const StrataPayload *p, const DecimalParts *parts,
				uint32_t from, uint32_t n, StrataArena *scratch, void *out)
{
	double		power = parts->exponent == EXPONENT_BITS ? 0 :
	powers[parts->exponent];
	StrataIntSink sink = {power, finish_doubles};
	uint64_t   *integers;
	StrataCodecResult rc;

	if (p->width == 8)
		return strata_ints_decode_to(parts->integers, parts->integers_len,
									 p->n, from, n, &sink, out);
	integers = strata_arena_alloc(scratch, n * sizeof(int64_t));
	if (integers == NULL)
		return STRATA_CODEC_NO_SPACE;
	rc = strata_ints_decode(parts->integers, parts->integers_len, p->n, from,
							n, 8, integers);
	if (rc != STRATA_CODEC_OK)
		return rc;
	if (parts->exponent == EXPONENT_BITS)
		floats_from_bits(integers, n, out);
	else
		to_floats(integers,
				  strata_decimal_simd_to_floats(integers, n, power, out), n,
				  power, out);
	return STRATA_CODEC_OK;
}

/*
 * Values [from, from + n) as floats of the width: quotients, then exceptions
 * over them.
 */
static StrataCodecResult
decimal_decode_fixed(const StrataPayload *p, uint32_t from, uint32_t n,
					 StrataArena *scratch, void *out)
{
	DecimalParts parts;
	StrataCodecResult rc;

	Assert(n <= p->n && from <= p->n - n);	/* codec:C2 */
	if (!decimal_parse(p, &parts))
		return STRATA_CODEC_CORRUPT;
	rc = decode_integers(p, &parts, from, n, scratch, out);
	if (rc != STRATA_CODEC_OK)
		return rc;
	for (uint32_t e = first_exception(&parts, from); e < parts.nexceptions;
		 e++)
	{
		uint32_t	at = strata_load16(parts.positions + 2 * (size_t) e);

		if (at >= from + n)
			break;
		if (at < from)
			return STRATA_CODEC_CORRUPT;
		if (p->width == 8)
			((uint64_t *) out)[at - from] = strata_load64(parts.values +
														  8 * (size_t) e);
		else
			((uint32_t *) out)[at - from] = strata_load32(parts.values +
														  4 * (size_t) e);
	}
	return STRATA_CODEC_OK;
}

/* See decimal.h. */
StrataCodecResult
strata_decimal_decode_integers(const StrataPayload *p, uint32_t from,
							   uint32_t n, unsigned width, void *out)
{
	DecimalParts parts;

	Assert(n <= p->n && from <= p->n - n);	/* codec:C2 */
	if (!decimal_parse(p, &parts))
		return STRATA_CODEC_CORRUPT;
	if (parts.exponent != 0 || parts.nexceptions > 0)
		return STRATA_CODEC_NOT_APPLICABLE;
	return strata_ints_decode(parts.integers, parts.integers_len, p->n, from,
							  n, width, out);
}

/* For people: "1 decimals, 12 exceptions; delta, bits, 8 blocks of 128". */
static void
decimal_describe(const StrataPayload *p, char *text, size_t size)
{
	DecimalParts parts;
	char		integers[64];

	text[0] = '\0';
	if (!decimal_parse(p, &parts))
		return;
	strata_ints_describe(parts.integers, parts.integers_len, p->n, integers,
						 sizeof(integers));
	if (parts.exponent == EXPONENT_BITS)
		snprintf(text, size, "bits; %s", integers);
	else
		snprintf(text, size, "%u decimals, %u exceptions; %s", parts.exponent,
				 parts.nexceptions, integers);
}

const StrataCodec strata_codec_decimal = {
	.name = "decimal",
	.kinds = 1U << STRATA_KIND_FLOAT,
	.available = true,
	.encode_scratch_size = decimal_encode_scratch_size,
	.encode = decimal_encode,
	.decode_scratch_size = decimal_decode_scratch_size,
	.decode_fixed = decimal_decode_fixed,
	.describe = decimal_describe,
};
