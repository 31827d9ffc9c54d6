/*-------------------------------------------------------------------------
 *
 * int_plan.c
 *	  Choose the shape of an integer stream by size.
 *
 * Hides how little is computed to choose well.  Four kinds of residuals are
 * worth considering (values against their minimum, differences with zigzag and
 * against their minimum, zigzag second differences).  A first pass
 * guesses what each kind takes, from half of the residuals; only the best, and
 * a second one if it is close, are then measured in blocks of 64, 128 and 256.
 * Sizes are exact but for the values that go into block headers.
 *
 * src/codec/int/int_plan.c
 *-------------------------------------------------------------------------
 */
#include "codec/bitstream.h"
#include "codec/int/int_block.h"

#define KINDS 4
#define LEVELS 3				/* of block sizes: 64, 128, 256 */
#define SUBBLOCK INT_SUBBLOCK
#define SAMPLE_ROWS (INT_BLOCK_MAX / 2)
#define SUBBLOCKS (INT_BLOCK_MAX / SUBBLOCK)
#define BLOCKS_MAX (STRATA_CODEC_MAX_ROWS / INT_BLOCK_MAX + 1)

static const struct
{
	IntTransform transform;
	bool		based;
}			kinds[KINDS] = {{INT_VALUES, true},
{INT_DELTA, false},
{INT_DELTA, true},
{INT_DELTA_DELTA, false}};

/* What measuring a kind gives: bytes of the numbers in blocks of each size. */
typedef struct KindSizes
{
	size_t		bits[LEVELS];
	IntBlockPlan block[BLOCKS_MAX]; /* of 256 */
} KindSizes;

/* Twice the bits the residuals of each kind may take, by half of them. */
static void
estimate_kinds(const IntScaled *scaled, uint32_t n, uint64_t *bits)
{
	IntNumbers	numbers;

	memset(bits, 0, KINDS * sizeof(uint64_t));
	for (uint32_t from = 0; from < n; from += INT_BLOCK_MAX)
	{
		uint32_t	m = n - from < SAMPLE_ROWS ? n - from : SAMPLE_ROWS;

		for (int kind = 0; kind < KINDS; kind++)
		{
			strata_int_numbers(scaled, from, m, kinds[kind].transform,
							   kinds[kind].based, &numbers);
			bits[kind] += strata_int_expected_bits(&numbers);
		}
	}
}

/*
 * Add the sizes of a block of 256 packed as bits in blocks of 64, 128 and 256.
 * Offsets are from the minimum of the 256, so smaller blocks may do a little
 * better than this says.
 */
static void
add_bits_sizes(bool based, bool may_split, const IntNumbers *numbers,
			   const uint8_t *length, IntBlockPlan *block, KindSizes *sizes)
{
	const uint32_t count = numbers->count;
	IntBitsPlan plans[INT_LEVEL_PLANS];

	strata_int_plan_levels(length, count, plans);
	if (may_split)
		strata_int_plan_split_levels(numbers, plans);
	for (unsigned i = 0; i + 1 < INT_LEVEL_PLANS; i++)
	{
		unsigned	level = i < SUBBLOCKS ? 0 : 1;
		uint32_t	rows = SUBBLOCK << level;
		uint32_t	from = (i - level * SUBBLOCKS) * rows;
		size_t		nbytes = plans[i].nbytes;

		if (based && from < count)
		{
			uint32_t	n = count - from < rows ? count - from : rows;
			size_t		range;

			range = ((size_t) n * strata_int_range_bits(numbers, from, n) +
					 7) / 8;
			nbytes = range < nbytes ? range : nbytes;
		}
		sizes->bits[level] += nbytes;
	}
	sizes->bits[2] += plans[INT_LEVEL_PLANS - 1].nbytes;
	strata_int_keep_plan(&plans[INT_LEVEL_PLANS - 1], block);
}

/* Measure a kind. */
static void
measure_kind(int kind, const IntScaled *scaled, uint32_t n, bool may_split,
			 KindSizes *sizes)
{
	IntNumbers	numbers;
	uint8_t		length[INT_LENGTHS];

	memset(sizes->bits, 0, sizeof(sizes->bits));
	memset(sizes->block, 0, (n / INT_BLOCK_MAX + 1) * sizeof(IntBlockPlan));
	for (uint32_t from = 0; from < n; from += INT_BLOCK_MAX)
	{
		IntBlockPlan *block = &sizes->block[from / INT_BLOCK_MAX];
		uint32_t	m = n - from < INT_BLOCK_MAX ? n - from : INT_BLOCK_MAX;

		strata_int_numbers(scaled, from, m, kinds[kind].transform,
						   kinds[kind].based, &numbers);
		strata_int_lengths(&numbers, length);
		add_bits_sizes(kinds[kind].based, may_split, &numbers, length, block,
					   sizes);
	}
}

/* Add what block headers take, so that sizes can be compared. */
static void
add_header_sizes(int kind, uint32_t n, KindSizes *sizes)
{
	/*
	 * a width and, by kind, a minimum, a first value and a slope; as measured
	 * on real columns
	 */
	static const uint8_t header[KINDS] = {2, 3, 5, 5};

	for (unsigned level = 0; level < LEVELS; level++)
		sizes->bits[level] += (((size_t) n - 1) / (SUBBLOCK << level) + 1) *
			header[kind];
}

/*
 * Take a kind in its best block size when it is smaller than the best so far.
 * Blocks of 256 have been planned to the bit then, those of smaller ones have
 * not.
 */
static void
take_best(int kind, const KindSizes *sizes, uint32_t n, IntShape *shape,
		  size_t *nbytes, IntBlockPlan *blocks, bool *known)
{
	for (unsigned level = 0; level < LEVELS; level++)
		if (sizes->bits[level] <= *nbytes)
		{
			*nbytes = sizes->bits[level];
			*shape = (IntShape)
			{
				kinds[kind].transform, INT_PACK_BITS,
					kinds[kind].based, INT_BLOCK_LOG2_MIN + level
			};
		}
	if (shape->transform == kinds[kind].transform &&
		shape->based == kinds[kind].based)
	{
		*known = shape->block_log2 == INT_BLOCK_LOG2_MAX;
		if (*known)
			memcpy(blocks, sizes->block,
				   ((n - 1) / INT_BLOCK_MAX + 1) * sizeof(IntBlockPlan));
	}
}

/* Do all n > 0 values differ from the one before by the same? */
STRATA_CLONES
bool
strata_int_steps_constantly(const int64_t *values, uint32_t n)
{
	const uint64_t *v = (const uint64_t *) values;
	uint64_t	step = n > 1 ? v[1] - v[0] : 0;

	for (uint32_t from = 1; from < n; from += SUBBLOCK)
	{
		uint32_t	to = n - from < SUBBLOCK ? n : from + SUBBLOCK;
		uint64_t	differs = 0;

		for (uint32_t i = from; i < to; i++)
			differs |= (v[i] - v[i - 1]) ^ step;
		if (differs != 0)
			return false;
	}
	return true;
}

/*
 * The smallest shape for n > 1 scaled values (scaled[0] == 0) that do not
 * differ by the same all.  Blocks may be split (int_split.c) if so said.
 * *known says whether the blocks have been planned as well.
 */
IntShape
strata_int_plan(const IntScaled *scaled, uint32_t n, bool may_split,
				IntBlockPlan *blocks, bool *known)
{
	IntShape	shape = {0};
	uint64_t	bits[KINDS];
	size_t		nbytes = SIZE_MAX;
	KindSizes	sizes;
	int			best = 0;

	*known = false;
	estimate_kinds(scaled, n, bits);
	for (int kind = 1; kind < KINDS; kind++)
		if (bits[kind] < bits[best])
			best = kind;
	for (int kind = 0; kind < KINDS; kind++)
		if (kind == best || bits[kind] < bits[best] + bits[best] / 16 + n / 8)
		{
			measure_kind(kind, scaled, n, may_split, &sizes);
			add_header_sizes(kind, n, &sizes);
			take_best(kind, &sizes, n, &shape, &nbytes, blocks, known);
		}
	return shape;
}
