# test/t/330_jobs_upgrade.pl
#	  ALTER EXTENSION UPDATE under running jobs: it does not wait for them to end,
#	  they end as if nothing had been, and the schedule goes on.
use strict;
use warnings;

use StrataTest;
use Test::More;

my $node = strata_node('jobs_upgrade');

sub sql { return $node->safe_psql('postgres', $_[0]); }

sql(q{
	CREATE EXTENSION strata;
	CREATE TABLE log (what text);
	CREATE TABLE gate (open bool);
	CREATE PROCEDURE tick(job_id int, config jsonb) LANGUAGE sql AS $$ INSERT INTO public.log VALUES ('tick') $$;
	CREATE PROCEDURE waits(job_id int, config jsonb) LANGUAGE plpgsql AS $$ BEGIN
		INSERT INTO public.log VALUES ('begun');
		COMMIT;
		WHILE NOT EXISTS (SELECT FROM public.gate) LOOP PERFORM pg_sleep(0.05); COMMIT; END LOOP;
		INSERT INTO public.log VALUES ('done');
	END $$;
	CREATE FUNCTION holds(job_id int, config jsonb) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
		WHILE NOT EXISTS (SELECT FROM public.gate) LOOP PERFORM pg_sleep(0.05); END LOOP;
	END $$;
	CREATE TABLE m (time timestamptz NOT NULL, v int);
	SELECT create_hypertable('m', 'time', chunk_time_interval => interval '1 day');
	INSERT INTO m SELECT now() - g * interval '1 hour', g FROM generate_series(1, 100) g;
	SELECT add_retention_policy('m', interval '2 days', schedule_interval => interval '1 second');
	SELECT add_job('tick', '1 s');
	SELECT add_job('waits', '1 h');
	SELECT add_job('holds', '1 h');
});
my ($tick, $waits, $holds) = map { sql("SELECT job_id FROM strata.jobs WHERE proc_name = '$_'") } qw(tick waits holds);
becomes($node, "SELECT count(*) = 2 FROM strata.job_stats WHERE job_id IN ($waits, $holds) AND job_status = 'Running'", 'two jobs run');
becomes($node, q{SELECT count(*) >= 2 FROM log WHERE what = 'tick'}, 'a third ticks');

my $next = sql(q{SELECT extversion FROM pg_extension WHERE extname = 'strata'}) . '.next';
sql(qq{SET lock_timeout = '60s'; ALTER EXTENSION strata UPDATE TO '$next'});
is(sql(q{SELECT extversion, _strata.next() FROM pg_extension WHERE extname = 'strata'}), "$next|7", 'the extension is updated');
is(sql("SELECT count(*) FROM strata.job_stats WHERE job_id IN ($waits, $holds) AND job_status = 'Running'"), '2', 'the two jobs run on');
my $ticks = sql(q{SELECT count(*) FROM log WHERE what = 'tick'});
becomes($node, "SELECT count(*) > $ticks + 1 FROM log WHERE what = 'tick'", 'ticking goes on');
sql('INSERT INTO gate VALUES (true)');
becomes($node, "SELECT count(*) = 2 FROM strata.job_stats WHERE job_id IN ($waits, $holds) AND last_run_status = 'Success' AND total_runs = 1 AND total_failures = 0", 'they end well');
is(sql(q{SELECT string_agg(what, ' ' ORDER BY what) FROM log WHERE what <> 'tick'}), 'begun done', 'once');
is(sql(q{SELECT count(*) FROM strata.job_stats WHERE total_failures > 0}), '0', 'no job has failed');
# what is new and what is changed goes on under the new version
my $later = sql(q{SELECT add_job('tick', '1 h', job_name => 'later')});
becomes($node, "SELECT total_successes = 1 FROM strata.job_stats WHERE job_id = $later", 'a new job runs');
sql("SELECT alter_job($tick, scheduled => false); SELECT delete_job($waits)");
is(sql("SELECT count(*) FROM strata.jobs WHERE job_id IN ($tick, $waits) AND scheduled"), '0', 'jobs are altered and deleted');
sql(q{INSERT INTO m VALUES ('2020-01-01', 1)});
becomes($node, q{SELECT count(*) = 0 FROM m WHERE time < now() - interval '4 days'}, 'policies do their work');
# (a shutdown interrupts what runs, and that is an error)
sql("SELECT alter_job(job_id, scheduled => false) FROM strata.jobs WHERE job_id <> $later");
becomes($node, q{SELECT count(*) = 0 FROM strata.job_stats WHERE job_status = 'Running'}, 'nothing runs');
$node->restart;
sql("SELECT alter_job($later, next_start => now())");
becomes($node, "SELECT total_successes = 2 FROM strata.job_stats WHERE job_id = $later", 'and after a restart');
is(sql(q{SELECT count(*) FROM strata.job_errors}), '0', 'without errors');
$node->stop;
done_testing();
