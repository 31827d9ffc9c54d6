-- Relcache entries of partitioned tables that show what is not so while one
-- statement runs.  First what PostgreSQL does by itself: when it does not
-- refuse any more, we need not.
SET client_min_messages = warning;
CREATE FUNCTION pgk_time(text) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT substr($1, 2)::bigint';
CREATE TABLE pgk_own (id text) PARTITION BY RANGE (pgk_time(id));
ALTER TABLE pgk_own ADD UNIQUE (id);
CREATE TABLE pgk_part (id text);
CREATE TABLE pgk_first PARTITION OF pgk_own FOR VALUES FROM (0) TO (10);
CREATE FUNCTION pgk_try(statement text) RETURNS text LANGUAGE plpgsql AS $$
    BEGIN EXECUTE statement; RETURN 'a8'; EXCEPTION WHEN OTHERS THEN RAISE WARNING '%', SQLERRM; RETURN 'a9'; END $$;
INSERT INTO pgk_own SELECT pgk_try('ALTER TABLE pgk_own ATTACH PARTITION pgk_part FOR VALUES FROM (10) TO (20)') RETURNING id;
DROP TABLE pgk_own, pgk_part;
-- the partition key: as it is after the statement, and after one that fails
CREATE TABLE pgk (id text NOT NULL, v int);
SELECT created FROM create_hypertable('pgk', 'id', chunk_time_interval => 100, time_partitioning_func => 'pgk_time');
INSERT INTO pgk VALUES ('a1', 1), ('b200', 2), ('a200', 3), ('a350', 4);
ALTER TABLE pgk ADD UNIQUE (id);
SELECT pg_get_partkeydef('pgk'::regclass);
SELECT tableoid::regclass, id FROM pgk WHERE pgk_time(id) BETWEEN 150 AND 250 ORDER BY id;
EXPLAIN (COSTS OFF) SELECT id FROM pgk WHERE pgk_time(id) = 350;
INSERT INTO pgk VALUES ('c420', 5), ('b200', 6);
CREATE UNIQUE INDEX twice ON pgk ((v / 3), id);
CREATE UNIQUE INDEX fails ON pgk (id, v) WHERE 1 / (v - 2) = 0;
EXPLAIN (COSTS OFF) SELECT id FROM pgk WHERE pgk_time(id) = 350;
INSERT INTO pgk VALUES ('c420', 5);
SELECT tableoid::regclass, id FROM pgk WHERE pgk_time(id) >= 200 ORDER BY id;
DROP TABLE pgk;
-- a table in use: what has it open goes on, also when the chunk is undone
BEGIN;
CREATE TABLE pgk (ts int NOT NULL, v int);
SELECT created FROM create_hypertable('pgk', 'ts', chunk_time_interval => 100);
INSERT INTO pgk SELECT i, i FROM generate_series(1, 300, 50) i;
DECLARE open CURSOR FOR SELECT ts FROM pgk ORDER BY ts;
FETCH 2 FROM open;
INSERT INTO pgk VALUES (401, 401);
SAVEPOINT s;
INSERT INTO pgk SELECT ts + 1000, v FROM pgk;
FETCH 2 FROM open;
ROLLBACK TO s;
FETCH ALL FROM open;
CLOSE open;
-- its use is counted as before, while the statement runs and afterwards
INSERT INTO pgk SELECT i, length(CASE WHEN i > 600 THEN pgk_try('ALTER TABLE pgk ADD COLUMN w int') END) FROM generate_series(501, 801, 100) i;
ALTER TABLE pgk ADD COLUMN w int;
COMMIT;
SELECT count(*), sum(v) FROM pgk;
DROP TABLE pgk;
DROP FUNCTION pgk_time, pgk_try;
