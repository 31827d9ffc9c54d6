/*-------------------------------------------------------------------------
 *
 * fuzz_jsonb_decode.c
 *	  Fuzz target: columns of codec JSONB.
 *
 * test/fuzz/fuzz_jsonb_decode.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_JSONB
#define FUZZ_HINT STRATA_BYTES_JSONB
#define FUZZ_DECODE
#include "fuzz.h"
