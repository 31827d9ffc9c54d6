/*-------------------------------------------------------------------------
 *
 * fuzz_dictionary_roundtrip.c
 *	  Fuzz target: vectors through codec DICTIONARY and back.
 *
 * test/fuzz/fuzz_dictionary_roundtrip.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_DICTIONARY

#include "fuzz.h"
