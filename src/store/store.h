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

#include "base/compat.h"
#include "batch/batch.h"
#include "batch/batch_reader.h"
#include "store/store_entry.h"
#include "track/track.h"

#include "access/relscan.h"
#include "access/tableam.h"
#include "storage/itemptr.h"
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
	return ((int64) (ItemPointerGetBlockNumberNoCheck(tid) & 0x7fffffff)
			<< 8) |
		(ItemPointerGetOffsetNumberNoCheck(tid) - 1);
}

static inline void
strata_tid_set(ItemPointerData *tid, int64 row)
{
	ItemPointerSet(tid, 0x80000000 | (BlockNumber) (row >> 8),
				   (OffsetNumber) ((row & 0xff) + 1));
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

/*
 * Is the table a companion of ours, or the TOAST table of one?  Looks at
 * pg_depend where the name fits.
 */
extern bool strata_companion_is(Oid relid);

/* The access method's routine; set by am/ at load. */
extern const TableAmRoutine *strata_am_routine;

/* An opened companion. */
typedef struct StrataStore
{
	Relation	rel;			/* R; the caller's */
	Relation	batches;		/* the companion */
	LOCKMODE	lockmode;
	StrataBatchSchema *schema;
	StrataToastFetcher *toast;	/* for readers of its batches, at a time one */
} StrataStore;

/* NULL when rel has no companion.  Allocated in the current context. */
extern StrataStore *strata_store_open(Relation rel, LOCKMODE lockmode);

/* The same for rows described by desc, see strata_row_scan_begin. */
extern StrataStore *strata_store_open_as(Relation rel, TupleDesc desc,
										 LOCKMODE lockmode);
extern void strata_store_close(StrataStore *store,
							   LOCKMODE lockmode);	/* NoLock keeps the lock */

/*
 * Index of the companion on (seg_... of this layout in order, layout[, min_
 * and max_ of the first orderby column]), or, by_max, with max_ before min_;
 * or InvalidOid: the companion was made for another layout.  Row entries are
 * not in it.
 */
extern Oid	strata_store_segment_index(StrataStore *store,
									   const StrataLayout *layout,
									   bool by_max);

/*
 * Index that leads with layout and max_ of the first orderby column, resp.
 * min_; or InvalidOid.
 */
extern Oid	strata_store_order_index(StrataStore *store,
									 const StrataLayout *layout, bool by_max);

/*
 * Index on (seg_... of this layout in order, layout, span_ of the first
 * orderby column); or InvalidOid, as of columns whose type has no spans.
 */
extern Oid	strata_store_span_index(StrataStore *store,
									const StrataLayout *layout);

/*
 * An index that leads with the layout, in any order behind it; or InvalidOid.
 */
extern Oid	strata_store_layout_index(StrataStore *store,
									  const StrataLayout *layout);

/*
 * Text of the layout that all batches have, whatever the snapshot; NULL when
 * that is not known.  Valid until the next look-up in a catalog.
 */
extern const char *strata_store_only_layout(StrataStore *store);
extern bool strata_store_has_only_layout(StrataStore *store,
										 const char *layout);

/*
 * The layout most batches can be expected to have: that one, or what present
 * settings ask for.  Memory of the current context.
 */
extern StrataLayout *strata_store_present_layout(StrataStore *store);

/*
 * The batch that holds compressed row number `row`, as seen by snapshot, into
 * slot (of the companion's descriptor).  False when there is none.  With
 * SnapshotAny whatever became of the batch since: a version of it that still
 * has its rows; false when VACUUM has taken it away, or it never was.
 */
extern bool strata_batches_find(Relation batches, int64 row, Snapshot snapshot,
								TupleTableSlot *slot);

/* The batch with the greatest row numbers that the snapshot sees. */
extern bool strata_store_find_last_batch(StrataStore *store, Snapshot snapshot,
										 TupleTableSlot *slot);

/*
 * store_glance.c, for views: what catalogs say, and no lock is waited for.
 * The companion, or InvalidOid; the layout of new batches, or NULL; whether
 * the snapshot sees a batch, or, where a lock is in the way, whether the table
 * has been compressed.
 */
extern Oid	strata_glance_companion(Oid relid);
extern StrataLayout *strata_glance_layout(Oid relid);
extern bool strata_glance_has_batches(Oid relid, Snapshot snapshot);

/* Does the snapshot see a batch of rel?  A companion alone may be empty. */
extern bool strata_store_has_batches(Relation rel, Snapshot snapshot);

/*
 * How many rows the snapshot sees in batches, by an index of the companion;
 * false, with nothing done, when it does not know.  store_count.c
 */
typedef struct StrataRowCount
{
	int64		rows;
	int64		batches;
	int64		fetched;		/* batch rows looked at for it */
} StrataRowCount;

extern bool strata_store_count_rows(StrataStore *store, Snapshot snapshot,
									StrataEntries *entries,
									StrataRowCount *count);

/* The same number alone; 0: no batches, or it does not know. */
extern double strata_store_rows_in_batches(Relation rel, Snapshot snapshot);

/*
 * Rows of the row store that the snapshot sees: counted when it has few pages,
 * else from pages that lie evenly in it.
 */
extern double strata_store_estimate_row_store(Relation rel, Snapshot snapshot);

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
	StrataEntries *entries;
	int			row;			/* last row returned; -1: before the first */
	int64		nbatches;		/* read */
} StrataRowScan;

/*
 * NULL when rel has no companion.  desc describes the rows as they were
 * stored: while ALTER TABLE rewrites rel, that is not RelationGetDescr(rel).
 */
extern StrataRowScan *strata_row_scan_begin(Relation rel, TupleDesc desc,
											Snapshot snapshot);
extern void strata_row_scan_rescan(StrataRowScan *scan);
extern void strata_row_scan_end(StrataRowScan *scan);

/*
 * Next (or previous) compressed row into slot, which may be of any kind; ctid
 * and tableoid are set.  False at the end; a scan then goes on in the other
 * direction from there.
 */
extern bool strata_row_scan_next(StrataRowScan *scan, ScanDirection direction,
								 TupleTableSlot *slot);

/*
 * Is there a batch whose longest values of these varlena columns of R take
 * more bytes together?
 */
extern bool strata_store_has_long(Relation rel, Snapshot snapshot,
								  const Bitmapset *attnos, Size limit);

/* Row `row` (0-based within) of the reader's current batch into slot. */
extern void strata_batch_store_row(Relation rel, StrataBatchReader *reader,
								   int row, TupleTableSlot *slot);

/* The same as a tuple, in the current context. */
extern HeapTuple strata_batch_form_row(Relation rel, StrataBatchReader *reader,
									   int row);

/*
 * One row of a batch, for those who come row by row: either its batch is
 * decoded, or the row was kept as a tuple.
 */
typedef struct StrataBatchRow
{
	StrataBatchReader *reader;	/* NULL: tuple has it */
	HeapTuple	tuple;			/* in the context of who asked */
	TupleDesc	desc;			/* of tuple */
	int64		row;
	int64		first_row;		/* of its batch */
	ItemPointerData batch_tid;
	bool		batch_is_ours;	/* this transaction made it, whose failure
								 * would take it back */
} StrataBatchRow;

/*
 * The row in the batch that holds it now; false: none does.  The caller's lock
 * on R excludes compression; a batch that was swept since it was read may
 * still be given out.  A reader is valid as strata_cached_batch's is.
 */
extern bool strata_batch_row_find(Relation rel, Relation batches, int64 row,
								  StrataBatchRow *found);

/*
 * The same of the batch that holds, or once held, the row, for who has got its
 * TID from us; batch_tid and batch_is_ours are not set.
 */
extern bool strata_batch_row_find_any(Relation rel, Relation batches,
									  int64 row, StrataBatchRow *found);

/* A column of it, not to be changed; valid as long as the row is. */
extern Datum strata_batch_row_value(const StrataBatchRow *row,
									AttrNumber attno, bool *isnull);

/* It into slot, as strata_batch_store_row does. */
extern void strata_batch_row_store(Relation rel, const StrataBatchRow *row,
								   TupleTableSlot *slot);

/* What of rel is tracked; false: nothing.  Asked for each changed row. */
extern bool strata_store_tracked(Relation rel, StrataTracked *tracked);

/*
 * Columns of unique indexes; *any when an index has expressions or a
 * predicate.
 */
extern Bitmapset *strata_store_unique_columns(Relation rel, bool *any);

/*
 * The layout that present settings of rel ask for (catalog + defaults); never
 * NULL.  Memory of the current context.
 */
extern StrataLayout *strata_store_current_layout(Relation rel);

/* The same for other settings. */
struct StrataSettings;
extern StrataLayout *strata_store_layout_of(Relation rel,
											const struct StrataSettings
											*settings);

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
extern void strata_store_estimate_size(Relation companion,
									   StrataStoreSize *size);

/*
 * What it said last, for those who know that it was asked a moment ago; false:
 * never.
 */
extern bool strata_store_last_size(Oid companion, StrataStoreSize *size);

#define STRATA_SAMPLE_BATCHES 64

/*
 * Summaries of some batches spread over the companion, with the columns of R;
 * of one moment.
 */
typedef struct StrataStoreSample
{
	Oid			relid;			/* private: the companion */
	BlockNumber pages;			/* private: of it, then */
	int			natts;
	int			nbatches;
	int			nrows[STRATA_SAMPLE_BATCHES];
	StrataColumnSummary *summaries; /* natts of each batch, by attno - 1;
									 * their attno is 0: unknown */
} StrataStoreSample;

/* Kept from one query to the next; valid until the next call. */
extern const StrataStoreSample *strata_store_sample(StrataStore *store);

/*
 * Set by am/ at load: tells a scan just made by table_beginscan(R), before its
 * first tuple, to return the row store only (scan/ reads the batches itself).
 * Returns how many pages that has.
 */
extern BlockNumber (*strata_rowstore_only_hook) (TableScanDesc scan);

/*
 * The batch that holds `row` now, decoded and kept, and its TID; NULL: none
 * does.  The caller's lock on R excludes compression; a batch that was swept
 * since it was read may still be given out.
 */
extern StrataBatchReader *strata_cached_batch(Relation rel, Relation batches,
											  int64 row, ItemPointer tid);

extern void strata_fetch_init(void);
extern void strata_touched_init(void);

#endif							/* STRATA_STORE_H */
