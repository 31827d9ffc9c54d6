/*-------------------------------------------------------------------------
 *
 * int_private.h
 *	  What the files of the integer stream share: its shape, and the two ways
 *	  to pack a block of unsigned numbers.
 *
 * int_stream.c reads streams and int_encode.c writes them, int_plan.c chooses the
 * shape, int_block.c does one block; simple8b_rle.c, bitpack.c and int_split.c pack numbers, and
 * int_simd.c and int_simd_sums.c decode blocks where the CPU has AVX2.
 * int_extended.c has the packings of archives, int_ans.c their entropy coder.
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
	bool		based;			/* numbers are offsets from the block's minimum, else zigzag */
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

/* Unpackers write whole groups: room a buffer of a block needs. */
#define INT_BLOCK_BUFFER (INT_BLOCK_MAX + 64)

/* A block's size field. */
typedef struct IntBlockSize
{
	unsigned	nwords;			/* SIMPLE8B */
	unsigned	width;			/* BITS */
	bool		patched;
	bool		split;			/* into `width` low bits, and the rest in unary */
	unsigned	bits;			/* most of any number, if strata_int_pack_is_narrow says so */
} IntBlockSize;

/* Scaled values of a stream, in 32 bits if all are below 2^INT_NARROW_BITS, with room behind them. */
typedef struct IntScaled
{
	const int64_t *wide;
	const int32_t *narrow;		/* or NULL */
} IntScaled;

#define INT_NARROW_BITS 27
#define INT_NUMBER_BITS 30
#define INT_SCALED_PADDING 32

/* The numbers of a block. */
typedef struct IntNumbers
{
	uint32_t	count;
	bool		narrow;			/* below 2^INT_NUMBER_BITS: they are in u, zeros behind them up to a whole INT_SUBBLOCK */
	int64_t		base;			/* they are offsets from; or 0 */
	uint32_t	u[INT_BLOCK_BUFFER];
	uint64_t	wide[INT_BLOCK_BUFFER];	/* else here; and here too if the stream is wide */
} IntNumbers;

#define INT_MASK_WORDS (INT_BLOCK_MAX / 64)

/* How a block of bit-packed numbers is laid out. */
typedef struct IntBitsPlan
{
	unsigned	width;
	unsigned	npatches;
	unsigned	high_width;		/* bits of a patch above `width` */
	unsigned	split;			/* int_split.c: low bits, which are the width, plus 1; else 0 */
	unsigned	nunary;			/* and bytes of the upper parts */
	size_t		nbytes;			/* numbers and patches, or both parts */
} IntBitsPlan;

/* How a block is to be written: what its size field says, and how long its header is. */
typedef struct IntBlockPlan
{
	uint16_t	nwords;			/* SIMPLE8B */
	uint8_t		width;			/* BITS, and the next two */
	uint8_t		npatches;
	uint8_t		high_width;
	uint8_t		split;			/* as in IntBitsPlan */
	uint8_t		nunary;
	uint8_t		meta_len;
} IntBlockPlan;

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
	int64_t		step;			/* packing none: the difference of all neighbours */
} IntHeader;

/* Bits of the mode byte. */
#define MODE_BASED 0x10
#define MODE_SCALED 0x20

/* int_encode.c */
extern void strata_int_header_write(const IntShape *shape, int64_t first, uint64_t divisor, StrataWriter *out);
extern size_t strata_int_meta_write(const IntShape *shape, IntBlockState *state, const int64_t *scaled,
									uint32_t m, bool first, int64_t base, uint8_t *meta);

extern StrataCodecResult strata_ints_encode_as(const IntShape *shape, const int64_t *values, uint32_t n,
											   StrataArena *scratch, StrataWriter *out);

/* int_stream.c */
extern void strata_int_meta_read(const IntShape *shape, IntBlockState *state, bool first, StrataReader *in);
extern void strata_int_block_rebuild(const IntHeader *h, const IntBlockState *state, uint64_t *u, uint32_t m,
									 uint64_t *v);
extern void strata_int_store(const uint64_t *v, uint32_t n, unsigned width, void *out, uint32_t at);

/* Most bytes of a block's header fields. */
#define INT_META_MAX (3 * STRATA_VARINT_MAX)

/* int_plan.c */
extern bool strata_int_steps_constantly(const int64_t *values, uint32_t n);
extern IntShape strata_int_plan(const IntScaled *scaled, uint32_t n, bool may_split, IntBlockPlan *blocks, bool *known);

/* int_numbers.c */
extern void strata_int_numbers(const IntScaled *scaled, uint32_t from, uint32_t m, IntTransform transform, bool based,
							   IntNumbers *to);
extern void strata_int_numbers_from(const uint32_t *narrow, const uint64_t *wide, uint32_t count, IntNumbers *to);
extern void strata_int_lengths(const IntNumbers *numbers, uint8_t *length);
extern uint64_t strata_int_expected_bits(const IntNumbers *numbers);
extern unsigned strata_int_range_bits(const IntNumbers *numbers, uint32_t from, uint32_t n);
extern void strata_int_same(const IntNumbers *numbers, uint64_t same[INT_MASK_WORDS]);
extern void strata_int_above(const uint32_t *u, uint32_t count, uint32_t limit, uint64_t above[INT_MASK_WORDS]);

/* int_measure.c */
#define INT_SUBBLOCK 64
#define INT_LEVEL_PLANS 7
#define INT_LENGTHS (INT_BLOCK_MAX + 16)	/* room for the lengths of a block */
extern IntBitsPlan strata_int_plan_bits(const uint8_t *length, uint32_t count);
extern void strata_int_plan_levels(const uint8_t *length, uint32_t count, IntBitsPlan plans[INT_LEVEL_PLANS]);
extern uint64_t strata_int_simple8b_bits(const uint8_t *length, uint32_t count);

/* int_block.c */
extern uint32_t strata_int_residuals(IntTransform transform, const int64_t *scaled, uint32_t m, int64_t *r);
extern int64_t strata_int_map(bool based, const int64_t *r, uint32_t count, uint64_t *u);
extern void strata_int_keep_plan(const IntBitsPlan *plan, IntBlockPlan *block);
extern void strata_int_plan_block(IntPacking packing, bool may_split, const IntNumbers *numbers, IntBlockPlan *block);
extern void strata_int_pack_write(IntPacking packing, const IntBlockPlan *block, const uint32_t *narrow,
								  const uint64_t *wide, uint32_t count, const uint8_t *meta, StrataWriter *out);
extern bool strata_int_size_read(IntPacking packing, StrataReader *in, IntBlockSize *size);
extern bool strata_int_pack_skip(IntPacking packing, const IntBlockSize *size, uint32_t count, StrataReader *in);
extern bool strata_int_pack_read(IntPacking packing, const IntBlockSize *size, uint32_t count,
								 StrataReader *in, uint64_t *u);
extern bool strata_int_pack_is_narrow(IntBlockSize *size, uint32_t count, const StrataReader *in);
extern bool strata_int_pack_sum_narrow(const IntShape *shape, int64_t base, const IntBlockSize *size, uint32_t count,
									   uint32_t wanted, StrataReader *in, int64_t *sum);
extern int64_t strata_int_sum(const IntShape *shape, int64_t base, const uint32_t *u, uint32_t n);
extern bool strata_int_pack_read_narrow(const IntBlockSize *size, uint32_t count, uint32_t wanted, StrataReader *in,
										uint32_t *u);

/*
 * int_split.c.  A block is split where that saves one part in INT_SPLIT_MARGIN of its numbers.
 */
#define INT_SPLIT_BITS_MAX 20
#define INT_SPLIT_MARGIN 16
extern const uint64_t strata_ones_of_byte[256];
extern void strata_int_plan_split(const IntNumbers *numbers, IntBitsPlan *plan);
extern void strata_int_plan_split_levels(const IntNumbers *numbers, IntBitsPlan plans[INT_LEVEL_PLANS]);
extern void strata_int_split_write(const IntBlockPlan *plan, const uint32_t *u, uint32_t count, StrataWriter *out);
extern bool strata_int_split_skip(unsigned k, uint32_t count, StrataReader *in);
extern bool strata_int_split_read(unsigned k, uint32_t count, StrataReader *in, uint64_t *u);
extern bool strata_int_split_sum_narrow(unsigned k, bool zigzag, uint32_t count, uint32_t wanted, StrataReader *in,
										int64_t *sum);
extern bool strata_int_split_read_narrow(unsigned k, uint32_t count, uint32_t wanted, StrataReader *in, uint32_t *u);

/* bitpack.c */
extern void strata_bitpack_write(const uint64_t *u, uint32_t n, unsigned width, StrataWriter *out);
extern void strata_bitpack_write_narrow(const uint32_t *u, uint32_t n, unsigned width, StrataWriter *out);
extern bool strata_bitpack_read(StrataReader *in, uint32_t n, unsigned width, uint64_t *out);
extern bool strata_bitpack_read_part(StrataReader *in, uint32_t n, uint32_t wanted, unsigned width, uint32_t *out);
extern bool strata_bitpack_sum_part(StrataReader *in, uint32_t n, uint32_t wanted, unsigned width, bool zigzag,
									uint8_t *odd, int64_t *sum);

/* int_simd.c: of use only if strata_int_simd_usable() */
#define INT_NARROW_WIDTH 25		/* widest numbers that are unpacked to 32 bits */
extern bool strata_int_simd_usable(void);
extern bool strata_int_simd_unpack(const uint8_t *from, uint32_t n, unsigned width, uint64_t *out);
extern bool strata_int_simd_simple8b(const uint8_t *selectors, const uint8_t *words, unsigned nwords, uint32_t n,
									 uint64_t *out);
extern void strata_int_simd_unpack_narrow(const uint8_t *from, uint32_t n, unsigned width, uint32_t *out);
extern bool strata_int_simd_unary(const uint8_t *unary, unsigned nunary, unsigned k, uint32_t count, uint32_t wanted,
								  uint32_t *u);

/* int_simd_prefix.c: likewise */
extern int64_t strata_int_simd_sum_packed(const uint8_t *from, uint32_t n, unsigned width, bool zigzag, uint8_t *odd);

/* What upper parts add up to: zeros in front of ones, of all numbers and of those that are odd. */
typedef struct StrataUnarySum
{
	uint32_t	zeros;
	uint32_t	odd_zeros;
	uint32_t	nodd;
} StrataUnarySum;

extern bool strata_int_simd_sum_unary(const uint8_t *unary, unsigned nunary, uint32_t count, uint32_t n,
									  const uint8_t *odd, StrataUnarySum *sum);

/* int_simd_sums.c: likewise */
extern void strata_int_simd_rebuild(const IntHeader *h, const IntBlockState *state, const uint64_t *u, uint32_t m,
									uint64_t *v);
extern bool strata_int_simd_rotated(const IntHeader *h, const IntBlockState *state, const uint64_t *u, uint32_t m,
									uint64_t *v);
extern bool strata_int_simd_narrow(const IntHeader *h, unsigned width);
extern void strata_int_simd_rebuild_narrow(const IntHeader *h, const IntBlockState *state, unsigned bits,
										   const uint32_t *u, uint32_t m, unsigned width, void *out);
extern bool strata_int_simd_doubles(const IntHeader *h, const IntBlockState *state, unsigned bits, const uint32_t *u,
									uint32_t m, double power, double *out);

/* simple8b_rle.c */
extern unsigned strata_simple8b_count(const uint8_t *length, const uint64_t same[INT_MASK_WORDS], uint32_t n,
									  unsigned most);
extern void strata_simple8b_write(const IntNumbers *numbers, unsigned nwords, StrataWriter *out);
extern bool strata_simple8b_read(StrataReader *in, unsigned nwords, uint32_t n, uint64_t *out);

/* int_extended.c */
extern size_t strata_int_extended_scratch_size(uint32_t n);
extern void strata_int_extended_encode(const int64_t *values, const int64_t *scaled, uint32_t n, uint64_t divisor,
									   size_t room, StrataArena *scratch, StrataWriter *out);
extern StrataCodecResult strata_int_extended_decode(const IntHeader *h, StrataReader *in, uint32_t total,
													uint32_t from, uint32_t n, unsigned width, void *out);
extern const char *strata_int_extended_name(StrataReader in);

/* int_ans.c */
#define ANS_STATES 4
#define ANS_LOG_MIN 5
#define ANS_LOG_MAX 11
#define ANS_SIZE_MAX (1 << ANS_LOG_MAX)
#define ANS_TOKENS_MAX 512
#define ANS_BLOCK 1024			/* tokens in a block */

/* How often each token occurs among 1 << table_log. */
typedef struct AnsTable
{
	unsigned	table_log;
	uint32_t	ntokens;
	uint16_t	count[ANS_TOKENS_MAX];
} AnsTable;

typedef struct AnsEncoder
{
	unsigned	table_log;
	uint16_t	count[ANS_TOKENS_MAX];
	uint16_t	first[ANS_TOKENS_MAX];	/* where the token's states start */
	uint16_t	state[ANS_SIZE_MAX];
} AnsEncoder;

/* What a state means. */
typedef struct AnsEntry
{
	uint16_t	next;
	uint16_t	token;
	uint8_t		nbits;
} AnsEntry;

typedef struct AnsDecoder
{
	unsigned	table_log;
	AnsEntry	entry[ANS_SIZE_MAX];
} AnsDecoder;

extern void strata_ans_normalise(const uint32_t *having, uint32_t ntokens, uint32_t total, unsigned table_log,
								 AnsTable *table);
extern void strata_ans_table_write(const AnsTable *table, StrataWriter *out);
extern bool strata_ans_table_read(StrataReader *in, AnsTable *table);
extern void strata_ans_encoder_init(const AnsTable *table, AnsEncoder *encoder);
extern void strata_ans_write(const AnsEncoder *encoder, const uint16_t *tokens, uint32_t m, StrataWriter *out);
extern void strata_ans_decoder_init(const AnsTable *table, AnsDecoder *decoder);
extern bool strata_ans_read(const AnsDecoder *decoder, StrataReader *in, size_t nbytes, uint32_t m,
							uint16_t *tokens);

/* Numbers in a word of simple8b-RLE, and their width, by selector; 0 is a run. */
#define S8B_RUN 0
#define S8B_RUN_BITS 9
static const uint8_t s8b_count[16] = {0, 64, 32, 21, 16, 12, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1};
static const uint8_t s8b_width[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 21, 32, 64};

/* Bytes nwords words and their selectors take. */
STRATA_INLINE size_t
strata_simple8b_size(size_t nwords)
{
	return (nwords + 1) / 2 + 8 * nwords;
}

#endif							/* STRATA_INT_PRIVATE_H */
