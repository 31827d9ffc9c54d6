# test/t/350_hook_order.pl
#	  Whatever library is loaded before or after ours, one statement of each kind
#	  that a step in src/hook waits for does the same; and a query that several
#	  steps are about passes them in the order that hook_planner.c says.
use strict;
use warnings;

use StrataTest;
use Test::More;

my %answers;
foreach my $libraries ('strata', 'strata, pg_stat_statements', 'pg_stat_statements, strata', 'auto_explain, strata, pg_stat_statements')
{
	my $node = strata_node('order_' . scalar(keys %answers), "shared_preload_libraries = '$libraries'\nstrata.batch_rows = 100\nautovacuum = off\nwal_level = logical\n");
	my @said = ();
	my $ask = sub { my ($sql) = @_; my $answer = $node->safe_psql('postgres', $sql); push @said, $answer; return $answer; };
	$node->safe_psql('postgres', q{
		CREATE EXTENSION strata;
		CREATE ROLE owner LOGIN;
		GRANT ALL ON SCHEMA public TO owner;
		SET ROLE owner;
		CREATE TABLE m (t timestamptz NOT NULL, d int, v float8);
		SELECT create_hypertable('m', 't', chunk_time_interval => interval '1 day');
		ALTER TABLE m SET (strata.segmentby = 'd', strata.orderby = 't');
		CREATE TABLE u (k int PRIMARY KEY, v text) USING strata;
	});
	$node->safe_psql('postgres', 'CREATE EXTENSION pg_stat_statements') if $libraries =~ /pg_stat/;

	# chunks on demand, below an INSERT that is also loaded directly
	$ask->(q{SET ROLE owner; ALTER TABLE m SET (strata.direct_load = true);
		INSERT INTO m SELECT '2026-01-01'::timestamptz + i * interval '1 min', i % 3, i FROM generate_series(0, 9999) i;
		SELECT count(*), count(DISTINCT tableoid) FROM m});
	$ask->(q{SET ROLE owner; SELECT count(*) FROM (SELECT compress_chunk(c, true) FROM show_chunks('m') c) x});
	# an upsert of a compressed row
	$ask->(q{SET ROLE owner; INSERT INTO u SELECT i, 'a' FROM generate_series(1, 1000) i; SELECT compress_chunk('u')});
	$ask->(q{SET ROLE owner; INSERT INTO u VALUES (5, 'b') ON CONFLICT (k) DO UPDATE SET v = excluded.v; SELECT count(*), max(v) FROM u});
	# a DELETE that may take whole batches
	$ask->(q{SET ROLE owner; DELETE FROM m WHERE t < '2026-01-02'; SELECT count(*) FROM m});
	# gap filling above bucket comparisons above batches, in text for the client
	$ask->(q{SET ROLE owner; SELECT time_bucket_gapfill('1 hour', t, '2026-01-02', '2026-01-02 05:00') b, count(*), avg(v)
		FROM m WHERE time_bucket('1 hour', t) < '2026-01-02 03:00' GROUP BY b ORDER BY b});
	# what is left out of publications
	$ask->(q{CREATE PUBLICATION p FOR ALL TABLES; SELECT count(*) FROM pg_publication_tables WHERE schemaname LIKE '%strata'});
	# what an ordinary role may not write
	my ($code, $out, $err) = $node->psql('postgres', q{GRANT pg_write_all_data TO owner; SET ROLE owner; DELETE FROM _strata.job_stat});
	push @said, $code, $err =~ s/.*?(permission denied[^\n]*).*/$1/sr;
	# options of ours, and those of PostgreSQL, in one statement
	$ask->(q{SET ROLE owner; ALTER TABLE u SET (strata.orderby = 'k DESC', fillfactor = 90); SELECT reloptions::text LIKE '%fillfactor%' FROM pg_class WHERE relname = 'u'});
	# a kept plan of a table that is compressed later, and grows a chunk
	$ask->(q{SET ROLE owner; SET plan_cache_mode = force_generic_plan;
		CREATE TABLE late (LIKE m) USING strata; INSERT INTO late SELECT * FROM m LIMIT 1000;
		PREPARE q AS SELECT count(*) FROM late; EXECUTE q; SELECT compress_chunk('late'); EXECUTE q;
		PREPARE r AS SELECT count(*) FROM m; EXECUTE r; INSERT INTO m VALUES ('2027-01-01', 1, 1); EXECUTE r});
	# a dropped table takes its companion along
	$ask->(q{SET ROLE owner; DROP TABLE m, u, late; RESET ROLE; SELECT count(*) FROM pg_class WHERE relname LIKE 'batch\_%' AND relkind = 'r'});
	$answers{$libraries} = join("\n", @said);
	if ($libraries =~ /pg_stat/)
	{
		is($node->safe_psql('postgres', q{SELECT count(*) > 0 FROM pg_stat_statements WHERE query LIKE '%time_bucket_gapfill%' AND rows > 0}),
			't', "$libraries: what we rewrite is counted under the user's text");
	}
	$node->stop;
}
foreach my $libraries (sort keys %answers)
{
	is($answers{$libraries}, $answers{'strata'}, "$libraries: as strata alone");
}
my @lines = split /\n/, $answers{'strata'};
is($lines[0], '10000|7', 'rows and chunks');
like($answers{'strata'}, qr/^1000\|b$/m, 'upsert');
like($answers{'strata'}, qr/^2026-01-02 04:00:00\+00\|\|$/m, 'the gap that the condition leaves is filled');
like($answers{'strata'}, qr/permission denied for table job_stat/, 'tables of ours are kept');
is($lines[-1], '0', 'companions went with their tables');
done_testing();
