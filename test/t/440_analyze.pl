# test/t/440_analyze.pl
#	  Autovacuum's ANALYZE sees compressed rows where no activity is tracked.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = strata_node('analyze', "autovacuum = on\nautovacuum_naptime = 1s\ntrack_activities = off\n");
$node->safe_psql('postgres', q{
	CREATE EXTENSION strata;
	CREATE TABLE t (id int, k text) USING strata WITH (autovacuum_enabled = off);
	INSERT INTO t SELECT i, 'k' || i % 10 FROM generate_series(1, 20000) i;
	SELECT compress_chunk('t');
	ALTER TABLE t SET (autovacuum_enabled = on, autovacuum_analyze_threshold = 1, autovacuum_analyze_scale_factor = 0);
});
# compress_chunk has analyzed it, and its session tells of that at its end, which may be after the client's
ok( $node->poll_query_until('postgres', q{SELECT (SELECT analyze_count > 0 FROM pg_stat_user_tables WHERE relname = 't')
	AND NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid())}),
	'the session that compressed has ended');
$node->safe_psql('postgres', "INSERT INTO t SELECT i, 'k' || i % 20 FROM generate_series(20001, 24000) i");
ok($node->poll_query_until('postgres', "SELECT autoanalyze_count > 0 FROM pg_stat_user_tables WHERE relname = 't'"), 'autovacuum came by');
is($node->safe_psql('postgres', "SELECT reltuples FROM pg_class WHERE relname = 't'"), '24000', 'all rows are counted');
is($node->safe_psql('postgres', "SELECT n_distinct FROM pg_stats WHERE tablename = 't' AND attname = 'k'"), '20', 'and in the sample');
done_testing();
