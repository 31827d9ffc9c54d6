/*-------------------------------------------------------------------------
 *
 * fuzz_numeric_roundtrip.c
 *	  Fuzz target: byte strings through codec NUMERIC and back.
 *
 * test/fuzz/fuzz_numeric_roundtrip.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_NUMERIC
#define FUZZ_HINT STRATA_BYTES_NUMERIC

#include "fuzz.h"
