-- strata.stat_tables: what each way of reading counts
SET timezone = 'UTC';
CREATE TABLE m (ts timestamptz NOT NULL, host text NOT NULL, v double precision);
SELECT create_hypertable('m', by_range('ts', interval '12 hours')) IS NOT NULL AS made;
ALTER TABLE m SET (strata.segmentby = 'host', strata.orderby = 'ts');
CREATE INDEX m_host ON m (host, ts);
-- 2 chunks, 4 hosts, a row every 12 seconds: 3600 rows a host and chunk
INSERT INTO m SELECT '2024-01-01 00:00+00'::timestamptz + i * interval '12 seconds', 'h' || j, i % 100
	FROM generate_series(0, 7199) i, generate_series(1, 4) j;
SET strata.report_compression = off;
SELECT count(compress_chunk(c)) FROM show_chunks('m') c;
-- 5 % come late
INSERT INTO m SELECT '2024-01-01 00:00:01+00'::timestamptz + i * interval '4 minutes', 'h' || j, i % 100
	FROM generate_series(0, 359) i, generate_series(1, 4) j;
ANALYZE m;
SELECT strata.reset_stat_tables('m');
CREATE FUNCTION counters(OUT scans bigint, OUT scanned bigint, OUT decoded bigint, OUT by_segment bigint, OUT by_range bigint,
	OUT counted bigint, OUT passed bigint,
	OUT batch_rows bigint, OUT row_store_rows bigint, OUT changed text) LANGUAGE plpgsql AS $$
BEGIN
	SELECT h.scans, h.batches_scanned, h.batches_decoded, h.batches_pruned_by_segment, h.batches_pruned_by_range,
		h.batches_counted, h.batches_passed, h.rows_from_batches, h.rows_from_row_store,
		concat_ws(' ', h.rows_moved, h.rows_deleted)
	INTO scans, scanned, decoded, by_segment, by_range, counted, passed, batch_rows, row_store_rows, changed
	FROM strata.stat_hypertables h WHERE h.relid = 'm'::regclass;
	PERFORM strata.reset_stat_tables('m');
END $$;
-- all, counted by an index
SELECT count(*) FROM m;
SELECT * FROM counters();
-- answered by summaries
SELECT min(ts), max(ts), sum(v), count(ts) FROM m;
SELECT * FROM counters();
-- values are looked at
SELECT host, count(*) FROM m WHERE v > 50 GROUP BY host ORDER BY host;
SELECT * FROM counters();
-- one host, a short time: one chunk is read, of the other nothing
SELECT count(*), sum(v) FROM m WHERE host = 'h2' AND ts >= '2024-01-01 03:00+00' AND ts < '2024-01-01 03:10+00';
SELECT * FROM counters();
SELECT ts, v FROM m WHERE host = 'h2' AND ts >= '2024-01-01 03:00+00' AND ts < '2024-01-01 03:01+00' ORDER BY ts;
SELECT * FROM counters();
-- rows one by one, without the index
SET enable_indexscan = off;
SELECT count(*) FROM (SELECT ts, v FROM m WHERE v = 7 OFFSET 0) s;
RESET enable_indexscan;
SELECT * FROM counters();
-- an early stop
SELECT ts, host FROM m ORDER BY ts DESC, host LIMIT 3;
SELECT * FROM counters();
-- rescans are scans; a chunk that is not come to is not scanned
SELECT d, (SELECT max(v) FROM m WHERE ts >= d AND ts < d + interval '1 hour') AS max
	FROM generate_series('2024-01-01 01:00+00'::timestamptz, '2024-01-01 04:00+00', interval '1 hour') d;
SELECT * FROM counters();
-- without StrataScan
SET strata.enable_scan = off;
SELECT count(v) FROM m WHERE host = 'h1';
RESET strata.enable_scan;
SELECT * FROM counters();
-- EXPLAIN alone counts nothing, ANALYZE neither
EXPLAIN (COSTS OFF) SELECT count(v) FROM m WHERE host = 'h1' AND ts < '2024-01-01 12:00+00';
ANALYZE m;
SELECT * FROM counters();
-- parallel: a scan is one
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(*), sum(v) FROM m WHERE v > 50;
SELECT scans, scanned, by_segment, by_range, batch_rows, row_store_rows FROM counters();
RESET max_parallel_workers_per_gather;
-- changes: deleted, whole batches too; moved
DELETE FROM m WHERE host = 'h3' AND ts < '2024-01-01 12:00+00';
UPDATE m SET v = -1 WHERE host = 'h1' AND ts >= '2024-01-01 03:00+00' AND ts < '2024-01-01 03:10+00';
SELECT changed FROM counters();
-- and some of each batch
DELETE FROM m WHERE host = 'h4' AND v = 7 AND extract(second FROM ts) <> 1;
SELECT changed FROM counters();
DROP TABLE m;
DROP FUNCTION counters();
