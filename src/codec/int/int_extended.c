/*-------------------------------------------------------------------------
 *
 * int_extended.c
 *	  The packings of archives: integer streams that take more time for fewer
 *	  bytes.
 *
 * Behind the header of a stream of packing 3 (int_stream.c; bits 6-7 of the
 * mode are 0):
 *
 *	1		method: 1 entropy coded, 2 zstd
 *	1-10	if based: minimum of all residuals, zigzag varint
 *
 * Method 1, entropy coded.  A number u is a token and some raw bits.  With e
 * and m from the next byte: token u if u < 1 << e, no raw bits; else, b being
 * the position of its highest bit, token (1 << e) + ((b - e) << m) + the m
 * bits below that bit, and the b - m bits below those are raw.
 *
 *	1		e in bits 0-3 (at most 8), m in bits 4-7 (at most e and 2)
 *			the table of tokens (int_ans.c)
 *			blocks of 1024 values:
 *			  varint	bytes of the tokens
 *			  varint	bytes of the raw bits
 *			  			header fields but the minimum, as in int_stream.c
 *			  ...		tokens (int_ans.c) of the numbers
 *			  ...		raw bits of the numbers, one after the other, padded to
 *						a byte
 *
 * Method 2, zstd; not with delta of delta.  One block: residuals go on to the
 * end.
 *
 *	1		w, bytes of a number, 1 .. 8
 *	...		to the end of the stream: a zstd frame.  For each 1024 numbers c
 *			(the last time what is left): the lowest bytes of all c, then the
 *			next bytes, w times. The window of the frame is at most WINDOW_LOG
 *			bits
 *
 * Method 1 keeps C5.  Method 2 reads the numbers before the wanted ones too.
 *
 * Over 600 lines: what the encoder writes stands beside what the decoder
 * reads.
 *
 * src/codec/int/int_extended.c
 *-------------------------------------------------------------------------
 */
#include "codec/bitstream.h"
#include "codec/int/int_ans.h"
#include "codec/int/int_block.h"
#include "codec/lz_library.h"

#define BLOCK ANS_BLOCK
#define DIRECT_MAX 8
#define MANTISSA_MAX 2
#define KINDS 4
#define CONFIGS 7

/*
 * zstd in a hurry takes a quarter more at most, mostly; the kinds it is asked
 * about.
 */
#define LZ_HURRY_SHARE 4
#define LZ_KINDS 2

/* What a token stands for. */
typedef struct TokenShape
{
	unsigned	direct;			/* e: numbers below 1 << e are tokens */
	unsigned	mantissa;		/* m: bits below the highest that are in the
								 * token */
} TokenShape;

static const TokenShape shapes[CONFIGS] = {{0, 0}, {2, 1}, {3, 1}, {4, 2},
{5, 2}, {6, 2}, {8, 2}};

static const struct
{
	IntTransform transform;
	bool		based;
}			kinds[KINDS] = {{INT_VALUES, true},
{INT_DELTA, false},
{INT_DELTA, true},
{INT_DELTA_DELTA, false}};

/* Token of a number, and how many raw bits it has. */
STRATA_INLINE uint32_t
token_of(uint64_t u, TokenShape shape, unsigned *raw)
{
	unsigned	b;

	*raw = 0;
	if (u >> shape.direct == 0)
		return (uint32_t) u;
	b = strata_bit_length(u) - 1;
	*raw = b - shape.mantissa;
	return (UINT32_C(1) << shape.direct) +
		((b - shape.direct) << shape.mantissa) +
		(uint32_t) (u >> *raw & strata_low_bits(shape.mantissa));
}

/* The least number of a token, and its raw bits; false when it has none. */
static bool
token_least(uint32_t token, TokenShape shape, uint64_t *least, unsigned *raw)
{
	uint32_t	above = token - (UINT32_C(1) << shape.direct);
	unsigned	b = shape.direct + (above >> shape.mantissa);

	*raw = 0;
	*least = token;
	if (token >> shape.direct == 0)
		return true;
	if (b > 63)
		return false;
	*raw = b - shape.mantissa;
	*least = UINT64_C(1) << b |
		(uint64_t) (above & strata_low_bits(shape.mantissa)) << *raw;
	return true;
}

/*
 * --- encoding
 * ----------------------------------------------------------------
 */

/* Scratch of strata_int_extended_encode. */
size_t
strata_int_extended_scratch_size(uint32_t n)
{
	return 3 * STRATA_ARENA_SIZE(n * sizeof(uint64_t)) +
		STRATA_ARENA_SIZE(n * sizeof(uint16_t)) +
		STRATA_ARENA_SIZE(strata_ints_bound(n));
}

/* What encode keeps of its scratch. */
typedef struct Scratch
{
	int64_t    *residuals;
	uint64_t   *numbers;
	uint8_t    *planes;
	uint16_t   *tokens;
	uint8_t    *attempt;		/* room bytes */
	size_t		room;
} Scratch;

/* Values that one block of a method has. */
STRATA_INLINE uint32_t
rows_of(IntMethod method, uint32_t n)
{
	return method == INT_METHOD_LZ || n < BLOCK ? n : BLOCK;
}

/*
 * The numbers of all blocks of some rows, one after the other; *base is their
 * minimum.
 */
static uint32_t
map_all(const int64_t *scaled, uint32_t n, uint32_t rows, int kind, Scratch *s,
		int64_t *base)
{
	uint32_t	count = 0;

	for (uint32_t from = 0; from < n; from += rows)
		count += strata_int_residuals(kinds[kind].transform, scaled + from,
									  n - from < rows ? n - from : rows,
									  s->residuals + count);
	*base = strata_int_map(kinds[kind].based, s->residuals, count, s->numbers);
	return count;
}

/* About 256 * log2(v); v > 0.  In integers, so that all CPUs choose alike. */
static uint64_t
log2_of(uint32_t v)
{
	unsigned	b = strata_bit_length(v) - 1;
	uint32_t	f = (uint32_t) (((uint64_t) v << 8 >> b) & 255);

	/* log2(1 + f) is close to f + 0.34 f (1 - f) */
	return ((uint64_t) b << 8) + f + f * (256 - f) * 88 / 65536;
}

/*
 * About 256 times the bits that numbers with these fine tokens (DIRECT_MAX,
 * MANTISSA_MAX) take in a shape.
 */
static uint64_t
shape_cost(const uint32_t *fine, uint32_t nfine, uint32_t count,
		   TokenShape shape, uint32_t *having, uint32_t *ntokens)
{
	const TokenShape finest = {DIRECT_MAX, MANTISSA_MAX};
	uint64_t	cost = 0;

	memset(having, 0, ANS_TOKENS_MAX * sizeof(uint32_t));
	*ntokens = 0;
	for (uint32_t f = 0; f < nfine; f++)
	{
		uint64_t	least;
		unsigned	raw;
		uint32_t	token;

		if (fine[f] == 0)
			continue;
		token_least(f, finest, &least, &raw);
		token = token_of(least, shape, &raw);
		having[token] += fine[f];
		cost += (uint64_t) fine[f] * raw << 8;
		*ntokens = token + 1 > *ntokens ? token + 1 : *ntokens;
	}
	for (uint32_t t = 0; t < *ntokens; t++)
		if (having[t] > 0)
			cost += having[t] * (log2_of(count) - log2_of(having[t])) +
				(7 << 8);
		else
			cost += 1 << 8;
	return cost;
}

/* The cheapest shape for the numbers at hand, and its cost. */
static TokenShape
choose_shape(const uint64_t *numbers, uint32_t count, uint64_t *cost)
{
	const TokenShape finest = {DIRECT_MAX, MANTISSA_MAX};
	uint32_t	fine[ANS_TOKENS_MAX] = {0};
	uint32_t	having[ANS_TOKENS_MAX];
	uint32_t	nfine = 0;
	TokenShape	best = shapes[0];

	for (uint32_t i = 0; i < count; i++)
	{
		unsigned	raw;
		uint32_t	f = token_of(numbers[i], finest, &raw);

		fine[f]++;
		nfine = f + 1 > nfine ? f + 1 : nfine;
	}
	*cost = UINT64_MAX;
	for (int c = 0; c < CONFIGS; c++)
	{
		uint32_t	ntokens;
		uint64_t	this_cost = shape_cost(fine, nfine, count, shapes[c],
										   having, &ntokens);

		if (this_cost < *cost)
		{
			*cost = this_cost;
			best = shapes[c];
		}
	}
	return best;
}

/*
 * Tokens of the numbers at hand, and their table; false when there is none to
 * be had.
 */
static bool
make_tokens(TokenShape shape, uint32_t count, Scratch *s, AnsTable *table)
{
	uint32_t	having[ANS_TOKENS_MAX] = {0};
	uint32_t	ntokens = 0;
	uint32_t	distinct = 0;
	unsigned	table_log = strata_bit_length(count);

	for (uint32_t i = 0; i < count; i++)
	{
		unsigned	raw;
		uint32_t	t = token_of(s->numbers[i], shape, &raw);

		s->tokens[i] = (uint16_t) t;
		distinct += having[t]++ == 0;
		ntokens = t + 1 > ntokens ? t + 1 : ntokens;
	}
	table_log = table_log < ANS_LOG_MIN ? ANS_LOG_MIN :
		table_log > ANS_LOG_MAX ? ANS_LOG_MAX :
		table_log;
	if (count == 0 || distinct > (UINT32_C(1) << table_log) / 2)
		return false;
	strata_ans_normalise(having, ntokens, count, table_log, table);
	return true;
}

/* Write the blocks of method 1. */
static void
write_ans_blocks(const IntShape *shape, TokenShape token_shape,
				 const AnsTable *table, const int64_t *scaled, uint32_t n,
				 const Scratch *s, StrataWriter *out)
{
	uint8_t		token_bytes[(BLOCK + ANS_STATES) * ANS_LOG_MAX / 8 + 8];
	uint8_t		raw_bytes[BLOCK * 8];
	uint8_t		meta[INT_META_MAX];
	IntShape	unbased = *shape;
	IntBlockState state = {0};
	AnsEncoder	encoder;
	uint32_t	done = 0;

	unbased.based = false;
	strata_ans_encoder_init(table, &encoder);
	for (uint32_t from = 0; from < n && !out->failed; from += BLOCK)
	{
		uint32_t	m = n - from < BLOCK ? n - from : BLOCK;
		uint32_t	count = int_numbers_of(shape->transform, m);
		StrataWriter tokens = strata_writer(token_bytes, sizeof(token_bytes));
		StrataWriter raw = strata_writer(raw_bytes, sizeof(raw_bytes));
		StrataBitWriter bw = {&raw, 0, 0};
		size_t		meta_len = strata_int_meta_write(&unbased, &state,
													 scaled + from, m,
													 from == 0, 0, meta);

		strata_ans_write(&encoder, s->tokens + done, count, &tokens);
		for (uint32_t i = done; i < done + count; i++)
		{
			unsigned	nbits;

			token_of(s->numbers[i], token_shape, &nbits);
			strata_bits_write(&bw, s->numbers[i] & strata_low_bits(nbits),
							  nbits);
		}
		strata_bits_flush(&bw);
		done += count;
		strata_write_varint(out, strata_writer_len(&tokens));
		strata_write_varint(out, strata_writer_len(&raw));
		strata_write_bytes(out, meta, meta_len);
		strata_write_bytes(out, token_bytes, strata_writer_len(&tokens));
		strata_write_bytes(out, raw_bytes, strata_writer_len(&raw));
	}
}

/* What both methods start with. */
static void
write_head(const IntShape *shape, IntMethod method, int64_t first,
		   uint64_t divisor, int64_t base, StrataWriter *out)
{
	strata_int_header_write(shape, first, divisor, out);
	strata_write_u8(out, (uint8_t) method);
	if (shape->based)
		strata_write_varint(out, strata_zigzag(base));
}

/* Write a stream by method 1 in the kind that suits it best. */
static void
write_ans(int64_t first, const int64_t *scaled, uint32_t n, uint64_t divisor,
		  Scratch *s, StrataWriter *out)
{
	uint32_t	rows = rows_of(INT_METHOD_ANS, n);
	uint64_t	least = UINT64_MAX;
	int			best = 0;
	TokenShape	token_shape = shapes[0];
	IntShape	shape;
	AnsTable	table;
	int64_t		base;
	uint32_t	count;

	for (int kind = 0; kind < KINDS; kind++)
	{
		uint64_t	cost;
		TokenShape	this_shape;

		count = map_all(scaled, n, rows, kind, s, &base);
		this_shape = choose_shape(s->numbers, count, &cost);
		if (cost < least)
		{
			least = cost;
			best = kind;
			token_shape = this_shape;
		}
	}
	count = map_all(scaled, n, rows, best, s, &base);
	if (!make_tokens(token_shape, count, s, &table))
	{
		out->failed = true;
		return;
	}
	shape = (IntShape)
	{
		kinds[best].transform, INT_PACK_EXTENDED,
			kinds[best].based, INT_BLOCK_LOG2_MIN
	};
	write_head(&shape, INT_METHOD_ANS, first, divisor, base, out);
	strata_write_u8(out, (uint8_t) (token_shape.direct | token_shape.mantissa
									<< 4));
	strata_ans_table_write(&table, out);
	write_ans_blocks(&shape, token_shape, &table, scaled, n, s, out);
}

/*
 * What method 2 gives to zstd: planes of the numbers of a kind.  Returns the
 * bytes of a number.
 */
static unsigned
make_planes(int kind, const int64_t *scaled, uint32_t n, Scratch *s,
			int64_t *base, size_t *nbytes)
{
	uint8_t    *to = s->planes;
	uint32_t	count = map_all(scaled, n, rows_of(INT_METHOD_LZ, n), kind, s,
								base);
	uint64_t	any = 1;
	unsigned	width;

	for (uint32_t i = 0; i < count; i++)
		any |= s->numbers[i];
	width = (strata_bit_length(any) + 7) / 8;
	for (uint32_t from = 0; from < count; from += BLOCK)
		for (unsigned byte = 0; byte < width; byte++)
			for (uint32_t i = from; i < count && i < from + BLOCK; i++)
				*to++ = (uint8_t) (s->numbers[i] >> byte * 8);
	*nbytes = (size_t) (to - s->planes);
	return width;
}

/*
 * Which kind method 2 should have: values, or differences, by what zstd makes
 * of them in a hurry; -1 when it will not take less than `most` bytes.
 */
static int
guess_lz_of_planes(const int64_t *scaled, uint32_t n, size_t most, Scratch *s)
{
	int			best = -1;

	for (int kind = 0; kind < LZ_KINDS; kind++)
	{
		int64_t		base;
		size_t		nbytes;
		size_t		cap = most + most / LZ_HURRY_SHARE;
		size_t		len;

		(void) make_planes(kind, scaled, n, s, &base, &nbytes);
		len = strata_lz_compress(STRATA_CODEC_ZSTD, STRATA_LEVEL_BALANCED,
								 s->planes, nbytes, s->attempt,
								 cap < s->room ? cap : s->room, NULL);
		if (len == 0)
			continue;
		best = kind;
		most = len - len / (LZ_HURRY_SHARE + 1);
	}
	return best;
}

/* Write a stream by method 2. */
static void
write_lz(int kind, int64_t first, const int64_t *scaled, uint32_t n,
		 uint64_t divisor, Scratch *s, StrataWriter *out)
{
	IntShape	shape = {kinds[kind].transform, INT_PACK_EXTENDED,
	kinds[kind].based, INT_BLOCK_LOG2_MIN};
	int64_t		base;
	size_t		nbytes;
	unsigned	width = make_planes(kind, scaled, n, s, &base, &nbytes);
	size_t		len;

	write_head(&shape, INT_METHOD_LZ, first, divisor, base, out);
	strata_write_u8(out, (uint8_t) width);
	if (out->failed)
		return;
	len = strata_lz_compress(STRATA_CODEC_ZSTD, STRATA_LEVEL_ARCHIVE,
							 s->planes, nbytes, out->next,
							 strata_writer_left(out), NULL);
	if (len == 0)
		out->failed = true;
	else
		strata_write_space(out, len);
}

/*
 * Append a stream if it takes at most room bytes; else out->failed.  Entropy
 * coded, or zstd where a guess says that it may be smaller, and it is.
 */
void
strata_int_extended_encode(const int64_t *values, const int64_t *scaled,
						   uint32_t n, uint64_t divisor, size_t room,
						   StrataArena *scratch, StrataWriter *out)
{
	StrataArena arena = *scratch;
	Scratch		s;
	size_t		best = 0;
	int			lz;
	StrataWriter w;

	s.residuals = strata_arena_alloc(&arena, n * sizeof(int64_t));
	s.numbers = strata_arena_alloc(&arena, n * sizeof(uint64_t));
	s.planes = strata_arena_alloc(&arena, n * sizeof(uint64_t));
	s.tokens = strata_arena_alloc(&arena, n * sizeof(uint16_t));
	s.room = strata_ints_bound(n);
	s.attempt = strata_arena_alloc(&arena, s.room);
	room = room < s.room ? room : s.room;
	room = room < strata_writer_left(out) ? room : strata_writer_left(out);
	if (s.attempt == NULL)
	{
		out->failed = true;
		return;
	}
	w = strata_writer(out->next, room);
	write_ans(values[0], scaled, n, divisor, &s, &w);
	if (!w.failed)
		best = strata_writer_len(&w);
	lz = guess_lz_of_planes(scaled, n, best > 0 ? best : room, &s);
	if (lz >= 0)
	{
		w = strata_writer(s.attempt, best > 0 ? best - 1 : room);
		write_lz(lz, values[0], scaled, n, divisor, &s, &w);
		if (!w.failed)
		{
			best = strata_writer_len(&w);
			memcpy(out->next, s.attempt, best);
		}
	}
	if (best == 0)
		out->failed = true;
	else
		strata_write_space(out, best);
}

/*
 * --- decoding
 * ----------------------------------------------------------------
 */

/* What the tokens of a table stand for. */
typedef struct Tokens
{
	AnsDecoder	decoder;
	uint64_t	least[ANS_TOKENS_MAX];
	uint8_t		raw[ANS_TOKENS_MAX];
	bool		any_raw;
} Tokens;

/*
 * Read what tokens stand for and how often each occurs; false when no encoder
 * wrote it.
 */
static bool
read_tokens_table(StrataReader *in, Tokens *tokens)
{
	unsigned	head = strata_read_u8(in);
	TokenShape	shape = {head & 15, head >> 4};
	AnsTable	table;

	if (shape.direct > DIRECT_MAX || shape.mantissa > MANTISSA_MAX ||
		shape.mantissa > shape.direct || !strata_ans_table_read(in, &table))
		return false;
	tokens->any_raw = false;
	for (uint32_t t = 0; t < table.ntokens; t++)
	{
		unsigned	raw;

		if (!token_least(t, shape, &tokens->least[t], &raw))
			return false;
		tokens->raw[t] = (uint8_t) raw;
		tokens->any_raw |= raw > 0;
	}
	strata_ans_decoder_init(&table, &tokens->decoder);
	return true;
}

/* Tokens to numbers, adding their raw bits from nbytes bytes at `from`. */
static bool
read_raw(const Tokens *tokens, const uint16_t *token, uint32_t count,
		 const uint8_t *from, size_t nbytes, uint64_t *u)
{
	uint8_t		padded[BLOCK * 8 + 16];
	size_t		bit = 0;

	if (!tokens->any_raw)
	{
		for (uint32_t i = 0; i < count; i++)
			u[i] = tokens->least[token[i]];
		return nbytes == 0;
	}
	if (nbytes > BLOCK * 8)
		return false;
	memcpy(padded, from, nbytes);
	memset(padded + nbytes, 0,
		   nbytes + 16 < sizeof(padded) ? 16 : sizeof(padded) - nbytes);
	for (uint32_t i = 0; i < count; i++)
	{
		unsigned	raw = tokens->raw[token[i]];
		uint64_t	bits;

		if (bit / 8 > nbytes)
			return false;
		bits = strata_load64(padded + bit / 8) >> bit % 8;
		if (raw + bit % 8 > 64)
			bits |= (uint64_t) padded[bit / 8 + 8] << (64 - bit % 8);
		u[i] = tokens->least[token[i]] + (bits & strata_low_bits(raw));
		bit += raw;
	}
	return (bit + 7) / 8 == nbytes;
}

/* Values [from, from + n) of a stream of method 1. */
static bool
decode_ans(const IntHeader *h, int64_t base, StrataReader *in, uint32_t total,
		   uint32_t from, uint32_t n, unsigned width, void *out)
{
	uint16_t	token[BLOCK];
	uint64_t	u[BLOCK];
	uint64_t	v[BLOCK];
	Tokens		tokens;
	IntShape	unbased = h->shape;
	IntBlockState state = {0};

	unbased.based = false;
	if (!read_tokens_table(in, &tokens))
		return false;
	for (uint32_t start = 0; start < from + n; start += BLOCK)
	{
		uint32_t	m = total - start < BLOCK ? total - start : BLOCK;
		uint32_t	count = int_numbers_of(h->shape.transform, m);
		uint32_t	lo = from > start ? from - start : 0;
		uint32_t	hi = from + n - start < m ? from + n - start : m;
		uint64_t	token_len = strata_read_varint(in);
		uint64_t	raw_len = strata_read_varint(in);
		const uint8_t *raw;

		strata_int_meta_read(&unbased, &state, start == 0, in);
		if (in->failed || token_len > strata_reader_left(in) ||
			raw_len > strata_reader_left(in) - token_len)
			return false;
		if (lo >= m)
		{
			strata_read_bytes(in, token_len + raw_len);
			continue;
		}
		if (!strata_ans_read(&tokens.decoder, in, token_len, count, token))
			return false;
		raw = strata_read_bytes(in, raw_len);
		if (raw == NULL || !read_raw(&tokens, token, count, raw, raw_len, u))
			return false;
		state.base = base;
		strata_int_block_rebuild(h, &state, u, m, v);
		strata_int_store(v + lo, hi - lo, width, out, start + lo - from);
	}
	return true;
}

/* Numbers of a chunk of planes. */
static void
gather_planes(const uint8_t *planes, uint32_t count, unsigned nbytes,
			  uint64_t *u)
{
	for (uint32_t i = 0; i < count; i++)
		u[i] = planes[i];
	for (unsigned byte = 1; byte < nbytes; byte++)
	{
		planes += count;
		for (uint32_t i = 0; i < count; i++)
			u[i] |= (uint64_t) planes[i] << byte * 8;
	}
}

/*
 * Values [from, from + n) of a stream of method 2, chunk by chunk: a chunk is
 * the block of values that its numbers lead to.
 */
static StrataCodecResult
decode_lz(const IntHeader *h, int64_t base, StrataReader *in, uint32_t total,
		  uint32_t from, uint32_t n, unsigned width, void *out)
{
	uint8_t		planes[BLOCK * 8];
	uint64_t	u[BLOCK];
	uint64_t	v[BLOCK + 1];
	unsigned	nbytes = strata_read_u8(in);
	uint32_t	lead =
	(uint32_t) h->shape.transform;	/* values in the header */
	IntHeader	chunk = *h;
	IntBlockState state = {.base = base};
	StrataCodecResult rc;

	if (in->failed || nbytes < 1 || nbytes > 8 ||
		h->shape.transform > INT_DELTA || total <= lead)
		return STRATA_CODEC_CORRUPT;
	rc = strata_lz_stream_begin(in->next, strata_reader_left(in));
	for (uint32_t start = 0; start < from + n && rc == STRATA_CODEC_OK;
		 start += BLOCK)
	{
		/*
		 * the chunk gives values [start + lead, start + lead + count), and
		 * v[0] is the one before
		 */
		uint32_t	count =
		total - lead - start < BLOCK ? total - lead - start : BLOCK;
		uint32_t	m = count + lead;
		uint32_t	lo = from > start ? from - start : 0;
		uint32_t	hi = from + n - start < m ? from + n - start : m;

		if (start >= total - lead)
			break;
		rc = strata_lz_stream_read(planes, (size_t) count * nbytes);
		if (rc != STRATA_CODEC_OK)
			break;
		gather_planes(planes, count, nbytes, u);
		strata_int_block_rebuild(&chunk, &state, u, m, v);
		if (lo < hi)
			strata_int_store(v + lo, hi - lo, width, out, start + lo - from);
		if (lead > 0)
			chunk.first = v[m - 1];
	}
	return rc;
}

/* Values [from, from + n) of a stream, whose header `in` is behind. */
StrataCodecResult
strata_int_extended_decode(const IntHeader *h, StrataReader *in,
						   uint32_t total, uint32_t from, uint32_t n,
						   unsigned width, void *out)
{
	unsigned	method = strata_read_u8(in);
	int64_t		base;

	base = h->shape.based ? strata_unzigzag(strata_read_varint(in)) : 0;
	if (method == INT_METHOD_ANS)
		return decode_ans(h, base, in, total, from, n, width, out) ?
			STRATA_CODEC_OK :
			STRATA_CODEC_CORRUPT;
	if (method == INT_METHOD_LZ)
		return decode_lz(h, base, in, total, from, n, width, out);
	return STRATA_CODEC_CORRUPT;
}

/* For people: the method of a stream, whose header `in` is behind. */
const char *
strata_int_extended_name(StrataReader in)
{
	switch (strata_read_u8(&in))
	{
		case INT_METHOD_ANS:
			return "entropy coded";
		case INT_METHOD_LZ:
			return "zstd";
	}
	return "unknown";
}
