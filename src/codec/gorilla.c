/*-------------------------------------------------------------------------
 *
 * gorilla.c
 *	  Codec GORILLA: floats as the XOR with the value before.
 *
 * Hides the bit layout.  Values come in blocks of 256, each decodable by
 * itself.  First, for each block but the last, its length in 2 bytes; then the
 * blocks, of m values each:
 *
 *	OFFSET	SIZE			MEANING
 *	0		width			first value, little-endian
 *	width	1				number of windows, w
 *			(m - 1 + 7) / 8	bit i: is x[i] = value[i + 1] XOR value[i] not 0?
 *			(c + 7) / 8		bit j: does the j-th of the c not 0 open a window?
 *			...				w windows, packed (bitpack.c) in 11 bits, or 10 for
 *							width 4: zeros that lead (5 bits), then size - 1
 *			...				the c that are not 0: `size` bits of each, those of
 *							its window, one after the other, padded to a byte
 *
 * A window is the bits of x between `lead` zeros above and the zeros below; x
 * that opens none uses the window opened last.
 *
 * Invariant codec:C6: the first x that is not 0 opens a window, and w is the
 * number of windows opened.
 *
 * Differences to the paper: its control bits, windows and values stand apart,
 * so that the position of a value does not depend on bits just read; and a
 * window is also changed when the old one would fit but cost more bits than a
 * tighter one.
 *
 * Reference: T. Pelkonen et al., "Gorilla: a fast, scalable, in-memory time
 * series database", VLDB 2015, section 4.1.2.
 *
 * src/codec/gorilla.c
 *-------------------------------------------------------------------------
 */
#include <stdio.h>

#include "codec/bitstream.h"
#include "codec/codec_private.h"
#include "codec/int/bitpack.h"

#define BLOCK_ROWS 256

#define LEAD_BITS 5
#define LEAD_MAX 31

/* Bits of a window's size field, and of a window. */
#define SIZE_BITS(width) ((width) == 8 ? 6U : 5U)
#define WINDOW_BITS(width) (LEAD_BITS + SIZE_BITS(width))

/* Most bytes of a block's last part, and what a load may touch behind it. */
#define BITS_MAX (BLOCK_ROWS * 8)
#define LOAD_SLACK 16

/* A block on its way to disk. */
typedef struct BlockParts
{
	uint8_t		changed[BLOCK_ROWS / 8];
	uint8_t		opens[BLOCK_ROWS / 8];
	uint64_t	windows[BLOCK_ROWS];
	uint8_t		bits[BITS_MAX + LOAD_SLACK];
	unsigned	nchanged;
	unsigned	nwindows;
	size_t		bits_len;
} BlockParts;

/*
 * Does an XOR with these zero bits open a window, behind one of `size` bits
 * above `trail`?
 */
STRATA_INLINE bool
opens_window(const unsigned nbits, unsigned lead, unsigned low, unsigned size,
			 unsigned trail)
{
	return size == 0 || low < trail || lead < nbits - size - trail ||
		size > nbits - lead - low + WINDOW_BITS(nbits / 8);
}

/* XOR n values with their predecessors; width is known when compiling. */
STRATA_INLINE void
split_block(const void *fixed, uint32_t n, const unsigned width,
			BlockParts *parts)
{
	const unsigned nbits = width * 8;
	StrataWriter w = strata_writer(parts->bits, sizeof(parts->bits));
	StrataBitWriter bw = {&w, 0, 0};
	uint64_t	last;
	unsigned	trail = 0;
	unsigned	size = 0;

	last = width == 8 ? *(const uint64_t *) fixed : *(const uint32_t *) fixed;
	for (uint32_t i = 1; i < n; i++)
	{
		uint64_t	value = width == 8 ? ((const uint64_t *) fixed)[i] :
		((const uint32_t *) fixed)[i];
		uint64_t	x = value ^ last;
		unsigned	lead;
		unsigned	low;

		last = value;
		if (x == 0)
			continue;
		lead = (unsigned) __builtin_clzll(x) - (64 - nbits);
		lead = lead > LEAD_MAX ? LEAD_MAX : lead;
		low = (unsigned) __builtin_ctzll(x);
		if (opens_window(nbits, lead, low, size, trail))
		{
			size = nbits - lead - low;
			trail = low;
			parts->windows[parts->nwindows++] = lead | (size - 1) << LEAD_BITS;
			parts->opens[parts->nchanged / 8] |=
				(uint8_t) (1 << parts->nchanged % 8);
		}
		parts->changed[(i - 1) / 8] |= (uint8_t) (1 << (i - 1) % 8);
		parts->nchanged++;
		strata_bits_write(&bw, x >> trail, size);
	}
	strata_bits_flush(&bw);
	parts->bits_len = strata_writer_len(&w);
}

/* Write values [from, from + n) of a vector as a block. */
static void
gorilla_write_block(const StrataVector *v, uint32_t from, uint32_t n,
					StrataWriter *out)
{
	BlockParts	parts;

	memset(parts.changed, 0, sizeof(parts.changed));
	memset(parts.opens, 0, sizeof(parts.opens));
	parts.nchanged = parts.nwindows = 0;
	if (v->width == 8)
	{
		const uint64_t *values = (const uint64_t *) v->fixed + from;

		split_block(values, n, 8, &parts);
		strata_write_u64(out, values[0]);
	}
	else
	{
		const uint32_t *values = (const uint32_t *) v->fixed + from;

		split_block(values, n, 4, &parts);
		strata_write_u32(out, values[0]);
	}
	Assert(parts.nwindows <= parts.nchanged &&
		   (parts.nchanged == 0 || (parts.opens[0] & 1)));	/* codec:C6 */
	strata_write_u8(out, (uint8_t) parts.nwindows);
	strata_write_bytes(out, parts.changed, (n - 1 + 7) / 8);
	strata_write_bytes(out, parts.opens, (parts.nchanged + 7) / 8);
	strata_bitpack_write(parts.windows, parts.nwindows, WINDOW_BITS(v->width),
						 out);
	strata_write_bytes(out, parts.bits, parts.bits_len);
}

/* Write the lengths of all blocks but the last, and the blocks. */
static StrataCodecResult
gorilla_encode(const StrataVector *v, StrataArena *scratch, StrataWriter *out)
{
	uint32_t	nblocks = (v->n + BLOCK_ROWS - 1) / BLOCK_ROWS;
	uint8_t    *index = strata_write_space(out, ((size_t) nblocks - 1) * 2);

	Assert(v->n > 0);			/* codec:C4 */
	(void) scratch;
	for (uint32_t b = 0; b < nblocks && !out->failed; b++)
	{
		uint32_t	from = b * BLOCK_ROWS;
		uint8_t    *start = out->next;

		gorilla_write_block(v, from,
							v->n - from < BLOCK_ROWS ? v->n - from :
							BLOCK_ROWS,
							out);
		if (b + 1 < nblocks)
			strata_store16(index + (size_t) b * 2,
						   (uint16_t) (out->next - start));
	}
	return out->failed ? STRATA_CODEC_NO_SPACE : STRATA_CODEC_OK;
}

/*
 * --- decoding
 * ----------------------------------------------------------------
 */

/*
 * A block taken apart; entry k + 1 of the windows is the k-th, entry 0 is
 * empty.
 */
typedef struct BlockView
{
	uint64_t	first;
	uint8_t		changed[BLOCK_ROWS];	/* 0 or 1 per value but the first */
	uint8_t		opens[BLOCK_ROWS + 8];	/* 0 or 1 per changed value */
	uint8_t		size[BLOCK_ROWS];
	uint8_t		trail[BLOCK_ROWS];
	uint64_t	mask[BLOCK_ROWS];
	const uint8_t *bits;
	size_t		bits_len;
} BlockView;

/* Spread n bits into bytes; writes up to 7 more.  Returns how many are set. */
static unsigned
expand_bits(const uint8_t *from, uint32_t n, uint8_t *to)
{
	uint64_t	sums = 0;

	for (uint32_t i = 0; i < n; i += 8)
	{
		unsigned	bits = n - i < 8 ? from[i / 8] & ((1U << (n - i)) -
													  1) : from[i / 8];
		uint64_t	flags = strata_spread_bits((uint8_t) bits);

		strata_store64(to + i, flags);
		/* at most 32 groups: no byte of the sums overflows */
		sums += flags;
	}
	return (unsigned) ((sums & UINT64_C(0x00ff00ff00ff00ff)) *
					   UINT64_C(0x0001000100010001) >>
					   48) +
		(unsigned) ((sums >> 8 & UINT64_C(0x00ff00ff00ff00ff)) *
					UINT64_C(0x0001000100010001) >>
					48);
}

/* Read the windows; false when one is not possible. */
static bool
read_windows(StrataReader *in, unsigned n, unsigned width, BlockView *view)
{
	uint64_t	windows[BLOCK_ROWS + STRATA_BITPACK_PADDING];
	unsigned	impossible = 0;

	if (!strata_bitpack_read(in, n, WINDOW_BITS(width), windows))
		return false;
	view->size[0] = view->trail[0] = 0;
	view->mask[0] = 0;
	for (unsigned k = 0; k < n; k++)
	{
		unsigned	lead = (unsigned) windows[k] & LEAD_MAX;
		unsigned	size = (unsigned) (windows[k] >> LEAD_BITS) + 1;

		impossible |= lead + size > width * 8;
		view->size[k + 1] = (uint8_t) size;
		view->trail[k + 1] = (uint8_t) (width * 8 - lead - size);
		view->mask[k + 1] = UINT64_MAX >> (64 - size);
	}
	return !impossible;
}

/*
 * Take a block of n values apart; false when its parts do not agree
 * (codec:C6).
 */
static bool
read_parts(StrataReader *in, uint32_t n, unsigned width, BlockView *view)
{
	unsigned	nwindows;
	unsigned	nchanged;
	const uint8_t *map;

	view->first = width == 8 ? strata_read_u64(in) : strata_read_u32(in);
	nwindows = strata_read_u8(in);
	map = strata_read_bytes(in, (n - 1 + 7) / 8);
	if (map == NULL)
		return false;
	nchanged = expand_bits(map, n - 1, view->changed);
	map = strata_read_bytes(in, (nchanged + 7) / 8);
	if (map == NULL)
		return false;
	if (expand_bits(map, nchanged, view->opens) != nwindows ||
		(nchanged > 0 && view->opens[0] == 0))
		return false;
	view->opens[nchanged] = 0;
	if (!read_windows(in, nwindows, width, view))
		return false;
	view->bits = in->next;
	view->bits_len = strata_reader_left(in);
	return true;
}

/*
 * The first n values of a block; width is known when compiling, and LOAD_SLACK
 * bytes behind the bits may be read.  No branch depends on the data but the
 * one for more bits than a load gives.  False when there are fewer bits than
 * needed.
 */
STRATA_INLINE bool
rebuild(const BlockView *view, uint32_t n, const unsigned width, void *out)
{
	const size_t limit = view->bits_len * 8;
	uint64_t	value = view->first;
	size_t		used = 0;
	size_t		at = 0;
	unsigned	window = 0;
	unsigned	nchanged = 0;

	if (width == 8)
		((uint64_t *) out)[0] = value;
	else
		((uint32_t *) out)[0] = (uint32_t) value;
	for (uint32_t i = 1; i < n; i++)
	{
		unsigned	changed = view->changed[i - 1];
		unsigned	size;
		uint64_t	x;

		window += view->opens[nchanged] & changed;
		nchanged += changed;
		size = view->size[window] & (0 - changed);
		x = strata_load64(view->bits + at / 8) >> at % 8;
		if (width == 8 && STRATA_UNLIKELY(size > 57))
			x |= (uint64_t) view->bits[at / 8 + 8] << 1 << (63 - at % 8);
		x &= view->mask[window] & (0 - (uint64_t) changed);
		used += size;
		at = used < limit ? used : limit;
		value ^= x << view->trail[window];
		if (width == 8)
			((uint64_t *) out)[i] = value;
		else
			((uint32_t *) out)[i] = (uint32_t) value;
	}
	Assert(nchanged == 0 || window > 0);	/* codec:C6 */
	return used <= limit;
}

/*
 * The first n values of a block of `rows` values at `data`, `left` being the
 * bytes one may read from there on; false when its parts do not agree.
 */
static bool
gorilla_decode_block(const uint8_t *data, size_t len, size_t left,
					 uint32_t rows, uint32_t n, unsigned width, void *out)
{
	uint8_t		padded[BITS_MAX + LOAD_SLACK];
	StrataReader in = strata_reader(data, len);
	BlockView	view;

	if (!read_parts(&in, rows, width, &view))
		return false;
	if (view.bits_len > BITS_MAX)
		return false;
	if (left - (size_t) (view.bits - data) < view.bits_len + LOAD_SLACK)
	{
		memcpy(padded, view.bits, view.bits_len);
		memset(padded + view.bits_len, 0, LOAD_SLACK);
		view.bits = padded;
	}
	return width == 8 ? rebuild(&view, n, 8, out) : rebuild(&view, n, 4, out);
}

/*
 * Values [from, from + n): blocks before them are passed over by the index of
 * lengths.
 */
static StrataCodecResult
gorilla_decode_fixed(const StrataPayload *p, uint32_t from, uint32_t n,
					 StrataArena *scratch, void *out)
{
	StrataReader in = strata_reader(p->data, p->len);
	uint32_t	nblocks = (p->n + BLOCK_ROWS - 1) / BLOCK_ROWS;
	const uint8_t *index = strata_read_bytes(&in, ((size_t) nblocks - 1) * 2);
	uint32_t	start = 0;

	Assert(n <= p->n && from <= p->n - n);	/* codec:C2 */
	(void) scratch;
	for (uint32_t b = 0; start < from + n && !in.failed;
		 b++, start += BLOCK_ROWS)
	{
		uint64_t	values[BLOCK_ROWS];
		uint32_t	rows =
		p->n - start < BLOCK_ROWS ? p->n - start : BLOCK_ROWS;
		uint32_t	skip = from > start ? from - start : 0;
		uint32_t	wanted = rows < from + n - start ? rows : from + n - start;
		size_t		left = strata_reader_left(&in);
		size_t		len = b + 1 < nblocks ? strata_load16(index + (size_t) b *
														  2) : left;
		const uint8_t *block = strata_read_bytes(&in, len);
		uint8_t    *to;

		if (block == NULL)
			return STRATA_CODEC_CORRUPT;
		if (skip >= rows)
			continue;
		to = (uint8_t *) out + (size_t) (start + skip - from) * p->width;
		if (!gorilla_decode_block(block, len, left, rows, wanted, p->width,
								  skip ? (void *) values : to))
			return STRATA_CODEC_CORRUPT;
		if (skip)
			memcpy(to, (uint8_t *) values + (size_t) skip * p->width,
				   (size_t) (wanted - skip) * p->width);
	}
	return in.failed ? STRATA_CODEC_CORRUPT : STRATA_CODEC_OK;
}

static void
gorilla_describe(const StrataPayload *p, char *text, size_t size)
{
	snprintf(text, size, "%u blocks of %u, %.1f bits a value",
			 (p->n + BLOCK_ROWS - 1) / BLOCK_ROWS, BLOCK_ROWS,
			 p->n ? (double) p->len * 8 / p->n : 0.0);
}

const StrataCodec strata_codec_gorilla = {
	.name = "gorilla",
	.kinds = 1U << STRATA_KIND_FLOAT,
	.available = true,
	.encode = gorilla_encode,
	.decode_fixed = gorilla_decode_fixed,
	.describe = gorilla_describe,
};
