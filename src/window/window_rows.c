/*-------------------------------------------------------------------------
 *
 * window_rows.c
 *	  Rows of the child as columns, and where partitions begin.
 *
 * A StrataSort gives columns; rows of any other plan are collected.  Of rows
 * that were looked at those stay that functions look back to, and behind the
 * ones that are looked at are those they look ahead to.
 *
 * src/window/window_rows.c
 *-------------------------------------------------------------------------
 */
#include "window/window_private.h"

#include "base/base.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "top/top.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* So many rows are looked at first: maybe no more are wanted. */
#define FIRST_STEP 16
/* Values by reference are kept in pieces of so many bytes, or more. */
#define KEPT_BLOCK (64 * 1024)

/*-------------------------------------------------------------------------
 * Beginning and end
 *-------------------------------------------------------------------------
 */

/* How far functions look to either side. */
static void
measure_reach(WindowRows *rows, const WindowPlan *plan)
{
	/* the row before says whether a partition begins */
	rows->behind = 1;
	for (int i = 0; i < plan->ncalls; i++)
	{
		const WindowCall *call = &plan->calls[i];

		if (call->kind == WINDOW_LAG)
			rows->behind = Max(rows->behind, call->offset);
		if (call->kind == WINDOW_LEAD)
			rows->ahead = Max(rows->ahead, call->offset);
	}
	rows->size = rows->behind + STRATA_WINDOW_ROWS + rows->ahead;
}

/* See window_private.h. */
void
strata_window_rows_init(WindowRows *rows, CustomScanState *node,
						const WindowPlan *plan)
{
	TupleDesc	desc = node->ss.ss_ScanTupleSlot->tts_tupleDescriptor;
	int			ncolumns = plan->ninputs + plan->ncalls;

	Assert(desc->natts == ncolumns);	/* window:WF1 */
	rows->child = linitial(node->custom_ps);
	rows->work = node->ss.ps.ps_ExprContext->ecxt_per_tuple_memory;
	rows->mcxt = CurrentMemoryContext;
	rows->ninputs = plan->ninputs;
	rows->ncalls = plan->ncalls;
	measure_reach(rows, plan);
	rows->columns = palloc0(sizeof(StrataColumn) * ncolumns);
	rows->nulls = palloc(sizeof(bool *) * ncolumns);
	for (int i = 0; i < ncolumns; i++)
	{
		StrataColumn *col = &rows->columns[i];

		strata_column_type_init(&col->type, TupleDescAttr(desc, i));
		col->attno = (AttrNumber) (i + 1);
		col->decoded = true;
		col->n = rows->size;
		rows->nulls[i] = palloc0(sizeof(bool) * rows->size);
		if (col->type.typbyval)
			col->fixed = palloc0((Size) rows->size * col->type.width);
		else
			col->datums = palloc0(sizeof(Datum) * rows->size);
	}
	rows->numbers = palloc(sizeof(int64) * rows->size);
	rows->flags = palloc(rows->size);
	for (int i = 0; i < plan->ncalls; i++)
		if (rows->ranks == NULL && (plan->calls[i].kind == WINDOW_RANK ||
									plan->calls[i].kind == WINDOW_DENSE_RANK))
		{
			rows->ranks = palloc(sizeof(int64) * rows->size);
			rows->dense_ranks = palloc(sizeof(int64) * rows->size);
		}
	rows->nkeys = plan->nkeys;
	rows->norder = plan->norder;
	rows->keys = palloc(sizeof(WindowKey) *
						Max(plan->nkeys + plan->norder, 1));
	for (int k = 0; k < plan->nkeys + plan->norder; k++)
	{
		rows->keys[k].column = plan->keys[k];
		rows->keys[k].collation = plan->collations[k];
		fmgr_info(get_opcode(plan->eqops[k]), &rows->keys[k].eq);
	}
}

/* See window_private.h. */
void
strata_window_rows_reset(WindowRows *rows)
{
	rows->started = false;
	rows->at = rows->n = rows->filled = rows->fresh_from = 0;
}

/*-------------------------------------------------------------------------
 * Rows in
 *-------------------------------------------------------------------------
 */

/* Rows that nobody looks back to any more go. */
static void
forget_rows_behind(WindowRows *rows)
{
	int			n = rows->at + rows->n - rows->behind;
	int			nleft = rows->filled - n;

	rows->at += rows->n;
	rows->n = 0;
	if (n <= 0)
		return;
	for (int i = 0; i < rows->ninputs; i++)
	{
		StrataColumn *col = &rows->columns[i];

		memmove(rows->nulls[i], rows->nulls[i] + n, nleft);
		if (col->datums != NULL)
			memmove(col->datums, col->datums + n, sizeof(Datum) * nleft);
		else
			memmove(col->fixed, (char *) col->fixed +
					(Size) n * col->type.width,
					(Size) nleft * col->type.width);
	}
	memmove(rows->numbers, rows->numbers + n, sizeof(int64) * nleft);
	if (rows->ranks != NULL)
	{
		memmove(rows->ranks, rows->ranks + n, sizeof(int64) * nleft);
		memmove(rows->dense_ranks, rows->dense_ranks + n,
				sizeof(int64) * nleft);
	}
	rows->at -= n;
	rows->filled = nleft;
	rows->fresh_from -= n;
}

/*
 * Values by reference of rows to come are kept in the other context, as soon
 * as nobody has any there.
 */
static void
turn_contexts(WindowRows *rows)
{
	for (int i = 0; i < 2 && rows->kept[i] == NULL; i++)
		rows->kept[i] = AllocSetContextCreate(rows->mcxt,
											  "StrataWindow rows",
											  0, KEPT_BLOCK, 16 * KEPT_BLOCK);
	if (rows->fresh_from > 0)
		return;
	rows->turn = !rows->turn;
	MemoryContextReset(rows->kept[rows->turn]);
	rows->kept_bytes[rows->turn] = 0;
	rows->fresh_from = rows->filled;
}

/* A value by reference becomes that of the next row. */
static Datum
copy_window_value(WindowRows *rows, const StrataColumn *col, int i,
				  Datum value)
{
	int			row = rows->filled;
	int16		typlen = col->type.typlen;

	if (row > rows->fresh_from && !rows->nulls[i][row - 1] &&
		datumIsEqual(col->datums[row - 1], value, false, typlen))
		return col->datums[row - 1];
	rows->kept_bytes[rows->turn] +=
		(int64) datumGetSize(value, false, typlen);
	return datumCopy(value, false, typlen);
}

/* Rows of a plan that has no columns, up to so many. */
static void
collect_window_rows(WindowRows *rows, int upto)
{
	MemoryContext old;

	turn_contexts(rows);
	while (rows->filled < upto)
	{
		TupleTableSlot *slot = ExecProcNode(rows->child);
		int			row = rows->filled;

		rows->ended = TupIsNull(slot);
		if (rows->ended)
			return;
		slot_getallattrs(slot);
		old = MemoryContextSwitchTo(rows->kept[rows->turn]);
		for (int i = 0; i < rows->ninputs; i++)
		{
			StrataColumn *col = &rows->columns[i];
			bool		isnull = slot->tts_isnull[i];
			Datum		value = isnull ? (Datum) 0 : slot->tts_values[i];

			if (col->fixed != NULL)
				strata_fixed_put(col->fixed, col->type.width, row, value);
			else
				col->datums[row] = isnull ? value :
					copy_window_value(rows, col, i, value);
			rows->nulls[i][row] = isnull;
		}
		MemoryContextSwitchTo(old);
		rows->filled++;
		/* a few long ones are enough, too */
		if (rows->kept_bytes[0] + rows->kept_bytes[1] >
			(int64) work_mem * 256)
			upto = Min(upto, Max(rows->at + 1 + rows->ahead, rows->filled));
	}
}

/*-------------------------------------------------------------------------
 * Partitions
 *-------------------------------------------------------------------------
 */

/* Of different bytes: does the operator of PARTITION BY say so, too? */
static bool
differs(WindowRows *rows, WindowKey *key, int row)
{
	const StrataColumn *col = &rows->columns[key->column];
	bool		isnull = rows->nulls[key->column][row];
	Datum		a;
	Datum		b;

	Assert(row > 0);			/* window:WF4 */
	if (isnull || rows->nulls[key->column][row - 1])
		return isnull != rows->nulls[key->column][row - 1];
	if (col->datums != NULL)
	{
		a = col->datums[row - 1];
		b = col->datums[row];
	}
	else
	{
		a = strata_fixed_get(col->fixed, col->type.width, row - 1);
		b = strata_fixed_get(col->fixed, col->type.width, row);
	}
	return !datumIsEqual(a, b, col->type.typbyval, col->type.typlen) &&
		!DatumGetBool(FunctionCall2Coll(&key->eq, key->collation, a, b));
}

#define CHANGE_LOOP(type, values) \
	do { \
		const type *values_ = (const type *) (values); \
		for (int row = from; row < to; row++) \
			changed[row] = values_[row] != values_[row - 1] || \
				nulls[row] != nulls[row - 1]; \
	} while (0)

/* Flag the rows whose key is not that of the row before. */
static void
flag_changes(WindowRows *rows, int k, int from, int to, uint8 *changed)
{
	WindowKey  *key = &rows->keys[k];
	const StrataColumn *col = &rows->columns[key->column];
	const bool *nulls = rows->nulls[key->column];

	if (col->datums != NULL)
		CHANGE_LOOP(Datum, col->datums);
	else
		switch (col->type.width)
		{
			case 1:
				CHANGE_LOOP(int8, col->fixed);
				break;
			case 2:
				CHANGE_LOOP(int16, col->fixed);
				break;
			case 4:
				CHANGE_LOOP(int32, col->fixed);
				break;
			default:
				CHANGE_LOOP(int64, col->fixed);
				break;
		}
	for (int row = from; row < to; row++)
		if (changed[row])
			changed[row] = differs(rows, key, row);
}

/* Rank the rows from that one on, which have numbers. */
static void
rank_rows(WindowRows *rows, int from)
{
	int			to = rows->filled;
	int64	   *ranks = rows->ranks;
	int64	   *dense = rows->dense_ranks;

	/* first: is it no peer of the one before? */
	memset(ranks + from, 0, sizeof(int64) * (to - from));
	for (int k = rows->nkeys; k < rows->nkeys + rows->norder; k++)
	{
		flag_changes(rows, k, Max(from, 1), to, rows->flags);
		for (int row = Max(from, 1); row < to; row++)
			ranks[row] |= rows->flags[row];
	}
	for (int row = from; row < to; row++)
	{
		if (rows->numbers[row] == 1)
			ranks[row] = dense[row] = 1;
		else
		{
			dense[row] = dense[row - 1] + ranks[row];
			ranks[row] = ranks[row] != 0 ? rows->numbers[row] :
				ranks[row - 1];
		}
	}
}

/* Number the rows from that one on in their partitions. */
static void
number_rows(WindowRows *rows, int from)
{
	int			first = from;
	int64		number = from > 0 ? rows->numbers[from - 1] : 0;
	int			to = rows->filled;
	MemoryContext old = MemoryContextSwitchTo(rows->work);

	for (int row = from; row < to; row++)
		rows->numbers[row] = ++number;
	from = Max(from, 1);
	for (int k = 0; k < rows->nkeys && from < to; k++)
	{
		flag_changes(rows, k, from, to, rows->flags);
		for (int row = from; row < to; row++)
			if (rows->flags[row])
				rows->numbers[row] = 1;
	}
	for (int row = from; row < to && rows->nkeys > 0; row++)
		if (rows->numbers[row] != 1)
			rows->numbers[row] = rows->numbers[row - 1] + 1;
	if (rows->ranks != NULL)
		rank_rows(rows, first);
	MemoryContextSwitchTo(old);
}

/* See window_private.h. */
bool
strata_window_rows_next(WindowRows *rows)
{
	int			from;
	int			upto;

	CHECK_FOR_INTERRUPTS();
	if (!rows->started)
	{
		rows->started = true;
		rows->ended = false;
		rows->step = FIRST_STEP;
		rows->sorted = strata_sort_begin_columns(rows->child);
	}
	forget_rows_behind(rows);
	from = rows->filled;
	upto = rows->at + rows->step + rows->ahead;
	rows->step = Min(rows->step * 4, STRATA_WINDOW_ROWS);
	Assert(upto <= rows->size); /* window:WF3 */
	for (int i = 0; i < rows->ninputs; i++)
		rows->columns[i].isnull = rows->nulls[i];
	if (from < upto && !rows->ended && rows->sorted)
	{
		rows->filled += strata_sort_next_columns(rows->child, rows->columns,
												 from, upto - from);
		rows->ended = rows->filled < upto;
	}
	else if (from < upto && !rows->ended)
		collect_window_rows(rows, upto);
	number_rows(rows, from);
	/* who has no nulls is told */
	for (int i = 0; i < rows->ninputs; i++)
		if (memchr(rows->nulls[i], true, rows->filled) == NULL)
			rows->columns[i].isnull = NULL;
	rows->n = rows->filled - (rows->ended ? 0 : rows->ahead) - rows->at;
	rows->n = Min(rows->n, STRATA_WINDOW_ROWS);
	return rows->n > 0;
}
