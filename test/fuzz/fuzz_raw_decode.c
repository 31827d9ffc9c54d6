/*-------------------------------------------------------------------------
 *
 * fuzz_raw_decode.c
 *	  Fuzz target: columns of codec RAW.
 *
 * test/fuzz/fuzz_raw_decode.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_RAW
#define FUZZ_DECODE
#include "fuzz.h"
