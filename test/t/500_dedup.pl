# test/t/500_dedup.pl
#	  Tables of strata_dedup through the log: a standby that runs without the
#	  library compares each page it replays with the primary's, recovery after
#	  kill -9 does too, with checksums on; sessions write the same pages at once;
#	  logical decoding says what it says of a heap; a dump brings tables back.
#	  STRATA_KILLS=900 kills as often, in an hour.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use StrataTest;
use Test::More;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 'logical', extra => [ '--locale=C.UTF-8', '--encoding=UTF8', '--data-checksums' ]);
$primary->append_conf('postgresql.conf', "shared_preload_libraries = 'strata'\nwal_consistency_checking = 'all'\nmax_wal_size = 4GB\nwal_keep_size = 2GB\n"
	  . "jit = off\ntimezone = 'UTC'\nautovacuum = off\nstrata.max_job_workers = 0\nshared_buffers = 8MB\nrestart_after_crash = on\n");
$primary->start;
$primary->safe_psql('postgres', 'CREATE EXTENSION strata');

# Recovery and standbys do not need the library.
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "shared_preload_libraries = ''\n");
$standby->start;

my $columns = 'id int PRIMARY KEY, customer text, city text, n int, note text';
$primary->safe_psql('postgres', qq{
	CREATE TABLE t ($columns) USING strata_dedup;
	CREATE TABLE t_heap ($columns) USING heap;
	CREATE INDEX ON t (city);
	CREATE FUNCTION rows_of(i int, j int) RETURNS SETOF t_heap LANGUAGE sql AS \$\$
		SELECT g, 'customer ' || g % 23, (ARRAY['San Francisco', 'Los Angeles', 'San Antonio', NULL])[1 + g % 4], g % 100, CASE WHEN g % 3 = 0 THEN 'address of customer ' || g % 23 END
		FROM generate_series(i, j) g \$\$;
	INSERT INTO t SELECT * FROM rows_of(1, 20000);
	INSERT INTO t_heap TABLE t;
	-- changes at random, the same of both tables; a session has its own ids
	CREATE PROCEDURE change(who int, rounds int) LANGUAGE plpgsql AS \$\$
	DECLARE
		id0 int;
		op int;
		am text;
	BEGIN
		FOR r IN 1 .. rounds LOOP
			id0 := who + 4 * (random() * 5000)::int;
			op := (random() * 6)::int;
			FOREACH am IN ARRAY ARRAY['t', 't_heap'] LOOP
				IF op < 2 THEN
					EXECUTE format('UPDATE %s SET city = (ARRAY[''San Antonio'', NULL, ''Chicago''])[1 + mod(n, 3)], n = n + 1 WHERE id = \$1', am) USING id0;
				ELSIF op = 2 THEN
					EXECUTE format('DELETE FROM %s WHERE id = \$1', am) USING id0;
				ELSIF op = 3 THEN
					EXECUTE format('INSERT INTO %s SELECT * FROM rows_of(\$1, \$1) ON CONFLICT (id) DO UPDATE SET note = excluded.customer', am) USING id0;
				ELSE
					EXECUTE format('INSERT INTO %s SELECT id * 4 + \$1, customer, city, n, note FROM rows_of(\$2, \$2 + 5) ON CONFLICT DO NOTHING', am) USING who, 1000000 * (who + 1) + r * 7;
				END IF;
			END LOOP;
			IF op = 5 THEN ROLLBACK; ELSE COMMIT; END IF;
		END LOOP;
	END \$\$;
});

sub pages_with_symbols
{
	return $primary->safe_psql('postgres', "SELECT pages_with_symbols > 10 FROM strata.dedup_stats('t')");
}

sub by_index
{
	my ($node, $table) = @_;
	return $node->safe_psql('postgres',
		"SET enable_seqscan = off; SELECT count(*), sum(id), sum(n) FROM $table WHERE city = 'San Antonio'; SELECT count(*), sum(n) FROM $table WHERE id > 0");
}

# The standby has no library to read the table with, so look at its files: equal pages, but for hint bits.
sub all_is_equal
{
	my ($what) = @_;
	twins_are_equal($primary, 't', $what);
	is(by_index($primary, 't'), by_index($primary, 't_heap'), "$what: by index");
	$primary->wait_for_catchup($standby);
	is(content_hash($standby, 't_heap'), content_hash($primary, 't_heap'), "$what: the standby goes on");
	return;
}

is(pages_with_symbols(), 't', 'pages have symbols');
all_is_equal('filled');
my @sessions = map { [ start_psql($primary, "SELECT setseed(0.$_); CALL change($_, 800);") ] } 0 .. 3;
$_->[0]->finish foreach @sessions;
is(slurp_file($_->[1]), "\n", 'a writer ends well') foreach @sessions;
all_is_equal('changed by four sessions at once');
$primary->safe_psql('postgres', $_)
  foreach ('VACUUM t', 'CALL change(0, 300)', 'DELETE FROM t WHERE id % 1000 < 900', 'DELETE FROM t_heap WHERE id % 1000 < 900', 'VACUUM t');
all_is_equal('mostly deleted');
$primary->safe_psql('postgres', "INSERT INTO $_ SELECT -id, customer, city, n, note FROM rows_of(1, 20000)") foreach ('t', 't_heap');
all_is_equal('emptied pages filled again');
$primary->safe_psql('postgres', 'VACUUM (FREEZE) t');
all_is_equal('frozen');
$primary->safe_psql('postgres', 'VACUUM FULL t');
all_is_equal('rewritten');

# rows come into pages as VACUUM empties them
$primary->safe_psql('postgres', qq{
	CREATE TABLE churn ($columns) USING strata_dedup;
	ALTER TABLE churn DROP CONSTRAINT churn_pkey;
	CREATE INDEX ON churn (city);
	CREATE PROCEDURE churn(who int, rounds int) LANGUAGE plpgsql AS \$\$
	BEGIN
		FOR r IN 1 .. rounds LOOP
			INSERT INTO churn SELECT who, customer, city, n, note FROM rows_of(1, 300);
			COMMIT;
			DELETE FROM churn WHERE id = who;
			COMMIT;
		END LOOP;
	END \$\$;
});
@sessions = map { [ start_psql($primary, "CALL churn($_, 60);") ] } 0 .. 2;
push @sessions, [ start_psql($primary, join('', map { 'VACUUM (TRUNCATE off) churn;' } 1 .. 60)) ];
$_->[0]->finish foreach @sessions;
$primary->safe_psql('postgres', 'CALL churn(7, 1); VACUUM churn');
all_is_equal('emptied and filled at once');

# kill -9 in the middle
foreach my $round (1 .. ($ENV{STRATA_KILLS} // 3))
{
	my @writers = map { [ start_psql($primary, "SELECT setseed(0.$round$_); CALL change($_, 1500);") ] } 0 .. 2;
	select(undef, undef, undef, 0.5 + rand(1));
	my $postmaster = $primary->{_pid};
	$primary->kill9;
	eval { $_->[0]->finish } foreach @writers;
	# its orphans may work on a little longer
	wait_until(sub { return !kill 0, $postmaster; });
	ok(wait_until(sub { return $primary->start(fail_ok => 1); }, 120), "started again $round");
	all_is_equal("killed $round");
}
is(pages_with_symbols(), 't', 'pages still have symbols');
$primary->safe_psql('postgres', 'CHECKPOINT');

# promoted, and now with the library
$primary->wait_for_catchup($standby);
$standby->promote;
$standby->stop;
$standby->append_conf('postgresql.conf', "shared_preload_libraries = 'strata'\n");
$standby->start;
is(content_hash($standby, 't'), content_hash($primary, 't'), 'the standby has the same rows');
is(by_index($standby, 't'), by_index($primary, 't'), 'and the same by index');
is( $standby->safe_psql('postgres', "SELECT d FROM strata.dedup_stats('t') d"),
	$primary->safe_psql('postgres', "SELECT d FROM strata.dedup_stats('t') d"),
	'and the same symbols');
$standby->safe_psql('postgres', 'CALL change(1, 300)');
twins_are_equal($standby, 't', 'promoted and changed');
$standby->stop;
command_ok([ $standby->installed_command('pg_checksums'), '--check', '-D', $standby->data_dir ], 'checksums are right');

# logical decoding, with each replica identity
foreach my $schema ('st', 'hp')
{
	my $am = $schema eq 'st' ? 'strata_dedup' : 'heap';
	$primary->safe_psql('postgres', qq{
		CREATE SCHEMA $schema;
		SET search_path = $schema, public;
		SET default_table_access_method = $am;
		CREATE TABLE by_key ($columns);
		CREATE TABLE by_index ($columns, other text NOT NULL GENERATED ALWAYS AS (id || 'x') STORED);
		CREATE UNIQUE INDEX by_index_other ON by_index (other);
		ALTER TABLE by_index REPLICA IDENTITY USING INDEX by_index_other;
		CREATE TABLE by_full ($columns);
		ALTER TABLE by_full REPLICA IDENTITY FULL;
		CREATE TABLE by_nothing ($columns);
		ALTER TABLE by_nothing REPLICA IDENTITY NOTHING;
	});
}
$primary->safe_psql('postgres', q{SELECT pg_create_logical_replication_slot('text', 'test_decoding')});

sub text_changes
{
	my $text = $primary->safe_psql('postgres',
		q{SELECT data FROM pg_logical_slot_get_changes('text', NULL, NULL, 'include-xids', '0', 'skip-empty-xacts', '1')});
	# rows of one statement come in the order of their places, which are others
	return join "\n", sort split /\n/, $text =~ s/^table (st|hp)\./table /mgr;
}
foreach my $table ('by_key', 'by_index', 'by_full', 'by_nothing')
{
	my %said;
	foreach my $schema ('st', 'hp')
	{
		my $name = "$schema.$table";
		$primary->safe_psql('postgres', $_)
		  foreach (
			"INSERT INTO $name SELECT * FROM rows_of(1, 3000)",
			"UPDATE $name SET city = NULL, n = -n WHERE id % 50 = 3",
			"UPDATE $name SET id = -id WHERE id % 90 = 7",
			"UPDATE $name SET note = repeat(id::text, 1000) WHERE id % 500 = 9",
			"DELETE FROM $name WHERE id % 70 = 5");
		$said{$schema} = text_changes();
	}
	cmp_ok(length($said{hp}), '>', 10000, "$table: changes are said");
	ok($said{st} eq $said{hp}, "$table: the same is said of both");
}
is($primary->safe_psql('postgres', "SELECT pages_with_symbols > 0 FROM strata.dedup_stats('st.$_->[0]')"), $_->[1], "symbols: $_->[0]")
  foreach ([ 'by_key', 't' ], [ 'by_index', 't' ], [ 'by_full', 'f' ], [ 'by_nothing', 't' ]);

# an identity that comes after the symbols is put into the pages by the statement that sets it
$primary->safe_psql('postgres', q{
	CREATE TABLE st.later (a int NOT NULL, b text NOT NULL, c text) USING strata_dedup;
	CREATE TABLE st.parted (a int NOT NULL, b text NOT NULL, c text) PARTITION BY RANGE (a);
	CREATE TABLE st.parted1 PARTITION OF st.parted FOR VALUES FROM (0) TO (100000) USING strata_dedup;
	INSERT INTO st.later SELECT i, 'value ' || i % 5, 'of ' || i % 7 FROM generate_series(1, 5000) i;
	INSERT INTO st.parted TABLE st.later;
});
sub symbols_of
{
	my ($table, $column) = @_;
	return $primary->safe_psql('postgres', "SELECT count(*) > 0 FROM generate_series(0, pg_relation_size('$table') / 8192 - 1) p, strata.page_symbols('$table', p) WHERE '$column' = ANY (columns)");
}
is(symbols_of($_, 'b'), 't', "$_: symbols") foreach ('st.later', 'st.parted1');
$primary->safe_psql('postgres', 'BEGIN; ALTER TABLE st.later ADD PRIMARY KEY (b, a); ROLLBACK');
is(symbols_of('st.later', 'b'), 't', 'rolled back: as before');
$primary->safe_psql('postgres', 'ALTER TABLE st.later ADD PRIMARY KEY (b, a); ALTER TABLE st.parted ADD PRIMARY KEY (a, b)');
foreach my $table ('st.later', 'st.parted1')
{
	is(symbols_of($table, 'b'), 'f', "$table: none of the primary key");
	is(symbols_of($table, 'c'), 't', "$table: still of other columns");
}
text_changes();
$primary->safe_psql('postgres', 'UPDATE st.later SET a = -a WHERE a = 3; DELETE FROM st.parted WHERE a = 4');
is(join("\n", grep { /^table/ } split /\n/, text_changes()), join("\n", sort("table later: UPDATE: old-key: a[integer]:3 b[text]:'value 3' new-tuple: a[integer]:-3 b[text]:'value 3' c[text]:'of 3'",
	"table parted1: DELETE: a[integer]:4 b[text]:'value 4'")), 'the old keys are said');
$primary->safe_psql('postgres', 'ALTER TABLE st.by_key REPLICA IDENTITY FULL');
is($primary->safe_psql('postgres', q{SELECT pages_with_symbols FROM strata.dedup_stats('st.by_key')}), '0', 'REPLICA IDENTITY FULL: no symbols');
$primary->safe_psql('postgres', 'UPDATE st.by_key SET n = 0 WHERE id = 10; DELETE FROM st.by_key WHERE id = 11');
like(text_changes(), qr/old-key: id\[integer\]:10 .*city/, 'the whole old row is said');

# what ALTER TABLE writes has the identity's columns in its rows, and so has a partition that gets its parent's key
$primary->safe_psql('postgres', q{
	CREATE TABLE st.adopted (b text, a int, c text, PRIMARY KEY (b, a)) USING heap;
	INSERT INTO st.adopted SELECT 'value ' || i % 5, i, 'of ' || i % 7 FROM generate_series(1, 5000) i;
	ALTER TABLE st.adopted SET ACCESS METHOD strata_dedup;
	CREATE TABLE st.retyped (b text, a int, c text) USING strata_dedup;
	ALTER TABLE st.retyped REPLICA IDENTITY FULL;
	INSERT INTO st.retyped TABLE st.adopted;
	ALTER TABLE st.retyped ALTER a TYPE bigint;
	CREATE TABLE st.key (a int NOT NULL, b text NOT NULL, c text, PRIMARY KEY (b, a)) PARTITION BY RANGE (a);
	CREATE TABLE st.key1 (a int NOT NULL, b text NOT NULL, c text) USING strata_dedup;
	INSERT INTO st.key1 SELECT a, b, c FROM st.adopted;
});
is(symbols_of('st.key1', 'b'), 't', 'symbols before it is attached');
$primary->safe_psql('postgres', 'ALTER TABLE st.key ATTACH PARTITION st.key1 FOR VALUES FROM (0) TO (100000)');
foreach my $table ('st.adopted', 'st.key1')
{
	is(symbols_of($table, 'b'), 'f', "$table: none of the primary key");
	is(symbols_of($table, 'c'), 't', "$table: still of other columns");
}
is(symbols_of('st.retyped', $_), 'f', "retyped: none of $_") foreach ('a', 'b', 'c');
text_changes();
$primary->safe_psql('postgres', 'UPDATE st.adopted SET c = NULL WHERE a = 3; DELETE FROM st.retyped WHERE a = 4; DELETE FROM st.key WHERE a = 5');
is(scalar(grep { /^table/ } split /\n/, text_changes()), 3, 'they are changed');

# constraints that are no identity look at no page, and at nobody else's table (NOT NULL: 18 wants it of
# children before the parent has a primary key)
$primary->safe_psql('postgres', q{
	CREATE TABLE st.above (a int NOT NULL);
	CREATE TABLE st.below (b text, PRIMARY KEY (b)) INHERITS (st.above) USING strata_dedup;
	CREATE TABLE st.beside (b text, PRIMARY KEY (b)) INHERITS (st.above) USING heap;
});
is($primary->safe_psql('postgres', q{
	BEGIN;
	ALTER TABLE st.above ADD CONSTRAINT positive CHECK (a > 0) NO INHERIT;
	ALTER TABLE ONLY st.above ADD PRIMARY KEY (a);
	SELECT count(*) FILTER (WHERE relation = 'st.below'::regclass) = count(*) FILTER (WHERE relation = 'st.beside'::regclass)
	  FROM pg_locks WHERE pid = pg_backend_pid();
	COMMIT}), 't', 'a table that inherits is left alone');

# pages that VACUUM empties lose their symbols under any identity
$primary->safe_psql('postgres', q{
	CREATE TABLE st.emptied AS SELECT * FROM st.adopted;
	ALTER TABLE st.emptied SET ACCESS METHOD strata_dedup;
	UPDATE pg_class SET relreplident = 'f' WHERE oid = 'st.emptied'::regclass;
});
is(symbols_of('st.emptied', 'b'), 't', 'symbols before VACUUM');
$primary->safe_psql('postgres', q{SET session_replication_role = replica; UPDATE pg_class SET relreplident = 'n' WHERE oid = 'st.emptied'::regclass; DELETE FROM st.emptied WHERE a < 5000; UPDATE pg_class SET relreplident = 'f' WHERE oid = 'st.emptied'::regclass});
$primary->safe_psql('postgres', 'VACUUM (TRUNCATE false) st.emptied');
is($primary->safe_psql('postgres', q{SELECT pages > 5, pages_with_symbols <= 1 FROM strata.dedup_stats('st.emptied')}), 't|t', 'none behind VACUUM');

# by somebody who does not go through ALTER TABLE: refused, until the table is rewritten
$primary->safe_psql('postgres', q{ALTER TABLE st.later DROP CONSTRAINT later_pkey; VACUUM FULL st.later});
$primary->safe_psql('postgres', q{UPDATE pg_class SET relreplident = 'f' WHERE oid = 'st.later'::regclass});
foreach my $change ('UPDATE st.later SET c = NULL', 'DELETE FROM st.later')
{
	my ($status, undef, $error) = $primary->psql('postgres', $change);
	isnt($status, 0, "$change is refused");
	like($error, qr/cannot log the replica identity.*VACUUM FULL/s, 'and says what to do');
}
$primary->safe_psql('postgres', 'VACUUM FULL st.later');
$primary->safe_psql('postgres', 'DELETE FROM st.later WHERE a = 5');
like(text_changes(), qr/DELETE: a\[integer\]:5 b.*c\[text\]/, 'after VACUUM FULL the whole old row is said');
$primary->safe_psql('postgres', q{SELECT pg_drop_replication_slot('text')});

# a dump, and what it brings back
my $dump = $primary->basedir . '/t.sql';
$primary->command_ok([ 'pg_dump', '-f', $dump, '-t', 't', '-t', 't_heap', $primary->connstr('postgres') ], 'dumped');
$primary->safe_psql('postgres', 'CREATE DATABASE again');
$primary->safe_psql('again', 'CREATE EXTENSION strata');
$primary->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $primary->connstr('again') ], 'restored');
is($primary->safe_psql('again', q{SELECT count(*) FROM (TABLE t EXCEPT ALL TABLE t_heap) x}), '0', 'the rows are back');
is($primary->safe_psql('again', q{SELECT relname, amname FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE relname IN ('t', 't_heap') ORDER BY 1}),
	"t|strata_dedup\nt_heap|heap", 'in tables as they were');
is($primary->safe_psql('again', q{SELECT ratio > 1 FROM strata.dedup_stats('t')}), 't', 'with symbols');
$primary->stop;
done_testing();
