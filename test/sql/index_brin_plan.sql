-- Where BRIN indexes of a table lead to batches, and what EXPLAIN says of it.
SET timezone = 'UTC';
SET client_min_messages = error;
SET strata.batch_rows = 100;
SET strata.index_pages = 0;
SET max_parallel_workers_per_gather = 0;
-- (18 writes rows with decimals, and says more)
CREATE FUNCTION ibr_plan(query text, form text DEFAULT 'text') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF, FORMAT %s) ', form) || query LOOP
		CONTINUE WHEN line ~ '^ *Index Searches: ';
		RETURN NEXT regexp_replace(regexp_replace(line, '(rows=|"Actual Rows": )([0-9]+)\.00', '\1\2', 'g'), ',\s*"(Disabled|Index Searches)": \w+', '', 'g');
	END LOOP;
END $$;
CREATE TABLE t (ts timestamptz NOT NULL, dev int, a inet, r int4range, b box, u uuid, num int)
	PARTITION BY RANGE (ts) WITH (strata.chunk_interval = '12 hours', strata.segmentby = 'dev', strata.orderby = 'ts');
CREATE INDEX t_a ON t USING brin (a inet_inclusion_ops);
CREATE INDEX t_r ON t USING brin (r);
CREATE INDEX t_b ON t USING brin (b);
CREATE INDEX t_u ON t USING brin (u uuid_bloom_ops);
INSERT INTO t SELECT '2026-01-01'::timestamptz + i * interval '2 s', i % 4, ('10.' || i / 1000 || '.' || i % 200 || '.1')::inet, int4range(i, i + 5), box(point(i, i), point(i + 3, i + 3)), md5(i::text)::uuid, i * 7919 % 10007 FROM generate_series(1, 20000) AS i;
SELECT count(compress_chunk(c)) FROM show_chunks('t') AS c;
VACUUM (ANALYZE) t;
SELECT * FROM ibr_plan($$SELECT num FROM t WHERE a << '10.5.0.0/16'$$);
SELECT * FROM ibr_plan($$SELECT num FROM t WHERE r && int4range(777, 780)$$);
SELECT * FROM ibr_plan($$SELECT num FROM t WHERE b @> point(4000, 4000)$$);
-- two of them, and a parameter
SET seq_page_cost = 0.01; SET random_page_cost = 0.01;
SELECT * FROM ibr_plan($$SELECT num FROM t WHERE r && int4range(1000, 3000) AND u = md5('2222')::uuid$$);
RESET seq_page_cost; RESET random_page_cost;
SET plan_cache_mode = force_generic_plan;
PREPARE p (int4range) AS SELECT num FROM t WHERE r && $1;
SELECT * FROM ibr_plan($$EXECUTE p ('[777,780)')$$);
RESET plan_cache_mode;
-- a join by overlap
CREATE TEMP TABLE boxes AS SELECT box(point(i, i), point(i + 1, i + 1)) AS b FROM generate_series(100, 20000, 8000) AS i;
ANALYZE boxes;
SELECT * FROM ibr_plan($$SELECT num FROM boxes JOIN t ON t.b && boxes.b$$);
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
