/*-------------------------------------------------------------------------
 *
 * stat_shmem.c
 *	  The shared memory of counters: a hash table of fixed size.
 *
 * One LWLock guards the table's shape; counters are atomic and are added to
 * while it is held in shared mode, once a scan.  When the table is full, those
 * of tables that are no more are thrown out; tables for which there is still
 * no room are not counted.  After a crash of the server all begins anew.
 *
 * src/stat/stat_shmem.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "stat/stat_private.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "utils/syscache.h"

/* A full table is not searched for those that are no more before this. */
#define SWEEP_SECONDS 60

HTAB	   *strata_stat_table = NULL;	/* NULL when not preloaded */

static StatShared *shared = NULL;
static shmem_request_hook_type previous_request = NULL;
static shmem_startup_hook_type previous_startup = NULL;

static void
request_stat_memory(void)
{
	if (previous_request)
		previous_request();
	RequestAddinShmemSpace(add_size(MAXALIGN(sizeof(StatShared)),
									hash_estimate_size(strata_max_stat_tables,
													   sizeof(StatEntry))));
	RequestNamedLWLockTranche("strata_stat", 1);
}

static void
save_at_exit(int code, Datum arg)
{
	/* not after a crash: who knows what was being written */
	if (code == 0)
		strata_stat_save();
}

/*
 * Get the memory, or find it; the postmaster fills it with what was saved, and
 * will save it.
 */
static void
make_stat_memory(void)
{
	HASHCTL		ctl = {0};
	bool		found;

	if (previous_startup)
		previous_startup();
	ctl.keysize = sizeof(StatKey);
	ctl.entrysize = sizeof(StatEntry);
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	shared = ShmemInitStruct("strata statistics", sizeof(StatShared), &found);
	if (!found)
	{
		shared->lock = &(GetNamedLWLockTranche("strata_stat"))->lock;
		pg_atomic_init_u64(&shared->last_sweep, 0);
	}
	strata_stat_table = ShmemInitHash("strata statistics of tables",
									  strata_max_stat_tables,
									  strata_max_stat_tables, &ctl,
									  HASH_ELEM | HASH_BLOBS |
									  HASH_FIXED_SIZE);
	LWLockRelease(AddinShmemInitLock);
	if (IsUnderPostmaster)
		return;
	if (!found)
		strata_stat_load();
	on_shmem_exit(save_at_exit, (Datum) 0);
}

/* See stat.h. */
void
strata_stat_init(void)
{
	if (!process_shared_preload_libraries_in_progress ||
		strata_max_stat_tables == 0)
		return;
	previous_request = shmem_request_hook;
	shmem_request_hook = request_stat_memory;
	previous_startup = shmem_startup_hook;
	shmem_startup_hook = make_stat_memory;
}

/* See stat.h. */
bool
strata_stat_preloaded(void)
{
	return strata_stat_table != NULL;
}

/* See stat.h. */
bool
strata_stat_enabled(void)
{
	return strata_stat_table != NULL && pgstat_track_counts;
}

/*
 * The table's entry, made when there is none; NULL: no room.  The caller holds
 * the lock exclusively, or is the postmaster alone.
 */
StatEntry *
strata_stat_enter(const StatKey *key)
{
	bool		found;
	StatEntry  *entry = hash_search(strata_stat_table, key, HASH_ENTER_NULL,
									&found);

	Assert(!IsUnderPostmaster ||
		   LWLockHeldByMeInMode(shared->lock, LW_EXCLUSIVE));	/* stat:V1 */
	if (entry == NULL || found)
		return entry;
	for (int i = 0; i < STRATA_STATS; i++)
		pg_atomic_init_u64(&entry->counts[i], 0);
	pg_atomic_init_u64(&entry->last_scan, 0);
	pg_atomic_init_u64(&entry->last_compression, 0);
	pg_atomic_init_u64(&entry->since, 0);
	return entry;
}

/* Add to an entry; the caller holds the lock. */
static void
add_to(StatEntry *entry, const int64 *counts, TimestampTz compressed)
{
	Assert(LWLockHeldByMe(shared->lock));	/* stat:V1 */
	for (int i = 0; i < STRATA_STATS; i++)
		if (counts[i] != 0)
			pg_atomic_fetch_add_u64(&entry->counts[i], counts[i]);
	if (counts[STRATA_STAT_SCANS] != 0)
		pg_atomic_write_u64(&entry->last_scan,
							GetCurrentStatementStartTimestamp());
	if (compressed != 0)
		pg_atomic_write_u64(&entry->last_compression, compressed);
}

/* Add, if there is room for the table; false: there is none. */
static bool
add(Oid relid, const int64 *counts, TimestampTz compressed)
{
	StatKey		key = {MyDatabaseId, relid};
	StatEntry  *entry;

	LWLockAcquire(shared->lock, LW_SHARED);
	entry = hash_search(strata_stat_table, &key, HASH_FIND, NULL);
	if (entry == NULL)
	{
		LWLockRelease(shared->lock);
		LWLockAcquire(shared->lock, LW_EXCLUSIVE);
		/* NULL when there is no room: no error */
		entry = strata_stat_enter(&key);
		if (entry != NULL && pg_atomic_read_u64(&entry->since) == 0)
			pg_atomic_write_u64(&entry->since, GetCurrentTimestamp());
	}
	if (entry != NULL)
		add_to(entry, counts, compressed);
	LWLockRelease(shared->lock);
	return entry != NULL;
}

/* See stat_private.h. */
void
strata_stat_add_late(Oid relid, const int64 *counts, TimestampTz compressed)
{
	(void) add(relid, counts, compressed);
}

/* All keys, palloc'd; *n of them. */
static StatKey *
all_keys(int *n)
{
	StatKey    *keys = palloc(sizeof(StatKey) * strata_max_stat_tables);
	HASH_SEQ_STATUS status;
	StatEntry  *entry;

	*n = 0;
	LWLockAcquire(shared->lock, LW_SHARED);
	hash_seq_init(&status, strata_stat_table);
	while ((entry = hash_seq_search(&status)) != NULL)
		if (*n < strata_max_stat_tables)
			keys[(*n)++] = entry->key;
	LWLockRelease(shared->lock);
	return keys;
}

static void
remove_key(const StatKey *key)
{
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	(void) hash_search(strata_stat_table, key, HASH_REMOVE, NULL);
	LWLockRelease(shared->lock);
}

/*
 * The table is full: throw out tables that are no more, of this database, and
 * those of databases that are no more; now and then.  A table that another
 * transaction is making, and has already been counted, may go too.
 */
static bool
sweep(void)
{
	TimestampTz now = GetCurrentTimestamp();
	uint64		last = pg_atomic_read_u64(&shared->last_sweep);
	StatKey    *keys;
	int			n;
	int			nremoved = 0;

	if (!IsTransactionState() ||
		!TimestampDifferenceExceeds((TimestampTz) last, now,
									SWEEP_SECONDS * 1000) ||
		!pg_atomic_compare_exchange_u64(&shared->last_sweep, &last, now))
		return false;
	keys = all_keys(&n);
	for (int i = 0; i < n; i++)
	{
		if (keys[i].database == MyDatabaseId ?
			SearchSysCacheExists1(RELOID, ObjectIdGetDatum(keys[i].relid)) :
			SearchSysCacheExists1(DATABASEOID,
								  ObjectIdGetDatum(keys[i].database)))
			continue;
		remove_key(&keys[i]);
		nremoved++;
	}
	pfree(keys);
	return nremoved > 0;
}

/* See stat.h. */
void
strata_stat_add(Oid relid, const int64 *counts)
{
	if (!strata_stat_enabled() || add(relid, counts, 0))
		return;
	if (sweep())
		(void) add(relid, counts, 0);
}

/* Throw out a table of this database. */
void
strata_stat_forget(Oid relid)
{
	StatKey		key = {MyDatabaseId, relid};

	remove_key(&key);
}

/* See stat.h. */
StrataStatTable *
strata_stat_read(int *n)
{
	StrataStatTable *tables = palloc_extended(sizeof(StrataStatTable) *
											  Max(strata_max_stat_tables, 1),
											  MCXT_ALLOC_HUGE);
	HASH_SEQ_STATUS status;
	StatEntry  *entry;

	*n = 0;
	LWLockAcquire(shared->lock, LW_SHARED);
	hash_seq_init(&status, strata_stat_table);
	while ((entry = hash_seq_search(&status)) != NULL)
	{
		StrataStatTable *table = &tables[*n];

		if (entry->key.database != MyDatabaseId ||
			*n >= strata_max_stat_tables)
			continue;
		table->relid = entry->key.relid;
		for (int i = 0; i < STRATA_STATS; i++)
			table->counts[i] = pg_atomic_read_u64(&entry->counts[i]);
		table->last_scan = pg_atomic_read_u64(&entry->last_scan);
		table->last_compression =
			pg_atomic_read_u64(&entry->last_compression);
		table->since = pg_atomic_read_u64(&entry->since);
		(*n)++;
	}
	LWLockRelease(shared->lock);
	return tables;
}

/* See stat.h. */
void
strata_stat_reset(Oid relid)
{
	StatKey		key = {MyDatabaseId, relid};
	StatEntry  *entry;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	entry = hash_search(strata_stat_table, &key, HASH_FIND, NULL);
	if (entry != NULL)
	{
		for (int i = 0; i < STRATA_STATS; i++)
			pg_atomic_write_u64(&entry->counts[i], 0);
		pg_atomic_write_u64(&entry->last_scan, 0);
		pg_atomic_write_u64(&entry->last_compression, 0);
		pg_atomic_write_u64(&entry->since, GetCurrentTimestamp());
	}
	LWLockRelease(shared->lock);
}
