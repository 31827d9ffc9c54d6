-- Storage options of a hypertable: on the chunks that are there, and on those to come.
SET client_min_messages = warning;
CREATE TABLE h (t int NOT NULL, d int, note text) WITH (fillfactor = 80);
SELECT created FROM create_hypertable('h', 't', chunk_time_interval => 100);
ALTER TABLE h SET (strata.segmentby = 'd');
INSERT INTO h SELECT g, g % 3, 'note ' || g FROM generate_series(0, 199) g;
SELECT compress_chunk('h_0_chunk');
CREATE FUNCTION options(OUT name name, OUT options text[], OUT toast text[]) RETURNS SETOF record LANGUAGE sql AS $$
	SELECT relname, array(SELECT o FROM unnest(reloptions) o WHERE o NOT LIKE 'strata.created%' AND o NOT LIKE 'strata.chunk_interval%' AND o NOT LIKE 'strata.orderby%' ORDER BY 1),
		(SELECT reloptions FROM pg_class x WHERE x.oid = c.reltoastrelid)
	FROM pg_class c WHERE relname LIKE 'h%' AND relkind IN ('p', 'r') AND relnamespace = 'public'::regnamespace ORDER BY 1 $$;
SELECT * FROM options();
ALTER TABLE h SET (autovacuum_enabled = false, fillfactor = 70, toast.autovacuum_enabled = off);
SELECT * FROM options();
INSERT INTO h VALUES (200, 1, 'new');
SELECT * FROM options() WHERE name = 'h_200_chunk';
SELECT count(*) FROM pg_class WHERE relname = 'h_0_chunk' AND array_to_string(reloptions, ',') ~ 'strata.created';
ALTER TABLE h RESET (fillfactor, toast.autovacuum_enabled, nothing);
SELECT * FROM options();
-- together with others; without a value; ONLY: for those to come; with ours in one list
ALTER TABLE h ADD COLUMN v float8, SET (parallel_workers = 3, strata.codec_level = 'archive'), RESET (autovacuum_enabled);
ALTER TABLE ONLY h SET (vacuum_truncate, "fillfactor" = 60);
INSERT INTO h VALUES (300, 1, 'new');
SELECT * FROM options();
SELECT count(*), count(DISTINCT note) FROM h;
-- names of settings that PostgreSQL does not have, values it does not take: nothing is changed
ALTER TABLE h SET (fillfactr = 70);
ALTER TABLE h SET (fillfactor = 7);
ALTER TABLE h SET (toast.fillfactor = 70);
ALTER TABLE h SET (other.fillfactor = 70);
ALTER TABLE h SET (fillfactor = 70, fillfactor = 71);
ALTER TABLE h SET (strata.chunk_options = 'fillfactor = 1000');
ALTER TABLE h SET (strata.chunk_options = 'fillfactor');
ALTER TABLE h SET (strata.chunk_options = 'fillfactor = 70), SET (autovacuum_enabled = off');
ALTER TABLE h SET (strata.chunk_options = 'fillfactor = 70); DROP TABLE h; --');
ALTER TABLE h SET (strata.chunk_options = 'fillfactor = ''');
SELECT * FROM options() WHERE name = 'h';
BEGIN;
ALTER TABLE h SET (fillfactor = 50);
ROLLBACK;
SELECT * FROM options() WHERE name IN ('h', 'h_0_chunk');
CREATE ROLE hyper_storage_other;
GRANT hyper_storage_other TO CURRENT_USER;
SET ROLE hyper_storage_other;
ALTER TABLE h SET (fillfactor = 50);
RESET ROLE;
DROP ROLE hyper_storage_other;
ALTER TABLE h SET (strata.chunk_options = '');
INSERT INTO h VALUES (400, 1, 'new');
SELECT * FROM options() WHERE name = 'h_400_chunk';
-- partitioned tables that are no hypertables are PostgreSQL's
CREATE TABLE p (t int) PARTITION BY RANGE (t);
-- PostgreSQL 17 has another message for it
DO $$ BEGIN
	ALTER TABLE p SET (fillfactor = 70);
EXCEPTION WHEN invalid_parameter_value OR wrong_object_type THEN RAISE NOTICE 'refused';
END $$;
DROP TABLE h, p;
DROP FUNCTION options;
