# test/t/305_jobs_share.pl
#	  Roles and databases share the workers: short jobs of one, without end, and
#	  owners' code that hangs, keep nobody else's jobs from running.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = strata_node('share', "strata.max_job_workers = 2\n");

sub sql { return $node->safe_psql($_[1] // 'postgres', $_[0]); }

my $jobs = q{
	CREATE EXTENSION strata;
	CREATE FUNCTION short(int, jsonb) RETURNS void LANGUAGE sql AS 'SELECT pg_sleep(0.2)';
	CREATE FUNCTION note(int, jsonb) RETURNS void LANGUAGE sql AS 'SELECT';
};
sql($jobs);
sql('CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN; CREATE DATABASE second');
sql($jobs, 'second');

# alice always has more jobs due than there are workers
sql(q{SET SESSION AUTHORIZATION alice; SELECT count(add_job('short', '1 ms')) FROM generate_series(1, 6)});
my $alice = 'SELECT sum(total_runs) FROM strata.job_stats JOIN strata.jobs USING (job_id) WHERE owner = $$alice$$::regrole';
becomes($node, "SELECT ($alice) > 6", 'one role takes all workers');
my $bob = sql(q{SET SESSION AUTHORIZATION bob; SELECT add_job('note', '1 s')});
my $other = sql(q{SELECT add_job('note', '1 s')}, 'second');
becomes($node, "SELECT total_successes > 3 FROM strata.job_stats WHERE job_id = $bob", 'those of another run all the same');
becomes($node, "SELECT total_successes > 3 FROM strata.job_stats WHERE job_id = $other", 'and those of another database', 'second');
my $runs = sql($alice);
becomes($node, "SELECT ($alice) > $runs + 6", 'the first role goes on');
sql('SELECT delete_job(job_id) FROM strata.jobs WHERE job_id >= 1000', $_) for ('postgres', 'second');
becomes($node, q{SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type LIKE 'strata%'}, 'nothing is left to do');

# that jobs wait for a worker is said of their database, and no other one's forget it
sql(q{CREATE FUNCTION sleeps(int, jsonb) RETURNS void LANGUAGE sql AS 'SELECT pg_sleep(1000)';
	SELECT count(add_job('sleeps', '1 h')) FROM generate_series(1, 3)});
my $since = 'SELECT starved_since FROM _strata.scheduler_state()';
becomes($node, "SELECT ($since) IS NOT NULL", 'a job finds no worker');
my $was = sql($since);
is(sql($since, 'second'), '', 'none waits in another database');
# what a dump brought gets its next start by a look at the jobs
sql(q{INSERT INTO _strata.job SELECT (jsonb_populate_record(j, '{"id": 5001}')).* FROM _strata.job j WHERE j.id = 1;
	SELECT add_job('note', '1 h', initial_start => now() + interval '1 h')}, 'second');
becomes($node, 'SELECT count(*) = 1 FROM _strata.job_stat WHERE job_id = 5001', 'there the jobs are looked at', 'second');
is(sql($since), $was, 'and the first still waits');

$node->stop;
done_testing();
