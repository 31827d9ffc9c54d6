-- Quals that no filter does, for the rest of a batch together: rows, their order, cursors and errors are those of heap.
SET client_min_messages = warning;
SET timezone = 'UTC';
CREATE TABLE st (ts timestamptz NOT NULL, host int, a int, b int, x float8, note text);
SELECT count(*) FROM create_hypertable('st', 'ts', chunk_time_interval => interval '12 hours');
ALTER TABLE st SET (strata.segmentby = 'host', strata.orderby = 'ts');
CREATE TABLE st_heap (LIKE st);
INSERT INTO st_heap SELECT timestamptz '2026-01-01' + i * interval '20 seconds', i % 3, nullif(i % 50, 7), (i * 7) % 41, i % 11 / 4.0, CASE WHEN i % 13 > 0 THEN 'n' || i % 9 END
	FROM generate_series(0, 5999) i;
INSERT INTO st SELECT * FROM st_heap WHERE a % 20 <> 3 OR a IS NULL;
SELECT count(compress_chunk(c)) FROM show_chunks('st') c;
INSERT INTO st SELECT * FROM st_heap WHERE a % 20 = 3;
UPDATE st SET b = b + 1 WHERE ts = '2026-01-01 01:00';
UPDATE st_heap SET b = b + 1 WHERE ts = '2026-01-01 01:00';
DELETE FROM st WHERE ts BETWEEN '2026-01-01 02:00' AND '2026-01-01 02:01';
DELETE FROM st_heap WHERE ts BETWEEN '2026-01-01 02:00' AND '2026-01-01 02:01';
ANALYZE st;

CREATE FUNCTION differences() RETURNS TABLE (query text, strata bigint, heap bigint) LANGUAGE plpgsql AS $$
DECLARE
	q text;
BEGIN
	FOREACH q IN ARRAY ARRAY[
		'SELECT * FROM t WHERE a + b = 50', 'SELECT * FROM t WHERE a + b > 40 AND x * 2 > a', 'SELECT * FROM t WHERE NOT (a > b)', 'SELECT * FROM t WHERE (a > b) IS NOT TRUE',
		'SELECT ts, host, note FROM t WHERE a < b AND note > ''n4'' ORDER BY ts, host', 'SELECT ts, host FROM t WHERE a < b ORDER BY ts DESC, host LIMIT 2500',
		'SELECT ts FROM t WHERE host = 1 AND a - b BETWEEN -3 AND 3 ORDER BY ts', 'SELECT ts FROM t WHERE host = 1 AND a - b BETWEEN -3 AND 3 ORDER BY ts DESC OFFSET 40 LIMIT 100',
		'SELECT u.* FROM generate_series(0, 3) g, LATERAL (SELECT g, ts FROM t WHERE a - g = b ORDER BY ts LIMIT 30) u', 'SELECT * FROM t WHERE a = (SELECT 5) AND b + 1 > a AND x IS DISTINCT FROM b',
		'SELECT DISTINCT ON (host) * FROM t WHERE a > b + 20 ORDER BY host, ts DESC', 'SELECT * FROM t WHERE a > b AND random() >= 0 AND x + 1 > 2']
	LOOP
		EXECUTE 'CREATE TEMP TABLE s AS ' || replace(q, 'FROM t ', 'FROM st ');
		EXECUTE 'CREATE TEMP TABLE h AS ' || replace(q, 'FROM t ', 'FROM st_heap ');
		RETURN QUERY SELECT q, (SELECT count(*) FROM (TABLE s EXCEPT ALL TABLE h) d), (SELECT count(*) FROM (TABLE h EXCEPT ALL TABLE s) d);
		DROP TABLE s, h;
	END LOOP;
END $$;
SELECT * FROM differences() WHERE strata <> 0 OR heap <> 0;
SET plan_cache_mode = force_generic_plan;
PREPARE p(int) AS SELECT count(*), sum(n) FROM (SELECT a AS n FROM st WHERE a - $1 > b OFFSET 0) s;
EXECUTE p(3);
EXECUTE p(30);
SELECT count(*), sum(a) FROM st_heap WHERE a - 3 > b UNION ALL SELECT count(*), sum(a) FROM st_heap WHERE a - 30 > b;
RESET plan_cache_mode;

-- forwards and backwards through what was filtered together
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT ts, a, b FROM st WHERE host = 2 AND a + b = 44 ORDER BY ts;
DECLARE h SCROLL CURSOR FOR SELECT ts, a, b FROM st_heap WHERE host = 2 AND a + b = 44 ORDER BY ts;
MOVE FORWARD 20 IN c;
MOVE FORWARD 20 IN h;
FETCH BACKWARD 3 FROM c;
FETCH BACKWARD 3 FROM h;
MOVE BACKWARD ALL IN c;
MOVE BACKWARD ALL IN h;
FETCH FORWARD 2 FROM c;
FETCH FORWARD 2 FROM h;
MOVE FORWARD ALL IN c;
MOVE FORWARD ALL IN h;
FETCH BACKWARD 2 FROM c;
FETCH BACKWARD 2 FROM h;
COMMIT;

-- an error is raised for the row whose turn has come, and not before
BEGIN;
DECLARE c CURSOR FOR SELECT ts FROM st WHERE host = 0 AND 100 / (b - 40) < 0 AND a >= 0;
MOVE FORWARD 5 IN c;
MOVE FORWARD ALL IN c;
ROLLBACK;
SELECT count(*) FROM (SELECT ts FROM st WHERE a + 2147483600 > 0 OFFSET 0) s;
SELECT count(*) FROM (SELECT ts FROM st WHERE a < 40 AND a + 2147483600 > 0 OFFSET 0) s;

-- changes that find their rows so
UPDATE st SET note = 'changed' WHERE a - b = 9;
UPDATE st_heap SET note = 'changed' WHERE a - b = 9;
DELETE FROM st WHERE a + b = 13;
DELETE FROM st_heap WHERE a + b = 13;
SELECT count(*) FROM ((TABLE st EXCEPT ALL TABLE st_heap) UNION ALL (TABLE st_heap EXCEPT ALL TABLE st)) d;
SELECT * FROM differences() WHERE strata <> 0 OR heap <> 0;
DROP FUNCTION differences;
DROP TABLE st, st_heap;
