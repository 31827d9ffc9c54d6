-- docs/functions.sql
--	  One example of each function, procedure, aggregate and view that users call.  tools/functions.py
--	  makes docs/functions.md of them and of what the catalog says of each (arguments, COMMENT ON);
--	  test/t/420_documents.pl runs them all, as a role that is no superuser, and finds what has none.
--
--	  "-- # Title" begins a page section, in a database of its own; lines "-- ..." right below are its text.
--	  "-- ## name" begins the example of that name, "-- ## " alone statements that are not shown.

-- # Hypertables
-- A hypertable is a table partitioned by ranges of time. Its partitions are called chunks, and are made when rows need them.
CREATE TABLE conditions (time timestamptz NOT NULL, device text NOT NULL, temperature float8);
CREATE TABLE metrics (ts bigint NOT NULL, v float8);
CREATE TABLE old_conditions (LIKE conditions);
INSERT INTO old_conditions VALUES ('2025-12-01 12:00+00', 'd1', 7.5);
RESET SESSION AUTHORIZATION;
CREATE TABLESPACE fast LOCATION '';
CREATE TABLESPACE slow LOCATION '';
GRANT CREATE ON TABLESPACE fast, slow TO docs_owner;
SET SESSION AUTHORIZATION docs_owner;
-- ## create_hypertable
SELECT create_hypertable('conditions', 'time', chunk_time_interval => interval '1 day');
-- ## by_range
SELECT create_hypertable('metrics', by_range('ts', 86400000));
-- ## 
INSERT INTO conditions
SELECT t, 'd' || d, round((20 + d + 5 * sin(extract(epoch FROM t) / 13750))::numeric, 1)
FROM generate_series('2026-01-01'::timestamptz, '2026-01-04 23:59', '1 minute') t, generate_series(1, 4) d;
-- ## set_chunk_time_interval
SELECT set_chunk_time_interval('conditions', interval '12 hours');    -- chunks to come; those that are there keep their range
-- ## set_partitioning_interval
SELECT set_partitioning_interval('conditions', interval '1 day');
-- ## create_chunks
SELECT create_chunks('conditions', '2026-01-05', '2026-01-08');       -- ahead of the rows
-- ## show_chunks
SELECT show_chunks('conditions', newer_than => '2026-01-03'::timestamptz);
-- ## drop_chunks
SELECT drop_chunks('conditions', older_than => '2026-01-02'::timestamptz);
-- ## split_chunk
CALL split_chunk('conditions_20260102_chunk', split_at => '2026-01-02 12:00'::timestamptz);
-- ## merge_chunks
CALL merge_chunks('conditions_20260102_chunk', 'conditions_20260102_120000_chunk');
-- ## attach_chunk
CALL attach_chunk('conditions', 'old_conditions', '{"time": ["2025-12-01", "2025-12-02"]}');
-- ## detach_chunk
CALL detach_chunk('old_conditions');
-- ## reorder_chunk
SELECT reorder_chunk('conditions_20260103_chunk', 'conditions_time_idx');
-- ## move_chunk
SELECT move_chunk('conditions_20260102_chunk', 'slow', index_destination_tablespace => 'slow');
-- ## attach_tablespace
SELECT attach_tablespace('fast', 'conditions');
-- ## show_tablespaces
SELECT show_tablespaces('conditions');
-- ## detach_tablespace
SELECT detach_tablespace('fast', 'conditions');
-- ## detach_tablespaces
SELECT detach_tablespaces('conditions');
-- ## set_integer_now_func
CREATE FUNCTION ms_now() RETURNS bigint LANGUAGE sql STABLE AS $$ SELECT (extract(epoch FROM now()) * 1000)::bigint $$;
SELECT set_integer_now_func('metrics', 'ms_now');
-- ## add_dimension
SELECT add_dimension('conditions', by_hash('device', 4));             -- shown, makes no partitions
-- ## by_hash
SELECT add_dimension('metrics', by_hash('v', 2), if_not_exists => true);
-- ## set_number_partitions
SELECT set_number_partitions('conditions', 8, 'device');
-- ## 
RESET SESSION AUTHORIZATION;
ALTER TABLE conditions_20260102_chunk SET TABLESPACE pg_default;
ALTER INDEX conditions_20260102_chunk_time_idx SET TABLESPACE pg_default;
DROP TABLESPACE fast;
DROP TABLESPACE slow;
SET SESSION AUTHORIZATION docs_owner;

-- # Compression
-- Rows become batches, and batches rows. A table, a chunk, or a hypertable with all its chunks may be named.
CREATE TABLE conditions (time timestamptz NOT NULL, device text NOT NULL, temperature float8);
SELECT create_hypertable('conditions', 'time', chunk_time_interval => interval '1 day');
ALTER TABLE conditions SET (strata.segmentby = 'device');
INSERT INTO conditions
SELECT t, 'd' || d, round((20 + d + 5 * sin(extract(epoch FROM t) / 13750))::numeric, 1)
FROM generate_series('2026-01-01'::timestamptz, '2026-01-04 23:59', '1 minute') t, generate_series(1, 4) d;
CREATE TABLE plain (time timestamptz NOT NULL, device text, v float8);
CREATE INDEX ON plain (time);
INSERT INTO plain SELECT * FROM conditions;
ANALYZE plain;
-- ## estimate_compression
SELECT * FROM estimate_compression('plain', segmentby => 'device', orderby => 'time');   -- a heap table; writes nothing
-- ## advise_compression
SELECT segmentby, ratio, reason, command FROM advise_compression('plain');
-- ## strata.codec_choice
SELECT column_name, codec, bytes, reason FROM strata.codec_choice('conditions') WHERE column_name = 'temperature';
-- ## compress_chunk
SELECT compress_chunk(c) FROM show_chunks('conditions', older_than => '2026-01-03'::timestamptz) c;
-- ## recompress_chunk
CALL recompress_chunk('conditions_20260101_chunk');            -- late rows are merged into the batches
-- ## decompress_chunk
SELECT decompress_chunk('conditions_20260102_chunk');
-- ## convert_to_columnstore
CALL convert_to_columnstore('conditions_20260102_chunk');
-- ## convert_to_rowstore
CALL convert_to_rowstore('conditions_20260102_chunk');
-- ## strata.compress_all
CALL strata.compress_all('conditions');                               -- chunk by chunk, each in its own transaction
-- ## strata.convert
CALL strata.convert('plain', 'time', chunk_time_interval => '1 day', segmentby => 'device', dry_run => true);
-- ## strata.verify
SELECT * FROM strata.verify('conditions');                            -- no rows: all batches are sound
-- ## strata.batches
SELECT chunk, segment, nrows, bytes FROM strata.batches('conditions') LIMIT 3;
-- ## strata.batch_columns
SELECT column_name, codec, bytes, min, max FROM strata.batch_columns('conditions') LIMIT 3;
-- ## strata.batch_relation
SELECT strata.batch_relation('conditions_20260101_chunk');
-- ## strata.gc
SELECT strata.gc();                                                   -- for superusers; normally 0
-- ## strata.to_heap
CALL strata.to_heap('conditions');                                    -- the way out: heap partitions

-- # Batches between servers
-- One server's batches become another's without being decoded on the way ([SQL reference](sql-reference.md#batches-to-another-server)).
CREATE TABLE conditions (time timestamptz NOT NULL, device text NOT NULL, temperature float8);
SELECT create_hypertable('conditions', 'time', chunk_time_interval => interval '1 day');
ALTER TABLE conditions SET (strata.segmentby = 'device');
INSERT INTO conditions
SELECT t, 'd' || d, round((20 + d + 5 * sin(extract(epoch FROM t) / 13750))::numeric, 1)
FROM generate_series('2026-01-01'::timestamptz, '2026-01-02 23:59', '1 minute') t, generate_series(1, 4) d;
SELECT compress_chunk('conditions');
CREATE TABLE received (LIKE conditions);
SELECT create_hypertable('received', 'time', chunk_time_interval => interval '1 day');
-- ## strata.export_batches
CREATE UNLOGGED TABLE inbox AS SELECT * FROM strata.export_batches('conditions');   -- by COPY ... (FORMAT binary) from another server
-- ## strata.import_batches
CALL strata.import_batches('received', 'inbox');
-- ## strata.imports
SELECT relation, units, rows, complete FROM strata.imports;
-- ## strata.forget_import
SELECT strata.forget_import('received');                              -- so that the same units may come again

-- # Page deduplication
-- For tables that are read and changed row by row: repeated values of a page stand once.
CREATE TABLE orders (id int PRIMARY KEY, customer text, city text);
INSERT INTO orders SELECT i, 'customer ' || i % 20, (ARRAY['San Francisco', 'Amsterdam', 'Rio de Janeiro'])[1 + i % 3] FROM generate_series(1, 20000) i;
-- ## strata.estimate_dedup
SELECT * FROM strata.estimate_dedup('orders');                        -- a heap table; writes nothing
-- ## strata.dedup_stats
ALTER TABLE orders SET ACCESS METHOD strata_dedup;
SELECT pages, pages_with_symbols, bytes, bytes_saved, ratio FROM strata.dedup_stats('orders');
-- ## strata.page_symbols
SELECT uses, columns, value FROM strata.page_symbols('orders', 0) ORDER BY uses DESC LIMIT 3;
-- ## 
RESET SESSION AUTHORIZATION;
CREATE TABLESPACE fast OWNER docs_owner LOCATION '';
SET SESSION AUTHORIZATION docs_owner;
-- ## strata.set_tablespace_access_method
SELECT strata.set_tablespace_access_method('fast', 'strata_dedup');
CREATE TABLE customers (id int PRIMARY KEY, city text) TABLESPACE fast;   -- is of strata_dedup
SELECT strata.set_tablespace_access_method('fast', NULL);                 -- new tables are heaps again
-- ## 
DROP TABLE customers;
DROP TABLESPACE fast;

-- # Sizes and savings
CREATE TABLE conditions (time timestamptz NOT NULL, device text NOT NULL, temperature float8);
SELECT create_hypertable('conditions', 'time', chunk_time_interval => interval '1 day');
ALTER TABLE conditions SET (strata.segmentby = 'device');
INSERT INTO conditions
SELECT t, 'd' || d, round((20 + d + 5 * sin(extract(epoch FROM t) / 13750))::numeric, 1)
FROM generate_series('2026-01-01'::timestamptz, '2026-01-04 23:59', '1 minute') t, generate_series(1, 4) d;
SELECT compress_chunk(c) FROM show_chunks('conditions', older_than => '2026-01-03'::timestamptz) c;
-- ## pg_get_compression_ratio
SELECT pg_get_compression_ratio('conditions');
-- ## strata.savings_report
SELECT relation, bytes_as_rows, bytes_now, saved_percent, saved_per_year FROM strata.savings_report(0.10, 2);
-- ## chunk_compression_stats
SELECT chunk_name, before_compression_total_bytes, after_compression_total_bytes FROM chunk_compression_stats('conditions');
-- ## hypertable_compression_stats
SELECT number_compressed_chunks, before_compression_total_bytes, after_compression_total_bytes FROM hypertable_compression_stats('conditions');
-- ## chunk_columnstore_stats
SELECT chunk_name, after_compression_total_bytes FROM chunk_columnstore_stats('conditions');
-- ## hypertable_columnstore_stats
SELECT total_chunks, number_compressed_chunks FROM hypertable_columnstore_stats('conditions');
-- ## hypertable_size
SELECT pg_size_pretty(hypertable_size('conditions'));
-- ## hypertable_detailed_size
SELECT table_bytes, index_bytes, toast_bytes, total_bytes FROM hypertable_detailed_size('conditions');
-- ## chunks_detailed_size
SELECT chunk_name, total_bytes FROM chunks_detailed_size('conditions') ORDER BY total_bytes DESC;
-- ## hypertable_index_size
SELECT hypertable_index_size('conditions_time_idx');
-- ## hypertable_approximate_size
SELECT hypertable_approximate_size('conditions');
-- ## hypertable_approximate_detailed_size
SELECT * FROM hypertable_approximate_detailed_size('conditions');
-- ## approximate_row_count
SELECT approximate_row_count('conditions');                           -- as of the last ANALYZE
-- ## strata.reset_stat_tables
SELECT strata.reset_stat_tables('conditions');

-- # Functions of time
CREATE TABLE conditions (time timestamptz NOT NULL, device text NOT NULL, temperature float8);
INSERT INTO conditions
SELECT t, 'd' || d, round((20 + d + 5 * sin(extract(epoch FROM t) / 13750))::numeric, 1)
FROM generate_series('2026-01-01'::timestamptz, '2026-01-01 23:59', '10 minutes') t, generate_series(1, 4) d;
CREATE TABLE events (id uuid PRIMARY KEY DEFAULT generate_uuidv7(), what text);
INSERT INTO events (what) VALUES ('login'), ('logout');
-- ## time_bucket
SELECT time_bucket('1 day', time, 'Europe/Rome') AS day, avg(temperature) FROM conditions GROUP BY day ORDER BY day;
-- ## first
SELECT device, first(temperature, time) FROM conditions GROUP BY device;
-- ## last
SELECT device, last(temperature, time) FROM conditions GROUP BY device;
-- ## histogram
SELECT device, histogram(temperature, 15, 35, 4) FROM conditions GROUP BY device;
-- ## time_bucket_gapfill
SELECT time_bucket_gapfill('6 hours', time) AS bucket, count(*)
FROM conditions WHERE time >= '2026-01-01' AND time < '2026-01-03' GROUP BY bucket ORDER BY bucket;
-- ## locf
SELECT time_bucket_gapfill('6 hours', time) AS bucket, locf(avg(temperature))
FROM conditions WHERE time >= '2026-01-01' AND time < '2026-01-03' GROUP BY bucket ORDER BY bucket;
-- ## interpolate
SELECT time_bucket_gapfill('5 minutes', time) AS bucket, interpolate(avg(temperature))
FROM conditions WHERE time >= '2026-01-01' AND time < '2026-01-01 01:00' GROUP BY bucket ORDER BY bucket;
-- ## generate_uuidv7
SELECT generate_uuidv7();
-- ## to_uuidv7
SELECT to_uuidv7('2026-01-01 12:00+00');
-- ## to_uuidv7_boundary
SELECT * FROM events WHERE id >= to_uuidv7_boundary(now() - interval '1 day');
-- ## uuid_timestamp
SELECT uuid_timestamp(id), what FROM events;
-- ## uuid_timestamp_micros
SELECT uuid_timestamp_micros(id), what FROM events;
-- ## uuid_version
SELECT uuid_version(id) FROM events;

-- # Continuous aggregates
CREATE TABLE cpu (time timestamptz NOT NULL, host text NOT NULL, usage float8);
SELECT create_hypertable('cpu', 'time', chunk_time_interval => interval '1 day');
INSERT INTO cpu SELECT t, 'h' || h, h * 10 FROM generate_series('2026-01-01'::timestamptz, '2026-01-02 23:59', '10 minutes') t, generate_series(1, 4) h;
CREATE MATERIALIZED VIEW cpu_hour WITH (strata.continuous) AS
    SELECT time_bucket('1 hour', time) AS bucket, host, avg(usage), max(usage), count(*) FROM cpu GROUP BY 1, 2 WITH NO DATA;
-- ## refresh_continuous_aggregate
CALL refresh_continuous_aggregate('cpu_hour', '2026-01-01', '2026-01-02');
-- ## add_continuous_aggregate_policy
SELECT add_continuous_aggregate_policy('cpu_hour', start_offset => interval '7 days', end_offset => interval '1 hour',
                                       schedule_interval => interval '30 minutes');
-- ## remove_continuous_aggregate_policy
SELECT remove_continuous_aggregate_policy('cpu_hour');

-- # Jobs and policies
-- A policy is a job. Jobs run in the background as their owner, who must be able to log in; policies as the owner of the table.
CREATE TABLE cpu (time timestamptz NOT NULL, host text NOT NULL, usage float8);
SELECT create_hypertable('cpu', 'time', chunk_time_interval => interval '1 day');
CREATE TABLE log (at timestamptz DEFAULT now());
CREATE PROCEDURE write_log(job_id int, config jsonb) LANGUAGE sql AS $$ INSERT INTO public.log DEFAULT VALUES $$;
-- ## add_compression_policy
SELECT add_compression_policy('cpu', compress_after => interval '7 days');
-- ## remove_compression_policy
SELECT remove_compression_policy('cpu');
-- ## add_columnstore_policy
CALL add_columnstore_policy('cpu', after => interval '7 days');
-- ## remove_columnstore_policy
CALL remove_columnstore_policy('cpu');
-- ## add_retention_policy
SELECT add_retention_policy('cpu', drop_after => interval '90 days');
-- ## remove_retention_policy
SELECT remove_retention_policy('cpu');
-- ## add_reorder_policy
SELECT add_reorder_policy('cpu', 'cpu_time_idx');
-- ## remove_reorder_policy
SELECT remove_reorder_policy('cpu');
-- ## add_job
SELECT add_job('write_log', interval '1 hour', config => '{"note": "hourly"}', initial_start => '2030-01-01') AS job_id \gset
-- ## alter_job
SELECT alter_job(:job_id, schedule_interval => interval '2 hours', max_retries => 3);
-- ## run_job
CALL run_job(:job_id);                                                -- now, in this session
-- ## delete_job
SELECT delete_job(:job_id);

-- # Views
-- What there is, how it is used, and what is wrong. Everybody sees his own tables and jobs; members of `pg_monitor` see all.
CREATE TABLE cpu (time timestamptz NOT NULL, host text NOT NULL, usage float8);
SELECT create_hypertable('cpu', 'time', chunk_time_interval => interval '1 day');
ALTER TABLE cpu SET (strata.segmentby = 'host');
INSERT INTO cpu SELECT t, 'h' || h, h * 10 FROM generate_series('2026-01-01'::timestamptz, '2026-01-02 23:59', '10 minutes') t, generate_series(1, 4) h;
CREATE MATERIALIZED VIEW cpu_hour WITH (strata.continuous) AS
    SELECT time_bucket('1 hour', time) AS bucket, host, avg(usage), max(usage), count(*) FROM cpu GROUP BY 1, 2;
SELECT add_compression_policy('cpu', interval '7 days');
-- ## strata.problems
SELECT * FROM strata.problems;                                        -- nothing, or what to do
-- ## strata.hypertables
SELECT hypertable_name, num_chunks, compression_enabled FROM strata.hypertables;
-- ## strata.chunks
SELECT chunk_name, range_start, range_end, is_compressed FROM strata.chunks WHERE hypertable_name = 'cpu';
-- ## strata.dimensions
SELECT hypertable_name, column_name, time_interval FROM strata.dimensions;
-- ## strata.compression_settings
SELECT * FROM strata.compression_settings;
-- ## strata.tables
SELECT * FROM strata.tables;
-- ## strata.relation_sizes
SELECT of_hypertable, kind, sum(bytes) FROM strata.relation_sizes GROUP BY 1, 2 ORDER BY 3 DESC;
-- ## strata.progress
SELECT * FROM strata.progress;                                        -- what is being compressed now
-- ## strata.codecs
SELECT * FROM strata.codecs;
-- ## strata.stat_tables
SELECT * FROM strata.stat_tables;
-- ## strata.stat_hypertables
SELECT * FROM strata.stat_hypertables;
-- ## strata.jobs
SELECT job_id, application_name, schedule_interval, next_start FROM strata.jobs WHERE hypertable_name = 'cpu';
-- ## strata.job_stats
SELECT job_id, last_run_status, last_successful_finish, total_failures FROM strata.job_stats;
-- ## strata.job_history
SELECT * FROM strata.job_history ORDER BY 1 DESC LIMIT 10;
-- ## strata.job_errors
SELECT * FROM strata.job_errors;
-- ## strata.continuous_aggregates
SELECT view_name, materialized_only, view_definition FROM strata.continuous_aggregates;
-- ## strata.rollups
SELECT * FROM strata.rollups;                                         -- how far the archive reaches
-- ## strata.archives
SELECT * FROM strata.archives;
