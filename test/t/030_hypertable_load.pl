# test/t/030_hypertable_load.pl
#	  Eight loaders that need the same and different chunks at once, beside DDL
#	  and ANALYZE: no deadlock, no row lost or twice, no chunk twice.  Then what
#	  happens without free workers and without the library.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $loaders = 8;
my $node = strata_node('hyperload', "max_worker_processes = 6\nmax_connections = 40\n");
my $dir = PostgreSQL::Test::Utils::tempdir();

$node->safe_psql('postgres', q{
	CREATE EXTENSION strata;
	CREATE TABLE device (id int PRIMARY KEY);
	INSERT INTO device SELECT generate_series(0, 20);
	CREATE TABLE m (t bigint NOT NULL, device int REFERENCES device, n int, PRIMARY KEY (device, n, t));
	SELECT create_hypertable('m', 't', chunk_time_interval => 100);
});

# Each loader: transactions of INSERTs and COPYs over times that all loaders
# share and times that only it has.
my @jobs;
foreach my $loader (1 .. $loaders)
{
	my $sql = "SET statement_timeout = '120s';\n";
	foreach my $step (1 .. 25)
	{
		my $shared = $step * 50;
		my $own = 1000000 * $loader + $step * 100;
		$sql .= "BEGIN; INSERT INTO m VALUES ($shared, $loader, $step), ($own, $loader, $step);\n";
		$sql .= "COPY m FROM stdin;\n" . ($shared + 5000) . "\t$loader\t$step\n" . ($own + 50000000) . "\t$loader\t$step\n\\.\n" if $step % 2;
		$sql .= "COMMIT;\n";
	}
	append_to_file("$dir/load$loader.sql", $sql);
	my ($out, $err) = ('', '');
	push @jobs, {
		handle => IPC::Run::start([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-f', "$dir/load$loader.sql" ],
			'>', \$out, '2>', \$err),
		err => \$err };
}
foreach my $i (1 .. 5)
{
	$node->safe_psql('postgres', "CREATE INDEX m_n$i ON m (n)");
	$node->safe_psql('postgres', 'ANALYZE m');
	$node->safe_psql('postgres', "DROP INDEX m_n$i");
}
foreach my $job (@jobs)
{
	ok($job->{handle}->finish, 'loader ends well') or diag(${ $job->{err} });
}
my $log = slurp_file($node->logfile);
unlike($log, qr/deadlock detected/, 'no deadlock');
is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT (t, device, n)) FROM m'),
	$loaders * (25 * 2 + 13 * 2) . '|' . $loaders * (25 * 2 + 13 * 2), 'every row once');
is($node->safe_psql('postgres', q{
	SELECT count(*) FROM m JOIN strata.chunks c ON m.tableoid = (quote_ident(chunk_schema) || '.' || quote_ident(chunk_name))::regclass
	WHERE t < range_start_integer OR t >= range_end_integer}), '0', 'every row in its chunk');
is($node->safe_psql('postgres', q{SELECT count(*) - count(DISTINCT range_start_integer) FROM strata.chunks}), '0', 'no chunk twice');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_class WHERE relname LIKE 'm\_%chunk' AND relkind = 'r' AND NOT relispartition}),
	'0', 'no chunk left unattached');
is($node->safe_psql('postgres', q{
	SELECT count(DISTINCT c) FROM (SELECT count(*) AS c FROM pg_index i JOIN pg_inherits h ON h.inhrelid = i.indrelid
		WHERE h.inhparent = 'm'::regclass GROUP BY indrelid) x}), '1', 'every chunk has the same indexes');

# A cancelled statement takes its worker along.
my ($blocker) = start_psql($node, 'BEGIN; LOCK TABLE m IN SHARE UPDATE EXCLUSIVE MODE; SELECT pg_sleep(1000)');
ok(wait_until(sub { $node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'}) eq '1' }),
	'a chunk cannot be made');
my ($ret, $out, $err) = $node->psql('postgres', "SET statement_timeout = '500ms'; INSERT INTO m VALUES (66666666, 1, 1)");
like($err, qr/canceling statement due to statement timeout/, 'who waits for it can be cancelled');
ok(wait_until(sub { $node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'strata chunk maker'}) eq '0' }),
	'and leaves no worker');
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'});
$blocker->finish;
$node->safe_psql('postgres', 'INSERT INTO m VALUES (66666666, 1, 1)');

# Without the library the guard speaks, and the next statement is served.
$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "''");
$node->restart;
($ret, $out, $err) = $node->psql('postgres', 'INSERT INTO m VALUES (77777777, 1, 1)');
like($err, qr/cannot insert into hypertable "m": this session had not loaded the library strata/, 'no library: INSERT is refused');
like($err, qr/ALTER DATABASE postgres SET session_preload_libraries = 'strata';/, 'with a hint');
($ret, $out, $err) = $node->psql('postgres', "COPY m FROM stdin;\n77777777\t1\t1\n\\.\n");
like($err, qr/had not loaded the library strata/, 'no library: COPY is refused');
$node->safe_psql('postgres', "ALTER DATABASE postgres SET session_preload_libraries = 'strata'");
$node->safe_psql('postgres', 'INSERT INTO m VALUES (77777777, 1, 1)');
is($node->safe_psql('postgres', 'SELECT count(*) FROM m WHERE t = 77777777'), '1', 'session_preload_libraries is enough');

# No worker to be had.
$node->append_conf('postgresql.conf', 'max_worker_processes = 0');
$node->restart;
is($node->safe_psql('postgres', 'INSERT INTO m VALUES (77777778, 1, 1) RETURNING n'), '1', 'no worker needed for a chunk that is there');

$node->stop;
done_testing();
