/*-------------------------------------------------------------------------
 *
 * constant.c
 *	  Codec CONSTANT: one value, n times.
 *
 * INT: a zigzag varint.  FLOAT: `width` bytes, little-endian; values are the
 * same when their bits are, so that -0 and NaNs keep theirs.  BYTES: the bytes
 * of the value are the whole payload; it decodes to a dictionary of one entry.
 *
 * src/codec/constant.c
 *-------------------------------------------------------------------------
 */
#include <stdio.h>

#include "codec/bitstream.h"
#include "codec/codec_private.h"

/* Is every value equal to the first, bit for bit?  n > 0. */
static bool
all_are_equal(const StrataVector *v)
{
	uint32_t	len;

	/* each value equals its neighbour: one comparison of overlapping memory */
	if (v->kind != STRATA_KIND_BYTES)
		return memcmp(v->fixed, (const uint8_t *) v->fixed + v->width,
					  (size_t) (v->n - 1) * v->width) == 0;
	len = v->offsets[1];
	for (uint32_t i = 1; i < v->n; i++)
		if (v->offsets[i + 1] - v->offsets[i] != len)
			return false;
	return len == 0 || memcmp(v->payload, v->payload + len,
							  (size_t) (v->n - 1) * len) == 0;
}

/* The first value as a signed integer (INT) or its bits (FLOAT). */
static uint64_t
first_value(const StrataVector *v)
{
	uint64_t	value = (uint64_t) strata_vector_signed(v, 0);

	return v->kind == STRATA_KIND_FLOAT && v->width == 4 ? (uint32_t) value :
		value;
}

static StrataCodecResult
constant_encode(const StrataVector *v, StrataArena *scratch, StrataWriter *out)
{
	Assert(v->n > 0);			/* codec:C4 */
	(void) scratch;
	if (!all_are_equal(v))
		return STRATA_CODEC_NOT_APPLICABLE;
	if (v->kind == STRATA_KIND_BYTES)
		strata_write_bytes(out, v->payload, v->offsets[1]);
	else if (v->kind == STRATA_KIND_INT)
		strata_write_varint(out, strata_zigzag((int64_t) first_value(v)));
	else if (v->width == 4)
		strata_write_u32(out, (uint32_t) first_value(v));
	else
		strata_write_u64(out, first_value(v));
	return out->failed ? STRATA_CODEC_NO_SPACE : STRATA_CODEC_OK;
}

static StrataCodecResult
constant_decode_scratch_size(const StrataPayload *p, uint32_t from, uint32_t n,
							 size_t *size)
{
	(void) from;
	*size = 0;
	if (p->kind == STRATA_KIND_BYTES)
		*size = STRATA_ARENA_SIZE(2 * sizeof(uint32_t)) +
			STRATA_ARENA_SIZE(n * sizeof(uint32_t));
	return STRATA_CODEC_OK;
}

/* The one value, n times in the width of the payload. */
static StrataCodecResult
constant_decode_fixed(const StrataPayload *p, uint32_t from, uint32_t n,
					  StrataArena *scratch, void *out)
{
	StrataReader in = strata_reader(p->data, p->len);
	uint64_t	value;

	Assert(n <= p->n && from <= p->n - n);	/* codec:C2 */
	(void) from;
	(void) scratch;
	if (p->kind == STRATA_KIND_INT)
		value = (uint64_t) strata_unzigzag(strata_read_varint(&in));
	else
		value = p->width == 4 ? strata_read_u32(&in) : strata_read_u64(&in);
	if (in.failed)
		return STRATA_CODEC_CORRUPT;
	switch (p->width)
	{
		case 1:
			memset(out, (uint8_t) value, n);
			break;
		case 2:
			for (uint32_t i = 0; i < n; i++)
				((uint16_t *) out)[i] = (uint16_t) value;
			break;
		case 4:
			for (uint32_t i = 0; i < n; i++)
				((uint32_t *) out)[i] = (uint32_t) value;
			break;
		default:
			for (uint32_t i = 0; i < n; i++)
				((uint64_t *) out)[i] = value;
	}
	return STRATA_CODEC_OK;
}

/*
 * n times the one value: a dictionary of one entry, which points into the
 * payload.
 */
static StrataCodecResult
constant_decode_bytes(const StrataPayload *p, uint32_t from, uint32_t n,
					  StrataArena *scratch, StrataBytes *out)
{
	uint32_t   *offsets = strata_arena_alloc(scratch, 2 * sizeof(uint32_t));
	uint32_t   *codes = strata_arena_alloc(scratch, n * sizeof(uint32_t));

	Assert(n <= p->n && from <= p->n - n);	/* codec:C2 */
	(void) from;
	if (offsets == NULL || codes == NULL)
		return STRATA_CODEC_NO_SPACE;
	if (p->len > STRATA_BYTES_MAX)
		return STRATA_CODEC_CORRUPT;
	offsets[0] = 0;
	offsets[1] = (uint32_t) p->len;
	memset(codes, 0, n * sizeof(uint32_t));
	*out = (StrataBytes)
	{
		1, p->data, offsets, codes
	};
	return STRATA_CODEC_OK;
}

static void
constant_describe(const StrataPayload *p, char *text, size_t size)
{
	snprintf(text, size, "one value of %zu bytes",
			 p->kind == STRATA_KIND_BYTES ? p->len : p->width);
}

const StrataCodec strata_codec_constant = {
	.name = "constant",
	.kinds = 1U << STRATA_KIND_INT | 1U << STRATA_KIND_FLOAT |
	1U << STRATA_KIND_BYTES,
	.available = true,
	.encode = constant_encode,
	.decode_scratch_size = constant_decode_scratch_size,
	.decode_fixed = constant_decode_fixed,
	.decode_bytes = constant_decode_bytes,
	.describe = constant_describe,
};
