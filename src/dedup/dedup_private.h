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
 * dedup_full.c.  Pages that are full.  row_went_to: a row was put there; the
 * page that is full has to gain so much; may read catalogs.  block:
 * deduplicate a page, if nobody else has it and it gains so many bytes; its
 * free bytes then, -1: it is as it was.
 */
typedef enum DedupWhen
{
	DEDUP_IF_FULL,				/* and it has none of our pins */
	DEDUP_ANY
} DedupWhen;

extern void strata_dedup_row_went_to(Relation rel, const ItemPointerData *tid,
									 int min_gain);
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

extern StrataDedupPatience *strata_dedup_patience(Relation rel);
extern bool strata_dedup_passes_over(StrataDedupPatience *patience);
extern void strata_dedup_tell_outcome(StrataDedupPatience *patience,
									  bool gained);

/*
 * Columns that stay in their tuples, an array in *plain, palloc'd, or NULL:
 * none; false: the table's pages are not deduplicated.
 */
extern bool strata_dedup_plain_columns(Relation rel, bool **plain);
extern StrataPageRule strata_dedup_rule_now(void);
extern StrataPageWork *strata_dedup_work(void);

/*
 * dedup_load.c.  Put the first of these rows into a page of their own, if they
 * fill it; how many.  The slots say where they are.
 */
extern int	strata_dedup_load_page(Relation rel, TupleTableSlot **slots,
								   int nslots, CommandId cid, int options,
								   struct BulkInsertStateData *bistate);

/* VACUUM FULL tries a page again while it gains so many bytes. */
#define STRATA_DEDUP_ANOTHER_ROUND 64

/*
 * dedup_inspect.c.  copy_page: into BLCKSZ bytes.  copied_tuple: of such a
 * copy, with its values, or NULL where there is none; damage is an error.
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
