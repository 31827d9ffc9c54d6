-- Listing, dropping, making, compressing chunks; sizes and views.
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET intervalstyle = 'postgres';
CREATE TABLE c (time timestamptz NOT NULL, d int, v float8, note text);
SELECT created FROM create_hypertable('c', 'time', chunk_time_interval => interval '1 day');
INSERT INTO c SELECT '2026-01-01'::timestamptz + g * interval '10 minutes', g % 3, g, 'note ' || g FROM generate_series(0, 144 * 6 - 1) g;
SELECT show_chunks('c');
SELECT show_chunks('c', older_than => '2026-01-03');
SELECT show_chunks('c', newer_than => timestamp '2026-01-05 00:00', older_than => date '2026-01-07');
SELECT show_chunks('c', timestamptz '2026-01-03 00:00+01', timestamptz '2025-12-01');
SELECT count(*) FROM show_chunks('c', older_than => interval '1 day') WHERE now() > '2026-01-08';
SELECT count(*) FROM show_chunks('c', created_after => interval '1 hour');
SELECT count(*) FROM show_chunks('c', created_before => now() - interval '1 hour');
SELECT show_chunks('c', older_than => now(), created_after => interval '1 hour');
SELECT show_chunks('c', older_than => 7);
SET ROLE postgres;
SELECT show_chunks('pg_class');
RESET ROLE;
SELECT show_chunks(NULL);
-- views
SELECT hypertable_schema, hypertable_name, num_dimensions, num_chunks, compression_enabled, primary_dimension, primary_dimension_type FROM strata.hypertables;
SELECT chunk_name, primary_dimension, range_start, range_end, range_start_integer, is_compressed, chunk_creation_time > now() - interval '1 hour' AS fresh
FROM strata.chunks WHERE hypertable_name = 'c' ORDER BY range_start;
SELECT * FROM strata.dimensions;
-- compression, by settings of the hypertable
ALTER TABLE c SET (strata.segmentby = 'd', strata.orderby = 'time');
SELECT * FROM strata.compression_settings ORDER BY attname;
SELECT compress_chunk(x) FROM show_chunks('c', older_than => '2026-01-03') x;
SELECT DISTINCT segment FROM strata.batches('c_20260101_chunk') ORDER BY 1;
CALL convert_to_columnstore('c_20260103_chunk');
CALL convert_to_columnstore('c_20260103_chunk');
CALL convert_to_rowstore('c_20260102_chunk');
SELECT chunk_name, is_compressed FROM strata.chunks WHERE hypertable_name = 'c' ORDER BY range_start;
SELECT total_chunks, number_compressed_chunks, before_compression_total_bytes > after_compression_total_bytes FROM hypertable_compression_stats('c');
SELECT chunk_name, compression_status FROM chunk_compression_stats('c') ORDER BY 1;
SELECT count(*), sum(v) FROM c;
INSERT INTO c VALUES ('2026-01-01 00:05', 1, 0, 'late');
CALL recompress_chunk('c_20260101_chunk');
SELECT count(*) FROM c WHERE note = 'late';
-- sizes
SELECT sum(total_bytes) = (SELECT total_bytes FROM hypertable_detailed_size('c')) AS parts_are_the_whole,
	sum(total_bytes) = hypertable_size('c') AS same, count(*), bool_and(table_bytes + index_bytes + toast_bytes = total_bytes) AS adds_up
FROM chunks_detailed_size('c');
-- without chunks
CREATE TABLE c_empty (time timestamptz NOT NULL);
SELECT hypertable_size('c_empty') AS no_hypertable;
SELECT created FROM create_hypertable('c_empty', 'time');
SELECT hypertable_size('c_empty');
DROP TABLE c_empty;
SELECT hypertable_index_size('c_time_idx') > 0, hypertable_size('pg_class') IS NULL, hypertable_approximate_size('c') > 0;
ANALYZE c;
SELECT approximate_row_count('c');
-- dropping
SELECT drop_chunks('c');
SELECT drop_chunks('c', older_than => '2026-01-03', verbose => true);
SELECT drop_chunks('c', newer_than => '2026-01-06');
CREATE VIEW on_chunk AS SELECT * FROM c_20260104_chunk;
SELECT drop_chunks('c', older_than => '2026-01-05');
DROP VIEW on_chunk;
CREATE ROLE hyper_other;
GRANT hyper_other TO CURRENT_USER;
SET ROLE hyper_other;
SELECT drop_chunks('c', older_than => '2026-01-05');
SELECT set_chunk_time_interval('c', 1);
SELECT create_chunks('c', now());
RESET ROLE;
DROP ROLE hyper_other;
BEGIN;
SELECT drop_chunks('c', created_after => interval '1 day');
SELECT count(*) FROM c;
ROLLBACK;
SELECT count(*), (SELECT count(*) FROM show_chunks('c')) FROM c;
SELECT strata.gc();
-- ahead
SELECT create_chunks('c', now(), date_trunc('day', now()) + interval '4 days');
SELECT create_chunks('c', interval '0', now() + interval '3 days');
SELECT count(*) FROM show_chunks('c', newer_than => now() - interval '1 day');
SELECT create_chunks('c', NULL::interval);
SELECT create_chunks(NULL, now());
SELECT create_chunks('c', '2026-02-02', '2026-02-01');
SELECT create_chunks('c', '2026-02-02', 'infinity');
CREATE TEMP TABLE no_hypertable (t int);
SELECT create_chunks('no_hypertable', 1, 2);
-- not undone with the transaction, as the chunks of rows
BEGIN;
SELECT create_chunks('c', '2031-02-02 12:00', NULL);
ROLLBACK;
SELECT create_chunks('c', '2031-02-01', '2031-02-05'), create_chunks('c', '2031-02-01', '2031-02-05');
SELECT show_chunks('c', newer_than => '2031-01-01');
SELECT count(*) FROM drop_chunks('c', newer_than => '2031-01-01');

-- integer time
CREATE TABLE i (t bigint NOT NULL, v int);
SELECT created FROM create_hypertable('i', 't', chunk_time_interval => 100);
INSERT INTO i SELECT g, g FROM generate_series(-150, 450, 10) g;
SELECT show_chunks('i', 200);
SELECT show_chunks('i', newer_than => 0, older_than => 300);
SELECT show_chunks('i', interval '1 day');
CREATE FUNCTION i_now() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT 750::bigint';
CREATE FUNCTION i_wrong() RETURNS int LANGUAGE sql STABLE AS 'SELECT 750';
SELECT set_integer_now_func('i', 'i_wrong');
SELECT set_integer_now_func('i', 'i_now');
SELECT set_integer_now_func('i', 'i_now');
SELECT set_integer_now_func('i', 'i_now', replace_if_exists => true);
SELECT set_integer_now_func('c', 'i_now');
SELECT create_chunks('i', now(), 1000);
SELECT create_chunks('i', 750, 1050);
SELECT chunk_name, range_start, range_start_integer, range_end_integer FROM strata.chunks WHERE hypertable_name = 'i' ORDER BY range_start_integer;
SELECT * FROM strata.dimensions WHERE hypertable_name = 'i';
SELECT * FROM strata.compression_settings WHERE hypertable_name = 'i';
SELECT drop_chunks('i', older_than => 0);
SELECT min(t) FROM i;
SELECT set_chunk_time_interval('i', 1000);
SELECT set_chunk_time_interval('i', 1000, 'v');
SELECT set_chunk_time_interval('i', interval '1 day');
INSERT INTO i VALUES (1100, 1), (2100, 1), (460, 2);
SELECT chunk_name, range_start_integer, range_end_integer FROM strata.chunks WHERE hypertable_name = 'i' AND range_end_integer > 900 ORDER BY range_start_integer;
DROP TABLE c, i;
DROP FUNCTION i_now, i_wrong;
SELECT count(*) FROM strata.hypertables;
-- nobody makes the views fail by what he writes beside his own chunk
CREATE TABLE v (time timestamptz NOT NULL);
SELECT create_hypertable('v', 'time') IS NOT NULL;
SET datestyle = 'ISO, DMY';
CREATE TABLE v_20260101_chunk PARTITION OF v FOR VALUES FROM ('2026-01-01') TO ('2026-01-08') USING strata WITH (strata.created = 'garbage');
CREATE TABLE v_20260101_chunk PARTITION OF v FOR VALUES FROM ('2026-01-01') TO ('2026-01-08') USING strata WITH (strata.created = '13/02/2026 UTC');
INSERT INTO v VALUES ('2026-01-01');
SELECT chunk_creation_time AT TIME ZONE 'UTC' AS made FROM strata.chunks;
SET datestyle = 'ISO, MDY';
SELECT chunk_creation_time FROM strata.chunks;
SELECT count(*) FROM show_chunks('v', created_after => timestamptz '2026-01-01');
RESET datestyle;
DROP TABLE v;
-- the worker that makes chunks ends before the session that it made them for
CREATE TABLE w (t bigint NOT NULL);
SELECT create_hypertable('w', 't', chunk_time_interval => 10) IS NOT NULL;
CREATE TABLE who AS SELECT pg_backend_pid() AS pid;
INSERT INTO w VALUES (5);
\c -
DO $$
BEGIN
	WHILE EXISTS (SELECT FROM pg_stat_activity JOIN who USING (pid)) LOOP
		PERFORM pg_stat_clear_snapshot();
	END LOOP;
END $$;
SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'strata chunk maker' AND datname = current_database();
DROP TABLE w, who;
-- a point between two days, where time is of days: the chunks that a twin of timestamptz would give
SET timezone = 'UTC';
SET datestyle = 'ISO';
CREATE TABLE day (t date NOT NULL, v int);
CREATE TABLE moment (t timestamptz NOT NULL, v int);
SELECT created FROM create_hypertable('day', 't', chunk_time_interval => interval '1 day');
SELECT created FROM create_hypertable('moment', 't', chunk_time_interval => interval '1 day');
INSERT INTO day VALUES ('2024-02-29', 1), ('2024-03-01', 2), ('2024-03-02', 3);
INSERT INTO moment SELECT * FROM day;
SELECT p, older, newer, older = older_twin AND newer = newer_twin AS same FROM unnest(ARRAY['2024-02-29', '2024-03-01', '2024-03-01 00:00:00.000001', '2024-03-01 12:00', '2024-03-02 23:59:59.999999', 'infinity', '-infinity']::timestamp[]) p,
	LATERAL (SELECT count(*) AS older FROM show_chunks('day', older_than => p)) a, LATERAL (SELECT count(*) AS newer FROM show_chunks('day', newer_than => p)) b,
	LATERAL (SELECT count(*) AS older_twin FROM show_chunks('moment', older_than => p)) c, LATERAL (SELECT count(*) AS newer_twin FROM show_chunks('moment', newer_than => p)) d;
SELECT show_chunks('day', newer_than => '2024-03-01 12:00');
SELECT show_chunks('day', newer_than => timestamptz '2024-03-01 00:00+01'), show_chunks('day', newer_than => timestamptz '2024-03-01 23:00-01');
SELECT drop_chunks('day', newer_than => timestamp '2024-03-01 12:00');
SELECT * FROM day ORDER BY t;
SELECT create_chunks('day', timestamp '2024-03-05 12:00', timestamp '2024-03-05 13:00'), create_chunks('day', timestamp '2024-03-05', timestamp '2024-03-06');
SELECT create_chunks('day', date '2024-04-01', date '2024-04-03');
CREATE TABLE week (t date NOT NULL);
SELECT created FROM create_hypertable('week', 't', chunk_time_interval => interval '7 days');
INSERT INTO week SELECT date '2024-03-07' + g FROM generate_series(0, 6) g;
CALL split_chunk('week_20240307_chunk', timestamp '2024-03-09 12:00');
SELECT tableoid::regclass, min(t), max(t) FROM week GROUP BY 1 ORDER BY 2;
-- days that no timestamp reaches
SELECT count(*) FROM show_chunks('day', older_than => date '300000-01-01');
SELECT count(*) FROM show_chunks('moment', older_than => date '300000-01-01');
SELECT count(*) FROM show_chunks('day', older_than => date 'infinity');
SELECT count(*) FROM show_chunks('moment', newer_than => date '-infinity');
DROP TABLE day, moment, week;
-- chunks of days that no timestamp reaches are listed, and measured
CREATE TABLE late (t date NOT NULL);
SELECT created FROM create_hypertable('late', 't', chunk_time_interval => interval '1 month');
INSERT INTO late VALUES ('294276-12-31'), ('294277-01-01'), ('5874897-12-31'), ('infinity'), ('-infinity'), ('4713-01-01 BC');
SELECT chunk_name, range_start, range_end FROM strata.chunks WHERE hypertable_name = 'late' ORDER BY range_start, range_end;
SELECT hypertable_size('late') > 0 AS size, (SELECT count(*) FROM chunks_detailed_size('late')) AS chunks;
SELECT add_retention_policy('late', interval '1 year', initial_start => '2100-01-01') > 0 AS policy;
SELECT add_compression_policy('late', interval '1 year', initial_start => '2100-01-01') > 0 AS policy;
SELECT count(*) >= 0 AS problems FROM strata.problems WHERE object = 'late';
SELECT count(compress_chunk(c)) FROM show_chunks('late') c;
SELECT count(*) FROM strata.stat_hypertables WHERE relname = 'late';
SELECT t FROM late ORDER BY t DESC LIMIT 3;
DROP TABLE late;
