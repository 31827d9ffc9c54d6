-- Policies, run in the foreground; integer time with a clock of our own, so nothing depends on the day.
SET timezone = 'UTC';
SELECT setval('_strata.job_id_seq', 3000, false);
CREATE TABLE clock (now bigint);
INSERT INTO clock VALUES (100000);
CREATE FUNCTION clock_now() RETURNS bigint LANGUAGE sql STABLE SET search_path = public AS 'SELECT now FROM clock';
CREATE TABLE pol (t bigint NOT NULL, dev int, v float8);
CREATE INDEX pol_dev ON pol (dev, t);
SELECT created FROM create_hypertable('pol', 't', chunk_time_interval => 10000);
ALTER TABLE pol SET (strata.segmentby = 'dev', strata.orderby = 't');
CREATE TABLE pol_heap (LIKE pol);
INSERT INTO pol_heap SELECT i * 10, i % 3, i / 4.0 FROM generate_series(0, 9999) i;
INSERT INTO pol SELECT * FROM pol_heap;
CREATE FUNCTION pol_equal() RETURNS bigint LANGUAGE sql AS
	'SELECT count(*) FROM ((TABLE pol EXCEPT ALL TABLE pol_heap) UNION ALL (TABLE pol_heap EXCEPT ALL TABLE pol)) d';
CREATE FUNCTION pol_state(OUT t bigint, OUT has_batches boolean) RETURNS SETOF record LANGUAGE sql AS
	'SELECT range_start_integer, batches IS NOT NULL FROM _strata.chunk WHERE hypertable = ''pol''::regclass ORDER BY 1';
-- refused
SELECT add_compression_policy('pol', 20000);
SELECT set_integer_now_func('pol', 'clock_now');
SELECT add_compression_policy('pol', interval '1 day');
SELECT add_compression_policy('pol');
SELECT add_compression_policy('pol', 20000, compress_created_before => '1 day');
SELECT add_compression_policy('pol_heap', 20000);
SELECT add_compression_policy('pol', 20000, schedule_interval => '0');
SELECT add_compression_policy('pol', 20000, schedule_interval => '300000 years');
-- NULL for the table or if_not_exists makes nothing, as with TimescaleDB
SELECT add_compression_policy(NULL, 20000), add_compression_policy('pol', 20000, NULL), add_retention_policy(NULL, 20000),
	add_reorder_policy('pol', NULL), remove_retention_policy(NULL), remove_reorder_policy('pol', NULL);
SELECT count(*) FROM strata.jobs WHERE hypertable_name = 'pol';
SELECT add_reorder_policy('pol', 'no_such_index');
SELECT remove_retention_policy('pol');
SELECT remove_retention_policy('pol', if_exists => true);
-- compression: chunks that end at or before 100000 - 45000; as Zabbix reads it
SELECT add_compression_policy('pol', 45000, initial_start => '2100-01-01');
SELECT add_compression_policy('pol', 45000);
SELECT add_compression_policy('pol', 45000, if_not_exists => true);
SELECT add_compression_policy('pol', 5, if_not_exists => true);
SELECT application_name, config->>'compress_after' AS after, schedule_interval, fixed_schedule, hypertable_name FROM strata.jobs WHERE application_name LIKE 'Compression%';
CALL run_job(3000);
SELECT * FROM pol_state();
SELECT pol_equal();
-- late rows: compressed, and batches merged when there are too many
SELECT batches AS before FROM strata.tables WHERE relation = (SELECT relid FROM _strata.chunk WHERE hypertable = 'pol'::regclass AND range_start_integer = 20000) \gset
DO $$
BEGIN
	FOR k IN 1..8 LOOP
		INSERT INTO pol_heap SELECT 20000 + i * 31 + k, i % 3, 0 FROM generate_series(1, 290) i;
		INSERT INTO pol SELECT 20000 + i * 31 + k, i % 3, 0 FROM generate_series(1, 290) i;
		PERFORM compress_chunk(relid) FROM _strata.chunk WHERE hypertable = 'pol'::regclass AND range_start_integer = 20000;
	END LOOP;
END $$;
INSERT INTO pol_heap SELECT 20000 + i * 17, i % 3, 1 FROM generate_series(1, 500) i;
INSERT INTO pol SELECT 20000 + i * 17, i % 3, 1 FROM generate_series(1, 500) i;
SELECT batches > 20 AS many FROM strata.tables WHERE relation = (SELECT relid FROM _strata.chunk WHERE hypertable = 'pol'::regclass AND range_start_integer = 20000);
CALL run_job(3000);
SELECT batches < 10 AS merged, row_store_rows FROM strata.tables WHERE relation = (SELECT relid FROM _strata.chunk WHERE hypertable = 'pol'::regclass AND range_start_integer = 20000);
SELECT pol_equal();
-- time goes on
UPDATE clock SET now = 110000;
CALL run_job(3000);
SELECT count(*) FILTER (WHERE has_batches) FROM pol_state();
-- in a transaction, too
BEGIN;
UPDATE clock SET now = 120000;
CALL run_job(3000);
SELECT count(*) FILTER (WHERE has_batches) FROM pol_state();
ROLLBACK;
SELECT count(*) FILTER (WHERE has_batches) FROM pol_state();
-- retention
SELECT add_retention_policy('pol', 85000, initial_start => '2100-01-01', schedule_interval => '2 h');
CALL run_job(3001);
DELETE FROM pol_heap WHERE t < 20000;
SELECT pol_equal(), count(*) FROM pol_state();
-- reorder: each chunk once, not the compressed ones, not the latest three
SELECT add_reorder_policy('pol', 'pol_dev', initial_start => '2100-01-01');
CALL run_job(3002);
SELECT c.range_start_integer, i.indisclustered FROM _strata.chunk c JOIN pg_index i ON i.indrelid = c.relid
	WHERE c.hypertable = 'pol'::regclass AND indisclustered ORDER BY 1;
SELECT pol_equal();
SELECT job_id, application_name, config, max_runtime, retry_period, schedule_interval FROM strata.jobs WHERE hypertable_name = 'pol' ORDER BY 1;
-- one chunk that fails does not keep the others from their turn
CREATE TABLE pol2 (t bigint NOT NULL, v float8);
SELECT created FROM create_hypertable('pol2', 't', chunk_time_interval => 1000);
SELECT set_integer_now_func('pol2', 'clock_now');
INSERT INTO pol2 SELECT i, i FROM generate_series(0, 3999) i;
SELECT relid::regclass::text AS second FROM _strata.chunk WHERE hypertable = 'pol2'::regclass AND range_start_integer = 1000 \gset
CREATE VIEW pol2_view AS SELECT * FROM :second;
SELECT add_retention_policy('pol2', 1000, initial_start => '2100-01-01') AS id \gset
CALL run_job(:id);
SELECT range_start_integer FROM _strata.chunk WHERE hypertable = 'pol2'::regclass;
DROP VIEW pol2_view;
CALL run_job(:id);
SELECT count(*) FROM _strata.chunk WHERE hypertable = 'pol2'::regclass;
-- configs that make no sense
SELECT (alter_job(:id, config => '{"drop_after": "many"}')).config;
CALL run_job(:id);
SELECT (alter_job(:id, config => '{}')).config;
CALL run_job(:id);
SELECT (alter_job(:id, config => '{"drop_after": [1]}')).config;
CALL run_job(:id);
-- owners: the policy is the table's owner's, who need not be able to log in
CREATE ROLE pol_owner;
CREATE ROLE pol_other LOGIN;
GRANT pol_owner, pol_other TO CURRENT_USER;
GRANT CREATE ON SCHEMA public TO pol_owner;
GRANT SELECT ON clock TO pol_owner;
ALTER TABLE pol OWNER TO pol_owner;
SELECT DISTINCT owner FROM strata.jobs WHERE hypertable_name = 'pol';
SET ROLE pol_other;
SELECT add_retention_policy('pol', 1, if_not_exists => true);
SELECT remove_retention_policy('pol');
CALL run_job(3000);
CALL _strata.policy_retention(3001, '{"drop_after": 1}');
SELECT count(*) FROM strata.problems WHERE object LIKE 'pol%';
RESET ROLE;
UPDATE clock SET now = 130000;
SET ROLE pol_owner;
CALL run_job(3000);
RESET ROLE;
SELECT count(*) FILTER (WHERE has_batches) FROM pol_state();
SET ROLE pol_owner;
SELECT remove_compression_policy('pol'), remove_reorder_policy('pol');
CALL add_columnstore_policy('pol', 45000, initial_start => '2100-01-01');
CALL remove_columnstore_policy('pol');
CALL remove_columnstore_policy('pol', if_exists => true);
RESET ROLE;
-- what an integer_now function does, it does as the owner
CREATE FUNCTION who_now() RETURNS bigint LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE WARNING 'as %', current_user; RETURN 0; END $$;
SET client_min_messages = error;
SELECT set_integer_now_func('pol', 'who_now', replace_if_exists => true);
RESET client_min_messages;
CALL run_job(3001);
-- a check is called as him who owned the table when it was set, not as whoever has got the table
CREATE FUNCTION who_checks(config jsonb) RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'check as %', current_user; END $$;
SET ROLE pol_owner;
SELECT (alter_job(3001, check_config => 'who_checks')).check_config;
RESET ROLE;
GRANT CREATE ON SCHEMA public TO pol_other;
ALTER TABLE pol OWNER TO pol_other;
SELECT DISTINCT owner FROM strata.jobs WHERE hypertable_name = 'pol';
SELECT (alter_job(3001, scheduled => false)).scheduled;
SET ROLE pol_other;
SELECT (alter_job(3001, scheduled => false)).scheduled;
SELECT (alter_job(3001, check_config => 'who_checks')).check_config;
SELECT (alter_job(3001, scheduled => false)).scheduled;
RESET ROLE;
-- the jobs go with the table
DROP TABLE pol, pol2;
SELECT count(*) FROM strata.jobs WHERE job_id >= 3000;
-- intervals, for times; by the time of day the first chunk may be too small to be compressed
CREATE TABLE pol3 (ts timestamptz NOT NULL, v int);
SELECT created FROM create_hypertable('pol3', 'ts', chunk_time_interval => interval '1 day');
INSERT INTO pol3 SELECT now() - i * interval '1 hour', i FROM generate_series(0, 240) i, generate_series(1, 20);
SELECT add_compression_policy('pol3', interval '3 days', initial_start => '2100-01-01', timezone => 'Europe/Berlin') AS id \gset
SELECT add_retention_policy('pol3', drop_created_before => interval '1 day', initial_start => '2100-01-01') AS id2 \gset
SELECT add_compression_policy('pol3', 5, if_not_exists => true);
SELECT config FROM strata.jobs WHERE job_id IN (:id, :id2) ORDER BY job_id;
-- one line for all chunks of a hypertable
SELECT problem, object, regexp_replace(detail, 'pol3.*chunk and [4-9] other chunks: rows end at .* UTC; job [0-9]+', 'pol3 ...') FROM strata.problems WHERE object LIKE '%pol3%';
SELECT schedule_interval FROM alter_job(:id, schedule_interval => '1 min');
CALL run_job(:id);
CALL run_job(:id2);
SELECT count(*) BETWEEN 6 AND 8 FROM _strata.chunk WHERE hypertable = 'pol3'::regclass AND batches IS NOT NULL;
SELECT count(*) = 4820 FROM pol3;
SELECT problem FROM strata.problems WHERE object LIKE '%pol3%';
-- chunks made ahead: only where rows come in
SET strata.chunks_ahead = 2;
SELECT count(*) AS chunks FROM show_chunks('pol3') \gset
SET ROLE postgres;
CALL run_job(2);
RESET ROLE;
SELECT count(*) - :chunks FROM show_chunks('pol3');
SET ROLE postgres;
CALL run_job(2);
RESET ROLE;
SELECT count(*) - :chunks FROM show_chunks('pol3');
-- code of one table's owner does not keep the others from their turn: neither with an error that looks like a cancellation ...
CREATE FUNCTION says_now() RETURNS bigint LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE EXCEPTION 'not really' USING errcode = '57014'; END $$;
CREATE TABLE pol4 (t bigint NOT NULL);
SELECT created FROM create_hypertable('pol4', 't', chunk_time_interval => 100);
SELECT set_integer_now_func('pol4', 'says_now');
INSERT INTO pol4 VALUES (1);
CREATE FUNCTION pol5_anew() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
	DROP TABLE IF EXISTS pol5;
	CREATE TABLE pol5 (t timestamptz NOT NULL);
	PERFORM create_hypertable('pol5', 't', chunk_time_interval => interval '1 day');
	INSERT INTO pol5 VALUES (now());
END $$;
SET client_min_messages = warning;
SELECT pol5_anew();
SET ROLE postgres;
CALL run_job(2);
RESET ROLE;
SELECT count(*) FROM show_chunks('pol5');
-- ... nor with time
CREATE OR REPLACE FUNCTION says_now() RETURNS bigint LANGUAGE plpgsql STABLE AS $$ BEGIN
	PERFORM pg_sleep(1000);
	RETURN 1;
EXCEPTION WHEN query_canceled THEN PERFORM pg_sleep(1000); RETURN 1; END $$;
SELECT pol5_anew();
SET ROLE postgres;
SELECT max_runtime FROM alter_job(2, max_runtime => '2 s');
\set VERBOSITY sqlstate
CALL run_job(2);
\set VERBOSITY default
RESET ROLE;
SELECT count(*) FROM show_chunks('pol5');
-- a real cancellation ends the run
CREATE OR REPLACE FUNCTION says_now() RETURNS bigint LANGUAGE sql STABLE AS $$ SELECT 1::bigint FROM pg_sleep(1000) $$;
SET ROLE postgres;
SELECT max_runtime FROM alter_job(2, max_runtime => '10 min');
SET statement_timeout = '300 ms';
CALL run_job(2);
RESET statement_timeout;
RESET ROLE;
RESET client_min_messages;
DROP TABLE pol4, pol5;
DROP FUNCTION says_now, pol5_anew;
RESET strata.chunks_ahead;
DROP TABLE pol3, pol_heap, clock;
DROP FUNCTION clock_now, pol_equal, pol_state, who_now, who_checks;
REVOKE CREATE ON SCHEMA public FROM pol_owner, pol_other;
DROP ROLE pol_owner, pol_other;
