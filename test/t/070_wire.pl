# test/t/070_wire.pl
#	  Results are sent byte for byte as PostgreSQL sends them: all kinds of values,
#	  under all kinds of settings, also when these change between rows.
use strict;
use warnings;

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
ok($node->safe_psql('postgres', 'SELECT count(*) FROM w') > 10000, 'and the server stands');

done_testing();
