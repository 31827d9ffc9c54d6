/*-------------------------------------------------------------------------
 *
 * test_bits.c
 *	  The parts codecs are made of: bytes, bits, packing, checksum, null maps.
 *
 * test/unit/test_bits.c
 *-------------------------------------------------------------------------
 */
#include "codec/bitstream.h"
#include "codec/codec_private.h"
#include "codec/int/bitpack.h"
#include "codec/int/int_block.h"
#include "codec/int/int_simd.h"
#include "codec/nulls.h"
#include "unit.h"

static void
test_varint(void)
{
	uint8_t		buf[16] = {0};

	for (int i = 0; i < 2000; i++)
	{
		uint64_t	v = i < 300 ? (uint64_t) i : unit_random() >> unit_below(64);
		StrataWriter w = strata_writer(buf, sizeof(buf));
		StrataReader r;

		if (i == 300)
			v = UINT64_MAX;
		strata_write_varint(&w, v);
		CHECK(!w.failed && strata_writer_len(&w) == strata_varint_size(v));
		r = strata_reader(buf, strata_writer_len(&w));
		CHECK(strata_read_varint(&r) == v && !r.failed && strata_reader_left(&r) == 0);
		r = strata_reader(buf, strata_writer_len(&w) - 1);
		CHECK(strata_read_varint(&r) == 0 || r.failed);
		CHECK(r.failed);
	}
	/* longer than 64 bits */
	memset(buf, 0xff, sizeof(buf));
	StrataReader r = strata_reader(buf, sizeof(buf));

	strata_read_varint(&r);
	CHECK(r.failed);
	buf[9] = 2;
	r = strata_reader(buf, sizeof(buf));
	strata_read_varint(&r);
	CHECK(r.failed);
}

static void
test_count(void)
{
	for (uint32_t v = 0; v <= 32767; v++)
	{
		uint8_t		buf[2];
		StrataWriter w = strata_writer(buf, 2);
		StrataReader r;

		strata_write_count(&w, v);
		r = strata_reader(buf, strata_writer_len(&w));
		CHECK(strata_read_count(&r) == v && !r.failed && strata_reader_left(&r) == 0);
	}
}

static void
test_zigzag(void)
{
	static const int64_t values[] = {0, -1, 1, -2, 2, INT64_MIN, INT64_MAX};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		CHECK(strata_unzigzag(strata_zigzag(values[i])) == values[i]);
	CHECK(strata_zigzag(-1) == 1 && strata_zigzag(1) == 2);
	CHECK(strata_zigzag(INT64_MIN) == UINT64_MAX);
}

static void
test_bit_writer(void)
{
	uint64_t	values[500];
	unsigned	sizes[500];
	uint8_t		buf[4100];
	StrataWriter w = strata_writer(buf, sizeof(buf));
	StrataBitWriter bw = {&w, 0, 0};
	size_t		at = 0;

	for (int i = 0; i < 500; i++)
	{
		sizes[i] = unit_below(65);
		values[i] = unit_random() & strata_low_bits(sizes[i]);
		strata_bits_write(&bw, values[i], sizes[i]);
	}
	strata_bits_flush(&bw);
	for (int i = 0; i < 500; i++)
	{
		uint64_t	v = 0;

		for (unsigned k = 0; k < sizes[i]; k++, at++)
			v |= (uint64_t) (buf[at / 8] >> at % 8 & 1) << k;
		CHECK(v == values[i]);
	}
	CHECK(!w.failed && strata_writer_len(&w) == (at + 7) / 8);
}

static void
test_spread_bits(void)
{
	for (unsigned bits = 0; bits < 256; bits++)
		for (unsigned k = 0; k < 8; k++)
			CHECK((strata_spread_bits((uint8_t) bits) >> (8 * k) & 0xff) == (bits >> k & 1));
}

static void
test_bitpack(void)
{
	uint64_t	u[INT_BLOCK_MAX];
	uint64_t	back[INT_BLOCK_BUFFER];
	uint32_t	narrow[INT_BLOCK_MAX];
	static const uint32_t counts[] = {0, 1, 7, 8, 9, 63, 64, 65, 255, 256};

	for (unsigned width = 0; width <= 64; width++)
		for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++)
		{
			uint32_t	n = counts[c];
			size_t		len = ((size_t) n * width + 7) / 8;

			for (int slack = 0; slack <= 32; slack += 32)
			{
				uint8_t    *buf = unit_alloc(len + (size_t) slack);
				StrataWriter w = strata_writer(buf, len);
				StrataReader r;

				for (uint32_t i = 0; i < n; i++)
					u[i] = unit_random() & strata_low_bits(width);
				strata_bitpack_write(u, n, width, &w);
				CHECK(!w.failed && strata_writer_len(&w) == len);
				if (width <= 32)
				{
					uint8_t    *again = unit_alloc(len);

					for (uint32_t i = 0; i < n; i++)
						narrow[i] = (uint32_t) u[i];
					w = strata_writer(again, len);
					strata_bitpack_write_narrow(narrow, n, width, &w);
					CHECK(!w.failed && strata_writer_len(&w) == len && memcmp(buf, again, len) == 0);
					free(again);
				}
				memset(buf + len, 0xa5, (size_t) slack);
				r = strata_reader(buf, len + (size_t) slack);
				CHECK(strata_bitpack_read(&r, n, width, back));
				CHECK(memcmp(u, back, n * sizeof(uint64_t)) == 0);
				CHECK(strata_reader_left(&r) == (size_t) slack);
				if (len > 0)
				{
					r = strata_reader(buf, len - 1);
					CHECK(!strata_bitpack_read(&r, n, width, back));
				}
				free(buf);
			}
		}
}

/* Numbers whose upper parts are small but for some, in two parts: written as planned, read in both ways. */
static void
test_split(void)
{
	uint64_t	u[INT_BLOCK_MAX];
	uint64_t	back[INT_BLOCK_BUFFER];
	uint32_t	narrow[INT_BLOCK_BUFFER];
	IntNumbers	numbers;
	static const uint32_t counts[] = {1, 7, 8, 9, 63, 64, 65, 255, 256};

	for (int round = 0; round < 2000; round++)
	{
		uint32_t	n = counts[unit_below(sizeof(counts) / sizeof(counts[0]))];
		unsigned	k = unit_below(INT_SPLIT_BITS_MAX + 1);
		IntBitsPlan plan = {.width = 64,.nbytes = SIZE_MAX / 2};
		IntBlockPlan block = {0};

		for (uint32_t i = 0; i < n; i++)
		{
			uint64_t	upper = unit_below(3) ? unit_below(2) : unit_below(50) ? unit_below(4) : unit_below(100);

			u[i] = upper << k | (unit_random() & strata_low_bits(k));
		}
		strata_int_numbers_from(NULL, u, n, &numbers);
		CHECK(numbers.narrow);
		strata_int_plan_split(&numbers, &plan);
		if (plan.split == 0)
			continue;
		strata_int_keep_plan(&plan, &block);
		for (int slack = 0; slack <= 32; slack += 32)
		{
			uint8_t    *buf = unit_alloc(plan.nbytes + (size_t) slack);
			StrataWriter w = strata_writer(buf, plan.nbytes);
			StrataReader r;

			strata_int_split_write(&block, numbers.u, n, &w);
			CHECK(!w.failed && strata_writer_len(&w) == plan.nbytes);
			memset(buf + plan.nbytes, 0xa5, (size_t) slack);
			r = strata_reader(buf, plan.nbytes + (size_t) slack);
			CHECK(strata_int_split_read(block.width, n, &r, back) && strata_reader_left(&r) == (size_t) slack);
			CHECK(memcmp(u, back, n * sizeof(uint64_t)) == 0);
			r = strata_reader(buf, plan.nbytes + (size_t) slack);
			CHECK(strata_int_split_skip(block.width, n, &r) && strata_reader_left(&r) == (size_t) slack);
			r = strata_reader(buf, plan.nbytes - 1);
			CHECK(!strata_int_split_read(block.width, n, &r, back));
			if (strata_int_simd_usable())
			{
				r = strata_reader(buf, plan.nbytes + (size_t) slack);
				CHECK(strata_int_split_read_narrow(block.width, n, n, &r, narrow));
				CHECK(strata_reader_left(&r) == (size_t) slack);
				for (uint32_t i = 0; i < n; i++)
					CHECK(narrow[i] == u[i]);
				for (uint32_t wanted = 0; wanted < n; wanted += 1 + wanted / 3)
				{
					r = strata_reader(buf, plan.nbytes + (size_t) slack);
					CHECK(strata_int_split_read_narrow(block.width, n, wanted, &r, narrow));
					for (uint32_t i = 0; i < wanted; i++)
						CHECK(narrow[i] == u[i]);
				}
				r = strata_reader(buf, plan.nbytes - 1);
				CHECK(!strata_int_split_read_narrow(block.width, n, n, &r, narrow));
			}
			free(buf);
		}
	}
}

static void
test_crc(void)
{
	uint8_t		buf[1700];		/* stretches side by side, and a rest */
	uint32_t	crc;

	CHECK(strata_crc32c("123456789", 9) == 0xe3069283);
	CHECK(strata_crc32c("", 0) == 0);
	memset(buf, 0, 32);
	CHECK(strata_crc32c(buf, 32) == 0x8a9136aa);
	memset(buf, 0xff, 32);
	CHECK(strata_crc32c(buf, 32) == 0x62a8ab43);
	for (size_t i = 0; i < sizeof(buf); i++)
		buf[i] = (uint8_t) unit_random();
	crc = strata_crc32c(buf, sizeof(buf));
	for (size_t cut = 0; cut <= sizeof(buf); cut++)
	{
		uint32_t	part = strata_crc32c_extend(0, buf, cut);

		CHECK(strata_crc32c_extend(part, buf + cut, sizeof(buf) - cut) == crc);
		CHECK(strata_crc32c_table(0, buf, cut) == part);
	}
}

static void
test_null_maps(void)
{
	bool		flags[300];
	bool		back[300];
	bool		all[300];

	for (int round = 0; round < 3000; round++)
	{
		uint32_t	nrows = 1 + unit_below(300);
		uint32_t	density = 1 + unit_below(40);
		uint32_t	nnulls = 0;
		uint32_t	from = unit_below(nrows + 1);
		uint32_t	n = unit_below(nrows - from + 1);
		uint8_t		buf[400];
		uint32_t	before;
		uint32_t	nulls;
		uint32_t	wanted_before = 0;
		size_t		size;
		StrataNullMode mode;
		StrataWriter w = strata_writer(buf, sizeof(buf));
		StrataReader r;

		for (uint32_t i = 0; i < nrows; i++)
		{
			flags[i] = i > 0 && unit_below(density) ? flags[i - 1] : unit_below(2);
			nnulls += flags[i];
		}
		mode = strata_nulls_plan(flags, nrows, nnulls, &size);
		strata_nulls_write(mode, flags, nrows, &w);
		CHECK(strata_writer_len(&w) == size && size <= (nrows + 7) / 8);
		r = strata_reader(buf, size);
		CHECK(strata_nulls_take(mode, nrows, nnulls, &r, all) && strata_reader_left(&r) == 0);
		CHECK(memcmp(flags, all, nrows) == 0);
		r = strata_reader(buf, size);
		CHECK(!strata_nulls_take(mode, nrows, nnulls + 1, &r, NULL));
		r = strata_reader(buf, size);
		nulls = strata_nulls_read(mode, nrows, nnulls, &r, from, n, back, &before);
		CHECK(memcmp(flags + from, back, n) == 0);
		for (uint32_t i = 0; i < from; i++)
			wanted_before += !flags[i];
		CHECK(before == wanted_before);
		for (uint32_t i = from; i < from + n; i++)
			nulls -= flags[i];
		CHECK(nulls == 0);
	}
}

void
test_bits(void)
{
	unit_run("varint", test_varint);
	unit_run("count", test_count);
	unit_run("zigzag", test_zigzag);
	unit_run("bit writer", test_bit_writer);
	unit_run("spread bits", test_spread_bits);
	unit_run("bitpack", test_bitpack);
	unit_run("numbers in two parts", test_split);
	unit_run("crc32c", test_crc);
	unit_run("null maps", test_null_maps);
}
