/*-------------------------------------------------------------------------
 *
 * fuzz_delta_delta_decode.c
 *	  Fuzz target: columns of codec DELTA_DELTA.
 *
 * test/fuzz/fuzz_delta_delta_decode.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_DELTA_DELTA
#define FUZZ_DECODE
#include "fuzz.h"
