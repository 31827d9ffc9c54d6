/*-------------------------------------------------------------------------
 *
 * am_sample.c
 *	  TABLESAMPLE over both halves.
 *
 * The sampling method is shown the row store's blocks and, behind them, one
 * block for every 256 compressed row numbers, which is how TIDs number them.
 * Blocks without any row number in use do not count: row numbers begin far up
 * in a table that was recompressed often.
 *
 * src/am/am_sample.c
 *-------------------------------------------------------------------------
 */
#include "am/am_private.h"
#include "store/store_entry.h"

#include "access/tsmapi.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"

#define ROWS_PER_BLOCK 256

/* Consecutive blocks of 256 row numbers in use. */
typedef struct BlockRange
{
	BlockNumber first;			/* by row number */
	BlockNumber before;			/* blocks in the ranges before this one */
} BlockRange;

typedef struct StrataSampleState
{
	StrataStore *store;
	BlockNumber heap_blocks;
	BlockNumber batch_blocks;
	BlockRange *ranges;
	int			nranges;
	int			range;			/* of the last block */
	BlockNumber block;			/* current; InvalidBlockNumber: none yet */
	TupleTableSlot *batch;
	StrataBatchReader *reader;
	StrataEntries *entries;
	int64		next_row;		/* one past the greatest row number */
} StrataSampleState;

static int
compare_ranges(const void *a, const void *b)
{
	const BlockRange *ra = a;
	const BlockRange *rb = b;

	return ra->first < rb->first ? -1 : ra->first > rb->first;
}

/* Turn the blocks of single batches, in any order, into ranges of blocks. */
static void
merge_ranges(StrataSampleState *state, BlockRange *batches, int nbatches)
{
	qsort(batches, nbatches, sizeof(BlockRange), compare_ranges);
	for (int i = 0; i < nbatches; i++)
	{
		BlockNumber first = batches[i].first;
		BlockNumber end = batches[i].before;
		BlockRange *last = &batches[Max(state->nranges, 1) - 1];

		/* batches share blocks, and mostly follow one another */
		if (state->nranges > 0 &&
			first <= last->first + (state->batch_blocks - last->before))
			first = last->first + (state->batch_blocks - last->before);
		else
		{
			batches[state->nranges].first = first;
			batches[state->nranges++].before = state->batch_blocks;
		}
		if (end > first)
			state->batch_blocks += end - first;
	}
	state->ranges = batches;
}

/* Find the row numbers in use, as the snapshot sees them. */
static void
list_blocks(StrataSampleState *state, Snapshot snapshot)
{
	TableScanDesc scan = table_beginscan(state->store->batches, snapshot, 0,
										 NULL);
	StrataBatchReader *reader = state->reader;
	int			room = 64;
	int			n = 0;

	/* .before is the end of the batch's blocks, until they are merged */
	BlockRange *batches = palloc(sizeof(BlockRange) * room);

	while (table_scan_getnextslot(scan, ForwardScanDirection, state->batch))
	{
		int64		end;

		CHECK_FOR_INTERRUPTS();
		if (!strata_batch_reader_load(reader, state->batch))
			continue;
		if (n == room)
		{
			room *= 2;
			batches = repalloc_huge(batches, sizeof(BlockRange) * room);
		}
		end = reader->first_row + reader->nrows;
		batches[n].first = (BlockNumber) (reader->first_row / ROWS_PER_BLOCK);
		batches[n++].before = (BlockNumber) ((end + ROWS_PER_BLOCK - 1) /
											 ROWS_PER_BLOCK);
		state->next_row = Max(state->next_row, end);
	}
	table_endscan(scan);
	reader->nrows = 0;
	ExecClearTuple(state->batch);
	merge_ranges(state, batches, n);
}

/* The block, by row number, that is the n-th in use. */
static BlockNumber
nth_block(StrataSampleState *state, BlockNumber n)
{
	int			low = 0;
	int			high = state->nranges - 1;

	/* mostly the range of the last one */
	if (state->ranges[state->range].before <= n &&
		(state->range == high || state->ranges[state->range + 1].before > n))
		low = high = state->range;
	while (low < high)
	{
		int			middle = (low + high + 1) / 2;

		if (state->ranges[middle].before <= n)
			low = middle;
		else
			high = middle - 1;
	}
	state->range = low;
	return state->ranges[low].first + (n - state->ranges[low].before);
}

/*
 * The state of a TABLESAMPLE's scan over batches, made when it is first asked
 * for; in the scan's memory context.
 */
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
	state->entries = strata_entries_create(state->store->batches,
										   scan->base.rs_snapshot);
	list_blocks(state, scan->base.rs_snapshot);
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
		scan->with_batches =
			OidIsValid(strata_companion_oid_now(sscan->rs_rd));
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
		state->block = state->block + 1 < total ? state->block + 1 :
			InvalidBlockNumber;
	if (!BlockNumberIsValid(state->block))
		return false;
	if (state->block < state->heap_blocks)
		strata_heap_read_page(scan->heap, state->block);
	return true;
}

/* Is row number `row` there, and the reader at its batch? */
static bool
load_sampled_row(StrataScanDesc *scan, StrataSampleState *state, int64 row)
{
	StrataBatchReader *reader = state->reader;

	if (reader->nrows == 0 || row < reader->first_row ||
		row >= reader->first_row + reader->nrows)
	{
		reader->nrows = 0;
		if (!strata_batches_find(state->store->batches, row,
								 scan->base.rs_snapshot, state->batch) ||
			!strata_batch_reader_load(reader, state->batch))
			return false;
		strata_entries_apply(state->entries, reader);
	}
	return !strata_batch_row_is_gone(reader, (int) (row - reader->first_row));
}

/*
 * The next row of the block that the sampling method chose: a block of the
 * heap, or of ROWS_PER_BLOCK compressed rows.
 */
static bool
scan_sample_next_tuple(TableScanDesc sscan, SampleScanState *node,
					   TupleTableSlot *slot)
{
	StrataScanDesc *scan = (StrataScanDesc *) sscan;
	StrataSampleState *state = scan->sample;
	int64		base;

	if (state == NULL || state->block < state->heap_blocks)
		return strata_heap_am->scan_sample_next_tuple(scan->heap, node, slot);
	base = (int64) nth_block(state, state->block - state->heap_blocks) *
		ROWS_PER_BLOCK;
	for (;;)
	{
		int			in_block = (int) Min(ROWS_PER_BLOCK,
										 state->next_row - base);
		OffsetNumber offset = node->tsmroutine->NextSampleTuple(node,
																state->block,
																in_block);

		if (!OffsetNumberIsValid(offset))
			return false;
		if (!load_sampled_row(scan, state, base + offset - 1))
			continue;
		strata_batch_store_row(sscan->rs_rd, state->reader,
							   (int) (base + offset - 1 -
									  state->reader->first_row),
							   slot);
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
