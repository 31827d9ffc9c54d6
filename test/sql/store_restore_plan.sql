-- A table that was compressed when it was dumped (its option strata.compressed) gets its rows back as batches, by the COPY that a
-- restore runs before it makes indexes and triggers. Nothing else does.
SET timezone = 'UTC';
SET strata.batch_rows = 100;
CREATE VIEW halves AS SELECT relation, row_store_rows, batch_rows, batches FROM strata.tables WHERE relation::text LIKE 'h\_%' ORDER BY relation::text COLLATE "C";
CREATE TABLE h (ts timestamptz NOT NULL, host int, v float8, note text);
SELECT count(*) FROM create_hypertable('h', 'ts', chunk_time_interval => interval '12 hours', create_default_indexes => false);
ALTER TABLE h SET (strata.segmentby = 'host', strata.orderby = 'ts');
INSERT INTO h SELECT '2026-01-01'::timestamptz + i * interval '40 s', i % 3, CASE i % 9 WHEN 0 THEN NULL WHEN 1 THEN 'NaN'::float8 WHEN 2 THEN '-0' ELSE i END, 'n' || i % 7
	FROM generate_series(0, 2999) AS i WHERE i % 20 <> 3;
SELECT chunk_name AS first FROM strata.chunks WHERE hypertable_name = 'h' ORDER BY range_start LIMIT 1 \gset
SELECT chunk_name AS last FROM strata.chunks WHERE hypertable_name = 'h' ORDER BY range_start DESC LIMIT 1 \gset
SET client_min_messages = error;
SELECT count(compress_chunk(c)) FROM show_chunks('h', older_than => '2026-01-02 00:00') AS c;
RESET client_min_messages;
-- 5 % of the rows come late, into the row store
INSERT INTO h SELECT '2026-01-01'::timestamptz + i * interval '40 s', i % 3, i, 'late' FROM generate_series(0, 2999) AS i WHERE i % 20 = 3;
SELECT relname, array_to_string(reloptions, ' ') ~ 'strata.compressed=true' AS compressed FROM pg_class
	WHERE oid IN (SELECT show_chunks('h')) ORDER BY relname COLLATE "C";
TABLE halves;
CREATE TABLE heap AS TABLE h;
-- what a dump holds of a chunk, and of a hypertable
SET ROLE postgres;
SELECT quote_literal(current_setting('data_directory') || '/restore_first') AS first_file,
	quote_literal(current_setting('data_directory') || '/restore_last') AS last_file \gset
COPY (SELECT * FROM :first) TO :first_file;
COPY (SELECT * FROM :last) TO :last_file;
RESET ROLE;
CREATE PROCEDURE empty() LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE h;
END $$;
-- into the chunks, and through the root: the one that was compressed
CALL empty();
SET ROLE postgres;
COPY :first FROM :first_file;
COPY :last FROM :last_file;
RESET ROLE;
TABLE halves;
SELECT problem FROM strata.verify('h');
CALL empty();
SET ROLE postgres;
COPY h FROM :first_file;
COPY h FROM :last_file;
RESET ROLE;
TABLE halves;
-- the first COPY only: what is there is not added to
SET ROLE postgres;
COPY :first FROM :first_file;
RESET ROLE;
TABLE halves;
-- no INSERT
CALL empty();
INSERT INTO h SELECT * FROM heap WHERE ts < '2026-01-01 12:00';
TABLE halves;
-- not with the switch off, nor where the table, or its hypertable, says no
CALL empty();
SET strata.enable_direct_load = off;
SET ROLE postgres;
COPY :first FROM :first_file;
RESET ROLE;
RESET strata.enable_direct_load;
TABLE halves;
CALL empty();
ALTER TABLE h SET (strata.direct_load = false);
SET ROLE postgres;
COPY :first FROM :first_file;
RESET ROLE;
TABLE halves;
ALTER TABLE h RESET (strata.direct_load);
-- a few rows are not worth it
CALL empty();
SET ROLE postgres;
COPY :first FROM :first_file WHERE host = 1;
RESET ROLE;
TABLE halves;
-- unless they are large
CALL empty();
SET ROLE postgres;
COPY (SELECT ts, host, v, repeat(md5(ts::text), 150) AS note FROM heap WHERE host = 1 AND ts < '2026-01-01 12:00') TO :last_file;
COPY :first FROM :last_file;
RESET ROLE;
SELECT row_store_rows < 20 AS few, row_store_rows + batch_rows AS rows FROM strata.tables WHERE relation = :'first'::regclass;
-- triggers of rows see each, as do unique keys
CALL empty();
CREATE TABLE seen (n int);
CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO seen VALUES (1); RETURN new; END $$;
CREATE TRIGGER see AFTER INSERT ON h FOR EACH ROW EXECUTE FUNCTION see();
SET ROLE postgres;
COPY :first FROM :first_file;
RESET ROLE;
TABLE halves;
SELECT count(*) FROM seen;
DROP TRIGGER see ON h;
CALL empty();
ALTER TABLE h ADD PRIMARY KEY (host, ts);
SET ROLE postgres;
COPY :first FROM :first_file;
COPY :first FROM :first_file;
RESET ROLE;
TABLE halves;
ALTER TABLE h DROP CONSTRAINT h_pkey;
-- a key that is made afterwards, as a restore does, looks into the batches
CALL empty();
SET ROLE postgres;
COPY :first FROM :first_file;
RESET ROLE;
ALTER TABLE h ADD PRIMARY KEY (host, ts);
INSERT INTO h SELECT ts, host, 1, 'twice' FROM heap ORDER BY ts LIMIT 1;
ALTER TABLE h DROP CONSTRAINT h_pkey;
CALL empty();
SET ROLE postgres;
COPY (SELECT ts - interval '1 s' * (i = 2 AND ts > '2026-01-01')::int, host, v, note FROM heap, generate_series(1, 2) AS i WHERE ts < '2026-01-01 12:00') TO :last_file;
COPY :first FROM :last_file;
RESET ROLE;
TABLE halves;
ALTER TABLE h ADD PRIMARY KEY (host, ts);
-- a row that does not belong into the chunk, one without a value, and one that a check forbids
CALL empty();
SET ROLE postgres;
COPY (SELECT CASE WHEN ts = '2026-01-01 10:00' THEN '2026-05-01' ELSE ts END, host, v, note FROM heap WHERE ts < '2026-01-01 12:00' ORDER BY heap.ts) TO :last_file;
\set VERBOSITY sqlstate
COPY :first FROM :last_file;
COPY (SELECT CASE WHEN ts <> '2026-01-01 10:00' THEN ts END, host, v, note FROM heap WHERE ts < '2026-01-01 12:00' ORDER BY heap.ts) TO :last_file;
COPY :first FROM :last_file;
ALTER TABLE h ADD CHECK (host < 2);
COPY :first FROM :first_file;
ALTER TABLE h DROP CONSTRAINT h_host_check;
\set VERBOSITY default
COPY :first FROM :first_file;
RESET ROLE;
TABLE halves;
SELECT problem FROM strata.verify('h');
-- row by row again: the option goes with the batches
SELECT count(decompress_chunk(c)) FROM show_chunks('h') AS c WHERE c = :'first'::regclass;
SELECT array_to_string(reloptions, ' ') ~ 'strata.compressed' AS compressed FROM pg_class WHERE oid = :'first'::regclass;
CALL empty();
SET ROLE postgres;
COPY :first FROM :first_file;
RESET ROLE;
TABLE halves;
-- a plain table, in the transaction that made it, and rolled back
CREATE TABLE t (ts timestamptz NOT NULL, host int, v float8, note text) USING strata WITH (strata.segmentby = 'host', strata.compressed = 'perhaps');
BEGIN;
CREATE TABLE t (ts timestamptz NOT NULL, host int, v float8, note text) USING strata WITH (strata.segmentby = 'host', strata.compressed = 'true');
SET LOCAL ROLE postgres;
COPY t FROM :first_file;
RESET ROLE;
SELECT batches FROM strata.tables WHERE relation = 't'::regclass;
SAVEPOINT a;
TRUNCATE t;
SET LOCAL ROLE postgres;
COPY t FROM :first_file;
RESET ROLE;
SELECT batches FROM strata.tables WHERE relation = 't'::regclass;
ROLLBACK TO a;
SELECT count(*) FROM t;
COMMIT;
SELECT problem FROM strata.verify('t');
SELECT count(*) FROM ((TABLE t EXCEPT ALL SELECT * FROM heap WHERE ts < '2026-01-01 12:00') UNION ALL (SELECT * FROM heap WHERE ts < '2026-01-01 12:00' EXCEPT ALL TABLE t)) AS d;
-- a hypertable has no batches of its own
SELECT count(*) FROM create_hypertable('t', 'ts', migrate_data => true);
SELECT array_to_string(reloptions, ' ') ~ 'strata.compressed' AS compressed FROM pg_class WHERE oid = 't'::regclass;
DROP VIEW halves;
DROP TABLE t, h, heap, seen;
DROP FUNCTION see;
DROP PROCEDURE empty;
