-- strata.stat_tables: who sees and resets what, transactions, drops; stat_tables_plan.sql has scans
SET timezone = 'UTC';
SET strata.report_compression = off;
CREATE TABLE m (ts timestamptz NOT NULL, host text NOT NULL, v double precision);
SELECT create_hypertable('m', by_range('ts', interval '12 hours')) IS NOT NULL AS made;
ALTER TABLE m SET (strata.segmentby = 'host', strata.orderby = 'ts');
INSERT INTO m SELECT '2024-01-01 00:00+00'::timestamptz + i * interval '12 seconds', 'h' || j, i % 100
	FROM generate_series(0, 7199) i, generate_series(1, 4) j;
-- a table nobody has used
CREATE TABLE unused (a int) USING strata;
SELECT scans, last_scan, compressions, rows_from_row_store, since FROM strata.stat_tables WHERE relid = 'unused'::regclass;
-- a compression counts when it stands, rows it reads are no scan
BEGIN;
SELECT count(compress_chunk(c)) FROM show_chunks('m') c;
ROLLBACK;
SELECT chunks, compressions, rows_from_row_store FROM strata.stat_hypertables WHERE relid = 'm'::regclass;
BEGIN;
SAVEPOINT a;
SELECT count(compress_chunk(c)) FROM show_chunks('m') c;
ROLLBACK TO a;
SAVEPOINT b;
SELECT count(compress_chunk(c)) FROM (SELECT min(c::text)::regclass FROM show_chunks('m') c) s(c);
RELEASE b;
COMMIT;
SELECT chunks, chunks_used, compressions, rows_compressed, batches_written > 0 AS batches, last_compression IS NOT NULL AS last
	FROM strata.stat_hypertables WHERE relid = 'm'::regclass;
SELECT count(compress_chunk(c, true)) FROM show_chunks('m') c;
SELECT compressions, rows_compressed, decompressions, last_compression > now() - interval '1 hour' AS last FROM strata.stat_tables
	WHERE hypertable = 'm'::regclass ORDER BY relname;
-- late rows
INSERT INTO m SELECT '2024-01-01 00:00:01+00'::timestamptz + i * interval '4 minutes', 'h' || j, i % 100
	FROM generate_series(0, 359) i, generate_series(1, 4) j;
SELECT strata.reset_stat_tables('m');
SELECT scans, compressions, last_compression, last_scan, since > now() - interval '1 hour' AS since
	FROM strata.stat_hypertables WHERE relid = 'm'::regclass;
-- rows of both halves, whatever the plan
SELECT count(*), sum(v) FROM m WHERE v >= 0;
SELECT scans, rows_from_batches, rows_from_row_store, last_scan IS NOT NULL AS last FROM strata.stat_hypertables WHERE relid = 'm'::regclass;
-- changes of compressed rows count however the transaction ends, changes of others not
SELECT strata.reset_stat_tables('m');
UPDATE m SET v = -1 WHERE host = 'h1' AND ts >= '2024-01-01 03:00+00' AND ts < '2024-01-01 03:10+00' AND extract(second FROM ts) <> 1;
BEGIN;
DELETE FROM m WHERE host = 'h2' AND ts >= '2024-01-01 03:00+00' AND ts < '2024-01-01 03:10+00' AND extract(second FROM ts) <> 1;
ROLLBACK;
UPDATE m SET v = -1 WHERE extract(second FROM ts) = 1;
SELECT rows_moved, rows_deleted FROM strata.stat_hypertables WHERE relid = 'm'::regclass;
-- not while track_counts is off
CREATE TEMP TABLE before AS SELECT * FROM strata.stat_tables WHERE hypertable = 'm'::regclass;
SET ROLE postgres;
SET track_counts = off;
SELECT count(v) FROM m;
RESET track_counts;
RESET ROLE;
SELECT * FROM strata.stat_tables WHERE hypertable = 'm'::regclass EXCEPT SELECT * FROM before;
DROP TABLE before;
SELECT decompress_chunk(c) IS NOT NULL AS decompressed FROM (SELECT min(c::text)::regclass FROM show_chunks('m') c) s(c);
SELECT sum(decompressions) AS decompressions FROM strata.stat_hypertables WHERE relid = 'm'::regclass;
-- direct load
CREATE TABLE d (ts timestamptz NOT NULL, v int) USING strata WITH (strata.direct_load = true);
INSERT INTO d SELECT '2024-01-01 00:00+00'::timestamptz + i * interval '1 second', i FROM generate_series(1, 5000) i;
SELECT compressions, rows_compressed IN (0, 5000) AS loaded, last_compression FROM strata.stat_tables WHERE relid = 'd'::regclass;
-- a dropped table's counters go when it is gone
SELECT count(*) FROM d;
CREATE TEMP TABLE gone AS SELECT 'd'::regclass::oid AS relid;
BEGIN;
DROP TABLE d;
ROLLBACK;
SELECT count(*) FROM _strata.stat_counters() s JOIN gone g USING (relid);
BEGIN;
SAVEPOINT a;
DROP TABLE d;
ROLLBACK TO a;
COMMIT;
SELECT count(*) FROM _strata.stat_counters() s JOIN gone g USING (relid);
DROP TABLE d;
SELECT count(*) FROM _strata.stat_counters() s JOIN gone g USING (relid);
-- TRUNCATE and ALTER TABLE leave counters
SELECT sum(scans) > 0 AS scans FROM strata.stat_hypertables WHERE relid = 'm'::regclass;
ALTER TABLE m ALTER COLUMN v TYPE numeric;
TRUNCATE m;
SELECT sum(scans) > 0 AS scans FROM strata.stat_hypertables WHERE relid = 'm'::regclass;
-- everybody sees them; whoever owns the table resets them
CREATE ROLE regress_stat_reader;
GRANT regress_stat_reader TO CURRENT_USER;
SET ROLE regress_stat_reader;
SELECT count(*) > 0 AS seen, sum(scans) > 0 AS scans FROM strata.stat_tables WHERE hypertable = 'm'::regclass;
\set VERBOSITY terse
SELECT strata.reset_stat_tables('m');
SELECT strata.reset_stat_tables('unused');
-- all of one's own: none
SELECT strata.reset_stat_tables();
SELECT count(*) > 0 AS seen, sum(scans) > 0 AS scans FROM strata.stat_tables WHERE hypertable = 'm'::regclass;
RESET ROLE;
CREATE TABLE heap (a int);
SELECT strata.reset_stat_tables('heap');
SELECT strata.reset_stat_tables(0::regclass);
SELECT strata.reset_stat_tables();
SELECT count(*) > 0 AS seen, sum(scans) AS scans FROM strata.stat_tables WHERE hypertable = 'm'::regclass;
DROP ROLE regress_stat_reader;
DROP TABLE m, unused, heap;
