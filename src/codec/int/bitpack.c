/*-------------------------------------------------------------------------
 *
 * bitpack.c
 *	  n unsigned numbers of one width, side by side.
 *
 * Number i stands in bits [i * width, (i + 1) * width), bit k being bit k % 8
 * of byte k / 8; (n * width + 7) / 8 bytes in all.  Eight numbers take `width`
 * bytes, so the unpacker is a loop over groups of eight whose shifts are
 * constants once the width is: one loop per width, picked by a switch.
 *
 * Reference: D. Lemire, L. Boytsov, "Decoding billions of integers per second
 * through vectorization", Software: Practice and Experience 45(1), 2015.
 *
 * src/codec/int/bitpack.c
 *-------------------------------------------------------------------------
 */
#include "codec/bitstream.h"
#include "codec/int/bitpack.h"
#include "codec/int/int_simd.h"

/* Most bytes of packed input, and what a 64-bit load may read beyond them. */
#define PACKED_MAX (INT_BLOCK_MAX * 8)
#define LOAD_SLACK 16

/*
 * --- writing
 * -------------------------------------------------------------------
 */

/* Number i of those of 32 or 64 bits. */
STRATA_INLINE uint64_t
number_at(const void *u, const bool narrow, uint32_t i)
{
	return narrow ? ((const uint32_t *) u)[i] : ((const uint64_t *) u)[i];
}

/*
 * Pack groups of eight of a width known when compiling; whole words are
 * written.
 */
STRATA_INLINE void
pack_groups(const void *u, const bool narrow, uint32_t ngroups,
			const unsigned width, uint8_t *to)
{
	for (uint32_t group = 0; group < ngroups; group++, to += width)
	{
		uint64_t	word = 0;
		unsigned	done = 0;

#pragma GCC unroll 8
		for (unsigned k = 0; k < 8; k++)
		{
			const unsigned bit = k * width % 64;
			uint64_t	v = number_at(u, narrow, group * 8 + k);

			word |= v << bit;
			if (bit + width >= 64)
			{
				strata_store64(to + done, word);
				done += 8;
				word = bit + width > 64 ? v >> (64 - bit) : 0;
			}
		}
		if (width % 8 != 0)
			strata_store64(to + done, word);
	}
}

#define PACK(w) case w: pack_groups(u, narrow, ngroups, w, to); break;
#define PACK4(w) PACK(w) PACK(w + 1) PACK(w + 2) PACK(w + 3)
#define PACK16(w) PACK4(w) PACK4(w + 4) PACK4(w + 8) PACK4(w + 12)

/* Groups of a width; 8 bytes behind them may be written. */
static void
pack_narrow(const uint32_t *u, uint32_t ngroups, unsigned width, uint8_t *to)
{
	const bool	narrow = true;

	switch (width)
	{
			PACK16(1)
				PACK16(17)
	}
}

static void
pack_wide(const uint64_t *u, uint32_t ngroups, unsigned width, uint8_t *to)
{
	const bool	narrow = false;

	switch (width)
	{
			PACK16(1)
				PACK16(17)
				PACK16(33)
				PACK16(49)
	}
}

/* Append n (<= INT_BLOCK_MAX) numbers of 32 or 64 bits, below 1 << width. */
STRATA_INLINE void
write_numbers(const void *u, const bool narrow, uint32_t n, unsigned width,
			  StrataWriter *out)
{
	const size_t each = narrow ? sizeof(uint32_t) : sizeof(uint64_t);
	uint8_t		packed[PACKED_MAX + 8];
	uint32_t	ngroups = n / 8;
	union
	{
		uint32_t	narrow[8];
		uint64_t	wide[8];
	}			rest = {.wide = {0}};

	if (width == 0)
		return;
	memcpy(&rest, (const uint8_t *) u + ngroups * 8 * each, n % 8 * each);
	if (narrow)
	{
		pack_narrow(u, ngroups, width, packed);
		if (n % 8 > 0)
			pack_narrow(rest.narrow, 1, width,
						packed + (size_t) ngroups * width);
	}
	else
	{
		pack_wide(u, ngroups, width, packed);
		if (n % 8 > 0)
			pack_wide(rest.wide, 1, width, packed + (size_t) ngroups * width);
	}
	strata_write_bytes(out, packed, ((size_t) n * width + 7) / 8);
}

/* Append n (<= INT_BLOCK_MAX) numbers below 1 << width. */
void
strata_bitpack_write(const uint64_t *u, uint32_t n, unsigned width,
					 StrataWriter *out)
{
	Assert(n <= INT_BLOCK_MAX && width <= 64);	/* codec:C14 */
	write_numbers(u, false, n, width, out);
}

void
strata_bitpack_write_narrow(const uint32_t *u, uint32_t n, unsigned width,
							StrataWriter *out)
{
	Assert(n <= INT_BLOCK_MAX && width <= 32);	/* codec:C14 */
	write_numbers(u, true, n, width, out);
}

/*
 * --- reading
 * -------------------------------------------------------------------
 */

/* Unpack groups of eight of a width known when compiling, at most 57. */
STRATA_INLINE void
unpack_narrow(const uint8_t *from, uint32_t n, const unsigned width,
			  uint64_t *out)
{
	const uint64_t mask = strata_low_bits(width);

	for (uint32_t i = 0; i < n; i += 8, from += width, out += 8)
	{
		out[0] = strata_load64(from) & mask;
		out[1] = strata_load64(from + 1 * width / 8) >> 1 * width % 8 & mask;
		out[2] = strata_load64(from + 2 * width / 8) >> 2 * width % 8 & mask;
		out[3] = strata_load64(from + 3 * width / 8) >> 3 * width % 8 & mask;
		out[4] = strata_load64(from + 4 * width / 8) >> 4 * width % 8 & mask;
		out[5] = strata_load64(from + 5 * width / 8) >> 5 * width % 8 & mask;
		out[6] = strata_load64(from + 6 * width / 8) >> 6 * width % 8 & mask;
		out[7] = strata_load64(from + 7 * width / 8) >> 7 * width % 8 & mask;
	}
}

/* The same for widths a number of which can span nine bytes. */
static void
unpack_wide(const uint8_t *from, uint32_t n, unsigned width, uint64_t *out)
{
	const uint64_t mask = strata_low_bits(width);

	for (uint32_t i = 0; i < n; i++)
	{
		size_t		bit = (size_t) i * width;
		const uint8_t *at = from + bit / 8;
		unsigned	shift = bit % 8;
		uint64_t	v = strata_load64(at) >> shift;

		if (shift)
			v |= strata_load64(at + 8) << (64 - shift);
		out[i] = v & mask;
	}
}

#define NARROW(w) case w: unpack_narrow(from, n, w, out); break;
#define NARROW4(w) NARROW(w) NARROW(w + 1) NARROW(w + 2) NARROW(w + 3)

/*
 * The packed bytes of n numbers, of which unpackers may read whole groups and
 * LOAD_SLACK bytes more: in `padded` near the end of the input.  NULL when it
 * is too short.
 */
STRATA_INLINE const uint8_t *
packed_bytes(StrataReader *in, uint32_t n, unsigned width, uint8_t *padded)
{
	size_t		nbytes = ((size_t) n * width + 7) / 8;
	size_t		touched = ((size_t) n + 7) / 8 * width + LOAD_SLACK;
	size_t		left = strata_reader_left(in);
	const uint8_t *from = strata_read_bytes(in, nbytes);

	if (from == NULL || touched <= left)
		return from;
	memcpy(padded, from, nbytes);
	memset(padded + nbytes, 0, touched - nbytes);
	return padded;
}

/*
 * Unpack the first wanted of n (<= INT_BLOCK_MAX) numbers of at most
 * INT_NARROW_WIDTH bits; only if strata_int_simd_usable().  Else as
 * strata_bitpack_read.
 */
bool
strata_bitpack_read_part(StrataReader *in, uint32_t n, uint32_t wanted,
						 unsigned width, uint32_t *out)
{
	uint8_t		padded[PACKED_MAX + 64 + LOAD_SLACK];
	const uint8_t *from = packed_bytes(in, n, width, padded);

	if (from == NULL)
		return false;
	if (width == 0)
		memset(out, 0, wanted * sizeof(uint32_t));
	else
		strata_int_simd_unpack_narrow(from, wanted, width, out);
	return true;
}

/*
 * What the first wanted of such numbers add up to: see
 * strata_int_simd_sum_packed.
 */
bool
strata_bitpack_sum_part(StrataReader *in, uint32_t n, uint32_t wanted,
						unsigned width, bool zigzag, uint8_t *odd,
						int64_t *sum)
{
	uint8_t		padded[PACKED_MAX + 64 + LOAD_SLACK];
	const uint8_t *from = packed_bytes(in, n, width, padded);

	if (from == NULL)
		return false;
	*sum = width == 0 ? 0 :
		strata_int_simd_sum_packed(from, wanted, width, zigzag, odd);
	return true;
}

/*
 * Unpack n (<= INT_BLOCK_MAX) numbers; out has INT_BLOCK_BUFFER entries and
 * those behind the n-th get any value.  False when the input is too short.
 */
bool
strata_bitpack_read(StrataReader *in, uint32_t n, unsigned width,
					uint64_t *out)
{
	uint8_t		padded[PACKED_MAX + 64 + LOAD_SLACK];
	const uint8_t *from = packed_bytes(in, n, width, padded);

	Assert(n <= INT_BLOCK_MAX && width <= 64);	/* codec:C14 */
	if (from == NULL)
		return false;
	if (strata_int_simd_usable() &&
		strata_int_simd_unpack(from, n, width, out))
		return true;
	switch (width)
	{
		case 0:
			memset(out, 0, n * sizeof(uint64_t));
			break;
			NARROW4(1)
				NARROW4(5)
				NARROW4(9)
				NARROW4(13)
				NARROW4(17)
				NARROW4(21)
				NARROW4(25)
				NARROW4(29)
				NARROW4(33)
				NARROW4(37)
				NARROW4(41)
				NARROW4(45)
				NARROW4(49)
				NARROW4(53)
				NARROW(57)
		default:
			unpack_wide(from, n, width, out);
	}
	return true;
}
