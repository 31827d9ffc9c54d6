/*-------------------------------------------------------------------------
 *
 * int_simd.c
 *	  Unpack the numbers of a block of an integer stream with AVX2;
 *	  int_simd_sums.c makes values of them.
 *
 * Hides everything about that instruction set: on other CPUs, and for other
 * compilers, strata_int_simd_usable() is false and int_stream.c decodes by
 * itself. Both give the same values for any input and reject the same input
 * (codec:C11); the tests run both.
 *
 * Numbers of at most 25 bits are unpacked eight at a time: the bytes that hold
 * a number are shuffled into its lane and shifted down.  Others, up to 57
 * bits, have lanes of 64.
 *
 * Against int_stream.c's loops, compiled for AVX2 and BMI2, decoding with
 * these files is 1.7 times as fast over all columns of the benchmark; three
 * times for integers over powers of ten and codes of dictionaries.
 *
 * Reference: D. Lemire, L. Boytsov, "Decoding billions of integers per second
 * through vectorization", Software: Practice and Experience 45(1), 2015.
 *
 * src/codec/int/int_simd.c
 *-------------------------------------------------------------------------
 */
#include "codec/bitstream.h"
#include "codec/int/int_block.h"
#include "codec/int/int_simd.h"

bool		strata_codec_portable_only = false;

#ifndef STRATA_HAVE_AVX2

bool
strata_int_simd_usable(void)
{
	return false;
}

bool
strata_int_simd_unpack(const uint8_t *from, uint32_t n, unsigned width,
					   uint64_t *out)
{
	return false;
}

void
strata_int_simd_unpack_narrow(const uint8_t *from, uint32_t n, unsigned width,
							  uint32_t *out)
{
}

bool
strata_int_simd_unary(const uint8_t *unary, unsigned nunary, unsigned k,
					  uint32_t count, uint32_t wanted, uint32_t *u)
{
	return false;
}

#else

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define AVX2_INLINE static inline __attribute__((always_inline, target("avx2")))

bool
strata_int_simd_usable(void)
{
	return !strata_codec_portable_only && __builtin_cpu_supports("avx2") &&
		__builtin_cpu_supports("bmi2");
}

/*
 * --- unpacking
 * -----------------------------------------------------------------
 */

/* Two loads of 16 bytes side by side. */
AVX2_INLINE __m256i
load_halves(const uint8_t *low, const uint8_t *high)
{
	return _mm256_inserti128_si256(
								   _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *) low)),
								   _mm_loadu_si128((const __m128i *) high), 1);
}

/*
 * Unpack n numbers of 1 .. 25 bits in groups of eight, a group being `width`
 * bytes. Reads up to 16 bytes beyond the last group, writes whole groups.
 */
AVX2 void
strata_int_simd_unpack_narrow(const uint8_t *from, uint32_t n, unsigned width,
							  uint32_t *out)
{
	/* the second half of a group starts within byte width / 2 */
	int			half = (int) width / 2;
	__m256i		bits = _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5,
															6, 7),
										  _mm256_set1_epi32((int) width));
	__m256i		byte = _mm256_sub_epi32(_mm256_srli_epi32(bits, 3),
										_mm256_setr_epi32(0, 0, 0, 0, half,
														  half,
														  half, half));
	__m256i		bytes;
	__m256i		shift = _mm256_and_si256(bits, _mm256_set1_epi32(7));
	__m256i		mask = _mm256_set1_epi32((int) strata_low_bits(width));

	bytes = _mm256_add_epi32(_mm256_mullo_epi32(byte,
												_mm256_set1_epi32(0x01010101)),
							 _mm256_set1_epi32(0x03020100));
	Assert(strata_int_simd_usable());	/* codec:C11 */
	for (uint32_t i = 0; i < n; i += 8, from += width)
	{
		__m256i		x = _mm256_shuffle_epi8(load_halves(from, from + half),
											bytes);

		x = _mm256_and_si256(_mm256_srlv_epi32(x, shift), mask);
		_mm256_storeu_si256((__m256i *) (out + i), x);
	}
}

/*
 * Which bytes of two loads hold numbers at these bits, for lanes of 64 bits.
 */
AVX2_INLINE __m256i
shuffle_of(const unsigned *bit, const unsigned *base)
{
	__m256i		byte = _mm256_setr_epi64x(bit[0] / 8 - base[0],
										  bit[1] / 8 - base[0],
										  bit[2] / 8 - base[1],
										  bit[3] / 8 - base[1]);

	/* a byte number below 16 in each byte of its lane */
	byte = _mm256_shuffle_epi8(byte,
							   _mm256_setr_epi64x(0, 0x0808080808080808, 0,
												  0x0808080808080808));
	return _mm256_add_epi8(byte, _mm256_set1_epi64x(0x0706050403020100));
}

/*
 * Unpack n numbers of 1 .. 57 bits; false for other widths.  Reads up to 16
 * bytes beyond the last group of eight, writes whole groups.
 */
AVX2 bool
strata_int_simd_unpack(const uint8_t *from, uint32_t n, unsigned width,
					   uint64_t *out)
{
	unsigned	bit[8];
	unsigned	base[4];
	__m256i		bytes[2];
	__m256i		shift[2];
	__m256i		mask = _mm256_set1_epi64x((long long) strata_low_bits(width));

	Assert(strata_int_simd_usable());	/* codec:C11 */
	if (width < 1 || width > 57)
		return false;
	for (unsigned i = 0; i < 8; i++)
		bit[i] = i * width;
	for (unsigned i = 0; i < 4; i++)
		base[i] = bit[2 * i] / 8;
	for (unsigned i = 0; i < 2; i++)
	{
		bytes[i] = shuffle_of(bit + 4 * i, base + 2 * i);
		shift[i] = _mm256_setr_epi64x(bit[4 * i] % 8, bit[4 * i + 1] % 8,
									  bit[4 * i + 2] % 8, bit[4 * i + 3] % 8);
	}
	for (uint32_t i = 0; i < n; i += 8, from += width)
		for (unsigned k = 0; k < 2; k++)
		{
			__m256i		x = _mm256_shuffle_epi8(load_halves(from + base[2 * k],
															from +
															base[2 * k + 1]),
												bytes[k]);

			x = _mm256_and_si256(_mm256_srlv_epi64(x, shift[k]), mask);
			_mm256_storeu_si256((__m256i *) (out + i + 4 * k), x);
		}
	return true;
}

/* Four numbers of a word, the first one at bit shift[0]. */
AVX2_INLINE void
unpack_four(__m256i word, __m256i shift, __m256i mask, uint64_t *out)
{
	_mm256_storeu_si256((__m256i *) out,
						_mm256_and_si256(_mm256_srlv_epi64(word, shift),
										 mask));
}

/*
 * The positions of the ones of a byte behind those before; returns what comes
 * behind them.
 */
AVX2_INLINE uint16_t *
add_ones(uint8_t byte, __m128i * base, uint16_t *next)
{
	__m128i		ones =
	_mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i
									   *) &strata_ones_of_byte[byte]));

	_mm_storeu_si128((__m128i *) next, _mm_add_epi16(ones, *base));
	*base = _mm_add_epi16(*base, _mm_set1_epi16(8));
	return next + __builtin_popcount(byte);
}

/*
 * Or the upper parts of the first wanted of count split numbers into u, which
 * has INT_BLOCK_BUFFER entries; false where read_unary of int_split.c says so.
 * All ones are found before they are counted; those of numbers that nobody
 * wants are counted only.
 */
AVX2 bool
strata_int_simd_unary(const uint8_t *unary, unsigned nunary, unsigned k,
					  uint32_t count, uint32_t wanted, uint32_t *u)
{
	uint16_t	buffer[8 + 256 * 8];
	uint16_t   *first = buffer + 8; /* positions, behind that of a one before
									 * all */
	uint16_t   *next = first;
	unsigned	i = 0;
	uint32_t	behind = 0;
	__m128i		base = _mm_setzero_si128();
	__m128i		shift = _mm_cvtsi32_si128((int) k);

	Assert(strata_int_simd_usable());	/* codec:C11 */
	if (nunary == 0 || unary[nunary - 1] == 0)
		return false;
	if (wanted < count)
	{
		for (; i < nunary && next < first + wanted; i++)
			next = add_ones(unary[i], &base, next);
		for (; i < nunary; i += 8)
			behind += (uint32_t)
				__builtin_popcountll(strata_load_partial(unary + i,
														 nunary - i));
	}
#pragma GCC unroll 4
	for (; i < nunary; i++)
		next = add_ones(unary[i], &base, next);
	if ((uint32_t) (next - first) + behind != count)
		return false;
	first[-1] = UINT16_MAX;
	for (uint32_t n = 0; n < wanted; n += 8)
	{
		__m128i		between;
		__m256i		upper;

		between = _mm_sub_epi16(_mm_loadu_si128((const __m128i *) (first + n)),
								_mm_loadu_si128((const __m128i *) (first + n -
																   1)));
		upper = _mm256_cvtepu16_epi32(_mm_sub_epi16(between,
													_mm_set1_epi16(1)));
		upper = _mm256_sll_epi32(upper, shift);
		_mm256_storeu_si256((__m256i *) (u + n),
							_mm256_or_si256(upper,
											_mm256_loadu_si256((const __m256i
																*) (u +
																	n))));
	}
	return true;
}

#endif							/* STRATA_HAVE_AVX2 */
