-- test/sqlsmith/churn.sql
--    Once through: what makes batches, row entries and a row store beside sqlsmith's queries.  Statements may fail
--    (locks, duplicates); the next go on.
SET strata.background_vacuum = off;
SET lock_timeout = '3s';
SELECT set_config('strata.batch_rows', (10 + floor(random() * 40))::text, false), floor(random() * 600)::int AS x \gset
UPDATE wide SET f8 = random(), txt = 'changed ' || :x WHERE id BETWEEN :x AND :x + 5;
DELETE FROM wide WHERE id = :x + 6;
INSERT INTO wide (id, ts, txt, feel) SELECT i, now(), 'new', 'ok' FROM generate_series(:x, :x + 6) AS i ON CONFLICT (id) DO UPDATE SET txt = excluded.txt;
UPDATE metric SET value = value + 1 WHERE device = :x % 16;
DELETE FROM metric WHERE device = 10 + :x % 6 AND value < 20;
INSERT INTO metric SELECT timestamptz '2026-01-01' + i * interval '35 min', i % 6 + 10, i / 5.0, NULL FROM generate_series(1, 60) AS i ON CONFLICT DO NOTHING;
UPDATE reading SET v = v + 1 WHERE id BETWEEN :x AND :x + 9;
BEGIN;
UPDATE device SET weight = weight + 1 WHERE id = :x % 100;
SAVEPOINT s;
DELETE FROM device WHERE id = :x % 100;
ROLLBACK TO s;
COMMIT;
DELETE FROM plain WHERE c = :x;
INSERT INTO plain VALUES (:x, 'b', :x);
UPDATE unlogged SET a = a + 1 WHERE a = :x;
SELECT :x % 5 = 0 AS some, :x % 5 = 1 AS all_of, :x % 5 = 2 AS back, :x % 5 = 3 AS clean \gset
\if :some
SELECT compress_chunk('wide'), compress_chunk('reading'), compress_chunk('plain');
SELECT compress_chunk(c) FROM show_chunks('metric') AS c LIMIT 2;
\elif :all_of
SELECT compress_chunk('wide', recompress => true), compress_chunk('device', recompress => true), compress_chunk('plain', recompress => true);
SELECT compress_chunk(c, recompress => true) FROM show_chunks('metric') AS c;
\elif :back
SELECT decompress_chunk('plain', true), decompress_chunk('unlogged', true), decompress_chunk('reading', true);
SELECT compress_chunk('unlogged');
\elif :clean
VACUUM ANALYZE wide, metric, device, reading, plain, unlogged;
\endif
