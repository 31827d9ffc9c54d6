/*-------------------------------------------------------------------------
 *
 * lzarray.c
 *	  Codecs LZ4 and ZSTD: byte strings as lengths and compressed blocks.
 *
 * Hides the layout of byte string payloads; RAW uses the same one with every
 * block stored.  (For floats in zstd see float_lz.c.)
 *
 *	OFFSET	SIZE	MEANING
 *	0		1-5		number of blocks, varint
 *			...		for each block: number of its values, varint; their bytes
 *					together, varint; bytes here * 2 + (1 if compressed),
 *					varint
 *			1-5		length of the next part, varint
 *			...		lengths of the n values: an integer stream (int_stream.c)
 *			...		the blocks' bytes, one after the other
 *
 * A block ends before the value that would take it over 64 kB (zstd 512 kB) or
 * 4096 values (in archives: over 4 MB), so decoding rows decompresses only the
 * blocks they are in; a larger value has a block of its own.  A block that
 * compression does not make 3 % smaller is stored.  Stored blocks are not
 * copied by the decoder.
 *
 * Invariant codec:C7: bytes claimed for a compressed block are bounded before
 * anyone makes room for them: 4 MB unless it holds one value, and MAX_RATIO
 * times its compressed size.
 *
 * References: LZ4 block format and zstd (RFC 8878).
 *
 * src/codec/lzarray.c
 *-------------------------------------------------------------------------
 */
#include <stdio.h>

#include "codec/float_lz.h"
#include "codec/lz_library.h"

#define BLOCK_BYTES 65536
#define BLOCK_ROWS 4096

/* zstd looks further back than LZ4 does. */
#define BLOCK_BYTES_ZSTD (8 * BLOCK_BYTES)

/*
 * The same in archives, where a block is as much as a decoder will make room
 * for.
 */
#define BLOCK_BYTES_MAX (4 * 1024 * 1024)

/* A zstd block of 4 bytes can stand for 128 kB; LZ4 is far below that. */
#define MAX_RATIO 32768

/* Varints of a block's entry at their longest. */
#define ENTRY_MAX 15

/* Where blocks are tried out before they are compressed in earnest. */
#define SAMPLE_ABOVE 32768
#define SAMPLE_BYTES 4096

/*
 * --- encoding
 * ----------------------------------------------------------------
 */

/* The value behind the last one of the block that starts with value `from`. */
static uint32_t
block_end(StrataCodecId id, const StrataVector *v, uint32_t from)
{
	bool		archive = v->level == STRATA_LEVEL_ARCHIVE;
	uint32_t	limit;
	uint32_t	most;
	uint32_t	end = from + 1;

	limit = archive || v->n - from < BLOCK_ROWS ? v->n : from + BLOCK_ROWS;
	most = archive ? BLOCK_BYTES_MAX : id == STRATA_CODEC_ZSTD ?
		BLOCK_BYTES_ZSTD : BLOCK_BYTES;
	while (end < limit && v->offsets[end + 1] - v->offsets[from] <= most)
		end++;
	return end;
}

/* Scratch for encoding v: lengths, their stream, block entries, LZ state. */
size_t
strata_lzarray_scratch_size(StrataCodecId id, const StrataVector *v)
{
	return STRATA_ARENA_SIZE(v->n * sizeof(int64_t)) +
		STRATA_ARENA_SIZE(strata_ints_bound(v->n)) +
		strata_ints_scratch_size(v->n) +
		STRATA_ARENA_SIZE(((size_t) v->n + 1) * sizeof(uint32_t)) +
		STRATA_ARENA_SIZE(SAMPLE_BYTES) +
		STRATA_ARENA_SIZE(strata_lz_scratch_size(id));
}

/*
 * Is it a waste of time to compress this?  True when neither the start nor the
 * middle of a large block shrinks.
 */
static bool
looks_incompressible(StrataCodecId id, StrataLevel level, const uint8_t *data,
					 size_t nbytes, uint8_t *sample, void *lz_scratch)
{
	size_t		wanted = SAMPLE_BYTES - SAMPLE_BYTES / 32;

	return nbytes > SAMPLE_ABOVE &&
		strata_lz_compress(id, level, data, SAMPLE_BYTES, sample, wanted,
						   lz_scratch) == 0 &&
		strata_lz_compress(id, level, data + nbytes / 2, SAMPLE_BYTES,
						   sample, wanted, lz_scratch) == 0;
}

/* What encode keeps of its scratch. */
typedef struct ArrayScratch
{
	uint8_t    *lengths;		/* stream of the lengths */
	size_t		lengths_len;
	uint32_t   *stored;			/* per block: bytes written * 2 + compressed */
	uint8_t    *sample;
	void	   *lz;
} ArrayScratch;

/* Set up the scratch and encode the lengths. */
static StrataCodecResult
lzarray_prepare(StrataCodecId id, const StrataVector *v, StrataArena *arena,
				ArrayScratch *s)
{
	size_t		bound = strata_ints_bound(v->n);
	int64_t    *lengths = strata_arena_alloc(arena, v->n * sizeof(int64_t));
	StrataWriter w;
	StrataCodecResult rc;

	s->lengths = strata_arena_alloc(arena, bound);
	s->stored = strata_arena_alloc(arena,
								   ((size_t) v->n + 1) * sizeof(uint32_t));
	s->sample = strata_arena_alloc(arena, SAMPLE_BYTES);
	s->lz = strata_arena_alloc(arena, strata_lz_scratch_size(id));
	if (lengths == NULL || s->lengths == NULL || s->stored == NULL ||
		s->sample == NULL || s->lz == NULL)
		return STRATA_CODEC_NO_SPACE;
	for (uint32_t i = 0; i < v->n; i++)
		lengths[i] = (int64_t) v->offsets[i + 1] - v->offsets[i];
	w = strata_writer(s->lengths, bound);
	rc = strata_ints_encode(lengths, v->n, v->level, arena, &w);
	s->lengths_len = strata_writer_len(&w);
	return rc;
}

/* Write the bytes of one block; returns what its entry says of it. */
static uint32_t
lzarray_write_block(StrataCodecId id, StrataLevel level, const uint8_t *data,
					size_t nbytes, const ArrayScratch *s, StrataWriter *out)
{
	size_t		cap = nbytes - nbytes / 32;
	size_t		len = 0;

	if (cap > strata_writer_left(out))
		cap = strata_writer_left(out);
	if (id != STRATA_CODEC_RAW &&
		!looks_incompressible(id, level, data, nbytes, s->sample, s->lz))
		len = strata_lz_compress(id, level, data, nbytes, out->next, cap,
								 s->lz);
	if (len > 0 && len < nbytes)
	{
		strata_write_space(out, len);
		return (uint32_t) len << 1 | 1;
	}
	strata_write_bytes(out, data, nbytes);
	return (uint32_t) nbytes << 1;
}

/*
 * Encode byte strings with LZ4, ZSTD or RAW; *blocks_len is what the blocks
 * take of it.
 */
StrataCodecResult
strata_lzarray_encode(StrataCodecId id, const StrataVector *v,
					  StrataArena *scratch, StrataWriter *out,
					  size_t *blocks_len)
{
	StrataArena arena = *scratch;
	ArrayScratch s;
	StrataCodecResult rc;
	StrataWriter body;
	uint32_t	nblocks = 0;
	size_t		head_bound;

	Assert(v->n > 0);			/* codec:C4 */
	rc = lzarray_prepare(id, v, &arena, &s);
	if (rc != STRATA_CODEC_OK)
		return rc;
	for (uint32_t i = 0; i < v->n; i = block_end(id, v, i))
		nblocks++;

	/* blocks go where the head cannot reach, and move up when it is known */
	head_bound = 10 + (size_t) nblocks * ENTRY_MAX + s.lengths_len;
	if (head_bound > strata_writer_left(out))
	{
		out->failed = true;
		return STRATA_CODEC_NO_SPACE;
	}
	body = strata_writer(out->next + head_bound,
						 strata_writer_left(out) - head_bound);
	nblocks = 0;
	for (uint32_t i = 0, end; i < v->n && !body.failed; i = end)
	{
		end = block_end(id, v, i);
		s.stored[nblocks++] =
			lzarray_write_block(id, v->level, v->payload + v->offsets[i],
								v->offsets[end] - v->offsets[i], &s, &body);
	}
	if (body.failed)
	{
		out->failed = true;
		return STRATA_CODEC_NO_SPACE;
	}
	*blocks_len = strata_writer_len(&body);

	strata_write_varint(out, nblocks);
	nblocks = 0;
	for (uint32_t i = 0, end; i < v->n; i = end)
	{
		end = block_end(id, v, i);
		strata_write_varint(out, end - i);
		strata_write_varint(out, v->offsets[end] - v->offsets[i]);
		strata_write_varint(out, s.stored[nblocks++]);
	}
	strata_write_varint(out, s.lengths_len);
	strata_write_bytes(out, s.lengths, s.lengths_len);
	memmove(out->next, body.start, *blocks_len);
	out->next += *blocks_len;
	return STRATA_CODEC_OK;
}

/*
 * --- decoding
 * ----------------------------------------------------------------
 */

/* One block's entry. */
typedef struct ArrayBlock
{
	uint32_t	nvalues;
	uint32_t	raw_size;
	uint32_t	size;			/* bytes in the payload */
	bool		compressed;
} ArrayBlock;

/* Where the blocks that hold some values are. */
typedef struct ArrayRange
{
	StrataReader entries;		/* at the first of these blocks */
	uint32_t	nblocks;
	uint32_t	first;			/* value the first block starts with */
	uint32_t	nvalues;		/* values in these blocks */
	size_t		raw_size;		/* bytes in these blocks */
	bool		stored;			/* none of them is compressed */
	const uint8_t *lengths;
	size_t		lengths_len;
	const uint8_t *data;		/* bytes of the first block */
} ArrayRange;

/* Read an entry; false when no block can be like that (codec:C7). */
static bool
read_block_entry(StrataReader *in, uint32_t values_left, ArrayBlock *block)
{
	uint64_t	nvalues = strata_read_varint(in);
	uint64_t	raw_size = strata_read_varint(in);
	uint64_t	stored = strata_read_varint(in);
	uint64_t	size = stored >> 1;

	if (in->failed || nvalues == 0 || nvalues > values_left ||
		raw_size > STRATA_BYTES_MAX || size > STRATA_BYTES_MAX)
		return false;
	if (stored & 1)
	{
		if (raw_size > size * MAX_RATIO ||
			(nvalues > 1 && raw_size > BLOCK_BYTES_MAX))
			return false;
	}
	else if (size != raw_size)
		return false;
	*block = (ArrayBlock)
	{
		(uint32_t) nvalues, (uint32_t) raw_size, (uint32_t) size, stored & 1
	};
	return true;
}

/* Find the blocks of values [from, from + n), checking the head on the way. */
static bool
locate(const StrataPayload *p, uint32_t from, uint32_t n, ArrayRange *range)
{
	StrataReader in = strata_reader(p->data, p->len);
	uint64_t	nblocks = strata_read_varint(&in);
	uint32_t	value = 0;
	size_t		before = 0;
	size_t		total = 0;

	memset(range, 0, sizeof(*range));
	range->stored = true;
	if (in.failed || nblocks > p->n)
		return false;
	for (uint64_t b = 0; b < nblocks; b++)
	{
		StrataReader entry = in;
		ArrayBlock	block;

		if (!read_block_entry(&in, p->n - value, &block))
			return false;
		if (value + block.nvalues > from && value < from + n)
		{
			if (range->nblocks++ == 0)
			{
				range->entries = entry;
				range->first = value;
				before = total;
			}
			range->nvalues += block.nvalues;
			range->raw_size += block.raw_size;
			range->stored = range->stored && !block.compressed;
		}
		value += block.nvalues;
		total += block.size;
	}
	range->lengths_len = strata_read_varint(&in);
	range->lengths = strata_read_bytes(&in, range->lengths_len);
	strata_read_bytes(&in, before);
	range->data = in.next;
	return !in.failed && value == p->n &&
		strata_reader_left(&in) == total - before &&
		range->raw_size <= STRATA_BYTES_MAX;
}

/* Scratch to decode values [from, from + n). */
StrataCodecResult
strata_lzarray_decode_size(const StrataPayload *p, uint32_t from, uint32_t n,
						   size_t *size)
{
	ArrayRange	range;

	if (!locate(p, from, n, &range))
		return STRATA_CODEC_CORRUPT;
	*size =
		STRATA_ARENA_SIZE(((size_t) range.nvalues + 1) * sizeof(uint32_t)) +
		(range.stored ? 0 : STRATA_ARENA_SIZE(range.raw_size));
	return STRATA_CODEC_OK;
}

/*
 * Turn the lengths of a block's values into offsets in place, starting at
 * `offset`; false when they do not add up to raw_size.
 */
static bool
lengths_to_offsets(uint32_t *lengths, uint32_t n, uint32_t offset,
				   uint32_t raw_size)
{
	uint64_t	sum = 0;

	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t	length = lengths[i];

		lengths[i] = offset + (uint32_t) sum;
		sum += length;
	}
	return sum == raw_size;
}

/* Put a block's bytes at `to`. */
static StrataCodecResult
read_block(StrataCodecId id, const ArrayBlock *block, const uint8_t *from,
		   uint8_t *to)
{
	Assert(block->size <= STRATA_BYTES_MAX &&
		   block->raw_size <= STRATA_BYTES_MAX);	/* codec:C7 */
	if (block->compressed)
		return strata_lz_decompress(id, from, block->size, to,
									block->raw_size);
	if (block->size > 0)
		memcpy(to, from, block->size);
	return STRATA_CODEC_OK;
}

/* Values [from, from + n), flat. */
StrataCodecResult
strata_lzarray_decode(StrataCodecId id, const StrataPayload *p, uint32_t from,
					  uint32_t n, StrataArena *scratch, StrataBytes *out)
{
	ArrayRange	range;
	uint32_t   *offsets;
	uint8_t    *bytes = NULL;
	uint32_t	skip;
	uint32_t	value = 0;
	uint32_t	offset = 0;
	StrataCodecResult rc;

	Assert(n <= p->n && from <= p->n - n);	/* codec:C2 */
	if (!locate(p, from, n, &range))
		return STRATA_CODEC_CORRUPT;
	offsets = strata_arena_alloc(scratch, ((size_t) range.nvalues + 1) *
								 sizeof(uint32_t));
	if (!range.stored)
		bytes = strata_arena_alloc(scratch, range.raw_size);
	if (offsets == NULL || (!range.stored && bytes == NULL))
		return STRATA_CODEC_NO_SPACE;
	rc = strata_ints_decode(range.lengths, range.lengths_len, p->n,
							range.first, range.nvalues, sizeof(uint32_t),
							offsets);
	out->payload = range.stored ? range.data : bytes;
	for (uint32_t b = 0; b < range.nblocks && rc == STRATA_CODEC_OK; b++)
	{
		ArrayBlock	block;

		if (!read_block_entry(&range.entries, p->n, &block) ||
			!lengths_to_offsets(offsets + value, block.nvalues, offset,
								block.raw_size))
			return STRATA_CODEC_CORRUPT;
		if (!range.stored)
			rc = read_block(id, &block, range.data, bytes + offset);
		range.data += block.size;
		value += block.nvalues;
		offset += block.raw_size;
	}
	if (rc != STRATA_CODEC_OK)
		return rc;
	Assert(value == range.nvalues &&
		   (range.stored || offset == range.raw_size)); /* codec:C7 */
	offsets[value] = offset;

	/* hand out from the wanted value on, with offsets that start at 0 */
	offsets += from - range.first;
	skip = offsets[0];
	if (skip > 0)
		for (uint32_t i = 0; i <= n; i++)
			offsets[i] -= skip;
	out->payload += skip;
	out->nentries = n;
	out->offsets = offsets;
	out->codes = NULL;
	return STRATA_CODEC_OK;
}

/* See codec.h: the lengths of all values, without their bytes. */
StrataCodecResult
strata_lzarray_decode_lengths(const StrataPayload *p, uint32_t *lengths)
{
	ArrayRange	range;
	StrataCodecResult rc;

	if (!locate(p, 0, p->n, &range))
		return STRATA_CODEC_CORRUPT;
	rc = strata_ints_decode(range.lengths, range.lengths_len, p->n, 0, p->n,
							sizeof(uint32_t), lengths);
	for (uint32_t i = 0; i < p->n && rc == STRATA_CODEC_OK; i++)
		if (lengths[i] > STRATA_BYTES_MAX)
			rc = STRATA_CODEC_CORRUPT;
	return rc;
}

/* For people: "3 blocks, 120000 bytes in 40000". */
void
strata_lzarray_describe(const StrataPayload *p, char *text, size_t size)
{
	ArrayRange	range;

	text[0] = '\0';
	if (p->n > 0 && locate(p, 0, p->n, &range))
		snprintf(text, size, "%u blocks, %zu bytes in %zu", range.nblocks,
				 range.raw_size, (size_t) (p->data + p->len - range.data));
}

/*
 * --- the two codecs
 * ------------------------------------------------------------
 */

/* Byte strings, or, zstd only, floats. */
static StrataCodecResult
decode_size(const StrataPayload *p, uint32_t from, uint32_t n, size_t *size)
{
	return p->kind == STRATA_KIND_FLOAT ?
		strata_float_lz_decode_size(p, size) :
		strata_lzarray_decode_size(p, from, n, size);
}

static void
describe(const StrataPayload *p, char *text, size_t size)
{
	if (p->kind == STRATA_KIND_FLOAT)
		strata_float_lz_describe(p, text, size);
	else
		strata_lzarray_describe(p, text, size);
}

#define DEFINE_CODEC(suffix, id_, name_, kinds_, available_) \
	static size_t scratch_size_##suffix(const StrataVector *v) \
	{ \
		return v->kind == STRATA_KIND_FLOAT ? \
			strata_float_lz_scratch_size(v) : \
			strata_lzarray_scratch_size(id_, v); \
	} \
	static StrataCodecResult encode_##suffix(const StrataVector *v, \
											 StrataArena *scratch, \
											 StrataWriter *out) \
	{ \
		size_t blocks_len; \
\
		return v->kind == STRATA_KIND_FLOAT ? \
			strata_float_lz_encode(v, scratch, out) : \
			strata_lzarray_encode(id_, v, scratch, out, &blocks_len); \
	} \
	static StrataCodecResult decode_##suffix(const StrataPayload *p, \
											 uint32_t from, uint32_t n, \
											 StrataArena *scratch, \
											 StrataBytes *out) \
	{ \
		return strata_lzarray_decode(id_, p, from, n, scratch, out); \
	} \
	const StrataCodec strata_codec_##suffix = { \
		.name = name_, \
		.kinds = kinds_, \
		.available = available_, \
		.encode_scratch_size = scratch_size_##suffix, \
		.encode = encode_##suffix, \
		.decode_scratch_size = decode_size, \
		.decode_fixed = strata_float_lz_decode, \
		.decode_bytes = decode_##suffix, \
		.describe = describe, \
	}

#define BYTES_ONLY (1U << STRATA_KIND_BYTES)
#define BYTES_OR_FLOATS (1U << STRATA_KIND_BYTES | 1U << STRATA_KIND_FLOAT)

#ifdef USE_LZ4
DEFINE_CODEC(lz4, STRATA_CODEC_LZ4, "lz4", BYTES_ONLY, true);
#else
DEFINE_CODEC(lz4, STRATA_CODEC_LZ4, "lz4", BYTES_ONLY, false);
#endif
#ifdef USE_ZSTD
DEFINE_CODEC(zstd, STRATA_CODEC_ZSTD, "zstd", BYTES_OR_FLOATS, true);
#else
DEFINE_CODEC(zstd, STRATA_CODEC_ZSTD, "zstd", BYTES_OR_FLOATS, false);
#endif
