-- Hash joins of batches with a small side, whose columns conditions, keys and aggregates read: the answer is the same by vectors, row by row, and as a heap's.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET strata.batch_rows = 500;
SET max_parallel_workers_per_gather = 0;
SET strata.enable_join_vectors = on;
SET strata.enable_vector_agg = on;
SET enable_nestloop = off;
SET enable_mergejoin = off;
CREATE TABLE jv (ts timestamptz NOT NULL, k text, zone int, v int, f float8, num numeric, small int2, ok bool, doc jsonb);
SELECT count(*) FROM create_hypertable('jv', 'ts', chunk_time_interval => interval '12 hours');
ALTER TABLE jv SET (strata.segmentby = 'k', strata.orderby = 'ts DESC');
CREATE TABLE jv_h (LIKE jv);
INSERT INTO jv_h SELECT timestamptz '2020-01-01Z' + g * interval '10 seconds', CASE WHEN g % 21 > 0 THEN 'k' || g % 21 END, CASE WHEN g % 17 > 0 THEN g % 9 END,
	CASE WHEN g % 13 > 0 THEN g END, CASE g % 8 WHEN 3 THEN '-0' WHEN 4 THEN 'NaN' ELSE (g % 8)::float8 / 4 END, (g % 3)::numeric(8, 2), (g % 40)::int2, g % 3 = 0,
	jsonb_build_object('a', g % 5, 'b', 'x' || g % 4) FROM generate_series(0, 8639) AS g;
INSERT INTO jv SELECT * FROM jv_h;
SELECT count(compress_chunk(c)) FROM show_chunks('jv') AS c;
WITH late AS (INSERT INTO jv_h SELECT timestamptz '2020-01-01Z' + g * interval '3 minutes', 'k' || g % 23, g % 12, -g, CASE WHEN g % 2 = 0 THEN 'NaN' ELSE 0.25 END, 'NaN', 7, NULL, '{"a": 2}'
	FROM generate_series(0, 430) AS g RETURNING *) INSERT INTO jv SELECT * FROM late;
DELETE FROM jv WHERE v % 100 = 7;
DELETE FROM jv_h WHERE v % 100 = 7;
-- by text: k1 has nulls, k19 and later are missing, one that no row has; by numbers: far from each other, near; by what is equal in other bytes; by two columns
CREATE TABLE jvd AS SELECT 'k' || g AS k, CASE WHEN g <> 1 THEN 'region ' || g % 3 END AS region, CASE WHEN g <> 1 THEN g END AS size, g::float8 / 8 AS lim,
	repeat('long ' || g, 500) AS note, g % 2 = 0 AS even FROM generate_series(0, 18) AS g UNION ALL VALUES (NULL, 'nowhere', 0, 0, 'none', NULL), ('none', 'none', 1, 1, 'none', true);
CREATE TABLE jvz AS SELECT g::bigint AS zone, 'zone ' || g AS name, g * 1000 AS v, g::int2 AS s FROM generate_series(0, 6) AS g UNION ALL VALUES (NULL::bigint, 'null', NULL::int, NULL::int2);
CREATE TABLE jvf AS SELECT * FROM (VALUES (0::float8, 'zero'), ('NaN', 'nan'), (0.25, 'quarter'), (NULL, 'null')) AS x (f, name);
CREATE TABLE jvp AS SELECT 'k' || g % 7 AS k, g / 7 AS zone, g AS n FROM generate_series(0, 48) AS g;
-- rows with equal keys
CREATE TABLE jvt AS SELECT 'k' || g % 5 AS k, g AS n FROM generate_series(0, 9) AS g;
ANALYZE jv, jv_h, jvd, jvz, jvf, jvp, jvt;
CREATE FUNCTION jv_differ(queries text[]) RETURNS TABLE (query text, answers text[]) LANGUAGE plpgsql AS $$
DECLARE
	way text;
	one text;
BEGIN
	FOREACH query IN ARRAY queries LOOP
		answers := '{}';
		FOREACH way IN ARRAY ARRAY['vectors', 'vectors alone', 'rows', 'heap'] LOOP
			one := CASE WHEN way = 'heap' THEN regexp_replace(query, '\mjv\M', 'jv_h', 'g') ELSE query END;
			PERFORM set_config('strata.enable_join_vectors', CASE WHEN way ~ 'vectors' THEN 'on' ELSE 'off' END, true),
				set_config('strata.enable_join_aggregation', CASE WHEN way = 'vectors alone' THEN 'off' ELSE 'on' END, true);
			BEGIN
				EXECUTE 'SELECT string_agg(x::text, '';'' ORDER BY x::text COLLATE "C") FROM (' || one || ') AS x' INTO one;
			EXCEPTION WHEN division_by_zero THEN
				one := SQLERRM;
			END;
			answers := answers || coalesce(one, '-');
		END LOOP;
		PERFORM set_config('strata.enable_join_vectors', 'on', true), set_config('strata.enable_join_aggregation', 'on', true);
		SELECT array_agg(DISTINCT left(a, 200)) INTO answers FROM unnest(answers) AS a;
		IF cardinality(answers) <> 1 THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
SELECT * FROM jv_differ(ARRAY[
	-- keys that are constant in a batch, that are not, and of both
	'SELECT region, sum(v * size), count(*), max(size), min(region), avg(f + lim) FROM jv JOIN jvd USING (k) WHERE f <> ''NaN'' GROUP BY 1',
	'SELECT jv.k, count(*) FROM jv JOIN jvd USING (k) WHERE f > lim GROUP BY 1',
	'SELECT count(*) FROM jv JOIN jvd USING (k) WHERE v > size * 100',
	'SELECT name, count(*), sum(jv.v - z.v), max(z.name) FROM jv JOIN jvz AS z USING (zone) GROUP BY 1',
	'SELECT zone, name, count(*) FROM jv JOIN jvz AS z USING (zone) WHERE jv.v % 7 > z.s GROUP BY 1, 2',
	'SELECT name, count(*), max(ts) FROM jv JOIN jvz AS z ON z.s = small GROUP BY 1',
	'SELECT name, sum(jv.v + z.v) FROM jv JOIN jvz AS z ON z.v = jv.v GROUP BY 1',
	'SELECT name, count(*), min(f) FROM jv JOIN jvf USING (f) GROUP BY 1',
	'SELECT n, count(*), sum(n * v) FROM jv JOIN jvp USING (k, zone) GROUP BY 1',
	'SELECT n % 3, max(jv.k || n) FROM jv JOIN jvp USING (k, zone) WHERE n <> v % 50 GROUP BY 1',
	'SELECT even, ok, count(*), bool_and(even OR ok) FROM jv JOIN jvd USING (k) GROUP BY 1, 2',
	'SELECT length(note), max(note), count(*) FROM jv JOIN jvd USING (k) WHERE v + size > 400 GROUP BY note',
	'SELECT lower(region) || zone, count(*) FILTER (WHERE v > size * 40), sum(size) FILTER (WHERE even) FROM jv JOIN jvd USING (k) GROUP BY 1',
	'SELECT region, num, sum(num * size), sum(num + lim::numeric) FROM jv JOIN jvd USING (k) GROUP BY 1, 2',
	'SELECT doc->>''b'', count(*), max(size) FROM jv JOIN jvd USING (k) WHERE (doc->>''a'')::int > size % 4 GROUP BY 1',
	'SELECT date_trunc(''hour'', ts + size * interval ''1 minute''), count(*) FROM jv JOIN jvd USING (k) GROUP BY 1',
	'SELECT region, date_trunc(''hour'', ts), sum(v * size) FROM jv JOIN jvd USING (k) GROUP BY 1, 2 HAVING sum(size) > 200',
	'SELECT region, size % 3, sum(v * size), count(*) FROM jv JOIN jvd USING (k) GROUP BY ROLLUP (1, 2)',
	'SELECT region, count(DISTINCT v % 10 + size), count(DISTINCT note), percentile_cont(0.5) WITHIN GROUP (ORDER BY v + size) FROM jv JOIN jvd USING (k) GROUP BY 1',
	'SELECT region, array_agg(v + size ORDER BY ts, v)::text FROM jv JOIN jvd USING (k) WHERE v < 700 GROUP BY 1',
	'SELECT count(*), max(size), sum(v * size) FROM jv JOIN jvd USING (k) WHERE region = ''no such''',
	'SELECT region, max(size) FROM jv JOIN jvd USING (k) WHERE region = ''no such'' GROUP BY 1',
	-- two small sides; one of groups of the same table
	'SELECT region, name, sum(jv.v * size + z.v) FROM jv JOIN jvd USING (k) JOIN jvz AS z USING (zone) GROUP BY 1, 2',
	'SELECT region, count(*), sum(z.v) FROM jv JOIN jvd USING (k) LEFT JOIN jvz AS z USING (zone) WHERE size > coalesce(z.s, 0) GROUP BY 1',
	'SELECT jv.k, count(*), max(jv.v - m.mean) FROM jv JOIN (SELECT k, avg(v) AS mean FROM jv GROUP BY 1) AS m USING (k) WHERE jv.v > m.mean + 40 GROUP BY 1',
	'SELECT jv.zone, count(*) FROM jv JOIN (SELECT zone, max(f) AS most FROM jv GROUP BY 1) AS m USING (zone) WHERE jv.f < m.most GROUP BY 1',
	-- rows of nulls, conditions of the join and above it
	'SELECT region, count(*), sum(v * coalesce(size, 1)), count(size), min(note) FROM jv LEFT JOIN jvd USING (k) GROUP BY 1',
	'SELECT region, size, count(*), max(v) FROM jv LEFT JOIN jvd ON jvd.k = jv.k AND v > size * 100 GROUP BY 1, 2',
	'SELECT count(*), sum(coalesce(size, v)) FROM jv LEFT JOIN jvd ON jvd.k = jv.k AND jv.v > size * 100 WHERE size IS NULL OR jv.zone > 3',
	'SELECT zone, count(*), sum(coalesce(size, -1)) FROM jv LEFT JOIN (SELECT * FROM jvd WHERE false) AS d USING (k) GROUP BY 1',
	'SELECT name, count(*), count(z.v) FROM jv LEFT JOIN jvz AS z ON z.zone = jv.zone AND z.v < jv.v GROUP BY 1',
	-- rows of the small side that are joined with none come last
	'SELECT region, size, count(v), sum(v * size), max(d.k) FROM jvd AS d LEFT JOIN jv USING (k) GROUP BY 1, 2',
	'SELECT d.k, count(ts), max(f), max(note) FROM jvd AS d LEFT JOIN jv ON jv.k = d.k AND jv.v > d.size * 300 GROUP BY 1',
	'SELECT d.k, count(ts), max(f) FROM jvd AS d LEFT JOIN jv ON jv.k = d.k AND jv.v > 100000 GROUP BY 1',
	'SELECT d.even, count(*), sum(size), sum(coalesce(v, size)) FROM jvd AS d LEFT JOIN jv ON jv.k = d.k AND jv.zone = 3 WHERE jv.k IS NULL OR v > size * 99 GROUP BY 1',
	'SELECT z.name, count(jv.k), sum(coalesce(jv.v, z.v)), bool_and(ok) FROM jvz AS z LEFT JOIN jv ON jv.zone = z.zone AND jv.v % 3 > z.s GROUP BY 1',
	'SELECT z.name, region, count(*), sum(coalesce(jv.v, z.v, size)) FROM jvz AS z LEFT JOIN (jv JOIN jvd USING (k)) ON jv.zone = z.zone AND z.v < jv.v GROUP BY 1, 2',
	'SELECT z.name, d.region, count(jv.v), sum(coalesce(jv.v, z.v, size)) FROM jvz AS z LEFT JOIN jv USING (zone) LEFT JOIN jvd AS d ON d.k = jv.k AND d.size < z.s * 5 GROUP BY 1, 2',
	'SELECT d.region, count(DISTINCT jv.zone), array_agg(v + size ORDER BY ts, v)::text FROM jvd AS d LEFT JOIN jv ON jv.k = d.k AND jv.v < 300 GROUP BY 1',
	'SELECT n % 1000, count(*), count(ts), sum(coalesce(zone, -1)) FROM generate_series(1, 12000) AS n LEFT JOIN jv ON jv.v = n AND n % 5 > zone GROUP BY 1',
	'SELECT n, count(*), sum(v * n) FROM jvt LEFT JOIN jv USING (k) GROUP BY 1',
	'SELECT region, count(*), sum(v * size) FROM jv FULL JOIN jvd USING (k) GROUP BY 1',
	-- semi and anti joins
	'SELECT sum(v + small), count(*) FROM jv WHERE k IN (SELECT k FROM jvd WHERE size > 3)',
	'SELECT abs(f), count(*) FROM jv WHERE zone IN (SELECT zone FROM jvz WHERE s < 3) GROUP BY 1',
	'SELECT sum(v + small), count(*) FROM jv WHERE k IN (SELECT k FROM jvt)',
	'SELECT sum(v + small), count(*) FROM jv WHERE EXISTS (SELECT FROM jvt WHERE jvt.k = jv.k AND jvt.n < v % 9)',
	'SELECT sum(v + small), count(*) FROM jv WHERE EXISTS (SELECT FROM jvd WHERE jvd.k = jv.k AND jvd.size < v % 9)',
	'SELECT abs(f), count(*) FROM jv WHERE NOT EXISTS (SELECT FROM jvd WHERE jvd.k = jv.k AND size > 4) GROUP BY 1',
	'SELECT abs(f), count(*) FROM jv WHERE NOT EXISTS (SELECT FROM jvt WHERE jvt.k = jv.k) GROUP BY 1',
	'SELECT abs(f), count(*) FROM jv WHERE NOT EXISTS (SELECT FROM jvd WHERE jvd.k = jv.k AND size * 100 < jv.v) GROUP BY 1',
	-- equal keys: row by row after all
	'SELECT n, sum(v * n) FROM jv JOIN jvt USING (k) GROUP BY 1',
	'SELECT n, sum(v * coalesce(n, 2)) FROM jv LEFT JOIN jvt USING (k) GROUP BY 1',
	'SELECT n, region, sum(v * n), max(size) FROM jv JOIN jvt USING (k) JOIN jvd USING (k) GROUP BY 1, 2',
	-- errors of rows that are joined, not of others
	'SELECT region, sum(1000 / (size - 40)) FROM jv JOIN jvd USING (k) GROUP BY 1',
	'SELECT region, sum(1000 / (size - 4)) FROM jv JOIN jvd USING (k) WHERE jv.v > 100 GROUP BY 1',
	'SELECT region, sum(1000 / (size - 4)) FROM jv JOIN jvd USING (k) WHERE jv.k <> ''k4'' GROUP BY 1',
	'SELECT region, count(*) FROM jv JOIN jvd USING (k) WHERE size <> 4 AND v / (size - 4) > 10 GROUP BY 1',
	'SELECT region, count(*) FROM jv JOIN jvd ON jvd.k = jv.k AND v / (size - 4) > 10 GROUP BY 1',
	'SELECT upper(region), count(*) FROM jv JOIN jvd USING (k) WHERE 100 / (v - 50) < size GROUP BY 1']);
-- other collations, and types of one key that differ
CREATE COLLATION jv_nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE jvc AS SELECT upper(k) COLLATE jv_nocase AS k, size FROM jvd;
ANALYZE jvc;
SELECT * FROM jv_differ(ARRAY[
	'SELECT c.k, sum(v * size) FROM jv JOIN jvc AS c ON c.k = jv.k COLLATE jv_nocase GROUP BY 1',
	'SELECT min(lower(c.k)), sum(v * size) FROM jv LEFT JOIN jvc AS c ON c.k = jv.k COLLATE jv_nocase AND jv.v > size GROUP BY c.size',
	'SELECT c.size, sum(v * size) FROM jv JOIN jvd AS c ON c.k::varchar = jv.k GROUP BY 1',
	'SELECT c.size, sum(v * size) FROM jv JOIN (SELECT k::bpchar AS k, size FROM jvd) AS c ON c.k = jv.k::bpchar GROUP BY 1',
	'SELECT z.name, sum(jv.v * z.s) FROM jv JOIN jvz AS z ON z.s = jv.zone GROUP BY 1',
	'SELECT d.day, count(*), max(n - v) FROM jv JOIN (SELECT date ''2020-01-01'' + g AS day, g AS n FROM generate_series(0, 9) AS g) AS d ON d.day = jv.ts::date GROUP BY 1']);
-- again and again: a subquery of the row, with a small side that stays and one that changes; a generic plan; a cursor; limits
SELECT z.name, x.* FROM jvz AS z CROSS JOIN LATERAL (SELECT count(*), sum(v * size) FROM jv JOIN jvd USING (k) WHERE jv.zone = z.zone) AS x ORDER BY 1;
SELECT z.name, x.* FROM jvz AS z CROSS JOIN LATERAL (SELECT count(*), sum(v * size) FROM jv_h AS jv JOIN jvd USING (k) WHERE jv.zone = z.zone) AS x ORDER BY 1;
SELECT z.name, x.* FROM jvz AS z CROSS JOIN LATERAL (SELECT count(*), sum(v * (size - z.s)) FROM jv JOIN (SELECT * FROM jvd WHERE size > z.s * 2 OFFSET 0) AS d USING (k) WHERE jv.v > d.size + z.s) AS x ORDER BY 1;
SELECT z.name, x.* FROM jvz AS z CROSS JOIN LATERAL (SELECT count(*), sum(v * (size - z.s)) FROM jv_h AS jv JOIN (SELECT * FROM jvd WHERE size > z.s * 2 OFFSET 0) AS d USING (k) WHERE jv.v > d.size + z.s) AS x ORDER BY 1;
SELECT z.name, x.* FROM jvz AS z CROSS JOIN LATERAL (SELECT count(*), sum(v * n) FROM jv JOIN (SELECT * FROM jvt WHERE n > z.s AND n < 8 OFFSET 0) AS d USING (k)) AS x ORDER BY 1;
SELECT z.name, x.* FROM jvz AS z CROSS JOIN LATERAL (SELECT count(*), sum(v * n) FROM jv_h AS jv JOIN (SELECT * FROM jvt WHERE n > z.s AND n < 8 OFFSET 0) AS d USING (k)) AS x ORDER BY 1;
SELECT z.name, x.* FROM jvz AS z CROSS JOIN LATERAL (SELECT count(*), count(v), sum(coalesce(v, size) - z.s) FROM (SELECT * FROM jvd WHERE size > z.s * 2 OFFSET 0) AS d LEFT JOIN jv ON jv.k = d.k AND jv.zone = z.zone) AS x ORDER BY 1;
SELECT z.name, x.* FROM jvz AS z CROSS JOIN LATERAL (SELECT count(*), count(v), sum(coalesce(v, size) - z.s) FROM (SELECT * FROM jvd WHERE size > z.s * 2 OFFSET 0) AS d LEFT JOIN jv_h AS jv ON jv.k = d.k AND jv.zone = z.zone) AS x ORDER BY 1;
PREPARE jv_of(int) AS SELECT region, count(*), sum(v * size) FROM jv JOIN jvd USING (k) WHERE v > size + $1 GROUP BY 1 ORDER BY 1 LIMIT 2;
SET plan_cache_mode = force_generic_plan;
EXECUTE jv_of(100);
EXECUTE jv_of(8000);
BEGIN;
DECLARE c CURSOR FOR SELECT region, sum(v * size) FROM jv JOIN jvd USING (k) GROUP BY 1 ORDER BY 1;
FETCH 1 FROM c;
FETCH 2 FROM c;
COMMIT;
-- small sides beyond memory
CREATE TABLE jvb AS SELECT g AS v, repeat('x', 200) || g AS pad, g % 7 AS n FROM generate_series(1, 9000) AS g;
ANALYZE jvb;
SET work_mem = '64kB';
SET strata.agg_least_groups = 16;
SET hash_mem_multiplier = 1;
SELECT * FROM jv_differ(ARRAY[
	'SELECT n, count(*), sum(zone * n), max(pad) FROM jv JOIN jvb USING (v) GROUP BY 1',
	'SELECT pad, n, count(*), sum(zone * n) FROM jv LEFT JOIN jvb USING (v) GROUP BY 1, 2',
	'SELECT region, v, sum(num * size), string_agg(note, '','' ORDER BY note) FROM jv JOIN jvd USING (k) GROUP BY 1, 2']);
RESET work_mem;
RESET hash_mem_multiplier;
SELECT * FROM jv_differ(ARRAY[
	'SELECT n, count(*), sum(zone * n), max(pad) FROM jv JOIN jvb USING (v) GROUP BY 1',
	'SELECT pad, n, count(*), sum(zone * n) FROM jv LEFT JOIN jvb USING (v) GROUP BY 1, 2']);
DROP TABLE jv, jv_h, jvd, jvz, jvf, jvp, jvt, jvc, jvb;
DROP COLLATION jv_nocase;
DROP FUNCTION jv_differ;
