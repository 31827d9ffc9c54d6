-- Where indexes on expressions, and of some rows, lead to batches, and what EXPLAIN says of it.
SET timezone = 'UTC';
SET client_min_messages = error;
SET strata.batch_rows = 100;
SET strata.index_pages = 0;
SET max_parallel_workers_per_gather = 0;
-- (18 writes rows with decimals, and says more)
CREATE FUNCTION iep_plan(query text, form text DEFAULT 'text') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF, FORMAT %s) ', form) || query LOOP
		CONTINUE WHEN line ~ '^ *Index Searches: ';
		RETURN NEXT regexp_replace(regexp_replace(line, '(rows=|"Actual Rows": )([0-9]+)\.00', '\1\2', 'g'), ',\s*"(Disabled|Index Searches)": \w+', '', 'g');
	END LOOP;
END $$;
CREATE TABLE t (ts timestamptz NOT NULL, dev int, mail text, state text, doc jsonb) USING strata WITH (strata.segmentby = 'dev', strata.orderby = 'ts');
INSERT INTO t SELECT '2026-01-01'::timestamptz + i * interval '30 s', i % 3, 'User' || i * 7919 % 20011, CASE WHEN i / 300 % 50 = 0 AND i % 10 = 0 THEN 'failed' ELSE 'done' END, jsonb_build_object('id', i, 'user', 'u' || i / 50) FROM generate_series(1, 20000) AS i;
CREATE INDEX t_lower ON t (lower(mail));
CREATE INDEX t_id ON t USING hash (((doc ->> 'id')::int));
CREATE INDEX t_failed ON t (mail) WHERE state = 'failed';
CREATE INDEX t_user ON t USING gin ((doc -> 'user')) WHERE dev = 1;
SELECT compress_chunk('t');
VACUUM (ANALYZE) t;
SELECT * FROM iep_plan($$SELECT * FROM t WHERE lower(mail) = 'user77'$$);
-- what the predicate leaves, and what a value leaves of it
SELECT * FROM iep_plan($$SELECT * FROM t WHERE state = 'failed'$$);
SELECT * FROM iep_plan($$SELECT * FROM t WHERE state = 'failed' AND mail = 'User77'$$);
SELECT * FROM iep_plan($$SELECT * FROM t WHERE dev = 1 AND doc -> 'user' ? 'u7'$$);
-- lists, parameters, joins
SELECT * FROM iep_plan($$SELECT * FROM t WHERE (doc ->> 'id')::int IN (1, 2, 5000)$$);
SET plan_cache_mode = force_generic_plan;
PREPARE p (text) AS SELECT * FROM t WHERE lower(mail) = $1;
EXPLAIN (COSTS OFF) EXECUTE p ('user77');
PREPARE q (text) AS SELECT * FROM t WHERE state = $1;
EXPLAIN (COSTS OFF) EXECUTE q ('failed');
RESET plan_cache_mode;
SET enable_hashjoin = off; SET enable_mergejoin = off;
SELECT * FROM iep_plan($$SELECT * FROM generate_series(1, 3) AS g JOIN t ON (doc ->> 'id')::int = g$$);
RESET enable_hashjoin; RESET enable_mergejoin;
-- not: the predicate does not follow, another expression, another collation, a range
EXPLAIN (COSTS OFF) SELECT * FROM t WHERE mail = 'User77';
EXPLAIN (COSTS OFF) SELECT * FROM t WHERE doc -> 'user' ? 'u7';
EXPLAIN (COSTS OFF) SELECT * FROM t WHERE upper(mail) = 'USER77';
EXPLAIN (COSTS OFF) SELECT * FROM t WHERE lower(mail) = 'user77' COLLATE "C";
EXPLAIN (COSTS OFF) SELECT * FROM t WHERE lower(mail) > 'user77';
SET strata.enable_batch_index = off;
EXPLAIN (COSTS OFF) SELECT * FROM t WHERE lower(mail) = 'user77';
DROP TABLE t;
DROP FUNCTION iep_plan;
