# test/citus/citus.pl
#	  Strata tables distributed by Citus: one coordinator, two workers.  See
#	  README.md.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $conf = "shared_preload_libraries = 'citus, strata'\nlisten_addresses = '127.0.0.1'\nwal_level = logical\nmax_wal_senders = 10\nmax_replication_slots = 10\nmax_logical_replication_workers = 8\nmax_worker_processes = 24\n"
  . "citus.node_conninfo = 'sslmode=prefer'\nmax_prepared_transactions = 100\nautovacuum = off\nfsync = off\n";
my $node = strata_node('coordinator', $conf);
my @workers = map { strata_node($_, $conf) } qw(one two);

sub sql { return $node->safe_psql('postgres', $_[0]); }
sub error { return ($node->psql('postgres', $_[0]))[2]; }

$_->safe_psql('postgres', 'CREATE EXTENSION citus; CREATE EXTENSION strata') for $node, @workers;
sql(sprintf("SELECT citus_set_coordinator_host('127.0.0.1', %s)", $node->port));
sql(sprintf("SELECT citus_add_node('127.0.0.1', %s)", $_->port)) for @workers;
sql("ALTER SYSTEM SET citus.shard_count = 4; SELECT pg_reload_conf()");

my $columns = 'ts timestamptz NOT NULL, host int NOT NULL, usage float8, note text';
my $rows = q{SELECT '2026-01-01'::timestamptz + i * interval '1 minute', i % 10, i % 100 / 8.0, 'row ' || i % 5 FROM generate_series(0, 17 * 720 - 1) AS i};
my $late = q{SELECT '2026-01-01 00:00:01'::timestamptz + i * interval '20 minutes', i % 10, i, 'late' FROM generate_series(0, 600) AS i};
sql("CREATE TABLE h ($columns) USING heap; INSERT INTO h $rows; INSERT INTO h $late");

# the query's rows are those of a local heap table
sub same
{
	my ($table, $query, $what) = @_;
	my ($far, $heap) = map { my $name = $_; $query =~ s/\bTABLE\b/$name/gr } ($table, 'h');
	return is(sql($far), sql($heap), "$table: $what");
}

sub on_shards
{
	my ($table, $command) = @_;
	return is(sql("SELECT coalesce(string_agg(result, ' '), '') FROM run_command_on_shards('$table', \$\$$command\$\$) WHERE NOT success"), '',
		"$table: $command");
}

sub looks_like_heap
{
	my ($table) = @_;
	same($table, 'SELECT count(*), sum(usage), min(ts), max(note) FROM TABLE', 'all rows');
	same($table, 'SELECT host, count(*), avg(usage) FROM TABLE GROUP BY host ORDER BY host', 'by the distribution column');
	same($table, q{SELECT time_bucket('6 hours', ts) AS b, count(*), max(usage) FROM TABLE GROUP BY b ORDER BY b}, 'by bucket');
	same($table, q{SELECT host, last(usage, ts) FROM TABLE GROUP BY host ORDER BY host}, 'last');
	same($table, 'SELECT * FROM TABLE WHERE host = 3 ORDER BY ts DESC LIMIT 5', 'the latest');
	return;
}

# A plain table
sql("CREATE TABLE plain ($columns) USING strata; ALTER TABLE plain SET (strata.segmentby = 'host', strata.orderby = 'ts')");
sql("SELECT create_distributed_table('plain', 'host')");
# A hypertable: its chunks are made on the coordinator
sql("CREATE TABLE m ($columns); SELECT create_hypertable('m', 'ts', chunk_time_interval => interval '12 hours')");
sql("ALTER TABLE m SET (strata.segmentby = 'host', strata.orderby = 'ts')");
is(sql("SELECT count(*) FROM pg_trigger WHERE tgrelid = 'm'::regclass"), '0', 'a hypertable has no trigger');
sql("SELECT create_distributed_table('m', 'host')");
sql("SELECT create_chunks('m', '2026-01-01'::timestamptz, '2026-01-11'::timestamptz)");

for my $table (qw(plain m))
{
	sql("INSERT INTO $table $rows");
	on_shards($table, "SELECT compress_chunk('%s')");
	sql("INSERT INTO $table $late");
	looks_like_heap($table);
	on_shards($table, "SELECT 1 / (count(*) = 0)::int FROM strata.verify('%s')");
	like(error("SELECT compress_chunk('$table')"), qr/table "$table" is distributed/, "$table: the shell is refused");
}
sql("COPY m FROM stdin;\n2026-01-02\t1\t1\tcopied\n\\.\n");
sql("DELETE FROM m WHERE note = 'copied' AND host = 1");
sql("UPDATE $_ SET usage = usage + 1 WHERE host IN (2, 5) AND ts < '2026-01-02'") for qw(plain m h);
sql("DELETE FROM $_ WHERE host = 7 AND ts > '2026-01-03'") for qw(plain m h);
looks_like_heap($_) for qw(plain m);

# Shards move: by COPY while writers wait, and by logical replication
for my $mode ('block_writes', 'force_logical')
{
	sql("ALTER TABLE plain REPLICA IDENTITY FULL; ALTER TABLE m REPLICA IDENTITY FULL");
	sql(sprintf("SELECT citus_move_shard_placement(shardid, nodename, nodeport, '127.0.0.1',
			CASE nodeport WHEN %s THEN %s ELSE %s END, shard_transfer_mode := '%s')
		FROM citus_shards WHERE table_name = 'm'::regclass ORDER BY shardid LIMIT 1",
		$workers[0]->port, $workers[1]->port, $workers[0]->port, $mode));
	looks_like_heap('m');
	my $chunks = sql(q{SELECT string_agg(DISTINCT result, ' ') FROM run_command_on_shards('m',
		$$SELECT count(*) FILTER (WHERE pg_total_relation_size(strata.batch_relation(inhrelid)) > 0) || '/' || count(*) FROM pg_inherits WHERE inhparent = '%s'::regclass$$)});
	is($chunks, '0/20 17/20', "$mode: the shard that moved is of rows, until it is compressed there");
	on_shards('m', "SELECT compress_chunk('%s')");
	looks_like_heap('m');
}

done_testing();
