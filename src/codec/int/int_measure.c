/*-------------------------------------------------------------------------
 *
 * int_measure.c
 *	  What numbers take, packed as bits with patches.
 *
 * Hides how that is counted: bit lengths become bytes, and for each width that
 * may be the best one, numbers that are wider are counted in blocks of 64, 32
 * at a time where the CPU can.  The counts of neighbouring blocks add up to
 * those of larger ones.
 *
 * src/codec/int/int_measure.c
 *-------------------------------------------------------------------------
 */
#include "codec/bitstream.h"
#include "codec/int/int_block.h"

#define PATCHES_MAX 255
#define SUBBLOCK INT_SUBBLOCK

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
	return (IntBitsPlan)
	{
		.width = widest,
			.nbytes = ((size_t) count * widest + 7) / 8
	};
}

/*
 * Take `width` for count numbers, `wider` of which have up to `widest` bits,
 * if that is smaller.
 */
STRATA_INLINE void
try_width(IntBitsPlan *best, unsigned width, unsigned wider, unsigned widest,
		  uint32_t count)
{
	unsigned	high = widest - width;
	size_t		nbytes;

	nbytes = ((size_t) count * width + 7) / 8 + 2 + wider +
		((size_t) wider * high + 7) / 8;
	if (nbytes < best->nbytes)
		*best = (IntBitsPlan)
	{
		.width = width,.npatches = wider,.high_width = high,.nbytes = nbytes
	};
}

/* May so many of count numbers be patched? */
STRATA_INLINE bool
few_enough(unsigned wider, uint32_t count)
{
	return wider <= PATCHES_MAX && wider * 4 <= count;
}

/*
 * The cheapest width for count numbers of these bit lengths; wider ones are
 * patched.
 */
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
 * The plans of a block in blocks of 64, 128 and 256: a lane for each, and one
 * too many.
 */
#define LANES 8

typedef struct LevelPlans
{
	uint32_t	count[LANES];
	uint32_t	widest[LANES];
	uint32_t	wider[LANES];	/* than the width that is tried */
	uint32_t	nbytes[LANES];	/* of the best so far, and the next two */
	uint32_t	width[LANES];
	uint32_t	npatches[LANES];
} LevelPlans;

/*
 * What is known of the parts, added up to what is known of the larger blocks.
 */
STRATA_INLINE void
add_up(uint32_t *lane)
{
	lane[4] = lane[0] + lane[1];
	lane[5] = lane[2] + lane[3];
	lane[6] = lane[4] + lane[5];
	lane[7] = 0;
}

/*
 * Take `width` where that is smaller; may any of the blocks have so many
 * patches?
 */
STRATA_INLINE bool
try_width_levels(LevelPlans *plans, uint32_t width)
{
	uint32_t	any = 0;

	for (unsigned i = 0; i < LANES; i++)
	{
		uint32_t	wider = plans->wider[i];
		uint32_t	high = plans->widest[i] - width;
		uint32_t	nbytes = (plans->count[i] * width +
							  7) / 8 + 2 + wider + (wider * high + 7) / 8;
		uint32_t	few =
		wider <= PATCHES_MAX && wider * 4 <= plans->count[i] &&
		plans->count[i] > 0;
		uint32_t	better = few && wider > 0 && nbytes < plans->nbytes[i];

		any |= few;
		plans->nbytes[i] = better ? nbytes : plans->nbytes[i];
		plans->width[i] = better ? width : plans->width[i];
		plans->npatches[i] = better ? wider : plans->npatches[i];
	}
	return any != 0;
}

/*
 * The same for up to INT_BLOCK_MAX numbers in blocks of 64, 128 and 256 at
 * once: plans[0 .. 3], [4 .. 5] and [6].  Blocks without numbers take nothing.
 */
STRATA_CLONES
void
strata_int_plan_levels(const uint8_t *length, uint32_t count,
					   IntBitsPlan plans[INT_LEVEL_PLANS])
{
	LevelPlans	levels;
	unsigned	parts = (count + SUBBLOCK - 1) / SUBBLOCK;
	uint32_t   *widest = levels.widest;

	/* nothing is patched, and there may be fewer parts than lanes */
	for (unsigned i = 0; i < LANES; i++)
		levels.count[i] = levels.widest[i] = levels.wider[i] =
			levels.npatches[i] = 0;
	for (unsigned p = 0; p < parts; p++)
	{
		levels.count[p] = count - p * SUBBLOCK < SUBBLOCK ?
			count - p * SUBBLOCK :
			SUBBLOCK;
		widest[p] = longest_of(length + p * SUBBLOCK);
	}
	add_up(levels.count);
	widest[4] = widest[0] > widest[1] ? widest[0] : widest[1];
	widest[5] = widest[2] > widest[3] ? widest[2] : widest[3];
	widest[6] = widest[4] > widest[5] ? widest[4] : widest[5];
	for (unsigned i = 0; i < LANES; i++)
	{
		levels.width[i] = widest[i];
		levels.nbytes[i] = (levels.count[i] * widest[i] + 7) / 8;
	}
	for (uint32_t width = widest[6]; width-- > 0;)
	{
		for (unsigned p = 0; p < parts; p++)
			levels.wider[p] = count_above(length + p * SUBBLOCK,
										  (uint8_t) width);
		add_up(levels.wider);

		/*
		 * as long as one of the smallest blocks may have patches, a larger
		 * one may
		 */
		if (!try_width_levels(&levels, width))
			break;
	}
	for (unsigned i = 0; i < INT_LEVEL_PLANS; i++)
		plans[i] = (IntBitsPlan)
	{
		.width = levels.width[i],
			.npatches = levels.npatches[i],
			.high_width = levels.npatches[i] > 0 ?
			widest[i] -
			levels.width[i] :
			0,
			.nbytes = levels.nbytes[i]
	};
}
