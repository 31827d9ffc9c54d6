# test/t/310_jobs_copy.pl
#	  Jobs on a standby, after promotion, and through dump and restore.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = strata_node('jobs_primary', '', allows_streaming => 1);
$primary->safe_psql('postgres', q{
	CREATE EXTENSION strata;
	CREATE TABLE log (at timestamptz DEFAULT clock_timestamp(), port text);
	CREATE PROCEDURE note(job_id int, config jsonb) LANGUAGE sql AS $$ INSERT INTO public.log (port) VALUES (current_setting('port')) $$;
	SELECT add_job('note', '1 h', '{"a": 1}', timezone => 'Europe/Berlin', job_name => 'Notes');
});
becomes($primary, 'SELECT total_successes = 1 FROM strata.job_stats WHERE job_id = 1000', 'the job runs on the primary');
$primary->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('jobs_standby');
$standby->init_from_backup($primary, 'copy', has_streaming => 1);
$standby->start;
$primary->wait_for_catchup($standby);
is($standby->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'strata%'"), '0', 'no process on a standby');
like($standby->safe_psql('postgres', 'SELECT application_name FROM strata.jobs WHERE job_id = 1000'), qr/Notes/, 'but the views');
$primary->safe_psql('postgres', q{SELECT alter_job(1000, next_start => now())});
becomes($primary, 'SELECT total_successes = 2 FROM strata.job_stats WHERE job_id = 1000', 'it runs again on the primary');
$primary->wait_for_catchup($standby);
$primary->stop;
$standby->promote;
$standby->safe_psql('postgres', q{SELECT alter_job(1000, next_start => now())});
becomes($standby, 'SELECT total_successes = 3 FROM strata.job_stats WHERE job_id = 1000', 'after promotion it runs');
is($standby->safe_psql('postgres', sprintf("SELECT count(*) FROM log WHERE port = '%d'", $standby->port)), '1', 'there');

# dump and restore: users' jobs come along, and do not run into the restore; policies start when it is over, as do jobs without
# a fixed schedule
$standby->safe_psql('postgres', q{
	CREATE TABLE m (ts timestamptz NOT NULL, v int);
	SELECT create_hypertable('m', 'ts', chunk_time_interval => interval '12 hours');
	SELECT add_retention_policy('m', interval '100 years', schedule_interval => interval '20 h');
	SELECT add_job('note', '10 h', fixed_schedule => false, initial_start => now() + interval '10 h');
});
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
$standby->command_ok([ 'pg_dump', '-p', $standby->port, '-h', $standby->host, '-f', $dump, 'postgres' ], 'dump');
$standby->safe_psql('postgres', 'CREATE DATABASE copy');
my $restore = IPC::Run::start([ $standby->installed_command('psql'), '-X', '-v', 'ON_ERROR_STOP=1', '-q', '-d', $standby->connstr('copy'),
	'-f', $dump, '-c', 'SELECT pg_sleep(3600)' ], '>', \my $said, '2>&1');
my $at_end = q{FROM pg_stat_activity WHERE datname = 'copy' AND query LIKE 'SELECT pg_sleep%'};
becomes($standby, "SELECT count(*) = 1 $at_end", 'restored, and the session goes on');
is($standby->safe_psql('copy', 'SELECT application_name, schedule_interval, config, owner FROM strata.jobs ORDER BY job_id'),
	$standby->safe_psql('postgres', 'SELECT application_name, schedule_interval, config, owner FROM strata.jobs ORDER BY job_id'), 'same jobs');
becomes($standby, 'SELECT next_start > now() FROM strata.jobs WHERE job_id = 1000', 'the next start is a regular one', 'copy');
is($standby->safe_psql('copy', 'SELECT count(*) FROM log'), $standby->safe_psql('postgres', 'SELECT count(*) FROM log'), 'nothing ran yet');
my $regular = 'SELECT count(*) = 2 AND min(next_start) > now() + interval \'5 h\' FROM strata.job_stats WHERE job_id IN (1001, 1002)';
becomes($standby, $regular, 'nor is anything about to', 'copy');
is($standby->safe_psql('copy', q{SELECT add_job('note', '1 h', scheduled => false)}), '1003', 'ids go on');
is($standby->safe_psql('copy', $regular), 't', 'whatever wakes the scheduler');
$standby->safe_psql('postgres', "SELECT pg_terminate_backend(pid) $at_end");
$restore->finish;
becomes($standby, "SELECT NOT EXISTS (SELECT $at_end)", 'the restore ends');
$standby->safe_psql('copy', 'SELECT delete_job(1003)');
becomes($standby, 'SELECT count(*) = 2 AND max(next_start) < now() + interval \'2 minutes\' FROM strata.job_stats WHERE job_id IN (1001, 1002)',
	'a policy, and a job without a fixed schedule, start soon', 'copy');
is($standby->safe_psql('copy', 'SELECT next_start > now() AND next_start = initial_start + interval \'1 h\' * ceil(extract(epoch FROM next_start - initial_start) / 3600) FROM strata.jobs WHERE job_id = 1000'),
	't', 'a fixed schedule is kept');
$standby->stop;
done_testing();
