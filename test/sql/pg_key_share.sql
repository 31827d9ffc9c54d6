-- FOR KEY SHARE beside a change that keeps the key, within one session: the lock
-- is on the version that the change made, and the row is there when it is undone.
-- (Two sessions: specs lock_key_share, key_share_snapshot, foreign_key.)
SET client_min_messages = warning;
SET strata.batch_rows = 100;
CREATE TABLE pgk (id int PRIMARY KEY, v int) USING strata WITH (strata.orderby = 'id');
INSERT INTO pgk SELECT i, i FROM generate_series(1, 500) i;
SELECT compress_chunk('pgk');
BEGIN;
SELECT v FROM pgk WHERE id = 5 FOR KEY SHARE;
SAVEPOINT s;
UPDATE pgk SET v = -5 WHERE id = 5;
SELECT v FROM pgk WHERE id = 5 FOR KEY SHARE;
ROLLBACK TO s;
SELECT v FROM pgk WHERE id = 5 FOR KEY SHARE;
UPDATE pgk SET v = 55 WHERE id = 5;
COMMIT;
SELECT v FROM pgk WHERE id = 5;
VACUUM (FREEZE) pgk;
SELECT v FROM pgk WHERE id = 5 FOR KEY SHARE;
SELECT count(*), sum(v) FROM pgk;
DROP TABLE pgk;
