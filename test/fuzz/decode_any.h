/*-------------------------------------------------------------------------
 *
 * decode_any.h
 *	  Decode bytes that may be anything, and use every byte of the result.
 *
 * For fuzzing and for the hostile input tests: whatever comes in, nothing may be
 * read or written outside the buffers, which are allocated exactly so that a
 * sanitizer sees it, and a result that claims to be OK must be usable.
 *
 * test/fuzz/decode_any.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_DECODE_ANY_H
#define STRATA_DECODE_ANY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec_private.h"

/* Larger claims are legal (a compressed value may be large) but not worth running. */
#define DECODE_ANY_MAX_SCRATCH ((size_t) 64 << 20)

#define DECODE_ANY_REQUIRE(condition) \
	do { if (!(condition)) { fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); abort(); } } while (0)

/* Look at all of a decoded byte string vector. */
static uint64_t
decode_any_use_bytes(const StrataBytes *bytes, uint32_t n, const bool *isnull)
{
	uint64_t	sum = 1;

	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t	entry = bytes->codes ? bytes->codes[i] : i;

		if (bytes->codes && isnull[i])
		{
			DECODE_ANY_REQUIRE(entry == 0);
			continue;
		}
		DECODE_ANY_REQUIRE(entry < bytes->nentries);
		DECODE_ANY_REQUIRE(bytes->offsets[entry] <= bytes->offsets[entry + 1]);
		sum = sum * 31 + bytes->offsets[entry + 1] - bytes->offsets[entry];
		for (uint32_t at = bytes->offsets[entry]; at < bytes->offsets[entry + 1]; at++)
			sum = sum * 31 + bytes->payload[at];
	}
	return sum;
}

/* Members of the first rows alone: as m, of all rows, has them. */
static void
decode_any_first_members(const uint8_t *buf, size_t len, uint32_t n, const StrataKey *keys, uint32_t nkeys, const StrataMembers *m)
{
	StrataMembers first = {.kinds = malloc(n + 1),.which = malloc((n + 1) * sizeof(uint32_t))};
	bool	   *isnull = malloc(n + 1);
	size_t		size = 0;
	uint8_t    *scratch;
	StrataCodecResult rc;

	DECODE_ANY_REQUIRE(n == 0 || strata_column_members_scratch_size(buf, len, n, &size) == STRATA_CODEC_OK);
	scratch = malloc(size + 1);
	rc = strata_column_decode_members(buf, len, n, keys, nkeys, scratch, size, &first, isnull);
	DECODE_ANY_REQUIRE(rc != STRATA_CODEC_NO_SPACE);
	for (uint32_t i = 0; i < n && rc == STRATA_CODEC_OK; i++)
	{
		bool		string = m->kinds[i] == STRATA_MEMBER_STRING;
		const StrataBytes *a = string ? &m->strings : &m->numbers;
		const StrataBytes *b = string ? &first.strings : &first.numbers;
		uint32_t	x = m->which[i];
		uint32_t	y = first.which[i];

		DECODE_ANY_REQUIRE(m->kinds[i] == first.kinds[i]);
		if (string || m->kinds[i] == STRATA_MEMBER_NUMBER)
			DECODE_ANY_REQUIRE(a->offsets[x + 1] - a->offsets[x] == b->offsets[y + 1] - b->offsets[y] &&
							   memcmp(a->payload + a->offsets[x], b->payload + b->offsets[y], a->offsets[x + 1] - a->offsets[x]) == 0);
	}
	free(scratch);
	free(isnull);
	free(first.kinds);
	free(first.which);
}

/* Everything that may be done with parts of a column. */
static void
decode_any_parts(const uint8_t *buf, size_t len, const StrataCodecInfo *info)
{
	size_t		need = 0;
	size_t		size = 0;
	StrataLarge large;
	uint32_t   *lengths = malloc((info->nrows + 1) * sizeof(uint32_t));
	uint32_t   *tails = malloc((info->nrows + 1) * sizeof(uint32_t));
	bool	   *isnull = malloc(info->nrows + 1);
	bool		hasnull;
	bool		is_large = strata_large_need(buf, len, &need) == STRATA_CODEC_OK;
	uint8_t    *scratch;
	StrataCodecResult rc = strata_large_scratch_size(buf, len, &size);

	scratch = malloc(size + 1);
	rc = strata_column_decode_lengths(buf, len, scratch, size, lengths, is_large ? tails : NULL, isnull, &hasnull);
	DECODE_ANY_REQUIRE(rc != STRATA_CODEC_NO_SPACE);
	for (uint32_t i = 0; i < info->nrows && rc == STRATA_CODEC_OK; i++)
		DECODE_ANY_REQUIRE(lengths[i] <= STRATA_BYTES_MAX && (!is_large || tails[i] <= lengths[i]) && (!isnull[i] || lengths[i] == 0));
	if (strata_large_open(buf, len, scratch, size, &large, isnull) == STRATA_CODEC_OK)
	{
		uint8_t    *to = malloc(large.largest + 1);

		for (uint32_t b = 0; b < large.nblocks; b++)
			if (large.blocks[b + 1].stored_at <= len)
				strata_large_read_block(&large, b, buf + large.blocks[b].stored_at, to);
		for (uint32_t at = 0; at < large.blocks[large.nblocks].raw_at; at += 4096)
		{
			uint32_t	b = strata_large_find_block(&large, at);

			DECODE_ANY_REQUIRE(large.blocks[b].raw_at <= at && large.blocks[b + 1].raw_at > at);
		}
		for (uint32_t i = 0; i < large.n; i++)
			DECODE_ANY_REQUIRE((uint64_t) large.lead_at[i] + (large.lengths[i] < large.lead ? large.lengths[i] : large.lead) <=
							   large.blocks[large.nblocks].raw_at &&
							   (large.lengths[i] <= large.lead ||
								(uint64_t) large.body_at[i] + large.lengths[i] - large.lead <= large.blocks[large.nblocks].raw_at));
		free(to);
	}
	free(scratch);
	if (strata_column_members_scratch_size(buf, len, info->nrows, &size) == STRATA_CODEC_OK && size <= DECODE_ANY_MAX_SCRATCH)
	{
		static const StrataKey keys[][2] = {{{"user", 4}}, {{"actor", 5}, {"login", 5}}, {{"code", 4}}, {{"id", 2}}, {{"actor", 5}, {"site", 4}}};
		StrataMembers m = {.kinds = malloc(info->nrows + 1),.which = lengths};

		for (int k = 0; k < 5; k++)
		{
			scratch = malloc(size);
			rc = strata_column_decode_members(buf, len, info->nrows, keys[k], k % 3 == 1 ? 2 : 1, scratch, size, &m, isnull);
			DECODE_ANY_REQUIRE(rc != STRATA_CODEC_NO_SPACE);
			if (rc == STRATA_CODEC_OK)
				decode_any_first_members(buf, len, (info->nrows + 1) / 2, keys[k], k % 3 == 1 ? 2 : 1, &m);
			for (uint32_t i = 0; i < info->nrows && rc == STRATA_CODEC_OK; i++)
			{
				const StrataBytes *bytes = m.kinds[i] == STRATA_MEMBER_STRING ? &m.strings : &m.numbers;

				DECODE_ANY_REQUIRE(m.kinds[i] <= STRATA_MEMBER_CONTAINER && (!isnull[i] || m.kinds[i] == STRATA_MEMBER_ABSENT));
				if (m.kinds[i] == STRATA_MEMBER_STRING || m.kinds[i] == STRATA_MEMBER_NUMBER)
					DECODE_ANY_REQUIRE(m.which[i] < bytes->nentries && bytes->offsets[m.which[i]] <= bytes->offsets[m.which[i] + 1]);
			}
			free(scratch);
		}
		free(m.kinds);
	}
	free(lengths);
	free(tails);
	free(isnull);
}

/* Decode rows [from, from + n) of a column that was described as info; *digest is of the values. */
static StrataCodecResult
decode_any_once(const uint8_t *buf, size_t len, const StrataCodecInfo *info, uint32_t from, uint32_t n, uint64_t *digest)
{
	size_t		scratch_size;
	StrataCodecResult rc = strata_column_decode_scratch_size(buf, len, from, n, &scratch_size);
	uint8_t    *scratch;
	bool	   *isnull;
	bool		hasnull;

	*digest = 0;
	if (rc != STRATA_CODEC_OK || scratch_size > DECODE_ANY_MAX_SCRATCH)
		return rc;
	scratch = malloc(scratch_size ? scratch_size : 1);
	isnull = malloc(n ? n : 1);
	if (info->kind == STRATA_KIND_BYTES)
	{
		StrataBytes bytes;

		rc = strata_column_decode_bytes(buf, len, from, n, scratch, scratch_size, &bytes, isnull, &hasnull);
		if (rc == STRATA_CODEC_OK)
		{
			int64_t    *integers = malloc(n ? n * sizeof(int64_t) : 1);
			unsigned	scale = 0;
			uint8_t    *displays = malloc(n ? n : 1);

			*digest = decode_any_use_bytes(&bytes, n, isnull);
			if (strata_column_decode_scaled(buf, len, from, n, scratch, scratch_size, integers, displays,
											&scale, isnull, &hasnull) == STRATA_CODEC_OK)
				for (uint32_t i = 0; i < n; i++)
					*digest = *digest * 31 + (uint64_t) integers[i] + scale + displays[i];
			free(integers);
			free(displays);
		}
	}
	else
	{
		uint8_t    *out = malloc(n ? (size_t) n * info->width : 1);

		rc = strata_column_decode_fixed(buf, len, from, n, scratch, scratch_size, out, isnull, &hasnull);
		if (rc == STRATA_CODEC_OK)
			for (size_t i = 0; i < (size_t) n * info->width; i++)
				*digest = *digest * 31 + out[i];
		for (unsigned width = 2; width <= 8 && info->kind == STRATA_KIND_FLOAT && rc == STRATA_CODEC_OK; width *= 2)
		{
			uint8_t    *integers = malloc(n ? (size_t) n * width : 1);

			if (strata_column_decode_integers(buf, len, from, n, width, integers) == STRATA_CODEC_OK)
				for (size_t i = 0; i < (size_t) n * width; i++)
					*digest = *digest * 31 + integers[i];
			free(integers);
		}
		free(out);
	}
	/* what decode_scratch_size asked for is enough, whatever the input */
	DECODE_ANY_REQUIRE(rc != STRATA_CODEC_NO_SPACE);
	free(scratch);
	free(isnull);
	return rc;
}

/* Decode as this CPU does and as one without vector instructions would: to the same values. */
static StrataCodecResult
decode_any_range(const uint8_t *buf, size_t len, const StrataCodecInfo *info, uint32_t from, uint32_t n)
{
	uint64_t	digest[2];
	StrataCodecResult rc = decode_any_once(buf, len, info, from, n, &digest[0]);

	strata_codec_portable_only = true;
	DECODE_ANY_REQUIRE(decode_any_once(buf, len, info, from, n, &digest[1]) == rc);
	strata_codec_portable_only = false;
	DECODE_ANY_REQUIRE(digest[0] == digest[1]);
	return rc;
}

/* Everything a reader may do with a column; the result of decoding all of it. */
static StrataCodecResult
decode_any(const uint8_t *data, size_t len)
{
	uint8_t    *buf = malloc(len ? len : 1);
	StrataCodecInfo info;
	StrataCodecResult rc;

	if (len > 0)
		memcpy(buf, data, len);
	strata_column_describe(buf, len, true, &info);
	rc = strata_column_describe(buf, len, false, &info);
	if (rc == STRATA_CODEC_OK)
	{
		DECODE_ANY_REQUIRE(info.nrows <= STRATA_CODEC_MAX_ROWS && info.nnulls <= info.nrows);
		DECODE_ANY_REQUIRE(strlen(info.detail) < sizeof(info.detail));
		rc = decode_any_range(buf, len, &info, 0, info.nrows);
		decode_any_parts(buf, len, &info);
		decode_any_range(buf, len, &info, info.nrows / 3, info.nrows / 2);
		if (info.nrows > 0)
		{
			decode_any_range(buf, len, &info, info.nrows * 2 / 3, 1);
			decode_any_range(buf, len, &info, info.nrows - 1, 1);
		}
		DECODE_ANY_REQUIRE(decode_any_range(buf, len, &info, info.nrows, 1) != STRATA_CODEC_OK);
	}
	free(buf);
	return rc;
}

#endif							/* STRATA_DECODE_ANY_H */
