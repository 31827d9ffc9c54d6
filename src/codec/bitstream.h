/*-------------------------------------------------------------------------
 *
 * bitstream.h
 *	  Bit-level helpers: zigzag, bit lengths, and a bit writer and reader that
 *	  work a 64-bit word at a time.
 *
 * Bits go in least significant first, both inside a byte and inside a field.
 * The reader never touches a byte past its end: there it sees zeros, and
 * strata_bits_overrun tells afterwards that it went too far.
 *
 * src/codec/bitstream.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_BITSTREAM_H
#define STRATA_BITSTREAM_H

#include "bytes.h"

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

/* The lowest nbits (0 .. 64) set. */
STRATA_INLINE uint64_t
strata_low_bits(unsigned nbits)
{
	return nbits >= 64 ? UINT64_MAX : (UINT64_C(1) << nbits) - 1;
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

typedef struct StrataBitReader
{
	const uint8_t *next;		/* first byte not in `word` yet */
	const uint8_t *end;
	uint64_t	word;			/* bits not consumed yet, lowest first */
	unsigned	nbits;			/* how many of them are valid, 0 .. 63 */
	unsigned	overrun;		/* bytes asked for beyond the end */
} StrataBitReader;

STRATA_INLINE StrataBitReader
strata_bit_reader(const uint8_t *data, size_t nbytes)
{
	StrataBitReader br = {data, data + nbytes, 0, 0, 0};

	return br;
}

/* Make at least 56 bits valid (zeros past the end). */
STRATA_INLINE void
strata_bits_refill(StrataBitReader *br)
{
	unsigned	nbytes = (63 - br->nbits) >> 3;

	if (STRATA_LIKELY(br->end - br->next >= 8))
	{
		br->word |= strata_load64(br->next) << br->nbits;
		br->next += nbytes;
	}
	else
	{
		size_t		left = (size_t) (br->end - br->next);

		br->word |= strata_load_partial(br->next, left) << br->nbits;
		if (left < nbytes)
		{
			br->overrun += nbytes - (unsigned) left;
			br->next = br->end;
		}
		else
			br->next += nbytes;
	}
	br->nbits |= 56;
}

/* Drop n (<= nbits) bits. */
STRATA_INLINE void
strata_bits_consume(StrataBitReader *br, unsigned n)
{
	br->word >>= n;
	br->nbits -= n;
}

/* Were more bits consumed than there are? */
STRATA_INLINE bool
strata_bits_overrun(const StrataBitReader *br)
{
	return br->overrun * 8 > br->nbits;
}

#endif							/* STRATA_BITSTREAM_H */
