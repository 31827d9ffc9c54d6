# test/t/435_parallel_rows.pl
#	  Workers read the row store by columns while others append to its pages,
#	  change and delete its rows, prune and compress them: sums that every
#	  transaction keeps are what every reader finds.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = strata_node('parallel_rows', "fsync = off\nautovacuum = off\nstrata.batch_rows = 100\nmax_worker_processes = 16\n");
$node->safe_psql('postgres', q{
	CREATE EXTENSION strata;
	CREATE TABLE m (t int NOT NULL, d text, v int);
	SELECT create_hypertable('m', 't', chunk_time_interval => 10000);
	ALTER TABLE m SET (strata.segmentby = 'd', strata.orderby = 't');
	INSERT INTO m SELECT i, 'd' || i % 5, i % 100 FROM generate_series(0, 29999) i;
	SELECT compress_chunk(c) FROM (SELECT c FROM show_chunks('m') c LIMIT 2) x;
	INSERT INTO m SELECT i * 3, 'd' || i % 5, i % 100 FROM generate_series(0, 9999) i;
});
my ($rows, $sum) = split /\|/, $node->safe_psql('postgres', 'SELECT count(*), sum(v) FROM m');

my $dir = PostgreSQL::Test::Utils::tempdir();
sub script
{
	my ($name, $sql) = @_;
	PostgreSQL::Test::Utils::append_to_file("$dir/$name", $sql);
	return "$dir/$name";
}
# as many rows as before, whose sum is the same
my $write = script('write', q{
\set a random(0, 29999)
\set b random(0, 29999)
BEGIN;
INSERT INTO m SELECT i, 'd' || i % 5, 1000 FROM generate_series(:a, :a + 40) AS i WHERE i < 30000;
INSERT INTO m SELECT i, 'new', -1000 FROM generate_series(:a, :a + 40) AS i WHERE i < 30000;
DELETE FROM m WHERE t BETWEEN :a AND :a + 40 AND v IN (1000, -1000);
UPDATE m SET v = v + 7 WHERE t = :b;
UPDATE m SET v = v - 7 WHERE t = :b;
COMMIT;
});
my $undo = script('undo', q{
\set a random(0, 29999)
BEGIN;
INSERT INTO m SELECT i, 'd' || i % 5, 1 FROM generate_series(:a, :a + 200) AS i WHERE i < 30000;
DELETE FROM m WHERE t BETWEEN :a AND :a + 20;
ROLLBACK;
});
my $parallel = join '', map { "SET $_;\n" } 'max_parallel_workers_per_gather = 2', 'parallel_setup_cost = 0',
	'parallel_tuple_cost = 0', 'min_parallel_table_scan_size = 0', 'parallel_leader_participation = off';
my $read = script('read', $parallel . sprintf(q{
SELECT 1 / (count(*) = %1$d AND sum(v) = %2$d)::int FROM m;
SELECT 1 / (sum(n) = %1$d AND sum(v) = %2$d)::int FROM (SELECT d, count(*) AS n, sum(v) AS v FROM m WHERE d LIKE 'd%%' OR d = 'new' GROUP BY d) AS g;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) AS n, sum(v) AS v FROM m WHERE d <> 'd3' AND t > 5000 \gset a_
SELECT 1 / (count(*) = :a_n AND sum(v) = :a_v)::int FROM m WHERE d <> 'd3' AND t > 5000;
COMMIT;
}, $rows, $sum));
my $tidy = script('tidy', q{
SELECT compress_chunk(c) FROM show_chunks('m') AS c ORDER BY random() LIMIT 1;
VACUUM m;
});

my ($name, $port, $host) = ($node->name, $node->port, $node->host);
my @pgbench = ('pgbench', '-n', '-h', $host, '-p', $port, '-U', 'postgres', 'postgres', '--max-tries=1000', '-T', $ENV{SECONDS_EACH} // 8);
my @runs;
foreach my $run ([$write, 2], [$undo, 1], [$read, 2], [$tidy, 1])
{
	my ($out, $err) = ('', '');
	push @runs, { out => \$out, err => \$err, script => $run->[0],
		handle => IPC::Run::start([ @pgbench, '-c', $run->[1], '-f', $run->[0] ], '<', \undef, '>', \$out, '2>', \$err) };
}
foreach my $run (@runs)
{
	my $script = ($run->{script} =~ s{.*/}{}r);
	ok(IPC::Run::finish($run->{handle}), "$script: to the end") or diag ${ $run->{err} };
	my ($done) = ${ $run->{out} } =~ /actually processed: (\d+)/;
	cmp_ok($done // 0, '>', 0, "$script: something was done");
	note "$script: $done transactions";
}
is($node->safe_psql('postgres', 'SELECT count(*), sum(v) FROM m'), "$rows|$sum", 'the same rows at the end');
is($node->safe_psql('postgres', "SELECT count(*) FROM show_chunks('m') AS c, strata.verify(c) AS v"), '0', 'sound');
$node->stop;
done_testing();
