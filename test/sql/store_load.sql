-- strata.direct_load: COPY and INSERT ... SELECT straight into batches.  Whatever the path, the answers are heap's.
SET timezone = 'UTC';
SET strata.batch_rows = 100;
CREATE FUNCTION differs(a regclass, b regclass) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
	EXECUTE format('SELECT count(*) FROM ((TABLE %1$s EXCEPT ALL TABLE %2$s) UNION ALL (TABLE %2$s EXCEPT ALL TABLE %1$s)) AS d', a, b) INTO n;
	RETURN n;
END $$;
-- the option
CREATE TABLE o (a int) USING strata WITH (strata.direct_load = 'perhaps');
CREATE TABLE o (a int) USING strata WITH (strata.direct_load);
SELECT reloptions FROM pg_class WHERE oid = 'o'::regclass;
ALTER TABLE o SET (strata.direct_load = off);
SELECT reloptions FROM pg_class WHERE oid = 'o'::regclass;
ALTER TABLE o RESET (strata.direct_load);
SELECT reloptions FROM pg_class WHERE oid = 'o'::regclass;
DROP TABLE o;
-- rows of all kinds: dropped and added columns, nulls, NaN, -0, long and giant values
CREATE TABLE h (gone int, t timestamptz, host text, f float8, n numeric, j jsonb, b bool, big text COLLATE "C", d date);
ALTER TABLE h DROP COLUMN gone;
ALTER TABLE h ADD COLUMN added int DEFAULT 7;
CREATE TABLE d (LIKE h INCLUDING DEFAULTS) USING strata WITH (strata.segmentby = 'host', strata.orderby = 't DESC', strata.direct_load);
INSERT INTO h SELECT '2026-01-01'::timestamptz + i * interval '7 s', CASE i % 11 WHEN 10 THEN NULL ELSE 'host ' || i % 11 END,
	CASE i % 5 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN 'infinity' WHEN 3 THEN NULL ELSE i / 3.0 END,
	CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' WHEN 2 THEN 1.00 ELSE i::numeric / 7 END,
	jsonb_build_object('i', i, 'x', repeat('y', i % 40)), i % 3 = 0,
	CASE WHEN i % 1000 = 0 THEN repeat(md5(i::text), 40000) WHEN i % 50 = 0 THEN repeat(md5(i::text), 300) ELSE i::text END,
	CASE WHEN i % 9 > 0 THEN '2026-01-01'::date + i % 9 END
	FROM generate_series(1, 4000) AS i;
INSERT INTO d SELECT * FROM h;
SELECT differs('h', 'd'), count(*), count(DISTINCT host) FROM d;
SELECT * FROM strata.verify('d');
-- in any order, again, from itself, with columns left out, with a junk column, prepared, in a function
INSERT INTO d SELECT * FROM h ORDER BY md5(big);
INSERT INTO h SELECT * FROM h;
SELECT differs('h', 'd'), count(*) FROM d;
INSERT INTO d SELECT * FROM d;
INSERT INTO h SELECT * FROM h;
SELECT differs('h', 'd'), count(*) FROM d;
TRUNCATE h, d;
PREPARE fill(int) AS INSERT INTO d (host, t) SELECT 'host ' || i % 3, '2026-01-01'::timestamptz + i * interval '1 s' FROM generate_series(1, $1) AS i ORDER BY -i;
EXECUTE fill(3000);
EXECUTE fill(10);
INSERT INTO h (host, t) SELECT 'host ' || i % 3, '2026-01-01'::timestamptz + i * interval '1 s' FROM generate_series(1, 3000) AS i;
INSERT INTO h (host, t) SELECT 'host ' || i % 3, '2026-01-01'::timestamptz + i * interval '1 s' FROM generate_series(1, 10) AS i;
SELECT differs('h', 'd'), count(*), sum(added) FROM d;
DO $$ BEGIN
	INSERT INTO d (host, t) SELECT 'do', '2026-02-01'::timestamptz + i * interval '1 s' FROM generate_series(1, 1500) AS i;
	INSERT INTO h (host, t) SELECT 'do', '2026-02-01'::timestamptz + i * interval '1 s' FROM generate_series(1, 1500) AS i;
END $$;
SELECT differs('h', 'd'), count(*) FROM d;
-- they are rows: changed, deleted, compressed with others
UPDATE d SET f = 1 WHERE t BETWEEN '2026-01-01 00:10' AND '2026-01-01 00:11';
UPDATE h SET f = 1 WHERE t BETWEEN '2026-01-01 00:10' AND '2026-01-01 00:11';
DELETE FROM d WHERE host = 'host 1' AND t < '2026-01-01 00:20';
DELETE FROM h WHERE host = 'host 1' AND t < '2026-01-01 00:20';
SELECT differs('h', 'd'), count(*) FROM d;
SET client_min_messages = error;
SELECT compress_chunk('d', recompress => true);
RESET client_min_messages;
SELECT differs('h', 'd'), count(*) FROM d;
SELECT * FROM strata.verify('d');
SELECT decompress_chunk('d');
SELECT differs('h', 'd'), count(*) FROM d;
DROP TABLE h, d;

-- transactions
CREATE TABLE d (k int, v int, CHECK (v < 1000000)) USING strata WITH (strata.segmentby = 'k', strata.orderby = 'v', strata.direct_load);
BEGIN;
INSERT INTO d SELECT i % 4, i FROM generate_series(1, 2000) AS i;
SELECT count(*), sum(v) FROM d;
SAVEPOINT a;
INSERT INTO d SELECT i % 4, i FROM generate_series(2001, 4000) AS i;
SELECT count(*), sum(v) FROM d;
UPDATE d SET v = v + 1 WHERE k = 3 AND v > 3990;
SELECT count(*), sum(v) FROM d;
ROLLBACK TO a;
SELECT count(*), sum(v) FROM d;
INSERT INTO d SELECT i % 4, i FROM generate_series(2001, 4000) AS i;
SAVEPOINT b;
INSERT INTO d SELECT i % 4, i * 300 FROM generate_series(1, 4000) AS i;
ROLLBACK TO b;
SELECT count(*), sum(v), count(DISTINCT ctid) FROM d;
COMMIT;
SELECT count(*), sum(v), count(DISTINCT ctid) FROM d;
BEGIN;
TRUNCATE d;
INSERT INTO d SELECT i % 4, i FROM generate_series(1, 3000) AS i;
SELECT count(*) FROM d;
ROLLBACK;
SELECT count(*) FROM d;
-- a cursor opened before does not see them
BEGIN;
DECLARE c CURSOR FOR SELECT count(*) FROM d;
INSERT INTO d SELECT 9, i FROM generate_series(1, 3000) AS i;
FETCH c;
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
INSERT INTO d SELECT 8, i FROM generate_series(1, 3000) AS i;
SELECT count(*) FROM d WHERE k = 8;
ROLLBACK;
SELECT count(*) FROM d;
DROP TABLE d;
CREATE TEMP TABLE td (k int, v int) USING strata WITH (strata.direct_load);
BEGIN READ ONLY;
COPY td FROM PROGRAM 'seq 1 3000 | sed "s/.*/&\t1/"';
INSERT INTO td SELECT k + 3000, v FROM td;
COMMIT;
SELECT count(*), sum(k) FROM td;
DROP TABLE td;
CREATE UNLOGGED TABLE ud (k int, v int) USING strata WITH (strata.orderby = 'k', strata.direct_load);
COPY ud FROM PROGRAM 'seq 1 3000 | sed "s/.*/&\t1/"';
SELECT count(*), sum(k) FROM ud;
DROP TABLE ud;

-- COPY: lines in errors, WHERE, defaults, generated columns, domains
CREATE DOMAIN small AS int CHECK (VALUE < 5000);
CREATE SEQUENCE ids;
CREATE TABLE d (id bigint DEFAULT nextval('ids'), k small NOT NULL, v int CHECK (v <> 13), twice int GENERATED ALWAYS AS (v * 2) STORED, made date DEFAULT '2026-01-01')
	USING strata WITH (strata.segmentby = 'k', strata.orderby = 'v', strata.direct_load);
CREATE INDEX ON d (v);
COPY d (k, v) FROM PROGRAM 'seq 14 4000 | sed "s/.*/2\t&/"' WHERE v % 2 = 0;
SELECT count(*), sum(v), sum(twice), count(DISTINCT id), count(DISTINCT made) FROM d;
COPY d (k, v) FROM PROGRAM 'seq 2000 -1 1 | sed "s/.*/2\t&/"';
COPY d (k, v) FROM PROGRAM 'seq 1 3000 | sed "s/.*/&\tx/; s/x/2/; s/^2500/8000/"';
COPY d (k, v) FROM PROGRAM 'seq 14 3000 | sed "s/.*/2\t&/; s/2\t2500/\\\\N\t2500/"';
COPY d (k, v) FROM PROGRAM 'seq 14 3000 | sed "s/.*/2\t&/; s/2500/x2500/"';
COPY d (k, twice) FROM PROGRAM 'true';
COPY d (k, v) FROM PROGRAM 'seq 14 3000 | sed "s/.*/2\t&/"' WITH (FREEZE);
INSERT INTO d (k, v) SELECT 3, i FROM generate_series(14, 2000) AS i;
INSERT INTO d (k, v) SELECT 3, i FROM generate_series(1, 2000) AS i;
INSERT INTO d (k, twice) SELECT 3, i FROM generate_series(1, 2000) AS i;
SELECT k, count(*), sum(v), sum(twice) FROM d GROUP BY k ORDER BY k;
SET enable_seqscan = off;
SELECT count(*), sum(k) FROM d WHERE v BETWEEN 100 AND 120;
RESET enable_seqscan;
-- a function that looks at the table sees each row that is there before its own
CREATE FUNCTION rows_so_far() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT count(*) FROM d';
TRUNCATE d;
INSERT INTO d (k, v) SELECT 1, rows_so_far() + 20 FROM generate_series(1, 1200);
SELECT count(*), min(v), max(v) FROM d;
-- RETURNING, ON CONFLICT, WITH
WITH new AS (INSERT INTO d (k, v) SELECT 5, i FROM generate_series(20, 2000) AS i RETURNING v, twice) SELECT count(*), sum(v), sum(twice) FROM new;
SELECT count(*) FROM d;
INSERT INTO d (k, v) SELECT 5, i FROM generate_series(20, 2000) AS i ON CONFLICT DO NOTHING;
WITH gone AS (DELETE FROM d WHERE k = 1 RETURNING v) INSERT INTO d (k, v) SELECT 6, v FROM gone;
SELECT k, count(*), sum(v) FROM d GROUP BY k ORDER BY k;
-- triggers
CREATE TABLE log (what text, n bigint);
CREATE FUNCTION log_rows() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log SELECT TG_WHEN || ' ' || TG_LEVEL, count(*) FROM d; RETURN NULL; END $$;
CREATE FUNCTION log_new() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log SELECT 'new', count(*) FROM new_rows; RETURN NULL; END $$;
CREATE FUNCTION odd_only() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.v % 2 = 0 THEN RETURN NULL; END IF; NEW.k := 4; RETURN NEW; END $$;
TRUNCATE d;
CREATE TRIGGER s1 BEFORE INSERT ON d FOR EACH STATEMENT EXECUTE FUNCTION log_rows();
CREATE TRIGGER s2 AFTER INSERT ON d FOR EACH STATEMENT EXECUTE FUNCTION log_rows();
INSERT INTO d (k, v) SELECT 5, i FROM generate_series(20, 2000) AS i;
COPY d (k, v) FROM PROGRAM 'seq 14 3000 | sed "s/.*/2\t&/"';
TABLE log;
TRUNCATE log;
CREATE TRIGGER s3 AFTER INSERT ON d REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION log_new();
INSERT INTO d (k, v) SELECT 5, i FROM generate_series(20, 2000) AS i;
COPY d (k, v) FROM PROGRAM 'seq 14 3000 | sed "s/.*/2\t&/"';
TABLE log;
DROP TRIGGER s3 ON d;
CREATE TRIGGER r1 BEFORE INSERT ON d FOR EACH ROW EXECUTE FUNCTION odd_only();
TRUNCATE d;
INSERT INTO d (k, v) SELECT 5, i FROM generate_series(20, 2000) AS i;
COPY d (k, v) FROM PROGRAM 'seq 15 2 3000 | sed "s/.*/2\t&/"';
SELECT k, count(*), sum(v) FROM d GROUP BY k;
DROP TABLE d, log;
DROP FUNCTION log_rows, log_new, odd_only, rows_so_far;
DROP DOMAIN small;
DROP SEQUENCE ids;
-- unique keys, over both halves and within one load; foreign keys, also deferred
CREATE TABLE p (k int PRIMARY KEY) USING strata WITH (strata.direct_load);
INSERT INTO p SELECT generate_series(1, 2000);
SELECT compress_chunk('p');
\set VERBOSITY terse
INSERT INTO p SELECT generate_series(1999, 4000);
INSERT INTO p SELECT i / 2 FROM generate_series(8000, 12000) AS i;
COPY p FROM PROGRAM 'seq 1000 4000';
\set VERBOSITY default
CREATE TABLE c (k int REFERENCES p DEFERRABLE, v int) USING strata WITH (strata.direct_load);
INSERT INTO c SELECT i, i FROM generate_series(1, 2000) AS i;
\set VERBOSITY terse
INSERT INTO c SELECT i, i FROM generate_series(1, 2001) AS i;
COPY c FROM PROGRAM 'seq 1 2001 | sed "s/.*/&\t&/"';
\set VERBOSITY default
BEGIN;
SET CONSTRAINTS ALL DEFERRED;
COPY c FROM PROGRAM 'seq 1 2001 | sed "s/.*/&\t&/"';
INSERT INTO p VALUES (2001);
COMMIT;
SELECT count(*), sum(k) FROM c;
DROP TABLE c, p;
-- row security, views
CREATE TABLE d (k int, v int) USING strata WITH (strata.segmentby = 'k', strata.direct_load);
CREATE VIEW w AS SELECT * FROM d WHERE v < 1500 WITH CHECK OPTION;
INSERT INTO w SELECT 1, i FROM generate_series(1, 2000) AS i;
INSERT INTO w SELECT 1, i FROM generate_series(1, 1200) AS i;
CREATE ROLE load_user;
GRANT load_user TO CURRENT_USER;
GRANT INSERT (k), SELECT ON d TO load_user;
SET ROLE load_user;
INSERT INTO d (k) SELECT generate_series(1, 1200);
INSERT INTO d (k, v) SELECT i, i FROM generate_series(1, 1200) AS i;
\set VERBOSITY sqlstate
COPY d (k) FROM PROGRAM 'seq 1 10';
\set VERBOSITY default
RESET ROLE;
GRANT INSERT ON d TO load_user;
ALTER TABLE d ENABLE ROW LEVEL SECURITY;
CREATE POLICY small_ones ON d USING (k < 5) WITH CHECK (k < 1100);
SET ROLE load_user;
INSERT INTO d SELECT i, i FROM generate_series(1, 1200) AS i;
INSERT INTO d SELECT i % 7, i FROM generate_series(1, 1200) AS i;
SELECT count(*), sum(v) FROM d;
RESET ROLE;
SELECT count(*), sum(v) FROM d;
DROP VIEW w;
DROP TABLE d;
DROP ROLE load_user;
-- settings that change between loads; no segments, no order
CREATE TABLE h (a int, b int, c text);
CREATE TABLE d (LIKE h) USING strata WITH (strata.direct_load);
INSERT INTO h SELECT i, i % 7, 'c' || i % 3 FROM generate_series(1, 3000) AS i;
INSERT INTO d TABLE h;
ALTER TABLE d SET (strata.segmentby = 'b', strata.orderby = 'a');
INSERT INTO d TABLE h;
SET client_min_messages = error;
SELECT compress_chunk('d');
RESET client_min_messages;
INSERT INTO d TABLE h;
ALTER TABLE d ALTER b TYPE bigint, ADD COLUMN e int DEFAULT 4;
ALTER TABLE h ALTER b TYPE bigint, ADD COLUMN e int DEFAULT 4;
INSERT INTO d TABLE h;
INSERT INTO h SELECT h.* FROM h, generate_series(1, 3);
SELECT differs('h', 'd'), count(*) FROM d;
VACUUM FULL d;
INSERT INTO d TABLE h;
INSERT INTO h TABLE h;
SELECT differs('h', 'd'), count(*) FROM d;
SELECT * FROM strata.verify('d');
DROP TABLE h, d;

-- hypertables: each chunk its own batches; chunks in and out of order; a chunk with other column numbers
CREATE TABLE h (t int NOT NULL, host int, v float8, g float8 GENERATED ALWAYS AS (v + host) STORED);
CREATE TABLE d (gone int, t int NOT NULL, host int, v float8, g float8 GENERATED ALWAYS AS (v + host) STORED);
ALTER TABLE d DROP COLUMN gone;
SELECT created FROM create_hypertable('d', 't', chunk_time_interval => 3000);
ALTER TABLE d SET (strata.segmentby = 'host', strata.orderby = 't', strata.direct_load);
INSERT INTO h (t, host, v) SELECT i, i % 5, i FROM generate_series(0, 19999) AS i;
INSERT INTO d (t, host, v) SELECT t, host, v FROM h;
SELECT differs('h', 'd'), count(*), count(DISTINCT tableoid) FROM d;
INSERT INTO d (t, host, v) SELECT t, host, v FROM h ORDER BY md5(v::text);
INSERT INTO d (t, host, v) SELECT t, host, v FROM h ORDER BY host, t;
COPY d (t, host, v) FROM PROGRAM 'seq 0 19999 | awk ''{print $1 "\t" $1 % 5 "\t" $1}''' WHERE host < 4;
INSERT INTO h (t, host, v) SELECT t, host, v FROM h WHERE host < 4 UNION ALL SELECT t, host, v FROM h UNION ALL SELECT t, host, v FROM h;
SELECT differs('h', 'd'), count(*), count(DISTINCT tableoid) FROM d;
SELECT v.* FROM show_chunks('d') AS c, strata.verify(c) AS v;
SELECT count(compress_chunk(c, recompress => true)) FROM show_chunks('d') AS c;
SELECT differs('h', 'd'), count(*) FROM d;
COPY d (t, host, v) FROM PROGRAM 'seq 50001 52000 | awk ''{print $1 "\t1\t" ($1 == 51500 ? "x" : 5)}''';
SELECT count(*) FROM d WHERE t >= 50000;
-- straight into a chunk
INSERT INTO d (t, host, v) VALUES (60001, 1, 1);
SELECT chunk_name AS chunk FROM strata.chunks WHERE hypertable_name = 'd' ORDER BY range_start_integer DESC LIMIT 1 \gset
INSERT INTO :chunk (t, host, v) SELECT i, 1, i FROM generate_series(60001, 62999) AS i;
INSERT INTO :chunk (t, host, v) SELECT i, 1, i FROM generate_series(60001, 64000) AS i;
COPY :chunk (t, host, v) FROM PROGRAM 'seq 61002 63001 | awk ''{print $1 "\t1\t" $1}''';
SELECT count(*), sum(v) FROM d WHERE t >= 60000;
DROP TABLE h, d;
-- partitions by hand, one of them of heap
CREATE TABLE d (k int, v int) PARTITION BY LIST (k);
ALTER TABLE d SET (strata.segmentby = 'k', strata.orderby = 'v', strata.direct_load);
CREATE TABLE d1 PARTITION OF d FOR VALUES IN (1) USING strata;
CREATE TABLE d2 (v int, k int) USING heap;
ALTER TABLE d ATTACH PARTITION d2 FOR VALUES IN (2);
CREATE TABLE d3 (v int, k int) USING strata;
ALTER TABLE d ATTACH PARTITION d3 FOR VALUES IN (3);
INSERT INTO d SELECT 1 + i % 3, i FROM generate_series(1, 6000) AS i;
INSERT INTO d SELECT 1 + i / 2001, i FROM generate_series(1, 6000) AS i;
SELECT tableoid::regclass, count(*), sum(v) FROM d GROUP BY 1 ORDER BY 1;
INSERT INTO d SELECT i / 2001, i FROM generate_series(1, 6000) AS i;
DROP TABLE d;
DROP FUNCTION differs;

-- rows that are not worth a batch, after large ones of which few were collected
CREATE TABLE dl_back (ts timestamptz NOT NULL, id int, pad text) USING strata WITH (strata.segmentby = 'id', strata.orderby = 'ts', strata.direct_load);
INSERT INTO dl_back SELECT '2026-01-01'::timestamptz + i * interval '1 min', i, repeat('x', CASE WHEN i <= 300 THEN 6000 ELSE 10 END) FROM generate_series(1, 1000) i;
SELECT count(*), count(DISTINCT id), sum(length(pad)) FROM dl_back;
DROP TABLE dl_back;

-- what an index would refuse, a load refuses; rows with keys that may be too long go to the row store
SET strata.enable_direct_load = on;
CREATE TABLE dl_index (ts timestamptz NOT NULL, id int, v int, note text) USING strata WITH (strata.segmentby = 'id', strata.orderby = 'ts', strata.direct_load);
CREATE INDEX dl_index_v ON dl_index ((10 / v));
INSERT INTO dl_index SELECT '2026-01-01'::timestamptz + i * interval '1 min', i % 2, i % 5, 'x' FROM generate_series(1, 4000) i;
INSERT INTO dl_index SELECT '2026-01-01'::timestamptz + i * interval '1 min', i % 2, 1 + i % 5, 'x' FROM generate_series(1, 4000) i;
SELECT row_store_rows, batch_rows FROM strata.tables WHERE relation = 'dl_index'::regclass;
DROP INDEX dl_index_v;
CREATE INDEX dl_index_some ON dl_index (ts) WHERE 10 / v > 3;
INSERT INTO dl_index SELECT '2026-01-01'::timestamptz + i * interval '1 min', i % 2, i % 5, 'x' FROM generate_series(1, 4000) i;
DROP INDEX dl_index_some;
CREATE INDEX dl_index_note ON dl_index (note);
INSERT INTO dl_index SELECT '2026-02-01'::timestamptz + i * interval '1 min', i % 2, 1, (SELECT string_agg(md5(i::text || j), '') FROM generate_series(1, CASE WHEN i % 500 = 0 THEN 300 ELSE 1 END) j) FROM generate_series(1, 4000) i;
INSERT INTO dl_index SELECT '2026-02-01'::timestamptz + i * interval '1 min', i % 2, 1, CASE WHEN i % 500 = 0 THEN repeat('long ', 1000) ELSE 'short' END FROM generate_series(1, 4000) i;
SELECT row_store_rows, batch_rows FROM strata.tables WHERE relation = 'dl_index'::regclass;
SELECT decompress_chunk('dl_index');
SELECT count(*), sum(length(note)) FROM dl_index;
DROP TABLE dl_index;
RESET strata.enable_direct_load;
