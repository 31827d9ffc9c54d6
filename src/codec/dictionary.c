/*-------------------------------------------------------------------------
 *
 * dictionary.c
 *	  Codec DICTIONARY: distinct values, and for each row which one.
 *
 *	OFFSET	SIZE	MEANING
 *	0		1-3		number of entries (1 .. n), varint
 *			1		codec of the entries: RAW, DELTA_DELTA, GORILLA, DECIMAL, LZ4
 *					or ZSTD, as fits the kind
 *			1-5		length of the next part, varint
 *			...		the entries, a payload of that codec
 *			...		codes of the n values, an integer stream (int_stream.c);
 *					code c is entry c
 *
 * Entries of INT and FLOAT are in ascending order (of the number; for FLOAT
 * IEEE 754 totalOrder), so that they delta-code well; entries of BYTES are in
 * order of first appearance.  Values are distinct when their bits are.
 *
 * Invariant C8: a decoder hands out no code that is not below the number of
 * entries.
 *
 * src/codec/dictionary.c
 *-------------------------------------------------------------------------
 */
#include <stdio.h>

#include "bitstream.h"
#include "codec_private.h"

/* Slots of the hash table for n values: a power of two, at least 2 * n. */
static uint32_t
table_slots(uint32_t n)
{
	return UINT32_C(1) << strata_bit_length((uint64_t) n * 2);
}

/* What encode keeps of its scratch. */
typedef struct Dictionary
{
	uint32_t   *slots;			/* hash table: entry + 1, or 0 */
	uint32_t	mask;
	uint32_t	nentries;
	int64_t    *codes;			/* per value */
	uint64_t   *keys;			/* per entry: fixed values, widened */
	uint32_t   *order;			/* sorting: entry at each place */
	uint32_t   *rank;			/* sorting: place of each entry */
	void	   *fixed;			/* entries as a vector */
	uint32_t   *offsets;
	uint32_t   *first;			/* per entry of BYTES: the value that made it */
	uint8_t    *payload;
} Dictionary;

static size_t
encode_scratch_size(const StrataVector *v)
{
	size_t		payload = v->kind == STRATA_KIND_BYTES && v->n > 0 ? v->offsets[v->n] : 0;
	StrataVector entries = *v;

	return STRATA_ARENA_SIZE(table_slots(v->n) * sizeof(uint32_t)) +
		2 * STRATA_ARENA_SIZE(v->n * sizeof(int64_t)) +
		3 * STRATA_ARENA_SIZE(((size_t) v->n + 1) * sizeof(uint32_t)) +
		STRATA_ARENA_SIZE((size_t) v->n * v->width) +
		STRATA_ARENA_SIZE(payload) +
		strata_nested_scratch_size(&entries) + strata_ints_scratch_size(v->n);
}

/* Take the scratch apart; false when it is too small. */
static bool
prepare(const StrataVector *v, StrataArena *arena, Dictionary *d)
{
	uint32_t	nslots = table_slots(v->n);
	bool		bytes = v->kind == STRATA_KIND_BYTES;

	memset(d, 0, sizeof(*d));
	d->mask = nslots - 1;
	d->slots = strata_arena_alloc(arena, nslots * sizeof(uint32_t));
	d->codes = strata_arena_alloc(arena, v->n * sizeof(int64_t));
	if (d->slots == NULL || d->codes == NULL)
		return false;
	memset(d->slots, 0, nslots * sizeof(uint32_t));
	if (bytes)
	{
		d->first = strata_arena_alloc(arena, v->n * sizeof(uint32_t));
		d->offsets = strata_arena_alloc(arena, ((size_t) v->n + 1) * sizeof(uint32_t));
		d->payload = strata_arena_alloc(arena, v->offsets[v->n]);
		return d->first && d->offsets && d->payload;
	}
	d->keys = strata_arena_alloc(arena, v->n * sizeof(uint64_t));
	d->order = strata_arena_alloc(arena, v->n * sizeof(uint32_t));
	d->rank = strata_arena_alloc(arena, v->n * sizeof(uint32_t));
	d->fixed = strata_arena_alloc(arena, (size_t) v->n * v->width);
	return d->keys && d->order && d->rank && d->fixed;
}

/* Value i of a fixed vector, zero-extended. */
STRATA_INLINE uint64_t
fixed_value(const StrataVector *v, uint32_t i)
{
	switch (v->width)
	{
		case 1:
			return ((const uint8_t *) v->fixed)[i];
		case 2:
			return ((const uint16_t *) v->fixed)[i];
		case 4:
			return ((const uint32_t *) v->fixed)[i];
		default:
			return ((const uint64_t *) v->fixed)[i];
	}
}

/* The same, sign-extended. */
STRATA_INLINE int64_t
int_value(const StrataVector *v, uint32_t i)
{
	switch (v->width)
	{
		case 1:
			return ((const int8_t *) v->fixed)[i];
		case 2:
			return ((const int16_t *) v->fixed)[i];
		case 4:
			return ((const int32_t *) v->fixed)[i];
		default:
			return ((const int64_t *) v->fixed)[i];
	}
}

/* Spread a number over 32 bits; in memory only, so it may change any day. */
STRATA_INLINE uint32_t
hash_number(uint64_t v)
{
	v *= UINT64_C(0x9e3779b97f4a7c15);
	v ^= v >> 32;
	return (uint32_t) (v * UINT64_C(0xd6e8feb86659fd93) >> 32);
}

/* Hash of a byte string. */
static uint32_t
hash_bytes(const uint8_t *data, uint32_t len)
{
	uint64_t	h = len * UINT64_C(0x9e3779b97f4a7c15);

	for (; len >= 8; len -= 8, data += 8)
	{
		h = (h ^ strata_load64(data)) * UINT64_C(0xd6e8feb86659fd93);
		h ^= h >> 32;
	}
	h = (h ^ strata_load_partial(data, len)) * UINT64_C(0xd6e8feb86659fd93);
	return (uint32_t) (h >> 32) ^ (uint32_t) h;
}

/* Is it hopeless that so many entries after so many values will pay? */
STRATA_INLINE bool
too_many(uint32_t nentries, uint32_t nvalues, uint32_t limit)
{
	return nentries > limit || (nvalues == 256 && nentries > 192 && limit < UINT32_MAX);
}

/* Find the distinct numbers; false when there are more than limit. */
static bool
collect_fixed(const StrataVector *v, Dictionary *d, uint32_t limit)
{
	for (uint32_t i = 0; i < v->n; i++)
	{
		uint64_t	value = fixed_value(v, i);
		uint32_t	slot = hash_number(value) & d->mask;

		while (d->slots[slot] != 0 && d->keys[d->slots[slot] - 1] != value)
			slot = (slot + 1) & d->mask;
		if (d->slots[slot] == 0)
		{
			if (too_many(d->nentries + 1, i, limit))
				return false;
			d->keys[d->nentries] = value;
			d->slots[slot] = ++d->nentries;
		}
		d->codes[i] = d->slots[slot] - 1;
	}
	return true;
}

/* The least and the largest of an INT vector's values. */
STRATA_CLONES
static void
find_range(const StrataVector *v, int64_t *min, int64_t *max)
{
#define FIND_RANGE(type) \
	do { \
		const type *values = v->fixed; \
		type		least = values[0]; \
		type		most = values[0]; \
		for (uint32_t i = 1; i < v->n; i++) \
		{ \
			least = values[i] < least ? values[i] : least; \
			most = values[i] > most ? values[i] : most; \
		} \
		*min = least; \
		*max = most; \
	} while (0)

	switch (v->width)
	{
		case 1:
			FIND_RANGE(int8_t);
			break;
		case 2:
			FIND_RANGE(int16_t);
			break;
		case 4:
			FIND_RANGE(int32_t);
			break;
		default:
			FIND_RANGE(int64_t);
	}
}

/* Store value `bits` of a vector's width. */
STRATA_INLINE void
put_fixed(const StrataVector *v, void *fixed, uint32_t place, uint64_t bits)
{
	switch (v->width)
	{
		case 1:
			((uint8_t *) fixed)[place] = (uint8_t) bits;
			break;
		case 2:
			((uint16_t *) fixed)[place] = (uint16_t) bits;
			break;
		case 4:
			((uint32_t *) fixed)[place] = (uint32_t) bits;
			break;
		default:
			((uint64_t *) fixed)[place] = bits;
	}
}

/*
 * Entries and codes of integers from a narrow range: a place in the table for each
 * possible one, so that nothing is hashed and nothing sorted.  False when there are
 * more than limit; *narrow says whether the range is.
 */
static bool
collect_narrow(const StrataVector *v, Dictionary *d, uint32_t limit, bool *narrow)
{
	int64_t		min;
	int64_t		max;
	uint32_t	range;

	find_range(v, &min, &max);
	*narrow = (uint64_t) max - (uint64_t) min <= d->mask;
	if (!*narrow)
		return true;
	range = (uint32_t) ((uint64_t) max - (uint64_t) min) + 1;
	for (uint32_t i = 0; i < v->n; i++)
		d->slots[(uint64_t) int_value(v, i) - (uint64_t) min] = 1;
	for (uint32_t slot = 0; slot < range; slot++)
		d->nentries += d->slots[slot];
	if (d->nentries > limit)
		return false;
	d->nentries = 0;
	for (uint32_t slot = 0; slot < range; slot++)
		if (d->slots[slot])
		{
			put_fixed(v, d->fixed, d->nentries, (uint64_t) min + slot);
			d->slots[slot] = d->nentries++;
		}
	for (uint32_t i = 0; i < v->n; i++)
		d->codes[i] = d->slots[(uint64_t) int_value(v, i) - (uint64_t) min];
	return true;
}

/* The same for byte strings, whose distinct ones are gathered as a vector. */
static bool
collect_bytes(const StrataVector *v, Dictionary *d, uint32_t limit)
{
	d->offsets[0] = 0;
	for (uint32_t i = 0; i < v->n; i++)
	{
		const uint8_t *value = v->payload + v->offsets[i];
		uint32_t	len = v->offsets[i + 1] - v->offsets[i];
		uint32_t	slot = hash_bytes(value, len) & d->mask;

		for (; d->slots[slot] != 0; slot = (slot + 1) & d->mask)
		{
			uint32_t	e = d->slots[slot] - 1;

			if (d->offsets[e + 1] - d->offsets[e] == len &&
				(len == 0 || memcmp(d->payload + d->offsets[e], value, len) == 0))
				break;
		}
		if (d->slots[slot] == 0)
		{
			if (too_many(d->nentries + 1, i, limit))
				return false;
			if (len > 0)
				memcpy(d->payload + d->offsets[d->nentries], value, len);
			d->offsets[d->nentries + 1] = d->offsets[d->nentries] + len;
			d->slots[slot] = ++d->nentries;
		}
		d->codes[i] = d->slots[slot] - 1;
	}
	return true;
}

/* An unsigned number that sorts like the value with these bits. */
static uint64_t
sort_key(StrataKind kind, unsigned width, uint64_t bits)
{
	uint64_t	sign = UINT64_C(1) << (width * 8 - 1);

	if (kind == STRATA_KIND_FLOAT && bits & sign)
		return ~bits & (sign | (sign - 1));
	return bits ^ sign;
}

/* Sort entries ascending and renumber the codes (shell sort: no recursion, no memory). */
static void
sort_entries(const StrataVector *v, Dictionary *d)
{
	static const uint32_t gaps[] = {13000, 5700, 2500, 1100, 701, 301, 132, 57, 23, 10, 4, 1};
	uint32_t	n = d->nentries;

	for (uint32_t e = 0; e < n; e++)
	{
		d->keys[e] = sort_key(v->kind, v->width, d->keys[e]);
		d->order[e] = e;
	}
	for (size_t g = 0; g < sizeof(gaps) / sizeof(gaps[0]); g++)
		for (uint32_t i = gaps[g]; i < n; i++)
		{
			uint32_t	moving = d->order[i];
			uint32_t	place = i;

			for (; place >= gaps[g] && d->keys[d->order[place - gaps[g]]] > d->keys[moving]; place -= gaps[g])
				d->order[place] = d->order[place - gaps[g]];
			d->order[place] = moving;
		}
	for (uint32_t place = 0; place < n; place++)
		d->rank[d->order[place]] = place;
	for (uint32_t i = 0; i < v->n; i++)
		d->codes[i] = d->rank[d->codes[i]];
}

/* The sorted entries as an array of the column's width. */
static void
gather_entries(const StrataVector *v, Dictionary *d)
{
	for (uint32_t place = 0; place < d->nentries; place++)
	{
		uint64_t	key = d->keys[d->order[place]];
		uint64_t	sign = UINT64_C(1) << (v->width * 8 - 1);
		uint64_t	bits = key ^ sign;

		if (v->kind == STRATA_KIND_FLOAT && !(key & sign))
			bits = ~key;
		put_fixed(v, d->fixed, place, bits);
	}
}

/* Find entries and codes, in the order they are written; false when there are more than limit. */
static bool
collect(const StrataVector *v, Dictionary *d, uint32_t limit)
{
	bool		narrow = false;

	if (v->kind == STRATA_KIND_BYTES)
		return collect_bytes(v, d, limit);
	if (v->kind == STRATA_KIND_INT && !collect_narrow(v, d, limit, &narrow))
		return false;
	if (narrow)
		return true;
	if (!collect_fixed(v, d, limit))
		return false;
	sort_entries(v, d);
	gather_entries(v, d);
	return true;
}

/*
 * Encode when there are at most limit entries (UINT32_MAX: whatever there are);
 * NO_SPACE when there are more, or when it does not fit.  *nentries is how many.
 */
StrataCodecResult
strata_dictionary_encode(const StrataVector *v, uint32_t limit, StrataArena *scratch,
						 StrataWriter *out, uint32_t *nentries)
{
	StrataArena arena = *scratch;
	Dictionary	d;
	StrataVector entries = {.kind = v->kind, .width = v->width, .level = v->level, .hint = v->hint};
	StrataCodecId id;
	StrataCodecResult rc;
	StrataWriter nested;
	size_t		nested_len;

	if (!prepare(v, &arena, &d))
		return STRATA_CODEC_NO_SPACE;
	if (!collect(v, &d, limit))
	{
		out->failed = true;
		return STRATA_CODEC_NO_SPACE;
	}
	entries.n = *nentries = d.nentries;
	entries.fixed = d.fixed;
	entries.payload = d.payload;
	entries.offsets = d.offsets;

	/* the entries go where their length cannot reach, then move up */
	strata_write_varint(out, d.nentries);
	if (strata_writer_left(out) < 1 + STRATA_VARINT_MAX)
		out->failed = true;
	if (out->failed)
		return STRATA_CODEC_NO_SPACE;
	nested = strata_writer(out->next + 1 + STRATA_VARINT_MAX, strata_writer_left(out) - 1 - STRATA_VARINT_MAX);
	rc = strata_nested_encode(&entries, &arena, &nested, &id);
	if (rc != STRATA_CODEC_OK)
	{
		out->failed = true;
		return rc;
	}
	nested_len = strata_writer_len(&nested);
	strata_write_u8(out, (uint8_t) id);
	strata_write_varint(out, nested_len);
	memmove(out->next, nested.start, nested_len);
	out->next += nested_len;
	return strata_ints_encode(d.codes, v->n, v->level, &arena, out);
}

static StrataCodecResult
encode(const StrataVector *v, StrataArena *scratch, StrataWriter *out)
{
	uint32_t	nentries;

	return strata_dictionary_encode(v, UINT32_MAX, scratch, out, &nentries);
}

/* --- decoding ---------------------------------------------------------------- */

/* A payload taken apart. */
typedef struct DictionaryParts
{
	const StrataCodec *codec;	/* of the entries */
	StrataPayload entries;
	const uint8_t *codes;
	size_t		codes_len;
} DictionaryParts;

static StrataCodecResult
parse(const StrataPayload *p, DictionaryParts *parts)
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
	parts->entries = (StrataPayload) {p->kind, p->width, (uint32_t) nentries, entries, len};
	parts->codes = in.next;
	parts->codes_len = strata_reader_left(&in);
	return STRATA_CODEC_OK;
}

static StrataCodecResult
decode_scratch_size(const StrataPayload *p, uint32_t from, uint32_t n, size_t *size)
{
	DictionaryParts parts;
	StrataCodecResult rc = parse(p, &parts);

	(void) from;
	*size = 0;
	if (rc == STRATA_CODEC_OK)
		rc = parts.codec->decode_scratch_size(&parts.entries, 0, parts.entries.n, size);
	*size += STRATA_ARENA_SIZE((size_t) parts.entries.n * p->width) + STRATA_ARENA_SIZE(n * sizeof(uint32_t));
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

/* Codes of values [from, from + n), checked (C8). */
static StrataCodecResult
decode_codes(const StrataPayload *p, const DictionaryParts *parts, uint32_t from, uint32_t n, uint32_t *codes)
{
	StrataCodecResult rc = strata_ints_decode(parts->codes, parts->codes_len, p->n, from, n,
											  sizeof(uint32_t), codes);

	if (rc != STRATA_CODEC_OK)
		return rc;
	return codes_below(codes, n, parts->entries.n) ? STRATA_CODEC_OK : STRATA_CODEC_CORRUPT;
}

static StrataCodecResult
decode_fixed(const StrataPayload *p, uint32_t from, uint32_t n, StrataArena *scratch, void *out)
{
	DictionaryParts parts;
	void	   *entries;
	uint32_t   *codes;
	StrataCodecResult rc = parse(p, &parts);

	if (rc != STRATA_CODEC_OK)
		return rc;
	entries = strata_arena_alloc(scratch, (size_t) parts.entries.n * p->width);
	codes = strata_arena_alloc(scratch, n * sizeof(uint32_t));
	if (entries == NULL || codes == NULL)
		return STRATA_CODEC_NO_SPACE;
	rc = parts.codec->decode_fixed(&parts.entries, 0, parts.entries.n, scratch, entries);
	if (rc == STRATA_CODEC_OK)
		rc = decode_codes(p, &parts, from, n, codes);
	if (rc != STRATA_CODEC_OK)
		return rc;
	switch (p->width)
	{
		case 1:
			for (uint32_t i = 0; i < n; i++)
				((uint8_t *) out)[i] = ((const uint8_t *) entries)[codes[i]];
			break;
		case 2:
			for (uint32_t i = 0; i < n; i++)
				((uint16_t *) out)[i] = ((const uint16_t *) entries)[codes[i]];
			break;
		case 4:
			for (uint32_t i = 0; i < n; i++)
				((uint32_t *) out)[i] = ((const uint32_t *) entries)[codes[i]];
			break;
		default:
			for (uint32_t i = 0; i < n; i++)
				((uint64_t *) out)[i] = ((const uint64_t *) entries)[codes[i]];
	}
	return STRATA_CODEC_OK;
}

static StrataCodecResult
decode_bytes(const StrataPayload *p, uint32_t from, uint32_t n, StrataArena *scratch, StrataBytes *out)
{
	DictionaryParts parts;
	uint32_t   *codes;
	StrataCodecResult rc = parse(p, &parts);

	if (rc != STRATA_CODEC_OK)
		return rc;
	codes = strata_arena_alloc(scratch, n * sizeof(uint32_t));
	if (codes == NULL)
		return STRATA_CODEC_NO_SPACE;
	rc = parts.codec->decode_bytes(&parts.entries, 0, parts.entries.n, scratch, out);
	if (rc == STRATA_CODEC_OK)
		rc = decode_codes(p, &parts, from, n, codes);
	out->codes = codes;
	return rc;
}

/* For people: "12 entries in lz4, codes: values, bits, 8 blocks of 128". */
static void
describe(const StrataPayload *p, char *text, size_t size)
{
	DictionaryParts parts;
	char		codes[64];

	text[0] = '\0';
	if (parse(p, &parts) != STRATA_CODEC_OK)
		return;
	strata_ints_describe(parts.codes, parts.codes_len, p->n, codes, sizeof(codes));
	snprintf(text, size, "%u entries in %s; %s", parts.entries.n, parts.codec->name, codes);
}

const StrataCodec strata_codec_dictionary = {
	.name = "dictionary",
	.kinds = 1U << STRATA_KIND_INT | 1U << STRATA_KIND_FLOAT | 1U << STRATA_KIND_BYTES,
	.available = true,
	.encode_scratch_size = encode_scratch_size,
	.encode = encode,
	.decode_scratch_size = decode_scratch_size,
	.decode_fixed = decode_fixed,
	.decode_bytes = decode_bytes,
	.describe = describe,
};
