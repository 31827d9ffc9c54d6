/*-------------------------------------------------------------------------
 *
 * agg_pick.c
 *	  first(value, time) and last(value, time): of a run of rows, only the one
 *	  with the smallest or largest time matters, and only its value is looked
 *	  at.
 *
 * As in src/time/first_last.c: rows whose time is NULL do not count, a NULL
 * value does, and of rows with equal times the first met is kept.
 *
 * DISTINCT ON is last or first of every column: as each has the same time, all
 * have the values of one row.
 *
 * A cell: n is AGG_PICK_*, v.d the value, in the memory of the groups, w.hi
 * the time.
 *
 * src/agg/agg_pick.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_private.h"

#include "catalog/dependency.h"
#include "catalog/pg_proc_d.h"
#include "catalog/pg_type_d.h"
#include "commands/extension.h"
#include "nodes/nodeFuncs.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"

static const AggKernel pick_first = {
	InvalidOid, AGG_VALUE_NONE, AGG_SUMMARY_NONE, AGG_RESULT_PICK, NULL, NULL,
	NULL
};
static const AggKernel pick_last = {
	InvalidOid, AGG_VALUE_NONE, AGG_SUMMARY_NONE, AGG_RESULT_PICK, NULL, NULL,
	NULL
};

/* Types that are ordered as integers are. */
bool
strata_agg_is_time_type(Oid type)
{
	type = getBaseType(type);
	return strata_integer_width(type) > 0 && type != TIMEOID;
}

/*
 * The kernel, if the aggregate is the extension's first or last and suits us.
 */
const AggKernel *
strata_agg_pick_kernel(const Aggref *aggref)
{
	TargetEntry *by;
	char	   *name;
	Oid			extension;

	if (list_length(aggref->args) != 2)
		return NULL;
	by = lsecond_node(TargetEntry, aggref->args);
	if (!strata_agg_is_time_type(exprType((Node *) by->expr)))
		return NULL;
	name = get_func_name(aggref->aggfnoid);
	if (name == NULL ||
		(strcmp(name, "first") != 0 && strcmp(name, "last") != 0))
		return NULL;
	extension = get_extension_oid(STRATA_EXTENSION, true);
	if (!OidIsValid(extension) ||
		getExtensionOfObject(ProcedureRelationId, aggref->aggfnoid) !=
		extension)
		return NULL;
	return strcmp(name, "first") == 0 ? &pick_first : &pick_last;
}

/* See agg_kernel_private.h. */
const AggKernel *
strata_agg_pick_of(bool last)
{
	return last ? &pick_last : &pick_first;
}

/* See agg_kernel_private.h. */
bool
strata_agg_is_pick_last(const AggKernel *kernel)
{
	return kernel == &pick_last;
}

/* Make the value that of the cell. */
static void
keep(StrataAggState *agg, const AggCall *call, AggCell *cell, int64 time,
	 Datum value, bool isnull)
{
	if (!call->resultbyval)
	{
		MemoryContext old = MemoryContextSwitchTo(agg->group_mcxt);

		if (cell->n == AGG_PICK_VALUE)
			pfree(DatumGetPointer(cell->v.d));
		if (!isnull)
			value = datumCopy(value, false, call->resultlen);
		MemoryContextSwitchTo(old);
	}
	cell->n = isnull ? AGG_PICK_NULL : AGG_PICK_VALUE;
	cell->w.hi = time;
	cell->v.d = isnull ? (Datum) 0 : value;
}

/*
 * Of selected rows [from, to) in the order of their times, up or down, the
 * first of those with the best.
 */
static int
best_of_sorted(const AggVector *vector, const StrataColumn *times, int from,
			   int to, bool last)
{
	int64		front = strata_agg_column_int(times,
											  agg_vector_row(vector, from));
	int64		back = strata_agg_column_int(times,
											 agg_vector_row(vector, to - 1));
	int			i = to - 1;

	Assert(from < to && times->isnull == NULL); /* agg:G12 */
	if (last ? front >= back : front <= back)
		return from;
	while (i > from &&
		   strata_agg_column_int(times, agg_vector_row(vector, i - 1)) == back)
		i--;
	return i;
}

/*
 * If the batch's order tells that the vector's first row has the best time of
 * all, no other time need be decoded.  Not so where that is null.
 */
static bool
starts_with_best(StrataAggState *agg, const AggCall *call, int64 *time)
{
	const AggValue *by = &agg->values[call->by];
	const StrataOrderKey *order = strata_agg_batch_order(agg->vector, by);
	bool		isnull;
	Datum		value;

	if (order == NULL || order->desc != (call->kernel == &pick_last))
		return false;
	value = strata_agg_value_at(agg, call->by, agg_vector_row(agg->vector, 0),
								&isnull);
	*time = isnull ? 0 : strata_datum_integer(value, by->type.width);
	return !isnull;
}

/*
 * The first of the selected rows [from, to) whose time is the best, and that;
 * -1: there is none.
 */
static int
find_best(StrataAggState *agg, const AggCall *call, const uint8 *valid,
		  int from, int to, int64 *best)
{
	AggVector  *vector = agg->vector;
	StrataColumn *times;
	bool		last = call->kernel == &pick_last;
	int			best_row = -1;

	if (valid == NULL && from == 0 && to == vector->nselected &&
		starts_with_best(agg, call, best))
		return agg_vector_row(vector, 0);
	times = strata_agg_value_column(agg, call->by);
	if (times->constant && times->value_isnull)
		return -1;
	if (valid == NULL && !times->constant &&
		strata_agg_is_sorted(vector, &agg->values[call->by], times))
	{
		from = best_of_sorted(vector, times, from, to, last);
		to = from + 1;
	}
	for (int i = from; i < to; i++)
	{
		int			row = agg_vector_row(vector, i);
		int64		time;

		if ((valid != NULL && !valid[i]) ||
			(times->isnull != NULL && times->isnull[row]))
			continue;
		time = strata_agg_column_int(times, row);
		if (best_row >= 0 && (last ? time <= *best : time >= *best))
			continue;
		*best = time;
		best_row = row;
	}
	return best_row;
}

/*
 * Take the selected rows [from, to) in; valid: the FILTER's mask of selected
 * rows, or NULL.
 */
void
strata_agg_pick_run(StrataAggState *agg, AggCall *call, AggCell *cell,
					const uint8 *valid, int from, int to)
{
	int64		best = 0;
	int			row = find_best(agg, call, valid, from, to, &best);
	bool		isnull;
	Datum		value;

	if (row < 0 || (cell->n != AGG_PICK_EMPTY &&
					(call->kernel == &pick_last ? best <= cell->w.hi :
					 best >= cell->w.hi)))
		return;
	Assert(row < agg->vector->nrows);	/* agg:G12 */
	/* of one run the other rows' values are of no interest */
	value = from == 0 && to == agg->vector->nselected ?
		strata_agg_value_at(agg, call->value, row, &isnull) :
		strata_column_get(strata_agg_value_column(agg, call->value),
						  row, &isnull);
	keep(agg, call, cell, best, value, isnull);
}

/* See agg_kernel_private.h. */
void
strata_agg_pick_write(const AggCall *call, const AggCell *cell, StringInfo out)
{
	Size		size;

	size = cell->n == AGG_PICK_VALUE ?
		datumGetSize(cell->v.d, false, call->resultlen) : 0;
	appendBinaryStringInfo(out, (const char *) cell, sizeof(AggCell));
	appendBinaryStringInfo(out, (const char *) &size, sizeof(Size));
	if (size > 0)
		appendBinaryStringInfo(out, DatumGetPointer(cell->v.d), (int) size);
}

/* See agg_kernel_private.h.  The value lies in the current context. */
const char *
strata_agg_pick_read(const AggCall *call, const char *in, AggCell *cell)
{
	Size		size;

	memcpy(cell, in, sizeof(AggCell));
	in += sizeof(AggCell);
	memcpy(&size, in, sizeof(Size));
	in += sizeof(Size);
	if (cell->n == AGG_PICK_VALUE)
	{
		/* aligned */
		char	   *copy = palloc(size);

		memcpy(copy, in, size);
		cell->v.d = PointerGetDatum(copy);
	}
	return in + size;
}

/* See agg_kernel_private.h. */
void
strata_agg_pick_combine(StrataAggState *agg, const AggCall *call,
						AggCell *cell, const AggCell *other)
{
	bool		last = call->kernel == &pick_last;

	if (other->n == AGG_PICK_EMPTY)
		return;
	if (cell->n == AGG_PICK_EMPTY ||
		(last ? other->w.hi > cell->w.hi : other->w.hi < cell->w.hi))
		keep(agg, call, cell, other->w.hi, other->v.d,
			 other->n == AGG_PICK_NULL);
}

bool
strata_agg_pick_is_null(const AggCell *cell)
{
	return cell->n != AGG_PICK_VALUE;
}
