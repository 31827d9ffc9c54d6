-- What EXPLAIN shows of a StrataScan, and which plans are chosen.
SET timezone = 'UTC';
SET jit = off;
SET client_min_messages = error;
SET max_parallel_workers_per_gather = 0;
SET default_statistics_target = 1000;	-- all rows are sampled
SET enable_bitmapscan = off;
SET strata.enable_vector_agg = off;	-- agg_plan shows what that does

CREATE TABLE scan_plan (ts timestamp NOT NULL, host text, v float8, i int, note text) USING strata;
ALTER TABLE scan_plan SET (strata.segmentby = 'host', strata.orderby = 'ts DESC');
SET strata.batch_rows = 1000;
INSERT INTO scan_plan
SELECT timestamp '2024-01-01' + g / 10 * interval '10 s', 'h' || g % 10, g % 1000 / 10.0, g % 5000, 'note ' || g % 7
FROM generate_series(0, 99999) g;
CREATE INDEX scan_plan_ts ON scan_plan (ts);
CREATE INDEX scan_plan_host_ts ON scan_plan (host, ts DESC);
CREATE INDEX scan_plan_i ON scan_plan (i);
SELECT count(*) FROM scan_plan;
EXPLAIN (COSTS OFF) SELECT * FROM scan_plan WHERE i = 5;	-- no batches: PostgreSQL's own plan
SELECT compress_chunk('scan_plan');
VACUUM (FULL, ANALYZE) scan_plan;	-- the row store is empty, whatever runs in the background

-- as PostgreSQL 15 words it
CREATE FUNCTION explain_lines(query text, options text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF, ' || options || ') ' || query LOOP
		-- 17
		line := regexp_replace(line, '\(ANY \(i = \(hashed SubPlan (\d)\)\.col1\)\)', '(hashed SubPlan \1)', 'g');
		line := regexp_replace(line, '\(InitPlan \d\)\.col1', '$0', 'g');
		line := regexp_replace(line, '(InitPlan \d)$', '\1 (returns $0)');
		line := replace(line, '(host = "*VALUES*".column1)', '("*VALUES*".column1 = host)');
		-- 18
		line := regexp_replace(line, '(rows=|Rows": )(\d+)\.00', '\1\2', 'g');
		line := regexp_replace(line, ',\n *"(Disabled|Index Searches)": [^\n,]*|\n *(Disabled|Index Searches): [^\n]*', '', 'g');
		IF line !~ '^ *(Disabled|Index Searches):' THEN
			RETURN NEXT line;
		END IF;
	END LOOP;
END $$;
CREATE FUNCTION explain_analyze(query text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT explain_lines(query, 'ANALYZE, BUFFERS OFF, TIMING OFF, SUMMARY OFF') $$;

-- nothing is decoded to count, and only what is needed otherwise
SELECT explain_analyze('SELECT count(*) FROM scan_plan');
SELECT explain_analyze('SELECT avg(v) FROM scan_plan');
-- segment values: through the index of the companion
SELECT explain_analyze('SELECT * FROM scan_plan WHERE host = ''h3''');
SELECT explain_analyze('SELECT * FROM scan_plan WHERE host IN (''h3'', ''h5'', ''none'') AND ts < ''2024-01-01 01:00''');
SELECT explain_analyze('SELECT * FROM scan_plan WHERE upper(host) = ''H3''');
-- ranges: whole batches that pass need no filter, those that do not are skipped
SELECT explain_analyze('SELECT count(*) FROM scan_plan WHERE ts >= ''2024-01-02 00:00''');
SELECT explain_analyze('SELECT count(*) FROM scan_plan WHERE v > 1000');
SELECT explain_analyze('SELECT count(*) FROM scan_plan WHERE v IS NULL OR i < 0');
-- late materialisation: columns of the result are decoded for batches with survivors
SELECT explain_analyze('SELECT * FROM scan_plan WHERE v = 7.5 AND i = 75 AND ts < ''2024-01-01 01:00''');
-- what is not a vector, and why
EXPLAIN (COSTS OFF) SELECT * FROM scan_plan WHERE note = 'note 3' AND note LIKE 'n%' AND note ~* '^N' AND i % 2 = 0 AND v > i AND random() < 2 AND i > 3;
SELECT explain_lines('SELECT * FROM scan_plan WHERE i > (SELECT 3) AND i NOT IN (SELECT 5) AND xmin <> ''0''', 'ANALYZE OFF');
-- ordered: a handful of batches for the last rows
SELECT explain_analyze('SELECT * FROM scan_plan ORDER BY ts DESC LIMIT 10');
SELECT explain_analyze('SELECT * FROM scan_plan ORDER BY ts LIMIT 10');
SELECT explain_analyze('SELECT * FROM scan_plan WHERE host = ''h3'' ORDER BY ts DESC LIMIT 10');
EXPLAIN (COSTS OFF) SELECT * FROM scan_plan ORDER BY host, ts DESC;
EXPLAIN (COSTS OFF) SELECT DISTINCT ON (host) * FROM scan_plan ORDER BY host, ts DESC;
EXPLAIN (COSTS OFF) SELECT * FROM scan_plan ORDER BY host, ts DESC, i LIMIT 3;
EXPLAIN (COSTS OFF) SELECT * FROM scan_plan ORDER BY v LIMIT 3;
-- a join looks batches up
SET strata.enable_join_pruning = off;
SELECT explain_analyze('SELECT count(*) FROM (VALUES (''h2''), (''h4'')) x(h) JOIN scan_plan ON host = h AND ts < ''2024-01-01 00:30''');
RESET strata.enable_join_pruning;
-- or hashes, where it costs less since other batches are not read
SET strata.enable_join_pruning = on;
SELECT explain_analyze('SELECT count(*) FROM (VALUES (''h2''), (''h4'')) x(h) JOIN scan_plan ON host = h AND ts < ''2024-01-01 00:30''');
RESET strata.enable_join_pruning;
-- rows in the row store again: index paths become children
INSERT INTO scan_plan SELECT timestamp '2024-02-01' + g * interval '1 s', 'h' || g % 10, g, g + 10000, 'new' FROM generate_series(1, 20000) g;
ANALYZE scan_plan;
EXPLAIN (COSTS OFF) SELECT * FROM scan_plan WHERE i = 15000;
EXPLAIN (COSTS OFF) SELECT i FROM scan_plan WHERE i = 15000;
SET enable_bitmapscan = on;
SET enable_indexscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM scan_plan WHERE i BETWEEN 15000 AND 15300 AND v > 3;
RESET enable_indexscan;
SET enable_bitmapscan = off;
SET strata.enable_vector_agg = off;	-- agg_plan shows what that does
SELECT explain_analyze('SELECT * FROM scan_plan WHERE host = ''h3'' ORDER BY ts DESC LIMIT 10');
EXPLAIN (COSTS OFF) SELECT * FROM scan_plan WHERE ctid = '(0,1)';
EXPLAIN (COSTS OFF) UPDATE scan_plan SET v = 0 WHERE i = 15000;
EXPLAIN (COSTS OFF, VERBOSE) SELECT ts FROM scan_plan WHERE i = 15000 AND host = 'h1';

-- switches
SET strata.enable_scan = off;
EXPLAIN (COSTS OFF) SELECT * FROM scan_plan WHERE i = 15000;
RESET strata.enable_scan;
SET strata.enable_pruning = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM scan_plan WHERE host = 'h3' AND ts < '2024-01-01 01:00' AND v > 1000;
SELECT explain_analyze('SELECT count(*) FROM scan_plan WHERE ts < ''2024-01-01 01:00''');
RESET strata.enable_pruning;
SET strata.enable_vector_filter = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM scan_plan WHERE host = 'h3' AND v > 50;
RESET strata.enable_vector_filter;
SET strata.enable_ordered_scan = off;
EXPLAIN (COSTS OFF) SELECT * FROM scan_plan WHERE host = 'h3' ORDER BY ts DESC LIMIT 10;
RESET strata.enable_ordered_scan;

-- parallel
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT count(*) FROM scan_plan WHERE v > 50;
SET strata.enable_parallel_scan = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM scan_plan WHERE v > 50;
RESET strata.enable_parallel_scan;
SET max_parallel_workers_per_gather = 0;

-- other formats
SELECT explain_lines($$SELECT * FROM scan_plan WHERE host = 'h3' AND v > 1 AND i % 2 = 0 ORDER BY ts$$, 'FORMAT YAML');
SELECT explain_lines('SELECT count(*) FROM scan_plan WHERE host = ''h3''', 'ANALYZE, BUFFERS OFF, TIMING OFF, SUMMARY OFF, FORMAT JSON');

DROP FUNCTION explain_analyze, explain_lines;
DROP TABLE scan_plan;
