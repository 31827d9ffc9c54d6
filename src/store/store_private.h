/*-------------------------------------------------------------------------
 *
 * store_private.h
 *	  What the files of src/store share among themselves.
 *
 * src/store/store_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_STORE_PRIVATE_H
#define STRATA_STORE_PRIVATE_H

#include "base/base.h"
#include "catalog/catalog.h"
#include "store/store.h"

#include "access/heapam.h"
#include "catalog/indexing.h"
#include "nodes/execnodes.h"
#include "utils/typcache.h"

/*
 * Create the companion of rel, or bring it up to the layout: add the columns
 * and indexes that are missing.  The caller holds ExclusiveLock or more on rel.
 * Returns its oid; the change is visible to this command.  *layout may come
 * back as the one the companion was made for, when readers do not let it change.
 */
extern Oid	strata_companion_prepare(Relation rel, StrataLayout **layout);

/* Give the companion of rel col_ columns for all columns of rel. */
extern void strata_companion_add_columns(Relation rel);

/*
 * Columns of R were dropped: drop what the companion of rel has for them and needs
 * types or collations for that users may want to drop.  The caller holds
 * AccessExclusiveLock on rel.
 */
extern void strata_store_drop_left_columns(Relation rel);

/*
 * AccessExclusiveLock on a companion without queueing for it: readers that come
 * later must not wait behind us.  False when there is no moment for seconds.
 */
extern bool strata_companion_lock_politely(Oid companion);

/*
 * store_proof.c: the table (InvalidOid: none) of that name and owner, which is the
 * name of rel's companion, if it is that; InvalidOid, or an error, if it is not.
 * snapshot: NULL, or the one to look with.
 */
extern Oid	strata_companion_prove(Relation rel, const char *name, Oid table, Oid owner, Snapshot snapshot);
/* An error unless we made the companion and its owner is one who may have it. */
extern void strata_companion_check(Relation batches);
/* Or InvalidOid. */
extern Oid	strata_owner_of_table(Oid table);

/* Schema companions of that persistence live in; InvalidOid: there is none. */
extern Oid	strata_companion_namespace(char persistence);

/* An index of the companion on exactly these of its columns, or InvalidOid. */
extern Oid	strata_companion_find_index(Relation batches, const AttrNumber *keys, int nkeys);

/* Option of a companion: the layout of all its batches; store_cache.c. */
#define STRATA_OPTION_LAYOUT "layout"

/* How rows described by desc are stored in the companion. */
extern StrataBatchSchema *strata_companion_schema(TupleDesc desc, Relation batches);

/*
 * Columns of the layout's indexes, see store.h, into keys (INDEX_MAX_KEYS);
 * returns how many, 0 when there can be no such index.
 */
typedef int (*StrataIndexKeys) (const StrataBatchSchema *schema, const StrataLayout *layout, bool by_max,
								AttrNumber *keys);
extern int	strata_companion_segment_keys(const StrataBatchSchema *schema, const StrataLayout *layout,
										  bool by_max, AttrNumber *keys);
extern int	strata_companion_order_keys(const StrataBatchSchema *schema, const StrataLayout *layout,
										bool by_max, AttrNumber *keys);
extern int	strata_companion_span_keys(const StrataBatchSchema *schema, const StrataLayout *layout,
									   bool by_max, AttrNumber *keys);
extern int	strata_companion_layout_keys(const StrataBatchSchema *schema, const StrataLayout *layout,
										 bool by_max, AttrNumber *keys);

/* Are all columns of the layout still there? */
extern bool strata_layout_is_usable(TupleDesc desc, const StrataLayout *layout);

/*
 * May batches of the layout be written into the companion as it is: columns,
 * types and indexes are there?
 */
extern bool strata_companion_is_ready(StrataStore *store, const StrataLayout *layout);

/* Columns whose companion copy has another type or collation now. */
extern bool strata_companion_is_outdated(StrataStore *store, const StrataLayout *layout);

/*
 * Row entries, store_entry.c.  Whoever inserts one is alone in doing so for
 * its batch (store_change.c); whoever replaces one has locked it.
 */
extern void strata_entry_find_dirty(Relation batches, int64 row, StrataEntry *entry);
/* forever: a lock entry is to outlive this transaction's failure.  self: where it is, or NULL. */
extern void strata_entry_insert(Relation batches, int64 row, StrataEntryKind kind,
								const ItemPointerData *tid, CommandId cid, bool forever,
								ItemPointer self);
/* Returns the new entry, whose header tells who has locked it. */
extern HeapTuple strata_entry_replace(Relation batches, const StrataEntry *entry, StrataEntryKind kind,
									  const ItemPointerData *tid, CommandId cid);

/*
 * FOR KEY SHARE and changes that keep the key, store_key_share.c.
 *
 * Whoever has updated the tuple in the slot, of class TTSOpsBufferHeapTuple;
 * *next: to where.  The transaction may have failed.
 */
extern TransactionId strata_tuple_updater(TupleTableSlot *slot, ItemPointer next);

/*
 * Lock FOR KEY SHARE, in the name of lockers, the version of a row that maker
 * has put at tid, and those it has made of it; nothing, when it is not in
 * progress any more.  Returns a transaction to wait for first, if any.
 */
extern TransactionId strata_versions_lock(Relation rel, TransactionId maker, const ItemPointerData *tid,
										  const TransactionId *lockers, int nlockers);

/* Give the version that we have put at tid those who have locked the entry. */
extern void strata_lockers_hand_on(Relation rel, HeapTuple entry, const ItemPointerData *tid);

/* A compressed row somebody wants to lock or change. */
typedef struct StrataClaim
{
	Relation	rel;
	Relation	batches;
	StrataBatchReader *reader;	/* its batch, loaded; NULL: it is gone */
	ItemPointerData batch_tid;
	int64		row;
	StrataEntry entry;			/* NONE, LOCK: the row is in its batch */
	bool		writing;		/* we hold the heavyweight lock */
} StrataClaim;

/* Raises when the table has no batches any more. */
extern void strata_claim_begin(StrataClaim *claim, Relation rel, int64 row);

/*
 * Claim the row in the given mode, as table_tuple_lock would.  TM_Ok with
 *	- entry NONE: nobody touched it; we are writing, the caller makes the entry
 *	  (not with make_lock_entry)
 *	- entry LOCK: it is locked in that mode
 *	- entry MOVED: the row is in the row store
 */
extern TM_Result strata_claim_row(StrataClaim *claim, LockTupleMode mode, LockWaitPolicy policy,
								  bool make_lock_entry, CommandId cid, TM_FailureData *tmfd);
/* We write nothing, after all. */
extern void strata_claim_end_writing(StrataClaim *claim);

/*
 * Write down what became of the claimed row, which is in its batch.  tid: of
 * the next version, which gets the locks that outlive the change.
 *
 * keeps_key: nobody who locks the row FOR KEY SHARE shall wait for us, and what
 * he locks must be there if we fail.  So there is a lock entry first.
 */
extern void strata_claim_write_entry(StrataClaim *claim, StrataEntryKind kind, const ItemPointerData *tid,
									 CommandId cid, bool keeps_key);
extern void strata_claim_end(StrataClaim *claim);

/* Visit the entries of rows [first_row, last_row] that the snapshot sees. */
typedef void (*StrataEntryVisitor) (Relation batches, const StrataEntry *entry, void *arg);
extern void strata_entries_visit(Relation batches, Snapshot snapshot, int64 first_row, int64 last_row,
								 StrataEntryVisitor visit, void *arg);

/*
 * The batch that holds `row` now, decoded and kept, and its TID; NULL: none
 * does.  The caller's lock on R excludes compression; a batch that was swept
 * since it was read may still be given out.
 */
extern StrataBatchReader *strata_cached_batch(Relation rel, Relation batches, int64 row,
											  ItemPointer tid);

/* The row at tid was moved by this transaction, by command cid. */
extern void strata_remember_moved(Relation rel, const ItemPointerData *tid, CommandId cid);

/* What became of the batch that holds, or held, a row; store_sweep.c. */
typedef enum StrataBatchFateKind
{
	STRATA_BATCH_HERE,
	STRATA_BATCH_GOING,			/* transaction xid is about to delete it */
	STRATA_BATCH_SWEPT,			/* its rows are deleted, by xid */
	STRATA_BATCH_MOVED			/* its rows are elsewhere */
} StrataBatchFateKind;

typedef struct StrataBatchFate
{
	StrataBatchFateKind kind;
	TransactionId xid;
	bool		ours;			/* SWEPT: by this transaction, by command cmax */
	CommandId	cmax;
} StrataBatchFate;

/* tid: where it is thought to be, or NULL. */
extern void strata_batch_find_fate(Relation batches, const ItemPointerData *tid, int64 row,
								   StrataBatchFate *fate);

/* The writing lock of a batch: what makers of its entries, and sweepers, meet in. */
extern void strata_batch_writing_lock(Relation batches, int64 first_row, bool lock);

/* Make void what is cached about the batches of all tables. */
extern void strata_ranges_forget(void);
extern void strata_key_directories_forget(void);

/* Is the row in its batch?  Waits for whoever is changing it.  batch: where that is, if known. */
extern bool strata_store_row_is_live(Relation rel, Relation batches, int64 row, const ItemPointerData *batch);

/* Range of a by-value column over all batches of a table; store_range.c. */
typedef struct StrataColumnRange
{
	bool		known;			/* every batch tells a range, or has no value */
	bool		has;
	bool		has_nan;
	Datum		min;
	Datum		max;
} StrataColumnRange;

/* By attno - 1; valid until the next invalidation of rel. */
extern const StrataColumnRange *strata_store_ranges(Relation rel);

/* Is a value that is not null, and no NaN, outside of a known range?  By the type's default order. */
extern bool strata_range_excludes(const StrataColumnRange *range, TypeCacheEntry *type, Datum value);

/* Does column i of the unique index compare by the default order of its (base) type? */
extern bool strata_key_has_default_order(Relation index, int i, Oid typid);

/* Compare by the type's own default btree order; by-value, or of that type. */
extern int	strata_compare_default(Oid typid, Datum a, Datum b);

/*
 * Which batches may hold a key of a unique index; store_key.c.  open is NULL
 * where there is no directory (types without a hash function, too many
 * batches): look at all batches.  It stays valid for the statement.
 */
typedef struct StrataKeyDirectory StrataKeyDirectory;
extern StrataKeyDirectory *strata_key_directory_open(StrataStore *store, Relation index);
extern uint32 strata_key_print(StrataKeyDirectory *d, const Datum *values, const bool *isnull);

/* Fingerprints of a batch, in their order. */
typedef struct StrataKeyPrint
{
	uint32		print;
	uint32		row;			/* position in the batch */
} StrataKeyPrint;

typedef struct StrataKeySearch
{
	StrataKeyDirectory *d;
	uint32		group;
	bool		ranged;
	bool		others;			/* in group 0, after the key's own */
	Datum		value;			/* of the range column */
	int			start;			/* first line of the present group */
	int			next;			/* one above the next line; -1: not begun */
} StrataKeySearch;
extern void strata_key_search_begin(StrataKeySearch *search, StrataKeyDirectory *d,
									const Datum *values, const bool *isnull);
/* Line of the next batch that may hold the key, or -1. */
extern int	strata_key_search_next(StrataKeySearch *search);

/* First row of the batch in line i; its fingerprints, NULL when not known. */
extern int64 strata_key_batch(StrataKeyDirectory *d, int i, int *nrows, StrataKeyPrint **prints);
/* Room for them, to be filled, then set. */
extern StrataKeyPrint *strata_key_batch_make_prints(StrataKeyDirectory *d, int i);
extern void strata_key_batch_set_prints(StrataKeyDirectory *d, int i, StrataKeyPrint *prints);
/* Position of the first of n that is >= print. */
extern int	strata_key_find_print(const StrataKeyPrint *prints, int n, uint32 print);

/* Columns of R's unique keys, see store.h, from the catalogs. */
extern Bitmapset *strata_unique_columns_find(Relation rel, bool *any);

/* Does slot's row differ from row `row` of the reader in a unique key? */
extern bool strata_unique_key_changes(Relation rel, StrataBatchReader *reader, int row,
									  TupleTableSlot *slot);
/* In a key that foreign keys may refer to?  FOR KEY SHARE holds on to those. */
extern bool strata_reference_key_changes(Relation rel, StrataBatchReader *reader, int row,
										 TupleTableSlot *slot);

/*
 * Next free row number; the caller excludes other writers of batches.  goal, if
 * not NULL, learns from the batch that has the last one.
 */
extern int64 strata_store_next_row(StrataStore *store, StrataRowGoal *goal);

/* Index entries of a batch row; HOT updates need none. */
extern void strata_batch_index(CatalogIndexState indexes, HeapTuple tuple);

/*
 * Delete all batches the snapshot sees, row entries too (whoever could hold
 * such a TID has our lock ahead), under ExclusiveLock on R.  What has changed
 * since the snapshot is a serialization failure.
 */
extern void strata_store_delete_batches(StrataStore *store, Snapshot snapshot, CommandId cid);
extern void strata_store_delete_batch(StrataStore *store, const ItemPointerData *tid, CommandId cid);
/* One batch, and the entries of its rows that the snapshot sees. */
extern void strata_store_delete_batch_with_entries(StrataStore *store, const ItemPointerData *tid,
												   int64 first_row, int nrows, Snapshot snapshot,
												   CommandId cid);

/* Raise a serialization failure if rows have left their batches since the snapshot. */
extern void strata_store_check_entries(StrataStore *store, Snapshot snapshot);

/* Writes batch rows into a companion, numbering rows. */
typedef struct StrataBatchWriter
{
	StrataStore *store;
	StrataBatchBuilder *builder;
	CatalogIndexState indexes;
	int64		next_row;
	int64		nrows;			/* written so far */
	int64		nbatches;
	int			batch_rows;		/* that a batch is to have, at least */
	StrataRowGoal goal;			/* what is learned of how many fill a page */
	int			goal_rows;		/* so many, then, from batch_rows to goal.most */
	bool		shared;			/* others may write batches of R too: numbers are
								 * taken one batch at a time */
	CommandId	cid;			/* to write with; InvalidCommandId: the current one */
	MemoryContext mcxt;			/* for one batch */
	Datum	   *values;			/* of the companion's descriptor */
	bool	   *isnull;
} StrataBatchWriter;

extern StrataBatchWriter *strata_batch_writer_begin(StrataStore *store, const StrataLayout *layout);
/* Rows must come sorted by segment, then by the layout's order. */
extern void strata_batch_writer_add(StrataBatchWriter *writer, const Datum *values, const bool *isnull);
/* Batches of records of one segment, in the layout's order; see strata_batch_builder_add_records. */
extern void strata_batch_writer_add_records(StrataBatchWriter *writer, const StrataRecordForm *form,
											const Datum *values, const bool *isnull, char *const *records, int n);
extern void strata_batch_writer_flush(StrataBatchWriter *writer);	/* end the batch */
extern void strata_batch_writer_end(StrataBatchWriter *writer);

/*
 * Recompress those batches of the layout, seen by the snapshot, that overlap
 * with neighbours, fit into one with them, or have lost rows; store_merge.c.
 */
extern void strata_store_merge_batches(StrataStore *store, const StrataLayout *layout, Snapshot snapshot,
									   StrataBatchWriter *writer);

/* Which rows fit into a batch; store_row.c. */
typedef struct StrataRowCheck StrataRowCheck;
extern StrataRowCheck *strata_row_check_create(Relation rel, const StrataLayout *layout);
extern void strata_row_check_free(StrataRowCheck *check);

/* May this row go into a batch?  Its attributes are deformed. */
extern bool strata_row_fits(StrataRowCheck *check, TupleTableSlot *slot);

/*
 * The row with all values in it: the slot itself, or one of the check's, which
 * the caller clears before the current context ends.
 */
extern TupleTableSlot *strata_row_fetch_external(StrataRowCheck *check, TupleTableSlot *slot);

/*
 * Sorted rows to the writer, but to put those of segments with fewer than limit
 * of them and no batch yet; store_few.c.
 */
typedef struct StrataFewRows StrataFewRows;
struct StrataSegments;
extern StrataFewRows *strata_few_begin(StrataBatchWriter *writer, const StrataLayout *layout,
									   struct StrataSegments *segments, int limit,
									   StrataRowPut put, void *arg);
extern void strata_few_add(StrataFewRows *few, TupleTableSlot *slot);
extern void strata_few_end(StrataFewRows *few);

/* Sorts rows by segment and order; equal ones stay in the order they were put.  See store_sort.c. */
typedef struct StrataRowSort StrataRowSort;

/* kilobytes: of memory; the rest goes to disk. */
extern StrataRowSort *strata_row_sort_begin(TupleDesc table, const StrataLayout *layout, int kilobytes);
/* The slot's attributes are deformed. */
extern void strata_row_sort_put(StrataRowSort *sort, TupleTableSlot *slot);
/* All rows were put. */
extern void strata_row_sort_perform(StrataRowSort *sort);
/* The next row, all attributes deformed, until the one after; NULL after the last. */
extern TupleTableSlot *strata_row_sort_next(StrataRowSort *sort);
extern void strata_row_sort_end(StrataRowSort *sort);

/* Puts rows that come in any order into batches; see store_gather.c. */
typedef struct StrataGather StrataGather;

/* kilobytes: of memory, about; the rest goes to disk. */
extern StrataGather *strata_gather_begin(StrataBatchWriter *writer, const StrataLayout *layout,
										 int kilobytes);
/* Segments that have fewer than `rows` in all are given to put instead. */
extern void strata_gather_keep_few(StrataGather *gather, int rows, StrataRowPut put, void *arg);
/* Sort all rows as a whole: batches that do not overlap, whatever comes in. */
extern void strata_gather_sort_all(StrataGather *gather);
/* The slot's attributes are deformed, nothing in it is out of line. */
extern void strata_gather_add(StrataGather *gather, TupleTableSlot *slot);
extern void strata_gather_end(StrataGather *gather);

/* Puts rows into R's heap and indexes, not logically decoded. */
typedef struct StrataRowWriter
{
	Relation	rel;
	TupleTableSlot *slot;		/* the caller fills it before each insert */
	EState	   *estate;
	ResultRelInfo *rri;
} StrataRowWriter;

extern StrataRowWriter *strata_row_writer_begin(Relation rel);
extern void strata_row_writer_put(StrataRowWriter *writer);	/* the heap's half */
extern void strata_row_writer_index(StrataRowWriter *writer);	/* and the indexes' */
extern void strata_row_writer_end(StrataRowWriter *writer);

/*
 * Between these, within one transaction, changes of R's heap are hidden from
 * logical decoding.  begin: false when nothing is logged for it; then no end.
 */
extern bool strata_silence_begin(Relation rel);
extern void strata_silence_end(Relation rel);

/* Phases of strata.progress; see store_progress.c. */
typedef enum StrataPhase
{
	STRATA_PHASE_READING = 1,
	STRATA_PHASE_SORTING,
	STRATA_PHASE_WRITING,
	STRATA_PHASE_RESTORING
} StrataPhase;
extern void strata_progress_start(Relation rel);
extern void strata_progress_phase(StrataPhase phase);
extern void strata_progress_rows(int64 nread, int64 nwritten);
extern void strata_progress_end(void);

#endif							/* STRATA_STORE_PRIVATE_H */
