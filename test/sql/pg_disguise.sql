-- heapam's index builds and rewrites see the row store alone: an index has an
-- entry for each row there, and each row of either half is copied once.
SET client_min_messages = warning;
SET strata.batch_rows = 100;
CREATE TABLE pgd (id int NOT NULL, k int, v text) USING strata WITH (strata.segmentby = 'k', strata.orderby = 'id');
INSERT INTO pgd SELECT i, i % 2, 'v' || i FROM generate_series(1, 1000) i;
SELECT compress_chunk('pgd');
INSERT INTO pgd SELECT i, i % 2, 'v' || i FROM generate_series(1001, 1050) i;
CREATE INDEX pgd_v ON pgd (v);
CREATE INDEX pgd_expression ON pgd ((id + length(v)));
SELECT relname, reltuples FROM pg_class WHERE relname LIKE 'pgd\_%' AND relkind = 'i' ORDER BY 1;
REINDEX TABLE pgd;
SELECT relname, reltuples FROM pg_class WHERE relname LIKE 'pgd\_%' AND relkind = 'i' ORDER BY 1;
CREATE UNIQUE INDEX pgd_id ON pgd (id);
INSERT INTO pgd VALUES (5, 1, 'of a batch');
INSERT INTO pgd VALUES (1005, 1, 'of the row store');
-- a build that fails takes the disguise off
CREATE INDEX pgd_fails ON pgd ((1 / (id - 1010)));
SELECT count(*), sum(id) FROM pgd;
CLUSTER pgd USING pgd_id;
SELECT count(*), sum(id), count(DISTINCT v) FROM pgd;
SELECT sum(nrows) FROM strata.batches('pgd');
VACUUM FULL pgd;
SELECT count(*), sum(id), count(DISTINCT v) FROM pgd;
SELECT * FROM strata.verify('pgd');
DROP TABLE pgd;
