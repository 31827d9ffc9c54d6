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

# dump and restore: users' jobs come along, and do not run into the restore
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
$standby->command_ok([ 'pg_dump', '-p', $standby->port, '-h', $standby->host, '-f', $dump, 'postgres' ], 'dump');
$standby->safe_psql('postgres', 'CREATE DATABASE copy');
$standby->command_ok([ 'psql', '-X', '-v', 'ON_ERROR_STOP=1', '-q', '-p', $standby->port, '-h', $standby->host, '-f', $dump, 'copy' ], 'restore');
is($standby->safe_psql('copy', 'SELECT application_name, schedule_interval, config, owner FROM strata.jobs ORDER BY job_id'),
	$standby->safe_psql('postgres', 'SELECT application_name, schedule_interval, config, owner FROM strata.jobs ORDER BY job_id'), 'same jobs');
becomes($standby, 'SELECT next_start > now() FROM strata.jobs WHERE job_id = 1000', 'the next start is a regular one', 'copy');
is($standby->safe_psql('copy', 'SELECT count(*) FROM log'), $standby->safe_psql('postgres', 'SELECT count(*) FROM log'), 'nothing ran yet');
is($standby->safe_psql('copy', q{SELECT add_job('note', '1 h', scheduled => false)}), '1001', 'ids go on');
$standby->stop;
done_testing();
