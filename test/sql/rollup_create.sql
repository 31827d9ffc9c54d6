-- rollup_create.sql: CREATE, ALTER and DROP MATERIALIZED VIEW of continuous aggregates, what they refuse, and what they leave behind.
SET timezone = 'UTC';
SET strata.report_compression = off;
CREATE SCHEMA roc_other;
CREATE TABLE roc (time timestamptz NOT NULL, host text, usage float8, n int);
SELECT FROM create_hypertable('roc', 'time', chunk_time_interval => interval '12 hours');
ALTER TABLE roc SET (strata.segmentby = 'host', strata.orderby = 'time');
INSERT INTO roc SELECT '2026-01-01'::timestamptz + i * interval '1 minute', 'h' || h, i % 100, i FROM generate_series(0, 2879) i, generate_series(1, 3) h;
SELECT count(compress_chunk(c)) FROM show_chunks('roc') c;
INSERT INTO roc VALUES ('2026-01-01 00:30:30', 'h1', 7, 1);

-- one, filled; what it consists of
CREATE MATERIALIZED VIEW roc_hour WITH (strata.continuous) AS
	SELECT time_bucket('1 hour', time) AS bucket, host, avg(usage), max(usage) AS top, count(*), sum(n) FROM roc GROUP BY 1, 2;
\d roc_hour
\d roc_hour_archive
SELECT reloptions FROM pg_class WHERE oid = 'roc_hour'::regclass;
SELECT count(*), sum(count) FROM roc_hour;
SELECT count(*), sum(count), sum(sum_usage) FROM roc_hour_archive;
SELECT hypertable_name, view_name, view_owner = current_user AS mine, materialized_only, materialization_hypertable_name FROM strata.continuous_aggregates;
SELECT * FROM strata.rollups;
CREATE MATERIALIZED VIEW IF NOT EXISTS roc_hour WITH (strata.continuous) AS SELECT time_bucket('1 hour', time) AS bucket, count(*) FROM roc GROUP BY 1;
-- on another; not filled; in a transaction; with other column names
BEGIN;
CREATE MATERIALIZED VIEW roc_day (d, h, n) WITH (strata.continuous, strata.create_group_indexes = false, strata.chunk_interval = '30 days')
	AS SELECT time_bucket('1 day', bucket), host, sum(count) FROM roc_hour GROUP BY 1, 2 ORDER BY 1, 2;
COMMIT;
TABLE roc_day;
\d roc_day_archive

-- refused
\set VERBOSITY sqlstate
CREATE MATERIALIZED VIEW roc_hour WITH (strata.continuous) AS SELECT time_bucket('1 hour', time) AS bucket, count(*) FROM roc GROUP BY 1;
\set VERBOSITY terse
CREATE MATERIALIZED VIEW x WITH (strata.continuous, strata.foo) AS SELECT time_bucket('1 hour', time) AS bucket, count(*) FROM roc GROUP BY 1;
CREATE MATERIALIZED VIEW x WITH (strata.continuous, fillfactor = 50) AS SELECT time_bucket('1 hour', time) AS bucket, count(*) FROM roc GROUP BY 1;
CREATE MATERIALIZED VIEW x (a, b, c) WITH (strata.continuous) AS SELECT time_bucket('1 hour', time) AS bucket, count(*) FROM roc GROUP BY 1;
CREATE FUNCTION roc_try(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'CREATE MATERIALIZED VIEW x WITH (strata.continuous) AS ' || query || ' WITH NO DATA';
	DROP MATERIALIZED VIEW x;
	RETURN 'made';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE TABLE roc_plain (time timestamptz, v int);
CREATE TABLE roc_secret (time timestamptz NOT NULL, v int);
SELECT FROM create_hypertable('roc_secret', 'time');
ALTER TABLE roc_secret ENABLE ROW LEVEL SECURITY;
SELECT q, roc_try(q) FROM unnest(ARRAY[
	'SELECT time_bucket(''1 hour'', time), count(*) FROM roc_plain GROUP BY 1', 'SELECT time_bucket(''1 hour'', time), count(*) FROM roc_secret GROUP BY 1',
	'SELECT host, count(*) FROM roc GROUP BY 1', 'SELECT time_bucket(''1 hour'', time), time_bucket(''2 hours'', time), count(*) FROM roc GROUP BY 1, 2',
	'SELECT time_bucket(''1 hour'', time + interval ''1 min''), count(*) FROM roc GROUP BY 1', 'SELECT time_bucket(n * interval ''1 hour'', time), count(*) FROM roc GROUP BY 1, n',
	'SELECT time_bucket(''1 hour'', time) FROM roc GROUP BY 1', 'SELECT DISTINCT time_bucket(''1 hour'', time), count(*) FROM roc GROUP BY 1',
	'SELECT time_bucket(''1 hour'', time), count(*) FROM roc GROUP BY 1 LIMIT 1', 'WITH r AS (SELECT 1) SELECT time_bucket(''1 hour'', time), count(*) FROM roc GROUP BY 1',
	'SELECT time_bucket(''1 hour'', time), count(*) FROM (SELECT * FROM roc) r GROUP BY 1', 'SELECT time_bucket(''1 hour'', time), count(*) FROM roc WHERE n IN (SELECT 1) GROUP BY 1',
	'SELECT time_bucket(''1 hour'', time), count(*) FROM roc GROUP BY 1 UNION SELECT now(), 1', 'SELECT time_bucket(''1 hour'', time), count(*) FROM roc GROUP BY ROLLUP (1)',
	'SELECT time_bucket(''1 hour'', time), count(*), row_number() OVER () FROM roc GROUP BY 1', 'SELECT time_bucket(''1 hour'', r.time), count(*) FROM roc r JOIN roc_plain USING (time) GROUP BY 1',
	'SELECT time_bucket(''1 hour'', time), count(*), generate_series(1, 2) FROM roc GROUP BY 1', 'SELECT time_bucket(''1 hour'', time), count(*) FROM ONLY roc GROUP BY 1',
	'SELECT time_bucket(''1 hour'', time), count(*) FROM roc TABLESAMPLE system (10) GROUP BY 1', 'SELECT time_bucket(''1 hour'', time), count(*) FILTER (WHERE time > now()) FROM roc GROUP BY 1',
	'SELECT date_trunc(''hour'', time), count(*) FROM roc GROUP BY 1', 'SELECT time_bucket(''1 day'', time)::text, count(*) FROM roc GROUP BY 1',
	'SELECT time_bucket(''1 hour'', time), count(*), max(random()) FROM roc GROUP BY 1',
	'SELECT time_bucket(''1 day'', time, ''Europe/Prague''), host, avg(n), stddev(n), last(usage, time), percentile_cont(0.5) WITHIN GROUP (ORDER BY usage) FROM roc WHERE n > 5 GROUP BY 1, 2 HAVING count(*) > 3',
	'SELECT time_bucket(''1 month'', time) AS b, lower(host), sum(n) FILTER (WHERE usage > 3), count(DISTINCT host) FROM roc GROUP BY 1, lower(host) ORDER BY b']) q;
INSERT INTO roc_hour VALUES (now());
\set VERBOSITY default
DROP VIEW roc_hour;
DROP TABLE roc_hour_archive;
DROP TABLE roc;
DROP MATERIALIZED VIEW roc_hour;
REFRESH MATERIALIZED VIEW roc_hour;
CREATE OR REPLACE VIEW roc_hour AS SELECT 1;
CREATE VIEW roc_v WITH (strata.segmentby = 'host') AS SELECT 1;
-- a stranger
CREATE ROLE roc_stranger;
GRANT roc_stranger TO CURRENT_USER;
GRANT CREATE ON SCHEMA roc_other TO roc_stranger;
GRANT USAGE ON SCHEMA roc_other TO roc_stranger;
GRANT SELECT ON roc, roc_hour TO roc_stranger;
SET ROLE roc_stranger;
CREATE MATERIALIZED VIEW roc_other.mine WITH (strata.continuous) AS SELECT time_bucket('1 hour', time), count(*) FROM roc GROUP BY 1;
CREATE MATERIALIZED VIEW roc_other.mine WITH (strata.continuous) AS SELECT time_bucket('1 hour', bucket), count(*) FROM roc_hour GROUP BY 1;
CALL refresh_continuous_aggregate('roc_hour', NULL, NULL);
ALTER MATERIALIZED VIEW roc_hour SET (strata.materialized_only);
ALTER MATERIALIZED VIEW roc_hour RENAME TO stolen;
DROP MATERIALIZED VIEW roc_hour CASCADE;
SELECT count(*) FROM strata.rollups;
RESET ROLE;

-- changes
ALTER MATERIALIZED VIEW roc_hour RENAME TO roc_h;
ALTER MATERIALIZED VIEW roc_h RENAME COLUMN top TO maximum;
ALTER MATERIALIZED VIEW roc_h SET (strata.materialized_only);
ALTER MATERIALIZED VIEW roc_h SET (strata.create_group_indexes = false);
ALTER MATERIALIZED VIEW roc_h SET (fillfactor = 50);
ALTER MATERIALIZED VIEW roc_h SET SCHEMA roc_other;
INSERT INTO roc VALUES ('2026-01-01 00:30:30', 'h1', 1000, 1);
CALL refresh_continuous_aggregate('roc_other.roc_h', NULL, NULL);
SELECT * FROM roc_other.roc_hour_archive ORDER BY 1, 2 LIMIT 2;
SELECT * FROM roc_other.roc_h ORDER BY 1, 2 LIMIT 2;
SELECT view, source, archive, materialized_only, marks FROM strata.rollups ORDER BY 1;
-- an archive under another name; in another schema: with its view
ALTER TABLE roc_other.roc_hour_archive RENAME TO roc_hours;
SELECT reloptions::text LIKE '%strata.archive=roc_hours%' AS named FROM pg_class WHERE oid = 'roc_other.roc_h'::regclass;
ALTER TABLE roc_other.roc_hours SET SCHEMA public;
ALTER TABLE roc_other.roc_hours RENAME TO roc_hour_archive;
-- a dump has the options; what it says makes the rollup again, with the archive that is there
SELECT pg_get_viewdef('roc_other.roc_h') AS definition \gset
DROP MATERIALIZED VIEW roc_day;
\d roc_day_archive
CREATE VIEW roc_restored WITH ("strata.continuous" = 'true', "strata.materialized_only" = 'true', "strata.archive" = 'nowhere') AS :definition
SELECT view, source, archive, materialized_only FROM strata.rollups ORDER BY 1;
DROP MATERIALIZED VIEW roc_restored;
-- gone: nothing is left, and nothing is noted any more
BEGIN;
DROP MATERIALIZED VIEW roc_other.roc_h;
SELECT count(*) FROM strata.rollups;
ROLLBACK;
SELECT view FROM strata.rollups;
DROP SCHEMA roc_other CASCADE;
SELECT count(*) FROM strata.rollups;
CREATE MATERIALIZED VIEW roc_hour WITH (strata.continuous) AS SELECT time_bucket('1 hour', time) AS bucket, count(*) FROM roc GROUP BY 1;
DROP TABLE roc CASCADE;
SELECT relname FROM pg_class WHERE relname LIKE 'roc\_%archive%' AND relkind = 'p';
DROP FUNCTION roc_try;
DROP TABLE roc_plain, roc_secret;
DROP ROLE roc_stranger;
-- chunks of an archive are ten times as long, where the type has as much
CREATE TABLE roc_long (time int8 NOT NULL);
SELECT FROM create_hypertable('roc_long', 'time', chunk_time_interval => 2000000000000000000::int8);
INSERT INTO roc_long VALUES (5);
CREATE MATERIALIZED VIEW roc_long_v WITH (strata.continuous) AS SELECT time_bucket(1000::int8, time) b, count(*) FROM roc_long GROUP BY 1;
SELECT set_chunk_time_interval('roc_long', 9223372036854775807);
CREATE MATERIALIZED VIEW roc_long_w WITH (strata.continuous) AS SELECT time_bucket(2000000000000000000::int8, time) b, count(*) FROM roc_long GROUP BY 1;
SELECT set_chunk_time_interval('roc_long', 922337203685477580);
CREATE MATERIALIZED VIEW roc_long_x WITH (strata.continuous) AS SELECT time_bucket(10::int8, time) b, count(*) FROM roc_long GROUP BY 1;
CREATE TABLE roc_years (time timestamptz NOT NULL);
SELECT FROM create_hypertable('roc_years', 'time', chunk_time_interval => interval '30000 years');
INSERT INTO roc_years VALUES ('2026-01-01');
CREATE MATERIALIZED VIEW roc_years_v WITH (strata.continuous) AS SELECT time_bucket('1 day', time) b, count(*) FROM roc_years GROUP BY 1;
CREATE TABLE roc_days (time date NOT NULL);
SELECT FROM create_hypertable('roc_days', 'time', chunk_time_interval => interval '100000000 days');
INSERT INTO roc_days VALUES ('2026-01-01');
CREATE MATERIALIZED VIEW roc_days_v WITH (strata.continuous) AS SELECT time_bucket('1 day', time) b, count(*) FROM roc_days GROUP BY 1;
SELECT hypertable_name, time_interval, integer_interval FROM strata.dimensions WHERE hypertable_name ~ '^roc_.*_archive' ORDER BY 1;
SELECT * FROM roc_long_v, roc_long_w, roc_long_x, roc_years_v, roc_days_v;
DROP TABLE roc_long, roc_years, roc_days CASCADE;
