/*-------------------------------------------------------------------------
 *
 * change_table.c
 *	  A batch index of the table in memory, for many looks at unique keys.
 *
 * A look for a key by a batch index opens it, finds a row of each run and
 * decodes that.  Whoever looks often reads all of it once, and has a search
 * among sorted hashes instead, eight bytes a value.
 *
 * It is of the directory's batches (change_key.c), and good for as long:
 * what runs say of a batch is right while the batch is there (index:I1).
 *
 * src/change/change_table.c
 *-------------------------------------------------------------------------
 */
#include "change/change_place_private.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

/* Looks that cost what reading so many entries does. */
#define ENTRIES_PER_LOOK 1000

/* Runs are a few: each is at least four times as large as the next. */
#define MAX_RUNS 32

struct StrataKeyTable
{
	int			nruns;
	int			starts[MAX_RUNS + 1];	/* in entries */
	StrataKeyPrint *entries;	/* a hash, and the batch's position in
								 * first_rows; sorted by hash in each run */
	int			n;
	int			size;
	int64		covered;		/* batches from here on may have any value */
	const int64 *first_rows;	/* of the directory's batches, rising */
	int			nbatches;
	bool		fits;

	/*
	 * while it is read: by place, the first batch in it or behind; places of
	 * so many bits, 0 where they are too many
	 */
	int			shift;
	int64		nplaces;
	int		   *places;
};

/* Places that are listed beside those of the batches. */
#define FREE_PLACES 65536

/* Where the first batch is whose first row's number is not below. */
static int
find_first_row(const StrataKeyTable *table, int64 first_row)
{
	int			low = 0;
	int			high = table->nbatches;

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (table->first_rows[middle] < first_row)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* List places of that many bits, if they are not too many. */
static void
list_places(StrataKeyTable *table, int shift)
{
	int			batch = 0;

	if (table->places != NULL)
		pfree(table->places);
	table->places = NULL;
	table->shift = shift;
	table->nplaces = table->nbatches == 0 ? 0 :
		(table->first_rows[table->nbatches - 1] >> shift) + 1;
	if (table->nplaces > (int64) table->nbatches * 8 + FREE_PLACES)
		table->nplaces = 0;
	if (table->nplaces == 0)
		return;
	table->places = MemoryContextAllocHuge(CurrentMemoryContext,
										   sizeof(int) * table->nplaces);
	for (int64 place = 0; place < table->nplaces; place++)
	{
		while (batch < table->nbatches &&
			   table->first_rows[batch] >> shift < place)
			batch++;
		table->places[place] = batch;
	}
}

/* Where the first batch in the place, or behind it, is. */
static inline int
first_in_place(StrataKeyTable *table, int shift, int64 place)
{
	if (unlikely(shift != table->shift))
		list_places(table, shift);
	if (likely(table->places != NULL && place >= 0 &&
			   place < table->nplaces))
		return table->places[place];
	return find_first_row(table, place << shift);
}

/* Take an entry, of each batch in its place: usually there is one. */
static void
keep_entry(void *arg, int run, int shift, uint32 hash, int64 place)
{
	StrataKeyTable *table = arg;
	int64		to = (place + 1) << shift;

	if (run >= MAX_RUNS)
		table->fits = false;
	if (!table->fits)
		return;
	while (table->nruns <= run)
		table->starts[table->nruns++] = table->n;
	for (int i = first_in_place(table, shift, place);
		 i < table->nbatches && table->first_rows[i] < to; i++)
	{
		if (table->n == table->size)
		{
			table->fits = false;
			return;
		}
		table->entries[table->n].print = hash;
		table->entries[table->n++].row = i;
	}
}

/* See change_private.h. */
bool
strata_key_table_pays(const StrataKeyPlace *place, int asked)
{
	return place->entries <= (double) asked * ENTRIES_PER_LOOK &&
		place->entries * sizeof(StrataKeyPrint) <=
		Min(get_hash_memory_limit(), MaxAllocSize / 2);
}

/* See change_private.h. */
StrataKeyTable *
strata_key_table_read(const StrataKeyPlace *place, Relation batches,
					  Snapshot snapshot, const int64 *first_rows,
					  int nbatches)
{
	StrataKeyTable *table = palloc0(sizeof(StrataKeyTable));

	/* two batches in a place are rare */
	table->size = (int) (place->entries * 1.25) + 64;
	table->entries = palloc(sizeof(StrataKeyPrint) * table->size);
	table->first_rows = first_rows;
	table->nbatches = nbatches;
	table->fits = true;
	table->shift = -1;
	table->covered = strata_index_visit(batches, snapshot, place->attno,
										place->column, keep_entry, table);
	table->starts[table->nruns] = table->n;
	if (table->places != NULL)
		pfree(table->places);
	if (table->fits)
		return table;
	pfree(table->entries);
	pfree(table);
	return NULL;
}

/* See change_private.h. */
Size
strata_key_table_bytes(const StrataKeyTable *table)
{
	return sizeof(StrataKeyPrint) * table->size;
}

static int
compare_numbers(const void *a, const void *b)
{
	int64		x = ((const StrataIndexRange *) a)->from;
	int64		y = ((const StrataIndexRange *) b)->from;

	return (x > y) - (x < y);
}

/* See change_private.h. */
int
strata_key_table_find(const StrataKeyTable *table, uint32 hash,
					  StrataIndexRange **ranges)
{
	StrataIndexRange *found = palloc(sizeof(StrataIndexRange) * 8);
	int			size = 8;
	int			n = 0;

	for (int run = 0; run < table->nruns; run++)
	{
		int			last = table->starts[run + 1];
		int			i = table->starts[run] +
		strata_key_find_print(table->entries + table->starts[run],
							  last - table->starts[run], hash);

		for (; i < last && table->entries[i].print == hash; i++)
		{
			int64		first_row = table->first_rows[table->entries[i].row];

			if (first_row >= table->covered)
				continue;
			if (n + 1 == size)
				found = repalloc_huge(found,
									  sizeof(StrataIndexRange) * (size *= 2));
			found[n].from = first_row;
			found[n++].to = first_row + 1;
		}
	}
	if (n > 1)
		qsort(found, n, sizeof(StrataIndexRange), compare_numbers);
	found[n].from = table->covered;
	found[n++].to = STRATA_BATCH_MAX_ROW_NUMBER + 1;
	*ranges = found;
	return n;
}
