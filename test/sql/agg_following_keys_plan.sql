-- Columns that follow from a primary key are grouped by as well.
SET client_min_messages = error;
CREATE SCHEMA agg_following_keys_plan;
SET search_path = agg_following_keys_plan, public;
CREATE TABLE d (id int PRIMARY KEY, name text, region text, j json);
INSERT INTO d SELECT i, 'n' || i, 'r' || i % 3, '{}' FROM generate_series(1, 30) AS i;
CREATE TABLE f (t timestamptz, id int, v float8) USING strata WITH (strata.segmentby = 'id', strata.orderby = 't');
INSERT INTO f SELECT '2026-01-01'::timestamptz + i * interval '1 min', i % 20 + 1, i % 7 FROM generate_series(1, 5000) AS i;
SELECT compress_chunk('f');
CREATE TABLE g (t timestamptz, id int, v float8, PRIMARY KEY (id, t)) USING strata WITH (strata.segmentby = 'id', strata.orderby = 't');
INSERT INTO g SELECT t, id, v FROM f;
SELECT compress_chunk('g');
ANALYZE d;
ANALYZE f;
ANALYZE g;
SET max_parallel_workers_per_gather = 0;
CREATE FUNCTION groups(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF line ~ 'StrataAgg|HashAggregate|Group Key' THEN
            RETURN NEXT line;
        END IF;
    END LOOP;
END $$;
SELECT groups('SELECT d.name, d.region, max(f.v) FROM f JOIN d USING (id) WHERE f.v > d.id GROUP BY d.id');
SELECT groups('SELECT id, v, count(*) FROM g GROUP BY id, t');
-- not where a column has no equality, or there are sets
SELECT groups('SELECT d.j, max(f.v) FROM f JOIN d USING (id) WHERE f.v > d.id GROUP BY d.id');
SELECT groups('SELECT d.id, d.name, count(*) FROM f JOIN d USING (id) WHERE f.v > d.id GROUP BY GROUPING SETS ((d.id), (d.id, f.v))');
DROP SCHEMA agg_following_keys_plan CASCADE;
