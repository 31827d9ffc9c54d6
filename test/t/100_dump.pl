# test/t/100_dump.pl
#	  pg_dump and pg_restore in every format: the rows, the settings and the
#	  access method come back, the companions are not in the dump.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = strata_node('dump');
$node->safe_psql('postgres', 'CREATE EXTENSION strata');
make_twins($node, 't');
grow_twins($node, 't', 10000);
$node->safe_psql('postgres', q{SELECT compress_chunk('t')});
grow_twins($node, 't', 500);
$node->safe_psql('postgres', "$_ WHERE small BETWEEN 10 AND 20")
  foreach ('DELETE FROM t', 'DELETE FROM t_heap');
my $want = content_hash($node, 't');
twins_are_equal($node, 't', 'to be dumped');

my $dir = PostgreSQL::Test::Utils::tempdir();
my $options = "SELECT array_to_string(reloptions, ',') FROM pg_class WHERE relname = 't'";
my $settings = $node->safe_psql('postgres', $options);
like($settings, qr/strata\.segmentby=host/, 'there are settings to keep');

sub hash_in
{
	my ($database) = @_;
	return $node->safe_psql($database,
		'SELECT count(*), sum(hashtextextended(t::text, 0)::numeric) FROM t');
}

# Each way: [name, pg_dump arguments, restore command as a list, after it works?]
my %ways = (
	plain => [ [ '-Fp', '-f', "$dir/plain.sql" ], [ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', "$dir/plain.sql" ] ],
	custom => [ [ '-Fc', '-f', "$dir/custom" ], [ 'pg_restore', '-e', "$dir/custom" ] ],
	directory => [ [ '-Fd', '-j', '2', '-f', "$dir/directory" ], [ 'pg_restore', '-e', '-j', '2', "$dir/directory" ] ],
	tar => [ [ '-Ft', '-f', "$dir/tar" ], [ 'pg_restore', '-e', "$dir/tar" ] ],
	inserts => [ [ '--rows-per-insert=500', '-f', "$dir/inserts.sql" ],
		[ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', "$dir/inserts.sql" ] ],);

foreach my $way (sort keys %ways)
{
	my ($dump, $restore) = @{ $ways{$way} };
	$node->command_ok([ 'pg_dump', '-d', 'postgres', @$dump ], "$way: dump");
	$node->safe_psql('postgres', "CREATE DATABASE restored_$way");
	$node->command_ok([ @$restore, '-d', "restored_$way" ], "$way: restore");
	is(hash_in("restored_$way"), $want, "$way: same rows");
	is($node->safe_psql("restored_$way", $options), $settings, "$way: same settings");
	is( $node->safe_psql("restored_$way", "SELECT amname FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE relname = 't'"),
		'strata', "$way: same access method");
	$node->safe_psql("restored_$way", q{SELECT compress_chunk('t')});
	is(hash_in("restored_$way"), $want, "$way: same rows, compressed again");
}
unlike(slurp_file("$dir/plain.sql"), qr/batch_\d/, 'companions are not in the dump');

# only the rows, into a table that is there and has compressed rows
$node->command_ok([ 'pg_dump', '-d', 'postgres', '--data-only', '-t', 't', '-f', "$dir/data.sql" ], 'data only: dump');
$node->safe_psql('restored_plain', 'TRUNCATE t');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', 'restored_plain', '-f', "$dir/data.sql" ],
	'data only: restore');
is(hash_in('restored_plain'), $want, 'data only: same rows');

# a single table, into a database that has the extension
$node->command_ok([ 'pg_dump', '-d', 'postgres', '-Fc', '-t', 't', '-f', "$dir/table" ], 'one table: dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored_table');
$node->safe_psql('restored_table', 'CREATE EXTENSION strata');
$node->command_ok([ 'pg_restore', '-e', '-d', 'restored_table', "$dir/table" ], 'one table: restore');
is(hash_in('restored_table'), $want, 'one table: same rows');
is($node->safe_psql('restored_table', $options), $settings, 'one table: same settings');

# everything, roles and all
$node->command_ok([ 'pg_dumpall', '-f', "$dir/all.sql", '--exclude-database=restored_*' ], 'pg_dumpall');
my $second = strata_node('second');
$second->command_ok([ 'psql', '-Xq', '-f', "$dir/all.sql", '-d', 'postgres' ], 'pg_dumpall: restore');
is(content_hash($second, 't'), $want, 'pg_dumpall: same rows');

$node->stop;
$second->stop;
done_testing();
