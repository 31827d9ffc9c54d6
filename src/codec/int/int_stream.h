/*-------------------------------------------------------------------------
 *
 * int_stream.h
 *	  Integer streams: integers of any width in blocks, what several codecs are
 *	  built on.  The header of src/codec/int that src/codec includes.
 *
 * src/codec/int/int_stream.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_INT_STREAM_H
#define STRATA_INT_STREAM_H

#include "codec/codec_base.h"

/* Most bytes a stream of n integers takes, whatever they are. */
extern size_t strata_ints_bound(uint32_t n);
extern size_t strata_ints_scratch_size(uint32_t n);

/* A stream that is to be written, and how many bytes it will have. */
typedef struct StrataIntPlan
{
	const int64_t *values;
	uint32_t	n;
	size_t		nbytes;
	struct IntStreamPlan *stream;
} StrataIntPlan;

extern StrataCodecResult strata_ints_plan(const int64_t *values, uint32_t n,
										  StrataLevel level,
										  StrataArena *arena,
										  StrataIntPlan *plan);
extern bool strata_ints_are_differences(const StrataIntPlan *plan);
extern StrataCodecResult strata_ints_write(const StrataIntPlan *plan,
										   StrataWriter *out);

/*
 * Append a stream of n integers; leaves out->failed set when it does not fit.
 */
extern StrataCodecResult strata_ints_encode(const int64_t *values, uint32_t n,
											StrataLevel level,
											StrataArena *scratch,
											StrataWriter *out);

/*
 * Integers [from, from + n) of a stream of total integers, truncated to width
 * 1, 2, 4 or 8 bytes each.
 */
extern StrataCodecResult strata_ints_decode(const uint8_t *data, size_t len,
											uint32_t total, uint32_t from,
											uint32_t n, unsigned width,
											void *out);

/*
 * What integers of 64 bits become in the end: doubles, that are they over
 * `power`, or if that is 0 the doubles of which they are the rotated bits
 * (decimal.c).  `finish` does it to n of them, where it was not done on the
 * way.
 */
typedef struct StrataIntSink
{
	double		power;
	void		(*finish) (double power, uint64_t *values, uint32_t n);
} StrataIntSink;

extern StrataCodecResult strata_ints_decode_to(const uint8_t *data, size_t len,
											   uint32_t total, uint32_t from,
											   uint32_t n,
											   const StrataIntSink *sink,
											   uint64_t *out);
extern void strata_ints_describe(const uint8_t *data, size_t len,
								 uint32_t total, char *text, size_t size);

#endif							/* STRATA_INT_STREAM_H */
