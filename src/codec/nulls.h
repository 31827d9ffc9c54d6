/*-------------------------------------------------------------------------
 *
 * nulls.h
 *	  Which rows of a column are null.
 *
 * src/codec/nulls.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_NULLS_H
#define STRATA_NULLS_H

#include "codec/codec_base.h"

typedef enum StrataNullMode
{
	STRATA_NULLS_NONE = 0,
	STRATA_NULLS_ALL = 1,
	STRATA_NULLS_RUNS = 2,
	STRATA_NULLS_BITMAP = 3
} StrataNullMode;

extern uint32_t strata_nulls_count(const bool *isnull, uint32_t nrows);
extern StrataNullMode strata_nulls_plan(const bool *isnull, uint32_t nrows,
										uint32_t nnulls, size_t *nbytes);
extern void strata_nulls_write(StrataNullMode mode, const bool *isnull,
							   uint32_t nrows, StrataWriter *out);
extern bool strata_nulls_take(StrataNullMode mode, uint32_t nrows,
							  uint32_t nnulls, StrataReader *in, bool *isnull);
extern uint32_t strata_nulls_read(StrataNullMode mode, uint32_t nrows,
								  uint32_t nnulls, StrataReader *in,
								  uint32_t from, uint32_t n, bool *isnull,
								  uint32_t *before);

/* nulls_simd.c */
extern uint32_t strata_nulls_simd_expand(const uint8_t *map, uint32_t n,
										 bool *isnull);
extern bool strata_nulls_simd_spread(void *out, unsigned width,
									 uint32_t values, const bool *isnull,
									 uint32_t n);

#endif							/* STRATA_NULLS_H */
