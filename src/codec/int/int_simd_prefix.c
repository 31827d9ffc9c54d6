/*-------------------------------------------------------------------------
 *
 * int_simd_prefix.c
 *	  What the first numbers of a block of an integer stream add up to, without
 *	  making values of them.
 *
 * Hides how one value is taken out of a block of differences: it is where the
 * block starts, and the sum of the residuals in front of it.  Low parts of
 * numbers are added up as they are unpacked.  Upper parts that stand in unary
 * (int_split.c) are zeros in front of ones, so their sum is a count of bits;
 * where signs alternate (zigzag codes), the zeros of the numbers that stand
 * for negative ones are counted apart.
 *
 * As with int_simd.c, nothing here is called where strata_int_simd_usable() is
 * false, and a block is rejected here exactly if int_block.c rejects it
 * (codec:C11).
 *
 * Reference: P. Pandey, M. Bender, R. Johnson, "A fast x86 implementation of
 * select", arXiv:1706.00990, 2017 (finding the n-th one by depositing a bit).
 *
 * src/codec/int/int_simd_prefix.c
 *-------------------------------------------------------------------------
 */
#include "codec/bitstream.h"
#include "codec/int/int_simd.h"

#ifndef STRATA_HAVE_AVX2

int64_t
strata_int_simd_sum_packed(const uint8_t *from, uint32_t n, unsigned width,
						   bool zigzag, uint8_t *odd)
{
	return 0;
}

bool
strata_int_simd_sum_unary(const uint8_t *unary, unsigned nunary,
						  uint32_t count, uint32_t n, const uint8_t *odd,
						  StrataUnarySum *sum)
{
	return false;
}

#else

#include <immintrin.h>

/*
 * No more than strata_int_simd_usable() asks for: AVX2 brings popcnt, but
 * neither bmi nor lzcnt.
 */
#define BITS __attribute__((target("avx2,bmi2,popcnt")))
#define BITS_INLINE static inline __attribute__((always_inline, target("avx2,bmi2,popcnt")))

/*
 * The sum of n (<= INT_BLOCK_MAX) packed numbers of at most INT_NARROW_WIDTH
 * bits, or if they are zigzag codes of what these stand for; of those, bit i
 * of odd[] says whether number i is odd.  Reads as
 * strata_int_simd_unpack_narrow.
 */
BITS int64_t
strata_int_simd_sum_packed(const uint8_t *from, uint32_t n, unsigned width,
						   bool zigzag, uint8_t *odd)
{
	uint32_t	u[INT_BLOCK_BUFFER];
	const		__m256i one = _mm256_set1_epi32(1);
	const		__m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
	__m256i		sums = _mm256_setzero_si256();
	__m128i		four;
	int32_t		lanes[4];

	strata_int_simd_unpack_narrow(from, n, width, u);
	for (uint32_t i = 0; i < n; i += 8)
	{
		__m256i		x = _mm256_loadu_si256((const __m256i *) (u + i));

		if (n - i < 8)
			x = _mm256_and_si256(
								 x, _mm256_cmpgt_epi32(_mm256_set1_epi32((int) (n - i)), lane));
		if (zigzag)
		{
			odd[i / 8] = (uint8_t)
				_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_slli_epi32(x,
																		 31)));
			x = _mm256_xor_si256(_mm256_srli_epi32(x, 1),
								 _mm256_sub_epi32(_mm256_setzero_si256(),
												  _mm256_and_si256(x, one)));
		}
		/* 32 numbers a lane, of 25 bits */
		sums = _mm256_add_epi32(sums, x);
	}
	four = _mm_hadd_epi32(_mm256_castsi256_si128(sums),
						  _mm256_extracti128_si256(sums, 1));
	_mm_storeu_si128((__m128i *) lanes, four);
	return (int64_t) lanes[0] + lanes[1] + lanes[2] + lanes[3];
}

/* 64 bits from bit `at` on. */
STRATA_INLINE uint64_t
bits_from(const uint8_t *bits, uint32_t at)
{
	uint64_t	low = strata_load64(bits + at / 8) >> at % 8;

	return at % 8 ? low | (uint64_t) bits[at / 8 + 8] << (64 - at % 8) : low;
}

/*
 * Which ones of a word have an odd number of zeros in front: those at a
 * position of the parity of the one before.
 */
BITS_INLINE uint64_t
odd_gaps(uint64_t word, uint64_t parity_before)
{
	uint64_t	parities = _pext_u64(UINT64_C(0xAAAAAAAAAAAAAAAA), word);

	return ~(parities ^ (parities << 1 | parity_before));
}

/*
 * The upper parts of the first n of count split numbers.  Numbers that are odd
 * are told by odd[], which has INT_BLOCK_MAX + 72 bits, or if that is NULL by
 * their upper parts.  False where read_unary of int_split.c says so.
 */
BITS bool
strata_int_simd_sum_unary(const uint8_t *unary, unsigned nunary,
						  uint32_t count, uint32_t n, const uint8_t *odd,
						  StrataUnarySum *sum)
{
	uint32_t	before = 0;		/* numbers that ended before a word */
	uint64_t	parity = 1;		/* of the position of the last of their ones */
	uint32_t	tail = 0;		/* zeros behind it */

	*sum = (StrataUnarySum)
	{
		0
	};
	if (nunary == 0 || unary[nunary - 1] == 0)
		return false;
	for (unsigned at = 0; at < nunary; at += 8)
	{
		uint64_t	word = strata_load_partial(unary + at, nunary - at);
		uint32_t	here = (uint32_t) __builtin_popcountll(word);

		if (before < n && here > 0)
		{
			uint32_t	wanted = n - before < here ? n - before : here;
			uint64_t	signs;
			uint64_t	ends;

			signs = odd ? bits_from(odd, before) : odd_gaps(word, parity);
			signs &= strata_low_bits(wanted);
			ends = _pdep_u64(signs, word);
			sum->nodd += (uint32_t) __builtin_popcountll(signs);
			/* from where each odd number starts, in this word, to its one */
			sum->odd_zeros += (uint32_t)
				__builtin_popcountll(ends - _pdep_u64(signs, word << 1 | 1));
			sum->odd_zeros += signs & 1 ? tail : 0;
			if (n <= before + here)
				sum->zeros = at * 8 +
					(uint32_t)
					__builtin_ctzll(_pdep_u64(UINT64_C(1)
											  << (wanted - 1),
											  word)) +
					1 - n;
			tail = (uint32_t) __builtin_clzll(word);
			parity = ~tail & 1;
		}
		else
			tail += 64;
		before += here;
	}
	return before == count;
}

#endif							/* STRATA_HAVE_AVX2 */
