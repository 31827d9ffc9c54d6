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
#include "hypertable/chunk_route.h"
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
PG_FUNCTION_INFO_V1(strata_insert_guard);
PG_FUNCTION_INFO_V1(strata_set_chunk_time_interval);
PG_FUNCTION_INFO_V1(strata_set_integer_now_func);

/* See api_private.h. */
void
strata_api_require_argument(FunctionCallInfo fcinfo, int number,
							const char *name)
{
	if (PG_ARGISNULL(number))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" cannot be null", name)));
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
	Assert(strata_table_ownercheck(relid, GetUserId()));	/* api:P1 */
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
			 if_not_exists ?
			 errmsg("table \"%s\" is already a hypertable, skipping",
					name) :
			 errmsg("table \"%s\" is already a hypertable", name)));
	return false;
}

static Datum
make_record(FunctionCallInfo fcinfo, Datum *values, int n)
{
	TupleDesc	desc;
	bool		nulls[4] = {false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE ||
		desc->natts != n)
		elog(ERROR, "return type must be a row of %d columns", n);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values,
											 nulls));
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

	strata_api_require_argument(fcinfo, 0, "relation");
	strata_api_require_argument(fcinfo, 1, "time_column_name");
	relid = PG_GETARG_OID(0);
	created = open_for_create(relid, !PG_ARGISNULL(8) && PG_GETARG_BOOL(8));
	if (created)
	{
		request.column = NameStr(*PG_GETARG_NAME(1));
		request.has_interval = !PG_ARGISNULL(6);
		request.interval_type = get_fn_expr_argtype(fcinfo->flinfo, 6);
		request.interval = PG_GETARG_DATUM(6);
		request.default_indexes = PG_ARGISNULL(7) || PG_GETARG_BOOL(7);
		request.migrate_data = !PG_ARGISNULL(10) && PG_GETARG_BOOL(10);
		request.function = PG_ARGISNULL(11) ? InvalidOid : PG_GETARG_OID(11);
		strata_hypertable_create(relid, &request);
		if (!PG_ARGISNULL(2))
			strata_api_add_hash(relid, NameStr(*PG_GETARG_NAME(2)),
								!PG_ARGISNULL(3),
								PG_ARGISNULL(3) ? 0 : PG_GETARG_INT32(3));
	}
	namestrcpy(&schema, get_namespace_name(get_rel_namespace(relid)));
	namestrcpy(&table, get_rel_name(relid));
	values[0] = Int32GetDatum((int32) relid);
	values[1] = NameGetDatum(&schema);
	values[2] = NameGetDatum(&table);
	values[3] = BoolGetDatum(created);
	return make_record(fcinfo, values, 4);
}

/* A dimension of by_range() into a request. */
static void
read_dimension(HeapTupleHeader row, StrataHypertableRequest *request)
{
	StrataApiDimension dimension;

	strata_api_read_dimension(row, &dimension);
	if (!dimension.is_range)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot create a hypertable without a range dimension"),
				 errhint("Use by_range('time column').")));
	request->column = dimension.column;
	request->has_interval = dimension.has_interval;
	request->interval_type = dimension.interval_type;
	request->interval = dimension.interval;
	request->function = dimension.function;
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

	strata_api_require_argument(fcinfo, 0, "relation");
	strata_api_require_argument(fcinfo, 1, "dimension");
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
	strata_settings_store(relid,
						  list_make1(makeDefElem(pstrdup(name),
												 (Node *) makeString(value),
												 -1)),
						  false);
}

/*
 * set_chunk_time_interval(hypertable, chunk_time_interval anyelement,
 * dimension_name)
 */
Datum
strata_set_chunk_time_interval(PG_FUNCTION_ARGS)
{
	StrataHypertable *ht;
	int64		interval;

	strata_api_require_argument(fcinfo, 0, "hypertable");
	strata_api_require_argument(fcinfo, 1, "chunk_time_interval");
	ht = strata_hypertable_open(PG_GETARG_OID(0));
	Assert(strata_table_ownercheck(ht->relid, GetUserId()));	/* api:P1 */
	LockRelationOid(ht->relid, ShareUpdateExclusiveLock);
	if (!PG_ARGISNULL(2) &&
		strata_api_set_range(ht, NameStr(*PG_GETARG_NAME(2)),
							 get_fn_expr_argtype(fcinfo->flinfo, 1),
							 PG_GETARG_DATUM(1)))
		PG_RETURN_VOID();
	interval =
		strata_time_interval_from_datum(ht->key_type,
										get_fn_expr_argtype(fcinfo->flinfo, 1),
										PG_GETARG_DATUM(1));
	strata_time_interval_doubt(ht->key_type, interval);
	store_option(ht->relid, "chunk_interval",
				 strata_time_interval_to_text(ht->key_type, interval));
	PG_RETURN_VOID();
}

/* set_integer_now_func(hypertable, integer_now_func, replace_if_exists) */
Datum
strata_set_integer_now_func(PG_FUNCTION_ARGS)
{
	StrataHypertable *ht;
	Oid			function;

	strata_api_require_argument(fcinfo, 0, "hypertable");
	strata_api_require_argument(fcinfo, 1, "integer_now_func");
	ht = strata_hypertable_open(PG_GETARG_OID(0));
	function = PG_GETARG_OID(1);
	Assert(strata_table_ownercheck(ht->relid, GetUserId()));	/* api:P1 */
	LockRelationOid(ht->relid, ShareUpdateExclusiveLock);
	if (!strata_time_type_is_integer(ht->key_type))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("integer_now function not needed: the time of hypertable \"%s\" is of type %s",
						get_rel_name(ht->relid),
						format_type_be(ht->key_type))));
	if ((PG_ARGISNULL(2) || !PG_GETARG_BOOL(2)) &&
		strata_settings_get_text(ht->relid, "integer_now_func") != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("integer_now function is already set for hypertable \"%s\"",
						get_rel_name(ht->relid)),
				 errhint("Give replace_if_exists => true to set another.")));
	strata_hypertable_check_now(ht, function);
	store_option(ht->relid, "integer_now_func",
				 strata_function_name(function));
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
				 errmsg("function \"%s\" was not called by trigger manager",
						"insert_guard")));
	if (!strata_route_is_active())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot insert into hypertable \"%s\": this session had not loaded the library strata",
						RelationGetRelationName(trigger->tg_relation)),
				 errhint("ALTER DATABASE %s SET session_preload_libraries = 'strata'; and connect again, or add strata to shared_preload_libraries and restart.",
						 quote_identifier(get_database_name(MyDatabaseId)))));
	return PointerGetDatum(NULL);
}
