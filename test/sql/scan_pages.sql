-- scan_pages.c: companions of some dozens of pages, read from end to end more than once, while they change.
SET client_min_messages = warning;
SELECT setseed(0.25);
CREATE TABLE pages_heap AS
  SELECT g AS id, g / 180 AS seg, random() AS a, random() AS b FROM generate_series(1, 18000) AS g;
CREATE TABLE pages (LIKE pages_heap) USING strata WITH (strata.segmentby = 'seg', strata.orderby = 'id');
INSERT INTO pages SELECT * FROM pages_heap;
SELECT compress_chunk('pages') IS NOT NULL AS compressed;
SELECT pg_relation_size(strata.batch_relation('pages')) / 8192 > 30 AS many_pages;

CREATE FUNCTION pages_differ() RETURNS bigint LANGUAGE sql AS
$$ SELECT (SELECT count(*) FROM (TABLE pages EXCEPT ALL TABLE pages_heap) AS x) +
          (SELECT count(*) FROM (TABLE pages_heap EXCEPT ALL TABLE pages) AS x) $$;
SELECT pages_differ(), pages_differ();
SELECT count(*), sum(id), count(DISTINCT seg), min(id), max(id) FROM pages;
SELECT count(*), sum(id), count(DISTINCT seg), min(id), max(id) FROM pages;

-- rows and batches that go, with and without marks of visibility
DELETE FROM pages WHERE id % 1000 = 7 OR seg IN (3, 40, 41, 42, 77);
DELETE FROM pages_heap WHERE id % 1000 = 7 OR seg IN (3, 40, 41, 42, 77);
SELECT pages_differ(), count(*) FROM pages;
VACUUM pages;
SELECT pages_differ(), count(*) FROM pages;

-- what another transaction took back
BEGIN;
DELETE FROM pages WHERE seg < 20;
SELECT count(*) FROM pages;
ROLLBACK;
SELECT pages_differ(), count(*) FROM pages;

-- more pages, and others than those remembered
INSERT INTO pages SELECT g, g / 180, 1, 2 FROM generate_series(20001, 24000) AS g;
INSERT INTO pages_heap SELECT g, g / 180, 1, 2 FROM generate_series(20001, 24000) AS g;
SELECT compress_chunk('pages') IS NOT NULL AS compressed;
SELECT pages_differ(), count(*) FROM pages;
VACUUM FULL pages;
SELECT pages_differ(), count(*) FROM pages;

-- a snapshot from before a change
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM pages;
UPDATE pages SET a = 0 WHERE seg = 50;
SELECT count(*), count(*) FILTER (WHERE a = 0) FROM pages;
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*), sum(id) FROM pages;
COMMIT;

-- there and back
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM pages;
CREATE FUNCTION pages_walk(direction text, steps int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  c refcursor := 'c';
  x int;
  total bigint := 0;
BEGIN
  FOR i IN 1 .. steps LOOP
    IF direction = 'forward' THEN FETCH NEXT FROM c INTO x; ELSE FETCH PRIOR FROM c INTO x; END IF;
    EXIT WHEN NOT FOUND;
    total := total + x;
  END LOOP;
  RETURN total;
END $$;
-- the whole way, and as far as it goes again
SELECT pages_walk('forward', 30000) = sum(id) AS forward FROM pages_heap;
SELECT pages_walk('backward', 30000) = sum(id) AS backward FROM pages_heap;
SELECT pages_walk('forward', 30000) = sum(id) AS forward FROM pages_heap;
SELECT pages_walk('backward', 5000) - pages_walk('forward', 5000) BETWEEN -24000 AND 24000 AS same_way;
ROLLBACK;

-- with an end before the end, and more than one of them in a query
SELECT count(*) FROM (SELECT id FROM pages LIMIT 3000) AS x;
SELECT count(*) FROM pages AS p JOIN pages AS q USING (id) JOIN pages AS r USING (id);
SELECT count(*), (SELECT count(*) FROM pages WHERE seg = o.seg + 1) AS next FROM pages AS o WHERE seg BETWEEN 48 AND 50
  GROUP BY o.seg ORDER BY 1, 2;
TRUNCATE pages;
SELECT count(*) FROM pages;
DROP FUNCTION pages_differ;
DROP TABLE pages, pages_heap;
