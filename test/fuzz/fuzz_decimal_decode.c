/*-------------------------------------------------------------------------
 *
 * fuzz_decimal_decode.c
 *	  Fuzz target: columns of codec DECIMAL.
 *
 * test/fuzz/fuzz_decimal_decode.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_DECIMAL
#define FUZZ_DECODE
#include "fuzz.h"
