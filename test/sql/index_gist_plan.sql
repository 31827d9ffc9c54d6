-- Where GiST indexes of a table lead to batches, which rows are the nearest, and what EXPLAIN says of it.
SET timezone = 'UTC';
SET client_min_messages = error;
SET strata.batch_rows = 100;
SET strata.index_pages = 0;
SET max_parallel_workers_per_gather = 0;
-- (18 writes rows with decimals, and says more)
CREATE FUNCTION igs_plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
		CONTINUE WHEN line ~ '^ *Index Searches: ';
		RETURN NEXT regexp_replace(line, 'rows=([0-9]+)\.00', 'rows=\1');
	END LOOP;
END $$;
CREATE TABLE t (ts timestamptz NOT NULL, dev int, p point, b box, r int4range)
	PARTITION BY RANGE (ts) WITH (strata.chunk_interval = '6 hours', strata.segmentby = 'dev', strata.orderby = 'ts');
CREATE INDEX t_p ON t USING gist (p);
CREATE INDEX t_b ON t USING gist (b);
CREATE INDEX t_r ON t USING gist (r);
INSERT INTO t SELECT '2026-01-01'::timestamptz + i * interval '2 s', i % 4, point(i / 10.0, i % 4), box(point(i, i), point(i + 3, i + 3)), int4range(i, i + 5) FROM generate_series(1, 30000) AS i;
SELECT count(compress_chunk(c)) FROM (SELECT c FROM show_chunks('t') AS c ORDER BY c::text LIMIT 2) AS x;
VACUUM (ANALYZE) t;
SELECT igs_plan($$ SELECT dev FROM t WHERE p <@ box(point(100, 0), point(101, 4)) AND ts < '2026-01-01 06:00' $$);
SELECT igs_plan($$ SELECT dev FROM t WHERE b && box(point(7000, 7000), point(7001, 7001)) AND ts < '2026-01-01 06:00' $$);
SELECT igs_plan($$ SELECT dev FROM t WHERE r @> 777 AND ts < '2026-01-01 06:00' $$);
-- the nearest rows: two chunks by their batches, the third by PostgreSQL's own index
SELECT igs_plan($$ SELECT ts, p <-> point(1234, 2) AS d FROM t ORDER BY p <-> point(1234, 2) LIMIT 3 $$);
-- of one segment, and with another key behind it
SELECT igs_plan($$ SELECT ts FROM t WHERE dev = 2 AND ts < '2026-01-01 06:00' ORDER BY point(234, 2) <-> p, ts DESC LIMIT 3 $$);
-- not the farthest, not by an operator without an index, not all rows, not with ties
EXPLAIN (COSTS OFF) SELECT ts FROM t WHERE ts < '2026-01-01 06:00' ORDER BY p <-> point(1234, 2) DESC LIMIT 3;
EXPLAIN (COSTS OFF) SELECT ts FROM t WHERE ts < '2026-01-01 06:00' ORDER BY (center(b)) <-> point(1234, 2) LIMIT 3;
EXPLAIN (COSTS OFF) SELECT ts FROM t WHERE ts < '2026-01-01 06:00' ORDER BY p <-> point(1234, 2);
EXPLAIN (COSTS OFF) SELECT ts FROM t WHERE ts < '2026-01-01 06:00' ORDER BY p <-> point(1234, 2) FETCH FIRST 3 ROWS WITH TIES;
-- the switches, and an index that is gone
SET strata.enable_batch_index = off;
EXPLAIN (COSTS OFF) SELECT dev FROM t WHERE r @> 777 AND ts < '2026-01-01 06:00';
EXPLAIN (COSTS OFF) SELECT ts FROM t WHERE ts < '2026-01-01 06:00' ORDER BY p <-> point(1234, 2) LIMIT 3;
RESET strata.enable_batch_index;
SET strata.enable_top_n = off;
EXPLAIN (COSTS OFF) SELECT ts FROM t WHERE ts < '2026-01-01 06:00' ORDER BY p <-> point(1234, 2) LIMIT 3;
RESET strata.enable_top_n;
DROP INDEX t_p;
EXPLAIN (COSTS OFF) SELECT ts FROM t WHERE ts < '2026-01-01 06:00' ORDER BY p <-> point(1234, 2) LIMIT 3;
DROP TABLE t;
DROP FUNCTION igs_plan;
