-- TABLESAMPLE, TID conditions and ANALYZE take both halves into account.
SET client_min_messages = warning;
SET strata.batch_rows = 300;
CREATE SCHEMA am_sample;
SET search_path = am_sample, public;
CREATE TABLE s (id int, k int, pad text) USING strata;
ALTER TABLE s SET (strata.orderby = 'id');
INSERT INTO s SELECT i, i % 10, repeat('x', 10) FROM generate_series(1, 10000) i;
SELECT compress_chunk('s');
INSERT INTO s SELECT i, 10 + i % 10, repeat('y', 10) FROM generate_series(10001, 15000) i;
-- and a changed row
UPDATE s SET pad = 'promoted' WHERE id = 1;

-- everything, whatever the method
SELECT count(*), count(DISTINCT id), sum(id) FROM s TABLESAMPLE BERNOULLI (100);
SELECT count(*), count(DISTINCT id), sum(id) FROM s TABLESAMPLE SYSTEM (100);
SELECT count(*) FROM s TABLESAMPLE BERNOULLI (0);
SELECT count(*) FROM s TABLESAMPLE SYSTEM (0);
-- a share of each half, no row twice, the same again with the same seed
SELECT count(*) FILTER (WHERE id <= 10000) BETWEEN 3000 AND 7000 AS compressed,
       count(*) FILTER (WHERE id > 10000) BETWEEN 1500 AND 3500 AS row_store, count(*) = count(DISTINCT id) AS once
FROM s TABLESAMPLE BERNOULLI (50) REPEATABLE (7);
SELECT count(*) FILTER (WHERE id <= 10000) BETWEEN 2000 AND 8000 AS compressed,
       count(*) FILTER (WHERE id > 10000) BETWEEN 1000 AND 4000 AS row_store, count(*) = count(DISTINCT id) AS once
FROM s TABLESAMPLE SYSTEM (50) REPEATABLE (7);
WITH a AS MATERIALIZED (SELECT id FROM s TABLESAMPLE SYSTEM (30) REPEATABLE (1)), b AS MATERIALIZED (SELECT id FROM s TABLESAMPLE SYSTEM (30) REPEATABLE (1))
SELECT count(*) FROM (TABLE a EXCEPT TABLE b) d;
-- rescans, joins, conditions
SELECT count(*) FROM generate_series(1, 3) g, LATERAL (SELECT count(*) AS n FROM s TABLESAMPLE BERNOULLI (100) WHERE k = g) x WHERE n = 1000;
SELECT count(*) FROM s TABLESAMPLE SYSTEM (100) WHERE k = 3 AND id < 200;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM s TABLESAMPLE SYSTEM (100);
MOVE FORWARD 14000 FROM c;
MOVE BACKWARD 13999 FROM c;
MOVE FORWARD ALL FROM c;
ROLLBACK;
DELETE FROM s WHERE id BETWEEN 4000 AND 5000;
SELECT count(*), sum(id) FROM s TABLESAMPLE SYSTEM (100);
SELECT compress_chunk('s', recompress => true);
SELECT count(*), sum(id) FROM s TABLESAMPLE SYSTEM (100);
SELECT count(*), sum(id) FROM s TABLESAMPLE BERNOULLI (100);
SELECT row_store_rows FROM strata.tables WHERE relation = 's'::regclass;
INSERT INTO s SELECT i, 10 + i % 10, repeat('y', 10) FROM generate_series(15001, 16000) i;

-- TIDs: unique, found again one by one, by range and by list
SELECT count(*) = count(DISTINCT ctid) AS unique_tids FROM s;
CREATE TEMP TABLE tids AS SELECT ctid AS t, id FROM s;
SELECT count(*), count(*) FILTER (WHERE s.id = tids.id) FROM tids JOIN s ON s.ctid = tids.t;
SELECT (SELECT count(*) FROM s WHERE ctid < '(2147483648,1)') + (SELECT count(*) FROM s WHERE ctid >= '(2147483648,1)') = count(*) FROM s;
SELECT count(*) FROM s WHERE ctid < '(2147483648,1)';
SELECT (SELECT count(*) FROM s WHERE ctid > (SELECT min(t) FROM tids) AND ctid <= (SELECT max(t) FROM tids)) + 1 = count(*) FROM s;
DO $$
DECLARE
    r record;
    found_id int;
BEGIN
    FOR r IN SELECT * FROM tids WHERE id % 500 = 3 LOOP
        SELECT id INTO STRICT found_id FROM s WHERE ctid = r.t;
        ASSERT found_id = r.id;
        UPDATE s SET k = -1 WHERE ctid = r.t;
        ASSERT FOUND;
        PERFORM FROM s WHERE ctid = r.t AND k <> -1;
        ASSERT NOT FOUND;
    END LOOP;
END $$;
SELECT count(*), count(*) FILTER (WHERE id % 500 = 3) FROM s WHERE k = -1;
SELECT count(*) FROM s WHERE ctid IN ('(2147483648,1)', '(4294967294,1)', '(0,0)', '(4294967295,1)');
SELECT count(*) FROM s WHERE ctid > '(4294967295,1)';
SELECT currtid2('s', '(4294967290,5)');
SELECT count(*) FROM s a JOIN s b ON a.ctid = b.ctid AND a.id = b.id;

-- ANALYZE
SELECT compress_chunk('s', recompress => true);
INSERT INTO s SELECT i, 99, NULL FROM generate_series(16001, 20000) i;
ANALYZE s;
SELECT reltuples BETWEEN 17000 AND 21000 AS reltuples FROM pg_class WHERE oid = 's'::regclass;
SELECT attname, null_frac BETWEEN 0.1 AND 0.35 AS nulls, n_distinct < 0 OR n_distinct BETWEEN 15 AND 30 AS distinct_values,
       array_position(most_common_vals::text::text[], '99') IS NOT NULL AS row_store_value, array_position(most_common_vals::text::text[], '5') IS NOT NULL AS batch_value
FROM pg_stats WHERE schemaname = 'am_sample' AND tablename = 's' AND attname IN ('k', 'pad') ORDER BY 1;
-- nothing but batches, nothing but rows, nothing at all
SELECT compress_chunk('s', recompress => true);
VACUUM s;
ANALYZE s;
SELECT reltuples = (SELECT count(*) FROM s) AS exact FROM pg_class WHERE oid = 's'::regclass;
SELECT decompress_chunk('s');
ANALYZE s;
SELECT abs(reltuples - (SELECT count(*) FROM s)) < 200 AS close FROM pg_class WHERE oid = 's'::regclass;
DELETE FROM s;
SELECT count(*) FROM s TABLESAMPLE SYSTEM (100);
VACUUM ANALYZE s;
SELECT reltuples FROM pg_class WHERE oid = 's'::regclass;
SELECT n_live_tup FROM pg_stat_get_live_tuples('s'::regclass) n_live_tup;
DROP SCHEMA am_sample CASCADE;
