-- Columns whose storage says not to compress, and whose compression says how.
SET client_min_messages = warning;
CREATE SCHEMA catalog_compression;
SET search_path = catalog_compression, public;
CREATE TABLE t (id int, plain text, ext text, any_kind text) USING strata;
-- a server built without LZ4 refuses this (the second expected output), and the column is as any other
ALTER TABLE t ADD lz text COMPRESSION lz4;
ALTER TABLE t ADD IF NOT EXISTS lz text;
ALTER TABLE t ALTER plain SET STORAGE PLAIN, ALTER ext SET STORAGE EXTERNAL;
INSERT INTO t SELECT i, n, n, n, n FROM (SELECT i, md5(i::text) || repeat('abcd', i % 20) AS n FROM generate_series(1, 1000) i) s;
SELECT compress_chunk('t');
SELECT column_name, string_agg(DISTINCT codec, ' ') AS codecs FROM strata.batch_columns('t') WHERE column_name <> 'id' GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM t WHERE plain = ext AND ext = lz AND lz = any_kind;
DROP SCHEMA catalog_compression CASCADE;
