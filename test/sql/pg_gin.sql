-- What src/pg/pg_gin.c believes: ginlogic.c asks a class with what extractQuery gave, keys that may be there are MAYBE, classes with only a consistent function are asked with each way they may be, those that ask for all rows or for rows without keys say so.
SET client_min_messages = error;
SET strata.batch_rows = 100;
SET strata.index_pages = 0;
SELECT c.opcname, array_agg(f.amprocnum::int ORDER BY f.amprocnum) FROM pg_opclass AS c JOIN pg_am AS a ON a.oid = c.opcmethod JOIN pg_amproc AS f ON f.amprocfamily = c.opcfamily AND f.amproclefttype = c.opcintype AND f.amprocrighttype = c.opcintype WHERE a.amname = 'gin' AND f.amprocnum <= 6 GROUP BY 1 ORDER BY 1;
-- a class that has only a consistent function
SET ROLE postgres;
CREATE OPERATOR CLASS plain_array FOR TYPE anyarray USING gin AS OPERATOR 1 && (anyarray, anyarray), OPERATOR 2 @> (anyarray, anyarray), OPERATOR 3 <@ (anyarray, anyarray), OPERATOR 4 = (anyarray, anyarray),
	FUNCTION 2 ginarrayextract (anyarray, internal, internal), FUNCTION 3 ginqueryarrayextract (anyarray, internal, int2, internal, internal, internal, internal), FUNCTION 4 ginarrayconsistent (internal, int2, anyarray, int4, internal, internal, internal, internal), STORAGE anyelement;
RESET ROLE;
CREATE TABLE p (ts int NOT NULL, a int[], b int[], q tsvector, j jsonb) USING strata WITH (strata.orderby = 'ts');
CREATE INDEX p_g ON p USING gin (a, b plain_array, q, j);
-- ten batches; the third has nothing but nulls, the fourth an empty array, the fifth a null element
INSERT INTO p SELECT i, a, a, ('w' || i / 100)::tsvector, jsonb_build_object('k' || i / 100, i) FROM generate_series(0, 999) AS i, LATERAL (SELECT CASE WHEN i / 100 = 2 THEN NULL WHEN i = 350 THEN '{}' WHEN i = 450 THEN '{NULL,7}' ELSE ARRAY[i / 100, i % 2, 5000 + i] END::int[] AS a) AS x;
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
SELECT c, nrows, coalesce(batches, '') = expected OR current_setting('strata.enable_batch_index') = 'off' AS as_expected FROM (VALUES ('X @> ''{5150}''', 9), ('X @> ''{5150,5250}''', 10), ('X && ''{5150,5850}''', 8), ('X <@ ''{9,5901}''', 8), ('X <@ ''{}''', 9), ('X @> ''{7}''', 8), ('X = ''{1,0,5150}''', 9), ('X && ''{NULL}''', 10), ('X @> ''{5150,NULL}''', 10),
	('q @@ ''w1''', 9), ('q @@ ''w1 | w5''', 8), ('q @@ ''w1 & w5''', 10), ('q @@ ''w1 & !w5''', 9), ('j ? ''k3''', 9), ('j @> ''{"k3": 333}''', 9), ('j @@ ''$.k3 == 333''', 9), ('j @> ''{"k3": 333}'' AND a @> ''{5150}''', 10)) AS c(c1, n),
	LATERAL (SELECT replace(c1, 'X', x) FROM unnest(ARRAY['a', 'b']) AS x WHERE x = 'a' OR c1 LIKE 'X%') AS x(c), LATERAL (SELECT 'pruned by index=' || n) AS e(expected), read(c) ORDER BY c;
-- asked or not
SELECT c, nrows FROM unnest(ARRAY['a @> ''{}''', 'q @@ ''!w1''', 'q @@ ''w:*''', 'j @> ''{}''', 'a && ''{}''']) AS c, read(c);
SELECT * FROM strata.verify('p');
DROP TABLE p;
SET ROLE postgres;
DROP OPERATOR FAMILY plain_array USING gin;
RESET ROLE;
DROP FUNCTION read;
