/*-------------------------------------------------------------------------
 *
 * store_write.c
 *	  Batch rows into the companion, and the numbering of rows.
 *
 * Row numbers are dense in a batch and grow from batch to batch.  The next one
 * is read off the unique index, dead entries included, so that a number is
 * used again only when no snapshot can hold the row that had it (as heap does
 * with its TIDs).
 *
 * src/store/store_write.c
 *-------------------------------------------------------------------------
 */
#include "store/store_private.h"
#include "pg/pg.h"
#include "store/store_companion.h"
#include "store/store_index.h"
#include "store/store_write.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "catalog/index.h"
#include "access/table.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/snapmgr.h"

/*
 * Entropy coding and LZ gain by larger batches; archives are seldom read by
 * the row.
 */
#define ARCHIVE_BATCH_FACTOR 8

/*
 * Lock tag of a companion whose rows are being numbered; no page of it is ever
 * locked otherwise.
 */
#define NUMBERING_PAGE 0

/*
 * Next free row number; the caller excludes other writers of batches.  goal,
 * if not NULL, learns from the batch that has the last one.
 */
static int64
find_next_row(StrataStore *store, StrataRowGoal *goal)
{
	TupleTableSlot *slot = table_slot_create(store->batches, NULL);
	int64		next = 0;

	Assert(CheckRelationLockedByMe(store->rel, RowExclusiveLock,
								   true));	/* store:S3 */
	if (strata_store_find_last_batch(store, SnapshotAny, slot))
	{
		bool		to_free;
		HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, false, &to_free);
		int			nrows;

		slot_getallattrs(slot);
		nrows = DatumGetInt32(slot->tts_values[STRATA_BATCH_ATT_NROWS - 1]);
		next =
			DatumGetInt64(slot->tts_values[STRATA_BATCH_ATT_FIRST_ROW - 1]) +
			nrows;
		/* how long it was before columns went out of line is not known */
		if (goal != NULL && nrows > 0 && !HeapTupleHasExternal(tuple))
			strata_goal_learn(goal, nrows, tuple->t_len, 0);
	}
	ExecDropSingleTupleTableSlot(slot);
	/* store:S11 */
	return Max(next, strata_index_high_water(store->batches));
}

/* See store_index.h. */
int64
strata_store_next_row(StrataStore *store)
{
	return find_next_row(store, NULL);
}

/* See store_index.h. */
void
strata_numbering_lock(Relation batches)
{
	LockPage(batches, NUMBERING_PAGE, ExclusiveLock);
}

/* See store_index.h. */
void
strata_numbering_unlock(Relation batches)
{
	UnlockPage(batches, NUMBERING_PAGE, ExclusiveLock);
}

/*
 * Rows that a batch is to have at least, if there are so many, and how much of
 * a page.
 */
static StrataBatchCut
init_goal(StrataRowGoal *goal, bool archive)
{
	StrataBatchCut cut = archive ? STRATA_BATCH_CUT_HALF :
	STRATA_BATCH_CUT_PAGE;
	int			rows = archive ? strata_batch_rows * ARCHIVE_BATCH_FACTOR :
	strata_batch_rows;

	strata_goal_init(goal, Min(rows, STRATA_CODEC_MAX_ROWS),
					 STRATA_BATCH_CUT_BYTES(cut));
	return cut;
}

/* See store_write.h. */
StrataBatchCut
strata_store_init_goal(StrataRowGoal *goal, Relation rel, Oid companion,
					   StrataLevel level)
{
	return init_goal(goal,
					 strata_store_is_large_archive(rel, companion, level));
}

/*
 * Of who writes: those who load do not know how many rows will come, nor may
 * they change a table that others write.
 */
static void
begin_goal(StrataBatchWriter *writer, StrataLevel level)
{
	Oid			companion = RelationGetRelid(writer->store->batches);
	StrataBatchCut cut;

	if (writer->shared)
	{
		(void) init_goal(&writer->goal, level == STRATA_LEVEL_ARCHIVE);
		return;
	}
	cut = strata_store_init_goal(&writer->goal, writer->store->rel, companion,
								 level);
	/* the level may have changed; few batches have said nothing else */
	if (strata_companion_is_small(companion))
		strata_companion_set_cut(writer->store->batches, cut);
}

/*
 * How many rows the next batch is to have, after one of nrows that is in the
 * tuple.
 */
static void
set_goal(StrataBatchWriter *writer, HeapTuple tuple, int nrows)
{
	Size		room = strata_page_room(writer->store->batches,
										ItemPointerGetBlockNumber(&tuple->t_self));

	writer->goal.largest =
		RelationGetToastTupleTarget(writer->store->batches,
									TOAST_TUPLE_TARGET);
	strata_goal_learn(&writer->goal, nrows, tuple->t_len, room);
	strata_cut_learn(&writer->cuts, writer->store->batches, tuple,
					 writer->values, writer->isnull);
	writer->goal_rows = strata_goal_rows(&writer->goal);
	strata_batch_builder_set_limit(writer->builder, writer->goal_rows);
}

/* See store_write.h. */
StrataBatchWriter *
strata_batch_writer_begin(StrataStore *store, const StrataLayout *layout,
						  bool shared)
{
	StrataBatchWriter *writer = palloc0(sizeof(StrataBatchWriter));
	int			natts = RelationGetDescr(store->batches)->natts;
	StrataSettings *settings = strata_settings_get(store->rel);

	Assert(strata_store_only_layout(store) == NULL ||
		   strata_store_has_only_layout(store, layout->text));	/* store:S6 */
	writer->store = store;
	writer->shared = shared;
	begin_goal(writer, settings->codec_level);
	writer->batch_rows = writer->goal.base;
	writer->builder = strata_batch_builder_create(store->rel, store->schema,
												  layout, settings->codecs,
												  settings->codec_level,
												  writer->goal.most);
	writer->indexes = CatalogOpenIndexes(store->batches);
	writer->next_row = find_next_row(store, &writer->goal);
	writer->goal_rows = strata_goal_rows(&writer->goal);
	strata_batch_builder_set_limit(writer->builder, writer->goal_rows);
	writer->cid = InvalidCommandId;
	writer->mcxt = AllocSetContextCreate(CurrentMemoryContext,
										 "strata batch writer",
										 ALLOCSET_DEFAULT_SIZES);
	writer->values = palloc(sizeof(Datum) * natts);
	writer->isnull = palloc(sizeof(bool) * natts);
	return writer;
}

/*
 * See store_write.h.  Not CatalogTupleInsert: some of the indexes are partial,
 * with a predicate that is true of every batch.
 */
void
strata_batch_index(CatalogIndexState indexes, HeapTuple tuple)
{
	TupleTableSlot *slot;

	if (HeapTupleIsHeapOnly(tuple))
		return;
	slot = MakeSingleTupleTableSlot(RelationGetDescr(indexes->ri_RelationDesc),
									&TTSOpsHeapTuple);
	ExecStoreHeapTuple(tuple, slot, false);
	for (int i = 0; i < indexes->ri_NumIndices; i++)
	{
		Relation	index = indexes->ri_IndexRelationDescs[i];
		Datum		values[INDEX_MAX_KEYS];
		bool		isnull[INDEX_MAX_KEYS];

		if (!indexes->ri_IndexRelationInfo[i]->ii_ReadyForInserts)
			continue;
		FormIndexDatum(indexes->ri_IndexRelationInfo[i], slot, NULL, values,
					   isnull);
		(void) index_insert(index, values, isnull, &tuple->t_self,
							indexes->ri_RelationDesc,
							index->rd_index->indisunique ? UNIQUE_CHECK_YES :
							UNIQUE_CHECK_NO,
							false, indexes->ri_IndexRelationInfo[i]);
	}
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * Writers that share R take turns here, so that each sees what the others have
 * numbered, committed or not.
 */
static void
begin_numbering(StrataBatchWriter *writer, int nrows)
{
	if (writer->shared)
	{
		strata_numbering_lock(writer->store->batches);
		writer->next_row = find_next_row(writer->store, NULL);
		strata_batch_set_first_row(writer->store->schema, writer->next_row,
								   writer->values, writer->isnull);
	}
	if (writer->next_row > STRATA_BATCH_MAX_ROW_NUMBER - nrows)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("table \"%s\" has used up its row numbers",
							   RelationGetRelationName(writer->store->rel)),
						errhint("VACUUM FULL %s;",
								RelationGetRelationName(writer->store->rel))));
}

/* See store_write.h.  Does nothing when no row was added. */
void
strata_batch_writer_flush(StrataBatchWriter *writer)
{
	int			nrows = strata_batch_builder_nrows(writer->builder);
	Relation	batches = writer->store->batches;
	CommandId	cid;
	MemoryContext old;
	HeapTuple	tuple;

	cid = writer->cid != InvalidCommandId ? writer->cid :
		GetCurrentCommandId(true);
	if (nrows == 0)
		return;
	CHECK_FOR_INTERRUPTS();
	old = MemoryContextSwitchTo(writer->mcxt);
	/* the long part, before others have to wait */
	strata_batch_builder_finish(writer->builder, writer->next_row,
								writer->values, writer->isnull);
	begin_numbering(writer, nrows);
	Assert(writer->shared ||
		   CheckRelationLockedByMe(writer->store->rel, ExclusiveLock,
								   true));	/* store:S3 */
	Assert(writer->next_row >=
		   find_next_row(writer->store, NULL)); /* store:S4 */
	tuple = strata_batch_form_tuple(writer->store->schema, writer->values,
									writer->isnull);
	tuple->t_tableOid = RelationGetRelid(batches);

	/*
	 * not decoded: a decoder would have to keep all of it in memory, for
	 * nothing
	 */
	heap_insert(batches, tuple, cid, HEAP_INSERT_NO_LOGICAL, NULL);
	strata_batch_index(writer->indexes, tuple);
	strata_ends_note(batches, writer->next_row);
	if (writer->shared)
		strata_numbering_unlock(batches);
	set_goal(writer, tuple, nrows);
	MemoryContextSwitchTo(old);
	MemoryContextReset(writer->mcxt);
	writer->next_row += nrows;
	writer->nrows += nrows;
	writer->nbatches++;
	if (!writer->shared)
		strata_cut_adapt(&writer->cuts, batches, writer->nbatches);
}

/* See store_write.h. */
void
strata_batch_writer_add(StrataBatchWriter *writer, const Datum *values,
						const bool *isnull)
{
	if (strata_batch_builder_add(writer->builder, values, isnull))
		return;
	strata_batch_writer_flush(writer);
	if (!strata_batch_builder_add(writer->builder, values, isnull))
		elog(ERROR, "an empty batch refused a row");
}

/* See store_write.h. */
void
strata_batch_writer_add_records(StrataBatchWriter *writer,
								const StrataRecordForm *form,
								const Datum *values, const bool *isnull,
								char *const *records, int n)
{
	strata_batch_writer_flush(writer);
	while (n > 0)
	{
		int			taken;

		/*
		 * the goal may be lower than when they were gathered: no batch of
		 * what is over
		 */
		strata_batch_builder_set_limit(writer->builder, writer->goal.most);
		taken = strata_batch_builder_add_records(writer->builder, form, values,
												 isnull, records, n);
		strata_batch_writer_flush(writer);
		records += taken;
		n -= taken;
	}
}

/* See store_write.h. */
void
strata_batch_writer_end(StrataBatchWriter *writer)
{
	strata_batch_writer_flush(writer);
	CatalogCloseIndexes(writer->indexes);
	strata_batch_builder_free(writer->builder);
	MemoryContextDelete(writer->mcxt);
}

/* An entry the snapshot does not see: its row has changed since. */
static void
refuse_unseen_entry(Relation batches, const StrataEntry *entry, void *arg)
{
	StrataEntry seen;

	if (entry->kind == STRATA_ENTRY_LOCK)
		return;
	/* rows deleted together are seen together */
	strata_entry_find(batches, entry->row, entry->row, (Snapshot) arg, &seen);
	if (strata_entry_is_in_batch(&seen))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access due to concurrent update")));
}

/* See store_write.h. */
void
strata_store_check_entries(StrataStore *store, Snapshot snapshot)
{
	Snapshot	latest;

	Assert(CheckRelationLockedByMe(store->rel, ExclusiveLock,
								   true));	/* store:S3 */
	/* else the snapshot is one of now, taken with our lock on R */
	if (!IsolationUsesXactSnapshot())
		return;
	latest = RegisterSnapshot(GetLatestSnapshot());
	strata_entries_visit(store->batches, latest, 0, 0,
						 STRATA_BATCH_MAX_ROW_NUMBER, refuse_unseen_entry,
						 snapshot);
	UnregisterSnapshot(latest);
}

/* Delete a batch's row; an error if it has changed. */
static void
delete_batch(StrataStore *store, const ItemPointerData *tid,
			 CommandId cid)
{
	TM_FailureData tmfd;
	ItemPointerData self = *tid;

	Assert(CheckRelationLockedByMe(store->rel, ExclusiveLock,
								   true));	/* store:S3 */
	if (heap_delete(store->batches, &self, cid, InvalidSnapshot, true, &tmfd,
					false) != TM_Ok)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access to table \"%s\": a batch changed concurrently",
						RelationGetRelationName(store->rel))));
}

static void
delete_entry(Relation batches, const StrataEntry *entry, void *arg)
{
	ItemPointerData self = entry->self;

	simple_heap_delete(batches, &self);
}

/* See store_write.h. */
void
strata_store_delete_batch_with_entries(StrataStore *store,
									   const ItemPointerData *tid,
									   int64 first_row, int nrows,
									   Snapshot snapshot, CommandId cid)
{
	Assert(IsMVCCSnapshot(snapshot));	/* store:S2 */
	delete_batch(store, tid, cid);
	strata_entries_visit(store->batches, snapshot, first_row, first_row,
						 first_row + nrows - 1, delete_entry, NULL);
}

/* See store_write.h. */
void
strata_store_delete_batches(StrataStore *store, Snapshot snapshot,
							CommandId cid)
{
	TableScanDesc scan = table_beginscan(store->batches, snapshot, 0, NULL);
	TupleTableSlot *slot = table_slot_create(store->batches, NULL);

	strata_store_check_entries(store, snapshot);
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		delete_batch(store, &slot->tts_tid, cid);
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
}
