# test/t/360_space.pl
#	  The space that compression frees comes back: without a word from anybody,
#	  on an idle server, behind an old snapshot, a lock, a prepared transaction,
#	  a crash, with few workers, and without the library being preloaded.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = strata_node('space', "autovacuum = off\nmax_prepared_transactions = 2\nmax_worker_processes = 8\nfsync = off\n");

sub sql { return $node->safe_psql('postgres', $_[0]); }

# tables of chunks of 12 hours, their owner no superuser, late rows beside
sql(q{
	CREATE EXTENSION strata;
	CREATE ROLE owner;
	CREATE ROLE stranger;
	GRANT CREATE ON SCHEMA public TO owner;
	CREATE FUNCTION make(name text, chunks int, n int) RETURNS void LANGUAGE plpgsql SET search_path = public AS $$
	BEGIN
		EXECUTE format('CREATE TABLE %I (ts timestamptz NOT NULL, host int, usage float8, note text)', name);
		PERFORM create_hypertable(name, 'ts', chunk_time_interval => interval '12 hours');
		EXECUTE format('ALTER TABLE %I SET (strata.segmentby = ''host'', strata.orderby = ''ts'')', name);
		EXECUTE format('CREATE INDEX ON %I (host, ts DESC)', name);
		EXECUTE format('INSERT INTO %I SELECT %L::timestamptz + i * interval ''12 hours'' / %s, i %% 7, i %% 100, ''row''
			FROM generate_series(0, %s) i', name, '2026-01-01 00:00+00', n, chunks * n - 1);
	END $$;
	CREATE VIEW queue AS SELECT relation::regclass, waits_for, tries FROM _strata.space_queue;
	-- pages of row stores and of what belongs to them: batches left out
	CREATE FUNCTION waste(name regclass) RETURNS numeric LANGUAGE sql AS
		'SELECT sum(pg_relation_size(i)) / 8192 FROM show_chunks($1) c,
			LATERAL (SELECT c::oid UNION ALL SELECT indexrelid FROM pg_index WHERE indrelid = c) AS r (i)';
});

sub make { my ($name, $chunks, $rows) = @_; return sql("SET ROLE owner; SELECT make('$name', $chunks, $rows)"); }
sub compress { my ($name) = @_; return "SET ROLE owner; SELECT count(compress_chunk(c)) FROM show_chunks('$name') c;"; }
my $empty = "SELECT count(*) = 0 FROM queue";

# what REINDEX and VACUUM would leave: compared with, not guessed
sub is_short
{
	my ($name, $what) = @_;
	my $waste = sql("SELECT waste('$name')");
	sql("VACUUM $name; REINDEX TABLE $name");
	is($waste, sql("SELECT waste('$name')"), $what);
	return;
}

make('a', 17, 8000);
cmp_ok(sql("SELECT waste('a')"), '>', 17 * 60, '17 chunks have pages');
sql(compress('a'));
becomes($node, $empty, '17 chunks were seen to');
becomes($node, "SELECT sum(c.reltuples) = 136000 AND sum(s.n_live_tup) = 136000 AND approximate_row_count('a') = 136000
	FROM show_chunks('a') a JOIN pg_class c ON c.oid = a JOIN pg_stat_all_tables s ON relid = a", 'their rows are counted, both halves and each once');
is_short('a', 'they have the size that VACUUM and REINDEX give');
becomes($node, "SELECT sum(c.reltuples) = 136000 AND sum(s.n_live_tup) = 136000
	FROM show_chunks('a') a JOIN pg_class c ON c.oid = a JOIN pg_stat_all_tables s ON relid = a", 'and so they are behind VACUUM and REINDEX');

# late rows stay, in as few pages
sql("INSERT INTO a SELECT ts + interval '1 s', host, usage, note FROM a WHERE host = 1");
sql(compress('a'));
# rows that come before VACUUM has made room lie behind free pages ('behind' below), and whether they do is a race
becomes($node, $empty, 'late rows were compressed');
sql("INSERT INTO a SELECT ts + interval '2 s', host, usage, note FROM a WHERE host = 1 LIMIT 100");
is_short('a', 'their space, too');

# a thousand in one transaction
make('many', 1000, 60);
sql(compress('many'));
becomes($node, $empty, 'a thousand chunks were seen to');
is_short('many', 'with few workers');

# all ways that free space
sql("SET ROLE owner; SELECT count(compress_chunk(c, recompress => true)) FROM show_chunks('a') c");
becomes($node, $empty, 'recompressed');
is_short('a', 'no space is left by recompression');
sql("SET ROLE owner; SELECT count(decompress_chunk(c)) FROM show_chunks('a') c");
becomes($node, $empty, 'decompressed');
is(sql("SELECT sum(pg_table_size(strata.batch_relation(c))) < 17 * 40000 FROM show_chunks('a') c"), 't', 'no batches are left');
my $job = sql("SET ROLE owner; SELECT add_compression_policy('a', interval '1 h', initial_start => now() + interval '1 year')");
sql("CALL run_job($job)");
becomes($node, $empty, 'compressed by a policy');
is_short('a', 'which frees space as well');
sql(compress('many') . "SELECT drop_chunks('many', older_than => '2026-02-01'::timestamptz)");
sql("DROP TABLE many");
becomes($node, $empty, 'tables that are gone are not waited for');

# a session that has done something in a transaction, and stays in it: asleep, with a snapshot, or idle
sub hold
{
	my ($statements, $wait, $state) = @_;
	start_psql($node, "$statements;\n$wait\n");
	my $holder = "SELECT pid FROM pg_stat_activity WHERE $state";
	$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM ($holder) s") or die 'it is not there';
	return sql($holder);
}

# an old snapshot
sub problem { return sql("SELECT object, detail, hint FROM strata.problems WHERE problem = 'space waits to be given back'"); }

make('b', 3, 8000);
my $pid = hold('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class', 'SELECT pg_sleep(1000);', "wait_event = 'PgSleep'");
sql(compress('b'));
becomes($node, "SELECT count(*) = 3 FROM queue WHERE waits_for = 'snapshot'", 'compression waits for an old snapshot');
sql("UPDATE _strata.space_queue SET since = since - interval '2 minutes'");
like(problem(), qr/^b\|3 tables wait since .*: process $pid .* may still see what was removed\|SELECT pg_terminate_backend\($pid\);$/, 'and says so');
is(sql("SET ROLE stranger; SELECT count(*) FROM strata.problems WHERE problem = 'space waits to be given back'"), '0', 'to nobody else');
sql("SELECT pg_terminate_backend($pid)");
sql("UPDATE _strata.space_queue SET next_try = now()");
$node->stop('immediate');
$node->start;
becomes($node, $empty, 'and is seen to after a crash');
is_short('b', 'behind an old snapshot');

# rows that come in behind those that were compressed, before there is room in front
make('behind', 3, 8000);
sql('ALTER TABLE behind ADD COLUMN long text');
my $reader = hold('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class', 'SELECT pg_sleep(1000);', "wait_event = 'PgSleep'");
sql(compress('behind'));
sql(q{INSERT INTO behind SELECT ts + interval '1 s', host, usage, 'late', repeat(host::text, 10 + 3000 * (host % 2)) FROM behind WHERE host = 1 AND usage < 10});
my $rows = q{SELECT count(*), sum(hashtextextended(b::text, 0)::numeric) FROM behind AS b};
my $by_index = q{SET enable_seqscan = off; SELECT sum(usage) FROM behind WHERE host = 1 AND ts > '2026-01-01 11:00+00' AND note = 'late'};
my @before = (sql($rows), sql($by_index));
cmp_ok(sql("SELECT min(pg_relation_size(c)) FROM show_chunks('behind') c"), '>', 50 * 8192, 'they lie behind pages of others');
sql("SELECT pg_terminate_backend($reader); UPDATE _strata.space_queue SET next_try = now()");
becomes($node, $empty, 'compression with late rows behind');
cmp_ok(sql("SELECT max(pg_table_size(c)) FROM show_chunks('behind') c"), '<', 32 * 8192, 'they are moved to the front');
is(sql(q{SELECT sum(c.reltuples) FROM show_chunks('behind') s JOIN pg_class c ON c.oid = s}), sql('SELECT count(*) FROM behind'), 'and counted');
is(sql(q{SELECT sum(relallvisible) = sum(relpages) FROM show_chunks('behind') s JOIN pg_class c ON c.oid = s}), 't', 'and known to be seen by all');
is_deeply([sql($rows), sql($by_index)], \@before, 'and the same');
is(sql(q{SELECT count(*) FROM show_chunks('behind') c, strata.verify(c)}), '0', 'and in order');
is_short('behind', 'behind late rows');

# pages that the table wants free are not what rows lie behind: it is not copied each time
sub files { return sql("SELECT string_agg(pg_relation_filenode(c)::text, ' ' ORDER BY c) FROM show_chunks('behind') c"); }
my $queue_again = "INSERT INTO _strata.space_queue (relation, batches, before) SELECT c, false, 0 FROM show_chunks('behind') c; UPDATE _strata.job SET id = id WHERE false";
sql("ALTER TABLE behind SET (fillfactor = 10)");
sql(q{INSERT INTO behind SELECT ts + interval '2 s', host, usage, 'more' FROM behind WHERE host IN (2, 3)});
cmp_ok(sql("SELECT min(pg_relation_size(c)) FROM show_chunks('behind') c"), '>', 100 * 8192, 'a fillfactor of 10 takes pages');
my $files = files();
sql($queue_again);
becomes($node, $empty, 'which are looked at');
is(files(), $files, 'and left as they are');

# somebody is at the batches: nothing is copied that cannot be finished, and no reader waits
sql("ALTER TABLE behind RESET (fillfactor)");
sql("ALTER SYSTEM SET log_lock_waits = on; ALTER SYSTEM SET deadlock_timeout = '100ms'; SELECT pg_reload_conf()");
$reader = hold(q{BEGIN; DO $$ DECLARE b regclass; BEGIN
	FOR b IN SELECT strata.batch_relation(c) FROM show_chunks('behind') c LOOP EXECUTE format('LOCK TABLE %s IN SHARE UPDATE EXCLUSIVE MODE', b); END LOOP;
	END $$}, '\! sleep 30', "state = 'idle in transaction'");
my $log_from = -s $node->logfile;
sql($queue_again);
becomes($node, "SELECT count(*) = 3 FROM queue WHERE waits_for = 'lock'", 'batches are in use');
unlike(substr(slurp_file($node->logfile), $log_from), qr/still waiting for AccessExclusiveLock/, 'nobody waits');
is(files(), $files, 'and nothing is copied');
sql("SELECT pg_terminate_backend($reader); UPDATE _strata.space_queue SET next_try = now()");
becomes($node, $empty, 'until they are free');
isnt(files(), $files, 'and then it is');
is_deeply([sql($rows . q{ WHERE note IN ('row', 'late')}), sql($by_index)], \@before, 'with the same rows');
sql("ALTER SYSTEM RESET log_lock_waits; ALTER SYSTEM RESET deadlock_timeout; SELECT pg_reload_conf()");

# a prepared transaction that has seen nothing but is older
make('c', 2, 8000);
sql("BEGIN; CREATE TABLE unseen (); PREPARE TRANSACTION 'it''s'");
sql(compress('c'));
becomes($node, "SELECT count(*) = 2 FROM queue WHERE waits_for = 'snapshot'", 'compression waits for a prepared transaction');
sql("UPDATE _strata.space_queue SET since = since - interval '2 minutes'");
like(problem(), qr/ROLLBACK PREPARED 'it''s';/, 'whose name is said');
sql("ROLLBACK PREPARED 'it''s'; UPDATE _strata.space_queue SET next_try = now()");
becomes($node, $empty, 'it is gone');
is_short('c', 'behind a prepared transaction');

# prepared itself: its entries are found when somebody looks
make('d', 2, 8000);
sql("BEGIN; " . compress('d') . "; PREPARE TRANSACTION 'compressed'");
sql("COMMIT PREPARED 'compressed'; SELECT FROM alter_job(2, next_start => now())");
becomes($node, $empty, 'compression in a prepared transaction');
is_short('d', 'by two-phase commit');

# somebody reads the table in a transaction
make('e', 2, 8000);
sql(compress('e'));
becomes($node, $empty, 'compressed');
sql("INSERT INTO e SELECT ts + interval '1 s', host, usage, note FROM e");
$pid = hold('BEGIN; SELECT count(*) FROM e', '\! sleep 30', "state = 'idle in transaction'");
sql("SET ROLE owner; SET lock_timeout = 0; SELECT count(compress_chunk(c)) FROM show_chunks('e') c");
becomes($node, "SELECT count(*) = 2 FROM queue WHERE waits_for = 'lock'", 'a reader in a transaction is not disturbed');
sql("UPDATE _strata.space_queue SET since = since - interval '2 minutes'");
like(problem(), qr/process $pid uses .*chunk/, 'and named');
sql("SELECT pg_terminate_backend($pid); UPDATE _strata.space_queue SET next_try = now(); SELECT FROM alter_job(2, next_start => now())");
becomes($node, $empty, 'it has gone');
is_short('e', 'behind a reader');

# what compress_chunk() and compress_all() say
sub notices { my ($sql) = @_; return ($node->psql('postgres', $sql))[2]; }
make('said', 3, 2880);
sql("INSERT INTO said SELECT ts, 99, 0, 'alone' FROM said ORDER BY ts DESC LIMIT 1");
my $first = sql("SELECT c FROM show_chunks('said') c ORDER BY 1 LIMIT 1");
like(notices("SET ROLE owner; SELECT compress_chunk('$first')"),
	qr/NOTICE:  2880 rows of table "said_2026\w+" compressed into 7 batches\nDETAIL:  Compressed rows took \d+ kB, and take \d+ kB now\.$/m, 'compress_chunk says what it did');
unlike(notices("SET ROLE owner; SET strata.report_compression = off; SELECT compress_chunk('$first')"), qr/compressed into/, 'unless asked not to');
my $said = notices("SET ROLE owner; CALL strata.compress_all('said')");
is(scalar(() = $said =~ /rows of table/g), 2, 'compress_all says it of each chunk');
like($said, qr/NOTICE:  2 of 3 tables, \d+ % of their bytes, are done\nDETAIL:  The rest may be done at 20/, 'and when the rest may be done');
sql("INSERT INTO said SELECT ts, 1, 1, 'late' FROM said");
like(notices("SET strata.background_vacuum = off; SET ROLE owner; SELECT compress_chunk('$first')"),
	qr/HINT:  VACUUM public\.said_\w+; REINDEX TABLE public\.said_\w+; gives back their space/, 'and what is left to do');

# compress_all() commits after each chunk: what one of them meets does not undo the others
sql("INSERT INTO said SELECT ts, 2, 2, 'later' FROM said WHERE host = 3");
my $second = sql("SELECT c FROM show_chunks('said') c ORDER BY 1 OFFSET 1 LIMIT 1");
$pid = hold("BEGIN; INSERT INTO $second SELECT * FROM $second LIMIT 1", '\! sleep 30', "state = 'idle in transaction'");
like(notices("SET ROLE owner; SET lock_timeout = '100ms'; CALL strata.compress_all('said')"), qr/ERROR:  canceling statement due to lock timeout/, 'an error is raised');
is(sql("SELECT string_agg((row_store_rows > 0)::text, ' ' ORDER BY relation::text) FROM strata.tables WHERE relation IN (SELECT show_chunks('said'))"),
	'false true false', 'after all had their turn');
sql("SELECT pg_terminate_backend($pid)");
like(notices("SET ROLE stranger; CALL strata.compress_all('said')"), qr/ERROR:  must be owner of table said/, 'strangers are refused');
becomes($node, $empty, 'their space was seen to');

# nothing is entered when asked not to
make('f', 1, 8000);
sql("SET strata.background_vacuum = off; " . compress('f'));
is(sql("SELECT count(*) FROM queue"), '0', 'strata.background_vacuum = off');

# killed
make('g', 40, 4000);
sql(compress('g'));
sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'strata space'") for 1 .. 5;
becomes($node, $empty, 'a process that is terminated is replaced');
is_short('g', 'after that');

# VACUUM may leave a table as long as it was, and says nothing of it: as with this setting, which 17 has no more
if ($node->pg_version < 17)
{
	$node->append_conf('postgresql.conf', "old_snapshot_threshold = '1h'\n");
	$node->restart;
	make('i', 3, 8000);
	sql(compress('i'));
	becomes($node, "SELECT count(*) = 3 FROM queue WHERE waits_for = 'lock'", 'a table that was not made shorter is tried again');
	cmp_ok(sql("SELECT waste('i')"), '>', 3 * 60, 'it is as long as it was');
	$node->append_conf('postgresql.conf', "old_snapshot_threshold = -1\n");
	$node->restart;
	sql("UPDATE _strata.space_queue SET next_try = now(); SELECT FROM alter_job(2, next_start => now())");
	becomes($node, $empty, 'now it can be made shorter');
	is_short('i', 'later');
}

# no launcher
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''\n");
$node->restart;
make('h', 5, 8000);
sql(compress('h'));
becomes($node, $empty, 'without shared_preload_libraries');
is_short('h', 'the same');

done_testing();
