-- A table is grouped before it is joined with small ones: the answer is the same as without that, and as a heap's.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET strata.enable_join_aggregation = on;
SET strata.batch_rows = 500;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE aj (ts timestamptz NOT NULL, k text, zone int, v int, f float8, num numeric);
SELECT count(*) FROM create_hypertable('aj', 'ts', chunk_time_interval => interval '12 hours');
ALTER TABLE aj SET (strata.segmentby = 'k', strata.orderby = 'ts DESC');
CREATE TABLE aj_h (LIKE aj);
INSERT INTO aj_h SELECT timestamptz '2020-01-01Z' + g * interval '10 seconds', CASE WHEN g % 21 > 0 THEN 'k' || g % 21 END, g % 5,
	CASE WHEN g % 13 > 0 THEN g END, (g % 8)::float8 / 4, (g % 3)::numeric(8, 2) FROM generate_series(0, 17279) AS g;
INSERT INTO aj SELECT * FROM aj_h;
SELECT count(compress_chunk(c)) FROM show_chunks('aj') AS c;
WITH late AS (INSERT INTO aj_h SELECT timestamptz '2020-01-01Z' + g * interval '3 minutes', 'k' || g % 23, g % 6, -g, 'NaN', 'NaN'
	FROM generate_series(0, 860) AS g RETURNING *) INSERT INTO aj SELECT * FROM late;
DELETE FROM aj WHERE v % 100 = 7;
DELETE FROM aj_h WHERE v % 100 = 7;
UPDATE aj SET f = '-0' WHERE v % 100 = 8;
UPDATE aj_h SET f = '-0' WHERE v % 100 = 8;
-- k3 twice, k1 with a null, k19 and later missing, one that no row has
CREATE TABLE ajd AS SELECT 'k' || g AS k, CASE WHEN g <> 1 THEN 'region ' || g % 3 END AS region, g AS size
	FROM generate_series(0, 18) AS g UNION ALL VALUES ('k3', 'elsewhere', 3), (NULL, 'nowhere', 0), ('none', 'none', 1);
CREATE TABLE ajz AS SELECT g AS zone, 'zone ' || g AS name, g::bigint AS wide FROM generate_series(0, 4) AS g;
ANALYZE aj, aj_h, ajd, ajz;
CREATE FUNCTION aj_differ(queries text[]) RETURNS TABLE (query text, answers text[]) LANGUAGE plpgsql AS $$
DECLARE
	way text;
	one text;
BEGIN
	FOREACH query IN ARRAY queries LOOP
		answers := '{}';
		FOREACH way IN ARRAY ARRAY['join_aggregation', 'none', 'heap'] LOOP
			one := CASE WHEN way = 'heap' THEN regexp_replace(query, '\maj\M( AS a)?', 'aj_h AS a') ELSE query END;
			PERFORM set_config('strata.enable_' || way, 'off', true) WHERE way = 'join_aggregation';
			EXECUTE 'SELECT string_agg(x::text, '';'' ORDER BY x::text COLLATE "C") FROM (' || one || ') AS x' INTO one;
			answers := answers || coalesce(one, '-');
			PERFORM set_config('strata.enable_' || way, 'on', true) WHERE way = 'join_aggregation';
		END LOOP;
		SELECT array_agg(DISTINCT a) INTO answers FROM unnest(answers) AS a;
		IF cardinality(answers) <> 1 THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
-- grouped first
SELECT * FROM aj_differ(ARRAY[
	'SELECT region, count(*), sum(v), avg(f), max(v), min(ts), sum(num) FROM aj AS a JOIN ajd USING (k) GROUP BY 1',
	'SELECT region, date_trunc(''hour'', ts), count(v), stddev(v) FROM aj AS a JOIN ajd USING (k) GROUP BY 1, 2',
	'SELECT time_bucket(''6 hours'', ts), count(*) FROM aj AS a JOIN ajd AS d ON d.k = a.k WHERE size > 5 AND v > 100 GROUP BY 1',
	'SELECT count(*), max(f) FROM aj AS a JOIN ajd AS d ON d.k = a.k',
	'SELECT count(*), max(f) FROM aj AS a JOIN ajd AS d ON d.k = a.k WHERE region = ''no such''',
	'SELECT region, name, count(*), sum(v) FILTER (WHERE v > 9) FROM aj AS a JOIN ajd USING (k) JOIN ajz USING (zone) GROUP BY 1, 2',
	'SELECT size + zone, count(*) FROM aj AS a JOIN ajd USING (k) GROUP BY 1',
	'SELECT lower(a.k), count(*) FROM aj AS a JOIN ajd USING (k) GROUP BY 1',
	'SELECT name, count(*) FROM aj AS a JOIN ajz AS z ON z.wide = a.zone GROUP BY 1',
	'SELECT region, count(*) FROM aj AS a LEFT JOIN ajd USING (k) GROUP BY 1',
	'SELECT region, count(*) FROM aj AS a LEFT JOIN ajd AS d ON d.k = a.k AND a.zone = 3 GROUP BY 1',
	'SELECT max(v), count(*) FROM aj AS a WHERE k IN (SELECT k FROM ajd WHERE region = ''region 2'')',
	'SELECT zone, count(*) FROM aj AS a WHERE NOT EXISTS (SELECT 1 FROM ajd WHERE ajd.k = a.k) GROUP BY 1',
	'SELECT region, count(*) AS c FROM aj AS a JOIN ajd USING (k) GROUP BY 1 HAVING sum(v) > 1000 ORDER BY 2 DESC, 1 LIMIT 2',
	'SELECT region FROM aj AS a JOIN ajd USING (k) GROUP BY 1',
	'SELECT region, first(v, ts), last(v, ts) FROM aj AS a JOIN ajd USING (k) WHERE v > 0 AND size <> 3 GROUP BY 1',
	'SELECT region, bool_and(v > 5), var_pop(v) FROM aj AS a JOIN ajd USING (k) GROUP BY 1',
	'SELECT region, count(*) FROM aj AS a JOIN ajd ON ajd.k = a.k AND a.zone < size GROUP BY region']);
-- not so: groups as many as rows; what may raise an error for rows that are joined to nothing; equal values that differ; both sides' columns
SELECT * FROM aj_differ(ARRAY[
	'SELECT region, ts, count(*) FROM aj AS a JOIN ajd USING (k) GROUP BY 1, 2',
	'SELECT region, sum(1000 / zone) FROM aj AS a JOIN ajd USING (k) WHERE zone > 0 GROUP BY 1',
	'SELECT num, region, count(*) FROM aj AS a JOIN ajd USING (k) GROUP BY 1, 2',
	'SELECT abs(f), count(*) FROM aj AS a JOIN ajd USING (k) GROUP BY 1',
	'SELECT region, sum(v * size) FROM aj AS a JOIN ajd USING (k) GROUP BY 1',
	'SELECT region, max(size) FROM aj AS a JOIN ajd USING (k) GROUP BY 1',
	'SELECT region, count(a.v) FROM aj AS a RIGHT JOIN ajd USING (k) GROUP BY 1',
	'SELECT region, count(*) FROM aj AS a FULL JOIN ajd USING (k) GROUP BY 1',
	'SELECT region, size, count(*) FROM aj AS a JOIN ajd USING (k) GROUP BY ROLLUP (1, 2)',
	'SELECT count(*) FROM ajd WHERE k IN (SELECT k FROM aj)',
	'SELECT count(*), max(size) FROM ajd WHERE EXISTS (SELECT FROM aj AS a WHERE a.k = ajd.k AND v > 17000)',
	'SELECT region, count(DISTINCT zone) FROM aj AS a JOIN ajd USING (k) GROUP BY 1']);
-- grouped first, by what DISTINCT is about, too
SELECT * FROM aj_differ(ARRAY[
	'SELECT region, count(DISTINCT zone), count(*), sum(v), min(ts), sum(num) FROM aj AS a JOIN ajd USING (k) GROUP BY 1',
	'SELECT count(DISTINCT zone), sum(DISTINCT zone), avg(DISTINCT zone), max(f) FROM aj AS a JOIN ajd USING (k)',
	'SELECT count(DISTINCT zone), count(*) FROM aj AS a JOIN ajd USING (k) WHERE region = ''no such''',
	'SELECT region, zone, count(DISTINCT a.k), count(DISTINCT zone), count(v) FROM aj AS a LEFT JOIN ajd USING (k) GROUP BY 1, 2',
	'SELECT date_trunc(''hour'', ts), region, count(DISTINCT zone) FROM aj AS a JOIN ajd USING (k) GROUP BY 1, 2',
	'SELECT time_bucket(2, zone), count(DISTINCT zone), count(*) FROM aj AS a JOIN ajd USING (k) GROUP BY 1 HAVING count(DISTINCT a.k) > 2',
	'SELECT region, size, zone, count(DISTINCT zone), count(DISTINCT a.k::varchar), count(*) FROM aj AS a JOIN ajd USING (k) GROUP BY ROLLUP (1, 2, 3)',
	'SELECT region, name, count(DISTINCT a.k) FROM aj AS a JOIN ajd USING (k) JOIN ajz USING (zone) GROUP BY GROUPING SETS ((1), (2), ())',
	'SELECT k, count(DISTINCT zone) FILTER (WHERE v > 3), count(DISTINCT zone) FROM aj AS a JOIN ajd USING (k) GROUP BY 1',
	'SELECT z.zone, x.n FROM ajz AS z, LATERAL (SELECT count(DISTINCT a.k) AS n FROM aj AS a JOIN ajd USING (k) WHERE size > z.zone) AS x',
	'SELECT zone, count(DISTINCT a.k) FROM aj AS a WHERE k IN (SELECT k FROM ajd) GROUP BY 1',
	'SELECT max(size), count(DISTINCT zone) FROM aj AS a JOIN ajd USING (k)']);
SET work_mem = '64kB';
SET strata.agg_least_groups = 16;
SELECT * FROM aj_differ(ARRAY[
	'SELECT time_bucket(40, v), name, count(DISTINCT zone), count(*) FROM aj AS a JOIN ajz USING (zone) GROUP BY 1, 2',
	'SELECT time_bucket(40, v), count(DISTINCT zone), count(DISTINCT name), sum(v) FROM aj AS a JOIN ajz USING (zone) GROUP BY 1']);
RESET work_mem;
-- rows of a join, taken into sets of values, and held
SELECT * FROM aj_differ(ARRAY[
	'SELECT region, count(DISTINCT zone), count(DISTINCT num), sum(DISTINCT size), count(*) FROM aj AS a JOIN ajd USING (k) GROUP BY 1',
	'SELECT count(DISTINCT a.k), count(DISTINCT region), max(ts) FROM aj AS a JOIN ajd USING (k)',
	'SELECT count(DISTINCT region) FROM aj AS a JOIN ajd USING (k) WHERE region = ''no such''',
	'SELECT region, count(DISTINCT region) FROM aj AS a JOIN ajd USING (k) WHERE region = ''no such'' GROUP BY 1',
	'SELECT region, count(DISTINCT f) FILTER (WHERE v > size), avg(DISTINCT v % 50), bool_or(f > 1) FROM aj AS a JOIN ajd USING (k) GROUP BY 1',
	'SELECT date_trunc(''hour'', ts), size % 3, count(DISTINCT a.k || region) FROM aj AS a JOIN ajd USING (k) GROUP BY 1, 2',
	'SELECT name, count(DISTINCT region) FROM aj AS a LEFT JOIN ajd USING (k) FULL JOIN ajz USING (zone) GROUP BY 1',
	'SELECT d.k, count(DISTINCT a.zone), count(DISTINCT a.v) FROM ajd AS d LEFT JOIN aj AS a ON a.k = d.k AND a.v % 7 = 0 GROUP BY 1',
	'SELECT region, percentile_cont(0.9) WITHIN GROUP (ORDER BY v + size), mode() WITHIN GROUP (ORDER BY zone) FROM aj AS a JOIN ajd USING (k) GROUP BY 1',
	'SELECT region, string_agg(DISTINCT a.k, '','' ORDER BY a.k DESC), (array_agg(v ORDER BY ts, v))[3] FROM aj AS a JOIN ajd USING (k) WHERE v < 900 GROUP BY 1',
	'SELECT region, zone, count(DISTINCT num) FROM aj AS a JOIN ajd USING (k) GROUP BY CUBE (1, 2) HAVING count(DISTINCT a.k) > 2',
	'SELECT region, count(DISTINCT a.num) AS c FROM aj AS a JOIN ajd USING (k) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 2',
	'WITH first AS (SELECT k, min(date_trunc(''hour'', ts)) AS cohort FROM aj AS a GROUP BY 1) SELECT cohort, zone, count(DISTINCT b.k) FROM aj AS b JOIN first USING (k) GROUP BY 1, 2',
	'SELECT x.k, count(DISTINCT a.v) FROM aj AS a JOIN aj AS x ON a.ts = x.ts AND a.v <> x.v GROUP BY 1',
	'SELECT (SELECT count(DISTINCT a.zone) FROM aj AS a JOIN ajd AS d USING (k) WHERE d.size = z.zone) AS n, zone FROM ajz AS z',
	'SELECT region, count(DISTINCT 100 / (size - 30)) FROM aj AS a JOIN ajd USING (k) GROUP BY 1']);
-- keys that are now a column, now a function's value, which leaves other bits beside those of its type
CREATE TABLE ajo AS SELECT 'k' || g AS k, CASE WHEN g % 2 = 0 THEN hashtext('g0') END AS i, CASE WHEN g % 2 = 0 THEN 4294967295::oid END AS o,
	CASE WHEN g % 2 = 0 THEN (-5)::int2 END AS s, CASE WHEN g % 2 = 0 THEN chr(100)::"char" END AS c, CASE WHEN g % 3 = 0 THEN date '1999-01-01' END AS d FROM generate_series(0, 20) AS g;
SELECT * FROM aj_differ(ARRAY[
	'SELECT coalesce(i, hashtext(''g0'')), count(*), sum(v) FROM aj AS a JOIN ajo USING (k) GROUP BY 1',
	'SELECT coalesce(o, ''4294967295''), count(*) FROM aj AS a JOIN ajo USING (k) GROUP BY 1',
	'SELECT coalesce(o, hashtext(''g0'')::oid), count(*) FROM aj AS a JOIN ajo USING (k) GROUP BY 1',
	'SELECT coalesce(i::oid, hashtext(''g0'')::oid), max(ts) FROM aj AS a JOIN ajo USING (k) GROUP BY 1',
	'SELECT coalesce(s, (-zone)::int2), count(*) FROM aj AS a JOIN ajo USING (k) GROUP BY 1',
	'SELECT coalesce(c, ''d''), coalesce(d, ts::date), count(*) FROM aj AS a JOIN ajo USING (k) GROUP BY 1, 2',
	'SELECT coalesce(i, hashtext(''g0'')), coalesce(o, hashtext(a.k)::oid), zone, count(*) FROM aj AS a JOIN ajo USING (k) GROUP BY GROUPING SETS ((1, 2), (1, 3), ())']);
DROP TABLE ajo;
-- buckets that cannot be had raise no error for rows that the join drops, and the same one for those that it keeps
CREATE TABLE ajx (ts timestamptz NOT NULL, local timestamp, day date, k text, s int2, i int, b int8) USING strata;
ALTER TABLE ajx SET (strata.segmentby = 'k', strata.orderby = 'ts');
CREATE TABLE ajx_h (LIKE ajx) USING heap;
INSERT INTO ajx_h SELECT timestamptz '2020-01-01Z' + g * interval '10 minutes', timestamp '2020-01-01' + g * interval '1 day', date '2020-01-01' + g, 'k' || g % 4, (g % 100)::int2, g, g FROM generate_series(1, 4000) AS g
	UNION ALL SELECT CASE g % 3 WHEN 0 THEN '4714-11-24 00:00Z BC' WHEN 1 THEN '-infinity' ELSE '294276-12-31 23:59Z' END::timestamptz, CASE g % 2 WHEN 0 THEN '4714-11-24 BC' ELSE 'infinity' END::timestamp,
	CASE g % 2 WHEN 0 THEN '4714-11-24 BC' ELSE 'infinity' END::date, 'last', -32768, -2147483648, -9223372036854775808 FROM generate_series(1, 900) AS g
	UNION ALL SELECT timestamptz '2011-12-27Z' + g * interval '31 minutes', '2011-12-27', '2011-12-27', 'k1', g, g, g FROM generate_series(1, 300) AS g;
INSERT INTO ajx TABLE ajx_h;
SELECT compress_chunk('ajx') IS NOT NULL AS compressed;
CREATE TABLE ajxd AS SELECT * FROM (VALUES ('k1', 1), ('k2', 1), ('k2', 3), ('last', 2)) AS d (k, size);
ANALYZE ajx, ajx_h, ajxd;
CREATE FUNCTION ajx_answer(query text, t text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C") FROM (%s) AS q', regexp_replace(query, '\mTAB\M', t)) INTO result;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE FUNCTION ajx_differ() RETURNS TABLE (query text, strata text, heap text) LANGUAGE sql AS $$
SELECT query, left(ajx_answer(query, 'ajx'), 200), left(ajx_answer(query, 'ajx_h'), 200)
	FROM unnest(ARRAY['time_bucket(5::int2, s)', 'time_bucket(7, i)', 'time_bucket(7::int8, b)', 'time_bucket(0, i)', 'time_bucket(''1 day'', a.ts)', 'time_bucket(''1 month'', local)', 'time_bucket(''3 days'', day)', 'time_bucket(''1 hour'', day)',
		'time_bucket(''1 month 1 day'', ts)', 'date_trunc(''day'', ts)', 'date_trunc(''year'', ts)', 'date_trunc(''foo'', ts)', 'date_trunc(''hour'', local)', 'date_bin(''2 days'', ts, ''2001-01-01'')', 'date_bin(''1 month'', ts, ''2001-01-01'')', 'date_bin(''2 days'', local, ''infinity'')']) AS key,
		unnest(ARRAY['d.size < 2', 'd.size <> 9', 'd.k || ''x'' = ''k1''']) AS cond,
		format('SELECT %s, count(*), max(i) FROM TAB AS a JOIN ajxd AS d USING (k) WHERE %s GROUP BY 1', key, cond) AS query
	WHERE ajx_answer(query, 'ajx') IS DISTINCT FROM ajx_answer(query, 'ajx_h')
$$;
SELECT * FROM ajx_differ();
SET timezone = 'America/St_Johns';
SELECT * FROM ajx_differ();
SET timezone = 'Pacific/Apia';
SELECT * FROM ajx_differ();
SET timezone = 'UTC';
DROP TABLE ajx, ajx_h, ajxd;
DROP FUNCTION ajx_differ, ajx_answer;
-- again and again: a subquery of the row, a prepared statement with a generic plan, a cursor
SELECT z.name, x.* FROM ajz AS z CROSS JOIN LATERAL (SELECT count(*), sum(v) FROM aj AS a JOIN ajd USING (k) WHERE a.zone = z.zone) AS x ORDER BY 1;
PREPARE aj_of(int) AS SELECT region, count(*) FROM aj AS a JOIN ajd USING (k) WHERE zone = $1 GROUP BY 1 ORDER BY 1 LIMIT 2;
SET plan_cache_mode = force_generic_plan;
EXECUTE aj_of(1);
EXECUTE aj_of(77);
BEGIN;
DECLARE c CURSOR FOR SELECT region, count(*) FROM aj AS a JOIN ajd USING (k) GROUP BY 1 ORDER BY 1;
FETCH 1 FROM c;
FETCH 1 FROM c;
COMMIT;
-- beyond memory: groups are spilled below the join and above it
SET work_mem = '64kB';
SET strata.agg_least_groups = 16;
SET hash_mem_multiplier = 1;
SELECT * FROM aj_differ(ARRAY[
	'SELECT region, date_trunc(''minute'', ts) AS m, zone < 3, count(*), sum(num) FROM aj AS a JOIN ajz USING (zone) JOIN ajd USING (k) GROUP BY 1, 2, 3',
	'SELECT region, a.k, date_trunc(''hour'', ts), count(*), sum(num) FROM aj AS a JOIN ajd USING (k) GROUP BY 1, 2, 3']);
DROP TABLE aj, aj_h, ajd, ajz;
DROP FUNCTION aj_differ;
