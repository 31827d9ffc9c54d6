-- EXPLAIN says how many batches the filters of strata.bloom pruned.
SET timezone = 'UTC';
SET strata.batch_rows = 100;
SET max_parallel_workers_per_gather = 0;
SET client_min_messages = error;
CREATE TABLE s (t timestamptz NOT NULL, trace uuid, tag text, n int) USING strata WITH (strata.orderby = 't', strata.bloom = 'trace, tag');
INSERT INTO s SELECT '2026-01-01'::timestamptz + i * interval '1 s', md5(i::text)::uuid, 'tag' || i / 250, i FROM generate_series(1, 1000) AS i;
SELECT compress_chunk('s');
CREATE FUNCTION plan(q text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text; BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || q LOOP
		IF line ~ 'Batches:|Decoded' THEN RETURN NEXT trim(line); END IF;
	END LOOP;
END $$;
SELECT plan($$SELECT n FROM s WHERE trace = md5('77')::uuid$$);
SELECT plan($$SELECT n FROM s WHERE tag IN ('tag1', 'no')$$);
SELECT plan($$SELECT count(*) FROM s WHERE tag = 'tag1' AND t < '2026-01-01 00:06'$$);
SELECT plan($$SELECT n FROM s WHERE tag = 'no' OR n < 100$$);
SELECT plan($$SELECT n FROM s WHERE tag > 'no'$$);
SET strata.enable_pruning = off;
SELECT plan($$SELECT n FROM s WHERE trace = md5('77')::uuid$$);
RESET strata.enable_pruning;
CREATE FUNCTION plan_yaml(q text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE plan text; BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT YAML) ' || q INTO plan;
	-- 18 says Disabled of each node, and counts rows in hundredths
	RETURN QUERY SELECT regexp_replace(line, '(Rows: \d+)\.00', '\1') FROM regexp_split_to_table(plan, '\n') line WHERE line !~ 'Disabled:';
END $$;
SELECT plan_yaml($$SELECT n FROM s WHERE trace = md5('77')::uuid$$);
DROP TABLE s;
DROP FUNCTION plan, plan_yaml;
