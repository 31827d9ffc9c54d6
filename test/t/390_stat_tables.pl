# test/t/390_stat_tables.pl
#	  Counters of tables: over a restart, after a crash, when their memory is
#	  full, in several databases, and without the library.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = strata_node('stat', "autovacuum = off\nstrata.max_stat_tables = 5\n");
sub sql { return $node->safe_psql('postgres', $_[0]); }
sub scans { return sql('SELECT string_agg(relname || scans, $$ $$ ORDER BY relname) FROM strata.stat_tables WHERE scans > 0'); }

sql(q{
	CREATE EXTENSION strata;
	CREATE TABLE a (i int) USING strata;
	CREATE TABLE b (i int) USING strata;
	INSERT INTO a SELECT generate_series(1, 5000);
	SET client_min_messages = error;
	SELECT compress_chunk('a');
	SELECT strata.reset_stat_tables();
	SELECT count(*) FROM a;
	SELECT count(*) FROM a;
	SELECT count(*) FROM b;
});
is(scans(), 'a2 b1', 'scans are counted');

my $before = sql('SELECT * FROM strata.stat_tables ORDER BY relid');
$node->restart;
is(sql('SELECT * FROM strata.stat_tables ORDER BY relid'), $before, 'a restart leaves counters as they are');
ok(!-e $node->data_dir . '/pg_stat/strata.stat', 'the file is removed when it has been read');
my $postmaster = $node->{_pid};
$node->kill9;
wait_until(sub { return !kill 0, $postmaster; });
ok(wait_until(sub { return $node->start(fail_ok => 1); }, 300), 'started again');
is(scans(), '', 'after a crash they begin anew');

# a file that is not ours
sql('SELECT count(*) FROM a');
$node->stop;
my $file = $node->data_dir . '/pg_stat/strata.stat';
ok(-s $file, 'there is a file while the server is down');
open(my $out, '>', $file) or die;
print $out 'x' x 1000;
close($out);
$node->start;
is(scans(), '', 'a file that is damaged is ignored');
like(slurp_file($node->logfile), qr/ignoring invalid data in file "pg_stat\/strata.stat"/, 'and the log says so');

# another database has counters of its own
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', 'CREATE EXTENSION strata; CREATE TABLE o (i int) USING strata; SELECT count(*) FROM o');
is($node->safe_psql('other', 'SELECT relname, scans FROM strata.stat_tables'), 'o|1', 'each database sees its own');
is(scans(), '', 'and no others');

# no room: tables that are no more make some
sql("CREATE TABLE t$_ (i int) USING strata; SELECT count(*) FROM t$_") foreach 1 .. 6;
my $n = sql('SELECT count(*) FROM _strata.stat_counters()');
cmp_ok($n, '<', 6, 'more tables than there is room for: not all are counted');
is($node->safe_psql('other', 'SELECT scans FROM strata.stat_tables'), '1', 'others keep theirs');
sql('DROP TABLE ' . join(', ', map { "t$_" } 1 .. 5));
sql('SELECT count(*) FROM a; SELECT count(*) FROM b');
is(scans(), 'a1 b1', 'what was dropped makes room');

# nothing at all
$node->append_conf('postgresql.conf', 'strata.max_stat_tables = 0');
$node->restart;
sql(q{CREATE TABLE h (ts timestamptz NOT NULL); SELECT create_hypertable('h', 'ts')});
is(sql('SELECT count(*) FROM a'), '5000', 'tables are read without counting');
my ($rc, $stdout, $stderr) = $node->psql('postgres', 'SELECT * FROM strata.stat_tables');
like($stderr, qr/ERROR:  tables are not counted: strata.max_stat_tables is 0\nHINT:  ALTER SYSTEM RESET strata.max_stat_tables; then restart the server\./, 'the view says why');

# without the library
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_stat_statements'");
$node->restart;
foreach my $query ('SELECT * FROM strata.stat_tables', 'SELECT * FROM strata.stat_hypertables', 'SELECT strata.reset_stat_tables()')
{
	($rc, $stdout, $stderr) = $node->psql('postgres', $query);
	like($stderr, qr/ERROR:  tables are not counted: strata is not in shared_preload_libraries\nHINT:  ALTER SYSTEM SET shared_preload_libraries = pg_stat_statements, strata; then restart the server\./, "not preloaded: $query");
}
is(sql('SELECT count(*) FROM a; DROP TABLE a'), '5000', 'tables are read, and dropped');
$node->stop;
done_testing();
