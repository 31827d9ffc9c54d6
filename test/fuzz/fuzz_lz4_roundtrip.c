/*-------------------------------------------------------------------------
 *
 * fuzz_lz4_roundtrip.c
 *	  Fuzz target: vectors through codec LZ4 and back.
 *
 * test/fuzz/fuzz_lz4_roundtrip.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_LZ4

#include "fuzz.h"
