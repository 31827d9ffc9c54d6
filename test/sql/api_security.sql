-- Nobody gets at rows of a strata table, or at what is known of them, but by the
-- privileges he has on the table.
SET client_min_messages = error;
\set VERBOSITY terse
SET strata.batch_rows = 100;
CREATE SCHEMA secure;
SET search_path = secure, public;
CREATE ROLE sec_owner;
CREATE ROLE sec_reader;
CREATE ROLE sec_column;
CREATE ROLE sec_stranger;
GRANT sec_owner, sec_reader, sec_column, sec_stranger TO CURRENT_USER;
GRANT ALL ON SCHEMA secure TO PUBLIC;
SET ROLE sec_owner;
CREATE TABLE st (id int PRIMARY KEY, tenant text NOT NULL, secret text, v int) USING strata;
ALTER TABLE st SET (strata.segmentby = 'tenant', strata.orderby = 'id');
INSERT INTO st SELECT i, 'tenant' || i % 3, 'secret' || i, i % 100 FROM generate_series(1, 2000) i;
SELECT compress_chunk('st');
ANALYZE st;
INSERT INTO st SELECT i, 'tenant1', 'late' || i, 0 FROM generate_series(3001, 3010) i;
GRANT SELECT ON st TO sec_reader;
GRANT SELECT (id, v), UPDATE (v) ON st TO sec_column;
RESET ROLE;
SELECT strata.batch_relation('st')::text AS companion \gset

-- hook:H4: companions: no role but superusers; no privilege on them can be had by owning the table
SELECT has_table_privilege(r, :'companion', p) AS allowed, count(*)
    FROM unnest(array['sec_owner', 'sec_reader', 'sec_column', 'sec_stranger']) r, unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) p
    GROUP BY 1;
SELECT relacl IS NULL AS no_grants, relowner::regrole = (SELECT extowner::regrole FROM pg_extension WHERE extname = 'strata') AS of_the_extension FROM pg_class WHERE oid = :'companion'::regclass;
-- the name of a companion is a number that changes from run to run: errors are counted
CREATE FUNCTION refused(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN EXECUTE command; RETURN 'DONE';
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE; END $$;
SELECT format('SELECT r, refused(format(c, %L)) FROM unnest(array[''SELECT * FROM %%s'', ''DELETE FROM %%s'', ''UPDATE %%s SET nrows = 1'', ''INSERT INTO %%s DEFAULT VALUES'', ''TRUNCATE %%s'', ''DROP TABLE %%s'', ''ALTER TABLE %%s ADD x int'', ''CREATE INDEX ON %%s (nrows)'', ''CREATE TRIGGER x BEFORE INSERT ON %%s EXECUTE FUNCTION suppress_redundant_updates_trigger()'', ''GRANT SELECT ON %%s TO PUBLIC'', ''CREATE RULE x AS ON INSERT TO %%s DO NOTHING'', ''ANALYZE %%s'', ''LOCK TABLE %%s'', ''ALTER TABLE %%s OWNER TO CURRENT_USER'', ''CREATE TABLE x (LIKE %%s)'']) c, current_user r', :'companion') AS probes \gset
SET ROLE sec_owner;
:probes;
SET ROLE sec_stranger;
SELECT count(*) FILTER (WHERE refused <> '42501') AS not_refused FROM (:probes) x;
-- internals cannot be made there either
SELECT refused('CREATE TABLE _strata.batch_0_1 (a int)'), refused('CREATE TABLE strata.x (a int)'), refused('CREATE FUNCTION strata.verify(int) RETURNS int LANGUAGE sql AS ''SELECT 1''');
-- statistics of companions show values
SELECT count(*) FROM pg_stats WHERE schemaname = '_strata' AND tablename LIKE 'batch%';
SET ROLE sec_owner;
SELECT count(*) FROM pg_stats WHERE schemaname = '_strata' AND tablename LIKE 'batch%';
SELECT count(*) > 0 AS own_statistics FROM pg_stats WHERE tablename = 'st';
SET ROLE sec_column;
SELECT attname FROM pg_stats WHERE tablename = 'st' ORDER BY 1;

-- functions check ownership; a stranger learns nothing and changes nothing
SET ROLE sec_reader;
SELECT f, refused('SELECT * FROM ' || f) FROM unnest(array[
    'compress_chunk(''st'')', 'compress_chunk(''st'', true, true)', 'decompress_chunk(''st'')', 'strata.verify(''st'')',
    'strata.batches(''st'')', 'strata.batch_columns(''st'')', 'strata.gc()', '_strata.row_counts(''st'')']) f;
SELECT count(*) FROM strata.tables WHERE relation = 'st'::regclass;
CALL strata.compress_all();
CALL strata.compress_all('st');
SELECT refused('ALTER TABLE st SET (strata.segmentby = ''secret'')'), refused('ALTER TABLE st RESET (strata.segmentby)'), refused('ALTER TABLE st SET ACCESS METHOD heap');
SELECT count(*), min(secret) FROM st;
SET ROLE sec_stranger;
SELECT refused('SELECT count(*) FROM st'), refused('SELECT id FROM st WHERE ctid = ''(2147483648,1)'''), refused('COPY st TO ''/dev/null'''), refused('SELECT chunk_name FROM chunk_compression_stats(''st'')') = ANY (array['DONE', '42501']) AS sizes_as_pg_table_size;
SELECT refused('SELECT strata.batch_relation(''st'')');

-- column privileges
SET ROLE sec_column;
SELECT count(*), sum(v) FROM st WHERE id > 1000;
SELECT refused('SELECT secret FROM st'), refused('SELECT count(*) FROM st WHERE secret = ''x'''), refused('SELECT st FROM st'), refused('SELECT * FROM st'),
       refused('SELECT count(*) FROM st WHERE tenant = ''tenant1'''), refused('UPDATE st SET secret = 1'), refused('DELETE FROM st'), refused('SELECT id FROM st ORDER BY tenant'), refused('SELECT id FROM st FOR SHARE');
UPDATE st SET v = 1000 WHERE id = 77;
SELECT id FROM st WHERE v = 1000;
RESET ROLE;

-- row level security, with operators and functions that tell what they see
CREATE TABLE log (line text);
CREATE FUNCTION leaky(a text, b text) RETURNS bool LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN RAISE NOTICE 'leaked %', a; RETURN true; END $$;
CREATE FUNCTION leaky(a int) RETURNS bool LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN RAISE NOTICE 'leaked %', a; RETURN true; END $$;
CREATE OPERATOR ~~~~ (LEFTARG = text, RIGHTARG = text, FUNCTION = leaky);
SET ROLE sec_owner;
CREATE POLICY mine ON st FOR ALL TO PUBLIC USING (tenant = current_setting('secure.tenant', true) AND id < 4);
ALTER TABLE st ENABLE ROW LEVEL SECURITY;
SET secure.tenant = 'tenant1';
SET ROLE sec_reader;
SET client_min_messages = notice;
SELECT id, secret FROM st ORDER BY id;
SELECT id FROM st WHERE secret ~~~~ 'x';
SELECT id FROM st WHERE leaky(id) AND leaky(v) ORDER BY id;
SELECT id FROM st WHERE 1 / (v - 55) >= 0;
SELECT count(*) FROM st WHERE leaky(v) GROUP BY tenant HAVING leaky(max(secret), '');
PREPARE p(int) AS SELECT id FROM st WHERE leaky(id) AND id > $1;
EXECUTE p(0);
SET plan_cache_mode = force_generic_plan;
EXECUTE p(0);
RESET plan_cache_mode;
SET strata.enable_vector_filter = off;
SELECT id FROM st WHERE leaky(id);
RESET strata.enable_vector_filter;
SET strata.enable_scan = off;
SELECT id FROM st WHERE leaky(id);
RESET strata.enable_scan;
SET enable_seqscan = off;
SELECT id FROM st WHERE leaky(id) AND id BETWEEN 0 AND 9;
RESET enable_seqscan;
SELECT s.id FROM st s JOIN st r USING (tenant) WHERE leaky(s.id) AND r.id < 3;
SELECT count(*) FROM st TABLESAMPLE BERNOULLI (100) WHERE leaky(id);
SELECT id FROM st WHERE ctid = '(2147483648,2)';
SET secure.tenant = 'tenant2';
EXECUTE p(0);
SET client_min_messages = error;
RESET ROLE;
-- a security_barrier view
CREATE VIEW barrier WITH (security_barrier) AS SELECT id, secret, v FROM st WHERE tenant = 'tenant0' AND id < 7;
CREATE VIEW open AS SELECT id, secret, v FROM st WHERE tenant = 'tenant0' AND id < 7;
GRANT SELECT ON barrier TO sec_stranger;
SET ROLE sec_stranger;
SET client_min_messages = notice;
SELECT * FROM barrier WHERE leaky(id);
SELECT id FROM barrier WHERE secret ~~~~ 'y' AND leaky(v) ORDER BY v DESC;
SET client_min_messages = error;
RESET ROLE;
ALTER TABLE st DISABLE ROW LEVEL SECURITY;

-- maintenance runs as the owner, and cannot be made to do more
CREATE FUNCTION tell() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO secure.log VALUES (current_user || ' ' || secure.refused('SET ROLE postgres') || ' ' || secure.refused('CREATE TEMP TABLE trap (a int)') || ' ' || secure.refused('DECLARE trap CURSOR WITH HOLD FOR SELECT 1'));
    END $$;
CREATE FUNCTION who(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM secure.tell(); RETURN i; END $$;
CREATE TABLE trap (id int, v int) USING strata;
INSERT INTO trap SELECT i, i FROM generate_series(1, 1000) i;
ALTER TABLE trap OWNER TO sec_owner;
GRANT INSERT ON log TO sec_owner;
CREATE INDEX ON trap (who(id));
TRUNCATE log;
-- a superuser compresses, decompresses and changes somebody else's table
SELECT compress_chunk('trap');
SELECT decompress_chunk('trap');
SELECT compress_chunk('trap');
SELECT compress_chunk('trap', recompress => true);
VACUUM trap;
SELECT DISTINCT line FROM log ORDER BY 1;
SELECT count(*) FROM strata.verify('trap');
-- event triggers, search_path and operators of the owner have no say in what the companion is
CREATE FUNCTION public.batch_trap() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO secure.log VALUES ('event trigger ' || tg_tag); END $$;
SET ROLE postgres;
CREATE EVENT TRIGGER batch_trap ON ddl_command_end EXECUTE FUNCTION public.batch_trap();
RESET ROLE;
TRUNCATE log;
SET ROLE sec_owner;
CREATE TABLE other (d date, n int) USING strata;
INSERT INTO other SELECT '2026-01-01', i FROM generate_series(1, 2000) i;
SELECT compress_chunk('other');
RESET ROLE;
SET ROLE postgres;
DROP EVENT TRIGGER batch_trap;
RESET ROLE;
DROP FUNCTION public.batch_trap();
SELECT line, count(*) FROM log GROUP BY 1;

-- api:P3: nothing is SECURITY DEFINER; what is written in SQL pins its search_path, or was parsed when it was made
SELECT count(*) FILTER (WHERE prosecdef) AS security_definer,
       count(*) FILTER (WHERE l.lanname IN ('sql', 'plpgsql') AND prosqlbody IS NULL AND NOT coalesce(array_to_string(proconfig, ','), '') ~ 'search_path=') AS unpinned
    FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
    JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND e.extname = 'strata'
    JOIN pg_language l ON l.oid = p.prolang;

-- owned by somebody who goes: everything goes along
DROP OWNED BY sec_owner CASCADE;
SELECT strata.gc();
SELECT count(*) AS companions FROM pg_class WHERE relname ~ '^batch_[0-9]+_[0-9]+$';
RESET search_path;
DROP SCHEMA secure CASCADE;
DROP ROLE sec_owner, sec_reader, sec_column, sec_stranger;
