# test/t/110_hypertable_dump.pl
#	  A hypertable goes through pg_dump and comes back as a working hypertable:
#	  whole, schema by schema, parallel, rows only, through the root, and to an
#	  owner who is no superuser.
use strict;
use warnings;

use StrataTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = strata_node('hyperdump', "strata.chunks_ahead = 0\n");
my $dir = PostgreSQL::Test::Utils::tempdir();

$node->safe_psql('postgres', q{
	CREATE EXTENSION strata;
	CREATE ROLE hyper_owner LOGIN;
	CREATE SCHEMA app AUTHORIZATION hyper_owner;
	SET SESSION AUTHORIZATION hyper_owner;
	CREATE FUNCTION app.clock() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT 5000::bigint';
	CREATE TABLE app.device (id int PRIMARY KEY);
	INSERT INTO app.device SELECT generate_series(1, 5);
	CREATE TABLE app.m (time timestamptz NOT NULL, gone int, device int REFERENCES app.device, v float8 CHECK (v >= 0),
		id bigint GENERATED ALWAYS AS IDENTITY, twice float8 GENERATED ALWAYS AS (v * 2) STORED,
		PRIMARY KEY (device, time)) WITH (fillfactor = 90);
	ALTER TABLE app.m DROP COLUMN gone;
	SELECT create_hypertable('app.m', 'time', chunk_time_interval => interval '1 day');
	ALTER TABLE app.m SET (strata.segmentby = 'device', strata.orderby = 'time DESC');
	SELECT add_dimension('app.m', by_hash('device', 4));
	ALTER TABLE app.m SET (strata.tablespaces = '"Fast disk", pg_default');
	COMMENT ON TABLE app.m IS 'measurements';
	INSERT INTO app.m (time, device, v)
		SELECT '2026-01-01'::timestamptz + g * interval '5 minutes', 1 + g % 5, g FROM generate_series(1, 3000) g;
	SELECT compress_chunk(c) FROM show_chunks('app.m', older_than => '2026-01-08') c;
	INSERT INTO app.m (time, device, v) VALUES ('2026-01-01 00:00:01', 1, 7);
	CREATE TABLE app.i (t bigint NOT NULL, v int);
	SELECT create_hypertable('app.i', 't', chunk_time_interval => 1000);
	SELECT set_integer_now_func('app.i', 'app.clock');
	INSERT INTO app.i SELECT g * 100, g FROM generate_series(1, 30) g;
	CREATE TABLE app.b (time timestamptz NOT NULL, device int REFERENCES app.device, v float8, PRIMARY KEY (device, time));
	SELECT create_hypertable('app.b', 'time', chunk_time_interval => interval '12 hours');
	ALTER TABLE app.b SET (strata.segmentby = 'device');
	INSERT INTO app.b SELECT '2026-01-01'::timestamptz + g * interval '20 s', 1 + g % 5, g FROM generate_series(0, 8000) g WHERE g % 20 <> 3;
	SELECT compress_chunk(c) FROM show_chunks('app.b', older_than => '2026-01-02 12:00') c;
	INSERT INTO app.b SELECT '2026-01-01'::timestamptz + g * interval '20 s', 1 + g % 5, g FROM generate_series(0, 8000) g WHERE g % 20 = 3;
	CREATE FUNCTION app.id_time(varchar) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT substr($1, 2)::int';
	CREATE TABLE app.a (id varchar(25) PRIMARY KEY, v int, UNIQUE (v, id));
	SELECT create_hypertable('app.a', 'id', chunk_time_interval => 100, time_partitioning_func => 'app.id_time');
	INSERT INTO app.a SELECT 'c' || g, g FROM generate_series(1, 300) g;
});

my $content = q{SELECT count(*), sum(hashtextextended(m::text, 0)::numeric) FROM app.m};
my $form = q{
	SELECT relname, relkind, reloptions, pg_get_partkeydef(oid), pg_get_expr(relpartbound, oid),
		   (SELECT amname FROM pg_am WHERE oid = relam) FROM pg_class
	WHERE relnamespace = 'app'::regnamespace AND relkind <> 'S' ORDER BY relname;
	SELECT hypertable_name, num_chunks, compression_enabled FROM strata.hypertables ORDER BY 1;
	SELECT chunk_name, range_start, range_end, range_start_integer, chunk_creation_time FROM strata.chunks ORDER BY 1;
	SELECT * FROM strata.dimensions ORDER BY 2;
	SELECT * FROM strata.compression_settings ORDER BY 2, 3;
	SELECT tgname, tgrelid::regclass FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1, tgrelid::regclass::text;
};
my $batches = q{SELECT relation, row_store_rows = 0, batch_rows > 0 FROM strata.tables WHERE relation::text ~ '^app[.]b_' AND batch_rows > 0 ORDER BY relation::text};
my $rows = $node->safe_psql('postgres', $content);
my $compressed = $node->safe_psql('postgres', $batches) =~ s/\|f\|/|t|/gr;
is(scalar(my @compressed = split(/\n/, $compressed)), 3, 'three of four chunks are compressed');
my $shape = $node->safe_psql('postgres', $form);
like($shape, qr/fillfactor=90/, 'chunks keep the storage options of the table');
like($shape, qr/^app\|m\|2\|device\|integer\|Space\|\|\|\|4$/m, 'a dimension that makes no partitions is shown');

# Is the restored hypertable one that works?
sub works
{
	my ($database, $what) = @_;
	is($node->safe_psql($database, $content), $rows, "$what: same rows");
	is($node->safe_psql($database, $form), $shape, "$what: same form");
	$node->safe_psql($database, q{
		INSERT INTO app.m (time, device, v) VALUES ('2026-05-01', 1, 1), ('2026-05-02', 1, 2);
		INSERT INTO app.i VALUES (99999, 1);
		SELECT compress_chunk(c) FROM show_chunks('app.m') c;
		SELECT create_chunks('app.i', 5000, 7001);
	});
	# the key of a partitioning function: whole, and in a chunk made later
	$node->safe_psql($database, q{INSERT INTO app.a VALUES ('c1000', 1)});
	is($node->safe_psql($database, q{SELECT count(*), count(*) FILTER (WHERE indisvalid), count(DISTINCT indrelid) FROM pg_index i JOIN pg_class c ON c.oid = indrelid WHERE c.relname ~ '^a(_|$)' AND indisunique}),
		'12|12|6', "$what: unique keys of all chunks");
	foreach my $id ('c1000', 'c5')
	{
		my ($code, $out, $err) = $node->psql($database, "INSERT INTO app.a VALUES ('$id', 2)");
		like($err, qr/duplicate key value violates unique constraint/, "$what: $id is there already");
	}
	is($node->safe_psql($database, q{SELECT count(*), (SELECT count(*) FROM show_chunks('app.m')), (SELECT count(*) FROM show_chunks('app.i')) FROM app.m}),
		'3003|13|8', "$what: makes chunks");
	$node->safe_psql($database, q{SELECT drop_chunks('app.m', older_than => '2026-04-01')});
	is($node->safe_psql($database, 'SELECT count(*) FROM app.m'), '2', "$what: drops chunks");
	is($node->safe_psql($database, 'SELECT strata.gc()'), '0', "$what: leaves no companion");
	return;
}

my %ways = (
	plain => [ [ '-Fp', '-f', "$dir/plain.sql" ], [ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', "$dir/plain.sql" ] ],
	custom => [ [ '-Fc', '-f', "$dir/custom" ], [ 'pg_restore', '-e', "$dir/custom" ] ],
	directory => [ [ '-Fd', '-j', '2', '-f', "$dir/directory" ], [ 'pg_restore', '-e', '-j', '2', "$dir/directory" ] ],
	root => [ [ '--load-via-partition-root', '-f', "$dir/root.sql" ], [ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', "$dir/root.sql" ] ],
	inserts => [ [ '--rows-per-insert=500', '-f', "$dir/inserts.sql" ], [ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', "$dir/inserts.sql" ] ],
);
foreach my $way (sort keys %ways)
{
	my ($dump, $restore) = @{ $ways{$way} };
	$node->command_ok([ 'pg_dump', '-d', 'postgres', @$dump ], "$way: dump");
	$node->safe_psql('postgres', "CREATE DATABASE restored_$way");
	$node->command_ok([ @$restore, '-d', "restored_$way" ], "$way: restore");
	is($node->safe_psql("restored_$way", $batches), $way eq 'inserts' ? '' : $compressed, "$way: COPY restores batches");
	works("restored_$way", $way);
}

# one schema, by its owner, into a database that has the extension
$node->command_ok([ 'pg_dump', '-d', 'postgres', '-U', 'hyper_owner', '-n', 'app', '-f', "$dir/schema.sql" ], 'schema: dump by the owner');
$node->safe_psql('postgres', 'CREATE DATABASE restored_schema');
$node->safe_psql('restored_schema', 'CREATE EXTENSION strata; GRANT CREATE ON DATABASE restored_schema TO hyper_owner');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-U', 'hyper_owner', '-f', "$dir/schema.sql", '-d', 'restored_schema' ],
	'schema: restore by the owner');
works('restored_schema', 'schema');

# rows only, into an empty hypertable that makes its chunks anew
$node->command_ok([ 'pg_dump', '-d', 'postgres', '--data-only', '--load-via-partition-root', '-t', 'app.m*', '-f', "$dir/data.sql" ],
	'data only: dump');
$node->safe_psql('restored_plain', q{SELECT drop_chunks('app.m', older_than => '2030-01-01')});
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', "$dir/data.sql", '-d', 'restored_plain' ], 'data only: restore');
is($node->safe_psql('restored_plain', $content), $rows, 'data only: same rows');

# nothing is left when it goes
$node->safe_psql('postgres', 'DROP SCHEMA app CASCADE');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_class WHERE relnamespace = '_strata'::regnamespace AND relname LIKE 'batch%'}),
	'0', 'DROP SCHEMA takes the companions along');
$node->safe_psql('postgres', 'DROP EXTENSION strata CASCADE');

$node->stop;
done_testing();
