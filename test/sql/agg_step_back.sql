-- Aggregates that must be left to PostgreSQL: what is computed ahead of a
-- FILTER, and functions that ask for the types of their call.
CREATE EXTENSION IF NOT EXISTS strata;
SET client_min_messages = error;
CREATE TABLE t (u int, ten int, r numrange, a int[], e text) USING strata;
INSERT INTO t SELECT g, g % 10, numrange(g, g + 100), ARRAY[g, g % 3], 'e' || g % 5 FROM generate_series(1, 5000) g;
SELECT compress_chunk('t');
SELECT sum(1 / ten) FILTER (WHERE ten > 0) FROM t;
SELECT sum(1 / ten) FILTER (WHERE CASE WHEN ten = 0 THEN false ELSE true END), count(*) FROM t;
SELECT e, max(10 / ten) FILTER (WHERE ten > 0) FROM t GROUP BY e ORDER BY e;
SELECT range_intersect_agg(r) FROM t WHERE u BETWEEN 100 AND 110;
SELECT range_agg(r) FROM t WHERE u < 10;
SELECT max(a), min(a) FROM t;
DROP TABLE t;
