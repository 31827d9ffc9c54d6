-- Chunks, jobs and clean-up do not depend on settings that a database, or a session, has for its users.
-- needs superuser: changes settings of the database, has event triggers; rows are inserted by an ordinary role
CREATE ROLE hyper_settings_owner;
GRANT hyper_settings_owner TO CURRENT_USER;
GRANT CREATE ON SCHEMA public TO hyper_settings_owner;
SET ROLE postgres;
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE hyper_settings_space LOCATION '';
GRANT CREATE ON TABLESPACE hyper_settings_space TO SESSION_USER;
RESET ROLE;
SET ROLE postgres;
GRANT CREATE ON TABLESPACE hyper_settings_space TO PUBLIC;
RESET ROLE;
CREATE SCHEMA hyper_settings_trap;
GRANT USAGE ON SCHEMA hyper_settings_trap TO PUBLIC;
SET ROLE hyper_settings_owner;
CREATE TABLE hs (t timestamptz NOT NULL, d int, v float8);
SELECT FROM create_hypertable('hs', 't', chunk_time_interval => interval '1 day');
RESET ROLE;
SELECT format('ALTER DATABASE %I SET ', current_database()) AS alter_database, format('ALTER DATABASE %I RESET ', current_database()) AS reset_database \gset
\set ECHO none
:alter_database default_transaction_read_only = on;
:alter_database default_transaction_isolation = serializable;
:alter_database default_transaction_deferrable = on;
:alter_database default_table_access_method = strata;
:alter_database default_tablespace = hyper_settings_space;
:alter_database statement_timeout = '1min';
:alter_database idle_in_transaction_session_timeout = '1min';
:alter_database search_path = hyper_settings_trap;
:alter_database session_replication_role = replica;
:alter_database row_security = off;
:alter_database DateStyle = 'SQL, DMY';
:alter_database IntervalStyle = 'iso_8601';
:alter_database TimeZone = 'Pacific/Chatham';
:alter_database client_min_messages = error;
:alter_database check_function_bodies = off;
-- one that only servers with LZ4 have
SELECT :'alter_database' || 'default_toast_compression = lz4' FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals) \gexec
:alter_database quote_all_identifiers = on;
:alter_database bytea_output = escape;
:alter_database extra_float_digits = 0;
:alter_database lock_timeout = 1;
\set ECHO all
\c -
SET default_transaction_read_only = off;
SET search_path = public;
SET client_min_messages = warning;
SET session_replication_role = origin;
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';
SET lock_timeout = 0;
SET statement_timeout = 0;
SET ROLE hyper_settings_owner;
-- by a worker, and then by this process
INSERT INTO hs SELECT timestamptz '2026-01-01' + g * interval '1 min', g % 5, g FROM generate_series(0, 1999) g;
BEGIN;
INSERT INTO hs VALUES ('2026-02-01', 1, 1);
COMMIT;
BEGIN;
ALTER TABLE hs ADD COLUMN note text;
INSERT INTO hs VALUES ('2026-03-01', 1, 1, 'in this transaction');
COMMIT;
SELECT c.relname, a.amname, p.spcname, pg_get_expr(c.relpartbound, c.oid) FROM show_chunks('hs') s (oid) JOIN pg_class c USING (oid) JOIN pg_am a ON a.oid = c.relam LEFT JOIN pg_tablespace p ON p.oid = c.reltablespace ORDER BY 1;
-- a job of ours
RESET ROLE;
ALTER SYSTEM SET strata.max_job_workers = 4;
SELECT pg_reload_conf();
SELECT add_compression_policy('hs', interval '1 hour') AS job \gset
DO $$ BEGIN
	FOR i IN 1 .. 3000 LOOP
		EXIT WHEN EXISTS (SELECT FROM strata.job_stats WHERE hypertable_name = 'hs' AND last_run_status IS NOT NULL);
		COMMIT;
		PERFORM pg_sleep(0.1);
	END LOOP;
END $$;
ALTER SYSTEM RESET strata.max_job_workers;
SELECT pg_reload_conf();
SELECT last_run_status, total_failures FROM strata.job_stats WHERE job_id = :job;
SELECT bool_and(is_compressed) FROM strata.chunks WHERE hypertable_name = 'hs' AND range_end < '2026-01-03';
SELECT err_message FROM strata.job_errors WHERE job_id = :job;
SELECT remove_compression_policy('hs');
\set ECHO none
:reset_database default_transaction_read_only;
:reset_database default_transaction_isolation;
:reset_database default_transaction_deferrable;
:reset_database default_table_access_method;
:reset_database default_tablespace;
:reset_database statement_timeout;
:reset_database idle_in_transaction_session_timeout;
:reset_database search_path;
:reset_database session_replication_role;
:reset_database row_security;
:reset_database DateStyle;
:reset_database IntervalStyle;
:reset_database TimeZone;
:reset_database client_min_messages;
:reset_database check_function_bodies;
:reset_database default_toast_compression;
:reset_database quote_all_identifiers;
:reset_database bytea_output;
:reset_database extra_float_digits;
:reset_database lock_timeout;
\set ECHO all
\c -
-- event triggers that forbid or note commands are about commands, and an INSERT is none
CREATE TABLE hs_noted (tag text);
CREATE FUNCTION hs_forbid() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
	IF tg_event = 'ddl_command_end' THEN INSERT INTO hs_noted VALUES (tg_tag); END IF;
	RAISE EXCEPTION 'no commands of this kind in working hours: %', tg_tag; END $$;
SET ROLE postgres;
CREATE EVENT TRIGGER hs_start ON ddl_command_start EXECUTE FUNCTION hs_forbid();
CREATE EVENT TRIGGER hs_end ON ddl_command_end EXECUTE FUNCTION hs_forbid();
CREATE EVENT TRIGGER hs_rewrite ON table_rewrite EXECUTE FUNCTION hs_forbid();
RESET ROLE;
INSERT INTO hs VALUES ('2026-05-01', 1, 1);
BEGIN;
LOCK TABLE hs IN ACCESS EXCLUSIVE MODE;
INSERT INTO hs VALUES ('2026-06-01', 1, 1);
COMMIT;
SELECT count(*) FROM hs WHERE t >= '2026-05-01';
CREATE TABLE hs_other ();
SET ROLE postgres;
DROP EVENT TRIGGER hs_start;
DROP EVENT TRIGGER hs_end;
DROP EVENT TRIGGER hs_rewrite;
RESET ROLE;
SELECT * FROM hs_noted;
DROP TABLE hs, hs_noted;
DROP FUNCTION hs_forbid();
DROP SCHEMA hyper_settings_trap;
SET ROLE postgres;
DROP TABLESPACE hyper_settings_space;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM hyper_settings_owner;
DROP ROLE hyper_settings_owner;
