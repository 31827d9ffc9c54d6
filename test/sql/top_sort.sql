-- All rows in an order, and windows over it: the same as by PostgreSQL's sort, and as of a heap.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET strata.batch_rows = 100;
SET max_parallel_workers_per_gather = 0;
CREATE COLLATION sr_ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE sr (gone int, ts timestamptz NOT NULL, k text, f float8, f4 float4, i int, s smallint, b bigint, d date, t text COLLATE "C",
	c text COLLATE sr_ci, n numeric, u uuid, flag bool, v varchar(20), arr int[], one "char", same int, id int);
SELECT count(*) FROM create_hypertable('sr', 'ts', chunk_time_interval => interval '12 hours', create_default_indexes => false);
ALTER TABLE sr DROP COLUMN gone;
ALTER TABLE sr SET (strata.segmentby = 'k', strata.orderby = 'ts DESC, i');
CREATE TABLE sr_h (LIKE sr);
CREATE FUNCTION sr_rows(lo int, hi int, step int) RETURNS SETOF sr_h LANGUAGE sql AS $$
	SELECT timestamptz '2020-01-01Z' + g * interval '20 seconds', nullif('k' || g % 7, 'k3'),
		CASE g % 97 WHEN 3 THEN NULL WHEN 5 THEN 'NaN' WHEN 7 THEN '-0' WHEN 8 THEN 0 WHEN 11 THEN 'inf' WHEN 13 THEN '-inf' ELSE hashint4(g) / 1e3 END,
		CASE WHEN g % 1000 = 7 THEN 'NaN'::float4 ELSE (hashint4(g) % 1000)::float4 / 8 END,
		CASE WHEN g % 1013 = 5 THEN -2147483648 WHEN g % 1013 = 6 THEN 2147483647 ELSE hashint4(g + 1) END,
		CASE WHEN g % 11 <> 0 THEN g % 30 END, CASE WHEN g % 1511 = 1 THEN -9223372036854775808 WHEN g % 1511 = 2 THEN 9223372036854775807
			WHEN g % 13 = 0 THEN NULL ELSE hashint4(g + 2)::bigint * 4000000000 END,
		CASE g % 1999 WHEN 1 THEN 'infinity' WHEN 2 THEN '-infinity' ELSE date '2020-01-01' + hashint4(g + 3) % 10000 END,
		md5(g::text), CASE WHEN g % 2 = 0 THEN 'abc' ELSE 'ABC' END || g % 5, round(hashint4(g + 4) / 7.0, g % 4), md5(g::text)::uuid, g % 3 = 0,
		CASE WHEN g % 5 <> 0 THEN 'v' || g % 400 END, ARRAY[g % 9, g % 17], chr(65 + g % 60)::"char", 4, g
	FROM generate_series(lo, hi, step) AS g $$;
INSERT INTO sr_h SELECT * FROM sr_rows(0, 7199, 1);
INSERT INTO sr SELECT * FROM sr_h;
SELECT count(compress_chunk(c)) FROM show_chunks('sr') AS c;
ANALYZE sr;
-- of each query, memories in which an answer is another one
CREATE FUNCTION sr_differ() RETURNS TABLE (query text, memory text) LANGUAGE plpgsql AS $$
DECLARE
	answers text[];
	of_heap text;
	way text;
	one text;
BEGIN
	FOREACH query IN ARRAY ARRAY[
		'SELECT * FROM sr ORDER BY u', 'SELECT * FROM sr ORDER BY t DESC', 'SELECT u, t FROM sr ORDER BY same, u DESC',
		'SELECT f, id FROM sr ORDER BY f, id', 'SELECT f, id FROM sr ORDER BY f DESC, id DESC', 'SELECT f, id FROM sr ORDER BY f NULLS FIRST, id',
		'SELECT f, id FROM sr ORDER BY f DESC NULLS LAST, id', 'SELECT f4, id FROM sr ORDER BY f4 DESC, id', 'SELECT i, id FROM sr ORDER BY i, id',
		'SELECT i, s, id FROM sr ORDER BY s, i DESC, id', 'SELECT s, i, id FROM sr ORDER BY s DESC, id', 'SELECT s, b, id FROM sr ORDER BY s NULLS FIRST, b, id',
		'SELECT b, id FROM sr ORDER BY b, id', 'SELECT b, id FROM sr ORDER BY b DESC, id', 'SELECT b, id FROM sr ORDER BY b NULLS FIRST, id',
		'SELECT b, id FROM sr ORDER BY b DESC NULLS LAST, id', 'SELECT b, i, ts, id FROM sr ORDER BY i, b, ts, id', 'SELECT d, ts, k, id FROM sr ORDER BY d DESC, ts, k, id',
		'SELECT k, ts, id FROM sr ORDER BY k, ts, id', 'SELECT k, ts, id FROM sr ORDER BY k DESC NULLS LAST, ts DESC, id', 'SELECT c, id FROM sr ORDER BY c, id', 'SELECT t, id FROM sr ORDER BY t COLLATE "C"', 'SELECT k, c, id FROM sr ORDER BY k, c DESC, id',
		'SELECT c, id FROM sr ORDER BY c DESC, id DESC', 'SELECT n, id FROM sr ORDER BY n, id', 'SELECT arr, flag, id FROM sr ORDER BY arr DESC, flag, id',
		'SELECT flag, one, id FROM sr ORDER BY flag DESC, one, id', 'SELECT v, one, id FROM sr ORDER BY v NULLS FIRST, one DESC, id',
		'SELECT upper(k), i + 0.5, t FROM sr ORDER BY s, k, ts, id', 'SELECT t FROM sr WHERE s > 3 AND f < 0 ORDER BY v, t', 'SELECT t FROM sr WHERE i > 2147483647 ORDER BY v',
		'SELECT ts, s, 10 / (s - 40) FROM sr ORDER BY s, ts, id', 'SELECT s, 10 / (s - 29) FROM sr ORDER BY s, id', 'SELECT s, s, id FROM sr ORDER BY s, s DESC, id',
		'SELECT t FROM sr ORDER BY t USING ~>~', 'SELECT v, t FROM sr ORDER BY v USING ~<~, t', 'SELECT t, sr.* IS NULL FROM sr ORDER BY t', 'SELECT tableoid <> 0, t FROM sr ORDER BY t',
		'SELECT g, x.* FROM generate_series(1, 9, 3) AS g, LATERAL (SELECT t, i FROM sr WHERE s = g ORDER BY u OFFSET g) AS x',
		'SELECT id, rank() OVER w, dense_rank() OVER w, count(*) OVER (w ROWS UNBOUNDED PRECEDING) - row_number() OVER w FROM sr WINDOW w AS (PARTITION BY k ORDER BY s DESC) ORDER BY id',
		'SELECT id, rank() OVER (ORDER BY f), count(*) OVER (ORDER BY f) FROM sr ORDER BY id', 'SELECT id, rank() OVER (PARTITION BY c ORDER BY n) FROM sr ORDER BY id',
		'SELECT t, lag(i) OVER w, lead(t, 2) OVER w, sum(s) OVER w, first_value(v) OVER w FROM sr WINDOW w AS (PARTITION BY s ORDER BY ts, t) ORDER BY t',
		'SELECT t, lag(v) OVER w, row_number() OVER w FROM sr WINDOW w AS (PARTITION BY s ORDER BY u) ORDER BY t',
		'SELECT t, max(f4) OVER (PARTITION BY v ORDER BY u ROWS BETWEEN 3 PRECEDING AND 1 FOLLOWING) FROM sr WHERE k = ''k1'' ORDER BY 1',
		'SELECT t, lag(t) OVER (PARTITION BY s ORDER BY u), lag(t) OVER (PARTITION BY flag ORDER BY t), count(*) OVER () FROM sr ORDER BY t',
		'SELECT s, count(*) FROM (SELECT s, ts - lag(ts) OVER (PARTITION BY s ORDER BY ts, id) AS gap FROM sr) AS x WHERE gap IS NULL OR gap > ''11 minutes'' GROUP BY 1 ORDER BY 1',
		'SELECT * FROM (SELECT s, t, row_number() OVER (PARTITION BY s ORDER BY u) AS r FROM sr) AS x WHERE r <= 3 ORDER BY 1, 3',
		'SELECT * FROM (SELECT k, t, row_number() OVER (PARTITION BY k ORDER BY ts DESC, id) AS r FROM sr) AS x WHERE r <= 3 ORDER BY 1, 3'] LOOP
		-- heap is asked once for all memories
		of_heap := NULL;
		FOREACH memory IN ARRAY ARRAY['64kB', '200kB', '64MB'] LOOP
			PERFORM set_config('work_mem', memory, true);
			answers := '{}';
			FOREACH way IN ARRAY ARRAY['sort', 'off', 'page_scan', 'heap'] LOOP
				IF way = 'heap' AND of_heap IS NOT NULL THEN
					answers := answers || of_heap;
					CONTINUE;
				END IF;
				one := CASE WHEN way = 'heap' THEN regexp_replace(query, '\msr\M', 'sr_h', 'g') ELSE query END;
				PERFORM set_config('strata.enable_vector_sort', CASE way WHEN 'off' THEN 'off' ELSE 'on' END, true),
					set_config('strata.enable_page_scan', CASE way WHEN 'page_scan' THEN 'off' ELSE 'on' END, true);
				BEGIN
					EXECUTE 'SELECT md5(string_agg(x::text, '';'')) FROM (' || one || ') AS x' INTO one;
				EXCEPTION WHEN division_by_zero THEN
					one := SQLERRM;
				END;
				answers := answers || coalesce(one, '-');
				IF way = 'heap' THEN
					of_heap := coalesce(one, '-');
				END IF;
			END LOOP;
			IF (SELECT count(DISTINCT a) FROM unnest(answers) AS a) <> 1 THEN
				RETURN NEXT;
			END IF;
		END LOOP;
	END LOOP;
END $$;
SELECT * FROM sr_differ();
-- late rows in all chunks
WITH late AS (INSERT INTO sr_h SELECT * FROM sr_rows(100000, 100400, 1) RETURNING *) INSERT INTO sr SELECT * FROM late;
WITH late AS (INSERT INTO sr_h SELECT * FROM sr_rows(8005, 15199, 20) RETURNING *) INSERT INTO sr SELECT ts - interval '1 day', k, f, f4, i, s, b, d, t, c, n, u, flag, v, arr, one, same, id FROM late;
UPDATE sr_h SET ts = ts - interval '1 day' WHERE t IN (SELECT md5(g::text) FROM generate_series(8005, 15199, 20) AS g);
SELECT * FROM sr_differ();
-- rows of batches changed and deleted, values out of line
UPDATE sr SET f = -f, v = repeat('x', 20) WHERE i % 7 = 0;
UPDATE sr_h SET f = -f, v = repeat('x', 20) WHERE i % 7 = 0;
DELETE FROM sr WHERE t < '05' OR b % 17 = 3;
DELETE FROM sr_h WHERE t < '05' OR b % 17 = 3;
ALTER TABLE sr ALTER COLUMN n SET STORAGE EXTERNAL;
UPDATE sr SET n = round(n, 3000) WHERE i % 501 = 1;
UPDATE sr_h SET n = round(n, 3000) WHERE i % 501 = 1;
SELECT * FROM sr_differ();
-- columns that came later, and of another type; all rows in batches again
ALTER TABLE sr ADD COLUMN late int DEFAULT 3;
ALTER TABLE sr_h ADD COLUMN late int DEFAULT 3;
UPDATE sr SET late = NULL WHERE i % 501 = 2;
UPDATE sr_h SET late = NULL WHERE i % 501 = 2;
SELECT (SELECT md5(string_agg(x::text, ';')) FROM (SELECT late, t FROM sr ORDER BY late, t) AS x)
	= (SELECT md5(string_agg(x::text, ';')) FROM (SELECT late, t FROM sr_h ORDER BY late, t) AS x);
ALTER TABLE sr ALTER COLUMN v TYPE text;
ALTER TABLE sr_h ALTER COLUMN v TYPE text;
SELECT count(compress_chunk(c)) FROM show_chunks('sr') AS c;
SELECT * FROM sr_differ();
-- an old snapshot, a cursor, a generic plan
SET cursor_tuple_fraction = 1;
DECLARE sr_old CURSOR WITH HOLD FOR SELECT t FROM sr WHERE s = 7 ORDER BY u;
BEGIN;
DECLARE sr_cursor SCROLL CURSOR FOR SELECT t, i FROM sr ORDER BY u;
FETCH 2 FROM sr_cursor;
DELETE FROM sr WHERE s = 7;
FETCH 2 FROM sr_cursor;
FETCH BACKWARD 3 FROM sr_cursor;
ROLLBACK;
FETCH 2 FROM sr_old;
CLOSE sr_old;
SET plan_cache_mode = force_generic_plan;
PREPARE sr_some(int) AS SELECT t, s FROM sr WHERE s = $1 AND i % 100 = 1 ORDER BY u;
EXECUTE sr_some(2);
EXECUTE sr_some(3);
RESET plan_cache_mode;
-- rows that somebody must not see
CREATE ROLE strata_test_sort;
GRANT strata_test_sort TO CURRENT_USER;
GRANT SELECT ON sr TO strata_test_sort;
ALTER TABLE sr ENABLE ROW LEVEL SECURITY;
CREATE POLICY sr_some_rows ON sr USING (i % 1500 = 0);
SET ROLE strata_test_sort;
SELECT t, i % 1500 FROM sr ORDER BY t;
RESET ROLE;
DROP TABLE sr, sr_h CASCADE;
DROP FUNCTION sr_differ;
DROP COLLATION sr_ci;
DROP ROLE strata_test_sort;
