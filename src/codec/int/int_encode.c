/*-------------------------------------------------------------------------
 *
 * int_encode.c
 *	  Write a stream of integers; int_stream.c has the layout and reads it.
 *
 * Two steps, so that codecs can be compared before anything is written:
 * strata_ints_plan divides the integers by their common divisor, has
 * int_plan.c choose a shape, and says to the byte what the stream will take;
 * strata_ints_write only packs.  Archives have a third way to pack, whose size
 * is known when it is done: there the plan is the stream itself.
 *
 * Over 600 lines: planning and writing follow one layout.
 *
 * src/codec/int/int_encode.c
 *-------------------------------------------------------------------------
 */
#include "codec/bitstream.h"
#include "codec/int/int_block.h"

/* What a plan keeps for writing. */
typedef struct IntStreamPlan
{
	IntShape	shape;
	uint64_t	divisor;
	uint32_t   *narrow;			/* the numbers of a block from the number of
								 * its first value on; or NULL, */
	uint64_t   *wide;			/* and they are here */
	IntBlockPlan *blocks;
	uint8_t    *metas;			/* INT_META_MAX bytes for each block */
	const uint8_t *written;		/* archives: the stream; or NULL */
} IntStreamPlan;

/* Upper bound of a stream of n integers. */
size_t
strata_ints_bound(uint32_t n)
{
	size_t		nblocks = (n >> INT_BLOCK_LOG2_MIN) + 1;

	/* all bits of each number is the worst */
	return 32 + (size_t) n * 8 + nblocks * (INT_META_MAX + 4);
}

/* Scratch strata_ints_plan and strata_ints_encode need. */
size_t
strata_ints_scratch_size(uint32_t n)
{
	size_t		nblocks = (n >> INT_BLOCK_LOG2_MIN) + 1;

	return 2 * STRATA_ARENA_SIZE((n + INT_SCALED_PADDING) * sizeof(int64_t)) +
		STRATA_ARENA_SIZE(sizeof(IntStreamPlan)) +
		STRATA_ARENA_SIZE(nblocks * sizeof(IntBlockPlan)) +
		STRATA_ARENA_SIZE(nblocks * INT_META_MAX) +
		STRATA_ARENA_SIZE(strata_ints_bound(n)) +
		strata_int_extended_scratch_size(n);
}

/* Greatest common divisor of two numbers, not both 0. */
static uint64_t
gcd(uint64_t a, uint64_t b)
{
	while (b != 0)
	{
		uint64_t	rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* The inverse of an odd number modulo 2^64, by Newton's iteration. */
static uint64_t
inverse(uint64_t odd)
{
	uint64_t	x = odd * 3 ^ 2;	/* right in the lowest 5 bits */

	for (int i = 0; i < 4; i++)
		x *= 2 - odd * x;
	return x;
}

/* So many differences are divided together. */
#define DIVISOR_GROUP 32

/* What it takes to see whether a number is divisible without dividing it. */
typedef struct Divisor
{
	uint64_t	factor;			/* the inverse of its odd part */
	unsigned	shift;			/* of the other part */
	uint64_t	most;			/* the largest quotient */
} Divisor;

static Divisor
make_divisor(uint64_t divisor)
{
	unsigned	shift = (unsigned) __builtin_ctzll(divisor);

	return (Divisor)
	{
		inverse(divisor >> shift), shift, UINT64_MAX / divisor
	};
}

/* Products with the inverse are small only of multiples. */
STRATA_INLINE bool
divides(const Divisor *divisor, uint64_t v)
{
	uint64_t	q = v * divisor->factor;

	q = q >> divisor->shift | q << (63 - divisor->shift) << 1;
	return q <= divisor->most;
}

/* The distance between value i and the one before. */
STRATA_INLINE uint64_t
distance_at(const int64_t *values, uint32_t i)
{
	uint64_t	d = (uint64_t) values[i] - (uint64_t) values[i - 1];

	return (d ^ (0 - (d >> 63))) + (d >> 63);
}

/*
 * Does it divide all distances between a value and the one before, of values
 * [from, to)?
 */
static bool
divides_all(const Divisor *divisor, const int64_t *values, uint32_t from,
			uint32_t to)
{
	uint32_t	i = from;

	while (i < to && divides(divisor, distance_at(values, i)))
		i++;
	return i == to;
}

/* The same if these distances and the divisor are below 2^32. */
STRATA_CLONES
static bool
divides_all_narrow(const Divisor *divisor, const int64_t *values,
				   uint32_t from, uint32_t to)
{
	const uint32_t factor = (uint32_t) divisor->factor;
	const uint32_t most = (uint32_t) (divisor->most >> 32);
	const unsigned shift = divisor->shift;
	uint32_t	rest = 0;

	for (uint32_t i = from; i < to; i++)
	{
		uint32_t	d = (uint32_t) values[i] - (uint32_t) values[i - 1];
		uint32_t	q = ((d ^ (0 - (d >> 31))) + (d >> 31)) * factor;

		q = q >> shift | q << (31 - shift) << 1;
		rest |= q > most ? UINT32_MAX : 0;
	}
	return rest == 0;
}

/*
 * Greatest common divisor of the differences between neighbours; 0 if all are
 * 0. is_narrow: they are below 2^31.
 */
static uint64_t
common_divisor(const int64_t *values, uint32_t n, bool is_narrow)
{
	uint64_t	divisor = 0;
	Divisor		test = {0};

	for (uint32_t i = 1; i < n && divisor != 1;)
	{
		uint32_t	to = n - i < DIVISOR_GROUP ? n : i + DIVISOR_GROUP;

		if (divisor != 0 && divides(&test, distance_at(values, i)) &&
			(is_narrow ? divides_all_narrow(&test, values, i, to) :
			 divides_all(&test, values, i, to)))
			i = to;
		else
		{
			uint64_t	distance = distance_at(values, i++);

			if (distance == 0 || (divisor != 0 && divides(&test, distance)))
				continue;
			divisor = gcd(distance, divisor);
			test = make_divisor(divisor);
		}
	}
	return divisor;
}

/*
 * All bits of the distances from the first value, or of what is one less than
 * them below it.
 */
STRATA_CLONES
static uint64_t
distance_bits(const int64_t *values, uint32_t n)
{
	uint64_t	first = (uint64_t) values[0];
	uint64_t	bits = 0;

	for (uint32_t i = 0; i < n; i++)
	{
		uint64_t	d = (uint64_t) values[i] - first;

		bits |= d ^ (0 - (d >> 63));
	}
	return bits;
}

/*
 * scaled[i] = (values[i] - values[0]) / divisor, as the running sum of the
 * divided differences, so that it is exact even where differences wrapped.
 */
static void
scale(const int64_t *values, uint32_t n, uint64_t divisor, int64_t *scaled)
{
	uint64_t	first = (uint64_t) values[0];

	if (divisor <= 1)
		for (uint32_t i = 0; i < n; i++)
			scaled[i] = (int64_t) ((uint64_t) values[i] - first);
	else
	{
		/* dividing what is known to divide evenly: shift, then multiply */
		Divisor		by = make_divisor(divisor);
		uint64_t	sum = 0;

		scaled[0] = 0;
		for (uint32_t i = 1; i < n; i++)
		{
			int64_t		d = (int64_t) ((uint64_t) values[i] -
									   (uint64_t) values[i - 1]);

			sum += (uint64_t) (d >> by.shift) * by.factor;
			scaled[i] = (int64_t) sum;
		}
	}
}

/*
 * The same to 32 bits, where no difference wrapped: the lower halves of
 * quotients need no more of the factor.
 */
STRATA_CLONES
static void
scale_narrow(const int64_t *values, uint32_t n, uint64_t divisor,
			 int32_t *scaled)
{
	uint64_t	first = (uint64_t) values[0];

	if (divisor <= 1)
		for (uint32_t i = 0; i < n; i++)
			scaled[i] = (int32_t) (uint32_t) ((uint64_t) values[i] - first);
	else
	{
		Divisor		by = make_divisor(divisor);
		uint32_t	factor = (uint32_t) by.factor;

		/*
		 * behind the 32 bits that are kept comes the sign, which only a large
		 * shift brings in
		 */
		if (by.shift > 32)
			for (uint32_t i = 0; i < n; i++)
				scaled[i] =
					(int32_t) ((uint32_t) ((int64_t) ((uint64_t) values[i] -
													  first) >>
										   by.shift) *
							   factor);
		else
			for (uint32_t i = 0; i < n; i++)
				scaled[i] = (int32_t) ((uint32_t) (((uint64_t) values[i] -
													first) >>
												   by.shift) *
									   factor);
	}
	memset(scaled + n, 0, INT_SCALED_PADDING * sizeof(int32_t));
}

/* Write a signed number as a zigzag varint at *at. */
static void
put_zigzag(uint8_t **at, uint64_t v)
{
	uint64_t	u = strata_zigzag((int64_t) v);

	for (; u >= 0x80; u >>= 7)
		*(*at)++ = (uint8_t) (u | 0x80);
	*(*at)++ = (uint8_t) u;
}

/*
 * The header fields of a block (its size apart) into meta, which has room for
 * INT_META_MAX bytes; returns their length and steps the state.
 */
size_t
strata_int_meta_write(const IntShape *shape, IntBlockState *state,
					  const int64_t *scaled, uint32_t m, bool first,
					  int64_t base, uint8_t *meta)
{
	uint8_t    *at = meta;

	if (shape->based)
	{
		if (m <= (uint32_t) shape->transform)
			base = state->base;
		put_zigzag(&at, (uint64_t) base - (uint64_t) state->base);
		state->base = base;
	}
	if (shape->transform > INT_VALUES && !first)
	{
		uint64_t	step = (uint64_t) scaled[0] - (uint64_t) state->start;

		put_zigzag(&at, step - (uint64_t) state->step);
		state->start = scaled[0];
		state->step = (int64_t) step;
	}
	if (shape->transform == INT_DELTA_DELTA)
	{
		uint64_t	slope;

		slope = m > 1 ? (uint64_t) scaled[1] - (uint64_t) scaled[0] :
			(uint64_t) state->slope;
		put_zigzag(&at, slope - (uint64_t) state->slope);
		state->slope = (int64_t) slope;
	}
	return (size_t) (at - meta);
}

/* The header of a stream. */
void
strata_int_header_write(const IntShape *shape, int64_t first, uint64_t divisor,
						StrataWriter *out)
{
	strata_write_u8(out,
					(uint8_t) ((unsigned) shape->transform |
							   (unsigned) shape->packing << 2 |
							   (shape->based ? MODE_BASED : 0) |
							   (divisor > 1 ? MODE_SCALED : 0) |
							   (shape->block_log2 - INT_BLOCK_LOG2_MIN) << 6));
	strata_write_varint(out, strata_zigzag(first));
	if (divisor > 1)
		strata_write_varint(out, divisor);
}

/* Blocks of a stream. */
static uint32_t
count_stream_blocks(const IntShape *shape, uint32_t n)
{
	return ((n - 1) >> shape->block_log2) + 1;
}

/* Bytes of a block's numbers and its size field. */
static size_t
block_size(const IntBlockPlan *block, uint32_t count)
{
	size_t		patches = block->npatches;

	if (block->split)
		return 2 + ((size_t) count * block->width + 7) / 8 + block->nunary;
	return 1 + ((size_t) count * block->width + 7) / 8 +
		(patches > 0 ? 2 + patches + (patches * block->high_width + 7) / 8 :
		 0);
}

/*
 * The numbers of all blocks, what packs them unless that is `known`, and the
 * bytes of the blocks.  The numbers may be where the scaled values are.
 */
static size_t
plan_blocks(IntStreamPlan *plan, const IntScaled *scaled, uint32_t n,
			bool may_split, bool known)
{
	const IntShape *shape = &plan->shape;
	IntNumbers	numbers;
	uint32_t	rows = UINT32_C(1) << shape->block_log2;
	IntBlockState state = {0};
	size_t		nbytes = 0;

	for (uint32_t from = 0, b = 0; from < n; from += rows, b++)
	{
		uint32_t	m = n - from < rows ? n - from : rows;
		IntBlockPlan *block = &plan->blocks[b];
		int64_t		head[2] = {0};

		for (uint32_t i = 0; i < 2 && i < m; i++)
			head[i] = scaled->narrow ? scaled->narrow[from + i] :
				scaled->wide[from + i];
		strata_int_numbers(scaled, from, m, shape->transform, shape->based,
						   &numbers);
		if (!known)
			strata_int_plan_block(may_split, &numbers, block);
		if (plan->narrow)
			memcpy(plan->narrow + from, numbers.u,
				   numbers.count * sizeof(uint32_t));
		else
			memcpy(plan->wide + from, numbers.wide,
				   numbers.count * sizeof(uint64_t));
		block->meta_len = (uint8_t)
			strata_int_meta_write(shape, &state, head, m, from == 0,
								  numbers.base,
								  plan->metas + (size_t) b * INT_META_MAX);
		nbytes += block->meta_len + block_size(block, numbers.count);
	}
	return nbytes;
}

/* Bytes of a stream's header. */
static size_t
header_size(const IntStreamPlan *plan, const int64_t *values)
{
	size_t		nbytes = 1 + strata_varint_size(strata_zigzag(values[0]));

	if (plan->shape.packing != INT_PACK_NONE)
		return nbytes +
			(plan->divisor > 1 ? strata_varint_size(plan->divisor) : 0);
	if (plan->shape.transform == INT_DELTA)
		nbytes +=
			strata_varint_size(strata_zigzag((int64_t) ((uint64_t) values[1] -
														(uint64_t)
														values[0])));
	return nbytes;
}

/*
 * Scale values into room from the arena, in 32 bits where that is possible
 * (archives want 64). False when there is no room.
 */
static bool
scale_values(IntStreamPlan *stream, const int64_t *values, uint32_t n,
			 bool archive, StrataArena *arena, IntScaled *scaled)
{
	uint64_t	distance;
	void	   *to;

	distance = archive || strata_codec_portable_only ? UINT64_MAX :
		distance_bits(values, n);
	stream->divisor = common_divisor(values, n, distance >> 29 == 0);
	if (distance >> 62 == 0 &&
		(distance + 1) / (stream->divisor | (stream->divisor == 0)) >>
		INT_NARROW_BITS ==
		0)
	{
		to = strata_arena_alloc(arena,
								(n + INT_SCALED_PADDING) * sizeof(int32_t));
		if (to == NULL)
			return false;
		scale_narrow(values, n, stream->divisor, to);
		*scaled = (IntScaled)
		{
			.narrow = to
		};
		stream->narrow = to;
		return true;
	}
	to = strata_arena_alloc(arena, n * sizeof(int64_t));
	stream->wide = archive ? strata_arena_alloc(arena, n * sizeof(uint64_t)) :
		to;
	if (to == NULL || stream->wide == NULL)
		return false;
	scale(values, n, stream->divisor, to);
	*scaled = (IntScaled)
	{
		.wide = to
	};
	return true;
}

/* Plan a stream of n > 0 integers; in `wanted` shape if that is not NULL. */
static StrataCodecResult
plan_stream(const IntShape *wanted, const int64_t *values, uint32_t n,
			StrataLevel level, StrataArena *arena, StrataIntPlan *plan)
{
	IntStreamPlan *stream = strata_arena_alloc(arena, sizeof(IntStreamPlan));
	IntScaled	scaled;
	uint32_t	nblocks = (n >> INT_BLOCK_LOG2_MIN) + 1;
	bool		archive = level == STRATA_LEVEL_ARCHIVE && wanted == NULL;
	bool		may_split = level != STRATA_LEVEL_HOT;
	bool		known = false;

	if (stream == NULL)
		return STRATA_CODEC_NO_SPACE;
	*plan = (StrataIntPlan)
	{
		values, n, 0, stream
	};
	memset(stream, 0, sizeof(*stream));
	if (wanted == NULL && strata_int_steps_constantly(values, n))
	{
		stream->shape = (IntShape)
		{
			n > 1 ? INT_DELTA : INT_VALUES,
				INT_PACK_NONE, false, INT_BLOCK_LOG2_MIN
		};
		plan->nbytes = header_size(stream, values);
		return STRATA_CODEC_OK;
	}
	stream->blocks = strata_arena_alloc(arena, nblocks * sizeof(IntBlockPlan));
	stream->metas = strata_arena_alloc(arena, (size_t) nblocks * INT_META_MAX);
	if (stream->blocks == NULL || stream->metas == NULL ||
		!scale_values(stream, values, n, archive, arena, &scaled))
		return STRATA_CODEC_NO_SPACE;
	stream->shape = wanted ? *wanted :
		strata_int_plan(&scaled, n, may_split,
						stream->blocks, &known);
	plan->nbytes = header_size(stream, values);
	if (stream->shape.packing == INT_PACK_NONE)
		return STRATA_CODEC_OK;
	plan->nbytes += plan_blocks(stream, &scaled, n, may_split, known);
	if (archive)
	{
		uint8_t    *written = strata_arena_alloc(arena, plan->nbytes);
		StrataWriter w = strata_writer(written, written ? plan->nbytes : 0);

		if (written == NULL)
			return STRATA_CODEC_NO_SPACE;
		strata_int_extended_encode(values, scaled.wide, n, stream->divisor,
								   plan->nbytes - 1, arena, &w);
		if (!w.failed)
		{
			stream->written = written;
			plan->nbytes = strata_writer_len(&w);
		}
	}
	return STRATA_CODEC_OK;
}

/*
 * Plan a stream of n > 0 integers, which stay where they are until it is
 * written. What is taken from the arena has to stay until then too.
 */
StrataCodecResult
strata_ints_plan(const int64_t *values, uint32_t n, StrataLevel level,
				 StrataArena *arena, StrataIntPlan *plan)
{
	return plan_stream(NULL, values, n, level, arena, plan);
}

/* Are differences smaller than the values, in a planned stream? */
bool
strata_ints_are_differences(const StrataIntPlan *plan)
{
	return plan->stream->shape.transform != INT_VALUES;
}

/*
 * Append a planned stream.  NO_SPACE, and out->failed, when it does not fit.
 */
StrataCodecResult
strata_ints_write(const StrataIntPlan *plan, StrataWriter *out)
{
	const IntStreamPlan *stream = plan->stream;
	const uint8_t *start = out->next;
	const IntShape *shape = &stream->shape;
	const int64_t *values = plan->values;
	uint32_t	rows = UINT32_C(1) << shape->block_log2;

	(void) start;
	Assert(plan->n > 0);		/* codec:C4 */
	if (plan->nbytes > strata_writer_left(out))
		out->failed = true;
	if (out->failed)
		return STRATA_CODEC_NO_SPACE;
	if (stream->written)
	{
		strata_write_bytes(out, stream->written, plan->nbytes);
		return STRATA_CODEC_OK;
	}
	strata_int_header_write(shape, values[0],
							shape->packing == INT_PACK_NONE ? 1 :
							stream->divisor,
							out);
	if (shape->packing == INT_PACK_NONE)
	{
		if (shape->transform == INT_DELTA)
			strata_write_varint(out,
								strata_zigzag((int64_t) ((uint64_t) values[1] -
														 (uint64_t)
														 values[0])));
		return STRATA_CODEC_OK;
	}
	for (uint32_t b = 0; b < count_stream_blocks(shape, plan->n); b++)
	{
		uint32_t	from = b * rows;
		uint32_t	m = plan->n - from < rows ? plan->n - from : rows;
		uint32_t	count = int_numbers_of(shape->transform, m);

		strata_int_pack_write(&stream->blocks[b],
							  stream->narrow ? stream->narrow + from : NULL,
							  stream->narrow ? NULL : stream->wide + from,
							  count, stream->metas + (size_t) b * INT_META_MAX,
							  out);
	}
	Assert(out->failed ||
		   (size_t) (out->next - start) == plan->nbytes);	/* codec:C13 */
	return out->failed ? STRATA_CODEC_NO_SPACE : STRATA_CODEC_OK;
}

/* Plan and append a stream. */
StrataCodecResult
strata_ints_encode(const int64_t *values, uint32_t n, StrataLevel level,
				   StrataArena *scratch, StrataWriter *out)
{
	StrataArena arena = *scratch;
	StrataIntPlan plan;
	StrataCodecResult rc;

	if (n == 0)
		return STRATA_CODEC_OK;
	rc = strata_ints_plan(values, n, level, &arena, &plan);
	return rc == STRATA_CODEC_OK ? strata_ints_write(&plan, out) : rc;
}

/* The same in a given shape, for tests of what the planner does not choose. */
StrataCodecResult
strata_ints_encode_as(const IntShape *shape, const int64_t *values, uint32_t n,
					  StrataArena *scratch, StrataWriter *out)
{
	StrataArena arena = *scratch;
	StrataIntPlan plan;
	StrataCodecResult rc = plan_stream(shape, values, n, STRATA_LEVEL_BALANCED,
									   &arena, &plan);

	return rc == STRATA_CODEC_OK ? strata_ints_write(&plan, out) : rc;
}
