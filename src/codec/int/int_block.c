/*-------------------------------------------------------------------------
 *
 * int_block.c
 *	  One block of an integer stream: residuals to bytes and back.
 *
 * Hides how a block of at most 256 residuals is mapped to unsigned numbers and
 * packed.  A block starts with its size (width in the low 7 bits of a byte,
 * bit 7 set when there are patches), then the block's header fields
 * (int_stream.c), then the numbers: bitpack.c, `width` bits each, the low bits
 * of patched ones; then, if patched: number of patches (1 byte), width of
 * their high parts (1 byte), their positions (1 byte each), the high parts
 * (bitpack.c).  Sizes from SPLIT on: int_split.c, with that less SPLIT low
 * bits.
 *
 * Reference for patching: M. Zukowski, S. Heman, N. Nes, P. Boncz,
 * "Super-scalar RAM-CPU cache compression", ICDE 2006.
 *
 * src/codec/int/int_block.c
 *-------------------------------------------------------------------------
 */
#include "codec/bitstream.h"
#include "codec/int/bitpack.h"
#include "codec/int/int_block.h"
#include "codec/int/int_simd.h"

#define PATCHED 0x80
#define SPLIT 65

/* So few are read one by one. */
#define FEW_PATCHES 16

/*
 * The residuals of the m values at scaled[0 ..]: none for the first
 * `transform` of them.  Returns how many there are.  Arithmetic wraps.
 */
STRATA_CLONES
uint32_t
strata_int_residuals(IntTransform transform, const int64_t *scaled, uint32_t m,
					 int64_t *r)
{
	const uint64_t *s = (const uint64_t *) scaled;
	uint64_t   *to = (uint64_t *) r;
	uint32_t	count = int_numbers_of(transform, m);

	switch (transform)
	{
		case INT_VALUES:
			memcpy(to, s, count * sizeof(uint64_t));
			break;
		case INT_DELTA:
			for (uint32_t i = 0; i < count; i++)
				to[i] = s[i + 1] - s[i];
			break;
		case INT_DELTA_DELTA:
			for (uint32_t i = 0; i < count; i++)
				to[i] = s[i + 2] - 2 * s[i + 1] + s[i];
			break;
	}
	return count;
}

/*
 * Map residuals to unsigned numbers: offsets from their minimum, which is
 * returned, or zigzag (then 0 is returned).
 */
STRATA_CLONES
int64_t
strata_int_map(bool based, const int64_t *r, uint32_t count, uint64_t *u)
{
	int64_t		base = 0;

	if (based && count > 0)
	{
		base = r[0];
		for (uint32_t i = 1; i < count; i++)
			base = r[i] < base ? r[i] : base;
		for (uint32_t i = 0; i < count; i++)
			u[i] = (uint64_t) r[i] - (uint64_t) base;
	}
	else
		for (uint32_t i = 0; i < count; i++)
			u[i] = strata_zigzag(r[i]);
	return base;
}

/* Keep a plan of bits for writing. */
void
strata_int_keep_plan(const IntBitsPlan *plan, IntBlockPlan *block)
{
	block->width = (uint8_t) plan->width;
	block->npatches = (uint8_t) plan->npatches;
	block->high_width = (uint8_t) plan->high_width;
	block->split = (uint8_t) plan->split;
	block->nunary = (uint8_t) plan->nunary;
}

/* How to pack a block of numbers. */
void
strata_int_plan_block(bool may_split, const IntNumbers *numbers,
					  IntBlockPlan *block)
{
	uint8_t		length[INT_LENGTHS];
	IntBitsPlan plan;

	Assert(numbers->count <= INT_BLOCK_MAX);	/* codec:C14 */
	strata_int_lengths(numbers, length);
	plan = strata_int_plan_bits(length, numbers->count);
	if (may_split)
		strata_int_plan_split(numbers, &plan);
	*block = (IntBlockPlan)
	{
		0
	};
	strata_int_keep_plan(&plan, block);
}

/*
 * Low parts of numbers, and positions and high parts of those that have one;
 * how many do.
 */
STRATA_CLONES
static uint32_t
cut_narrow(const uint32_t *u, uint32_t count, unsigned width, uint32_t *low,
		   uint8_t *position, uint32_t *high)
{
	uint32_t	mask = (uint32_t) strata_low_bits(width);
	uint64_t	above[INT_MASK_WORDS];
	uint32_t	n = 0;

	for (uint32_t i = 0; i < count; i++)
		low[i] = u[i] & mask;
	strata_int_above(u, count, mask, above);
	for (unsigned w = 0; w < INT_MASK_WORDS; w++)
		for (uint64_t bits = above[w]; bits != 0; bits &= bits - 1)
		{
			uint32_t	i = w * 64 + (uint32_t) __builtin_ctzll(bits);

			position[n] = (uint8_t) i;
			high[n++] = u[i] >> width;
		}
	return n;
}

/* Write patched numbers: low parts, then positions and high parts. */
static void
write_patched_narrow(const IntBlockPlan *plan, const uint32_t *u,
					 uint32_t count, StrataWriter *out)
{
	uint32_t	low[INT_BLOCK_MAX];
	uint32_t	high[INT_BLOCK_MAX];
	uint8_t		position[INT_BLOCK_MAX];
	uint32_t	n = cut_narrow(u, count, plan->width, low, position, high);

	strata_bitpack_write_narrow(low, count, plan->width, out);
	strata_write_u8(out, (uint8_t) n);
	strata_write_u8(out, (uint8_t) plan->high_width);
	strata_write_bytes(out, position, n);
	strata_bitpack_write_narrow(high, n, plan->high_width, out);
}

/* The same for numbers of 64 bits. */
static void
write_patched(const IntBlockPlan *plan, const uint64_t *u, uint32_t count,
			  StrataWriter *out)
{
	uint64_t	low[INT_BLOCK_MAX];
	uint64_t	high[INT_BLOCK_MAX + 1];
	uint8_t		position[INT_BLOCK_MAX + 1];
	uint32_t	n = 0;

	for (uint32_t i = 0; i < count; i++)
	{
		/* there are fewer patches than numbers */
		low[i] = u[i] & strata_low_bits(plan->width);
		high[n] = u[i] >> plan->width;
		position[n] = (uint8_t) i;
		n += high[n] != 0;
	}
	strata_bitpack_write(low, count, plan->width, out);
	strata_write_u8(out, (uint8_t) n);
	strata_write_u8(out, (uint8_t) plan->high_width);
	strata_write_bytes(out, position, n);
	strata_bitpack_write(high, n, plan->high_width, out);
}

/*
 * Write a block as planned: size field, the meta bytes of its header, the
 * numbers, which are of 32 bits, or if these are NULL of 64.
 */
void
strata_int_pack_write(const IntBlockPlan *block, const uint32_t *narrow,
					  const uint64_t *wide, uint32_t count,
					  const uint8_t *meta, StrataWriter *out)
{
	Assert(count <= INT_BLOCK_MAX && block->npatches <= count); /* codec:C14 */
	strata_write_u8(out, (uint8_t) (block->split ?
									SPLIT + block->width :
									block->width |
									(block->npatches ? PATCHED : 0)));
	strata_write_bytes(out, meta, block->meta_len);
	if (block->split && narrow == NULL)
	{
		IntNumbers	numbers;

		strata_int_numbers_from(narrow, wide, count, &numbers);
		strata_int_split_write(block, numbers.u, count, out);
	}
	else if (block->split)
		strata_int_split_write(block, narrow, count, out);
	else if (block->npatches && narrow)
		write_patched_narrow(block, narrow, count, out);
	else if (block->npatches)
		write_patched(block, wide, count, out);
	else if (narrow)
		strata_bitpack_write_narrow(narrow, count, block->width, out);
	else
		strata_bitpack_write(wide, count, block->width, out);
}

/* Read a block's size field; false when no block can have that size. */
bool
strata_int_size_read(StrataReader *in, IntBlockSize *size)
{
	uint8_t		b = strata_read_u8(in);

	size->width = b & (PATCHED - 1);
	size->patched = (b & PATCHED) != 0;
	size->split = b >= SPLIT && b <= SPLIT + INT_SPLIT_BITS_MAX;
	if (size->split)
		size->width -= SPLIT;
	return !in->failed && size->width <= (size->patched ? 63 : 64);
}

/* Skip the numbers of a block. */
bool
strata_int_pack_skip(const IntBlockSize *size, uint32_t count,
					 StrataReader *in)
{
	if (size->split)
		return strata_int_split_skip(size->width, count, in);
	strata_read_bytes(in, ((size_t) count * size->width + 7) / 8);
	if (size->patched)
	{
		unsigned	n = strata_read_u8(in);
		unsigned	high_width = strata_read_u8(in);

		strata_read_bytes(in, n + (n * high_width + 7) / 8);
	}
	return !in->failed;
}

/* What is known of patches before they are unpacked. */
typedef struct Patches
{
	unsigned	n;
	unsigned	high_width;
	const uint8_t *position;
	const uint8_t *high;		/* packed; 8 bytes may be read behind them */
	uint8_t		padded[FEW_PATCHES * 8 + 8];
} Patches;

/* Read how many patches there are, and how wide; false if they cannot be. */
static bool
patches_read(unsigned width, StrataReader *in, Patches *p)
{
	p->n = strata_read_u8(in);
	p->high_width = strata_read_u8(in);
	p->position = strata_read_bytes(in, p->n);
	return p->position != NULL && p->high_width > 0 &&
		p->high_width <= 64 - width;
}

/* Can they be unpacked one by one?  Then `high` is where they are. */
static bool
patches_few(Patches *p, StrataReader *in)
{
	size_t		nbytes = (p->n * p->high_width + 7) / 8;

	p->high = in->next;
	if (p->high_width > 57 || nbytes > strata_reader_left(in))
		return false;
	if (strata_reader_left(in) < nbytes + 8)
	{
		if (p->n > FEW_PATCHES)
			return false;
		memcpy(p->padded, p->high, nbytes);
		memset(p->padded + nbytes, 0, 8);
		p->high = p->padded;
	}
	in->next += nbytes;
	return true;
}

/* Or one patch into numbers of 32 or 64 bits. */
STRATA_INLINE void
patch_one(void *u, const bool narrow, unsigned position, uint64_t high)
{
	if (narrow)
		((uint32_t *) u)[position] |= (uint32_t) high;
	else
		((uint64_t *) u)[position] |= high;
}

/*
 * Or the high parts of patched numbers into u, which has INT_BLOCK_BUFFER
 * entries: any byte is a position in it, so they are looked at when all is
 * done.
 */
STRATA_INLINE bool
patch_all(unsigned width, uint32_t count, StrataReader *in, void *u,
		  const bool narrow)
{
	uint64_t	high[INT_BLOCK_BUFFER];
	unsigned	most = 0;
	Patches		p;

	if (!patches_read(width, in, &p))
		return false;
	if (patches_few(&p, in))
	{
		const uint64_t mask = strata_low_bits(p.high_width);
		const unsigned step = p.high_width;
		const uint8_t *from = p.high;

		for (unsigned i = 0, bit = 0; i < p.n; i++, bit += step)
		{
			patch_one(u, narrow, p.position[i],
					  (strata_load64(from + bit / 8) >> bit % 8 & mask)
					  << width);
			most = p.position[i] > most ? p.position[i] : most;
		}
	}
	else if (!strata_bitpack_read(in, p.n, p.high_width, high))
		return false;
	else
		for (unsigned i = 0; i < p.n; i++)
		{
			patch_one(u, narrow, p.position[i], high[i] << width);
			most = p.position[i] > most ? p.position[i] : most;
		}
	return p.n == 0 || most < count;
}

static bool
patch(unsigned width, uint32_t count, StrataReader *in, uint64_t *u)
{
	return patch_all(width, count, in, u, false);
}

static bool
patch_narrow(unsigned width, uint32_t count, StrataReader *in, uint32_t *u)
{
	return patch_all(width, count, in, u, true);
}

/*
 * Are the numbers of a block of bits below 2^32, and the packed ones narrow?
 * Then size->bits says how long.
 */
bool
strata_int_pack_is_narrow(IntBlockSize *size, uint32_t count,
						  const StrataReader *in)
{
	StrataReader at = *in;

	size->bits = size->width;
	if (size->width > INT_NARROW_WIDTH)
		return false;
	if (size->split)
	{
		/*
		 * the ones of at most 255 bytes leave room for upper parts below 2^11
		 */
		size->bits += 11;
		return true;
	}
	if (size->patched)
	{
		strata_read_bytes(&at, ((size_t) count * size->width + 7) / 8 + 1);
		size->bits += strata_read_u8(&at);
	}
	return size->bits <= 32;
}

/*
 * Read the first wanted of the count numbers of such a block; u has
 * INT_BLOCK_BUFFER entries.
 */
bool
strata_int_pack_read_narrow(const IntBlockSize *size, uint32_t count,
							uint32_t wanted, StrataReader *in, uint32_t *u)
{
	Assert(wanted <= count && count <= INT_BLOCK_MAX);	/* codec:C14 */
	if (size->split)
		return strata_int_split_read_narrow(size->width, count, wanted, in, u);
	return strata_bitpack_read_part(in, count, size->patched ? count : wanted,
									size->width, u) &&
		(!size->patched || patch_narrow(size->width, count, in, u));
}

/* What the residuals of n numbers of 32 bits add up to. */
STRATA_CLONES
int64_t
strata_int_sum(const IntShape *shape, int64_t base, const uint32_t *u,
			   uint32_t n)
{
	uint64_t	sum = 0;

	if (shape->based)
	{
		for (uint32_t i = 0; i < n; i++)
			sum += u[i];
		return (int64_t) (sum + (uint64_t) base * n);
	}
	for (uint32_t i = 0; i < n; i++)
		sum += (uint64_t) (int64_t) (int32_t) ((u[i] >> 1) ^ (0 - (u[i] & 1)));
	return (int64_t) sum;
}

/* What the first wanted residuals of such a block add up to. */
bool
strata_int_pack_sum_narrow(const IntShape *shape, int64_t base,
						   const IntBlockSize *size, uint32_t count,
						   uint32_t wanted, StrataReader *in, int64_t *sum)
{
	uint32_t	u[INT_BLOCK_BUFFER];

	if (size->split)
	{
		if (!strata_int_split_sum_narrow(size->width, !shape->based, count,
										 wanted, in, sum))
			return false;
		if (shape->based)
			*sum = (int64_t) ((uint64_t) *sum + (uint64_t) base * wanted);
		return true;
	}
	if (!strata_int_pack_read_narrow(size, count, wanted, in, u))
		return false;
	*sum = strata_int_sum(shape, base, u, wanted);
	return true;
}

/* Read the numbers of a block; u has INT_BLOCK_BUFFER entries. */
bool
strata_int_pack_read(const IntBlockSize *size, uint32_t count,
					 StrataReader *in, uint64_t *u)
{
	Assert(count <= INT_BLOCK_MAX); /* codec:C14 */
	if (size->split)
		return strata_int_split_read(size->width, count, in, u);
	return strata_bitpack_read(in, count, size->width, u) &&
		(!size->patched || patch(size->width, count, in, u));
}
