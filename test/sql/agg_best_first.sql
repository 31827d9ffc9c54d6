-- The first n buckets, and the first or last row of a table, by walking the companion's index from one end: the
-- answers are a heap's, upward and downward; how many batches are read is shown by
-- agg_early_stop_plan.sql.
SET client_min_messages = error;
SET timezone = 'UTC';
SET max_parallel_workers_per_gather = 0;
SET strata.batch_rows = 10;
SET random_page_cost = 1;
CREATE SCHEMA agg_best_first;
SET search_path = agg_best_first, public;

-- by no segment, one (some null), two; downward; of a column that may be null; in partitions
CREATE TABLE h (ts timestamptz NOT NULL, nts timestamptz, host text, seg int2, n int, v float8);
CREATE TABLE plain (LIKE h) USING strata WITH (strata.orderby = 'ts');
CREATE TABLE down (LIKE h) USING strata WITH (strata.segmentby = 'host', strata.orderby = 'ts DESC');
CREATE TABLE two (LIKE h) USING strata WITH (strata.segmentby = 'host, seg', strata.orderby = 'ts');
CREATE TABLE nulls (LIKE h) USING strata WITH (strata.segmentby = 'seg', strata.orderby = 'nts');
CREATE TABLE nulls_first (LIKE h) USING strata WITH (strata.orderby = 'nts NULLS FIRST');
CREATE TABLE numbers (LIKE h) USING strata WITH (strata.segmentby = 'host', strata.orderby = 'n DESC');
CREATE TABLE parts (LIKE h) PARTITION BY RANGE (ts);
CREATE TABLE p1 PARTITION OF parts FOR VALUES FROM (MINVALUE) TO ('2020-01-02') USING strata WITH (strata.segmentby = 'host', strata.orderby = 'ts');
CREATE TABLE p2 PARTITION OF parts FOR VALUES FROM ('2020-01-02') TO ('2020-01-03') USING strata WITH (strata.orderby = 'ts DESC');
CREATE TABLE p3 PARTITION OF parts DEFAULT USING strata WITH (strata.segmentby = 'seg', strata.orderby = 'ts');
CREATE TABLE tables AS SELECT unnest(ARRAY['plain', 'down', 'two', 'nulls', 'nulls_first', 'numbers', 'parts']) AS rel;
CREATE TABLE chunks AS SELECT unnest(ARRAY['plain', 'down', 'two', 'nulls', 'nulls_first', 'numbers', 'p1', 'p2', 'p3']) AS rel;
-- rows come out of order, so that batches overlap, and some are long
INSERT INTO h SELECT '2020-01-01'::timestamptz + (i + CASE WHEN i % 311 = 0 THEN 900 ELSE i * 7 % 40 END) * interval '121 s' + i * interval '1 us',
    CASE WHEN i % 23 > 0 THEN '2020-01-01'::timestamptz + (i * 37 % 2003) * interval '118 s' END,
    CASE i % 4 WHEN 3 THEN NULL ELSE 'host' || i % 4 END, CASE WHEN i % 5 < 2 THEN i % 5 END, i * 7919 % 2003 - 900, i % 17 * 0.5
    FROM generate_series(1, 2000) AS i;

CREATE FUNCTION change(statement text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    rel text;
BEGIN
    FOR rel IN SELECT 'h' UNION ALL SELECT t.rel FROM tables AS t LOOP
        EXECUTE regexp_replace(statement, '\mT\M', rel, 'g');
    END LOOP;
END $$;
CREATE FUNCTION compress() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM compress_chunk(rel) FROM chunks;
    ANALYZE plain, down, two, nulls, nulls_first, numbers, parts, p1, p2, p3;
END $$;

CREATE TABLE queries (no serial, q text);
INSERT INTO queries (q) SELECT format('select %s, count(*), sum(n), max(v) from T where %s group by 1 order by 1 %s limit %s', key, cond, dir, n)
    FROM unnest(ARRAY['time_bucket(''1 minute'', ts)', 'date_trunc(''hour'', ts)', 'ts', 'date_trunc(''hour'', nts)', 'nts', 'n', 'time_bucket(10, n)']) AS key,
        unnest(ARRAY['true', 'ts < ''2020-01-02 13:07:21''', 'ts >= ''2020-01-02 13:07:21''', 'ts > ''2020-01-01 20:00'' and ts <= ''2020-01-03''', 'ts = ''2020-01-02''',
            'nts < ''2020-01-02 13:07:21''', 'nts > ''2020-01-02 13:07:21''', 'n < 500', 'n > 500', 'host = ''host1''', 'host is null', 'v > 7 and host <> ''host2''', 'ts < $1', 'ts < ''1999-01-01''']) AS cond,
        unnest(ARRAY['asc', 'desc', 'desc nulls last', 'asc nulls first']) AS dir, unnest(ARRAY['1', '4 offset 2']) AS n
    WHERE n = '1' OR cond IN ('true', 'ts < ''2020-01-02 13:07:21''');
INSERT INTO queries (q) SELECT format('select %s from T where %s', what, cond)
    FROM unnest(ARRAY['max(ts), last(v, ts)', 'first(v, ts)', 'last(n, nts), max(nts)', 'min(nts)', 'max(n), last(ts, n)', 'min(n)', 'last(host, ts), first(host, ts)']) AS what,
        unnest(ARRAY['true', 'ts < ''2020-01-02 13:07:21''', 'nts > ''2020-01-02 13:07:21''', 'n < 500', 'ts < $1', 'v > 7', 'false']) AS cond;
INSERT INTO queries (q) VALUES ('select time_bucket(''1 hour'', ts), host, count(*) from T group by 1, 2 order by 1 desc, 2 limit 7'),
    ('select w.d, q.* from generate_series(''2020-01-01''::timestamptz, ''2020-01-05'', ''7 hours'') as w (d), lateral (select time_bucket(''1 minute'', ts), sum(n) from T where ts < w.d group by 1 order by 1 desc limit 3) as q');

DELETE FROM queries WHERE no % 3 > 0 AND q LIKE '%group by 1 order%';

-- a parameter in a plan that is kept
SET plan_cache_mode = force_generic_plan;
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    got text;
    wrap text := format('SELECT string_agg(q::text, '' '' ORDER BY q::text COLLATE "C") FROM (%s) AS q', query);
BEGIN
    EXECUTE wrap INTO got USING '2020-01-03 02:03:04'::timestamptz;
    RETURN got;
END $$;
CREATE FUNCTION different() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    rel text; query text; expected text; got text;
BEGIN
    FOR query IN SELECT q FROM queries LOOP
        expected := answer(regexp_replace(query, '\mT\M', 'h', 'g'));
        FOR rel IN SELECT t.rel FROM tables AS t LOOP
            got := answer(regexp_replace(query, '\mT\M', rel, 'g'));
            IF got IS DISTINCT FROM expected THEN
                RETURN NEXT format(E'%s: %s\n  is        %s\n  should be %s', rel, query, left(got, 200), left(expected, 200));
            END IF;
        END LOOP;
    END LOOP;
END $$;

SELECT change('INSERT INTO T SELECT * FROM h WHERE ''T'' <> ''h''');
SELECT compress();
SELECT 'batches', different();
-- batches that lost rows, whole ones among them, and rows beside batches
SELECT change('DELETE FROM T WHERE ts >= ''2020-01-03 15:00'' OR n = 1100 OR n < -890');
SELECT change('UPDATE T SET v = v + 1, nts = nts - interval ''1 s'' WHERE n % 50 = 0');
SELECT change('INSERT INTO T SELECT ''2020-01-02''::timestamptz + i * interval ''67.5 s'', CASE WHEN i % 3 > 0 THEN ''2020-01-03''::timestamptz + i * interval ''1.5 s'' END, ''host9'', 7, 5000 + i, NULL FROM generate_series(1, 90) AS i');
SELECT change('INSERT INTO T (ts, nts, n) VALUES (''infinity'', ''-infinity'', 2147483647), (''-infinity'', ''infinity'', -2147483640)');
SELECT 'mixed', different();
-- batches of other settings beside these
ALTER TABLE plain SET (strata.segmentby = 'host', strata.orderby = 'ts DESC');
ALTER TABLE down SET (strata.segmentby = '', strata.orderby = 'n, ts');
ALTER TABLE two SET (strata.segmentby = 'seg', strata.orderby = 'ts');
ALTER TABLE nulls SET (strata.segmentby = 'host', strata.orderby = 'nts DESC');
ALTER TABLE p1 SET (strata.segmentby = '', strata.orderby = 'ts');
SELECT compress();
SELECT change('INSERT INTO T SELECT ts + interval ''1 hour'', nts - interval ''1 day'', host, seg, n + 10000, v FROM h WHERE n % 7 = 0 AND isfinite(ts) AND ''T'' <> ''h''');
INSERT INTO h SELECT ts + interval '1 hour', nts - interval '1 day', host, seg, n + 10000, v FROM h WHERE n % 7 = 0 AND isfinite(ts);
SELECT compress();
SELECT 'other settings', different();

-- segments of a column that was of a type of another order
CREATE TABLE turned (o oid NOT NULL, host text, n int) USING strata WITH (strata.segmentby = 'host', strata.orderby = 'o');
INSERT INTO turned SELECT (4294967000 + i)::oid, 'h' || i % 3, i FROM generate_series(0, 295) AS i UNION ALL SELECT i::oid, 'h' || i % 3, i FROM generate_series(1, 9000) AS i;
SELECT compress_chunk('turned');
ALTER TABLE turned ALTER o TYPE int;
ANALYZE turned;
SELECT host, max(o), last(n, o) FROM turned GROUP BY 1 ORDER BY 1;
SELECT host, min(o), first(n, o) FROM turned GROUP BY 1 ORDER BY 1;
SELECT max(o), last(n, o) FROM turned;
SELECT min(o), first(n, o) FROM turned;
SELECT o, sum(n) FROM turned GROUP BY 1 ORDER BY 1 DESC LIMIT 3;
SELECT o, sum(n) FROM turned GROUP BY 1 ORDER BY 1 LIMIT 3;
DROP SCHEMA agg_best_first CASCADE;
