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
-- what cannot be combined holds the rows: bounds that are not the same for all, times without an order of their own, deviations of integers and numerics
CREATE MATERIALIZED VIEW rost_no WITH (strata.continuous) AS SELECT time_bucket('1 hour', time) AS b, stddev(n) AS s FROM rost GROUP BY 1;
SELECT drop_chunks('rost', older_than => timestamptz '2026-03-02');
DROP MATERIALIZED VIEW rost_no;
CREATE MATERIALIZED VIEW rost_no WITH (strata.continuous) AS SELECT time_bucket('1 hour', time) AS b, histogram(v, 0, 250, n % 2 + 1) AS s FROM rost GROUP BY 1 WITH NO DATA;
SELECT drop_chunks('rost', older_than => timestamptz '2026-03-02');
DROP MATERIALIZED VIEW rost_no;
CREATE MATERIALIZED VIEW rost_no WITH (strata.continuous) AS SELECT time_bucket('1 hour', time) AS b, last(n, host) AS s FROM rost GROUP BY 1;
SELECT drop_chunks('rost', older_than => timestamptz '2026-03-02');
DROP MATERIALIZED VIEW rost_no;
DROP MATERIALIZED VIEW rost_h;
DROP TABLE rost, rost_all;
DROP FUNCTION rost_check, rost_days, rost_source, rost_near;
