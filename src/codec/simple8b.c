/*-------------------------------------------------------------------------
 *
 * simple8b.c
 *	  Codec SIMPLE8B: integers as differences of differences, in words of 64
 *	  bits that each have their own bit width, or stand for a run.
 *
 * Nothing chooses it by itself: blocks of bits (delta_delta) are as small and
 * decode faster.  It is for who asks for it by name.
 *
 * Values come in blocks of 256, each decodable by itself.  First, for each
 * block but the last, its length in 2 bytes; then the blocks, of m values
 * each:
 *
 *	SIZE				MEANING
 *	varint				first value, zigzag
 *	varint				if m > 1: second value less the first, zigzag
 *	varint				number of words W; 0: all numbers are 0
 *	(W + 1) / 2			selectors, four bits each: that of word i in the low
 *						half of byte i / 2 if i is even, else in the high half
 *	W * 8				words
 *
 * The words hold m - 2 numbers: zigzag of each difference less the one before.
 * Number k of a word of width w is bits [k * w, (k + 1) * w).  A word of
 * selector 0 is a run: its low 9 bits are the length less 1, the others the
 * number.  All arithmetic is modulo 2^64; values are the low bits.
 *
 * Invariant codec:C16: the words of a block end exactly with its last number,
 * but for unused room in the last word.
 *
 * Differences to the paper: selectors stand apart, so that a word has 64 bits
 * for numbers, and one of them is for runs of any number.
 *
 * Reference: V. N. Anh, A. Moffat, "Index compression using 64-bit words",
 * Software: Practice and Experience 40(2), 2010.
 *
 * src/codec/simple8b.c
 *-------------------------------------------------------------------------
 */
#include <stdio.h>

#include "codec/bitstream.h"
#include "codec/codec_private.h"

#define BLOCK_ROWS 256

/* Numbers in a word, and their width, by selector; 0 is a run. */
#define RUN 0
#define RUN_BITS 9
#define SELECTORS 16
static const uint8_t word_count[SELECTORS] = {
	0, 64, 32, 21, 16, 12, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1
};
static const uint8_t word_width[SELECTORS] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 21, 32, 64
};

/* How many of n numbers, all of them or a word full, the selector holds. */
static uint32_t
fits(const uint64_t *numbers, uint32_t n, unsigned selector)
{
	uint32_t	count = word_count[selector];

	count = count < n ? count : n;
	for (uint32_t i = 0; i < count; i++)
		if (strata_bit_length(numbers[i]) > word_width[selector])
			return 0;
	return count;
}

/*
 * The word that stands for the first of n numbers: a run where that covers
 * more than packing would, else as many as fit.  Returns how many.
 */
static uint32_t
make_word(const uint64_t *numbers, uint32_t n, unsigned *selector,
		  uint64_t *word)
{
	uint32_t	run = 1;
	uint32_t	count = 0;

	while (run < n && numbers[run] == numbers[0])
		run++;
	for (*selector = 1; count == 0; (*selector)++)
		count = fits(numbers, n, *selector);
	(*selector)--;
	*word = 0;
	if (run > count && numbers[0] >> (64 - RUN_BITS) == 0)
	{
		*selector = RUN;
		*word = (run - 1) | numbers[0] << RUN_BITS;
		return run;
	}
	for (uint32_t i = 0; i < count; i++)
		*word |= numbers[i] << i * word_width[*selector];
	return count;
}

/* Append the words of n numbers. */
static void
write_words(const uint64_t *numbers, uint32_t n, StrataWriter *out)
{
	uint8_t		selectors[BLOCK_ROWS / 2] = {0};
	uint64_t	words[BLOCK_ROWS];
	uint32_t	nwords = 0;
	uint64_t	any = 0;

	for (uint32_t i = 0; i < n; i++)
		any |= numbers[i];
	for (uint32_t i = 0; any != 0 && i < n; nwords++)
	{
		unsigned	selector;

		i += make_word(numbers + i, n - i, &selector, &words[nwords]);
		selectors[nwords / 2] |= (uint8_t) (selector << (nwords % 2 * 4));
	}
	strata_write_varint(out, nwords);
	strata_write_bytes(out, selectors, (nwords + 1) / 2);
	for (uint32_t i = 0; i < nwords; i++)
		strata_write_u64(out, words[i]);
}

/* Write values [from, from + m) of a vector as a block. */
static void
write_block(const StrataVector *v, uint32_t from, uint32_t m,
			StrataWriter *out)
{
	uint64_t	numbers[BLOCK_ROWS];
	uint64_t	last = (uint64_t) strata_vector_signed(v, from);
	uint64_t	step = 0;

	strata_write_varint(out, strata_zigzag((int64_t) last));
	for (uint32_t i = 1; i < m; i++)
	{
		uint64_t	value = (uint64_t) strata_vector_signed(v, from + i);
		uint64_t	change = value - last - step;

		if (i == 1)
			strata_write_varint(out, strata_zigzag((int64_t) change));
		else
			numbers[i - 2] = strata_zigzag((int64_t) change);
		step += change;
		last = value;
	}
	write_words(numbers, m > 2 ? m - 2 : 0, out);
}

/* Write the lengths of all blocks but the last, and the blocks. */
static StrataCodecResult
simple8b_encode(const StrataVector *v, StrataArena *scratch, StrataWriter *out)
{
	uint32_t	nblocks = (v->n + BLOCK_ROWS - 1) / BLOCK_ROWS;
	uint8_t    *index = strata_write_space(out, ((size_t) nblocks - 1) * 2);

	Assert(v->n > 0);			/* codec:C4 */
	(void) scratch;
	for (uint32_t b = 0; b < nblocks && !out->failed; b++)
	{
		uint32_t	from = b * BLOCK_ROWS;
		uint8_t    *start = out->next;

		write_block(v, from, v->n - from < BLOCK_ROWS ? v->n - from :
					BLOCK_ROWS, out);
		if (b + 1 < nblocks)
			strata_store16(index + (size_t) b * 2,
						   (uint16_t) (out->next - start));
	}
	return out->failed ? STRATA_CODEC_NO_SPACE : STRATA_CODEC_OK;
}

/*
 * --- decoding
 * ----------------------------------------------------------------
 */

/* Read the words of n numbers; false when they do not end with the n-th. */
static bool
read_words(StrataReader *in, uint32_t n, uint64_t *numbers)
{
	uint64_t	nwords = strata_read_varint(in);
	const uint8_t *selectors;
	const uint8_t *words;
	uint32_t	done = 0;

	if (in->failed || nwords > n)
		return false;
	selectors = strata_read_bytes(in, (nwords + 1) / 2);
	words = strata_read_bytes(in, nwords * 8);
	if (words == NULL)
		return false;
	for (uint32_t i = 0; i < nwords; i++)
	{
		unsigned	selector = selectors[i / 2] >> (i % 2 * 4) & 15;
		uint64_t	word = strata_load64(words + (size_t) i * 8);
		unsigned	width = word_width[selector];
		uint64_t	mask = strata_low_bits(width);
		uint32_t	count = word_count[selector];

		if (selector == RUN)
		{
			count = (uint32_t) (word & strata_low_bits(RUN_BITS)) + 1;
			word >>= RUN_BITS;
			mask = UINT64_MAX;
			if (count > n - done)
				return false;
		}
		if (done >= n)
			return false;
		count = count < n - done ? count : n - done;
		for (uint32_t k = 0; k < count; k++)
			numbers[done + k] = word >> k * width & mask;
		done += count;
	}
	Assert(done <= n);			/* codec:C16 */
	if (nwords == 0)
		memset(numbers, 0, n * sizeof(uint64_t));
	return nwords == 0 || done == n;
}

static void
store_value(void *out, unsigned width, uint32_t i, uint64_t value)
{
	switch (width)
	{
		case 1:
			((uint8_t *) out)[i] = (uint8_t) value;
			break;
		case 2:
			((uint16_t *) out)[i] = (uint16_t) value;
			break;
		case 4:
			((uint32_t *) out)[i] = (uint32_t) value;
			break;
		default:
			((uint64_t *) out)[i] = value;
			break;
	}
}

/*
 * Values [skip, to) of a block of m; false when its parts do not agree.
 */
static bool
simple8b_read_block(StrataReader *in, uint32_t m, uint32_t skip, uint32_t to,
					unsigned width, void *out)
{
	uint64_t	numbers[BLOCK_ROWS];
	uint64_t	value = (uint64_t) strata_unzigzag(strata_read_varint(in));
	uint64_t	step;

	step = m > 1 ? (uint64_t) strata_unzigzag(strata_read_varint(in)) : 0;
	if (!read_words(in, m > 2 ? m - 2 : 0, numbers))
		return false;
	for (uint32_t i = 0; i < to; i++)
	{
		if (i > 1)
			step += (uint64_t) strata_unzigzag(numbers[i - 2]);
		if (i > 0)
			value += step;
		if (i >= skip)
			store_value(out, width, i - skip, value);
	}
	return !in->failed && strata_reader_left(in) == 0;
}

/*
 * Values [from, from + n): blocks before them are passed over by the index of
 * lengths.
 */
static StrataCodecResult
simple8b_decode_fixed(const StrataPayload *p, uint32_t from, uint32_t n,
					  StrataArena *scratch, void *out)
{
	StrataReader in = strata_reader(p->data, p->len);
	uint32_t	nblocks = (p->n + BLOCK_ROWS - 1) / BLOCK_ROWS;
	const uint8_t *index = strata_read_bytes(&in, ((size_t) nblocks - 1) * 2);
	uint32_t	start = 0;

	Assert(n <= p->n && from <= p->n - n);	/* codec:C2 */
	(void) scratch;
	for (uint32_t b = 0; start < from + n && !in.failed;
		 b++, start += BLOCK_ROWS)
	{
		uint32_t	left = p->n - start;
		uint32_t	m = left < BLOCK_ROWS ? left : BLOCK_ROWS;
		uint32_t	skip = from > start ? from - start : 0;
		uint32_t	to = m < from + n - start ? m : from + n - start;
		size_t		len = b + 1 < nblocks && index != NULL ?
		strata_load16(index + (size_t) b * 2) : strata_reader_left(&in);
		const uint8_t *bytes = strata_read_bytes(&in, len);
		StrataReader block;

		if (bytes == NULL)
			return STRATA_CODEC_CORRUPT;
		if (skip >= m)
			continue;
		block = strata_reader(bytes, len);
		if (!simple8b_read_block(&block, m, skip, to, p->width,
								 (uint8_t *) out +
								 (size_t) (start + skip - from) * p->width))
			return STRATA_CODEC_CORRUPT;
	}
	return in.failed ? STRATA_CODEC_CORRUPT : STRATA_CODEC_OK;
}

static void
simple8b_describe(const StrataPayload *p, char *text, size_t size)
{
	snprintf(text, size, "%u blocks of %u, %.1f bits a value",
			 (p->n + BLOCK_ROWS - 1) / BLOCK_ROWS, BLOCK_ROWS,
			 p->n ? (double) p->len * 8 / p->n : 0.0);
}

const StrataCodec strata_codec_simple8b = {
	.name = "simple8b",
	.kinds = 1U << STRATA_KIND_INT,
	.available = true,
	.encode = simple8b_encode,
	.decode_fixed = simple8b_decode_fixed,
	.describe = simple8b_describe,
};
