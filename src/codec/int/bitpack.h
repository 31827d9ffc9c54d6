/*-------------------------------------------------------------------------
 *
 * bitpack.h
 *	  Numbers of one width, side by side.
 *
 * src/codec/int/bitpack.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_BITPACK_H
#define STRATA_BITPACK_H

#include "codec/codec_base.h"

/* Unpackers write whole groups: room behind the numbers. */
#define STRATA_BITPACK_PADDING 64

extern void strata_bitpack_write(const uint64_t *u, uint32_t n, unsigned width,
								 StrataWriter *out);
extern void strata_bitpack_write_narrow(const uint32_t *u, uint32_t n,
										unsigned width, StrataWriter *out);
extern bool strata_bitpack_read(StrataReader *in, uint32_t n, unsigned width,
								uint64_t *out);
extern bool strata_bitpack_read_part(StrataReader *in, uint32_t n,
									 uint32_t wanted, unsigned width,
									 uint32_t *out);
extern bool strata_bitpack_sum_part(StrataReader *in, uint32_t n,
									uint32_t wanted, unsigned width,
									bool zigzag, uint8_t *odd, int64_t *sum);

#endif							/* STRATA_BITPACK_H */
