-- EXPLAIN of what StrataAgg does not read; answers: agg_early_stop.sql.
SET client_min_messages = error;
SET timezone = 'UTC';
SET max_parallel_workers_per_gather = 0;
SET strata.batch_rows = 50;
CREATE SCHEMA agg_early_stop_plan;
SET search_path = agg_early_stop_plan, public;
CREATE TABLE one (ts timestamptz NOT NULL, host text, seg int2, txt text, nts timestamptz) USING strata;
ALTER TABLE one SET (strata.segmentby = 'host, seg', strata.orderby = 'ts');
INSERT INTO one SELECT '2006-10-27'::timestamptz + i * interval '79 s', 'host' || i % 6, i % 2, 't' || i, '2006-10-27'::timestamptz FROM generate_series(1, 3000) AS i;
SELECT compress_chunk('one');
ANALYZE one;

-- what EXPLAIN says
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
        IF line ~ 'StrataAgg|Early|Passed|Columns of|Unique|Aggregation not' THEN
            RETURN NEXT regexp_replace(line, ' \(actual.*', '');
        END IF;
    END LOOP;
END $$;
SELECT plan('SELECT DISTINCT ON (host, seg) * FROM one ORDER BY host, seg, ts DESC');
SELECT plan('SELECT host, seg, max(ts), last(txt, ts) FROM one GROUP BY 1, 2');
SELECT plan('SELECT time_bucket(''1 hour'', ts), count(*) FROM one GROUP BY 1 ORDER BY 1 DESC LIMIT 2');
SELECT plan('SELECT ts, count(*) FROM one GROUP BY 1 ORDER BY 1 LIMIT 2');
SELECT plan('SELECT DISTINCT host FROM one');
SELECT plan('SELECT DISTINCT ON (host) host, nts FROM one ORDER BY host, nts DESC');
SELECT plan('SELECT date_trunc(''day'', ts), count(*) FROM one GROUP BY 1 ORDER BY 1 DESC LIMIT 2');
SELECT plan('SELECT time_bucket(''1 hour'', ts), count(*) FROM one GROUP BY 1 ORDER BY 1 LIMIT 2');
SELECT plan('SELECT date_trunc(''week'', ts), count(*) FROM one GROUP BY 1 ORDER BY 1 LIMIT 2');
SELECT plan('SELECT date_trunc(''century'', ts), count(*) FROM one GROUP BY 1 ORDER BY 1 LIMIT 2');
SELECT plan('SELECT nts, count(*) FROM one GROUP BY 1 ORDER BY 1 DESC LIMIT 2');
SELECT plan('SELECT nts, count(*) FROM one GROUP BY 1 ORDER BY 1 DESC NULLS LAST LIMIT 2');
SELECT plan('SELECT date_trunc(''hour'', ts), count(*) FROM one WHERE random() < 2 GROUP BY 1 ORDER BY 1 DESC LIMIT 2');
SET strata.enable_early_stop = off;
SELECT plan('SELECT host, seg, max(ts), last(txt, ts) FROM one GROUP BY 1, 2');
SELECT plan('SELECT time_bucket(''1 hour'', ts), count(*) FROM one GROUP BY 1 ORDER BY 1 DESC LIMIT 2');
RESET strata.enable_early_stop;
-- a few segments of many batches: from one to the next through the index
CREATE FUNCTION access(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
        IF line ~ 'Passed|Batch Access|Batches:' THEN
            RETURN NEXT line;
        END IF;
    END LOOP;
END $$;
SET strata.batch_rows = 10;
CREATE TABLE long (ts timestamptz NOT NULL, host text, v float8) USING strata;
ALTER TABLE long SET (strata.segmentby = 'host', strata.orderby = 'ts DESC');
INSERT INTO long SELECT '2006-10-27'::timestamptz + i * interval '79 s', 'host' || i % 3, i FROM generate_series(1, 12000) AS i;
SELECT compress_chunk('long');
ANALYZE long;
SELECT access('SELECT DISTINCT ON (host) * FROM long ORDER BY host, ts DESC');
SELECT access('SELECT host, min(ts) FROM long GROUP BY 1');
SELECT access('SELECT host, max(ts) FROM long WHERE ts < ''2006-10-29'' GROUP BY 1');
SELECT access('SELECT host, max(ts) FROM long WHERE host IN (''host1'', ''host2'') GROUP BY 1');
SELECT access('SELECT host, max(ts), count(*) FROM long GROUP BY 1');
SELECT access('SELECT v, max(ts) FROM long WHERE v < 3 GROUP BY 1');
-- the first buckets, and the last row of all: from one end of the table through the index
SELECT access('SELECT time_bucket(''1 minute'', ts), max(v) FROM long GROUP BY 1 ORDER BY 1 DESC LIMIT 5');
SELECT access('SELECT time_bucket(''1 minute'', ts), max(v) FROM long WHERE ts < ''2006-11-02'' GROUP BY 1 ORDER BY 1 DESC LIMIT 5');
SELECT access('SELECT time_bucket(''1 minute'', ts), max(v) FROM long WHERE ts >= ''2006-11-02'' GROUP BY 1 ORDER BY 1 LIMIT 5');
SELECT access('SELECT time_bucket(''1 day'', ts), max(v) FROM long GROUP BY 1 ORDER BY 1 LIMIT 10');
SELECT access('SELECT last(v, ts) FROM long');
SELECT access('SELECT first(v, ts) FROM long WHERE host = ''host2''');
PREPARE before (timestamptz) AS SELECT date_trunc('minute', ts), max(v) FROM long WHERE ts < $1 GROUP BY 1 ORDER BY 1 DESC LIMIT 5;
SET plan_cache_mode = force_generic_plan;
SELECT access('EXECUTE before(''2006-10-30'')');
SELECT access('EXECUTE before(''2001-01-01'')');
SET strata.enable_early_stop = off;
SELECT access('SELECT last(v, ts) FROM long');
DROP SCHEMA agg_early_stop_plan CASCADE;
