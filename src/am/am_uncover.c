/*-------------------------------------------------------------------------
 *
 * am_uncover.c
 *	  Look-ups by a whole key under a dirty snapshot find compressed rows.
 *
 * Two look into an index themselves, planner and executor aside, where
 * compressed rows have no entries: apply workers of subscriptions, for the row
 * to update or delete, and INSERT ... ON CONFLICT, for a conflict in the
 * indexes it decides by, before it inserts anything.  An access method hears
 * of such a scan when it begins (index_fetch_begin), but not what is looked
 * for.  So in these cases the indexes of a table with batches get a routine
 * that looks for the compressed row with the key as well, and else is btree's.
 * For ON CONFLICT that row is the scan's first; for apply workers, which may
 * want many with one key, and look at TIDs themselves, such rows are moved
 * into the row store.
 *
 * src/am/am_uncover.c
 *-------------------------------------------------------------------------
 */
#include "am/am_private.h"
#include "change/change.h"

#include "access/amapi.h"
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_am.h"
#include "executor/tuptable.h"
#include "replication/logicalworker.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

static amrescan_function btree_rescan = NULL;
static amgettuple_function btree_gettuple = NULL;

/*
 * The scan whose first row is a compressed one, until it has given that out.
 */
static IndexScanDesc found_by = NULL;
static int64 found_row;

/* The columns that its index is made of; none: more than columns decides. */
static AttrNumber found_columns[INDEX_MAX_KEYS];
static int	found_ncolumns;

/*
 * Are these keys "= value" on each column of the index?  Then values[] is
 * filled.
 */
static bool
is_equality(Relation index, ScanKey keys, int nkeys, Datum *values,
			bool *isnull)
{
	int			natts = index->rd_index->indnkeyatts;

	if (keys == NULL || nkeys != natts)
		return false;
	for (int i = 0; i < nkeys; i++)
	{
		if (keys[i].sk_attno != i + 1 ||
			keys[i].sk_strategy != BTEqualStrategyNumber ||
			(keys[i].sk_flags & (SK_SEARCHARRAY | SK_ROW_HEADER)) != 0)
			return false;
		isnull[i] = (keys[i].sk_flags & SK_ISNULL) != 0;
		values[i] = keys[i].sk_argument;
	}
	return true;
}

/* The index is asked for columns alone: note which. */
static void
note_columns(Relation index)
{
	const FormData_pg_index *form = index->rd_index;

	found_ncolumns = form->indnatts;
	for (int i = 0; i < form->indnatts; i++)
	{
		found_columns[i] = form->indkey.values[i];
		if (found_columns[i] <= 0)
			found_ncolumns = 0;
	}
}

/*
 * In place of btree's amrescan: a look-up of one key by somebody who would
 * change the row finds it in the batches, too.
 */
static void
rescan_uncovered(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys,
				 int norderbys)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	/*
	 * an error may have left it, and the memory may be another scan's by now
	 */
	found_by = NULL;
	if (scan->heapRelation != NULL &&
		strata_relation_is_strata(scan->heapRelation) &&
		scan->xs_snapshot != NULL &&
		scan->xs_snapshot->snapshot_type == SNAPSHOT_DIRTY &&
		is_equality(scan->indexRelation, keys, nkeys, values, isnull))
	{
		MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
												   "strata uncover",
												   ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(mcxt);

		if (IsLogicalWorker())
			strata_store_uncover(scan->heapRelation, scan->indexRelation,
								 values, isnull);
		else
		{
			found_row = strata_store_find_key(scan->heapRelation,
											  scan->indexRelation, values,
											  isnull);
			found_by = found_row >= 0 ? scan : NULL;
			note_columns(scan->indexRelation);
		}
		MemoryContextSwitchTo(old);
		MemoryContextDelete(mcxt);
	}
	btree_rescan(scan, keys, nkeys, orderbys, norderbys);
}

static bool
gettuple(IndexScanDesc scan, ScanDirection direction)
{
	if (found_by != scan)
		return btree_gettuple(scan, direction);
	found_by = NULL;
	strata_tid_set(&scan->xs_heaptid, found_row);
	scan->xs_recheck = false;
	return true;
}

/*
 * The found row, with the columns of its index alone: who looks for a conflict
 * reads no others.  False: more than these may be asked for.
 */
static bool
fetch_found(Relation rel, ItemPointer tid, TupleTableSlot *slot)
{
	TupleDesc	desc = RelationGetDescr(rel);
	StrataBatchRow row;
	MemoryContext mcxt;
	MemoryContext old;
	Relation	batches;
	Datum	   *values;
	bool	   *isnull;
	bool		found;

	if (strata_tid_row(tid) != found_row || found_ncolumns == 0)
		return false;
	mcxt = AllocSetContextCreate(CurrentMemoryContext, "strata found row",
								 ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(mcxt);
	batches = table_open(strata_companion_oid(rel), AccessShareLock);
	found = strata_batch_row_find_any(rel, batches, found_row, &row);
	if (found)
	{
		HeapTuple	tuple;

		values = palloc0(sizeof(Datum) * desc->natts);
		isnull = palloc(sizeof(bool) * desc->natts);
		memset(isnull, true, desc->natts);
		for (int i = 0; i < found_ncolumns; i++)
		{
			int			column = found_columns[i] - 1;

			values[column] = strata_batch_row_value(&row, found_columns[i],
													&isnull[column]);
		}
		tuple = heap_form_tuple(desc, values, isnull);
		tuple->t_self = *tid;
		tuple->t_tableOid = RelationGetRelid(rel);
		ExecForceStoreHeapTuple(tuple, slot, false);
		ExecMaterializeSlot(slot);
		slot->tts_tid = *tid;
		slot->tts_tableOid = RelationGetRelid(rel);
	}
	table_close(batches, AccessShareLock);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mcxt);
	return found;
}

/*
 * A compressed TID comes of the above: the row was live, and nobody was
 * changing it.
 */
static bool
index_fetch_tuple(struct IndexFetchTableData *scan, ItemPointer tid,
				  Snapshot snapshot, TupleTableSlot *slot, bool *call_again,
				  bool *all_dead)
{
	if (!strata_tid_is_compressed(tid))
		return strata_heap_am->index_fetch_tuple(scan, tid, snapshot, slot,
												 call_again, all_dead);
	*call_again = false;
	if (all_dead != NULL)
		*all_dead = false;
	snapshot->xmin = snapshot->xmax = InvalidTransactionId;
	snapshot->speculativeToken = 0;
	return fetch_found(scan->rel, tid, slot) ||
		table_tuple_fetch_row_version(scan->rel, tid, SnapshotAny, slot);
}

/* Will somebody look into rel's indexes in that way? */
static bool
is_looked_into(Relation rel)
{
	if (IsLogicalWorker())
		return OidIsValid(strata_companion_oid_now(rel));
	return strata_store_is_upserting() &&
		OidIsValid(strata_companion_oid(rel));
}

/*
 * Somebody begins to look rows up by an index: have btree indexes of the table
 * look into batches.
 */
static struct IndexFetchTableData *
index_fetch_begin(Relation rel)
{
	if (is_looked_into(rel))
	{
		List	   *indexes = RelationGetIndexList(rel);
		ListCell   *lc;

		foreach(lc, indexes)
		{
			Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

			if (index->rd_rel->relam == BTREE_AM_OID)
				strata_index_replace_look_up(index, rescan_uncovered, gettuple,
											 &btree_rescan, &btree_gettuple);
			index_close(index, NoLock);
		}
		list_free(indexes);
	}
	return strata_heap_am->index_fetch_begin(rel);
}

void
strata_am_uncover_init(TableAmRoutine *am)
{
	am->index_fetch_begin = index_fetch_begin;
	am->index_fetch_tuple = index_fetch_tuple;
}
