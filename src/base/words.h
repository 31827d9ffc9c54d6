/*-------------------------------------------------------------------------
 *
 * words.h
 *	  Few bytes as words, and their hash.
 *
 * src/base/words.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_WORDS_H
#define STRATA_WORDS_H

#include "postgres.h"

/* The finalizer of MurmurHash3. */
static inline uint32
strata_hash_word(uint64 h)
{
	h ^= h >> 33;
	h *= UINT64CONST(0xff51afd7ed558ccd);
	h ^= h >> 33;
	h *= UINT64CONST(0xc4ceb9fe1a85ec53);
	return (uint32) (h ^ (h >> 33));
}

/*
 * The first and the last bytes as two words.  Of up to 16 bytes, the words and
 * the number of bytes say what the bytes are.
 */
static pg_attribute_always_inline void
strata_load_words(const char *bytes, Size len, uint64 *low, uint64 *high)
{
	uint32		half;

	*low = *high = 0;
	if (len >= sizeof(uint64))
	{
		memcpy(low, bytes, sizeof(uint64));
		memcpy(high, bytes + len - sizeof(uint64), sizeof(uint64));
	}
	else if (len >= sizeof(uint32))
	{
		memcpy(&half, bytes, sizeof(half));
		*low = half;
		memcpy(&half, bytes + len - sizeof(half), sizeof(half));
		*high = half;
	}
	else if (len > 0)
		*low = (uint8) bytes[0] | (uint64) (uint8) bytes[len / 2] << 8 |
			(uint64) (uint8) bytes[len - 1] << 16;
}

/*
 * For a hash: what stands between the first and the last word, as one; 0 of up
 * to 16 bytes.  Arrays, and texts of one form, may differ nowhere else.
 */
static pg_attribute_always_inline uint64
strata_middle_word(const char *bytes, Size len)
{
	uint64		middle = 0;

	for (Size at = sizeof(uint64); at + sizeof(uint64) < len;
		 at += sizeof(uint64))
	{
		uint64		word;

		memcpy(&word, bytes + at, sizeof(uint64));
		middle = (middle ^ word) * UINT64CONST(0x9e3779b97f4a7c15);
		middle ^= middle >> 32;
	}
	return middle;
}

/* memcmp() == 0, without a call where bytes are few. */
static pg_attribute_always_inline bool
strata_same_bytes(const char *a, const char *b, Size len)
{
	uint64		low[2];
	uint64		high[2];

	strata_load_words(a, len, &low[0], &high[0]);
	strata_load_words(b, len, &low[1], &high[1]);
	/* no branch between these two: nobody could guess it */
	return ((low[0] ^ low[1]) | (high[0] ^ high[1])) == 0 &&
		(len <= 2 * sizeof(uint64) ||
		 memcmp(a + sizeof(uint64), b + sizeof(uint64),
				len - 2 * sizeof(uint64)) == 0);
}

#endif							/* STRATA_WORDS_H */
