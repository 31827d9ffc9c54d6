-- A column of the layout gets another order without a rewrite: batches are taken
-- back, and the table is compressed again when VACUUM has emptied the companion.
-- Where the order stays, batches stay.
SET strata.batch_rows = 10;
SET TimeZone = 'UTC';
SET strata.background_vacuum = off;
CREATE TABLE order_change (seg varchar(10), ts timestamp, n int, pad text) USING strata;
ALTER TABLE order_change SET (strata.segmentby = 'seg', strata.orderby = 'ts');
INSERT INTO order_change SELECT 's' || i % 2, timestamp '2026-01-01' + i * interval '1 h', i, repeat('x', 300) FROM generate_series(1, 100) i;
SELECT compress_chunk('order_change');
SELECT count(*) FROM strata.batches('order_change');

-- text is compared as varchar is, timestamptz as timestamp
ALTER TABLE order_change ALTER seg TYPE text, ALTER ts TYPE timestamptz;
SELECT count(*) FROM strata.batches('order_change');
INSERT INTO order_change SELECT 's' || i % 2, timestamptz '2026-01-01' + i * interval '1 h', i, 'late' FROM generate_series(101, 140) i;
SELECT compress_chunk('order_change');
SELECT count(*) FROM strata.batches('order_change');
SELECT count(*), sum(n) FROM order_change WHERE seg = 's1' AND ts >= '2026-01-05' AND ts < '2026-01-06';
SELECT n FROM order_change WHERE seg = 's0' ORDER BY ts DESC LIMIT 3;
SELECT compress_chunk('order_change', recompress => true);
SELECT count(*) FROM strata.batches('order_change');
SELECT count(*), sum(n) FROM order_change WHERE seg = 's1' AND ts >= '2026-01-05' AND ts < '2026-01-06';
SELECT count(*) FROM strata.verify('order_change');

-- another collation is another order
ALTER TABLE order_change ALTER seg TYPE text COLLATE "C";
SELECT count(*), min(n) FROM order_change WHERE seg = 's1';
SELECT compress_chunk('order_change', if_not_compressed => false);
SELECT count(*) FROM strata.batches('order_change');
SELECT count(*), sum(n) FROM order_change WHERE seg = 's1';
SELECT compress_chunk('order_change');
VACUUM order_change;
SELECT compress_chunk('order_change');
SELECT count(*) > 0 AS batches FROM strata.batches('order_change');
SELECT count(*), sum(n) FROM order_change WHERE seg = 's1';
SELECT count(*) FROM strata.verify('order_change');
-- in one transaction with its making
BEGIN;
CREATE TABLE order_again (seg text, n int, pad text) USING strata;
ALTER TABLE order_again SET (strata.segmentby = 'seg', strata.orderby = 'n');
INSERT INTO order_again SELECT 's' || i % 2, i, repeat('x', 300) FROM generate_series(1, 100) i;
SELECT compress_chunk('order_again');
ALTER TABLE order_again ALTER seg TYPE text COLLATE "C", ALTER n TYPE oid;
SELECT compress_chunk('order_again');
SELECT count(*) FROM order_again WHERE n < 51;
COMMIT;
SELECT count(*) FROM order_again WHERE n < 51;
DROP TABLE order_change, order_again;
