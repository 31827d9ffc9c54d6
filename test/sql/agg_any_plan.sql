-- How EXPLAIN shows aggregates whose rows are held, and those that are left to PostgreSQL.
SET client_min_messages = error;
CREATE TABLE ap (ts timestamptz NOT NULL, host text, a float8, b float8, i int);
SELECT count(*) FROM create_hypertable('ap', 'ts', chunk_time_interval => interval '12 hours', create_default_indexes => false);
ALTER TABLE ap SET (strata.segmentby = 'host', strata.orderby = 'ts');
INSERT INTO ap SELECT timestamptz '2024-03-09Z' + g * interval '20 seconds', 'host' || g % 5, g % 77, g % 31, g % 9 FROM generate_series(1, 5000) AS g;
SELECT count(compress_chunk(c)) FROM show_chunks('ap') AS c;
INSERT INTO ap SELECT timestamptz '2024-03-09Z' + g * interval '400 seconds', 'host' || g % 5, g % 77, g % 31, g % 9 FROM generate_series(1, 250) AS g;
ANALYZE ap;
EXPLAIN (COSTS OFF) SELECT host, percentile_cont(0.5) WITHIN GROUP (ORDER BY a), array_agg(DISTINCT i), corr(a, b), max(b), regr_count(a, b) FROM ap WHERE ts < '2024-03-09 12:00Z' GROUP BY host ORDER BY host;
EXPLAIN (COSTS OFF) SELECT string_agg(host, ',' ORDER BY ts), json_agg(i), sum(DISTINCT a) FROM ap WHERE ts < '2024-03-09 12:00Z';
CREATE FUNCTION ap_by_us(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	line text;
	found boolean := false;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		found := found OR line ~ 'StrataAgg';
	END LOOP;
	RETURN found;
END $$;
SELECT query, ap_by_us('SELECT ' || query || ' FROM ap') FROM unnest(ARRAY['array_agg(i)', 'rank(3) WITHIN GROUP (ORDER BY i)', 'percentile_cont(0.5) WITHIN GROUP (ORDER BY random())',
	'percentile_cont((SELECT 0.5)) WITHIN GROUP (ORDER BY a)']) AS query;
SELECT ap_by_us('SELECT i, percentile_disc(i / 9.0) WITHIN GROUP (ORDER BY a) FROM ap GROUP BY i');
-- the order of rows without ORDER BY is that of the scan, spilled or not
SET work_mem = '64kB';
SET strata.agg_least_groups = 16;
SET hash_mem_multiplier = 1;
CREATE TABLE ap_order AS SELECT i, array_agg(ts) AS ts, string_agg(host, ' ') AS hosts FROM ap GROUP BY i;
RESET work_mem;
RESET hash_mem_multiplier;
SELECT i FROM (SELECT i, array_agg(ts) AS ts, string_agg(host, ' ') AS hosts FROM ap GROUP BY i EXCEPT SELECT * FROM ap_order) AS q;
SET strata.enable_any_agg = off;
SELECT ap_by_us('SELECT array_agg(i) FROM ap'), ap_by_us('SELECT corr(a, b) FROM ap');
DROP FUNCTION ap_by_us;
DROP TABLE ap, ap_order;
