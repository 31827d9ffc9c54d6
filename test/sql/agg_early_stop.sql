-- StrataAgg reads what can change its result: the latest row of each group, the
-- first n buckets of time.  Answers are those of a heap, with the switch on and
-- off, on batches, rows, and batches that lost rows.
SET client_min_messages = error;
SET timezone = 'America/St_Johns';
SET max_parallel_workers_per_gather = 0;
SET strata.batch_rows = 50;
CREATE SCHEMA agg_early_stop;
SET search_path = agg_early_stop, public;

-- one table, and one with partitions: batches of other settings, and a heap
CREATE TABLE one (gone int, ts timestamptz NOT NULL, host text, seg int2, n int, v float8, txt text, nts timestamptz, num numeric, ch char(4)) USING strata;
CREATE TABLE parts (LIKE one) PARTITION BY RANGE (ts);
CREATE TABLE p1 PARTITION OF parts FOR VALUES FROM (MINVALUE) TO ('2006-10-28') USING strata;
CREATE TABLE p2 PARTITION OF parts FOR VALUES FROM ('2006-10-28') TO ('2006-10-29') USING strata;
CREATE TABLE p3 PARTITION OF parts FOR VALUES FROM ('2006-10-29') TO ('2006-10-30') USING heap;
CREATE TABLE p4 PARTITION OF parts DEFAULT USING strata;
CREATE TABLE h (LIKE one);
ALTER TABLE one SET (strata.segmentby = 'host, seg', strata.orderby = 'ts');
ALTER TABLE p1 SET (strata.segmentby = 'host', strata.orderby = 'ts DESC');
ALTER TABLE p2 SET (strata.segmentby = 'host, seg', strata.orderby = 'ts');
ALTER TABLE p4 SET (strata.segmentby = 'seg', strata.orderby = 'n');
-- days around the hour that St. John's repeated at midnight; no two rows of one time
INSERT INTO one SELECT i, '2006-10-27 12:00-02:30'::timestamptz + i * interval '79 s',
    CASE i % 7 WHEN 3 THEN NULL ELSE 'host' || i % 7 END, CASE WHEN i % 5 < 4 THEN i % 5 END, i * 7919 % 1009,
    CASE i % 11 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' WHEN 2 THEN '-0' ELSE i * 0.25 END,
    CASE WHEN i % 13 > 0 THEN repeat(chr(97 + i % 26), i % 40) END,
    CASE WHEN i % 17 > 0 THEN '2006-10-29'::timestamptz + (i * 31 % 3001) * interval '1 min' END,
    CASE WHEN i % 19 > 0 THEN i / 8.0 END, 'c' || i % 3
    FROM generate_series(1, 3000) AS i;
INSERT INTO parts TABLE one;
INSERT INTO h TABLE one;
ALTER TABLE one DROP COLUMN gone, ADD COLUMN more int DEFAULT 7;
ALTER TABLE parts DROP COLUMN gone, ADD COLUMN more int DEFAULT 7;
ALTER TABLE h DROP COLUMN gone, ADD COLUMN more int DEFAULT 7;

CREATE FUNCTION different(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    wrap text := 'SELECT string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C") FROM (%s) AS q';
    rel text;
    stop text;
    expected text;
    got text;
BEGIN
    EXECUTE format(wrap, regexp_replace(query, '\mT\M', 'h AS t', 'g')) INTO expected;
    FOREACH rel IN ARRAY ARRAY['one', 'parts'] LOOP
        FOREACH stop IN ARRAY ARRAY['on', 'off'] LOOP
            PERFORM set_config('strata.enable_early_stop', stop, true);
            EXECUTE format(wrap, regexp_replace(query, '\mT\M', rel || ' AS t', 'g')) INTO got;
            IF got IS DISTINCT FROM expected THEN
                RETURN NEXT format('%s, %s: %s', rel, stop, query);
                RETURN NEXT '  is        ' || left(coalesce(got, 'NULL'), 200);
                RETURN NEXT '  should be ' || left(coalesce(expected, 'NULL'), 200);
            END IF;
        END LOOP;
    END LOOP;
END $$;

CREATE TABLE queries (q text);
-- the latest and the first row
INSERT INTO queries SELECT format('select distinct on (%s) %s from T where %s order by %s, ts %s', keys, cols, cond, keys, dir)
    FROM unnest(ARRAY['host', 'host, seg', 'seg', 'n, txt']) AS keys,
         unnest(ARRAY['*', 'ts, host, v + 1, upper(txt), num, more']) AS cols,
         unnest(ARRAY['true', 'n > 900', 'ts < ''2006-10-29 00:00:30-02:30''', 'v < 10 or txt like ''a%''', 'false']) AS cond,
         unnest(ARRAY['desc', 'asc']) AS dir
    WHERE (keys = 'host, seg' AND cols = '*') OR cond IN ('true');
INSERT INTO queries SELECT format('select %s max(ts), last(v, ts), last(txt, ts), last(num, ts), last(t::text, ts) is null from T where %s %s', keys, cond, nullif('group by ' || rtrim(keys, ', '), 'group by '))
    FROM unnest(ARRAY['', 'host, ', 'host, seg, ', 'n, ']) AS keys, unnest(ARRAY['true', 'ts < ''2006-10-28 10:00''']) AS cond;
INSERT INTO queries VALUES
    ('select host, max(ts), last(v, ts), last(txt, ts) from T group by 1'),
    ('select host, seg, first(txt, ts), first(num, ts), min(ts) from T group by 1, 2'),
    ('select max(ts), last(num, ts) from T where n < 500'),
    ('select min(ts), first(num, ts) from T'),
    ('select max(nts), last(txt, nts) is null from T'),
    ('select host, max(nts) from T group by 1'),
    ('select host, max(ts), last(v, ts) filter (where n > 100) from T group by 1'),
    ('select host, max(ts), min(ts) from T group by 1'),
    ('select host, last(txt, ts), first(txt, ts) from T group by 1'),
    ('select host, max(ts), count(*) from T group by 1'),
    ('select host, last(txt, ts) from T group by 1 having last(n, ts) > 400'),
    ('select max(n) from T'),
    ('select host, max(seg) from T group by 1');
-- the n first buckets
INSERT INTO queries SELECT format('select %s, count(*), sum(n), max(v) from T where %s group by %s order by 1 %s limit %s', keys, cond, groups, dir, n)
    FROM (VALUES ('time_bucket(''1 minute'', ts)', '1'), ('date_trunc(''hour'', ts)', '1'), ('date_trunc(''day'', ts)', '1'), ('ts', '1'),
        ('date_trunc(''hour'', ts at time zone ''UTC'')', '1'), ('date_trunc(''month'', ts)', '1'), ('time_bucket(''6 hours'', ts)', '1'),
        ('date_bin(''35 min'', ts, ''2006-10-29''::timestamptz)', '1'), ('n', '1'), ('time_bucket(10, n)', '1')) AS k (keys, groups),
        unnest(ARRAY['true', 'n > 900', 'ts < ''2006-10-29 00:20''', 'host = ''host2''']) AS cond, unnest(ARRAY['desc', 'asc', 'desc nulls last']) AS dir,
        unnest(ARRAY['1', '5', '3 offset 4', '0', '2000']) AS n
    WHERE CASE dir WHEN 'desc' THEN cond = 'true' OR n IN ('1', '5') ELSE n = '5' AND cond IN ('true', 'n > 900') END;
-- upwards, and of a column that may be null
INSERT INTO queries SELECT format('select %s, count(*), sum(n), max(v) from T where %s group by 1 order by 1 %s limit %s', key, cond, dir, n)
    FROM unnest(ARRAY['nts', 'time_bucket(''1 hour'', nts)', 'date_trunc(''day'', nts)', 'date_trunc(''week'', ts)', 'date_trunc(''quarter'', ts)', 'date_trunc(''year'', nts)',
            'date_trunc(''decade'', nts)', 'date_trunc(''day'', nts at time zone ''UTC'')', 'time_bucket(interval ''1 month'', nts)', 'date_bin(''1 day'', nts, ''2007-01-01''::timestamptz)',
            'time_bucket(interval ''2 days'', nts::date)']) AS key,
        unnest(ARRAY['true', 'n > 300', 'nts > ''2006-10-29 10:00''']) AS cond, unnest(ARRAY['desc', 'asc', 'desc nulls last', 'asc nulls first']) AS dir, unnest(ARRAY['1', '3']) AS n
    WHERE cond = 'true' OR n = '3';
INSERT INTO queries VALUES
    ('select host, time_bucket(''1 hour'', ts), count(*) from T group by 1, 2 order by 2 desc, 1, 3 limit 17'),
    ('select time_bucket(''1 hour'', ts), host, max(txt) from T group by 1, 2 order by 1 desc, 2 limit 5'),
    ('select time_bucket(''1 hour'', ts), count(*) from T group by 1 having count(*) < 40 order by 1 desc limit 3'),
    ('select time_bucket(''1 hour'', ts), count(*), sum(count(*)) over () from T group by 1 order by 1 desc limit 3'),
    ('select distinct time_bucket(''1 hour'', ts), count(*) > 0 from T group by 1 order by 1 desc limit 3'),
    ('select time_bucket(''1 hour'', ts), generate_series(1, 2) from T group by 1 order by 1 desc limit 3'),
    ('select time_bucket(''1 hour'', ts), count(*) from T group by rollup (1) order by 1 desc limit 3'),
    ('select time_bucket(''1 hour'', nts), count(*) from T group by 1 order by 1 desc limit 3'),
    ('select nts, count(*) from T group by 1 order by 1 desc limit 3'),
    ('select nts, count(*) from T group by 1 order by 1 limit 3'),
    ('select * from (select time_bucket(''1 hour'', ts) as b, count(*) from T group by 1 order by 1 desc limit 3) as q where b < ''2006-10-29'''),
    ('select w.d, q.* from generate_series(''2006-10-28''::timestamptz, ''2006-10-30'', ''7 hours'') as w (d), lateral (select date_trunc(''hour'', ts), count(*) from T where ts < w.d group by 1 order by 1 desc limit 2) as q'),
    ('select w.d, q.* from generate_series(''2006-10-28''::timestamptz, ''2006-10-30'', ''7 hours'') as w (d), lateral (select distinct on (host) host, ts, txt from T where ts < w.d order by host, ts desc) as q'),
    ('select time_bucket(''1 hour'', ts) - interval ''1 day'', count(*) from T group by time_bucket(''1 hour'', ts) order by time_bucket(''1 hour'', ts) desc limit 3');
-- plain DISTINCT
INSERT INTO queries VALUES
    ('select distinct host from T'), ('select distinct host, seg from T where n > 300'), ('select distinct time_bucket(''6 hours'', ts), host from T'),
    ('select distinct txt, more from T order by 1 limit 9'), ('select distinct v from T'), ('select distinct ch from T'), ('select distinct n % 3, upper(host) from T'),
    ('select distinct host from T where false'), ('select distinct random() > 2, host from T'), ('select count(*) from (select distinct host, n from T) as q'),
    ('select distinct generate_series(1, 2), host from T'), ('select distinct max(n) from T'), ('select distinct count(*) from T group by host'),
    ('select distinct host, count(*) over () > 0 from T'), ('select distinct on (host) host from T order by host'),
    ('select distinct on (host) host, ts, n from T order by host, ts desc, n'), ('select distinct on (upper(host)) upper(host), ts from T order by upper(host), ts'),
    ('select distinct on (host) host, nts from T where nts is not null and n % 17 = 0 order by host, nts desc'), ('select distinct on (ts) ts from T order by ts desc'),
    ('select distinct on (v) v, ts from T order by v, ts desc'), ('select distinct on (host) host, ts, random() < 2 from T order by host, ts desc'),
    ('select distinct on (host) host, ts, (select 1) from T order by host, ts desc'), ('select distinct on (host) t from T order by host, ts desc limit 3');

SELECT 'rows only', different(q) FROM queries WHERE q LIKE '%host%' AND q LIKE '%where true%';
SELECT compress_chunk(c) FROM unnest(ARRAY['one', 'p1', 'p2', 'p4']) AS c;
SELECT count(*) FROM queries;
SELECT 'batches', different(q) FROM queries;
SET strata.enable_ordered_scan = off;
SET enable_sort = off;
SELECT 'no order', different(q) FROM queries WHERE q LIKE '%order by%asc%';
RESET strata.enable_ordered_scan;
RESET enable_sort;

-- batches that lost rows, the latest ones among them, and rows beside batches
CREATE FUNCTION change(statement text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    rel text;
BEGIN
    FOREACH rel IN ARRAY ARRAY['one', 'parts', 'h'] LOOP
        EXECUTE regexp_replace(statement, '\mT\M', rel, 'g');
    END LOOP;
END $$;
SELECT change('DELETE FROM T WHERE ts >= (SELECT max(ts) - interval ''10 min'' FROM T)');
SELECT change('UPDATE T SET txt = ''changed'' WHERE n % 97 = 0');
SELECT change('INSERT INTO T (ts, host, seg, n, v, txt) SELECT ''2006-10-29 00:00:07''::timestamptz + i * interval ''61 s'', ''host'' || i % 9, i % 3, i, NULL, ''new'' FROM generate_series(1, 90) AS i');
SELECT change('INSERT INTO T (ts, host, n) VALUES (''infinity'', ''host1'', 1), (''-infinity'', ''host1'', 2), (''2000-01-01'', ''old'', 3)');
SELECT 'mixed', different(q) FROM queries;
SELECT compress_chunk(c, recompress => true) FROM unnest(ARRAY['one', 'p1', 'p2', 'p4']) AS c;
SELECT 'recompressed', different(q) FROM queries WHERE q LIKE '%host%';

-- groups beyond memory
SET work_mem = '64kB';
SET strata.agg_least_groups = 16;
SET hash_mem_multiplier = 1;
SELECT different('select distinct on (n, txt) * from T order by n, txt, ts desc');
SELECT different('select n, host, last(txt, ts), last(num, ts), last(v, ts) from T group by 1, 2');
SELECT different('select date_trunc(''second'', ts), host, max(txt) from T group by 1, 2 order by 1 desc limit 1000');
RESET work_mem;
RESET hash_mem_multiplier;

-- a column that may be null now
PREPARE top AS SELECT ts, count(*) FROM one GROUP BY 1 ORDER BY 1 DESC LIMIT 2;
EXECUTE top;
ALTER TABLE one ALTER ts DROP NOT NULL;
INSERT INTO one (ts, host) VALUES (NULL, 'host1');
EXECUTE top;
-- a column that was of a type of another order
CREATE TABLE turned (o oid NOT NULL, n int) USING strata;
ALTER TABLE turned SET (strata.orderby = 'o');
INSERT INTO turned SELECT (4294967000 + i)::oid, i FROM generate_series(0, 295) AS i UNION ALL SELECT i::oid, i FROM generate_series(1, 400) AS i;
SELECT compress_chunk('turned');
ALTER TABLE turned ALTER o TYPE int;
SELECT time_bucket(100, o), count(*), sum(n) FROM turned GROUP BY 1 ORDER BY 1;
SELECT o, sum(n) FROM turned GROUP BY 1 ORDER BY 1 DESC LIMIT 3;
SELECT o, sum(n) FROM turned GROUP BY 1 ORDER BY 1 LIMIT 3;
SELECT max(o), last(n, o) FROM turned;
SELECT min(o), first(n, o) FROM turned;
-- batches in the order of a time that may be null, in a zone that left out a day and in one that had midnights twice
DROP TABLE turned, one;
SET timezone = 'UTC';
CREATE TABLE one (ts timestamptz, host text, n int) USING strata;
CREATE TABLE g (LIKE one);
ALTER TABLE one SET (strata.orderby = 'ts');
INSERT INTO g SELECT CASE WHEN i % 29 > 0 THEN at + i * interval '13 min' END, 'host' || i % 5, i FROM unnest('{2011-12-28,2006-10-27}'::timestamptz[]) AS at, generate_series(1, 600) AS i;
INSERT INTO one TABLE g;
SELECT compress_chunk('one');
ANALYZE one;
DO $$
DECLARE
    zone text; query text; expected text; got text;
BEGIN
    FOREACH zone IN ARRAY ARRAY['Pacific/Apia', 'America/St_Johns', 'UTC'] LOOP
        PERFORM set_config('timezone', zone, false);
        FOR query IN
            SELECT format('SELECT string_agg(q::text, '' '') FROM (SELECT %s AS k, count(*), sum(n) FROM TAB WHERE %s GROUP BY 1 ORDER BY k %s LIMIT 3) AS q', format(form, unit), cond, dir)
                FROM unnest(ARRAY['hour', 'day', 'week', 'month', 'quarter', 'year', 'century']) AS unit, unnest(ARRAY['date_trunc(''%s'', ts)', 'date_trunc(''%s'', ts at time zone ''UTC'')']) AS form,
                    unnest(ARRAY['true', 'n > 100', 'ts > ''2011-12-30''']) AS cond, unnest(ARRAY['desc', 'asc', 'desc nulls last', 'asc nulls first']) AS dir
        LOOP
            EXECUTE replace(query, 'TAB', 'g') INTO expected;
            EXECUTE replace(query, 'TAB', 'one') INTO got;
            IF got IS DISTINCT FROM expected THEN
                RAISE EXCEPTION E'%: %\n%\n%', zone, query, got, expected;
            END IF;
        END LOOP;
    END LOOP;
END $$;

-- a key in another collation than its column's, or of another type: an index on the column has one value where there are several groups
CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE c (ts timestamptz NOT NULL, name text COLLATE blind, kind varchar, o oid, k int, v int) USING strata;
CREATE TABLE ch (LIKE c);
ALTER TABLE c SET (strata.segmentby = 'k', strata.orderby = 'ts');
CREATE INDEX ON c (name, ts);
CREATE INDEX ON c (kind, ts);
CREATE INDEX ON c (o, ts);
INSERT INTO ch SELECT '2024-01-01Z'::timestamptz + x * interval '10 s', (ARRAY['a', 'A', 'b', 'B', NULL])[1 + x % 5], (ARRAY['x', 'X', 'y'])[1 + x % 3],
    (CASE x % 3 WHEN 0 THEN x % 7 ELSE 4294967290 + x % 5 END)::oid, x % 4, x FROM generate_series(1, 20000) AS x;
INSERT INTO c SELECT * FROM ch WHERE v < 5000;
SELECT compress_chunk('c') IS NOT NULL AS compressed;
INSERT INTO c SELECT * FROM ch WHERE v >= 5000;
ANALYZE c;
CREATE FUNCTION c_answer(query text, t text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C") FROM (%s) AS q', replace(query, 'TAB', t)) INTO result;
    RETURN result;
END $$;
SELECT query, c_answer(query, 'c') AS is, c_answer(query, 'ch') AS should_be
    FROM unnest(ARRAY['name COLLATE "C"', 'upper(name COLLATE "C")', 'kind', 'kind::text', 'kind COLLATE "POSIX"', 'kind::bpchar', 'o', 'o::int', 'o::regclass::oid', 'o, name COLLATE "C"']) AS key,
        unnest(ARRAY['max(ts)', 'min(ts)', 'last(v, ts)', 'first(v, ts), min(ts)', 'max(ts), count(name)', 'max(o::int), min(o)']) AS list,
        format('SELECT %s, %s FROM TAB GROUP BY %s', key, list, key) AS query
    WHERE c_answer(query, 'c') IS DISTINCT FROM c_answer(query, 'ch');
DROP SCHEMA agg_early_stop CASCADE;
