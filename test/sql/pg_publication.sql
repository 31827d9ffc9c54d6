-- A publication FOR ALL TABLES lists what users made and nothing of ours,
-- however the list is asked for; other set-returning functions are let alone.
SET client_min_messages = error;
SET strata.batch_rows = 100;
CREATE TABLE pgp (id int PRIMARY KEY, v int) USING strata;
INSERT INTO pgp SELECT i, i FROM generate_series(1, 1000) i;
SELECT compress_chunk('pgp');
SET ROLE postgres;
CREATE PUBLICATION pgp_all FOR ALL TABLES;
RESET ROLE;
CREATE VIEW pgp_tables AS SELECT pubname, schemaname, tablename FROM pg_publication_tables WHERE pubname = 'pgp_all';
SELECT count(*) FILTER (WHERE tablename = 'pgp') AS users, count(*) FILTER (WHERE schemaname = '_strata') AS ours FROM pgp_tables;
WITH t AS MATERIALIZED (SELECT * FROM pg_publication_tables) SELECT count(*) FROM t WHERE schemaname = '_strata';
SELECT count(*) FROM (SELECT relid FROM pg_publication p, LATERAL pg_get_publication_tables(p.pubname) WHERE pubname = 'pgp_all') x JOIN pg_class c ON c.oid = x.relid
    WHERE relnamespace = '_strata'::regnamespace;
-- as subscribers of 16 and later ask
SELECT count(*), count(*) FILTER (WHERE relnamespace = '_strata'::regnamespace) AS ours
    FROM (SELECT (pg_get_publication_tables(pubname)).* FROM pg_publication WHERE pubname = 'pgp_all') x JOIN pg_class c ON c.oid = x.relid
    WHERE c.oid = 'pgp'::regclass OR relnamespace = '_strata'::regnamespace;
SELECT count(*) FROM pg_class WHERE relnamespace = '_strata'::regnamespace AND oid IN (SELECT relid FROM pg_get_publication_tables('pgp_all'));
SELECT count(*) FROM pg_get_publication_tables('pgp_all') WITH ORDINALITY x WHERE relid = 'pgp'::regclass;
PREPARE q AS SELECT count(*) FROM pg_publication_tables WHERE schemaname = '_strata';
EXECUTE q;
SET ROLE postgres;
DROP PUBLICATION pgp_all;
RESET ROLE;
DROP VIEW pgp_tables;
DROP TABLE pgp;
