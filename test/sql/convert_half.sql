-- A chunk that convert() has half divided: its owner goes, or changes.
SET timezone = 'UTC';
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE ROLE half_owner;
CREATE ROLE half_heir;
GRANT CREATE ON SCHEMA public TO half_owner, half_heir;
GRANT half_owner, half_heir TO CURRENT_USER;
SET ROLE half_owner;
-- what keeps the chunk from going, once all of it is copied
CREATE FUNCTION half_make() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	CREATE TABLE half (ts timestamptz NOT NULL, host int, v int, UNIQUE (host, ts));
	CREATE INDEX ON half (ts);
	INSERT INTO half SELECT '2026-01-01'::timestamptz + g * interval '1 h', g % 3, g FROM generate_series(1, 100) g;
END $$;
CREATE VIEW half_parts AS SELECT relname, relkind FROM pg_class WHERE relname ~ '^divide_\d+_\d+$';
GRANT SELECT ON half_parts TO PUBLIC;
SELECT half_make();
CALL strata.convert('half', 'ts', '1 day', compress => false);
CREATE VIEW half_view AS SELECT v FROM half_min_chunk;
CALL strata.convert('half');
SELECT count(*) FROM half_parts;
-- all of a role is dropped, in each of the ways
BEGIN;
DROP OWNED BY half_owner;
SELECT to_regclass('half'), count(*) FROM pg_class WHERE relname ~ '^divide_\d+_\d+$';
ROLLBACK;
SELECT count(*) FROM half_parts;
BEGIN;
DROP OWNED BY CURRENT_ROLE CASCADE;
SELECT to_regclass('half'), count(*) FROM pg_class WHERE relname ~ '^divide_\d+_\d+$';
ROLLBACK;
SELECT count(*), sum(v) FROM half;
-- somebody who may not
SET ROLE half_heir;
DROP OWNED BY half_owner;
SET ROLE half_owner;
-- the table changes hands, its copies do not, and are in nobody's way
RESET ROLE;
GRANT half_heir TO half_owner;
SET ROLE half_owner;
ALTER TABLE half OWNER TO half_heir;
SELECT count(*) FROM half_parts;
RESET ROLE;
REVOKE half_heir FROM half_owner;
SET ROLE half_owner;
BEGIN;
DROP OWNED BY half_owner CASCADE;
SELECT count(*) FROM pg_class WHERE relname ~ '^divide_\d+_\d+$';
SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'strata\_divide%';
COMMIT;
SET ROLE half_heir;
SELECT problem, object FROM strata.problems WHERE problem ~ 'convert';
SELECT count(*), sum(v) FROM half;
CALL strata.convert('half');
SELECT count(*), count(DISTINCT tableoid), sum(v) FROM half;
DROP TABLE half;
RESET ROLE;
SELECT count(*) FROM pg_class WHERE relname ~ '^divide_\d+_\d+$';
DROP OWNED BY half_owner, half_heir;
DROP ROLE half_owner, half_heir;
