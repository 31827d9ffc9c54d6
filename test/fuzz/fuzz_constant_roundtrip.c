/*-------------------------------------------------------------------------
 *
 * fuzz_constant_roundtrip.c
 *	  Fuzz target: vectors through codec CONSTANT and back.
 *
 * test/fuzz/fuzz_constant_roundtrip.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_CONSTANT

#include "fuzz.h"
