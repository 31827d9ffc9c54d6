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

-- values of before an ALTER TYPE stay readable when the former type and its casts go
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS citext;
RESET client_min_messages;
CREATE TABLE order_former (time timestamptz NOT NULL, device citext, note citext, place text COLLATE "de-x-icu") USING strata WITH (strata.orderby = 'time');
CREATE TABLE order_former_key (LIKE order_former) USING strata WITH (strata.segmentby = 'device', strata.orderby = 'note, time');
CREATE COLLATION order_own (provider = icu, locale = 'de');
CREATE TABLE order_former_own (n int, place text COLLATE order_own) USING strata WITH (strata.segmentby = 'place');
INSERT INTO order_former SELECT timestamptz '2026-01-01' + i * interval '1 min', 'D' || i % 2, 'Note ' || i, 'p' || i % 3 FROM generate_series(1, 1000) i;
INSERT INTO order_former_key TABLE order_former;
INSERT INTO order_former_own SELECT i, 'p' || i % 2 FROM generate_series(1, 1000) i;
SELECT compress_chunk(c::regclass) FROM unnest(ARRAY['order_former', 'order_former_key', 'order_former_own']) c;
ALTER TABLE order_former ALTER device TYPE text, ALTER note TYPE text;
ALTER TABLE order_former_key ALTER device TYPE text, ALTER note TYPE varchar;
ALTER TABLE order_former_own ALTER place TYPE text COLLATE "C";
\set VERBOSITY sqlstate
DROP EXTENSION citext;
DROP EXTENSION citext CASCADE;
DROP COLLATION order_own CASCADE;
\set VERBOSITY default
SELECT count(*), max(note), min(device), (SELECT count(*) FROM strata.verify('order_former')) AS problems FROM order_former;
SELECT count(*), max(note), min(device), (SELECT count(*) FROM strata.verify('order_former_key')) AS problems FROM order_former_key;
SELECT place, count(*) FROM order_former_own GROUP BY 1 ORDER BY 1;
SELECT compress_chunk('order_former_key', recompress => true);
VACUUM order_former_key;
SET client_min_messages = warning;
DROP EXTENSION citext CASCADE;
SELECT compress_chunk('order_former_key');
SELECT compress_chunk('order_former_own', recompress => true);
VACUUM order_former_own;
DROP COLLATION order_own CASCADE;
SELECT compress_chunk('order_former_own');
RESET client_min_messages;
SELECT count(*), max(note), min(device), (SELECT count(*) FROM strata.verify('order_former')) AS problems FROM order_former;
SELECT count(*), max(note), min(device), (SELECT count(*) FROM strata.verify('order_former_key')) AS problems FROM order_former_key;
SELECT place, count(*) FROM order_former_own GROUP BY 1 ORDER BY 1;
SELECT decompress_chunk('order_former');
SELECT count(*), max(note), min(device) FROM order_former;
DROP TABLE order_former, order_former_key, order_former_own;

-- rows whose values are too long for a new layout's keys go back to the row store
CREATE TABLE order_long (time timestamptz NOT NULL, device int, note text, UNIQUE (device, time)) USING strata WITH (strata.segmentby = 'device', strata.orderby = 'time DESC');
INSERT INTO order_long SELECT timestamptz '2026-01-01' + i * interval '1 min', i % 2, CASE WHEN i % 10 = 0 THEN (SELECT string_agg(md5(i::text || j::text), '') FROM generate_series(1, 150) j) ELSE 'short ' || i END FROM generate_series(1, 1000) i;
SELECT md5(string_agg(o::text, '' ORDER BY time)) AS before FROM order_long o \gset
SELECT compress_chunk('order_long');
SELECT row_store_rows, batch_rows FROM strata.tables WHERE relation = 'order_long'::regclass;
ALTER TABLE order_long SET (strata.orderby = 'note');
SELECT compress_chunk('order_long', recompress => true);
SELECT row_store_rows, batch_rows FROM strata.tables WHERE relation = 'order_long'::regclass;
ALTER TABLE order_long SET (strata.segmentby = 'note', strata.orderby = 'time', strata.codec_level = 'archive');
SELECT compress_chunk('order_long', recompress => true);
SELECT row_store_rows, batch_rows FROM strata.tables WHERE relation = 'order_long'::regclass;
SELECT md5(string_agg(o::text, '' ORDER BY time)) = :'before' AS same, (SELECT count(*) FROM strata.verify('order_long')) AS problems FROM order_long o;
INSERT INTO order_long SELECT time, device, '' FROM order_long WHERE time = '2026-01-01 00:10';
DROP TABLE order_long;

-- more segmentby columns than an index has; more than a batch's row holds
SELECT string_agg(format('s%s int', i), ', ') AS columns, string_agg(format('s%s', i), ', ') AS names FROM generate_series(1, 40) i \gset
CREATE TABLE order_wide (time timestamptz NOT NULL, :columns) USING strata;
ALTER TABLE order_wide SET (strata.segmentby = :'names', strata.orderby = 'time DESC');
INSERT INTO order_wide (time, s1, s40) SELECT timestamptz '2026-01-01' + i * interval '1 min', 1, i % 2 FROM generate_series(1, 300) i;
SELECT compress_chunk('order_wide');
INSERT INTO order_wide (time, s1, s40) SELECT timestamptz '2026-02-01' + i * interval '1 min', 1, i % 2 FROM generate_series(1, 300) i;
SELECT compress_chunk('order_wide', recompress => true);
SELECT s40, count(*) FROM order_wide GROUP BY 1 ORDER BY 1;
SELECT row_store_rows, batches FROM strata.tables WHERE relation = 'order_wide'::regclass;
DROP TABLE order_wide;
SELECT string_agg(format('s%s int', i), ', ') AS columns, string_agg(format('s%s', i), ', ') AS names FROM generate_series(1, 101) i \gset
CREATE TABLE order_wide (:columns) USING strata;
ALTER TABLE order_wide SET (strata.orderby = :'names');
DROP TABLE order_wide;
