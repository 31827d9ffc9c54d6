# test/t/056_subscriber_chunks.pl
#	  Logical replication into hypertables.  PostgreSQL's apply workers ask nobody for
#	  a chunk: they find those that are made ahead, and where there is none they fail
#	  and try again, until create_chunks(), or a worker that makes them ahead, has made it.
use strict;
use warnings;

use StrataTest;
use Test::More;

my $publisher = strata_node('publisher', "wal_level = logical\n", allows_streaming => 'logical');
my $subscriber = strata_node('subscriber', "wal_retrieve_retry_interval = 200ms\nlog_min_messages = warning\n", allows_streaming => 'logical');
$publisher->safe_psql('postgres', q{
	CREATE SCHEMA "My Schema";
	CREATE TABLE "My Schema"."M" ("Time" timestamptz NOT NULL, d int, v float8, PRIMARY KEY ("Time", d));
	CREATE TABLE i (t bigint PRIMARY KEY, v int);
	CREATE FUNCTION id_time(text) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT substr($1, 2)::bigint';
	CREATE TABLE f (id text PRIMARY KEY, v int);
	CREATE TABLE plain (t int PRIMARY KEY CHECK (t < 100));
	INSERT INTO "My Schema"."M" SELECT '2026-01-01'::timestamptz + g * interval '8 hours', g % 3, g FROM generate_series(0, 5) g;
	CREATE PUBLICATION pub FOR ALL TABLES WITH (publish_via_partition_root = true);
});
$subscriber->safe_psql('postgres', q{
	CREATE EXTENSION strata;
	CREATE SCHEMA "My Schema";
	CREATE TABLE "My Schema"."M" (more text, "Time" timestamptz NOT NULL, d int, v float8, PRIMARY KEY ("Time", d));
	SELECT create_hypertable('"My Schema"."M"', 'Time', chunk_time_interval => interval '1 day');
	CREATE TABLE i (t bigint PRIMARY KEY, v int);
	SELECT create_hypertable('i', 't', chunk_time_interval => 100);
	CREATE FUNCTION id_time(text) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT substr($1, 2)::bigint';
	CREATE TABLE f (id text PRIMARY KEY, v int);
	SELECT create_hypertable('f', 'id', chunk_time_interval => 100, time_partitioning_func => 'id_time');
	CREATE TABLE plain (t int PRIMARY KEY) PARTITION BY RANGE (t);
	CREATE TABLE plain_low PARTITION OF plain FOR VALUES FROM (0) TO (50);
	ALTER DATABASE postgres SET datestyle = 'SQL, DMY';
	ALTER DATABASE postgres SET timezone = 'Europe/Berlin';
});
my $source = $publisher->connstr . ' dbname=postgres';
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION sub CONNECTION '$source' PUBLICATION pub");
my $failure = qr/no partition of relation "M" found for row/;
# the first copy of what is long past: nobody knows of it beforehand
$subscriber->wait_for_log($failure, 0);
is($subscriber->safe_psql('postgres', q{SELECT create_chunks('"My Schema"."M"', '2026-01-01 00:00+00', '2026-01-03 00:00+00')}), '2', 'chunks for the first copy');
is($subscriber->safe_psql('postgres', q{SELECT create_chunks('"My Schema"."M"', '2026-01-01 00:00+00', '2026-01-03 00:00+00')}), '0', 'they are there');
$subscriber->wait_for_subscription_sync($publisher, 'sub');
my $rows = q{SELECT string_agg(extract(epoch FROM "Time") || ' ' || d || ' ' || v, ', ' ORDER BY "Time") FROM "My Schema"."M"};
is($subscriber->safe_psql('postgres', $rows), $publisher->safe_psql('postgres', $rows), 'the first copy');

# rows that go on in time: each chunk's first row has the next ones made, as they would be for years
my $offset = -s $subscriber->logfile;
ok(wait_until(sub { $subscriber->safe_psql('postgres', q{SELECT count(*) FROM show_chunks('"My Schema"."M"', newer_than => '2026-01-03 00:00+00')}) eq '2' }), 'two chunks ahead');
for my $day (3 .. 10)
{
	$publisher->safe_psql('postgres', qq{INSERT INTO "My Schema"."M" SELECT '2026-01-$day 00:00+00'::timestamptz + g * interval '1 hour', g, 100 + g FROM generate_series(0, 23) g});
	$publisher->wait_for_catchup('sub');
	# what takes a moment here has a day's time there
	wait_until(sub { $subscriber->safe_psql('postgres', qq{SELECT count(*) FROM show_chunks('"My Schema"."M"', newer_than => '2026-01-$day 00:00+00')}) eq '3' }) or last;
}
is($subscriber->safe_psql('postgres', $rows), $publisher->safe_psql('postgres', $rows), 'day after day');
unlike(PostgreSQL::Test::Utils::slurp_file($subscriber->logfile, $offset), $failure, 'no attempt has failed');

# a transaction over many chunks goes on from attempt to attempt, for each chunk has the next ones made
$publisher->safe_psql('postgres', q{INSERT INTO "My Schema"."M" SELECT '2026-01-11 00:00+00'::timestamptz + g * interval '12 hours', 0, 200 + g FROM generate_series(0, 23) g});
$publisher->wait_for_catchup('sub');
is($subscriber->safe_psql('postgres', $rows), $publisher->safe_psql('postgres', $rows), 'a transaction over twelve chunks');

# elsewhere it fails and is repeated, and nothing is lost
$offset = -s $subscriber->logfile;
$publisher->safe_psql('postgres', q{
	INSERT INTO "My Schema"."M" VALUES ('2026-03-01', 1, 1), ('2026-03-29 03:30+02', 1, 2);
	UPDATE "My Schema"."M" SET "Time" = '1999-12-31' WHERE v = 3;
	INSERT INTO i VALUES (5, 1), (-5, 2), (1000, 3);
	INSERT INTO f VALUES ('c77', 1), ('c1077', 2);
	DELETE FROM i WHERE t = 5;
});
$subscriber->wait_for_log($failure, $offset);
$subscriber->safe_psql('postgres', q{
	SELECT create_chunks('"My Schema"."M"', t) FROM unnest('{2026-03-01 00:00+00, 2026-03-29 03:30+02, 1999-12-31 00:00+00}'::timestamptz[]) t;
	SELECT create_chunks('i', -5, 6), create_chunks('i', 1000), create_chunks('f', 77), create_chunks('f', 1077);
});
$publisher->wait_for_catchup('sub');
is($subscriber->safe_psql('postgres', $rows), $publisher->safe_psql('postgres', $rows), 'rows and updates');
is($subscriber->safe_psql('postgres', q{SELECT (SELECT string_agg(t::text, ' ' ORDER BY t) FROM i), (SELECT count(*) FROM f)}), '-5 1000|2', 'of all tables');
# compressed since, and on it goes; the tick of the job makes the chunks of the present time
$subscriber->safe_psql('postgres', q{SELECT count(compress_chunk(c)) FROM show_chunks('"My Schema"."M"') c});
$subscriber->safe_psql('postgres', q{SELECT create_chunks('"My Schema"."M"', now())});
$publisher->safe_psql('postgres', q{INSERT INTO "My Schema"."M" VALUES (now(), 1, 1000); UPDATE "My Schema"."M" SET v = 100 WHERE d = 2});
$publisher->wait_for_catchup('sub');
$subscriber->safe_psql('postgres', 'CALL run_job(2)');
is($subscriber->safe_psql('postgres', q{SELECT count(*) FROM show_chunks('"My Schema"."M"', newer_than => now())}), '2', 'the job');
$publisher->safe_psql('postgres', q{INSERT INTO "My Schema"."M" VALUES (now() + interval '1 day', 1, 1001), (now() + interval '2 days', 1, 1002)});
$publisher->wait_for_catchup('sub');
is($subscriber->safe_psql('postgres', $rows), $publisher->safe_psql('postgres', $rows), 'after compression');

# a table that is no hypertable: nobody makes partitions of it
$offset = -s $subscriber->logfile;
$publisher->safe_psql('postgres', 'INSERT INTO plain VALUES (60)');
$subscriber->wait_for_log(qr/no partition of relation "plain" found for row.*no partition of relation "plain" found for row/s, $offset);
is($subscriber->safe_psql('postgres', q{SELECT count(*) FROM pg_inherits WHERE inhparent = 'plain'::regclass}), '1', 'not for others');
$subscriber->safe_psql('postgres', 'CREATE TABLE plain_high PARTITION OF plain FOR VALUES FROM (50) TO (100)');
$publisher->wait_for_catchup('sub');
is($subscriber->safe_psql('postgres', 'SELECT count(*) FROM plain'), '1', 'and on it goes');
$subscriber->stop;
$publisher->stop;
done_testing();
