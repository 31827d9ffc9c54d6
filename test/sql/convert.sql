-- convert(): a natively partitioned heap table becomes a compressed hypertable
-- without a row moved.
SET timezone = 'UTC';
\set VERBOSITY terse
CREATE ROLE convert_other;
GRANT convert_other TO CURRENT_USER;
CREATE TABLE places (host int PRIMARY KEY);
INSERT INTO places SELECT generate_series(0, 6);
CREATE TABLE m (ts timestamptz NOT NULL, host int REFERENCES places, gone text, v float8 DEFAULT 7, note text,
	g float8 GENERATED ALWAYS AS (v * 2) STORED, PRIMARY KEY (host, ts)) PARTITION BY RANGE (ts);
CREATE TABLE m1 PARTITION OF m FOR VALUES FROM ('2026-01-01') TO ('2026-01-01 12:00');
CREATE TABLE m2 (LIKE m INCLUDING GENERATED INCLUDING DEFAULTS INCLUDING INDEXES);
ALTER TABLE m2 ADD extra int;
ALTER TABLE m2 DROP extra;
ALTER TABLE m ATTACH PARTITION m2 FOR VALUES FROM ('2026-01-01 12:00') TO ('2026-01-02');
CREATE TABLE m3 PARTITION OF m FOR VALUES FROM ('2026-01-02') TO ('2026-01-02 12:00') USING strata;
CREATE TABLE m4 PARTITION OF m FOR VALUES FROM ('2099-01-01') TO ('2099-01-01 12:00');
ALTER TABLE m DROP gone;
INSERT INTO m (ts, host, v, note) SELECT '2026-01-01'::timestamptz + i * interval '30 s', i % 7, nullif(i % 10, 3), CASE WHEN i % 50 = 0 THEN repeat(md5(i::text), 200) END
	FROM generate_series(0, 4319) i;
INSERT INTO m (ts, host) VALUES ('2099-01-01', 1);
UPDATE m SET v = -1 WHERE host = 4 AND v = 4;
DELETE FROM m WHERE host = 5 AND v = 5;
ALTER TABLE m ADD late int DEFAULT 42;
CREATE TABLE twin AS SELECT * FROM m;
CREATE FUNCTION same() RETURNS bigint LANGUAGE sql AS
	'SELECT count(*) FROM ((TABLE m EXCEPT ALL TABLE twin) UNION ALL (TABLE twin EXCEPT ALL TABLE m)) d';
CREATE FUNCTION state(OUT partition name, OUT method name, OUT batches boolean) RETURNS SETOF record LANGUAGE sql AS $$
	SELECT c.relname, amname, strata.batch_relation(c.oid) IS NOT NULL FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid JOIN pg_am a ON a.oid = relam
	WHERE inhparent = 'm'::regclass ORDER BY relname $$;
CREATE TABLE files AS SELECT relname, pg_relation_filenode(oid) AS file FROM pg_class WHERE relname IN ('m1', 'm2', 'm4');
-- nothing is a success that does nothing
SELECT compress_chunk('m1');
CALL strata.compress_all('m1');
-- who may, and what
SET ROLE convert_other;
CALL strata.convert('m');
RESET ROLE;
CALL strata.convert('twin');
CALL strata.convert('m1');
CALL strata.convert(NULL);
CALL strata.convert('m', pause => '-1 s');
CALL strata.convert('m', time_column => 'host');
SELECT * FROM state();
-- a dry run
DO $$ BEGIN CALL strata.convert('m', dry_run => true); END $$;
SELECT * FROM state();
-- in a transaction, and not after all
BEGIN;
CALL strata.convert('m', segmentby => 'host');
SELECT * FROM state();
SELECT same();
ROLLBACK;
SELECT * FROM state();
SELECT same(), strata.batch_relation('m3') IS NULL AS none;
-- step by step
SET strata.report_compression = off;
CALL strata.convert('m', segmentby => 'host');
SELECT * FROM state();
SELECT count(*) FROM files JOIN pg_class c USING (relname) WHERE pg_relation_filenode(c.oid) = file;
SELECT same();
SELECT count(*) FROM strata.verify('m');
SELECT hypertable_name, num_chunks FROM strata.hypertables WHERE hypertable_name = 'm';
SELECT count(*) FROM pg_depend d JOIN pg_am a ON a.oid = refobjid WHERE classid = 'pg_class'::regclass AND objid IN ('m1'::regclass, 'm2'::regclass) AND amname = 'strata';
-- again: nothing to do
CALL strata.convert('m');
-- it is a hypertable like others: new chunks, late rows, changes, keys
INSERT INTO m (ts, host, v) VALUES ('2026-01-05', 1, 1), ('2026-01-01 00:00:01', 2, 2), ('2026-01-01', 0, 9) ON CONFLICT DO NOTHING;
INSERT INTO twin (ts, host, v, g, late) VALUES ('2026-01-05', 1, 1, 2, 42), ('2026-01-01 00:00:01', 2, 2, 4, 42);
UPDATE m SET v = v + 1 WHERE host = 3;
UPDATE twin SET v = v + 1, g = (v + 1) * 2 WHERE host = 3;
DELETE FROM m WHERE host = 6 AND ts < '2026-01-01 06:00';
DELETE FROM twin WHERE host = 6 AND ts < '2026-01-01 06:00';
SELECT same();
INSERT INTO m (ts, host) VALUES ('2026-01-01 00:00:03', 99);
SELECT range_start, range_end FROM strata.chunks WHERE hypertable_name = 'm' AND chunk_name LIKE 'm\_2026%';
DROP TABLE m;

-- a policy on a hypertable of heap partitions converts them; what cannot be is an error
CREATE TABLE pol (t bigint NOT NULL, v int) PARTITION BY RANGE (t);
CREATE TABLE pol1 PARTITION OF pol FOR VALUES FROM (0) TO (1000);
CREATE TABLE pol2 PARTITION OF pol FOR VALUES FROM (1000) TO (2000);
CREATE TABLE pol3 PARTITION OF pol FOR VALUES FROM (2000) TO (3000);
INSERT INTO pol SELECT i, i % 5 FROM generate_series(0, 2999) i;
SELECT compress_chunk('pol');
CALL strata.compress_all('pol');
SELECT created FROM create_hypertable('pol', 't', chunk_time_interval => 1000);
SELECT compress_chunk('pol');
CREATE FUNCTION pol_now() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT 2500::bigint';
SELECT set_integer_now_func('pol', 'pol_now');
SELECT setval('_strata.job_id_seq', 3100, false);
SELECT add_compression_policy('pol', 100, initial_start => '2100-01-01');
ALTER TABLE pol2 ADD EXCLUDE USING btree (t WITH =);
CALL run_job(3100);
SELECT c.relname, amname, strata.batch_relation(c.oid) IS NOT NULL AS batches FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE c.relname LIKE 'pol_' AND relkind = 'r' ORDER BY 1;
ALTER TABLE pol2 DROP CONSTRAINT pol2_t_excl;
CALL run_job(3100);
SELECT c.relname, amname, strata.batch_relation(c.oid) IS NOT NULL AS batches FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE c.relname LIKE 'pol_' AND relkind = 'r' ORDER BY 1;
SELECT count(*), sum(t), sum(v) FROM pol;
SELECT compress_chunk('pol');
-- partitions on both sides of a heap
CREATE TABLE def (t bigint NOT NULL) PARTITION BY RANGE (t);
CREATE TABLE def0 PARTITION OF def DEFAULT;
CALL strata.convert('def');
CREATE TABLE two (a int, b int) PARTITION BY RANGE (a, b);
CALL strata.convert('two');
DROP TABLE pol, def, two, twin, files, places;
DROP FUNCTION same, state, pol_now;
DROP ROLE convert_other;
