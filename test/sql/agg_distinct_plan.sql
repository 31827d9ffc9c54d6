-- Which aggregates with DISTINCT StrataAgg takes, and that their sets are spilled beyond memory.
SET client_min_messages = error;
SET timezone = 'UTC';
SET max_parallel_workers_per_gather = 0;
CREATE TABLE adp (ts timestamptz NOT NULL, k text, v int8, f float8, t text);
SELECT count(*) FROM create_hypertable('adp', 'ts', chunk_time_interval => interval '12 hours', create_default_indexes => false);
ALTER TABLE adp SET (strata.segmentby = 'k', strata.orderby = 'ts');
INSERT INTO adp SELECT timestamptz '2024-03-09Z' + g * interval '3 seconds', 'k' || g % 5, g * 7919::int8 % 10007, g / 4.0, 'text' || g % 30 FROM generate_series(1, 25000) AS g;
SELECT count(compress_chunk(c)) FROM show_chunks('adp') AS c;
INSERT INTO adp SELECT ts, k, -v, f, t || 'late' FROM adp WHERE v % 20 = 1;
CREATE FUNCTION adp_plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'StrataAgg|Aggregates:|Row by Row:|Group Key|Spills' THEN
			RETURN NEXT regexp_replace(regexp_replace(line, 'Spills: [1-9]\d*', 'Spills: some'), ' \(actual.*', '');
		END IF;
	END LOOP;
END $$;
SELECT adp_plan('SELECT count(DISTINCT k), sum(DISTINCT v) FROM adp');
SELECT adp_plan('SELECT k, count(DISTINCT v), max(DISTINCT v), sum(f), count(DISTINCT t) FILTER (WHERE v > 0) FROM adp GROUP BY k');
SELECT adp_plan('SELECT time_bucket(''1 hour'', ts), count(DISTINCT t) FROM adp GROUP BY 1');
SET work_mem = '64kB';
SET strata.agg_least_groups = 16;
SET hash_mem_multiplier = 1;
SELECT adp_plan('SELECT count(DISTINCT v), count(DISTINCT t) FROM adp');
SELECT adp_plan('SELECT count(DISTINCT v * 64), count(DISTINCT t) FROM adp');
RESET work_mem;
RESET hash_mem_multiplier;
-- sums of floats, which depend on the order, and what has an order of its own: of rows that are held
SELECT count(*) FILTER (WHERE p LIKE '%StrataAgg%') AS ours FROM adp_plan('SELECT sum(DISTINCT f) FROM adp') AS p;
SELECT count(*) FILTER (WHERE p LIKE '%StrataAgg%') AS ours FROM adp_plan('SELECT string_agg(DISTINCT k, '','' ORDER BY k) FROM adp') AS p;
SET strata.enable_distinct_agg = off;
SELECT count(*) FILTER (WHERE p LIKE '%StrataAgg%') AS ours FROM adp_plan('SELECT count(DISTINCT k) FROM adp') AS p;
SELECT count(*) FILTER (WHERE p LIKE '%StrataAgg%') AS ours FROM adp_plan('SELECT max(DISTINCT k) FROM adp') AS p;
DROP TABLE adp;
DROP FUNCTION adp_plan;
