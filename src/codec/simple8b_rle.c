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
 * src/codec/simple8b_rle.c
 *-------------------------------------------------------------------------
 */
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "bitstream.h"
#include "int_private.h"

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

/*
 * How many numbers of these bit lengths a word can hold, of n there are; *longest is their
 * longest.  Sixteen lengths behind the n-th may be read.
 */
STRATA_INLINE uint32_t
fitting(const uint8_t *length, uint32_t n, unsigned *longest)
{
	uint32_t	count = 1;
	unsigned	most = length[0];

#ifdef __SSE2__
	/* the longest of the first 1, 2, ... 16, against what a word of as many allows */
	const __m128i allowed = _mm_setr_epi8(64, 32, 21, 16, 12, 10, 9, 8, 7, 6, 5, 5, 4, 4, 4, 4);
	__m128i		x = _mm_loadu_si128((const __m128i *) length);
	unsigned	fit;

	x = _mm_max_epu8(x, _mm_slli_si128(x, 1));
	x = _mm_max_epu8(x, _mm_slli_si128(x, 2));
	x = _mm_max_epu8(x, _mm_slli_si128(x, 4));
	x = _mm_max_epu8(x, _mm_slli_si128(x, 8));
	fit = (unsigned) _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(x, allowed), allowed));
	count = (uint32_t) __builtin_ctz(~fit);
	if (count < 16 || n <= 16)
	{
		uint8_t		upto[16];

		count = count < n ? count : n;
		_mm_storeu_si128((__m128i *) upto, x);
		*longest = upto[count - 1];
		return count;
	}
	most = (unsigned) _mm_extract_epi16(x, 7) >> 8;
#endif
	while (count < n && count < 64)
	{
		unsigned	next = length[count] > most ? length[count] : most;

		if (next > bits_of_count[count + 1])
			break;
		most = next;
		count++;
	}
	*longest = most;
	return count;
}

/*
 * The word that starts with u[0], of n > 0 numbers left, whose bit lengths are known: its
 * selector, and in *taken how many numbers it stands for.  Greedy: a run where that covers
 * more than packing would, else as many as fit.
 */
STRATA_INLINE unsigned
next_word(const uint64_t *u, const uint8_t *length, uint32_t n, uint32_t *taken)
{
	uint32_t	run = 1;
	unsigned	longest;
	uint32_t	count = fitting(length, n, &longest);
	unsigned	selector;

	while (run < n && u[run] == u[0])
		run++;
	/* all that is left: the width they need; else the count they fill */
	if (count == n)
		selector = selector_of_bits[longest];
	else
	{
		selector = selector_of_count[count];
		count = s8b_count[selector];
	}
	if (run > count && u[0] >> RUN_VALUE_BITS == 0)
	{
		*taken = run;
		return S8B_RUN;
	}
	*taken = count;
	return selector;
}

/*
 * Words needed for n (<= INT_BLOCK_MAX) numbers of these bit lengths (strata_int_lengths);
 * 0 when all are 0.  An estimate once there are more than `most`.
 */
unsigned
strata_simple8b_count(const uint64_t *u, const uint8_t *length, uint32_t n, unsigned most)
{
	unsigned	nwords = 0;
	uint64_t	any = 0;

	for (uint32_t i = 0; i < n; i++)
		any |= u[i];
	if (any == 0)
		return 0;
	for (uint32_t i = 0; i < n; nwords++)
	{
		uint32_t	taken;

		if (nwords > most)
			return nwords * n / i;
		next_word(u + i, length + i, n - i, &taken);
		i += taken;
	}
	return nwords;
}

/* Append selectors and words of n numbers; nwords is what _count said. */
void
strata_simple8b_write(const uint64_t *u, uint32_t n, unsigned nwords, StrataWriter *out)
{
	uint8_t    *selectors = strata_write_space(out, (nwords + 1) / 2);
	uint8_t    *words = strata_write_space(out, (size_t) nwords * 8);
	uint8_t		length[INT_LENGTHS];
	uint32_t	i = 0;

	if (words == NULL)
		return;
	memset(selectors, 0, (nwords + 1) / 2);
	strata_int_lengths(u, n, length);
	for (unsigned word = 0; word < nwords; word++, words += 8)
	{
		uint32_t	taken;
		unsigned	selector = next_word(u + i, length + i, n - i, &taken);
		uint64_t	bits = 0;

		selectors[word / 2] |= (uint8_t) (selector << (word % 2 ? 4 : 0));
		if (selector == S8B_RUN)
			bits = (taken - 1) | u[i] << S8B_RUN_BITS;
		else
			for (uint32_t k = 0; k < taken; k++)
				bits |= u[i + k] << (k * s8b_width[selector]);
		strata_store64(words, bits);
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
