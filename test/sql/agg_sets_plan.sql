-- Plans of GROUPING SETS, ROLLUP and CUBE.
SET client_min_messages = error;
SET timezone = 'UTC';
SET strata.batch_rows = 500;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE agsp (ts timestamptz NOT NULL, host text, zone int, v int8);
SELECT count(*) FROM create_hypertable('agsp', 'ts', chunk_time_interval => interval '12 hours', create_default_indexes => false);
ALTER TABLE agsp SET (strata.segmentby = 'host', strata.orderby = 'ts');
INSERT INTO agsp SELECT timestamptz '2024-03-09Z' + g * interval '10 seconds', 'h' || g % 7, g % 3, g FROM generate_series(1, 8000) AS g;
SELECT count(compress_chunk(c)) > 1 AS many FROM show_chunks('agsp') AS c;
INSERT INTO agsp SELECT ts, host, zone, -v FROM agsp WHERE v % 20 = 0;
CREATE TABLE agspd AS SELECT 'h' || g AS host, 'r' || g % 3 AS region FROM generate_series(1, 6) AS g;
ANALYZE agsp, agspd;
CREATE FUNCTION agsp_plan(query text, more text DEFAULT '') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (COSTS OFF%s) %s', more, query) LOOP
		EXIT WHEN line ~ '->  Append';
		-- 18 writes a constant so
		RETURN NEXT replace(line, '(2)', '2');
	END LOOP;
END $$;
-- in the order that is wanted, with GROUPING()
SELECT agsp_plan('SELECT host, zone, count(*), GROUPING(host, zone) FROM agsp GROUP BY ROLLUP (host, zone) HAVING GROUPING(zone) = 0 ORDER BY host DESC, zone');
SELECT agsp_plan('SELECT host, zone, sum(v), count(DISTINCT zone) FROM agsp GROUP BY CUBE (host, zone)');
SELECT agsp_plan('SELECT host, sum(v) FROM agsp GROUP BY GROUPING SETS ((host), (host), ())');
SELECT agsp_plan('SELECT date_trunc(''hour'', ts) AS hour, max(v) FROM agsp GROUP BY ROLLUP (1) ORDER BY 1 LIMIT 3');
-- above a join
SELECT agsp_plan('SELECT region, zone, sum(v) FROM agsp JOIN agspd USING (host) GROUP BY ROLLUP (region, zone)');
-- left to PostgreSQL: rows held for each group, constants as keys, one key twice, no keys, too many sets; and the switch
SELECT agsp_plan('SELECT zone, array_agg(v) FROM agsp GROUP BY ROLLUP (zone)');
SELECT agsp_plan('SELECT 1 + 1, zone, count(*) FROM agsp GROUP BY ROLLUP (1, zone)');
SELECT agsp_plan('SELECT zone, zone, count(*) FROM agsp GROUP BY ROLLUP (1, 2)');
SELECT agsp_plan('SELECT count(*) FROM agsp GROUP BY GROUPING SETS ((), ())');
SELECT count(*) FROM agsp_plan('SELECT count(*) FROM agsp GROUP BY CUBE (host, zone, v % 2, v % 3, v % 4, v % 5)') AS line WHERE line ~ 'StrataAgg';
SET strata.enable_grouping_sets = off;
SELECT agsp_plan('SELECT zone, count(*) FROM agsp GROUP BY ROLLUP (zone)');
RESET strata.enable_grouping_sets;
-- columns that are equal in all rows are not equal in all sets: ordered by both, or (before 18, which takes them for equal) by PostgreSQL
SELECT bool_or(line ~ 'Sort Key: agsp.v, agsp.zone$') OR (array_agg(line))[1] ~ 'Sort' AS by_both_or_not
	FROM agsp_plan('SELECT zone, v, count(*) FROM agsp WHERE v = zone GROUP BY CUBE (zone, v) ORDER BY v, zone') AS line;
-- beyond memory
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SET seq_page_cost = 0;
SELECT line ~ '[1-9]' AS spilled FROM agsp_plan('SELECT v, host, count(*) FROM agsp GROUP BY ROLLUP (v, host)', ', ANALYZE, TIMING OFF, SUMMARY OFF') AS line WHERE line ~ 'Spills';
-- ... many groups at a time: few groups not at all, 8,400 in a few hundred turns, and one by one where that is asked for
SELECT count(*) FILTER (WHERE line ~ 'Spills') AS few_groups, (array_agg(line))[1] ~ 'StrataAgg' AS ours FROM agsp_plan('SELECT zone, host, count(*), count(DISTINCT zone) FROM agsp GROUP BY CUBE (zone, host)', ', ANALYZE, TIMING OFF, SUMMARY OFF') AS line;
SELECT substring(line, 'Spills: (.*)')::int BETWEEN 10 AND 500 AS many_at_a_time FROM agsp_plan('SELECT v, host, count(*), count(DISTINCT zone) FROM agsp GROUP BY CUBE (v, host)', ', ANALYZE, TIMING OFF, SUMMARY OFF') AS line WHERE line ~ 'Spills';
SELECT substring(line, 'Spills: (.*)')::int BETWEEN 10 AND 100 AS of_distinct FROM agsp_plan('SELECT zone, count(DISTINCT v * 1000), count(DISTINCT -v * 1000) FROM agsp GROUP BY zone', ', ANALYZE, TIMING OFF, SUMMARY OFF') AS line WHERE line ~ 'Spills';
SET strata.agg_least_groups = 1;
SELECT substring(line, 'Spills: (.*)')::int > 1000 AS one_by_one FROM agsp_plan('SELECT v, host, count(*) FROM agsp WHERE v < 2000 GROUP BY ROLLUP (v, host)', ', ANALYZE, TIMING OFF, SUMMARY OFF') AS line WHERE line ~ 'Spills';
RESET strata.agg_least_groups;
RESET work_mem;
RESET hash_mem_multiplier;
RESET seq_page_cost;
-- by workers
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT agsp_plan('SELECT host, zone, count(*) FROM agsp GROUP BY ROLLUP (host, zone)');
DROP FUNCTION agsp_plan;
DROP TABLE agsp, agspd;
