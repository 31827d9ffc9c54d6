/*-------------------------------------------------------------------------
 *
 * int_plan.c
 *	  Choose the shape of an integer stream by size.
 *
 * Hides how little is computed to choose well.  Four kinds of residuals are
 * worth considering (values against their minimum, differences with zigzag and
 * against their minimum, zigzag second differences).  A first pass
 * guesses what each kind takes, from half of the residuals; only the best, and a second one if
 * it is close, are then measured: packed as bits with patches in blocks of 64, 128
 * and 256, and as simple8b-RLE where that stands a chance.  Sizes are exact but for
 * the values that go into block headers.
 *
 * src/codec/int_plan.c
 *-------------------------------------------------------------------------
 */
#include "bitstream.h"
#include "int_private.h"

#define KINDS 4
#define LEVELS 3				/* of block sizes: 64, 128, 256 */
#define SUBBLOCK 64
#define SAMPLE_ROWS (INT_BLOCK_MAX / 2)
#define SUBBLOCKS (INT_BLOCK_MAX / SUBBLOCK)

static const struct
{
	IntTransform transform;
	bool		based;
}			kinds[KINDS] = {{INT_VALUES, true}, {INT_DELTA, false}, {INT_DELTA, true}, {INT_DELTA_DELTA, false}};

/* What measuring a kind gives: bytes of the numbers in each packing. */
typedef struct KindSizes
{
	size_t		bits[LEVELS];
	size_t		simple8b;
	size_t		nblocks[LEVELS];
} KindSizes;

/*
 * Twice the bits some numbers are expected to take: packing with patches ends up
 * somewhere between the sum of their bit lengths and the longest for each.
 */
STRATA_CLONES
static uint64_t
expected_bits(const uint64_t *u, uint32_t count)
{
	uint64_t	any = 0;
	uint64_t	sum = 0;

	for (uint32_t i = 0; i < count; i++)
		any |= u[i];
	if (any >> 51)
		for (uint32_t i = 0; i < count; i++)
			sum += strata_bit_length(u[i]);
	else
		for (uint32_t i = 0; i < count; i++)
			sum += strata_bit_length_51(u[i]);
	return sum + (uint64_t) count * strata_bit_length(any);
}

/* Twice the bits the residuals of each kind may take, by half of them. */
static void
estimate_kinds(const int64_t *scaled, uint32_t n, uint64_t *bits)
{
	int64_t		r[SAMPLE_ROWS];
	uint64_t	u[SAMPLE_ROWS];

	memset(bits, 0, KINDS * sizeof(uint64_t));
	for (uint32_t from = 0; from < n; from += INT_BLOCK_MAX)
	{
		uint32_t	m = n - from < SAMPLE_ROWS ? n - from : SAMPLE_ROWS;

		for (int kind = 0; kind < KINDS; kind++)
		{
			uint32_t	count = strata_int_residuals(kinds[kind].transform, scaled + from, m, r);

			strata_int_map(kinds[kind].based, r, count, u);
			bits[kind] += expected_bits(u, count);
		}
	}
}

/*
 * A bound from below of the simple8b-RLE size without runs, in bits, from a
 * histogram: no number takes less than its selector's share of a word.
 */
static uint64_t
simple8b_bits(const uint16_t *having, unsigned widest)
{
	/* 68 bits with the selector, over the count of numbers, times 16 */
	static const uint16_t share[65] = {
		17, 17, 34, 52, 68, 91, 109, 121, 136, 155, 181, 218, 218, 272, 272, 272, 272,
		363, 363, 363, 363, 363, 544, 544, 544, 544, 544, 544, 544, 544, 544, 544, 544,
		1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088,
		1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088, 1088
	};
	uint64_t	sum = 0;

	for (unsigned b = 0; b <= widest; b++)
		sum += (uint64_t) having[b] * share[b];
	return sum / 16;
}

/* How many numbers equal the one before. */
static uint32_t
count_repeats(const uint64_t *u, uint32_t count)
{
	uint32_t	repeats = 0;

	for (uint32_t i = 1; i < count; i++)
		repeats += u[i] == u[i - 1];
	return repeats;
}

/* What is known of up to 64 neighbouring numbers, then of more. */
typedef struct PartStats
{
	uint16_t	having[65];		/* numbers by bit length */
	unsigned	widest;
	int64_t		min;			/* of the residuals */
	int64_t		max;
} PartStats;

/* Numbers of a part as they are, or as offsets from the part's own minimum. */
static size_t
part_size(const PartStats *part, bool based, uint32_t count)
{
	size_t		size = strata_int_plan_bits(part->having, part->widest, count).nbytes;

	if (based)
	{
		unsigned	width = strata_bit_length((uint64_t) part->max - (uint64_t) part->min);
		size_t		range = ((size_t) count * width + 7) / 8;

		return range < size ? range : size;
	}
	return size;
}

/* Add what is known of the numbers behind a part. */
static void
merge_parts(PartStats *part, const PartStats *next)
{
	for (int b = 0; b <= 64; b++)
		part->having[b] = (uint16_t) (part->having[b] + next->having[b]);
	part->widest = next->widest > part->widest ? next->widest : part->widest;
	part->min = next->min < part->min ? next->min : part->min;
	part->max = next->max > part->max ? next->max : part->max;
}

/*
 * Add the sizes of a block of 256 packed as bits in blocks of 64, 128 and 256, and
 * leave what is known of all its numbers in *all.  Offsets are from the minimum of
 * the 256, so smaller blocks may do a little better than this says.
 */
static void
add_bits_sizes(bool based, const int64_t *r, const uint64_t *u, uint32_t count, PartStats *all, KindSizes *sizes)
{
	PartStats	part[SUBBLOCKS];
	uint32_t	nparts = (count + SUBBLOCK - 1) / SUBBLOCK;

	memset(all, 0, sizeof(*all));
	for (uint32_t p = 0; p < nparts; p++)
	{
		const int64_t *at = r + p * SUBBLOCK;
		uint32_t	m = count - p * SUBBLOCK < SUBBLOCK ? count - p * SUBBLOCK : SUBBLOCK;

		part[p].widest = strata_int_histogram(u + p * SUBBLOCK, m, part[p].having);
		part[p].min = part[p].max = at[0];
		for (uint32_t i = 1; based && i < m; i++)
		{
			part[p].min = at[i] < part[p].min ? at[i] : part[p].min;
			part[p].max = at[i] > part[p].max ? at[i] : part[p].max;
		}
		sizes->bits[0] += part_size(&part[p], based, m);
	}
	for (uint32_t p = 0; p < nparts; p += 2)
	{
		uint32_t	left = count - p * SUBBLOCK;

		if (p + 1 < nparts)
			merge_parts(&part[p], &part[p + 1]);
		sizes->bits[1] += part_size(&part[p], based, left < 2 * SUBBLOCK ? left : 2 * SUBBLOCK);
	}
	if (nparts == 0)
		return;
	*all = part[0];
	if (nparts > 2)
		merge_parts(all, &part[2]);
	sizes->bits[2] += part_size(all, based, count);
}

/* Measure the packings of a kind. */
static void
measure(int kind, const int64_t *scaled, uint32_t n, KindSizes *sizes)
{
	int64_t		r[INT_BLOCK_MAX];
	uint64_t	u[INT_BLOCK_MAX];

	memset(sizes, 0, sizeof(*sizes));
	for (uint32_t from = 0; from < n; from += INT_BLOCK_MAX)
	{
		uint32_t	m = n - from < INT_BLOCK_MAX ? n - from : INT_BLOCK_MAX;
		uint32_t	count = strata_int_residuals(kinds[kind].transform, scaled + from, m, r);
		size_t		before = sizes->bits[2];
		PartStats	all;
		uint64_t	least;

		strata_int_map(kinds[kind].based, r, count, u);
		add_bits_sizes(kinds[kind].based, r, u, count, &all, sizes);
		least = simple8b_bits(all.having, all.widest) / 8;
		if (least + least / 16 < sizes->bits[2] - before || count_repeats(u, count) > count / 4)
		{
			/* words beyond what bits take need not be counted */
			unsigned	nwords = strata_simple8b_count(u, count, (unsigned) (sizes->bits[2] - before) / 8);

			sizes->simple8b += strata_varint_size(nwords) + strata_simple8b_size(nwords);
		}
		else
			sizes->simple8b += least + least / 16;
	}
}

/* Add what block headers take, so that sizes can be compared. */
static void
add_header_sizes(int kind, uint32_t n, KindSizes *sizes)
{
	/* a width and, by kind, a minimum, a first value and a slope; as measured on real columns */
	static const uint8_t header[KINDS] = {2, 3, 5, 5};

	for (unsigned level = 0; level < LEVELS; level++)
		sizes->bits[level] += (((size_t) n - 1) / (SUBBLOCK << level) + 1) * header[kind];
	sizes->simple8b += (((size_t) n - 1) / INT_BLOCK_MAX + 1) * (header[kind] - 1U);
}

/* Take a kind's best packing when it is smaller than the best so far. */
static void
take_best(int kind, const KindSizes *sizes, IntShape *shape, size_t *nbytes)
{
	if (sizes->simple8b < *nbytes)
	{
		*nbytes = sizes->simple8b;
		*shape = (IntShape) {kinds[kind].transform, INT_PACK_SIMPLE8B, kinds[kind].based, INT_BLOCK_LOG2_MAX};
	}
	for (unsigned level = 0; level < LEVELS; level++)
		if (sizes->bits[level] <= *nbytes)
		{
			*nbytes = sizes->bits[level];
			*shape = (IntShape) {kinds[kind].transform, INT_PACK_BITS, kinds[kind].based, INT_BLOCK_LOG2_MIN + level};
		}
}

/* Do all neighbours differ by the same? */
static bool
has_constant_step(const int64_t *scaled, uint32_t n)
{
	uint64_t	step = n > 1 ? (uint64_t) scaled[1] - (uint64_t) scaled[0] : 0;

	for (uint32_t i = 2; i < n; i++)
		if ((uint64_t) scaled[i] - (uint64_t) scaled[i - 1] != step)
			return false;
	return true;
}

/*
 * The smallest shape for n > 0 scaled values (scaled[0] == 0), and about the
 * bytes its blocks take.
 */
IntShape
strata_int_plan(const int64_t *scaled, uint32_t n, size_t *nbytes)
{
	IntShape	shape = {n > 1 ? INT_DELTA : INT_VALUES, INT_PACK_NONE, false, INT_BLOCK_LOG2_MIN};
	uint64_t	bits[KINDS];
	KindSizes	sizes;
	int			best = 0;

	*nbytes = 0;
	if (has_constant_step(scaled, n))
		return shape;
	estimate_kinds(scaled, n, bits);
	for (int kind = 1; kind < KINDS; kind++)
		if (bits[kind] < bits[best])
			best = kind;
	*nbytes = SIZE_MAX;
	for (int kind = 0; kind < KINDS; kind++)
		if (kind == best || bits[kind] < bits[best] + bits[best] / 16 + n / 8)
		{
			measure(kind, scaled, n, &sizes);
			add_header_sizes(kind, n, &sizes);
			take_best(kind, &sizes, &shape, nbytes);
		}
	return shape;
}
