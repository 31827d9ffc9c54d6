-- When StrataTop is used, and when not.
SET strata.enable_chunks_in_turn = off;
SET client_min_messages = warning;
SET timezone = 'UTC';
SET max_parallel_workers_per_gather = 0;
CREATE TABLE tp (ts timestamptz NOT NULL, k text, v float8, n numeric);
SELECT count(*) FROM create_hypertable('tp', 'ts', chunk_time_interval => interval '12 hours');
ALTER TABLE tp SET (strata.segmentby = 'k', strata.orderby = 'ts DESC');
INSERT INTO tp SELECT timestamptz '2020-01-01Z' + g * interval '10 seconds', 'k' || g % 7, g % 1009, g FROM generate_series(0, 12959) AS g;
SELECT count(compress_chunk(c)) FROM show_chunks('tp') AS c;
INSERT INTO tp SELECT timestamptz '2020-01-01Z' + g * interval '200 seconds', 'k' || g % 7, g % 1013, -g FROM generate_series(0, 647) AS g;
ANALYZE tp;
CREATE FUNCTION tp_plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	FOR query IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
		CONTINUE WHEN query ~ 'Columns Decoded|Rows Filtered|Rows From|Batch Access|Batches:|Index Searches';
		-- (18 writes rows with decimals)
		RETURN NEXT regexp_replace(query, '(rows=[0-9]+)\.00', '\1');
	END LOOP;
END $$;
SELECT tp_plan('SELECT * FROM tp ORDER BY v DESC LIMIT 5');
SELECT tp_plan('SELECT v * 2, k FROM tp WHERE k = ''k3'' ORDER BY n NULLS FIRST LIMIT 5 OFFSET 2');
-- older chunks are not read, nor batches of all segments
SELECT tp_plan('SELECT ts, k, v FROM tp ORDER BY ts DESC, k LIMIT 3');
SELECT tp_plan('SELECT v FROM ONLY tp_20200101_000000_chunk ORDER BY v, k DESC LIMIT 3');
-- a condition that is tried late is not tried on rows that are worse
SELECT tp_plan('SELECT ts, k FROM tp WHERE ln(abs(n - 5)) > -9 ORDER BY ts DESC LIMIT 3');
-- an expression that may fail is computed for all rows
SELECT tp_plan('SELECT ts, k FROM tp ORDER BY v + 1, ts LIMIT 3');
SELECT tp_plan('SELECT ts, k FROM tp ORDER BY v DESC, (k = ''k1''), ts LIMIT 3');
SELECT tp_plan('SELECT ts, k FROM tp ORDER BY v DESC, v + 1 LIMIT 3');
-- a partition of another kind of scan is passed over too
CREATE TABLE tp_heap PARTITION OF tp FOR VALUES FROM ('2019-12-01Z') TO ('2019-12-02Z') USING heap;
INSERT INTO tp SELECT timestamptz '2019-12-01Z' + g * interval '10 seconds', 'k' || g % 7, g % 1009, g FROM generate_series(0, 99) AS g;
SELECT tp_plan('SELECT ts, k, v FROM tp ORDER BY ts DESC, k LIMIT 3');
-- late rows that matter come by an index of the table
CREATE FUNCTION tp_by_index(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	FOR query IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
		CONTINUE WHEN query !~ 'Row Store|Strata';
		RETURN NEXT regexp_replace(query, '(rows=[0-9]+)\.00', '\1');
	END LOOP;
END $$;
CREATE INDEX ON tp (k, ts DESC);
SELECT tp_by_index('SELECT ts, k, v FROM tp ORDER BY ts DESC, k LIMIT 3');
SELECT tp_by_index('SELECT DISTINCT ON (k) * FROM tp ORDER BY k, ts DESC');
SELECT tp_by_index('SELECT date_trunc(''minute'', ts), count(*) FROM tp GROUP BY 1 ORDER BY 1 DESC LIMIT 2');
-- by expressions and with ties, too; not: rows and volatile ones, all rows, groups, windows, row locks, system columns, joins; and when switched off
CREATE FUNCTION tp_uses_top(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
		IF line LIKE '%StrataTop%' THEN
			RETURN true;
		END IF;
	END LOOP;
	RETURN false;
END $$;
SELECT q, tp_uses_top(q) FROM (VALUES
	('SELECT * FROM tp ORDER BY v LIMIT 5'),
	('SELECT DISTINCT v FROM tp ORDER BY v LIMIT 5'),
	('SELECT * FROM tp ORDER BY v + 1 LIMIT 5'),
	('SELECT * FROM tp ORDER BY k COLLATE "C" LIMIT 5'),
	('SELECT v, v * 2 FROM tp ORDER BY k, abs(v - n) DESC LIMIT 5'),
	('SELECT v FROM tp ORDER BY 1 / v LIMIT 5'),
	('SELECT v FROM tp ORDER BY ROW(v, n) LIMIT 5'),
	('SELECT v FROM tp ORDER BY v + random() LIMIT 5'),
	('SELECT * FROM tp ORDER BY v'),
	('SELECT * FROM tp ORDER BY v FETCH FIRST 5 ROWS WITH TIES'),
	('SELECT v, count(*) FROM tp GROUP BY v ORDER BY v LIMIT 5'),
	('SELECT v, lag(v) OVER (ORDER BY v) FROM tp ORDER BY v LIMIT 5'),
	('SELECT v FROM (SELECT v, rank() OVER (ORDER BY v) AS r FROM tp) AS x WHERE r <= 5'),
	('SELECT v FROM (SELECT v, dense_rank() OVER (ORDER BY v) AS r FROM tp) AS x WHERE r <= 5'),
	('SELECT * FROM (SELECT v, lead(v) OVER (ORDER BY v), rank() OVER (ORDER BY v) AS r FROM tp) AS x WHERE r <= 5'),
	('SELECT v FROM tp ORDER BY v LIMIT 5 FOR UPDATE'),
	('SELECT v, ctid FROM tp ORDER BY v LIMIT 5'),
	('SELECT v, generate_series(1, 2) FROM tp ORDER BY v LIMIT 5'),
	('SELECT a.v FROM tp AS a JOIN tp AS b USING (ts) ORDER BY a.v LIMIT 5')) AS x(q);
SET strata.enable_top_n = off;
SELECT tp_uses_top('SELECT * FROM tp ORDER BY v LIMIT 5');
RESET strata.enable_top_n;
-- expressions that are volatile are evaluated for the rows that come out, and no others
CREATE SEQUENCE tp_seq;
SELECT v, nextval('tp_seq') FROM tp ORDER BY v DESC, n LIMIT 3;
DROP TABLE tp;
DROP SEQUENCE tp_seq;
DROP FUNCTION tp_by_index, tp_plan, tp_uses_top;

-- the next page of an order, in the middle of a chunk: late rows come by the bound, in place of those that the plan's
-- own index has
CREATE TABLE tq (ts timestamptz NOT NULL, k text NOT NULL, v int) USING strata WITH (strata.segmentby = 'k', strata.orderby = 'ts DESC');
CREATE INDEX ON tq (ts DESC);
INSERT INTO tq SELECT '2026-01-01 00:00Z'::timestamptz + i / 20 * interval '10 s', 'k' || i % 20, i FROM generate_series(0, 39999) i;
SELECT count(compress_chunk('tq')) FROM (SELECT) s;
INSERT INTO tq SELECT '2026-01-01 00:00Z'::timestamptz + i / 10 * interval '10 s', 'k' || i % 23, -i FROM generate_series(0, 19999) i;
INSERT INTO tq SELECT ts, k, -20000 FROM tq WHERE v % 1000 = 1;
VACUUM ANALYZE tq;
CREATE FUNCTION tq_plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	SET LOCAL enable_bitmapscan = off;
	FOR query IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
		CONTINUE WHEN query !~ 'Strata|Row Store|Scan using';
		RETURN NEXT regexp_replace(query, 'rows=[0-9.]+', 'rows=n');
	END LOOP;
END $$;
SELECT tq_plan('SELECT * FROM tq WHERE ts <= ''2026-01-01 00:10Z'' AND (ts, k) < (''2026-01-01 00:10Z'', ''k5'') ORDER BY ts DESC, k DESC LIMIT 30');
-- few rows by another index: it stays
SELECT tq_plan('SELECT * FROM tq WHERE v = -20000 AND ts <= ''2026-01-01 01:00Z'' ORDER BY ts DESC, k DESC LIMIT 30');
CREATE INDEX ON tq (v);
ANALYZE tq;
SELECT tq_plan('SELECT * FROM tq WHERE v = -20000 AND ts <= ''2026-01-01 01:00Z'' ORDER BY ts DESC, k DESC LIMIT 30');
DROP FUNCTION tq_plan;
DROP TABLE tq;
