/*-------------------------------------------------------------------------
 *
 * agg_code.c
 *	  Keys of few different values in a vector as small numbers, so that each
 *	  group is looked up once a vector, not once a run.
 *
 * A dictionary has codes, buckets have a number, integers in a narrow range
 * have a distance from the least.  What is computed of a dictionary's entries
 * (CASE, lower(), split_part()) comes as the same few pointers again and
 * again: they are numbered.  The codes of all keys make one number, an index
 * of groups that were found; where most numbers are nobody's, as those of
 * status codes from 200 to 503 are, they are numbered anew.  Equal codes are
 * equal keys; equal keys may have several codes, each of which is looked up.
 *
 * src/agg/agg_code.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_private.h"

#include "common/hashfn.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

/* Fewer runs are looked up one by one. */
#define MIN_RUNS 32

/* Different values of one key, and of all together. */
#define MAX_VALUES 4096
#define MAX_CODES 65536

/* The row of a run's first. */
static inline int
row_of_run(const StrataAggState *agg, int i)
{
	return agg_vector_row(agg->vector, agg->runs[i]);
}

static inline bool
is_null_at(const StrataColumn *col, int row)
{
	return col->isnull != NULL && col->isnull[row];
}

/* Code of each run: the number of its bucket; returns how many there are. */
static int
code_buckets(const StrataAggState *agg, const AggKey *key, int *codes)
{
	int			change = 0;

	for (int i = 0; i < agg->nruns; i++)
	{
		while (change + 1 < key->nchanges &&
			   key->changes[change + 1] <= agg->runs[i])
			change++;
		codes[i] = change;
	}
	return key->nchanges;
}

/* The same of a dictionary; null is a code, too. */
static int
code_dictionary(const StrataAggState *agg, const StrataColumn *col,
				int *codes)
{
	if (col->ndict >= MAX_VALUES)
		return 0;
	for (int i = 0; i < agg->nruns; i++)
	{
		int			row = row_of_run(agg, i);

		codes[i] = is_null_at(col, row) ? col->ndict : col->codes[row];
	}
	return col->ndict + 1;
}

/* The same of integers; 0: they are too far from each other. */
static int
code_integers(const StrataAggState *agg, const StrataColumn *col, int *codes)
{
	int64		min = PG_INT64_MAX;
	int64		max = PG_INT64_MIN;
	uint64		range;

	for (int i = 0; i < agg->nruns; i++)
	{
		int			row = row_of_run(agg, i);
		int64		v;

		if (is_null_at(col, row))
			continue;
		v = (int64) strata_fixed_get(col->fixed, col->type.width, row);
		min = Min(min, v);
		max = Max(max, v);
	}
	if (min > max)
		min = max = 0;
	range = (uint64) max - (uint64) min;
	if (range >= MAX_VALUES - 1)
		return 0;
	for (int i = 0; i < agg->nruns; i++)
	{
		int			row = row_of_run(agg, i);

		codes[i] = is_null_at(col, row) ? (int) range + 1 :
			(int) ((int64) strata_fixed_get(col->fixed, col->type.width,
											row) - min);
	}
	return (int) range + 2;
}

/* The same of values by reference; 0: too many places. */
static int
code_pointers(const StrataAggState *agg, const StrataColumn *col, int *codes)
{
	int			limit = Min(MAX_VALUES, agg->nruns / 2);
	uint32		nslots = pg_nextpower2_32(2 * limit);
	Datum	   *places = palloc(sizeof(Datum) * nslots);
	uint16	   *numbers = palloc0(sizeof(uint16) * nslots);
	int			n = 1;			/* 0: null */

	for (int i = 0; i < agg->nruns; i++)
	{
		int			row = row_of_run(agg, i);
		Datum		place = col->datums[row];
		uint32		slot;

		codes[i] = 0;
		if (is_null_at(col, row))
			continue;
		slot = murmurhash32((uint32) (place >> 3)) & (nslots - 1);
		while (numbers[slot] != 0 && places[slot] != place)
			slot = (slot + 1) & (nslots - 1);
		if (numbers[slot] == 0)
		{
			if (n >= limit)
				return 0;
			places[slot] = place;
			numbers[slot] = (uint16) n++;
		}
		codes[i] = numbers[slot];
	}
	return n;
}

/* The codes of one key that varies; 0: it has none. */
static int
code_key(const StrataAggState *agg, const AggKey *key, int *codes)
{
	const StrataColumn *col = key->column;

	if (key->bucket != NULL)
		return code_buckets(agg, key, codes);
	if (col->codes != NULL)
		return code_dictionary(agg, col, codes);
	return col->fixed != NULL ? code_integers(agg, col, codes) :
		code_pointers(agg, col, codes);
}

/*
 * Number the codes that are met, of n that may be, by the order in which they
 * are; returns how many these are.
 */
static int
renumber(const StrataAggState *agg, int *codes, int n)
{
	uint16	   *numbers = palloc0(sizeof(uint16) * n);
	int			nmet = 0;

	Assert(n <= MAX_CODES);		/* agg:G22 */
	/* one vector's runs are fewer than numbers are */
	for (int i = 0; i < agg->nruns; i++)
	{
		uint16	   *number = &numbers[codes[i]];

		if (*number == 0)
			*number = (uint16) ++nmet;
		codes[i] = *number - 1;
	}
	pfree(numbers);
	return nmet;
}

/*
 * Make one code of each run's codes so far, of ncodes that may be, and that of
 * a key, of n; returns how many there may be.  0: too many.  Codes of which
 * most are not met, as those of integers far from each other, are numbered
 * anew where they would be too many.
 */
static int
join_codes(const StrataAggState *agg, int *codes, int ncodes, int *of_key,
		   int n)
{
	int64		most = Min(MAX_CODES, 4 * (int64) agg->nruns);

	if ((int64) ncodes * n > most)
		n = renumber(agg, of_key, n);
	if ((int64) ncodes * n > most)
		ncodes = renumber(agg, codes, ncodes);
	if ((int64) ncodes * n > MAX_CODES)
		return 0;
	for (int i = 0; i < agg->nruns; i++)
		codes[i] = codes[i] * n + of_key[i];
	return ncodes * n;
}

/* See agg_group_private.h. */
AggCodes *
strata_agg_codes_create(StrataAggState *agg)
{
	MemoryContext old = MemoryContextSwitchTo(agg->vector_mcxt);
	AggCodes   *result = NULL;
	int			total = 1;
	int		   *codes;
	int		   *of_key;

	Assert(agg->nkeys > 0);		/* agg:G22 */
	if (agg->nruns >= MIN_RUNS && strata_enable_key_codes)
	{
		codes = palloc0(sizeof(int) * agg->nruns);
		of_key = palloc(sizeof(int) * agg->nruns);
		for (int k = 0; k < agg->nkeys && total > 0; k++)
		{
			int			n;

			if (agg->keys[k].constant)
				continue;
			n = code_key(agg, &agg->keys[k], of_key);
			total = n > 0 ? join_codes(agg, codes, total, of_key, n) : 0;
		}
		/* a group that is looked up once is not worth an entry */
		if (total > 4 * agg->nruns)
		{
			total = renumber(agg, codes, total);
			if (total > agg->nruns / 2)
				total = 0;
		}
		if (total > 0)
		{
			result = palloc(sizeof(AggCodes));
			result->codes = codes;
			result->ncodes = total;
			result->groups = palloc0(sizeof(AggGroup *) * total);
		}
	}
	MemoryContextSwitchTo(old);
	return result;
}
