/*-------------------------------------------------------------------------
 *
 * stat.h
 *	  Counters of tables, in shared memory: what strata.stat_tables shows.
 *
 * src/stat/stat.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_STAT_H
#define STRATA_STAT_H

#include "postgres.h"

#include "utils/timestamp.h"

/* What is counted of a table, in the order of the columns of the view. */
typedef enum StrataStat
{
	STRATA_STAT_SCANS,
	STRATA_STAT_BATCHES_SCANNED,
	STRATA_STAT_BATCHES_DECODED,	/* of those; the others were answered by
									 * what is stored of them */
	STRATA_STAT_PRUNED_SEGMENT,
	STRATA_STAT_PRUNED_RANGE,
	STRATA_STAT_COUNTED,		/* by an index, without being looked at */
	STRATA_STAT_PASSED,			/* behind an index or an early stop: estimated */
	STRATA_STAT_BATCH_ROWS,
	STRATA_STAT_ROW_STORE_ROWS,
	STRATA_STAT_ROWS_MOVED,		/* out of batches, by changes */
	STRATA_STAT_ROWS_DELETED,	/* in batches */
	STRATA_STAT_COMPRESSIONS,
	STRATA_STAT_ROWS_COMPRESSED,
	STRATA_STAT_BATCHES_WRITTEN,
	STRATA_STAT_DECOMPRESSIONS,
	STRATA_STATS
} StrataStat;

/* Counters of one table of this database. */
typedef struct StrataStatTable
{
	Oid			relid;
	int64		counts[STRATA_STATS];
	TimestampTz last_scan;		/* 0: none */
	TimestampTz last_compression;	/* 0: none */
	TimestampTz since;			/* when counting began */
} StrataStatTable;

/* Reserve shared memory; only while preloading does that happen. */
extern void strata_stat_init(void);

/* Is there memory to count in (shared_preload_libraries)? */
extern bool strata_stat_preloaded(void);

/* Are scans and changes to be counted? */
extern bool strata_stat_enabled(void);

/* Add what a scan has counted; counts has STRATA_STATS numbers. */
extern void strata_stat_add(Oid relid, const int64 *counts);

/*
 * A change of n rows of batches, counted at the end of the transaction,
 * however that ends.
 */
extern void strata_stat_count(Oid relid, StrataStat stat, int64 n);

/*
 * Counted when the transaction, and the subtransactions it is in, commit;
 * whole: it is a compression.
 */
extern void strata_stat_compressed(Oid relid, int64 nrows, int64 nbatches,
								   bool whole);
extern void strata_stat_decompressed(Oid relid);

/* The relation is being dropped; what was counted goes at commit. */
extern void strata_stat_dropped(Oid relid);

/* Tables of this database that have been counted, palloc'd; *n of them. */
extern StrataStatTable *strata_stat_read(int *n);

/* Begin anew with a table. */
extern void strata_stat_reset(Oid relid);

#endif							/* STRATA_STAT_H */
