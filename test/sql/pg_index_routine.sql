-- INSERT ... ON CONFLICT looks into an index by the routine in its relcache
-- entry, also after that entry was rebuilt, and finds a compressed row's key.
SET client_min_messages = warning;
SET strata.batch_rows = 100;
CREATE TABLE pgi (id int PRIMARY KEY, v text) USING strata WITH (strata.orderby = 'id');
CREATE TABLE pgi_other (id int PRIMARY KEY, v text);
INSERT INTO pgi SELECT i, 'old' FROM generate_series(1, 1000) i;
INSERT INTO pgi_other SELECT i, 'old' FROM generate_series(1, 10) i;
SELECT compress_chunk('pgi');
PREPARE upsert AS INSERT INTO pgi VALUES ($1, 'new') ON CONFLICT (id) DO UPDATE SET v = excluded.v RETURNING id, v;
EXECUTE upsert(7);
ALTER INDEX pgi_pkey SET (fillfactor = 80);
EXECUTE upsert(8);
REINDEX INDEX pgi_pkey;
EXECUTE upsert(9);
EXECUTE upsert(9);
EXECUTE upsert(1001);
INSERT INTO pgi VALUES (10, 'never') ON CONFLICT DO NOTHING;
-- an error in the middle of a look-up leaves nothing behind for the next
INSERT INTO pgi VALUES (11, 'x') ON CONFLICT (id) DO UPDATE SET v = (1 / 0)::text;
INSERT INTO pgi VALUES (11, 'new') ON CONFLICT (id) DO UPDATE SET v = excluded.v RETURNING v;
-- another table's index is looked up as ever
INSERT INTO pgi_other VALUES (3, 'new'), (11, 'new') ON CONFLICT (id) DO UPDATE SET v = excluded.v;
SET enable_seqscan = off;
SELECT * FROM pgi_other WHERE id IN (3, 4, 11) ORDER BY id;
SELECT * FROM pgi WHERE id IN (7, 8, 9, 10, 11, 12, 1001) ORDER BY id;
SELECT count(*), sum(id) FROM pgi;
DROP TABLE pgi, pgi_other;
