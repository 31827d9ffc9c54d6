/*-------------------------------------------------------------------------
 *
 * column.c
 *	  A column: header, null map, payload.  What the batch layer stores.
 *
 *	OFFSET	SIZE	MEANING
 *	0		1		format version: 1
 *	1		1		codec id (codec.h)
 *	2		1		bits 0-1 kind, 2-3 log2(width) (0 for BYTES), 4-5 null mode
 *					(nulls.c), 6-7 zero
 *	3		4		CRC-32C of every other byte of the column; in codec LARGE,
 *					of those up to the end of the payload's head
 *	7		1-2		number of rows (strata_write_count)
 *			0-2		number of nulls, if the null mode is RUNS or BITMAP
 *			...		null map
 *			...		payload of the codec: the non-null values; empty when there
 *					is none
 *
 * Invariants: codec:C1 the header takes at most 11 bytes; codec:C2 a decoder
 * writes only to `out`, `isnull` and scratch, and reads only buf[0 .. len); C4
 * a column without non-null values is codec RAW with an empty payload.
 *
 * Over 600 lines: all that is done with a column's header and null map.
 *
 * src/codec/column.c
 *-------------------------------------------------------------------------
 */
#include <stdio.h>

#include "codec/bitstream.h"
#include "codec/decimal.h"
#include "codec/nulls.h"

#define FORMAT_VERSION 1
#define HEADER_MAX 11
#define CRC_OFFSET 3
#define CRC_END 7

/* A column taken apart. */
typedef struct Column
{
	const StrataCodec *codec;
	StrataCodecId id;
	StrataNullMode null_mode;
	uint32_t	nrows;
	uint32_t	nnulls;
	uint32_t	crc;
	StrataReader nulls;			/* at the null map */
	bool		flagged;		/* nulls were flagged already */
	StrataPayload payload;
} Column;

static size_t crc_covers(const uint8_t *buf, size_t len);

/*
 * --- encoding
 * ----------------------------------------------------------------
 */

size_t
strata_column_encode_bound(const StrataVector *v, uint32_t nrows)
{
	return HEADER_MAX + (size_t) nrows / 8 + 1 + strata_raw_bound(v) + 64 +
		(v->kind == STRATA_KIND_BYTES && v->n > 0 ?
		 strata_large_overhead(v->n, v->offsets[v->n]) : 0);
}

size_t
strata_column_encode_scratch_size(const StrataVector *v, uint32_t nrows)
{
	(void) nrows;
	return strata_choose_scratch_size(v) + STRATA_ARENA_ALIGN;
}

/*
 * Encode with one codec in at most room bytes; *out moves on only if that
 * works.
 */
static StrataCodecResult
encode_within(StrataCodecId id, const StrataVector *v, size_t room,
			  StrataArena *scratch, StrataWriter *out)
{
	StrataWriter w = *out;
	StrataCodecResult rc;

	if (room < strata_writer_left(out))
		w.end = w.next + room;
	rc = strata_codec_get((unsigned) id)->encode(v, scratch, &w);
	if (rc == STRATA_CODEC_OK)
		out->next = w.next;
	return rc;
}

/*
 * Encode the payload with a codec somebody asked for; CONSTANT or RAW when
 * that is not below raw size.  LZ4 and ZSTD store what they cannot compress
 * just as RAW does, so they need no bound.
 */
static StrataCodecResult
encode_wanted(const StrataVector *v, StrataCodecId wanted,
			  StrataArena *scratch, StrataWriter *out, StrataCodecId *chosen)
{
	size_t		raw = v->kind == STRATA_KIND_BYTES ?
	(size_t) v->offsets[v->n] + 16 :
	strata_raw_bound(v);
	size_t		room = raw - 1;
	StrataCodecResult rc;

	if (wanted == STRATA_CODEC_RAW || wanted == STRATA_CODEC_CONSTANT)
		room = raw;
	if (v->kind == STRATA_KIND_BYTES && wanted != STRATA_CODEC_DICTIONARY)
		room = SIZE_MAX;
	*chosen = wanted;
	rc = encode_within(wanted, v, room, scratch, out);
	if (rc == STRATA_CODEC_NO_SPACE)
	{
		*chosen = STRATA_CODEC_CONSTANT;
		rc = encode_within(STRATA_CODEC_CONSTANT, v, raw, scratch, out);
	}
	if (rc == STRATA_CODEC_NO_SPACE ||
		(rc == STRATA_CODEC_NOT_APPLICABLE && *chosen != wanted))
	{
		*chosen = STRATA_CODEC_RAW;
		rc = encode_within(STRATA_CODEC_RAW, v, SIZE_MAX, scratch, out);
	}
	return rc;
}

/*
 * Are the arguments of strata_column_encode consistent, and the values below 2
 * GB?
 */
static bool
check_vector(const StrataVector *v, uint32_t nrows, const bool *isnull)
{
	if (nrows > STRATA_CODEC_MAX_ROWS || v->n > nrows ||
		!strata_codec_supports(STRATA_CODEC_AUTO, v->kind, v->width))
		return false;
	if (v->kind == STRATA_KIND_BYTES && v->n > 0 &&
		v->offsets[v->n] > STRATA_BYTES_MAX)
		return false;
	if (v->n == nrows || v->n == 0)
		return true;
	if (isnull == NULL)
		return false;
	return strata_nulls_count(isnull, nrows) == nrows - v->n;
}

/* See codec.h. */
StrataCodecResult
strata_column_encode(const StrataVector *vector, uint32_t nrows,
					 const bool *isnull, StrataCodecId wanted, void *scratch,
					 size_t scratch_size, uint8_t *out, size_t cap,
					 size_t *len)
{
	StrataVector v = *vector;
	StrataArena arena = strata_arena(scratch, scratch_size);
	StrataWriter w = strata_writer(out, cap);
	StrataCodecId chosen = STRATA_CODEC_RAW;
	StrataCodecResult rc = STRATA_CODEC_OK;
	StrataNullMode mode;
	size_t		map_size;
	uint32_t	crc;
	uint8_t    *head;
	const uint8_t *payload;

	if (!check_vector(&v, nrows, isnull) ||
		!strata_codec_supports(wanted, v.kind, v.width))
		return STRATA_CODEC_NOT_APPLICABLE;
	if (!strata_codec_available(wanted))
		return STRATA_CODEC_UNSUPPORTED;
	if (v.payload == NULL)
		v.payload = (const uint8_t *) "";
	mode = strata_nulls_plan(isnull, nrows, nrows - v.n, &map_size);
	head = strata_write_space(&w, CRC_END);
	strata_write_count(&w, nrows);
	if (mode == STRATA_NULLS_RUNS || mode == STRATA_NULLS_BITMAP)
		strata_write_count(&w, nrows - v.n);
	Assert(strata_writer_len(&w) <= HEADER_MAX);	/* codec:C1 */
	strata_nulls_write(mode, isnull, nrows, &w);
	if (w.failed)
		return STRATA_CODEC_NO_SPACE;
	payload = w.next;
	if (v.n > 0 && wanted == STRATA_CODEC_AUTO)
		rc = strata_choose_encode(&v, &arena, &w, &chosen);
	else if (v.n > 0)
		rc = encode_wanted(&v, wanted, &arena, &w, &chosen);
	if (rc != STRATA_CODEC_OK)
		return rc;
	if (w.failed)
		return STRATA_CODEC_NO_SPACE;
	Assert(v.n > 0 ||
		   (chosen == STRATA_CODEC_RAW && w.next == payload));	/* codec:C4 */
	Assert(v.width == 0 || (size_t) (w.next - payload) <=
		   (size_t) v.n * v.width); /* codec:C10 */
	head[0] = FORMAT_VERSION;
	head[1] = (uint8_t) chosen;
	head[2] = (uint8_t) ((unsigned) v.kind |
						 (v.width ? (unsigned) __builtin_ctz(v.width) << 2 :
						  0) |
						 (unsigned) mode << 4);
	(void) payload;
	*len = strata_writer_len(&w);
	crc = strata_crc32c_extend(0, out, CRC_OFFSET);
	strata_store32(head + CRC_OFFSET,
				   strata_crc32c_extend(crc, out + CRC_END,
										crc_covers(out, *len) - CRC_END));
	return STRATA_CODEC_OK;
}

/*
 * --- decoding
 * ----------------------------------------------------------------
 */

/*
 * Take a column apart, checking all of it but the payload.  Flags the nulls on
 * the way if isnull is not NULL and there are as many rows as it has room for.
 */
static StrataCodecResult
parse_column(const uint8_t *buf, size_t len, uint32_t room, bool *isnull,
			 Column *c)
{
	StrataReader in = strata_reader(buf, len);
	unsigned	version = strata_read_u8(&in);
	unsigned	id = strata_read_u8(&in);
	unsigned	shape = strata_read_u8(&in);
	StrataPayload *p = &c->payload;

	c->crc = strata_read_u32(&in);
	c->nrows = strata_read_count(&in);
	if (in.failed)
		return STRATA_CODEC_CORRUPT;
	c->codec = strata_codec_get(id);
	if (version != FORMAT_VERSION || c->codec == NULL)
		return STRATA_CODEC_UNSUPPORTED;
	c->id = (StrataCodecId) id;
	c->null_mode = (StrataNullMode) (shape >> 4 & 3);
	p->kind = (StrataKind) (shape & 3);
	p->width = (uint8_t) (p->kind == STRATA_KIND_BYTES ?
						  0 :
						  1 << (shape >> 2 & 3));
	if (shape >> 6 || (p->kind == STRATA_KIND_BYTES && shape >> 2 & 3) ||
		!strata_codec_supports(c->id, p->kind, p->width))
		return STRATA_CODEC_CORRUPT;
	c->nnulls = 0;
	if (c->null_mode == STRATA_NULLS_ALL)
		c->nnulls = c->nrows;
	else if (c->null_mode != STRATA_NULLS_NONE)
		c->nnulls = strata_read_count(&in);
	c->nulls = in;
	c->flagged = isnull != NULL && room == c->nrows;
	if (c->nnulls > c->nrows ||
		!strata_nulls_take(c->null_mode, c->nrows, c->nnulls, &in,
						   c->flagged ? isnull : NULL))
		return STRATA_CODEC_CORRUPT;
	Assert(c->nnulls <= c->nrows);	/* codec:C3 */
	p->n = c->nrows - c->nnulls;
	p->data = in.next;
	p->len = strata_reader_left(&in);
	if (p->n == 0 && (p->len > 0 || c->id != STRATA_CODEC_RAW))
		return STRATA_CODEC_CORRUPT;
	return STRATA_CODEC_OK;
}

/* See codec.h. */
void
strata_column_seal(uint8_t *buf, uint32_t seal)
{
	strata_store32(buf + CRC_OFFSET, strata_load32(buf + CRC_OFFSET) ^ seal);
}

/*
 * How many bytes of a column its CRC is of: all, but those of codec LARGE up
 * to the blocks, which have their own (codec:C17).
 */
static size_t
crc_covers(const uint8_t *buf, size_t len)
{
	Column		c;
	size_t		head;

	if (buf[1] != STRATA_CODEC_LARGE ||
		parse_column(buf, len, 0, NULL, &c) != STRATA_CODEC_OK ||
		!strata_large_head_len(&c.payload, &head) || head > c.payload.len)
		return len;
	return (size_t) (c.payload.data - buf) + head;
}

/* Is the column's CRC, with the seal taken off, that of its bytes? */
static bool
crc_fits(const uint8_t *buf, size_t len, uint32_t seal)
{
	uint32_t	crc;

	if (len < CRC_END)
		return false;
	len = crc_covers(buf, len);
	crc = strata_crc32c_extend(0, buf, CRC_OFFSET);
	crc = strata_crc32c_extend(crc, buf + CRC_END, len - CRC_END);
	return (crc ^ seal) == strata_load32(buf + CRC_OFFSET);
}

static StrataCodecResult
parse_header(const uint8_t *buf, size_t len, Column *column,
			 StrataCodecInfo *info)
{
	StrataCodecResult rc = parse_column(buf, len, 0, NULL, column);

	if (rc != STRATA_CODEC_OK)
		return rc;
	info->id = column->id;
	info->kind = column->payload.kind;
	info->width = column->payload.width;
	info->nrows = column->nrows;
	info->nnulls = column->nnulls;
	info->crc = column->crc;
	return STRATA_CODEC_OK;
}

/* See codec.h. */
StrataCodecResult
strata_column_check(const uint8_t *buf, size_t len, uint32_t seal,
					StrataCodecInfo *info)
{
	Column		c;

	info->detail[0] = '\0';
	if (!crc_fits(buf, len, seal))
		return STRATA_CODEC_CORRUPT;
	return parse_header(buf, len, &c, info);
}

/* See codec.h. */
StrataCodecResult
strata_column_describe(const uint8_t *buf, size_t len, bool verify_crc,
					   StrataCodecInfo *info)
{
	Column		c;
	StrataCodecResult rc;

	memset(info, 0, sizeof(*info));
	if (verify_crc && !crc_fits(buf, len, 0))
		return STRATA_CODEC_CORRUPT;
	rc = parse_header(buf, len, &c, info);
	if (rc == STRATA_CODEC_OK && verify_crc && c.id == STRATA_CODEC_LARGE &&
		!strata_large_blocks_fit(&c.payload))
		rc = STRATA_CODEC_CORRUPT;
	if (rc != STRATA_CODEC_OK)
		return rc;
	if (c.payload.n == 0)
		snprintf(info->detail, sizeof(info->detail), "no values");
	else
		c.codec->describe(&c.payload, info->detail, sizeof(info->detail));
	return STRATA_CODEC_OK;
}

/* Parse a column that is to be of this codec; NOT_APPLICABLE: it is of another. */
static StrataCodecResult
parse_column_of(const uint8_t *buf, size_t len, StrataCodecId id, Column *c)
{
	StrataCodecResult rc = parse_column(buf, len, 0, NULL, c);

	return rc == STRATA_CODEC_OK && c->id != id ?
		STRATA_CODEC_NOT_APPLICABLE : rc;
}

/* Parse a column for decoding rows [from, from + n). */
static StrataCodecResult
open_column(const uint8_t *buf, size_t len, uint32_t from, uint32_t n,
			bool *isnull, Column *c)
{
	StrataCodecResult rc = parse_column(buf, len, n, isnull, c);

	if (rc != STRATA_CODEC_OK)
		return rc;
	if (from > c->nrows || n > c->nrows - from)
		return STRATA_CODEC_NOT_APPLICABLE;
	return c->codec->available ? STRATA_CODEC_OK : STRATA_CODEC_UNSUPPORTED;
}

/*
 * Values before row `from` and among the n rows from there; flags may be NULL.
 */
static uint32_t
count_column_values(const Column *c, uint32_t from, uint32_t n, bool *isnull,
					uint32_t *before)
{
	StrataReader in = c->nulls;

	*before = 0;
	if (c->flagged)
		return c->payload.n;
	return n - strata_nulls_read(c->null_mode, c->nrows, c->nnulls, &in, from,
								 n, isnull, before);
}

/* See codec.h. */
StrataCodecResult
strata_column_nulls(const uint8_t *buf, size_t len, uint32_t nrows,
					bool *isnull, uint32_t *nnulls)
{
	Column		c;
	StrataCodecResult rc = parse_column(buf, len, nrows, isnull, &c);

	if (rc == STRATA_CODEC_OK && c.nrows != nrows)
		rc = STRATA_CODEC_NOT_APPLICABLE;
	*nnulls = rc == STRATA_CODEC_OK ? c.nnulls : 0;
	return rc;
}

/* See codec.h. */
StrataCodecResult
strata_column_decode_scratch_size(const uint8_t *buf, size_t len,
								  uint32_t from, uint32_t n, size_t *size)
{
	Column		c;
	uint32_t	before;
	uint32_t	values;
	StrataCodecResult rc = open_column(buf, len, from, n, NULL, &c);

	*size = 0;
	if (rc != STRATA_CODEC_OK)
		return rc;
	values = count_column_values(&c, from, n, NULL, &before);
	if (values > 0)
		rc = strata_codec_decode_scratch(c.codec, &c.payload, before, values,
										 size);
	if (c.payload.kind == STRATA_KIND_BYTES && values < n)
		*size += STRATA_ARENA_SIZE(((size_t) n + 1) * sizeof(uint32_t));
	*size += STRATA_ARENA_ALIGN;
	return rc;
}

/*
 * Move values from the start of `out` to their rows, the last first, down to
 * row `stop`; nulls become 0.
 */
#define SPREAD(type) \
	do { \
		type	   *v = out; \
		while (row > stop && row > left) \
		{ \
			row--; \
			left -= !isnull[row]; \
			v[row] = (type) (v[left] & (type) (isnull[row] - 1)); \
		} \
	} while (0)

/* The same of any width; how many values are left in front of `stop`. */
static uint32_t
spread_rows(void *out, unsigned width, uint32_t left, const bool *isnull,
			uint32_t row, uint32_t stop)
{
	switch (width)
	{
		case 1:
			SPREAD(uint8_t);
			break;
		case 2:
			SPREAD(uint16_t);
			break;
		case 4:
			SPREAD(uint32_t);
			break;
		default:
			SPREAD(uint64_t);
	}
	return left;
}

/* Move values to their rows. */
static void
spread(void *out, unsigned width, uint32_t values, const bool *isnull,
	   uint32_t n)
{
	uint32_t	eights = n / 8 * 8;
	uint32_t	left = spread_rows(out, width, values, isnull, n, eights);

	Assert(values <= n);		/* codec:C3 */
	if (left < eights &&
		!strata_nulls_simd_spread(out, width, left, isnull, eights))
		spread_rows(out, width, left, isnull, eights, 0);
}

/* See codec.h. */
StrataCodecResult
strata_column_decode_fixed(const uint8_t *buf, size_t len, uint32_t from,
						   uint32_t n, void *scratch, size_t scratch_size,
						   void *out, bool *isnull, bool *hasnull)
{
	Column		c;
	StrataArena arena = strata_arena(scratch, scratch_size);
	uint32_t	before;
	uint32_t	values;
	StrataCodecResult rc = open_column(buf, len, from, n, isnull, &c);

	if (rc != STRATA_CODEC_OK)
		return rc;
	if (c.payload.kind == STRATA_KIND_BYTES)
		return STRATA_CODEC_NOT_APPLICABLE;
	values = count_column_values(&c, from, n, isnull, &before);
	*hasnull = values < n;
	if (values > 0)
		rc = c.codec->decode_fixed(&c.payload, before, values, &arena, out);
	if (rc == STRATA_CODEC_OK && values < n)
		spread(out, c.payload.width, values, isnull, n);
	return rc;
}

/* See codec.h. */
StrataCodecResult
strata_column_decode_integers(const uint8_t *buf, size_t len, uint32_t from,
							  uint32_t n, unsigned width, void *out)
{
	Column		c;
	StrataCodecResult rc = open_column(buf, len, from, n, NULL, &c);

	if (rc != STRATA_CODEC_OK)
		return rc;
	if (c.payload.kind != STRATA_KIND_FLOAT || c.id != STRATA_CODEC_DECIMAL ||
		c.nnulls > 0)
		return STRATA_CODEC_NOT_APPLICABLE;
	return strata_decimal_decode_integers(&c.payload, from, n, width, out);
}

/* See codec.h. */
StrataCodecResult
strata_column_decode_scaled(const uint8_t *buf, size_t len, uint32_t from,
							uint32_t n, void *scratch, size_t scratch_size,
							int64_t *out, uint8_t *displays, unsigned *scale,
							bool *isnull, bool *hasnull)
{
	Column		c;
	StrataArena arena = strata_arena(scratch, scratch_size);
	uint32_t	before;
	uint32_t	values;
	StrataCodecResult rc = open_column(buf, len, from, n, isnull, &c);

	if (rc != STRATA_CODEC_OK)
		return rc;
	if (c.payload.kind != STRATA_KIND_BYTES || c.id != STRATA_CODEC_NUMERIC)
		return STRATA_CODEC_NOT_APPLICABLE;
	values = count_column_values(&c, from, n, isnull, &before);
	*hasnull = values < n;
	*scale = 0;
	if (values > 0)
		rc = strata_numeric_decode_scaled(&c.payload, before, values, &arena,
										  out, displays, scale);
	if (rc != STRATA_CODEC_OK || values == n)
		return rc;
	spread(out, sizeof(int64_t), values, isnull, n);
	spread(displays, 1, values, isnull, n);
	return STRATA_CODEC_OK;
}

/*
 * Offsets or codes of values at their rows: a null row adds nothing, or is 0.
 */
static void
spread_bytes(StrataBytes *bytes, uint32_t *to, const bool *isnull, uint32_t n)
{
	uint32_t	value = 0;

	if (bytes->codes)
	{
		for (uint32_t i = 0; i < n; i++)
			to[i] = isnull[i] ? 0 : bytes->codes[value++];
		bytes->codes = to;
		return;
	}
	for (uint32_t i = 0; i < n; i++)
	{
		to[i] = bytes->offsets[value];
		value += !isnull[i];
	}
	to[n] = bytes->offsets[value];
	bytes->offsets = to;
	bytes->nentries = n;
}

/* See codec.h. */
StrataCodecResult
strata_column_decode_bytes(const uint8_t *buf, size_t len, uint32_t from,
						   uint32_t n, void *scratch, size_t scratch_size,
						   StrataBytes *out, bool *isnull, bool *hasnull)
{
	static const uint32_t zero[2] = {0, 0};
	Column		c;
	StrataArena arena = strata_arena(scratch, scratch_size);
	uint32_t	before;
	uint32_t	values;
	uint32_t   *to;
	StrataCodecResult rc = open_column(buf, len, from, n, isnull, &c);

	if (rc != STRATA_CODEC_OK)
		return rc;
	if (c.payload.kind != STRATA_KIND_BYTES)
		return STRATA_CODEC_NOT_APPLICABLE;
	values = count_column_values(&c, from, n, isnull, &before);
	*hasnull = values < n;
	*out = (StrataBytes)
	{
		0, buf, zero, NULL
	};
	if (values > 0)
		rc = c.codec->decode_bytes(&c.payload, before, values, &arena, out);
	if (rc != STRATA_CODEC_OK || values == n)
		return rc;
	to = strata_arena_alloc(&arena, ((size_t) n + 1) * sizeof(uint32_t));
	if (to == NULL)
		return STRATA_CODEC_NO_SPACE;
	spread_bytes(out, to, isnull, n);
	return STRATA_CODEC_OK;
}

/*
 * --- parts
 * ----------------------------------------------------------------
 */

/* Bytes of a header with any null map that an encoder writes, and more. */
#define HEADER_AND_MAP (HEADER_MAX + STRATA_CODEC_MAX_ROWS / 8 + 64)

/* See codec.h. */
StrataCodecResult
strata_large_need(const uint8_t *buf, size_t len, size_t *need)
{
	Column		c;
	size_t		head;

	*need = HEADER_AND_MAP;
	if (len < CRC_END)
		return STRATA_CODEC_OK;
	if (buf[1] != STRATA_CODEC_LARGE)
		return STRATA_CODEC_NOT_APPLICABLE;
	if (parse_column(buf, len, 0, NULL, &c) == STRATA_CODEC_OK &&
		strata_large_head_len(&c.payload, &head))
		*need = (size_t) (c.payload.data - buf) + head;
	else if (len >= HEADER_AND_MAP)
		return STRATA_CODEC_CORRUPT;
	return STRATA_CODEC_OK;
}

/* See codec.h. */
StrataCodecResult
strata_large_scratch_size(const uint8_t *buf, size_t len, size_t *size)
{
	Column		c;
	StrataCodecResult rc = parse_column_of(buf, len, STRATA_CODEC_LARGE, &c);

	*size = 0;
	if (rc == STRATA_CODEC_OK)
		rc = strata_large_payload_scratch(&c.payload, size);
	*size += STRATA_ARENA_ALIGN;
	return rc;
}

/* See codec.h. */
StrataCodecResult
strata_large_open(const uint8_t *buf, size_t len, void *scratch,
				  size_t scratch_size, StrataLarge *large, bool *isnull)
{
	Column		c;
	StrataArena arena = strata_arena(scratch, scratch_size);
	uint32_t	before;
	size_t		at;
	StrataCodecResult rc = parse_column_of(buf, len, STRATA_CODEC_LARGE, &c);

	if (rc == STRATA_CODEC_OK)
		rc = strata_large_payload_open(&c.payload, &arena, large);
	if (rc != STRATA_CODEC_OK)
		return rc;
	at = (size_t) (c.payload.data - buf);
	for (uint32_t b = 0; b <= large->nblocks; b++)
		large->blocks[b].stored_at += at;
	count_column_values(&c, 0, c.nrows, isnull, &before);
	return STRATA_CODEC_OK;
}

/* Move numbers from the start of v to their rows; nulls become 0. */
static void
spread_numbers(uint32_t *v, uint32_t values, const bool *isnull, uint32_t n)
{
	for (uint32_t i = n; i-- > 0;)
		v[i] = isnull[i] ? 0 : v[--values];
}

/* See codec.h. */
StrataCodecResult
strata_column_decode_lengths(const uint8_t *buf, size_t len, void *scratch,
							 size_t scratch_size, uint32_t *lengths,
							 uint32_t *tails, bool *isnull, bool *hasnull)
{
	Column		c;
	StrataArena arena = strata_arena(scratch, scratch_size);
	StrataLarge large;
	uint32_t	before;
	uint32_t	values;
	StrataCodecResult rc = parse_column(buf, len, 0, NULL, &c);

	if (rc != STRATA_CODEC_OK)
		return rc;
	if (c.payload.kind != STRATA_KIND_BYTES ||
		(c.id != STRATA_CODEC_LARGE &&
		 (tails != NULL || (c.id != STRATA_CODEC_RAW &&
							c.id != STRATA_CODEC_LZ4 &&
							c.id != STRATA_CODEC_ZSTD))))
		return STRATA_CODEC_NOT_APPLICABLE;
	values = count_column_values(&c, 0, c.nrows, isnull, &before);
	*hasnull = values < c.nrows;
	if (c.id != STRATA_CODEC_LARGE)
		rc = values > 0 ? strata_lzarray_decode_lengths(&c.payload, lengths) :
			STRATA_CODEC_OK;
	else
	{
		rc = strata_large_payload_open(&c.payload, &arena, &large);
		if (rc == STRATA_CODEC_OK)
			memcpy(lengths, large.lengths, values * sizeof(uint32_t));
		if (rc == STRATA_CODEC_OK && tails != NULL)
			memcpy(tails, large.tails, values * sizeof(uint32_t));
	}
	if (rc != STRATA_CODEC_OK || values == c.nrows)
		return rc;
	spread_numbers(lengths, values, isnull, c.nrows);
	if (tails != NULL)
		spread_numbers(tails, values, isnull, c.nrows);
	return STRATA_CODEC_OK;
}

/*
 * A column of documents, and how many documents the first n rows have; isnull
 * may be NULL.
 */
static StrataCodecResult
parse_members(const uint8_t *buf, size_t len, uint32_t n, bool *isnull,
			  Column *c, uint32_t *ndocs)
{
	uint32_t	before;
	StrataCodecResult rc = parse_column_of(buf, len, STRATA_CODEC_JSONB, c);

	*ndocs = 0;
	if (rc != STRATA_CODEC_OK)
		return rc;
	if (n == 0 || n > c->nrows)
		return STRATA_CODEC_CORRUPT;
	*ndocs = count_column_values(c, 0, n, isnull, &before);
	return *ndocs > c->payload.n || (n == c->nrows && *ndocs < c->payload.n) ?
		STRATA_CODEC_CORRUPT : STRATA_CODEC_OK;
}

/* See codec.h. */
StrataCodecResult
strata_column_members_scratch_size(const uint8_t *buf, size_t len,
								   uint32_t n, size_t *size)
{
	Column		c;
	uint32_t	values;
	StrataCodecResult rc = parse_members(buf, len, n, NULL, &c, &values);

	*size = 0;
	if (rc == STRATA_CODEC_OK && values > 0)
		rc = strata_jsonb_members_scratch(&c.payload, values, size);
	*size += STRATA_ARENA_ALIGN;
	return rc;
}

/* See codec.h. */
StrataCodecResult
strata_column_decode_members(const uint8_t *buf, size_t len, uint32_t n,
							 const StrataKey *keys, uint32_t nkeys,
							 void *scratch, size_t scratch_size,
							 StrataMembers *out, bool *isnull)
{
	Column		c;
	StrataArena arena = strata_arena(scratch, scratch_size);
	uint32_t	values;
	StrataCodecResult rc = parse_members(buf, len, n, isnull, &c, &values);

	if (rc == STRATA_CODEC_OK && values > 0)
		rc = strata_jsonb_members(&c.payload, values, keys, nkeys, &arena,
								  out);
	if (rc != STRATA_CODEC_OK || values == n)
		return rc;
	for (uint32_t i = n; i-- > 0;)
	{
		if (!isnull[i])
			values--;
		out->kinds[i] = isnull[i] ? STRATA_MEMBER_ABSENT : out->kinds[values];
		out->which[i] = isnull[i] ? 0 : out->which[values];
	}
	return STRATA_CODEC_OK;
}
