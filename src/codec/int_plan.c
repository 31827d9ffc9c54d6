/*-------------------------------------------------------------------------
 *
 * int_plan.c
 *	  Choose the shape of an integer stream: the smallest by exact size.
 *
 * src/codec/int_plan.c
 *-------------------------------------------------------------------------
 */
#include "bitstream.h"
#include "int_private.h"

/* Bytes of the blocks of a stream of this shape. */
static size_t
shape_size(const IntShape *shape, const int64_t *scaled, uint32_t n)
{
	int64_t		r[INT_BLOCK_MAX];
	uint64_t	u[INT_BLOCK_MAX];
	uint32_t	rows = UINT32_C(1) << shape->block_log2;
	uint8_t		meta[INT_META_MAX];
	size_t		nbytes = 0;
	IntBlockState state = {0};

	for (uint32_t from = 0; from < n; from += rows)
	{
		uint32_t	m = n - from < rows ? n - from : rows;
		uint32_t	count = strata_int_residuals(shape->transform, scaled + from, m, r);
		int64_t		base = strata_int_map(shape->based, r, count, u);

		nbytes += strata_int_meta_write(shape, &state, scaled + from, m, from == 0, base, meta);
		nbytes += strata_int_block_size(shape->packing, u, count);
	}
	return nbytes;
}

/*
 * The smallest shape for n > 0 scaled values (scaled[0] == 0), and the bytes
 * its blocks take.
 */
IntShape
strata_int_plan(const int64_t *scaled, uint32_t n, size_t *nbytes)
{
	IntShape	best = {INT_VALUES, INT_PACK_BITS, true, 7};
	uint32_t	i;

	*nbytes = SIZE_MAX;
	for (i = 2; i < n; i++)
		if ((uint64_t) scaled[i] - (uint64_t) scaled[i - 1] != (uint64_t) scaled[1] - (uint64_t) scaled[0])
			break;
	if (i >= n)
	{
		*nbytes = n > 1 ? strata_varint_size(strata_zigzag(scaled[1])) : 0;
		return (IntShape) {n > 1 ? INT_DELTA : INT_VALUES, INT_PACK_NONE, false, INT_BLOCK_LOG2_MIN};
	}
	for (int transform = INT_VALUES; transform <= INT_DELTA_DELTA; transform++)
		for (int packing = INT_PACK_SIMPLE8B; packing <= INT_PACK_BITS; packing++)
			for (int based = 0; based <= 1; based++)
				for (unsigned block_log2 = packing == INT_PACK_BITS ? 6 : 8; block_log2 <= 8; block_log2++)
				{
					IntShape	shape = {transform, packing, based, block_log2};
					size_t		size = shape_size(&shape, scaled, n);

					if (size < *nbytes)
					{
						*nbytes = size;
						best = shape;
					}
				}
	return best;
}
