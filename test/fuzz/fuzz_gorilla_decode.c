/*-------------------------------------------------------------------------
 *
 * fuzz_gorilla_decode.c
 *	  Fuzz target: columns of codec GORILLA.
 *
 * test/fuzz/fuzz_gorilla_decode.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_GORILLA
#define FUZZ_DECODE
#include "fuzz.h"
