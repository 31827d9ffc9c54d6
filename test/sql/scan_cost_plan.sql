-- What quals on other columns than the order prune is tried on some batches'
-- summaries when planning; answers are not at stake.  And what else decides a plan by its cost.
SET client_min_messages = error;
SET timezone = 'UTC';
CREATE SCHEMA scan_cost_plan;
SET search_path = scan_cost_plan, public;
CREATE FUNCTION cost(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
    RETURN plan->0->'Plan'->>'Total Cost';
END $$;
CREATE FUNCTION query_plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE 'EXPLAIN ' || query;
END $$;
-- near: in runs, wide: everywhere; in every batch
SET strata.batch_rows = 10;
CREATE TABLE t (ts timestamptz NOT NULL, host text, near float8, wide float8, few int, never int) USING strata;
ALTER TABLE t SET (strata.segmentby = 'host', strata.orderby = 'ts');
INSERT INTO t SELECT '2026-01-01'::timestamptz + i * interval '1 s', 'h', i / 100, i % 10 * 20, CASE WHEN i % 2000 = 0 THEN i END, NULL FROM generate_series(1, 20000) AS i;
SELECT compress_chunk('t');
ANALYZE t;
SET max_parallel_workers_per_gather = 0;
-- beside looking at all batches
CREATE FUNCTION reading(cond text) RETURNS float8 LANGUAGE sql AS $$
    SELECT cost('SELECT count(*) FROM t WHERE ' || cond) - cost('SELECT count(*) FROM t WHERE near = -1')
$$;
SELECT cond, reading(cond) < 0.5 * reading('wide < 10') AS less
    FROM unnest(ARRAY['near < 10', 'near <= 9', '190 < near', 'near >= 190', 'near = 77', 'near BETWEEN 70 AND 80', 'near < 10 AND wide < 10', 'near < 190', 'near <> 7', 'near IN (1, 2)',
        'near < 10 OR wide < 10', 'near < ''NaN''', 'near < NULL::float8', 'few > 0', 'never > 0', 'wide > 170', 'near IN (1, 180)', 'near = ANY (NULL)', 'near < 10 OR near > 190', 'near < 10 OR few = 1', 'near NOT IN (1, 2)',
        'NOT near > 10', 'never IS NULL', 'never IS NOT NULL', 'near IS NULL', 'near IN (1, NULL)', 'near IN (1, wide)', 'near IN (SELECT 3)', 'near + 1 < 10']) AS cond;
-- a value that is not known is taken for one of the column's
PREPARE p (float8) AS SELECT count(*) FROM t WHERE near = $1 OR near = ANY (ARRAY[3, $1]);
PREPARE q (float8) AS SELECT count(*) FROM t WHERE wide = $1 OR near = $1;
SET plan_cache_mode = force_generic_plan;
SELECT cost('EXECUTE p (1)') - base < 0.5 * (cost('EXECUTE q (1)') - base) AS less FROM cost('SELECT count(*) FROM t WHERE near = -1') AS base;
SET plan_cache_mode = force_custom_plan;
SELECT cost('EXECUTE p (1)') - base < 0.5 * (cost('EXECUTE q (1)') - base) AS less FROM cost('SELECT count(*) FROM t WHERE near = -1') AS base;
RESET plan_cache_mode;
-- workers are not started for what the summaries answer
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 5;
SET parallel_tuple_cost = 0;
SELECT cond, (SELECT string_agg(line, '' ORDER BY n) ~ 'Gather' FROM query_plan(format('SELECT count(*), sum(wide) FROM t WHERE %s', cond)) WITH ORDINALITY AS p (line, n)) AS workers
    FROM unnest(ARRAY['near < 10', 'wide < 10']) AS cond;
-- a table of which the sample is out of date
INSERT INTO t SELECT '2026-02-01'::timestamptz + i * interval '1 s', 'h', 5, i % 10 * 20, 1, 1 FROM generate_series(1, 20000) AS i;
SELECT compress_chunk('t');
ANALYZE t;
SET max_parallel_workers_per_gather = 0;
SELECT reading('near < 10') < 0.3 * reading('wide < 10') AS less, reading('near < 10') > 0.5 * reading('wide < 10') AS more;
ALTER TABLE t DROP COLUMN few, ADD COLUMN added int DEFAULT 3;
SELECT reading('added > 2') > 0.9 * reading('wide < 10') AS more, reading('added > 2 AND near > 190') < 0.3 * reading('wide < 10') AS less;
-- a function that is called for each row costs a row; not where a kernel, or one value for many rows, takes its place
SELECT cond, (cost('SELECT count(*) FROM t WHERE ' || cond) - cost('SELECT count(*) FROM t WHERE wide < 10')) / 40000 > 0.5 * current_setting('cpu_tuple_cost')::float8 AS by_row
    FROM unnest(ARRAY['to_char(ts, ''DD'') = ''07''', 'ts::time < ''12:00''', 'wide::numeric < 10', 'wide + 1 < 10', 'extract(hour FROM ts) < 12', 'upper(host) = ''H''', 'host LIKE ''h%''',
        'wide < 10 OR ts::time < ''12:00''', '(wide, ts) < (10, ''2026-01-03'')', 'wide < abs(wide) - 5']) AS cond;
-- whoever has partitions, or parts of a UNION, read by one process each pays for the start of all, too
CREATE TABLE c (ts timestamptz NOT NULL, host text, v float8) PARTITION BY RANGE (ts);
DO $$
BEGIN
    FOR i IN 1 .. 6 LOOP
        EXECUTE format('CREATE TABLE c%s PARTITION OF c FOR VALUES FROM (%L) TO (%L) USING strata WITH (strata.segmentby = ''host'', strata.orderby = ''ts'')',
            i, '2026-01-01'::timestamptz + i * interval '1 day', '2026-01-02'::timestamptz + i * interval '1 day');
    END LOOP;
END $$;
RESET strata.batch_rows;
INSERT INTO c SELECT '2026-01-02'::timestamptz + i * interval '10 s', 'h' || i % 5, i % 100 FROM generate_series(0, 51839) AS i;
SELECT count(compress_chunk(format('c%s', i)::regclass)) FROM generate_series(1, 6) AS i;
ANALYZE c;
SET max_parallel_workers_per_gather = 2;
CREATE FUNCTION with_workers(setup float8) RETURNS TABLE (query text, workers bool) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('parallel_setup_cost', setup::text, false);
    RETURN QUERY SELECT q, (SELECT string_agg(line, '') ~ 'Gather' FROM query_plan(q) AS p (line))
        FROM unnest(ARRAY['SELECT v, ts FROM c WHERE v < 1', 'SELECT 1, host, count(*) FROM c GROUP BY 2 UNION ALL SELECT 2, host, count(*) FROM c GROUP BY 2']) AS q;
END $$;
SELECT * FROM with_workers(0);
SELECT * FROM with_workers(20);
SELECT * FROM with_workers(60);
-- an index in the order of the query fetches all late rows, whatever else is asked of them; for the first few of them it is the way
SET max_parallel_workers_per_gather = 0;
CREATE INDEX ON c (ts);
INSERT INTO c SELECT '2026-01-02'::timestamptz + i * interval '60 s', 'h' || i % 5, i % 100 FROM generate_series(0, 8639) AS i;
ANALYZE c;
SELECT q, bool_or(line ~ 'Index') AS by_index
    FROM unnest(ARRAY['SELECT * FROM c WHERE v = 7 AND host = ''h1'' ORDER BY ts', 'SELECT * FROM c WHERE host = ''h1'' ORDER BY ts LIMIT 10']) AS q, query_plan(q) AS line GROUP BY q ORDER BY q DESC;
DROP SCHEMA scan_cost_plan CASCADE;
