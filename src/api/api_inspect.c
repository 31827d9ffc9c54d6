/*-------------------------------------------------------------------------
 *
 * api_inspect.c
 *	  Eyes: batches(), batch_columns(), batch_relation(), codecs, sizes.
 *
 * What they show is contents of the table, so the caller must own it.
 *
 * src/api/api_inspect.c
 *-------------------------------------------------------------------------
 */
#include "api/api_private.h"
#include "catalog/catalog.h"
#include "store/store.h"

#include "access/detoast.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(strata_batch_relation);
PG_FUNCTION_INFO_V1(strata_batches);
PG_FUNCTION_INFO_V1(strata_batch_columns);
PG_FUNCTION_INFO_V1(strata_codecs);
PG_FUNCTION_INFO_V1(strata_row_counts);
PG_FUNCTION_INFO_V1(strata_layout_of);
PG_FUNCTION_INFO_V1(strata_before_sizes);
PG_FUNCTION_INFO_V1(strata_is_compressed);

/* The companion of a strata table, or NULL. */
Datum
strata_batch_relation(PG_FUNCTION_ARGS)
{
	Oid			companion = strata_glance_companion(PG_GETARG_OID(0));

	if (!OidIsValid(companion))
		PG_RETURN_NULL();
	PG_RETURN_OID(companion);
}

/* A value as its type's text. */
static char *
value_text(Form_pg_attribute att, Datum value)
{
	Oid			output;
	bool		varlena;

	getTypeOutputInfo(att->atttypid, &output, &varlena);
	return OidOutputFunctionCall(output, value);
}

static Datum
text_or_null(Form_pg_attribute att, Datum value, bool isnull, bool *out_null)
{
	*out_null = isnull;
	return isnull ? (Datum) 0 : CStringGetTextDatum(value_text(att, value));
}

/* Bytes a companion tuple takes: itself and what it has in TOAST. */
static int64
batch_bytes(TupleTableSlot *slot)
{
	TupleDesc	desc = slot->tts_tupleDescriptor;
	bool		should_free;
	HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, false, &should_free);
	int64		bytes = tuple->t_len;

	slot_getallattrs(slot);
	for (int i = 0; i < desc->natts; i++)
		if (TupleDescAttr(desc, i)->attlen == -1 && !slot->tts_isnull[i] &&
			VARATT_IS_EXTERNAL(DatumGetPointer(slot->tts_values[i])))
			bytes += toast_datum_size(slot->tts_values[i]);
	if (should_free)
		pfree(tuple);
	return bytes;
}

/* Segment values as text[]. */
static Datum
segment_array(StrataBatchReader *reader)
{
	int			n = reader->layout->nsegment;
	Datum	   *values = palloc(sizeof(Datum) * Max(n, 1));
	bool	   *isnull = palloc(sizeof(bool) * Max(n, 1));
	int			lbound = 1;

	for (int i = 0; i < n; i++)
	{
		AttrNumber	attno = reader->layout->segment[i];
		StrataColumn *col = strata_batch_reader_column(reader, attno);

		values[i] = text_or_null(TupleDescAttr(reader->schema->rel_desc,
											   attno - 1),
								 col->value, col->value_isnull, &isnull[i]);
	}
	return PointerGetDatum(construct_md_array(values, isnull, 1, &n, &lbound,
											  TEXTOID, -1, false,
											  TYPALIGN_INT));
}

/* One call per batch of a table. */
typedef void (*BatchVisitor) (ReturnSetInfo *rsinfo, StrataBatchReader *reader,
							  TupleTableSlot *slot);

/*
 * Call visit for each batch of a table that the snapshot sees; the caller must
 * own the table.
 */
static void
visit_table(ReturnSetInfo *rsinfo, Oid relid, BatchVisitor visit)
{
	Relation	rel = strata_api_open(relid, AccessShareLock);
	StrataStore *store = strata_store_open(rel, AccessShareLock);

	if (store != NULL)
	{
		TableScanDesc scan = table_beginscan(store->batches,
											 GetActiveSnapshot(), 0, NULL);
		TupleTableSlot *slot = table_slot_create(store->batches, NULL);
		StrataBatchReader *reader = strata_batch_reader_create(rel,
															   store->schema);

		while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
		{
			CHECK_FOR_INTERRUPTS();
			if (strata_batch_reader_load(reader, slot))
				visit(rsinfo, reader, slot);
		}
		strata_batch_reader_free(reader);
		ExecDropSingleTupleTableSlot(slot);
		table_endscan(scan);
		strata_store_close(store, AccessShareLock);
	}
	table_close(rel, AccessShareLock);
}

/* Of a partitioned table: all partitions that are strata tables. */
static void
visit_batches(FunctionCallInfo fcinfo, BatchVisitor visit)
{
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	foreach(lc, strata_api_leaves(PG_GETARG_OID(0), NULL))
		visit_table((ReturnSetInfo *) fcinfo->resultinfo, lfirst_oid(lc),
					visit);
}

/*
 * A row of batches(): where a batch stands, its size, and what its metadata
 * says.
 */
static void
visit_batch(ReturnSetInfo *rsinfo, StrataBatchReader *reader,
			TupleTableSlot *slot)
{
	Datum		values[8];
	bool		nulls[8] = {0};
	const StrataLayout *layout = reader->layout;

	values[0] = Int64GetDatum(reader->first_row);
	values[1] = Int32GetDatum(reader->nrows);
	values[2] = CStringGetTextDatum(layout->text);
	values[3] = segment_array(reader);
	nulls[4] = nulls[5] = true;
	if (layout->norder > 0)
	{
		AttrNumber	attno = layout->order[0].attno;
		Form_pg_attribute att = TupleDescAttr(reader->schema->rel_desc,
											  attno - 1);
		Datum		min = strata_batch_reader_min(reader, attno, &nulls[4]);
		Datum		max = strata_batch_reader_max(reader, attno, &nulls[5]);

		if (att->attisdropped)
			nulls[4] = nulls[5] = true;
		values[4] = text_or_null(att, min, nulls[4], &nulls[4]);
		values[5] = text_or_null(att, max, nulls[5], &nulls[5]);
	}
	values[6] = Int64GetDatum(batch_bytes(slot));
	values[7] = ObjectIdGetDatum(RelationGetRelid(reader->rel));
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/*
 * batches(regclass) -> (first_row, nrows, layout, segment, min_orderby,
 *						 max_orderby, bytes, chunk)
 */
Datum
strata_batches(PG_FUNCTION_ARGS)
{
	visit_batches(fcinfo, visit_batch);
	return (Datum) 0;
}

/* Codec, size and summary of one column of a batch. */
static void
visit_column(ReturnSetInfo *rsinfo, StrataBatchReader *reader,
			 TupleTableSlot *slot, AttrNumber attno)
{
	Form_pg_attribute att = TupleDescAttr(reader->schema->rel_desc, attno - 1);
	const StrataColumnSummary *summary = strata_batch_reader_summary(reader,
																	 attno);
	Datum		values[9];
	bool		nulls[9] = {0};

	values[0] = Int64GetDatum(reader->first_row);
	values[1] = NameGetDatum(&att->attname);
	values[8] = ObjectIdGetDatum(RelationGetRelid(reader->rel));
	nulls[4] = nulls[5] = nulls[6] = nulls[7] = true;
	if (strata_layout_segment_index(reader->layout, attno) >= 0)
	{
		StrataColumn *col = strata_batch_reader_column(reader, attno);

		values[2] = CStringGetTextDatum("segmentby");
		values[3] = Int32GetDatum(0);
		values[4] = Int32GetDatum(col->value_isnull ? reader->nrows : 0);
		nulls[4] = false;
		values[5] = text_or_null(att, col->value, col->value_isnull,
								 &nulls[5]);
		values[6] = values[5];
		nulls[6] = nulls[5];
	}
	else if (!strata_batch_reader_is_stored(reader, attno))
	{
		values[2] = CStringGetTextDatum("missing");
		values[3] = Int32GetDatum(0);
	}
	else
	{
		Size		len;
		const uint8 *buf = strata_batch_reader_encoded(reader, attno, &len);
		StrataCodecInfo info;
		StrataCodecResult rc = strata_column_describe(buf, len, false, &info);

		values[3] = Int32GetDatum((int32) len);
		if (rc != STRATA_CODEC_OK)
			values[2] = CStringGetTextDatum(strata_codec_result_text(rc));
		else
		{
			values[2] = CStringGetTextDatum(strata_codec_name(info.id));
			values[4] = Int32GetDatum((int32) info.nnulls);
			values[7] = CStringGetTextDatum(info.detail);
			nulls[4] = nulls[7] = false;
		}
		if (summary != NULL && summary->has_range)
		{
			values[5] = text_or_null(att, summary->min, false, &nulls[5]);
			values[6] = text_or_null(att, summary->max, false, &nulls[6]);
		}
	}
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

static void
visit_columns(ReturnSetInfo *rsinfo, StrataBatchReader *reader,
			  TupleTableSlot *slot)
{
	for (AttrNumber attno = 1; attno <= reader->schema->natts; attno++)
		if (strata_attribute_is_kept(TupleDescAttr(reader->schema->rel_desc,
												   attno - 1)))
			visit_column(rsinfo, reader, slot, attno);
}

/*
 * batch_columns(regclass) -> (first_row, column_name, codec, bytes, nulls,
 * min,
 *							   max, detail, chunk)
 */
Datum
strata_batch_columns(PG_FUNCTION_ARGS)
{
	visit_batches(fcinfo, visit_columns);
	return (Datum) 0;
}

/* codecs() -> (codec, types, available) */
Datum
strata_codecs(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (int id = 1; id < STRATA_CODEC_COUNT; id++)
	{
		bool		ints = strata_codec_supports(id, STRATA_KIND_INT, 8);
		bool		floats = strata_codec_supports(id, STRATA_KIND_FLOAT, 8);
		bool		bytes = strata_codec_supports(id, STRATA_KIND_BYTES, 0);
		Datum		values[3];
		bool		nulls[3] = {0};
		const char *types;

		if (ints && floats && bytes)
			types = "every type";
		else if (ints)
			types =
				"integers, booleans, dates, times and other types passed by value";
		else if (floats)
			types = "real, double precision";
		else
			types =
				"every type not passed by value: text, numeric, jsonb, arrays, ...";
		values[0] = CStringGetTextDatum(strata_codec_name(id));
		values[1] = CStringGetTextDatum(types);
		values[2] = BoolGetDatum(strata_codec_available(id));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
	return (Datum) 0;
}

/*
 * row_counts(regclass) -> (row_store_rows, batch_rows, batches): exact, the
 * row store is counted; NULL of a temporary table of another session, whose
 * rows are in its own memory.
 */
Datum
strata_row_counts(PG_FUNCTION_ARGS)
{
	Relation	rel = strata_api_open(PG_GETARG_OID(0), AccessShareLock);
	TableScanDesc scan;
	TupleTableSlot *slot;
	StrataStore *store;
	TupleDesc	desc;
	int64		rows = 0;
	int64		compressed = 0;
	int64		batches = 0;
	Datum		values[3];
	bool		nulls[3] = {0};

	if (RELATION_IS_OTHER_TEMP(rel))
	{
		table_close(rel, AccessShareLock);
		PG_RETURN_NULL();
	}
	scan = table_beginscan(rel, GetActiveSnapshot(), 0, NULL);
	slot = table_slot_create(rel, NULL);
	store = strata_store_open(rel, AccessShareLock);
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	strata_rowstore_only_hook(scan);
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		rows++;
	}
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	if (store != NULL)
	{
		StrataBatchReader *reader = strata_batch_reader_create(rel,
															   store->schema);
		StrataEntries *entries = strata_entries_create(store->batches,
													   GetActiveSnapshot());

		scan = table_beginscan(store->batches, GetActiveSnapshot(), 0, NULL);
		slot = table_slot_create(store->batches, NULL);
		while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
		{
			CHECK_FOR_INTERRUPTS();
			if (!strata_batch_reader_load(reader, slot))
				continue;
			strata_entries_apply(entries, reader);
			batches++;
			compressed += reader->nrows - reader->ngone;
		}
		strata_entries_free(entries);
		strata_batch_reader_free(reader);
		ExecDropSingleTupleTableSlot(slot);
		table_endscan(scan);
		strata_store_close(store, AccessShareLock);
	}
	table_close(rel, AccessShareLock);
	values[0] = Int64GetDatum(rows);
	values[1] = Int64GetDatum(compressed);
	values[2] = Int64GetDatum(batches);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}

/*
 * layout_of(regclass) -> (attnum, segmentby_index, orderby_index, orderby_asc,
 *						   orderby_nullsfirst): settings in force, defaults
 *						   included.
 */
Datum
strata_layout_of(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	StrataLayout *layout = strata_glance_layout(PG_GETARG_OID(0));

	InitMaterializedSRF(fcinfo, 0);
	if (layout == NULL)
		return (Datum) 0;
	for (int i = 0; i < layout->nsegment + layout->norder; i++)
	{
		Datum		values[5];
		bool		nulls[5] = {false, true, true, true, true};

		if (i < layout->nsegment)
		{
			values[0] = Int16GetDatum(layout->segment[i]);
			values[1] = Int16GetDatum(i + 1);
			nulls[1] = false;
		}
		else
		{
			StrataOrderKey *key = &layout->order[i - layout->nsegment];

			values[0] = Int16GetDatum(key->attno);
			values[2] = Int16GetDatum(i - layout->nsegment + 1);
			values[3] = BoolGetDatum(!key->desc);
			values[4] = BoolGetDatum(key->nulls_first);
			nulls[2] = nulls[3] = nulls[4] = false;
		}
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
	return (Datum) 0;
}

/* is_compressed(oid): does the caller's snapshot see a batch of it? */
Datum
strata_is_compressed(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(strata_glance_has_batches(PG_GETARG_OID(0),
											 GetActiveSnapshot()));
}

/*
 * before_sizes(regclass) -> (table_bytes, index_bytes, toast_bytes): what the
 * rows of both halves would take as rows, by what was recorded of those that
 * were compressed.  Null when there are batches whose rows nobody has
 * measured, as those of a direct load.
 */
Datum
strata_before_sizes(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {"before_table", "before_index",
	"before_toast", "before_rows"};
	Relation	rel = try_relation_open(PG_GETARG_OID(0), AccessShareLock);
	double		recorded[4] = {0};
	double		rows = 0;
	double		late = 0;
	TupleDesc	desc;
	Datum		values[3] = {0};
	bool		nulls[3];

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (rel != NULL)
	{
		if (strata_relation_is_strata(rel) &&
			strata_store_has_batches(rel, GetActiveSnapshot()))
		{
			for (int i = 0; i < 4; i++)
			{
				char	   *text;

				text = strata_settings_get_text(strata_companion_oid(rel),
												names[i]);
				recorded[i] = text != NULL ? (double) strtoll(text, NULL, 10) :
					0;
			}
			rows = strata_store_rows_in_batches(rel, GetActiveSnapshot());
			late = strata_store_estimate_row_store(rel, GetActiveSnapshot());
		}
		relation_close(rel, AccessShareLock);
	}
	for (int i = 0; i < 3; i++)
	{
		nulls[i] = recorded[3] <= 0 || rows > recorded[3];
		if (!nulls[i])
			values[i] = Int64GetDatum((int64) (recorded[i] *
											   ((rows + late) / recorded[3])));
	}
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}
