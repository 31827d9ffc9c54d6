/*-------------------------------------------------------------------------
 *
 * store_put.c
 *	  Rows that were compressed, into the row store and R's indexes.
 *
 * Not logically decoded: for subscribers the row was there all the time.
 *
 * src/store/store_put.c
 *-------------------------------------------------------------------------
 */
#include "store/store_private.h"
#include "store/store_write.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/lmgr.h"

/* See store_write.h. */
StrataRowWriter *
strata_row_writer_begin(Relation rel)
{
	StrataRowWriter *writer = palloc0(sizeof(StrataRowWriter));

	writer->rel = rel;
	writer->slot = table_slot_create(rel, NULL);
	writer->estate = CreateExecutorState();
	writer->rri = makeNode(ResultRelInfo);
	InitResultRelInfo(writer->rri, rel, 0, NULL, 0);
	ExecOpenIndices(writer->rri, false);
	return writer;
}

/* See store_write.h. */
void
strata_row_writer_put(StrataRowWriter *writer)
{
	bool		shouldFree;
	HeapTuple	tuple = ExecFetchSlotHeapTuple(writer->slot, true,
											   &shouldFree);

	Assert(CheckRelationLockedByMe(writer->rel, RowExclusiveLock,
								   true));	/* store:S9 */
	CHECK_FOR_INTERRUPTS();
	heap_insert(writer->rel, tuple, GetCurrentCommandId(true),
				HEAP_INSERT_NO_LOGICAL, NULL);
	ItemPointerCopy(&tuple->t_self, &writer->slot->tts_tid);
	if (shouldFree)
		pfree(tuple);
}

/* See store_write.h. */
void
strata_row_writer_index(StrataRowWriter *writer)
{
	if (writer->rri->ri_NumIndices == 0)
		return;
	Assert(!strata_tid_is_compressed(&writer->slot->tts_tid));	/* store:S8 */
	ResetPerTupleExprContext(writer->estate);
	(void) strata_insert_index_tuples(writer->rri, writer->slot,
									  writer->estate);
}

/* See store_write.h. */
void
strata_row_writer_end(StrataRowWriter *writer)
{
	ExecCloseIndices(writer->rri);
	ExecDropSingleTupleTableSlot(writer->slot);
	FreeExecutorState(writer->estate);
}
