/*-------------------------------------------------------------------------
 *
 * int_block.h
 *	  One block of an integer stream: its numbers, what they take packed, and
 *	  packing and unpacking them (int_numbers.c, int_measure.c, int_block.c,
 *	  int_split.c).
 *
 * src/codec/int/int_block.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_INT_BLOCK_H
#define STRATA_INT_BLOCK_H

#include "codec/int/int_private.h"

/* A block's size field. */
typedef struct IntBlockSize
{
	unsigned	width;
	bool		patched;
	bool		split;			/* into `width` low bits, and the rest in
								 * unary */
	unsigned	bits;			/* most of any number, if
								 * strata_int_pack_is_narrow says so */
} IntBlockSize;

/*
 * Scaled values of a stream, in 32 bits if all are below 2^INT_NARROW_BITS,
 * with room behind them.
 */
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
	bool		narrow;			/* below 2^INT_NUMBER_BITS: they are in u,
								 * zeros behind them up to a whole
								 * INT_SUBBLOCK */
	int64_t		base;			/* they are offsets from; or 0 */
	uint32_t	u[INT_BLOCK_BUFFER];
	uint64_t	wide[INT_BLOCK_BUFFER]; /* else here; and here too if the
										 * stream is wide */
} IntNumbers;

#define INT_MASK_WORDS (INT_BLOCK_MAX / 64)

/* How a block of bit-packed numbers is laid out. */
typedef struct IntBitsPlan
{
	unsigned	width;
	unsigned	npatches;
	unsigned	high_width;		/* bits of a patch above `width` */
	unsigned	split;			/* int_split.c: low bits, which are the width,
								 * plus 1; else 0 */
	unsigned	nunary;			/* and bytes of the upper parts */
	size_t		nbytes;			/* numbers and patches, or both parts */
} IntBitsPlan;

/*
 * How a block is to be written: what its size field says, and how long its
 * header is.
 */
typedef struct IntBlockPlan
{
	uint8_t		width;
	uint8_t		npatches;
	uint8_t		high_width;
	uint8_t		split;			/* as in IntBitsPlan */
	uint8_t		nunary;
	uint8_t		meta_len;
} IntBlockPlan;

/* int_plan.c */
extern bool strata_int_steps_constantly(const int64_t *values, uint32_t n);
extern IntShape strata_int_plan(const IntScaled *scaled, uint32_t n,
								bool may_split, IntBlockPlan *blocks,
								bool *known);

/* int_numbers.c */
extern void strata_int_numbers(const IntScaled *scaled, uint32_t from,
							   uint32_t m, IntTransform transform, bool based,
							   IntNumbers *to);
extern void strata_int_numbers_from(const uint32_t *narrow,
									const uint64_t *wide, uint32_t count,
									IntNumbers *to);
extern void strata_int_lengths(const IntNumbers *numbers, uint8_t *length);
extern uint64_t strata_int_expected_bits(const IntNumbers *numbers);
extern unsigned strata_int_range_bits(const IntNumbers *numbers, uint32_t from,
									  uint32_t n);
extern void strata_int_above(const uint32_t *u, uint32_t count, uint32_t limit,
							 uint64_t above[INT_MASK_WORDS]);

/* int_measure.c */
#define INT_SUBBLOCK 64
#define INT_LEVEL_PLANS 7
/* room for the lengths of a block */
#define INT_LENGTHS (INT_BLOCK_MAX + 16)
extern IntBitsPlan strata_int_plan_bits(const uint8_t *length, uint32_t count);
extern void strata_int_plan_levels(const uint8_t *length, uint32_t count,
								   IntBitsPlan plans[INT_LEVEL_PLANS]);

/* int_block.c */
extern uint32_t strata_int_residuals(IntTransform transform,
									 const int64_t *scaled, uint32_t m,
									 int64_t *r);
extern int64_t strata_int_map(bool based, const int64_t *r, uint32_t count,
							  uint64_t *u);
extern void strata_int_keep_plan(const IntBitsPlan *plan, IntBlockPlan *block);
extern void strata_int_plan_block(bool may_split, const IntNumbers *numbers,
								  IntBlockPlan *block);
extern void strata_int_pack_write(const IntBlockPlan *block,
								  const uint32_t *narrow, const uint64_t *wide,
								  uint32_t count, const uint8_t *meta,
								  StrataWriter *out);
extern bool strata_int_size_read(StrataReader *in, IntBlockSize *size);
extern bool strata_int_pack_skip(const IntBlockSize *size, uint32_t count,
								 StrataReader *in);
extern bool strata_int_pack_read(const IntBlockSize *size, uint32_t count,
								 StrataReader *in, uint64_t *u);
extern bool strata_int_pack_is_narrow(IntBlockSize *size, uint32_t count,
									  const StrataReader *in);
extern bool strata_int_pack_sum_narrow(const IntShape *shape, int64_t base,
									   const IntBlockSize *size,
									   uint32_t count, uint32_t wanted,
									   StrataReader *in, int64_t *sum);
extern int64_t strata_int_sum(const IntShape *shape, int64_t base,
							  const uint32_t *u, uint32_t n);
extern bool strata_int_pack_read_narrow(const IntBlockSize *size,
										uint32_t count, uint32_t wanted,
										StrataReader *in, uint32_t *u);

/*
 * int_split.c.  A block is split where that saves one part in INT_SPLIT_MARGIN
 * of its numbers.
 */
#define INT_SPLIT_BITS_MAX 20
#define INT_SPLIT_MARGIN 16
extern const uint64_t strata_ones_of_byte[256];
extern void strata_int_plan_split(const IntNumbers *numbers,
								  IntBitsPlan *plan);
extern void strata_int_plan_split_levels(const IntNumbers *numbers,
										 IntBitsPlan plans[INT_LEVEL_PLANS]);
extern void strata_int_split_write(const IntBlockPlan *plan, const uint32_t *u,
								   uint32_t count, StrataWriter *out);
extern bool strata_int_split_skip(unsigned k, uint32_t count,
								  StrataReader *in);
extern bool strata_int_split_read(unsigned k, uint32_t count, StrataReader *in,
								  uint64_t *u);
extern bool strata_int_split_sum_narrow(unsigned k, bool zigzag,
										uint32_t count, uint32_t wanted,
										StrataReader *in, int64_t *sum);
extern bool strata_int_split_read_narrow(unsigned k, uint32_t count,
										 uint32_t wanted, StrataReader *in,
										 uint32_t *u);

#endif							/* STRATA_INT_BLOCK_H */
