/*-------------------------------------------------------------------------
 *
 * int_private.h
 *	  The shape of an integer stream, and what the files that read and write
 *	  streams share.
 *
 * src/codec/int/int_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_INT_PRIVATE_H
#define STRATA_INT_PRIVATE_H

#include "codec/int/bitpack.h"
#include "codec/int/int_stream.h"

/*
 * What is packed: the values, their differences, or the differences of those.
 */
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
	INT_PACK_RESERVED = 1,		/* no stream has it */
	INT_PACK_BITS = 2,			/* one width a block, wide ones patched */
	INT_PACK_EXTENDED = 3		/* for archives: int_extended.c */
} IntPacking;

/* Extended packings, the byte behind the stream's header. */
typedef enum IntMethod
{
	INT_METHOD_ANS = 1,			/* entropy coded tokens and raw bits */
	INT_METHOD_LZ = 2			/* byte planes in one zstd frame */
} IntMethod;

/*
 * The shape of a stream, its mode byte.  A block holds 1 << block_log2 values;
 * the first `transform` of them are in the block's header.
 */
typedef struct IntShape
{
	IntTransform transform;
	IntPacking	packing;
	bool		based;			/* numbers are offsets from the block's
								 * minimum, else zigzag */
	unsigned	block_log2;
} IntShape;

/* How many numbers are packed for a block of m values. */
static inline uint32_t
int_numbers_of(IntTransform transform, uint32_t m)
{
	return m > (uint32_t) transform ? m - (uint32_t) transform : 0;
}

#define INT_BLOCK_LOG2_MIN 6
#define INT_BLOCK_LOG2_MAX 8
#define INT_BLOCK_MAX (1 << INT_BLOCK_LOG2_MAX)

/* Room a buffer of a block needs. */
#define INT_BLOCK_BUFFER (INT_BLOCK_MAX + STRATA_BITPACK_PADDING)

/* What the header fields of a block are relative to: the block before. */
typedef struct IntBlockState
{
	int64_t		base;			/* minimum of its residuals */
	int64_t		start;			/* its first value */
	int64_t		step;			/* from the first value of the one before it */
	int64_t		slope;			/* its first difference */
} IntBlockState;

/* A stream's header fields. */
typedef struct IntHeader
{
	IntShape	shape;
	uint64_t	first;
	uint64_t	divisor;
	int64_t		step;			/* packing none: the difference of all
								 * neighbours */
} IntHeader;

/* Bits of the mode byte. */
#define MODE_BASED 0x10
#define MODE_SCALED 0x20

/* int_encode.c */
extern void strata_int_header_write(const IntShape *shape, int64_t first,
									uint64_t divisor, StrataWriter *out);
extern size_t strata_int_meta_write(const IntShape *shape,
									IntBlockState *state,
									const int64_t *scaled, uint32_t m,
									bool first, int64_t base, uint8_t *meta);

extern StrataCodecResult strata_ints_encode_as(const IntShape *shape,
											   const int64_t *values,
											   uint32_t n,
											   StrataArena *scratch,
											   StrataWriter *out);

/* int_stream.c */
extern void strata_int_meta_read(const IntShape *shape, IntBlockState *state,
								 bool first, StrataReader *in);
extern void strata_int_block_rebuild(const IntHeader *h,
									 const IntBlockState *state, uint64_t *u,
									 uint32_t m, uint64_t *v);
extern void strata_int_store(const uint64_t *v, uint32_t n, unsigned width,
							 void *out, uint32_t at);

/* Most bytes of a block's header fields. */
#define INT_META_MAX (3 * STRATA_VARINT_MAX)

/* int_extended.c */
extern size_t strata_int_extended_scratch_size(uint32_t n);
extern void strata_int_extended_encode(const int64_t *values,
									   const int64_t *scaled, uint32_t n,
									   uint64_t divisor, size_t room,
									   StrataArena *scratch,
									   StrataWriter *out);
extern StrataCodecResult strata_int_extended_decode(const IntHeader *h,
													StrataReader *in,
													uint32_t total,
													uint32_t from, uint32_t n,
													unsigned width, void *out);
extern const char *strata_int_extended_name(StrataReader in);

#endif							/* STRATA_INT_PRIVATE_H */
