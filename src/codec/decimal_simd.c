/*-------------------------------------------------------------------------
 *
 * decimal_simd.c
 *	  Integers over powers of ten, and back, with AVX2 and FMA.
 *
 * Hides that nothing is divided: vector division is what takes longest otherwise.
 * With r the rounded reciprocal of p = 10^e, q = i * r is off by at most 1.5 units
 * in the last place, the rest i - q * p is exact in one fused operation, and
 * q + rest * r, rounded once, is off from the quotient by less than 2^-104 of it before that.
 * No quotient of |i| < 2^51 by 10^e, e <= 15, comes as near to the middle between two
 * doubles (they differ by 1 / (10^e * 2^54) of it at least), so the result is the
 * correctly rounded one: the same bits as division gives (C11).  Greater powers are
 * left to decimal.c, as is everything on other CPUs.
 *
 * Reference: P. Markstein, "Computation of elementary functions on the IBM RISC System/6000
 * processor", IBM J. Res. Dev. 34(1), 1990 (correcting a quotient by its exact rest).
 *
 * src/codec/decimal_simd.c
 *-------------------------------------------------------------------------
 */
#include "bitstream.h"
#include "codec_private.h"

#ifndef STRATA_HAVE_AVX2

uint32_t
strata_decimal_simd_to_doubles(uint64_t *values, uint32_t n, double power)
{
	return 0;
}

uint32_t
strata_decimal_simd_to_floats(const uint64_t *values, uint32_t n, double power, float *out)
{
	return 0;
}

uint32_t
strata_decimal_simd_to_integers(const double *values, uint32_t n, double power, int64_t *integers, uint64_t *bad)
{
	return 0;
}

#else

#include <immintrin.h>

#define FMA __attribute__((target("avx2,fma")))
#define FMA_INLINE static inline __attribute__((always_inline, target("avx2,fma")))

#define POWER_MAX 1e15
#define MAGIC STRATA_DECIMAL_MAGIC
#define MAGIC_BITS ((long long) STRATA_DECIMAL_MAGIC_BITS)

/* A power of ten, and what is done with it. */
typedef struct Power
{
	__m256d		power;
	__m256d		reciprocal;
	__m256d		magic;
	__m256i		magic_bits;
} Power;

/* Is it worth while, and proven? */
static bool
usable(uint32_t n, double power)
{
	return n >= 4 && power <= POWER_MAX && !strata_codec_portable_only &&
		__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

FMA_INLINE Power
make_power(double power)
{
	return (Power) {_mm256_set1_pd(power), _mm256_set1_pd(1.0 / power), _mm256_set1_pd(MAGIC),
		_mm256_set1_epi64x(MAGIC_BITS)};
}

/* x / power, of integers x below 2^51. */
FMA_INLINE __m256d
divide(const Power *p, __m256d x)
{
	__m256d		q = _mm256_mul_pd(x, p->reciprocal);

	return _mm256_fmadd_pd(_mm256_fnmadd_pd(q, p->power, x), p->reciprocal, q);
}

/* Four integers as doubles. */
FMA_INLINE __m256d
load_integers(const Power *p, const uint64_t *from)
{
	__m256i		x = _mm256_add_epi64(_mm256_loadu_si256((const __m256i *) from), p->magic_bits);

	return _mm256_sub_pd(_mm256_castsi256_pd(x), p->magic);
}

/* Are all integers as small as encoders make them? */
FMA static bool
all_below(const uint64_t *values, uint32_t n)
{
	const __m256i half = _mm256_set1_epi64x(INT64_C(1) << 51);
	__m256i		above = _mm256_setzero_si256();

	for (uint32_t i = 0; i + 4 <= n; i += 4)
		above = _mm256_or_si256(above, _mm256_add_epi64(_mm256_loadu_si256((const __m256i *) (values + i)), half));
	above = _mm256_srli_epi64(above, 52);
	return _mm256_testz_si256(above, above);
}

/* Integers to doubles, in place; how many were done, from the first on. */
FMA uint32_t
strata_decimal_simd_to_doubles(uint64_t *values, uint32_t n, double power)
{
	uint32_t	i = 0;
	Power		p;

	if (!usable(n, power) || !all_below(values, n))
		return 0;
	p = make_power(power);
	for (; i + 4 <= n; i += 4)
		_mm256_storeu_pd((double *) (values + i), divide(&p, load_integers(&p, values + i)));
	return i;
}

/* Integers to floats; how many were done. */
FMA uint32_t
strata_decimal_simd_to_floats(const uint64_t *values, uint32_t n, double power, float *out)
{
	uint32_t	i = 0;
	Power		p;

	if (!usable(n, power) || !all_below(values, n))
		return 0;
	p = make_power(power);
	for (; i + 4 <= n; i += 4)
		_mm_storeu_ps(out + i, _mm256_cvtpd_ps(divide(&p, load_integers(&p, values + i))));
	return i;
}

/*
 * The integers of doubles, and whether they give the values back, as to_integer of
 * decimal.c; how many were done.  An integer below STRATA_DECIMAL_LIMIT does not depend
 * on how the product was rounded; others are bad anyway.
 */
FMA uint32_t
strata_decimal_simd_to_integers(const double *values, uint32_t n, double power, int64_t *integers, uint64_t *bad)
{
	const __m256d limit = _mm256_set1_pd(STRATA_DECIMAL_LIMIT);
	const __m256d no_sign = _mm256_castsi256_pd(_mm256_set1_epi64x(INT64_MAX));
	uint32_t	i = 0;
	Power		p;

	if (!usable(n, power))
		return 0;
	p = make_power(power);
	for (; i + 4 <= n; i += 4)
	{
		__m256d		value = _mm256_loadu_pd(values + i);
		__m256d		scaled = _mm256_mul_pd(value, p.power);
		__m256d		shifted = _mm256_add_pd(scaled, p.magic);
		__m256d		back = divide(&p, _mm256_sub_pd(shifted, p.magic));
		__m256i		same = _mm256_cmpeq_epi64(_mm256_castpd_si256(back), _mm256_castpd_si256(value));
		__m256i		small = _mm256_castpd_si256(_mm256_cmp_pd(_mm256_and_pd(scaled, no_sign), limit, _CMP_LT_OQ));

		_mm256_storeu_si256((__m256i *) (integers + i), _mm256_sub_epi64(_mm256_castpd_si256(shifted), p.magic_bits));
		_mm256_storeu_si256((__m256i *) (bad + i),
							_mm256_add_epi64(_mm256_and_si256(same, small), _mm256_set1_epi64x(1)));
	}
	return i;
}

#endif
