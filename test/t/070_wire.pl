# test/t/070_wire.pl
#	  Results are sent byte for byte as PostgreSQL sends them: all kinds of values,
#	  under all kinds of settings, also when these change between rows; as text,
#	  and in the formats and portions that the extended protocol asks for.
use strict;
use warnings;

use StrataProtocol;
use StrataTest;
use Test::More;

my $node = strata_node('wire');
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION strata;
CREATE DOMAIN ratio AS float8;
CREATE TYPE pair AS (a int, b text);
CREATE TABLE w (id int, b bool, i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, r ratio, n numeric, ts timestamp, tz timestamptz,
    d date, t text, v varchar(7), c char(7), j json, y bytea, p pair) USING strata WITH (strata.orderby = 'id');
-- of each column the ordinary values, those at the ends, and those that no short way is for
CREATE FUNCTION number(i int) RETURNS float8 LANGUAGE sql VOLATILE AS $$
  SELECT CASE i % 16
    WHEN 0 THEN i WHEN 1 THEN -i / 10.0 WHEN 2 THEN i / 100.0 WHEN 3 THEN -i / 10000.0 WHEN 4 THEN i / 100000.0
    WHEN 5 THEN random() WHEN 6 THEN exp(random() * 1400 - 700) WHEN 7 THEN round(random() * 1e9) / 1e4 WHEN 8 THEN round(random() * 1e15) / 1e4
    WHEN 9 THEN -round(random() * 1e6) / 1e3 WHEN 10 THEN round(random() * 1e13) * 1000 WHEN 11 THEN i / 3.0
    WHEN 12 THEN (ARRAY['NaN', 'Infinity', '-Infinity', '-0', '0', '5e-324', '1.7976931348623157e308', '2.2250738585072014e-308'])[i / 16 % 8 + 1]::float8
    WHEN 13 THEN (ARRAY[1e15, 1e16, 999999999999999, 9999999999.9999, 9999999999.99995, 10000000000, 10000000000.5, 0.0001, 0.00001, 0.00005,
        0.00015, 123456789.12345, 4503599627370496.5, 0.1 + 0.2::float8, 1e22, 1e23])[i / 16 % 16 + 1]
    WHEN 14 THEN (i::float8 / 10000) + 1e-12 ELSE float8 '1e10' - i / 10000.0 END
$$;
INSERT INTO w SELECT i, i % 3 = 0, i % 65536 - 32768, (i * 7919::bigint * 104729 % 4294967296 - 2147483648)::int, (i - 10000)::bigint * 900000000000000 + i,
    CASE WHEN abs(x) BETWEEN 1e-30 AND 1e30 THEN x::float4 END, x, x, CASE WHEN abs(x) < 1e300 THEN x::numeric END,
    timestamp '1700-03-01' + random() * interval '500 years', timestamptz '1840-01-01' + random() * interval '300 years', date '1999-12-20' + i,
    CASE WHEN i % 5 > 0 THEN repeat(chr(97 + i % 26), i % 40) || CASE WHEN i % 7 = 0 THEN 'äöü' ELSE '' END END, i::text, 'c' || i, ('{"i": ' || i || '}')::json,
    decode(lpad(to_hex(i), 8, '0'), 'hex'), (i, 'x' || i)::pair
  FROM (SELECT i, number(i) AS x FROM generate_series(1, 12000) i OFFSET 0) numbers WHERE i % 16 <> 12 OR i / 16 % 8 > 2;
INSERT INTO w (id, f8, f4, r) SELECT 20000 + i, f, f::float4, f FROM unnest(ARRAY[float8 'NaN', 'Infinity', '-Infinity', '-0']) WITH ORDINALITY AS u(f, i);
-- clocks that change, days that are none, eras, the ends of time
INSERT INTO w (id, tz, ts) SELECT 30000 + i, t + s * interval '13 min 7.5 s', (t AT TIME ZONE 'UTC') + s * interval '17 min 0.000001 s'
  FROM unnest(ARRAY[timestamptz '2024-03-30 12:00Z', '2024-10-26 12:00Z', '2011-12-29 00:00Z', '1893-03-31 12:00Z', '1972-01-06 12:00Z', '1919-02-27 12:00Z',
      '2024-04-06 00:00Z', '2007-12-09 00:00Z', '1994-12-30 00:00Z', '0001-01-01 00:00Z BC', '10000-01-01 00:00Z', '1582-10-04 00:00Z', '2037-12-30 00:00Z', '2500-06-30 00:00Z']) WITH ORDINALITY AS z(t, k),
    generate_series(0, 250) s, LATERAL (SELECT (k * 1000 + s)::int) AS n(i);
INSERT INTO w (id, tz, ts, d) VALUES (50000, 'infinity', '-infinity', 'infinity'), (50001, '-infinity', 'infinity', '-infinity'),
  (50002, '4713-11-24 00:00:01Z BC', '4713-11-24 00:00:01 BC', '4713-11-24 BC'), (50003, '294276-12-31 23:59:59.999999Z', '294276-12-31 23:59:59.999999', '5874897-12-31');
-- long texts, and all null
INSERT INTO w (id, t, j) SELECT 60000 + i, string_agg(md5((i * n)::text), ''), to_json(i) FROM generate_series(1, 20) i, generate_series(1, 400) n GROUP BY i;
INSERT INTO w SELECT 70000 + i FROM generate_series(1, 10) i;
SELECT compress_chunk('w');
INSERT INTO w SELECT 100000 + id, b, i2, i4, i8, f4, f8, r, n, ts, tz, d, t, v, c, j, y, p FROM w WHERE id % 10 = 0;
ANALYZE w;
CREATE TABLE part (id int, tz timestamptz NOT NULL, f8 float8) PARTITION BY RANGE (tz);
CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM ('2024-01-01Z') TO ('2024-02-01Z') USING strata;
CREATE TABLE part_2 PARTITION OF part FOR VALUES FROM ('2024-02-01Z') TO ('2024-03-01Z') USING strata;
INSERT INTO part SELECT i, timestamptz '2024-01-10Z' + i * interval '1 h', i / 8.0 FROM generate_series(1, 1000) i;
SELECT compress_chunk('part_1'), compress_chunk('part_2');
SQL

# What psql shows of queries with the settings, errors too, sent by strata or not; and how many strata sent.
sub shown
{
	my ($settings, $queries, $fast) = @_;
	my ($out, $err) = ('', '');
	my $code = $node->psql('postgres', "$settings; SET strata.enable_fast_output = $fast; SET client_min_messages = debug2;\n$queries",
		stdout => \$out, stderr => \$err);
	my $errors = join("\n", $err =~ /^.*ERROR:.*$/mg);
	return ("$code\n$out\n$errors", scalar(() = $err =~ /strata writes the result/g));
}

sub same
{
	my ($settings, $queries, $expected, $what) = @_;
	my ($fast, $sent) = shown($settings, $queries, 'on');
	my ($plain, $none) = shown($settings, $queries, 'off');
	my @fast = split /\n/, $fast;
	my @plain = split /\n/, $plain;
	my ($differing) = grep { ($fast[$_] // '') ne ($plain[$_] // '') } 0 .. $#plain;

	ok($fast eq $plain, "$what: the same bytes")
	  or diag("settings: $settings\nline $differing, strata:     $fast[$differing]\nline $differing, PostgreSQL: $plain[$differing]");
	cmp_ok(length($plain), '>', 20, "$what: there is something to compare");
	is("$sent, $none", "$expected, 0", "$what: strata wrote $expected of them, none when switched off");
	return;
}

my $all = 'SELECT * FROM w ORDER BY id;';
foreach my $zone ('UTC', 'Europe/Berlin', 'America/St_Johns', 'Asia/Kolkata', 'Australia/Lord_Howe', 'Africa/Monrovia', 'Pacific/Apia', 'Africa/Casablanca',
	'America/Caracas', 'Pacific/Kiritimati', 'Africa/Juba', '<+03>-3', 'EST5EDT')
{
	same("SET TimeZone = '$zone'", $all, 1, "times in $zone");
}
same("SET TIME ZONE INTERVAL '-01:23' HOUR TO MINUTE", $all, 1, 'times in a zone of one hour and 23 minutes');
same("SET DateStyle = '$_'; SET TimeZone = 'Europe/Berlin'", $all, 1, "times as $_") foreach ('SQL, DMY', 'German', 'Postgres, MDY', 'ISO, YMD');
same("SET extra_float_digits = $_", $all, 1, "floats with extra_float_digits $_") foreach (-15, -1, 0, 1, 3);
same("SET client_encoding = '$_'", 'SELECT * FROM w ORDER BY id', 1, "texts in $_") foreach ('LATIN1', 'UTF8', 'SQL_ASCII', 'WIN1252');
same("SET client_encoding = 'SJIS'", $all, 1, 'an error half way: a character that the client has not');
same("SET bytea_output = 'escape'", $all, 1, 'bytea_output');
same('SET strata.enable_scan = off', 'SELECT * FROM w ORDER BY id LIMIT 10;', 0, 'not of other scans');

# settings that change while the result is sent
same("SET TimeZone = 'UTC'", <<'SQL', 1, 'settings that change between rows');
SELECT id, tz, ts, f8, set_config('TimeZone', (ARRAY['UTC', 'Asia/Kolkata', 'Europe/Berlin', 'Pacific/Apia'])[id % 4 + 1], false),
  set_config('extra_float_digits', (id % 3)::text, false), set_config('DateStyle', CASE WHEN id % 50 = 0 THEN 'German' ELSE 'ISO' END, false),
  set_config('client_encoding', CASE WHEN id % 7 = 0 THEN 'LATIN1' ELSE 'UTF8' END, false), t FROM w;
SQL
same('SET search_path = public', <<'SQL', 5, 'other shapes of queries');
SELECT id, tz FROM w ORDER BY id DESC LIMIT 20 OFFSET 5;
SELECT f8, count(*), min(tz) FROM w GROUP BY f8 ORDER BY f8, 2 LIMIT 50;
SELECT FROM w LIMIT 3;
SELECT * FROM part ORDER BY tz;
SELECT count(*), sum(f8) FROM part;
SELECT 1 AS one, 'nothing of strata' AS two;
SQL
same('SET search_path = public', <<'SQL', 0, 'cursors, prepared statements, functions: as PostgreSQL does it');
BEGIN;
DECLARE c BINARY CURSOR FOR SELECT id, f8, t FROM w ORDER BY id;
MOVE 100 FROM c;
DECLARE d CURSOR FOR SELECT id, f8, t FROM w ORDER BY id;
FETCH 100 FROM d;
COMMIT;
PREPARE p AS SELECT id, f8, t FROM w WHERE id < 100;
EXECUTE p;
COPY (SELECT id, f8, tz FROM w ORDER BY id LIMIT 50) TO STDOUT;
SQL
same('SET search_path = public', 'SELECT id, f8, 1 / (1500 - id) FROM w WHERE id > 1400 ORDER BY id;', 1, 'an error half way');

# A hypertable, some of its rows late, with a column of each kind that is sent in a way of its own, and of some that are not.
$node->safe_psql('postgres', <<'SQL');
CREATE DOMAIN amount AS numeric(20, 4);
CREATE DOMAIN label AS text CHECK (length(VALUE) < 9000);
CREATE DOMAIN labels AS label;
CREATE TABLE h (tz timestamptz NOT NULL, id int, b bool, i2 int2, i8 int8, f4 float4, f8 float8, r ratio, n numeric, am amount, ts timestamp, d date, tm time, tt timetz,
  iv interval, u uuid, o oid, t text, v varchar(7), c char(7), l labels, j json, jb jsonb, y bytea, nm name, ch "char", a int[], x inet, cash money, rc regclass, p pair, gone int)
  USING strata WITH (strata.segmentby = 'i2', strata.orderby = 'tz');
SELECT create_hypertable('h', 'tz', chunk_time_interval => interval '12 hours');
CREATE FUNCTION fill_h(ids int[]) RETURNS void LANGUAGE sql AS $$
INSERT INTO h SELECT timestamptz '2026-01-01Z' + i * interval '31.000007 s', i, nullif(i % 3, 1) = 0, i % 3 - 1, (i - 2000)::bigint * 4611686018427380 + i, (-i / 7.0)::float4,
    (ARRAY['NaN', 'Infinity', '-Infinity', '-0', '0', '5e-324', '1.7976931348623157e308', '1.5'])[i % 16 + 1]::float8, i / 3.0,
    CASE i % 12 WHEN 0 THEN 'NaN' WHEN 1 THEN 0.000 WHEN 2 THEN -i WHEN 3 THEN i / 1000.0 WHEN 4 THEN i * 1e9 + 0.0001 WHEN 5 THEN -1e-30 WHEN 6 THEN 'Infinity' WHEN 7 THEN '-Infinity'
      WHEN 8 THEN power(1.7::numeric, i % 400) WHEN 9 THEN 1e300 + i WHEN 10 THEN (repeat('1234', i % 40) || '.' || repeat('98', i % 30 + 1))::numeric END,
    i / 7.0 - 100, timestamp '1700-03-01' + i * interval '3 days 7 seconds', date '1999-12-20' + i, time '00:00' + i * interval '13.000001 s', timetz '01:02:03.04-05:30' + i * interval '1 s',
    make_interval(i % 5, -i % 13, 0, i % 400, 0, i, i / 13.0), md5(i::text)::uuid, 4294967295 - i, nullif(repeat('xäö€'::text, i % 20), ''), i::text, 'c' || i, 'l' || i,
    json_build_object('i', i, 'ü', 'é'), jsonb_build_object('i', i, 'a', ARRAY[1, NULL]), decode(repeat(lpad(to_hex(i), 8, '0'), i % 9), 'hex'), ('name' || i)::name, chr(33 + i % 90)::"char",
    ARRAY[i, NULL, -i], '10.0.0.1'::inet + i, (i * 100)::text::money, 'w'::regclass, (i, 'x' || i)::pair
  FROM unnest(ids) AS i WHERE i % 50 > 0 $$;
SELECT fill_h(ARRAY(SELECT i FROM generate_series(1, 4000) i WHERE i % 20 <> 7));
INSERT INTO h (tz, id) VALUES ('2026-01-01 01:00Z', 5001);
INSERT INTO h (tz, id, tm, ts, iv, d, i8, i2) VALUES ('2026-01-01 02:00Z', 5002, '24:00', 'infinity', '-178000000 years', '-infinity', -9223372036854775808, -32768),
  ('2026-01-01 03:00Z', 5003, '00:00', '-infinity', '178000000 years', 'infinity', 9223372036854775807, 32767);
INSERT INTO h (tz, id, t, y, n, l) SELECT timestamptz '2026-01-01 12:00Z' + i * interval '1 s', 6000 + i, string_agg(md5((i * k)::text), ''), string_agg(decode(md5((i * k)::text), 'hex'), ''),
  (string_agg((k * i)::text, '') || '.5')::numeric, string_agg(md5((i * k)::text), '') FROM generate_series(1, 20) i, LATERAL (SELECT generate_series(1, 200)::int AS k) s GROUP BY i;
ALTER TABLE h DROP COLUMN gone;
SELECT count(compress_chunk(c)) FROM show_chunks('h') c;
SELECT fill_h(ARRAY(SELECT i FROM generate_series(1, 4000) i WHERE i % 20 = 7));
ALTER TABLE h ADD COLUMN late float8 DEFAULT -2.5;
UPDATE h SET f8 = 17.25 WHERE id % 97 = 0;
DELETE FROM h WHERE id % 89 = 0;
ANALYZE h;
SQL

# All bytes that a session is sent for the queries, by strata or not; and how many strata sent.
sub bytes
{
	my ($settings, $fast, $code) = @_;
	my $session = StrataProtocol->new($node);
	$session->simple("$settings; SET strata.enable_fast_output = $fast; SET client_min_messages = debug2");
	$session->bytes;
	$code->($session);
	my $sent = $session->count(qr/strata writes the result/);
	return ($session->bytes, $sent);
}

sub same_bytes
{
	my ($settings, $expected, $what, $code) = @_;
	my ($fast, $sent) = bytes($settings, 'on', $code);
	my ($plain, $none) = bytes($settings, 'off', $code);
	my ($common) = (($fast ^ $plain) =~ /^(\0*)/);
	ok($fast eq $plain, "$what: the same bytes")
	  or diag('they differ from byte ' . length($common) . ': strata ' . unpack('H*', substr($fast, length $common, 40)) .
		', PostgreSQL ' . unpack('H*', substr($plain, length $common, 40)));
	cmp_ok(length($plain), '>', 60, "$what: there is something to compare");
	is("$sent, $none", "$expected, 0", "$what: strata wrote $expected of them, none when switched off");
	return $plain;
}

my $utc = "SET TimeZone = 'UTC'";
my $kinds = 'SELECT * FROM h ORDER BY id';
same_bytes($utc, 1, "$_ in binary", sub { shift->query("SELECT * FROM $_ ORDER BY id", formats => [1]) }) foreach ('h', 'w');
same_bytes($utc, 1, 'the row store alone, in binary', sub { shift->query('SELECT * FROM h WHERE id % 20 = 7 ORDER BY id', formats => [1]) });
same_bytes($utc, 1, 'as text, by the extended protocol', sub { shift->query($kinds, formats => []) });
same_bytes($utc, 2, 'columns in different formats', sub {
	my ($session) = @_;
	$session->query($kinds, formats => [ map { $_ % 2 } 1 .. 32 ]);
	$session->query($kinds, formats => [ map { $_ % 3 ? 1 : 0 } 1 .. 32 ]);
});
same_bytes("SET client_encoding = '$_'", 1, "texts in binary in $_", sub { shift->query('SELECT id, t, l, j, jb, v, c, nm, y, p FROM h ORDER BY id', formats => [1]) })
  foreach ('LATIN9', 'UTF8', 'SQL_ASCII');
ok(index(same_bytes("SET client_encoding = 'SJIS'", 1, 'a character that the client has not', sub { shift->query($kinds, formats => [1]) }), '22P05') > 0, 'is an error');
same_bytes($utc, 1, 'settings that change between rows', sub {
	shift->query("SELECT id, tz, f8, t, set_config('client_encoding', CASE WHEN id % 7 = 0 THEN 'LATIN9' ELSE 'UTF8' END, false), set_config('DateStyle', CASE WHEN id % 50 = 0 THEN 'German' ELSE 'ISO' END, false), l, y, j, ts FROM h",
		formats => [ 0, 0, 1, 1, 0, 0, 1, 1, 1, 0 ]);
});
ok(index(same_bytes($utc, 1, 'an error half way', sub { shift->query('SELECT id, f8, 1 / (1501 - id) FROM h WHERE id > 1400 ORDER BY id', formats => [1]) }), '22012') > 0, 'is that error');
ok(index(same_bytes($utc, 1, 'a type that is not sent in binary', sub { shift->query('SELECT id, NULL::aclitem FROM h LIMIT 5', formats => [1]) }), '42883') > 0, 'is an error, null or not');
same_bytes($utc, 1, 'no rows of such a type', sub { shift->query('SELECT id, NULL::aclitem FROM h WHERE id < 0', formats => [1]) });
ok(index(same_bytes($utc, 0, 'a format that there is none of', sub { shift->query('SELECT id, f8 FROM h LIMIT 5', formats => [ 1, 2 ]) }), '22023') > 0, 'is an error');

# portions: each Execute is a run of the executor of its own
foreach my $rows (1, 7, 1000)
{
	my $limit = $rows == 1 ? 60 : 4000;
	foreach my $portal ('', 'named')
	{
		my $fast = 0;
		my $check = sub {
			my ($session) = @_;
			$fast = $session->query("SELECT * FROM h ORDER BY tz LIMIT $limit", formats => [ (1, 0) x 16 ], portal => $portal, rows => $rows);
		};
		bytes($utc, 'on', $check);
		same_bytes($utc, $fast, "$rows rows at a time, portal '$portal'", $check);
		cmp_ok($fast, '>', 3, 'in several portions');
	}
}
same_bytes($utc, 6, 'portals in turns, in different formats', sub {
	my ($session) = @_;
	$session->simple('BEGIN');
	$session->bind('a', 'SELECT id, tz, n FROM h ORDER BY id', formats => [1]);
	$session->bind('b', 'SELECT id, tz, n FROM h ORDER BY id DESC', formats => []);
	$session->execute($_, 50) foreach ('a', 'b', 'a', 'b', 'a');
	$session->execute('b', 0);
	$session->sync;
	$session->simple('COMMIT');
});
same_bytes($utc, 2, 'a prepared statement by messages, its plan a generic one', sub {
	my ($session) = @_;
	$session->simple('SET plan_cache_mode = force_generic_plan');
	$session->query('SELECT id, f8, u, n, t FROM h WHERE id > $1::int ORDER BY id', parameters => [$_], formats => [1]) foreach ('3000', '3900');
});
same_bytes($utc, 1, 'cursors and EXECUTE by SQL are as PostgreSQL has it; one run by a message is not', sub {
	my ($session) = @_;
	$session->simple('BEGIN; DECLARE c CURSOR FOR SELECT id, f8, n FROM h ORDER BY id; DECLARE bc BINARY CURSOR FOR SELECT id, f8, n FROM h ORDER BY id');
	$session->query($_, formats => [1]) foreach ('FETCH 20 FROM c', 'FETCH 20 FROM bc', 'FETCH BACKWARD 5 FROM c');
	$session->simple($_) foreach ('FETCH 20 FROM c', 'FETCH 20 FROM bc', 'PREPARE q AS SELECT id, f8 FROM h WHERE id < 50', 'EXECUTE q');
	$session->query('EXECUTE q', formats => [1]);
	$session->execute('c', 10);
	$session->sync;
	$session->simple('COMMIT');
});

ok($node->safe_psql('postgres', 'SELECT count(*) FROM w') > 10000, 'and the server stands');

done_testing();
