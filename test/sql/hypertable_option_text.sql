-- What the strata.* options of a table say is checked when it is written: by ALTER TABLE, which does not write what
-- only the extension knows, and by CREATE TABLE, as dumps do.
SET timezone = 'UTC';
SET datestyle = 'ISO';
CREATE SCHEMA option_text;
SET search_path = option_text, public;
CREATE TABLE t (time timestamptz NOT NULL, d int);
SELECT FROM create_hypertable('t', 'time');
INSERT INTO t VALUES ('2026-01-01', 1);
CREATE FUNCTION texts() RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(option_name || '=' || option_value, ' ' ORDER BY option_name) FROM pg_class, pg_options_to_table(reloptions)
	WHERE oid = to_regclass('option_text.t') AND option_name IN ('strata.compressed', 'strata.created', 'strata.divided', 'strata.gone', 'strata.integer_now_func')
$$;
-- nobody alters what was done to a table
ALTER TABLE t SET (strata.divided = '1-2-3,99999999999999999999');
ALTER TABLE t SET (strata.divided = '1');
ALTER TABLE t SET (strata.divided = '1000');
ALTER TABLE t RESET (strata.divided);
ALTER TABLE t SET (strata.gone = 'garbage');
ALTER TABLE t SET (strata.gone = '0..100');
ALTER TABLE t SET (strata.compressed = true);
ALTER TABLE t_20260101_chunk SET (strata.created = '2026-01-01 UTC');
ALTER TABLE t SET (strata.orderby = 'time', strata.gone = '0..100');
SELECT texts(), count(*) FROM t;
-- of what was dropped nothing is known any more, if one likes
ALTER TABLE t RESET (strata.gone, strata.compressed);
DROP TABLE t;
-- a dump's
CREATE TABLE t (time timestamptz NOT NULL) PARTITION BY RANGE (time) WITH (strata.chunk_interval = '7 days', strata.gone = 'garbage');
CREATE TABLE t (time timestamptz NOT NULL) PARTITION BY RANGE (time) WITH (strata.chunk_interval = '7 days', strata.gone = '5..4');
CREATE TABLE t (time timestamptz NOT NULL) PARTITION BY RANGE (time) WITH (strata.chunk_interval = '7 days', strata.gone = '1..99999999999999999999');
CREATE TABLE t (time timestamptz NOT NULL) PARTITION BY RANGE (time) WITH (strata.chunk_interval = '7 days', strata.gone = '..4');
CREATE TABLE t (time timestamptz NOT NULL) PARTITION BY RANGE (time) WITH (strata.chunk_interval = '7 days', strata.divided = '1-2-3,99999999999999999999');
CREATE TABLE t (time timestamptz NOT NULL) PARTITION BY RANGE (time) WITH (strata.chunk_interval = '7 days', strata.divided = '-1');
CREATE TABLE t (time timestamptz NOT NULL) PARTITION BY RANGE (time) WITH (strata.chunk_interval = '7 days', strata.divided = '2');
CREATE TABLE t (time timestamptz NOT NULL) PARTITION BY RANGE (time) WITH (strata.chunk_interval = '7 days', strata.divided = '99999999999999999999');
CREATE TABLE t (time timestamptz NOT NULL) PARTITION BY RANGE (time) WITH (strata.chunk_interval = '7 days', strata.integer_now_func = 'public.x');
CREATE TABLE t (time timestamptz NOT NULL) PARTITION BY RANGE (time) WITH (strata.chunk_interval = '7 days', strata.gone = '0..100 200..300', strata.divided = '12345');
SELECT texts();
INSERT INTO t VALUES ('2026-01-01');
SELECT count(*) FROM t;
DROP TABLE t;
-- what the present time is, as for set_integer_now_func()
CREATE FUNCTION good() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT 100::bigint';
CREATE FUNCTION volatile() RETURNS bigint LANGUAGE sql AS 'SELECT 100::bigint';
CREATE FUNCTION many() RETURNS SETOF bigint LANGUAGE sql STABLE AS 'SELECT 100::bigint';
CREATE PROCEDURE proc() LANGUAGE sql AS '';
CREATE TABLE t (time bigint NOT NULL, d int);
SELECT FROM create_hypertable('t', 'time', chunk_time_interval => 10);
ALTER TABLE t SET (strata.integer_now_func = 'garbage');
ALTER TABLE t SET (strata.integer_now_func = 'a.b.c.d');
ALTER TABLE t SET (strata.integer_now_func = '');
ALTER TABLE t SET (strata.integer_now_func = 'pg_catalog.now');
ALTER TABLE t SET (strata.integer_now_func = 'pg_catalog.row_number');
ALTER TABLE t SET (strata.integer_now_func = 'pg_catalog.count');
ALTER TABLE t SET (strata.integer_now_func = 'option_text.volatile');
ALTER TABLE t SET (strata.integer_now_func = 'option_text.many');
ALTER TABLE t SET (strata.integer_now_func = 'option_text.proc');
SELECT texts();
ALTER TABLE t SET (strata.integer_now_func = 'good');
SELECT texts(), strata_now FROM (SELECT count(*) AS strata_now FROM show_chunks('t', older_than => 5)) x;
ALTER TABLE t RESET (strata.integer_now_func);
ALTER TABLE t SET (strata.chunk_interval = 'garbage');
ALTER TABLE t SET (strata.chunk_interval = '0');
ALTER TABLE t SET (strata.tablespaces = 'a,,b');
ALTER TABLE t SET (strata.read_archives = 'garbage');
DROP TABLE t;
-- in a dump the function may come after the table: it is looked at when it is called
CREATE TABLE t (time bigint NOT NULL) PARTITION BY RANGE (time) WITH (strata.chunk_interval = '10', strata.integer_now_func = 'a..b');
CREATE TABLE t (time bigint NOT NULL) PARTITION BY RANGE (time) WITH (strata.chunk_interval = '10', strata.integer_now_func = 'pg_catalog.row_number');
INSERT INTO t VALUES (5);
SELECT drop_chunks('t', older_than => 5);
SELECT add_retention_policy('t', 5) > 0 AS added;
SELECT count(*) FROM t WHERE time > 1;
DROP TABLE t;
DROP SCHEMA option_text CASCADE;
