-- The first rows of an order by expressions: the same as of a heap, errors too; ties are among columns that are not shown.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET strata.batch_rows = 100;
SET max_parallel_workers_per_gather = 0;
CREATE COLLATION te_ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE te (gone int, ts timestamptz NOT NULL, k text, f float8, f4 float4, i int, s smallint, b bigint, d date, t text COLLATE "C",
	c text COLLATE te_ci, n numeric, m numeric(9, 2), flag bool, doc jsonb, iv interval, dbl float8);
SELECT count(*) FROM create_hypertable('te', 'ts', chunk_time_interval => interval '12 hours', create_default_indexes => false);
ALTER TABLE te DROP COLUMN gone;
ALTER TABLE te SET (strata.segmentby = 'k', strata.orderby = 'ts DESC, i');
CREATE TABLE te_h (LIKE te);
CREATE FUNCTION te_rows(lo int, hi int, step int) RETURNS SETOF te_h LANGUAGE sql AS $$
	SELECT timestamptz '2020-01-01Z' + g * interval '40 seconds', nullif('k' || g % 7, 'k3'),
		CASE g % 97 WHEN 3 THEN NULL WHEN 5 THEN 'NaN' WHEN 7 THEN '-0' WHEN 8 THEN 0 WHEN 11 THEN 'inf' WHEN 13 THEN '-inf' ELSE hashint4(g) / 1e3 END,
		CASE WHEN g % 1000 = 7 THEN 'NaN'::float4 ELSE (hashint4(g) % 1000)::float4 / 8 END,
		hashint4(g + 1) / 4, CASE WHEN g % 11 <> 0 THEN g % 30 END, hashint4(g + 2)::bigint * 400000,
		CASE g % 1999 WHEN 1 THEN 'infinity' WHEN 2 THEN '-infinity' ELSE date '2020-01-01' + hashint4(g + 3) % 10000 END,
		upper(md5(g::text)), CASE WHEN g % 2 = 0 THEN 'abc' ELSE 'ABC' END || g % 5, round(hashint4(g + 4) / 7.0, g % 4), g % 1000 / 7.0, g % 3 = 0,
		jsonb_build_object('v', hashint4(g) % 5000, 'w', 'x' || g % 900, 'z', CASE WHEN g % 9 = 0 THEN NULL ELSE g % 50 END),
		g % 70 * interval '1 hour', hashint4(g) % 4000 / 16.0
	FROM generate_series(lo, hi, step) AS g $$;
INSERT INTO te_h SELECT * FROM te_rows(0, 3599, 1);
INSERT INTO te SELECT * FROM te_h;
SELECT count(compress_chunk(c)) FROM show_chunks('te') AS c;
ANALYZE te;
CREATE TABLE te_queries (query text, heap text);
INSERT INTO te_queries VALUES
	('SELECT i + s FROM te ORDER BY i + s LIMIT 20'),
	('SELECT i + s AS x FROM te ORDER BY x DESC LIMIT 20 OFFSET 7'),
	('SELECT i + s, ts, t FROM te ORDER BY i + s DESC NULLS LAST, ts LIMIT 20'),
	('SELECT abs(f - dbl), f FROM te ORDER BY abs(f - dbl), f LIMIT 60'),
	('SELECT f * -1 FROM te ORDER BY f * -1 LIMIT 90'),
	('SELECT f * 2, f4 FROM te ORDER BY f * 2 DESC NULLS LAST, f4 LIMIT 120'),
	('SELECT f4 + 1, ts FROM te WHERE f4 > 3 ORDER BY f4 + 1 DESC, ts LIMIT 30'),
	('SELECT lower(t), ts FROM te ORDER BY lower(t), ts LIMIT 9'),
	('SELECT length(k), s FROM te ORDER BY length(k), s LIMIT 9'),
	('SELECT upper(k), i FROM te ORDER BY upper(k) DESC NULLS LAST, i LIMIT 9'),
	('SELECT i * 2, ts FROM te WHERE s > 3 ORDER BY i * 2, ts LIMIT 9'),
	('SELECT s, i % 1000, ts FROM te ORDER BY s, i % 1000 DESC, ts LIMIT 40'),
	('SELECT s IS NULL, s, b FROM te ORDER BY (s IS NULL) DESC, s, b LIMIT 9'),
	('SELECT f IS NULL, f FROM te ORDER BY (f IS NULL), f LIMIT 90'),
	('SELECT flag AND s > 5, i FROM te ORDER BY flag AND s > 5, i DESC LIMIT 9'),
	('SELECT k = ''k1'', ts FROM te ORDER BY k = ''k1'' DESC, ts DESC, i LIMIT 9'),
	('SELECT n * m, ts FROM te ORDER BY n * m DESC, ts LIMIT 9'),
	('SELECT n - m, n FROM te ORDER BY n - m, n LIMIT 9'),
	('SELECT lower(t COLLATE "C"), i FROM te ORDER BY t COLLATE "C" DESC, i LIMIT 5'),
	('SELECT lower(c) FROM te ORDER BY c || ''x'' LIMIT 900'),
	('SELECT coalesce(k, t), i FROM te ORDER BY coalesce(k, t) DESC, i LIMIT 9'),
	('SELECT date_trunc(''hour'', ts), i FROM te ORDER BY date_trunc(''hour'', ts) DESC, i LIMIT 9'),
	('SELECT ts::date, i FROM te ORDER BY ts::date, i LIMIT 9'),
	('SELECT ts - iv, i FROM te ORDER BY ts - iv, i LIMIT 9'),
	('SELECT ts, i / 7, t FROM te ORDER BY ts DESC, i / 7 LIMIT 9'),
	('SELECT (doc->>''v'')::int, ts FROM te ORDER BY (doc->>''v'')::int DESC, ts LIMIT 9'),
	('SELECT (doc->>''v'')::float8, doc FROM te ORDER BY (doc->>''v'')::float8, ts LIMIT 9'),
	('SELECT doc->>''w'', ts FROM te ORDER BY doc->>''w'' COLLATE "C", ts LIMIT 9'),
	('SELECT doc->''z'', ts FROM te ORDER BY doc->''z'' DESC, ts LIMIT 9'),
	('SELECT CASE WHEN s > 10 THEN i WHEN s > 5 THEN -i END, ts FROM te ORDER BY CASE WHEN s > 10 THEN i WHEN s > 5 THEN -i END, ts LIMIT 9'),
	('SELECT greatest(i, s), least(i, s) FROM te ORDER BY greatest(i, s), least(i, s) DESC LIMIT 9'),
	('SELECT d - date ''2020-01-01'', ts FROM te WHERE isfinite(d) ORDER BY abs(d - date ''2020-01-01'') DESC, ts LIMIT 9'),
	('SELECT i, s FROM te WHERE lower(t) LIKE ''a%'' ORDER BY i - s LIMIT 9'),
	('SELECT i + s, i + s FROM te ORDER BY i + s, i + s DESC LIMIT 3'),
	('SELECT (i + s) * 2, sqrt(abs(i + s)) FROM te WHERE s IS NOT NULL ORDER BY i + s LIMIT 3'),
	('SELECT i FROM te ORDER BY i + 1 LIMIT 0'),
	('SELECT i + 1 FROM te ORDER BY i + 1 LIMIT 10 OFFSET 3590'),
	('SELECT i + 1 FROM te ORDER BY i + 1 LIMIT NULL OFFSET 3590'),
	('SELECT g, (SELECT x.t FROM te AS x WHERE x.s = g ORDER BY x.i % (g + 7), x.ts LIMIT 1) FROM generate_series(0, 40, 9) AS g'),
	('SELECT g, x.* FROM generate_series(1, 9, 3) AS g, LATERAL (SELECT t, i FROM te WHERE s = g ORDER BY abs(i - g * 100) LIMIT g) AS x'),
	('SELECT abs(i - (SELECT max(i) / 2 FROM te)), ts FROM te ORDER BY abs(i - (SELECT max(i) / 2 FROM te)), ts LIMIT 5'),
	('SELECT row_number() OVER (), x FROM (SELECT i + s AS x FROM te ORDER BY 1 LIMIT 5) AS y'),
	('SELECT ROW(i, s), i FROM te ORDER BY ROW(i, s) LIMIT 3'),
	-- all rows, and below windows
	('SELECT md5(string_agg(x::text, '','')) FROM (SELECT i % 100, ts, t FROM te ORDER BY i % 100, ts DESC, i) AS x'),
	('SELECT md5(string_agg(x::text, '','')) FROM (SELECT lower(t), i FROM te ORDER BY lower(t) DESC, i + s NULLS FIRST, ts, i) AS x'),
	('SELECT md5(string_agg(x::text, '','')) FROM (SELECT abs(f - dbl), f IS NULL, n * m FROM te ORDER BY abs(f - dbl), f IS NULL, n * m) AS x'),
	('SELECT md5(string_agg(x::text, '','')) FROM (SELECT doc->''z'', s FROM te WHERE b > 0 ORDER BY doc->''z'', s) AS x'),
	('SELECT md5(string_agg(x::text, '','')) FROM (SELECT date_trunc(''hour'', ts) AS h, i, t,
		row_number() OVER (PARTITION BY date_trunc(''hour'', ts) ORDER BY i DESC, ts, t), lag(i) OVER (PARTITION BY date_trunc(''hour'', ts) ORDER BY i DESC, ts, t) FROM te ORDER BY 1, 2, 3) AS x'),
	('SELECT x.t, r FROM (SELECT t, ts, row_number() OVER (ORDER BY abs(i - s), ts, t) AS r FROM te) AS x WHERE r <= 5'),
	('SELECT x.t, r FROM (SELECT t, ts, row_number() OVER (PARTITION BY upper(k) ORDER BY abs(i - s), ts, t) AS r FROM te) AS x WHERE r <= 2'),
	('SELECT count(*) FROM (SELECT 1 / (s - 20) FROM te ORDER BY 1 / (s - 20) OFFSET 0) AS x'),
	-- errors of any row, whatever is asked for
	('SELECT 1 / (s - 20) FROM te ORDER BY 1 / (s - 20) LIMIT 1'),
	('SELECT f FROM te ORDER BY f, 1 / (s - 20) LIMIT 1'),
	('SELECT ts FROM te WHERE s <> 20 ORDER BY ts DESC, 1 / (s - 20) LIMIT 1'),
	('SELECT i FROM te ORDER BY i * 8 LIMIT 1'), ('SELECT f FROM te ORDER BY sqrt(f) LIMIT 1'),
	('SELECT f FROM te WHERE f >= 0 AND sqrt(f) > 5 ORDER BY sqrt(f), ts LIMIT 3'),
	('SELECT f FROM te ORDER BY ln(f4), i * 8 LIMIT 1'),
	('SELECT t FROM te ORDER BY t::int LIMIT 1'), ('SELECT t FROM te ORDER BY (doc->>''w'')::int LIMIT 1'),
	('SELECT ts FROM te WHERE lower(t) LIKE ''a%'' ORDER BY ts, (doc->>''v'')::int LIMIT 3');
CREATE FUNCTION te_answer(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'SELECT string_agg(x::text, '';'') FROM (' || query || ') AS x' INTO query;
	RETURN coalesce(query, '-');
EXCEPTION WHEN OTHERS THEN
	-- the row that is the first to have one is another
	RETURN SQLSTATE || ' ' || regexp_replace(SQLERRM, ': ".*"', '');
END $$;
-- the heap is asked once; queries whose answers differ
CREATE FUNCTION te_differ() RETURNS TABLE (q text, way text) LANGUAGE plpgsql AS $$
BEGIN
	FOREACH way IN ARRAY ARRAY['none', 'top_n', 'vector_expressions', 'vector_sort'] LOOP
		PERFORM set_config('strata.enable_' || way, 'off', true) WHERE way <> 'none';
		FOR q IN SELECT query FROM te_queries WHERE te_answer(query) IS DISTINCT FROM heap LOOP
			RETURN NEXT;
		END LOOP;
		PERFORM set_config('strata.enable_' || way, 'on', true) WHERE way <> 'none';
	END LOOP;
END $$;
UPDATE te_queries SET heap = te_answer(regexp_replace(query, '\mte\M', 'te_h', 'g'));
SELECT query, heap FROM te_queries WHERE heap ~ '^[0-9A-Z]{5} [a-z]';
SELECT * FROM te_differ();
-- late rows, better and worse than those of batches; rows changed and deleted; a column that came later
INSERT INTO te_h SELECT * FROM te_rows(100000, 100200, 1);
INSERT INTO te_h SELECT * FROM te_rows(5, 3599, 20);
INSERT INTO te SELECT * FROM te_rows(100000, 100200, 1);
INSERT INTO te SELECT * FROM te_rows(5, 3599, 20);
UPDATE te SET f = -f, s = s + 1 WHERE i % 7 = 0;
UPDATE te_h SET f = -f, s = s + 1 WHERE i % 7 = 0;
DELETE FROM te WHERE t < '05';
DELETE FROM te_h WHERE t < '05';
ALTER TABLE te ADD COLUMN late int DEFAULT 3;
ALTER TABLE te_h ADD COLUMN late int DEFAULT 3;
UPDATE te SET late = -1 WHERE i % 501 = 2;
UPDATE te_h SET late = -1 WHERE i % 501 = 2;
INSERT INTO te_queries VALUES ('SELECT late * s, ts FROM te ORDER BY late * s, ts, i LIMIT 9');
UPDATE te_queries SET heap = te_answer(regexp_replace(query, '\mte\M', 'te_h', 'g'));
SELECT * FROM te_differ();
-- a partition that is a heap; the heap of keys finds no room
CREATE TABLE te_heap PARTITION OF te FOR VALUES FROM ('2019-12-01Z') TO ('2019-12-02Z') USING heap;
WITH late AS (INSERT INTO te_h SELECT ts - interval '31 days', k, f, f4, i, s, b, d, t, c, n, m, flag, doc, iv, dbl, late FROM te_h
	WHERE ts < '2020-01-01 02:00Z' RETURNING *) INSERT INTO te SELECT * FROM late;
SET work_mem = '64kB';
UPDATE te_queries SET heap = te_answer(regexp_replace(query, '\mte\M', 'te_h', 'g'));
SELECT * FROM te_differ();
RESET work_mem;
-- a generic plan, a cursor, an ordinary role with row security
SET plan_cache_mode = force_generic_plan;
PREPARE te_some(int, bigint) AS SELECT abs(i - $1), t FROM te ORDER BY abs(i - $1), t LIMIT $2;
EXECUTE te_some(5, 2);
EXECUTE te_some(100000, 1);
RESET plan_cache_mode;
BEGIN;
DECLARE te_cursor SCROLL CURSOR FOR SELECT i + s, t FROM te ORDER BY i + s LIMIT 4;
FETCH 2 FROM te_cursor;
DELETE FROM te WHERE i + s < 0;
FETCH 2 FROM te_cursor;
FETCH BACKWARD 3 FROM te_cursor;
ROLLBACK;
CREATE ROLE strata_test_top_expr;
GRANT strata_test_top_expr TO CURRENT_USER;
GRANT SELECT ON te TO strata_test_top_expr;
ALTER TABLE te ENABLE ROW LEVEL SECURITY;
CREATE POLICY te_some_rows ON te USING (s <> 20);
SET ROLE strata_test_top_expr;
SELECT 1 / (s - 20), i FROM te ORDER BY 1 / (s - 20), i LIMIT 2;
RESET ROLE;
SELECT 1 / (s - 20), i FROM te_h WHERE s <> 20 ORDER BY 1 / (s - 20), i LIMIT 2;
DROP TABLE te, te_h, te_queries CASCADE;
DROP FUNCTION te_differ, te_answer;
DROP COLLATION te_ci;
DROP ROLE strata_test_top_expr;
