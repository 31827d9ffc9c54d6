/*-------------------------------------------------------------------------
 *
 * int_ans.c
 *	  Entropy coding of small numbers ("tokens"): a table of counts, and blocks
 *	  of tokens that take close to as many bits as their frequencies say.
 *
 * Hides tabled asymmetric numeral systems.  A table spreads 1 << table_log
 * states over the tokens in proportion to their counts.  The decoder is in a
 * state, which tells a token and how many bits to read for the next state;
 * token i of a block is coded by state i % ANS_STATES, so that a CPU works on
 * several at once.
 *
 *	table	1		table_log in bits 0-3, order k in bits 4-7
 *			...		number of tokens A, varint
 *			...		A counts in exp-Golomb code of order k: for x = count + (1
 *					<< k), as many 1 bits as x is longer than k + 1 bits, a 0
 *					bit, the bits of x below its highest; padded to a byte.
 *					Counts add up to 1 << table_log and the last one is not 0
 *	block	...		ANS_STATES states of table_log bits, then the bits each
 *					token takes to leave its state, in the order of tokens
 *
 * The spread: position p of the table, from 0 on and then in steps of (5 *
 * size / 8 + 3) modulo size, goes to token 0 as often as its count says, then
 * to token 1, and so on.  The j-th position of a token in ascending order, j
 * from its count on, reads table_log - floor(log2 j) bits b and goes to state
 * (j << bits) + b - size.
 *
 * Reference: J. Duda, "Asymmetric numeral systems: entropy coding combining
 * speed of Huffman coding with compression rate of arithmetic coding", 2013
 * (arXiv:1311.2540).
 *
 * src/codec/int/int_ans.c
 *-------------------------------------------------------------------------
 */
#include "codec/bitstream.h"
#include "codec/int/int_ans.h"

#define GOLOMB_MAX 8

/*
 * --- tables
 * -------------------------------------------------------------------
 */

/* Where the spread goes next; coprime to any size it is used with. */
STRATA_INLINE uint32_t
spread_step(unsigned table_log)
{
	uint32_t	size = UINT32_C(1) << table_log;

	return (size >> 1) + (size >> 3) + 3;
}

/* The token at each position of the table. */
static void
spread_tokens(const AnsTable *table, uint16_t *token_at)
{
	uint32_t	mask = (UINT32_C(1) << table->table_log) - 1;
	uint32_t	step = spread_step(table->table_log);
	uint32_t	at = 0;

	for (uint32_t t = 0; t < table->ntokens; t++)
		for (uint32_t k = 0; k < table->count[t]; k++)
		{
			token_at[at] = (uint16_t) t;
			at = (at + step) & mask;
		}
}

/*
 * Counts that add up to 1 << table_log in about the proportions of `having`,
 * none 0 that was not.  There are fewer tokens than states.
 */
void
strata_ans_normalise(const uint32_t *having, uint32_t ntokens, uint32_t total,
					 unsigned table_log, AnsTable *table)
{
	uint32_t	size = UINT32_C(1) << table_log;
	uint32_t	sum = 0;

	while (ntokens > 1 && having[ntokens - 1] == 0)
		ntokens--;
	table->table_log = table_log;
	table->ntokens = ntokens;
	for (uint32_t t = 0; t < ntokens; t++)
	{
		uint32_t	share = (uint32_t) (((uint64_t) having[t] * size * 2 +
										 total) /
										((uint64_t) total * 2));

		if (share == 0 && having[t] > 0)
			share = 1;
		table->count[t] = (uint16_t) share;
		sum += share;
	}

	/*
	 * what rounding left over goes where it matters least: to the largest
	 * counts
	 */
	while (sum != size)
	{
		uint32_t	largest = 0;
		uint32_t	change;

		for (uint32_t t = 1; t < ntokens; t++)
			if (table->count[t] > table->count[largest])
				largest = t;
		if (sum < size)
		{
			table->count[largest] = (uint16_t) (table->count[largest] + size -
												sum);
			break;
		}
		change = table->count[largest] / 4 + 1;
		change = change < sum - size ? change : sum - size;
		table->count[largest] = (uint16_t) (table->count[largest] - change);
		sum -= change;
	}
}

/* Bits of a count in a Golomb code. */
STRATA_INLINE unsigned
golomb_bits(uint32_t count, unsigned order)
{
	unsigned	length = strata_bit_length((uint64_t) count +
										   (UINT64_C(1) << order));

	return (length - 1 - order) + 1 + (length - 1);
}

/* Write a table. */
void
strata_ans_table_write(const AnsTable *table, StrataWriter *out)
{
	StrataBitWriter bw = {out, 0, 0};
	unsigned	order = 0;
	size_t		best = SIZE_MAX;

	for (unsigned k = 0; k <= GOLOMB_MAX; k++)
	{
		size_t		bits = 0;

		for (uint32_t t = 0; t < table->ntokens; t++)
			bits += golomb_bits(table->count[t], k);
		if (bits < best)
		{
			best = bits;
			order = k;
		}
	}
	strata_write_u8(out, (uint8_t) (table->table_log | order << 4));
	strata_write_varint(out, table->ntokens);
	for (uint32_t t = 0; t < table->ntokens; t++)
	{
		uint64_t	x = table->count[t] + (UINT64_C(1) << order);
		unsigned	length = strata_bit_length(x);

		strata_bits_write(&bw, strata_low_bits(length - 1 - order),
						  length - order);
		strata_bits_write(&bw, x & strata_low_bits(length - 1), length - 1);
	}
	strata_bits_flush(&bw);
}

/* Read a table; false when no encoder wrote it. */
bool
strata_ans_table_read(StrataReader *in, AnsTable *table)
{
	unsigned	head = strata_read_u8(in);
	unsigned	order = head >> 4;
	uint64_t	ntokens = strata_read_varint(in);
	size_t		left = strata_reader_left(in);
	size_t		bit = 0;
	uint32_t	sum = 0;

	table->table_log = head & 15;
	if (in->failed || table->table_log < ANS_LOG_MIN ||
		table->table_log > ANS_LOG_MAX || order > GOLOMB_MAX || ntokens == 0 ||
		ntokens > ANS_TOKENS_MAX)
		return false;
	table->ntokens = (uint32_t) ntokens;
	for (uint32_t t = 0; t < table->ntokens; t++)
	{
		uint64_t	bits;
		unsigned	ones;
		uint64_t	x;

		if (bit / 8 >= left)
			return false;
		bits = left - bit / 8 >= 8 ? strata_load64(in->next + bit / 8) :
			strata_load_partial(in->next + bit / 8, left - bit / 8);
		bits >>= bit % 8;
		ones = ~bits ? (unsigned) __builtin_ctzll(~bits) : 64;
		if (ones > ANS_LOG_MAX + 1)
			return false;
		x = bits >> (ones + 1) & strata_low_bits(ones + order);
		x = (x | UINT64_C(1) << (ones + order)) - (UINT64_C(1) << order);
		bit += 2 * ones + order + 1;
		sum += (uint32_t) x;
		if (sum > UINT32_C(1) << table->table_log)
			return false;
		table->count[t] = (uint16_t) x;
	}
	strata_read_bytes(in, (bit + 7) / 8);
	return !in->failed && sum == UINT32_C(1) << table->table_log &&
		table->count[table->ntokens - 1] > 0;
}

/*
 * --- encoding
 * ----------------------------------------------------------------
 */

/* Make the encoder's tables of a table of counts. */
void
strata_ans_encoder_init(const AnsTable *table, AnsEncoder *encoder)
{
	uint16_t	token_at[ANS_SIZE_MAX];
	uint32_t	size = UINT32_C(1) << table->table_log;
	uint16_t	next[ANS_TOKENS_MAX];
	uint32_t	sum = 0;

	encoder->table_log = table->table_log;
	spread_tokens(table, token_at);
	for (uint32_t t = 0; t < table->ntokens; t++)
	{
		encoder->count[t] = table->count[t];
		encoder->first[t] = (uint16_t) sum;
		next[t] = (uint16_t) sum;
		sum += table->count[t];
	}
	for (uint32_t p = 0; p < size; p++)
		encoder->state[next[token_at[p]]++] = (uint16_t) p;
}

/* Write a block of m tokens, each of which the table has. */
void
strata_ans_write(const AnsEncoder *encoder, const uint16_t *tokens, uint32_t m,
				 StrataWriter *out)
{
	uint16_t	bits[ANS_BLOCK];
	uint8_t		nbits[ANS_BLOCK];
	uint32_t	size = UINT32_C(1) << encoder->table_log;
	uint32_t	state[ANS_STATES];
	StrataBitWriter bw = {out, 0, 0};

	/*
	 * last token first: a state is left for the one that was reached from it
	 */
	for (int s = 0; s < ANS_STATES; s++)
		state[s] = size;
	for (uint32_t i = m; i-- > 0;)
	{
		uint32_t	t = tokens[i];
		uint32_t	x = state[i % ANS_STATES];
		uint32_t	count = encoder->count[t];
		unsigned	k = strata_bit_length(x) - strata_bit_length(count);

		if (x >> k >= 2 * count)
			k++;
		else if (x >> k < count)
			k--;
		bits[i] = (uint16_t) (x & strata_low_bits(k));
		nbits[i] = (uint8_t) k;
		state[i % ANS_STATES] =
			size + encoder->state[encoder->first[t] + (x >> k) - count];
	}
	for (int s = 0; s < ANS_STATES; s++)
		strata_bits_write(&bw, state[s] - size, encoder->table_log);
	for (uint32_t i = 0; i < m; i++)
		strata_bits_write(&bw, bits[i], nbits[i]);
	strata_bits_flush(&bw);
}

/*
 * --- decoding
 * ----------------------------------------------------------------
 */

/* Make the decoder's table of a table of counts. */
void
strata_ans_decoder_init(const AnsTable *table, AnsDecoder *decoder)
{
	uint16_t	token_at[ANS_SIZE_MAX];
	uint16_t	next[ANS_TOKENS_MAX];
	uint32_t	size = UINT32_C(1) << table->table_log;

	decoder->table_log = table->table_log;
	spread_tokens(table, token_at);
	memcpy(next, table->count, table->ntokens * sizeof(uint16_t));
	for (uint32_t p = 0; p < size; p++)
	{
		uint32_t	t = token_at[p];
		uint32_t	j = next[t]++;
		unsigned	nbits = table->table_log + 1 - strata_bit_length(j);

		decoder->entry[p].token = (uint16_t) t;
		decoder->entry[p].nbits = (uint8_t) nbits;
		decoder->entry[p].next = (uint16_t) ((j << nbits) - size);
	}
}

/*
 * Read a block of m tokens of nbytes bytes; tokens has room for ANS_BLOCK.
 * False when the bytes are not as many as the tokens take.
 */
bool
strata_ans_read(const AnsDecoder *decoder, StrataReader *in, size_t nbytes,
				uint32_t m, uint16_t *tokens)
{
	uint8_t		padded[(ANS_BLOCK + ANS_STATES) * ANS_LOG_MAX / 8 + 16];
	const uint8_t *from = strata_read_bytes(in, nbytes);
	unsigned	log = decoder->table_log;
	size_t		bit = 0;
	uint32_t	state[ANS_STATES];
	uint32_t	i = 0;

	if (from == NULL || nbytes > sizeof(padded) - 16)
		return false;

	/*
	 * a copy, because loads go on beyond the end, at most as far as tokens
	 * can
	 */
	memcpy(padded, from, nbytes);
	memset(padded + nbytes, 0, sizeof(padded) - nbytes);
	for (int s = 0; s < ANS_STATES; s++, bit += log)
		state[s] = (uint32_t) (strata_load64(padded + bit / 8) >> bit % 8 &
							   strata_low_bits(log));
	for (; i + ANS_STATES <= m; i += ANS_STATES)
	{
		/*
		 * four tokens take at most 44 of the 57 bits that a load surely gives
		 */
		uint64_t	bits = strata_load64(padded + bit / 8) >> bit % 8;

		for (int s = 0; s < ANS_STATES; s++)
		{
			AnsEntry	entry = decoder->entry[state[s]];

			tokens[i + (uint32_t) s] = entry.token;
			state[s] = entry.next +
				(uint32_t) (bits & ((UINT64_C(1) << entry.nbits) - 1));
			bits >>= entry.nbits;
			bit += entry.nbits;
		}
	}
	for (; i < m; i++)
	{
		AnsEntry	entry = decoder->entry[state[i % ANS_STATES]];
		uint64_t	bits = strata_load64(padded + bit / 8) >> bit % 8;

		tokens[i] = entry.token;
		state[i % ANS_STATES] =
			entry.next +
			(uint32_t) (bits & ((UINT64_C(1) << entry.nbits) - 1));
		bit += entry.nbits;
	}
	return (bit + 7) / 8 == nbytes;
}
