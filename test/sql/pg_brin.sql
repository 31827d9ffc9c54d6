-- What src/pg/pg_brin.c believes: classes of BRIN are asked with all keys of a column together, or with one, by how many arguments their function has; what they keep is made whole by brin_tuple.c; uniting a summary with a part of it changes nothing.
SET client_min_messages = error;
SET strata.batch_rows = 100;
SET strata.index_pages = 0;
SELECT c.opcname, array_agg(p.pronargs ORDER BY p.pronargs) FROM pg_opclass AS c JOIN pg_am AS a ON a.oid = c.opcmethod JOIN pg_amproc AS f ON f.amprocfamily = c.opcfamily AND f.amproclefttype = c.opcintype AND f.amprocrighttype = c.opcintype AND f.amprocnum = 3
	JOIN pg_proc AS p ON p.oid = f.amproc WHERE a.amname = 'brin' AND c.opcname IN ('int4_minmax_ops', 'int4_minmax_multi_ops', 'int4_bloom_ops', 'range_inclusion_ops', 'box_inclusion_ops', 'inet_inclusion_ops') GROUP BY 1 ORDER BY 1;
CREATE TABLE p (ts int NOT NULL, m int, mm int, bl int, r int4range, bx box, a inet, nothing int) USING strata WITH (strata.orderby = 'ts');
CREATE INDEX p_m ON p USING brin (m, mm int4_minmax_multi_ops, bl int4_bloom_ops, r, bx, a inet_inclusion_ops, nothing);
-- ten batches; the third has nothing but nulls, the fourth some; the fifth has a range that cannot be united with others' (empty), and an address of the other family
INSERT INTO p SELECT i, CASE WHEN i / 100 = 2 THEN NULL ELSE i END, CASE WHEN i / 100 = 2 OR i % 400 = 301 THEN NULL WHEN i % 2 = 0 THEN i ELSE i + 100000 END, i * 7, CASE i WHEN 450 THEN 'empty' ELSE int4range(i, i + 1) END, box(point(i, 0), point(i + 1, 1)),
	CASE i WHEN 450 THEN '::1' ELSE ('10.0.' || i / 100 || '.' || i % 100)::inet END, NULL FROM generate_series(0, 999) AS i;
SELECT compress_chunk('p');
ANALYZE p;
SET seq_page_cost = 0; SET random_page_cost = 0;
CREATE FUNCTION read(condition text) RETURNS TABLE (batches text, nrows bigint) LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT * FROM p WHERE ' || condition LOOP
		batches := coalesce(substring(line FROM 'pruned by index=\d+'), batches);
	END LOOP;
	EXECUTE 'SELECT count(*) FROM p WHERE ' || condition INTO nrows;
	RETURN NEXT;
END $$;
SELECT c, nrows, coalesce(batches, '') = expected OR current_setting('strata.enable_batch_index') = 'off' AS as_expected FROM (VALUES ('m = 150', 9), ('mm BETWEEN 10 AND 99', 9), ('mm > 100900 AND mm < 100950', 8), ('bl = 7', 9), ('bl = 8', 10), ('r @> 777', 9), ('r && int4range(95, 105)', 8), ('bx && box(point(300.5, 0), point(300.6, 1))', 9), ('a = ''::1''', 9), ('nothing = 1', 10), ('m = 150 AND r @> 777', 10)) AS c(c, n),
	LATERAL (SELECT 'pruned by index=' || n) AS e(expected), read(c) ORDER BY c;
-- asked or not
SELECT c, nrows FROM unnest(ARRAY['mm BETWEEN 2000 AND 90000', 'r = ''empty''', 'a << ''10.0.3.0/24''']) AS c, read(c);
SELECT * FROM strata.verify('p');
DROP TABLE p;
DROP FUNCTION read;
