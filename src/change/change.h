/*-------------------------------------------------------------------------
 *
 * change.h
 *	  Rows of batches changed: locks, updates, deletes, unique keys.
 *
 * src/change/change.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_CHANGE_H
#define STRATA_CHANGE_H

#include "store/store.h"

#include "nodes/lockoptions.h"

/*
 * Lock, delete or update compressed row `row`, like the access method's
 * callbacks.  With TM_Ok and *target valid nothing has been done: the row is
 * in the row store, there, and the caller goes on with heapam.  Raises a
 * serialization failure when the batch is gone.  follow: go on to the next
 * version of an updated row.
 */
extern TM_Result strata_store_lock_row(Relation rel, int64 row,
									   TupleTableSlot *slot, CommandId cid,
									   LockTupleMode mode,
									   LockWaitPolicy policy, bool follow,
									   ItemPointer target,
									   TM_FailureData *tmfd);
extern TM_Result strata_store_delete_row(Relation rel, int64 row,
										 CommandId cid, Snapshot crosscheck,
										 LockWaitPolicy policy,
										 bool changing_part,
										 ItemPointer target,
										 TM_FailureData *tmfd);
extern TM_Result strata_store_update_row(Relation rel, int64 row,
										 TupleTableSlot *slot, CommandId cid,
										 Snapshot crosscheck,
										 LockWaitPolicy policy,
										 ItemPointer target,
										 TM_FailureData *tmfd,
										 LockTupleMode *lockmode);

/*
 * Delete the batch at tid with all its rows, by command cid, as deletes of the
 * single rows would; ngone of them have left it, to the statement's snapshot.
 * False, with nothing done: somebody has, or had, to do with one of the rows;
 * look at them one by one.  batches, the companion of rel, is
 * locked like rel itself, with RowExclusiveLock; change_sweep.c.
 */
extern bool strata_store_sweep_batch(Relation rel, Relation batches,
									 const ItemPointerData *tid,
									 int64 first_row, int nrows, int ngone,
									 CommandId cid);

/*
 * The same of some rows of the batch, which the statement's snapshot sees: of
 * those that nobody has, or had, to do with one entry is written.
 * rows: nrows positions, rising.  The others are left there, to be looked at
 * one by one; returns how many.  told: who is above the scan will delete each
 * of them by its TID, and is to be told that it is done.
 */
extern int	strata_store_delete_rows(Relation rel, Relation batches,
									 const ItemPointerData *tid,
									 int64 first_row, uint16 *rows, int nrows,
									 CommandId cid, bool told);
extern bool strata_store_can_sweep(Relation rel);

/*
 * The same of n rows of the table, rising, which the statement's snapshot
 * sees; some may come twice.  The caller is told of each that was deleted when
 * it deletes that by its TID, and has tracked nothing.
 */
extern void strata_store_delete_ahead(Relation rel, const int64 *rows, int n,
									  CommandId cid);

/*
 * Rows of a batch, these or (NULL) the first nrows, are going: their times
 * have changed, where rollups want to know.
 */
extern void strata_store_track_rows(Relation rel, StrataBatchReader *reader,
									const uint16 *rows, int nrows);
extern void strata_sweep_init(void);

/* Of a batch in slot that is dead: are its rows deleted, too? */
extern bool strata_batch_is_swept(TupleTableSlot *slot);

/*
 * Move the row into the row store as it is; *target is its heap TID.  Other
 * results than TM_Ok: it has changed.
 */
extern TM_Result strata_store_move_row(Relation rel, int64 row,
									   LockWaitPolicy policy, CommandId cid,
									   ItemPointer target,
									   TM_FailureData *tmfd);

/*
 * Where the row of an UPDATED or MOVED entry went on; false: nowhere any more.
 */
extern bool strata_store_next_version(Relation rel, const StrataEntry *entry,
									  ItemPointer tid);

/*
 * The command id to act with on a heap tuple that this transaction moved:
 * greater than the move's, so that the tuple is not "from the future".
 */
extern CommandId strata_promoted_cid(Relation rel, ItemPointer tid,
									 CommandId cid);
extern void strata_moved_init(void);

/*
 * Before a row goes into the row store: if a batch holds a live row with an
 * equal unique key, other than row `except` (-1: none), raise the violation,
 * or, where that is not ours to say, move that row, so that the index finds
 * it.
 */
typedef enum StrataDuplicate
{
	STRATA_DUPLICATE_RAISE,		/* raise (a deferrable key: move) */
	STRATA_DUPLICATE_MOVE		/* move all there are */
} StrataDuplicate;
extern void strata_store_check_unique(Relation rel, TupleTableSlot *slot,
									  int64 except, StrataDuplicate duplicate);

/*
 * Is each unique key of the row outside of what all batches together hold?
 * Then there is nothing to check.  rel has a companion.
 */
extern bool strata_store_keys_are_new(Relation rel, TupleTableSlot *slot);

/*
 * Move the compressed rows with this key of a btree index into the row store,
 * for somebody who is about to look for them by that index alone.
 */
extern void strata_store_uncover(Relation rel, Relation index,
								 const Datum *values, const bool *isnull);

/*
 * Number of the live compressed row with this key of a unique btree index, or
 * -1.  Waits for whoever is changing it.
 */
extern int64 strata_store_find_key(Relation rel, Relation index,
								   const Datum *values, const bool *isnull);

/* An upsert is starting; is_upserting: one has, in this transaction. */
extern void strata_store_note_upsert(void);
extern bool strata_store_is_upserting(void);

#endif							/* STRATA_CHANGE_H */
