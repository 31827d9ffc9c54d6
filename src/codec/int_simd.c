/*-------------------------------------------------------------------------
 *
 * int_simd.c
 *	  Decode a block of an integer stream with AVX2.
 *
 * Hides everything about that instruction set: on other CPUs, and for other
 * compilers, strata_int_simd_usable() is false and int_stream.c decodes by itself.
 * Both give the same values for any input and reject the same input (C11); the
 * tests run both.
 *
 * Numbers of at most 25 bits are unpacked eight at a time: the bytes that hold a
 * number are shuffled into its lane and shifted down.  They stay 32 bits wide until
 * they are stored, where sums modulo 2^32 or products of 32 bits are all that is
 * wanted; others, up to 57 bits, have lanes of 64.
 *
 * Reference: D. Lemire, L. Boytsov, "Decoding billions of integers per second
 * through vectorization", Software: Practice and Experience 45(1), 2015.
 *
 * src/codec/int_simd.c
 *-------------------------------------------------------------------------
 */
#include "bitstream.h"
#include "int_private.h"

bool		strata_codec_portable_only = false;

#ifndef STRATA_HAVE_AVX2

bool
strata_int_simd_usable(void)
{
	return false;
}

bool
strata_int_simd_unpack(const uint8_t *from, uint32_t n, unsigned width, uint64_t *out)
{
	return false;
}

bool
strata_int_simd_simple8b(const uint8_t *selectors, const uint8_t *words, unsigned nwords, uint32_t n, uint64_t *out)
{
	return false;
}

void
strata_int_simd_rebuild(const IntHeader *h, const IntBlockState *state, const uint64_t *u, uint32_t m, uint64_t *v)
{
}

bool
strata_int_simd_narrow(const IntHeader *h, unsigned width)
{
	return false;
}

void
strata_int_simd_unpack_narrow(const uint8_t *from, uint32_t n, unsigned width, uint32_t *out)
{
}

void
strata_int_simd_rebuild_narrow(const IntHeader *h, const IntBlockState *state, const uint32_t *u, uint32_t m,
							   unsigned width, void *out)
{
}

#else

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define AVX2_INLINE static inline __attribute__((always_inline, target("avx2")))

bool
strata_int_simd_usable(void)
{
	return !strata_codec_portable_only && __builtin_cpu_supports("avx2");
}

/* --- unpacking ----------------------------------------------------------------- */

/* Two loads of 16 bytes side by side. */
AVX2_INLINE __m256i
load_halves(const uint8_t *low, const uint8_t *high)
{
	return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *) low)),
								   _mm_loadu_si128((const __m128i *) high), 1);
}

/*
 * Unpack n numbers of 1 .. 25 bits in groups of eight, a group being `width` bytes.
 * Reads up to 16 bytes beyond the last group, writes whole groups.
 */
AVX2 void
strata_int_simd_unpack_narrow(const uint8_t *from, uint32_t n, unsigned width, uint32_t *out)
{
	/* the second half of a group starts within byte width / 2 */
	int			half = (int) width / 2;
	__m256i		bits = _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32((int) width));
	__m256i		byte = _mm256_sub_epi32(_mm256_srli_epi32(bits, 3),
										_mm256_setr_epi32(0, 0, 0, 0, half, half, half, half));
	__m256i		bytes = _mm256_add_epi32(_mm256_mullo_epi32(byte, _mm256_set1_epi32(0x01010101)),
										 _mm256_set1_epi32(0x03020100));
	__m256i		shift = _mm256_and_si256(bits, _mm256_set1_epi32(7));
	__m256i		mask = _mm256_set1_epi32((int) strata_low_bits(width));

	for (uint32_t i = 0; i < n; i += 8, from += width)
	{
		__m256i		x = _mm256_shuffle_epi8(load_halves(from, from + half), bytes);

		x = _mm256_and_si256(_mm256_srlv_epi32(x, shift), mask);
		_mm256_storeu_si256((__m256i *) (out + i), x);
	}
}

/* Which bytes of two loads hold numbers at these bits, for lanes of 64 bits. */
AVX2_INLINE __m256i
shuffle_of(const unsigned *bit, const unsigned *base)
{
	__m256i		byte = _mm256_setr_epi64x(bit[0] / 8 - base[0], bit[1] / 8 - base[0],
										  bit[2] / 8 - base[1], bit[3] / 8 - base[1]);

	/* a byte number below 16 in each byte of its lane */
	byte = _mm256_shuffle_epi8(byte, _mm256_setr_epi64x(0, 0x0808080808080808, 0, 0x0808080808080808));
	return _mm256_add_epi8(byte, _mm256_set1_epi64x(0x0706050403020100));
}

/*
 * Unpack n numbers of 1 .. 57 bits; false for other widths.  Reads up to 16 bytes
 * beyond the last group of eight, writes whole groups.
 */
AVX2 bool
strata_int_simd_unpack(const uint8_t *from, uint32_t n, unsigned width, uint64_t *out)
{
	unsigned	bit[8];
	unsigned	base[4];
	__m256i		bytes[2];
	__m256i		shift[2];
	__m256i		mask = _mm256_set1_epi64x((long long) strata_low_bits(width));

	if (width < 1 || width > 57)
		return false;
	for (unsigned i = 0; i < 8; i++)
		bit[i] = i * width;
	for (unsigned i = 0; i < 4; i++)
		base[i] = bit[2 * i] / 8;
	for (unsigned i = 0; i < 2; i++)
	{
		bytes[i] = shuffle_of(bit + 4 * i, base + 2 * i);
		shift[i] = _mm256_setr_epi64x(bit[4 * i] % 8, bit[4 * i + 1] % 8, bit[4 * i + 2] % 8, bit[4 * i + 3] % 8);
	}
	for (uint32_t i = 0; i < n; i += 8, from += width)
		for (unsigned k = 0; k < 2; k++)
		{
			__m256i		x = _mm256_shuffle_epi8(load_halves(from + base[2 * k], from + base[2 * k + 1]), bytes[k]);

			x = _mm256_and_si256(_mm256_srlv_epi64(x, shift[k]), mask);
			_mm256_storeu_si256((__m256i *) (out + i + 4 * k), x);
		}
	return true;
}

/* Four numbers of a word, the first one at bit shift[0]. */
AVX2_INLINE void
unpack_four(__m256i word, __m256i shift, __m256i mask, uint64_t *out)
{
	_mm256_storeu_si256((__m256i *) out, _mm256_and_si256(_mm256_srlv_epi64(word, shift), mask));
}

/*
 * Words of simple8b-RLE, as strata_simple8b_read.  Words of at most 12 numbers are
 * unpacked as if they had 12, so that nothing is to be guessed about the next word.
 */
AVX2 bool
strata_int_simd_simple8b(const uint8_t *selectors, const uint8_t *words, unsigned nwords, uint32_t n, uint64_t *out)
{
	uint32_t	done = 0;

	for (unsigned i = 0; i < nwords; i++)
	{
		uint64_t	bits = strata_load64(words + (size_t) i * 8);
		unsigned	selector = selectors[i / 2] >> (i % 2 ? 4 : 0) & 15;
		unsigned	width = s8b_width[selector];
		__m256i		word = _mm256_set1_epi64x((long long) bits);
		__m256i		mask = _mm256_set1_epi64x((long long) strata_low_bits(width));
		__m256i		shift = _mm256_mul_epu32(_mm256_setr_epi64x(0, 1, 2, 3), _mm256_set1_epi64x(width));
		__m256i		four = _mm256_set1_epi64x(4 * width);

		if (done >= n)
			return false;
		if (selector == S8B_RUN)
		{
			uint32_t	run = (uint32_t) (bits & ((1 << S8B_RUN_BITS) - 1)) + 1;

			if (run > n - done)
				return false;
			word = _mm256_srli_epi64(word, S8B_RUN_BITS);
			for (uint32_t k = 0; k < run; k += 4)
				_mm256_storeu_si256((__m256i *) (out + done + k), word);
			done += run;
			continue;
		}
		unpack_four(word, shift, mask, out + done);
		shift = _mm256_add_epi64(shift, four);
		unpack_four(word, shift, mask, out + done + 4);
		shift = _mm256_add_epi64(shift, four);
		unpack_four(word, shift, mask, out + done + 8);
		for (uint32_t k = 12; k < s8b_count[selector]; k += 4)
		{
			shift = _mm256_add_epi64(shift, four);
			unpack_four(word, shift, mask, out + done + k);
		}
		done += s8b_count[selector];
	}
	return done >= n;
}

/* --- lanes of 32 bits ------------------------------------------------------------ */

/* What turns numbers into values, modulo 2^32. */
typedef struct Lanes32
{
	__m256i		base;			/* of the residuals, times the divisor */
	__m256i		divisor;
	bool		based;
	bool		scaled;
} Lanes32;

/* Residuals times the divisor. */
AVX2_INLINE __m256i
residuals32(const Lanes32 *lanes, __m256i u)
{
	if (!lanes->based)
		u = _mm256_xor_si256(_mm256_srli_epi32(u, 1),
							 _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_and_si256(u, _mm256_set1_epi32(1))));
	if (lanes->scaled)
		u = _mm256_mullo_epi32(u, lanes->divisor);
	return lanes->based ? _mm256_add_epi32(u, lanes->base) : u;
}

/* Running sums of eight numbers, continuing *carry. */
AVX2_INLINE __m256i
sums32(__m256i x, __m256i *carry)
{
	__m256i		before = *carry;
	__m256i		half;

	x = _mm256_add_epi32(x, _mm256_slli_si256(x, 4));
	x = _mm256_add_epi32(x, _mm256_slli_si256(x, 8));
	half = _mm256_shuffle_epi32(x, 0xff);
	x = _mm256_add_epi32(x, _mm256_permute2x128_si256(half, half, 0x08));
	*carry = _mm256_add_epi32(before, _mm256_permutevar8x32_epi32(x, _mm256_set1_epi32(7)));
	return _mm256_add_epi32(x, before);
}

/* Store eight values, or the last few. */
AVX2_INLINE void
store32(uint32_t *out, __m256i x, uint32_t left)
{
	uint32_t	last[8];

	if (left >= 8)
		_mm256_storeu_si256((__m256i *) out, x);
	else
	{
		_mm256_storeu_si256((__m256i *) last, x);
		for (uint32_t i = 0; i < left; i++)
			out[i] = last[i];
	}
}

/* The values of a block; `transform`, based and scaled are constants to the compiler. */
AVX2_INLINE void
values32(IntTransform transform, Lanes32 lanes, uint32_t start, uint32_t slope,
		 const uint32_t *u, uint32_t m, uint32_t *out)
{
	uint32_t	count = m > (uint32_t) transform ? m - (uint32_t) transform : 0;
	__m256i		value = _mm256_set1_epi32((int) (transform == INT_DELTA_DELTA ? start + slope : start));
	__m256i		step = _mm256_set1_epi32((int) slope);

	if (transform != INT_VALUES)
		*out++ = start;
	if (transform == INT_DELTA_DELTA && m > 1)
		*out++ = start + slope;
	for (uint32_t i = 0; i < count; i += 8)
	{
		__m256i		x = residuals32(&lanes, _mm256_loadu_si256((const __m256i *) (u + i)));

		if (transform == INT_DELTA_DELTA)
			x = sums32(x, &step);
		x = transform == INT_VALUES ? _mm256_add_epi32(x, value) : sums32(x, &value);
		store32(out + i, x, count - i);
	}
}

/* A loop of its own for each transform and kind of number. */
#define EACH_SHAPE(values_fn, lanes, transform, ...) \
	do { \
		switch ((transform) * 4 + lanes.based * 2 + lanes.scaled) \
		{ \
			ONE_SHAPE(values_fn, lanes, INT_VALUES, false, __VA_ARGS__) \
			ONE_SHAPE(values_fn, lanes, INT_VALUES, true, __VA_ARGS__) \
			ONE_SHAPE(values_fn, lanes, INT_DELTA, false, __VA_ARGS__) \
			ONE_SHAPE(values_fn, lanes, INT_DELTA, true, __VA_ARGS__) \
			ONE_SHAPE(values_fn, lanes, INT_DELTA_DELTA, false, __VA_ARGS__) \
			ONE_SHAPE(values_fn, lanes, INT_DELTA_DELTA, true, __VA_ARGS__) \
		} \
	} while (0)
#define ONE_SHAPE(values_fn, lanes, transform, is_based, ...) \
	case (transform) * 4 + (is_based) * 2: \
		lanes.based = is_based; \
		lanes.scaled = false; \
		values_fn(transform, lanes, __VA_ARGS__); \
		break; \
	case (transform) * 4 + (is_based) * 2 + 1: \
		lanes.based = is_based; \
		lanes.scaled = true; \
		values_fn(transform, lanes, __VA_ARGS__); \
		break;

/* Where the values of a block start: the values themselves have one start for all blocks. */
STRATA_INLINE uint64_t
block_start(const IntHeader *h, const IntBlockState *state)
{
	return h->first + (h->shape.transform == INT_VALUES ? 0 : h->divisor * (uint64_t) state->start);
}

AVX2 static void
rebuild32(const IntHeader *h, const IntBlockState *state, const uint32_t *u, uint32_t m, uint32_t *out)
{
	Lanes32		lanes = {.based = h->shape.based, .scaled = h->divisor != 1};

	lanes.base = _mm256_set1_epi32((int) (uint32_t) (h->divisor * (uint64_t) state->base));
	lanes.divisor = _mm256_set1_epi32((int) (uint32_t) h->divisor);
	EACH_SHAPE(values32, lanes, h->shape.transform, (uint32_t) block_start(h, state),
			   (uint32_t) (h->divisor * (uint64_t) state->slope), u, m, out);
}

/* --- lanes of 64 bits ------------------------------------------------------------ */

typedef struct Lanes64
{
	__m256i		base;
	__m256i		divisor;
	__m256i		divisor_high;
	bool		based;
	bool		scaled;
} Lanes64;

/* The low 64 bits of products. */
AVX2_INLINE __m256i
multiply64(const Lanes64 *lanes, __m256i x)
{
	__m256i		cross = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(x, 32), lanes->divisor),
										 _mm256_mul_epu32(x, lanes->divisor_high));

	return _mm256_add_epi64(_mm256_mul_epu32(x, lanes->divisor), _mm256_slli_epi64(cross, 32));
}

/* Running sums of four numbers, continuing *carry. */
AVX2_INLINE __m256i
sums64(__m256i x, __m256i *carry)
{
	__m256i		before = *carry;
	__m256i		half;

	x = _mm256_add_epi64(x, _mm256_slli_si256(x, 8));
	half = _mm256_permute4x64_epi64(x, 0x50);
	x = _mm256_add_epi64(x, _mm256_blend_epi32(_mm256_setzero_si256(), half, 0xf0));
	*carry = _mm256_add_epi64(before, _mm256_permute4x64_epi64(x, 0xff));
	return _mm256_add_epi64(x, before);
}

AVX2_INLINE void
store64(uint64_t *out, __m256i x, uint32_t left)
{
	uint64_t	last[4];

	if (left >= 4)
		_mm256_storeu_si256((__m256i *) out, x);
	else
	{
		_mm256_storeu_si256((__m256i *) last, x);
		for (uint32_t i = 0; i < left; i++)
			out[i] = last[i];
	}
}

/* Four residuals times the divisor. */
AVX2_INLINE __m256i
residuals64(const Lanes64 *lanes, __m256i u)
{
	if (!lanes->based)
		u = _mm256_xor_si256(_mm256_srli_epi64(u, 1),
							 _mm256_sub_epi64(_mm256_setzero_si256(), _mm256_and_si256(u, _mm256_set1_epi64x(1))));
	if (lanes->scaled)
		u = multiply64(lanes, u);
	return lanes->based ? _mm256_add_epi64(u, lanes->base) : u;
}

/* Four residuals from numbers below 2^32, times a divisor below 2^31. */
AVX2_INLINE __m256i
residuals32_to_64(const Lanes64 *lanes, __m128i u)
{
	__m256i		x;

	if (lanes->based)
	{
		x = _mm256_cvtepu32_epi64(u);
		if (lanes->scaled)
			x = _mm256_mul_epu32(x, lanes->divisor);
		return _mm256_add_epi64(x, lanes->base);
	}
	u = _mm_xor_si128(_mm_srli_epi32(u, 1), _mm_sub_epi32(_mm_setzero_si128(), _mm_and_si128(u, _mm_set1_epi32(1))));
	x = _mm256_cvtepi32_epi64(u);
	return lanes->scaled ? _mm256_mul_epi32(x, lanes->divisor) : x;
}

/* The values of a block from numbers of 64 bits, or of 32 if `narrow`. */
AVX2_INLINE void
values64(IntTransform transform, Lanes64 lanes, uint64_t start, uint64_t slope, bool narrow,
		 const void *u, uint32_t m, uint64_t *out)
{
	uint32_t	count = m > (uint32_t) transform ? m - (uint32_t) transform : 0;
	__m256i		value = _mm256_set1_epi64x((long long) (transform == INT_DELTA_DELTA ? start + slope : start));
	__m256i		step = _mm256_set1_epi64x((long long) slope);

	if (transform != INT_VALUES)
		*out++ = start;
	if (transform == INT_DELTA_DELTA && m > 1)
		*out++ = start + slope;
	for (uint32_t i = 0; i < count; i += 4)
	{
		__m256i		x;

		if (narrow)
			x = residuals32_to_64(&lanes, _mm_loadu_si128((const __m128i *) ((const uint32_t *) u + i)));
		else
			x = residuals64(&lanes, _mm256_loadu_si256((const __m256i *) ((const uint64_t *) u + i)));
		if (transform == INT_DELTA_DELTA)
			x = sums64(x, &step);
		x = transform == INT_VALUES ? _mm256_add_epi64(x, value) : sums64(x, &value);
		store64(out + i, x, count - i);
	}
}

AVX2_INLINE Lanes64
lanes64(const IntHeader *h, const IntBlockState *state)
{
	return (Lanes64) {
		.base = _mm256_set1_epi64x((long long) (h->divisor * (uint64_t) state->base)),
		.divisor = _mm256_set1_epi64x((long long) h->divisor),
		.divisor_high = _mm256_set1_epi64x((long long) (h->divisor >> 32)),
		.based = h->shape.based,
		.scaled = h->divisor != 1
	};
}

/*
 * The m values of a block from its numbers.  u has INT_BLOCK_BUFFER entries; v may
 * be anywhere but in u.
 */
AVX2 void
strata_int_simd_rebuild(const IntHeader *h, const IntBlockState *state, const uint64_t *u, uint32_t m, uint64_t *v)
{
	Lanes64		lanes = lanes64(h, state);

	EACH_SHAPE(values64, lanes, h->shape.transform, block_start(h, state), h->divisor * (uint64_t) state->slope,
			   false, u, m, v);
}

AVX2 static void
rebuild32_to_64(const IntHeader *h, const IntBlockState *state, const uint32_t *u, uint32_t m, uint64_t *v)
{
	Lanes64		lanes = lanes64(h, state);

	EACH_SHAPE(values64, lanes, h->shape.transform, block_start(h, state), h->divisor * (uint64_t) state->slope,
			   true, u, m, v);
}

/* --- numbers of 32 bits to values of any width ------------------------------------- */

/* Can numbers below 2^32 become values of this width without being widened first? */
bool
strata_int_simd_narrow(const IntHeader *h, unsigned width)
{
	return width < 8 || h->divisor >> 31 == 0;
}

AVX2 static void
store16(const uint32_t *v, uint32_t n, uint16_t *out)
{
	for (uint32_t i = 0; i < n; i++)
		out[i] = (uint16_t) v[i];
}

AVX2 static void
store8(const uint32_t *v, uint32_t n, uint8_t *out)
{
	for (uint32_t i = 0; i < n; i++)
		out[i] = (uint8_t) v[i];
}

/* The m values of a block, `width` bytes each, from its numbers; u has INT_BLOCK_BUFFER entries. */
AVX2 void
strata_int_simd_rebuild_narrow(const IntHeader *h, const IntBlockState *state, const uint32_t *u, uint32_t m,
							   unsigned width, void *out)
{
	uint32_t	v[INT_BLOCK_MAX];

	if (width == 8)
		rebuild32_to_64(h, state, u, m, out);
	else if (width == 4)
		rebuild32(h, state, u, m, out);
	else
	{
		rebuild32(h, state, u, m, v);
		if (width == 2)
			store16(v, m, out);
		else
			store8(v, m, out);
	}
}

#endif							/* STRATA_HAVE_AVX2 */
