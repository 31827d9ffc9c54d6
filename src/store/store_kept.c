/*-------------------------------------------------------------------------
 *
 * store_kept.c
 *	  Rows of batches kept as tuples, for those who come back to more batches
 *	  than stay decoded.
 *
 * Rows that come in the order of time ask for a row of each segment, then for
 * the next row of each.  With more segments than batches can stay decoded
 * (store_fetch.c) each row would decode a whole batch.  So, once batches had
 * to be given up in a transaction, whoever decodes one again keeps the rows
 * around the one that was asked for: a window of 32.  Windows are thrown out
 * at random beyond hash_mem: of what is asked for in turns some stay.  Rows
 * that come in no order meet few windows again: then few are made.
 *
 * Rows are kept under the conditions under which batches stay decoded: until
 * the transaction ends, a subtransaction fails, or something about the table
 * changes.  A batch is never changed, so neither are its rows.
 *
 * src/store/store_kept.c
 *-------------------------------------------------------------------------
 */
#include "store/store_private.h"

#include "access/htup_details.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#define WINDOW_ROWS 32

/* Further rows are kept while those of the window are not larger. */
#define WINDOW_BYTES (32 * 1024)

#define MAX_TABLES 16

/*
 * Windows pay where at least every other one is met again.  While they don't,
 * one in KEPT_TRIALS is made, to notice when they do.
 */
#define KEPT_KNOWN 64
#define KEPT_TRIALS 16

/* Some rows of one batch, in one piece of memory. */
typedef struct KeptRows
{
	struct KeptRows *next;
	int64		first_row;		/* of the batch */
	ItemPointerData batch_tid;
	bool		batch_is_ours;
	Size		bytes;
	int64		start;			/* row number of tuples[0] */
	int			n;
	HeapTupleData tuples[FLEXIBLE_ARRAY_MEMBER];	/* without t_data: not
													 * kept */
} KeptRows;

typedef struct WindowKey
{
	int64		number;			/* row number / WINDOW_ROWS */
	uint32		table;			/* in tables[] */
	uint32		epoch;			/* of that, then */
} WindowKey;

typedef struct Window
{
	WindowKey	key;
	KeptRows   *rows;			/* where two batches meet, of both */
} Window;

/* Tables with kept rows; a new epoch makes all of one void. */
typedef struct KeptTable
{
	Oid			relid;
	Oid			companion;
	uint32		epoch;
} KeptTable;

static KeptTable tables[MAX_TABLES];
static int	next_table = 0;

/* In memory of the transaction. */
static MemoryContext kept_mcxt = NULL;
static HTAB *by_key = NULL;
static Window **windows = NULL; /* all of them */
static int	nwindows = 0;
static int	windows_size = 0;
static Size kept_bytes = 0;

/* Windows lately made, and rows found in some, and those not made since. */
static int	made = 0;
static int	met = 0;
static int	passed_by = 0;

/* See store_private.h. */
void
strata_kept_invalidate(Oid relid)
{
	for (int i = 0; i < MAX_TABLES; i++)
		if (!OidIsValid(relid) || relid == tables[i].relid ||
			relid == tables[i].companion)
			tables[i].epoch++;
}

/* See store_private.h. */
void
strata_kept_forget(void)
{
	kept_mcxt = NULL;
	by_key = NULL;
	windows = NULL;
	nwindows = windows_size = 0;
	kept_bytes = 0;
	made = met = passed_by = 0;
}

/* Is a window to be made? */
static bool
is_worth_keeping(void)
{
	if (made >= KEPT_KNOWN && met * 2 < made && ++passed_by < KEPT_TRIALS)
		return false;
	passed_by = 0;
	/* what was long ago counts less */
	if (++made >= 4 * KEPT_KNOWN)
	{
		made /= 2;
		met /= 2;
	}
	return true;
}

static void
make_key(WindowKey *key, int table, int64 row)
{
	memset(key, 0, sizeof(*key));
	key->number = row / WINDOW_ROWS;
	key->table = table;
	key->epoch = tables[table].epoch;
}

static int
find_table(Oid relid, Oid companion)
{
	for (int i = 0; i < MAX_TABLES; i++)
		if (tables[i].relid == relid && tables[i].companion == companion)
			return i;
	return -1;
}

/* The tuple of the row among these, or NULL. */
static HeapTuple
find_tuple(KeptRows *rows, int64 row)
{
	HeapTuple	tuple;

	if (row < rows->start || row >= rows->start + rows->n)
		return NULL;
	tuple = &rows->tuples[row - rows->start];
	return tuple->t_data != NULL ? tuple : NULL;
}

/* See store_private.h. */
bool
strata_kept_find(Relation rel, Relation batches, int64 row,
				 StrataBatchRow *found)
{
	WindowKey	key;
	Window	   *window;
	int			table;

	if (by_key == NULL)
		return false;
	table = find_table(RelationGetRelid(rel), RelationGetRelid(batches));
	if (table < 0)
		return false;
	make_key(&key, table, row);
	window = hash_search(by_key, &key, HASH_FIND, NULL);
	if (window == NULL)
		return false;
	for (KeptRows *rows = window->rows; rows != NULL; rows = rows->next)
	{
		HeapTuple	tuple = find_tuple(rows, row);

		if (tuple == NULL)
			continue;
		met++;
		found->reader = NULL;
		found->tuple = heap_copytuple(tuple);
		found->desc = RelationGetDescr(rel);
		found->row = row;
		found->first_row = rows->first_row;
		found->batch_tid = rows->batch_tid;
		found->batch_is_ours = rows->batch_is_ours;
		return true;
	}
	return false;
}

/*-------------------------------------------------------------------------
 * Keeping
 *-------------------------------------------------------------------------
 */

static int
add_table(Oid relid, Oid companion)
{
	int			table = find_table(relid, companion);

	if (table < 0)
	{
		table = next_table;
		next_table = (next_table + 1) % MAX_TABLES;
		tables[table].relid = relid;
		tables[table].companion = companion;
		tables[table].epoch++;
	}
	return table;
}

static void
throw_out(int i)
{
	Window	   *window = windows[i];

	while (window->rows != NULL)
	{
		KeptRows   *rows = window->rows;

		window->rows = rows->next;
		kept_bytes -= rows->bytes;
		pfree(rows);
	}
	windows[i] = windows[--nwindows];
	hash_search(by_key, &window->key, HASH_REMOVE, NULL);
}

static void
limit_kept(void)
{
	Size		limit = get_hash_memory_limit();

	while (kept_bytes > limit && nwindows > 0)
		throw_out((int) pg_prng_uint64_range(&pg_global_prng_state, 0,
											 nwindows - 1));
}

/* The window, made when there is none. */
static Window *
enter_window(const WindowKey *key)
{
	Window	   *window;
	bool		found;

	if (kept_mcxt == NULL)
	{
		HASHCTL		ctl = {0};

		kept_mcxt = AllocSetContextCreate(TopTransactionContext,
										  "strata kept rows",
										  ALLOCSET_DEFAULT_SIZES);
		ctl.keysize = sizeof(WindowKey);
		ctl.entrysize = sizeof(Window);
		ctl.hcxt = kept_mcxt;
		by_key = hash_create("strata kept rows", 256, &ctl,
							 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
		windows_size = 256;
		windows = MemoryContextAlloc(kept_mcxt,
									 sizeof(Window *) * windows_size);
	}
	if (nwindows == windows_size)
	{
		windows = repalloc_huge(windows,
								sizeof(Window *) * windows_size * 2);
		windows_size *= 2;
	}
	window = hash_search(by_key, key, HASH_ENTER, &found);
	if (!found)
	{
		window->rows = NULL;
		windows[nwindows++] = window;
	}
	return window;
}

/* One piece of memory with the tuples that there are. */
static KeptRows *
copy_tuples(HeapTuple *tuples, int n)
{
	Size		head = MAXALIGN(offsetof(KeptRows, tuples) +
								sizeof(HeapTupleData) * n);
	Size		bytes = head;
	KeptRows   *rows;
	char	   *next;

	for (int i = 0; i < n; i++)
		if (tuples[i] != NULL)
			bytes += MAXALIGN(tuples[i]->t_len);
	rows = MemoryContextAllocHuge(kept_mcxt, bytes);
	next = (char *) rows + head;
	for (int i = 0; i < n; i++)
	{
		if (tuples[i] == NULL)
		{
			memset(&rows->tuples[i], 0, sizeof(HeapTupleData));
			continue;
		}
		rows->tuples[i] = *tuples[i];
		rows->tuples[i].t_data = (HeapTupleHeader) next;
		memcpy(next, tuples[i]->t_data, tuples[i]->t_len);
		next += MAXALIGN(tuples[i]->t_len);
	}
	rows->n = n;
	rows->bytes = bytes;
	return rows;
}

/* See store_private.h. */
void
strata_kept_add(Relation rel, Relation batches, const StrataBatchRow *row)
{
	StrataBatchReader *reader = row->reader;
	int64		start = Max(row->row - row->row % WINDOW_ROWS,
							reader->first_row);
	int64		end = Min(row->row - row->row % WINDOW_ROWS + WINDOW_ROWS,
						  reader->first_row + reader->nrows);
	int			n = (int) (end - start);
	HeapTuple	tuples[WINDOW_ROWS] = {NULL};
	Size		bytes = 0;
	WindowKey	key;
	Window	   *window;
	KeptRows   *rows;

	/* or what is kept could be replaced */
	Assert(CheckRelationLockedByMe(rel, RowShareLock, true));	/* store:S3 */
	Assert(n > 0 && n <= WINDOW_ROWS);	/* store:S4 */
	if (!is_worth_keeping())
		return;
	make_key(&key, add_table(RelationGetRelid(rel),
							 RelationGetRelid(batches)), row->row);
	/* from the row on, then those before it */
	for (int k = 0; k < n && bytes < WINDOW_BYTES; k++)
	{
		int			i = (int) ((row->row - start + k) % n);

		tuples[i] = strata_batch_form_row(rel, reader,
										  (int) (start + i -
												 reader->first_row));
		bytes += tuples[i]->t_len;
	}
	/* decoding has looked at catalogs, and may have heard of changes */
	if (tables[key.table].epoch != key.epoch)
		return;
	window = enter_window(&key);
	rows = copy_tuples(tuples, n);
	rows->first_row = row->first_row;
	rows->batch_tid = row->batch_tid;
	rows->batch_is_ours = row->batch_is_ours;
	rows->start = start;
	rows->next = window->rows;
	window->rows = rows;
	kept_bytes += rows->bytes;
	for (int i = 0; i < n; i++)
		if (tuples[i] != NULL)
			heap_freetuple(tuples[i]);
	limit_kept();
}
