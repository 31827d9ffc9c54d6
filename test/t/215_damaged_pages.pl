# test/t/215_damaged_pages.pl
#	  Pages of a companion that cannot be read: strata.verify() names each batch
#	  that has values there, queries fail with XX001, and neither leaves
#	  anything behind: a second look, and other sessions, say the same.
use strict;
use warnings;

use StrataTest;
use Test::More;

my $node = strata_node('pages', "autovacuum = off\nstrata.max_job_workers = 0\n");
sub sql { return $node->safe_psql('postgres', $_[0]); }

sql(q{
	CREATE EXTENSION strata;
	CREATE TABLE t (time timestamptz NOT NULL, d int, note text) USING strata;
	ALTER TABLE t SET (strata.segmentby = 'd', strata.orderby = 'time DESC');
	INSERT INTO t SELECT '2026-01-01'::timestamptz + i * interval '1 min', i % 2,
		(SELECT string_agg(md5(i::text || j), '') FROM generate_series(1, 10) j) FROM generate_series(1, 4000) i;
	SELECT compress_chunk('t');
	DELETE FROM t WHERE time = '2026-01-01 00:05';
	CREATE TABLE e (i int) USING strata;
	INSERT INTO e SELECT generate_series(1, 1000);
	SELECT compress_chunk('e');
	DELETE FROM e WHERE i IN (3, 500, 900);
});
is(sql(q{SELECT count(*) FROM strata.verify('t')}), '0', 'sound at first');
my $toast = sql(q{SELECT pg_relation_filepath(reltoastrelid) FROM pg_class WHERE oid = strata.batch_relation('t')});
$node->stop;

# what is no header of a page
open(my $file, '+<:raw', $node->data_dir . "/$toast") or die "$toast: $!";
foreach my $block (3, 9, 20)
{
	seek($file, $block * 8192, 0) or die $!;
	print $file "\xff" x 24;
}
close($file) or die $!;
$node->start;

my $verify = q{SELECT string_agg(column_name || ': ' || regexp_replace(problem, 'base/[0-9/]+', 'file'), E'\n' ORDER BY batch, column_name) FROM strata.verify('t')};
my %found;
foreach my $time ('first', 'second')
{
	my ($code, $out, $err) = $node->psql('postgres', "SET statement_timeout = '60s'; $verify");
	is($code, 0, "the $time look ends");
	like($out, qr/^note: invalid page in block (3|9|20) of relation "?file"?$/m, 'and names what is damaged');
	unlike($err, qr/leak/, 'and nothing is kept');
	$found{$out} = 1;
}
is(scalar(keys %found), 1, 'both times the same');
foreach my $time (1, 2)
{
	my ($code, $out, $err) = $node->psql('postgres', q{SET statement_timeout = '60s'; \set VERBOSITY sqlstate
		SELECT sum(length(note)) FROM t}, on_error_stop => 1);
	like($err, qr/XX001/, "another session is told, $time");
}
is(sql('SELECT count(*), count(DISTINCT d) FROM t'), '3999|2', 'other columns are read');

# an entry that is none
my $companion = sql(q{SELECT strata.batch_relation('e')::regclass});
sql(qq{UPDATE $companion SET entry = '\\x00' WHERE first_row < 0});
foreach my $time ('first', 'second')
{
	my ($code, $out, $err) = $node->psql('postgres', q{SELECT count(*) FROM strata.verify('e') WHERE problem LIKE '%'});
	is("$code $out", '0 3', "damaged entries, $time look");
	unlike($err, qr/leak/, 'and nothing is kept');
}
$node->stop;
my $log = PostgreSQL::Test::Utils::slurp_file($node->logfile);
unlike($log, qr/leak/, 'nothing is kept by others');
done_testing();
