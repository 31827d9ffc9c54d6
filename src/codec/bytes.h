/*-------------------------------------------------------------------------
 *
 * bytes.h
 *	  Bounds-checked reading and writing: the only code that touches raw
 *	  input.
 *
 * A StrataReader never moves past its end.  The first read that would sets
 * `failed`, and from then on every read returns zero, so that a parser may
 * read a whole structure and look at `failed` once, before it uses what it
 * read as a size or an index.  A StrataWriter does the same for output.
 *
 * Numbers are little-endian on disk whatever the machine is.
 *
 * src/codec/bytes.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_BYTES_H
#define STRATA_BYTES_H

#include <stdbool.h>

#include "codec/assertions.h"
#include "codec/little_endian.h"

/* Bytes of the longest varint of 64 bits. */
#define STRATA_VARINT_MAX 10

typedef struct StrataReader
{
	const uint8_t *next;
	const uint8_t *end;
	bool		failed;
} StrataReader;

typedef struct StrataWriter
{
	uint8_t    *start;
	uint8_t    *next;
	uint8_t    *end;
	bool		failed;			/* something did not fit */
} StrataWriter;

/*
 * --- reader ----------------------------------------------------------------
 */

STRATA_INLINE StrataReader
strata_reader(const uint8_t *data, size_t nbytes)
{
	StrataReader r = {data, data + nbytes, false};

	return r;
}

STRATA_INLINE size_t
strata_reader_left(const StrataReader *r)
{
	return (size_t) (r->end - r->next);
}

/*
 * A pointer to the next nbytes, which are skipped; NULL when there are fewer.
 */
STRATA_INLINE const uint8_t *
strata_read_bytes(StrataReader *r, size_t nbytes)
{
	const uint8_t *at = r->next;

	Assert(r->next <= r->end);	/* codec:C2 */
	if (r->failed || nbytes > strata_reader_left(r))
	{
		r->failed = true;
		return NULL;
	}
	r->next += nbytes;
	return at;
}

STRATA_INLINE uint8_t
strata_read_u8(StrataReader *r)
{
	const uint8_t *at = strata_read_bytes(r, 1);

	return at ? *at : 0;
}

STRATA_INLINE uint32_t
strata_read_u32(StrataReader *r)
{
	const uint8_t *at = strata_read_bytes(r, 4);

	return at ? strata_load32(at) : 0;
}

STRATA_INLINE uint64_t
strata_read_u64(StrataReader *r)
{
	const uint8_t *at = strata_read_bytes(r, 8);

	return at ? strata_load64(at) : 0;
}

/*
 * The seven low bits of each byte, side by side: what is left of a LEB128
 * number of eight bytes.
 */
STRATA_INLINE uint64_t
strata_pack_sevens(uint64_t v)
{
	v = (v & UINT64_C(0x007f007f007f007f)) |
		(v & UINT64_C(0x7f007f007f007f00)) >> 1;
	v = (v & UINT64_C(0x00003fff00003fff)) |
		(v & UINT64_C(0x3fff00003fff0000)) >> 2;
	return (v & UINT64_C(0x0fffffff)) |
		(v & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* LEB128: seven bits a byte, least significant first, at most 10 bytes. */
STRATA_INLINE uint64_t
strata_read_varint(StrataReader *r)
{
	uint64_t	v = 0;

	if (!r->failed && strata_reader_left(r) >= 8)
	{
		uint64_t	bytes = strata_load64(r->next);
		uint64_t	last = ~bytes & UINT64_C(0x8080808080808080);

		if ((bytes & 0x80) == 0)
		{
			r->next++;
			return bytes & 0x7f;
		}
		if (last != 0)
		{
			/* the lowest bit of `last` is the top one of the last byte */
			r->next += (unsigned) __builtin_ctzll(last) / 8 + 1;
			return strata_pack_sevens(bytes & (last ^ (last - 1)));
		}
	}
	for (unsigned shift = 0; shift < 64; shift += 7)
	{
		uint8_t		b = strata_read_u8(r);

		v |= (uint64_t) (b & 0x7f) << shift;
		if (!(b & 0x80))
		{
			if (shift == 63 && b > 1)
				r->failed = true;
			return v;
		}
	}
	r->failed = true;
	return 0;
}

/* A count of rows: one byte below 128, else two with the top bit set. */
STRATA_INLINE uint32_t
strata_read_count(StrataReader *r)
{
	uint32_t	high = strata_read_u8(r);

	if (high < 128)
		return high;
	return (high & 0x7f) << 8 | strata_read_u8(r);
}

/*
 * --- writer ----------------------------------------------------------------
 */

STRATA_INLINE StrataWriter
strata_writer(uint8_t *data, size_t nbytes)
{
	StrataWriter w = {data, data, data ? data + nbytes : NULL, false};

	return w;
}

STRATA_INLINE size_t
strata_writer_len(const StrataWriter *w)
{
	return (size_t) (w->next - w->start);
}

STRATA_INLINE size_t
strata_writer_left(const StrataWriter *w)
{
	return (size_t) (w->end - w->next);
}

/* Room for nbytes, to be filled by the caller; NULL when there is less. */
STRATA_INLINE uint8_t *
strata_write_space(StrataWriter *w, size_t nbytes)
{
	uint8_t    *at = w->next;

	Assert(w->start <= w->next && w->next <= w->end);	/* codec:C2 */
	if (w->failed || nbytes > strata_writer_left(w))
	{
		w->failed = true;
		return NULL;
	}
	w->next += nbytes;
	return at;
}

STRATA_INLINE void
strata_write_u8(StrataWriter *w, uint8_t v)
{
	uint8_t    *at = strata_write_space(w, 1);

	if (at)
		*at = v;
}

STRATA_INLINE void
strata_write_u32(StrataWriter *w, uint32_t v)
{
	uint8_t    *at = strata_write_space(w, 4);

	if (at)
		strata_store32(at, v);
}

STRATA_INLINE void
strata_write_u64(StrataWriter *w, uint64_t v)
{
	uint8_t    *at = strata_write_space(w, 8);

	if (at)
		strata_store64(at, v);
}

STRATA_INLINE void
strata_write_bytes(StrataWriter *w, const void *data, size_t nbytes)
{
	uint8_t    *at = strata_write_space(w, nbytes);

	if (at && nbytes > 0)
		memcpy(at, data, nbytes);
}

STRATA_INLINE unsigned
strata_varint_size(uint64_t v)
{
	unsigned	nbits = 64 - (unsigned) __builtin_clzll(v | 1);

	return (nbits + 6) / 7;
}

STRATA_INLINE void
strata_write_varint(StrataWriter *w, uint64_t v)
{
	while (v >= 0x80)
	{
		strata_write_u8(w, (uint8_t) (v | 0x80));
		v >>= 7;
	}
	strata_write_u8(w, (uint8_t) v);
}

STRATA_INLINE void
strata_write_count(StrataWriter *w, uint32_t v)
{
	if (v >= 128)
		strata_write_u8(w, (uint8_t) (0x80 | v >> 8));
	strata_write_u8(w, (uint8_t) v);
}

#endif							/* STRATA_BYTES_H */
