-- Tables of the schema _strata are the extension's own, whatever rights a role has been given.
SET client_min_messages = error;
\set VERBOSITY terse
CREATE SCHEMA internal;
SET search_path = internal, public;
CREATE ROLE int_owner LOGIN;
CREATE ROLE int_all;
GRANT int_owner, int_all TO CURRENT_USER;
SET ROLE postgres;
GRANT pg_read_all_data, pg_write_all_data TO int_all;
RESET ROLE;
GRANT ALL ON SCHEMA internal TO PUBLIC;
CREATE FUNCTION refused(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN EXECUTE command; RETURN 'DONE';
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE; END $$;
CREATE FUNCTION own_job(job_id int, config jsonb) RETURNS void LANGUAGE sql AS '';
SET ROLE int_owner;
CREATE TABLE h (t timestamptz NOT NULL, device int, secret text) USING strata;
SELECT create_hypertable('h', 't', chunk_time_interval => interval '1 day') IS NULL;
ALTER TABLE h SET (strata.segmentby = 'device', strata.orderby = 't');
INSERT INTO h SELECT timestamptz '2026-01-01 00:00+00' + i * interval '1 min', i % 3, 'secret' || i FROM generate_series(0, 1439) i;
SELECT count(compress_chunk(c)) FROM show_chunks('h') c;
INSERT INTO h SELECT timestamptz '2026-01-01 12:00+00' + i * interval '1 min', 9, 'late' FROM generate_series(0, 9) i;
CREATE TABLE plain (a int, secret text) USING strata;
INSERT INTO plain SELECT i, 'secret' || i FROM generate_series(1, 2000) i;
SELECT compress_chunk('plain') IS NOT NULL;
SELECT add_job('own_job', '1 day', '{"password": "owner"}', scheduled => false) > 0 AS added;
RESET ROLE;
SELECT strata.batch_relation(c)::text AS companion FROM show_chunks('h') c \gset
SELECT strata.batch_relation('plain')::text AS plain_companion \gset

-- who may read and write all data reads the tables, and writes neither jobs nor batches, nor reads the latter
SET ROLE int_all;
SELECT count(*), count(DISTINCT secret) FROM h;
SELECT c, refused(c) FROM unnest(array[
    'INSERT INTO _strata.job SELECT 5000, name, schedule_interval, max_runtime, max_retries, retry_period, ''internal'', ''own_job'', 10::oid::regrole, true, fixed_schedule FROM _strata.job WHERE id = 1',
    'INSERT INTO _strata.job DEFAULT VALUES',
    'UPDATE _strata.job SET owner = 10::oid::regrole',
    'DELETE FROM _strata.job', 'DELETE FROM _strata.job WHERE false',
    'WITH x AS (UPDATE _strata.job SET proc_name = ''x'' RETURNING 1) SELECT * FROM x',
    'MERGE INTO _strata.job j USING (VALUES (1)) v(id) ON j.id = v.id WHEN MATCHED THEN DELETE',
    'SELECT id FROM _strata.job FOR UPDATE',
    'INSERT INTO _strata.job_stat (job_id, next_start) VALUES (1000, now())',
    'UPDATE _strata.job_stat SET next_start = now()', 'DELETE FROM _strata.job_stat',
    'DELETE FROM _strata.job_history', 'UPDATE _strata.job_history SET owner = 10',
    'SELECT setval(''_strata.job_id_seq'', 3)', 'SELECT setval(''_strata.job_id_seq'', 999)']) c;
-- no rows here: psql differs in what it does with them after an error
\copy _strata.job from /dev/null
SELECT refused(format(c, k)) FROM unnest(array['SELECT * FROM %s', 'SELECT count(*) FROM %s', 'COPY %s TO ''/dev/null''', 'SELECT 1 FROM h, %s b LIMIT 1',
    'SELECT (SELECT count(*) FROM %s)', 'WITH x AS MATERIALIZED (SELECT * FROM %s) SELECT * FROM x', 'INSERT INTO %s DEFAULT VALUES', 'INSERT INTO %1$s SELECT * FROM %1$s', 'UPDATE %s SET nrows = 1', 'DELETE FROM %s', 'TABLE %s FOR SHARE', 'CREATE TABLE x AS TABLE %s',
    'EXPLAIN SELECT * FROM %s']) c, unnest(array[:'companion', :'plain_companion']) k;
-- a view or a function of somebody else gives no more
CREATE VIEW v AS SELECT * FROM _strata.job;
SELECT refused('DELETE FROM v'), refused('SELECT count(*) FROM v');
RESET ROLE;
SET ROLE int_owner;
SELECT refused('DELETE FROM v'), refused('SELECT * FROM _strata.job'), refused('DELETE FROM _strata.job');
RESET ROLE;
-- nor does the privilege itself
SET ROLE postgres;
GRANT ALL ON _strata.job TO int_owner;
GRANT ALL ON :companion TO int_owner;
GRANT UPDATE ON _strata.job_id_seq TO int_owner;
RESET ROLE;
SET ROLE int_owner;
SELECT refused('DELETE FROM _strata.job'), refused('UPDATE _strata.job SET owner = 10::oid::regrole'), refused('SELECT setval(''_strata.job_id_seq'', 3)');
SELECT refused(format('SELECT * FROM %s', :'companion')), refused(format('DELETE FROM %s', :'companion'));
-- what functions of the extension do for him goes on
SELECT (alter_job(job_id, schedule_interval => '2 days')).schedule_interval FROM strata.jobs WHERE proc_name = 'own_job';
SELECT delete_job(job_id) FROM strata.jobs WHERE proc_name = 'own_job';
UPDATE h SET secret = 'new' WHERE device = 2 AND secret = 'secret5';
SELECT count(*), count(*) FILTER (WHERE secret = 'new') FROM h;
RESET ROLE;
SET ROLE postgres;
REVOKE ALL ON _strata.job FROM int_owner;
REVOKE ALL ON _strata.job_id_seq FROM int_owner;
RESET ROLE;
-- superusers
SELECT count(*) FROM _strata.job WHERE id < 1000;
SET ROLE postgres;
UPDATE _strata.job SET name = name WHERE id < 1000;
SELECT sum(nrows) > 0 AS readable FROM :companion;
RESET ROLE;
-- the database's owner may dump what dumps take
SELECT has_table_privilege('pg_database_owner', '_strata.job', 'SELECT') AS dumps, has_table_privilege('pg_database_owner', '_strata.job', 'INSERT') AS restores, has_table_privilege('pg_database_owner', '_strata.job', 'UPDATE, DELETE') AS writes,
    has_sequence_privilege('pg_database_owner', '_strata.job_id_seq', 'SELECT') AS counts, has_table_privilege('pg_database_owner', '_strata.job_history', 'SELECT') AS history;
DROP OWNED BY int_owner, int_all CASCADE;
RESET search_path;
DROP SCHEMA internal CASCADE;
DROP ROLE int_owner, int_all;
