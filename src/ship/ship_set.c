/*-------------------------------------------------------------------------
 *
 * ship_set.c
 *	  A set of numbers that mostly come in order, as ranges.
 *
 * src/ship/ship_set.c
 *-------------------------------------------------------------------------
 */
#include "ship/ship_private.h"

/* The first range that does not end before n. */
static int
range_at(const StrataUnitSet *set, int64 n)
{
	int			low = 0;
	int			high = set->nranges;

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (set->ranges[middle][1] < n)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void
insert_range(StrataUnitSet *set, int at, int64 from, int64 to)
{
	if (set->nranges == set->room)
	{
		set->room = Max(set->room * 2, 16);
		set->ranges = set->ranges == NULL ?
			palloc(sizeof(set->ranges[0]) * set->room) :
			repalloc(set->ranges, sizeof(set->ranges[0]) * set->room);
	}
	memmove(set->ranges + at + 1, set->ranges + at,
			sizeof(set->ranges[0]) * (set->nranges - at));
	Assert(at == 0 || set->ranges[at - 1][1] < from);	/* ship:SH2 */
	set->ranges[at][0] = from;
	set->ranges[at][1] = to;
	set->nranges++;
}

/* See ship.h. */
bool
strata_unit_set_add(StrataUnitSet *set, int64 from, int64 to)
{
	int			at = range_at(set, from);

	Assert(from <= to);			/* ship:SH2 */
	if (at < set->nranges && set->ranges[at][0] <= to)
		return false;
	if (at > 0 && set->ranges[at - 1][1] + 1 == from)
	{
		set->ranges[--at][1] = to;
		if (at + 1 < set->nranges && set->ranges[at + 1][0] == to + 1)
		{
			set->ranges[at][1] = set->ranges[at + 1][1];
			memmove(set->ranges + at + 1, set->ranges + at + 2,
					sizeof(set->ranges[0]) * (set->nranges - at - 2));
			set->nranges--;
		}
	}
	else if (at < set->nranges && set->ranges[at][0] == to + 1)
		set->ranges[at][0] = from;
	else
		insert_range(set, at, from, to);
	return true;
}

/* See ship.h. */
int64
strata_unit_set_count(const StrataUnitSet *set)
{
	int64		n = 0;

	for (int i = 0; i < set->nranges; i++)
		n += set->ranges[i][1] - set->ranges[i][0] + 1;
	return n;
}
