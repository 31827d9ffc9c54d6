/*-------------------------------------------------------------------------
 *
 * dictionary_plan.c
 *	  Find the distinct values of a vector, and write them as a dictionary.
 *
 * In three steps, so that a dictionary that does not pay costs little: collect
 * the distinct values, giving up when they are too many; plan, which says what
 * it will take (the entries are encoded then, they are few); write.
 *
 * src/codec/dictionary_plan.c
 *-------------------------------------------------------------------------
 */
#include "codec/bitstream.h"
#include "codec/dictionary.h"

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
	uint16_t   *table;			/* dictionary_range.c */
	uint32_t   *order;			/* sorting: entry at each place */
	uint32_t   *rank;			/* sorting: place of each entry */
	void	   *fixed;			/* entries as a vector */
	uint32_t   *offsets;
	uint32_t   *first;			/* per entry of BYTES: the value that made it */
	uint8_t    *payload;
} Dictionary;

/* Scratch of the functions below together. */
size_t
strata_dictionary_scratch_size(const StrataVector *v)
{
	size_t		payload;
	StrataVector entries = *v;

	payload = v->kind == STRATA_KIND_BYTES && v->n > 0 && v->offsets ?
		v->offsets[v->n] : 0;
	return STRATA_ARENA_SIZE(table_slots(v->n) * sizeof(uint32_t)) +
		2 * STRATA_ARENA_SIZE(v->n * sizeof(int64_t)) +
		3 * STRATA_ARENA_SIZE(((size_t) v->n + 1) * sizeof(uint32_t)) +
		STRATA_ARENA_SIZE((size_t) v->n * v->width) +
		STRATA_ARENA_SIZE(v->kind == STRATA_KIND_BYTES ?
						  0 :
						  STRATA_DICTIONARY_RANGE * sizeof(uint16_t)) +
		STRATA_ARENA_SIZE(payload) +
		STRATA_ARENA_SIZE(strata_raw_bound(v) + 1) +
		strata_nested_scratch_size(&entries) +
		strata_ints_scratch_size(v->n);
}

/* Take the scratch apart; false when it is too small. */
static bool
dictionary_prepare(const StrataVector *v, StrataArena *arena, Dictionary *d)
{
	uint32_t	nslots = table_slots(v->n);
	bool		bytes = v->kind == STRATA_KIND_BYTES;

	memset(d, 0, sizeof(*d));
	d->mask = nslots - 1;
	d->slots = strata_arena_alloc(arena, nslots * sizeof(uint32_t));
	d->codes = strata_arena_alloc(arena, v->n * sizeof(int64_t));
	if (d->slots == NULL || d->codes == NULL)
		return false;
	if (bytes)
	{
		d->first = strata_arena_alloc(arena, v->n * sizeof(uint32_t));
		d->offsets = strata_arena_alloc(arena, ((size_t) v->n + 1) *
										sizeof(uint32_t));
		d->payload = strata_arena_alloc(arena, v->offsets[v->n]);
		return d->first && d->offsets && d->payload;
	}
	d->keys = strata_arena_alloc(arena, v->n * sizeof(uint64_t));
	d->order = strata_arena_alloc(arena,
								  ((size_t) v->n + 1) * sizeof(uint32_t));
	d->rank = strata_arena_alloc(arena, v->n * sizeof(uint32_t));
	d->fixed = strata_arena_alloc(arena, (size_t) v->n * v->width);
	d->table = strata_arena_alloc(arena,
								  STRATA_DICTIONARY_RANGE * sizeof(uint16_t));
	return d->keys && d->order && d->rank && d->fixed && d->table;
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
			if (strata_dictionary_too_many(d->nentries + 1, i, limit))
				return false;
			d->keys[d->nentries] = value;
			d->slots[slot] = ++d->nentries;
		}
		d->codes[i] = d->slots[slot] - 1;
	}
	return true;
}

/*
 * Are there so many distinct numbers among the first that collect_fixed would
 * give up?  Without clearing its table: what differs in the lowest bits of its
 * hash differs.
 */
static bool
mostly_new(const StrataVector *v, uint32_t limit)
{
	uint64_t	seen[STRATA_DICTIONARY_SAMPLE / 4] = {0};
	const uint32_t nbits = sizeof(seen) * 8;
	uint32_t	nentries = 0;

	if (v->n <= STRATA_DICTIONARY_SAMPLE)
		return false;
	for (uint32_t i = 0; i <= STRATA_DICTIONARY_SAMPLE; i++)
	{
		uint32_t	bit = hash_number(fixed_value(v, i)) % nbits;
		bool		is_new = !(seen[bit / 64] >> bit % 64 & 1);

		seen[bit / 64] |= UINT64_C(1) << bit % 64;
		nentries += is_new;
		if (is_new && strata_dictionary_too_many(nentries, i, limit))
			return true;
	}
	return false;
}

/* The least and the largest of an INT vector's values. */
STRATA_CLONES
static void
find_least_and_most(const StrataVector *v, int64_t *min, int64_t *max)
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
put_entry(const StrataVector *v, void *fixed, uint32_t place, uint64_t bits)
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
 * Entries and codes of integers from a narrow range: a place in the table for
 * each possible one, so that nothing is hashed and nothing sorted.  False when
 * there are more than limit; *narrow says whether the range is.
 */
static bool
collect_narrow(const StrataVector *v, Dictionary *d, uint32_t limit,
			   bool *narrow)
{
	int64_t		min;
	int64_t		max;
	uint32_t	range;

	find_least_and_most(v, &min, &max);
	*narrow = (uint64_t) max - (uint64_t) min <= d->mask;
	if (!*narrow)
		return true;
	range = (uint32_t) ((uint64_t) max - (uint64_t) min) + 1;
	memset(d->slots, 0, range * sizeof(uint32_t));
	for (uint32_t i = 0; i < v->n; i++)
		d->slots[(uint64_t) strata_vector_signed(v, i) - (uint64_t) min] = 1;
	for (uint32_t slot = 0; slot < range; slot++)
		d->nentries += d->slots[slot];
	if (d->nentries > limit)
		return false;
	d->nentries = 0;
	for (uint32_t slot = 0; slot < range; slot++)
		if (d->slots[slot])
		{
			put_entry(v, d->fixed, d->nentries, (uint64_t) min + slot);
			d->slots[slot] = d->nentries++;
		}
	for (uint32_t i = 0; i < v->n; i++)
	{
		uint64_t	value = (uint64_t) strata_vector_signed(v, i);

		d->codes[i] = d->slots[value - (uint64_t) min];
	}
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
				(len == 0 ||
				 memcmp(d->payload + d->offsets[e], value, len) == 0))
				break;
		}
		if (d->slots[slot] == 0)
		{
			if (strata_dictionary_too_many(d->nentries + 1, i, limit))
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

/*
 * Sort entries ascending and renumber the codes (shell sort: no recursion, no
 * memory).
 */
static void
sort_entries(const StrataVector *v, Dictionary *d)
{
	static const uint32_t gaps[] = {13000, 5700, 2500, 1100, 701, 301,
	132, 57, 23, 10, 4, 1};
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

			for (; place >= gaps[g] &&
				 d->keys[d->order[place - gaps[g]]] > d->keys[moving];
				 place -= gaps[g])
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
		put_entry(v, d->fixed, place, bits);
	}
}

/*
 * Find entries and codes, in the order they are written; false when there are
 * more than limit.
 */
static bool
collect(const StrataVector *v, const int64_t *integers, Dictionary *d,
		uint32_t limit)
{
	bool		narrow = false;

	if (integers)
	{
		StrataDictionaryRange found;

		found = strata_dictionary_by_range(v, integers, limit, d->mask + 1,
										   d->table, d->order, d->codes,
										   d->fixed, &d->nentries);
		if (found != STRATA_DICTIONARY_TOO_WIDE)
			return found == STRATA_DICTIONARY_FOUND;
	}
	if (v->kind == STRATA_KIND_INT && !collect_narrow(v, d, limit, &narrow))
		return false;
	if (narrow)
		return true;
	if (v->kind != STRATA_KIND_BYTES && mostly_new(v, limit))
		return false;
	memset(d->slots, 0, (d->mask + 1) * sizeof(uint32_t));
	if (v->kind == STRATA_KIND_BYTES)
		return collect_bytes(v, d, limit);
	if (!collect_fixed(v, d, limit))
		return false;
	sort_entries(v, d);
	gather_entries(v, d);
	return true;
}

/*
 * Find the distinct values and the codes of v.  NO_SPACE when there are more
 * than limit entries (UINT32_MAX: whatever there are).  Integers, if not NULL,
 * are equal where values are, and ascending as these are.
 */
StrataCodecResult
strata_dictionary_collect(const StrataVector *v, const int64_t *integers,
						  uint32_t limit, StrataArena *arena,
						  StrataDictionary *dictionary)
{
	Dictionary	d;

	if (!dictionary_prepare(v, arena, &d) || !collect(v, integers, &d, limit))
		return STRATA_CODEC_NO_SPACE;
	*dictionary = (StrataDictionary)
	{
		.entries =
		{
			.kind = v->kind,
				.width = v->width,
				.level = v->level,
				.hint = v->hint,
				.n = d.nentries,
				.fixed = d.fixed,
				.payload = d.payload,
				.offsets = d.offsets
		},
			.codes = d.codes,
			.n = v->n
	};
	return STRATA_CODEC_OK;
}

/*
 * Encode the entries, if they take less than room bytes, and plan the codes:
 * d->nbytes is what it all takes.  NO_SPACE when it cannot be below room.
 */
StrataCodecResult
strata_dictionary_plan(StrataDictionary *d, size_t room, StrataArena *arena)
{
	size_t		bound = strata_raw_bound(&d->entries) + 1;
	uint8_t    *encoded;
	StrataWriter w;
	StrataCodecResult rc;
	size_t		head;

	if (bound > room)
		bound = room;
	encoded = strata_arena_alloc(arena, bound);
	if (encoded == NULL)
		return STRATA_CODEC_NO_SPACE;
	w = strata_writer(encoded, bound);
	{
		StrataArena scratch = *arena;

		rc = strata_nested_encode(&d->entries, &scratch, &w,
								  &d->entries_codec);
	}
	if (rc != STRATA_CODEC_OK)
		return rc;
	d->encoded = encoded;
	d->encoded_len = strata_writer_len(&w);
	head = strata_varint_size(d->entries.n) + 1 +
		strata_varint_size(d->encoded_len) + d->encoded_len;
	if (head >= room)
		return STRATA_CODEC_NO_SPACE;
	rc = strata_ints_plan(d->codes, d->n, d->entries.level, arena,
						  &d->codes_plan);
	d->nbytes = head + d->codes_plan.nbytes;
	return rc;
}

/* Append a planned dictionary. */
StrataCodecResult
strata_dictionary_write(const StrataDictionary *d, StrataWriter *out)
{
	Assert(d->entries.n > 0 && d->entries.n <= d->n);	/* codec:C8 */
	if (d->nbytes > strata_writer_left(out))
		out->failed = true;
	if (out->failed)
		return STRATA_CODEC_NO_SPACE;
	strata_write_varint(out, d->entries.n);
	strata_write_u8(out, (uint8_t) d->entries_codec);
	strata_write_varint(out, d->encoded_len);
	strata_write_bytes(out, d->encoded, d->encoded_len);
	Assert(d->codes_plan.nbytes < d->nbytes);	/* codec:C13 */
	return strata_ints_write(&d->codes_plan, out);
}
