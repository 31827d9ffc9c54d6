/*-------------------------------------------------------------------------
 *
 * store_entry.h
 *	  Row entries: what became of single rows of a batch.
 *
 * src/store/store_entry.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_STORE_ENTRY_H
#define STRATA_STORE_ENTRY_H

#include "postgres.h"

#include "batch/batch.h"
#include "batch/batch_reader.h"

#include "storage/itemptr.h"
#include "utils/snapshot.h"

/*
 * What became of a row of a batch, store_entry.c.  The numbers are on disk.
 */
typedef enum StrataEntryKind
{
	STRATA_ENTRY_NONE = 0,		/* nothing: it is in its batch */
	STRATA_ENTRY_LOCK =
	'l',						/* it is in its batch; the entry carries row
								 * locks */
	STRATA_ENTRY_DELETED = 'd',
	STRATA_ENTRY_UPDATED =
	'u',						/* tid: its next version, or "another
								 * partition" */
	STRATA_ENTRY_MOVED = 'm',	/* tid: the row itself, unchanged */
	STRATA_ENTRY_LOST =
	'x'							/* updated or moved; a rewrite has forgotten
								 * where to */
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

	/*
	 * Rows deleted together have one entry: `row` is the first of them, span
	 * how many there are from the first to the last, and bit i says of row +
	 * i whether it is one; NULL: all are.  Of another entry span is 1.  bits
	 * lie in the slot that was parsed.
	 */
	bool		together;
	int			span;
	const uint8 *bits;
} StrataEntry;

/* Is the entry about the row? */
static inline bool
strata_entry_is_about(const StrataEntry *entry, int64 row)
{
	int64		i = row - entry->row;

	return i >= 0 && i < entry->span &&
		(entry->bits == NULL || (entry->bits[i / 8] & (1 << i % 8)) != 0);
}

/* About how many rows is it? */
extern int	strata_entry_count(const StrataEntry *entry);

/* The entry in a deformed slot of the companion; damage is raised. */
extern void strata_entry_parse(Relation batches, TupleTableSlot *slot,
							   StrataEntry *entry);

/*
 * The entry of `row`, of a batch whose first row is batch, that the snapshot
 * sees; kind NONE: none.  It is told as if it were about that row alone.
 */
extern void strata_entry_find(Relation batches, int64 batch, int64 row,
							  Snapshot snapshot, StrataEntry *entry);

static inline bool
strata_entry_is_in_batch(const StrataEntry *entry)
{
	return entry->kind == STRATA_ENTRY_NONE ||
		entry->kind == STRATA_ENTRY_LOCK;
}

/*
 * Which rows of batches are not there any more, to a snapshot; store_gone.c.
 * apply sets
 * ngone and gone of a reader that has loaded a batch; they last until the next
 * load or apply.  Memory: the current context of create.
 */
typedef struct StrataEntries StrataEntries;
extern StrataEntries *strata_entries_create(Relation batches,
											Snapshot snapshot);
extern void strata_entries_apply(StrataEntries *entries,
								 StrataBatchReader *reader);

/* The same of rows [from, to) alone, for who asks about no others. */
extern void strata_entries_apply_between(StrataEntries *entries,
										 StrataBatchReader *reader, int from,
										 int to);

/* How many rows of a batch are not there any more. */
extern int	strata_entries_find(StrataEntries *entries, int64 first_row,
								int nrows);
extern void strata_entries_free(StrataEntries *entries);
extern bool strata_batch_row_is_gone(const StrataBatchReader *reader, int row);

/*
 * A rewrite is about to change the TIDs that entries name: forget them.  Under
 * its AccessExclusiveLock nobody holds a compressed TID to translate.
 */
extern void strata_entries_forget_places(Relation rel);

/*
 * Row entries, store_entry.c.  Whoever inserts one is alone in doing so for
 * its batch (change_row.c); whoever replaces one has locked it.
 */
extern void strata_entry_find_dirty(Relation batches, int64 batch, int64 row,
									StrataEntry *entry);

/*
 * forever: a lock entry is to outlive this transaction's failure.  self: where
 * it is, or NULL.
 */
extern void strata_entry_insert(Relation batches, int64 row,
								StrataEntryKind kind,
								const ItemPointerData *tid, CommandId cid,
								bool forever, ItemPointer self);

/*
 * What became of nrows deleted rows of one batch, at these positions, rising,
 * by command cid: one entry, where they are some.
 */
extern void strata_entries_insert_deleted(Relation batches, int64 first_row,
										  const uint16 *rows, int nrows,
										  CommandId cid);

/* Returns the new entry, whose header tells who has locked it. */
extern HeapTuple strata_entry_replace(Relation batches,
									  const StrataEntry *entry,
									  StrataEntryKind kind,
									  const ItemPointerData *tid,
									  CommandId cid);

/*
 * Visit the entries of rows [first_row, last_row] that the snapshot sees; they
 * may be about others, too.  batch: the first row of the batch of first_row.
 */
typedef void (*StrataEntryVisitor) (Relation batches, const StrataEntry *entry,
									void *arg);
extern void strata_entries_visit(Relation batches, Snapshot snapshot,
								 int64 batch, int64 first_row, int64 last_row,
								 StrataEntryVisitor visit, void *arg);

#endif							/* STRATA_STORE_ENTRY_H */
