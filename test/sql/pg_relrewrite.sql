-- Companions and their TOAST tables have relrewrite set for life; a table has it
-- while its rows are moved, and nobody sees that.  PostgreSQL treats a table
-- with relrewrite like any other elsewhere: ANALYZE, VACUUM, reading.
SET client_min_messages = warning;
SET strata.batch_rows = 100;
CREATE TABLE pgr (id int PRIMARY KEY, v text) USING strata WITH (strata.orderby = 'id');
INSERT INTO pgr SELECT i, repeat(md5(i::text), 100) FROM generate_series(1, 500) i;
SELECT compress_chunk('pgr');
SELECT relrewrite <> 0 AS silent, (SELECT relrewrite <> 0 FROM pg_class t WHERE t.oid = c.reltoastrelid) AS toast_silent
    FROM pg_class c WHERE oid = strata.batch_relation('pgr');
SELECT relrewrite = 0 AS heard FROM pg_class WHERE relname = 'pgr';
VACUUM (ANALYZE) pgr;
VACUUM FULL pgr;
SELECT relrewrite <> 0 AS silent FROM pg_class c WHERE oid = strata.batch_relation('pgr');
SELECT count(*), sum(length(v)) FROM pgr;
BEGIN;
SELECT decompress_chunk('pgr');
ROLLBACK;
SELECT relrewrite = 0 AS heard FROM pg_class WHERE relname = 'pgr';
DROP TABLE pgr;
