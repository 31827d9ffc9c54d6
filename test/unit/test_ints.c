/*-------------------------------------------------------------------------
 *
 * test_ints.c
 *	  The integer stream: documented examples, size promises, wraparound.
 *
 * test/unit/test_ints.c
 *-------------------------------------------------------------------------
 */
#include "codec/int/int_block.h"
#include "roundtrip.h"

/* Encode integers as a stream into memory of exactly its size. */
static Encoded
encode_ints(const int64_t *values, uint32_t n, StrataLevel level)
{
	size_t		bound = strata_ints_bound(n);
	size_t		scratch_size = strata_ints_scratch_size(n);
	uint8_t    *out = unit_alloc(bound);
	uint8_t    *scratch = unit_alloc(scratch_size);
	StrataArena arena = strata_arena(scratch, scratch_size);
	StrataWriter w = strata_writer(out, bound);
	Encoded		e = {0};
	StrataIntPlan plan;

	e.rc = strata_ints_plan(values, n, level, &arena, &plan);
	CHECK(e.rc == STRATA_CODEC_OK && strata_ints_write(&plan, &w) == STRATA_CODEC_OK);
	e.len = strata_writer_len(&w);
	/* what was planned is what is written, to the byte */
	CHECK(e.len == plan.nbytes);
	e.buf = unit_alloc(e.len);
	memcpy(e.buf, out, e.len);
	free(out);
	free(scratch);
	CHECK(e.rc == STRATA_CODEC_OK);
	return e;
}

static void
check_ints(const int64_t *values, uint32_t n)
{
	for (int level = STRATA_LEVEL_BALANCED; level <= STRATA_LEVEL_ARCHIVE; level++)
	{
		Encoded		e = encode_ints(values, n, (StrataLevel) level);
		int64_t    *back = unit_alloc(n * sizeof(int64_t));

		CHECK(strata_ints_decode(e.buf, e.len, n, 0, n, 8, back) == STRATA_CODEC_OK);
		CHECK(memcmp(values, back, n * sizeof(int64_t)) == 0);
		free(back);
		free(e.buf);
	}
}

/* Gnocchi's example: the differences are multiples of 5, stored as 1, 1, 2, 1. */
static void
test_gnocchi(void)
{
	static const int64_t values[] = {41230, 41235, 41240, 41250, 41255};
	Encoded		e = encode_ints(values, 5, STRATA_LEVEL_BALANCED);
	char		text[96];
	const uint8_t *at = e.buf;
	StrataReader r;

	strata_ints_describe(e.buf, e.len, 5, text, sizeof(text));
	CHECK(strstr(text, "gcd 5") != NULL);
	CHECK(strstr(text, "delta") != NULL);
	r = strata_reader(at + 1, e.len - 1);
	CHECK(strata_read_varint(&r) == 41230 * 2);
	CHECK(strata_read_varint(&r) == 5);
	free(e.buf);
	check_ints(values, 5);
}

/* A regular timestamp column is a header and nothing else. */
static void
test_regular(void)
{
	int64_t		values[1000];
	Sample		s = sample_int("ramp", 8, 1000);
	Encoded		column = encode_sample(&s, STRATA_CODEC_AUTO);
	Encoded		e;

	for (int i = 0; i < 1000; i++)
		values[i] = INT64_C(700000000000000) + (int64_t) i * 10000000;
	e = encode_ints(values, 1000, STRATA_LEVEL_BALANCED);
	CHECK(e.len <= 1 + 10 + 10);
	CHECK(column.len <= 60);
	check_range(&s, &column, 0, 1000);
	check_range(&s, &column, 999, 1);
	free(e.buf);
	free(column.buf);
	sample_free(&s);
}

/* Regular but for a few gaps: far below a byte a value. */
static void
test_gaps(void)
{
	Sample		s = sample_int("gaps", 8, 1000);
	Encoded		e = encode_sample(&s, STRATA_CODEC_AUTO);

	CHECK(e.len <= 130);
	free(e.buf);
	sample_free(&s);
}

static void
test_wraparound(void)
{
	static const int64_t edges[] = {INT64_MIN, INT64_MAX, INT64_MIN, INT64_MIN, 0, INT64_MAX, -1, 1};
	static const int64_t far_apart[] = {INT64_MIN, 0, INT64_MIN, 0, INT64_MIN};
	static const int64_t two[] = {INT64_MAX, INT64_MIN};
	int64_t		values[700];

	check_ints(edges, 8);
	check_ints(far_apart, 5);
	check_ints(two, 2);
	for (int i = 0; i < 700; i++)
		values[i] = edges[unit_below(8)];
	check_ints(values, 700);
	/* a step that wraps around again and again */
	for (int i = 0; i < 700; i++)
		values[i] = (int64_t) ((uint64_t) i * UINT64_C(0x3000000000000001));
	check_ints(values, 700);
	for (int i = 0; i < 700; i++)
		values[i] = (int64_t) ((uint64_t) (i % 3) << 62);
	check_ints(values, 700);
}

/* Every shape there is holds any integers, whatever the planner thinks of it. */
static void
check_shape(const IntShape *shape, const Sample *s)
{
	uint32_t	n = s->v.n;
	size_t		bound = strata_ints_bound(n);
	size_t		scratch_size = strata_ints_scratch_size(n);
	uint8_t    *out = unit_alloc(bound);
	uint8_t    *out2 = unit_alloc(bound);
	uint8_t    *scratch = unit_alloc(scratch_size);
	int64_t    *back = unit_alloc(n * sizeof(int64_t));
	StrataArena arena = strata_arena(scratch, scratch_size);
	StrataWriter w = strata_writer(out, bound);
	StrataWriter w2 = strata_writer(out2, bound);

	CHECK(strata_ints_encode_as(shape, s->fixed, n, &arena, &w) == STRATA_CODEC_OK);
	strata_codec_portable_only = true;
	CHECK(strata_ints_encode_as(shape, s->fixed, n, &arena, &w2) == STRATA_CODEC_OK);
	strata_codec_portable_only = false;
	CHECK(strata_writer_len(&w) == strata_writer_len(&w2) && memcmp(out, out2, strata_writer_len(&w)) == 0);
	CHECK(strata_ints_decode(out, strata_writer_len(&w), n, 0, n, 8, back) == STRATA_CODEC_OK);
	CHECK(memcmp(s->fixed, back, n * sizeof(int64_t)) == 0);
	for (int i = 0; i < 10; i++)
	{
		uint32_t	from = unit_below(n);
		uint32_t	count = unit_below(n - from + 1);

		CHECK(strata_ints_decode(out, strata_writer_len(&w), n, from, count, 8, back) == STRATA_CODEC_OK);
		CHECK(memcmp((int64_t *) s->fixed + from, back, count * sizeof(int64_t)) == 0);
	}
	for (uint32_t i = 0; i < n; i++)
		CHECK(strata_ints_decode(out, strata_writer_len(&w), n, i, 1, 8, back) == STRATA_CODEC_OK &&
			  back[0] == ((int64_t *) s->fixed)[i]);
	free(out);
	free(out2);
	free(scratch);
	free(back);
}

/* Integers at the limit of lanes of 32 bits. */
static void
test_lanes(void)
{
	static const uint32_t sizes[] = {3, 64, 257, 700};

	for (int log2 = INT_NARROW_BITS - 2; log2 <= 32; log2++)
		for (int mode = 0; mode < 3 * 2 * 3; mode++)
		{
			IntShape	shape = {(IntTransform) (mode % 3), INT_PACK_BITS, mode / 3 % 2, 6 + (unsigned) mode / 6};

			for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			{
				Sample		s = sample_int("zero", 8, sizes[i]);
				int64_t    *values = (int64_t *) s.fixed;

				for (uint32_t k = 1; k < sizes[i]; k++)
					values[k] = (unit_below(2) ? -1 : 1) * ((INT64_C(1) << log2) - (int64_t) unit_below(3));
				check_shape(&shape, &s);
				sample_free(&s);
			}
		}
}

/* Few small multiples, of both signs, of every divisor: the whole of the shift matters. */
static void
test_large_divisors(void)
{
	for (int shift = 0; shift < 63; shift++)
		for (int odd = 1; odd <= 7; odd += 2)
			for (int mode = 0; mode < 3 * 2; mode++)
			{
				IntShape	shape = {(IntTransform) (mode % 3), INT_PACK_BITS, mode / 3 % 2, 6};
				Sample		s = sample_int("zero", 8, 100);
				int64_t    *values = (int64_t *) s.fixed;

				for (uint32_t k = 0; k < 100; k++)
					values[k] = (int64_t) (((uint64_t) unit_below(9) - 4) * (uint64_t) odd << shift);
				check_ints(values, 100);
				check_shape(&shape, &s);
				sample_free(&s);
			}
}

static void
test_shapes(void)
{
	static const uint32_t sizes[] = {1, 2, 3, 64, 65, 66, 256, 257, 258, 259, 700};

	for (int mode = 0; mode < 3 * 2 * 3; mode++)
	{
		IntShape	shape = {(IntTransform) (mode % 3), INT_PACK_BITS, mode / 3 % 2, 6 + (unsigned) mode / 6};

		for (const char *const *p = int_patterns; *p; p++)
			for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			{
				Sample		s = sample_int(*p, 8, sizes[i]);

				check_shape(&shape, &s);
				sample_free(&s);
			}
	}
}

static void
test_divisors(void)
{
	int64_t		values[300];

	for (int shift = 0; shift < 62; shift++)
		for (int64_t odd = 1; odd < 8; odd += 2)
		{
			int64_t		value = -5;

			for (int i = 0; i < 300; i++)
			{
				values[i] = value;
				value = (int64_t) ((uint64_t) value + ((unit_random() >> 40) * (uint64_t) odd << shift));
			}
			check_ints(values, 300);
		}
}

static void
test_widths(void)
{
	int64_t		values[400];
	Encoded		e;
	uint8_t		out1[400];
	uint16_t	out2[400];
	uint32_t	out4[400];

	for (int i = 0; i < 400; i++)
		values[i] = (int64_t) unit_random();
	e = encode_ints(values, 400, STRATA_LEVEL_BALANCED);
	CHECK(strata_ints_decode(e.buf, e.len, 400, 3, 300, 1, out1) == STRATA_CODEC_OK);
	CHECK(strata_ints_decode(e.buf, e.len, 400, 3, 300, 2, out2) == STRATA_CODEC_OK);
	CHECK(strata_ints_decode(e.buf, e.len, 400, 3, 300, 4, out4) == STRATA_CODEC_OK);
	for (int i = 0; i < 300; i++)
		CHECK(out1[i] == (uint8_t) values[i + 3] && out2[i] == (uint16_t) values[i + 3] &&
			  out4[i] == (uint32_t) values[i + 3]);
	free(e.buf);
}

void
test_ints(void)
{
	unit_run("gcd of the Gnocchi example", test_gnocchi);
	unit_run("regular timestamps", test_regular);
	unit_run("timestamps with gaps", test_gaps);
	unit_run("wraparound", test_wraparound);
	unit_run("every shape", test_shapes);
	unit_run("limits of lanes", test_lanes);
	unit_run("large divisors", test_large_divisors);
	unit_run("divisors", test_divisors);
	unit_run("truncation to a width", test_widths);
}
