/*-------------------------------------------------------------------------
 *
 * job_ahead.c
 *	  The job that makes the next chunks of all hypertables.
 *
 * src/job/job_ahead.c
 *-------------------------------------------------------------------------
 */
#include "job/job_private.h"

#include "base/base.h"
#include "hypertable/hypertable.h"

#include "common/int.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(strata_policy_chunks_ahead);

/*
 * How often chunks are made ahead (sql/70_job.sql), and of how many short ones
 * at a time that takes care.
 */
#define AHEAD_SCHEDULE USECS_PER_HOUR
#define AHEAD_MOST 12

/*
 * How long each owner's tables may take, of the time that the job has, and one
 * of them at most and at least: code of an owner's (integer_now functions) may
 * take as long as it wants.
 */
#define AHEAD_RUNTIME_MS 600000
#define AHEAD_TABLE_MS STRATA_NOW_MS
#define AHEAD_LEAST_MS 100

/*
 * Is the hypertable being written to?  Then the chunk of the present time, or,
 * when that has just begun, the one before it, holds rows.  Others would
 * gather empty chunks for ever.
 */
static bool
is_active(const StrataHypertable *ht, int64 now)
{
	ListCell   *lc;
	int64		since;

	if (pg_sub_s64_overflow(now,
							strata_time_interval_length(ht->key_type,
														ht->interval),
							&since))
		return false;
	foreach(lc, strata_chunk_list(ht))
	{
		StrataChunk *chunk = lfirst(lc);
		bool		has_batches;

		if ((chunk->range.no_lo || chunk->range.lo <= now) &&
			(chunk->range.no_hi || chunk->range.hi > since) &&
			(strata_policy_fresh_rows(chunk->relid, &has_batches) ||
			 has_batches))
			return true;
	}
	return false;
}

/*
 * How many chunks to have after the present one: as many as are wanted, and
 * enough of short ones to last until the job runs again.
 */
static int
count_ahead(const StrataHypertable *ht)
{
	int64		needed = 0;

	if (!strata_time_type_is_integer(ht->key_type) && ht->key_type != DATEOID)
		needed = AHEAD_SCHEDULE /
			strata_time_interval_length(ht->key_type, ht->interval) + 1;
	return Max(strata_chunks_ahead, (int) Min(needed, AHEAD_MOST));
}

static void
ahead_work(Oid relid, void *arg)
{
	StrataHypertable *ht = strata_hypertable_get(relid);
	int64		now;

	/* a hypertable of integer time need not say what now is */
	if (ht == NULL || strata_chunks_ahead == 0 ||
		(strata_time_type_is_integer(ht->key_type) &&
		 strata_settings_get_text(relid, "integer_now_func") == NULL))
		return;
	now = strata_hypertable_now(ht);
	if (!is_active(ht, now))
		return;
	strata_policy_limit_waits();
	(void) strata_chunk_create_ahead(ht, now, count_ahead(ht));
}

/* ms for the tables of one owner. */
static int
owner_time(int32 id, uint64 owners)
{
	StrataJob  *job = strata_job_get(id);
	int64		ms = job == NULL ? 0 :
	job->max_runtime.time / 1000 +
	job->max_runtime.day * (USECS_PER_DAY / 1000);

	if (ms <= 0 || ms > AHEAD_RUNTIME_MS || job->max_runtime.month > 0)
		ms = AHEAD_RUNTIME_MS;
	return (int) (ms / Max(owners, 1));
}

/* A hypertable, and its owner. */
typedef struct AheadTable
{
	Oid			relid;
	Oid			owner;
} AheadTable;

/*
 * All hypertables, owner by owner, in an order that is another one each time:
 * whoever keeps those behind him from their turn does not do so for ever.
 */
static AheadTable *
list_ahead(uint64 *count, uint64 *owners)
{
	AheadTable *tables;
	bool		isnull;

	if (strata_sql_execute("SELECT h.relid, h.owner FROM _strata.hypertable h"
						   " JOIN (SELECT owner, random() AS place FROM (SELECT DISTINCT owner FROM _strata.hypertable) o) p USING (owner)"
						   " ORDER BY p.place, h.owner, random()", 0, NULL,
						   NULL, NULL, true) != SPI_OK_SELECT)
		elog(ERROR, "could not list hypertables");
	*count = SPI_processed;
	*owners = 0;
	tables = palloc(sizeof(AheadTable) * (*count + 1));
	for (uint64 i = 0; i < *count; i++)
	{
		HeapTuple	row = SPI_tuptable->vals[i];

		tables[i].relid = DatumGetObjectId(SPI_getbinval(row,
														 SPI_tuptable->tupdesc,
														 1, &isnull));
		tables[i].owner = DatumGetObjectId(SPI_getbinval(row,
														 SPI_tuptable->tupdesc,
														 2, &isnull));
		if (i == 0 || tables[i].owner != tables[i - 1].owner)
			(*owners)++;
	}
	return tables;
}

/*
 * CALL policy_chunks_ahead(job_id, config): for all hypertables; superusers
 * only.
 */
Datum
strata_policy_chunks_ahead(PG_FUNCTION_ARGS)
{
	StrataRun	run;
	uint64		count;
	uint64		owners;
	AheadTable *tables;
	int			time;
	TimestampTz end = 0;

	strata_run_begin(&run, fcinfo, true);
	tables = list_ahead(&count, &owners);
	time = owner_time(PG_ARGISNULL(0) ? 0 : PG_GETARG_INT32(0), owners);
	for (uint64 i = 0; i < count; i++)
	{
		long		left;

		if (i == 0 || tables[i].owner != tables[i - 1].owner)
			end = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), time);
		left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), end);
		run.limit = (int) Max(Min(left, AHEAD_TABLE_MS), AHEAD_LEAST_MS);
		strata_run_table(&run, tables[i].relid, ahead_work, NULL);
	}
	strata_run_end(&run, "given their next chunks");
	PG_RETURN_VOID();
}
