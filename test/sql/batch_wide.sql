-- Tables of so many columns that a batch row with a value for each would not
-- fit into a page: several columns share one.
SET strata.batch_rows = 100;
SELECT setseed(0.5);
-- wide(name, n, type, value, filter): a strata table and its heap twin; values are what the expression says of i (row) and c (column)
CREATE FUNCTION wide(name text, n int, type text, value text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE %s_heap (id int, %s) USING heap', name,
        (SELECT string_agg(format('c%s %s', c, type), ', ' ORDER BY c) FROM generate_series(1, n) AS c));
    EXECUTE format('INSERT INTO %s_heap SELECT i, %s FROM generate_series(1, 250) AS i', name,
        (SELECT string_agg(replace(value, '$c', c::text), ', ' ORDER BY c) FROM generate_series(1, n) AS c));
    EXECUTE format('CREATE TABLE %1$s (LIKE %1$s_heap) USING strata', name);
    EXECUTE format('ALTER TABLE %s SET (strata.orderby = ''id'')', name);
    EXECUTE format('INSERT INTO %1$s SELECT * FROM %1$s_heap', name);
END $$;
CREATE FUNCTION same(name text) RETURNS TABLE (nrows bigint, same bool, sound bool) LANGUAGE plpgsql AS $$
DECLARE
    h text := 'SELECT count(*) AS n, sum(hashtextextended(t::text, 0)::numeric) AS s FROM %s AS t';
BEGIN
    RETURN QUERY EXECUTE format('SELECT a.n, (a.n, a.s) = (b.n, b.s), NOT EXISTS (SELECT FROM strata.verify(%L))
        FROM (' || format(h, name) || ') AS a, (' || format(h, name || '_heap') || ') AS b', name);
END $$;
CREATE FUNCTION shares(name text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
    answer bool;
BEGIN
    EXECUTE format('SELECT bool_or(pg_column_size(col_3) = 4) FROM %s', strata.batch_relation(name::regclass)) INTO answer;
    RETURN answer;
END $$;
-- one value for each column still fits
SELECT wide('narrow', 400, 'float8', 'random()');
-- the most that heap takes
SELECT wide('doubles', 1000, 'float8', 'random()');
SELECT wide('ints', 1590, 'int2', 'nullif((i * 7919 + $c * 104729) % 20011, 0)');
SELECT wide('bools', 1590, 'bool', 'CASE (i + $c) % 5 WHEN 0 THEN NULL WHEN 1 THEN true ELSE false END');
SELECT wide('texts', 420, 'text', 'repeat(left(md5((i * $c)::text), 12), 1 + ($c % 100 = 0)::int * 200)');
SELECT wide('nothing', 1500, 'int8', 'CASE WHEN $c = 700 THEN i END');
SELECT compress_chunk(t) FROM unnest('{narrow,doubles,ints,bools,texts,nothing}'::regclass[]) AS t;
SELECT relation, row_store_rows, batches FROM strata.tables ORDER BY relation::text COLLATE "C";
-- which of them have columns that share a value: the others of three bytes say where
SET ROLE postgres;
SELECT name, shares(name) FROM unnest('{narrow,doubles,ints,bools,texts,nothing}'::text[]) AS name;
RESET ROLE;
SELECT name, (same(name)).* FROM unnest('{narrow,doubles,ints,bools,texts,nothing}'::text[]) AS name;
-- single columns, conditions, aggregates
SELECT a.sum = b.sum AS same FROM (SELECT sum(c999) FROM doubles WHERE c3 < c1000) AS a, (SELECT sum(c999) FROM doubles_heap WHERE c3 < c1000) AS b;
SELECT c1, c16, c17, c1590 FROM ints WHERE id = 212;
SELECT c1, c16, c17, c1590 FROM ints_heap WHERE id = 212;
SELECT count(c700), sum(c700), count(c701) FROM nothing;
SELECT count(*) FROM texts AS a JOIN texts_heap AS b USING (id) WHERE a.c100 IS DISTINCT FROM b.c100 OR a.c101 IS DISTINCT FROM b.c101;
SELECT count(*), count(DISTINCT column_name), bool_and(bytes > 0) FROM strata.batch_columns('doubles');
-- changes
UPDATE doubles SET c500 = -1 WHERE id % 100 = 3;
UPDATE doubles_heap SET c500 = -1 WHERE id % 100 = 3;
DELETE FROM ints WHERE id BETWEEN 200 AND 210;
DELETE FROM ints_heap WHERE id BETWEEN 200 AND 210;
SELECT name, (same(name)).* FROM unnest('{doubles,ints}'::text[]) AS name;
ALTER TABLE doubles DROP COLUMN c2, ADD COLUMN extra text DEFAULT 'x';
ALTER TABLE doubles_heap DROP COLUMN c2, ADD COLUMN extra text DEFAULT 'x';
SELECT compress_chunk('doubles', recompress => true);
ALTER TABLE texts ADD COLUMN extra int DEFAULT 5, ALTER COLUMN c7 TYPE varchar;
ALTER TABLE texts_heap ADD COLUMN extra int DEFAULT 5, ALTER COLUMN c7 TYPE varchar;
SELECT name, (same(name)).* FROM unnest('{doubles,texts}'::text[]) AS name;
VACUUM FULL narrow;
SELECT decompress_chunk('ints');
SELECT name, (same(name)).* FROM unnest('{narrow,ints}'::text[]) AS name;
-- more than a companion has room for
ALTER TABLE bools ADD COLUMN d1 int, ADD COLUMN d2 int, ADD COLUMN d3 int;
SELECT compress_chunk('bools', recompress => true);
SELECT count(*), sum(c700::int), count(d3) FROM bools;
DROP TABLE narrow, narrow_heap, doubles, doubles_heap, ints, ints_heap, bools, bools_heap, texts, texts_heap, nothing, nothing_heap;
DROP FUNCTION wide, same, shares;

-- little memory, no order: batches are as large as that allows, to the last
SET strata.batch_rows = 1000;
SET maintenance_work_mem = '1MB';
DO $$ BEGIN EXECUTE 'CREATE TABLE unordered (' || (SELECT string_agg('c' || g || ' float8', ', ') FROM generate_series(1, 120) g) || ') USING strata'; END $$;
INSERT INTO unordered (c1, c2) SELECT i, i FROM generate_series(1, 20000) i;
SELECT compress_chunk('unordered');
SELECT count(*) < 60, sum(nrows) FROM strata.batches('unordered');
SELECT count(*), sum(c1), count(c3) FROM unordered;
DROP TABLE unordered;
RESET maintenance_work_mem;
