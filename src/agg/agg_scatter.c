/*-------------------------------------------------------------------------
 *
 * agg_scatter.c
 *	  Rows in the order of their groups.
 *
 * Late rows of many segments stand there in the order they came, so that each
 * of them would be a run of its own, with a group to be found and a kernel to
 * be called for it.  Here up to STRATA_AGG_CHUNK_ROWS rows are numbered by the
 * words of their keys, and sorted by these numbers: then there is one run for
 * each group that they are of.
 *
 * The word of a value by reference is its address.  StrataScan keeps short
 * values that come again once (scan_intern.c), so that equal ones mostly have
 * the same; where they have not, there are more runs of one group, and
 * agg_hash.c brings them together, as it does those of values that are equal
 * in other bytes.
 *
 * Rows of a batch are put so where their keys have few values (agg_code.c)
 * that come in turns.
 *
 * Over 600 lines: rows that are numbered one by one, and runs of them.
 *
 * src/agg/agg_scatter.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_numeric_private.h"

#include "utils/memutils.h"

/* A power of two, at least twice the rows of a vector. */
#define SLOTS 4096
/* Fewer rows are not worth it. */
#define MIN_ROWS 32
/* After so many rows it is seen whether they are of few groups. */
#define TRIAL_ROWS 128
/* So many vectors are not tried behind one that was not worth it. */
#define PAUSE 31

#define HASH_FACTOR UINT64CONST(0x9e3779b97f4a7c15)

typedef struct Scatter
{
	int			n;				/* selected rows */
	int			nkeys;
	AggKeyWords *keys;
	uint16	   *numbers;		/* of each row's group */
	uint16	   *first;			/* position of each group's first row */
	int		   *sizes;
	int			ngroups;
} Scatter;

/* Buckets of the positions, from where they change. */
static void
load_buckets(const AggKey *key, int n, uint64 *words, bool *nulls)
{
	for (int c = 0; c < key->nchanges; c++)
	{
		int			end = c + 1 < key->nchanges ? key->changes[c + 1] : n;

		for (int i = key->changes[c]; i < end; i++)
		{
			words[i] = key->nulls[c] ? 0 : (uint64) key->buckets[c];
			nulls[i] = key->nulls[c];
		}
	}
}

/* The words of a column's selected rows. */
static void
load_column_words(const StrataColumn *col, const AggVector *vector,
				  uint64 *words)
{
	for (int i = 0; i < vector->nselected; i++)
	{
		int			row = agg_vector_row(vector, i);

		if (col->isnull != NULL && col->isnull[row])
			words[i] = 0;
		else if (col->fixed != NULL)
			words[i] = (uint64) strata_fixed_get(col->fixed, col->type.width,
												 row);
		else if (col->codes != NULL)
			words[i] = col->codes[row];
		else
			words[i] = (uint64) col->datums[row];
	}
}

/* See agg_private.h. */
int
strata_agg_load_key_words(StrataAggState *agg, AggKeyWords *keys)
{
	AggVector  *vector = agg->vector;
	int			n = vector->nselected;
	int			nkeys = 0;

	for (int k = 0; k < agg->nkeys; k++)
	{
		AggKey	   *key = &agg->keys[k];
		AggKeyWords *words = &keys[nkeys];

		if (key->constant)
			continue;
		words->key = key;
		words->words = palloc(sizeof(uint64) * n);
		words->nulls = NULL;
		nkeys++;
		if (key->bucket != NULL || key->column->isnull != NULL)
			words->nulls = palloc(sizeof(bool) * n);
		if (key->bucket != NULL)
		{
			load_buckets(key, n, words->words, words->nulls);
			continue;
		}
		load_column_words(key->column, vector, words->words);
		for (int i = 0; words->nulls != NULL && i < n; i++)
			words->nulls[i] = key->column->isnull[agg_vector_row(vector, i)];
	}
	return nkeys;
}

static inline bool
same_words(const Scatter *scatter, int a, int b)
{
	for (int k = 0; k < scatter->nkeys; k++)
	{
		const AggKeyWords *key = &scatter->keys[k];

		if (key->words[a] != key->words[b] ||
			(key->nulls != NULL && key->nulls[a] != key->nulls[b]))
			return false;
	}
	return true;
}

/*
 * Number the groups in the order of their first rows; false: there are too
 * many of them.
 */
static bool
number_groups(Scatter *scatter)
{
	uint16	   *slots = palloc0(sizeof(uint16) * SLOTS);

	for (int i = 0; i < scatter->n; i++)
	{
		uint64		hash = 0;
		uint32		slot;
		int			group;

		for (int k = 0; k < scatter->nkeys; k++)
			hash = ((hash << 29 | hash >> 35) ^ scatter->keys[k].words[i]) *
				HASH_FACTOR;
		slot = (uint32) (hash >> 40) & (SLOTS - 1);
		while ((group = slots[slot]) != 0 &&
			   !same_words(scatter, scatter->first[group - 1], i))
			slot = (slot + 1) & (SLOTS - 1);
		if (group == 0)
		{
			scatter->first[scatter->ngroups] = (uint16) i;
			scatter->sizes[scatter->ngroups] = 0;
			group = slots[slot] = (uint16) ++scatter->ngroups;
		}
		scatter->numbers[i] = (uint16) (group - 1);
		scatter->sizes[group - 1]++;
		if (i == TRIAL_ROWS && scatter->ngroups > TRIAL_ROWS * 7 / 8)
			return false;
	}
	return scatter->ngroups <= scatter->n * 3 / 4;
}

/* Sort the rows by the numbers of their groups, which are one run each. */
static void
sort_by_group(StrataAggState *agg, const Scatter *scatter)
{
	AggVector  *vector = agg->vector;
	uint16	   *rows = palloc(sizeof(uint16) * scatter->n);
	int		   *next = palloc(sizeof(int) * scatter->ngroups);
	int			start = 0;

	agg->runs = palloc(sizeof(int) * (scatter->ngroups + 1));
	for (int g = 0; g < scatter->ngroups; g++)
	{
		agg->runs[g] = next[g] = start;
		start += scatter->sizes[g];
	}
	agg->runs[scatter->ngroups] = start;
	Assert(start == scatter->n);	/* agg:G3 */
	for (int i = 0; i < scatter->n; i++)
		rows[next[scatter->numbers[i]]++] =
			(uint16) agg_vector_row(vector, i);
	vector->rows = rows;
	vector->first = 0;
}

/* Buckets change with the run, and nowhere else. */
static void
set_changes(StrataAggState *agg, const Scatter *scatter)
{
	for (int k = 0; k < scatter->nkeys; k++)
	{
		AggKey	   *key = scatter->keys[k].key;

		if (key->bucket == NULL)
			continue;
		key->nchanges = scatter->ngroups;
		key->changes = agg->runs;
		key->buckets = palloc(sizeof(Datum) * scatter->ngroups);
		key->nulls = palloc(sizeof(bool) * scatter->ngroups);
		for (int g = 0; g < scatter->ngroups; g++)
		{
			key->buckets[g] =
				(Datum) scatter->keys[k].words[scatter->first[g]];
			key->nulls[g] = scatter->keys[k].nulls[scatter->first[g]];
		}
	}
}

/* Are rows in order of the one key, a bucket, mostly? */
static bool
is_in_order(const Scatter *scatter)
{
	const AggKey *key = scatter->keys[0].key;

	return scatter->nkeys == 1 && key->bucket != NULL &&
		key->nchanges < scatter->n / 8;
}

/* In vector_mcxt; see agg_group_private.h. */
int
strata_agg_scatter(StrataAggState *agg)
{
	MemoryContext old;
	Scatter		scatter = {.n = agg->vector->nselected};
	bool		found;

	if (!agg->scatters || agg->vector->batch != NULL ||
		scatter.n < MIN_ROWS || agg->vector->nrows > SLOTS / 2)
		return 0;
	if (agg->scatter_pause > 0)
	{
		agg->scatter_pause--;
		return 0;
	}
	old = MemoryContextSwitchTo(agg->vector_mcxt);
	found = strata_agg_load_keys(agg) > 0;
	if (found)
	{
		scatter.keys = palloc(sizeof(AggKeyWords) * agg->nkeys);
		scatter.nkeys = strata_agg_load_key_words(agg, scatter.keys);
		found = !is_in_order(&scatter);
	}
	if (found)
	{
		scatter.numbers = palloc(sizeof(uint16) * scatter.n);
		scatter.first = palloc(sizeof(uint16) * scatter.n);
		scatter.sizes = palloc(sizeof(int) * scatter.n);
		found = number_groups(&scatter);
		/* few rows say nothing of those behind them */
		agg->scatter_pause = found || scatter.n <= 2 * TRIAL_ROWS ? 0 : PAUSE;
	}
	if (found)
	{
		/* expressions are evaluated for rows that ascend */
		for (int i = 0; i < agg->nvalues; i++)
			if (agg->values[i].input < 0)
				(void) strata_agg_value_column(agg, i);
		sort_by_group(agg, &scatter);
		set_changes(agg, &scatter);
	}
	MemoryContextSwitchTo(old);
	return found ? scatter.ngroups : 0;
}

/*-------------------------------------------------------------------------
 * Rows of a batch
 *-------------------------------------------------------------------------
 */

/* Runs of more rows, on average, stay as they are, ... */
#define MAX_RUN_ROWS 8
/* ... and groups of fewer. */
#define MIN_GROUP_RUNS 4
/* Rows of shorter ones are runs themselves, from the next vector on. */
#define TURN_ROWS 4

/* What is evaluated or decoded for rows that ascend. */
static void
load_arguments(StrataAggState *agg)
{
	for (int i = 0; i < agg->ncalls; i++)
	{
		AggCall    *call = &agg->calls[i];

		if (call->filter != NULL)
			(void) strata_agg_filter(agg, call);
		if (call->value >= 0 &&
			strata_agg_value_integers(agg, call->value) == NULL &&
			(call->generic == NULL ||
			 !strata_agg_generic_takes_scaled(call->generic) ||
			 strata_agg_value_scaled(agg, call->value) == NULL))
			(void) strata_agg_value_column(agg, call->value);
		if (call->by >= 0)
			(void) strata_agg_value_column(agg, call->by);
	}
}

/* Let order[i] become number i of the selected rows. */
static void
permute(StrataAggState *agg, const uint16 *order)
{
	AggVector  *vector = agg->vector;
	int			n = vector->nselected;
	uint16	   *rows = palloc(sizeof(uint16) * n);
	const uint16 *from = vector->rows;
	int			first = vector->first;

	for (int i = 0; i < n; i++)
		rows[i] = from != NULL ? from[order[i]] : (uint16) (first + order[i]);
	vector->rows = rows;
	vector->first = 0;
	for (int i = 0; i < agg->ncalls; i++)
	{
		const uint8 *pass = agg->calls[i].pass;
		uint8	   *to;

		if (pass == NULL)
			continue;
		to = palloc(n);
		for (int j = 0; j < n; j++)
			to[j] = pass[order[j]];
		agg->calls[i].pass = to;
	}
}

/* The bucket of each of the new runs, whose first rows were there. */
static void
move_changes(AggKey *key, int *runs, int nruns, const int *from)
{
	Datum	   *buckets = palloc(sizeof(Datum) * nruns);
	bool	   *nulls = palloc(sizeof(bool) * nruns);

	for (int i = 0; i < nruns; i++)
	{
		int			lo = 0;
		int			hi = key->nchanges;

		while (hi - lo > 1)
		{
			int			mid = lo + (hi - lo) / 2;

			if (key->changes[mid] <= from[i])
				lo = mid;
			else
				hi = mid;
		}
		buckets[i] = key->buckets[lo];
		nulls[i] = key->nulls[lo];
	}
	key->nchanges = nruns;
	key->changes = runs;
	key->buckets = buckets;
	key->nulls = nulls;
}

/* Some of the runs: how many rows of theirs have each code. */
typedef struct AggShare
{
	int		   *sizes;
	int			nmet;
	int		   *met;			/* codes, in the order they are met, ... */
	int		   *from;			/* ... and where first; room for one more */
} AggShare;

/*
 * Returns how many rows of that code were before the run.  Whether there were
 * any is nothing that a processor could guess: there is no branch.
 */
static inline uint16
count_run(AggShare *share, int code, const int *run)
{
	int			before = share->sizes[code];

	share->met[share->nmet] = code;
	share->from[share->nmet] = run[0];
	share->nmet += before == 0;
	share->sizes[code] = before + run[1] - run[0];
	return (uint16) before;
}

static void
init_share(AggShare *share, int ncodes, int nruns)
{
	share->sizes = palloc0(sizeof(int) * ncodes);
	share->met = palloc(sizeof(int) * (nruns + 1));
	share->from = palloc(sizeof(int) * (nruns + 1));
	share->nmet = 0;
}

/*
 * Count the rows of each code, and before[i] those that stand before run i; in
 * two halves by turns, since a count that is used again at once is waited for.
 */
static void
count_codes(const StrataAggState *agg, const AggCodes *codes, AggShare *halves,
			uint16 *before)
{
	int			n = agg->nruns;
	int			half = n / 2;
	const int  *runs = agg->runs;
	const int  *code = codes->codes;
	AggShare	a = halves[0];
	AggShare	b = halves[1];

	for (int i = 0; i < half; i++)
	{
		int			j = half + i;

		before[i] = count_run(&a, code[i], &runs[i]);
		before[j] = count_run(&b, code[j], &runs[j]);
	}
	if (2 * half < n)
		before[n - 1] = count_run(&b, code[n - 1], &runs[n - 1]);
	halves[0] = a;
	halves[1] = b;
}

/*
 * Where the rows of each code begin, those of the second half behind those of
 * the first; met, from: of both, in the order they are met.  Sizes become
 * these places.  Returns how many codes there are.
 */
static int
place_codes(AggShare *halves, int *runs, int *met, int *from)
{
	int			ngroups = 0;
	int			at = 0;

	for (int h = 0; h < 2; h++)
		for (int k = 0; k < halves[h].nmet; k++)
		{
			int			code = halves[h].met[k];
			int			first = halves[0].sizes[code];

			if (h == 1 && first != 0)
				continue;
			met[ngroups] = code;
			from[ngroups] = halves[h].from[k];
			runs[ngroups++] = at;
			at += first + halves[1].sizes[code];
		}
	runs[ngroups] = at;
	for (int g = 0; g < ngroups; g++)
	{
		halves[1].sizes[met[g]] = runs[g] + halves[0].sizes[met[g]];
		halves[0].sizes[met[g]] = runs[g];
	}
	return ngroups;
}

/* Is all that is done with rows to count them? */
static bool
only_counts(const StrataAggState *agg)
{
	for (int i = 0; i < agg->ncalls; i++)
		if (agg->calls[i].value >= 0 || agg->calls[i].filter != NULL ||
			agg->calls[i].generic != NULL)
			return false;
	return true;
}

/*
 * Who counts rows looks at none of them, and who looks a group up at the first
 * of its run.
 */
static void
take_first_rows(StrataAggState *agg, const int *runs, int ngroups,
				const int *from)
{
	AggVector  *vector = agg->vector;
	uint16	   *rows = palloc0(sizeof(uint16) * vector->nselected);

	for (int g = 0; g < ngroups; g++)
		rows[runs[g]] = (uint16) agg_vector_row(vector, from[g]);
	vector->rows = rows;
	vector->first = 0;
}

/* Positions of the rows in their new order, by what stands before each run. */
static void
order_runs(const StrataAggState *agg, const AggCodes *codes,
		   const AggShare *halves, const uint16 *before, uint16 *order)
{
	int			nruns = agg->nruns;

	for (int i = 0; i < nruns; i++)
	{
		const int  *starts = halves[i >= nruns / 2].sizes;
		int			to = starts[codes->codes[i]] + before[i];

		for (int j = agg->runs[i]; j < agg->runs[i + 1]; j++)
			order[to++] = (uint16) j;
	}
}

/* Parts of the rows, each with counts of its own. */
#define PARTS 4
/* Of more codes there are too many counts. */
#define FEW_CODES 256

/* Where rows of each code are to go, part by part. */
typedef struct AggPlaces
{
	int			next[PARTS][FEW_CODES];
} AggPlaces;

/*
 * Rows that are runs themselves, of few codes: how many of each code come
 * before a row in its part.  A count that is used again at once is waited for,
 * so the parts take turns.
 */
static void
count_single_rows(const int *pg_restrict code, int n,
				  AggPlaces *pg_restrict places,
				  uint16 *pg_restrict before)
{
	int			part = n / PARTS;

	for (int i = 0; i < part; i++)
		for (int k = 0; k < PARTS; k++)
		{
			int			j = k * part + i;

			before[j] = (uint16) places->next[k][code[j]]++;
		}
	for (int j = PARTS * part; j < n; j++)
		before[j] = (uint16) places->next[PARTS - 1][code[j]]++;
}

/* Make places of counts; as place_codes(). */
static int
place_single_rows(AggPlaces *places, int ncodes, int *runs, int *met)
{
	int			ngroups = 0;
	int			at = 0;

	for (int c = 0; c < ncodes; c++)
	{
		int			start = at;

		for (int k = 0; k < PARTS; k++)
		{
			int			count = places->next[k][c];

			places->next[k][c] = at;
			at += count;
		}
		met[ngroups] = c;
		runs[ngroups] = start;
		ngroups += at > start;
	}
	runs[ngroups] = at;
	return ngroups;
}

/* Positions of the rows in their new order. */
static void
order_single_rows(const int *pg_restrict code, int n,
				  const AggPlaces *pg_restrict places,
				  const uint16 *pg_restrict before,
				  uint16 *pg_restrict order)
{
	int			part = n / PARTS;

	for (int k = 0; k < PARTS; k++)
	{
		const int  *next = places->next[k];
		int			end = k + 1 < PARTS ? (k + 1) * part : n;

		for (int j = k * part; j < end; j++)
			order[next[code[j]] + before[j]] = (uint16) j;
	}
}

/*
 * Put rows that are runs themselves into the order of their codes; returns how
 * many groups there are, 0: too many.
 */
static int
scatter_rows(const StrataAggState *agg, const AggCodes *codes, int *runs,
			 int *met, int *from, uint16 *order)
{
	int			n = agg->nruns;
	uint16	   *before = palloc(sizeof(uint16) * n);
	AggPlaces  *places = palloc0(sizeof(AggPlaces));
	int			ngroups;

	Assert(n == agg->vector->nselected &&
		   codes->ncodes <= FEW_CODES); /* agg:G22 */
	count_single_rows(codes->codes, n, places, before);
	ngroups = place_single_rows(places, codes->ncodes, runs, met);
	if (ngroups <= n / MIN_GROUP_RUNS)
	{
		order_single_rows(codes->codes, n, places, before, order);
		for (int g = 0; g < ngroups; g++)
			from[g] = order[runs[g]];
	}
	else
		ngroups = 0;
	return ngroups;
}

/* The same of runs of rows. */
static int
scatter_runs(const StrataAggState *agg, const AggCodes *codes, int *runs,
			 int *met, int *from, uint16 *order)
{
	int			nruns = agg->nruns;
	uint16	   *before = palloc(sizeof(uint16) * nruns);
	AggShare	halves[2];
	int			ngroups;

	init_share(&halves[0], codes->ncodes, nruns);
	init_share(&halves[1], codes->ncodes, nruns);
	count_codes(agg, codes, halves, before);
	ngroups = place_codes(halves, runs, met, from);
	if (ngroups > nruns / MIN_GROUP_RUNS)
		return 0;
	order_runs(agg, codes, halves, before, order);
	return ngroups;
}

/*
 * Has a row that often another code than the one before it, that where runs
 * end would be guessed wrong?
 */
static bool
come_in_turns(const StrataAggState *agg, const AggCodes *codes)
{
	int			n = 0;

	for (int i = 1; i < agg->nruns; i++)
		n += codes->codes[i] != codes->codes[i - 1];
	return n > agg->vector->nselected / TURN_ROWS;
}

/* See agg_group_private.h. */
void
strata_agg_scatter_codes(StrataAggState *agg, AggCodes *codes)
{
	int			nruns = agg->nruns;
	MemoryContext old;
	uint16	   *order;
	int		   *met;
	int		   *from;
	int		   *runs;
	int			ngroups;

	if (!agg->scatters_codes || agg->vector->batch == NULL ||
		nruns < agg->vector->nselected / MAX_RUN_ROWS)
		return;
	old = MemoryContextSwitchTo(agg->vector_mcxt);
	met = palloc(sizeof(int) * (Max(nruns, FEW_CODES) + 1));
	from = palloc(sizeof(int) * nruns);
	runs = palloc(sizeof(int) * (Max(nruns, FEW_CODES) + 1));
	order = palloc(sizeof(uint16) * agg->vector->nselected);
	if (nruns == agg->vector->nselected && codes->ncodes <= FEW_CODES)
		ngroups = scatter_rows(agg, codes, runs, met, from, order);
	else
		ngroups = scatter_runs(agg, codes, runs, met, from, order);
	if (ngroups == 0)
	{
		MemoryContextSwitchTo(old);
		return;
	}
	Assert(runs[ngroups] == agg->vector->nselected);	/* agg:G22 */
	agg->rows_have_codes = come_in_turns(agg, codes);
	if (only_counts(agg))
		take_first_rows(agg, runs, ngroups, from);
	else
	{
		load_arguments(agg);
		permute(agg, order);
	}
	for (int k = 0; k < agg->nkeys; k++)
		if (!agg->keys[k].constant && agg->keys[k].bucket != NULL)
			move_changes(&agg->keys[k], runs, ngroups, from);
	memcpy(codes->codes, met, sizeof(int) * ngroups);
	agg->runs = runs;
	agg->nruns = ngroups;
	MemoryContextSwitchTo(old);
}
