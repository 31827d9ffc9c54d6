-- add_job, alter_job, delete_job, run_job, the views; schedules.  Nothing here is scheduled to run.
-- needs superuser: its results name the role that runs it
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET intervalstyle = 'postgres';
CREATE TABLE job_log (what text);
CREATE PROCEDURE job_proc(job_id int, config jsonb) LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO job_log VALUES (current_user || ' before ' || coalesce(config::text, 'null'));
	COMMIT;
	INSERT INTO job_log VALUES (current_user || ' after');
END $$;
CREATE FUNCTION job_func(id int, config jsonb) RETURNS int LANGUAGE sql AS $$ INSERT INTO job_log VALUES (current_user || ' function'); SELECT 1 $$;
CREATE FUNCTION job_check(config jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF config IS NULL OR NOT config ? 'key' THEN RAISE EXCEPTION 'config needs "key"' USING errcode = '22023'; END IF;
END $$;
CREATE FUNCTION job_wrong(int) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION job_set(int, jsonb) RETURNS SETOF int LANGUAGE sql AS 'SELECT 1';
SELECT setval('_strata.job_id_seq', 2000, false);
-- what add_job refuses
SELECT add_job(NULL, '1 h');
SELECT add_job('job_proc', NULL);
SELECT add_job('job_wrong', '1 h');
SELECT add_job('job_set', '1 h');
SELECT add_job('nothing_like_it', '1 h');
SELECT add_job('job_proc', '0 s');
SELECT add_job('job_proc', '-1 day');
SELECT add_job('job_proc', '1 h', timezone => 'Nowhere/Land');
-- a session's abbreviations are no zones to the scheduler
SET timezone_abbreviations = 'Australia';
SELECT add_job('job_proc', '1 day', timezone => 'SAT');
RESET timezone_abbreviations;
SELECT add_job('job_proc', '300000 years');
SELECT add_job('job_proc', '300000 years', fixed_schedule => false);
SELECT add_job('job_proc', '1 h', initial_start => '-infinity');
SELECT add_job('job_proc', '1 h', check_config => 'job_wrong');
SELECT add_job('job_proc', '1 h', check_config => 'job_check');
SELECT add_job('job_proc', '1 h', '{"other": 1}', check_config => 'job_check');
SELECT count(*) FROM strata.jobs WHERE job_id >= 2000;
-- what it takes
SELECT setval('_strata.job_id_seq', 2000, false);
SELECT add_job('job_proc', '1 h', scheduled => false);
SELECT add_job('job_func', '1 mon', '{"key": 1}', '2100-01-31 02:30+00', true, 'job_check', true, 'Europe/Berlin', 'Monthly');
SELECT add_job('job_proc', '1 day', initial_start => '2100-01-01', fixed_schedule => false);
SELECT * FROM strata.jobs WHERE job_id = 2001;
SELECT job_id, application_name, schedule_interval, max_runtime, max_retries, retry_period, proc_name, scheduled, fixed_schedule, next_start, hypertable_name
	FROM strata.jobs WHERE job_id >= 2000 ORDER BY 1;
SELECT * FROM strata.job_stats WHERE job_id = 2001;
-- run_job: in this session; the procedure may commit
CALL run_job(2000);
CALL run_job(2001);
BEGIN;
CALL run_job(2001);
CALL run_job(2000);
ROLLBACK;
TABLE job_log;
CALL run_job(12345);
CALL run_job(NULL);
-- alter_job
SELECT alter_job(2001, schedule_interval => '3 days', max_runtime => '5 min', max_retries => 3, retry_period => '10 s');
SELECT alter_job(2001, next_start => '2100-06-01', config_merge => '{"more": [1, 2]}', job_name => 'Every month', timezone => 'UTC');
SELECT alter_job(2001, next_start => 'infinity');
SELECT next_start FROM strata.jobs WHERE job_id = 2001;
SELECT alter_job(2001, initial_start => '2101-01-01', schedule_interval => '1 year');
SELECT (alter_job(2001, scheduled => false)).scheduled;
SELECT job_status, next_start FROM strata.job_stats WHERE job_id = 2001;
-- the name and the id behind it fit into a name
SELECT alter_job(2001, job_name => repeat('x', 57));
SELECT application_name = repeat('x', 56) || ' [2001]' AS fits FROM alter_job(2001, job_name => repeat('x', 56));
SELECT add_job('job_func', '1 h', job_name => repeat('x', 60));
SELECT alter_job(2001, config => '{"no": 1}');
SELECT alter_job(2001, max_runtime => '-1 s');
SELECT alter_job(2001, max_retries => -2);
SELECT alter_job(2001, schedule_interval => '0');
SELECT alter_job(2001, schedule_interval => '1 month -30 days 1 us');
SELECT alter_job(2001, retry_period => '-1 s');
SELECT alter_job(2001, timezone => 'Nowhere/Land');
SELECT alter_job(2001, schedule_interval => '178000000 years');
SELECT alter_job(2001, schedule_interval => '178000000 years', fixed_schedule => false);
SELECT alter_job(12345, scheduled => true);
SELECT alter_job(12345, if_exists => true, scheduled => true);
SELECT count(*) FROM alter_job(2001);
SELECT (j).job_id, (j).schedule_interval FROM (SELECT alter_job(job_id) AS j FROM strata.jobs WHERE job_id IN (2000, 2002) ORDER BY job_id OFFSET 0) s;
-- rights
CREATE ROLE job_user LOGIN;
CREATE ROLE job_member LOGIN IN ROLE job_user;
CREATE ROLE job_nologin;
GRANT job_user, job_member, job_nologin TO CURRENT_USER;
GRANT INSERT ON job_log TO job_user;
GRANT CREATE ON SCHEMA public TO job_user;
SET ROLE job_user;
SELECT alter_job(2001, scheduled => true);
SELECT delete_job(2001);
CALL run_job(2001);
SELECT setval('_strata.job_id_seq', 2010, false);
SELECT * FROM _strata.job;
SELECT * FROM _strata.job_history;
CALL _strata.policy_job_history(1, '{}');
SELECT alter_job(1, schedule_interval => '1 s');
RESET ROLE;
SELECT setval('_strata.job_id_seq', 2010, false);
REVOKE EXECUTE ON FUNCTION job_func FROM PUBLIC;
SET ROLE job_user;
SELECT add_job('job_func', '1 h', scheduled => false);
SELECT add_job('job_proc', '1 h', scheduled => false);
SELECT owner FROM strata.jobs WHERE job_id = 2010;
SET ROLE job_member;
CALL run_job(2010);
SELECT (alter_job(2010, schedule_interval => '2 h')).schedule_interval;
RESET ROLE;
CREATE FUNCTION job_trap() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'as %', current_user; RETURN NULL; END $$;
CREATE PROCEDURE job_plain(job_id int, config jsonb) LANGUAGE sql AS $$ INSERT INTO job_log VALUES (current_user || ' plain') $$;
SET ROLE job_user;
SELECT add_job('job_plain', '1 h', scheduled => false) > 0;
RESET ROLE;
-- as another role: atomic, and nothing may be left to run later as us
SELECT max(job_id) AS plain FROM strata.jobs \gset
CALL run_job(:plain);
CREATE CONSTRAINT TRIGGER trap AFTER INSERT ON job_log DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION job_trap();
CALL run_job(:plain);
DROP TRIGGER trap ON job_log;
SELECT * FROM job_log ORDER BY what;
SET ROLE job_nologin;
-- from 17 on workers may run as roles that cannot log in
DO $$ BEGIN
	PERFORM delete_job(add_job('job_plain', '1 h'));
	ASSERT current_setting('server_version_num')::int >= 170000;
EXCEPTION WHEN OTHERS THEN
	IF current_setting('server_version_num')::int >= 170000 OR SQLERRM <> 'role "job_nologin" cannot own a job because it cannot log in' THEN
		RAISE;
	END IF;
END $$;
RESET ROLE;
SELECT delete_job(job_id) FROM strata.jobs WHERE job_id >= 2000;
SELECT delete_job(2000);
SELECT count(*) FROM _strata.job_stat WHERE job_id >= 2000;
SET default_transaction_read_only = on;
SELECT add_job('job_plain', '1 h');
SET default_transaction_read_only = off;
-- schedules: the next start after a time
CREATE FUNCTION starts(i interval, init timestamptz, tz text, after timestamptz, n int, fixed bool DEFAULT true) RETURNS SETOF timestamptz LANGUAGE plpgsql AS $$
DECLARE t timestamptz := after;
BEGIN
	FOR k IN 1..n LOOP t := _strata.next_start(i, init, tz, fixed, t); RETURN NEXT t; END LOOP;
END $$;
SELECT starts('1 h', '2021-01-01 00:20+00', NULL, '2021-01-01 05:00+00', 2);
SELECT starts('1 h', '2021-01-01 00:20+00', NULL, '2020-01-01 05:00+00', 2);
-- 02:30 in Berlin, where it does not exist on one day and comes twice on another
SELECT starts('1 day', '2021-01-01 02:30 Europe/Berlin', 'Europe/Berlin', '2021-03-26 12:00+00', 4) AT TIME ZONE 'Europe/Berlin';
SELECT starts('1 day', '2021-01-01 02:30 Europe/Berlin', 'Europe/Berlin', '2021-10-29 12:00+00', 4) AT TIME ZONE 'Europe/Berlin';
SELECT starts('12 h', '2021-01-01 02:30 Europe/Berlin', 'Europe/Berlin', '2021-10-30 00:00+00', 4) AT TIME ZONE 'Europe/Berlin';
-- the 31st stays the 31st where there is one
SELECT starts('1 month', '2021-01-31 00:00+00', NULL, '2023-12-01 00:00+00', 5);
SELECT starts('1 year', '2020-02-29 00:00+00', NULL, '2022-12-01 00:00+00', 3);
SELECT starts('1 month 1 day 01:00', '2021-01-31 00:00+00', NULL, '2021-02-01 00:00+00', 3);
-- not fixed: counted from the end of the last run
SELECT starts('1 month', '2021-01-31 00:00+00', NULL, '2021-01-31 00:00+00', 2, false);
SELECT starts('36 h', NULL, NULL, '2021-01-31 00:00+00', 1, true);
-- always later, never more than one interval later (days: and a bit for clock changes)
SELECT setseed(0.3);
SELECT count(*), count(*) FILTER (WHERE s <= a), count(*) FILTER (WHERE s > a + i + interval '2 h' AND init <= a), count(*) FILTER (WHERE init > a AND s <> init)
	FROM (SELECT i::interval, init, a, _strata.next_start(i::interval, init, tz, true, a) AS s
		FROM unnest(ARRAY['1 s', '7 min', '1 h', '1 day', '10 days', '1 month', '5 months', '1 year', '1 day 01:00']) i,
			unnest(ARRAY['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Pacific/Apia']) tz,
			LATERAL (SELECT timestamptz '2000-01-01' + random() * interval '20 years' AS init, timestamptz '2005-01-01' + random() * interval '20 years' AS a
				FROM generate_series(1, 40) WHERE i IS NOT NULL AND tz IS NOT NULL) r) x;
SELECT _strata.next_start('1 microsecond', '2000-01-01', NULL, true, '294276-12-31 23:59:59.999999'), _strata.next_start('1 day', 'infinity', NULL, true, '2020-01-01');
-- a start in the hour that a clock shows twice, the first time, or the second
SELECT init, array_agg(_strata.next_start(i::interval, init, 'Europe/Berlin', true, after) ORDER BY after) FROM unnest(ARRAY['2026-10-25 00:30+00', '2026-10-25 01:30+00']::timestamptz[]) init,
	unnest(ARRAY['1 day', '1 month']) i, unnest(ARRAY['2026-10-24 12:00+00', '2026-10-25 00:30+00', '2026-10-25 00:31+00', '2026-10-25 01:30+00', '2027-10-30 12:00+00']::timestamptz[]) after GROUP BY i, init ORDER BY i, init;
-- no next start: out of range, or a zone that is not known
SELECT i, fixed, _strata.next_start(i::interval, '2000-01-01', 'Europe/Berlin', fixed, '2021-01-01')
	FROM unnest(ARRAY['300000 years', '178000000 years', '2147483647 days', '2562047788 h', '3 months 2147483647 days 2562047788 h']) i, unnest(ARRAY[true, false]) fixed;
SELECT _strata.next_start('1 day', '2000-01-01', 'Nowhere/Land', true, '2021-01-01'), _strata.next_start('1 month', '4713-11-24 00:00+00 BC', 'America/New_York', true, '2021-01-01'),
	_strata.next_start('1 year', '2000-01-01', NULL, true, '294276-06-01'), _strata.next_start('1 mon', '4713-11-24 00:00+00 BC', NULL, true, '294276-12-31');
SELECT _strata.next_start('1 month 1 day 01:00', NULL, NULL, false, '2021-01-31 00:00+00'), _strata.next_start('1 day', '2021-01-01', '<+03>-3', true, '2021-01-02 12:00+00');
-- jobs of the extension
SELECT job_id, application_name, proc_schema, proc_name, config, scheduled FROM strata.jobs WHERE job_id < 1000 ORDER BY 1;
-- each call of alter_job() is one, also where no second row is asked for
SELECT count(add_job('job_func', '1 h', initial_start => '2100-01-01', job_name => 'stopped early')) FROM generate_series(1, 4);
SELECT EXISTS (SELECT alter_job(job_id, scheduled => false)) FROM strata.jobs WHERE application_name LIKE 'stopped early%';
SELECT scheduled, count(*) FROM strata.jobs WHERE application_name LIKE 'stopped early%' GROUP BY 1;
SELECT (SELECT scheduled FROM alter_job(job_id, scheduled => true) LIMIT 1) FROM strata.jobs WHERE application_name LIKE 'stopped early%';
SELECT count(delete_job(job_id)) FROM strata.jobs WHERE application_name LIKE 'stopped early%' AND scheduled;
DROP PROCEDURE job_proc, job_plain;
DROP FUNCTION job_func, job_check, job_wrong, job_set, job_trap, starts;
DROP TABLE job_log;
REVOKE CREATE ON SCHEMA public FROM job_user;
DROP ROLE job_user, job_member, job_nologin;

-- roles that own jobs: DROP ROLE is refused, REASSIGN OWNED gives jobs on, DROP OWNED deletes them
SET client_min_messages = warning;
CREATE ROLE regress_jobs_leaver LOGIN;
CREATE ROLE regress_jobs_heir LOGIN;
CREATE ROLE regress_jobs_group;
CREATE SCHEMA jobs_roles;
GRANT USAGE, CREATE ON SCHEMA jobs_roles TO regress_jobs_leaver, regress_jobs_heir;
CREATE FUNCTION jobs_roles.work(job_id int, config jsonb) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION jobs_roles.checks(config jsonb) RETURNS void LANGUAGE sql AS '';
-- whose each job is; which one it is: its place among those of this test
CREATE FUNCTION jobs_roles.all() RETURNS TABLE (name text, owner text, check_name text, scheduled boolean) LANGUAGE sql AS $$
	SELECT j.name, pg_get_userbyid(j.owner::oid), j.check_name, j.scheduled FROM _strata.job j WHERE j.owner::text LIKE 'regress_jobs%' OR j.owner::text ~ '^\d' ORDER BY 1, 2 $$;
-- an error without the numbers of jobs
CREATE FUNCTION jobs_roles.tried(sql text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
	hint text;
BEGIN
	EXECUTE sql;
	RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' | ', SQLSTATE, SQLERRM, regexp_replace(detail, 'job \d+', 'job N', 'g'), hint);
END $$;

SET ROLE regress_jobs_leaver;
SELECT add_job('jobs_roles.work', '1 h', initial_start => '2100-01-01', job_name => 'mine') > 0 AS added;
CREATE TABLE jobs_roles.t (time timestamptz NOT NULL, v int);
SELECT create_hypertable('jobs_roles.t', 'time') IS NOT NULL AS made;
SELECT add_retention_policy('jobs_roles.t', '1 year') > 0 AS added;
RESET ROLE;
-- the table goes to the heir, and its policy with it; what is the role's own keeps it
ALTER TABLE jobs_roles.t OWNER TO regress_jobs_heir;
REVOKE ALL ON SCHEMA jobs_roles FROM regress_jobs_leaver;
SELECT jobs_roles.tried('DROP ROLE regress_jobs_leaver');
SELECT jobs_roles.tried('DROP ROLE IF EXISTS regress_jobs_nobody, regress_jobs_leaver');
-- in a transaction that gives the jobs on, it is free; what another chose to run is not scheduled
BEGIN;
REASSIGN OWNED BY regress_jobs_leaver TO regress_jobs_heir;
SELECT * FROM jobs_roles.all();
SELECT jobs_roles.tried('DROP ROLE regress_jobs_leaver');
ROLLBACK;
SELECT * FROM jobs_roles.all();
-- DROP OWNED deletes the role's jobs, and leaves the policy on another's table
BEGIN;
DROP OWNED BY regress_jobs_leaver;
SELECT * FROM jobs_roles.all();
SELECT jobs_roles.tried('DROP ROLE regress_jobs_leaver');
ROLLBACK;
-- a policy's check is called as who set it: the check goes with him
SELECT count(*) FROM (SELECT alter_job(job_id, check_config => 'jobs_roles.checks') FROM strata.jobs WHERE hypertable_name = 't' AND proc_name LIKE '%retention%') x;
UPDATE _strata.job SET owner = 'regress_jobs_leaver' WHERE hypertable = 'jobs_roles.t'::regclass;
SELECT delete_job(job_id) IS NULL FROM strata.jobs WHERE owner = 'regress_jobs_leaver'::regrole;
SELECT jobs_roles.tried('DROP ROLE regress_jobs_leaver');
DROP OWNED BY regress_jobs_leaver;
SELECT * FROM jobs_roles.all();
SELECT jobs_roles.tried('DROP ROLE regress_jobs_leaver');
-- a role that is not there, a special one, and a role without jobs fail or work as ever
SELECT jobs_roles.tried('DROP ROLE regress_jobs_leaver');
SELECT jobs_roles.tried('DROP ROLE CURRENT_USER');
SELECT jobs_roles.tried('DROP ROLE regress_jobs_group');
DROP TABLE jobs_roles.t;
DROP SCHEMA jobs_roles CASCADE;
DROP ROLE regress_jobs_heir;
