/*-------------------------------------------------------------------------
 *
 * compress_merge.c
 *	  Recompression of those batches that need it: neighbours in their segment
 *	  that overlap, or that fit into one batch together, and batches that rows
 *	  have left.
 *
 * The batches are walked in the order of their segment index, so neighbours
 * come one after the other and little is remembered: the run of batches that
 * would be merged, or several where segments are equal to the index and not
 * the same (1.0 and 1.00), so that it mixes them.  All other batches stay as
 * they are, bytes and row numbers.
 *
 * src/compress/compress_merge.c
 *-------------------------------------------------------------------------
 */
#include "compress/compress_private.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_collation_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

typedef struct RunBatch
{
	ItemPointerData tid;
	int64		first_row;
	int			nrows;
} RunBatch;

/* Neighbours that may become one batch. */
typedef struct Run
{
	MemoryContext mcxt;			/* everything here */
	RunBatch   *batches;
	int			n;
	int			room;
	int64		live;			/* rows still in its batches */
	bool		overlaps;
	bool		changed;		/* rows have left one of them */
	Datum	   *segment;
	bool	   *segment_isnull;
	Datum		bound;			/* greatest max so far */
	bool		has_bound;
} Run;

typedef struct Merge
{
	StrataStore *store;
	const StrataLayout *layout;
	Snapshot	snapshot;
	StrataBatchWriter *writer;
	StrataBatchReader *reader;
	StrataEntries *entries;
	TupleTableSlot *slot;
	StrataCompressResult *result;
	FmgrInfo	compare;		/* of the first orderby column */
	Form_pg_attribute order_att;	/* NULL: no order */
	List	   *runs;			/* of segments that are equal to the index */
} Merge;

/* The rows of one batch of the run that are still there. */
static void
gather_batch(Merge *merge, StrataGather *gather, const RunBatch *batch,
			 TupleTableSlot *row_slot, TupleTableSlot *batch_slot)
{
	StrataBatchReader *reader;

	reader = strata_batch_reader_create(merge->store->rel,
										merge->store->schema);
	if (!table_tuple_fetch_row_version(merge->store->batches,
									   (ItemPointer) &batch->tid,
									   merge->snapshot, batch_slot) ||
		!strata_batch_reader_load(reader, batch_slot))
		strata_error_corrupt(merge->store->rel, batch->first_row, NULL,
							 "a batch has vanished");
	strata_entries_apply(merge->entries, reader);
	for (int row = 0; row < reader->nrows; row++)
	{
		if (strata_batch_row_is_gone(reader, row))
			continue;
		strata_batch_store_row(merge->store->rel, reader, row, row_slot);
		strata_gather_add(gather, row_slot);
	}
	ExecClearTuple(batch_slot);
	strata_batch_reader_free(reader);
}

static int
compare_first_rows(const void *a, const void *b)
{
	int64		x = ((const RunBatch *) a)->first_row;
	int64		y = ((const RunBatch *) b)->first_row;

	return (x > y) - (x < y);
}

/* The run into new batches. */
static void
rewrite_run(Merge *merge, Run *run)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "strata merge",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	StrataGather *gather = strata_gather_begin(merge->writer, merge->layout,
											   maintenance_work_mem);
	TupleTableSlot *row_slot;
	TupleTableSlot *batch_slot = table_slot_create(merge->store->batches,
												   NULL);
	CommandId	cid = GetCurrentCommandId(true);

	row_slot = MakeSingleTupleTableSlot(RelationGetDescr(merge->store->rel),
										&TTSOpsVirtual);
	/* what overlapped must not be found overlapping again */
	strata_gather_sort_all(gather);

	/*
	 * equal rows stay as they came: batches of new rows have the higher
	 * numbers
	 */
	qsort(run->batches, run->n, sizeof(RunBatch), compare_first_rows);
	Assert(CheckRelationLockedByMe(merge->store->rel, ExclusiveLock,
								   true));	/* compress:K2 */
	for (int i = 0; i < run->n; i++)
	{
		const RunBatch *batch = &run->batches[i];

		CHECK_FOR_INTERRUPTS();
		gather_batch(merge, gather, batch, row_slot, batch_slot);
		strata_store_delete_batch_with_entries(merge->store, &batch->tid,
											   batch->first_row, batch->nrows,
											   merge->snapshot, cid);
	}
	strata_gather_end(gather);
	strata_batch_writer_flush(merge->writer);
	ExecDropSingleTupleTableSlot(row_slot);
	ExecDropSingleTupleTableSlot(batch_slot);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mcxt);
}

static void
end_run(Merge *merge, Run *run)
{
	if (run->changed ||
		(run->n > 1 &&
		 (run->overlaps || run->live <= merge->writer->batch_rows)))
		rewrite_run(merge, run);
	merge->runs = list_delete_ptr(merge->runs, run);
	MemoryContextDelete(run->mcxt);
}

static void
end_runs(Merge *merge)
{
	while (merge->runs != NIL)
		end_run(merge, linitial(merge->runs));
}

/* Values of the loaded batch's segment. */
static Datum
segment_value(Merge *merge, int i, bool *isnull)
{
	AttrNumber	catt;

	catt = merge->store->schema->seg_att[merge->layout->segment[i]];
	*isnull = merge->slot->tts_isnull[catt - 1];
	return merge->slot->tts_values[catt - 1];
}

/*
 * Is the run of the loaded batch's segment?  by_image: not only of one that is
 * equal to it.
 */
static bool
same_segment(Merge *merge, const Run *run, bool by_image)
{
	for (int i = 0; i < merge->layout->nsegment; i++)
	{
		Form_pg_attribute att;
		TypeCacheEntry *type;
		bool		isnull;
		Datum		value = segment_value(merge, i, &isnull);

		att = TupleDescAttr(RelationGetDescr(merge->store->rel),
							merge->layout->segment[i] - 1);
		if (isnull != run->segment_isnull[i])
			return false;
		if (isnull ||
			datum_image_eq(value, run->segment[i], att->attbyval, att->attlen))
			continue;
		if (by_image)
			return false;
		type = lookup_type_cache(att->atttypid, TYPECACHE_CMP_PROC_FINFO);
		if (DatumGetInt32(FunctionCall2Coll(&type->cmp_proc_finfo,
											att->attcollation, value,
											run->segment[i])) != 0)
			return false;
	}
	return true;
}

/* The run of the loaded batch's segment, or NULL. */
static Run *
find_run(Merge *merge)
{
	ListCell   *lc;

	foreach(lc, merge->runs)
	{
		if (same_segment(merge, lfirst(lc), true))
			return lfirst(lc);
	}
	return NULL;
}

static bool
overlaps_run(Merge *merge, const Run *run)
{
	bool		isnull;
	Datum		min;

	if (merge->order_att == NULL || !run->has_bound)
		return false;
	min = strata_batch_reader_min(merge->reader, merge->layout->order[0].attno,
								  &isnull);
	return !isnull &&
		DatumGetInt32(FunctionCall2Coll(&merge->compare,
										merge->order_att->attcollation, min,
										run->bound)) < 0;
}

static Datum
copy_value(Form_pg_attribute att, Datum value)
{
	return att->attlen == -1 ? PointerGetDatum(PG_DETOAST_DATUM_COPY(value)) :
		datumCopy(value, att->attbyval, att->attlen);
}

/* Begin a run with the loaded batch's segment. */
static Run *
begin_run(Merge *merge)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "strata run",
											   ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	Run		   *run = palloc0(sizeof(Run));

	run->mcxt = mcxt;
	run->room = 8;
	run->batches = palloc(sizeof(RunBatch) * run->room);
	run->segment = palloc(sizeof(Datum) * Max(merge->layout->nsegment, 1));
	run->segment_isnull = palloc(sizeof(bool) *
								 Max(merge->layout->nsegment, 1));
	for (int i = 0; i < merge->layout->nsegment; i++)
	{
		Form_pg_attribute att;
		Datum		value = segment_value(merge, i, &run->segment_isnull[i]);

		att = TupleDescAttr(RelationGetDescr(merge->store->rel),
							merge->layout->segment[i] - 1);
		run->segment[i] = run->segment_isnull[i] ? (Datum) 0 :
			copy_value(att, value);
	}
	MemoryContextSwitchTo(old);
	merge->runs = lappend(merge->runs, run);
	return run;
}

/*
 * Add the batch that was just read to the run of those that overlap, and note
 * how far the run reaches now.
 */
static void
extend_run(Merge *merge, Run *run)
{
	RunBatch   *batch;
	bool		isnull = true;
	Datum		max = (Datum) 0;

	if (run->n == run->room)
	{
		run->room *= 2;
		run->batches = repalloc_huge(run->batches,
									 sizeof(RunBatch) * run->room);
	}
	batch = &run->batches[run->n++];
	batch->tid = merge->slot->tts_tid;
	batch->first_row = merge->reader->first_row;
	batch->nrows = merge->reader->nrows;
	run->live += merge->reader->nrows - merge->reader->ngone;
	run->changed |= merge->reader->ngone > 0;
	if (merge->order_att != NULL)
		max = strata_batch_reader_max(merge->reader,
									  merge->layout->order[0].attno, &isnull);
	if (!isnull &&
		(!run->has_bound ||
		 DatumGetInt32(FunctionCall2Coll(&merge->compare,
										 merge->order_att->attcollation, max,
										 run->bound)) > 0))
	{
		MemoryContext old = MemoryContextSwitchTo(run->mcxt);

		run->bound = copy_value(merge->order_att, max);
		run->has_bound = true;
		MemoryContextSwitchTo(old);
	}
}

/* The loaded batch: to the run of its segment, or that ends before it. */
static void
take_batch(Merge *merge)
{
	Run		   *run = find_run(merge);
	int			live;

	strata_entries_apply(merge->entries, merge->reader);
	live = merge->reader->nrows - merge->reader->ngone;
	if (run == NULL)
	{
		if (merge->runs != NIL &&
			!same_segment(merge, linitial(merge->runs), false))
			end_runs(merge);
	}
	else if (overlaps_run(merge, run))
		run->overlaps = true;
	else if (run->overlaps || run->live + live > merge->writer->batch_rows)
	{
		end_run(merge, run);
		run = NULL;
	}
	if (run == NULL)
		run = begin_run(merge);
	extend_run(merge, run);
}

static void
init_merge_order(Merge *merge)
{
	TypeCacheEntry *type;

	if (merge->layout->norder == 0)
		return;
	merge->order_att = TupleDescAttr(RelationGetDescr(merge->store->rel),
									 merge->layout->order[0].attno - 1);
	type = lookup_type_cache(merge->order_att->atttypid,
							 TYPECACHE_CMP_PROC_FINFO);
	fmgr_info_copy(&merge->compare, &type->cmp_proc_finfo,
				   CurrentMemoryContext);
}

/* See compress_private.h. */
void
strata_store_merge_batches(StrataStore *store, const StrataLayout *layout,
						   Snapshot snapshot, StrataBatchWriter *writer)
{
	Merge		merge = {0};
	Oid			oid = strata_store_segment_index(store, layout, false);
	Relation	index;
	IndexScanDesc scan;
	ScanKeyData key;

	if (!OidIsValid(oid))
		elog(ERROR, "companion \"%s\" has no index on its segments",
			 RelationGetRelationName(store->batches));
	Assert(!writer->shared &&
		   strata_batch_builder_nrows(writer->builder) ==
		   0);					/* compress:K1 */
	strata_store_check_entries(store, snapshot);
	merge.store = store;
	merge.layout = layout;
	merge.snapshot = snapshot;
	merge.writer = writer;
	merge.reader = strata_batch_reader_create(store->rel, store->schema);
	merge.entries = strata_entries_create(store->batches, snapshot);
	merge.slot = table_slot_create(store->batches, NULL);
	init_merge_order(&merge);

	index = index_open(oid, AccessShareLock);

	/*
	 * all of the index is read: batches of other layouts are few, and taken
	 * along
	 */
	ScanKeyEntryInitialize(&key, 0, (AttrNumber) (layout->nsegment + 1),
						   BTEqualStrategyNumber, InvalidOid, C_COLLATION_OID,
						   F_TEXTEQ, CStringGetTextDatum(layout->text));
	scan = strata_index_beginscan(store->batches, index, snapshot, 1, 0);
	index_rescan(scan, &key, 1, NULL, 0);
	while (strata_index_getnext_slot(scan, ForwardScanDirection, merge.slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (!strata_batch_reader_load(merge.reader, merge.slot))
			continue;
		strata_progress_merged(merge.reader->nrows);
		take_batch(&merge);
	}
	end_runs(&merge);
	index_endscan(scan);
	index_close(index, AccessShareLock);
	ExecDropSingleTupleTableSlot(merge.slot);
	strata_entries_free(merge.entries);
	strata_batch_reader_free(merge.reader);
}
