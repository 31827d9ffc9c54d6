# test/t/320_jobs_failover.pl
#	  Jobs go over to a promoted standby, with what the primary was doing when
#	  it died.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Cluster;
use Test::More;

my $primary = strata_node('primary', '', allows_streaming => 1);
my $node = $primary;

sub sql { return $node->safe_psql('postgres', $_[0]); }

sql(q{
	CREATE EXTENSION strata;
	CREATE TABLE log (at timestamptz DEFAULT clock_timestamp(), what text);
	CREATE TABLE m (time timestamptz NOT NULL, v int);
	SELECT create_hypertable('m', 'time', chunk_time_interval => interval '1 day');
	INSERT INTO m SELECT '2026-01-01'::timestamptz + g * interval '1 hour', g FROM generate_series(1, 100) g;
	CREATE FUNCTION tick(job_id int, config jsonb) RETURNS void LANGUAGE sql AS $$ INSERT INTO public.log (what) VALUES ('tick') $$;
	CREATE FUNCTION sleeps(job_id int, config jsonb) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM pg_sleep((config->>'seconds')::float8);
	END $$;
});
# (the primary may die while it ticks: then the next one is a retry)
my $tick = sql(q{SELECT add_job('tick', '1 s')});
sql("SELECT alter_job($tick, retry_period => '1 s', max_retries => -1)");
becomes($node, 'SELECT count(*) >= 2 FROM log', 'a job runs on the primary');
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

# what was made after the backup arrives, too
my $policy = sql(q{SELECT add_compression_policy('m', interval '1 day')});
my $long = sql(q{SELECT add_job('sleeps', '1 h', '{"seconds": 1000}')});
becomes($node, "SELECT job_status = 'Running' FROM strata.job_stats WHERE job_id = $long", 'a long job runs');
becomes($node, "SELECT total_successes > 0 FROM strata.job_stats WHERE job_id = $policy", 'and a policy has run');
$primary->wait_for_catchup($standby);
is($standby->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'strata%'}), '0',
	'no process of ours in recovery');

$primary->kill9;
my $before = $standby->safe_psql('postgres', 'SELECT count(*) FROM log');
$standby->promote;
$node = $standby;
becomes($node, "SELECT count(*) > $before + 1 FROM log", 'jobs go on where the standby is promoted');
becomes($node, "SELECT total_failures = 1 FROM strata.job_stats WHERE job_id = $long", 'what the primary was doing is a failed run');
is(sql("SELECT err_message FROM strata.job_errors WHERE job_id = $long"), "job $long was interrupted", 'and says so');
my $runs = sql("SELECT total_successes FROM strata.job_stats WHERE job_id = $policy");
sql("SELECT alter_job($policy, next_start => now())");
becomes($node, "SELECT total_successes > $runs FROM strata.job_stats WHERE job_id = $policy", 'policies, too');

is(sql("SELECT count(*) FROM strata.job_errors WHERE job_id <> $long AND err_message <> 'job $tick was interrupted'"), '0', 'nothing else failed');

$node->stop;
done_testing();
