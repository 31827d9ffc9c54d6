# test/t/060_hygiene.pl
#	  No companion outlives its table, however the table goes; and what is frozen
#	  in a strata table is frozen in its companion too.
use strict;
use warnings;

use StrataTest;
use Test::More;

my $node = strata_node('hygiene', "autovacuum = off\nmax_prepared_transactions = 2\nfsync = on\n");
$node->safe_psql('postgres', 'CREATE EXTENSION strata');

sub companions
{
	my ($database) = @_;
	return $node->safe_psql($database // 'postgres', q{SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname ~ '^batch_[0-9]+_[0-9]+$'});
}

# files of the database that no pg_class row names
sub stray_files
{
	$node->safe_psql('postgres', 'CHECKPOINT');
	return $node->safe_psql('postgres', q{
		SELECT string_agg(f, ' ') FROM (SELECT pg_ls_dir('base/' || oid) f FROM pg_database WHERE datname = current_database()) l
		WHERE f ~ '^[0-9]+' AND NOT EXISTS (SELECT FROM pg_class WHERE pg_relation_filenode(oid)::text = regexp_replace(f, '[._].*', ''))});
}

sub make
{
	my ($name, $how) = @_;
	return "CREATE TABLE $name (id int, d date, v text) USING strata; "
	  . "INSERT INTO $name SELECT i, '2026-01-01'::date + i, repeat(md5(i::text), 10) FROM generate_series(1, 3000) i; SELECT compress_chunk('$name'); ";
}

# each: statements after which no companion may be left
my %ways = (
	'DROP TABLE' => make('a') . 'DROP TABLE a',
	'DROP TABLE, several' => make('a') . make('b') . 'CREATE VIEW va AS SELECT * FROM a; DROP TABLE a, b CASCADE',
	'rollback of the table' => 'BEGIN; ' . make('a') . 'ROLLBACK',
	'rollback of the compression' => 'CREATE TABLE a (id int) USING strata; INSERT INTO a SELECT generate_series(1, 3000); BEGIN; SELECT compress_chunk(\'a\'); ROLLBACK; SELECT 1 / (strata.batch_relation(\'a\') IS NULL)::int; DROP TABLE a',
	'rollback to a savepoint' => 'BEGIN; SAVEPOINT s; ' . make('a') . 'ROLLBACK TO s; COMMIT',
	'TRUNCATE' => make('a') . 'TRUNCATE a',
	'TRUNCATE in the creating transaction, DROP' => 'BEGIN; ' . make('a') . 'TRUNCATE a; COMMIT; DROP TABLE a',
	'TRUNCATE RESTART CASCADE' => make('a') . 'ALTER TABLE a ADD PRIMARY KEY (id); CREATE TABLE b (a int REFERENCES a) USING strata; INSERT INTO b SELECT generate_series(1, 3000); SELECT compress_chunk(\'b\'); TRUNCATE a RESTART IDENTITY CASCADE',
	'ALTER TYPE' => make('a') . 'ALTER TABLE a ALTER id TYPE text',
	'SET UNLOGGED' => make('a') . 'ALTER TABLE a SET UNLOGGED',
	'SET ACCESS METHOD' => make('a') . 'ALTER TABLE a SET ACCESS METHOD heap',
	'VACUUM FULL, DROP' => make('a') . 'VACUUM FULL a; DROP TABLE a',
	'CLUSTER, TRUNCATE' => make('a') . 'CREATE INDEX i ON a (id); CLUSTER a USING i; TRUNCATE a',
	'DROP SCHEMA' => 'CREATE SCHEMA s; SET search_path = s, public; ' . make('a') . make('b') . 'DROP SCHEMA s CASCADE',
	'DROP OWNED' => 'CREATE ROLE r; GRANT CREATE ON SCHEMA public TO r; SET ROLE r; ' . make('a') . 'RESET ROLE; DROP OWNED BY r; DROP ROLE r',
	'REASSIGN OWNED' => 'CREATE ROLE r; CREATE ROLE q; GRANT CREATE ON SCHEMA public TO r; SET ROLE r; ' . make('a') . 'RESET ROLE; REASSIGN OWNED BY r TO q; DROP OWNED BY r; DROP ROLE r; DROP OWNED BY q; DROP ROLE q',
	'temporary, at the end' => 'CREATE TEMP TABLE a (id int) USING strata; INSERT INTO a SELECT generate_series(1, 3000); SELECT compress_chunk(\'a\')',
	'temporary, ON COMMIT' => 'BEGIN; CREATE TEMP TABLE a (id int) USING strata ON COMMIT DROP; INSERT INTO a SELECT generate_series(1, 3000); SELECT compress_chunk(\'a\'); COMMIT; CREATE TEMP TABLE b (id int) USING strata ON COMMIT DELETE ROWS; BEGIN; INSERT INTO b SELECT generate_series(1, 3000); SELECT compress_chunk(\'b\'); SELECT 1 / (count(*) = 3000)::int FROM b; COMMIT; SELECT 1 / (count(*) = 0)::int FROM b',
	'materialized view' => make('a') . 'CREATE MATERIALIZED VIEW m USING strata AS TABLE a; SELECT compress_chunk(\'m\'); REFRESH MATERIALIZED VIEW m; SELECT compress_chunk(\'m\'); DROP TABLE a CASCADE',
	'partitions' => 'CREATE TABLE p (id int) PARTITION BY RANGE (id); CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (5000) USING strata; CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (5000) TO (9000) USING strata; INSERT INTO p SELECT generate_series(1, 8000); SELECT compress_chunk(\'p\'); DROP TABLE p1; DROP TABLE p',
	'ALTER TABLE in one transaction' => make('a') . 'BEGIN; ALTER TABLE a ALTER v TYPE varchar(400); ALTER TABLE a ALTER id TYPE int8; SELECT compress_chunk(\'a\'); ALTER TABLE a ALTER id TYPE int4; COMMIT',
	'CREATE TABLE AS, rolled back' => make('a') . 'BEGIN; CREATE TABLE b USING strata AS TABLE a; SELECT compress_chunk(\'b\'); DROP TABLE a; ROLLBACK; SELECT 1 / (count(*) = 3000)::int FROM a; DROP TABLE a',);

foreach my $preload (1, 0)
{
	my $label = $preload ? 'preloaded' : 'not preloaded';
	$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', $preload ? "'strata'" : "''");
	$node->restart;
	foreach my $way (sort keys %ways)
	{
		my ($status, undef, $error) = $node->psql('postgres', 'SET client_min_messages = error; ' . ($ways{$way} =~ s/; /;\n/gr), on_error_stop => 1);
		is("$status$error", '0', "$label, $way: done");
		# a session drops its temporary tables when it has ended, for psql
		$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()");
		is(companions(), '0', "$label, $way: no companion left");
		$node->safe_psql('postgres', 'SET client_min_messages = error; DROP TABLE IF EXISTS a, b, p CASCADE');
	}
}
$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "'strata'");
$node->restart;

# a session that drops before anything of the library is in it
$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "''");
$node->restart;
$node->safe_psql('postgres', make('a'));
$node->safe_psql('postgres', 'DROP TABLE a');
is(companions(), '0', 'the event trigger sees to a drop without the library');
$node->safe_psql('postgres', make('a') . 'ALTER TABLE a SET UNLOGGED');
$node->safe_psql('postgres', q{SELECT compress_chunk('a')});
$node->safe_psql('postgres', 'TRUNCATE a');
is(companions(), '0', 'TRUNCATE without the library');
$node->safe_psql('postgres', 'DROP TABLE a');
$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "'strata'");
$node->restart;

# --- a crash with all of it in flight, and prepared
is(stray_files() // '', '', 'no stray files to begin with');
foreach my $end ('ROLLBACK', 'COMMIT')
{
	$node->safe_psql('postgres', 'BEGIN; ' . make('a') . q{PREPARE TRANSACTION 'p'});
	$node->stop('immediate');
	$node->start;
	$node->safe_psql('postgres', "$end PREPARED 'p'");
	is(companions(), $end eq 'COMMIT' ? '1' : '0', "$end PREPARED after a crash: companions");
	$node->safe_psql('postgres', 'DROP TABLE IF EXISTS a');
	is(companions(), '0', "$end PREPARED after a crash, dropped: companions");
	is(stray_files() // '', '', "$end PREPARED after a crash: no stray files");
}
$node->safe_psql('postgres', make('a') . 'CREATE UNLOGGED TABLE u (id int) USING strata; INSERT INTO u SELECT generate_series(1, 3000); SELECT compress_chunk(\'u\'); CHECKPOINT');
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', 'SELECT count(*) FROM a'), '3000', 'after a crash: a permanent table is as it was');
is($node->safe_psql('postgres', 'SELECT count(*) FROM u'), '0', 'after a crash: an unlogged one is empty');
is($node->safe_psql('postgres', q{SELECT count(*) FROM strata.batches('u')}), '0', 'after a crash: and has no batches');
$node->safe_psql('postgres', q{INSERT INTO u SELECT generate_series(1, 3000); SELECT compress_chunk('u'); SELECT 1 / (count(*) = 3000)::int FROM u});
is_sound($node, 'u', 'unlogged, filled again');
is($node->safe_psql('postgres', 'SELECT strata.gc()'), '0', 'after a crash: no orphans');

# --- what compression left empty becomes short, indexes too
$node->safe_psql('postgres', q{CREATE TABLE i (id int PRIMARY KEY, v text, x int) USING strata;
	CREATE INDEX i_v ON i (v); CREATE INDEX i_x ON i ((x + 1));
	INSERT INTO i SELECT g, 'value ' || g, g FROM generate_series(1, 60000) g; SELECT compress_chunk('i')});
ok($node->poll_query_until('postgres', q{SELECT pg_relation_size('i') = 0 AND pg_indexes_size('i') <= 6 * 8192}),
	'after compression: table and indexes are given back');
is($node->safe_psql('postgres', q{SELECT string_agg(attname || ' ' || n_distinct, ', ' ORDER BY attname) FROM pg_stats WHERE tablename = 'i'}), 'id -1, v -1, x -1',
	'and the planner knows its values');
is($node->safe_psql('postgres', 'INSERT INTO i VALUES (30000) ON CONFLICT DO NOTHING; SELECT count(*) FROM i WHERE id = 30000'), '1',
	'and the keys of compressed rows are still unique');
is_sound($node, 'i', 'indexes made anew');

# --- what recompression replaces is given back, by the next VACUUM FULL at the latest
my $batch_bytes = q{SELECT batch_bytes FROM strata.tables WHERE relation = 'bloat'::regclass};
my $update = q{DO $$ BEGIN FOR i IN 1..4000 LOOP UPDATE bloat SET v = v + 1 WHERE id = i * 24; COMMIT; END LOOP; END $$;};
$node->safe_psql('postgres', q{CREATE TABLE bloat (id int PRIMARY KEY, device int, v float8, note text) USING strata
		WITH (strata.segmentby = 'device', strata.orderby = 'id');
	INSERT INTO bloat SELECT i, i % 50, i % 97, md5(i::text) FROM generate_series(1, 100000) i;
	SELECT compress_chunk('bloat')});
my $fresh = $node->safe_psql('postgres', $batch_bytes);
foreach my $round (1 .. 3)
{
	$node->safe_psql('postgres', $update);
	cmp_ok($node->safe_psql('postgres', $batch_bytes), '>', $fresh + 200_000, "4,000 rows updated, round $round: their entries take space");
	$node->safe_psql('postgres', q{SELECT compress_chunk('bloat', recompress => true)});
	ok($node->poll_query_until('postgres', "SELECT ($batch_bytes) < $fresh * 1.25"), "recompressed, round $round: the space is given back");
	is($node->safe_psql('postgres', q{SELECT count(*), sum(v) - sum(id % 97) FROM bloat}), '100000|' . 4000 * $round, "round $round: same rows");
	is_sound($node, 'bloat', "round $round");
}
$node->safe_psql('postgres', "SET strata.background_vacuum = off; $update");
$node->safe_psql('postgres', q{SET strata.background_vacuum = off; SELECT compress_chunk('bloat', recompress => true)});
cmp_ok($node->safe_psql('postgres', $batch_bytes), '>', $fresh * 1.5, 'without the worker: there is dead space');
$node->safe_psql('postgres', 'VACUUM bloat');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_all_tables WHERE relid = strata.batch_relation('bloat') AND vacuum_count > 0}), '1',
	'VACUUM of the table vacuums the companion');
$node->safe_psql('postgres', 'VACUUM FULL bloat');
cmp_ok($node->safe_psql('postgres', $batch_bytes), '<', $fresh * 1.25, 'VACUUM FULL rewrites the companion');
is($node->safe_psql('postgres', q{SELECT count(*), sum(v) - sum(id % 97) FROM bloat}), '100000|16000', 'VACUUM FULL: same rows');
is_sound($node, 'bloat', 'VACUUM FULL');
$node->safe_psql('postgres', q{SELECT decompress_chunk('bloat')});
ok($node->poll_query_until('postgres', "SELECT ($batch_bytes) < $fresh / 8"), 'decompressed: the space is given back');
$node->safe_psql('postgres', 'DROP TABLE bloat');

# --- freezing
my $ages = q{SELECT greatest(max(age(c.relfrozenxid)), max(age(t.relfrozenxid))) FROM pg_class c LEFT JOIN pg_class t ON t.oid = c.reltoastrelid
	WHERE c.oid IN ('a'::regclass, strata.batch_relation('a'))};
$node->safe_psql('postgres', q{UPDATE a SET v = 'x' WHERE id = 5; DELETE FROM a WHERE id = 6});
$node->safe_psql('postgres', 'DO $$ BEGIN FOR i IN 1..500 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$');
cmp_ok($node->safe_psql('postgres', $ages), '>', 400, 'the table and its companion are old');
$node->safe_psql('postgres', 'VACUUM (FREEZE) a');
cmp_ok($node->safe_psql('postgres', $ages), '<', 50, 'VACUUM FREEZE of the table freezes table, companion and TOAST');
$node->safe_psql('postgres', 'VACUUM (FREEZE)');
cmp_ok($node->safe_psql('postgres', $ages), '<', 50, 'VACUUM FREEZE of the database freezes table, companion and TOAST');
is($node->safe_psql('postgres', 'SELECT count(*), sum(id) FROM a'), '2999|4501494', 'and the rows are there');
cmp_ok($node->safe_psql('postgres', 'SELECT max(age(datfrozenxid)) FROM pg_database WHERE datname = current_database()'), '<', 50, 'datfrozenxid follows');
# autovacuum alone, at an age that forces it
$node->append_conf('postgresql.conf', "autovacuum = on\nautovacuum_naptime = 1s\nautovacuum_freeze_max_age = 100000\nvacuum_freeze_min_age = 0\nvacuum_freeze_table_age = 0\nautovacuum_vacuum_insert_threshold = 100\nautovacuum_vacuum_threshold = 10\nautovacuum_vacuum_scale_factor = 0\n");
$node->restart;
$node->safe_psql('postgres', 'SET strata.background_vacuum = off; SET strata.batch_rows = 10; ' . make('c') . q{DELETE FROM c WHERE id < 500});
ok( $node->poll_query_until('postgres', q{SELECT count(*) = 2 FROM pg_stat_all_tables WHERE relid IN ('c'::regclass, strata.batch_relation('c')) AND autovacuum_count > 0}),
	'autovacuum visits table and companion');
is($node->safe_psql('postgres', 'SELECT count(*) FROM c'), '2501', 'and rows stay');

# --- the extension goes, with everything
$node->safe_psql('postgres', 'SET client_min_messages = error; SET strata.allow_drop_cascade = on; DROP EXTENSION strata CASCADE');
is(companions(), '0', 'DROP EXTENSION CASCADE: no companion left');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_class WHERE relname IN ('a', 'c', 'u')}), '0', 'DROP EXTENSION CASCADE: its tables are gone');
is(stray_files() // '', '', 'no stray files in the end');
$node->safe_psql('postgres', 'CREATE EXTENSION strata; ' . make('a'));
is($node->safe_psql('postgres', 'SELECT count(*) FROM a'), '3000', 'and it can be made again');

$node->stop;
done_testing();
