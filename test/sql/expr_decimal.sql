-- Numeric arithmetic with integers of one scale: the same digits, decimals and errors as heap's, in both halves.
SET client_min_messages = error;
CREATE SCHEMA expr_decimal;
SET search_path = expr_decimal, public;
SET timezone = 'UTC';
SET max_parallel_workers_per_gather = 0;
SET strata.batch_rows = 200;
SET extra_float_digits = 0;

CREATE DOMAIN money2 AS numeric(12,2);
CREATE TABLE s (
    ts timestamptz NOT NULL, k int, n int, w int8, h int2, a numeric, b numeric(12,2), c numeric, d numeric, odd numeric, large numeric, small numeric,
    few numeric, priced money2, name text
) USING strata WITH (strata.segmentby = 'k', strata.orderby = 'ts');
CREATE TABLE h (LIKE s) USING heap;
-- a: two decimals; c: of many scales; d: with nulls; odd: NaN, infinities and what has too many digits in some batches; large: 18 digits;
-- few: of so many digits that batches keep a dictionary of texts
SELECT setseed(0.25);
INSERT INTO h SELECT '2024-01-01'::timestamptz + i * interval '10 s', i % 3, (random() * 200)::int - 50, (random() * 1e12)::int8 - 500000000000, i % 200 - 100,
    round((random() * 200 - 50)::numeric, 2), round((random() * 1000)::numeric, 2),
    CASE i % 4 WHEN 0 THEN (i % 97)::numeric WHEN 1 THEN (i % 89) * 0.125 WHEN 2 THEN (i % 79)::numeric(12,6) ELSE 0.000 END,
    CASE WHEN i % 7 > 0 AND i NOT BETWEEN 1500 AND 2200 THEN round((random() - 0.25)::numeric, 3) END,
    CASE WHEN i BETWEEN 600 AND 1300 THEN CASE i % 50 WHEN 0 THEN 'NaN'::numeric WHEN 1 THEN 1e60 WHEN 2 THEN 'infinity' WHEN 3 THEN '-infinity' ELSE i * 0.1 END ELSE -i * 0.1 END,
    CASE WHEN i % 2 = 0 THEN 900000000000000000 + i ELSE -700000000000000.125 - i END, (i * 7919 % 1000) * 0.000000000001,
    (i % 4 + 1) * 1234567890.12345678901234567890, (i % 1000) / 4.0, repeat('x', i % 11)
FROM generate_series(0, 2999) AS i;
INSERT INTO s SELECT * FROM h ORDER BY ts;
SELECT compress_chunk('s') IS NOT NULL;
UPDATE s SET a = 7.5 WHERE ts = '2024-01-01 00:20'; UPDATE h SET a = 7.5 WHERE ts = '2024-01-01 00:20';
DELETE FROM s WHERE ts = '2024-01-01 00:30'; DELETE FROM h WHERE ts = '2024-01-01 00:30';
-- late rows, of other scales
CREATE TABLE late (LIKE h);
INSERT INTO late SELECT ts + interval '5 s', k, -n, w, h, a / 8, b, c * 1000, d * 0.01, odd, large, small * 1e-9, few, priced, name FROM h WHERE n % 7 = 3;
INSERT INTO late SELECT ts, k, NULL, 9223372036854775807, h, 'NaN', 0, -0.0000, 1e30, 'NaN', -1e17, 1e-30, 0, NULL, NULL FROM late LIMIT 9;
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
CREATE FUNCTION different(queries text[]) RETURNS TABLE (many int, query text, of_s text, of_h text) LANGUAGE sql AS $$
    WITH q AS MATERIALIZED (
        SELECT query, run(replace(query, 'FROM t', 'FROM s')) AS s, run(replace(query, 'FROM t', 'FROM h')) AS h FROM unnest(queries) AS query)
    SELECT (SELECT count(*)::int FROM q), d.query, left(d.s, 200), left(d.h, 200) FROM (SELECT 1) AS one LEFT JOIN LATERAL (SELECT * FROM q WHERE s IS DISTINCT FROM h LIMIT 1) AS d ON true
$$;
CREATE TABLE exprs (e text);
INSERT INTO exprs VALUES ('a * n'), ('a * b'), ('a + b'), ('b - n'), ('-a * n'), ('+b'), ('abs(a - b)'), ('b * (1 - d)'), ('coalesce(d, 0) * n'), ('coalesce(d, b, a)'), ('coalesce(d, 1.5000)'),
    ('CASE WHEN k = 1 THEN a * n ELSE -b * n END'), ('CASE WHEN n > 50 THEN b WHEN d > 0.1 THEN c * 2 END'), ('CASE k WHEN 0 THEN c WHEN 1 THEN 0.25 ELSE d END'), ('b * 1.005'), ('n::numeric'),
    ('n + 0.5'), ('odd * n'), ('odd - b'), ('large * large'), ('large + c'), ('large * b'), ('a * b * c * n'), ('c * c + d'), ('priced * n'), ('w * b'), ('w::numeric'), ('h * b'), ('small * b'), ('small * small * large'),
    ('few * 2'), ('few - b'), ('few * few'), ('b + length(name)'), ('(n + 1) * b'), ('(n * 100000000) * b'), ('b * (100 / (n + 1000))'), ('round(a * n, 1)'), ('(b * n)::numeric(20,1)'),
    ('CASE WHEN b * n > 1000 THEN b * 2 ELSE 0 END'), ('NULL::numeric * b'), ('b * 123456789012345678901234567890.5'), ('b * ''NaN''::numeric'), ('coalesce(n * b, c)'), ('b / 3 * n'), ('b * 0'), ('b * 0.000');
-- as arguments, with FILTER, by groups, and beside conditions; of equal least values any is taken
SELECT * FROM different(ARRAY(
    SELECT format('SELECT %s %s FROM t WHERE %s %s', key || ',', replace(list, '@', e), cond, 'GROUP BY ' || key)
    FROM exprs, unnest(ARRAY['sum(@), avg(@), count(@)', 'trim_scale(min(@)), trim_scale(max(@)), sum(@) FILTER (WHERE b * n > 100)', 'sum(@), stddev(@), sum(b)']) AS list,
        unnest(ARRAY[NULL, 'k', 'date_bin(''7 min'', ts, ''2000-01-01'')', 'n % 10']) AS key,
        unnest(ARRAY['true', 'ts >= ''2024-01-01 01:11:11'' AND ts < ''2024-01-01 05:00''']) AS cond));
-- as conditions
SELECT * FROM different(ARRAY(
    SELECT format(list, replace(cond, '@', e)) FROM exprs,
        unnest(ARRAY['@ > 100', '@ = 0', '@ <> b', '@ <= d', '@ < -1.5 OR b >= c', '@ BETWEEN 0.25 AND n', '(@) IS NULL', '@ >= ''NaN''']) AS cond,
        unnest(ARRAY['SELECT ts, n FROM t WHERE %s', 'SELECT count(*) FROM t WHERE %s', 'SELECT k, sum(n) FILTER (WHERE %s), avg(CASE WHEN %1$s THEN b ELSE n END) FROM t GROUP BY k'] ) AS list));
-- as keys, of which equal ones may be shown with other decimals, and in orders
SELECT * FROM different(ARRAY(
    SELECT replace(query, '@', e) FROM exprs, unnest(ARRAY['SELECT trim_scale(g), many, n FROM (SELECT @ AS g, count(*) AS many, sum(n) AS n FROM t GROUP BY 1) AS x',
        'SELECT ts, @ AS v FROM t ORDER BY 2, 1, n LIMIT 20', 'SELECT trim_scale(g) FROM (SELECT DISTINCT @ AS g FROM t) AS x', 'SELECT k, count(DISTINCT @) FROM t GROUP BY k']) AS query));
-- errors: for the rows that have them, only
SELECT * FROM different(ARRAY['SELECT sum(b * (100 / n)) FROM t', 'SELECT sum(b * (100 / n)) FROM t WHERE n <> 0', 'SELECT sum(b * (100 / n)) FILTER (WHERE n <> 0) FROM t',
    'SELECT sum(CASE WHEN n = 0 THEN b ELSE b * (100 / n) END) FROM t', 'SELECT count(*) FROM t WHERE b * (100 / n) > 3', 'SELECT sum(n * 100000000 * b) FROM t',
    'SELECT sum(b * n::int2) FROM t', 'SELECT sum(1e130000 * b * 10 ^ 1000) FROM t', 'SELECT sum((b * n)::numeric(5,2)) FROM t', 'SELECT k, sum(b * n), sum(100 / n) FROM t GROUP BY k']);
-- parameters of generic plans
SET plan_cache_mode = force_generic_plan;
PREPARE by_s(numeric, int) AS SELECT sum(b * $1), sum(a * $2) FILTER (WHERE b * n > $1), count(*) FROM s WHERE b * $2 > 10 AND ts < '2024-01-01 03:00';
PREPARE by_h(numeric, int) AS SELECT sum(b * $1), sum(a * $2) FILTER (WHERE b * n > $1), count(*) FROM h WHERE b * $2 > 10 AND ts < '2024-01-01 03:00';
EXECUTE by_s(1.250, 3);
EXECUTE by_h(1.250, 3);
EXECUTE by_s('NaN', 2);
EXECUTE by_h('NaN', 2);
EXECUTE by_s(NULL, 2);
EXECUTE by_h(NULL, 2);
RESET plan_cache_mode;
-- joined, and with the workers of a parallel plan
CREATE TABLE rates (k int, rate numeric); INSERT INTO rates VALUES (0, 1.1), (1, 0.875), (2, 3), (3, 'NaN');
ANALYZE rates; ANALYZE s; ANALYZE h;
SELECT * FROM different(ARRAY['SELECT r.rate, sum(b * n * rate), sum(b * rate), count(*) FROM t JOIN rates r USING (k) GROUP BY 1', 'SELECT sum(b * n) FROM t JOIN rates r USING (k) WHERE b * rate > c']);
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT * FROM different(ARRAY(SELECT format('SELECT k, sum(%s), count(*) FROM t WHERE b * n > -1000 GROUP BY k', e) FROM exprs));
DROP SCHEMA expr_decimal CASCADE;
