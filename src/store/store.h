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

/* Is the table a companion of ours, or the TOAST table of one?  Looks at pg_depend where the name fits. */
extern bool strata_companion_is(Oid relid);

/* Drop the companion of storage that is going, if it has one. */
extern void strata_companion_drop_of(const StrataLocator *locator, char persistence);
extern void strata_companion_name(char *buf, const StrataLocator *locator);	/* NAMEDATALEN */

/* R's storage moves to another file: its companion goes along. */
extern void strata_companion_rekey(Oid companion, const StrataLocator *to);
extern void strata_companion_drop(Oid companion);

/*
 * Let the companion's columns whose type or collation can be dropped depend
 * automatically on table relid, if that is valid.  PostgreSQL lists all that a command drops before it drops
 * anything.  So these columns stand before the table, whose drop takes the
 * companion along, and need no CASCADE when both table and type are dropped.
 * May be called again.  The caller holds a lock that keeps companion and table.
 */
extern void strata_companion_bind(Oid companion, Oid relid);

/*
 * Who owns the extension, and with it all companions.  DDL on these is done as he,
 * between enter and leave; an error leaves too.
 */
typedef struct StrataOwnerSave
{
	Oid			user;
	int			security;
} StrataOwnerSave;

extern Oid	strata_extension_owner(void);
extern void strata_extension_owner_enter(StrataOwnerSave *saved);
extern void strata_extension_owner_leave(const StrataOwnerSave *saved);

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
extern StrataStore *strata_store_open_as(Relation rel, TupleDesc desc, LOCKMODE lockmode);
extern void strata_store_close(StrataStore *store, LOCKMODE lockmode);	/* NoLock keeps the lock */

/* Index of the companion on (first_row), unique, with nrows beside it. */
extern Oid	strata_row_index_of(Relation batches);

/*
 * Index of the companion on (seg_... of this layout in order, layout[, min_ and
 * max_ of the first orderby column]), or, by_max, with max_ before min_; or
 * InvalidOid: the companion was made for another layout.  Row entries are not in it.
 */
extern Oid	strata_store_segment_index(StrataStore *store, const StrataLayout *layout, bool by_max);

/*
 * Index that leads with layout and max_ of the first orderby column, resp. min_;
 * or InvalidOid.
 */
extern Oid	strata_store_order_index(StrataStore *store, const StrataLayout *layout, bool by_max);

/*
 * Index on (seg_... of this layout in order, layout, span_ of the first orderby
 * column); or InvalidOid, as of columns whose type has no spans.
 */
extern Oid	strata_store_span_index(StrataStore *store, const StrataLayout *layout);

/* An index that leads with the layout, in any order behind it; or InvalidOid. */
extern Oid	strata_store_layout_index(StrataStore *store, const StrataLayout *layout);

/*
 * Text of the layout that all batches have, whatever the snapshot; NULL when
 * that is not known.  Valid until the next look-up in a catalog.
 */
extern const char *strata_store_only_layout(StrataStore *store);
extern bool strata_store_has_only_layout(StrataStore *store, const char *layout);

/*
 * A column of rel was dropped, under its ACCESS EXCLUSIVE lock: batches of a
 * layout without it will have to be written.
 */
extern void strata_store_column_dropped(Relation rel);

/*
 * The layout most batches can be expected to have: that one, or what present
 * settings ask for.  Memory of the current context.
 */
extern StrataLayout *strata_store_present_layout(StrataStore *store);

/*
 * The batch that holds compressed row number `row`, as seen by snapshot, into
 * slot (of the companion's descriptor).  False when there is none.
 */
extern bool strata_store_find_batch(StrataStore *store, int64 row, Snapshot snapshot,
									TupleTableSlot *slot);
extern bool strata_batches_find(Relation batches, int64 row, Snapshot snapshot, TupleTableSlot *slot);

/*
 * The same whatever became of the batch since: a version of it that still has
 * its rows.  False when VACUUM has taken it away, or it never was.
 */
extern bool strata_batches_find_any(Relation batches, int64 row, TupleTableSlot *slot);

/* The batch with the greatest row numbers that the snapshot sees. */
extern bool strata_store_find_last_batch(StrataStore *store, Snapshot snapshot, TupleTableSlot *slot);

/*
 * What became of a row of a batch, store_entry.c.  The numbers are on disk.
 */
typedef enum StrataEntryKind
{
	STRATA_ENTRY_NONE = 0,		/* nothing: it is in its batch */
	STRATA_ENTRY_LOCK = 'l',	/* it is in its batch; the entry carries row locks */
	STRATA_ENTRY_DELETED = 'd',
	STRATA_ENTRY_UPDATED = 'u', /* tid: its next version, or "another partition" */
	STRATA_ENTRY_MOVED = 'm',	/* tid: the row itself, unchanged */
	STRATA_ENTRY_LOST = 'x'		/* updated or moved; a rewrite has forgotten where to */
} StrataEntryKind;

typedef struct StrataEntry
{
	StrataEntryKind kind;
	int64		row;
	ItemPointerData tid;		/* in the row store */
	ItemPointerData self;		/* of the entry in the companion */
	TransactionId xmin;			/* who wrote it */
	bool		ours;			/* this transaction did */
	CommandId	cmin;			/* if so: by this command */
	TransactionId wait;			/* dirty look-ups: still to end, if any */
} StrataEntry;

/* The entry in a deformed slot of the companion; damage is raised. */
extern void strata_entry_parse(Relation batches, TupleTableSlot *slot, StrataEntry *entry);

/* The entry of `row` that the snapshot sees; kind NONE: none. */
extern void strata_entry_find(Relation batches, int64 row, Snapshot snapshot, StrataEntry *entry);

static inline bool
strata_entry_is_in_batch(const StrataEntry *entry)
{
	return entry->kind == STRATA_ENTRY_NONE || entry->kind == STRATA_ENTRY_LOCK;
}

/*
 * Which rows of batches are not there any more, to a snapshot.  apply sets
 * ngone and gone of a reader that has loaded a batch; they last until the next
 * load or apply.  Memory: the current context of create.
 */
typedef struct StrataEntries StrataEntries;
extern StrataEntries *strata_entries_create(Relation batches, Snapshot snapshot);
extern void strata_entries_apply(StrataEntries *entries, StrataBatchReader *reader);
/* How many rows of a batch are not there any more. */
extern int	strata_entries_find(StrataEntries *entries, int64 first_row, int nrows);
extern void strata_entries_free(StrataEntries *entries);
extern bool strata_batch_row_is_gone(const StrataBatchReader *reader, int row);

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

extern bool strata_store_count_rows(StrataStore *store, Snapshot snapshot, StrataEntries *entries,
									StrataRowCount *count);

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
	int64		nmoved;			/* rows that left the row store for them */
	int64		nskipped;		/* rows left in the row store */
	bool		incremental;	/* the batches written are not all there are */
	bool		waiting;		/* nothing was done: former batches are to be vacuumed first */
} StrataCompressResult;

/*
 * Turn the rows of rel's row store into batches.  The caller holds
 * ExclusiveLock on rel: readers go on, writers and row lockers wait.
 * recompress: also merge the batches there are.
 */
extern void strata_store_compress(Relation rel, bool recompress, StrataCompressResult *result);

/*
 * Direct load: new rows of rel straight into batches, which carry command id
 * cid; store_load.c.  The caller holds RowExclusiveLock on rel at least, has
 * checked the rows, and nothing needs their TIDs: no triggers, no unique
 * indexes.  begin returns NULL when the rows have to go into the row store: the
 * table's kind, its indexes, logical decoding, isolation level, or others who
 * use a table that has no companion yet.
 *
 * add: false when this row (its attributes are deformed) has to.  end hands the
 * rows of segments that are too few for a batch to put.  kilobytes: of memory,
 * about.
 */
typedef struct StrataDirectLoad StrataDirectLoad;
typedef void (*StrataRowPut) (TupleTableSlot *slot, void *arg);

extern StrataDirectLoad *strata_direct_load_begin(Relation rel, CommandId cid, int kilobytes);
extern bool strata_direct_load_add(StrataDirectLoad *load, TupleTableSlot *slot);
extern void strata_direct_load_end(StrataDirectLoad *load, StrataRowPut put, void *arg);

/* Why rel takes no direct loads, whatever the moment; NULL: it does.  A translated phrase. */
extern const char *strata_direct_load_obstacle(Relation rel);

/* Make what direct loads write to, in the transaction that made rel. */
extern void strata_direct_load_prepare(Relation rel);

/* Turn all batches of rel back into rows of the row store; same lock. */
extern int64 strata_store_decompress(Relation rel);

/*
 * Hide a companion, or all, from logical decoding.  pg_upgrade does not carry
 * that over, and VACUUM FULL forgets it for TOAST tables.
 */
extern void strata_companion_silence(Oid companion);
extern void strata_companions_silence(void);

/*
 * VACUUM of rel goes on with its companion, and that one's TOAST unless left
 * out.  What somebody else is vacuuming is skipped.
 */
struct VacuumParams;
extern void strata_companion_vacuum(Relation rel, struct VacuumParams *params,
									BufferAccessStrategy strategy);

/* Is a third of the companion free, by its last VACUUM, and the rest soon copied? */
extern bool strata_companion_is_bloated(Oid companion);

/* Copy the companion into new files without free space; takes AccessExclusiveLock. */
extern void strata_companion_rewrite(Oid companion);

/*
 * Make batches again that lack columns added to rel since, or have values of dropped ones: a rewrite
 * is about to make PostgreSQL forget their missing values.  The caller holds
 * AccessExclusiveLock on rel.
 */
extern void strata_store_fill_missing(Relation rel);

/*
 * A rewrite is about to change the TIDs that entries name: forget them.  Under
 * its AccessExclusiveLock nobody holds a compressed TID to translate.
 */
extern void strata_entries_forget_places(Relation rel);

/*
 * Lock, delete or update compressed row `row`, like the access method's
 * callbacks.  With TM_Ok and *target valid nothing has been done: the row is
 * in the row store, there, and the caller goes on with heapam.  Raises a
 * serialization failure when the batch is gone.  follow: go on to the next
 * version of an updated row.
 */
extern TM_Result strata_store_lock_row(Relation rel, int64 row, TupleTableSlot *slot, CommandId cid,
									   LockTupleMode mode, LockWaitPolicy policy, bool follow,
									   ItemPointer target, TM_FailureData *tmfd);
extern TM_Result strata_store_delete_row(Relation rel, int64 row, CommandId cid, Snapshot crosscheck,
										 LockWaitPolicy policy, bool changing_part,
										 ItemPointer target, TM_FailureData *tmfd);
extern TM_Result strata_store_update_row(Relation rel, int64 row, TupleTableSlot *slot, CommandId cid,
										 Snapshot crosscheck, LockWaitPolicy policy,
										 ItemPointer target, TM_FailureData *tmfd,
										 LockTupleMode *lockmode);

/*
 * Delete the batch at tid with all its rows, by command cid, as deletes of the
 * single rows would; ngone of them have left it, to the statement's snapshot.
 * False, with nothing done: somebody has, or had, to do with one of the rows;
 * look at them one by one.  batches, the companion of rel, is
 * locked like rel itself, with RowExclusiveLock; store_sweep.c.
 */
extern bool strata_store_sweep_batch(Relation rel, Relation batches, const ItemPointerData *tid,
									 int64 first_row, int nrows, int ngone, CommandId cid);
extern bool strata_store_can_sweep(Relation rel);
extern void strata_sweep_init(void);

/* Of a batch in slot that is dead: are its rows deleted, too? */
extern bool strata_batch_is_swept(TupleTableSlot *slot);

/*
 * Move the row into the row store as it is; *target is its heap TID.  Other
 * results than TM_Ok: it has changed.
 */
extern TM_Result strata_store_move_row(Relation rel, int64 row, LockWaitPolicy policy, CommandId cid,
									   ItemPointer target, TM_FailureData *tmfd);

/* Where the row of an UPDATED or MOVED entry went on; false: nowhere any more. */
extern bool strata_store_next_version(Relation rel, const StrataEntry *entry, ItemPointer tid);

/*
 * The command id to act with on a heap tuple that this transaction moved:
 * greater than the move's, so that the tuple is not "from the future".
 */
extern CommandId strata_promoted_cid(Relation rel, ItemPointer tid, CommandId cid);
extern void strata_moved_init(void);
extern void strata_fetch_init(void);

/*
 * The batch that holds, or once held, compressed row `row`, in a reader that
 * stays decoded; NULL: none.  Valid until the next call for the table.
 */
extern StrataBatchReader *strata_cached_any_batch(Relation rel, Relation batches, int64 row);

/*
 * Before a row goes into the row store: if a batch holds a live row with an
 * equal unique key, other than row `except` (-1: none), raise the violation,
 * or, where that is not ours to say, move that row, so that the index finds it.
 */
typedef enum StrataDuplicate
{
	STRATA_DUPLICATE_RAISE,		/* raise (a deferrable key: move) */
	STRATA_DUPLICATE_MOVE		/* move all there are */
} StrataDuplicate;
extern void strata_store_check_unique(Relation rel, TupleTableSlot *slot, int64 except,
									  StrataDuplicate duplicate);

/*
 * Is each unique key of the row outside of what all batches together hold?  Then
 * there is nothing to check.  rel has a companion.
 */
extern bool strata_store_keys_are_new(Relation rel, TupleTableSlot *slot);

/*
 * Move the compressed rows with this key of a btree index into the row store,
 * for somebody who is about to look for them by that index alone.
 */
extern void strata_store_uncover(Relation rel, Relation index, const Datum *values, const bool *isnull);

/*
 * Number of the live compressed row with this key of a unique btree index, or
 * -1.  Waits for whoever is changing it.
 */
extern int64 strata_store_find_key(Relation rel, Relation index, const Datum *values, const bool *isnull);

/* An upsert is starting; is_upserting: one has, in this transaction. */
extern void strata_store_note_upsert(void);
extern bool strata_store_is_upserting(void);

/* Columns of unique indexes; *any when an index has expressions or a predicate. */
extern Bitmapset *strata_store_unique_columns(Relation rel, bool *any);

/*
 * The layout that present settings of rel ask for (catalog + defaults); never
 * NULL.  Memory of the current context.
 */
extern StrataLayout *strata_store_current_layout(Relation rel);
/* The same for other settings. */
struct StrataSettings;
extern StrataLayout *strata_store_layout_of(Relation rel, const struct StrataSettings *settings);

/* Rows that a batch of this level is to have at least, if there are so many. */
extern int	strata_level_batch_rows(StrataLevel level);
/* How many it takes to fill pages is not known yet; batches: the companion, or NULL. */
extern void strata_store_init_goal(StrataRowGoal *goal, Relation batches, StrataLevel level);

/* What a table would take compressed. */
typedef struct StrataEstimate
{
	StrataBatchMeasure measure; /* of the batches that were encoded */
	double		rows;			/* of the table */
	double		scale;			/* of the measure, to all rows */
	double		rows_per_batch;
	double		disk_bytes;		/* of the companion in all */
} StrataEstimate;

/*
 * Read a sample of rel (heap or strata), encode it by the layout, write nothing.
 * candidates: with every codec.
 */
extern void strata_store_estimate(Relation rel, const StrataLayout *layout, StrataLevel level,
								  const StrataCodecId *codecs, bool candidates, StrataEstimate *estimate);

/* About how many distinct values each column has among *rows rows that were looked at; by attno - 1. */
extern double *strata_store_count_distinct(Relation rel, double *rows);

/* The same for pairs of attributes, null counting as a value; by pair. */
extern double *strata_store_count_pairs(Relation rel, AttrNumber (*pairs)[2], int npairs, double *rows);

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
extern void strata_store_estimate_size(Relation companion, StrataStoreSize *size);

/* What it said last, for those who know that it was asked a moment ago; false: never. */
extern bool strata_store_last_size(Oid companion, StrataStoreSize *size);

#define STRATA_SAMPLE_BATCHES 64

/* Summaries of some batches spread over the companion, with the columns of R; of one moment. */
typedef struct StrataStoreSample
{
	Oid			relid;			/* private: the companion */
	BlockNumber pages;			/* private: of it, then */
	int			natts;
	int			nbatches;
	int			nrows[STRATA_SAMPLE_BATCHES];
	StrataColumnSummary *summaries; /* natts of each batch, by attno - 1; their attno is 0: unknown */
} StrataStoreSample;

/* Kept from one query to the next; valid until the next call. */
extern const StrataStoreSample *strata_store_sample(StrataStore *store);

/*
 * Set by am/ at load: tells a scan just made by table_beginscan(R), before its
 * first tuple, to return the row store only (scan/ reads the batches itself).
 * Returns how many pages that has.
 */
extern BlockNumber (*strata_rowstore_only_hook) (TableScanDesc scan);

#endif							/* STRATA_STORE_H */
