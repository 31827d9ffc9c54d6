# test/t/012_crash_locks.pl
#	  The server is killed while rows of batches are locked at full speed and
#	  others commit, so that the log ends between a lock entry and its place in
#	  the index, sooner or later.  What is left must be an entry or none: the rows
#	  can be locked again, the companion's indexes made anew, its batches replaced.
use strict;
use warnings;

use PostgreSQL::Test::Utils;
use StrataTest;
use Test::More;

my $kills = $ENV{STRATA_KILLS} || 4;
my $node = strata_node('crash_locks', "fsync = off\nautovacuum = off\nstrata.batch_rows = 100\n");
$node->safe_psql('postgres', q{
	CREATE EXTENSION strata;
	CREATE TABLE l (id int, v int) USING strata;
	ALTER TABLE l SET (strata.orderby = 'id');
	INSERT INTO l SELECT i, 0 FROM generate_series(1, 60000) i;
	SELECT compress_chunk('l');
	CREATE TABLE ticks (n int);
});

my $all_again = q{
	BEGIN; SELECT count(*) FROM (SELECT FROM l FOR KEY SHARE) x; COMMIT;
	BEGIN; UPDATE l SET v = v + 1 WHERE id % 100 = 0; ROLLBACK;
};
foreach my $round (1 .. $kills)
{
	my ($locker) = start_psql($node, 'BEGIN; SELECT count(*) FROM (SELECT FROM l FOR KEY SHARE) x; SELECT pg_sleep(60);');
	my ($ticker) = start_psql($node, "INSERT INTO ticks VALUES (1);\n" x 20000);
	select(undef, undef, undef, 0.05 + rand(0.3));
	my $postmaster = $node->{_pid};
	$node->kill9;
	eval { $_->finish } foreach ($locker, $ticker);
	wait_until(sub { return !kill 0, $postmaster; });
	ok(wait_until(sub { return $node->start(fail_ok => 1); }, 300), "round $round: started again");
	$node->safe_psql('postgres', $all_again);
	my $companion = $node->safe_psql('postgres', "SELECT strata.batch_relation('l')");
	is($node->psql('postgres', "REINDEX TABLE $companion"), 0, "round $round: the companion's indexes can be made anew");
	is_sound($node, 'l', "round $round");
	is($node->psql('postgres', $round % 2 ? "ALTER TABLE l SET (strata.codec_level = '" . ($round % 4 == 1 ? 'hot' : 'balanced') . "')" : 'VACUUM FULL l'), 0,
		"round $round: changed");
	$node->safe_psql('postgres', "SELECT compress_chunk('l', recompress => true)");
	is_sound($node, 'l', "round $round, batches replaced");
	is($node->safe_psql('postgres', 'SELECT count(*), sum(id), sum(v) FROM l'), '60000|1800030000|0', "round $round: same rows");
}
$node->stop;
done_testing();
