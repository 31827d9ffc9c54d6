-- Which queries StrataAgg answers, and what EXPLAIN tells of it.
SET client_min_messages = error;
SET timezone = 'UTC';
SET max_parallel_workers_per_gather = 0;
SET strata.batch_rows = 100;
CREATE TABLE agg_plan (ts timestamptz NOT NULL, host text, a int, b float8, c int8, n numeric, t text, i interval) USING strata;
ALTER TABLE agg_plan SET (strata.segmentby = 'host', strata.orderby = 'ts');
INSERT INTO agg_plan SELECT '2024-01-01'::timestamptz + i * interval '10 s', 'h' || i % 5, i % 100, i * 0.5, i, i, 't' || i % 3, '1 d'
FROM generate_series(0, 9999) AS i;
SELECT compress_chunk('agg_plan');
VACUUM ANALYZE agg_plan;

CREATE FUNCTION agg_plan_explain(query text, options text DEFAULT 'ANALYZE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF')
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (' || options || ') ' || query LOOP
        line := regexp_replace(line, 'Memory: \d+ kB', 'Memory: N kB');
        -- as PostgreSQL 15 words it: 17 and 18 differ
        line := regexp_replace(line, '\(InitPlan \d\)\.col1', '$0', 'g');
        line := regexp_replace(line, '(InitPlan \d)$', '\1 (returns $0)');
        line := regexp_replace(line, 'rows=(\d+)\.00', 'rows=\1');
        IF line !~ '^ *(Disabled|Index Searches):' THEN
            RETURN NEXT line;
        END IF;
    END LOOP;
END $$;
CREATE FUNCTION agg_plan_used(query text) RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN string_agg(l, E'\n') ~ 'StrataAgg' THEN 'StrataAgg: ' ELSE '-: ' END || query ||
        coalesce('; ' || substring(string_agg(l, E'\n') FROM 'Aggregate Not Vectorized: ([^\n]*)'), '')
    FROM agg_plan_explain(query, 'COSTS OFF') AS l
$$;

SELECT agg_plan_used('SELECT ' || q) AS used FROM unnest(ARRAY[
    'count(*) FROM agg_plan', 'sum(a), avg(b), min(c), max(ts), sum(n), stddev(b), max(t) FROM agg_plan',
    'host, count(*) FROM agg_plan GROUP BY host', 't, sum(a) FROM agg_plan GROUP BY t HAVING sum(a) > 10 ORDER BY 2',
    'date_trunc(''hour'', ts), host, avg(b) FROM agg_plan GROUP BY 1, 2 ORDER BY 1',
    'upper(t), a / 10, sum(a + 1) FILTER (WHERE b > 10) FROM agg_plan GROUP BY 1, 2',
    'host FROM agg_plan GROUP BY host', 'sum(a) FROM agg_plan WHERE ts > now() AND host = ''h1''',
    'bool_or(a > 5), bit_and(a), variance(n) FROM agg_plan',
    'count(DISTINCT a) FROM agg_plan', 'array_agg(a) FROM agg_plan', 'string_agg(t, '','') FROM agg_plan',
    'percentile_cont(0.5) WITHIN GROUP (ORDER BY b) FROM agg_plan', 'corr(b, b) FROM agg_plan',
    'i, count(*) FROM agg_plan GROUP BY i', 'b, count(*) FROM agg_plan GROUP BY b', 'host, count(*) FROM agg_plan GROUP BY ROLLUP (host)',
    'sum(random()) FROM agg_plan', 'count(x) FROM agg_plan AS x', 'sum((SELECT 1) + a) FROM agg_plan',
    'host, first(b, ts), last(a, ts) FROM agg_plan GROUP BY host', 'last(t, ts) FROM agg_plan', 'corr(b, b) FROM agg_plan',
    'x.host, count(*) FROM agg_plan AS x JOIN agg_plan AS y USING (host) GROUP BY 1', 'max(ts) FROM agg_plan']) AS q;

-- whole batches from what is known of them
SELECT agg_plan_explain('SELECT count(*), count(b), min(a), max(c) FROM agg_plan WHERE ts >= ''2024-01-01 06:00''');
SELECT agg_plan_explain('SELECT host, date_trunc(''day'', ts), count(*) FROM agg_plan GROUP BY 1, 2');
-- count(*) from an index of the companion; how many are looked up is VACUUM's doing
SELECT regexp_replace(l, 'Looked Up: [1-9]\d*', 'Looked Up: some') FROM agg_plan_explain('SELECT count(*), count(1) FROM agg_plan') AS l;
SET strata.enable_summary_agg = off;
SELECT agg_plan_explain('SELECT count(*) FROM agg_plan');
RESET strata.enable_summary_agg;
-- both halves, an expression, HAVING
INSERT INTO agg_plan SELECT '2024-02-01'::timestamptz + i * interval '10 s', 'h' || i % 5, i, i, i, i, 't', '1 d' FROM generate_series(1, 2000) AS i;
SELECT agg_plan_explain('SELECT host, sum(a) * 2, sum(n) FROM agg_plan WHERE a < 50 AND t LIKE ''t%'' GROUP BY host HAVING count(*) > 1');
-- what is evaluated for many rows at a time, and what is not, or stands behind such a one
SELECT agg_plan_explain('SELECT sum(n) FROM agg_plan WHERE b > a AND (a IS DISTINCT FROM 7) AND greatest(a, 5) / (a + 1) > 3', 'COSTS OFF');
SELECT agg_plan_explain('SELECT sum(n) FROM agg_plan WHERE b > a AND sqrt(n) > 3 AND b > a + 1', 'COSTS OFF');
-- groups that outgrow memory
SET work_mem = '64kB';
SET strata.agg_least_groups = 16;
SET hash_mem_multiplier = 1;
SELECT regexp_replace(l, 'Spills: [1-9]\d*', 'Spills: some') FROM agg_plan_explain('SELECT c, sum(a), max(n) FROM agg_plan GROUP BY c') AS l;
RESET work_mem;
RESET hash_mem_multiplier;
-- the switch
SET strata.enable_vector_agg = off;
SELECT agg_plan_used('SELECT count(*) FROM agg_plan');
RESET strata.enable_vector_agg;
-- a few rows through an index
CREATE INDEX ON agg_plan (ts);
SELECT agg_plan_explain('SELECT host, sum(a) FROM agg_plan WHERE ts = ''2024-02-01 00:10'' GROUP BY host', 'COSTS OFF');
DROP TABLE agg_plan;
DROP FUNCTION agg_plan_explain, agg_plan_used;
-- partitions
CREATE TABLE agg_plan_p (ts timestamptz NOT NULL, host text, a int) PARTITION BY RANGE (ts);
CREATE TABLE agg_plan_1 PARTITION OF agg_plan_p FOR VALUES FROM ('2024-01-01') TO ('2024-01-02') USING strata;
CREATE TABLE agg_plan_2 PARTITION OF agg_plan_p FOR VALUES FROM ('2024-01-02') TO ('2024-01-03') USING strata;
CREATE TABLE agg_plan_3 PARTITION OF agg_plan_p FOR VALUES FROM ('2024-01-03') TO ('2024-01-04') USING heap;
INSERT INTO agg_plan_p SELECT '2024-01-01'::timestamptz + i * interval '1 min', 'h' || i % 6, i FROM generate_series(0, 4319) AS i;
SELECT compress_chunk('agg_plan_1'), compress_chunk('agg_plan_2');
VACUUM ANALYZE agg_plan_p;
CREATE FUNCTION agg_plan_explain(query text, options text DEFAULT 'ANALYZE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF')
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (' || options || ') ' || query LOOP
        line := regexp_replace(line, 'Memory: \d+ kB', 'Memory: N kB');
        -- as PostgreSQL 15 words it: 17 and 18 differ
        line := regexp_replace(line, '\(InitPlan \d\)\.col1', '$0', 'g');
        line := regexp_replace(line, '(InitPlan \d)$', '\1 (returns $0)');
        line := regexp_replace(line, 'rows=(\d+)\.00', 'rows=\1');
        IF line !~ '^ *(Disabled|Index Searches):' THEN
            RETURN NEXT line;
        END IF;
    END LOOP;
END $$;
SELECT agg_plan_explain('SELECT host, date_trunc(''hour'', ts), sum(a) FROM agg_plan_p GROUP BY 1, 2');
-- of batches within a day no time is decoded
SELECT agg_plan_explain('SELECT extract(isodow FROM ts), ts::date, count(*) FROM agg_plan_p GROUP BY 1, 2');
SELECT agg_plan_explain('SELECT count(*) FROM agg_plan_p WHERE ts < (SELECT ''2024-01-01 12:00''::timestamptz)');
DROP TABLE agg_plan_p;
DROP FUNCTION agg_plan_explain;
