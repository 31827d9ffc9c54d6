-- Columns that follow from a primary key that is grouped by: the same answers as PostgreSQL's.
SET client_min_messages = error;
SET timezone = 'UTC';
CREATE SCHEMA agg_following_keys;
SET search_path = agg_following_keys, public;
CREATE TABLE d (id int PRIMARY KEY, name text, region text, w numeric, j json);
INSERT INTO d SELECT i, 'n' || i, CASE WHEN i % 3 > 0 THEN 'r' || i % 3 END, i / 10.0, '{}' FROM generate_series(1, 30) AS i;
CREATE TABLE f (t timestamptz, id int, v float8, n int, b1 bool, b2 bool) USING strata WITH (strata.segmentby = 'id', strata.orderby = 't');
INSERT INTO f SELECT '2026-01-01'::timestamptz + i * interval '1 min', i % 20 + 1, i % 7, i, i % 2 = 0, i % 3 = 0 FROM generate_series(1, 5000) AS i;
SELECT compress_chunk('f');
INSERT INTO f SELECT '2026-01-01'::timestamptz + i * interval '13 min', i % 25 + 1, i % 7, i, NULL, true FROM generate_series(1, 300) AS i;
CREATE TABLE g (t timestamptz, id int, v float8, PRIMARY KEY (id, t)) USING strata WITH (strata.segmentby = 'id', strata.orderby = 't');
INSERT INTO g SELECT '2026-01-01'::timestamptz + i * interval '1 min', i % 20, i FROM generate_series(1, 500) AS i;
SELECT compress_chunk('g');
INSERT INTO g SELECT '2026-01-02'::timestamptz + i * interval '1 min', i % 20, NULLIF(i, 7) FROM generate_series(1, 50) AS i;
-- numbers that are equal, and are not the same
CREATE TABLE e (k numeric PRIMARY KEY, name text) USING strata WITH (strata.orderby = 'k');
INSERT INTO e SELECT (i || CASE WHEN i % 2 = 0 THEN '.0' ELSE '.00' END)::numeric, 'e' || i FROM generate_series(1, 30) AS i;
SELECT compress_chunk('e');
-- a child has a key of its own, or none
CREATE TABLE parent (id int PRIMARY KEY, name text) USING strata;
CREATE TABLE child () INHERITS (parent) USING strata;
INSERT INTO parent VALUES (1, 'one'), (2, 'two');
INSERT INTO child VALUES (2, 'two'), (3, 'three');
SELECT compress_chunk('parent'), compress_chunk('child');
ANALYZE d;
ANALYZE f;
ANALYZE g;
ANALYZE e;
CREATE TABLE queries (n int GENERATED ALWAYS AS IDENTITY, query text);
INSERT INTO queries (query) VALUES
    ('SELECT d.id, d.name, d.region, count(f.t) FROM d LEFT JOIN f USING (id) GROUP BY d.id'),
    ('SELECT d.id, d.name, upper(d.region), sum(f.v * d.w) FROM f JOIN d USING (id) GROUP BY d.id'),
    ('SELECT d.name, d.region, max(f.v), sum(f.n) FROM f JOIN d USING (id) GROUP BY d.id HAVING d.region > ''r1'' ORDER BY d.region, d.name'),
    ('SELECT d.name, f.n % 3, sum(f.n) FROM f JOIN d USING (id) GROUP BY d.id, f.n % 3'),
    ('SELECT d.name, count(*) FROM f LEFT JOIN d ON d.id = f.id AND d.region = ''r1'' GROUP BY d.id'),
    ('SELECT d.id, d.name, d.region, d.w, count(*) FROM f JOIN d USING (id) GROUP BY d.id, d.name, d.region, d.w ORDER BY 3, 1 LIMIT 5'),
    ('SELECT id, t, v, count(*) FROM g GROUP BY id, t'),
    ('SELECT id, v, count(*), max(v) FROM g WHERE v < 100 GROUP BY t, id'),
    ('SELECT k, name, count(*) FROM e GROUP BY k'),
    ('SELECT e.name, count(*), sum(f.n) FROM f JOIN e ON e.k = f.id GROUP BY e.k'),
    ('SELECT d.j::text, count(*) FROM f JOIN d USING (id) GROUP BY d.id'),
    ('SELECT d.name, count(DISTINCT f.n % 5), percentile_cont(0.5) WITHIN GROUP (ORDER BY f.v) FROM f JOIN d USING (id) GROUP BY d.id'),
    ('SELECT o.name, d.name, count(*) FROM f JOIN d USING (id) JOIN d AS o ON o.id = d.id + 1 GROUP BY d.id, o.id'),
    ('SELECT d.name, o.name, count(*) FROM f JOIN d USING (id) LEFT JOIN d AS o ON o.id = d.id + 15 GROUP BY d.id, o.id'),
    ('SELECT d.name, count(*) FROM d JOIN f ON f.id = d.id AND f.v > d.w GROUP BY d.id'),
    ('SELECT d.id, d.name, count(*) FROM f JOIN d USING (id) GROUP BY GROUPING SETS ((d.id), (d.id, f.n % 2))'),
    ('SELECT (b1 AND b2) AND n > 100, count(*) FROM f GROUP BY (b1 AND b2) AND n > 100'),
    ('SELECT id, name, count(*) FROM parent GROUP BY id'),
    ('SELECT DISTINCT d.region FROM f JOIN d USING (id) GROUP BY d.id');
CREATE FUNCTION rows_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE 'SELECT string_agg(x::text, E''\n'' ORDER BY x::text) FROM (' || query || ') AS x' INTO result;
    RETURN result;
END $$;
CREATE TABLE answers AS SELECT n, rows_of(query) AS answer FROM queries;
CREATE FUNCTION differing() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT query FROM queries JOIN answers USING (n) WHERE answer IS NULL OR rows_of(query) <> answer
$$;
SET strata.enable_join_aggregation = off;
SELECT differing();
SET strata.enable_vector_agg = off;
SELECT differing();
RESET strata.enable_join_aggregation;
RESET strata.enable_vector_agg;
-- as soon as the key is gone, PostgreSQL says so
PREPARE p AS SELECT d.name, count(*) FROM f JOIN d USING (id) WHERE d.id < 3 GROUP BY d.id ORDER BY 1;
EXECUTE p;
ALTER TABLE d DROP CONSTRAINT d_pkey;
DO $$ BEGIN EXECUTE 'EXECUTE p'; EXCEPTION WHEN OTHERS THEN RAISE INFO '%', SQLSTATE; END $$;
DROP SCHEMA agg_following_keys CASCADE;
