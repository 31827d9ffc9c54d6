/*-------------------------------------------------------------------------
 *
 * am_private.h
 *	  What the files of src/am share among themselves.
 *
 * src/am/am_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_AM_PRIVATE_H
#define STRATA_AM_PRIVATE_H

#include "base/base.h"
#include "pg/pg.h"
#include "store/store.h"

#include "access/heapam.h"
#include "access/relscan.h"
#include "access/tableam.h"

/* heapam's own routine, to which everything not overridden goes. */
extern const TableAmRoutine *strata_heap_am;

/*
 * A scan of R: a heap scan of the row store inside, then the batches.  A
 * wrapper, not an extension of HeapScanDescData, because 17 and later keep
 * pointers to the heap scan.
 */
typedef struct StrataScanDesc
{
	TableScanDescData base;
	TableScanDesc heap;			/* row store */
	bool		with_batches;	/* a plain scan: read the batches too */
	bool		started;
	bool		in_batches;		/* past the row store */
	bool		batches_claimed;	/* parallel: ours to read */
	StrataRowScan *batches;		/* opened when first needed */
	bool		is_counted;		/* for strata.stat_tables */
	int64		heap_rows;		/* given out */
	int64		batch_rows;
	struct StrataAnalyzeState *analyze; /* ANALYZE: see am_analyze.c */
	struct StrataSampleState *sample;	/* TABLESAMPLE: see am_sample.c */
} StrataScanDesc;

static inline TableScanDesc
strata_inner_scan(TableScanDesc scan)
{
	return ((StrataScanDesc *) scan)->heap;
}

/* Each fills its callbacks. */
extern void strata_am_scan_init(TableAmRoutine *am);
extern void strata_am_fetch_init(TableAmRoutine *am);
extern void strata_am_modify_init(TableAmRoutine *am);
extern void strata_am_index_init(TableAmRoutine *am);
extern void strata_am_ddl_init(TableAmRoutine *am);
extern void strata_am_analyze_init(TableAmRoutine *am);
extern void strata_am_uncover_init(TableAmRoutine *am);
extern void strata_am_sample_init(TableAmRoutine *am);

extern void strata_analyze_end(StrataScanDesc *scan);
extern void strata_sample_end(StrataScanDesc *scan);
extern void strata_sample_rescan(StrataScanDesc *scan);

/*
 * VACUUM and ANALYZE count all rows of R: changes of their number that this
 * session has not yet reported are among them, and would be added once more.
 */
extern void strata_am_forget_counts(Relation rel);

/* How many rows the row store of R holds, about. */
extern double strata_am_row_store_rows(Relation rel);

/* How many rows of R its batches hold, for reltuples. */
extern double strata_am_rows_in_batches(Relation rel);

#endif							/* STRATA_AM_PRIVATE_H */
