-- An UPDATE or DELETE by ctid alone means one row: of a hypertable several chunks may have that ctid.
SET client_min_messages = warning;
CREATE TABLE t (ts timestamptz NOT NULL, host int, v int);
SELECT FROM create_hypertable('t', 'ts', chunk_time_interval => interval '12 hours');
ALTER TABLE t SET (strata.segmentby = 'host', strata.orderby = 'ts');
INSERT INTO t SELECT '2026-01-01'::timestamptz + i * interval '12 hours', i, 0 FROM generate_series(0, 4) AS i;
PREPARE change(tid) AS UPDATE t SET v = v + 1 WHERE ctid = $1;
PREPARE remove(tid) AS DELETE FROM t WHERE $1 = ctid;
SELECT DISTINCT ctid FROM t;
EXECUTE change('(0,1)');
EXECUTE remove('(0,1)');
SET plan_cache_mode = force_generic_plan;
EXECUTE change('(0,1)');
EXECUTE remove('(0,1)');
RESET plan_cache_mode;
\set VERBOSITY terse
UPDATE t SET v = 1 WHERE ctid = '(0,1)' AND v = 0 RETURNING *;
UPDATE t SET ts = ts + interval '1 year' WHERE ctid = '(0,1)';
SET enable_tidscan = off;
UPDATE t SET v = 1 WHERE ctid = '(0,1)';
RESET enable_tidscan;
DO $$ BEGIN DELETE FROM t WHERE ctid = '(0,1)'; END $$;
SELECT count(*), sum(v) FROM t;
-- none or one is changed
EXECUTE change('(0,9)');
UPDATE t SET v = 2 WHERE ctid = '(0,1)' AND host = 3;
UPDATE t SET v = 3 WHERE ctid = '(0,1)' AND ts = '2026-01-01';
UPDATE t SET v = 4 WHERE ctid = '(0,1)' AND tableoid = (SELECT tableoid FROM t WHERE host = 2);
-- what names several, or joins, means what it says
BEGIN;
UPDATE t SET v = 9 WHERE ctid = ANY ('{"(0,1)","(0,2)"}');
DELETE FROM t USING (SELECT ctid AS c, tableoid AS o FROM t WHERE host < 2) AS s WHERE ctid = c AND tableoid = o;
DELETE FROM t USING (VALUES ('(0,2)'::tid)) AS s (c) WHERE ctid = c;
SELECT count(*), min(v), max(v) FROM t;
ROLLBACK;
-- compressed rows have ctids of their chunk, too
SELECT count(compress_chunk(c)) FROM show_chunks('t') AS c;
SELECT count(*), count(DISTINCT ctid) FROM t WHERE host IN (1, 4);
DO $$
DECLARE place tid := (SELECT ctid FROM t WHERE host = 1);
BEGIN
	UPDATE t SET v = -1 WHERE ctid = place;
EXCEPTION WHEN cardinality_violation THEN RAISE WARNING '%', SQLERRM;
END $$;
SELECT host, v FROM t ORDER BY host;
-- a partitioned table that is no hypertable is PostgreSQL's
CREATE TABLE p (a int) PARTITION BY LIST (a);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2);
INSERT INTO p VALUES (1), (2);
DELETE FROM p WHERE ctid = '(0,1)';
DROP TABLE t, p;
