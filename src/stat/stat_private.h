/*-------------------------------------------------------------------------
 *
 * stat_private.h
 *	  What the files of src/stat share among themselves.
 *
 * src/stat/stat_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_STAT_PRIVATE_H
#define STRATA_STAT_PRIVATE_H

#include "stat/stat.h"

#include "port/atomics.h"
#include "storage/lwlock.h"
#include "utils/hsearch.h"

typedef struct StatKey
{
	Oid			database;
	Oid			relid;
} StatKey;

/* One table.  Counters are added to under the lock in shared mode. */
typedef struct StatEntry
{
	StatKey		key;			/* hash key, must be first */
	pg_atomic_uint64 counts[STRATA_STATS];
	pg_atomic_uint64 last_scan;
	pg_atomic_uint64 last_compression;
	pg_atomic_uint64 since;
} StatEntry;

typedef struct StatShared
{
	LWLock	   *lock;			/* of the hash table */
	pg_atomic_uint64 last_sweep;	/* for tables that are no more */
} StatShared;

/* stat_shmem.c */
extern HTAB *strata_stat_table;
extern StatEntry *strata_stat_enter(const StatKey *key);
extern void strata_stat_forget(Oid relid);

/*
 * Add at the end of a transaction: nothing is looked up, no error is raised.
 */
extern void strata_stat_add_late(Oid relid, const int64 *counts,
								 TimestampTz compressed);

/* stat_file.c: what outlives a restart; called by the postmaster alone. */
extern void strata_stat_load(void);
extern void strata_stat_save(void);

#endif							/* STRATA_STAT_PRIVATE_H */
