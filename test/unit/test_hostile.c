/*-------------------------------------------------------------------------
 *
 * test_hostile.c
 *	  Damaged input: never a crash, and never unnoticed when the CRC is checked.
 *
 * test/unit/test_hostile.c
 *-------------------------------------------------------------------------
 */
#include "fuzz/decode_any.h"
#include "roundtrip.h"

/* A small sample of every kind and null mode, number `which`; false behind the last. */
static bool
some_sample(int which, Sample *s)
{
	switch (which)
	{
		case 0:
			*s = sample_int("walk", 8, 300);
			break;
		case 1:
			*s = sample_int("outliers", 4, 300);
			break;
		case 2:
			*s = sample_int("runs", 2, 300);
			break;
		case 3:
			*s = sample_int("ramp", 8, 300);
			break;
		case 4:
			*s = sample_int("gcd", 8, 100);
			break;
		case 5:
			*s = sample_float("mixed", 8, 300);
			break;
		case 6:
			*s = sample_float("walk", 4, 300);
			break;
		case 7:
			*s = sample_float("random_bits", 8, 60);
			break;
		case 8:
			*s = sample_bytes("words", 60);
			break;
		case 9:
			*s = sample_bytes("few", 200);
			break;
		case 10:
			*s = sample_bytes("constant", 20);
			break;
		case 11:
			*s = sample_bytes("binary", 300);
			break;
		case 12:
			*s = sample_bytes("jsonb", 12);
			break;
		case 13:
			*s = sample_bytes("jsonb_nested", 6);
			break;
		default:
			return false;
	}
	sample_add_nulls(s, which % 3 == 0 ? NULLS_NO : which % 3 == 1 ? NULLS_FEW : NULLS_RUNS);
	return true;
}

/* Call check for each sample in each codec that takes it, at two levels. */
static void
for_each_column(void (*check) (const Encoded *e))
{
	Sample		s;

	for (int which = 0; some_sample(which, &s); which++)
	{
		for (int id = 1; id < 2 * STRATA_CODEC_COUNT; id++)
		{
			Encoded		e;

			s.v.level = id < STRATA_CODEC_COUNT ? STRATA_LEVEL_BALANCED : STRATA_LEVEL_ARCHIVE;
			if (!strata_codec_supports((StrataCodecId) (id % STRATA_CODEC_COUNT), s.v.kind, s.v.width))
				continue;
			e = encode_sample(&s, (StrataCodecId) (id % STRATA_CODEC_COUNT));
			if (e.rc == STRATA_CODEC_OK)
				check(&e);
			free(e.buf);
		}
		sample_free(&s);
	}
}

static void
check_truncated(const Encoded *e)
{
	for (size_t len = 0; len < e->len; len++)
	{
		StrataCodecInfo info;
		uint8_t    *cut = unit_alloc(len);

		memcpy(cut, e->buf, len);
		CHECK(strata_column_describe(cut, len, true, &info) != STRATA_CODEC_OK);
		decode_any(cut, len);
		free(cut);
	}
}

static void
test_truncated(void)
{
	for_each_column(check_truncated);
}

static void
check_bit_flips(const Encoded *e)
{
	for (size_t bit = 0; bit < e->len * 8; bit++)
	{
		StrataCodecInfo info;

		e->buf[bit / 8] ^= (uint8_t) (1 << bit % 8);
		CHECK(strata_column_describe(e->buf, e->len, true, &info) != STRATA_CODEC_OK);
		decode_any(e->buf, e->len);
		e->buf[bit / 8] ^= (uint8_t) (1 << bit % 8);
	}
	CHECK(decode_any(e->buf, e->len) == STRATA_CODEC_OK);
}

static void
test_bit_flips(void)
{
	for_each_column(check_bit_flips);
}

/* Several random changes at once, lengths included. */
static void
check_garbled(const Encoded *e)
{
	for (int i = 0; i < 300; i++)
	{
		size_t		len = e->len + unit_below(16);
		uint8_t    *copy = unit_alloc(len);

		memset(copy, (int) unit_below(256), len);
		memcpy(copy, e->buf, e->len);
		for (uint32_t k = unit_below(8); k > 0; k--)
			copy[unit_below(3) ? unit_below((uint32_t) len) : 7 + unit_below(12) % (len - 7)] = (uint8_t) unit_random();
		decode_any(copy, len);
		free(copy);
	}
}

static void
test_garbled(void)
{
	for_each_column(check_garbled);
}

/* Headers of every shape with a random rest. */
static void
test_random(void)
{
	uint8_t		buf[600];

	for (int i = 0; i < 20000; i++)
	{
		size_t		len = unit_below(sizeof(buf));

		for (size_t k = 0; k < len; k++)
			buf[k] = (uint8_t) (unit_below(3) ? unit_random() : 0);
		if (len > 8)
		{
			buf[0] = (uint8_t) (unit_below(16) ? 1 : unit_below(256));
			buf[1] = (uint8_t) unit_below(STRATA_CODEC_COUNT + 1);
			buf[2] = (uint8_t) unit_below(64);
			buf[7] = (uint8_t) unit_below(140);
		}
		decode_any(buf, len);
	}
}

/* Too little room is an error, not an overrun. */
static void
test_no_space(void)
{
	Sample		s;

	for (int which = 0; some_sample(which, &s); which++)
	{
		size_t		bound = strata_column_encode_bound(&s.v, s.nrows);
		size_t		scratch_size = strata_column_encode_scratch_size(&s.v, s.nrows);

		for (int id = 0; id < STRATA_CODEC_COUNT; id++)
		{
			if (!strata_codec_supports((StrataCodecId) id, s.v.kind, s.v.width))
				continue;
			for (int i = 0; i < 40; i++)
			{
				size_t		cap = i < 20 ? (size_t) i * 7 : unit_below((uint32_t) bound);
				size_t		have = i % 2 ? scratch_size : unit_below((uint32_t) scratch_size);
				uint8_t    *out = unit_alloc(cap);
				void	   *scratch = unit_alloc(have);
				size_t		len = 0;
				StrataCodecResult rc = strata_column_encode(&s.v, s.nrows, s.isnull, (StrataCodecId) id,
															scratch, have, out, cap, &len);

				CHECK(rc != STRATA_CODEC_CORRUPT && (rc != STRATA_CODEC_OK || len <= cap));
				free(out);
				free(scratch);
			}
		}
		sample_free(&s);
	}
}

/* A decoder with too little scratch says so. */
static void
check_small_scratch(const Encoded *e)
{
	StrataCodecInfo info;
	size_t		need;

	strata_column_describe(e->buf, e->len, true, &info);
	if (info.kind != STRATA_KIND_BYTES ||
		strata_column_decode_scratch_size(e->buf, e->len, 0, info.nrows, &need) != STRATA_CODEC_OK)
		return;
	for (size_t have = 0; have < need; have += 1 + need / 37)
	{
		void	   *scratch = unit_alloc(have);
		bool	   *isnull = unit_alloc(info.nrows);
		bool		hasnull;
		StrataBytes bytes;
		StrataCodecResult rc = strata_column_decode_bytes(e->buf, e->len, 0, info.nrows, scratch, have,
														  &bytes, isnull, &hasnull);

		CHECK(rc == STRATA_CODEC_OK || rc == STRATA_CODEC_NO_SPACE);
		free(scratch);
		free(isnull);
	}
}

static void
test_small_scratch(void)
{
	for_each_column(check_small_scratch);
}

/* Arguments that make no sense are refused. */
static void
test_bad_arguments(void)
{
	Sample		s = sample_int("walk", 4, 100);
	uint8_t		out[2000];
	uint8_t		scratch[64];
	bool		isnull[200] = {false};
	size_t		len;
	Encoded		e = encode_sample(&s, STRATA_CODEC_AUTO);
	StrataBytes bytes;
	bool		hasnull;
	size_t		size;

	CHECK(strata_column_encode(&s.v, 99, NULL, STRATA_CODEC_AUTO, scratch, 64, out, 2000, &len) == STRATA_CODEC_NOT_APPLICABLE);
	CHECK(strata_column_encode(&s.v, 101, isnull, STRATA_CODEC_AUTO, scratch, 64, out, 2000, &len) == STRATA_CODEC_NOT_APPLICABLE);
	CHECK(strata_column_encode(&s.v, 40000, isnull, STRATA_CODEC_AUTO, scratch, 64, out, 2000, &len) == STRATA_CODEC_NOT_APPLICABLE);
	CHECK(strata_column_encode(&s.v, 100, NULL, STRATA_CODEC_GORILLA, scratch, 64, out, 2000, &len) == STRATA_CODEC_NOT_APPLICABLE);
	CHECK(strata_column_encode(&s.v, 100, NULL, (StrataCodecId) 99, scratch, 64, out, 2000, &len) == STRATA_CODEC_NOT_APPLICABLE);
	CHECK(strata_column_encode(&s.v, 100, NULL, STRATA_CODEC_CONSTANT, scratch, 64, out, 2000, &len) == STRATA_CODEC_NOT_APPLICABLE);
	CHECK(strata_column_encode(&s.v, 101, NULL, STRATA_CODEC_AUTO, scratch, 64, out, 2000, &len) == STRATA_CODEC_NOT_APPLICABLE);
	{
		/* more than 2 GB: refused before anyone looks at them */
		uint32_t	offsets[2] = {0, UINT32_C(0x80000000)};
		StrataVector huge = {.kind = STRATA_KIND_BYTES,.n = 1,.payload = out,.offsets = offsets};

		for (int id = 0; id < STRATA_CODEC_COUNT; id++)
			CHECK(strata_column_encode(&huge, 1, NULL, (StrataCodecId) id, scratch, 64, out, 2000, &len) ==
				  STRATA_CODEC_NOT_APPLICABLE);
	}
	s.v.width = 3;
	CHECK(strata_column_encode(&s.v, 100, NULL, STRATA_CODEC_AUTO, scratch, 64, out, 2000, &len) == STRATA_CODEC_NOT_APPLICABLE);
	CHECK(strata_column_decode_bytes(e.buf, e.len, 0, 1, scratch, 64, &bytes, isnull, &hasnull) == STRATA_CODEC_NOT_APPLICABLE);
	CHECK(strata_column_decode_fixed(e.buf, e.len, 50, 51, scratch, 64, out, isnull, &hasnull) == STRATA_CODEC_NOT_APPLICABLE);
	CHECK(strata_column_decode_fixed(e.buf, e.len, UINT32_MAX, 2, scratch, 64, out, isnull, &hasnull) == STRATA_CODEC_NOT_APPLICABLE);
	CHECK(strata_column_decode_scratch_size(e.buf, e.len, 101, 0, &size) == STRATA_CODEC_NOT_APPLICABLE);
	free(e.buf);
	sample_free(&s);
}

void
test_hostile(void)
{
	unit_run("truncated columns", test_truncated);
	unit_run("every bit flipped, CRC notices", test_bit_flips);
	unit_run("garbled columns", test_garbled);
	unit_run("random columns", test_random);
	unit_run("encoding into too little room", test_no_space);
	unit_run("decoding with too little scratch", test_small_scratch);
	unit_run("bad arguments", test_bad_arguments);
}
