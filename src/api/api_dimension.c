/*-------------------------------------------------------------------------
 *
 * api_dimension.c
 *	  Dimensions beside time: add_dimension and what belongs to it.
 *
 * They are written down and shown, and make no partitions (docs/adr/023).
 *
 * src/api/api_dimension.c
 *-------------------------------------------------------------------------
 */
#include "api/api_private.h"
#include "catalog/catalog.h"
#include "hypertable/hypertable.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

PG_FUNCTION_INFO_V1(strata_add_dimension);
PG_FUNCTION_INFO_V1(strata_add_dimension_by);
PG_FUNCTION_INFO_V1(strata_set_number_partitions);
PG_FUNCTION_INFO_V1(strata_further_dimensions);

/* Columns of the type dimension_info, as sql/ has them. */
enum
{
	DIMENSION_TYPE = 1,
	DIMENSION_COLUMN,
	DIMENSION_INTERVAL,
	DIMENSION_INTERVAL_TYPE,
	DIMENSION_PARTITIONS,
	DIMENSION_FUNCTION
};

/* See api_private.h. */
void
strata_api_read_dimension(HeapTupleHeader row, StrataApiDimension *dimension)
{
	bool		isnull;
	Datum		value = GetAttributeByNum(row, DIMENSION_TYPE, &isnull);

	memset(dimension, 0, sizeof(*dimension));
	dimension->is_range = !isnull &&
		strcmp(TextDatumGetCString(value), "range") == 0;
	value = GetAttributeByNum(row, DIMENSION_COLUMN, &isnull);
	if (isnull)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"column_name\" cannot be null")));
	dimension->column = pstrdup(NameStr(*DatumGetName(value)));
	value = GetAttributeByNum(row, DIMENSION_INTERVAL, &isnull);
	if (!isnull)
	{
		char	   *length = TextDatumGetCString(value);
		Oid			input;
		Oid			param;

		dimension->has_interval = true;
		dimension->interval_type =
			DatumGetObjectId(GetAttributeByNum(row, DIMENSION_INTERVAL_TYPE,
											   &isnull));
		getTypeInputInfo(dimension->interval_type, &input, &param);
		dimension->interval = OidInputFunctionCall(input, length, param, -1);
	}
	dimension->partitions =
		DatumGetInt32(GetAttributeByNum(row, DIMENSION_PARTITIONS, &isnull));
	dimension->has_partitions = !isnull;
	value = GetAttributeByNum(row, DIMENSION_FUNCTION, &isnull);
	dimension->function = isnull ? InvalidOid : DatumGetObjectId(value);
}

static void
check_number(bool has_number, int number)
{
	if (!has_number || number < 1 || number > PG_INT16_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid number of partitions: must be between 1 and %d",
						PG_INT16_MAX)));
}

/* The one on a column, or NULL. */
static StrataDimension *
find_dimension(List *dimensions, const char *column)
{
	ListCell   *lc;

	foreach(lc, dimensions)
	{
		if (strcmp(((StrataDimension *) lfirst(lc))->column, column) == 0)
			return lfirst(lc);
	}
	return NULL;
}

/* Type of a column that is to be a dimension, which must be there. */
static Oid
column_type(Oid relid, const char *column)
{
	AttrNumber	attno = get_attnum(relid, column);

	if (attno <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						column, get_rel_name(relid))));
	return getBaseType(get_atttype(relid, attno));
}

/* What the user gets instead. */
static void
tell(Oid relid, const char *column, bool is_range)
{
	char	   *table = strata_sql_name(relid);

	ereport(NOTICE,
			(errmsg("dimension \"%s\" of hypertable \"%s\" makes no partitions of chunks",
					column, get_rel_name(relid)),
			 is_range ?
			 errhint("Batches know the minimum and maximum of columns, which prune as well; most, of columns in strata.orderby.") :
			 errhint("ALTER TABLE %s SET (strata.segmentby = %s); brings the rows of each \"%s\" together within a chunk.",
					 table, quote_literal_cstr(quote_identifier(column)),
					 column)));
}

/*
 * Write a dimension down, unless its column is one: then false, with a NOTICE
 * if missing_ok is.  The caller has checked ownership.
 */
static bool
add_dimension_column(const StrataHypertable *ht, StrataDimension *dimension,
					 bool if_not_exists)
{
	List	   *dimensions;

	Assert(strata_table_ownercheck(ht->relid, GetUserId()));	/* api:P1 */
	LockRelationOid(ht->relid, ShareUpdateExclusiveLock);
	dimensions = strata_dimensions_get(ht->relid);
	if (find_dimension(dimensions, dimension->column) != NULL ||
		get_attnum(ht->relid, dimension->column) == ht->attno)
	{
		ereport(if_not_exists ? NOTICE : ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 if_not_exists ?
				 errmsg("column \"%s\" is already a dimension, skipping",
						dimension->column) :
				 errmsg("column \"%s\" is already a dimension",
						dimension->column)));
		return false;
	}
	strata_dimensions_store(ht->relid, lappend(dimensions, dimension));
	/* one partition is what there is */
	if (dimension->interval != NULL || dimension->partitions > 1)
		tell(ht->relid, dimension->column, dimension->interval != NULL);
	return true;
}

/* A hash dimension on a column whose values can be hashed. */
static bool
add_hash(const StrataHypertable *ht, const char *column, bool has_number,
		 int number, bool if_not_exists)
{
	StrataDimension dimension = {.column = pstrdup(column),
	.partitions = number};
	Oid			type = column_type(ht->relid, column);

	check_number(has_number, number);
	if (!OidIsValid(lookup_type_cache(type, TYPECACHE_HASH_PROC)->hash_proc))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("could not identify a hash function for type %s of column \"%s\"",
						format_type_be(type), column)));
	return add_dimension_column(ht, &dimension, if_not_exists);
}

/* See api_private.h. */
void
strata_api_add_hash(Oid relid, const char *column, bool has_number, int number)
{
	(void) add_hash(strata_hypertable_get(relid), column, has_number, number,
					false);
}

/*
 * The length of a range dimension on a column, as text; type InvalidOid: the
 * default.
 */
static char *
range_text(Oid relid, const char *column, Oid type, Datum interval)
{
	Oid			key_type = column_type(relid, column);

	if (!strata_time_type_is_known(key_type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("invalid type %s for a range dimension",
						format_type_be(key_type)),
				 errhint("Use an integer, timestamp, date or uuid column.")));
	return strata_time_interval_to_text(key_type,
										OidIsValid(type) ?
										strata_time_interval_from_datum(key_type, type, interval) :
										strata_time_interval_default(key_type));
}

static bool
add_range(const StrataHypertable *ht, const char *column, Oid type,
		  Datum interval, bool if_not_exists)
{
	StrataDimension dimension = {.column = pstrdup(column)};

	dimension.interval = range_text(ht->relid, column, type, interval);
	return add_dimension_column(ht, &dimension, if_not_exists);
}

/* See api_private.h. */
bool
strata_api_set_range(const StrataHypertable *ht, const char *column, Oid type,
					 Datum interval)
{
	List	   *dimensions = strata_dimensions_get(ht->relid);
	StrataDimension *dimension = find_dimension(dimensions, column);
	AttrNumber	attno = get_attnum(ht->relid, column);

	if (attno != InvalidAttrNumber && attno == ht->attno)
		return false;
	if (dimension == NULL || dimension->interval == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 dimension == NULL ?
				 errmsg("hypertable \"%s\" has no dimension \"%s\"",
						get_rel_name(ht->relid), column) :
				 errmsg("dimension \"%s\" of hypertable \"%s\" is one by hash",
						column, get_rel_name(ht->relid)),
				 dimension == NULL ?
				 0 :
				 errhint("SELECT set_number_partitions('%s', ..., %s);",
						 quote_identifier(get_rel_name(ht->relid)),
						 quote_literal_cstr(column))));
	dimension->interval = range_text(ht->relid, column, type, interval);
	strata_dimensions_store(ht->relid, dimensions);
	return true;
}

/*
 * The row that says what was done; wide: as add_dimension(..., column_name)
 * returns it.
 */
static Datum
result_row(FunctionCallInfo fcinfo, const StrataHypertable *ht,
		   const char *column, bool created, bool wide)
{
	TupleDesc	desc;
	NameData	schema;
	NameData	table;
	NameData	name;
	Datum		values[5];
	bool		nulls[5] = {false};
	int			number = 1;
	ListCell   *lc;

	foreach(lc, strata_dimensions_get(ht->relid))
	{
		if (strcmp(((StrataDimension *) lfirst(lc))->column, column) == 0)
			number = foreach_current_index(lc) + 2;
	}
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE ||
		desc->natts != (wide ? 5 : 2))
		elog(ERROR, "return type must be a row type");
	namestrcpy(&schema, get_namespace_name(get_rel_namespace(ht->relid)));
	namestrcpy(&table, get_rel_name(ht->relid));
	namestrcpy(&name, column);
	values[0] = Int32GetDatum(number);
	values[1] = wide ? NameGetDatum(&schema) : BoolGetDatum(created);
	values[2] = NameGetDatum(&table);
	values[3] = NameGetDatum(&name);
	values[4] = BoolGetDatum(created);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values,
											 nulls));
}

/*
 * add_dimension(hypertable, column_name, number_partitions,
 *		chunk_time_interval anyelement, partitioning_func, if_not_exists)
 */
Datum
strata_add_dimension(PG_FUNCTION_ARGS)
{
	StrataHypertable *ht;
	char	   *column;
	bool		if_not_exists = !PG_ARGISNULL(5) && PG_GETARG_BOOL(5);
	bool		created;

	PreventCommandIfReadOnly("add_dimension()");
	strata_api_require_argument(fcinfo, 0, "hypertable");
	strata_api_require_argument(fcinfo, 1, "column_name");
	ht = strata_hypertable_open(PG_GETARG_OID(0));
	column = NameStr(*PG_GETARG_NAME(1));
	if (PG_ARGISNULL(2) == PG_ARGISNULL(3))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("one of number_partitions and chunk_time_interval must be given")));
	created = PG_ARGISNULL(3) ?
		add_hash(ht, column, true, PG_GETARG_INT32(2),
				 if_not_exists) :
		add_range(ht, column, get_fn_expr_argtype(fcinfo->flinfo, 3),
				  PG_GETARG_DATUM(3), if_not_exists);
	return result_row(fcinfo, ht, column, created, true);
}

/* add_dimension(hypertable, dimension, if_not_exists) */
Datum
strata_add_dimension_by(PG_FUNCTION_ARGS)
{
	StrataHypertable *ht;
	StrataApiDimension dimension;
	bool		if_not_exists = !PG_ARGISNULL(2) && PG_GETARG_BOOL(2);
	bool		created;

	PreventCommandIfReadOnly("add_dimension()");
	strata_api_require_argument(fcinfo, 0, "hypertable");
	strata_api_require_argument(fcinfo, 1, "dimension");
	ht = strata_hypertable_open(PG_GETARG_OID(0));
	strata_api_read_dimension(PG_GETARG_HEAPTUPLEHEADER(1), &dimension);
	if (!dimension.is_range)
		created = add_hash(ht, dimension.column, dimension.has_partitions,
						   dimension.partitions, if_not_exists);
	else
		created = add_range(ht, dimension.column,
							dimension.has_interval ? dimension.interval_type :
							InvalidOid,
							dimension.interval, if_not_exists);
	return result_row(fcinfo, ht, dimension.column, created, false);
}

/* set_number_partitions(hypertable, number_partitions, dimension_name) */
Datum
strata_set_number_partitions(PG_FUNCTION_ARGS)
{
	StrataHypertable *ht;
	StrataDimension *wanted = NULL;
	List	   *dimensions;
	ListCell   *lc;

	PreventCommandIfReadOnly("set_number_partitions()");
	strata_api_require_argument(fcinfo, 0, "hypertable");
	strata_api_require_argument(fcinfo, 1, "number_partitions");
	ht = strata_hypertable_open(PG_GETARG_OID(0));
	check_number(true, PG_GETARG_INT32(1));
	Assert(strata_table_ownercheck(ht->relid, GetUserId()));	/* api:P1 */
	LockRelationOid(ht->relid, ShareUpdateExclusiveLock);
	dimensions = strata_dimensions_get(ht->relid);
	foreach(lc, dimensions)
	{
		StrataDimension *dimension = lfirst(lc);

		if (dimension->interval != NULL ||
			(!PG_ARGISNULL(2) &&
			 strcmp(dimension->column, NameStr(*PG_GETARG_NAME(2))) != 0))
			continue;
		if (wanted != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("hypertable \"%s\" has more than one hash dimension",
							get_rel_name(ht->relid)),
					 errhint("Name one: dimension_name => %s.",
							 quote_literal_cstr(dimension->column))));
		wanted = dimension;
	}
	if (wanted == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 PG_ARGISNULL(2) ?
				 errmsg("hypertable \"%s\" has no hash dimension",
						get_rel_name(ht->relid)) :
				 errmsg("hypertable \"%s\" has no hash dimension \"%s\"",
						get_rel_name(ht->relid),
						NameStr(*PG_GETARG_NAME(2))),
				 errhint("SELECT add_dimension('%s', by_hash('column', %d));",
						 quote_identifier(get_rel_name(ht->relid)),
						 PG_GETARG_INT32(1))));
	wanted->partitions = PG_GETARG_INT32(1);
	strata_dimensions_store(ht->relid, dimensions);
	PG_RETURN_VOID();
}

/*
 * further_dimensions(hypertable) -> (dimension_number, column_name,
 * column_type, dimension_type, time_interval, integer_interval,
 * num_partitions), for views.
 */
Datum
strata_further_dimensions(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			relid = PG_GETARG_OID(0);
	ListCell   *lc;
	List	   *dimensions = strata_dimensions_get(relid);

	InitMaterializedSRF(fcinfo, 0);
	foreach(lc, dimensions)
	{
		StrataDimension *dimension = lfirst(lc);
		AttrNumber	attno = get_attnum(relid, dimension->column);
		NameData	column;
		Datum		values[7] = {0};
		bool		nulls[7] = {false, false, false, false, true, true, true};

		if (attno == InvalidAttrNumber)
			continue;
		namestrcpy(&column, dimension->column);
		values[0] = Int64GetDatum(foreach_current_index(lc) + 2);
		values[1] = NameGetDatum(&column);
		values[2] = ObjectIdGetDatum(get_atttype(relid, attno));
		values[3] = CStringGetTextDatum(dimension->interval != NULL ? "Time" :
										"Space");
		nulls[6] = dimension->interval != NULL;
		values[6] = Int16GetDatum((int16) dimension->partitions);
		/* by what it is: the column's type may have changed since */
		if (dimension->interval != NULL &&
			dimension->interval[strspn(dimension->interval, "0123456789")] ==
			'\0')
		{
			nulls[5] = false;
			values[5] = Int64GetDatum(strtoll(dimension->interval, NULL, 10));
		}
		else if (dimension->interval != NULL)
		{
			nulls[4] = false;
			values[4] =
				DirectFunctionCall3(interval_in,
									CStringGetDatum(dimension->interval),
									ObjectIdGetDatum(InvalidOid),
									Int32GetDatum(-1));
		}
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
	return (Datum) 0;
}
