-- time_bucket_gapfill, locf, interpolate: what is documented, odd places, and errors.
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
CREATE TABLE gap (time int, dev int, v int, f float8, txt text);
INSERT INTO gap VALUES (1, 1, 10, 1.5, 'a'), (5, 1, 50, NULL, 'b'), (6, 2, 60, 6, NULL), (9, 1, 90, 9.5, 'd');

-- documented examples
SELECT time_bucket_gapfill(2, time, 0, 12) b, sum(v), locf(sum(v)), interpolate(sum(v)), count(*), coalesce(count(*), 0) FROM gap GROUP BY b ORDER BY b;
SELECT * FROM (SELECT time_bucket_gapfill(4, time, -5, 13), locf(avg(v)::int, treat_null_as_missing := true)
	FROM (VALUES (0, 0), (8, NULL)) v(time, v) WHERE time BETWEEN 0 AND 10 GROUP BY 1) i ORDER BY 1 DESC;
SELECT time_bucket_gapfill(2, time) b, dev, sum(v), locf(sum(v)), interpolate(max(v)) FROM gap WHERE time >= 0 AND time <= 11 GROUP BY b, dev ORDER BY dev, b;
-- lookups: only where no row of the query answers, with the columns of the group
SELECT time_bucket_gapfill(2, time) b, dev,
	locf(max(v), (SELECT g.v FROM gap g WHERE g.dev = gap.dev AND g.time < 4 ORDER BY g.time DESC LIMIT 1)),
	interpolate(max(f), (SELECT (g.time, g.f) FROM gap g WHERE g.dev = gap.dev AND g.time < 4 ORDER BY g.time DESC LIMIT 1), (SELECT (20, 20.0::float8)))
	FROM gap WHERE time >= 4 AND time < 14 GROUP BY b, dev ORDER BY dev, b;
SELECT time_bucket_gapfill(10, time, 0, 50) b, locf(max(v), 1 / (count(*) - 1)::int) FROM (VALUES (0, 5), (1, 6), (40, 7)) t(time, v) GROUP BY 1 ORDER BY 1;
-- NULLs: carried, left beside; other types
SELECT time_bucket_gapfill(1, time, 0, 11) b, locf(max(txt)), locf(max(txt), 'prev', true) t, interpolate(max(f)) FROM gap GROUP BY b ORDER BY b;
SELECT time_bucket_gapfill(1, time, 0, 4) b, count(*), sum(v) FROM (VALUES (NULL::int, 1), (2, 2), (NULL, 3), (77, 4), (-3, 5)) t(time, v) GROUP BY b ORDER BY b;
SELECT time_bucket_gapfill(2, time, 0, 9) b, g, count(*) FROM (VALUES (2, NULL), (4, 'x'), (6, NULL)) t(time, g) GROUP BY 1, 2 ORDER BY 2, 1;
SELECT time_bucket_gapfill(5, time, 0, 25) b, interpolate(min(v)::smallint), interpolate(min(v)::bigint), interpolate(min(v)::real) FROM (VALUES (0, -7), (15, 8)) t(time, v) GROUP BY b ORDER BY b;
SELECT time_bucket_gapfill(5::bigint, time, 0, 15) b, interpolate(min(v)) FROM (VALUES (0::bigint, -9223372036854775807), (10, 9223372036854775807)) t(time, v) GROUP BY b ORDER BY b;

-- gapfill:F3: SELECT list: expressions over groups and aggregates, windows, DISTINCT, LIMIT, HAVING, set-returning
SELECT time_bucket_gapfill(2, time, 0, 12) b, dev * 10, round(locf(avg(v))) + 1, sum(max(v)) OVER (PARTITION BY dev ORDER BY time_bucket_gapfill(2, time, 0, 12)),
	row_number() OVER (ORDER BY dev, time_bucket_gapfill(2, time, 0, 12)) FROM gap GROUP BY b, dev HAVING max(v) > 10 ORDER BY dev, b DESC LIMIT 5;
SELECT DISTINCT locf(max(v)) FROM gap GROUP BY time_bucket_gapfill(2, time, 0, 12) ORDER BY 1;
SELECT time_bucket_gapfill(4, time, 0, 8), generate_series(1, 2) FROM gap GROUP BY 1 ORDER BY 1, 2;
SELECT count(*), sum(s) FROM (SELECT time_bucket_gapfill(1, time, 0, 1000) b, locf(sum(v)) s FROM gap GROUP BY b) t;
SELECT b FROM (SELECT time_bucket_gapfill(2, time, 0, 10) b, max(v) m FROM gap GROUP BY b) t WHERE m IS NULL ORDER BY b;
SELECT b FROM (SELECT time_bucket_gapfill(2, time, 0, 10) b, max(v) m FROM gap GROUP BY b) t WHERE b > 5 ORDER BY b;
-- ungrouped columns that hang on a key
CREATE TABLE dev (id int PRIMARY KEY, name text);
INSERT INTO dev VALUES (1, 'one'), (2, 'two'), (3, 'three');
SELECT time_bucket_gapfill(4, time, 0, 12) b, d.name, upper(d.name), (SELECT dd.name FROM dev dd WHERE dd.id = d.id), max(v)
	FROM gap JOIN dev d ON d.id = dev GROUP BY b, d.id ORDER BY d.id, b;
-- nothing to fill from
SELECT time_bucket_gapfill(2, time, 0, 6) b, max(v), locf(max(v), 3) FROM gap WHERE false GROUP BY b ORDER BY b;
SELECT time_bucket_gapfill(2, time, 0, 6) b, dev, max(v) FROM gap WHERE v > 1000 GROUP BY b, dev;
SELECT time_bucket_gapfill(2, time, 6, 0) b, max(v) FROM gap WHERE dev = 2 GROUP BY b;

-- bounds: strict and not, either way round, narrowest, inner joins, subqueries, other types
SELECT min(b), max(b) FROM (SELECT time_bucket_gapfill(1, time) b FROM gap WHERE time > 3 AND 8 >= time AND time < 20 AND time >= -5 GROUP BY 1) t;
SELECT min(b), max(b) FROM (SELECT time_bucket_gapfill(1, time) b FROM gap JOIN dev ON id = dev AND time > 3 AND time < 8::bigint GROUP BY 1) t;
SELECT min(b), max(b) FROM (SELECT time_bucket_gapfill(1, time) b FROM gap WHERE time > (SELECT min(time) FROM gap) AND time <= (SELECT max(time) FROM gap) GROUP BY 1) t;
SELECT min(b), max(b), count(*) FROM (SELECT time_bucket_gapfill(1, time) b FROM gap WHERE time = 5 GROUP BY 1) t;
SELECT time_bucket_gapfill('1 day', t) b, count(*) FROM (VALUES (date '2024-03-31')) v(t) WHERE t > timestamp '2024-03-28 10:00' AND t <= timestamp '2024-04-01' GROUP BY b ORDER BY b;
SELECT time_bucket_gapfill('12 hours', t) b, count(*) FROM (VALUES (timestamp '2024-03-31 13:00')) v(t) WHERE t > date '2024-03-30' AND t < date '2024-04-01' GROUP BY b ORDER BY b;
SELECT time_bucket_gapfill('1 month', t, '2024-01-15', '2024-04-15') b, count(*) FROM (VALUES (timestamptz '2024-03-31 13:00')) v(t) GROUP BY b ORDER BY b;
SELECT time_bucket_gapfill('1 month', t, start => '2024-01-15', finish => '2024-02-15') b, count(*) FROM (VALUES (timestamptz '2024-03-31 13:00')) v(t) GROUP BY b ORDER BY b;
-- clocks that change
SELECT time_bucket_gapfill('1 hour', t, 'Europe/Berlin', '2024-03-31 00:00+01', '2024-03-31 05:00+02') b, count(*) FROM (VALUES (timestamptz '2024-03-31 01:30+01')) v(t) GROUP BY b ORDER BY b;
SELECT time_bucket_gapfill('1 hour', t, 'Europe/Berlin', '2024-10-27 00:00+02', '2024-10-27 05:00+01') b, count(*) FROM (VALUES (timestamptz '2024-10-27 02:30+01')) v(t) GROUP BY b ORDER BY b;
SELECT time_bucket_gapfill('40 min', t, 'Europe/Berlin', '2024-03-31 00:00+01', '2024-03-31 06:00+02') b, count(*) FROM (VALUES (timestamptz '2024-03-31 03:10+02')) v(t) GROUP BY b ORDER BY b;
SELECT time_bucket_gapfill('1 day', t, 'Europe/Berlin') AT TIME ZONE 'Europe/Berlin' b, count(*) FROM (VALUES (timestamptz '2024-03-31 03:10+02')) v(t)
	WHERE t >= '2024-03-30 00:00+01' AND t < '2024-04-02 00:00+02' GROUP BY time_bucket_gapfill('1 day', t, 'Europe/Berlin') ORDER BY b;

-- parameters, subqueries, views, functions, CTEs, LATERAL, cursors, INSERT
PREPARE fill(int, int, int) AS SELECT time_bucket_gapfill($1, time, $2, $3) b, count(*) FROM gap GROUP BY 1 ORDER BY 1 DESC LIMIT 3;
EXECUTE fill(3, 0, 20);
SET plan_cache_mode = force_generic_plan;
EXECUTE fill(3, 0, 20);
EXECUTE fill(7, 0, 20);
EXECUTE fill(3, NULL, 20);
EXECUTE fill(NULL, 0, 20);
RESET plan_cache_mode;
CREATE VIEW gap_view AS SELECT time_bucket_gapfill(2, time, 0, 8) b, dev, sum(v), locf(max(v)) FROM gap GROUP BY 1, dev;
SELECT regexp_replace(pg_get_viewdef('gap_view'), '\mgap\.', '', 'g') AS definition;	-- 16 names the table only where it must
SELECT * FROM gap_view WHERE locf IS NOT NULL AND dev = 1 ORDER BY dev, b;
CREATE FUNCTION gap_sql(int) RETURNS TABLE (b int, s bigint) LANGUAGE sql STABLE AS $$ SELECT time_bucket_gapfill(2, time, 0, $1) b, sum(v) FROM gap GROUP BY 1 $$;
CREATE FUNCTION gap_sql_outer(int) RETURNS TABLE (b int, s bigint) LANGUAGE sql STABLE AS $$ SELECT * FROM gap_sql($1) $$;
SELECT * FROM gap_sql(6) WHERE s IS NULL;
SELECT id, f.* FROM dev, LATERAL gap_sql(2 * id + 1) f ORDER BY 1, 2;
SELECT id, (SELECT sum(f.b) FROM gap_sql_outer(2 * id + 1) f) FROM dev ORDER BY 1;
PREPARE from_function AS SELECT * FROM gap_sql_outer(6) ORDER BY 1;
EXECUTE from_function;
CREATE OR REPLACE FUNCTION gap_sql(int) RETURNS TABLE (b int, s bigint) LANGUAGE sql STABLE AS $$ SELECT time_bucket_gapfill(3, time, 0, $1) b, sum(v) FROM gap GROUP BY 1 $$;
EXECUTE from_function;
WITH one AS (SELECT * FROM gap WHERE dev = 1), two AS MATERIALIZED (SELECT 2 AS n)
	SELECT time_bucket_gapfill(2, one.time) b, locf(max(one.v), (SELECT n FROM two)), (SELECT count(*) FROM one o), (SELECT n + dev FROM two)
	FROM one JOIN two ON n > dev WHERE one.time BETWEEN 0 AND 11 GROUP BY b, dev ORDER BY b;
WITH filled AS (SELECT time_bucket_gapfill(2, time, 0, 8) b, sum(v) FROM gap GROUP BY 1) SELECT a.*, c.sum FROM filled a JOIN filled c ON c.b = a.b + 2 ORDER BY 1;
SELECT d.id, g.* FROM dev d, LATERAL (SELECT time_bucket_gapfill(3, gap.time, d.id, d.id + 5) b, count(*), locf(max(v), d.id) FROM gap WHERE gap.dev = d.id GROUP BY 1) g ORDER BY 1, 2;
SELECT id, (SELECT count(*) FROM (SELECT time_bucket_gapfill(id, time, 0, 12) FROM gap GROUP BY 1) t) FROM dev ORDER BY 1;
SELECT time_bucket_gapfill(5, time, 0, 10) b, count(*) FROM gap GROUP BY 1 UNION ALL SELECT time_bucket_gapfill(5, time, 10, 20), -1 FROM gap GROUP BY 1 ORDER BY 1, 2;
CREATE TABLE filled AS SELECT time_bucket_gapfill(2, time, 0, 8) b, sum(v) FROM gap GROUP BY 1;
INSERT INTO filled SELECT time_bucket_gapfill(2, time, 8, 12) b, sum(v) FROM gap WHERE time >= 8 GROUP BY 1;
SELECT * FROM filled ORDER BY b;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT time_bucket_gapfill(2, time, 0, 8) b, locf(sum(v)) FROM gap GROUP BY 1 ORDER BY 1;
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH ALL FROM c;
COMMIT;
SELECT 1 FROM gap_view, gap_view v2 HAVING count(*) = 100 OR count(*) = (SELECT count(*) ^ 2 FROM gap_view);

-- gapfill:F5: errors
SELECT time_bucket_gapfill(2, time) FROM gap GROUP BY 1;
SELECT time_bucket_gapfill(2, time) FROM gap WHERE time > 0 GROUP BY 1;
SELECT time_bucket_gapfill(2, time) FROM gap WHERE time > 0 OR time < 9 GROUP BY 1;
SELECT time_bucket_gapfill(2, time) FROM gap LEFT JOIN dev ON time > 0 AND time < 9 GROUP BY 1;
SELECT time_bucket_gapfill(2, time) FROM gap WHERE time > v AND time < 9 GROUP BY 1;
SELECT time_bucket_gapfill(2, time, NULL, 5) FROM gap GROUP BY 1;
SELECT time_bucket_gapfill(2, time, 0, 1), time_bucket_gapfill(2, time, 0, 2) FROM gap GROUP BY 1, 2;
SELECT time_bucket_gapfill(2, time, 0, 1) + 1 FROM gap GROUP BY 1;
SELECT time_bucket_gapfill(2, time, 0, 1) FROM gap;
SELECT count(*) FROM gap WHERE time_bucket_gapfill(2, time, 0, 1) > 0;
SELECT locf(v) FROM gap;
SELECT interpolate(v) FROM gap;
SELECT time_bucket_gapfill(2, time, 0, 1), locf(dev) FROM gap GROUP BY 1, dev;
SELECT time_bucket_gapfill(2, time, 0, 1), interpolate(dev) FROM gap GROUP BY 1, dev;
SELECT time_bucket_gapfill(2, time, 0, 1), locf(locf(max(dev))) FROM gap GROUP BY 1;
SELECT time_bucket_gapfill(2, time, 0, 1), max(locf(dev)) FROM gap GROUP BY 1;
SELECT time_bucket_gapfill(2, time, 0, 1), locf(lag(max(dev)) OVER ()) FROM gap GROUP BY 1;
SELECT time_bucket_gapfill(dev, time, 0, 1) FROM gap GROUP BY 1;
SELECT time_bucket_gapfill(2, time, dev, 1) FROM gap GROUP BY 1;
SELECT time_bucket_gapfill(0, time, 0, 1) FROM gap GROUP BY 1;
SELECT time_bucket_gapfill(2, time, 0, 8), dev, count(*) FROM gap GROUP BY ROLLUP (1, 2);
SELECT time_bucket_gapfill(2, time, 0, 8), interpolate(max(v), (SELECT (1, 2, 3))) FROM gap WHERE time > 4 GROUP BY 1;
SELECT time_bucket_gapfill(2, time, 0, 8), interpolate(max(v), (SELECT (1, 2.0))) FROM gap WHERE time > 4 GROUP BY 1;
SELECT time_bucket_gapfill(2, time, 0, 8), interpolate(max(v), (SELECT ('1', 2))) FROM gap WHERE time > 4 GROUP BY 1;
SELECT time_bucket_gapfill('1 day', t, timestamp '-infinity', '2020-01-01') FROM (VALUES (timestamp '2020-01-01')) x(t) GROUP BY 1;
SELECT time_bucket_gapfill('1 day', t) FROM (VALUES (timestamp '2020-01-01')) x(t) WHERE t > '2020-01-01' AND t < 'infinity' GROUP BY 1;
SELECT time_bucket_gapfill('1 day', t, NULL::text, '2020-01-01', '2020-01-02') FROM (VALUES (timestamptz '2020-01-01')) x(t) GROUP BY 1;
SELECT time_bucket_gapfill('1 day', t, 'Nowhere/Here', '2020-01-01', '2020-01-02') FROM (VALUES (timestamptz '2020-01-01')) x(t) GROUP BY 1;
SELECT time_bucket_gapfill(100::smallint, t, -32768::smallint, 5::smallint) FROM (VALUES (1::smallint)) x(t) GROUP BY 1;
SELECT count(*) FROM (SELECT time_bucket_gapfill(100::smallint, t, 0::smallint, 32767::smallint) FROM (VALUES (1::smallint)) x(t) GROUP BY 1) t;
-- integers are rounded, halves away from zero, as TimescaleDB does
SELECT time_bucket_gapfill(10, t, 0, 51) b, interpolate(min(s)) s, interpolate(min(i)) i, interpolate(min(l)) l, interpolate(min(f)) f
	FROM (VALUES (0, -3::smallint, -3, -3::bigint, -3::float8), (50, 3, 3, 3, 3)) v(t, s, i, l, f) GROUP BY b ORDER BY b;
SELECT time_bucket_gapfill(1, t, 0, 5) b, interpolate(min(i)) i, interpolate(min(-i)) n, interpolate(min(l)) l
	FROM (VALUES (0, 0, -9223372036854775808), (4, 10, 9223372036854775807)) v(t, i, l) GROUP BY b ORDER BY b;
-- in WHERE, ON and HAVING the bucket of the row
SELECT time_bucket_gapfill(2, time, 0, 12) b, count(*) FROM gap WHERE time_bucket_gapfill(2, time) >= 4 AND time_bucket_gapfill(3, time, 7, 8) < 9 GROUP BY b ORDER BY b;
SELECT time_bucket_gapfill(4, g.time, 0, 12) b, count(*), count(h.time) FROM gap g LEFT JOIN gap h ON time_bucket_gapfill(2, h.time) = g.time - 1 GROUP BY b HAVING time_bucket_gapfill(4, g.time, 0, 12) < 8 ORDER BY b;
-- what is carried may be a column of the group, such as a subquery's aggregate, or in a lookup
SELECT time_bucket_gapfill(2, time, 0, 12) b, locf(a), interpolate(a) FROM (SELECT time, sum(v) AS a FROM gap WHERE dev = 1 GROUP BY time) s WHERE a < 60 GROUP BY b, a ORDER BY a, b;
SELECT time_bucket_gapfill(2, time, 0, 12) b, locf(max(a)), locf((SELECT max(v) FROM gap)) FROM (SELECT time, sum(v) AS a FROM gap GROUP BY time) s GROUP BY b ORDER BY b;
SELECT time_bucket_gapfill(2, time, 0, 1), max(locf(v)) FROM gap GROUP BY 1;
SELECT time_bucket_gapfill(2, time, 0, 1), sum(1 + interpolate(v)) FROM gap GROUP BY 1;
DROP VIEW gap_view;
DROP FUNCTION gap_sql, gap_sql_outer;
DROP TABLE gap, dev, filled;
