/*-------------------------------------------------------------------------
 *
 * little_endian.h
 *	  Unaligned loads and stores of little-endian numbers, on any machine.  The
 *	  caller checked bounds.
 *
 * src/codec/little_endian.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_LITTLE_ENDIAN_H
#define STRATA_LITTLE_ENDIAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define STRATA_BIG_ENDIAN 1
#endif

#define STRATA_INLINE static inline __attribute__((always_inline, unused))

STRATA_INLINE uint64_t
strata_load64(const void *from)
{
	uint64_t	v;

	memcpy(&v, from, sizeof(v));
#ifdef STRATA_BIG_ENDIAN
	v = __builtin_bswap64(v);
#endif
	return v;
}

STRATA_INLINE uint32_t
strata_load32(const void *from)
{
	uint32_t	v;

	memcpy(&v, from, sizeof(v));
#ifdef STRATA_BIG_ENDIAN
	v = __builtin_bswap32(v);
#endif
	return v;
}

STRATA_INLINE uint16_t
strata_load16(const void *from)
{
	const uint8_t *b = from;

	return (uint16_t) (b[0] | b[1] << 8);
}

STRATA_INLINE void
strata_store64(void *to, uint64_t v)
{
#ifdef STRATA_BIG_ENDIAN
	v = __builtin_bswap64(v);
#endif
	memcpy(to, &v, sizeof(v));
}

STRATA_INLINE void
strata_store32(void *to, uint32_t v)
{
#ifdef STRATA_BIG_ENDIAN
	v = __builtin_bswap32(v);
#endif
	memcpy(to, &v, sizeof(v));
}

STRATA_INLINE void
strata_store16(void *to, uint16_t v)
{
	uint8_t    *b = to;

	b[0] = (uint8_t) v;
	b[1] = (uint8_t) (v >> 8);
}

/* Up to 8 bytes as a little-endian number, the missing ones zero. */
STRATA_INLINE uint64_t
strata_load_partial(const uint8_t *from, size_t nbytes)
{
	uint64_t	v = 0;

	if (nbytes >= 8)
		return strata_load64(from);
	for (size_t i = 0; i < nbytes; i++)
		v |= (uint64_t) from[i] << (8 * i);
	return v;
}

#endif							/* STRATA_LITTLE_ENDIAN_H */
