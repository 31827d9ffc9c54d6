/*-------------------------------------------------------------------------
 *
 * nulls.c
 *	  Which rows are null: nothing, runs, or one bit a row.
 *
 * Hides the choice and the layout of the null map.  The column header stores
 * the mode and the number of nulls; the map itself is
 *
 *	NONE	nothing: no row is null
 *	ALL		nothing: every row is null
 *	RUNS	counts of rows, alternately not null and null, first not null;
 *			they add up to nrows, none but the first is 0
 *	BITMAP	(nrows + 7) / 8 bytes, row i is bit i % 8 of byte i / 8, 1 = null;
 *			unused bits are 0
 *
 * Invariant codec:C3: the map has as many nulls as the header says (checked
 * before anything is decoded with it).
 *
 * src/codec/nulls.c
 *-------------------------------------------------------------------------
 */
#include "codec/bitstream.h"
#include "codec/nulls.h"

/* Bytes of a count as strata_write_count writes it. */
static size_t
count_size(uint32_t v)
{
	return v < 128 ? 1 : 2;
}

/* Nulls among these flags. */
STRATA_CLONES
uint32_t
strata_nulls_count(const bool *isnull, uint32_t nrows)
{
	const uint8_t *flags = (const uint8_t *) isnull;
	uint32_t	count = 0;
	uint32_t	row = 0;

	for (; row + 128 <= nrows; row += 128)
	{
		const uint8_t *part = flags + row;
		uint8_t		nulls = 0;	/* sums of bytes are the fastest */

		for (unsigned i = 0; i < 128; i++)
			nulls = (uint8_t) (nulls + part[i]);
		count += nulls;
	}
	for (; row < nrows; row++)
		count += flags[row];
	return count;
}

/* Where the run of rows that are flagged like this one ends. */
STRATA_INLINE uint32_t
run_end(const bool *isnull, uint32_t row, uint32_t nrows)
{
	const uint64_t flags = isnull[row] ? UINT64_C(0x0101010101010101) : 0;

	for (; row + 8 <= nrows; row += 8)
	{
		uint64_t	differ = strata_load64(isnull + row) ^ flags;

		if (differ != 0)
			return row + (uint32_t) __builtin_ctzll(differ) / 8;
	}
	while (row < nrows && isnull[row] == (flags != 0))
		row++;
	return row;
}

/*
 * The smallest mode for these flags, and its size.  isnull may be NULL when
 * nnulls is 0 or nrows.
 */
StrataNullMode
strata_nulls_plan(const bool *isnull, uint32_t nrows, uint32_t nnulls,
				  size_t *nbytes)
{
	size_t		bitmap = ((size_t) nrows + 7) / 8;
	size_t		runs = 0;

	*nbytes = 0;
	if (nnulls == 0)
		return STRATA_NULLS_NONE;
	if (nnulls == nrows)
		return STRATA_NULLS_ALL;
	runs = isnull[0];
	for (uint32_t row = 0; row < nrows && runs <= bitmap;)
	{
		uint32_t	end = run_end(isnull, row, nrows);

		runs += count_size(end - row);
		row = end;
	}
	*nbytes = runs < bitmap ? runs : bitmap;
	return runs < bitmap ? STRATA_NULLS_RUNS : STRATA_NULLS_BITMAP;
}

/* Write the map in the mode strata_nulls_plan chose. */
void
strata_nulls_write(StrataNullMode mode, const bool *isnull, uint32_t nrows,
				   StrataWriter *out)
{
	if (mode == STRATA_NULLS_RUNS)
	{
		if (isnull[0])
			strata_write_count(out, 0);
		for (uint32_t row = 0; row < nrows;)
		{
			uint32_t	end = run_end(isnull, row, nrows);

			strata_write_count(out, end - row);
			row = end;
		}
	}
	else if (mode == STRATA_NULLS_BITMAP)
	{
		uint8_t    *map = strata_write_space(out, ((size_t) nrows + 7) / 8);

		/* the products of eight flags, one in a byte, meet in the top byte */
		for (uint32_t row = 0; map != NULL && row < nrows; row += 8)
			*map++ = (uint8_t) (strata_load_partial((const uint8_t *) isnull +
													row, nrows - row) *
								UINT64_C(0x0102040810204080) >> 56);
	}
}

/* Set bits among the first nbits of a map. */
STRATA_CLONES
static uint32_t
count_map(const uint8_t *map, uint32_t nbits)
{
	uint32_t	count = 0;
	uint32_t	nbytes = nbits / 8;
	uint32_t	i = 0;

	for (; i + 8 <= nbytes; i += 8)
		count += strata_count_bits(strata_load64(map + i));
	count += strata_count_bits(strata_load_partial(map + i, nbytes - i));
	if (nbits % 8)
		count += strata_count_bits(map[nbytes] & strata_low_bits(nbits % 8));
	return count;
}

/* Flag `run` rows from `row` on; those behind them are not flagged yet. */
STRATA_INLINE void
flag_run(bool *isnull, uint32_t nrows, uint32_t row, uint32_t run)
{
	if (run < 8 && row + 8 <= nrows)
		strata_store64(isnull + row, UINT64_C(0x0101010101010101) &
					   strata_low_bits(8 * run));
	else
		memset(isnull + row, true, run);
}

/*
 * Move `in` past runs of nrows rows, nnulls of them null, flagging those if
 * isnull is not NULL.
 */
STRATA_INLINE bool
take_runs(uint32_t nrows, uint32_t nnulls, StrataReader *in, bool *isnull)
{
	uint32_t	row = 0;
	uint32_t	found = 0;

	while (row < nrows)
	{
		uint32_t	run = strata_read_count(in);

		/* only the first run may be empty */
		if (in->failed || run > nrows - row || (run == 0 && row > 0))
			return false;
		row += run;
		if (row == nrows)
			break;
		run = strata_read_count(in);
		if (in->failed || run > nrows - row || run == 0)
			return false;
		if (isnull)
			flag_run(isnull, nrows, row, run);
		row += run;
		found += run;
	}
	return found == nnulls;
}

/* Spread bits [from, from + n) of a map into flags, eight at a time. */
static void
expand_map(const uint8_t *map, uint32_t from, uint32_t n, bool *isnull)
{
	uint32_t	i = from == 0 ? strata_nulls_simd_expand(map, n, isnull) : 0;

	for (; i < n && (from + i) % 8 != 0; i++)
		isnull[i] = map[(from + i) / 8] >> (from + i) % 8 & 1;
	for (; i + 8 <= n; i += 8)
		strata_store64(isnull + i, strata_spread_bits(map[(from + i) / 8]));
	for (; i < n; i++)
		isnull[i] = map[(from + i) / 8] >> (from + i) % 8 & 1;
}

/*
 * Move `in` past the map, checking it (codec:C3), and flag the nulls of all
 * rows if isnull is not NULL.  False when it is damaged.
 */
bool
strata_nulls_take(StrataNullMode mode, uint32_t nrows, uint32_t nnulls,
				  StrataReader *in, bool *isnull)
{
	Assert(nrows <= STRATA_CODEC_MAX_ROWS); /* codec:C2 */
	if (isnull && mode != STRATA_NULLS_BITMAP)
		memset(isnull, mode == STRATA_NULLS_ALL, nrows);
	switch (mode)
	{
		case STRATA_NULLS_NONE:
			return nnulls == 0;
		case STRATA_NULLS_ALL:
			return nnulls == nrows;
		case STRATA_NULLS_RUNS:
			return isnull ? take_runs(nrows, nnulls, in, isnull) :
				take_runs(nrows, nnulls, in, NULL);
		case STRATA_NULLS_BITMAP:
			{
				const uint8_t *map = strata_read_bytes(in,
													   ((size_t) nrows + 7) /
													   8);

				if (map == NULL)
					return false;
				if (nrows % 8 && map[nrows / 8] >> nrows % 8)
					return false;
				if (isnull)
					expand_map(map, 0, nrows, isnull);
				return count_map(map, nrows) == nnulls;
			}
	}
	return false;
}

/*
 * Flags of rows [from, from + n) of a map of nnulls nulls, which
 * strata_nulls_take approved of; `in` stands at its start.  Returns how many
 * of them are null, and in *before how many non-null rows precede row `from`.
 */
uint32_t
strata_nulls_read(StrataNullMode mode, uint32_t nrows, uint32_t nnulls,
				  StrataReader *in, uint32_t from, uint32_t n, bool *isnull,
				  uint32_t *before)
{
	uint32_t	nulls = 0;
	uint32_t	row = 0;
	bool		current = false;

	Assert(nnulls <= nrows && from <= nrows &&
		   n <= nrows - from);	/* codec:C3 */
	if (isnull && mode != STRATA_NULLS_BITMAP)
		memset(isnull, mode == STRATA_NULLS_ALL, n);
	*before = mode == STRATA_NULLS_ALL ? 0 : from;
	if (mode == STRATA_NULLS_NONE)
		return 0;
	if (mode == STRATA_NULLS_ALL)
		return n;
	if (mode == STRATA_NULLS_BITMAP)
	{
		const uint8_t *map = strata_read_bytes(in, ((size_t) nrows + 7) / 8);
		uint32_t	nulls_before = count_map(map, from);

		*before = from - nulls_before;
		if (isnull)
			expand_map(map, from, n, isnull);
		return (from + n == nrows ? nnulls : count_map(map, from + n)) -
			nulls_before;
	}
	while (row < from + n)
	{
		uint32_t	run = strata_read_count(in);
		uint32_t	end = row + run;

		if (current && run > 0)
		{
			uint32_t	lo = row > from ? row : from;
			uint32_t	hi = end < from + n ? end : from + n;

			if (row < from)
				*before -= (end < from ? end : from) - row;
			if (lo < hi)
			{
				if (isnull)
					memset(isnull + (lo - from), true, hi - lo);
				nulls += hi - lo;
			}
		}
		row = end;
		current = !current;
	}
	return nulls;
}
