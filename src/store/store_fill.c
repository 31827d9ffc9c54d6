/*-------------------------------------------------------------------------
 *
 * store_fill.c
 *	  Columns added since a batch was made, written into the batch.
 *
 * ADD COLUMN with a constant default touches no row: the value stands in
 * pg_attribute (attmissingval) until a rewrite of the table puts it into the
 * rows and forgets it.  VACUUM FULL and CLUSTER rewrite the row store only, so
 * batches that rely on a missing value are made again with it, row numbers,
 * layout and all else unchanged.
 *
 * src/store/store_fill.c
 *-------------------------------------------------------------------------
 */
#include "store/store_private.h"

#include "access/table.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/snapmgr.h"

static bool
has_missing_values(TupleDesc desc)
{
	for (int i = 0; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attisdropped && TupleDescAttr(desc, i)->atthasmissing)
			return true;
	return false;
}

/* Does the loaded batch rely on a missing value? */
static bool
lacks_column(StrataBatchReader *reader)
{
	TupleDesc	desc = reader->schema->rel_desc;

	for (int i = 0; i < desc->natts; i++)
	{
		if (!TupleDescAttr(desc, i)->attisdropped && TupleDescAttr(desc, i)->atthasmissing &&
			strata_layout_segment_index(reader->layout, i + 1) < 0 &&
			!strata_batch_reader_is_stored(reader, i + 1))
			return true;
	}
	return false;
}

/* Make the loaded batch again, with all columns there are now. */
static void
rebuild_batch(StrataStore *store, StrataBatchReader *reader)
{
	TupleDesc	desc = RelationGetDescr(store->batches);
	StrataSettings *settings = strata_settings_get(store->rel);
	StrataBatchBuilder *builder = strata_batch_builder_create(store->rel, store->schema, reader->layout,
															  settings->codecs, settings->codec_level,
															  reader->nrows);
	TupleTableSlot *row = MakeSingleTupleTableSlot(RelationGetDescr(store->rel), &TTSOpsVirtual);
	Datum	   *values = palloc(sizeof(Datum) * desc->natts);
	bool	   *isnull = palloc(sizeof(bool) * desc->natts);
	ItemPointerData tid = reader->batch_slot->tts_tid;
	HeapTuple	tuple;
	CatalogIndexState indexes;

	strata_batch_builder_want_filters(builder, settings->bloom);
	for (int i = 0; i < reader->nrows; i++)
	{
		strata_batch_store_row(store->rel, reader, i, row);
		if (!strata_batch_builder_add(builder, row->tts_values, row->tts_isnull))
			elog(ERROR, "a batch does not fit its own rows");
	}
	strata_batch_builder_finish(builder, reader->first_row, values, isnull);
	tuple = strata_batch_form_tuple(store->schema, values, isnull);
	strata_simple_heap_update(store->batches, &tid, tuple);
	indexes = CatalogOpenIndexes(store->batches);
	strata_batch_index(indexes, tuple);
	CatalogCloseIndexes(indexes);
	strata_batch_builder_free(builder);
	ExecDropSingleTupleTableSlot(row);
}

/* See store.h. */
void
strata_store_fill_missing(Relation rel)
{
	StrataStore *store;
	Snapshot	snapshot;
	TableScanDesc scan;
	TupleTableSlot *slot;
	StrataBatchReader *reader;
	MemoryContext mcxt;

	if (!OidIsValid(strata_companion_oid(rel)) || !has_missing_values(RelationGetDescr(rel)))
		return;
	strata_companion_add_columns(rel);
	store = strata_store_open(rel, RowExclusiveLock);
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	scan = table_beginscan(store->batches, snapshot, 0, NULL);
	slot = table_slot_create(store->batches, NULL);
	reader = strata_batch_reader_create(rel, store->schema);
	mcxt = AllocSetContextCreate(CurrentMemoryContext, "strata fill", ALLOCSET_DEFAULT_SIZES);
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (strata_batch_reader_load(reader, slot) && lacks_column(reader))
		{
			MemoryContext old = MemoryContextSwitchTo(mcxt);

			rebuild_batch(store, reader);
			MemoryContextSwitchTo(old);
			MemoryContextReset(mcxt);
		}
	}
	MemoryContextDelete(mcxt);
	strata_batch_reader_free(reader);
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	UnregisterSnapshot(snapshot);
	strata_store_close(store, NoLock);
	CommandCounterIncrement();
}
