/*-------------------------------------------------------------------------
 *
 * fuzz_raw_roundtrip.c
 *	  Fuzz target: vectors through codec RAW and back.
 *
 * test/fuzz/fuzz_raw_roundtrip.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_RAW

#include "fuzz.h"
