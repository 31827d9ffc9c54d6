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
__attribute__((target("sse4.2")))
static uint32_t
extend_sse42(uint32_t crc, const uint8_t *data, size_t len)
{
	uint64_t	state = crc;

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
