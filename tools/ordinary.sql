-- The database and role strata_ordinary, for the SQL tests that run as a role that is no superuser
-- (tools/test.sh): the owner of the database, who may make roles and files, and no more.  For what
-- takes a superuser, tests say SET ROLE postgres and RESET ROLE around it: he may become one, but
-- has none of one's rights until he does, since the role between the two does not inherit.
SET client_min_messages = warning;
DROP DATABASE IF EXISTS strata_ordinary;
DROP ROLE IF EXISTS strata_ordinary, strata_becomes_superuser;
CREATE ROLE strata_becomes_superuser NOINHERIT IN ROLE postgres;
CREATE ROLE strata_ordinary LOGIN CREATEROLE
	IN ROLE strata_becomes_superuser, pg_execute_server_program, pg_read_server_files, pg_write_server_files, pg_read_all_stats;
GRANT SET ON PARAMETER debug_discard_caches, session_replication_role TO strata_ordinary;
CREATE DATABASE strata_ordinary TEMPLATE template0 OWNER strata_ordinary;
-- as pg_regress has it in the databases that it makes
SELECT 'ALTER DATABASE strata_ordinary SET ' || setting
FROM unnest('{lc_messages TO ''C'',lc_monetary TO ''C'',lc_numeric TO ''C'',lc_time TO ''C'',bytea_output TO ''hex'',timezone_abbreviations TO ''Default''}'::text[]) setting
\gexec
\connect strata_ordinary
SET client_min_messages = warning;
CREATE EXTENSION strata;
-- not for every owner: tests ask for what is left behind
GRANT EXECUTE ON FUNCTION strata.gc() TO strata_ordinary;
