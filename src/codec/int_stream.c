/*-------------------------------------------------------------------------
 *
 * int_stream.c
 *	  Integers of any width as a stream: scaled by their greatest common
 *	  divisor, differenced up to twice, packed in blocks.
 *
 * Hides the layout of a stream.  It is the payload of DELTA_DELTA and a part of
 * the payloads of DICTIONARY (codes), DECIMAL (integers) and the byte string
 * codecs (lengths).
 *
 *	OFFSET	SIZE	MEANING
 *	0		1		mode: bits 0-1 transform (0 values, 1 delta, 2 delta of delta),
 *					2-3 packing (0 none, 1 simple8b-RLE, 2 bits), 4 based,
 *					5 scaled, 6-7 log2(values in a block) - 6
 *	1		1-10	first value v[0], zigzag varint
 *			1-10	if scaled: divisor g > 1, varint
 *			1-10	if packing none and transform delta: the difference of all
 *					neighbours, zigzag varint; end of stream
 *			...		blocks
 *
 * All arithmetic is modulo 2^64.  With s[i] = (v[i] - v[0]) / g, a block of the m
 * values from s[k] on is
 *
 *			1-2		size of the packed numbers (int_block.c)
 *			1-10	if based: minimum of its residuals
 *			1-10	if transform > 0, not in the first block: s[k]
 *			1-10	if transform = 2: s[k + 1] - s[k] (as before if m = 1)
 *			...		m - transform packed numbers (none if that is negative)
 *
 * Fields are zigzag varints relative to the block before: minimum and
 * difference as the change, s[k] as the change of its change (0 before the first
 * block).  The residual i of a block is s[k + i], s[k + i + 1] - s[k + i], or
 * s[k + i + 2] - 2 s[k + i + 1] + s[k + i]; the number packed for it is its
 * distance from the minimum if based, else its zigzag code.
 *
 * Invariant C5: a block is decoded from its own bytes and the header fields of
 * those before it, so decoding from row k costs one block plus one step per
 * block skipped.
 *
 * References: T. Pelkonen et al., "Gorilla: a fast, scalable, in-memory time
 * series database", VLDB 2015 (delta of delta); J. Danjou, "Timeseries storage
 * and data compression", 2016 (Gnocchi's division by the interval).
 *
 * src/codec/int_stream.c
 *-------------------------------------------------------------------------
 */
#include <stdio.h>

#include "bitstream.h"
#include "int_private.h"

#define MODE_BASED 0x10
#define MODE_SCALED 0x20

/* Upper bound of a stream of n integers. */
size_t
strata_ints_bound(uint32_t n)
{
	size_t		nblocks = (n >> INT_BLOCK_LOG2_MIN) + 1;

	/* simple8b-RLE with a word for each number is the worst */
	return 32 + (size_t) n * 8 + n / 2 + nblocks * (INT_META_MAX + 4);
}

/* Scratch strata_ints_encode needs. */
size_t
strata_ints_scratch_size(uint32_t n)
{
	return STRATA_ARENA_SIZE(n * sizeof(int64_t)) + strata_int_extended_scratch_size(n);
}

/* --- encoding ---------------------------------------------------------------- */

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

/* Greatest common divisor of the differences between neighbours; 0 if all are 0. */
static uint64_t
common_divisor(const int64_t *values, uint32_t n)
{
	uint64_t	divisor = 0;
	int64_t		last = 0;

	for (uint32_t i = 1; i < n && divisor != 1; i++)
	{
		int64_t		d = (int64_t) ((uint64_t) values[i] - (uint64_t) values[i - 1]);

		if (d != last)
			divisor = gcd(d < 0 ? 0 - (uint64_t) d : (uint64_t) d, divisor);
		last = d;
	}
	return divisor;
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
		unsigned	shift = (unsigned) __builtin_ctzll(divisor);
		uint64_t	factor = inverse(divisor >> shift);
		uint64_t	sum = 0;

		scaled[0] = 0;
		for (uint32_t i = 1; i < n; i++)
		{
			int64_t		d = (int64_t) ((uint64_t) values[i] - (uint64_t) values[i - 1]);

			sum += (uint64_t) (d >> shift) * factor;
			scaled[i] = (int64_t) sum;
		}
	}
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
strata_int_meta_write(const IntShape *shape, IntBlockState *state, const int64_t *scaled,
					  uint32_t m, bool first, int64_t base, uint8_t *meta)
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
		uint64_t	slope = m > 1 ? (uint64_t) scaled[1] - (uint64_t) scaled[0] : (uint64_t) state->slope;

		put_zigzag(&at, slope - (uint64_t) state->slope);
		state->slope = (int64_t) slope;
	}
	return (size_t) (at - meta);
}

/* Write the blocks of a stream. */
static void
write_blocks(const IntShape *shape, const int64_t *scaled, uint32_t n, StrataWriter *out)
{
	int64_t		r[INT_BLOCK_MAX];
	uint64_t	u[INT_BLOCK_MAX];
	uint8_t		meta[INT_META_MAX];
	uint32_t	rows = UINT32_C(1) << shape->block_log2;
	IntBlockState state = {0};

	for (uint32_t from = 0; from < n && !out->failed; from += rows)
	{
		uint32_t	m = n - from < rows ? n - from : rows;
		uint32_t	count = strata_int_residuals(shape->transform, scaled + from, m, r);
		int64_t		base = strata_int_map(shape->based, r, count, u);
		size_t		meta_len = strata_int_meta_write(shape, &state, scaled + from, m, from == 0, base, meta);

		strata_int_pack_write(shape->packing, u, count, meta, meta_len, out);
	}
}

/* The header of a stream. */
void
strata_int_header_write(const IntShape *shape, int64_t first, uint64_t divisor, StrataWriter *out)
{
	strata_write_u8(out, (uint8_t) ((unsigned) shape->transform | (unsigned) shape->packing << 2 |
									(shape->based ? MODE_BASED : 0) | (divisor > 1 ? MODE_SCALED : 0) |
									(shape->block_log2 - INT_BLOCK_LOG2_MIN) << 6));
	strata_write_varint(out, strata_zigzag(first));
	if (divisor > 1)
		strata_write_varint(out, divisor);
}

/*
 * Append a stream of n > 0 integers in a shape; scaled[i] is what scale() made of
 * them.  Any shape can hold any integers but INT_PACK_NONE.
 */
static StrataCodecResult
write_stream(const IntShape *shape, const int64_t *values, const int64_t *scaled, uint32_t n,
			 uint64_t divisor, StrataWriter *out)
{
	if (shape->packing == INT_PACK_NONE)
		divisor = 1;
	strata_int_header_write(shape, values[0], divisor, out);
	if (shape->packing != INT_PACK_NONE)
		write_blocks(shape, scaled, n, out);
	else if (shape->transform == INT_DELTA)
		strata_write_varint(out, strata_zigzag((int64_t) ((uint64_t) values[1] - (uint64_t) values[0])));
	return out->failed ? STRATA_CODEC_NO_SPACE : STRATA_CODEC_OK;
}

/*
 * Append a stream of n integers.  NO_SPACE, and out->failed, when it does not fit.
 */
StrataCodecResult
strata_ints_encode(const int64_t *values, uint32_t n, StrataLevel level, StrataArena *scratch, StrataWriter *out)
{
	StrataWriter start = *out;
	StrataArena arena = *scratch;
	int64_t    *scaled = strata_arena_alloc(&arena, n * sizeof(int64_t));
	uint64_t	divisor;
	size_t		nbytes;
	IntShape	shape;

	if (scaled == NULL)
		return STRATA_CODEC_NO_SPACE;
	if (n == 0)
		return STRATA_CODEC_OK;
	divisor = common_divisor(values, n);
	scale(values, n, divisor, scaled);
	shape = strata_int_plan(scaled, n, &nbytes);
	if (level == STRATA_LEVEL_ARCHIVE && shape.packing != INT_PACK_NONE)
	{
		StrataCodecResult rc = write_stream(&shape, values, scaled, n, divisor, out);
		size_t		room = rc == STRATA_CODEC_OK ? strata_writer_len(out) - strata_writer_len(&start) :
			strata_writer_left(&start) + 1;
		StrataWriter smaller = start;

		strata_int_extended_encode(values, scaled, n, divisor, room - 1, &arena, &smaller);
		if (smaller.failed)
			return rc;
		*out = smaller;
		return STRATA_CODEC_OK;
	}
	/* an estimate: give up only when it is well above the room there is */
	if (nbytes - nbytes / 8 > strata_writer_left(out))
	{
		out->failed = true;
		return STRATA_CODEC_NO_SPACE;
	}
	return write_stream(&shape, values, scaled, n, divisor, out);
}

/* The same in a given shape, for tests of what the planner does not choose. */
StrataCodecResult
strata_ints_encode_as(const IntShape *shape, const int64_t *values, uint32_t n,
					  StrataArena *scratch, StrataWriter *out)
{
	StrataArena arena = *scratch;
	int64_t    *scaled = strata_arena_alloc(&arena, n * sizeof(int64_t));
	uint64_t	divisor = common_divisor(values, n);

	if (scaled == NULL)
		return STRATA_CODEC_NO_SPACE;
	scale(values, n, divisor, scaled);
	return write_stream(shape, values, scaled, n, divisor, out);
}

/* --- decoding ---------------------------------------------------------------- */

/* Parse a stream's header; false when no encoder wrote it. */
static bool
read_header(StrataReader *in, IntHeader *h)
{
	uint8_t		mode = strata_read_u8(in);
	bool		scaled = (mode & MODE_SCALED) != 0;

	h->shape.transform = (IntTransform) (mode & 3);
	h->shape.packing = (IntPacking) (mode >> 2 & 3);
	h->shape.based = (mode & MODE_BASED) != 0;
	h->shape.block_log2 = (mode >> 6) + INT_BLOCK_LOG2_MIN;
	h->first = (uint64_t) strata_unzigzag(strata_read_varint(in));
	h->divisor = scaled ? strata_read_varint(in) : 1;
	h->step = 0;
	if (mode % 4 > INT_DELTA_DELTA || h->shape.block_log2 > INT_BLOCK_LOG2_MAX || h->divisor == 0 ||
		(h->shape.packing == INT_PACK_EXTENDED && h->shape.block_log2 > INT_BLOCK_LOG2_MIN))
		return false;
	if (h->shape.packing == INT_PACK_NONE)
	{
		if (h->shape.transform == INT_DELTA_DELTA || h->shape.based || scaled)
			return false;
		if (h->shape.transform == INT_DELTA)
			h->step = strata_unzigzag(strata_read_varint(in));
	}
	return !in->failed;
}

/* Read the header fields of a block (its size apart). */
void
strata_int_meta_read(const IntShape *shape, IntBlockState *state, bool first, StrataReader *in)
{
	if (shape->based)
		state->base = (int64_t) ((uint64_t) state->base + (uint64_t) strata_unzigzag(strata_read_varint(in)));
	if (shape->transform > INT_VALUES && !first)
	{
		uint64_t	step = (uint64_t) state->step + (uint64_t) strata_unzigzag(strata_read_varint(in));

		state->start = (int64_t) ((uint64_t) state->start + step);
		state->step = (int64_t) step;
	}
	if (shape->transform == INT_DELTA_DELTA)
		state->slope = (int64_t) ((uint64_t) state->slope + (uint64_t) strata_unzigzag(strata_read_varint(in)));
}

/*
 * Packed numbers to residuals times the divisor, in place: apart from the running
 * sums, so that compilers can vectorise it.
 */
STRATA_CLONES
static void
unmap(const IntHeader *h, uint64_t base, uint32_t count, uint64_t *u)
{
	const uint64_t divisor = h->divisor;

	if (h->shape.based)
	{
		base *= divisor;
		if (divisor == 1)
			for (uint32_t i = 0; i < count; i++)
				u[i] += base;
		else
			for (uint32_t i = 0; i < count; i++)
				u[i] = u[i] * divisor + base;
	}
	else if (divisor == 1)
		for (uint32_t i = 0; i < count; i++)
			u[i] = (u[i] >> 1) ^ (0 - (u[i] & 1));
	else
		for (uint32_t i = 0; i < count; i++)
			u[i] = ((u[i] >> 1) ^ (0 - (u[i] & 1))) * divisor;
}

/* v[i] = value + u[0] + ... + u[i] for n entries. */
static void
running_sum(uint64_t value, const uint64_t *u, uint32_t n, uint64_t *v)
{
	uint32_t	i = 0;

	for (; i + 4 <= n; i += 4)
	{
		uint64_t	ab = u[i] + u[i + 1];
		uint64_t	cd = u[i + 2] + u[i + 3];

		/* one addition of latency for four values */
		v[i] = value + u[i];
		v[i + 1] = value + ab;
		v[i + 2] = value + ab + u[i + 2];
		value += ab + cd;
		v[i + 3] = value;
	}
	for (; i < n; i++)
		v[i] = value += u[i];
}

/*
 * The m values of a block from its packed numbers, which are changed.  u and v do
 * not overlap; up to 3 entries of u behind the numbers are read.
 */
void
strata_int_block_rebuild(const IntHeader *h, const IntBlockState *state, uint64_t *u, uint32_t m, uint64_t *v)
{
	uint32_t	count = m > (uint32_t) h->shape.transform ? m - (uint32_t) h->shape.transform : 0;
	uint64_t	start = h->first + h->divisor * (uint64_t) state->start;
	uint64_t	slope = h->divisor * (uint64_t) state->slope;

	if (strata_int_simd_usable())
	{
		strata_int_simd_rebuild(h, state, u, m, v);
		return;
	}
	unmap(h, (uint64_t) state->base, count, u);
	switch (h->shape.transform)
	{
		case INT_VALUES:
			for (uint32_t i = 0; i < m; i++)
				v[i] = h->first + u[i];
			break;
		case INT_DELTA:
			v[0] = start;
			running_sum(start, u, count, v + 1);
			break;
		case INT_DELTA_DELTA:
			v[0] = start;
			if (m > 1)
				v[1] = start + slope;
			running_sum(slope, u, count, u);
			running_sum(start + slope, u, count, v + 2);
			break;
	}
}

/* Store n values truncated to width bytes at out[at]. */
void
strata_int_store(const uint64_t *v, uint32_t n, unsigned width, void *out, uint32_t at)
{
	switch (width)
	{
		case 1:
			for (uint32_t i = 0; i < n; i++)
				((uint8_t *) out)[at + i] = (uint8_t) v[i];
			break;
		case 2:
			for (uint32_t i = 0; i < n; i++)
				((uint16_t *) out)[at + i] = (uint16_t) v[i];
			break;
		case 4:
			for (uint32_t i = 0; i < n; i++)
				((uint32_t *) out)[at + i] = (uint32_t) v[i];
			break;
		default:
			memcpy((uint64_t *) out + at, v, n * sizeof(uint64_t));
	}
}

/* Values of a stream whose neighbours all differ by h->step. */
static void
decode_steps(const IntHeader *h, uint32_t from, uint32_t n, unsigned width, void *out)
{
	uint64_t	v[INT_BLOCK_MAX];

	for (uint32_t done = 0; done < n; done += INT_BLOCK_MAX)
	{
		uint32_t	m = n - done < INT_BLOCK_MAX ? n - done : INT_BLOCK_MAX;
		uint64_t	first = h->first + (uint64_t) h->step * (from + done);

		for (uint32_t i = 0; i < m; i++)
			v[i] = first + (uint64_t) h->step * i;
		strata_int_store(v, m, width, out, done);
	}
}

/* Values [lo, hi) of the m of a block whose numbers are narrow, to `out`. */
static bool
decode_narrow(const IntHeader *h, const IntBlockState *state, const IntBlockSize *size, StrataReader *in,
			  uint32_t m, uint32_t lo, uint32_t hi, unsigned width, void *out)
{
	uint32_t	u[INT_BLOCK_BUFFER];
	uint64_t	v[INT_BLOCK_MAX];
	uint32_t	count = m > (uint32_t) h->shape.transform ? m - (uint32_t) h->shape.transform : 0;

	if (!strata_int_pack_read_narrow(size, count, in, u))
		return false;
	if (lo == 0 && hi == m)
		strata_int_simd_rebuild_narrow(h, state, u, m, width, out);
	else
	{
		strata_int_simd_rebuild_narrow(h, state, u, m, width, v);
		memcpy(out, (uint8_t *) v + lo * width, (hi - lo) * width);
	}
	return true;
}

/* Decode the blocks that hold values [from, from + n). */
static bool
decode_blocks(const IntHeader *h, StrataReader *in, uint32_t total,
			  uint32_t from, uint32_t n, unsigned width, void *out)
{
	uint64_t	u[INT_BLOCK_BUFFER];
	uint64_t	v[INT_BLOCK_MAX];
	uint32_t	rows = UINT32_C(1) << h->shape.block_log2;
	IntBlockState state = {0};
	bool		narrow = h->shape.packing == INT_PACK_BITS && strata_int_simd_usable() &&
		strata_int_simd_narrow(h, width);

	for (uint32_t start = 0; start < from + n; start += rows)
	{
		uint32_t	m = total - start < rows ? total - start : rows;
		uint32_t	count = m > (uint32_t) h->shape.transform ? m - (uint32_t) h->shape.transform : 0;
		uint32_t	lo = from > start ? from - start : 0;
		uint32_t	hi = from + n - start < m ? from + n - start : m;
		IntBlockSize size = {0};

		if (!strata_int_size_read(h->shape.packing, in, &size))
			return false;
		strata_int_meta_read(&h->shape, &state, start == 0, in);
		if (lo >= m)
		{
			if (!strata_int_pack_skip(h->shape.packing, &size, count, in))
				return false;
			continue;
		}
		if (narrow && !in->failed && strata_int_pack_is_narrow(&size, count, in))
		{
			uint8_t    *to = (uint8_t *) out + (size_t) (start + lo - from) * width;

			if (!decode_narrow(h, &state, &size, in, m, lo, hi, width, to))
				return false;
			continue;
		}
		if (in->failed || !strata_int_pack_read(h->shape.packing, &size, count, in, u))
			return false;
		if (width == 8 && lo == 0 && hi == m)
			strata_int_block_rebuild(h, &state, u, m, (uint64_t *) out + (start - from));
		else
		{
			strata_int_block_rebuild(h, &state, u, m, v);
			strata_int_store(v + lo, hi - lo, width, out, start + lo - from);
		}
	}
	return true;
}

/*
 * Integers [from, from + n) of a stream of total, each truncated to width
 * bytes.  Needs no scratch.
 */
StrataCodecResult
strata_ints_decode(const uint8_t *data, size_t len, uint32_t total,
				   uint32_t from, uint32_t n, unsigned width, void *out)
{
	StrataReader in = strata_reader(data, len);
	IntHeader	h;

	if (n == 0)
		return STRATA_CODEC_OK;
	if (!read_header(&in, &h))
		return STRATA_CODEC_CORRUPT;
	if (h.shape.packing == INT_PACK_NONE)
	{
		decode_steps(&h, from, n, width, out);
		return STRATA_CODEC_OK;
	}
	if (h.shape.packing == INT_PACK_EXTENDED)
		return strata_int_extended_decode(&h, &in, total, from, n, width, out);
	return decode_blocks(&h, &in, total, from, n, width, out) ? STRATA_CODEC_OK : STRATA_CODEC_CORRUPT;
}

/* For people: "delta, simple8b-RLE, gcd 1000000, 4 blocks". */
void
strata_ints_describe(const uint8_t *data, size_t len, uint32_t total, char *text, size_t size)
{
	static const char *const transforms[] = {"values", "delta", "delta of delta"};
	static const char *const packings[] = {"constant step", "simple8b-RLE", "bits"};
	StrataReader in = strata_reader(data, len);
	IntHeader	h;
	int			used;

	text[0] = '\0';
	if (total == 0 || !read_header(&in, &h))
		return;
	used = snprintf(text, size, "%s, %s", transforms[h.shape.transform],
					h.shape.packing == INT_PACK_EXTENDED ? strata_int_extended_name(in) : packings[h.shape.packing]);
	if (h.divisor > 1 && used > 0 && (size_t) used < size)
		used += snprintf(text + used, size - (size_t) used, ", gcd %llu", (unsigned long long) h.divisor);
	if ((h.shape.packing == INT_PACK_SIMPLE8B || h.shape.packing == INT_PACK_BITS) && used > 0 && (size_t) used < size)
		snprintf(text + used, size - (size_t) used, ", %u blocks of %u",
				 (total + (1U << h.shape.block_log2) - 1) >> h.shape.block_log2, 1U << h.shape.block_log2);
}
