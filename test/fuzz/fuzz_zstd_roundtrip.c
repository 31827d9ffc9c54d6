/*-------------------------------------------------------------------------
 *
 * fuzz_zstd_roundtrip.c
 *	  Fuzz target: vectors through codec ZSTD and back.
 *
 * test/fuzz/fuzz_zstd_roundtrip.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_ZSTD

#include "fuzz.h"
