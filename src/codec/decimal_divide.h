/*-------------------------------------------------------------------------
 *
 * decimal_divide.h
 *	  Integers over a power of ten, with AVX2 and FMA.
 *
 * Hides that nothing is divided: vector division is what takes longest
 * otherwise. With r the rounded reciprocal of p = 10^e, q = i * r is off by at
 * most 1.5 units in the last place, the rest i - q * p is exact in one fused
 * operation, and q + rest * r, rounded once, is off from the quotient by less
 * than 2^-104 of it before that. No quotient of |i| < 2^51 by 10^e, e <= 15,
 * comes as near to the middle between two doubles (they differ by 1 / (10^e *
 * 2^54) of it at least), so the result is the correctly rounded one: the same
 * bits as division gives (codec:C11).  Greater powers are left to decimal.c,
 * as is everything on other CPUs.
 *
 * Reference: P. Markstein, "Computation of elementary functions on the IBM
 * RISC System/6000 processor", IBM J. Res. Dev. 34(1), 1990 (correcting a
 * quotient by its exact rest).
 *
 * src/codec/decimal_divide.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_DECIMAL_DIVIDE_H
#define STRATA_DECIMAL_DIVIDE_H

#include "codec/codec_base.h"

#ifdef STRATA_HAVE_AVX2

#include <immintrin.h>

#define FMA __attribute__((target("avx2,fma")))
#define FMA_INLINE static inline __attribute__((always_inline, target("avx2,fma")))

#define STRATA_DIVIDE_POWER_MAX 1e15

/* A power of ten, and what is multiplied by instead. */
typedef struct Power
{
	__m256d		power;
	__m256d		reciprocal;
} Power;

/* May quotients by this power be had so, on this CPU? */
static inline bool
divide_usable(double power)
{
	return power <= STRATA_DIVIDE_POWER_MAX && !strata_codec_portable_only &&
		__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

FMA_INLINE Power
make_power(double power)
{
	return (Power)
	{
		_mm256_set1_pd(power), _mm256_set1_pd(1.0 / power)
	};
}

/* x / power, of integers x below 2^51. */
FMA_INLINE __m256d
divide(const Power *p, __m256d x)
{
	__m256d		q = _mm256_mul_pd(x, p->reciprocal);

	return _mm256_fmadd_pd(_mm256_fnmadd_pd(q, p->power, x), p->reciprocal, q);
}

#endif							/* STRATA_HAVE_AVX2 */

#endif							/* STRATA_DECIMAL_DIVIDE_H */
