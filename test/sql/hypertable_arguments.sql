-- Arguments that make no sense, and what is said about them.
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET intervalstyle = 'postgres';
CREATE TABLE a (time timestamptz NOT NULL, v float8, k int);
CREATE VIEW av AS SELECT * FROM a;
CREATE TABLE p (x int);
-- hash partitions: taken, and shown
SELECT create_hypertable('a', 'time', partitioning_column => 'nothing', number_partitions => 1);
BEGIN;
SELECT created FROM create_hypertable('a', 'time', partitioning_column => 'k', number_partitions => 2);
SELECT column_name, num_partitions FROM strata.dimensions ORDER BY dimension_number;
ROLLBACK;
SELECT create_hypertable('a', 'time', partitioning_column => 'k');
SELECT create_hypertable('a', 'time', partitioning_column => 'k', number_partitions => 0);
SELECT create_hypertable('a', by_hash('k', 1));
-- a length that is probably in other units is doubted once, not whenever the table is used
SELECT created FROM create_hypertable('a', 'time', 'k', 1, chunk_time_interval => 1000);
SELECT column_name, time_interval, num_partitions FROM strata.dimensions ORDER BY dimension_number;
INSERT INTO a VALUES ('2026-01-01 00:00:00.0005', 1, 1);
SELECT chunk_name, range_end FROM strata.chunks;
SELECT set_chunk_time_interval('a', interval '2 milliseconds');
SELECT set_chunk_time_interval('a', interval '1 day');
INSERT INTO a SELECT timestamptz '2026-01-02' + g * interval '12 hours', g, g FROM generate_series(0, 5) g;
-- further dimensions
SELECT add_dimension('a', by_hash('k', 4));
SELECT add_dimension('a', by_hash('nothing', 4));
SELECT add_dimension('a', by_hash('k', NULL));
SELECT add_dimension('a', by_hash('k', 0));
SELECT created FROM add_dimension('a', by_hash('k', 1));
SELECT add_dimension('a', by_range('v', 10));
SELECT add_dimension('a', 'k');
SELECT add_dimension('a', 'k', 4, if_not_exists => true);
SELECT add_dimension('a', 'k', chunk_time_interval => 10);
SELECT add_dimension('a', NULL, 4);
SELECT schema_name, table_name, column_name, created FROM add_dimension('a', 'k', 1);
SELECT set_number_partitions('a', 2);
SELECT set_number_partitions('a', 2, 'k');
SELECT set_number_partitions('a', 1);
SELECT set_number_partitions('a', NULL);
-- what is no hypertable
SELECT show_chunks('av');
SELECT show_chunks('p');
SELECT show_chunks(relid) FROM (SELECT format('%I.%I', chunk_schema, chunk_name)::regclass AS relid FROM strata.chunks ORDER BY range_start LIMIT 1) c;
SELECT drop_chunks('av', older_than => now());
SELECT add_retention_policy('a_20260102_chunk', interval '1 day');
SELECT hypertable_size('p'), hypertable_size('av'), hypertable_size('a_20260102_chunk'), hypertable_size(0), hypertable_size(NULL);
SELECT * FROM hypertable_detailed_size('p');
SELECT total_bytes = hypertable_size('a') FROM hypertable_approximate_detailed_size('a');
SELECT hypertable_index_size('a_time_idx') = 4 * hypertable_index_size('a_20260102_chunk_time_idx'), hypertable_index_size('pg_class_oid_index') > 0,
	hypertable_index_size('a'), hypertable_index_size('p'), hypertable_index_size(NULL);
-- limits
SELECT count(*) FROM show_chunks('a', older_than => timestamptz 'infinity');
SELECT count(*) FROM show_chunks('a', newer_than => timestamptz '-infinity', older_than => NULL::timestamptz);
SELECT count(*) FROM show_chunks('a', older_than => timestamptz '-infinity');
SELECT count(*) FROM show_chunks('a', older_than => interval '-10 years');
SELECT show_chunks('a', older_than => interval '178000000 years');
SELECT show_chunks('a', older_than => '1 day');
SELECT show_chunks('a', older_than => true);
SELECT drop_chunks('a', older_than => NULL::timestamptz);
BEGIN READ ONLY;
SELECT drop_chunks('a', older_than => now());
ROLLBACK;
BEGIN;
DECLARE c CURSOR FOR SELECT FROM a;
FETCH c;
SELECT drop_chunks('a', older_than => '2026-01-03');
ROLLBACK;
-- the present of integer time
CREATE TABLE i (t bigint NOT NULL);
SELECT created FROM create_hypertable('i', 't', chunk_time_interval => 10);
CREATE FUNCTION i_set() RETURNS SETOF bigint LANGUAGE sql STABLE AS 'SELECT 5::bigint';
CREATE FUNCTION i_null() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT NULL::bigint';
CREATE AGGREGATE i_agg(*) (SFUNC = int8inc, STYPE = bigint, INITCOND = 0);
SELECT set_integer_now_func('i', 'i_set');
SELECT set_integer_now_func('i', 'i_agg');
SELECT set_integer_now_func('i', 0::regproc);
SELECT set_integer_now_func('i', 'i_null');
SELECT add_retention_policy('i', 10);
CREATE OR REPLACE FUNCTION i_null() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT 100::bigint';
INSERT INTO i VALUES (1), (95);
SELECT add_retention_policy('i', 10) AS job \gset
CALL run_job(:job);
SELECT show_chunks('i');
DROP FUNCTION i_null;
CALL run_job(:job);
-- jobs
CREATE PROCEDURE a_job(job_id int, config jsonb) LANGUAGE sql AS 'SELECT 1';
SELECT add_job('a_job', '1 h', '[1]', scheduled => false) AS job \gset
\set VERBOSITY terse
SELECT alter_job(:job, config_merge => '{"a": 1}');
SELECT alter_job(:job, config_merge => '[2]');
SELECT config FROM alter_job(:job, config => '{"a": 1}', config_merge => '{"b": 1}');
SELECT alter_job(:job, config_merge => '[2]');
\set VERBOSITY default
SELECT delete_job(:job);
DROP TABLE a, i, p CASCADE;
DROP PROCEDURE a_job;
DROP AGGREGATE i_agg(*);
DROP FUNCTION i_set;
