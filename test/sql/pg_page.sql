-- A tuple frozen by ourselves is seen by all, whatever became of who inserted
-- it: a lock that was undone leaves no change, and count(*) by the index alone
-- knows from the least key on its first page whether there are such entries.
SET client_min_messages = warning;
SET strata.batch_rows = 100;
CREATE TABLE pgf (id int PRIMARY KEY, v int) USING strata WITH (strata.orderby = 'id');
CREATE TABLE pgf_child (id int REFERENCES pgf);
INSERT INTO pgf SELECT i, i FROM generate_series(1, 1000) i;
SELECT compress_chunk('pgf');
SELECT count(*) FROM pgf;
BEGIN;
INSERT INTO pgf_child VALUES (5), (6);
ROLLBACK;
BEGIN;
SELECT id FROM pgf WHERE id = 7 FOR KEY SHARE;
UPDATE pgf SET v = -7 WHERE id = 7;
ROLLBACK;
SELECT count(*), sum(v) FROM pgf;
INSERT INTO pgf_child VALUES (5), (6);
DELETE FROM pgf WHERE id = 5;
DELETE FROM pgf WHERE id = 8;
SELECT count(*), sum(v) FROM pgf;
VACUUM (FREEZE) pgf;
SELECT count(*), sum(v) FROM pgf;
DROP TABLE pgf_child, pgf;
