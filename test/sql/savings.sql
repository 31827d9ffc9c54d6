-- Sizes of what is on disk, whose relations are, and what compression saves
SET timezone = 'UTC';
SET strata.report_compression = off;
SET strata.background_vacuum = off;
SET strata.enable_direct_load = on;
CREATE TABLE m (ts timestamptz NOT NULL, host text NOT NULL, v double precision, note text);
SELECT create_hypertable('m', by_range('ts', interval '12 hours')) IS NOT NULL AS made;
ALTER TABLE m SET (strata.segmentby = 'host', strata.orderby = 'ts');
CREATE INDEX m_host ON m (host, ts);
INSERT INTO m SELECT '2024-01-01 00:00+00'::timestamptz + i * interval '5 seconds', 'h' || j, i % 100, 'status ' || i % 7
	FROM generate_series(0, 17279) i, generate_series(1, 4) j;
-- nothing is compressed yet: nothing is saved, nothing is known
SELECT relation, tables, compressed_tables, unmeasured_tables, bytes_as_rows = bytes_now AS same, bytes_saved, saved_percent, saved_per_month, saved_per_year
	FROM strata.savings_report(0.10, 2) WHERE relation = 'm'::regclass;
SELECT pg_get_compression_ratio('m');
SELECT hypertable_size('m') AS heap_bytes \gset
SELECT count(compress_chunk(c)) FROM show_chunks('m') c;
-- what compressed rows took is not given back yet: it is on disk
SELECT after_compression_total_bytes > before_compression_total_bytes AS larger FROM hypertable_compression_stats('m');
VACUUM m;
REINDEX TABLE m;
SELECT pg_get_compression_ratio('m') > 3 AS ratio, after_compression_total_bytes = hypertable_size('m') AS on_disk,
	before_compression_total_bytes BETWEEN 0.9 * :heap_bytes AND 1.1 * :heap_bytes AS as_before
	FROM hypertable_compression_stats('m');
-- 5 % come late: rows of the row store are of both sides
INSERT INTO m SELECT '2024-01-01 00:00:01+00'::timestamptz + i * interval '100 seconds', 'h' || j, i % 100, 'status ' || i % 7
	FROM generate_series(0, 863) i, generate_series(1, 4) j;
SELECT pg_get_compression_ratio('m') BETWEEN 2 AND 20 AS ratio, after_compression_total_bytes = hypertable_size('m') AS on_disk,
	before_compression_total_bytes BETWEEN 0.95 * 1.05 * :heap_bytes AND 1.1 * 1.05 * :heap_bytes AS as_before
	FROM hypertable_compression_stats('m');
-- a row store of many pages is counted by samples
INSERT INTO m SELECT '2024-01-01 00:00:02+00'::timestamptz + i * interval '5 seconds', 'h9', i % 100, 'status ' || i % 7
	FROM generate_series(0, 17279) i;
SELECT before_compression_total_bytes BETWEEN 0.95 * 1.3 * :heap_bytes AND 1.1 * 1.3 * :heap_bytes AS as_before
	FROM hypertable_compression_stats('m');
DELETE FROM m WHERE host = 'h9';
VACUUM m;

-- whose are they?
SELECT of_hypertable, of_table, kind, count(*), bool_and(bytes >= 0) AS bytes FROM strata.relation_sizes
	WHERE of_hypertable = 'm'::regclass GROUP BY 1, 2, 3 ORDER BY 2::text, 3;
SELECT sum(bytes) = hypertable_size('m') AS all_of_it FROM strata.relation_sizes WHERE of_hypertable = 'm'::regclass;
CREATE TABLE plain (i int PRIMARY KEY, t text) USING strata;
SELECT relation, of_table, of_hypertable, kind FROM strata.relation_sizes WHERE of_table = 'plain'::regclass AND kind NOT LIKE 'TOAST%' ORDER BY kind;
-- each companion has a table
SELECT c FROM show_chunks('m') c LEFT JOIN strata.relation_sizes s ON s.relation = strata.batch_relation(c)
	WHERE s.of_table IS DISTINCT FROM c OR s.kind <> 'batches';

-- money: 10 TB at 0.10 a GB and month, one primary and one replica, 95 % saved: 22.8 K a year
SELECT 12 * _strata.storage_price(0.95 * 10 * 1000000000000, 0.10, 2) AS a_year;
SELECT bytes_saved FROM strata.savings_report(1, 1) WHERE relation = 'm'::regclass \gset
SELECT round(saved_per_year, 0) AS a_year, round(saved_per_month, 0) AS a_month
	FROM strata.savings_report(0.10 * (0.95 * 10 * 1000000000000) / :bytes_saved, 2) WHERE relation = 'm'::regclass;
SELECT relation, tables, compressed_tables, unmeasured_tables, bytes_as_rows > bytes_now AS smaller, bytes_saved = bytes_as_rows - bytes_now AS saved,
	saved_percent = round(100.0 * bytes_saved / bytes_as_rows, 1) AS percent, bytes_now = hypertable_size('m') AS on_disk
	FROM strata.savings_report(0.10, 2) WHERE relation = 'm'::regclass;
-- an empty table, one that was loaded without measuring, and a partitioned one
CREATE TABLE loaded (ts timestamptz NOT NULL, v int) USING strata WITH (strata.direct_load = true);
INSERT INTO loaded SELECT '2024-01-01 00:00+00'::timestamptz + i * interval '1 second', i FROM generate_series(1, 50000) i;
CREATE TABLE p (i int, t text) PARTITION BY RANGE (i);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (100000) USING strata;
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (100000) TO (200000) USING heap;
INSERT INTO p SELECT i, 'text ' || i % 9 FROM generate_series(0, 199999) i;
SELECT compress_chunk('p1') IS NOT NULL AS compressed;
VACUUM p1;
SELECT relation, tables, compressed_tables, unmeasured_tables, bytes_saved > 0 AS saves, saved_percent > 50 AS much
	FROM strata.savings_report(0.10, 2) WHERE relation IN ('p'::regclass, 'plain'::regclass, 'loaded'::regclass) ORDER BY relation::text;
-- the sum is last
SELECT bool_and(relation IS NULL) AS last, sum(bytes_saved) = (SELECT sum(bytes_saved) FROM strata.savings_report(0.10, 1) WHERE relation IS NOT NULL) AS sum
	FROM (SELECT *, row_number() OVER () AS n, count(*) OVER () AS of FROM strata.savings_report(0.10, 1)) s WHERE n = of;
SELECT count(*) FROM strata.savings_report(NULL, 1);
SELECT DISTINCT saved_per_month, saved_per_year FROM strata.savings_report(0, 1);
-- what is no price, and no number of copies
\set VERBOSITY terse
SELECT FROM strata.savings_report(-0.01, 1);
SELECT FROM strata.savings_report('NaN', 1);
SELECT FROM strata.savings_report('inf', 1);
SELECT FROM strata.savings_report(1, 0);
SELECT FROM strata.savings_report(1, -2);
\set VERBOSITY default
-- tables of others are theirs to report
CREATE ROLE regress_savings;
GRANT regress_savings TO CURRENT_USER;
SET ROLE regress_savings;
SELECT count(*), min(relation::text) AS relation, min(bytes_saved) AS saved, min(saved_percent) AS percent FROM strata.savings_report(0.10, 1);
SELECT count(*) > 10 AS sizes_are_seen FROM strata.relation_sizes WHERE of_hypertable = (SELECT c.oid FROM pg_class c WHERE c.relname = 'm' AND c.relkind = 'p');
RESET ROLE;
SET ROLE postgres;
GRANT pg_monitor TO regress_savings;
SET ROLE regress_savings;
SELECT relation, tables FROM strata.savings_report(0.10, 1) WHERE relation::text = 'm';
RESET ROLE;
DROP ROLE regress_savings;
DROP TABLE m, plain, loaded, p;
