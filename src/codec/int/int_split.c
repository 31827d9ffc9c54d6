/*-------------------------------------------------------------------------
 *
 * int_split.c
 *	  Numbers in two parts: k low bits of each, and what is above them in
 *	  unary.
 *
 * Hides how such a block is planned, written and read.  The number of zeros in
 * front of a one is the upper part of a number, so small numbers take few bits
 * without a width that suits the largest: where differences are distributed
 * like noise a tenth to a fifth less than one width and patches.
 *
 *	SIZE	MEANING
 *	1		N, bytes of the unary part, at least 1
 *	...		count numbers of k bits (bitpack.c)
 *	N		for each number its upper part zeros, then a one; up to 7 zeros at
 *			the end
 *
 * Reading takes about as long as reading patched bits does: the positions of
 * the ones in a byte are looked up, and what lies between neighbours are the
 * upper parts.
 *
 * Reference: R. F. Rice, "Some practical universal noiseless coding
 * techniques", JPL Publication 79-22, 1979; D. Lemire, "Really fast bitset
 * decoding for average densities", 2019 (the look-up).
 *
 * src/codec/int/int_split.c
 *-------------------------------------------------------------------------
 */
#include "codec/bitstream.h"
#include "codec/int/bitpack.h"
#include "codec/int/int_block.h"
#include "codec/int/int_simd.h"

#define SUBBLOCK INT_SUBBLOCK
#define SUBBLOCKS (INT_BLOCK_MAX / SUBBLOCK)
#define UNARY_MAX 255			/* bytes of the unary part */

/*
 * --- planning
 * ------------------------------------------------------------------
 */

/* Numbers of a block, and sums of them shifted, as far as they were wanted. */
typedef struct SplitSums
{
	const uint32_t *u;			/* zeros behind them */
	uint32_t	count;
	uint32_t	known;			/* bit k: sum[k] is there */
	uint32_t	sum[INT_SPLIT_BITS_MAX + 2][SUBBLOCKS];
} SplitSums;

/*
 * Are the numbers small enough that sums of 64 have 32 bits, and parts of them
 * 8?
 */
STRATA_CLONES
static bool
small_numbers(const IntNumbers *numbers, SplitSums *sums)
{
	uint32_t	parts = (numbers->count + SUBBLOCK - 1) / SUBBLOCK;
	uint32_t	any = 0;

	if (!numbers->narrow || numbers->count == 0)
		return false;
	for (uint32_t i = 0; i < parts * SUBBLOCK; i++)
		any |= numbers->u[i];
	sums->u = numbers->u;
	sums->count = numbers->count;
	sums->known = 0;
	return any >> (INT_SPLIT_BITS_MAX + 8) == 0;
}

/* The sums of the numbers of all parts, shifted by k. */
STRATA_CLONES
static void
sum_parts(SplitSums *sums, unsigned k)
{
	for (unsigned p = 0; p < SUBBLOCKS; p++)
	{
		const uint32_t *u = sums->u + p * SUBBLOCK;
		uint32_t	sum = 0;

		for (unsigned i = 0; p * SUBBLOCK < sums->count && i < SUBBLOCK; i++)
			sum += u[i] >> k;
		sums->sum[k][p] = sum;
	}
	sums->known |= UINT32_C(1) << k;
}

/* The sum of the numbers of some parts, shifted. */
STRATA_INLINE uint64_t
sum_of(SplitSums *sums, unsigned part, unsigned nparts, unsigned k)
{
	uint64_t	sum = 0;

	if (!(sums->known >> k & 1))
		sum_parts(sums, k);
	for (unsigned p = part; p < part + nparts; p++)
		sum += sums->sum[k][p];
	return sum;
}

/*
 * Take the numbers of some parts split where that is smaller than `best`, by
 * the margin.
 */
STRATA_INLINE void
improve(SplitSums *sums, unsigned part, const unsigned nparts,
		IntBitsPlan *best)
{
	uint32_t	from = part * SUBBLOCK;
	uint32_t	room = nparts * SUBBLOCK;
	uint32_t	count = sums->count - from < room ? sums->count - from : room;
	uint64_t	sum = sum_of(sums, part, nparts, 0) * 11;
	uint64_t	mean = count == room ? sum / (16 * room) :
	sum / (16 * (uint64_t) count);
	unsigned	first = mean > 1 ? strata_bit_length(mean) - 1 : 0;
	size_t		most = best->nbytes - best->nbytes / INT_SPLIT_MARGIN;

	/* the best k is near the logarithm of 0.69 times the mean */
	for (unsigned k = first; k <= first + 1 && k <= INT_SPLIT_BITS_MAX; k++)
	{
		size_t		nunary = (size_t) (count + sum_of(sums, part, nparts, k) +
									   7) / 8;
		size_t		nbytes = 1 + ((size_t) count * k + 7) / 8 + nunary;

		if (nunary <= UNARY_MAX && nbytes < most)
		{
			*best = (IntBitsPlan)
			{
				.width = k,
					.split = k + 1,
					.nunary = (unsigned) nunary,
					.nbytes = nbytes
			};
			most = nbytes;
		}
	}
}

/* Improve a plan for one block. */
void
strata_int_plan_split(const IntNumbers *numbers, IntBitsPlan *plan)
{
	SplitSums	sums;

	if (plan->nbytes > 0 && small_numbers(numbers, &sums))
		improve(&sums, 0, SUBBLOCKS, plan);
}

/*
 * Improve the plans for a block in blocks of 64, 128 and 256: those of
 * strata_int_plan_levels.
 */
void
strata_int_plan_split_levels(const IntNumbers *numbers,
							 IntBitsPlan plans[INT_LEVEL_PLANS])
{
	SplitSums	sums;

	if (!small_numbers(numbers, &sums))
		return;
	for (unsigned p = 0; p < SUBBLOCKS; p++)
		if (p * SUBBLOCK < numbers->count && plans[p].nbytes > 0)
			improve(&sums, p, 1, &plans[p]);
	for (unsigned p = 0; p < SUBBLOCKS; p += 2)
		if (p * SUBBLOCK < numbers->count &&
			plans[SUBBLOCKS + p / 2].nbytes > 0)
			improve(&sums, p, 2, &plans[SUBBLOCKS + p / 2]);
	if (plans[INT_LEVEL_PLANS - 1].nbytes > 0)
		improve(&sums, 0, SUBBLOCKS, &plans[INT_LEVEL_PLANS - 1]);
}

/*
 * --- writing
 * -------------------------------------------------------------------
 */

/* The low k bits of numbers, and the rest. */
STRATA_CLONES
static void
cut_numbers(const uint32_t *u, uint32_t count, unsigned k, uint32_t *low,
			uint32_t *upper)
{
	uint32_t	mask = (uint32_t) strata_low_bits(k);

	for (uint32_t i = 0; i < count; i++)
	{
		low[i] = u[i] & mask;
		upper[i] = u[i] >> k;
	}
}

/* The unary part on its way: bits that make no byte yet, below 8 of them. */
typedef struct Unary
{
	uint8_t    *to;
	uint64_t	bits;
	unsigned	nbits;
} Unary;

/* Append nbits (at most 56) bits; 8 bytes may be written. */
STRATA_INLINE void
put_bits(Unary *unary, uint64_t bits, unsigned nbits)
{
	unary->bits |= bits << unary->nbits;
	unary->nbits += nbits;
	strata_store64(unary->to, unary->bits);
	unary->to += unary->nbits / 8;
	unary->bits >>= unary->nbits & ~7U;
	unary->nbits %= 8;
}

/* Append a number in unary. */
STRATA_INLINE void
put_unary(Unary *unary, uint32_t upper)
{
	for (; upper >= 56; upper -= 56)
		put_bits(unary, 0, 56);
	put_bits(unary, UINT64_C(1) << upper, upper + 1);
}

/* Append a block planned so. */
void
strata_int_split_write(const IntBlockPlan *plan, const uint32_t *u,
					   uint32_t count, StrataWriter *out)
{
	uint32_t	low[INT_BLOCK_MAX];
	uint32_t	upper[INT_BLOCK_MAX];
	uint8_t		bytes[UNARY_MAX + 9];
	Unary		unary = {.to = bytes};
	uint32_t	i = 0;

	Assert(count <= INT_BLOCK_MAX); /* codec:C14 */
	cut_numbers(u, count, plan->width, low, upper);
	for (; i + 4 <= count; i += 4)
	{
		/* the ones of four numbers at a time, as long as they are near */
		uint32_t	a = upper[i];
		uint32_t	b = a + 1 + upper[i + 1];
		uint32_t	c = b + 1 + upper[i + 2];
		uint32_t	d = c + 1 + upper[i + 3];

		if (STRATA_LIKELY(d < 56))
			put_bits(&unary,
					 UINT64_C(1) << a | UINT64_C(1) << b | UINT64_C(1) << c |
					 UINT64_C(1) << d,
					 d + 1);
		else
			for (unsigned k = 0; k < 4; k++)
				put_unary(&unary, upper[i + k]);
	}
	for (; i < count; i++)
		put_unary(&unary, upper[i]);
	strata_write_u8(out, plan->nunary);
	strata_bitpack_write_narrow(low, count, plan->width, out);
	strata_write_bytes(out, bytes, plan->nunary);
}

/*
 * --- reading
 * -------------------------------------------------------------------
 */

/* The positions of the ones of a byte, one in each byte. */
const uint64_t strata_ones_of_byte[256] =
{0x0000000000000000, 0x0000000000000000, 0x0000000000000001,
	0x0000000000000100, 0x0000000000000002, 0x0000000000000200,
	0x0000000000000201, 0x0000000000020100, 0x0000000000000003,
	0x0000000000000300, 0x0000000000000301, 0x0000000000030100,
	0x0000000000000302, 0x0000000000030200, 0x0000000000030201,
	0x0000000003020100, 0x0000000000000004, 0x0000000000000400,
	0x0000000000000401, 0x0000000000040100, 0x0000000000000402,
	0x0000000000040200, 0x0000000000040201, 0x0000000004020100,
	0x0000000000000403, 0x0000000000040300, 0x0000000000040301,
	0x0000000004030100, 0x0000000000040302, 0x0000000004030200,
	0x0000000004030201, 0x0000000403020100, 0x0000000000000005,
	0x0000000000000500, 0x0000000000000501, 0x0000000000050100,
	0x0000000000000502, 0x0000000000050200, 0x0000000000050201,
	0x0000000005020100, 0x0000000000000503, 0x0000000000050300,
	0x0000000000050301, 0x0000000005030100, 0x0000000000050302,
	0x0000000005030200, 0x0000000005030201, 0x0000000503020100,
	0x0000000000000504, 0x0000000000050400, 0x0000000000050401,
	0x0000000005040100, 0x0000000000050402, 0x0000000005040200,
	0x0000000005040201, 0x0000000504020100, 0x0000000000050403,
	0x0000000005040300, 0x0000000005040301, 0x0000000504030100,
	0x0000000005040302, 0x0000000504030200, 0x0000000504030201,
	0x0000050403020100, 0x0000000000000006, 0x0000000000000600,
	0x0000000000000601, 0x0000000000060100, 0x0000000000000602,
	0x0000000000060200, 0x0000000000060201, 0x0000000006020100,
	0x0000000000000603, 0x0000000000060300, 0x0000000000060301,
	0x0000000006030100, 0x0000000000060302, 0x0000000006030200,
	0x0000000006030201, 0x0000000603020100, 0x0000000000000604,
	0x0000000000060400, 0x0000000000060401, 0x0000000006040100,
	0x0000000000060402, 0x0000000006040200, 0x0000000006040201,
	0x0000000604020100, 0x0000000000060403, 0x0000000006040300,
	0x0000000006040301, 0x0000000604030100, 0x0000000006040302,
	0x0000000604030200, 0x0000000604030201, 0x0000060403020100,
	0x0000000000000605, 0x0000000000060500, 0x0000000000060501,
	0x0000000006050100, 0x0000000000060502, 0x0000000006050200,
	0x0000000006050201, 0x0000000605020100, 0x0000000000060503,
	0x0000000006050300, 0x0000000006050301, 0x0000000605030100,
	0x0000000006050302, 0x0000000605030200, 0x0000000605030201,
	0x0000060503020100, 0x0000000000060504, 0x0000000006050400,
	0x0000000006050401, 0x0000000605040100, 0x0000000006050402,
	0x0000000605040200, 0x0000000605040201, 0x0000060504020100,
	0x0000000006050403, 0x0000000605040300, 0x0000000605040301,
	0x0000060504030100, 0x0000000605040302, 0x0000060504030200,
	0x0000060504030201, 0x0006050403020100, 0x0000000000000007,
	0x0000000000000700, 0x0000000000000701, 0x0000000000070100,
	0x0000000000000702, 0x0000000000070200, 0x0000000000070201,
	0x0000000007020100, 0x0000000000000703, 0x0000000000070300,
	0x0000000000070301, 0x0000000007030100, 0x0000000000070302,
	0x0000000007030200, 0x0000000007030201, 0x0000000703020100,
	0x0000000000000704, 0x0000000000070400, 0x0000000000070401,
	0x0000000007040100, 0x0000000000070402, 0x0000000007040200,
	0x0000000007040201, 0x0000000704020100, 0x0000000000070403,
	0x0000000007040300, 0x0000000007040301, 0x0000000704030100,
	0x0000000007040302, 0x0000000704030200, 0x0000000704030201,
	0x0000070403020100, 0x0000000000000705, 0x0000000000070500,
	0x0000000000070501, 0x0000000007050100, 0x0000000000070502,
	0x0000000007050200, 0x0000000007050201, 0x0000000705020100,
	0x0000000000070503, 0x0000000007050300, 0x0000000007050301,
	0x0000000705030100, 0x0000000007050302, 0x0000000705030200,
	0x0000000705030201, 0x0000070503020100, 0x0000000000070504,
	0x0000000007050400, 0x0000000007050401, 0x0000000705040100,
	0x0000000007050402, 0x0000000705040200, 0x0000000705040201,
	0x0000070504020100, 0x0000000007050403, 0x0000000705040300,
	0x0000000705040301, 0x0000070504030100, 0x0000000705040302,
	0x0000070504030200, 0x0000070504030201, 0x0007050403020100,
	0x0000000000000706, 0x0000000000070600, 0x0000000000070601,
	0x0000000007060100, 0x0000000000070602, 0x0000000007060200,
	0x0000000007060201, 0x0000000706020100, 0x0000000000070603,
	0x0000000007060300, 0x0000000007060301, 0x0000000706030100,
	0x0000000007060302, 0x0000000706030200, 0x0000000706030201,
	0x0000070603020100, 0x0000000000070604, 0x0000000007060400,
	0x0000000007060401, 0x0000000706040100, 0x0000000007060402,
	0x0000000706040200, 0x0000000706040201, 0x0000070604020100,
	0x0000000007060403, 0x0000000706040300, 0x0000000706040301,
	0x0000070604030100, 0x0000000706040302, 0x0000070604030200,
	0x0000070604030201, 0x0007060403020100, 0x0000000000070605,
	0x0000000007060500, 0x0000000007060501, 0x0000000706050100,
	0x0000000007060502, 0x0000000706050200, 0x0000000706050201,
	0x0000070605020100, 0x0000000007060503, 0x0000000706050300,
	0x0000000706050301, 0x0000070605030100, 0x0000000706050302,
	0x0000070605030200, 0x0000070605030201, 0x0007060503020100,
	0x0000000007060504, 0x0000000706050400, 0x0000000706050401,
	0x0000070605040100, 0x0000000706050402, 0x0000070605040200,
	0x0000070605040201, 0x0007060504020100, 0x0000000706050403,
	0x0000070605040300, 0x0000070605040301, 0x0007060504030100,
	0x0000070605040302, 0x0007060504030200, 0x0007060504030201,
0x0706050403020100};

bool
strata_int_split_skip(unsigned k, uint32_t count, StrataReader *in)
{
	unsigned	nunary = strata_read_u8(in);

	strata_read_bytes(in, ((size_t) count * k + 7) / 8 + nunary);
	return !in->failed;
}

/*
 * Or the upper parts of count numbers into u; false if there are not as many
 * ones, or a byte too many.
 */
static bool
read_unary(const uint8_t *unary, unsigned nunary, unsigned k, uint32_t count,
		   uint64_t *u)
{
	uint32_t	n = 0;
	uint32_t	before = 0;		/* position behind the last one */

	if (nunary == 0 || unary[nunary - 1] == 0)
		return false;
	for (unsigned at = 0; at < nunary; at += 8)
	{
		uint64_t	word = strata_load_partial(unary + at, nunary - at);

		for (; word != 0; word &= word - 1)
		{
			uint32_t	position = at * 8 + (uint32_t) __builtin_ctzll(word);

			if (n == count)
				return false;
			u[n++] |= (uint64_t) (position - before) << k;
			before = position + 1;
		}
	}
	return n == count;
}

/* Read a block; u has INT_BLOCK_BUFFER entries. */
bool
strata_int_split_read(unsigned k, uint32_t count, StrataReader *in,
					  uint64_t *u)
{
	unsigned	nunary = strata_read_u8(in);
	const uint8_t *unary;

	Assert(count <= INT_BLOCK_MAX && k <= INT_SPLIT_BITS_MAX);	/* codec:C14 */
	if (!strata_bitpack_read(in, count, k, u))
		return false;
	unary = strata_read_bytes(in, nunary);
	return unary != NULL && read_unary(unary, nunary, k, count, u);
}

/*
 * The same to 32 bits, the first wanted of them; only if
 * strata_int_simd_usable().
 */
bool
strata_int_split_read_narrow(unsigned k, uint32_t count, uint32_t wanted,
							 StrataReader *in, uint32_t *u)
{
	unsigned	nunary = strata_read_u8(in);
	const uint8_t *unary;

	if (!strata_bitpack_read_part(in, count, wanted, k, u))
		return false;
	unary = strata_read_bytes(in, nunary);
	return unary != NULL &&
		strata_int_simd_unary(unary, nunary, k, count, wanted, u);
}

/*
 * What the first wanted numbers of a block add up to, or if they are zigzag
 * codes what these stand for.  Only if strata_int_simd_usable().
 */
bool
strata_int_split_sum_narrow(unsigned k, bool zigzag, uint32_t count,
							uint32_t wanted, StrataReader *in, int64_t *sum)
{
	uint8_t		odd[INT_BLOCK_MAX / 8 + 9] = {0};
	unsigned	nunary = strata_read_u8(in);
	const uint8_t *unary;
	StrataUnarySum upper;

	if (!strata_bitpack_sum_part(in, count, wanted, k, zigzag, odd, sum))
		return false;
	unary = strata_read_bytes(in, nunary);
	if (unary == NULL ||
		!strata_int_simd_sum_unary(unary, nunary, count, wanted,
								   zigzag && k == 0 ? NULL : odd, &upper))
		return false;
	/* 2g stands for g, 2g - 1 for -g */
	if (!zigzag)
		*sum += (int64_t) upper.zeros << k;
	else if (k > 0)
		*sum += ((int64_t) upper.zeros - 2 * (int64_t) upper.odd_zeros) *
			(INT64_C(1) << (k - 1));
	else
		*sum = ((int64_t) upper.zeros - 2 * (int64_t) upper.odd_zeros -
				upper.nodd) / 2;
	return true;
}
