# test/t/125_extension_update.pl
#	  ALTER EXTENSION strata UPDATE: from each released version (test/released has their
#	  install scripts) a database with tables of all kinds comes to have the objects
#	  that a new installation of the current version has, and what was stored.
#
#	  From the current version the same is done to one that is made up, so that the way
#	  is tested before there is a second version.
use strict;
use warnings;

use File::Basename;
use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = strata_node('update');
my $extensions = $node->config_data('--sharedir') . '/extension';
my $current = $node->safe_psql('postgres', q{SELECT default_version FROM pg_available_extensions WHERE name = 'strata'});

sub sql { my ($database, @statements) = @_; return join "\n", map { $node->safe_psql($database, $_) } @statements; }

# Everything the extension owns but companions, with all that tells one definition from another.
my $objects = q{
	SET search_path = pg_catalog;
	SELECT pg_describe_object(d.classid, d.objid, 0) || ' ' || coalesce(
		CASE d.classid
			WHEN 'pg_proc'::regclass THEN (SELECT concat_ws(' ', CASE p.prokind WHEN 'a' THEN
					(SELECT to_jsonb(a) - 'aggfnoid' || jsonb_build_object('f', aggtransfn::regproc, 'g', aggfinalfn::regproc, 'c', aggcombinefn::regproc, 's', aggserialfn::regproc, 'd', aggdeserialfn::regproc, 't', aggtranstype::regtype)
						- '{aggtransfn,aggfinalfn,aggcombinefn,aggserialfn,aggdeserialfn,aggtranstype,aggsortop,aggmtransfn,aggminvtransfn,aggmfinalfn,aggmtranstype}'::text[] FROM pg_aggregate a WHERE a.aggfnoid = p.oid)::text
					ELSE pg_get_functiondef(p.oid) END, p.proacl::text) FROM pg_proc p WHERE p.oid = d.objid)
			WHEN 'pg_class'::regclass THEN (SELECT concat_ws(' ', c.relkind, c.relpersistence, c.relacl::text, c.reloptions::text,
					CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END,
					(SELECT string_agg(concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated, a.attacl::text, pg_get_expr(e.adbin, e.adrelid)), ', ' ORDER BY a.attname)
						FROM pg_attribute a LEFT JOIN pg_attrdef e ON e.adrelid = a.attrelid AND e.adnum = a.attnum WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped),
					(SELECT string_agg(conname || ' ' || pg_get_constraintdef(n.oid), ', ' ORDER BY conname) FROM pg_constraint n WHERE n.conrelid = c.oid),
					(SELECT string_agg(pg_get_indexdef(i.indexrelid), ', ' ORDER BY pg_get_indexdef(i.indexrelid)) FROM pg_index i WHERE i.indrelid = c.oid),
					(SELECT string_agg(pg_get_triggerdef(t.oid), ', ' ORDER BY tgname) FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal))
				FROM pg_class c WHERE c.oid = d.objid)
			WHEN 'pg_type'::regclass THEN (SELECT concat_ws(' ', t.typtype, t.typlen, t.typinput, t.typoutput, t.typreceive, t.typsend, t.typacl::text,
					(SELECT string_agg(enumlabel, ',' ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = t.oid)) FROM pg_type t WHERE t.oid = d.objid)
			WHEN 'pg_operator'::regclass THEN (SELECT concat_ws(' ', o.oprcode, o.oprrest, o.oprjoin, o.oprcom::regoperator, o.oprnegate::regoperator) FROM pg_operator o WHERE o.oid = d.objid)
			WHEN 'pg_am'::regclass THEN (SELECT a.amhandler::text FROM pg_am a WHERE a.oid = d.objid)
			WHEN 'pg_event_trigger'::regclass THEN (SELECT concat_ws(' ', evtevent, evtfoid::regproc, evtenabled, evttags::text) FROM pg_event_trigger t WHERE t.oid = d.objid)
			WHEN 'pg_namespace'::regclass THEN (SELECT n.nspacl::text FROM pg_namespace n WHERE n.oid = d.objid)
		END, '') || coalesce(' -- ' || obj_description(d.objid, d.classid::regclass::name), '')
	FROM pg_depend d JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
	WHERE e.extname = 'strata' AND d.deptype = 'e' AND pg_describe_object(d.classid, d.objid, 0) !~ ' _strata\.batch_' ORDER BY 1;
	SELECT 'in dumps: ' || (SELECT string_agg(c::regclass::text || ' ' || w, ', ' ORDER BY c::regclass::text) FROM unnest(extconfig, extcondition) u(c, w))
	FROM pg_extension WHERE extname = 'strata'};

# A database with the version in it, and what is to live through the update.
sub old_database
{
	my ($database, $version) = @_;
	sql('postgres', "CREATE DATABASE $database");
	sql($database, "CREATE EXTENSION strata VERSION '$version'",
		q{CREATE TABLE plain (host text, ts timestamptz, v float8) USING strata WITH (strata.segmentby = 'host', strata.orderby = 'ts')},
		q{INSERT INTO plain SELECT 'h' || i % 3, '2026-01-01'::timestamptz + i * interval '1 min', i FROM generate_series(1, 9000) i},
		q{CREATE INDEX ON plain (v)}, q{SELECT compress_chunk('plain')},
		q{CREATE TABLE cpu (ts timestamptz NOT NULL, host text, v int)},
		q{SELECT create_hypertable('cpu', 'ts', chunk_time_interval => interval '1 day')},
		q{INSERT INTO cpu SELECT '2026-01-01'::timestamptz + i * interval '1 min', 'h' || i % 3, i FROM generate_series(1, 9000) i},
		q{CREATE MATERIALIZED VIEW hourly WITH (strata.continuous) AS SELECT time_bucket('1 hour', ts) AS b, host, sum(v), count(*) FROM cpu GROUP BY 1, 2},
		q{SELECT compress_chunk(c) FROM (SELECT c FROM show_chunks('cpu') c LIMIT 3) d},
		q{SELECT add_compression_policy('cpu', interval '7 days', initial_start => '2100-01-01')},
		q{CREATE VIEW on_ours AS SELECT * FROM strata.tables}, q{UPDATE plain SET v = -1 WHERE v = 77});
	return;
}

my $contents = q{SELECT (SELECT concat_ws('|', count(*), sum(hashtextextended(p::text, 0)::numeric)) FROM plain p), (SELECT concat_ws('|', count(*), sum(v)) FROM cpu),
	(SELECT concat_ws('|', count(*), sum(sum), sum(count)) FROM hourly), (SELECT string_agg(job_id::text || proc_name, ',') FROM strata.jobs)};

# Update the database, and compare it with one of a new installation.
sub updates
{
	my ($database, $from, $to) = @_;
	my $before = sql($database, $contents);
	sql($database, "ALTER EXTENSION strata UPDATE TO '$to'");
	is(sql($database, $contents), $before, "$from to $to: what was stored is there");
	sql('postgres', "CREATE DATABASE ${database}_new");
	sql("${database}_new", "CREATE EXTENSION strata VERSION '$to'");
	is(sql($database, $objects), sql("${database}_new", $objects), "$from to $to: objects are those of a new installation");
	sql($database, q{INSERT INTO cpu VALUES ('2026-01-02 00:00:01', 'h1', 7)}, q{SELECT compress_chunk('plain', recompress => true)},
		q{CALL refresh_continuous_aggregate('hourly', NULL, NULL)}, q{SELECT compress_chunk(c) FROM show_chunks('cpu') c});
	is(sql($database, q{SELECT count(*) FROM strata.verify('plain')}), '0', "$from to $to: batches are sound");
	is(sql($database, q{SELECT sum(count) FROM hourly}), '9001', "$from to $to: and life goes on");

	# what is dumped goes into a new installation
	my $dump = PostgreSQL::Test::Utils::tempdir() . "/$database";
	sql("postgres", "DROP DATABASE ${database}_new", "CREATE DATABASE ${database}_new");
	sql("${database}_new", "CREATE EXTENSION strata VERSION '$to'");
	$before = sql($database, $contents);
	$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-d', $node->connstr($database) ], "$from to $to: dump");
	$node->command_ok([ 'pg_restore', '-e', '-d', $node->connstr("${database}_new"), $dump ], "$from to $to: restore");
	is(sql("${database}_new", $contents), $before, "$from to $to: all is there");
	return;
}

# --- from the versions that were released
my $released = dirname(__FILE__) . '/../released';
foreach my $script (sort glob "$released/strata--*.sql")
{
	my ($version) = $script =~ /strata--([^-]+)\.sql$/ or die "what is $script?";
	if ($version eq $current)
	{
		is(slurp_file("$extensions/strata--$current.sql"), slurp_file($script), "$version is released: its script stays as it was");
		next;
	}
	(my $database = "from_$version") =~ s/\W/_/g;
	old_database($database, $version);
	updates($database, $version, $current);
}

# --- to a version that nobody released, made by tools/server of test/stub/next.sql
my ($made_up, $forgot) = ("$current.next", "$current.forgot");
old_database('current', $current);
updates('current', $current, $made_up);

# and an update that forgets something is found
sql('postgres', 'CREATE DATABASE forgot', 'CREATE DATABASE fresh');
sql('forgot', "CREATE EXTENSION strata VERSION '$current'", "ALTER EXTENSION strata UPDATE TO '$forgot'");
sql('fresh', "CREATE EXTENSION strata VERSION '$forgot'");
isnt(sql('forgot', $objects), sql('fresh', $objects), 'an update that forgets objects does not pass for one');
done_testing();
