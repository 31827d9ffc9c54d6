/*-------------------------------------------------------------------------
 *
 * agg_pick.c
 *	  first(value, time) and last(value, time): of a run of rows, only the one
 *	  with the smallest or largest time matters, and only its value is looked at.
 *
 * As in src/time/first_last.c: rows whose time is NULL do not count, a NULL
 * value does, and of rows with equal times the first met is kept.
 *
 * A cell: n is CELL_*, v.d the value, w.hi the time.  Values are by value.
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
#include "utils/lsyscache.h"

enum
{
	CELL_EMPTY, CELL_VALUE, CELL_NULL
};

static inline void
take(AggCell *cell, int64 time, Datum value, int n)
{
	cell->n = n;
	cell->w.hi = time;
	cell->v.d = value;
}

static void
combine_first(AggCell *cell, const AggCell *other)
{
	if (other->n != CELL_EMPTY && (cell->n == CELL_EMPTY || other->w.hi < cell->w.hi))
		*cell = *other;
}

static void
combine_last(AggCell *cell, const AggCell *other)
{
	if (other->n != CELL_EMPTY && (cell->n == CELL_EMPTY || other->w.hi > cell->w.hi))
		*cell = *other;
}

static const AggKernel pick_first = {
	InvalidOid, AGG_VALUE_NONE, AGG_SUMMARY_NONE, AGG_RESULT_PICK, NULL, combine_first
};
static const AggKernel pick_last = {
	InvalidOid, AGG_VALUE_NONE, AGG_SUMMARY_NONE, AGG_RESULT_PICK, NULL, combine_last
};

/* Types that are ordered as integers are. */
static bool
is_time_type(Oid type)
{
	switch (getBaseType(type))
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return true;
		default:
			return false;
	}
}

/* The kernel, if the aggregate is the extension's first or last and suits us. */
const AggKernel *
strata_agg_pick_kernel(const Aggref *aggref)
{
	char	   *name;
	Oid			extension;

	if (list_length(aggref->args) != 2 || !get_typbyval(aggref->aggtype) ||
		!is_time_type(exprType((Node *) lsecond_node(TargetEntry, aggref->args)->expr)))
		return NULL;
	name = get_func_name(aggref->aggfnoid);
	if (name == NULL || (strcmp(name, "first") != 0 && strcmp(name, "last") != 0))
		return NULL;
	extension = get_extension_oid(STRATA_EXTENSION, true);
	if (!OidIsValid(extension) ||
		getExtensionOfObject(ProcedureRelationId, aggref->aggfnoid) != extension)
		return NULL;
	return strcmp(name, "first") == 0 ? &pick_first : &pick_last;
}

static inline int64
time_at(const StrataColumn *col, int row)
{
	switch (col->type.width)
	{
		case 2:
			return ((const int16 *) col->fixed)[row];
		case 4:
			return ((const int32 *) col->fixed)[row];
		default:
			return ((const int64 *) col->fixed)[row];
	}
}

static int64
constant_time(const StrataColumn *col)
{
	switch (col->type.width)
	{
		case 2:
			return DatumGetInt16(col->value);
		case 4:
			return DatumGetInt32(col->value);
		default:
			return DatumGetInt64(col->value);
	}
}

/*
 * Take the selected rows [from, to) in; valid: the FILTER's mask of selected
 * rows, or NULL.
 */
void
strata_agg_pick_run(StrataAggState *agg, AggCall *call, AggCell *cell,
					const uint8 *valid, int from, int to)
{
	AggVector  *vector = agg->vector;
	StrataColumn *times = strata_agg_value_column(agg, call->by);
	bool		last = call->kernel == &pick_last;
	bool		found = cell->n != CELL_EMPTY;
	int64		best = cell->w.hi;
	int			best_row = -1;
	bool		isnull;
	Datum		value;

	if (times->constant && times->value_isnull)
		return;
	for (int i = from; i < to; i++)
	{
		int			row = agg_vector_row(vector, i);
		int64		time;

		if ((valid != NULL && !valid[i]) || (times->isnull != NULL && times->isnull[row]))
			continue;
		time = times->constant ? constant_time(times) : time_at(times, row);
		if (found && (last ? time <= best : time >= best))
			continue;
		found = true;
		best = time;
		best_row = row;
	}
	if (best_row < 0)
		return;
	value = strata_column_get(strata_agg_value_column(agg, call->value), best_row, &isnull);
	take(cell, best, isnull ? (Datum) 0 : value, isnull ? CELL_NULL : CELL_VALUE);
}

bool
strata_agg_pick_is_null(const AggCell *cell)
{
	return cell->n != CELL_VALUE;
}
