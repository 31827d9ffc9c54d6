-- ANALYZE: where progress is not kept, where what it evaluates reads the same table, of what was deleted.
SET client_min_messages = warning;
CREATE SCHEMA am_analyze;
SET search_path = am_analyze, public;
CREATE FUNCTION known(wanted text, OUT tuples float4, OUT columns bigint) LANGUAGE sql AS $$
	SELECT (SELECT reltuples FROM pg_class WHERE oid = wanted::regclass),
		(SELECT count(*) FROM pg_stats WHERE schemaname = 'am_analyze' AND tablename = wanted)
$$;
CREATE TABLE t (id int, k text) USING strata;
INSERT INTO t SELECT i, 'k' || i % 10 FROM generate_series(1, 10000) i;
SELECT compress_chunk('t');
CREATE TABLE parent (id int, k text);
CREATE TABLE child () INHERITS (parent) USING strata;
INSERT INTO child TABLE t;
SELECT compress_chunk('child');

-- track_activities off: no progress is kept
SET ROLE postgres;
SET track_activities = off;
RESET ROLE;
ANALYZE t, parent;
SELECT * FROM known('t');
SELECT inherited, n_distinct FROM pg_stats WHERE schemaname = 'am_analyze' AND tablename = 'parent' AND attname = 'k';
-- one that fails leaves nothing behind
CREATE FUNCTION fails(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
	IF current_setting('am_analyze.fail', true) = 'yes' THEN RAISE 'failed'; END IF;
	RETURN i;
END $$;
CREATE STATISTICS st ON fails(id), k FROM t;
SET am_analyze.fail = 'yes';
ANALYZE t;
RESET am_analyze.fail;
SELECT count(*) FROM t;
SELECT xact_start IS NULL AS idle, (SELECT count(*) FROM pg_stat_progress_analyze) FROM pg_stat_activity WHERE pid = pg_backend_pid();
SHOW track_activities;
SELECT count(*) FROM t WHERE id > 0;
VACUUM ANALYZE t;
SELECT * FROM known('t');
SET ROLE postgres;
RESET track_activities;
RESET ROLE;
DROP STATISTICS st;

-- extended statistics and an index whose function reads the table
INSERT INTO t SELECT i, 'k' FROM generate_series(10001, 10600) i;
CREATE FUNCTION reads(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RETURN i % 5 + (SELECT count(*) FROM am_analyze.t WHERE id > 10590) + (SELECT count(*) FROM am_analyze.child WHERE id = i);
END $$;
CREATE STATISTICS st ON reads(id), k FROM t;
ALTER STATISTICS st SET STATISTICS 1;
ALTER TABLE t ALTER id SET STATISTICS 1, ALTER k SET STATISTICS 1;
ANALYZE t;
SELECT * FROM known('t');
DROP STATISTICS st;
CREATE TABLE s (id int, k int) USING strata;
INSERT INTO s SELECT i, i % 5 FROM generate_series(1, 1500) i;
SELECT compress_chunk('s');
INSERT INTO s SELECT i, i % 5 FROM generate_series(1501, 2100) i;
CREATE FUNCTION reads_s(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RETURN i % 5 + (SELECT count(*) FROM am_analyze.s WHERE k = -1);
END $$;
CREATE INDEX s_reads ON s (reads_s(id));
ALTER TABLE s ALTER id SET STATISTICS 1, ALTER k SET STATISTICS 1;
ALTER INDEX s_reads ALTER COLUMN 1 SET STATISTICS 1;
ANALYZE s;
SELECT * FROM known('s');
-- of tables below another, too
CREATE TABLE above (id int, k int);
ALTER TABLE s INHERIT above;
CREATE STATISTICS st ON reads_s(id), k FROM above;
ALTER STATISTICS st SET STATISTICS 1;
ALTER TABLE above ALTER id SET STATISTICS 1, ALTER k SET STATISTICS 1;
ANALYZE above;
SELECT count(*) FROM pg_stats WHERE schemaname = 'am_analyze' AND tablename = 'above' AND inherited;

-- rows that are gone do not count, where not every row is shown
CREATE TABLE large (id int, k int) USING strata;
INSERT INTO large SELECT i, i % 7 FROM generate_series(1, 700000) i;
SELECT compress_chunk('large');
DELETE FROM large WHERE id % 2 = 1;
ANALYZE large;
SELECT tuples BETWEEN 340000 AND 360000 AS close, columns FROM known('large');
DROP SCHEMA am_analyze CASCADE;
