/*-------------------------------------------------------------------------
 *
 * fuzz_dictionary_decode.c
 *	  Fuzz target: columns of codec DICTIONARY.
 *
 * test/fuzz/fuzz_dictionary_decode.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_DICTIONARY
#define FUZZ_DECODE
#include "fuzz.h"
