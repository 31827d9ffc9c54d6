-- Keys that are stored out of line, in rows beside batches and in heap partitions.
CREATE TABLE gh (id int, big text);
ALTER TABLE gh ALTER big SET STORAGE EXTERNAL;
CREATE TABLE gs (LIKE gh INCLUDING STORAGE) USING strata WITH (strata.orderby = 'id');
INSERT INTO gh SELECT i, repeat(md5((i % 3)::text), 100) FROM generate_series(1, 3000) i;
INSERT INTO gs SELECT * FROM gh WHERE id <= 2900;
SELECT compress_chunk('gs');
INSERT INTO gs SELECT * FROM gh WHERE id > 2900;
ANALYZE gs;
SELECT md5(big), count(*) FROM gs GROUP BY big ORDER BY 1;
SELECT count(DISTINCT big) FROM gs;
SELECT count(*) FROM (SELECT DISTINCT big FROM gs) x;
SELECT id % 2, count(DISTINCT big) FROM gs GROUP BY 1 ORDER BY 1;
SELECT md5(big), id % 2 AS odd, count(*) FROM gs GROUP BY ROLLUP (big, id % 2) ORDER BY 1, 2;
SELECT md5(max(big)), md5(min(big)), md5(first(big, id)), md5(last(big, id)) FROM gs;
SET work_mem = '64kB';
SET strata.agg_least_groups = 16;
SELECT md5(big), count(*) FROM gs GROUP BY big ORDER BY 1;
RESET work_mem;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT md5(big), count(*) FROM gs GROUP BY big ORDER BY 1;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
CREATE TABLE ph (id int, ts date, big text) PARTITION BY RANGE (ts);
CREATE TABLE ph1 PARTITION OF ph FOR VALUES FROM ('2024-01-01') TO ('2024-02-01') USING strata;
CREATE TABLE ph2 PARTITION OF ph FOR VALUES FROM ('2024-02-01') TO ('2024-03-01') USING heap;
ALTER TABLE ph1 ALTER big SET STORAGE EXTERNAL;
ALTER TABLE ph2 ALTER big SET STORAGE EXTERNAL;
INSERT INTO ph SELECT i, '2024-01-01'::date + i % 60, repeat(md5((i % 3)::text), 100) FROM generate_series(1, 3000) i;
SELECT compress_chunk('ph1');
SELECT md5(big), count(*) FROM ph GROUP BY big ORDER BY 1;
-- compressed in line, and out of line and compressed
ALTER TABLE gs ALTER big SET STORAGE EXTENDED;
INSERT INTO gs SELECT id, repeat(md5((id % 3)::text), 200) FROM gh WHERE id > 2900;
INSERT INTO gs SELECT id, string_agg(md5((id % 3 + g)::text), '') FROM gh, generate_series(1, 400) g WHERE id > 2900 GROUP BY id;
SELECT md5(big), count(*) FROM gs GROUP BY big ORDER BY 1;
DROP TABLE gh, gs, ph;

-- many keys, one of which is null in part, beside DISTINCT
SELECT format('CREATE TABLE gk (a int, v int, %s)', string_agg('c' || i || ' int', ', ' ORDER BY i)) FROM generate_series(1, 31) i \gexec
SELECT string_agg('c' || i, ',' ORDER BY i) AS keys FROM generate_series(1, 30) i \gset
INSERT INTO gk (a, v, c22, c30) SELECT i % 3, i % 7, CASE WHEN i % 2 = 0 THEN 1 END, CASE WHEN i % 5 = 0 THEN i % 700 END FROM generate_series(1, 9000) i;
CREATE TABLE gks (LIKE gk) USING strata WITH (strata.orderby = 'v');
INSERT INTO gks TABLE gk;
SELECT compress_chunk('gks');
ANALYZE gks;
CREATE FUNCTION gk_differ(what text, keys text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint; q text := format('SELECT %s, count(*), %s FROM %%s GROUP BY %1$s', keys, what);
BEGIN
	EXECUTE format('SELECT count(*) FROM ((%1$s EXCEPT ALL %2$s) UNION ALL (%2$s EXCEPT ALL %1$s)) x', format(q, 'gk'), format(q, 'gks')) INTO n;
	RETURN n;
END $$;
SELECT gk_differ('count(DISTINCT v)', :'keys'), gk_differ('sum(DISTINCT v), max(v)', 'a, ' || :'keys');
SET work_mem = '64kB';
SET strata.agg_least_groups = 16;
SET hash_mem_multiplier = 1;
SELECT gk_differ('count(DISTINCT v)', :'keys'), gk_differ('count(DISTINCT a), count(DISTINCT v)', :'keys');
RESET work_mem;
RESET hash_mem_multiplier;
DROP TABLE gk, gks;
DROP FUNCTION gk_differ;

-- a subquery with the name of what gapfilling reads
SELECT time_bucket_gapfill('1 hour', t, '2024-01-01'::timestamptz, '2024-01-02'::timestamptz) FROM (SELECT now() AS t LIMIT ALL) "*GAPFILL*";
SELECT time_bucket_gapfill('1 hour', t, '2024-01-01'::timestamptz, '2024-01-02'::timestamptz) FROM (SELECT now() AS t LIMIT ALL) "*GAPFILL*" ORDER BY 1;
SELECT count(*), min(b), max(n) FROM (SELECT time_bucket_gapfill('1 hour', t, '2024-01-01'::timestamptz, '2024-01-02'::timestamptz) AS b, count(*) AS n
	FROM (SELECT '2024-01-01 05:00'::timestamptz AS t OFFSET 0) "*GAPFILL*" GROUP BY 1) x;
