-- When DELETE takes whole batches.
SET strata.batch_rows = 10;
CREATE TABLE swp (id int, seg int, v int) USING strata WITH (strata.segmentby = 'seg', strata.orderby = 'id');
INSERT INTO swp SELECT i, i % 4, 0 FROM generate_series(1, 400) i;
SELECT compress_chunk('swp');
ANALYZE swp;
CREATE FUNCTION swp_batches(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || statement LOOP
		IF line ~ 'Batches:' THEN RETURN substring(line FROM 'total.*'); END IF;
	END LOOP;
	RETURN 'none';
END $$;
CREATE FUNCTION swp_explain(statement text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || statement LOOP
		-- 18 counts rows in hundredths
		RETURN NEXT regexp_replace(line, 'rows=(\d+)\.00', 'rows=\1');
	END LOOP;
END $$;
BEGIN;
SELECT swp_explain('DELETE FROM swp WHERE seg = 1 AND id < 60');
EXPLAIN (COSTS OFF) DELETE FROM swp WHERE seg = 1;
-- rows that were deleted before do not stand in the way; changed ones do
SELECT swp_batches('DELETE FROM swp WHERE seg = 1');
UPDATE swp SET v = 1 WHERE id = 2;
SELECT swp_batches('DELETE FROM swp WHERE seg = 2');
SELECT id FROM swp WHERE id = 3 FOR UPDATE;
SELECT swp_batches('DELETE FROM swp');
ROLLBACK;
BEGIN; SELECT swp_batches('DELETE FROM swp'); SELECT count(*) FROM swp; ROLLBACK;
BEGIN; SELECT swp_batches('DELETE FROM swp WHERE v = 0'); ROLLBACK;
BEGIN; SELECT swp_batches('DELETE FROM swp WHERE v < 1 AND seg IN (0, 1)'); ROLLBACK;
BEGIN; SELECT swp_batches('WITH d AS (DELETE FROM swp WHERE seg = 1) SELECT 1'); ROLLBACK;
-- not when somebody wants the rows
BEGIN; SELECT swp_batches('DELETE FROM swp RETURNING id'); ROLLBACK;
BEGIN; SELECT swp_batches('DELETE FROM swp USING generate_series(1, 2) g WHERE seg = g'); ROLLBACK;
BEGIN; SELECT swp_batches('DELETE FROM swp WHERE v + 0 = 0'); ROLLBACK;
SET strata.enable_batch_delete = off;
BEGIN; SELECT swp_batches('DELETE FROM swp'); ROLLBACK;
RESET strata.enable_batch_delete;
-- partitions and hypertables
SET timezone = 'UTC';
CREATE TABLE swp_h (ts timestamptz NOT NULL, v int);
SELECT count(*) FROM create_hypertable('swp_h', 'ts', chunk_time_interval => interval '1 day');
INSERT INTO swp_h SELECT '2024-01-01 00:00+00'::timestamptz + i * interval '1 minute', i FROM generate_series(0, 4319) i;
SELECT count(compress_chunk(c)) FROM show_chunks('swp_h') c;
BEGIN;
SELECT swp_explain($$DELETE FROM swp_h WHERE ts < '2024-01-02 10:00+00'$$);
SELECT count(*) FROM swp_h;
ROLLBACK;
DROP TABLE swp, swp_h;
DROP FUNCTION swp_batches;
