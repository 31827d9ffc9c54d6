-- Filters on compressed rows give heap's answers, whatever way they are
-- evaluated: on metadata, on vectors, per dictionary entry or row by row.
SET timezone = 'UTC';
SET jit = off;
SET client_min_messages = error;

CREATE TYPE scan_mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE scan_filter_h (
	n int, i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, d date, ts timestamp, tz timestamptz,
	tm time, o oid, b bool, t text, v varchar(10), c char(4), nu numeric, e scan_mood, j jsonb,
	ar int[], u uuid, ch "char", m money, nm name);
INSERT INTO scan_filter_h
SELECT g, (g * 7 % 101 - 50)::int2,
	CASE WHEN g % 97 = 0 THEN 2147483647 WHEN g % 89 = 0 THEN -2147483648 ELSE g * 31 % 401 - 200 END,
	CASE WHEN g % 97 = 0 THEN 9223372036854775807 WHEN g % 89 = 0 THEN -9223372036854775808 ELSE g * 17 % 2001 - 1000 END,
	CASE WHEN g % 53 = 0 THEN 'NaN' WHEN g % 59 = 0 THEN '-0' WHEN g % 61 = 0 THEN 'Infinity' ELSE ((g * 13 % 101 - 50) / 10.0)::float4 END,
	CASE WHEN g % 67 = 0 THEN 'NaN' WHEN g % 71 = 0 THEN '-0' WHEN g % 73 = 0 THEN '-Infinity' ELSE ((g * 29 % 101 - 50) / 2.0)::float8 END,
	CASE WHEN g % 79 = 0 THEN 'infinity' ELSE date '2024-01-01' + g % 37 END,
	CASE WHEN g % 83 = 0 THEN '-infinity' ELSE timestamp '2024-01-01' + g * interval '37 min' END,
	timestamptz '2024-01-01' + g * interval '41 min', time '00:00' + g * 7 % 1440 * interval '1 min',
	(CASE WHEN g % 50 = 0 THEN 4294967290 ELSE g % 100 END)::oid, g % 3 = 0,
	'k' || g % 13, 'k' || g * 5 % 13, 'k' || g % 11, CASE WHEN g % 43 = 0 THEN 'NaN' ELSE (g % 41 - 20) / 4.0 END,
	(ARRAY['sad', 'ok', 'happy'])[1 + g % 3]::scan_mood, jsonb_build_object('a', g % 7), ARRAY[g % 5, g % 3],
	('00000000-0000-0000-0000-0000000000' || lpad((g % 13)::text, 2, '0'))::uuid,
	(ARRAY['a', 'b', 'z'])[1 + g % 3]::"char", (g % 21 - 10)::numeric::money, ('k' || g % 13)::name
FROM generate_series(1, 2000) g;
-- every column with nulls, in runs and alone
INSERT INTO scan_filter_h (n, t) SELECT g, 'k' || g % 3 FROM generate_series(2001, 2150) g;
INSERT INTO scan_filter_h SELECT (jsonb_populate_record(h, jsonb_build_object(
	(ARRAY['i2','i4','i8','f4','f8','d','ts','tz','tm','o','b','t','v','c','nu','e','j','ar','u','ch','m','nm'])[1 + n % 22], NULL))).*
FROM scan_filter_h h WHERE n <= 400;

CREATE TABLE scan_filter_s (LIKE scan_filter_h) USING strata;
SET strata.batch_rows = 100;

-- Runs a predicate on both; returns what differs: the rows, by their numbers.
CREATE FUNCTION scan_filter_same(predicate text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	template constant text := 'SELECT count(*) || '' '' || coalesce(sum(hashint4(n)::int8), 0) FROM %s x WHERE %s';
	a text;
	b text;
BEGIN
	EXECUTE format(template, 'scan_filter_h', predicate) INTO a;
	EXECUTE format(template, 'scan_filter_s', predicate) INTO b;
	RETURN CASE WHEN a IS DISTINCT FROM b THEN format('heap %s, strata %s', a, b) END;
END $$;
CREATE TABLE scan_predicate (id serial, p text);
CREATE VIEW scan_filter_differences AS
SELECT p, d FROM (SELECT id, p, scan_filter_same(p) d FROM scan_predicate OFFSET 0) x WHERE d IS NOT NULL ORDER BY id;
-- comparisons: every operator, values in, at and beyond the ends of the type
INSERT INTO scan_predicate (p)
SELECT format('%s %s %s', col, op, coalesce(val, 'NULL')) FROM (VALUES
	('i2', '{7,-50,50,32767,-32768,40000::int4,-99999999999::int8,null}'::text[]),
	('i4', '{3,-200,2147483647,-2147483648,5::int2,3000000000,-3000000000}'),
	('i8', '{11,1000::int2,-1000::int4,9223372036854775807,-9223372036854775808}'),
	('f4', '{0.5,1.1,1.1::float4,''NaN'',''NaN''::float4,''Infinity'',''-Infinity'',''-0'',0,1e300::float8}'),
	('f8', '{0.5,-24.5,1.1::float4,''NaN'',''Infinity'',''-Infinity'',''-0'',0}'),
	('d', '{''2024-01-20'',''infinity'',''-infinity'',timestamp ''2024-01-20 10:00'',timestamptz ''2024-01-20 10:00''}'),
	('ts', '{''2024-01-20'',''infinity'',''-infinity'',date ''2024-01-20'',timestamptz ''2024-01-20 10:00''}'),
	('tz', '{''2024-01-20'',''infinity'',date ''2024-01-20'',timestamp ''2024-01-20 10:00''}'),
	('tm', '{''10:00'',''00:00'',''24:00''}'), ('o', '{5,4294967290,0}'), ('b', '{true,false}'),
	('t', '{''k3'',''k'',''zz'',''''}'), ('v', '{''k3'',''k10''::text}'), ('c', '{''k3'',''k3  ''}'),
	('nu', '{1.25,''NaN'',-20,3}'), ('e', '{''ok'',''sad''}'), ('u', '{''00000000-0000-0000-0000-000000000007''}'),
	('ch', '{''b''}'), ('m', '{''3''}'), ('nm', '{''k3''}'), ('ar', '{"''{1,2}''"}'), ('j', '{"''{\"a\": 3}''"}')) x(col, vals),
	unnest(vals) val, unnest('{<,<=,=,>=,>,<>}'::text[]) op;
-- value on the left, ranges, lists, nulls
INSERT INTO scan_predicate (p) VALUES
	('10 > i4'), ('1.5::float8 <= f4'), ('''NaN'' = f8'), ('i4 BETWEEN -10 AND 10'), ('i4 NOT BETWEEN -10 AND 10'),
	('ts BETWEEN ''2024-01-05'' AND ''2024-01-06'''), ('f8 BETWEEN ''-0'' AND 0'), ('f8 > 3 AND f8 < ''NaN'''),
	('i4 IN (1, 5, 9)'), ('i4 NOT IN (1, 5, 9)'), ('i4 IN (1, NULL, 9)'), ('i4 NOT IN (1, NULL, 9)'),
	('i4 = ANY (''{}'')'), ('i4 <> ALL (''{}'')'), ('i4 = ANY (NULL::int[])'), ('i4 <> ALL (NULL::int[])'),
	('i4 = ANY (ARRAY(SELECT generate_series(-200, 200, 7)))'), ('i4 <> ALL (ARRAY(SELECT generate_series(-200, 200, 3)))'),
	('i2 IN (7, 40000, -40000)'), ('i8 IN (7::int2, 9)'), ('i4 IN (3000000000, 7)'), ('f8 IN (''NaN'', 0, 2.5)'), ('f8 NOT IN (''NaN'', 0, 2.5)'),
	('f4 IN (1.1, ''Infinity'', ''NaN'')'), ('f4 IN (1.1::float4, 2.2::float4)'), ('f4 = ANY (ARRAY(SELECT (x / 10.0)::float4 FROM generate_series(-50, 50, 3) x))'),
	('o IN (3, 4294967290)'), ('b IN (true)'), ('t IN (''k1'', ''k2'', ''zz'')'), ('t NOT IN (''k1'', NULL)'), ('e IN (''sad'', ''ok'')'), ('d IN (''2024-01-03'', ''infinity'')'),
	('b'), ('NOT b'), ('b IS TRUE'), ('b IS NOT TRUE'), ('b IS FALSE'), ('b IS NOT FALSE'), ('b IS UNKNOWN'), ('b IS NOT UNKNOWN'),
	('i4 IS NULL'), ('i4 IS NOT NULL'), ('j IS NULL'), ('t IS NOT NULL'), ('x IS NOT NULL'), ('NOT (x IS NULL)');
-- lists longer than are compared one by one, elements twice and out of range; nulls of every type
INSERT INTO scan_predicate (p)
SELECT format('%s %s (%s)', col, op, list) FROM (VALUES
	('i2', '7, 7, -9, 3, 11, 40000, -40000, 32767, -1, 0'), ('i4', '1, -5, 9, 2147483647, 3000000000, -2147483648, 17, 0, 4'), ('i8', '7::int2, 9, -9223372036854775808, 13, 21, -4, 0'),
	('o', '3, 5, 8, 4294967290, 0, 14, 15'), ('tm', '''10:00'', ''00:00'', ''24:00'', ''03:00'', ''05:00'''), ('d', '''2024-01-03'', ''infinity'', ''2024-01-05'', ''2024-01-06'', ''2024-01-08'''),
	('f8', '0.5, ''-0'', 2.5, -24.5, 7, 11, ''Infinity'''), ('f8', '0.5, 0, 2.5, ''NaN'', 7, 11, 3.5'), ('f8', '1.1::float4, 2.5::float4, ''NaN'', 3, 4, 5.5'),
	('f4', '0.5, ''-0'', 1.1, ''NaN'', 2.5, 3, ''-Infinity'''), ('f4', '0.5::float4, 1.1::float4, 2.2::float4, 3.3::float4, 0::float4, 7::float4'), ('i4', '40000, 3000000000'), ('i2', '40000, -40000')) x(col, list),
	unnest('{IN,NOT IN}'::text[]) op;
INSERT INTO scan_predicate (p)
SELECT format('%s IS %s AND %s', col, test, more) FROM unnest('{i2,i4,i8,f4,f8,d,ts,tz,tm,o,b,t,v,c,nu,e,j,ar,u,ch,m,nm}'::text[]) col, unnest(ARRAY['NULL', 'NOT NULL']) test, unnest('{true,i4 > 0}'::text[]) more;
-- three-valued logic
INSERT INTO scan_predicate (p) VALUES
	('NOT (i4 > 10)'), ('NOT (i4 > 10 AND f8 > 0)'), ('NOT (i4 > 10 OR f8 > 0)'), ('i4 > 10 OR f8 > 0'), ('i4 > 10 OR t = ''k3'''),
	('(i4 > 10 AND b) OR (i2 < 0 AND NOT b) OR t IN (''k1'')'), ('NOT (i4 IN (1, 2) OR f8 IS NULL)'), ('NOT (NOT b AND i4 < 5)'),
	('i4 > 10 OR NULL'), ('(i4 > 10) IS NOT TRUE'), ('(i4 > 10) IS UNKNOWN'), ('NOT (t = ''k3'' AND i4 > 0)'), ('t = ''k1'' OR i4 % 2 = 0'),
	('CASE WHEN b THEN i4 > 0 ELSE f8 > 0 END'), ('coalesce(i4, 0) = 0'), ('nullif(t, ''k3'') IS NULL');
-- not vectors: text functions, several columns, rows, subqueries
INSERT INTO scan_predicate (p) VALUES
	('t LIKE ''k1%'''), ('t NOT LIKE ''k1%'''), ('t ~ ''^k[12]$'''), ('lower(t) = ''k2'''), ('length(t) = 3'), ('coalesce(t, ''x'') = ''x'''),
	('t IS DISTINCT FROM ''k4'''), ('t = ''k3'' COLLATE "C"'), ('t < ''k3'' COLLATE "C"'), ('t || v = ''k1k5'''), ('v = t'), ('i4 = i8'), ('i4 > i2'),
	('abs(i2) < 20'), ('i4 % 3 = 1'), ('extract(hour FROM ts) = 3'), ('ts > d'), ('j->>''a'' = ''3'''), ('j @> ''{"a": 1}'''), ('ar[1] = 3'), ('ar @> ''{2}'''),
	('(i4, i2) > (3, 4)'), ('i4 > (SELECT 3)'), ('i4 IN (SELECT 5 UNION SELECT 7)'), ('EXISTS (SELECT 1 WHERE i4 = 7)'), ('n = ANY (ARRAY[1, 2, i2])'),
	('ctid IS NOT NULL'), ('tableoid IS NOT NULL'), ('xmin IS NOT NULL'), ('random() >= 0'), ('random() < 0'), ('now() > tz'), ('tz < now() - interval ''1 s''');

-- each layout: what the segment is, what has minima, what has neither
ALTER TABLE scan_filter_s SET (strata.segmentby = 't', strata.orderby = 'ts');
INSERT INTO scan_filter_s SELECT * FROM scan_filter_h;
SELECT compress_chunk('scan_filter_s');
SELECT count(*) FROM scan_predicate;
SELECT * FROM scan_filter_differences;
SELECT * FROM scan_filter_h EXCEPT ALL SELECT * FROM scan_filter_s;

ALTER TABLE scan_filter_s SET (strata.segmentby = 'e,b', strata.orderby = 'f8 DESC NULLS LAST, i4');
SELECT compress_chunk('scan_filter_s', recompress => true);
SELECT * FROM scan_filter_differences;
SELECT * FROM scan_filter_h EXCEPT ALL SELECT * FROM scan_filter_s;

ALTER TABLE scan_filter_s SET (strata.segmentby = 'i2', strata.orderby = 't, nu DESC');
SELECT compress_chunk('scan_filter_s', recompress => true);
SELECT * FROM scan_filter_differences;
SELECT * FROM scan_filter_h EXCEPT ALL SELECT * FROM scan_filter_s;

ALTER TABLE scan_filter_s SET (strata.segmentby = '', strata.orderby = 'd NULLS FIRST');
SELECT compress_chunk('scan_filter_s', recompress => true);
SELECT * FROM scan_filter_differences;
SELECT * FROM scan_filter_h EXCEPT ALL SELECT * FROM scan_filter_s;

-- both halves, and batches of two layouts
INSERT INTO scan_filter_s SELECT * FROM scan_filter_h WHERE n % 3 = 0;
ALTER TABLE scan_filter_s SET (strata.segmentby = 't', strata.orderby = 'i4');
SELECT compress_chunk('scan_filter_s');
INSERT INTO scan_filter_s SELECT * FROM scan_filter_h WHERE n % 5 = 0;
INSERT INTO scan_filter_h SELECT * FROM scan_filter_h WHERE n % 3 = 0;
DELETE FROM scan_filter_h;
INSERT INTO scan_filter_h SELECT * FROM scan_filter_s;
CREATE INDEX ON scan_filter_s (i4);
CREATE INDEX ON scan_filter_s (t, ts);
ANALYZE scan_filter_s;
SELECT * FROM scan_filter_differences;
SELECT * FROM scan_filter_h EXCEPT ALL SELECT * FROM scan_filter_s;
SET enable_seqscan = off;
SELECT * FROM scan_filter_differences;
RESET enable_seqscan;

-- columns dropped, added with and without a default, and a type changed without a rewrite
ALTER TABLE scan_filter_h DROP COLUMN j, ADD COLUMN plus int DEFAULT 7, ADD COLUMN minus text, ALTER COLUMN v TYPE text;
ALTER TABLE scan_filter_s DROP COLUMN j, ADD COLUMN plus int DEFAULT 7, ADD COLUMN minus text, ALTER COLUMN v TYPE text;
DELETE FROM scan_predicate WHERE p ~ '\mj\M';
INSERT INTO scan_predicate (p) VALUES ('plus = 7'), ('plus > 7'), ('plus IS NULL'), ('minus IS NULL'), ('minus = ''x'''), ('plus + i2 > 10'),
	('plus IN (7, 8) AND i4 > 0'), ('minus LIKE ''x%'' OR plus < 100');
SELECT * FROM scan_filter_differences;
SELECT * FROM scan_filter_h EXCEPT ALL SELECT * FROM scan_filter_s;

-- errors and side effects are those of a row by row evaluation, in order
CREATE SEQUENCE scan_filter_seq;
SELECT count(*) FROM (SELECT 1 FROM scan_filter_s WHERE nextval('scan_filter_seq') > 0 AND plus = 7 LIMIT 5) x;
SELECT last_value FROM scan_filter_seq;
SELECT count(*) = (SELECT count(*) FROM scan_filter_h WHERE i2 IS NOT NULL AND i2 <> 0 AND 100 / i2 > 3)
FROM scan_filter_s WHERE i2 IS NOT NULL AND i2 <> 0 AND 100 / i2 > 3;
SELECT count(*) FROM scan_filter_s WHERE 100 / i2 > 3;
SELECT count(*) FROM scan_filter_s WHERE t LIKE 'k1%' AND substr(t, 2)::int > 11;

DROP SEQUENCE scan_filter_seq;
DROP VIEW scan_filter_differences;
DROP FUNCTION scan_filter_same;
DROP TABLE scan_filter_h, scan_filter_s, scan_predicate;
DROP TYPE scan_mood;
