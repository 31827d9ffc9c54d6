/*-------------------------------------------------------------------------
 *
 * compress_fill.c
 *	  Columns added to R or dropped since a batch was made: the batch made
 *	  again.
 *
 * ADD COLUMN with a constant default touches no row: the value stands in
 * pg_attribute (attmissingval) until a rewrite of the table puts it into the
 * rows and forgets it.  VACUUM FULL and CLUSTER rewrite the row store only, so
 * batches that rely on a missing value are made again with it, row numbers,
 * layout and all else unchanged.
 *
 * A column of segmentby or orderby that was dropped has left copies of its
 * values in the companion, in columns that need its type.  A type that users
 * make would have to stay for them, so these columns are dropped, too.  Their
 * values are under a batch row's checksum, and the next rewrite of the
 * companion would make them null, so batches that have some are made again
 * without, by what their layout is now.
 *
 * src/compress/compress_fill.c
 *-------------------------------------------------------------------------
 */
#include "compress/compress_private.h"

#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/snapmgr.h"

static bool
has_missing_values(TupleDesc desc)
{
	for (int i = 0; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attisdropped &&
			TupleDescAttr(desc, i)->atthasmissing)
			return true;
	return false;
}

static bool
has_dropped_columns(TupleDesc desc)
{
	for (int i = 0; i < desc->natts; i++)
		if (TupleDescAttr(desc, i)->attisdropped)
			return true;
	return false;
}

/*
 * Does the loaded batch rely on a missing value, or have one of a column that
 * the companion lost?
 */
static bool
is_outdated(StrataBatchReader *reader)
{
	TupleDesc	desc = reader->schema->rel_desc;
	TupleDesc	batch_desc = reader->schema->batch_desc;

	for (int i = 0; i < desc->natts; i++)
	{
		if (!TupleDescAttr(desc, i)->attisdropped &&
			TupleDescAttr(desc, i)->atthasmissing &&
			strata_layout_segment_index(reader->layout, i + 1) < 0 &&
			!strata_batch_reader_is_stored(reader, i + 1))
			return true;
	}
	slot_getallattrs(reader->batch_slot);
	for (int i = 0; i < batch_desc->natts; i++)
		if (TupleDescAttr(batch_desc, i)->attisdropped &&
			!reader->batch_slot->tts_isnull[i])
			return true;
	return false;
}

/*
 * What a layout says of the columns that are still there: rows in the order of
 * several columns are in none without the first of them.
 */
static const StrataLayout *
living_layout(TupleDesc desc, const StrataLayout *layout)
{
	StrataLayout *living;

	if (strata_layout_is_usable(desc, layout))
		return layout;
	living = palloc(sizeof(StrataLayout));
	*living = *layout;
	living->segment = palloc(sizeof(AttrNumber) * (layout->nsegment + 1));
	living->nsegment = 0;
	for (int i = 0; i < layout->nsegment; i++)
		if (!TupleDescAttr(desc, layout->segment[i] - 1)->attisdropped)
			living->segment[living->nsegment++] = layout->segment[i];
	living->norder = 0;
	while (living->norder < layout->norder &&
		   !TupleDescAttr(desc,
						  layout->order[living->norder].attno -
						  1)->attisdropped)
		living->norder++;
	living->text = strata_layout_format(living);
	return living;
}

/* Make the loaded batch again, with all columns there are now. */
static void
rebuild_batch(StrataStore *store, StrataBatchReader *reader)
{
	TupleDesc	desc = RelationGetDescr(store->batches);
	StrataSettings *settings = strata_settings_get(store->rel);
	const StrataLayout *layout = living_layout(RelationGetDescr(store->rel),
											   reader->layout);
	StrataBatchBuilder *builder;
	TupleTableSlot *row;
	Datum	   *values = palloc(sizeof(Datum) * desc->natts);
	bool	   *isnull = palloc(sizeof(bool) * desc->natts);
	ItemPointerData tid = reader->batch_slot->tts_tid;
	HeapTuple	tuple;
	CatalogIndexState indexes;

	builder = strata_batch_builder_create(store->rel, store->schema, layout,
										  settings->codecs,
										  settings->codec_level,
										  reader->nrows);
	strata_batch_builder_keep_together(builder);
	row = MakeSingleTupleTableSlot(RelationGetDescr(store->rel),
								   &TTSOpsVirtual);
	for (int i = 0; i < reader->nrows; i++)
	{
		strata_batch_store_row(store->rel, reader, i, row);
		if (!strata_batch_builder_add(builder, row->tts_values,
									  row->tts_isnull))
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

/* Make all batches again that are outdated. */
static void
rebuild_outdated(Relation rel)
{
	StrataStore *store = strata_store_open(rel, RowExclusiveLock);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	TableScanDesc scan = table_beginscan(store->batches, snapshot, 0, NULL);
	TupleTableSlot *slot = table_slot_create(store->batches, NULL);
	StrataBatchReader *reader = strata_batch_reader_create(rel, store->schema);
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "strata fill",
											   ALLOCSET_DEFAULT_SIZES);

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (strata_batch_reader_load(reader, slot) && is_outdated(reader))
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

/* See compress.h. */
void
strata_store_fill_missing(Relation rel)
{
	Oid			companion = strata_companion_oid(rel);
	Relation	batches;
	bool		dropped;

	if (!OidIsValid(companion))
		return;
	batches = table_open(companion, AccessShareLock);
	dropped = has_dropped_columns(RelationGetDescr(batches));
	table_close(batches, NoLock);
	if (has_missing_values(RelationGetDescr(rel)))
		strata_companion_add_columns(rel);
	else if (!dropped)
		return;
	rebuild_outdated(rel);
}

/*
 * Columns of the companion that are there for dropped ones of R, and whose
 * type or collation may go.
 */
static List *
left_columns(Relation rel, TupleDesc batch_desc)
{
	static const char *const prefixes[] = {"seg_", "min_", "max_"};
	TupleDesc	desc = RelationGetDescr(rel);
	List	   *left = NIL;

	for (int i = STRATA_BATCH_FIXED_ATTS; i < batch_desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(batch_desc, i);

		if (att->attisdropped || (att->atttypid < FirstUnpinnedObjectId &&
								  att->attcollation < FirstUnpinnedObjectId))
			continue;
		for (int k = 0; k < lengthof(prefixes); k++)
		{
			int			attno;

			attno = strncmp(NameStr(att->attname), prefixes[k], 4) == 0 ?
				atoi(NameStr(att->attname) + 4) : 0;
			if (attno >= 1 && attno <= desc->natts &&
				TupleDescAttr(desc, attno - 1)->attisdropped)
				left = lappend_int(left, att->attnum);
		}
	}
	return left;
}

/*
 * Drop what the companion of rel has for dropped columns and needs types or
 * collations for that users may want to drop.
 */
static void
drop_left_columns(Relation rel)
{
	Relation	batches = table_open(strata_companion_oid(rel),
									 AccessExclusiveLock);
	List	   *left = left_columns(rel, RelationGetDescr(batches));
	ListCell   *lc;

	table_close(batches, NoLock);
	foreach(lc, left)
	{
		ObjectAddress address;

		/* indexes on it go, too */
		ObjectAddressSubSet(address, RelationRelationId,
							strata_companion_oid(rel), lfirst_int(lc));
		performDeletion(&address, DROP_CASCADE,
						PERFORM_DELETION_INTERNAL | PERFORM_DELETION_QUIETLY);
		CommandCounterIncrement();
	}
	if (left != NIL)
		rebuild_outdated(rel);
}

/* See compress.h. */
void
strata_store_column_dropped(Relation rel)
{
	StrataStore *store = strata_store_open(rel, AccessShareLock);
	TupleDesc	desc = RelationGetDescr(rel);
	const char *text;

	if (store == NULL)
		return;
	text = strata_store_only_layout(store);
	if (text != NULL &&
		!strata_layout_is_usable(desc, strata_layout_parse(text, desc->natts)))
		strata_settings_store(RelationGetRelid(store->batches),
							  list_make1(makeDefElem(pstrdup(STRATA_OPTION_LAYOUT), NULL, -1)),
							  true);
	strata_store_close(store, NoLock);
	CommandCounterIncrement();
	drop_left_columns(rel);
}
