/*-------------------------------------------------------------------------
 *
 * dedup_index.c
 *	  Index builds.
 *
 * heapam finds the rows that an index is to have, which is the larger part,
 * and goes by headers there.  So it builds the index of an IndexInfo without
 * columns and predicate, while the table looks like a heap; keys are computed
 * in the function that it calls for each row, from the tuple that its scan
 * stands on, while the table looks like itself: expressions may read it.
 *
 * The last phase of CREATE INDEX CONCURRENTLY calls no function of ours, and
 * is done here as heapam does it (heapam_index_validate_scan).
 *
 * src/dedup/dedup_index.c
 *-------------------------------------------------------------------------
 */
#include "dedup/dedup_private.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "pgstat.h"
#include "utils/tuplesort.h"

/* A build that runs. */
typedef struct DedupBuild
{
	Relation	rel;
	IndexInfo  *info;			/* the index's */
	IndexBuildCallback callback;
	void	   *callback_state;
	TableScanDesc scan;			/* heapam's, NULL: not begun yet */
	EState	   *estate;
	ExprState  *predicate;
	TupleTableSlot *slot;
	StrataDisguise disguise;
	bool		disguised;
	struct DedupBuild *outer;
} DedupBuild;

static DedupBuild *current_build = NULL;

/*
 * What the table shows until heapam has begun its scan, by which we know it:
 * heapam's routine but for that.
 */
static TableAmRoutine beginning;

static void
disguise(DedupBuild *build, const TableAmRoutine *shown)
{
	Assert(!build->disguised);	/* pg:Q1 */
	strata_disguise_push(&build->disguise, build->rel, shown);
	build->disguised = true;
}

static void
undisguise(DedupBuild *build)
{
	if (!build->disguised)
		return;
	build->disguised = false;
	strata_disguise_pop(&build->disguise);
}

static TableScanDesc
scan_begin_for_build(Relation rel, Snapshot snapshot, int nkeys,
					 struct ScanKeyData *key, ParallelTableScanDesc pscan,
					 uint32 flags)
{
	DedupBuild *build = current_build;

	Assert(build != NULL && build->rel == rel); /* dedup:DD6 */
	Assert(build->scan == NULL);	/* dedup:DD6 */
	build->scan = strata_dedup_heap->scan_begin(rel, snapshot, nkeys, key,
												pscan, flags);
	strata_disguise_change(&build->disguise, strata_dedup_heap);
	return build->scan;
}

/* A row that the index is to have, unless its predicate says no. */
static void
build_row(Relation index, ItemPointer tid, Datum *unused, bool *unused_nulls,
		  bool alive, void *arg)
{
	DedupBuild *build = arg;
	HeapScanDesc scan = (HeapScanDesc) build->scan;
	ExprContext *econtext = GetPerTupleExprContext(build->estate);
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	bool		lent;

	Assert(build == current_build && build->disguised); /* dedup:DD6 */
	undisguise(build);
	Assert(strata_is_dedup(build->rel));	/* dedup:DD6 */
	current_build = build->outer;
	ResetExprContext(econtext);
	lent = strata_dedup_lend(build->slot);
	ExecStoreBufferHeapTuple(&scan->rs_ctup, build->slot, scan->rs_cbuf);
	strata_dedup_take_back(build->slot, lent);
	econtext->ecxt_scantuple = build->slot;
	if (ExecQual(build->predicate, econtext))
	{
		FormIndexDatum(build->info, build->slot, build->estate, values,
					   isnull);
		build->callback(index, tid, values, isnull, alive,
						build->callback_state);
	}
	current_build = build;
	disguise(build, strata_dedup_heap);
}

/* The index's info as heapam sees it. */
static IndexInfo *
without_columns(const IndexInfo *info)
{
	IndexInfo  *bare = makeNode(IndexInfo);

	*bare = *info;
	bare->ii_NumIndexAttrs = 0;
	bare->ii_NumIndexKeyAttrs = 0;
	bare->ii_Expressions = NIL;
	bare->ii_ExpressionsState = NIL;
	bare->ii_Predicate = NIL;
	bare->ii_PredicateState = NULL;
	return bare;
}

/* heapam finds the rows, we compute their keys; see above. */
static double
dedup_build_range_scan(Relation rel, Relation index, IndexInfo *info,
					   bool allow_sync, bool anyvisible, bool progress,
					   BlockNumber start, BlockNumber nblocks,
					   IndexBuildCallback callback, void *state,
					   TableScanDesc scan)
{
	DedupBuild	build = {rel, info, callback, state, scan};
	IndexInfo  *bare = without_columns(info);
	volatile double rows = 0;

	build.outer = current_build;
	build.estate = CreateExecutorState();
	build.predicate = ExecPrepareQual(info->ii_Predicate, build.estate);
	build.slot = table_slot_create(rel, NULL);
	/* disguises are process-wide state: they must come off in any case */
	PG_TRY();
	{
		current_build = &build;
		disguise(&build, scan != NULL ? strata_dedup_heap : &beginning);
		rows = strata_dedup_heap->index_build_range_scan(rel, index, bare,
														 allow_sync,
														 anyvisible, progress,
														 start, nblocks,
														 build_row, &build,
														 scan);
	}
	PG_FINALLY();
	{
		undisguise(&build);
		current_build = build.outer;
	}
	PG_END_TRY();
	ExecDropSingleTupleTableSlot(build.slot);
	FreeExecutorState(build.estate);
	/* these were in memory that is gone now */
	info->ii_ExpressionsState = NIL;
	info->ii_PredicateState = NULL;
	info->ii_BrokenHotChain |= bare->ii_BrokenHotChain;
	return rows;
}

/* What validation has of the sorted TIDs of the index. */
typedef struct DedupIndexed
{
	Tuplesortstate *sort;
	bool		at_end;
	bool		valid;
	ItemPointerData tid;		/* the one we are at */
	BlockNumber block;			/* of the table */
	bool		seen[MaxHeapTuplesPerPage];
	OffsetNumber roots[MaxHeapTuplesPerPage];
} DedupIndexed;

static void
next_indexed(DedupIndexed *indexed)
{
	Datum		value;
	bool		isnull;

	if (indexed->valid &&
		ItemPointerGetBlockNumber(&indexed->tid) == indexed->block)
		indexed->seen[ItemPointerGetOffsetNumber(&indexed->tid) - 1] = true;
	indexed->valid = strata_tuplesort_getdatum(indexed->sort, &value, &isnull);
	if (indexed->valid)
		itemptr_decode(&indexed->tid, DatumGetInt64(value));
	else
		indexed->at_end = true;
}

/*
 * Is the root of the row's chain in the index?  *root is set.  Roots do not
 * come in the order of the rows within a page, so what was passed over there
 * is remembered.
 */
static bool
is_indexed(DedupIndexed *indexed, HeapScanDesc scan, HeapTuple tuple,
		   ItemPointer root)
{
	OffsetNumber offnum = ItemPointerGetOffsetNumber(&tuple->t_self);

	if (scan->rs_cblock != indexed->block)
	{
		LockBuffer(scan->rs_cbuf, BUFFER_LOCK_SHARE);
		heap_get_root_tuples(BufferGetPage(scan->rs_cbuf), indexed->roots);
		LockBuffer(scan->rs_cbuf, BUFFER_LOCK_UNLOCK);
		memset(indexed->seen, 0, sizeof(indexed->seen));
		indexed->block = scan->rs_cblock;
	}
	*root = tuple->t_self;
	if (HeapTupleIsHeapOnly(tuple))
	{
		offnum = indexed->roots[offnum - 1];
		if (!OffsetNumberIsValid(offnum))
			strata_dedup_damaged(tuple->t_tableOid, &tuple->t_self,
								 "row has no root of its chain");
		ItemPointerSetOffsetNumber(root, offnum);
	}
	while (!indexed->at_end &&
		   (!indexed->valid || ItemPointerCompare(&indexed->tid, root) < 0))
		next_indexed(indexed);
	if (indexed->valid && ItemPointerEquals(&indexed->tid, root))
		return true;
	return indexed->seen[offnum - 1];
}

/* Put the rows that a snapshot sees into the index, where it has not got them. */
static void
dedup_validate_scan(Relation rel, Relation index, IndexInfo *info,
					Snapshot snapshot, ValidateIndexState * state)
{
	EState	   *estate = CreateExecutorState();
	ExprContext *econtext = GetPerTupleExprContext(estate);
	ExprState  *predicate = ExecPrepareQual(info->ii_Predicate, estate);
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	DedupIndexed *indexed = palloc0(sizeof(DedupIndexed));

	/* from block 0 on, as the TIDs of the index come */
	TableScanDesc scan = table_beginscan_strat(rel, snapshot, 0, NULL, true,
											   false);
	HeapScanDesc hscan = (HeapScanDesc) scan;

	indexed->sort = state->tuplesort;
	indexed->block = InvalidBlockNumber;
	econtext->ecxt_scantuple = slot;
	pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_TOTAL,
								 hscan->rs_nblocks);
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		HeapTuple	tuple = ((HeapTupleTableSlot *) slot)->tuple;
		ItemPointerData root;
		Datum		values[INDEX_MAX_KEYS];
		bool		isnull[INDEX_MAX_KEYS];

		CHECK_FOR_INTERRUPTS();
		state->htups += 1;
		if (hscan->rs_cblock != indexed->block)
			pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE,
										 hscan->rs_cblock);
		if (is_indexed(indexed, hscan, tuple, &root))
			continue;
		ResetExprContext(econtext);
		if (!ExecQual(predicate, econtext))
			continue;
		FormIndexDatum(info, slot, estate, values, isnull);
		index_insert(index, values, isnull, &root, rel,
					 info->ii_Unique ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO,
					 false, info);
		state->tups_inserted += 1;
	}
	table_endscan(scan);
	pfree(indexed);
	ExecDropSingleTupleTableSlot(slot);
	FreeExecutorState(estate);
	info->ii_ExpressionsState = NIL;
	info->ii_PredicateState = NULL;
}

void
strata_dedup_index_init(TableAmRoutine *am)
{
	beginning = *strata_dedup_heap;
	beginning.scan_begin = scan_begin_for_build;
	am->index_build_range_scan = dedup_build_range_scan;
	am->index_validate_scan = dedup_validate_scan;
}
