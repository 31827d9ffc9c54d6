/*-------------------------------------------------------------------------
 *
 * agg_best.c
 *	  The first row of each group in any order: DISTINCT ON by whatever ORDER
 *	  BY says, of columns and expressions of any type.
 *
 * What rows are ranked by is looked at first: of the first rank a word, an
 * integer that is less where the row comes first, for integers, times and
 * floats; then, of rows with the same word, all ranks by their types'
 * comparisons.  A row that is better than what its group has is noted, and
 * copied when the vector ends, so that columns that are only shown are decoded
 * where a row of the vector is the best so far.
 *
 * A cell: n is BEST_*, v.d the row, in the memory of the groups, w.hi its
 * word; or, for a row of the current vector, v.i the number of its note.
 *
 * src/agg/agg_best.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_private.h"

#include <math.h>

#include "access/nbtree.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/datum.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"
#include "utils/typcache.h"

enum
{
	BEST_EMPTY, BEST_ROW, BEST_NOTED
};

/* Up to so many notes of a vector have their columns decoded row by row. */
#define FEW_NOTES 2

static const AggKernel best_kernel = {
	InvalidOid, AGG_VALUE_NONE, AGG_SUMMARY_NONE, AGG_RESULT_BEST, NULL, NULL,
	NULL
};

/* A row that is kept: its values, then its nulls, then bytes they refer to. */
typedef struct BestRow
{
	Size		size;			/* in use, of all of it */
	Size		space;
	Datum		values[FLEXIBLE_ARRAY_MEMBER];
} BestRow;

/* A row of the current vector that is the best of its group so far. */
typedef struct BestNote
{
	AggCell    *cell;
	BestRow    *before;			/* the row that was; or NULL */
	int			row;			/* entry in the vector's columns */
} BestNote;

typedef struct BestRank
{
	int			column;
	SortSupportData ssup;
} BestRank;

struct AggBest
{
	StrataAggState *agg;
	int			ncolumns;		/* of a row that is kept */
	int		   *values;			/* of each, by number */
	StrataColumn **columns;		/* of the current vector; NULL: not decoded */
	int			nranks;
	BestRank   *ranks;
	bool		has_words;		/* of the first rank */
	bool		desc;
	int			npicks;
	int		   *picks;			/* columns that are shown */
	/* of the current vector */
	int64	   *words;			/* of each selected row; NULL: not made */
	int			nnotes;
	int			notes_space;
	BestNote   *notes;
};

/*
 * See agg_best_private.h.  Columns whose values are ordered as integers are,
 * or as floats are.
 */
bool
strata_agg_has_words(Oid type, Oid sortop, bool *descending)
{
	TypeCacheEntry *typcache = lookup_type_cache(type,
												 TYPECACHE_BTREE_OPFAMILY);
	Oid			opfamily;
	Oid			opcintype;
	StrataSortOrder order;

	if ((!strata_agg_is_time_type(type) && getBaseType(type) != FLOAT4OID &&
		 getBaseType(type) != FLOAT8OID) ||
		!get_ordering_op_properties(sortop, &opfamily, &opcintype, &order) ||
		opfamily != typcache->btree_opf || opcintype != getBaseType(type))
		return false;
	*descending = order == STRATA_SORT_DESC;
	return true;
}

/* A float as an integer of the same order; NaN is the greatest. */
static inline int64
float_word(float8 x)
{
	int64		bits;

	if (isnan(x))
		x = get_float8_nan();
	if (x == 0)
		return 0;				/* of either sign */
	memcpy(&bits, &x, sizeof(int64));
	return bits < 0 ? bits ^ PG_INT64_MAX : bits;
}

/* See agg_best_private.h. */
int64
strata_agg_word(const StrataColumnType *type, Datum value)
{
	if (type->kind != STRATA_KIND_FLOAT)
		return strata_datum_integer(value, type->width);
	return float_word(type->width == sizeof(float4) ? DatumGetFloat4(value) :
					  DatumGetFloat8(value));
}

/* The number of the column that has the value, one more if there is none. */
static int
add_best_column(AggBest *best, Expr *expr)
{
	int			value = strata_agg_value_add(best->agg, expr);

	for (int c = 0; c < best->ncolumns; c++)
		if (best->values[c] == value)
			return c;
	best->values[best->ncolumns] = value;
	return best->ncolumns++;
}

static void
init_rank(AggBest *best, Expr *expr, const List *ops)
{
	BestRank   *rank = &best->ranks[best->nranks];
	Oid			sortop = (Oid) linitial_int(ops);

	rank->column = add_best_column(best, expr);
	rank->ssup.ssup_cxt = CurrentMemoryContext;
	rank->ssup.ssup_collation = (Oid) lsecond_int(ops);
	rank->ssup.ssup_nulls_first = lthird_int(ops) != 0;
	PrepareSortSupportFromOrderingOp(sortop, &rank->ssup);
	if (best->nranks++ == 0)
		best->has_words = strata_agg_has_words(exprType((Node *) expr),
											   sortop, &best->desc);
}

/* See agg_best_private.h.  Memory: the current context. */
AggBest *
strata_agg_best_create(StrataAggState *agg, const AggPlanData *plan)
{
	AggBest    *best = palloc0(sizeof(AggBest));
	int			n = list_length(plan->ranks) + list_length(plan->picks);
	AggCall    *call = &agg->calls[agg->ncalls++];
	ListCell   *lc;
	ListCell   *lc2;

	Assert(plan->stage == AGG_STAGE_WHOLE); /* agg:G26 */
	best->agg = agg;
	best->values = palloc(sizeof(int) * n);
	best->columns = palloc0(sizeof(StrataColumn *) * n);
	best->ranks = palloc0(sizeof(BestRank) * n);
	best->picks = palloc(sizeof(int) * n);
	forboth(lc, plan->ranks, lc2, plan->rank_ops)
		init_rank(best, lfirst(lc), lfirst(lc2));
	foreach(lc, plan->picks)
		best->picks[best->npicks++] = add_best_column(best, lfirst(lc));
	best->notes_space = 64;
	best->notes = palloc(sizeof(BestNote) * best->notes_space);
	call->kernel = &best_kernel;
	call->value = call->by = -1;
	return best;
}

/* See agg_best_private.h. */
void
strata_agg_best_want_values(AggBest *best)
{
	for (int c = 0; c < best->ncolumns; c++)
		best->agg->values[best->values[c]].by_integers = false;
}

/* See agg_best_private.h. */
void
strata_agg_best_new_vector(AggBest *best)
{
	best->words = NULL;
	memset(best->columns, 0, sizeof(StrataColumn *) * best->ncolumns);
}

static StrataColumn *
best_column(AggBest *best, int c)
{
	if (best->columns[c] == NULL)
		best->columns[c] = strata_agg_value_column(best->agg, best->values[c]);
	return best->columns[c];
}

/* Words of integers of a type, or floats. */
#define MAKE_WORDS(ctype, word) \
	do { \
		const ctype *v_ = col->fixed; \
		for (int i_ = 0; i_ < n; i_++) \
		{ \
			ctype		x_ = v_[agg_vector_row(vector, i_)]; \
			words[i_] = (word) ^ turn; \
		} \
	} while (0)

/* The words of the selected rows; ~x turns the order round. */
static void
make_words(AggBest *best)
{
	AggVector  *vector = best->agg->vector;
	int			n = vector->nselected;
	int64	   *words = MemoryContextAllocZero(best->agg->vector_mcxt,
											   sizeof(int64) * n);
	int64		turn = best->desc ? -1 : 0;
	const StrataColumn *col;
	int64		null;

	best->words = words;
	for (int j = 0; j < best->nranks; j++)
		(void) best_column(best, best->ranks[j].column);
	if (!best->has_words)
		return;
	col = best_column(best, best->ranks[0].column);
	null = best->ranks[0].ssup.ssup_nulls_first ? PG_INT64_MIN : PG_INT64_MAX;
	if (col->constant)
	{
		int64		word = col->value_isnull ? null :
		strata_agg_word(&col->type, col->value) ^ turn;

		for (int i = 0; i < n; i++)
			words[i] = word;
		return;
	}
	if (col->type.kind == STRATA_KIND_FLOAT &&
		col->type.width == sizeof(float4))
		MAKE_WORDS(float4, float_word(x_));
	else if (col->type.kind == STRATA_KIND_FLOAT)
		MAKE_WORDS(float8, float_word(x_));
	else if (col->type.width == sizeof(int16))
		MAKE_WORDS(int16, x_);
	else if (col->type.width == sizeof(int32))
		MAKE_WORDS(int32, x_);
	else
		MAKE_WORDS(int64, x_);
	if (col->isnull == NULL)
		return;
	for (int i = 0; i < n; i++)
		if (col->isnull[agg_vector_row(vector, i)])
			words[i] = null;
}

/* Equal words say that the first ranks are equal; not where one may be null. */
static inline bool
word_decides(const AggBest *best, int64 word)
{
	return best->has_words && word != PG_INT64_MIN && word != PG_INT64_MAX;
}

static inline bool *
nulls_of(const AggBest *best, BestRow *row)
{
	return (bool *) &row->values[best->ncolumns];
}

static inline BestRow *
row_of(const AggCell *cell)
{
	return (BestRow *) DatumGetPointer(cell->v.d);
}

/* Is a row of the vector better than that of the cell, which has its word? */
static bool
is_better_row(AggBest *best, const AggCell *cell, int row)
{
	for (int j = word_decides(best, cell->w.hi); j < best->nranks; j++)
	{
		BestRank   *rank = &best->ranks[j];
		const StrataColumn *col = best_column(best, rank->column);
		bool		isnull;
		Datum		value = strata_column_get(col, row, &isnull);
		bool		present_null;
		Datum		present;
		int			result;

		if (cell->n == BEST_NOTED)
			present = strata_column_get(col, best->notes[cell->v.i].row,
										&present_null);
		else
		{
			present = row_of(cell)->values[rank->column];
			present_null = nulls_of(best, row_of(cell))[rank->column];
		}
		result = ApplySortComparator(value, isnull, present, present_null,
									 &rank->ssup);
		if (result != 0)
			return result < 0;
	}
	return false;
}

/* Have the cell stand for the row of the vector. */
static void
note_best_row(AggBest *best, AggCell *cell, int row)
{
	BestNote   *note;

	if (cell->n == BEST_NOTED)
	{
		best->notes[cell->v.i].row = row;
		return;
	}
	if (best->nnotes == best->notes_space)
	{
		best->notes_space *= 2;
		best->notes = repalloc(best->notes,
							   sizeof(BestNote) * best->notes_space);
	}
	note = &best->notes[best->nnotes];
	note->cell = cell;
	note->before = cell->n == BEST_ROW ? row_of(cell) : NULL;
	note->row = row;
	cell->n = BEST_NOTED;
	cell->v.i = best->nnotes++;
}

/* See agg_best_private.h. */
void
strata_agg_best_run(AggBest *best, AggCell *cell, int from, int to)
{
	MemoryContext old = NULL;

	if (best->words == NULL)
		make_words(best);
	for (int i = from; i < to; i++)
	{
		int64		word = best->words[i];
		int			row = agg_vector_row(best->agg->vector, i);

		if (cell->n != BEST_EMPTY)
		{
			if (word > cell->w.hi)
				continue;
			if (word == cell->w.hi)
			{
				/* comparisons may leave something behind */
				if (old == NULL)
					old = MemoryContextSwitchTo(best->agg->vector_mcxt);
				if (!is_better_row(best, cell, row))
					continue;
			}
		}
		note_best_row(best, cell, row);
		cell->w.hi = word;
	}
	if (old != NULL)
		MemoryContextSwitchTo(old);
}

/* See agg_best_private.h. */
bool
strata_agg_best_wants(const AggBest *best, const AggCell *cell, int64 word)
{
	if (cell->n == BEST_EMPTY || word < cell->w.hi)
		return true;
	return word == cell->w.hi &&
		(best->nranks > 1 || !word_decides(best, word));
}

/* Room for a row of that size, in the memory of the groups. */
static BestRow *
make_row(AggBest *best, BestRow *before, Size size)
{
	BestRow    *row = before;

	if (row == NULL || row->space < size)
	{
		if (row != NULL)
			pfree(row);
		row = MemoryContextAllocHuge(best->agg->group_mcxt, size);
		row->space = size;
	}
	row->size = size;
	return row;
}

/* The place of the first bytes that values refer to. */
static inline Size
bytes_begin(const AggBest *best)
{
	return MAXALIGN(offsetof(BestRow, values) +
					best->ncolumns * (sizeof(Datum) + sizeof(bool)));
}

static inline const StrataColumnType *
type_of(const AggBest *best, int c)
{
	return &best->agg->values[best->values[c]].type;
}

/*
 * Copy the row of a note into the memory of the groups; values are what it
 * has.
 */
static void
keep_best_row(AggBest *best, const BestNote *note, Datum *values,
			  const bool *isnull)
{
	Size		size = bytes_begin(best);
	BestRow    *row;
	char	   *to;

	for (int c = 0; c < best->ncolumns; c++)
	{
		const StrataColumnType *type = type_of(best, c);

		if (isnull[c] || type->typbyval)
			continue;
		if (type->typlen == -1 &&
			VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(values[c])))
			values[c] = datumCopy(values[c], false, -1);
		size += MAXALIGN(datumGetSize(values[c], false, type->typlen));
	}
	row = make_row(best, note->before, size);
	to = (char *) row + bytes_begin(best);
	for (int c = 0; c < best->ncolumns; c++)
	{
		const StrataColumnType *type = type_of(best, c);
		Size		length;

		nulls_of(best, row)[c] = isnull[c];
		row->values[c] = values[c];
		if (isnull[c] || type->typbyval)
			continue;
		length = datumGetSize(values[c], false, type->typlen);
		memcpy(to, DatumGetPointer(values[c]), length);
		row->values[c] = PointerGetDatum(to);
		to += MAXALIGN(length);
	}
	note->cell->n = BEST_ROW;
	note->cell->v.d = PointerGetDatum(row);
}

/* See agg_best_private.h. */
void
strata_agg_best_end_vector(AggBest *best)
{
	MemoryContext old;
	Datum	   *values;
	bool	   *isnull;

	if (best->nnotes == 0)
		return;
	old = MemoryContextSwitchTo(best->agg->vector_mcxt);
	values = palloc(sizeof(Datum) * best->ncolumns);
	isnull = palloc(sizeof(bool) * best->ncolumns);
	for (int i = 0; i < best->nnotes; i++)
	{
		const BestNote *note = &best->notes[i];

		for (int c = 0; c < best->ncolumns; c++)
			values[c] = best->columns[c] == NULL &&
				best->nnotes <= FEW_NOTES ?
				strata_agg_value_at(best->agg, best->values[c], note->row,
									&isnull[c]) :
				strata_column_get(best_column(best, c), note->row, &isnull[c]);
		keep_best_row(best, note, values, isnull);
	}
	best->nnotes = 0;
	MemoryContextSwitchTo(old);
}

/* See agg_best_private.h. */
void
strata_agg_best_return(AggBest *best, const AggCell *cell, Datum *values,
					   bool *isnull)
{
	BestRow    *row = row_of(cell);

	Assert(cell->n == BEST_ROW);	/* agg:G26: a group has a row */
	for (int i = 0; i < best->npicks; i++)
	{
		values[i] = row->values[best->picks[i]];
		isnull[i] = nulls_of(best, row)[best->picks[i]];
	}
}

/* Add to what values refer to. */
static void
move_values(const AggBest *best, BestRow *row, Datum distance)
{
	for (int c = 0; c < best->ncolumns; c++)
		if (!nulls_of(best, row)[c] && !type_of(best, c)->typbyval)
			row->values[c] += distance;
}

/* See agg_best_private.h. */
void
strata_agg_best_write(AggBest *best, const AggCell *cell, StringInfo out)
{
	BestRow    *row = row_of(cell);

	Assert(cell->n == BEST_ROW);	/* agg:G26 */
	appendBinaryStringInfo(out, (const char *) &cell->w.hi, sizeof(int64));
	/* what they refer to is counted from the row's beginning */
	move_values(best, row, -PointerGetDatum(row));
	appendBinaryStringInfo(out, (const char *) row, (int) row->size);
	move_values(best, row, PointerGetDatum(row));
}

/* Is the row better than that of the cell, where words are the same? */
static bool
is_better_copy(AggBest *best, const AggCell *cell, BestRow *row)
{
	BestRow    *present = row_of(cell);

	for (int j = word_decides(best, cell->w.hi); j < best->nranks; j++)
	{
		BestRank   *rank = &best->ranks[j];
		int			c = rank->column;
		int			result;

		result = ApplySortComparator(row->values[c], nulls_of(best, row)[c],
									 present->values[c],
									 nulls_of(best, present)[c],
									 &rank->ssup);
		if (result != 0)
			return result < 0;
	}
	return false;
}

/* See agg_best_private.h. */
const char *
strata_agg_best_combine(AggBest *best, AggCell *cell, const char *in)
{
	int64		word;
	Size		size;
	BestRow    *row;

	memcpy(&word, in, sizeof(int64));
	in += sizeof(int64);
	memcpy(&size, in, sizeof(Size));	/* BestRow begins with it */
	row = make_row(best, NULL, size);
	memcpy(row, in, size);
	row->space = size;
	move_values(best, row, PointerGetDatum(row));
	if (cell->n != BEST_EMPTY &&
		(word > cell->w.hi ||
		 (word == cell->w.hi && !is_better_copy(best, cell, row))))
		pfree(row);
	else
	{
		if (cell->n != BEST_EMPTY)
			pfree(row_of(cell));
		cell->n = BEST_ROW;
		cell->v.d = PointerGetDatum(row);
		cell->w.hi = word;
	}
	return in + size;
}
