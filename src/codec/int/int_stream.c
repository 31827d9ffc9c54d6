/*-------------------------------------------------------------------------
 *
 * int_stream.c
 *	  Integers of any width as a stream: scaled by their greatest common
 *	  divisor, differenced up to twice, packed in blocks.  Reading them.
 *
 * Hides the layout of a stream.  It is the payload of DELTA_DELTA and a part
 * of the payloads of DICTIONARY (codes), DECIMAL (integers) and the byte
 * string codecs (lengths).
 *
 *	OFFSET	SIZE	MEANING
 *	0		1		mode: bits 0-1 transform (0 values, 1 delta, 2 delta of
 *					delta), 2-3 packing (0 none, 2 bits, 3 archive), 4 based, 5
 *					scaled, 6-7 log2(values in a block) - 6
 *	1		1-10	first value v[0], zigzag varint
 *			1-10	if scaled: divisor g > 1, varint
 *			1-10	if packing none and transform delta: the difference of all
 *					neighbours, zigzag varint; end of stream
 *			...		blocks
 *
 * All arithmetic is modulo 2^64.  With s[i] = (v[i] - v[0]) / g, a block of
 * the m values from s[k] on is
 *
 *			1-2		size of the packed numbers (int_block.c)
 *			1-10	if based: minimum of its residuals
 *			1-10	if transform > 0, not in the first block: s[k]
 *			1-10	if transform = 2: s[k + 1] - s[k] (as before if m = 1)
 *			...		m - transform packed numbers (none if that is negative)
 *
 * Fields are zigzag varints relative to the block before: minimum and
 * difference as the change, s[k] as the change of its change (0 before the
 * first block).  The residual i of a block is s[k + i], s[k + i + 1] - s[k +
 * i], or s[k + i + 2] - 2 s[k + i + 1] + s[k + i]; the number packed for it is
 * its distance from the minimum if based, else its zigzag code.
 *
 * Invariant codec:C5: a block is decoded from its own bytes and the header
 * fields of those before it, so decoding from row k costs one block plus one
 * step per block skipped.
 *
 * References: T. Pelkonen et al., "Gorilla: a fast, scalable, in-memory time
 * series database", VLDB 2015 (delta of delta); J. Danjou, "Timeseries storage
 * and data compression", 2016 (Gnocchi's division by the interval).
 *
 * src/codec/int/int_stream.c
 *-------------------------------------------------------------------------
 */
#include <stdio.h>

#include "codec/bitstream.h"
#include "codec/int/int_block.h"
#include "codec/int/int_simd.h"

/*
 * --- decoding
 * ----------------------------------------------------------------
 */

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
	if (mode % 4 > INT_DELTA_DELTA || (mode >> 2 & 3) == INT_PACK_RESERVED ||
		h->shape.block_log2 > INT_BLOCK_LOG2_MAX || h->divisor == 0 ||
		(h->shape.packing == INT_PACK_EXTENDED &&
		 h->shape.block_log2 > INT_BLOCK_LOG2_MIN))
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
strata_int_meta_read(const IntShape *shape, IntBlockState *state, bool first,
					 StrataReader *in)
{
	if (shape->based)
		state->base =
			(int64_t) ((uint64_t) state->base +
					   (uint64_t) strata_unzigzag(strata_read_varint(in)));
	if (shape->transform > INT_VALUES && !first)
	{
		uint64_t	step;

		step = (uint64_t) state->step +
			(uint64_t) strata_unzigzag(strata_read_varint(in));
		state->start = (int64_t) ((uint64_t) state->start + step);
		state->step = (int64_t) step;
	}
	if (shape->transform == INT_DELTA_DELTA)
		state->slope =
			(int64_t) ((uint64_t) state->slope +
					   (uint64_t) strata_unzigzag(strata_read_varint(in)));
}

/*
 * Packed numbers to residuals times the divisor, in place: apart from the
 * running sums, so that compilers can vectorise it.
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
 * The m values of a block from its packed numbers, which are changed.  u and v
 * do not overlap; up to 3 entries of u behind the numbers are read.
 */
void
strata_int_block_rebuild(const IntHeader *h, const IntBlockState *state,
						 uint64_t *u, uint32_t m, uint64_t *v)
{
	uint32_t	count = int_numbers_of(h->shape.transform, m);
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
STRATA_CLONES
void
strata_int_store(const uint64_t *restrict v, uint32_t n, unsigned width,
				 void *restrict out, uint32_t at)
{
	uint8_t    *restrict to = (uint8_t *) out + (size_t) at * width;

	switch (width)
	{
		case 1:
			for (size_t i = 0; i < n; i++)
				to[i] = (uint8_t) v[i];
			break;
		case 2:
			for (size_t i = 0; i < n; i++)
				((uint16_t *) to)[i] = (uint16_t) v[i];
			break;
		case 4:
			for (size_t i = 0; i < n; i++)
				((uint32_t *) to)[i] = (uint32_t) v[i];
			break;
		default:
			memcpy(to, v, n * sizeof(uint64_t));
	}
}

/* Values of a stream whose neighbours all differ by h->step. */
STRATA_CLONES
static void
decode_steps(const IntHeader *h, uint32_t from, uint32_t n, unsigned width,
			 void *out)
{
	uint64_t	step = (uint64_t) h->step;
	uint64_t	first = h->first + step * from;

	switch (width)
	{
		case 1:
			for (uint32_t i = 0; i < n; i++)
				((uint8_t *) out)[i] = (uint8_t) (first + step * i);
			break;
		case 2:
			for (uint32_t i = 0; i < n; i++)
				((uint16_t *) out)[i] = (uint16_t) (first + step * i);
			break;
		case 4:
			for (uint32_t i = 0; i < n; i++)
				((uint32_t *) out)[i] = (uint32_t) first + (uint32_t) step * i;
			break;
		default:
			{
				uint64_t   *v = out;
				uint32_t	i = 0;

				/*
				 * Sums, as vectors of 64 bits are not multiplied fast.  (An
				 * array of the last four is read wrong by gcc 12 for arm64 at
				 * -O3.)
				 */
				for (; i + 4 <= n; i += 4)
				{
					v[i] = first;
					v[i + 1] = first + step;
					v[i + 2] = first + 2 * step;
					v[i + 3] = first + 3 * step;
					first += 4 * step;
				}
				for (; i < n; i++)
				{
					v[i] = first;
					first += step;
				}
			}
	}
}

/*
 * What is to be decoded: integers of a width, or what a sink makes of those of
 * 64 bits.
 */
typedef struct IntWanted
{
	const IntHeader *h;
	unsigned	width;
	const StrataIntSink *sink;	/* or NULL */
	bool		simd;
	bool		narrow;			/* may blocks be unpacked to 32 bits? */
} IntWanted;

/*
 * Values [skip, skip + k) of the m of a block whose numbers are narrow; skip
 * is 0 where they are differences of differences.
 */
static bool
decode_narrow(const IntWanted *wanted, const IntBlockState *state,
			  const IntBlockSize *size, StrataReader *in, uint32_t m,
			  uint32_t skip, uint32_t k, void *out)
{
	const IntHeader *h = wanted->h;
	const StrataIntSink *sink = wanted->sink;
	uint32_t	u[INT_BLOCK_BUFFER];
	uint32_t	count = int_numbers_of(h->shape.transform, m);
	IntBlockState at = *state;

	if (!strata_int_pack_read_narrow(size, count,
									 int_numbers_of(h->shape.transform,
													skip + k),
									 in, u))
		return false;
	if (h->shape.transform == INT_DELTA)
		at.start = (int64_t) ((uint64_t) at.start +
							  (uint64_t) strata_int_sum(&h->shape, at.base, u,
														skip));
	if (sink && sink->power > 0 &&
		strata_int_simd_doubles(h, &at, size->bits, u + skip, k, sink->power,
								out))
		return true;
	strata_int_simd_rebuild_narrow(h, &at, size->bits, u + skip, k,
								   wanted->width, out);
	if (sink)
		sink->finish(sink->power, out, k);
	return true;
}

/* Value `at` of a block of m differences that are narrow. */
static bool
decode_one(const IntWanted *wanted, const IntBlockState *state,
		   const IntBlockSize *size, StrataReader *in, uint32_t m, uint32_t at,
		   void *out)
{
	const IntHeader *h = wanted->h;
	const StrataIntSink *sink = wanted->sink;
	int64_t		sum;
	uint64_t	value;

	if (!strata_int_pack_sum_narrow(&h->shape, state->base, size,
									int_numbers_of(INT_DELTA, m), at, in,
									&sum))
		return false;
	value = h->first + h->divisor * ((uint64_t) state->start + (uint64_t) sum);
	if (sink)
		sink->finish(sink->power, &value, 1);
	strata_int_store(&value, 1, wanted->width, out, 0);
	return true;
}

/*
 * Values [skip, skip + k) of the m of any block; skip is 0 where a value needs
 * those before it.
 */
static bool
decode_wide(const IntWanted *wanted, const IntBlockState *state,
			const IntBlockSize *size, StrataReader *in, uint32_t m,
			uint32_t skip, uint32_t k, void *out)
{
	const IntHeader *h = wanted->h;
	const StrataIntSink *sink = wanted->sink;
	uint64_t	u[INT_BLOCK_BUFFER];
	uint64_t	v[INT_BLOCK_MAX];

	if (!strata_int_pack_read(size, int_numbers_of(h->shape.transform, m), in,
							  u))
		return false;
	if (wanted->width < 8)
	{
		strata_int_block_rebuild(h, state, u + skip, k, v);
		strata_int_store(v, k, wanted->width, out, 0);
		return true;
	}
	if (sink && sink->power == 0 && wanted->simd &&
		strata_int_simd_rotated(h, state, u + skip, k, out))
		return true;
	strata_int_block_rebuild(h, state, u + skip, k, out);
	if (sink)
		sink->finish(sink->power, out, k);
	return true;
}

/* Values [lo, hi) of the m of a block. */
static bool
stream_decode_block(const IntWanted *wanted, const IntBlockState *state,
					IntBlockSize *size, StrataReader *in, uint32_t m,
					uint32_t lo, uint32_t hi, void *out)
{
	const IntShape *shape = &wanted->h->shape;
	uint64_t	part[INT_BLOCK_MAX];
	bool		narrow;
	uint32_t	skip = 0;
	void	   *to;

	if (in->failed)
		return false;
	narrow = wanted->narrow &&
		strata_int_pack_is_narrow(size,
								  int_numbers_of(shape->transform, m),
								  in);
	if (narrow && shape->transform == INT_DELTA && hi == lo + 1)
		return decode_one(wanted, state, size, in, m, lo, out);
	if (shape->transform == INT_VALUES ||
		(narrow && shape->transform == INT_DELTA))
		skip = lo;
	to = skip == lo ? out : part;
	if (!(narrow ? decode_narrow : decode_wide) (wanted, state, size, in, m,
												 skip, hi - skip, to))
		return false;
	if (to == part)
		memcpy(out, (uint8_t *) part + lo * wanted->width,
			   (hi - lo) * wanted->width);
	return true;
}

/* Decode the blocks that hold values [from, from + n). */
static bool
stream_decode_blocks(const IntWanted *wanted, StrataReader *in, uint32_t total,
					 uint32_t from, uint32_t n, void *out)
{
	const IntShape *shape = &wanted->h->shape;
	uint32_t	rows = UINT32_C(1) << shape->block_log2;
	IntBlockState state = {0};

	for (uint32_t start = 0; start < from + n; start += rows)
	{
		uint32_t	m = total - start < rows ? total - start : rows;
		uint32_t	lo = from > start ? from - start : 0;
		uint32_t	hi = from + n - start < m ? from + n - start : m;
		IntBlockSize size = {0};

		if (!strata_int_size_read(in, &size))
			return false;
		strata_int_meta_read(shape, &state, start == 0, in);
		Assert(lo >= m || (lo < hi && hi <= m));	/* codec:C5 */
		if (lo >= m ?
			!strata_int_pack_skip(&size,
								  int_numbers_of(shape->transform, m),
								  in) :
			!stream_decode_block(wanted, &state, &size, in, m, lo, hi,
								 (uint8_t *) out +
								 (size_t) (start + lo - from) *
								 wanted->width))
			return false;
	}
	return true;
}

/*
 * Integers [from, from + n) of a stream of total, each truncated to width
 * bytes, or, with a sink, what that makes of them.  CORRUPT where no encoder
 * wrote the bytes.
 */
static StrataCodecResult
stream_decode(const uint8_t *data, size_t len, uint32_t total, uint32_t from,
			  uint32_t n, unsigned width, const StrataIntSink *sink, void *out)
{
	StrataReader in = strata_reader(data, len);
	StrataCodecResult rc = STRATA_CODEC_OK;
	IntHeader	h;

	if (n == 0)
		return STRATA_CODEC_OK;
	if (!read_header(&in, &h))
		return STRATA_CODEC_CORRUPT;
	if (h.shape.packing == INT_PACK_BITS)
	{
		IntWanted	wanted =
		{&h, width, sink, strata_int_simd_usable(), false};

		wanted.narrow = wanted.simd && strata_int_simd_narrow(&h, width);
		return stream_decode_blocks(&wanted, &in, total, from, n, out) ?
			STRATA_CODEC_OK :
			STRATA_CODEC_CORRUPT;
	}
	if (h.shape.packing == INT_PACK_NONE)
		decode_steps(&h, from, n, width, out);
	else
		rc = strata_int_extended_decode(&h, &in, total, from, n, width, out);
	if (rc == STRATA_CODEC_OK && sink)
		sink->finish(sink->power, out, n);
	return rc;
}

/*
 * Integers [from, from + n) of a stream of total, each truncated to width
 * bytes.  Needs no scratch.
 */
StrataCodecResult
strata_ints_decode(const uint8_t *data, size_t len, uint32_t total,
				   uint32_t from, uint32_t n, unsigned width, void *out)
{
	return stream_decode(data, len, total, from, n, width, NULL, out);
}

/* The same for what a sink makes of them. */
StrataCodecResult
strata_ints_decode_to(const uint8_t *data, size_t len, uint32_t total,
					  uint32_t from, uint32_t n, const StrataIntSink *sink,
					  uint64_t *out)
{
	return stream_decode(data, len, total, from, n, 8, sink, out);
}

/* Does any block of a stream have its numbers in two parts? */
static bool
are_split(const uint8_t *data, size_t len, uint32_t total)
{
	StrataReader in = strata_reader(data, len);
	IntHeader	h;
	IntBlockState state = {0};

	if (total == 0 || !read_header(&in, &h) ||
		h.shape.packing != INT_PACK_BITS)
		return false;
	for (uint32_t start = 0; start < total;
		 start += UINT32_C(1) << h.shape.block_log2)
	{
		uint32_t	m = total - start < UINT32_C(1) << h.shape.block_log2 ?
		total - start :
		UINT32_C(1) << h.shape.block_log2;
		uint32_t	count = int_numbers_of(h.shape.transform, m);
		IntBlockSize size = {0};

		if (!strata_int_size_read(&in, &size))
			return false;
		if (size.split)
			return true;
		strata_int_meta_read(&h.shape, &state, start == 0, &in);
		if (!strata_int_pack_skip(&size, count, &in))
			return false;
	}
	return false;
}

/* For people: "delta, bits, gcd 1000000, 4 blocks". */
void
strata_ints_describe(const uint8_t *data, size_t len, uint32_t total,
					 char *text, size_t size)
{
	static const char *const transforms[] = {"values", "delta",
	"delta of delta"};
	StrataReader in = strata_reader(data, len);
	IntHeader	h;
	int			used;

	text[0] = '\0';
	if (total == 0 || !read_header(&in, &h))
		return;
	used = snprintf(text, size, "%s, %s", transforms[h.shape.transform],
					h.shape.packing == INT_PACK_EXTENDED ?
					strata_int_extended_name(in) :
					h.shape.packing == INT_PACK_NONE ? "constant step" :
					are_split(data, len, total) ? "split" :
					"bits");
	if (h.divisor > 1 && used > 0 && (size_t) used < size)
		used += snprintf(text + used, size - (size_t) used, ", gcd %llu",
						 (unsigned long long) h.divisor);
	if (h.shape.packing == INT_PACK_BITS && used > 0 && (size_t) used < size)
		snprintf(text + used, size - (size_t) used, ", %u blocks of %u",
				 (total + (1U << h.shape.block_log2) - 1) >>
				 h.shape.block_log2,
				 1U << h.shape.block_log2);
}
