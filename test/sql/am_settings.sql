-- strata.* options: what is stored, what is in force, what is refused.
SET client_min_messages = warning;
SET strata.batch_rows = 50;
CREATE SCHEMA am_settings;
SET search_path = am_settings, public;
CREATE VIEW stored AS SELECT c.oid::regclass AS rel, unnest(reloptions) AS option FROM pg_class c
    WHERE relnamespace = 'am_settings'::regnamespace ORDER BY 1, 2;
CREATE VIEW in_force AS SELECT relation, segmentby, orderby FROM strata.tables
    WHERE relation IN (SELECT oid FROM pg_class WHERE relnamespace = 'am_settings'::regnamespace) ORDER BY 1;

CREATE TABLE t (id int, ts timestamptz, dev text, "Odd Name" int, j json, v float8) USING strata;
TABLE in_force;
ALTER TABLE t SET (strata.segmentby = 'dev', strata.orderby = 'ts DESC NULLS LAST');
TABLE stored;
TABLE in_force;
SELECT hypertable_name, attname, segmentby_column_index, orderby_column_index, orderby_asc, orderby_nullsfirst
FROM strata.compression_settings WHERE hypertable_schema = 'am_settings' ORDER BY 2;
-- more than one column, quoting, every spelling of directions
ALTER TABLE t SET (strata.segmentby = ' dev , "Odd Name" ', strata.orderby = 'ts, ID DESC, v ASC NULLS FIRST');
TABLE in_force;
-- together with PostgreSQL's own, which survive ours and the other way round
ALTER TABLE t SET (fillfactor = 70, strata.orderby = 'ts'), SET (autovacuum_enabled = off);
ALTER TABLE t SET (fillfactor = 80);
TABLE stored;
ALTER TABLE t RESET (fillfactor, strata.segmentby);
TABLE stored;
TABLE in_force;
ALTER TABLE t RESET (autovacuum_enabled, strata.orderby), ADD COLUMN extra int, ALTER COLUMN v SET DEFAULT 1;
TABLE stored;
TABLE in_force;
ALTER TABLE t RESET (strata.orderby);
ALTER TABLE t SET (strata.orderby = '');
TABLE in_force;
ALTER TABLE t SET (strata.segmentby = 'dev', strata.orderby = 'ts');

-- refused, with nothing changed
ALTER TABLE t SET (strata.nonsense = 'dev');
ALTER TABLE t RESET (strata.nonsense);
ALTER TABLE t SET (strata.bloom = 'dev, "Odd Name"');
ALTER TABLE t SET (strata.bloom = '');
ALTER TABLE t RESET (strata.bloom);
ALTER TABLE t SET (strata.segmentby = 'nope');
ALTER TABLE t SET (strata.orderby = 'nope DESC');
ALTER TABLE t SET (strata.segmentby = 'dev, dev');
ALTER TABLE t SET (strata.segmentby = 'ts');
ALTER TABLE t SET (strata.orderby = 'dev');
ALTER TABLE t SET (strata.orderby = 'ts, ts DESC');
ALTER TABLE t SET (strata.orderby = 'j');
ALTER TABLE t SET (strata.segmentby = 'j');
ALTER TABLE t SET (strata.orderby = 'ctid');
ALTER TABLE t SET (strata.orderby = 'tableoid');
ALTER TABLE t SET (strata.segmentby = 'dev DESC');
ALTER TABLE t SET (strata.segmentby = 'lower(dev)');
ALTER TABLE t SET (strata.segmentby = 'dev; DROP TABLE t');
ALTER TABLE t SET (strata.segmentby = 'dev LIMIT 1');
ALTER TABLE t SET (strata.segmentby = 'dev FOR UPDATE');
ALTER TABLE t SET (strata.segmentby = 'dev UNION SELECT 1');
ALTER TABLE t SET (strata.segmentby = 't.dev');
ALTER TABLE t SET (strata.segmentby = ',');
ALTER TABLE t SET (strata.segmentby = '1');
ALTER TABLE t SET (strata.orderby = 'ts USING <');
ALTER TABLE t SET (strata.orderby = 'ts''; SELECT 1');
ALTER TABLE t SET (strata.orderby = '"ts');
ALTER TABLE t SET (strata.orderby = 'ts', strata.orderby = 'id');
ALTER TABLE t SET (strata.segmentby = 'dev', fillfactor = 5);
ALTER TABLE t SET (fillfactor = 50, strata.segmentby = 'nope');
ALTER TABLE t SET (timescaledb.compress = true);
ALTER TABLE nowhere SET (strata.segmentby = 'dev');
ALTER TABLE IF EXISTS nowhere SET (strata.segmentby = 'dev');
CREATE TABLE h (a int, b int);
ALTER TABLE h SET (strata.segmentby = 'a');
CREATE INDEX h_a ON h (a);
ALTER INDEX h_a SET (strata.segmentby = 'a');
CREATE TABLE bad (a int) USING strata WITH (strata.segmentby = 'b');
CREATE TABLE bad (a int) WITH (strata.segmentby = 'a');
SELECT to_regclass('bad');
TABLE stored;

-- not the owner
CREATE ROLE am_settings_user;
GRANT am_settings_user TO CURRENT_USER;
GRANT USAGE ON SCHEMA am_settings TO am_settings_user;
SET ROLE am_settings_user;
ALTER TABLE t SET (strata.segmentby = '');
ALTER TABLE t RESET (strata.segmentby);
RESET ROLE;
DROP ROLE IF EXISTS none_such;

-- a transaction's settings go with it
BEGIN;
ALTER TABLE t SET (strata.segmentby = '"Odd Name"');
TABLE in_force;
ROLLBACK;
TABLE in_force;

-- columns renamed and dropped
ALTER TABLE t SET (strata.segmentby = 'dev, "Odd Name"', strata.orderby = 'ts DESC, id');
ALTER TABLE t RENAME COLUMN dev TO "Device; DROP";
ALTER TABLE t RENAME "Odd Name" TO plain;
TABLE stored;
TABLE in_force;
ALTER TABLE t RENAME ts TO "dev";
ALTER TABLE t RENAME "Device; DROP" TO ts;
TABLE in_force;
ALTER TABLE t DROP COLUMN plain, DROP COLUMN id;
TABLE stored;
TABLE in_force;
INSERT INTO t SELECT '2024-01-01'::timestamptz + i * interval '1 hour', 'd' || i % 3, NULL, i FROM generate_series(1, 1000) i;
SELECT compress_chunk('t');
SELECT count(*), sum(nrows), min(segment) FROM strata.batches('t');
-- the settings of written batches are their own
ALTER TABLE t SET (strata.segmentby = '', strata.orderby = 'v');
SELECT count(*), sum(v), min(dev), max(ts) FROM t;
SELECT count(*) FROM t WHERE ts = 'd1';
INSERT INTO t SELECT '2025-01-01'::timestamptz + i * interval '1 hour', 'd' || i % 3, NULL, 1000 + i FROM generate_series(1, 1000) i;
SELECT compress_chunk('t');
SELECT count(DISTINCT layout), sum(nrows) FROM strata.batches('t');
SELECT v FROM t ORDER BY v DESC LIMIT 3;
SELECT dev, v FROM t ORDER BY dev, v LIMIT 2;
SELECT compress_chunk('t', recompress => true);
SELECT count(DISTINCT layout), sum(nrows) FROM strata.batches('t');
ALTER TABLE t DROP COLUMN v CASCADE;
TABLE in_force;
SELECT count(*), min(dev) FROM t WHERE ts = 'd1';
SELECT * FROM strata.verify('t');
ALTER TABLE t DROP COLUMN dev;
INSERT INTO t (ts) SELECT 'x' FROM generate_series(1, 500);
SELECT compress_chunk('t', recompress => true);
SELECT count(*), count(DISTINCT ts) FROM t;
SELECT * FROM strata.verify('t');
DROP TABLE t;

-- CREATE TABLE ... WITH, AS, INTO
CREATE TABLE c1 (a int, ts date) USING strata WITH (strata.segmentby = 'a', fillfactor = 50);
CREATE TABLE c2 USING strata WITH (strata.orderby = 'i DESC') AS SELECT i, i % 3 AS k FROM generate_series(1, 2000) i;
CREATE TABLE IF NOT EXISTS c2 USING strata WITH (strata.orderby = 'k') AS SELECT 1 AS i;
CREATE TABLE IF NOT EXISTS c1 (a int) USING strata WITH (strata.segmentby = '');
SET default_table_access_method = strata;
SELECT i, i AS j INTO c3 FROM generate_series(1, 2000) i;
CREATE TABLE c4 (LIKE c2 INCLUDING ALL) WITH (strata.segmentby = 'k');
RESET default_table_access_method;
CREATE MATERIALIZED VIEW mv USING strata WITH (strata.segmentby = 'k') AS SELECT i, i % 3 AS k FROM generate_series(1, 2000) i;
ALTER MATERIALIZED VIEW mv SET (strata.orderby = 'i');
ALTER MATERIALIZED VIEW mv RENAME COLUMN k TO kk;
ALTER MATERIALIZED VIEW mv SET (strata.orderby = 'k');
TABLE stored;
TABLE in_force;
SELECT compress_chunk('c2'), compress_chunk('c3'), compress_chunk('mv');
SELECT count(*), sum(i) FROM mv;
REFRESH MATERIALIZED VIEW mv;
SELECT count(*), sum(i) FROM mv;
TABLE stored;

-- partitions inherit as a whole; their own settings come first
CREATE TABLE p (id int, k text, ts date) PARTITION BY LIST (k);
ALTER TABLE p SET (strata.segmentby = 'k', strata.orderby = 'id');
CREATE TABLE pa PARTITION OF p FOR VALUES IN ('a') USING strata;
CREATE TABLE pb PARTITION OF p FOR VALUES IN ('b') USING strata WITH (strata.orderby = 'ts DESC');
CREATE TABLE pc PARTITION OF p FOR VALUES IN ('c') PARTITION BY RANGE (id);
CREATE TABLE pc1 PARTITION OF pc FOR VALUES FROM (0) TO (10000) USING strata;
CREATE TABLE ph PARTITION OF p FOR VALUES IN ('h');
CREATE TABLE pd (ts date, extra int, id int, k text) USING strata;
ALTER TABLE pd DROP COLUMN extra;
ALTER TABLE p ATTACH PARTITION pd FOR VALUES IN ('d');
SELECT * FROM in_force WHERE relation::text LIKE 'p%';
INSERT INTO p SELECT i, chr(97 + i % 4), date '2024-01-01' + i % 100 FROM generate_series(1, 8000) i;
INSERT INTO p VALUES (1, 'h');
SELECT compress_chunk('p');
SELECT tableoid::regclass, count(*), sum(id) FROM p GROUP BY 1 ORDER BY 1;
SELECT 'pa' AS t, layout, count(*) FROM strata.batches('pa') GROUP BY 2 UNION ALL SELECT 'pd', layout, count(*) FROM strata.batches('pd') GROUP BY 2
UNION ALL SELECT 'pc1', layout, count(*) FROM strata.batches('pc1') GROUP BY 2 ORDER BY 1;
ALTER TABLE p RENAME COLUMN id TO number;
ALTER TABLE p RESET (strata.segmentby);
SELECT * FROM in_force WHERE relation::text LIKE 'p%';
ALTER TABLE p DROP COLUMN ts;
SELECT * FROM in_force WHERE relation::text LIKE 'p%';
ALTER TABLE p DETACH PARTITION pa;
SELECT * FROM in_force WHERE relation::text LIKE 'pa%';
SELECT count(*), sum(number) FROM pa;
ALTER TABLE p SET (strata.segmentby = 'nope');
-- PostgreSQL 17 has another message for it
DO $$ BEGIN
	ALTER TABLE p SET (fillfactor = 10);
EXCEPTION WHEN invalid_parameter_value OR wrong_object_type THEN RAISE NOTICE 'refused';
END $$;

-- SET ACCESS METHOD both ways keeps rows; leaving forgets the options
CREATE TABLE m AS SELECT i AS id, i % 7 AS k, repeat('x', i % 50) AS pad FROM generate_series(1, 3000) i;
CREATE TABLE m_copy AS TABLE m;
ALTER TABLE m ADD PRIMARY KEY (id);
ALTER TABLE m SET ACCESS METHOD strata;
ALTER TABLE m SET (strata.segmentby = 'k', strata.orderby = 'id');
SELECT compress_chunk('m');
ALTER TABLE m SET (fillfactor = 90), SET ACCESS METHOD heap;
SELECT * FROM stored WHERE rel = 'm'::regclass;
TABLE m EXCEPT ALL TABLE m_copy;
SELECT count(*) FROM m;
ALTER TABLE m SET ACCESS METHOD strata;
ALTER TABLE m SET (strata.segmentby = 'k');
SELECT compress_chunk('m');
ALTER TABLE m SET ACCESS METHOD strata;
SELECT batch_rows, row_store_rows FROM strata.tables WHERE relation = 'm'::regclass;
BEGIN;
ALTER TABLE m SET ACCESS METHOD heap, ADD COLUMN n int DEFAULT 3, DROP COLUMN pad;
SELECT count(*), sum(id), sum(n) FROM m;
ROLLBACK;
SELECT * FROM stored WHERE rel = 'm'::regclass;
TABLE m EXCEPT ALL TABLE m_copy;
SELECT count(*) FROM m;
ALTER TABLE m RENAME TO m2;
ALTER TABLE m2 SET SCHEMA public;
SELECT count(*), sum(id) FROM m2 WHERE k = 3;
DROP TABLE m2;
DROP SCHEMA am_settings CASCADE;
DROP ROLE am_settings_user;
SELECT count(*) AS companions FROM pg_class WHERE relnamespace = '_strata'::regnamespace AND relname LIKE 'batch\_%' AND relkind = 'r';
