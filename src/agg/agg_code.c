/*-------------------------------------------------------------------------
 *
 * agg_code.c
 *	  Keys of few different values in a vector as small numbers, so that each
 *	  group is looked up once a vector, not once a run.
 *
 * A dictionary has codes, buckets have a number, integers in a narrow range
 * have a distance from the least.  What is computed of a dictionary's entries
 * (CASE, lower(), split_part()) comes as the same few pointers again and
 * again, and floor() as the same few floats: they are numbered.  The codes of
 * all keys make one number, an index of groups that were found; where most
 * numbers are nobody's, as those of status codes from 200 to 503 are, they are
 * numbered anew.  Equal codes are equal keys; equal keys may have several
 * codes, each of which is looked up.
 *
 * src/agg/agg_code.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_private.h"

#include "port/pg_bitutils.h"
#include "utils/memutils.h"

/* Fewer runs are looked up one by one. */
#define MIN_RUNS 32

/* Different values of one key, and of all together. */
#define MAX_VALUES 4096
#define MAX_CODES 65536
/* After so many it is seen whether words come again. */
#define TRIAL_WORDS 128

#define HASH_FACTOR UINT64CONST(0x9e3779b97f4a7c15)

/* The first row of each run. */
static const int *
rows_of_runs(const StrataAggState *agg)
{
	const uint16 *rows = agg->vector->rows;
	int			first = agg->vector->first;
	const int  *runs = agg->runs;
	int		   *at;

	if (rows == NULL && first == 0)
		return runs;
	at = palloc(sizeof(int) * agg->nruns);
	for (int i = 0; i < agg->nruns; i++)
		at[i] = rows == NULL ? first + runs[i] : rows[runs[i]];
	return at;
}

/* Code of each run: the number of its bucket; returns how many there are. */
static int
code_buckets(const StrataAggState *agg, const AggKey *key, int *codes)
{
	int			i = 0;

	for (int c = 0; c < key->nchanges; c++)
	{
		int			end = c + 1 < key->nchanges ? key->changes[c + 1] :
		agg->vector->nselected;

		for (; i < agg->nruns && agg->runs[i] < end; i++)
			codes[i] = c;
	}
	return key->nchanges;
}

/* The same of a dictionary, for rows; null is a code, too. */
static int
code_dictionary(const StrataColumn *col, const int *at, int n, int *codes)
{
	const bool *isnull = col->isnull;

	if (col->ndict >= MAX_VALUES)
		return 0;
	for (int i = 0; i < n; i++)
		codes[i] = isnull != NULL && isnull[at[i]] ? col->ndict :
			(int) col->codes[at[i]];
	return col->ndict + 1;
}

/* Values of rows as words: packed ones, or where they lie. */
static void
load_words(const StrataColumn *col, const int *at, int n, int64 *words)
{
#define LOAD(ctype, values) \
	for (int i_ = 0; i_ < n; i_++) \
		words[i_] = (int64) ((const ctype *) (values))[at[i_]]

	if (col->fixed == NULL)
		LOAD(Datum, col->datums);
	else if (col->type.width == sizeof(int64))
		LOAD(int64, col->fixed);
	else if (col->type.width == sizeof(int32))
		LOAD(int32, col->fixed);
	else if (col->type.width == sizeof(int16))
		LOAD(int16, col->fixed);
	else
		LOAD(int8, col->fixed);
}

/* The same of integers; 0: they are too far from each other. */
static int
code_integers(const bool *isnull, const int64 *words, int n, int *codes)
{
	int64		min = PG_INT64_MAX;
	int64		max = PG_INT64_MIN;
	uint64		range;

	for (int i = 0; i < n; i++)
	{
		bool		counts = isnull == NULL || !isnull[i];

		min = counts && words[i] < min ? words[i] : min;
		max = counts && words[i] > max ? words[i] : max;
	}
	if (min > max)
		min = max = 0;
	range = (uint64) max - (uint64) min;
	if (range >= MAX_VALUES - 1)
		return 0;
	for (int i = 0; i < n; i++)
		codes[i] = isnull != NULL && isnull[i] ? (int) range + 1 :
			(int) (words[i] - min);
	return (int) range + 2;
}

/*
 * The same of words that are met again and again: where values by reference
 * lie, floats, integers that are far from each other; 0: too many of them.
 */
static int
code_words(const bool *isnull, const int64 *words, int n, int *codes)
{
	int			limit = Min(MAX_VALUES, n / 2);
	uint32		nslots = pg_nextpower2_32(2 * limit);
	int			shift = 64 - pg_leftmost_one_pos32(nslots);
	int64	   *slots = palloc(sizeof(int64) * nslots);
	uint16	   *numbers = palloc0(sizeof(uint16) * nslots);
	int			nmet = 1;		/* 0: null */
	int			nwords = 0;

	for (int i = 0; i < n; i++)
	{
		uint32		slot;

		codes[i] = 0;
		if (isnull != NULL && isnull[i])
			continue;
		nwords++;
		slot = (uint32) ((uint64) words[i] * HASH_FACTOR >> shift);
		while (numbers[slot] != 0 && slots[slot] != words[i])
			slot = (slot + 1) & (nslots - 1);
		if (numbers[slot] == 0)
		{
			if (nmet >= limit ||
				(nwords >= TRIAL_WORDS && nmet > nwords / 4 * 3))
				return 0;
			slots[slot] = words[i];
			numbers[slot] = (uint16) nmet++;
		}
		codes[i] = numbers[slot];
	}
	return nmet;
}

/* The codes of one key that varies; 0: it has none. */
static int
code_key(const StrataAggState *agg, const AggKey *key, const int *at,
		 int *codes)
{
	const StrataColumn *col = key->column;
	int			nruns = agg->nruns;
	bool	   *isnull = NULL;
	int64	   *words;
	int			n = 0;

	if (key->bucket != NULL)
		return code_buckets(agg, key, codes);
	if (col->codes != NULL)
		return code_dictionary(col, at, nruns, codes);
	words = palloc(sizeof(int64) * nruns);
	load_words(col, at, nruns, words);
	if (col->isnull != NULL)
	{
		isnull = palloc(sizeof(bool) * nruns);
		for (int i = 0; i < nruns; i++)
			isnull[i] = col->isnull[at[i]];
	}
	if (col->fixed != NULL && col->type.kind != STRATA_KIND_FLOAT)
		n = code_integers(isnull, words, nruns, codes);
	return n > 0 ? n : code_words(isnull, words, nruns, codes);
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
	const int  *at;
	int		   *codes;
	int		   *of_key;

	Assert(agg->nkeys > 0);		/* agg:G22 */
	if (agg->nruns >= MIN_RUNS && strata_enable_key_codes)
	{
		at = rows_of_runs(agg);
		codes = palloc0(sizeof(int) * agg->nruns);
		of_key = palloc(sizeof(int) * agg->nruns);
		for (int k = 0; k < agg->nkeys && total > 0; k++)
		{
			int			n;

			if (agg->keys[k].constant)
				continue;
			n = code_key(agg, &agg->keys[k], at, total > 1 ? of_key : codes);
			total = total == 1 || n == 0 ? n :
				join_codes(agg, codes, total, of_key, n);
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
