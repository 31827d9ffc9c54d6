-- Everything that changes rows, on tables whose rows are partly compressed.
-- Each statement runs on a heap table (h_...) and on a strata table (s_...);
-- rows, row counts, RETURNING and errors must be the same.
SET client_min_messages = warning;
SET strata.batch_rows = 90;
CREATE SCHEMA am_dml;
SET search_path = am_dml, public;

-- Differences between all pairs of tables h_x, s_x.
CREATE FUNCTION differences() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    name text;
    n bigint;
    total bigint := 0;
BEGIN
    FOR name IN SELECT substr(relname, 3) FROM pg_class
                WHERE relnamespace = 'am_dml'::regnamespace AND relname LIKE 'h\_%' AND relkind IN ('r', 'p')
    LOOP
        EXECUTE format('SELECT count(*) FROM ((SELECT t::text FROM h_%1$s t EXCEPT ALL SELECT t::text FROM s_%1$s t)
                        UNION ALL (SELECT t::text FROM s_%1$s t EXCEPT ALL SELECT t::text FROM h_%1$s t)) d', name) INTO n;
        total := total + n;
    END LOOP;
    RETURN total;
END $$;

-- Run stmt, with @ standing for h_ or s_; the sorted result rows are compared
-- too.  A statement that fails is rolled back to before it.
CREATE FUNCTION run_one(stmt text, prefix text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    r record;
    result text[] := '{}';
    n bigint;
BEGIN
    stmt := replace(stmt, '@', prefix);
    IF stmt ~* 'returning|^ *select' THEN
        FOR r IN EXECUTE stmt LOOP
            result := result || r::text;
        END LOOP;
        RETURN format('%s rows %s', cardinality(result), (SELECT md5(string_agg(x, chr(10) ORDER BY x)) FROM unnest(result) x));
    END IF;
    EXECUTE stmt;
    GET DIAGNOSTICS n = ROW_COUNT;
    RETURN format('%s rows', n);
EXCEPTION WHEN OTHERS THEN
    RETURN format('%s: %s', SQLSTATE, regexp_replace(SQLERRM, '\m' || prefix, '@', 'g'));
END $$;
CREATE FUNCTION pair(stmt text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    h text := run_one(stmt, 'h_');
    s text := run_one(stmt, 's_');
    d bigint := differences();
BEGIN
    IF h = s AND d = 0 THEN
        RETURN CASE WHEN h LIKE '%rows%' THEN split_part(h, ' ', 1) || ' rows' ELSE h END;
    END IF;
    RETURN format('DIFFERENT: heap "%s", strata "%s", %s rows differ', h, s, d);
END $$;
-- everything into batches again
CREATE FUNCTION pack() RETURNS void LANGUAGE sql AS $$
    SELECT compress_chunk(c.oid, recompress => true) FROM pg_class c JOIN pg_am a ON a.oid = relam
    WHERE relnamespace = 'am_dml'::regnamespace AND amname = 'strata' AND relkind = 'r';
$$;
CREATE FUNCTION sound() RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM pg_class c JOIN pg_am a ON a.oid = relam, strata.verify(c.oid) v
    WHERE relnamespace = 'am_dml'::regnamespace AND amname = 'strata' AND relkind = 'r';
$$;

CREATE TABLE h_t (id int PRIMARY KEY, g text, ts timestamp, v numeric, w float8, tags int[], note text,
                  twice numeric GENERATED ALWAYS AS (v * 2) STORED);
CREATE TABLE s_t (LIKE h_t INCLUDING ALL) USING strata;
ALTER TABLE s_t SET (strata.segmentby = 'g', strata.orderby = 'ts DESC');
INSERT INTO h_t SELECT i, 'g' || i % 5, timestamp '2024-01-01' + i * interval '1 minute', i / 7.0,
    CASE WHEN i % 11 = 0 THEN 'NaN' ELSE i * 1.5 END, ARRAY[i, i + 1], CASE WHEN i % 3 > 0 THEN repeat('n', i % 40) END
FROM generate_series(1, 3000) i;
INSERT INTO s_t SELECT id, g, ts, v, w, tags, note FROM h_t;
SELECT compress_chunk('s_t');
SELECT row_store_rows, batch_rows FROM strata.tables WHERE relation = 's_t'::regclass;
SELECT differences();

-- UPDATE
SELECT pair('UPDATE @t SET v = v + 1 WHERE id = 77');
SELECT pair('UPDATE @t SET v = v + 1 WHERE id BETWEEN 70 AND 90 RETURNING *');
SELECT pair('UPDATE @t SET g = ''moved'' WHERE g = ''g3'' AND id < 500 RETURNING id, g, ts');
SELECT pair('UPDATE @t SET ts = ts - interval ''10 years'', w = -0.0 WHERE id % 100 = 7');
SELECT pair('UPDATE @t SET id = id + 10000 WHERE id % 500 = 1 RETURNING id');
SELECT pair('UPDATE @t SET id = 5 WHERE id = 6');
SELECT pair('UPDATE @t SET id = id + 1 WHERE id BETWEEN 2000 AND 2010');
SELECT pair('UPDATE @t SET (v, note) = (SELECT max(v), min(note) FROM @t x WHERE x.g = @t.g) WHERE id % 300 = 0 RETURNING v, note');
SELECT pair('UPDATE @t t SET v = u.v, note = ''twice'' FROM @t u WHERE u.id IN (t.id + 1, t.id + 2) AND t.id % 250 = 0 AND u.id % 250 = 1 RETURNING t.id, t.v, u.id');
SELECT pair('UPDATE @t SET v = v WHERE false');
SELECT pair('UPDATE @t SET v = 1 / (v - v) WHERE id = 50');
SELECT pack();
SELECT pair('UPDATE @t SET note = repeat(''long'', 5000) || id WHERE id IN (20, 1020, 2020) RETURNING md5(note)');
SELECT pack();
SELECT pair('UPDATE @t SET v = v + 1, note = note WHERE length(note) > 10000 RETURNING length(note)');
-- the whole table
SELECT pair('UPDATE @t SET v = v + 0.5');
SELECT pack();

-- DELETE
SELECT pair('DELETE FROM @t WHERE id = 100 RETURNING *');
SELECT pair('DELETE FROM @t WHERE id = 100 RETURNING *');
SELECT pair('DELETE FROM @t WHERE g = ''g1'' AND id % 2 = 0 RETURNING id, twice');
SELECT pair('DELETE FROM @t t USING @t u WHERE t.id = u.id + 1 AND u.id % 70 = 0 RETURNING t.id, u.note');
SELECT pair('DELETE FROM @t WHERE w = ''NaN'' AND id < 300');
SELECT pair('DELETE FROM @t WHERE id IN (SELECT max(id) FROM @t GROUP BY g)');
SELECT pack();
SELECT pair('WITH gone AS (DELETE FROM @t WHERE id BETWEEN 900 AND 1000 RETURNING *) INSERT INTO @t SELECT id, ''back'', ts, v, w, tags, note FROM gone RETURNING *');
SELECT pair('DELETE FROM @t WHERE id BETWEEN 900 AND 1000');
SELECT pair('INSERT INTO @t SELECT id + 900, g, ts, v, w, tags, note FROM @t WHERE id BETWEEN 1 AND 90 ON CONFLICT DO NOTHING RETURNING id');

-- INSERT, unique keys
SELECT pack();
SELECT pair('INSERT INTO @t (id, g) VALUES (79, ''dup'')');
SELECT pair('INSERT INTO @t (id, g) VALUES (20000, ''a''), (20001, ''b''), (78, ''dup'')');
SELECT pair('INSERT INTO @t (id, g) VALUES (79, ''x''), (20000, ''y'') ON CONFLICT DO NOTHING RETURNING *');
SELECT pair('INSERT INTO @t (id, g, v) SELECT i, ''up'', i FROM generate_series(60, 120) i ON CONFLICT (id) DO UPDATE SET v = @t.v + excluded.v, note = excluded.g RETURNING *');
SELECT pair('INSERT INTO @t (id, v) VALUES (130, 1), (131, 2) ON CONFLICT (id) DO UPDATE SET v = excluded.v WHERE @t.id = 131 RETURNING id, v');
SELECT pair('INSERT INTO @t (id, v) VALUES (140, 1), (140, 2) ON CONFLICT (id) DO UPDATE SET v = excluded.v');
SELECT pair('INSERT INTO @t (id, v) VALUES (30000, 1), (30000, 2) ON CONFLICT (id) DO UPDATE SET v = excluded.v');
SELECT pair('INSERT INTO @t (id, v) VALUES (150, 1) ON CONFLICT (id) DO UPDATE SET id = 151');
SELECT pair('INSERT INTO @t (id, v) VALUES (NULL, 1)');
SELECT pack();

-- MERGE
SELECT pair($q$MERGE INTO @t t USING (SELECT i, i % 4 AS k FROM generate_series(2990, 3020) i) s ON t.id = s.i
    WHEN MATCHED AND s.k = 0 THEN DELETE
    WHEN MATCHED AND s.k = 1 THEN DO NOTHING
    WHEN MATCHED THEN UPDATE SET v = t.v + s.k, note = 'merged'
    WHEN NOT MATCHED AND s.k < 3 THEN INSERT (id, g, v) VALUES (s.i, 'merged', s.k)$q$);
SELECT pair($q$MERGE INTO @t t USING (VALUES (300), (300)) s (i) ON t.id = s.i WHEN MATCHED THEN UPDATE SET v = 0$q$);
SELECT pair($q$MERGE INTO @t t USING @t s ON t.id = s.id + 1000 WHEN MATCHED THEN UPDATE SET note = s.note WHEN NOT MATCHED THEN DO NOTHING$q$);
SELECT pack(), sound();

-- savepoints
BEGIN;
SELECT pair('UPDATE @t SET v = 0 WHERE id BETWEEN 200 AND 210');
SAVEPOINT a;
SELECT pair('UPDATE @t SET v = 1 WHERE id BETWEEN 205 AND 415');
SAVEPOINT b;
SELECT pair('DELETE FROM @t WHERE id BETWEEN 100 AND 300');
ROLLBACK TO b;
SELECT differences();
SELECT pair('UPDATE @t SET v = v + 5 WHERE id BETWEEN 210 AND 230 RETURNING id, v');
ROLLBACK TO a;
SELECT pair('UPDATE @t SET v = v + 7 WHERE id BETWEEN 210 AND 230 RETURNING id, v');
RELEASE a;
COMMIT;
SELECT differences();
BEGIN;
SELECT pair('DELETE FROM @t');
ROLLBACK;
SELECT differences();
BEGIN;
SELECT pair('UPDATE @t SET v = v + 1 WHERE id = 444');
SELECT compress_chunk('s_t', recompress => true);
SELECT pair('UPDATE @t SET v = v + 1 WHERE id BETWEEN 440 AND 450');
ROLLBACK;
SELECT differences();

-- changed more than once by one transaction, and by one statement
BEGIN;
SELECT pair('UPDATE @t SET v = v + 1 WHERE id BETWEEN 500 AND 700');
SELECT pair('UPDATE @t SET v = v + 1 WHERE id BETWEEN 500 AND 700');
SELECT pair('DELETE FROM @t WHERE id BETWEEN 600 AND 650 RETURNING v');
SELECT pair('INSERT INTO @t (id, v) SELECT i, i FROM generate_series(600, 620) i');
SELECT pair('WITH a AS (UPDATE @t SET v = 1 WHERE id = 510 RETURNING id), b AS (UPDATE @t SET v = 2 WHERE id = 520 RETURNING id) SELECT * FROM a, b');
COMMIT;
SELECT pack();

-- PL/pgSQL: the loop's cursor goes on over what it changes
CREATE FUNCTION walk(prefix text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    r record;
    n bigint := 0;
BEGIN
    FOR r IN EXECUTE format('SELECT id, v FROM %st WHERE id BETWEEN 800 AND 1500 ORDER BY id', prefix) LOOP
        n := n + 1;
        EXECUTE format('UPDATE %st SET v = v + 1 WHERE id IN ($1, $1 + 1)', prefix) USING r.id;
        BEGIN
            EXECUTE format('UPDATE %st SET v = 0, id = CASE WHEN id %% 2 = 0 THEN id ELSE 1 END WHERE id = $1', prefix) USING r.id + 2;
        EXCEPTION WHEN unique_violation THEN
            NULL;
        END;
    END LOOP;
    RETURN n;
END $$;
SELECT pair('SELECT walk(''@'')');
SELECT pack();

-- prepared statements, custom and generic
PREPARE upd (text, int) AS UPDATE s_t SET v = v * 2 WHERE g = $1 AND id < $2;
PREPARE sel (text, int) AS SELECT count(*), sum(v), min(ts) FROM s_t WHERE g = $1 AND id < $2;
PREPARE hupd (text, int) AS UPDATE h_t SET v = v * 2 WHERE g = $1 AND id < $2;
PREPARE hsel (text, int) AS SELECT count(*), sum(v), min(ts) FROM h_t WHERE g = $1 AND id < $2;
EXECUTE upd('g2', 400);
EXECUTE hupd('g2', 400);
SET plan_cache_mode = force_generic_plan;
EXECUTE upd('g4', 800);
EXECUTE hupd('g4', 800);
SELECT differences();
CREATE TEMP TABLE r AS EXECUTE sel('g4', 2000);
CREATE TEMP TABLE r2 AS EXECUTE hsel('g4', 2000);
TABLE r EXCEPT TABLE r2;
SELECT pack();
EXECUTE upd('g4', 900);
EXECUTE hupd('g4', 900);
SELECT differences();
RESET plan_cache_mode;
DEALLOCATE ALL;
DROP TABLE r, r2;

-- cursors
SELECT pack();
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id, v FROM s_t ORDER BY id;
MOVE ABSOLUTE 500 FROM c;
FETCH 1 FROM c;
UPDATE s_t SET v = -1;
FETCH BACKWARD 2 FROM c;
FETCH RELATIVE 3 FROM c;
DELETE FROM s_t;
FETCH LAST FROM c;
FETCH FIRST FROM c;
MOVE FORWARD ALL FROM c;
ROLLBACK;
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM s_t WHERE id BETWEEN 1600 AND 1700;
DECLARE d CURSOR FOR SELECT * FROM h_t WHERE id = 1600;
DECLARE e CURSOR FOR SELECT * FROM s_t WHERE id = 1600;
FETCH 1 FROM d \g /dev/null
FETCH 1 FROM e \g /dev/null
UPDATE s_t SET v = -5 WHERE CURRENT OF e RETURNING id, v, twice;
UPDATE h_t SET v = -5 WHERE CURRENT OF d RETURNING id, v, twice;
UPDATE s_t SET v = -6 WHERE CURRENT OF e RETURNING id, v, twice;
UPDATE h_t SET v = -6 WHERE CURRENT OF d RETURNING id, v, twice;
DELETE FROM s_t WHERE CURRENT OF e RETURNING id, v;
DELETE FROM h_t WHERE CURRENT OF d RETURNING id, v;
DELETE FROM s_t WHERE CURRENT OF e RETURNING id, v;
DELETE FROM h_t WHERE CURRENT OF d RETURNING id, v;
SELECT differences();
-- every row through a cursor, siblings of one batch among them
CLOSE c;
DECLARE c CURSOR FOR SELECT * FROM s_t WHERE id BETWEEN 1601 AND 1700 FOR UPDATE;
DO $$
DECLARE
    c refcursor := 'c';
    r record;
BEGIN
    LOOP
        FETCH c INTO r;
        EXIT WHEN NOT FOUND;
        UPDATE s_t SET note = 'cursor' || r.id WHERE CURRENT OF c;
        UPDATE h_t SET note = 'cursor' || r.id WHERE id = r.id;
    END LOOP;
END $$;
SELECT differences();
-- a table that a cursor reads is not compressed under it
SAVEPOINT s;
SELECT compress_chunk('s_t', recompress => true);
ROLLBACK TO s;
SELECT decompress_chunk('s_t');
ROLLBACK TO s;
COMMIT;
BEGIN;
DECLARE held CURSOR WITH HOLD FOR SELECT count(*) FROM s_t WHERE note LIKE 'cursor%';
COMMIT;
SELECT pack();
FETCH ALL FROM held;
CLOSE held;

-- row locks
SELECT pair('SELECT id, v FROM @t WHERE id BETWEEN 300 AND 320 FOR UPDATE');
SELECT pair('SELECT id, v FROM @t WHERE id BETWEEN 500 AND 520 FOR KEY SHARE');
SELECT pair('SELECT t.id FROM @t t JOIN @t u ON u.id = t.id + 1 WHERE t.id < 50 FOR SHARE OF u SKIP LOCKED');

-- triggers: order, OLD and NEW, what they may change, transition tables
CREATE TABLE h_log (what text);
CREATE TABLE s_log (what text);
CREATE FUNCTION row_trigger() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_WHEN = 'BEFORE' AND TG_OP = 'UPDATE' THEN NEW.note := 'by trigger'; END IF;
    IF TG_WHEN = 'BEFORE' AND TG_OP = 'DELETE' AND OLD.id % 10 = 3 THEN RETURN NULL; END IF;
    EXECUTE format('INSERT INTO %s_log (what) VALUES ($1)', left(TG_TABLE_NAME, 1))
        USING concat_ws(' ', TG_WHEN, TG_OP, OLD.id, OLD.v, OLD.note, '->', NEW.id, NEW.v, NEW.twice);
    IF TG_WHEN = 'AFTER' AND TG_OP = 'UPDATE' AND NEW.id = 1205 THEN
        EXECUTE format('UPDATE %I SET v = v + 100 WHERE id = 1207', TG_TABLE_NAME);
    END IF;
    RETURN coalesce(NEW, OLD);
END $$;
CREATE FUNCTION statement_trigger() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    what text;
BEGIN
    what := TG_OP;
    IF TG_OP <> 'INSERT' THEN what := what || (SELECT format(' old %s %s', count(*), sum(v)) FROM o); END IF;
    IF TG_OP <> 'DELETE' THEN what := what || (SELECT format(' new %s %s', count(*), sum(v)) FROM n); END IF;
    EXECUTE format('INSERT INTO %s_log (what) VALUES ($1)', left(TG_TABLE_NAME, 1)) USING what;
    RETURN NULL;
END $$;
DO $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY '{h_t,s_t}'::text[] LOOP
        EXECUTE format('CREATE TRIGGER b BEFORE INSERT OR UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION row_trigger()', t);
        EXECUTE format('CREATE TRIGGER a AFTER INSERT OR UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION row_trigger()', t);
        EXECUTE format('CREATE TRIGGER si AFTER INSERT ON %I REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION statement_trigger()', t);
        EXECUTE format('CREATE TRIGGER su AFTER UPDATE ON %I REFERENCING OLD TABLE AS o NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION statement_trigger()', t);
        EXECUTE format('CREATE TRIGGER sd AFTER DELETE ON %I REFERENCING OLD TABLE AS o FOR EACH STATEMENT EXECUTE FUNCTION statement_trigger()', t);
    END LOOP;
END $$;
SELECT pack();
SELECT pair('UPDATE @t SET v = v + 1 WHERE id BETWEEN 1200 AND 1210 RETURNING id, v, note');
SELECT pair('DELETE FROM @t WHERE id BETWEEN 1220 AND 1240 RETURNING id');
SELECT pair('INSERT INTO @t (id, v) SELECT i, 1 FROM generate_series(1225, 1300) i ON CONFLICT (id) DO UPDATE SET v = @t.v + 1 RETURNING id, v');
SELECT pair('MERGE INTO @t t USING generate_series(1305, 1310) i ON t.id = i WHEN MATCHED AND i < 1308 THEN UPDATE SET v = 3 WHEN MATCHED THEN DELETE');
SELECT count(*) FROM s_log;
-- a deferred trigger finds its rows at commit; compression does not take them away before
CREATE CONSTRAINT TRIGGER late AFTER UPDATE ON h_t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION row_trigger();
CREATE CONSTRAINT TRIGGER late AFTER UPDATE ON s_t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION row_trigger();
BEGIN;
SELECT pair('UPDATE @t SET v = v + 1 WHERE id BETWEEN 1400 AND 1410');
SAVEPOINT s;
SELECT compress_chunk('s_t', recompress => true);
ROLLBACK TO s;
COMMIT;
SELECT differences();
DO $$ DECLARE t text; BEGIN FOREACH t IN ARRAY '{h_t,s_t}'::text[] LOOP EXECUTE format('ALTER TABLE %I DISABLE TRIGGER USER', t); END LOOP; END $$;

-- foreign keys, both tables compressed, in both directions
CREATE TABLE h_c (cid int PRIMARY KEY, id int REFERENCES h_t (id) ON UPDATE CASCADE ON DELETE CASCADE, n int REFERENCES h_t (id) ON DELETE SET NULL);
CREATE TABLE s_c (cid int PRIMARY KEY, id int REFERENCES s_t (id) ON UPDATE CASCADE ON DELETE CASCADE, n int REFERENCES s_t (id) ON DELETE SET NULL) USING strata;
ALTER TABLE s_c SET (strata.orderby = 'cid');
INSERT INTO h_c SELECT row_number() OVER (ORDER BY id), id, CASE WHEN id % 2 = 0 THEN id END FROM h_t WHERE id < 2500;
INSERT INTO s_c TABLE h_c;
SELECT pack();
SELECT pair('INSERT INTO @c VALUES (100000, 99999)');
SELECT pair('INSERT INTO @c SELECT 100000 + id, id FROM @t WHERE id % 100 = 0');
SELECT pair('UPDATE @c SET id = 99999 WHERE cid = 50');
SELECT pair('DELETE FROM @t WHERE id BETWEEN 1501 AND 1520');
SELECT pair('UPDATE @t SET id = id + 50000 WHERE id BETWEEN 1530 AND 1540 AND id % 2 = 1');
SELECT pack();
SELECT pair('DELETE FROM @t WHERE id >= 51530');
SELECT pair('UPDATE @c SET n = id WHERE cid % 3 = 0');
ALTER TABLE h_c ADD FOREIGN KEY (n) REFERENCES h_t (id) ON DELETE RESTRICT;
ALTER TABLE s_c ADD FOREIGN KEY (n) REFERENCES s_t (id) ON DELETE RESTRICT;
SELECT pack();
SELECT pair('DELETE FROM @t WHERE id = 1800');
SELECT pair('ALTER TABLE @c ADD CHECK (cid < 1000)');
SELECT pack(), sound();
-- self reference, deferred
CREATE TABLE h_tree (id int PRIMARY KEY, up int REFERENCES h_tree DEFERRABLE INITIALLY DEFERRED, pad text);
CREATE TABLE s_tree (id int PRIMARY KEY, up int REFERENCES s_tree DEFERRABLE INITIALLY DEFERRED, pad text) USING strata;
SELECT pair('INSERT INTO @tree SELECT i, i / 2, repeat(''p'', 50) FROM generate_series(0, 1000) i');
SELECT pack();
BEGIN;
DELETE FROM s_tree WHERE id = 10;
INSERT INTO s_tree VALUES (10, 5, 'again');
COMMIT;
BEGIN;
DELETE FROM s_tree WHERE id = 10;
COMMIT;
SELECT count(*) FROM s_tree;
DELETE FROM h_tree;
DELETE FROM s_tree;
SELECT differences();
DROP TABLE h_tree, s_tree, h_c, s_c;

-- expression, partial and multi-column unique indexes
CREATE UNIQUE INDEX ON h_t (g, ts) WHERE v > 100;
CREATE UNIQUE INDEX ON s_t (g, ts) WHERE v > 100;
CREATE UNIQUE INDEX ON h_t ((g || '/' || id), w);
CREATE UNIQUE INDEX ON s_t ((g || '/' || id), w);
SELECT pack();
SELECT pair('INSERT INTO @t (id, g, ts, v) SELECT 60000, g, ts, v FROM @t WHERE id = 1011');
SELECT pair('INSERT INTO @t (id, g, ts, v) SELECT 60000, g, ts, 50 FROM @t WHERE id = 1011');
SELECT pair('UPDATE @t SET v = 500 WHERE id = 60000');
SELECT pair('INSERT INTO @t (id, g, w) VALUES (60001, ''g1'', 1) ON CONFLICT DO NOTHING');
SELECT pair('INSERT INTO @t (id, g, ts, v) SELECT 60002, g, ts, v FROM @t WHERE id = 1011 ON CONFLICT (g, ts) WHERE v > 100 DO UPDATE SET note = ''partial'' RETURNING id, note');
-- text keys, NULLs, a nondeterministic collation, a deferrable key
CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE h_k (k text COLLATE ci UNIQUE, n int, m int, UNIQUE NULLS NOT DISTINCT (n, m), pad text, d int UNIQUE DEFERRABLE);
CREATE TABLE s_k (k text COLLATE ci UNIQUE, n int, m int, UNIQUE NULLS NOT DISTINCT (n, m), pad text, d int UNIQUE DEFERRABLE) USING strata;
SELECT pair('INSERT INTO @k SELECT ''Key'' || i, i, CASE WHEN i % 10 > 0 THEN i END, repeat(''p'', 60), i FROM generate_series(1, 1000) i');
SELECT pack();
SELECT pair('INSERT INTO @k (k, n) VALUES (''KEY77'', -1)');
SELECT pair('INSERT INTO @k (k, n, m) VALUES (''new'', 10, NULL)');
SELECT pair('INSERT INTO @k (k, n, m) VALUES (''new'', 11, NULL)');
SELECT pair('INSERT INTO @k (k, n, m) VALUES (NULL, -2, NULL), (NULL, NULL, NULL)');
SELECT pair('INSERT INTO @k (k, n, m) VALUES (NULL, NULL, NULL)');
SELECT pair('UPDATE @k SET d = d + 1');
SELECT pair('UPDATE @k SET d = 500 WHERE d = 501');
SELECT pair('INSERT INTO @k (k, n) VALUES (''kEy5'', -9), (''KEy6'', -8) ON CONFLICT (k) DO UPDATE SET pad = ''up'' RETURNING k, n');
SELECT pair('SELECT k FROM @k WHERE k = ''KEY999''');
SELECT pack(), sound();

-- partitions: rows move between compressed ones
CREATE TABLE h_p (id int, v int, pad text, PRIMARY KEY (id)) PARTITION BY RANGE (id);
CREATE TABLE h_p1 PARTITION OF h_p FOR VALUES FROM (0) TO (1000);
CREATE TABLE h_p2 PARTITION OF h_p FOR VALUES FROM (1000) TO (2000);
CREATE TABLE s_p (id int, v int, pad text, PRIMARY KEY (id)) PARTITION BY RANGE (id);
CREATE TABLE s_p1 PARTITION OF s_p FOR VALUES FROM (0) TO (1000) USING strata;
CREATE TABLE s_p2 PARTITION OF s_p FOR VALUES FROM (1000) TO (2000) USING strata;
SELECT pair('INSERT INTO @p SELECT i, i, repeat(''p'', 60) FROM generate_series(0, 1499) i');
SELECT compress_chunk('s_p');
SELECT pair('UPDATE @p SET id = id + 1000 WHERE id BETWEEN 600 AND 700 RETURNING tableoid::regclass::text ~ ''p2'', id');
SELECT pair('UPDATE @p SET id = id - 1000 WHERE id BETWEEN 1600 AND 1650');
SELECT pair('UPDATE @p SET id = id + 1 WHERE id = 999');
SELECT pair('INSERT INTO @p VALUES (5, 1), (1005, 1), (1900, 1) ON CONFLICT (id) DO UPDATE SET v = @p.v + 1 RETURNING *');
SELECT pair('DELETE FROM @p WHERE v % 7 = 0 RETURNING v');
SELECT pair('INSERT INTO @p VALUES (2500, 1)');
SELECT pack();
SELECT pair('MERGE INTO @p p USING generate_series(990, 1010) i ON p.id = i WHEN MATCHED THEN UPDATE SET id = i + 850 WHEN NOT MATCHED THEN INSERT VALUES (i, 0)');
SELECT pack(), sound();

-- row security and views
CREATE ROLE am_dml_user;
GRANT am_dml_user TO CURRENT_USER;
GRANT USAGE ON SCHEMA am_dml TO am_dml_user;
GRANT SELECT, UPDATE (v, note), DELETE ON h_t, s_t TO am_dml_user;
ALTER TABLE h_t ENABLE ROW LEVEL SECURITY;
ALTER TABLE s_t ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON h_t TO am_dml_user USING (g IN ('g0', 'g2')) WITH CHECK (v < 1000000);
CREATE POLICY p ON s_t TO am_dml_user USING (g IN ('g0', 'g2')) WITH CHECK (v < 1000000);
CREATE FUNCTION leak(text) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS $$
BEGIN
    IF $1 NOT IN ('g0', 'g2') THEN RAISE EXCEPTION 'leaked %', $1; END IF;
    RETURN true;
END $$;
SET ROLE am_dml_user;
SELECT (SELECT count(*) FROM h_t) = (SELECT count(*) FROM s_t) AS same, count(*) > 0 AS some FROM s_t WHERE leak(g);
WITH a AS (UPDATE s_t SET v = 1 WHERE id % 10 = 0 AND leak(g) RETURNING g) SELECT DISTINCT g FROM a ORDER BY g;
WITH a AS (UPDATE h_t SET v = 1 WHERE id % 10 = 0 AND leak(g) RETURNING g) SELECT DISTINCT g FROM a ORDER BY g;
UPDATE s_t SET v = 1000001 WHERE id < 100;
UPDATE s_t SET id = 1;
SELECT count(*) FROM pg_class c WHERE relnamespace = '_strata'::regnamespace AND relkind <> 'v' AND has_table_privilege(oid, 'SELECT');
RESET ROLE;
SELECT differences();
CREATE VIEW h_v AS SELECT * FROM h_t WHERE g = 'g0' WITH CHECK OPTION;
CREATE VIEW s_v AS SELECT * FROM s_t WHERE g = 'g0' WITH CHECK OPTION;
SELECT pack();
SELECT pair('UPDATE @v SET v = 5 WHERE id < 1000 RETURNING *');
SELECT pair('UPDATE @v SET g = ''g1'' WHERE id < 1000');
SELECT pair('DELETE FROM @v WHERE id > 2500');

-- COPY in and out: the two sums are the same
SELECT pack();
\copy h_t TO PROGRAM 'sort | cksum'
\copy s_t TO PROGRAM 'sort | cksum'
CREATE TABLE h_copy (id int PRIMARY KEY, v int);
CREATE TABLE s_copy (id int PRIMARY KEY, v int) USING strata;
SELECT pair('COPY @copy (id) FROM PROGRAM ''seq 1 2000''');
SELECT pack();
SELECT pair('COPY @copy (id) FROM PROGRAM ''seq 2001 2100; echo 1000''');
SELECT pair('COPY @copy (id) FROM PROGRAM ''seq 2001 2100''');
SELECT pair('COPY @copy (id, v) FROM PROGRAM ''echo 5000,x'' CSV');
BEGIN;
TRUNCATE h_copy, s_copy;
COPY h_copy (id) FROM PROGRAM 'seq 1 2000' (FREEZE);
COPY s_copy (id) FROM PROGRAM 'seq 1 2000' (FREEZE);
SELECT pack();
COMMIT;
SELECT pair('INSERT INTO @copy VALUES (1500)');
SELECT pair('DELETE FROM @copy WHERE id % 2 = 0');

-- a long statement's memory does not grow with its rows
CREATE FUNCTION check_memory() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT sum(used_bytes) FROM pg_backend_memory_contexts) > 40000000 THEN
        RAISE EXCEPTION '% uses % bytes', TG_OP, (SELECT sum(used_bytes) FROM pg_backend_memory_contexts);
    END IF;
    RETURN NULL;
END $$;
CREATE TABLE memory (id int PRIMARY KEY, v int, pad text) USING strata;
ALTER TABLE memory SET (strata.orderby = 'id');
CREATE TRIGGER m AFTER INSERT OR UPDATE OR DELETE ON memory FOR EACH STATEMENT EXECUTE FUNCTION check_memory();
SET strata.batch_rows = 1000;
INSERT INTO memory SELECT i, 0, 'pad' FROM generate_series(1, 20000) i;
SELECT compress_chunk('memory');
UPDATE memory SET v = v + 1;
SELECT compress_chunk('memory');
INSERT INTO memory SELECT i, 0, 'pad' FROM generate_series(20001, 60000) i ON CONFLICT DO NOTHING;
INSERT INTO memory SELECT i, 0, 'pad' FROM generate_series(1, 2000) i ON CONFLICT (id) DO UPDATE SET v = -1;
SELECT compress_chunk('memory', recompress => true);
WITH d AS (DELETE FROM memory WHERE id <= 20000 RETURNING *) SELECT count(*), sum(v) FROM d;
DROP TABLE memory;

SELECT pack(), sound();
SELECT differences();
DROP SCHEMA am_dml CASCADE;
DROP ROLE am_dml_user;
SELECT count(*) AS companions FROM pg_class WHERE relnamespace = '_strata'::regnamespace AND relname LIKE 'batch\_%' AND relkind = 'r';
