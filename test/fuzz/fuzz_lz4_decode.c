/*-------------------------------------------------------------------------
 *
 * fuzz_lz4_decode.c
 *	  Fuzz target: columns of codec LZ4.
 *
 * test/fuzz/fuzz_lz4_decode.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_LZ4
#define FUZZ_DECODE
#include "fuzz.h"
