-- Continuous aggregates of a hypertable that is joined with other tables: always what their definition says, whatever changes, and what is refused.
SET timezone = 'UTC';
SET strata.report_compression = off;
\set VERBOSITY terse
CREATE TABLE roj (time timestamptz NOT NULL, dev int, kind text, v float8, n int, price numeric);
SELECT FROM create_hypertable('roj', 'time', chunk_time_interval => interval '1 day');
CREATE TABLE roj_devices (id int, name text, site int, w int, hidden bool DEFAULT false);
CREATE TABLE roj_sites (site bigint PRIMARY KEY, city text) USING strata;
INSERT INTO roj_devices SELECT i, nullif('dev' || i, 'dev3'), nullif(i % 3, 2), i * 10 FROM generate_series(1, 7) i;
-- two rows of one key: each row of the hypertable is there twice
INSERT INTO roj_devices VALUES (5, 'twice', 1, 7), (NULL, 'null', 0, 8);
INSERT INTO roj_sites VALUES (0, 'Brno'), (1, 'Praha');
INSERT INTO roj SELECT '2026-01-01'::timestamptz + i * interval '7 minutes', nullif(i % 11, 0), 'k' || i % 3, i % 40, nullif(i % 50, 7), i / 10.0 FROM generate_series(0, 999) i;
SELECT count(compress_chunk(c)) FROM show_chunks('roj', older_than => '2026-01-04'::timestamptz) c;
CREATE VIEW roj_view AS SELECT id, max(name) AS name FROM roj_devices GROUP BY id;
CREATE TABLE roj_defs (name text, query text);
INSERT INTO roj_defs VALUES
	('roj_a', 'SELECT time_bucket(''1 hour'', time) AS b, d.name, count(*), avg(v), max(v) AS top, sum(n), avg(price) AS ap, stddev(v) AS sd, last(v, time) AS l FROM roj JOIN roj_devices d ON d.id = roj.dev GROUP BY 1, 2'),
	('roj_b', 'SELECT time_bucket(''6 hours'', time) AS b, city, kind, count(*) AS c, count(d.w) AS cw, max(d.w) AS mw, count(DISTINCT d.name) AS dn, bool_or(d.w > 20) AS bo, sum(n) FILTER (WHERE d.w > 20) AS f, count(n) FILTER (WHERE d.w > 20 AND n > 3) AS cf,
		count(d.w) FILTER (WHERE n > 45) AS cwf, min(d.w) FILTER (WHERE n > 45 AND d.w > 10) AS mwf, avg(n) FILTER (WHERE kind = d.name OR d.w > 30) AS af FROM roj LEFT JOIN roj_devices d ON d.id = roj.dev AND kind <> ''k2'' LEFT JOIN roj_sites s USING (site)
		WHERE n > 2 AND (d.w IS NULL OR d.w < 60) GROUP BY 1, 2, 3 HAVING count(*) > 1 ORDER BY 1 DESC, sum(n)'),
	('roj_c', 'SELECT time_bucket(''1 day'', r.time) AS b, (r.dev + d.w) % 3 AS g, sum(v) FROM roj_devices d, roj r WHERE d.id = r.dev AND r.kind > ''k0'' GROUP BY 1, 2'),
	('roj_d', 'SELECT time_bucket(''1 day'', time) AS b, price > 3 AS p, x.name, sum(price) FROM roj_view x RIGHT JOIN roj ON x.id = dev GROUP BY 1, 2, 3'),
	('roj_e', 'SELECT time_bucket(''1 hour'', time) AS b, count(*) AS n FROM roj CROSS JOIN roj_sites GROUP BY 1'),
	('roj_f', 'SELECT time_bucket(''1 hour'', time) AS b, price, c.city, count(*) AS n FROM roj JOIN roj_sites c ON c.site = dev GROUP BY 1, 2, 3');
SELECT format('CREATE MATERIALIZED VIEW %I WITH (strata.continuous) AS %s', name, query) FROM roj_defs ORDER BY 1 \gexec
-- a join of another one
CREATE MATERIALIZED VIEW roj_h WITH (strata.continuous) AS SELECT time_bucket('1 hour', time) AS b, dev, count(*) AS c, max(n) AS m FROM roj WHERE n > 2 GROUP BY 1, 2;
CREATE MATERIALIZED VIEW roj_u WITH (strata.continuous) AS SELECT time_bucket('1 day', b) AS day, length(s.city) AS len, sum(c) AS s, max(m) AS m, count(s.city) AS n FROM roj_h LEFT JOIN roj_sites s ON s.site = dev GROUP BY 1, 2;
INSERT INTO roj_defs SELECT 'roj_u', 'SELECT time_bucket(''1 day'', b) AS day, length(s.city) AS len, sum(c) AS s, max(m) AS m, count(s.city) AS n FROM (SELECT time_bucket(''1 hour'', time) AS b, dev, count(*) AS c, max(n) AS m FROM roj WHERE n > 2 GROUP BY 1, 2) h LEFT JOIN roj_sites s ON s.site = dev GROUP BY 1, 2';
CREATE FUNCTION roj_check(OUT views bigint, OUT rows bigint, OUT differences bigint) LANGUAGE plpgsql AS $$
DECLARE
	def record;
	n bigint;
	d bigint;
BEGIN
	views := 0; rows := 0; differences := 0;
	FOR def IN SELECT * FROM roj_defs ORDER BY 1 LOOP
		EXECUTE format('CREATE TEMP TABLE roj_with AS SELECT (regexp_replace(q::text, ''(\.\d{9})\d+'', ''\1'', ''g'')) AS q FROM %I q', def.name);
		SET LOCAL strata.enable_archive_rewrite = off;
		EXECUTE format('CREATE TEMP TABLE roj_without AS SELECT (regexp_replace(q::text, ''(\.\d{9})\d+'', ''\1'', ''g'')) AS q FROM (%s) q', def.query);
		SET LOCAL strata.enable_archive_rewrite = on;
		SELECT count(*) FROM roj_without INTO n;
		SELECT count(*) FROM ((TABLE roj_with EXCEPT ALL TABLE roj_without) UNION ALL (TABLE roj_without EXCEPT ALL TABLE roj_with)) x INTO d;
		DROP TABLE roj_with, roj_without;
		views := views + 1; rows := rows + n; differences := differences + d;
	END LOOP;
END $$;
SELECT * FROM roj_check();
-- the archive is read, and knows nothing of the other tables
SELECT name, (SELECT count(*) > 0 FROM strata.rollups r WHERE r.view::text = name AND covered_to > '2026-01-03') AS covered FROM roj_defs ORDER BY 1;
SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'roj_b_archive'::regclass AND attnum > 0;
-- whatever is done to them is there at once
UPDATE roj_devices SET name = 'renamed', w = w + 5 WHERE id < 4;
SELECT * FROM roj_check();
DELETE FROM roj_devices WHERE id = 6;
INSERT INTO roj_devices VALUES (9, 'new', 1, 35);
SELECT * FROM roj_check();
BEGIN;
TRUNCATE roj_sites;
SELECT * FROM roj_check();
ROLLBACK;
ALTER TABLE roj_devices ADD COLUMN more int DEFAULT 5;
ALTER TABLE roj_devices RENAME COLUMN w TO weight;
ALTER TABLE roj_devices RENAME COLUMN weight TO w;
ALTER TABLE roj_sites RENAME TO roj_cities;
ALTER TABLE roj_cities RENAME TO roj_sites;
SELECT * FROM roj_check();
-- and late rows, changed and deleted ones, before and after a refresh
BEGIN;
INSERT INTO roj SELECT '2026-01-01 03:03'::timestamptz + i * interval '1 hour', i, 'k1', 1000, 7, 3 FROM generate_series(1, 5) i;
UPDATE roj SET dev = dev + 1 WHERE time >= '2026-01-02 01:00' AND time < '2026-01-02 03:00';
SELECT * FROM roj_check();
DELETE FROM roj_devices WHERE id = 2;
SELECT * FROM roj_check();
COMMIT;
DELETE FROM roj WHERE time >= '2026-01-02 03:00' AND time < '2026-01-02 06:30';
SELECT * FROM roj_check();
SELECT format('CALL refresh_continuous_aggregate(%L, NULL, NULL)', name) FROM roj_defs ORDER BY 1 \gexec
SELECT * FROM roj_check();
SELECT name, v.* FROM roj_defs, strata.verify(name::regclass) v;
-- a snapshot from before
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT * FROM roj_check();
COMMIT;
PREPARE roj_p AS SELECT count(*), sum(count), max(top) FROM roj_a WHERE name = 'dev4' AND b >= $1;
EXECUTE roj_p('2026-01-01');
UPDATE roj_devices SET name = 'dev4' WHERE id = 5;
EXECUTE roj_p('2026-01-01');
INSERT INTO roj VALUES ('2026-01-01 00:30', 4, 'k1', 5000, 1, 1);
EXECUTE roj_p('2026-01-01');
-- queries of the hypertable alone read the same archive
SELECT kind, count(*) FROM roj WHERE n > 2 GROUP BY 1 ORDER BY 1;
-- row security of what is joined holds, for the owner of the view
UPDATE roj_devices SET hidden = true WHERE id IN (1, 4);
ALTER TABLE roj_devices ENABLE ROW LEVEL SECURITY;
ALTER TABLE roj_devices FORCE ROW LEVEL SECURITY;
CREATE POLICY roj_policy ON roj_devices USING (NOT hidden);
SELECT views, differences FROM roj_check();
DROP POLICY roj_policy ON roj_devices;
ALTER TABLE roj_devices NO FORCE ROW LEVEL SECURITY;
ALTER TABLE roj_devices DISABLE ROW LEVEL SECURITY;
-- who may read the view needs no right to what it joins, and its owner does
CREATE ROLE regress_roj;
GRANT regress_roj TO CURRENT_USER;
GRANT SELECT ON roj_a TO regress_roj;
SET ROLE regress_roj;
SELECT count(*) > 0 AS read FROM roj_a;
SELECT count(*) FROM roj_devices;
RESET ROLE;
DROP OWNED BY regress_roj;
DROP ROLE regress_roj;
-- what was computed of joined rows by itself
ALTER MATERIALIZED VIEW roj_a SET (strata.materialized_only = true);
INSERT INTO roj VALUES ('2026-01-05', 4, 'k1', 9999, 1, 1);
SELECT max(top) FROM roj_a;
UPDATE roj_devices SET name = 'now' WHERE id = 7;
SELECT count(*) > 0 AS renamed FROM roj_a WHERE name = 'now';
ALTER MATERIALIZED VIEW roj_a SET (strata.materialized_only = false);
SELECT max(top) FROM roj_a;
-- several widths
CREATE MATERIALIZED VIEW roj_w WITH (strata.continuous, strata.archives = '1 hour for 30 days, 1 day') AS SELECT time_bucket('1 hour', time) AS b, d.name, count(*), avg(v) FROM roj JOIN roj_devices d ON d.id = dev GROUP BY 1, 2;
SELECT (SELECT sum(count) FROM roj_w) = (SELECT sum(count) FROM roj_w_1_day) AS same;
DROP MATERIALIZED VIEW roj_w;
-- what is refused
CREATE TEMP TABLE roj_temp (id int);
CREATE FUNCTION roj_sqlstate(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	m text;
BEGIN
	EXECUTE 'CREATE MATERIALIZED VIEW roj_x WITH (strata.continuous) AS ' || query;
	RETURN 'taken';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS m = MESSAGE_TEXT;
	RETURN SQLSTATE || ' ' || m;
END $$;
SELECT q, roj_sqlstate(q) FROM unnest(ARRAY['SELECT time_bucket(''1 hour'', a.time), count(*) FROM roj a JOIN roj b USING (dev) GROUP BY 1',
	'SELECT time_bucket(''1 hour'', time), count(*) FROM roj_devices d LEFT JOIN roj ON d.id = dev GROUP BY 1', 'SELECT time_bucket(''1 hour'', time), count(*) FROM roj_devices d FULL JOIN roj ON d.id = dev GROUP BY 1',
	'SELECT time_bucket(''1 hour'', time), sum(d.w) FROM roj JOIN roj_devices d ON d.id = dev GROUP BY 1', 'SELECT time_bucket(''1 hour'', time), max(d.w + n) FROM roj JOIN roj_devices d ON d.id = dev GROUP BY 1',
	'SELECT time_bucket(''1 hour'', time), count(DISTINCT n) FROM roj JOIN roj_devices d ON d.id = dev GROUP BY 1', 'SELECT time_bucket(''1 hour'', time), count(*) FROM roj JOIN roj_devices d ON d.w = price GROUP BY 1',
	'SELECT time_bucket(''1 hour'', roj.time), count(*) FROM roj JOIN (SELECT now() AS time) d ON d.time = roj.time GROUP BY 1', 'SELECT time_bucket(''1 hour'', time), count(*) FROM roj JOIN roj_temp t ON t.id = dev GROUP BY 1',
	'SELECT time_bucket(''1 hour'', time), count(*) FROM roj, LATERAL (SELECT dev + 1) d GROUP BY 1', 'SELECT time_bucket(''1 hour'', time), count(*) FROM roj JOIN generate_series(1, 3) g ON g = dev GROUP BY 1',
	'SELECT d.name, count(*) FROM roj JOIN roj_devices d ON d.id = dev GROUP BY 1', 'SELECT time_bucket(''1 hour'', time), count(*) FROM roj JOIN roj_devices d ON d.name < time::text GROUP BY 1',
	'SELECT time_bucket(''1 hour'', time), count(*) FROM roj JOIN roj_devices d ON d.w < extract(epoch FROM time) GROUP BY 1', 'SELECT time_bucket(''1 hour'', time), count(*) FROM roj JOIN roj_devices d ON roj.tableoid = d.tableoid GROUP BY 1',
	'SELECT time_bucket(''1 day'', b), sum(count) FROM roj_a GROUP BY 1']) q;
-- chunks go, and what was made of them stays
DROP TABLE roj_devices;
DROP MATERIALIZED VIEW roj_u, roj_h;
SELECT count(drop_chunks) FROM drop_chunks('roj', '2026-01-03'::timestamptz);
CREATE TEMP TABLE roj_before AS SELECT * FROM roj_a WHERE b < '2026-01-03';
INSERT INTO roj VALUES ('2026-01-01 05:30', 4, 'k1', 1, 1, 1);
SELECT a.b, a.name, a.count - o.count AS more FROM roj_a a JOIN roj_before o ON (a.b, a.name) = (o.b, o.name) WHERE a.count <> o.count;
UPDATE roj_devices SET name = 'after' WHERE id = 7;
SELECT count(*) > 0 AS renamed FROM roj_a WHERE name = 'after' AND b < '2026-01-03';
SELECT sum(n) FROM roj_e WHERE b < '2026-01-03';
DELETE FROM roj_sites WHERE site = 0;
SELECT sum(n) FROM roj_e WHERE b < '2026-01-03';
DROP TABLE roj_devices, roj_sites CASCADE;
DROP TABLE roj CASCADE;

-- aggregates of the time within functions, the least of enums and arrays, and tiers that are joined by the bucket
CREATE TABLE rjr (time timestamptz NOT NULL, dev int, v float8, arr int[]) PARTITION BY RANGE (time) WITH (strata.chunk_interval = '1 day');
CREATE TYPE rj_mood AS ENUM ('lo', 'hi');
ALTER TABLE rjr ADD m rj_mood;
CREATE TABLE rjd (id int, name text, h timestamptz);
INSERT INTO rjd VALUES (1, 'a', '2026-01-01 Z'), (2, 'b', '2026-01-01 01:00 Z');
INSERT INTO rjr SELECT '2026-01-01 Z'::timestamptz + i * interval '7 min', 1 + i % 2, i, ARRAY[i], CASE WHEN i % 3 = 0 THEN 'lo' ELSE 'hi' END::rj_mood FROM generate_series(0, 99) i;
CREATE VIEW rj_asked AS SELECT time_bucket('6 hours', time) AS b, d.name, extract(epoch FROM max(time) - min(time)) AS span, round(last(v, time)::numeric, 2) AS l, max(m) AS m, min(arr) AS a FROM rjr JOIN rjd d ON d.id = dev GROUP BY 1, 2;
CREATE MATERIALIZED VIEW rj_kept WITH (strata.continuous) AS SELECT time_bucket('6 hours', time) AS b, d.name, extract(epoch FROM max(time) - min(time)) AS span, round(last(v, time)::numeric, 2) AS l, max(m) AS m, min(arr) AS a FROM rjr JOIN rjd d ON d.id = dev GROUP BY 1, 2;
SELECT count(*) FROM rj_kept;
(TABLE rj_kept EXCEPT ALL TABLE rj_asked) UNION ALL (TABLE rj_asked EXCEPT ALL TABLE rj_kept);
CREATE MATERIALIZED VIEW rj_by_bucket WITH (strata.continuous, strata.archives = '1 hour for 3000 days, 1 day') AS SELECT time_bucket('1 hour', time) AS b, d.name, count(*) FROM rjr JOIN rjd d ON d.h = time_bucket('1 hour', time) GROUP BY 1, 2;
DROP VIEW rj_asked;
DROP MATERIALIZED VIEW rj_kept;
DROP TABLE rjr, rjd;
DROP TYPE rj_mood;

-- grouped by the bucket itself: a group of several would be half of the archive and half of rows
CREATE TABLE rjn (time timestamptz NOT NULL, v int) PARTITION BY RANGE (time) WITH (strata.chunk_interval = '1 day');
CREATE TABLE rjn_days (day timestamptz, name text);
INSERT INTO rjn SELECT '2026-01-01 Z'::timestamptz + i * interval '7 min', i FROM generate_series(0, 999) i;
INSERT INTO rjn_days SELECT '2026-01-01 Z'::timestamptz + i * interval '1 day', 'a' FROM generate_series(0, 4) i;
CREATE MATERIALIZED VIEW rjn_view WITH (strata.continuous) AS SELECT count(*) FROM rjn JOIN rjn_days ON day = time_bucket('1 day', time);
CREATE MATERIALIZED VIEW rjn_view WITH (strata.continuous) AS SELECT name, count(*) FROM rjn JOIN rjn_days ON day = time_bucket('1 day', time) GROUP BY 1;
CREATE MATERIALIZED VIEW rjn_view WITH (strata.continuous) AS SELECT day, count(*) FROM rjn JOIN rjn_days ON day = time_bucket('1 day', time) GROUP BY 1;
CREATE MATERIALIZED VIEW rjn_view WITH (strata.continuous) AS SELECT extract(isodow FROM time_bucket('1 day', time)) AS day, count(*) FROM rjn JOIN rjn_days ON day = time_bucket('1 day', time) GROUP BY 1;
CREATE MATERIALIZED VIEW rjn_view WITH (strata.continuous) AS SELECT name, count(*) FROM rjn JOIN rjn_days ON day = time_bucket('1 day', time) GROUP BY 1, time_bucket('1 day', time);
INSERT INTO rjn VALUES ('2026-01-02 03:00Z', 1);
TABLE rjn_view ORDER BY 2;
DROP MATERIALIZED VIEW rjn_view;
DROP TABLE rjn, rjn_days;

-- joined by a bucket of another width than the group's
CREATE TABLE rjw (time timestamptz NOT NULL, v int) PARTITION BY RANGE (time) WITH (strata.chunk_interval = '1 day');
CREATE TABLE rjw_all (LIKE rjw);
CREATE TABLE rjw_days (day timestamptz, price int);
INSERT INTO rjw_all SELECT '2026-01-01 Z'::timestamptz + i * interval '7 min', i FROM generate_series(0, 999) i;
INSERT INTO rjw SELECT * FROM rjw_all;
INSERT INTO rjw_days SELECT '2026-01-01 Z'::timestamptz + i * interval '1 day', i FROM generate_series(0, 3) i;
CREATE MATERIALIZED VIEW rjw_day WITH (strata.continuous) AS
	SELECT time_bucket('1 hour', time) AS b, price, count(*), sum(v) FROM rjw JOIN rjw_days ON day = time_bucket('1 day', time) GROUP BY 1, 2;
CREATE MATERIALIZED VIEW rjw_hour WITH (strata.continuous, strata.archives = '1 day for 2000 days, 2 days') AS
	SELECT time_bucket('1 day', time) AS b, count(*), sum(v) FILTER (WHERE price > 1) FROM rjw LEFT JOIN rjw_days ON day = time_bucket('1 hour', time) AND time_bucket('1 week', time) < day GROUP BY 1;
CREATE FUNCTION rjw_check() RETURNS TABLE (day bigint, hour bigint, wide bigint) LANGUAGE sql AS $$
	WITH d AS (SELECT time_bucket('1 hour', time) AS b, price, count(*), sum(v) FROM rjw_all JOIN rjw_days ON day = time_bucket('1 day', time) GROUP BY 1, 2),
		h AS (SELECT time_bucket('1 day', time) AS b, count(*), sum(v) FILTER (WHERE price > 1) FROM rjw_all LEFT JOIN rjw_days ON day = time_bucket('1 hour', time) AND time_bucket('1 week', time) < day GROUP BY 1),
		w AS (SELECT time_bucket('2 days', time) AS b, count(*), sum(v) FILTER (WHERE price > 1) FROM rjw_all LEFT JOIN rjw_days ON day = time_bucket('1 hour', time) AND time_bucket('1 week', time) < day GROUP BY 1)
	SELECT (SELECT count(*) FROM ((TABLE d EXCEPT ALL TABLE rjw_day) UNION ALL (TABLE rjw_day EXCEPT ALL TABLE d)) x),
		(SELECT count(*) FROM ((TABLE h EXCEPT ALL TABLE rjw_hour) UNION ALL (TABLE rjw_hour EXCEPT ALL TABLE h)) x),
		(SELECT count(*) FROM ((TABLE w EXCEPT ALL TABLE rjw_hour_2_days) UNION ALL (TABLE rjw_hour_2_days EXCEPT ALL TABLE w)) x)
$$;
SELECT * FROM rjw_check();
INSERT INTO rjw VALUES ('2026-01-02 03:00Z', 1);
INSERT INTO rjw_all VALUES ('2026-01-02 03:00Z', 1);
UPDATE rjw_days SET price = 7 WHERE day = '2026-01-03 Z';
SELECT * FROM rjw_check();
SELECT count(drop_chunks) FROM drop_chunks('rjw', '2026-01-03 Z'::timestamptz);
INSERT INTO rjw VALUES ('2026-01-01 03:00Z', 1), ('2026-01-04 03:00Z', 1);
INSERT INTO rjw_all VALUES ('2026-01-01 03:00Z', 1), ('2026-01-04 03:00Z', 1);
SELECT * FROM rjw_check();
CALL refresh_continuous_aggregate('rjw_day', NULL, NULL);
SELECT * FROM rjw_check();
-- a tier of the key's width would lack the key; one beside it does not
ALTER MATERIALIZED VIEW rjw_day SET (strata.archives = '1 hour for 2000 days, 1 day');
ALTER MATERIALIZED VIEW rjw_day SET (strata.archives = '1 hour for 2000 days, 12 hours');
SELECT (SELECT count(*) FROM (SELECT time_bucket('12 hours', time) AS b, price, count(*), sum(v) FROM rjw_all JOIN rjw_days ON day = time_bucket('1 day', time) GROUP BY 1, 2 EXCEPT ALL TABLE rjw_day_12_hours) x), count(*) FROM rjw_day_12_hours;
CREATE MATERIALIZED VIEW rjw_two WITH (strata.continuous) AS SELECT time_bucket('1 hour', time) AS b, time_bucket('1 day', time) AS d, count(*) FROM rjw JOIN rjw_days ON day = time_bucket('1 day', time) GROUP BY 1, 2;
CREATE MATERIALIZED VIEW rjw_two WITH (strata.continuous) AS SELECT price, count(*) FROM rjw JOIN rjw_days ON day = time_bucket('1 day', time) GROUP BY 1;
DROP TABLE rjw, rjw_days CASCADE;
DROP TABLE rjw_all;
DROP FUNCTION rjw_check;
