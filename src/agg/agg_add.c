/*-------------------------------------------------------------------------
 *
 * agg_add.c
 *	  A vector's rows, into the cells of their groups.
 *
 * Runs of many rows go through the kernels one after the other.  Where runs
 * are short, the groups of all of them are found first (agg_lookup.c), and
 * then each aggregate takes all rows in, each into the cell of its group.
 *
 * src/agg/agg_add.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_hold_private.h"
#include "agg/agg_number_private.h"
#include "agg/agg_numeric_private.h"
#include "agg/agg_words_private.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

/* Runs of more rows, on average, go through the kernels one by one. */
#define SHORT_RUN 8

static const int kind_width[] = {
	[AGG_VALUE_NONE] = 0,
	[AGG_VALUE_INT8] = sizeof(int8),
	[AGG_VALUE_INT16] = sizeof(int16),
	[AGG_VALUE_INT32] = sizeof(int32),
	[AGG_VALUE_INT64] = sizeof(int64),
	[AGG_VALUE_FLOAT4] = sizeof(float4),
	[AGG_VALUE_FLOAT8] = sizeof(float8),
	[AGG_VALUE_DATUM] = sizeof(Datum)
};

/* valid[j]: is selected row j not null, and does it pass? */
static void
valid_values(const AggVector *vector, const uint8 *isnull,
			 const uint8 *pass, uint8 *pg_restrict valid)
{
	int			n = vector->nselected;

	if (vector->rows == NULL)
		for (int j = 0; j < n; j++)
			valid[j] = isnull[vector->first + j] ^ 1;
	else
		for (int j = 0; j < n; j++)
			valid[j] = isnull[vector->rows[j]] ^ 1;
	for (int j = 0; pass != NULL && j < n; j++)
		valid[j] &= pass[j];
}

/*
 * One byte for each selected row: neither null nor filtered out; NULL: all
 * are.
 */
static const uint8 *
valid_rows(StrataAggState *agg, int i, const StrataColumn *col)
{
	AggCall    *call = &agg->calls[i];
	AggVector  *vector = agg->vector;
	int			n = vector->nselected;
	const uint8 *pass = NULL;
	uint8	   *valid;

	if (call->filter != NULL)
		pass = strata_agg_filter(agg, call);
	if (col == NULL ||
		(col->constant ? !col->value_isnull : col->isnull == NULL))
		return pass;
	valid = palloc0(n);
	if (!col->constant)
		valid_values(vector, (const uint8 *) col->isnull, pass, valid);
	/* as where a condition has left out the nulls */
	return memchr(valid, 0, n) != NULL ? valid : NULL;
}

/* Of the selected rows. */
static const uint8 *
selected_displays(const AggVector *vector, const uint8 *displays)
{
	uint8	   *out;

	if (vector->rows == NULL)
		return displays + vector->first;
	out = palloc(vector->nselected);
	for (int i = 0; i < vector->nselected; i++)
		out[i] = displays[vector->rows[i]];
	return out;
}

/* Load the second argument; a row counts where neither is null. */
static void
prepare_second(StrataAggState *agg, AggCall *call)
{
	AggVector  *vector = agg->vector;
	const StrataColumn *col = strata_agg_value_column(agg, call->by);
	uint8	   *valid;

	call->v2 = strata_agg_selected_datums(vector, col);
	if (col->constant ? !col->value_isnull : col->isnull == NULL)
		return;
	valid = palloc(vector->nselected);
	for (int j = 0; j < vector->nselected; j++)
		valid[j] = (call->valid == NULL || call->valid[j]) &&
			!col->constant && !col->isnull[agg_vector_row(vector, j)];
	call->valid = valid;
}

/*
 * Bring the values of an aggregate's argument into the form its kernel takes.
 */
static void
prepare_call(StrataAggState *agg, int i)
{
	AggCall    *call = &agg->calls[i];
	AggValueKind kind = call->kernel->kind;
	MemoryContext old = MemoryContextSwitchTo(agg->vector_mcxt);
	const StrataColumn *col = NULL;

	call->ready = true;
	call->width = kind_width[kind];
	call->v = NULL;
	call->v2 = NULL;
	call->integers = call->scaled = false;
	/* a value that is picked may be null, and may not be needed */
	if (call->value >= 0 && call->kernel->result != AGG_RESULT_PICK)
	{
		col = strata_agg_value_integers(agg, call->value);
		call->integers = col != NULL;
		if (col == NULL && kind == AGG_VALUE_NONE)
			col = strata_agg_value_nulls(agg, call->value);
		if (call->generic != NULL &&
			strata_agg_generic_takes_scaled(call->generic))
		{
			col = strata_agg_value_scaled(agg, call->value);
			call->scaled = col != NULL;
			if (call->scaled)
				call->displays =
					selected_displays(agg->vector,
									  agg->values[call->value].displays);
		}
		if (col == NULL)
			col = strata_agg_value_column(agg, call->value);
	}
	Assert(!call->integers ||
		   (call->filter == NULL &&
			strata_agg_takes_integers(call->kernel)));	/* agg:G16 */
	Assert(!call->scaled || call->generic != NULL); /* agg:G18 */
	call->valid = valid_rows(agg, i, col);
	if (call->scaled)
		call->v = strata_agg_selected_values(agg->vector, col);
	else if (kind == AGG_VALUE_DATUM)
		call->v = strata_agg_selected_datums(agg->vector, col);
	else if (kind != AGG_VALUE_NONE)
	{
		if (call->integers)
			call->width = col->type.width;
		else if (col->type.width != call->width)
			elog(ERROR, "aggregate %u takes values of %d bytes, not %d",
				 call->aggref->aggfnoid, call->width, col->type.width);
		call->v = strata_agg_selected_values(agg->vector, col);
	}
	if (call->generic != NULL && call->by >= 0)
		prepare_second(agg, call);
	MemoryContextSwitchTo(old);
}

/* Integers of a batch as the kernel's floats. */
static const void *
integers_as_floats(StrataAggState *agg, const AggCall *call, const void *from,
				   int n)
{
	bool		is_float4 = call->kernel->kind == AGG_VALUE_FLOAT4;
	void	   *v = MemoryContextAlloc(agg->vector_mcxt,
									   (Size) n *
									   kind_width[call->kernel->kind]);

	Assert(call->width == sizeof(int16) ||
		   call->width == sizeof(int32));	/* agg:G16 */
	for (int i = 0; i < n; i++)
	{
		int32		x;

		x = call->width == sizeof(int16) ? ((const int16 *) from)[i] :
			((const int32 *) from)[i];
		if (is_float4)
			((float4 *) v)[i] = (float4) x;
		else
			((float8 *) v)[i] = (float8) x;
	}
	return v;
}

/* The selected rows [from, to) of a prepared aggregate, to one cell. */
static void
add_values(StrataAggState *agg, AggCall *call, AggCell *cell, int from, int to)
{
	AggRun		run = {
		.v = call->v + (Size) from * call->width,
		.valid = call->valid != NULL ? call->valid + from : NULL,
		.n = to - from,
		.v2 = call->v2 != NULL ? call->v2 + from : NULL
	};

	if (call->scaled)
		strata_agg_generic_run_scaled(call->generic, cell, &run,
									  agg->values[call->value].scale,
									  call->displays + from);
	else if (call->generic != NULL)
		strata_agg_generic_run(call->generic, cell, &run);
	else if (call->kernel->result == AGG_RESULT_BEST)
		strata_agg_best_run(agg->best, cell, from, to);
	else if (call->kernel->result == AGG_RESULT_PICK)
		strata_agg_pick_run(agg, call, cell, call->valid, from, to);
	else if (!call->integers || call->kernel->kind == AGG_VALUE_NONE)
		call->kernel->run(cell, &run);
	else if (!strata_agg_run_integers(call->kernel, cell, &run, call->width))
	{
		/* the sum is not known to be exact */
		run.v = integers_as_floats(agg, call, run.v, run.n);
		call->kernel->run(cell, &run);
	}
}

/*
 * Add the selected rows [from, to) to the cells of their group.  Returns
 * whether that needed no values.
 */
static bool
add_run(StrataAggState *agg, AggCell *cells, int from, int to)
{
	bool		whole = agg->vector->whole && from == 0 &&
	to == agg->vector->nselected;
	bool		summarized = whole;

	Assert(from >= 0 && from < to &&
		   to <= agg->vector->nselected);	/* agg:G1 */
	for (int i = 0; i < agg->ncalls; i++)
	{
		AggCall    *call = &agg->calls[i];
		AggCell    *cell = agg_cell(cells, call);

		/* the set of its values takes the rows in */
		if (call->distinct != NULL)
		{
			summarized = false;
			continue;
		}
		if (call->hold != NULL)
		{
			summarized = false;
			if (call->holder == i)
				strata_agg_hold_run(call->hold, call, cell, from, to);
			continue;
		}
		if (whole && call->filter == NULL &&
			strata_agg_summarize(agg, call, cell))
			continue;
		summarized = false;
		if (!call->ready)
			prepare_call(agg, i);
		add_values(agg, call, cell, from, to);
	}
	return summarized;
}

/* The cells of the group of run number i (in order). */
static AggCell *
cells_of_run(StrataAggState *agg, AggCodes *codes, int i)
{
	AggGroup  **found = codes != NULL ? &codes->groups[codes->codes[i]] :
	NULL;
	AggGroup   *group;

	if (found != NULL && *found != NULL && agg->stop.kind != AGG_STOP_TOP)
		return agg_group_cells(*found, agg->nkeys);
	strata_agg_load_run(agg, i);
	if (agg->stop.kind == AGG_STOP_TOP)
		strata_agg_stop_see(agg);
	group = strata_agg_table_find(agg->table);
	if (found != NULL)
		*found = group;
	return agg_group_cells(group, agg->nkeys);
}

/* Take in those rows of a row store that are better than what is there. */
static void
add_best_rows(StrataAggState *agg, AggCell **cells)
{
	uint16		wanted[STRATA_AGG_CHUNK_ROWS];
	int			n;

	Assert(agg->vector->nselected <= STRATA_AGG_CHUNK_ROWS);	/* agg:G24 */
	n = strata_agg_stop_wanted_rows(agg, cells, wanted);
	for (int i = 0; i < n; i++)
	{
		int			row = wanted[i];

		if (strata_agg_stop_wants_run(agg, cells[row], row, row + 1))
			(void) add_run(agg, cells[row], row, row + 1);
	}
}

/* Take in the rows of a row store, each as it stands there; false: cannot. */
static bool
add_rows(StrataAggState *agg)
{
	AggCell   **cells = strata_agg_memo_cells(agg);

	if (cells == NULL)
		return false;
	agg->nruns = 0;
	agg->counters.singles += agg->vector->nselected;
	if (agg->best != NULL)
	{
		for (int i = 0; i < agg->vector->nselected; i++)
			strata_agg_best_run(agg->best, cells[i], i, i + 1);
		return true;
	}
	if (agg->stop.kind == AGG_STOP_PICK)
	{
		add_best_rows(agg, cells);
		return true;
	}
	for (int i = 0; i < agg->ncalls; i++)
	{
		AggCall    *call = &agg->calls[i];
		AggRun		run = {.n = agg->vector->nselected};

		prepare_call(agg, i);
		Assert(!call->integers && !call->scaled);	/* agg:G24 */
		run.v = call->v;
		run.valid = call->valid;
		call->kernel->rows(cells, call->at, &run);
	}
	return true;
}

/* The cell of each selected row, of runs whose groups are known. */
static AggCell **
cells_of_rows(StrataAggState *agg, AggGroup *const *groups)
{
	AggCell   **cells = MemoryContextAlloc(agg->vector_mcxt,
										   sizeof(AggCell *) *
										   agg->vector->nselected);

	for (int i = 0; i < agg->nruns; i++)
	{
		AggCell    *cell = agg_group_cells(groups[i], agg->nkeys);

		for (int j = agg->runs[i]; j < agg->runs[i + 1]; j++)
			cells[j] = cell;
	}
	return cells;
}

/* All selected rows of an aggregate, each to a cell of its own. */
static void
add_singly(StrataAggState *agg, AggCall *call, AggCell *const *cells)
{
	AggRun		run = {
		.v = call->v,
		.valid = call->valid,
		.n = agg->vector->nselected
	};

	if (call->scaled)
	{
		strata_agg_generic_rows_scaled(call->generic, cells, call->at, &run,
									   agg->values[call->value].scale,
									   call->displays);
		return;
	}
	if (call->integers && call->kernel->kind != AGG_VALUE_NONE)
		run.v = integers_as_floats(agg, call, run.v, run.n);
	call->kernel->rows(cells, call->at, &run);
}

/*
 * Take in the rows of a batch, each to a group that is known by the number of
 * a key's string; false: cannot.
 */
static bool
add_numbered(StrataAggState *agg)
{
	AggCell   **cells = strata_agg_number_cells(agg);

	if (cells == NULL)
		return false;
	agg->nruns = 0;
	agg->counters.singles += agg->vector->nselected;
	for (int i = 0; i < agg->ncalls; i++)
	{
		AggCall    *call = &agg->calls[i];

		Assert(call->hold == NULL && call->distinct == NULL);	/* agg:G31 */
		prepare_call(agg, i);
		if (call->scaled || call->kernel->rows != NULL)
		{
			add_singly(agg, call, cells);
			continue;
		}
		for (int r = 0; r < agg->vector->nselected; r++)
			add_values(agg, call, agg_cell(cells[r], call), r, r + 1);
	}
	return true;
}

/*
 * Take in the selected rows of short runs, whose groups are known: one
 * aggregate after the other.
 */
static void
add_short_runs(StrataAggState *agg, AggGroup *const *groups)
{
	AggCell   **cells = cells_of_rows(agg, groups);

	for (int i = 0; i < agg->ncalls; i++)
	{
		AggCall    *call = &agg->calls[i];

		if (call->distinct != NULL ||
			(call->hold != NULL && call->holder != i))
			continue;
		if (call->hold == NULL)
			prepare_call(agg, i);
		if (call->hold == NULL &&
			(call->scaled || call->kernel->rows != NULL))
		{
			add_singly(agg, call, cells);
			continue;
		}
		for (int r = 0; r < agg->nruns; r++)
		{
			int			from = agg->runs[r];
			int			to = agg->runs[r + 1];

			if (call->hold != NULL)
				strata_agg_hold_run(call->hold, call,
									agg_cell(cells[from], call), from, to);
			else
				add_values(agg, call, agg_cell(cells[from], call), from, to);
		}
	}
}

/*
 * Take the vector in by runs of rows of one group; returns whether the last of
 * them needed no values.
 */
static bool
add_runs(StrataAggState *agg)
{
	AggCodes   *codes = NULL;
	AggGroup  **groups;
	bool		summarized = false;

	agg->nruns = strata_agg_scatter(agg);
	if (agg->nruns == 0)
	{
		agg->nruns = strata_agg_cut_runs(agg);
		codes = strata_agg_codes_create(agg);
		agg->rows_have_codes = false;
		if (codes != NULL)
			strata_agg_scatter_codes(agg, codes);
	}
	groups = strata_agg_groups_of_runs(agg, codes);
	if (groups != NULL && agg->nruns > agg->vector->nselected / SHORT_RUN)
	{
		add_short_runs(agg, groups);
		return false;
	}
	for (int i = 0; i < agg->nruns; i++)
	{
		AggCell    *cells;

		cells = groups != NULL ? agg_group_cells(groups[i], agg->nkeys) :
			cells_of_run(agg, codes, i);
		if (agg->stop.kind == AGG_STOP_PICK && agg->best == NULL &&
			agg->vector->batch == NULL &&
			!strata_agg_stop_wants_run(agg, cells, agg->runs[i],
									   agg->runs[i + 1]))
			continue;
		summarized = add_run(agg, cells, agg->runs[i], agg->runs[i + 1]);
	}
	return summarized;
}

/*
 * See agg_private.h.  Forgets what was computed of the vector before; groups
 * may be spilled.
 */
void
strata_agg_add_vector(StrataAggState *agg, AggVector *vector)
{
	bool		summarized = false;

	Assert(!vector->whole ||
		   (vector->batch != NULL &&
			vector->nselected == vector->nrows));	/* agg:G1 */
	agg->vector = vector;
	agg->nruns = 1;
	MemoryContextReset(agg->vector_mcxt);
	strata_agg_value_reset(agg);
	for (int i = 0; i < agg->ncalls; i++)
	{
		agg->calls[i].ready = false;
		agg->calls[i].pass = NULL;
		if (agg->calls[i].hold != NULL)
			strata_agg_hold_new_vector(agg->calls[i].hold);
	}
	if (agg->best != NULL)
		strata_agg_best_new_vector(agg->best);
	if (agg->nkeys == 0)
		summarized = add_run(agg, agg->cells, 0, vector->nselected);
	else if (agg->words != NULL)
		strata_agg_words_add(agg);
	else
	{
		if (!add_rows(agg) && !add_numbered(agg))
			summarized = add_runs(agg);
		if (agg->best != NULL)
			strata_agg_best_end_vector(agg->best);
		if (!strata_agg_words_begin(agg) &&
			(agg->held_full || strata_agg_table_is_full(agg->table)))
		{
			strata_agg_memo_forget(agg->memo);
			strata_agg_numbers_forget(agg->numbers);
			strata_agg_table_spill(agg->table);
		}
		agg->held_full = false;
	}
	strata_agg_distinct_take(agg);
	agg->counters.rows += vector->nselected;
	agg->counters.runs += agg->nruns;
	agg->counters.summarized += summarized;
	if (vector->batch != NULL)
		agg->counters.vectors++;
	else
		agg->counters.chunks++;
}
