# test/t/400_fdw.pl
#	  One coordinator and two servers by postgres_fdw: tables whose partitions
#	  are foreign tables of hypertables, half compressed, with late rows; what is
#	  pushed down, what is changed through them, and one server down.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

# the servers say how they answered
my %servers = map {
	($_ => strata_node($_, "autovacuum = off\nfsync = off\nsession_preload_libraries = auto_explain\n"
			. "auto_explain.log_min_duration = 0\nauto_explain.log_nested_statements = on\n"))
} qw(one two);
my $node = strata_node('coordinator', "autovacuum = off\nfsync = off\n");

sub sql { return $node->safe_psql('postgres', "SET ROLE app; SET enable_partitionwise_aggregate = on; $_[0]"); }
sub superuser { return $node->safe_psql('postgres', $_[0]); }
sub on { my ($server, $sql) = @_; return $servers{$server}->safe_psql('postgres', "SET ROLE owner; $sql"); }
sub error { return ($node->psql('postgres', "SET ROLE app; $_[0]", on_error_stop => 1))[2]; }
sub explained { return sql("EXPLAIN (VERBOSE, COSTS OFF) $_[0]"); }

# the rows of 17 chunks of 12 hours, of which 5 % come late
my $columns = 'ts timestamptz NOT NULL, host int NOT NULL, usage float8, note text';
my $rows = q{SELECT '2026-01-01'::timestamptz + i * interval '1 minute' AS ts, i % 10 AS host,
	CASE i % 13 WHEN 0 THEN NULL WHEN 1 THEN '-0' ELSE i % 100 / 8.0 END::float8 AS usage, 'row ' || i % 5 AS note
	FROM generate_series(0, 17 * 720 - 1) AS i};
my $late = "FROM ($rows) AS r WHERE extract(minute FROM ts)::int % 20 = 7";
my $make = "SELECT create_hypertable('%s', 'ts', chunk_time_interval => interval '12 hours');
	ALTER TABLE %s SET (strata.segmentby = 'host', strata.orderby = 'ts'); CREATE INDEX ON %s (host, ts DESC);";

sub fill
{
	my ($server, $table, $where) = @_;
	my ($rest, @names) = ($make, ($table) x 3);
	on($server, "CREATE TABLE $table ($columns); " . sprintf($rest, @names) . "
		INSERT INTO $table SELECT * FROM ($rows) AS r WHERE $where;
		SELECT count(compress_chunk(c)) FROM show_chunks('$table') AS c;
		INSERT INTO $table SELECT ts + interval '1 s', host, usage + 1000, 'late' $late AND $where;
		ANALYZE $table");
	return;
}

for my $server (keys %servers)
{
	$servers{$server}->safe_psql('postgres',
		"CREATE EXTENSION strata; CREATE ROLE owner LOGIN; GRANT CREATE ON SCHEMA public TO owner");
	fill($server, 'm', $server eq 'one' ? 'host < 5' : 'host >= 5');
}
fill('one', 'times', "ts < '2026-01-05'");
fill('two', 'times', "ts >= '2026-01-05'");

superuser("CREATE EXTENSION strata; CREATE EXTENSION postgres_fdw; CREATE ROLE app; GRANT CREATE ON SCHEMA public TO app;
	GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO app");
for my $server (qw(one two))
{
	# postgres_fdw reads through cursors: they are to be planned for all of their rows
	superuser(sprintf("CREATE SERVER %s FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '%s', port '%s', dbname 'postgres',
			extensions 'strata', async_capable 'true', use_remote_estimate 'true', fetch_size '10000',
			options '-c cursor_tuple_fraction=1');
		CREATE USER MAPPING FOR app SERVER %s OPTIONS (user 'owner', password_required 'false');
		GRANT USAGE ON FOREIGN SERVER %s TO app",
		$server, $servers{$server}->host, $servers{$server}->port, $server, $server));
}

# by host: each server has all rows of its hosts.  by_time: each has its days.  h: the same rows on heap.
sql(qq{
	CREATE TABLE m ($columns) PARTITION BY RANGE (host);
	CREATE FOREIGN TABLE m_one PARTITION OF m FOR VALUES FROM (0) TO (5) SERVER one OPTIONS (table_name 'm');
	CREATE FOREIGN TABLE m_two PARTITION OF m FOR VALUES FROM (5) TO (10) SERVER two OPTIONS (table_name 'm');
	CREATE TABLE by_time ($columns) PARTITION BY RANGE (ts);
	CREATE FOREIGN TABLE t_one PARTITION OF by_time FOR VALUES FROM ('2026-01-01') TO ('2026-01-05') SERVER one OPTIONS (table_name 'times');
	CREATE FOREIGN TABLE t_two PARTITION OF by_time FOR VALUES FROM ('2026-01-05') TO ('2026-01-10') SERVER two OPTIONS (table_name 'times');
	CREATE TABLE h ($columns) USING heap;
	INSERT INTO h $rows;
	INSERT INTO h SELECT ts + interval '1 s', host, usage + 1000, 'late' $late;
	CREATE TABLE hosts (host int PRIMARY KEY, site text) USING heap;
	INSERT INTO hosts SELECT i, 'site ' || i % 3 FROM generate_series(0, 9) AS i});

# The query's rows are those of heap; TABLE stands for the table.
sub same
{
	my ($query, $what, $table) = @_;
	my ($far, $heap) = map { my $name = $_; $query =~ s/\bTABLE\b/$name/gr } ($table // 'm', 'h');
	return is(sql($far), sql($heap), $what);
}

# What a server logs while the query runs: the plans of what it is asked.
sub served
{
	my ($server, $query) = @_;
	my $from = -s $servers{$server}->logfile;
	sql($query);
	return slurp_file($servers{$server}->logfile, $from);
}

#-------------------------------------------------------------------------
# Aggregates
#-------------------------------------------------------------------------

my $by_host = 'SELECT host, count(*), count(usage), sum(usage), avg(usage), min(ts), max(ts) FROM TABLE GROUP BY host ORDER BY host';
same($by_host, 'aggregates by the partition key');
same($by_host, 'aggregates by another column', 'by_time');
same('SELECT count(*), sum(usage), min(note) FROM TABLE', 'of all rows');
like(explained($by_host =~ s/TABLE/m/r), qr/Relations: Aggregate on \(public\.m_one m\).*Relations: Aggregate on \(public\.m_two m_1\)/s,
	'aggregates by the partition key are pushed down');
like(served($_, $by_host =~ s/TABLE/m/r), qr/Custom Scan \(StrataAgg\)/, "and served by StrataAgg on $_") for qw(one two);

my $buckets = q{SELECT time_bucket('6 hours', ts) AS b, host, count(*), avg(usage), first(usage, ts), last(note, ts),
	histogram(usage, 0, 2000, 4) FROM TABLE GROUP BY b, host ORDER BY b, host};
same($buckets, 'time_bucket, first, last, histogram');
like(explained($buckets =~ s/TABLE/m/r), qr/Remote SQL: SELECT public\.time_bucket\('06:00:00'::interval, ts\), host, count\(\*\), avg\(usage\), public\.first\(usage, ts\), public\.last\(note, ts\), public\.histogram\([^)]*\) FROM public\.m GROUP BY 1, 2/,
	'are pushed down');
# (postgres_fdw sends no function with a text constant: it may have a collation)
same(q{SELECT time_bucket('1 day', ts, 'Europe/Berlin') AS b, host, sum(usage) FROM TABLE GROUP BY b, host ORDER BY b, host}, 'buckets of a time zone');
my $gaps = q{SELECT time_bucket_gapfill('1 hour', ts, '2026-01-04', '2026-01-06') AS b, count(*), locf(last(usage, ts))
	FROM TABLE WHERE ts >= '2026-01-04' AND ts < '2026-01-06' AND host = 3 AND extract(hour FROM ts) <> 5 GROUP BY b ORDER BY b};
same($gaps, 'gaps are filled', $_) for qw(m by_time);

# a comparison of a bucket becomes one of time, which is sent
my $compared = q{SELECT host, count(*) FROM TABLE WHERE time_bucket('1 day', ts) = '2026-01-04' GROUP BY host ORDER BY host};
same($compared, 'comparisons of buckets', $_) for qw(m by_time);
like(explained($compared =~ s/TABLE/by_time/r), qr/WHERE.*\(ts >= '2026-01-04 00:00:00\+00'/, 'are sent as comparisons of time');
unlike(explained($compared =~ s/TABLE/by_time/r), qr/t_two/, 'and prune partitions');

# where GROUP BY has no partition key: parts of the result from each server, by hand
my $part = q{SELECT time_bucket('6 hours', ts) AS b, count(usage) AS n, sum(usage) AS s FROM %s GROUP BY b};
my $parts = 'SELECT b, sum(n), sum(s) / sum(n) FROM (' . join(' UNION ALL ', map { sprintf($part, $_) } qw(m_one m_two)) . ') AS p GROUP BY b ORDER BY b';
is(sql($parts), sql(q{SELECT time_bucket('6 hours', ts) AS b, count(usage), sum(usage) / count(usage) FROM h GROUP BY b ORDER BY b}), 'parts by hand');
like(explained($parts), qr/Relations: Aggregate on \(public\.m_one\).*Relations: Aggregate on \(public\.m_two\)/s, 'are pushed down');

#-------------------------------------------------------------------------
# Rows, order, joins
#-------------------------------------------------------------------------

same('SELECT * FROM TABLE ORDER BY ts DESC, host LIMIT 7', 'the latest rows', $_) for qw(m by_time);
same('SELECT * FROM TABLE ORDER BY usage DESC NULLS LAST, ts LIMIT 7', 'the greatest', $_) for qw(m by_time);
same('SELECT DISTINCT ON (host) host, ts, usage FROM TABLE ORDER BY host, ts DESC', 'the latest of each host', $_) for qw(m by_time);
like(explained('SELECT * FROM m_one ORDER BY usage DESC NULLS LAST, ts LIMIT 7'), qr/Remote SQL: .* LIMIT 7/, 'LIMIT is sent to a single server');
like(served('one', 'SELECT * FROM m_one ORDER BY usage DESC NULLS LAST, ts LIMIT 7'), qr/Custom Scan \(StrataTop\)/, 'which finds the first rows by StrataTop');
same('SELECT site, count(*), sum(usage) FROM TABLE JOIN hosts USING (host) GROUP BY site ORDER BY site', 'a join with a local table', $_) for qw(m by_time);
same('SELECT count(*), sum(a.usage) FROM TABLE a JOIN TABLE b ON a.host = b.host AND b.ts = a.ts + interval \'1 s\'', 'a join with itself', $_) for qw(m by_time);
like(explained('SELECT count(*) FROM m_one a JOIN m_one b USING (host, ts)'), qr/Relations: Aggregate on \(\(public\.m_one a\) INNER JOIN \(public\.m_one b\)\)/,
	'a join of one server is its own');
same('SELECT h.site, (SELECT max(t.usage) FROM TABLE t WHERE t.host = h.host) FROM hosts h ORDER BY h.host', 'by parameter', $_) for qw(m by_time);
like(explained('SELECT * FROM m'), qr/Append.*Async Foreign Scan.*Async Foreign Scan/s, 'servers are read at the same time');
same('SELECT count(*), sum(hashtextextended(t::text, 0)::numeric) FROM TABLE t', 'all rows', $_) for qw(m by_time);
is(sql("BEGIN; DECLARE c CURSOR FOR SELECT ts, host FROM m ORDER BY ts, host; FETCH 3 FROM c; MOVE 1000 IN c; FETCH 2 FROM c"),
	sql("BEGIN; DECLARE c CURSOR FOR SELECT ts, host FROM h ORDER BY ts, host; FETCH 3 FROM c; MOVE 1000 IN c; FETCH 2 FROM c"), 'a cursor');

#-------------------------------------------------------------------------
# Statistics
#-------------------------------------------------------------------------

sql('ANALYZE m_one; ANALYZE m_two; ANALYZE m');
is(sql("SELECT string_agg(reltuples::text, ' ' ORDER BY relname) FROM pg_class WHERE relname IN ('m_one', 'm_two')"),
	join(' ', map { on($_, 'SELECT count(*) FROM m') } qw(one two)), 'ANALYZE counts rows of both halves');
is(sql("SELECT n_distinct FROM pg_stats WHERE tablename = 'm_one' AND attname = 'host'"), '5', 'and sees their values');
if ($node->pg_version >= 16)
{
	for my $method (qw(random system bernoulli auto))
	{
		sql("ALTER FOREIGN TABLE m_one OPTIONS (ADD analyze_sampling '$method'); SET default_statistics_target = 5; ANALYZE m_one;
			ALTER FOREIGN TABLE m_one OPTIONS (DROP analyze_sampling)");
		cmp_ok(abs(sql("SELECT reltuples FROM pg_class WHERE relname = 'm_one'") / on('one', 'SELECT count(*) FROM m') - 1), '<', 0.2,
			"and when a part is read ($method)");
	}
}
# the servers' own estimates, which are of both halves too
my ($estimate) = sql('EXPLAIN SELECT * FROM m_one WHERE host = 3') =~ /rows=(\d+)/;
cmp_ok(abs($estimate / on('one', 'SELECT count(*) FROM m WHERE host = 3') - 1), '<', 0.3, 'use_remote_estimate');

#-------------------------------------------------------------------------
# Definitions
#-------------------------------------------------------------------------

superuser('CREATE SCHEMA far AUTHORIZATION app');
sql('IMPORT FOREIGN SCHEMA public FROM SERVER one INTO far');
is(sql("SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class WHERE relnamespace = 'far'::regnamespace"), 'm times',
	'hypertables are imported, their chunks and batches are not');
is(sql('SELECT count(*) FROM far.m'), on('one', 'SELECT count(*) FROM m'), 'and can be read');

#-------------------------------------------------------------------------
# Changes
#-------------------------------------------------------------------------

# rows for chunks that are there, and for new ones; in batches, and by COPY
my $new = q{SELECT '2026-01-08 23:00'::timestamptz + i * interval '13 minutes', i % 10, i, 'new' FROM generate_series(0, 99) AS i};
sql("INSERT INTO m $new; INSERT INTO h $new");
superuser("ALTER SERVER one OPTIONS (ADD batch_size '30')");
sql("INSERT INTO m $new; INSERT INTO h $new");
sql("COPY $_ FROM stdin;\n2026-03-01\t1\t1.5\tcopied\n2026-01-02\t7\t2.5\tcopied\n\\.\n") for qw(m h);
same('SELECT count(*), sum(hashtextextended(t::text, 0)::numeric) FROM TABLE t', 'inserted rows are there');
is(on('one', "SELECT count(*) FROM show_chunks('m') WHERE show_chunks::text LIKE '%20260301%'"), '1', 'servers make their chunks');
like(error("INSERT INTO m VALUES ('2026-01-01', 11, 0, '')"), qr/no partition of relation "m" found for row/, 'not for what has no server');

for my $change (q{UPDATE TABLE SET usage = usage + 1, note = 'changed' WHERE host IN (3, 7) AND ts BETWEEN '2026-01-03' AND '2026-01-04'},
	q{UPDATE TABLE SET ts = '2026-05-01' WHERE host IN (2, 8) AND ts < '2026-01-01 10:00'},
	q{DELETE FROM TABLE WHERE host IN (4, 6) AND ts < '2026-01-02 05:00'},
	q{DELETE FROM TABLE WHERE usage IS NULL AND note = 'row 1'})
{
	like(explained($change =~ s/TABLE/m/r), qr/Foreign (Update|Delete) on public\.m_one.*Foreign (Update|Delete) on public\.m_two/s, "is sent: $change");
	is(sql(($change =~ s/TABLE/m/r) . ' RETURNING 1') =~ tr/1//, sql(($change =~ s/TABLE/h/r) . ' RETURNING 1') =~ tr/1//, 'and changes as many rows');
}
same('SELECT count(*), sum(hashtextextended(t::text, 0)::numeric) FROM TABLE t', 'changed rows are the same');
is($servers{$_}->safe_psql('postgres', "SELECT * FROM strata.verify('m')"), '', "verify finds nothing on $_") for qw(one two);
is(sql("BEGIN; DELETE FROM m WHERE host = 1; ROLLBACK; SELECT count(*) FROM m WHERE host = 1"), sql('SELECT count(*) FROM h WHERE host = 1'), 'rolled back on the server, too');

on('one', "CREATE TABLE emptied ($columns); " . sprintf($make, ('emptied') x 3));
sql("CREATE FOREIGN TABLE t_emptied ($columns) SERVER one OPTIONS (table_name 'emptied'); INSERT INTO t_emptied SELECT * FROM h LIMIT 2000; TRUNCATE t_emptied");
is(on('one', 'SELECT count(*) FROM emptied'), '0', 'TRUNCATE');

# What cannot be sent as a whole is sent row by row, by ctid, which many chunks have: one row is
# changed, or there is an error.
on('one', "CREATE TABLE places ($columns); " . sprintf($make, ('places') x 3)
	. "INSERT INTO places SELECT '2026-01-01'::timestamptz + i * interval '12 hours', i, 0, '' FROM generate_series(0, 4) AS i");
sql("CREATE FOREIGN TABLE places ($columns) SERVER one");
my $unsafe = 'WHERE host = 2 AND random() >= 0';
for my $change ("UPDATE places SET usage = 1 $unsafe", "DELETE FROM places $unsafe", "DELETE FROM places WHERE ts < now() AND host = 2",
	"UPDATE places SET ts = ts + interval '1 year' WHERE host = 2")
{
	like(explained($change), qr/Remote SQL: (UPDATE|DELETE) .* WHERE ctid = \$1/, "$change is sent by ctid");
	like(error($change), qr/rows in several chunks of hypertable "places" have the ctid that is looked for/, 'and refused');
}
is(sql('SELECT count(*), sum(usage) FROM places'), '5|0', 'no other row was changed');
on('one', "DELETE FROM places WHERE host <> 2");
sql("UPDATE places SET usage = 1 $unsafe");
is(sql('SELECT host, usage FROM places'), '2|1', 'a ctid that one chunk has is followed');
# a chunk is a table like others
my $chunk = on('one', "SELECT c FROM show_chunks('m') AS c ORDER BY 1 LIMIT 1");
sql("CREATE FOREIGN TABLE chunk ($columns) SERVER one OPTIONS (table_name '$chunk')");
my $count = sql('SELECT count(*) FROM chunk WHERE host = 3');
is(sql("WITH u AS (UPDATE chunk SET note = 'by ctid' WHERE host = 3 AND random() >= 0 RETURNING 1) SELECT count(*) FROM u"), $count, 'rows of a chunk by ctid');
is(sql("SELECT count(*), count(DISTINCT host) FROM m_one WHERE note = 'by ctid'"), "$count|1", 'are those meant');

#-------------------------------------------------------------------------
# A hypertable with foreign chunks: recent rows here, older ones there
#-------------------------------------------------------------------------

sql("CREATE TABLE mixed ($columns) PARTITION BY RANGE (ts);
	CREATE FOREIGN TABLE mixed_old PARTITION OF mixed FOR VALUES FROM ('2026-01-01') TO ('2026-01-05') SERVER one OPTIONS (table_name 'times');
	SELECT create_hypertable('mixed', 'ts', chunk_time_interval => interval '12 hours');
	ALTER TABLE mixed SET (strata.segmentby = 'host', strata.orderby = 'ts');
	INSERT INTO mixed SELECT * FROM by_time WHERE ts >= '2026-01-05'");
superuser("SET ROLE app; SET strata.report_compression = off; CALL strata.compress_all('mixed')");
sql("INSERT INTO mixed SELECT * FROM by_time WHERE ts >= '2026-01-08'; DELETE FROM mixed WHERE ts >= '2026-01-08' AND host = 3");
sql("CREATE TABLE kept USING heap AS SELECT * FROM mixed");
is(sql('SELECT count(*) > 5000 FROM kept'), 't', 'rows of both');
for my $query ($by_host, $buckets, $gaps, $compared, 'SELECT * FROM TABLE ORDER BY ts DESC, host, usage LIMIT 9', 'SELECT * FROM TABLE ORDER BY ts, host, usage LIMIT 9',
	'SELECT * FROM TABLE ORDER BY usage DESC NULLS LAST, ts LIMIT 9', 'SELECT host, count(DISTINCT note) FROM TABLE GROUP BY host ORDER BY host')
{
	is(sql($query =~ s/TABLE/mixed/r), sql($query =~ s/TABLE/kept/r), "mixed: $query");
}
# rows for both, in turn, by COPY and INSERT, with new chunks between
my $alternate = join '', map { "2026-01-02 00:00:0$_\t$_\t0.5\tx\n2026-0$_-20\t$_\t0.5\tx\n" } 2 .. 8;
sql("COPY $_ FROM stdin;\n$alternate\\.\n") for qw(mixed kept);
my $insert = q{SELECT CASE WHEN i % 2 = 0 THEN '2026-01-03'::timestamptz + i * interval '1 s' ELSE '2027-01-01'::timestamptz + i * interval '7 hours' END, 1, i, 'y'
	FROM generate_series(0, 199) AS i};
sql("INSERT INTO $_ $insert") for qw(mixed kept);
sql("UPDATE $_ SET usage = usage + 1 WHERE note IN ('x', 'y') AND host < 5") for qw(mixed kept);
# a row moves from the chunk here to the one there
sql("UPDATE $_ SET ts = '2026-01-02 17:00' WHERE ts = '2026-02-20'; DELETE FROM $_ WHERE ts = '2026-03-20'") for qw(mixed kept);
is(sql("SELECT count(*), sum(hashtextextended(t::text, 0)::numeric) FROM mixed t"), sql("SELECT count(*), sum(hashtextextended(t::text, 0)::numeric) FROM kept t"),
	'changes of a hypertable with a foreign chunk');
like(error($_), qr/the rows of foreign table "mixed_old" are on server "one"\nHINT:  Call the function there/, "not here: $_")
  for "SELECT compress_chunk('mixed_old')", "SELECT decompress_chunk('mixed_old')", "SELECT reorder_chunk('mixed_old')", "CALL split_chunk('mixed_old')",
  "SELECT * FROM strata.batches('mixed_old')", "CALL detach_chunk('mixed_old')";
# what chunks follow their hypertable in, as far as a foreign table can
sql("CREATE INDEX mixed_note ON mixed (note); ALTER TABLE mixed REPLICA IDENTITY FULL; ALTER TABLE mixed ALTER note SET COMPRESSION pglz;
	ALTER TABLE mixed SET (fillfactor = 90); ALTER TABLE mixed SET TABLESPACE pg_default;
	ALTER TABLE mixed ALTER usage SET STATISTICS 50; ALTER TABLE mixed RENAME note TO word; ALTER TABLE mixed RENAME word TO note");
# 18 knows this of no partitioned table
sql("ALTER TABLE mixed SET UNLOGGED; ALTER TABLE mixed SET LOGGED") if $node->pg_version < 18;
is(sql("SELECT count(DISTINCT relreplident) FROM pg_class JOIN show_chunks('mixed') AS c ON c = oid WHERE relkind = 'r'"), '1', 'ALTER TABLE reaches the chunks that are tables');
is(sql("SELECT compress_chunk('mixed')"), 'mixed', 'and left out when all are compressed');
is(sql("SELECT count(*) FROM strata.verify('mixed')"), '0', 'verify finds nothing');
is(sql("SELECT drop_chunks('mixed', older_than => '2026-01-05'::timestamptz)"), 'public.mixed_old', 'drop_chunks drops the foreign table');
is(on('one', "SELECT count(*) > 1000 FROM times"), 't', 'not the rows of the other server');

#-------------------------------------------------------------------------
# One server down
#-------------------------------------------------------------------------

my %before = map { ($_ => sql("SELECT count(*), sum(hashtextextended(t::text, 0)::numeric) FROM $_ t")) } qw(m_one t_one);
my $answer = sql("SELECT host, count(*), sum(usage) FROM m WHERE host < 5 GROUP BY host ORDER BY host");
$servers{two}->stop('immediate');
like(error('SELECT count(*) FROM m'), qr/could not connect to server "two"/, 'who needs the server is told');
like(error("INSERT INTO m VALUES ('2026-01-01', 8, 0, '')"), qr/could not connect to server "two"/, 'who writes there, too');
is(sql("SELECT host, count(*), sum(usage) FROM m WHERE host < 5 GROUP BY host ORDER BY host"), $answer, 'others get their answers');
is(sql("SELECT count(*), sum(hashtextextended(t::text, 0)::numeric) FROM m t WHERE host < 5"), $before{m_one}, 'of all rows');
is(sql("SELECT count(*), sum(hashtextextended(t::text, 0)::numeric) FROM by_time t WHERE time_bucket('1 day', ts) < '2026-01-05'"), $before{t_one}, 'pruned by a bucket');
is(sql("INSERT INTO m VALUES ('2026-01-01', 3, 0, 'while two is down') RETURNING host"), '3', 'and can write');
is(sql("BEGIN; UPDATE m SET usage = 5 WHERE note = 'while two is down' AND host = 3; COMMIT; SELECT usage FROM m WHERE note = 'while two is down' AND host = 3"), '5', 'and change');
$servers{two}->start;
is(sql('SELECT count(*) FROM m'), sql('SELECT count(*) + 1 FROM h'), 'the server is back');

done_testing();
