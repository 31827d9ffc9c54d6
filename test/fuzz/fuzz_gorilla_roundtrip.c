/*-------------------------------------------------------------------------
 *
 * fuzz_gorilla_roundtrip.c
 *	  Fuzz target: vectors through codec GORILLA and back.
 *
 * test/fuzz/fuzz_gorilla_roundtrip.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_GORILLA

#include "fuzz.h"
