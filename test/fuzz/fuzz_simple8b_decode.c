/*-------------------------------------------------------------------------
 *
 * fuzz_simple8b_decode.c
 *	  Fuzz target: columns of codec SIMPLE8B.
 *
 * test/fuzz/fuzz_simple8b_decode.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_SIMPLE8B
#define FUZZ_DECODE
#include "fuzz.h"
