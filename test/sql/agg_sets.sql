-- GROUPING SETS, ROLLUP and CUBE: the answer is the same as without StrataAgg's sets, without StrataAgg, and as a heap's.
SET client_min_messages = error;
SET timezone = 'UTC';
SET strata.batch_rows = 500;
CREATE COLLATION ags_ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE ags (ts timestamptz NOT NULL, host text, path text, zone int, v int8, f float8, num numeric, b bool, gone int, ci text COLLATE ags_ci);
SELECT count(*) FROM create_hypertable('ags', 'ts', chunk_time_interval => interval '12 hours', create_default_indexes => false);
ALTER TABLE ags SET (strata.segmentby = 'host', strata.orderby = 'ts');
CREATE TABLE ags_h (LIKE ags);
INSERT INTO ags_h SELECT timestamptz '2024-03-09Z' + g * interval '27 seconds', CASE WHEN g % 7 <> 0 THEN 'h' || g % 7 END, CASE WHEN g % 13 <> 0 THEN '/p' || g * 7919::int8 % 11 END,
	CASE WHEN g % 5 <> 0 THEN g % 3 END, CASE WHEN g % 17 <> 0 THEN g * 31 % 1009 END,
	CASE g % 6 WHEN 0 THEN '-0' WHEN 1 THEN '0' WHEN 2 THEN NULL ELSE ((g % 8)::numeric / 4)::text END::float8, CASE g % 5 WHEN 0 THEN 1.5 WHEN 1 THEN 1.50 WHEN 2 THEN NULL ELSE g % 100 END,
	CASE WHEN g % 9 <> 0 THEN g * 3 % 4 = 1 END, 1, CASE WHEN g % 2 = 0 THEN 'Ab' ELSE 'aB' END FROM generate_series(1, 8000) AS g;
INSERT INTO ags SELECT * FROM ags_h;
SELECT count(compress_chunk(c)) > 1 AS many FROM show_chunks('ags') AS c;
WITH late AS (INSERT INTO ags_h SELECT ts, host, path || '/late', zone, -v, CASE WHEN v < 9 THEN 'NaN' ELSE f END, CASE WHEN v = 100 THEN 'NaN' ELSE num END, b, 2, ci
	FROM ags_h WHERE extract(epoch FROM ts)::int8 % 20 = 0 RETURNING *) INSERT INTO ags SELECT * FROM late;
DELETE FROM ags_h WHERE v = 4; DELETE FROM ags WHERE v = 4;
UPDATE ags_h SET b = NULL WHERE v % 50 = 3; UPDATE ags SET b = NULL WHERE v % 50 = 3;
ALTER TABLE ags_h DROP COLUMN gone, ADD COLUMN more int DEFAULT 3;
ALTER TABLE ags DROP COLUMN gone, ADD COLUMN more int DEFAULT 3;
-- h1 twice, h2 without a region, h4 missing
CREATE TABLE agsd AS SELECT 'h' || g AS host, CASE WHEN g <> 2 THEN 'r' || g % 3 END AS region, g % 2 AS rack FROM generate_series(1, 6) AS g WHERE g <> 4 UNION ALL VALUES ('h1', 'r9', 0), (NULL, 'r8', 1);
ANALYZE ags, ags_h, agsd;
CREATE FUNCTION ags_answer(query text, t text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C") FROM (%s) AS q', regexp_replace(query, '\mT\M', t, 'g')) INTO result;
	RETURN result;
END $$;
-- queries whose answer is not a heap's, which is asked once for each
CREATE TABLE ags_heap (asked text PRIMARY KEY, answer text);
-- settings under which it was asked: with all switches off, turning off one more is no other
CREATE TABLE ags_ways (way text, asked text, PRIMARY KEY (asked, way));
CREATE FUNCTION ags_differ(queries text[]) RETURNS TABLE (query text, strata text, heap text) LANGUAGE plpgsql AS $$
DECLARE
	settings text := (SELECT string_agg(name || ' ' || setting, ',' ORDER BY name) FROM pg_settings WHERE name ~ '^strata.enable|work_mem|^hash_mem|parallel|^strata.agg');
BEGIN
	FOREACH query IN ARRAY queries LOOP
		CONTINUE WHEN EXISTS (SELECT FROM ags_ways WHERE asked = query AND way = settings);
		INSERT INTO ags_ways VALUES (settings, query);
		strata := ags_answer(query, 'ags');
		INSERT INTO ags_heap SELECT query, ags_answer(query, 'ags_h') WHERE NOT EXISTS (SELECT FROM ags_heap WHERE asked = query);
		heap := (SELECT answer FROM ags_heap WHERE asked = query);
		IF strata IS DISTINCT FROM heap THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
CREATE TABLE ags_queries AS SELECT format('SELECT %s, count(*), sum(v), avg(f), min(ts), max(path), sum(num) %s, GROUPING(%s), GROUPING(%s, %s) FROM T WHERE %s GROUP BY %s', CASE k[1] WHEN 'f' THEN 'f + 0' ELSE k[1] END, more, k[1], k[2], k[1], w, s) AS query
	FROM unnest(ARRAY[ARRAY['host', 'zone'], ARRAY['path', 'b'], ARRAY['date_trunc(''hour'', ts)', 'path'], ARRAY['f', 'num'], ARRAY['zone % 2', 'upper(path)']]::text[][]) WITH ORDINALITY AS one(x, n),
	LATERAL (SELECT ARRAY[(ARRAY['host', 'path', 'date_trunc(''hour'', ts)', 'f', 'zone % 2'])[(n + 1) / 2], (ARRAY['zone', 'b', 'path', 'num', 'upper(path)'])[(n + 1) / 2]] AS k) AS keys,
	LATERAL (VALUES (format('ROLLUP (%s, %s)', k[1], k[2])), (format('CUBE (%s, %s)', k[1], k[2])), (format('GROUPING SETS ((%s), (%s))', k[1], k[2])),
		(format('GROUPING SETS ((%s, %s), (%s), (%s), (), ())', k[1], k[2], k[1], k[1])), (format('GROUPING SETS ((%s, %s), (%s, %s))', k[1], k[2], k[2], k[1]))) AS sets(s),
	unnest(ARRAY['true', 'v > 500', 'v > 5000']) AS w, unnest(ARRAY['', ', count(DISTINCT path), sum(DISTINCT v), first(v, ts) IS NULL, stddev(v), count(*) FILTER (WHERE b)']) AS more WHERE n % 2 = 1;
SELECT count(*) FROM ags_queries;
SELECT query, left(strata, 300) AS strata, left(heap, 300) AS heap FROM ags_differ(ARRAY(SELECT query FROM ags_queries));
SET strata.enable_grouping_sets = off;
SELECT count(*) FROM ags_differ(ARRAY(SELECT query FROM ags_queries));
RESET strata.enable_grouping_sets;
-- beyond memory
SET work_mem = '64kB';
SET strata.agg_least_groups = 16;
SET hash_mem_multiplier = 1;
SELECT query, left(strata, 300) AS strata, left(heap, 300) AS heap FROM ags_differ(ARRAY(SELECT query FROM ags_queries));
SELECT * FROM ags_differ(ARRAY['SELECT v, host, path, count(*), count(DISTINCT zone), sum(num), max(ts) FROM T GROUP BY CUBE (v, host, path)',
	'SELECT v, ts, sum(f), GROUPING(v, ts) FROM T WHERE f <> ''NaN'' GROUP BY GROUPING SETS ((v), (ts), ())']);
-- states of no values, combined and written to disk
SELECT * FROM ags_differ(ARRAY['SELECT v, host, path, variance(nullif(v, v)), stddev(nullif(num, num)), avg(nullif(num, num)), count(DISTINCT zone), count(DISTINCT ts) FROM T GROUP BY CUBE (v, host, path)']);
RESET work_mem;
RESET hash_mem_multiplier;
-- HAVING, keys of collations and constants, columns that came later, three and more keys, aggregates none, expressions of keys
SELECT * FROM ags_differ(ARRAY['SELECT host, zone, count(*) FROM T GROUP BY ROLLUP (host, zone) HAVING count(*) > 400 AND GROUPING(zone) = 1',
	'SELECT zone, sum(v) FROM T GROUP BY ROLLUP (zone) HAVING zone IS NULL', 'SELECT host FROM T GROUP BY CUBE (host)', 'SELECT host, zone, b FROM T GROUP BY host, ROLLUP (zone, b)',
	'SELECT upper(ci), count(*) FROM T GROUP BY ROLLUP (ci)', 'SELECT more, zone, count(*), max(more) FROM T GROUP BY CUBE (more, zone)',
	'SELECT zone + 1, coalesce(host, ''none''), count(*) FROM T GROUP BY CUBE (zone, host)', 'SELECT zone, zone + 1, count(*) FROM T GROUP BY GROUPING SETS ((zone), (zone + 1))',
	'SELECT host, zone, b, path, count(*), variance(v) FROM T GROUP BY CUBE (host, zone, b, path)', 'SELECT count(*) FROM T GROUP BY GROUPING SETS ((host), ()) HAVING count(*) > 100000',
	'SELECT host, rank() OVER (ORDER BY sum(v) DESC NULLS LAST), sum(v) FROM T GROUP BY ROLLUP (host)', 'SELECT DISTINCT zone, count(*) > 10 FROM T GROUP BY ROLLUP (zone, host)',
	'SELECT host, avg(v) FROM T WHERE host = ''h1'' GROUP BY ROLLUP (host)', 'SELECT GROUPING(host), count(*) FROM T GROUP BY DISTINCT ROLLUP (host, zone), ROLLUP (host, b)']);
-- left to PostgreSQL
SELECT * FROM ags_differ(ARRAY['SELECT zone, array_agg(v ORDER BY v, ts) FROM T GROUP BY ROLLUP (zone)', 'SELECT 1 + 1, zone, count(*) FROM T GROUP BY ROLLUP (1, zone)',
	'SELECT zone, zone, count(*) FROM T GROUP BY ROLLUP (1, 2)', 'SELECT count(*) FROM T GROUP BY ()', 'SELECT count(*), sum(v) FROM T GROUP BY GROUPING SETS ((), ())',
	'SELECT count(*) FROM T GROUP BY CUBE (host, zone, b, path, v % 2, more)']);
-- joins
SELECT * FROM ags_differ(ARRAY['SELECT region, rack, count(*), avg(f), GROUPING(region, rack) FROM T AS a JOIN agsd USING (host) GROUP BY ROLLUP (region, rack)',
	'SELECT region, zone, sum(v), sum(num) FROM T AS a JOIN agsd USING (host) GROUP BY CUBE (region, zone)', 'SELECT region, count(*) FROM T AS a LEFT JOIN agsd AS d ON d.host = a.host GROUP BY ROLLUP (region)',
	'SELECT date_trunc(''day'', ts), region, max(v) FROM T AS a JOIN agsd USING (host) WHERE rack = 7 GROUP BY ROLLUP (1, 2)']);
-- HAVING looks at what the sets made NULL, of any table: a condition of it is none of the rows
SELECT * FROM ags_differ(ARRAY['SELECT zone, count(*) FROM T GROUP BY ROLLUP (zone) HAVING zone IS NULL', 'SELECT zone, b, sum(v) FROM T GROUP BY CUBE (zone, b) HAVING zone IS NULL OR b',
	'SELECT zone, count(*) FROM T WHERE zone = 2 GROUP BY GROUPING SETS ((zone), ()) HAVING zone IS NULL', 'SELECT x, count(*) FROM (SELECT 1 AS x, zone FROM T) s GROUP BY CUBE (x, zone) HAVING x IS NULL']);
SELECT k, sum(v) FROM (VALUES (1, 10), (1, 20), (2, 5)) AS x(k, v) WHERE k = 1 GROUP BY GROUPING SETS ((k), ()) HAVING k IS NULL;
SELECT k, count(*) FROM (SELECT * FROM generate_series(1, 5) AS k) AS x GROUP BY ROLLUP (k) HAVING k IS NULL OR k = 2 ORDER BY 1;
SELECT count(*) FROM (SELECT zone FROM ags_h GROUP BY ROLLUP (zone) HAVING zone IS NULL) AS x;
-- in order
SELECT host, zone, count(*), GROUPING(host, zone) AS g FROM ags WHERE zone < 2 GROUP BY ROLLUP (host, zone) ORDER BY host DESC, zone NULLS FIRST, g DESC LIMIT 8;
-- rescans, parameters, cursors
SELECT z, q.* FROM generate_series(0, 3) AS z, LATERAL (SELECT b, count(*), count(DISTINCT host) FROM ags WHERE zone = z GROUP BY ROLLUP (b)) AS q ORDER BY 1, 2, 3;
SET plan_cache_mode = force_generic_plan;
PREPARE ags_p(int) AS SELECT zone, zone + $1, sum(v) FROM ags WHERE v > $1 GROUP BY CUBE (zone, zone + $1) ORDER BY 1, 2, 3;
EXECUTE ags_p(900);
EXECUTE ags_p(5000);
RESET plan_cache_mode;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT zone, count(*) FROM ags GROUP BY ROLLUP (zone) ORDER BY 1, 2;
FETCH 2 FROM c;
FETCH LAST FROM c;
FETCH PRIOR FROM c;
COMMIT;
-- parallel
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT query, left(strata, 300) AS strata, left(heap, 300) AS heap FROM ags_differ(ARRAY(SELECT query FROM ags_queries WHERE query !~ 'DISTINCT'));
DROP FUNCTION ags_differ, ags_answer;
DROP TABLE ags, ags_h, agsd, ags_queries;
DROP COLLATION ags_ci;
