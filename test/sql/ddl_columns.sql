-- Columns that other commands than ALTER TABLE rename or drop: options and companions follow.
SET client_min_messages = warning;
CREATE SCHEMA ddl_columns;
SET search_path = ddl_columns, public;
CREATE VIEW stored AS SELECT c.oid::regclass AS rel, option FROM pg_class c, unnest(reloptions) AS option
	WHERE relnamespace = 'ddl_columns'::regnamespace AND option NOT LIKE 'strata.compressed=%';
CREATE FUNCTION what(wanted text, OUT options text, OUT rows bigint, OUT problems bigint) LANGUAGE plpgsql AS $$
BEGIN
	SELECT string_agg(option, '; ' ORDER BY option) FROM stored WHERE rel = wanted::regclass INTO options;
	EXECUTE 'SELECT count(*) FROM ' || wanted INTO rows;
	SELECT count(*) FROM strata.verify(wanted::regclass) INTO problems;
END $$;

-- a type, a domain, a collation, a function, a schema
CREATE SCHEMA apart;
CREATE TYPE mood AS ENUM ('x', 'y');
CREATE DOMAIN apart.host AS text;
CREATE COLLATION byte FROM "C";
CREATE FUNCTION twice(i int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 2 * i';
CREATE TABLE t (id int, k mood, h apart.host, c text COLLATE byte, g int GENERATED ALWAYS AS (twice(id)) STORED, t int)
	USING strata WITH (strata.segmentby = 'k, h', strata.orderby = 'c, g DESC, t',
		strata.codecs = 'g delta_delta', fillfactor = 90);
INSERT INTO t (id, k, h, c, t) SELECT i, 'x', 'h' || i % 2, 'c' || i, i FROM generate_series(1, 4000) i;
SELECT compress_chunk('t');
SELECT * FROM what('t');
BEGIN;
DROP TYPE mood CASCADE;
SELECT * FROM what('t');
ROLLBACK;
SELECT * FROM what('t');
DROP TYPE mood CASCADE;
SELECT * FROM what('t');
DROP SCHEMA apart CASCADE;
SELECT * FROM what('t');
DROP COLLATION byte CASCADE;
SELECT * FROM what('t');
DROP FUNCTION twice CASCADE;
SELECT * FROM what('t');
-- no later column of that name is one of them
ALTER TABLE t ADD COLUMN k int, ADD COLUMN h text;
SELECT segmentby, orderby FROM strata.tables WHERE relation = 't'::regclass;
ALTER TABLE t SET (strata.orderby = 'id');
SELECT compress_chunk('t', recompress => true);
SELECT * FROM what('t');
DROP TABLE t;

-- in the place of a column that has gone, another one's name
CREATE TYPE mood AS ENUM ('x');
CREATE TABLE t (id int, k mood, t int) USING strata WITH (strata.segmentby = 'k', strata.orderby = 't');
INSERT INTO t SELECT i, 'x', i FROM generate_series(1, 2000) i;
DROP TYPE mood CASCADE;
ALTER TABLE t RENAME t TO k;
SELECT compress_chunk('t');
SELECT * FROM what('t');
DROP TABLE t;

-- what goes along in ALTER TABLE, beside options that are not ours
CREATE TABLE t (id int, g int GENERATED ALWAYS AS (id + 1) STORED, k int, t int) USING strata
	WITH (strata.segmentby = 'k', strata.orderby = 'g, t');
ALTER TABLE t DROP COLUMN id CASCADE, SET (fillfactor = 70);
SELECT * FROM what('t');
ALTER TABLE t DROP COLUMN k, ADD COLUMN k text, SET (fillfactor = 80, strata.segmentby = 'k');
SELECT * FROM what('t');
ALTER TABLE t DROP COLUMN k, ADD COLUMN k text;
SELECT * FROM what('t');
ALTER TABLE t DROP COLUMN IF EXISTS nothing, SET (fillfactor = 90);
SELECT * FROM what('t');
DROP TABLE t;

-- a column in the place of one of the same name: the old one's type is free
CREATE TYPE mood AS ENUM ('a', 'b');
CREATE TABLE t (id int, e mood, t int) USING strata WITH (strata.segmentby = 'e', strata.orderby = 't');
INSERT INTO t SELECT i, 'a', i FROM generate_series(1, 2000) i;
SELECT compress_chunk('t');
ALTER TABLE t DROP COLUMN e, ADD COLUMN e text;
DROP TYPE mood;
SELECT * FROM what('t');
DROP TABLE t;

-- typed tables
CREATE TYPE mood AS ENUM ('a', 'b');
CREATE TYPE triple AS (a bigint, b int, k mood, c int);
CREATE TABLE t OF triple USING strata WITH (strata.segmentby = 'k', strata.orderby = 'a DESC, b');
INSERT INTO t SELECT i, i, 'a', i FROM generate_series(1, 2000) i;
SELECT compress_chunk('t');
ALTER TYPE triple RENAME ATTRIBUTE a TO "A a" CASCADE;
SELECT * FROM what('t');
ALTER TYPE triple DROP ATTRIBUTE k CASCADE, DROP ATTRIBUTE b CASCADE;
SELECT * FROM what('t');
DROP TYPE mood;
SELECT compress_chunk('t', recompress => true);
SELECT * FROM what('t');
DROP TYPE triple CASCADE;

-- tables that inherit: from a foreign one, and with columns of their own
SET ROLE postgres;
CREATE FOREIGN DATA WRAPPER ddl_columns_wrapper;
CREATE SERVER ddl_columns_server FOREIGN DATA WRAPPER ddl_columns_wrapper;
GRANT USAGE ON FOREIGN SERVER ddl_columns_server TO PUBLIC;
RESET ROLE;
CREATE FOREIGN TABLE f (a int, b int, c int) SERVER ddl_columns_server;
CREATE TABLE child (d int) INHERITS (f) USING strata WITH (strata.segmentby = 'b', strata.orderby = 'a, d');
CREATE TABLE own (b int) INHERITS (f) USING strata WITH (strata.segmentby = 'b', strata.orderby = 'a, c');
INSERT INTO child SELECT i, i % 2, i, i FROM generate_series(1, 2000) i;
SELECT compress_chunk('child');
ALTER FOREIGN TABLE f RENAME a TO aa;
SELECT * FROM what('child');
SELECT option FROM stored WHERE rel = 'own'::regclass ORDER BY 1;
ALTER FOREIGN TABLE f DROP COLUMN b, DROP COLUMN aa;
SELECT * FROM what('child');
SELECT option FROM stored WHERE rel = 'own'::regclass ORDER BY 1;

-- partitions
CREATE TYPE mood AS ENUM ('a', 'b');
CREATE TABLE p (id int, k mood, t int) PARTITION BY RANGE (t);
ALTER TABLE p SET (strata.segmentby = 'k', strata.orderby = 't');
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (3000) USING strata;
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (3000) TO (6000) USING strata WITH (strata.orderby = 'k, t');
INSERT INTO p SELECT i, 'a', i FROM generate_series(1, 5000) i;
SELECT compress_chunk('p');
DROP TYPE mood CASCADE;
SELECT option FROM stored WHERE rel = 'p'::regclass ORDER BY 1;
SELECT * FROM what('p1');
SELECT * FROM what('p2');

-- a column of another type leaves the options that do not suit it
SET client_min_messages = notice;
CREATE TABLE t (id int, k int, g int, h int, c text, d varchar, t int) USING strata
	WITH (strata.segmentby = 'k', strata.orderby = 't DESC, id', strata.codecs = 'g delta_delta, h delta_delta');
INSERT INTO t SELECT i, i % 2, i, i, 'c' || i, 'd' || i, i FROM generate_series(1, 2000) i;
\set VERBOSITY terse
SELECT compress_chunk('t');
BEGIN;
ALTER TABLE t ALTER k TYPE json USING to_json(k), ALTER t TYPE json USING to_json(t);
SELECT * FROM what('t');
SELECT compress_chunk('t', recompress => true);
SELECT * FROM what('t');
ROLLBACK;
ALTER TABLE t ALTER g TYPE text, ALTER h TYPE bigint, ALTER c TYPE int USING 1, ALTER d TYPE text, SET (fillfactor = 70);
SELECT * FROM what('t');
ALTER TABLE t ALTER k TYPE bigint, ALTER k SET NOT NULL, ALTER id SET STATISTICS 10;
SELECT * FROM what('t');
CREATE TABLE again () INHERITS (t) USING strata WITH (strata.segmentby = 'k', strata.orderby = 't DESC, id',
	strata.codecs = 'h delta_delta');
ALTER TABLE p ALTER id TYPE bigint;
ALTER TABLE p SET (strata.segmentby = 'id');
ALTER TABLE p ALTER id TYPE point USING point(id, 0);
SELECT option FROM stored WHERE rel = 'p'::regclass ORDER BY 1;
SET client_min_messages = warning;

DROP SCHEMA ddl_columns CASCADE;
SET ROLE postgres;
DROP FOREIGN DATA WRAPPER ddl_columns_wrapper CASCADE;
RESET ROLE;
