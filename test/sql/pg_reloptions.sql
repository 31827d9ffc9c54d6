-- PostgreSQL passes over options with a dot in reloptions: its own are read
-- beside them, set and reset beside them, and its commands keep them.
SET client_min_messages = warning;
CREATE TABLE pgo (id int, v text) USING strata WITH (strata.orderby = 'id DESC', fillfactor = 50);
SELECT unnest(reloptions) FROM pg_class WHERE relname = 'pgo' ORDER BY 1;
INSERT INTO pgo SELECT i, repeat('x', 100) FROM generate_series(1, 1000) i;
SELECT pg_relation_size('pgo') > 200 * 1000 AS half_filled;
ALTER TABLE pgo SET (autovacuum_enabled = off);
ALTER TABLE pgo RESET (fillfactor);
ALTER TABLE pgo SET (strata.segmentby = 'v', parallel_workers = 1);
SELECT unnest(reloptions) FROM pg_class WHERE relname = 'pgo' ORDER BY 1;
ALTER TABLE pgo RESET (strata.orderby);
ALTER TABLE pgo ADD COLUMN w int;
ALTER TABLE pgo ALTER COLUMN id TYPE bigint;
CREATE TABLE pgo_like (LIKE pgo INCLUDING ALL) USING strata;
SELECT relname, unnest(reloptions) FROM pg_class WHERE relname LIKE 'pgo%' ORDER BY 1, 2;
-- one that nobody knows is refused where it is set
ALTER TABLE pgo SET (strata.nonsense = 1);
ALTER TABLE pgo SET (other.option = 1);
DROP TABLE pgo, pgo_like;
