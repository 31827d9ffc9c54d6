/*-------------------------------------------------------------------------
 *
 * fuzz_zstd_decode.c
 *	  Fuzz target: columns of codec ZSTD.
 *
 * test/fuzz/fuzz_zstd_decode.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_ZSTD
#define FUZZ_DECODE
#include "fuzz.h"
