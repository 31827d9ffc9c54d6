/*-------------------------------------------------------------------------
 *
 * job_policy_run.c
 *	  What policies do: compress, drop and reorder chunks.
 *
 * Each chunk is a piece of work of its own (job_run.c).
 *
 * src/job/job_policy_run.c
 *-------------------------------------------------------------------------
 */
#include "job/job_private.h"

#include "base/base.h"
#include "hypertable/hypertable.h"
#include "store/store.h"
#include "job/job.h"
#include "rollup/rollup.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "tcop/pquery.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(strata_policy_compression);
PG_FUNCTION_INFO_V1(strata_policy_retention);
PG_FUNCTION_INFO_V1(strata_policy_reorder);

/* The latest chunks are still written to: reordering them is for nothing. */
#define REORDER_LEAVES 3

/* Batches beyond what the rows need, at which merging them pays: a half. */
#define TOO_MANY_BATCHES 1.5

/* See job_private.h. */
StrataHypertable *
strata_policy_open(FunctionCallInfo fcinfo)
{
	StrataHypertable *ht;
	StrataJob  *job;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
						errmsg("job_id and config cannot be null")));
	job = strata_job_get(PG_GETARG_INT32(0));
	if (job == NULL || !OidIsValid(job->hypertable))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("job %d is not a policy", PG_GETARG_INT32(0))));
	if (!has_privs_of_role(GetUserId(), job->owner))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE,
					   get_rel_name(job->hypertable));
	ht = strata_hypertable_get(job->hypertable);
	if (ht == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("the table of job %d is not a hypertable", job->id),
				 errhint("SELECT delete_job(%d);", job->id)));
	return ht;
}

/* See job_private.h. */
char *
strata_policy_config(Datum config, const char *key)
{
	JsonbValue	buffer;
	JsonbValue *value;

	if (!JB_ROOT_IS_OBJECT(DatumGetJsonbP(config)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the config of a policy must be an object")));
	value = getKeyJsonValueFromContainer(&DatumGetJsonbP(config)->root, key,
										 (int) strlen(key), &buffer);

	if (value == NULL || value->type == jbvNull)
		return NULL;
	if (value->type == jbvString)
		return pnstrdup(value->val.string.val, value->val.string.len);
	if (value->type == jbvNumeric)
		return DatumGetCString(DirectFunctionCall1(numeric_out,
												   NumericGetDatum(value->val.numeric)));
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("\"%s\" in the config of a policy must be a number or a string",
					key)));
}

/* Which chunks a policy is for, and what list_work() found. */
typedef struct Selection
{
	const StrataHypertable *ht;
	Datum		config;
	const char *after;
	const char *created_before;
	List	   *chunks;
} Selection;

/*
 * The chunks (OIDs) that are older than the config says, oldest first.  Work
 * on the hypertable, because its integer_now function runs.
 */
static void
list_work(Oid relid, void *arg)
{
	Selection  *selection = arg;
	const StrataHypertable *ht = selection->ht;
	const char *after = selection->after;
	const char *created_before = selection->created_before;
	char	   *age = strata_policy_config(selection->config, after);
	char	   *created = strata_policy_config(selection->config,
											   created_before);
	int64		limit = 0;
	TimestampTz made_before = 0;
	ListCell   *lc;

	if ((age == NULL) == (created == NULL))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the config of the policy must have one of \"%s\" and \"%s\"",
						after, created_before)));
	if (age != NULL && strata_time_type_is_integer(ht->key_type))
	{
		int64		now = strata_hypertable_now(ht);
		int64		distance;

		distance = DatumGetInt64(DirectFunctionCall1(int8in,
													 CStringGetDatum(age)));
		if (pg_sub_s64_overflow(now, distance, &limit))
			return;
	}
	else if (age != NULL)
		limit = strata_hypertable_point(ht, INTERVALOID,
										strata_policy_parse_interval(age),
										after, false);
	else
		made_before = DatumGetTimestampTz(DirectFunctionCall2(
															  timestamptz_mi_interval,
															  TimestampTzGetDatum(GetCurrentTimestamp()), strata_policy_parse_interval(created)));
	foreach(lc, strata_chunk_list(ht))
	{
		StrataChunk *chunk = lfirst(lc);
		TimestampTz made;

		if (age != NULL ? (!chunk->range.no_hi && chunk->range.hi <= limit) :
			(strata_chunk_created(chunk->relid, &made) && made < made_before))
			selection->chunks = lappend_oid(selection->chunks, chunk->relid);
	}
}

static void compress_work(Oid relid, void *arg);

/* See job_private.h. */
void
strata_policy_limit_waits(void)
{
	(void) set_config_option("lock_timeout", "10s", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
}

/* A partition that was a heap before its table became a hypertable. */
static void
adopt_work(Oid relid, void *arg)
{
	strata_policy_limit_waits();
	(void) strata_table_adopt_heap(relid);
}

/*
 * Chunks that are heaps use strata from now on, each after a lock of its own
 * that is not kept while rows are compressed.  One that cannot is a failure.
 */
static void
adopt_heaps(StrataRun *run, List **chunks)
{
	List	   *ready = NIL;
	ListCell   *lc;

	foreach(lc, *chunks)
	{
		int			failed = run->failed;

		if (strata_table_is_heap(lfirst_oid(lc)))
			strata_run_table(run, lfirst_oid(lc), adopt_work, NULL);
		if (run->failed == failed)
			ready = lappend_oid(ready, lfirst_oid(lc));
	}
	*chunks = ready;
	run->done = 0;
}

/* Work on all chunks of a selection. */
static void
run_selection(FunctionCallInfo fcinfo, Selection *selection,
			  StrataRunWork work,
			  void *arg, const char *what)
{
	StrataRun	run;
	ListCell   *lc;

	selection->config = PG_GETARG_DATUM(1);
	strata_run_begin(&run, fcinfo, true);
	run.limit = STRATA_NOW_MS;
	strata_run_table(&run, selection->ht->relid, list_work, selection);
	run.limit = 0;
	run.done = 0;
	if (work == compress_work)
		adopt_heaps(&run, &selection->chunks);
	foreach(lc, selection->chunks)
		strata_run_table(&run, lfirst_oid(lc), work, arg);
	strata_run_end(&run, what);
}

/* See job_private.h. */
bool
strata_policy_fresh_rows(Oid relid, bool *has_batches)
{
	Relation	rel = try_table_open(relid, AccessShareLock);
	bool		fresh = false;

	*has_batches = false;
	if (rel == NULL)
		return false;
	if (strata_relation_is_strata(rel))
	{
		*has_batches = OidIsValid(strata_companion_oid(rel));
		fresh = RelationGetNumberOfBlocks(rel) > 0;
	}
	table_close(rel, AccessShareLock);
	return fresh;
}

/* Have late rows left the chunk with many more batches than its rows need? */
static bool
needs_merge(Oid relid)
{
	Oid			types[3] = {OIDOID, INT4OID, FLOAT8OID};
	Datum		values[3] = {ObjectIdGetDatum(relid),
		Int32GetDatum(strata_batch_rows),
	Float8GetDatum(TOO_MANY_BATCHES)};
	Datum		value;
	bool		isnull;
	bool		result;

	if (strata_sql_execute("SELECT sum(n) > sum(least_n) * $3 + 1 FROM (SELECT count(*) AS n,"
						   " ceil(sum(nrows)::numeric / $2)::float8 AS least_n"
						   " FROM strata.batches($1::regclass) GROUP BY segment) s",
						   3, types, values, NULL, true) != SPI_OK_SELECT ||
		SPI_processed != 1)
		return false;
	value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1,
						  &isnull);
	result = !isnull && DatumGetBool(value);
	SPI_freetuptable(SPI_tuptable);
	return result;
}

/*
 * As compress_chunk(relid, true, recompress) does; the table is a chunk of the
 * owner we are.
 */
static void
compress_table(Oid relid, bool recompress)
{
	Relation	rel = table_open(relid, ExclusiveLock);

	if (strata_relation_is_strata(rel))
		strata_table_compress_chunk(rel, true, recompress);
	table_close(rel, NoLock);
}

static void
compress_work(Oid relid, void *arg)
{
	bool		had_batches;
	bool	   *merge = arg;

	strata_policy_limit_waits();
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)) ||
		!strata_policy_fresh_rows(relid, &had_batches))
		return;
	compress_table(relid, false);
	if (!had_batches || !*merge)
		return;
	CommandCounterIncrement();
	if (needs_merge(relid))
		compress_table(relid, true);
}

/* CALL policy_compression(job_id, config) */
Datum
strata_policy_compression(PG_FUNCTION_ARGS)
{
	Selection	selection = {strata_policy_open(fcinfo), 0, "compress_after",
	"compress_created_before"};
	char	   *setting = strata_policy_config(PG_GETARG_DATUM(1), "recompress");
	bool		merge = setting == NULL || strcmp(setting, "off") != 0;

	run_selection(fcinfo, &selection, compress_work, &merge, "compressed");
	PG_RETURN_VOID();
}

/* What is made of the rows is kept where there are continuous aggregates. */
static void
drop_work(Oid relid, void *arg)
{
	const StrataHypertable *ht = arg;

	strata_policy_limit_waits();
	strata_rollup_lock_view_of(ht->relid);
	LockRelationOid(ht->relid, AccessExclusiveLock);
	LockRelationOid(relid, AccessExclusiveLock);
	/* somebody may have been faster */
	if (get_rel_relispartition(relid) &&
		get_partition_parent(relid, true) == ht->relid)
	{
		List	   *chunks;

		chunks = strata_rollup_keep(ht->relid, list_make1_oid(relid),
									strata_job_preloaded());
		if (chunks != NIL)
			strata_chunk_drop(ht, chunks);
	}
}

/* Chunks (OIDs) that end by then. */
static List *
chunks_before(const StrataHypertable *ht, int64 limit)
{
	List	   *chunks = NIL;
	ListCell   *lc;

	foreach(lc, strata_chunk_list(ht))
	{
		StrataChunk *chunk = lfirst(lc);

		if (!chunk->range.no_hi && chunk->range.hi <= limit)
			chunks = lappend_oid(chunks, chunk->relid);
	}
	return chunks;
}

/* See job_private.h. */
void
strata_policy_compress_chunks(StrataRun *run, StrataHypertable *ht,
							  int64 limit)
{
	bool		merge = true;
	ListCell   *lc;

	foreach(lc, chunks_before(ht, limit))
		strata_run_table(run, lfirst_oid(lc), compress_work, &merge);
}

/* See job_private.h. */
void
strata_policy_drop_chunks(StrataRun *run, StrataHypertable *ht, int64 limit,
						  Oid finer, Oid wider)
{
	ListCell   *lc;

	foreach(lc, chunks_before(ht, limit))
	{
		Assert(OidIsValid(finer) || !OidIsValid(wider));	/* rollup:Z8 */
		if (!OidIsValid(wider) ||
			strata_rollup_is_kept_above(lfirst_oid(lc), finer, wider))
			strata_run_table(run, lfirst_oid(lc), drop_work, ht);
	}
}

/* CALL policy_retention(job_id, config) */
Datum
strata_policy_retention(PG_FUNCTION_ARGS)
{
	Selection	selection = {strata_policy_open(fcinfo), 0, "drop_after",
	"drop_created_before"};

	run_selection(fcinfo, &selection, drop_work,
				  unconstify(StrataHypertable *, selection.ht), "dropped");
	PG_RETURN_VOID();
}

/* Once per chunk; compressed rows have their own order. */
static void
reorder_work(Oid relid, void *arg)
{
	Oid			index;
	bool		has_batches;
	StrataOwnerContext saved;

	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
		return;
	index = strata_chunk_index(relid, *(Oid *) arg);
	if (!OidIsValid(index) || get_index_isclustered(index) ||
		!strata_policy_fresh_rows(relid, &has_batches) || has_batches)
		return;
	strata_policy_limit_waits();
	strata_owner_enter(GetUserId(), &saved);
	strata_sql_run(psprintf("CLUSTER %s USING %s",
							strata_sql_name(relid),
							quote_identifier(get_rel_name(index))));
	strata_owner_leave(&saved);
}

/* CALL policy_reorder(job_id, config) */
Datum
strata_policy_reorder(PG_FUNCTION_ARGS)
{
	StrataHypertable *ht = strata_policy_open(fcinfo);
	char	   *name = strata_policy_config(PG_GETARG_DATUM(1), "index_name");
	Oid			index;
	List	   *chunks = strata_chunk_list(ht);
	StrataRun	run;

	index = name != NULL ?
		get_relname_relid(name, get_rel_namespace(ht->relid)) : InvalidOid;
	if (!OidIsValid(index))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("index \"%s\" of the reorder policy does not exist",
						name != NULL ? name : "")));
	strata_run_begin(&run, fcinfo, true);
	for (int i = 0; i < list_length(chunks) - REORDER_LEAVES; i++)
		strata_run_table(&run, ((StrataChunk *) list_nth(chunks, i))->relid,
						 reorder_work, &index);
	strata_run_end(&run, "reordered");
	PG_RETURN_VOID();
}
