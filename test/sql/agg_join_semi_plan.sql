-- EXISTS, IN and NOT EXISTS look into groups of a large table, not into its rows: plans, and answers beside those of a heap.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET strata.enable_join_vectors = on;
SET strata.enable_join_aggregation = on;
SET strata.enable_vector_agg = on;
SET strata.batch_rows = 500;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE js (gone int, ts timestamptz NOT NULL, k int, b bigint, t text, c varchar(20), n numeric, f float8, v int);
SELECT count(*) FROM create_hypertable('js', 'ts', chunk_time_interval => interval '12 hours');
ALTER TABLE js SET (strata.segmentby = 't', strata.orderby = 'ts DESC');
ALTER TABLE js DROP COLUMN gone;
INSERT INTO js SELECT timestamptz '2020-01-01Z' + g * interval '5 seconds', CASE WHEN g % 31 > 0 THEN g % 400 END, g % 300, 'host ' || g % 30, 'c' || g % 50,
	(g % 40)::numeric, CASE WHEN g % 50 = 0 THEN '-0' WHEN g % 50 = 1 THEN 'NaN' ELSE (g % 50)::float8 END, g % 1000 FROM generate_series(0, 34559) AS g;
SELECT count(compress_chunk(c)) FROM show_chunks('js') AS c;
ALTER TABLE js ADD COLUMN added int DEFAULT 7;
-- late rows, and rows of batches that have changed and gone
INSERT INTO js SELECT timestamptz '2020-01-01Z' + g * interval '3 minutes', CASE WHEN g % 23 > 0 THEN 380 + g % 90 END, g % 6, 'late ' || g % 5, 'c' || g % 60, (g % 45)::numeric(10, 2), g % 60, -g, g % 9
	FROM generate_series(0, 860) AS g;
UPDATE js SET k = k + 1000, t = 'host x', v = -v WHERE ts < '2020-01-01 01:00Z' AND v % 7 = 0;
DELETE FROM js WHERE k IN (11, 12) OR k IS NOT NULL AND v = 500;
CREATE TABLE js_h AS TABLE js;
CREATE TABLE jsd AS SELECT CASE WHEN g % 50 > 0 THEN g END AS k, g::bigint AS b, 'host ' || g AS t, ('c' || g)::varchar(20) AS c, (g * 1.0)::numeric AS n,
	CASE WHEN g = 3 THEN 'NaN' ELSE g::float8 END AS f, g % 3 AS team FROM generate_series(-5, 1500) AS g;
INSERT INTO jsd SELECT * FROM jsd WHERE b % 100 = 7;
CREATE TABLE jsx AS SELECT g AS k, g AS n FROM generate_series(1, 100000) AS g;
CREATE INDEX ON jsx (k);
ANALYZE js, js_h, jsd, jsx;
-- how js is read below the join, and whether answers are those of the heap
CREATE FUNCTION js_semi(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	found text := '';
	answers text[];
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ 'Custom Scan \(StrataAgg\)' THEN
			found := found || ', groups';
		ELSIF line ~ 'Join: by vectors' THEN
			found := found || ' by vectors';
		ELSIF line ~ 'StrataAgg|Stage' THEN
			found := found || ' ' || trim(line);
		ELSIF line ~ '(Nested Loop|Hash|Merge)[A-Za-z ]* (Join|Loop)' OR line ~ 'Nested Loop' THEN
			-- which side is hashed may turn on a sample, and on the version
			found := found || ', ' || replace(regexp_replace(substring(line FROM '(Nested Loop[A-Za-z ]*|Hash [A-Za-z ]*Join|Merge [A-Za-z ]*Join)'),
				'Hash (Left|Right) Join', 'Hash Outer Join'), 'Hash Right ', 'Hash ');
		END IF;
	END LOOP;
	EXECUTE format('SELECT array_agg(a) FROM (SELECT count(*) || string_agg(x::text, '';'' ORDER BY x::text COLLATE "C") FROM (%s) AS x UNION '
		'SELECT count(*) || string_agg(x::text, '';'' ORDER BY x::text COLLATE "C") FROM (%s) AS x) AS y (a)', query, regexp_replace(query, '\mjs\M', 'js_h', 'g')) INTO answers;
	RETURN substr(found, 3) || CASE WHEN cardinality(answers) = 1 THEN '' ELSE ' DIFFERENT: ' || left(answers::text, 1000) END;
END $$;
EXPLAIN (COSTS OFF) SELECT * FROM jsd WHERE EXISTS (SELECT FROM js WHERE js.k = jsd.k AND v > 20 AND ts < '2020-01-01 12:00Z');
CREATE TABLE js_queries (n int, query text);
INSERT INTO js_queries SELECT ordinality, q FROM unnest(ARRAY[
	'SELECT * FROM jsd WHERE EXISTS (SELECT FROM js WHERE js.k = jsd.k AND v > 20)',
	'SELECT * FROM jsd WHERE k IN (SELECT k FROM js WHERE v > 900)',
	'SELECT * FROM jsd WHERE NOT EXISTS (SELECT FROM js WHERE js.k = jsd.k)',
	'SELECT * FROM jsd WHERE NOT EXISTS (SELECT FROM js WHERE js.k = jsd.k AND v > 900)',
	'SELECT jsd.* FROM jsd LEFT JOIN js ON js.k = jsd.k WHERE js.k IS NULL',
	'SELECT jsd.*, js.v FROM jsd LEFT JOIN js ON js.k = jsd.k WHERE js.k IS NULL',
	'SELECT count(*), sum(k) FROM jsd WHERE EXISTS (SELECT FROM js WHERE js.k = jsd.k)',
	'SELECT team, count(*) FROM jsd WHERE NOT EXISTS (SELECT FROM js WHERE js.k = jsd.k) GROUP BY 1',
	-- other types, and some of both sides
	'SELECT * FROM jsd WHERE b IN (SELECT k FROM js)',
	'SELECT * FROM jsd WHERE k IN (SELECT b FROM js)',
	'SELECT * FROM jsd WHERE t IN (SELECT t FROM js)',
	'SELECT * FROM jsd WHERE NOT EXISTS (SELECT FROM js WHERE js.t = jsd.t)',
	'SELECT * FROM jsd WHERE c IN (SELECT c FROM js WHERE v > 10)',
	'SELECT * FROM jsd WHERE t IN (SELECT c FROM js)',
	-- equal values that are not the same: none of ours
	'SELECT * FROM jsd WHERE n IN (SELECT n FROM js)',
	'SELECT * FROM jsd WHERE NOT EXISTS (SELECT FROM js WHERE js.f = jsd.f)',
	-- several columns, and conditions that are no equalities
	'SELECT * FROM jsd WHERE (k, t) IN (SELECT k, t FROM js)',
	'SELECT * FROM jsd WHERE EXISTS (SELECT FROM js WHERE js.t = jsd.t AND js.c = jsd.c)',
	'SELECT * FROM jsd WHERE EXISTS (SELECT FROM js WHERE js.t = jsd.t AND js.c <> jsd.c)',
	'SELECT * FROM jsd WHERE NOT EXISTS (SELECT FROM js WHERE js.t = jsd.t AND js.b > jsd.b)',
	'SELECT * FROM jsd WHERE NOT EXISTS (SELECT FROM js WHERE js.t = jsd.t AND js.added > jsd.team * 4)',
	'SELECT * FROM jsd WHERE EXISTS (SELECT FROM js WHERE js.t = jsd.t AND js.v > jsd.b)',
	'SELECT * FROM jsd WHERE EXISTS (SELECT FROM js WHERE js.k + 1 = jsd.k)',
	'SELECT * FROM jsd WHERE k + 1 IN (SELECT k FROM js)',
	'SELECT * FROM jsd WHERE EXISTS (SELECT FROM js WHERE js.k = jsd.k AND js.k = js.b)',
	'SELECT * FROM jsd WHERE k = 5 AND EXISTS (SELECT FROM js WHERE js.k = jsd.k AND js.t = jsd.t)',
	'SELECT * FROM jsd WHERE t COLLATE "C" IN (SELECT t FROM js)',
	'SELECT * FROM jsd WHERE EXISTS (SELECT FROM js WHERE js.k = jsd.k AND js.v > random() - 5)',
	'SELECT * FROM jsd WHERE EXISTS (SELECT FROM js WHERE js.k = jsd.k AND js IS NOT NULL)',
	'SELECT * FROM jsd WHERE EXISTS (SELECT FROM js WHERE js.k = jsd.k AND js.tableoid > jsd.b)',
	-- groups as the outer side of a lookup
	'SELECT * FROM jsx WHERE k IN (SELECT k FROM js)',
	'SELECT * FROM jsx WHERE k IN (SELECT b FROM js WHERE v < 5)',
	'SELECT * FROM jsx WHERE NOT EXISTS (SELECT FROM js WHERE js.k = jsx.k) AND n < 1000',
	-- among other joins
	'SELECT jsx.* FROM jsx JOIN jsd USING (k) WHERE EXISTS (SELECT FROM js WHERE js.k = jsd.k AND js.b = jsx.n)',
	'SELECT jsx.* FROM jsx JOIN jsd USING (k) WHERE NOT EXISTS (SELECT FROM js WHERE js.k = jsd.k)',
	'SELECT jsd.*, jsx.n FROM jsd LEFT JOIN jsx ON jsx.k = jsd.k AND EXISTS (SELECT FROM js WHERE js.k = jsx.k)',
	'SELECT * FROM jsd WHERE EXISTS (SELECT FROM js WHERE js.k = jsd.k) AND NOT EXISTS (SELECT FROM js WHERE js.t = jsd.t)',
	'SELECT * FROM jsd WHERE EXISTS (SELECT FROM js JOIN jsx ON jsx.k = js.b WHERE js.k = jsd.k)',
	'SELECT * FROM jsd WHERE k IN (SELECT k FROM js UNION ALL SELECT n FROM jsx WHERE n < 10)',
	'SELECT * FROM jsd WHERE k IN (SELECT k FROM js LIMIT 0)',
	-- both sides give vectors
	'SELECT count(*), sum(b) FROM js WHERE v > 900 AND EXISTS (SELECT FROM js AS o WHERE o.k = js.k AND o.v < 100)',
	'SELECT t, count(*) FROM js WHERE NOT EXISTS (SELECT FROM js AS o WHERE o.k = js.k AND o.v < 10) GROUP BY 1',
	-- no rows, and no more than nulls
	'SELECT * FROM jsd WHERE NOT EXISTS (SELECT FROM js WHERE js.k = jsd.k AND v > 5000)',
	'SELECT * FROM jsd WHERE EXISTS (SELECT FROM js WHERE js.k = jsd.k AND js.k IS NULL)',
	'SELECT * FROM jsd WHERE NOT EXISTS (SELECT FROM js WHERE js.k = jsd.k AND js.k IS NULL)',
	'SELECT * FROM jsd WHERE EXISTS (SELECT FROM js WHERE js.k IS NOT DISTINCT FROM jsd.k)',
	'SELECT * FROM jsd WHERE EXISTS (SELECT FROM js WHERE js.ts = to_timestamp(jsd.b))']) WITH ORDINALITY AS q (q);
SELECT n, js_semi(query), query FROM js_queries ORDER BY n;
-- NOT IN looks into a subplan's values, each of which is there once
-- (17 says what is looked for in a subplan)
CREATE FUNCTION js_plan() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXPLAIN (COSTS OFF) SELECT * FROM jsd WHERE k NOT IN (SELECT k FROM js WHERE v > 20 AND ts < '2020-01-01 12:00Z') LOOP
		RETURN NEXT replace(line, '(ANY (k = (hashed SubPlan 1).col1))', '(hashed SubPlan 1)');
	END LOOP;
END $$;
SELECT * FROM js_plan();
INSERT INTO js_queries SELECT 100 + ordinality, q FROM unnest(ARRAY[
	'SELECT * FROM jsd WHERE k NOT IN (SELECT k FROM js WHERE k IS NOT NULL)',
	'SELECT * FROM jsd WHERE k NOT IN (SELECT k FROM js)',
	'SELECT * FROM jsd WHERE k NOT IN (SELECT k FROM js WHERE v > 5000)',
	'SELECT k, k NOT IN (SELECT k FROM js), NOT t = ANY (SELECT t FROM js), c <> ALL (SELECT c FROM js) FROM jsd',
	'SELECT * FROM jsd WHERE b > 100 AND NOT b < ANY (SELECT k FROM js WHERE v > 900)',
	'SELECT * FROM jsd WHERE b NOT IN (SELECT k FROM js WHERE k < 1000) OR t NOT IN (SELECT t FROM js)',
	'SELECT count(*) FROM js WHERE v > 900 AND k NOT IN (SELECT k FROM js AS o WHERE o.v < 200 AND k IS NOT NULL)',
	-- as they are
	'SELECT * FROM jsd WHERE n NOT IN (SELECT n FROM js)',
	'SELECT * FROM jsd WHERE k < 20 AND k NOT IN (SELECT k FROM js WHERE js.t = jsd.t)',
	'SELECT * FROM jsd WHERE k NOT IN (SELECT k FROM js ORDER BY k LIMIT 50)',
	'SELECT * FROM jsd WHERE (k, t) NOT IN (SELECT k, t FROM js WHERE v > 900)',
	'SELECT * FROM jsd WHERE k NOT IN (SELECT k + 1 FROM js WHERE k IS NOT NULL)']) WITH ORDINALITY AS q (q);
SELECT n, js_semi(query), query FROM js_queries WHERE n > 100 ORDER BY n;
-- nested loops and merges
SET enable_hashjoin = off;
SELECT n, js_semi(query) FROM js_queries WHERE n IN (1, 2, 3, 31, 32) ORDER BY n;
SET enable_mergejoin = off;
SELECT n, js_semi(query) FROM js_queries WHERE n IN (31, 32) ORDER BY n;
RESET enable_mergejoin;
RESET enable_hashjoin;
-- rescanned, with another condition each time
SET enable_memoize = off;
SELECT js_semi('SELECT team, (SELECT count(*) FROM jsd AS d WHERE EXISTS (SELECT FROM js WHERE js.k = d.k AND js.v > g.team)) FROM (SELECT DISTINCT team * 100 FROM jsd) AS g (team)');
SELECT js_semi('SELECT g, x.* FROM generate_series(0, 1000, 250) AS g, LATERAL (SELECT count(*) FROM jsd AS d WHERE NOT EXISTS (SELECT FROM js WHERE js.k = d.k AND js.v > g)) AS x');
RESET enable_memoize;
-- prepared, with a generic plan
SET plan_cache_mode = force_generic_plan;
PREPARE js_p (int) AS SELECT count(*), sum(k) FROM jsd WHERE EXISTS (SELECT FROM js WHERE js.k = jsd.k AND v > $1);
PREPARE js_ph (int) AS SELECT count(*), sum(k) FROM jsd WHERE EXISTS (SELECT FROM js_h AS js WHERE js.k = jsd.k AND v > $1);
EXECUTE js_p (990);
EXECUTE js_ph (990);
EXECUTE js_p (10);
EXECUTE js_ph (10);
RESET plan_cache_mode;
-- groups that outgrow memory, and the first rows only
SET work_mem = '64kB';
SET strata.agg_least_groups = 16;
SET hash_mem_multiplier = 1;
SELECT n, js_semi(query) FROM js_queries WHERE n IN (3, 17, 20) ORDER BY n;
SELECT count(*) FROM (SELECT * FROM jsd WHERE k IN (SELECT k FROM js) LIMIT 5) AS x;
RESET work_mem;
RESET hash_mem_multiplier;
BEGIN;
DECLARE c CURSOR FOR SELECT k IS NOT NULL AS found FROM jsd WHERE EXISTS (SELECT FROM js WHERE js.k = jsd.k);
MOVE 300 IN c;
FETCH 1 FROM c;
COMMIT;
-- rows that are changed, locked and deleted by what stands in js
BEGIN;
UPDATE jsd SET team = 99 WHERE EXISTS (SELECT FROM js WHERE js.k = jsd.k);
SELECT count(*) FROM jsd WHERE team = 99;
DELETE FROM jsd WHERE NOT EXISTS (SELECT FROM js WHERE js.k = jsd.k);
SELECT count(*) FROM jsd;
SELECT count(*) FROM (SELECT FROM jsd WHERE k IN (SELECT k FROM js) FOR UPDATE) AS x;
ROLLBACK;
-- as many values as rows: the ordinary plan
SELECT js_semi('SELECT * FROM jsd WHERE EXISTS (SELECT FROM js WHERE js.ts = ''epoch''::timestamptz + b * interval ''1 s'')');
SET strata.enable_join_aggregation = off;
SELECT n, js_semi(query) FROM js_queries WHERE n IN (1, 3) ORDER BY n;
DROP TABLE js, js_h, jsd, jsx, js_queries;
DROP FUNCTION js_semi, js_plan;
