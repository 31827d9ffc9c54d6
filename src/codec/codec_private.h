/*-------------------------------------------------------------------------
 *
 * codec_private.h
 *	  What the files of src/codec share: the codec table, and codecs in codecs.
 *
 * Vocabulary: a *column* is what codec.h hands out (header, nulls, payload); a
 * *payload* is what one codec wrote for the n non-null values; a *stream* is a
 * part of a payload.
 *
 * src/codec/codec_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_CODEC_PRIVATE_H
#define STRATA_CODEC_PRIVATE_H

#include "codec/codec_base.h"
#include "codec/int/int_stream.h"

/* An encoded payload as a decoder gets it; n values, all non-null. */
typedef struct StrataPayload
{
	StrataKind	kind;
	uint8_t		width;
	uint32_t	n;
	const uint8_t *data;
	size_t		len;
} StrataPayload;

/*
 * One codec.  encode writes a payload (v->n > 0) and leaves out->failed set
 * when it does not fit, which is also how a caller says "only if it is smaller
 * than this".  decode_* give values [from, from + n), from + n <= p->n, n > 0.
 */
typedef struct StrataCodec
{
	const char *name;
	unsigned	kinds;			/* bit 1 << StrataKind for each kind it holds */
	bool		available;
	/* NULL: none */
	size_t		(*encode_scratch_size) (const StrataVector *v);
	StrataCodecResult (*encode) (const StrataVector *v, StrataArena *scratch,
								 StrataWriter *out);
	/* NULL: none */
	StrataCodecResult (*decode_scratch_size) (const StrataPayload *p,
											  uint32_t from, uint32_t n,
											  size_t *size);
	StrataCodecResult (*decode_fixed) (const StrataPayload *p, uint32_t from,
									   uint32_t n, StrataArena *scratch,
									   void *out);
	StrataCodecResult (*decode_bytes) (const StrataPayload *p, uint32_t from,
									   uint32_t n, StrataArena *scratch,
									   StrataBytes *out);
	void		(*describe) (const StrataPayload *p, char *text, size_t size);
} StrataCodec;

/* Scratch for values [from, from + n) of a payload. */
STRATA_INLINE StrataCodecResult
strata_codec_decode_scratch(const StrataCodec *codec, const StrataPayload *p,
							uint32_t from, uint32_t n, size_t *size)
{
	*size = 0;
	return codec->decode_scratch_size == NULL ? STRATA_CODEC_OK :
		codec->decode_scratch_size(p, from, n, size);
}

/* Value i of a fixed vector, sign-extended. */
STRATA_INLINE int64_t
strata_vector_signed(const StrataVector *v, uint32_t i)
{
	switch (v->width)
	{
		case 1:
			return ((const int8_t *) v->fixed)[i];
		case 2:
			return ((const int16_t *) v->fixed)[i];
		case 4:
			return ((const int32_t *) v->fixed)[i];
		default:
			return ((const int64_t *) v->fixed)[i];
	}
}

extern const StrataCodec strata_codec_raw;
extern const StrataCodec strata_codec_constant;
extern const StrataCodec strata_codec_delta_delta;
extern const StrataCodec strata_codec_gorilla;
extern const StrataCodec strata_codec_dictionary;
extern const StrataCodec strata_codec_lz4;
extern const StrataCodec strata_codec_zstd;
extern const StrataCodec strata_codec_decimal;
extern const StrataCodec strata_codec_numeric;
extern const StrataCodec strata_codec_packed;
extern const StrataCodec strata_codec_jsonb;
extern const StrataCodec strata_codec_simple8b;
extern const StrataCodec strata_codec_large;

/* The codec of an id, or NULL (AUTO included). */
extern const StrataCodec *strata_codec_get(unsigned id);

/* column_choose.c: pick a codec and encode the payload of v with it. */
extern size_t strata_choose_scratch_size(const StrataVector *v);
extern StrataCodecResult strata_choose_encode(const StrataVector *v,
											  StrataArena *scratch,
											  StrataWriter *out,
											  StrataCodecId *chosen);

/* nested payloads, for a codec that hands its parts to other codecs */
extern size_t strata_nested_scratch_size(const StrataVector *v);
extern StrataCodecResult strata_nested_encode(const StrataVector *v,
											  StrataArena *scratch,
											  StrataWriter *out,
											  StrataCodecId *chosen);
extern bool strata_nested_allowed(unsigned id);

/* The size of a payload in codec RAW, which no payload should exceed. */
extern size_t strata_raw_bound(const StrataVector *v);


/* lzarray.c: byte strings in blocks */
extern StrataCodecResult strata_lzarray_encode(StrataCodecId id,
											   const StrataVector *v,
											   StrataArena *scratch,
											   StrataWriter *out,
											   size_t *blocks_len);
extern size_t strata_lzarray_scratch_size(StrataCodecId id,
										  const StrataVector *v);
extern StrataCodecResult strata_lzarray_decode(StrataCodecId id,
											   const StrataPayload *p,
											   uint32_t from, uint32_t n,
											   StrataArena *scratch,
											   StrataBytes *out);
extern StrataCodecResult strata_lzarray_decode_size(const StrataPayload *p,
													uint32_t from, uint32_t n,
													size_t *size);
extern void strata_lzarray_describe(const StrataPayload *p, char *text,
									size_t size);

extern StrataCodecResult strata_lzarray_decode_lengths(const StrataPayload *p,
													   uint32_t *lengths);

/*
 * large.c.  suits: are the values large?  encode: with a library, RAW for
 * none; overhead: what it may take beyond the bytes of n values.  head_len:
 * how many bytes of the payload the head takes; false: its length cannot be
 * read.  open, and the scratch for it: offsets are from the payload's start.
 * blocks_fit: are they all there, and what their checksums say?
 */
extern bool strata_large_suits(const StrataVector *v);
extern size_t strata_large_overhead(uint32_t n, size_t nbytes);
extern StrataCodecResult strata_large_encode(StrataCodecId library,
											 const StrataVector *v,
											 StrataArena *scratch,
											 StrataWriter *out,
											 size_t *blocks_len);
extern bool strata_large_head_len(const StrataPayload *p, size_t *len);
extern bool strata_large_blocks_fit(const StrataPayload *p);
extern StrataCodecResult strata_large_payload_scratch(const StrataPayload *p,
													  size_t *size);
extern StrataCodecResult strata_large_payload_open(const StrataPayload *p,
												   StrataArena *scratch,
												   StrataLarge *large);

/*
 * jsonb_member.c: what the first ndocs documents, of at least one, have at a
 * path, see codec.h.
 */
extern StrataCodecResult strata_jsonb_members_scratch(const StrataPayload *p,
													  uint32_t ndocs,
													  size_t *size);
extern StrataCodecResult strata_jsonb_members(const StrataPayload *p,
											  uint32_t ndocs,
											  const StrataKey *keys,
											  uint32_t nkeys,
											  StrataArena *scratch,
											  StrataMembers *out);

/* What AUTO asks codecs before they write. */
extern size_t strata_packed_size(const StrataVector *v);
extern StrataCodecResult strata_delta_delta_plan(const StrataVector *v,
												 StrataArena *arena,
												 StrataIntPlan *plan);

/*
 * Values [from, from + n) as integers / 10^*scale, and their display scales.
 */
extern StrataCodecResult strata_numeric_decode_scaled(const StrataPayload *p,
													  uint32_t from,
													  uint32_t n,
													  StrataArena *scratch,
													  int64_t *out,
													  uint8_t *displays,
													  unsigned *scale);

/* crc32c.c */
extern uint32_t strata_crc32c_extend(uint32_t crc, const void *data,
									 size_t len);
extern uint32_t strata_crc32c_table(uint32_t crc, const void *data,
									size_t len);

#endif							/* STRATA_CODEC_PRIVATE_H */
