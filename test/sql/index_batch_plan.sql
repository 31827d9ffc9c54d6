-- Where indexes of a table lead to batches, and what EXPLAIN says of it.
SET timezone = 'UTC';
SET client_min_messages = error;
SET strata.batch_rows = 100;
SET strata.index_pages = 0;
SET max_parallel_workers_per_gather = 0;
-- (18 writes rows with decimals, and says more)
CREATE FUNCTION ibp_plan(query text, form text DEFAULT 'text') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF, FORMAT %s) ', form) || query LOOP
		CONTINUE WHEN line ~ '^ *Index Searches: ';
		RETURN NEXT regexp_replace(regexp_replace(line, '(rows=|"Actual Rows": )([0-9]+)\.00', '\1\2', 'g'), ',\s*"(Disabled|Index Searches)": \w+', '', 'g');
	END LOOP;
END $$;
CREATE TABLE t (ts timestamptz NOT NULL, dev int, trace uuid, num bigint, mode text, tag text)
	PARTITION BY RANGE (ts) WITH (strata.chunk_interval = '12 hours', strata.segmentby = 'dev', strata.orderby = 'ts');
CREATE INDEX t_trace ON t (trace);
CREATE INDEX t_mode ON t (mode);
CREATE INDEX t_dev ON t (dev, ts DESC);
INSERT INTO t SELECT '2026-01-01'::timestamptz + i * interval '4 s', i % 4, md5(i::text)::uuid, i * 7919 % 10007, 'mode' || i % 2, 'tag' || i FROM generate_series(1, 10000) AS i;
SELECT count(compress_chunk(c)) FROM show_chunks('t') AS c;
INSERT INTO t SELECT '2026-01-01'::timestamptz + i * interval '80 s', i % 4, md5((-i)::text)::uuid, i * 7919 % 10007, 'mode' || i % 2, 'tag' || i FROM generate_series(1, 500) AS i;
VACUUM (ANALYZE) t;
SELECT * FROM ibp_plan($$SELECT num FROM t WHERE trace = md5('77')::uuid$$);
SELECT * FROM ibp_plan($$SELECT num FROM t WHERE trace = md5('77')::uuid$$, 'json');
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
-- (versions write the condition one way round or the other)
CREATE FUNCTION plan_of_join() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXPLAIN (COSTS OFF) SELECT t.num FROM keys JOIN t USING (trace) LOOP
		RETURN NEXT replace(line, '(keys.trace = trace)', '(trace = keys.trace)');
	END LOOP;
END $$;
SELECT * FROM plan_of_join();
RESET enable_hashjoin; RESET enable_mergejoin;
-- an index made later leads to the batches at once
CREATE INDEX t_num ON t (num);
CREATE INDEX CONCURRENTLY t_tag ON t USING hash (tag);
EXPLAIN (COSTS OFF) SELECT ts FROM t WHERE num = 5;
EXPLAIN (COSTS OFF) SELECT ts FROM t WHERE tag = 'tag5';
-- two conditions: either, both
EXPLAIN (COSTS OFF) SELECT ts FROM t WHERE num = 5 OR trace = md5('77')::uuid;
SET random_page_cost = 0.01; SET seq_page_cost = 0.01;
SELECT * FROM ibp_plan($$SELECT ts FROM t WHERE num IN (5, 6, 7, 8, 9, 10, 11, 12, 13, 14) AND tag IN ('tag5', 'tag6', 'tag7', 'tag8', 'tag9', 'tag1000', 'tag2000', 'tag3000', 'tag4000', 'tag5000')$$);
RESET random_page_cost; RESET seq_page_cost;
EXPLAIN (COSTS OFF) SELECT ts FROM t WHERE num = 5 OR mode = 'mode1' OR ts IS NULL;
-- the switches, and an index that is gone
SET strata.enable_batch_index = off;
EXPLAIN (COSTS OFF) SELECT ts FROM t WHERE num = 5;
RESET strata.enable_batch_index;
DROP INDEX t_num;
EXPLAIN (COSTS OFF) SELECT ts FROM t WHERE num = 5;
DROP TABLE t;
-- a list of values that are spread over chunks is not thought to be in each of them, whether the table was analysed or its chunks alone
CREATE TABLE m (ts timestamptz NOT NULL, k text, v int) PARTITION BY RANGE (ts) WITH (strata.chunk_interval = '1 hour', strata.orderby = 'ts');
CREATE INDEX m_k ON m (k);
INSERT INTO m SELECT '2026-01-01'::timestamptz + i * interval '0.4 s', md5(i::text), i FROM generate_series(0, 26999) AS i;
SELECT count(compress_chunk(c)) FROM show_chunks('m') AS c;
CREATE FUNCTION accesses(q text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || q LOOP
		IF line LIKE '%Batch Access:%' THEN RETURN NEXT trim(line); END IF;
	END LOOP;
END $$;
SET random_page_cost = 0.1; SET seq_page_cost = 0.1;
DO $$ BEGIN EXECUTE (SELECT string_agg(format('ANALYZE %s', c), '; ') FROM show_chunks('m') AS c); END $$;
SELECT * FROM accesses('SELECT v FROM m WHERE k IN (' || (SELECT string_agg(quote_literal(md5(i::text)), ', ') FROM generate_series(0, 26999, 450) AS i) || ')');
ANALYZE m;
SELECT * FROM accesses('SELECT v FROM m WHERE k IN (' || (SELECT string_agg(quote_literal(md5(i::text)), ', ') FROM generate_series(0, 26999, 450) AS i) || ')');
DROP TABLE m;
DROP FUNCTION accesses;
