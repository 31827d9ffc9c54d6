/*-------------------------------------------------------------------------
 *
 * index_run.c
 *	  Runs: sorted entries in rows of the index relation, packed.
 *
 * A row has as many entries as fit a page: their hashes, and the places of
 * their batches, each as a column of integers (codec/).  The b-tree on (run,
 * first hash) leads to the row that may have a hash.
 *
 * src/index/index_run.c
 *-------------------------------------------------------------------------
 */
#include "index/index_private.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "codec/codec.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/memutils.h"

/* A description's place among the runs. */
#define DESCRIPTION(number) (-1 - (number))

struct StrataIndexWriter
{
	MemoryContext mcxt;			/* everything here */
	MemoryContext row_mcxt;
	Relation	relation;
	CatalogIndexState indexes;
	StrataIndexRun run;
	int			goal;			/* entries of the next row */
	int			n;
	int64		hashes[STRATA_INDEX_ROW_ENTRIES];
	int64		places[STRATA_INDEX_ROW_ENTRIES];
};

struct StrataIndexCursor
{
	MemoryContext mcxt;
	Relation	relation;
	Relation	key;
	IndexScanDesc scan;
	TupleTableSlot *slot;
	int			next;
	StrataIndexRow row;
};

/* See index_private.h. */
pg_noreturn void
strata_index_report_damage(Relation relation, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("batch index \"%s\" is damaged",
					RelationGetRelationName(relation)),
			 errdetail("%s", what),
			 errhint("REINDEX the table, or SET strata.enable_batch_index = off.")));
}

/*-------------------------------------------------------------------------
 * Descriptions
 *-------------------------------------------------------------------------
 */

/* See index_private.h. */
void
strata_index_run_describe(Relation relation, HeapTuple tuple,
						  StrataIndexRun *run)
{
	TupleDesc	desc = RelationGetDescr(relation);
	Datum		values[STRATA_INDEX_NATTS];
	bool		isnull[STRATA_INDEX_NATTS];

	heap_deform_tuple(tuple, desc, values, isnull);
	for (int i = STRATA_INDEX_ATT_COLUMN - 1; i < STRATA_INDEX_NATTS; i++)
		if (isnull[i])
			strata_index_report_damage(relation, "A run is not described.");
	run->number = DESCRIPTION(DatumGetInt32(values[STRATA_INDEX_ATT_RUN - 1]));
	run->attno = DatumGetInt16(values[STRATA_INDEX_ATT_COLUMN - 1]);
	run->function = DatumGetObjectId(values[STRATA_INDEX_ATT_FUNCTION - 1]);
	run->shift = DatumGetInt16(values[STRATA_INDEX_ATT_SHIFT - 1]);
	run->from = DatumGetInt64(values[STRATA_INDEX_ATT_FROM - 1]);
	run->to = DatumGetInt64(values[STRATA_INDEX_ATT_TO - 1]);
	run->entries = DatumGetInt64(values[STRATA_INDEX_ATT_ENTRIES - 1]);
	run->opclass = (Oid) DatumGetInt64(values[STRATA_INDEX_ATT_HASH - 1]);
	run->nrows = DatumGetInt64(values[STRATA_INDEX_ATT_PLACE - 1]);
	run->self = tuple->t_self;
	if (run->shift < 0 || run->shift > 40 || run->from > run->to)
		strata_index_report_damage(relation, "A run is described wrongly.");
}

static int
compare_from(const ListCell *a, const ListCell *b)
{
	const StrataIndexRun *x = lfirst(a);
	const StrataIndexRun *y = lfirst(b);

	return x->from < y->from ? -1 : x->from > y->from;
}

/* See index_private.h.  Rows that reserve numbers count. */
int32
strata_index_next_number(Relation relation)
{
	TupleDesc	desc = RelationGetDescr(relation);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	int32		next = 0;

	ScanKeyInit(&key, STRATA_INDEX_ATT_RUN, BTLessStrategyNumber, F_INT4LT,
				Int32GetDatum(0));
	scan = systable_beginscan(relation, strata_index_key_of(relation), true,
							  SnapshotSelf, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		Datum		run = heap_getattr(tuple, STRATA_INDEX_ATT_RUN, desc,
									   &isnull);

		next = Max(next, DESCRIPTION(DatumGetInt32(run)) + 1);
	}
	systable_endscan(scan);
	return next;
}

/* See index_private.h. */
bool
strata_index_run_is_of(const StrataIndexRun *run,
					   const StrataIndexTarget *target)
{
	return run->attno == target->attno && run->function == target->function &&
		run->opclass == target->opclass;
}

/* See index_private.h. */
List *
strata_index_runs(Relation relation, Snapshot snapshot,
				  const StrataIndexTarget *target)
{
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	List	   *runs = NIL;

	ScanKeyInit(&key, STRATA_INDEX_ATT_RUN, BTLessStrategyNumber, F_INT4LT,
				Int32GetDatum(0));
	scan = systable_beginscan(relation, strata_index_key_of(relation), true,
							  snapshot, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		StrataIndexRun *run = palloc0(sizeof(StrataIndexRun));

		strata_index_run_describe(relation, tuple, run);
		if (run->attno != 0 &&
			(target == NULL || strata_index_run_is_of(run, target)))
			runs = lappend(runs, run);
		else
			pfree(run);
	}
	systable_endscan(scan);
	list_sort(runs, compare_from);
	return runs;
}

/* See index_private.h. */
List *
strata_index_chain(List *runs, int64 *covered)
{
	List	   *chain = NIL;
	ListCell   *lc;

	*covered = 0;
	foreach(lc, runs)
	{
		StrataIndexRun *run = lfirst(lc);

		Assert(run->function ==
			   ((StrataIndexRun *) linitial(runs))->function);	/* index:I2 */
		if (run->from != *covered)
			break;
		chain = lappend(chain, run);
		*covered = run->to;
	}
	return chain;
}

/*-------------------------------------------------------------------------
 * Writing
 *-------------------------------------------------------------------------
 */

/* See index_private.h. */
bytea *
strata_index_pack(const int64 *numbers, int n)
{
	StrataVector v = {.kind = STRATA_KIND_INT,.width = sizeof(int64),
		.n = (uint32_t) n,.fixed = numbers,
	.level = STRATA_LEVEL_BALANCED};
	Size		bound = strata_column_encode_bound(&v, v.n);
	Size		scratch_size = strata_column_encode_scratch_size(&v, v.n);
	bytea	   *result = palloc(VARHDRSZ + bound);
	void	   *scratch = palloc(scratch_size);
	size_t		len;
	StrataCodecResult rc;

	rc = strata_column_encode(&v, v.n, NULL, STRATA_CODEC_DELTA_DELTA, scratch,
							  scratch_size, (uint8_t *) VARDATA(result), bound,
							  &len);
	if (rc != STRATA_CODEC_OK)
		elog(ERROR, "could not pack entries of a batch index: %s",
			 strata_codec_result_text(rc));
	SET_VARSIZE(result, VARHDRSZ + len);
	pfree(scratch);
	return result;
}

static void
insert_row(Relation relation, CatalogIndexState indexes, Datum *values,
		   bool *isnull)
{
	HeapTuple	tuple = heap_form_tuple(RelationGetDescr(relation), values,
										isnull);

	tuple->t_tableOid = RelationGetRelid(relation);
	heap_insert(relation, tuple, GetCurrentCommandId(true),
				HEAP_INSERT_NO_LOGICAL, NULL);
	strata_batch_index(indexes, tuple);
	heap_freetuple(tuple);
}

/* See index_private.h. */
void
strata_index_insert_entries(Relation relation, CatalogIndexState indexes,
							int32 number, int64 first_hash, int64 first_place,
							int64 entries, bytea *hashes, bytea *places)
{
	Datum		values[STRATA_INDEX_NATTS] = {0};
	bool		isnull[STRATA_INDEX_NATTS] = {0};

	values[STRATA_INDEX_ATT_RUN - 1] = Int32GetDatum(number);
	values[STRATA_INDEX_ATT_HASH - 1] = Int64GetDatum(first_hash);
	values[STRATA_INDEX_ATT_PLACE - 1] = Int64GetDatum(first_place);
	values[STRATA_INDEX_ATT_ENTRIES - 1] = Int64GetDatum(entries);
	values[STRATA_INDEX_ATT_HASHES - 1] = PointerGetDatum(hashes);
	values[STRATA_INDEX_ATT_BATCHES - 1] = PointerGetDatum(places);
	for (int i = STRATA_INDEX_ATT_COLUMN - 1; i < STRATA_INDEX_NATTS; i++)
		isnull[i] = true;
	insert_row(relation, indexes, values, isnull);
}

/* See index_private.h. */
void
strata_index_insert_description(Relation relation, CatalogIndexState indexes,
								const StrataIndexRun *run)
{
	Datum		values[STRATA_INDEX_NATTS] = {0};
	bool		isnull[STRATA_INDEX_NATTS] = {0};

	values[STRATA_INDEX_ATT_RUN - 1] = Int32GetDatum(DESCRIPTION(run->number));
	values[STRATA_INDEX_ATT_HASH - 1] = Int64GetDatum((int64) run->opclass);
	values[STRATA_INDEX_ATT_PLACE - 1] = Int64GetDatum(run->nrows);
	values[STRATA_INDEX_ATT_ENTRIES - 1] = Int64GetDatum(run->entries);
	isnull[STRATA_INDEX_ATT_HASHES - 1] = true;
	isnull[STRATA_INDEX_ATT_BATCHES - 1] = true;
	values[STRATA_INDEX_ATT_COLUMN - 1] = Int16GetDatum(run->attno);
	values[STRATA_INDEX_ATT_FUNCTION - 1] = ObjectIdGetDatum(run->function);
	values[STRATA_INDEX_ATT_SHIFT - 1] = Int16GetDatum((int16) run->shift);
	values[STRATA_INDEX_ATT_FROM - 1] = Int64GetDatum(run->from);
	values[STRATA_INDEX_ATT_TO - 1] = Int64GetDatum(run->to);
	insert_row(relation, indexes, values, isnull);
	/* who knows of others learns of it */
	CacheInvalidateRelcache(relation);
}

/* See index_private.h. */
StrataIndexWriter *
strata_index_writer_begin(Relation relation, const StrataIndexRun *run)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "strata batch index writer",
											   ALLOCSET_DEFAULT_SIZES);
	StrataIndexWriter *writer;
	MemoryContext old = MemoryContextSwitchTo(mcxt);

	writer = palloc0(sizeof(StrataIndexWriter));
	writer->mcxt = mcxt;
	writer->row_mcxt = AllocSetContextCreate(mcxt, "strata batch index row",
											 ALLOCSET_DEFAULT_SIZES);
	writer->relation = relation;
	writer->indexes = CatalogOpenIndexes(relation);
	writer->run = *run;
	writer->run.entries = 0;
	writer->run.nrows = 0;
	writer->goal = STRATA_INDEX_ROW_ENTRIES / 2;
	MemoryContextSwitchTo(old);
	return writer;
}

/* Write n entries as a row, or as two where they do not fit. */
static void
write_entries(StrataIndexWriter *writer, const int64 *hashes,
			  const int64 *places, int n)
{
	bytea	   *packed_hashes = strata_index_pack(hashes, n);
	bytea	   *packed_places = strata_index_pack(places, n);
	Size		size = VARSIZE(packed_hashes) + VARSIZE(packed_places);

	/* a little less than would fit just so: blocks of numbers differ */
	writer->goal = Max(Min((int) (n * 0.97 * STRATA_INDEX_ROW_BYTES / size),
						   STRATA_INDEX_ROW_ENTRIES), 64);
	if (size > STRATA_INDEX_ROW_BYTES)
	{
		write_entries(writer, hashes, places, n / 2);
		write_entries(writer, hashes + n / 2, places + n / 2, n - n / 2);
		return;
	}
	strata_index_insert_entries(writer->relation, writer->indexes,
								writer->run.number, hashes[0], places[0], n,
								packed_hashes, packed_places);
	writer->run.nrows++;
	writer->run.entries += n;
}

/* Write the entries that are there. */
static void
write_row(StrataIndexWriter *writer)
{
	MemoryContext old = MemoryContextSwitchTo(writer->row_mcxt);

	CHECK_FOR_INTERRUPTS();
	write_entries(writer, writer->hashes, writer->places, writer->n);
	writer->n = 0;
	MemoryContextSwitchTo(old);
	MemoryContextReset(writer->row_mcxt);
}

/* See index_private.h. */
void
strata_index_writer_add(StrataIndexWriter *writer, uint32 hash, int64 place)
{
	Assert(writer->n == 0 || writer->hashes[writer->n - 1] < (int64) hash ||
		   (writer->hashes[writer->n - 1] == (int64) hash &&
			writer->places[writer->n - 1] < place));	/* index:I3 */
	writer->hashes[writer->n] = hash;
	writer->places[writer->n++] = place;
	if (writer->n >= writer->goal)
		write_row(writer);
}

/* See index_private.h. */
void
strata_index_writer_end(StrataIndexWriter *writer, StrataIndexRun *run)
{
	if (writer->n > 0)
		write_row(writer);
	run->entries = writer->run.entries;
	run->nrows = writer->run.nrows;
	strata_index_insert_description(writer->relation, writer->indexes,
									&writer->run);
	CatalogCloseIndexes(writer->indexes);
	MemoryContextDelete(writer->mcxt);
}

/* See index_private.h. */
void
strata_index_reserve(Relation relation, int32 number, int64 to)
{
	CatalogIndexState indexes = CatalogOpenIndexes(relation);
	StrataIndexRun run = {.number = number,.to = to};

	strata_index_insert_description(relation, indexes, &run);
	CatalogCloseIndexes(indexes);
}

static void
delete_run_rows(Relation relation, int32 run)
{
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, STRATA_INDEX_ATT_RUN, BTEqualStrategyNumber, F_INT4EQ,
				Int32GetDatum(run));
	scan = systable_beginscan(relation, strata_index_key_of(relation), true,
							  SnapshotSelf, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		CHECK_FOR_INTERRUPTS();
		simple_heap_delete(relation, &tuple->t_self);
	}
	systable_endscan(scan);
}

/* See index_private.h. */
void
strata_index_run_extend(Relation relation, const StrataIndexRun *run,
						int64 to)
{
	CatalogIndexState indexes;
	StrataIndexRun longer = *run;

	longer.to = to;
	delete_run_rows(relation, DESCRIPTION(run->number));
	CommandCounterIncrement();
	indexes = CatalogOpenIndexes(relation);
	strata_index_insert_description(relation, indexes, &longer);
	CatalogCloseIndexes(indexes);
	CommandCounterIncrement();
}

/* See index_private.h. */
void
strata_index_run_delete(Relation relation, int32 number)
{
	delete_run_rows(relation, DESCRIPTION(number));
	delete_run_rows(relation, number);
}

/*-------------------------------------------------------------------------
 * Reading
 *-------------------------------------------------------------------------
 */

/* See index_private.h. */
void
strata_index_unpack(Relation relation, Datum packed, int n,
					StrataIndexRow *row, int64 *numbers)
{
	bytea	   *bytes = DatumGetByteaPP(packed);
	const uint8 *buf = (const uint8 *) VARDATA_ANY(bytes);
	Size		len = VARSIZE_ANY_EXHDR(bytes);
	bool		isnull[STRATA_INDEX_ROW_ENTRIES];
	bool		hasnull;
	size_t		need;
	StrataCodecInfo info;

	if (strata_column_check(buf, len, 0, &info) != STRATA_CODEC_OK ||
		info.kind != STRATA_KIND_INT || info.width != sizeof(int64) ||
		info.nrows != (uint32) n || info.nnulls != 0 ||
		strata_column_decode_scratch_size(buf, len, 0, (uint32_t) n,
										  &need) != STRATA_CODEC_OK)
		strata_index_report_damage(relation, "Its entries are not what was written.");
	if (need > row->scratch_size)
	{
		row->scratch = row->scratch == NULL ? palloc(need) :
			repalloc(row->scratch, need);
		row->scratch_size = need;
	}
	if (strata_column_decode_fixed(buf, len, 0, (uint32_t) n, row->scratch,
								   row->scratch_size, numbers, isnull,
								   &hasnull) != STRATA_CODEC_OK)
		strata_index_report_damage(relation, "Its entries cannot be decoded.");
}

/* See index_private.h.  row was zeroed before its first use. */
void
strata_index_row_read(Relation relation, TupleTableSlot *slot,
					  StrataIndexRow *row)
{
	Datum	   *values = slot->tts_values;
	int64		n;

	slot_getallattrs(slot);
	n = DatumGetInt64(values[STRATA_INDEX_ATT_ENTRIES - 1]);
	if (n < 1 || n > STRATA_INDEX_ROW_ENTRIES ||
		slot->tts_isnull[STRATA_INDEX_ATT_HASHES - 1] ||
		slot->tts_isnull[STRATA_INDEX_ATT_BATCHES - 1])
		strata_index_report_damage(relation, "A row has no entries.");
	strata_index_unpack(relation, values[STRATA_INDEX_ATT_HASHES - 1], (int) n,
						row, row->hashes);
	strata_index_unpack(relation, values[STRATA_INDEX_ATT_BATCHES - 1],
						(int) n, row, row->places);
	row->n = (int) n;
}

/* See index_private.h. */
StrataIndexCursor *
strata_index_cursor_begin(Relation relation, Snapshot snapshot,
						  int32 number)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "strata batch index cursor",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	StrataIndexCursor *cursor = palloc0(sizeof(StrataIndexCursor));
	ScanKeyData key;

	cursor->mcxt = mcxt;
	cursor->relation = relation;
	cursor->key = index_open(strata_index_key_of(relation), AccessShareLock);
	cursor->slot = table_slot_create(relation, NULL);
	ScanKeyInit(&key, STRATA_INDEX_ATT_RUN, BTEqualStrategyNumber, F_INT4EQ,
				Int32GetDatum(number));
	cursor->scan = strata_index_beginscan(relation, cursor->key, snapshot, 1,
										  0);
	index_rescan(cursor->scan, &key, 1, NULL, 0);
	MemoryContextSwitchTo(old);
	return cursor;
}

/* See index_private.h. */
bool
strata_index_cursor_next(StrataIndexCursor *cursor, StrataIndexEntry *entry)
{
	if (cursor->next == cursor->row.n)
	{
		MemoryContext old = MemoryContextSwitchTo(cursor->mcxt);
		bool		found;

		CHECK_FOR_INTERRUPTS();
		found = strata_index_getnext_slot(cursor->scan, ForwardScanDirection,
										  cursor->slot);
		if (found)
			strata_index_row_read(cursor->relation, cursor->slot,
								  &cursor->row);
		MemoryContextSwitchTo(old);
		cursor->next = 0;
		if (!found)
		{
			cursor->row.n = 0;
			return false;
		}
	}
	entry->hash = (uint32) cursor->row.hashes[cursor->next];
	entry->place = cursor->row.places[cursor->next++];
	return true;
}

/* See index_private.h. */
void
strata_index_cursor_end(StrataIndexCursor *cursor)
{
	ExecDropSingleTupleTableSlot(cursor->slot);
	index_endscan(cursor->scan);
	index_close(cursor->key, AccessShareLock);
	MemoryContextDelete(cursor->mcxt);
}
