/*-------------------------------------------------------------------------
 *
 * fuzz_constant_decode.c
 *	  Fuzz target: columns of codec CONSTANT.
 *
 * test/fuzz/fuzz_constant_decode.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_CONSTANT
#define FUZZ_DECODE
#include "fuzz.h"
