# test/t/StrataTest.pm
#	  What the TAP tests share: clusters with the extension in them, and tables
#	  of which a strata and a heap twin always hold the same rows.
package StrataTest;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils ();
use Test::More;

our @EXPORT = qw(strata_node make_twins grow_twins content_hash twins_are_equal
	is_sound start_psql wait_until becomes);

# A started cluster with the library preloaded; %options as for init(), and install_path of another server.
sub strata_node
{
	my ($name, $conf, %options) = @_;
	my $path = delete $options{install_path};
	my $node = PostgreSQL::Test::Cluster->new($name, $path ? (install_path => $path) : ());
	$node->init(%options, extra => [ '--locale=C.UTF-8', '--encoding=UTF8' ]);
	$node->append_conf('postgresql.conf',
		"shared_preload_libraries = 'strata'\nlog_statement = none\njit = off\ntimezone = 'UTC'\n" . ($conf // ''));
	$node->start;
	return $node;
}

# Tables $name (strata) and ${name}_heap with the same columns, and the
# function grow_$name(n) that adds the same n rows to both.
sub make_twins
{
	my ($node, $name) = @_;
	my $columns =
	  "ts timestamptz NOT NULL, host text, usage float8, small int2, big int8, label text, doc jsonb, amount numeric";
	$node->safe_psql('postgres', qq{
		CREATE TABLE $name ($columns) USING strata;
		ALTER TABLE $name SET (strata.segmentby = 'host', strata.orderby = 'ts DESC');
		CREATE TABLE ${name}_heap ($columns) USING heap;
		CREATE INDEX ON $name (host, ts);
		CREATE INDEX ON ${name}_heap (host, ts);
		CREATE SEQUENCE ${name}_seq;
		CREATE FUNCTION grow_$name(n int) RETURNS void LANGUAGE sql SET search_path = public AS \$\$
			WITH new AS MATERIALIZED (
				SELECT '2026-01-01'::timestamptz + i * interval '10 s' AS ts,
					'host_' || i % 7 AS host,
					CASE i % 11 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' WHEN 2 THEN '-0' ELSE i % 100 / 8.0 END::float8 AS usage,
					(i % 1000)::int2 AS small, i * 1000003::int8 AS big,
					nullif(repeat(md5((i % 50)::text), (i % 5)::int), '') AS label,
					jsonb_build_object('i', i % 13, 'a', array[1, 2, NULL]) AS doc,
					(i % 77 / 10.0)::numeric AS amount
				FROM (SELECT nextval('${name}_seq') AS i FROM generate_series(1, n)) AS numbers),
			first AS (INSERT INTO $name SELECT * FROM new)
			INSERT INTO ${name}_heap SELECT * FROM new
		\$\$;
	});
	return;
}

sub grow_twins
{
	my ($node, $name, $rows) = @_;
	$node->safe_psql('postgres', "SELECT grow_$name($rows)");
	return;
}

# Count and order-independent hash of all rows.
sub content_hash
{
	my ($node, $table) = @_;
	return $node->safe_psql('postgres',
		"SELECT count(*), sum(hashtextextended(t::text, 0)::numeric) FROM $table AS t");
}

sub twins_are_equal
{
	my ($node, $name, $what) = @_;
	return is(content_hash($node, $name), content_hash($node, "${name}_heap"), "$what: same rows as heap");
}

# strata.verify() has nothing to say.
sub is_sound
{
	my ($node, $name, $what) = @_;
	return is($node->safe_psql('postgres', "SELECT * FROM strata.verify('$name')"), '', "$what: verify finds nothing");
}

# psql in the background, running SQL from a file (pipes would have to be
# pumped); returns the IPC::Run handle and the name of the file of its output.
my $sessions = 0;

sub start_psql
{
	my ($node, $sql) = @_;
	my $base = PostgreSQL::Test::Utils::tempdir() . '/session' . ++$sessions;
	PostgreSQL::Test::Utils::append_to_file("$base.sql", $sql);
	my $handle = IPC::Run::start(
		[ $node->installed_command('psql'), '-XAtq', '-d', $node->connstr('postgres'), '-f', "$base.sql" ],
		'>', "$base.out", '2>&1');
	return ($handle, "$base.out");
}

# Call the code until it returns true; false after the time-out.
sub wait_until
{
	my ($code, $seconds) = @_;
	my $end = time() + ($seconds // 60);
	while (time() < $end)
	{
		return 1 if $code->();
		select(undef, undef, undef, 0.05);
	}
	return 0;
}

# The query gives true, sooner or later, also from a server that is on its way back.  What a job does
# is over once its run is recorded, not when its work can be seen: such a query is about strata.job_stats.
sub becomes
{
	my ($node, $query, $name, $database) = @_;
	# a psql that is turned away before it has read the query makes psql() die of a broken pipe
	my $is_true = sub {
		my ($status, $out) = eval { $node->psql($database // 'postgres', $query) };
		return defined $status && $status == 0 && $out eq 't';
	};
	return ok(wait_until($is_true, 180), $name)
	  || diag(($node->psql('postgres', 'SELECT * FROM strata.job_stats; SELECT * FROM strata.job_history'))[1]);
}

1;
