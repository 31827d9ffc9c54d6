# test/t/510_dedup_load.pl
#	  COPY into strata_dedup, whose pages are filled in memory: several sessions
#	  at once, beside VACUUM and readers; the log is replayed by a standby without
#	  the library that compares each page, and by recovery after kill -9.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use StrataTest;
use Test::More;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1, extra => [ '--locale=C.UTF-8', '--encoding=UTF8', '--data-checksums' ]);
$primary->append_conf('postgresql.conf', "shared_preload_libraries = 'strata'\nwal_consistency_checking = 'all'\nmax_wal_size = 4GB\nwal_keep_size = 2GB\n"
	  . "jit = off\ntimezone = 'UTC'\nautovacuum = off\nshared_buffers = 8MB\nrestart_after_crash = on\n");
$primary->start;
$primary->safe_psql('postgres', 'CREATE EXTENSION strata');
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "shared_preload_libraries = ''\n");
$standby->start;

$primary->safe_psql('postgres', q{
	CREATE TABLE t (id int PRIMARY KEY, who int, customer text, city text, note text) USING strata_dedup;
	CREATE INDEX ON t (city);
	CREATE TABLE t_heap (LIKE t);
	CREATE FUNCTION rows_of(who int, i int, j int) RETURNS SETOF t_heap LANGUAGE sql AS $$
		SELECT g, who, 'customer ' || g % 23, (ARRAY['San Francisco', 'Los Angeles', 'San Antonio', NULL])[1 + g % 4],
			CASE WHEN g % 500 = 0 THEN repeat(md5(g::text), 400) WHEN g % 3 = 0 THEN 'address of customer ' || g % 23 END
		FROM generate_series(i, j) g $$;
});

# Files of rows, and COPY commands that load them, a transaction each.
my $dir = $primary->basedir;
sub load_commands
{
	my ($table, $who, $n) = @_;
	my $commands = '';
	for my $i (0 .. $n - 1)
	{
		my $from = 10_000_000 * $who + 2000 * $i;
		my $file = "$dir/rows_${who}_$i";
		$primary->safe_psql('postgres', sprintf "COPY (SELECT * FROM rows_of(%d, %d, %d)) TO '%s'", $who, $from, $from + 1999, $file) unless -e $file;
		# every third is rolled back
		$commands .= $i % 3 == 2 ? "BEGIN; COPY $table FROM '$file'; ROLLBACK;\n" : "COPY $table FROM '$file';\n";
	}
	return $commands;
}

sub all_is_equal
{
	my ($what) = @_;
	# whose rows are there is known from both tables
	is($primary->safe_psql('postgres', q{SELECT count(*) FROM t, LATERAL rows_of(who, id, id) r WHERE t::text IS DISTINCT FROM r::text}), '0', "$what: rows are as they were copied");
	is($primary->safe_psql('postgres', q{SELECT count(*) FROM (SELECT id / 2000, count(*) AS n FROM t GROUP BY 1) x WHERE n <> 2000}), '0', "$what: all of a COPY or none");
	is($primary->safe_psql('postgres', q{SET enable_seqscan = off; SELECT count(*), sum(id::numeric) FROM t WHERE id > 0}), $primary->safe_psql('postgres', q{SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off; SELECT count(*), sum(id::numeric) FROM t WHERE id > 0}), "$what: by index");
	$primary->wait_for_catchup($standby);
	return;
}

$primary->safe_psql('postgres', load_commands('t', 0, 2));
is($primary->safe_psql('postgres', "SELECT pages_with_symbols > 0.8 * pages FROM strata.dedup_stats('t')"), 't', 'pages have symbols');
all_is_equal('alone');

my @files = map { load_commands('t', $_, 12) } 1 .. 4;
my @sessions = map { [ start_psql($primary, $_) ] } @files;
push @sessions, [ start_psql($primary, join '', map { "DELETE FROM t WHERE id / 2000 IN (SELECT id / 2000 FROM t LIMIT 1); VACUUM (TRUNCATE off) t;\n" } 1 .. 8) ];
$_->[0]->finish foreach @sessions;
all_is_equal('four sessions and VACUUM at once');

foreach my $round (1 .. ($ENV{STRATA_KILLS} // 3))
{
	$primary->safe_psql('postgres', 'TRUNCATE t; CHECKPOINT');
	my @writers = map { [ start_psql($primary, load_commands('t', $_, 12)) ] } 1 .. 3;
	wait_until(sub { return $primary->safe_psql('postgres', 'SELECT count(*) >= ' . 6000 * (1 + $round % 3) . ' FROM t') eq 't' });
	my $postmaster = $primary->{_pid};
	$primary->kill9;
	eval { $_->[0]->finish } foreach @writers;
	wait_until(sub { return !kill 0, $postmaster; });
	ok(wait_until(sub { return $primary->start(fail_ok => 1); }, 120), "started again $round");
	cmp_ok($primary->safe_psql('postgres', 'SELECT count(*) FROM t'), '>=', 6000 * (1 + $round % 3), 'what was committed is there');
	all_is_equal("killed $round");
}

$standby->promote;
$standby->stop;
$standby->append_conf('postgresql.conf', "shared_preload_libraries = 'strata'\n");
$standby->start;
is(content_hash($standby, 't'), content_hash($primary, 't'), 'the standby has the same rows');
# of the pages those that have rows: what 16 extended a table by, and did not fill before it was killed, is in no log
my $symbols = q{SELECT to_jsonb(d) - 'pages', (SELECT count(DISTINCT (ctid::text::point)[0]) FROM t) FROM strata.dedup_stats('t') d};
is($standby->safe_psql('postgres', $symbols), $primary->safe_psql('postgres', $symbols), 'and the same symbols');
$standby->stop;
command_ok([ $standby->installed_command('pg_checksums'), '--check', '-D', $standby->data_dir ], 'checksums are right');
$primary->stop;
done_testing();
