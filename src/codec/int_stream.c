/*-------------------------------------------------------------------------
 *
 * int_stream.c
 *	  Integers of any width as a stream: scaled by their greatest common
 *	  divisor, differenced up to twice, packed in blocks.  Reading them.
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
