# test/t/120_upgrade.pl
#	  pg_upgrade to a new cluster, by copying, by linking and (from 18 on) by swapping
#	  directories: compressed rows arrive as they were, with settings, and everything goes on working.  From the same
#	  version of PostgreSQL, or from that of STRATA_OLD_INSTALL (tools/upgrade_versions.sh).
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $options = q{SELECT relname, reloptions FROM pg_class WHERE reloptions IS NOT NULL AND relkind <> 'i' ORDER BY 1};

my $kept = 'SELECT count(*), sum(count), sum(sum) FROM kept';

# pg_upgrade writes into the directory it stands in
chdir PostgreSQL::Test::Utils::tempdir();

sub fill
{
	my ($old) = @_;
	$old->safe_psql('postgres', 'CREATE EXTENSION strata');
	make_twins($old, 't');
	grow_twins($old, 't', 8000);
	# columns dropped before and after, storage swapped, columns added since
	$old->safe_psql('postgres', $_) foreach (
		q{ALTER TABLE t DROP COLUMN big}, q{ALTER TABLE t_heap DROP COLUMN big},
		q{SELECT compress_chunk('t')}, q{VACUUM FULL t},
		q{ALTER TABLE t ADD COLUMN extra int DEFAULT 7}, q{ALTER TABLE t_heap ADD COLUMN extra int DEFAULT 7},
		q{ALTER TABLE t DROP COLUMN small}, q{ALTER TABLE t_heap DROP COLUMN small},
		q{UPDATE t SET label = 'promoted' WHERE host = 'host_1' AND ts < '2026-01-01 01:00'},
		q{UPDATE t_heap SET label = 'promoted' WHERE host = 'host_1' AND ts < '2026-01-01 01:00'},
		# a table whose storage was truncated, an unlogged one, a partition, a domain and an enum
		q{CREATE TYPE mood AS ENUM ('bad', 'good')}, q{CREATE DOMAIN level AS int CHECK (VALUE >= 0)},
		q{CREATE TABLE odd (d date, m mood, l level, r int4range, a text[]) USING strata WITH (strata.segmentby = 'm', strata.orderby = 'l')},
		q{INSERT INTO odd SELECT '2026-01-01'::date + i, 'good', i, int4range(i, i + 5), array[i::text, NULL] FROM generate_series(1, 3000) i},
		q{TRUNCATE odd},
		q{INSERT INTO odd SELECT '2026-01-01'::date + i, (array['good', 'bad'])[1 + i % 2]::mood, i, int4range(i, i + 5), array[i::text, NULL] FROM generate_series(1, 3000) i},
		q{SELECT compress_chunk('odd')},
		# a schema that has a table and the type of its segments
		q{CREATE SCHEMA own}, q{CREATE TYPE own.mood AS ENUM ('bad', 'good')},
		q{CREATE TABLE own.felt (m own.mood, n int) USING strata WITH (strata.segmentby = 'm')},
		q{INSERT INTO own.felt SELECT 'good', i FROM generate_series(1, 3000) i}, q{SELECT compress_chunk('own.felt')},
		q{CREATE UNLOGGED TABLE quick (d date, n int PRIMARY KEY) USING strata},
		q{INSERT INTO quick SELECT '2026-01-01', i FROM generate_series(1, 3000) i},
		q{SELECT compress_chunk('quick')},
		q{CREATE TABLE parted (ts date, n int) PARTITION BY RANGE (ts)},
		q{CREATE TABLE part1 PARTITION OF parted FOR VALUES FROM ('2026-01-01') TO ('2027-01-01') USING strata},
		q{INSERT INTO parted SELECT '2026-01-01', i FROM generate_series(1, 3000) i},
		q{SELECT compress_chunk('parted')},
		# a hypertable with a key, and indexes that lead to batches
		q{CREATE TABLE cpu (ts timestamptz NOT NULL, id int, host text, v float8, doc jsonb, PRIMARY KEY (id, ts))},
		q{SELECT create_hypertable('cpu', 'ts', chunk_time_interval => interval '1 day')},
		q{ALTER TABLE cpu SET (strata.segmentby = 'host', strata.orderby = 'ts DESC')},
		q{CREATE INDEX cpu_v ON cpu (v)}, q{CREATE INDEX cpu_brin ON cpu USING brin (v)}, q{CREATE INDEX cpu_doc ON cpu USING gin (doc)},
		q{CREATE INDEX cpu_upper ON cpu (upper(host), id)}, q{CREATE INDEX cpu_some ON cpu (id) WHERE v < 5000}, q{CREATE INDEX cpu_point ON cpu USING gist (point(v, id))},
		q{INSERT INTO cpu SELECT '2026-01-01'::timestamptz + i * interval '20 s', i, 'host_' || i % 5, i, jsonb_build_object('w' || i % 997, i) FROM generate_series(1, 20000) i},
		q{SELECT compress_chunk(c) FROM show_chunks('cpu') c},
		# a continuous aggregate, of which retention has kept a part
		q{CREATE TABLE metered (n int NOT NULL, v int)},
		q{SELECT create_hypertable('metered', 'n', chunk_time_interval => 1000)},
		q{INSERT INTO metered SELECT i, i FROM generate_series(0, 4999) i},
		q{CREATE FUNCTION metered_now() RETURNS int LANGUAGE sql STABLE AS 'SELECT 5000'},
		q{SELECT set_integer_now_func('metered', 'metered_now')},
		q{CREATE MATERIALIZED VIEW kept WITH (strata.continuous, strata.archives = '300 for 100000, 600') AS SELECT time_bucket(300, n) AS b, count(*), sum(v) FROM metered GROUP BY 1},
		q{SELECT drop_chunks('metered', older_than => 2000)});
	return;
}

my @tables = ('t', 'odd', 'quick', 'parted', 'cpu');

# What indexes lead to: plans name them, and answers are those of the rows.
my $lookups = q{SELECT (SELECT string_agg(id::text, ',' ORDER BY id) FROM cpu WHERE v IN (77, 9077, 19077)),
	(SELECT count(*) FROM cpu WHERE doc ? 'w5'), (SELECT count(*) FROM cpu WHERE v BETWEEN 5000 AND 5009)};

my %modes = (copy => [ '-j', '2' ], link => ['--link']);
$modes{swap} = ['--swap'] if PostgreSQL::Test::Cluster->new('version')->pg_version >= 18;

foreach my $mode (sort keys %modes)
{
	my $old = strata_node("old_$mode", '', install_path => $ENV{STRATA_OLD_INSTALL});
	note('from ' . $old->safe_psql('postgres', 'SELECT version()'));
	fill($old);
	my %want = map { $_ => content_hash($old, $_) } @tables;
	my $batches = join "\n", map { $old->safe_psql('postgres', "SELECT first_row, nrows, segment FROM strata.batches('$_') ORDER BY 1") }
	  ('t', 'odd', 'quick', 'part1');
	like($batches, qr/\d\|\d/, "$mode: there are batches to keep");
	my $settings = $old->safe_psql('postgres', $options);
	my $kept_before = $old->safe_psql('postgres', $kept);
	is($kept_before, '17|5000|12497500', "$mode: a continuous aggregate to keep");
	$old->stop;

	my $new = PostgreSQL::Test::Cluster->new("new_$mode");
	# from 18 on initdb switches checksums on, and pg_upgrade wants them as they were
	my @checksums = $new->pg_version >= 18 && $old->pg_version < 18 ? ('--no-data-checksums') : ();
	$new->init(extra => [ '--locale=C.UTF-8', '--encoding=UTF8', @checksums ]);
	$new->append_conf('postgresql.conf', "shared_preload_libraries = 'strata'\njit = off\ntimezone = 'UTC'\nwal_level = logical\n");

	my ($from, $to) = map { $_->config_data('--bindir') } ($old, $new);
	my ($out, $err);
	my $ok = IPC::Run::run(
		[   'pg_upgrade', '--no-sync', '-d', $old->data_dir, '-D', $new->data_dir, '-b', $from, '-B', $to,
			'-s', $new->host, '-p', $old->port, '-P', $new->port, @{ $modes{$mode} } ],
		'>', \$out, '2>', \$err);
	ok($ok, "$mode: pg_upgrade") or diag("$out\n$err");

	$new->start;
	is(content_hash($new, $_), $want{$_}, "$mode: same rows in $_") foreach @tables;
	twins_are_equal($new, 't', "$mode: upgraded");
	is_sound($new, $_, "$mode: $_") foreach ('t', 'odd', 'quick', 'part1');
	is( join("\n", map { $new->safe_psql('postgres', "SELECT first_row, nrows, segment FROM strata.batches('$_') ORDER BY 1") }
			('t', 'odd', 'quick', 'part1')),
		$batches, "$mode: same batches");
	is($new->safe_psql('postgres', $options), $settings, "$mode: same settings");
	is($new->safe_psql('postgres', 'SELECT strata.gc()'), '0', "$mode: no orphans");

	is($new->safe_psql('postgres', $lookups), '77,9077,19077|21|10', "$mode: indexes lead to batches");
	like($new->safe_psql('postgres', 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT id FROM cpu WHERE v = 9077'),
		qr/StrataScan/, "$mode: which are scanned");
	isnt($new->psql('postgres', q{INSERT INTO cpu SELECT * FROM cpu WHERE id = 77}), 0, "$mode: keys of compressed rows hold");
	is_sound($new, $new->safe_psql('postgres', q{SELECT min(c::text) FROM show_chunks('cpu') c}), "$mode: a chunk");
	$new->safe_psql('postgres', $_) foreach (q{UPDATE cpu SET v = -v WHERE id = 77},
		q{SELECT compress_chunk(c, recompress => true) FROM show_chunks('cpu') c});
	is($new->safe_psql('postgres', $lookups), '9077,19077|21|10', "$mode: and after compression");

	is($new->safe_psql('postgres', $kept), $kept_before, "$mode: the same of a continuous aggregate");
	is($new->safe_psql('postgres', 'SELECT count(*) FROM metered'), '3000', "$mode: whose rows are gone in part");
	$new->safe_psql('postgres', q{INSERT INTO metered VALUES (7, 7), (4000, 7)});
	$new->safe_psql('postgres', q{CALL refresh_continuous_aggregate('kept', NULL, NULL)});
	is($new->safe_psql('postgres', $kept), '17|5002|12497514', "$mode: and life goes on there");
	# its tiers are one object still
	is($new->safe_psql('postgres', 'SELECT tier, width, keep, hypertable FROM strata.archives'),
		"kept|300|100000|kept_archive\nkept_600|600||kept_600_archive", "$mode: tiers");
	is($new->safe_psql('postgres', 'SELECT sum(count) FROM kept_600'), '5002', "$mode: and what they have");
	isnt($new->psql('postgres', 'DROP MATERIALIZED VIEW kept_600'), 0, "$mode: which go together");
	isnt($new->psql('postgres', 'DROP TABLE kept_archive'), 0, "$mode: with their archives");
	$new->safe_psql('postgres', 'DROP MATERIALIZED VIEW kept');
	is($new->safe_psql('postgres', q{SELECT count(*) FROM pg_class WHERE relname LIKE 'kept%'}), '0', "$mode: all of it");
	$new->safe_psql('postgres', 'DROP TABLE metered CASCADE');

	is_sound($new, 'own.felt', "$mode: own.felt");
	$new->safe_psql('postgres', 'DROP SCHEMA own CASCADE');
	is($new->safe_psql('postgres', 'SELECT strata.gc()'), '0', "$mode: a schema with table and type takes the companion along");

	# what reads the changes of this cluster hears of tables, not of companions
	$new->safe_psql('postgres', q{SELECT pg_create_logical_replication_slot('s', 'test_decoding')});
	$new->safe_psql('postgres', q{UPDATE odd SET a = '{}' WHERE l = 77});
	my $changes = $new->safe_psql('postgres', q{SELECT data FROM pg_logical_slot_get_changes('s', NULL, NULL)});
	unlike($changes, qr/batch_/, "$mode: companions stay silent in logical decoding");
	$new->safe_psql('postgres', q{SELECT pg_drop_replication_slot('s')});

	# and life goes on
	$new->safe_psql('postgres', $_) foreach (
		q{DELETE FROM t WHERE host = 'host_2'}, q{DELETE FROM t_heap WHERE host = 'host_2'},
		q{UPDATE t SET extra = 8 WHERE host = 'host_3'}, q{UPDATE t_heap SET extra = 8 WHERE host = 'host_3'},
		q{SELECT compress_chunk('t', recompress => true)}, q{VACUUM FULL t}, q{SELECT compress_chunk('odd')});
	twins_are_equal($new, 't', "$mode: changed after the upgrade");
	is_sound($new, 't', "$mode: changed after the upgrade");
	isnt($new->psql('postgres', q{INSERT INTO quick VALUES ('2026-01-01', 5)}), 0, "$mode: unique keys hold");
	$new->safe_psql('postgres', 'DROP TABLE t, odd, quick, parted, cpu CASCADE');
	is( $new->safe_psql('postgres', "SELECT count(*) FROM pg_class WHERE relname ~ '^batch_' AND relkind = 'r'"),
		'0', "$mode: dropped tables take their companions along");
	$new->stop;
}

done_testing();
