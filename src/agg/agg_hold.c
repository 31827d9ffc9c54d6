/*-------------------------------------------------------------------------
 *
 * agg_hold.c
 *	  Arguments of aggregates, held for each group until it is returned.
 *
 * Two such lists are combined by putting one behind the other.  So they are
 * spilled with their groups as any state (agg_hash.c).  Where there is one
 * group only, or groups come back from disk one after the other, a list that
 * outgrows memory goes into a sort, or a store when it has no order.
 *
 * Over 600 lines: all places that rows can be in are made and left here.
 *
 * src/agg/agg_hold.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_hold_private.h"

#include "catalog/pg_aggregate.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/datum.h"
#include "utils/expandeddatum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#define MANY_ROWS 1024
/* A list that long in bytes is spilled, so that a group fits a varlena. */
#define MAX_HELD_BYTES ((Size) 256 * 1024 * 1024)

/*-------------------------------------------------------------------------
 * Begin
 *-------------------------------------------------------------------------
 */

/* Built in ordered-set aggregates of one column leave nulls out. */
static bool
skips_null(const Aggref *aggref)
{
	return aggref->aggkind == AGGKIND_ORDERED_SET &&
		aggref->aggfnoid >= F_PERCENTILE_DISC_FLOAT8_ANYELEMENT &&
		aggref->aggfnoid <= F_MODE && list_length(aggref->args) == 1;
}

/* Do the two hold the same rows in the same order? */
static bool
same_rows(const Aggref *a, const Aggref *b)
{
	return skips_null(a) == skips_null(b) && equal(a->args, b->args) &&
		equal(a->aggfilter, b->aggfilter) &&
		equal(a->aggorder, b->aggorder) &&
		equal(a->aggdistinct, b->aggdistinct) &&
		AGGKIND_IS_ORDERED_SET(a->aggkind) ==
		AGGKIND_IS_ORDERED_SET(b->aggkind);
}

/* See agg_hold_private.h. */
AggHold *
strata_agg_hold_share(StrataAggState *agg, const Aggref *aggref, int *holder)
{
	for (int i = 0; i < agg->ncalls; i++)
	{
		AggHold    *hold = agg->calls[i].hold;

		if (hold == NULL || !same_rows(hold->aggref, aggref) ||
			(hold->counted && aggref->aggfnoid != F_MODE))
			continue;
		*holder = agg->calls[i].holder;
		hold->nusers++;
		hold->last_user = agg->ncalls;
		return hold;
	}
	*holder = agg->ncalls;
	return NULL;
}

/* Sort by these clauses, as far as they are of columns. */
static void
init_held_order(AggHold *hold, List *clauses)
{
	ListCell   *lc;

	hold->order = palloc0(sizeof(HeldOrder) * Max(list_length(clauses), 1));
	foreach(lc, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		TargetEntry *tle = get_sortgroupclause_tle(clause,
												   hold->aggref->args);
		HeldOrder  *order = &hold->order[hold->norder];
		int			column = -1;
		ListCell   *lc2;

		foreach(lc2, hold->aggref->args)
		{
			if (lfirst(lc2) == tle)
				column = hold->columns[foreach_current_index(lc2)];
		}
		if (column < 0)
			continue;
		order->column = column;
		order->sortop = clause->sortop;
		order->collation = exprCollation((Node *) tle->expr);
		order->nulls_first = clause->nulls_first;
		order->ssup.ssup_cxt = CurrentMemoryContext;
		order->ssup.ssup_collation = order->collation;
		order->ssup.ssup_nulls_first = order->nulls_first;
		order->ssup.ssup_attno = (AttrNumber) (column + 1);
		PrepareSortSupportFromOrderingOp(order->sortop, &order->ssup);
		hold->norder++;
	}
}

/* A column for an argument that is not constant. */
static void
add_held_column(AggHold *hold, TargetEntry *arg, int value)
{
	int			c = hold->ncolumns++;

	hold->values[c] = value;
	get_typlenbyval(exprType((Node *) arg->expr), &hold->typlen[c],
					&hold->typbyval[c]);
	TupleDescInitEntry(hold->desc, (AttrNumber) (c + 1), "value",
					   exprType((Node *) arg->expr),
					   exprTypmod((Node *) arg->expr), 0);
	TupleDescInitEntryCollation(hold->desc, (AttrNumber) (c + 1),
								exprCollation((Node *) arg->expr));
}

/* How often a value is there. */
static void
add_count_column(AggHold *hold)
{
	int			c = hold->ncolumns++;

	hold->typlen[c] = sizeof(int64);
	hold->typbyval[c] = true;
	TupleDescInitEntry(hold->desc, (AttrNumber) (c + 1), "count", INT8OID, -1,
					   0);
}

static int
count_held_columns(const Aggref *aggref)
{
	int			n = 0;
	ListCell   *lc;

	foreach(lc, aggref->args)
		n += !IsA(lfirst_node(TargetEntry, lc)->expr, Const);
	return n;
}

/* See agg_hold_private.h.  Lives with the node: in the current context. */
AggHold *
strata_agg_hold_create(StrataAggState *agg, const Aggref *aggref,
					   const int *values)
{
	AggHold    *hold = palloc0(sizeof(AggHold));
	int			n = list_length(aggref->args) + 1;
	int			ncolumns = count_held_columns(aggref);
	ListCell   *lc;

	Assert(agg->plan.stage == AGG_STAGE_WHOLE); /* agg:G21 */
	hold->agg = agg;
	hold->aggref = aggref;
	hold->mcxt = CurrentMemoryContext;
	hold->nusers = 1;
	hold->last_user = agg->ncalls;
	hold->columns = palloc0(sizeof(int) * n);
	hold->constants = palloc0(sizeof(Datum) * n);
	hold->constant_nulls = palloc0(sizeof(bool) * n);
	hold->values = palloc0(sizeof(int) * n);
	hold->typlen = palloc0(sizeof(int16) * n);
	hold->typbyval = palloc0(sizeof(bool) * n);
	hold->v = palloc0(sizeof(Datum *) * n);
	hold->isnull = palloc0(sizeof(bool *) * n);
	hold->skips_null = skips_null(aggref);
	hold->counted = ncolumns == 1 && strata_agg_mode_counts(aggref);
	hold->desc = CreateTemplateTupleDesc(ncolumns + hold->counted);
	foreach(lc, aggref->args)
	{
		TargetEntry *arg = lfirst_node(TargetEntry, lc);
		int			i = hold->nargs++;

		hold->columns[i] = IsA(arg->expr, Const) ? -1 : hold->ncolumns;
		if (IsA(arg->expr, Const))
		{
			hold->constants[i] = ((Const *) arg->expr)->constvalue;
			hold->constant_nulls[i] = ((Const *) arg->expr)->constisnull;
		}
		else
			add_held_column(hold, arg, values[i]);
	}
	if (hold->counted)
		add_count_column(hold);
	hold->distinct = aggref->aggdistinct != NIL;
	hold->drops = hold->distinct || hold->counted;
	/* the functions of ordered-set aggregates sort by themselves */
	if (!AGGKIND_IS_ORDERED_SET(aggref->aggkind) || hold->counted)
		init_held_order(hold, hold->distinct ? aggref->aggdistinct :
						aggref->aggorder);
	hold->numbers = hold->counted ? NULL : strata_agg_percentile_init(hold);
	hold->limit = get_hash_memory_limit();
	agg->nholds++;
	return hold;
}

/*-------------------------------------------------------------------------
 * Taking rows in
 *-------------------------------------------------------------------------
 */

/* See agg_hold_private.h. */
void
strata_agg_hold_new_vector(AggHold *hold)
{
	hold->ready = false;
}

/* See agg_hold_private.h. */
void
strata_agg_hold_want_values(AggHold *hold)
{
	for (int c = 0; c < held_values(hold); c++)
		hold->agg->values[hold->values[c]].by_integers = false;
}

/* The selected rows that are null; NULL: none is. */
static const bool *
selected_nulls(const AggVector *vector, const StrataColumn *col)
{
	bool	   *out;

	if (col->constant ? !col->value_isnull : col->isnull == NULL)
		return NULL;
	out = palloc(vector->nselected);
	for (int i = 0; i < vector->nselected; i++)
		out[i] = col->constant || col->isnull[agg_vector_row(vector, i)];
	return out;
}

/* Columns of the current vector. */
static void
prepare(AggHold *hold, AggCall *call)
{
	StrataAggState *agg = hold->agg;
	MemoryContext old = MemoryContextSwitchTo(agg->vector_mcxt);

	hold->ready = true;
	hold->pass = call->filter != NULL ? strata_agg_filter(agg, call) : NULL;
	hold->codes = NULL;
	for (int c = 0; c < held_values(hold); c++)
	{
		const StrataColumn *col = strata_agg_value_column(agg,
														  hold->values[c]);

		hold->v[c] = strata_agg_selected_datums(agg->vector, col);
		hold->isnull[c] = selected_nulls(agg->vector, col);
		if (hold->numbers != NULL)
			hold->v[c] = strata_agg_percentile_numbers(hold->numbers,
													   hold->v[c],
													   agg->vector->nselected);
		hold->constant = col->constant;
		if ((hold->distinct || hold->counted) && held_values(hold) == 1 &&
			!col->constant && col->codes != NULL && col->ndict > 0)
		{
			hold->codes = col;
			hold->seen = palloc(col->ndict);
		}
	}
	MemoryContextSwitchTo(old);
}

/* Room for one more value of so many bytes. */
static char *
allocate_value(HeldRows *rows, MemoryContext mcxt, Size size)
{
	HeldBlock  *block = rows->blocks;
	char	   *out;

	size = MAXALIGN(size);
	if (block == NULL || block->size - block->used < size)
	{
		Size		room = Max(size, Min(Max(rows->bytes, 128), 64 * 1024));

		block = MemoryContextAllocHuge(mcxt,
									   MAXALIGN(sizeof(HeldBlock)) + room);
		block->next = rows->blocks;
		block->size = room;
		block->used = 0;
		rows->blocks = block;
	}
	out = (char *) block + MAXALIGN(sizeof(HeldBlock)) + block->used;
	block->used += size;
	rows->bytes += size;
	return out;
}

/* A copy of a value by reference; an expanded one is made flat. */
static Datum
copy_held(HeldRows *rows, MemoryContext mcxt, Datum value, int16 typlen)
{
	Size		size;
	char	   *copy;

	if (typlen == -1 &&
		VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(value)))
	{
		ExpandedObjectHeader *expanded = DatumGetEOHP(value);

		size = EOH_get_flat_size(expanded);
		copy = allocate_value(rows, mcxt, size);
		EOH_flatten_into(expanded, copy, size);
		return PointerGetDatum(copy);
	}
	size = datumGetSize(value, false, typlen);
	copy = allocate_value(rows, mcxt, size);
	memcpy(copy, DatumGetPointer(value), size);
	return PointerGetDatum(copy);
}

/* Forget the rows in memory. */
static void
free_rows(HeldRows *rows)
{
	if (rows->v != NULL)
		pfree(rows->v);
	if (rows->isnull != NULL)
		pfree(rows->isnull);
	while (rows->blocks != NULL)
	{
		HeldBlock  *block = rows->blocks;

		rows->blocks = block->next;
		pfree(block);
	}
	strata_agg_known_forget(rows);
	rows->v = NULL;
	rows->isnull = NULL;
	rows->n = rows->space = 0;
	rows->bytes = 0;
}

/* Begin a sort, or a store, for the rows of a group. */
static void
begin_overflow(AggHold *hold, HeldRows *rows)
{
	MemoryContext old = MemoryContextSwitchTo(hold->mcxt);
	bool		again = hold->nusers > 1;
	int			n = Max(hold->norder, 1);
	AttrNumber *attnos = palloc(sizeof(AttrNumber) * n);
	Oid		   *operators = palloc(sizeof(Oid) * n);
	Oid		   *collations = palloc(sizeof(Oid) * n);
	bool	   *nulls_first = palloc(sizeof(bool) * n);

	for (int i = 0; i < hold->norder; i++)
	{
		attnos[i] = (AttrNumber) (hold->order[i].column + 1);
		operators[i] = hold->order[i].sortop;
		collations[i] = hold->order[i].collation;
		nulls_first[i] = hold->order[i].nulls_first;
	}
	if (hold->norder > 0)
		rows->sort = tuplesort_begin_heap(hold->desc, hold->norder, attnos,
										  operators, collations, nulls_first,
										  work_mem, NULL,
										  again ? TUPLESORT_RANDOMACCESS :
										  TUPLESORT_NONE);
	else
		rows->store = tuplestore_begin_heap(again, false, work_mem);
	/* the sort has copied them, and there is one for each group */
	pfree(attnos);
	pfree(operators);
	pfree(collations);
	pfree(nulls_first);
	hold->overflown = lappend(hold->overflown, rows);
	MemoryContextSwitchTo(old);
}

/* See agg_hold_private.h. */
void
strata_agg_hold_overflow(AggHold *hold, HeldRows *rows)
{
	TupleTableSlot *slot;

	Assert(hold->agg->nkeys == 0 || hold->agg->done);	/* agg:G21 */
	if (hold->numbers != NULL)
	{
		strata_agg_rank_overflow(hold, rows);
		return;
	}
	slot = MakeSingleTupleTableSlot(hold->desc, &TTSOpsVirtual);
	if (rows->sort == NULL && rows->store == NULL)
		begin_overflow(hold, rows);
	for (int64 i = 0; i < rows->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		ExecClearTuple(slot);
		for (int c = 0; c < hold->ncolumns; c++)
		{
			slot->tts_values[c] = rows->v[i * hold->ncolumns + c];
			slot->tts_isnull[c] = rows->isnull != NULL &&
				rows->isnull[i * hold->ncolumns + c];
		}
		ExecStoreVirtualTuple(slot);
		if (rows->sort != NULL)
			tuplesort_puttupleslot(rows->sort, slot);
		else
			tuplestore_puttupleslot(rows->store, slot);
	}
	ExecDropSingleTupleTableSlot(slot);
	free_rows(rows);
}

/* The rows of a cell, with room for n more. */
static HeldRows *
make_held_room(AggHold *hold, AggCell *cell, int64 n)
{
	MemoryContext mcxt = hold->agg->group_mcxt;
	HeldRows   *rows = held_rows(cell);
	Size		ncolumns = (Size) hold->ncolumns;
	int64		space;

	if (rows == NULL)
	{
		rows = MemoryContextAllocZero(mcxt, sizeof(HeldRows));
		cell->v.d = PointerGetDatum(rows);
	}
	if (hold->ncolumns == 0 || rows->n + n <= rows->space)
		return rows;
	/* many grow by little at a time, so that little is left empty */
	space = rows->space < MANY_ROWS ? rows->space * 2 :
		rows->space + rows->space / 4;
	space = Max(rows->n + n, Max(space, 4));
	if (rows->v == NULL)
		rows->v = MemoryContextAllocHuge(mcxt,
										 sizeof(Datum) * ncolumns * space);
	else
		rows->v = repalloc_huge(rows->v, sizeof(Datum) * ncolumns * space);
	if (rows->isnull != NULL)
		rows->isnull = repalloc_huge(rows->isnull, ncolumns * space);
	rows->space = space;
	return rows;
}

/*
 * Bytes that the rows need in memory, or on their way to disk.  Of numbers a
 * fourth is taken out to look for ranks.
 */
static Size
size_of_rows(const AggHold *hold, const HeldRows *rows)
{
	if (hold->numbers != NULL)
		return (Size) rows->n / 4 * 5 * sizeof(int64);
	return (Size) rows->n * hold->ncolumns *
		(2 * sizeof(Datum) + (rows->isnull != NULL)) + rows->bytes +
		sizeof(uint32) * rows->nplaces;
}

/* After rows were added. */
static void
check_size(AggHold *hold, HeldRows *rows)
{
	StrataAggState *agg = hold->agg;
	Size		size = size_of_rows(hold, rows);

	rows->sorted = false;
	if (agg->nkeys == 0 || agg->done)
	{
		if (size > hold->limit / agg->nholds)
			strata_agg_hold_overflow(hold, rows);
	}
	else if (size > MAX_HELD_BYTES / agg->nholds)
		agg->held_full = true;
}

/* The next row is null in a column. */
static void
set_null(AggHold *hold, HeldRows *rows, int c)
{
	if (rows->isnull == NULL)
		rows->isnull =
			MemoryContextAllocExtended(hold->agg->group_mcxt,
									   (Size) rows->space * hold->ncolumns,
									   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	rows->isnull[rows->n * hold->ncolumns + c] = true;
}

/* Where values by reference end. */
typedef struct HeldMark
{
	HeldBlock  *block;
	Size		used;
	Size		bytes;
} HeldMark;

static HeldMark
mark_end(const HeldRows *rows)
{
	HeldMark	mark = {rows->blocks, 0, rows->bytes};

	if (rows->blocks != NULL)
		mark.used = rows->blocks->used;
	return mark;
}

/*
 * The values behind the rows are one more, unless DISTINCT has that; then
 * what was taken since the mark is free again.
 */
static void
keep_new_row(AggHold *hold, HeldRows *rows, const HeldMark *mark)
{
	if ((!hold->distinct && !hold->counted) || hold->ncolumns == 0 ||
		!strata_agg_known_row(hold, rows))
	{
		rows->n++;
		return;
	}
	if (rows->blocks != NULL)
		rows->blocks->used = rows->blocks == mark->block ? mark->used : 0;
	rows->bytes = mark->bytes;
}

/* See agg_hold_private.h. */
void
strata_agg_hold_row(AggHold *hold, HeldRows *rows, int row, int64 count)
{
	int			nvalues = held_values(hold);
	int64		at = rows->n * hold->ncolumns;
	HeldMark	mark = mark_end(rows);

	if (hold->counted)
		rows->v[at + nvalues] = Int64GetDatum(count);
	for (int c = 0; c < nvalues; c++)
	{
		Datum		value = hold->v[c][row];

		if (rows->isnull != NULL)
			rows->isnull[at + c] = false;
		if (hold->isnull[c] != NULL && hold->isnull[c][row])
		{
			set_null(hold, rows, c);
			value = (Datum) 0;
		}
		else if (!hold->typbyval[c])
			value = copy_held(rows, hold->agg->group_mcxt, value,
							  hold->typlen[c]);
		rows->v[at + c] = value;
	}
	keep_new_row(hold, rows, &mark);
}

/* Add those numbers that are wanted; there is room for all. */
static void
hold_numbers(const AggHold *hold, HeldRows *rows, int from, int to)
{
	const uint8 *pass = hold->pass;
	const bool *isnull = hold->isnull[0];
	int64		n = rows->n;

	for (int i = from; i < to; i++)
	{
		rows->v[n] = hold->v[0][i];
		n += (pass == NULL || pass[i]) && (isnull == NULL || !isnull[i]);
	}
	rows->n = n;
}

/* See agg_hold_private.h. */
void
strata_agg_hold_run(AggHold *hold, AggCall *call, AggCell *cell, int from,
					int to)
{
	HeldRows   *rows;
	const StrataColumn *codes;
	const AggVector *vector = hold->agg->vector;

	if (!hold->ready)
		prepare(hold, call);
	rows = make_held_room(hold, cell, to - from);
	if (hold->ncolumns == 1 && hold->typbyval[0] && !hold->drops &&
		hold->pass == NULL && hold->isnull[0] == NULL && rows->isnull == NULL)
	{
		memcpy(rows->v + rows->n, hold->v[0] + from,
			   sizeof(Datum) * (to - from));
		rows->n += to - from;
		check_size(hold, rows);
		return;
	}
	if (hold->numbers != NULL)
	{
		hold_numbers(hold, rows, from, to);
		check_size(hold, rows);
		return;
	}
	if (hold->counted)
	{
		strata_agg_mode_run(hold, rows, from, to);
		check_size(hold, rows);
		return;
	}
	/* one of the rows that have the same code is enough */
	codes = hold->codes != NULL && to - from >= hold->codes->ndict ?
		hold->codes : NULL;
	if (codes != NULL)
		memset(hold->seen, 0, codes->ndict);
	for (int i = from; i < to; i++)
	{
		bool		isnull = hold->ncolumns == 1 &&
		hold->isnull[0] != NULL && hold->isnull[0][i];

		if ((hold->pass != NULL && !hold->pass[i]) ||
			(isnull && hold->skips_null))
			continue;
		if (codes != NULL && !isnull)
		{
			uint8	   *seen;

			seen = &hold->seen[codes->codes[agg_vector_row(vector, i)]];
			if (*seen)
				continue;
			*seen = 1;
		}
		strata_agg_hold_row(hold, rows, i, 1);
	}
	check_size(hold, rows);
}

/*-------------------------------------------------------------------------
 * As bytes
 *-------------------------------------------------------------------------
 */

/* See agg_hold_private.h. */
void
strata_agg_hold_write(const AggHold *hold, const AggCell *cell,
					  StringInfo out)
{
	const HeldRows *rows = held_rows(cell);
	int64		n = rows != NULL ? rows->n : 0;

	Assert(rows == NULL ||
		   (rows->sort == NULL && rows->store == NULL &&
			rows->file == NULL));	/* agg:G21 */
	appendBinaryStringInfo(out, (const char *) &n, sizeof(int64));
	if (hold->numbers != NULL)
	{
		if (n > 0)
			appendBinaryStringInfo(out, (const char *) rows->v,
								   (int) (n * sizeof(int64)));
		return;
	}
	for (int64 i = 0; i < n * hold->ncolumns; i++)
	{
		int			c = (int) (i % hold->ncolumns);
		bool		isnull = rows->isnull != NULL && rows->isnull[i];
		Size		size;

		appendStringInfoChar(out, (char) isnull);
		if (isnull)
			continue;
		if (hold->typbyval[c])
		{
			appendBinaryStringInfo(out, (const char *) &rows->v[i],
								   sizeof(Datum));
			continue;
		}
		size = datumGetSize(rows->v[i], false, hold->typlen[c]);
		appendBinaryStringInfo(out, (const char *) &size, sizeof(Size));
		appendBinaryStringInfo(out, DatumGetPointer(rows->v[i]), (int) size);
	}
}

/* The value of the column at in; returns the place behind it. */
static const char *
read_held(AggHold *hold, HeldRows *rows, int c, const char *in)
{
	Datum	   *value = &rows->v[rows->n * hold->ncolumns + c];
	bool		isnull = *in++ != 0;
	Size		size;

	*value = (Datum) 0;
	if (rows->isnull != NULL)
		rows->isnull[rows->n * hold->ncolumns + c] = false;
	if (isnull)
		set_null(hold, rows, c);
	else if (hold->typbyval[c])
	{
		memcpy(value, in, sizeof(Datum));
		in += sizeof(Datum);
	}
	else
	{
		memcpy(&size, in, sizeof(Size));
		*value = PointerGetDatum(allocate_value(rows, hold->agg->group_mcxt,
												size));
		memcpy(DatumGetPointer(*value), in + sizeof(Size), size);
		in += sizeof(Size) + size;
	}
	return in;
}

/* See agg_hold_private.h. */
const char *
strata_agg_hold_combine(AggHold *hold, AggCell *cell, const char *in)
{
	int64		n;
	HeldRows   *rows;

	memcpy(&n, in, sizeof(int64));
	in += sizeof(int64);
	if (n == 0)
		return in;
	rows = make_held_room(hold, cell, n);
	if (hold->numbers != NULL)
	{
		memcpy(rows->v + rows->n, in, sizeof(int64) * n);
		rows->n += n;
		check_size(hold, rows);
		return in + sizeof(int64) * n;
	}
	for (int64 i = 0; i < n; i++)
	{
		HeldMark	mark = mark_end(rows);

		for (int c = 0; c < hold->ncolumns; c++)
			in = read_held(hold, rows, c, in);
		keep_new_row(hold, rows, &mark);
	}
	check_size(hold, rows);
	return in;
}
