/*-------------------------------------------------------------------------
 *
 * dedup_private.h
 *	  What the files of src/dedup share.
 *
 * src/dedup/dedup_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_DEDUP_PRIVATE_H
#define STRATA_DEDUP_PRIVATE_H

#include "base/base.h"
#include "dedup/dedup.h"
#include "page/page.h"
#include "pg/pg.h"

#include "access/tableam.h"
#include "executor/tuptable.h"
#include "storage/bufmgr.h"

/* heapam's routine, and ours, which is a copy of it but for what we change. */
extern const TableAmRoutine *strata_dedup_heap;
extern TableAmRoutine strata_dedup_routine;

/*
 * dedup_slot.c.  ops: of the slots that callers have of us.  lend: have heapam
 * take the slot for its own; take_back: afterwards, with what lend returned.
 * plain_copy: the tuple of a buffer without symbols, in the current context.
 */
extern TupleTableSlotOps strata_dedup_slot_ops;
extern void strata_dedup_slot_init(void);
extern HeapTuple strata_dedup_plain_copy(HeapTuple tuple, Buffer buffer,
										 TupleDesc desc);
extern void strata_dedup_materialize(TupleTableSlot *slot);

/* The tuple that a slot shows, if it has symbols; NULL: it has not. */
static inline HeapTuple
strata_dedup_slot_tuple(const TupleTableSlot *slot)
{
	HeapTuple	tuple = ((const HeapTupleTableSlot *) slot)->tuple;

	if (tuple == NULL || !strata_page_is_flagged(tuple->t_data))
		return NULL;
	return tuple;
}

static inline bool
strata_dedup_lend(TupleTableSlot *slot)
{
	if (slot->tts_ops != &strata_dedup_slot_ops)
		return false;
	strata_slot_show(slot, &TTSOpsBufferHeapTuple);
	return true;
}

static inline void
strata_dedup_take_back(TupleTableSlot *slot, bool lent)
{
	if (likely(lent))
		strata_slot_show(slot, &strata_dedup_slot_ops);
	else if (slot->tts_ops == &TTSOpsBufferHeapTuple && !TTS_EMPTY(slot) &&
			 strata_dedup_slot_tuple(slot) != NULL)
		strata_dedup_materialize(slot); /* of somebody who counts on heap */
}

/*
 * dedup_full.c.  Pages that are full.  row_went_to: a row was put there;
 * may read catalogs.  block:
 * deduplicate a page, if nobody else has it and it gains so many bytes; its
 * free bytes then, or why it is as it was.
 */
#define DEDUP_IN_VAIN (-1)		/* it gains less */
#define DEDUP_NOT_TRIED (-2)	/* it is not full, or somebody has it */

typedef enum DedupWhen
{
	DEDUP_IF_FULL,				/* and it has none of our pins */
	DEDUP_ANY
} DedupWhen;

extern void strata_dedup_row_went_to(Relation rel,
									 const ItemPointerData *tid);
extern int	strata_dedup_block(Relation rel, BlockNumber block, DedupWhen when,
							   int min_gain);

/*
 * Of a table whose full pages gain nothing, ever more are passed over before
 * another one is tried.  passes_over: is this one?  patience: of a relation,
 * until something reads catalogs.
 */
typedef struct StrataDedupPatience
{
	uint16		in_vain;		/* pages to pass over after one without gain */
	uint16		pass_over;		/* that many are still to be */
} StrataDedupPatience;

/* What a load knows of a table; see dedup_load.c. */
typedef struct StrataDedupLoad
{
	TransactionId xid;			/* the load's; invalid: there is none */
	BlockNumber block;			/* its last page has room; invalid: none has */
	uint32		taken;			/* plain bytes of that page's rows, and how */
	uint32		saved;			/* many fewer they are there */
	uint32		room;			/* free bytes of that page */
	uint32		full;			/* plain bytes of a page that got full; 0: not
								 * known */
} StrataDedupLoad;

extern StrataDedupPatience *strata_dedup_patience(Relation rel);
extern StrataDedupLoad *strata_dedup_load(Relation rel);
extern bool strata_dedup_passes_over(StrataDedupPatience *patience);
extern void strata_dedup_tell_outcome(StrataDedupPatience *patience,
									  bool gained);

/*
 * Columns that stay in their tuples, an array in *plain, palloc'd, or NULL:
 * none; false: the table's pages are not deduplicated.  wanted: the same, and
 * false where that may be another answer after a rollback.
 */
extern bool strata_dedup_plain_columns(Relation rel, bool **plain);
extern bool strata_dedup_wanted(Relation rel, bool **plain);
extern StrataPageRule strata_dedup_rule_now(void);
extern StrataPageWork *strata_dedup_work(void);

/*
 * dedup_load.c.  Put the first of these rows into a page in memory, if they
 * fill it, or come after others that did (goes_on); how many.  The slots say
 * where they are.  end: of a load; its last page's room is known to others.
 */
extern int	strata_dedup_load_rows(Relation rel, TupleTableSlot **slots,
								   int nslots, CommandId cid, int options,
								   struct BulkInsertStateData *bistate,
								   bool goes_on);
extern void strata_dedup_load_end(Relation rel);

/* VACUUM FULL tries a page again while it gains so many bytes. */
#define STRATA_DEDUP_ANOTHER_ROUND 64

/*
 * dedup_inspect.c.  copy_page: into BLCKSZ bytes.  copied_tuple: of such a
 * copy, with its values, or NULL where there is none, or one that was rolled
 * back; damage is an error.
 */
extern void strata_dedup_copy_page(Relation rel, BlockNumber block,
								   BufferAccessStrategy strategy, char *copy);
extern HeapTupleHeader strata_dedup_copied_tuple(Relation rel,
												 BlockNumber block, char *copy,
												 OffsetNumber offnum,
												 uint32 *len,
												 StrataPageValue *tuple_values);

/* Each file's callbacks, put into the routine. */
extern void strata_dedup_read_init(TableAmRoutine *am);
extern void strata_dedup_write_init(TableAmRoutine *am);
extern void strata_dedup_index_init(TableAmRoutine *am);
extern void strata_dedup_rewrite_init(TableAmRoutine *am);
extern void strata_dedup_vacuum_init(TableAmRoutine *am);

pg_noreturn extern void strata_dedup_damaged(Oid relid,
											 const ItemPointerData *tid,
											 const char *problem);

#endif							/* STRATA_DEDUP_PRIVATE_H */
