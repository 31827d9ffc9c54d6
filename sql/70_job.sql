-- Jobs.  A dump keeps users' jobs (id from 1000 on), not their runs.
CREATE SEQUENCE _strata.job_id_seq AS integer MINVALUE 1000;

CREATE TABLE _strata.job (
	id integer PRIMARY KEY,
	name text NOT NULL,
	schedule_interval interval NOT NULL CHECK (schedule_interval > '0' AND pg_catalog.isfinite(schedule_interval)),
	max_runtime interval NOT NULL CHECK (max_runtime >= '0' AND pg_catalog.isfinite(max_runtime)),
	max_retries integer NOT NULL CHECK (max_retries >= -1),
	retry_period interval NOT NULL CHECK (retry_period >= '0' AND pg_catalog.isfinite(retry_period)),
	proc_schema name NOT NULL,
	proc_name name NOT NULL,
	owner regrole NOT NULL,
	scheduled boolean NOT NULL,
	fixed_schedule boolean NOT NULL,
	initial_start timestamptz,
	timezone text,
	hypertable regclass,
	config jsonb,
	check_schema name,
	check_name name
);
COMMENT ON TABLE _strata.job IS 'jobs; see strata.jobs';
CREATE INDEX job_hypertable ON _strata.job (hypertable);

CREATE TABLE _strata.job_stat (
	job_id integer PRIMARY KEY,
	next_start timestamptz NOT NULL CHECK (next_start > '-infinity'),
	restored boolean NOT NULL DEFAULT false, -- and the restore may be going on
	running_pid integer,
	last_start timestamptz,
	last_finish timestamptz,
	last_success boolean,
	last_successful_finish timestamptz,
	last_duration interval,
	total_duration interval NOT NULL DEFAULT '0',
	total_runs bigint NOT NULL DEFAULT 0,
	total_successes bigint NOT NULL DEFAULT 0,
	total_failures bigint NOT NULL DEFAULT 0,
	total_crashes bigint NOT NULL DEFAULT 0,
	consecutive_failures integer NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
COMMENT ON TABLE _strata.job_stat IS 'next start and counts of each job; see strata.job_stats';

CREATE TABLE _strata.job_history (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	job_id integer NOT NULL,
	pid integer,
	start_time timestamptz NOT NULL,
	finish_time timestamptz NOT NULL,
	succeeded boolean NOT NULL,
	proc_schema name NOT NULL,
	proc_name name NOT NULL,
	owner oid NOT NULL,
	config jsonb,
	sqlerrcode text,
	err_message text,
	err_detail text,
	err_hint text,
	err_context text
);
COMMENT ON TABLE _strata.job_history IS 'runs of jobs; see strata.job_history';
CREATE INDEX job_history_job ON _strata.job_history (job_id, id);
CREATE INDEX job_history_time ON _strata.job_history (start_time);

-- Tables whose freed space is to be given back in the background.  A dump has
-- no use for it: a restored table has no such space.
CREATE TABLE _strata.space_queue (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	relation oid NOT NULL,
	batches boolean NOT NULL,
	before bigint NOT NULL,
	since timestamptz NOT NULL DEFAULT pg_catalog.now(),
	tries integer NOT NULL DEFAULT 0,
	next_try timestamptz NOT NULL DEFAULT pg_catalog.now(),
	waits_for text
) WITH (fillfactor = 50);
COMMENT ON TABLE _strata.space_queue IS
'tables whose rows or batches were removed by transactions before "before" (a full transaction ID): VACUUM and REINDEX are due; waits_for: NULL, snapshot, lock, or an error; see strata.problems';
CREATE INDEX space_queue_relation ON _strata.space_queue (relation);
CREATE INDEX space_queue_next_try ON _strata.space_queue (next_try, id);

SELECT pg_catalog.pg_extension_config_dump('_strata.job', 'WHERE id >= 1000');
SELECT pg_catalog.pg_extension_config_dump('_strata.job_id_seq', '');
-- Who owns the database may dump it.  No row level security: pg_dump switches
-- it off, and is refused then.  Writing takes more than a privilege: hook_permission.c.
-- He may restore it, too: the row trigger leaves out what is not his to add.
GRANT SELECT, INSERT ON _strata.job TO pg_database_owner;
GRANT SELECT, UPDATE ON SEQUENCE _strata.job_id_seq TO pg_database_owner;
CREATE FUNCTION _strata.job_restored() RETURNS trigger
	AS 'MODULE_PATHNAME', 'strata_job_restored' LANGUAGE C;
REVOKE ALL ON FUNCTION _strata.job_restored() FROM PUBLIC;
CREATE TRIGGER job_restored BEFORE INSERT ON _strata.job FOR EACH ROW EXECUTE FUNCTION _strata.job_restored();

-- Whoever changes the table (a restore, say) has the scheduler look.
CREATE FUNCTION _strata.job_changed() RETURNS trigger
	AS 'MODULE_PATHNAME', 'strata_job_changed' LANGUAGE C;
REVOKE ALL ON FUNCTION _strata.job_changed() FROM PUBLIC;
CREATE TRIGGER job_changed AFTER INSERT OR UPDATE OR DELETE ON _strata.job
	FOR EACH STATEMENT EXECUTE FUNCTION _strata.job_changed();

CREATE FUNCTION add_job(
	proc regproc,
	schedule_interval interval,
	config jsonb DEFAULT NULL,
	initial_start timestamptz DEFAULT NULL,
	scheduled boolean DEFAULT true,
	check_config regproc DEFAULT NULL,
	fixed_schedule boolean DEFAULT true,
	timezone text DEFAULT NULL,
	job_name text DEFAULT NULL)
RETURNS integer
	AS 'MODULE_PATHNAME', 'strata_add_job' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION add_job(regproc, interval, jsonb, timestamptz, boolean, regproc, boolean, text, text) IS
'call a function or procedure (job_id integer, config jsonb) in the background, as the current user, on a schedule; returns the job''s id';

CREATE FUNCTION alter_job(
	job_id integer,
	schedule_interval interval DEFAULT NULL,
	max_runtime interval DEFAULT NULL,
	max_retries integer DEFAULT NULL,
	retry_period interval DEFAULT NULL,
	scheduled boolean DEFAULT NULL,
	config jsonb DEFAULT NULL,
	next_start timestamptz DEFAULT NULL,
	if_exists boolean DEFAULT false,
	check_config regproc DEFAULT NULL,
	fixed_schedule boolean DEFAULT NULL,
	initial_start timestamptz DEFAULT NULL,
	timezone text DEFAULT NULL,
	job_name text DEFAULT NULL,
	config_merge jsonb DEFAULT NULL)
RETURNS TABLE (job_id integer, schedule_interval interval, max_runtime interval, max_retries integer,
	retry_period interval, scheduled boolean, config jsonb, next_start timestamptz, check_config text,
	fixed_schedule boolean, initial_start timestamptz, timezone text, application_name name)
	AS 'MODULE_PATHNAME', 'strata_alter_job' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION alter_job(integer, interval, interval, integer, interval, boolean, jsonb, timestamptz, boolean, regproc, boolean, timestamptz, text, text, jsonb) IS
'change a job: what is NULL stays; config_merge changes single keys; next_start => ''infinity'' holds it';

CREATE FUNCTION delete_job(job_id integer) RETURNS void
	AS 'MODULE_PATHNAME', 'strata_delete_job' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION delete_job(integer) IS 'delete a job; a run in progress goes on to its end';

CREATE PROCEDURE run_job(job_id integer)
	AS 'MODULE_PATHNAME', 'strata_run_job' LANGUAGE C;
COMMENT ON PROCEDURE run_job(integer) IS
'run a job now, in this session; errors come to you, nothing is recorded';

CREATE FUNCTION _strata.next_start(schedule_interval interval, initial_start timestamptz, timezone text,
	fixed_schedule boolean, after timestamptz) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'strata_job_next_start_sql' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION _strata.next_start(interval, timestamptz, text, boolean, timestamptz) IS
'the first start after a time that a schedule gives';

CREATE FUNCTION _strata.scheduler_state(OUT preloaded boolean, OUT starved_since timestamptz) RETURNS record
	AS 'MODULE_PATHNAME', 'strata_job_scheduler_state' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION _strata.scheduler_state() IS
'is the library in shared_preload_libraries; since when have due jobs found no free worker';
GRANT EXECUTE ON FUNCTION _strata.scheduler_state() TO PUBLIC;

-- The extension's own job.
CREATE PROCEDURE _strata.policy_job_history(job_id integer, config jsonb)
	LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
	DELETE FROM _strata.job_history h WHERE h.start_time < now() - (config->>'drop_after')::interval;
	DELETE FROM _strata.job_history h
		USING (SELECT id, row_number() OVER (PARTITION BY j.job_id, succeeded ORDER BY id DESC) AS n
			FROM _strata.job_history j) r
		WHERE r.id = h.id AND r.n > (config->>'max_runs_per_job')::bigint;
$$;
REVOKE ALL ON PROCEDURE _strata.policy_job_history(integer, jsonb) FROM PUBLIC;

-- What policies run; rights are checked inside.
CREATE PROCEDURE _strata.policy_compression(job_id integer, config jsonb)
	AS 'MODULE_PATHNAME', 'strata_policy_compression' LANGUAGE C;
COMMENT ON PROCEDURE _strata.policy_compression(integer, jsonb) IS
'compress the chunks older than compress_after; merge the batches of a chunk that late rows left with too many of them, unless "recompress" is "off"';
CREATE PROCEDURE _strata.policy_retention(job_id integer, config jsonb)
	AS 'MODULE_PATHNAME', 'strata_policy_retention' LANGUAGE C;
COMMENT ON PROCEDURE _strata.policy_retention(integer, jsonb) IS 'drop the chunks older than drop_after';
CREATE PROCEDURE _strata.policy_reorder(job_id integer, config jsonb)
	AS 'MODULE_PATHNAME', 'strata_policy_reorder' LANGUAGE C;
COMMENT ON PROCEDURE _strata.policy_reorder(integer, jsonb) IS
'rewrite each chunk once in the order of an index, but the latest three';
CREATE PROCEDURE _strata.policy_chunks_ahead(job_id integer, config jsonb)
	AS 'MODULE_PATHNAME', 'strata_policy_chunks_ahead' LANGUAGE C;
REVOKE ALL ON PROCEDURE _strata.policy_chunks_ahead(integer, jsonb) FROM PUBLIC;
COMMENT ON PROCEDURE _strata.policy_chunks_ahead(integer, jsonb) IS
'make the next chunks (strata.chunks_ahead) of every hypertable whose present chunk, or the one before it, holds rows';
COMMENT ON PROCEDURE _strata.policy_job_history(integer, jsonb) IS
'forget runs older than drop_after, and of each job all but the latest max_runs_per_job successes and failures';
INSERT INTO _strata.job VALUES (1, 'Job History Log Retention Policy', '1 day', '1 hour', -1, '1 hour',
	'_strata', 'policy_job_history', current_user::regrole, true, true, '2000-01-01 03:00+00', 'UTC', NULL,
	'{"drop_after": "1 month", "max_runs_per_job": 1000}', NULL, NULL);
INSERT INTO _strata.job VALUES (2, 'Chunk Creation Policy', '1 hour', '10 minutes', -1, '5 minutes',
	'_strata', 'policy_chunks_ahead', current_user::regrole, true, true, '2000-01-01 00:45+00', 'UTC', NULL,
	'{}', NULL, NULL);

CREATE FUNCTION add_compression_policy(
	hypertable regclass,
	compress_after "any" DEFAULT NULL,
	if_not_exists boolean DEFAULT false,
	schedule_interval interval DEFAULT NULL,
	initial_start timestamptz DEFAULT NULL,
	timezone text DEFAULT NULL,
	compress_created_before interval DEFAULT NULL)
RETURNS integer
	AS 'MODULE_PATHNAME', 'strata_add_compression_policy' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION add_compression_policy(regclass, "any", boolean, interval, timestamptz, text, interval) IS
'compress chunks in the background once all their rows are older than compress_after (an interval, or an integer with integer time); returns the job''s id, -1 if there is such a policy';
CREATE PROCEDURE add_columnstore_policy(
	hypertable regclass,
	after "any" DEFAULT NULL,
	if_not_exists boolean DEFAULT false,
	schedule_interval interval DEFAULT NULL,
	initial_start timestamptz DEFAULT NULL,
	timezone text DEFAULT NULL,
	created_before interval DEFAULT NULL)
	AS 'MODULE_PATHNAME', 'strata_add_columnstore_policy' LANGUAGE C;
COMMENT ON PROCEDURE add_columnstore_policy(regclass, "any", boolean, interval, timestamptz, text, interval) IS
'add_compression_policy() as a procedure';
CREATE FUNCTION _strata.add_default_policy(hypertable regclass) RETURNS void
	AS 'MODULE_PATHNAME', 'strata_add_default_policy' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION _strata.add_default_policy(regclass) IS
'the policy that CREATE TABLE WITH (tsdb.hypertable) makes, where strata_timescale_compat is installed';
CREATE FUNCTION add_retention_policy(
	relation regclass,
	drop_after "any" DEFAULT NULL,
	if_not_exists boolean DEFAULT false,
	schedule_interval interval DEFAULT NULL,
	initial_start timestamptz DEFAULT NULL,
	timezone text DEFAULT NULL,
	drop_created_before interval DEFAULT NULL)
RETURNS integer
	AS 'MODULE_PATHNAME', 'strata_add_retention_policy' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION add_retention_policy(regclass, "any", boolean, interval, timestamptz, text, interval) IS
'drop chunks in the background once all their rows are older than drop_after; returns the job''s id, -1 if there is such a policy';
CREATE FUNCTION add_reorder_policy(
	hypertable regclass,
	index_name name,
	if_not_exists boolean DEFAULT false,
	initial_start timestamptz DEFAULT NULL,
	timezone text DEFAULT NULL)
RETURNS integer
	AS 'MODULE_PATHNAME', 'strata_add_reorder_policy' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION add_reorder_policy(regclass, name, boolean, timestamptz, text) IS
'rewrite chunks in the background in the order of an index, each once; returns the job''s id, -1 if there is such a policy';

CREATE FUNCTION _strata.remove_policy(hypertable regclass, if_exists boolean, procedure name) RETURNS boolean
	AS 'MODULE_PATHNAME', 'strata_remove_policy' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION _strata.remove_policy(regclass, boolean, name) IS 'delete a policy''s job; was there one?';
CREATE FUNCTION remove_compression_policy(hypertable regclass, if_exists boolean DEFAULT false) RETURNS boolean
	LANGUAGE sql BEGIN ATOMIC SELECT _strata.remove_policy(hypertable, if_exists, 'policy_compression'); END;
COMMENT ON FUNCTION remove_compression_policy(regclass, boolean) IS 'remove the compression policy of a hypertable';
CREATE PROCEDURE remove_columnstore_policy(hypertable regclass, if_exists boolean DEFAULT false)
	LANGUAGE sql BEGIN ATOMIC SELECT _strata.remove_policy(hypertable, if_exists, 'policy_compression'); END;
COMMENT ON PROCEDURE remove_columnstore_policy(regclass, boolean) IS 'remove the compression policy of a hypertable';
CREATE FUNCTION remove_retention_policy(relation regclass, if_exists boolean DEFAULT false) RETURNS boolean
	LANGUAGE sql BEGIN ATOMIC SELECT _strata.remove_policy(relation, if_exists, 'policy_retention'); END;
COMMENT ON FUNCTION remove_retention_policy(regclass, boolean) IS 'remove the retention policy of a hypertable';
CREATE FUNCTION remove_reorder_policy(hypertable regclass, if_exists boolean DEFAULT false) RETURNS boolean
	LANGUAGE sql BEGIN ATOMIC SELECT _strata.remove_policy(hypertable, if_exists, 'policy_reorder'); END;
COMMENT ON FUNCTION remove_reorder_policy(regclass, boolean) IS 'remove the reorder policy of a hypertable';

CREATE VIEW strata.jobs AS
	SELECT j.id AS job_id,
		   (j.name || ' [' || j.id || ']')::name AS application_name,
		   j.schedule_interval, j.max_runtime, j.max_retries, j.retry_period,
		   j.proc_schema, j.proc_name,
		   CASE WHEN j.proc_schema = '_strata' THEN coalesce(c.relowner::regrole, j.owner) ELSE j.owner END AS owner,
		   j.scheduled, j.fixed_schedule,
		   CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = CASE WHEN j.proc_schema = '_strata' THEN coalesce(c.relowner, j.owner::oid) ELSE j.owner::oid END
								AND pg_catalog.pg_has_role(r.oid, 'MEMBER'))
				THEN CASE j.proc_name WHEN 'policy_refresh_continuous_aggregate'
					THEN j.config || pg_catalog.jsonb_build_object('mat_hypertable_id', j.hypertable::oid::bigint) ELSE j.config END
				END AS config,
		   CASE WHEN j.scheduled AND s.running_pid IS NULL THEN s.next_start END AS next_start,
		   j.initial_start,
		   n.nspname AS hypertable_schema, c.relname AS hypertable_name,
		   j.check_schema, j.check_name
	FROM _strata.job j
	LEFT JOIN _strata.job_stat s ON s.job_id = j.id
	LEFT JOIN pg_catalog.pg_class c ON c.oid = _strata.relation_named(j.hypertable)
	LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace;
COMMENT ON VIEW strata.jobs IS 'jobs and policies; next_start is NULL while a job runs or is not scheduled, config unless its owner is a role of yours';

CREATE VIEW strata.job_stats AS
	SELECT n.nspname AS hypertable_schema, c.relname AS hypertable_name, j.id AS job_id,
		   s.last_start AS last_run_started_at, s.last_successful_finish,
		   CASE WHEN s.last_success THEN 'Success' WHEN NOT s.last_success THEN 'Failed' END AS last_run_status,
		   CASE WHEN s.running_pid IS NOT NULL THEN 'Running'
				WHEN NOT j.scheduled THEN 'Paused' ELSE 'Scheduled' END AS job_status,
		   s.last_duration AS last_run_duration,
		   CASE WHEN j.scheduled AND s.running_pid IS NULL THEN s.next_start END AS next_start,
		   coalesce(s.total_runs, 0) AS total_runs, coalesce(s.total_successes, 0) AS total_successes,
		   coalesce(s.total_failures, 0) AS total_failures
	FROM _strata.job j
	LEFT JOIN _strata.job_stat s ON s.job_id = j.id
	LEFT JOIN pg_catalog.pg_class c ON c.oid = _strata.relation_named(j.hypertable)
	LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace;
COMMENT ON VIEW strata.job_stats IS 'how the runs of each job went';

-- Errors may show data and configuration: to members of the owner only.
CREATE VIEW strata.job_history WITH (security_barrier) AS
	SELECT h.id, h.job_id, h.succeeded, h.proc_schema, h.proc_name, h.pid, h.start_time, h.finish_time,
		   h.config, h.sqlerrcode, h.err_message, h.err_detail, h.err_hint, h.err_context
	FROM _strata.job_history h
	WHERE EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = h.owner AND pg_catalog.pg_has_role(r.oid, 'MEMBER'))
	   OR pg_catalog.pg_has_role('pg_monitor', 'MEMBER');
COMMENT ON VIEW strata.job_history IS 'runs of jobs whose owner you are; kept as job 1 says';

CREATE VIEW strata.job_errors WITH (security_barrier) AS
	SELECT h.job_id, h.proc_schema, h.proc_name, h.pid, h.start_time, h.finish_time, h.sqlerrcode, h.err_message
	FROM strata.job_history h WHERE NOT h.succeeded;
COMMENT ON VIEW strata.job_errors IS 'failed runs of jobs whose owner you are';

-- Whatever somebody put into his job, others read the view: what cannot be computed is unknown.
CREATE FUNCTION _strata.is_overdue(range_end timestamptz, age text, schedule_interval interval) RETURNS boolean
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RETURN range_end < now() - age::interval - 2 * schedule_interval;
EXCEPTION WHEN OTHERS THEN
	RETURN NULL;
END $$;
COMMENT ON FUNCTION _strata.is_overdue(timestamptz, text, interval) IS
'is it two schedules past the age at which a policy acts; NULL when that cannot be said';

-- Who may still see rows that were removed, and what ends that.
CREATE VIEW _strata.snapshot_holders AS
	SELECT greatest(pg_catalog.age(a.backend_xmin), pg_catalog.age(a.backend_xid)) AS age,
		   'process ' || a.pid || coalesce(' (transaction since ' || a.xact_start || ')', '') AS who,
		   'SELECT pg_terminate_backend(' || a.pid || ');' AS remedy
	FROM pg_catalog.pg_stat_activity a
	WHERE (a.datname = pg_catalog.current_database() OR a.backend_type = 'walsender')
	  AND coalesce(a.backend_xmin, a.backend_xid) IS NOT NULL AND a.pid <> pg_catalog.pg_backend_pid()
	UNION ALL
	SELECT pg_catalog.age(p.transaction), 'the prepared transaction ' || pg_catalog.quote_literal(p.gid),
		   'ROLLBACK PREPARED ' || pg_catalog.quote_literal(p.gid) || '; -- or COMMIT PREPARED'
	FROM pg_catalog.pg_prepared_xacts p WHERE p.database = pg_catalog.current_database()
	UNION ALL
	SELECT pg_catalog.age(r.xmin), 'the standby of replication slot ' || r.slot_name,
		   'SELECT pg_drop_replication_slot(' || pg_catalog.quote_literal(r.slot_name) || '); -- if nobody needs it'
	FROM pg_catalog.pg_replication_slots r WHERE r.xmin IS NOT NULL;
COMMENT ON VIEW _strata.snapshot_holders IS
'sessions, prepared transactions and slots that keep removed rows, the age of the oldest transaction they may not see as over, and a statement that ends it';

-- Compressed tables of roles the caller belongs to; object is the table, or the hypertable (partitioned table) it is a part of.
CREATE VIEW _strata.own_compressed AS
	SELECT c.oid AS relid, coalesce(i.inhparent, c.oid) AS object, b.oid AS batches, c.reltuples AS tuples, b.reltuples AS batches_tuples
	FROM pg_catalog.pg_class c
	JOIN pg_catalog.pg_am am ON am.oid = c.relam AND am.amname = 'strata'
	JOIN pg_catalog.pg_class b ON b.oid = strata.batch_relation(c.oid)
	LEFT JOIN pg_catalog.pg_inherits i ON i.inhrelid = c.oid AND c.relispartition
	WHERE c.relkind IN ('r', 'm') AND pg_catalog.pg_has_role(c.relowner, 'USAGE');
COMMENT ON VIEW _strata.own_compressed IS 'compressed tables of the caller''s roles, and the partitioned table each belongs to';
GRANT SELECT ON _strata.own_compressed TO PUBLIC;

-- 'a', or 'a and 3 others'.
CREATE FUNCTION _strata.and_others(relations text[]) RETURNS text
	LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
	RETURN relations[1] || CASE cardinality(relations) WHEN 1 THEN '' WHEN 2 THEN ' and another chunk'
		ELSE ' and ' || cardinality(relations) - 1 || ' other chunks' END;
COMMENT ON FUNCTION _strata.and_others(text[]) IS 'the first of some chunks, and how many others there are';

-- What an operator should know, of what is the user's.
CREATE VIEW strata.problems WITH (security_barrier) AS
	SELECT 'error'::text AS severity, 'jobs do not run'::text AS problem, NULL::text AS object,
		   'strata is not in shared_preload_libraries'::text AS detail,
		   'ALTER SYSTEM SET shared_preload_libraries = ''strata''; -- beside what is there; then restart'::text AS hint
	FROM _strata.scheduler_state() s WHERE NOT s.preloaded
	UNION ALL
	SELECT 'error', 'jobs do not run', NULL, 'strata.max_job_workers is 0',
		   'ALTER SYSTEM RESET strata.max_job_workers; SELECT pg_reload_conf();'
	WHERE pg_catalog.current_setting('strata.max_job_workers', true) = '0'
	UNION ALL
	SELECT 'warning', 'no free worker', NULL, 'due jobs have been waiting since ' || s.starved_since,
		   'ALTER SYSTEM SET strata.max_job_workers = ...; or max_worker_processes (restart)'
	FROM _strata.scheduler_state() s WHERE s.starved_since < pg_catalog.now() - interval '1 minute'
	UNION ALL
	SELECT 'error', 'job fails', j.application_name,
		   s.consecutive_failures || ' failed runs; last at ' || s.last_finish
		   || coalesce(': ' || (SELECT h.err_message FROM strata.job_history h WHERE h.job_id = j.job_id AND NOT h.succeeded
				ORDER BY h.id DESC LIMIT 1), ''),
		   'SELECT * FROM strata.job_errors WHERE job_id = ' || j.job_id || ';'
	FROM strata.jobs j JOIN _strata.job_stat s ON s.job_id = j.job_id
	WHERE s.consecutive_failures > 0
	UNION ALL
	SELECT 'warning', 'job is late', j.application_name, 'should have started at ' || s.next_start, NULL
	FROM strata.jobs j JOIN _strata.job_stat s ON s.job_id = j.job_id
	WHERE j.scheduled AND s.running_pid IS NULL AND s.next_start < pg_catalog.now() - interval '5 minutes'
	UNION ALL
	SELECT 'warning', 'job is held', j.application_name, 'next_start is infinity',
		   'SELECT alter_job(' || j.job_id || ', next_start => now());'
	FROM strata.jobs j JOIN _strata.job_stat s ON s.job_id = j.job_id
	WHERE j.scheduled AND s.next_start = 'infinity'
	UNION ALL
	SELECT 'warning', 'chunk is overdue for ' || CASE j.proc_name WHEN 'policy_compression' THEN 'compression' ELSE 'retention' END,
		   _strata.relation_named(j.hypertable)::regclass::text,
		   _strata.and_others(pg_catalog.array_agg(c.relid::regclass::text ORDER BY c.range_end)) || ': rows end at ' || min(c.range_end)
		   || '; job ' || j.id || ' should have seen to it',
		   'CALL run_job(' || j.id || ');'
	FROM _strata.job j
	JOIN _strata.chunk c ON c.hypertable = j.hypertable
	JOIN pg_catalog.pg_class h ON h.oid = c.hypertable AND pg_catalog.pg_has_role(h.relowner, 'USAGE')
	WHERE j.proc_schema = '_strata' AND j.scheduled AND c.range_end IS NOT NULL
	  AND (j.proc_name = 'policy_compression' AND c.batches IS NULL AND pg_catalog.pg_relation_size(c.relid) > 8192
		   AND _strata.is_overdue(c.range_end, j.config->>'compress_after', j.schedule_interval)
		   OR j.proc_name = 'policy_retention'
		   AND _strata.is_overdue(c.range_end, j.config->>'drop_after', j.schedule_interval))
	GROUP BY j.id
	UNION ALL
	SELECT 'error', 'retention is held back', _strata.relation_named(j.hypertable)::regclass::text,
		   r.why || '; chunks stay', CASE j.proc_name WHEN 'policy_archives' THEN 'DROP MATERIALIZED VIEW ...; -- the one that is named'
		   ELSE 'SELECT remove_retention_policy(' || pg_catalog.quote_literal(_strata.relation_named(j.hypertable)::regclass::text) || '); -- or drop the view' END
	FROM _strata.job j
	JOIN pg_catalog.pg_class h ON h.oid = j.hypertable AND pg_catalog.pg_has_role(h.relowner, 'USAGE')
	CROSS JOIN LATERAL _strata.retention_held(h.oid, j.proc_name = 'policy_archives') r (why)
	WHERE j.proc_schema = '_strata' AND j.proc_name IN ('policy_retention', 'policy_archives') AND r.why IS NOT NULL
	UNION ALL
	SELECT 'warning', 'row store outgrows its batches', t.object::regclass::text,
		   _strata.and_others(pg_catalog.array_agg(t.relid::regclass::text ORDER BY t.rows_bytes DESC)) || ': '
		   || pg_catalog.pg_size_pretty(sum(t.rows_bytes)) || ' of rows beside '
		   || pg_catalog.pg_size_pretty(sum(t.batches_bytes)) || ' of batches',
		   'SELECT compress_chunk(c, recompress => true) FROM unnest('
		   || pg_catalog.quote_literal(pg_catalog.array_agg(t.relid::regclass ORDER BY t.rows_bytes DESC)::text) || '::regclass[]) AS c;'
	FROM (SELECT v.*, pg_catalog.pg_relation_size(v.relid) AS rows_bytes, pg_catalog.pg_total_relation_size(v.batches) AS batches_bytes
			FROM _strata.own_compressed v) t
	WHERE t.rows_bytes > greatest(16777216, t.batches_bytes)
	GROUP BY t.object
	UNION ALL
	SELECT 'warning', 'few rows per batch', t.object::regclass::text,
		   _strata.and_others(pg_catalog.array_agg(t.relid::regclass::text ORDER BY t.relid::regclass::text COLLATE "C")) || ': about '
		   || (sum(r.batch_rows) / sum(r.batches))::bigint || ' rows in each of ' || sum(r.batches) || ' batches',
		   'SELECT * FROM advise_compression(' || pg_catalog.quote_literal(t.object::regclass::text) || '); -- has better ones, and the command'
	FROM _strata.own_compressed t
	-- the companion's reltuples counts changed rows, too
	CROSS JOIN LATERAL _strata.row_counts(t.relid) r
	WHERE t.batches_tuples > 100 AND t.tuples > 0 AND t.tuples / t.batches_tuples < 50
	  AND r.batches > 100 AND r.batch_rows / r.batches < 50
	GROUP BY t.object
	UNION ALL
	SELECT 'warning', 'convert() is not finished', p.inhparent::regclass::text,
		   d.parts || ' parts of ' || d.source::regclass || ' are copied; '
		   || (SELECT count(*) FROM _strata.divide_mark m WHERE m.source = d.source) || ' changes wait to be copied again',
		   'CALL strata.convert(' || pg_catalog.quote_literal(p.inhparent::regclass::text) || '); -- or, to give up, with compress => false'
	FROM (SELECT v.source, count(*) FILTER (WHERE v.part <> 0) AS parts FROM _strata.divide v
			GROUP BY v.source HAVING max(v.file) <> 0) d
	JOIN pg_catalog.pg_inherits p ON p.inhrelid = d.source
	JOIN pg_catalog.pg_class c ON c.oid = d.source AND pg_catalog.pg_has_role(c.relowner, 'USAGE')
	WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_stat_activity a WHERE a.state = 'active' AND a.query ~* 'convert' AND a.pid <> pg_catalog.pg_backend_pid())
	UNION ALL
	SELECT 'warning', 'space waits to be given back', q.object::regclass::text,
		   q.tables || CASE q.tables WHEN 1 THEN ' table waits' ELSE ' tables wait' END || ' since ' || q.since || ': '
		   || CASE q.waits_for
				WHEN 'snapshot' THEN coalesce(s.who || ' may still see what was removed', 'will be tried again at ' || q.next_try)
				WHEN 'lock' THEN coalesce('process ' || l.pid || ' uses ' || q.example::regclass, 'will be tried again at ' || q.next_try)
				ELSE coalesce(q.waits_for, 'no process has come to it') END,
		   CASE q.waits_for
				WHEN 'snapshot' THEN s.remedy
				WHEN 'lock' THEN 'SELECT pg_terminate_backend(' || l.pid || ');'
				ELSE 'VACUUM ' || q.example::regclass || '; REINDEX TABLE ' || q.example::regclass || ';' END
	FROM (SELECT coalesce(k.hypertable, w.relation) AS object, w.waits_for, pg_catalog.count(DISTINCT w.relation) AS tables,
				pg_catalog.min(w.since) AS since, pg_catalog.min(w.next_try) AS next_try,
				pg_catalog.min(w.relation) AS example
			FROM _strata.space_queue w
			JOIN pg_catalog.pg_class c ON c.oid = w.relation AND pg_catalog.pg_has_role(c.relowner, 'USAGE')
			LEFT JOIN _strata.chunk k ON k.relid = w.relation
			WHERE w.since < pg_catalog.now() - interval '1 minute'
			GROUP BY 1, 2) q
	LEFT JOIN LATERAL (
		SELECT h.who, h.remedy FROM _strata.snapshot_holders h WHERE q.waits_for = 'snapshot'
		ORDER BY h.age DESC LIMIT 1) s ON true
	LEFT JOIN LATERAL (
		SELECT k.pid FROM pg_catalog.pg_locks k
		WHERE q.waits_for = 'lock' AND k.granted AND k.pid <> pg_catalog.pg_backend_pid() AND k.relation = q.example
		  AND k.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database())
		LIMIT 1) l ON true;
COMMENT ON VIEW strata.problems IS
'what an operator should know: jobs that do not run, fail or are late, chunks overdue, row stores that grow, bad segmentby, conversions that ended early, space that waits to be given back';

GRANT SELECT ON strata.problems, strata.jobs, strata.job_stats, strata.job_history, strata.job_errors TO PUBLIC;

-- CREATE EXTENSION says it when the library is not preloaded; the space queue is
-- hidden from logical decoding.
CREATE FUNCTION _strata.check_preload() RETURNS void
	AS 'MODULE_PATHNAME', 'strata_check_preload' LANGUAGE C;
REVOKE ALL ON FUNCTION _strata.check_preload() FROM PUBLIC;
COMMENT ON FUNCTION _strata.check_preload() IS 'warn when the library is not in shared_preload_libraries';
SELECT _strata.check_preload();
