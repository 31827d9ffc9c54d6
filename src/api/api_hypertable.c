/*-------------------------------------------------------------------------
 *
 * api_hypertable.c
 *	  create_hypertable and the functions that change a hypertable's options.
 *
 * src/api/api_hypertable.c
 *-------------------------------------------------------------------------
 */
#include "api/api_private.h"
#include "catalog/catalog.h"
#include "hypertable/hypertable.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/dbcommands.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

PG_FUNCTION_INFO_V1(strata_create_hypertable);
PG_FUNCTION_INFO_V1(strata_create_hypertable_by);
PG_FUNCTION_INFO_V1(strata_add_dimension);
PG_FUNCTION_INFO_V1(strata_add_dimension_by);
PG_FUNCTION_INFO_V1(strata_insert_guard);
PG_FUNCTION_INFO_V1(strata_set_chunk_time_interval);
PG_FUNCTION_INFO_V1(strata_set_integer_now_func);
PG_FUNCTION_INFO_V1(strata_set_number_partitions);

static void
require_argument(FunctionCallInfo fcinfo, int number, const char *name)
{
	if (PG_ARGISNULL(number))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" cannot be null", name)));
}

/*
 * Rows are kept apart by time alone; one hash partition is none, and is taken.
 * The column, if there is one, is what to segment by.
 */
static void
check_partitions(Oid relid, const char *column, bool has_number, int number)
{
	char	   *table = quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)), get_rel_name(relid));

	if (column != NULL && get_attnum(relid, column) <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist", column, get_rel_name(relid))));
	if (column != NULL && !has_number)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid number of partitions"),
				 errhint("Leave out partitioning_column, or give number_partitions => 1.")));
	if (!has_number)
		return;
	if (number < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid number of partitions: must be at least 1")));
	if (number > 1)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("hash partitions within a chunk are not supported"),
				 errdetail("Chunks of a hypertable are ranges of its time column."),
				 column != NULL ?
				 errhint("Give number_partitions => 1; ALTER TABLE %s SET (strata.segmentby = %s); brings the rows of each \"%s\" together within a chunk.",
						 table, quote_literal_cstr(quote_identifier(column)), column) :
				 errhint("Give number_partitions => 1, or leave it out.")));
}

/*
 * Lock the table and say whether there is anything to do; ereport when it is
 * not the user's or is a hypertable already and if_not_exists is false.
 */
static bool
open_for_create(Oid relid, bool if_not_exists)
{
	char	   *name;

	PreventCommandIfReadOnly("create_hypertable()");
	PreventCommandIfParallelMode("create_hypertable()");
	name = strata_owned_relation_name(relid);
	/* no lock is worth waiting for when there is nothing to do */
	if (!strata_hypertable_is(relid))
		LockRelationOid(relid, AccessExclusiveLock);
	if (get_rel_name(relid) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation \"%s\" does not exist", name)));
	if (!strata_hypertable_is(relid))
		return true;
	ereport(if_not_exists ? NOTICE : ERROR,
			(errcode(ERRCODE_DUPLICATE_TABLE),
			 if_not_exists ? errmsg("table \"%s\" is already a hypertable, skipping", name) :
			 errmsg("table \"%s\" is already a hypertable", name)));
	return false;
}

static Datum
make_record(FunctionCallInfo fcinfo, Datum *values, int n)
{
	TupleDesc	desc;
	bool		nulls[5] = {false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE || desc->natts != n)
		elog(ERROR, "return type must be a row of %d columns", n);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}

/*
 * create_hypertable(relation, time_column_name, partitioning_column,
 *		number_partitions, associated_schema_name, associated_table_prefix,
 *		chunk_time_interval anyelement, create_default_indexes, if_not_exists,
 *		partitioning_func, migrate_data, time_partitioning_func,
 *		replication_factor)
 */
Datum
strata_create_hypertable(PG_FUNCTION_ARGS)
{
	StrataHypertableRequest request = {0};
	Oid			relid;
	bool		created;
	NameData	schema;
	NameData	table;
	Datum		values[4];

	require_argument(fcinfo, 0, "relation");
	require_argument(fcinfo, 1, "time_column_name");
	relid = PG_GETARG_OID(0);
	created = open_for_create(relid, !PG_ARGISNULL(8) && PG_GETARG_BOOL(8));
	if (created)
	{
		check_partitions(relid, PG_ARGISNULL(2) ? NULL : NameStr(*PG_GETARG_NAME(2)),
						 !PG_ARGISNULL(3), PG_ARGISNULL(3) ? 0 : PG_GETARG_INT32(3));
		request.column = NameStr(*PG_GETARG_NAME(1));
		request.has_interval = !PG_ARGISNULL(6);
		request.interval_type = get_fn_expr_argtype(fcinfo->flinfo, 6);
		request.interval = PG_GETARG_DATUM(6);
		request.default_indexes = PG_ARGISNULL(7) || PG_GETARG_BOOL(7);
		request.migrate_data = !PG_ARGISNULL(10) && PG_GETARG_BOOL(10);
		request.function = PG_ARGISNULL(11) ? InvalidOid : PG_GETARG_OID(11);
		strata_hypertable_create(relid, &request);
	}
	namestrcpy(&schema, get_namespace_name(get_rel_namespace(relid)));
	namestrcpy(&table, get_rel_name(relid));
	values[0] = Int32GetDatum((int32) relid);
	values[1] = NameGetDatum(&schema);
	values[2] = NameGetDatum(&table);
	values[3] = BoolGetDatum(created);
	return make_record(fcinfo, values, 4);
}

/*
 * Columns of the type dimension_info, as sql/ has them.
 */
enum
{
	DIMENSION_TYPE = 1,
	DIMENSION_COLUMN,
	DIMENSION_INTERVAL,
	DIMENSION_INTERVAL_TYPE,
	DIMENSION_PARTITIONS,
	DIMENSION_FUNCTION
};

/* Made by by_range(), not by_hash()? */
static bool
is_range(HeapTupleHeader row)
{
	bool		isnull;
	Datum		value = GetAttributeByNum(row, DIMENSION_TYPE, &isnull);

	return !isnull && strcmp(TextDatumGetCString(value), "range") == 0;
}

/* A dimension_info of by_range() into a request. */
static void
read_dimension(HeapTupleHeader row, StrataHypertableRequest *request)
{
	bool		isnull;
	Datum		value;

	if (!is_range(row))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot create a hypertable without a range dimension"),
				 errhint("Use by_range('time column').")));
	value = GetAttributeByNum(row, DIMENSION_COLUMN, &isnull);
	if (isnull)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"column_name\" cannot be null")));
	request->column = pstrdup(NameStr(*DatumGetName(value)));
	value = GetAttributeByNum(row, DIMENSION_INTERVAL, &isnull);
	if (!isnull)
	{
		char	   *length = TextDatumGetCString(value);
		Oid			input;
		Oid			param;

		request->has_interval = true;
		request->interval_type = DatumGetObjectId(GetAttributeByNum(row, DIMENSION_INTERVAL_TYPE, &isnull));
		getTypeInputInfo(request->interval_type, &input, &param);
		request->interval = OidInputFunctionCall(input, length, param, -1);
	}
	value = GetAttributeByNum(row, DIMENSION_FUNCTION, &isnull);
	request->function = isnull ? InvalidOid : DatumGetObjectId(value);
}

/*
 * create_hypertable(relation, dimension, create_default_indexes,
 *		if_not_exists, migrate_data)
 */
Datum
strata_create_hypertable_by(PG_FUNCTION_ARGS)
{
	StrataHypertableRequest request = {0};
	Datum		values[2];
	Oid			relid;
	bool		created;

	require_argument(fcinfo, 0, "relation");
	require_argument(fcinfo, 1, "dimension");
	relid = PG_GETARG_OID(0);
	created = open_for_create(relid, !PG_ARGISNULL(3) && PG_GETARG_BOOL(3));
	if (created)
	{
		read_dimension(PG_GETARG_HEAPTUPLEHEADER(1), &request);
		request.default_indexes = PG_ARGISNULL(2) || PG_GETARG_BOOL(2);
		request.migrate_data = !PG_ARGISNULL(4) && PG_GETARG_BOOL(4);
		strata_hypertable_create(relid, &request);
	}
	values[0] = Int32GetDatum((int32) relid);
	values[1] = BoolGetDatum(created);
	return make_record(fcinfo, values, 2);
}

static void
store_option(Oid relid, const char *name, char *value)
{
	strata_settings_store(relid, list_make1(makeDefElem(pstrdup(name), (Node *) makeString(value), -1)), false);
}

/* set_chunk_time_interval(hypertable, chunk_time_interval anyelement, dimension_name) */
Datum
strata_set_chunk_time_interval(PG_FUNCTION_ARGS)
{
	StrataHypertable *ht;
	int64		interval;

	require_argument(fcinfo, 0, "hypertable");
	require_argument(fcinfo, 1, "chunk_time_interval");
	ht = strata_hypertable_open(PG_GETARG_OID(0));
	LockRelationOid(ht->relid, ShareUpdateExclusiveLock);
	if (!PG_ARGISNULL(2))
	{
		AttrNumber	attno = get_attnum(ht->relid, NameStr(*PG_GETARG_NAME(2)));

		if (attno == InvalidAttrNumber || attno != ht->attno)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("hypertable \"%s\" has no dimension \"%s\"",
							get_rel_name(ht->relid), NameStr(*PG_GETARG_NAME(2)))));
	}
	interval = strata_time_interval_from_datum(ht->key_type, get_fn_expr_argtype(fcinfo->flinfo, 1),
											   PG_GETARG_DATUM(1));
	strata_time_interval_doubt(ht->key_type, interval);
	store_option(ht->relid, "chunk_interval", strata_time_interval_to_text(ht->key_type, interval));
	PG_RETURN_VOID();
}

/* set_integer_now_func(hypertable, integer_now_func, replace_if_exists) */
Datum
strata_set_integer_now_func(PG_FUNCTION_ARGS)
{
	StrataHypertable *ht;
	Oid			function;
	Oid		   *argtypes;
	int			nargs;
	Oid			result;

	require_argument(fcinfo, 0, "hypertable");
	require_argument(fcinfo, 1, "integer_now_func");
	ht = strata_hypertable_open(PG_GETARG_OID(0));
	function = PG_GETARG_OID(1);
	LockRelationOid(ht->relid, ShareUpdateExclusiveLock);
	if (!strata_time_type_is_integer(ht->key_type))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("integer_now function not needed: the time of hypertable \"%s\" is of type %s",
						get_rel_name(ht->relid), format_type_be(ht->key_type))));
	if ((PG_ARGISNULL(2) || !PG_GETARG_BOOL(2)) && strata_settings_get_text(ht->relid, "integer_now_func") != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("integer_now function is already set for hypertable \"%s\"", get_rel_name(ht->relid)),
				 errhint("Give replace_if_exists => true to set another.")));
	if (!SearchSysCacheExists1(PROCOID, ObjectIdGetDatum(function)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("function with OID %u does not exist", function)));
	result = get_func_signature(function, &argtypes, &nargs);
	if (nargs != 0 || getBaseType(result) != ht->key_type || get_func_prokind(function) != PROKIND_FUNCTION ||
		get_func_retset(function) || func_volatile(function) == PROVOLATILE_VOLATILE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
				 errmsg("invalid integer_now function \"%s\"", get_func_name(function)),
				 errhint("It takes no arguments, returns %s, and is STABLE or IMMUTABLE.", format_type_be(ht->key_type))));
	if (strata_function_aclcheck(function, GetUserId(), ACL_EXECUTE) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FUNCTION, get_func_name(function));
	store_option(ht->relid, "integer_now_func",
				 quote_qualified_identifier(get_namespace_name(get_func_namespace(function)), get_func_name(function)));
	PG_RETURN_VOID();
}

/* insert_guard(): see strata_route_is_active. */
Datum
strata_insert_guard(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by trigger manager", "insert_guard")));
	if (!strata_route_is_active())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot insert into hypertable \"%s\": this session had not loaded the library strata",
						RelationGetRelationName(trigger->tg_relation)),
				 errhint("ALTER DATABASE %s SET session_preload_libraries = 'strata'; and connect again, or add strata to shared_preload_libraries and restart.",
						 quote_identifier(get_database_name(MyDatabaseId)))));
	return PointerGetDatum(NULL);
}

/* The row that says that nothing was added. */
static Datum
no_dimension(FunctionCallInfo fcinfo, Oid relid, const char *column, bool wide)
{
	NameData	schema;
	NameData	table;
	NameData	name;
	Datum		values[5];

	ereport(NOTICE,
			(errmsg("one hash partition is no partitioning: hypertable \"%s\" stays as it is", get_rel_name(relid))));
	namestrcpy(&schema, get_namespace_name(get_rel_namespace(relid)));
	namestrcpy(&table, get_rel_name(relid));
	namestrcpy(&name, column);
	values[0] = Int32GetDatum((int32) relid);
	values[1] = NameGetDatum(&schema);
	values[2] = NameGetDatum(&table);
	values[3] = NameGetDatum(&name);
	values[4] = BoolGetDatum(false);
	if (!wide)
		values[1] = values[4];
	return make_record(fcinfo, values, wide ? 5 : 2);
}

static void
refuse_range(Oid relid)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot add a range dimension to hypertable \"%s\"", get_rel_name(relid)),
			 errdetail("Chunks of a hypertable are ranges of its time column."),
			 errhint("Batches know the minimum and maximum of columns in strata.orderby, which prunes as well.")));
}

/*
 * add_dimension(hypertable, column_name, number_partitions,
 *		chunk_time_interval anyelement, partitioning_func, if_not_exists):
 * programs call it, and must be told.  A second dimension would make
 * partitions of partitions.
 */
Datum
strata_add_dimension(PG_FUNCTION_ARGS)
{
	Oid			relid;

	require_argument(fcinfo, 0, "hypertable");
	require_argument(fcinfo, 1, "column_name");
	relid = strata_hypertable_open(PG_GETARG_OID(0))->relid;
	if (PG_ARGISNULL(2) == PG_ARGISNULL(3))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("one of number_partitions and chunk_time_interval must be given")));
	if (!PG_ARGISNULL(3))
		refuse_range(relid);
	check_partitions(relid, NameStr(*PG_GETARG_NAME(1)), true, PG_GETARG_INT32(2));
	return no_dimension(fcinfo, relid, NameStr(*PG_GETARG_NAME(1)), true);
}

/* add_dimension(hypertable, dimension, if_not_exists) */
Datum
strata_add_dimension_by(PG_FUNCTION_ARGS)
{
	Oid			relid;
	HeapTupleHeader row;
	Datum		column;
	Datum		number;
	bool		no_column;
	bool		no_number;

	require_argument(fcinfo, 0, "hypertable");
	require_argument(fcinfo, 1, "dimension");
	relid = strata_hypertable_open(PG_GETARG_OID(0))->relid;
	row = PG_GETARG_HEAPTUPLEHEADER(1);
	if (is_range(row))
		refuse_range(relid);
	column = GetAttributeByNum(row, DIMENSION_COLUMN, &no_column);
	number = GetAttributeByNum(row, DIMENSION_PARTITIONS, &no_number);
	if (no_column || no_number)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("arguments \"column_name\" and \"number_partitions\" of by_hash() cannot be null")));
	check_partitions(relid, NameStr(*DatumGetName(column)), true, DatumGetInt32(number));
	return no_dimension(fcinfo, relid, NameStr(*DatumGetName(column)), false);
}

/* set_number_partitions(hypertable, number_partitions, dimension_name) */
Datum
strata_set_number_partitions(PG_FUNCTION_ARGS)
{
	Oid			relid;

	require_argument(fcinfo, 0, "hypertable");
	require_argument(fcinfo, 1, "number_partitions");
	relid = strata_hypertable_open(PG_GETARG_OID(0))->relid;
	check_partitions(relid, PG_ARGISNULL(2) ? NULL : NameStr(*PG_GETARG_NAME(2)), true, PG_GETARG_INT32(1));
	PG_RETURN_VOID();
}
