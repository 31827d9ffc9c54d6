-- Chunks are dropped, what was made of their rows stays: views equal a ledger of all rows there ever were.
SET timezone = 'UTC';
SET strata.report_compression = off;
SELECT setval('_strata.job_id_seq', 6000, false);
CREATE TABLE rok (time timestamptz NOT NULL, host text, v int, f float8);
SELECT FROM create_hypertable('rok', 'time', chunk_time_interval => interval '12 hours');
ALTER TABLE rok SET (strata.segmentby = 'host', strata.orderby = 'time');
-- four days of February and March, a row in 20 late
CREATE TABLE rok_all (LIKE rok);
INSERT INTO rok_all SELECT '2026-02-26 00:00:30'::timestamptz + i * interval '1 minute', 'h' || i % 3, i % 100, (i % 100) / 4.0 FROM generate_series(0, 5759) i;
UPDATE rok_all SET v = NULL WHERE v = 7;
INSERT INTO rok SELECT * FROM rok_all WHERE extract(minute FROM time)::int % 20 <> 3;
SELECT count(compress_chunk(c)) FROM show_chunks('rok') c;
INSERT INTO rok SELECT * FROM rok_all WHERE extract(minute FROM time)::int % 20 = 3;

CREATE MATERIALIZED VIEW rok_hour WITH (strata.continuous) AS
	SELECT time_bucket('1 hour', time) AS b, host, avg(v) AS a, min(v), max(f) AS m, count(*) AS n, sum(f) FILTER (WHERE v > 50) AS s FROM rok GROUP BY 1, 2;
CREATE MATERIALIZED VIEW rok_month WITH (strata.continuous) AS SELECT time_bucket('1 month', time) AS b, count(v) AS n, sum(v) AS s FROM rok GROUP BY 1;
CREATE MATERIALIZED VIEW rok_day WITH (strata.continuous) AS
	SELECT lower(host) AS h, sum(v), time_bucket('1 day', time, 'Europe/Prague') AS b FROM rok GROUP BY 1, 3 HAVING count(*) > 100 ORDER BY 3, 1 WITH NO DATA;
CREATE MATERIALIZED VIEW rok_only WITH (strata.continuous, strata.materialized_only) AS SELECT time_bucket('5 hours', time) AS b, count(*) AS n FROM rok GROUP BY 1;
CREATE MATERIALIZED VIEW rok_up WITH (strata.continuous) AS SELECT time_bucket('1 day', b) AS d, sum(n) AS n, max(m) AS m FROM rok_hour GROUP BY 1;
CREATE FUNCTION rok_check(OUT hour bigint, OUT month bigint, OUT day bigint, OUT mat bigint, OUT up bigint) LANGUAGE sql AS $$
	WITH h AS (SELECT time_bucket('1 hour', time), host, avg(v), min(v), max(f), count(*), sum(f) FILTER (WHERE v > 50) FROM rok_all GROUP BY 1, 2),
		m AS (SELECT time_bucket('1 month', time), count(v), sum(v) FROM rok_all GROUP BY 1),
		d AS (SELECT lower(host), sum(v), time_bucket('1 day', time, 'Europe/Prague') FROM rok_all GROUP BY 1, 3 HAVING count(*) > 100),
		o AS (SELECT time_bucket('5 hours', time), count(*) FROM rok_all GROUP BY 1),
		u AS (SELECT time_bucket('1 day', time), count(*)::numeric, max(f) FROM rok_all GROUP BY 1)
	SELECT (SELECT count(*) FROM ((TABLE h EXCEPT ALL TABLE rok_hour) UNION ALL (TABLE rok_hour EXCEPT ALL TABLE h)) x),
		(SELECT count(*) FROM ((TABLE m EXCEPT ALL TABLE rok_month) UNION ALL (TABLE rok_month EXCEPT ALL TABLE m)) x),
		(SELECT count(*) FROM ((TABLE d EXCEPT ALL TABLE rok_day) UNION ALL (TABLE rok_day EXCEPT ALL TABLE d)) x),
		(SELECT count(*) FROM ((TABLE o EXCEPT ALL TABLE rok_only) UNION ALL (TABLE rok_only EXCEPT ALL TABLE o)) x),
		(SELECT count(*) FROM ((TABLE u EXCEPT ALL TABLE rok_up) UNION ALL (TABLE rok_up EXCEPT ALL TABLE u)) x)
$$;
CREATE FUNCTION rok_kept(view regclass) RETURNS text LANGUAGE sql AS $$
	SELECT option_value FROM pg_class, pg_options_to_table(reloptions) WHERE oid = view AND option_name = 'strata.kept' $$;
SELECT * FROM rok_check();

-- refused, and nothing is dropped
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT drop_chunks('rok', older_than => timestamptz '2026-02-28');
ROLLBACK;
CREATE MATERIALIZED VIEW rok_single WITH (strata.continuous) AS SELECT time_bucket('1 hour', time) AS b, count(DISTINCT v) FROM rok GROUP BY 1 WITH NO DATA;
SELECT drop_chunks('rok', older_than => timestamptz '2026-02-28');
SELECT add_retention_policy('rok', interval '1 day', initial_start => '2100-01-01');
CALL run_job(6000);
SELECT problem, object, detail, hint FROM strata.problems WHERE problem LIKE 'retention%';
SELECT remove_retention_policy('rok');
DROP MATERIALIZED VIEW rok_single;
SELECT drop_chunks('rok_hour', older_than => timestamptz '2026-03-28');

-- dropped: with a plan that was made before, a transaction that fails, and its own view of it
PREPARE rok_n AS SELECT sum(n) FROM rok_hour;
EXECUTE rok_n;
BEGIN;
INSERT INTO rok VALUES ('2026-02-26 03:03:03', 'h1', 1000, 1000);
INSERT INTO rok_all VALUES ('2026-02-26 03:03:03', 'h1', 1000, 1000);
SELECT drop_chunks('rok', older_than => timestamptz '2026-02-28');
SELECT * FROM rok_check();
EXECUTE rok_n;
ROLLBACK;
SELECT * FROM rok_check();
EXECUTE rok_n;
INSERT INTO rok VALUES ('2026-02-26 03:03:03', 'h1', 1000, 1000);
INSERT INTO rok_all VALUES ('2026-02-26 03:03:03', 'h1', 1000, 1000);
SELECT drop_chunks('rok', older_than => timestamptz '2026-02-28');
SELECT count(*), min(time) FROM rok;
SELECT * FROM rok_check();
EXECUTE rok_n;
SET strata.enable_archive_rewrite = off;
SELECT * FROM rok_check();
RESET strata.enable_archive_rewrite;
SELECT rok_kept('rok_hour') = extract(epoch FROM timestamptz '2026-02-26')::bigint * 1000000 - 946684800000000 || '..' || extract(epoch FROM timestamptz '2026-02-28')::bigint * 1000000 - 946684800000000 AS kept_hours;

SELECT view, covered_ranges, covered_from, covered_to, kept_before FROM strata.rollups ORDER BY view::text;
-- rows that come late make a chunk anew; what they make is added, whoever refreshes, and when that chunk goes, too
INSERT INTO rok VALUES ('2026-02-26 00:10:10', 'h1', -5, 77), ('2026-02-27 23:59:59', 'h9', 1, 1), ('2026-02-28 05:00:00', 'h1', 3, 3), ('2026-02-20', 'h1', 4, 4);
INSERT INTO rok_all VALUES ('2026-02-26 00:10:10', 'h1', -5, 77), ('2026-02-27 23:59:59', 'h9', 1, 1), ('2026-02-28 05:00:00', 'h1', 3, 3), ('2026-02-20', 'h1', 4, 4);
SELECT hour, month, day, up FROM rok_check();
CALL refresh_continuous_aggregate('rok_hour', NULL, NULL, force => true);
CALL refresh_continuous_aggregate('rok_month', NULL, NULL);
CALL refresh_continuous_aggregate('rok_day', NULL, NULL);
CALL refresh_continuous_aggregate('rok_only', NULL, NULL, force => true);
CALL refresh_continuous_aggregate('rok_up', NULL, NULL);
SELECT * FROM rok_check();
SELECT * FROM rok_month;
DELETE FROM rok WHERE time = '2026-02-27 23:59:59';
DELETE FROM rok_all WHERE time = '2026-02-27 23:59:59';
UPDATE rok SET v = 11 WHERE v = -5;
UPDATE rok_all SET v = 11 WHERE v = -5;
SELECT * FROM rok_check();
SELECT show_chunks('rok');
SELECT count(*) FROM drop_chunks('rok', older_than => timestamptz '2026-03-01');
SELECT * FROM rok_check();
SELECT drop_chunks('rok', older_than => timestamptz '2026-03-01');

-- by a policy, chunk by chunk; a late row on either side
INSERT INTO rok VALUES ('2026-02-26 00:10:10', 'h1', 6, 6), ('2026-03-01 13:00:00', 'h1', 7, 7);
INSERT INTO rok_all VALUES ('2026-02-26 00:10:10', 'h1', 6, 6), ('2026-03-01 13:00:00', 'h1', 7, 7);
SELECT add_retention_policy('rok', interval '1 day', initial_start => '2100-01-01');
SELECT job_id FROM alter_job(6001, config => jsonb_build_object('drop_after', (now() - timestamptz '2026-03-01 12:00')::text));
CALL run_job(6001);
SELECT show_chunks('rok');
SELECT hour, month, day, up FROM rok_check();
CALL refresh_continuous_aggregate('rok_only', NULL, NULL);
SELECT * FROM rok_check();
EXECUTE rok_n;

-- archives compressed; the table emptied: what was kept stays
SELECT count(compress_chunk(c)) FROM (VALUES ('rok_hour'), ('rok_day'), ('rok_month')) v (n), show_chunks(n::regclass) c;
INSERT INTO rok VALUES ('2026-02-26 00:10:11', 'h1', 6, 6);
INSERT INTO rok_all VALUES ('2026-02-26 00:10:11', 'h1', 6, 6);
SELECT hour, month, day, up FROM rok_check();
SELECT count(*) FROM drop_chunks('rok', older_than => timestamptz '2026-03-01');
SELECT hour, month, day, up FROM rok_check();
TRUNCATE rok;
DELETE FROM rok_all WHERE time >= '2026-03-01 12:00';
CALL refresh_continuous_aggregate('rok_only', NULL, NULL);
SELECT * FROM rok_check();

-- row security hides rows that are not there any more: no answer
ALTER TABLE rok ENABLE ROW LEVEL SECURITY;
SELECT count(*) FROM rok_month;
ALTER TABLE rok DISABLE ROW LEVEL SECURITY;
-- what a dump says makes it again
SELECT pg_get_viewdef('rok_month') AS definition, rok_kept('rok_month') AS kept \gset
CREATE TABLE rok_month_copy AS SELECT * FROM rok_month;
CREATE TABLE rok_other (LIKE rok_month_archive);
INSERT INTO rok_other SELECT * FROM rok_month_archive;
SELECT FROM create_hypertable('rok_other', 'b', migrate_data => true);
CREATE VIEW rok_again WITH ("strata.continuous" = 'true', "strata.archive" = 'rok_other', "strata.kept" = :'kept') AS :definition
(TABLE rok_again EXCEPT ALL TABLE rok_month_copy) UNION ALL (TABLE rok_month_copy EXCEPT ALL TABLE rok_again);
ALTER MATERIALIZED VIEW rok_again SET (strata.kept = '0..1');
CREATE TABLE rok_another (LIKE rok_month_archive);
SELECT FROM create_hypertable('rok_another', 'b');
CREATE VIEW rok_wrong WITH ("strata.continuous" = 'true', "strata.archive" = 'rok_another', "strata.kept" = '1..x') AS :definition
CREATE VIEW rok_elsewhere WITH ("strata.continuous" = 'true', "strata.archive" = 'nowhere', "strata.kept" = :'kept') AS :definition
SELECT rok_kept('rok_elsewhere'), count(*) FROM rok_elsewhere;
DROP TABLE rok_another;
-- an archive's chunks that are dropped are gone
DROP MATERIALIZED VIEW rok_up;
SELECT count(*) > 0 AS dropped FROM drop_chunks('rok_hour', older_than => timestamptz '2026-03-28');
SELECT count(*) FROM rok_hour;
DROP TABLE rok CASCADE;
DROP FUNCTION rok_check(), rok_kept(regclass);
DROP TABLE rok_all, rok_month_copy;
-- groups that are constants, with kept ranges
CREATE TABLE rok_c (time timestamptz NOT NULL, v int);
CREATE TABLE rok_c_all (LIKE rok_c);
CREATE TABLE rok_c_name (v int, name text);
INSERT INTO rok_c_name VALUES (0, 'even'), (1, 'odd');
SELECT FROM create_hypertable('rok_c', 'time', chunk_time_interval => interval '1 day');
INSERT INTO rok_c_all SELECT '2024-01-01'::timestamptz + g * interval '1 hour', g % 2 FROM generate_series(0, 71) g;
INSERT INTO rok_c SELECT * FROM rok_c_all;
CREATE MATERIALIZED VIEW rok_c_plain WITH (strata.continuous) AS SELECT time_bucket('1 day', time) AS b, 5::int AS lab, NULL::text AS nothing, count(*) AS n, 5 + 1 AS sum FROM rok_c GROUP BY 1, 2, 3, 5 HAVING count(*) > 3 ORDER BY 2, 1;
CREATE MATERIALIZED VIEW rok_c_hidden WITH (strata.continuous) AS SELECT time_bucket('36 hours', time) AS b, count(*) AS n, v + 1 AS v FROM rok_c GROUP BY 1, 'x'::text, v;
CREATE MATERIALIZED VIEW rok_c_join WITH (strata.continuous) AS SELECT time_bucket('1 day', time) AS b, 'x'::text AS lab, name, count(*) AS n FROM rok_c JOIN rok_c_name USING (v) GROUP BY 1, 2, 3;
CREATE MATERIALIZED VIEW rok_c_above WITH (strata.continuous) AS SELECT time_bucket('2 days', b) AS b, lab, 7 AS seven, sum(n) AS n FROM rok_c_plain GROUP BY 1, 2, 3;
CREATE FUNCTION rok_c_check() RETURNS TABLE (plain bigint, hidden bigint, joined bigint, above bigint) LANGUAGE sql AS $$
	WITH p AS (SELECT time_bucket('1 day', time) AS b, 5::int AS lab, NULL::text AS nothing, count(*) AS n, 5 + 1 FROM rok_c_all GROUP BY 1 HAVING count(*) > 3),
		h AS (SELECT time_bucket('36 hours', time), count(*), v + 1 FROM rok_c_all GROUP BY 1, v),
		j AS (SELECT time_bucket('1 day', time), 'x'::text, name, count(*) FROM rok_c_all JOIN rok_c_name USING (v) GROUP BY 1, 2, 3),
		a AS (SELECT time_bucket('2 days', b), lab, 7, sum(n) FROM p GROUP BY 1, 2, 3)
	SELECT (SELECT count(*) FROM ((TABLE p EXCEPT ALL TABLE rok_c_plain) UNION ALL (TABLE rok_c_plain EXCEPT ALL TABLE p)) x),
		(SELECT count(*) FROM ((TABLE h EXCEPT ALL TABLE rok_c_hidden) UNION ALL (TABLE rok_c_hidden EXCEPT ALL TABLE h)) x),
		(SELECT count(*) FROM ((TABLE j EXCEPT ALL TABLE rok_c_join) UNION ALL (TABLE rok_c_join EXCEPT ALL TABLE j)) x),
		(SELECT count(*) FROM ((TABLE a EXCEPT ALL TABLE rok_c_above) UNION ALL (TABLE rok_c_above EXCEPT ALL TABLE a)) x)
$$;
SELECT * FROM rok_c_check();
SELECT count(*) FROM drop_chunks('rok_c', '2024-01-02'::timestamptz);
SELECT * FROM rok_c_check();
INSERT INTO rok_c VALUES ('2024-01-01 05:05', 1);
INSERT INTO rok_c_all VALUES ('2024-01-01 05:05', 1);
SELECT * FROM rok_c_check();
SELECT count(*) FROM drop_chunks('rok_c', '2024-01-03'::timestamptz);
SELECT * FROM rok_c_check();
SELECT * FROM rok_c_plain LIMIT 2;
ALTER TABLE rok_c SET (strata.read_archives);
SELECT time_bucket('1 day', time), 5::int, count(*) FROM rok_c GROUP BY 1, 2 ORDER BY 1;
SELECT count(*) + 5, 5 FROM rok_c;
ALTER MATERIALIZED VIEW rok_c_hidden SET (strata.archives = '36 hours for 9000 days, 3 days');
SELECT * FROM rok_c_hidden_3_days ORDER BY 1, 3;
DROP TABLE rok_c CASCADE;
DROP TABLE rok_c_all, rok_c_name;
DROP FUNCTION rok_c_check;
