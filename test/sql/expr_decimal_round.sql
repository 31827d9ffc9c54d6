-- Numerics rounded and cast, and made of floats, as integers of one scale: the same digits, decimals and errors as heap's, in both halves.
SET client_min_messages = error;
CREATE SCHEMA expr_decimal_round;
SET search_path = expr_decimal_round, public;
SET timezone = 'UTC';
SET max_parallel_workers_per_gather = 0;
SET strata.batch_rows = 300;

CREATE TABLE s (
    id int NOT NULL, k int, n int, gone int, f float8, g float8, r float4, a numeric(12,4), b numeric(10,2), c numeric, d numeric(10,3), odd numeric, e float8, large numeric
) USING strata WITH (strata.segmentby = 'k', strata.orderby = 'id');
CREATE TABLE h (LIKE s) USING heap;
-- f: halves of a cent and what is next to them; g: of many sizes; e: with NaN, infinities and nulls; c: of many scales; odd: NaN in some batches
SELECT setseed(0.5);
INSERT INTO h SELECT i, i % 3, (random() * 2000)::int - 1000, 0,
    CASE i % 5 WHEN 0 THEN (i * 7 % 1999 * 10 + 5) / 1000.0 WHEN 1 THEN -((i * 11 % 1999 * 10 + 5) / 1000.0::float8) * (1 + (i % 9 - 4) * 2.3e-16) WHEN 2 THEN (i % 999 + 0.5::float8) / 100 * (1 + (random() - 0.5) * 2e-14) WHEN 3 THEN i / 8.0::float8
        ELSE random() * 50 END,
    (random() - 0.5) * 10.0::float8 ^ (i % 25 - 12), ((i * 13 % 1999) * 0.125)::float4 * (CASE WHEN i % 4 = 0 THEN 0.1 ELSE 1 END)::float4, round((random() * 2000 - 500)::numeric, 4), round((random() * 100 + 0.01)::numeric, 2),
    CASE i % 4 WHEN 0 THEN (i % 97)::numeric WHEN 1 THEN (i % 89) * 0.125 WHEN 2 THEN -(i % 79)::numeric(12,6) ELSE 0.000 END,
    CASE WHEN i % 7 > 0 AND i NOT BETWEEN 1100 AND 1700 THEN round((random() * 10 - 2.5)::numeric, 3) END,
    CASE WHEN i BETWEEN 500 AND 900 AND i % 50 = 0 THEN 'NaN' WHEN i BETWEEN 600 AND 900 AND i % 50 = 1 THEN 'infinity' ELSE i * 0.05 END::numeric,
    CASE i % 100 WHEN 0 THEN NULL WHEN 1 THEN CASE WHEN i BETWEEN 700 AND 1000 THEN 'NaN'::float8 END WHEN 2 THEN CASE WHEN i BETWEEN 700 AND 1000 THEN '-infinity'::float8 END WHEN 3 THEN '-0' WHEN 4 THEN 4.9e-324 ELSE i * 0.005 END::float8, (random() * 1e17)::numeric(20,1)
FROM generate_series(0, 2399) AS i;
ALTER TABLE s DROP COLUMN gone; ALTER TABLE h DROP COLUMN gone;
INSERT INTO s SELECT * FROM h ORDER BY id;
SELECT compress_chunk('s') IS NOT NULL;
UPDATE s SET f = 2.675, b = 7.5 WHERE id % 100 = 50; UPDATE h SET f = 2.675, b = 7.5 WHERE id % 100 = 50;
DELETE FROM s WHERE id % 100 = 60; DELETE FROM h WHERE id % 100 = 60;
ALTER TABLE s ADD COLUMN late numeric DEFAULT 2.505; ALTER TABLE h ADD COLUMN late numeric DEFAULT 2.505;
-- rows that are late, of other scales
CREATE TABLE t (LIKE h);
INSERT INTO t SELECT id + 5000, k, -n, f / 3, g * 8, r / 7, a / 8, b, c * 1000, d * 0.01, odd / 3, e, large, id % 9 / 8.0 FROM h WHERE n % 7 = 3;
INSERT INTO t SELECT id + 9000, k, NULL, 1e15 + 0.5, -0.0, 0.1, 0, 0.01, 1e30, 0, 'NaN', 'NaN', 1e-17, NULL FROM h LIMIT 3;
INSERT INTO s SELECT * FROM t;
INSERT INTO h SELECT * FROM t;
ANALYZE s; ANALYZE h;

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
INSERT INTO exprs VALUES ('round(f::numeric, 2)'), ('round(f::numeric, 1)'), ('round(f::numeric)'), ('f::numeric'), ('f::numeric(10,2)'), ('trunc(f::numeric, 2)'), ('round(f::numeric, 2) * n'), ('round(-f::numeric, 2)'), ('round((f * 1.8 + 32)::numeric, 1)'),
    ('round(g::numeric, 3)'), ('g::numeric'), ('round(e::numeric, 2)'), ('e::numeric'), ('floor(e::numeric)'), ('round(r::numeric, 1)'), ('r::numeric'), ('r::numeric(12,2)'),
    ('round(a)'), ('round(a, 2)'), ('round(a, 6)'), ('round(a, -2)'), ('trunc(a, 1)'), ('trunc(a)'), ('floor(a)'), ('ceil(a)'), ('ceiling(c)'), ('sign(a)'), ('abs(round(c, 1))'), ('round(c, 2)'), ('floor(d * 10)'), ('round(odd, 1)'), ('ceil(odd)'),
    ('a::numeric(10,1)'), ('n::numeric(10,2)'), ('c::numeric(8,3)'), ('a::numeric(4,1)'), ('f::numeric(4,2)'), ('d::numeric(3,3)'), ('(a * b)::numeric(38,5)'), ('round(a * b, 3)'), ('round(late, 2)'), ('round(b * late, 4)'), ('round(a, n % 3)'),
    ('CASE WHEN b > 50 THEN round(a, 1) ELSE round(f::numeric, 3) END'), ('coalesce(round(d, 1), 0)'), ('round(n::numeric, 2)'), ('round(f::numeric, 40)'),
    ('round(a / b, 2)'), ('round(a / nullif(d, 0), 3)'), ('round(a / d, 2)'), ('a / 100'), ('a / 8.00'), ('n / 10.0'), ('c / 1000000'), ('a / 1e-8'), ('d / -0.250'), ('n / 3.0'), ('n / 0.0'), ('round(100.0 * n / b, 1)'), ('round((a - b) / b * 100, 2)'), ('round(100 * (a / b), 2)'),
    ('trunc(a / b)'), ('floor(n / 7.0)'), ('ceil(a / -3)'), ('ceil(n / 10.0)'), ('round(n / 3.0, 2)'), ('round(n / 8.0, 2)'), ('round(n / 16.0 * 100)'), ('round(n / 3.0 * 1.5)'), ('trunc(n / 4.0 * 8)'), ('floor(n / 3.0 * 3)'), ('round(n / 6.0 * -3, 0)'), ('(a / b)::numeric(8,2)'), ('(a / b)::numeric(4,2)'),
    ('round(f::numeric / 3, 2)'), ('round(a / odd, 1)'), ('a % 7'), ('mod(n::numeric, 2.5)'), ('c % d'), ('greatest(a, c, b)'), ('least(d, 0.10)'), ('greatest(odd, a)'), ('nullif(c, 0)'), ('nullif(c, 0.000) * 2'), ('round(a / 1e15, 2)'), ('round(1e15 / b, 3)'), ('round(a / 1e-9 / b, 2)'), ('round(large / b, 2)'), ('round(b / large, 2)'), ('large / 1000'), ('round(large / 7 * 1000, 4)'),
    ('a::int'), ('(c * 2)::int8'), ('b::int2'), ('(a * 40)::int2'), ('large::int8'), ('large::int4'), ('odd::int'), ('(d / 2)::int4');
-- as arguments, with FILTER, by groups, and beside conditions; of equal least values any is taken
SELECT * FROM different(ARRAY(
    SELECT format('SELECT %s %s FROM t %s', key || ',', replace(list, '@', e), 'GROUP BY ' || key)
    FROM exprs, unnest(ARRAY['sum(@), avg(@), count(@)', 'trim_scale(min(@)), sum(@) FILTER (WHERE b > 30)']) AS list, unnest(ARRAY[NULL, 'k']) AS key));
-- each value as it is shown; floats are not summed, which depends on the order
INSERT INTO exprs VALUES ('a::float8'), ('large::float8'), ('(large / 1000)::float8'), ('odd::float8'), ('c::float8'), ('round(a, 2)::float8'), ('(f::numeric * 3)::float8'), ('late::float8'), ('(d * 1e-9)::float8');
SELECT * FROM different(ARRAY(SELECT format('SELECT id, max(%s) FROM t GROUP BY id', e) FROM exprs));
-- as conditions, and as keys
SELECT * FROM different(ARRAY(SELECT format(q, e) FROM exprs,
    unnest(ARRAY['SELECT id FROM t WHERE %s > 10.5', 'SELECT k, count(*) FILTER (WHERE %s BETWEEN -1.5 AND n) FROM t GROUP BY k', 'SELECT trim_scale(x), many FROM (SELECT (%s)::numeric AS x, count(*) AS many FROM t GROUP BY 1) AS q', 'SELECT trim_scale((%s)::numeric) AS x FROM t WHERE d > 0']) AS q));
SELECT * FROM different(ARRAY['SELECT percentile_cont(0.3) WITHIN GROUP (ORDER BY a), percentile_disc(0.7) WITHIN GROUP (ORDER BY b), percentile_cont(ARRAY[0.1, 0.9]) WITHIN GROUP (ORDER BY c) FROM t', 'SELECT k, percentile_cont(0.5) WITHIN GROUP (ORDER BY odd), mode() WITHIN GROUP (ORDER BY round(d)) FROM t GROUP BY k']);
-- columns compared with values that they have, and that they cannot have
SELECT * FROM different(ARRAY(SELECT format('SELECT id FROM t WHERE %s %s %s::numeric', col, op, quote_literal(v)) FROM unnest(ARRAY['a', 'c', 'd', 'odd']) AS col, unnest(ARRAY['<', '<=', '=', '<>', '>=', '>']) AS op,
    unnest(ARRAY['0', '-12.3456', '0.12345', '-0.00005', '5', '1e30', 'NaN', '-infinity']) AS v));
SELECT * FROM different(ARRAY(SELECT replace(q, '@', col) FROM unnest(ARRAY['a', 'c', 'd', 'odd', 'late']) AS col, unnest(ARRAY['SELECT id FROM t WHERE @ IN (0, 0.125, 2.505, 7, 1e25)', 'SELECT id FROM t WHERE @ NOT IN (0, 0.1251, 2.505, ''NaN'')',
    'SELECT id FROM t WHERE @ NOT IN (0, NULL)', 'SELECT id FROM t WHERE @ BETWEEN 0.5 AND 3.33333', 'SELECT id FROM t WHERE NOT (@ > 1.5 OR @ < -1.5)', 'SELECT id FROM t WHERE @ = ANY (SELECT i / 8.0 FROM generate_series(1, 40) AS i)',
    'SELECT k, trim_scale(min(@)), trim_scale(max(@)), trim_scale(max(@)) FILTER (WHERE b > 30), count(@) FROM t WHERE @ > 0.005 OR d > 1 GROUP BY k', 'SELECT trim_scale(min(@)), trim_scale(max(@)) FROM t', 'SELECT id / 7 AS g, trim_scale(min(@)), trim_scale(max(@)), sum(@) FROM t GROUP BY 1']) AS q));
-- errors: for the rows that have them, only
SELECT * FROM different(ARRAY['SELECT sum(a::numeric(4,1)) FROM t', 'SELECT sum(a::numeric(4,1)) FROM t WHERE abs(a) < 900', 'SELECT sum(CASE WHEN abs(a) < 999.95 THEN a::numeric(4,1) END) FROM t', 'SELECT sum(CASE WHEN abs(a) <= 999.96 THEN a::numeric(4,1) END) FROM t',
    'SELECT sum(a::numeric(4,1)) FILTER (WHERE abs(a) < 900) FROM t', 'SELECT k, sum(round(a, 1)), sum(100 / n) FROM t GROUP BY k', 'SELECT sum(e::numeric(10,2)) FROM t', 'SELECT sum(f::numeric(2,1)) FROM t WHERE f BETWEEN -9.94 AND 9.949', 'SELECT count(*) FROM t WHERE f::numeric(3,2) > 1']);
DROP SCHEMA expr_decimal_round CASCADE;
