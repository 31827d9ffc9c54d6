# test/t/380_without_library.pl
#	  A server that does not preload the library: what needs it says so, and how
#	  it is had; nothing is done by halves.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = strata_node('late', "autovacuum = off\nshared_preload_libraries = 'pg_stat_statements'\n");
sub sql { return $node->safe_psql('postgres', $_[0]); }
# in a session of its own
sub errors { return ($node->psql('postgres', $_[0], on_error_stop => 0))[2]; }
my $hint = qr/HINT:  ALTER SYSTEM SET shared_preload_libraries = pg_stat_statements, strata; then restart the server\./;

like(errors('CREATE EXTENSION strata'), qr/WARNING:  jobs do not run: strata is not in shared_preload_libraries\n$hint/, 'CREATE EXTENSION warns');
sql(q{
	CREATE ROLE owner;
	GRANT CREATE ON SCHEMA public TO owner;
	SET ROLE owner;
	CREATE TABLE m (ts timestamptz NOT NULL, host int, v float8);
	SELECT create_hypertable('m', 'ts', chunk_time_interval => interval '12 hours');
	INSERT INTO m SELECT '2026-01-01 00:00+00'::timestamptz + i * interval '1 minute', i % 7, i FROM generate_series(1, 3000) i;
	SET client_min_messages = error;
	CALL strata.compress_all('m');
	CREATE TABLE plain (id int);
	CREATE TABLE one (id int) USING strata;
});

my $late = qr/ERROR:  the library of extension "strata" was not loaded when this statement began\nDETAIL:  It is now, for this session: the same statement will work\.\n$hint/;
my %refused = (
	'CREATE TABLE with options' => 'CREATE TABLE n (ts timestamptz NOT NULL, v int) WITH (strata.hypertable, strata.partition_column = \'ts\')',
	'CREATE TABLE AS with options' => "CREATE TABLE n USING strata WITH (strata.orderby = 'ts') AS SELECT * FROM m",
	'CREATE MATERIALIZED VIEW with options' => "CREATE MATERIALIZED VIEW n USING strata WITH (strata.orderby = 'ts') AS SELECT * FROM m",
	'ALTER TABLE with options' => "ALTER TABLE one SET (strata.orderby = 'id')",
	'ALTER TABLE with options to go' => 'ALTER TABLE m RESET (strata.orderby)',
	'ADD COLUMN' => 'ALTER TABLE m ADD COLUMN w int',
	'other options of a strata table' => 'ALTER TABLE one SET (fillfactor = 90)',
	'RENAME COLUMN of a strata table' => 'ALTER TABLE one RENAME COLUMN id TO no; ALTER TABLE one RENAME COLUMN no TO id',
	'SET SCHEMA' => 'ALTER TABLE m SET SCHEMA public',
	'OWNER' => 'ALTER TABLE m OWNER TO owner',
	'RENAME COLUMN' => 'ALTER TABLE m RENAME COLUMN v TO w; ALTER TABLE m RENAME COLUMN w TO v',
	'CREATE INDEX' => 'CREATE INDEX late ON m (v)',
	'CREATE INDEX by chunk' => 'CREATE INDEX late2 ON m (v) WITH (strata.transaction_per_chunk)');
foreach my $what (sort keys %refused)
{
	like(errors("SET ROLE owner; $refused{$what}"), $late, "$what: refused, with a hint");
}
is(sql("SELECT count(*) FROM pg_class WHERE relname IN ('n', 'late', 'late2')"), '0', 'nothing was done by halves');
is(sql("SELECT count(*) FROM pg_attribute WHERE attname = 'w'"), '0', 'nor to columns');

# the next statement of the session works
like(errors("SET ROLE owner; ALTER TABLE m ADD COLUMN w int; ALTER TABLE m ADD COLUMN w int; CREATE INDEX late ON m (w)"), $late, 'the first of a session');
is(sql("SELECT count(*) FROM pg_attribute WHERE attname = 'w' AND attrelid IN (SELECT 'm'::regclass UNION ALL SELECT c::oid FROM show_chunks('m') c)"),
	sql("SELECT 1 + count(*) FROM show_chunks('m')"), 'the second is done, for chunks too');
is(errors("LOAD 'strata'; ALTER TABLE m DROP COLUMN w"), '', 'and after LOAD the first');

# columns that other commands rename or drop
sql(q{
	LOAD 'strata';
	SET ROLE owner;
	CREATE TYPE mood AS ENUM ('a');
	CREATE TYPE triple AS (a int, b int);
	CREATE TABLE moody (id int, k mood, t int) USING strata WITH (strata.segmentby = 'k', strata.orderby = 't');
	CREATE TABLE typed OF triple USING strata WITH (strata.orderby = 'a, b');
});
is(errors('SET ROLE owner; SET client_min_messages = warning; DROP TYPE mood CASCADE'), '', 'DROP TYPE drops a column');
is(errors('SET ROLE owner; ALTER TYPE triple RENAME ATTRIBUTE a TO c CASCADE'), '', 'ALTER TYPE renames one');
is(errors('SET ROLE owner; ALTER TYPE triple DROP ATTRIBUTE b CASCADE'), '', 'and drops one');
is(sql("SELECT string_agg(reloptions::text, ' ' ORDER BY relname) FROM pg_class WHERE relname IN ('moody', 'typed')"),
	'{strata.segmentby=,strata.orderby=t} {strata.orderby=c}', 'options follow');

# what has nothing to do with our hooks is not disturbed
is(errors('SET ROLE owner; ALTER TABLE one ALTER COLUMN id TYPE int8'), '', 'a strata table that is rewritten');
is(errors('SET ROLE owner; ALTER TABLE one ADD COLUMN more int; CREATE INDEX ON one (more); ALTER TABLE one DROP COLUMN more'), '', 'its columns and indexes');
is(errors('ALTER TABLE plain ADD COLUMN x int; CREATE INDEX ON plain (x); CREATE TABLE other AS TABLE plain; CREATE TABLE s (id int) USING strata; DROP TABLE s, other'), '', 'other tables');
is(errors("SET ROLE owner; INSERT INTO one VALUES (1); SELECT count(*) FROM m; DELETE FROM m WHERE v = 5"), '', 'rows of existing chunks');
is(sql('SELECT count(*), sum(v) FROM m'), '2999|4501495', 'all rows');

$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "'pg_stat_statements, strata'");
$node->restart;
is(errors("SET ROLE owner; ALTER TABLE m ADD COLUMN w int; ALTER TABLE m DROP COLUMN w; ALTER TABLE one SET (strata.orderby = 'id')"), '', 'preloaded: as ever');

done_testing();
