-- Which queries group a table before it is joined with small ones.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET strata.enable_join_aggregation = on;
SET strata.enable_join_vectors = off;
SET strata.batch_rows = 500;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE ap (ts timestamptz NOT NULL, k text, zone int, v int, num numeric);
SELECT count(*) FROM create_hypertable('ap', 'ts', chunk_time_interval => interval '12 hours');
ALTER TABLE ap SET (strata.segmentby = 'k', strata.orderby = 'ts DESC');
INSERT INTO ap SELECT timestamptz '2020-01-01Z' + g * interval '10 seconds', 'k' || g % 21, g % 5, g, g % 3 FROM generate_series(0, 17279) AS g;
SELECT count(compress_chunk(c)) FROM show_chunks('ap') AS c;
INSERT INTO ap SELECT timestamptz '2020-01-01Z' + g * interval '3 minutes', 'k' || g % 23, g % 6, -g, 1 FROM generate_series(0, 860) AS g;
CREATE TABLE apd AS SELECT 'k' || g AS k, 'region ' || g % 3 AS region, g AS size FROM generate_series(0, 18) AS g;
CREATE TABLE apz AS SELECT g AS zone, 'zone ' || g AS name FROM generate_series(0, 4) AS g;
ANALYZE ap, apd, apz;
CREATE FUNCTION ap_stage(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
		IF line ~ 'Stage: below a join' THEN
			RETURN 'grouped first';
		END IF;
	END LOOP;
	RETURN 'joined first';
END $$;
SELECT query, ap_stage(query) FROM unnest(ARRAY[
	'SELECT region, count(*), avg(v), sum(num) FROM ap JOIN apd USING (k) GROUP BY 1',
	'SELECT region, date_trunc(''hour'', ts), max(v) FROM ap JOIN apd USING (k) GROUP BY 1, 2',
	'SELECT region, name, count(*) FROM ap JOIN apd USING (k) JOIN apz USING (zone) GROUP BY 1, 2',
	'SELECT region, count(*) FROM ap LEFT JOIN apd USING (k) GROUP BY 1',
	'SELECT max(v) FROM ap WHERE k IN (SELECT k FROM apd WHERE size > 2)',
	'SELECT region, count(DISTINCT zone), count(*) FROM ap JOIN apd USING (k) GROUP BY 1',
	'SELECT name, count(DISTINCT k) FROM ap JOIN apz USING (zone) GROUP BY ROLLUP (1)',
	-- groups as many as rows; errors for rows that are joined to nothing; equal values that differ; columns of both sides
	'SELECT region, ts, count(*) FROM ap JOIN apd USING (k) GROUP BY 1, 2',
	'SELECT region, sum(1000 / zone) FROM ap JOIN apd USING (k) GROUP BY 1',
	'SELECT num, region, count(*) FROM ap JOIN apd USING (k) GROUP BY 1, 2',
	'SELECT region, sum(v * size) FROM ap JOIN apd USING (k) GROUP BY 1',
	'SELECT region, count(DISTINCT v) FROM ap JOIN apd USING (k) GROUP BY 1',
	'SELECT region, count(DISTINCT zone) FILTER (WHERE v > 9) FROM ap JOIN apd USING (k) GROUP BY 1',
	'SELECT region, count(DISTINCT num) FROM ap JOIN apd USING (k) GROUP BY 1',
	'SELECT region, count(v) FROM ap RIGHT JOIN apd USING (k) GROUP BY 1']) AS query;
EXPLAIN (COSTS OFF) SELECT region, count(*), sum(v) FROM ap AS a JOIN apd USING (k) WHERE ts >= '2020-01-02 18:00Z' GROUP BY 1 ORDER BY 1;
EXPLAIN (COSTS OFF) SELECT region, count(DISTINCT v) FROM ap JOIN apd USING (k) WHERE ts >= '2020-01-02 18:00Z' GROUP BY 1;
SET strata.enable_join_aggregation = off;
-- from 16 on PostgreSQL sorts by v as well, so that DISTINCT need not
CREATE FUNCTION ap_plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		RETURN NEXT regexp_replace(line, '(Sort Key: apd.region), ap.v$', '\1');
	END LOOP;
END $$;
SELECT ap_plan('SELECT region, count(DISTINCT v) FROM ap JOIN apd USING (k) WHERE ts >= ''2020-01-02 18:00Z'' GROUP BY 1');
SELECT ap_stage('SELECT region, count(*), avg(v), sum(num) FROM ap JOIN apd USING (k) GROUP BY 1');
DROP TABLE ap, apd, apz;
DROP FUNCTION ap_stage, ap_plan;
