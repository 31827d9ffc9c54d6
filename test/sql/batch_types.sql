-- Every type goes into batches and comes out the same, bit for bit: through the
-- planner's scan, a plain scan, a TID, promotion, and back by decompression.
SET client_min_messages = warning;
SET strata.batch_rows = 60;
CREATE SCHEMA batch_types;
SET search_path = batch_types, public;
SET extra_float_digits = 3;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TYPE pair AS (a int, b text);
CREATE TYPE nested AS (p pair, l int[]);
CREATE DOMAIN positive AS numeric CHECK (VALUE > 0);
CREATE DOMAIN words AS text[];
CREATE TYPE span AS RANGE (subtype = float8);

-- name, type, values ('|' between them)
CREATE TABLE samples (name text, type text, vals text[]);
INSERT INTO samples VALUES
('bool', 'bool', '{t,f}'), ('"char"', '"char"', '{a,\\377,""}'),
('int2', 'int2', '{0,-1,32767,-32768}'), ('int4', 'int4', '{0,-1,2147483647,-2147483648}'),
('int8', 'int8', '{0,-1,9223372036854775807,-9223372036854775808,4611686018427387904}'),
('float4', 'float4', '{0,-0,NaN,Infinity,-Infinity,3.4028235e38,1e-45,1.17549435e-38,0.1}'),
('float8', 'float8', '{0,-0,NaN,Infinity,-Infinity,1.7976931348623157e308,5e-324,2.2250738585072014e-308,0.1,123456789.25}'),
('numeric', 'numeric', '{0,0.0,0.000,1,1.0,1.00,-1.50,NaN,Infinity,-Infinity,1e-20,123456789012345678901234567890.123456789,-0.5}'),
('numeric_scaled', 'numeric(20,4)', '{0,1.5,-99999.9999}'), ('money', 'money', '{0,12.34,-999.99}'),
('date', 'date', '{2024-02-29,infinity,-infinity,0001-01-01 BC,5874897-12-31}'),
('time', 'time', '{00:00:00,24:00:00,12:34:56.789012}'),
('timetz', 'timetz', '{00:00:00+00,23:59:59.999999-15:59,12:00:00+05:30}'),
('timestamp', 'timestamp', '{2024-01-01 00:00:00,infinity,-infinity,294276-12-31 23:59:59.999999,4713-01-01 00:00:00 BC}'),
('timestamptz', 'timestamptz', '{2024-01-01 00:00:00Z,infinity,-infinity,294276-12-31 23:59:59.999999Z}'),
('interval', 'interval', '{0,1 mon,30 days,720 hours,-178000000 years,1 year -1 day 00:00:00.000001}'),
('text', 'text', '{"",a,"a ","with '' quote",Ünïcödé,NULL2,🙂}'), ('varchar', 'varchar(10)', '{"",abc,"abc  "}'),
('bpchar', 'char(6)', '{"",a,"a b"}'), ('name', 'name', '{"",pg_class}'),
('bytea', 'bytea', '{"\\\\x","\\\\x00","\\\\x0001ff","\\\\xdeadbeef"}'), ('uuid', 'uuid', '{00000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff,a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}'),
('inet', 'inet', '{127.0.0.1,10.0.0.0/8,::1,2001:db8::/32}'), ('cidr', 'cidr', '{10.0.0.0/8,::/0}'),
('macaddr', 'macaddr', '{08:00:2b:01:02:03}'), ('macaddr8', 'macaddr8', '{08:00:2b:01:02:03:04:05}'),
('bit', 'bit(9)', '{000000000,101010101,111111111}'), ('varbit', 'varbit', '{"",1,0101010101010101010101}'),
('json', 'json', '{"{}","[1, 2,   3]","{\"a\" : 1, \"a\": 2}",null,"\"\""}'),
('jsonb', 'jsonb', '{"{}","[1, 2, 3.00]","{\"a\": {\"b\": [null, true]}}",null,"\"\""}'),
('jsonpath', 'jsonpath', '{"$.a[*]","strict $"}'), ('xml', 'text', '{"<a/>","<a b=\"1\">x</a>"}'),
('tsvector', 'tsvector', '{"","a:1 fat:2A cat:3"}'), ('tsquery', 'tsquery', '{"","fat & !rat"}'),
('point', 'point', '{"(0,-0)","(1.5,NaN)"}'), ('line', 'line', '{"{1,2,3}"}'), ('lseg', 'lseg', '{"[(0,0),(1,1)]"}'), ('box', 'box', '{"(1,1),(0,0)"}'),
('path', 'path', '{"[(0,0),(1,1)]","((0,0),(1,1),(2,0))"}'), ('polygon', 'polygon', '{"((0,0),(1,1),(2,0))"}'), ('circle', 'circle', '{"<(0,0),1.5>"}'),
('oid', 'oid', '{0,4294967295}'), ('xid8', 'xid8', '{0,18446744073709551615}'), ('pg_lsn', 'pg_lsn', '{0/0,FFFFFFFF/FFFFFFFF}'),
('tid', 'tid', '{"(0,1)","(4294967295,65535)"}'), ('regtype', 'regtype', '{integer,text}'),
('mood', 'mood', '{sad,ok,happy}'), ('positive', 'positive', '{1,1.50,1000000}'), ('words', 'words', '{"{}","{a,NULL,\"\"}"}'),
('pair', 'pair', '{"(,)","(1,\"\")","(2,\"a,b\")"}'), ('nested', 'nested', '{"(\"(1,x)\",\"{1,NULL}\")","(,)"}'),
('int4range', 'int4range', '{empty,"[1,5)","(,)","[3,)"}'), ('numrange', 'numrange', '{empty,"[1.0,2.00)","(,5]"}'), ('tstzrange', 'tstzrange', '{empty,"[2024-01-01 00:00:00Z,infinity)"}'),
('span', 'span', '{empty,"[-0,0]","(1.5,NaN)"}'), ('int4multirange', 'int4multirange', '{"{}","{[1,3),[5,7)}"}'),
('int_array', 'int[]', '{"{}","{1,2,NULL}","{{1,2},{3,4}}","[0:1]={7,8}","[-1:0][2:3]={{1,2},{3,4}}"}'),
('text_array', 'text[]', '{"{}","{\"\",NULL,\"NULL\"}"}'), ('float_array', 'float8[]', '{"{NaN,-0,0,Infinity}"}'),
('numeric_array', 'numeric[]', '{"{1.0,1.00,NaN}"}'), ('pair_array', 'pair[]', '{"{\"(1,a)\",NULL}"}'), ('mood_array', 'mood[]', '{"{sad,ok}"}');

-- A value's bytes as the type sends them; what text may hide (NaN payloads apart).
CREATE FUNCTION check_type(name text, type text, vals text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
    problem bigint;
    step text;
    -- text of the value and its exact size: -0, scale, array bounds show
    shown text := 'id, g, v::text, pg_column_size(v::text), v IS NULL, w::text';
BEGIN
    EXECUTE format('CREATE TABLE h (id int, g int, v %1$s, w %1$s)', type);
    EXECUTE format('CREATE TABLE s (id int, g int, v %1$s, w %1$s) USING strata', type);
    ALTER TABLE s SET (strata.segmentby = 'g', strata.orderby = 'id');
    -- v: all values and NULLs mixed; w: runs of one value, then only NULLs
    EXECUTE format('INSERT INTO h SELECT i, i %% 3, CASE WHEN i %% 7 > 0 THEN $1[1 + i %% %s]::%s END, CASE WHEN i < 600 THEN $1[1 + i / 300]::%2$s END FROM generate_series(1, 1000) i',
        cardinality(vals), type) USING vals;
    INSERT INTO s TABLE h;
    PERFORM compress_chunk('s');
    FOREACH step IN ARRAY '{compressed,plain scan,promoted,recompressed,by tid,decompressed,order}'::text[] LOOP
        IF step = 'plain scan' THEN SET LOCAL strata.enable_scan = off; ELSE RESET strata.enable_scan; END IF;
        IF step = 'promoted' THEN
            UPDATE s SET id = -id WHERE id % 100 = 1;
            UPDATE h SET id = -id WHERE id % 100 = 1;
        ELSIF step = 'recompressed' THEN
            PERFORM compress_chunk('s', recompress => true);
        ELSIF step = 'decompressed' THEN
            PERFORM decompress_chunk('s');
        END IF;
        IF step = 'by tid' THEN
            CREATE TEMP TABLE tids AS SELECT ctid AS t FROM s;
            EXECUTE format('SELECT count(*) FROM (SELECT %1$s FROM h EXCEPT ALL SELECT %1$s FROM tids JOIN s ON s.ctid = tids.t) d', shown) INTO problem;
            DROP TABLE tids;
        ELSIF step = 'order' THEN
            -- segments and order of this very type, where it has one
            BEGIN
                ALTER TABLE s SET (strata.segmentby = 'w', strata.orderby = 'v DESC');
            EXCEPTION WHEN undefined_function THEN
                DROP TABLE h, s;
                RETURN 'same; no order';
            END;
            PERFORM compress_chunk('s', recompress => true);
            EXECUTE format('SELECT count(*) FROM ((SELECT %1$s FROM h EXCEPT ALL SELECT %1$s FROM s) UNION ALL (SELECT %1$s FROM s EXCEPT ALL SELECT %1$s FROM h)) d', shown) INTO problem;
            EXECUTE format('SELECT $1 + count(*) FROM (SELECT 1 FROM unnest($2) x
                WHERE (SELECT count(*) FROM h WHERE v = x::%1$s) <> (SELECT count(*) FROM s WHERE v = x::%1$s)
                   OR (SELECT count(*) FROM h WHERE w = x::%1$s) <> (SELECT count(*) FROM s WHERE w = x::%1$s)
                   OR (SELECT count(*) FROM h WHERE v > x::%1$s) <> (SELECT count(*) FROM s WHERE v > x::%1$s)
                   OR (SELECT count(*) FROM h WHERE v <= x::%1$s) <> (SELECT count(*) FROM s WHERE v <= x::%1$s)) d', type) INTO problem USING problem, vals;
            EXECUTE format('SELECT $1 + count(*) FROM (SELECT v, row_number() OVER () r FROM (SELECT v FROM h ORDER BY v DESC) x) a
                FULL JOIN (SELECT v, row_number() OVER () r FROM (SELECT v FROM s ORDER BY v DESC) x) b USING (r) WHERE NOT (a.v = b.v OR a.v IS NULL AND b.v IS NULL)') INTO problem USING problem;
        ELSE
            EXECUTE format('SELECT count(*) FROM ((SELECT %1$s FROM h EXCEPT ALL SELECT %1$s FROM s) UNION ALL (SELECT %1$s FROM s EXCEPT ALL SELECT %1$s FROM h)) d', shown) INTO problem;
        END IF;
        SELECT count(*) INTO n FROM strata.verify('s');
        IF problem + n > 0 THEN
            DROP TABLE h, s;
            RETURN format('%s: %s rows differ, %s problems', step, problem, n);
        END IF;
    END LOOP;
    DROP TABLE h, s;
    RETURN 'same';
END $$;
SELECT name, check_type(name, type, vals) FROM samples ORDER BY name COLLATE "C";

-- bits, as the types send them
CREATE TABLE bits (id int, f8 float8, f4 float4) USING strata;
INSERT INTO bits SELECT i, CASE i % 4 WHEN 0 THEN '-0' WHEN 1 THEN '0' WHEN 2 THEN 'NaN' ELSE i::text END::float8,
    CASE i % 3 WHEN 0 THEN '-0' WHEN 1 THEN 'NaN' ELSE i::text END::float4 FROM generate_series(0, 999) i;
CREATE TABLE bits_before AS SELECT id, float8send(f8) AS f8, float4send(f4) AS f4 FROM bits;
SELECT compress_chunk('bits');
SELECT count(*) FROM (SELECT id, float8send(f8), float4send(f4) FROM bits EXCEPT ALL TABLE bits_before) d;
SELECT count(*) FROM bits WHERE f8 = 0;
SELECT count(*) FROM bits WHERE f8 = 'NaN';
SELECT count(*) FROM bits WHERE f8 > 100;
SELECT count(*), min(f8), max(f8) FROM bits WHERE f4 < 'NaN';

-- empty, NULL and long: toasted values of each storage
CREATE TABLE h_long (id int, a text, b text, c bytea, d jsonb);
ALTER TABLE h_long ALTER a SET STORAGE EXTERNAL, ALTER b SET STORAGE EXTENDED, ALTER c SET STORAGE MAIN;
INSERT INTO h_long SELECT i, CASE WHEN i % 5 > 0 THEN repeat(md5(i::text), (i % 400) * 10) END,
    CASE i % 3 WHEN 0 THEN '' WHEN 1 THEN NULL ELSE repeat('same ', i * 50) END,
    decode(repeat(md5(i::text), i % 90), 'hex'),
    jsonb_build_object('i', i, 'l', repeat('x', i * 20)) FROM generate_series(1, 400) i;
INSERT INTO h_long VALUES (1001, repeat('y', 1100000), NULL), (1002, repeat('z', 900000), ''), (1003, NULL, repeat(md5('r'), 40000));
CREATE TABLE s_long (LIKE h_long INCLUDING ALL) USING strata;
INSERT INTO s_long TABLE h_long;
SELECT compress_chunk('s_long');
SELECT row_store_rows, batch_rows FROM strata.tables WHERE relation = 's_long'::regclass;
SELECT count(*) FROM (TABLE h_long EXCEPT ALL TABLE s_long) d;
UPDATE s_long SET id = id WHERE id = 7;
VACUUM FULL s_long;
SELECT count(*) FROM (TABLE h_long EXCEPT ALL TABLE s_long) d;
SELECT compress_chunk('s_long', recompress => true);
DELETE FROM s_long WHERE id > 1000;
DELETE FROM h_long WHERE id > 1000;
SELECT decompress_chunk('s_long');
VACUUM s_long;
SELECT count(*) FROM (TABLE h_long EXCEPT ALL TABLE s_long) d;
SELECT count(*) FROM (TABLE s_long EXCEPT ALL TABLE h_long) d;
-- long keys stay outside too
CREATE TABLE long_key (k text, i int) USING strata;
ALTER TABLE long_key SET (strata.segmentby = 'k', strata.orderby = 'i');
INSERT INTO long_key SELECT CASE WHEN i % 100 = 0 THEN repeat(md5(i::text), 50) ELSE 'short' END, i FROM generate_series(1, 1000) i;
SELECT compress_chunk('long_key');
SELECT row_store_rows, batch_rows FROM strata.tables WHERE relation = 'long_key'::regclass;
SELECT count(*), sum(i), count(DISTINCT k) FROM long_key;

-- wide tables, tables without columns
DO $$ BEGIN
    EXECUTE (SELECT 'CREATE TABLE wide (' || string_agg(format('c%s int', i), ', ') || ') USING strata' FROM generate_series(1, 400) i);
    EXECUTE (SELECT 'INSERT INTO wide SELECT ' || string_agg(CASE WHEN i % 2 = 0 THEN 'g' ELSE 'NULL' END, ', ') || ' FROM generate_series(1, 100) g' FROM generate_series(1, 400) i);
END $$;
SELECT compress_chunk('wide');
SELECT sum(c2), sum(c400), count(c399), count(*) FROM wide;
SELECT * FROM strata.verify('wide');
CREATE TABLE none () USING strata;
INSERT INTO none SELECT FROM generate_series(1, 1000);
SELECT compress_chunk('none');
SELECT count(*) FROM none;
SELECT batch_rows FROM strata.tables WHERE relation = 'none'::regclass;
SELECT decompress_chunk('none');
SELECT count(*) FROM none;
DROP SCHEMA batch_types CASCADE;
SELECT count(*) AS companions FROM pg_class WHERE relnamespace = '_strata'::regnamespace AND relname LIKE 'batch\_%' AND relkind = 'r';

-- batch rows keep columns of a few hundred bytes in line, where the row fits a page
RESET strata.batch_rows;
CREATE TABLE inline_columns (t int, a int, b int, c int, d int, e int, f int, g int, h int) USING strata;
INSERT INTO inline_columns SELECT i, hashint4(i) & 7, hashint4(i + 1) & 7, hashint4(i + 2) & 7, hashint4(i + 3) & 7, hashint4(i + 4) & 7,
    hashint4(i + 5) & 7, hashint4(i + 6) & 7, hashint4(i + 7) & 7 FROM generate_series(1, 8000) i;
SELECT compress_chunk('inline_columns');
SELECT strata.batch_relation('inline_columns') AS batches \gset
SET ROLE postgres;
SELECT count(*) AS batches, count(*) FILTER (WHERE pg_column_size(b.col_2) > 300) AS in_line FROM :batches b;
RESET ROLE;
SELECT pg_relation_size(reltoastrelid) AS out_of_line FROM pg_class WHERE oid = :'batches'::regclass;
DROP TABLE inline_columns;

-- large values: a batch ends with the row that fills it
CREATE TABLE h_large (id int, v text, b bytea, j jsonb, a int[]);
INSERT INTO h_large SELECT i, repeat(md5(i::text), 60000), decode(repeat(md5((-i)::text), 35000), 'hex'), jsonb_build_object('i', i, 'v', repeat(md5(i::text), 40000)),
    (SELECT array_agg(k * i) FROM generate_series(1, 300000) k) FROM generate_series(1, 4) i;
INSERT INTO h_large SELECT i, 'short', '\x00', '{"i": 0}', '{1}' FROM generate_series(5, 40) i;
INSERT INTO h_large VALUES (41, repeat('é', 10000000), NULL, NULL, NULL);
CREATE TABLE b_large (LIKE h_large) USING strata;
ALTER TABLE b_large SET (strata.orderby = 'id');
INSERT INTO b_large SELECT * FROM h_large;
SELECT compress_chunk('b_large');
SELECT row_store_rows, batches FROM strata.tables WHERE relation = 'b_large'::regclass;
SELECT md5(string_agg(md5(h::text), '' ORDER BY id)) = (SELECT md5(string_agg(md5(s::text), '' ORDER BY id)) FROM b_large s) AS same FROM h_large h;
SELECT id, length(v), octet_length(v), substr(v, 1900000, 5), position('lorem' IN v), length(b), j->>'i', length(j->>'v'), a[299999] FROM b_large WHERE id IN (1, 2, 4, 9, 41) ORDER BY id;
UPDATE b_large SET v = v || 'x' WHERE id = 3;
UPDATE h_large SET v = v || 'x' WHERE id = 3;
DELETE FROM b_large WHERE id = 2;
DELETE FROM h_large WHERE id = 2;
CALL recompress_chunk('b_large');
SELECT md5(string_agg(md5(h::text), '' ORDER BY id)) = (SELECT md5(string_agg(md5(s::text), '' ORDER BY id)) FROM b_large s) AS same FROM h_large h;
SELECT count(*) AS problems FROM strata.verify('b_large');
SELECT decompress_chunk('b_large');
SELECT md5(string_agg(md5(h::text), '' ORDER BY id)) = (SELECT md5(string_agg(md5(s::text), '' ORDER BY id)) FROM b_large s) AS same FROM h_large h;
DROP TABLE b_large, h_large;

-- nothing but rows of over 64 MB: said, and no error
CREATE TABLE h_too_long (id int, v text, w text) USING strata;
INSERT INTO h_too_long VALUES (1, repeat('y', 40000000), repeat('z', 40000000));
SET client_min_messages = notice;
SELECT compress_chunk('h_too_long');
SET client_min_messages = error;
DROP TABLE h_too_long;
