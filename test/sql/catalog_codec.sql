-- strata.codec_level and strata.codecs: stored, refused, honoured.
SET client_min_messages = warning;
CREATE SCHEMA catalog_codec;
SET search_path = catalog_codec, public;
SET strata.batch_rows = 100;
CREATE VIEW stored AS SELECT c.oid::regclass AS rel, unnest(reloptions) AS option FROM pg_class c
    WHERE relnamespace = 'catalog_codec'::regnamespace ORDER BY 1, 2;
-- codecs of all batches but constants, by column
CREATE FUNCTION used(t regclass) RETURNS TABLE (column_name name, codecs text) LANGUAGE sql AS $$
    SELECT column_name, string_agg(DISTINCT codec, ' ') FROM strata.batch_columns(t) GROUP BY 1 ORDER BY 1 $$;

CREATE TABLE src AS SELECT i AS id, timestamptz '2024-01-01 00:00Z' + i * interval '10 s' AS ts, (i % 7)::int2 AS dev,
    (i % 100) / 10.0::float8 AS f, (i * 7919 % 1000 / 100.0)::numeric(20, 2) AS money, (i % 1000)::numeric / power(10, i % 5)::numeric AS mixed,
    'name ' || i % 5 AS name, md5(i::text) || repeat('x', i % 50) AS note, i % 3 = 0 AS flag
    FROM generate_series(1, 3000) i;
CREATE TABLE t (LIKE src) USING strata WITH (strata.segmentby = 'dev', strata.orderby = 'ts');
INSERT INTO t TABLE src;

-- refused, with nothing changed
ALTER TABLE t SET (strata.codec_level = 'fast');
ALTER TABLE t SET (strata.codecs = 'f');
ALTER TABLE t SET (strata.codecs = 'f nonsense');
ALTER TABLE t SET (strata.codecs = 'nope gorilla');
ALTER TABLE t SET (strata.codecs = 'note gorilla');
ALTER TABLE t SET (strata.codecs = 'f lz4');
ALTER TABLE t SET (strata.codecs = 'id constant');
ALTER TABLE t SET (strata.codecs = 'note numeric');
ALTER TABLE t SET (strata.codecs = 'f gorilla, f decimal');
ALTER TABLE t SET (strata.codecs = 'dev dictionary');
ALTER TABLE t SET (strata.codecs = 'f gorilla FROM src');
ALTER TABLE t SET (strata.codecs = 'f + 1 gorilla');
ALTER TABLE t SET (strata.codecs = 'f gorilla; SELECT 1');
ALTER TABLE t SET (strata.codecs = 't.f gorilla');
ALTER TABLE t SET (strata.codecs = 'ctid raw');
TABLE stored;

-- by itself
SELECT compress_chunk('t');
SELECT * FROM used('t');
SELECT count(*) FROM (TABLE t EXCEPT ALL TABLE src) d;
SELECT count(*) FROM (TABLE src EXCEPT ALL TABLE t) d;
-- numeric: every value with its own scale
SELECT count(*) FROM t JOIN src USING (id) WHERE t.mixed::text <> src.mixed::text OR t.money::text <> src.money::text;

-- asked for
ALTER TABLE t SET (strata.codecs = 'f gorilla, name zstd, note raw, id raw, money dictionary, ts auto');
TABLE stored;
SELECT compress_chunk('t', recompress => true);
SELECT * FROM used('t');
SELECT count(*) FROM (TABLE t EXCEPT ALL TABLE src) d;
-- and what AUTO never takes
ALTER TABLE t SET (strata.codecs = 'f gorilla, ts simple8b, id simple8b');
SELECT compress_chunk('t', recompress => true);
SELECT * FROM used('t') WHERE column_name IN ('f', 'ts', 'id');
SELECT count(*) FROM (TABLE t EXCEPT ALL TABLE src) d;
SELECT count(*), min(ts), max(ts), sum(id) FROM t WHERE id BETWEEN 300 AND 700
	EXCEPT SELECT count(*), min(ts), max(ts), sum(id) FROM src WHERE id BETWEEN 300 AND 700;
SELECT * FROM strata.verify('t');
ALTER TABLE t SET (strata.codecs = 'f gorilla, name zstd, note raw, id raw, money dictionary, ts auto');
ALTER TABLE t SET (strata.segmentby = 'dev, name');
ALTER TABLE t RENAME name TO "The name";
ALTER TABLE t RENAME f TO g;
ALTER TABLE t DROP COLUMN note;
TABLE stored;
ALTER TABLE t ALTER COLUMN g TYPE text;
SELECT compress_chunk('t', recompress => true);
SELECT * FROM used('t');
ALTER TABLE t RESET (strata.codecs);
TABLE stored;
DROP TABLE t;

-- levels
CREATE TABLE t (LIKE src) USING strata WITH (strata.orderby = 'ts', strata.codec_level = 'archive');
INSERT INTO t TABLE src;
SELECT compress_chunk('t');
-- archives leave two batch rows to a page, others one
CREATE VIEW target AS SELECT o AS option FROM pg_class, unnest(reloptions) AS o
	WHERE oid = strata.batch_relation('t') AND o LIKE 'toast%';
TABLE target;
SELECT count(*) AS batches, max(nrows) AS largest FROM strata.batches('t');
SELECT count(*) FROM (TABLE t EXCEPT ALL TABLE src) d;
SELECT count(*) FROM (TABLE src EXCEPT ALL TABLE t) d;
SELECT * FROM strata.verify('t');
UPDATE t SET f = -f WHERE id % 1000 = 5;
DELETE FROM t WHERE id = 2000;
SELECT count(*), sum(f) FROM t;
CREATE TABLE sizes AS SELECT 'archive' AS level, sum(bytes) AS bytes FROM strata.batch_columns('t');
SELECT compress_chunk('t', recompress => true);
ALTER TABLE t SET (strata.codec_level = 'hot');
SELECT compress_chunk('t', recompress => true);
TABLE target;
SELECT DISTINCT codec FROM strata.batch_columns('t') WHERE codec = 'zstd';
INSERT INTO sizes SELECT 'hot', sum(bytes) FROM strata.batch_columns('t');
SELECT max(nrows) FROM strata.batches('t');
ALTER TABLE t RESET (strata.codec_level);
SELECT compress_chunk('t', recompress => true);
INSERT INTO sizes SELECT 'balanced', sum(bytes) FROM strata.batch_columns('t');
SELECT level FROM sizes ORDER BY bytes;
DROP VIEW target;
DROP TABLE t;

-- numerics that are no scaled integers are kept all the same
CREATE TABLE t (id int, n numeric) USING strata;
CREATE TABLE h (id int, n numeric);
INSERT INTO h SELECT i, CASE i % 9 WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN '-Infinity' WHEN 3 THEN power(10::numeric, 200) + i
    WHEN 4 THEN i / 3.0 WHEN 5 THEN 0.00 WHEN 6 THEN NULL WHEN 7 THEN 1e-90 * i ELSE -i::numeric * 1.50 END FROM generate_series(1, 900) i;
INSERT INTO h SELECT 1000 + i, (i * 9223372036)::numeric / 10000 FROM generate_series(1, 300) i;
INSERT INTO h SELECT 2000 + i, (i % 10)::numeric(6, 3) FROM generate_series(1, 300) i;
INSERT INTO t TABLE h;
SELECT compress_chunk('t');
SELECT * FROM used('t');
SELECT count(*) FROM t JOIN h USING (id) WHERE t.n::text IS DISTINCT FROM h.n::text OR t.n IS DISTINCT FROM h.n;
SELECT sum(t.n) = sum(h.n) FROM t JOIN h USING (id) WHERE id > 1000;

-- partitions take each option from the nearest table that has it
CREATE TABLE p (k int, v float8) PARTITION BY LIST (k);
ALTER TABLE p SET (strata.segmentby = 'k', strata.codecs = 'v gorilla');
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1) USING strata WITH (strata.codec_level = 'archive');
CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2) USING strata WITH (strata.codecs = 'v raw');
INSERT INTO p SELECT 1 + i % 2, i % 77 / 7.0 FROM generate_series(1, 2000) i;
SELECT compress_chunk('p');
SELECT * FROM used('p1');
SELECT * FROM used('p2');
SELECT max(nrows) FROM strata.batches('p1');
DROP SCHEMA catalog_codec CASCADE;
