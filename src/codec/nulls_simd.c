/*-------------------------------------------------------------------------
 *
 * nulls_simd.c
 *	  Null maps with AVX2: bits to flags, and values to their rows.
 *
 * Hides that nobody looks whether a row is null where one of eight is: the
 * flags (bytes 0 or 1 in a number), summed up to each, say which value its row
 * has, and one permutation takes them there.  Elsewhere nulls.c and column.c
 * go by rows, to the same end (codec:C11).
 *
 * Plain loops compiled for AVX2 were measured instead: a column with nulls
 * decodes 13 % more slowly with the compiler's expand(), and at a third to six
 * tenths of the speed with its spread.
 *
 * src/codec/nulls_simd.c
 *-------------------------------------------------------------------------
 */
#include "codec/bitstream.h"
#include "codec/nulls.h"

#ifndef STRATA_HAVE_AVX2

uint32_t
strata_nulls_simd_expand(const uint8_t *map, uint32_t n, bool *isnull)
{
	return 0;
}

bool
strata_nulls_simd_spread(void *out, unsigned width, uint32_t values,
						 const bool *isnull, uint32_t n)
{
	return false;
}

#else

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define AVX2_INLINE static inline __attribute__((always_inline, target("avx2")))

#define ONES UINT64_C(0x0101010101010101)

static bool
has_avx2(void)
{
	return !strata_codec_portable_only && __builtin_cpu_supports("avx2");
}

/*
 * Spread bits of the map into bools, 32 at a time; returns how many rows are
 * done, a multiple of 32.
 */
AVX2 static uint32_t
expand(const uint8_t *map, uint32_t n, bool *isnull)
{
	const		__m256i byte = _mm256_setr_epi64x(0, ONES, 2 * ONES, 3 * ONES);
	const		__m256i bit =
	_mm256_set1_epi64x((long long) UINT64_C(0x8040201008040201));
	uint32_t	i = 0;

	for (; i + 32 <= n; i += 32)
	{
		__m256i		bits;

		bits = _mm256_shuffle_epi8(_mm256_set1_epi32((int) strata_load32(map +
																		 i /
																		 8)),
								   byte);
		bits = _mm256_cmpeq_epi8(_mm256_and_si256(bits, bit), bit);
		_mm256_storeu_si256((__m256i *) (isnull + i), _mm256_abs_epi8(bits));
	}
	return i;
}

/* Flags of the first rows of a map; how many. */
uint32_t
strata_nulls_simd_expand(const uint8_t *map, uint32_t n, bool *isnull)
{
	return has_avx2() ? expand(map, n, isnull) : 0;
}

/*
 * Eight rows: which of the values at hand each has, 0xff in the bytes of those
 * that have one, how many have.
 */
typedef struct Eight
{
	uint64_t	index;
	uint64_t	having;
	uint32_t	count;
} Eight;

AVX2_INLINE Eight
eight_of(const bool *isnull)
{
	uint64_t	having = strata_load64(isnull) ^ ONES;
	uint64_t	sums = having * ONES;

	return (Eight)
	{
		sums - having, having * 0xff, (uint32_t) (sums >> 56)
	};
}

AVX2_INLINE void
move_1(uint8_t *to, const uint8_t *from, const Eight *eight)
{
	__m128i		index = _mm_cvtsi64_si128((long long) (eight->index |
													   ~eight->having));

	_mm_storel_epi64((__m128i *) to,
					 _mm_shuffle_epi8(_mm_loadl_epi64((const __m128i *) from),
									  index));
}

AVX2_INLINE void
move_2(uint16_t *to, const uint16_t *from, const Eight *eight)
{
	__m128i		index;
	__m128i		null;

	index = _mm_cvtepu8_epi16(_mm_cvtsi64_si128((long long) eight->index));
	null = _mm_cvtepi8_epi16(_mm_cvtsi64_si128((long long) ~eight->having));
	index = _mm_add_epi16(_mm_mullo_epi16(index, _mm_set1_epi16(0x0202)),
						  _mm_set1_epi16(0x0100));
	_mm_storeu_si128((__m128i *) to,
					 _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *) from),
									  _mm_or_si128(index, null)));
}

AVX2_INLINE void
move_4(uint32_t *to, const uint32_t *from, const Eight *eight)
{
	__m256i		index;
	__m256i		having;
	__m256i		x;

	index = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long) eight->index));
	having =
		_mm256_cvtepi8_epi32(_mm_cvtsi64_si128((long long) eight->having));
	x = _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i *) from),
									index);
	_mm256_storeu_si256((__m256i *) to, _mm256_and_si256(x, having));
}

/* Four of eight bytes wide, from the first of `index` on. */
AVX2_INLINE void
move_8(uint64_t *to, __m256i x, uint32_t index, uint32_t having)
{
	__m256i		wide = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128((int) index));
	__m256i		mask = _mm256_cvtepi8_epi64(_mm_cvtsi32_si128((int) having));
	__m256i		halves = _mm256_or_si256(_mm256_slli_epi64(wide, 1),
										 _mm256_slli_epi64(wide, 33));

	halves = _mm256_or_si256(halves, _mm256_set1_epi64x(INT64_C(1) << 32));
	x = _mm256_permutevar8x32_epi32(x, halves);
	_mm256_storeu_si256((__m256i *) to, _mm256_and_si256(x, mask));
}

AVX2_INLINE void
move_8_eight(uint64_t *to, const uint64_t *from, const Eight *eight)
{
	/*
	 * the second four begin with the value their first row has; both are read
	 * before anything is written
	 */
	uint32_t	second = (uint32_t) (eight->index >> 32) & 0xff;
	__m256i		low = _mm256_loadu_si256((const __m256i *) from);
	__m256i		high = _mm256_loadu_si256((const __m256i *) (from + second));

	move_8(to + 4, high,
		   (uint32_t) (eight->index >> 32) - second * (uint32_t) ONES,
		   (uint32_t) (eight->having >> 32));
	move_8(to, low, (uint32_t) eight->index, (uint32_t) eight->having);
}

/*
 * The last rows first: values stand in front of their rows or in them, so
 * those of a row and the ones before it have not been written over yet.  Reads
 * at most up to the rows written.
 */
#define SPREAD(type, move) \
	do { \
		type	   *v = out; \
		while (row > left) \
		{ \
			row -= 8; \
			if (STRATA_LIKELY(strata_load64(isnull + row) == 0)) \
			{ \
				type		eight[8]; \
				left -= 8; \
				memcpy(eight, v + left, sizeof(eight)); \
				memcpy(v + row, eight, sizeof(eight)); \
			} \
			else \
			{ \
				Eight		eight = eight_of(isnull + row); \
				left -= eight.count; \
				move(v + row, v + left, &eight); \
			} \
		} \
	} while (0)

/* Rows [0, row) of a multiple of eight. */
AVX2 static void
spread_eights(void *out, unsigned width, uint32_t left, const bool *isnull,
			  uint32_t row)
{
	switch (width)
	{
		case 1:
			SPREAD(uint8_t, move_1);
			break;
		case 2:
			SPREAD(uint16_t, move_2);
			break;
		case 4:
			SPREAD(uint32_t, move_4);
			break;
		default:
			SPREAD(uint64_t, move_8_eight);
	}
}

/*
 * Move values from the start of `out` to their rows, the first n ones, a
 * multiple of eight; nulls become 0.  False where it cannot be done here.
 */
bool
strata_nulls_simd_spread(void *out, unsigned width, uint32_t values,
						 const bool *isnull, uint32_t n)
{
	if (!has_avx2())
		return false;
	spread_eights(out, width, values, isnull, n);
	return true;
}

#endif							/* STRATA_HAVE_AVX2 */
