-- merge_chunks, split_chunk: rows, halves, indexes, constraints, foreign keys, privileges.
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET client_min_messages = error;
CREATE ROLE hyper_merge_other;
GRANT hyper_merge_other TO CURRENT_USER;
CREATE TABLE device (id int PRIMARY KEY);
INSERT INTO device SELECT generate_series(0, 9);
-- the first chunks have a column that is dropped later and lack one that is added
CREATE TABLE m (gone text, time timestamptz NOT NULL, d int REFERENCES device, v float8, note text, PRIMARY KEY (time, d));
CREATE INDEX m_d ON m (d, time DESC);
CREATE INDEX m_note ON m (lower(note)) WHERE v > 10;
SELECT created FROM create_hypertable('m', 'time', chunk_time_interval => interval '1 day');
ALTER TABLE m SET (strata.segmentby = 'd');
CREATE FUNCTION never() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'a trigger has fired'; END $$;
CREATE VIEW over AS SELECT d, count(*), sum(v) FROM m GROUP BY d;
CREATE TABLE plain (LIKE m);
CREATE FUNCTION add_rows(int, int) RETURNS void LANGUAGE sql AS $$
	INSERT INTO m (time, d, v, note) SELECT '2026-01-01'::timestamptz + g * interval '10 minutes', g % 10,
		CASE g % 50 WHEN 0 THEN float8 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN 'infinity' WHEN 3 THEN NULL ELSE g END,
		CASE WHEN g % 7 = 0 THEN NULL WHEN g % 700 = 1 THEN repeat('long ' || g, 2000) ELSE 'note ' || g END
	FROM generate_series($1, $2) g $$;
SELECT add_rows(0, 144 * 3 - 1);
ALTER TABLE m DROP COLUMN gone;
ALTER TABLE plain DROP COLUMN gone;
ALTER TABLE m ADD COLUMN late int DEFAULT 7;
ALTER TABLE plain ADD COLUMN late int DEFAULT 7;
ALTER TABLE m ADD CHECK (late < 100);
SELECT add_rows(144 * 3, 144 * 8 - 1);
INSERT INTO plain SELECT * FROM m;
CREATE FUNCTION differences() RETURNS bigint LANGUAGE sql AS $$
	SELECT (SELECT count(*) FROM (SELECT * FROM m EXCEPT ALL SELECT * FROM plain) x)
		 + (SELECT count(*) FROM (SELECT * FROM plain EXCEPT ALL SELECT * FROM m) x) $$;
CREATE FUNCTION chunk_state(OUT chunk_name name, OUT range_start timestamptz, OUT range_end timestamptz, OUT is_compressed bool, OUT indexes bigint, OUT row_store bigint, OUT batch_rows bigint)
RETURNS SETOF record LANGUAGE sql AS $$
	SELECT c.chunk_name, c.range_start, c.range_end, c.is_compressed,
		(SELECT count(*) FROM pg_index i WHERE i.indrelid = c.chunk_name::text::regclass AND i.indisvalid),
		t.row_store_rows, t.batch_rows
	FROM strata.chunks c JOIN strata.tables t ON t.relation = c.chunk_name::text::regclass WHERE c.hypertable_name = 'm' ORDER BY c.range_start $$;
SELECT differences();

-- uncompressed: the earliest stays, with all it has
GRANT SELECT ON m_20260101_chunk TO hyper_merge_other;
COMMENT ON TABLE m_20260101_chunk IS 'the first';
ALTER TABLE m_20260101_chunk SET (autovacuum_enabled = false);
CREATE INDEX only_here ON m_20260101_chunk (v);
CREATE TRIGGER never BEFORE INSERT OR UPDATE OR DELETE ON m FOR EACH ROW EXECUTE FUNCTION never();
CALL merge_chunks('m_20260102_chunk', 'm_20260101_chunk');
SELECT * FROM chunk_state();
SELECT differences();
SELECT relacl IS NOT NULL AS granted, obj_description(oid), reloptions::text ~ 'autovacuum_enabled=false' AS option FROM pg_class WHERE relname = 'm_20260101_chunk';
SELECT count(*) FROM pg_constraint WHERE conrelid = 'm_20260101_chunk'::regclass AND contype <> 'n';
SELECT count(*) FROM pg_inherits WHERE inhparent = 'm'::regclass;
DROP TRIGGER never ON m;

-- compressed, with changed rows, with one that is not; three at a time
SELECT compress_chunk(c) FROM show_chunks('m', newer_than => '2026-01-03', older_than => '2026-01-06') c;
UPDATE m SET v = -v WHERE time < '2026-01-05' AND d = 3;
UPDATE plain SET v = -v WHERE time < '2026-01-05' AND d = 3;
DELETE FROM m WHERE time BETWEEN '2026-01-04 10:00' AND '2026-01-04 11:00';
DELETE FROM plain WHERE time BETWEEN '2026-01-04 10:00' AND '2026-01-04 11:00';
SELECT count(*) FROM (SELECT 1 FROM m WHERE time::date = '2026-01-05' AND d = 1 FOR UPDATE) x;
INSERT INTO m (time, d, v) VALUES ('2026-01-04 00:00:01', 1, 1);
INSERT INTO plain (time, d, v) VALUES ('2026-01-04 00:00:01', 1, 1);
SELECT differences();
CALL merge_chunks(ARRAY['m_20260105_chunk', 'm_20260103_chunk', 'm_20260106_chunk', 'm_20260104_chunk']::regclass[]);
SELECT * FROM chunk_state();
SELECT differences();
SELECT count(*) FROM strata.verify('m_20260103_chunk');
-- constraints and indexes hold over both halves
INSERT INTO m (time, d, v) VALUES ('2026-01-04 00:00:01', 1, 1);
INSERT INTO m (time, d, v) VALUES ('2026-01-04 00:00:02', 77, 1);
INSERT INTO m (time, d, v, late) VALUES ('2026-01-04 00:00:02', 1, 1, 100);
INSERT INTO m (time, d, v) VALUES ('2026-01-05 00:00:00', 6, 1) ON CONFLICT (time, d) DO NOTHING;
DELETE FROM device WHERE id = 3;
SET enable_seqscan = off;
SELECT count(*), min(v), max(v) FROM m WHERE d = 3 AND time >= '2026-01-03' AND time < '2026-01-05' AND v = v;
RESET enable_seqscan;

-- splitting: mixed and compressed, uncompressed; in the middle, at a point
CALL split_chunk('m_20260103_chunk', '2026-01-04 06:00');
SELECT * FROM chunk_state();
SELECT differences();
CALL split_chunk('m_20260101_chunk');
CALL split_chunk('m_20260107_chunk', split_at => timestamptz '2026-01-07 12:00+02');
SELECT * FROM chunk_state();
SELECT differences();
SELECT relacl IS NOT NULL AS granted FROM pg_class WHERE relname = 'm_20260102_chunk';
INSERT INTO m (time, d, v) VALUES ('2026-01-02 00:00:00', 4, 1);
INSERT INTO m (time, d, v) VALUES ('2026-01-02 00:00:01', 77, 1);
INSERT INTO m (time, d, v) VALUES ('2026-01-01 23:59:59', 1, 1), ('2026-01-02 00:00:01', 1, 1), ('2026-01-09 00:00:00', 1, 1);
INSERT INTO plain (time, d, v) VALUES ('2026-01-01 23:59:59', 1, 1), ('2026-01-02 00:00:01', 1, 1), ('2026-01-09 00:00:00', 1, 1);
SELECT tableoid::regclass, time FROM m WHERE v = 1 AND d = 1 ORDER BY time;
SELECT differences();
SELECT * FROM over ORDER BY d LIMIT 3;

-- all of it in one transaction, and nothing of it
BEGIN;
CALL split_chunk('m_20260101_chunk');
CALL merge_chunks('m_20260101_chunk', 'm_20260101_120000_chunk');
CALL merge_chunks('m_20260101_chunk', 'm_20260102_chunk');
INSERT INTO m (time, d, v) VALUES ('2026-01-02 00:00:02', 1, 1), ('2026-01-12 00:00:02', 1, 1);
SELECT count(*) FROM m;
SELECT compress_chunk('m_20260101_chunk');
SELECT differences();
ROLLBACK;
SELECT * FROM chunk_state();
SELECT differences();

-- what cannot be
CALL merge_chunks('m_20260101_chunk', 'm_20260103_chunk');
CALL merge_chunks('m_20260101_chunk', 'm_20260101_chunk');
CALL merge_chunks('m_20260101_chunk', NULL);
CALL merge_chunks(ARRAY['m_20260101_chunk']::regclass[]);
CALL merge_chunks(ARRAY['m_20260101_chunk', NULL]::regclass[]);
CALL merge_chunks(NULL::regclass[]);
CALL merge_chunks('m_20260101_chunk', 'm');
CALL merge_chunks('m_20260101_chunk', 'm_20260102_chunk', concurrently => true);
CALL split_chunk('m');
CALL split_chunk('plain');
CALL split_chunk('m_20260101_chunk', '2026-01-01');
CALL split_chunk('m_20260101_chunk', '2026-01-02');
CALL split_chunk('m_20260101_chunk', 5);
CALL split_chunk('m_20260101_chunk', 'infinity');
SET ROLE hyper_merge_other;
CALL split_chunk('m_20260101_chunk');
CALL merge_chunks('m_20260101_chunk', 'm_20260102_chunk');
RESET ROLE;
-- a view holds on to a chunk that would go
CREATE VIEW on_chunk AS SELECT * FROM m_20260102_chunk;
CALL merge_chunks('m_20260101_chunk', 'm_20260102_chunk');
DROP VIEW on_chunk;
-- a constraint of the earlier chunk alone
ALTER TABLE m_20260101_chunk ADD CONSTRAINT small CHECK (v < 144 OR v = 'NaN' OR v = 'infinity');
CALL merge_chunks('m_20260101_chunk', 'm_20260102_chunk');
ALTER TABLE m_20260101_chunk DROP CONSTRAINT small;
-- an open cursor
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM m;
FETCH 1 FROM c \g /dev/null
CALL split_chunk('m_20260101_chunk');
ROLLBACK;
SELECT differences();
SELECT strata.gc();

-- a hypertable that others refer to
CREATE TABLE pk (t int PRIMARY KEY, v int);
SELECT created FROM create_hypertable('pk', 't', chunk_time_interval => 10);
INSERT INTO pk SELECT g, g FROM generate_series(0, 49) g;
CREATE TABLE fk (t int REFERENCES pk ON DELETE CASCADE);
INSERT INTO fk VALUES (5), (15), (25);
CALL merge_chunks('pk_0_chunk', 'pk_10_chunk');
CALL split_chunk('pk_20_chunk', 23);
SELECT show_chunks('pk');
INSERT INTO fk VALUES (16), (22), (24);
INSERT INTO fk VALUES (99);
DELETE FROM pk WHERE t IN (17, 21);
UPDATE pk SET t = 17 WHERE t = 18;
UPDATE pk SET t = 21 WHERE t = 23;
DELETE FROM pk WHERE t IN (15, 24);
SELECT * FROM fk ORDER BY t;
\set VERBOSITY sqlstate
SELECT drop_chunks('pk', 20);
\set VERBOSITY default
SELECT drop_chunks('pk', newer_than => 30);
\set VERBOSITY sqlstate
CALL detach_chunk('pk_20_chunk');
\set VERBOSITY default
SELECT show_chunks('pk');
DELETE FROM pk WHERE t < 20;
SELECT drop_chunks('pk', 20);
SELECT * FROM fk ORDER BY t;

-- integer time, a partitioning function, ranges without end
CREATE FUNCTION cuid_time(text) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT substr($1, 2)::bigint';
CREATE TABLE f (x int, id text NOT NULL, v int);
SELECT created FROM create_hypertable('f', 'id', chunk_time_interval => 100, time_partitioning_func => 'cuid_time');
ALTER TABLE f DROP COLUMN x;
INSERT INTO f SELECT 'c' || g, g FROM generate_series(0, 399) g;
CALL merge_chunks('f_0_chunk', 'f_100_chunk');
CALL split_chunk('f_0_chunk', 50);
CALL split_chunk('f_300_chunk', 301);
SELECT tableoid::regclass, count(*), min(v), max(v) FROM f GROUP BY 1 ORDER BY 3;
CREATE TABLE n (t bigint NOT NULL, v int) PARTITION BY RANGE (t);
CREATE TABLE n_low PARTITION OF n FOR VALUES FROM (MINVALUE) TO (0);
CREATE TABLE n_high PARTITION OF n FOR VALUES FROM (0) TO (MAXVALUE) USING strata;
INSERT INTO n SELECT g, g FROM generate_series(-2000, 2000) g;
SELECT created FROM create_hypertable('n', 't', chunk_time_interval => 1000);
CALL split_chunk('n_low');
CALL split_chunk('n_low', -500);
CALL split_chunk('n_high', 500);
SELECT compress_chunk('n_high');
SELECT tableoid::regclass, count(*), min(v), max(v) FROM n GROUP BY 1 ORDER BY 3;
CALL merge_chunks('{n_low, n_m500_chunk, n_high, n_500_chunk}'::regclass[]);
SELECT tableoid::regclass, count(*), min(v), max(v) FROM n GROUP BY 1 ORDER BY 3;
SELECT relname, amname, pg_get_expr(relpartbound, c.oid) FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE relname LIKE 'n\_%' AND relkind = 'r' ORDER BY 1;
CREATE TABLE e (t date NOT NULL);
SELECT created FROM create_hypertable('e', 't', chunk_time_interval => interval '1 day');
INSERT INTO e VALUES ('2026-01-01'), ('2026-01-02');
CALL split_chunk('e_20260101_chunk');
CALL merge_chunks('e_20260101_chunk', 'e_20260102_chunk');
CALL split_chunk('e_20260101_chunk');
SELECT show_chunks('e');
-- foreign keys of one chunk alone: rows that come in would not be checked, rows that leave would be missed
CREATE TABLE dim (id int PRIMARY KEY);
INSERT INTO dim VALUES (1);
CREATE TABLE o (t int NOT NULL, v int, UNIQUE (t, v));
SELECT created FROM create_hypertable('o', 't', chunk_time_interval => 10);
INSERT INTO o VALUES (1, 1), (9, 1), (12, 99), (21, 1);
ALTER TABLE o_0_chunk ADD CONSTRAINT own_key FOREIGN KEY (v) REFERENCES dim;
CALL merge_chunks('o_0_chunk', 'o_10_chunk');
-- one that goes loses its own, which is said; rows of the hypertable's keys are those of all chunks
ALTER TABLE o_0_chunk DROP CONSTRAINT own_key;
ALTER TABLE o_20_chunk ADD CONSTRAINT own_key FOREIGN KEY (v) REFERENCES dim;
CALL merge_chunks('o_10_chunk', 'o_20_chunk');
DELETE FROM o WHERE v = 99;
ALTER TABLE o ADD CONSTRAINT all_key FOREIGN KEY (v) REFERENCES dim;
CALL merge_chunks('o_0_chunk', 'o_10_chunk');
CALL split_chunk('o_0_chunk', 9);
SELECT tableoid::regclass, * FROM o ORDER BY t;
CREATE TABLE refers (t int, v int, CONSTRAINT to_chunk FOREIGN KEY (t, v) REFERENCES o_9_chunk (t, v));
INSERT INTO refers VALUES (21, 1);
CALL split_chunk('o_9_chunk', 20);
-- nor does it go
CALL merge_chunks('o_0_chunk', 'o_9_chunk');
ALTER TABLE refers DROP CONSTRAINT to_chunk, ADD CONSTRAINT to_chunk FOREIGN KEY (t, v) REFERENCES o (t, v);
CALL split_chunk('o_9_chunk', 20);
CALL merge_chunks('{o_0_chunk, o_9_chunk, o_20_chunk}'::regclass[]);
SELECT tableoid::regclass, * FROM o ORDER BY t;
ALTER TABLE refers DROP CONSTRAINT to_chunk, ADD CONSTRAINT to_chunk FOREIGN KEY (t, v) REFERENCES o_0_chunk (t, v);
CALL split_chunk('o_0_chunk', 15);
DROP TABLE refers, o, dim;
SELECT strata.gc();
DROP TABLE m, plain, fk, pk, f, n, e, device, pk_20_chunk CASCADE;
DROP FUNCTION add_rows, differences, chunk_state, never, cuid_time;
DROP ROLE hyper_merge_other;
