/*-------------------------------------------------------------------------
 *
 * fuzz_archive_roundtrip.c
 *	  Fuzz target: vectors through archive level and back.
 *
 * test/fuzz/fuzz_archive_roundtrip.c
 *-------------------------------------------------------------------------
 */
#define FUZZ_CODEC STRATA_CODEC_DELTA_DELTA
#define FUZZ_LEVEL STRATA_LEVEL_ARCHIVE

#include "fuzz.h"
