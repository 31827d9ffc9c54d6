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
