# test/t/025_batch_index.pl
#	  What leads from values to batches: on a standby, where each replayed page
#	  is compared with the primary's, after crashes in the middle of making it
#	  (CREATE INDEX and REINDEX CONCURRENTLY, too), beside transactions that load
#	  batches while an index is made, and in a database that was dumped.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = strata_node('primary', "wal_log_hints = on\nwal_consistency_checking = 'all'\nmax_wal_size = 4GB\nwal_keep_size = 1GB\nstrata.index_pages = 0\nstrata.batch_rows = 100\n", allows_streaming => 1);
$primary->safe_psql('postgres', q{
	CREATE EXTENSION strata;
	CREATE TABLE h (ts timestamptz NOT NULL, dev int, trace uuid, num bigint, tags text[], pos point);
	CREATE TABLE t (LIKE h) USING strata WITH (strata.segmentby = 'dev', strata.orderby = 'ts', strata.direct_load = on);
	CREATE INDEX t_trace ON t (trace);
	CREATE INDEX t_brin ON t USING brin (ts timestamptz_minmax_multi_ops, num int8_bloom_ops);
	CREATE INDEX t_gin ON t USING gin (tags);
	CREATE INDEX t_gist ON t USING gist (pos);
	CREATE INDEX t_expr ON t ((num % 1000));
	CREATE INDEX t_some ON t (trace) WHERE num < 100;
	CREATE INDEX t_made ON t USING gist (point(num, dev)) WHERE dev > 0;
	CREATE FUNCTION made(a int, b int) RETURNS SETOF h LANGUAGE sql AS $$ SELECT '2026-01-01'::timestamptz + i * interval '1 s', i % 3, md5(i::text)::uuid, i * 7919 % 10007, ARRAY['u' || i, 'g' || i / 150, NULL], point(i / 7 % 50, i % 7) FROM generate_series(a, b) AS i $$;
});
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

# Rows that look-ups find, and whether by the batch index.
sub same_rows
{
	my ($node, $what, $database) = @_;
	$database //= 'postgres';
	my $where = q{trace IN (SELECT md5(g::text)::uuid FROM generate_series(0, 9000, 500) AS g) OR false};
	my $all = join ', ', map { "md5('$_')::uuid" } map { $_ * 500 } 0 .. 18;
	foreach my $condition ("trace IN ($all)", "trace = md5('1500')::uuid", 'num = 5', 'num IN (7, 8, 9, 10007)', "trace = md5('11234')::uuid", "ts BETWEEN '2026-01-01 00:50' AND '2026-01-01 00:51'", 'num = 4711::bigint', q{tags @> '{u1500}'}, q{tags && '{g7,u11234}'}, q{tags <@ '{u7,g0}'}, q{num % 1000 = 7}, 'num % 1000 = ANY (ARRAY[7, 8, NULL])', 'num < 100', "num < 50 AND trace = md5('7')::uuid", q{pos <@ box '((3,1),(5,2))'}, q{point(num, dev) <@ box '((5,1),(9,2))' AND dev > 0}, $where)
	{
		my $query = "SELECT coalesce(md5(string_agg(x::text, ',' ORDER BY x::text)), '') FROM (SELECT * FROM TABLE_ WHERE $condition) AS x";
		is($node->safe_psql($database, $query =~ s/TABLE_/t/r), $node->safe_psql($database, $query =~ s/TABLE_/h/r), "$what: $condition");
	}
	my $nearest = q{SELECT pos <-> point(3, 3) FROM TABLE_ WHERE num > 100 ORDER BY 1 LIMIT 40};
	is($node->safe_psql($database, $nearest =~ s/TABLE_/t/r), $node->safe_psql($database, $nearest =~ s/TABLE_/h/r), "$what: nearest");
	is($node->safe_psql($database, q{SELECT count(*) FROM strata.verify('t')}), '0', "$what: sound");
}

sub by_batch_index
{
	my ($node, $database) = @_;
	$database //= 'postgres';
	return $node->safe_psql($database, q{EXPLAIN SELECT * FROM t WHERE trace = md5('1')::uuid}) =~ /Batch Index: t_trace/
	  && $node->safe_psql($database, q{EXPLAIN SELECT * FROM t WHERE tags @> '{u1}'}) =~ /Batch Index: t_gin/
	  && $node->safe_psql($database, q{EXPLAIN SELECT * FROM t WHERE num % 1000 = 7}) =~ /Batch Index: t_expr/;
}

my @steps = (
	[ 'compressed', q{INSERT INTO t SELECT * FROM made(1, 4000)}, q{INSERT INTO h SELECT * FROM made(1, 4000)}, 'ANALYZE t', q{SELECT compress_chunk('t')} ],
	[ 'changed', q{UPDATE t SET num = 5 WHERE num % 100 = 7}, q{UPDATE h SET num = 5 WHERE num % 100 = 7}, 'DELETE FROM t WHERE num = 9', 'DELETE FROM h WHERE num = 9' ],
	[ 'another index', 'CREATE INDEX t_num ON t USING hash (num)' ],
	[ 'recompressed', q{INSERT INTO t SELECT * FROM made(4001, 5000)}, q{INSERT INTO h SELECT * FROM made(4001, 5000)}, q{SELECT compress_chunk('t', recompress => true)} ],
	[ 'rolled back', q{BEGIN; SELECT compress_chunk('t', recompress => true); DELETE FROM t; ROLLBACK} ],
	[ 'vacuumed', 'VACUUM (FREEZE) t' ],
	[ 'decompressed', q{SELECT decompress_chunk('t')}, 'VACUUM t' ],
	[ 'compressed again', q{SELECT compress_chunk('t')} ],
	[ 'rewritten', 'VACUUM FULL t' ],
	[ 'reindexed', 'REINDEX TABLE t' ],
	[ 'reindexed beside others', 'REINDEX TABLE CONCURRENTLY t' ],
	[ 'types changed', (map { ("ALTER TABLE $_ ALTER tags TYPE varchar[]", "ALTER TABLE $_ ALTER dev TYPE bigint", "ALTER TABLE $_ ALTER pos TYPE box USING box(pos, pos)") } 't', 'h'), 'ANALYZE t' ],
	[ 'and compressed', q{SELECT compress_chunk('t', recompress => true)} ],
	[ 'types changed back', (map { ("ALTER TABLE $_ ALTER tags TYPE text[]", "ALTER TABLE $_ ALTER dev TYPE int", "ALTER TABLE $_ ALTER pos TYPE point USING center(pos)") } 't', 'h'), q{SELECT compress_chunk('t')}, 'ANALYZE t' ],);
foreach my $step (@steps)
{
	my ($what, @sql) = @$step;
	$primary->safe_psql('postgres', $_) foreach @sql;
	$primary->wait_for_catchup($standby);
	same_rows($primary, $what);
	same_rows($standby, "$what, on the standby");
}
ok(by_batch_index($primary), 'the primary looks for batches by the index');
ok(by_batch_index($standby), 'and so does the standby');

# a crash while a compression, and while an index, is not committed yet
foreach my $sql (q{SELECT compress_chunk('t', recompress => true)}, 'CREATE INDEX t_again ON t (num)', q{SELECT decompress_chunk('t')})
{
	my ($session) = start_psql($primary, "BEGIN; INSERT INTO t SELECT * FROM made(9000, 9100); $sql; SELECT pg_switch_wal(); SELECT pg_sleep(600);");
	ok(wait_until(sub { return $primary->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE '%pg_sleep(600)%'") eq '1' }), "begun: $sql");
	my $postmaster = $primary->{_pid};
	$primary->kill9;
	eval { $session->finish };
	# its orphans may hold the shared memory a little longer
	wait_until(sub { return !kill 0, $postmaster; });
	ok(wait_until(sub { return $primary->start(fail_ok => 1); }, 300), "started again: $sql");
	same_rows($primary, "a crash in $sql");
	$primary->safe_psql('postgres', q{INSERT INTO t SELECT * FROM made(9500, 9600)});
	$primary->safe_psql('postgres', q{INSERT INTO h SELECT * FROM made(9500, 9600)});
	$primary->safe_psql('postgres', q{SELECT compress_chunk('t')});
	same_rows($primary, "after a crash in $sql");
}

# a crash while an index is made, or made again, beside a transaction that it waits for
foreach my $sql ('CREATE INDEX CONCURRENTLY t_beside ON t ((num % 77), trace)', 'CREATE INDEX CONCURRENTLY t_beside ON t USING gist (box(pos, pos)) WHERE dev = 1', 'REINDEX INDEX CONCURRENTLY t_gin', 'REINDEX INDEX CONCURRENTLY t_expr')
{
	my ($writer) = start_psql($primary, q{BEGIN; INSERT INTO t SELECT * FROM made(9200, 9201); SELECT pg_sleep(600);});
	ok(wait_until(sub { return $primary->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE '%pg_sleep(600)%'") eq '1' }), "a writer beside: $sql");
	my ($session) = start_psql($primary, "$sql;");
	ok(wait_until(sub { return $primary->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%CONCURRENTLY%' AND pid <> pg_backend_pid()") eq '1' }), "waiting: $sql");
	$primary->safe_psql('postgres', 'SELECT pg_switch_wal()');
	my $postmaster = $primary->{_pid};
	$primary->kill9;
	eval { $_->finish } foreach ($writer, $session);
	wait_until(sub { return !kill 0, $postmaster; });
	ok(wait_until(sub { return $primary->start(fail_ok => 1); }, 300), "started again: $sql");
	same_rows($primary, "a crash in $sql");
	# what is left of it is invalid, and nobody is led by it
	my $left = $primary->safe_psql('postgres', q{SELECT string_agg(indexrelid::regclass::text, ', ') FROM pg_index WHERE indrelid = 't'::regclass AND NOT indisvalid});
	ok($left ne '', "something is left of it: $sql");
	$primary->safe_psql('postgres', q{SELECT compress_chunk('t', recompress => true)});
	same_rows($primary, "compressed after a crash in $sql");
	$primary->safe_psql('postgres', "DROP INDEX $left");
	$primary->safe_psql('postgres', $sql);
	same_rows($primary, "$sql, once more");
	$primary->safe_psql('postgres', 'DROP INDEX IF EXISTS t_beside');
}

# loads beside an index that is made again, and compressions
my @batches = map { my $a = 10000 + $_ * 100; my $b = $a + 99; "SELECT * FROM made($a, $b)" } 1 .. 30;
my ($load) = start_psql($primary, join('', map { "INSERT INTO t $_;\n" } @batches));
my ($again) = start_psql($primary, "REINDEX INDEX CONCURRENTLY t_trace;\n" x 4);
my ($compress) = start_psql($primary, "SELECT compress_chunk('t');\n" x 4);
eval { $_->finish } foreach ($load, $again, $compress);
$primary->safe_psql('postgres', "INSERT INTO h $_") foreach @batches;
same_rows($primary, 'loads beside an index made again');

# a summary that is damaged is said to be
my $runs = $primary->safe_psql('postgres', q{SELECT c.oid::regclass FROM pg_class AS c WHERE relname LIKE 'batch\_index\_%' AND relkind = 'r' ORDER BY c.oid DESC LIMIT 1});
my ($bare, undef, $said) = $primary->psql('postgres', qq{
	SET allow_system_table_mods = on; SET seq_page_cost = 0; SET random_page_cost = 0;
	BEGIN;
	UPDATE $runs SET hashes = set_byte(hashes, length(hashes) - 1, 255 - get_byte(hashes, length(hashes) - 1)) WHERE run >= 0 AND first_hash = 0;
	DROP INDEX t_trace, t_num;
	SELECT count(*) FROM t WHERE num = 4711::bigint;
	ROLLBACK;
});
like($said, qr/batch index .* is damaged/, 'damage of summaries is found');

$primary->wait_for_catchup($standby);
$primary->kill9;
$standby->promote;
same_rows($standby, 'promoted');
$standby->safe_psql('postgres', q{SELECT compress_chunk('t', recompress => true)});
same_rows($standby, 'promoted and compressed');

# dumped, and restored by several jobs; the second time out of one file
my $dumps = PostgreSQL::Test::Utils::tempdir();
foreach my $format ('directory', 'custom')
{
	$standby->command_ok([ 'pg_dump', "-F$format", ($format eq 'directory' ? ('-j', '2') : ()), '-f', "$dumps/$format", '-h', $standby->host, '-p', $standby->port, 'postgres' ], "dumped: $format");
	$standby->safe_psql('postgres', "CREATE DATABASE $format");
	$standby->command_ok([ 'pg_restore', '-e', '-j', '2', '-h', $standby->host, '-p', $standby->port, '-d', $format, "$dumps/$format" ], "restored: $format");
	$standby->safe_psql($format, 'ANALYZE t');
	same_rows($standby, "restored: $format", $format);
	ok(by_batch_index($standby, $format), "and look-ups are by the index: $format");
}
$standby->stop;
done_testing();
