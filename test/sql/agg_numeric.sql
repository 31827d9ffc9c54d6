-- Sums and averages of numerics that batches hold as integers: the same digits and decimals as heap's.
SET client_min_messages = error;
CREATE SCHEMA agg_numeric;
SET search_path = agg_numeric, public;
SET timezone = 'UTC';
SET max_parallel_workers_per_gather = 0;
SET strata.batch_rows = 200;

CREATE DOMAIN price AS numeric(12,3);
CREATE TABLE s (
    ts timestamptz NOT NULL, host text, fixed numeric(10,2), mixed numeric, whole numeric, large numeric, small numeric,
    gaps numeric, odd numeric, same numeric, few numeric, priced price
) USING strata WITH (strata.segmentby = 'host', strata.orderby = 'ts');
CREATE TABLE h (LIKE s) USING heap;
-- mixed has decimals in some batches' rows only, large sums beyond 64 bits, odd what is no integer of 64 bits
INSERT INTO h SELECT '2024-01-01'::timestamptz + i * interval '10 s', 'h' || i % 3, (i * 7919 % 1000000 - 500000) / 100.0,
    CASE WHEN i % 5 = 0 THEN i * 7919 % 1000 / 8.0 WHEN i % 5 = 1 THEN (i * 31 % 977)::numeric(10,4) ELSE i * 77 % 1013 END, i * 7919 % 100000 - 50000,
    CASE WHEN i % 7 < 5 THEN 900000000000000000 + i ELSE -700000000000000000.5 - i END, (i * 7919 % 1000) * 0.000000000001,
    CASE WHEN i % 13 > 0 THEN i * 0.25 END,
    CASE WHEN i BETWEEN 600 AND 1300 THEN CASE i % 100 WHEN 0 THEN 'NaN'::numeric WHEN 1 THEN 1e60 WHEN 2 THEN 'infinity' ELSE i * 0.1 END ELSE -i * 0.1 END,
    1.50, i % 3 * 1.1, i * 0.333
FROM generate_series(0, 2999) AS i;
INSERT INTO s SELECT * FROM h ORDER BY ts;
SELECT compress_chunk('s') IS NOT NULL;
-- rows that are none of a batch any more, and others
UPDATE s SET fixed = 7 WHERE ts = '2024-01-01 00:20'; UPDATE h SET fixed = 7 WHERE ts = '2024-01-01 00:20';
DELETE FROM s WHERE ts = '2024-01-01 00:30'; DELETE FROM h WHERE ts = '2024-01-01 00:30';
-- late rows, of other scales
CREATE TABLE late (LIKE h);
INSERT INTO late SELECT ts + interval '5 s', host, fixed, mixed / 10000, whole + 1, large, small / 1000000, gaps * 3, odd, 2.5000, few * 0.01 + 3, priced FROM h WHERE whole::int % 7 = 3;
INSERT INTO late SELECT ts, host, 0.0, -0.5, 1e30, 1e18, 1e-30, 0, 'NaN', NULL, NULL, 0.001 FROM late LIMIT 9;
INSERT INTO s SELECT * FROM late;
INSERT INTO h SELECT * FROM late;

CREATE FUNCTION run(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C") FROM (%s) AS q', query) INTO result;
    RETURN result;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
-- what the heap answers, once
CREATE TABLE asked AS SELECT query, run(replace(query, 'FROM t', 'FROM h')) AS heap
    FROM (SELECT replace(format('SELECT %s %s FROM t WHERE %s %s', key || ',', list, cond, 'GROUP BY ' || key), '@', name) AS query
          FROM unnest(ARRAY['fixed', 'mixed', 'whole', 'large', 'small', 'gaps', 'odd', 'same', 'few', 'priced']) AS name,
              unnest(ARRAY['sum(@), avg(@), count(@)', 'avg(@), max(@)', 'sum(@) FILTER (WHERE whole > 0), sum(@ + 1)', 'sum(@), stddev(@)', 'sum(coalesce(@, 0)), avg(coalesce(@, 1.500)), sum(coalesce(@, 1e25)), max(coalesce(@, -7)), avg(CASE WHEN whole > 0 THEN @ END)']) AS list,
              unnest(ARRAY[NULL, 'host', 'host, date_bin(''7 min'', ts, ''2000-01-01'')', 'whole % 10']) AS key,
              unnest(ARRAY['true', 'ts >= ''2024-01-01 01:11:11'' AND ts < ''2024-01-01 05:00''', '@ > 0', 'mixed < 100']) AS cond) AS q;
CREATE FUNCTION differences() RETURNS TABLE (many bool, different text) LANGUAGE sql AS $$
    SELECT count(*) > 500, min(query) FILTER (WHERE run(replace(query, 'FROM t', 'FROM s')) IS DISTINCT FROM heap) FROM asked
$$;
SELECT * FROM differences();
-- spilled groups, and those of workers
SET work_mem = '64kB';
SET strata.agg_least_groups = 16;
SET hash_mem_multiplier = 1;
SELECT run('SELECT ts, sum(fixed), avg(large) FROM s GROUP BY ts') = run('SELECT ts, sum(fixed), avg(large) FROM h GROUP BY ts') AS same;
RESET work_mem;
RESET hash_mem_multiplier;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT * FROM differences();
DROP SCHEMA agg_numeric CASCADE;
