/*-------------------------------------------------------------------------
 *
 * am_analyze.c
 *	  VACUUM's, ANALYZE's and the planner's view of the table's size.
 *
 * ANALYZE samples blocks by number.  While it runs on R, R claims to have some
 * more blocks than its heap: each stands for a share of the companion's pages,
 * whose batches then yield rows.  That ANALYZE runs is read off the backend's
 * progress entry, which it sets before it asks for the number of blocks.  Of a
 * table above R it asks for the blocks of all tables below first, to take its
 * rows from them in that proportion; there R has as many as a heap would.
 *
 * From 17 on ANALYZE has a read stream instead of numbers, which would read
 * blocks that the heap does not have.  So the numbers are taken out of it, and
 * those of the heap, which come first, go into a stream of our own.
 *
 * src/am/am_analyze.c
 *-------------------------------------------------------------------------
 */
#include "am/am.h"
#include "am/am_private.h"
#include "store/store_entry.h"

#include <math.h>

#include "access/table.h"
#include "catalog/storage.h"
#include "commands/progress.h"
#include "commands/vacuum.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/plancat.h"
#include "pgstat.h"
#include "postmaster/autovacuum.h"
#include "storage/bufmgr.h"
#include "storage/smgr.h"
#include "utils/backend_progress.h"
#include "utils/backend_status.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* About so many compressed rows are shown to ANALYZE, spread evenly. */
#define ANALYZE_ROWS 300000.0

typedef struct StrataAnalyzeState
{
	StrataStore *store;			/* NULL: no batches */
	BlockNumber heap_blocks;
	BlockNumber virtual_blocks;
	int			stride;			/* every stride-th row is shown */
	/* while in a virtual block */
	bool		active;
	TableScanDesc scan;
	Snapshot	snapshot;
	TupleTableSlot *batch;
	StrataBatchReader *reader;
	StrataEntries *entries;
	int			row;
#if !STRATA_ANALYZE_BY_BLOCK
	ReadStream *sampled;		/* ANALYZE's: which blocks */
	ReadStream *heap;			/* ours, of those the heap has; NULL: past
								 * them */
	BlockNumber next;			/* taken out of `sampled`, not used yet, or
								 * invalid */
#endif
} StrataAnalyzeState;

/*
 * How far this process's ANALYZE is; NULL: there is none.
 *
 * PostgreSQL keeps no progress under track_activities = off.  ANALYZE as a
 * command has it on (strata_analyze_run); autovacuum asks for the table's size
 * before it says that it analyzes it, so the worker has it on from here to its
 * end.
 */
static const PgBackendStatus *
running_analyze(void)
{
	if (!pgstat_track_activities && strata_is_autovacuum_worker())
		pgstat_track_activities = true;
	return MyBEEntry != NULL &&
		MyBEEntry->st_progress_command == PROGRESS_COMMAND_ANALYZE ?
		MyBEEntry :
		NULL;
}

/*
 * See am.h.  The end of an ANALYZE that fails, and what pg_stat_activity has
 * of its transactions, must be noted before nothing is noted any more.
 */
void
strata_analyze_run(void (*run) (void *arg), void *arg)
{
	if (pgstat_track_activities)
	{
		run(arg);
		return;
	}
	pgstat_track_activities = true;
	PG_TRY();
	{
		run(arg);
	}
	PG_FINALLY();
	{
		pgstat_progress_end_command();
		pgstat_report_xact_timestamp(0);
		pgstat_track_activities = false;
	}
	PG_END_TRY();
}

/* Is it taking rows: of its table, or of tables below it? */
static bool
takes_rows(const PgBackendStatus *analyze)
{
	return analyze->st_progress_param[PROGRESS_ANALYZE_PHASE] ==
		PROGRESS_ANALYZE_PHASE_ACQUIRE_SAMPLE_ROWS;
}

static bool
takes_rows_below(const PgBackendStatus *analyze)
{
	return analyze->st_progress_param[PROGRESS_ANALYZE_PHASE] ==
		PROGRESS_ANALYZE_PHASE_ACQUIRE_SAMPLE_ROWS_INH;
}

/*
 * Does it take the relation's rows?  Afterwards it evaluates expressions of
 * indexes and statistics, which may scan the relation.
 */
static bool
is_analyzed(const PgBackendStatus *analyze, Relation rel)
{
	return (takes_rows(analyze) &&
			analyze->st_progress_command_target == RelationGetRelid(rel)) ||
		(takes_rows_below(analyze) &&
		 analyze->st_progress_param
		 [PROGRESS_ANALYZE_CURRENT_CHILD_TABLE_RELID] ==
		 RelationGetRelid(rel));
}

/*
 * Does it weigh the tables below one against each other?  It does that before
 * it looks into any, and asks for no other table's size then.
 */
static bool
is_weighing(const PgBackendStatus *analyze)
{
	return takes_rows_below(analyze) &&
		analyze->st_progress_param[PROGRESS_ANALYZE_CHILD_TABLES_TOTAL] ==
		0;
}

static BlockNumber
heap_blocks(Relation rel)
{
	return (BlockNumber) (strata_heap_am->relation_size(rel, MAIN_FORKNUM) /
						  BLCKSZ);
}

/*
 * Blocks that stand for the companion.  They must not reach into a file
 * segment that the heap does not have: ANALYZE prefetches them.
 */
static BlockNumber
virtual_blocks(Relation rel, BlockNumber nheap)
{
	Oid			companion = strata_companion_oid(rel);
	BlockNumber room = RELSEG_SIZE - nheap % RELSEG_SIZE;
	BlockNumber n;
	Relation	batches;

	if (!OidIsValid(companion))
		return 0;
	batches = table_open(companion, AccessShareLock);
	n = RelationGetNumberOfBlocks(batches);
	table_close(batches, AccessShareLock);
	return Min(n, room);
}

/*
 * The bytes that compressed rows would take in a heap: by that ANALYZE shares
 * its sample out.
 */
static uint64
heap_bytes(Relation rel)
{
	Oid			companion = strata_companion_oid(rel);
	int			width;
	Relation	batches;
	StrataStoreSize size;

	width = get_rel_data_width(rel, NULL) +
		(int) (MAXALIGN(SizeofHeapTupleHeader) + sizeof(ItemIdData));
	if (!OidIsValid(companion))
		return 0;
	batches = table_open(companion, AccessShareLock);
	strata_store_estimate_size(batches, &size);
	table_close(batches, AccessShareLock);
	return (uint64) ceil(size.rows * width / BLCKSZ) * BLCKSZ;
}

static uint64
relation_size(Relation rel, ForkNumber fork)
{
	uint64		size = strata_heap_am->relation_size(rel, fork);
	const PgBackendStatus *analyze;

	analyze = fork == MAIN_FORKNUM ? running_analyze() : NULL;
	if (analyze == NULL)
		return size;
	if (is_weighing(analyze))
		size += heap_bytes(rel);
	else if (is_analyzed(analyze, rel))
		size += (uint64) virtual_blocks(rel, size / BLCKSZ) * BLCKSZ;
	return size;
}

/*
 * The state of an ANALYZE's scan, made when it is first asked for; in the
 * scan's memory context.
 */
static StrataAnalyzeState *
analyze_state(StrataScanDesc *scan)
{
	StrataAnalyzeState *state = scan->analyze;
	Relation	rel = scan->base.rs_rd;
	StrataStoreSize size;

	MemoryContext old;

	if (state != NULL)
		return state;
	strata_am_forget_counts(rel);
	old = MemoryContextSwitchTo(GetMemoryChunkContext(scan));
	state = scan->analyze = palloc0(sizeof(StrataAnalyzeState));
	state->heap_blocks = heap_blocks(rel);
	state->virtual_blocks = virtual_blocks(rel, state->heap_blocks);
	state->store = strata_store_open(rel, AccessShareLock);
	if (state->store != NULL)
	{
		strata_store_estimate_size(state->store->batches, &size);
		state->stride = Max(1, (int) (size.rows / ANALYZE_ROWS));
		state->batch = table_slot_create(state->store->batches, NULL);
		state->reader = strata_batch_reader_create(rel, state->store->schema);
	}
	MemoryContextSwitchTo(old);
	return state;
}

/* Begin with the companion pages that virtual block i stands for. */
static void
begin_virtual_block(StrataAnalyzeState *state, BlockNumber i)
{
	Relation	batches = state->store->batches;
	uint64		pages = RelationGetNumberOfBlocks(batches);
	BlockNumber first = (BlockNumber) (pages * i / state->virtual_blocks);
	BlockNumber last = (BlockNumber) (pages * (i + 1) / state->virtual_blocks);

	state->active = true;
	state->snapshot = RegisterSnapshot(strata_latest_snapshot());
	state->scan = table_beginscan_strat(batches, state->snapshot, 0, NULL,
										true, false);
	heap_setscanlimits(state->scan, first, last - first);
	state->entries = strata_entries_create(batches, state->snapshot);
	state->reader->nrows = 0;
	state->row = 0;
}

static void
end_virtual_block(StrataAnalyzeState *state)
{
	if (!state->active)
		return;
	strata_entries_free(state->entries);
	table_endscan(state->scan);
	UnregisterSnapshot(state->snapshot);
	state->active = false;
}

/* Next shown row of the virtual block; counts all it passes over. */
static bool
next_virtual_row(StrataScanDesc *scan, StrataAnalyzeState *state,
				 double *liverows, TupleTableSlot *slot)
{
	while (state->row >= state->reader->nrows ||
		   strata_batch_row_is_gone(state->reader, state->row))
	{
		/* of rows that are gone the next neighbour is shown */
		if (state->row < state->reader->nrows)
		{
			state->row++;
			continue;
		}
		strata_vacuum_delay_point(true);
		if (!table_scan_getnextslot(state->scan, ForwardScanDirection,
									state->batch))
		{
			end_virtual_block(state);
			return false;
		}
		if (!strata_batch_reader_load(state->reader, state->batch))
			continue;
		strata_entries_apply(state->entries, state->reader);
		state->row = 0;
	}
	strata_batch_store_row(scan->base.rs_rd, state->reader, state->row, slot);
	for (int i = 0; i < state->stride && state->row < state->reader->nrows;
		 i++, state->row++)
		if (!strata_batch_row_is_gone(state->reader, state->row))
			*liverows += 1;
	return true;
}

#if STRATA_ANALYZE_BY_BLOCK
static bool
scan_analyze_next_block(TableScanDesc sscan, BlockNumber block,
						BufferAccessStrategy bstrategy)
{
	StrataScanDesc *scan = (StrataScanDesc *) sscan;
	StrataAnalyzeState *state = analyze_state(scan);

	end_virtual_block(state);
	if (block < state->heap_blocks)
		return strata_heap_am->scan_analyze_next_block(scan->heap, block,
													   bstrategy);
	if (state->store == NULL ||
		block - state->heap_blocks >= state->virtual_blocks)
		return false;
	begin_virtual_block(state, block - state->heap_blocks);
	return true;
}
#else
/* For our stream: the next sampled block of the heap. */
static BlockNumber
next_heap_block(ReadStream * stream, void *arg, void *per_buffer)
{
	StrataAnalyzeState *state = arg;
	BlockNumber block = state->next;
	BufferAccessStrategy strategy;

	if (!BlockNumberIsValid(block) || block >= state->heap_blocks)
		return InvalidBlockNumber;
	state->next = read_stream_next_block(state->sampled, &strategy);
	return block;
}

static void
end_heap_stream(StrataAnalyzeState *state)
{
	if (state->heap != NULL)
		read_stream_end(state->heap);
	state->heap = NULL;
}

static void
begin_heap_stream(StrataScanDesc *scan, StrataAnalyzeState *state,
				  ReadStream * sampled)
{
	BufferAccessStrategy strategy;
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(scan));

	state->sampled = sampled;
	state->next = read_stream_next_block(sampled, &strategy);
	state->heap = read_stream_begin_relation(READ_STREAM_MAINTENANCE, strategy,
											 scan->base.rs_rd, MAIN_FORKNUM,
											 next_heap_block, state, 0);
	MemoryContextSwitchTo(old);
}

/*
 * Blocks of the heap first, as heapam has it, then virtual ones that stand for
 * batches; false when the sample has no more.
 */
static bool
scan_analyze_next_block(TableScanDesc sscan, ReadStream * stream)
{
	StrataScanDesc *scan = (StrataScanDesc *) sscan;
	StrataAnalyzeState *state = analyze_state(scan);
	BufferAccessStrategy strategy;
	BlockNumber block;

	end_virtual_block(state);
	if (state->sampled == NULL)
		begin_heap_stream(scan, state, stream);
	if (state->heap != NULL)
	{
		if (strata_heap_am->scan_analyze_next_block(scan->heap, state->heap))
			return true;
		end_heap_stream(state);
	}
	/* beyond those we claimed to have there can be none */
	block = state->next;
	if (!BlockNumberIsValid(block) || state->store == NULL ||
		block - state->heap_blocks >= state->virtual_blocks)
		return false;
	state->next = read_stream_next_block(state->sampled, &strategy);
	begin_virtual_block(state, block - state->heap_blocks);
	return true;
}
#endif

static bool
scan_analyze_next_tuple(TableScanDesc sscan, TransactionId oldest_xmin,
						double *liverows, double *deadrows,
						TupleTableSlot *slot)
{
	StrataScanDesc *scan = (StrataScanDesc *) sscan;

	if (scan->analyze != NULL && scan->analyze->active)
		return next_virtual_row(scan, scan->analyze, liverows, slot);
	return strata_heap_am->scan_analyze_next_tuple(scan->heap, oldest_xmin,
												   liverows, deadrows, slot);
}

/* See am_private.h. */
void
strata_analyze_end(StrataScanDesc *scan)
{
	StrataAnalyzeState *state = scan->analyze;

	if (state == NULL)
		return;
	end_virtual_block(state);
#if !STRATA_ANALYZE_BY_BLOCK
	end_heap_stream(state);
#endif
	if (state->store != NULL)
	{
		strata_batch_reader_free(state->reader);
		ExecDropSingleTupleTableSlot(state->batch);
		strata_store_close(state->store, AccessShareLock);
	}
	scan->analyze = NULL;
}

/*-------------------------------------------------------------------------
 * The planner's estimate
 *-------------------------------------------------------------------------
 */

/* Pages of the row store looked at. */
#define DENSITY_PAGES 32

/* Remembered until the table is vacuumed or compressed, or grows. */
typedef struct RowDensity
{
	Oid			relid;			/* hash key */
	BlockNumber pages;			/* when it was counted; InvalidBlockNumber:
								 * not yet */
	double		rows_per_page;
} RowDensity;

static HTAB *densities = NULL;

static void
forget_density(Datum arg, Oid relid)
{
	RowDensity *density;
	HASH_SEQ_STATUS status;

	if (OidIsValid(relid))
	{
		density = hash_search(densities, &relid, HASH_FIND, NULL);
		if (density != NULL)
			density->pages = InvalidBlockNumber;
		return;
	}
	hash_seq_init(&status, densities);
	while ((density = hash_seq_search(&status)) != NULL)
		density->pages = InvalidBlockNumber;
}

/* Visible rows in blocks [start, start + n) of the row store. */
static double
count_all_rows(Relation rel, Snapshot snapshot, BlockNumber start,
			   BlockNumber n)
{
	TableScanDesc scan = strata_heap_am->scan_begin(rel, snapshot, 0, NULL,
													NULL,
													SO_TYPE_SEQSCAN |
													SO_ALLOW_STRAT |
													SO_ALLOW_PAGEMODE);
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	double		rows = 0;

	heap_setscanlimits(scan, start, n);
	while (strata_heap_am->scan_getnextslot(scan, ForwardScanDirection, slot))
		rows++;
	ExecDropSingleTupleTableSlot(slot);
	strata_heap_am->scan_end(scan);
	return rows;
}

/* Rows per page of the row store, from pages evenly spread over it. */
static double
row_density(Relation rel, BlockNumber pages)
{
	Oid			relid = RelationGetRelid(rel);
	BlockNumber looked = Min(pages, DENSITY_PAGES);
	RowDensity *density;
	Snapshot	snapshot;
	double		rows = 0;
	bool		found;

	if (pages == 0)
		return 0;
	if (densities == NULL)
	{
		HASHCTL		ctl = {0};

		ctl.keysize = sizeof(Oid);
		ctl.entrysize = sizeof(RowDensity);
		ctl.hcxt = CacheMemoryContext;
		densities = hash_create("strata row densities", 16, &ctl,
								HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
		strata_relcache_callback_add(forget_density);
	}
	density = hash_search(densities, &relid, HASH_FIND, NULL);
	if (density != NULL && BlockNumberIsValid(density->pages) && pages > 4 &&
		fabs((double) pages - density->pages) <= 0.1 * density->pages)
		return density->rows_per_page;
	snapshot = RegisterSnapshot(strata_latest_snapshot());
	for (BlockNumber i = 0; i < looked; i++)
		rows += count_all_rows(rel, snapshot,
							   (BlockNumber) ((double) pages * i / looked), 1);
	UnregisterSnapshot(snapshot);
	density = hash_search(densities, &relid, HASH_ENTER, &found);
	density->pages = pages;
	density->rows_per_page = rows / looked;
	return density->rows_per_page;
}

/*
 * pg_class.reltuples counts both halves after ANALYZE and the row store only
 * after VACUUM, and after a compression the row store is mostly dead rows or
 * empty pages.  So with batches neither density can be used: both halves are
 * counted, on some pages.
 */
static void
relation_estimate_size(Relation rel, int32 *attr_widths, BlockNumber *pages,
					   double *tuples, double *allvisfrac)
{
	Oid			companion = strata_companion_oid(rel);
	Relation	batches;
	BlockNumber nheap;
	StrataStoreSize size;

	if (!OidIsValid(companion))
	{
		strata_heap_am->relation_estimate_size(rel, attr_widths, pages, tuples,
											   allvisfrac);
		return;
	}
	batches = table_open(companion, AccessShareLock);
	strata_store_estimate_size(batches, &size);
	nheap = heap_blocks(rel);
	*allvisfrac =
		nheap > 0 ? Min((double) rel->rd_rel->relallvisible / nheap, 1.0) : 0;
	*tuples = rint(row_density(rel, nheap) * nheap) + size.rows;
	*pages = nheap + (BlockNumber) (size.main_pages + size.toast_pages);
	table_close(batches, AccessShareLock);
}

/* See am_private.h. */
void
strata_am_forget_counts(Relation rel)
{
	if (!pgstat_should_count_relation(rel))
		return;
	rel->pgstat_info->STRATA_PGSTAT_COUNTS.STRATA_DELTA_LIVE = 0;
	rel->pgstat_info->STRATA_PGSTAT_COUNTS.STRATA_DELTA_DEAD = 0;
}

/* See am_private.h. */
double
strata_am_row_store_rows(Relation rel)
{
	BlockNumber pages = heap_blocks(rel);

	return rint(row_density(rel, pages) * pages);
}

void
strata_am_analyze_init(TableAmRoutine *am)
{
	am->relation_size = relation_size;
	am->scan_analyze_next_block = scan_analyze_next_block;
	am->scan_analyze_next_tuple = scan_analyze_next_tuple;
	am->relation_estimate_size = relation_estimate_size;
}
