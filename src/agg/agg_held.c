/*-------------------------------------------------------------------------
 *
 * agg_held.c
 *	  The rows that were held for a group, read in their order, and without
 *	  those that DISTINCT leaves out.
 *
 * src/agg/agg_held.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_hold_private.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/datum.h"
#include "utils/memutils.h"


/* Give back what rows beyond memory need. */
static void
end_overflow(HeldRows *rows)
{
	if (rows->sort != NULL)
		tuplesort_end(rows->sort);
	if (rows->store != NULL)
		tuplestore_end(rows->store);
	if (rows->file != NULL)
		BufFileClose(rows->file);
	rows->file = NULL;
	rows->sort = NULL;
	rows->store = NULL;
}

/* See agg_hold_private.h. */
void
strata_agg_hold_reset(AggHold *hold)
{
	ListCell   *lc;

	foreach(lc, hold->overflown)
		end_overflow(lfirst(lc));
	list_free(hold->overflown);
	hold->overflown = NIL;
}

/* See agg_hold_private.h. */
void
strata_agg_hold_done(AggHold *hold, AggCell *cell, int call)
{
	HeldRows   *rows = held_rows(cell);

	if (rows == NULL || call != hold->last_user)
		return;
	rows->places = NULL;
	end_overflow(rows);
	hold->overflown = list_delete_ptr(hold->overflown, rows);
}

typedef struct RowOrder
{
	const AggHold *hold;
	const HeldRows *rows;
} RowOrder;

static int
compare_held(const Datum *a, const Datum *b, const bool *a_null,
			 const bool *b_null, const AggHold *hold)
{
	for (int i = 0; i < hold->norder; i++)
	{
		HeldOrder  *order = &hold->order[i];
		int			c = order->column;
		int			result;

		result = ApplySortComparator(a[c], a_null != NULL && a_null[c], b[c],
									 b_null != NULL && b_null[c],
									 &order->ssup);
		if (result != 0)
			return result;
	}
	return 0;
}

static int
compare_positions(int64 a, int64 b, const RowOrder *order)
{
	int			n = order->hold->ncolumns;
	const bool *isnull = order->rows->isnull;
	int			result;

	result = compare_held(order->rows->v + a * n, order->rows->v + b * n,
						  isnull != NULL ? isnull + a * n : NULL,
						  isnull != NULL ? isnull + b * n : NULL,
						  order->hold);
	/* ties in the order in which they came */
	return result != 0 ? result : a < b ? -1 : a > b;
}

#define ST_SORT sort_positions
#define ST_ELEMENT_TYPE int64
#define ST_COMPARE_ARG_TYPE const RowOrder
#define ST_COMPARE(a, b, order) compare_positions(*(a), *(b), order)
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#define ST_DECLARE
#include "lib/sort_template.h"

/* Sort the rows in memory. */
static void
sort_held(const AggHold *hold, HeldRows *rows)
{
	RowOrder	order = {hold, rows};
	Size		n = (Size) hold->ncolumns;
	int64	   *positions;
	Datum	   *v;
	bool	   *isnull = NULL;

	strata_agg_known_forget(rows);
	positions = MemoryContextAllocHuge(CurrentMemoryContext,
									   sizeof(int64) * Max(rows->n, 1));
	v = MemoryContextAllocHuge(CurrentMemoryContext,
							   sizeof(Datum) * n * Max(rows->n, 1));
	for (int64 i = 0; i < rows->n; i++)
		positions[i] = i;
	sort_positions(positions, (size_t) rows->n, &order);
	if (rows->isnull != NULL)
		isnull = MemoryContextAllocHuge(CurrentMemoryContext,
										n * Max(rows->n, 1));
	for (int64 i = 0; i < rows->n; i++)
	{
		memcpy(v + i * n, rows->v + positions[i] * n, sizeof(Datum) * n);
		if (isnull != NULL)
			memcpy(isnull + i * n, rows->isnull + positions[i] * n, n);
	}
	memcpy(rows->v, v, sizeof(Datum) * n * rows->n);
	if (isnull != NULL)
	{
		memcpy(rows->isnull, isnull, n * rows->n);
		pfree(isnull);
	}
	pfree(v);
	pfree(positions);
	rows->sorted = true;
}

/* See agg_hold_private.h. */
void
strata_agg_hold_begin_read(AggHold *hold, HeldRows *rows, HeldReader *reader)
{
	memset(reader, 0, sizeof(HeldReader));
	reader->hold = hold;
	reader->rows = rows;
	reader->mcxt = CurrentMemoryContext;
	if (rows == NULL)
		return;
	if (hold->distinct)
	{
		reader->before = palloc0(sizeof(Datum) * Max(hold->ncolumns, 1));
		reader->before_null = palloc0(Max(hold->ncolumns, 1));
	}
	if (rows->sort == NULL && rows->store == NULL)
	{
		if (hold->norder > 0 && !rows->sorted)
			sort_held(hold, rows);
		return;
	}
	/* those that came last */
	if (rows->n > 0)
		strata_agg_hold_overflow(hold, rows);
	reader->slot = MakeSingleTupleTableSlot(hold->desc, &TTSOpsMinimalTuple);
	if (rows->sort != NULL && !rows->complete)
		tuplesort_performsort(rows->sort);
	else if (rows->sort != NULL)
		tuplesort_rescan(rows->sort);
	else if (rows->complete)
		tuplestore_rescan(rows->store);
	rows->complete = true;
}

/* The next row, be it like the one before or not. */
static bool
read_row(HeldReader *reader, Datum **values, bool **isnull)
{
	HeldRows   *rows = reader->rows;
	int			n = reader->hold->ncolumns;

	if (reader->slot == NULL)
	{
		if (reader->next >= rows->n)
			return false;
		*values = rows->v + reader->next * n;
		*isnull = rows->isnull != NULL ? rows->isnull + reader->next * n :
			NULL;
		reader->next++;
		return true;
	}
	if (!(rows->sort != NULL ?
		  tuplesort_gettupleslot(rows->sort, true, false, reader->slot, NULL) :
		  tuplestore_gettupleslot(rows->store, true, false, reader->slot)))
		return false;
	slot_getallattrs(reader->slot);
	*values = reader->slot->tts_values;
	*isnull = reader->slot->tts_isnull;
	return true;
}

/* Keep the row to compare the next with. */
static void
keep_row(HeldReader *reader, const Datum *values, const bool *isnull)
{
	const AggHold *hold = reader->hold;

	for (int c = 0; c < hold->ncolumns; c++)
	{
		if (reader->slot != NULL && reader->has_before &&
			!reader->before_null[c] && !hold->typbyval[c])
			pfree(DatumGetPointer(reader->before[c]));
		reader->before_null[c] = isnull != NULL && isnull[c];
		reader->before[c] = reader->slot == NULL || reader->before_null[c] ?
			values[c] : datumCopy(values[c], hold->typbyval[c],
								  hold->typlen[c]);
	}
	reader->has_before = true;
}

/* See agg_hold_private.h. */
bool
strata_agg_hold_read_next(HeldReader *reader, Datum **values, bool **isnull)
{
	MemoryContext old;
	bool		found;

	if (reader->rows == NULL)
		return false;
	old = MemoryContextSwitchTo(reader->mcxt);
	do
		found = read_row(reader, values, isnull);
	while (found && reader->hold->distinct && reader->has_before &&
		   compare_held(reader->before, *values, reader->before_null, *isnull,
						reader->hold) == 0);
	if (found && reader->hold->distinct)
		keep_row(reader, *values, *isnull);
	MemoryContextSwitchTo(old);
	return found;
}

/* See agg_hold_private.h. */
void
strata_agg_hold_end_read(HeldReader *reader)
{
	if (reader->slot != NULL)
		ExecDropSingleTupleTableSlot(reader->slot);
	reader->slot = NULL;
}
