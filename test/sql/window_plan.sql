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
	-- others: what looks ahead, frames, arguments that are computed, run conditions, tables that are not ours
	'SELECT lag(i) OVER w, lead(i) OVER w FROM wp WINDOW w AS (PARTITION BY k ORDER BY ts)',
	'SELECT sum(i) OVER (PARTITION BY k ORDER BY ts) FROM wp',
	'SELECT lag(i * 2) OVER (PARTITION BY k ORDER BY ts) FROM wp',
	'SELECT lag(i, i) OVER (PARTITION BY k ORDER BY ts) FROM wp',
	'SELECT first_value(i) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING) FROM wp',
	'SELECT * FROM (SELECT k, row_number() OVER (PARTITION BY k ORDER BY ts) AS n FROM wp) AS x WHERE n < 3',
	'SELECT lag(i) OVER (PARTITION BY k ORDER BY ts) FROM wp_h']) AS query;
EXPLAIN (COSTS OFF) SELECT k, ts - lag(ts) OVER (PARTITION BY k ORDER BY ts) AS gap FROM wp;
SET strata.enable_windows = off;
SELECT wp_way('SELECT k, ts - lag(ts) OVER (PARTITION BY k ORDER BY ts) FROM wp');
DROP TABLE wp, wp_h;
DROP FUNCTION wp_way;
