/*-------------------------------------------------------------------------
 *
 * int_numbers.c
 *	  The numbers of a block from scaled values, and what a plan wants to know
 *	  of them.
 *
 * Hides that most streams are small: where all scaled values are below 2^27,
 * their residuals and the numbers made of these fit lanes of 32 bits, twice as
 * many in a vector.  Loops run over whole vectors, into room behind the
 * numbers, which is filled with zeros then; these change neither sums nor
 * lengths.
 *
 * src/codec/int/int_numbers.c
 *-------------------------------------------------------------------------
 */
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "codec/bitstream.h"
#include "codec/int/int_block.h"

/* Numbers are made in whole groups of so many. */
#define GROUP 16

STRATA_INLINE uint32_t
whole_groups(uint32_t count)
{
	return (count + GROUP - 1) & ~(uint32_t) (GROUP - 1);
}

/* A number that stands for a residual of 32 bits. */
STRATA_INLINE uint32_t
zigzag_32(uint32_t r)
{
	return r << 1 ^ (0 - (r >> 31));
}

/* Residual i of scaled values. */
STRATA_INLINE uint32_t
residual_32(IntTransform transform, const uint32_t *s, uint32_t i)
{
	switch (transform)
	{
		case INT_VALUES:
			return s[i];
		case INT_DELTA:
			return s[i + 1] - s[i];
		default:
			return s[i + 2] - 2 * s[i + 1] + s[i];
	}
}

/* Numbers as offsets from the least residual, which is returned. */
STRATA_INLINE int64_t
offsets_32(IntTransform transform, const uint32_t *restrict s, uint32_t count,
		   uint32_t *restrict u)
{
	uint32_t	padded = whole_groups(count);
	int32_t		least = INT32_MAX;

	if (count == 0)
		return 0;
	for (uint32_t i = 0; i < padded; i++)
		u[i] = residual_32(transform, s, i);
	for (uint32_t i = count; i < padded; i++)
		u[i] = u[0];
	for (uint32_t i = 0; i < padded; i++)
		least = (int32_t) u[i] < least ? (int32_t) u[i] : least;
	for (uint32_t i = 0; i < padded; i++)
		u[i] -= (uint32_t) least;
	return least;
}

/* Numbers as zigzag codes. */
STRATA_INLINE void
zigzags_32(IntTransform transform, const uint32_t *restrict s, uint32_t count,
		   uint32_t *restrict u)
{
	uint32_t	padded = whole_groups(count);

	for (uint32_t i = 0; i < padded; i++)
		u[i] = zigzag_32(residual_32(transform, s, i));
}

/*
 * Numbers of `count` residuals from s on, of which INT_SCALED_PADDING values
 * more may be read.  Returns the base.
 */
STRATA_CLONES
static int64_t
numbers_32(IntTransform transform, bool based, const uint32_t *restrict s,
		   uint32_t count, uint32_t *restrict u)
{
	int64_t		base = 0;

	switch ((unsigned) transform * 2 + based)
	{
		case INT_VALUES * 2:
			zigzags_32(INT_VALUES, s, count, u);
			break;
		case INT_VALUES * 2 + 1:
			base = offsets_32(INT_VALUES, s, count, u);
			break;
		case INT_DELTA * 2:
			zigzags_32(INT_DELTA, s, count, u);
			break;
		case INT_DELTA * 2 + 1:
			base = offsets_32(INT_DELTA, s, count, u);
			break;
		case INT_DELTA_DELTA * 2:
			zigzags_32(INT_DELTA_DELTA, s, count, u);
			break;
		default:
			base = offsets_32(INT_DELTA_DELTA, s, count, u);
	}
	memset(u + count, 0, (0 - count) % INT_SUBBLOCK * sizeof(uint32_t));
	return base;
}

/* Residual i of scaled values of 64 bits. */
STRATA_INLINE uint64_t
residual_64(IntTransform transform, const uint64_t *s, uint32_t i)
{
	switch (transform)
	{
		case INT_VALUES:
			return s[i];
		case INT_DELTA:
			return s[i + 1] - s[i];
		default:
			return s[i + 2] - 2 * s[i + 1] + s[i];
	}
}

/*
 * Write the count residuals of s under the transform to u: zigzag codes, or,
 * based, differences to the least residual, which is returned (0 otherwise).
 */
STRATA_INLINE int64_t
compute_residuals64(IntTransform transform, bool based,
					const uint64_t *restrict s, uint32_t count,
					uint64_t *restrict u)
{
	int64_t		least = INT64_MAX;

	if (!based)
		for (uint32_t i = 0; i < count; i++)
			u[i] = strata_zigzag((int64_t) residual_64(transform, s, i));
	if (!based || count == 0)
		return 0;
	for (uint32_t i = 0; i < count; i++)
	{
		u[i] = residual_64(transform, s, i);
		least = (int64_t) u[i] < least ? (int64_t) u[i] : least;
	}
	for (uint32_t i = 0; i < count; i++)
		u[i] -= (uint64_t) least;
	return least;
}

/* Numbers of 64 bits, as numbers_32. */
STRATA_CLONES
static int64_t
numbers_64(IntTransform transform, bool based, const uint64_t *s,
		   uint32_t count, uint64_t *u)
{
	switch (transform)
	{
		case INT_VALUES:
			return compute_residuals64(INT_VALUES, based, s, count, u);
		case INT_DELTA:
			return compute_residuals64(INT_DELTA, based, s, count, u);
		default:
			return compute_residuals64(INT_DELTA_DELTA, based, s, count, u);
	}
}

/* Numbers of 64 bits to 32, if none is larger than lanes of these allow. */
STRATA_CLONES
static bool
narrow(const uint64_t *wide, uint32_t count, uint32_t *u)
{
	uint64_t	any = 0;

	/* most are found too large at once */
	for (uint32_t i = 0; i < count && i < GROUP; i++)
		any |= wide[i];
	if (any >> INT_NUMBER_BITS != 0)
		return false;
	for (uint32_t i = 0; i < count; i++)
		any |= wide[i];
	if (any >> INT_NUMBER_BITS != 0)
		return false;
	for (uint32_t i = 0; i < count; i++)
		u[i] = (uint32_t) wide[i];
	memset(u + count, 0, (0 - count) % INT_SUBBLOCK * sizeof(uint32_t));
	return true;
}

/* The numbers of the block of m values from `from` on. */
void
strata_int_numbers(const IntScaled *scaled, uint32_t from, uint32_t m,
				   IntTransform transform, bool based, IntNumbers *to)
{
	Assert(m <= INT_BLOCK_MAX); /* codec:C14 */
	to->narrow = scaled->narrow != NULL;
	to->count = int_numbers_of(transform, m);
	if (to->narrow)
		to->base = numbers_32(transform, based,
							  (const uint32_t *) scaled->narrow + from,
							  to->count, to->u);
	else
	{
		to->base = numbers_64(transform, based,
							  (const uint64_t *) scaled->wide + from,
							  to->count, to->wide);
		to->narrow = narrow(to->wide, to->count, to->u);
	}
}

/*
 * The same from numbers that were made before: of 32 bits, or if that is NULL
 * of 64.
 */
void
strata_int_numbers_from(const uint32_t *narrowed, const uint64_t *wide,
						uint32_t count, IntNumbers *to)
{
	to->count = count;
	to->base = 0;
	if (narrowed)
	{
		to->narrow = true;
		memcpy(to->u, narrowed, count * sizeof(uint32_t));
		memset(to->u + count, 0,
			   (0 - count) % INT_SUBBLOCK * sizeof(uint32_t));
	}
	else
	{
		memcpy(to->wide, wide, count * sizeof(uint64_t));
		to->narrow = narrow(wide, count, to->u);
	}
}

/*
 * --- what is known of them
 * --------------------------------------------------------
 */

/*
 * The bit length of a number below 2^30: the exponent of 2 * v + 1 as a float,
 * the second bit of which is cleared so that it is not rounded up.  Compilers
 * can vectorise that.
 */
STRATA_INLINE uint32_t
bit_length_30(uint32_t v)
{
	uint32_t	odd = v << 1 | 1;
	float		f = (float) (int32_t) (odd & ~(odd >> 1));
	uint32_t	bits;

	memcpy(&bits, &f, sizeof(bits));
	return (bits >> 23) - 127;
}

/*
 * The bit length of any number, without a branch: that of the upper half, if
 * there is one.
 */
STRATA_INLINE uint64_t
bit_length_64(uint64_t v)
{
	uint64_t	wide = (uint64_t) 0 - (v >> 32 != 0);
	uint64_t	half = (v >> 32 & wide) | (v & ~wide);

	return strata_bit_length_51(half) + (wide & 32);
}

/*
 * Bit lengths of numbers into `length`, which has room for INT_LENGTHS and is
 * filled up to a whole INT_SUBBLOCK, and 16 more, with 0.
 */
STRATA_CLONES
void
strata_int_lengths(const IntNumbers *numbers, uint8_t *length)
{
	const uint32_t count = numbers->count;

	if (numbers->narrow)
	{
		const uint32_t *u = numbers->u;
		uint32_t	padded;

		padded = (count + INT_SUBBLOCK - 1) & ~(uint32_t) (INT_SUBBLOCK - 1);
		for (uint32_t i = 0; i < padded; i++)
			length[i] = (uint8_t) bit_length_30(u[i]);
	}
	else
		for (uint32_t i = 0; i < count; i++)
			length[i] = (uint8_t) bit_length_64(numbers->wide[i]);
	memset(length + count, 0, (0 - count) % INT_SUBBLOCK + 16);
}

/*
 * Twice the bits some numbers are expected to take: packing with patches ends
 * up somewhere between the sum of their bit lengths and the longest for each.
 */
STRATA_CLONES
uint64_t
strata_int_expected_bits(const IntNumbers *numbers)
{
	const uint32_t count = numbers->count;
	uint64_t	any = 0;
	uint64_t	sum = 0;

	if (numbers->narrow)
	{
		const uint32_t *u = numbers->u;
		uint32_t	any_32 = 0;
		uint32_t	sum_32 = 0;

		for (uint32_t i = 0; i < whole_groups(count); i++)
		{
			any_32 |= u[i];
			sum_32 += bit_length_30(u[i]);
		}
		return sum_32 + (uint64_t) count * strata_bit_length(any_32);
	}
	for (uint32_t i = 0; i < count; i++)
	{
		any |= numbers->wide[i];
		sum += bit_length_64(numbers->wide[i]);
	}
	return sum + (uint64_t) count * strata_bit_length(any);
}

/*
 * The bits that hold the difference between the largest and the least of n
 * numbers from `from` on.
 */
STRATA_CLONES
unsigned
strata_int_range_bits(const IntNumbers *numbers, uint32_t from, uint32_t n)
{
	if (numbers->narrow)
	{
		const uint32_t *u = numbers->u + from;
		uint32_t	whole = n & ~(uint32_t) (GROUP - 1);
		int32_t		min = (int32_t) u[0];
		int32_t		max = (int32_t) u[0];

		for (uint32_t i = 0; i < whole; i++)
		{
			min = (int32_t) u[i] < min ? (int32_t) u[i] : min;
			max = (int32_t) u[i] > max ? (int32_t) u[i] : max;
		}
		for (uint32_t i = whole; i < n; i++)
		{
			min = (int32_t) u[i] < min ? (int32_t) u[i] : min;
			max = (int32_t) u[i] > max ? (int32_t) u[i] : max;
		}
		return strata_bit_length((uint32_t) (max - min));
	}
	else
	{
		const uint64_t *u = numbers->wide + from;
		uint64_t	min = u[0];
		uint64_t	max = u[0];

		for (uint32_t i = 1; i < n; i++)
		{
			min = u[i] < min ? u[i] : min;
			max = u[i] > max ? u[i] : max;
		}
		return strata_bit_length(max - min);
	}
}

/* Bit i of a mask: is number i, of those of 32 bits, above a limit? */
void
strata_int_above(const uint32_t *u, uint32_t count, uint32_t limit,
				 uint64_t above[INT_MASK_WORDS])
{
	uint32_t	i = 0;

	memset(above, 0, INT_MASK_WORDS * sizeof(uint64_t));
#ifdef __SSE2__
	for (; i + 16 <= count; i += 16)
	{
		__m128i		more[4];

		for (unsigned k = 0; k < 4; k++)
			more[k] =
				_mm_cmpgt_epi32(_mm_loadu_si128((const __m128i *) (u + i +
																   4 * k)),
								_mm_set1_epi32((int) limit));
		more[0] = _mm_packs_epi16(_mm_packs_epi32(more[0], more[1]),
								  _mm_packs_epi32(more[2], more[3]));
		above[i / 64] |= (uint64_t) (unsigned) _mm_movemask_epi8(more[0])
			<< i % 64;
	}
#endif
	for (; i < count; i++)
		above[i / 64] |= (uint64_t) (u[i] > limit) << i % 64;
}
