-- Aggregates that are kept as states: wider buckets, rows that are gone, and queries of the table have what all rows would make.
SET timezone = 'UTC';
SET strata.report_compression = off;
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE TABLE rost (time timestamptz NOT NULL, host text, v float8, r real, seen date, n int);
SELECT FROM create_hypertable('rost', 'time', chunk_time_interval => interval '12 hours');
ALTER TABLE rost SET (strata.segmentby = 'host', strata.orderby = 'time');
CREATE TABLE rost_all (LIKE rost);
INSERT INTO rost_all SELECT '2026-02-26'::timestamptz + i * interval '1 minute', 'h' || i % 3, (i * 7919) % 1009 / 4.0, (i * 31) % 97, date '2026-01-01' + (i * 17) % 211, i FROM generate_series(0, 5759) i;
UPDATE rost_all SET v = NULL WHERE n % 11 = 3;
UPDATE rost_all SET seen = NULL WHERE n % 7 = 1;
UPDATE rost_all SET v = NULL, seen = NULL WHERE time < '2026-02-26 02:00' AND host = 'h1';
INSERT INTO rost SELECT * FROM rost_all WHERE n % 20 <> 3;
SELECT count(compress_chunk(c)) FROM show_chunks('rost') c;
INSERT INTO rost SELECT * FROM rost_all WHERE n % 20 = 3;
CREATE MATERIALIZED VIEW rost_h WITH (strata.continuous) AS
	SELECT time_bucket('1 hour', time) AS b, host, last(v, time) AS lv, first(v, time) AS fv, last(host || n::text, time) FILTER (WHERE n % 2 = 0) AS le, first(n, -n) AS fn, last(time, seen) AS ls,
		stddev(v) AS sd, variance(r) AS vr, var_pop(v) FILTER (WHERE n % 3 = 0) AS vp, corr(v, r) AS c, regr_slope(v, n) AS sl, regr_count(v, r) AS rc, histogram(v, 0, 250, 5) AS h, avg(v) AS a FROM rost GROUP BY 1, 2;
\d rost_h_archive
-- all of it of all rows there ever were; deviations to twelve digits, as they are added in another order
CREATE FUNCTION rost_near(a float8, b float8) RETURNS bool LANGUAGE sql IMMUTABLE RETURN a IS NOT DISTINCT FROM b OR abs(a - b) <= 1e-9 * greatest(abs(a), abs(b), 1);
CREATE FUNCTION rost_check(OUT hours bigint, OUT wrong bigint) LANGUAGE sql AS $$
	WITH raw AS (SELECT time_bucket('1 hour', time) AS b, host, last(v, time) AS lv, first(v, time) AS fv, last(host || n::text, time) FILTER (WHERE n % 2 = 0) AS le, first(n, -n) AS fn,
		stddev(v) AS sd, variance(r) AS vr, var_pop(v) FILTER (WHERE n % 3 = 0) AS vp, corr(v, r) AS c, regr_slope(v, n) AS sl, regr_count(v, r) AS rc, histogram(v, 0, 250, 5) AS h, avg(v) AS a FROM rost_all GROUP BY 1, 2)
	SELECT (SELECT count(*) FROM rost_h), count(*) FILTER (WHERE (x.lv, x.fv, x.le, x.fn, x.rc, x.h) IS DISTINCT FROM (y.lv, y.fv, y.le, y.fn, y.rc, y.h) OR
		NOT (rost_near(x.sd, y.sd) AND rost_near(x.vr, y.vr) AND rost_near(x.vp, y.vp) AND rost_near(x.c, y.c) AND rost_near(x.sl, y.sl) AND rost_near(x.a, y.a)))
	FROM raw x FULL JOIN rost_h y ON (x.b, x.host) = (y.b, y.host) $$;
SELECT * FROM rost_check();
-- by day, of the table: out of the archive
CREATE FUNCTION rost_days(OUT days bigint, OUT wrong bigint) LANGUAGE sql AS $$
	WITH raw AS (SELECT time_bucket('1 day', time) AS b, last(v, time) AS lv, first(n, -n) AS fn, stddev(v) AS sd, variance(r) AS vr, corr(v, r) AS c, regr_count(v, r) AS rc, histogram(v, 0, 250, 5) AS h FROM rost_all GROUP BY 1),
		kept AS (SELECT time_bucket('1 day', time) AS b, last(v, time) AS lv, first(n, -n) AS fn, stddev(v) AS sd, variance(r) AS vr, corr(v, r) AS c, regr_count(v, r) AS rc, histogram(v, 0, 250, 5) AS h FROM rost GROUP BY 1)
	SELECT (SELECT count(*) FROM kept), count(*) FILTER (WHERE (x.lv, x.fn, x.rc, x.h) IS DISTINCT FROM (y.lv, y.fn, y.rc, y.h) OR NOT (rost_near(x.sd, y.sd) AND rost_near(x.vr, y.vr) AND rost_near(x.c, y.c)))
	FROM raw x FULL JOIN kept y USING (b) $$;
SELECT * FROM rost_days();
CREATE FUNCTION rost_source(query text) RETURNS text LANGUAGE plpgsql SET strata.enable_archive_rewrite = on AS $$
DECLARE line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
		IF line LIKE 'Archive:%' THEN RETURN 'archive'; END IF;
	END LOOP;
	RETURN 'rows';
END $$;
SELECT q, rost_source('SELECT ' || q || ' FROM rost') FROM unnest(ARRAY['last(v, time)', 'first(v, time)', 'stddev_samp(v)', 'stddev_pop(v)', 'var_pop(r)', 'covar_pop(v, r)', 'corr(v, r)', 'histogram(v, 0, 250, 5)',
	'histogram(v, 0, 250, 6)', 'last(v, seen)', 'stddev(n)', 'corr(r, v)', 'regr_intercept(v, r)', 'regr_intercept(v, n)']) q;
-- rows go, and others come late, on either side of the limit
SELECT drop_chunks('rost', older_than => timestamptz '2026-02-28');
SELECT * FROM rost_check();
INSERT INTO rost VALUES ('2026-02-26 05:59:30', 'h1', 1000, 1, '2020-01-01', 8001), ('2026-02-26 06:00', 'h1', 2000, 1, '2020-01-01', 8002), ('2026-02-28 05:59:59', 'h1', 2000, 2, NULL, 8003), ('2026-02-27 23:59:59', 'h9', 1, 2, NULL, 8004);
INSERT INTO rost_all VALUES ('2026-02-26 05:59:30', 'h1', 1000, 1, '2020-01-01', 8001), ('2026-02-26 06:00', 'h1', 2000, 1, '2020-01-01', 8002), ('2026-02-28 05:59:59', 'h1', 2000, 2, NULL, 8003), ('2026-02-27 23:59:59', 'h9', 1, 2, NULL, 8004);
SELECT * FROM rost_check();
SELECT drop_chunks('rost', older_than => timestamptz '2026-03-01');
SELECT * FROM rost_check();
ALTER TABLE rost SET (strata.read_archives);
SELECT * FROM rost_days();
ALTER TABLE rost RESET (strata.read_archives);
-- a wider tier that is made of what is kept
ALTER MATERIALIZED VIEW rost_h SET (strata.archives = '1 hour for 10 years, 1 day as rost_d');
SELECT count(*), count(*) FILTER (WHERE (x.lv, x.le, x.h) IS DISTINCT FROM (y.lv, y.le, y.h) OR NOT rost_near(x.sd, y.sd)) AS wrong FROM rost_d y FULL JOIN
	(SELECT time_bucket('1 day', time) AS b, host, last(v, time) AS lv, last(host || n::text, time) FILTER (WHERE n % 2 = 0) AS le, histogram(v, 0, 250, 5) AS h, stddev(v) AS sd FROM rost_all GROUP BY 1, 2) x USING (b, host);
-- what cannot be combined holds the rows: bounds that are not the same for all, times without an order of their own, different values
CREATE MATERIALIZED VIEW rost_no WITH (strata.continuous) AS SELECT time_bucket('1 hour', time) AS b, count(DISTINCT n) AS s FROM rost GROUP BY 1;
SELECT drop_chunks('rost', older_than => timestamptz '2026-03-02');
DROP MATERIALIZED VIEW rost_no;
CREATE MATERIALIZED VIEW rost_no WITH (strata.continuous) AS SELECT time_bucket('1 hour', time) AS b, histogram(v, 0, 250, n % 2 + 1) AS s FROM rost GROUP BY 1 WITH NO DATA;
SELECT drop_chunks('rost', older_than => timestamptz '2026-03-02');
DROP MATERIALIZED VIEW rost_no;
CREATE MATERIALIZED VIEW rost_no WITH (strata.continuous) AS SELECT time_bucket('1 hour', time) AS b, last(n, host) AS s FROM rost GROUP BY 1;
SELECT drop_chunks('rost', older_than => timestamptz '2026-03-02');
DROP MATERIALIZED VIEW rost_no;
-- deviations of integers and numerics combine, to the last digit, and outlive their rows
CREATE TABLE rosd (time int NOT NULL, g int, i2 smallint, i4 int, i8 bigint, n numeric(12,3));
SELECT FROM create_hypertable('rosd', 'time', chunk_time_interval => 100);
INSERT INTO rosd SELECT i, i % 3, i % 300 - 150, i * 100003, i * 9000000000000, nullif(i % 7, 3) * 10.001 ^ (i % 9 - 3) FROM generate_series(0, 599) i;
INSERT INTO rosd SELECT i, 3, 5, 5, 5, CASE i % 20 WHEN 0 THEN 'NaN' WHEN 11 THEN 0 ELSE 5.5 END FROM generate_series(0, 599, 5) i;
INSERT INTO rosd VALUES (7, 4, 1, 2, 3, 4.5), (250, 5, NULL, NULL, NULL, NULL);
CREATE TABLE rosd_all AS TABLE rosd;
\set values 'count(*) AS c, stddev(i2) AS a1, variance(i2) AS a2, stddev_pop(i4) AS b1, var_pop(i4) AS b2, var_samp(i8) AS c1, stddev_samp(i8) FILTER (WHERE i4 % 2 = 0) AS c2, stddev(n) AS d1, variance(n) AS d2, var_pop(n) AS d3, round(stddev_pop(n) / nullif(avg(n), 0), 5) AS e'
CREATE MATERIALIZED VIEW rosd_v WITH (strata.continuous) AS SELECT time_bucket(50, time) AS b, g, :values FROM rosd GROUP BY 1, 2 HAVING variance(i4) IS NULL OR variance(i4) >= 0;
SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'rosd_v_archive'::regclass AND attnum > 0;
CREATE FUNCTION rosd_differ(a text, b text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
	d bigint;
BEGIN
	EXECUTE format('SELECT count(*) FROM (%s) q', a) INTO n;
	EXECUTE format('WITH a AS (SELECT q::text FROM (%s) q), b AS (SELECT q::text FROM (%s) q) SELECT count(*) FROM ((TABLE a EXCEPT ALL TABLE b) UNION ALL (TABLE b EXCEPT ALL TABLE a)) x', a, b) INTO d;
	RETURN format('%s rows, %s differences', n, d);
END $$;
\set same 'SELECT rosd_differ($q$TABLE rosd_v$q$, $q$SELECT time_bucket(50, time) AS b, g, ' :values ' FROM rosd_all GROUP BY 1, 2$q$), rosd_differ($q$SELECT time_bucket(100, time) AS b, ' :values ' FROM rosd GROUP BY 1$q$, $q$SELECT time_bucket(100, time) AS b, ' :values ' FROM rosd_all GROUP BY 1$q$)'
:same;
SELECT rost_source($$SELECT g, stddev(n), var_pop(i8) FROM rosd GROUP BY 1$$), rost_source($$SELECT g, stddev(i4) FILTER (WHERE n > 5) FROM rosd GROUP BY 1$$);
INSERT INTO rosd VALUES (33, 1, 7, 7, 7, 7.7);
INSERT INTO rosd_all VALUES (33, 1, 7, 7, 7, 7.7);
:same;
SELECT count(drop_chunks) FROM drop_chunks('rosd', 300);
ALTER TABLE rosd SET (strata.read_archives);
:same;
INSERT INTO rosd SELECT time, g, i2, i4, i8, n + 0.25 FROM rosd_all WHERE time % 17 = 0 AND time < 300;
INSERT INTO rosd_all SELECT time, g, i2, i4, i8, n + 0.25 FROM rosd_all WHERE time % 17 = 0 AND time < 300;
:same;
SELECT _strata.numeric_deviation(NULL, 1, 1, true, true), _strata.numeric_deviation(1, 1, 1, true, true), _strata.numeric_deviation(1, 1, 1, false, true), _strata.numeric_deviation(2, 1, NULL, false, true), _strata.numeric_deviation(2, 'Infinity', 'Infinity', true, false);
DROP MATERIALIZED VIEW rosd_v;
DROP TABLE rosd, rosd_all;
DROP FUNCTION rosd_differ;
DROP MATERIALIZED VIEW rost_h;
DROP TABLE rost, rost_all;
DROP FUNCTION rost_check, rost_days, rost_source, rost_near;
-- chunks of times without an end: dropped when they are empty, else left, by name, and the others go
CREATE TABLE rost_end (time timestamptz NOT NULL, v int);
SELECT FROM create_hypertable('rost_end', 'time', chunk_time_interval => interval '1 day');
INSERT INTO rost_end SELECT '2024-01-01'::timestamptz + g * interval '1 hour', g FROM generate_series(0, 95) g;
INSERT INTO rost_end VALUES ('-infinity', 1), ('infinity', 1), ('294276-12-31 23:30', 1), ('4713-01-01 00:30 BC', 1);
CREATE MATERIALIZED VIEW rost_end_day WITH (strata.continuous) AS SELECT time_bucket('1 day', time) AS b, count(*) AS n FROM rost_end GROUP BY 1;
SELECT * FROM rost_end_day ORDER BY 1;
\set VERBOSITY default
SELECT drop_chunks('rost_end', '2024-01-02'::timestamptz);
SELECT drop_chunks('rost_end', newer_than => '2024-01-04'::timestamptz);
\set VERBOSITY terse
SELECT show_chunks('rost_end');
SELECT * FROM rost_end_day ORDER BY 1;
-- a policy goes on, too
SELECT add_retention_policy('rost_end', interval '1 day', initial_start => '2100-01-01') AS rost_job \gset
SELECT job_id > 0 FROM alter_job(:rost_job, config => jsonb_build_object('drop_after', (now() - timestamptz '2024-01-03 12:00')::text));
CALL run_job(:rost_job);
SELECT show_chunks('rost_end');
SELECT object, problem FROM strata.problems WHERE object = 'rost_end';
SELECT delete_job(:rost_job);
SELECT * FROM rost_end_day ORDER BY 1;
DELETE FROM rost_end WHERE time < '0001-01-01' OR time = 'infinity';
ALTER TABLE rost_end SET (strata.read_archives);
SELECT drop_chunks('rost_end', '2024-01-02'::timestamptz);
SELECT drop_chunks('rost_end', newer_than => '2024-01-05'::timestamptz);
SELECT show_chunks('rost_end');
SELECT * FROM rost_end_day ORDER BY 1;
SELECT count(*) FROM rost_end;
-- buckets that have no end where chunks do
CREATE TABLE rost_wide (t bigint NOT NULL, v int);
SELECT FROM create_hypertable('rost_wide', 't', chunk_time_interval => 1000);
INSERT INTO rost_wide SELECT g, g FROM generate_series(0, 2999) g;
CREATE MATERIALIZED VIEW rost_wide_all WITH (strata.continuous) AS SELECT time_bucket(9000000000000000000, t) AS b, count(*) AS n FROM rost_wide GROUP BY 1;
INSERT INTO rost_wide VALUES (9000000000000000001, 1);
SELECT drop_chunks('rost_wide', newer_than => 2000);
SELECT show_chunks('rost_wide');
SELECT * FROM rost_wide_all ORDER BY 1;
DELETE FROM rost_wide WHERE t > 10000;
SELECT drop_chunks('rost_wide', newer_than => 2000);
SELECT * FROM rost_wide_all ORDER BY 1;
DROP TABLE rost_end, rost_wide CASCADE;
