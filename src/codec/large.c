/*-------------------------------------------------------------------------
 *
 * large.c
 *	  Codec LARGE: byte strings of which parts can be read.
 *
 * Hides the layout of columns of large values.  What says where everything is
 * stands in front, in the head; the first bytes of all values come next, side
 * by side; the rest of each value follows in blocks of at most 64 kB.  Whoever
 * wants lengths reads the head, whoever wants the first bytes of the values a
 * block or two, whoever wants one value its blocks.
 *
 *	OFFSET	SIZE	MEANING
 *	0		1		library of the blocks: 1 (none), 6 (LZ4), 7 (zstd)
 *			1-5		bytes of the head behind this number, varint
 *			1-5		lead: so many first bytes of each value come first, varint
 *			1-5		length of the next part, varint
 *			...		lengths of the n values: an integer stream (int_stream.c)
 *			1-5		length of the next part, varint
 *			...		how many bytes of each value are 0x80 to 0xbf: an integer
 *					stream; in UTF-8 those that begin no character
 *			1-5		number of blocks, varint
 *			...		for each block: its bytes, varint; bytes here * 2 + (1 if
 *					compressed), varint; CRC-32C of its bytes here, u32
 *	head's end		the blocks' bytes, one after the other
 *
 * The blocks together are the *stream*: the first `lead` bytes of each value
 * (or all it has), then the rest of each.  A reader does not depend on where
 * blocks end; the encoder ends one before a value that does not fit into it.
 *
 * The column's checksum covers the head, which has those of the blocks: who
 * reads a part checks what it reads.
 *
 * Invariants codec:C7, codec:C17.
 *
 * Over 600 lines: writing and reading share the layout.
 *
 * src/codec/large.c
 *-------------------------------------------------------------------------
 */
#include <stdio.h>

#include "codec/codec_private.h"
#include "codec/lz_library.h"

/* First bytes of a value that stand with those of the others. */
#define LEAD_BYTES 512

/* Bytes of a block; in archives, of those behind the first bytes. */
#define BLOCK_BYTES 65536
#define BLOCK_BYTES_ARCHIVE (1024 * 1024)

/* What a decoder takes for the size of a block. */
#define BLOCK_BYTES_MAX (4 * 1024 * 1024)

/* See lzarray.c. */
#define MAX_RATIO 32768

/* Varints and checksum of a block's entry at their longest, and at least. */
#define ENTRY_MAX 14
#define ENTRY_MIN 6

/* Values of so many bytes on average are large. */
#define LARGE_BYTES 8192

/* Blocks there can be, apart from two for each value. */
#define FULL_BLOCKS_MAX (STRATA_BYTES_MAX / BLOCK_BYTES + 2)

/*
 * --- encoding
 * ----------------------------------------------------------------
 */

/* See codec_private.h. */
bool
strata_large_suits(const StrataVector *v)
{
	return v->kind == STRATA_KIND_BYTES && v->n > 0 &&
		v->offsets[v->n] / v->n >= LARGE_BYTES;
}

/* See codec_private.h. */
size_t
strata_large_overhead(uint32_t n, size_t nbytes)
{
	return 2 * strata_ints_bound(n) + 64 +
		((size_t) 2 * n + nbytes / BLOCK_BYTES + 2) * ENTRY_MAX;
}

/* Scratch for encoding v, whose bytes may not be known yet. */
static size_t
large_encode_scratch_size(const StrataVector *v)
{
	size_t		lz4 = strata_lz_scratch_size(STRATA_CODEC_LZ4);
	size_t		zstd = strata_lz_scratch_size(STRATA_CODEC_ZSTD);

	return STRATA_ARENA_SIZE(v->n * sizeof(int64_t)) +
		2 * STRATA_ARENA_SIZE(strata_ints_bound(v->n)) +
		strata_ints_scratch_size(v->n) +
		STRATA_ARENA_SIZE(((size_t) 2 * v->n + FULL_BLOCKS_MAX) * ENTRY_MAX) +
		STRATA_ARENA_SIZE(v->level == STRATA_LEVEL_ARCHIVE ?
						  BLOCK_BYTES_ARCHIVE : BLOCK_BYTES) +
		STRATA_ARENA_SIZE(lz4 > zstd ? lz4 : zstd);
}

/* Blocks being written; pieces are gathered in `buffer` if they are several. */
typedef struct BlockWriter
{
	StrataCodecId library;
	StrataLevel level;
	uint32_t	most;			/* bytes of a block */
	const uint8_t *piece;		/* the block's only one so far, or NULL */
	uint8_t    *buffer;
	uint32_t	used;
	uint32_t	nblocks;
	StrataWriter entries;
	StrataWriter blocks;
	void	   *lz;
} BlockWriter;

/* Write the block that was gathered, if there is one. */
static void
end_block(BlockWriter *b)
{
	const uint8_t *data = b->piece ? b->piece : b->buffer;
	size_t		cap = b->used - b->used / 32;
	uint8_t    *start = b->blocks.next;
	size_t		len = 0;

	if (b->used == 0 || b->blocks.failed)
		return;
	if (cap > strata_writer_left(&b->blocks))
		cap = strata_writer_left(&b->blocks);
	if (b->library != STRATA_CODEC_RAW)
		len = strata_lz_compress(b->library, b->level, data, b->used, start,
								 cap, b->lz);
	if (len > 0 && len < b->used)
		strata_write_space(&b->blocks, len);
	else
	{
		len = 0;
		strata_write_bytes(&b->blocks, data, b->used);
	}
	if (b->blocks.failed)
		return;
	strata_write_varint(&b->entries, b->used);
	strata_write_varint(&b->entries, len > 0 ? (uint64_t) len << 1 | 1 :
						(uint64_t) b->used << 1);
	strata_write_u32(&b->entries,
					 strata_crc32c(start, (size_t) (b->blocks.next - start)));
	b->nblocks++;
	b->used = 0;
	b->piece = NULL;
}

/* Add bytes to the stream: to one block, where they fit into one. */
static void
add_to_stream(BlockWriter *b, const uint8_t *data, uint32_t len)
{
	if (len == 0)
		return;
	if (len > b->most - b->used)
		end_block(b);
	for (; len > b->most; data += b->most, len -= b->most)
	{
		b->piece = data;
		b->used = b->most;
		end_block(b);
	}
	if (b->used == 0)
		b->piece = data;
	else
	{
		if (b->piece)
			memcpy(b->buffer, b->piece, b->used);
		b->piece = NULL;
		memcpy(b->buffer + b->used, data, len);
	}
	b->used += len;
}

/* Bytes that begin no character in UTF-8. */
STRATA_CLONES
static int64_t
count_tails(const uint8_t *data, uint32_t len)
{
	uint32_t	count = 0;

	for (uint32_t i = 0; i < len; i++)
		count += (data[i] & 0xc0) == 0x80;
	return count;
}

/* The streams of lengths and of tails. */
static StrataCodecResult
encode_numbers(const StrataVector *v, StrataArena *arena,
			   StrataWriter *lengths, StrataWriter *tails)
{
	size_t		bound = strata_ints_bound(v->n);
	int64_t    *numbers = strata_arena_alloc(arena, v->n * sizeof(int64_t));
	uint8_t    *first = strata_arena_alloc(arena, bound);
	uint8_t    *second = strata_arena_alloc(arena, bound);
	StrataArena rest = *arena;
	StrataCodecResult rc;

	if (numbers == NULL || first == NULL || second == NULL)
		return STRATA_CODEC_NO_SPACE;
	*lengths = strata_writer(first, bound);
	*tails = strata_writer(second, bound);
	for (uint32_t i = 0; i < v->n; i++)
		numbers[i] = (int64_t) v->offsets[i + 1] - v->offsets[i];
	rc = strata_ints_encode(numbers, v->n, v->level, &rest, lengths);
	if (rc != STRATA_CODEC_OK)
		return rc;
	for (uint32_t i = 0; i < v->n; i++)
		numbers[i] = count_tails(v->payload + v->offsets[i],
								 v->offsets[i + 1] - v->offsets[i]);
	rest = *arena;
	return strata_ints_encode(numbers, v->n, v->level, &rest, tails);
}

/* Write the stream. */
static void
write_stream(const StrataVector *v, BlockWriter *b)
{
	for (uint32_t i = 0; i < v->n; i++)
	{
		uint32_t	len = v->offsets[i + 1] - v->offsets[i];

		add_to_stream(b, v->payload + v->offsets[i],
					  len < LEAD_BYTES ? len : LEAD_BYTES);
	}
	end_block(b);
	if (v->level == STRATA_LEVEL_ARCHIVE)
		b->most = BLOCK_BYTES_ARCHIVE;
	for (uint32_t i = 0; i < v->n; i++)
	{
		uint32_t	len = v->offsets[i + 1] - v->offsets[i];

		if (len > LEAD_BYTES)
			add_to_stream(b, v->payload + v->offsets[i] + LEAD_BYTES,
						  len - LEAD_BYTES);
	}
	end_block(b);
}

/*
 * See codec_private.h.  Blocks go where the head cannot reach, and move up
 * when it is known.
 */
StrataCodecResult
strata_large_encode(StrataCodecId library, const StrataVector *v,
					StrataArena *scratch, StrataWriter *out,
					size_t *blocks_len)
{
	StrataArena arena = *scratch;
	StrataWriter lengths;
	StrataWriter tails;
	BlockWriter b = {.most = BLOCK_BYTES};
	size_t		entries_max = ((size_t) 2 * v->n + FULL_BLOCKS_MAX) *
	ENTRY_MAX;
	size_t		head_max = strata_large_overhead(v->n, v->offsets[v->n]);
	uint8_t    *entries;
	StrataWriter w;
	StrataCodecResult rc;

	Assert(v->n > 0);			/* codec:C4 */
	b.library = library;
	b.level = v->level;
	rc = encode_numbers(v, &arena, &lengths, &tails);
	if (rc != STRATA_CODEC_OK)
		return rc;
	entries = strata_arena_alloc(&arena, entries_max);
	b.buffer = strata_arena_alloc(&arena, v->level == STRATA_LEVEL_ARCHIVE ?
								  BLOCK_BYTES_ARCHIVE : BLOCK_BYTES);
	b.lz = strata_arena_alloc(&arena, strata_lz_scratch_size(library));
	if (entries == NULL || b.buffer == NULL || b.lz == NULL ||
		head_max > strata_writer_left(out))
		return STRATA_CODEC_NO_SPACE;
	b.entries = strata_writer(entries, entries_max);
	b.blocks = strata_writer(out->next + head_max,
							 strata_writer_left(out) - head_max);
	write_stream(v, &b);
	if (b.blocks.failed || b.entries.failed)
	{
		out->failed = true;
		return STRATA_CODEC_NO_SPACE;
	}
	*blocks_len = strata_writer_len(&b.blocks);

	/* the head behind its length, at the end of the room there is for it */
	w = strata_writer(out->next + 6, head_max - 6);
	strata_write_varint(&w, LEAD_BYTES);
	strata_write_varint(&w, strata_writer_len(&lengths));
	strata_write_bytes(&w, lengths.start, strata_writer_len(&lengths));
	strata_write_varint(&w, strata_writer_len(&tails));
	strata_write_bytes(&w, tails.start, strata_writer_len(&tails));
	strata_write_varint(&w, b.nblocks);
	strata_write_bytes(&w, entries, strata_writer_len(&b.entries));
	if (w.failed)
		return STRATA_CODEC_NO_SPACE;
	strata_write_u8(out, (uint8_t) library);
	strata_write_varint(out, strata_writer_len(&w));
	memmove(out->next, w.start, strata_writer_len(&w));
	out->next += strata_writer_len(&w);
	memmove(out->next, b.blocks.start, *blocks_len);
	out->next += *blocks_len;
	return STRATA_CODEC_OK;
}

/* The library that a column without another wish gets. */
static StrataCodecId
default_library(const StrataVector *v)
{
	bool		lz4 = strata_codec_available(STRATA_CODEC_LZ4);
	bool		zstd = strata_codec_available(STRATA_CODEC_ZSTD);

	if (v->hint == STRATA_BYTES_NO_LZ || (!lz4 && !zstd))
		return STRATA_CODEC_RAW;
	if (lz4 && (!zstd || v->hint == STRATA_BYTES_LZ4 ||
				v->level == STRATA_LEVEL_HOT))
		return STRATA_CODEC_LZ4;
	return STRATA_CODEC_ZSTD;
}

static StrataCodecResult
large_encode(const StrataVector *v, StrataArena *scratch, StrataWriter *out)
{
	size_t		blocks_len;

	return strata_large_encode(default_library(v), v, scratch, out,
							   &blocks_len);
}

/*
 * --- decoding
 * ----------------------------------------------------------------
 */

/* The parts of a head; they lie within it. */
typedef struct LargeHead
{
	StrataCodecId library;
	uint32_t	lead;
	const uint8_t *lengths;
	size_t		lengths_len;
	const uint8_t *tails;
	size_t		tails_len;
	uint32_t	nblocks;
	StrataReader entries;
	size_t		len;			/* where the blocks begin */
} LargeHead;

/* See codec_private.h. */
bool
strata_large_head_len(const StrataPayload *p, size_t *len)
{
	StrataReader in = strata_reader(p->data, p->len);
	uint64_t	size;

	strata_read_u8(&in);
	size = strata_read_varint(&in);
	if (in.failed || size > STRATA_BYTES_MAX)
		return false;
	*len = (size_t) (in.next - p->data) + (size_t) size;
	return true;
}

/* Take the head apart; the blocks need not be there. */
static StrataCodecResult
parse_head(const StrataPayload *p, LargeHead *head)
{
	StrataReader in;
	uint64_t	lead;
	uint64_t	nblocks;

	if (!strata_large_head_len(p, &head->len) || head->len > p->len)
		return STRATA_CODEC_CORRUPT;
	in = strata_reader(p->data, head->len);
	head->library = (StrataCodecId) strata_read_u8(&in);
	strata_read_varint(&in);
	lead = strata_read_varint(&in);
	head->lengths_len = strata_read_varint(&in);
	head->lengths = strata_read_bytes(&in, head->lengths_len);
	head->tails_len = strata_read_varint(&in);
	head->tails = strata_read_bytes(&in, head->tails_len);
	nblocks = strata_read_varint(&in);
	head->entries = in;
	if (in.failed || lead > STRATA_BYTES_MAX ||
		nblocks > strata_reader_left(&in) / ENTRY_MIN)
		return STRATA_CODEC_CORRUPT;
	head->lead = (uint32_t) lead;
	head->nblocks = (uint32_t) nblocks;
	if (head->library == STRATA_CODEC_RAW)
		return STRATA_CODEC_OK;
	if (head->library != STRATA_CODEC_LZ4 &&
		head->library != STRATA_CODEC_ZSTD)
		return STRATA_CODEC_CORRUPT;
	return strata_codec_available(head->library) ? STRATA_CODEC_OK :
		STRATA_CODEC_UNSUPPORTED;
}

/* See codec_private.h. */
bool
strata_large_blocks_fit(const StrataPayload *p)
{
	LargeHead	head;
	StrataReader blocks;

	if (parse_head(p, &head) == STRATA_CODEC_CORRUPT)
		return false;
	blocks = strata_reader(p->data + head.len, p->len - head.len);
	for (uint32_t b = 0; b < head.nblocks; b++)
	{
		size_t		size;
		uint32_t	crc;
		const uint8_t *stored;

		strata_read_varint(&head.entries);
		size = (size_t) (strata_read_varint(&head.entries) >> 1);
		crc = strata_read_u32(&head.entries);
		stored = strata_read_bytes(&blocks, size);
		if (head.entries.failed || stored == NULL ||
			strata_crc32c(stored, size) != crc)
			return false;
	}
	return strata_reader_left(&blocks) == 0;
}

static size_t
open_scratch_size(const LargeHead *head, uint32_t n)
{
	return STRATA_ARENA_SIZE(((size_t) head->nblocks + 1) *
							 sizeof(StrataLargeBlock)) +
		4 * STRATA_ARENA_SIZE(n * sizeof(uint32_t));
}

/* See codec_private.h. */
StrataCodecResult
strata_large_payload_scratch(const StrataPayload *p, size_t *size)
{
	LargeHead	head;
	StrataCodecResult rc = parse_head(p, &head);

	*size = rc == STRATA_CODEC_OK ? open_scratch_size(&head, p->n) : 0;
	return rc;
}

/* Read the blocks' entries; false when no blocks can be like that (C7). */
static bool
read_block_table(LargeHead *head, StrataLarge *large)
{
	uint64_t	raw_at = 0;
	uint64_t	stored_at = head->len;

	large->largest = 0;
	for (uint32_t b = 0; b < head->nblocks; b++)
	{
		uint64_t	raw_size = strata_read_varint(&head->entries);
		uint64_t	stored = strata_read_varint(&head->entries);
		uint32_t	crc = strata_read_u32(&head->entries);
		uint64_t	size = stored >> 1;

		if (head->entries.failed || raw_size == 0 ||
			raw_size > BLOCK_BYTES_MAX || size > STRATA_BYTES_MAX ||
			(stored & 1 ? raw_size > size * MAX_RATIO : size != raw_size) ||
			((stored & 1) && head->library == STRATA_CODEC_RAW))
			return false;
		large->blocks[b] = (StrataLargeBlock)
		{
			(uint32_t) raw_at, crc, stored_at, stored & 1
		};
		raw_at += raw_size;
		stored_at += size;
		if (raw_at > STRATA_BYTES_MAX)
			return false;
		if (raw_size > large->largest)
			large->largest = (uint32_t) raw_size;
	}
	large->blocks[head->nblocks] = (StrataLargeBlock)
	{
		(uint32_t) raw_at, 0, stored_at, false
	};
	return strata_reader_left(&head->entries) == 0;
}

/* Where each value is in the stream; false when that is not all of it. */
static bool
place_values(StrataLarge *large)
{
	uint64_t	lead_at = 0;
	uint64_t	body_at = 0;

	for (uint32_t i = 0; i < large->n; i++)
	{
		uint32_t	len = large->lengths[i];

		if (large->tails[i] > len || len > STRATA_BYTES_MAX)
			return false;
		large->lead_at[i] = (uint32_t) lead_at;
		lead_at += len < large->lead ? len : large->lead;
		if (lead_at > STRATA_BYTES_MAX)
			return false;
	}
	for (uint32_t i = 0; i < large->n; i++)
	{
		uint32_t	len = large->lengths[i];

		large->body_at[i] = (uint32_t) (lead_at + body_at);
		body_at += len < large->lead ? 0 : len - large->lead;
		if (lead_at + body_at > STRATA_BYTES_MAX)
			return false;
	}
	return lead_at + body_at == large->blocks[large->nblocks].raw_at;
}

/* See codec_private.h. */
StrataCodecResult
strata_large_payload_open(const StrataPayload *p, StrataArena *scratch,
						  StrataLarge *large)
{
	LargeHead	head;
	StrataCodecResult rc = parse_head(p, &head);

	if (rc != STRATA_CODEC_OK)
		return rc;
	large->library = head.library;
	large->n = p->n;
	large->lead = head.lead;
	large->nblocks = head.nblocks;
	large->blocks = strata_arena_alloc(scratch, ((size_t) head.nblocks + 1) *
									   sizeof(StrataLargeBlock));
	large->lengths = strata_arena_alloc(scratch, p->n * sizeof(uint32_t));
	large->tails = strata_arena_alloc(scratch, p->n * sizeof(uint32_t));
	large->lead_at = strata_arena_alloc(scratch, p->n * sizeof(uint32_t));
	large->body_at = strata_arena_alloc(scratch, p->n * sizeof(uint32_t));
	if (large->blocks == NULL || large->lengths == NULL ||
		large->tails == NULL || large->lead_at == NULL ||
		large->body_at == NULL)
		return STRATA_CODEC_NO_SPACE;
	rc = strata_ints_decode(head.lengths, head.lengths_len, p->n, 0, p->n,
							sizeof(uint32_t), large->lengths);
	if (rc == STRATA_CODEC_OK)
		rc = strata_ints_decode(head.tails, head.tails_len, p->n, 0, p->n,
								sizeof(uint32_t), large->tails);
	if (rc != STRATA_CODEC_OK)
		return rc;
	return read_block_table(&head, large) && place_values(large) ?
		STRATA_CODEC_OK : STRATA_CODEC_CORRUPT;
}

/* See codec.h. */
uint32_t
strata_large_find_block(const StrataLarge *large, uint32_t at)
{
	uint32_t	from = 0;
	uint32_t	to = large->nblocks;

	while (to - from > 1)
	{
		uint32_t	mid = from + (to - from) / 2;

		if (large->blocks[mid].raw_at <= at)
			from = mid;
		else
			to = mid;
	}
	Assert(large->nblocks > 0 &&
		   at < large->blocks[large->nblocks].raw_at);	/* codec:C2 */
	return from;
}

/* See codec.h. */
StrataCodecResult
strata_large_read_block(const StrataLarge *large, uint32_t b,
						const uint8_t *stored, uint8_t *to)
{
	const StrataLargeBlock *block = &large->blocks[b];
	size_t		size = (size_t) (block[1].stored_at - block->stored_at);
	uint32_t	raw_size = block[1].raw_at - block->raw_at;

	Assert(b < large->nblocks && raw_size <= BLOCK_BYTES_MAX);	/* codec:C7 */
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	if (strata_crc32c(stored, size) != block->crc)
		return STRATA_CODEC_CORRUPT;	/* codec:C17 */
#endif
	if (block->compressed)
		return strata_lz_decompress(large->library, stored, size, to,
									raw_size);
	memcpy(to, stored, raw_size);
	return STRATA_CODEC_OK;
}

/* Values [from, from + n): what open and decode need. */
static StrataCodecResult
large_decode_scratch_size(const StrataPayload *p, uint32_t from, uint32_t n,
						  size_t *size)
{
	LargeHead	head;
	StrataReader entries;
	StrataCodecResult rc = parse_head(p, &head);
	uint64_t	total = 0;
	uint64_t	largest = 0;

	(void) from;
	*size = 0;
	if (rc != STRATA_CODEC_OK)
		return rc;
	entries = head.entries;
	for (uint32_t b = 0; b < head.nblocks; b++)
	{
		uint64_t	raw_size = strata_read_varint(&entries);

		strata_read_varint(&entries);
		strata_read_u32(&entries);
		if (raw_size > BLOCK_BYTES_MAX)
			return STRATA_CODEC_CORRUPT;
		total += raw_size;
		largest = raw_size > largest ? raw_size : largest;
	}
	if (entries.failed || total > STRATA_BYTES_MAX)
		return STRATA_CODEC_CORRUPT;
	*size = open_scratch_size(&head, p->n) + STRATA_ARENA_SIZE(largest) +
		STRATA_ARENA_SIZE(((size_t) n + 1) * sizeof(uint32_t)) +
		STRATA_ARENA_SIZE(total);
	return STRATA_CODEC_OK;
}

/* The block that was read last, of a payload that is all there. */
typedef struct BlockReader
{
	const StrataLarge *large;
	const StrataPayload *payload;
	uint8_t    *bytes;
	uint32_t	block;			/* its number; UINT32_MAX: none */
} BlockReader;

/* Copy a part of the stream; blocks that are all of it are read into place. */
static StrataCodecResult
read_stream(BlockReader *r, uint32_t at, uint32_t len, uint8_t *to)
{
	const StrataLarge *large = r->large;
	uint32_t	b = len > 0 ? strata_large_find_block(large, at) : 0;

	for (; len > 0; b++)
	{
		const StrataLargeBlock *block = &large->blocks[b];
		uint32_t	skip = at - block->raw_at;
		uint32_t	there = block[1].raw_at - at;
		uint32_t	part = len < there ? len : there;
		bool		whole = skip == 0 && part == there;
		const uint8_t *stored = r->payload->data + block->stored_at;
		StrataCodecResult rc = STRATA_CODEC_OK;

		if (r->block != b)
			rc = strata_large_read_block(large, b, stored,
										 whole ? to : r->bytes);
		if (rc != STRATA_CODEC_OK)
			return rc;
		if (r->block == b || !whole)
		{
			r->block = b;
			memcpy(to, r->bytes + skip, part);
		}
		at += part;
		to += part;
		len -= part;
	}
	return STRATA_CODEC_OK;
}

/* Values [from, from + n), flat. */
static StrataCodecResult
large_decode_bytes(const StrataPayload *p, uint32_t from, uint32_t n,
				   StrataArena *scratch, StrataBytes *out)
{
	StrataLarge large;
	BlockReader r = {&large, p, NULL, UINT32_MAX};
	StrataCodecResult rc = strata_large_payload_open(p, scratch, &large);
	uint32_t   *offsets;
	uint8_t    *bytes;

	Assert(n <= p->n && from <= p->n - n);	/* codec:C2 */
	if (rc != STRATA_CODEC_OK)
		return rc;
	if (large.blocks[large.nblocks].stored_at != p->len)
		return STRATA_CODEC_CORRUPT;
	offsets = strata_arena_alloc(scratch, ((size_t) n + 1) * sizeof(uint32_t));
	r.bytes = strata_arena_alloc(scratch, large.largest);
	if (offsets == NULL || r.bytes == NULL)
		return STRATA_CODEC_NO_SPACE;
	offsets[0] = 0;
	for (uint32_t i = 0; i < n; i++)
		offsets[i + 1] = offsets[i] + large.lengths[from + i];
	bytes = strata_arena_alloc(scratch, offsets[n]);
	if (bytes == NULL)
		return STRATA_CODEC_NO_SPACE;
	for (uint32_t i = 0; i < n && rc == STRATA_CODEC_OK; i++)
	{
		uint32_t	len = large.lengths[from + i];

		rc = read_stream(&r, large.lead_at[from + i],
						 len < large.lead ? len : large.lead,
						 bytes + offsets[i]);
	}
	for (uint32_t i = 0; i < n && rc == STRATA_CODEC_OK; i++)
		if (large.lengths[from + i] > large.lead)
			rc = read_stream(&r, large.body_at[from + i],
							 large.lengths[from + i] - large.lead,
							 bytes + offsets[i] + large.lead);
	*out = (StrataBytes)
	{
		n, bytes, offsets, NULL
	};
	return rc;
}

/* For people: "zstd, 40 blocks, first 512 bytes apart". */
static void
large_describe(const StrataPayload *p, char *text, size_t size)
{
	LargeHead	head;

	text[0] = '\0';
	if (parse_head(p, &head) == STRATA_CODEC_OK)
		snprintf(text, size, "%s, %u blocks, first %u bytes apart",
				 strata_codec_name(head.library), head.nblocks, head.lead);
}

const StrataCodec strata_codec_large = {
	.name = "large",
	.kinds = 1U << STRATA_KIND_BYTES,
	.available = true,
	.encode_scratch_size = large_encode_scratch_size,
	.encode = large_encode,
	.decode_scratch_size = large_decode_scratch_size,
	.decode_bytes = large_decode_bytes,
	.describe = large_describe,
};
