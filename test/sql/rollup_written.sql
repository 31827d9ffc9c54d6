-- Who writes to an archive himself: what is there answers nothing until the next refresh; what a restore loads stays.
SET client_min_messages = warning;
SET strata.report_compression = off;
CREATE TABLE row_t (time int NOT NULL, n int);
SELECT FROM create_hypertable('row_t', 'time', chunk_time_interval => 100);
ALTER TABLE row_t SET (strata.orderby = 'time');
INSERT INTO row_t SELECT i, i FROM generate_series(0, 999) i;
SELECT count(compress_chunk(c)) FROM show_chunks('row_t', older_than => 900) c;
INSERT INTO row_t SELECT i, i FROM generate_series(0, 899, 50) i;
CREATE MATERIALIZED VIEW row_10 WITH (strata.continuous, strata.chunk_interval = 100) AS SELECT time_bucket(10, time) AS b, count(*) FROM row_t GROUP BY 1;
CREATE FUNCTION row_check(OUT covered text, OUT buckets bigint, OUT sum numeric, OUT of_table bigint) LANGUAGE sql VOLATILE AS $$
	SELECT (SELECT string_agg(lo || '-' || hi, ', ' ORDER BY lo) FROM _strata.rollup_clean('row_10')), (SELECT count(*) FROM row_10), (SELECT sum(count) FROM row_10), (SELECT count(*) FROM row_t)
$$;
SELECT * FROM row_check();
BEGIN;
UPDATE row_10_archive SET count = 1;
SELECT * FROM row_check();
ROLLBACK;
SELECT * FROM row_check();
BEGIN;
DELETE FROM row_10_archive_100_chunk;
SELECT * FROM row_check();
ROLLBACK;
BEGIN;
INSERT INTO row_10_archive VALUES (10, 7);
SELECT * FROM row_check();
ROLLBACK;
BEGIN;
COPY row_10_archive FROM stdin;
20	7
\.
SELECT * FROM row_check();
ROLLBACK;
BEGIN;
TRUNCATE row_10_archive_100_chunk;
SELECT * FROM row_check();
ROLLBACK;
BEGIN;
WITH d AS (DELETE FROM row_10_archive WHERE b < 100 RETURNING b) SELECT count(*) FROM d;
SELECT * FROM row_check();
ROLLBACK;
BEGIN;
ALTER TABLE row_10_archive DETACH PARTITION row_10_archive_100_chunk;
SELECT * FROM row_check();
ROLLBACK;
-- for good, and back
TRUNCATE row_10_archive;
SELECT * FROM row_check();
CALL refresh_continuous_aggregate('row_10', NULL, NULL);
SELECT * FROM row_check();
-- compression, VACUUM and moves write nothing
SELECT count(compress_chunk(c)) > 0 FROM show_chunks('row_10_archive') c;
VACUUM row_10_archive;
SELECT * FROM row_check();
DROP FUNCTION row_check;
DROP TABLE row_t CASCADE;
