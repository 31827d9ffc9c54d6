# test/t/370_leave.pl
#	  The way out: to_heap() leaves tables that need nothing of ours, in steps,
#	  beside readers and writers; DROP EXTENSION does not take tables along.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = strata_node('leave', "autovacuum = off\n");
sub sql { return $node->safe_psql('postgres', $_[0]); }
sub errors { return ($node->psql('postgres', $_[0]))[2]; }

sql(q{
	CREATE EXTENSION strata;
	CREATE ROLE owner;
	CREATE ROLE stranger;
	GRANT CREATE ON SCHEMA public TO owner;
	SET ROLE owner;
	CREATE TABLE places (host int PRIMARY KEY);
	INSERT INTO places SELECT generate_series(0, 6);
	CREATE TABLE m (ts timestamptz NOT NULL, host int REFERENCES places, v float8 DEFAULT 7, gone int, g float8 GENERATED ALWAYS AS (v * 2) STORED, PRIMARY KEY (host, ts));
	ALTER TABLE m DROP gone;
	SELECT create_hypertable('m', 'ts', chunk_time_interval => interval '12 hours');
	ALTER TABLE m SET (strata.segmentby = 'host');
	ALTER TABLE m SET (fillfactor = 90);
	COMMENT ON TABLE m IS 'measurements';
	INSERT INTO m SELECT '2026-01-01 00:00+00'::timestamptz + i * interval '1 minute', i % 7, nullif(i % 10, 3) FROM generate_series(1, 7200) i;
	SET client_min_messages = error;
	CALL strata.compress_all('m');
	INSERT INTO m SELECT ts + interval '1 s', host FROM m WHERE host = 3;
	UPDATE m SET v = -1 WHERE host = 4 AND v = 4;
	DELETE FROM m WHERE host = 5 AND v = 5;
	SELECT add_compression_policy('m', interval '1 day', initial_start => now() + interval '1 year');
	SELECT add_retention_policy('m', interval '10 years', initial_start => now() + interval '1 year');
	CREATE TABLE p (id int, v text) USING strata WITH (strata.orderby = 'id');
	INSERT INTO p SELECT i, md5(i::text) FROM generate_series(1, 5000) i;
	CREATE MATERIALIZED VIEW mv USING strata AS SELECT * FROM p;
	CREATE TABLE parts (id int, v text) PARTITION BY RANGE (id);
	ALTER TABLE parts SET (strata.orderby = 'id');
	CREATE TABLE parts1 PARTITION OF parts FOR VALUES FROM (0) TO (3000) USING strata;
	CREATE TABLE parts2 PARTITION OF parts FOR VALUES FROM (3000) TO (9000) USING heap;
	INSERT INTO parts SELECT * FROM p;
	CALL strata.compress_all();
});
my @tables = qw(m p mv parts);
sub content { return join ' ', map { sql("SELECT count(*), sum(hashtextextended(t::text, 0)::numeric) FROM $_ t") } @tables; }
my $want = content();

# what DROP EXTENSION says, in its own words, CASCADE or not
foreach my $statement ('DROP EXTENSION strata', 'DROP EXTENSION IF EXISTS strata CASCADE')
{
	like(errors($statement), qr/ERROR:  cannot drop extension "strata" because tables use it\nDETAIL:  \d+ tables, among them of "\w+", would be dropped with their rows\.\nHINT:  CALL strata\.to_heap\('public\.\w+'\);/, $statement);
}
is(content(), $want, 'nothing is lost');

# who may
like(errors("SET ROLE stranger; CALL strata.to_heap('m')"), qr/ERROR:  must be owner of table m/, 'not a stranger');
like(errors("CALL strata.to_heap('places')"), qr/ERROR:  "places" does not use the access method strata/, 'not of a heap');
like(errors("CALL strata.to_heap(NULL)"), qr/ERROR:  argument "relation" cannot be null/, 'not of nothing');

# a step that fails does not undo the others, and the next call goes on
my $chunk = sql("SELECT c FROM show_chunks('m') c ORDER BY 1 OFFSET 2 LIMIT 1");
start_psql($node, "BEGIN; SELECT count(*) FROM $chunk;\n\\! sleep 30\n");
my $reader = "SELECT pid FROM pg_stat_activity WHERE state = 'idle in transaction'";
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM ($reader) s") or die;
like(errors("SET ROLE owner; SET lock_timeout = '100ms'; CALL strata.to_heap('m')"), qr/ERROR:  canceling statement due to lock timeout/, 'a reader holds a chunk');
is(sql("SELECT count(*) FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE relispartition AND relname LIKE 'm\\_%chunk' AND amname = 'strata'"), '1', 'the others are done');
is(content(), $want, 'and all rows there');
is(sql("SELECT count(*) FROM strata.hypertables WHERE hypertable_name = 'm'"), '1', 'still a hypertable');
sql("SELECT pg_terminate_backend(pid) FROM ($reader) s");
sql("SET ROLE owner; INSERT INTO m VALUES ('2027-01-01', 1, 1); DELETE FROM m WHERE ts = '2027-01-01'");
like(errors("SET ROLE owner; CALL strata.to_heap('m')"), qr/NOTICE:  "m" is a partitioned table like others now/, 'the next call goes on');
like(errors("SET ROLE owner; CALL strata.to_heap('m')"), qr/ERROR:  no partition of "m" uses the access method strata/, 'and another has nothing to do');
sql("BEGIN; SET ROLE owner; CALL strata.to_heap('p'); CALL strata.to_heap('mv'); CALL strata.to_heap('parts'); COMMIT");
is(content(), $want, 'same rows');
is(sql("SELECT count(*) FROM pg_class WHERE reloptions::text LIKE '%strata.%'"), '0', 'no option is left');
is(sql("SELECT count(*) FROM _strata.job WHERE hypertable IS NOT NULL"), '0', 'no policy');
is(sql("SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'strata%' AND tgrelid = 'm'::regclass"), '0', 'no trigger');

# and without us
sql("DROP EXTENSION strata");
is(content(), $want, 'same rows without the extension');
like(errors("INSERT INTO m VALUES ('2030-01-01', 1, 1)"), qr/no partition of relation "m" found for row/, 'partitions are the user\'s to make');
sql("CREATE TABLE next PARTITION OF m FOR VALUES FROM ('2030-01-01') TO ('2030-02-01'); INSERT INTO m VALUES ('2030-01-01', 1, 1); UPDATE m SET v = 3 WHERE ts = '2030-01-01'; DELETE FROM m WHERE ts = '2030-01-01'");
like(errors("INSERT INTO m VALUES ('2026-01-01 00:01+00', 1, 1), ('2026-01-01 00:01+00', 1, 1)"), qr/duplicate key/, 'its key holds');
like(errors("INSERT INTO m VALUES ('2026-01-01 00:01:30+00', 99, 1)"), qr/violates foreign key/, 'and its foreign key');
$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "''");
$node->restart;
is(content(), $want, 'same rows without the library');

# allowed, it drops them
$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "'strata'");
$node->restart;
sql("CREATE EXTENSION strata; CREATE TABLE q (id int) USING strata; INSERT INTO q SELECT generate_series(1, 3000)");
sql("SET strata.allow_drop_cascade = on; SET client_min_messages = error; DROP EXTENSION strata CASCADE");
is(sql("SELECT to_regclass('q') IS NULL"), 't', 'strata.allow_drop_cascade');

# refused in a session without the library as well
sql("CREATE EXTENSION strata; CREATE TABLE q (id int) USING strata; INSERT INTO q SELECT generate_series(1, 3000)");
$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "''");
$node->restart;
like(errors('DROP EXTENSION strata CASCADE'), qr/cannot drop extension/, 'without the library preloaded, too');

done_testing();
