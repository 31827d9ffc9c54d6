# test/t/505_tablespace_method.pl
#	  A tablespace whose new tables are of strata_dedup: in every database, in one
#	  whose default it is, where the library is not preloaded, and after
#	  pg_dumpall into another server, with heaps that stay heaps.
use strict;
use warnings;

use PostgreSQL::Test::Utils;
use StrataTest;
use Test::More;

my $node = strata_node('spaces', "autovacuum = off\nallow_in_place_tablespaces = on\n");
my $method = q{SELECT relname, amname FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE relkind IN ('r', 'm') AND relnamespace = 'public'::regnamespace ORDER BY 1};
sub sql { return $node->safe_psql($_[0], $_[1]); }

sql('postgres', $_) foreach (
	'CREATE EXTENSION strata', 'CREATE TABLESPACE keeps LOCATION \'\'', 'CREATE ROLE keeper LOGIN', 'ALTER TABLESPACE keeps OWNER TO keeper', 'GRANT CREATE ON SCHEMA public TO keeper',
	'SET ROLE keeper; SELECT strata.set_tablespace_access_method(\'keeps\', \'strata_dedup\')',
	'CREATE DATABASE by_default TABLESPACE keeps', 'CREATE DATABASE without');
is(sql('without', 'CREATE TABLE t (a int) TABLESPACE keeps; ' . $method), 't|heap', 'a database without the extension has heaps');
sql('by_default', $_) foreach (
	'CREATE EXTENSION strata', 'CREATE TABLE t (id int PRIMARY KEY, city text)',
	q{INSERT INTO t SELECT i, 'San Francisco ' || i % 5 FROM generate_series(1, 5000) i}, 'CREATE TABLE h USING heap AS TABLE t', 'CREATE TABLE e (a int) TABLESPACE pg_default',
	'CREATE MATERIALIZED VIEW v AS TABLE t');
is(sql('by_default', $method), "e|heap\nh|heap\nt|strata_dedup\nv|strata_dedup", 'the default of a database');
is(sql('by_default', q{SELECT count(*) FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE amname = 'strata_dedup' AND relnamespace <> 'public'::regnamespace}),
	'0', 'tables of the extension are heaps');
is(sql('by_default', q{SELECT pages_with_symbols > 0 FROM strata.dedup_stats('t')}), 't', 'with symbols');

# roles and databases that have a default of their own are more general than a tablespace; who connects is not
is(sql('postgres', 'ALTER ROLE keeper SET default_table_access_method = heap'), '', '');
$node->safe_psql('postgres', 'CREATE TABLE of_role (a int) TABLESPACE keeps', extra_params => [ '-U', 'keeper' ]);
{
	local $ENV{PGOPTIONS} = '-c default_table_access_method=heap';
	sql('postgres', 'CREATE TABLE of_client (a int) TABLESPACE keeps');
}
is(sql('postgres', $method), "of_client|heap\nof_role|strata_dedup", 'of a role, and of who connects');

# it is a part of its transaction
sql('postgres', q{BEGIN; SELECT strata.set_tablespace_access_method('keeps', NULL); CREATE TABLE within (a int) TABLESPACE keeps; ROLLBACK; CREATE TABLE after (a int) TABLESPACE keeps});
is(sql('postgres', q{SELECT amname FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE relname = 'after'}), 'strata_dedup', 'what was rolled back has not happened');

# pg_dumpall, into a server that preloads the library
my $dump = $node->basedir . '/all.sql';
$node->command_ok([ 'pg_dumpall', '-f', $dump, '-d', $node->connstr('postgres') ], 'dumped');
like(slurp_file($dump), qr/SECURITY LABEL FOR strata ON TABLESPACE keeps IS 'access_method=strata_dedup'/, 'with the label');
my $again = strata_node('again', "autovacuum = off\nallow_in_place_tablespaces = on\n");
my $text = slurp_file($dump);
$text =~ s{LOCATION '[^']*'}{LOCATION ''};
append_to_file("$dump.again", $text);
$again->command_ok([ 'psql', '-X', '-q', '-f', "$dump.again", '-d', $again->connstr('postgres') ], 'restored');
is($again->safe_psql($_, $method), sql($_, $method), "$_: tables are as they were") foreach ('postgres', 'by_default', 'without');
is($again->safe_psql('by_default', 'SELECT count(*) FROM t NATURAL JOIN h'), '5000', 'and their rows');
is($again->safe_psql('by_default', 'CREATE TABLE later (a int); DROP TABLE h, t CASCADE; ' . $method), "e|heap\nlater|strata_dedup", 'so are new ones');
$again->stop;

# not preloaded: the first statement of a session is refused, the next is right
$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "''");
$node->restart;
my (undef, undef, $error) = $node->psql('postgres', 'CREATE TABLE late1 (a int) TABLESPACE keeps; CREATE TABLE late2 (a int) TABLESPACE keeps', on_error_stop => 0);
like($error, qr/^psql:<stdin>:1: ERROR:  the library of extension "strata" was not loaded.*the same statement will work/s, 'the first is refused');
is(sql('postgres', q{SELECT relname, amname FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE relname ~ '^late'}), 'late2|strata_dedup', 'the second has the method');
is(sql('postgres', q{CREATE TABLE other1 (a int); SELECT count(*) FROM other1}), '0', 'other tables are not disturbed');
$node->stop;
done_testing();
