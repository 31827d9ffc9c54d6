/*-------------------------------------------------------------------------
 *
 * api_chunk.c
 *	  Listing, dropping and making chunks; what the views read of them.
 *
 * src/api/api_chunk.c
 *-------------------------------------------------------------------------
 */
#include "api/api_private.h"
#include "catalog/catalog.h"
#include "hypertable/hypertable.h"
#include "job/job.h"
#include "rollup/rollup.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(strata_show_chunks);
PG_FUNCTION_INFO_V1(strata_drop_chunks);
PG_FUNCTION_INFO_V1(strata_create_chunks);
PG_FUNCTION_INFO_V1(strata_chunk_info);
PG_FUNCTION_INFO_V1(strata_dimension_info);

/* Which chunks; a limit counts when its flag says so. */
typedef struct ChunkFilter
{
	bool		has_older;
	bool		has_newer;
	bool		has_before;
	bool		has_after;
	int64		older;			/* ends at or before */
	int64		newer;			/* begins at or after */
	int64		before;			/* made before */
	int64		after;			/* made at or after */
} ChunkFilter;

static bool
read_point(FunctionCallInfo fcinfo, int number, const char *name,
		   const StrataHypertable *ht, bool up, int64 *point)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, number);

	if (PG_ARGISNULL(number))
		return false;
	*point = strata_hypertable_point(ht, type, PG_GETARG_DATUM(number), name,
									 up);
	return true;
}

/* Numbers of the arguments differ between the functions. */
static void
read_filter(FunctionCallInfo fcinfo, const StrataHypertable *ht, int older,
			int newer, int before, int after, ChunkFilter *filter)
{
	StrataHypertable clock = {.relid = ht->relid,.key_type = TIMESTAMPTZOID};

	memset(filter, 0, sizeof(*filter));
	filter->has_older = read_point(fcinfo, older, "older_than", ht,
								   false, &filter->older);
	filter->has_newer = read_point(fcinfo, newer, "newer_than", ht,
								   true, &filter->newer);
	filter->has_before = read_point(fcinfo, before, "created_before", &clock,
									false, &filter->before);
	filter->has_after = read_point(fcinfo, after, "created_after", &clock,
								   false, &filter->after);
	if ((filter->has_older || filter->has_newer) &&
		(filter->has_before || filter->has_after))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot specify \"older_than\" or \"newer_than\" together with \"created_before\" or \"created_after\"")));
}

static bool
is_wanted(const StrataChunk *chunk, const ChunkFilter *filter)
{
	const StrataChunkRange *range = &chunk->range;
	TimestampTz created = 0;

	if (filter->has_older && (range->no_hi || range->hi > filter->older))
		return false;
	if (filter->has_newer && (range->no_lo || range->lo < filter->newer))
		return false;
	if (!filter->has_before && !filter->has_after)
		return true;
	/* of a chunk that others made nobody knows when */
	return strata_chunk_created(chunk->relid, &created) &&
		(!filter->has_before || created < filter->before) &&
		(!filter->has_after || created >= filter->after);
}

static StrataHypertable *
get_hypertable(FunctionCallInfo fcinfo)
{
	StrataHypertable *ht;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("hypertable cannot be null")));
	ht = strata_hypertable_get(strata_hypertable_meant(PG_GETARG_OID(0)));
	/* says what is wrong with it, if it is not just somebody else's */
	return ht != NULL ? ht : strata_hypertable_open(PG_GETARG_OID(0));
}

/*
 * show_chunks(relation, older_than, newer_than, created_before, created_after)
 */
Datum
strata_show_chunks(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	StrataHypertable *ht = get_hypertable(fcinfo);
	ChunkFilter filter;
	ListCell   *lc;

	read_filter(fcinfo, ht, 1, 2, 3, 4, &filter);
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	foreach(lc, strata_chunk_list(ht))
	{
		StrataChunk *chunk = lfirst(lc);
		Datum		value = ObjectIdGetDatum(chunk->relid);
		bool		isnull = false;

		if (is_wanted(chunk, &filter))
			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, &value,
								 &isnull);
	}
	return (Datum) 0;
}

/* The chunks to drop, locked; the hypertable first, as DROP TABLE does it. */
static List *
lock_chunks(const StrataHypertable *ht, const ChunkFilter *filter)
{
	List	   *wanted = NIL;
	ListCell   *lc;

	foreach(lc, strata_chunk_list(ht))
	{
		if (is_wanted(lfirst(lc), filter))
			wanted = lappend(wanted, lfirst(lc));
	}
	if (wanted == NIL)
		return NIL;
	Assert(strata_table_ownercheck(ht->relid, GetUserId()));	/* api:P1 */
	strata_rollup_lock_view_of(ht->relid);
	LockRelationOid(ht->relid, AccessExclusiveLock);
	foreach(lc, wanted)
	{
		Oid			relid = ((StrataChunk *) lfirst(lc))->relid;

		LockRelationOid(relid, AccessExclusiveLock);
		/* somebody may have been faster */
		if (!get_rel_relispartition(relid) ||
			get_partition_parent(relid, true) != ht->relid)
			wanted = foreach_delete_current(wanted, lc);
	}
	return wanted;
}

/*
 * drop_chunks(relation, older_than, newer_than, verbose, created_before,
 *			   created_after) -> names
 */
Datum
strata_drop_chunks(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	bool		verbose = !PG_ARGISNULL(3) && PG_GETARG_BOOL(3);
	StrataHypertable *ht;
	ChunkFilter filter;
	List	   *doomed = NIL;
	ListCell   *lc;

	PreventCommandIfReadOnly("drop_chunks()");
	PreventCommandIfParallelMode("drop_chunks()");
	if (PG_ARGISNULL(0))
		(void) get_hypertable(fcinfo);
	ht = strata_hypertable_open(PG_GETARG_OID(0));
	read_filter(fcinfo, ht, 1, 2, 4, 5, &filter);
	if (!filter.has_older && !filter.has_newer && !filter.has_before &&
		!filter.has_after)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid time range for dropping chunks"),
				 errhint("At least one of older_than, newer_than, created_before and created_after must be given.")));
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	foreach(lc, lock_chunks(ht, &filter))
		doomed = lappend_oid(doomed, ((StrataChunk *) lfirst(lc))->relid);
	if (doomed == NIL)
		return (Datum) 0;
	Assert(strata_table_ownercheck(ht->relid, GetUserId()));	/* api:P1 */
	doomed = strata_rollup_keep(ht->relid, doomed, strata_job_preloaded());
	foreach(lc, doomed)
	{
		char	   *name = strata_sql_name(lfirst_oid(lc));
		Datum		value = CStringGetTextDatum(name);
		bool		isnull = false;

		ereport(verbose ? INFO : DEBUG1, (errmsg("dropping chunk %s", name)));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, &value,
							 &isnull);
	}
	if (doomed != NIL)
		strata_chunk_drop(ht, doomed);
	return (Datum) 0;
}

/*
 * create_chunks(hypertable, range_start "any", range_end "any") -> how many
 * were made
 */
Datum
strata_create_chunks(PG_FUNCTION_ARGS)
{
	StrataHypertable *ht;
	Relation	rel;
	int64		from;
	int64		to;
	int			made;

	PreventCommandIfReadOnly("create_chunks()");
	PreventCommandIfParallelMode("create_chunks()");
	if (PG_ARGISNULL(0))
		(void) get_hypertable(fcinfo);
	ht = strata_hypertable_open(PG_GETARG_OID(0));
	if (!read_point(fcinfo, 1, "range_start", ht, false, &from))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" cannot be null", "range_start")));
	/* without an end: the one chunk of that moment */
	if (!read_point(fcinfo, 2, "range_end", ht, true, &to))
		to = from + 1;
	if (from == PG_INT64_MIN || from == PG_INT64_MAX || to == PG_INT64_MAX ||
		to < from)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid time range for making chunks"),
				 errhint("Its end must not be before its start, and both must be finite.")));
	Assert(strata_table_ownercheck(ht->relid, GetUserId()));	/* api:P1 */
	if (strata_table_is_distributed(ht->relid))
		/* in this session, so that Citus sees the statements */
		PG_RETURN_INT32(strata_chunk_create_range(ht, from, to, NULL));
	rel = table_open(ht->relid, AccessShareLock);
	made = strata_chunk_create_range(ht, from, to, rel);
	table_close(rel, NoLock);
	PG_RETURN_INT32(made);
}

/*
 * A bound as timestamptz, local time taken as UTC; the extremes, and days that
 * no timestamp reaches, are infinite.
 */
static Datum
bound_timestamp(Oid key_type, int64 time)
{
	int			overflow = 0;

	if (key_type == DATEOID)
	{
		DateADT		day = DatumGetDateADT(strata_time_to_datum(DATEOID, time));

		time = date2timestamp_opt_overflow(day, &overflow);
	}
	return TimestampTzGetDatum(time);
}

/*
 * chunk_info(chunk oid) -> (range_start, range_end, range_start_integer,
 *							 range_end_integer, created)
 */
Datum
strata_chunk_info(PG_FUNCTION_ARGS)
{
	StrataChunkRange range;
	TupleDesc	desc;
	Oid			key_type;
	TimestampTz created;
	Datum		values[5] = {0};
	bool		nulls[5] = {true, true, true, true, true};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (strata_chunk_range(PG_GETARG_OID(0), &key_type, &range))
	{
		bool		integer = strata_time_type_is_integer(key_type);
		int			first = integer ? 2 : 0;

		values[first] = integer ? Int64GetDatum(range.lo) :
			bound_timestamp(key_type, range.lo);
		values[first + 1] = integer ? Int64GetDatum(range.hi) :
			bound_timestamp(key_type, range.hi);
		nulls[first] = nulls[first + 1] = false;
	}
	if (strata_chunk_created(PG_GETARG_OID(0), &created))
	{
		values[4] = TimestampTzGetDatum(created);
		nulls[4] = false;
	}
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values,
											 nulls));
}

/*
 * dimension_of(hypertable oid) -> (column_name, column_type, time_interval,
 *									integer_interval, integer_now_func)
 */
Datum
strata_dimension_info(PG_FUNCTION_ARGS)
{
	StrataHypertable *ht = strata_hypertable_get(PG_GETARG_OID(0));
	TupleDesc	desc;
	NameData	column;
	Datum		values[5] = {0};
	bool		nulls[5] = {true, true, true, true, true};
	char	   *now;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	if (ht == NULL)
		return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values,
												 nulls));
	namestrcpy(&column, get_attname(ht->relid, ht->attno, false));
	values[0] = NameGetDatum(&column);
	values[1] = ObjectIdGetDatum(ht->has_function ?
								 ht->key_type :
								 get_atttype(ht->relid, ht->attno));
	nulls[0] = nulls[1] = false;
	if (strata_time_type_is_integer(ht->key_type))
	{
		values[3] = Int64GetDatum(ht->interval);
		nulls[3] = false;
	}
	else
	{
		values[2] = DirectFunctionCall3(interval_in,
										CStringGetDatum(strata_time_interval_to_text(ht->key_type,
																					 ht->interval)),
										ObjectIdGetDatum(InvalidOid),
										Int32GetDatum(-1));
		nulls[2] = false;
	}
	now = strata_settings_get_text(ht->relid, "integer_now_func");
	if (now != NULL)
	{
		values[4] = CStringGetTextDatum(now);
		nulls[4] = false;
	}
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values,
											 nulls));
}
