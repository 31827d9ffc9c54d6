# test/t/430_batches_between.pl
#	  Batches from one server to another: by COPY in binary form and by a
#	  foreign table, between roles that are no superusers; a server killed while
#	  it imports, the import gone on with; and forged units, at random, with
#	  checksums made to fit: an error or rows that their types have.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

my ($from, $to) = map { strata_node($_, "autovacuum = off\nfsync = off\n") } qw(from to);

sub on { my ($node, $sql) = @_; return $node->safe_psql('postgres', "SET ROLE app; $sql"); }
sub error { my ($node, $sql) = @_; return ($node->psql('postgres', "SET ROLE app; $sql", on_error_stop => 1))[2]; }

$_->safe_psql('postgres', "CREATE EXTENSION strata; CREATE ROLE app LOGIN; GRANT CREATE ON SCHEMA public TO app") for ($from, $to);

# the rows, half of them compressed, some changed since
on($from, q{
	CREATE TYPE state AS ENUM ('on', 'off');
	CREATE TABLE m (gone int, ts timestamptz NOT NULL, host text, usage float8, amount numeric, doc jsonb, state state, label text, small int2, ok bool);
	ALTER TABLE m DROP COLUMN gone;
	SELECT create_hypertable('m', 'ts', chunk_time_interval => interval '6 hours');
	ALTER TABLE m SET (strata.segmentby = 'host', strata.orderby = 'ts DESC');
	INSERT INTO m SELECT '2026-01-01'::timestamptz + i * interval '2 s', 'host ' || i % 20,
		CASE i % 11 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' WHEN 2 THEN '-0' ELSE i % 100 / 8.0 END, (i % 77 / 10.0)::numeric,
		jsonb_build_object('i', i % 13, 'a', array[1, 2, NULL], 'x', 'ü'), (ARRAY['on', 'off'])[1 + i % 2]::state, nullif(repeat(md5((i % 50)::text), i % 3), ''), i % 1000, i % 3 = 0
		FROM generate_series(0, 39999) AS i;
	SELECT count(compress_chunk(c)) FROM (SELECT c FROM show_chunks('m') AS c ORDER BY c::text LIMIT 3) AS old;
	UPDATE m SET usage = -1 WHERE ts BETWEEN '2026-01-01 03:00' AND '2026-01-01 03:01';
	DELETE FROM m WHERE host = 'host 7' AND ts < '2026-01-01 02:00';
	CREATE VIEW outbox AS SELECT * FROM strata.export_batches('m')});
my $inbox = '(export uuid, seq bigint, kind text, rows int, unit bytea)';
on($to, qq{
	CREATE TYPE dropped AS ENUM ('x');
	CREATE TYPE state AS ENUM ('off', 'on', 'more');	-- other numbers, another order
	CREATE TABLE m (state state, ok bool, small int2, label text, doc jsonb, amount numeric, usage float8, host text, ts timestamptz NOT NULL);
	SELECT create_hypertable('m', 'ts', chunk_time_interval => interval '1 day');
	ALTER TABLE m SET (strata.segmentby = 'host', strata.orderby = 'ts');
	CREATE TABLE inbox $inbox});

my $hash = q{SELECT count(*), sum(hashtextextended(ROW(ts, host, usage, amount, doc, state, label, small, ok)::text, 0)::numeric) FROM m};
sub same { my ($what) = @_; return is(on($to, $hash), on($from, $hash), "$what: same rows"); }

#-------------------------------------------------------------------------
# COPY, one psql into the other
#-------------------------------------------------------------------------

sub pipe_units
{
	my ($query) = @_;
	my @psql = ($from->installed_command('psql'), '-XAtq');
	local $ENV{PGOPTIONS} = '-c role=app';
	my ($in, $err) = ('', '');
	IPC::Run::run([ @psql, '-d', $from->connstr('postgres'), '-c', "COPY ($query) TO STDOUT (FORMAT binary)" ],
		'|', [ @psql, '-d', $to->connstr('postgres'), '-c', 'COPY inbox FROM STDIN (FORMAT binary)' ], '2>', \$err)
	  or die "COPY failed: $err";
	return;
}
pipe_units("SELECT * FROM strata.export_batches('m')");
cmp_ok(on($to, 'SELECT sum(length(unit)) FROM inbox'), '<', on($from, 'SELECT sum(pg_column_size(m.*)) / 4 FROM m'), 'a quarter of the rows, or less');
on($to, "CALL strata.import_batches('m', 'inbox', 5)");
same('by COPY');
is_sound($to, 'm', 'by COPY');
cmp_ok($to->safe_psql('postgres', "SELECT sum(batches) FROM strata.tables"), '>', 0, 'what was in batches is');
is(on($to, "CALL strata.import_batches('m', 'inbox')"), '0|0', 'nothing comes twice');

#-------------------------------------------------------------------------
# Killed in the middle
#-------------------------------------------------------------------------

sub forget { return on($to, "TRUNCATE m; SELECT strata.forget_import('m')"); }

for my $round (1 .. 3)
{
	forget();
	# a commit for each unit
	my ($session, $out) = start_psql($to, "SET ROLE app; CALL strata.import_batches('m', 'inbox', 1);");
	my $enough = 3 * $round;
	wait_until(sub { $to->safe_psql('postgres', "SELECT coalesce(sum(units), 0) >= $enough FROM strata.imports") eq 't' });
	$to->stop('immediate');
	$session->finish;
	$to->start;
	my ($units, $rows, $complete) = split /\|/, on($to, 'SELECT units, rows, complete FROM strata.imports');
	is(on($to, 'SELECT count(*) FROM m'), $rows, "round $round: the rows of the $units units that had come are there");
	on($to, "CALL strata.import_batches('m', 'inbox', 7)");
	same("round $round: gone on with");
	is(on($to, 'SELECT complete FROM strata.imports'), 't', "round $round: complete");
}
is_sound($to, 'm', 'after crashes');

# a session at a time: the second finds what the first has done
forget();
my ($session) = start_psql($to, "SET ROLE app; CALL strata.import_batches('m', 'inbox', 3);");
on($to, "CALL strata.import_batches('m', 'inbox', 2)");
$session->finish;
same('two sessions');

#-------------------------------------------------------------------------
# A foreign table
#-------------------------------------------------------------------------

forget();
# Exports in equal snapshots are one; whether a background process has written meanwhile is not for this test to say.
$from->safe_psql('postgres', 'SELECT pg_current_xact_id()');
$to->safe_psql('postgres', sprintf(q{CREATE EXTENSION postgres_fdw; CREATE SERVER one FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '%s', port '%s', dbname 'postgres');
	CREATE USER MAPPING FOR app SERVER one OPTIONS (user 'app', password_required 'false'); GRANT USAGE ON FOREIGN SERVER one TO app}, $from->host, $from->port));
on($to, "CREATE FOREIGN TABLE far $inbox SERVER one OPTIONS (table_name 'outbox', fetch_size '3')");
on($to, "CALL strata.import_batches('m', 'far')");
same('by a foreign table');
like(error($to, "CALL strata.import_batches('m', 'inbox')"), qr/another export of the same table and times/, 'the same rows by another way are refused');
is_sound($to, 'm', 'by a foreign table');

# privileges
$to->safe_psql('postgres', 'CREATE ROLE stranger; GRANT SELECT ON inbox TO stranger');
like(($to->psql('postgres', "SET ROLE stranger; CALL strata.import_batches('m', 'inbox')"))[2], qr/permission denied for table m/, 'a stranger imports nothing');

#-------------------------------------------------------------------------
# Forged units
#-------------------------------------------------------------------------

my @crc = map { my $c = $_; $c = $c & 1 ? ($c >> 1) ^ 0x82F63B78 : $c >> 1 for 1 .. 8; $c } 0 .. 255;

sub crc32c
{
	my $c = 0xFFFFFFFF;
	$c = $crc[($c ^ $_) & 255] ^ ($c >> 8) for unpack 'C*', $_[0];
	return $c ^ 0xFFFFFFFF;
}

# Where the encoded columns of a unit are: [offset, length].
sub columns_of
{
	my ($unit) = @_;
	my $at = 62;
	$at += 1 + ord substr $unit, $at, 1;
	my $n = unpack 'n', substr $unit, $at, 2;
	$at += 2;
	for (1 .. $n)
	{
		$at += 1 + ord substr $unit, $at, 1;
		my $form = substr $unit, $at++, 1;
		$at += $form eq 'v' ? 8 : 2 + unpack 'n', substr $unit, $at, 2;
	}
	my @columns;
	for (1 .. $n)
	{
		my $length = unpack 'N', substr $unit, $at, 4;
		push @columns, [ $at + 4, $length ];
		$at += 4 + $length;
	}
	die 'a unit is not as docs/format.md says' if $at != length $unit;
	return @columns;
}

# Bytes changed somewhere, and all checksums right again.
sub forge
{
	my ($unit) = @_;
	my @columns = columns_of($unit);
	if (rand() < 0.2)
	{
		# the head: whatever it is
		substr($unit, 11 + int rand($columns[0][0] - 11), 1) = chr int rand 256;
	}
	else
	{
		my ($at, $length) = @{ $columns[int rand @columns] };
		for (1 .. 1 + int rand 4)
		{
			my $where = int rand $length;
			$where = 7 + int rand($length < 40 ? $length - 7 : 33) if $length > 8 && rand() < 0.5;
			substr($unit, $at + $where, 1) = rand() < 0.3 ? "\xff" : chr int rand 256;
		}
		my $column = substr $unit, $at, $length;
		substr($unit, $at + 3, 4) = pack 'V', crc32c(substr($column, 0, 3) . substr $column, 7);
	}
	substr($unit, 7, 4) = pack 'N', crc32c(substr($unit, 0, 7) . substr $unit, 11);
	return $unit;
}

my $seed = $ENV{SEED} || time;
srand $seed;
note "SEED=$seed";
on($to, qq{CREATE TABLE forged (n int, unit bytea);
	CREATE TABLE f (LIKE m) USING strata; ALTER TABLE f SET (strata.segmentby = 'host', strata.orderby = 'ts');
	CREATE TABLE g (LIKE m) USING heap;
	-- both get the unit's rows; what fails leaves neither
	CREATE PROCEDURE try(unit bytea, INOUT result text) LANGUAGE plpgsql AS \$\$
	BEGIN
		CREATE TEMP TABLE one AS SELECT substr(encode(unit, 'hex'), 23, 32)::uuid AS export, ('x' || substr(encode(unit, 'hex'), 55, 16))::bit(64)::bigint AS seq, unit;
		PERFORM strata.forget_import('f'), strata.forget_import('g');
		EXECUTE 'CALL strata.import_batches(''f'', ''one'')';
		EXECUTE 'CALL strata.import_batches(''g'', ''one'')';
		result := 'rows';
		DROP TABLE one;
	EXCEPTION WHEN OTHERS THEN
		result := SQLSTATE;
	END \$\$});
# small units of all kinds
my @units = map { pack 'H*', $_ } split /\n/, on($from, q{SELECT encode(unit, 'hex') FROM strata.export_batches('m') WHERE rows > 0 ORDER BY length(unit) LIMIT 6});
my %seen;
my $steps = $ENV{STEPS} || 300;
for my $round (1 .. $steps / 50)
{
	my $calls = join '', map { sprintf "CALL try('\\x%s', NULL);\n", unpack 'H*', forge($units[int rand @units]) } 1 .. 50;
	$seen{$_}++ for split /\n/, on($to, "SET client_min_messages = error; $calls");
}
note explain \%seen;
ok($seen{rows}, 'some forged units have rows that their types have') if $steps > 200;
ok($seen{XX001}, 'some are damaged');
is(join(' ', grep { /^(XX000|58|53)/ } sort keys %seen), '', 'none is an error of ours');
is(on($to, q{SELECT count(*) FROM ((TABLE f EXCEPT ALL TABLE g) UNION ALL (TABLE g EXCEPT ALL TABLE f)) AS d}), 0, 'and are the same in batches as in a heap');
is(on($to, q{SELECT count(*), sum(length(f::text)) FROM f}), on($to, q{SELECT count(*), sum(length(g::text)) FROM g}), 'shown alike');
is(on($to, 'SELECT sum(small), min(ts), max(usage), count(DISTINCT host), sum(amount) FROM f'),
	on($to, 'SELECT sum(small), min(ts), max(usage), count(DISTINCT host), sum(amount) FROM g'), 'aggregated alike');
is_sound($to, 'f', 'forged');
unlike(slurp_file($to->logfile), qr/terminated by signal (?!9|3)|TRAP:/, 'no server process ended');

done_testing();
