-- Only what we have made is a companion, and only superusers can write one: of
-- temporary tables too, and whatever rights a role has been given.
-- needs superuser: it writes into companions throughout, and takes the roles of others itself
SET client_min_messages = error;
\set VERBOSITY terse
SET strata.batch_rows = 100;
CREATE SCHEMA comp;
SET search_path = comp, public;
CREATE ROLE comp_owner;
CREATE ROLE comp_all;
GRANT pg_read_all_data, pg_write_all_data TO comp_all;
GRANT ALL ON SCHEMA comp TO PUBLIC;
CREATE FUNCTION refused(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN EXECUTE command; RETURN 'DONE';
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE; END $$;
-- the name of rel's companion, be there one or not
CREATE FUNCTION companion_name(rel regclass) RETURNS text LANGUAGE sql AS
    $$ SELECT format('%s.batch_0_%s', CASE relpersistence WHEN 't' THEN 'pg_temp' ELSE '_strata' END, pg_relation_filenode(rel)) FROM pg_class WHERE oid = rel $$;
CREATE TABLE others AS SELECT oid FROM pg_class;
GRANT SELECT ON others TO PUBLIC;
CREATE FUNCTION companions() RETURNS bigint LANGUAGE sql AS
    $$ SELECT count(*) FROM pg_class c WHERE relname ~ '^batch_[0-9]+_[0-9]+$' AND relkind = 'r' AND NOT EXISTS (SELECT FROM others o WHERE o.oid = c.oid) $$;

-- a temporary table's companion is not its owner's
SET ROLE comp_owner;
CREATE TEMP TABLE tt (id int, k text, b bytea) USING strata WITH (strata.segmentby = 'k', strata.orderby = 'id');
INSERT INTO tt SELECT i, 'k' || i % 3, decode(repeat(md5(i::text), 10), 'hex') FROM generate_series(1, 1000) i;
SELECT compress_chunk('tt');
SELECT relowner::regrole = (SELECT extowner::regrole FROM pg_extension WHERE extname = 'strata') AS of_the_extension, relrowsecurity
    FROM pg_class WHERE oid = strata.batch_relation('tt');
SELECT c, refused(format(c, companion_name('tt'))) FROM unnest(array['SELECT * FROM %s', 'DELETE FROM %s', 'UPDATE %s SET nrows = 1', 'INSERT INTO %s TABLE %1$s',
    'COPY %s TO ''/dev/null''', 'TRUNCATE %s', 'DROP TABLE %s', 'ALTER TABLE %s ADD x int', 'ALTER TABLE %s RENAME TO mine', 'ALTER TABLE %s OWNER TO CURRENT_USER', 'ALTER TABLE %s DISABLE ROW LEVEL SECURITY',
    'ALTER TABLE %s ALTER col_3 SET STORAGE PLAIN', 'CREATE INDEX ON %s (nrows)', 'CREATE TRIGGER x BEFORE INSERT ON %s EXECUTE FUNCTION suppress_redundant_updates_trigger()',
    'CREATE RULE x AS ON INSERT TO %s DO NOTHING', 'CREATE POLICY x ON %s', 'CREATE TEMP TABLE x () INHERITS (%s)', 'CREATE STATISTICS x ON nrows, layout FROM %s',
    'GRANT ALL ON %s TO CURRENT_USER', 'LOCK TABLE %s', 'CREATE TABLE x (LIKE %s)', 'COMMENT ON TABLE %s IS ''mine''', 'CLUSTER %s USING x']) c;
SELECT refused(format('ALTER INDEX pg_temp.%I RENAME TO x', relname)) FROM pg_class WHERE oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = strata.batch_relation('tt')) ORDER BY relname LIMIT 1;
SELECT refused('DROP SCHEMA ' || relnamespace::regnamespace) FROM pg_class WHERE oid = 'tt'::regclass;
SELECT count(*), sum(id), sum(length(b)) FROM tt WHERE k = 'k1';

-- nor does a role that may read and write all data get at it, or at what is known of its columns
RESET ROLE;
CREATE TABLE st (id int, k text, b text) USING strata WITH (strata.segmentby = 'k', strata.orderby = 'id');
ALTER TABLE st OWNER TO comp_owner;
INSERT INTO st SELECT i, 'k' || i % 3, (SELECT string_agg(md5(i::text || j), '') FROM generate_series(1, 20) j) FROM generate_series(1, 1000) i;
SELECT compress_chunk('st');
SELECT format('ANALYZE %s', companion_name('st')) AS analyze \gset
:analyze;
SELECT count(*) > 0 AS statistics FROM pg_stats WHERE schemaname = '_strata' AND tablename LIKE 'batch%';
SELECT reltoastrelid::regclass AS toast FROM pg_class WHERE oid = strata.batch_relation('st') \gset
SELECT reltoastrelid::regclass AS temp_toast FROM pg_class WHERE oid = strata.batch_relation('tt') \gset
CREATE TABLE probe (c text);
INSERT INTO probe VALUES ('SELECT * FROM %s'), ('TABLE %s'), ('SELECT 1 FROM %s FOR UPDATE'), ('EXPLAIN SELECT 1 FROM %s'), ('COPY %s TO ''/dev/null'''), ('DELETE FROM %s'), ('TRUNCATE %s'),
    ('COPY %s FROM ''/dev/null'''), ('INSERT INTO %s TABLE %1$s'), ('UPDATE %s SET nrows = 1'), ('SELECT seg_2 FROM %s WHERE nrows > 0'), ('CREATE TEMP TABLE mine AS TABLE %s'),
    ('MERGE INTO %s USING (SELECT 1) x ON false WHEN NOT MATCHED THEN DO NOTHING'), ('SELECT count(*) FROM %s TABLESAMPLE SYSTEM (100)'), ('DO $$ BEGIN PERFORM 1 FROM %s; END $$');
CREATE TABLE target AS SELECT n, n ~ 'toast' AS is_toast FROM unnest(array[companion_name('st'), companion_name('tt'), :'toast', :'temp_toast']) n;
CREATE VIEW probes AS SELECT c, is_toast, refused(format(c, n)) FROM probe, target WHERE NOT is_toast OR c !~ 'nrows|SAMPLE|MERGE|FOR UPDATE|TRUNCATE';
ALTER ROLE comp_all BYPASSRLS;
GRANT pg_read_server_files, pg_write_server_files TO comp_all;
SELECT format('CREATE VIEW behind AS SELECT nrows FROM %s', companion_name('st')) AS view \gset
SET ROLE comp_all;
SELECT count(*) FROM st;
SELECT is_toast, refused, count(*), array_agg(DISTINCT c) FILTER (WHERE refused <> '42501') AS others FROM probes GROUP BY 1, 2 ORDER BY 1, 2;
:view;
SELECT refused('TABLE behind');
RESET ROLE;
ALTER ROLE comp_all NOBYPASSRLS;
SET ROLE comp_all;
SELECT is_toast, refused, count(*), array_agg(DISTINCT c) FILTER (WHERE refused <> '42501') AS others FROM probes GROUP BY 1, 2 ORDER BY 1, 2;
SELECT count(*) FROM pg_stats WHERE schemaname = '_strata' AND tablename LIKE 'batch%';
RESET ROLE;
DROP TABLE st, probe, target CASCADE;

-- ... whose owner needs nothing of it
SET ROLE comp_owner;
ALTER TABLE tt ADD n int DEFAULT 7;
INSERT INTO tt SELECT i, 'k' || i % 3, '\x00', i FROM generate_series(1001, 1500) i;
SELECT compress_chunk('tt');
ALTER TABLE tt SET (strata.segmentby = 'n', strata.orderby = 'k, id');
INSERT INTO tt SELECT i, 'k' || i % 3, '\x01', 9 FROM generate_series(1501, 2000) i;
SELECT compress_chunk('tt');
SELECT n > 7 AS given, count(*) FROM tt GROUP BY 1 ORDER BY 1;
ALTER TABLE tt ADD m text DEFAULT 'm';
VACUUM FULL tt;
UPDATE tt SET m = 'u' WHERE id = 77;
DELETE FROM tt WHERE id = 78;
SELECT m, count(*) FROM tt GROUP BY m ORDER BY m;
CREATE INDEX tt_id ON tt (id);
CLUSTER tt USING tt_id;
SELECT compress_chunk('tt', recompress => true);
VACUUM ANALYZE tt;
SELECT count(*), min(m) FROM tt WHERE k = 'k1';
SELECT count(*) FROM strata.verify('tt');
ALTER TABLE tt ALTER id TYPE bigint;
SELECT companions(), count(*) FROM tt;
SELECT compress_chunk('tt');
ALTER TABLE tt SET ACCESS METHOD heap;
SELECT companions(), count(*) FROM tt;
ALTER TABLE tt SET ACCESS METHOD strata;
SELECT compress_chunk('tt');
SELECT companions(), count(*) FROM tt;
TRUNCATE tt;
SELECT companions(), count(*) FROM tt;
INSERT INTO tt (id) SELECT generate_series(1, 300);
SELECT compress_chunk('tt');
DROP TABLE tt;
SELECT companions();
CREATE TEMP TABLE td (id int) USING strata ON COMMIT DELETE ROWS;
BEGIN;
INSERT INTO td SELECT generate_series(1, 300);
SELECT compress_chunk('td');
SELECT count(*) FROM td;
COMMIT;
SELECT count(*) FROM td;
BEGIN;
INSERT INTO td SELECT generate_series(1, 200);
SELECT compress_chunk('td');
SELECT count(*) FROM td;
ROLLBACK;
SELECT count(*) FROM td;
BEGIN;
CREATE TEMP TABLE te (id int) USING strata ON COMMIT DROP;
INSERT INTO te SELECT generate_series(1, 300);
SELECT compress_chunk('te');
COMMIT;
DROP TABLE td;
SELECT companions();
CREATE TEMP TABLE tt (id int) USING strata;
INSERT INTO tt SELECT generate_series(1, 300);
SELECT compress_chunk('tt');
DISCARD TEMP;
SELECT companions();
CREATE TEMP TABLE tt (id int) USING strata;
INSERT INTO tt SELECT generate_series(1, 300);
SELECT compress_chunk('tt');
RESET ROLE;
ALTER TABLE tt OWNER TO comp_all;
SELECT relowner::regrole = (SELECT extowner::regrole FROM pg_extension WHERE extname = 'strata') AS of_the_extension FROM pg_class WHERE oid = strata.batch_relation('tt');
SET ROLE comp_all;
INSERT INTO tt SELECT generate_series(301, 600);
SELECT compress_chunk('tt', recompress => true);
SELECT count(*) FROM tt;
RESET ROLE;
DROP OWNED BY comp_all;
SELECT companions();
GRANT ALL ON SCHEMA comp TO PUBLIC;

-- a table of the companion's name in pg_temp is none
SET ROLE comp_owner;
CREATE TEMP TABLE tt (id int, a text[]) USING strata WITH (strata.orderby = 'id');
INSERT INTO tt SELECT i, array['a', 'b'] FROM generate_series(1, 300) i;
SELECT format('CREATE TEMP TABLE %I (first_row int8, nrows int4, layout text COLLATE "C", summary bytea, entry bytea, min_1 int, max_1 int, span_1 int2, col_1 strata.compressed, col_2 strata.compressed)', split_part(companion_name('tt'), '.', 2)) AS make \gset
:make;
SELECT strata.batch_relation('tt') IS NULL AS no_companion, count(*), sum(id), min(a::text) FROM tt;
SELECT refused($$SELECT compress_chunk('tt')$$);
SELECT count(*) FROM tt WHERE id = 7;
TRUNCATE tt;
INSERT INTO tt SELECT i, array['a', 'b'] FROM generate_series(1, 300) i;
SELECT companions();
SELECT format('CREATE TEMP TABLE %I (first_row int8)', split_part(companion_name('tt'), '.', 2)) AS make \gset
:make;
DROP TABLE tt;
SELECT companions();
DISCARD TEMP;
RESET ROLE;

-- nor is one in our schema, which only a superuser can make: but it might be a companion that lost its mark
CREATE TABLE st (id int, v int) USING strata;
ALTER TABLE st OWNER TO comp_owner;
INSERT INTO st SELECT i, i FROM generate_series(1, 300) i;
SELECT format('CREATE TABLE %s (first_row int8)', companion_name('st')) AS make, format('DROP TABLE %s', companion_name('st')) AS unmake \gset
:make;
SELECT refused('SELECT count(*) FROM st'), refused('INSERT INTO st VALUES (1)');
SELECT companion_name('st') AS squatter \gset
DROP TABLE st;
SELECT companions();
DROP TABLE :squatter;
CREATE TABLE st (id int, v int) USING strata;
ALTER TABLE st OWNER TO comp_owner;
INSERT INTO st SELECT i, i FROM generate_series(1, 300) i;
SELECT compress_chunk('st');
SELECT format('ALTER EXTENSION strata DROP TABLE %s', companion_name('st')) AS lose, format('ALTER EXTENSION strata ADD TABLE %s', companion_name('st')) AS find \gset
:lose;
\c -
SET client_min_messages = error;
\set VERBOSITY terse
SET strata.batch_rows = 100;
SET search_path = comp, public;
SELECT refused('SELECT count(*) FROM st'), refused('SELECT * FROM st WHERE id = 1'), refused('UPDATE st SET v = 0'), refused('VACUUM FULL st'), refused($$SELECT compress_chunk('st')$$);
:find;
SELECT count(*) FROM st;
SELECT format('ALTER TABLE %s OWNER TO comp_owner', companion_name('st')) AS give, format('ALTER TABLE %s OWNER TO CURRENT_USER', companion_name('st')) AS take \gset
:give;
SELECT refused('SELECT count(*) FROM st'), refused('SELECT * FROM st WHERE id = 1'), refused('DELETE FROM st');
:take;
SELECT count(*) FROM st;

-- a table whose name is like a companion's is dropped with its own
ALTER TABLE st RENAME TO batch_mine;
DROP TABLE batch_mine;
SELECT companions();

-- code of the table's owner is never run as the companion's: defaults and constraints of domains
SET ROLE comp_owner;
CREATE TABLE log (line text);
CREATE FUNCTION who(t text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN IF current_user <> 'comp_owner' THEN INSERT INTO comp.log VALUES (current_user); END IF; RETURN 'x'; END $$;
CREATE DOMAIN d AS text DEFAULT who('') CHECK (who(VALUE) = 'x');
CREATE DOMAIN dd AS d;
CREATE TABLE st (id int, k d, l dd, n int) USING strata;
INSERT INTO st SELECT i, 'k' || i % 3, 'l', i FROM generate_series(1, 300) i;
SELECT compress_chunk('st');
RESET ROLE;
ALTER TABLE st SET (strata.segmentby = 'k', strata.orderby = 'l, n');
SET ROLE comp_owner;
INSERT INTO st SELECT i, 'k' || i % 3, 'l', i FROM generate_series(301, 600) i;
RESET ROLE;
SELECT compress_chunk('st', recompress => true);
SET ROLE comp_owner;
ALTER TABLE st ADD e d, ADD f dd DEFAULT 'f';
RESET ROLE;
SELECT compress_chunk('st');
VACUUM FULL st;
SELECT count(*), min(k), max(l), min(e) FROM st WHERE k = 'k1' AND l = 'l';
SELECT count(*) FROM strata.verify('st');
SELECT * FROM log;
DROP TABLE st;

DROP OWNED BY comp_owner;
SELECT companions();

-- a batch is of one table, and its columns are of one type
CREATE TABLE cb (id int, x bytea) USING strata WITH (strata.orderby = 'id');
CREATE TABLE ca (LIKE cb) USING strata WITH (strata.orderby = 'id');
CREATE TABLE ct (id int, x text[]) USING strata WITH (strata.orderby = 'id');
CREATE TABLE cj (id int, x jsonb) USING strata WITH (strata.orderby = 'id');
CREATE TABLE cn (id date, x numeric) USING strata WITH (strata.orderby = 'id');
INSERT INTO cb SELECT i, decode(md5(i::text), 'hex') FROM generate_series(1, 250) i;
INSERT INTO ca SELECT i, decode(md5(i::text), 'hex') FROM generate_series(1, 250) i;
INSERT INTO ct SELECT i, array[i::text] FROM generate_series(1, 250) i;
INSERT INTO cj SELECT i, jsonb_build_object('a', i) FROM generate_series(1, 250) i;
INSERT INTO cn SELECT '2026-01-01'::date + i, i / 10.0 FROM generate_series(1, 250) i;
SELECT count(compress_chunk(t)) FROM unnest(array['cb', 'ca', 'ct', 'cj', 'cn']::regclass[]) t;
-- what a statement says after `from`'s batches, or one column of theirs, were put into those of `into`
CREATE FUNCTION copied(source regclass, target regclass, whole bool, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
    said text;
BEGIN
    IF whole THEN
        EXECUTE format('CREATE TABLE held AS TABLE %s', strata.batch_relation(source));
        EXECUTE format('DELETE FROM %s', strata.batch_relation(target));
        EXECUTE format('INSERT INTO %s TABLE held', strata.batch_relation(target));
    ELSE
        EXECUTE format('UPDATE %s t SET col_2 = s.col_2 FROM %s s WHERE s.first_row = t.first_row', strata.batch_relation(target), strata.batch_relation(source));
    END IF;
    BEGIN
        EXECUTE format(statement, target) INTO n;
        said := coalesce(n || ' rows', 'nothing');
    EXCEPTION WHEN OTHERS THEN
        said := SQLSTATE;
    END;
    RAISE EXCEPTION USING ERRCODE = 'ZZ000', MESSAGE = said;
EXCEPTION WHEN SQLSTATE 'ZZ000' THEN
    RETURN SQLERRM;
END $$;
SELECT s AS source, t AS target, whole, string_agg(DISTINCT copied(s, t, whole, statement), ',') AS said
    FROM unnest(array['cb', 'ca', 'ct', 'cj']::regclass[]) s, unnest(array['cb', 'ca', 'ct', 'cj']::regclass[]) t, unnest(array[true, false]) whole,
         unnest(array['SELECT count(x::text) FROM %s', 'SELECT count(*) FROM strata.verify(%L) HAVING count(*) = 0', 'SELECT length(x::text) FROM %s WHERE id = 7',
                      'SELECT 1 FROM decompress_chunk(%L)', 'DELETE FROM %s WHERE id = 7 RETURNING length(x::text)']) statement
    WHERE s <> t GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SELECT t, copied(t, t, true, 'SELECT count(x::text) FROM %s') FROM unnest(array['cb', 'ca', 'ct', 'cj']::regclass[]) t;
-- (nothing: strata.verify() finds something)

-- ALTER TYPE keeps batches where it keeps heap's rows, whatever they were before
SET timezone = 'UTC';
CREATE DOMAIN dom AS varchar(20);
CREATE TYPE mood AS ENUM ('bad', 'good');
CREATE TABLE al (id int, a int, b varchar(10), c cidr, d timestamp, e dom, f bit varying(9), g xml, h int[], i mood) USING strata WITH (strata.orderby = 'id');
INSERT INTO al SELECT i, i, 'v' || i % 40, '10.0.0.0/8', '2026-01-01'::timestamp + i * interval '1 s', 'e' || i, B'101', '<a/>', array[i], 'good' FROM generate_series(1, 250) i;
CREATE TABLE al_heap AS TABLE al;
SELECT compress_chunk('al');
CREATE FUNCTION alters(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    before oid := pg_relation_filenode('al');
    n bigint;
BEGIN
    EXECUTE format('ALTER TABLE al %s', command);
    EXECUTE format('ALTER TABLE al_heap %s', command);
    SELECT count(*) INTO n FROM (SELECT x::text FROM al x EXCEPT ALL SELECT x::text FROM al_heap x) d;
    RETURN concat_ws(', ', CASE WHEN before = pg_relation_filenode('al') THEN 'kept' ELSE 'rewritten' END, n || ' differ',
        (SELECT count(*) FROM strata.verify('al')) || ' problems', (SELECT count(*) FROM al WHERE b::text = 'v7') || ' by value');
END $$;
SELECT c, alters(c) FROM unnest(array['ALTER a TYPE oid', 'ALTER a TYPE regclass', 'ALTER b TYPE varchar(30)', 'ALTER b TYPE text', 'ALTER c TYPE inet', 'ALTER d TYPE timestamptz', 'ALTER e TYPE varchar', 'ALTER e TYPE text',
    'ALTER f TYPE bit varying', 'ALTER g TYPE text', 'ALTER b TYPE dom', 'ALTER b TYPE bpchar', 'ALTER h TYPE bigint[]', 'ALTER i TYPE text']) c;
INSERT INTO al_heap TABLE al LIMIT 100;
INSERT INTO al SELECT * FROM al_heap OFFSET 250;
SELECT compress_chunk('al');
SELECT count(*) FROM (SELECT x::text FROM al x EXCEPT ALL SELECT x::text FROM al_heap x) d;
SELECT alters('ALTER e TYPE varchar');
RESET timezone;

RESET search_path;
DROP SCHEMA comp CASCADE;
DROP ROLE comp_owner, comp_all;
