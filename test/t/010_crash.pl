# test/t/010_crash.pl
#	  The server, the backend that does maintenance, or one that writes, is killed
#	  again and again, at any instant, while rows come in, are changed, upserted
#	  and locked, and the tables are compressed, recompressed, decompressed,
#	  vacuumed, rewritten and altered.  Every transaction writes a strata table and
#	  its heap twin, so after each recovery the two must be equal, and sound; every
#	  transaction that was acknowledged must be there.
#	  STRATA_KILLS sets the number of kills of each sort (default 4).
use strict;
use warnings;

use List::Util qw(max);
use PostgreSQL::Test::Utils;
use StrataTest;
use Test::More;

my $kills = $ENV{STRATA_KILLS} || 4;
# Without wal_log_hints redo with wal_consistency_checking stops at VACUUM's mark on a page of a table, any table, that is
# dropped further on: the check takes the page, of a file that redo has just made of zeros, for an invalid one.
my $node = strata_node('crash', "wal_log_hints = on\nfsync = on\nrestart_after_crash = on\nshared_buffers = 8MB\nwal_consistency_checking = 'all'\n"
	  . "deadlock_timeout = 100ms\n");
$node->safe_psql('postgres', 'CREATE EXTENSION strata');
make_twins($node, 't');
$node->safe_psql('postgres', q{
	CREATE TABLE progress (writer text, n int, PRIMARY KEY (writer, n));
	SELECT grow_t(20000);
	-- with a key, for upserts
	CREATE TABLE k (id int PRIMARY KEY, v int, pad text) USING strata;
	CREATE TABLE k_heap (id int PRIMARY KEY, v int, pad text) USING heap;
	ALTER TABLE k SET (strata.orderby = 'id');
	INSERT INTO k SELECT i, 0, md5(i::text) FROM generate_series(1, 20000) i;
	INSERT INTO k_heap SELECT * FROM k;
});

my $seed = $ENV{STRATA_SEED} || 4711;
srand($seed);
diag("seed $seed, $kills kills of each sort");

my %next = (t => 1, k => 1);
my $acknowledged = 0;
my %interrupted;

# The same statements for a table and its twin.
sub both
{
	my ($table, $sql) = @_;
	return join '', map { (my $s = "$sql;") =~ s/TABLE_NAME/$_/g; $s } ($table, "${table}_heap");
}

# Transactions that say "done <table> <n>" once they are committed, and not otherwise.
sub transactions
{
	my ($table, $body) = @_;
	my $sql = '';
	foreach my $n ($next{$table} .. $next{$table} + 2000)
	{
		$sql .= "BEGIN; " . $body->($n) . " INSERT INTO progress VALUES ('$table', $n); COMMIT;\n"
		  . "SELECT 'done', writer, n FROM progress WHERE writer = '$table' AND n = $n;\n";
	}
	return $sql;
}

sub changes_of_t
{
	my ($n) = @_;
	my $key = ($n * 7) % 1000;
	return "SELECT grow_t(200);" if $n % 3;
	return both('t', "UPDATE TABLE_NAME SET label = 'u$n' WHERE host = 'host_3' AND small = $key")
	  . both('t', "DELETE FROM TABLE_NAME WHERE host = 'host_5' AND small = $key")
	  # rows of many batches, those of one together
	  . both('t', "DELETE FROM TABLE_NAME WHERE host = 'host_6' AND small BETWEEN $key AND $key + 25")
	  . both('t', "DELETE FROM TABLE_NAME WHERE host = 'host_4' AND usage = $key % 13")
	  . "SAVEPOINT a;" . both('t', "UPDATE TABLE_NAME SET big = 0 WHERE small = $key") . "ROLLBACK TO a;";
}

sub changes_of_k
{
	my ($n) = @_;
	my $from = 1 + int(rand(21000));
	return both('k', "INSERT INTO TABLE_NAME SELECT i, 1, 'upsert' FROM generate_series($from, $from + 30) i "
		  . "ON CONFLICT (id) DO UPDATE SET v = TABLE_NAME.v + 1") if $n % 4 == 0;
	return both('k', "MERGE INTO TABLE_NAME USING generate_series($from, $from + 20) AS s (i) ON id = i "
		  . "WHEN MATCHED AND i % 5 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET v = v + 100 "
		  . "WHEN NOT MATCHED THEN INSERT VALUES (i, 2, 'merged')") if $n % 4 == 1;
	return both('k', "UPDATE TABLE_NAME SET v = v + 1, pad = pad || '.' WHERE id = $from") if $n % 4 == 2;
	return "SELECT id FROM k WHERE id BETWEEN $from AND $from + 5 FOR UPDATE;"
	  . both('k', "UPDATE TABLE_NAME SET id = id + 100000 WHERE id = $from AND id < 100000");
}

# Maintenance in random order, the usual kinds more often.
my %works = (
	compress => [ 8, "SELECT compress_chunk('NAME')" ],
	recompress => [ 6, "SELECT compress_chunk('NAME', recompress => true)" ],
	decompress => [ 3, "SELECT decompress_chunk('NAME')" ],
	vacuum => [ 2, 'VACUUM NAME' ],
	freeze => [ 1, 'VACUUM (FREEZE) NAME' ],
	vacuum_full => [ 1, 'VACUUM FULL NAME' ],
	reindex => [ 1, 'REINDEX TABLE NAME' ],
	cluster => [ 1, q{CLUSTER NAME USING INDEX_NAME} ],
	change_type => [ 1, 'BEGIN; ALTER TABLE NAME ALTER COLUMN COLUMN_NAME TYPE int8; ALTER TABLE NAME_heap ALTER COLUMN COLUMN_NAME TYPE int8; COMMIT' ],
	change_back => [ 1, 'BEGIN; ALTER TABLE NAME ALTER COLUMN COLUMN_NAME TYPE int4; ALTER TABLE NAME_heap ALTER COLUMN COLUMN_NAME TYPE int4; COMMIT' ],
	add_column => [ 1, 'BEGIN; ALTER TABLE NAME ADD COLUMN IF NOT EXISTS extra int DEFAULT 7; ALTER TABLE NAME_heap ADD COLUMN IF NOT EXISTS extra int DEFAULT 7; COMMIT' ],
	drop_column => [ 1, 'BEGIN; ALTER TABLE NAME DROP COLUMN IF EXISTS extra; ALTER TABLE NAME_heap DROP COLUMN IF EXISTS extra; COMMIT' ],
	access_method => [ 1, 'BEGIN; ALTER TABLE NAME SET ACCESS METHOD heap; ALTER TABLE NAME SET ACCESS METHOD strata; COMMIT' ],
	copy_of_table => [ 1, "BEGIN; CREATE TABLE copied USING strata AS TABLE NAME; SELECT compress_chunk('copied'); DROP TABLE copied; COMMIT" ],);
my @weighted = map { ($_) x $works{$_}[0] } sort keys %works;

sub maintenance
{
	my $sql = "SET lock_timeout = '5s';\n";
	foreach (1 .. 1500)
	{
		my $kind = $weighted[ rand @weighted ];
		my $table = rand() < 0.6 ? 't' : 'k';
		(my $work = $works{$kind}[1]) =~ s/INDEX_NAME/$table eq 't' ? 't_host_ts_idx' : 'k_pkey'/ge;
		$work =~ s/COLUMN_NAME/$table eq 't' ? 'small' : 'v'/ge;
		$work =~ s/NAME/$table/g;
		$sql .= "\\echo doing $kind\n$work;\nROLLBACK;\n";
	}
	return $sql;
}

# Writers of t and k, one who locks, one who maintains; each with its output.
sub start_load
{
	my %session;
	$session{t} = [ start_psql($node, transactions('t', \&changes_of_t)) ];
	$session{k} = [ start_psql($node, transactions('k', \&changes_of_k)) ];
	$session{locker} = [ start_psql($node, join '', map {
				"BEGIN; SELECT count(*) FROM (SELECT 1 FROM t WHERE small = $_ FOR KEY SHARE SKIP LOCKED) x; SELECT pg_sleep(0.01); "
			  . ($_ % 2 ? 'COMMIT' : 'ROLLBACK') . ";\n" } (1 .. 999)) ];
	$session{maintenance} = [ start_psql($node, maintenance()) ];
	return %session;
}

sub finish_load
{
	my (%session) = @_;
	eval { $_->[0]->finish } foreach values %session;
	my ($doing) = slurp_file($session{maintenance}[1]) =~ /.*^doing (\w+)$/ms;
	$interrupted{ $doing // 'nothing' }++;
	return;
}

# A backend that runs such a query right now; $where is about pg_stat_activity.
sub busy_backend
{
	my ($where) = @_;
	return $node->safe_psql('postgres',
		"SELECT pid FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid() AND $where LIMIT 1");
}

sub check
{
	my ($what, %session) = @_;
	# a psql that is turned away before it has read the query makes psql() die of a broken pipe
	ok(wait_until(sub { return eval { $node->psql('postgres', 'SELECT 1') == 0 }; }, 300), "$what: the server is back");
	foreach my $table ('t', 'k')
	{
		my @told = slurp_file($session{$table}[1]) =~ /^done\|$table\|(\d+)$/mg;
		my %kept = map { $_ => 1 } split /\n/, $node->safe_psql('postgres', "SELECT n FROM progress WHERE writer = '$table'");
		my @lost = grep { !$kept{$_} } @told;
		is("@lost", '', "$what: all " . @told . " acknowledged transactions on $table are there");
		twins_are_equal($node, $table, "$what, $table");
		is_sound($node, $table, "$what, $table");
		$acknowledged += @told;
		$next{$table} = 1 + max(0, keys %kept);
	}
	is($node->safe_psql('postgres', 'SELECT strata.gc()'), '0', "$what: no companion is left over");
	return;
}

foreach my $round (1 .. $kills)
{
	my %session = start_load();
	select(undef, undef, undef, 0.3 + rand(1.7));
	my $postmaster = $node->{_pid};
	$node->kill9;
	finish_load(%session);
	# its orphans may hold the shared memory a little longer
	wait_until(sub { return !kill 0, $postmaster; });
	ok(wait_until(sub { return $node->start(fail_ok => 1); }, 300), "round $round: started again");
	check("server killed, round $round", %session);
}

my %victims = (
	maintenance => q{query ~ '^(SELECT (de)?compress_chunk|VACUUM|CLUSTER|REINDEX|ALTER|CREATE TABLE)'},
	writer => q{query ~ '^(UPDATE|DELETE|INSERT|MERGE|SELECT grow)'});
foreach my $victim (sort keys %victims)
{
	foreach my $round (1 .. $kills)
	{
		my %session = start_load();
		my $pid;
		select(undef, undef, undef, 0.2 + rand(1));
		ok(wait_until(sub { return $pid = busy_backend($victims{$victim}); }), "round $round: $victim is at work")
		  or BAIL_OUT('the maintenance session said: ' . slurp_file($session{maintenance}[1]));
		select(undef, undef, undef, rand(0.1));
		kill 'KILL', $pid;
		finish_load(%session);
		check("$victim killed, round $round", %session);
	}
}

cmp_ok($acknowledged, '>', 0, "there was something to lose ($acknowledged transactions acknowledged)");
diag("$acknowledged transactions acknowledged; interrupted: " . join(', ', map { "$_ $interrupted{$_}" } sort keys %interrupted));

# and everything still works
foreach my $table ('t', 'k')
{
	$node->safe_psql('postgres', "SELECT compress_chunk('$table', recompress => true)");
	twins_are_equal($node, $table, 'at the end');
	is_sound($node, $table, 'at the end');
}
$node->stop;
done_testing();
