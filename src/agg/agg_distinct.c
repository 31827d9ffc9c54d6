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
 * src/agg/agg_distinct.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_private.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"

/* Values after which memory of functions that compared them is given back. */
#define VALUES_PER_RESET 1024

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

		Assert(agg->plan.stage == AGG_STAGE_WHOLE ||
			   agg->plan.stage == AGG_STAGE_JOINED);	/* agg:G19 */
		*set = *agg;
		set->distincts = NIL;
		set->ncalls = 0;
		set->calls = NULL;
		set->cells = NULL;
		set->order = NULL;
		set->nkeys = agg->nkeys + 1;
		set->keys = palloc(sizeof(AggKey) * set->nkeys);
		memcpy(set->keys, agg->keys, sizeof(AggKey) * agg->nkeys);
		set->keys[agg->nkeys] = distinct->argument;
		set->group_mcxt = AllocSetContextCreate(CurrentMemoryContext,
												"StrataAgg distinct values",
												0, ALLOCSET_DEFAULT_INITSIZE,
												256 * 1024);
		set->table = strata_agg_table_create(set, set->group_mcxt);
	}
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

/* Look up the entries of the dictionary that rows have. */
static void
take_codes(StrataAggState *agg, StrataAggState *set, const StrataColumn *col,
		   const uint8 *valid)
{
	AggVector  *vector = agg->vector;
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
		argument->current = col->dict[code];
		strata_agg_table_find(set->table);
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

	if (strata_enable_group_lookahead && argument->bucket == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(set->vector_mcxt);
		int		   *positions = palloc(sizeof(int) * nruns);
		int			n = positions_of_values(set, nruns, valid, positions);

		if (n > 0)
			(void) strata_agg_look_up_rows(set, positions, n);
		MemoryContextSwitchTo(old);
		return;
	}
	for (int i = 0; i < nruns; i++)
	{
		int			from = set->runs[i];

		if (valid != NULL &&
			memchr(valid + from, 1, set->runs[i + 1] - from) == NULL)
			continue;
		strata_agg_load_run(set, i);
		/* as above */
		if (!argument->isnull)
			strata_agg_table_find(set->table);
	}
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
			take_codes(agg, set, col, valid);
		else
			take_values(set, valid);
		if (strata_agg_table_is_full(set->table))
			strata_agg_table_spill(set->table);
	}
}

/* See agg_private.h. */
void
strata_agg_distinct_take_joined(StrataAggState *agg, ExprContext *econtext)
{
	ListCell   *lc;

	foreach(lc, agg->distincts)
	{
		StrataAggState *set = &((AggDistinct *) lfirst(lc))->set;
		AggKey	   *argument = &set->keys[agg->nkeys];

		strata_agg_load_joined_key(argument, econtext);
		if (argument->isnull)
			continue;
		for (int k = 0; k < agg->nkeys; k++)
		{
			set->keys[k].current = agg->keys[k].current;
			set->keys[k].isnull = agg->keys[k].isnull;
		}
		strata_agg_table_find(set->table);
		if (strata_agg_table_is_full(set->table))
			strata_agg_table_spill(set->table);
	}
}

/*-------------------------------------------------------------------------
 * From sets to cells
 *-------------------------------------------------------------------------
 */

/* Take one value into a cell. */
static void
add_value(const AggCall *call, AggCell *cell, Datum value)
{
	AggRun		run = {NULL, NULL, 1};
	int16		i2;
	int32		i4;
	int64		i8;

	switch (call->kernel->kind)
	{
		case AGG_VALUE_NONE:
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
	AggTable   *values = distinct->set.table;
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
			if (agg->calls[i].distinct == distinct)
				add_value(&agg->calls[i], &cells[i],
						  agg_group_keys(value)[agg->nkeys]);
		agg->set = 0;
		if (agg->table != NULL && strata_agg_table_is_full(agg->table))
			strata_agg_table_spill(agg->table);
	}
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
		strata_agg_table_reset(((AggDistinct *) lfirst(lc))->set.table);
}

/* See agg_kernel_private.h. */
void
strata_agg_distinct_end(StrataAggState *agg)
{
	ListCell   *lc;

	foreach(lc, agg->distincts)
		strata_agg_table_end(((AggDistinct *) lfirst(lc))->set.table);
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
