/*-------------------------------------------------------------------------
 *
 * index_range.c
 *	  Sets of batches, as ranges of row numbers: what two have in common, what
 *	  is in either, and whether a batch is.
 *
 * src/index/index_range.c
 *-------------------------------------------------------------------------
 */
#include "index/index_private.h"

static StrataIndexRanges *
make_ranges(int n)
{
	StrataIndexRanges *result = palloc(sizeof(StrataIndexRanges));

	result->n = 0;
	result->ranges = palloc_array(StrataIndexRange, Max(n, 1));
	return result;
}

/* See index.h. */
StrataIndexRanges *
strata_ranges_common(const StrataIndexRanges *a,
					 const StrataIndexRanges *b)
{
	StrataIndexRanges *result = make_ranges(a->n + b->n);
	int			i = 0;
	int			j = 0;

	while (i < a->n && j < b->n)
	{
		int64		from = Max(a->ranges[i].from, b->ranges[j].from);
		int64		to = Min(a->ranges[i].to, b->ranges[j].to);

		if (from < to)
		{
			result->ranges[result->n].from = from;
			result->ranges[result->n++].to = to;
		}
		if (a->ranges[i].to < b->ranges[j].to)
			i++;
		else
			j++;
	}
	Assert(result->n <= a->n + b->n);	/* index:I2 */
	return result;
}

/* See index.h. */
StrataIndexRanges *
strata_ranges_union(const StrataIndexRanges *a,
					const StrataIndexRanges *b)
{
	StrataIndexRanges *result = make_ranges(a->n + b->n);
	int			i = 0;
	int			j = 0;

	while (i < a->n || j < b->n)
	{
		bool		from_a = j == b->n ||
		(i < a->n && a->ranges[i].from <= b->ranges[j].from);
		const StrataIndexRange *next = from_a ? &a->ranges[i++] :
		&b->ranges[j++];
		StrataIndexRange *last = result->n > 0 ?
		&result->ranges[result->n - 1] : NULL;

		if (last != NULL && next->from <= last->to)
			last->to = Max(last->to, next->to);
		else
			result->ranges[result->n++] = *next;
	}
	Assert(result->n <= a->n + b->n);	/* index:I2 */
	return result;
}

/* See index.h. */
bool
strata_ranges_have(const StrataIndexRanges *ranges, int64 number)
{
	int			low = 0;
	int			high = ranges->n;

	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (ranges->ranges[middle].to <= number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < ranges->n && ranges->ranges[low].from <= number;
}
