/*-------------------------------------------------------------------------
 *
 * fuzz_numeric_decode.c
 *	  Fuzz target: columns of codec NUMERIC.
 *
 * test/fuzz/fuzz_numeric_decode.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_NUMERIC
#define FUZZ_HINT STRATA_BYTES_NUMERIC
#define FUZZ_DECODE
#include "fuzz.h"
