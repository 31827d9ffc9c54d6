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
#include "codec/lz_library.h"

#ifdef USE_LZ4
#include <lz4.h>
#endif
#ifdef USE_ZSTD
#include <zstd.h>
#endif

/* Where zstd's gain over LZ4 is largest for its cost; and for archives. */
#define ZSTD_LEVEL 3
#define ZSTD_LEVEL_ARCHIVE 12

/*
 * The largest window of a frame that is read as a stream: what a column can
 * hold.
 */
#define STREAM_WINDOW_LOG 18

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
zstd_compress(int level, const uint8_t *from, size_t nbytes, uint8_t *to,
			  size_t cap)
{
	static _Thread_local ZSTD_CCtx *context;
	size_t		len;

	if (context == NULL)
		context = ZSTD_createCCtx();
	if (context == NULL)
		return 0;
	len = ZSTD_compressCCtx(context, to, cap, from, nbytes, level);
	return ZSTD_isError(len) ? 0 : len;
}

static StrataCodecResult
zstd_decompress(const uint8_t *from, size_t nbytes, uint8_t *to,
				size_t raw_size)
{
	static _Thread_local ZSTD_DCtx *context;

	if (context == NULL)
		context = ZSTD_createDCtx();
	if (context == NULL)
		return STRATA_CODEC_NO_SPACE;
	/* an error code is larger than any size, so this is one comparison */
	return ZSTD_decompressDCtx(context, to, raw_size, from, nbytes) ==
		raw_size ?
		STRATA_CODEC_OK :
		STRATA_CODEC_CORRUPT;
}
#endif

/*
 * Compress nbytes into at most cap bytes; the length, or 0 when it does not
 * fit.  scratch is aligned and has strata_lz_scratch_size(id) bytes.
 */
size_t
strata_lz_compress(StrataCodecId id, StrataLevel level, const uint8_t *from,
				   size_t nbytes, uint8_t *to, size_t cap, void *scratch)
{
	if (nbytes > STRATA_BYTES_MAX || nbytes == 0)
		return 0;
	if (cap > STRATA_BYTES_MAX)
		cap = STRATA_BYTES_MAX;
#ifdef USE_LZ4
	if (id == STRATA_CODEC_LZ4)
	{
		int			len = LZ4_compress_fast_extState(scratch,
													 (const char *) from,
													 (char *) to, (int) nbytes,
													 (int) cap, 1);

		return len > 0 ? (size_t) len : 0;
	}
#endif
#ifdef USE_ZSTD
	if (id == STRATA_CODEC_ZSTD)
		return zstd_compress(level == STRATA_LEVEL_ARCHIVE ?
							 ZSTD_LEVEL_ARCHIVE :
							 ZSTD_LEVEL,
							 from, nbytes, to, cap);
#endif
	(void) id;
	(void) level;
	(void) from;
	(void) to;
	(void) scratch;
	return 0;
}

/*
 * Decompress to exactly raw_size bytes; CORRUPT when that is not what comes
 * out.
 */
StrataCodecResult
strata_lz_decompress(StrataCodecId id, const uint8_t *from, size_t nbytes,
					 uint8_t *to, size_t raw_size)
{
	if (nbytes > STRATA_BYTES_MAX || raw_size > STRATA_BYTES_MAX)
		return STRATA_CODEC_CORRUPT;
#ifdef USE_LZ4
	if (id == STRATA_CODEC_LZ4)
		return LZ4_decompress_safe((const char *) from, (char *) to,
								   (int) nbytes,
								   (int) raw_size) == (int) raw_size ?
			STRATA_CODEC_OK :
			STRATA_CODEC_CORRUPT;
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

#ifdef USE_ZSTD

/* The stream being read; its context is kept like the others. */
static _Thread_local ZSTD_DCtx *stream;
static _Thread_local ZSTD_inBuffer stream_in;

/*
 * Start to read a frame; its bytes stay where they are until it has been read.
 */
StrataCodecResult
strata_lz_stream_begin(const uint8_t *from, size_t nbytes)
{
	if (stream == NULL)
		stream = ZSTD_createDCtx();
	if (stream == NULL)
		return STRATA_CODEC_NO_SPACE;
	ZSTD_DCtx_reset(stream, ZSTD_reset_session_only);
	ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, STREAM_WINDOW_LOG);
	stream_in = (ZSTD_inBuffer)
	{
		from, nbytes, 0
	};
	return STRATA_CODEC_OK;
}

/* The next nbytes of the frame; CORRUPT when there are not so many. */
StrataCodecResult
strata_lz_stream_read(uint8_t *to, size_t nbytes)
{
	ZSTD_outBuffer out = {to, nbytes, 0};

	while (out.pos < nbytes)
	{
		size_t		before = out.pos + stream_in.pos;
		size_t		rc = ZSTD_decompressStream(stream, &out, &stream_in);

		if (ZSTD_isError(rc) ||
			(out.pos < nbytes &&
			 (rc == 0 || out.pos + stream_in.pos == before)))
			return STRATA_CODEC_CORRUPT;
	}
	return STRATA_CODEC_OK;
}
#else
StrataCodecResult
strata_lz_stream_begin(const uint8_t *from, size_t nbytes)
{
	(void) from;
	(void) nbytes;
	return STRATA_CODEC_UNSUPPORTED;
}

StrataCodecResult
strata_lz_stream_read(uint8_t *to, size_t nbytes)
{
	(void) to;
	(void) nbytes;
	return STRATA_CODEC_UNSUPPORTED;
}
#endif
