-- Partitions that come and go with their rows, heaps among them; views and archives that are dropped.
SET strata.report_compression = off;
\set VERBOSITY terse
CREATE TABLE rp (time int NOT NULL, host int, v int);
SELECT FROM create_hypertable('rp', 'time', chunk_time_interval => 100);
ALTER TABLE rp SET (strata.segmentby = 'host', strata.orderby = 'time');
INSERT INTO rp SELECT i, i % 3, i FROM generate_series(0, 499) i;
SELECT count(compress_chunk(c)) FROM show_chunks('rp', older_than => 400) c;
INSERT INTO rp SELECT i, 1, 1 FROM generate_series(0, 399, 20) i;
CREATE VIEW rp_ten AS SELECT time_bucket(10, time) AS bucket, host, count(*), sum(v) FROM rp GROUP BY 1, 2;
CREATE TABLE rp_ten_archive AS SELECT * FROM rp_ten WITH NO DATA;
ALTER TABLE rp_ten_archive ALTER bucket SET NOT NULL;
SELECT FROM create_hypertable('rp_ten_archive', 'bucket', chunk_time_interval => 1000);
SET ROLE postgres;
INSERT INTO _strata.rollup VALUES ('rp_ten'::regclass, 'rp'::regclass, 'rp_ten_archive'::regclass);
RESET ROLE;
-- What is clean, and how many of its groups differ from the archive's.
CREATE FUNCTION rp_check(OUT clean text, OUT differences bigint) LANGUAGE sql AS $$
	WITH c AS MATERIALIZED (SELECT * FROM _strata.rollup_clean('rp_ten')),
		a AS (SELECT * FROM rp_ten_archive WHERE EXISTS (SELECT FROM c WHERE bucket >= lo AND bucket < hi)),
		v AS (SELECT * FROM rp_ten WHERE EXISTS (SELECT FROM c WHERE bucket >= lo AND bucket < hi))
	SELECT (SELECT string_agg(lo || '-' || hi, ', ' ORDER BY lo) FROM c), count(*) FROM ((TABLE a EXCEPT ALL TABLE v) UNION ALL (TABLE v EXCEPT ALL TABLE a)) x
$$;
CALL refresh_continuous_aggregate('rp_ten', NULL, NULL);
SELECT * FROM rp_check();

-- detach and attach: with rows, and without; the transaction itself knows, too
BEGIN;
ALTER TABLE rp DETACH PARTITION rp_100_chunk;
SELECT * FROM rp_check();
SELECT * FROM _strata.track_pending('rp');
COMMIT;
SELECT * FROM rp_check();
CALL refresh_continuous_aggregate('rp_ten', NULL, NULL);
SELECT * FROM rp_check();
INSERT INTO rp_100_chunk VALUES (150, 7, 7);
BEGIN;
ALTER TABLE rp ATTACH PARTITION rp_100_chunk FOR VALUES FROM (100) TO (200);
SELECT * FROM rp_check();
COMMIT;
SELECT * FROM rp_check();
BEGIN;
SAVEPOINT s;
ALTER TABLE rp DETACH PARTITION rp_200_chunk;
ROLLBACK TO s;
COMMIT;
CALL refresh_continuous_aggregate('rp_ten', NULL, NULL);
SELECT * FROM rp_check();
ALTER TABLE rp DETACH PARTITION rp_300_chunk CONCURRENTLY;
SELECT * FROM rp_check();
CALL refresh_continuous_aggregate('rp_ten', NULL, NULL);
CALL attach_chunk('rp', 'rp_300_chunk', '{"time": [300, 400]}');
SELECT * FROM rp_check();
CALL detach_chunk('rp_300_chunk');
CALL attach_chunk('rp', 'rp_300_chunk', '{"time": [300, 400]}');
CALL refresh_continuous_aggregate('rp_ten', NULL, NULL);
SELECT * FROM rp_check();
-- one transaction takes a chunk from one range to another, and from one hypertable to another: both lose or get rows
BEGIN;
ALTER TABLE rp DETACH PARTITION rp_200_chunk;
UPDATE rp_200_chunk SET time = time + 2000;
ALTER TABLE rp ATTACH PARTITION rp_200_chunk FOR VALUES FROM (2200) TO (2300);
SELECT * FROM rp_check();
SELECT * FROM _strata.track_pending('rp') ORDER BY 1;
COMMIT;
SELECT * FROM rp_check();
CALL refresh_continuous_aggregate('rp_ten', NULL, NULL);
SELECT * FROM rp_check();
CREATE TABLE rp_other (LIKE rp);
SELECT FROM create_hypertable('rp_other', 'time', chunk_time_interval => 100);
CREATE MATERIALIZED VIEW rp_other_ten WITH (strata.continuous, strata.materialized_only = true) AS SELECT time_bucket(10, time) AS bucket, count(*) AS n FROM rp_other GROUP BY 1;
BEGIN;
INSERT INTO rp_200_chunk SELECT 2210, host, v FROM rp_200_chunk LIMIT 1;
ALTER TABLE rp DETACH PARTITION rp_200_chunk;
ALTER TABLE rp_other ATTACH PARTITION rp_200_chunk FOR VALUES FROM (2200) TO (2400);
SELECT * FROM _strata.track_pending('rp') ORDER BY 1;
SELECT * FROM _strata.track_pending('rp_other') ORDER BY 1;
COMMIT;
SELECT * FROM rp_check();
CALL refresh_continuous_aggregate('rp_ten', NULL, NULL);
CALL refresh_continuous_aggregate('rp_other_ten', NULL, NULL);
SELECT * FROM rp_check();
SELECT sum(n) FROM rp_other_ten;
BEGIN;
ALTER TABLE rp_other DETACH PARTITION rp_200_chunk;
UPDATE rp_200_chunk SET time = time - 2000;
ALTER TABLE rp_other ATTACH PARTITION rp_200_chunk FOR VALUES FROM (200) TO (300);
ALTER TABLE rp_other DETACH PARTITION rp_200_chunk;
ALTER TABLE rp ATTACH PARTITION rp_200_chunk FOR VALUES FROM (200) TO (300);
SELECT * FROM _strata.track_pending('rp') ORDER BY 1;
SELECT * FROM _strata.track_pending('rp_other') ORDER BY 1;
COMMIT;
CALL refresh_continuous_aggregate('rp_ten', NULL, NULL);
CALL refresh_continuous_aggregate('rp_other_ten', NULL, NULL);
SELECT * FROM rp_check();
SELECT sum(n) FROM rp_other_ten;
DROP MATERIALIZED VIEW rp_other_ten;
DROP TABLE rp_other;
-- chunks made empty are no change
CREATE TABLE rp_far PARTITION OF rp FOR VALUES FROM (1000) TO (1100);
SELECT * FROM _strata.track_marks('rp');

-- a partition that becomes a heap is covered no more; nor is one that comes as a heap
ALTER TABLE rp_200_chunk SET ACCESS METHOD heap;
SELECT * FROM rp_check();
INSERT INTO rp VALUES (250, 1, 1000);
CALL refresh_continuous_aggregate('rp_ten', NULL, NULL);
SELECT * FROM rp_check();
CREATE TABLE rp_heap (time int NOT NULL, host int, v int) USING heap;
INSERT INTO rp_heap VALUES (555, 1, 1), (595, 2, 2);
ALTER TABLE rp ATTACH PARTITION rp_heap FOR VALUES FROM (500) TO (600);
INSERT INTO rp VALUES (610, 1, 1), (699, 1, 1);
CALL refresh_continuous_aggregate('rp_ten', NULL, NULL);
SELECT * FROM rp_check();
-- and is again, when it uses strata
ALTER TABLE rp_200_chunk SET ACCESS METHOD strata;
CALL refresh_continuous_aggregate('rp_ten', NULL, NULL);
SELECT * FROM rp_check();
UPDATE rp SET v = 0 WHERE time = 251;
SELECT * FROM rp_check();
-- a default partition that is a heap may hold anything
CREATE TABLE rp_default (time int NOT NULL, host int, v int) USING heap;
INSERT INTO rp_default VALUES (5000, 1, 1);
ALTER TABLE rp ATTACH PARTITION rp_default DEFAULT;
SELECT * FROM rp_check();
CALL refresh_continuous_aggregate('rp_ten', NULL, NULL);
SELECT * FROM rp_check();
ALTER TABLE rp DETACH PARTITION rp_default;
CALL refresh_continuous_aggregate('rp_ten', NULL, NULL);
SELECT * FROM rp_check();
TRUNCATE rp;
SELECT * FROM rp_check();
CALL refresh_continuous_aggregate('rp_ten', NULL, NULL);
SELECT * FROM rp_check();
SELECT count(*) FROM rp_ten_archive;

-- Another rollup; one whose view is dropped is forgotten, the last with what was tracked
CREATE VIEW rp_all AS SELECT time_bucket(1000, time) AS bucket, count(*) FROM rp GROUP BY 1;
CREATE TABLE rp_all_archive AS SELECT * FROM rp_all WITH NO DATA;
ALTER TABLE rp_all_archive ALTER bucket SET NOT NULL;
SELECT FROM create_hypertable('rp_all_archive', 'bucket', chunk_time_interval => 10000);
SET ROLE postgres;
INSERT INTO _strata.rollup VALUES ('rp_all'::regclass, 'rp'::regclass, 'rp_all_archive'::regclass);
RESET ROLE;
INSERT INTO rp VALUES (-5, 1, 1), (5, 1, 1);
CALL refresh_continuous_aggregate('rp_all', NULL, NULL);
DROP MATERIALIZED VIEW rp_ten;
INSERT INTO rp VALUES (5, 1, 1);
CALL refresh_continuous_aggregate('rp_all', NULL, NULL);
TABLE rp_all_archive ORDER BY 1;
SET ROLE postgres;
SELECT count(*) FROM _strata.rollup_cover WHERE view NOT IN (SELECT oid FROM pg_class);
SELECT count(*) FROM _strata.rollup_source WHERE hypertable = 'rp'::regclass;
DROP TABLE rp_all_archive;
SELECT count(*) FROM _strata.rollup_source WHERE hypertable = 'rp'::regclass;
RESET ROLE;
DROP VIEW rp_all;
DROP FUNCTION rp_check;
DROP TABLE rp, rp_default;
