/*-------------------------------------------------------------------------
 *
 * test_columns.c
 *	  Every codec, kind, width and size: what goes in comes out, bit for bit.
 *
 * test/unit/test_columns.c
 *-------------------------------------------------------------------------
 */
#include "roundtrip.h"

static const uint32_t sizes[] = {0, 1, 2, 3, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000};

#define NSIZES (sizeof(sizes) / sizeof(sizes[0]))

/* All codecs on a sample, which is freed. */
static void
all_codecs(Sample s, bool all_ranges)
{
	for (int level = STRATA_LEVEL_BALANCED; level <= STRATA_LEVEL_ARCHIVE; level++)
		for (int id = STRATA_CODEC_AUTO; id < STRATA_CODEC_COUNT; id++)
		{
			/*
			 * levels differ in AUTO, and archives in all codecs that have
			 * streams or blocks
			 */
			if (level == STRATA_LEVEL_HOT && id != STRATA_CODEC_AUTO)
				continue;
			s.v.level = (StrataLevel) level;
			if (strata_codec_supports((StrataCodecId) id, s.v.kind, s.v.width))
				check_roundtrip(&s, (StrataCodecId) id, all_ranges);
		}
	sample_free(&s);
}

static void
ints_of_width(uint8_t width)
{
	for (const char *const *p = int_patterns; *p; p++)
		for (size_t i = 0; i < NSIZES; i++)
			all_codecs(sample_int(*p, width, sizes[i]), false);
}

static void
test_int1(void)
{
	ints_of_width(1);
}

static void
test_int2(void)
{
	ints_of_width(2);
}

static void
test_int4(void)
{
	ints_of_width(4);
}

static void
test_int8(void)
{
	ints_of_width(8);
}

static void
floats_of_width(uint8_t width)
{
	for (const char *const *p = float_patterns; *p; p++)
		for (size_t i = 0; i < NSIZES; i++)
			all_codecs(sample_float(*p, width, sizes[i]), false);
}

static void
test_float4(void)
{
	floats_of_width(4);
}

static void
test_float8(void)
{
	floats_of_width(8);
}

/* The largest batch there is. */
static void
test_largest(void)
{
	for (const char *const *p = int_patterns; *p; p++)
		all_codecs(sample_int(*p, 8, STRATA_CODEC_MAX_ROWS), false);
	for (const char *const *p = float_patterns; *p; p++)
		all_codecs(sample_float(*p, 8, STRATA_CODEC_MAX_ROWS), false);
	for (const char *const *p = bytes_patterns; *p; p++)
		if (strcmp(*p, "long") != 0 && strncmp(*p, "jsonb", 5) != 0)
			all_codecs(sample_bytes(*p, STRATA_CODEC_MAX_ROWS), false);
}

static void
test_nulls(void)
{
	static const uint32_t some[] = {1, 2, 8, 129, 1000};

	for (int nulls = NULLS_FEW; nulls < NULLS_COUNT; nulls++)
		for (size_t i = 0; i < 5; i++)
		{
			for (uint8_t width = 1; width <= 8; width = (uint8_t) (width * 2))
			{
				Sample		s = sample_int("walk", width, some[i]);

				sample_add_nulls(&s, (NullPattern) nulls);
				all_codecs(s, some[i] <= 129 && width == 4);
			}
			for (const char *const *p = bytes_patterns; *p; p++)
			{
				Sample		s = sample_bytes(*p, some[i]);

				sample_add_nulls(&s, (NullPattern) nulls);
				all_codecs(s, some[i] <= 8);
			}
			Sample		s = sample_float("tenths", 8, some[i]);

			sample_add_nulls(&s, (NullPattern) nulls);
			all_codecs(s, some[i] <= 129);
		}
}

/* Decoding any range equals that part of decoding everything. */
static void
test_ranges(void)
{
	all_codecs(sample_int("walk", 4, 300), true);
	all_codecs(sample_int("gaps", 8, 300), true);
	all_codecs(sample_int("outliers", 8, 200), true);
	all_codecs(sample_float("mixed", 8, 300), true);
	all_codecs(sample_float("walk", 4, 300), true);
	all_codecs(sample_bytes("words", 130), true);
	all_codecs(sample_bytes("long", 60), true);
	all_codecs(sample_bytes("jsonb", 50), true);
	all_codecs(sample_bytes("jsonb_nested", 50), true);
}

void
test_columns(void)
{
	unit_run("round trip int1", test_int1);
	unit_run("round trip int2", test_int2);
	unit_run("round trip int4", test_int4);
	unit_run("round trip int8", test_int8);
	unit_run("round trip float4", test_float4);
	unit_run("round trip float8", test_float8);
	unit_run("round trip largest batch", test_largest);
	unit_run("round trip nulls", test_nulls);
	unit_run("ranges", test_ranges);
}

static void
test_bytes(void)
{
	for (const char *const *p = bytes_patterns; *p; p++)
		for (size_t i = 0; i < NSIZES; i++)
			all_codecs(sample_bytes(*p, sizes[i]), false);
}

/* The parts of a column in codec LARGE are those of its values, and what is damaged is found. */
static void
check_parts(const Sample *s, Encoded *e)
{
	StrataCodecInfo info;
	StrataLarge large;
	size_t		need = 7;
	size_t		size;
	size_t		len;
	uint8_t    *scratch;
	uint8_t    *stream;
	bool	   *isnull = unit_alloc(s->nrows);
	uint32_t	value = 0;
	StrataCodecResult rc;

	do
	{
		len = need;
		rc = strata_large_need(e->buf, len < e->len ? len : e->len, &need);
	} while (rc == STRATA_CODEC_OK && need > len);
	CHECK(rc == STRATA_CODEC_OK && need <= e->len);
	/* the head alone is enough for what it says */
	CHECK(strata_column_check(e->buf, need, 0, &info) == STRATA_CODEC_OK);
	CHECK(strata_column_check(e->buf, need - 1, 0, &info) != STRATA_CODEC_OK);
	CHECK(strata_large_scratch_size(e->buf, need, &size) == STRATA_CODEC_OK);
	scratch = unit_alloc(size);
	CHECK(strata_large_open(e->buf, need, scratch, size, &large, isnull) == STRATA_CODEC_OK);
	CHECK(large.n == s->v.n && large.blocks[large.nblocks].stored_at == e->len);
	CHECK(s->v.level == STRATA_LEVEL_ARCHIVE || large.largest <= 65536);
	stream = unit_alloc(large.blocks[large.nblocks].raw_at);
	for (uint32_t b = 0; b < large.nblocks; b++)
	{
		uint8_t    *stored = e->buf + large.blocks[b].stored_at;

		CHECK(strata_large_find_block(&large, large.blocks[b].raw_at) == b);
		CHECK(strata_large_find_block(&large, large.blocks[b + 1].raw_at - 1) == b);
		stored[b % 3] ^= 1;
		CHECK(strata_large_read_block(&large, b, stored, stream + large.blocks[b].raw_at) == STRATA_CODEC_CORRUPT);
		stored[b % 3] ^= 1;
		CHECK(strata_large_read_block(&large, b, stored, stream + large.blocks[b].raw_at) == STRATA_CODEC_OK);
	}
	for (uint32_t row = 0; row < s->nrows; row++)
	{
		const uint8_t *bytes = s->v.payload + s->v.offsets[value];
		uint32_t	nbytes = s->v.offsets[value + 1] - s->v.offsets[value];
		uint32_t	lead = nbytes < large.lead ? nbytes : large.lead;
		uint32_t	tails = 0;

		CHECK(isnull[row] == (s->isnull && s->isnull[row]));
		if (isnull[row])
			continue;
		for (uint32_t k = 0; k < nbytes; k++)
			tails += bytes[k] >= 0x80 && bytes[k] < 0xc0;
		CHECK(large.lengths[value] == nbytes && large.tails[value] == tails);
		CHECK(memcmp(stream + large.lead_at[value], bytes, lead) == 0);
		CHECK(nbytes == lead || memcmp(stream + large.body_at[value], bytes + lead, nbytes - lead) == 0);
		value++;
	}
	free(stream);
	free(scratch);
	free(isnull);
}

/* Lengths without values are those of the values. */
static void
check_lengths(const Sample *s, const Encoded *e, StrataCodecId id)
{
	size_t		size = 0;
	uint8_t    *scratch;
	uint32_t   *lengths = unit_alloc(s->nrows * sizeof(uint32_t));
	bool	   *isnull = unit_alloc(s->nrows);
	bool		hasnull;
	uint32_t	value = 0;
	bool		told = id == STRATA_CODEC_LARGE || id == STRATA_CODEC_RAW || id == STRATA_CODEC_LZ4 || id == STRATA_CODEC_ZSTD;

	if (id == STRATA_CODEC_LARGE)
		CHECK(strata_large_scratch_size(e->buf, e->len, &size) == STRATA_CODEC_OK);
	scratch = unit_alloc(size);
	CHECK(strata_column_decode_lengths(e->buf, e->len, scratch, size, lengths, NULL, isnull, &hasnull) ==
		  (told ? STRATA_CODEC_OK : STRATA_CODEC_NOT_APPLICABLE));
	for (uint32_t row = 0; row < s->nrows && told; row++)
	{
		bool		null = s->isnull && s->isnull[row];

		CHECK(isnull[row] == null);
		CHECK(lengths[row] == (null ? 0 : s->v.offsets[value + 1] - s->v.offsets[value]));
		value += !null;
	}
	CHECK(!told || hasnull == (s->v.n < s->nrows));
	free(lengths);
	free(isnull);
	free(scratch);
}

static void
test_large(void)
{
	static const uint32_t some[] = {1, 2, 9, 60};
	static const char *const patterns[] = {"pages", "long", "random"};

	for (int which = 0; which < 4 * 3 * 3 * 2; which++)
	{
		Sample		s = sample_bytes(patterns[which % 3], some[which / 3 % 4]);
		StrataCodecInfo info;
		Encoded		e;

		sample_add_nulls(&s, which / 36 ? NULLS_HALF : NULLS_NO);
		s.v.level = (StrataLevel) (which / 12 % 3);
		for (int id = 0; id < STRATA_CODEC_COUNT; id++)
		{
			if (!strata_codec_supports((StrataCodecId) id, STRATA_KIND_BYTES, 0) || !strata_codec_available((StrataCodecId) id))
				continue;
			check_roundtrip(&s, (StrataCodecId) id, id == STRATA_CODEC_LARGE && s.nrows < 10);
			e = encode_sample(&s, (StrataCodecId) id);
			if (e.rc == STRATA_CODEC_OK && strata_column_describe(e.buf, e.len, true, &info) == STRATA_CODEC_OK)
			{
				check_lengths(&s, &e, info.id);
				if (info.id == STRATA_CODEC_LARGE)
					check_parts(&s, &e);
				/* values of 8 kB and more are large, whoever is asked */
				if (id == STRATA_CODEC_AUTO && s.v.n > 0 && s.v.offsets[s.v.n] / s.v.n >= 8192)
					CHECK(info.id == STRATA_CODEC_LARGE);
			}
			free(e.buf);
		}
		sample_free(&s);
	}
}

void
test_bytes_columns(void)
{
	unit_run("round trip bytes", test_bytes);
	unit_run("large values in part", test_large);
}
