# test/t/030_pitr.pl
#	  A base backup taken while rows are compressed, and recovery from it to a
#	  point between, and inside, compressions: each time the rows of that moment.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = strata_node('source', "max_wal_size = 1GB\nwal_log_hints = on\nwal_consistency_checking = 'all'\n", has_archiving => 1, allows_streaming => 1);
$node->safe_psql('postgres', 'CREATE EXTENSION strata');
make_twins($node, 't');
grow_twins($node, 't', 5000);

# --- a backup while a session compresses, changes and decompresses
my ($busy, $said) = start_psql($node, join '', map {
		"SELECT compress_chunk('t', recompress => true);\nSELECT grow_t(100);\nSELECT decompress_chunk('t');\n" } 1 .. 12);
$node->backup('base', backup_options => [ '--checkpoint=fast' ]);
$busy->finish;
twins_are_equal($node, 't', 'after the backup');

# --- a history with a name, a position and a hash at each point
my @points;

sub point
{
	my ($name) = @_;
	my $lsn = $node->safe_psql('postgres', "SELECT pg_create_restore_point('$name')");
	push @points, { name => $name, lsn => $lsn, hash => content_hash($node, 't'),
		batches => $node->safe_psql('postgres', q{SELECT count(*), sum(nrows) FROM strata.batches('t')}) };
	return;
}

point('uncompressed');
$node->safe_psql('postgres', q{SELECT compress_chunk('t')});
point('compressed');
grow_twins($node, 't', 1000);
$node->safe_psql('postgres', "$_ WHERE small BETWEEN 10 AND 20") foreach ('DELETE FROM t', 'DELETE FROM t_heap');
point('promoted');
$node->safe_psql('postgres', q{SELECT compress_chunk('t', recompress => true)});
point('recompressed');
$node->safe_psql('postgres', 'VACUUM FULL t');
point('rewritten');
$node->safe_psql('postgres', 'TRUNCATE t, t_heap');
point('truncated');
grow_twins($node, 't', 3000);
$node->safe_psql('postgres', q{SELECT compress_chunk('t')});
point('filled');
$node->safe_psql('postgres', q{SELECT decompress_chunk('t')});
point('decompressed');
$node->safe_psql('postgres', 'DROP TABLE t');
$node->safe_psql('postgres', 'SELECT pg_switch_wal()');

my $number = 0;

sub recover_to
{
	my ($what, $target, $check) = @_;
	my $copy = PostgreSQL::Test::Cluster->new('copy' . ++$number);
	$copy->init_from_backup($node, 'base', has_restoring => 1, standby => 0);
	$copy->append_conf('postgresql.conf', "archive_mode = off\nmax_wal_size = 128MB\nrecovery_target_action = 'promote'\n$target\n");
	$copy->start;
	ok($copy->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()'), "$what: recovered");
	twins_are_equal($copy, 't', $what);
	is_sound($copy, 't', $what);
	$check->($copy);
	$copy->safe_psql('postgres', q{SELECT compress_chunk('t', recompress => true)});
	grow_twins($copy, 't', 500);
	twins_are_equal($copy, 't', "$what, and changed since");
	is($copy->safe_psql('postgres', 'SELECT strata.gc()'), '0', "$what: no orphans");
	$copy->stop;
	# twelve copies of up to a gigabyte, most of it WAL, would otherwise stand side by side
	$copy->clean_node if Test::More->builder->is_passing;
	return;
}

foreach my $point (@points)
{
	recover_to("point '$point->{name}'", "recovery_target_name = '$point->{name}'", sub {
		my ($copy) = @_;
		is(content_hash($copy, 't'), $point->{hash}, "point '$point->{name}': the rows of that moment");
		is($copy->safe_psql('postgres', q{SELECT count(*), sum(nrows) FROM strata.batches('t')}),
			$point->{batches}, "point '$point->{name}': the batches of that moment");
	});
}

# --- somewhere inside what made the next point: a transaction is there whole, or not at all
sub between
{
	my ($from, $to) = @_;
	return $node->safe_psql('postgres', "SELECT '$from'::pg_lsn + ((('$to'::pg_lsn - '$from'::pg_lsn) / 2)::int)");
}

foreach my $i (0, 2, 3, 6)
{
	my ($before, $after) = @points[ $i, $i + 1 ];
	my $lsn = between($before->{lsn}, $after->{lsn});
	recover_to("inside '$after->{name}'", "recovery_target_lsn = '$lsn'", sub {
		my ($copy) = @_;
		is(content_hash($copy, 't'), $before->{hash}, "inside '$after->{name}': the rows from before");
	});
}

$node->stop;
done_testing();
