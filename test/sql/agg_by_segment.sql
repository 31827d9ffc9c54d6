-- The latest and the first row of each segment, found by skipping through the
-- companion's index: answers are a heap's, with early stop on and off, and with
-- batches that lost rows, of other settings, of null and of equal segments.
SET client_min_messages = error;
SET timezone = 'UTC';
SET max_parallel_workers_per_gather = 0;
SET strata.batch_rows = 10;
CREATE SCHEMA agg_by_segment;
SET search_path = agg_by_segment, public;

-- 400 batches of host 0, some 30 of the others; numbers that are equal and look different
CREATE TABLE one (ts timestamptz NOT NULL, host text, num numeric, n int, txt text) USING strata;
CREATE TABLE h (LIKE one);
INSERT INTO h SELECT '2006-10-27'::timestamptz + i * interval '79 s',
    CASE i % 3 WHEN 0 THEN CASE i % 10 WHEN 3 THEN NULL ELSE 'host ' || i % 10 END ELSE 'host 0' END,
    CASE i % 4 WHEN 0 THEN 1.0 WHEN 1 THEN 1.00 WHEN 2 THEN NULL ELSE 7 END,
    i * 7919 % 1009, CASE WHEN i % 13 > 0 THEN 't' || i END
    FROM generate_series(1, 6000) AS i;
INSERT INTO one TABLE h;

CREATE FUNCTION different() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    wrap text := 'SELECT string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C") FROM (%s) AS q';
    query text;
    stop text;
    expected text;
    got text;
BEGIN
    FOR query IN
        SELECT format(form, key, cond, dir, fn) FROM unnest(ARRAY[
            'SELECT DISTINCT ON (%1$s) * FROM T WHERE %2$s ORDER BY %1$s, ts %3$s',
            'SELECT %1$s::text, %4$s FROM T WHERE %2$s GROUP BY %1$s']) AS form,
            unnest(ARRAY['host', 'num', 'host, num']) AS key,
            unnest(ARRAY['true', 'ts < ''2006-10-30''', 'ts >= ''2006-10-31''', 'n > 900', 'n = -1', 'host > ''host 3''',
                         'host = ''host 0''', 'host IN (''host 0'', ''host 5'', ''none'')', 'host IS NULL']) AS cond,
            (VALUES ('DESC', 'max(ts), last(txt, ts)'), ('ASC', 'min(ts), first(txt, ts)')) AS d(dir, fn)
    LOOP
        -- which of equal numbers a group shows is not compared
        query := replace(query, 'num::text, ', '');
        EXECUTE format(wrap, regexp_replace(query, '\mT\M', 'h')) INTO expected;
        FOREACH stop IN ARRAY ARRAY['on', 'off'] LOOP
            PERFORM set_config('strata.enable_early_stop', stop, true);
            EXECUTE format(wrap, regexp_replace(query, '\mT\M', 'one')) INTO got;
            IF got IS DISTINCT FROM expected THEN
                RETURN NEXT format('%s: %s', stop, query);
                RETURN NEXT '  is        ' || left(coalesce(got, 'NULL'), 200);
                RETURN NEXT '  should be ' || left(coalesce(expected, 'NULL'), 200);
            END IF;
        END LOOP;
    END LOOP;
END $$;

ALTER TABLE one SET (strata.segmentby = 'host', strata.orderby = 'ts DESC');
SELECT compress_chunk('one');
ANALYZE one;
SELECT * FROM different();
-- the latest and the first of all segments lose rows, one a whole batch; new rows
DELETE FROM one WHERE n % 3 = 0 OR ts > '2006-11-01 10:00';
DELETE FROM h WHERE n % 3 = 0 OR ts > '2006-11-01 10:00';
INSERT INTO one VALUES ('2006-11-02', 'host 5', 1.000, 1, 'new'), ('2006-10-01', NULL, NULL, 2, 'old'), ('2006-10-29', 'none', 7.0, 3, 'other');
INSERT INTO h VALUES ('2006-11-02', 'host 5', 1.000, 1, 'new'), ('2006-10-01', NULL, NULL, 2, 'old'), ('2006-10-29', 'none', 7.0, 3, 'other');
SELECT * FROM different();
-- batches of two settings
ALTER TABLE one SET (strata.segmentby = 'num', strata.orderby = 'ts');
INSERT INTO one SELECT ts + interval '3 days 1 s', host, num, n, txt FROM h WHERE n % 2 = 0;
INSERT INTO h SELECT ts + interval '3 days 1 s', host, num, n, txt FROM h WHERE n % 2 = 0;
SELECT compress_chunk('one');
ANALYZE one;
SELECT * FROM different();
CALL recompress_chunk('one');
ANALYZE one;
SELECT * FROM different();
-- two segmentby columns, groups by one of them and by both
ALTER TABLE one SET (strata.segmentby = 'host, num', strata.orderby = 'ts');
SELECT compress_chunk('one', recompress => true);
ANALYZE one;
SELECT * FROM different();
ALTER TABLE one SET (strata.segmentby = 'num', strata.orderby = 'ts DESC');
SELECT compress_chunk('one', recompress => true);
ANALYZE one;
-- begun anew with another parameter
SELECT count(*) FROM (VALUES (900), (0), (2000)) AS v(x),
    LATERAL (SELECT DISTINCT ON (num) num, ts FROM one WHERE n > x ORDER BY num, ts DESC) AS a;
SELECT count(*) FROM (VALUES (900), (0), (2000)) AS v(x),
    LATERAL (SELECT DISTINCT ON (num) num, ts FROM h WHERE n > x ORDER BY num, ts DESC) AS a;
DROP SCHEMA agg_by_segment CASCADE;
