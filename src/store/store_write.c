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

#include "access/heapam.h"
#include "access/table.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/snapmgr.h"

/* See store_private.h. */
int64
strata_store_next_row(StrataStore *store)
{
	TupleTableSlot *slot = table_slot_create(store->batches, NULL);
	int64		next = 0;

	if (strata_store_find_last_batch(store, SnapshotAny, slot))
	{
		slot_getallattrs(slot);
		next = DatumGetInt64(slot->tts_values[STRATA_BATCH_ATT_FIRST_ROW - 1]) +
			abs(DatumGetInt32(slot->tts_values[STRATA_BATCH_ATT_NROWS - 1]));
	}
	ExecDropSingleTupleTableSlot(slot);
	return next;
}

/* See store_private.h. */
StrataBatchWriter *
strata_batch_writer_begin(StrataStore *store, const StrataLayout *layout)
{
	StrataBatchWriter *writer = palloc0(sizeof(StrataBatchWriter));
	int			natts = RelationGetDescr(store->batches)->natts;

	writer->store = store;
	writer->builder = strata_batch_builder_create(store->rel, store->schema, layout, NULL,
												  strata_batch_rows);
	writer->indexes = CatalogOpenIndexes(store->batches);
	writer->next_row = strata_store_next_row(store);
	writer->values = palloc(sizeof(Datum) * natts);
	writer->isnull = palloc(sizeof(bool) * natts);
	return writer;
}

/* See store_private.h.  Does nothing when no row was added. */
void
strata_batch_writer_flush(StrataBatchWriter *writer)
{
	int			nrows = strata_batch_builder_nrows(writer->builder);
	HeapTuple	tuple;

	if (nrows == 0)
		return;
	CHECK_FOR_INTERRUPTS();
	if (writer->next_row > STRATA_BATCH_MAX_ROW_NUMBER - nrows)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("table \"%s\" has used up its row numbers",
						RelationGetRelationName(writer->store->rel)),
				 errhint("VACUUM FULL %s;", RelationGetRelationName(writer->store->rel))));
	strata_batch_builder_finish(writer->builder, writer->next_row, writer->values, writer->isnull);
	tuple = heap_form_tuple(RelationGetDescr(writer->store->batches), writer->values, writer->isnull);
	CatalogTupleInsertWithInfo(writer->store->batches, tuple, writer->indexes);
	heap_freetuple(tuple);
	writer->next_row += nrows;
	writer->nrows += nrows;
	writer->nbatches++;
}

/* See store_private.h. */
void
strata_batch_writer_add(StrataBatchWriter *writer, const Datum *values, const bool *isnull)
{
	if (strata_batch_builder_add(writer->builder, values, isnull))
		return;
	strata_batch_writer_flush(writer);
	if (!strata_batch_builder_add(writer->builder, values, isnull))
		elog(ERROR, "an empty batch refused a row");
}

/* See store_private.h. */
void
strata_batch_writer_end(StrataBatchWriter *writer)
{
	strata_batch_writer_flush(writer);
	CatalogCloseIndexes(writer->indexes);
	strata_batch_builder_free(writer->builder);
}

/* See store_private.h. */
void
strata_store_delete_batches(StrataStore *store, Snapshot snapshot, CommandId cid)
{
	TableScanDesc scan = table_beginscan(store->batches, snapshot, 0, NULL);
	TupleTableSlot *slot = table_slot_create(store->batches, NULL);

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		TM_FailureData tmfd;

		CHECK_FOR_INTERRUPTS();
		if (heap_delete(store->batches, &slot->tts_tid, cid, InvalidSnapshot, true, &tmfd,
						false) != TM_Ok)
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("could not serialize access to table \"%s\": a batch changed concurrently",
							RelationGetRelationName(store->rel))));
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
}
