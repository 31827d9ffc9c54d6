# test/t/020_standby.pl
#	  A streaming standby shows the same rows as its primary after every step,
#	  with each replayed page compared to the primary's (wal_consistency_checking),
#	  and works as a primary once promoted.
use strict;
use warnings;

use StrataProtocol;
use StrataTest;
use PostgreSQL::Test::Cluster;
use Test::More;

my $primary = strata_node('primary', "wal_log_hints = on\nwal_consistency_checking = 'all'\nmax_wal_size = 4GB\n", allows_streaming => 1);
$primary->safe_psql('postgres', 'CREATE EXTENSION strata');
make_twins($primary, 't');
$primary->backup('base');

my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

my @steps = (
	[ 'filled', 'SELECT grow_t(10000)' ],
	[ 'compressed', q{SELECT compress_chunk('t')} ],
	[ 'filled again', 'SELECT grow_t(2000)' ],
	[ 'updated', q{UPDATE t SET label = 'x' WHERE small = 5; UPDATE t_heap SET label = 'x' WHERE small = 5} ],
	[ 'deleted', 'DELETE FROM t WHERE small < 20; DELETE FROM t_heap WHERE small < 20' ],
	[ 'rolled back', q{BEGIN; SELECT compress_chunk('t'); ROLLBACK} ],
	[ 'recompressed', q{SELECT compress_chunk('t', recompress => true)} ],
	[ 'vacuumed', 'VACUUM (FREEZE) t' ],
	[ 'column added', 'ALTER TABLE t ADD extra int DEFAULT 7; ALTER TABLE t_heap ADD extra int DEFAULT 7' ],
	[ 'rewritten', 'VACUUM FULL t' ],
	[ 'decompressed', q{SELECT decompress_chunk('t')} ],
	[ 'compressed again', q{SELECT compress_chunk('t')} ],);

foreach my $step (@steps)
{
	my ($what, $sql) = @$step;
	# one statement at a time: VACUUM stands in no transaction block
	$primary->safe_psql('postgres', $_) foreach ($sql =~ /^BEGIN/ || $sql =~ /VACUUM/) ? $sql : split /; /, $sql;
	$primary->wait_for_catchup($standby);
	is(content_hash($standby, 't'), content_hash($primary, 't'), "$what: standby equals primary");
	twins_are_equal($standby, 't', "$what, on the standby");
}
is_sound($primary, 't', 'primary');
is_sound($standby, 't', 'standby');
is($standby->safe_psql('postgres', "SELECT count(*) FROM t WHERE host = 'host_2'"),
	$standby->safe_psql('postgres', "SELECT count(*) FROM t_heap WHERE host = 'host_2'"), 'a query on the standby');

my ($status, undef, $error) = $standby->psql('postgres', q{SELECT decompress_chunk('t')});
isnt($status, 0, 'a standby does not decompress');
like($error, qr/read-only|recovery/, 'and says why');

# VACUUM FULL leaves rows behind that an older snapshot of the standby sees: that snapshot goes, as under VACUUM
$standby->append_conf('postgresql.conf', 'max_standby_streaming_delay = 0');
$standby->reload;
$primary->append_conf('postgresql.conf', 'autovacuum = off');
$primary->reload;
my $conflicts = q{SELECT confl_snapshot FROM pg_stat_database_conflicts WHERE datname = 'postgres'};
foreach my $halves ('rows', 'batches')
{
	grow_twins($primary, 't', 1000);
	$primary->safe_psql('postgres', q{SELECT compress_chunk('t', recompress => true)}) if $halves eq 'batches';
	$primary->wait_for_catchup($standby);
	my $before = $standby->safe_psql('postgres', $conflicts);
	my $reader = StrataProtocol->new($standby);
	$reader->simple('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t_heap');
	$primary->safe_psql('postgres', q{DELETE FROM t WHERE small BETWEEN 800 AND 900; DELETE FROM t_heap WHERE small BETWEEN 800 AND 900});
	$primary->wait_for_catchup($standby);
	is($standby->safe_psql('postgres', $conflicts), $before, "$halves: no conflict by what was deleted");
	$primary->safe_psql('postgres', 'VACUUM FULL t');
	$primary->wait_for_catchup($standby);
	# soon: autovacuum of whatever ends it some day
	ok(wait_until(sub { $standby->safe_psql('postgres', $conflicts) > $before }, 10), "$halves: VACUUM FULL ends older snapshots");
}

$primary->kill9;
$standby->promote;
twins_are_equal($standby, 't', 'promoted');
grow_twins($standby, 't', 1000);
$standby->safe_psql('postgres', q{SELECT compress_chunk('t', recompress => true)});
$standby->safe_psql('postgres', q{DELETE FROM t WHERE small = 500});
$standby->safe_psql('postgres', q{DELETE FROM t_heap WHERE small = 500});
twins_are_equal($standby, 't', 'promoted and changed');
is_sound($standby, 't', 'promoted and changed');
$standby->stop;
done_testing();
