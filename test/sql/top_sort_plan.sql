-- Where StrataSort stands in the place of a sort, and how it sorts; answers: top_sort.sql.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET max_parallel_workers_per_gather = 0;
CREATE TABLE sp (ts timestamptz NOT NULL, k text, i int, f float8, t text) USING strata WITH (strata.segmentby = 'k', strata.orderby = 'ts');
INSERT INTO sp SELECT timestamptz '2020-01-01Z' + g * interval '40 seconds', 'k' || g % 7, hashint4(g), g % 50, md5(g::text) FROM generate_series(0, 19999) AS g;
SELECT compress_chunk('sp') IS NOT NULL AS compressed;
INSERT INTO sp SELECT timestamptz '2020-01-01Z' + g * interval '40 seconds', 'k' || g % 7, g, g % 50, md5(g::text) FROM generate_series(0, 999) AS g;
CREATE TABLE sp_h AS TABLE sp;
VACUUM ANALYZE sp, sp_h;
SET strata.enable_vector_sort = on;
SET strata.enable_windows = on;
EXPLAIN (COSTS OFF) SELECT * FROM sp ORDER BY i DESC, t NULLS FIRST;
EXPLAIN (COSTS OFF) SELECT i, ts - lag(ts) OVER (PARTITION BY i ORDER BY ts) FROM sp;
EXPLAIN (COSTS OFF) SELECT i, rank() OVER (ORDER BY f), sum(i) OVER (PARTITION BY f ORDER BY i) FROM sp;
-- not where a scan gives the order
EXPLAIN (COSTS OFF) SELECT i, rank() OVER (PARTITION BY k ORDER BY ts) FROM sp;
-- what a join above looks for reaches the scan
CREATE TABLE sp_few AS SELECT 'k' || g AS k, g AS n FROM generate_series(0, 2) AS g;
ANALYZE sp_few;
SET enable_mergejoin = off;
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT k, rank() OVER (PARTITION BY k ORDER BY i) FROM sp) AS x JOIN sp_few USING (k) WHERE n <> 1;
RESET enable_mergejoin;
CREATE FUNCTION sp_way(query text, memory text DEFAULT '4MB') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	way text := '';
BEGIN
	PERFORM set_config('work_mem', memory, true);
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
		IF line ~ 'Sort|Runs|Window|StrataTop' AND line !~ 'Key|Method|Window: ' THEN
			way := way || CASE WHEN way <> '' THEN '; ' ELSE '' END || regexp_replace(line, '^[ >-]*|Custom Scan |[ ]*\(actual.*', '', 'g');
		END IF;
	END LOOP;
	RETURN way;
END $$;
-- in memory, in runs, and by rows where texts or runs are too many
SELECT memory, sp_way('SELECT i, ts FROM sp ORDER BY i', memory), sp_way('SELECT i, t FROM sp ORDER BY i', memory) FROM unnest(ARRAY['64kB', '300kB', '4MB']) AS memory;
SELECT query, sp_way(query) FROM unnest(ARRAY[
	'SELECT k FROM sp ORDER BY t, k DESC', 'SELECT f + i FROM sp WHERE f > 3 ORDER BY f, i', 'SELECT DISTINCT ON (f) f, i FROM (SELECT * FROM sp ORDER BY f, i) AS x ORDER BY f',
	-- others: the first rows, computed keys, another collation, volatile functions, tables that are not ours
	'SELECT i FROM sp ORDER BY i LIMIT 3', 'SELECT i FROM sp ORDER BY i + 1', 'SELECT i FROM sp ORDER BY t COLLATE "POSIX"', 'SELECT random() FROM sp ORDER BY i',
	'SELECT i FROM sp WHERE random() < 2 ORDER BY i', 'SELECT i FROM sp_h ORDER BY i', 'SELECT i FROM sp ORDER BY i FOR UPDATE']) AS query;
-- processes that could sort parts are no order that is there already
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 10;
SELECT sp_way('SELECT i FROM sp ORDER BY i');
RESET parallel_setup_cost;
RESET min_parallel_table_scan_size;
SET max_parallel_workers_per_gather = 0;
SET enable_sort = off;
SELECT sp_way('SELECT i FROM sp ORDER BY i');
RESET enable_sort;
SET strata.enable_vector_sort = off;
SELECT sp_way('SELECT i FROM sp ORDER BY i');
DROP FUNCTION sp_way;
DROP TABLE sp, sp_h, sp_few;
