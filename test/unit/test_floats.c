/*-------------------------------------------------------------------------
 *
 * test_floats.c
 *	  Planned sizes of floats, and quotients that are not divided.
 *
 * test/unit/test_floats.c
 *-------------------------------------------------------------------------
 */
#include "codec/decimal.h"
#include "roundtrip.h"

/* What is planned for a sample, which is freed, is what is written. */
static void
check_sizes(Sample s)
{
	size_t		bound = strata_column_encode_bound(&s.v, s.nrows) * 2;
	size_t		scratch_size = strata_column_encode_scratch_size(&s.v, s.nrows);
	uint8_t    *out = unit_alloc(bound);
	uint8_t    *scratch = unit_alloc(scratch_size);
	StrataArena arena = strata_arena(scratch, scratch_size);
	StrataWriter w = strata_writer(out, bound);
	StrataDecimalPlan plan;

	CHECK(strata_codec_gorilla.encode(&s.v, &arena, &w) == STRATA_CODEC_OK);
	w = strata_writer(out, bound);
	CHECK(strata_decimal_plan(&s.v, &arena, &plan) == STRATA_CODEC_OK);
	CHECK(strata_decimal_write(&s.v, &plan, &w) == STRATA_CODEC_OK);
	CHECK(plan.nbytes == strata_writer_len(&w));
	free(out);
	free(scratch);
	sample_free(&s);
}

static void
test_float_sizes(void)
{
	static const uint32_t sizes[] = {1, 2, 255, 256, 257, 1000, 4097};

	for (const char *const *p = float_patterns; *p; p++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			for (uint8_t width = 4; width <= 8; width = (uint8_t) (width * 2))
				check_sizes(sample_float(*p, width, sizes[i]));
}

/* Integers of any length below 2^51, and quotients of powers of two near the middle of doubles. */
static int64_t
some_integer(double power)
{
	int64_t		v = (int64_t) (unit_random() >> (13 + unit_below(51)));

	if (unit_below(4) == 0)
	{
		/*
		 * the product of a number of 53 bits and the power, as near as
		 * integers come
		 */
		double		near = (double) (int64_t) (unit_random() >> 11) * power;

		while (near >= 2251799813685248.0)
			near /= 2;
		v = (int64_t) near;
	}
	return unit_below(2) ? v : -v;
}

/* Vector code without division has the bits of division. */
static void
test_quotients(void)
{
	uint64_t	values[256];
	float		floats[256];
	int64_t		integers[256];
	double		power = 1;

	for (int e = 0; e <= 15; e++, power *= 10)
		for (int round = 0; round < 400; round++)
		{
			uint32_t	done;

			for (int i = 0; i < 256; i++)
				values[i] = (uint64_t) (integers[i] = some_integer(power));
			done = strata_decimal_simd_to_floats(values, 256, power, floats);
			for (uint32_t i = 0; i < done; i++)
				CHECK(floats[i] == (float) ((double) integers[i] / power));
			done = strata_decimal_simd_to_doubles(values, 256, power);
			for (uint32_t i = 0; i < done; i++)
			{
				double		quotient = (double) integers[i] / power;

				CHECK(memcmp(&values[i], &quotient, 8) == 0);
			}
		}
}

/* What no encoder writes is left to portable code. */
static void
test_too_large(void)
{
	uint64_t	values[8] = {1, 2, 3, UINT64_C(1) << 51, 5, 6, 7, 8};
	float		floats[8];

	CHECK(strata_decimal_simd_to_doubles(values, 8, 10) == 0);
	CHECK(strata_decimal_simd_to_floats(values, 8, 10, floats) == 0);
	values[3] = 0 - (UINT64_C(1) << 51) - 1;
	CHECK(strata_decimal_simd_to_doubles(values, 8, 10) == 0);
	CHECK(strata_decimal_simd_to_doubles(values, 8, 1e16) == 0);
}

void
test_floats(void)
{
	unit_run("planned sizes of floats", test_float_sizes);
	unit_run("quotients without division", test_quotients);
	unit_run("integers too large for that", test_too_large);
}
