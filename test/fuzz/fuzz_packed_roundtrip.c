/*-------------------------------------------------------------------------
 *
 * fuzz_packed_roundtrip.c
 *	  Fuzz target: byte strings through codec PACKED and back.
 *
 * test/fuzz/fuzz_packed_roundtrip.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_PACKED

#include "fuzz.h"
