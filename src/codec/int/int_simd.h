/*-------------------------------------------------------------------------
 *
 * int_simd.h
 *	  Unpacking numbers, and making values of them, with AVX2: of use only if
 *	  strata_int_simd_usable().
 *
 * src/codec/int/int_simd.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_INT_SIMD_H
#define STRATA_INT_SIMD_H

#include "codec/int/int_private.h"

/* int_simd.c: of use only if strata_int_simd_usable() */
/* widest numbers that are unpacked to 32 bits */
#define INT_NARROW_WIDTH 25
extern bool strata_int_simd_usable(void);
extern bool strata_int_simd_unpack(const uint8_t *from, uint32_t n,
								   unsigned width, uint64_t *out);
extern void strata_int_simd_unpack_narrow(const uint8_t *from, uint32_t n,
										  unsigned width, uint32_t *out);
extern bool strata_int_simd_unary(const uint8_t *unary, unsigned nunary,
								  unsigned k, uint32_t count, uint32_t wanted,
								  uint32_t *u);

/* int_simd_prefix.c: likewise */
extern int64_t strata_int_simd_sum_packed(const uint8_t *from, uint32_t n,
										  unsigned width, bool zigzag,
										  uint8_t *odd);

/*
 * What upper parts add up to: zeros in front of ones, of all numbers and of
 * those that are odd.
 */
typedef struct StrataUnarySum
{
	uint32_t	zeros;
	uint32_t	odd_zeros;
	uint32_t	nodd;
} StrataUnarySum;

extern bool strata_int_simd_sum_unary(const uint8_t *unary, unsigned nunary,
									  uint32_t count, uint32_t n,
									  const uint8_t *odd, StrataUnarySum *sum);

/* int_simd_sums.c: likewise */
extern void strata_int_simd_rebuild(const IntHeader *h,
									const IntBlockState *state,
									const uint64_t *u, uint32_t m,
									uint64_t *v);
extern bool strata_int_simd_rotated(const IntHeader *h,
									const IntBlockState *state,
									const uint64_t *u, uint32_t m,
									uint64_t *v);
extern bool strata_int_simd_narrow(const IntHeader *h, unsigned width);
extern void strata_int_simd_rebuild_narrow(const IntHeader *h,
										   const IntBlockState *state,
										   unsigned bits, const uint32_t *u,
										   uint32_t m, unsigned width,
										   void *out);
extern bool strata_int_simd_doubles(const IntHeader *h,
									const IntBlockState *state, unsigned bits,
									const uint32_t *u, uint32_t m,
									double power, double *out);

#endif							/* STRATA_INT_SIMD_H */
