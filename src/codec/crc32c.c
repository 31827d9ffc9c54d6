/*-------------------------------------------------------------------------
 *
 * crc32c.c
 *	  CRC-32C (Castagnoli), by the CPU's instruction where there is one.
 *
 * Polynomial 0x1EDC6F41 reflected, initial value and final XOR all ones, as in
 * RFC 3720: the checksum of "123456789" is 0xE3069283.
 *
 * src/codec/crc32c.c
 *-------------------------------------------------------------------------
 */
#include "codec/codec_private.h"

#define POLYNOMIAL UINT32_C(0x82f63b78)

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_SSE42 1
#endif

/* table[k][b]: what byte b, followed by k zero bytes, does to the checksum. */
static uint32_t table[8][256];
static bool table_ready;

/* Fill the table; harmless when two threads do it at once. */
static void
make_table(void)
{
	for (uint32_t b = 0; b < 256; b++)
	{
		uint32_t	crc = b;

		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		table[0][b] = crc;
	}
	for (int k = 1; k < 8; k++)
		for (uint32_t b = 0; b < 256; b++)
			table[k][b] = table[k - 1][b] >> 8 ^
				table[0][table[k - 1][b] & 0xff];
	table_ready = true;
}

/* Eight bytes at a time with tables; crc is the inner state, not inverted. */
static uint32_t
extend_table(uint32_t crc, const uint8_t *data, size_t len)
{
	if (!table_ready)
		make_table();
	for (; len >= 8; len -= 8, data += 8)
	{
		uint64_t	v = strata_load64(data) ^ crc;

		crc = table[7][v & 0xff] ^ table[6][v >> 8 & 0xff] ^
			table[5][v >> 16 & 0xff] ^ table[4][v >> 24 & 0xff] ^
			table[3][v >> 32 & 0xff] ^ table[2][v >> 40 & 0xff] ^
			table[1][v >> 48 & 0xff] ^ table[0][v >> 56];
	}
	for (; len > 0; len--, data++)
		crc = crc >> 8 ^ table[0][(crc ^ *data) & 0xff];
	return crc;
}

#ifdef HAVE_SSE42
/* Bytes of each of three stretches whose checksums are made side by side. */
#define STRETCH 256

/* over[k][b]: byte k of an inner state, behind STRETCH zero bytes. */
static uint32_t over[4][256];
static bool over_ready;

/* Fill it; harmless when two threads do it at once. */
__attribute__((target("sse4.2")))
static void
make_over(void)
{
	for (int k = 0; k < 4; k++)
		for (uint32_t b = 1; b < 256; b++)
		{
			uint32_t	bit = b & (0 - b);
			uint64_t	state = (uint64_t) bit << 8 * k;

			for (int i = 0; i < STRETCH / 8 && b == bit; i++)
				state = __builtin_ia32_crc32di(state, 0);
			over[k][b] = b == bit ? (uint32_t) state :
				over[k][bit] ^ over[k][b ^ bit];
		}
	over_ready = true;
}

/* The inner state behind STRETCH bytes that leave 0 alone. */
static uint32_t
pass_over(uint32_t crc)
{
	return over[0][crc & 0xff] ^ over[1][crc >> 8 & 0xff] ^
		over[2][crc >> 16 & 0xff] ^ over[3][crc >> 24];
}

/*
 * The instruction takes three times as long as the next one has to wait for
 * it: three stretches are gone through at a time.
 */
__attribute__((target("sse4.2")))
static uint32_t
extend_sse42(uint32_t crc, const uint8_t *data, size_t len)
{
	uint64_t	state;

	if (len >= 3 * STRETCH && !over_ready)
		make_over();
	for (; len >= 3 * STRETCH; len -= 3 * STRETCH, data += 3 * STRETCH)
	{
		uint64_t	a = crc;
		uint64_t	b = 0;
		uint64_t	c = 0;

		for (const uint8_t *p = data; p < data + STRETCH; p += 8)
		{
			a = __builtin_ia32_crc32di(a, strata_load64(p));
			b = __builtin_ia32_crc32di(b, strata_load64(p + STRETCH));
			c = __builtin_ia32_crc32di(c, strata_load64(p + 2 * STRETCH));
		}
		crc = pass_over((uint32_t) a) ^ (uint32_t) b;
		crc = pass_over(crc) ^ (uint32_t) c;
	}
	state = crc;
	for (; len >= 8; len -= 8, data += 8)
		state = __builtin_ia32_crc32di(state, strata_load64(data));
	crc = (uint32_t) state;
	for (; len > 0; len--, data++)
		crc = __builtin_ia32_crc32qi(crc, *data);
	return crc;
}
#endif

/* strata_crc32c_extend without the CPU's help, for tests. */
uint32_t
strata_crc32c_table(uint32_t crc, const void *data, size_t len)
{
	return ~extend_table(~crc, data, len);
}

/* The checksum of some bytes and these behind them; start with 0. */
uint32_t
strata_crc32c_extend(uint32_t crc, const void *data, size_t len)
{
#ifdef HAVE_SSE42
	if (__builtin_cpu_supports("sse4.2"))
		return ~extend_sse42(~crc, data, len);
#endif
	return strata_crc32c_table(crc, data, len);
}

/* The checksum of len bytes. */
uint32_t
strata_crc32c(const void *data, size_t len)
{
	return strata_crc32c_extend(0, data, len);
}
