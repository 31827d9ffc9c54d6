/*-------------------------------------------------------------------------
 *
 * agg_number.c
 *	  Groups of a batch's rows by the numbers of a key's strings.
 *
 * The dictionaries of batches share most entries, which have numbers that are
 * the same in all of them (batch_number.c).  Where that key is the only one
 * that varies in a batch, an array by number leads from a row to its group,
 * whatever batch the string came with first: it is hashed and compared once,
 * not once a batch.  There is an array for each combination of the other
 * keys' values, of which few are kept.
 *
 * Where a batch has few different strings, its rows are better put into the
 * order of their groups (agg_scatter.c).
 *
 * src/agg/agg_number.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_number_private.h"
#include "agg/agg_numeric_private.h"

#include "port/pg_bitutils.h"
#include "utils/memutils.h"

/* Fewer rows are not worth it, ... */
#define MIN_ROWS 64
/* ... nor are entries of which each comes so often, or few have a row. */
#define FEW_ENTRIES(n) ((n) / 4)
#define MANY_ENTRIES(n) ((n) * 2)
/* So many vectors are not tried behind one that was not worth it. */
#define PAUSE 15
/* Combinations of the other keys. */
#define MAX_FRAMES 64

typedef struct NumberedGroups
{
	int			varying;		/* the key that has numbers */
	Datum	   *keys;			/* of the others: their values, */
	bool	   *nulls;			/* ... and which are null */
	AggGroup   *of_null;
	int			size;			/* of groups */
	AggGroup  **groups;			/* by number; NULL: not known yet */
} NumberedGroups;

struct AggNumbers
{
	uint64		numbering;
	int			pause;			/* vectors left to pass over */
	int			nframes;
	int			last;			/* that was met */
	MemoryContext mcxt;			/* of what frames have */
	NumberedGroups frames[MAX_FRAMES];
};

/*
 * May a key's strings have numbers, and each row be added by itself?
 */
static bool
may_have_numbers(const StrataAggState *agg)
{
	bool		may = false;

	/* else groups are looked at, or rows held, in another order */
	if (!agg->scatters_codes)
		return false;
	for (int k = 0; k < agg->nkeys; k++)
		may |= agg->keys[k].bucket == NULL && !agg->keys[k].typbyval &&
			agg->values[agg->keys[k].value].input >= 0;
	for (int i = 0; i < agg->ncalls; i++)
		may &= agg->calls[i].kernel->rows != NULL ||
			(agg->calls[i].generic != NULL &&
			 strata_agg_generic_adds_numerics(agg->calls[i].generic));
	return may;
}

/* See agg_number_private.h.  Memory: the current context. */
AggNumbers *
strata_agg_numbers_create(const StrataAggState *agg)
{
	AggNumbers *numbers;

	if (!may_have_numbers(agg))
		return NULL;
	numbers = palloc0(sizeof(AggNumbers));
	numbers->mcxt = AllocSetContextCreate(CurrentMemoryContext,
										  "StrataAgg numbers",
										  ALLOCSET_SMALL_SIZES);
	return numbers;
}

/* See agg_number_private.h. */
void
strata_agg_numbers_forget(AggNumbers *numbers)
{
	if (numbers == NULL)
		return;
	numbers->nframes = 0;
	MemoryContextReset(numbers->mcxt);
}

/*
 * The one key that varies, if it is a dictionary that is worth it and whose
 * entries have numbers; else -1.
 */
static int
find_varying(StrataAggState *agg, AggNumbers *numbers, const uint16 **entries,
			 uint64 *numbering)
{
	const StrataColumn *col;
	int			n = agg->vector->nselected;
	int			varying = -1;

	for (int k = 0; k < agg->nkeys; k++)
	{
		if (agg->keys[k].constant)
			continue;
		if (varying >= 0 || agg->keys[k].bucket != NULL)
			varying = agg->nkeys;
		else
			varying = k;
	}
	col = varying >= 0 && varying < agg->nkeys ?
		agg->keys[varying].column : NULL;
	if (col == NULL || col->codes == NULL || col->ndict < FEW_ENTRIES(n) ||
		col->ndict > MANY_ENTRIES(n))
	{
		numbers->pause = PAUSE;
		return -1;
	}
	*entries = strata_column_numbers(col, numbering);
	return *entries != NULL ? varying : -1;
}

/* Are the other keys' values those of the frame? */
static bool
is_frame(const StrataAggState *agg, const NumberedGroups *frame, int varying)
{
	if (frame->varying != varying)
		return false;
	for (int k = 0; k < agg->nkeys; k++)
	{
		const AggKey *key = &agg->keys[k];

		if (k == varying)
			continue;
		if (key->isnull != frame->nulls[k])
			return false;
		if (!key->isnull &&
			(key->typbyval ? key->current != frame->keys[k] :
			 !agg_same_image(key->current, frame->keys[k], key->typlen)))
			return false;
	}
	return true;
}

/* A frame of the other keys' values, which knows no group. */
static NumberedGroups *
add_frame(const StrataAggState *agg, AggNumbers *numbers, int varying)
{
	NumberedGroups *frame;
	MemoryContext old;

	if (numbers->nframes == MAX_FRAMES)
		strata_agg_numbers_forget(numbers);
	old = MemoryContextSwitchTo(numbers->mcxt);
	numbers->last = numbers->nframes++;
	frame = &numbers->frames[numbers->last];
	memset(frame, 0, sizeof(NumberedGroups));
	frame->varying = varying;
	frame->keys = palloc0(sizeof(Datum) * agg->nkeys);
	frame->nulls = palloc0(sizeof(bool) * agg->nkeys);
	for (int k = 0; k < agg->nkeys; k++)
	{
		const AggKey *key = &agg->keys[k];

		if (k == varying)
			continue;
		frame->nulls[k] = key->isnull;
		if (!key->isnull)
			frame->keys[k] = datumCopy(key->current, key->typbyval,
									   key->typlen);
	}
	MemoryContextSwitchTo(old);
	return frame;
}

/* That of the other keys' values. */
static NumberedGroups *
find_frame(const StrataAggState *agg, AggNumbers *numbers, int varying)
{
	if (numbers->nframes > 0 &&
		is_frame(agg, &numbers->frames[numbers->last], varying))
		return &numbers->frames[numbers->last];
	for (int i = 0; i < numbers->nframes; i++)
		if (is_frame(agg, &numbers->frames[i], varying))
		{
			numbers->last = i;
			return &numbers->frames[i];
		}
	return add_frame(agg, numbers, varying);
}

/* Have a place for each of the entries' numbers. */
static void
make_places(AggNumbers *numbers, NumberedGroups *frame, const uint16 *entries,
			int n)
{
	int			most = -1;
	int			size;

	for (int i = 0; i < n; i++)
		if (entries[i] != STRATA_NO_STRING)
			most = Max(most, entries[i]);
	if (most < frame->size)
		return;
	Assert(most < STRATA_MAX_STRINGS);	/* batch:B16 */
	size = (int) pg_nextpower2_32((uint32) most + 1);
	frame->groups = frame->groups == NULL ?
		MemoryContextAlloc(numbers->mcxt, sizeof(AggGroup *) * size) :
		repalloc(frame->groups, sizeof(AggGroup *) * size);
	memset(frame->groups + frame->size, 0,
		   sizeof(AggGroup *) * (size - frame->size));
	frame->size = size;
}

/*
 * Look the groups of the rows up that have none yet, which becomes known of
 * their entries.  Returns how many of the entries have no number.
 */
static int
look_up_others(StrataAggState *agg, const StrataColumn *col,
			   const uint16 *entries, NumberedGroups *frame,
			   const int *positions, int n, AggCell **cells)
{
	AggGroup  **groups = strata_agg_look_up_rows(agg, positions, n);
	int			nwithout = 0;

	for (int i = 0; i < n; i++)
	{
		int			row = agg_vector_row(agg->vector, positions[i]);
		bool		isnull = col->isnull != NULL && col->isnull[row];
		uint16		number = isnull ? STRATA_NO_STRING :
		entries[col->codes[row]];

		cells[positions[i]] = agg_group_cells(groups[i], agg->nkeys);
		if (isnull)
			frame->of_null = groups[i];
		else if (number != STRATA_NO_STRING)
			frame->groups[number] = groups[i];
		else
			nwithout++;
	}
	return nwithout;
}

/* The cells of the selected rows' groups. */
static AggCell **
cells_by_number(StrataAggState *agg, AggNumbers *numbers,
				NumberedGroups *frame, int varying, const uint16 *entries)
{
	AggVector  *vector = agg->vector;
	const StrataColumn *col = agg->keys[varying].column;
	int			n = vector->nselected;
	int			nkeys = agg->nkeys;
	AggCell   **known = palloc(sizeof(AggCell *) * (col->ndict + 1));
	AggCell   **cells = palloc(sizeof(AggCell *) * n);
	int		   *positions = palloc(sizeof(int) * (n + 1));
	int			nothers = 0;

	Assert(numbers->numbering != 0);	/* agg:G31 */
	make_places(numbers, frame, entries, col->ndict);
	for (int i = 0; i < col->ndict; i++)
	{
		const AggGroup *group = entries[i] == STRATA_NO_STRING ? NULL :
		frame->groups[entries[i]];

		known[i] = group == NULL ? NULL : agg_group_cells(group, nkeys);
	}
	known[col->ndict] = frame->of_null == NULL ? NULL :
		agg_group_cells(frame->of_null, nkeys);
	for (int i = 0; i < n; i++)
	{
		int			row = agg_vector_row(vector, i);

		cells[i] = known[col->isnull != NULL && col->isnull[row] ?
						 (uint32) col->ndict : col->codes[row]];
		positions[nothers] = i;
		nothers += cells[i] == NULL;
	}
	if (nothers > 0 && look_up_others(agg, col, entries, frame, positions,
									  nothers, cells) > n / 4 * 3)
		numbers->pause = PAUSE;
	return cells;
}

/* See agg_number_private.h.  In vector_mcxt. */
AggCell **
strata_agg_number_cells(StrataAggState *agg)
{
	AggNumbers *numbers = agg->numbers;
	AggCell   **cells = NULL;
	const uint16 *entries;
	uint64		numbering;
	int			varying;
	MemoryContext old;

	if (numbers == NULL || agg->vector->nselected < MIN_ROWS)
		return NULL;
	if (numbers->pause > 0)
	{
		numbers->pause--;
		return NULL;
	}
	old = MemoryContextSwitchTo(agg->vector_mcxt);
	(void) strata_agg_load_keys(agg);
	varying = find_varying(agg, numbers, &entries, &numbering);
	if (varying >= 0)
	{
		if (numbers->numbering != numbering)
			strata_agg_numbers_forget(numbers);
		numbers->numbering = numbering;
		cells = cells_by_number(agg, numbers,
								find_frame(agg, numbers, varying), varying,
								entries);
	}
	MemoryContextSwitchTo(old);
	return cells;
}
