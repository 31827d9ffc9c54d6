-- New tables of a tablespace have the access method that it was given.
SET client_min_messages = warning;
SET ROLE postgres;
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE dts_space LOCATION '';
CREATE TABLESPACE dts_plain LOCATION '';
CREATE ROLE dts_stranger;
GRANT CREATE ON TABLESPACE dts_space, dts_plain TO PUBLIC;
GRANT dts_stranger TO CURRENT_USER;
ALTER TABLESPACE dts_space OWNER TO SESSION_USER;
RESET ROLE;
CREATE SCHEMA dts;
SET search_path = dts, public;
CREATE FUNCTION method(relation regclass) RETURNS name LANGUAGE sql AS $$
	SELECT coalesce((SELECT amname FROM pg_am a WHERE a.oid = c.relam), 'none') FROM pg_class c WHERE c.oid = relation $$;

-- whose it is to say
SET ROLE dts_stranger;
SELECT strata.set_tablespace_access_method('dts_space', 'strata_dedup');
RESET ROLE;
SELECT strata.set_tablespace_access_method('dts_space', 'btree');
SELECT strata.set_tablespace_access_method('dts_space', 'nosuch');
SELECT strata.set_tablespace_access_method('nosuch', 'strata_dedup');
SELECT strata.set_tablespace_access_method(NULL, 'strata_dedup');
SET ROLE postgres;
SELECT strata.set_tablespace_access_method('pg_global', 'strata_dedup');
SECURITY LABEL FOR strata ON SCHEMA dts IS 'access_method=strata_dedup';
SECURITY LABEL FOR strata ON TABLESPACE dts_space IS 'secret';
RESET ROLE;
SELECT strata.set_tablespace_access_method('dts_space', 'strata_dedup');
SELECT objname, label FROM pg_seclabels WHERE provider = 'strata';

-- the ways to make a table there
CREATE TABLE named (a int) TABLESPACE dts_space;
CREATE TABLE elsewhere (a int) TABLESPACE dts_plain;
CREATE TABLE by_default (a int);
CREATE TABLE named_as TABLESPACE dts_space AS SELECT 1 AS a;
CREATE MATERIALIZED VIEW named_view TABLESPACE dts_space AS SELECT 1 AS a;
CREATE TABLE IF NOT EXISTS named (a int) TABLESPACE dts_space;
EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off, BUFFERS off) CREATE TABLE explained TABLESPACE dts_space AS SELECT 1 AS a
\g (format=unaligned tuples_only=on) | sed -E 's/rows=([0-9]+)\.00/rows=\1/'
EXPLAIN (COSTS off) SELECT 1;
CREATE UNLOGGED TABLE unlogged (LIKE named INCLUDING ALL) TABLESPACE dts_space;
SET default_tablespace = dts_space;
CREATE TABLE set_default (a int PRIMARY KEY, b text);
SELECT 1 AS a INTO set_into;
CREATE TABLE set_as AS SELECT 1 AS a;
PREPARE made AS SELECT 1 AS a;
CREATE TABLE set_execute AS EXECUTE made;
CREATE TABLE set_elsewhere (a int) TABLESPACE dts_plain;
CREATE TABLE set_using (a int) USING heap;
CREATE TABLE set_using_as USING heap AS SELECT 1 AS a;
CREATE SCHEMA dts_made CREATE TABLE in_schema (a int);
CREATE TABLE child (c int) INHERITS (set_default);
DO $$ BEGIN EXECUTE 'CREATE TABLE in_block (a int)'; CREATE TABLE in_block2 AS SELECT 1 AS a; END $$;
CREATE TABLE parent (a int) PARTITION BY LIST (a);
CREATE TABLE part1 PARTITION OF parent FOR VALUES IN (1);
RESET default_tablespace;
CREATE TABLE part2 PARTITION OF parent FOR VALUES IN (2);
CREATE TABLE part3 PARTITION OF parent FOR VALUES IN (3) TABLESPACE dts_plain;
CREATE TABLE parent_plain (a int) PARTITION BY LIST (a);
CREATE TABLE part4 PARTITION OF parent_plain FOR VALUES IN (1);
CREATE TABLE part5 PARTITION OF parent_plain FOR VALUES IN (2) TABLESPACE dts_space;
SELECT c, method(c) FROM unnest('{named, elsewhere, by_default, named_as, named_view, explained, unlogged, set_default, set_into, set_as, set_execute, set_elsewhere,
	set_using, set_using_as, dts_made.in_schema, child, in_block, in_block2, parent, part1, part2, part3, parent_plain, part4, part5}'::regclass[]) c;

-- what the session says goes first, as in a dump
SET default_table_access_method = heap;
CREATE TABLE said_heap (a int) TABLESPACE dts_space;
RESET default_table_access_method;
BEGIN;
SET LOCAL default_table_access_method = strata;
CREATE TABLE said_strata (a int) TABLESPACE dts_space;
COMMIT;
CREATE TABLE said_nothing (a int) TABLESPACE dts_space;
SELECT c, method(c) FROM unnest('{said_heap, said_strata, said_nothing}'::regclass[]) c;

-- temporary tables take tablespaces by turn, and each has that of its own
SET temp_tablespaces = dts_space, dts_plain;
DO $$ BEGIN FOR i IN 1..6 LOOP EXECUTE format('CREATE TEMP TABLE dts_temp%s (a int)', i); END LOOP; END $$;
CREATE TABLE pg_temp.dts_temp7 (a int);
SELECT count(*), count(*) FILTER (WHERE (s.spcname = 'dts_space') = (method(c.oid) = 'strata_dedup')) AS right, count(DISTINCT s.spcname) AS tablespaces
FROM pg_class c JOIN pg_tablespace s ON s.oid = c.reltablespace WHERE c.relname LIKE 'dts_temp%';
RESET temp_tablespaces;

-- hypertables and continuous aggregates are strata's, whatever the tablespace says
SET default_tablespace = dts_space;
CREATE TABLE hyper (time timestamptz NOT NULL, device text, v float8);
SELECT create_hypertable('hyper', 'time') IS NOT NULL AS made;
INSERT INTO hyper SELECT '2026-01-01'::timestamptz + i * interval '1 hour', 'd' || i % 3, i FROM generate_series(1, 100) i;
CREATE MATERIALIZED VIEW hourly WITH (strata.continuous) AS SELECT time_bucket('1 day', time) AS day, sum(v) FROM hyper GROUP BY 1 WITH NO DATA;
CALL refresh_continuous_aggregate('hourly', NULL, NULL);
CREATE TABLE hyper_with (time timestamptz NOT NULL, v float8) WITH (strata.hypertable, strata.partition_column = 'time');
INSERT INTO hyper_with SELECT * FROM (SELECT time, v FROM hyper) h;
SELECT DISTINCT method(c) FROM show_chunks('hyper') c;
SELECT DISTINCT method(c) FROM show_chunks('hyper_with') c;
SELECT count(*), sum(v) FROM hyper_with;
SELECT compress_chunk(c) IS NOT NULL AS compressed FROM show_chunks('hyper') c LIMIT 1;
SELECT count(*), sum(v) FROM hyper;
SELECT strata.set_tablespace_access_method('dts_space', 'strata');
CREATE TABLE segmented (time timestamptz, device text) WITH (strata.segmentby = 'device');
SELECT method('segmented');
RESET default_tablespace;

-- rewrites keep what the table has, and the label goes with the tablespace
ALTER TABLE by_default SET TABLESPACE dts_space;
ALTER TABLE by_default ADD COLUMN b float8 DEFAULT random();
SELECT method('by_default');
SELECT strata.set_tablespace_access_method('dts_space', NULL);
CREATE TABLE no_longer (a int) TABLESPACE dts_space;
SELECT method('no_longer');
SELECT count(*) FROM pg_seclabels WHERE provider = 'strata';

-- where the database has no such method, nothing happens
SET ROLE postgres;
SECURITY LABEL FOR strata ON TABLESPACE dts_space IS 'access_method=of another database';
RESET ROLE;
CREATE TABLE not_here (a int) TABLESPACE dts_space;
SELECT method('not_here');
SET client_min_messages = error;
DROP SCHEMA dts, dts_made CASCADE;
DISCARD TEMP;
SET ROLE postgres;
DROP TABLESPACE dts_space;
DROP TABLESPACE dts_plain;
SELECT count(*) FROM pg_shseclabel;
REVOKE dts_stranger FROM CURRENT_USER;
DROP ROLE dts_stranger;
RESET ROLE;
