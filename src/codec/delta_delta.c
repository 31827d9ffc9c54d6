/*-------------------------------------------------------------------------
 *
 * delta_delta.c
 *	  Codec DELTA_DELTA: integers, dates, timestamps.
 *
 * The payload is one integer stream of the sign-extended values (int_stream.c
 * has the layout): plain values, differences, or differences of differences,
 * whichever is smallest by exact size.  Regular timestamps need the header of
 * the stream and nothing else.
 *
 * src/codec/delta_delta.c
 *-------------------------------------------------------------------------
 */
#include "codec/codec_private.h"

/* Scratch for encode: the values as int64, and what the stream needs. */
static size_t
scratch_size(const StrataVector *v)
{
	return STRATA_ARENA_SIZE(v->n * sizeof(int64_t)) +
		strata_ints_scratch_size(v->n);
}

/* Sign-extend the values of a vector. */
STRATA_CLONES
static void
widen(const StrataVector *v, int64_t *to)
{
	switch (v->width)
	{
		case 1:
			for (uint32_t i = 0; i < v->n; i++)
				to[i] = ((const int8_t *) v->fixed)[i];
			break;
		case 2:
			for (uint32_t i = 0; i < v->n; i++)
				to[i] = ((const int16_t *) v->fixed)[i];
			break;
		case 4:
			for (uint32_t i = 0; i < v->n; i++)
				to[i] = ((const int32_t *) v->fixed)[i];
			break;
		default:
			break;
	}
}

/* Plan the stream of a vector; the arena keeps what it needs. */
StrataCodecResult
strata_delta_delta_plan(const StrataVector *v, StrataArena *arena,
						StrataIntPlan *plan)
{
	int64_t    *values;

	if (v->width == 8)
		return strata_ints_plan(v->fixed, v->n, v->level, arena, plan);
	values = strata_arena_alloc(arena, v->n * sizeof(int64_t));
	if (values == NULL)
		return STRATA_CODEC_NO_SPACE;
	widen(v, values);
	return strata_ints_plan(values, v->n, v->level, arena, plan);
}

static StrataCodecResult
delta_delta_encode(const StrataVector *v, StrataArena *scratch,
				   StrataWriter *out)
{
	StrataArena arena = *scratch;
	StrataIntPlan plan;
	StrataCodecResult rc = strata_delta_delta_plan(v, &arena, &plan);

	Assert(v->n > 0);			/* codec:C4 */
	return rc == STRATA_CODEC_OK ? strata_ints_write(&plan, out) : rc;
}

static StrataCodecResult
delta_delta_decode_fixed(const StrataPayload *p, uint32_t from, uint32_t n,
						 StrataArena *scratch, void *out)
{
	Assert(n <= p->n && from <= p->n - n);	/* codec:C2 */
	(void) scratch;
	return strata_ints_decode(p->data, p->len, p->n, from, n, p->width, out);
}

static void
delta_delta_describe(const StrataPayload *p, char *text, size_t size)
{
	strata_ints_describe(p->data, p->len, p->n, text, size);
}

const StrataCodec strata_codec_delta_delta = {
	.name = "delta_delta",
	.kinds = 1U << STRATA_KIND_INT,
	.available = true,
	.encode_scratch_size = scratch_size,
	.encode = delta_delta_encode,
	.decode_fixed = delta_delta_decode_fixed,
	.describe = delta_delta_describe,
};
