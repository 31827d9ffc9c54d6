-- Where BRIN indexes of a table lead to batches, and what EXPLAIN says of it.
SET timezone = 'UTC';
SET client_min_messages = error;
SET strata.batch_rows = 100;
SET strata.index_pages = 0;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE t (ts timestamptz NOT NULL, dev int, a inet, r int4range, b box, u uuid, num int)
	PARTITION BY RANGE (ts) WITH (strata.chunk_interval = '12 hours', strata.segmentby = 'dev', strata.orderby = 'ts');
CREATE INDEX t_a ON t USING brin (a inet_inclusion_ops);
CREATE INDEX t_r ON t USING brin (r);
CREATE INDEX t_b ON t USING brin (b);
CREATE INDEX t_u ON t USING brin (u uuid_bloom_ops);
INSERT INTO t SELECT '2026-01-01'::timestamptz + i * interval '2 s', i % 4, ('10.' || i / 1000 || '.' || i % 200 || '.1')::inet, int4range(i, i + 5), box(point(i, i), point(i + 3, i + 3)), md5(i::text)::uuid, i * 7919 % 10007 FROM generate_series(1, 20000) AS i;
SELECT count(compress_chunk(c)) FROM show_chunks('t') AS c;
VACUUM (ANALYZE) t;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT num FROM t WHERE a << '10.5.0.0/16';
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT num FROM t WHERE r && int4range(777, 780);
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT num FROM t WHERE b @> point(4000, 4000);
-- two of them, and a parameter
SET seq_page_cost = 0.01; SET random_page_cost = 0.01;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT num FROM t WHERE r && int4range(1000, 3000) AND u = md5('2222')::uuid;
RESET seq_page_cost; RESET random_page_cost;
SET plan_cache_mode = force_generic_plan;
PREPARE p (int4range) AS SELECT num FROM t WHERE r && $1;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) EXECUTE p ('[777,780)');
RESET plan_cache_mode;
-- a join by overlap
CREATE TEMP TABLE boxes AS SELECT box(point(i, i), point(i + 1, i + 1)) AS b FROM generate_series(100, 20000, 8000) AS i;
ANALYZE boxes;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT num FROM boxes JOIN t ON t.b && boxes.b;
-- a condition that all batches fulfil, one that the class does not know, an index on what lies in no order: not by it
EXPLAIN (COSTS OFF) SELECT num FROM t WHERE r && int4range(0, 30000);
EXPLAIN (COSTS OFF) SELECT num FROM t WHERE area(b) = 5;
CREATE INDEX t_num ON t USING brin (num);
EXPLAIN (COSTS OFF) SELECT num FROM t WHERE num BETWEEN 5 AND 300;
-- the switches, and an index that is gone
SET strata.enable_batch_index = off;
EXPLAIN (COSTS OFF) SELECT num FROM t WHERE r && int4range(777, 780);
RESET strata.enable_batch_index;
DROP INDEX t_r;
EXPLAIN (COSTS OFF) SELECT num FROM t WHERE r && int4range(777, 780);
DROP TABLE t;
