# test/t/410_distributed.pl
#	  Tables that Citus has distributed, seen from our side alone: its catalog
#	  is made by hand here.  test/citus has the test with Citus itself.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = strata_node('distributed', "autovacuum = off\nfsync = off\n");

sub sql { return $node->safe_psql('postgres', $_[0]); }
sub error { return ($node->psql('postgres', "SET ROLE owner; $_[0]"))[2]; }

my $make = "SET ROLE owner; CREATE TABLE %s (ts timestamptz NOT NULL, host int, v float8);
	SELECT create_hypertable('%s', 'ts', chunk_time_interval => interval '12 hours');
	ALTER TABLE %s SET (strata.segmentby = 'host', strata.orderby = 'ts')";
sub make { my ($name) = @_; return sql(sprintf($make, ($name) x 3)); }
sub guards { return sql("SELECT coalesce(string_agg(tgrelid::regclass::text, ' '), '') FROM pg_trigger WHERE tgname = 'strata_guard'"); }

sql("CREATE EXTENSION strata; CREATE ROLE owner; GRANT CREATE ON SCHEMA public TO owner");
make('before');
is(guards(), 'before', 'a hypertable has a trigger');

# what Citus documents of its catalog, and what we read
sql("SET allow_system_table_mods = on; CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass NOT NULL, partmethod \"char\" NOT NULL);
	GRANT SELECT ON pg_catalog.pg_dist_partition TO public");
make($_) for qw(far near);
is(guards(), 'before', 'none beside Citus, which refuses tables with triggers');
sql("SET ROLE owner; DROP TRIGGER strata_guard ON before");
sql("SET ROLE owner; INSERT INTO before VALUES ('2026-01-01', 1, 1)");
is(sql('SELECT count(*) FROM before'), '1', 'who has one drops it');

# far has become a shell
sql("SET ROLE owner; SELECT create_chunks('far', '2026-01-01'::timestamptz, '2026-01-02'::timestamptz)");
sql("INSERT INTO pg_dist_partition SELECT c, 'h' FROM show_chunks('far') AS c UNION ALL SELECT 'far', 'h'");
my $chunk = sql("SELECT c FROM show_chunks('far') AS c ORDER BY 1 LIMIT 1");
my %refused = (
	"SELECT compress_chunk('far')" => 'far', "SELECT compress_chunk('$chunk')" => $chunk, "SELECT decompress_chunk('$chunk')" => $chunk,
	"CALL strata.compress_all('far')" => 'far', "SELECT * FROM strata.verify('far')" => 'far', "SELECT * FROM strata.batches('far')" => 'far',
	"SELECT add_compression_policy('far', interval '1 day')" => 'far', "SELECT add_reorder_policy('far', 'far_ts_idx')" => 'far');
for my $statement (sort keys %refused)
{
	my $table = $refused{$statement};
	like(error($statement), qr/ERROR:  table "$table" is distributed: its rows are in its shards\nHINT:  .*run_command_on_shards\('$table', \$\$SELECT compress_chunk\('%s'\)\$\$\);/,
		"refused: $statement");
}
# what reaches all servers by statements is left to Citus
sql("SET ROLE owner; SELECT create_chunks('far', '2026-01-02'::timestamptz, '2026-01-03'::timestamptz)");
is(sql("SELECT count(*) FROM show_chunks('far')"), '4', 'chunks are made by statements');
sql("SET ROLE owner; SELECT drop_chunks('far', older_than => '2026-01-02'::timestamptz); SELECT add_retention_policy('far', interval '100 years')");
is(sql("SELECT count(*) FROM show_chunks('far')"), '2', 'and dropped');
like(error("COPY far FROM stdin;\n2030-01-01\t1\t1\n\\.\n"), qr/no partition of relation "far" found for row/, 'COPY is not ours');

# a shard on a worker gets no chunk that Citus does not know of
sql("SET allow_system_table_mods = on; CREATE TABLE pg_catalog.pg_dist_shard (logicalrelid regclass NOT NULL, shardid bigint NOT NULL);
	INSERT INTO pg_dist_shard VALUES ('far', 102008), ('near', 102010)");
make($_) for qw(far_102008 far_102009 other_102010 far_99999999999999999999);
like(error("INSERT INTO far_102008 VALUES ('2026-01-01', 1, 1)"), qr/ERROR:  shard "far_102008" has no chunk for the row\nHINT:  .*create_chunks/, 'a shard makes no chunk');
sql("SET ROLE owner; INSERT INTO $_ VALUES ('2026-01-01', 1, 1)") for qw(far_102009 other_102010 far_99999999999999999999);
is(sql("SELECT count(*) FROM far_102009, other_102010, far_99999999999999999999"), '1', 'tables with such names do');
sql("SET ROLE owner; CREATE TABLE chunk_102008 PARTITION OF far_102008 FOR VALUES FROM (date_trunc('day', now())) TO (date_trunc('day', now()) + interval '12 hours') USING strata;
	CREATE TABLE chunk_102008_2 PARTITION OF far_102008 FOR VALUES FROM (date_trunc('day', now()) + interval '12 hours') TO (date_trunc('day', now()) + interval '1 day') USING strata;
	INSERT INTO far_102008 VALUES (now(), 1, 1); INSERT INTO far_102009 VALUES (now(), 1, 1)");
my $ahead = sql("SELECT job_id FROM strata.jobs WHERE proc_name = 'policy_chunks_ahead'");
sql("CALL run_job($ahead)");
is(sql("SELECT count(*) FROM show_chunks('far_102008')"), '2', 'nor ahead of rows');
cmp_ok(sql("SELECT count(*) FROM show_chunks('far_102009')"), '>', 2, 'as other tables do');

# other tables are as ever
sql("SET ROLE owner; INSERT INTO near SELECT '2026-01-01'::timestamptz + i * interval '1 minute', i % 3, i FROM generate_series(0, 5000) AS i;
	SELECT compress_chunk('near'); SELECT add_compression_policy('near', interval '1 day')");
is(sql("SELECT count(*), count(*) FILTER (WHERE is_compressed) FROM strata.chunks WHERE hypertable_name = 'near'"), '7|7', 'a table of this server is compressed');
is(sql("SELECT * FROM strata.verify('near')"), '', 'and sound');

done_testing();
