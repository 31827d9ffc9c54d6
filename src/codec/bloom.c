/*-------------------------------------------------------------------------
 *
 * bloom.c
 *	  Filters that say of a byte string that it is not among a column's.
 *
 * A filter stands in front of the column's own bytes, so that it is read with
 * the first piece of them:
 *
 *	OFFSET	SIZE	MEANING
 *	0		1		253, where a column has its format version
 *	1		1		number of bits a value sets: 7
 *	2		2		S, bytes of the filter
 *	4		4		CRC-32C of bytes 0-3 and of the filter, sealed in batch
 *					rows
 *	8		S		the filter
 *	8 + S			the column
 *
 * The bits of a value: with h = mix(CRC-32C of its bytes | length << 32), mix
 * being MurmurHash3's finaliser, a the low and b the high half of h with bit 0
 * set, bit number i (0 .. 6) is ((a + i * b) mod 2^32) * 8 S / 2^32.  (Kirsch
 * and Mitzenmacher, "Less Hashing, Same Performance".)  Ten bits a value let
 * one in a hundred others pass.
 *
 * src/codec/bloom.c
 *-------------------------------------------------------------------------
 */
#include "codec/codec_private.h"

#include <stdlib.h>

#define BITS_SET 7
#define BITS_PER_VALUE 10
#define MIN_BYTES 8

/* See codec.h. */
uint64_t
strata_bloom_hash(const void *bytes, size_t len)
{
	uint64_t	h;

	h = strata_crc32c(bytes, len) | (uint64_t) (uint32_t) len << 32;
	h ^= h >> 33;
	h *= UINT64_C(0xff51afd7ed558ccd);
	h ^= h >> 33;
	h *= UINT64_C(0xc4ceb9fe1a85ec53);
	h ^= h >> 33;
	return h;
}

static int
compare_hashes(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a;
	uint64_t	y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

/* See codec.h. */
size_t
strata_bloom_size(uint64_t *hashes, uint32_t n)
{
	size_t		size;
	uint32_t	distinct = 0;

	qsort(hashes, n, sizeof(uint64_t), compare_hashes);
	for (uint32_t i = 0; i < n; i++)
		distinct += i == 0 || hashes[i] != hashes[i - 1];
	size = ((size_t) distinct * BITS_PER_VALUE + 7) / 8;
	return size < MIN_BYTES ? MIN_BYTES : size;
}

/* Which bit is a value's i-th. */
static inline uint32_t
bit_of(uint64_t hash, uint32_t i, size_t size)
{
	uint32_t	place = (uint32_t) hash + i * ((uint32_t) (hash >> 32) | 1);

	return (uint32_t) ((uint64_t) place * (size * 8) >> 32);
}

static uint32_t
head_crc(const uint8_t *buf, size_t size)
{
	uint32_t	crc = strata_crc32c_extend(0, buf, 4);

	return strata_crc32c_extend(crc, buf + STRATA_BLOOM_HEAD, size);
}

/* See codec.h. */
void
strata_bloom_write(uint8_t *buf, size_t size, const uint64_t *hashes,
				   uint32_t n)
{
	uint8_t    *filter = buf + STRATA_BLOOM_HEAD;

	Assert(size >= MIN_BYTES && size <= UINT16_MAX);	/* codec:C15 */
	buf[0] = STRATA_BLOOM_MARK;
	buf[1] = BITS_SET;
	buf[2] = (uint8_t) size;
	buf[3] = (uint8_t) (size >> 8);
	memset(filter, 0, size);
	for (uint32_t v = 0; v < n; v++)
		for (uint32_t i = 0; i < BITS_SET; i++)
		{
			uint32_t	bit = bit_of(hashes[v], i, size);

			filter[bit / 8] |= (uint8_t) (1 << (bit % 8));
		}
	strata_store32(buf + 4, head_crc(buf, size));
}

/* See codec.h. */
size_t
strata_bloom_parse(const uint8_t *buf, size_t len)
{
	if (len < STRATA_BLOOM_HEAD || buf[0] != STRATA_BLOOM_MARK ||
		buf[1] != BITS_SET)
		return 0;
	return (size_t) buf[2] | (size_t) buf[3] << 8;
}

/* See codec.h. */
bool
strata_bloom_check(const uint8_t *buf, size_t size, uint32_t seal)
{
	return (head_crc(buf, size) ^ seal) == strata_load32(buf + 4);
}

/* See codec.h. */
void
strata_bloom_seal(uint8_t *buf, uint32_t seal)
{
	strata_store32(buf + 4, strata_load32(buf + 4) ^ seal);
}

/* See codec.h. */
bool
strata_bloom_may_hold(const uint8_t *buf, size_t size, uint64_t hash)
{
	const uint8_t *filter = buf + STRATA_BLOOM_HEAD;

	Assert(size > 0);			/* codec:C15 */
	for (uint32_t i = 0; i < BITS_SET; i++)
	{
		uint32_t	bit = bit_of(hash, i, size);

		if ((filter[bit / 8] >> (bit % 8) & 1) == 0)
			return false;
	}
	return true;
}
