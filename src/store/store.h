/*-------------------------------------------------------------------------
 *
 * store.h
 *	  The batch store of a table: its companion relation, through heapam.
 *
 * src/store/store.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_STORE_H
#define STRATA_STORE_H

#include "postgres.h"

#include "access/relscan.h"
#include "access/tableam.h"
#include "base/compat.h"
#include "batch/batch.h"
#include "storage/itemptr.h"
#include "nodes/lockoptions.h"
#include "storage/lockdefs.h"
#include "utils/snapshot.h"

/*
 * TIDs of compressed rows: block bit 31 set; (block & 0x7fffffff) << 8 |
 * (offset - 1) is the row number (at most STRATA_BATCH_MAX_ROW_NUMBER).
 */

static inline bool
strata_tid_is_compressed(const ItemPointerData *tid)
{
	BlockNumber block = ItemPointerGetBlockNumberNoCheck(tid);

	return (block & 0x80000000) != 0 && block != InvalidBlockNumber;
}

static inline int64
strata_tid_row(const ItemPointerData *tid)
{
	return ((int64) (ItemPointerGetBlockNumberNoCheck(tid) & 0x7fffffff) << 8) |
		(ItemPointerGetOffsetNumberNoCheck(tid) - 1);
}

static inline void
strata_tid_set(ItemPointerData *tid, int64 row)
{
	ItemPointerSet(tid, 0x80000000 | (BlockNumber) (row >> 8), (OffsetNumber) ((row & 0xff) + 1));
}

/*
 * Is rel a table whose access method is strata?  (Handler comparison; true
 * also for one that was never compressed.)
 */
extern bool strata_relation_is_strata(Relation rel);

/*
 * The companion of rel's present storage, or InvalidOid: no compressed rows.
 * Cached in rd_amcache.  Usable in any transaction state (InvalidOid outside
 * of transactions).
 */
extern Oid	strata_companion_oid(Relation rel);

/*
 * The same, but never too late: any companion of a transaction that a snapshot
 * of ours can see is found, although compression takes no lock that conflicts
 * with reading.
 */
extern Oid	strata_companion_oid_now(Relation rel);

/*
 * A snapshot of now, to be registered before anything else is done.
 * GetLatestSnapshot refuses to work in parallel mode, where scans of ours may
 * be.
 */
extern Snapshot strata_latest_snapshot(void);

/* Is this the oid of our access method? */
extern bool strata_is_strata_am(Oid am);

/* By storage, without the cache: for storage that is coming or going. */
extern Oid	strata_companion_of_locator(const StrataLocator *locator, char persistence);
extern void strata_companion_name(char *buf, const StrataLocator *locator);	/* NAMEDATALEN */

/* R's storage moves from one file to another: its companion goes along. */
extern void strata_companion_rekey(char persistence, const StrataLocator *from,
								   const StrataLocator *to);
extern void strata_companion_drop(Oid companion);

/* The access method's routine; set by am/ at load. */
extern const TableAmRoutine *strata_am_routine;

/* An opened companion. */
typedef struct StrataStore
{
	Relation	rel;			/* R; the caller's */
	Relation	batches;		/* the companion */
	LOCKMODE	lockmode;
	StrataBatchSchema *schema;
} StrataStore;

/* NULL when rel has no companion.  Allocated in the current context. */
extern StrataStore *strata_store_open(Relation rel, LOCKMODE lockmode);
/* The same for rows described by desc, see strata_row_scan_begin. */
extern StrataStore *strata_store_open_as(Relation rel, TupleDesc desc, LOCKMODE lockmode);
extern void strata_store_close(StrataStore *store, LOCKMODE lockmode);	/* NoLock keeps the lock */

/* Index of the companion on (first_row), unique. */
extern Oid	strata_store_row_index(StrataStore *store);

/*
 * Index of the companion whose leading columns are (layout, seg_... of this
 * layout in order[, min_ and max_ of the first orderby column]), or, by_max,
 * with max_ before min_; or InvalidOid.  Promoted batches are in it, with the
 * layout they had.  Companions of earlier versions lack the one by max.
 */
extern Oid	strata_store_segment_index(StrataStore *store, const StrataLayout *layout, bool by_max);

/* Index on (layout, max_ of the first orderby column), resp. min_; or InvalidOid. */
extern Oid	strata_store_order_index(StrataStore *store, const StrataLayout *layout, bool by_max);

/*
 * The batch that holds compressed row number `row`, as seen by snapshot, into
 * slot (of the companion's descriptor).  False when there is none.
 */
extern bool strata_store_find_batch(StrataStore *store, int64 row, Snapshot snapshot,
									TupleTableSlot *slot);

/*
 * The same whatever became of the batch since: a version of it that still has
 * its rows.  False when VACUUM has taken it away, or it never was.
 */
extern bool strata_store_find_any_batch(StrataStore *store, int64 row, TupleTableSlot *slot);

/* The batch with the greatest row numbers that the snapshot sees. */
extern bool strata_store_find_last_batch(StrataStore *store, Snapshot snapshot, TupleTableSlot *slot);

/*
 * Reads all compressed rows of a table, batch after batch, as table rows: what
 * a plain scan of the access method returns after the row store.
 */
typedef struct StrataRowScan
{
	StrataStore *store;
	TableScanDesc scan;
	TupleTableSlot *batch_slot;
	StrataBatchReader *reader;
	StrataColumn **columns;		/* decoded columns of the current batch */
	int			row;			/* last row returned; -1: before the first */
} StrataRowScan;

/*
 * NULL when rel has no companion.  desc describes the rows as they were stored:
 * while ALTER TABLE rewrites rel, that is not RelationGetDescr(rel).
 */
extern StrataRowScan *strata_row_scan_begin(Relation rel, TupleDesc desc, Snapshot snapshot);
extern void strata_row_scan_rescan(StrataRowScan *scan);
extern void strata_row_scan_end(StrataRowScan *scan);

/*
 * Next (or previous) compressed row into slot, which may be of any kind; ctid
 * and tableoid are set.  False at the end; a scan then goes on in the other
 * direction from there.
 */
extern bool strata_row_scan_next(StrataRowScan *scan, ScanDirection direction, TupleTableSlot *slot);

/* Row `row` (0-based within) of the reader's current batch into slot. */
extern void strata_batch_store_row(Relation rel, StrataBatchReader *reader, int row,
								   TupleTableSlot *slot);

/*-------------------------------------------------------------------------
 * Changing.  See README, "Transitions".
 *-------------------------------------------------------------------------
 */
/*
 * Can rel be compressed at all?  If not: false, or, when hint is given, an
 * ereport that says why.
 */
extern bool strata_store_can_compress(Relation rel, const char *hint);

typedef struct StrataCompressResult
{
	int64		nrows;			/* rows written into batches */
	int64		nbatches;
	int64		nskipped;		/* rows left in the row store */
} StrataCompressResult;

/*
 * Turn the rows of rel's row store into batches.  The caller holds
 * ExclusiveLock on rel: readers go on, writers and row lockers wait.
 * recompress: also merge the batches there are.
 */
extern void strata_store_compress(Relation rel, bool recompress, StrataCompressResult *result);

/* Turn all batches of rel back into rows of the row store; same lock. */
extern int64 strata_store_decompress(Relation rel);

/*
 * Give every batch values for columns that were added to rel since: a rewrite
 * is about to make PostgreSQL forget their missing values.  The caller holds
 * AccessExclusiveLock on rel.
 */
extern void strata_store_fill_missing(Relation rel);

/*
 * Promotion: move the batch of compressed row `row` into the row store,
 * leaving a list of heap TIDs behind, or follow that list.  On TM_Ok *tid is the
 * row's heap TID.  Other results are those of table_tuple_lock on the batch.
 * change: the row will be updated or deleted, not only locked.  Raises a
 * serialization failure when that cannot be right under the transaction's
 * snapshot, or the batch is gone.
 */
extern TM_Result strata_store_promote(Relation rel, int64 row, bool change,
									  LockWaitPolicy wait_policy, ItemPointer tid,
									  TM_FailureData *tmfd);

/* If the batch in slot is promoted: the heap TID of its row `row`. */
extern bool strata_store_forwarded(StrataStore *store, TupleTableSlot *batch, int64 row,
								   ItemPointer tid);

/*
 * The command id to act with on a heap tuple that this transaction promoted:
 * greater than the promotion's, so that the tuple is not "from the future".
 */
extern CommandId strata_promoted_cid(Relation rel, ItemPointer tid, CommandId cid);
extern void strata_promote_init(void);

/*
 * Before a row goes into the row store: if a batch holds a row with an equal
 * unique key, promote it, so that the index finds it.
 */
extern void strata_store_check_unique(Relation rel, TupleTableSlot *slot);

/*
 * The layout that present settings of rel ask for (catalog + defaults); never
 * NULL.  Memory of the current context.
 */
extern StrataLayout *strata_store_current_layout(Relation rel);

/*
 * Counts from pg_class of the companion and of its pages, for the planner:
 * estimated batches, live rows in them and pages.
 */
typedef struct StrataStoreSize
{
	double		batches;
	double		rows;
	double		main_pages;		/* of the companion itself */
	double		toast_pages;
} StrataStoreSize;
extern void strata_store_estimate_size(StrataStore *store, StrataStoreSize *size);

/*
 * Set by am/ at load: tells a scan just made by table_beginscan(R), before its
 * first tuple, to return the row store only (scan/ reads the batches itself).
 */
extern void (*strata_rowstore_only_hook) (TableScanDesc scan);

#endif							/* STRATA_STORE_H */
