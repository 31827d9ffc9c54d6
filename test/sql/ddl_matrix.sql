-- ALTER TABLE of every kind, and what else changes a table, on a row store, a
-- mixed and a wholly compressed table; a heap table that got the same is the model.
SET client_min_messages = error;
\set VERBOSITY terse
SET strata.batch_rows = 100;
CREATE SCHEMA matrix;
SET search_path = matrix, public;
CREATE ROLE matrix_role;
GRANT matrix_role TO CURRENT_USER;
GRANT CREATE, USAGE ON SCHEMA matrix TO matrix_role;
CREATE TYPE mood AS ENUM ('bad', 'fair', 'good');
CREATE DOMAIN level AS int CHECK (VALUE < 100000);
CREATE TABLE parent (id int, host text, v int, pad text, ts timestamp, m mood, lv level, gone int);
CREATE TABLE other (a int PRIMARY KEY);
INSERT INTO other SELECT generate_series(0, 2000);
CREATE FUNCTION trg() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.v = NEW.v + 1000; RETURN NEW; END $$;

-- A table "t" of one kind; rows 1..1500, 100 changed, some gone.
CREATE FUNCTION make(kind text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS t CASCADE;
    DROP TABLE IF EXISTS copy, tt, parted, part2, rest, refers CASCADE;
    EXECUTE format('CREATE TABLE t (id int PRIMARY KEY, host text NOT NULL, v int DEFAULT 5, pad text, ts timestamp, m mood, lv level, gone int) USING %s',
                   CASE kind WHEN 'heap' THEN 'heap' ELSE 'strata' END);
    IF kind <> 'heap' THEN
        ALTER TABLE t SET (strata.segmentby = 'host', strata.orderby = 'ts DESC');
    END IF;
    ALTER TABLE t DROP COLUMN gone;
    INSERT INTO t SELECT i, 'h' || i % 3, nullif(i % 50, 7), repeat('p', i % 40), '2026-01-01'::timestamp + i * interval '1 min',
        (enum_range(NULL::mood))[1 + i % 3], i FROM generate_series(1, 1500) i;
    IF kind IN ('mixed', 'compressed') THEN PERFORM compress_chunk('t'); END IF;
    UPDATE t SET v = -1 WHERE id BETWEEN 100 AND 120;
    DELETE FROM t WHERE id BETWEEN 200 AND 210;
    INSERT INTO t (id, host, ts) SELECT i, 'h1', '2026-02-01' FROM generate_series(2001, 2050) i;
    IF kind = 'compressed' THEN PERFORM compress_chunk('t', recompress => true); END IF;
END $$;

-- All there is to see of t.
CREATE FUNCTION show() RETURNS TABLE (line text) LANGUAGE plpgsql AS $$
BEGIN
    IF to_regclass('matrix.t') IS NULL THEN
        RETURN QUERY SELECT 'no table';
        RETURN;
    END IF;
    RETURN QUERY SELECT concat_ws(' ', 'column', attname, format_type(atttypid, atttypmod), attnotnull, atthasdef,
            attidentity, attgenerated, attstorage,
            (SELECT o FROM unnest(attoptions) o WHERE o ~ '^n_distinct'))
        FROM pg_attribute WHERE attrelid = 'matrix.t'::regclass AND attnum > 0 AND NOT attisdropped;
    RETURN QUERY SELECT concat_ws(' ', 'constraint', conname, pg_get_constraintdef(oid), convalidated)
        FROM pg_constraint WHERE conrelid = 'matrix.t'::regclass;
    RETURN QUERY SELECT concat_ws(' ', 'index', pg_get_indexdef(indexrelid), indisvalid, indisclustered, indisreplident)
        FROM pg_index WHERE indrelid = 'matrix.t'::regclass;
    RETURN QUERY SELECT concat_ws(' ', 'table', relkind, relpersistence, relrowsecurity, relhastriggers, relhasrules, relispartition, relowner::regrole)
        FROM pg_class WHERE oid = 'matrix.t'::regclass;
    -- in many ways: as a whole, by index, by key
    RETURN QUERY EXECUTE 'SELECT ''row '' || t::text FROM t';
    RETURN QUERY EXECUTE 'SELECT ''count '' || count(*) FROM t';
END $$;

CREATE TABLE model (line text);
CREATE TABLE answer (line text);

-- Run the statements on each kind; say where the outcome differs from heap's.
CREATE FUNCTION try(VARIADIC statements text[]) RETURNS TABLE (statement text, outcome text) LANGUAGE plpgsql AS $$
DECLARE
    kind text;
    s text;
    said text;
    want text;
    n bigint;
    result text := '';
BEGIN
    FOREACH kind IN ARRAY ARRAY['heap', 'rowstore', 'mixed', 'compressed'] LOOP
        PERFORM make(kind);
        said := 'ok';
        BEGIN
            FOREACH s IN ARRAY statements LOOP EXECUTE s; END LOOP;
        EXCEPTION WHEN OTHERS THEN
            said := SQLSTATE || ' ' || SQLERRM;
        END;
        DELETE FROM answer;
        INSERT INTO answer SELECT * FROM show();
        IF kind = 'heap' THEN
            DELETE FROM model;
            INSERT INTO model SELECT * FROM answer;
            want := said;
        ELSE
            IF said <> want THEN result := result || kind || ' says: ' || said || '; '; END IF;
            SELECT count(*) INTO n FROM ((TABLE model EXCEPT ALL TABLE answer) UNION ALL (TABLE answer EXCEPT ALL TABLE model)) d;
            IF n > 0 THEN result := result || kind || ': ' || n || ' lines differ; '; END IF;
            IF to_regclass('matrix.t') IS NOT NULL AND EXISTS (SELECT FROM pg_class c JOIN pg_am a ON a.oid = relam WHERE c.oid = 'matrix.t'::regclass AND amname = 'strata') THEN
                FOR s IN SELECT problem FROM strata.verify('t') LOOP result := result || kind || ' verify: ' || s || '; '; END LOOP;
                IF kind = 'compressed' AND said = 'ok' THEN
                    -- and it can be changed and compressed afterwards
                    BEGIN
                        PERFORM compress_chunk('t', recompress => true);
                        DELETE FROM answer;
                        INSERT INTO answer SELECT * FROM show();
                        SELECT count(*) INTO n FROM ((TABLE model EXCEPT ALL TABLE answer) UNION ALL (TABLE answer EXCEPT ALL TABLE model)) d;
                        IF n > 0 THEN result := result || 'recompressed: ' || n || ' lines differ; '; END IF;
                    EXCEPTION WHEN feature_not_supported THEN
                        result := result || 'then: ' || SQLERRM || '; ';
                    END;
                END IF;
            END IF;
        END IF;
    END LOOP;
    statement := array_to_string(statements, '; ');
    outcome := want || CASE result WHEN '' THEN '' ELSE ' BUT ' || result END;
    RETURN NEXT;
END $$;
\pset format unaligned
\pset tuples_only on
\pset fieldsep '  ->  '

-- columns
SELECT * FROM try('ALTER TABLE t ADD COLUMN x int');
SELECT * FROM try('ALTER TABLE t ADD COLUMN x int DEFAULT 7');
SELECT * FROM try('ALTER TABLE t ADD COLUMN x int NOT NULL DEFAULT 7', 'UPDATE t SET x = 8 WHERE id < 5', 'ALTER TABLE t ADD COLUMN y text DEFAULT ''y''');
SELECT * FROM try('ALTER TABLE t ADD COLUMN x int NOT NULL');
SELECT * FROM try('ALTER TABLE t ADD COLUMN x serial', 'UPDATE t SET x = (x BETWEEN 1 AND 1539)::int');
SELECT * FROM try('ALTER TABLE t ADD COLUMN x int DEFAULT (random() * 0)::int');
SELECT * FROM try('ALTER TABLE t ADD COLUMN x int GENERATED ALWAYS AS (id * 2) STORED');
SELECT * FROM try('ALTER TABLE t ADD COLUMN x int GENERATED ALWAYS AS (id * 2) STORED', 'UPDATE t SET id = id + 10000 WHERE id < 10', 'ALTER TABLE t ALTER x DROP EXPRESSION', 'UPDATE t SET x = 0 WHERE id = 500');
SELECT * FROM try('ALTER TABLE t ADD COLUMN x int GENERATED BY DEFAULT AS IDENTITY', 'UPDATE t SET x = (x BETWEEN 1 AND 1539)::int');
SELECT * FROM try('ALTER TABLE t ALTER id ADD GENERATED ALWAYS AS IDENTITY (START 5000)', 'INSERT INTO t (host) VALUES (''n'')', 'ALTER TABLE t ALTER id DROP IDENTITY');
SELECT * FROM try('ALTER TABLE t ADD COLUMN x int CHECK (x > 0) DEFAULT 3');
SELECT * FROM try('ALTER TABLE t ADD COLUMN x level DEFAULT 3');
SELECT * FROM try('ALTER TABLE t ADD COLUMN x int UNIQUE');
SELECT * FROM try('ALTER TABLE t ADD COLUMN x int REFERENCES other DEFAULT 3');
SELECT * FROM try('ALTER TABLE t ADD COLUMN x mood DEFAULT ''fair'', DROP COLUMN v, ADD COLUMN v text DEFAULT ''v''');
SELECT * FROM try('ALTER TABLE t DROP COLUMN v');
SELECT * FROM try('ALTER TABLE t DROP COLUMN host');
SELECT * FROM try('ALTER TABLE t DROP COLUMN ts');
SELECT * FROM try('ALTER TABLE t DROP COLUMN id CASCADE');
SELECT * FROM try('ALTER TABLE t DROP COLUMN pad, ADD COLUMN pad int DEFAULT 1');
SELECT * FROM try('ALTER TABLE t DROP COLUMN v', 'ALTER TABLE t ALTER COLUMN pad TYPE varchar(100)', 'ALTER TABLE t ALTER lv TYPE bigint');
SELECT * FROM try('ALTER TABLE t RENAME COLUMN host TO machine', 'ALTER TABLE t RENAME ts TO "When"', 'UPDATE t SET v = 0 WHERE machine = ''h1''');
SELECT * FROM try('ALTER TABLE t ALTER v SET DEFAULT 9', 'INSERT INTO t (id, host) VALUES (9000, ''x'')', 'ALTER TABLE t ALTER v DROP DEFAULT');
SELECT * FROM try('ALTER TABLE t ALTER v SET NOT NULL');
SELECT * FROM try('UPDATE t SET v = 0 WHERE v IS NULL', 'ALTER TABLE t ALTER v SET NOT NULL');
SELECT * FROM try('ALTER TABLE t ALTER host DROP NOT NULL', 'INSERT INTO t (id) VALUES (9000)');
-- types
SELECT * FROM try('ALTER TABLE t ALTER v TYPE bigint');
SELECT * FROM try('ALTER TABLE t ALTER v TYPE text USING ''v'' || v');
SELECT * FROM try('ALTER TABLE t ALTER v TYPE smallint USING v % 10');
SELECT * FROM try('ALTER TABLE t ALTER host TYPE varchar(10)');
SELECT * FROM try('ALTER TABLE t ALTER host TYPE varchar(1)');
SELECT * FROM try('ALTER TABLE t ALTER host TYPE text COLLATE "C"');
SELECT * FROM try('ALTER TABLE t ALTER host TYPE int USING substr(host, 2)::int');
SELECT * FROM try('ALTER TABLE t ALTER ts TYPE timestamptz');
SELECT * FROM try('ALTER TABLE t ALTER ts TYPE date');
SELECT * FROM try('ALTER TABLE t ALTER ts TYPE timestamp(0)');
SELECT * FROM try('ALTER TABLE t ALTER id TYPE numeric');
SELECT * FROM try('ALTER TABLE t ALTER m TYPE text');
SELECT * FROM try('ALTER TABLE t ALTER lv TYPE int');
SELECT * FROM try('ALTER TABLE t ALTER v TYPE level');
SELECT * FROM try('ALTER TABLE t ALTER id TYPE bigint, ALTER v TYPE text, DROP COLUMN pad, ADD COLUMN x int DEFAULT 1');
SELECT * FROM try('ALTER TABLE t ALTER v TYPE int USING 1 / (v - 3)');
-- column properties
SELECT * FROM try('ALTER TABLE t ALTER pad SET STORAGE EXTERNAL', 'ALTER TABLE t ALTER v SET STATISTICS 500', 'ALTER TABLE t ALTER v SET (n_distinct = 5)', 'ALTER TABLE t ALTER pad SET COMPRESSION pglz');
-- constraints
SELECT * FROM try('ALTER TABLE t ADD CHECK (v < 1000)');
SELECT * FROM try('ALTER TABLE t ADD CHECK (v < 40)');
SELECT * FROM try('ALTER TABLE t ADD CONSTRAINT c CHECK (v < 40) NOT VALID', 'UPDATE t SET v = 3 WHERE v >= 40', 'ALTER TABLE t VALIDATE CONSTRAINT c');
SELECT * FROM try('ALTER TABLE t ADD CONSTRAINT c CHECK (v < 40) NOT VALID', 'ALTER TABLE t VALIDATE CONSTRAINT c');
SELECT * FROM try('ALTER TABLE t ADD UNIQUE (host, ts, id)', 'INSERT INTO t (id, host) VALUES (10, ''h1'')');
SELECT * FROM try('ALTER TABLE t ADD UNIQUE (v)');
SELECT * FROM try('ALTER TABLE t ADD UNIQUE (id, v) DEFERRABLE INITIALLY DEFERRED');
SELECT * FROM try('ALTER TABLE t ADD UNIQUE NULLS NOT DISTINCT (v, id)');
SELECT * FROM try('ALTER TABLE t DROP CONSTRAINT t_pkey', 'INSERT INTO t (id, host) VALUES (10, ''h1'')', 'ALTER TABLE t ADD PRIMARY KEY (id)');
SELECT * FROM try('CREATE UNIQUE INDEX u ON t (id, host)', 'ALTER TABLE t ADD CONSTRAINT uu UNIQUE USING INDEX u', 'ALTER TABLE t ALTER CONSTRAINT uu DEFERRABLE');
SELECT * FROM try('ALTER TABLE t ADD FOREIGN KEY (id) REFERENCES other');
SELECT * FROM try('ALTER TABLE t ADD FOREIGN KEY (v) REFERENCES other');
SELECT * FROM try('UPDATE t SET v = 1 WHERE v < 0', 'ALTER TABLE t ADD CONSTRAINT f FOREIGN KEY (v) REFERENCES other ON DELETE CASCADE', 'DELETE FROM other WHERE a = 33', 'INSERT INTO other VALUES (33)');
SELECT * FROM try('CREATE TABLE refers (a int REFERENCES t ON DELETE SET NULL ON UPDATE CASCADE)', 'INSERT INTO refers SELECT id FROM t WHERE id < 50', 'UPDATE t SET id = 5000 + id WHERE id < 10', 'DELETE FROM t WHERE id = 30', 'INSERT INTO t (id, host) SELECT 7000 + count(a), ''x'' FROM refers', 'DROP TABLE refers');
SELECT * FROM try('ALTER TABLE t ADD EXCLUDE USING gist (int4range(id, id + 1) WITH &&)');
SELECT * FROM try('ALTER TABLE t ADD EXCLUDE USING btree (id WITH =)');
-- indexes
SELECT * FROM try('CREATE INDEX ON t (v)', 'CREATE INDEX ON t (host, ts DESC) INCLUDE (v)', 'CREATE INDEX ON t ((lower(pad))) WHERE v > 10', 'CREATE INDEX ON t USING hash (host)', 'CREATE INDEX ON t USING brin (ts)', 'UPDATE t SET pad = ''q'' WHERE v = 20');
SELECT * FROM try('CREATE INDEX ON t ((1 / (v - 3)))');
SELECT * FROM try('CREATE UNIQUE INDEX ON t ((id % 1000))');
SELECT * FROM try('CREATE UNIQUE INDEX ON t ((id % 1000)) WHERE id < 1000');
SELECT * FROM try('REINDEX TABLE t');
SELECT * FROM try('CREATE INDEX i ON t (v)', 'ALTER INDEX i RENAME TO j', 'REINDEX INDEX j', 'DROP INDEX j');
SELECT * FROM try('CLUSTER t USING t_pkey');
SELECT * FROM try('ALTER TABLE t CLUSTER ON t_pkey', 'CLUSTER t', 'ALTER TABLE t SET WITHOUT CLUSTER');
SELECT * FROM try('ALTER TABLE t REPLICA IDENTITY FULL', 'ALTER TABLE t REPLICA IDENTITY USING INDEX t_pkey', 'DELETE FROM t WHERE id = 50');
-- storage
SELECT * FROM try('ALTER TABLE t SET UNLOGGED');
SELECT * FROM try('ALTER TABLE t SET UNLOGGED', 'UPDATE t SET v = 0 WHERE id = 50', 'ALTER TABLE t SET LOGGED');
SELECT * FROM try('ALTER TABLE t SET TABLESPACE pg_default');
SELECT * FROM try('ALTER TABLE t SET (fillfactor = 50)', 'ALTER TABLE t RESET (fillfactor)');
SELECT * FROM try('ALTER TABLE t SET ACCESS METHOD heap', 'UPDATE t SET v = 0 WHERE id = 50');
SELECT * FROM try('ALTER TABLE t SET ACCESS METHOD strata', 'UPDATE t SET v = 0 WHERE id = 50');
SELECT * FROM try('ALTER TABLE t SET ACCESS METHOD heap', 'ALTER TABLE t SET ACCESS METHOD strata', 'DELETE FROM t WHERE v = 5');
SELECT * FROM try('TRUNCATE t');
SELECT * FROM try('TRUNCATE t', 'INSERT INTO t (id, host) SELECT i, ''x'' FROM generate_series(1, 1000) i');
SELECT * FROM try('DELETE FROM t');
SELECT * FROM try('ANALYZE t', 'DELETE FROM t WHERE id % 3 = 0', 'ANALYZE t');
-- triggers, rules, row security, owner, names
SELECT * FROM try('CREATE TRIGGER x BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION trg()', 'UPDATE t SET pad = ''t'' WHERE id < 100', 'ALTER TABLE t DISABLE TRIGGER x', 'UPDATE t SET pad = ''u'' WHERE id < 10', 'ALTER TABLE t ENABLE ALWAYS TRIGGER x', 'INSERT INTO t (id, host) VALUES (9999, ''z'')');
SELECT * FROM try('CREATE RULE r AS ON DELETE TO t DO INSTEAD UPDATE t SET v = -9 WHERE id = OLD.id', 'DELETE FROM t WHERE id < 20', 'ALTER TABLE t DISABLE RULE r', 'DELETE FROM t WHERE id < 5');
SELECT * FROM try('CREATE POLICY p ON t USING (v > 10)', 'ALTER TABLE t ENABLE ROW LEVEL SECURITY', 'ALTER TABLE t FORCE ROW LEVEL SECURITY', 'ALTER TABLE t OWNER TO matrix_role', 'SET LOCAL ROLE matrix_role', 'UPDATE matrix.t SET pad = ''p''', 'RESET ROLE');
SELECT * FROM try('ALTER TABLE t OWNER TO matrix_role', 'SET LOCAL ROLE matrix_role', 'DELETE FROM matrix.t WHERE v = 3', 'RESET ROLE');
SELECT * FROM try('ALTER TABLE t RENAME TO u', 'DELETE FROM u WHERE v = 3', 'ALTER TABLE u RENAME TO t');
SELECT * FROM try('ALTER TABLE t SET SCHEMA public', 'DELETE FROM public.t WHERE v = 3', 'ALTER TABLE public.t SET SCHEMA matrix');
SELECT * FROM try('COMMENT ON TABLE t IS ''c''', 'GRANT SELECT (id) ON t TO matrix_role', 'DELETE FROM t WHERE v = 3');
-- inheritance and partitions
SELECT * FROM try('ALTER TABLE t INHERIT parent');
SELECT * FROM try('ALTER TABLE t ADD COLUMN gone int', 'ALTER TABLE t INHERIT parent', 'UPDATE parent SET v = 1 WHERE id < 50', 'DELETE FROM parent WHERE id = 60', 'ALTER TABLE parent ADD COLUMN late int DEFAULT 4', 'ALTER TABLE t NO INHERIT parent', 'ALTER TABLE parent DROP COLUMN late');
SELECT * FROM try('CREATE TABLE parted (LIKE t) PARTITION BY RANGE (id)', 'ALTER TABLE parted ATTACH PARTITION t FOR VALUES FROM (0) TO (1000)');
SELECT * FROM try('CREATE TABLE parted (LIKE t) PARTITION BY RANGE (id)', 'ALTER TABLE parted ATTACH PARTITION t FOR VALUES FROM (0) TO (10000)', 'CREATE TABLE part2 PARTITION OF parted FOR VALUES FROM (10000) TO (20000)', 'UPDATE parted SET id = id + 10000 WHERE id BETWEEN 300 AND 310', 'UPDATE parted SET id = id - 7000 WHERE id > 10000 AND id < 10305', 'ALTER TABLE parted ADD COLUMN x int DEFAULT 3', 'ALTER TABLE parted DETACH PARTITION t', 'DROP TABLE parted');
SELECT * FROM try('CREATE TABLE parted (LIKE t) PARTITION BY LIST (host)', 'CREATE TABLE rest PARTITION OF parted DEFAULT', 'INSERT INTO parted SELECT 50000 + id, ''rest'', v FROM t WHERE id < 10', 'ALTER TABLE parted ATTACH PARTITION t FOR VALUES IN (''h0'', ''h1'', ''h2'')', 'UPDATE parted SET host = ''h1'' WHERE id > 50000', 'ALTER TABLE parted DETACH PARTITION t', 'DROP TABLE parted');
-- other ways to make a table of it
SELECT * FROM try('CREATE TABLE copy AS TABLE t', 'DROP TABLE t', 'ALTER TABLE copy RENAME TO t');
SELECT * FROM try('CREATE TABLE copy (LIKE t INCLUDING ALL) USING strata', 'INSERT INTO copy TABLE t', 'DROP TABLE t', 'ALTER TABLE copy RENAME TO t');
SELECT * FROM try('CREATE TABLE copy AS SELECT * FROM t WHERE v > 3', 'DROP TABLE t', 'ALTER TABLE copy RENAME TO t');
SELECT * FROM try('CREATE TEMP TABLE tt USING strata AS TABLE t', 'SELECT compress_chunk(''tt'')', 'UPDATE tt SET v = 8 WHERE id = 9', 'DELETE FROM t', 'INSERT INTO t TABLE tt', 'DROP TABLE tt');
SELECT * FROM try('CREATE VIEW view AS SELECT * FROM t WHERE v > 5 WITH CHECK OPTION', 'UPDATE view SET pad = ''w'' WHERE id < 100', 'UPDATE view SET v = 1 WHERE id = 41');
SELECT * FROM try('DROP TABLE t', 'CREATE TABLE t (id int) USING heap');
-- all of it undone
SELECT * FROM try('DO $x$ BEGIN ALTER TABLE t ALTER v TYPE text; TRUNCATE t; RAISE ''no''; EXCEPTION WHEN raise_exception THEN NULL; END $x$');
SELECT * FROM try('DO $x$ BEGIN DROP TABLE t; RAISE ''no''; EXCEPTION WHEN raise_exception THEN NULL; END $x$', 'DELETE FROM t WHERE id = 1');
SELECT * FROM try('DO $x$ BEGIN CLUSTER t USING t_pkey; UPDATE t SET v = 99; RAISE ''no''; EXCEPTION WHEN raise_exception THEN NULL; END $x$', 'DELETE FROM t WHERE id = 1');
\pset format aligned
\pset tuples_only off
DROP TABLE IF EXISTS t CASCADE;
SELECT strata.gc();
SELECT count(*) AS companions FROM pg_class WHERE relname ~ '^batch_[0-9]+_[0-9]+$';

-- what runs in no transaction block
CREATE TABLE st (id int PRIMARY KEY, host text, v int, pad text) USING strata;
INSERT INTO st SELECT i, 'h' || i % 3, i % 50, repeat('p', i % 40) FROM generate_series(1, 2000) i;
SELECT compress_chunk('st');
INSERT INTO st SELECT i, 'n', i % 50, '' FROM generate_series(3001, 3100) i;
UPDATE st SET v = 0 WHERE id = 77;
CREATE TABLE hp (LIKE st INCLUDING ALL) USING heap;
INSERT INTO hp TABLE st;
CREATE FUNCTION same() RETURNS TABLE (differences bigint, problems bigint) LANGUAGE sql AS $$
    SELECT (SELECT count(*) FROM ((TABLE st EXCEPT ALL TABLE hp) UNION ALL (TABLE hp EXCEPT ALL TABLE st)) d),
           (SELECT count(*) FROM strata.verify('st')) $$;
CREATE INDEX CONCURRENTLY st_v ON st (v);
CREATE UNIQUE INDEX CONCURRENTLY st_u ON st (id, v);
CREATE UNIQUE INDEX CONCURRENTLY st_bad ON st (v);
SELECT indexrelid::regclass, indisvalid FROM pg_index WHERE indrelid = 'st'::regclass ORDER BY indexrelid::regclass::text COLLATE "C";
INSERT INTO st VALUES (5, 'dup', 5, '');
DROP INDEX CONCURRENTLY st_bad;
CREATE INDEX CONCURRENTLY st_e ON st ((lower(pad))) WHERE v > 10;
SELECT * FROM same();
REINDEX INDEX CONCURRENTLY st_v;
REINDEX TABLE CONCURRENTLY st;
SELECT * FROM same();
SET enable_seqscan = off;
SELECT count(*), sum(id) FROM st WHERE v = 7;
SELECT count(*), sum(id) FROM hp WHERE v = 7;
RESET enable_seqscan;
VACUUM st;
VACUUM (FULL, ANALYZE) st;
SELECT * FROM same();
CLUSTER st USING st_v;
SELECT * FROM same();
VACUUM (FREEZE, DISABLE_PAGE_SKIPPING) st;
SELECT * FROM same();
DROP INDEX CONCURRENTLY st_v;
-- a partition detached concurrently
CREATE TABLE parted (id int, v int) PARTITION BY RANGE (id);
CREATE TABLE part1 PARTITION OF parted FOR VALUES FROM (0) TO (10000) USING strata;
INSERT INTO parted SELECT i, i % 9 FROM generate_series(1, 3000) i;
SELECT compress_chunk('parted');
ALTER TABLE parted DETACH PARTITION part1 CONCURRENTLY;
SELECT count(*), sum(v) FROM part1;
ALTER TABLE parted ATTACH PARTITION part1 FOR VALUES FROM (0) TO (10000);
SELECT count(*), sum(v) FROM parted WHERE id > 100;

RESET search_path;
SET client_min_messages = error;
DROP SCHEMA matrix CASCADE;
DROP ROLE matrix_role;
SELECT count(*) AS companions FROM pg_class WHERE relname ~ '^batch_[0-9]+_[0-9]+$';
