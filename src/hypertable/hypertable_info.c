/*-------------------------------------------------------------------------
 *
 * hypertable_info.c
 *	  What a hypertable is, from its options and partition key; its chunks and
 *	  its present time.
 *
 * Over 600 lines: what is asked of hypertables and chunks is looked up here.
 *
 * src/hypertable/hypertable_info.c
 *-------------------------------------------------------------------------
 */
#include "catalog/catalog.h"
#include "hypertable/hypertable_private.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_func.h"
#include "partitioning/partbounds.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

/*
 * Fill attno, has_function and key_type from pg_partitioned_table.  False when
 * the key is not one range key that we can work with.
 */
static bool
read_key(StrataHypertable *ht)
{
	HeapTuple	tuple = SearchSysCache1(PARTRELID,
										ObjectIdGetDatum(ht->relid));
	Form_pg_partitioned_table form;
	bool		good = false;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_partitioned_table) GETSTRUCT(tuple);
	if (form->partstrat == PARTITION_STRATEGY_RANGE && form->partnatts == 1)
	{
		ht->attno = form->partattrs.values[0];
		if (ht->attno != 0)
			ht->key_type = get_atttype(ht->relid, ht->attno);
		else
		{
			bool		isnull;
			Datum		stored =
			SysCacheGetAttr(PARTRELID, tuple,
							Anum_pg_partitioned_table_partexprs, &isnull);
			List	   *exprs =
			isnull ? NIL :
			(List *) stringToNode(TextDatumGetCString(stored));
			List	   *vars = pull_var_clause((Node *) exprs, 0);

			ht->has_function = true;
			if (exprs != NIL)
				ht->key_type = exprType(linitial(exprs));
			if (vars != NIL)
				ht->attno = linitial_node(Var, vars)->varattno;
		}
		ht->key_type = getBaseType(ht->key_type);
		good = strata_time_type_is_known(ht->key_type);
	}
	ReleaseSysCache(tuple);
	return good;
}

/* See hypertable.h. */
StrataHypertable *
strata_hypertable_get(Oid relid)
{
	StrataHypertable *ht;
	char	   *interval;

	if (get_rel_relkind(relid) != RELKIND_PARTITIONED_TABLE)
		return NULL;
	interval = strata_settings_get_text(relid, STRATA_OPTION_INTERVAL);
	if (interval == NULL)
		return NULL;
	ht = palloc0(sizeof(StrataHypertable));
	ht->relid = relid;
	if (!read_key(ht))
		return NULL;
	ht->interval = strata_time_interval_from_text(ht->key_type, interval);
	return ht;
}

/* See hypertable.h. */
bool
strata_hypertable_is(Oid relid)
{
	return strata_hypertable_get(relid) != NULL;
}

/* See hypertable.h. */
char *
strata_owned_relation_name(Oid relid)
{
	char	   *name = get_rel_name(relid);

	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	if (!strata_table_ownercheck(relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER,
					   get_relkind_objtype(get_rel_relkind(relid)), name);
	return name;
}

/* See hypertable.h. */
Oid
strata_hypertable_meant(Oid relid)
{
	StrataRollupRow *row = get_rel_relkind(relid) == RELKIND_VIEW ?
	strata_rollup_row(relid) : NULL;

	return row != NULL ? row->archive : relid;
}

/* It is none, or none any more. */
static void
refuse_plain(Oid relid)
{
	char	   *name = get_rel_name(relid);
	char		kind = get_rel_relkind(relid);
	bool		is_table = kind == RELKIND_RELATION ||
	kind == RELKIND_PARTITIONED_TABLE;
	Oid			parent = get_rel_relispartition(relid) ?
	get_partition_parent(relid, true) : InvalidOid;

	if (name == NULL)
		name = "";
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 is_table ? errmsg("table \"%s\" is not a hypertable", name) :
			 errmsg("\"%s\" is not a hypertable", name),
			 OidIsValid(parent) && strata_hypertable_is(parent) ?
			 errhint("It is a chunk of hypertable \"%s\".",
					 get_rel_name(parent)) :
			 is_table ?
			 errhint("SELECT create_hypertable('%s', 'time column');",
					 quote_identifier(name)) : 0));
}

/* See hypertable.h. */
StrataHypertable *
strata_hypertable_require(Oid relid)
{
	StrataHypertable *ht = strata_hypertable_get(relid);

	if (ht == NULL)
		refuse_plain(relid);
	return ht;
}

/* See hypertable.h. */
StrataHypertable *
strata_hypertable_open(Oid relid)
{
	StrataHypertable *ht;

	(void) strata_owned_relation_name(relid);
	ht = strata_hypertable_get(strata_hypertable_meant(relid));
	if (ht == NULL)
		refuse_plain(relid);
	return ht;
}

/*
 * A text of strata.created.  What session settings make of it, or somebody
 * wrote there, must not make the views fail that show chunks of everybody:
 * then false.
 */
static bool
parse_created(const char *text, TimestampTz *created)
{
	MemoryContext mcxt = CurrentMemoryContext;
	volatile bool good = true;

	PG_TRY();
	{
		*created = DatumGetTimestampTz(DirectFunctionCall3(
														   timestamptz_in, CStringGetDatum(text),
														   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
	}
	PG_CATCH();
	{
		/* only the text can be wrong */
		MemoryContextSwitchTo(mcxt);
		FlushErrorState();
		good = false;
	}
	PG_END_TRY();
	return good;
}

static void
refuse_value(DefElem *def, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for option \"%s\": \"%s\"",
					strata_option_typed(def->defname), defGetString(def)),
			 errhint("%s", hint)));
}

/* See hypertable.h. */
List *
strata_hypertable_own_options(List *options)
{
	List	   *own = NIL;
	ListCell   *lc;

	foreach(lc, options)
	{
		/* a transaction of a dump's cluster */
		if (strcmp(lfirst_node(DefElem, lc)->defname,
				   STRATA_OPTION_DIVIDED) != 0)
			own = lappend(own, lfirst(lc));
	}
	return own;
}

/*
 * The option's text names a function that there is, and that will do; it gets
 * its schema, since others have another search path.
 */
static void
check_now_option(const StrataHypertable *ht, DefElem *def, bool is_new)
{
	List	   *name = strata_qualified_name_list(defGetString(def));
	Oid			function;

	if (!strata_time_type_is_integer(ht->key_type))
		refuse_value(def, "A time that is no integer needs no such function.");
	if (is_new)
		return;
	function = LookupFuncName(name, 0, NULL, false);
	strata_hypertable_check_now(ht, function);
	def->arg = (Node *) makeString(strata_function_name(function));
}

/* See hypertable.h. */
void
strata_hypertable_check_options(Relation rel, List *options, bool is_new)
{
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);
		bool		interval;
		StrataHypertable ht = {.relid = RelationGetRelid(rel)};
		TimestampTz created;

		interval = strcmp(def->defname, STRATA_OPTION_INTERVAL) == 0;
		if (strcmp(def->defname, STRATA_OPTION_CHUNK_OPTIONS) == 0)
			(void) strata_storage_options_parse(defGetString(def));
		if (strcmp(def->defname, STRATA_OPTION_CREATED) == 0 &&
			!parse_created(defGetString(def), &created))
			refuse_value(def, "It is the time when a chunk was made, which is written when it is.");
		if (strcmp(def->defname, STRATA_OPTION_DIVIDED) == 0 &&
			strata_divided_parse(defGetString(def)) == 0)
			refuse_value(def, "It is the transaction that divided a chunk, which is written when it does.");
		if (!interval && strcmp(def->defname, STRATA_OPTION_NOW) != 0 &&
			strcmp(def->defname, STRATA_OPTION_DIMENSIONS) != 0 &&
			strcmp(def->defname, STRATA_OPTION_TABLESPACES) != 0)
			continue;
		if (rel->rd_rel->relkind != RELKIND_PARTITIONED_TABLE ||
			!read_key(&ht))
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("option \"%s\" needs a table partitioned by range of one time column",
							strata_option_typed(def->defname)),
					 errhint("SELECT create_hypertable('%s', 'time column');",
							 quote_identifier(RelationGetRelationName(rel)))));
		if (interval)
			strata_time_interval_doubt(ht.key_type,
									   strata_time_interval_from_text(ht.key_type, defGetString(def)));
		if (strcmp(def->defname, STRATA_OPTION_NOW) == 0)
			check_now_option(&ht, def, is_new);
	}
}

/*-------------------------------------------------------------------------
 * Chunks, from the catalog
 *-------------------------------------------------------------------------
 */

/* One bound of a partition: its time, or unbounded. */
static bool
read_partition_bound(List *datums, Oid key_type, int64 *time, bool *unbounded)
{
	PartitionRangeDatum *datum;

	if (list_length(datums) != 1)
		return false;
	datum = linitial_node(PartitionRangeDatum, datums);
	*unbounded = datum->kind != PARTITION_RANGE_DATUM_VALUE;
	if (*unbounded)
		*time = datum->kind == PARTITION_RANGE_DATUM_MINVALUE ? PG_INT64_MIN :
			PG_INT64_MAX;
	else
	{
		Const	   *bound = castNode(Const, datum->value);

		*time = strata_time_from_bound(key_type, bound->constvalue);
	}
	return true;
}

/*
 * A partition's range, from its pg_class row; false when that is gone or says
 * something else.
 */
static bool
read_range(Oid chunk, Oid key_type, StrataChunkRange *range)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(chunk));
	bool		isnull = true;
	Datum		stored;
	bool		good = false;

	if (!HeapTupleIsValid(tuple))
		return false;
	stored = SysCacheGetAttr(RELOID, tuple, Anum_pg_class_relpartbound,
							 &isnull);
	if (!isnull)
	{
		PartitionBoundSpec *spec;

		spec = castNode(PartitionBoundSpec,
						stringToNode(TextDatumGetCString(stored)));
		good = spec->strategy == PARTITION_STRATEGY_RANGE &&
			!spec->is_default &&
			read_partition_bound(spec->lowerdatums, key_type, &range->lo,
								 &range->no_lo) &&
			read_partition_bound(spec->upperdatums, key_type, &range->hi,
								 &range->no_hi);
	}
	ReleaseSysCache(tuple);
	return good;
}

/*
 * The table that a partition is of; InvalidOid where it is gone by now.
 * get_partition_parent() has an error for that, which those who list chunks
 * without locks do not want.
 */
static Oid
parent_by_now(Oid chunk)
{
	Relation	rel = table_open(InheritsRelationId, AccessShareLock);
	Oid			parent = InvalidOid;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_inherits_inhrelid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(chunk));
	scan = systable_beginscan(rel, InheritsRelidSeqnoIndexId, true, NULL, 1,
							  &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		parent = ((Form_pg_inherits) GETSTRUCT(tuple))->inhparent;
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return parent;
}

/* See hypertable.h. */
bool
strata_chunk_range(Oid chunk, Oid *key_type, StrataChunkRange *range)
{
	StrataHypertable ht = {0};

	if (!get_rel_relispartition(chunk))
		return false;
	ht.relid = parent_by_now(chunk);
	if (!OidIsValid(ht.relid) || !read_key(&ht))
		return false;
	*key_type = ht.key_type;
	return read_range(chunk, ht.key_type, range);
}

/* See hypertable.h. */
bool
strata_chunk_times(Oid chunk, int64 *lo, int64 *hi)
{
	StrataChunkRange range;
	Oid			key_type;

	if (!strata_chunk_range(chunk, &key_type, &range))
		return false;
	*lo = range.no_lo ? PG_INT64_MIN : range.lo;
	*hi = range.no_hi ? PG_INT64_MAX : range.hi - 1;
	return true;
}

/* See hypertable.h. */
bool
strata_chunk_created(Oid chunk, TimestampTz *created)
{
	char	   *text = strata_settings_get_text(chunk, STRATA_OPTION_CREATED);

	return text != NULL && parse_created(text, created);
}

static int
compare_chunks(const ListCell *a, const ListCell *b)
{
	const StrataChunk *one = lfirst(a);
	const StrataChunk *other = lfirst(b);

	return one->range.lo < other->range.lo ? -1 :
		one->range.lo > other->range.lo;
}

/* See hypertable.h. */
List *
strata_chunk_list(const StrataHypertable *ht)
{
	List	   *chunks = NIL;
	ListCell   *lc;

	foreach(lc, find_inheritance_children(ht->relid, NoLock))
	{
		StrataChunk *chunk = palloc0(sizeof(StrataChunk));

		chunk->relid = lfirst_oid(lc);
		if (read_range(chunk->relid, ht->key_type, &chunk->range))
			chunks = lappend(chunks, chunk);
	}
	list_sort(chunks, compare_chunks);
	return chunks;
}

/* See hypertable.h. */
Oid
strata_chunk_index(Oid chunk, Oid index)
{
	Relation	rel = table_open(chunk, AccessShareLock);
	Oid			result = InvalidOid;
	ListCell   *lc;

	foreach(lc, RelationGetIndexList(rel))
	{
		if (lfirst_oid(lc) == index ||
			(get_rel_relispartition(lfirst_oid(lc)) &&
			 get_partition_parent(lfirst_oid(lc), true) == index))
			result = lfirst_oid(lc);
	}
	table_close(rel, AccessShareLock);
	return result;
}

/* See hypertable_private.h. */
int
strata_partition_find(PartitionKey key, PartitionDesc desc, Oid key_type,
					  Datum value, StrataChunkRange *range)
{
	PartitionBoundInfo bounds = desc->boundinfo;
	bool		equal = false;
	int			offset;

	Assert(key->strategy == PARTITION_STRATEGY_RANGE &&
		   key->partnatts == 1);	/* hypertable:Y1 */
	range->lo = PG_INT64_MIN;
	range->hi = PG_INT64_MAX;
	range->no_lo = range->no_hi = true;
	if (desc->nparts == 0)
		return -1;
	offset = partition_range_datum_bsearch(key->partsupfunc,
										   key->partcollation, bounds, 1,
										   &value, &equal);
	if (offset >= 0 && bounds->kind[offset][0] == PARTITION_RANGE_DATUM_VALUE)
	{
		range->no_lo = false;
		range->lo = strata_time_from_bound(key_type,
										   bounds->datums[offset][0]);
	}
	if (offset + 1 < bounds->ndatums &&
		bounds->kind[offset + 1][0] == PARTITION_RANGE_DATUM_VALUE)
	{
		range->no_hi = false;
		range->hi = strata_time_from_bound(key_type,
										   bounds->datums[offset + 1][0]);
	}
	return bounds->indexes[offset + 1];
}

/*-------------------------------------------------------------------------
 * The present, and points in time relative to it
 *-------------------------------------------------------------------------
 */

/*
 * Can a function be called for the present time, whatever was made of it since
 * it was named?
 */
static bool
tells_integer(Oid function)
{
	Oid		   *argtypes;
	int			nargs;
	Oid			result = get_func_signature(function, &argtypes, &nargs);

	return nargs == 0 && get_func_prokind(function) == PROKIND_FUNCTION &&
		!get_func_retset(function) &&
		strata_time_type_is_integer(getBaseType(result));
}

/* See hypertable.h. */
char *
strata_function_name(Oid function)
{
	char	   *schema = get_namespace_name(get_func_namespace(function));

	return quote_qualified_identifier(schema, get_func_name(function));
}

/* See hypertable.h. */
void
strata_hypertable_check_now(const StrataHypertable *ht, Oid function)
{
	if (!SearchSysCacheExists1(PROCOID, ObjectIdGetDatum(function)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("function with OID %u does not exist", function)));
	if (!tells_integer(function) ||
		getBaseType(get_func_rettype(function)) != ht->key_type ||
		func_volatile(function) == PROVOLATILE_VOLATILE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
				 errmsg("invalid integer_now function \"%s\"",
						get_func_name(function)),
				 errhint("It takes no arguments, returns %s, and is STABLE or IMMUTABLE.",
						 format_type_be(ht->key_type))));
	if (strata_function_aclcheck(function, GetUserId(), ACL_EXECUTE) !=
		ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FUNCTION,
					   get_func_name(function));
}

/* What an integer_now function returns, which must be a time. */
static int64
call_now(const StrataHypertable *ht, Oid function, Oid type)
{
	LOCAL_FCINFO(fcinfo, 0);
	FmgrInfo	flinfo;
	Datum		now;

	fmgr_info(function, &flinfo);
	InitFunctionCallInfoData(*fcinfo, &flinfo, 0, InvalidOid, NULL, NULL);
	now = FunctionCallInvoke(fcinfo);
	if (fcinfo->isnull)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("integer_now function %s of hypertable \"%s\" returned NULL",
						format_procedure(function), get_rel_name(ht->relid))));
	return strata_time_from_datum(type, now);
}

/* See hypertable.h. */
int64
strata_hypertable_now(const StrataHypertable *ht)
{
	char	   *name;
	Oid			function;
	Oid			type;
	AclResult	acl;
	StrataRollupRow *row;

	switch (ht->key_type)
	{
		case TIMESTAMPTZOID:
		case UUIDOID:
			return GetCurrentTransactionStartTimestamp();
		case TIMESTAMPOID:
			return DatumGetTimestamp(DirectFunctionCall1(timestamptz_timestamp,
														 TimestampTzGetDatum(GetCurrentTransactionStartTimestamp())));
		case DATEOID:
			return DatumGetDateADT(DirectFunctionCall1(timestamptz_date,
													   TimestampTzGetDatum(GetCurrentTransactionStartTimestamp())));
		default:
			break;
	}
	name = strata_settings_get_text(ht->relid, STRATA_OPTION_NOW);
	/* an archive's now is that of what it is made of */
	if (name == NULL &&
		(row = strata_rollup_row_of_archive(ht->relid)) != NULL)
	{
		StrataHypertable *source = strata_hypertable_get(row->source);

		if (source != NULL &&
			strata_time_type_is_integer(source->key_type))
			return strata_hypertable_now(source);
	}
	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("hypertable \"%s\" has no integer_now function",
						get_rel_name(ht->relid)),
				 errhint("SELECT set_integer_now_func('%s', 'function that returns the present time as %s');",
						 quote_identifier(get_rel_name(ht->relid)),
						 format_type_be(ht->key_type))));
	function = LookupFuncName(strata_qualified_name_list(name), 0, NULL,
							  false);
	acl = strata_function_aclcheck(function, GetUserId(), ACL_EXECUTE);
	if (acl != ACLCHECK_OK)
		aclcheck_error(acl, OBJECT_FUNCTION, name);
	type = getBaseType(get_func_rettype(function));
	if (!tells_integer(function))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
				 errmsg("integer_now function %s of hypertable \"%s\" is no function that returns an integer",
						name, get_rel_name(ht->relid))));
	return call_now(ht, function, type);
}

static void
refuse_point(const StrataHypertable *ht, Oid type, const char *argument)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid type %s of argument \"%s\" for hypertable \"%s\"",
					format_type_be(type), argument, get_rel_name(ht->relid)),
			 strata_time_type_is_integer(ht->key_type) ?
			 errhint("Its time column is of type %s: give an integer.",
					 format_type_be(ht->key_type)) :
			 errhint("Its time column is of type %s: give an interval, a date or a timestamp.",
					 format_type_be(ht->key_type))));
}

/* The day that a timestamp is in; up: unless it begins there, the next. */
static int64
day_of(Timestamp timestamp, bool up)
{
	int64		day;

	day = strata_time_from_datum(DATEOID,
								 DirectFunctionCall1(timestamp_date,
													 TimestampGetDatum(timestamp)));
	if (up && !TIMESTAMP_NOT_FINITE(timestamp) &&
		timestamp % USECS_PER_DAY != 0)
		day++;
	return day;
}

/* See hypertable.h. */
int64
strata_hypertable_point(const StrataHypertable *ht, Oid type, Datum value,
						const char *argument, bool up)
{
	Timestamp	timestamp;
	int			overflow = 0;

	if (strata_time_type_is_integer(ht->key_type))
	{
		if (type == UNKNOWNOID)
			return DatumGetInt64(DirectFunctionCall1(
													 int8in, CStringGetDatum(DatumGetCString(value))));
		if (!strata_time_type_is_integer(type))
			refuse_point(ht, type, argument);
		return strata_time_from_datum(type, value);
	}
	if (type == DATEOID && ht->key_type == DATEOID)
		return strata_time_from_datum(DATEOID, value);
	switch (type)
	{
		case UNKNOWNOID:
			timestamp = DatumGetTimestampTz(DirectFunctionCall3(
																timestamptz_in, value, ObjectIdGetDatum(InvalidOid),
																Int32GetDatum(-1)));
			type = TIMESTAMPTZOID;
			break;
		case INTERVALOID:
			timestamp = DatumGetTimestampTz(DirectFunctionCall2(
																timestamptz_mi_interval,
																TimestampTzGetDatum(GetCurrentTransactionStartTimestamp()),
																value));
			type = TIMESTAMPTZOID;
			break;
		case DATEOID:
			/* a day that no timestamp reaches is beyond all of them */
			timestamp = date2timestamp_opt_overflow(DatumGetDateADT(value),
													&overflow);
			type = TIMESTAMPOID;
			break;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			timestamp = DatumGetTimestamp(value);
			break;
		case UUIDOID:
			timestamp = strata_time_from_datum(UUIDOID, value);
			type = TIMESTAMPTZOID;
			break;
		default:
			refuse_point(ht, type, argument);
			return 0;			/* not reached */
	}

	/*
	 * between local and absolute time by the session's time zone, as casts do
	 */
	if (type == TIMESTAMPTZOID && ht->key_type != TIMESTAMPTZOID &&
		ht->key_type != UUIDOID)
		timestamp = DatumGetTimestamp(DirectFunctionCall1(
														  timestamptz_timestamp, TimestampGetDatum(timestamp)));
	else if (type == TIMESTAMPOID &&
			 (ht->key_type == TIMESTAMPTZOID || ht->key_type == UUIDOID))
		timestamp = DatumGetTimestamp(DirectFunctionCall1(
														  timestamp_timestamptz, TimestampGetDatum(timestamp)));
	return ht->key_type == DATEOID ? day_of(timestamp, up) : timestamp;
}

/*-------------------------------------------------------------------------
 * Working as the table's owner
 *-------------------------------------------------------------------------
 */

/* See hypertable.h. */
Oid
strata_relation_owner(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return owner;
}

/* See hypertable_private.h. */
bool
strata_hypertable_owner_enter(Oid relid, StrataOwnerContext *saved)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));

	if (!HeapTupleIsValid(tuple))
		return false;
	strata_owner_enter(((Form_pg_class) GETSTRUCT(tuple))->relowner, saved);
	ReleaseSysCache(tuple);
	return true;
}
