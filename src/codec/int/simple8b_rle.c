/*-------------------------------------------------------------------------
 *
 * simple8b_rle.c
 *	  Unsigned numbers in 64-bit words, each word with its own bit width, or
 *	  standing for a run of one number.
 *
 * A word's selector says how many numbers of which width it holds.  Selectors
 * are kept apart from the words, four bits each, so that a word has all its 64
 * bits for numbers: first (nwords + 1) / 2 bytes of selectors (word i in the
 * low half of byte i / 2 when i is even, else in the high half), then nwords
 * words of 8 bytes.  Number k of a word of width w is bits [k * w, (k + 1) * w).
 *
 *	SELECTOR  0    1  2  3  4  5  6  7  8  9 10 11 12 13 14 15
 *	NUMBERS  run  64 32 21 16 12 10  9  8  7  6  5  4  3  2  1
 *	WIDTH          1  2  3  4  5  6  7  8  9 10 12 16 21 32 64
 *
 * A run word is (length - 1) | value << 9.  The last word may have room for more
 * numbers than there are; the encoder leaves those bits 0.
 *
 * Differences to the paper: 64 data bits instead of 60, a run selector instead
 * of the two for zeros, and the words of one block know nothing of the next.
 *
 * Reference: V. N. Anh, A. Moffat, "Index compression using 64-bit words",
 * Software: Practice and Experience 40(2), 2010.
 *
 * src/codec/int/simple8b_rle.c
 *-------------------------------------------------------------------------
 */
#include "codec/bitstream.h"
#include "codec/int/int_block.h"
#include "codec/int/int_simd.h"

#define RUN_VALUE_BITS (64 - S8B_RUN_BITS)

/* The narrowest selector for numbers of a bit length. */
static const uint8_t selector_of_bits[65] = {
	1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11, 12, 12, 12, 12,
	13, 13, 13, 13, 13, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14,
	15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
	15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15
};

/* How many bits each of so many numbers may have in a word, from two of them on. */
static const uint8_t bits_of_count[65] = {
	64, 64, 32, 21, 16, 12, 10, 9, 8, 7, 6, 5, 5, 4, 4, 4, 4, 3, 3, 3, 3, 3,
	2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
	1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
};

/* The selector holding the most numbers, but at most i of them; i > 0. */
static const uint8_t selector_of_count[65] = {
	0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 6, 5, 5, 5, 5, 4, 4, 4, 4, 4, 3,
	3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2,
	2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1
};

/* Up to 16 numbers are looked at together. */
#define FIT_MAX 16

/*
 * fit[i]: how many numbers from the i-th on fill a word, if that is less than FIT_MAX, else that.
 * Of count bit lengths, the ones behind them being 0; FIT_MAX more may be read, and whole groups written.
 */
STRATA_CLONES
static void
fit_words(const uint8_t *length, uint32_t count, uint8_t *fit)
{
	uint32_t	padded = (count + INT_SUBBLOCK - 1) & ~(uint32_t) (INT_SUBBLOCK - 1);

	for (uint32_t i = 0; i < padded; i++)
	{
		uint8_t		most = length[i];
		uint8_t		n = 1;

		/* as bits_of_count says, for counts that have a selector; what does not fit with some does not with more */
#define LONGER(k) \
		most = length[i + k] > most ? length[i + k] : most;
#define FITS(k, more, bits) \
		LONGER(k) \
		n = (uint8_t) (n + (most <= bits ? more : 0));
		FITS(1, 1, 32)
		FITS(2, 1, 21)
		FITS(3, 1, 16)
		FITS(4, 1, 12)
		FITS(5, 1, 10)
		FITS(6, 1, 9)
		FITS(7, 1, 8)
		FITS(8, 1, 7)
		FITS(9, 1, 6)
		LONGER(10)
		FITS(11, 2, 5)
		LONGER(12)
		LONGER(13)
		LONGER(14)
		FITS(15, 4, 4)
#undef FITS
#undef LONGER
		fit[i] = n;
	}
}

/* How many of n > FIT_MAX numbers a word can hold, if that is FIT_MAX at least. */
static uint32_t
fit_more(const uint8_t *length, uint32_t n)
{
	uint32_t	count = FIT_MAX;
	unsigned	most = 0;

	for (uint32_t i = 0; i < FIT_MAX; i++)
		most = length[i] > most ? length[i] : most;
	while (count < n && count < 64)
	{
		unsigned	next = length[count] > most ? length[count] : most;

		if (next > bits_of_count[count + 1])
			break;
		most = next;
		count++;
	}
	return count;
}

/* Does a word hold all of at most FIT_MAX numbers? */
static bool
fit_all(const uint8_t *length, uint32_t n)
{
	unsigned	most = 0;

	for (uint32_t i = 0; i < n; i++)
		most = length[i] > most ? length[i] : most;
	return most <= bits_of_count[n];
}

/* Bits of a mask from the i-th on, which is a number's; at least 64 - i % 64 of them. */
STRATA_INLINE uint64_t
bits_from(const uint64_t mask[INT_MASK_WORDS], uint32_t i)
{
	return mask[i / 64] >> i % 64;
}

/* How many numbers from the i-th of n on are the same. */
STRATA_INLINE uint32_t
run_from(const uint64_t same[INT_MASK_WORDS], uint32_t i, uint32_t n)
{
	uint32_t	at = i + 1;

	while (at < n)
	{
		uint64_t	differ = ~bits_from(same, at);
		uint32_t	left = 64 - at % 64;
		uint32_t	run = differ ? (uint32_t) __builtin_ctzll(differ) : 64;

		if (run < left)
			return at + run - i;
		at += left;
	}
	return n - i;
}

/* A block on its way to words. */
typedef struct Words
{
	uint32_t	n;
	const uint8_t *length;		/* as strata_int_lengths makes them */
	const uint64_t *same;		/* as strata_int_same */
	uint8_t		fit[INT_BLOCK_MAX];
} Words;

/*
 * How many numbers the word that starts with the i-th stands for; *is_run says how.  Greedy: a
 * run where that covers more than packing would, else as many as fit, and if these are
 * not all that is left, as many as fill the word.
 */
STRATA_INLINE uint32_t
next_word(const Words *words, uint32_t i, bool *is_run)
{
	uint32_t	left = words->n - i;
	uint32_t	count = words->fit[i];
	uint32_t	run = run_from(words->same, i, words->n);

	if (STRATA_UNLIKELY(left <= FIT_MAX))
		count = count >= left || fit_all(words->length + i, left) ? left : count;
	else if (count == FIT_MAX)
	{
		count = fit_more(words->length + i, left);
		count = count < left ? s8b_count[selector_of_count[count]] : left;
	}
	*is_run = run > count && words->length[i] <= RUN_VALUE_BITS;
	return *is_run ? run : count;
}

/*
 * Words needed for n (<= INT_BLOCK_MAX) numbers of these bit lengths (strata_int_lengths), of
 * which some are the same as the one before (strata_int_same); 0 when all are 0.  An estimate
 * once there are more than `most`.
 */
unsigned
strata_simple8b_count(const uint8_t *length, const uint64_t same[INT_MASK_WORDS], uint32_t n, unsigned most)
{
	unsigned	nwords = 0;
	bool		is_run;
	Words		words;

	if (n == 0 || (length[0] == 0 && run_from(same, 0, n) == n))
		return 0;
	words.n = n;
	words.length = length;
	words.same = same;
	fit_words(length, n, words.fit);
	for (uint32_t i = 0; i < n; nwords++)
	{
		if (nwords > most)
			return nwords * n / i;
		i += next_word(&words, i, &is_run);
	}
	return nwords;
}

/* Append selectors and words of a block; nwords is what _count said. */
void
strata_simple8b_write(const IntNumbers *numbers, unsigned nwords, StrataWriter *out)
{
	const uint32_t n = numbers->count;
	uint8_t    *selectors = strata_write_space(out, (nwords + 1) / 2);
	uint8_t    *to = strata_write_space(out, (size_t) nwords * 8);
	uint8_t		length[INT_LENGTHS];
	uint64_t	same[INT_MASK_WORDS];
	Words		words;
	uint32_t	i = 0;

	if (to == NULL || nwords == 0)
		return;
	memset(selectors, 0, (nwords + 1) / 2);
	strata_int_lengths(numbers, length);
	strata_int_same(numbers, same);
	words.n = n;
	words.length = length;
	words.same = same;
	fit_words(length, n, words.fit);
	for (unsigned word = 0; word < nwords; word++, to += 8)
	{
		bool		is_run;
		uint32_t	taken = next_word(&words, i, &is_run);
		unsigned	selector = S8B_RUN;
		unsigned	longest = 0;
		uint64_t	bits = 0;

#define NUMBER(k) (numbers->narrow ? numbers->u[k] : numbers->wide[k])
		if (is_run)
			bits = (taken - 1) | NUMBER(i) << S8B_RUN_BITS;
		else
		{
			/* all that is left in the width they need, else in the one they fill */
			for (uint32_t k = 0; i + taken == n && k < taken; k++)
				longest = length[i + k] > longest ? length[i + k] : longest;
			selector = i + taken == n ? selector_of_bits[longest] : selector_of_count[taken];
			for (uint32_t k = 0; k < taken; k++)
				bits |= NUMBER(i + k) << (k * s8b_width[selector]);
		}
		selectors[word / 2] |= (uint8_t) (selector << (word % 2 ? 4 : 0));
		strata_store64(to, bits);
		i += taken;
	}
}

/* Numbers of one word, count and width known when compiling. */
STRATA_INLINE void
unpack_word(uint64_t word, const unsigned count, const unsigned width, uint64_t *out)
{
	const uint64_t mask = strata_low_bits(width);

#pragma GCC unroll 64
	for (unsigned k = 0; k < count; k++)
		out[k] = word >> (k * width) & mask;
}

#define UNPACK(selector, count, width) \
	case selector: unpack_word(word, count, width, out + done); done += count; break;

/*
 * Read nwords words into n numbers; out has INT_BLOCK_BUFFER entries, those
 * behind the n-th get any value.  False when the words do not end exactly
 * with the n-th number.
 */
bool
strata_simple8b_read(StrataReader *in, unsigned nwords, uint32_t n, uint64_t *out)
{
	const uint8_t *selectors = strata_read_bytes(in, ((size_t) nwords + 1) / 2);
	const uint8_t *words = strata_read_bytes(in, (size_t) nwords * 8);
	uint32_t	done = 0;

	if (words == NULL)
		return false;
	if (nwords == 0)
	{
		memset(out, 0, n * sizeof(uint64_t));
		return true;
	}
	if (strata_int_simd_usable())
		return strata_int_simd_simple8b(selectors, words, nwords, n, out);
	for (unsigned i = 0; i < nwords; i++)
	{
		uint64_t	word = strata_load64(words + (size_t) i * 8);

		/* with done < n no word but a run can write past n + 63 */
		if (done >= n)
			return false;
		switch (selectors[i / 2] >> (i % 2 ? 4 : 0) & 15)
		{
			case S8B_RUN:
				{
					uint32_t	run = (uint32_t) (word & ((1 << S8B_RUN_BITS) - 1)) + 1;
					uint64_t	value = word >> S8B_RUN_BITS;

					if (run > n - done)
						return false;
					for (uint32_t k = 0; k < run; k += 4)
					{
						out[done + k] = value;
						out[done + k + 1] = value;
						out[done + k + 2] = value;
						out[done + k + 3] = value;
					}
					done += run;
					break;
				}
				UNPACK(1, 64, 1)
				UNPACK(2, 32, 2)
				UNPACK(3, 21, 3)
				UNPACK(4, 16, 4)
				UNPACK(5, 12, 5)
				UNPACK(6, 10, 6)
				UNPACK(7, 9, 7)
				UNPACK(8, 8, 8)
				UNPACK(9, 7, 9)
				UNPACK(10, 6, 10)
				UNPACK(11, 5, 12)
				UNPACK(12, 4, 16)
				UNPACK(13, 3, 21)
				UNPACK(14, 2, 32)
				UNPACK(15, 1, 64)
		}
	}
	return done >= n;
}
