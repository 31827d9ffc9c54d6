-- GROUP BY and DISTINCT by values that are equal and not the same: StrataAgg
-- against a heap.  What is shown of a key is the same for equal ones.
SET client_min_messages = error;
SET max_parallel_workers_per_gather = 0;
SET strata.batch_rows = 60;
CREATE SCHEMA agg_keys;
SET search_path = agg_keys, public;
CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE pair AS (x float8, y numeric);
CREATE DOMAIN share AS numeric CHECK (value >= 0);
CREATE TABLE s (
    k int, f4 float4, f8 float8, num numeric, dom share, iv interval, ch char(6), vch bpchar, txt text COLLATE blind, arr numeric[],
    p pair, j jsonb, tz timetz, ip inet, n int, ts timestamptz NOT NULL
) USING strata;
ALTER TABLE s SET (strata.segmentby = 'k', strata.orderby = 'ts');
CREATE TABLE h (LIKE s);
INSERT INTO h SELECT i % 3,
    (ARRAY['0', '-0', 'NaN', 'Infinity', '-Infinity', '1.5', NULL])[i % 7 + 1]::float4, (ARRAY['-0', '0', 'NaN', '1e300', '-Infinity', NULL])[i % 6 + 1]::float8,
    (ARRAY['1', '1.0', '1.00', '0', '0.0000', 'NaN', '-1', NULL])[i % 8 + 1]::numeric, (ARRAY['2', '2.0', '0', NULL])[i % 4 + 1]::numeric,
    (ARRAY['1 mon', '30 days', '720:00:00', '1 day', '24:00:00', '0', NULL])[i % 7 + 1]::interval, (ARRAY['a', 'a ', 'b', '', NULL])[i % 5 + 1],
    (ARRAY['a', 'a  ', 'b ', '', NULL])[i % 5 + 1]::bpchar, (ARRAY['Abc', 'aBC', 'x', 'X', '', NULL])[i % 6 + 1],
    (ARRAY['{1,2}', '{1.0,2.00}', '{NULL}', '{}', NULL])[i % 5 + 1]::numeric[],
    CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN ROW(0, 1.0)::pair WHEN 2 THEN ROW('-0', 1)::pair ELSE ROW(1, NULL)::pair END, (ARRAY['{"a": 1}', '{"a": 1.0}', '1', 'null', NULL])[i % 5 + 1]::jsonb,
    (ARRAY['12:00+00', '13:00+01', '12:00+01', NULL])[i % 4 + 1]::timetz, (ARRAY['10.0.0.1', '10.0.0.1/32', '::1', NULL])[i % 4 + 1]::inet,
    i * 31 % 501, '2024-01-01'::timestamptz + i * interval '1 s'
    FROM generate_series(0, 1499) AS i;
INSERT INTO s TABLE h;

CREATE FUNCTION different(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    wrap text := 'SELECT string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C") FROM (%s) AS q';
    expected text;
    got text;
BEGIN
    EXECUTE format(wrap, regexp_replace(query, '\mT\M', 'h AS t', 'g')) INTO expected;
    EXECUTE format(wrap, regexp_replace(query, '\mT\M', 's AS t', 'g')) INTO got;
    IF got IS DISTINCT FROM expected THEN
        RETURN NEXT query;
        RETURN NEXT '  is        ' || left(coalesce(got, 'NULL'), 200);
        RETURN NEXT '  should be ' || left(coalesce(expected, 'NULL'), 200);
    END IF;
END $$;
CREATE TABLE keys (key text, shown text);
INSERT INTO keys VALUES
    ('f4', 'f4 + 0::float4'), ('f8', 'f8 + 0'), ('num', 'round(num, 4)'), ('dom', 'round(dom, 3)'), ('iv', 'extract(epoch FROM iv)'), ('ch', 'rtrim(ch)'),
    ('vch', 'rtrim(vch)'), ('txt', 'lower(txt COLLATE "C")'), ('arr', 'array_length(arr, 1)'), ('p', '(p).x + 0'), ('j', 'j = ''{"a": 1}'''), ('tz', 'tz = ''12:00+00'''),
    ('ip', 'host(ip)'), ('f8 * -1', 'f8 * -1 + 0'), ('f4, num', 'f4 + 0::float4, round(num, 4)'), ('k, f8', 'k, f8 + 0'), ('txt, iv', 'lower(txt COLLATE "C"), extract(epoch FROM iv)'),
    ('n, f4', 'n, f4 + 0::float4'), ('round(num)', 'round(num)'), ('ch, n % 5', 'rtrim(ch), n % 5');
CREATE TABLE queries AS
    SELECT format('select %s, count(*), sum(n), max(txt COLLATE "C"), last(n, ts) from T where %s group by %s', shown, cond, key) AS q
    FROM keys, unnest(ARRAY['true', 'n < 100', 'k = 1']) AS cond
    UNION ALL SELECT format('select %s from (select distinct %s from T) as q', shown, key) FROM keys WHERE key !~ '[(*%]'
    UNION ALL SELECT format('select *, %s from (select distinct on (%s) * from T order by %s, ts desc) as q', shown, key, key) FROM keys WHERE key !~ '[(*%]';
SELECT 'rows', different(q) FROM queries;
SELECT compress_chunk('s');
ANALYZE s, h;
SELECT 'batches', different(q) FROM queries;
INSERT INTO s SELECT * FROM h WHERE n % 9 = 0 AND ts > '2024-01-01';
UPDATE s SET ts = ts + interval '1 day' WHERE n % 10 = 0;
INSERT INTO h SELECT * FROM h WHERE n % 9 = 0 AND ts > '2024-01-01';
UPDATE h SET ts = ts + interval '1 day' WHERE n % 10 = 0;
SELECT 'mixed', different(q) FROM queries WHERE q LIKE '%count%';
SET work_mem = '64kB';
SET strata.agg_least_groups = 16;
SET hash_mem_multiplier = 1;
INSERT INTO queries VALUES ('select count(*) from (select num * n / 7, f8, count(*) from T group by num * n / 7, f8) as q');
SELECT 'spilled', different(q) FROM queries WHERE q LIKE '%n, f4%count%' OR q LIKE '%num * n%';
RESET work_mem;
RESET hash_mem_multiplier;

-- an implicit cast that FILTER keeps away from an error
CREATE TYPE wrapped AS (v int);
CREATE FUNCTION unwrap(wrapped) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN 10 / ($1).v; END $$;
CREATE CAST (wrapped AS int) WITH FUNCTION unwrap(wrapped) AS IMPLICIT;
CREATE TABLE w (v int, x wrapped) USING strata;
INSERT INTO w SELECT i % 5, ROW(i % 5)::wrapped FROM generate_series(1, 200) AS i;
SELECT compress_chunk('w');
SELECT bit_or(x) FILTER (WHERE v > 0), count(*) FROM w;
-- an order that is not that of the integers
CREATE FUNCTION turned_cmp(int, int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT btint4cmp($2, $1)';
CREATE FUNCTION turned_lt(int, int) RETURNS bool IMMUTABLE LANGUAGE sql AS 'SELECT $1 > $2';
CREATE FUNCTION turned_gt(int, int) RETURNS bool IMMUTABLE LANGUAGE sql AS 'SELECT $1 < $2';
CREATE OPERATOR <<< (FUNCTION = turned_lt, LEFTARG = int, RIGHTARG = int);
CREATE OPERATOR >>> (FUNCTION = turned_gt, LEFTARG = int, RIGHTARG = int);
SET ROLE postgres;
CREATE OPERATOR CLASS turned_ops FOR TYPE int USING btree AS OPERATOR 1 <<<, OPERATOR 3 =, OPERATOR 5 >>>, FUNCTION 1 turned_cmp(int, int);
RESET ROLE;
CREATE TABLE o (k int, i int NOT NULL) USING strata;
ALTER TABLE o SET (strata.segmentby = 'k', strata.orderby = 'i');
INSERT INTO o SELECT i % 2, i FROM generate_series(1, 300) AS i;
SELECT compress_chunk('o');
SELECT i, count(*) FROM o GROUP BY i ORDER BY i USING OPERATOR(agg_keys.>>>) LIMIT 2;
SELECT DISTINCT ON (k) k, i FROM o ORDER BY k, i USING OPERATOR(agg_keys.>>>);
-- a child that takes nulls
DO $$ BEGIN
	IF current_setting('server_version_num')::int < 180000 THEN
		CREATE TABLE mother (k int, i int NOT NULL) USING strata;
	ELSE
		EXECUTE 'CREATE TABLE mother (k int, i int, NOT NULL i NO INHERIT) USING strata';
	END IF;
	CREATE TABLE child () INHERITS (mother) USING strata;
	ALTER TABLE child ALTER i DROP NOT NULL;
END $$;
INSERT INTO child SELECT i % 2, nullif(i, 7) FROM generate_series(1, 300) AS i;
SELECT compress_chunk('child');
SELECT DISTINCT ON (k) k, i FROM mother ORDER BY k, i DESC;
SELECT i, count(*) FROM mother GROUP BY i ORDER BY i DESC LIMIT 2;
-- a column that stays in the target of a window function which need not be called
SELECT DISTINCT k, CASE WHEN NULL::bool AND max(1) OVER (PARTITION BY i ORDER BY k) > NULL::int THEN 1 ELSE 0 END AS c FROM o ORDER BY 1;
SELECT DISTINCT ON (k) k, CASE WHEN NULL::bool AND max(1) OVER (PARTITION BY i ORDER BY k) > NULL::int THEN 1 ELSE 0 END AS c, i FROM o ORDER BY k, i DESC;
DROP SCHEMA agg_keys CASCADE;
-- a bucket that is an error is one only for rows that are selected
CREATE TABLE far_heap (i bigint, s smallint, t timestamptz, l timestamp, v int);
INSERT INTO far_heap SELECT i * 2305843009213693, i * 8, timestamptz '2024-01-01' + i * interval '500 days', timestamp '2024-01-01' + i * interval '1 h', i FROM generate_series(-4000, 3999) i;
INSERT INTO far_heap VALUES (-9223372036854775808, -32768, '4714-11-24 00:00+00 BC', '4714-11-24 00:00 BC', -5000), (9223372036854775807, 32767, '294276-12-31 23:59+00', '294276-12-31 23:59', 5000);
CREATE TABLE far (LIKE far_heap) USING strata;
ALTER TABLE far SET (strata.orderby = 'i');
INSERT INTO far SELECT * FROM far_heap;
SELECT compress_chunk('far') IS NOT NULL AS compressed;
CREATE FUNCTION far_same(select_from text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE a text; b text;
BEGIN
	EXECUTE format('SELECT md5(string_agg(q::text, chr(10) ORDER BY q)) FROM (%s) q', format(select_from, 'far_heap')) INTO b;
	EXECUTE format('SELECT md5(string_agg(q::text, chr(10) ORDER BY q)) FROM (%s) q', format(select_from, 'far')) INTO a;
	RETURN CASE WHEN a = b THEN 'same' ELSE select_from END;
EXCEPTION WHEN numeric_value_out_of_range OR datetime_field_overflow THEN RETURN select_from || ': ' || SQLERRM;
END $$;
SELECT far_same('SELECT ' || b || ', count(*), sum(v) FROM %s WHERE v > -3999 GROUP BY 1' || o) AS result, count(*) FROM unnest(ARRAY['time_bucket(7::bigint, i)', 'time_bucket(9223372036854775::bigint, i)', 'time_bucket(1000::smallint, s)', 'time_bucket(''7 days'', t)',
		'time_bucket(''1 month'', t)', 'time_bucket(''999 days'', l)', 'date_bin(''3 days'', l, ''2000-01-01'')', 'date_trunc(''week'', t)', 'date_trunc(''millennium'', t)', 'date_trunc(''century'', l)', 'date_trunc(''day'', l)']) b,
	unnest(ARRAY['', ' ORDER BY 1 LIMIT 3', ' ORDER BY 1 DESC LIMIT 3']) o GROUP BY 1 ORDER BY 1;
SELECT time_bucket(7::bigint, i) FROM far GROUP BY 1;
DROP TABLE far, far_heap;
DROP FUNCTION far_same;
