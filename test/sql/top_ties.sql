-- FETCH FIRST ROWS WITH TIES, and rank() <= k: the first rows of an order and those that are as good as the last, the same as of a heap.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET strata.batch_rows = 100;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE tt (ts timestamptz NOT NULL, k text, f float8, i int, b bigint, t text, n numeric);
SELECT count(*) FROM create_hypertable('tt', 'ts', chunk_time_interval => interval '12 hours', create_default_indexes => false);
ALTER TABLE tt SET (strata.segmentby = 'k', strata.orderby = 'ts DESC');
CREATE TABLE tt_h (LIKE tt);
CREATE FUNCTION tt_rows(lo int, hi int, step int) RETURNS SETOF tt_h LANGUAGE sql AS $$
	SELECT timestamptz '2020-01-01Z' + g / 3 * interval '2 minutes', nullif('k' || g % 7, 'k3'),
		CASE g % 97 WHEN 3 THEN NULL WHEN 5 THEN 'NaN' WHEN 7 THEN '-0' WHEN 8 THEN 0 ELSE g * 7919 % 50 / 4.0 END, nullif(g * g % 30, 4), g % 300, 't' || g % 40, g % 11 / 2.0
	FROM generate_series(lo, hi, step) AS g $$;
INSERT INTO tt_h SELECT * FROM tt_rows(0, 3599, 1);
INSERT INTO tt SELECT * FROM tt_h;
SELECT count(compress_chunk(c)) FROM show_chunks('tt') AS c;
ANALYZE tt;
CREATE TABLE tt_queries (query text, heap text);
INSERT INTO tt_queries SELECT format('SELECT %s FROM tt %s ORDER BY %s FETCH FIRST %s ROWS WITH TIES', columns, condition, keys, n) FROM (VALUES
	('f, t', 'f', ''), ('f, i', 'f DESC', 'WHERE i > 3'), ('f', 'f DESC NULLS LAST', ''), ('i, b', 'i', 'WHERE lower(t) LIKE ''t1%'''), ('i, f', 'i DESC, f', ''), ('i, t', 'i NULLS FIRST', ''),
	('ts, k', 'ts', ''), ('ts, f', 'ts DESC', 'WHERE f > 2'), ('ts, i', 'ts DESC, k', ''), ('t, n', 't', ''), ('n, i', 'n DESC, i', ''), ('i % 5, n', 'i % 5, n', ''),
	('upper(k), i', 'upper(k) DESC', 'WHERE b < 20'), ('k, b', 'k, b', ''), ('b', 'b', '')) AS x(columns, keys, condition), unnest(ARRAY['1', '7', '100', '(50 + 1)']) AS n;
INSERT INTO tt_queries VALUES ('SELECT i FROM tt ORDER BY i OFFSET 5 FETCH FIRST 3 ROWS WITH TIES'), ('SELECT i FROM tt ORDER BY i FETCH FIRST 0 ROWS WITH TIES'),
	('SELECT i FROM tt ORDER BY i OFFSET 3590 FETCH FIRST 100 ROWS WITH TIES'), ('SELECT b FROM tt ORDER BY 1 / (b - 7) FETCH FIRST 1 ROWS WITH TIES'),
	('SELECT t, f, r FROM (SELECT t, f, rank() OVER (ORDER BY f DESC) AS r FROM tt) AS x WHERE r <= 3'), ('SELECT t, f, r FROM (SELECT t, f, rank() OVER (ORDER BY f DESC) AS r FROM tt) AS x WHERE r < 200'),
	('SELECT i, t, r FROM (SELECT t, i, rank() OVER (ORDER BY i, t) AS r FROM tt WHERE b > 10) AS x WHERE 30 >= r'), ('SELECT i, r FROM (SELECT i, rank() OVER (ORDER BY i) AS r FROM tt) AS x WHERE r <= 0'),
	('SELECT x.i, x.r, x.d FROM (SELECT i, rank() OVER (ORDER BY abs(i - 15)) AS r, dense_rank() OVER (ORDER BY abs(i - 15)) AS d, count(*) OVER () FROM tt) AS x WHERE r <= 50'),
	('SELECT i, r, l IS NULL FROM (SELECT i, rank() OVER (ORDER BY i) AS r, lead(1) OVER (ORDER BY i) AS l FROM tt) AS x WHERE r <= 3'),
	('SELECT i, r, d FROM (SELECT i, rank() OVER (ORDER BY i) AS r, dense_rank() OVER (ORDER BY i) AS d FROM tt) AS x WHERE r <= 3 AND d < 3'),
	('SELECT k, i, r FROM (SELECT k, i, rank() OVER (PARTITION BY k ORDER BY i) AS r FROM tt) AS x WHERE r <= 3'),
	('SELECT i, r FROM (SELECT i, dense_rank() OVER (ORDER BY i) AS r FROM tt) AS x WHERE r <= 2'), ('SELECT t, r FROM (SELECT t, rank() OVER (ORDER BY t DESC) AS r FROM tt) AS x WHERE r = 1'),
	('SELECT g, x.i FROM generate_series(1, 9, 4) AS g, LATERAL (SELECT i FROM tt WHERE b > g ORDER BY i FETCH FIRST (g) ROWS WITH TIES) AS x');
CREATE FUNCTION tt_answer(q text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'SELECT count(*) || '' '' || md5(coalesce(string_agg(x::text, '';'' ORDER BY x::text), '''')) FROM (' || q || ') AS x' INTO q;
	RETURN q;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE FUNCTION tt_differ() RETURNS TABLE (q text, way text, strata text, asked text) LANGUAGE plpgsql AS $$
BEGIN
	UPDATE tt_queries SET heap = tt_answer(regexp_replace(query, '\mtt\M', 'tt_h', 'g'));
	FOREACH way IN ARRAY ARRAY['none', 'top_n', 'page_scan'] LOOP
		PERFORM set_config('strata.enable_' || way, 'off', true) WHERE way <> 'none';
		FOR q, asked IN SELECT query, heap FROM tt_queries LOOP
			strata := tt_answer(q);
			IF strata IS DISTINCT FROM asked THEN
				RETURN NEXT;
			END IF;
		END LOOP;
		PERFORM set_config('strata.enable_' || way, 'on', true) WHERE way <> 'none';
	END LOOP;
END $$;
SELECT * FROM tt_differ();
-- late rows, with indexes of the table, too; rows changed and deleted; little memory
INSERT INTO tt_h SELECT * FROM tt_rows(3, 4000, 9);
INSERT INTO tt SELECT * FROM tt_rows(3, 4000, 9);
UPDATE tt SET f = -f, i = i - 1 WHERE b % 7 = 0;
UPDATE tt_h SET f = -f, i = i - 1 WHERE b % 7 = 0;
DELETE FROM tt WHERE t < 't2' OR b % 17 = 3;
DELETE FROM tt_h WHERE t < 't2' OR b % 17 = 3;
SELECT * FROM tt_differ();
CREATE INDEX ON tt (i);
CREATE INDEX ON tt (f DESC);
CREATE INDEX ON tt (t);
SET work_mem = '64kB';
SELECT * FROM tt_differ();
RESET work_mem;
-- a cursor, rows in both directions; generic plans
BEGIN;
DECLARE tt_cursor SCROLL CURSOR FOR SELECT b FROM tt ORDER BY b FETCH FIRST 2 ROWS WITH TIES;
FETCH 3 FROM tt_cursor;
FETCH BACKWARD 2 FROM tt_cursor;
MOVE FORWARD ALL FROM tt_cursor;
FETCH BACKWARD 1 FROM tt_cursor;
FETCH ALL FROM tt_cursor;
ROLLBACK;
SET plan_cache_mode = force_generic_plan;
PREPARE tt_some(bigint) AS SELECT count(*), max(r) FROM (SELECT rank() OVER (ORDER BY i) AS r FROM tt) AS x WHERE r <= $1;
EXECUTE tt_some(1);
EXECUTE tt_some(200);
EXECUTE tt_some(-1);
EXECUTE tt_some(NULL);
DROP TABLE tt, tt_h, tt_queries CASCADE;
DROP FUNCTION tt_differ, tt_answer;
