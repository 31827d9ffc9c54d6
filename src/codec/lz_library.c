/*-------------------------------------------------------------------------
 *
 * lz_library.c
 *	  LZ4 and zstd: the only file that knows the libraries.
 *
 * LZ4 works in scratch the caller gives.  zstd's contexts can live in a
 * caller's buffer only through an interface its shared library does not
 * promise, so one compression and one decompression context are made per
 * thread, at first use, and kept: the one exception to "no allocation".
 *
 * An id whose library was not built in gives UNSUPPORTED (decompress) or 0
 * (compress).
 *
 * src/codec/lz_library.c
 *-------------------------------------------------------------------------
 */
#include "codec_private.h"

#ifdef USE_LZ4
#include <lz4.h>
#endif
#ifdef USE_ZSTD
#include <zstd.h>
#endif

/* Where zstd's gain over LZ4 is largest for its cost. */
#define ZSTD_LEVEL 3

/* Is there a library behind this id? */
bool
strata_lz_available(StrataCodecId id)
{
#ifdef USE_LZ4
	if (id == STRATA_CODEC_LZ4)
		return true;
#endif
#ifdef USE_ZSTD
	if (id == STRATA_CODEC_ZSTD)
		return true;
#endif
	(void) id;
	return false;
}

/* Scratch strata_lz_compress needs. */
size_t
strata_lz_scratch_size(StrataCodecId id)
{
#ifdef USE_LZ4
	if (id == STRATA_CODEC_LZ4)
		return (size_t) LZ4_sizeofState();
#endif
	(void) id;
	return 0;
}

#ifdef USE_ZSTD
static size_t
zstd_compress(const uint8_t *from, size_t nbytes, uint8_t *to, size_t cap)
{
	static _Thread_local ZSTD_CCtx *context;
	size_t		len;

	if (context == NULL)
		context = ZSTD_createCCtx();
	if (context == NULL)
		return 0;
	len = ZSTD_compressCCtx(context, to, cap, from, nbytes, ZSTD_LEVEL);
	return ZSTD_isError(len) ? 0 : len;
}

static StrataCodecResult
zstd_decompress(const uint8_t *from, size_t nbytes, uint8_t *to, size_t raw_size)
{
	static _Thread_local ZSTD_DCtx *context;

	if (context == NULL)
		context = ZSTD_createDCtx();
	if (context == NULL)
		return STRATA_CODEC_NO_SPACE;
	/* an error code is larger than any size, so this is one comparison */
	return ZSTD_decompressDCtx(context, to, raw_size, from, nbytes) == raw_size ?
		STRATA_CODEC_OK : STRATA_CODEC_CORRUPT;
}
#endif

/*
 * Compress nbytes into at most cap bytes; the length, or 0 when it does not
 * fit.  scratch is aligned and has strata_lz_scratch_size(id) bytes.
 */
size_t
strata_lz_compress(StrataCodecId id, const uint8_t *from, size_t nbytes,
				   uint8_t *to, size_t cap, void *scratch)
{
	if (nbytes > STRATA_BYTES_MAX || nbytes == 0)
		return 0;
	if (cap > STRATA_BYTES_MAX)
		cap = STRATA_BYTES_MAX;
#ifdef USE_LZ4
	if (id == STRATA_CODEC_LZ4)
	{
		int			len = LZ4_compress_fast_extState(scratch, (const char *) from, (char *) to,
													 (int) nbytes, (int) cap, 1);

		return len > 0 ? (size_t) len : 0;
	}
#endif
#ifdef USE_ZSTD
	if (id == STRATA_CODEC_ZSTD)
		return zstd_compress(from, nbytes, to, cap);
#endif
	(void) id;
	(void) from;
	(void) to;
	(void) scratch;
	return 0;
}

/* Decompress to exactly raw_size bytes; CORRUPT when that is not what comes out. */
StrataCodecResult
strata_lz_decompress(StrataCodecId id, const uint8_t *from, size_t nbytes, uint8_t *to, size_t raw_size)
{
	if (nbytes > STRATA_BYTES_MAX || raw_size > STRATA_BYTES_MAX)
		return STRATA_CODEC_CORRUPT;
#ifdef USE_LZ4
	if (id == STRATA_CODEC_LZ4)
		return LZ4_decompress_safe((const char *) from, (char *) to, (int) nbytes, (int) raw_size) ==
			(int) raw_size ? STRATA_CODEC_OK : STRATA_CODEC_CORRUPT;
#endif
#ifdef USE_ZSTD
	if (id == STRATA_CODEC_ZSTD)
		return zstd_decompress(from, nbytes, to, raw_size);
#endif
	(void) id;
	(void) from;
	(void) to;
	return STRATA_CODEC_UNSUPPORTED;
}
