/*-------------------------------------------------------------------------
 *
 * change_private.h
 *	  What the files of src/change share among themselves.
 *
 * src/change/change_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_CHANGE_PRIVATE_H
#define STRATA_CHANGE_PRIVATE_H

#include "base/base.h"
#include "change/change.h"
#include "index/index.h"
#include "pg/pg.h"

#include "utils/typcache.h"

/* A compressed row somebody wants to lock or change. */
typedef struct StrataClaim
{
	Relation	rel;
	Relation	batches;
	int64		row;
	bool		found;			/* else its batch is gone */
	StrataBatchRow values;		/* of the row, and where its batch is */
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
extern TM_Result strata_claim_row(StrataClaim *claim, LockTupleMode mode,
								  LockWaitPolicy policy, bool make_lock_entry,
								  CommandId cid, TM_FailureData *tmfd);

/* We write nothing, after all. */
extern void strata_claim_end_writing(StrataClaim *claim);

/*
 * Write down what became of the claimed row, which is in its batch.  tid: of
 * the next version, which gets the locks that outlive the change.
 *
 * keeps_key: nobody who locks the row FOR KEY SHARE shall wait for us, and
 * what he locks must be there if we fail.  So there is a lock entry first.
 */
extern void strata_claim_write_entry(StrataClaim *claim, StrataEntryKind kind,
									 const ItemPointerData *tid, CommandId cid,
									 bool keeps_key);
extern void strata_claim_end(StrataClaim *claim);

/* The row at tid was moved by this transaction, by command cid. */
extern void strata_remember_moved(Relation rel, const ItemPointerData *tid,
								  CommandId cid);

/* What became of the batch that holds, or held, a row; change_sweep.c. */
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
extern void strata_batch_find_fate(Relation batches,
								   const ItemPointerData *tid, int64 row,
								   StrataBatchFate *fate);

/*
 * The writing lock of a batch: what makers of its entries, and sweepers, meet
 * in.
 */
extern void strata_batch_writing_lock(Relation batches, int64 first_row,
									  bool lock);

/*
 * Rows of a batch, at these positions, rising, were deleted by a scan
 * for the node above it; is the row one of them?  It is asked once;
 * change_ahead.c.
 */
extern void strata_ahead_note(Relation batches, int64 first_row,
							  const uint16 *rows, int nrows, CommandId cid);
extern bool strata_ahead_take(Oid companion, int64 row, CommandId cid);

/* Make void what is cached about the batches of all tables. */
extern void strata_ranges_forget(void);
extern void strata_key_directories_forget(void);

/*
 * Is the row in its batch?  Waits for whoever is changing it.  first_row: of
 * the batch; tid: where that is, if known.
 */
extern bool strata_store_row_is_live(Relation rel, Relation batches,
									 int64 first_row, int64 row,
									 const ItemPointerData *tid);

/* Range of a by-value column over all batches of a table; change_range.c. */
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

/*
 * Is a value that is not null, and no NaN, outside of a known range?  By the
 * type's default order.
 */
extern bool strata_range_excludes(const StrataColumnRange *range,
								  TypeCacheEntry *type, Datum value);

/*
 * Does column i of the unique index compare by the default order of its (base)
 * type?
 */
extern bool strata_key_has_default_order(Relation index, int i, Oid typid);

/* Compare by the type's own default btree order; by-value, or of that type. */
extern int	strata_compare_default(Oid typid, Datum a, Datum b);

/*
 * Which batches may hold a key of a unique index; change_key.c.  open is NULL
 * where there is no directory (types without a hash function, too many
 * batches): look at all batches.  It stays valid for the statement.
 */
typedef struct StrataKeyDirectory StrataKeyDirectory;

/*
 * Is it worth to build one, after so many looks of the session without it?
 * This look is counted.
 */
extern bool strata_key_directory_pays(Relation batches, Relation index);
extern StrataKeyDirectory *strata_key_directory_open(StrataStore *store,
													 Relation index);

/* The same if it is there already; else NULL. */
extern StrataKeyDirectory *strata_key_directory_get(Relation batches,
													Relation index);
extern uint32 strata_key_print(StrataKeyDirectory *d, const Datum *values,
							   const bool *isnull);

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
	const Datum *values;		/* the key's; the caller's */
	const bool *isnull;
	int			start;			/* first line of the present group */
	int			next;			/* one above the next line; -1: not begun */
} StrataKeySearch;
extern void strata_key_search_begin(StrataKeySearch *search,
									StrataKeyDirectory *d, const Datum *values,
									const bool *isnull);

/* The column of the key that is searched by range: its position, or -1. */
extern int	strata_key_search_position(const StrataKeySearch *search);

/*
 * Is it the key, to the byte, that was noted last as one that no row of a
 * batch has?  Nobody adds a batch while the directory is valid.
 */
extern bool strata_key_is_absent(const StrataKeySearch *search);
extern void strata_key_note_absent(const StrataKeySearch *search);

/* Line of the next batch that may hold the key, or -1. */
extern int	strata_key_search_next(StrataKeySearch *search);

/*
 * First row of the batch in line i; its fingerprints, NULL when not known.
 * They are valid until others are made.
 */
extern int64 strata_key_batch(StrataKeyDirectory *d, int i, int *nrows,
							  StrataKeyPrint **prints);

/*
 * Are they to be made for a batch that has none?  Where there is no room for
 * those of all batches in use, its rows are rather compared one by one.
 */
extern bool strata_key_batch_wants_prints(const StrataKeyDirectory *d);

/*
 * Prints cost what some searches of a batch in the order of the key do: has it
 * been asked for less often than that?  It is counted.
 */
extern bool strata_key_batch_is_asked_seldom(StrataKeyDirectory *d, int i);

/* Sort them, and keep a copy. */
extern void strata_key_batch_set_prints(StrataKeyDirectory *d, int i,
										StrataKeyPrint *prints);

/* Position of the first of n that is >= print. */
extern int	strata_key_find_print(const StrataKeyPrint *prints, int n,
								  uint32 print);

/* Does slot's row differ from the row of a batch in a unique key? */
extern bool strata_unique_key_changes(Relation rel, const StrataBatchRow *row,
									  TupleTableSlot *slot);

/*
 * In a key that foreign keys may refer to?  FOR KEY SHARE holds on to those.
 */
extern bool strata_reference_key_changes(Relation rel,
										 const StrataBatchRow *row,
										 TupleTableSlot *slot);

#endif							/* STRATA_CHANGE_PRIVATE_H */
