/*-------------------------------------------------------------------------
 *
 * column_choose.c
 *	  Which codec for which values: candidates by kind, judged by size.
 *
 * A candidate is encoded with the size to beat as its room, so that it gives up
 * as soon as it cannot win.  A codec that decodes slower has to win by a margin, but
 * not in archives; hot columns do without zstd.
 *
 *	INT		CONSTANT, DELTA_DELTA, DICTIONARY, RAW
 *	FLOAT	CONSTANT, DECIMAL, GORILLA, DICTIONARY, RAW
 *	BYTES	CONSTANT, DICTIONARY, PACKED, LZ4, ZSTD, NUMERIC, RAW, as the vector's hint allows
 *
 * src/codec/column_choose.c
 *-------------------------------------------------------------------------
 */
#include "codec_private.h"

/* Blocks of a byte string column that are compressed to estimate its size. */
#define LZ_SAMPLES 4
#define LZ_SAMPLE_BYTES 65536

/* A dictionary with at most one entry for so many values is not compared with LZ. */
#define FEW_ENTRIES 16

/* So few byte strings, and packed to half of them: no LZ codec is asked. */
#define PACKED_AT_ONCE 4096

/* Decimals smaller than this part of raw leave XOR nothing to win. */
#define GORILLA_BELOW 4

/* The best encoding so far; it stands at the end of what `out` holds. */
typedef struct Choice
{
	StrataCodecId id;
	size_t		len;			/* SIZE_MAX: none yet */
} Choice;

/* May the entries of a dictionary be in this codec? */
bool
strata_nested_allowed(unsigned id)
{
	return id == STRATA_CODEC_RAW || id == STRATA_CODEC_DELTA_DELTA || id == STRATA_CODEC_GORILLA ||
		id == STRATA_CODEC_DECIMAL || id == STRATA_CODEC_LZ4 || id == STRATA_CODEC_ZSTD ||
		id == STRATA_CODEC_PACKED;
}

/* Scratch of the candidates for v, dictionaries apart. */
static size_t
simple_scratch_size(const StrataVector *v)
{
	size_t		most = 0;

	for (unsigned id = 1; id < STRATA_CODEC_COUNT; id++)
	{
		size_t		size;

		if (id == STRATA_CODEC_DICTIONARY || !strata_codec_supports((StrataCodecId) id, v->kind, v->width))
			continue;
		size = strata_codec_get(id)->encode_scratch_size(v);
		most = size > most ? size : most;
	}
	if (v->kind == STRATA_KIND_BYTES)
		return most + STRATA_ARENA_SIZE(LZ_SAMPLE_BYTES);
	return most + STRATA_ARENA_SIZE(strata_raw_bound(v));
}

/* Scratch of strata_nested_encode. */
size_t
strata_nested_scratch_size(const StrataVector *v)
{
	return simple_scratch_size(v);
}

/* Scratch of strata_choose_encode, and of any single codec. */
size_t
strata_choose_scratch_size(const StrataVector *v)
{
	size_t		simple = simple_scratch_size(v);
	size_t		dictionary = strata_codec_dictionary.encode_scratch_size(v) +
		STRATA_ARENA_SIZE(v->kind == STRATA_KIND_BYTES ? 0 : strata_raw_bound(v));

	return simple > dictionary ? simple : dictionary;
}

/* Do most values equal the one before? */
static bool
mostly_repeats(const StrataVector *v)
{
	uint32_t	repeats = 0;

	if (v->width == 8)
		for (uint32_t i = 1; i < v->n; i++)
			repeats += ((const uint64_t *) v->fixed)[i] == ((const uint64_t *) v->fixed)[i - 1];
	else if (v->width == 4)
		for (uint32_t i = 1; i < v->n; i++)
			repeats += ((const uint32_t *) v->fixed)[i] == ((const uint32_t *) v->fixed)[i - 1];
	return repeats > v->n / 2;
}

/*
 * How many entries a dictionary of less than room bytes can have: codes cost most
 * of their bits, less where differences between them are small, and entries half a
 * byte at the very least.  With many runs there is no telling.
 */
static uint32_t
entries_limit(const StrataVector *v, size_t room)
{
	unsigned	share = v->kind == STRATA_KIND_INT ? 5 : 7;
	uint32_t	limit = 1;

	if (mostly_repeats(v))
		return v->n / 4 + 1;
	for (unsigned bits = 1; bits < 16; bits++)
		if ((size_t) v->n * bits * share / 64 + (UINT32_C(1) << bits) / 2 <= room)
			limit = UINT32_C(1) << bits;
	return limit < v->n / 4 ? limit : v->n / 4 + 1;
}

/*
 * Encode a candidate of a fixed kind if it takes less than room bytes.  The
 * first goes straight to `out`; later ones are tried in scratch.
 */
static void
attempt_fixed(StrataCodecId id, const StrataVector *v, size_t room, StrataArena scratch,
			  StrataWriter *out, Choice *choice)
{
	uint8_t    *start = out->next - (choice->len == SIZE_MAX ? 0 : choice->len);
	uint8_t    *to = start;
	StrataWriter w;
	StrataCodecResult rc;
	uint32_t	nentries;

	if (room > (size_t) (out->end - start))
		room = (size_t) (out->end - start);
	if (choice->len != SIZE_MAX)
		to = strata_arena_alloc(&scratch, room);
	if (to == NULL)
		return;
	w = strata_writer(to, room);
	if (id == STRATA_CODEC_DICTIONARY)
		rc = strata_dictionary_encode(v, entries_limit(v, room), &scratch, &w, &nentries);
	else
		rc = strata_codec_get(id)->encode(v, &scratch, &w);
	if (rc != STRATA_CODEC_OK || w.failed)
		return;
	choice->id = id;
	choice->len = strata_writer_len(&w);
	if (to != start)
		memcpy(start, to, choice->len);
	out->next = start + choice->len;
}

/* A margin of 1 / `part` of a size; none in archives. */
static size_t
margin(const StrataVector *v, size_t size, unsigned part)
{
	return part > 0 && v->level != STRATA_LEVEL_ARCHIVE ? size / part : 0;
}

/* The size to beat, less a margin of 1 / `part` of it; below raw in any case. */
static size_t
room_below(const StrataVector *v, const Choice *choice, size_t raw, unsigned part)
{
	size_t		size = choice->len < raw ? choice->len : raw;

	size -= margin(v, size, part);
	return size > 0 ? size - 1 : 0;
}

/* INT and FLOAT. */
static StrataCodecResult
choose_fixed(const StrataVector *v, bool nested, StrataArena *scratch, StrataWriter *out, StrataCodecId *chosen)
{
	Choice		choice = {STRATA_CODEC_RAW, SIZE_MAX};
	size_t		raw = strata_raw_bound(v);

	if (!nested)
		attempt_fixed(STRATA_CODEC_CONSTANT, v, raw, *scratch, out, &choice);
	if (choice.len == SIZE_MAX && v->kind == STRATA_KIND_INT)
		attempt_fixed(STRATA_CODEC_DELTA_DELTA, v, room_below(v, &choice, raw, 0), *scratch, out, &choice);
	else if (choice.len == SIZE_MAX)
	{
		attempt_fixed(STRATA_CODEC_DECIMAL, v, room_below(v, &choice, raw, 0), *scratch, out, &choice);
		if (choice.len > raw / GORILLA_BELOW)
			attempt_fixed(STRATA_CODEC_GORILLA, v, room_below(v, &choice, raw, 10), *scratch, out, &choice);
	}
	if (!nested && choice.id != STRATA_CODEC_CONSTANT)
		attempt_fixed(STRATA_CODEC_DICTIONARY, v, room_below(v, &choice, raw, 20), *scratch, out, &choice);
	*chosen = choice.id;
	if (choice.len == SIZE_MAX)
		return strata_codec_raw.encode(v, scratch, out);
	return STRATA_CODEC_OK;
}

/*
 * Estimated bytes of a BYTES payload in an LZ codec, lengths not counted: by
 * compressing up to LZ_SAMPLES pieces, so exact for a small column.
 */
static size_t
estimate_lz(StrataCodecId id, const StrataVector *v, StrataArena scratch)
{
	size_t		total = v->offsets[v->n];
	uint8_t    *to = strata_arena_alloc(&scratch, LZ_SAMPLE_BYTES);
	void	   *lz = strata_arena_alloc(&scratch, strata_lz_scratch_size(id));
	size_t		pieces = (total + LZ_SAMPLE_BYTES - 1) / LZ_SAMPLE_BYTES;
	size_t		step = pieces > LZ_SAMPLES ? total / LZ_SAMPLES : LZ_SAMPLE_BYTES;
	size_t		seen = 0;
	size_t		size = 0;

	if (to == NULL || lz == NULL || !strata_codec_available(id) || total == 0)
		return SIZE_MAX;
	for (size_t at = 0; at < total; at += step)
	{
		size_t		nbytes = total - at < LZ_SAMPLE_BYTES ? total - at : LZ_SAMPLE_BYTES;
		size_t		len = strata_lz_compress(id, v->level, v->payload + at, nbytes, to, nbytes - nbytes / 32, lz);

		seen += nbytes;
		size += len > 0 ? len : nbytes;
	}
	return (size_t) ((double) size / (double) seen * (double) total);
}

/* Encode with an LZ codec or RAW in place of what `out` got since `start`. */
static StrataCodecResult
encode_lz(StrataCodecId id, const StrataVector *v, StrataArena *scratch, const StrataWriter *start,
		  StrataWriter *out, StrataCodecId *chosen, size_t *blocks_len)
{
	*out = *start;
	*chosen = id;
	return strata_lzarray_encode(id, v, scratch, out, blocks_len);
}

/*
 * PACKED, LZ4, ZSTD or RAW.  ZSTD is tried on the whole of a small column, the others are
 * estimated; it has to win by a tenth, over PACKED by a fifth.  Not for hot columns.
 */
static StrataCodecResult
choose_lz(const StrataVector *v, StrataArena *scratch, StrataWriter *out, StrataCodecId *chosen)
{
	StrataWriter start = *out;
	size_t		total = v->offsets[v->n];
	size_t		packed = strata_packed_size(v);
	bool		any = v->hint != STRATA_BYTES_NO_LZ &&
		(packed > total / 2 || total > PACKED_AT_ONCE || v->level == STRATA_LEVEL_ARCHIVE);
	size_t		lz4 = any ? estimate_lz(STRATA_CODEC_LZ4, v, *scratch) : SIZE_MAX;
	size_t		others = lz4 < total - total / 32 ? lz4 : total;
	bool		is_packed = packed <= others && packed < total - total / 32;
	StrataCodecResult rc = STRATA_CODEC_UNSUPPORTED;
	size_t		zstd = SIZE_MAX;

	if (is_packed)
		others = packed;

	if (any && strata_codec_available(STRATA_CODEC_ZSTD) &&
		!(v->hint == STRATA_BYTES_LZ4 && strata_codec_available(STRATA_CODEC_LZ4)) &&
		!(v->level == STRATA_LEVEL_HOT && strata_codec_available(STRATA_CODEC_LZ4)))
	{
		if (total <= LZ_SAMPLES * LZ_SAMPLE_BYTES)
			rc = encode_lz(STRATA_CODEC_ZSTD, v, scratch, &start, out, chosen, &zstd);
		else
			zstd = estimate_lz(STRATA_CODEC_ZSTD, v, *scratch);
	}
	if (zstd < others - margin(v, others, is_packed ? 5 : 10))
	{
		if (rc == STRATA_CODEC_OK)
			return rc;
		return encode_lz(STRATA_CODEC_ZSTD, v, scratch, &start, out, chosen, &zstd);
	}
	if (is_packed)
	{
		*out = start;
		*chosen = STRATA_CODEC_PACKED;
		return strata_codec_packed.encode(v, scratch, out);
	}
	return encode_lz(others < total ? STRATA_CODEC_LZ4 : STRATA_CODEC_RAW, v, scratch, &start, out, chosen, &zstd);
}

/*
 * BYTES.  A dictionary decodes faster and to a shape that grouping likes, so it is
 * taken without further ado when its entries are few, else when LZ is not 5 % better.
 */
static StrataCodecResult
choose_bytes(const StrataVector *v, StrataArena *scratch, StrataWriter *out, StrataCodecId *chosen)
{
	StrataWriter start = *out;
	uint32_t	nentries;
	size_t		dictionary;
	StrataCodecResult rc;

	*chosen = STRATA_CODEC_CONSTANT;
	rc = strata_codec_constant.encode(v, scratch, out);
	if (rc != STRATA_CODEC_NOT_APPLICABLE)
		return rc;
	*chosen = STRATA_CODEC_DICTIONARY;
	rc = strata_dictionary_encode(v, v->n / 2, scratch, out, &nentries);
	if (rc == STRATA_CODEC_OK && nentries <= v->n / FEW_ENTRIES)
		return rc;
	dictionary = rc == STRATA_CODEC_OK ? strata_writer_len(out) - strata_writer_len(&start) : SIZE_MAX;
	*out = start;
	if (v->hint == STRATA_BYTES_NUMERIC)
	{
		*chosen = STRATA_CODEC_NUMERIC;
		rc = strata_codec_numeric.encode(v, scratch, out);
		if (rc == STRATA_CODEC_OK)
			return rc;
		*out = start;
	}
	rc = choose_lz(v, scratch, out, chosen);
	if (rc != STRATA_CODEC_OK ||
		dictionary - margin(v, dictionary, 20) > strata_writer_len(out) - strata_writer_len(&start))
		return rc;
	*out = start;
	*chosen = STRATA_CODEC_DICTIONARY;
	return strata_dictionary_encode(v, v->n / 2, scratch, out, &nentries);
}

/* Encode v (v->n > 0) in the codec that suits it best. */
StrataCodecResult
strata_choose_encode(const StrataVector *v, StrataArena *scratch, StrataWriter *out, StrataCodecId *chosen)
{
	if (v->kind == STRATA_KIND_BYTES)
		return choose_bytes(v, scratch, out, chosen);
	return choose_fixed(v, false, scratch, out, chosen);
}

/* The same for entries of a dictionary. */
StrataCodecResult
strata_nested_encode(const StrataVector *v, StrataArena *scratch, StrataWriter *out, StrataCodecId *chosen)
{
	if (v->kind == STRATA_KIND_BYTES)
		return choose_lz(v, scratch, out, chosen);
	return choose_fixed(v, true, scratch, out, chosen);
}
