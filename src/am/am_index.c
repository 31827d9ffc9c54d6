/*-------------------------------------------------------------------------
 *
 * am_index.c
 *	  Index builds: entries for the row store only, uniqueness over both
 *	  halves.
 *
 * heapam builds the index under a disguise.  When the index is to be unique
 * and there are batches, the keys of all live rows first go through a sort of
 * their own that raises the violation, and is thrown away.  What an index
 * would refuse of a compressed row is refused when it is made.
 *
 * src/am/am_index.c
 *-------------------------------------------------------------------------
 */
#include "am/am_private.h"
#include "store/store.h"

#include "am/am.h"

#include "access/parallel.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "nodes/execnodes.h"
#include "utils/snapmgr.h"
#include "utils/tuplesort.h"

/* See am.h. */
bool		strata_am_trust_batches = false;

/*
 * May a compressed row's key be too long for the index?  Of expressions nobody
 * knows before they are evaluated.
 */
static bool
has_long_keys(Relation rel, Relation index, const IndexInfo *info,
			  Snapshot snapshot)
{
	Bitmapset  *attnos = NULL;
	int			fixed = (int) strata_btree_fixed_bytes(index);

	for (int i = 0; i < info->ii_NumIndexAttrs; i++)
	{
		AttrNumber	attno = info->ii_IndexAttrNumbers[i];
		Form_pg_attribute att = attno <= 0 ? NULL :
		TupleDescAttr(RelationGetDescr(rel), attno - 1);

		if (att != NULL && att->attlen == -1)
			attnos = bms_add_member(attnos, attno);
	}
	return attnos != NULL && strata_btree_limits(index) &&
		strata_store_has_long(rel, snapshot, attnos,
							  Max(STRATA_LONG_KEY_BYTES - fixed, 0));
}

/* Is it an index, made anew, whose keys did fit?  An invalid one was none. */
static bool
has_been_made(Relation index)
{
	return ReindexIsProcessingIndex(RelationGetRelid(index)) &&
		index->rd_index->indisvalid;
}

/* Must keys of compressed rows be looked at before the index is made? */
static bool
must_check_keys(Relation rel, Relation index, const IndexInfo *info)
{
	Snapshot	snapshot;
	bool		result;

	if (info->ii_Unique || info->ii_Expressions != NIL ||
		info->ii_Predicate != NIL)
		return true;
	if (has_been_made(index))
		return false;
	snapshot = RegisterSnapshot(strata_latest_snapshot());
	result = has_long_keys(rel, index, info, snapshot);
	UnregisterSnapshot(snapshot);
	return result;
}

/*
 * Evaluate the keys of all live rows, compressed or not: what fails for a row
 * must fail now, not when the row is promoted.  For a unique index also raise
 * the violation if two rows have equal keys.
 */
static void
check_keys(Relation rel, Relation index, IndexInfo *info)
{
	Tuplesortstate *sort = NULL;
	EState	   *estate = CreateExecutorState();
	ExprState  *predicate = ExecPrepareQual(info->ii_Predicate, estate);
	Snapshot	snapshot = RegisterSnapshot(strata_latest_snapshot());
	TableScanDesc scan = table_beginscan(rel, snapshot, 0, NULL);
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	bool		limits = strata_btree_limits(index) && !has_been_made(index);

	if (info->ii_Unique)
		sort = tuplesort_begin_index_btree(rel, index, true,
										   info->ii_NullsNotDistinct,
										   maintenance_work_mem, NULL,
										   TUPLESORT_NONE);
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		Datum		values[INDEX_MAX_KEYS];
		bool		isnull[INDEX_MAX_KEYS];

		CHECK_FOR_INTERRUPTS();
		ResetPerTupleExprContext(estate);
		GetPerTupleExprContext(estate)->ecxt_scantuple = slot;
		if (!ExecQual(predicate, GetPerTupleExprContext(estate)))
			continue;
		FormIndexDatum(info, slot, estate, values, isnull);
		if (limits && strata_btree_key_is_long(index, values, isnull))
			strata_btree_check_key(index, rel, values, isnull,
								   &slot->tts_tid);
		if (sort != NULL)
			tuplesort_putindextuplevalues(sort, index, &slot->tts_tid, values,
										  isnull);
	}
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	UnregisterSnapshot(snapshot);
	if (sort != NULL)
	{
		tuplesort_performsort(sort);
		tuplesort_end(sort);
	}
	FreeExecutorState(estate);
	/* expressions were prepared in memory that is gone now */
	info->ii_ExpressionsState = NIL;
	info->ii_PredicateState = NULL;
}

/*
 * heapam's build of an index, over the row store, with the relation in
 * heapam's disguise.  Returns the number of rows.
 */
static double
build_as_heap(Relation rel, Relation index, IndexInfo *info, bool allow_sync,
			  bool anyvisible, bool progress, BlockNumber start,
			  BlockNumber nblocks, IndexBuildCallback callback, void *state,
			  TableScanDesc scan)
{
	StrataDisguise disguise;
	volatile double rows = 0;

	strata_disguise_push(&disguise, rel, strata_heap_am);
	/* the disguise is process-wide state: it must come off in any case */
	PG_TRY();
	{
		rows = strata_heap_am->index_build_range_scan(rel, index, info,
													  allow_sync, anyvisible,
													  progress, start, nblocks,
													  callback, state, scan);
		Assert(rel->rd_tableam == strata_heap_am);	/* am:M5 */
	}
	PG_FINALLY();
	{
		strata_disguise_pop(&disguise);
	}
	PG_END_TRY();
	return rows;
}

/* See am_private.h. */
double
strata_am_rows_in_batches(Relation rel)
{
	Snapshot	snapshot;
	double		rows;

	/* pg_upgrade makes the companion's own indexes later */
	if (IsBinaryUpgrade || !OidIsValid(strata_companion_oid(rel)))
		return 0;
	snapshot = RegisterSnapshot(strata_latest_snapshot());
	rows = strata_store_rows_in_batches(rel, snapshot);
	UnregisterSnapshot(snapshot);
	return rows;
}

/*
 * An index holds the rows of the row store; of a unique one the keys of
 * batches are checked, too.  What is returned becomes the table's reltuples,
 * which is the number of rows of both halves; what goes into the index is
 * counted by the callback.
 */
static double
index_build_range_scan(Relation rel, Relation index, IndexInfo *info,
					   bool allow_sync, bool anyvisible, bool progress,
					   BlockNumber start, BlockNumber nblocks,
					   IndexBuildCallback callback, void *state,
					   TableScanDesc scan)
{
	TableScanDesc heap = scan != NULL ? strata_inner_scan(scan) : NULL;
	bool		has_batches = OidIsValid(strata_companion_oid(rel));
	double		rows;

	if (has_batches && info->ii_ExclusionOps != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot create an exclusion constraint on compressed table \"%s\"",
						RelationGetRelationName(rel)),
				 errhint("SELECT decompress_chunk('%s');",
						 RelationGetRelationName(rel))));
	/* of parallel participants the leader checks */

	/*
	 * VACUUM FULL and the like rebuild an invalid unique index without
	 * checking; a parallel build's IndexInfo does not tell.
	 */
	if (scan != NULL && !index->rd_index->indisvalid &&
		CheckRelationLockedByMe(rel, AccessExclusiveLock, true))
		has_batches = false;
	if (strata_am_trust_batches)
		has_batches = false;
	if (has_batches && !IsParallelWorker() &&
		must_check_keys(rel, index, info))
		check_keys(rel, index, info);
	rows = build_as_heap(rel, index, info, allow_sync, anyvisible, progress,
						 start, nblocks, callback, state, heap);
	/* a part of the table is a summary of BRIN's, which counts nothing */
	if (!IsParallelWorker() && start == 0 && nblocks == InvalidBlockNumber)
		rows += strata_am_rows_in_batches(rel);
	return rows;
}

/*
 * The last phase of CREATE INDEX CONCURRENTLY, over the row store; keys that
 * came since are checked against batches.
 */
static void
index_validate_scan(Relation rel, Relation index, IndexInfo *info,
					Snapshot snapshot, struct ValidateIndexState *state)
{
	StrataDisguise disguise;

	/*
	 * Rows inserted since the build began were not compared with the batches
	 * until the index was ready, nor those of loads with the index.
	 */
	if (OidIsValid(strata_companion_oid(rel)) &&
		must_check_keys(rel, index, info))
		check_keys(rel, index, info);
	strata_disguise_push(&disguise, rel, strata_heap_am);
	PG_TRY();
	{
		strata_heap_am->index_validate_scan(rel, index, info, snapshot, state);
		Assert(rel->rd_tableam == strata_heap_am);	/* am:M5 */
	}
	PG_FINALLY();
	{
		strata_disguise_pop(&disguise);
	}
	PG_END_TRY();
}

void
strata_am_index_init(TableAmRoutine *am)
{
	am->index_build_range_scan = index_build_range_scan;
	am->index_validate_scan = index_validate_scan;
}
