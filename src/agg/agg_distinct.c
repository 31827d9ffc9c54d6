/*-------------------------------------------------------------------------
 *
 * agg_distinct.c
 *	  Aggregates with DISTINCT: the values of their argument, each once in each
 *	  group.
 *
 * A set is an aggregation of the same vectors by the keys of the query and the
 * argument, without aggregates: it is cut into runs, put into a table and
 * spilled as any other (agg_key.c, agg_hash.c).  So a column that is constant
 * in a batch, or a bucket of time, is one look-up a batch; entries of a
 * dictionary are looked up once a batch where there is one group.  After the
 * last row each value of a set goes through the kernels of its aggregates
 * once.
 *
 * Integers often lie close to each other, and are kept in words (agg_words.c).
 * A set that turns out to have few of each is changed to one of single values.
 *
 * src/agg/agg_distinct.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_join_private.h"
#include "agg/agg_words_private.h"

#include "catalog/pg_type_d.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "port/pg_bitutils.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* Values after which memory of functions that compared them is given back. */
#define VALUES_PER_RESET 1024
/* So many words tell whether there are this many values in each. */
#define WORDS_TO_JUDGE 16384

struct AggDistinct
{
	const Aggref *aggref;		/* the first with this argument and FILTER */
	int			call;			/* its number */
	AggKey		argument;		/* until begin() */

	/*
	 * the node's own state, but for keys, calls and table: what looks at
	 * vectors finds there what it looks for
	 */
	StrataAggState set;
	bool		judged;			/* words stay, or are none */

	/* where there is one group: entries whose numbers are in the set */
	uint64		numbering;
	uint8	   *taken;			/* by number; NULL: none yet */
};

/* See agg_kernel_private.h.  Lives with the node: in the current context. */
AggDistinct *
strata_agg_distinct_add(StrataAggState *agg, const Aggref *aggref)
{
	AggDistinct *distinct;
	Expr	   *arg = linitial_node(TargetEntry, aggref->args)->expr;
	Oid			eqop = linitial_node(SortGroupClause,
									 aggref->aggdistinct)->eqop;
	ListCell   *lc;

	foreach(lc, agg->distincts)
	{
		distinct = lfirst(lc);
		if (equal(distinct->aggref->args, aggref->args) &&
			equal(distinct->aggref->aggdistinct, aggref->aggdistinct) &&
			equal(distinct->aggref->aggfilter, aggref->aggfilter))
			return distinct;
	}
	distinct = palloc0(sizeof(AggDistinct));
	distinct->aggref = aggref;
	distinct->call = agg->ncalls;
	if (strata_agg_is_equal_by_image(exprType((Node *) arg),
									 exprCollation((Node *) arg), eqop))
		eqop = InvalidOid;
	strata_agg_key_init(agg, &distinct->argument, arg, eqop);
	agg->distincts = lappend(agg->distincts, distinct);
	return distinct;
}

/* See agg_kernel_private.h. */
int
strata_agg_distinct_value(const AggDistinct *distinct)
{
	return distinct->argument.value;
}

/* See agg_kernel_private.h. */
void
strata_agg_distinct_begin(StrataAggState *agg)
{
	ListCell   *lc;

	foreach(lc, agg->distincts)
	{
		AggDistinct *distinct = lfirst(lc);
		StrataAggState *set = &distinct->set;
		Expr	   *arg;

		Assert(agg->plan.stage == AGG_STAGE_WHOLE ||
			   agg->plan.stage == AGG_STAGE_JOINED);	/* agg:G19 */
		*set = *agg;
		set->distincts = NIL;
		set->cells = NULL;
		set->order = NULL;
		set->nkeys = agg->nkeys + 1;
		set->keys = palloc(sizeof(AggKey) * set->nkeys);
		memcpy(set->keys, agg->keys, sizeof(AggKey) * agg->nkeys);
		set->keys[agg->nkeys] = distinct->argument;
		arg = linitial_node(TargetEntry, distinct->aggref->args)->expr;
		strata_agg_set_make(set, agg->sets == NULL &&
							strata_agg_may_have_words(&distinct->argument,
													  exprType((Node *) arg)));
		if (set->stop.kind == AGG_STOP_NONE && strata_agg_may_remember(set))
			set->memo = strata_agg_memo_create(set);
	}
}

/* Before values leave the set's table. */
static void
forget_values(AggDistinct *distinct)
{
	strata_agg_memo_forget(distinct->set.memo);
	if (distinct->taken != NULL)
		memset(distinct->taken, 0, STRATA_MAX_STRINGS);
}

/*-------------------------------------------------------------------------
 * Words
 *-------------------------------------------------------------------------
 */

/*
 * Once there are many words, or memory is full: have a set of single values if
 * there are too few in a word.
 */
static void
judge_words(AggDistinct *distinct)
{
	StrataAggState *set = &distinct->set;
	AggKey	   *argument = &set->keys[set->nkeys - 1];
	AggTable   *words = set->table;
	MemoryContext mcxt = set->group_mcxt;
	uint32		n = strata_agg_table_ngroups(words);
	uint64		nvalues = 0;

	if (distinct->judged || argument->word_bits == 0 ||
		(n < WORDS_TO_JUDGE && !strata_agg_table_is_full(words)))
		return;
	distinct->judged = true;
	for (uint32 i = 0; i < n; i++)
		nvalues += pg_popcount64(*agg_word_of(set,
											  strata_agg_table_group(words, i)));
	if (nvalues / AGG_MIN_VALUES_PER_WORD >= n)
		return;
	strata_agg_set_make(set, false);
	for (uint32 i = 0; i < n; i++)
	{
		const AggGroup *group = strata_agg_table_group(words, i);
		const Datum *keys = agg_group_keys(group);
		int64		key = DatumGetInt64(keys[set->nkeys - 1]);
		uint64		word = *agg_word_of(set, group);

		for (int k = 0; k < set->nkeys; k++)
		{
			set->keys[k].current = keys[k];
			set->keys[k].isnull = (group->nulls >> k) & 1;
		}
		for (; word != 0; word &= word - 1)
		{
			argument->current =
				agg_value_of_bit(argument, key, pg_rightmost_one_pos64(word));
			strata_agg_table_find(set->table);
		}
	}
	strata_agg_table_end(words);
	MemoryContextDelete(mcxt);
}

/* After values were taken in; what is written was judged. */
static void
spill_full_set(AggDistinct *distinct)
{
	judge_words(distinct);
	if (!strata_agg_table_is_full(distinct->set.table))
		return;
	forget_values(distinct);
	strata_agg_table_spill(distinct->set.table);
}

/*-------------------------------------------------------------------------
 * Taking rows in
 *-------------------------------------------------------------------------
 */

/*
 * The argument's column, if the vector's rows are of one group and it is a
 * dictionary and codes; or NULL.
 */
static const StrataColumn *
codes_of_one_group(StrataAggState *agg, StrataAggState *set)
{
	const AggKey *argument = &set->keys[agg->nkeys];
	const StrataColumn *col;

	for (int k = 0; k < agg->nkeys; k++)
		if (!agg->keys[k].constant)
			return NULL;
	if (argument->bucket != NULL)
		return NULL;
	col = strata_agg_value_column(set, argument->value);
	return !col->constant && col->codes != NULL && col->ndict > 0 &&
		col->ndict <= agg->vector->nselected ? col : NULL;
}

/*
 * Which entries need no look-up any more, and their numbers; NULL: nobody
 * knows.
 */
static uint8 *
taken_entries(StrataAggState *agg, AggDistinct *distinct,
			  const StrataColumn *col, const uint16 **numbers)
{
	uint64		numbering;

	*numbers = agg->nkeys > 0 ? NULL : strata_column_numbers(col, &numbering);
	if (*numbers == NULL)
		return NULL;
	if (distinct->taken == NULL)
		distinct->taken =
			MemoryContextAllocZero(agg->css.ss.ps.state->es_query_cxt,
								   STRATA_MAX_STRINGS);
	else if (distinct->numbering != numbering)
		memset(distinct->taken, 0, STRATA_MAX_STRINGS);
	distinct->numbering = numbering;
	return distinct->taken;
}

/* Look up the entries of the dictionary that rows have. */
static void
take_codes(StrataAggState *agg, AggDistinct *distinct,
		   const StrataColumn *col, const uint8 *valid)
{
	StrataAggState *set = &distinct->set;
	AggVector  *vector = agg->vector;
	const uint16 *numbers;
	uint8	   *taken = taken_entries(agg, distinct, col, &numbers);
	AggKey	   *argument = &set->keys[agg->nkeys];
	uint8	   *seen = MemoryContextAllocZero(agg->vector_mcxt, col->ndict);

	for (int i = 0; i < vector->nselected; i++)
	{
		int			row = agg_vector_row(vector, i);

		if ((valid == NULL || valid[i]) &&
			(col->isnull == NULL || !col->isnull[row]))
			seen[col->codes[row]] = 1;
	}
	for (int k = 0; k < agg->nkeys; k++)
	{
		set->keys[k].current = agg->keys[k].current;
		set->keys[k].isnull = agg->keys[k].isnull;
	}
	argument->isnull = false;
	for (int code = 0; code < col->ndict; code++)
	{
		if (!seen[code])
			continue;
		if (taken != NULL && numbers[code] != STRATA_NO_STRING)
		{
			if (taken[numbers[code]])
				continue;
			taken[numbers[code]] = 1;
		}
		argument->current = col->dict[code];
		strata_agg_set_take(set);
	}
}

/*
 * The first rows of runs in which FILTER leaves a row and the argument, which
 * is a column, is not null; returns how many.  Aggregates that are admitted
 * leave NULL out.
 */
static int
positions_of_values(StrataAggState *set, int nruns, const uint8 *valid,
					int *positions)
{
	const AggKey *argument = &set->keys[set->nkeys - 1];
	const bool *isnull = argument->constant ? NULL : argument->column->isnull;
	int			n = 0;

	if (argument->constant && argument->isnull)
		return 0;
	for (int i = 0; i < nruns; i++)
	{
		int			from = set->runs[i];

		if (valid != NULL &&
			memchr(valid + from, 1, set->runs[i + 1] - from) == NULL)
			continue;
		if (isnull == NULL || !isnull[agg_vector_row(set->vector, from)])
			positions[n++] = from;
	}
	return n;
}

/* Look up each run of one group and value in which FILTER leaves a row. */
static void
take_values(StrataAggState *set, const uint8 *valid)
{
	const AggKey *argument = &set->keys[set->nkeys - 1];
	int			nruns = strata_agg_cut_runs(set);

	MemoryContext old = MemoryContextSwitchTo(set->vector_mcxt);
	int		   *positions = palloc(sizeof(int) * nruns);
	int			n = argument->bucket != NULL ? 0 :
	positions_of_values(set, nruns, valid, positions);

	MemoryContextSwitchTo(old);
	if (strata_agg_set_take_rows(set, positions, n))
		return;
	for (int i = 0; i < nruns; i++)
	{
		int			from = set->runs[i];

		if (valid != NULL &&
			memchr(valid + from, 1, set->runs[i + 1] - from) == NULL)
			continue;
		strata_agg_load_run(set, i);
		/* as above */
		if (!argument->isnull)
			strata_agg_set_take(set);
	}
}

/*
 * Look up rows of a row store, none of which is null or filtered out, by what
 * is remembered of those before (agg_memo.c); false: cannot.
 */
static bool
take_remembered(StrataAggState *set, const uint8 *valid)
{
	const AggKey *argument = &set->keys[set->nkeys - 1];

	if (set->memo == NULL || valid != NULL || set->vector->batch != NULL ||
		argument->word_bits != 0)
		return false;
	if (argument->bucket != NULL ||
		strata_agg_value_column(set, argument->value)->isnull != NULL)
		return false;
	return strata_agg_memo_cells(set) != NULL;
}

/* See agg_kernel_private.h. */
void
strata_agg_distinct_take(StrataAggState *agg)
{
	ListCell   *lc;

	foreach(lc, agg->distincts)
	{
		AggDistinct *distinct = lfirst(lc);
		StrataAggState *set = &distinct->set;
		AggCall    *call = &agg->calls[distinct->call];
		const StrataColumn *col;
		const uint8 *valid = NULL;

		CHECK_FOR_INTERRUPTS();
		set->vector = agg->vector;
		if (call->filter != NULL)
			valid = strata_agg_filter(agg, call);
		col = codes_of_one_group(agg, set);
		if (col != NULL)
			take_codes(agg, distinct, col, valid);
		else if (!take_remembered(set, valid))
			take_values(set, valid);
		spill_full_set(distinct);
	}
}

/* See agg_private.h. */
void
strata_agg_distinct_take_joined(StrataAggState *agg, ExprContext *econtext)
{
	ListCell   *lc;

	foreach(lc, agg->distincts)
	{
		AggDistinct *distinct = lfirst(lc);
		StrataAggState *set = &distinct->set;
		AggKey	   *argument = &set->keys[agg->nkeys];

		strata_agg_load_joined_key(argument, econtext);
		if (argument->isnull)
			continue;
		for (int k = 0; k < agg->nkeys; k++)
		{
			set->keys[k].current = agg->keys[k].current;
			set->keys[k].isnull = agg->keys[k].isnull;
		}
		strata_agg_set_take(set);
		spill_full_set(distinct);
	}
}

/*-------------------------------------------------------------------------
 * From sets to cells
 *-------------------------------------------------------------------------
 */

/* Take one value into a cell, or so many that only their number counts of. */
static void
add_value(const AggCall *call, AggCell *cell, Datum value, int n)
{
	AggRun		run = {NULL, NULL, n};
	int8		i1;
	int16		i2;
	int32		i4;
	int64		i8;

	switch (call->kernel->kind)
	{
		case AGG_VALUE_NONE:
			break;
		case AGG_VALUE_INT8:
			i1 = DatumGetChar(value);
			run.v = &i1;
			break;
		case AGG_VALUE_INT16:
			i2 = DatumGetInt16(value);
			run.v = &i2;
			break;
		case AGG_VALUE_INT32:
			i4 = DatumGetInt32(value);
			run.v = &i4;
			break;
		case AGG_VALUE_INT64:
			i8 = DatumGetInt64(value);
			run.v = &i8;
			break;
		case AGG_VALUE_DATUM:
			run.v = &value;
			break;
		default:
			elog(ERROR, "aggregate %u takes no distinct values",
				 call->aggref->aggfnoid);
	}
	if (call->generic != NULL)
		strata_agg_generic_run(call->generic, cell, &run);
	else
		call->kernel->run(cell, &run);
}

/* Take the values of a word in. */
static void
add_word(const AggCall *call, AggCell *cell, const AggKey *argument,
		 int64 key, uint64 word)
{
	if (call->kernel->kind == AGG_VALUE_NONE)
	{
		add_value(call, cell, (Datum) 0, pg_popcount64(word));
		return;
	}
	for (; word != 0; word &= word - 1)
	{
		int			bit = pg_rightmost_one_pos64(word);

		add_value(call, cell, agg_value_of_bit(argument, key, bit), 1);
	}
}

/* The cells of the group that a value of the set belongs to. */
static AggCell *
cells_of_value(StrataAggState *agg, const AggGroup *value)
{
	if (agg->nkeys == 0)
		return agg->cells;
	for (int k = 0; k < agg->nkeys; k++)
	{
		agg->keys[k].current = agg_group_keys(value)[k];
		agg->keys[k].isnull = (value->nulls >> k) & 1;
	}
	agg->set = agg->sets != NULL ? agg_group_set(value) : 0;
	return agg_group_cells(strata_agg_table_find(agg->table), agg->nkeys);
}

/* Give each value of the set to the cells of its group, and empty it. */
static void
finish_set(StrataAggState *agg, AggDistinct *distinct)
{
	StrataAggState *set = &distinct->set;
	AggTable   *values = set->table;
	const AggKey *argument = &set->keys[agg->nkeys];
	const AggGroup *value;
	int64		n = 0;

	strata_agg_table_finish(values);
	while ((value = strata_agg_table_next(values)) != NULL)
	{
		AggCell    *cells;

		if (n++ % VALUES_PER_RESET == 0)
		{
			CHECK_FOR_INTERRUPTS();
			MemoryContextReset(agg->vector_mcxt);
		}
		cells = cells_of_value(agg, value);
		for (int i = 0; i < agg->ncalls; i++)
		{
			Datum		v = agg_group_keys(value)[agg->nkeys];

			if (agg->calls[i].distinct != distinct)
				continue;
			if (argument->word_bits != 0)
				add_word(&agg->calls[i], agg_cell(cells, &agg->calls[i]),
						 argument, DatumGetInt64(v), *agg_word_of(set, value));
			else
				add_value(&agg->calls[i], agg_cell(cells, &agg->calls[i]), v,
						  1);
		}
		agg->set = 0;
		if (agg->table != NULL && strata_agg_table_is_full(agg->table))
			strata_agg_table_spill(agg->table);
	}
	forget_values(distinct);
	strata_agg_table_reset(values);
}

/* See agg_kernel_private.h. */
void
strata_agg_distinct_finish(StrataAggState *agg)
{
	ListCell   *lc;

	foreach(lc, agg->distincts)
		finish_set(agg, lfirst(lc));
}

/* See agg_kernel_private.h. */
void
strata_agg_distinct_reset(StrataAggState *agg)
{
	ListCell   *lc;

	foreach(lc, agg->distincts)
	{
		AggDistinct *distinct = lfirst(lc);

		forget_values(distinct);
		strata_agg_table_reset(distinct->set.table);
	}
}

/* See agg_kernel_private.h. */
void
strata_agg_distinct_end(StrataAggState *agg)
{
	ListCell   *lc;

	foreach(lc, agg->distincts)
	{
		AggDistinct *distinct = lfirst(lc);

		strata_agg_table_end(distinct->set.table);
		distinct->set.table = NULL;
	}
}

/* See agg_kernel_private.h. */
Size
strata_agg_distinct_memory(const StrataAggState *agg)
{
	Size		memory = 0;
	ListCell   *lc;

	foreach(lc, agg->distincts)
		memory += strata_agg_table_memory(((AggDistinct *) lfirst(lc))->set
										  .table);
	return memory;
}

/* See agg_kernel_private.h. */
int
strata_agg_distinct_spills(const StrataAggState *agg)
{
	int			spills = 0;
	ListCell   *lc;

	foreach(lc, agg->distincts)
		spills += strata_agg_table_spills(((AggDistinct *) lfirst(lc))->set
										  .table);
	return spills;
}
