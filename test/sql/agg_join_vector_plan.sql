-- Which joins StrataAgg reads by vectors, and what is said of those that turn out to be read row by row.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET strata.enable_join_vectors = on;
SET strata.enable_join_aggregation = on;
SET strata.batch_rows = 500;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE jp (ts timestamptz NOT NULL, k text, zone int, v int, f float8);
SELECT count(*) FROM create_hypertable('jp', 'ts', chunk_time_interval => interval '12 hours');
ALTER TABLE jp SET (strata.segmentby = 'k', strata.orderby = 'ts DESC');
INSERT INTO jp SELECT timestamptz '2020-01-01Z' + g * interval '10 seconds', 'k' || g % 21, g % 5, g, g % 3 FROM generate_series(0, 17279) AS g;
SELECT count(compress_chunk(c)) FROM show_chunks('jp') AS c;
INSERT INTO jp SELECT timestamptz '2020-01-01Z' + g * interval '3 minutes', 'k' || g % 23, g % 6, -g, 1 FROM generate_series(0, 860) AS g;
CREATE TABLE jpd AS SELECT 'k' || g AS k, 'region ' || g % 3 AS region, g AS size FROM generate_series(0, 18) AS g;
CREATE TABLE jpz AS SELECT g AS zone, 'zone ' || g AS name, g AS n FROM generate_series(0, 4) AS g;
CREATE TABLE jpt AS SELECT 'k' || g % 5 AS k, g AS n FROM generate_series(0, 9) AS g;
ANALYZE jp, jpd, jpz, jpt;
CREATE FUNCTION jp_join(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	stage text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ '^ *Join: ' THEN
			RETURN stage || trim(line);
		ELSIF line ~ 'Stage: below a join' THEN
			stage := 'grouped first, ';
		END IF;
	END LOOP;
	RETURN stage || 'row by row';
END $$;
SELECT query, jp_join(query) FROM unnest(ARRAY[
	'SELECT region, sum(v * size) FROM jp JOIN jpd USING (k) GROUP BY 1',
	'SELECT jp.k, count(*) FROM jp JOIN jpd USING (k) WHERE v > size * 100 GROUP BY 1',
	'SELECT region, name, sum(v * size * n) FROM jp JOIN jpd USING (k) JOIN jpz USING (zone) GROUP BY 1, 2',
	'SELECT region, sum(v * coalesce(size, 1)) FROM jp LEFT JOIN jpd USING (k) GROUP BY 1',
	'SELECT sum(v + zone) FROM jp WHERE k IN (SELECT k FROM jpt)',
	'SELECT sum(v + zone) FROM jp WHERE NOT EXISTS (SELECT FROM jpd WHERE jpd.k = jp.k AND size > 5)',
	'SELECT region, count(DISTINCT v + size) FROM jp JOIN jpd USING (k) GROUP BY 1',
	'SELECT jp.k, max(jp.v - m.mean) FROM jp JOIN (SELECT k, avg(v) AS mean FROM jp GROUP BY 1) AS m USING (k) GROUP BY 1',
	'SELECT region, count(v), sum(v * size) FROM jp RIGHT JOIN jpd USING (k) GROUP BY 1',
	'SELECT jpd.k, count(v) FROM jpd LEFT JOIN jp ON jp.k = jpd.k AND v > 100 GROUP BY 1',
	-- groups are far fewer than rows, or not
	'SELECT region, count(*), avg(v) FROM jp JOIN jpd USING (k) GROUP BY 1',
	'SELECT region, time_bucket(''20 minutes'', ts), count(*) FROM jp JOIN jpd USING (k) GROUP BY 1, 2',
	'SELECT region, time_bucket(''1 day'', ts), count(*) FROM jp JOIN jpd USING (k) GROUP BY 1, 2',
	-- rows of both sides that are joined with none; equal keys; keys that are computed; what is not the same each time
	'SELECT region, count(*), sum(v * size) FROM jp FULL JOIN jpd USING (k) GROUP BY 1',
	'SELECT n, sum(v * n) FROM jp JOIN jpt USING (k) GROUP BY 1',
	'SELECT name, sum(v * n) FROM jp JOIN jpz ON jpz.zone = jp.zone + 1 GROUP BY 1',
	'SELECT region, sum(v * size) FROM jp JOIN jpd ON jpd.k = jp.k AND v > size * random() GROUP BY 1']) AS query;
EXPLAIN (COSTS OFF) SELECT region, sum(v * size) FROM jp AS a JOIN jpd USING (k) WHERE ts >= '2020-01-02 18:00Z' AND v > size GROUP BY 1 ORDER BY 1;
-- keys were different when the table was analysed
INSERT INTO jpd VALUES ('k1', 'twice', 1);
SELECT jp_join('SELECT region, sum(v * size) FROM jp JOIN jpd USING (k) GROUP BY 1');
SET strata.enable_join_vectors = off;
SELECT jp_join('SELECT region, sum(v * size) FROM jp JOIN jpd USING (k) GROUP BY 1');
DROP TABLE jp, jpd, jpz, jpt;
DROP FUNCTION jp_join;
