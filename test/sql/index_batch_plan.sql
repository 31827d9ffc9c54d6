-- Where indexes of a table lead to batches, and what EXPLAIN says of it.
SET timezone = 'UTC';
SET client_min_messages = error;
SET strata.batch_rows = 100;
SET strata.index_pages = 0;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE t (ts timestamptz NOT NULL, dev int, trace uuid, num bigint, mode text, tag text)
	PARTITION BY RANGE (ts) WITH (strata.chunk_interval = '12 hours', strata.segmentby = 'dev', strata.orderby = 'ts');
CREATE INDEX t_trace ON t (trace);
CREATE INDEX t_mode ON t (mode);
CREATE INDEX t_dev ON t (dev, ts DESC);
INSERT INTO t SELECT '2026-01-01'::timestamptz + i * interval '4 s', i % 4, md5(i::text)::uuid, i * 7919 % 10007, 'mode' || i % 2, 'tag' || i FROM generate_series(1, 10000) AS i;
SELECT count(compress_chunk(c)) FROM show_chunks('t') AS c;
INSERT INTO t SELECT '2026-01-01'::timestamptz + i * interval '80 s', i % 4, md5((-i)::text)::uuid, i * 7919 % 10007, 'mode' || i % 2, 'tag' || i FROM generate_series(1, 500) AS i;
VACUUM (ANALYZE) t;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT num FROM t WHERE trace = md5('77')::uuid;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF, FORMAT json) SELECT num FROM t WHERE trace = md5('77')::uuid;
-- an array, a parameter, and beside a segment
EXPLAIN (COSTS OFF) SELECT num FROM t WHERE trace IN (md5('77')::uuid, md5('78')::uuid);
SET plan_cache_mode = force_generic_plan;
PREPARE p (uuid) AS SELECT num FROM t WHERE trace = $1;
EXPLAIN (COSTS OFF) EXECUTE p (md5('77')::uuid);
RESET plan_cache_mode;
-- a column of few values, one without an index, other conditions: not by it
EXPLAIN (COSTS OFF) SELECT num FROM t WHERE mode = 'mode1';
EXPLAIN (COSTS OFF) SELECT num FROM t WHERE num = 5;
EXPLAIN (COSTS OFF) SELECT num FROM t WHERE trace > md5('77')::uuid;
-- a join
SET enable_hashjoin = off; SET enable_mergejoin = off;
CREATE TEMP TABLE keys AS SELECT md5(g::text)::uuid AS trace FROM generate_series(1, 3) AS g;
ANALYZE keys;
EXPLAIN (COSTS OFF) SELECT t.num FROM keys JOIN t USING (trace);
RESET enable_hashjoin; RESET enable_mergejoin;
-- an index made later leads to the batches at once
CREATE INDEX t_num ON t (num);
CREATE INDEX CONCURRENTLY t_tag ON t USING hash (tag);
EXPLAIN (COSTS OFF) SELECT ts FROM t WHERE num = 5;
EXPLAIN (COSTS OFF) SELECT ts FROM t WHERE tag = 'tag5';
-- the switches, and an index that is gone
SET strata.enable_batch_index = off;
EXPLAIN (COSTS OFF) SELECT ts FROM t WHERE num = 5;
RESET strata.enable_batch_index;
DROP INDEX t_num;
EXPLAIN (COSTS OFF) SELECT ts FROM t WHERE num = 5;
DROP TABLE t;
