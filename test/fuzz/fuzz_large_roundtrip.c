/*-------------------------------------------------------------------------
 *
 * fuzz_large_roundtrip.c
 *	  Fuzz target: vectors through codec LARGE and back.
 *
 * test/fuzz/fuzz_large_roundtrip.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_LARGE

#include "fuzz.h"
