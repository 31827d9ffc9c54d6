/*-------------------------------------------------------------------------
 *
 * fuzz_archive_decode.c
 *	  Fuzz target: integer streams as archives have them.
 *
 * test/fuzz/fuzz_archive_decode.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_DELTA_DELTA
#define FUZZ_LEVEL STRATA_LEVEL_ARCHIVE
#define FUZZ_DECODE
#include "fuzz.h"
