-- Aggregation shared by workers answers as PostgreSQL's over a heap does: over
-- batches, rows, both, and partitions of both kinds.
SET client_min_messages = error;
CREATE SCHEMA agg_parallel;
SET search_path = agg_parallel, public;
SET timezone = 'America/New_York';
SET extra_float_digits = 3;
SET strata.batch_rows = 100;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;

CREATE TABLE s (id int, ts timestamptz NOT NULL, host text, i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, num numeric,
    txt text COLLATE "C", b bool, iv interval, arr int[]) USING strata WITH (strata.segmentby = 'host', strata.orderby = 'ts DESC');
CREATE TABLE h (LIKE s) USING heap;
CREATE TABLE p (LIKE s) PARTITION BY RANGE (ts);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM ('2024-01-01') TO ('2024-01-02') USING strata WITH (strata.segmentby = 'host', strata.orderby = 'ts DESC');
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM ('2024-01-02') TO ('2024-01-03') USING strata WITH (strata.orderby = 'ts');
CREATE TABLE p3 PARTITION OF p FOR VALUES FROM ('2024-01-03') TO ('2025-01-01') USING heap;
-- quarters add up exactly in every order
CREATE FUNCTION make(first int, last int) RETURNS SETOF h LANGUAGE sql AS $$
    SELECT i, '2024-01-01'::timestamptz + i * interval '1 min', CASE i % 5 WHEN 4 THEN NULL ELSE 'h' || i % 5 END,
        (i % 300 - 150)::int2, CASE WHEN i % 13 <> 0 THEN i * 7919 % 100003 - 50000 END, (i - 500)::int8 * 2305843009213693,
        CASE i % 50 WHEN 1 THEN 'NaN' WHEN 2 THEN NULL ELSE ((i % 1000 + 1) * 0.25)::float4 END,
        CASE WHEN i % 19 <> 0 THEN (i % 4001 - 2000) * 0.25 END, CASE i % 40 WHEN 7 THEN NULL ELSE (i % 777)::numeric / 8 END,
        CASE i % 23 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE repeat(chr(97 + i % 5), i % 3 + 1) END, i % 3 = 0,
        CASE i % 3 WHEN 0 THEN '1 mon' WHEN 1 THEN '30 days' ELSE '720:00:01' END::interval, ARRAY[i % 3, NULL]
    FROM generate_series(first, last) AS i
$$;
CREATE FUNCTION run(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C") FROM (%s) AS q', query) INTO result;
    RETURN result;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE TABLE lists (list text);
INSERT INTO lists VALUES ('count(*)'), ('count(*), count(i4), sum(i2), sum(i4), sum(i8), avg(i2), avg(i4), avg(i8)'),
    ('sum(f4), sum(f8), avg(f4), avg(f8), min(f4), max(f4), min(f8), max(f8)'), ('min(i2), max(i4), min(i8), min(ts), max(ts), max(iv)'),
    ('sum(num), avg(num), min(txt), max(txt), bool_and(b), bit_or(i4), sum(iv), max(arr)'),
    ('round(stddev(i4), 8), round(variance(f8)::numeric, 4), sum(i4) FILTER (WHERE b), sum(i4 + i2) + 1'),
    ('first(i4, ts), last(txt, ts), last(f8, id)'), ('sum(1 / (id - 2000))'), ('sum(i8 * 5)');
CREATE FUNCTION differences() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT query || E'\n' || coalesce(run(replace(query, 'FROM t', 'FROM ' || t)), 'NULL') || E'\n' ||
        coalesce(run(replace(query, 'FROM t', 'FROM h')), 'NULL')
    FROM (VALUES ('s'), ('p')) AS t (t), (SELECT format('SELECT %s%s FROM t WHERE %s%s', key || ', ', list, cond, ' GROUP BY ' || key) AS query
          FROM lists, (VALUES (NULL), ('host'), ('date_trunc(''hour'', ts)'), ('txt, iv, arr'), ('host, num HAVING count(*) > 2'), ('ROW(b, i2 % 2)')) AS k (key),
              (VALUES ('true'), ('ts >= ''2024-01-01 20:00'' AND i4 > 0')) AS w (cond)
          WHERE (length(list) + coalesce(length(key), 0) + length(cond)) % 2 = 0) AS q
    WHERE run(replace(query, 'FROM t', 'FROM ' || t)) IS DISTINCT FROM run(replace(query, 'FROM t', 'FROM h'))
$$;
INSERT INTO h SELECT * FROM make(1, 3600);
INSERT INTO p SELECT * FROM h;
INSERT INTO s SELECT * FROM h WHERE id <= 3000;
SELECT compress_chunk('s'), compress_chunk('p1'), compress_chunk('p2');
INSERT INTO s SELECT * FROM h WHERE id > 3000;
ANALYZE;
SELECT * FROM differences();
-- rows that left their batches
UPDATE s SET i4 = 7 WHERE id % 100 = 3;
UPDATE p SET i4 = 7 WHERE id % 100 = 3;
UPDATE h SET i4 = 7 WHERE id % 100 = 3;
DELETE FROM s WHERE id % 300 = 5;
DELETE FROM p WHERE id % 300 = 5;
DELETE FROM h WHERE id % 300 = 5;
SELECT * FROM differences();
-- too many groups for memory, in workers and leader
SET work_mem = '64kB';
SET strata.agg_least_groups = 16;
SET hash_mem_multiplier = 1;
SELECT count(*), sum(n), sum(i4), max(length(txt)) FROM (SELECT id / 2, host, count(*) AS n, sum(i4) AS i4, max(txt) AS txt FROM s GROUP BY 1, 2) AS g;
SELECT count(*), sum(n), sum(i4), max(length(txt)) FROM (SELECT id / 2, host, count(*) AS n, sum(i4) AS i4, max(txt) AS txt FROM h GROUP BY 1, 2) AS g;
RESET work_mem;
RESET hash_mem_multiplier;
-- read again and again, in part, with parameters, not at all
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT v.x, a.k, a.n FROM (VALUES (1), (700), (5000)) AS v (x) LEFT JOIN (SELECT host AS k, count(*) AS n FROM s GROUP BY 1) AS a ON a.n > v.x ORDER BY 1, 2, 3;
RESET enable_material;
SELECT count(*) FROM (SELECT host, sum(i4) FROM s GROUP BY 1 LIMIT 2) AS g;
BEGIN;
DECLARE c CURSOR FOR SELECT count(*), sum(i4) FROM s WHERE id > 10;
FETCH 1 FROM c;
FETCH 1 FROM c;
COMMIT;
SET plan_cache_mode = force_generic_plan;
PREPARE q(int) AS SELECT host, count(*) + $1 AS n, sum(i4 + $1) AS i4 FROM s WHERE id > $1 GROUP BY host ORDER BY 1;
EXECUTE q(10);
EXECUTE q(3500);
EXECUTE q(NULL);
SELECT count(*), sum(i4), max(txt) FROM s WHERE id < 0;
SELECT count(*), sum(i4) FROM s WHERE id > (SELECT max(id) - 100 FROM h);

DROP SCHEMA agg_parallel CASCADE;
