/*-------------------------------------------------------------------------
 *
 * decimal.h
 *	  Codec decimal: its plan, for AUTO, and what its vector code shares with
 *	  it.
 *
 * src/codec/decimal.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_DECIMAL_H
#define STRATA_DECIMAL_H

#include "codec/codec_private.h"
#include "codec/int/int_stream.h"

typedef struct StrataDecimalPlan
{
	unsigned	exponent;
	uint32_t	nexceptions;
	const uint64_t *bad;		/* not 0 where a value is an exception */
	const int64_t *exact;		/* the integers of all values, if they are
								 * decimals without exception; or NULL */
	StrataIntPlan integers;
	size_t		nbytes;
} StrataDecimalPlan;

extern StrataCodecResult strata_decimal_plan(const StrataVector *v,
											 StrataArena *arena,
											 StrataDecimalPlan *plan);
extern StrataCodecResult strata_decimal_write(const StrataVector *v,
											  const StrataDecimalPlan *plan,
											  StrataWriter *out);

/*
 * Values [from, from + n), if all are integers, as such; else NOT_APPLICABLE.
 */
extern StrataCodecResult strata_decimal_decode_integers(const StrataPayload *p,
														uint32_t from,
														uint32_t n,
														unsigned width,
														void *out);

/*
 * Adding this to a double below 2^51 in absolute value rounds it to an
 * integer, which then stands in the low bits: the conversion between double
 * and int64 that every CPU can do on vectors.
 */
#define STRATA_DECIMAL_MAGIC 6755399441055744.0
#define STRATA_DECIMAL_MAGIC_BITS UINT64_C(0x4338000000000000)

/*
 * The encoder stays below half of that, 2^50: there the product with the power
 * of ten is off by less than a quarter, so its integer does not depend on
 * whether the compiler fuses multiplication and addition (codec:C11).
 */
#define STRATA_DECIMAL_LIMIT 1125899906842624.0

/* decimal_simd.c: 0 where they are of no use */
extern uint32_t strata_decimal_simd_to_doubles(uint64_t *values, uint32_t n,
											   double power);
extern uint32_t strata_decimal_simd_to_floats(const uint64_t *values,
											  uint32_t n, double power,
											  float *out);
extern uint32_t strata_decimal_simd_to_integers(const double *values,
												uint32_t n, double power,
												int64_t *integers,
												uint64_t *bad);

#endif							/* STRATA_DECIMAL_H */
