/*-------------------------------------------------------------------------
 *
 * bitstream.h
 *	  Bit-level helpers: zigzag, bit lengths, flags, and a bit writer that
 *	  works a 64-bit word at a time.
 *
 * Bits go in least significant first, both inside a byte and inside a field.
 *
 * src/codec/bitstream.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_BITSTREAM_H
#define STRATA_BITSTREAM_H

#include "codec/bytes.h"

#define STRATA_LIKELY(x) __builtin_expect(!!(x), 1)
#define STRATA_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* 0, -1, 1, -2 ... become 0, 1, 2, 3 ... */
STRATA_INLINE uint64_t
strata_zigzag(int64_t v)
{
	return ((uint64_t) v << 1) ^ (uint64_t) (v >> 63);
}

STRATA_INLINE int64_t
strata_unzigzag(uint64_t u)
{
	return (int64_t) ((u >> 1) ^ (0 - (u & 1)));
}

/* Bits needed to write v; 0 for 0. */
STRATA_INLINE unsigned
strata_bit_length(uint64_t v)
{
	return v ? 64 - (unsigned) __builtin_clzll(v) : 0;
}

/*
 * The same of a number below 2^51, as the exponent of 2 * v + 1 as a double:
 * compilers can vectorise that.
 */
STRATA_INLINE uint64_t
strata_bit_length_51(uint64_t v)
{
	uint64_t	bits = (v << 1 | 1) | UINT64_C(0x4330000000000000);
	double		d;

	memcpy(&d, &bits, sizeof(d));
	d -= 4503599627370496.0;
	memcpy(&bits, &d, sizeof(bits));
	return (bits >> 52) - 1023;
}

/* Set bits of a word. */
STRATA_INLINE unsigned
strata_count_bits(uint64_t v)
{
	v -= v >> 1 & UINT64_C(0x5555555555555555);
	v = (v & UINT64_C(0x3333333333333333)) +
		(v >> 2 & UINT64_C(0x3333333333333333));
	v = (v + (v >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (unsigned) (v * UINT64_C(0x0101010101010101) >> 56);
}

/* The lowest nbits (0 .. 64) set. */
STRATA_INLINE uint64_t
strata_low_bits(unsigned nbits)
{
	return nbits >= 64 ? UINT64_MAX : (UINT64_C(1) << nbits) - 1;
}

/* Bit k of a byte as 0 or 1 in byte k of the result. */
STRATA_INLINE uint64_t
strata_spread_bits(uint8_t bits)
{
	/* bit k alone in byte k, then 1 where it is set */
	uint64_t	flags;

	flags = bits * UINT64_C(0x0101010101010101) & UINT64_C(0x8040201008040201);
	return (flags + UINT64_C(0x7f7f7f7f7f7f7f7f)) >> 7 &
		UINT64_C(0x0101010101010101);
}

typedef struct StrataBitWriter
{
	StrataWriter *out;
	uint64_t	word;			/* bits not written yet, lowest first */
	unsigned	nbits;			/* how many, below 64 */
} StrataBitWriter;

/* Append the lowest nbits (0 .. 64) of v; the bits above must be zero. */
STRATA_INLINE void
strata_bits_write(StrataBitWriter *bw, uint64_t v, unsigned nbits)
{
	bw->word |= v << bw->nbits;
	if (bw->nbits + nbits >= 64)
	{
		unsigned	taken = 64 - bw->nbits;

		strata_write_u64(bw->out, bw->word);
		bw->word = taken < 64 ? v >> taken : 0;
		bw->nbits = bw->nbits + nbits - 64;
	}
	else
		bw->nbits += nbits;
}

/* Write what is left, up to a whole byte. */
STRATA_INLINE void
strata_bits_flush(StrataBitWriter *bw)
{
	for (unsigned i = 0; i < bw->nbits; i += 8)
		strata_write_u8(bw->out, (uint8_t) (bw->word >> i));
	bw->word = 0;
	bw->nbits = 0;
}

#endif							/* STRATA_BITSTREAM_H */
