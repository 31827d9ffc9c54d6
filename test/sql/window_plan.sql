-- Which window functions are computed as rows come; answers: window_compare.sql.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET strata.enable_windows = on;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE wp (ts timestamptz NOT NULL, k text, i int) USING strata;
ALTER TABLE wp SET (strata.segmentby = 'k', strata.orderby = 'ts');
INSERT INTO wp SELECT timestamptz '2020-01-01Z' + g * interval '40 seconds', 'k' || g % 7, g % 50 FROM generate_series(0, 3599) AS g;
SELECT compress_chunk('wp') IS NOT NULL AS compressed;
CREATE TABLE wp_h AS TABLE wp;
ANALYZE wp, wp_h;
CREATE FUNCTION wp_way(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	way text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ 'Window' AND line !~ 'Window: ' THEN
			way := way || CASE WHEN way <> '' THEN '; ' ELSE '' END || regexp_replace(line, '^[ >-]*', '');
		END IF;
	END LOOP;
	RETURN way;
END $$;
SELECT query, wp_way(query) FROM unnest(ARRAY[
	'SELECT k, ts - lag(ts) OVER (PARTITION BY k ORDER BY ts) FROM wp',
	'SELECT row_number() OVER w, first_value(i) OVER w, lag(i, 3, 0) OVER w FROM wp WINDOW w AS (PARTITION BY k ORDER BY ts)',
	'SELECT lag(i) OVER (PARTITION BY k ORDER BY ts), sum(i) OVER (PARTITION BY i ORDER BY ts) FROM wp',
	'SELECT lag(i) OVER w, lead(i) OVER w FROM wp WINDOW w AS (PARTITION BY k ORDER BY ts)',
	'SELECT rank() OVER w, dense_rank() OVER w FROM wp WINDOW w AS (PARTITION BY k ORDER BY i)',
	'SELECT * FROM (SELECT k, row_number() OVER (PARTITION BY i ORDER BY ts) AS n FROM wp) AS x WHERE n < 3',
	-- others: aggregates, frames, arguments that are computed, run conditions, tables that are not ours
	'SELECT lead(i, 0) OVER (PARTITION BY k ORDER BY ts) FROM wp',
	'SELECT sum(i) OVER (PARTITION BY k ORDER BY ts) FROM wp',
	'SELECT lag(i * 2) OVER (PARTITION BY k ORDER BY ts) FROM wp',
	'SELECT lag(i, i) OVER (PARTITION BY k ORDER BY ts) FROM wp',
	'SELECT first_value(i) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING) FROM wp',
	'SELECT * FROM (SELECT k, row_number() OVER (PARTITION BY k ORDER BY ts) AS n FROM wp) AS x WHERE n < 3',
	'SELECT lag(i) OVER (PARTITION BY k ORDER BY ts) FROM wp_h',
	-- many values of a long type would stay in memory
	'SELECT lag(k, 8) OVER (PARTITION BY k ORDER BY ts), lag(i, 1000) OVER (PARTITION BY k ORDER BY ts) FROM wp',
	'SELECT lag(k, 9) OVER (PARTITION BY k ORDER BY ts) FROM wp', 'SELECT lag(i, 1001) OVER (PARTITION BY k ORDER BY ts) FROM wp']) AS query;
EXPLAIN (COSTS OFF) SELECT k, ts - lag(ts) OVER (PARTITION BY k ORDER BY ts) AS gap FROM wp;
-- conditions of the query around it are tried by columns; not where that could hide an error, or somebody stands between
CREATE FUNCTION wp_filter(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	way text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Filter Above|Left Out|Removed' THEN
			way := way || CASE WHEN way <> '' THEN '; ' ELSE '' END || trim(line);
		END IF;
	END LOOP;
	RETURN way;
END $$;
SET strata.enable_window_filter = on;
SET strata.enable_vector_expressions = on;
SET strata.enable_vector_sort = on;
CREATE TABLE wp_asked AS SELECT query FROM unnest(ARRAY[
	'SELECT * FROM (SELECT k, ts - lag(ts) OVER (PARTITION BY k ORDER BY ts) AS gap FROM wp) AS x WHERE gap IS NULL OR gap > ''10 minutes''',
	'SELECT * FROM (SELECT k, i - lead(i) OVER (PARTITION BY i ORDER BY ts, k) AS d FROM wp) AS x WHERE d <> 0 AND k = ''k1''',
	'SELECT * FROM (SELECT k, i, lag(i) OVER (PARTITION BY k ORDER BY ts) AS l FROM wp) AS x WHERE l <> 0 AND 10 / l > 1',
	'SELECT * FROM (SELECT k, substr(k, 2)::int AS n, lag(i) OVER (PARTITION BY k ORDER BY ts) AS l FROM wp) AS x WHERE l = 7',
	'SELECT * FROM (SELECT k, lag(i) OVER (PARTITION BY k ORDER BY ts) AS l FROM wp) AS x WHERE l = 7 AND random() >= 0',
	'SELECT * FROM (SELECT k, lag(i) OVER (PARTITION BY k ORDER BY ts) AS l FROM wp OFFSET 0) AS x WHERE l = 7',
	'SELECT * FROM (SELECT k, lag(i) OVER (PARTITION BY k ORDER BY ts) AS l FROM wp OFFSET 1) AS x WHERE l = 7']) AS query;
SELECT query, wp_filter(query) FROM wp_asked;
SELECT wp_filter('SELECT * FROM (SELECT k, rank() OVER (PARTITION BY i ORDER BY ts) AS n, lag(k) OVER (PARTITION BY i ORDER BY ts) AS l FROM wp) AS x WHERE n < 3 AND l <> k');
SET strata.enable_window_filter = off;
SELECT query, wp_filter(query) FROM wp_asked LIMIT 1;
RESET strata.enable_window_filter;
DROP TABLE wp_asked;
DROP FUNCTION wp_filter;
-- the first rows of all are found without a sort of all
CREATE FUNCTION wp_first(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Window|StrataTop|StrataSort|Sort  |Removed' AND line !~ 'Window: ' THEN
			RETURN NEXT regexp_replace(regexp_replace(line, '^[ >-]*', ''), 'rows=([0-9]+)\.00', 'rows=\1');
		END IF;
	END LOOP;
END $$;
SET strata.enable_top_n = on;
SELECT wp_first('SELECT * FROM (SELECT k, row_number() OVER (ORDER BY i, k) AS n FROM wp) AS x WHERE n <= 3');
SELECT wp_first('SELECT * FROM (SELECT k, lead(k, 2) OVER (ORDER BY i, k), row_number() OVER (ORDER BY i, k) AS n FROM wp) AS x WHERE 3 > n');
SELECT wp_first('SELECT * FROM (SELECT k, rank() OVER (ORDER BY i, k) AS n FROM wp) AS x WHERE n <= 3');
-- not where others of its functions want peers, of a join, without a table of ours, or with partitions
SELECT wp_first('SELECT * FROM (SELECT k, sum(i) OVER (ORDER BY i, k), row_number() OVER (ORDER BY i, k) AS n FROM wp) AS x WHERE n <= 3');
SELECT wp_first('SELECT * FROM (SELECT k, row_number() OVER (ORDER BY i, k) AS n, lag(k) OVER (ORDER BY ts, i) FROM wp) AS x WHERE n <= 3');
SELECT wp_first('SELECT * FROM (SELECT k, row_number() OVER (ORDER BY i, k) AS n FROM wp_h) AS x WHERE n <= 3');
SELECT wp_first('SELECT * FROM (SELECT k, row_number() OVER (PARTITION BY i ORDER BY ts, k) AS n FROM wp) AS x WHERE n <= 3');
SET strata.enable_top_n = off;
SELECT wp_first('SELECT * FROM (SELECT k, row_number() OVER (ORDER BY i, k) AS n FROM wp) AS x WHERE n <= 3');
RESET strata.enable_top_n;
DROP FUNCTION wp_first;
-- EXPLAIN names the functions, in the node and above it: 18 looks for a WindowAgg of each WindowFunc
CREATE FUNCTION wp_names(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
		IF line ~ 'lag|row_number|first_value' THEN
			RETURN NEXT regexp_replace(trim(line), ' OVER (\(\?\)|w[0-9]+)', '', 'g');
		END IF;
	END LOOP;
END $$;
SELECT wp_names('SELECT k, lag(i) OVER (PARTITION BY k ORDER BY ts) FROM wp');
SELECT wp_names('SELECT k, lag(i) OVER (PARTITION BY k ORDER BY ts) AS l FROM wp ORDER BY l, k');
SELECT wp_names('SELECT row_number() OVER (PARTITION BY k ORDER BY ts), first_value(i) OVER (PARTITION BY i ORDER BY ts) FROM wp');
SELECT wp_names('SELECT count(*) FROM (SELECT lag(i) OVER (PARTITION BY k ORDER BY ts) AS l FROM wp OFFSET 0) AS x WHERE l > 3');
SELECT wp_names('SELECT ts, (SELECT max(l) FROM (SELECT lag(i) OVER (PARTITION BY k ORDER BY ts) AS l FROM wp OFFSET 0) AS x WHERE l < wp_h.i) FROM wp_h');
DROP FUNCTION wp_names;
-- values of a join above prune by columns of PARTITION BY
CREATE TABLE wp_few AS SELECT 'k' || g AS k, g AS n FROM generate_series(0, 2) g;
ANALYZE wp_few;
SET strata.enable_pruning = on;
SET strata.enable_join_pruning = on;
SET strata.enable_vector_filter = on;
SET enable_mergejoin = off;
CREATE FUNCTION wp_pruned(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Window|Join Filter|pruned' AND line !~ 'Window: ' THEN
			RETURN NEXT regexp_replace(line, '^[ >-]*|[ ]*[(]actual.*', '', 'g');
		END IF;
	END LOOP;
END $$;
SELECT wp_pruned('SELECT * FROM (SELECT i, k, ts - lag(ts) OVER (PARTITION BY i, k ORDER BY ts) AS gap FROM wp) y JOIN wp_few USING (k) WHERE n <> 1');
SELECT wp_pruned('SELECT * FROM (SELECT i, k, ts - lag(ts) OVER (PARTITION BY i ORDER BY ts) AS gap FROM wp) y JOIN wp_few USING (k) WHERE n <> 1');
DROP FUNCTION wp_pruned;
DROP TABLE wp_few;
RESET enable_mergejoin;
-- how many rows a page is of is counted apart, where that is all that is asked of other rows
CREATE FUNCTION wp_total(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ 'InitPlan|Window|Strata[^S]' AND line !~ 'Window: ' THEN
			RETURN NEXT regexp_replace(line, '^[ >-]*|[ ]*[(]returns.*', '', 'g');
		END IF;
	END LOOP;
END $$;
SELECT wp_total('SELECT *, count(*) OVER () FROM wp WHERE i = 3 ORDER BY i, k LIMIT 5');
SELECT wp_total('SELECT *, count(*) OVER () FROM wp WHERE i = 3 ORDER BY i, k');
SELECT wp_total('SELECT *, count(*) OVER (), row_number() OVER (ORDER BY i, k) FROM wp WHERE i = 3 LIMIT 5');
SELECT wp_total('SELECT *, count(*) OVER () FROM wp WHERE i = 3 AND random() < 2 ORDER BY i, k LIMIT 5');
SELECT wp_total('SELECT *, count(*) OVER () FROM wp_h WHERE i = 3 ORDER BY i, k LIMIT 5');
DROP FUNCTION wp_total;
SET strata.enable_windows = off;
SELECT wp_way('SELECT k, ts - lag(ts) OVER (PARTITION BY k ORDER BY ts) FROM wp');
DROP TABLE wp, wp_h;
DROP FUNCTION wp_way;
