/*-------------------------------------------------------------------------
 *
 * dictionary.c
 *	  Codec DICTIONARY: distinct values, and for each row which one.
 *
 *	OFFSET	SIZE	MEANING
 *	0		1-3		number of entries (1 .. n), varint
 *			1		codec of the entries: RAW, DELTA_DELTA, GORILLA, DECIMAL,
 *					LZ4 or ZSTD, as fits the kind
 *			1-5		length of the next part, varint
 *			...		the entries, a payload of that codec
 *			...		codes of the n values, an integer stream (int_stream.c);
 *					code c is entry c
 *
 * Entries of INT and FLOAT are in ascending order (of the number; for FLOAT
 * IEEE 754 totalOrder), so that they delta-code well; entries of BYTES are in
 * order of first appearance.  Values are distinct when their bits are.
 *
 * Invariant codec:C8: a decoder hands out no code that is not below the number
 * of entries.
 *
 * src/codec/dictionary.c
 *-------------------------------------------------------------------------
 */
#include <stdio.h>

#include "codec/bitstream.h"
#include "codec/dictionary.h"

static StrataCodecResult
dictionary_encode(const StrataVector *v, StrataArena *scratch,
				  StrataWriter *out)
{
	StrataArena arena = *scratch;
	StrataDictionary d;
	StrataCodecResult rc = strata_dictionary_collect(v, NULL, UINT32_MAX,
													 &arena, &d);

	Assert(v->n > 0);			/* codec:C4 */
	if (rc == STRATA_CODEC_OK)
		rc = strata_dictionary_plan(&d, SIZE_MAX, &arena);
	return rc == STRATA_CODEC_OK ? strata_dictionary_write(&d, out) : rc;
}

/*
 * --- decoding
 * ----------------------------------------------------------------
 */

/* A payload taken apart. */
typedef struct DictionaryParts
{
	const StrataCodec *codec;	/* of the entries */
	StrataPayload entries;
	const uint8_t *codes;
	size_t		codes_len;
} DictionaryParts;

/*
 * Take a payload apart; CORRUPT unless it has entries in a codec that they may
 * be in, and no more than values.
 */
static StrataCodecResult
dictionary_parse(const StrataPayload *p, DictionaryParts *parts)
{
	StrataReader in = strata_reader(p->data, p->len);
	uint64_t	nentries = strata_read_varint(&in);
	unsigned	id = strata_read_u8(&in);
	uint64_t	len = strata_read_varint(&in);
	const uint8_t *entries = strata_read_bytes(&in, len);

	if (entries == NULL || nentries == 0 || nentries > p->n)
		return STRATA_CODEC_CORRUPT;
	parts->codec = strata_codec_get(id);
	if (parts->codec == NULL)
		return STRATA_CODEC_UNSUPPORTED;
	if (!strata_nested_allowed(id) || !(parts->codec->kinds & 1U << p->kind))
		return STRATA_CODEC_CORRUPT;
	parts->entries = (StrataPayload)
	{
		p->kind, p->width, (uint32_t) nentries,
			entries, len
	};
	parts->codes = in.next;
	parts->codes_len = strata_reader_left(&in);
	return STRATA_CODEC_OK;
}

static StrataCodecResult
dictionary_decode_scratch_size(const StrataPayload *p, uint32_t from,
							   uint32_t n, size_t *size)
{
	DictionaryParts parts;
	StrataCodecResult rc = dictionary_parse(p, &parts);

	(void) from;
	*size = 0;
	if (rc == STRATA_CODEC_OK)
		rc = strata_codec_decode_scratch(parts.codec, &parts.entries, 0,
										 parts.entries.n, size);
	*size += STRATA_ARENA_SIZE((size_t) parts.entries.n * p->width) +
		STRATA_ARENA_SIZE(n * sizeof(uint32_t));
	return rc;
}

/* Are all codes below the number of entries? */
STRATA_CLONES
static bool
codes_below(const uint32_t *codes, uint32_t n, uint32_t nentries)
{
	uint32_t	highest = 0;

	for (uint32_t i = 0; i < n; i++)
		highest = codes[i] > highest ? codes[i] : highest;
	return highest < nentries;
}

/* Codes of values [from, from + n), checked (codec:C8). */
static StrataCodecResult
decode_codes(const StrataPayload *p, const DictionaryParts *parts,
			 uint32_t from, uint32_t n, uint32_t *codes)
{
	StrataCodecResult rc = strata_ints_decode(parts->codes, parts->codes_len,
											  p->n, from, n, sizeof(uint32_t),
											  codes);

	if (rc != STRATA_CODEC_OK)
		return rc;
	return codes_below(codes, n, parts->entries.n) ? STRATA_CODEC_OK :
		STRATA_CODEC_CORRUPT;
}

/* The entries of codes, which are read in pairs. */
#define LOOK_UP(type) \
	do { \
		const type *entry = entries; \
		type	   *v = out; \
		for (uint32_t left = n / 4; left > 0; left--, codes += 4, v += 4) \
		{ \
			uint64_t	low = load_pair(codes); \
			uint64_t	high = load_pair(codes + 2); \
			v[0] = entry[(uint32_t) low]; \
			v[1] = entry[low >> 32]; \
			v[2] = entry[(uint32_t) high]; \
			v[3] = entry[high >> 32]; \
		} \
		for (uint32_t i = 0; i < n % 4; i++) \
			v[i] = entry[codes[i]]; \
	} while (0)

/* Two codes, the first one in the lower half on any machine. */
STRATA_INLINE uint64_t
load_pair(const uint32_t *codes)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return strata_load64(codes);
#else
	return codes[0] | (uint64_t) codes[1] << 32;
#endif
}

/*
 * Write entries[codes[i]] of the width to out, for n codes that are below the
 * number of entries.
 */
static void
dictionary_look_up(const void *entries, const uint32_t *codes, uint32_t n,
				   unsigned width, void *out)
{
	switch (width)
	{
		case 1:
			LOOK_UP(uint8_t);
			break;
		case 2:
			LOOK_UP(uint16_t);
			break;
		case 4:
			LOOK_UP(uint32_t);
			break;
		default:
			LOOK_UP(uint64_t);
	}
}

/*
 * Values [from, from + n): all entries are decoded into scratch, then looked
 * up.
 */
static StrataCodecResult
dictionary_decode_fixed(const StrataPayload *p, uint32_t from, uint32_t n,
						StrataArena *scratch, void *out)
{
	DictionaryParts parts;
	void	   *entries;
	uint32_t   *codes;
	StrataCodecResult rc = dictionary_parse(p, &parts);

	Assert(n <= p->n && from <= p->n - n);	/* codec:C2 */
	if (rc != STRATA_CODEC_OK)
		return rc;
	entries = strata_arena_alloc(scratch, (size_t) parts.entries.n * p->width);
	codes = strata_arena_alloc(scratch, n * sizeof(uint32_t));
	if (entries == NULL || codes == NULL)
		return STRATA_CODEC_NO_SPACE;
	rc = parts.codec->decode_fixed(&parts.entries, 0, parts.entries.n, scratch,
								   entries);
	if (rc == STRATA_CODEC_OK)
		rc = decode_codes(p, &parts, from, n, codes);
	if (rc != STRATA_CODEC_OK)
		return rc;
	Assert(codes[0] < parts.entries.n &&
		   codes[n - 1] < parts.entries.n); /* codec:C8 */
	dictionary_look_up(entries, codes, n, p->width, out);
	return STRATA_CODEC_OK;
}

/* Values [from, from + n) as all entries and n codes, in scratch. */
static StrataCodecResult
dictionary_decode_bytes(const StrataPayload *p, uint32_t from, uint32_t n,
						StrataArena *scratch, StrataBytes *out)
{
	DictionaryParts parts;
	uint32_t   *codes;
	StrataCodecResult rc = dictionary_parse(p, &parts);

	Assert(n <= p->n && from <= p->n - n);	/* codec:C2 */
	if (rc != STRATA_CODEC_OK)
		return rc;
	codes = strata_arena_alloc(scratch, n * sizeof(uint32_t));
	if (codes == NULL)
		return STRATA_CODEC_NO_SPACE;
	rc = parts.codec->decode_bytes(&parts.entries, 0, parts.entries.n, scratch,
								   out);
	if (rc == STRATA_CODEC_OK)
		rc = decode_codes(p, &parts, from, n, codes);
	Assert(rc != STRATA_CODEC_OK ||
		   out->nentries == parts.entries.n);	/* codec:C8 */
	out->codes = codes;
	return rc;
}

/* For people: "12 entries in lz4, codes: values, bits, 8 blocks of 128". */
static void
dictionary_describe(const StrataPayload *p, char *text, size_t size)
{
	DictionaryParts parts;
	char		codes[64];

	text[0] = '\0';
	if (dictionary_parse(p, &parts) != STRATA_CODEC_OK)
		return;
	strata_ints_describe(parts.codes, parts.codes_len, p->n, codes,
						 sizeof(codes));
	snprintf(text, size, "%u entries in %s; %s", parts.entries.n,
			 parts.codec->name, codes);
}

const StrataCodec strata_codec_dictionary = {
	.name = "dictionary",
	.kinds = 1U << STRATA_KIND_INT | 1U << STRATA_KIND_FLOAT |
	1U << STRATA_KIND_BYTES,
	.available = true,
	.encode_scratch_size = strata_dictionary_scratch_size,
	.encode = dictionary_encode,
	.decode_scratch_size = dictionary_decode_scratch_size,
	.decode_fixed = dictionary_decode_fixed,
	.decode_bytes = dictionary_decode_bytes,
	.describe = dictionary_describe,
};
