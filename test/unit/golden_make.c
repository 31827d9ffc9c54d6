/*-------------------------------------------------------------------------
 *
 * golden_make.c
 *	  Makes the files of test/golden that are not there yet.
 *
 * A file that exists is frozen: what a release has written must be readable for
 * ever, so nothing here overwrites one.  A new format version gets a folder of its
 * own.  Expected texts come from the values, not from a decoder.
 *
 *	golden_make ../golden
 *
 * test/unit/golden_make.c
 *-------------------------------------------------------------------------
 */
#include <unistd.h>

#include "codec/codec_private.h"
#include "codec/int/int_private.h"
#include "dump.h"
#include "roundtrip.h"

static const char *root;

/* Where a file belongs, or NULL when it is there already. */
static const char *
new_path(const char *folder, const char *name, const char *ending)
{
	static char path[1024];

	snprintf(path, sizeof(path), "%s/%s/%s.%s", root, folder, name, ending);
	return access(path, F_OK) == 0 ? NULL : path;
}

static void
write_file(const char *folder, const char *name, const char *ending, const void *data, size_t len)
{
	const char *path = new_path(folder, name, ending);
	FILE	   *out;

	if (path == NULL)
		return;
	out = fopen(path, "wb");
	if (out == NULL || fwrite(data, 1, len, out) != len || fclose(out) != 0)
	{
		perror(path);
		exit(1);
	}
	printf("made %s\n", path);
}

/* A golden column of a sample, which is freed. */
static void
accept(const char *name, Sample s, NullPattern nulls, StrataCodecId id)
{
	Encoded		e;
	char	   *text;

	sample_add_nulls(&s, nulls);
	e = encode_sample(&s, id);
	if (e.rc != STRATA_CODEC_OK)
	{
		printf("cannot encode %s: %s\n", name, strata_codec_result_text(e.rc));
		exit(1);
	}
	text = dump_values(&s.v, s.nrows, s.isnull);
	write_file("v1", name, "col", e.buf, e.len);
	write_file("v1", name, "txt", text, strlen(text));
	free(text);
	free(e.buf);
	sample_free(&s);
}

/* The same of an archive. */
static void
accept_archive(const char *name, Sample s, NullPattern nulls, StrataCodecId id)
{
	s.v.level = STRATA_LEVEL_ARCHIVE;
	accept(name, s, nulls, id);
}

/* Archives: both methods with values and differences, scaled, several blocks, in other codecs. */
static void
make_archives(void)
{
	accept_archive("int8_walk_archive", sample_int("walk", 8, 300), NULLS_NO, STRATA_CODEC_DELTA_DELTA);
	accept_archive("int4_walk_blocks", sample_int("walk", 4, 2500), NULLS_FEW, STRATA_CODEC_DELTA_DELTA);
	accept_archive("int8_outliers_archive", sample_int("outliers", 8, 1100), NULLS_NO, STRATA_CODEC_DELTA_DELTA);
	accept_archive("int8_gcd_archive", sample_int("gcd", 8, 1100), NULLS_NO, STRATA_CODEC_DELTA_DELTA);
	accept_archive("int8_quadratic", sample_int("quadratic", 8, 1100), NULLS_NO, STRATA_CODEC_DELTA_DELTA);
	accept_archive("int4_few", sample_int("few", 4, 1100), NULLS_NO, STRATA_CODEC_DICTIONARY);
	accept_archive("int2_runs", sample_int("runs", 2, 2100), NULLS_NO, STRATA_CODEC_DELTA_DELTA);
	accept_archive("int8_runs", sample_int("runs", 8, 1025), NULLS_NO, STRATA_CODEC_DELTA_DELTA);
	accept_archive("int8_steps", sample_int("steps", 8, 2500), NULLS_NO, STRATA_CODEC_DELTA_DELTA);
	accept_archive("int4_cycle", sample_int("cycle", 4, 2500), NULLS_NO, STRATA_CODEC_DELTA_DELTA);
	accept("numeric", sample_bytes("numeric", 300), NULLS_FEW, STRATA_CODEC_NUMERIC);
	accept("numeric_scales", sample_bytes("numerics", 300), NULLS_NO, STRATA_CODEC_NUMERIC);
	accept_archive("numeric_archive", sample_bytes("numeric", 1500), NULLS_NO, STRATA_CODEC_NUMERIC);
	accept_archive("int8_minmax_archive", sample_int("minmax", 8, 300), NULLS_NO, STRATA_CODEC_DELTA_DELTA);
	accept_archive("int8_counter", sample_int("counter", 8, 2048), NULLS_NO, STRATA_CODEC_AUTO);
	accept_archive("float8_tenths", sample_float("tenths", 8, 1100), NULLS_RUNS, STRATA_CODEC_DECIMAL);
	accept_archive("float8_mixed", sample_float("mixed", 8, 1100), NULLS_NO, STRATA_CODEC_DECIMAL);
	accept_archive("float4_sine", sample_float("sine", 4, 1100), NULLS_NO, STRATA_CODEC_DECIMAL);
	accept_archive("bytes_words_zstd_archive", sample_bytes("words", 5000), NULLS_HALF, STRATA_CODEC_ZSTD);
	accept_archive("bytes_few_dictionary_archive", sample_bytes("few", 1100), NULLS_NO, STRATA_CODEC_DICTIONARY);
}

/* Byte strings in bits by position: of one length and of several, with gaps, in a dictionary. */
static void
make_packed(void)
{
	accept("bytes_tail_packed", sample_bytes("tail", 600), NULLS_FEW, STRATA_CODEC_PACKED);
	accept("bytes_hex_packed", sample_bytes("hex", 300), NULLS_NO, STRATA_CODEC_PACKED);
	accept("bytes_digits_packed", sample_bytes("digits", 520), NULLS_RUNS, STRATA_CODEC_PACKED);
	accept("bytes_words_packed", sample_bytes("words", 256), NULLS_NO, STRATA_CODEC_PACKED);
	accept("bytes_random_packed", sample_bytes("random", 257), NULLS_NO, STRATA_CODEC_PACKED);
	accept("bytes_empty_packed", sample_bytes("empty", 20), NULLS_NO, STRATA_CODEC_PACKED);
	accept("bytes_tail_dictionary", sample_bytes("tail", 300), NULLS_NO, STRATA_CODEC_DICTIONARY);
	accept_archive("bytes_digits_archive", sample_bytes("digits", 1100), NULLS_NO, STRATA_CODEC_PACKED);
}

/* Documents by path: alike, with nulls; of many depths and lengths; of any kind; chosen. */
static void
make_jsonb(void)
{
	accept("jsonb_events", sample_bytes("jsonb", 300), NULLS_FEW, STRATA_CODEC_JSONB);
	accept("jsonb_nested", sample_bytes("jsonb_nested", 120), NULLS_NO, STRATA_CODEC_JSONB);
	accept("jsonb_ragged", sample_bytes("jsonb_ragged", 200), NULLS_NO, STRATA_CODEC_JSONB);
	accept("jsonb_auto", sample_bytes("jsonb", 100), NULLS_NO, STRATA_CODEC_AUTO);
	accept_archive("jsonb_archive", sample_bytes("jsonb", 400), NULLS_NO, STRATA_CODEC_JSONB);
}

/* Integers in two parts: of all widths, scaled, from their minimum, in parts of blocks and in other codecs. */
static void
make_split(void)
{
	accept("int8_noise", sample_int("noise", 8, 1000), NULLS_NO, STRATA_CODEC_DELTA_DELTA);
	accept("int4_noise", sample_int("noise", 4, 257), NULLS_FEW, STRATA_CODEC_DELTA_DELTA);
	accept("int2_noise", sample_int("noise", 2, 256), NULLS_RUNS, STRATA_CODEC_DELTA_DELTA);
	accept("int1_noise", sample_int("noise", 1, 500), NULLS_NO, STRATA_CODEC_DELTA_DELTA);
	accept("int8_noise_scaled", sample_int("noise_scaled", 8, 600), NULLS_NO, STRATA_CODEC_DELTA_DELTA);
	accept("int8_noise_skewed", sample_int("noise_skewed", 8, 600), NULLS_NO, STRATA_CODEC_DELTA_DELTA);
	accept("int4_noise_skewed", sample_int("noise_skewed", 4, 600), NULLS_HALF, STRATA_CODEC_DICTIONARY);
	accept("float8_noise", sample_float("noise", 8, 1000), NULLS_FEW, STRATA_CODEC_DECIMAL);
	accept("float4_noise", sample_float("noise", 4, 300), NULLS_NO, STRATA_CODEC_DECIMAL);
	accept_archive("int8_noise_archive", sample_int("noise", 8, 70), NULLS_NO, STRATA_CODEC_DELTA_DELTA);
}

/* Put the right checksum into a column. */
static void
fix_crc(uint8_t *column, size_t len)
{
	uint32_t	crc = strata_crc32c_extend(0, column, 3);

	strata_store32(column + 3, strata_crc32c_extend(crc, column + 7, len - 7));
}

/* An integer column whose stream has a given shape. */
static void
accept_shape(const char *name, const char *pattern, IntShape shape)
{
	Sample		s = sample_int(pattern, 8, 300);
	uint8_t		buf[8000];
	uint8_t		scratch[8000];
	StrataArena arena = strata_arena(scratch, sizeof(scratch));
	StrataWriter w = strata_writer(buf, sizeof(buf));
	char	   *text = dump_values(&s.v, s.nrows, s.isnull);

	strata_write_u8(&w, 1);
	strata_write_u8(&w, STRATA_CODEC_DELTA_DELTA);
	strata_write_u8(&w, STRATA_KIND_INT | 3 << 2);
	strata_write_u32(&w, 0);
	strata_write_count(&w, 300);
	strata_ints_encode_as(&shape, s.fixed, 300, &arena, &w);
	fix_crc(buf, strata_writer_len(&w));
	write_file("v1", name, "col", buf, strata_writer_len(&w));
	write_file("v1", name, "txt", text, strlen(text));
	free(text);
	sample_free(&s);
}

static void
make_accepted(void)
{
	char		name[80];
	static const StrataCodecId int_codecs[] = {STRATA_CODEC_RAW, STRATA_CODEC_DELTA_DELTA, STRATA_CODEC_DICTIONARY};
	static const StrataCodecId float_codecs[] = {STRATA_CODEC_RAW, STRATA_CODEC_GORILLA, STRATA_CODEC_DECIMAL,
	STRATA_CODEC_DICTIONARY};
	static const StrataCodecId bytes_codecs[] = {STRATA_CODEC_RAW, STRATA_CODEC_DICTIONARY, STRATA_CODEC_LZ4,
	STRATA_CODEC_ZSTD};
	static const char *const ints[] = {"gaps", "jitter", "gcd", "outliers", "minmax", "walk"};
	static const char *const floats[] = {"tenths", "mixed", "special", "walk"};
	static const char *const strings[] = {"words", "few", "random"};

	for (uint8_t width = 1; width <= 8; width = (uint8_t) (width * 2))
		for (size_t c = 0; c < 3; c++)
		{
			snprintf(name, sizeof(name), "int%u_few_%s", width, strata_codec_name(int_codecs[c]));
			accept(name, sample_int(c == 1 ? "walk" : "few", width, 130), NULLS_FEW, int_codecs[c]);
		}
	for (size_t i = 0; i < sizeof(ints) / sizeof(ints[0]); i++)
	{
		snprintf(name, sizeof(name), "int8_%s", ints[i]);
		accept(name, sample_int(ints[i], 8, 300), NULLS_NO, STRATA_CODEC_DELTA_DELTA);
	}
	for (uint8_t width = 4; width <= 8; width = (uint8_t) (width * 2))
		for (size_t c = 0; c < 4; c++)
			for (size_t i = 0; i < sizeof(floats) / sizeof(floats[0]); i++)
			{
				snprintf(name, sizeof(name), "float%u_%s_%s", width, floats[i], strata_codec_name(float_codecs[c]));
				accept(name, sample_float(floats[i], width, 270), i % 2 ? NULLS_NO : NULLS_RUNS, float_codecs[c]);
			}
	accept("float8_bits_decimal", sample_float("sine", 8, 270), NULLS_NO, STRATA_CODEC_DECIMAL);
	accept("float4_bits_decimal", sample_float("sine", 4, 270), NULLS_NO, STRATA_CODEC_DECIMAL);
	for (size_t c = 0; c < 4; c++)
		for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		{
			snprintf(name, sizeof(name), "bytes_%s_%s", strings[i], strata_codec_name(bytes_codecs[c]));
			accept(name, sample_bytes(strings[i], 100), i ? NULLS_NO : NULLS_HALF, bytes_codecs[c]);
		}
	accept("bytes_blocks_lz4", sample_bytes("sparse", 4500), NULLS_NO, STRATA_CODEC_LZ4);
	accept("bytes_blocks_raw", sample_bytes("sparse", 4500), NULLS_NO, STRATA_CODEC_RAW);
	accept("int8_regular", sample_int("ramp", 8, 1000), NULLS_NO, STRATA_CODEC_AUTO);
	accept("int8_largest", sample_int("ramp_down", 8, 32767), NULLS_EVERY, STRATA_CODEC_AUTO);
	accept("int4_constant", sample_int("constant", 4, 200), NULLS_ALL_BUT_ONE, STRATA_CODEC_CONSTANT);
	accept("float8_constant", sample_float("constant", 8, 20), NULLS_NO, STRATA_CODEC_CONSTANT);
	accept("float4_constant", sample_float("constant", 4, 20), NULLS_HALF, STRATA_CODEC_CONSTANT);
	accept("bytes_constant", sample_bytes("constant", 20), NULLS_HALF, STRATA_CODEC_CONSTANT);
	accept("bytes_empty", sample_bytes("empty", 20), NULLS_NO, STRATA_CODEC_AUTO);
	accept("int2_no_rows", sample_int("zero", 2, 0), NULLS_NO, STRATA_CODEC_AUTO);
	accept("int2_all_null", sample_int("zero", 2, 77), NULLS_EVERY, STRATA_CODEC_AUTO);
	accept("bytes_all_null", sample_bytes("words", 77), NULLS_EVERY, STRATA_CODEC_AUTO);
	for (int mode = 0; mode < 3 * 2; mode++)
	{
		IntShape	shape = {(IntTransform) (mode % 3), INT_PACK_BITS, mode / 3 % 2, 6 + (unsigned) mode % 3};

		snprintf(name, sizeof(name), "shape_%d_%d_%d_%u", shape.transform, shape.packing, shape.based, shape.block_log2);
		accept_shape(name, mode % 2 ? "outliers" : "gcd", shape);
	}
}

static void reject(const char *name, const Encoded *good, size_t at, const char *bytes, size_t nbytes);

/* Columns of integers in two parts that no encoder writes. */
static void
make_split_rejected(void)
{
	Sample		s = sample_int("noise", 8, 300);
	Encoded		e = encode_sample(&s, STRATA_CODEC_DELTA_DELTA);
	char		byte;
	size_t		unary;

	/* mode, first value, size of the block, bytes of the upper parts */
	if (e.buf[11] < 65 || e.buf[11] > 70)
		abort();
	unary = 13 + (255U * (e.buf[11] - 65U) + 7) / 8;
	reject("split_bits_21", &e, 11, "\x56", 1);
	byte = (char) (e.buf[11] | 0x80);
	reject("split_patched", &e, 11, &byte, 1);
	reject("split_no_unary", &e, 12, "\0", 1);
	byte = (char) (e.buf[12] - 1);
	reject("split_unary_short", &e, 12, &byte, 1);
	byte = (char) (e.buf[12] + 1);
	reject("split_unary_long", &e, 12, &byte, 1);
	byte = (char) (e.buf[unary] | (e.buf[unary] + 1));
	reject("split_one_more", &e, unary, &byte, 1);
	byte = (char) (e.buf[unary] & (e.buf[unary] - 1));
	reject("split_one_less", &e, unary, &byte, 1);
	free(e.buf);
	sample_free(&s);
}

/* A column no encoder writes: bytes `at` .. of a good one replaced, the CRC made right. */
static void
reject(const char *name, const Encoded *good, size_t at, const char *bytes, size_t nbytes)
{
	uint8_t		buf[40000];
	size_t		len = at + nbytes > good->len ? at + nbytes : good->len;

	memset(buf, 0, sizeof(buf));
	memcpy(buf, good->buf, good->len);
	memcpy(buf + at, bytes, nbytes);
	fix_crc(buf, len);
	write_file("reject", name, "col", buf, len);
}

static Encoded
good_column(Sample s, StrataCodecId id)
{
	Encoded		e;

	/* as before there was anything else */
	if (s.v.level == STRATA_LEVEL_BALANCED)
		s.v.level = STRATA_LEVEL_HOT;
	e = encode_sample(&s, id);
	sample_free(&s);
	return e;
}

/* The good column cut short, with the right CRC for what is left. */
static void
reject_cut(const char *name, const Encoded *good, size_t len)
{
	uint8_t		buf[40000];

	memcpy(buf, good->buf, len);
	fix_crc(buf, len);
	write_file("reject", name, "col", buf, len);
}

static void
make_rejected(void)
{
	/* payloads start at 9: 300 rows take two bytes */
	Encoded		ints = good_column(sample_int("walk", 8, 300), STRATA_CODEC_DELTA_DELTA);
	Encoded		regular = good_column(sample_int("ramp", 8, 300), STRATA_CODEC_DELTA_DELTA);
	Encoded		raw = good_column(sample_int("random", 8, 300), STRATA_CODEC_RAW);
	Encoded		gorilla = good_column(sample_float("walk", 8, 300), STRATA_CODEC_GORILLA);
	Encoded		decimal = good_column(sample_float("mixed", 8, 300), STRATA_CODEC_DECIMAL);
	Encoded		dictionary = good_column(sample_bytes("few", 300), STRATA_CODEC_DICTIONARY);
	Encoded		lz4 = good_column(sample_bytes("words", 300), STRATA_CODEC_LZ4);
	Encoded		zstd = good_column(sample_bytes("words", 300), STRATA_CODEC_ZSTD);
	Encoded		empty = good_column(sample_int("zero", 4, 0), STRATA_CODEC_AUTO);
	Encoded		constant = good_column(sample_int("constant", 4, 300), STRATA_CODEC_CONSTANT);
	Encoded		runs;
	Encoded		bitmap;
	Encoded		ans;
	Encoded		numeric = good_column(sample_bytes("numeric", 300), STRATA_CODEC_NUMERIC);
	Encoded		packed = good_column(sample_bytes("tail", 300), STRATA_CODEC_PACKED);
	Encoded		lz;
	Encoded		jsonb = good_column(sample_bytes("jsonb", 300), STRATA_CODEC_JSONB);
	Sample		s = sample_int("walk", 4, 300);

	sample_add_nulls(&s, NULLS_RUNS);
	runs = encode_sample(&s, STRATA_CODEC_AUTO);
	sample_free(&s);
	s = sample_int("walk", 4, 300);
	sample_add_nulls(&s, NULLS_HALF);
	bitmap = encode_sample(&s, STRATA_CODEC_AUTO);
	sample_free(&s);

	s = sample_int("walk", 8, 300);
	s.v.level = STRATA_LEVEL_ARCHIVE;
	ans = good_column(s, STRATA_CODEC_DELTA_DELTA);
	s = sample_int("cycle", 8, 1025);
	s.v.level = STRATA_LEVEL_ARCHIVE;
	lz = good_column(s, STRATA_CODEC_DELTA_DELTA);

	reject("version_2", &ints, 0, "\x02", 1);
	reject("version_0", &ints, 0, "\0", 1);
	reject("codec_0", &ints, 1, "\0", 1);
	reject("codec_99", &ints, 1, "\x63", 1);
	reject("codec_not_for_kind", &ints, 1, "\x04", 1);
	reject("kind_0", &ints, 2, "\x0c", 1);
	reject("reserved_flag", &ints, 2, "\x4d", 1);
	reject("float_width_2", &gorilla, 2, "\x06", 1);
	reject("bytes_width", &lz4, 2, "\x07", 1);
	reject("no_rows_but_payload", &ints, 7, "\x80\0", 2);
	reject("all_null_but_payload", &ints, 2, "\x1d", 1);
	reject("empty_but_codec", &empty, 1, "\x03", 1);
	reject("runs_too_long", &runs, 11, "\xff\xff", 2);
	reject("runs_empty_in_the_middle", &runs, 12, "\0", 1);
	reject("bitmap_count_wrong", &bitmap, 9, "\x07", 1);
	reject("bitmap_spare_bits", &bitmap, 11 + 37, "\xff", 1);
	reject("ints_transform_3", &ints, 9, "\x07", 1);
	reject("ints_packing_1", &ints, 9, "\x05", 1);
	reject("ints_packing_3", &ints, 9, "\x0d", 1);
	reject("ints_block_512", &ints, 9, "\xc9", 1);
	reject("ints_divisor_0", &ints, 9, "\x29\0\0", 3);
	reject("ints_constant_scaled", &regular, 9, "\x21", 1);
	reject("ints_long_varint", &regular, 10, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11);
	/* decimals, length of the scales, scales (mode, 2, step 0), codec */
	reject("numeric_decimals", &numeric, 9, "\x13", 1);
	reject("numeric_scale", &numeric, 12, "\x80\x01", 2);
	reject("numeric_codec", &numeric, 14, "\x06", 1);
	reject("numeric_codec_0", &numeric, 14, "\0", 1);
	reject_cut("numeric_cut", &numeric, numeric.len - 20);
	reject_cut("numeric_empty", &numeric, 14);
	/* groups: number of them, then positions, least byte, width and gap */
	reject("packed_groups", &packed, 9, "\x41", 1);
	reject("packed_no_positions", &packed, 10, "\0", 1);
	reject("packed_positions", &packed, 10, "\x41", 1);
	reject("packed_width_9", &packed, 12, "\x09", 1);
	reject("packed_flag", &packed, 12, "\x20", 1);
	reject("packed_fewer_positions", &packed, 9, "\x01", 1);
	reject("packed_wider", &packed, 12, "\x08", 1);
	reject("packed_long", &packed, packed.len, "\0", 1);
	reject_cut("packed_cut", &packed, packed.len - 1);
	reject_cut("packed_empty", &packed, 9);

	/*
	 * bytes of all (3), number of paths, length of the parents, parents
	 * (mode, first, differences), codec of the keys
	 */
	reject("jsonb_total", &jsonb, 9, "\xff\xff\x7f", 3);
	reject("jsonb_total_small", &jsonb, 9, "\x80\x80\x01", 3);
	reject("jsonb_total_gigabyte", &jsonb, 9, "\x80\x80\x80\x80\x04", 5);
	reject("jsonb_no_paths", &jsonb, 12, "\0", 1);
	reject("jsonb_fewer_paths", &jsonb, 12, "\x07", 1);
	reject("jsonb_many_paths", &jsonb, 12, "\x80\x10", 2);
	reject("jsonb_parent", &jsonb, 15, "\x04", 1);
	reject("jsonb_element", &jsonb, 15, "\x02", 1);
	reject("jsonb_keys_codec", &jsonb, 14 + (size_t) jsonb.buf[13], "\x0b", 1);
	reject("jsonb_keys_codec_0", &jsonb, 14 + (size_t) jsonb.buf[13], "\0", 1);
	reject("jsonb_long", &jsonb, jsonb.len, "\0", 1);
	reject_cut("jsonb_cut", &jsonb, jsonb.len - 1);
	reject_cut("jsonb_half", &jsonb, jsonb.len / 2);
	reject_cut("jsonb_empty", &jsonb, 9);

	/*
	 * an archive's stream: mode, first value, method, e and m, table_log and
	 * order, tokens
	 */
	reject("archive_method_0", &ans, 11, "\0", 1);
	reject("archive_method_3", &ans, 11, "\x03", 1);
	reject("archive_blocks", &ans, 9, "\x4d", 1);
	reject("archive_direct_9", &ans, 12, "\x09", 1);
	reject("archive_mantissa_3", &ans, 12, "\x34", 1);
	reject("archive_table_log_12", &ans, 13, "\x0c", 1);
	reject("archive_no_tokens", &ans, 14, "\0", 1);
	reject("archive_many_tokens", &ans, 14, "\x81\x04", 2);
	reject("archive_counts", &ans, 15, "\xff\xff\xff", 3);
	reject_cut("archive_cut", &ans, ans.len - 3);
	{
		/* the width stands before the frame's magic number */
		size_t		magic = 0;

		while (magic + 4 < lz.len && memcmp(lz.buf + magic, "\x28\xb5\x2f\xfd", 4) != 0)
			magic++;
		reject("archive_lz_width_0", &lz, magic - 1, "\0", 1);
		reject("archive_lz_width_9", &lz, magic - 1, "\x09", 1);
		reject("archive_lz_magic", &lz, magic, "\x29", 1);
	}
	reject_cut("archive_lz_cut", &lz, lz.len - 5);
	reject_cut("ints_cut", &ints, ints.len - 20);
	reject_cut("ints_empty", &ints, 9);
	reject_cut("raw_short", &raw, raw.len - 1);
	reject("raw_long", &raw, raw.len, "\0", 1);
	reject("gorilla_window_count", &gorilla, 9 + 2 + 8, "\xfe", 1);
	reject("gorilla_index_too_far", &gorilla, 9, "\xff\xff", 2);
	reject_cut("gorilla_cut", &gorilla, gorilla.len - 4);
	reject("decimal_exponent_23", &decimal, 9, "\x17", 1);
	reject("decimal_exceptions", &decimal, 10, "\xff\x7f", 2);
	reject_cut("decimal_cut", &decimal, decimal.len - 30);
	reject("dictionary_no_entries", &dictionary, 9, "\0", 1);
	reject("dictionary_code_too_high", &dictionary, 9, "\x05", 1);
	reject("dictionary_in_dictionary", &dictionary, 10, "\x05", 1);
	reject("dictionary_too_many_entries", &dictionary, 9, "\xff\x7f", 2);
	reject("lz4_no_blocks", &lz4, 9, "\0", 1);
	reject("lz4_damaged_block", &lz4, lz4.len - 40, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
	reject_cut("lz4_cut", &lz4, lz4.len - 10);
	reject("lz4_claims_a_gigabyte", &lz4, 9, "\x01\xac\x02\x80\x80\x80\x80\x04\x81\x04", 10);
	reject("zstd_damaged_magic", &zstd, zstd.len - 100, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
	reject_cut("zstd_cut", &zstd, zstd.len - 10);
	reject_cut("constant_empty", &constant, 9);
	{
		uint8_t		buf[8000];

		memcpy(buf, ints.buf, ints.len);
		buf[ints.len / 2] ^= 1;
		write_file("reject", "crc_bit_flip", "col", buf, ints.len);
		write_file("reject", "crc_cut", "col", ints.buf, ints.len - 1);
		write_file("reject", "crc_header_only", "col", ints.buf, 7);
		write_file("reject", "crc_nothing", "col", ints.buf, 0);
	}
}

/* A column of n int8 values whose payload in SIMPLE8B is these bytes. */
static void
reject_simple8b(const char *name, uint32_t n, const char *payload, size_t len)
{
	uint8_t		buf[200];
	StrataWriter w = strata_writer(buf, sizeof(buf));

	strata_write_u8(&w, 1);
	strata_write_u8(&w, STRATA_CODEC_SIMPLE8B);
	strata_write_u8(&w, STRATA_KIND_INT | 3 << 2);
	strata_write_u32(&w, 0);
	strata_write_count(&w, n);
	strata_write_bytes(&w, payload, len);
	fix_crc(buf, strata_writer_len(&w));
	write_file("reject", name, "col", buf, strata_writer_len(&w));
}

static void
make_simple8b(void)
{
	char		name[80];
	static const char *const ints[] = {"gaps", "jitter", "gcd", "outliers", "minmax", "walk", "runs", "ramp"};
	Encoded		walk;

	for (uint8_t width = 1; width <= 8; width = (uint8_t) (width * 2))
	{
		snprintf(name, sizeof(name), "int%u_walk_nulls_simple8b", width);
		accept(name, sample_int("walk", width, 300), NULLS_FEW, STRATA_CODEC_SIMPLE8B);
	}
	for (size_t i = 0; i < sizeof(ints) / sizeof(ints[0]); i++)
	{
		snprintf(name, sizeof(name), "int8_%s_simple8b", ints[i]);
		accept(name, sample_int(ints[i], 8, 600), i % 2 ? NULLS_NO : NULLS_RUNS, STRATA_CODEC_SIMPLE8B);
	}
	walk = good_column(sample_int("walk", 8, 300), STRATA_CODEC_SIMPLE8B);
	reject("simple8b_index_too_far", &walk, 9, "\xff\xff", 2);
	reject("simple8b_index_too_short", &walk, 9, "\x20\x00", 2);
	reject_cut("simple8b_cut", &walk, walk.len - 4);
	reject("simple8b_long", &walk, walk.len, "\0", 1);

	/*
	 * ten values are eight numbers: a run of nine; two words that hold eight
	 * each; one of seven; nine words
	 */
	reject_simple8b("simple8b_run_beyond", 10, "\x02\x02\x01\x00\x08\x06\x00\x00\x00\x00\x00\x00", 12);
	reject_simple8b("simple8b_word_beyond", 10, "\x02\x02\x02\x88\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 20);
	reject_simple8b("simple8b_too_few", 10, "\x02\x02\x01\x09\1\0\0\0\0\0\0\0", 12);
	reject_simple8b("simple8b_words", 10, "\x02\x02\x09\x00", 4);
	reject_simple8b("simple8b_words_many", 10, "\x02\x02\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11);
}

/* Floats in zstd: both forms, both widths, with nulls, in archives; and what is none. */
static void
make_float_lz(void)
{
	Encoded		planes;

	accept("float8_calibrated_zstd", sample_float("calibrated", 8, 1000), NULLS_NO, STRATA_CODEC_ZSTD);
	accept("float8_ratios_zstd", sample_float("ratios", 8, 1000), NULLS_FEW, STRATA_CODEC_ZSTD);
	accept("float8_special_zstd", sample_float("special", 8, 300), NULLS_HALF, STRATA_CODEC_ZSTD);
	accept("float4_mixed_zstd", sample_float("mixed", 4, 600), NULLS_RUNS, STRATA_CODEC_ZSTD);
	accept("float4_walk_zstd", sample_float("walk", 4, 270), NULLS_NO, STRATA_CODEC_ZSTD);
	accept_archive("float8_calibrated_zstd_archive", sample_float("calibrated", 8, 3000), NULLS_FEW, STRATA_CODEC_ZSTD);
	planes = good_column(sample_float("calibrated", 8, 300), STRATA_CODEC_ZSTD);
	reject("zstd_floats_form", &planes, 9, "\x02", 1);
	reject("zstd_floats_magic", &planes, 10, "\x29", 1);
	reject("zstd_floats_fewer", &planes, 7, "\xab\x02", 2);
	reject("zstd_floats_more", &planes, 7, "\xad\x02", 2);
	reject("zstd_floats_long", &planes, planes.len, "\0", 1);
	reject("zstd_integers", &planes, 2, "\x0d", 1);
	reject("lz4_floats", &planes, 1, "\x06", 1);
	reject_cut("zstd_floats_cut", &planes, planes.len - 10);
	reject_cut("zstd_floats_empty", &planes, 10);
}

/* The checksum of a column in codec LARGE, whose head ends there. */
static void
fix_head_crc(uint8_t *column)
{
	size_t		need;

	if (strata_large_need(column, 1000, &need) != STRATA_CODEC_OK || need > 1000)
		abort();
	fix_crc(column, need);
}

/* A column in codec LARGE that no encoder writes. */
static void
reject_large(const char *name, const Encoded *good, size_t at, const char *bytes, size_t nbytes, size_t len)
{
	uint8_t    *buf = calloc(good->len + 8, 1);

	memcpy(buf, good->buf, good->len);
	memcpy(buf + at, bytes, nbytes);
	fix_head_crc(buf);
	write_file("reject", name, "col", buf, len);
	free(buf);
}

/* Large values: without nulls and with, small ones too, stored, in archives; and what is none. */
static void
make_large(void)
{
	Sample		s = sample_bytes("pages", 5);
	Encoded		e;
	size_t		need;

	accept("bytes_pages_large", s, NULLS_NO, STRATA_CODEC_AUTO);
	accept("bytes_words_large", sample_bytes("words", 300), NULLS_FEW, STRATA_CODEC_LARGE);
	accept("bytes_empty_large", sample_bytes("empty", 20), NULLS_HALF, STRATA_CODEC_LARGE);
	accept_archive("bytes_pages_archive", sample_bytes("pages", 4), NULLS_FEW, STRATA_CODEC_LARGE);
	s = sample_bytes("pages", 2);
	s.v.hint = STRATA_BYTES_LZ4;
	accept("bytes_pages_lz4", s, NULLS_NO, STRATA_CODEC_AUTO);
	s = sample_bytes("random", 300);
	s.v.hint = STRATA_BYTES_NO_LZ;
	accept("bytes_random_large", s, NULLS_NO, STRATA_CODEC_LARGE);

	/*
	 * payload: library, bytes of the head, lead (2 bytes), length of the
	 * lengths
	 */
	s = sample_bytes("pages", 4);
	e = encode_sample(&s, STRATA_CODEC_LARGE);
	if (strata_large_need(e.buf, e.len, &need) != STRATA_CODEC_OK)
		abort();
	reject_large("large_library", &e, 8, "\x05", 1, e.len);
	reject_large("large_library_0", &e, 8, "\0", 1, e.len);
	reject_large("large_lengths", &e, 12, "\x7f", 1, e.len);
	reject_large("large_block", &e, need + 5, "\xff\xff", 2, e.len);
	reject_large("large_block_checksum", &e, need - 1, "\xff", 1, e.len);
	reject_large("large_cut", &e, 8, "\x07", 1, e.len - 1);
	reject_large("large_long", &e, 8, "\x07", 1, e.len + 1);
	write_file("reject", "crc_large_head_only", "col", e.buf, need);
	free(e.buf);
	sample_free(&s);
}

int
main(int argc, char **argv)
{
	root = argc > 1 ? argv[1] : "../golden";
	make_accepted();
	make_archives();
	make_packed();
	make_jsonb();
	make_split();
	make_rejected();
	make_split_rejected();
	make_simple8b();
	make_float_lz();
	make_large();
	return 0;
}
