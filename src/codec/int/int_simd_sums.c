/*-------------------------------------------------------------------------
 *
 * int_simd_sums.c
 *	  Values of a block of an integer stream from its numbers, with AVX2.
 *
 * Hides what a block goes through on the way: numbers to residuals, times the
 * divisor, running sums, and what the sums are to become, in one pass over the
 * block.  Sums are kept in lanes of 32 bits where values of 32 or 16 bits are
 * wanted, or doubles of integers that are known to be below 2^31; else in
 * lanes of 64, also if the numbers have 32 bits.
 *
 * As with int_simd.c, nothing here is called where strata_int_simd_usable() is
 * false, and int_stream.c gives the same values by itself (codec:C11).
 *
 * Over 600 lines: each step in 32 and in 64 bits, and its callers.
 *
 * src/codec/int/int_simd_sums.c
 *-------------------------------------------------------------------------
 */
#include "codec/bitstream.h"
#include "codec/decimal_divide.h"
#include "codec/int/int_simd.h"

#ifndef STRATA_HAVE_AVX2

void
strata_int_simd_rebuild(const IntHeader *h, const IntBlockState *state,
						const uint64_t *u, uint32_t m, uint64_t *v)
{
}

bool
strata_int_simd_rotated(const IntHeader *h, const IntBlockState *state,
						const uint64_t *u, uint32_t m, uint64_t *v)
{
	return false;
}

bool
strata_int_simd_narrow(const IntHeader *h, unsigned width)
{
	return false;
}

void
strata_int_simd_rebuild_narrow(const IntHeader *h, const IntBlockState *state,
							   unsigned bits, const uint32_t *u, uint32_t m,
							   unsigned width, void *out)
{
}

bool
strata_int_simd_doubles(const IntHeader *h, const IntBlockState *state,
						unsigned bits, const uint32_t *u, uint32_t m,
						double power, double *out)
{
	return false;
}

#else

#define AVX2 __attribute__((target("avx2")))
#define AVX2_INLINE static inline __attribute__((always_inline, target("avx2")))

/*
 * --- a loop of its own for each shape
 * --------------------------------------------
 */

/*
 * Calls values_fn(transform, lanes, ...) with lanes.based, lanes.scaled and
 * the transform constants to the compiler.
 */
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

/*
 * Where the values of a block start: the values themselves have one start for
 * all blocks.
 */
STRATA_INLINE uint64_t
block_start(const IntHeader *h, const IntBlockState *state)
{
	return h->first + (h->shape.transform == INT_VALUES ?
					   0 :
					   h->divisor * (uint64_t) state->start);
}

STRATA_INLINE uint64_t
block_slope(const IntHeader *h, const IntBlockState *state)
{
	return h->divisor * (uint64_t) state->slope;
}

/*
 * --- lanes of 32 bits
 * ------------------------------------------------------------
 */

/* What turns numbers into values, modulo 2^32. */
typedef struct Lanes32
{
	__m256i		base;			/* of the residuals, times the divisor */
	__m256i		divisor;
	bool		based;
	bool		scaled;
} Lanes32;

AVX2_INLINE Lanes32
lanes32(const IntHeader *h, const IntBlockState *state)
{
	return (Lanes32)
	{
		.base =
			_mm256_set1_epi32((int) (uint32_t) (h->divisor *
												(uint64_t)
												state->base)),
			.divisor = _mm256_set1_epi32((int) (uint32_t) h->divisor),
			.based = h->shape.based,
			.scaled = h->divisor != 1
	};
}

/* Residuals times the divisor. */
AVX2_INLINE __m256i
residuals32(const Lanes32 *lanes, __m256i u)
{
	if (!lanes->based)
		u = _mm256_xor_si256(_mm256_srli_epi32(u, 1),
							 _mm256_sub_epi32(_mm256_setzero_si256(),
											  _mm256_and_si256(u, _mm256_set1_epi32(1))));
	if (lanes->scaled)
		u = _mm256_mullo_epi32(u, lanes->divisor);
	return lanes->based ? _mm256_add_epi32(u, lanes->base) : u;
}

/* Running sums of eight numbers, continuing *carry. */
AVX2_INLINE __m256i
sums32(__m256i x, __m256i * carry)
{
	__m256i		before = *carry;
	__m256i		half;

	x = _mm256_add_epi32(x, _mm256_slli_si256(x, 4));
	x = _mm256_add_epi32(x, _mm256_slli_si256(x, 8));
	half = _mm256_shuffle_epi32(x, 0xff);
	x = _mm256_add_epi32(x, _mm256_permute2x128_si256(half, half, 0x08));
	*carry = _mm256_permutevar8x32_epi32(x, _mm256_set1_epi32(7));
	*carry = _mm256_add_epi32(before, *carry);
	return _mm256_add_epi32(x, before);
}

/* What eight sums of 32 bits become. */
typedef enum Lanes32To
{
	TO_16,						/* their low halves */
	TO_32,
	TO_DOUBLE,
	TO_QUOTIENT					/* doubles, over a power of ten */
} Lanes32To;

FMA_INLINE void
store_doubles(Lanes32To to, const Power *power, __m256i x, double *out)
{
	__m256d		low = _mm256_cvtepi32_pd(_mm256_castsi256_si128(x));
	__m256d		high = _mm256_cvtepi32_pd(_mm256_extracti128_si256(x, 1));

	_mm256_storeu_pd(out, to == TO_QUOTIENT ? divide(power, low) : low);
	_mm256_storeu_pd(out + 4, to == TO_QUOTIENT ? divide(power, high) : high);
}

AVX2_INLINE void
store_integers(Lanes32To to, __m256i x, void *out)
{
	if (to == TO_16)
	{
		x = _mm256_and_si256(x, _mm256_set1_epi32(0xffff));
		x = _mm256_permute4x64_epi64(_mm256_packus_epi32(x, x), 0x08);
		_mm_storeu_si128((__m128i *) out, _mm256_castsi256_si128(x));
	}
	else
		_mm256_storeu_si256((__m256i *) out, x);
}

/* The next eight sums of a block. */
AVX2_INLINE __m256i
next32(IntTransform transform, const Lanes32 *lanes, const uint32_t *u,
	   __m256i * step, __m256i * value)
{
	__m256i		x = residuals32(lanes,
								_mm256_loadu_si256((const __m256i *) u));

	if (transform == INT_DELTA_DELTA)
		x = sums32(x, step);
	return transform == INT_VALUES ? _mm256_add_epi32(x, *value) :
		sums32(x, value);
}

/*
 * A loop over the numbers of a block, written once for both instruction sets:
 * store(x, at) puts eight values at index `at`, width bytes each.  The last
 * ones go through a buffer, as nothing may be written behind them.
 */
#define VALUES32(transform, lanes, start, slope, u, m, width, out, store) \
	do \
	{ \
		uint32_t head = (m) < (uint32_t) (transform) ? \
							(m) : \
							(uint32_t) (transform); \
		uint32_t count = (m) -head; \
		const uint32_t *number = (u); \
		__m256i value = _mm256_set1_epi32((int) ((transform) == \
														 INT_DELTA_DELTA ? \
													 (start) + (slope) : \
													 (start))); \
		__m256i step = _mm256_set1_epi32((int) (slope)); \
		__m256i x; \
		if ((transform) != INT_VALUES) \
		{ \
			uint64_t first[8]; \
			x = _mm256_setr_epi32((int) (start), (int) ((start) + (slope)), \
								  0, 0, 0, 0, 0, 0); \
			store(x, first); \
			memcpy(out, first, (size_t) head *(width)); \
			out += (size_t) head * (width); \
		} \
		for (uint32_t left = count / 8; left > 0; \
			 left--, number += 8, out += 8 * (width)) \
		{ \
			x = next32(transform, &lanes, number, &step, &value); \
			store(x, out); \
		} \
		if (count % 8 > 0) \
		{ \
			uint64_t last[8]; \
			x = next32(transform, &lanes, number, &step, &value); \
			store(x, last); \
			memcpy(out, last, count % 8 * (size_t) (width)); \
		} \
	} while (0)

/*
 * The values of a block; `transform` and what `lanes` says of the shape are
 * constants to the compiler.
 */
AVX2_INLINE void
integers32(IntTransform transform, Lanes32 lanes, Lanes32To to, uint32_t start,
		   uint32_t slope, const uint32_t *u, uint32_t m, uint8_t *out)
{
	const size_t width = to == TO_16 ? 2 : 4;

#define STORE(x, at) store_integers(to, x, at)
	VALUES32(transform, lanes, start, slope, u, m, width, out, STORE);
#undef STORE
}

FMA_INLINE void
doubles32(IntTransform transform, Lanes32 lanes, Lanes32To to,
		  const Power *power, uint32_t start, uint32_t slope,
		  const uint32_t *u, uint32_t m, uint8_t *out)
{
#define STORE(x, at) store_doubles(to, power, x, (double *) (at))
	VALUES32(transform, lanes, start, slope, u, m, sizeof(double), out, STORE);
#undef STORE
}

/* Eight sums of 32 bits, times the divisor, from `start` on. */
AVX2_INLINE void
store_wide(bool scaled, __m256i divisor, __m256i start, __m256i x,
		   uint8_t *out)
{
	__m256i		low = _mm256_cvtepi32_epi64(_mm256_castsi256_si128(x));
	__m256i		high = _mm256_cvtepi32_epi64(_mm256_extracti128_si256(x, 1));

	if (scaled)
	{
		low = _mm256_mul_epi32(low, divisor);
		high = _mm256_mul_epi32(high, divisor);
	}
	_mm256_storeu_si256((__m256i *) out, _mm256_add_epi64(low, start));
	_mm256_storeu_si256((__m256i *) (out + 32), _mm256_add_epi64(high, start));
}

/*
 * Values of 64 bits, where sums of 32 hold the distances from the start before
 * they are scaled.
 */
AVX2_INLINE void
wide32(IntTransform transform, Lanes32 lanes, uint64_t divisor, uint64_t start,
	   uint32_t slope, const uint32_t *u, uint32_t m, uint8_t *out)
{
	const		__m256i by = _mm256_set1_epi64x((long long) divisor);
	const		__m256i from = _mm256_set1_epi64x((long long) start);
	const bool	scaled = lanes.scaled;

	lanes.scaled = false;
#define STORE(x, at) store_wide(scaled, by, from, x, (uint8_t *) (at))
	VALUES32(transform, lanes, 0, slope, u, m, sizeof(uint64_t), out, STORE);
#undef STORE
}

AVX2 static void
rebuild_wide(const IntHeader *h, const IntBlockState *state, const uint32_t *u,
			 uint32_t m, uint8_t *out)
{
	Lanes32		lanes = lanes32(h, state);

	lanes.base = _mm256_set1_epi32((int) (uint32_t) state->base);
	EACH_SHAPE(wide32, lanes, h->shape.transform, h->divisor,
			   block_start(h, state), (uint32_t) state->slope, u, m, out);
}

AVX2 static void
rebuild32(const IntHeader *h, const IntBlockState *state, const uint32_t *u,
		  uint32_t m, uint8_t *out)
{
	Lanes32		lanes = lanes32(h, state);

	EACH_SHAPE(integers32, lanes, h->shape.transform, TO_32,
			   (uint32_t) block_start(h, state),
			   (uint32_t) block_slope(h, state), u, m, out);
}

AVX2 static void
rebuild16(const IntHeader *h, const IntBlockState *state, const uint32_t *u,
		  uint32_t m, uint8_t *out)
{
	Lanes32		lanes = lanes32(h, state);

	EACH_SHAPE(integers32, lanes, h->shape.transform, TO_16,
			   (uint32_t) block_start(h, state),
			   (uint32_t) block_slope(h, state), u, m, out);
}

FMA static void
rebuild_doubles(const IntHeader *h, const IntBlockState *state,
				const uint32_t *u, uint32_t m, uint8_t *out)
{
	Lanes32		lanes = lanes32(h, state);
	Power		power = make_power(1.0);

	EACH_SHAPE(doubles32, lanes, h->shape.transform, TO_DOUBLE, &power,
			   (uint32_t) block_start(h, state),
			   (uint32_t) block_slope(h, state), u, m, out);
}

FMA static void
rebuild_quotients(const IntHeader *h, const IntBlockState *state,
				  const uint32_t *u, uint32_t m, double divisor, uint8_t *out)
{
	Lanes32		lanes = lanes32(h, state);
	Power		power = make_power(divisor);

	EACH_SHAPE(doubles32, lanes, h->shape.transform, TO_QUOTIENT, &power,
			   (uint32_t) block_start(h, state),
			   (uint32_t) block_slope(h, state), u, m, out);
}

/*
 * Are all values of a block, whose numbers have `bits` bits, below 2^31
 * whatever the numbers are?
 */
static bool
fits32(const IntHeader *h, const IntBlockState *state, unsigned bits,
	   uint32_t m)
{
	double		start = (double) (int64_t) block_start(h, state);
	double		slope = (double) (int64_t) block_slope(h, state);
	double		base = h->shape.based ? (double) state->base : 0;
	double		residual = ((double) (UINT64_C(1) << bits) +
							(base < 0 ? -base : base)) *
	(double) h->divisor;
	double		most = start < 0 ? -start : start;

	if (h->shape.transform == INT_DELTA_DELTA)
		most += ((slope < 0 ? -slope : slope) + residual * m) * m;
	else
		most += residual * (h->shape.transform == INT_DELTA ? m : 1);
	return most < 2147483647.0;
}

/*
 * The m values of a block, over a power of ten, from its numbers of `bits` (at
 * most 32) bits; false if they are to be had another way.  u has
 * INT_BLOCK_BUFFER entries.
 */
bool
strata_int_simd_doubles(const IntHeader *h, const IntBlockState *state,
						unsigned bits, const uint32_t *u, uint32_t m,
						double power, double *out)
{
	if (!divide_usable(power) || !fits32(h, state, bits, m))
		return false;
	if (power == 1.0)
		rebuild_doubles(h, state, u, m, (uint8_t *) out);
	else
		rebuild_quotients(h, state, u, m, power, (uint8_t *) out);
	return true;
}

/*
 * --- lanes of 64 bits
 * ------------------------------------------------------------
 */

typedef struct Lanes64
{
	__m256i		base;
	__m256i		divisor;
	__m256i		divisor_high;
	bool		based;
	bool		scaled;
} Lanes64;

/* Which numbers a loop has, and what sums of 64 bits become. */
typedef enum Lanes64Way
{
	FROM_64,
	FROM_32,
	ROTATED						/* from 64; values of which the sums are the
								 * rotated bits */
} Lanes64Way;

AVX2_INLINE Lanes64
lanes64(const IntHeader *h, const IntBlockState *state)
{
	return (Lanes64)
	{
		.base = _mm256_set1_epi64x((long long) (h->divisor *
												(uint64_t)
												state->base)),
			.divisor = _mm256_set1_epi64x((long long) h->divisor),
			.divisor_high =
			_mm256_set1_epi64x((long long) (h->divisor >> 32)),
			.based = h->shape.based,
			.scaled = h->divisor != 1
	};
}

/* The low 64 bits of products. */
AVX2_INLINE __m256i
multiply64(const Lanes64 *lanes, __m256i x)
{
	__m256i		cross;

	cross = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(x, 32),
											  lanes->divisor),
							 _mm256_mul_epu32(x, lanes->divisor_high));
	return _mm256_add_epi64(_mm256_mul_epu32(x, lanes->divisor),
							_mm256_slli_epi64(cross, 32));
}

/* Running sums of four numbers, continuing *carry. */
AVX2_INLINE __m256i
sums64(__m256i x, __m256i * carry)
{
	__m256i		before = *carry;
	__m256i		half;

	x = _mm256_add_epi64(x, _mm256_slli_si256(x, 8));
	half = _mm256_permute4x64_epi64(x, 0x50);
	x = _mm256_add_epi64(x, _mm256_blend_epi32(_mm256_setzero_si256(), half,
											   0xf0));
	*carry = _mm256_add_epi64(before, _mm256_permute4x64_epi64(x, 0xff));
	return _mm256_add_epi64(x, before);
}

/* Four residuals times the divisor. */
AVX2_INLINE __m256i
residuals64(const Lanes64 *lanes, __m256i u)
{
	if (!lanes->based)
		u = _mm256_xor_si256(_mm256_srli_epi64(u, 1),
							 _mm256_sub_epi64(_mm256_setzero_si256(),
											  _mm256_and_si256(u, _mm256_set1_epi64x(1))));
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
	u = _mm_xor_si128(_mm_srli_epi32(u, 1),
					  _mm_sub_epi32(_mm_setzero_si128(),
									_mm_and_si128(u, _mm_set1_epi32(1))));
	x = _mm256_cvtepi32_epi64(u);
	return lanes->scaled ? _mm256_mul_epi32(x, lanes->divisor) : x;
}

/* What rotate_bits of decimal.c did to doubles, undone. */
AVX2_INLINE __m256i
rotate64(__m256i x)
{
	x = _mm256_xor_si256(x, _mm256_set1_epi64x(INT64_MIN));
	return _mm256_or_si256(_mm256_srli_epi64(x, 1), _mm256_slli_epi64(x, 63));
}

/* The next four values of a block. */
AVX2_INLINE __m256i
next64(IntTransform transform, const Lanes64 *lanes, Lanes64Way way,
	   const void *u, __m256i * step, __m256i * value)
{
	__m256i		x;

	if (way == FROM_32)
		x = residuals32_to_64(lanes, _mm_loadu_si128((const __m128i *) u));
	else
		x = residuals64(lanes, _mm256_loadu_si256((const __m256i *) u));
	if (transform == INT_DELTA_DELTA)
		x = sums64(x, step);
	x = transform == INT_VALUES ? _mm256_add_epi64(x, *value) :
		sums64(x, value);
	return way == ROTATED ? rotate64(x) : x;
}

/* The values of a block. */
AVX2_INLINE void
values64(IntTransform transform, Lanes64 lanes, Lanes64Way way, uint64_t start,
		 uint64_t slope, const uint8_t *u, uint32_t m, uint64_t *out)
{
	const size_t each = way == FROM_32 ? sizeof(uint32_t) : sizeof(uint64_t);
	uint32_t	head = m < (uint32_t) transform ? m : (uint32_t) transform;
	uint32_t	count = m - head;
	__m256i		value = _mm256_set1_epi64x((long long) (transform ==
														INT_DELTA_DELTA ?
														start + slope :
														start));
	__m256i		step = _mm256_set1_epi64x((long long) slope);
	uint64_t	last[4];

	if (transform != INT_VALUES)
	{
		__m256i		x = _mm256_setr_epi64x((long long) start,
										   (long long) (start + slope), 0, 0);

		_mm256_storeu_si256((__m256i *) last,
							way == ROTATED ? rotate64(x) : x);
		memcpy(out, last, head * sizeof(uint64_t));
		out += head;
	}
	for (uint32_t left = count / 4; left > 0; left--, u += 4 * each, out += 4)
		_mm256_storeu_si256((__m256i *) out,
							next64(transform, &lanes, way, u, &step, &value));
	if (count % 4 > 0)
	{
		_mm256_storeu_si256((__m256i *) last,
							next64(transform, &lanes, way, u, &step, &value));
		memcpy(out, last, count % 4 * sizeof(uint64_t));
	}
}

/*
 * The m values of a block from its numbers.  u has INT_BLOCK_BUFFER entries; v
 * may be anywhere but in u.
 */
AVX2 void
strata_int_simd_rebuild(const IntHeader *h, const IntBlockState *state,
						const uint64_t *u, uint32_t m, uint64_t *v)
{
	Lanes64		lanes = lanes64(h, state);

	Assert(strata_int_simd_usable());	/* codec:C11 */
	EACH_SHAPE(values64, lanes, h->shape.transform, FROM_64,
			   block_start(h, state), block_slope(h, state),
			   (const uint8_t *) u, m, v);
}

AVX2 static void
rebuild32_to_64(const IntHeader *h, const IntBlockState *state,
				const uint32_t *u, uint32_t m, uint64_t *v)
{
	Lanes64		lanes = lanes64(h, state);

	EACH_SHAPE(values64, lanes, h->shape.transform, FROM_32,
			   block_start(h, state), block_slope(h, state),
			   (const uint8_t *) u, m, v);
}

/*
 * The same for values whose rotated bits are in the stream; false where they
 * are scaled.
 */
AVX2 bool
strata_int_simd_rotated(const IntHeader *h, const IntBlockState *state,
						const uint64_t *u, uint32_t m, uint64_t *v)
{
	Lanes64		lanes = lanes64(h, state);
	uint64_t	start = block_start(h, state);
	uint64_t	slope = block_slope(h, state);
	const uint8_t *from = (const uint8_t *) u;

	Assert(strata_int_simd_usable());	/* codec:C11 */
	if (lanes.scaled || h->shape.transform == INT_DELTA_DELTA)
		return false;
	lanes.scaled = false;
	if (h->shape.transform == INT_VALUES && lanes.based)
	{
		lanes.based = true;
		values64(INT_VALUES, lanes, ROTATED, start, slope, from, m, v);
	}
	else if (h->shape.transform == INT_DELTA && lanes.based)
	{
		lanes.based = true;
		values64(INT_DELTA, lanes, ROTATED, start, slope, from, m, v);
	}
	else if (h->shape.transform == INT_DELTA)
	{
		lanes.based = false;
		values64(INT_DELTA, lanes, ROTATED, start, slope, from, m, v);
	}
	else
		return false;
	return true;
}

/*
 * --- numbers of 32 bits to values of any width
 * -------------------------------------
 */

/*
 * Can numbers below 2^32 become values of this width without being widened
 * first?
 */
bool
strata_int_simd_narrow(const IntHeader *h, unsigned width)
{
	return width < 8 || h->divisor >> 31 == 0;
}

/*
 * Do sums of 32 bits hold the distances of values from the first one, divided
 * by the divisor?
 */
static bool
distances_fit32(const IntHeader *h, const IntBlockState *state, unsigned bits,
				uint32_t m)
{
	IntHeader	plain = {.shape = h->shape,.divisor = 1};
	IntBlockState distance = {.base = state->base,.slope = state->slope};

	return fits32(&plain, &distance, bits, m);
}

/*
 * The m values of a block, `width` bytes each, from its numbers of `bits`
 * bits; u has INT_BLOCK_BUFFER entries.
 */
AVX2 void
strata_int_simd_rebuild_narrow(const IntHeader *h, const IntBlockState *state,
							   unsigned bits, const uint32_t *u, uint32_t m,
							   unsigned width, void *out)
{
	uint32_t	v[INT_BLOCK_MAX];

	Assert(strata_int_simd_usable());	/* codec:C11 */
	if (width == 8 && distances_fit32(h, state, bits, m))
		rebuild_wide(h, state, u, m, out);
	else if (width == 8)
		rebuild32_to_64(h, state, u, m, out);
	else if (width == 4)
		rebuild32(h, state, u, m, out);
	else if (width == 2)
		rebuild16(h, state, u, m, out);
	else
	{
		rebuild32(h, state, u, m, (uint8_t *) v);
		for (uint32_t i = 0; i < m; i++)
			((uint8_t *) out)[i] = (uint8_t) v[i];
	}
}

#endif							/* STRATA_HAVE_AVX2 */
