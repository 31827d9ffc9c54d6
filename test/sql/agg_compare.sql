-- StrataAgg answers like PostgreSQL's own aggregation over a heap: many
-- queries, on every mix of batches, rows, and batches that lost rows.
SET client_min_messages = error;
CREATE SCHEMA agg_compare;
SET search_path = agg_compare, public;
SET timezone = 'America/New_York';
SET max_parallel_workers_per_gather = 0;
SET extra_float_digits = 3;
SET strata.batch_rows = 150;

CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN small AS int4 CHECK (value < 1000);
CREATE TABLE s (
    gone int, ts timestamptz NOT NULL, host text, seg int,
    i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, num numeric,
    d date, t timestamp, tm time, txt text, b bool, u uuid, iv interval, m money,
    e mood, dom small, ch char(5), vc varchar(20), arr int[], z float8
) USING strata;
ALTER TABLE s SET (strata.segmentby = 'host, seg', strata.orderby = 'ts DESC');
CREATE TABLE h (LIKE s INCLUDING ALL) USING heap;

-- quarters add up exactly in every order
CREATE FUNCTION make(first int, last int) RETURNS SETOF h LANGUAGE sql AS $$
    SELECT i, '2024-03-09 20:00-05'::timestamptz + i * interval '97 s',
        CASE i % 7 WHEN 6 THEN NULL ELSE 'host' || i % 7 END, i % 2,
        (CASE WHEN i % 11 <> 0 THEN i % 300 - 150 END)::int2,
        CASE WHEN i % 13 <> 0 THEN i * 7919 % 100003 - 50000 END,
        CASE WHEN i % 17 <> 0 THEN (i - 500)::int8 * 2305843009213693 END,
        CASE i % 50 WHEN 1 THEN 'NaN' WHEN 2 THEN NULL WHEN 3 THEN '-0' ELSE ((i % 1000 + 1) * 0.25)::float4 END,
        CASE WHEN i % 19 <> 0 THEN (i % 4001 - 2000) * 0.25 END,
        CASE i % 40 WHEN 7 THEN NULL WHEN 8 THEN 'NaN' ELSE (i % 777)::numeric / 8 END,
        CASE i % 60 WHEN 5 THEN NULL WHEN 6 THEN 'infinity'::date ELSE '2024-01-01'::date + i % 90 END,
        CASE i % 70 WHEN 3 THEN '-infinity'::timestamp WHEN 4 THEN NULL
            ELSE '1999-12-30'::timestamp + i * interval '10 min' END,
        '00:00'::time + i % 1440 * interval '1 min',
        CASE i % 23 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE repeat(chr(97 + i % 5), i % 3 + 1) END,
        CASE i % 5 WHEN 0 THEN NULL ELSE i % 3 = 0 END,
        ('00000000-0000-0000-0000-00000000000' || i % 4)::uuid,
        CASE i % 3 WHEN 0 THEN '1 mon' WHEN 1 THEN '5 days' ELSE '720:00:01' END::interval,
        (i % 100)::money, CASE i % 4 WHEN 0 THEN 'sad' WHEN 1 THEN 'ok' WHEN 2 THEN 'happy' END::mood,
        i % 8, CASE i % 6 WHEN 0 THEN NULL ELSE 'c' || i % 3 END, 'v' || i % 9, ARRAY[i % 3, i % 2],
        CASE i % 9 WHEN 0 THEN '-0'::float8 WHEN 1 THEN 2 WHEN 2 THEN 'infinity' WHEN 3 THEN '-infinity'
            WHEN 4 THEN 'NaN' WHEN 5 THEN NULL ELSE 1e-300 END
    FROM generate_series(first, last) AS i
$$;

-- Run a query on both tables, as T; a row for each difference, or error that
-- only one of them raises.
CREATE FUNCTION run(query text, OUT result text, OUT failure text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE query INTO result;
EXCEPTION WHEN OTHERS THEN
    failure := SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE FUNCTION different(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    wrap text := 'SELECT string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C") FROM (%s) AS q';
    strata record;
    heap record;
BEGIN
    SELECT * INTO strata FROM run(format(wrap, regexp_replace(query, '\mT\M', 's AS t', 'g')));
    SELECT * INTO heap FROM run(format(wrap, regexp_replace(query, '\mT\M', 'h AS t', 'g')));
    IF strata IS DISTINCT FROM heap THEN
        RETURN NEXT query;
        RETURN NEXT 'strata: ' || left(coalesce(strata.failure, strata.result, 'NULL'), 300);
        RETURN NEXT 'heap:   ' || left(coalesce(heap.failure, heap.result, 'NULL'), 300);
    END IF;
END $$;

CREATE TABLE aggs (id serial, list text);
INSERT INTO aggs (list) VALUES
    ('count(*)'),
    ('count(*), count(i4), count(1), count(NULL), count(host), count(txt), count(seg)'),
    ('sum(i2), sum(i4), sum(i8), avg(i2), avg(i4), avg(i8)'),
    ('sum(f8), avg(f8), min(f8), max(f8), count(f8)'),
    ('sum(f4), avg(f4), min(f4), max(f4)'),
    ('min(i2), max(i2), min(i4), max(i4), min(i8), max(i8), min(seg), max(seg)'),
    ('min(ts), max(ts), min(d), max(d), min(t), max(t), min(tm), max(tm), min(m), max(m)'),
    ('sum(num), avg(num), min(num), max(num)'),
    ('min(txt), max(txt), min(host), max(host), max(vc), min(ch), min(e), max(e)'),
    ('bool_and(b), bool_or(b), every(b), bit_and(i4), bit_or(i4)'),
    ('count(b), count(i2), count(num), sum(num), count(arr), bool_and(i4 > 0) FILTER (WHERE b), bool_or(NOT b), every(i2 IS NULL)'),
    ('sum(i4 + 1), avg(f8 * 2), max(i4 % 10), sum(coalesce(i2, 5)), count(nullif(txt, ''a''))'),
    ('sum(dom), avg(dom), max(dom), sum(iv), max(iv), max(u::text), sum(m)'),
    ('count(*) FILTER (WHERE i4 > 0), sum(i4) FILTER (WHERE txt = ''a''), max(f8) FILTER (WHERE false)'),
    ('sum(i4) FILTER (WHERE host IS NULL) + 1, max(i4) - min(i4), count(*) * 2'),
    ('variance(i4), stddev(i4), var_pop(i8), round(stddev(f8)::numeric, 6), round(variance(f8)::numeric, 4)'),
    ('min(z) FILTER (WHERE z > -1), max(z), avg(z), sum(z) FILTER (WHERE z < 1)'),
    ('count(DISTINCT i4), sum(i4)'),
    ('string_agg(vc, '','' ORDER BY ts, i4), count(*)'),
    ('percentile_disc(0.5) WITHIN GROUP (ORDER BY i4), count(*)'),
    ('max(arr), min(arr), count(arr), corr(f8, i4) IS NULL'),
    ('first(i4, ts), last(i4, ts), last(f8, i8), first(ts, i8), last(e, ts) FILTER (WHERE i4 > 0), first(i2, i8), last(i8, ts) FILTER (WHERE false)'),
    ('sum(i8 / 1000 * 9), avg(ts - ''2024-01-01''), min(i4::numeric), sum(f4::float8), max((SELECT 1) + i4)');

CREATE TABLE groups (id serial, list text);
INSERT INTO groups (list) VALUES
    (''), ('host'), ('host, seg'), ('seg'), ('i2'), ('i4 % 10'), ('txt'), ('txt, host'), ('b'), ('e, b'), ('d'),
    ('u'), ('iv'), ('num'), ('z'), ('ch'), ('vc'), ('dom'), ('m'), ('f8'), ('arr'),
    ('date_trunc(''hour'', ts)'), ('date_trunc(''day'', ts), host'), ('host, date_trunc(''week'', ts)'),
    ('date_trunc(''month'', ts)'), ('date_trunc(''hour'', t), seg'), ('date_trunc(''year'', t)'), ('date_trunc(''day'', t)'),
    ('date_bin(''15 min'', ts, ''2024-03-10 01:07'')'), ('date_bin(''7 min'', t, ''2000-01-01 00:00:30''), host'),
    ('date_trunc(''minute'', ts) + interval ''1 s'''), ('date_trunc(''hour'', ts, ''Asia/Kathmandu'')'),
    ('extract(hour FROM ts)'), ('upper(txt)'), ('tm, seg'), ('ts, host, seg'), ('i8'), ('GROUPING SETS ((host), (seg), ())');

CREATE TABLE wheres (id serial, cond text);
INSERT INTO wheres (cond) VALUES
    ('true'), ('host = ''host1'''), ('host IN (''host0'', ''host3'') AND seg = 1'), ('host IS NULL'),
    ('ts >= ''2024-03-10 00:00'' AND ts < ''2024-03-10 06:00'''), ('ts < ''2000-01-01'''),
    ('i4 > 10000'), ('i4 BETWEEN -100 AND 30000 AND f8 IS NOT NULL'), ('txt = ''a'' OR i2 > 100'),
    ('f4 = ''NaN'''), ('num > 50'), ('i4::text LIKE ''%7'''), ('i8 > 0 AND txt LIKE ''b%'''), ('false'),
    ('ts > ''2024-03-11'' AND host = ''host2'''), ('i4 IS NULL');

-- All in all too many: each list of aggregates meets each grouping, and each
-- grouping each condition, with the third drawn by the state.
CREATE FUNCTION compare(state int) RETURNS TABLE (queries int, differences text) LANGUAGE plpgsql AS $$
DECLARE
    q record;
BEGIN
    queries := 0;
    FOR q IN SELECT a.list AS aggs, g.list AS keys, w.cond
        FROM aggs AS a, groups AS g, wheres AS w
        WHERE (a.id * 5 + g.id * 3 + w.id * 7 + state) % 32 = 0 AND (a.id + g.id + w.id) % 3 = state % 3
    LOOP
        queries := queries + 1;
        FOR differences IN SELECT different(format('SELECT %s%s FROM T WHERE %s%s',
            CASE WHEN q.keys = '' OR q.keys LIKE 'GROUPING%' THEN '' ELSE q.keys || ', ' END, q.aggs, q.cond,
            CASE WHEN q.keys <> '' THEN ' GROUP BY ' || q.keys ELSE '' END))
        LOOP
            RETURN NEXT;
        END LOOP;
    END LOOP;
    differences := 'done';
    RETURN NEXT;
END $$;

-- nothing at all, then rows only
SELECT * FROM compare(0);
INSERT INTO s SELECT * FROM make(1, 3000);
INSERT INTO h SELECT * FROM make(1, 3000);
ANALYZE s, h;
SELECT * FROM compare(1);
-- batches only
SELECT compress_chunk('s');
ANALYZE s;
SELECT * FROM compare(2);
-- both
INSERT INTO s SELECT * FROM make(3001, 3900);
INSERT INTO h SELECT * FROM make(3001, 3900);
ANALYZE s, h;
SELECT * FROM compare(3);
-- some rows of batches are gone or elsewhere
DELETE FROM s WHERE gone % 500 = 7;
DELETE FROM h WHERE gone % 500 = 7;
UPDATE s SET i4 = 5, f8 = NULL, txt = 'new' WHERE gone % 700 = 3;
UPDATE h SET i4 = 5, f8 = NULL, txt = 'new' WHERE gone % 700 = 3;
ANALYZE s, h;
SELECT * FROM compare(4);
-- columns come and go
ALTER TABLE s DROP COLUMN gone, ADD COLUMN more int DEFAULT 42, ADD COLUMN late text;
ALTER TABLE h DROP COLUMN gone, ADD COLUMN more int DEFAULT 42, ADD COLUMN late text;
INSERT INTO aggs (list) VALUES ('sum(more), min(more), count(more), count(late), max(late), avg(more)'),
    ('max(more) FILTER (WHERE late IS NULL), sum(more + i4), count(*)');
INSERT INTO groups (list) VALUES ('more'), ('late, more'), ('more, host');
SELECT * FROM compare(5);
UPDATE s SET late = 'x', more = NULL WHERE i4 % 97 = 0;
UPDATE h SET late = 'x', more = NULL WHERE i4 % 97 = 0;
SELECT compress_chunk('s');
ALTER TABLE s SET (strata.segmentby = 'seg', strata.orderby = 'host, ts');
INSERT INTO s (ts, host, seg, i4, late) SELECT '2024-05-01', 'last', 9, 1, 'y' FROM generate_series(1, 400);
INSERT INTO h (ts, host, seg, i4, late) SELECT '2024-05-01', 'last', 9, 1, 'y' FROM generate_series(1, 400);
SELECT compress_chunk('s');
ANALYZE s, h;
SELECT * FROM compare(6);
-- little memory: groups go to disk and come back
SET work_mem = '64kB';
SET strata.agg_least_groups = 16;
SET hash_mem_multiplier = 1;
SELECT * FROM compare(7);
SELECT different(q) FROM unnest(ARRAY[
    'SELECT ts, host, seg, sum(i4), avg(f8), max(txt), sum(num), min(d), count(*), bool_or(b) FROM T GROUP BY 1, 2, 3',
    'SELECT i4, txt, count(*), sum(i8), avg(i8), stddev(i4), max(u::text) FROM T GROUP BY i4, txt',
    'SELECT i8, max(vc), min(iv), sum(f4), variance(f8), every(b), max(z) FROM T GROUP BY i8 HAVING count(*) < 3']) AS q;
RESET work_mem;
RESET hash_mem_multiplier;

-- forms of query; agg:G7: parameters that change
SELECT different(q) FROM unnest(ARRAY[
    'SELECT host, count(*) FROM T GROUP BY host HAVING count(*) > 100 AND max(i4) > 0 ORDER BY host DESC LIMIT 3',
    'SELECT host, h.n FROM (SELECT host, count(*) AS n FROM T GROUP BY host) AS h JOIN (VALUES (''host1''), (''host2'')) AS v (x) ON v.x = h.host',
    'SELECT v.x, (SELECT count(*) FROM T WHERE t.seg = v.x) FROM (VALUES (0), (1), (2), (NULL)) AS v (x)',
    'SELECT v.x, q.* FROM (VALUES (0), (1), (2)) AS v (x), LATERAL (SELECT sum(i4 + v.x), max(i4) FILTER (WHERE seg = v.x) FROM T WHERE t.host = ''host'' || v.x) AS q',
    'SELECT v.x, q.* FROM (VALUES (0), (1), (2)) AS v (x), LATERAL (SELECT i4 % (v.x + 2) AS k, count(*) FROM T GROUP BY 1) AS q',
    'SELECT v.x, q.* FROM (VALUES (3), (1), (2)) AS v (x), LATERAL (SELECT txt, count(*) FROM T WHERE t.i2 > v.x GROUP BY 1) AS q',
    'SELECT sum(n) OVER (ORDER BY host), host FROM (SELECT host, count(*) AS n FROM T GROUP BY host) AS q',
    'SELECT host, rank() OVER (ORDER BY sum(i4)) FROM T GROUP BY host',
    'SELECT DISTINCT count(*) FROM T GROUP BY host',
    'SELECT seg, array_agg(n ORDER BY n) FROM (SELECT seg, host, count(*) AS n FROM T GROUP BY 1, 2) AS q GROUP BY seg',
    'SELECT count(*) FROM T WHERE i4 > (SELECT avg(i4) FROM T)',
    'SELECT max(i4) FROM T HAVING max(i4) > (SELECT min(i4) FROM T)',
    'SELECT count(*) FROM T JOIN (SELECT host AS k, max(ts) AS last FROM T GROUP BY host) AS q ON t.host = q.k AND t.ts = q.last',
    'SELECT host AS a, host || ''x'' AS b, length(host) + count(*) FROM T GROUP BY host',
    'SELECT generate_series(1, 2), count(*) FROM T GROUP BY seg',
    'SELECT max(ts) FROM T', 'SELECT min(ts), max(ts) FROM T WHERE host = ''host1''',
    'SELECT tableoid::regclass IS NOT NULL, count(*) FROM T GROUP BY 1',
    'SELECT count(t), count(t.*) FROM T', 'SELECT seg FROM T GROUP BY seg', 'SELECT 1 FROM T GROUP BY ()',
    'SELECT ''c'' AS c, count(*) FROM T GROUP BY ''c''::text, seg',
    'SELECT count(*) FROM T WHERE random() < 2', 'SELECT count(random()) FROM T', 'SELECT sum(1) FROM T',
    'SELECT count(*) FROM T TABLESAMPLE SYSTEM (100)', 'SELECT sum(i4) FROM T WHERE 1 = 0',
    'SELECT host, max(i4) FROM T WHERE host > ANY (ARRAY[''host2'', ''host4'']) GROUP BY host',
    'SELECT date_trunc(''nonsense'', ts), count(*) FROM T GROUP BY 1',
    'SELECT sum(1 / (i2 - i2)) FROM T', 'SELECT i4 / 0, count(*) FROM T GROUP BY 1',
    'SELECT sum(1e308 * sign(f8)) FROM T WHERE f8 > 0', 'SELECT avg(1e200::float8 * seg), avg(f8 * 1e306) FROM T',
    'SELECT sum(f4 * 1e38::float4) FROM T WHERE f4 > 1 AND f4 < ''NaN''']) AS q;

-- overflow of values that are there
CREATE TABLE big_h (k int, f8 float8, f4 float4, i8 int8);
CREATE TABLE big_s (LIKE big_h) USING strata;
INSERT INTO big_h SELECT i % 3, CASE WHEN i % 2 = 0 THEN 1e308 ELSE 1 END, 3e38, 9223372036854775807 FROM generate_series(1, 300) AS i;
INSERT INTO big_s SELECT * FROM big_h;
SELECT compress_chunk('big_s');
SELECT sum(f8) FROM big_s;
SELECT avg(f8) FROM big_s;
SELECT sum(f4) FROM big_s;
SELECT k, sum(f8) FROM big_s GROUP BY k;
SELECT sum(i8) = (SELECT sum(i8) FROM big_h), avg(i8) = (SELECT avg(i8) FROM big_h), max(f8), avg(f4) FROM big_s;

-- the order of addition is that of the rows: the same bits as without us
CREATE TABLE drift USING strata AS SELECT i % 3 AS k, (sin(i) * 10 ^ (i % 9))::float8 AS x, (cos(i) * 10 ^ (i % 5))::float4 AS y
    FROM generate_series(1, 5000) AS i;
SELECT compress_chunk('drift');
INSERT INTO drift SELECT i % 3, (sin(i) * 10 ^ (i % 9))::float8, cos(i)::float4 FROM generate_series(5001, 6000) AS i;
CREATE FUNCTION bits() RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', sum(x), avg(x), stddev(x), sum(y), avg(y), var_pop(y), sum(x) FILTER (WHERE k = 1), avg(y * x),
        min(x * 0), max(y * 0), min(x * 0) FILTER (WHERE x < 0), min(y * 0) FILTER (WHERE y > 0), sum(x * 0) FILTER (WHERE x < 0), first(x, k), last(y, k), first(x, k) FILTER (WHERE y > 0))
    FROM drift
$$;
-- (but for summaries, which add the sum of a batch at once)
SET strata.enable_summary_agg = off;
SELECT set_config('agg_compare.bits', bits(), false) <> '' AS fast;
SET strata.enable_vector_agg = off;
SELECT current_setting('agg_compare.bits') = bits() AS same;
RESET strata.enable_vector_agg;
RESET strata.enable_summary_agg;

-- buckets of time, around every kind of change of a zone's offset
CREATE TABLE times (k int, tz timestamptz, t timestamp, d date, n int, n8 int8) USING strata;
ALTER TABLE times SET (strata.orderby = 'tz DESC', strata.segmentby = 'k');
INSERT INTO times SELECT i % 2, q.tz, q.tz AT TIME ZONE 'UTC', q.tz::date, i - 9000, i - 9000 FROM (
    SELECT row_number() OVER () AS i, tz FROM (
        SELECT generate_series('1987-03-20'::timestamptz, '1987-11-10', '67 min') AS tz
        UNION ALL SELECT generate_series('1883-11-17 00:00:01'::timestamptz, '1883-11-20', '11 min 3 s')
        UNION ALL SELECT generate_series('2011-12-25'::timestamptz, '2012-01-04', '7 min')
        UNION ALL SELECT generate_series('2024-10-25'::timestamptz, '2024-11-12', '9 min 1.5 s')
        UNION ALL SELECT generate_series('0010-01-01 BC'::timestamptz, '0008-01-01 BC', '9 days')
        UNION ALL SELECT unnest('{infinity,-infinity,"4000-01-02 BC","290000-01-01"}'::timestamptz[])) AS p) AS q;
SELECT compress_chunk('times');
INSERT INTO times VALUES (0, NULL, NULL, NULL, NULL, NULL), (1, '2024-11-03 01:30-04', '2024-11-03 01:30', '2024-11-03', 1, 1);
CREATE FUNCTION buckets(expr text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    digests text[];
    digest text;
    switch text;
BEGIN
    FOREACH switch IN ARRAY ARRAY['on', 'off'] LOOP
        PERFORM set_config('strata.enable_vector_agg', switch, true);
        BEGIN
            EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text) FROM (SELECT %s AS b, count(*), sum(n) FROM times GROUP BY 1) AS q', expr) INTO digest;
        EXCEPTION WHEN OTHERS THEN
            digest := SQLERRM;
        END;
        digests := digests || coalesce(digest, 'NULL');
    END LOOP;
    RETURN CASE WHEN digests[1] = digests[2] THEN 'same' ELSE expr || ' in ' || current_setting('timezone') || ': ' || left(digests[1], 100) || ' / ' || left(digests[2], 100) END;
END $$;
CREATE FUNCTION all_buckets() RETURNS TABLE (result text) LANGUAGE plpgsql AS $$
DECLARE
    zone text;
BEGIN
    FOREACH zone IN ARRAY '{UTC,America/New_York,America/St_Johns,Australia/Lord_Howe,Pacific/Apia,Asia/Kathmandu,Europe/Amsterdam,America/Sao_Paulo}'::text[] LOOP
        PERFORM set_config('timezone', zone, true);
        RETURN QUERY SELECT buckets(format(f, u)) FROM unnest(ARRAY['date_trunc(%L, tz)', 'date_trunc(%L, t)']) AS f,
            unnest('{milliseconds,second,minute,hour,day,week,month,quarter,year,decade,century,millennium,HOUR,nonsense,microseconds}'::text[]) AS u;
        RETURN QUERY SELECT buckets(e) FROM unnest(ARRAY[
            'date_bin(''15 min'', tz, ''2000-01-01'')', 'date_bin(''1 day 3 s'', tz, ''1987-06-01 00:00:07'')', 'date_bin(''1 h'', t, ''2100-01-01'')',
            'date_bin(''1 month'', t, ''2000-01-01'')', 'date_bin(''-1 h'', t, ''2000-01-01'')', 'date_bin(''1 h'', t, ''infinity'')',
            'date_trunc(''hour'', tz, ''Asia/Tokyo'')', 'date_trunc(''day'', d)', 'time_bucket(''7 min'', tz)', 'time_bucket(''1 day'', tz)',
            'time_bucket(''1 month'', tz)', 'time_bucket(''5 h'', t)', 'time_bucket(''7 days'', d)', 'time_bucket(7, n)', 'time_bucket(1000, n)',
            'time_bucket(13::int8, n8)', 'time_bucket(0, n)', 'time_bucket(''2 h'', tz, ''Europe/Berlin'')', 'time_bucket(''2 h'', tz, ''13 min''::interval)']) AS e;
    END LOOP;
END $$;
SELECT result, count(*) FROM all_buckets() GROUP BY 1;

-- prepared, with plans for any value of the parameters
SET plan_cache_mode = force_generic_plan;
PREPARE by_host (text, int) AS SELECT seg, count(*), sum(i4 + $2), max(i4) FILTER (WHERE i4 < $2) FROM s WHERE host = $1 GROUP BY seg ORDER BY seg;
EXECUTE by_host ('host1', 3);
EXECUTE by_host ('host2', NULL);
EXECUTE by_host (NULL, 3);
PREPARE whole AS SELECT count(*), sum(i4) FROM s;
EXECUTE whole;
DELETE FROM s WHERE host = 'host1';
EXECUTE whole;
EXECUTE by_host ('host1', 3);
SELECT compress_chunk('s');
EXECUTE whole;
TRUNCATE s;
EXECUTE whole;
DEALLOCATE ALL;
RESET plan_cache_mode;

-- agg:G9: who may not call an aggregate may not call it here
CREATE ROLE agg_compare_user;
GRANT agg_compare_user TO CURRENT_USER;
GRANT USAGE ON SCHEMA agg_compare TO agg_compare_user;
GRANT SELECT ON drift TO agg_compare_user;
BEGIN;
SET ROLE postgres;
REVOKE EXECUTE ON FUNCTION sum(float8) FROM public;
RESET ROLE;
SET LOCAL ROLE agg_compare_user;
SELECT avg(x) IS NULL FROM drift;
SELECT sum(x) FROM drift;
ROLLBACK;
REVOKE SELECT ON drift FROM agg_compare_user;
REVOKE USAGE ON SCHEMA agg_compare FROM agg_compare_user;
DROP ROLE agg_compare_user;
DROP SCHEMA agg_compare CASCADE;
