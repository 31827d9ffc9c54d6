/*-------------------------------------------------------------------------
 *
 * numeric.c
 *	  Codec NUMERIC: PostgreSQL's numbers of any precision as scaled integers.
 *
 * Values are byte strings as PostgreSQL keeps a numeric without its length:
 *
 *	2		sign and display scale, if the weight is -64 .. 63 and the scale at
 *			most 63: 0x8000, 0x2000 if negative, scale << 7, 0x40 and the low 6
 *			bits of a negative weight.  (What has another head is not held by
 *			this codec.)
 *	2 each	digits to the base 10000, most significant first, the first one
 *			counting 10000^weight; none of the first and the last is 0, zero
 *			has none
 *
 * in words of the machine's byte order.
 *
 *	OFFSET	SIZE	MEANING
 *	0		1		decimals S of the integers, 0 .. 18: as many as are not 0
 *			1-3		length of the next part, varint
 *			...		display scales of the n values, an integer stream
 *					(int_stream.c)
 *			1		codec of the integers: RAW, CONSTANT, DELTA_DELTA or
 *					DICTIONARY
 *			...		n integers of 8 bytes, a payload of that codec; value =
 *					integer / 10^S
 *
 * The encoder makes every value again and compares, so whatever does not come
 * back bit for bit (NaN, infinities, more than 18 digits) makes it refuse the
 * lot.
 *
 * src/codec/numeric.c
 *-------------------------------------------------------------------------
 */
#include <stdio.h>

#include "codec/codec_private.h"

#define BASE 10000
#define BASE_DECIMALS 4
#define SCALE_MAX 18

/*
 * Most digits of an integer of 63 bits whose last digit may be shifted, and
 * bytes.
 */
#define DIGITS_MAX 5
#define VALUE_MAX STRATA_NUMERIC_BYTES	/* 2 + 2 * DIGITS_MAX */

#define HEAD_KIND 0xc000
#define HEAD_SHORT 0x8000
#define HEAD_NEGATIVE 0x2000
#define HEAD_SCALE_SHIFT 7
#define HEAD_SCALE_MASK 63
#define HEAD_WEIGHT_MASK 0x7f

/* What takes decimals to a multiple of four. */
static const int64_t padding[BASE_DECIMALS] = {1, 1000, 100, 10};

STRATA_INLINE uint16_t
load_word(const uint8_t *from)
{
	uint16_t	word;

	memcpy(&word, from, sizeof(word));
	return word;
}

STRATA_INLINE void
store_word(uint8_t *to, unsigned word)
{
	uint16_t	w = (uint16_t) word;

	memcpy(to, &w, sizeof(w));
}

/*
 * The bytes of integer / 10^scale with a display scale; returns their number,
 * at most VALUE_MAX.  0 when the integer is too large for that.
 */
STRATA_INLINE uint32_t
write_value(int64_t integer, unsigned scale, unsigned display, uint8_t *to)
{
	uint64_t	left;
	uint16_t	digits[DIGITS_MAX];
	int			weight;
	unsigned	n = 0;
	unsigned	head;

	left = integer < 0 ? 0 - (uint64_t) integer : (uint64_t) integer;
	weight = -1 - (int) ((scale + BASE_DECIMALS - 1) / BASE_DECIMALS);
	head = HEAD_SHORT | (integer < 0 ? HEAD_NEGATIVE : 0U) | display <<
		HEAD_SCALE_SHIFT;
	if (left > (uint64_t) (INT64_MAX / padding[scale % BASE_DECIMALS]))
		return 0;
	left *= (uint64_t) padding[scale % BASE_DECIMALS];
	/* least significant first, without the zeros at the end */
	for (; left > 0; left /= BASE, weight++)
		if (left % BASE != 0 || n > 0)
			digits[n++] = (uint16_t) (left % BASE);
	if (n == 0)
		weight = 0;
	store_word(to, head | ((unsigned) weight & HEAD_WEIGHT_MASK));
	for (unsigned i = 0; i < n; i++)
		store_word(to + 2 + 2 * i, digits[n - 1 - i]);
	return 2 + 2 * n;
}

/* See codec.h. */
uint32_t
strata_numeric_write(int64_t integer, unsigned scale, unsigned display,
					 uint8_t *to)
{
	return write_value(integer, scale, display, to);
}

/*
 * --- encoding
 * ----------------------------------------------------------------
 */

static size_t
numeric_encode_scratch_size(const StrataVector *v)
{
	StrataVector integers = {.kind = STRATA_KIND_INT,.width = 8,.n = v->n};

	return 2 * STRATA_ARENA_SIZE(v->n * sizeof(int64_t)) +
		STRATA_ARENA_SIZE(strata_ints_bound(v->n)) +
		strata_ints_scratch_size(v->n) +
		strata_choose_scratch_size(&integers);
}

/* The weight in a head. */
STRATA_INLINE int
weight_of(unsigned head)
{
	int			weight = (int) (head & HEAD_WEIGHT_MASK);

	return weight > HEAD_WEIGHT_MASK / 2 ? weight - HEAD_WEIGHT_MASK - 1 :
		weight;
}

/* See codec.h. */
bool
strata_numeric_decimals(const uint8_t *value, size_t len, int64_t *display,
						unsigned *decimals)
{
	unsigned	head;
	int			places;

	if (len < 2 || len > VALUE_MAX || len % 2 != 0)
		return false;
	head = load_word(value);
	*display = head >> HEAD_SCALE_SHIFT & HEAD_SCALE_MASK;
	places = (int) len / 2 - 2 - weight_of(head);
	*decimals = 0;
	if (places > 0 && len > 2)
	{
		unsigned	last = load_word(value + len - 2);

		if (places > SCALE_MAX)
			return false;
		*decimals = (unsigned) places * BASE_DECIMALS;
		for (; last % 10 == 0 && last > 0; last /= 10)
			--* decimals;
	}
	return (head & HEAD_KIND) == HEAD_SHORT && *decimals <= SCALE_MAX;
}

/* See codec.h. */
bool
strata_numeric_integer(const uint8_t *value, size_t len, unsigned scale,
					   int64_t *integer)
{
	unsigned	head = load_word(value);
	int			weight = weight_of(head);
	int			places = (int) ((scale + BASE_DECIMALS - 1) /
								BASE_DECIMALS); /* digits behind the point */
	int64_t		sum = 0;

	for (size_t i = 2; i < len; i += 2, weight--)
		if (weight + places < 0 || __builtin_mul_overflow(sum, BASE, &sum) ||
			__builtin_add_overflow(sum, load_word(value + i), &sum))
			return false;
	for (; len > 2 && weight + places >= 0; weight--)
		if (__builtin_mul_overflow(sum, BASE, &sum))
			return false;
	if (sum % padding[scale % BASE_DECIMALS] != 0)
		return false;
	sum /= padding[scale % BASE_DECIMALS];
	*integer = head & HEAD_NEGATIVE ? -sum : sum;
	return true;
}

/* Take all values apart; false when one of them would not come back. */
static bool
numeric_take_apart(const StrataVector *v, int64_t *integers, int64_t *displays,
				   unsigned *scale)
{
	*scale = 0;
	for (uint32_t i = 0; i < v->n; i++)
	{
		unsigned	decimals;

		if (!strata_numeric_decimals(v->payload + v->offsets[i],
									 v->offsets[i + 1] - v->offsets[i],
									 &displays[i], &decimals))
			return false;
		*scale = decimals > *scale ? decimals : *scale;
	}
	for (uint32_t i = 0; i < v->n; i++)
	{
		const uint8_t *value = v->payload + v->offsets[i];
		uint32_t	len = v->offsets[i + 1] - v->offsets[i];
		uint8_t		again[VALUE_MAX];

		if (!strata_numeric_integer(value, len, *scale, &integers[i]) ||
			write_value(integers[i], *scale, (unsigned) displays[i], again) !=
			len ||
			memcmp(value, again, len) != 0)
			return false;
	}
	return true;
}

/*
 * Write numerics as integers over one power of ten; NOT_APPLICABLE when a
 * value is none, or has too many digits.
 */
static StrataCodecResult
numeric_encode(const StrataVector *v, StrataArena *scratch, StrataWriter *out)
{
	StrataArena arena = *scratch;
	int64_t    *integers = strata_arena_alloc(&arena, v->n * sizeof(int64_t));
	int64_t    *displays = strata_arena_alloc(&arena, v->n * sizeof(int64_t));
	size_t		bound = strata_ints_bound(v->n);
	uint8_t    *stream = strata_arena_alloc(&arena, bound);
	StrataVector nested = {.kind = STRATA_KIND_INT,
		.width = 8,
		.n = v->n,
		.fixed = integers,
	.level = v->level};
	StrataWriter w;
	StrataWriter id_at;
	StrataCodecId id;
	StrataCodecResult rc;
	unsigned	scale;

	Assert(v->n > 0);			/* codec:C4 */
	if (integers == NULL || displays == NULL || stream == NULL)
		return STRATA_CODEC_NO_SPACE;
	if (!numeric_take_apart(v, integers, displays, &scale))
		return STRATA_CODEC_NOT_APPLICABLE;
	w = strata_writer(stream, bound);
	rc = strata_ints_encode(displays, v->n, v->level, &arena, &w);
	if (rc != STRATA_CODEC_OK)
		return rc;
	strata_write_u8(out, (uint8_t) scale);
	strata_write_varint(out, strata_writer_len(&w));
	strata_write_bytes(out, stream, strata_writer_len(&w));
	id_at = *out;
	strata_write_u8(out, 0);
	if (out->failed)
		return STRATA_CODEC_NO_SPACE;
	rc = strata_choose_encode(&nested, &arena, out, &id);
	if (rc == STRATA_CODEC_OK)
		*id_at.next = (uint8_t) id;
	return rc;
}

/*
 * --- decoding
 * ----------------------------------------------------------------
 */

/* A payload taken apart. */
typedef struct NumericParts
{
	unsigned	scale;
	const uint8_t *displays;
	size_t		displays_len;
	const StrataCodec *codec;	/* of the integers */
	StrataPayload integers;
} NumericParts;

/*
 * Take a payload apart; CORRUPT unless its integers are in a codec that they
 * may be in.
 */
static StrataCodecResult
numeric_parse(const StrataPayload *p, NumericParts *parts)
{
	StrataReader in = strata_reader(p->data, p->len);
	unsigned	id;

	parts->scale = strata_read_u8(&in);
	parts->displays_len = strata_read_varint(&in);
	parts->displays = strata_read_bytes(&in, parts->displays_len);
	id = strata_read_u8(&in);
	if (in.failed || parts->scale > SCALE_MAX ||
		(id != STRATA_CODEC_RAW && id != STRATA_CODEC_CONSTANT &&
		 id != STRATA_CODEC_DELTA_DELTA && id != STRATA_CODEC_DICTIONARY))
		return STRATA_CODEC_CORRUPT;
	parts->codec = strata_codec_get(id);
	parts->integers = (StrataPayload)
	{
		STRATA_KIND_INT, 8, p->n, in.next,
			strata_reader_left(&in)
	};
	return STRATA_CODEC_OK;
}

static StrataCodecResult
numeric_decode_scratch_size(const StrataPayload *p, uint32_t from, uint32_t n,
							size_t *size)
{
	NumericParts parts;
	StrataCodecResult rc = numeric_parse(p, &parts);

	*size = 0;
	if (rc == STRATA_CODEC_OK)
		rc = strata_codec_decode_scratch(parts.codec, &parts.integers, from,
										 n, size);
	*size += STRATA_ARENA_SIZE(n * sizeof(int64_t)) + STRATA_ARENA_SIZE(n) +
		STRATA_ARENA_SIZE(((size_t) n + 1) * sizeof(uint32_t)) +
		STRATA_ARENA_SIZE((size_t) n * VALUE_MAX);
	return rc;
}

/*
 * Values [from, from + n) as integers / 10^parts->scale, and their display
 * scales.
 */
static StrataCodecResult
decode_parts(const StrataPayload *p, const NumericParts *parts, uint32_t from,
			 uint32_t n, StrataArena *scratch, int64_t *integers,
			 uint8_t *displays)
{
	StrataCodecResult rc = strata_ints_decode(parts->displays,
											  parts->displays_len, p->n, from,
											  n, 1, displays);

	return rc == STRATA_CODEC_OK ?
		parts->codec->decode_fixed(&parts->integers, from, n, scratch,
								   integers) :
		rc;
}

/*
 * Values [from, from + n) as PostgreSQL has them, without length words, in
 * scratch.
 */
static StrataCodecResult
numeric_decode_bytes(const StrataPayload *p, uint32_t from, uint32_t n,
					 StrataArena *scratch, StrataBytes *out)
{
	NumericParts parts;
	StrataCodecResult rc = numeric_parse(p, &parts);
	int64_t    *integers;
	uint8_t    *displays;
	uint32_t   *offsets;
	uint8_t    *bytes;

	Assert(n <= p->n && from <= p->n - n);	/* codec:C2 */
	if (rc != STRATA_CODEC_OK)
		return rc;
	integers = strata_arena_alloc(scratch, n * sizeof(int64_t));
	displays = strata_arena_alloc(scratch, n);
	offsets = strata_arena_alloc(scratch, ((size_t) n + 1) * sizeof(uint32_t));
	bytes = strata_arena_alloc(scratch, (size_t) n * VALUE_MAX);
	if (integers == NULL || displays == NULL || offsets == NULL ||
		bytes == NULL)
		return STRATA_CODEC_NO_SPACE;
	rc = decode_parts(p, &parts, from, n, scratch, integers, displays);
	if (rc != STRATA_CODEC_OK)
		return rc;
	offsets[0] = 0;
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t	len;

		if (displays[i] > HEAD_SCALE_MASK)
			return STRATA_CODEC_CORRUPT;
		len = write_value(integers[i], parts.scale, displays[i],
						  bytes + offsets[i]);
		if (len == 0)
			return STRATA_CODEC_CORRUPT;
		offsets[i + 1] = offsets[i] + len;
	}
	*out = (StrataBytes)
	{
		n, bytes, offsets, NULL
	};
	return STRATA_CODEC_OK;
}

/* See codec_private.h. */
StrataCodecResult
strata_numeric_decode_scaled(const StrataPayload *p, uint32_t from, uint32_t n,
							 StrataArena *scratch, int64_t *out,
							 uint8_t *displays, unsigned *scale)
{
	NumericParts parts;
	StrataCodecResult rc = numeric_parse(p, &parts);
	uint64_t	limit;
	bool		sound = true;

	Assert(n <= p->n && from <= p->n - n);	/* codec:C2 */
	if (rc != STRATA_CODEC_OK)
		return rc;
	rc = decode_parts(p, &parts, from, n, scratch, out, displays);
	if (rc != STRATA_CODEC_OK)
		return rc;
	limit = (uint64_t) (INT64_MAX / padding[parts.scale % BASE_DECIMALS]);
	for (uint32_t i = 0; i < n; i++)
		sound &= (out[i] < 0 ? 0 - (uint64_t) out[i] : (uint64_t) out[i]) <=
			limit;
	for (uint32_t i = 0; i < n; i++)
		sound &= displays[i] <= HEAD_SCALE_MASK;
	*scale = parts.scale;
	return sound ? STRATA_CODEC_OK : STRATA_CODEC_CORRUPT;
}

/*
 * For people: "2 decimals; integers in delta_delta: delta, bits, 4 blocks of
 * 256".
 */
static void
numeric_describe(const StrataPayload *p, char *text, size_t size)
{
	NumericParts parts;
	char		integers[64];

	text[0] = '\0';
	if (numeric_parse(p, &parts) != STRATA_CODEC_OK)
		return;
	integers[0] = '\0';
	parts.codec->describe(&parts.integers, integers, sizeof(integers));
	snprintf(text, size, "%u decimals; %s: %s", parts.scale, parts.codec->name,
			 integers);
}

const StrataCodec strata_codec_numeric = {
	.name = "numeric",
	.kinds = 1U << STRATA_KIND_BYTES,
	.available = true,
	.encode_scratch_size = numeric_encode_scratch_size,
	.encode = numeric_encode,
	.decode_scratch_size = numeric_decode_scratch_size,
	.decode_bytes = numeric_decode_bytes,
	.describe = numeric_describe,
};
