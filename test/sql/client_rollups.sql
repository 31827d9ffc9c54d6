-- What clients send for continuous aggregates: timescaledb 0.2.1 for Python (SQLModel), @timescaledb/core 0.0.1, the timescaledb gem, migration scripts.
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET client_min_messages = warning;
SET ROLE postgres;
CREATE EXTENSION IF NOT EXISTS timescaledb CASCADE;
SELECT setval('_strata.job_id_seq', 7000, false);
RESET ROLE;
CREATE SCHEMA app;
CREATE TABLE readings (time timestamptz NOT NULL, device_id text NOT NULL, "Temperature" float8, amount numeric);
SELECT create_hypertable('readings', 'time', chunk_time_interval => interval '12 hours') IS NOT NULL AS made;
ALTER TABLE readings SET (timescaledb.compress, timescaledb.compress_segmentby = 'device_id');
INSERT INTO readings SELECT '2026-01-01'::timestamptz + i * interval '5 minutes', 'd' || i % 4, i % 50, i FROM generate_series(0, 1151) i WHERE i % 20 <> 7;
SELECT count(compress_chunk(c)) FROM show_chunks('readings') c;
INSERT INTO readings SELECT '2026-01-01'::timestamptz + i * interval '5 minutes', 'd' || i % 4, i % 50, i FROM generate_series(0, 1151) i WHERE i % 20 = 7;

-- Python: a session is a transaction; filled as far as that goes, and right in any case
BEGIN;
CREATE MATERIALIZED VIEW app.hourly (bucket, device, average, n)
WITH (timescaledb.continuous, timescaledb.chunk_interval = '7 days', timescaledb.create_group_indexes = true, timescaledb.finalized = true, timescaledb.materialized_only = false, timescaledb.invalidate_using = 'trigger')
AS
SELECT time_bucket(INTERVAL '1 hour', time), device_id, avg("Temperature"), count(*) FROM readings GROUP BY 1, 2
WITH DATA;
COMMIT;
CREATE FUNCTION same() RETURNS bigint LANGUAGE sql AS $$
	WITH r AS (SELECT time_bucket('1 hour', time), device_id, avg("Temperature"), count(*) FROM readings GROUP BY 1, 2)
	SELECT count(*) FROM ((TABLE r EXCEPT ALL TABLE app.hourly) UNION ALL (TABLE app.hourly EXCEPT ALL TABLE r)) d $$;
SELECT same();
BEGIN;
CALL refresh_continuous_aggregate(
    'app.hourly', NULL, NULL
);
COMMIT;
CALL refresh_continuous_aggregate(
    'app.hourly', '2026-01-01', '2026-01-03', force => true, refresh_newest_first => true
);
CALL refresh_continuous_aggregate(
    'app.hourly', '2026-01-01 00:00:00+00:00', CAST('1 hour' AS INTERVAL)
);
SELECT same();
SELECT add_continuous_aggregate_policy(
    'app.hourly', start_offset => CAST('3 days' AS INTERVAL), end_offset => CAST('3600 seconds' AS INTERVAL), schedule_interval => CAST('1 hour' AS INTERVAL)
);
SELECT add_continuous_aggregate_policy(
    'app.hourly', start_offset => CAST('3 days' AS INTERVAL), end_offset => CAST('3600 seconds' AS INTERVAL), schedule_interval => CAST('1 hour' AS INTERVAL), if_not_exists => true, timezone => 'Europe/Berlin', include_tiered_data => false
);
SELECT add_continuous_aggregate_policy(
    'app.hourly', start_offset => NULL, end_offset => CAST('3 days' AS INTERVAL), schedule_interval => CAST('86400 seconds' AS INTERVAL), initial_start => '2100-01-01 00:00:00+00:00', buckets_per_batch => 10, max_batches_per_execution => 5, refresh_newest_first => false
);
SELECT job_id, application_name, schedule_interval, config - 'mat_hypertable_id' AS config, hypertable_schema, hypertable_name, initial_start FROM timescaledb_information.jobs WHERE proc_name = 'policy_refresh_continuous_aggregate' ORDER BY 1;
CALL run_job(7000);
SELECT remove_continuous_aggregate_policy(
    'app.hourly', if_exists => true
);
SELECT remove_continuous_aggregate_policy(
    'app.hourly', if_exists => true
);
ALTER MATERIALIZED VIEW app.hourly
ADD COLUMN high double precision
GENERATED ALWAYS AS (max("Temperature")) STORED;
DROP MATERIALIZED VIEW app.hourly;
DROP FUNCTION same();

-- npm: the groups are named by their aliases; a view on a view; looked for by name
SELECT EXISTS (
      SELECT FROM timescaledb_information.continuous_aggregates
      WHERE view_name = 'hourly_readings'
    ) as hypertable_exists;
CREATE MATERIALIZED VIEW "hourly_readings" WITH (timescaledb.continuous) AS
      SELECT
        time_bucket('1 hour', "time") as "bucket",
      "device_id" as "device_id",
      COUNT(*) as "n",
      SUM("amount") as "total",
      AVG("Temperature") as "avg_temp",
      MIN("Temperature") as "low",
      MAX("Temperature") as "high",
      COUNT(DISTINCT "Temperature") as "different"
      FROM "readings"
      GROUP BY "bucket", "device_id"
     WITH NO DATA;
SELECT add_continuous_aggregate_policy('hourly_readings',
      start_offset => INTERVAL '30 days',
      end_offset => INTERVAL '1 hour',
      schedule_interval => INTERVAL '1 hour'
    );
CREATE MATERIALIZED VIEW "daily_readings" WITH (timescaledb.continuous) AS
      SELECT
        time_bucket('1 day', "bucket") as "day",
      "device_id" as "device_id",
      SUM("n") as "n",
      MAX("high") as "high"
      FROM "hourly_readings"
      GROUP BY "day", "device_id"
     WITH NO DATA;
SELECT EXISTS (
      SELECT FROM timescaledb_information.continuous_aggregates
      WHERE view_name = 'daily_readings'
    ) as hypertable_exists;
CALL refresh_continuous_aggregate('daily_readings', NULL, NULL);
SELECT * FROM "daily_readings" WHERE "device_id" = 'd1' ORDER BY "day" LIMIT 2;
SELECT "bucket", "different", "total" FROM "hourly_readings" WHERE "device_id" = 'd1' AND "bucket" >= '2026-01-02' ORDER BY "bucket" LIMIT 2;
SELECT hypertable_name FROM timescaledb_information.hypertables ORDER BY 1;
SELECT user_view_schema, user_view_name, mat_hypertable_id = 'hourly_readings_archive'::regclass::oid AS id FROM _timescaledb_catalog.continuous_agg ORDER BY 2;
SELECT remove_continuous_aggregate_policy('hourly_readings', if_exists => true);
DROP MATERIALIZED VIEW IF EXISTS "daily_readings";
DROP MATERIALIZED VIEW IF EXISTS "hourly_readings";
DROP MATERIALIZED VIEW IF EXISTS "hourly_readings";

-- the gem, and scripts: policies for compression and retention of the view, and its chunks
CREATE MATERIALIZED VIEW per_day
WITH (tsdb.continuous, tsdb.materialized_only = true) AS
SELECT device_id, time_bucket('1 day', "time") AS "time", sum(amount) AS total FROM readings GROUP BY 1, 2
WITH NO DATA;
ALTER MATERIALIZED VIEW per_day SET (timescaledb.materialized_only = false);
ALTER MATERIALIZED VIEW per_day SET (timescaledb.compress = true);
ALTER MATERIALIZED VIEW per_day SET (timescaledb.enable_columnstore);
SELECT add_compression_policy('per_day', compress_after => INTERVAL '45 days');
CALL add_columnstore_policy('per_day', after => INTERVAL '45 days', if_not_exists => true);
SELECT add_retention_policy('per_day', INTERVAL '5 years');
SELECT add_retention_policy('readings', INTERVAL '100 years');
CALL refresh_continuous_aggregate('per_day', '2026-01-01', '2026-02-01');
SELECT count(compress_chunk(c, true)) FROM show_chunks('per_day') c;
SELECT count(*), sum(total) FROM per_day;
SELECT hypertable_name, application_name FROM timescaledb_information.jobs WHERE job_id >= 7000 ORDER BY job_id;
SELECT view_name, materialized_only, compression_enabled, finalized, regexp_replace(view_definition, 'readings\.', '', 'g') AS view_definition FROM timescaledb_information.continuous_aggregates;
SELECT remove_retention_policy('per_day'), remove_compression_policy('per_day');
DROP MATERIALIZED VIEW per_day CASCADE;
DROP TABLE readings CASCADE;
DROP SCHEMA app;
SET ROLE postgres;
DROP EXTENSION timescaledb;
DROP EXTENSION strata_timescale_compat;
