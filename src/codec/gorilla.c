/*-------------------------------------------------------------------------
 *
 * gorilla.c
 *	  Codec GORILLA: floats as the XOR with the value before.
 *
 * Hides the bit layout.  Values come in blocks of 256, each decodable by
 * itself:
 *
 *	OFFSET	SIZE	MEANING
 *	0		2		for each block but the last: its length in bytes
 *	...		width	for each block: its first value, little-endian
 *			...		and a bit stream (bitstream.h), padded to a byte, with for each
 *					further value x = value XOR the one before:
 *
 *	0			x = 0
 *	1 0 b..		x lies within the window of the last "1 1": its bits there
 *	1 1 L S b..	L (5 bits) zeros lead, S + 1 (6 bits; width 4: 5 bits) bits
 *				follow, then zeros: the new window; b.. are those bits
 *
 * Invariant C6: the first value of a block that is not 0 after XOR opens a
 * window; a stream that uses a window before is rejected.
 *
 * Difference to the paper: a window is also changed when the old one would fit
 * but cost more bits than opening the tighter one.
 *
 * Reference: T. Pelkonen et al., "Gorilla: a fast, scalable, in-memory time
 * series database", VLDB 2015, section 4.1.2.
 *
 * src/codec/gorilla.c
 *-------------------------------------------------------------------------
 */
#include <stdio.h>

#include "bitstream.h"
#include "codec_private.h"

#define BLOCK_ROWS 256
#define LEAD_BITS 5
#define LEAD_MAX 31

/* Bits of the size field of a window. */
#define SIZE_BITS(width) ((width) == 8 ? 6U : 5U)

/* Most bytes of a block. */
#define BLOCK_BOUND (BLOCK_ROWS * 10)

static size_t
encode_scratch_size(const StrataVector *v)
{
	(void) v;
	return STRATA_ARENA_SIZE(BLOCK_BOUND + 16);
}

/* Write values [from, from + n) as a block; width is known when compiling. */
STRATA_INLINE void
encode_block(const void *fixed, uint32_t from, uint32_t n, const unsigned width, StrataWriter *out)
{
	const unsigned nbits = width * 8;
	const unsigned open_bits = LEAD_BITS + SIZE_BITS(width);
	StrataBitWriter bw = {out, 0, 0};
	uint64_t	last = 0;
	unsigned	trail = 0;
	unsigned	size = 0;

	for (uint32_t i = 0; i < n; i++)
	{
		uint64_t	value = width == 8 ? ((const uint64_t *) fixed)[from + i] : ((const uint32_t *) fixed)[from + i];
		uint64_t	x = value ^ last;
		unsigned	lead;
		unsigned	low;
		unsigned	need;

		last = value;
		if (i == 0)
		{
			strata_bits_write(&bw, value, nbits);
			continue;
		}
		if (x == 0)
		{
			strata_bits_write(&bw, 0, 1);
			continue;
		}
		lead = (unsigned) __builtin_clzll(x) - (64 - nbits);
		lead = lead > LEAD_MAX ? LEAD_MAX : lead;
		low = (unsigned) __builtin_ctzll(x);
		need = nbits - lead - low;
		if (low >= trail && lead >= nbits - size - trail && size > 0 && size <= need + open_bits)
		{
			strata_bits_write(&bw, 1, 2);
			strata_bits_write(&bw, x >> trail, size);
			continue;
		}
		size = need;
		trail = low;
		strata_bits_write(&bw, 3 | lead << 2 | (size - 1) << (2 + LEAD_BITS), 2 + open_bits);
		strata_bits_write(&bw, x >> trail, size);
	}
	strata_bits_flush(&bw);
}

static StrataCodecResult
encode(const StrataVector *v, StrataArena *scratch, StrataWriter *out)
{
	StrataArena arena = *scratch;
	uint8_t    *block = strata_arena_alloc(&arena, BLOCK_BOUND + 16);
	uint32_t	nblocks = (v->n + BLOCK_ROWS - 1) / BLOCK_ROWS;
	uint8_t    *index = out->next;

	if (block == NULL)
		return STRATA_CODEC_NO_SPACE;
	strata_write_space(out, ((size_t) nblocks - 1) * 2);
	for (uint32_t b = 0; b < nblocks && !out->failed; b++)
	{
		uint32_t	from = b * BLOCK_ROWS;
		uint32_t	n = v->n - from < BLOCK_ROWS ? v->n - from : BLOCK_ROWS;
		StrataWriter w = strata_writer(block, BLOCK_BOUND + 16);

		if (v->width == 8)
			encode_block(v->fixed, from, n, 8, &w);
		else
			encode_block(v->fixed, from, n, 4, &w);
		strata_write_bytes(out, block, strata_writer_len(&w));
		if (b + 1 < nblocks && !out->failed)
			strata_store16(index + (size_t) b * 2, (uint16_t) strata_writer_len(&w));
	}
	return out->failed ? STRATA_CODEC_NO_SPACE : STRATA_CODEC_OK;
}

static StrataCodecResult
decode_scratch_size(const StrataPayload *p, uint32_t from, uint32_t n, size_t *size)
{
	(void) p;
	(void) from;
	(void) n;
	*size = 0;
	return STRATA_CODEC_OK;
}

/*
 * Decode the first n values of a block, handing on those from `skip`; width is
 * known when compiling.  False when the bits run out or make no sense.
 */
STRATA_INLINE bool
decode_block(StrataReader *in, uint32_t n, uint32_t skip, const unsigned width, void *out)
{
	const unsigned nbits = width * 8;
	const unsigned open_bits = LEAD_BITS + SIZE_BITS(width);
	StrataBitReader br;
	uint64_t	value = width == 8 ? strata_read_u64(in) : strata_read_u32(in);
	unsigned	trail = 0;
	unsigned	size = 0;
	uint64_t	mask = 0;

	br = strata_bit_reader(in->next, strata_reader_left(in));
	for (uint32_t i = 0; i < n; i++)
	{
		if (i > 0)
		{
			strata_bits_refill(&br);
			if (!(br.word & 1))
				strata_bits_consume(&br, 1);
			else
			{
				uint64_t	x;

				if (br.word & 2)
				{
					unsigned	lead = (unsigned) (br.word >> 2) & LEAD_MAX;

					size = ((unsigned) (br.word >> (2 + LEAD_BITS)) & ((1U << SIZE_BITS(width)) - 1)) + 1;
					if (lead + size > nbits)
						return false;
					trail = nbits - lead - size;
					mask = strata_low_bits(size);
					strata_bits_consume(&br, 2 + open_bits);
				}
				else
				{
					if (size == 0)
						return false;
					strata_bits_consume(&br, 2);
				}
				if (width == 8 && size > br.nbits)
				{
					unsigned	have = br.nbits;

					x = br.word & strata_low_bits(have);
					strata_bits_consume(&br, have);
					strata_bits_refill(&br);
					x |= br.word << have & mask;
					strata_bits_consume(&br, size - have);
				}
				else
				{
					x = br.word & mask;
					strata_bits_consume(&br, size);
				}
				value ^= x << trail;
			}
		}
		if (i >= skip)
		{
			if (width == 8)
				((uint64_t *) out)[i - skip] = value;
			else
				((uint32_t *) out)[i - skip] = (uint32_t) value;
		}
	}
	return !in->failed && !strata_bits_overrun(&br);
}

static StrataCodecResult
decode_fixed(const StrataPayload *p, uint32_t from, uint32_t n, StrataArena *scratch, void *out)
{
	StrataReader in = strata_reader(p->data, p->len);
	uint32_t	nblocks = (p->n + BLOCK_ROWS - 1) / BLOCK_ROWS;
	const uint8_t *index = strata_read_bytes(&in, ((size_t) nblocks - 1) * 2);
	uint32_t	start = 0;

	(void) scratch;
	for (uint32_t b = 0; start < from + n; b++, start += BLOCK_ROWS)
	{
		uint32_t	rows = p->n - start < BLOCK_ROWS ? p->n - start : BLOCK_ROWS;
		uint32_t	skip = from > start ? from - start : 0;
		size_t		len;
		const uint8_t *block;
		StrataReader r;
		bool		ok;

		if (in.failed)
			return STRATA_CODEC_CORRUPT;
		len = b + 1 < nblocks ? strata_load16(index + (size_t) b * 2) : strata_reader_left(&in);
		block = strata_read_bytes(&in, len);
		if (block == NULL)
			return STRATA_CODEC_CORRUPT;
		if (skip >= rows)
			continue;
		if (rows > from + n - start)
			rows = from + n - start;
		r = strata_reader(block, len);
		if (p->width == 8)
			ok = decode_block(&r, rows, skip, 8, (uint64_t *) out + (start + skip - from));
		else
			ok = decode_block(&r, rows, skip, 4, (uint32_t *) out + (start + skip - from));
		if (!ok)
			return STRATA_CODEC_CORRUPT;
	}
	return STRATA_CODEC_OK;
}

static void
describe(const StrataPayload *p, char *text, size_t size)
{
	snprintf(text, size, "%u blocks of %u, %.1f bits a value", (p->n + BLOCK_ROWS - 1) / BLOCK_ROWS, BLOCK_ROWS,
			 p->n ? (double) p->len * 8 / p->n : 0.0);
}

const StrataCodec strata_codec_gorilla = {
	.name = "gorilla",
	.kinds = 1U << STRATA_KIND_FLOAT,
	.available = true,
	.encode_scratch_size = encode_scratch_size,
	.encode = encode,
	.decode_scratch_size = decode_scratch_size,
	.decode_fixed = decode_fixed,
	.describe = describe,
};
