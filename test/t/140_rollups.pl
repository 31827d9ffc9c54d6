# test/t/140_rollups.pl
#	  Continuous aggregates in dumps, on a standby, and after a crash in the
#	  middle of a refresh: their views equal a ledger of all rows there ever
#	  were, with what retention has kept of those that are gone.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = strata_node('rollups', "strata.max_job_workers = 0\n", allows_streaming => 1);
$node->safe_psql('postgres', q{
	CREATE EXTENSION strata;
	CREATE ROLE keeper LOGIN;
	CREATE SCHEMA app AUTHORIZATION keeper;
	ALTER DATABASE postgres SET search_path = app, public;
	SET search_path = app, public;
	SET ROLE keeper;
	SET strata.report_compression = off;
	CREATE TABLE m (time timestamptz NOT NULL, host text, v int);
	SELECT FROM create_hypertable('m', 'time', chunk_time_interval => interval '12 hours');
	ALTER TABLE m SET (strata.segmentby = 'host', strata.orderby = 'time');
	CREATE TABLE ledger (LIKE m);
	INSERT INTO ledger SELECT '2026-01-30'::timestamptz + i * interval '1 minute', 'h' || i % 5, i FROM generate_series(0, 7199) i;
	INSERT INTO m SELECT * FROM ledger WHERE v % 20 <> 0;
	SELECT compress_chunk(c) FROM show_chunks('m') c;
	INSERT INTO m SELECT * FROM ledger WHERE v % 20 = 0;
	CREATE TABLE places (host text, place text, since timestamptz NOT NULL DEFAULT '2026-01-01');
	INSERT INTO places SELECT 'h' || i, 'p' || i % 2 FROM generate_series(0, 3) i;
});
$node->safe_psql('postgres', $_) foreach (
	q{SET ROLE keeper; CREATE MATERIALIZED VIEW hourly WITH (strata.continuous) AS SELECT time_bucket('1 hour', time) AS b, host, avg(v) AS a, count(*) AS n FROM m GROUP BY 1, 2},
	q{SET ROLE keeper; CREATE MATERIALIZED VIEW daily WITH (strata.continuous) AS SELECT time_bucket('1 day', b) AS b, sum(n) AS n FROM hourly GROUP BY 1},
	q{SET ROLE keeper; CREATE MATERIALIZED VIEW monthly WITH (strata.continuous) AS SELECT time_bucket('1 month', time) AS b, sum(v) AS s, max(host) AS h FROM m GROUP BY 1 WITH NO DATA},
	q{SET ROLE keeper; CREATE MATERIALIZED VIEW placed WITH (strata.continuous) AS SELECT time_bucket('6 hours', time) AS b, p.place, avg(v) AS a, count(p.place) AS n FROM m LEFT JOIN places p USING (host) GROUP BY 1, 2},
	q{SET ROLE keeper; SELECT FROM create_hypertable('places', 'since', migrate_data => true)},
	q{SET ROLE keeper; CREATE MATERIALIZED VIEW quarter WITH (strata.continuous, strata.archives = 'raw for 100 years, 15 minutes for 200 years, 1 hour for 300 years as "Hours", 1 day') AS SELECT time_bucket('15 minutes', time) AS b, host, avg(v) AS a FROM m GROUP BY 1, 2});

# How many rows of the views differ from the ledger's.
my $check = q{
	WITH h AS (SELECT time_bucket('1 hour', time), host, avg(v), count(*) FROM ledger GROUP BY 1, 2),
		d AS (SELECT time_bucket('1 day', time), count(*)::numeric FROM ledger GROUP BY 1),
		m AS (SELECT time_bucket('1 month', time), sum(v), max(host) FROM ledger GROUP BY 1),
		q AS (SELECT time_bucket('1 hour', time), host, avg(v) FROM ledger GROUP BY 1, 2 UNION ALL SELECT time_bucket('1 day', time), host, avg(v) FROM ledger GROUP BY 1, 2),
		p AS (SELECT time_bucket('6 hours', time), place, avg(v), count(place) FROM ledger LEFT JOIN places USING (host) GROUP BY 1, 2),
		t AS (TABLE "Hours" UNION ALL TABLE quarter_1_day)
	SELECT (SELECT count(*) FROM ((TABLE h EXCEPT ALL TABLE hourly) UNION ALL (TABLE hourly EXCEPT ALL TABLE h)) x),
		(SELECT count(*) FROM ((TABLE d EXCEPT ALL TABLE daily) UNION ALL (TABLE daily EXCEPT ALL TABLE d)) x),
		(SELECT count(*) FROM ((TABLE m EXCEPT ALL TABLE monthly) UNION ALL (TABLE monthly EXCEPT ALL TABLE m)) x),
		(SELECT count(*) FROM ((TABLE q EXCEPT ALL TABLE t) UNION ALL (TABLE t EXCEPT ALL TABLE q)) x),
		(SELECT count(*) FROM ((TABLE p EXCEPT ALL TABLE placed) UNION ALL (TABLE placed EXCEPT ALL TABLE p)) x)};
my $rows = q{SELECT count(*) FROM hourly};

sub right
{
	my ($where, $database, $what) = @_;
	is($where->safe_psql($database, $check), '0|0|0|0|0', "$what: no difference");
	cmp_ok($where->safe_psql($database, $rows), '>', 500, "$what: and there are rows");
	return;
}
right($node, 'postgres', 'made');

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;

# rows go; others come late, on either side of the limit
my $late = q{('2026-01-30 05:05:05', 'h1', 5), ('2026-02-01 00:00:00', 'h9', 7), ('2026-02-02 00:00:01', 'h1', 11)};
foreach my $step (
	[ 'dropped', q{SELECT drop_chunks('m', older_than => timestamptz '2026-02-01 12:00')} ],
	[ 'late', "INSERT INTO m VALUES $late; INSERT INTO ledger VALUES $late" ],
	[ 'places', q{UPDATE places SET place = 'elsewhere' WHERE host IN ('h1', 'h3'); INSERT INTO places VALUES ('h2', 'two')} ],
	[ 'refreshed', q{CALL refresh_continuous_aggregate('hourly', NULL, NULL)} ],
	[ 'dropped again', q{SELECT drop_chunks('m', older_than => timestamptz '2026-02-01 12:00')} ])
{
	$node->safe_psql('postgres', "SET ROLE keeper; $_") foreach split /; /, $step->[1];
	right($node, 'postgres', $step->[0]);
	$node->wait_for_catchup($standby);
	right($standby, 'postgres', "$step->[0], on the standby");
}

# a crash when some slices of a refresh have committed
my $generation = q{SELECT max(generation) FROM _strata.rollup};
my $before = $node->safe_psql('postgres', $generation);
$node->safe_psql('postgres', q{UPDATE m SET v = v + 1 WHERE host = 'h2'; UPDATE ledger SET v = v + 1 WHERE host = 'h2' AND time >= '2026-02-01 12:00'});
my ($refresh) = start_psql($node, q{CALL refresh_continuous_aggregate('hourly', NULL, NULL, options => '{"buckets_per_batch": 1}');});
ok(wait_until(sub { $node->safe_psql('postgres', $generation) > $before + 3 }), 'a refresh has begun');
my $postmaster = $node->{_pid};
$node->kill9;
eval { $refresh->finish };
# its orphans may hold the shared memory a little longer
wait_until(sub { return !kill 0, $postmaster; });
ok(wait_until(sub { return $node->start(fail_ok => 1); }, 300), 'started again');
right($node, 'postgres', 'after a crash');
$node->safe_psql('postgres', "CALL refresh_continuous_aggregate('$_', NULL, NULL)") foreach qw(hourly placed);
right($node, 'postgres', 'refreshed after a crash');

# dumps: what was kept is in each kind of them, whatever columns are called by now
$node->safe_psql('postgres', q{
	SET ROLE keeper;
	ALTER MATERIALIZED VIEW hourly RENAME COLUMN a TO average;
	ALTER MATERIALIZED VIEW monthly RENAME COLUMN b TO bucket;
	ALTER TABLE monthly_archive RENAME COLUMN s TO total;
	SELECT add_continuous_aggregate_policy('hourly', interval '3 days', interval '1 hour', interval '1 hour');
	SELECT add_retention_policy('m', interval '100 years')});
my $dir = PostgreSQL::Test::Utils::tempdir();
my %ways = (
	plain => [ [ '-Fp', '-f', "$dir/plain.sql" ], [ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', "$dir/plain.sql" ] ],
	custom => [ [ '-Fc', '-f', "$dir/custom" ], [ 'pg_restore', '-e', '-j', '2', "$dir/custom" ] ],
	schema => [ [ '-Fc', '-n', 'app', '-f', "$dir/schema" ], [ 'pg_restore', '-e', '-j', '2', "$dir/schema" ] ],);
foreach my $way (sort keys %ways)
{
	my ($dump, $restore) = @{ $ways{$way} };
	my $database = "restored_$way";
	$node->command_ok([ 'pg_dump', '-d', 'postgres', @$dump ], "$way: dump");
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql('postgres', "ALTER DATABASE $database SET search_path = app, public");
	$node->safe_psql($database, 'CREATE EXTENSION strata') if $way eq 'schema';
	$node->command_ok([ @$restore, '-d', $database ], "$way: restore");
	right($node, $database, $way);
	is($node->safe_psql($database, 'SELECT view, source, archive FROM strata.rollups ORDER BY view::text'),
		"\"Hours\"|m|\"Hours_archive\"\ndaily|hourly_archive|daily_archive\nhourly|m|hourly_archive\nmonthly|m|monthly_archive\nplaced|m|placed_archive\nquarter|m|quarter_archive\nquarter_1_day|m|quarter_1_day_archive",
		"$way: rollups");
	is($node->safe_psql($database, 'SELECT level, tier, width, keep, hypertable FROM strata.archives ORDER BY level'),
		"0|m||100 years|m\n1|quarter|15 minutes|200 years|quarter_archive\n2|\"Hours\"|1 hour|300 years|\"Hours_archive\"\n3|quarter_1_day|1 day||quarter_1_day_archive", "$way: tiers");
	is($node->safe_psql($database, 'SELECT (SELECT count(*) FROM _strata.rollup_kept), (SELECT count(*) FROM _strata.rollup_cover)'), '6|0', "$way: what is kept, and not covered");
	$node->safe_psql($database, "CALL refresh_continuous_aggregate('daily', NULL, NULL)");
	$node->safe_psql($database, "CALL refresh_continuous_aggregate('placed', NULL, NULL)");
	right($node, $database, "$way, refreshed");
	$node->safe_psql($database, "DELETE FROM places WHERE host = 'h0'");
	right($node, $database, "$way, and what is joined is another");
	next if $way eq 'schema';
	is($node->safe_psql($database, q{SELECT proc_name, hypertable_name, owner FROM strata.jobs WHERE job_id >= 1000 ORDER BY 1}),
		"policy_archives|quarter|keeper\npolicy_refresh_continuous_aggregate|hourly|keeper\npolicy_retention|m|keeper", "$way: policies");
	my $job = $node->safe_psql($database, 'SELECT job_id FROM strata.archives WHERE level = 1');
	$node->safe_psql($database, "CALL run_job($job)");
	right($node, $database, "$way, after a run of its job");
}

$node->wait_for_catchup($standby);
$standby->promote;
right($standby, 'postgres', 'promoted');
$standby->safe_psql('postgres', q{SELECT drop_chunks('m', older_than => timestamptz '2026-02-03')});
right($standby, 'postgres', 'promoted, and dropped');
$standby->stop;
$node->stop;
done_testing();
