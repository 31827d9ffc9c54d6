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

void
test_bytes_columns(void)
{
	unit_run("round trip bytes", test_bytes);
}
