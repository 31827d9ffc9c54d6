# test/t/130_owner_dump.pl
#	  pg_dump and pg_restore by the owner of the database, who is no superuser, where a
#	  superuser has installed the extension: every form of dump, his jobs come back and
#	  those of others are left out with a warning; nothing else can be smuggled in.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = strata_node('ownerdump');
my $dir = PostgreSQL::Test::Utils::tempdir();

# Run SQL in a database as a role; returns (exit code, output, errors).
sub as_role
{
	my ($role, $database, $sql) = @_;
	my ($out, $err);
	my $code = $node->psql($database, $sql, extra_params => [ '-U', $role ], stdout => \$out, stderr => \$err);
	return ($code, $out, $err);
}

sub owner_sql
{
	my ($database, $sql) = @_;
	my ($code, $out, $err) = as_role('dbo', $database, "SET client_min_messages = error; $sql");
	is($code, 0, "as the owner: " . substr($sql =~ s/\s+/ /gr, 0, 60)) or diag($err);
	return $out;
}

sub new_database
{
	my ($name) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $name OWNER dbo");
	$node->safe_psql($name, 'CREATE EXTENSION strata');
	return $name;
}

$node->safe_psql('postgres', 'CREATE ROLE dbo LOGIN; CREATE ROLE another LOGIN');
new_database('app');
owner_sql('app', q{
	CREATE TABLE m (time timestamptz NOT NULL, device int, v float8, t text);
	SELECT create_hypertable('m', 'time', chunk_time_interval => interval '1 day');
	ALTER TABLE m SET (strata.segmentby = 'device');
	INSERT INTO m SELECT '2026-01-01'::timestamptz + g * interval '5 minutes', g % 5, g, 'x' || g FROM generate_series(1, 3000) g;
	SELECT compress_chunk(c) FROM show_chunks('m') c;
	INSERT INTO m VALUES ('2026-01-01 00:00:01', 1, 7, 'late');
	CREATE TABLE s (ts date, a int) USING strata;
	ALTER TABLE s SET (strata.orderby = 'a');
	INSERT INTO s SELECT '2026-01-01', g FROM generate_series(1, 3000) g;
	SELECT compress_chunk('s');
	UPDATE s SET a = -a WHERE a < 10;
	CREATE PROCEDURE note(job_id int, config jsonb) LANGUAGE plpgsql AS 'BEGIN END';
	SELECT add_job('note', '1 h', '{"a": 1}', job_name => 'Notes', scheduled => false);
	SELECT add_compression_policy('m', interval '100 years');
	SELECT add_retention_policy('m', interval '200 years');
});
(my $code, undef, my $err) = as_role('another', 'app', q{SELECT add_job('note', '1 h', '{"secret": 2}', scheduled => false)});
is($code, 0, 'another role has a job') or diag($err);
my $content = q{SELECT count(*), sum(hashtextextended(m::text, 0)::numeric), (SELECT sum(hashtextextended(s::text, 0)::numeric) FROM s) FROM m};
my $form = q{SELECT hypertable_name, num_chunks FROM strata.hypertables; SELECT relation FROM strata.tables ORDER BY relation::text;
	SELECT attname, segmentby_column_index, orderby_column_index FROM strata.compression_settings ORDER BY 1};
my $jobs = q{SELECT application_name, schedule_interval, owner, config, hypertable_name FROM strata.jobs WHERE owner = 'dbo'::regrole ORDER BY job_id};
my $rows = $node->safe_psql('app', $content);
my $shape = $node->safe_psql('app', $form);
my $own_jobs = $node->safe_psql('app', $jobs);
is(scalar(my @lines = split(/\n/, $own_jobs)), 3, 'the owner has three jobs');

sub dump_as_owner
{
	my ($what, @options) = @_;
	my ($out, $said) = run_command([ 'pg_dump', '-d', $node->connstr('app'), '-U', 'dbo', '--no-comments', @options ]);
	is($said, '', "$what: the owner's pg_dump says nothing");
	return;
}

sub restore_as
{
	my ($role, $what, $database, $program, @arguments) = @_;
	my ($out, $said) = run_command([ $program, '-d', $node->connstr($database), '-U', $role, @arguments ]);
	return $said;
}

sub is_whole
{
	my ($what, $database) = @_;
	is($node->safe_psql($database, $content), $rows, "$what: same rows");
	is($node->safe_psql($database, $form), $shape, "$what: same form");
	is($node->safe_psql($database, $jobs), $own_jobs, "$what: the owner's jobs, and his");
	is(owner_sql($database, q{SELECT add_job('note', '1 h', scheduled => false)}), '1004', "$what: ids go on");
	owner_sql($database, q{CALL run_job(1000); CALL run_job(1001); SELECT alter_job(1002, scheduled => false);
		INSERT INTO m VALUES ('2027-01-01', 1, 1, 'new'); SELECT compress_chunk(c) FROM show_chunks('m') c});
	return;
}

# pg_restore shows warnings with -v only
my $left_out = qr/WARNING:  job 1003 of role "another" is not restored\n.*DETAIL:  Only a superuser may restore jobs of other roles.\n.*HINT:  Have that role call add_job/s;

my @psql = ('psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-f');
my %ways = (
	plain => [ ['-Fp'], \@psql ],
	inserts => [ [ '-Fp', '--rows-per-insert=500' ], \@psql ],
	custom => [ ['-Fc'], [ 'pg_restore', '-v', '-e', '--no-owner' ] ],
	directory => [ [ '-Fd', '-j', '2' ], [ 'pg_restore', '-v', '-e', '-j', '2' ] ]);
foreach my $way (sort keys %ways)
{
	my ($dump, $restore) = @{ $ways{$way} };
	dump_as_owner($way, @$dump, '-f', "$dir/$way");
	new_database("as_owner_$way");
	my $said = restore_as('dbo', $way, "as_owner_$way", @$restore, "$dir/$way");
	like($said, $left_out, "$way: another's job is left out, and one is told");
	unlike($said, qr/ERROR:|error:/, "$way: no error");
	is_whole("$way, by the owner", "as_owner_$way");
	is($node->safe_psql("as_owner_$way", q{SELECT count(*) FROM strata.jobs WHERE owner = 'another'::regrole}), '0', "$way: another's job is not there");
}

# the same by a superuser, into an empty database: all jobs
$node->safe_psql('postgres', 'CREATE DATABASE as_super OWNER dbo');
is(restore_as('postgres', 'superuser', 'as_super', 'pg_restore', '-e', "$dir/custom"), '', 'a superuser restores in silence');
is($node->safe_psql('as_super', q{SELECT string_agg(DISTINCT owner::text, ' ' ORDER BY owner::text) FROM strata.jobs WHERE job_id >= 1000}), 'another dbo', 'and the jobs of all');
is_whole('by a superuser', 'as_super');

# schema, then rows
dump_as_owner('schema only', '--schema-only', '-f', "$dir/schema.sql");
dump_as_owner('data only', '--data-only', '-f', "$dir/data.sql");
new_database('parts');
is(restore_as('dbo', 'schema', 'parts', @psql, "$dir/schema.sql") =~ s/^.*NOTICE.*\n//gmr, '', 'schema only: restored in silence');
like(restore_as('dbo', 'data', 'parts', @psql, "$dir/data.sql"), $left_out, 'data only: restored but for a job');
is_whole('schema and data', 'parts');

# one table and its chunks
dump_as_owner('one table', '-Fc', '-t', 's', '-f', "$dir/one");
new_database('one');
is(restore_as('dbo', 'one table', 'one', 'pg_restore', '-e', "$dir/one"), '', 'one table: restored in silence');
is($node->safe_psql('one', 'SELECT count(*) FROM s'), '3000', 'one table: all rows');

# who may insert his jobs may insert no others: columns changed in a row that is good
$node->safe_psql('app', q{CREATE TABLE his (time timestamptz NOT NULL); SELECT create_hypertable('his', 'time')});
my $insert = q{INSERT INTO _strata.job SELECT (jsonb_populate_record(j, '%s')).* FROM _strata.job j WHERE id = 1000};
foreach my $forged ('{"id": 5}', '{"id": 2000, "owner": "postgres"}', '{"id": 2000, "owner": "another"}',
	'{"id": 2000, "hypertable": "his", "proc_schema": "_strata", "proc_name": "policy_retention"}',
	'{"id": 2000, "hypertable": "4000000000"}',
	'{"id": 2000, "hypertable": "m", "proc_schema": "_strata", "proc_name": "policy_job_history"}', '{"id": 2000, "hypertable": "m"}')
{
	my ($status, $out, $said) = as_role('dbo', 'app', sprintf($insert, $forged));
	like($said, qr/is not restored/, "$forged: left out");
	is($node->safe_psql('app', 'SELECT count(*) FROM _strata.job WHERE id IN (5, 2000)'), '0', "$forged: not there");
}
foreach my $bad ('{"id": 2000, "proc_name": null}', '{"id": 2000, "schedule_interval": "0"}', '{"id": 2000, "schedule_interval": "-1 h"}',
	'{"id": 2000, "schedule_interval": "178000000 years"}', '{"id": 2000, "timezone": "Nowhere/Bad"}', '{"id": 2000, "initial_start": "4713-01-01 BC", "schedule_interval": "178000000 years"}',
	'{"id": 2000, "max_runtime": "-1 h"}', '{"id": 2000, "max_retries": -2}', '{"id": null}', '{"id": 2000, "owner": null}')
{
	my ($status, $out, $said) = as_role('dbo', 'app', sprintf($insert, $bad));
	like($said, qr/violates|is not restored|out of range|not recognized|must be finite/, "$bad: refused");
	is($node->safe_psql('app', 'SELECT count(*) FROM _strata.job WHERE id = 2000'), '0', "$bad: not there");
}
foreach my $command ('UPDATE _strata.job SET owner = 10', 'DELETE FROM _strata.job', 'TRUNCATE _strata.job', 'ALTER TABLE _strata.job DISABLE TRIGGER ALL',
	'INSERT INTO _strata.job SELECT * FROM _strata.job WHERE id = 1000 ON CONFLICT (id) DO UPDATE SET owner = 10',
	'SET session_replication_role = replica', 'INSERT INTO _strata.job_stat (job_id, next_start) VALUES (1000, now())', q{SELECT setval('_strata.job_id_seq', 5)})
{
	my ($status, $out, $said) = as_role('dbo', 'app', $command);
	like($said, qr/ERROR/, "$command: refused");
}
# who owns nothing here neither reads nor writes
foreach my $command ('SELECT * FROM _strata.job', sprintf($insert, '{"id": 2000}'), q{SELECT setval('_strata.job_id_seq', 5000)})
{
	my ($status, $out, $said) = as_role('another', 'app', $command);
	like($said, qr/permission denied/, "another role, $command: refused");
}

# where such a row is there, a user's routine does not follow the table to its new owner
$node->safe_psql('app', q{CREATE TABLE ran (who text); GRANT ALL ON ran TO dbo;
	CREATE OR REPLACE PROCEDURE note(job_id int, config jsonb) LANGUAGE sql AS 'INSERT INTO ran VALUES (current_user)';
	INSERT INTO _strata.job SELECT (jsonb_populate_record(j, '{"id": 2000, "hypertable": "m"}')).* FROM _strata.job j WHERE id = 1000;
	ALTER TABLE m OWNER TO postgres; CALL run_job(2000)});
is($node->safe_psql('app', 'SELECT who, (SELECT owner FROM strata.jobs WHERE job_id = 2000) FROM ran'), 'dbo|dbo', 'it stays the job of the role in its row');
is($node->safe_psql('app', 'SELECT DISTINCT owner FROM strata.jobs WHERE job_id IN (1001, 1002)'), 'postgres', 'policies follow');

$node->stop;
done_testing();
