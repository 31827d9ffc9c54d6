/*-------------------------------------------------------------------------
 *
 * fuzz.h
 *	  What the fuzz targets share; a target is this with FUZZ_CODEC defined and
 *	  one of the two bodies below.
 *
 * Decoding: the input is a column; its version and codec id are overwritten, so
 * that no time goes into finding them, and the CRC is not checked.
 * Round trip: the input describes a vector (fuzz_vector), which is encoded with the
 * codec and with AUTO and must come out again bit for bit.
 *
 * test/fuzz/fuzz.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_FUZZ_H
#define STRATA_FUZZ_H

#include "decode_any.h"

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define FUZZ_ROWS 2000

/* What a target may define too: what it encodes at. */
#ifndef FUZZ_LEVEL
#define FUZZ_LEVEL STRATA_LEVEL_BALANCED
#endif
#ifndef FUZZ_HINT
#define FUZZ_HINT STRATA_BYTES_ANY
#endif

/* A vector made of fuzz input. */
typedef struct FuzzVector
{
	StrataVector v;
	uint32_t	nrows;
	bool	   *isnull;
	uint64_t	fixed[FUZZ_ROWS];
	uint32_t	offsets[FUZZ_ROWS + 1];
} FuzzVector;

/*
 * First byte: kind and width; second: which rows are null; the rest: values, for
 * byte strings each behind a byte with its length, and for fixed kinds a value may
 * be repeated: every 8th byte of the input that is above 0xf0 says how often.
 */
static bool
fuzz_vector(const uint8_t *data, size_t len, FuzzVector *f)
{
	static const uint8_t widths[] = {1, 2, 4, 8};
	size_t		at = 2;

	memset(f, 0, sizeof(*f));
	if (len < 2)
		return false;
	f->v.kind = (StrataKind) (data[0] % 3 + 1);
	f->v.width = widths[data[0] / 4 % 4];
	if (f->v.kind == STRATA_KIND_FLOAT)
		f->v.width = data[0] & 64 ? 4 : 8;
	if (f->v.kind == STRATA_KIND_BYTES)
	{
		f->v.width = 0;
		f->v.payload = data + 2;
		while (at < len && f->v.n < FUZZ_ROWS)
		{
			uint32_t	used = f->offsets[f->v.n];
			uint32_t	length = data[at] / 4;

			if (length > len - 2 - used)
				length = (uint32_t) (len - 2 - used);
			f->offsets[++f->v.n] = used + length;
			at += length ? length : 1;
		}
	}
	else
		while (at + f->v.width <= len && f->v.n < FUZZ_ROWS)
		{
			unsigned	times = data[at] > 0xf0 && at % 8 == 0 ? data[at] - 0xf0U : 1;

			for (; times > 0 && f->v.n < FUZZ_ROWS; times--)
				memcpy((uint8_t *) f->fixed + (size_t) f->v.n++ * f->v.width, data + at, f->v.width);
			at += f->v.width;
		}
	f->v.fixed = f->fixed;
	f->v.offsets = f->offsets;
	f->v.level = FUZZ_LEVEL;
	f->v.hint = FUZZ_HINT;

	/* one null behind each value whose number divides evenly */
	f->nrows = f->v.n;
	if (data[1] & 1)
	{
		unsigned	every = data[1] / 2 + 1;
		uint32_t	value = 0;

		f->isnull = calloc((size_t) f->v.n * 2 + 1, 1);
		f->nrows = 0;
		while (value < f->v.n)
		{
			f->isnull[f->nrows++] = false;
			if (++value % every == 0)
				f->isnull[f->nrows++] = true;
		}
	}
	return true;
}

/* Is row `row`, value number `value`, what went in? */
static void
fuzz_compare(const FuzzVector *f, const void *out, const StrataBytes *bytes, const bool *isnull)
{
	uint32_t	value = 0;

	for (uint32_t row = 0; row < f->nrows; row++)
	{
		uint32_t	width = f->v.width;

		DECODE_ANY_REQUIRE(isnull[row] == (f->isnull && f->isnull[row]));
		if (isnull[row])
			continue;
		if (f->v.kind == STRATA_KIND_BYTES)
		{
			uint32_t	entry = bytes->codes ? bytes->codes[row] : row;
			uint32_t	length = f->offsets[value + 1] - f->offsets[value];

			DECODE_ANY_REQUIRE(bytes->offsets[entry + 1] - bytes->offsets[entry] == length);
			DECODE_ANY_REQUIRE(memcmp(bytes->payload + bytes->offsets[entry], f->v.payload + f->offsets[value], length) == 0);
		}
		else
			DECODE_ANY_REQUIRE(memcmp((const uint8_t *) out + (size_t) row * width,
									  (const uint8_t *) f->fixed + (size_t) value * width, width) == 0);
		value++;
	}
}

/* Encode, decode, compare. */
static void
fuzz_roundtrip(const FuzzVector *f, StrataCodecId id)
{
	size_t		bound = strata_column_encode_bound(&f->v, f->nrows);
	size_t		scratch_size = strata_column_encode_scratch_size(&f->v, f->nrows);
	uint8_t    *buf = malloc(bound);
	uint8_t    *scratch = malloc(scratch_size);
	bool	   *isnull = malloc(f->nrows + 1);
	uint64_t   *out = malloc(((size_t) f->nrows + 1) * 8);
	bool		hasnull;
	size_t		len;
	StrataBytes bytes;
	StrataCodecInfo info;
	StrataCodecResult rc = strata_column_encode(&f->v, f->nrows, f->isnull, id, scratch, scratch_size, buf, bound, &len);

	DECODE_ANY_REQUIRE(rc == STRATA_CODEC_OK || rc == STRATA_CODEC_NOT_APPLICABLE || rc == STRATA_CODEC_UNSUPPORTED);
	DECODE_ANY_REQUIRE(rc == STRATA_CODEC_OK || id != STRATA_CODEC_AUTO);
	if (rc == STRATA_CODEC_OK)
	{
		free(scratch);
		DECODE_ANY_REQUIRE(strata_column_describe(buf, len, true, &info) == STRATA_CODEC_OK);
		DECODE_ANY_REQUIRE(strata_column_decode_scratch_size(buf, len, 0, f->nrows, &scratch_size) == STRATA_CODEC_OK);
		scratch = malloc(scratch_size ? scratch_size : 1);
		if (f->v.kind == STRATA_KIND_BYTES)
			rc = strata_column_decode_bytes(buf, len, 0, f->nrows, scratch, scratch_size, &bytes, isnull, &hasnull);
		else
			rc = strata_column_decode_fixed(buf, len, 0, f->nrows, scratch, scratch_size, out, isnull, &hasnull);
		DECODE_ANY_REQUIRE(rc == STRATA_CODEC_OK);
		fuzz_compare(f, out, &bytes, isnull);
	}
	free(buf);
	free(scratch);
	free(isnull);
	free(out);
}

#ifdef FUZZ_DECODE
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t    *copy = malloc(len ? len : 1);

	if (len > 0)
		memcpy(copy, data, len);
	if (len > 1)
	{
		copy[0] = 1;
		copy[1] = FUZZ_CODEC;
	}
	decode_any(copy, len);
	free(copy);
	(void) fuzz_vector;
	(void) fuzz_roundtrip;
	return 0;
}
#else
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static FuzzVector f;

	(void) decode_any;
	if (fuzz_vector(data, len, &f) && f.nrows <= STRATA_CODEC_MAX_ROWS)
	{
		if (strata_codec_supports(FUZZ_CODEC, f.v.kind, f.v.width))
			fuzz_roundtrip(&f, FUZZ_CODEC);
		fuzz_roundtrip(&f, STRATA_CODEC_AUTO);
	}
	free(f.isnull);
	return 0;
}
#endif

#endif							/* STRATA_FUZZ_H */
