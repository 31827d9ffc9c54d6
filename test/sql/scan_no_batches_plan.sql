-- A table without batches, as the newest chunk mostly is: aggregates and top-N read its rows as columns.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET max_parallel_workers_per_gather = 0;
CREATE TABLE snb (ts timestamptz NOT NULL, host text, v int, f float8);
SELECT count(*) FROM create_hypertable('snb', 'ts', chunk_time_interval => interval '12 hours', create_default_indexes => false);
ALTER TABLE snb SET (strata.segmentby = 'host', strata.orderby = 'ts DESC');
CREATE TABLE snb_h AS SELECT timestamptz '2024-03-09Z' + g * interval '2 seconds' AS ts, nullif('h' || g * 7 % 11, 'h3') AS host, g % 1000 AS v,
	(ARRAY['NaN', '-0', '0', 'Infinity', '1.5', NULL])[1 + g % 6]::float8 AS f FROM generate_series(0, 19999) AS g;
INSERT INTO snb SELECT * FROM snb_h;
CREATE INDEX ON snb (ts);
VACUUM ANALYZE snb;
EXPLAIN (COSTS OFF) SELECT host, count(*), avg(v) FROM snb GROUP BY host;
EXPLAIN (COSTS OFF) SELECT * FROM snb ORDER BY v DESC, ts LIMIT 5;
-- few rows, by the index; rows that are wanted as rows, or locked
EXPLAIN (COSTS OFF) SELECT host, count(*) FROM snb WHERE ts > '2024-03-09 11:05' GROUP BY host;
EXPLAIN (COSTS OFF) SELECT * FROM snb WHERE v = 7;
EXPLAIN (COSTS OFF) SELECT * FROM snb ORDER BY v LIMIT 1 FOR UPDATE;
SET strata.enable_page_scan = off;
EXPLAIN (COSTS OFF) SELECT host, count(*), avg(v) FROM snb GROUP BY host;
SET strata.enable_page_scan = on;
CREATE FUNCTION snb_differ() RETURNS TABLE (query text, answers bigint) LANGUAGE plpgsql AS $$
DECLARE
	seen text[];
	way text;
	one text;
BEGIN
	FOREACH query IN ARRAY ARRAY[
		'SELECT host, count(*), sum(v), min(f) + 0.0, max(f) + 0.0, count(f) FROM snb GROUP BY host',
		'SELECT f + 0.0, count(*), avg(v) FROM snb GROUP BY f',
		'SELECT host, date_trunc(''hour'', ts), max(v) FROM snb WHERE v > 100 GROUP BY 1, 2',
		'SELECT DISTINCT ON (host) * FROM snb ORDER BY host, ts DESC',
		'SELECT host, last(v, ts), max(ts) FROM snb GROUP BY host',
		'SELECT DISTINCT host FROM snb',
		'SELECT * FROM (SELECT * FROM snb WHERE v % 7 = 1 ORDER BY f DESC NULLS LAST, ts LIMIT 30) AS s',
		'SELECT count(*), count(DISTINCT host), min(ts), max(ts) FROM snb',
		'SELECT * FROM (VALUES (''h1''), (''h2'')) AS w (host), LATERAL (SELECT sum(v), max(ts) FROM snb AS s WHERE s.host = w.host) AS x'] LOOP
		seen := '{}';
		FOREACH way IN ARRAY ARRAY['page_scan', 'scan', 'vector_agg', 'none', 'heap'] LOOP
			PERFORM set_config('strata.enable_' || way, 'off', true) WHERE way NOT IN ('none', 'heap');
			EXECUTE 'SELECT string_agg(x::text, '';'' ORDER BY x::text COLLATE "C") FROM ('
				|| CASE WHEN way = 'heap' THEN replace(query, 'FROM snb', 'FROM snb_h') ELSE query END || ') AS x' INTO one;
			PERFORM set_config('strata.enable_' || way, 'on', true) WHERE way NOT IN ('none', 'heap');
			seen := seen || coalesce(one, '-');
		END LOOP;
		SELECT count(DISTINCT x) INTO answers FROM unnest(seen) AS x;
		IF answers <> 1 THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
SELECT * FROM snb_differ();
DELETE FROM snb WHERE v % 13 = 0;
DELETE FROM snb_h WHERE v % 13 = 0;
SELECT * FROM snb_differ();
-- a plan that is kept while the table gets batches, an older snapshot, and rows behind them
PREPARE snb_q AS SELECT host, count(*), sum(v) FROM snb GROUP BY host ORDER BY host LIMIT 2;
SET plan_cache_mode = force_generic_plan;
EXECUTE snb_q;
BEGIN;
DECLARE snb_c NO SCROLL CURSOR FOR SELECT host, count(*), sum(v) FROM snb GROUP BY host ORDER BY host;
FETCH 1 FROM snb_c;
COMMIT;
SELECT count(compress_chunk(c)) FROM show_chunks('snb') AS c;
EXECUTE snb_q;
SELECT * FROM snb_differ();
INSERT INTO snb SELECT ts, 'late', v, f FROM snb_h WHERE v < 50;
INSERT INTO snb_h SELECT ts, 'late', v, f FROM snb_h WHERE v < 50;
EXECUTE snb_q;
SELECT * FROM snb_differ();
DROP TABLE snb, snb_h;
DROP FUNCTION snb_differ;
