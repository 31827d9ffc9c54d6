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
-- without the lines that 18 has of windows
CREATE FUNCTION sp_plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line !~ '^ *Window: ' THEN
			RETURN NEXT line;
		END IF;
	END LOOP;
END $$;
SELECT sp_plan('SELECT i, rank() OVER (ORDER BY f), sum(i) OVER (PARTITION BY f ORDER BY i) FROM sp');
-- not where a scan gives the order
SELECT sp_plan('SELECT i, rank() OVER (PARTITION BY k ORDER BY ts) FROM sp');
-- nor where a part of the rows may be enough, as of a cursor, which may go back
EXPLAIN (COSTS OFF) DECLARE sp_cursor CURSOR FOR SELECT i, t FROM sp ORDER BY i;
BEGIN;
DECLARE sp_cursor CURSOR FOR SELECT i, f FROM sp ORDER BY i, f;
FETCH 2 FROM sp_cursor;
FETCH BACKWARD 1 FROM sp_cursor;
COMMIT;
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT i, t FROM sp ORDER BY i OFFSET 0) AS x LIMIT 3;
-- what a join above looks for reaches the scan
CREATE TABLE sp_few AS SELECT 'k' || g AS k, g AS n FROM generate_series(0, 2) AS g;
ANALYZE sp_few;
SET enable_mergejoin = off;
SELECT sp_plan('SELECT * FROM (SELECT k, rank() OVER (PARTITION BY k ORDER BY i) FROM sp) AS x JOIN sp_few USING (k) WHERE n <> 1');
RESET enable_mergejoin;
CREATE FUNCTION sp_way(query text, memory text DEFAULT '4MB') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	way text := '';
BEGIN
	PERFORM set_config('work_mem', memory, true);
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
		IF line ~ 'Sort|Runs|Window|StrataTop|Merge Append' AND line !~ 'Key|Method|Window: ' THEN
			way := way || CASE WHEN way <> '' THEN '; ' ELSE '' END || regexp_replace(line, '^[ >-]*|Custom Scan |[ ]*\(actual.*', '', 'g');
		END IF;
	END LOOP;
	RETURN way;
END $$;
-- in memory, and in runs; texts that would be too many are PostgreSQL's
SELECT memory, sp_way('SELECT i, ts FROM sp ORDER BY i', memory), sp_way('SELECT i, t FROM sp ORDER BY i', memory) FROM unnest(ARRAY['64kB', '300kB', '4MB']) AS memory;
-- wide rows that come in order, chunk by chunk, are merged as they are
CREATE TABLE sp_chunks (ts timestamptz NOT NULL, k text, doc text);
SELECT count(*) FROM create_hypertable('sp_chunks', 'ts', chunk_time_interval => interval '1 day', create_default_indexes => false);
ALTER TABLE sp_chunks SET (strata.segmentby = 'k', strata.orderby = 'ts DESC');
INSERT INTO sp_chunks SELECT timestamptz '2020-01-01Z' + g * interval '10 seconds', 'k' || g % 7, repeat(md5(g::text), 8) FROM generate_series(0, 29999) AS g;
SELECT count(compress_chunk(c)) FROM show_chunks('sp_chunks') AS c;
INSERT INTO sp_chunks SELECT timestamptz '2020-01-01Z' + g * interval '100 seconds', 'k' || g % 7, repeat(md5(g::text), 8) FROM generate_series(0, 2999) AS g;
VACUUM ANALYZE sp_chunks;
SELECT sp_way('SELECT k, ts, doc FROM sp_chunks ORDER BY k, ts DESC', '1MB'), sp_way('SELECT k, ts FROM sp_chunks ORDER BY k, ts DESC', '1MB');
DROP TABLE sp_chunks;
-- by rows where texts are more than was thought
ALTER TABLE sp ALTER t SET (n_distinct = 10);
ANALYZE sp;
SELECT memory, sp_way('SELECT i, t FROM sp ORDER BY i', memory) FROM unnest(ARRAY['64kB', '300kB', '4MB']) AS memory;
ALTER TABLE sp ALTER t RESET (n_distinct);
ANALYZE sp;
SELECT query, sp_way(query) FROM unnest(ARRAY[
	'SELECT k FROM sp ORDER BY t, k DESC', 'SELECT f + i FROM sp WHERE f > 3 ORDER BY f, i', 'SELECT DISTINCT ON (f) f, i FROM (SELECT * FROM sp ORDER BY f, i) AS x ORDER BY f',
	-- computed keys and another collation, too; others: the first rows, volatile functions, tables that are not ours
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
DROP FUNCTION sp_plan, sp_way;
DROP TABLE sp, sp_h, sp_few;
