/*-------------------------------------------------------------------------
 *
 * float_lz.h
 *	  Codec zstd of floats: its plan, for AUTO, and what the codec calls.
 *
 * src/codec/float_lz.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_FLOAT_LZ_H
#define STRATA_FLOAT_LZ_H

#include "codec/codec_private.h"

typedef struct StrataFloatLzPlan
{
	unsigned	form;
	const uint8_t *frame;		/* nbytes - 1 of them */
	size_t		nbytes;
} StrataFloatLzPlan;

extern size_t strata_float_lz_scratch_size(const StrataVector *v);
extern StrataCodecResult strata_float_lz_plan(const StrataVector *v,
											  size_t room, bool in_a_hurry,
											  StrataArena *arena,
											  StrataFloatLzPlan *plan);
extern StrataCodecResult strata_float_lz_write(const StrataFloatLzPlan *plan,
											   StrataWriter *out);
extern StrataCodecResult strata_float_lz_encode(const StrataVector *v,
												StrataArena *scratch,
												StrataWriter *out);
extern StrataCodecResult strata_float_lz_decode_size(const StrataPayload *p,
													 size_t *size);
extern StrataCodecResult strata_float_lz_decode(const StrataPayload *p,
												uint32_t from, uint32_t n,
												StrataArena *scratch,
												void *out);
extern void strata_float_lz_describe(const StrataPayload *p, char *text,
									 size_t size);

#endif							/* STRATA_FLOAT_LZ_H */
