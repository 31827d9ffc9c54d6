-- Row entries and what becomes of them when their transaction fails.
SET client_min_messages = warning;
SET strata.batch_rows = 100;
CREATE SCHEMA store_entry;
SET search_path = store_entry, public;
CREATE TABLE e (id int, v text) USING strata;
ALTER TABLE e SET (strata.orderby = 'id');
INSERT INTO e SELECT i, 'v' || i FROM generate_series(1, 250) i;

-- a row lock in a batch of the same transaction goes with the batch
BEGIN;
SELECT compress_chunk('e');
SELECT id FROM e WHERE id = 185 FOR KEY SHARE;
ROLLBACK;
SELECT compress_chunk('e');
SELECT * FROM strata.verify('e');
-- with a savepoint between them
BEGIN;
SELECT compress_chunk('e', recompress => true);
SAVEPOINT a;
UPDATE e SET v = 'new' WHERE id = 7;
SELECT id FROM e WHERE id = 185 FOR UPDATE;
ROLLBACK TO a;
SELECT id FROM e WHERE id = 186 FOR UPDATE;
COMMIT;
SELECT * FROM strata.verify('e');
SELECT count(*), count(DISTINCT v), max(v) FROM e;
-- a lock on an older batch stays, and means nothing to the next one
BEGIN;
SELECT id FROM e WHERE id = 187 FOR SHARE;
ROLLBACK;
UPDATE e SET v = v || '!' WHERE id IN (186, 187);
DELETE FROM e WHERE id = 187;
SELECT id, v FROM e WHERE id BETWEEN 185 AND 188 ORDER BY id;
SELECT * FROM strata.verify('e');
DROP SCHEMA store_entry CASCADE;
