/*-------------------------------------------------------------------------
 *
 * utf8.h
 *	  Characters of texts in UTF-8, counted eight bytes at a time.
 *
 * src/base/utf8.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_UTF8_H
#define STRATA_UTF8_H

#include "postgres.h"

/* Has a byte its first bit set?  If not, each is a character. */
static inline bool
strata_has_high_byte(const uint8 *p, Size len)
{
	uint64		any = 0;

	for (; len >= sizeof(uint64); len -= sizeof(uint64))
	{
		uint64		x;

		memcpy(&x, p, sizeof(x));
		any |= x;
		p += sizeof(x);
	}
	for (; len > 0; len--, p++)
		any |= *p;
	return (any & UINT64CONST(0x8080808080808080)) != 0;
}

/* Characters: bytes that are not in the middle of one. */
static inline int32
strata_utf8_length(const uint8 *p, int32 len)
{
	const uint64 low_bits = UINT64CONST(0x0101010101010101);
	int32		n = len;

	for (; len >= (int32) sizeof(uint64); len -= sizeof(uint64))
	{
		uint64		x;

		memcpy(&x, p, sizeof(x));
		/* there is a byte's number of them in the top byte of the product */
		n -= (int32) (((x >> 7 & ~(x >> 6)) & low_bits) * low_bits >> 56);
		p += sizeof(x);
	}
	for (; len > 0; len--, p++)
		n -= (*p & 0xc0) == 0x80;
	return n;
}

#endif							/* STRATA_UTF8_H */
