/*-------------------------------------------------------------------------
 *
 * fuzz_packed_decode.c
 *	  Fuzz target: columns of codec PACKED.
 *
 * test/fuzz/fuzz_packed_decode.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_PACKED
#define FUZZ_DECODE
#include "fuzz.h"
