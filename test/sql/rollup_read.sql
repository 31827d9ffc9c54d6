-- Views of rollups answered out of their archives: the same rows as without, in every state of rows, archive and snapshot.
SET timezone = 'UTC';
SET strata.report_compression = off;
\set VERBOSITY terse
CREATE TABLE ror (time timestamptz NOT NULL, host text, usage float8, n int, price numeric);
SELECT FROM create_hypertable('ror', 'time', chunk_time_interval => interval '12 hours');
ALTER TABLE ror SET (strata.segmentby = 'host', strata.orderby = 'time');
INSERT INTO ror SELECT '2026-01-01'::timestamptz + i * interval '1 minute', nullif('h' || h, 'h3'), i % 100, nullif(i, 77), i / 10.0 FROM generate_series(0, 5759) i, generate_series(1, 3) h;
SELECT count(compress_chunk(c)) FROM show_chunks('ror', older_than => '2026-01-04'::timestamptz) c;
INSERT INTO ror SELECT t, 'h1', 7, 1, 1 FROM generate_series('2026-01-01 00:30:30'::timestamptz, '2026-01-03', '5 hours') t;
CREATE MATERIALIZED VIEW ror_hour WITH (strata.continuous) AS
	SELECT time_bucket('1 hour', time) AS bucket, host, avg(usage), max(usage) AS top, count(*), sum(n), avg(n) AS an, avg(price) AS ap, count(n) AS cn, stddev(n), last(n, time), min(host) || '!' AS x,
		count(DISTINCT n) AS d, sum(price) FILTER (WHERE n > 100) AS f, bool_and(n > 3) AS b FROM ror GROUP BY 1, 2;
CREATE MATERIALIZED VIEW ror_day WITH (strata.continuous) AS
	SELECT time_bucket('1 day', time, 'Europe/Prague') AS day, count(*), sum(usage) + 1 AS s FROM ror WHERE n > 5 GROUP BY 1 HAVING count(*) > 4000 ORDER BY day DESC;
CREATE MATERIALIZED VIEW ror_month WITH (strata.continuous) AS
	SELECT time_bucket('1 month', bucket) AS month, host, sum(count) AS count, max(top) AS top FROM ror_hour GROUP BY 1, 2;
-- rows of a query that it has with the archives only, or without only; and in which order they come, if it says so
CREATE FUNCTION ror_check(query text, ordered bool DEFAULT false, OUT rows bigint, OUT differences bigint) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TEMP TABLE ror_with AS SELECT row_number() OVER () AS no, q::text FROM (%s) q', query);
	SET LOCAL strata.enable_archive_rewrite = off;
	EXECUTE format('CREATE TEMP TABLE ror_without AS SELECT row_number() OVER () AS no, q::text FROM (%s) q', query);
	SET LOCAL strata.enable_archive_rewrite = on;
	IF NOT ordered THEN
		UPDATE ror_with SET no = 0;
		UPDATE ror_without SET no = 0;
	END IF;
	SELECT count(*) FROM ror_without INTO rows;
	SELECT count(*) FROM ((TABLE ror_with EXCEPT ALL TABLE ror_without) UNION ALL (TABLE ror_without EXCEPT ALL TABLE ror_with)) x INTO differences;
	DROP TABLE ror_with, ror_without;
END $$;
CREATE FUNCTION ror_all() RETURNS TABLE (query text, rows bigint, differences bigint) LANGUAGE sql AS $$
	SELECT q, (ror_check(q, q ~ 'ORDER|TABLE ror_day')).* FROM unnest(ARRAY['TABLE ror_hour', 'TABLE ror_day', 'TABLE ror_month',
		'SELECT * FROM ror_hour WHERE bucket >= ''2026-01-02 10:00'' AND bucket < ''2026-01-04 23:30'' AND host = ''h1''',
		'SELECT * FROM ror_hour WHERE host IS NULL AND bucket IN (''2026-01-01 05:00'', ''2026-01-04 11:00'', ''2026-01-04 11:01'')',
		'SELECT * FROM ror_hour WHERE ''2026-01-04 01:00'' < bucket ORDER BY bucket DESC, host LIMIT 7',
		'SELECT h.bucket, h.count, d.day, d.s FROM ror_hour h LEFT JOIN ror_day d ON d.day = h.bucket AND d.day > ''2026-01-02'' WHERE h.host = ''h2'' AND (d.day > ''2026-01-02'' OR d.day IS NULL)',
		'SELECT date_trunc(''day'', bucket), count(*), sum(count), max(top) FROM (SELECT * FROM ror_hour WHERE host = ''h1'') x WHERE bucket > ''2026-01-01 12:00'' GROUP BY 1',
		'SELECT g, (SELECT sum(count) FROM ror_hour WHERE bucket = g) FROM generate_series(''2026-01-01''::timestamptz, ''2026-01-05'', ''7 hours'') g',
		'WITH x AS MATERIALIZED (SELECT * FROM ror_hour) SELECT * FROM x, LATERAL (SELECT m.count AS c FROM ror_month m WHERE m.host = x.host) y WHERE x.bucket < ''2026-01-01 03:00''']) q
$$;
SELECT * FROM ror_all();
-- late rows, changed and deleted ones, by this transaction and after it
BEGIN;
INSERT INTO ror VALUES ('2026-01-01 05:10:10', 'h1', 1000, 1000, 1000);
SELECT bucket, top, count FROM ror_hour WHERE bucket = '2026-01-01 05:00' AND host = 'h1';
SELECT * FROM ror_month WHERE host = 'h1';
SAVEPOINT s;
DELETE FROM ror WHERE time >= '2026-01-02 03:00' AND time < '2026-01-02 06:30';
UPDATE ror SET time = time + interval '1 day', host = 'h9' WHERE time = '2026-01-01 07:07';
SELECT * FROM ror_all();
ROLLBACK TO s;
SELECT sum(differences) FROM ror_all();
COMMIT;
SELECT sum(differences) FROM ror_all();
DELETE FROM ror WHERE time >= '2026-01-02 03:00' AND time < '2026-01-02 06:30';
SELECT sum(differences) FROM ror_all();
CALL refresh_continuous_aggregate('ror_hour', NULL, NULL);
SELECT sum(differences) FROM ror_all();
CALL refresh_continuous_aggregate('ror_month', NULL, NULL);
CALL refresh_continuous_aggregate('ror_day', NULL, NULL);
SELECT sum(differences) FROM ror_all();

-- plans that are kept: rows that change after, an archive that gets chunks after, a view that is read only out of its archive
SET plan_cache_mode = force_generic_plan;
PREPARE ror_p (timestamptz) AS SELECT sum(count), max(top) FROM ror_hour WHERE bucket >= $1;
PREPARE ror_q AS SELECT sum(count), max(top) FROM ror_hour;
EXECUTE ror_p('2026-01-01');
EXECUTE ror_q;
INSERT INTO ror VALUES ('2026-01-01 09:10:10', 'h1', 2000, 1000, 1000), ('2026-03-01 09:10:10', 'h1', 3000, 1000, 1000);
EXECUTE ror_p('2026-01-01');
EXECUTE ror_p('2026-02-01');
EXECUTE ror_q;
CALL refresh_continuous_aggregate('ror_hour', NULL, NULL);
INSERT INTO ror VALUES ('2026-03-01 09:10:10', 'h1', 4000, 1000, 1000);
EXECUTE ror_p('2026-02-01');
EXECUTE ror_q;
CALL refresh_continuous_aggregate('ror_hour', NULL, NULL);
EXECUTE ror_q;
TRUNCATE ror_20260101_120000_chunk;
EXECUTE ror_q;
ALTER MATERIALIZED VIEW ror_hour SET (strata.materialized_only);
EXECUTE ror_q;
SET strata.enable_archive_rewrite = off;
EXECUTE ror_q;
RESET strata.enable_archive_rewrite;
ALTER MATERIALIZED VIEW ror_hour SET (strata.materialized_only = false);
EXECUTE ror_q;
CALL refresh_continuous_aggregate('ror_hour', NULL, NULL);
EXECUTE ror_q;
DEALLOCATE ALL;
RESET plan_cache_mode;
SELECT sum(differences) FROM ror_all();
-- a cursor has what its snapshot saw
BEGIN;
DECLARE c CURSOR FOR SELECT sum(count), max(top) FROM ror_hour;
INSERT INTO ror VALUES ('2026-01-01 09:10:10', 'h1', 5000, 1000, 1000);
FETCH c;
SELECT sum(count), max(top) FROM ror_hour;
ROLLBACK;
-- functions that keep plans
CREATE FUNCTION ror_total() RETURNS numeric LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN (SELECT sum(count) FROM ror_hour); END $$;
CREATE FUNCTION ror_total_now() RETURNS numeric LANGUAGE plpgsql VOLATILE AS $$ BEGIN RETURN (SELECT sum(count) FROM ror_hour); END $$;
SELECT ror_total(), ror_total_now();
WITH i AS (INSERT INTO ror VALUES ('2026-01-01 09:10:11', 'h1', 1, 1, 1) RETURNING 1) SELECT ror_total(), ror_total_now(), sum FROM i, (SELECT sum(count) FROM ror_hour) x;
SELECT ror_total(), ror_total_now();

-- the user's rights are those without an archive
CREATE ROLE ror_reader;
GRANT ror_reader TO CURRENT_USER;
SET ROLE ror_reader;
SELECT count(*) FROM ror_hour;
SELECT count(*) FROM ror_hour_archive;
RESET ROLE;
GRANT SELECT ON ror_hour TO ror_reader;
SET ROLE ror_reader;
SELECT count(*) FROM ror_hour;
SELECT count(*) FROM ror_hour_archive;
SELECT count(*) FROM ror;
RESET ROLE;
-- a view with a barrier, and one of the user's own rights, above it
CREATE VIEW ror_guarded WITH (security_barrier) AS SELECT * FROM ror_hour WHERE host = 'h1';
CREATE VIEW ror_invoked WITH (security_invoker) AS SELECT * FROM ror_hour WHERE host = 'h1';
SELECT q, (ror_check(q)).* FROM unnest(ARRAY['SELECT * FROM ror_guarded WHERE bucket > ''2026-01-03''', 'SELECT * FROM ror_invoked WHERE bucket > ''2026-01-03''']) q;
-- row security that comes later: rows, for everybody
ALTER TABLE ror ENABLE ROW LEVEL SECURITY;
SELECT sum(differences) FROM ror_all();
ALTER TABLE ror DISABLE ROW LEVEL SECURITY;
-- what writes elsewhere what it reads here
CREATE TABLE ror_copy AS SELECT * FROM ror_hour WHERE bucket >= '2026-01-03';
INSERT INTO ror_copy SELECT * FROM ror_hour WHERE bucket < '2026-01-03';
SELECT count(*) FROM ((TABLE ror_copy EXCEPT ALL TABLE ror_hour) UNION ALL (TABLE ror_hour EXCEPT ALL TABLE ror_copy)) x;
UPDATE ror_copy c SET count = c.count + h.count FROM ror_hour h WHERE h.bucket = c.bucket AND h.host = c.host AND h.bucket > '2026-01-04 12:00';
DELETE FROM ror_copy c USING ror_hour h WHERE h.bucket = c.bucket AND h.host IS NOT DISTINCT FROM c.host AND h.count = c.count;
SELECT count(*) FROM ror_copy;
SELECT * FROM ror_hour ORDER BY 1 LIMIT 1 FOR UPDATE;
-- more ranges than a plan takes
INSERT INTO ror SELECT t, 'h1', 7, 1, 1 FROM generate_series('2026-01-01 00:20:20'::timestamptz, '2026-01-04 23:00', '2 hours') t;
SELECT sum(differences) FROM ror_all();

DROP TABLE ror_copy;
DROP VIEW ror_guarded, ror_invoked;
DROP MATERIALIZED VIEW ror_month;
DROP TABLE ror CASCADE;
DROP FUNCTION ror_check, ror_all, ror_total, ror_total_now;
DROP ROLE ror_reader;
-- averages of values that are all -0.0 are 0, sums are -0
CREATE TABLE ror_zero (time timestamptz NOT NULL, h text, v float8, w float4);
SELECT FROM create_hypertable('ror_zero', 'time', chunk_time_interval => interval '1 day');
INSERT INTO ror_zero SELECT '2024-01-01'::timestamptz + i * interval '5 minutes', 'h' || i % 2, CASE WHEN i % 2 = 0 OR i < 12 THEN '-0'::float8 ELSE 1 END, '-0' FROM generate_series(0, 599) i;
CREATE TABLE ror_zero_name AS SELECT 'h' || i % 2 AS h, i AS id FROM generate_series(0, 3) i;
CREATE MATERIALIZED VIEW ror_zero_hour WITH (strata.continuous) AS SELECT time_bucket('1 hour', time) AS b, h, avg(v) AS a, avg(w) AS aw, sum(v) AS s, sum(w) AS sw, regr_avgx(v, w) AS x, stddev(v) AS d FROM ror_zero GROUP BY 1, 2;
CREATE MATERIALIZED VIEW ror_zero_join WITH (strata.continuous) AS SELECT time_bucket('1 day', time) AS b, id, avg(v) AS a, avg(v) FILTER (WHERE id > 1) AS f, sum(v) AS s FROM ror_zero JOIN ror_zero_name USING (h) GROUP BY 1, 2;
CREATE FUNCTION ror_zero_check() RETURNS TABLE (q text, rows bigint, differences bigint) LANGUAGE plpgsql AS $$
BEGIN
	FOREACH q IN ARRAY ARRAY['TABLE ror_zero_hour', 'TABLE ror_zero_join', 'SELECT time_bucket(''1 hour'', time), h, avg(v), avg(w), sum(v), sum(w) FROM ror_zero GROUP BY 1, 2', 'SELECT h, avg(v), avg(w), sum(v) FROM ror_zero GROUP BY 1', 'SELECT avg(w), sum(w) FROM ror_zero'] LOOP
		EXECUTE format('CREATE TEMP TABLE ror_with AS SELECT q::text FROM (%s) q', q);
		SET LOCAL strata.enable_archive_rewrite = off;
		EXECUTE format('CREATE TEMP TABLE ror_without AS SELECT q::text FROM (%s) q', q);
		RESET strata.enable_archive_rewrite;
		SELECT count(*) FROM ror_without INTO rows;
		SELECT count(*) FROM ((TABLE ror_with EXCEPT ALL TABLE ror_without) UNION ALL (TABLE ror_without EXCEPT ALL TABLE ror_with)) x INTO differences;
		DROP TABLE ror_with, ror_without;
		RETURN NEXT;
	END LOOP;
END $$;
SELECT * FROM ror_zero_check();
INSERT INTO ror_zero VALUES ('2024-01-01 02:02', 'h0', '-0', '-0');
SELECT * FROM ror_zero_check();
SELECT b, h, a, aw, s, sw FROM ror_zero_hour ORDER BY 1, 2 LIMIT 2;
SELECT count(drop_chunks) FROM drop_chunks('ror_zero', '2024-01-02'::timestamptz);
SELECT b, h, a, aw, s, sw FROM ror_zero_hour ORDER BY 1, 2 LIMIT 2;
SELECT * FROM ror_zero_join ORDER BY 1, 2 LIMIT 4;
DROP TABLE ror_zero CASCADE;
DROP TABLE ror_zero_name;
DROP FUNCTION ror_zero_check;
