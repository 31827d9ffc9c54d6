-- Policies of continuous aggregates, run in the foreground; chunks and sizes of a view are those of its archive.
SET timezone = 'UTC';
SET strata.report_compression = off;
SELECT setval('_strata.job_id_seq', 5000, false);
CREATE TABLE ropol_clock (now bigint);
INSERT INTO ropol_clock VALUES (1000);
CREATE FUNCTION ropol_now() RETURNS bigint LANGUAGE sql STABLE SET search_path = public AS 'SELECT now FROM ropol_clock';
CREATE TABLE ropol (t bigint NOT NULL, dev int, v int);
SELECT FROM create_hypertable('ropol', 't', chunk_time_interval => 100);
ALTER TABLE ropol SET (strata.orderby = 't');
INSERT INTO ropol SELECT i / 8, i % 40, i FROM generate_series(0, 7999) i;
SELECT count(compress_chunk(c)) FROM show_chunks('ropol', older_than => 800) c;
INSERT INTO ropol SELECT i, 1, 1 FROM generate_series(0, 799, 20) i;
CREATE MATERIALIZED VIEW ropol_ten WITH (strata.continuous, strata.chunk_interval = 200, strata.segmentby = '') AS
	SELECT time_bucket(10, t) AS bucket, dev, count(*) AS n, sum(v) AS s FROM ropol GROUP BY 1, 2 WITH NO DATA;
CREATE FUNCTION ropol_check(OUT clean text, OUT differences bigint) LANGUAGE sql AS $$
	WITH c AS MATERIALIZED (SELECT * FROM _strata.rollup_clean('ropol_ten')),
		a AS (SELECT * FROM ropol_ten_archive WHERE EXISTS (SELECT FROM c WHERE bucket >= lo AND bucket < hi)),
		v AS (SELECT t / 10 * 10 AS bucket, dev, count(*), sum(v) FROM ropol WHERE EXISTS (SELECT FROM c WHERE t >= lo AND t < hi) GROUP BY 1, 2)
	SELECT (SELECT string_agg(lo || '-' || hi, ', ' ORDER BY lo) FROM c), count(*) FROM ((TABLE a EXCEPT ALL TABLE v) UNION ALL (TABLE v EXCEPT ALL TABLE a)) x
$$;

-- refused; by SQLSTATE
\set VERBOSITY sqlstate
SELECT add_continuous_aggregate_policy('ropol_ten', 500, 20, '1 h');
SELECT set_integer_now_func('ropol', 'ropol_now');
SELECT add_continuous_aggregate_policy('ropol', 500, 20, '1 h');
SELECT add_continuous_aggregate_policy(NULL, 500, 20, '1 h');
SELECT add_continuous_aggregate_policy('ropol_ten', 500, 20, NULL);
SELECT add_continuous_aggregate_policy('ropol_ten', 500, 20, '0');
SELECT add_continuous_aggregate_policy('ropol_ten', interval '1 day', interval '1 h', '1 h');
SELECT add_continuous_aggregate_policy('ropol_ten', '1 day', NULL, '1 h');
SELECT add_continuous_aggregate_policy('ropol_ten', 500.0, 20, '1 h');
SELECT add_continuous_aggregate_policy('ropol_ten', 39, 20, '1 h');
SELECT add_continuous_aggregate_policy('ropol_ten', 20, 500, '1 h');
SELECT add_continuous_aggregate_policy('ropol_ten', 9223372036854775807, -2, '1 h');
SELECT add_continuous_aggregate_policy('ropol_ten', 500, 20, '1 h', buckets_per_batch => -1);
SELECT add_continuous_aggregate_policy('ropol_ten', 500, 20, '1 h', max_batches_per_execution => -1);
SELECT add_continuous_aggregate_policy('ropol_ten', 500, 20, '1 h', timezone => 'nowhere');
SELECT remove_continuous_aggregate_policy('ropol_ten');
SELECT remove_continuous_aggregate_policy('ropol');
\set VERBOSITY terse
SELECT remove_continuous_aggregate_policy('ropol_ten', if_exists => true);
SELECT remove_continuous_aggregate_policy('ropol_ten', if_not_exists => true, if_exists => false);
SELECT remove_continuous_aggregate_policy('ropol_ten', true);
SELECT add_continuous_aggregate_policy('ropol_ten', 39, 20, '1 h');

-- two that follow each other; others overlap
SELECT add_continuous_aggregate_policy('ropol_ten', start_offset => 500, end_offset => 20, schedule_interval => interval '1 hour', initial_start => '2100-01-01',
	timezone => 'Europe/Prague', include_tiered_data => true, buckets_per_batch => 7, max_batches_per_execution => 2, refresh_newest_first => false);
SELECT add_continuous_aggregate_policy('ropol_ten', NULL, 500, '1 day', initial_start => '2100-01-01');
\set VERBOSITY default
SELECT add_continuous_aggregate_policy('ropol_ten', 500, 20, '1 h');
SELECT add_continuous_aggregate_policy('ropol_ten', 500, 20, '1 h', if_not_exists => true);
SELECT add_continuous_aggregate_policy('ropol_ten', 480, NULL, '1 h', if_not_exists => true);
\set VERBOSITY terse
SELECT add_continuous_aggregate_policy('ropol_ten', NULL, NULL, '1 h');
SELECT application_name, schedule_interval, max_runtime, max_retries, retry_period, proc_schema, proc_name, owner = current_user::regrole AS mine, scheduled,
	fixed_schedule, config - 'mat_hypertable_id' AS config, config->'mat_hypertable_id' = to_jsonb('ropol_ten_archive'::regclass::oid::bigint) AS has_id, hypertable_schema, hypertable_name
FROM strata.jobs WHERE job_id >= 5000 ORDER BY job_id;
-- two batches, the oldest first; then the rest; what is older
CALL run_job(5000);
SELECT * FROM ropol_check();
CALL run_job(5000);
SELECT * FROM ropol_check();
SELECT job_id FROM alter_job(5000, config => '{"start_offset": 500, "end_offset": 20}');
CALL run_job(5000);
SELECT * FROM ropol_check();
CALL run_job(5001);
SELECT * FROM ropol_check();
-- late rows, and time goes on
INSERT INTO ropol VALUES (5, 1, 1), (995, 1, 1), (1035, 2, 2);
UPDATE ropol_clock SET now = 1060;
SELECT * FROM ropol_check();
BEGIN;
CALL run_job(5001);
SELECT * FROM ropol_check();
COMMIT;
CALL run_job(5000);
SELECT * FROM ropol_check();
-- what was covered, and is dirty now, is covered again in as many slices as it takes
UPDATE ropol SET v = v + 1 WHERE t BETWEEN 300 AND 899;
CALL refresh_continuous_aggregate('ropol_ten', 0, 1000, options => '{"buckets_per_batch": 7}');
SELECT * FROM ropol_check();
-- configs that somebody wrote
SELECT job_id FROM alter_job(5000, config => '{"start_offset": "x"}');
CALL run_job(5000);
SELECT job_id FROM alter_job(5000, config => '{"refresh_newest_first": 1}');
CALL run_job(5000);
SELECT job_id FROM alter_job(5000, config => '{"start_offset": 10, "end_offset": 20}');
CALL run_job(5000);
CALL _strata.policy_refresh_continuous_aggregate(NULL, '{}');

-- what the view's name stands for: its archive
SELECT show_chunks('ropol_ten'), show_chunks('ropol_ten_archive');
SELECT show_chunks('ropol_ten', older_than => 400);
SELECT hypertable_size('ropol_ten') = hypertable_size('ropol_ten_archive') AS size, hypertable_size('ropol_ten') > 0 AS any,
	(hypertable_detailed_size('ropol_ten')) = (hypertable_detailed_size('ropol_ten_archive')) AS detailed, hypertable_approximate_size('ropol_ten') > 0 AS approximate,
	(SELECT count(*) FROM chunks_detailed_size('ropol_ten')) AS chunks;
ANALYZE ropol_ten_archive;
SELECT approximate_row_count('ropol_ten') = (SELECT count(*) FROM ropol_ten_archive) AS same;
SELECT set_chunk_time_interval('ropol_ten', 300);
SELECT integer_interval FROM strata.dimensions WHERE hypertable_name = 'ropol_ten_archive';
SELECT add_compression_policy('ropol_ten', 300, initial_start => '2100-01-01');
CALL add_columnstore_policy('ropol_ten', 300, if_not_exists => true);
SELECT add_retention_policy('ropol_ten', 600, initial_start => '2100-01-01');
SELECT job_id, application_name, config, hypertable_name FROM strata.jobs WHERE job_id > 5001 ORDER BY 1;
CALL run_job(5002);
SELECT chunk_name, compression_status FROM chunk_compression_stats('ropol_ten') ORDER BY 1;
SELECT total_chunks, number_compressed_chunks FROM hypertable_compression_stats('ropol_ten');
-- archive chunks that are dropped cover nothing; what they held is computed again
SELECT * FROM ropol_check();
CALL run_job(5003);
SELECT show_chunks('ropol_ten');
SELECT * FROM ropol_check();
SELECT drop_chunks('ropol_ten', older_than => 600);
SELECT * FROM ropol_check();
BEGIN;
ALTER TABLE ropol_ten_archive DETACH PARTITION ropol_ten_archive_600_chunk;
SELECT * FROM ropol_check();
ROLLBACK;
SELECT * FROM ropol_check();
CALL run_job(5001);
SELECT * FROM ropol_check();
SELECT remove_retention_policy('ropol_ten'), remove_compression_policy('ropol_ten', if_exists => true);

-- of others
CREATE ROLE ropol_stranger;
GRANT ropol_stranger TO CURRENT_USER;
GRANT SELECT ON ropol_ten TO ropol_stranger;
SET ROLE ropol_stranger;
\set VERBOSITY sqlstate
SELECT add_continuous_aggregate_policy('ropol_ten', NULL, NULL, '1 h');
SELECT remove_continuous_aggregate_policy('ropol_ten');
SELECT add_retention_policy('ropol_ten', 100);
SELECT drop_chunks('ropol_ten', older_than => 100);
CALL run_job(5001);
\set VERBOSITY terse
SELECT count(*) FROM show_chunks('ropol_ten');
SELECT job_id, config FROM strata.jobs WHERE job_id = 5001;
RESET ROLE;

-- with time: of a view on a view, in calendar months of a zone
CREATE TABLE ropol_time (time timestamptz NOT NULL, v int);
SELECT FROM create_hypertable('ropol_time', 'time', chunk_time_interval => interval '12 hours');
CREATE MATERIALIZED VIEW ropol_day WITH (strata.continuous) AS SELECT time_bucket('1 day', time, 'Europe/Prague') AS day, count(*) AS n FROM ropol_time GROUP BY 1 WITH NO DATA;
CREATE MATERIALIZED VIEW ropol_month WITH (strata.continuous) AS SELECT time_bucket('1 month', day, 'Europe/Prague') AS month, sum(n) FROM ropol_day GROUP BY 1 WITH NO DATA;
\set VERBOSITY sqlstate
SELECT add_continuous_aggregate_policy('ropol_month', interval '59 days', interval '0', '1 day');
SELECT add_continuous_aggregate_policy('ropol_month', 5, 1, '1 day');
SELECT add_continuous_aggregate_policy('ropol_month', timestamptz '2020-01-01', NULL, '1 day');
SELECT add_continuous_aggregate_policy('ropol_month', '1 century', 'nonsense', '1 day');
\set VERBOSITY terse
SELECT add_continuous_aggregate_policy('ropol_month', '3 months', '1 month', '1 day', initial_start => '2100-01-01');
SELECT add_continuous_aggregate_policy('ropol_day', start_offset => NULL, end_offset => interval '1 day', schedule_interval => '1 day', initial_start => '2100-01-01');
INSERT INTO ropol_time SELECT now() - i * interval '6 hours', i FROM generate_series(0, 800) i;
CALL run_job(5004);
SELECT count(*) > 0 AS filled, bool_and(lower_ok) FROM (SELECT month >= date_trunc('month', now() - interval '4 months') AS lower_ok FROM ropol_month_archive) x;
CALL run_job(5005);
SELECT count(*) BETWEEN 198 AND 201 AS days FROM ropol_day_archive;
SELECT job_id, config - 'mat_hypertable_id' AS config, hypertable_name FROM strata.jobs WHERE job_id >= 5004 ORDER BY 1;

-- they go with the view
DROP MATERIALIZED VIEW ropol_month;
DROP MATERIALIZED VIEW ropol_ten;
SELECT j.job_id, j.hypertable_name FROM strata.jobs j WHERE j.job_id >= 5000 AND hypertable_name IS NOT NULL ORDER BY 1;
DROP TABLE ropol_time, ropol CASCADE;
-- whatever statement drops it
SET client_min_messages = warning;
SET ROLE postgres;
CREATE FUNCTION ropol_orphans() RETURNS bigint SECURITY DEFINER LANGUAGE sql AS $$
	SELECT (SELECT count(*) FROM _strata.job j WHERE hypertable IS NOT NULL AND NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = j.hypertable))
		+ (SELECT count(*) FROM _strata.job_stat s WHERE NOT EXISTS (SELECT FROM _strata.job j WHERE j.id = s.job_id)) $$;
RESET ROLE;
CREATE FUNCTION ropol_gone(statement text) RETURNS TABLE (had bigint, jobs bigint, orphans bigint, archives bigint) LANGUAGE plpgsql AS $$
BEGIN
	CREATE SCHEMA ropol_s;
	CREATE TYPE ropol_s.pair AS (a int, b int);
	CREATE TABLE ropol_s.t (t timestamptz NOT NULL, v int, p ropol_s.pair);
	PERFORM FROM create_hypertable('ropol_s.t', 't');
	PERFORM add_compression_policy('ropol_s.t', interval '3 days');
	EXECUTE $c$ CREATE MATERIALIZED VIEW ropol_s.v WITH (strata.continuous, strata.archives = '1 minute for 30 days, 1 hour') AS
		SELECT time_bucket('1 minute', t) AS m, sum(v) AS s, count(p) AS c FROM ropol_s.t GROUP BY 1 $c$;
	PERFORM add_compression_policy('ropol_s.v', interval '3 days');
	PERFORM add_compression_policy('ropol_s.v_1_hour', interval '3 days');
	EXECUTE $c$ CREATE MATERIALIZED VIEW ropol_s.w WITH (strata.continuous) AS SELECT time_bucket('1 minute', t) AS m, sum(v) AS s FROM ropol_s.t GROUP BY 1 $c$;
	PERFORM add_continuous_aggregate_policy('ropol_s.w', interval '3 days', interval '1 minute', interval '1 day', initial_start => '2100-01-01');
	had := (SELECT count(*) FROM _strata.job WHERE hypertable IS NOT NULL);
	EXECUTE statement;
	jobs := (SELECT count(*) FROM _strata.job WHERE hypertable IS NOT NULL);
	orphans := ropol_orphans();
	archives := (SELECT count(*) FROM pg_class WHERE relname ~ '^[vw].*_archive$' AND relkind = 'p' AND relnamespace = to_regnamespace('ropol_s'));
	DROP SCHEMA IF EXISTS ropol_s CASCADE;
	RETURN NEXT;
END $$;
SELECT i, g.* FROM unnest(ARRAY['DROP MATERIALIZED VIEW ropol_s.v', 'DROP MATERIALIZED VIEW ropol_s.w', 'DROP TABLE ropol_s.t CASCADE', 'DROP TYPE ropol_s.pair CASCADE', 'ALTER TABLE ropol_s.t DROP COLUMN v CASCADE',
	'DROP SCHEMA ropol_s CASCADE', $$ALTER MATERIALIZED VIEW ropol_s.v SET (strata.archives = '1 minute for 30 days')$$, 'ALTER TYPE ropol_s.pair DROP ATTRIBUTE b CASCADE']) WITH ORDINALITY s (statement, i), ropol_gone(statement) g ORDER BY i;
RESET client_min_messages;
DROP FUNCTION ropol_check(), ropol_now(), ropol_gone(text);
SET ROLE postgres;
DROP FUNCTION ropol_orphans();
RESET ROLE;
DROP TABLE ropol_clock;
DROP ROLE ropol_stranger;
