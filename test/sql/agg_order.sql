-- Groups in the order that ORDER BY wants, sorted by StrataAgg itself: the same rows in the same order as from a heap.
SET client_min_messages = error;
SET max_parallel_workers_per_gather = 0;
SET timezone = 'UTC';
SELECT setseed(0.5);
CREATE TABLE order_heap AS
  SELECT '2026-01-01'::timestamptz + g * interval '1 min' AS ts,
    CASE g % 23 WHEN 5 THEN NULL ELSE 'host' || g % 23 END AS host,
    CASE g % 11 WHEN 3 THEN NULL ELSE g % 11 END::int AS small,
    (g * 7919 % 3001)::int AS wide, CASE g % 5 WHEN 0 THEN 1.0 WHEN 1 THEN 1.00 WHEN 2 THEN NULL ELSE g % 7 END AS num,
    CASE g % 6 WHEN 0 THEN '-0'::float8 WHEN 1 THEN 0 WHEN 2 THEN 'NaN' WHEN 3 THEN '-infinity' WHEN 4 THEN NULL ELSE g % 9 END AS f,
    ('{A,b,B,a,_}'::text[])[1 + g % 5] AS t, g AS v
  FROM generate_series(1, 6000) AS g;
CREATE TABLE order_strata (LIKE order_heap) USING strata WITH (strata.segmentby = 'host', strata.orderby = 'ts');
INSERT INTO order_strata SELECT * FROM order_heap;
SELECT compress_chunk('order_strata') IS NOT NULL AS compressed;
INSERT INTO order_strata SELECT ts + interval '1 year', host, small, wide, num, f, t, v FROM order_heap WHERE v % 50 = 0;
INSERT INTO order_heap SELECT ts + interval '1 year', host, small, wide, num, f, t, v FROM order_heap WHERE v % 50 = 0;
ANALYZE order_heap, order_strata;

CREATE FUNCTION rows_of(query text, tab text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  result text[];
BEGIN
  EXECUTE format('SELECT array_agg(r::text) FROM (%s) AS r', replace(query, 'FROM x', 'FROM ' || tab)) INTO result;
  RETURN result;
END $$;
CREATE FUNCTION same(query text) RETURNS text LANGUAGE sql AS $$
  SELECT CASE WHEN rows_of(query, 'order_heap') IS NOT DISTINCT FROM rows_of(query, 'order_strata')
    THEN 'same, ' || coalesce(cardinality(rows_of(query, 'order_strata')), 0) ELSE 'DIFFERENT' END $$;
CREATE TABLE queries (n int GENERATED ALWAYS AS IDENTITY, q text);
INSERT INTO queries (q) VALUES
  ('SELECT date_trunc(''hour'', ts) AS h, host, count(*), sum(v) FROM x GROUP BY 1, 2 ORDER BY 1, 2'),
  ('SELECT host, date_trunc(''hour'', ts) AS h, count(*) FROM x GROUP BY 1, 2 ORDER BY 2 DESC, 1 NULLS FIRST'),
  ('SELECT host, count(*) FROM x GROUP BY 1 ORDER BY 1 DESC'),
  ('SELECT host, count(*) FROM x GROUP BY 1 ORDER BY 1 DESC NULLS LAST LIMIT 7'),
  ('SELECT small, wide, count(*), min(v) FROM x GROUP BY 1, 2 ORDER BY 1 NULLS FIRST, 2 DESC'),
  ('SELECT wide, small, host, t, max(v) FROM x GROUP BY 1, 2, 3, 4 ORDER BY t COLLATE "C", host, small, wide'),
  ('SELECT wide, small, host, t, max(v) FROM x GROUP BY 1, 2, 3, 4 ORDER BY t, host, small, wide'),
  ('SELECT ts, host, small, wide, num + 0.00 AS num, t, v, count(*) FROM x GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY t, host, ts, v DESC, small, num + 0.00, wide'),
  ('SELECT num + 0.00, count(*) FROM x GROUP BY 1 ORDER BY 1'),
  ('SELECT num + 0.00, host, count(*) FROM x GROUP BY 1, 2 ORDER BY 2, 1 DESC'),
  ('SELECT f + 0 AS f, count(*), sum(v) FROM x GROUP BY 1 ORDER BY 1 NULLS FIRST'),
  ('SELECT t, count(*) FROM x GROUP BY 1 HAVING count(*) > 1 ORDER BY t DESC'),
  ('SELECT t, sum(v) FROM x GROUP BY t ORDER BY t OFFSET 1 LIMIT 2'),
  ('SELECT t, sum(v) AS s FROM x GROUP BY t ORDER BY s DESC, t'),
  ('SELECT small, rank() OVER (ORDER BY small), sum(v) FROM x GROUP BY small ORDER BY small'),
  ('SELECT DISTINCT small, count(*) FROM x GROUP BY small, host ORDER BY small, count(*)'),
  ('SELECT DISTINCT host FROM x ORDER BY host DESC'),
  ('SELECT DISTINCT small, t FROM x ORDER BY t DESC, small'),
  ('SELECT DISTINCT ON (host) host, ts, v FROM x ORDER BY host, ts DESC'),
  ('SELECT h, s FROM (SELECT date_trunc(''day'', ts) AS h, sum(v) AS s FROM x GROUP BY 1 ORDER BY 1 DESC LIMIT 9) AS y'),
  ('SELECT small, count(*) FROM x WHERE v < 0 GROUP BY 1 ORDER BY 1'),
  ('SELECT small + 1, count(*) FROM x GROUP BY small + 1 ORDER BY small + 1'),
  ('SELECT o.small, (SELECT string_agg(c::text, '','') FROM (SELECT t, count(*) AS c FROM x WHERE small = o.small GROUP BY t ORDER BY t) AS y) FROM x AS o WHERE v < 60 GROUP BY 1 ORDER BY 1');
SELECT n, same(q) FROM queries ORDER BY n;
-- groups that do not fit into memory
SET work_mem = '64kB';
SET strata.agg_least_groups = 16;
SET hash_mem_multiplier = 1;
SELECT n, same(q) FROM queries ORDER BY n;
RESET work_mem;
RESET hash_mem_multiplier;
-- among workers
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT n, same(q) FROM queries ORDER BY n;
-- in generic plans, rescanned
PREPARE p(int) AS SELECT host, count(*), max(v) FROM order_strata WHERE small < $1 GROUP BY host ORDER BY host LIMIT 3;
SET plan_cache_mode = force_generic_plan;
EXECUTE p(3);
EXECUTE p(0);
SELECT g, x.* FROM generate_series(1, 2) AS g, LATERAL (SELECT host, count(*) FROM order_strata WHERE small = g
  GROUP BY host ORDER BY host DESC LIMIT 2) AS x ORDER BY g, x.host DESC;
DROP FUNCTION same, rows_of;
DROP TABLE order_heap, order_strata, queries;
