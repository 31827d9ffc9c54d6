-- In every snapshot a rollup's view has what its definition says of the rows: cases in which other designs do not.
-- Cases 5 to 7, of rows that are gone, are in rollup_keep.sql.
SET timezone = 'UTC';
SET strata.report_compression = off;
\set VERBOSITY terse
CREATE TABLE roct (ts timestamptz NOT NULL, v int);
SELECT FROM create_hypertable('roct', 'ts', chunk_time_interval => interval '12 hours');
ALTER TABLE roct SET (strata.orderby = 'ts');
INSERT INTO roct SELECT t, 1 FROM generate_series('2026-01-01'::timestamptz, '2026-01-04 23:59', '1 minute') t;
SELECT count(compress_chunk(c)) FROM show_chunks('roct', older_than => '2026-01-04'::timestamptz) c;
CREATE MATERIALIZED VIEW roct_h WITH (strata.continuous) AS SELECT time_bucket('1 hour', ts) AS b, count(*) AS n FROM roct GROUP BY 1;
CREATE MATERIALIZED VIEW roct_d WITH (strata.continuous) AS SELECT time_bucket('1 day', b) AS b, sum(n) AS n FROM roct_h GROUP BY 1;
CREATE MATERIALIZED VIEW roct_m WITH (strata.continuous) AS SELECT time_bucket('1 month', ts) AS b, count(*) AS n FROM roct GROUP BY 1;
CREATE MATERIALIZED VIEW roct_z WITH (strata.continuous) AS SELECT time_bucket('1 hour', ts, 'Europe/Prague') AS b, count(*) AS n FROM roct GROUP BY 1;

-- 1. a late row into an hour that is kept: 61 at once
INSERT INTO roct VALUES ('2026-01-01 05:30:30', 1);
SELECT n FROM roct_h WHERE b = '2026-01-01 05:00';
-- 2. inside the writer's transaction, and through a view on the view: 61, 1442
BEGIN;
INSERT INTO roct VALUES ('2026-01-01 06:30:30', 1);
SELECT n FROM roct_h WHERE b = '2026-01-01 06:00';
SELECT n FROM roct_d WHERE b = '2026-01-01';
COMMIT;
-- 3. a refresh of the upper of two levels: right without any refresh, and after it, in any order
SELECT n FROM roct_d WHERE b = '2026-01-01';
CALL refresh_continuous_aggregate('roct_d', NULL, NULL);
SELECT n FROM roct_d WHERE b = '2026-01-01';
CALL refresh_continuous_aggregate('roct_h', NULL, NULL);
CALL refresh_continuous_aggregate('roct_d', NULL, NULL);
SELECT n FROM roct_d WHERE b = '2026-01-01';
-- 4. a month that is not over, and a row further in it: 5763
INSERT INTO roct VALUES ('2026-01-20', 1);
SELECT n FROM roct_m;
-- 8. a joined table that changes: new names at once
CREATE TABLE roct_names (v int PRIMARY KEY, name text);
INSERT INTO roct_names VALUES (1, 'old');
CREATE MATERIALIZED VIEW roct_j WITH (strata.continuous) AS SELECT time_bucket('1 hour', ts) AS b, name, count(*) FROM roct JOIN roct_names USING (v) GROUP BY 1, 2;
SELECT DISTINCT name FROM roct_j;
UPDATE roct_names SET name = 'new';
SELECT DISTINCT name FROM roct_j;
DROP MATERIALIZED VIEW roct_j;
-- 9. hours of a zone, rows over four days: all 96
SELECT count(*), sum(n) FROM roct_z WHERE b < '2026-01-05';
INSERT INTO roct SELECT t, 1 FROM generate_series('2026-02-01 00:30'::timestamptz, '2026-02-04 23:30', '1 hour') t;
CALL refresh_continuous_aggregate('roct_z', NULL, NULL);
SELECT count(*), sum(n) FROM roct_z WHERE b >= '2026-02-01';
-- 10. a query of the table itself
INSERT INTO roct VALUES ('2026-02-02 05:30:30', 1);
SELECT time_bucket('1 hour', ts) AS b, count(*) AS n FROM roct WHERE ts >= '2026-02-02 05:00' AND ts < '2026-02-02 06:00' GROUP BY 1;
-- rows that are changed in time, and deleted; a chunk emptied
UPDATE roct SET ts = ts + interval '1 hour' WHERE ts = '2026-01-01 07:07';
DELETE FROM roct WHERE ts >= '2026-01-02 05:00' AND ts < '2026-01-02 05:30';
SELECT * FROM roct_h WHERE b BETWEEN '2026-01-01 07:00' AND '2026-01-01 08:00' OR b = '2026-01-02 05:00' ORDER BY 1;
TRUNCATE roct;
SELECT (SELECT count(*) FROM roct_h), (SELECT count(*) FROM roct_d), (SELECT count(*) FROM roct_m), (SELECT count(*) FROM roct_z);
DROP TABLE roct_names;
DROP MATERIALIZED VIEW roct_d;
DROP TABLE roct CASCADE;
