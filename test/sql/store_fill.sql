-- Columns added after compression keep their defaults through rewrites of the
-- row store, which make PostgreSQL forget them.
CREATE TABLE fill (id int, s text, ts date) USING strata WITH (strata.segmentby = 's');
CREATE TABLE fill_heap (LIKE fill);
INSERT INTO fill SELECT g, 's' || g % 3, '2020-01-01'::date + g FROM generate_series(1, 3000) g;
INSERT INTO fill_heap SELECT * FROM fill;
SELECT compress_chunk('fill');
ALTER TABLE fill ADD COLUMN k int DEFAULT 42, ADD COLUMN t text DEFAULT 'x', ADD COLUMN n int;
ALTER TABLE fill_heap ADD COLUMN k int DEFAULT 42, ADD COLUMN t text DEFAULT 'x', ADD COLUMN n int;
VACUUM FULL fill;
SELECT count(*) FROM ((TABLE fill EXCEPT ALL TABLE fill_heap) UNION ALL (TABLE fill_heap EXCEPT ALL TABLE fill)) d;
SELECT * FROM strata.verify('fill');
-- again, with an index, other settings and a changed row
ALTER TABLE fill ADD COLUMN z numeric DEFAULT 1.50;
ALTER TABLE fill_heap ADD COLUMN z numeric DEFAULT 1.50;
CREATE INDEX fill_id ON fill (id);
UPDATE fill SET z = 2 WHERE id = 77;
UPDATE fill_heap SET z = 2 WHERE id = 77;
CLUSTER fill USING fill_id;
ALTER TABLE fill SET (strata.segmentby = 'k');
ALTER TABLE fill ADD COLUMN y numeric DEFAULT 2.50;
ALTER TABLE fill_heap ADD COLUMN y numeric DEFAULT 2.50;
VACUUM FULL fill;
SELECT count(*) FROM ((TABLE fill EXCEPT ALL TABLE fill_heap) UNION ALL (TABLE fill_heap EXCEPT ALL TABLE fill)) d;
SELECT compress_chunk('fill', recompress => true);
SELECT count(*) FROM ((TABLE fill EXCEPT ALL TABLE fill_heap) UNION ALL (TABLE fill_heap EXCEPT ALL TABLE fill)) d;
SELECT * FROM strata.verify('fill');
DROP TABLE fill, fill_heap;

-- added columns that make batches larger than new ones get
CREATE TABLE fill_large (time timestamptz NOT NULL, kind text, v float8) USING strata WITH (strata.segmentby = 'kind', strata.orderby = 'time');
INSERT INTO fill_large SELECT timestamptz '2026-01-01' + i * interval '1 min', 'k', i FROM generate_series(1, 2000) i;
SELECT compress_chunk('fill_large');
ALTER TABLE fill_large ADD COLUMN big text DEFAULT repeat('x', 20000);
VACUUM FULL fill_large;
SELECT count(*), sum(length(big)), min(big) = max(big) AS same, sum(v), count(DISTINCT kind), (SELECT count(*) FROM strata.verify('fill_large')) AS problems FROM fill_large;
SELECT batches FROM strata.tables WHERE relation = 'fill_large'::regclass;
SELECT compress_chunk('fill_large', recompress => true);
SELECT count(*), sum(length(big)), sum(v) FROM fill_large;
DROP TABLE fill_large;
CREATE TYPE fill_mood AS ENUM ('low', 'high');
CREATE TABLE fill_large (time timestamptz NOT NULL, mood fill_mood, v float8) USING strata WITH (strata.segmentby = 'mood', strata.orderby = 'time');
INSERT INTO fill_large SELECT timestamptz '2026-01-01' + i * interval '1 min', 'high', i FROM generate_series(1, 2000) i;
SELECT compress_chunk('fill_large');
ALTER TABLE fill_large ADD COLUMN big text DEFAULT repeat('x', 20000);
ALTER TABLE fill_large DROP COLUMN mood;
SELECT count(*), sum(length(big)), sum(v), (SELECT count(*) FROM strata.verify('fill_large')) AS problems FROM fill_large;
DROP TABLE fill_large;
DROP TYPE fill_mood;
