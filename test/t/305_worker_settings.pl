# test/t/305_worker_settings.pl
#	  Settings that a database or a role has for its users' sessions: jobs of
#	  the extension do not have them, and those of users are recorded all the
#	  same.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = strata_node('settings');

# this session is not what is tested
$ENV{PGOPTIONS} = '-c session_authorization=postgres -c role=none -c exit_on_error=off -c default_transaction_read_only=off';

sub sql { return $node->safe_psql('postgres', $_[0]); }

my $version = sql(q{SELECT current_setting('server_version_num')::int});

sql(q{
	CREATE EXTENSION strata;
	CREATE ROLE alice LOGIN;
	CREATE ROLE nobody;
	CREATE TABLE h (t timestamptz NOT NULL, v float8);
	SELECT FROM create_hypertable('h', 't', chunk_time_interval => interval '1 day');
	INSERT INTO h SELECT timestamptz '2026-01-01' + i * interval '1 minute', i FROM generate_series(0, 2879) i;
	CREATE FUNCTION nothing(job_id int, config jsonb) RETURNS void LANGUAGE sql AS '';
	CREATE FUNCTION fails(job_id int, config jsonb) RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'broken'; END $$;
	CREATE FUNCTION waits(job_id int, config jsonb) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		FOR i IN 1 .. 3000 LOOP
			EXIT WHEN (SELECT count(*) > 0 FROM pg_catalog.pg_locks WHERE locktype = 'advisory');
			PERFORM pg_catalog.pg_sleep(0.05);
		END LOOP;
	END $$});

my $processes = "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'strata%'";

# of a database
my %settings = (role => 'nobody', session_authorization => 'nobody', exit_on_error => 'on', zero_damaged_pages => 'on', ignore_checksum_failure => 'on');
if ($version >= 170000)
{
	$settings{transaction_timeout} = '300ms';
	$ENV{PGOPTIONS} .= ' -c transaction_timeout=0';
}
sql("ALTER DATABASE postgres SET $_ = '$settings{$_}'") foreach sort keys %settings;
$node->restart;
sql(q{SELECT add_compression_policy('h', interval '1 hour')});
becomes($node, q{SELECT last_run_status IS NOT NULL FROM strata.job_stats WHERE hypertable_name = 'h'}, 'a policy runs');
is(sql(q{SELECT last_run_status, total_failures FROM strata.job_stats WHERE hypertable_name = 'h'}), 'Success|0', 'whatever the database sets');
is(sql('SELECT err_message FROM strata.job_errors'), '', 'and has no errors');
is(sql(q{SELECT bool_and(is_compressed) FROM strata.chunks WHERE hypertable_name = 'h'}), 't', 'it compresses');
becomes($node, 'SELECT count(*) = 0 FROM _strata.space_queue', 'space is given back');
sql("ALTER DATABASE postgres RESET $_") foreach sort keys %settings;

# of the role of a user's job: a run that fails is recorded, not its process lost
sql('ALTER ROLE alice SET exit_on_error = on');
my $job = sql(q{SET SESSION AUTHORIZATION alice; SELECT add_job('fails', '1 h', initial_start => now())});
becomes($node, "SELECT total_failures > 0 FROM strata.job_stats WHERE job_id = $job", 'a job fails');
is(sql("SELECT DISTINCT err_message FROM strata.job_errors WHERE job_id = $job"), 'broken', 'and says what it failed of');
sql("SELECT delete_job($job); ALTER ROLE alice RESET exit_on_error");

# nor is a run that waits for its row to be recorded
becomes($node, "SELECT ($processes) = 1", 'its process is gone');
sql(q{ALTER ROLE alice SET lock_timeout = '1ms'});
sql(q{ALTER ROLE alice SET transaction_timeout = '60s'}) if $version >= 170000;
$job = sql(q{SET SESSION AUTHORIZATION alice; SET lock_timeout = 0; SELECT add_job('waits', '1 h')});
becomes($node, "SELECT job_status = 'Running' FROM strata.job_stats WHERE job_id = $job", 'a job of a role with a lock_timeout runs');
my ($holder, $said) = start_psql($node, qq{BEGIN;
	UPDATE _strata.job_stat SET next_start = next_start WHERE job_id = $job;
	SELECT pg_advisory_lock(1);
	DO \$\$
	BEGIN
		FOR i IN 1 .. 600 LOOP
			PERFORM pg_sleep(0.05), pg_stat_clear_snapshot();
			EXIT WHEN (SELECT count(*) > 0 FROM pg_stat_activity WHERE query = 'recording the run' AND wait_event_type = 'Lock');
		END LOOP;
	END \$\$;
	COMMIT});
$holder->finish;
becomes($node, "SELECT last_run_status IS NOT NULL FROM strata.job_stats WHERE job_id = $job", 'it is recorded');
is(sql("SELECT last_run_status, total_runs, total_failures FROM strata.job_stats WHERE job_id = $job"), 'Success|1|0', 'as what it was');

done_testing();
