/*-------------------------------------------------------------------------
 *
 * roundtrip.c
 *	  The samples and the round trip of roundtrip.h.
 *
 * test/unit/roundtrip.c
 *-------------------------------------------------------------------------
 */
#include <math.h>

#include "codec/codec_private.h"
#include "jsonb_make.h"
#include "roundtrip.h"

#define DOCUMENT_MAX 8192

const char *const int_patterns[] = {
	"zero", "constant", "ramp", "ramp_down", "gaps", "jitter", "gcd", "random", "small", "bits",
	"minmax", "wrap", "runs", "outliers", "steps", "quadratic", "counter", "few", "cycle", "walk",
	"noise", "noise_scaled", "noise_skewed", NULL
};
const char *const float_patterns[] = {
	"constant", "integers", "tenths", "cents", "decimals15", "mixed", "random_bits", "special",
	"nan_payloads", "denormal", "sine", "repeats", "walk", "noise", "huge", "tiny", "calibrated", "ratios", NULL
};
const char *const bytes_patterns[] = {
	"empty", "constant", "few", "words", "unique", "random", "fixed16", "long", "sparse", "binary", "tail", "hex", "digits",
	"numeric", "numerics", "jsonb", "jsonb_nested", "jsonb_ragged", NULL
};

static bool
is(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

/* 0, 1, 2, ... each half as often as the one before. */
static int
geometric(void)
{
	return __builtin_ctz((unsigned) unit_random() | 1U << 20);
}

/* One integer of a pattern; `last` is the one before. */
static int64_t
int_value(const char *p, uint32_t i, int64_t last)
{
	static const int64_t edges[] = {INT64_MIN, INT64_MAX, 0, -1, 1, INT64_MIN + 1, INT32_MIN, INT32_MAX, INT16_MIN, 127};

	if (is(p, "zero"))
		return 0;
	if (is(p, "constant"))
		return -77;
	if (is(p, "noise"))
		return last + (unit_below(2) ? -1 : 1) * geometric();
	if (is(p, "noise_scaled"))
		return last + (unit_below(2) ? -1000 : 1000) * (int64_t) (geometric() * 5 + (int) unit_below(5));
	if (is(p, "noise_skewed"))
		return -1000000 + (int64_t) geometric() * 8 + unit_below(8);
	if (is(p, "ramp"))
		return INT64_C(700000000000000) + (int64_t) i * 10000000;
	if (is(p, "ramp_down"))
		return -(int64_t) i * 3;
	if (is(p, "gaps"))
		return last + 300000000 * (unit_below(50) ? 1 : 2 + unit_below(9));
	if (is(p, "jitter"))
		return last + 244 + unit_below(2);
	if (is(p, "gcd"))
		return last + 60000000 * (int64_t) unit_below(1000);
	if (is(p, "random"))
		return (int64_t) unit_random();
	if (is(p, "small"))
		return (int64_t) unit_below(100) - 50;
	if (is(p, "bits"))
		return unit_below(2);
	if (is(p, "minmax"))
		return edges[unit_below(10)];
	if (is(p, "wrap"))
		return i % 2 ? INT64_MIN : INT64_MAX;
	if (is(p, "runs"))
		return unit_below(40) ? last : (int64_t) unit_below(5);
	if (is(p, "outliers"))
	{
		uint64_t	bits;

		if (unit_below(60))
			return (int64_t) unit_below(16);

		/*
		 * a statement of its own: compilers differ in what they evaluate
		 * first
		 */
		bits = unit_random();
		return (int64_t) (bits >> unit_below(60));
	}
	if (is(p, "steps"))
		return i / 100 * 1000;
	if (is(p, "quadratic"))
		return (int64_t) i * i * 7 - i;
	if (is(p, "counter"))
		return last + (unit_below(4) ? 0 : unit_below(300));
	if (is(p, "few"))
		return (int64_t) unit_below(20) * unit_below(20) * 12345;
	if (is(p, "cycle"))
		return (int64_t) (i % 97 * i % 97 * 7919 % 1009);
	/* walk */
	return last + (int64_t) unit_below(21) - 10;
}

/* A vector of n fixed values of width bytes. */
static Sample
sample_fixed(StrataKind kind, uint8_t width, uint32_t n)
{
	Sample		s = {.v = {.kind = kind,.width = width,.n = n},.nrows = n};

	s.fixed = unit_alloc((size_t) n * width);
	s.v.fixed = s.fixed;
	return s;
}

Sample
sample_int(const char *pattern, uint8_t width, uint32_t n)
{
	Sample		s = sample_fixed(STRATA_KIND_INT, width, n);
	int64_t		last = 0;

	for (uint32_t i = 0; i < n; i++)
	{
		last = int_value(pattern, i, last);
		/* the low bytes, wherever this CPU has them */
		switch (width)
		{
			case 1:
				((uint8_t *) s.fixed)[i] = (uint8_t) last;
				break;
			case 2:
				((uint16_t *) s.fixed)[i] = (uint16_t) last;
				break;
			case 4:
				((uint32_t *) s.fixed)[i] = (uint32_t) last;
				break;
			default:
				((int64_t *) s.fixed)[i] = last;
		}
	}
	snprintf(unit_context, sizeof(unit_context), "int%d %s n=%u", width, pattern, n);
	return s;
}

static double
bits_to_double(uint64_t bits)
{
	double		d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

/* One double of a pattern; `last` is the one before. */
static double
float_value(const char *p, uint32_t i, double last)
{
	if (is(p, "constant"))
		return 21.5;
	if (is(p, "integers"))
		return unit_below(100);
	if (is(p, "noise"))
		return (int) (last * 10 + (unit_below(2) ? -1 : 1) * geometric() + (last < 0 ? -0.5 : 0.5)) / 10.0;
	if (is(p, "tenths"))
		return ((int) unit_below(600) - 200) / 10.0;
	if (is(p, "cents"))
		return unit_below(100000) / 100.0;
	if (is(p, "decimals15"))
		return (double) (unit_random() % 1000000000000000) / 1e9;
	if (is(p, "mixed"))
		return unit_below(50) ? unit_below(1000) / 10.0 : unit_below(1000) / 7.0;
	if (is(p, "special"))
	{
		static const uint64_t bits[] = {
			0, UINT64_C(0x8000000000000000), UINT64_C(0x7ff0000000000000), UINT64_C(0xfff0000000000000),
			UINT64_C(0x7ff8000000000000), UINT64_C(0x7ff0000000000001), 1, UINT64_C(0x7fefffffffffffff),
			UINT64_C(0x3ff0000000000000), UINT64_C(0x433fffffffffffff)
		};

		return bits_to_double(bits[unit_below(10)]);
	}
	if (is(p, "nan_payloads"))
		return bits_to_double(UINT64_C(0x7ff0000000000000) | unit_random() >> 12 | 1);
	if (is(p, "denormal"))
		return bits_to_double(unit_random() >> 13);
	if (is(p, "sine"))
		return i % 100 * 0.37 + i / 3.0;
	if (is(p, "repeats"))
		return unit_below(20) ? last : unit_below(300) / 10.0;
	if (is(p, "walk"))
		return last + ((int) unit_below(21) - 10) / 8.0;
	if (is(p, "huge"))
		return unit_below(1000) * 1e300;
	if (is(p, "tiny"))
		return unit_below(1000) * 1e-12;
	if (is(p, "calibrated"))
		return -40 + ((int) ((last + 40) * 397 + 0.5) + (int) unit_below(51) - 25) / 397.0;
	if (is(p, "ratios"))
		return unit_below(300) / (1.0 + unit_below(300));
	/* random_bits */
	return bits_to_double(unit_random());
}

Sample
sample_float(const char *pattern, uint8_t width, uint32_t n)
{
	Sample		s = sample_fixed(STRATA_KIND_FLOAT, width, n);
	double		last = 0;

	for (uint32_t i = 0; i < n; i++)
	{
		last = float_value(pattern, i, last);
		if (width == 8)
			memcpy((double *) s.fixed + i, &last, 8);
		else if (is(pattern, "random_bits") || is(pattern, "nan_payloads") || is(pattern, "denormal"))
		{
			uint32_t	bits = (uint32_t) unit_random();

			if (is(pattern, "nan_payloads"))
				bits |= 0x7f800001;
			if (is(pattern, "denormal"))
				bits &= 0x807fffff;
			memcpy((float *) s.fixed + i, &bits, 4);
		}
		else
			((float *) s.fixed)[i] = (float) last;
	}
	snprintf(unit_context, sizeof(unit_context), "float%d %s n=%u", width, pattern, n);
	return s;
}

/* Length of a byte string of a pattern, then its bytes. */
static uint32_t
bytes_length(const char *p)
{
	if (is(p, "empty"))
		return 0;
	if (is(p, "constant"))
		return 6;
	if (is(p, "few"))
		return 3;
	if (is(p, "fixed16"))
		return 16;
	if (is(p, "long"))
		return unit_below(30) ? unit_below(200) : 50000 + unit_below(100000);
	if (is(p, "pages"))
		return unit_below(8) ? 2000 + unit_below(20000) : 60000 + unit_below(100000);
	if (is(p, "sparse"))
		return unit_below(10) ? 0 : unit_below(40);
	if (is(p, "tail"))
		return 6;
	if (is(p, "hex"))
		return 36;
	if (is(p, "digits"))
		return unit_below(20);
	return unit_below(40);
}

static void
bytes_fill(const char *p, uint32_t i, uint8_t *to, uint32_t len)
{
	static const char text[] = "the quick brown fox jumps over the lazy dog and runs away from ";
	uint32_t	which = unit_below(12);

	for (uint32_t k = 0; k < len; k++)
	{
		if (is(p, "constant"))
			to[k] = (uint8_t) ('a' + k);
		else if (is(p, "few"))
			to[k] = (uint8_t) ('a' + which);
		else if (is(p, "random") || is(p, "fixed16"))
			to[k] = (uint8_t) unit_random();
		else if (is(p, "binary"))
			to[k] = (uint8_t) (unit_below(3) ? 0 : 255);
		else if (is(p, "tail"))
			to[k] = (uint8_t) (k == 0 ? 'N' : k < 4 ? '0' + unit_below(10) : unit_below(3) ? 'A' + unit_below(26) : '0' + unit_below(10));
		else if (is(p, "hex"))
			to[k] = (uint8_t) (k % 9 == 8 ? '-' : "0123456789abcdef"[unit_below(16)]);
		else if (is(p, "digits"))
			to[k] = (uint8_t) ('0' + unit_below(10));
		else if (is(p, "pages"))
			to[k] = (uint8_t) (k % 61 == 7 ? 0xc3 : k % 61 == 8 ? 0xa9 : text[(which * 5 + k * k / 300) % (sizeof(text) - 1)]);
		else if (is(p, "unique") && k < 4)
			to[k] = (uint8_t) (i >> (8 * k));
		else
			to[k] = (uint8_t) text[(which * 5 + k) % (sizeof(text) - 1)];
	}
}

/*
 * PostgreSQL's numeric of sign, weight, scale and digits to the base 10000, without
 * the zeros it would not have; returns its length.
 */
static uint32_t
put_numeric(uint8_t *to, bool negative, int weight, unsigned scale, const uint16_t *digits, unsigned n)
{
	uint16_t	head;

	for (; n > 0 && digits[n - 1] == 0; n--)
		;
	for (; n > 0 && digits[0] == 0; n--, digits++)
		weight--;
	if (n == 0)
		weight = negative = 0;
	head = (uint16_t) (0x8000 | negative << 13 | scale << 7 | ((unsigned) weight & 0x7f));
	memcpy(to, &head, 2);
	memcpy(to + 2, digits, n * 2);
	return 2 + 2 * n;
}

/* numeric: two decimals, as money has; numerics: any scale and sign, and a few of the largest. */
static uint32_t
fill_numeric(bool mixed, uint8_t *to)
{
	uint16_t	digits[5] = {(uint16_t) unit_below(300), (uint16_t) unit_below(10000), (uint16_t) (unit_below(100) * 100)};
	unsigned	scale = mixed ? unit_below(9) : 2;
	static const unsigned unit[4] = {10000, 1000, 100, 10};

	if (mixed && unit_below(50) == 0)
		return put_numeric(to, true, 0, 0, digits, 0);
	if (mixed && unit_below(50) == 0)
	{
		/* (2^63 - 1) / 10^11, cut off */
		static const uint16_t large[4] = {9223, 3720, 3685, 4775};

		return put_numeric(to, unit_below(2), 1, 8, large, 4);
	}
	digits[2] = (uint16_t) (!scale ? 0 : scale < 4 ? unit_below(10000) / unit[scale] * unit[scale] : unit_below(10000));
	digits[3] = (uint16_t) (scale > 4 ? unit_below(10000) / unit[scale & 3] * unit[scale & 3] : 0);
	return put_numeric(to, mixed && unit_below(2), 1, scale, digits, 4);
}

Sample
sample_bytes(const char *pattern, uint32_t n)
{
	Sample		s = {.v = {.kind = STRATA_KIND_BYTES,.width = 0,.n = n},.nrows = n};

	s.offsets = unit_alloc(((size_t) n + 1) * sizeof(uint32_t));
	s.offsets[0] = 0;
	if (strncmp(pattern, "numeric", 7) == 0)
	{
		s.payload = unit_alloc((size_t) n * 16);
		for (uint32_t i = 0; i < n; i++)
			s.offsets[i + 1] = s.offsets[i] + fill_numeric(is(pattern, "numerics"), s.payload + s.offsets[i]);
		s.v.hint = STRATA_BYTES_NUMERIC;
	}
	else if (strncmp(pattern, "jsonb", 5) == 0)
	{
		/*
		 * room for the next, whatever it is; copied to its size when all are
		 * there
		 */
		size_t		room = 0;

		for (uint32_t i = 0; i < n; i++)
		{
			if (room < s.offsets[i] + (size_t) DOCUMENT_MAX)
				s.payload = realloc(s.payload, room = 2 * room + DOCUMENT_MAX);
			s.offsets[i + 1] = s.offsets[i] + (uint32_t) jsonb_sample(pattern, i, s.payload + s.offsets[i], DOCUMENT_MAX);
		}
		s.payload = realloc(s.payload, s.offsets[n] + 1);
		s.v.hint = STRATA_BYTES_JSONB;
	}
	else
	{
		for (uint32_t i = 0; i < n; i++)
			s.offsets[i + 1] = s.offsets[i] + bytes_length(pattern);
		s.payload = unit_alloc(s.offsets[n]);
	}
	for (uint32_t i = 0; i < n && s.v.hint == STRATA_BYTES_ANY; i++)
		bytes_fill(pattern, i, s.payload + s.offsets[i], s.offsets[i + 1] - s.offsets[i]);
	s.v.offsets = s.offsets;
	s.v.payload = s.payload;
	snprintf(unit_context, sizeof(unit_context), "bytes %s n=%u", pattern, n);
	return s;
}

/* Is row `row` null? */
static bool
null_at(NullPattern pattern, uint32_t row, uint32_t nrows)
{
	switch (pattern)
	{
		case NULLS_FEW:
			return unit_below(50) == 0;
		case NULLS_HALF:
			return unit_below(2) == 0;
		case NULLS_RUNS:
			return row / 100 % 2 == 0;
		case NULLS_ALL_BUT_ONE:
			return row != nrows / 2;
		case NULLS_EVERY:
			return true;
		default:
			return false;
	}
}

/* Take values out of a sample: the rows a pattern says are null. */
void
sample_add_nulls(Sample *s, NullPattern pattern)
{
	uint32_t	n = 0;
	uint32_t	start = 0;
	size_t		used = strlen(unit_context);

	if (pattern == NULLS_NO)
		return;
	s->isnull = unit_alloc(s->nrows * sizeof(bool));
	for (uint32_t row = 0; row < s->nrows; row++)
	{
		uint32_t	end = s->offsets ? s->offsets[row + 1] : 0;
		uint32_t	from = start;

		start = end;
		s->isnull[row] = null_at(pattern, row, s->nrows);
		if (s->isnull[row])
			continue;
		if (s->v.kind == STRATA_KIND_BYTES)
		{
			/* n <= row: entry n + 1 was read already, or is row + 1 itself */
			memmove(s->payload + s->offsets[n], s->payload + from, end - from);
			s->offsets[n + 1] = s->offsets[n] + end - from;
		}
		else
			memmove((uint8_t *) s->fixed + (size_t) n * s->v.width,
					(uint8_t *) s->fixed + (size_t) row * s->v.width, s->v.width);
		n++;
	}
	s->v.n = n;
	snprintf(unit_context + used, sizeof(unit_context) - used, " nulls=%d", pattern);
}

void
sample_free(Sample *s)
{
	free(s->isnull);
	free(s->fixed);
	free(s->payload);
	free(s->offsets);
}

/* Encode into memory of exactly the size that is left to the codec. */
Encoded
encode_sample(const Sample *s, StrataCodecId wanted)
{
	size_t		bound = strata_column_encode_bound(&s->v, s->nrows);
	size_t		scratch_size = strata_column_encode_scratch_size(&s->v, s->nrows);
	uint8_t    *out = unit_alloc(bound);
	void	   *scratch = unit_alloc(scratch_size);
	Encoded		e = {0};

	e.rc = strata_column_encode(&s->v, s->nrows, s->isnull, wanted, scratch, scratch_size, out, bound, &e.len);
	free(scratch);
	if (e.rc == STRATA_CODEC_OK)
	{
		e.buf = unit_alloc(e.len);
		memcpy(e.buf, out, e.len);
	}
	free(out);
	return e;
}

/* The position among non-null values of row `row`. */
static uint32_t
value_of_row(const Sample *s, uint32_t row)
{
	uint32_t	value = 0;

	if (s->isnull == NULL)
		return row;
	for (uint32_t i = 0; i < row; i++)
		value += !s->isnull[i];
	return value;
}

static void
check_fixed(const Sample *s, const Encoded *e, uint32_t from, uint32_t n, void *scratch, size_t scratch_size)
{
	uint8_t		width = s->v.width;
	uint8_t    *out = unit_alloc((size_t) n * width);
	bool	   *isnull = unit_alloc(n);
	bool		hasnull;
	uint32_t	value = value_of_row(s, from);
	StrataCodecResult rc = strata_column_decode_fixed(e->buf, e->len, from, n, scratch, scratch_size,
													  out, isnull, &hasnull);
	bool		found = false;

	CHECK(rc == STRATA_CODEC_OK);
	for (uint32_t i = 0; rc == STRATA_CODEC_OK && i < n; i++)
	{
		static const uint8_t zero[8];
		bool		null = s->isnull && s->isnull[from + i];
		const uint8_t *wanted = null ? zero : (const uint8_t *) s->fixed + (size_t) value * width;

		found |= null;
		value += !null;
		if (isnull[i] != null || memcmp(out + (size_t) i * width, wanted, width) != 0)
		{
			CHECK(false && "value differs");
			break;
		}
	}
	CHECK(rc != STRATA_CODEC_OK || hasnull == found);
	free(out);
	free(isnull);
}

/* Value i of a sample of floats, as a double. */
static double
double_of(const Sample *s, uint32_t i)
{
	return s->v.width == 8 ? ((const double *) s->fixed)[i] : (double) ((const float *) s->fixed)[i];
}

/* If the codec says that floats are integers, then they are, and those; shorter ones are their low bits. */
static void
check_integers(const Sample *s, const Encoded *e, uint32_t from, uint32_t n)
{
	int64_t    *wide = unit_alloc((size_t) n * sizeof(int64_t));
	int32_t    *narrow = unit_alloc((size_t) n * sizeof(int32_t));
	int16_t    *shorts = unit_alloc((size_t) n * sizeof(int16_t));
	StrataCodecResult rc = strata_column_decode_integers(e->buf, e->len, from, n, 8, wide);

	CHECK(rc == STRATA_CODEC_OK || rc == STRATA_CODEC_NOT_APPLICABLE);
	CHECK(strata_column_decode_integers(e->buf, e->len, from, n, 4, narrow) == rc);
	CHECK(strata_column_decode_integers(e->buf, e->len, from, n, 2, shorts) == rc);
	for (uint32_t i = 0; rc == STRATA_CODEC_OK && i < n; i++)
	{
		double		value = double_of(s, from + i);

		if ((double) wide[i] != value || (value == 0 && signbit(value)) || s->isnull ||
			narrow[i] != (int32_t) wide[i] || shorts[i] != (int16_t) wide[i])
		{
			CHECK(false && "integer differs");
			break;
		}
	}
	free(wide);
	free(narrow);
	free(shorts);
}

/* If numerics come as integers, they are as many digits to the base 10000 as the values have. */
static void
check_scaled(const Sample *s, const Encoded *e, uint32_t from, uint32_t n, void *scratch, size_t scratch_size)
{
	int64_t    *integers = unit_alloc((size_t) n * sizeof(int64_t));
	unsigned	scale = 0;
	uint8_t    *displays = unit_alloc(n);
	bool	   *isnull = unit_alloc(n);
	bool		hasnull = false;
	StrataCodecResult rc = strata_column_decode_scaled(e->buf, e->len, from, n, scratch, scratch_size, integers,
													   displays, &scale, isnull, &hasnull);

	CHECK(rc == STRATA_CODEC_OK || rc == STRATA_CODEC_NOT_APPLICABLE);
	for (uint32_t i = 0, v = value_of_row(s, from); rc == STRATA_CODEC_OK && i < n; i++, v++)
	{
		const uint8_t *value = s->payload + s->offsets[v];
		uint32_t	len = s->offsets[v + 1] - s->offsets[v];
		uint16_t	head;
		__int128	left = 0;
		__int128	right = integers[i] < 0 ? -(__int128) integers[i] : integers[i];
		int			weight;

		if (isnull[i] != (s->isnull && s->isnull[from + i]) || (isnull[i] && (!hasnull || integers[i] != 0)))
		{
			CHECK(false && "null of a scaled integer differs");
			break;
		}
		if (isnull[i])
		{
			v--;
			continue;
		}
		memcpy(&head, value, sizeof(head));
		weight = (head & 0x7f) > 63 ? (head & 0x7f) - 128 : head & 0x7f;
		/* both times 10^20: 10000^5 */
		for (uint32_t k = 2; k < len; k += 2)
		{
			uint16_t	digit;

			memcpy(&digit, value + k, sizeof(digit));
			left = left * 10000 + digit;
			weight--;
		}
		for (weight += 1 + 5; weight > 0 && len > 2; weight--)
			left *= 10000;
		for (unsigned k = scale; k < 20; k++)
			right *= 10;
		if (left != right || (integers[i] < 0) != ((head & 0x2000) != 0) || (head >> 7 & 63) != displays[i])
		{
			CHECK(false && "scaled integer differs");
			break;
		}
	}
	free(integers);
	free(displays);
	free(isnull);
}

static void
check_bytes(const Sample *s, const Encoded *e, uint32_t from, uint32_t n, void *scratch, size_t scratch_size)
{
	StrataBytes out;
	bool	   *isnull = unit_alloc(n);
	bool		hasnull;
	uint32_t	value = value_of_row(s, from);
	StrataCodecResult rc = strata_column_decode_bytes(e->buf, e->len, from, n, scratch, scratch_size,
													  &out, isnull, &hasnull);
	bool		found = false;

	CHECK(rc == STRATA_CODEC_OK);
	CHECK(rc != STRATA_CODEC_OK || out.codes || out.nentries == n);
	for (uint32_t i = 0; rc == STRATA_CODEC_OK && i < n; i++)
	{
		bool		null = s->isnull && s->isnull[from + i];
		uint32_t	entry = out.codes ? out.codes[i] : i;
		uint32_t	len = out.codes && null ? 0 : out.offsets[entry + 1] - out.offsets[entry];
		uint32_t	wanted = null ? 0 : s->offsets[value + 1] - s->offsets[value];

		found |= null;
		if (isnull[i] != null || len != wanted ||
			(len > 0 && memcmp(out.payload + out.offsets[entry], s->payload + s->offsets[value], len) != 0))
		{
			CHECK(false && "value differs");
			break;
		}
		value += !null;
	}
	CHECK(rc != STRATA_CODEC_OK || hasnull == found);
	free(isnull);
}

static void
check_range_once(const Sample *s, const Encoded *e, uint32_t from, uint32_t n)
{
	size_t		scratch_size;
	void	   *scratch;
	StrataCodecResult rc = strata_column_decode_scratch_size(e->buf, e->len, from, n, &scratch_size);

	CHECK(rc == STRATA_CODEC_OK);
	if (rc != STRATA_CODEC_OK)
		return;
	scratch = unit_alloc(scratch_size);
	if (s->v.kind == STRATA_KIND_BYTES)
	{
		check_bytes(s, e, from, n, scratch, scratch_size);
		check_scaled(s, e, from, n, scratch, scratch_size);
	}
	else
		check_fixed(s, e, from, n, scratch, scratch_size);
	if (s->v.kind == STRATA_KIND_FLOAT)
		check_integers(s, e, from, n);
	free(scratch);
}

/* As this CPU decodes, and as one without vector instructions does. */
void
check_range(const Sample *s, const Encoded *e, uint32_t from, uint32_t n)
{
	check_range_once(s, e, from, n);
	strata_codec_portable_only = true;
	check_range_once(s, e, from, n);
	strata_codec_portable_only = false;
}

/* Is there a string that codec PACKED does not hold? */
static bool
has_long(const Sample *s)
{
	for (uint32_t i = 0; i < s->v.n; i++)
		if (s->offsets[i + 1] - s->offsets[i] > 64)
			return true;
	return false;
}

void
check_roundtrip(const Sample *s, StrataCodecId wanted, bool all_ranges)
{
	Encoded		e = encode_sample(s, wanted);
	Encoded		again;
	StrataCodecInfo info;
	size_t		used = strlen(unit_context);

	snprintf(unit_context + used, sizeof(unit_context) - used, " as %s", strata_codec_name(wanted));
	if (e.rc == STRATA_CODEC_NOT_APPLICABLE || e.rc == STRATA_CODEC_UNSUPPORTED)
	{
		CHECK(wanted == STRATA_CODEC_CONSTANT ||
			  (wanted == STRATA_CODEC_NUMERIC && s->v.hint != STRATA_BYTES_NUMERIC) ||
			  (wanted == STRATA_CODEC_JSONB && (s->v.hint != STRATA_BYTES_JSONB || s->v.n > 2000)) ||
			  (wanted == STRATA_CODEC_PACKED && has_long(s)) || !strata_codec_available(wanted));
		unit_context[used] = '\0';
		return;
	}
	CHECK(e.rc == STRATA_CODEC_OK);
	if (e.rc != STRATA_CODEC_OK)
		return;
	/* and so do CPUs without vector instructions */
	strata_codec_portable_only = true;
	again = encode_sample(s, wanted);
	strata_codec_portable_only = false;
	CHECK(again.rc == e.rc && again.len == e.len && memcmp(again.buf, e.buf, e.len) == 0);
	free(again.buf);
	CHECK(strata_column_describe(e.buf, e.len, true, &info) == STRATA_CODEC_OK);
	CHECK(info.kind == s->v.kind && info.width == s->v.width);
	CHECK(info.nrows == s->nrows && info.nnulls == s->nrows - s->v.n);
	CHECK(info.id == wanted || wanted == STRATA_CODEC_AUTO ||
		  info.id == STRATA_CODEC_RAW || info.id == STRATA_CODEC_CONSTANT);
	/* never bigger than the values as they are, their header and null map */
	if (s->v.kind != STRATA_KIND_BYTES)
		CHECK(e.len <= 11 + (s->nrows + 7) / 8 + (size_t) s->v.n * s->v.width);
	check_range(s, &e, 0, s->nrows);
	if (all_ranges)
		for (uint32_t from = 0; from <= s->nrows; from++)
			for (uint32_t n = 0; n <= s->nrows - from; n++)
				check_range(s, &e, from, n);
	else
		for (int i = 0; i < 20; i++)
		{
			uint32_t	from = unit_below(s->nrows + 1);

			check_range(s, &e, from, unit_below(s->nrows - from + 1));
		}
	if (s->nrows > 0)
		check_range(s, &e, s->nrows - 1, 1);
	free(e.buf);
	unit_context[used] = '\0';
}
