-- Refresh of rollups: what is clean equals the rows, whatever has changed, and only archive rows that differ are written.
SET timezone = 'UTC';
SET strata.batch_rows = 100;
SET strata.report_compression = off;
\set VERBOSITY terse

-- A rollup of a view, whose archive is made by hand: its columns are those of the view.
CREATE FUNCTION rr_make(view regclass, source regclass, chunk text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	bucket name := (SELECT attname FROM pg_attribute WHERE attrelid = view AND attnum = 1);
BEGIN
	EXECUTE format('CREATE TABLE %I AS SELECT * FROM %s WITH NO DATA', view || '_archive', view);
	EXECUTE format('ALTER TABLE %I ALTER %I SET NOT NULL', view || '_archive', bucket);
	IF chunk ~ '^\d+$' THEN
		PERFORM create_hypertable((view || '_archive')::regclass, bucket, chunk_time_interval => chunk::bigint);
	ELSE
		PERFORM create_hypertable((view || '_archive')::regclass, bucket, chunk_time_interval => chunk::interval);
	END IF;
	SET LOCAL ROLE postgres;
	INSERT INTO _strata.rollup VALUES (view, source, (view || '_archive')::regclass);
	RESET ROLE;
END $$;
-- Buckets clean and rows there; rows of clean buckets that are in the archive and not in the view, and the other way round.
CREATE FUNCTION rr_check(view regclass, OUT ranges bigint, OUT rows bigint, OUT differences bigint) LANGUAGE plpgsql AS $$
DECLARE
	bucket name := (SELECT attname FROM pg_attribute WHERE attrelid = view AND attnum = 1);
	type text := (SELECT format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = view AND attnum = 1);
	clean text := CASE type WHEN 'date' THEN format('(%I - ''2000-01-01''::date)', bucket) WHEN 'integer' THEN bucket
		ELSE format('(extract(epoch FROM %I - ''2000-01-01''::%s) * 1000000)::bigint', bucket, type) END;
BEGIN
	EXECUTE format('WITH a AS MATERIALIZED (SELECT * FROM %I a WHERE EXISTS (SELECT FROM _strata.rollup_clean(%L) WHERE %s >= lo AND %3$s < hi)),
		v AS MATERIALIZED (SELECT * FROM %2$I a WHERE EXISTS (SELECT FROM _strata.rollup_clean(%2$L) WHERE %3$s >= lo AND %3$s < hi))
		SELECT (SELECT count(*) FROM _strata.rollup_clean(%2$L)), (SELECT count(*) FROM a),
			(SELECT count(*) FROM ((TABLE a EXCEPT ALL TABLE v) UNION ALL (TABLE v EXCEPT ALL TABLE a)) x)', view || '_archive', view, clean)
		INTO ranges, rows, differences;
END $$;
-- How many rows of the archive a refresh takes away and writes.
CREATE PROCEDURE rr_refresh(view text) LANGUAGE plpgsql AS $$
DECLARE
	gone bigint;
	come bigint;
BEGIN
	EXECUTE format('CREATE TEMP TABLE rr_before AS SELECT tableoid AS t, ctid AS i, * FROM %I', view || '_archive');
	COMMIT;
	CALL refresh_continuous_aggregate(view::regclass, NULL, NULL);
	EXECUTE format('SELECT (SELECT count(*) FROM (TABLE rr_before EXCEPT ALL SELECT tableoid, ctid, * FROM %1$I) x),
		(SELECT count(*) FROM (SELECT tableoid, ctid, * FROM %1$I EXCEPT ALL TABLE rr_before) x)', view || '_archive') INTO gone, come;
	DROP TABLE rr_before;
	RAISE NOTICE '% rows gone, % rows come', gone, come;
END $$;

CREATE TABLE rr (time timestamptz NOT NULL, host int, name text COLLATE "C", v float8, n numeric);
SELECT FROM create_hypertable('rr', 'time', chunk_time_interval => interval '12 hours');
ALTER TABLE rr SET (strata.segmentby = 'host', strata.orderby = 'time');
INSERT INTO rr SELECT t, nullif(h, 3), 'h' || h, h, h / 10.0 FROM generate_series('2026-01-01'::timestamptz, '2026-01-05 23:50', '5 minutes') t, generate_series(1, 5) h;
SELECT count(compress_chunk(c)) FROM show_chunks('rr', older_than => '2026-01-05'::timestamptz) c;
INSERT INTO rr SELECT t + interval '1 s', h, 'h' || h, h, NULL FROM generate_series('2026-01-01'::timestamptz, '2026-01-04 23:50', '2 hours') t, generate_series(1, 5) h;
CREATE VIEW rr_hour AS SELECT time_bucket('1 hour', time) AS bucket, host, name, count(*), sum(v), max(n), min(v) FROM rr GROUP BY 1, 2, 3;
SELECT rr_make('rr_hour', 'rr', '5 days');
SELECT * FROM rr_check('rr_hour');
CALL rr_refresh('rr_hour');
SELECT * FROM rr_check('rr_hour');
SELECT count(*) FROM rr_hour_archive;
CALL refresh_continuous_aggregate('rr_hour', NULL, NULL);
-- a late row: one row of the archive; one of a new group; none that matters
INSERT INTO rr VALUES ('2026-01-02 07:30:30', 4, 'h4', 77, 7);
SELECT * FROM rr_check('rr_hour');
CALL rr_refresh('rr_hour');
INSERT INTO rr VALUES ('2026-01-02 07:30:31', NULL, NULL, 'NaN', 'Infinity');
CALL rr_refresh('rr_hour');
UPDATE rr SET v = v WHERE time = '2026-01-03 11:00';
CALL rr_refresh('rr_hour');
SELECT * FROM rr_check('rr_hour');
-- late rows of many days in one transaction; changes and deletions of batches and of the row store, to other chunks, too
INSERT INTO rr SELECT t, 1, 'h1', 1, 1 FROM generate_series('2026-01-01 00:00:02'::timestamptz, '2026-01-05', '9 hours') t;
CALL rr_refresh('rr_hour');
UPDATE rr SET time = time + interval '26 hours 1 s' WHERE time >= '2026-01-02 10:00' AND time < '2026-01-02 12:00' AND host = 2;
SELECT * FROM rr_check('rr_hour');
CALL rr_refresh('rr_hour');
DELETE FROM rr WHERE time >= '2026-01-02 12:00' AND time < '2026-01-02 20:00';
SELECT * FROM rr_check('rr_hour');
CALL rr_refresh('rr_hour');
SELECT * FROM rr_check('rr_hour');
-- the archive, too, may be compressed
SELECT count(compress_chunk(c)) FROM show_chunks('rr_hour_archive') c;
INSERT INTO rr VALUES ('2026-01-02 07:30:30', 4, 'h4', 78, 7);
CALL rr_refresh('rr_hour');
SELECT * FROM rr_check('rr_hour');
-- the whole end goes, and a chunk
DELETE FROM rr WHERE time >= '2026-01-05 20:00';
CALL rr_refresh('rr_hour');
DROP TABLE rr_20260101_000000_chunk;
CALL rr_refresh('rr_hour');
TRUNCATE rr_20260104_000000_chunk;
CALL rr_refresh('rr_hour');
SELECT * FROM rr_check('rr_hour');
-- nothing that moves rows is a change
SELECT count(compress_chunk(c, recompress => true)) FROM show_chunks('rr') c;
SELECT count(decompress_chunk(c)) FROM show_chunks('rr', older_than => '2026-01-03'::timestamptz) c;
VACUUM FULL rr_20260102_000000_chunk;
SELECT * FROM _strata.track_marks('rr');
-- rolled back, in a savepoint and not
BEGIN; INSERT INTO rr VALUES ('2026-01-03', 1, 'h1', 1, 1); ROLLBACK;
BEGIN; SAVEPOINT s; INSERT INTO rr VALUES ('2026-01-03', 1, 'h1', 1, 1); ROLLBACK TO s; SELECT * FROM rr_check('rr_hour'); COMMIT;
CALL rr_refresh('rr_hour');

-- Windows and options
CALL refresh_continuous_aggregate('rr_hour', '2026-01-02', '2026-01-03', force => true);
UPDATE rr SET v = v + 1;
CALL refresh_continuous_aggregate('rr_hour', '2026-01-02 06:30', '2026-01-02 08:59:59');
SELECT '2000-01-01'::timestamptz + lo / 1000000 * interval '1 s' AS lo, '2000-01-01'::timestamptz + hi / 1000000 * interval '1 s' AS hi FROM _strata.rollup_clean('rr_hour');
CALL refresh_continuous_aggregate('rr_hour', NULL, '2026-01-03', options => '{"buckets_per_batch": 2, "max_batches_per_execution": 2}');
SELECT '2000-01-01'::timestamptz + lo / 1000000 * interval '1 s' AS lo, '2000-01-01'::timestamptz + hi / 1000000 * interval '1 s' AS hi FROM _strata.rollup_clean('rr_hour');
CALL refresh_continuous_aggregate('rr_hour', NULL, NULL, options => '{"buckets_per_batch": 1, "max_batches_per_execution": 1, "refresh_newest_first": false}');
CALL refresh_continuous_aggregate('rr_hour', NULL, NULL, options => '{"buckets_per_batch": 1, "max_batches_per_execution": 1}', refresh_newest_first => false);
SELECT '2000-01-01'::timestamptz + lo / 1000000 * interval '1 s' AS lo, '2000-01-01'::timestamptz + hi / 1000000 * interval '1 s' AS hi FROM _strata.rollup_clean('rr_hour');
CALL refresh_continuous_aggregate('rr_hour', NULL, NULL, options => '{"buckets_per_batch": 0}');
SELECT * FROM rr_check('rr_hour');
CALL refresh_continuous_aggregate('rr_hour', '2026-02-01', '2026-03-01');
CALL refresh_continuous_aggregate('rr_hour', '-infinity', 'infinity');
\set VERBOSITY sqlstate
CALL refresh_continuous_aggregate('rr_hour', '2026-01-02 00:20', '2026-01-02 01:40');
CALL refresh_continuous_aggregate('rr_hour', '2026-01-03', '2026-01-02');
CALL refresh_continuous_aggregate('rr_hour', 5, NULL);
CALL refresh_continuous_aggregate('rr_hour', 'yesterday or so', NULL);
CALL refresh_continuous_aggregate('rr', NULL, NULL);
CALL refresh_continuous_aggregate(NULL, NULL, NULL);
CALL refresh_continuous_aggregate('rr_nothing', NULL, NULL);
CALL refresh_continuous_aggregate('rr_hour', NULL, NULL, options => '{"buckets": 1}');
CALL refresh_continuous_aggregate('rr_hour', NULL, NULL, options => '{"buckets_per_batch": -1}');
CALL refresh_continuous_aggregate('rr_hour', NULL, NULL, options => '{"buckets_per_batch": "x"}');
CALL refresh_continuous_aggregate('rr_hour', NULL, NULL, options => '{"refresh_newest_first": 1}');
CALL refresh_continuous_aggregate('rr_hour', NULL, NULL, options => '[1]');
\set VERBOSITY terse

-- In a transaction block: what was covered is repaired, the rest is left
DELETE FROM rr WHERE time = '2026-01-02 05:00';
INSERT INTO rr SELECT t, 1, 'h1', 1, 1 FROM generate_series('2026-01-06'::timestamptz, '2026-01-06 05:00', '5 minutes') t;
BEGIN;
CALL refresh_continuous_aggregate('rr_hour', NULL, NULL);
SELECT * FROM rr_check('rr_hour');
SELECT max(bucket) FROM rr_hour_archive;
ROLLBACK;
BEGIN ISOLATION LEVEL REPEATABLE READ;
CALL refresh_continuous_aggregate('rr_hour', NULL, '2026-01-03');
DELETE FROM rr WHERE time = '2026-01-02 06:00';
SELECT * FROM rr_check('rr_hour');
COMMIT;
SELECT * FROM rr_check('rr_hour');
CALL rr_refresh('rr_hour');

-- Two rollups of a table: one log
CREATE VIEW rr_month AS SELECT time_bucket('1 month', time, 'Europe/Prague') AS bucket, count(*), sum(n) FROM rr GROUP BY 1;
SELECT rr_make('rr_month', 'rr', '1 year');
CALL refresh_continuous_aggregate('rr_month', NULL, NULL);
SELECT * FROM rr_check('rr_month');
-- a window shorter than a bucket, and the row of the last day of a month that was covered
\set VERBOSITY sqlstate
CALL refresh_continuous_aggregate('rr_month', '2026-01-01', '2026-01-30');
\set VERBOSITY terse
INSERT INTO rr VALUES ('2026-01-31 22:59:59', 1, 'h1', 1, 1), ('2026-01-31 23:00', 1, 'h1', 1, 1);
SELECT * FROM rr_check('rr_month');
SELECT * FROM rr_check('rr_hour');
CALL rr_refresh('rr_hour');
SELECT * FROM rr_check('rr_month');
CALL rr_refresh('rr_month');
SELECT * FROM rr_check('rr_month');
SELECT * FROM rr_month_archive ORDER BY 1;

-- Zones where clocks change, both ways (rows over all hours of four days)
CREATE TABLE rr_zone (time timestamptz NOT NULL, v int);
SELECT FROM create_hypertable('rr_zone', 'time', chunk_time_interval => interval '1 day');
INSERT INTO rr_zone SELECT t, 1 FROM generate_series('2026-03-28'::timestamptz, '2026-03-31 23:30', '30 minutes') t UNION ALL SELECT t, 1 FROM generate_series('2026-10-24'::timestamptz, '2026-10-27 23:30', '30 minutes') t;
CREATE VIEW rr_zone_hour AS SELECT time_bucket('1 hour', time, 'Europe/Prague') AS bucket, count(*) FROM rr_zone GROUP BY 1;
CREATE VIEW rr_zone_day AS SELECT time_bucket('1 day', time, 'Europe/Prague', "offset" => interval '30 minutes') AS bucket, count(*) FROM rr_zone GROUP BY 1;
SELECT rr_make('rr_zone_hour', 'rr_zone', '10 days'), rr_make('rr_zone_day', 'rr_zone', '10 days');
CALL refresh_continuous_aggregate('rr_zone_hour', NULL, NULL);
CALL refresh_continuous_aggregate('rr_zone_day', NULL, NULL);
INSERT INTO rr_zone SELECT t, 1 FROM generate_series('2026-03-28 00:10'::timestamptz, '2026-03-31 23:50', '1 hour') t UNION ALL SELECT t, 1 FROM generate_series('2026-10-24 00:10'::timestamptz, '2026-10-27 23:50', '1 hour') t;
SELECT rr_check('rr_zone_hour'), rr_check('rr_zone_day');
CALL rr_refresh('rr_zone_hour');
CALL rr_refresh('rr_zone_day');
SELECT rr_check('rr_zone_hour'), rr_check('rr_zone_day'), (SELECT sum(count) FROM rr_zone_hour_archive), (SELECT sum(count) FROM rr_zone_day_archive), (SELECT count(*) FROM rr_zone);

-- Integers to the ends of the type, dates, timestamps, date_trunc
CREATE TABLE rr_int (time int NOT NULL, v int);
SELECT FROM create_hypertable('rr_int', 'time', chunk_time_interval => 1000000000);
INSERT INTO rr_int SELECT i, i % 7 FROM (VALUES (-2147483640), (-2147483630), (-1), (0), (5), (2147483640), (2147483647)) x(i);
CREATE VIEW rr_int_ten AS SELECT time_bucket(10, time) AS bucket, count(*), sum(v) FROM rr_int GROUP BY 1;
SELECT rr_make('rr_int_ten', 'rr_int', '1000000000');
CALL refresh_continuous_aggregate('rr_int_ten', -100, 100);
SELECT * FROM rr_check('rr_int_ten');
CALL refresh_continuous_aggregate('rr_int_ten', NULL, NULL, options => '{"buckets_per_batch": 0}');
SELECT * FROM rr_check('rr_int_ten');
SELECT * FROM _strata.rollup_clean('rr_int_ten');
INSERT INTO rr_int VALUES (-2147483639, 1), (2147483645, 1), (7, 1);
CALL rr_refresh('rr_int_ten');
SELECT * FROM rr_check('rr_int_ten');
\set VERBOSITY sqlstate
CALL refresh_continuous_aggregate('rr_int_ten', '2026-01-01'::timestamptz, NULL);
CALL refresh_continuous_aggregate('rr_int_ten', 1, 9);
\set VERBOSITY terse
CREATE TABLE rr_date (day date NOT NULL, v int);
SELECT FROM create_hypertable('rr_date', 'day', chunk_time_interval => interval '30 days');
INSERT INTO rr_date SELECT d, 1 FROM generate_series('2025-12-01'::date, '2026-03-10', '1 day') d;
CREATE VIEW rr_week AS SELECT time_bucket('7 days', day, '2026-01-01'::date) AS bucket, count(*) FROM rr_date GROUP BY 1;
SELECT rr_make('rr_week', 'rr_date', '300 days');
CALL refresh_continuous_aggregate('rr_week', '2025-12-10', NULL);
INSERT INTO rr_date VALUES ('2025-12-31', 1), ('2026-01-01', 1), ('2026-03-10', 1);
SELECT * FROM rr_check('rr_week');
CALL rr_refresh('rr_week');
SELECT * FROM rr_check('rr_week');
CREATE TABLE rr_local (time timestamp NOT NULL, v int);
SELECT FROM create_hypertable('rr_local', 'time', chunk_time_interval => interval '30 days');
INSERT INTO rr_local SELECT d, 1 FROM generate_series('2025-11-11'::timestamp, '2026-03-10', '7 hours') d;
CREATE VIEW rr_quarter AS SELECT date_trunc('quarter', time) AS bucket, count(*) FROM rr_local GROUP BY 1;
SELECT rr_make('rr_quarter', 'rr_local', '300 days');
CALL refresh_continuous_aggregate('rr_quarter', NULL, NULL);
INSERT INTO rr_local VALUES ('2025-12-31 23:59:59.999999', 1);
SELECT * FROM rr_check('rr_quarter');
CALL rr_refresh('rr_quarter');
SELECT * FROM rr_check('rr_quarter');
SELECT * FROM rr_quarter_archive ORDER BY 1;

-- A view on a view: the upper is never clean where the lower is not
CREATE VIEW rr_day AS SELECT time_bucket('1 day', bucket) AS bucket, sum(count), max(max) FROM rr_hour GROUP BY 1;
SELECT rr_make('rr_day', 'rr_hour_archive', '50 days');
CALL refresh_continuous_aggregate('rr_day', NULL, NULL);
SELECT * FROM rr_check('rr_day');
INSERT INTO rr VALUES ('2026-01-03 07:30:30', 4, 'h4', 77, 7);
SELECT * FROM rr_check('rr_day');
CALL rr_refresh('rr_hour');
SELECT * FROM rr_check('rr_day');
DELETE FROM rr WHERE time = '2026-01-03 07:30:30';
CALL rr_refresh('rr_day');
SELECT * FROM rr_check('rr_day');
SELECT * FROM rr_check('rr_hour');

SET ROLE postgres;
DELETE FROM _strata.rollup;
DELETE FROM _strata.rollup_cover;
RESET ROLE;
SET client_min_messages = warning;
DROP TABLE rr, rr_zone, rr_int, rr_date, rr_local CASCADE;
DROP TABLE rr_hour_archive, rr_month_archive, rr_zone_hour_archive, rr_zone_day_archive, rr_int_ten_archive, rr_week_archive, rr_quarter_archive, rr_day_archive;
DROP FUNCTION rr_make, rr_check;
DROP PROCEDURE rr_refresh;
-- times without chunks cost nothing, however long: one slice of few buckets for years between outliers
CREATE TABLE rr_far (time timestamptz NOT NULL, v int);
SELECT FROM create_hypertable('rr_far', 'time', chunk_time_interval => interval '1 day');
INSERT INTO rr_far SELECT '2026-01-01 Z'::timestamptz + i * interval '1 hour', i FROM generate_series(0, 47) i;
INSERT INTO rr_far VALUES ('4713-01-01 00:30 BC', 1), ('1970-01-01', 1), ('2126-01-01', 1), ('294276-12-30 23:30', 1);
CREATE MATERIALIZED VIEW rr_far_hour WITH (strata.continuous) AS SELECT time_bucket('1 hour', time) AS b, count(*) AS n FROM rr_far GROUP BY 1 WITH NO DATA;
CREATE MATERIALIZED VIEW rr_far_month WITH (strata.continuous) AS SELECT time_bucket('1 month', time, 'Europe/Prague') AS b, count(*) AS n FROM rr_far GROUP BY 1;
CREATE MATERIALIZED VIEW rr_far_day WITH (strata.continuous) AS SELECT time_bucket('1 day', b) AS b, sum(n) AS n FROM rr_far_hour GROUP BY 1;
CALL refresh_continuous_aggregate('rr_far_hour', NULL, NULL, options => '{"max_batches_per_execution": 1}');
CALL refresh_continuous_aggregate('rr_far_hour', NULL, NULL);
CALL refresh_continuous_aggregate('rr_far_month', NULL, NULL);
CALL refresh_continuous_aggregate('rr_far_day', NULL, NULL);
CALL refresh_continuous_aggregate('rr_far_hour', NULL, NULL, force => true, refresh_newest_first => false);
SELECT view, covered_from, covered_to FROM strata.rollups WHERE source = 'rr_far'::regclass ORDER BY view::text;
SELECT count(*), sum(n) FROM rr_far_hour_archive;
INSERT INTO rr_far VALUES ('1000-01-01 00:30', 1), ('2026-01-01 00:30 Z', 1);
DELETE FROM rr_far WHERE time = '2126-01-01';
CALL refresh_continuous_aggregate('rr_far_hour', NULL, NULL, options => '{"buckets_per_batch": 1, "max_batches_per_execution": 2}');
CALL refresh_continuous_aggregate('rr_far_hour', '1000-01-01 00:00', '1000-01-02 00:00', options => '{"buckets_per_batch": 1, "max_batches_per_execution": 2}', refresh_newest_first => false);
SELECT count(*), sum(n) FROM rr_far_hour;
CALL refresh_continuous_aggregate('rr_far_hour', NULL, NULL);
SELECT count(*), sum(n) FROM rr_far_hour_archive;
(TABLE rr_far_month EXCEPT ALL SELECT time_bucket('1 month', time, 'Europe/Prague'), count(*) FROM rr_far GROUP BY 1) UNION ALL (TABLE rr_far_day EXCEPT ALL SELECT time_bucket('1 day', time), count(*) FROM rr_far GROUP BY 1);
DROP TABLE rr_far CASCADE;

-- chunks far longer than the times of their rows: gaps in them are taken along, too
CREATE TABLE rr_wide (t bigint NOT NULL, v int);
SELECT created FROM create_hypertable('rr_wide', 't', chunk_time_interval => 1000000000000);
INSERT INTO rr_wide SELECT base + i, i FROM unnest(ARRAY[-5, 0, 3000000000, 999999999000, 1500000000000]) AS base, generate_series(1, 40) AS i;
CREATE MATERIALIZED VIEW rr_wide_ten WITH (strata.continuous) AS SELECT time_bucket(10, t) AS b, count(*) AS n, sum(v) AS s FROM rr_wide GROUP BY 1 WITH NO DATA;
SET statement_timeout = '100s';
CALL refresh_continuous_aggregate('rr_wide_ten', NULL, NULL);
SELECT count(*), sum(n), sum(s) FROM rr_wide_ten_archive;
SELECT covered_from, covered_to FROM strata.rollups WHERE view = 'rr_wide_ten'::regclass;
INSERT INTO rr_wide VALUES (500000000000, 1), (1200000000000, 1);
UPDATE rr_wide SET v = 100 WHERE t = 3000000005;
CALL refresh_continuous_aggregate('rr_wide_ten', NULL, NULL, refresh_newest_first => false);
SELECT count(*), sum(n), sum(s) FROM rr_wide_ten_archive;
CALL refresh_continuous_aggregate('rr_wide_ten', NULL, NULL, force => true);
DELETE FROM rr_wide WHERE t > 1400000000000;
CALL refresh_continuous_aggregate('rr_wide_ten', 0, 2000000000000);
RESET statement_timeout;
SELECT count(*), sum(n), sum(s) FROM rr_wide_ten_archive;
(TABLE rr_wide_ten EXCEPT ALL SELECT time_bucket(10, t), count(*), sum(v) FROM rr_wide GROUP BY 1) UNION ALL (SELECT time_bucket(10, t), count(*), sum(v) FROM rr_wide GROUP BY 1 EXCEPT ALL TABLE rr_wide_ten);
DROP TABLE rr_wide CASCADE;

-- more rows than fit into memory, of buckets of one day before 2000: a range of one bucket is not divided
CREATE TABLE rf_old (d date NOT NULL, dev int, v float8);
SELECT created FROM create_hypertable('rf_old', 'd', chunk_time_interval => interval '1 year');
CREATE MATERIALIZED VIEW rf_old_daily WITH (strata.continuous) AS SELECT time_bucket('1 day', d) AS b, dev, sum(v) AS s FROM rf_old GROUP BY 1, 2;
INSERT INTO rf_old SELECT '1999-12-29'::date + g % 4, g, 1 FROM generate_series(1, 24000) AS g;
CALL refresh_continuous_aggregate('rf_old_daily', NULL, NULL);
SET maintenance_work_mem = '1MB';
UPDATE rf_old SET v = 2 WHERE dev <= 8;
CALL refresh_continuous_aggregate('rf_old_daily', NULL, NULL);
RESET maintenance_work_mem;
SELECT count(*), sum(s) FROM rf_old_daily;
SELECT count(*), sum(s) FROM rf_old_daily_archive;
DROP MATERIALIZED VIEW rf_old_daily;
DROP TABLE rf_old;
