/*-------------------------------------------------------------------------
 *
 * rollup_range.c
 *	  Sets of times: sorted half-open ranges that neither overlap nor touch.
 *
 * src/rollup/rollup_range.c
 *-------------------------------------------------------------------------
 */
#include "rollup/rollup.h"

/* Replace ranges from number `at` on, `gone` of them, by the n at `by`. */
static void
put_ranges(StrataRanges *ranges, int at, int gone, const StrataRange *by,
		   int n)
{
	if (ranges->n - gone + n > ranges->space)
	{
		ranges->space = Max(8, 2 * (ranges->n - gone + n));
		ranges->r = ranges->r == NULL ?
			palloc(sizeof(StrataRange) * ranges->space) :
			repalloc(ranges->r, sizeof(StrataRange) * ranges->space);
	}
	if (at + gone < ranges->n)
		memmove(&ranges->r[at + n], &ranges->r[at + gone],
				sizeof(StrataRange) * (ranges->n - at - gone));
	if (n > 0)
		memcpy(&ranges->r[at], by, sizeof(StrataRange) * n);
	ranges->n += n - gone;
}

/* The first range that ends at or after time. */
static int
first_ending(const StrataRanges *ranges, int64 time)
{
	int			low = 0;
	int			high = ranges->n;

	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (ranges->r[middle].hi < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* See rollup.h. */
void
strata_ranges_add(StrataRanges *ranges, StrataRange range)
{
	int			from = first_ending(ranges, range.lo);
	int			to = from;

	if (range.lo >= range.hi)
		return;
	while (to < ranges->n && ranges->r[to].lo <= range.hi)
		to++;
	if (to > from)
	{
		range.lo = Min(range.lo, ranges->r[from].lo);
		range.hi = Max(range.hi, ranges->r[to - 1].hi);
	}
	put_ranges(ranges, from, to - from, &range, 1);
	Assert(from == 0 ||
		   ranges->r[from - 1].hi < range.lo);	/* rollup:Z1 */
}

/* See rollup.h. */
void
strata_ranges_subtract(StrataRanges *ranges, StrataRange range)
{
	int			from = first_ending(ranges, range.lo);
	int			to;
	StrataRange rest[2];
	int			nrest = 0;

	if (range.lo >= range.hi)
		return;
	if (from < ranges->n && ranges->r[from].hi == range.lo)
		from++;
	for (to = from; to < ranges->n && ranges->r[to].lo < range.hi; to++)
		;
	if (to == from)
		return;
	if (ranges->r[from].lo < range.lo)
		rest[nrest++] = strata_range(ranges->r[from].lo, range.lo);
	if (ranges->r[to - 1].hi > range.hi)
		rest[nrest++] = strata_range(range.hi, ranges->r[to - 1].hi);
	put_ranges(ranges, from, to - from, rest, nrest);
}

/* See rollup.h. */
void
strata_ranges_clip(StrataRanges *ranges, StrataRange range)
{
	strata_ranges_subtract(ranges, strata_range(PG_INT64_MIN, range.lo));
	strata_ranges_subtract(ranges, strata_range(range.hi, PG_INT64_MAX));
}

/* See rollup.h. */
void
strata_ranges_remove(StrataRanges *ranges, const StrataRanges *others)
{
	for (int i = 0; i < others->n; i++)
		strata_ranges_subtract(ranges, others->r[i]);
}

/* See rollup.h. */
void
strata_ranges_keep(StrataRanges *ranges, const StrataRanges *others)
{
	int64		from = PG_INT64_MIN;

	for (int i = 0; i < others->n; i++)
	{
		strata_ranges_subtract(ranges, strata_range(from, others->r[i].lo));
		from = others->r[i].hi;
	}
	strata_ranges_subtract(ranges, strata_range(from, PG_INT64_MAX));
}

/* See rollup.h. */
void
strata_ranges_copy(StrataRanges *ranges, const StrataRanges *from)
{
	memset(ranges, 0, sizeof(*ranges));
	put_ranges(ranges, 0, 0, from->r, from->n);
}

/* See rollup.h. */
bool
strata_ranges_contain(const StrataRanges *ranges, StrataRange range)
{
	int			at = first_ending(ranges, range.hi);

	return range.lo >= range.hi ||
		(at < ranges->n && ranges->r[at].lo <= range.lo);
}
