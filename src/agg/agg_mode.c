/*-------------------------------------------------------------------------
 *
 * agg_mode.c
 *	  mode() of values whose equal ones are the same bytes, as texts.
 *
 * Of each group its different values are held, once each, and how often they
 * are there (agg_known.c); numbers are held by agg_percentile.c.
 *
 * src/agg/agg_mode.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_hold_private.h"
#include "agg/agg_plan_private.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* See agg_hold_private.h. */
bool
strata_agg_mode_counts(const Aggref *aggref)
{
	Node	   *arg;
	Oid			type;
	SortGroupClause *clause;

	if (aggref->aggfnoid != F_MODE || list_length(aggref->args) != 1 ||
		list_length(aggref->aggorder) != 1)
		return false;
	arg = (Node *) linitial_node(TargetEntry, aggref->args)->expr;
	type = exprType(arg);
	clause = linitial_node(SortGroupClause, aggref->aggorder);
	return !get_typbyval(type) && OidIsValid(clause->eqop) &&
		strata_agg_is_equal_by_image(type, exprCollation(arg), clause->eqop);
}

/*-------------------------------------------------------------------------
 * Taking rows in
 *-------------------------------------------------------------------------
 */

static inline bool
row_counts(const AggHold *hold, int row)
{
	return (hold->pass == NULL || hold->pass[row]) &&
		(hold->isnull[0] == NULL || !hold->isnull[0][row]);
}

/* Rows of one value. */
static void
count_same(AggHold *hold, HeldRows *rows, int from, int to)
{
	int			first = -1;
	int64		n = 0;

	for (int i = from; i < to; i++)
	{
		if (!row_counts(hold, i))
			continue;
		first = first < 0 ? i : first;
		n++;
	}
	if (n > 0)
		strata_agg_hold_row(hold, rows, first, n);
}

/* Rows of a dictionary's values. */
static void
count_entries(AggHold *hold, HeldRows *rows, int from, int to)
{
	const StrataColumn *codes = hold->codes;
	int			ndict = codes->ndict;
	uint32	   *counts = palloc0(sizeof(uint32) * ndict);
	int		   *last = palloc(sizeof(int) * ndict);

	for (int i = from; i < to; i++)
	{
		uint32		code;

		if (!row_counts(hold, i))
			continue;
		code = codes->codes[agg_vector_row(hold->agg->vector, i) -
							codes->from];
		counts[code]++;
		last[code] = i;
	}
	for (int code = 0; code < ndict; code++)
		if (counts[code] > 0)
			strata_agg_hold_row(hold, rows, last[code], counts[code]);
	pfree(counts);
	pfree(last);
}

/* See agg_hold_private.h. */
void
strata_agg_mode_run(AggHold *hold, HeldRows *rows, int from, int to)
{
	Assert(hold->counted && hold->ncolumns == 2);	/* agg:G28 */
	if (hold->constant)
		count_same(hold, rows, from, to);
	else if (hold->codes != NULL && to - from >= hold->codes->ndict)
		count_entries(hold, rows, from, to);
	else
		for (int i = from; i < to; i++)
			if (row_counts(hold, i))
				strata_agg_hold_row(hold, rows, i, 1);
}

/*-------------------------------------------------------------------------
 * The result
 *-------------------------------------------------------------------------
 */

/*
 * See agg_hold_private.h.  Values come in their order; equal ones may be there
 * several times.  The first of those that are there most often is it, as with
 * PostgreSQL's function.
 */
Datum
strata_agg_mode_result(AggHold *hold, HeldRows *rows, bool *isnull)
{
	HeldReader	reader;
	Datum	   *values;
	bool	   *nulls;
	int64		most = 0;
	int64		n = 0;
	Datum		result = (Datum) 0;
	Datum		value = (Datum) 0;
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "StrataAgg mode",
											   ALLOCSET_SMALL_SIZES);
	MemoryContext old = CurrentMemoryContext;

	strata_agg_hold_begin_read(hold, rows, &reader);
	while (strata_agg_hold_read_next(&reader, &values, &nulls))
	{
		CHECK_FOR_INTERRUPTS();
		if (n == 0 || !datum_image_eq(value, values[0], false,
									  hold->typlen[0]))
		{
			n = 0;
			/* of rows that come back from disk it goes away */
			if (reader.slot != NULL)
			{
				if (most > 0 && result == value)
					value = (Datum) 0;
				if (value != (Datum) 0)
					pfree(DatumGetPointer(value));
				MemoryContextSwitchTo(mcxt);
				value = datumCopy(values[0], false, hold->typlen[0]);
				MemoryContextSwitchTo(old);
			}
			else
				value = values[0];
		}
		n += DatumGetInt64(values[1]);
		if (n > most)
		{
			most = n;
			result = value;
		}
	}
	strata_agg_hold_end_read(&reader);
	*isnull = most == 0;
	if (!*isnull)
		result = datumCopy(result, false, hold->typlen[0]);
	MemoryContextDelete(mcxt);
	return result;
}
