-- reltuples, n_live_tup and approximate_row_count() count both halves, whatever was last: VACUUM, ANALYZE, both.
CREATE TABLE cnt (ts timestamptz NOT NULL, host int, v int);
SELECT FROM create_hypertable('cnt', 'ts', chunk_time_interval => interval '12 hours');
ALTER TABLE cnt SET (strata.segmentby = 'host');
SELECT hypertable_size('cnt') AS of_no_chunks;
INSERT INTO cnt SELECT '2026-01-01 00:00+00'::timestamptz + i * interval '10 s', i % 5, i FROM generate_series(0, 8639) i;
SELECT count(compress_chunk(c)) FROM show_chunks('cnt') c;
INSERT INTO cnt SELECT ts, host, -1 FROM cnt WHERE v % 20 = 0;
CREATE FUNCTION counts(OUT chunks bigint, OUT reltuples float8, OUT live numeric, OUT dead numeric, OUT approximate bigint)
LANGUAGE sql AS $$
	SELECT count(*), sum(c.reltuples), sum(pg_stat_get_live_tuples(c.oid)), sum(pg_stat_get_dead_tuples(c.oid)), approximate_row_count('cnt')
	FROM pg_class c WHERE c.oid IN (SELECT show_chunks('cnt'))
$$;
VACUUM cnt;
SELECT pg_stat_force_next_flush();
SELECT * FROM counts();
VACUUM cnt;
VACUUM cnt;
SELECT pg_stat_force_next_flush();
SELECT * FROM counts();
ANALYZE cnt;
SELECT pg_stat_force_next_flush();
SELECT * FROM counts();
VACUUM ANALYZE cnt;
SELECT pg_stat_force_next_flush();
SELECT * FROM counts();
-- most pages are all visible, and not looked at
INSERT INTO cnt VALUES ('2026-01-01 23:00+00', 1, 1);
VACUUM cnt;
SELECT pg_stat_force_next_flush();
SELECT * FROM counts();
-- rows change, and go
UPDATE cnt SET v = 0 WHERE host = 1 AND v BETWEEN 100 AND 1000;
DELETE FROM cnt WHERE host = 2;
VACUUM cnt;
SELECT pg_stat_force_next_flush();
SELECT *, (SELECT count(*) FROM cnt) FROM counts();
SELECT problem, object, detail FROM strata.problems WHERE object LIKE 'cnt%' AND problem NOT LIKE '%space%';
SELECT count(decompress_chunk(c)) FROM show_chunks('cnt') c;
VACUUM cnt;
SELECT pg_stat_force_next_flush();
SELECT * FROM counts();
DROP TABLE cnt;
DROP FUNCTION counts;
-- indexes that are made, and a table that is written anew
CREATE TABLE cnt (ts timestamptz NOT NULL, host int, v int) USING strata;
ALTER TABLE cnt SET (autovacuum_enabled = off);
INSERT INTO cnt SELECT '2026-01-01 00:00+00'::timestamptz + i * interval '10 s', i % 5, i FROM generate_series(0, 8639) i;
CREATE INDEX cnt_brin ON cnt USING brin (ts);
SET strata.background_vacuum = off;
SELECT compress_chunk('cnt');
INSERT INTO cnt SELECT ts, host, -1 FROM cnt WHERE v % 20 = 0;
-- (18 leaves it at what VACUUM has estimated, where autovacuum is off)
CREATE VIEW counted AS SELECT abs(reltuples - 9072) < 100 AS of_both FROM pg_class WHERE relname = 'cnt';
VACUUM cnt;
CREATE INDEX cnt_ts ON cnt (ts);
SELECT * FROM counted;
CREATE INDEX cnt_v ON cnt USING gist (int4range(v, v, '[]'));
SELECT * FROM counted;
REINDEX INDEX cnt_ts;
SELECT * FROM counted;
REINDEX TABLE CONCURRENTLY cnt;
SELECT * FROM counted;
SELECT brin_summarize_new_values('cnt_brin');
SELECT * FROM counted;
VACUUM FULL cnt;
SELECT * FROM counted;
SET max_parallel_maintenance_workers = 2;
SET min_parallel_table_scan_size = 0;
ALTER TABLE cnt SET (parallel_workers = 2);
CREATE INDEX cnt_host ON cnt (host);
SELECT * FROM counted;
RESET max_parallel_maintenance_workers;
RESET min_parallel_table_scan_size;
RESET strata.background_vacuum;
DROP VIEW counted;
DROP TABLE cnt;
