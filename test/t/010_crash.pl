# test/t/010_crash.pl
#	  The server, or the backend that compresses, is killed again and again while
#	  rows come in.  Every transaction writes a strata table and its heap twin,
#	  so after each recovery the two must be equal, and sound.
#	  STRATA_KILLS sets the number of kills of each sort (default 6).
use strict;
use warnings;

use PostgreSQL::Test::Utils;
use StrataTest;
use Test::More;

my $kills = $ENV{STRATA_KILLS} || 6;
my $node = strata_node('crash', "fsync = on\nrestart_after_crash = on\nshared_buffers = 8MB\n");
$node->safe_psql('postgres', 'CREATE EXTENSION strata');
make_twins($node, 't');
# acknowledged: the writer's transactions that it was told were committed
$node->safe_psql('postgres', 'CREATE TABLE progress (n int PRIMARY KEY); SELECT grow_t(20000)');

my $seed = $ENV{STRATA_SEED} || 4711;
srand($seed);
diag("seed $seed, $kills kills of each sort");

my $next = 1;
my $acknowledged = 0;

# One session that adds rows, changes and removes some, and says what was
# committed; another that compresses, recompresses and decompresses.
sub start_load
{
	my $writes = '';
	for my $n ($next .. $next + 5000)
	{
		$writes .= "BEGIN; SELECT grow_t(200); INSERT INTO progress VALUES ($n);\n";
		$writes .= join('', map {
				"UPDATE $_ SET label = 'u$n' WHERE host = 'host_3' AND small = $n % 1000;\n"
			  . "DELETE FROM $_ WHERE host = 'host_5' AND small = ($n * 7) % 1000;\n" } ('t', 't_heap'))
		  if $n % 3 == 0;
		$writes .= "COMMIT;\n\\echo done $n\n";
	}
	my ($writer, $written) = start_psql($node, $writes);
	my ($compressor, $compressed) = start_psql($node,
		"SELECT compress_chunk('t');\nSELECT compress_chunk('t', recompress => true);\nVACUUM t;\n" x 1000
		  . "SELECT decompress_chunk('t');\n");
	return ($writer, $written, $compressor, $compressed);
}

sub compressing_backend
{
	return $node->safe_psql('postgres',
		q{SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT compress_chunk%' LIMIT 1});
}

sub check
{
	my ($what, $written) = @_;
	my ($last) = slurp_file($written) =~ /.*^done (\d+)$/ms;
	$last //= 0;
	ok(wait_until(sub { return $node->psql('postgres', 'SELECT 1') == 0; }), "$what: the server is back");
	my $kept = $node->safe_psql('postgres', 'SELECT coalesce(max(n), 0) FROM progress');
	$acknowledged += $last ? $last - $next + 1 : 0;
	cmp_ok($kept, '>=', $last, "$what: what was acknowledged ($last) is there ($kept)");
	twins_are_equal($node, 't', $what);
	is_sound($node, 't', $what);
	$next = $kept + 1;
	return;
}

foreach my $round (1 .. $kills)
{
	my ($writer, $written, $compressor) = start_load();
	select(undef, undef, undef, 0.3 + rand(1.2));
	my $postmaster = $node->{_pid};
	$node->kill9;
	eval { $writer->finish };
	eval { $compressor->finish };
	# its orphans may hold the shared memory a little longer
	wait_until(sub { return !kill 0, $postmaster; });
	ok(wait_until(sub { return $node->start(fail_ok => 1); }), "round $round: started again");
	check("server killed, round $round", $written);
}

foreach my $round (1 .. $kills)
{
	my ($writer, $written, $compressor, $compressed) = start_load();
	my $pid;
	select(undef, undef, undef, 0.2 + rand(0.6));
	ok(wait_until(sub { return $pid = compressing_backend(); }), "round $round: a backend compresses")
	  or BAIL_OUT("the compressing session said: " . slurp_file($compressed));
	select(undef, undef, undef, rand(0.1));
	kill 'KILL', $pid;
	eval { $writer->finish };
	eval { $compressor->finish };
	like(slurp_file($compressed), qr/server closed the connection/, "round $round: its session was cut off");
	check("backend killed, round $round", $written);
}

cmp_ok($acknowledged, '>', 0, "there was something to lose ($acknowledged transactions acknowledged)");

# and everything still works
$node->safe_psql('postgres', "SELECT compress_chunk('t', recompress => true)");
twins_are_equal($node, 't', 'at the end');
is_sound($node, 't', 'at the end');
$node->stop;
done_testing();
