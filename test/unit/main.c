/*-------------------------------------------------------------------------
 *
 * main.c
 *	  Runs the unit tests; an argument picks those whose name contains it.
 *	  With --digest, prints a checksum of many encoded columns instead, which must
 *	  be the same for every build and CPU (C11; LZ codecs left out).
 *
 * test/unit/main.c
 *-------------------------------------------------------------------------
 */
#include "roundtrip.h"

/* The checksum so far and that of a sample in a codec; the sample is freed. */
static uint32_t
digest_sample(uint32_t digest, Sample s)
{
	for (int id = STRATA_CODEC_AUTO; id < STRATA_CODEC_COUNT; id++)
	{
		Encoded		e;
		uint32_t	crc[2] = {digest, 0};
		uint8_t		bytes[8];

		if (id == STRATA_CODEC_ZSTD || !strata_codec_supports((StrataCodecId) id, s.v.kind, s.v.width))
			continue;
		/* builds without zstd write something else where AUTO may take it */
		s.v.level = id == STRATA_CODEC_AUTO && s.v.kind == STRATA_KIND_FLOAT ? STRATA_LEVEL_HOT : STRATA_LEVEL_BALANCED;
		e = encode_sample(&s, (StrataCodecId) id);
		if (e.rc == STRATA_CODEC_OK)
			crc[1] = strata_crc32c(e.buf, e.len);
		/* the same bytes on every CPU */
		for (int i = 0; i < 8; i++)
			bytes[i] = (uint8_t) (crc[i / 4] >> i % 4 * 8);
		digest = strata_crc32c(bytes, sizeof(bytes));
		free(e.buf);
	}
	sample_free(&s);
	return digest;
}

static uint32_t
digest_samples(void)
{
	uint32_t	digest = 0;

	for (uint32_t n = 10; n < 5000; n *= 3)
	{
		for (const char *const *p = int_patterns; *p; p++)
			for (uint8_t width = 1; width <= 8; width = (uint8_t) (width * 2))
				digest = digest_sample(digest, sample_int(*p, width, n));
		for (const char *const *p = float_patterns; *p; p++)
			for (uint8_t width = 4; width <= 8; width = (uint8_t) (width * 2))
				digest = digest_sample(digest, sample_float(*p, width, n));
	}
	return digest;
}

int
main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "--digest") == 0)
	{
		printf("%08x\n", digest_samples());
		return 0;
	}
	unit_start(argc, argv);
	test_bits();
	test_ints();
	test_floats();
	test_columns();
	test_bytes_columns();
	test_hostile();
	test_golden();
	return unit_finish();
}
