-- Where a nested loop that looks rows up is PostgreSQL's choice of a join, aggregates read the hash join that it would throw away: by vectors, or over groups.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET strata.enable_join_vectors = on;
SET strata.enable_join_aggregation = on;
SET strata.enable_vector_agg = on;
SET strata.batch_rows = 500;
SET max_parallel_workers_per_gather = 0;
SET enable_hashjoin = on;
SET enable_nestloop = on;
CREATE TABLE jk (ts timestamptz NOT NULL, k int, zone int, v int, f float8);
SELECT count(*) FROM create_hypertable('jk', 'ts', chunk_time_interval => interval '12 hours');
ALTER TABLE jk SET (strata.segmentby = 'k', strata.orderby = 'ts DESC');
INSERT INTO jk SELECT timestamptz '2020-01-01Z' + g * interval '5 seconds', g % 21, g % 5, g % 1000, (g % 300)::float8 / 3 FROM generate_series(0, 34559) AS g;
SELECT count(compress_chunk(c)) FROM show_chunks('jk') AS c;
CREATE INDEX jk_k ON jk (k, ts);
INSERT INTO jk SELECT timestamptz '2020-01-01Z' + g * interval '3 minutes', CASE WHEN g % 23 > 0 THEN g % 23 END, g % 6, -g, g FROM generate_series(0, 860) AS g;
CREATE TABLE jk_h AS TABLE jk;
CREATE TABLE jkd AS SELECT g AS k, 'region ' || g % 3 AS region, g * 4::float8 AS lim FROM generate_series(0, 18) AS g;
CREATE TABLE jkz AS SELECT g AS zone, 'zone ' || g AS name, g AS n FROM generate_series(0, 4) AS g;
-- two rows for each k
CREATE TABLE jkt AS SELECT g % 19 AS k, g AS n FROM generate_series(0, 37) AS g;
ANALYZE jk, jk_h, jkd, jkz, jkt;
CREATE FUNCTION jk_join(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	found text := '';
	way text := 'row by row';
	answers text[];
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ '^ *Join: ' THEN
			way := trim(line);
		ELSIF line ~ 'Stage: below a join' THEN
			way := 'grouped first';
		ELSIF line ~ '(Nested Loop|Hash Join|Hash \w+ Join)' THEN
			found := found || ', ' || substring(line FROM '(Nested Loop[A-Za-z ]*|Hash [A-Za-z ]*Join)');
		END IF;
	END LOOP;
	EXECUTE format('SELECT array_agg(a) FROM (SELECT string_agg(x::text, '';'' ORDER BY x::text COLLATE "C") FROM (%s) AS x UNION '
		'SELECT string_agg(x::text, '';'' ORDER BY x::text COLLATE "C") FROM (%s) AS x) AS y (a)', query, regexp_replace(query, '\mjk\M', 'jk_h', 'g')) INTO answers;
	RETURN way || found || CASE WHEN cardinality(answers) = 1 THEN '' ELSE ' DIFFERENT: ' || answers::text END;
END $$;
-- each row that is hashed costs much, those that are looked up by segment do not
SET cpu_operator_cost = 0.05;
-- (versions write the condition one way round or the other)
CREATE FUNCTION jk_plan() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXPLAIN (COSTS OFF) SELECT k, f, lim FROM jk JOIN jkd USING (k) WHERE f > lim AND ts >= '2020-01-02 12:00Z' LOOP
		RETURN NEXT replace(line, '(jkd.k = k)', '(k = jkd.k)');
	END LOOP;
END $$;
SELECT * FROM jk_plan();
CREATE TABLE jk_queries (n int, query text);
INSERT INTO jk_queries SELECT ordinality, q FROM unnest(ARRAY[
	'SELECT region, count(*) FROM jk JOIN jkd USING (k) WHERE f > lim GROUP BY 1',
	'SELECT count(*), min(v), max(f) FROM jkd JOIN jk USING (k) WHERE f > lim AND v > 5',
	'SELECT region, zone, sum(v * n) FROM jk JOIN jkd USING (k) JOIN jkz USING (zone) WHERE f > lim GROUP BY 1, 2 HAVING sum(n) > 10',
	'SELECT region, name, count(*) FROM jk JOIN jkd USING (k) JOIN jkz USING (zone) WHERE f > lim AND n <> v GROUP BY 1, 2',
	'SELECT region, count(v) FROM jk LEFT JOIN jkd ON jkd.k = jk.k AND f > lim GROUP BY 1',
	'SELECT count(*) FROM jk WHERE EXISTS (SELECT FROM jkd WHERE jkd.k = jk.k AND f > lim)',
	'SELECT count(*) FROM jk WHERE NOT EXISTS (SELECT FROM jkd WHERE jkd.k = jk.k AND f > lim)',
	'SELECT count(DISTINCT v) FROM jk JOIN jkd USING (k) WHERE f > lim',
	-- grouped first, whatever rows a row is joined with
	'SELECT region, count(*), sum(v) FROM jk JOIN jkd USING (k) GROUP BY 1',
	'SELECT n, count(*), sum(v) FROM jk JOIN jkt USING (k) GROUP BY 1',
	'SELECT region, name, count(*) FROM jk JOIN jkd USING (k) JOIN jkz USING (zone) GROUP BY 1, 2',
	'SELECT DISTINCT region, zone FROM jk JOIN jkd USING (k)',
	-- several matches; no hash; sets of rows
	'SELECT n, sum(v * n) FROM jk JOIN jkt USING (k) GROUP BY 1',
	'SELECT region, count(*) FROM jk JOIN jkd ON jk.k < jkd.k AND f > lim GROUP BY 1',
	'SELECT unnest(ARRAY[region, ''all'']), count(*) FROM jk JOIN jkd USING (k) WHERE f > lim GROUP BY 1',
	'SELECT region, count(*) FROM jkd, LATERAL (SELECT v FROM jk WHERE jk.k = jkd.k ORDER BY ts LIMIT 3) AS l GROUP BY 1']) WITH ORDINALITY AS x (q, ordinality);
SELECT query, jk_join(query) FROM jk_queries ORDER BY n;
EXPLAIN (COSTS OFF) SELECT region, count(*) FROM jk JOIN jkd USING (k) WHERE f > lim AND ts >= '2020-01-02 12:00Z' GROUP BY 1 ORDER BY 1;
-- a hash join whose values prune costs what is left
EXPLAIN (COSTS OFF) SELECT region, count(*) FROM jk JOIN jkd USING (k) WHERE f > lim AND lim = 8 AND ts >= '2020-01-02 12:00Z' GROUP BY 1;
SET enable_hashjoin = off;
SELECT jk_join(query) FROM jk_queries WHERE n = 1;
SET enable_hashjoin = on;
SET strata.enable_join_vectors = off;
SELECT jk_join(query) FROM jk_queries WHERE n = 1;
DROP TABLE jk, jk_h, jkd, jkz, jkt, jk_queries;
DROP FUNCTION jk_join, jk_plan;
