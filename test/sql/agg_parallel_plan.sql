-- When workers share an aggregation, and when not.
SET client_min_messages = error;
CREATE SCHEMA agg_parallel_plan;
SET search_path = agg_parallel_plan, public;
SET timezone = 'UTC';
SET strata.batch_rows = 100;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
CREATE TABLE s (id int, ts timestamptz NOT NULL, host text, x int, v float8) USING strata WITH (strata.segmentby = 'host', strata.orderby = 'ts');
INSERT INTO s SELECT i, '2024-01-01'::timestamptz + i * interval '1 min', 'h' || i % 3, i % 10, i FROM generate_series(1, 6000) i;
SELECT compress_chunk('s');
VACUUM ANALYZE s;
EXPLAIN (COSTS OFF) SELECT host, avg(v), count(*) FROM s WHERE x > 1 GROUP BY 1 HAVING count(*) > 1;
EXPLAIN (COSTS OFF, VERBOSE) SELECT sum(x + 1) * 2 AS twice FROM s;
-- counters are those of all processes
CREATE FUNCTION explain(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
        IF line !~ 'Workers Launched|Memory:' THEN
            RETURN NEXT regexp_replace(line, 'rows=[\d.]+ loops=\d+', 'rows=n loops=n');
        END IF;
    END LOOP;
END $$;
SELECT explain('SELECT x, sum(v) FROM s GROUP BY x');
-- not where summaries are enough, reading ends early, the query is not for workers, or there are none
SET parallel_setup_cost = 100;
EXPLAIN (COSTS OFF) SELECT count(*), sum(x), avg(v) FROM s;
SET parallel_setup_cost = 0;
EXPLAIN (COSTS OFF) SELECT max(ts) FROM s GROUP BY host;
CREATE FUNCTION restricted(int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL RESTRICTED AS 'BEGIN RETURN $1; END';
EXPLAIN (COSTS OFF) SELECT sum(restricted(x)) FROM s;
SET strata.enable_parallel_scan = off;
EXPLAIN (COSTS OFF) SELECT host, avg(v) FROM s GROUP BY 1;
RESET strata.enable_parallel_scan;
-- a hypertable's chunks: each is shared
CREATE TABLE p (LIKE s) PARTITION BY RANGE (id);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (3000) USING strata WITH (strata.orderby = 'ts');
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (3000) TO (9000) USING heap;
INSERT INTO p SELECT * FROM s;
SELECT compress_chunk('p1');
VACUUM ANALYZE p;
EXPLAIN (COSTS OFF) SELECT host, sum(v) FROM p GROUP BY 1;

DROP SCHEMA agg_parallel_plan CASCADE;
