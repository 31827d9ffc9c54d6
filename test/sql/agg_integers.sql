-- Floats that are integers are added, and compared, as such: the same answers, and the same signs of zero.
SET client_min_messages = error;
CREATE SCHEMA agg_integers;
SET search_path = agg_integers, public;
SET timezone = 'UTC';
SET extra_float_digits = 3;
SET max_parallel_workers_per_gather = 0;
-- sorting would bring rows of a group into another order
SET enable_sort = off;
SET strata.batch_rows = 200;

CREATE TABLE s (
    ts timestamptz NOT NULL, host text, small float8, small4 float4, wide float8, wide4 float4, huge float8, zero float8,
    minus float8, nan float8, part float8, gaps float8, grows float8
) USING strata WITH (strata.segmentby = 'host', strata.orderby = 'ts');
CREATE TABLE h (LIKE s) USING heap;
-- batch by batch other things happen: part has halves, so that sums are no integers behind them; grows is beyond
-- what is exact, so that the order of its rows counts
INSERT INTO h SELECT '2024-01-01'::timestamptz + i * interval '10 s', 'h' || i % 2,
    i * 7919 % 65536 - 32768, i * 31 % 200 - 100, i * 104729.0 % 4294967296 - 2147483648, i * 4096 % 2000000 - 1000000,
    i * 1048573.0 * 16, CASE WHEN i % 4 < 2 THEN 5 ELSE -5 END,
    CASE i / 800 WHEN 1 THEN '-0' WHEN 2 THEN CASE WHEN i % 100 = 0 THEN '-0'::float8 ELSE i % 9 - 4 END ELSE 0 END,
    CASE i / 800 WHEN 1 THEN CASE WHEN i % 50 = 0 THEN 'NaN' WHEN i % 50 = 9 THEN 'infinity' ELSE 3::float8 END ELSE i % 11 END,
    i % 100 + CASE WHEN i / 400 % 3 = 1 THEN 0.5 ELSE 0 END, CASE WHEN i % 13 > 0 OR i > 2000 THEN i % 77 END,
    CASE i / 400 WHEN 1 THEN 1e17 WHEN 3 THEN -1e17 ELSE i % 10 + 1 END
FROM generate_series(0, 2799) AS i;
INSERT INTO s SELECT * FROM h ORDER BY ts;
SELECT count(*) > 0 FROM compress_chunk('s');

CREATE FUNCTION run(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C") FROM (%s) AS q', query) INTO result;
    RETURN result;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE TABLE columns (name text);
INSERT INTO columns VALUES ('small'), ('small4'), ('wide'), ('wide4'), ('huge'), ('zero'), ('minus'), ('nan'), ('part'), ('gaps'), ('grows');
CREATE TABLE lists (list text);
INSERT INTO lists VALUES ('sum(@), avg(@), min(@), max(@), count(@), count(*)'), ('avg(@), round(stddev(@)::numeric, -3)'),
    ('max(@), sum(@) FILTER (WHERE @ > 1)'), ('min(@), sum(@ * 2)'), ('avg(@), last(@, ts)');
CREATE TABLE keys (key text);
INSERT INTO keys VALUES ('host'), ('host, date_bin(''7 min'', ts, ''2000-01-01'')'), ('host, @');
CREATE TABLE conditions (cond text);
INSERT INTO conditions VALUES ('true'), ('ts >= ''2024-01-01 01:11:11'' AND ts < ''2024-01-01 09:00''') , ('@ > 0'), ('gaps IS NULL OR gaps::int % 3 = 1');
-- What depends on the order of rows (sums in grows and of float4, zeros in minus) is that of the scan: compared with
-- PostgreSQL's aggregation of the same rows, as they lie.
CREATE FUNCTION run_by_row(query text) RETURNS text LANGUAGE sql SET strata.enable_vector_agg = off SET strata.enable_ordered_scan = off AS 'SELECT run(query)';
CREATE FUNCTION differences() RETURNS TABLE (many bool, different text) LANGUAGE sql AS $$
    SELECT count(*) > 500, min(query) FILTER (WHERE run(replace(query, 'FROM t', 'FROM s')) IS DISTINCT FROM
        CASE WHEN name IN ('grows', 'minus', 'wide4') THEN run_by_row(replace(query, 'FROM t', 'FROM s')) ELSE run(replace(query, 'FROM t', 'FROM h')) END)
    FROM (SELECT name, replace(format('SELECT %s, %s FROM t WHERE %s GROUP BY %s', key, list, cond, key), '@', name) AS query
          FROM columns, lists, keys, conditions
          WHERE name <> 'grows' OR NOT current_setting('strata.enable_summary_agg')::bool) AS q
$$;
SELECT * FROM differences();
SET strata.enable_summary_agg = off;
SELECT * FROM differences();
-- rows that are not in the batches any more, and such as are in no batch yet
DELETE FROM s WHERE ts::text LIKE '%3:20+00';
DELETE FROM h WHERE ts::text LIKE '%3:20+00';
INSERT INTO s SELECT ts + interval '1 day', host, 7, 7, 7, 7, 7, 0.25, '-0', 7, 7, 7, 7 FROM h LIMIT 100;
INSERT INTO h SELECT * FROM s WHERE ts >= '2024-01-02';
SELECT * FROM differences();
DROP SCHEMA agg_integers CASCADE;
