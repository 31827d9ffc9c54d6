/*-------------------------------------------------------------------------
 *
 * lz_library.h
 *	  LZ4 and zstd, as far as they are built in.
 *
 * src/codec/lz_library.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_LZ_LIBRARY_H
#define STRATA_LZ_LIBRARY_H

#include "codec/codec_base.h"

extern size_t strata_lz_scratch_size(StrataCodecId id);
extern size_t strata_lz_compress(StrataCodecId id, StrataLevel level,
								 const uint8_t *from, size_t nbytes,
								 uint8_t *to, size_t cap, void *scratch);
extern StrataCodecResult strata_lz_decompress(StrataCodecId id,
											  const uint8_t *from,
											  size_t nbytes, uint8_t *to,
											  size_t raw_size);

/*
 * zstd frames that are read piece by piece: begin, then read exactly so many
 * bytes as often as wanted.  One at a time in a thread.
 */
extern StrataCodecResult strata_lz_stream_begin(const uint8_t *from,
												size_t nbytes);
extern StrataCodecResult strata_lz_stream_read(uint8_t *to, size_t nbytes);

#endif							/* STRATA_LZ_LIBRARY_H */
