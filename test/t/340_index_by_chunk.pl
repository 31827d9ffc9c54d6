# test/t/340_index_by_chunk.pl
#	  CREATE INDEX CONCURRENTLY on a hypertable: the server or the session is
#	  killed on the way, writers and new chunks go on beside it, the same command
#	  finishes it; dumps between; through the extended protocol.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = strata_node('index_by_chunk', "fsync = off\nautovacuum = off\nstrata.batch_rows = 100\nmax_worker_processes = 16\nmax_prepared_transactions = 4\n");
$node->safe_psql('postgres', q{
	CREATE EXTENSION strata;
	CREATE ROLE owner LOGIN;
	GRANT ALL ON SCHEMA public TO owner;
	SET ROLE owner;
	CREATE TABLE m (t int NOT NULL, d int, v int);
	SELECT create_hypertable('m', 't', chunk_time_interval => 10000);
	ALTER TABLE m SET (strata.segmentby = 'd', strata.orderby = 't');
	INSERT INTO m SELECT i, i % 10, i FROM generate_series(0, 199999) i;
	SELECT compress_chunk(c) FROM (SELECT c FROM show_chunks('m') c LIMIT 10) x;
});

# valid, chunks without a valid part, indexes that are part of nothing
my $state = q{SELECT (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('%1$s')),
	(SELECT count(*) FROM pg_inherits c WHERE c.inhparent = 'm'::regclass AND NOT EXISTS
		(SELECT FROM pg_inherits x JOIN pg_index i ON i.indexrelid = x.inhrelid AND i.indisvalid WHERE x.inhparent = to_regclass('%1$s') AND i.indrelid = c.inhrelid)),
	(SELECT count(*) FROM pg_inherits c JOIN pg_index i ON i.indrelid = c.inhrelid JOIN pg_class k ON k.oid = i.indexrelid AND NOT k.relispartition WHERE c.inhparent = 'm'::regclass)};
sub state_of { return $node->safe_psql('postgres', sprintf($state, $_[0])); }
# every row is found by the index as without it
sub same_by_index
{
	my ($what) = @_;
	my $query = 'SELECT count(*), sum(t), sum(d) FROM m WHERE v BETWEEN 0 AND 1000000000';
	return is($node->safe_psql('postgres', "SET enable_seqscan = off; $query"), $node->safe_psql('postgres', "SET enable_indexscan = off; SET enable_bitmapscan = off; $query"), "$what: same rows by the index");
}

# runs that end early, of every kind, beside writers
foreach my $round (1 .. 6)
{
	my $per_chunk = $round % 2;
	my $name = "m_v$round";
	my $create = sprintf('CREATE %sINDEX %s IF NOT EXISTS %s ON m (v%s) %s;', $round > 4 ? 'UNIQUE ' : '', $per_chunk ? '' : 'CONCURRENTLY',
		$name, $round > 4 ? ', t' : '', $per_chunk ? 'WITH (strata.transaction_per_chunk)' : '');
	# somebody has written to a chunk, and does not end: so far it gets
	$node->safe_psql('postgres', sprintf("BEGIN; INSERT INTO m VALUES (%d, 1, -1); PREPARE TRANSACTION 'held'", $round * 30000 + 5));
	my ($builder) = start_psql($node, "SET ROLE owner; $create");
	# (it may wait shortly at chunks before, for workers of the server's)
	my $held = $per_chunk ? 'f|17|0' : 'f|17|1';
	ok(wait_until(sub { return $node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%CREATE%INDEX%$name%' AND wait_event_type = 'Lock'") eq '1' && state_of($name) eq $held; }), "$name: begun, and waits");
	# others go on, and make chunks
	$node->safe_psql('postgres', sprintf('INSERT INTO m SELECT i * 1000000, 1, i FROM generate_series(%d, %d) i', $round * 10, $round * 10 + 2));
	is(state_of($name), $held, "$name: chunks before that one, and new ones, have it");
	if ($round <= 3)
	{
		my $postmaster = $node->{_pid};
		$node->kill9;
		eval { $builder->finish };
		wait_until(sub { return !kill 0, $postmaster; });
		ok(wait_until(sub { return $node->start(fail_ok => 1); }, 300), "$name: started again");
	}
	else
	{
		my $function = $round == 4 ? 'pg_cancel_backend' : 'pg_terminate_backend';
		$node->safe_psql('postgres', "SELECT $function(pid) FROM pg_stat_activity WHERE query LIKE '%CREATE%INDEX%$name%' AND pid <> pg_backend_pid()");
		eval { $builder->finish };
	}
	is(state_of($name), $held, "$name: not finished");
	$node->safe_psql('postgres', "ROLLBACK PREPARED 'held'");
	if ($round == 1 || $round == 4)
	{
		# a dump of what is not finished can be restored, and finished there
		my $dump = PostgreSQL::Test::Utils::tempdir() . "/$round.sql";
		$node->command_ok([ 'pg_dump', '-p', $node->port, '-h', $node->host, '-f', $dump, 'postgres' ], "$name: dump");
		$node->safe_psql('postgres', 'CREATE DATABASE copy');
		$node->command_ok([ 'psql', '-X', '-v', 'ON_ERROR_STOP=1', '-q', '-p', $node->port, '-h', $node->host, '-f', $dump, 'copy' ], "$name: restore");
		$node->safe_psql('copy', $create);
		is($node->safe_psql('copy', sprintf($state, $name)) =~ s/\|\d+$//r, 't|0', "$name: finished in the copy");
		$node->safe_psql('postgres', 'DROP DATABASE copy');
	}
	$node->safe_psql('postgres', "SET ROLE owner; $create");
	is(state_of($name), 't|0|0', "$name: finished");
	$node->safe_psql('postgres', "SET ROLE owner; $create");
	same_by_index($name);
	$node->safe_psql('postgres', "SET ROLE owner; DROP INDEX $name");
}

# the extended protocol
my $script = PostgreSQL::Test::Utils::tempdir() . '/extended.sql';
append_to_file($script, "CREATE INDEX CONCURRENTLY extended ON m (v DESC);\nCREATE INDEX extended2 ON m (d) WITH (strata.transaction_per_chunk);\n");
foreach my $mode ('extended', 'prepared')
{
	$node->command_ok([ 'pgbench', '-n', '-t', 1, '-M', $mode, '-U', 'owner', '-p', $node->port, '-h', $node->host, '-f', $script, 'postgres' ], "pgbench -M $mode");
	is(state_of($_), 't|0|0', "$mode: $_") foreach ('extended', 'extended2');
	$node->safe_psql('postgres', 'DROP INDEX extended, extended2');
}

# sessions that all want the same index, while chunks are compressed, dropped and made
my @sessions = map { (start_psql($node, join('', map { "SET ROLE owner; CREATE INDEX CONCURRENTLY IF NOT EXISTS shared$_ ON m (v, d);\n" } 1 .. 5)))[0] } 1 .. 3;
my ($maker) = start_psql($node, "SET ROLE owner;\n" . join('', map { my $t = 20000000 + $_ * 5000; "INSERT INTO m VALUES ($t, 1, $t);\n" } 1 .. 100));
my ($changer) = start_psql($node, "SET ROLE owner;\n" . join('', map { "SELECT compress_chunk('m_${_}0000_chunk', if_not_compressed => true);\nSELECT drop_chunks('m', older_than => ${_}000);\n" } 10 .. 19));
eval { $_->finish } foreach (@sessions, $maker, $changer);
foreach my $i (1 .. 5)
{
	$node->safe_psql('postgres', "SET ROLE owner; CREATE INDEX CONCURRENTLY IF NOT EXISTS shared$i ON m (v, d)");
	is(state_of("shared$i"), 't|0|0', "several sessions: shared$i");
}
same_by_index('several sessions');
$node->stop;
done_testing();
