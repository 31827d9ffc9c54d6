-- ORDER BY time LIMIT n plans chunks when their turn comes: the same rows as
-- with all chunks planned at once.
SET client_min_messages = warning;
SET timezone = 'UTC';
CREATE TABLE turns (time timestamptz NOT NULL, id int, host text, v float8, gone int);
ALTER TABLE turns DROP COLUMN gone;
SELECT created FROM create_hypertable('turns', 'time', chunk_time_interval => interval '12 hours');
ALTER TABLE turns SET (strata.segmentby = 'host', strata.orderby = 'time');
INSERT INTO turns SELECT timestamptz '2024-01-01 00:00Z' + g * interval '10 minutes', g, 'h' || g % 7,
    CASE g % 50 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' WHEN 2 THEN -0.0 ELSE g % 13 END
FROM generate_series(0, 3999) g WHERE g NOT BETWEEN 3000 AND 3400;
-- most chunks compressed, late rows in them, some changed and deleted, empty ones at both ends
SELECT count(compress_chunk(c)) FROM (SELECT c FROM show_chunks('turns') c ORDER BY c::text LIMIT 45) x;
INSERT INTO turns SELECT time + interval '1 second', id + 10000, host, v FROM turns WHERE id % 20 = 0;
UPDATE turns SET v = 77 WHERE id = 3500;
DELETE FROM turns WHERE id BETWEEN 500 AND 520;
SELECT create_chunks('turns', timestamptz '2024-01-29 00:00Z', timestamptz '2024-02-02 00:00Z') > 0 AS ahead;
DELETE FROM turns WHERE time >= '2024-01-27' OR time < '2024-01-03';
CREATE FUNCTION turns_rows(query text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE r record; rows text[] := '{}';
BEGIN
    FOR r IN EXECUTE query LOOP rows := rows || r::text; END LOOP;
    RETURN rows;
END $$;
CREATE FUNCTION turns_same(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE one text[]; two text[];
BEGIN
    PERFORM set_config('strata.enable_chunks_in_turn', 'on', true);
    one := turns_rows(query);
    PERFORM set_config('strata.enable_chunks_in_turn', 'off', true);
    two := turns_rows(query);
    PERFORM set_config('strata.enable_chunks_in_turn', 'on', true);
    RETURN CASE WHEN one = two THEN cardinality(one) || ' rows' ELSE format('differs: %s, %s', one, two) END;
END $$;
SELECT q, turns_same(q) FROM unnest(ARRAY[
    'SELECT max(time) FROM turns',
    'SELECT min(time) FROM turns',
    'SELECT min(time), max(time) FROM turns',
    'SELECT max(time), min(time), max(time) - min(time), 5 FROM turns WHERE time >= ''2024-01-04'' AND time < ''2024-01-26''',
    'SELECT min(time), max(time) FROM turns WHERE host = ''h3'' AND v = 4',
    'SELECT min(time), max(time) FROM turns WHERE id = 600',
    'SELECT min(time), max(time) FROM turns WHERE id < 700',
    'SELECT min(time), max(time) FROM turns WHERE host = ''nobody''',
    'SELECT coalesce(min(time), ''2000-01-01''), max(time) FROM turns WHERE host = ''h3''',
    'SELECT min(time), max(time), min(time) FROM turns WHERE time > ''2030-01-01''',
    'SELECT min(time), max(time), max(id) FROM turns',
    'SELECT min(time), max(time) FILTER (WHERE id = 600) FROM turns',
    'SELECT max(time) - min(time) FROM turns',
    'SELECT min(time), max(time) FROM turns HAVING min(time) > ''2024-01-01''',
    'SELECT min(time), max(time) FROM turns ORDER BY 1 LIMIT 1',
    'SELECT min(time), max(time), (SELECT count(*) FROM turns) FROM turns',
    'SELECT x.a, x.b FROM (SELECT min(time) AS a, max(time) AS b FROM turns) x',
    'SELECT max(time), count(*) FROM turns',
    'SELECT max(time) - interval ''1 day'', 7, max(time) FROM turns WHERE v > 2',
    'SELECT coalesce(max(time), ''2000-01-01'') FROM turns WHERE host = ''nobody''',
    'SELECT coalesce(min(time), ''2000-01-01'') FROM turns WHERE id = 3990',
    'SELECT max(time) FROM turns WHERE id = 600 AND time < ''2024-01-20''',
    'SELECT max(time) FILTER (WHERE id = 600) FROM turns',
    'SELECT max(time) FROM turns HAVING max(time) IS NULL',
    'SELECT max(time) + max(id) * interval ''1 s'' FROM turns',
    'SELECT max(time) FROM turns WHERE time > ''2030-01-01''',
    'SELECT max(time + interval ''1 s'') FROM turns',
    'SELECT max(time) FROM turns GROUP BY ()',
    'SELECT (SELECT max(time) FROM turns)',
    'SELECT x.m FROM (SELECT max(time) AS m FROM turns WHERE host = ''h3'') x',
    'SELECT * FROM turns ORDER BY time DESC LIMIT 1',
    'SELECT * FROM turns ORDER BY time LIMIT 1',
    'SELECT * FROM turns ORDER BY time DESC LIMIT 100000',
    'SELECT * FROM turns ORDER BY time ASC LIMIT 1000',
    'SELECT * FROM turns ORDER BY time DESC LIMIT 0',
    'SELECT * FROM turns ORDER BY time DESC LIMIT NULL::bigint',
    'SELECT * FROM turns ORDER BY time DESC LIMIT 2 + 2 * 40',
    'SELECT id, v * 2 FROM turns WHERE host = ''h3'' ORDER BY time DESC, id LIMIT 300',
    'SELECT v FROM turns WHERE v = ''NaN'' ORDER BY time LIMIT 60',
    'SELECT v FROM turns WHERE v IS NULL ORDER BY time DESC LIMIT 7',
    'SELECT id FROM turns WHERE host = ''nobody'' ORDER BY time DESC LIMIT 7',
    'SELECT id FROM turns WHERE id = 600 ORDER BY time DESC LIMIT 1',
    'SELECT id FROM turns WHERE id = 3990 ORDER BY time LIMIT 1',
    'SELECT host FROM turns WHERE host LIKE ''h%'' ORDER BY time DESC, host DESC LIMIT 33',
    'SELECT tableoid::regclass, ctid IS NULL FROM turns WHERE id % 1000 = 0 ORDER BY time DESC LIMIT 20',
    'SELECT id FROM turns WHERE time < ''2024-01-20 11:00'' ORDER BY time DESC LIMIT 500',
    'SELECT id FROM turns WHERE time < ''2024-01-20 12:00'' ORDER BY time DESC LIMIT 5',
    'SELECT id FROM turns WHERE ''2024-01-20 12:00'' >= time ORDER BY time DESC LIMIT 5',
    'SELECT id FROM turns WHERE time > ''2024-01-05'' AND (time <= ''2024-01-25'' AND v = 3) ORDER BY time LIMIT 200',
    'SELECT id FROM turns WHERE time > ''2030-01-01'' ORDER BY time LIMIT 2',
    'SELECT id FROM turns WHERE time < ''1990-01-01'' ORDER BY time DESC LIMIT 2',
    'SELECT id FROM turns WHERE time > ''-infinity'' AND time < ''infinity'' ORDER BY time DESC LIMIT 2',
    'SELECT id FROM turns WHERE time > date ''2024-01-04'' ORDER BY time DESC LIMIT 2',
    'SELECT id FROM turns WHERE time < now() ORDER BY time DESC LIMIT 2',
    'SELECT id FROM turns WHERE time > now() - interval ''100 years'' ORDER BY time LIMIT 2',
    'SELECT id FROM turns WHERE time = ''2024-01-20 12:00'' ORDER BY time LIMIT 2',
    'SELECT id FROM turns WHERE time IN (''2024-01-20 12:00'', ''2024-01-04 12:00'') ORDER BY time LIMIT 2',
    'SELECT id FROM turns WHERE (time < ''2024-01-05'' OR time > ''2024-01-22'') AND id % 2 = 0 ORDER BY time DESC LIMIT 1000',
    'SELECT id FROM turns WHERE time IS NULL ORDER BY time LIMIT 1',
    'SELECT id FROM turns ORDER BY time DESC NULLS LAST LIMIT 40',
    'SELECT id FROM turns ORDER BY time USING > LIMIT 40',
    'SELECT DISTINCT host, time FROM turns ORDER BY time DESC LIMIT 40',
    'SELECT id FROM turns ORDER BY time DESC OFFSET 3 LIMIT 40',
    'SELECT id FROM turns ORDER BY time DESC FETCH FIRST 4 ROWS WITH TIES',
    'SELECT time, count(*) FROM turns GROUP BY time ORDER BY time DESC LIMIT 4',
    'SELECT id, lag(id) OVER (ORDER BY time) FROM turns ORDER BY time DESC LIMIT 4',
    'SELECT * FROM (SELECT id, time FROM turns ORDER BY time DESC LIMIT 4) x ORDER BY id',
    'WITH w AS (SELECT id FROM turns ORDER BY time LIMIT 3) SELECT * FROM w',
    'SELECT id, (SELECT max(id) FROM turns t WHERE t.host = turns.host) FROM turns ORDER BY time DESC LIMIT 2',
    'SELECT a.id, b.id FROM turns a JOIN turns b USING (time) ORDER BY a.time DESC LIMIT 3']) q;
-- plans that are kept: limits and filters by parameters, and chunks that come later
SET plan_cache_mode = force_generic_plan;
PREPARE turns_p(bigint, text) AS SELECT id FROM turns WHERE host = $2 ORDER BY time DESC LIMIT $1;
PREPARE turns_t(timestamptz) AS SELECT id FROM turns WHERE time < $1 ORDER BY time DESC LIMIT 2;
EXECUTE turns_p(2, 'h1');
EXECUTE turns_p(0, 'h1');
CREATE TEMP TABLE turns_ctas AS EXECUTE turns_p(NULL, 'h6');
SELECT count(*) = (SELECT count(*) FROM turns WHERE host = 'h6') AS same FROM turns_ctas;
EXECUTE turns_p(-1, 'h1');
EXECUTE turns_t('2024-01-20 12:00');
PREPARE turns_ends(text, timestamptz) AS SELECT min(time), max(time), $1 FROM turns WHERE host = $1 AND time < $2;
EXECUTE turns_ends('h1', '2024-01-20 12:00');
EXECUTE turns_ends('h1', 'infinity');
EXECUTE turns_ends('none', 'infinity');
EXECUTE turns_ends('h1', NULL);
INSERT INTO turns VALUES ('2024-03-01', 1, 'h1', 1), ('2023-03-01', 2, 'h1', 2);
EXECUTE turns_p(2, 'h1');
BEGIN ISOLATION LEVEL REPEATABLE READ;
EXECUTE turns_p(1, 'h1');
INSERT INTO turns VALUES ('2024-04-01', 3, 'h1', 1);
EXECUTE turns_p(2, 'h1');
ROLLBACK;
EXECUTE turns_p(1, 'h1');
DEALLOCATE ALL;
RESET plan_cache_mode;
-- cursors go both ways; functions and loops
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM turns ORDER BY time DESC LIMIT 3;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
COMMIT;
CREATE FUNCTION turns_last(text) RETURNS SETOF int LANGUAGE sql STABLE AS 'SELECT id FROM turns WHERE host = $1 ORDER BY time DESC LIMIT 2';
SELECT h, turns_last(h) FROM unnest(ARRAY['h1', 'h2', 'none']) h;
CREATE FUNCTION turns_calls() RETURNS int LANGUAGE plpgsql AS $$
DECLARE n int := 0; r record;
BEGIN
    FOR r IN SELECT id FROM turns ORDER BY time DESC LIMIT 1500 LOOP n := n + 1; EXIT WHEN n = 1200; END LOOP;
    RETURN n;
END $$;
SELECT turns_calls();
-- a function that is evaluated in all parts, and one that fails in a later one
CREATE FUNCTION turns_check(int) RETURNS int LANGUAGE plpgsql STABLE AS $$
BEGIN IF $1 = 600 THEN RAISE 'row % is not to be read', $1; END IF; RETURN $1; END $$;
SELECT turns_rows('SELECT turns_check(id) FROM turns ORDER BY time DESC LIMIT 2');
SELECT turns_same('SELECT turns_check(id) FROM turns WHERE v = 2 ORDER BY time DESC LIMIT 1000');
SELECT turns_rows('SELECT turns_check(id) FROM turns ORDER BY time DESC LIMIT 3000');
SELECT id FROM turns ORDER BY time DESC LIMIT 1;
-- what the client is told of columns, and what it may read
CREATE ROLE turns_reader;
GRANT turns_reader TO CURRENT_USER;
GRANT SELECT (time, id, host) ON turns TO turns_reader;
ALTER TABLE turns ENABLE ROW LEVEL SECURITY;
CREATE POLICY turns_policy ON turns TO turns_reader USING (host = 'h5' AND id % 2 = 0);
SET ROLE turns_reader;
SELECT q, turns_same(q) FROM unnest(ARRAY['SELECT id, host FROM turns ORDER BY time DESC LIMIT 200', 'SELECT id FROM turns WHERE id < 700 ORDER BY time DESC LIMIT 200',
    'SELECT min(time), max(time) FROM turns', 'SELECT min(time), max(time) FROM turns WHERE id < 700']) q;
SELECT min(time), max(time) FROM turns WHERE v > 0;
SELECT v FROM turns ORDER BY time DESC LIMIT 1;
RESET ROLE;
ALTER TABLE turns DISABLE ROW LEVEL SECURITY;
-- keys of other types
CREATE FUNCTION turns_type(type text, length text, sample text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE said text;
BEGIN
    EXECUTE format('CREATE TABLE turns_t (k %s NOT NULL, v int)', type);
    EXECUTE format('SELECT create_hypertable(''turns_t'', ''k'', chunk_time_interval => %s)', length);
    EXECUTE format('INSERT INTO turns_t SELECT %s, g FROM generate_series(-60, 60) g', sample);
    said := turns_same('SELECT * FROM turns_t ORDER BY k DESC LIMIT 50') || ', ' || turns_same('SELECT v FROM turns_t WHERE v % 10 = 0 ORDER BY k LIMIT 50');
    DROP TABLE turns_t;
    RETURN said;
END $$;
SELECT type, turns_type(type, length, sample) FROM (VALUES
    ('smallint', '50', 'g * 20'), ('int', '5000000', 'g * 1000000'), ('bigint', '50000000000', 'g * 10000000000'),
    ('date', 'interval ''2 days''', 'date ''2000-01-01'' + g'), ('timestamp(3)', 'interval ''1 day''', 'timestamp ''2000-01-01'' + g * interval ''7 hours'''),
    ('uuid', 'interval ''1 day''', 'to_uuidv7_boundary(timestamptz ''2024-01-01 00:00Z'' + g * interval ''7 hours'')')) x(type, length, sample);
DROP TABLE turns;
DROP FUNCTION turns_rows, turns_same, turns_last, turns_calls, turns_check, turns_type;
DROP ROLE turns_reader;

-- the ends of a column with a modifier of its type, made a table
CREATE TABLE turns_mod (time timestamp(3) NOT NULL) PARTITION BY RANGE (time) WITH (strata.chunk_interval = '1 day');
INSERT INTO turns_mod SELECT timestamp '2024-01-01' + g * interval '1 hour' FROM generate_series(0, 99) g;
CREATE TABLE turns_ends AS SELECT min(time) AS lo, max(time) AS hi FROM turns_mod;
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'turns_ends'::regclass AND attnum > 0 ORDER BY attnum;
TABLE turns_ends;
DROP TABLE turns_mod, turns_ends;
-- who fetches need not be who opened the cursor: privileges are checked, names looked up, once
CREATE SCHEMA turns_evil;
CREATE ROLE turns_opener;
CREATE ROLE turns_fetcher;
GRANT turns_opener, turns_fetcher TO CURRENT_USER;
GRANT USAGE, CREATE ON SCHEMA turns_evil TO turns_opener, turns_fetcher;
SET ROLE turns_fetcher;
CREATE FUNCTION turns_evil.plus(int, int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RAISE WARNING 'evil as %', current_user; RETURN 0; END $$;
CREATE OPERATOR turns_evil.+ (FUNCTION = turns_evil.plus, LEFTARG = int, RIGHTARG = int);
SET ROLE turns_opener;
CREATE TABLE turns_evil.own (time timestamptz NOT NULL, v int);
SELECT created FROM create_hypertable('turns_evil.own', 'time', chunk_time_interval => interval '1 day');
INSERT INTO turns_evil.own SELECT timestamptz '2024-01-01 00:00Z' + g * interval '1 hour', g FROM generate_series(1, 1000) g;
CREATE FUNCTION turns_evil.inlined(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + 1';
CREATE FUNCTION turns_evil.hidden(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN $1; END $$;
REVOKE ALL ON FUNCTION turns_evil.hidden(int) FROM PUBLIC;
CREATE FUNCTION turns_evil.cur(c refcursor, query text) RETURNS refcursor LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
BEGIN OPEN c NO SCROLL FOR EXECUTE query; RETURN c; END $$;
SET ROLE turns_fetcher;
BEGIN;
SELECT turns_evil.cur('c', 'SELECT * FROM turns_evil.own WHERE v > turns_evil.inlined(2) AND turns_evil.hidden(v) > 0 ORDER BY time LIMIT 200');
SET LOCAL search_path = turns_evil, pg_catalog;
FETCH 3 c;
MOVE ALL c;
COMMIT;
BEGIN;
SELECT turns_evil.cur('c', 'SELECT max(time), 1 FROM turns_evil.own WHERE v < 100');
FETCH ALL c;
COMMIT;
SELECT * FROM turns_evil.own;
-- row security is the opener's; current_user is, as on heap, who fetches
RESET ROLE;
SET ROLE turns_opener;
GRANT SELECT ON turns_evil.own TO turns_fetcher;
ALTER TABLE turns_evil.own ENABLE ROW LEVEL SECURITY;
CREATE POLICY even ON turns_evil.own TO turns_fetcher USING (v % 2 = 0);
RESET ROLE;
BEGIN;
SET LOCAL ROLE turns_fetcher;
DECLARE c NO SCROLL CURSOR FOR SELECT * FROM turns_evil.own ORDER BY time LIMIT 200;
FETCH 2 c;
SET LOCAL ROLE turns_opener;
MOVE ALL c;
COMMIT;
BEGIN;
SET LOCAL ROLE turns_fetcher;
DECLARE c NO SCROLL CURSOR FOR SELECT v FROM turns_evil.own ORDER BY time LIMIT 20;
FETCH 1 c;
SET LOCAL ROLE turns_opener;
FETCH ALL c;
COMMIT;
DROP SCHEMA turns_evil CASCADE;
DROP ROLE turns_opener, turns_fetcher;
-- a chunk that the same session takes away while the query is open
SET strata.enable_chunks_in_turn = on;
CREATE TABLE turns_gone (time timestamptz NOT NULL, n int);
SELECT created FROM create_hypertable('turns_gone', 'time', chunk_time_interval => interval '1 day');
INSERT INTO turns_gone SELECT timestamptz '2026-03-10 00:00Z' + i * interval '1 hour', i FROM generate_series(0, 24 * 41 - 1) i;
CREATE FUNCTION turns_taken(what text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    c NO SCROLL CURSOR FOR SELECT n FROM turns_gone WHERE n % 2 = 0 ORDER BY time LIMIT 10000;
    x int;
    seen bigint := 0;
BEGIN
    OPEN c;
    FETCH c INTO x;
    seen := 1;
    EXECUTE what;
    LOOP
        FETCH c INTO x;
        EXIT WHEN NOT FOUND;
        seen := seen + 1;
    END LOOP;
    CLOSE c;
    RETURN seen;
EXCEPTION WHEN object_in_use THEN
    RETURN -1;
END $$;
SELECT what, turns_taken(what) FROM unnest(ARRAY['SELECT', 'DROP TABLE turns_gone_20260330_chunk', 'ALTER TABLE turns_gone DETACH PARTITION turns_gone_20260330_chunk',
    'SELECT drop_chunks(''turns_gone'', older_than => timestamptz ''2026-03-30 00:00Z'', newer_than => timestamptz ''2026-03-25 00:00Z'')',
    'INSERT INTO turns_gone VALUES (''2026-06-01'', 0)', 'SELECT drop_chunks(''turns_gone'', newer_than => timestamptz ''2026-05-01 00:00Z'')']) what;
SELECT count(*) FROM turns_gone;
-- a function that is evaluated while a part is planned takes chunks in turn itself
CREATE FUNCTION turns_within() RETURNS int STABLE LANGUAGE plpgsql AS $$
DECLARE
    r record;
    n int := 0;
BEGIN
    FOR r IN SELECT turns_gone.n FROM turns_gone WHERE turns_gone.n % 2 = 0 ORDER BY time LIMIT 10000 LOOP
        n := n + 1;
    END LOOP;
    RETURN n - n + 10;
END $$;
SELECT count(*) FROM (SELECT time, n FROM turns_gone WHERE n = turns_within() ORDER BY time LIMIT 10000) x;
DROP FUNCTION turns_within;
DROP TABLE turns_gone;
RESET strata.enable_chunks_in_turn;
DROP FUNCTION turns_taken;
