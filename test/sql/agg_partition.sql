-- One StrataAgg for all partitions of a table: compressed ones, ones that are
-- not, heaps; with columns in another order; with pruning when the plan is made
-- and when it runs.
SET client_min_messages = error;
SET timezone = 'UTC';
SET max_parallel_workers_per_gather = 0;
SET strata.batch_rows = 100;
CREATE SCHEMA agg_partition;
SET search_path = agg_partition, public;

CREATE TABLE s (ts timestamptz NOT NULL, host text, a int, b float8, gone int) PARTITION BY RANGE (ts);
CREATE TABLE h (LIKE s);
CREATE TABLE s1 PARTITION OF s FOR VALUES FROM ('2024-01-01') TO ('2024-01-02') USING strata;
-- other columns before it, and another order
CREATE TABLE s2 (x int, b float8, host text, gone int, y text, a int, ts timestamptz NOT NULL) USING strata;
ALTER TABLE s2 DROP COLUMN x, DROP COLUMN y;
ALTER TABLE s ATTACH PARTITION s2 FOR VALUES FROM ('2024-01-02') TO ('2024-01-03');
CREATE TABLE s3 PARTITION OF s FOR VALUES FROM ('2024-01-03') TO ('2024-01-04') USING heap;
CREATE TABLE s4 PARTITION OF s FOR VALUES FROM ('2024-01-04') TO ('2024-01-06') PARTITION BY RANGE (ts);
CREATE TABLE s41 PARTITION OF s4 FOR VALUES FROM ('2024-01-04') TO ('2024-01-05') USING strata;
CREATE TABLE s42 PARTITION OF s4 FOR VALUES FROM ('2024-01-05') TO ('2024-01-06') USING strata;
ALTER TABLE s1 SET (strata.segmentby = 'host', strata.orderby = 'ts');
ALTER TABLE s2 SET (strata.segmentby = 'host', strata.orderby = 'ts DESC');
INSERT INTO s SELECT '2024-01-01'::timestamptz + i * interval '1 min', 'h' || i % 6, i % 1000, i * 0.25, i FROM generate_series(0, 7199) AS i;
INSERT INTO h TABLE s;
SELECT compress_chunk(c) FROM unnest(ARRAY['s1', 's2', 's41']) AS c;
-- more rows of one that is compressed, changed ones of another
INSERT INTO s SELECT '2024-01-01 00:00:30'::timestamptz + i * interval '1 min', 'h' || i % 6, NULL, i, i FROM generate_series(0, 299) AS i;
INSERT INTO h SELECT '2024-01-01 00:00:30'::timestamptz + i * interval '1 min', 'h' || i % 6, NULL, i, i FROM generate_series(0, 299) AS i;
UPDATE s SET a = -1 WHERE ts = '2024-01-02 10:00';
UPDATE h SET a = -1 WHERE ts = '2024-01-02 10:00';
ALTER TABLE s DROP COLUMN gone, ADD COLUMN more int DEFAULT 7;
ALTER TABLE h DROP COLUMN gone, ADD COLUMN more int DEFAULT 7;
VACUUM ANALYZE s;
ANALYZE h;

CREATE FUNCTION different(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM ((%1$s) EXCEPT ALL (%2$s)) AS q', replace(query, 'T', 's AS t'), replace(query, 'T', 'h AS t')) INTO n;
    IF n > 0 THEN RETURN NEXT n || ' more: ' || query; END IF;
    EXECUTE format('SELECT count(*) FROM ((%2$s) EXCEPT ALL (%1$s)) AS q', replace(query, 'T', 's AS t'), replace(query, 'T', 'h AS t')) INTO n;
    IF n > 0 THEN RETURN NEXT n || ' missing: ' || query; END IF;
END $$;
CREATE TABLE queries (q text);
INSERT INTO queries VALUES
    ('select count(*), sum(a), avg(b), max(ts), min(host), sum(more), count(more) from T'),
    ('select host, count(*), sum(a), avg(b), max(more) from T group by host'),
    ('select date_trunc(''hour'', ts), host, sum(a) + 1, min(b) from T group by 1, 2 having count(*) > 9'),
    ('select a % 7, more, count(*), max(host) from T group by 1, 2'),
    ('select count(*), sum(a) from T where ts >= ''2024-01-02 12:00'' and ts < ''2024-01-03 12:00'''),
    ('select host, max(b) from T where ts < ''2024-01-01 12:00'' group by 1'),
    ('select host, sum(more) from T where ts > ''2024-01-04 06:00'' and a < 500 group by 1'),
    ('select count(*), sum(a) from T where ts > ''2025-01-01'''),
    ('select v.d, (select sum(a) from T where t.ts >= v.d and t.ts < v.d + interval ''6 hours'') from generate_series(''2024-01-01''::timestamptz, ''2024-01-06'', ''17 hours'') as v (d)'),
    ('select v.d, q.* from generate_series(''2024-01-01''::timestamptz, ''2024-01-06'', ''17 hours'') as v (d), lateral (select host, count(*), sum(a) from T where t.ts >= v.d and t.ts < v.d + interval ''3 hours'' group by host) as q'),
    ('select count(*) from T where ts = (select max(ts) from T)'),
    ('select tableoid is null, count(*) from T group by 1');
SELECT different(q) FROM queries;
SET work_mem = '64kB';
SET strata.agg_least_groups = 16;
SET hash_mem_multiplier = 1;
SELECT different('select ts, host, sum(a), avg(b), min(host), max(more) from T group by 1, 2');
RESET work_mem;
RESET hash_mem_multiplier;
SET enable_partitionwise_aggregate = on;
SELECT different(q) FROM queries;
RESET enable_partitionwise_aggregate;
SET enable_partition_pruning = off;
SELECT different(q) FROM queries;
RESET enable_partition_pruning;
SET plan_cache_mode = force_generic_plan;
PREPARE between_times (timestamptz, timestamptz) AS SELECT host, count(*), sum(a), sum(more) FROM s WHERE ts >= $1 AND ts < $2 GROUP BY host ORDER BY host;
EXECUTE between_times ('2024-01-02 23:00', '2024-01-03 01:00');
EXECUTE between_times ('2024-01-01', '2024-01-01 00:10');
EXECUTE between_times ('2024-02-01', '2024-02-02');
PREPARE whole AS SELECT count(*), sum(a) FROM s;
EXECUTE whole;
SELECT compress_chunk('s42');
EXECUTE whole;
DROP TABLE s1;
EXECUTE whole;
CREATE TABLE s1 PARTITION OF s FOR VALUES FROM ('2024-01-01') TO ('2024-01-02') USING strata;
EXECUTE whole;
DEALLOCATE ALL;

-- inheritance by the old way
CREATE TABLE old_p (a int, b int) USING strata;
CREATE TABLE old_c (c int) INHERITS (old_p) USING strata;
INSERT INTO old_p SELECT i, 1 FROM generate_series(1, 500) AS i;
INSERT INTO old_c SELECT i, 2 FROM generate_series(1, 500) AS i;
SELECT compress_chunk('old_p'), compress_chunk('old_c');
INSERT INTO old_p VALUES (1000, NULL);
SELECT count(*), sum(a), count(b), max(b) FROM old_p;
SELECT count(*), sum(a), count(b), max(b) FROM ONLY old_p;
SELECT b, sum(a) FROM old_p GROUP BY b ORDER BY b;
DROP SCHEMA agg_partition CASCADE;
