# test/t/001_basic.pl
#	  A table goes through its life: made, filled, compressed, changed,
#	  recompressed, decompressed, rewritten, dropped; always equal to its heap twin.
use strict;
use warnings;

use StrataTest;
use Test::More;

my $node = strata_node('basic');
$node->safe_psql('postgres', 'CREATE EXTENSION strata');
make_twins($node, 't');

sub scalar_of { return $node->safe_psql('postgres', $_[0]); }

# Both tables get the same change.
sub change
{
	my ($sql) = @_;
	foreach my $table ('t', 't_heap')
	{
		(my $statement = $sql) =~ s/\bTABLE_NAME\b/$table/g;
		$node->safe_psql('postgres', $statement);
	}
	return;
}

is(scalar_of("SELECT amname FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE relname = 't'"),
	'strata', 'the table uses the access method');
is(scalar_of("SELECT strata.batch_relation('t') IS NULL"), 't', 'no companion before the first compression');

grow_twins($node, 't', 20000);
twins_are_equal($node, 't', 'before compression');

my $before = scalar_of("SELECT pg_total_relation_size('t')");
is(scalar_of("SELECT compress_chunk('t')"), 't', 'compress_chunk returns the table');
isnt(scalar_of("SELECT strata.batch_relation('t')"), '', 'a companion');
cmp_ok(scalar_of("SELECT count(*) FROM strata.batches('t')"), '>=', 20, 'batches');
twins_are_equal($node, 't', 'compressed');
is_sound($node, 't', 'compressed');

scalar_of('VACUUM t');
cmp_ok(scalar_of("SELECT pg_total_relation_size('t') + pg_total_relation_size(strata.batch_relation('t'))"),
	'<', $before / 2, 'less than half the space after VACUUM');
twins_are_equal($node, 't', 'vacuumed');

grow_twins($node, 't', 500);
change("UPDATE TABLE_NAME SET usage = 1e300, label = 'changed' WHERE small = 17");
change("DELETE FROM TABLE_NAME WHERE small BETWEEN 100 AND 120");
change("ALTER TABLE TABLE_NAME ADD COLUMN extra int DEFAULT 42");
change("ALTER TABLE TABLE_NAME DROP COLUMN amount");
twins_are_equal($node, 't', 'changed after compression');
is_sound($node, 't', 'changed after compression');

scalar_of("SELECT compress_chunk('t', recompress => true)");
twins_are_equal($node, 't', 'recompressed');
is_sound($node, 't', 'recompressed');

$node->restart;
twins_are_equal($node, 't', 'after a restart');

$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "''");
$node->restart;
twins_are_equal($node, 't', 'library not preloaded');

change("VACUUM FULL TABLE_NAME");
twins_are_equal($node, 't', 'after VACUUM FULL');
change("ALTER TABLE TABLE_NAME ALTER COLUMN small TYPE int8");
twins_are_equal($node, 't', 'after ALTER TYPE');
scalar_of("SELECT compress_chunk('t')");
is_sound($node, 't', 'compressed again');

scalar_of("SELECT decompress_chunk('t')");
twins_are_equal($node, 't', 'decompressed');
is(scalar_of("SELECT count(*) FROM strata.batches('t')"), '0', 'no batches left');

scalar_of("SELECT compress_chunk('t')");
change('TRUNCATE TABLE_NAME');
twins_are_equal($node, 't', 'truncated');
grow_twins($node, 't', 1000);
twins_are_equal($node, 't', 'filled again');
scalar_of("SELECT compress_chunk('t')");
scalar_of('ALTER TABLE t SET ACCESS METHOD heap');
twins_are_equal($node, 't', 'made a heap table');
scalar_of('ALTER TABLE t SET ACCESS METHOD strata');
scalar_of("SELECT compress_chunk('t')");
twins_are_equal($node, 't', 'made a strata table again');

scalar_of('DROP TABLE t, t_heap CASCADE');
is( scalar_of("SELECT count(*) FROM pg_class WHERE relnamespace = '_strata'::regnamespace AND relname ~ '^batch_'"),
	'0', 'dropping the table drops its companion');
scalar_of('DROP EXTENSION strata CASCADE');

$node->stop;
done_testing();
