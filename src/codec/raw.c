/*-------------------------------------------------------------------------
 *
 * raw.c
 *	  Codec RAW: values as they are; what everything falls back to.
 *
 * INT, FLOAT: n * width bytes, little-endian.  BYTES: the layout of lzarray.c
 * with every block stored, which a decoder reads in place.
 *
 * src/codec/raw.c
 *-------------------------------------------------------------------------
 */
#include <stdio.h>

#include "codec/codec_private.h"

/*
 * Most bytes of the payload of v in codec RAW.
 */
size_t
strata_raw_bound(const StrataVector *v)
{
	if (v->kind != STRATA_KIND_BYTES)
		return (size_t) v->n * v->width;
	/* each value may be a block: see lzarray.c */
	return (v->n && v->offsets ? v->offsets[v->n] : 0) +
		strata_ints_bound(v->n) + 32 + (size_t) v->n * 16;
}

static size_t
raw_encode_scratch_size(const StrataVector *v)
{
	return v->kind == STRATA_KIND_BYTES ?
		strata_lzarray_scratch_size(STRATA_CODEC_RAW, v) :
		0;
}

/* Copy n values between native and little-endian order. */
static void
copy_values(void *to, const void *from, uint32_t n, unsigned width)
{
#ifdef STRATA_BIG_ENDIAN
	const uint8_t *f = from;
	uint8_t    *t = to;

	for (uint32_t i = 0; i < n; i++)
		for (unsigned b = 0; b < width; b++)
			t[i * width + b] = f[i * width + width - 1 - b];
#else
	memcpy(to, from, (size_t) n * width);
#endif
}

static StrataCodecResult
raw_encode(const StrataVector *v, StrataArena *scratch, StrataWriter *out)
{
	uint8_t    *to;
	size_t		blocks_len;

	Assert(v->n > 0);			/* codec:C4 */
	if (v->kind == STRATA_KIND_BYTES)
		return strata_lzarray_encode(STRATA_CODEC_RAW, v, scratch, out,
									 &blocks_len);
	to = strata_write_space(out, (size_t) v->n * v->width);
	if (to == NULL)
		return STRATA_CODEC_NO_SPACE;
	copy_values(to, v->fixed, v->n, v->width);
	return STRATA_CODEC_OK;
}

static StrataCodecResult
raw_decode_scratch_size(const StrataPayload *p, uint32_t from, uint32_t n,
						size_t *size)
{
	*size = 0;
	if (p->kind == STRATA_KIND_BYTES)
		return strata_lzarray_decode_size(p, from, n, size);
	return STRATA_CODEC_OK;
}

static StrataCodecResult
raw_decode_fixed(const StrataPayload *p, uint32_t from, uint32_t n,
				 StrataArena *scratch, void *out)
{
	Assert(n <= p->n && from <= p->n - n);	/* codec:C2 */
	(void) scratch;
	if (p->len != (size_t) p->n * p->width)
		return STRATA_CODEC_CORRUPT;
	copy_values(out, p->data + (size_t) from * p->width, n, p->width);
	return STRATA_CODEC_OK;
}

static StrataCodecResult
raw_decode_bytes(const StrataPayload *p, uint32_t from, uint32_t n,
				 StrataArena *scratch, StrataBytes *out)
{
	Assert(n <= p->n && from <= p->n - n);	/* codec:C2 */
	return strata_lzarray_decode(STRATA_CODEC_RAW, p, from, n, scratch, out);
}

static void
raw_describe(const StrataPayload *p, char *text, size_t size)
{
	if (p->kind == STRATA_KIND_BYTES)
		strata_lzarray_describe(p, text, size);
	else
		snprintf(text, size, "%u bytes each", p->width);
}

const StrataCodec strata_codec_raw = {
	.name = "raw",
	.kinds = 1U << STRATA_KIND_INT | 1U << STRATA_KIND_FLOAT |
	1U << STRATA_KIND_BYTES,
	.available = true,
	.encode_scratch_size = raw_encode_scratch_size,
	.encode = raw_encode,
	.decode_scratch_size = raw_decode_scratch_size,
	.decode_fixed = raw_decode_fixed,
	.decode_bytes = raw_decode_bytes,
	.describe = raw_describe,
};
