-- strata.read_archives: aggregate queries of a table whose old rows are gone are answered out of archives, or not at all.
SET timezone = 'UTC';
SET strata.report_compression = off;
SET client_min_messages = warning;
CREATE TABLE ror (t bigint NOT NULL, dev int, v int);
SELECT FROM create_hypertable('ror', 't', chunk_time_interval => 100);
CREATE TABLE ror_all (LIKE ror);
INSERT INTO ror_all SELECT i / 8, i % 10, i FROM generate_series(0, 7999) i;
INSERT INTO ror SELECT * FROM ror_all;
CREATE MATERIALIZED VIEW ror_ten WITH (strata.continuous) AS
	SELECT time_bucket(10, t) AS b, dev, count(*) AS n, sum(v) AS s, avg(v) AS a, max(v) AS top FROM ror GROUP BY 1, 2;
CREATE MATERIALIZED VIEW ror_hundred WITH (strata.continuous) AS SELECT time_bucket(100, t) AS b, count(*) AS n, sum(v) AS s FROM ror GROUP BY 1;
SELECT count(drop_chunks) FROM drop_chunks('ror', 450);
CALL refresh_continuous_aggregate('ror_ten', 500, 900);
SELECT option_name, option_value FROM pg_options_to_table((SELECT reloptions FROM pg_class WHERE oid = 'ror'::regclass)) ORDER BY 1;

-- off: gone is gone; on: what a twin with all rows says
SELECT count(*), min(t) FROM ror;
ALTER TABLE ror SET (strata.read_archives);
CREATE FUNCTION ror_try(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	differences bigint;
BEGIN
	EXECUTE format('WITH a AS (%s), b AS (%s) SELECT count(*) FROM ((TABLE a EXCEPT ALL TABLE b) UNION ALL (TABLE b EXCEPT ALL TABLE a)) x', query, replace(query, 'ror', 'ror_all')) INTO differences;
	RETURN differences || ' differences';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE TABLE ror_queries (id serial, q text);
INSERT INTO ror_queries (q) VALUES
	('SELECT time_bucket(100, t), sum(v), count(*) FROM ror GROUP BY 1'), ('SELECT time_bucket(50, t), dev, avg(v), max(v) FROM ror GROUP BY 1, 2'),
	('SELECT time_bucket(10, t), dev, count(*), sum(v) FROM ror WHERE dev IN (1, 2) GROUP BY 1, 2 HAVING sum(v) > 100'), ('SELECT count(*), sum(v), avg(v) FROM ror'),
	('SELECT dev, sum(v) FROM ror WHERE t >= 100 AND t < 700 GROUP BY 1'), ('SELECT dev, sum(v) FROM ror WHERE t >= 105 AND t < 700 GROUP BY 1'), ('SELECT dev, sum(v) FROM ror WHERE t < 395 GROUP BY 1'),
	('SELECT sum(v) FROM ror WHERE t >= 110 AND t < 390'), ('SELECT sum(v) FROM ror WHERE t > 393'), ('SELECT sum(v) FROM ror WHERE t >= 400'), ('SELECT sum(v) FROM ror WHERE t BETWEEN 300 AND 450'),
	('SELECT min(v) FROM ror'), ('SELECT stddev(v) FROM ror'), ('SELECT max(v) FROM ror WHERE v % 2 = 0'), ('SELECT sum(v) FROM ror WHERE t >= 0 AND t + 0 < 300'), ('SELECT time_bucket(25, t), sum(v) FROM ror GROUP BY 1'),
	('SELECT count(DISTINCT dev) FROM ror WHERE t > 500'), ('SELECT count(DISTINCT dev) FROM ror'), ('SELECT max(t) FROM ror'), ('SELECT max(t) FROM ror WHERE t >= 400'),
	('SELECT count(*) FROM ror a JOIN ror b USING (t) WHERE a.t >= 600'), ('SELECT count(*) FROM ror a JOIN ror b USING (t) WHERE a.t >= 600 AND b.t >= 600'), ('SELECT sum(v) FROM (SELECT * FROM ror) x'),
	('SELECT sum(v) FROM (SELECT * FROM ror WHERE t >= 450) x'), ('WITH w AS MATERIALIZED (SELECT v FROM ror) SELECT sum(v) FROM w'), ('SELECT (SELECT sum(v) FROM ror)'), ('SELECT (SELECT stddev(v) FROM ror)'),
	('SELECT x, (SELECT sum(v) FROM ror WHERE t >= x) FROM generate_series(0, 900, 300) x'), ('SELECT x, (SELECT sum(v) FROM ror WHERE t >= x AND t >= 500) FROM generate_series(0, 900, 300) x'),
	('SELECT dev, sum(v) FROM ror GROUP BY GROUPING SETS ((dev), ())'), ('SELECT dev FROM ror GROUP BY dev'), ('SELECT sum(s) FROM (SELECT dev, sum(v) AS s FROM ror GROUP BY 1) x'),
	('SELECT sum(n) FROM ror_ten'), ('SELECT sum(v) FROM ror WHERE t >= random()'), ('SELECT sum(v) FROM ror WHERE t >= 400 AND dev = (SELECT min(dev) FROM ror WHERE t < 100)');
SELECT q, ror_try(q) FROM ror_queries WHERE q NOT LIKE '%ror_ten%' ORDER BY id;
-- a bound that is null leaves no time; DISTINCT, window functions and arrays make one value of many rows, too
SELECT q, ror_try(q) FROM unnest(ARRAY['SELECT count(*), sum(v) FROM ror WHERE t >= NULL', 'SELECT count(*) FROM ror WHERE t < NULL::bigint + 1', 'SELECT DISTINCT dev FROM ror WHERE t >= 450', 'SELECT DISTINCT dev FROM ror',
	'SELECT count(*) OVER () FROM ror WHERE t >= 450', 'SELECT count(*) OVER () FROM ror', 'SELECT cardinality(ARRAY(SELECT v FROM ror WHERE t >= 450))', 'SELECT cardinality(ARRAY(SELECT v FROM ror))',
	'SELECT dev, s, sum(s) OVER (ORDER BY dev) FROM (SELECT dev, sum(v) AS s FROM ror GROUP BY 1) x', 'SELECT DISTINCT s > 0 FROM (SELECT time_bucket(10, t), sum(v) AS s FROM ror GROUP BY 1) x']) q;
PREPARE ror_null (bigint) AS SELECT count(*), sum(v) FROM ror WHERE t >= $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE ror_null(NULL);
RESET plan_cache_mode;
DEALLOCATE ror_null;
SELECT sum(n) FROM ror_ten;
SELECT count(*) = 1 FROM ror WHERE t = 399 OR t = 400 AND dev = 1;
\set VERBOSITY default
SELECT max(v) FROM ror WHERE v % 2 = 0;
\set VERBOSITY terse
-- late rows, on both sides and in what is gone; in the transaction that writes them, too
BEGIN;
INSERT INTO ror VALUES (15, 1, 1000000), (399, 3, 7), (405, 3, 7), (1500, 1, 1);
INSERT INTO ror_all VALUES (15, 1, 1000000), (399, 3, 7), (405, 3, 7), (1500, 1, 1);
SELECT q, ror_try(q) FROM ror_queries WHERE id IN (1, 2, 3, 4, 8, 11, 26) ORDER BY id;
COMMIT;
SELECT q, ror_try(q) FROM ror_queries WHERE id IN (1, 2, 3, 4, 8, 11, 26) ORDER BY id;
SELECT count(drop_chunks) FROM drop_chunks('ror', 450);
CALL refresh_continuous_aggregate('ror_hundred', 500, 1600);
SELECT q, ror_try(q) FROM ror_queries WHERE id IN (1, 2, 3, 4, 8, 11, 26) ORDER BY id;
-- prepared, and as functions: each value of the bound is looked at
PREPARE ror_p (bigint) AS SELECT sum(v), count(*) FROM ror WHERE t >= $1;
PREPARE ror_q (bigint) AS SELECT sum(v), count(*) FROM ror_all WHERE t >= $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE ror_p(600);
EXECUTE ror_q(600);
EXECUTE ror_p(200);
EXECUTE ror_q(200);
EXECUTE ror_p(205);
EXECUTE ror_p(600);
SET plan_cache_mode = force_custom_plan;
EXECUTE ror_p(600);
EXECUTE ror_p(200);
EXECUTE ror_p(203);
RESET plan_cache_mode;
-- a plan made before the rows went
PREPARE ror_before AS SELECT sum(v), count(*) FROM ror WHERE t >= 400;
EXECUTE ror_before;
SELECT sum(v), count(*) FROM ror_all WHERE t >= 400;
SELECT count(drop_chunks) FROM drop_chunks('ror', 600);
EXECUTE ror_before;
ALTER TABLE ror SET (strata.read_archives = false);
EXECUTE ror_before;
ALTER TABLE ror SET (strata.read_archives = true);
EXECUTE ror_before;
-- an archive that has lost what it kept is not asked; the next one is
SELECT count(drop_chunks) FROM drop_chunks('ror_ten', 2000);
SELECT q, ror_try(q) FROM ror_queries WHERE id IN (1, 2, 4, 9) ORDER BY id;
SELECT sum(v) FROM ror WHERE t >= 510;
-- refreshes, views and new rollups do not mind
CREATE MATERIALIZED VIEW ror_new WITH (strata.continuous) AS SELECT time_bucket(100, t) AS b, sum(v) AS s FROM ror GROUP BY 1;
SELECT min(b) FROM ror_new;
CALL refresh_continuous_aggregate('ror_new', NULL, NULL, force => true);
SELECT sum(s) = (SELECT sum(v) FROM ror_all) FROM ror_hundred;
DROP MATERIALIZED VIEW ror_ten;
SELECT q, ror_try(q) FROM ror_queries WHERE id IN (1, 2, 4) ORDER BY id;
DROP MATERIALIZED VIEW ror_new, ror_hundred;
SELECT ror_try('SELECT sum(v) FROM ror'), ror_try('SELECT sum(v) FROM ror WHERE t >= 600');
-- rows dropped when nothing was kept
SELECT count(drop_chunks) FROM drop_chunks('ror', 700);
SELECT ror_try('SELECT sum(v) FROM ror WHERE t >= 600'), ror_try('SELECT sum(v) FROM ror WHERE t >= 700');
ALTER TABLE ror SET (strata.read_archives = 'perhaps');
-- chunks of an archive that are merged have lost nothing
CREATE TABLE ror_m (t bigint NOT NULL, v int);
SELECT FROM create_hypertable('ror_m', 't', chunk_time_interval => 100);
INSERT INTO ror_m SELECT i, i FROM generate_series(0, 999) i;
CREATE MATERIALIZED VIEW ror_m_ten WITH (strata.continuous, strata.chunk_interval = 200) AS SELECT time_bucket(10, t) AS b, sum(v) AS s FROM ror_m GROUP BY 1;
SELECT count(drop_chunks) FROM drop_chunks('ror_m', 600);
ALTER TABLE ror_m SET (strata.read_archives);
SELECT sum(v) FROM ror_m;
SELECT array_agg(c) AS ror_chunks FROM (SELECT c FROM show_chunks('ror_m_ten') c LIMIT 2) x \gset
CALL merge_chunks(:'ror_chunks'::regclass[]);
SELECT count(*) FROM show_chunks('ror_m_ten');
SELECT sum(v) FROM ror_m;
SELECT sum(s) FROM ror_m_ten;
CALL refresh_continuous_aggregate('ror_m_ten', NULL, NULL, force => true);
SELECT sum(v) FROM ror_m;
SELECT count(drop_chunks) FROM drop_chunks('ror_m_ten', 200);
SELECT sum(v) FROM ror_m WHERE t >= 600;
SELECT count(drop_chunks) FROM drop_chunks('ror_m_ten', 400);
SELECT sum(v) FROM ror_m;
-- what else is a bound: one time, and conditions of inner joins
SELECT count(*) FROM ror_m WHERE t = 700;
SELECT count(*) FROM ror_m WHERE 700 = t AND v > 0;
SELECT count(*) FROM ror_m WHERE t = 500;
SELECT count(*) FROM ror_m WHERE t = 700 AND t = 500;
SELECT count(*) FROM ror_m a JOIN ror_m b ON a.t = b.t AND a.t >= 600 AND b.t > 600;
SELECT count(*) FROM (VALUES (700), (800)) x (i) LEFT JOIN (ror_m a JOIN ror_m b ON a.t = b.t AND a.t >= 600 AND b.t >= 600) ON a.t = i;
SELECT count(*) FROM ror_m a JOIN ror_m b ON a.t = b.t AND a.t >= 600 AND b.t >= 500;
SELECT count(*) FROM ror_m a LEFT JOIN ror_m b ON a.t >= 600 AND b.t >= 600 WHERE b.t >= 600;
CREATE MATERIALIZED VIEW ror_m_one WITH (strata.continuous) AS SELECT time_bucket(1, t) AS b, sum(v) AS s FROM ror_m GROUP BY 1;
SELECT count(drop_chunks) FROM drop_chunks('ror_m', 700);
SELECT sum(v) FROM ror_m WHERE t = 650;
SELECT sum(v) FROM ror_m WHERE t = 550;
DROP TABLE ror_m CASCADE;
-- bounds of other types than the time's, as the zone has them when the query is run
CREATE TABLE ror_z (ts timestamptz NOT NULL, v int);
CREATE TABLE ror_u (ts timestamp NOT NULL, v int);
SELECT FROM create_hypertable('ror_z', 'ts', chunk_time_interval => interval '1 day');
SELECT FROM create_hypertable('ror_u', 'ts', chunk_time_interval => interval '1 day');
INSERT INTO ror_z SELECT '2026-03-01 00:00+00'::timestamptz + i * interval '1 hour', i FROM generate_series(0, 239) i;
INSERT INTO ror_u SELECT '2026-03-01 00:00'::timestamp + i * interval '1 hour', i FROM generate_series(0, 239) i;
ALTER TABLE ror_z SET (strata.read_archives);
ALTER TABLE ror_u SET (strata.read_archives);
CREATE MATERIALIZED VIEW ror_z_hour WITH (strata.continuous) AS SELECT time_bucket('1 hour', ts) AS b, sum(v) AS s FROM ror_z GROUP BY 1;
SELECT count(drop_chunks) FROM drop_chunks('ror_z', '2026-03-05 00:00+00'::timestamptz);
SELECT count(drop_chunks) FROM drop_chunks('ror_u', '2026-03-05'::timestamp);
SELECT sum(v), sum(v) = 239 * 120 - 23 * 12 AS same FROM ror_z WHERE ts >= '2026-03-02'::date;
SELECT sum(v), sum(v) = 239 * 120 - 23 * 12 AS same FROM ror_z WHERE ts >= '2026-03-02'::timestamp;
SELECT max(v), count(*), stddev(v) IS NULL FROM ror_z WHERE ts >= current_date AND ts > '5874897-12-31'::date;
SELECT count(DISTINCT v) FROM ror_z WHERE ts >= '2026-03-05'::date;
SELECT count(DISTINCT v) FROM ror_z WHERE ts >= '2026-03-05 00:00'::timestamp;
PREPARE ror_zone AS SELECT count(DISTINCT v) FROM ror_z WHERE ts >= '2026-03-05'::date;
PREPARE ror_zone_sum AS SELECT sum(v) FROM ror_z WHERE ts >= '2026-03-03'::date;
SET plan_cache_mode = force_generic_plan;
EXECUTE ror_zone;
EXECUTE ror_zone_sum;
SET timezone = 'Asia/Tokyo';
EXECUTE ror_zone;
EXECUTE ror_zone_sum;
SET timezone = 'America/New_York';
EXECUTE ror_zone;
EXECUTE ror_zone_sum;
SELECT (SELECT sum(i) FROM generate_series(48, 239) i) AS utc, (SELECT sum(i) FROM generate_series(39, 239) i) AS tokyo, (SELECT sum(i) FROM generate_series(53, 239) i) AS new_york;
SET timezone = 'UTC';
RESET plan_cache_mode;
SELECT count(DISTINCT v) FROM ror_u WHERE ts >= '2026-03-05'::date;
SELECT count(DISTINCT v) FROM ror_u WHERE ts >= '2026-03-04'::date;
SELECT count(DISTINCT v) FROM ror_u WHERE ts >= '2026-03-07'::timestamptz;
DROP TABLE ror_z, ror_u CASCADE;
DROP TABLE ror, ror_all, ror_queries;
DROP FUNCTION ror_try;
-- lists, and times of finer types than the table's: what surely is not gone is not asked for
CREATE TABLE ror_ts (ts timestamp NOT NULL, v int);
CREATE TABLE ror_d (ts date NOT NULL, v int);
CREATE TABLE ror_tz (ts timestamptz NOT NULL, v int);
SET timezone = 'Europe/Prague';
SELECT format('SELECT FROM create_hypertable(%L, ''ts'', chunk_time_interval => interval ''1 day'')', t) FROM unnest(ARRAY['ror_ts', 'ror_d', 'ror_tz']) t \gexec
INSERT INTO ror_ts SELECT '2026-01-01'::timestamp + i * interval '1 hour', i FROM generate_series(0, 239) i;
INSERT INTO ror_d SELECT ts::date, v FROM ror_ts;
INSERT INTO ror_tz SELECT ts, v FROM ror_ts;
SELECT format('ALTER TABLE %s SET (strata.read_archives)', t) FROM unnest(ARRAY['ror_ts', 'ror_d', 'ror_tz']) t \gexec
SELECT count(drop_chunks) FROM (SELECT drop_chunks(t::regclass, older_than => timestamp '2026-01-05') FROM unnest(ARRAY['ror_ts', 'ror_d']) t) x;
SELECT count(drop_chunks) FROM drop_chunks('ror_tz', older_than => timestamptz '2026-01-05 00:00 Z');
CREATE FUNCTION ror_asked(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	asked text;
BEGIN
	EXECUTE query INTO asked;
	RETURN asked;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
SELECT t, q, ror_asked(format('SELECT sum(v) FROM %s WHERE %s', t, q)) FROM unnest(ARRAY['ts IN (''2026-01-07'', ''2026-01-09 05:00'')', 'ts IN (''2026-01-07'', NULL, ''2026-01-02'')', 'ts = ANY(ARRAY[''2026-01-07'', NULL]::timestamptz[])', 'ts = ANY(''{2026-01-07,2026-01-08}''::date[])',
	'ts = ANY(''{2026-01-07,2026-01-08 01:00}''::timestamp[])', 'ts IN (NULL, ''2026-01-07'') AND v > 3', 'ts <> ALL(''{2026-01-07,2026-01-08}''::date[])', 'ts = ANY(ARRAY[NULL]::date[])', 'ts NOT IN (''2026-01-07'')',
	'ts > ''2026-01-07''::timestamptz', 'ts >= ''2026-01-06 23:00''::timestamp', 'ts = ''2026-01-08''::timestamptz', '''2026-01-08 00:00''::timestamptz < ts', 'ts > ''2026-01-05 00:00''::timestamptz', 'ts < ''2026-01-08''::timestamptz', 'ts > ''infinity''::timestamptz',
	'ts > ''-infinity''::timestamptz', 'ts < ''2020-01-01''::timestamptz', 'ts >= ''294276-12-31 23:59''::timestamptz', 'ts > NULL::timestamptz', 'ts > (SELECT ''2026-01-08''::timestamptz)']) q, unnest(ARRAY['ror_ts', 'ror_d', 'ror_tz']) t ORDER BY q, t;
PREPARE ror_list(timestamptz[], timestamptz) AS SELECT sum(v) FROM ror_ts WHERE ts IN ($1[1], $1[2]) AND ts > $2;
SET plan_cache_mode = force_generic_plan;
EXECUTE ror_list('{2026-01-07,2026-01-08}', '2026-01-01');
EXECUTE ror_list('{2026-01-07,2026-01-02}', '2026-01-01');
EXECUTE ror_list('{2026-01-07,2026-01-02}', '2026-01-06 12:00');
RESET plan_cache_mode;
DEALLOCATE ror_list;
SET timezone = 'UTC';
DROP TABLE ror_ts, ror_d, ror_tz;
DROP FUNCTION ror_asked;
-- a view that is younger than a drop does not know what was gone before: late rows that go again are not all there was
CREATE TABLE ror_late (t bigint NOT NULL, dev int, v int);
SELECT FROM create_hypertable('ror_late', 't', chunk_time_interval => 100);
ALTER TABLE ror_late SET (strata.read_archives);
CREATE FUNCTION ror_late_now() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT 1000::bigint';
SELECT set_integer_now_func('ror_late', 'ror_late_now');
INSERT INTO ror_late SELECT i, i % 2, 1 FROM generate_series(0, 399) i;
CREATE MATERIALIZED VIEW ror_late_old WITH (strata.continuous) AS SELECT time_bucket(10, t) AS b, dev, count(*) AS n FROM ror_late GROUP BY 1, 2;
SELECT count(drop_chunks) FROM drop_chunks('ror_late', 100);
CREATE MATERIALIZED VIEW ror_late_new WITH (strata.continuous) AS SELECT time_bucket(150, t) AS b, dev, count(*) AS n FROM ror_late GROUP BY 1, 2;
CREATE MATERIALIZED VIEW ror_late_tiers WITH (strata.continuous, strata.archives = '20 for 10000, 200') AS SELECT time_bucket(20, t) AS b, count(*) AS n FROM ror_late GROUP BY 1;
SELECT relname, option_name, option_value FROM pg_class, pg_options_to_table(reloptions) WHERE relname ~ '^ror_late' AND option_name IN ('strata.gone', 'strata.kept', 'strata.lost') ORDER BY 1, 2;
SELECT count(*) FROM ror_late;
INSERT INTO ror_late VALUES (5, 1, 1);
SELECT count(*), time_bucket(300, t) AS b FROM ror_late GROUP BY b ORDER BY b;
SELECT count(drop_chunks) FROM drop_chunks('ror_late', 200);
SELECT count(*), time_bucket(300, t) AS b FROM ror_late GROUP BY b ORDER BY b;
SELECT count(*), time_bucket(600, t) AS b FROM ror_late GROUP BY b ORDER BY b;
SELECT sum(n) FROM ror_late_new;
-- tiers that are added know what the finer one does
ALTER MATERIALIZED VIEW ror_late_tiers SET (strata.archives = '20 for 10000, 200 for 20000, 400');
CREATE MATERIALIZED VIEW ror_late_known WITH (strata.continuous) AS SELECT time_bucket(100, t) AS b, count(*) AS n FROM ror_late GROUP BY 1;
SELECT count(drop_chunks) FROM drop_chunks('ror_late', 300);
ALTER MATERIALIZED VIEW ror_late_known SET (strata.archives = '100 for 10000, 200');
SELECT relname, option_name, option_value FROM pg_class, pg_options_to_table(reloptions) WHERE relname ~ '^ror_late' AND option_name IN ('strata.gone', 'strata.kept', 'strata.lost') ORDER BY 1, 2;
SELECT count(*) FROM ror_late WHERE t >= 0 AND t < 400;
SELECT count(*) FROM ror_late WHERE t >= 200;
-- one that a dump brings back
SELECT pg_get_viewdef('ror_late_new') AS definition \gset
CREATE TABLE ror_late_archive (LIKE ror_late_new_archive);
INSERT INTO ror_late_archive SELECT * FROM ror_late_new_archive;
SELECT FROM create_hypertable('ror_late_archive', 'b', migrate_data => true);
CREATE VIEW ror_late_again WITH ("strata.continuous" = 'true', "strata.archive" = 'ror_late_archive', "strata.kept" = '0..300', "strata.lost" = '0..150') AS :definition
SELECT option_name, option_value FROM pg_class, pg_options_to_table(reloptions) WHERE relname = 'ror_late_again' ORDER BY 1;
-- without the old one nobody knows
DROP MATERIALIZED VIEW ror_late_old;
SELECT count(*) FROM ror_late;
SELECT count(*) FROM ror_late WHERE t >= 300;
CREATE MATERIALIZED VIEW ror_late_old WITH (strata.continuous) AS SELECT time_bucket(10, t) AS b, dev, count(*) AS n FROM ror_late GROUP BY 1, 2;
INSERT INTO ror_late VALUES (5, 1, 1);
SELECT count(drop_chunks) FROM drop_chunks('ror_late', 300);
SELECT count(*) FROM ror_late;
DROP TABLE ror_late CASCADE;
DROP FUNCTION ror_late_now;
-- a chunk of an archive that is emptied has lost what it kept, too; also by TRUNCATE of the archive, and CASCADE
CREATE TABLE ror_t (t bigint NOT NULL, dev int, v int);
SELECT FROM create_hypertable('ror_t', 't', chunk_time_interval => 100);
INSERT INTO ror_t SELECT i, i % 2, 1 FROM generate_series(0, 999) i;
CREATE TABLE ror_t_dev (id int PRIMARY KEY);
INSERT INTO ror_t_dev VALUES (0), (1);
CREATE MATERIALIZED VIEW ror_t_ten WITH (strata.continuous, strata.chunk_interval = 200) AS SELECT time_bucket(10, t) AS b, dev, sum(v) AS s FROM ror_t GROUP BY 1, 2;
ALTER TABLE ror_t_ten_archive ADD FOREIGN KEY (dev) REFERENCES ror_t_dev;
SELECT count(drop_chunks) FROM drop_chunks('ror_t', 700);
ALTER TABLE ror_t SET (strata.read_archives);
SELECT sum(v) FROM ror_t;
BEGIN;
TRUNCATE ror_t_ten_archive_200_chunk;
SELECT sum(v) FROM ror_t;
ROLLBACK;
BEGIN;
TRUNCATE ror_t_ten_archive_200_chunk;
SELECT sum(v) FROM ror_t WHERE t >= 400;
SELECT sum(v) FROM ror_t WHERE t < 200;
SELECT sum(s) FROM ror_t_ten;
SELECT option_value FROM pg_class, pg_options_to_table(reloptions) WHERE relname = 'ror_t_ten' AND option_name = 'strata.lost';
-- what comes there later is kept, and not all
INSERT INTO ror_t VALUES (205, 1, 1);
SELECT count(drop_chunks) FROM drop_chunks('ror_t', 700);
SELECT sum(v) FROM ror_t WHERE t >= 400;
SELECT sum(v) FROM ror_t WHERE t >= 200;
ROLLBACK;
BEGIN;
TRUNCATE ror_t_ten_archive;
SELECT sum(v) FROM ror_t WHERE t >= 700;
SELECT sum(v) FROM ror_t;
ROLLBACK;
BEGIN;
TRUNCATE ror_t_dev CASCADE;
SELECT sum(v) FROM ror_t WHERE t >= 700;
SELECT sum(v) FROM ror_t;
ROLLBACK;
BEGIN;
TRUNCATE ror_t_ten;
SELECT sum(v) FROM ror_t WHERE t >= 700;
SELECT sum(v) FROM ror_t;
ROLLBACK;
-- not in what is not kept
TRUNCATE ror_t_ten_archive_800_chunk;
SELECT sum(v) FROM ror_t;
DROP TABLE ror_t CASCADE;
DROP TABLE ror_t_dev;
