/*-------------------------------------------------------------------------
 *
 * agg_memo.c
 *	  The groups of a row store's rows, found once for each key.
 *
 * Late rows stand there as they came, so that nearly each is of another group
 * than the one before it.  What groups have been found is remembered, by the
 * words of their keys, from vector to vector: a row then costs a look into a
 * small table, in place of hashing and comparing its keys.
 *
 * The word of a value by reference is its address, which says what it is where
 * StrataScan has given the value a number (scan_intern.c), as long as these
 * numbers are the same.  Rows whose values have none are looked up one by one.
 * Values that are equal in other bytes have entries of their own; which group
 * they are of is agg_hash.c's to say.
 *
 * src/agg/agg_memo.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_private.h"

#include "utils/memutils.h"

/* Powers of two, of slots; up to half of them are used. */
#define MIN_SLOTS 512
#define MAX_SLOTS 4096
/* Where so many rows of a vector, or more, are of new keys, ... */
#define TRIAL_ROWS 256
#define MAX_NEW(n) ((n) / 4 * 3)
/* ... so many vectors are not tried. */
#define PAUSE 31

#define HASH_FACTOR UINT64CONST(0x9e3779b97f4a7c15)

struct AggMemo
{
	int			nkeys;
	int			nslots;
	int			nused;
	int			pause;			/* vectors left to pass over */
	bool		numbered;		/* words are of this numbering */
	uint64		numbering;
	int			width;			/* words of an entry: the group's address,
								 * which keys are null, and the keys' */
	uint64	   *entries;
	AggGroup   *groups[STRATA_MAX_NUMBERS]; /* of the numbers of one key */
};

/* See agg_private.h.  Can all keys have words that stay what they are? */
bool
strata_agg_may_remember(const StrataAggState *agg)
{
	if (!strata_enable_row_grouping || agg->nkeys == 0)
		return false;
	for (int k = 0; k < agg->nkeys; k++)
		if (!agg->keys[k].typbyval &&
			agg->values[agg->keys[k].value].input < 0)
			return false;
	return true;
}

/* Memory: the current context. */
AggMemo *
strata_agg_memo_create(StrataAggState *agg)
{
	AggMemo    *memo = palloc0(sizeof(AggMemo));

	Assert(agg->nkeys > 0);		/* agg:G24 */
	memo->nkeys = agg->nkeys;
	memo->width = agg->nkeys + 2;
	return memo;
}

/* See agg_private.h. */
void
strata_agg_memo_forget(AggMemo *memo)
{
	if (memo == NULL)
		return;
	memset(memo->groups, 0, sizeof(memo->groups));
	if (memo->nused == 0)
		return;
	memset(memo->entries, 0, sizeof(uint64) * memo->width * memo->nslots);
	memo->nused = 0;
}

/* Have room for one more entry; all others may be forgotten for it. */
static void
make_entry_room(StrataAggState *agg, AggMemo *memo)
{
	if (memo->nused < memo->nslots / 2)
		return;
	if (memo->nslots == MAX_SLOTS)
	{
		strata_agg_memo_forget(memo);
		return;
	}
	if (memo->entries != NULL)
		pfree(memo->entries);
	memo->nslots = memo->nslots == 0 ? MIN_SLOTS : MAX_SLOTS;
	memo->nused = 0;
	memo->entries = MemoryContextAllocZero(agg->css.ss.ps.state->es_query_cxt,
										   sizeof(uint64) * memo->width *
										   memo->nslots);
}

/* Do all keys have words that stay what they are? */
static bool
can_remember(StrataAggState *agg, AggMemo *memo)
{
	AggVector  *vector = agg->vector;

	memo->numbered = false;
	for (int k = 0; k < agg->nkeys; k++)
	{
		const AggKey *key = &agg->keys[k];
		int			input = agg->values[key->value].input;

		if (key->constant)
			return false;
		if (key->bucket != NULL || key->column->fixed != NULL)
			continue;
		if (input < 0 || vector->numbers == NULL ||
			vector->numbers[input] == NULL)
			return false;
		memo->numbered = true;
	}
	return true;
}

/* Has a value of the row no number? */
static bool
has_no_number(const StrataAggState *agg, int i)
{
	int			row = agg_vector_row(agg->vector, i);

	for (int k = 0; k < agg->nkeys; k++)
	{
		const AggKey *key = &agg->keys[k];

		if (key->bucket == NULL && key->column->fixed == NULL &&
			(key->column->isnull == NULL || !key->column->isnull[row]) &&
			agg->vector->numbers[agg->values[key->value].input][row] ==
			STRATA_NO_NUMBER)
			return true;
	}
	return false;
}

/* Find the group of the keys' current values. */
static AggGroup *
find_group(StrataAggState *agg)
{
	if (agg->stop.kind == AGG_STOP_TOP)
		strata_agg_stop_see(agg);
	return strata_agg_table_find(agg->table);
}

/* That of a row. */
static AggGroup *
find_by_keys(StrataAggState *agg, const AggKeyWords *keys, int i)
{
	int			row = agg_vector_row(agg->vector, i);

	for (int k = 0; k < agg->nkeys; k++)
	{
		AggKey	   *key = &agg->keys[k];

		if (key->bucket == NULL)
			key->current = strata_column_get(key->column, row, &key->isnull);
		else
		{
			key->current = (Datum) keys[k].words[i];
			key->isnull = keys[k].nulls[i];
		}
	}
	return find_group(agg);
}

static inline bool
is_entry(const AggMemo *memo, const uint64 *entry, const AggKeyWords *keys,
		 int i, uint64 nulls)
{
	if (entry[1] != nulls)
		return false;
	for (int k = 0; k < memo->nkeys; k++)
		if (entry[k + 2] != keys[k].words[i])
			return false;
	return true;
}

/* The slot of a row's keys: its entry, or a free one.  *nulls: which are. */
static inline uint64 *
find_slot(const AggMemo *memo, const AggKeyWords *keys, int i, uint64 *nulls)
{
	uint64		hash = 0;
	uint64		mask = 0;
	uint64	   *entry;

	for (int k = 0; k < memo->nkeys; k++)
	{
		hash = ((hash << 29 | hash >> 35) ^ keys[k].words[i]) * HASH_FACTOR;
		if (keys[k].nulls != NULL)
			mask |= (uint64) keys[k].nulls[i] << k;
	}
	*nulls = mask;
	for (uint32 slot = (uint32) (hash >> 40);; slot++)
	{
		entry = memo->entries +
			(Size) (slot & (memo->nslots - 1)) * memo->width;
		if (entry[0] == 0 || is_entry(memo, entry, keys, i, mask))
			return entry;
	}
}

/* The group of a row that has no entry, which it gets. */
static AggGroup *
remember(StrataAggState *agg, AggMemo *memo, const AggKeyWords *keys, int i)
{
	AggGroup   *group = find_by_keys(agg, keys, i);
	uint64		nulls;
	uint64	   *entry;

	if (memo->numbered && has_no_number(agg, i))
		return group;
	make_entry_room(agg, memo);
	entry = find_slot(memo, keys, i, &nulls);
	Assert(entry[0] == 0);		/* agg:G24 */
	entry[0] = (uint64) (uintptr_t) group;
	entry[1] = nulls;
	for (int k = 0; k < memo->nkeys; k++)
		entry[k + 2] = keys[k].words[i];
	memo->nused++;
	return group;
}

/* Set cells of the selected rows, in the current context. */
static AggCell **
find_cells(StrataAggState *agg, AggMemo *memo)
{
	int			n = agg->vector->nselected;
	AggKeyWords *keys = palloc0(sizeof(AggKeyWords) * agg->nkeys);
	AggCell   **cells = palloc(sizeof(AggCell *) * n);
	int			nnew = 0;

	strata_agg_load_key_words(agg, keys);
	if (memo->nslots == 0)
		make_entry_room(agg, memo);
	for (int i = 0; i < n; i++)
	{
		uint64		nulls;
		AggGroup   *group;

		group = (AggGroup *) (uintptr_t) find_slot(memo, keys, i, &nulls)[0];
		if (group == NULL)
		{
			group = remember(agg, memo, keys, i);
			nnew++;
		}
		cells[i] = agg_group_cells(group, agg->nkeys);
	}
	if (n >= TRIAL_ROWS && nnew > MAX_NEW(n))
		memo->pause = PAUSE;
	return cells;
}

/* The same where the one key's values have numbers, which index groups. */
static AggCell **
find_cells_by_number(StrataAggState *agg, AggMemo *memo)
{
	AggVector  *vector = agg->vector;
	int			n = vector->nselected;
	AggKey	   *key = &agg->keys[0];
	const StrataColumn *col = key->column;
	const uint16 *numbers = vector->numbers[agg->values[key->value].input];
	AggCell   **cells = palloc(sizeof(AggCell *) * n);
	int			nnew = 0;

	for (int i = 0; i < n; i++)
	{
		int			row = agg_vector_row(vector, i);
		bool		isnull = col->isnull != NULL && col->isnull[row];
		uint16		number = isnull ? STRATA_NO_NUMBER : numbers[row];
		AggGroup   *group;

		group = number == STRATA_NO_NUMBER ? NULL : memo->groups[number];
		if (group == NULL)
		{
			key->current = isnull ? (Datum) 0 : col->datums[row];
			key->isnull = isnull;
			group = find_group(agg);
			nnew++;
			if (number != STRATA_NO_NUMBER)
				memo->groups[number] = group;
		}
		cells[i] = agg_group_cells(group, 1);
	}
	if (n >= TRIAL_ROWS && nnew > MAX_NEW(n))
		memo->pause = PAUSE;
	return cells;
}

/* See agg_private.h.  In vector_mcxt. */
AggCell **
strata_agg_memo_cells(StrataAggState *agg)
{
	AggMemo    *memo = agg->memo;
	AggVector  *vector = agg->vector;
	AggCell   **cells = NULL;
	MemoryContext old;

	if (memo == NULL || vector->batch != NULL)
		return NULL;
	if (memo->pause > 0)
	{
		memo->pause--;
		return NULL;
	}
	old = MemoryContextSwitchTo(agg->vector_mcxt);
	(void) strata_agg_load_keys(agg);
	if (can_remember(agg, memo))
	{
		if (memo->numbered && memo->numbering != vector->numbering)
			strata_agg_memo_forget(memo);
		memo->numbering = vector->numbering;
		cells = agg->nkeys == 1 && memo->numbered ?
			find_cells_by_number(agg, memo) : find_cells(agg, memo);
	}
	MemoryContextSwitchTo(old);
	return cells;
}
