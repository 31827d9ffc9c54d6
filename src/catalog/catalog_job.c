/*-------------------------------------------------------------------------
 *
 * catalog_job.c
 *	  Jobs and their runs: the tables _strata.job, job_stat and job_history.
 *
 * Ordinary roles have no rights on these tables.  Every function here works as
 * the owner of the tables for the length of one statement; who may do what is
 * checked by the callers, above.  The statements are PostgreSQL's own UPDATEs,
 * so that concurrent changes of one row wait for each other instead of
 * failing.
 *
 * src/catalog/catalog_job.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "catalog/catalog_private.h"

#include "catalog/namespace.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

/*
 * Whose rights a job acts with: only what is the extension's own follows the
 * owner of a table, since a user's routine would run as whoever gets the
 * table.  The view strata.jobs says the same.
 */
#define JOB_OWNER \
	"CASE WHEN j.proc_schema = '_strata' THEN coalesce(c.relowner, j.owner::oid) ELSE j.owner::oid END"

/* Whose process runs it: the system's, or the owner's. */
#define JOB_ROLE \
	"CASE WHEN j.proc_schema = '_strata' AND (j.hypertable IS NOT NULL OR j.id < " CppAsString2(STRATA_JOB_FIRST_USER_ID) ")" \
	" THEN 0::oid ELSE j.owner::oid END"

/* Who shares the workers with others: roles, policies, the extension's jobs. */
#define JOB_SHARE \
	JOB_ROLE ", j.id < " CppAsString2(STRATA_JOB_FIRST_USER_ID)

/* The columns of a StrataJob, in the order read_job() takes them. */
#define JOB_COLUMNS \
	"j.id, j.name, j.schedule_interval, j.max_runtime, j.max_retries, j.retry_period," \
	" j.proc_schema, j.proc_name, " JOB_OWNER ", j.scheduled, j.fixed_schedule," \
	" j.initial_start, j.timezone, j.hypertable::oid, j.config, j.check_schema, j.check_name," \
	" s.next_start, s.last_start, s.last_finish, s.consecutive_failures, s.running_pid," \
	" j.owner::oid"
#define JOB_TABLES \
	" FROM _strata.job j LEFT JOIN _strata.job_stat s ON s.job_id = j.id" \
	" LEFT JOIN pg_catalog.pg_class c ON c.oid = j.hypertable"

static char *
column_text(HeapTuple tuple, int number)
{
	return SPI_getvalue(tuple, SPI_tuptable->tupdesc, number);
}

static Datum
column_default(HeapTuple tuple, int number, Datum otherwise)
{
	bool		isnull;
	Datum		value = strata_table_column(tuple, number, &isnull);

	return isnull ? otherwise : value;
}

/* A row of JOB_COLUMNS; in the current context. */
static StrataJob *
read_job(HeapTuple tuple)
{
	StrataJob  *job = palloc0(sizeof(StrataJob));
	bool		isnull;
	Datum		value;

	job->id = DatumGetInt32(strata_table_column(tuple, 1, &isnull));
	job->name = column_text(tuple, 2);
	job->schedule_interval = *DatumGetIntervalP(strata_table_column(tuple, 3,
																	&isnull));
	job->max_runtime = *DatumGetIntervalP(strata_table_column(tuple, 4,
															  &isnull));
	job->max_retries = DatumGetInt32(strata_table_column(tuple, 5, &isnull));
	job->retry_period = *DatumGetIntervalP(strata_table_column(tuple, 6,
															   &isnull));
	job->proc_schema = column_text(tuple, 7);
	job->proc_name = column_text(tuple, 8);
	job->owner = DatumGetObjectId(strata_table_column(tuple, 9, &isnull));
	job->scheduled = DatumGetBool(strata_table_column(tuple, 10, &isnull));
	job->fixed_schedule = DatumGetBool(strata_table_column(tuple, 11,
														   &isnull));
	value = strata_table_column(tuple, 12, &isnull);
	job->has_initial_start = !isnull;
	job->initial_start = isnull ? 0 : DatumGetTimestampTz(value);
	job->timezone = column_text(tuple, 13);
	job->hypertable =
		DatumGetObjectId(column_default(tuple, 14,
										ObjectIdGetDatum(InvalidOid)));
	value = strata_table_column(tuple, 15, &isnull);
	job->has_config = !isnull;
	job->config = isnull ? (Datum) 0 :
		PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
	job->check_schema = column_text(tuple, 16);
	job->check_name = column_text(tuple, 17);
	value = strata_table_column(tuple, 18, &isnull);
	job->has_stat = !isnull;
	job->next_start = isnull ? 0 : DatumGetTimestampTz(value);
	job->last_start =
		DatumGetTimestampTz(column_default(tuple, 19, TimestampTzGetDatum(0)));
	value = strata_table_column(tuple, 20, &isnull);
	job->has_last_finish = !isnull;
	job->last_finish = isnull ? 0 : DatumGetTimestampTz(value);
	job->consecutive_failures =
		DatumGetInt32(column_default(tuple, 21, Int32GetDatum(0)));
	job->running_pid = DatumGetInt32(column_default(tuple, 22,
													Int32GetDatum(0)));
	job->named_owner = DatumGetObjectId(strata_table_column(tuple, 23,
															&isnull));
	return job;
}

/* The jobs a query gives, in the caller's context. */
static List *
query_jobs(const char *sql, StrataTableArgs *args)
{
	StrataTablesContext saved;
	List	   *jobs = NIL;

	strata_tables_enter(&saved);
	strata_tables_execute(sql, args, SPI_OK_SELECT);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(saved.mcxt);

		jobs = lappend(jobs, read_job(SPI_tuptable->vals[i]));
		MemoryContextSwitchTo(old);
	}
	strata_tables_leave(&saved);
	return jobs;
}

/* See catalog.h. */
StrataJob *
strata_job_get(int32 id)
{
	StrataTableArgs args = {0};
	List	   *jobs;

	strata_arg_add(&args, INT4OID, Int32GetDatum(id), false);
	jobs = query_jobs("SELECT " JOB_COLUMNS JOB_TABLES " WHERE j.id = $1",
					  &args);
	return jobs != NIL ? linitial(jobs) : NULL;
}

/* See catalog.h. */
List *
strata_job_list(StrataJobFilter filter)
{
	StrataTableArgs args = {0};

	switch (filter)
	{
		case STRATA_JOB_DUE:
			return query_jobs("SELECT " JOB_COLUMNS JOB_TABLES
							  " JOIN (SELECT j.id,"
							  " pg_catalog.row_number() OVER (PARTITION BY " JOB_SHARE
							  " ORDER BY s.running_pid IS NULL, NOT j.scheduled, s.next_start, j.id) AS place,"
							  " pg_catalog.max(s.last_start) OVER (PARTITION BY " JOB_SHARE ") AS served"
							  " FROM _strata.job j JOIN _strata.job_stat s ON s.job_id = j.id) p USING (id)"
							  " WHERE j.scheduled AND s.running_pid IS NULL"
							  " AND s.next_start <= pg_catalog.clock_timestamp()"
							  " ORDER BY p.place, p.served NULLS FIRST, s.next_start, j.id LIMIT 100",
							  &args);
		case STRATA_JOB_RUNNING:
			return query_jobs("SELECT " JOB_COLUMNS JOB_TABLES
							  " WHERE s.running_pid IS NOT NULL", &args);
		case STRATA_JOB_WITHOUT_STAT:
			return query_jobs("SELECT " JOB_COLUMNS JOB_TABLES
							  " WHERE s.job_id IS NULL",
							  &args);
	}
	return NIL;
}

/* See catalog.h. */
int32
strata_job_find_policy(const char *proc_name, Oid hypertable)
{
	StrataTableArgs args = {0};
	StrataTablesContext saved;
	int32		id = 0;
	bool		isnull;

	strata_arg_text(&args, proc_name);
	strata_arg_add(&args, OIDOID, ObjectIdGetDatum(hypertable), false);
	strata_tables_enter(&saved);
	strata_tables_execute("SELECT id FROM _strata.job WHERE proc_schema = '_strata' AND proc_name = $1 AND hypertable = $2",
						  &args, SPI_OK_SELECT);
	if (SPI_processed > 0)
		id = DatumGetInt32(strata_table_column(SPI_tuptable->vals[0], 1,
											   &isnull));
	strata_tables_leave(&saved);
	return id;
}

/* See catalog.h. */
List *
strata_job_list_policies(const char *proc_name, Oid hypertable)
{
	StrataTableArgs args = {0};

	strata_arg_text(&args, proc_name);
	strata_arg_add(&args, OIDOID, ObjectIdGetDatum(hypertable), false);
	return query_jobs("SELECT " JOB_COLUMNS JOB_TABLES
					  " WHERE j.proc_schema = '_strata' AND j.proc_name = $1"
					  " AND j.hypertable = $2 ORDER BY j.id", &args);
}

/* Execute one statement that gives no rows to be read; how many it met. */
static int
run_on_jobs(const char *sql, StrataTableArgs *args, int expected)
{
	StrataTablesContext saved;
	int			met;

	strata_tables_enter(&saved);
	strata_tables_execute(sql, args, expected);
	met = (int) SPI_processed;
	strata_tables_leave(&saved);
	return met;
}

/* See catalog.h. */
void
strata_job_lock(int32 id)
{
	StrataTableArgs args = {0};

	strata_arg_add(&args, INT4OID, Int32GetDatum(id), false);
	run_on_jobs("SELECT FROM _strata.job WHERE id = $1 FOR UPDATE",
				&args, SPI_OK_SELECT);
}

/* See catalog.h. */
void
strata_job_lock_of_role(Oid role)
{
	StrataTableArgs args = {0};

	strata_arg_add(&args, OIDOID, ObjectIdGetDatum(role), false);
	run_on_jobs("SELECT FROM _strata.job WHERE owner::oid = $1 ORDER BY id FOR UPDATE",
				&args, SPI_OK_SELECT);
}

/* See catalog.h. */
List *
strata_job_list_of_role(Oid role)
{
	StrataTableArgs args = {0};

	strata_arg_add(&args, OIDOID, ObjectIdGetDatum(role), false);
	return query_jobs("SELECT " JOB_COLUMNS JOB_TABLES
					  " WHERE j.owner::oid = $1 ORDER BY j.id", &args);
}

/* The columns that insert and update write, $2 and on; $1 is the id. */
static void
add_job_columns(StrataTableArgs *args, const StrataJob *job)
{
	strata_arg_add(args, INT4OID, Int32GetDatum(job->id), false);
	strata_arg_text(args, job->name);
	strata_arg_add(args, INTERVALOID,
				   IntervalPGetDatum(&job->schedule_interval), false);
	strata_arg_add(args, INTERVALOID, IntervalPGetDatum(&job->max_runtime),
				   false);
	strata_arg_add(args, INT4OID, Int32GetDatum(job->max_retries), false);
	strata_arg_add(args, INTERVALOID, IntervalPGetDatum(&job->retry_period),
				   false);
	strata_arg_text(args, job->proc_schema);
	strata_arg_text(args, job->proc_name);
	strata_arg_add(args, OIDOID, ObjectIdGetDatum(job->named_owner), false);
	strata_arg_add(args, BOOLOID, BoolGetDatum(job->scheduled), false);
	strata_arg_add(args, BOOLOID, BoolGetDatum(job->fixed_schedule), false);
	strata_arg_add(args, TIMESTAMPTZOID,
				   TimestampTzGetDatum(job->initial_start),
				   !job->has_initial_start);
	strata_arg_text(args, job->timezone);
	strata_arg_add(args, OIDOID, ObjectIdGetDatum(job->hypertable),
				   !OidIsValid(job->hypertable));
	strata_arg_add(args, JSONBOID, job->config, !job->has_config);
	strata_arg_text(args, job->check_schema);
	strata_arg_text(args, job->check_name);
}

/* See catalog.h. */
void
strata_job_insert(StrataJob *job)
{
	StrataTableArgs args = {0};
	StrataTablesContext saved;
	bool		isnull;

	add_job_columns(&args, job);
	strata_tables_enter(&saved);
	strata_tables_execute("INSERT INTO _strata.job (id, name, schedule_interval, max_runtime, max_retries, retry_period,"
						  " proc_schema, proc_name, owner, scheduled, fixed_schedule, initial_start, timezone, hypertable,"
						  " config, check_schema, check_name)"
						  " VALUES (CASE WHEN $1 > 0 THEN $1 ELSE pg_catalog.nextval('_strata.job_id_seq') END,"
						  " $2, $3, $4, $5, $6, $7, $8, $9::regrole, $10, $11, $12, $13, $14::regclass, $15, $16, $17)"
						  " RETURNING id",
						  &args, SPI_OK_INSERT_RETURNING);
	job->id = DatumGetInt32(strata_table_column(SPI_tuptable->vals[0], 1,
												&isnull));
	strata_tables_leave(&saved);
}

/* See catalog.h. */
void
strata_job_update(const StrataJob *job)
{
	StrataTableArgs args = {0};

	add_job_columns(&args, job);
	run_on_jobs("UPDATE _strata.job SET name = $2, schedule_interval = $3, max_runtime = $4, max_retries = $5,"
				" retry_period = $6, proc_schema = $7, proc_name = $8, owner = $9::regrole, scheduled = $10,"
				" fixed_schedule = $11, initial_start = $12, timezone = $13, hypertable = $14::regclass,"
				" config = $15, check_schema = $16, check_name = $17 WHERE id = $1",
				&args, SPI_OK_UPDATE);
}

/* See catalog.h. */
void
strata_job_delete(int32 id)
{
	StrataTableArgs args = {0};
	StrataTablesContext saved;

	strata_arg_add(&args, INT4OID, Int32GetDatum(id), false);
	strata_tables_enter(&saved);
	strata_tables_execute("DELETE FROM _strata.job_stat WHERE job_id = $1",
						  &args,
						  SPI_OK_DELETE);
	strata_tables_execute("DELETE FROM _strata.job WHERE id = $1", &args,
						  SPI_OK_DELETE);
	strata_tables_leave(&saved);
}

/* See catalog.h. */
void
strata_job_delete_of(Oid relid)
{
	StrataTableArgs args = {0};

	strata_arg_add(&args, OIDOID, ObjectIdGetDatum(relid), false);
	run_on_jobs("WITH gone AS (DELETE FROM _strata.job WHERE hypertable = $1 RETURNING id)"
				" DELETE FROM _strata.job_stat s USING gone WHERE s.job_id = gone.id",
				&args, SPI_OK_DELETE);
}

/* See catalog.h. */
int
strata_job_delete_orphans(void)
{
	StrataTableArgs args = {0};

	return run_on_jobs("WITH gone AS (DELETE FROM _strata.job j WHERE hypertable IS NOT NULL AND NOT EXISTS"
					   " (SELECT FROM pg_catalog.pg_class c WHERE c.oid = j.hypertable) RETURNING id)"
					   " DELETE FROM _strata.job_stat s USING gone WHERE s.job_id = gone.id",
					   &args, SPI_OK_DELETE);
}

/* See catalog.h. */
void
strata_job_set_next_start(int32 id, TimestampTz next_start)
{
	StrataTableArgs args = {0};

	strata_arg_add(&args, INT4OID, Int32GetDatum(id), false);
	strata_arg_add(&args, TIMESTAMPTZOID, TimestampTzGetDatum(next_start),
				   false);
	run_on_jobs("INSERT INTO _strata.job_stat (job_id, next_start) VALUES ($1, $2)"
				" ON CONFLICT (job_id) DO UPDATE SET next_start = excluded.next_start, restored = false",
				&args, SPI_OK_INSERT);
}

/* See catalog.h. */
void
strata_job_set_restored(int32 id)
{
	StrataTableArgs args = {0};

	strata_arg_add(&args, INT4OID, Int32GetDatum(id), false);
	run_on_jobs("UPDATE _strata.job_stat SET restored = true WHERE job_id = $1",
				&args, SPI_OK_UPDATE);
}

/* See catalog.h. */
bool
strata_job_any_restored(void)
{
	StrataTableArgs args = {0};

	return run_on_jobs("SELECT FROM _strata.job_stat WHERE restored LIMIT 1",
					   &args, SPI_OK_SELECT) > 0;
}

/* See catalog.h. */
void
strata_job_start_restored(TimestampTz soon)
{
	StrataTableArgs args = {0};

	strata_arg_add(&args, TIMESTAMPTZOID, TimestampTzGetDatum(soon), false);
	run_on_jobs("UPDATE _strata.job_stat s SET restored = false,"
				" next_start = CASE WHEN j.proc_schema = '_strata' OR NOT j.fixed_schedule"
				" THEN least(s.next_start, $1) ELSE s.next_start END"
				" FROM _strata.job j WHERE j.id = s.job_id AND s.restored",
				&args, SPI_OK_UPDATE);
}

/* See catalog.h. */
bool
strata_job_claim(int32 id)
{
	StrataTableArgs args = {0};

	strata_arg_add(&args, INT4OID, Int32GetDatum(id), false);
	strata_arg_add(&args, INT4OID, Int32GetDatum(MyProcPid), false);
	return run_on_jobs("UPDATE _strata.job_stat s SET running_pid = $2, last_start = pg_catalog.clock_timestamp(),"
					   " total_runs = total_runs + 1"
					   " FROM _strata.job j WHERE j.id = $1 AND s.job_id = $1 AND j.scheduled AND s.running_pid IS NULL"
					   " AND s.next_start <= pg_catalog.clock_timestamp()",
					   &args, SPI_OK_UPDATE) > 0;
}

/* See catalog.h. */
bool
strata_job_finish(const StrataJob *job, TimestampTz finish,
				  TimestampTz next_start, int32 pid,
				  const StrataJobError *error)
{
	StrataTableArgs args = {0};
	StrataTablesContext saved;

	strata_arg_add(&args, INT4OID, Int32GetDatum(job->id), false);
	strata_arg_add(&args, TIMESTAMPTZOID, TimestampTzGetDatum(finish), false);
	strata_arg_add(&args, TIMESTAMPTZOID, TimestampTzGetDatum(next_start),
				   false);
	strata_arg_add(&args, BOOLOID, BoolGetDatum(error == NULL), false);
	strata_arg_add(&args, BOOLOID, BoolGetDatum(error != NULL && error->crash),
				   false);
	strata_arg_add(&args, INT4OID, Int32GetDatum(pid), false);
	strata_arg_add(&args, TIMESTAMPTZOID, TimestampTzGetDatum(job->last_start),
				   false);
	strata_tables_enter(&saved);
	/* a next_start that alter_job set while the job ran stands */
	strata_tables_execute("UPDATE _strata.job_stat SET running_pid = NULL, last_finish = $2,"
						  " next_start = CASE WHEN next_start > last_start THEN next_start ELSE $3 END,"
						  " last_success = $4, last_successful_finish = CASE WHEN $4 THEN $2 ELSE last_successful_finish END,"
						  " last_duration = $2 - last_start, total_duration = total_duration + ($2 - last_start),"
						  " total_successes = total_successes + $4::int, total_failures = total_failures + (NOT $4)::int,"
						  " total_crashes = total_crashes + $5::int,"
						  " consecutive_failures = CASE WHEN $4 THEN 0 ELSE consecutive_failures + 1 END"
						  " WHERE job_id = $1 AND running_pid = $6 AND last_start = $7",
						  &args, SPI_OK_UPDATE);
	if (SPI_processed == 0)
	{
		strata_tables_leave(&saved);
		return false;
	}

	memset(&args, 0, sizeof(args));
	strata_arg_add(&args, INT4OID, Int32GetDatum(job->id), false);
	strata_arg_add(&args, INT4OID, Int32GetDatum(pid), false);
	strata_arg_add(&args, TIMESTAMPTZOID, TimestampTzGetDatum(job->last_start),
				   false);
	strata_arg_add(&args, TIMESTAMPTZOID, TimestampTzGetDatum(finish), false);
	strata_arg_add(&args, BOOLOID, BoolGetDatum(error == NULL), false);
	strata_arg_text(&args, job->proc_schema);
	strata_arg_text(&args, job->proc_name);
	strata_arg_add(&args, OIDOID, ObjectIdGetDatum(job->owner), false);
	strata_arg_add(&args, JSONBOID, job->config, !job->has_config);
	strata_arg_text(&args, error != NULL && error->sqlerrcode != 0 ?
					unpack_sql_state(error->sqlerrcode) :
					NULL);
	strata_arg_text(&args, error != NULL ? error->message : NULL);
	strata_arg_text(&args, error != NULL ? error->detail : NULL);
	strata_arg_text(&args, error != NULL ? error->hint : NULL);
	strata_arg_text(&args, error != NULL ? error->context : NULL);
	strata_tables_execute("INSERT INTO _strata.job_history (job_id, pid, start_time, finish_time, succeeded, proc_schema,"
						  " proc_name, owner, config, sqlerrcode, err_message, err_detail, err_hint, err_context)"
						  " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
						  &args, SPI_OK_INSERT);
	/* a listener who does not read keeps no run from being recorded */
	if (error != NULL)
		strata_tables_execute("SELECT pg_catalog.pg_notify('strata_job_failed', $1::text)"
							  " WHERE pg_catalog.pg_notification_queue_usage() < 0.9",
							  &args, SPI_OK_SELECT);
	strata_tables_leave(&saved);
	return true;
}

/* See catalog.h. */
TimestampTz
strata_job_earliest(void)
{
	StrataTableArgs args = {0};
	StrataTablesContext saved;
	bool		isnull;
	TimestampTz earliest = DT_NOEND;
	Datum		value;

	strata_tables_enter(&saved);
	strata_tables_execute("SELECT min(s.next_start) FROM _strata.job j JOIN _strata.job_stat s ON s.job_id = j.id"
						  " WHERE j.scheduled AND s.running_pid IS NULL",
						  &args, SPI_OK_SELECT);
	value = strata_table_column(SPI_tuptable->vals[0], 1, &isnull);
	if (!isnull)
		earliest = DatumGetTimestampTz(value);
	strata_tables_leave(&saved);
	return Min(earliest, strata_space_queue_earliest());
}
