-- How many rows there are, which the companion's index on first_row tells: after everything
-- that can happen to batches, as heap says.
SET client_min_messages = error;
CREATE SCHEMA agg_count;
SET search_path = agg_count, public;
SET timezone = 'UTC';
SET max_parallel_workers_per_gather = 0;
SET strata.batch_rows = 100;

CREATE TABLE s (id int PRIMARY KEY, ts timestamptz NOT NULL, host text, v float8) USING strata
    WITH (strata.segmentby = 'host', strata.orderby = 'ts');
CREATE TABLE h (LIKE s) USING heap;
CREATE FUNCTION make(first int, last int) RETURNS TABLE (id int, ts timestamptz, host text, v float8) LANGUAGE sql AS
    $$ SELECT i, '2024-01-01'::timestamptz + i * interval '1 min', 'h' || i % 5, i * 0.25 FROM generate_series(first, last) AS i $$;
-- the same to both
CREATE PROCEDURE twice(statement text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format(statement, 's');
    EXECUTE format(statement, 'h');
END $$;
-- to the companion
CREATE PROCEDURE inside(statement text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format(statement, strata.batch_relation('s'));
END $$;
CREATE TABLE queries (query text);
INSERT INTO queries VALUES ('SELECT count(*) FROM %s'), ('SELECT count(1), count(*) + 1 FROM %s'),
    ('SELECT count(*) FROM %s HAVING count(*) > 1000'), ('SELECT 1 FROM %s HAVING count(*) > 0'),
    ('SELECT count(NULL), count(*) FROM %s'), ('SELECT count(*) FILTER (WHERE v > 100), count(*) FROM %s'),
    ('SELECT count(*), count(v) FROM %s'), ('SELECT count(*) FROM %s WHERE host = ''h1'''),
    ('SELECT count(*) FROM %s WHERE 1 = 0'), ('SELECT host, count(*) FROM %s GROUP BY host'),
    ('SELECT count(*) FROM (SELECT * FROM %s LIMIT 1500) AS q'),
    ('SELECT x, (SELECT count(*) FROM %s WHERE x > 1) FROM generate_series(1, 3) AS x'),
    ('SELECT count(*) FROM %s AS a, (VALUES (1), (2)) AS b');
CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C") FROM (%s) AS q', query) INTO result;
    RETURN result;
END $$;
-- nothing, or what differs
CREATE FUNCTION differences() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT format('%s: %s, not %s', query, answer(format(query, 's')), answer(format(query, 'h'))) FROM queries
    WHERE answer(format(query, 's')) IS DISTINCT FROM answer(format(query, 'h'))
    UNION ALL SELECT batch || ': ' || problem FROM strata.verify('s') $$;

CALL twice('INSERT INTO %s SELECT * FROM make(1, 3000)');
SELECT * FROM differences();
SELECT compress_chunk('s') IS NOT NULL;
SELECT * FROM differences();
VACUUM s;
SELECT * FROM differences();
SELECT count(*) FROM s;
-- rows that leave their batches
CALL twice('DELETE FROM %s WHERE id IN (1, 7, 2999, 3000)');
CALL twice('UPDATE %s SET v = -1 WHERE id %% 101 = 0');
CALL twice('DELETE FROM %s WHERE id IN (101, 202)');
SELECT count(*) FROM (SELECT 1 FROM s WHERE id BETWEEN 500 AND 510 FOR UPDATE) AS q;
SELECT * FROM differences();
VACUUM s;
SELECT * FROM differences();
-- more than are learnt in advance
CALL twice('DELETE FROM %s WHERE id %% 4 = 2');
SELECT * FROM differences();
VACUUM s;
SELECT * FROM differences();
-- a row store beside them, and batches made since
CALL twice('INSERT INTO %s SELECT * FROM make(4001, 4600)');
SELECT * FROM differences();
SELECT compress_chunk('s') IS NOT NULL;
SELECT * FROM differences();
-- whole batches deleted, and their numbers left out
CALL twice('DELETE FROM %s WHERE host = ''h3''');
CALL twice('INSERT INTO %s SELECT * FROM make(5001, 5100)');
SELECT compress_chunk('s') IS NOT NULL;
SELECT * FROM differences();
VACUUM s;
SELECT * FROM differences();
SELECT compress_chunk('s', recompress => true) IS NOT NULL;
SELECT * FROM differences();

-- what this transaction does, and takes back
BEGIN;
CALL twice('DELETE FROM %s WHERE id < 50');
SELECT * FROM differences();
SAVEPOINT a;
CALL twice('DELETE FROM %s WHERE host = ''h2''');
CALL twice('INSERT INTO %s SELECT * FROM make(6001, 6100)');
SELECT compress_chunk('s') IS NOT NULL;
SELECT * FROM differences();
ROLLBACK TO a;
SELECT * FROM differences();
ROLLBACK;
SELECT * FROM differences();
-- a cursor sees what was there when it was opened
BEGIN;
SELECT count(*) AS before FROM s \gset
DECLARE c CURSOR FOR SELECT count(*) FROM s;
DELETE FROM s WHERE host = 'h4';
DELETE FROM s WHERE id BETWEEN 2000 AND 2010;
FETCH c \gset
SELECT :count = :before AS as_before;
ROLLBACK;
-- serializable
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM differences();
COMMIT;

-- batches made again in their place, which may be another one of their page
ALTER TABLE s ADD COLUMN w int NOT NULL DEFAULT 7;
ALTER TABLE h ADD COLUMN w int NOT NULL DEFAULT 7;
VACUUM FULL s;
SELECT * FROM differences();
CLUSTER s USING s_pkey;
SELECT * FROM differences();
SET ROLE postgres;
CALL inside('REINDEX TABLE %s');
RESET ROLE;
SELECT * FROM differences();
SELECT decompress_chunk('s') IS NOT NULL;
SELECT * FROM differences();
SELECT compress_chunk('s') IS NOT NULL;
SELECT * FROM differences();

-- a number that is not the batch's: its row says so
BEGIN;
SET ROLE postgres;
CALL inside('UPDATE %s SET nrows = nrows + 1 WHERE first_row = (SELECT max(first_row) FROM %1$s WHERE nrows = 100)');
RESET ROLE;
\set VERBOSITY sqlstate
SELECT count(*) FROM s;
ROLLBACK;
BEGIN;
SET ROLE postgres;
CALL inside('UPDATE %s SET first_row = first_row + 1000000 WHERE first_row = 0');
RESET ROLE;
SELECT count(*) FROM s;
ROLLBACK;
\set VERBOSITY default
BEGIN;
SET ROLE postgres;
CALL inside('UPDATE %s SET nrows = nrows + 1 WHERE first_row = 0');
RESET ROLE;
SELECT batch, problem FROM strata.verify('s');
ROLLBACK;
SELECT * FROM differences();

-- changed, compressed and rewritten since
SELECT * FROM differences();
CALL twice('DELETE FROM %s WHERE id BETWEEN 600 AND 640');
CALL twice('UPDATE %s SET v = -2 WHERE id BETWEEN 700 AND 720');
CALL twice('INSERT INTO %s SELECT *, 1 FROM make(7001, 7100)');
SELECT * FROM differences();
SELECT compress_chunk('s') IS NOT NULL;
VACUUM s;
SELECT * FROM differences();
SELECT compress_chunk('s', recompress => true) IS NOT NULL;
VACUUM FULL s;
SELECT * FROM differences();
TRUNCATE s, h;
SELECT * FROM differences();

-- partitions, some of which have no batches, and are no strata tables
CREATE TABLE p (id int, host text) PARTITION BY RANGE (id);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (1000) USING strata;
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (1000) TO (2000) USING strata;
CREATE TABLE p3 PARTITION OF p FOR VALUES FROM (2000) TO (3000) USING heap;
CREATE TABLE p4 PARTITION OF p FOR VALUES FROM (3000) TO (4000) USING strata;
INSERT INTO p SELECT i, 'x' FROM generate_series(0, 3999) AS i;
SELECT compress_chunk('p1') IS NOT NULL, compress_chunk('p4') IS NOT NULL;
INSERT INTO p VALUES (5, 'y'), (3005, 'y');
DELETE FROM p WHERE id IN (20, 3020, 2020);
SELECT count(*) FROM p;
SELECT count(*) FROM p WHERE id < 2000;
SELECT count(*) FROM p4;
-- shared among workers
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(*) FROM p;
SELECT count(*) FROM p4;
DROP SCHEMA agg_count CASCADE;
