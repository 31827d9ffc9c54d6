-- reorder_chunk, move_chunk, attach_chunk, detach_chunk.
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET ROLE postgres;
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE hyper_space LOCATION '';
CREATE TABLESPACE hyper_space2 LOCATION '';
GRANT CREATE ON TABLESPACE hyper_space, hyper_space2 TO SESSION_USER;
RESET ROLE;
CREATE ROLE hyper_attach_other;
CREATE ROLE hyper_attach_owner;
GRANT hyper_attach_other, hyper_attach_owner TO CURRENT_USER;
GRANT CREATE ON SCHEMA public TO hyper_attach_owner;
CREATE TABLE a (time timestamptz NOT NULL, d int NOT NULL, v float8, PRIMARY KEY (time, d));
CREATE INDEX a_d ON a (d, time);
SELECT created FROM create_hypertable('a', 'time', chunk_time_interval => interval '1 day');
ALTER TABLE a SET (strata.segmentby = 'd', strata.codec_level = 'archive');
INSERT INTO a SELECT '2026-01-01'::timestamptz + g * interval '1 minute', g % 2, g FROM generate_series(0, 1440 * 3 - 1) g;
CREATE TABLE plain AS SELECT * FROM a;
CREATE FUNCTION differences() RETURNS bigint LANGUAGE sql AS $$
	SELECT (SELECT count(*) FROM (SELECT * FROM a EXCEPT ALL SELECT * FROM plain) x)
		 + (SELECT count(*) FROM (SELECT * FROM plain EXCEPT ALL SELECT * FROM a) x) $$;

-- reorder_chunk: by the hypertable's index, by the chunk's, by the last one
SELECT reorder_chunk('a_20260101_chunk');
SELECT reorder_chunk('a_20260101_chunk', 'a_d');
SELECT d, v FROM a_20260101_chunk WHERE ctid IN ('(0,1)', '(0,2)') ORDER BY ctid;
SELECT reorder_chunk('a_20260101_chunk', 'a_20260101_chunk_pkey');
SELECT d, v FROM a_20260101_chunk WHERE ctid IN ('(0,1)', '(0,2)') ORDER BY ctid;
SELECT reorder_chunk('a_20260101_chunk');
SELECT indexrelid::regclass FROM pg_index WHERE indrelid = 'a_20260101_chunk'::regclass AND indisclustered;
SELECT reorder_chunk('a_20260101_chunk', 'a_20260102_chunk_pkey');
SELECT reorder_chunk('a_20260101_chunk', 'plain');
SELECT reorder_chunk('a', 'a_d');
SELECT reorder_chunk('plain');
SELECT reorder_chunk(NULL);
SELECT compress_chunk('a_20260102_chunk');
UPDATE a SET v = -v WHERE time >= '2026-01-02' AND time < '2026-01-02 02:00';
UPDATE plain SET v = -v WHERE time >= '2026-01-02' AND time < '2026-01-02 02:00';
SELECT reorder_chunk('a_20260102_chunk', 'a_d');
SELECT reorder_chunk(c, 'a_d') IS NULL FROM show_chunks('a', newer_than => '2026-01-03') c;
SELECT differences();

-- move_chunk
CREATE FUNCTION places(OUT relname name, OUT tablespace name) RETURNS SETOF record LANGUAGE sql AS $$
	SELECT c.relname, t.spcname FROM pg_class c LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
	WHERE c.oid IN (SELECT 'a_20260102_chunk'::regclass UNION SELECT indexrelid FROM pg_index WHERE indrelid = 'a_20260102_chunk'::regclass)
	UNION ALL SELECT 'batches', t.spcname FROM pg_class c LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace WHERE c.oid = strata.batch_relation('a_20260102_chunk')
	ORDER BY 1 $$;
SELECT move_chunk('a_20260102_chunk', 'hyper_space');
SELECT * FROM places();
SELECT move_chunk(chunk => 'a_20260102_chunk', destination_tablespace => 'hyper_space2', index_destination_tablespace => 'hyper_space', reorder_index => 'a_d', verbose => false);
SELECT * FROM places();
SELECT chunk_tablespace FROM strata.chunks WHERE chunk_name = 'a_20260102_chunk';
SELECT differences();
SELECT count(*) FROM strata.verify('a_20260102_chunk');
BEGIN;
SELECT move_chunk('a_20260102_chunk', 'pg_default', 'pg_default');
SELECT * FROM places();
ROLLBACK;
SELECT * FROM places();
SELECT move_chunk('a_20260102_chunk', 'nowhere');
SELECT move_chunk('a_20260102_chunk', NULL);
SELECT move_chunk('plain', 'hyper_space');
-- a chunk that is split stays where it is
BEGIN;
CALL split_chunk('a_20260102_chunk');
SELECT chunk_name, chunk_tablespace, is_compressed FROM strata.chunks WHERE hypertable_name = 'a' ORDER BY range_start;
CALL merge_chunks('a_20260102_chunk', 'a_20260102_120000_chunk');
SELECT chunk_name, chunk_tablespace, is_compressed FROM strata.chunks WHERE hypertable_name = 'a' ORDER BY range_start;
SELECT differences();
ROLLBACK;

-- detach_chunk: a table with the settings that it was used with
CALL detach_chunk('a_20260102_chunk');
SELECT show_chunks('a');
SELECT attname, segmentby_column_index, orderby_column_index FROM strata.compression_settings WHERE hypertable_name = 'a_20260102_chunk' ORDER BY 1;
SELECT reloptions::text ~ 'strata.codec_level=archive' AS level FROM pg_class WHERE relname = 'a_20260102_chunk';
SELECT count(*), sum(v) FROM a_20260102_chunk;
SELECT count(*), sum(v) FROM a;
CALL detach_chunk('a_20260102_chunk');
CALL detach_chunk('a');
CALL detach_chunk(NULL);
-- a chunk may be made where it was; then it cannot come back
BEGIN;
INSERT INTO a VALUES ('2026-01-02 12:00', 0, 0);
CALL attach_chunk('a', 'a_20260102_chunk', '{"time": ["2026-01-02", "2026-01-03"]}');
ROLLBACK;
SELECT drop_chunks('a', older_than => '2026-01-03', newer_than => '2026-01-02');
-- attach_chunk: texts, numbers (microseconds since 1970)
CALL attach_chunk('a', 'a_20260102_chunk', '{"time": ["2026-01-02", "2026-01-03"]}');
SELECT differences();
SELECT reloptions::text ~ 'strata.segmentby' AS own_settings FROM pg_class WHERE relname = 'a_20260102_chunk';
SELECT show_chunks('a');
CALL detach_chunk('a_20260102_chunk');
CALL attach_chunk(hypertable => 'a', chunk => 'a_20260102_chunk', slices => '{"time": [1767312000000000, 1767398400000000]}');
SELECT differences();
SELECT chunk_name, range_start, range_end, is_compressed FROM strata.chunks WHERE hypertable_name = 'a' ORDER BY range_start;
INSERT INTO a VALUES ('2026-01-02 12:00', 0, 0);
-- a table of another kind
CREATE TABLE other (v float8, d int NOT NULL, time timestamptz);
INSERT INTO other SELECT g, g, '2025-06-01'::timestamptz + g * interval '1 day' FROM generate_series(0, 9) g;
CALL attach_chunk('a', 'other', '{"time": ["2025-06-05", "2025-06-11"]}');
CALL attach_chunk('a', 'other', '{"time": ["2025-06-01", "2025-06-11"]}');
INSERT INTO plain (v, d, time) SELECT * FROM other;
SELECT differences();
SELECT attnotnull FROM pg_attribute WHERE attrelid = 'other'::regclass AND attname = 'time';
INSERT INTO a VALUES ('2025-06-01', 0, 5);
ALTER TABLE other SET ACCESS METHOD strata;
SELECT compress_chunk('other');
-- without end
CREATE TABLE past (LIKE a);
CALL attach_chunk('a', 'past', '{"time": ["-infinity", "2020-01-01"]}');
INSERT INTO a VALUES ('1999-01-01', 1, 1);
SELECT chunk_name, range_start, range_end FROM strata.chunks WHERE hypertable_name = 'a' ORDER BY range_start LIMIT 2;
DELETE FROM a WHERE time = '1999-01-01';
SELECT differences();

-- what cannot be
CREATE TABLE t (LIKE a);
CALL attach_chunk('a', 't', '{"time": ["2026-01-02 06:00", "2026-01-02 07:00"]}');
CALL attach_chunk('a', 't', '{"time": ["2026-02-02", "2026-02-01"]}');
CALL attach_chunk('a', 't', '{"time": ["2026-02-02"]}');
CALL attach_chunk('a', 't', '{"time": [1767312000000000.5, 1767398400000000]}');
CALL attach_chunk('a', 't', '{"time": ["2026-02-02", true]}');
CALL attach_chunk('a', 't', '{"time": "2026-02-02"}');
CALL attach_chunk('a', 't', '{"time": ["nonsense", "2026-02-01"]}');
CALL attach_chunk('a', 't', '{"time": ["2026-02-01", "2026-02-02"], "d": [0, 1]}');
CALL attach_chunk('a', 't', '{"d": [0, 1]}');
CALL attach_chunk('a', 't', '[1, 2]');
CALL attach_chunk('a', 't', NULL);
CALL attach_chunk('a', 'a_d', '{"time": ["2026-02-01", "2026-02-02"]}');
CALL attach_chunk('a', 'past', '{"time": ["2026-02-01", "2026-02-02"]}');
CALL attach_chunk('plain', 't', '{"time": ["2026-02-01", "2026-02-02"]}');
CREATE TABLE wrong (time timestamptz NOT NULL, d int NOT NULL, v text);
CALL attach_chunk('a', 'wrong', '{"time": ["2026-02-01", "2026-02-02"]}');
SET ROLE hyper_attach_other;
CALL attach_chunk('a', 't', '{"time": ["2026-02-01", "2026-02-02"]}');
CALL detach_chunk('a_20260102_chunk');
SELECT reorder_chunk('a_20260102_chunk', 'a_d');
SELECT move_chunk('a_20260102_chunk', 'hyper_space');
RESET ROLE;
-- an owner without rights on the tablespace
SET ROLE hyper_attach_owner;
CREATE TABLE o (t int NOT NULL);
SELECT created FROM create_hypertable('o', 't', chunk_time_interval => 10);
INSERT INTO o VALUES (1);
SELECT move_chunk('o_0_chunk', 'hyper_space');
SELECT reorder_chunk('o_0_chunk', 'o_t_idx');
CALL attach_chunk('o', 't', '{"t": [20, 30]}');
CREATE TABLE o2 (t int NOT NULL);
INSERT INTO o2 VALUES (25);
CALL attach_chunk('o', 'o2', '{"t": [20, 30]}');
CALL merge_chunks('o_0_chunk', 'o2');
INSERT INTO o VALUES (15);
CALL merge_chunks('{o2, o_0_chunk, o_10_chunk}'::regclass[]);
SELECT tableoid::regclass, * FROM o ORDER BY t;
RESET ROLE;
-- dates
CREATE TABLE e (t date NOT NULL);
SELECT created FROM create_hypertable('e', 't', chunk_time_interval => interval '7 days');
CREATE TABLE e1 (t date NOT NULL);
INSERT INTO e1 VALUES ('2026-01-05');
CALL attach_chunk('e', 'e1', '{"t": ["2026-01-01", "2026-01-06"]}');
INSERT INTO e VALUES ('2026-01-06'), ('2025-12-31');
SELECT chunk_name, range_start, range_end FROM strata.chunks WHERE hypertable_name = 'e' ORDER BY range_start;
-- a row that needs a chunk in the transaction that attached, detached or dropped one: no ranges overlap, no chunk is missing
CREATE FUNCTION ranges(hypertable regclass) RETURNS TABLE (chunk text, range_start text, range_end text) LANGUAGE sql AS $$
	SELECT c::text, i.range_start::text, i.range_end::text FROM show_chunks(hypertable) c JOIN strata.chunks i ON format('%I.%I', i.chunk_schema, i.chunk_name)::regclass = c ORDER BY i.range_start $$;
CREATE TABLE w (t timestamptz NOT NULL, v int);
SELECT created FROM create_hypertable('w', 't', chunk_time_interval => interval '1 day');
INSERT INTO w VALUES ('2026-01-01', 1);
CREATE TABLE w1 (t timestamptz NOT NULL, v int);
CREATE TABLE w2 (LIKE w1);
CREATE TABLE w3 (LIKE w1);
BEGIN;
ALTER TABLE w ATTACH PARTITION w1 FOR VALUES FROM ('2026-01-10 00:00+00') TO ('2026-01-10 06:00+00');
INSERT INTO w VALUES ('2026-01-10 12:00', 2), ('2026-01-10 03:00', 3);
COMMIT;
SELECT * FROM ranges('w');
BEGIN;
CALL attach_chunk('w', 'w2', '{"t": ["2026-01-12 18:00", "2026-01-13"]}');
INSERT INTO w VALUES ('2026-01-12 12:00', 4), ('2026-01-12 19:00', 5);
COMMIT;
-- rolled back to a savepoint; and one that stays
BEGIN;
SAVEPOINT s;
ALTER TABLE w ATTACH PARTITION w3 FOR VALUES FROM ('2026-01-14 00:00+00') TO ('2026-01-14 06:00+00');
INSERT INTO w VALUES ('2026-01-14 12:00', 6);
ROLLBACK TO s;
INSERT INTO w VALUES ('2026-01-14 13:00', 7);
SAVEPOINT s;
ALTER TABLE w ATTACH PARTITION w3 FOR VALUES FROM ('2026-01-15 06:00+00') TO ('2026-01-15 12:00+00');
RELEASE s;
INSERT INTO w VALUES ('2026-01-15 01:00', 8), ('2026-01-15 07:00', 9), ('2026-01-15 13:00', 10);
COMMIT;
SELECT * FROM ranges('w');
-- one goes, a row comes where it was
BEGIN;
ALTER TABLE w DETACH PARTITION w3;
INSERT INTO w VALUES ('2026-01-15 08:00', 11);
COMMIT;
BEGIN;
DROP TABLE w1;
INSERT INTO w VALUES ('2026-01-10 01:00', 12);
COMMIT;
SELECT * FROM ranges('w');
SELECT v, tableoid::regclass FROM w ORDER BY t;
DROP TABLE w, w3;
DROP FUNCTION ranges;
SELECT strata.gc();
DROP TABLE a, plain, t, wrong, o, e;
DROP FUNCTION differences, places;
SET ROLE postgres;
DROP TABLESPACE hyper_space;
DROP TABLESPACE hyper_space2;
RESET ROLE;
REVOKE ALL ON SCHEMA public FROM hyper_attach_owner;
DROP ROLE hyper_attach_other;
DROP ROLE hyper_attach_owner;
