-- Which queries plan their chunks in turn; see hypertable_turns.sql.
SET client_min_messages = warning;
SET timezone = 'UTC';
CREATE TABLE turnp (time timestamptz NOT NULL, id int);
SELECT created FROM create_hypertable('turnp', 'time', chunk_time_interval => interval '12 hours');
INSERT INTO turnp SELECT timestamptz '2024-01-01 00:00Z' + g * interval '6 hours', g FROM generate_series(0, 79) g;
ANALYZE turnp;
CREATE FUNCTION turnp_plan(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; chunks int := 0; later text := 'at once';
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
        chunks := chunks + (line ~ 'Scan.* on turnp_')::int;
        IF line ~ 'Later Parts' THEN later := trim(line); END IF;
    END LOOP;
    RETURN format('%s chunks, %s', chunks, later);
END $$;
SELECT q, turnp_plan(q) FROM unnest(ARRAY[
    'SELECT * FROM turnp ORDER BY time DESC LIMIT 1',
    'SELECT * FROM turnp ORDER BY time LIMIT 9',
    'SELECT * FROM turnp WHERE id = 0 ORDER BY time DESC LIMIT 1',
    'SELECT * FROM turnp WHERE time < ''2024-01-18'' ORDER BY time DESC LIMIT 1',
    'SELECT * FROM turnp WHERE time >= ''2024-01-18'' ORDER BY time DESC LIMIT 1',
    'SELECT * FROM turnp WHERE time > now() - interval ''1000 years'' ORDER BY time DESC LIMIT 1',
    'SELECT * FROM turnp WHERE time < now() ORDER BY time DESC LIMIT 1',
    'SELECT * FROM turnp WHERE time <= now() - interval ''0 s'' ORDER BY time DESC LIMIT 1',
    'SELECT * FROM turnp ORDER BY id LIMIT 1',
    'SELECT * FROM turnp ORDER BY time DESC OFFSET 1 LIMIT 1',
    'SELECT * FROM turnp WHERE random() >= 0 ORDER BY time DESC LIMIT 1',
    'SELECT * FROM turnp ORDER BY time DESC',
    'SELECT max(time) FROM turnp',
    'SELECT now() - min(time), min(time) FROM turnp WHERE id >= 0',
    'SELECT max(time) FROM turnp WHERE id = 30',
    'SELECT max(time) FROM turnp WHERE id < 0',
    'SELECT min(time), max(time) FROM turnp',
    'SELECT min(time), max(time) FROM turnp WHERE id = 30',
    'SELECT max(time) - min(time) FROM turnp',
    'SELECT max(time), max(id) FROM turnp',
    'SELECT max(time) FILTER (WHERE id > 1) FROM turnp']) q;
SET strata.enable_chunks_in_turn = off;
SELECT turnp_plan('SELECT * FROM turnp ORDER BY time DESC LIMIT 1');
RESET strata.enable_chunks_in_turn;
-- as a function's answer, a table's, a prepared statement's, and where no time is left
CREATE FUNCTION turnp_last(int) RETURNS timestamptz STABLE LANGUAGE sql AS 'SELECT max(time) FROM turnp WHERE id <= $1';
SELECT turnp_last(79), turnp_last(10), turnp_last(-1);
CREATE TABLE turnp_max AS SELECT max(time) AS last, 1 AS one FROM turnp;
SELECT * FROM turnp_max;
SET plan_cache_mode = force_generic_plan;
PREPARE turnp_p(int) AS SELECT max(time), $1 AS up_to FROM turnp WHERE id <= $1;
EXECUTE turnp_p(79);
EXECUTE turnp_p(3);
EXECUTE turnp_p(-1);
INSERT INTO turnp VALUES ('2025-01-01Z', 2);
EXECUTE turnp_p(3);
CREATE TABLE turnp_ends AS SELECT min(time) AS first, 1 AS one, max(time) AS last FROM turnp;
SELECT * FROM turnp_ends;
DELETE FROM turnp;
INSERT INTO turnp_ends SELECT min(time), 2, max(time) FROM turnp;
SELECT * FROM turnp_ends;
EXECUTE turnp_p(79);
DROP TABLE turnp, turnp_max, turnp_ends;
DROP FUNCTION turnp_last;
DROP FUNCTION turnp_plan;
