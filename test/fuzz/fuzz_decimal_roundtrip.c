/*-------------------------------------------------------------------------
 *
 * fuzz_decimal_roundtrip.c
 *	  Fuzz target: vectors through codec DECIMAL and back.
 *
 * test/fuzz/fuzz_decimal_roundtrip.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_DECIMAL

#include "fuzz.h"
