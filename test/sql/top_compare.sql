-- The first rows of an order: the same as by sorting all rows, and as of a heap; ties are among columns that are not shown.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET strata.batch_rows = 100;
SET max_parallel_workers_per_gather = 0;
CREATE COLLATION tc_ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE tc (gone int, ts timestamptz NOT NULL, k text, f float8, f4 float4, i int, s smallint, b bigint, d date, t text COLLATE "C",
	c text COLLATE tc_ci, n numeric, u uuid, flag bool, v varchar(20), arr int[], same int);
SELECT count(*) FROM create_hypertable('tc', 'ts', chunk_time_interval => interval '12 hours', create_default_indexes => false);
ALTER TABLE tc DROP COLUMN gone;
ALTER TABLE tc SET (strata.segmentby = 'k', strata.orderby = 'ts DESC, i');
CREATE TABLE tc_h (LIKE tc);
CREATE FUNCTION tc_rows(lo int, hi int, step int) RETURNS SETOF tc_h LANGUAGE sql AS $$
	SELECT timestamptz '2020-01-01Z' + g * interval '20 seconds', nullif('k' || g % 7, 'k3'),
		CASE g % 97 WHEN 3 THEN NULL WHEN 5 THEN 'NaN' WHEN 7 THEN '-0' WHEN 8 THEN 0 WHEN 11 THEN 'inf' WHEN 13 THEN '-inf' ELSE hashint4(g) / 1e3 END,
		CASE WHEN g % 1000 = 7 THEN 'NaN'::float4 ELSE (hashint4(g) % 1000)::float4 / 8 END,
		CASE WHEN g % 1013 = 5 THEN -2147483648 WHEN g % 1013 = 6 THEN 2147483647 ELSE hashint4(g + 1) END,
		CASE WHEN g % 11 <> 0 THEN g % 30 END, CASE WHEN g % 1511 = 1 THEN -9223372036854775808 WHEN g % 1511 = 2 THEN 9223372036854775807
			ELSE hashint4(g + 2)::bigint * 4000000000 END,
		CASE g % 1999 WHEN 1 THEN 'infinity' WHEN 2 THEN '-infinity' ELSE date '2020-01-01' + hashint4(g + 3) % 10000 END,
		md5(g::text), CASE WHEN g % 2 = 0 THEN 'abc' ELSE 'ABC' END || g % 5, round(hashint4(g + 4) / 7.0, g % 4), md5(g::text)::uuid, g % 3 = 0,
		CASE WHEN g % 5 <> 0 THEN 'v' || g % 400 END, ARRAY[g % 9, g % 17], 4
	FROM generate_series(lo, hi, step) AS g $$;
INSERT INTO tc_h SELECT * FROM tc_rows(0, 7199, 1);
INSERT INTO tc SELECT * FROM tc_h;
SELECT count(compress_chunk(c)) FROM show_chunks('tc') AS c;
ANALYZE tc;
CREATE FUNCTION tc_differ() RETURNS TABLE (query text) LANGUAGE plpgsql AS $$
DECLARE
	answers text[];
	way text;
	one text;
	plan text;
BEGIN
	FOREACH query IN ARRAY ARRAY[
		'SELECT * FROM tc ORDER BY u LIMIT 7',
		'SELECT * FROM tc ORDER BY u DESC LIMIT 7 OFFSET 5',
		'SELECT f FROM tc ORDER BY f LIMIT 90',
		'SELECT f FROM tc ORDER BY f DESC LIMIT 90',
		'SELECT f FROM tc ORDER BY f NULLS FIRST LIMIT 200',
		'SELECT f FROM tc ORDER BY f DESC NULLS LAST LIMIT 300',
		'SELECT f, ts FROM tc WHERE f <= 0 ORDER BY f DESC NULLS LAST, ts LIMIT 100',
		'SELECT f4 FROM tc ORDER BY f4 DESC LIMIT 20',
		'SELECT f4, ts FROM tc ORDER BY f4, ts DESC LIMIT 20',
		'SELECT i FROM tc ORDER BY i LIMIT 30',
		'SELECT i, ts FROM tc ORDER BY i DESC, ts LIMIT 30',
		'SELECT s FROM tc ORDER BY s LIMIT 500',
		'SELECT s, b FROM tc ORDER BY s DESC, b LIMIT 50',
		'SELECT s, b FROM tc ORDER BY s DESC NULLS LAST, b DESC LIMIT 50',
		'SELECT b FROM tc ORDER BY b LIMIT 20', 'SELECT b FROM tc ORDER BY b DESC LIMIT 20',
		'SELECT d, ts FROM tc ORDER BY d DESC, ts LIMIT 20', 'SELECT d, ts FROM tc ORDER BY d, ts DESC LIMIT 20',
		'SELECT t, i FROM tc ORDER BY t LIMIT 9', 'SELECT t FROM tc ORDER BY t DESC LIMIT 9',
		'SELECT lower(c), ts FROM tc ORDER BY c, ts LIMIT 9', 'SELECT lower(c), ts FROM tc ORDER BY c DESC, ts DESC LIMIT 9',
		'SELECT n, ts FROM tc ORDER BY n, ts LIMIT 9', 'SELECT n, ts FROM tc ORDER BY n DESC, ts LIMIT 9',
		'SELECT flag, ts FROM tc ORDER BY flag, ts LIMIT 9', 'SELECT flag, ts FROM tc ORDER BY flag DESC, ts DESC LIMIT 9',
		'SELECT v, ts, i FROM tc ORDER BY v, ts LIMIT 9', 'SELECT v, ts FROM tc ORDER BY v DESC, ts LIMIT 9',
		'SELECT arr, ts FROM tc ORDER BY arr DESC, ts LIMIT 9',
		'SELECT k, ts, f FROM tc ORDER BY k, ts LIMIT 9', 'SELECT k, ts, f FROM tc ORDER BY k DESC, ts DESC LIMIT 9',
		'SELECT k, f FROM tc ORDER BY k NULLS FIRST, f DESC LIMIT 9',
		'SELECT ts, k, n FROM tc ORDER BY ts DESC, k LIMIT 9', 'SELECT ts, k FROM tc ORDER BY ts, k DESC LIMIT 9 OFFSET 3000',
		'SELECT same, ts FROM tc ORDER BY same, ts DESC LIMIT 3', 'SELECT same FROM tc ORDER BY same LIMIT 3',
		'SELECT i::bigint + s, ts::date, upper(k) FROM tc WHERE s > 3 AND k IN (''k1'', ''k2'') ORDER BY u LIMIT 9',
		'SELECT ts, i FROM tc WHERE k = ''k1'' AND ts BETWEEN ''2020-01-01 05:00Z'' AND ''2020-01-02 01:00Z'' ORDER BY i LIMIT 5',
		'SELECT ts, i FROM tc WHERE k IS NULL AND lower(t) LIKE ''a%'' ORDER BY i, ts LIMIT 5',
		'SELECT i FROM tc WHERE i > 2147483647 ORDER BY i LIMIT 5', 'SELECT i FROM tc ORDER BY i LIMIT 0',
		'SELECT u FROM tc ORDER BY u LIMIT 100000 OFFSET 7190', 'SELECT u FROM tc ORDER BY u LIMIT NULL OFFSET 7190',
		'SELECT g, (SELECT x.t FROM tc AS x WHERE x.s = g ORDER BY x.u LIMIT 1) FROM generate_series(0, 40, 9) AS g',
		'SELECT g, x.* FROM generate_series(1, 9, 3) AS g, LATERAL (SELECT t, i FROM tc WHERE s = g ORDER BY u LIMIT g) AS x',
		'SELECT count(*), min(b) FROM (SELECT b FROM tc ORDER BY b DESC LIMIT 1000) AS x',
		'SELECT * FROM (SELECT t FROM tc ORDER BY t LIMIT 3) AS x UNION ALL (SELECT t FROM tc ORDER BY t DESC LIMIT 3)',
		'SELECT t, row_number() OVER (ORDER BY t) FROM (SELECT t FROM tc ORDER BY t LIMIT 5) AS x',
		'SELECT DISTINCT ON (k) k, ts FROM tc ORDER BY k, ts DESC', 'SELECT DISTINCT ON (k) k, ts FROM tc ORDER BY k, ts',
		'SELECT k, max(ts) FROM tc WHERE i % 50 = 3 GROUP BY k ORDER BY k', 'SELECT k, min(ts) FROM tc WHERE f > 0 GROUP BY k ORDER BY k',
		'SELECT DISTINCT ON (t) t, ts FROM tc WHERE t < ''2'' ORDER BY t, ts DESC', 'SELECT lower(c), max(ts) FROM tc GROUP BY c ORDER BY c',
		'SELECT s, max(ts), min(i) FROM tc GROUP BY s ORDER BY s', 'SELECT s, max(d) FROM tc GROUP BY s ORDER BY s',
		'SELECT date_trunc(''minute'', ts), count(*) FROM tc GROUP BY 1 ORDER BY 1 DESC LIMIT 5',
		'SELECT ts, count(*) FROM tc GROUP BY 1 ORDER BY 1 LIMIT 5',
		'SELECT a.t, b.i FROM tc AS a JOIN tc AS b USING (u) ORDER BY a.u LIMIT 4'] LOOP
		answers := '{}';
		FOREACH way IN ARRAY ARRAY['top_n', 'early_stop', 'page_scan', 'pruning', 'none', 'heap'] LOOP
			one := CASE WHEN way = 'heap' THEN replace(query, 'tc', 'tc_h') ELSE query END;
			PERFORM set_config('strata.enable_' || way, 'off', true) WHERE way NOT IN ('none', 'heap');
			EXECUTE 'SELECT string_agg(x::text, '';'') FROM (' || one || ') AS x' INTO one;
			answers := answers || coalesce(one, '-');
			PERFORM set_config('strata.enable_' || way, 'on', true) WHERE way NOT IN ('none', 'heap');
		END LOOP;
		IF (SELECT count(DISTINCT a) FROM unnest(answers) AS a) <> 1 THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
SELECT * FROM tc_differ();
-- late rows in all chunks, better and worse than those of batches
WITH late AS (INSERT INTO tc_h SELECT * FROM tc_rows(100000, 100400, 1) RETURNING *) INSERT INTO tc
	SELECT * FROM late;
SELECT * FROM tc_differ();
WITH late AS (INSERT INTO tc_h SELECT * FROM tc_rows(5, 7199, 20) RETURNING *) INSERT INTO tc SELECT * FROM late;
SELECT * FROM tc_differ();
-- the same rows by indexes of the table; of some of them few rows are read
CREATE INDEX ON tc (ts);
CREATE INDEX ON tc (k, ts);
CREATE INDEX ON tc (s NULLS FIRST, ts DESC);
CREATE INDEX ON tc (t DESC, ts);
CREATE INDEX ON tc (c, ts);
CREATE INDEX ON tc (f);
CREATE INDEX ON tc (i DESC);
CREATE INDEX ON tc (n);
CREATE INDEX ON tc (u DESC NULLS LAST);
CREATE INDEX ON tc (s, d);
SELECT * FROM tc_differ();
-- rows of batches changed and deleted
UPDATE tc SET f = -f, u = md5(u::text)::uuid WHERE i % 7 = 0;
UPDATE tc_h SET f = -f, u = md5(u::text)::uuid WHERE i % 7 = 0;
DELETE FROM tc WHERE t < '05' OR b % 17 = 3;
DELETE FROM tc_h WHERE t < '05' OR b % 17 = 3;
SELECT * FROM tc_differ();
-- the heap of keys finds no room, and the sort little
SET work_mem = '64kB';
SELECT * FROM tc_differ();
RESET work_mem;
-- a column that came later, and one of another type
ALTER TABLE tc ADD COLUMN late int DEFAULT 3;
ALTER TABLE tc_h ADD COLUMN late int DEFAULT 3;
UPDATE tc SET late = -1 WHERE i % 501 = 2;
UPDATE tc_h SET late = -1 WHERE i % 501 = 2;
SELECT (SELECT array_agg(x) FROM (SELECT late, ts FROM tc ORDER BY late, ts, u LIMIT 9) AS x)
	= (SELECT array_agg(x) FROM (SELECT late, ts FROM tc_h ORDER BY late, ts, u LIMIT 9) AS x);
ALTER TABLE tc ALTER COLUMN v TYPE text;
ALTER TABLE tc_h ALTER COLUMN v TYPE text;
SELECT * FROM tc_differ();
-- an old snapshot, a cursor, a generic plan with LIMIT as a parameter
DECLARE tc_old CURSOR WITH HOLD FOR SELECT t FROM tc ORDER BY u LIMIT 6;
BEGIN;
DECLARE tc_cursor SCROLL CURSOR FOR SELECT t, i FROM tc ORDER BY u LIMIT 6;
FETCH 2 FROM tc_cursor;
DELETE FROM tc WHERE u <= (SELECT u FROM tc ORDER BY u LIMIT 1 OFFSET 3);
FETCH 2 FROM tc_cursor;
FETCH BACKWARD 3 FROM tc_cursor;
FETCH ALL FROM tc_cursor;
SELECT count(*) FROM (SELECT t FROM tc ORDER BY u LIMIT 6) AS x JOIN tc_h USING (t);
ROLLBACK;
FETCH ALL FROM tc_old;
CLOSE tc_old;
SET plan_cache_mode = force_generic_plan;
PREPARE tc_some(bigint, bigint) AS SELECT t FROM tc ORDER BY u LIMIT $1 OFFSET $2;
EXECUTE tc_some(2, 1);
EXECUTE tc_some(1, NULL);
EXECUTE tc_some(NULL, 7573);
\set VERBOSITY terse
EXECUTE tc_some(-1, 0);
EXECUTE tc_some(1, -1);
RESET plan_cache_mode;
-- rows that somebody must not see are not among the first, and their values do not push others out
CREATE ROLE strata_test_top;
GRANT strata_test_top TO CURRENT_USER;
GRANT SELECT ON tc TO strata_test_top;
ALTER TABLE tc ENABLE ROW LEVEL SECURITY;
CREATE POLICY tc_some_rows ON tc USING (i % 3 = 0);
SET ROLE strata_test_top;
SELECT t, i % 3 FROM tc ORDER BY t LIMIT 4;
RESET ROLE;
SELECT t, i % 3 FROM tc WHERE i % 3 = 0 ORDER BY t LIMIT 4;
DROP TABLE tc, tc_h CASCADE;
DROP FUNCTION tc_differ;
DROP COLLATION tc_ci;
DROP ROLE strata_test_top;
