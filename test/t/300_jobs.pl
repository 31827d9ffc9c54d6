# test/t/300_jobs.pl
#	  The scheduler: jobs run as their owner, on time, with retries and limits;
#	  through killed workers, crashes, restarts, DROP DATABASE, a missing
#	  extension, a full pool.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = strata_node('jobs');

sub sql { return $node->safe_psql('postgres', $_[0]); }

my $processes = "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'strata%'";
becomes($node, "SELECT ($processes) = 1", 'one process before the extension is there');

sql(q{
	CREATE EXTENSION strata;
	CREATE ROLE alice LOGIN;
	CREATE TABLE log (at timestamptz DEFAULT clock_timestamp(), who text, what text);
	GRANT ALL ON log TO alice;
	CREATE PROCEDURE tick(job_id int, config jsonb) LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO public.log (who, what) VALUES (current_user || ' ' || session_user, 'tick');
		COMMIT;
		INSERT INTO public.log (who, what) VALUES (current_user || ' ' || session_user, 'tock');
	END $$;
	CREATE FUNCTION fails(job_id int, config jsonb) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		RAISE EXCEPTION 'broken %', config->>'what' USING errcode = '22012', hint = 'repair it';
	END $$;
	CREATE FUNCTION sleeps(job_id int, config jsonb) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM pg_sleep((config->>'seconds')::float8);
	END $$;
	CREATE PROCEDURE escapes(job_id int, config jsonb) LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO public.log (who, what) VALUES (current_user, 'before');
		COMMIT;
		EXECUTE 'SET SESSION AUTHORIZATION postgres';
	END $$;
});

# as the owner, with transactions, soon
sql("SET SESSION AUTHORIZATION alice; SELECT add_job('tick', '1 h', job_name => 'Alice ticks')");
becomes($node, "SELECT count(*) = 2 FROM log WHERE who = 'alice alice'", 'a job runs as its owner');
becomes($node, "SELECT last_run_status = 'Success' AND total_runs = 1 AND next_start > now() + interval '50 min' FROM strata.job_stats WHERE job_id = 1000",
	'and is recorded');
cmp_ok(sql("SELECT extract(epoch FROM min(at) - (SELECT initial_start FROM strata.jobs WHERE job_id = 1000)) FROM log"), '<', 30,
	'without delay: not when the launcher looks by itself, each minute');
sql("SET SESSION AUTHORIZATION alice; SELECT add_job('escapes', '1 h')");
becomes($node, "SELECT sqlerrcode = '42501' FROM strata.job_errors WHERE job_id = 1001", 'a job cannot become somebody else');
becomes($node, "SELECT ($processes) = 1", 'idle: one process again');
is($node->safe_psql('postgres', 'SELECT count(*) FROM strata.job_errors', extra_params => [ '-U', 'alice' ]), '1', 'owners see their errors');
sql('CREATE ROLE mallory LOGIN');
is($node->safe_psql('postgres', 'SELECT count(*) FROM strata.job_errors', extra_params => [ '-U', 'mallory' ]), '0', 'others do not');

# settings of the role, and those a job leaves, do not keep its run from being recorded
sql(q{CREATE FUNCTION sets(job_id int, config jsonb) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		SET default_transaction_read_only = on;
		SET default_transaction_isolation = serializable;
		SET search_path = nowhere;
		SET lock_timeout = 1;
	END $$;
	ALTER ROLE alice SET default_transaction_read_only = on});
my $first = sql(q{SET SESSION AUTHORIZATION alice; SET default_transaction_read_only = off; SELECT add_job('sets', '1 h')});
my $second = sql(q{SET SESSION AUTHORIZATION alice; SET default_transaction_read_only = off; SELECT add_job('tick', '1 h')});
becomes($node, "SELECT total_successes = 1 FROM strata.job_stats WHERE job_id = $first", 'a read-only role, a job that changes settings');
becomes($node, "SELECT sqlerrcode = '25006' FROM strata.job_errors WHERE job_id = $second", 'a read-only role, a job that writes');
sql(qq{ALTER ROLE alice RESET default_transaction_read_only; SELECT delete_job($first); SELECT delete_job($second); SELECT setval('_strata.job_id_seq', 1002, false);
	DELETE FROM _strata.job_history WHERE job_id >= 1002});
# a process that is still there has the role's former settings, and would take the next job with them
becomes($node, "SELECT ($processes) = 1", 'its process is gone');

# a row that a dump brought, and no next start can be computed of, holds its job and no other
# (one transaction: the scheduler itself adds what job_stat lacks)
sql(q{BEGIN; INSERT INTO _strata.job SELECT (jsonb_populate_record(j, x)).* FROM _strata.job j, unnest(ARRAY[
		'{"id": 5001, "schedule_interval": "300000 years"}', '{"id": 5002, "schedule_interval": "1 day", "timezone": "Nowhere/Land"}',
		'{"id": 5003, "schedule_interval": "300000 years", "fixed_schedule": false}', '{"id": 5005, "schedule_interval": "1 mon -30 days 1 us"}', '{"id": 5004, "schedule_interval": "300000 years"}']::jsonb[]) x WHERE j.id = 1000;
	INSERT INTO _strata.job_stat (job_id, next_start) VALUES (5001, now()), (5002, now()), (5003, now()), (5005, now());
	INSERT INTO _strata.job_stat (job_id, next_start, running_pid, last_start) VALUES (5004, now(), 99999999, now());
	COMMIT;
	CREATE TABLE beside (at timestamptz);
	CREATE FUNCTION note_beside(int, jsonb) RETURNS void LANGUAGE sql AS 'INSERT INTO public.beside VALUES (clock_timestamp())';
	SELECT add_job('note_beside', '1 s')});
becomes($node, q{SELECT count(*) = 4 FROM _strata.job_stat WHERE job_id IN (5001, 5002, 5003, 5005) AND total_runs = 1 AND next_start = 'infinity' AND running_pid IS NULL},
	'what has no next start is held');
becomes($node, 'SELECT total_crashes = 1 AND running_pid IS NULL FROM _strata.job_stat WHERE job_id = 5004', 'also what was interrupted');
sql('TRUNCATE beside');
becomes($node, 'SELECT count(*) > 2 FROM beside', 'and the others go on');
sql(q{DELETE FROM _strata.job WHERE id >= 5001; DELETE FROM _strata.job_stat WHERE job_id >= 5001; DELETE FROM _strata.job_history WHERE job_id >= 5001;
	SELECT delete_job(job_id) FROM strata.jobs WHERE proc_name = 'note_beside'; SELECT setval('_strata.job_id_seq', 1002, false);
	DELETE FROM _strata.job_history WHERE job_id >= 1002});

# errors, retries, back-off
sql(q{SELECT add_job('fails', '1 h', '{"what": "pump"}', scheduled => false); SELECT alter_job(1002, max_retries => 2, retry_period => '10 ms', scheduled => true)});
becomes($node, 'SELECT total_failures = 3 FROM strata.job_stats WHERE job_id = 1002', 'a failed job is tried again');
becomes($node, q{SELECT next_start > now() + interval '50 min' FROM strata.job_stats WHERE job_id = 1002}, 'max_retries times, then on schedule');
is(sql(q{SELECT DISTINCT sqlerrcode || ' ' || err_message || ' ' || err_hint FROM strata.job_history WHERE job_id = 1002}),
	'22012 broken pump repair it', 'the error is kept');
cmp_ok(sql(q{SELECT extract(epoch FROM min(gap)) FROM (SELECT start_time - lag(finish_time) OVER (ORDER BY id) AS gap FROM strata.job_history WHERE job_id = 1002) s}),
	'>=', 0.99, 'no sooner than a second later');

# max_runtime
sql(q{SELECT add_job('sleeps', '1 h', '{"seconds": 1000}', scheduled => false); SELECT alter_job(1003, max_runtime => '300 ms', scheduled => true)});
becomes($node, q{SELECT sqlerrcode = '57014' AND err_message LIKE '%max_runtime%' AND finish_time - start_time < interval '500 s' FROM strata.job_history WHERE job_id = 1003},
	'max_runtime ends a job');
sql(q{SELECT delete_job(1003)});

# a worker that is terminated
sql(q{SELECT add_job('sleeps', '1 h', '{"seconds": 1000}')});
becomes($node, q{SELECT job_status = 'Running' FROM strata.job_stats WHERE job_id = 1004}, 'a long job runs');
is(sql(q{SELECT next_start IS NULL FROM strata.jobs WHERE job_id = 1004}), 't', 'no next start meanwhile');
becomes($node, q{SELECT count(pg_terminate_backend(pid)) = 1 FROM pg_stat_activity WHERE application_name LIKE '%[1004]'}, 'its process has its name');
becomes($node, q{SELECT total_failures = 1 AND next_start > now() FROM strata.job_stats WHERE job_id = 1004}, 'a terminated worker is a failed run');
is(sql(q{SELECT err_message FROM strata.job_errors WHERE job_id = 1004}), 'job 1004 was interrupted', 'and says so');

# kill -9: the server restarts by itself, the job is not lost
$node->append_conf('postgresql.conf', "restart_after_crash = on\n");
$node->reload;
sql(q{SELECT alter_job(1004, next_start => now())});
becomes($node, q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name LIKE '%[1004]'}, 'it runs again');
my $pid = sql(q{SELECT pid FROM pg_stat_activity WHERE application_name LIKE '%[1004]'});
kill 'KILL', $pid;
becomes($node, q{SELECT total_failures = 2 AND next_start > now() FROM strata.job_stats WHERE job_id = 1004}, 'kill -9 is a failed run');
sql(q{SELECT alter_job(1000, next_start => now())});
becomes($node, 'SELECT total_runs = 2 FROM strata.job_stats WHERE job_id = 1000', 'other jobs go on after the crash');

# restart while a job runs
sql(q{SELECT alter_job(1004, next_start => now())});
becomes($node, q{SELECT count(*) = 1 FROM pg_stat_activity WHERE application_name LIKE '%[1004]'}, 'it runs again');
$node->restart;
becomes($node, q{SELECT total_failures = 3 FROM strata.job_stats WHERE job_id = 1004}, 'a shutdown interrupts a job');
sql('SELECT delete_job(1004); TRUNCATE log; SELECT alter_job(1000, next_start => now())');
becomes($node, 'SELECT count(*) = 2 FROM log', 'jobs run after a restart');

# the launcher comes back
my $launcher = sql(q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'strata launcher'});
sql("SELECT pg_terminate_backend($launcher)");
becomes($node, "SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'strata launcher' AND pid <> $launcher", 'the launcher comes back');

# other databases: with and without the extension, dropped while a job runs
$node->safe_psql('postgres', 'CREATE DATABASE plain');
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', q{CREATE EXTENSION strata;
	CREATE TABLE log (what text);
	CREATE PROCEDURE notes(job_id int, config jsonb) LANGUAGE sql AS $$ INSERT INTO public.log VALUES ('note') $$;
	CREATE FUNCTION sleeps(job_id int, config jsonb) RETURNS void LANGUAGE sql AS $$ SELECT pg_sleep(1000) $$;
	SELECT add_job('notes', '1 h')});
becomes($node, 'SELECT count(*) = 1 FROM log', 'jobs run in a second database', 'other');
becomes($node, "SELECT ($processes) = 1", 'no process stays in it');
$node->safe_psql('postgres', 'DROP DATABASE plain');
$node->safe_psql('other', q{SELECT add_job('sleeps', '1 h')});
becomes($node, q{SELECT job_status = 'Running' FROM strata.job_stats WHERE job_id = 1001}, 'a long job runs there', 'other');
$node->safe_psql('postgres', 'DROP DATABASE other');
is(sql(q{SELECT count(*) FROM pg_database WHERE datname = 'other'}), '0', 'DROP DATABASE ends the jobs of the database');
becomes($node, "SELECT ($processes) = 1", 'nothing is left');

# DROP EXTENSION, and back
$node->safe_psql('postgres', 'CREATE DATABASE third');
$node->safe_psql('third', 'CREATE EXTENSION strata; DROP EXTENSION strata; CREATE EXTENSION strata');

# the pool: more jobs than workers, all run; zero stops the scheduler
# (processes that were started before have the former setting)
sub set_workers
{
	my ($workers) = @_;
	becomes($node, "SELECT ($processes) = 1", 'idle');
	$node->append_conf('postgresql.conf', "strata.max_job_workers = $workers\n");
	$node->reload;
	becomes($node, "SELECT ($processes) = 1", "idle, max_job_workers = $workers");
	return;
}
set_workers(2);
sql(q{TRUNCATE log; CREATE PROCEDURE short(job_id int, config jsonb) LANGUAGE sql AS $$ INSERT INTO public.log (who, what) VALUES (current_user, 'short'); SELECT pg_sleep(0.1) $$;
	GRANT CREATE ON SCHEMA public TO alice});
sql(q{SELECT count(add_job('short', '1 h')) FROM generate_series(1, 20)});
sql(q{SET SESSION AUTHORIZATION alice; SELECT count(add_job('short', '1 h')) FROM generate_series(1, 20)});
becomes($node, q{SELECT count(*) FILTER (WHERE who = 'alice') = 20 AND count(*) = 40 FROM log}, 'more jobs than workers: each runs once');
becomes($node, q{SELECT count(*) = 40 FROM strata.job_stats JOIN strata.jobs USING (job_id) WHERE proc_name = 'short' AND total_runs = 1 AND total_successes = 1}, 'and is recorded');
is(sql(q{SELECT max(n) FROM (SELECT count(*) AS n FROM strata.job_history a JOIN strata.job_history b
	ON b.start_time <= a.start_time AND b.finish_time > a.start_time AND a.proc_name = 'short' AND b.proc_name = 'short' GROUP BY a.id) s}), '2', 'two at a time');
sql(q{SELECT delete_job(job_id) FROM strata.jobs WHERE proc_name = 'short'});
set_workers(0);
sql(q{TRUNCATE log; SELECT add_job('short', '1 h') AS id});
sleep(1);
is(sql('SELECT count(*) FROM log'), '0', 'max_job_workers = 0: nothing runs');
$node->append_conf('postgresql.conf', "strata.max_job_workers = 4\n");
$node->reload;
becomes($node, 'SELECT count(*) = 1 FROM log', 'until it is raised again');

# users' jobs that take long leave a worker to policies
set_workers(3);
sql(q{SELECT count(add_job('sleeps', '1 h', '{"seconds": 600}')) FROM generate_series(1, 3)});
becomes($node, q{SELECT count(*) = 2 FROM pg_stat_activity WHERE wait_event = 'PgSleep'}, 'two of three workers are taken');
my $policies = sql('SELECT total_runs FROM strata.job_stats WHERE job_id = 2');
sql('SELECT alter_job(2, next_start => now())');
becomes($node, "SELECT total_runs > $policies FROM strata.job_stats WHERE job_id = 2", 'the third runs a policy');
is(sql(q{SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'}), '2', 'no user has it');
sql(q{SELECT delete_job(job_id) FROM strata.jobs WHERE proc_name = 'sleeps'; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'});

# nothing of one job is left for the next of the same process
sql(q{CREATE FUNCTION leaves(job_id int, config jsonb) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		IF to_regclass('pg_temp.left_over') IS NOT NULL OR current_setting('work_mem') = '64kB' OR pg_try_advisory_lock(1) IS FALSE
			OR (SELECT count(*) > 1 FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) THEN
			RAISE EXCEPTION 'left over';
		END IF;
		CREATE TEMP TABLE left_over (a int);
		SET work_mem = '64kB';
		PERFORM pg_sleep(0.1);
	END $$});
set_workers(1);
sql(q{SELECT count(add_job('leaves', '1 h')) FROM generate_series(1, 3)});
becomes($node, q{SELECT sum(total_successes) = 3 AND sum(total_failures) = 0 FROM strata.job_stats JOIN strata.jobs USING (job_id) WHERE proc_name = 'leaves'}, 'jobs start clean');
is(sql(q{SELECT count(DISTINCT pid) FROM strata.job_history WHERE proc_name = 'leaves'}), '1', 'in one process');

# work_mem of a job
sql(q{CREATE TABLE memory (n int, mem text); CREATE PROCEDURE remember(job_id int, config jsonb) LANGUAGE plpgsql AS $$
	BEGIN
		COMMIT;
		INSERT INTO memory VALUES ((config->>'n')::int, current_setting('work_mem'));
	END $$});
sql(q{SELECT add_job('remember', '1 h', '{"n": 1, "work_mem": "3MB"}'), add_job('remember', '1 h', '{"n": 2, "work_mem": 2048}'),
	add_job('remember', '1 h', '{"n": 3}'), add_job('remember', '1 h', '{"n": 4, "work_mem": "much"}'), add_job('remember', '1 h', '{"n": 5, "work_mem": [1]}')});
becomes($node, q{SELECT sum(total_runs) = 5 AND count(*) FILTER (WHERE last_run_status IS NULL) = 0 FROM strata.job_stats JOIN strata.jobs USING (job_id) WHERE proc_name = 'remember'}, 'jobs with work_mem run');
is(sql('SELECT string_agg(n || mem, chr(44) ORDER BY n) FROM memory'), '13MB,22MB,3' . sql('SHOW work_mem'), 'each with its own');
is(sql(q{SELECT string_agg(sqlerrcode, ',') FROM strata.job_errors WHERE proc_name = 'remember'}), '22023,22023', 'and what is none is said');

# the owner goes
$node->append_conf('postgresql.conf', "strata.max_job_workers = 4\n");
$node->reload;
sql(q{REVOKE ALL ON log FROM alice; REVOKE CREATE ON SCHEMA public FROM alice; SELECT delete_job(1001)});
isnt($node->psql('postgres', 'DROP ROLE alice'), 0, 'a role that owns jobs is not dropped');
# in another database nobody knows of them
$node->safe_psql('template1', 'DROP ROLE alice');
sql(q{SELECT alter_job(1000, next_start => now())});
becomes($node, q{SELECT err_message LIKE '%could not be started' FROM strata.job_history WHERE job_id = 1000 ORDER BY id DESC LIMIT 1}, 'a job whose owner is gone fails visibly');

# the scheduler is awake whenever jobs change; DROP EXTENSION waits for it, and is no deadlock's victim
my $failed = 0;
for (1 .. 15)
{
	my ($code, undef, $error) = $node->psql('postgres', q{DROP EXTENSION strata CASCADE; CREATE EXTENSION strata; SELECT add_job('short', '1 h')});
	$failed++, diag($error) if $code != 0;
}
is($failed, 0, 'DROP EXTENSION beside the scheduler');

$node->stop;
done_testing();
