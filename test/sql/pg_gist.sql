-- What src/pg/pg_gist.c believes: support functions of GiST make a key of inner pages that all values are in, say of it what may be below and how near that is, and need no page for it; uniting a key with one that is in it changes nothing.
SET client_min_messages = error;
SET strata.batch_rows = 100;
SET strata.index_pages = 0;
-- a class that has distances has a function for them, an ordering operator, and for float8 or float4 the operator's values are the function's
SELECT c.opcname, o.amopopr::regoperator FROM pg_opclass AS c JOIN pg_am AS a ON a.oid = c.opcmethod JOIN pg_amop AS o ON o.amopfamily = c.opcfamily AND o.amoplefttype = c.opcintype AND o.amoppurpose = 'o'
	WHERE a.amname = 'gist' AND c.oid < 16384 ORDER BY 1, 2::text;
SELECT c.opcname FROM pg_opclass AS c JOIN pg_am AS a ON a.oid = c.opcmethod JOIN pg_amproc AS f ON f.amprocfamily = c.opcfamily AND f.amproclefttype = c.opcintype AND f.amprocrighttype = c.opcintype AND f.amprocnum = 8 WHERE a.amname = 'gist' AND c.oid < 16384 ORDER BY 1;
CREATE TABLE p (ts int NOT NULL, pt point, r int4range, words tsvector, nothing point) USING strata WITH (strata.orderby = 'ts');
CREATE INDEX p_m ON p USING gist (pt, r, words, nothing);
-- ten batches; the third has nothing but nulls, the fourth some, the fifth an empty range
INSERT INTO p SELECT i, CASE WHEN i / 100 = 2 OR i % 400 = 301 THEN NULL ELSE point(i, i % 7) END, CASE WHEN i / 100 = 2 THEN NULL WHEN i = 450 THEN 'empty' ELSE int4range(i, i + 1) END, CASE WHEN i / 100 <> 2 THEN to_tsvector('simple', 'w' || i / 100) END, NULL FROM generate_series(0, 999) AS i;
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
SELECT c, nrows, coalesce(batches, '') = expected OR current_setting('strata.enable_batch_index') = 'off' AS as_expected FROM (VALUES ('pt <@ box(point(150, 0), point(151, 9))', 9), ('pt << point(105, 0)', 8), ('r @> 777', 9), ('r = ''empty''', 9), ('r && int4range(95, 105)', 8), ('words @@ ''w5''', 9), ('nothing ~= point(1, 1)', 10), ('pt <@ box(point(150, 0), point(151, 9)) AND r @> 777', 10)) AS c(c, n),
	LATERAL (SELECT 'pruned by index=' || n) AS e(expected), read(c) ORDER BY c;
SELECT pt, pt <-> point(512, 3) AS d FROM p ORDER BY pt <-> point(512, 3) LIMIT 3;
SELECT count(*) FROM (SELECT pt FROM p ORDER BY pt <-> point(512, 3) LIMIT 1000) AS x WHERE pt IS NULL;
SELECT nothing <-> point(1, 1) FROM p ORDER BY 1 LIMIT 1;
SELECT * FROM strata.verify('p');
-- not all of it is so: a summary that lacks a row is found
SET ROLE postgres;
SELECT c.oid::regclass AS runs FROM pg_class AS c WHERE relname LIKE 'batch\_index\_%' AND relkind = 'r' ORDER BY c.oid DESC LIMIT 1 \gset
SET allow_system_table_mods = on;
UPDATE :runs SET hashes = set_byte(hashes, length(hashes) - 9, 255 - get_byte(hashes, length(hashes) - 9)) WHERE run >= 0;
RESET ROLE;
\set VERBOSITY sqlstate
SELECT count(*) FROM strata.verify('p');
DROP TABLE p;
DROP FUNCTION read;
