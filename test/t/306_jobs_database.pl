# test/t/306_jobs_database.pl
#	  What is done to a database that has jobs: statements that want it for
#	  themselves end these, which are tried again; several at once.
use strict;
use warnings;

use StrataTest;
use IPC::Run ();
use PostgreSQL::Test::Utils;
use Test::More;

my $node = strata_node('database', "fsync = off\nmax_worker_processes = 16\nstrata.max_job_workers = 8\n");
my $directory = PostgreSQL::Test::Utils::tempdir();

sub sql { return $node->safe_psql($_[1] // 'postgres', $_[0]); }

# a database with a job that runs, and soon again when it failed
sub make_busy
{
	my ($name) = @_;
	sql("CREATE DATABASE $name");
	sql(q{CREATE EXTENSION strata;
		CREATE FUNCTION sleeps(int, jsonb) RETURNS void LANGUAGE sql AS 'SELECT pg_sleep(1000)';
		SELECT add_job('sleeps', '1 s')}, $name);
	return is_busy($name, 'a job runs');
}
sub is_busy
{
	my ($name, $what) = @_;
	return becomes($node, q{SELECT job_status = 'Running' FROM strata.job_stats WHERE job_id = 1000}, "$name: $what", $name);
}

make_busy('one');
sql('ALTER DATABASE one RENAME TO uno');
is_busy('uno', 'it was renamed, and the job tried again');
is(sql('SELECT total_failures > 0 FROM strata.job_stats WHERE job_id = 1000', 'uno'), 't', 'the run that was ended has failed');
sql('CREATE DATABASE copy TEMPLATE uno');
is_busy('uno', 'it was copied, and the job tried again');
sql("CREATE TABLESPACE elsewhere LOCATION '$directory'");
sql('ALTER DATABASE uno SET TABLESPACE elsewhere');
is_busy('uno', 'it was moved, and the job tried again');

# several at once: none makes the launcher forget another
make_busy('two');
my @drops = map { my ($handle, $file) = start_psql($node, "DROP DATABASE $_;"); [ $handle, $file ] } qw(uno two copy);
$_->[0]->finish for @drops;
is(join('', map { slurp_file($_->[1]) } @drops), '', 'dropped at once');
is(sql(q{SELECT count(*) FROM pg_database WHERE datname IN ('uno', 'two', 'copy')}), '0', 'and gone');
becomes($node, q{SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type LIKE 'strata%'}, 'nothing is left');

# a process that takes one job after the other keeps nothing of them
sql(q{CREATE EXTENSION strata;
	CREATE TABLE memory (id serial, pid int, used int8);
	CREATE FUNCTION measure(int, jsonb) RETURNS void LANGUAGE sql AS
		$$INSERT INTO public.memory (pid, used) SELECT pg_backend_pid(), sum(used_bytes) FROM pg_backend_memory_contexts WHERE name = 'TopMemoryContext'$$;
	SELECT count(add_job('measure', '1 ms')) FROM generate_series(1, 20)});
becomes($node, 'SELECT max(n) >= 200 FROM (SELECT count(*) AS n FROM memory GROUP BY pid) s', 'many runs of one process');
cmp_ok(sql(q{SELECT min(grown) FROM (SELECT max(used) FILTER (WHERE n > 150) - max(used) FILTER (WHERE n BETWEEN 50 AND 100) AS grown
	FROM (SELECT pid, used, row_number() OVER (PARTITION BY pid ORDER BY id) AS n FROM memory) m GROUP BY pid HAVING count(*) >= 200) s}),
	'<', 100 * 16, 'it keeps nothing of a run');

# jobs whose process could not connect are noted until their database is looked at, and no longer than it is there
$node->append_conf('postgresql.conf', "strata.max_job_workers = 64\nmax_worker_processes = 100\nmax_connections = 150\n");
$node->restart;
sql('CREATE ROLE ghost LOGIN');
my @gone = qw(gone1 gone2 gone3);
sql("CREATE DATABASE $_") for @gone;
sql('CREATE EXTENSION strata', $_) for @gone;
sql(q{CREATE FUNCTION note(int, jsonb) RETURNS void LANGUAGE sql AS 'SELECT';
	SELECT count(add_job('note', '1 h', scheduled => false)) FROM generate_series(1, 40);
	UPDATE _strata.job SET owner = 'ghost' WHERE id >= 1000}, $_) for 'postgres', @gone;
sql('DROP ROLE ghost', 'template1');
for my $name (@gone)
{
	# they are due; a scheduler that wants to record the first of them waits for its row
	sql(q{UPDATE _strata.job SET scheduled = true WHERE id >= 1000; UPDATE _strata.job_stat SET next_start = now() WHERE job_id >= 1000}, $name);
	my ($handle) = start_psql($node, "\\c $name\nBEGIN; SELECT FROM _strata.job_stat FOR UPDATE; SELECT pg_sleep(1000);");
	becomes($node, qq{SELECT count(*) = 1 FROM pg_stat_activity WHERE datname = '$name' AND wait_event = 'PgSleep'}, "$name: rows are locked");
	sql(q{SELECT add_job('note', '1 h', initial_start => now() + interval '1 h')}, $name);
	becomes($node, qq{SELECT count(*) = 1 FROM pg_stat_activity WHERE datname = '$name' AND backend_type = 'strata scheduler' AND wait_event_type = 'Lock'},
		'a scheduler waits for one');
	sql("DROP DATABASE $name WITH (FORCE)");
	$handle->finish;
}
my $id = sql('SELECT max(id) FROM _strata.job');
sql(qq{UPDATE _strata.job SET scheduled = true WHERE id = $id; UPDATE _strata.job_stat SET next_start = now() WHERE job_id = $id;
	SELECT add_job('note', '1 h', initial_start => now() + interval '1 h')});
becomes($node, "SELECT err_message LIKE '%could not be started' FROM strata.job_errors WHERE job_id = $id", 'one of another database is recorded');

$node->stop;
done_testing();
