/*-------------------------------------------------------------------------
 *
 * packed.c
 *	  Codec PACKED: short byte strings, each position in the bits that its
 *	  values there need.
 *
 * For codes, numbers written as text, hexadecimal digests: strings whose n-th
 * byte comes from a few neighbouring ones.  A byte that is always the same
 * takes nothing, a digit four bits, an upper case letter five.  Decodes ten
 * times as fast as zstd, and is smaller than that for a few hundred of them,
 * as in a dictionary.
 *
 *	OFFSET	SIZE	MEANING
 *	0		1-2		number of groups of positions, varint
 *			...		for each: number of positions, varint; least byte; width in
 *					bits, plus 16 if there is a gap; if so: split, gap
 *			1-5		length of the next part, varint
 *			...		lengths of the n strings, an integer stream (int_stream.c)
 *			...		bytes of each block of 256 strings but the last, varints
 *			...		the blocks
 *
 * Unpacking has a variant by hand for AVX2 and BMI2: strings of a dictionary
 * decode twice as fast with it as with the plain loop compiled for the same.
 *
 * A block has the codes of its strings one after the other, padded to a byte:
 * `width` bits for each byte, by its position.  Code c is byte least + c, plus
 * gap if c >= split (modulo 256).
 *
 * Over 600 lines: planning, writing and reading follow one layout.
 *
 * src/codec/packed.c
 *-------------------------------------------------------------------------
 */
#include <stdio.h>

#include "codec/bitstream.h"
#include "codec/codec_private.h"

#ifdef STRATA_HAVE_AVX2
#include <immintrin.h>
#endif

#define POSITIONS_MAX 64
#define PIECE 8					/* positions that are decoded at a time */
#define PIECES (POSITIONS_MAX / PIECE)
#define BLOCK_ROWS 256
#define HAS_GAP 16
#define WIDTH_MAX 8

/* How bytes at each position are written. */
typedef struct Positions
{
	unsigned	n;
	uint8_t		least[POSITIONS_MAX];
	uint8_t		split[POSITIONS_MAX];
	uint8_t		gap[POSITIONS_MAX];
	uint8_t		width[POSITIONS_MAX];
	uint16_t	bits[POSITIONS_MAX + 1];	/* of a string of this length */
} Positions;

/* Bits of strings of every length, from the widths. */
static void
sum_widths(Positions *p)
{
	p->bits[0] = 0;
	for (unsigned i = 0; i < p->n; i++)
		p->bits[i + 1] = (uint16_t) (p->bits[i] + p->width[i]);
}

/* Are the bytes of two neighbouring positions written alike? */
static bool
same_position(const Positions *p, unsigned a, unsigned b)
{
	return p->least[a] == p->least[b] && p->width[a] == p->width[b] &&
		p->split[a] == p->split[b] && p->gap[a] == p->gap[b];
}

/*
 * --- encoding
 * ----------------------------------------------------------------
 */

/* The narrowest way to write the bytes used at a position. */
static void
plan_position(Positions *p, unsigned at, const bool *used)
{
	unsigned	least = 0;
	unsigned	last;
	unsigned	most = 0;
	unsigned	gap = 0;
	unsigned	split = 0;

	while (!used[least])
		least++;
	last = least;
	for (unsigned byte = least + 1; byte < 256; byte++)
		if (used[byte])
		{
			if (byte - last - 1 > gap)
			{
				gap = byte - last - 1;
				split = last - least + 1;
			}
			last = byte;
		}
	most = last - least;
	if (strata_bit_length(most - gap) == strata_bit_length(most))
		gap = split = 0;
	p->least[at] = (uint8_t) least;
	p->split[at] = (uint8_t) split;
	p->gap[at] = (uint8_t) gap;
	p->width[at] = (uint8_t) strata_bit_length(most - gap);
}

/* Plan all positions; false when a string is too long. */
static bool
plan_positions(const StrataVector *v, Positions *p)
{
	bool		used[POSITIONS_MAX][256];
	uint32_t	longest = 0;

	for (uint32_t i = 0; i < v->n; i++)
	{
		uint32_t	len = v->offsets[i + 1] - v->offsets[i];

		longest = len > longest ? len : longest;
	}
	if (longest > POSITIONS_MAX)
		return false;
	memset(used, 0, longest * sizeof(used[0]));
	for (uint32_t i = 0; i < v->n; i++)
	{
		const uint8_t *value = v->payload + v->offsets[i];
		uint32_t	len = v->offsets[i + 1] - v->offsets[i];

		for (uint32_t k = 0; k < len; k++)
			used[k][value[k]] = true;
	}
	p->n = longest;
	for (unsigned k = 0; k < longest; k++)
		plan_position(p, k, used[k]);
	sum_widths(p);
	return true;
}

/* Bytes of the groups of positions. */
static size_t
groups_size(const Positions *p)
{
	size_t		size = 1;

	for (unsigned i = 0; i < p->n; i++)
		if (i == 0 || !same_position(p, i, i - 1))
			size += p->gap[i] ? 5 : 3;
	return size;
}

/*
 * Bytes strings take without their lengths, which LZ codecs have as well;
 * SIZE_MAX if this codec cannot hold them.  Exact but for the sizes of blocks.
 */
size_t
strata_packed_size(const StrataVector *v)
{
	Positions	p;
	uint64_t	nbits = 0;

	if (!plan_positions(v, &p))
		return SIZE_MAX;
	for (uint32_t i = 0; i < v->n; i++)
		nbits += p.bits[v->offsets[i + 1] - v->offsets[i]];
	return groups_size(&p) + (size_t) (nbits + 7) / 8 +
		(v->n - 1) / BLOCK_ROWS * 2;
}

static size_t
packed_encode_scratch_size(const StrataVector *v)
{
	return STRATA_ARENA_SIZE(v->n * sizeof(int64_t)) +
		STRATA_ARENA_SIZE(strata_ints_bound(v->n)) +
		strata_ints_scratch_size(v->n);
}

/* Write the positions, those that follow each other and are alike as one. */
static void
write_groups(const Positions *p, StrataWriter *out)
{
	unsigned	ngroups = 0;

	for (unsigned i = 0; i < p->n; i++)
		ngroups += i == 0 || !same_position(p, i, i - 1);
	strata_write_varint(out, ngroups);
	for (unsigned i = 0, end; i < p->n; i = end)
	{
		for (end = i + 1; end < p->n && same_position(p, end, i);)
			end++;
		strata_write_varint(out, end - i);
		strata_write_u8(out, p->least[i]);
		strata_write_u8(out,
						(uint8_t) (p->width[i] | (p->gap[i] ? HAS_GAP : 0)));
		if (p->gap[i])
		{
			strata_write_u8(out, p->split[i]);
			strata_write_u8(out, p->gap[i]);
		}
	}
}

/* Write the codes of strings [from, to). */
static void
packed_write_block(const StrataVector *v, const Positions *p, uint32_t from,
				   uint32_t to, StrataWriter *out)
{
	StrataBitWriter bw = {.out = out};

	for (uint32_t i = from; i < to; i++)
	{
		const uint8_t *value = v->payload + v->offsets[i];
		uint32_t	len = v->offsets[i + 1] - v->offsets[i];

		for (uint32_t k = 0; k < len; k++)
		{
			unsigned	code = (unsigned) value[k] - p->least[k];

			if (p->gap[k] && code >= p->split[k])
				code -= p->gap[k];
			strata_bits_write(&bw, code, p->width[k]);
		}
	}
	strata_bits_flush(&bw);
}

/*
 * Write the positions, the lengths and the blocks; NOT_APPLICABLE when a
 * string is too long.
 */
static StrataCodecResult
packed_encode(const StrataVector *v, StrataArena *scratch, StrataWriter *out)
{
	StrataArena arena = *scratch;
	size_t		bound = strata_ints_bound(v->n);
	int64_t    *lengths = strata_arena_alloc(&arena, v->n * sizeof(int64_t));
	uint8_t    *stream = strata_arena_alloc(&arena, bound);
	StrataWriter w;
	Positions	p;
	StrataCodecResult rc;

	Assert(v->n > 0);			/* codec:C4 */
	if (lengths == NULL || stream == NULL)
		return STRATA_CODEC_NO_SPACE;
	if (!plan_positions(v, &p))
		return STRATA_CODEC_NOT_APPLICABLE;
	for (uint32_t i = 0; i < v->n; i++)
		lengths[i] = (int64_t) v->offsets[i + 1] - v->offsets[i];
	w = strata_writer(stream, bound);
	rc = strata_ints_encode(lengths, v->n, v->level, &arena, &w);
	if (rc != STRATA_CODEC_OK)
		return rc;
	write_groups(&p, out);
	strata_write_varint(out, strata_writer_len(&w));
	strata_write_bytes(out, stream, strata_writer_len(&w));
	for (uint32_t from = 0; from + BLOCK_ROWS < v->n; from += BLOCK_ROWS)
	{
		uint64_t	nbits = 0;

		for (uint32_t i = from; i < from + BLOCK_ROWS; i++)
			nbits += p.bits[lengths[i]];
		strata_write_varint(out, (nbits + 7) / 8);
	}
	for (uint32_t from = 0; from < v->n; from += BLOCK_ROWS)
		packed_write_block(v, &p, from,
						   v->n - from < BLOCK_ROWS ? v->n : from + BLOCK_ROWS,
						   out);
	return out->failed ? STRATA_CODEC_NO_SPACE : STRATA_CODEC_OK;
}

/*
 * --- decoding
 * ----------------------------------------------------------------
 */

/* A payload taken apart. */
typedef struct PackedParts
{
	Positions	positions;
	const uint8_t *lengths;
	size_t		lengths_len;
	StrataReader sizes;			/* at the sizes of the blocks */
} PackedParts;

/*
 * Take a payload apart, and make of the positions how their bits become bytes;
 * false when it is damaged.
 */
static bool
packed_parse(const StrataPayload *payload, PackedParts *parts)
{
	StrataReader in = strata_reader(payload->data, payload->len);
	Positions  *p = &parts->positions;
	uint64_t	ngroups = strata_read_varint(&in);

	p->n = 0;
	if (ngroups > POSITIONS_MAX)
		return false;
	for (uint64_t g = 0; g < ngroups; g++)
	{
		uint64_t	count = strata_read_varint(&in);
		uint8_t		least = strata_read_u8(&in);
		uint8_t		head = strata_read_u8(&in);
		uint8_t		split = head & HAS_GAP ? strata_read_u8(&in) : 0;
		uint8_t		gap = head & HAS_GAP ? strata_read_u8(&in) : 0;

		if (in.failed || count == 0 || count > POSITIONS_MAX - p->n ||
			(head & ~HAS_GAP) > WIDTH_MAX)
			return false;
		for (; count > 0; count--, p->n++)
		{
			p->least[p->n] = least;
			p->split[p->n] = split;
			p->gap[p->n] = gap;
			p->width[p->n] = head & (HAS_GAP - 1);
		}
	}
	sum_widths(p);
	parts->lengths_len = strata_read_varint(&in);
	parts->lengths = strata_read_bytes(&in, parts->lengths_len);
	parts->sizes = in;
	return !in.failed;
}

static StrataCodecResult
packed_decode_scratch_size(const StrataPayload *payload, uint32_t from,
						   uint32_t n, size_t *size)
{
	PackedParts parts;
	uint32_t	rows = from % BLOCK_ROWS + n;

	if (!packed_parse(payload, &parts))
		return STRATA_CODEC_CORRUPT;
	*size = STRATA_ARENA_SIZE(((size_t) rows + 1) * sizeof(uint32_t)) +
		STRATA_ARENA_SIZE((size_t) rows * parts.positions.n + PIECE);
	return STRATA_CODEC_OK;
}

/* 64 bits from bit `at` on, those behind the end being anything. */
STRATA_INLINE uint64_t
load_bits(const uint8_t *data, const uint8_t *end, uint64_t at)
{
	const uint8_t *from = data + at / 8;
	unsigned	shift = at % 8;
	uint64_t	x;

	if (end - from < 9)
	{
		size_t		left = from < end ? (size_t) (end - from) : 0;

		return strata_load_partial(from, left) >> shift;
	}
	x = strata_load64(from) >> shift;
	return shift ? x | (uint64_t) from[8] << (64 - shift) : x;
}

/* Where the codes of a block's strings are, and what is to become of them. */
typedef struct PackedBlock
{
	const Positions *positions;
	const uint8_t *data;
	const uint8_t *end;
	uint32_t	nvalues;
	const uint32_t *offsets;	/* of the strings in out, one more than
								 * strings */
	uint8_t    *out;			/* up to PIECE bytes behind where the last
								 * string, if longest, ends are written */
} PackedBlock;

/* Unpack the strings of a block, byte by byte. */
static void
unpack_portable(const PackedBlock *block)
{
	const Positions *p = block->positions;
	uint64_t	at = 0;

	for (uint32_t i = 0; i < block->nvalues; i++)
	{
		uint32_t	len = block->offsets[i + 1] - block->offsets[i];
		uint8_t    *to = block->out + block->offsets[i];
		uint64_t	bits = 0;

		for (uint32_t k = 0; k < len; k++)
		{
			unsigned	code;

			if (k % PIECE == 0)
				bits = load_bits(block->data, block->end, at + p->bits[k]);
			code = (unsigned) (bits & strata_low_bits(p->width[k]));
			bits >>= p->width[k];
			to[k] = (uint8_t) (p->least[k] + code +
							   (code >= p->split[k] ? p->gap[k] : 0));
		}
		at += p->bits[len];
	}
}

#ifdef STRATA_HAVE_AVX2

#define SIMD __attribute__((target("avx2,bmi2")))

/*
 * Spread the codes of eight positions to bytes, and store what they stand for.
 */
SIMD static inline
__attribute__((always_inline))
void
			unpack_piece(uint64_t bits, uint64_t mask, __m128i least,
						 __m128i split,
						 __m128i gap, uint8_t *to)
{
	__m128i		codes = _mm_cvtsi64_si128((long long) _pdep_u64(bits, mask));
	__m128i		above = _mm_cmpeq_epi8(_mm_max_epu8(codes, split), codes);

	codes = _mm_add_epi8(_mm_add_epi8(codes, least),
						 _mm_and_si128(above, gap));
	_mm_storel_epi64((__m128i *) to, codes);
}

/* The same by pieces of several bytes, with BMI2 and AVX2. */
SIMD
static void
unpack_simd(const PackedBlock *block)
{
	const Positions *p = block->positions;
	unsigned	npieces = (p->n + PIECE - 1) / PIECE;
	uint64_t	mask[PIECES] = {0};
	__m128i		least[PIECES];
	__m128i		split[PIECES];
	__m128i		gap[PIECES];
	uint64_t	at = 0;
	uint32_t	i = 0;

	for (unsigned k = 0; k < p->n; k++)
		mask[k / PIECE] |= strata_low_bits(p->width[k]) << (k % PIECE * 8);
	for (unsigned k = 0; k < npieces; k++)
	{
		least[k] = _mm_loadl_epi64((const __m128i *) (p->least + k * PIECE));
		split[k] = _mm_loadl_epi64((const __m128i *) (p->split + k * PIECE));
		gap[k] = _mm_loadl_epi64((const __m128i *) (p->gap + k * PIECE));
	}
	/* short ones, as long as a load stays inside */
	for (; i < block->nvalues && p->bits[p->n] <= 57 && p->n <= PIECE; i++)
	{
		const uint8_t *from = block->data + at / 8;

		if (block->end - from < 8)
			break;
		unpack_piece(strata_load64(from) >> at % 8, mask[0], least[0],
					 split[0], gap[0], block->out + block->offsets[i]);
		at += p->bits[block->offsets[i + 1] - block->offsets[i]];
	}
	/* longer ones of as few bits, whatever their length: nobody could guess */
	for (; i < block->nvalues && p->bits[p->n] <= 57; i++)
	{
		const uint8_t *from = block->data + at / 8;
		uint8_t    *to = block->out + block->offsets[i];
		uint64_t	bits;

		if (block->end - from < 8)
			break;
		bits = strata_load64(from) >> at % 8;
		for (unsigned piece = 0; piece < npieces; piece++)
			unpack_piece(bits >> p->bits[piece * PIECE], mask[piece],
						 least[piece], split[piece], gap[piece],
						 to + piece * PIECE);
		at += p->bits[block->offsets[i + 1] - block->offsets[i]];
	}
	for (; i < block->nvalues; i++)
	{
		uint32_t	len = block->offsets[i + 1] - block->offsets[i];
		uint8_t    *to = block->out + block->offsets[i];

		for (unsigned piece = 0; piece * PIECE < len; piece++)
		{
			uint64_t	bits = load_bits(block->data, block->end,
										 at + p->bits[piece * PIECE]);

			unpack_piece(bits, mask[piece], least[piece], split[piece],
						 gap[piece], to + piece * PIECE);
		}
		at += p->bits[len];
	}
}

static void
unpack(const PackedBlock *block)
{
	if (!strata_codec_portable_only && __builtin_cpu_supports("avx2") &&
		__builtin_cpu_supports("bmi2"))
		unpack_simd(block);
	else
		unpack_portable(block);
}

#else

static void
unpack(const PackedBlock *block)
{
	unpack_portable(block);
}

#endif

/*
 * Turn the lengths of n strings into offsets from `offset` on, in place, with
 * one more at the end; their bits, or UINT64_MAX if one is too long.
 */
static uint64_t
packed_lengths_to_offsets(const Positions *p, uint32_t *lengths, uint32_t n,
						  uint32_t offset)
{
	uint64_t	nbits = 0;
	uint32_t	longest = 0;

	for (uint32_t i = 0; i < n; i++)
		longest = lengths[i] > longest ? lengths[i] : longest;
	if (longest > p->n)
		return UINT64_MAX;
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t	length = lengths[i];

		nbits += p->bits[length];
		lengths[i] = offset;
		offset += length;
	}
	lengths[n] = offset;
	return nbits;
}

/* Decode the blocks of strings [first, end), whose lengths are in offsets. */
static bool
packed_decode_blocks(const PackedParts *parts, uint32_t total, uint32_t first,
					 uint32_t end, uint32_t *offsets, uint8_t *out)
{
	StrataReader sizes = parts->sizes;
	StrataReader in = sizes;
	PackedBlock block = {.positions = &parts->positions,.out = out};
	uint32_t	offset = 0;
	uint32_t	nblocks = (total - 1) / BLOCK_ROWS + 1;

	for (uint32_t b = 1; b < nblocks; b++)
		strata_read_varint(&in);
	for (uint32_t b = 0; b * BLOCK_ROWS < end; b++)
	{
		uint32_t	start = b * BLOCK_ROWS;
		uint32_t	m = end - start < BLOCK_ROWS ? end - start : BLOCK_ROWS;
		uint64_t	nbytes = b + 1 < nblocks ? strata_read_varint(&sizes) :
		strata_reader_left(&in);
		const uint8_t *data = strata_read_bytes(&in, nbytes);
		uint32_t   *at = offsets + (start - first);
		uint32_t	next;
		uint64_t	nbits;

		if (data == NULL || sizes.failed)
			return false;
		if (start < first)
			continue;

		/*
		 * the length behind the block's last one gives way to an offset for a
		 * while
		 */
		next = at[m];
		nbits = packed_lengths_to_offsets(&parts->positions, at, m, offset);
		if (nbits > nbytes * 8 || ((m == BLOCK_ROWS || start + m == total) &&
								   (nbits + 7) / 8 != nbytes))
			return false;
		block.data = data;
		block.end = in.end;
		block.nvalues = m;
		block.offsets = at;
		unpack(&block);
		offset = at[m];
		if (start + m < end)
			at[m] = next;
	}
	return true;
}

/* Values [from, from + n), from the block of the first one on, in scratch. */
static StrataCodecResult
packed_decode_bytes(const StrataPayload *payload, uint32_t from, uint32_t n,
					StrataArena *scratch, StrataBytes *out)
{
	PackedParts parts;
	uint32_t	first = from - from % BLOCK_ROWS;
	uint32_t	rows = from + n - first;
	uint32_t   *offsets;
	uint8_t    *bytes;
	uint32_t	skip;
	StrataCodecResult rc;

	Assert(n <= payload->n && from <= payload->n - n);	/* codec:C2 */
	if (!packed_parse(payload, &parts))
		return STRATA_CODEC_CORRUPT;
	offsets = strata_arena_alloc(scratch,
								 ((size_t) rows + 1) * sizeof(uint32_t));
	bytes = strata_arena_alloc(scratch,
							   (size_t) rows * parts.positions.n + PIECE);
	if (offsets == NULL || bytes == NULL)
		return STRATA_CODEC_NO_SPACE;
	rc = strata_ints_decode(parts.lengths, parts.lengths_len, payload->n,
							first, rows, sizeof(uint32_t), offsets);
	if (rc != STRATA_CODEC_OK)
		return rc;
	offsets[rows] = 0;
	if (!packed_decode_blocks(&parts, payload->n, first, from + n, offsets,
							  bytes))
		return STRATA_CODEC_CORRUPT;

	/* hand out from the wanted value on, with offsets that start at 0 */
	offsets += from - first;
	skip = offsets[0];
	if (skip > 0)
		for (uint32_t i = 0; i <= n; i++)
			offsets[i] -= skip;
	out->payload = bytes + skip;
	out->nentries = n;
	out->offsets = offsets;
	out->codes = NULL;
	return STRATA_CODEC_OK;
}

/* For people: "6 positions, 24 bits". */
static void
packed_describe(const StrataPayload *payload, char *text, size_t size)
{
	PackedParts parts;

	text[0] = '\0';
	if (packed_parse(payload, &parts))
		snprintf(text, size, "%u positions, %u bits", parts.positions.n,
				 parts.positions.bits[parts.positions.n]);
}

const StrataCodec strata_codec_packed = {
	.name = "packed",
	.kinds = 1U << STRATA_KIND_BYTES,
	.available = true,
	.encode_scratch_size = packed_encode_scratch_size,
	.encode = packed_encode,
	.decode_scratch_size = packed_decode_scratch_size,
	.decode_bytes = packed_decode_bytes,
	.describe = packed_describe,
};
