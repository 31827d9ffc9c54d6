-- export_batches(), import_batches(): rows of both halves to another table, by units of bytes.
SET timezone = 'UTC';
SET client_min_messages = warning;
CREATE SCHEMA ship;
SET search_path = ship, public;
CREATE FUNCTION differs(a regclass, b regclass, columns text DEFAULT 'ts, host, f4, f8, n, n2, i2, i8, b, c, d, t, iv, u, by, v, bp, j,
	o, money, m, p, arr, marr, r, js::text, ip, ttz, tsv, dom, added') RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
	-- as text, too: -0 and 1.0 have their looks
	EXECUTE format('WITH one AS (SELECT %3$s FROM %1$s), two AS (SELECT %3$s FROM %2$s), t1 AS (SELECT one::text FROM one), t2 AS (SELECT two::text FROM two)
		SELECT (SELECT count(*) FROM ((TABLE one EXCEPT ALL TABLE two) UNION ALL (TABLE two EXCEPT ALL TABLE one)) AS d) +
			(SELECT count(*) FROM ((TABLE t1 EXCEPT ALL TABLE t2) UNION ALL (TABLE t2 EXCEPT ALL TABLE t1)) AS d)', a, b, columns) INTO n;
	RETURN n;
END $$;
CREATE FUNCTION fails(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE hint text; detail text;
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN others THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT, detail = PG_EXCEPTION_DETAIL;
	RETURN SQLSTATE || ' ' || SQLERRM || coalesce(E'\n' || nullif(detail, ''), '') || coalesce(E'\n' || nullif(hint, ''), '');
END $$;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
CREATE TABLE src (gone int, ts timestamptz NOT NULL, host text, f4 float4, f8 float8, n numeric, n2 numeric(10,2), i2 int2, i8 int8,
	b bool, c "char", d date, t time, iv interval, u uuid, by bytea, v varchar(40), bp char(8), j jsonb, o oid, money money,
	m mood, p pair, arr int[], marr mood[], r int4range, js json, ip inet, ttz timetz, tsv tsvector, dom positive);
ALTER TABLE src DROP COLUMN gone;
SELECT 1 FROM create_hypertable('src', 'ts', chunk_time_interval => interval '6 hours');
ALTER TABLE src SET (strata.segmentby = 'host, m', strata.orderby = 'ts DESC');
INSERT INTO src SELECT '2026-01-01'::timestamptz + i * interval '20 s', CASE WHEN i % 8 > 0 THEN 'host ' || i % 8 END,
	CASE i % 7 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' WHEN 2 THEN '-0' ELSE i / 3.0 END,
	CASE i % 5 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN 'infinity' WHEN 3 THEN NULL ELSE i / 3.0 END,
	CASE i % 6 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' WHEN 2 THEN 1.000 WHEN 3 THEN 1e200 WHEN 4 THEN -1e-30 ELSE i::numeric / 7 END,
	i / 8.0, i % 1000, i * 1000003::int8, i % 3 = 0, chr(65 + i % 20)::"char", '2026-01-01'::date + i % 9, time '00:00' + i * interval '1 s',
	make_interval(months => i % 3, days => i, secs => i / 10.0), md5(i::text)::uuid, decode(md5(i::text), 'hex'),
	left(md5(i::text), i % 40), 'é' || i % 30, jsonb_build_object('i', i, 'x', repeat('ü', i % 40), 'a', jsonb_build_array(1, NULL, true, i / 10.0)), i, i / 100.0,
	(ARRAY['sad', 'ok', 'happy', NULL])[1 + i % 4]::mood, CASE WHEN i % 9 > 0 THEN ROW(i, 'x "' || i)::pair END,
	CASE WHEN i % 10 > 0 THEN ARRAY[i, NULL, i + 1] END, ARRAY['sad', 'happy']::mood[], int4range(i, i + 10),
	CASE WHEN i % 4 > 0 THEN '{"i":  1}'::json END, ('10.0.' || i % 200 || '.1')::inet, '12:00+02', to_tsvector('simple', 'word ' || i % 50), 1 + i % 5
	FROM generate_series(0, 4799) AS i;
SELECT count(compress_chunk(c)) FROM (SELECT c FROM show_chunks('src') AS c ORDER BY c::text LIMIT 3) AS old;
-- changed and deleted rows, a column that batches have not got, late rows, giants
DELETE FROM src WHERE ts < '2026-01-01 01:00' AND host = 'host 3';
DELETE FROM src WHERE host = 'host 5' AND m = 'ok' AND ts < '2026-01-01 06:00';
UPDATE src SET i2 = -1 WHERE ts BETWEEN '2026-01-01 07:00' AND '2026-01-01 07:10';
ALTER TABLE src ADD COLUMN added text DEFAULT 'added';
INSERT INTO src (ts, host, by) SELECT '2026-01-01 00:00:01', 'giant', string_agg(decode(md5(i::text), 'hex'), '') FROM generate_series(1, 100000) AS i;

-- every row once, in one snapshot, under one name; batches come as they are
SELECT kind, count(*) > 0 AS some, sum(rows) FROM strata.export_batches('src') GROUP BY kind ORDER BY kind;
SELECT count(DISTINCT export), min(seq), max(seq) = count(*) AS dense FROM strata.export_batches('src');
CREATE TABLE inbox AS SELECT * FROM strata.export_batches('src');
ALTER TABLE inbox ALTER COLUMN unit SET STORAGE EXTERNAL;
-- other order of columns, other settings, columns with defaults, generated ones
CREATE TABLE dst (id bigint GENERATED ALWAYS AS IDENTITY, twice int8 GENERATED ALWAYS AS (i8 * 2) STORED, LIKE src, why text DEFAULT 'import');
ALTER TABLE dst DROP COLUMN f8;
ALTER TABLE dst ADD COLUMN f8 float8;
SELECT 1 FROM create_hypertable('dst', 'ts', chunk_time_interval => interval '10 hours');
ALTER TABLE dst SET (strata.segmentby = 'host', strata.orderby = 'ts');
CALL strata.import_batches('dst', 'inbox', 20);
SELECT differs('src', 'dst'), count(*), count(DISTINCT id), sum(twice) = sum(2 * i8) AS generated, min(why) FROM dst;
SELECT * FROM strata.verify('dst');
-- what was in batches is, unless direct load is off
SELECT current_setting('strata.enable_direct_load') = 'off'
    OR (SELECT sum(batches) > 0 FROM strata.tables WHERE relation::text LIKE 'dst%') AS batches;
-- once more: nothing comes twice
CALL strata.import_batches('dst', 'inbox');
SELECT relation, units = units_in_all AS all_units, rows, rows_in_all, complete FROM strata.imports;
-- another export of the same rows
CREATE TABLE other AS SELECT * FROM strata.export_batches('src', '2026-01-01 03:00', '2026-01-01 08:00');
SELECT regexp_replace(fails($$CALL strata.import_batches('dst', 'other')$$), '[0-9a-f-]{36}', 'NAME', 'g');
SELECT strata.forget_import('dst', (SELECT export FROM inbox LIMIT 1)), strata.forget_import('dst');
DELETE FROM dst WHERE ts >= '2026-01-01 03:00' AND ts < '2026-01-01 08:00';
CALL strata.import_batches('dst', 'other');
SELECT differs('src', 'dst');
-- parts: bounds, columns, chunks; batches across a bound are cut
TRUNCATE inbox;
SELECT strata.forget_import('dst');
TRUNCATE dst;
INSERT INTO inbox SELECT * FROM strata.export_batches('src', NULL, '2026-01-01 05:00');
INSERT INTO inbox SELECT * FROM strata.export_batches('src', '2026-01-01 05:00', '2026-01-01 13:30');
INSERT INTO inbox SELECT * FROM strata.export_batches('src', '2026-01-01 13:30');
CALL strata.import_batches('dst', 'inbox', 0);
SELECT differs('src', 'dst'), (SELECT count(*) FROM strata.imports) AS imports;
CREATE TABLE few (host text, ts timestamptz, b bool DEFAULT true);
CREATE TABLE other2 AS SELECT * FROM strata.export_batches('src', columns => '{ts,host}');
CALL strata.import_batches('few', 'other2');
SELECT differs('src', 'few', 'ts, host'), bool_and(b) AS defaults FROM few;
-- a unit lost, units twice, the rest later, in any order
CREATE TABLE part (LIKE src) USING strata;
CREATE TABLE parts (LIKE inbox);
INSERT INTO parts SELECT * FROM inbox WHERE seq % 3 = 0 ORDER BY seq DESC;
INSERT INTO parts SELECT * FROM parts;
SET client_min_messages = error;
CALL strata.import_batches('part', 'parts', 7);
SET client_min_messages = warning;
SELECT count(*) = (SELECT sum(rows) FROM inbox WHERE seq % 3 = 0) AS these FROM part;
SELECT bool_or(complete) FROM strata.imports WHERE relation = 'part'::regclass;
INSERT INTO parts SELECT * FROM inbox;
CALL strata.import_batches('part', 'parts', 5);
SELECT differs('src', 'part'), (SELECT bool_and(complete) FROM strata.imports WHERE relation = 'part'::regclass) AS complete;
-- from a view or a function's rows: one transaction; within a transaction block, too
CREATE VIEW outgoing AS SELECT * FROM strata.export_batches('src');
CREATE TABLE straight (LIKE src) USING strata;
ALTER TABLE straight SET (strata.segmentby = 'host', strata.orderby = 'ts');
BEGIN;
CALL strata.import_batches('straight', 'outgoing');
SELECT differs('src', 'straight');
ROLLBACK;
SELECT count(*), (SELECT count(*) FROM strata.imports WHERE relation = 'straight'::regclass) AS imports FROM straight;
CALL strata.import_batches('straight', 'outgoing');
SELECT differs('src', 'straight');
-- an export goes on in its snapshot, and not in another
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) AS rest, min(seq) FROM strata.export_batches('src', after => (SELECT max(seq) - 3 FROM strata.export_batches('src')));
SELECT count(DISTINCT export) FROM (SELECT export FROM strata.export_batches('src') UNION ALL SELECT export FROM strata.export_batches('src', after => 5)) AS e;
SELECT count(*) FROM (SELECT * FROM strata.export_batches('src') LIMIT 2) AS two;
SELECT count(DISTINCT export) FROM (SELECT export FROM strata.export_batches('src') UNION ALL SELECT export FROM strata.export_batches('src', '2026-01-01')) AS e;
COMMIT;
SELECT count(DISTINCT export) FROM (SELECT export FROM strata.export_batches('src') UNION ALL SELECT export FROM inbox) AS e;

-- constraints, keys, triggers, domains: as INSERT has them
CREATE TABLE strict (LIKE src, CHECK (i2 < 900)) USING strata;
SELECT fails($$CALL strata.import_batches('strict', 'inbox')$$) ~ '^23514 ' AS check_violated;
ALTER TABLE strict DROP CONSTRAINT strict_i2_check;
CREATE UNIQUE INDEX ON strict (ts, host);
CALL strata.import_batches('strict', 'inbox');
SELECT differs('src', 'strict');
SELECT strata.forget_import('strict') > 0;
SELECT fails($$CALL strata.import_batches('strict', 'inbox')$$) ~ '^23505 ' AS key_violated;
TRUNCATE strict;
ALTER TABLE strict ALTER COLUMN n SET NOT NULL;
SELECT fails($$CALL strata.import_batches('strict', 'inbox')$$) ~ '^23502 ' AS not_null_violated;
CREATE DOMAIN small AS int2 CHECK (VALUE < 500);
CREATE TABLE domains (ts timestamptz, i2 small);
CREATE TABLE i2s AS SELECT * FROM strata.export_batches('src', columns => '{ts,i2}');
SELECT fails($$CALL strata.import_batches('domains', 'i2s')$$);
CREATE TABLE noted (ts timestamptz, i2 int2, note text) USING strata;
CREATE FUNCTION take_note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.note := 'seen ' || NEW.i2; RETURN CASE WHEN NEW.i2 % 2 = 0 THEN NEW END; END $$;
CREATE TRIGGER note BEFORE INSERT ON noted FOR EACH ROW EXECUTE FUNCTION take_note();
CALL strata.import_batches('noted', 'i2s');
SELECT count(*) = (SELECT count(*) FROM src WHERE i2 % 2 = 0) AS even, bool_and(note = 'seen ' || i2) AS noted FROM noted;
-- what does not fit
CREATE TABLE wrong (ts timestamptz, i2 int4);
SELECT fails($$CALL strata.import_batches('wrong', 'i2s')$$);
ALTER TABLE wrong DROP COLUMN i2;
SELECT fails($$CALL strata.import_batches('wrong', 'i2s')$$);
ALTER TABLE wrong ADD COLUMN i2 int2 GENERATED ALWAYS AS (1) STORED;
SELECT fails($$CALL strata.import_batches('wrong', 'i2s')$$);
CREATE TABLE others AS SELECT * FROM strata.export_batches('src', columns => '{m,n2,p}');
CREATE TYPE mood2 AS ENUM ('sad', 'ok');
CREATE TABLE typed (m mood2, n2 numeric(10,2), p pair);
SELECT fails($$CALL strata.import_batches('typed', 'others')$$);
ALTER TABLE typed ALTER COLUMN m TYPE mood USING NULL, ALTER COLUMN n2 TYPE numeric(8,1);
SELECT fails($$CALL strata.import_batches('typed', 'others')$$);
SELECT fails($$CALL strata.import_batches('src', 'few')$$);
SELECT fails($$CALL strata.import_batches('src', 'inbox', -1)$$);
SELECT fails($$CALL strata.import_batches(NULL, 'inbox')$$);
SELECT fails($$SELECT * FROM strata.export_batches('outgoing')$$);
SELECT fails($$SELECT * FROM strata.export_batches('src', columns => '{nothing}')$$);
SELECT fails($$SELECT * FROM strata.export_batches('dst', columns => '{twice}')$$);
SELECT fails($$SELECT * FROM strata.export_batches('src', '2026-02-01', '2026-01-01')$$);
SELECT fails($$SELECT * FROM strata.export_batches('few', '2026-02-01')$$);
SELECT fails($$SELECT * FROM strata.export_batches('src', 'yesterday morning')$$);
-- an empty table, and one of no rows in these times
CREATE TABLE empty (ts timestamptz NOT NULL, i2 int2) USING strata;
CREATE TABLE nothing AS SELECT * FROM strata.export_batches('empty');
SELECT seq, kind, rows FROM nothing;
CALL strata.import_batches('wrong', 'nothing');
SELECT units, units_in_all, rows_in_all, complete FROM strata.imports WHERE relation = 'wrong'::regclass;
SELECT kind, rows FROM strata.export_batches('src', '2030-01-01');
-- bytes that are no unit
SELECT fails($$SELECT * FROM _strata.unit_rows('\x00', 0) AS r (a int)$$);
SELECT fails($$SELECT * FROM _strata.unit_rows('', 0) AS r (a int)$$);
SELECT fails(format($$SELECT * FROM _strata.unit_rows(%L, 0) AS r (ts timestamptz)$$, set_byte(unit, 100, get_byte(unit, 100) # 1))) FROM i2s LIMIT 1;
SELECT fails(format($$SELECT * FROM _strata.unit_rows(%L, 0) AS r (ts text)$$, unit)) FROM i2s LIMIT 1;
SELECT fails(format($$SELECT * FROM _strata.unit_rows(%L, 0) AS r (nothing text)$$, unit)) FROM i2s LIMIT 1;
SELECT fails(format($$SELECT * FROM _strata.unit_rows(%L, 1) AS r (ts timestamptz)$$, unit)) FROM i2s LIMIT 1;
SELECT * FROM _strata.unit_rows(NULL, 0) AS r (a int);
SELECT count(*) FROM i2s, LATERAL _strata.unit_rows(unit, 0) AS r (i2 int2);
-- views owe no order: the end may come first, and no unit at all
CREATE TABLE inbox2 AS SELECT export, seq, unit FROM strata.export_batches('src', columns => '{ts,i2}');
CREATE VIEW backwards AS SELECT NULL::bytea AS unit UNION ALL (SELECT unit FROM inbox2 ORDER BY seq DESC);
CREATE VIEW only_end AS SELECT unit FROM inbox2 WHERE seq = (SELECT max(seq) FROM inbox2);
CREATE TABLE from_view (ts timestamptz, i2 int2);
CREATE TABLE from_end (LIKE from_view);
CALL strata.import_batches('from_view', 'backwards');
SELECT count(*) = (SELECT count(*) FROM src) AS all_rows FROM from_view;
SET client_min_messages = error;
CALL strata.import_batches('from_end', 'only_end');
RESET client_min_messages;
SELECT count(*) FROM from_end;
DROP TABLE from_view, from_end;
DROP VIEW backwards, only_end;
DROP TABLE inbox2;
-- privileges: SELECT on what is exported, INSERT, no row security
CREATE ROLE ship_reader;
GRANT ship_reader TO CURRENT_USER;
GRANT USAGE ON SCHEMA ship TO ship_reader;
GRANT SELECT (ts, i2) ON src TO ship_reader;
GRANT SELECT ON i2s TO ship_reader;
GRANT INSERT (ts) ON noted TO ship_reader;
SET ROLE ship_reader;
SELECT SQLSTATE FROM (SELECT left(ship.fails('SELECT * FROM strata.export_batches(''src'')'), 5)) AS e (sqlstate);
SELECT sum(rows) FROM strata.export_batches('src', columns => '{ts,i2}');
SELECT ship.fails($$CALL strata.import_batches('noted', 'i2s')$$);
SELECT ship.fails($$CALL strata.import_batches('few', 'i2s')$$);
SELECT ship.fails($$SELECT strata.forget_import('noted')$$);
SELECT count(*) FROM strata.imports;
SELECT ship.fails('INSERT INTO _strata.import SELECT');
RESET ROLE;
GRANT INSERT ON noted TO ship_reader;
ALTER TABLE src ENABLE ROW LEVEL SECURITY;
CREATE POLICY visible ON src TO ship_reader USING (host = 'host 1');
SET ROLE ship_reader;
SELECT ship.fails($$SELECT * FROM strata.export_batches('src', columns => '{ts,i2}')$$);
RESET ROLE;
-- goes on after another scan has read a part; a document's number that looks like NaN is damage
CREATE TABLE long_rows (id int, pad text) USING strata;
ALTER TABLE long_rows ALTER pad SET STORAGE PLAIN;
INSERT INTO long_rows SELECT i, repeat('x', 7000) FROM generate_series(1, 12000) i;
CREATE TABLE long_units AS SELECT * FROM strata.export_batches('long_rows', columns => '{id}') LIMIT 0;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM (SELECT id FROM long_rows LIMIT 7000) x;
INSERT INTO long_units SELECT * FROM strata.export_batches('long_rows', columns => '{id}') LIMIT 1;
COMMIT;
SELECT min(x.id), max(x.id) FROM long_units u, _strata.unit_rows(u.unit, 0) AS x(id int) HAVING count(*) > 0;
SELECT ship.fails($$SELECT j FROM _strata.unit_rows('\x5374725501726ccb4ac8f68e8fc3275ef83aab60e297e3ae044b0b000000000000000136cfa58bb3ab822a0000000000000000000000000000000000000104555446380001016a7600000edaffffffff000000130102038dac92130101000050030000100700c0', 0) AS x(j jsonb)$$);
DROP TABLE long_rows, long_units;
-- texts mean the same in every session: names of objects and types, amounts of money
CREATE TABLE names (id int, about regclass, abouts regclass[], types regtype[], amounts money[]) USING strata;
INSERT INTO names SELECT i, 'src', '{src,pg_class}', '{mood,int4}', ARRAY[1234.5::numeric::money] FROM generate_series(1, 2000) i;
SELECT compress_chunk('names') IS NOT NULL;
CREATE TABLE names_units AS SELECT * FROM strata.export_batches('names');
CREATE TABLE names_in (LIKE names) USING strata;
SET search_path = public, pg_catalog;
CREATE TABLE public.pg_class (a int);
CALL strata.import_batches('ship.names_in', 'ship.names_units');
DROP TABLE public.pg_class;
SET search_path = ship, public;
SELECT differs('names', 'names_in', 'id, about, abouts, types, amounts');
-- a table that is gone is forgotten
DROP TABLE part;
CREATE TABLE anew (ts timestamptz, i2 int2);
CALL strata.import_batches('anew', 'i2s');
SET ROLE postgres;
SELECT count(*) FROM _strata.import i WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = i.relation);
RESET ROLE;
DROP SCHEMA ship CASCADE;
DROP ROLE ship_reader;
