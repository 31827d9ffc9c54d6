/*-------------------------------------------------------------------------
 *
 * am_sample.c
 *	  TABLESAMPLE over both halves.
 *
 * The sampling method is shown the row store's blocks and, behind them, one
 * block for every 256 compressed row numbers, which is how TIDs number them.
 *
 * src/am/am_sample.c
 *-------------------------------------------------------------------------
 */
#include "am/am_private.h"

#include "access/tsmapi.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"

#define ROWS_PER_BLOCK 256

typedef struct StrataSampleState
{
	StrataStore *store;
	BlockNumber heap_blocks;
	BlockNumber batch_blocks;
	BlockNumber block;			/* current; InvalidBlockNumber: none yet */
	TupleTableSlot *batch;
	StrataBatchReader *reader;
	StrataEntries *entries;
	int64		next_row;		/* one past the greatest row number */
} StrataSampleState;

/* One past the greatest row number that the snapshot sees. */
static int64
end_row(StrataStore *store, Snapshot snapshot, TupleTableSlot *slot)
{
	int64		end = 0;

	if (strata_store_find_last_batch(store, snapshot, slot))
	{
		slot_getallattrs(slot);
		end = DatumGetInt64(slot->tts_values[STRATA_BATCH_ATT_FIRST_ROW - 1]) +
			DatumGetInt32(slot->tts_values[STRATA_BATCH_ATT_NROWS - 1]);
	}
	return end;
}

static StrataSampleState *
sample_state(StrataScanDesc *scan)
{
	StrataSampleState *state = scan->sample;
	Relation	rel = scan->base.rs_rd;

	MemoryContext old;

	if (state != NULL)
		return state;
	old = MemoryContextSwitchTo(GetMemoryChunkContext(scan));
	state = scan->sample = palloc0(sizeof(StrataSampleState));
	state->heap_blocks = ((HeapScanDesc) scan->heap)->rs_nblocks;
	state->block = InvalidBlockNumber;
	state->store = strata_store_open(rel, AccessShareLock);
	state->batch = table_slot_create(state->store->batches, NULL);
	state->reader = strata_batch_reader_create(rel, state->store->schema);
	state->entries = strata_entries_create(state->store->batches, scan->base.rs_snapshot);
	state->next_row = end_row(state->store, scan->base.rs_snapshot, state->batch);
	state->batch_blocks = (BlockNumber) ((state->next_row + ROWS_PER_BLOCK - 1) / ROWS_PER_BLOCK);
	MemoryContextSwitchTo(old);
	return state;
}

/*
 * Methods with NextSampleBlock choose from the sum of blocks; the others get
 * every block, in order.
 */
static bool
scan_sample_next_block(TableScanDesc sscan, SampleScanState *node)
{
	StrataScanDesc *scan = (StrataScanDesc *) sscan;
	StrataSampleState *state;
	TsmRoutine *tsm = node->tsmroutine;
	BlockNumber total;

	/* decided once: a compression that comes later is none of this scan's */
	if (!scan->started)
	{
		scan->started = true;
		scan->with_batches = OidIsValid(strata_companion_oid_now(sscan->rs_rd));
	}
	if (!scan->with_batches)
		return strata_heap_am->scan_sample_next_block(scan->heap, node);
	state = sample_state(scan);
	total = state->heap_blocks + state->batch_blocks;
	CHECK_FOR_INTERRUPTS();
	if (tsm->NextSampleBlock != NULL)
		state->block = tsm->NextSampleBlock(node, total);
	else if (!BlockNumberIsValid(state->block))
		state->block = total > 0 ? 0 : InvalidBlockNumber;
	else
		state->block = state->block + 1 < total ? state->block + 1 : InvalidBlockNumber;
	if (!BlockNumberIsValid(state->block))
		return false;
	if (state->block < state->heap_blocks)
		heapgetpage(scan->heap, state->block);
	return true;
}

/* Is row number `row` there, and the reader at its batch? */
static bool
load_row(StrataScanDesc *scan, StrataSampleState *state, int64 row)
{
	StrataBatchReader *reader = state->reader;

	if (reader->nrows == 0 || row < reader->first_row || row >= reader->first_row + reader->nrows)
	{
		reader->nrows = 0;
		if (!strata_store_find_batch(state->store, row, scan->base.rs_snapshot, state->batch) ||
			!strata_batch_reader_load(reader, state->batch))
			return false;
		strata_entries_apply(state->entries, reader);
	}
	return !strata_batch_row_is_gone(reader, (int) (row - reader->first_row));
}

static bool
scan_sample_next_tuple(TableScanDesc sscan, SampleScanState *node, TupleTableSlot *slot)
{
	StrataScanDesc *scan = (StrataScanDesc *) sscan;
	StrataSampleState *state = scan->sample;
	int64		base;

	if (state == NULL || state->block < state->heap_blocks)
		return strata_heap_am->scan_sample_next_tuple(scan->heap, node, slot);
	base = (int64) (state->block - state->heap_blocks) * ROWS_PER_BLOCK;
	for (;;)
	{
		int			in_block = (int) Min(ROWS_PER_BLOCK, state->next_row - base);
		OffsetNumber offset = node->tsmroutine->NextSampleTuple(node, state->block, in_block);

		if (!OffsetNumberIsValid(offset))
			return false;
		if (!load_row(scan, state, base + offset - 1))
			continue;
		strata_batch_store_row(sscan->rs_rd, state->reader,
							   (int) (base + offset - 1 - state->reader->first_row), slot);
		return true;
	}
}

/* See am_private.h. */
void
strata_sample_rescan(StrataScanDesc *scan)
{
	if (scan->sample != NULL)
		scan->sample->block = InvalidBlockNumber;
}

/* See am_private.h. */
void
strata_sample_end(StrataScanDesc *scan)
{
	StrataSampleState *state = scan->sample;

	if (state == NULL)
		return;
	strata_entries_free(state->entries);
	strata_batch_reader_free(state->reader);
	ExecDropSingleTupleTableSlot(state->batch);
	strata_store_close(state->store, AccessShareLock);
	scan->sample = NULL;
}

void
strata_am_sample_init(TableAmRoutine *am)
{
	am->scan_sample_next_block = scan_sample_next_block;
	am->scan_sample_next_tuple = scan_sample_next_tuple;
}
