/*-------------------------------------------------------------------------
 *
 * agg_known.c
 *	  Rows held for an aggregate with DISTINCT that are the same as one that
 *	  is there, to the byte.
 *
 * What DISTINCT leaves out is found when the group's rows have been sorted.
 * A group that has few different rows need not hold the others until then:
 * its rows in memory are known by a hash value.  Where most rows are new it
 * is no use, and given up.
 *
 * src/agg/agg_known.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_hold_private.h"

#include "common/hashfn.h"
#include "utils/datum.h"

/* So often it is looked at whether looking is of use: one in so many found. */
#define LOOKS_AT_A_TIME 16384
#define LOOKS_FOR_ONE 4

#define LEAST_PLACES 16
/* Positions have 32 bits, and are counted from one. */
#define MOST_ROWS_KNOWN (PG_INT32_MAX / 2)

/* Bytes of a value that is not null. */
static inline const char *
held_bytes(const AggHold *hold, int c, const Datum *value, Size *size)
{
	if (hold->typbyval[c])
	{
		*size = sizeof(Datum);
		return (const char *) value;
	}
	*size = datumGetSize(*value, false, hold->typlen[c]);
	return DatumGetPointer(*value);
}

static inline bool
is_null_at(const HeldRows *rows, int64 at)
{
	return rows->isnull != NULL && rows->isnull[at];
}

/* A hash value of the row at a position, by its bytes. */
static uint32
hash_held(const AggHold *hold, const HeldRows *rows, int64 row)
{
	uint32		hash = 0;

	for (int c = 0; c < held_values(hold); c++)
	{
		int64		at = row * hold->ncolumns + c;
		const char *bytes;
		Size		size;

		if (is_null_at(rows, at))
		{
			hash = hash_combine(hash, 1);
			continue;
		}
		bytes = held_bytes(hold, c, &rows->v[at], &size);
		hash = hash_combine(hash, hold->typbyval[c] ?
							murmurhash32((uint32) (rows->v[at] ^
												   (uint64) rows->v[at] >> 32)) :
							hash_bytes((const unsigned char *) bytes,
									   (int) size));
	}
	return hash;
}

/* Are two rows the same, to the byte? */
static bool
same_held(const AggHold *hold, const HeldRows *rows, int64 a, int64 b)
{
	for (int c = 0; c < held_values(hold); c++)
	{
		int64		at = a * hold->ncolumns + c;
		int64		other = b * hold->ncolumns + c;
		const char *bytes;
		const char *others;
		Size		size;
		Size		size_of_other;

		if (is_null_at(rows, at) != is_null_at(rows, other))
			return false;
		if (is_null_at(rows, at))
			continue;
		bytes = held_bytes(hold, c, &rows->v[at], &size);
		others = held_bytes(hold, c, &rows->v[other], &size_of_other);
		if (size != size_of_other || memcmp(bytes, others, size) != 0)
			return false;
	}
	return true;
}

/* The place of a row that is the same, or an empty one. */
static uint32 *
find_known(const AggHold *hold, const HeldRows *rows, int64 row)
{
	uint32		mask = rows->nplaces - 1;
	uint32		place = hash_held(hold, rows, row) & mask;

	while (rows->known[place] != 0 &&
		   !same_held(hold, rows, row, (int64) rows->known[place] - 1))
		place = (place + 1) & mask;
	return &rows->known[place];
}

/* Twice as many places. */
static void
grow(const AggHold *hold, HeldRows *rows)
{
	uint32	   *before = rows->known;
	uint32		nbefore = rows->nplaces;

	rows->nplaces = before == NULL ? LEAST_PLACES : nbefore * 2;
	rows->known = MemoryContextAllocExtended(hold->agg->group_mcxt,
											 sizeof(uint32) * rows->nplaces,
											 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (uint32 i = 0; before != NULL && i < nbefore; i++)
	{
		if (before[i] != 0)
			*find_known(hold, rows, (int64) before[i] - 1) = before[i];
	}
	if (before != NULL)
		pfree(before);
}

/* See agg_hold_private.h. */
void
strata_agg_known_forget(HeldRows *rows)
{
	if (rows->known != NULL)
		pfree(rows->known);
	rows->known = NULL;
	rows->nplaces = rows->nknown = 0;
}

/* The row is there as often as the one behind the others says, and more. */
static void
add_count(HeldRows *rows, int64 row)
{
	Datum	   *count = &rows->v[row * 2 + 1];

	*count = Int64GetDatum(DatumGetInt64(*count) +
						   DatumGetInt64(rows->v[rows->n * 2 + 1]));
}

/* See agg_hold_private.h. */
bool
strata_agg_known_row(AggHold *hold, HeldRows *rows)
{
	uint32	   *place;
	bool		found;

	Assert(hold->distinct || hold->counted);	/* agg:G21 */
	if (!hold->drops || rows->n >= MOST_ROWS_KNOWN)
	{
		strata_agg_known_forget(rows);
		return false;
	}
	if (rows->nknown * 2 >= rows->nplaces)
		grow(hold, rows);
	place = find_known(hold, rows, rows->n);
	found = *place != 0;
	if (!found)
	{
		*place = (uint32) rows->n + 1;
		rows->nknown++;
	}
	else if (hold->counted)
		add_count(rows, (int64) *place - 1);
	hold->nfound += found;
	if (++hold->nlooks == LOOKS_AT_A_TIME)
	{
		hold->drops = hold->nfound >= LOOKS_AT_A_TIME / LOOKS_FOR_ONE;
		hold->nlooks = hold->nfound = 0;
	}
	return found;
}
