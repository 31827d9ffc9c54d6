/*-------------------------------------------------------------------------
 *
 * fuzz_large_decode.c
 *	  Fuzz target: columns of codec LARGE.
 *
 * test/fuzz/fuzz_large_decode.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_LARGE
#define FUZZ_DECODE
#include "fuzz.h"
