/*-------------------------------------------------------------------------
 *
 * corpus_make.c
 *	  Makes seeds for the fuzz targets: small columns of every codec, and small
 *	  vectors.  Overwrites those of the same name.
 *
 *	corpus_make ../fuzz/corpus
 *
 * test/unit/corpus_make.c
 *-------------------------------------------------------------------------
 */
#include <errno.h>
#include <sys/stat.h>

#include "roundtrip.h"

static const char *root;

static void
write_seed(const char *target, const char *name, const void *data, size_t len)
{
	char		path[1024];
	FILE	   *out;

	snprintf(path, sizeof(path), "%s/%s", root, target);
	if (mkdir(path, 0777) != 0 && errno != EEXIST)
		exit(1);
	snprintf(path, sizeof(path), "%s/%s/%s", root, target, name);
	out = fopen(path, "wb");
	if (out == NULL || fwrite(data, 1, len, out) != len || fclose(out) != 0)
	{
		perror(path);
		exit(1);
	}
}

/* The sample as a column of each codec that does not fall back; freed. */
static void
seed_columns(Sample s, const char *name, NullPattern nulls)
{
	sample_add_nulls(&s, nulls);
	for (int id = 1; id < STRATA_CODEC_COUNT; id++)
	{
		char		target[64];
		char		file[64];
		StrataCodecInfo info;
		Encoded		e;

		if (!strata_codec_supports((StrataCodecId) id, s.v.kind, s.v.width))
			continue;
		e = encode_sample(&s, (StrataCodecId) id);
		if (e.rc != STRATA_CODEC_OK)
			continue;
		strata_column_describe(e.buf, e.len, true, &info);
		snprintf(target, sizeof(target), "%s_decode", strata_codec_name((StrataCodecId) id));
		snprintf(file, sizeof(file), "%s_%u_%u", name, s.v.width, s.nrows);
		if ((int) info.id == id)
			write_seed(target, file, e.buf, e.len);
		free(e.buf);
	}
	sample_free(&s);
}

/* Archives of a sample's integers; freed. */
static void
seed_archive(Sample s, const char *name)
{
	char		file[64];
	Encoded		e;

	s.v.level = STRATA_LEVEL_ARCHIVE;
	e = encode_sample(&s, STRATA_CODEC_DELTA_DELTA);
	snprintf(file, sizeof(file), "%s_%u_%u", name, s.v.width, s.nrows);
	if (e.rc == STRATA_CODEC_OK)
		write_seed("archive_decode", file, e.buf, e.len);
	free(e.buf);
	sample_free(&s);
}

/* Values as fuzz_vector of fuzz.h reads them; freed. */
static void
seed_vector(Sample s, const char *name, uint8_t first)
{
	uint8_t		buf[65536];
	size_t		len = 2;

	buf[0] = first;
	buf[1] = (uint8_t) (s.v.n % 9);
	if (s.v.kind == STRATA_KIND_BYTES)
	{
		memcpy(buf + len, s.payload, s.offsets[s.v.n]);
		len += s.offsets[s.v.n];
	}
	else
	{
		memcpy(buf + len, s.fixed, (size_t) s.v.n * s.v.width);
		len += (size_t) s.v.n * s.v.width;
	}
	for (int id = 1; id < STRATA_CODEC_COUNT; id++)
	{
		char		target[64];
		char		file[64];

		if (!strata_codec_supports((StrataCodecId) id, s.v.kind, s.v.width))
			continue;
		snprintf(target, sizeof(target), "%s_roundtrip", strata_codec_name((StrataCodecId) id));
		snprintf(file, sizeof(file), "%s_%u_%u", name, s.v.width, s.nrows);
		write_seed(target, file, buf, len);
		if (id == STRATA_CODEC_DELTA_DELTA)
			write_seed("archive_roundtrip", file, buf, len);
	}
	sample_free(&s);
}

int
main(int argc, char **argv)
{
	static const char *const ints[] = {"gaps", "gcd", "outliers", "walk", "runs", "constant", "noise", "noise_skewed"};
	static const char *const floats[] = {"tenths", "mixed", "special", "walk", "constant", "noise"};
	static const char *const strings[] = {"words", "few", "constant", "binary", "numeric", "numerics", "tail", "hex", "digits", "jsonb",
	"jsonb_nested", "jsonb_ragged"};

	root = argc > 1 ? argv[1] : "../fuzz/corpus";
	mkdir(root, 0777);
	for (size_t i = 0; i < sizeof(ints) / sizeof(ints[0]); i++)
		for (uint8_t width = 1, code = 0; width <= 8; width = (uint8_t) (width * 2), code++)
		{
			seed_columns(sample_int(ints[i], width, 90 + (uint32_t) i * 60), ints[i], (NullPattern) (i % 4));
			if (width > 1)
				seed_archive(sample_int(ints[i], width, i % 2 ? 200 : 1100), ints[i]);
			/* data[0] % 3 == 0 and data[0] / 4 % 4 == code */
			for (unsigned first = 0; first < 256; first += 3)
				if (first / 4 % 4 == code)
				{
					seed_vector(sample_int(ints[i], width, 80), ints[i], (uint8_t) first);
					break;
				}
		}
	for (size_t i = 0; i < sizeof(floats) / sizeof(floats[0]); i++)
		for (uint8_t width = 4; width <= 8; width = (uint8_t) (width * 2))
		{
			seed_columns(sample_float(floats[i], width, 90 + (uint32_t) i * 60), floats[i], (NullPattern) (i % 4));
			seed_vector(sample_float(floats[i], width, 80), floats[i], width == 4 ? 64 : 1);
		}
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
	{
		seed_columns(sample_bytes(strings[i], 40 + (uint32_t) i * 20), strings[i], (NullPattern) (i % 4));
		seed_vector(sample_bytes(strings[i], 40), strings[i], 2);
	}
	return 0;
}
