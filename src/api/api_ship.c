/*-------------------------------------------------------------------------
 *
 * api_ship.c
 *	  export_batches, import_batches, forget_import.
 *
 * src/api/api_ship.c
 *-------------------------------------------------------------------------
 */
#include "api/api_private.h"
#include "ship/ship.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "tcop/pquery.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(strata_export_units);
PG_FUNCTION_INFO_V1(strata_unit_rows_sql);
PG_FUNCTION_INFO_V1(strata_import_batches);
PG_FUNCTION_INFO_V1(strata_forget_import);

/* An export whose units are asked for one after the other. */
typedef struct ExportCall
{
	StrataExport *export;
	int64		after;
} ExportCall;

static void
end_export(Datum arg)
{
	ExportCall *call = (ExportCall *) DatumGetPointer(arg);

	if (call->export != NULL)
		strata_export_end(call->export);
	call->export = NULL;
}

/* The names in an array of names. */
static List *
names_of(ArrayType *array)
{
	Datum	   *values;
	bool	   *isnull;
	int			n;
	List	   *names = NIL;

	deconstruct_array(array, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR,
					  &values, &isnull, &n);
	for (int i = 0; i < n; i++)
	{
		if (isnull[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("a name in \"columns\" is null")));
		names = lappend(names, pstrdup(NameStr(*DatumGetName(values[i]))));
	}
	if (names == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"columns\" names no column")));
	return names;
}

/* The first call: begin, and see to it that the end is not missed. */
static FuncCallContext *
begin_export(FunctionCallInfo fcinfo)
{
	FuncCallContext *context = SRF_FIRSTCALL_INIT();
	MemoryContext old = MemoryContextSwitchTo(context->multi_call_memory_ctx);
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ExportCall *call = palloc0(sizeof(ExportCall));

	strata_api_require_argument(fcinfo, 0, "relation");
	if (get_call_result_type(fcinfo, NULL, &context->tuple_desc) !=
		TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	BlessTupleDesc(context->tuple_desc);
	if (get_rel_name(PG_GETARG_OID(0)) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist",
						PG_GETARG_OID(0))));
	call->after = PG_ARGISNULL(4) ? 0 : PG_GETARG_INT64(4);
	call->export =
		strata_export_begin(PG_GETARG_OID(0),
							PG_ARGISNULL(1) ? NULL :
							text_to_cstring(PG_GETARG_TEXT_PP(1)),
							PG_ARGISNULL(2) ? NULL :
							text_to_cstring(PG_GETARG_TEXT_PP(2)),
							PG_ARGISNULL(3) ? NIL :
							names_of(PG_GETARG_ARRAYTYPE_P(3)));
	/* before what frees the memory, since the last that is added is first */
	RegisterExprContextCallback(rsinfo->econtext, end_export,
								PointerGetDatum(call));
	context->user_fctx = call;
	MemoryContextSwitchTo(old);
	return context;
}

static const char *
kind_text(StrataUnitKind kind)
{
	return kind == STRATA_UNIT_BATCH ? "batch" :
		kind == STRATA_UNIT_ROWS ? "rows" : "end";
}

/*
 * export_units(relation, low, high, columns, after) -> (export, seq, kind,
 * rows, unit), one call a row, so that nobody collects them.
 */
Datum
strata_export_units(PG_FUNCTION_ARGS)
{
	FuncCallContext *context;
	ExportCall *call;
	StrataUnit	unit;
	bytea	   *bytes;
	Datum		values[5];
	bool		nulls[5] = {0};

	if (SRF_IS_FIRSTCALL())
		(void) begin_export(fcinfo);
	context = SRF_PERCALL_SETUP();
	call = context->user_fctx;
	do
	{
		CHECK_FOR_INTERRUPTS();
		bytes = strata_export_next(call->export, &unit);
	} while (bytes != NULL && unit.seq <= call->after);
	if (bytes == NULL)
	{
		ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

		UnregisterExprContextCallback(rsinfo->econtext, end_export,
									  PointerGetDatum(call));
		end_export(PointerGetDatum(call));
		SRF_RETURN_DONE(context);
	}
	Assert(unit.seq > call->after); /* ship:SH4 */
	values[0] = UUIDPGetDatum(&unit.origin.export);
	values[1] = Int64GetDatum(unit.seq);
	values[2] = CStringGetTextDatum(kind_text(unit.kind));
	values[3] = Int32GetDatum(unit.nrows);
	values[4] = PointerGetDatum(bytes);
	SRF_RETURN_NEXT(context,
					HeapTupleGetDatum(heap_form_tuple(context->tuple_desc,
													  values, nulls)));
}

/* unit_rows(unit, import) -> the rows, as the caller says that they are */
Datum
strata_unit_rows_sql(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext mcxt;
	MemoryContext old;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	if (PG_ARGISNULL(0))
		return (Datum) 0;
	mcxt = AllocSetContextCreate(CurrentMemoryContext, "strata unit",
								 ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(mcxt);
	strata_import_rows(PG_GETARG_INT32(1), PG_GETARG_BYTEA_PP(0), rsinfo);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mcxt);
	return (Datum) 0;
}

/* import_batches(relation, source, units_per_transaction, units, rows) */
Datum
strata_import_batches(PG_FUNCTION_ARGS)
{
	bool		atomic = fcinfo->context == NULL ||
	!IsA(fcinfo->context, CallContext) ||
	((CallContext *) fcinfo->context)->atomic;
	Oid			relid;
	Oid			source;
	int			limit;
	int64		units;
	int64		rows;
	TupleDesc	desc;
	Datum		values[2];
	bool		nulls[2] = {0};

	PreventCommandIfReadOnly("import_batches()");
	PreventCommandIfParallelMode("import_batches()");
	strata_api_require_argument(fcinfo, 0, "relation");
	strata_api_require_argument(fcinfo, 1, "source");
	strata_api_require_argument(fcinfo, 2, "units_per_transaction");
	relid = PG_GETARG_OID(0);
	source = PG_GETARG_OID(1);
	limit = PG_GETARG_INT32(2);
	for (int i = 0; i < 2; i++)
		if (get_rel_name(i == 0 ? relid : source) == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_TABLE),
					 errmsg("relation with OID %u does not exist",
							i == 0 ? relid : source)));
	if (limit < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"units_per_transaction\" must not be negative")));
	strata_table_refuse_distributed(relid);
	if (pg_class_aclcheck(relid, GetUserId(), ACL_INSERT) != ACLCHECK_OK &&
		pg_attribute_aclcheck_all(relid, GetUserId(), ACL_INSERT,
								  ACLMASK_ANY) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV,
					   get_relkind_objtype(get_rel_relkind(relid)),
					   get_rel_name(relid));
	if (SPI_connect_ext(atomic ? 0 : SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	strata_import_run(relid, source, atomic ? 0 : limit, atomic, &units,
					  &rows);
	SPI_finish();
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	values[0] = Int64GetDatum(units);
	values[1] = Int64GetDatum(rows);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}

/* forget_import(relation, export) -> bigint */
Datum
strata_forget_import(PG_FUNCTION_ARGS)
{
	Oid			relid;
	int64		n;

	PreventCommandIfReadOnly("forget_import()");
	strata_api_require_argument(fcinfo, 0, "relation");
	relid = PG_GETARG_OID(0);
	if (get_rel_name(relid) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	if (pg_class_aclcheck(relid, GetUserId(), ACL_INSERT) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV,
					   get_relkind_objtype(get_rel_relkind(relid)),
					   get_rel_name(relid));
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	n = strata_import_forget(relid, PG_ARGISNULL(1) ? NULL :
							 PG_GETARG_UUID_P(1));
	SPI_finish();
	PG_RETURN_INT64(n);
}
