# test/t/375_convert.pl
#	  The way in: convert() beside a writer and a reader, killed and called
#	  again; a dump taken half way; old snapshots, cursors and plans.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

my $rows = $ENV{STRATA_CONVERT_ROWS} || 60_000;
my $parts = 6;
my $node = strata_node('convert', "autovacuum = off\nrestart_after_crash = on\n");
sub sql { return $node->safe_psql('postgres', $_[0]); }
sub errors { return ($node->psql('postgres', $_[0]))[2]; }

# partitions of 12 hours, the last one of the far future; an owner who is no superuser
sql(qq{
	CREATE EXTENSION strata;
	CREATE ROLE owner;
	GRANT CREATE ON SCHEMA public TO owner;
	SET ROLE owner;
	CREATE TABLE places (host int PRIMARY KEY);
	INSERT INTO places SELECT generate_series(0, 99);
	CREATE TABLE m (ts timestamptz NOT NULL, host int NOT NULL REFERENCES places, v float8, note text, PRIMARY KEY (host, ts)) PARTITION BY RANGE (ts);
	CREATE INDEX m_ts ON m (ts DESC);
	CREATE VIEW m_view AS SELECT host, count(*) AS n FROM m GROUP BY host;
});
foreach my $i (0 .. $parts - 1)
{
	sql("SET ROLE owner; CREATE TABLE m$i PARTITION OF m FOR VALUES FROM (timestamptz '2026-01-01 00:00+00' + $i * interval '12 hours') TO (timestamptz '2026-01-01 00:00+00' + ($i + 1) * interval '12 hours')");
}
sql(qq{
	SET ROLE owner;
	CREATE TABLE m_now PARTITION OF m FOR VALUES FROM ('2099-01-01 00:00+00') TO ('2099-01-01 12:00+00');
	INSERT INTO m SELECT '2026-01-01 00:00+00'::timestamptz + i * (interval '12 hours' * $parts / $rows), i % 100, i, CASE WHEN i % 100 = 0 THEN repeat(md5(i::text), 100) END
		FROM generate_series(0, $rows - 1) i;
	ANALYZE m;
	CREATE TABLE written (ts timestamptz, host int, v float8);
});
my $sum = "SELECT count(*), sum(v) FROM m WHERE ts < '2026-01-01 00:00+00'::timestamptz + $parts * interval '12 hours' AND v >= 0";
my $want = sql($sum);

# The writer: live rows, and every twentieth late, each a transaction that
# writes down what it wrote; the reader: the answer never changes.
my $writer = sub {
	my ($n) = @_;
	my $late = $n % 20 == 0;
	my $ts = $late ? "timestamptz '2026-01-01 00:00:00.5+00' + ($n * 7919 % ($parts * 43200)) * interval '1 s'"
		: "timestamptz '2099-01-01 00:00+00' + $n * interval '1 s'";
	return "WITH w AS (INSERT INTO m SELECT $ts, $n % 100, -$n RETURNING ts, host, v) INSERT INTO written SELECT * FROM w";
};
my (@times, $failed);
my $pid = fork();
if ($pid == 0)
{
	# one session, over and over; on a restart it connects again
	my $log = $node->basedir . '/times';
	open(my $out, '>', $log) or die;
	for (my $n = 1; !-e $node->basedir . '/stop'; $n++)
	{
		my $begin = time;
		# a psql that finds no server may end before it is written to
		my ($rc, undef, $err) = eval { $node->psql('postgres', $writer->($n)) };
		next unless defined $rc;
		printf $out "%d %.1f %s\n", $rc, 1000 * (time - $begin), $err =~ /ERROR|FATAL/ ? (split /\n/, $err)[0] : '';
		my (undef, $got) = eval { $node->psql('postgres', $sum) };
		printf $out "wrong %s\n", $got if defined $got && $got ne '' && $got ne $want;
	}
	close $out;
	require POSIX;
	POSIX::_exit(0);
}

# a dry run changes nothing
like(errors("SET ROLE owner; CALL strata.convert('m', segmentby => 'host', dry_run => true)"),
	qr/NOTICE:  nothing is changed: @{[$parts + 1]} of @{[$parts + 1]} partitions of "m" are heaps/, 'dry run');
my $state = "SELECT count(*) FILTER (WHERE amname = 'strata'), count(*) FILTER (WHERE amname = 'strata' AND strata.batch_relation(c.oid) IS NOT NULL)"
	. " FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid JOIN pg_am a ON a.oid = relam WHERE inhparent = 'm'::regclass";
is(sql($state), '0|0', 'nothing is changed');

# killed by SIGKILL, three times, at another place each
for my $round (1 .. 3)
{
	start_psql($node, "SET ROLE owner; CALL strata.convert('m', segmentby => 'host', pause => '@{[$round == 1 ? 1000 : 200]} ms');\n");
	my $goal = $round == 1 ? "SELECT s.x[1] BETWEEN 1 AND 5 FROM (SELECT ARRAY[count(*) FILTER (WHERE amname = 'strata')] AS x FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid JOIN pg_am a ON a.oid = relam WHERE inhparent = 'm'::regclass) s"
		: "SELECT count(*) >= $round - 1 FROM pg_inherits WHERE inhparent = 'm'::regclass AND strata.batch_relation(inhrelid) IS NOT NULL";
	$node->poll_query_until('postgres', $goal) or die "round $round";
	if ($round == 1)
	{
		# half way: a dump restores
		$node->command_ok([ 'pg_dump', '-f', $node->basedir . '/half.sql', $node->connstr('postgres') ], 'pg_dump half way');
		my $backend = sql("SELECT pid FROM pg_stat_activity WHERE query LIKE '%CALL strata.convert%' AND pid <> pg_backend_pid()");
		kill 'KILL', $backend;
		# it stays in the list until the server has started again
		wait_until(sub { (eval { sql("SELECT count(*) FROM pg_stat_activity WHERE pid = $backend") } // '') eq '0' }) or die;
	}
	else
	{
		$node->stop('immediate');
		$node->start;
	}
	$node->poll_query_until('postgres', "SELECT true") or die;
	is(sql($sum), $want, "same rows after round $round");
	isnt(sql($state), '7|6', 'not done');
}
my $said = errors("SET ROLE owner; CALL strata.convert('m', segmentby => 'host', pause => '20 ms')");
unlike($said, qr/ERROR/, 'the last call goes to the end');
like($said, qr/DETAIL:  The longest lock was held for [\d.]+ ms/, 'how long locks were held');
diag($said =~ /(The longest.*)/) if $ENV{STRATA_CONVERT_ROWS};
is(sql($state), '7|6', 'all but the partition of now are compressed');
sleep(1);
append_to_file($node->basedir . '/stop', '');
waitpid($pid, 0);
is(sql($sum), $want, 'same rows');
is(sql("SELECT count(*) FROM (SELECT ts, host, v FROM m WHERE v < 0 EXCEPT ALL TABLE written) d"), '0', 'nothing was written twice');
is(sql("SELECT count(*) FROM (TABLE written EXCEPT ALL SELECT ts, host, v FROM m WHERE v < 0) d"), '0', 'and nothing lost');
is(sql("SELECT count(*) FROM strata.verify('m')"), '0', 'verify()');
is(sql("SELECT sum(n) = (SELECT count(*) FROM m) FROM m_view"), 't', 'the view');
my @log = split /\n/, slurp_file($node->basedir . '/times');
is(join(' ', grep { /wrong/ } @log), '', 'the reader saw the same always');
is(join(' ', grep { /ERROR/ } @log), '', 'no writer failed');
@times = sort { $a <=> $b } map { /^0 ([\d.]+)/ ? $1 : () } @log;
cmp_ok(scalar(@times), '>', 10, 'there was a writer');
diag(sprintf('%d writes: p50 %.1f ms, p99 %.1f ms, most %.1f ms', scalar(@times), $times[@times / 2], $times[int(@times * 0.99)], $times[-1])) if $ENV{STRATA_CONVERT_ROWS};

# the dump of half way
sql('CREATE DATABASE half');
$node->command_ok([ 'psql', '-X', '-v', 'ON_ERROR_STOP=1', '-q', '-f', $node->basedir . '/half.sql', $node->connstr('half') ], 'restored');
is($node->safe_psql('half', $sum), $want, 'its rows');
unlike(($node->psql('half', "SET ROLE owner; CALL strata.convert('m')"))[2], qr/ERROR/, 'and it is gone on with');
is($node->safe_psql('half', $state), '7|6', 'to the end');
is($node->safe_psql('half', $sum), $want, 'with the same rows');

# a snapshot from before, a cursor and a plan, over a conversion
sql(q{SET ROLE owner; CREATE TABLE p (ts timestamptz NOT NULL, v int) PARTITION BY RANGE (ts);
	CREATE TABLE p1 PARTITION OF p FOR VALUES FROM ('2026-01-01') TO ('2026-01-02');
	CREATE TABLE p2 PARTITION OF p FOR VALUES FROM ('2026-01-02') TO ('2026-01-03');
	CREATE INDEX p_v ON p (v);
	INSERT INTO p SELECT '2026-01-01'::timestamptz + i * interval '1 min', i FROM generate_series(1, 2500) i});
my $go = $node->basedir . '/go';
my (undef, $seen) = start_psql($node, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM places;\n\\! while [ ! -e $go ]; do sleep 0.1; done\n"
	. "SELECT count(*), sum(v) FROM p; SET enable_seqscan = off; SELECT v FROM p WHERE v = 50; COMMIT; SELECT count(*) FROM p; SELECT 'end';\n");
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE state = 'idle in transaction'") or die;
sql("SET ROLE owner; UPDATE p SET v = -v WHERE v <= 100; DELETE FROM p WHERE v > 2400");
sql("SET ROLE owner; CALL strata.convert('p', compress => false)");
append_to_file($go, '');
wait_until(sub { slurp_file($seen) =~ /end/ });
is(slurp_file($seen), "100\n2500|3126250\n50\n2400\nend\n", 'a snapshot of before sees what it saw, by an index too');
done_testing();
