/*-------------------------------------------------------------------------
 *
 * store_touched.c
 *	  Which rows of batches nobody has, or had, to do with, remembered.
 *
 * Whoever locks, changes or compares rows one by one looks for the entry of
 * each, in the companion's index.  Most rows have none.  So of a window of
 * 1,024 row numbers that is asked about again and again all entries are read
 * at once, and rows without one are known from then on, until somebody makes
 * an entry there.
 *
 * That is told by counters in shared memory, one for many windows: whoever
 * has made an entry raises its own before he lets go of the batch's writing
 * lock.  A counter is read before the entries are.  What is known is that a
 * row has no entry; of others, and where the library was not preloaded, each
 * look is one into the index.
 *
 * A row that has got an entry counts as touched for good: entries may go, and
 * come back when a subtransaction fails, but that makes all of it void.
 *
 * src/store/store_touched.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "store/store_private.h"

#include "access/xact.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#define COUNTERS 16384
#define WINDOW_ROWS 1024
#define MAX_WINDOWS 8192

/* So many entries are read in the time of one look for one. */
#define ENTRIES_PER_LOOK 4

typedef struct TouchedKey
{
	int64		number;			/* row number / WINDOW_ROWS */
	Oid			companion;
	uint32		zero;
} TouchedKey;

typedef struct TouchedWindow
{
	TouchedKey	key;
	bool		known;
	uint64		count;			/* of its counter, when it was read */
	int			looks;			/* since then, that found another count */
	int			patience;		/* how many of these it takes to read again */
	uint8		touched[WINDOW_ROWS / 8];
} TouchedWindow;

static pg_atomic_uint64 *counters = NULL;	/* NULL: not preloaded */
static shmem_request_hook_type previous_request = NULL;
static shmem_startup_hook_type previous_startup = NULL;

/* In memory of the transaction. */
static HTAB *known_windows = NULL;

static void
request_touched_memory(void)
{
	if (previous_request)
		previous_request();
	RequestAddinShmemSpace(MAXALIGN(sizeof(pg_atomic_uint64) * COUNTERS));
}

static void
make_touched_memory(void)
{
	bool		found;

	if (previous_startup)
		previous_startup();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	counters = ShmemInitStruct("strata row entries",
							   sizeof(pg_atomic_uint64) * COUNTERS, &found);
	if (!found)
		for (int i = 0; i < COUNTERS; i++)
			pg_atomic_init_u64(&counters[i], 0);
	LWLockRelease(AddinShmemInitLock);
}

static void
forget_at_transaction_end(XactEvent event, void *arg)
{
	/* the memory goes with TopTransactionContext */
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
		event == XACT_EVENT_PREPARE)
		known_windows = NULL;
}

static void
forget_at_subtransaction_end(SubXactEvent event, SubTransactionId id,
							 SubTransactionId parent, void *arg)
{
	if (event != SUBXACT_EVENT_ABORT_SUB || known_windows == NULL)
		return;
	hash_destroy(known_windows);
	known_windows = NULL;
}

/* See store.h. */
void
strata_touched_init(void)
{
	RegisterXactCallback(forget_at_transaction_end, NULL);
	RegisterSubXactCallback(forget_at_subtransaction_end, NULL);
	if (!process_shared_preload_libraries_in_progress)
		return;
	previous_request = shmem_request_hook;
	shmem_request_hook = request_touched_memory;
	previous_startup = shmem_startup_hook;
	shmem_startup_hook = make_touched_memory;
}

/* See store_private.h. */
pg_atomic_uint64 *
strata_touched_counter(Oid companion, int64 number)
{
	uint32		hash = hash_combine(murmurhash32((uint32) number),
									(uint32) (number >> 32) ^
									murmurhash32(companion));

	return counters == NULL ? NULL : &counters[hash % COUNTERS];
}

static pg_atomic_uint64 *
counter_of(const TouchedKey *key)
{
	return strata_touched_counter(key->companion, key->number);
}

/* The window; FIND: NULL where it is not kept, ENTER: it is, from now on. */
static TouchedWindow *
touched_window(Oid companion, int64 number, HASHACTION action)
{
	TouchedKey	key = {.number = number,.companion = companion};
	TouchedWindow *window;
	bool		found;

	if (known_windows == NULL && action == HASH_FIND)
		return NULL;
	if (known_windows != NULL && action == HASH_ENTER &&
		hash_get_num_entries(known_windows) >= MAX_WINDOWS)
	{
		hash_destroy(known_windows);
		known_windows = NULL;
	}
	if (known_windows == NULL)
	{
		HASHCTL		ctl = {0};

		ctl.keysize = sizeof(TouchedKey);
		ctl.entrysize = sizeof(TouchedWindow);
		ctl.hcxt = TopTransactionContext;
		known_windows = hash_create("strata rows without entries", 64, &ctl,
									HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	window = hash_search(known_windows, &key, action, &found);
	if (!found && window != NULL)
	{
		window->known = false;
		window->looks = 0;
		window->patience = 1;
	}
	return window;
}

static void
mark(TouchedWindow *window, int64 from, int64 to)
{
	int64		start = window->key.number * WINDOW_ROWS;

	for (int64 row = Max(from, start); row <= to && row < start + WINDOW_ROWS;
		 row++)
		window->touched[(row - start) / 8] |= 1 << (row - start) % 8;
}

/* What a window's entries are noted in. */
typedef struct Visit
{
	TouchedWindow *window;
	int			n;
} Visit;

static void
note_entry(Relation batches, const StrataEntry *entry, void *arg)
{
	Visit	   *visit = arg;

	visit->n++;
	if (entry->bits == NULL)
		mark(visit->window, entry->row, entry->row + entry->span - 1);
	else
		for (int64 row = entry->row; row < entry->row + entry->span; row++)
			if (strata_entry_is_about(entry, row))
				mark(visit->window, row, row);
}

/* Read the window's entries, those of transactions in progress as well. */
static void
read_window(Relation batches, TouchedWindow *window, int64 batch, uint64 count)
{
	int64		start = window->key.number * WINDOW_ROWS;
	HTAB	   *table = known_windows;
	Visit		visit = {window, 0};
	SnapshotData dirty;

	InitDirtySnapshot(dirty);
	window->known = false;
	memset(window->touched, 0, sizeof(window->touched));
	/* the batch of the window's first row, or all that may be it */
	strata_entries_visit(batches, &dirty, batch <= start ? batch :
						 Max(start - PG_UINT16_MAX, 0), start,
						 start + WINDOW_ROWS - 1, note_entry, &visit);
	if (table != known_windows)
		return;
	window->known = true;
	window->count = count;
	window->looks = 0;
	window->patience = 1 + visit.n / ENTRIES_PER_LOOK;
}

/* See store_private.h. */
bool
strata_row_is_untouched(Relation batches, int64 batch, int64 row)
{
	TouchedWindow *window;
	uint64		count;
	int64		i = row % WINDOW_ROWS;

	if (counters == NULL || !strata_enable_row_cache)
		return false;
	window = touched_window(RelationGetRelid(batches), row / WINDOW_ROWS,
							HASH_ENTER);
	count = pg_atomic_read_u64(counter_of(&window->key));
	/* what it counts has been written before */
	pg_read_barrier();
	if (!window->known || window->count != count)
	{
		if (window->looks++ < window->patience)
			return false;
		read_window(batches, window, batch, count);
	}
	return (window->touched[i / 8] & (1 << i % 8)) == 0;
}

/* See store_private.h. */
void
strata_rows_note_touched(Relation batches, int64 from, int64 to)
{
	if (counters == NULL)
		return;
	for (int64 number = from / WINDOW_ROWS; number <= to / WINDOW_ROWS;
		 number++)
	{
		TouchedKey	key = {.number = number,
		.companion = RelationGetRelid(batches)};
		TouchedWindow *window;
		uint64		before;

		window = touched_window(key.companion, number, HASH_FIND);
		/* a full barrier: the entry is in the index to who sees the count */
		before = pg_atomic_fetch_add_u64(counter_of(&key), 1);
		if (window == NULL || !window->known || window->count != before)
			continue;
		window->count = before + 1;
		mark(window, from, to);
	}
}
