/*-------------------------------------------------------------------------
 *
 * agg_words.c
 *	  Integers that lie close to each other, 64 in a word.
 *
 * Where all that is wanted of groups is which there are, a group of 64 keys
 * that differ in their last bits only has a cell that says which of them are
 * there.  So are the values of aggregates with DISTINCT kept (agg_distinct.c),
 * and so become the groups of a query that has no aggregates when they fill
 * half of the memory, if that makes them few enough: of pairs of a user and a
 * page, say, words of users for each page.
 *
 * src/agg/agg_words.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_words_private.h"

#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "port/pg_bitutils.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* Words of two sets have the values of both. */
static void
combine_words(AggCell *cell, const AggCell *other)
{
	cell->n |= other->n;
}

const AggKernel strata_agg_word_kernel = {
	.kind = AGG_VALUE_INT64,
	.result = AGG_RESULT_COUNT,
	.combine = combine_words
};

/* See agg_words_private.h. */
bool
strata_agg_may_have_words(const AggKey *key, Oid type)
{
	type = getBaseType(type);
	/* words are looked up as Datums of 64 bits */
	return sizeof(Datum) == sizeof(int64) && key->bucket == NULL &&
		key->by_image && key->typbyval &&
		(type == INT2OID || type == INT4OID || type == INT8OID ||
		 type == DATEOID);
}

/* See agg_words_private.h. */
void
strata_agg_set_make(StrataAggState *set, bool words)
{
	MemoryContext old;

	old = MemoryContextSwitchTo(GetMemoryChunkContext(set->keys));
	set->calls = palloc0(sizeof(AggCall));
	set->calls->kernel = &strata_agg_word_kernel;
	set->calls->size = offsetof(AggCell, v);
	set->ncalls = words ? 1 : 0;
	set->cells_size = words ? set->calls[0].size : 0;
	agg_set_argument(set)->word_bits = words ? AGG_WORD_BITS : 0;
	set->group_mcxt = AllocSetContextCreate(CurrentMemoryContext,
											"StrataAgg distinct values",
											0, ALLOCSET_DEFAULT_INITSIZE,
											AGG_GROUP_BLOCK);
	set->table = strata_agg_table_create(set, set->group_mcxt);
	MemoryContextSwitchTo(old);
}

/* See agg_words_private.h. */
void
strata_agg_set_drop(StrataAggState *set)
{
	strata_agg_table_end(set->table);
	MemoryContextDelete(set->group_mcxt);
}

/* See agg_words_private.h. */
void
strata_agg_set_take(StrataAggState *set)
{
	AggKey	   *argument = agg_set_argument(set);
	Datum		value = argument->current;
	int64		v;

	if (argument->word_bits == 0)
	{
		strata_agg_table_find(set->table);
		return;
	}
	/* a word of nulls has one of them */
	v = argument->isnull ? 0 : strata_datum_integer(value, argument->typlen);
	argument->current = Int64GetDatum(v >> AGG_WORD_BITS);
	*agg_word_of(set, strata_agg_table_find(set->table)) |=
		(uint64) 1 << (v & ((1 << AGG_WORD_BITS) - 1));
	/* a constant one is not loaded again */
	argument->current = value;
}

/* See agg_words_private.h. */
bool
strata_agg_set_take_rows(StrataAggState *set, const int *positions, int n)
{
	const AggKey *argument = agg_set_argument(set);
	MemoryContext old;
	AggGroup  **groups;

	if (!strata_enable_group_lookahead || argument->bucket != NULL ||
		(argument->word_bits != 0 && argument->constant))
		return false;
	if (n == 0)
		return true;
	old = MemoryContextSwitchTo(set->vector_mcxt);
	groups = strata_agg_look_up_rows(set, positions, n);
	for (int i = 0; i < n && argument->word_bits != 0; i++)
		*agg_word_of(set, groups[i]) |= (uint64) 1 << argument->low_bits[i];
	MemoryContextSwitchTo(old);
	return true;
}

/*-------------------------------------------------------------------------
 * Groups without aggregates
 *-------------------------------------------------------------------------
 */

struct AggWords
{
	StrataAggState set;			/* the node's own, with the keys in another
								 * order */
	int		   *key_of;			/* the node's, of each of the set's keys */
	/* reading */
	const AggGroup *group;
	uint64		left;			/* values of its word */
};

/*
 * Is all that is wanted which groups there are, in any order?  A word shows
 * the other keys of its first group, so they have to be equal to the byte.
 */
static bool
may_become_words(const StrataAggState *agg)
{
	for (int k = 0; k < agg->nkeys; k++)
		if (!agg->keys[k].by_image)
			return false;
	return strata_enable_key_codes && agg->ncalls == 0 &&
		agg->sets == NULL && agg->order == NULL &&
		agg->stop.kind == AGG_STOP_NONE &&
		(agg->plan.stage == AGG_STAGE_WHOLE ||
		 agg->plan.stage == AGG_STAGE_BELOW);
}

/* The current keys of the set become those of a group of the node's. */
static void
load_group(AggWords *words, const AggGroup *group)
{
	for (int k = 0; k < words->set.nkeys; k++)
	{
		AggKey	   *key = &words->set.keys[k];

		key->current = agg_group_keys(group)[words->key_of[k]];
		key->isnull = (group->nulls >> words->key_of[k]) & 1;
	}
}

/* Put all groups into words; false: these are too many. */
static bool
take_groups(StrataAggState *agg, AggWords *words)
{
	uint32		n = strata_agg_table_ngroups(agg->table);

	for (uint32 i = 0; i < n; i++)
	{
		load_group(words, strata_agg_table_group(agg->table, i));
		strata_agg_set_take(&words->set);
		if (strata_agg_table_ngroups(words->set.table) >
			n / AGG_MIN_VALUES_PER_WORD)
			return false;
	}
	return true;
}

/* Words of that key, empty. */
static AggWords *
make_words_of(StrataAggState *agg, int key)
{
	AggWords   *words = palloc0(sizeof(AggWords));
	StrataAggState *set = &words->set;

	*set = *agg;
	set->memo = NULL;
	set->numbers = NULL;
	set->rows_have_codes = false;
	set->keys = palloc(sizeof(AggKey) * agg->nkeys);
	words->key_of = palloc(sizeof(int) * agg->nkeys);
	for (int k = 0; k < agg->nkeys; k++)
	{
		int			from = k;

		if (k == key)
			from = agg->nkeys - 1;
		else if (k == agg->nkeys - 1)
			from = key;

		words->key_of[k] = from;
		set->keys[k] = agg->keys[from];
	}
	strata_agg_set_make(set, true);
	return words;
}

static void
free_words(AggWords *words)
{
	strata_agg_set_drop(&words->set);
	pfree(words->set.calls);
	pfree(words->set.keys);
	pfree(words->key_of);
	pfree(words);
}

/*
 * See agg_private.h.  While groups and words are both there, memory is for
 * both: words are fewer, and little larger.
 */
bool
strata_agg_words_begin(StrataAggState *agg)
{
	MemoryContext old;
	ListCell   *lc;

	if (agg->words_tried || !may_become_words(agg) ||
		!strata_agg_table_is_half_full(agg->table))
		return false;
	agg->words_tried = true;
	old = MemoryContextSwitchTo(GetMemoryChunkContext(agg->keys));
	foreach(lc, agg->plan.keys)
	{
		int			key = foreach_current_index(lc);
		AggWords   *words;

		if (!strata_agg_may_have_words(&agg->keys[key],
									   exprType(lfirst(lc))))
			continue;
		words = make_words_of(agg, key);
		if (take_groups(agg, words))
		{
			agg->words = words;
			strata_agg_table_reset(agg->table);
			Assert(strata_agg_table_ngroups(agg->table) == 0);	/* agg:G30 */
			break;
		}
		free_words(words);
	}
	MemoryContextSwitchTo(old);
	return agg->words != NULL;
}

/* See agg_private.h. */
void
strata_agg_words_add(StrataAggState *agg)
{
	StrataAggState *set = &agg->words->set;
	int			nruns;

	set->vector = agg->vector;
	nruns = strata_agg_cut_runs(set);
	agg->nruns = nruns;
	if (!strata_agg_set_take_rows(set, set->runs, nruns))
		for (int i = 0; i < nruns; i++)
		{
			strata_agg_load_run(set, i);
			strata_agg_set_take(set);
		}
	if (strata_agg_table_is_full(set->table))
		strata_agg_table_spill(set->table);
}

/* See agg_private.h. */
void
strata_agg_words_finish(StrataAggState *agg)
{
	agg->words->group = NULL;
	agg->words->left = 0;
	strata_agg_table_finish(agg->words->set.table);
}

/* See agg_private.h. */
bool
strata_agg_words_next(StrataAggState *agg, Datum *values, bool *isnull)
{
	AggWords   *words = agg->words;
	const StrataAggState *set = &words->set;
	const AggKey *argument = agg_set_argument(set);
	const Datum *keys;

	if (words->left == 0)
	{
		words->group = strata_agg_table_next(set->table);
		if (words->group == NULL)
			return false;
		words->left = *agg_word_of(set, words->group);
		Assert(words->left != 0);	/* agg:G19 */
	}
	keys = agg_group_keys(words->group);
	for (int k = 0; k < set->nkeys; k++)
	{
		values[words->key_of[k]] = keys[k];
		isnull[words->key_of[k]] = (words->group->nulls >> k) & 1;
	}
	values[words->key_of[set->nkeys - 1]] =
		agg_value_of_bit(argument, DatumGetInt64(keys[set->nkeys - 1]),
						 pg_rightmost_one_pos64(words->left));
	words->left &= words->left - 1;
	return true;
}

/* See agg_private.h. */
void
strata_agg_words_end(StrataAggState *agg)
{
	if (agg->words != NULL)
		free_words(agg->words);
	agg->words = NULL;
	agg->words_tried = false;
}

/* See agg_private.h. */
Size
strata_agg_words_memory(const StrataAggState *agg)
{
	return agg->words == NULL ? 0 :
		strata_agg_table_memory(agg->words->set.table);
}

int
strata_agg_words_spills(const StrataAggState *agg)
{
	return agg->words == NULL ? 0 :
		strata_agg_table_spills(agg->words->set.table);
}
