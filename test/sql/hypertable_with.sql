-- CREATE TABLE ... WITH (strata.hypertable, ...).
SET timezone = 'UTC';
SET datestyle = 'ISO';
CREATE TABLE w (ts timestamptz NOT NULL, dev text, v float8) WITH (strata.hypertable, strata.partition_column = 'ts',
	strata.chunk_interval = '1 day', strata.segmentby = 'dev', strata.orderby = 'ts DESC');
INSERT INTO w VALUES ('2026-01-01', 'a', 1), ('2026-01-02', 'a', 1);
\d w
SELECT reloptions FROM pg_class WHERE oid = 'w'::regclass;
SELECT c.relname, pg_get_expr(relpartbound, oid) FROM pg_class c WHERE relispartition AND relname LIKE 'w\_2026%chunk' ORDER BY 1;
SELECT * FROM strata.compression_settings WHERE hypertable_name = 'w' ORDER BY attname;
DROP TABLE w;
CREATE TABLE w (ts timestamp NOT NULL, dev text PRIMARY KEY, v float8) USING strata WITH (strata.hypertable, fillfactor = 50);
CREATE TABLE w (ts timestamp NOT NULL, dev text, v float8, PRIMARY KEY (dev, ts)) USING strata
	WITH (strata.hypertable, strata.create_default_indexes = false, fillfactor = 50);
\d w
CREATE TABLE IF NOT EXISTS w (ts timestamp NOT NULL) WITH (strata.hypertable);
DROP TABLE w;
CREATE TABLE w (ts bigint NOT NULL, v float8) WITH (strata.hypertable);
CREATE TABLE w (ts bigint NOT NULL, v float8) WITH (strata.hypertable, strata.partition_column = 'ts');
SELECT integer_interval FROM strata.dimensions WHERE hypertable_name = 'w';
DROP TABLE w;
CREATE TABLE w (ts bigint NOT NULL, v float8) WITH (strata.partition_column = 'ts');
CREATE TABLE w (ts bigint NOT NULL, v float8) WITH (strata.chunk_interval = 1000);
CREATE TABLE w (ts bigint NOT NULL, v float8) WITH (strata.hypertable, strata.partition_column = 'ts', strata.chunk_interval = '1 day');
CREATE TABLE w (ts bigint NOT NULL, v float8) WITH (strata.hypertable, strata.partition_column = 'ts', strata.chunk_interval = '1000', strata.nothing = 1);
CREATE TABLE w (ts bigint NOT NULL, v float8) WITH (strata.hypertable, strata.partition_column = 'ts', strata.chunk_interval = '1000');
INSERT INTO w VALUES (5, 1), (1005, 1);
ALTER TABLE w SET (strata.chunk_interval = '500');
INSERT INTO w VALUES (2005, 1);
SELECT chunk_name, range_start_integer, range_end_integer FROM strata.chunks WHERE hypertable_name = 'w' ORDER BY 2;
ALTER TABLE w RENAME TO w2;
ALTER TABLE w2 RENAME ts TO t;
INSERT INTO w2 VALUES (3005, 1);
SELECT chunk_name, range_start_integer, range_end_integer FROM strata.chunks WHERE hypertable_name = 'w2' ORDER BY 2;
SELECT * FROM strata.compression_settings WHERE hypertable_name = 'w2';
ALTER TABLE w2 DROP COLUMN t;
DROP TABLE w2;
-- EXPLAIN ANALYZE makes the table
CREATE FUNCTION with_explain(options text, statement text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	line text;
	lines int := 0;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (' || options || ') ' || statement LOOP
		lines := lines + 1;
	END LOOP;
	RETURN lines > 0;
END $$;
SELECT with_explain('ANALYZE', $$CREATE TABLE we USING strata WITH (strata.segmentby = 'a', fillfactor = 50) AS SELECT 1 a$$);
SELECT reloptions, a FROM pg_class, we WHERE oid = 'we'::regclass;
SELECT with_explain('ANALYZE', $$CREATE TABLE we2 USING strata WITH (strata.segmentby = 'b') AS SELECT 1 a$$);
SELECT with_explain('ANALYZE false', $$CREATE TABLE we2 USING strata WITH (strata.segmentby = 'a') AS SELECT 1 a$$);
SELECT with_explain('ANALYZE', $$CREATE MATERIALIZED VIEW we3 USING strata WITH (strata.segmentby = 'a') AS SELECT 1 a$$);
SELECT reloptions FROM pg_class WHERE oid = 'we3'::regclass;
SELECT with_explain('ANALYZE', $$CREATE TABLE IF NOT EXISTS we USING strata WITH (strata.segmentby = 'b') AS SELECT 1 a$$);
EXPLAIN (ANALYZE) CREATE MATERIALIZED VIEW we4 WITH (strata.continuous) AS SELECT 1 a;
SELECT to_regclass('we2') IS NULL AND to_regclass('we4') IS NULL AS none;
DROP TABLE we;
DROP MATERIALIZED VIEW we3;
DROP FUNCTION with_explain;
