/*-------------------------------------------------------------------------
 *
 * int_measure.c
 *	  What numbers take, packed as bits with patches.
 *
 * Hides how that is counted: bit lengths become bytes, and for each width that may be
 * the best one, numbers that are wider are counted in blocks of 64, 32 at a time where
 * the CPU can.  The counts of neighbouring blocks add up to those of larger ones.
 *
 * src/codec/int_measure.c
 *-------------------------------------------------------------------------
 */
#include "bitstream.h"
#include "int_private.h"

#define PATCHES_MAX 255
#define SUBBLOCK INT_SUBBLOCK

/* The bit length of any number, without a branch: that of the upper half, if there is one. */
STRATA_INLINE uint64_t
bit_length_64(uint64_t v)
{
	uint64_t	wide = (uint64_t) 0 - (v >> 32 != 0);
	uint64_t	half = (v >> 32 & wide) | (v & ~wide);

	return strata_bit_length_51(half) + (wide & 32);
}

/*
 * Bit lengths of at most INT_BLOCK_MAX numbers into `length`, which has room for INT_LENGTHS
 * and is filled up to a whole SUBBLOCK, and 16 more, with 0.  Returns all numbers or-ed.
 */
STRATA_CLONES
uint64_t
strata_int_lengths(const uint64_t *u, uint32_t count, uint8_t *length)
{
	uint64_t	any = 0;

	for (uint32_t i = 0; i < count; i++)
		any |= u[i];
	if (any >> 51)
		for (uint32_t i = 0; i < count; i++)
			length[i] = (uint8_t) bit_length_64(u[i]);
	else
		for (uint32_t i = 0; i < count; i++)
			length[i] = (uint8_t) strata_bit_length_51(u[i]);
	memset(length + count, 0, (0 - count) % SUBBLOCK + 16);
	return any;
}

/* How many of the SUBBLOCK lengths are above `width`. */
STRATA_INLINE unsigned
count_above(const uint8_t *length, uint8_t width)
{
	uint8_t		above = 0;

	for (unsigned i = 0; i < SUBBLOCK; i++)
		above = (uint8_t) (above + (length[i] > width));
	return above;
}

/* The longest of SUBBLOCK lengths. */
STRATA_INLINE unsigned
longest_of(const uint8_t *length)
{
	uint8_t		longest = 0;

	for (unsigned i = 0; i < SUBBLOCK; i++)
		longest = length[i] > longest ? length[i] : longest;
	return longest;
}

/* Numbers as they are, none patched. */
STRATA_INLINE IntBitsPlan
plan_plain(unsigned widest, uint32_t count)
{
	return (IntBitsPlan) {.width = widest, .nbytes = ((size_t) count * widest + 7) / 8};
}

/* Take `width` for count numbers, `wider` of which have up to `widest` bits, if that is smaller. */
STRATA_INLINE void
try_width(IntBitsPlan *best, unsigned width, unsigned wider, unsigned widest, uint32_t count)
{
	unsigned	high = widest - width;
	size_t		nbytes = ((size_t) count * width + 7) / 8 + 2 + wider + ((size_t) wider * high + 7) / 8;

	if (nbytes < best->nbytes)
		*best = (IntBitsPlan) {.width = width, .npatches = wider, .high_width = high, .nbytes = nbytes};
}

/* May so many of count numbers be patched? */
STRATA_INLINE bool
few_enough(unsigned wider, uint32_t count)
{
	return wider <= PATCHES_MAX && wider * 4 <= count;
}

/* The cheapest width for count numbers of these bit lengths; wider ones are patched. */
STRATA_CLONES
IntBitsPlan
strata_int_plan_bits(const uint8_t *length, uint32_t count)
{
	unsigned	widest = 0;
	IntBitsPlan best;

	for (uint32_t at = 0; at < count; at += SUBBLOCK)
	{
		unsigned	longest = longest_of(length + at);

		widest = longest > widest ? longest : widest;
	}
	best = plan_plain(widest, count);
	for (unsigned width = widest; width-- > 0;)
	{
		unsigned	wider = 0;

		for (uint32_t at = 0; at < count; at += SUBBLOCK)
			wider += count_above(length + at, (uint8_t) width);
		if (!few_enough(wider, count))
			break;
		try_width(&best, width, wider, widest, count);
	}
	return best;
}

/*
 * The same for up to INT_BLOCK_MAX numbers in blocks of 64, 128 and 256 at once:
 * plans[0 .. 3], [4 .. 5] and [6].  Blocks without numbers take nothing.
 */
STRATA_CLONES
void
strata_int_plan_levels(const uint8_t *length, uint32_t count, IntBitsPlan plans[INT_LEVEL_PLANS])
{
	unsigned	widest[INT_LEVEL_PLANS] = {0};
	uint32_t	counts[INT_LEVEL_PLANS] = {0};
	unsigned	wider[INT_LEVEL_PLANS] = {0};
	unsigned	parts = (count + SUBBLOCK - 1) / SUBBLOCK;
	bool		going = true;

	for (unsigned p = 0; p < parts; p++)
	{
		unsigned	longest = longest_of(length + p * SUBBLOCK);
		uint32_t	m = count - p * SUBBLOCK < SUBBLOCK ? count - p * SUBBLOCK : SUBBLOCK;

		for (unsigned i = 0; i < 3; i++)
		{
			unsigned	level[3] = {p, 4 + p / 2, 6};

			widest[level[i]] = longest > widest[level[i]] ? longest : widest[level[i]];
			counts[level[i]] += m;
		}
	}
	for (unsigned i = 0; i < INT_LEVEL_PLANS; i++)
		plans[i] = plan_plain(widest[i], counts[i]);
	for (unsigned width = widest[6]; going && width-- > 0;)
	{
		/* as long as one of the smallest blocks may have patches, a larger one may */
		going = false;
		for (unsigned p = 0; p < parts; p++)
			wider[p] = count_above(length + p * SUBBLOCK, (uint8_t) width);
		wider[4] = wider[0] + wider[1];
		wider[5] = wider[2] + wider[3];
		wider[6] = wider[4] + wider[5];
		for (unsigned i = 0; i < INT_LEVEL_PLANS; i++)
			if (few_enough(wider[i], counts[i]) && counts[i] > 0)
			{
				going = true;
				if (wider[i] > 0)
					try_width(&plans[i], width, wider[i], widest[i], counts[i]);
			}
	}
}

/*
 * A bound from below of what numbers of these lengths take as simple8b-RLE without runs,
 * in bits: no number takes less than its selector's share of a word.
 */
uint64_t
strata_int_simple8b_bits(const uint8_t *length, uint32_t count)
{
	/* 68 bits with the selector, over the count of numbers, times 16 */
	static const uint16_t share[65] = {
		17, 17, 34, 52, 68, 91, 109, 121, 136, 155, 181, 218, 218, 272, 272, 272, 272,
		363, 363, 363, 363, 363, 544, 544, 544, 544, 544, 544, 544, 544, 544, 544, 544,
		1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088,
		1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088
	};
	uint64_t	sum = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += share[length[i]];
	return sum / 16;
}
