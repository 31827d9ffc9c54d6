/*-------------------------------------------------------------------------
 *
 * fuzz_simple8b_roundtrip.c
 *	  Fuzz target: vectors through codec SIMPLE8B and back.
 *
 * test/fuzz/fuzz_simple8b_roundtrip.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_SIMPLE8B

#include "fuzz.h"
