/*-------------------------------------------------------------------------
 *
 * store_read.c
 *	  Compressed rows out of the companion: one by number, or all in turn.
 *
 * For those who do not ask the planner: plain scans of the access method,
 * fetches by TID.  StrataScan (scan/) reads batches itself.
 *
 * src/store/store_read.c
 *-------------------------------------------------------------------------
 */
#include "batch/batch_part.h"
#include "store/store_companion.h"
#include "store/store_private.h"

#include "access/detoast.h"
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "miscadmin.h"
#include "executor/executor.h"
#include "utils/fmgroids.h"
#include "utils/snapmgr.h"

/* Does the batch in slot, deformed, hold `row`?  A row entry holds none. */
static bool
holds_row(TupleTableSlot *slot, int64 row)
{
	int64		first;

	slot_getallattrs(slot);
	first = DatumGetInt64(slot->tts_values[STRATA_BATCH_ATT_FIRST_ROW - 1]);
	return first >= 0 && row >= first &&
		row <
		first +
		DatumGetInt32(slot->tts_values[STRATA_BATCH_ATT_NROWS - 1]);
}

/* See store.h. */
bool
strata_batches_find(Relation batches, int64 row, Snapshot snapshot,
					TupleTableSlot *slot)
{
	Relation	index = index_open(strata_row_index_of(batches),
								   AccessShareLock);
	ScanKeyData key;
	IndexScanDesc scan;
	bool		found;

	ScanKeyInit(&key, 1, BTLessEqualStrategyNumber, F_INT8LE,
				Int64GetDatum(row));
	scan = strata_index_beginscan(batches, index, snapshot, 1, 0);
	index_rescan(scan, &key, 1, NULL, 0);
	/* of all versions at this number, or the one before it, the first will do */
	found = strata_index_getnext_slot(scan, BackwardScanDirection, slot) &&
		holds_row(slot, row);
	/* the slot keeps its own pin */
	if (found)
		ExecMaterializeSlot(slot);
	else
		ExecClearTuple(slot);
	index_endscan(scan);
	index_close(index, AccessShareLock);
	return found;
}

/* See store.h. */
bool
strata_store_find_last_batch(StrataStore *store, Snapshot snapshot,
							 TupleTableSlot *slot)
{
	Relation	index = index_open(strata_row_index_of(store->batches),
								   AccessShareLock);
	IndexScanDesc scan = strata_index_beginscan(store->batches, index,
												snapshot, 1, 0);
	ScanKeyData key;
	bool		found;

	ScanKeyInit(&key, 1, BTGreaterEqualStrategyNumber, F_INT8GE,
				Int64GetDatum(0));
	index_rescan(scan, &key, 1, NULL, 0);
	found = strata_index_getnext_slot(scan, BackwardScanDirection, slot);
	if (found)
		ExecMaterializeSlot(slot);
	index_endscan(scan);
	index_close(index, AccessShareLock);
	return found;
}

/* Values of a row; alone: others of the batch are not expected to follow. */
static void
row_values(StrataBatchReader *reader, int row, bool alone, Datum *values,
		   bool *isnull)
{
	for (AttrNumber attno = 1; attno <= reader->schema->natts; attno++)
	{
		StrataColumn *col = alone ?
		strata_batch_reader_row(reader, attno, row) :
		strata_batch_reader_column(reader, attno);

		values[attno - 1] = strata_column_get(col, row, &isnull[attno - 1]);
	}
}

/* A row as a tuple; alone: as of row_values. */
static HeapTuple
form_row(Relation rel, StrataBatchReader *reader, int row, bool alone)
{
	TupleDesc	desc = reader->schema->rel_desc;
	Datum	   *values = palloc(sizeof(Datum) * desc->natts);
	bool	   *isnull = palloc(sizeof(bool) * desc->natts);
	ItemPointerData tid;
	HeapTuple	tuple;

	row_values(reader, row, alone, values, isnull);
	tuple = heap_form_tuple(desc, values, isnull);
	strata_tid_set(&tid, reader->first_row + row);
	/* committed long ago, never touched since */
	HeapTupleHeaderSetXmin(tuple->t_data, FrozenTransactionId);
	HeapTupleHeaderSetXmax(tuple->t_data, InvalidTransactionId);
	HeapTupleHeaderSetCmin(tuple->t_data, FirstCommandId);
	tuple->t_data->t_infomask |= HEAP_XMIN_FROZEN | HEAP_XMAX_INVALID;
	tuple->t_data->t_ctid = tid;
	tuple->t_self = tid;
	tuple->t_tableOid = RelationGetRelid(rel);
	pfree(values);
	pfree(isnull);
	return tuple;
}

/* See store.h. */
HeapTuple
strata_batch_form_row(Relation rel, StrataBatchReader *reader, int row)
{
	return form_row(rel, reader, row, false);
}

static void
store_values(Relation rel, StrataBatchReader *reader, int row, bool alone,
			 TupleTableSlot *slot)
{
	ItemPointerData tid;

	strata_tid_set(&tid, reader->first_row + row);
	if (slot->tts_ops == &TTSOpsVirtual)
	{
		ExecClearTuple(slot);
		row_values(reader, row, alone, slot->tts_values, slot->tts_isnull);
		ExecStoreVirtualTuple(slot);
	}
	else
		ExecForceStoreHeapTuple(form_row(rel, reader, row, alone), slot, true);
	slot->tts_tid = tid;
	slot->tts_tableOid = RelationGetRelid(rel);
}

/* See store.h. */
void
strata_batch_store_row(Relation rel, StrataBatchReader *reader, int row,
					   TupleTableSlot *slot)
{
	store_values(rel, reader, row, false, slot);
}

/* See store_private.h. */
void
strata_batch_store_alone(Relation rel, StrataBatchReader *reader, int row,
						 TupleTableSlot *slot)
{
	/* the TOAST table is opened once for all columns */
	Assert(reader->toast == NULL);	/* store:S3 */
	reader->toast = strata_toast_fetcher_create(reader->schema->toastid);
	store_values(rel, reader, row, true, slot);
	strata_toast_fetcher_free(reader->toast);
	reader->toast = NULL;
}

/* See store.h. */
StrataRowScan *
strata_row_scan_begin(Relation rel, TupleDesc desc, Snapshot snapshot)
{
	StrataStore *store = strata_store_open_as(rel, desc, AccessShareLock);
	StrataRowScan *scan;

	if (store == NULL)
		return NULL;
	scan = palloc0(sizeof(StrataRowScan));
	scan->row = -1;
	scan->store = store;
	scan->scan = table_beginscan(store->batches, snapshot, 0, NULL);
	scan->batch_slot = table_slot_create(store->batches, NULL);
	scan->reader = strata_batch_reader_create(rel, store->schema);
	scan->entries = strata_entries_create(store->batches, snapshot);
	return scan;
}

/* See store.h. */
void
strata_row_scan_rescan(StrataRowScan *scan)
{
	table_rescan(scan->scan, NULL);
	scan->reader->nrows = 0;
	scan->row = -1;
}

/* See store.h. */
void
strata_row_scan_end(StrataRowScan *scan)
{
	strata_entries_free(scan->entries);
	strata_batch_reader_free(scan->reader);
	ExecDropSingleTupleTableSlot(scan->batch_slot);
	table_endscan(scan->scan);
	strata_store_close(scan->store, AccessShareLock);
	pfree(scan);
}

/* Next batch that holds rows; false at the end. */
static bool
read_next_batch(StrataRowScan *scan, ScanDirection direction)
{
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (!table_scan_getnextslot(scan->scan, direction, scan->batch_slot))
		{
			scan->reader->nrows = 0;
			scan->row = -1;
			return false;
		}
		if (strata_batch_reader_load(scan->reader, scan->batch_slot))
		{
			strata_entries_apply(scan->entries, scan->reader);
			scan->nbatches++;
			return true;
		}
	}
}

/* Has row `row` of the reader's batch left it? */
static bool
is_gone(const StrataBatchReader *reader, int row)
{
	int			low = 0;
	int			high = reader->ngone;

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (reader->gone[middle] < row)
			low = middle + 1;
		else
			high = middle;
	}
	return low < reader->ngone && reader->gone[low] == row;
}

/* See store_entry.h. */
bool
strata_batch_row_is_gone(const StrataBatchReader *reader, int row)
{
	return reader->ngone > 0 && is_gone(reader, row);
}

/* See store.h. */
bool
strata_row_scan_next(StrataRowScan *scan, ScanDirection direction,
					 TupleTableSlot *slot)
{
	bool		backward = ScanDirectionIsBackward(direction);

	do
	{
		if (backward ? scan->row > 0 : scan->row + 1 < scan->reader->nrows)
			scan->row += backward ? -1 : 1;
		else if (read_next_batch(scan, direction))
			scan->row = backward ? scan->reader->nrows - 1 : 0;
		else
			return false;
	} while (strata_batch_row_is_gone(scan->reader, scan->row));
	strata_batch_store_row(scan->store->rel, scan->reader, scan->row, slot);
	return true;
}

/* Bytes that the longest of a varlena column's values has, as far as is known. */
static Size
longest_value(StrataBatchReader *reader, AttrNumber attno)
{
	const StrataPart octets = {STRATA_PART_OCTETS, attno};
	const StrataColumn *col = strata_batch_reader_part(reader, attno, &octets,
													   NULL, 0, reader->nrows);
	bool		counted = col != NULL;
	Size		longest = 0;

	if (!counted)
		col = strata_batch_reader_column(reader, attno);
	if (col->codes != NULL)
	{
		for (int i = 0; i < col->ndict; i++)
			longest = Max(longest, toast_raw_datum_size(col->dict[i]));
		return longest;
	}
	for (int row = 0; row < (col->constant ? 1 : reader->nrows); row++)
	{
		bool		isnull;
		Datum		value = strata_column_get(col, row, &isnull);

		if (!isnull)
			longest = Max(longest, counted ? (Size) DatumGetInt32(value) :
						  toast_raw_datum_size(value));
	}
	return longest;
}

/* See store.h. */
bool
strata_store_has_long(Relation rel, Snapshot snapshot,
					  const Bitmapset *attnos, Size limit)
{
	StrataRowScan *scan = strata_row_scan_begin(rel, RelationGetDescr(rel),
												snapshot);
	bool		found = false;

	if (scan == NULL)
		return false;
	scan->reader->toast = scan->store->toast;
	while (!found && read_next_batch(scan, ForwardScanDirection))
	{
		Size		size = 0;
		int			attno = -1;

		while ((attno = bms_next_member(attnos, attno)) >= 0)
			size += longest_value(scan->reader, (AttrNumber) attno);
		found = size > limit;
	}
	strata_row_scan_end(scan);
	return found;
}
