# test/t/376_convert_plain.pl
#	  convert() of a heap table beside a writer and a reader, killed and called
#	  again; a dump taken half way; an old snapshot.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

my $rows = $ENV{STRATA_CONVERT_ROWS} || 60_000;
my $node = strata_node('convert_plain', "autovacuum = off\nrestart_after_crash = on\n");
sub sql { return $node->safe_psql('postgres', $_[0]); }
sub errors { return ($node->psql('postgres', $_[0]))[2]; }

# an owner who is no superuser; rows of six half days, dropped and added columns
sql(qq{
	CREATE EXTENSION strata;
	CREATE ROLE owner;
	GRANT CREATE ON SCHEMA public TO owner;
	SET ROLE owner;
	CREATE TABLE places (host int PRIMARY KEY);
	INSERT INTO places SELECT generate_series(0, 99);
	CREATE TABLE m (gone text, ts timestamptz, host int NOT NULL REFERENCES places, v float8, note text, UNIQUE (host, ts));
	CREATE INDEX m_ts ON m (ts DESC);
	CREATE VIEW m_view AS SELECT host, count(*) AS n FROM m GROUP BY host;
	INSERT INTO m SELECT 'gone', '2026-01-01 00:00+00'::timestamptz + i * (interval '72 hours' / $rows), i % 100, i, CASE WHEN i % 100 = 0 THEN repeat(md5(i::text), 100) END
		FROM generate_series(0, $rows - 1) i;
	ALTER TABLE m DROP gone;
	ALTER TABLE m ADD late int DEFAULT 7;
	ALTER TABLE m REPLICA IDENTITY FULL;
	ANALYZE m;
	CREATE TABLE written (ts timestamptz, host int, v float8);
	RESET ROLE;
	CREATE PUBLICATION everything FOR ALL TABLES;
});
my $sum = "SELECT count(*), sum(v), sum(late), sum(length(note)) FROM m WHERE ts < '2026-02-01' AND v >= 0";
my $want = sql($sum);
my $state = "SELECT relkind, (SELECT convalidated FROM pg_constraint WHERE conrelid = c.oid AND conname = 'strata_convert_not_null') FROM pg_class c WHERE oid = 'm'::regclass";
my $backend = "SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE query LIKE '%CALL strata.convert%' AND pid <> pg_backend_pid()";

# The writer: live rows, and every third late, each a transaction that writes
# down what it wrote; the reader: the answer never changes.
my $pid = fork();
if ($pid == 0)
{
	open(my $out, '>', $node->basedir . '/times') or die;
	for (my $n = 1; !-e $node->basedir . '/stop'; $n++)
	{
		my $ts = $n % 3 == 0 ? "timestamptz '2026-01-01 00:00:00.5+00' + ($n * 7919 % 259200) * interval '1 s'" : 'clock_timestamp()';
		my $begin = time;
		# a psql that finds no server may end before it is written to
		my ($rc, undef, $err) = eval { $node->psql('postgres',
			"WITH w AS (INSERT INTO m (ts, host, v) SELECT $ts, $n % 100, -$n RETURNING ts, host, v) INSERT INTO written SELECT * FROM w") };
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
like(errors("SET ROLE owner; CALL strata.convert('m', 'ts', '12 hours', segmentby => 'host', dry_run => true)"),
	qr/NOTICE:  nothing is changed: the rows of "m" would become its first chunk, .*\n.*About [\d]+ rows take/, 'dry run');
is(sql($state), 'r|', 'nothing is changed');

# a reader that does not go away: the table is asked for again and again, and
# others get at it meanwhile; killed there, it is what it was
my $go = $node->basedir . '/go';
start_psql($node, "BEGIN; SELECT count(*) FROM m;\n\\! while [ ! -e $go ]; do sleep 0.1; done\nCOMMIT;\n");
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE state = 'idle in transaction'") or die;
my $call = "CALL strata.convert('m', 'ts', '12 hours', segmentby => 'host', lock_timeout => '50 ms', pause => '300 ms')";
my (undef, $said) = start_psql($node, "SET ROLE owner; $call;\n");
wait_until(sub { slurp_file($said) =~ /trying again/ }) or die;
is(sql($state), 'r|', 'it waits');
kill 'KILL', sql($backend);
append_to_file($go, '');
wait_until(sub { (eval { sql($backend) } // '') eq '0' }) or die;
is(sql($sum), $want, 'same rows after the first kill');

# killed once the check is there, while it is looked for nulls or behind that
(undef, $said) = start_psql($node, "SET ROLE owner; $call;\n");
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_constraint WHERE conname = 'strata_convert_not_null'") or die;
kill 'KILL', sql($backend);
wait_until(sub { (eval { sql($backend) } // '') eq '0' }) or die;
like(sql($state), qr/^[rp]\|/, 'half way');
is(sql($sum), $want, 'same rows after the second kill');
$node->command_ok([ 'pg_dump', '-f', $node->basedir . '/half.sql', $node->connstr('postgres') ], 'pg_dump half way');

# an old snapshot, of before all that follows
my $old = $node->basedir . '/old';
my (undef, $seen) = start_psql($node, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM places;\n\\! while [ ! -e $old ]; do sleep 0.1; done\n"
	. "$sum; SET enable_seqscan = off; SELECT v FROM m WHERE host = 50 AND ts = '2026-01-01 00:00+00'::timestamptz + 50 * (interval '72 hours' / $rows);\n"
	. "SELECT count(*) FROM m WHERE v = -1000000; COMMIT; SELECT 'end';\n");
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE state = 'idle in transaction'") or die;
sql("INSERT INTO m (ts, host, v) VALUES ('2026-01-01 00:00:00.7+00', 1, -1000000)");
sql("UPDATE m SET v = v WHERE host = 50");

# to the hypertable, without compression
my $notices = errors("SET ROLE owner; CALL strata.convert('m', 'ts', '12 hours', segmentby => 'host', compress => false)");
unlike($notices, qr/ERROR/, 'a hypertable');
like($notices, qr/DETAIL:  The longest lock was held for [\d.]+ ms/, 'how long the lock was held');
diag($notices =~ /(The longest.*)/) if $ENV{STRATA_CONVERT_ROWS};
is(sql($state), 'p|', 'and no check is left');
sql("UPDATE m SET v = v WHERE host = 50 AND v < 10000");
append_to_file($old, '');
wait_until(sub { slurp_file($seen) =~ /end/ });
is(slurp_file($seen), "100\n$want\n50\n0\nend\n", 'a snapshot of before sees what it saw, by an index too');

# a crash right behind it, and one while it is compressed
$node->stop('immediate');
$node->start;
is(sql($sum), $want, 'same rows after a crash');
is(sql("SET enable_seqscan = off; SET strata.enable_scan = off; $sum"), $want, 'by the index');
# killed three times while the first chunk is divided: with its first part
# copied, with its third, and wherever it is then; a dump with parts there
my $parts = "SELECT count(*) FROM pg_class WHERE relname LIKE 'divide\\_%\\_%'";
foreach my $copied (1, 3)
{
	start_psql($node, "SET ROLE owner; CALL strata.convert('m', pause => '300 ms');\n");
	$node->poll_query_until('postgres', "SELECT ($parts) >= $copied") or die;
	kill 'KILL', sql($backend);
	wait_until(sub { (eval { sql($backend) } // '') eq '0' }) or die;
	cmp_ok(sql($parts), '>=', $copied, 'what is copied stays');
	is(sql($sum), $want, "same rows after a kill with $copied parts copied");
}
isnt(sql("SELECT to_regclass('m_min_chunk')"), '', 'the chunk is still there');
$node->command_ok([ 'pg_dump', '-f', $node->basedir . '/mid.sql', $node->connstr('postgres') ], 'pg_dump with parts there');
start_psql($node, "SET ROLE owner; CALL strata.convert('m');\n");
# wherever it is by then
sleep(0.2);
$node->stop('immediate');
$node->start;
$node->poll_query_until('postgres', 'SELECT true') or die;
is(sql($sum), $want, 'same rows after a crash while it is divided');
$notices = errors("SET ROLE owner; CALL strata.convert('m')");
unlike($notices, qr/ERROR/, 'the last call goes to the end');
diag(join ' ', $notices =~ /(has become .*|The longest.*)/g) if $ENV{STRATA_CONVERT_ROWS};
is(sql("SELECT to_regclass('m_min_chunk')"), '', 'the first chunk is gone');
is(sql($parts), '0', 'and so are the copies');
my $chunks = sql("SELECT count(*) || ' ' || count(strata.batch_relation(c)) FROM show_chunks('m', older_than => timestamptz '2026-02-01 00:00+00') c");
is($chunks, '6 6', 'chunks of the interval, compressed');
$node->stop('immediate');
$node->start;
is(sql($sum), $want, 'same rows after a crash right behind that');
is(sql("SET enable_seqscan = off; SET strata.enable_scan = off; $sum"), $want, 'by the index');
sleep(1);
append_to_file($node->basedir . '/stop', '');
waitpid($pid, 0);
is(sql($sum), $want, 'same rows');
is(sql("SELECT count(*) FROM (SELECT ts, host, v FROM m WHERE v < 0 AND v > -1000000 EXCEPT ALL TABLE written) d"), '0', 'nothing was written twice');
is(sql("SELECT count(*) FROM (TABLE written EXCEPT ALL SELECT ts, host, v FROM m WHERE v < 0) d"), '0', 'and nothing lost');
is(sql("SELECT count(*) FROM strata.verify('m')"), '0', 'verify()');
is(sql("SELECT sum(n) = (SELECT count(*) FROM m) FROM m_view"), 't', 'the view');
cmp_ok(sql("SELECT count(*) FROM show_chunks('m')"), '>', 1, 'live rows are in chunks of their own');
my @log = split /\n/, slurp_file($node->basedir . '/times');
is(join(' ', grep { /wrong/ } @log), '', 'the reader saw the same always');
is(join(' ', grep { /ERROR/ } @log), '', 'no writer failed');
my @times = sort { $a <=> $b } map { /^0 ([\d.]+)/ ? $1 : () } @log;
cmp_ok(scalar(@times), '>', 10, 'there was a writer');
diag(sprintf('%d writes: p50 %.1f ms, p99 %.1f ms, most %.1f ms', scalar(@times), $times[@times / 2], $times[int(@times * 0.99)], $times[-1])) if $ENV{STRATA_CONVERT_ROWS};

# the dump of half way, and one of the end
$node->command_ok([ 'pg_dump', '-f', $node->basedir . '/end.sql', $node->connstr('postgres') ], 'pg_dump at the end');
foreach my $name (qw(half mid end))
{
	sql("CREATE DATABASE \"$name\"");
	$node->command_ok([ 'psql', '-X', '-v', 'ON_ERROR_STOP=1', '-q', '-f', $node->basedir . "/$name.sql", $node->connstr($name) ], "restored: $name");
	is($node->safe_psql($name, $sum), $want, 'its rows');
	unlike(($node->psql($name, "SET ROLE owner; CALL strata.convert('m', 'ts', '12 hours')"))[2], qr/ERROR/, 'and it is gone on with');
	is($node->safe_psql($name, $state), 'p|', 'to the end');
	is($node->safe_psql($name, $parts), '0', 'with nothing left over');
	is($node->safe_psql($name, $sum), $want, 'with the same rows');
}
$node->stop;

# files change hands without WAL of theirs being skipped
my $minimal = strata_node('convert_minimal', "wal_level = minimal\nmax_wal_senders = 0\nautovacuum = off\n");
$minimal->safe_psql('postgres', qq{
	CREATE EXTENSION strata;
	CREATE TABLE m (ts timestamptz NOT NULL, host int, v float8, note text, UNIQUE (host, ts));
	CREATE INDEX ON m (ts);
	INSERT INTO m SELECT '2026-01-01 00:00+00'::timestamptz + i * interval '1 minute', i % 9, i, CASE WHEN i % 50 = 0 THEN repeat(md5(i::text), 100) END FROM generate_series(1, 9999) i;
	CALL strata.convert('m', 'ts', '1 day', compress => false);
});
my $query = 'SELECT count(*), sum(v), sum(length(note)) FROM m';
my $heap = $minimal->safe_psql('postgres', $query);
$minimal->stop('immediate');
$minimal->start;
is($minimal->safe_psql('postgres', $query), $heap, 'wal_level = minimal: a crash behind the first chunk');
$minimal->safe_psql('postgres', "CALL strata.convert('m')");
$minimal->stop('immediate');
$minimal->start;
is($minimal->safe_psql('postgres', $query), $heap, 'and behind the others');
is($minimal->safe_psql('postgres', "SET enable_seqscan = off; SET strata.enable_scan = off; $query"), $heap, 'by the index');
is($minimal->safe_psql('postgres', "SELECT count(*) FROM strata.verify('m')"), '0', 'verify()');
is($minimal->safe_psql('postgres', "SELECT count(*) > 6 FROM show_chunks('m')"), 't', 'there are chunks');
done_testing();
