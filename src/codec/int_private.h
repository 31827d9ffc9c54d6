/*-------------------------------------------------------------------------
 *
 * int_private.h
 *	  What the files of the integer stream share: its shape, and the two ways
 *	  to pack a block of unsigned numbers.
 *
 * int_stream.c reads and writes streams, int_plan.c chooses the shape,
 * int_block.c does one block; simple8b_rle.c and bitpack.c pack numbers.
 *
 * src/codec/int_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_INT_PRIVATE_H
#define STRATA_INT_PRIVATE_H

#include "codec_private.h"

/* What is packed: the values, their differences, or the differences of those. */
typedef enum IntTransform
{
	INT_VALUES = 0,
	INT_DELTA = 1,
	INT_DELTA_DELTA = 2
} IntTransform;

/* How the numbers of a block are packed. */
typedef enum IntPacking
{
	INT_PACK_NONE = 0,			/* all differences are equal: header only */
	INT_PACK_SIMPLE8B = 1,		/* 64-bit words with selectors and runs */
	INT_PACK_BITS = 2			/* one width a block, wide ones patched */
} IntPacking;

/*
 * The shape of a stream, its mode byte.  A block holds 1 << block_log2 values;
 * the first `transform` of them are in the block's header.
 */
typedef struct IntShape
{
	IntTransform transform;
	IntPacking	packing;
	bool		based;			/* numbers are offsets from the block's minimum, else zigzag */
	unsigned	block_log2;
} IntShape;

#define INT_BLOCK_LOG2_MIN 6
#define INT_BLOCK_LOG2_MAX 8
#define INT_BLOCK_MAX (1 << INT_BLOCK_LOG2_MAX)

/* Unpackers write whole groups: room a buffer of a block needs. */
#define INT_BLOCK_BUFFER (INT_BLOCK_MAX + 64)

/* A block's size field. */
typedef struct IntBlockSize
{
	unsigned	nwords;			/* SIMPLE8B */
	unsigned	width;			/* BITS */
	bool		patched;
} IntBlockSize;

/* How a block of bit-packed numbers is laid out. */
typedef struct IntBitsPlan
{
	unsigned	width;
	unsigned	npatches;
	unsigned	high_width;		/* bits of a patch above `width` */
	size_t		nbytes;			/* numbers and patches */
} IntBitsPlan;

/* What the header fields of a block are relative to: the block before. */
typedef struct IntBlockState
{
	int64_t		base;			/* minimum of its residuals */
	int64_t		start;			/* its first value */
	int64_t		step;			/* from the first value of the one before it */
	int64_t		slope;			/* its first difference */
} IntBlockState;

/* int_stream.c */
extern size_t strata_int_meta_write(const IntShape *shape, IntBlockState *state, const int64_t *scaled,
									uint32_t m, bool first, int64_t base, uint8_t *meta);

extern StrataCodecResult strata_ints_encode_as(const IntShape *shape, const int64_t *values, uint32_t n,
											   StrataArena *scratch, StrataWriter *out);

/* Most bytes of a block's header fields. */
#define INT_META_MAX (3 * STRATA_VARINT_MAX)

/* int_plan.c */
extern IntShape strata_int_plan(const int64_t *scaled, uint32_t n, size_t *nbytes);

/* int_block.c */
extern uint32_t strata_int_residuals(IntTransform transform, const int64_t *scaled, uint32_t m, int64_t *r);
extern int64_t strata_int_map(bool based, const int64_t *r, uint32_t count, uint64_t *u);
extern unsigned strata_int_histogram(const uint64_t *u, uint32_t count, uint16_t *having);
extern IntBitsPlan strata_int_plan_bits(const uint16_t *having, unsigned widest, uint32_t count);
extern void strata_int_pack_write(IntPacking packing, const uint64_t *u, uint32_t count,
								  const uint8_t *meta, size_t meta_len, StrataWriter *out);
extern bool strata_int_size_read(IntPacking packing, StrataReader *in, IntBlockSize *size);
extern bool strata_int_pack_skip(IntPacking packing, const IntBlockSize *size, uint32_t count, StrataReader *in);
extern bool strata_int_pack_read(IntPacking packing, const IntBlockSize *size, uint32_t count,
								 StrataReader *in, uint64_t *u);

/* bitpack.c */
extern void strata_bitpack_write(const uint64_t *u, uint32_t n, unsigned width, StrataWriter *out);
extern bool strata_bitpack_read(StrataReader *in, uint32_t n, unsigned width, uint64_t *out);

/* simple8b_rle.c */
extern unsigned strata_simple8b_count(const uint64_t *u, uint32_t n);
extern void strata_simple8b_write(const uint64_t *u, uint32_t n, unsigned nwords, StrataWriter *out);
extern bool strata_simple8b_read(StrataReader *in, unsigned nwords, uint32_t n, uint64_t *out);

/* Bytes nwords words and their selectors take. */
STRATA_INLINE size_t
strata_simple8b_size(size_t nwords)
{
	return (nwords + 1) / 2 + 8 * nwords;
}

#endif							/* STRATA_INT_PRIVATE_H */
