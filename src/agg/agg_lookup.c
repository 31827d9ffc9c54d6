/*-------------------------------------------------------------------------
 *
 * agg_lookup.c
 *	  The groups of a vector's runs, looked up together.
 *
 * A table of many groups is larger than what a processor has at hand, and each
 * look-up would wait for its memory.  Of many look-ups the memory is asked for
 * ahead (strata_agg_table_find_many).
 *
 * src/agg/agg_lookup.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_private.h"

#include "utils/memutils.h"

/* Fewer runs are looked up one by one. */
#define MIN_RUNS 8

/* Buckets of the selected rows at these positions, which ascend. */
static void
load_bucket_values(const AggKey *key, const int *positions, int n,
				   AggKeyValues *out)
{
	int			change = 0;

	out->nulls = palloc(sizeof(bool) * n);
	for (int i = 0; i < n; i++)
	{
		while (change + 1 < key->nchanges &&
			   key->changes[change + 1] <= positions[i])
			change++;
		Assert(key->changes[change] <= positions[i]);	/* agg:G3 */
		out->values[i] = key->buckets[change];
		out->nulls[i] = key->nulls[change];
	}
}

/* Values of a column likewise. */
static void
load_column_values(const StrataColumn *col, const AggVector *vector,
				   const int *positions, int n, AggKeyValues *out)
{
	bool		isnull;

	if (col->isnull == NULL)
		for (int i = 0; i < n; i++)
		{
			int			row = agg_vector_row(vector, positions[i]);

			out->values[i] =
				col->fixed != NULL ?
				strata_fixed_get(col->fixed, col->type.width, row) :
				col->codes != NULL ? col->dict[col->codes[row]] :
				col->datums[row];
		}
	else
	{
		out->nulls = palloc(sizeof(bool) * n);
		for (int i = 0; i < n; i++)
		{
			int			row = agg_vector_row(vector, positions[i]);

			out->values[i] = strata_column_get(col, row, &isnull);
			out->nulls[i] = isnull;
		}
	}
}

/* Part integers into words and the bits in them (agg_distinct.c). */
static void
part_words(AggKey *key, Datum *values, int n)
{
	key->low_bits = palloc(n);
	for (int i = 0; i < n; i++)
	{
		int64		v = strata_datum_integer(values[i], key->typlen);

		key->low_bits[i] = (uint8) (v & ((1 << key->word_bits) - 1));
		values[i] = Int64GetDatum(v >> key->word_bits);
	}
}

/* See agg_private.h. */
AggGroup **
strata_agg_look_up_rows(StrataAggState *agg, const int *positions, int n)
{
	AggKeyValues *keys = palloc0(sizeof(AggKeyValues) * agg->nkeys);
	AggGroup  **groups = palloc(sizeof(AggGroup *) * n);

	for (int k = 0; k < agg->nkeys; k++)
	{
		AggKey	   *key = &agg->keys[k];

		if (key->constant)
			continue;
		keys[k].values = palloc(sizeof(Datum) * n);
		if (key->bucket != NULL)
			load_bucket_values(key, positions, n, &keys[k]);
		else
			load_column_values(key->column, agg->vector, positions, n,
							   &keys[k]);
		if (key->word_bits != 0)
			part_words(key, keys[k].values, n);
	}
	strata_agg_table_find_many(agg->table, keys, n, groups);
	return groups;
}

/* The same of runs that have codes: one look-up for each code that is met. */
static AggGroup **
look_up_codes(StrataAggState *agg, AggCodes *codes)
{
	int			n = 0;
	int		   *met = palloc(sizeof(int) * (agg->nruns + 1));
	int		   *positions = palloc(sizeof(int) * (agg->nruns + 1));
	uint8	   *seen = palloc0(codes->ncodes);
	AggGroup  **found;
	AggGroup  **groups = palloc(sizeof(AggGroup *) * agg->nruns);

	for (int i = 0; i < agg->nruns; i++)
	{
		int			code = codes->codes[i];

		/* no branch: nobody could guess it */
		met[n] = code;
		positions[n] = agg->runs[i];
		n += !seen[code];
		seen[code] = 1;
	}
	found = strata_agg_look_up_rows(agg, positions, n);
	for (int i = 0; i < n; i++)
		codes->groups[met[i]] = found[i];
	for (int i = 0; i < agg->nruns; i++)
		groups[i] = codes->groups[codes->codes[i]];
	return groups;
}

/* See agg_private.h. */
AggGroup **
strata_agg_groups_of_runs(StrataAggState *agg, AggCodes *codes)
{
	MemoryContext old;
	AggGroup  **groups;

	/* what stops early looks at each key that is met */
	if (agg->stop.kind != AGG_STOP_NONE || agg->nruns < MIN_RUNS ||
		!strata_enable_group_lookahead)
		return NULL;
	old = MemoryContextSwitchTo(agg->vector_mcxt);
	groups = codes != NULL ? look_up_codes(agg, codes) :
		strata_agg_look_up_rows(agg, agg->runs, agg->nruns);
	MemoryContextSwitchTo(old);
	return groups;
}
