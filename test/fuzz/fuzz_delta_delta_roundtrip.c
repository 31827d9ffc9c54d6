/*-------------------------------------------------------------------------
 *
 * fuzz_delta_delta_roundtrip.c
 *	  Fuzz target: vectors through codec DELTA_DELTA and back.
 *
 * test/fuzz/fuzz_delta_delta_roundtrip.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_DELTA_DELTA

#include "fuzz.h"
