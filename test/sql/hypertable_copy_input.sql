-- COPY into tables that the library loads reads plain numbers and times itself: bits and errors are those of PostgreSQL.
SET timezone = 'Asia/Kolkata';
SET datestyle = 'SQL, DMY';
SELECT setseed(0.25);
CREATE TABLE h (f8 float8, f4 float4, tz timestamptz, ts timestamp, d date, tz0 timestamptz(0), dom text);
CREATE DOMAIN positive AS float8 CHECK (VALUE > 0);
CREATE TABLE s (LIKE h) USING strata WITH (strata.direct_load);
ALTER TABLE h ALTER dom TYPE positive USING NULL;
ALTER TABLE s ALTER dom TYPE positive USING NULL;
-- as text, in every form that is read faster, and just beside it
CREATE TABLE number (x text);
INSERT INTO number VALUES ('0'), ('-0'), ('-0.0'), ('00'), ('007'), ('1'), ('-1'), ('100'), ('1.'), ('.5'), ('-.5'), ('+1'), (' 1'), ('1 '), ('1e5'), ('1E-5'), ('NaN'), ('inf'), ('-Infinity'), ('0x1A'),
	('9007199254740991'), ('9007199254740992'), ('9007199254740993'), ('9007199254740994'), ('16777215'), ('16777216'), ('16777217'), ('16777219'), ('9999999999999999999'), ('18446744073709551615'), ('18446744073709551617'), ('99999999999999999999'),
	('0.1'), ('0.3'), ('2.675'), ('0.000001'), ('1.005'), ('123456789.123456789'), ('0.0000000000000000000001'), ('1.0000000000000000000000'), ('4.35'), ('8.41'), ('0.333333333333333333333'), ('5e-324'), ('179769313486231570000');
INSERT INTO number SELECT (CASE WHEN random() < 0.3 THEN '-' ELSE '' END) || (random() * 10 ^ (random() * 17)::int)::numeric(40, 20)::text FROM generate_series(1, 400);
INSERT INTO number SELECT round((random() * 10 ^ (random() * 8)::int)::numeric, (random() * 12)::int)::text FROM generate_series(1, 4000);
CREATE TABLE moment (x text);
INSERT INTO moment VALUES ('2016-01-01 00:00:00+00'), ('2016-01-01T00:00:00+00'), ('2016-02-29 23:59:59.999999+05:30'), ('2000-02-29 12:00:00-08'), ('1900-02-28 12:00:00-0830'), ('0001-01-01 00:00:00+14:59'), ('9999-12-31 23:59:59.5-14'),
	('2016-01-01 24:00:00+00'), ('2016-01-01 23:59:60+00'), ('2016-01-01 00:00:00.1234567+00'), ('2016-01-01 00:00:00.+00'), ('2016-01-01 00:00:00'), ('2016-01-01 00:00:00Z'), ('2016-01-01 00:00:00 UTC'), ('2016-01-01 00:00:00 +00'),
	('2016-01-01 00:00:00+15'), ('2016-01-01 00:00:00+15:59'), ('2016-01-01 00:00+00'), ('2016-01-01'), ('01/02/2016'), ('2016-1-1 1:2:3+0'), ('infinity'), ('epoch'), ('now'), ('12016-01-01 00:00:00+00'), ('0044-03-15 00:00:00+00 BC'), ('2016-01-01 10:00:00 PM'),
	('20160101T101112+02'), (' 2016-01-01 00:00:00+00'), ('2016-01-01  00:00:00+00'), ('2016-01-01 00:00:00+00 '), ('2016-01-01t00:00:00+00'), ('2016-01-01 00:00:00.5'), ('2016-07-01 00:00:00.000001'), ('2016-01-01 00:00:00+5:30'), ('2016-01-01 00:00:00+05:30:15'), ('2016-01-01 00:00:00+0530');
INSERT INTO moment SELECT to_char('0050-01-01'::timestamp + random() * interval '4000 years', 'YYYY-MM-DD HH24:MI:SS' || (ARRAY['', '.US', '.MS'])[1 + i % 3]) ||
	(ARRAY['+00', '', '-03', '+05:45', '-11:30'])[1 + i % 5] FROM generate_series(1, 3000) AS i;
-- one statement for each row of the list of forms: who takes it, and what comes out
CREATE FUNCTION input(t regclass, col text, x text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
	bits text := CASE col WHEN 'f8' THEN 'float8send' WHEN 'f4' THEN 'float4send' WHEN 'dom' THEN 'float8send' WHEN 'ts' THEN 'timestamp_send' WHEN 'd' THEN 'date_send' ELSE 'timestamptz_send' END;
BEGIN
	EXECUTE format('TRUNCATE %s', t);
	EXECUTE format('COPY %s (%I) FROM PROGRAM %L', t, col, format('echo ''%s''', x));
	EXECUTE format('SELECT string_agg(encode(%s(%I), ''hex''), '' '') FROM %s', bits, col, t) INTO result;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS result = PG_EXCEPTION_CONTEXT;
	RETURN SQLSTATE || ' ' || SQLERRM || ' ' || replace(split_part(result, E'\n', 1), 'COPY ' || t || ',', 'COPY table,');
END $$;
CREATE TABLE form AS SELECT x, true AS number FROM (SELECT x FROM number LIMIT 45) AS n UNION ALL SELECT x, false FROM (SELECT x FROM moment LIMIT 37) AS m
	UNION ALL VALUES ('', true), ('-', true), ('.', true), ('1.2.3', true), ('1,5', true), ('2016-01-01', true), ('', false), ('2016-02-30 00:00:00+00', false), ('2015-02-29', false), ('2016-13-01', false), ('2016-00-10', false),
	('2016-01-00', false), ('0000-01-01 00:00:00+00', false), ('2016-01-01 25:00:00+00', false), ('2016-01-01 00:60:00+00', false), ('2016-01-01 00:00:00+16', false), ('2016-01-01 00:00:00+00:60', false);
BEGIN;
SELECT * FROM (SELECT col, x, input('h', col, x) AS on_heap, input('s', col, x) AS on_strata
	FROM form, unnest(CASE WHEN number THEN ARRAY['f8', 'f4', 'dom'] ELSE ARRAY['tz', 'ts', 'd', 'tz0'] END) AS col OFFSET 0) AS i WHERE on_heap IS DISTINCT FROM on_strata;
ROLLBACK;
SELECT input('s', 'f8', '-0'), input('s', 'f8', '1.5'), input('s', 'tz', '2016-02-29 23:59:59.999999+05:30'), input('s', 'd', '2015-02-29');
-- many at a time
CREATE FUNCTION differs(columns text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
	EXECUTE format('SELECT count(*) FROM ((SELECT %1$s FROM h EXCEPT ALL SELECT %1$s FROM s) UNION ALL (SELECT %1$s FROM s EXCEPT ALL SELECT %1$s FROM h)) AS d', columns) INTO n;
	RETURN n;
END $$;
TRUNCATE h, s;
COPY (SELECT x, x FROM number WHERE x NOT LIKE '%e-324' AND x <> '0x1A') TO PROGRAM 'cat > copy_input.tmp';
COPY h (f8, f4) FROM PROGRAM 'cat copy_input.tmp';
COPY s (f8, f4) FROM PROGRAM 'cat copy_input.tmp';
SELECT differs('float8send(f8), float4send(f4)'), count(*) FROM s;
TRUNCATE h, s;
COPY (SELECT x, x, CASE WHEN x ~ '^\d{4}-\d\d-\d\d' THEN left(x, 10) ELSE x END, x FROM moment WHERE x NOT IN ('now', '01/02/2016')) TO PROGRAM 'cat > copy_input.tmp' WITH (FORMAT csv);
COPY h (tz, ts, d, tz0) FROM PROGRAM 'cat copy_input.tmp' WITH (FORMAT csv);
COPY s (tz, ts, d, tz0) FROM PROGRAM 'cat copy_input.tmp' WITH (FORMAT csv);
SELECT differs('tz, ts, d, tz0'), count(*) FROM s;
-- binary, and a hypertable
COPY h TO PROGRAM 'cat > copy_input.tmp' WITH (FORMAT binary);
TRUNCATE s;
COPY s FROM PROGRAM 'cat copy_input.tmp' WITH (FORMAT binary);
SELECT differs('tz, ts, d, tz0'), count(*) FROM s;
CREATE TABLE y (tz timestamptz NOT NULL, f float8);
SELECT created FROM create_hypertable('y', by_range('tz', interval '100 years'));
COPY (SELECT x, i * 0.1 FROM (SELECT x, row_number() OVER () AS i FROM moment WHERE x ~ '^(1|2)\d{3}-\d\d-\d\d \d\d:\d\d:\d\d.*\+' AND x !~ '\+15') AS m) TO PROGRAM 'cat > copy_input.tmp';
COPY y FROM PROGRAM 'cat copy_input.tmp';
TRUNCATE h;
COPY h (tz, f8) FROM PROGRAM 'cat copy_input.tmp';
SELECT count(*) > 100 AS many, count(*) FILTER (WHERE h.f8 IS NULL) AS missing FROM y LEFT JOIN h ON h.tz = y.tz AND h.f8 = y.f;
COPY (SELECT 1) TO PROGRAM 'cat > /dev/null; rm copy_input.tmp';
DROP TABLE h, s, y, number, moment, form;
DROP DOMAIN positive;
DROP FUNCTION input, differs;
