-- A note stays with a plan through the plan cache and copies, is never run, and
-- EXPLAIN does not show it.
SET client_min_messages = warning;
SET strata.batch_rows = 100;
SET plan_cache_mode = force_generic_plan;
CREATE TABLE pgn (id int, v int) USING strata;
INSERT INTO pgn SELECT i, i FROM generate_series(1, 1000) i;
PREPARE q AS SELECT count(*), sum(v), (SELECT max(v) FROM pgn) FROM pgn WHERE id > $1;
CREATE FUNCTION pgn_shown(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE line text; n bigint := 0;
BEGIN
	FOR line IN EXECUTE query LOOP n := n + (line ~* 'note|custom|subplan')::int; END LOOP;
	RETURN n;
END $$;
SELECT pgn_shown('EXPLAIN (VERBOSE) EXECUTE q(10)'), pgn_shown('EXPLAIN (ANALYZE) EXECUTE q(10)');
EXECUTE q(10);
-- a cursor, a function and EXPLAIN ANALYZE run copies of kept plans
CREATE FUNCTION pgn_count() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT count(*) FROM pgn); END $$;
SELECT pgn_count();
SELECT compress_chunk('pgn');
EXECUTE q(10);
SELECT pgn_count();
BEGIN;
DECLARE c CURSOR FOR SELECT count(*) FROM pgn;
FETCH c;
COMMIT;
-- tables that nothing refers to are no part of a parallel plan's subplans, either
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
CREATE TABLE pgn2 (id int, v int) USING strata;
INSERT INTO pgn2 SELECT i, i FROM generate_series(1, 20000) i;
SELECT count(*), sum(v) FROM pgn2 WHERE v % 7 = (SELECT min(v) FROM pgn2);
DROP TABLE pgn, pgn2;
DROP FUNCTION pgn_count;
DROP FUNCTION pgn_shown;
