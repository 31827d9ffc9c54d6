-- Indexes of a table lead to batches: answers are heap's, with the batch index and without, whatever became of the table.
SET timezone = 'UTC';
SET client_min_messages = error;
SET strata.batch_rows = 100;
-- small companions have none
SET strata.index_pages = 0;
CREATE TABLE t (ts timestamptz NOT NULL, dev int, trace uuid, num bigint, tag text, f float8, n numeric(12, 4), i int, v varchar(20), arr int[], ci text, r int8range, mr tstzmultirange)
	PARTITION BY RANGE (ts) WITH (strata.chunk_interval = '12 hours', strata.segmentby = 'dev', strata.orderby = 'ts');
CREATE TABLE h (LIKE t);
CREATE FUNCTION made(a int, b int, late interval = '0') RETURNS SETOF h LANGUAGE sql AS $$
	SELECT '2026-01-01'::timestamptz + i * interval '30 s' - late, i % 3, md5(i::text)::uuid, (i::bigint * 7919 * 104729) % 1000000007, CASE WHEN i % 11 = 0 THEN NULL ELSE 'tag' || i * 7919 % 2003 END,
		CASE i % 500 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN '0' WHEN 3 THEN 'infinity' WHEN 4 THEN '-infinity' ELSE i / 7.0 END, i * 31 % 997 / 4.0, i * 7919 % 2003, 'v' || i * 31 % 1009, ARRAY[i % 100, i % 7], 'Name' || i % 300, CASE i % 31 WHEN 0 THEN 'empty' WHEN 1 THEN NULL ELSE int8range(i / 7, i, CASE WHEN i % 2 = 0 THEN '[]' ELSE '[)' END) END, tstzmultirange(tstzrange('2026-01-01'::timestamptz, '2026-01-01'::timestamptz + i / 9 * interval '1 min'))
	FROM generate_series(a, b) AS i $$;
CREATE INDEX t_trace ON t (trace);
CREATE INDEX t_num ON t USING hash (num);
CREATE INDEX t_tag ON t (tag, ts DESC);
CREATE INDEX t_f ON t (f);
CREATE INDEX t_n ON t (n);
CREATE INDEX t_v ON t (v);
CREATE INDEX t_arr ON t (arr);
CREATE INDEX t_r ON t (r);
CREATE INDEX t_mr ON t USING hash (mr);
-- of some rows, and of an expression
CREATE INDEX t_part ON t (ci) WHERE i > 5;
CREATE INDEX t_expr ON t ((i + 1));
INSERT INTO t SELECT * FROM made(1, 4000);
INSERT INTO h SELECT * FROM made(1, 4000);
ANALYZE t;
SELECT count(compress_chunk(c)) FROM show_chunks('t') AS c;
-- one row in twenty comes late
INSERT INTO t SELECT * FROM made(4001, 4200, '20 h');
INSERT INTO h SELECT * FROM made(4001, 4200, '20 h');
-- conditions; rows that differ are counted, with the batch index and without
CREATE COLLATION nocase (PROVIDER = icu, LOCALE = 'und-u-ks-level2', DETERMINISTIC = false);
CREATE TABLE condition (c text);
INSERT INTO condition VALUES ('trace = md5(''77'')::uuid'), ('md5(''4100'')::uuid = trace'), ('trace = md5(''none'')::uuid'), ('trace = NULL'), ('trace IN (md5(''1'')::uuid, md5(''3999'')::uuid, md5(''4199'')::uuid, NULL)'), ('trace = ANY (NULL::uuid[])'), ('trace = ANY (''{}'')'),
	('trace <> ALL (ARRAY[md5(''1'')::uuid])'), ('NOT trace <> md5(''5'')::uuid'), ('trace = md5(''77'')::uuid OR num = 5'), ('trace = md5(''77'')::uuid AND dev = 2'), ('trace = md5(''77'')::uuid AND dev = 1 AND ts > ''2026-01-02'''), ('trace IS NOT DISTINCT FROM md5(''77'')::uuid'),
	('num = (777::bigint * 7919 * 104729) % 1000000007'), ('num = 5'), ('num = 404130419::int'), ('num = 404130419::numeric'), ('num IN (404130419, 5, 339024938)'), ('num = ANY (ARRAY(SELECT x.num FROM h AS x WHERE x.i = 7))'), ('num = 404130419 AND num = 5'), ('num = 404130419 AND tag = ''tag1'''),
	('tag = ''tag7'''), ('tag = ''tag7'' COLLATE "C"'), ('tag = ''tag7'' COLLATE nocase'), ('tag = ''TAG7'' COLLATE nocase'), ('tag IN (''tag7'', ''tag9'', ''none'')'), ('tag::varchar = ''tag7'''), ('tag::bpchar = ''tag7  '''), ('tag = ''tag7 '''), ('tag::name = ''tag7'''), ('tag IS NULL'), ('tag = '''''),
	('f = 0'), ('f = ''-0'''), ('f = ''NaN'''), ('f = ''infinity'''), ('f = ''-infinity'''), ('f = 5'), ('f = 5::float4'), ('f = (10 / 7.0)::float8'), ('f IN (''NaN'', 0, 7)'), ('n = 12.5'), ('n = 12.5000'), ('n = 12'), ('n = ''NaN'''), ('n IN (1, 2.25)'), ('v = ''v31'''), ('v::text = ''v31'''), ('v = ''v31  '''),
	('arr = ARRAY[5, 3]'), ('arr = ''{}'''), ('r = ''[11,77)'''), ('r = ''[11,78]'''), ('r = ''empty'''), ('r IN (''[11,77)'', ''(10,76]'', ''(,)'')'), ('mr = ''{[2026-01-01, 2026-01-01 00:08:00)}'''), ('mr = ''{}'''), ('ci = ''NAME3'''), ('ci = ''Name3'' AND i > 5'), ('i + 1 = 8'), ('i = 7'),
	('trace = md5(''77'')::uuid OR num = 404130419 OR f = 7'), ('trace = md5(''77'')::uuid AND num = (77::bigint * 7919 * 104729) % 1000000007'), ('(trace = md5(''77'')::uuid AND i = 77) OR (num = 5 AND v = ''v31'') OR tag IN (''tag7'', ''none'')'), ('trace = md5(''77'')::uuid OR i = 7'), ('NOT (trace <> md5(''77'')::uuid AND num <> 404130419)'),
	('(trace = NULL OR num = 404130419) AND tag IS NOT NULL'), ('(trace = md5(''4100'')::uuid OR f = ''NaN'') AND (num IN (404130419, 5) OR n = 12.5)'), ('trace IN (SELECT md5(g::text)::uuid FROM generate_series(1, 4200, 50) AS g) AND f < 100');
CREATE FUNCTION differing(what text) RETURNS TABLE (state text, differing bigint, problems bigint) LANGUAGE plpgsql AS $$
DECLARE
	q text;
	wrong bigint := 0;
	n bigint;
BEGIN
	FOR q IN SELECT c FROM condition LOOP
		FOREACH n IN ARRAY ARRAY[0, 1] LOOP
			PERFORM set_config('strata.enable_batch_index', CASE WHEN n = 0 THEN 'on' ELSE 'off' END, true);
			EXECUTE format('WITH s AS MATERIALIZED (SELECT * FROM t WHERE %1$s), g AS MATERIALIZED (SELECT * FROM h WHERE %1$s) SELECT count(*) FROM ((TABLE s EXCEPT ALL TABLE g) UNION ALL (TABLE g EXCEPT ALL TABLE s)) AS d', q) INTO n;
			wrong := wrong + n;
			IF n > 0 THEN RAISE WARNING '% rows differ: %', n, q; END IF;
		END LOOP;
	END LOOP;
	RETURN QUERY SELECT what, wrong, (SELECT count(*) FROM strata.verify('t'));
END $$;
SELECT * FROM differing('late rows');
-- joins, prepared statements, cursors, order
SET enable_hashjoin = off; SET enable_mergejoin = off;
SELECT count(*), sum(t.i) FROM generate_series(1, 4200, 300) AS g JOIN t ON trace = md5(g::text)::uuid;
SELECT g, x.i FROM generate_series(1, 4200, 1000) AS g LEFT JOIN LATERAL (SELECT i FROM t WHERE num = (g::bigint * 7919 * 104729) % 1000000007 ORDER BY ts DESC LIMIT 1) AS x ON true ORDER BY 1;
SELECT count(*) FROM t WHERE trace IN (SELECT md5(g::text)::uuid FROM generate_series(1, 4200, 300) AS g);
RESET enable_hashjoin; RESET enable_mergejoin;
SET plan_cache_mode = force_generic_plan;
PREPARE by_num (bigint[]) AS SELECT i, ts FROM t WHERE num = ANY ($1) ORDER BY ts;
EXECUTE by_num('{404130419,339024938,5,NULL}');
EXECUTE by_num('{}');
EXECUTE by_num(NULL);
PREPARE by_tag (text) AS SELECT count(*), min(ts), max(num) FROM t WHERE tag = $1;
EXECUTE by_tag('tag7');
EXECUTE by_tag(NULL);
RESET plan_cache_mode;
BEGIN;
SET LOCAL strata.enable_parallel_scan = off;
DECLARE c SCROLL CURSOR FOR SELECT i FROM t WHERE num IN (404130419, 5, 339024938);
FETCH ALL c;
FETCH BACKWARD ALL c;
FETCH 1 c;
FETCH BACKWARD 1 c;
FETCH NEXT c;
COMMIT;
SELECT count(compress_chunk(c, recompress => true)) FROM show_chunks('t') AS c;
SELECT * FROM differing('recompressed');
-- rows in batches change
UPDATE t SET num = num + 1 WHERE i % 97 = 0;
UPDATE h SET num = num + 1 WHERE i % 97 = 0;
DELETE FROM t WHERE i % 89 = 0 OR trace = md5('500')::uuid;
DELETE FROM h WHERE i % 89 = 0 OR trace = md5('500')::uuid;
SELECT * FROM differing('changed');
DELETE FROM t WHERE ts < '2026-01-01 06:00';
DELETE FROM h WHERE ts < '2026-01-01 06:00';
SELECT * FROM differing('swept');
VACUUM t;
INSERT INTO t SELECT * FROM made(4201, 4700);
INSERT INTO h SELECT * FROM made(4201, 4700);
SELECT count(compress_chunk(c)) FROM show_chunks('t') AS c;
SELECT * FROM differing('compressed again');
-- numbers of rows are not used again for other batches
SELECT count(decompress_chunk(c)) FROM show_chunks('t') AS c;
VACUUM t;
SELECT * FROM differing('decompressed');
SELECT count(compress_chunk(c)) FROM show_chunks('t') AS c;
SELECT * FROM differing('and compressed');
BEGIN;
SELECT count(compress_chunk(c, recompress => true)) FROM show_chunks('t') AS c;
ROLLBACK;
SELECT * FROM differing('rolled back');
BEGIN;
SAVEPOINT a;
DELETE FROM t;
SELECT count(compress_chunk(c, recompress => true)) FROM show_chunks('t') AS c;
ROLLBACK TO a;
COMMIT;
SELECT * FROM differing('a savepoint rolled back');
-- indexes come and go
DROP INDEX t_num;
SELECT * FROM differing('an index dropped');
SELECT count(compress_chunk(c, recompress => true)) FROM show_chunks('t') AS c;
CREATE INDEX t_num ON t (num);
CREATE INDEX t_i ON t (i);
SELECT * FROM differing('indexes made on compressed chunks');
REINDEX INDEX t_num;
REINDEX TABLE t;
SELECT * FROM differing('reindexed');
VACUUM FULL t;
SELECT * FROM differing('rewritten');
-- columns
ALTER TABLE t ADD later int DEFAULT 7;
ALTER TABLE h ADD later int DEFAULT 7;
CREATE INDEX t_later ON t (later);
INSERT INTO condition VALUES ('later = 7'), ('later = 8');
SELECT * FROM differing('a column added');
DROP INDEX t_part, t_expr;
ALTER TABLE t ALTER i TYPE oid USING i::oid;
ALTER TABLE h ALTER i TYPE oid USING i::oid;
ALTER TABLE t ALTER v TYPE text;
ALTER TABLE h ALTER v TYPE text;
DELETE FROM condition WHERE c IN ('ci = ''Name3'' AND i > 5', 'i + 1 = 8');
SELECT * FROM differing('types changed');
-- a table that does without
SELECT sum(pg_relation_size(oid)) > 0 AS some FROM pg_class WHERE relname LIKE 'batch\_index\_%' AND relkind = 'r';
ALTER TABLE t SET (strata.batch_index = off);
SELECT count(compress_chunk(c, recompress => true)) FROM show_chunks('t') AS c;
VACUUM t;
SELECT * FROM differing('switched off for the table');
ALTER TABLE t SET (strata.batch_index = maybe);
ALTER TABLE t RESET (strata.batch_index);
SELECT count(compress_chunk(c, recompress => true)) FROM show_chunks('t') AS c;
SELECT * FROM differing('and on again');
-- direct loads are found before anything speaks for them
CREATE TABLE d (ts timestamptz NOT NULL, trace text) USING strata WITH (strata.orderby = 'ts', strata.direct_load = on);
CREATE INDEX ON d (trace);
INSERT INTO d SELECT '2026-01-01'::timestamptz + g * interval '1 s', md5(g::text) FROM generate_series(1, 3000) AS g;
SELECT compress_chunk('d');
INSERT INTO d SELECT '2026-01-02'::timestamptz + g * interval '1 s', md5((-g)::text) FROM generate_series(1, 3000) AS g;
SELECT count(*) FROM d WHERE trace IN (md5('5'), md5('-5'), md5('-2999'), md5('3001'));
SELECT compress_chunk('d');
SELECT count(*) FROM d WHERE trace IN (md5('5'), md5('-5'), md5('-2999'), md5('3001'));
SELECT count(*) FROM strata.verify('d');
BEGIN;
TRUNCATE d;
INSERT INTO d VALUES ('2026-01-01', md5('5'));
SELECT compress_chunk('d');
SELECT count(*) FROM d WHERE trace = md5('5');
ROLLBACK;
SELECT count(*) FROM d WHERE trace = md5('5');
TRUNCATE d;
INSERT INTO d SELECT '2026-01-01'::timestamptz + g * interval '1 s', md5((g * 2)::text) FROM generate_series(1, 3000) AS g;
SELECT compress_chunk('d');
SELECT count(*) FROM d WHERE trace IN (md5('5'), md5('6'));
-- arrays of an extension's type are hashed by its function: nothing is kept
CREATE EXTENSION IF NOT EXISTS citext;
CREATE TABLE w (ts timestamptz NOT NULL, words citext[]) USING strata WITH (strata.orderby = 'ts');
CREATE INDEX ON w (words);
INSERT INTO w SELECT '2026-01-01'::timestamptz + g * interval '1 s', ARRAY['Word' || g]::citext[] FROM generate_series(1, 3000) AS g;
CREATE TEMP TABLE kept AS SELECT oid FROM pg_class WHERE relname LIKE 'batch\_index\_%';
SELECT compress_chunk('w');
SELECT count(*) FROM pg_class WHERE relname LIKE 'batch\_index\_%' AND oid NOT IN (TABLE kept);
SELECT count(*) FROM w WHERE words = ARRAY['wORD7']::citext[];
DROP TABLE w;
DROP EXTENSION citext;
-- indexes of an extension's kind cover rows that are not compressed
SET ROLE postgres;
CREATE EXTENSION IF NOT EXISTS bloom;
RESET ROLE;
SET client_min_messages = notice;
CREATE TABLE w (ts timestamptz NOT NULL, a int) USING strata WITH (strata.orderby = 'ts');
CREATE INDEX ON w USING bloom (a);
CREATE INDEX ON h USING bloom (later);
-- and so do those of types and collations of which no hashes are kept, unless segments or the order serve
CREATE TYPE floats AS RANGE (subtype = float8);
CREATE TABLE wt (ts timestamptz NOT NULL, r floats, p point, rs floats[], v text, s floats) USING strata WITH (strata.orderby = 'ts', strata.segmentby = 's');
CREATE INDEX wt_range ON wt (r, ts);
CREATE INDEX ON wt ((floats(lower(r), '7')));
CREATE INDEX wt_spgist ON wt USING spgist (p);
CREATE INDEX ON wt USING gin (rs);
CREATE INDEX ON wt (v COLLATE nocase);
CREATE INDEX ON wt (s);
CREATE INDEX ON wt (lower(r), s);
CREATE INDEX ON wt USING gist (r, s, p);
CREATE INDEX CONCURRENTLY wt_some ON wt USING hash (r) WHERE s IS NOT NULL;
CREATE INDEX IF NOT EXISTS wt_v ON wt (v);
ALTER TABLE wt SET (strata.batch_index = off);
CREATE INDEX ON wt (r);
DROP TABLE wt;
DROP TYPE floats;
CREATE TABLE pw (LIKE w) PARTITION BY RANGE (ts) WITH (strata.chunk_interval = '12 hours', strata.orderby = 'ts');
CREATE INDEX ON pw USING bloom (a);
CREATE INDEX ON pw (a);
INSERT INTO pw SELECT '2026-01-01'::timestamptz + g * interval '1 min', g % 50 FROM generate_series(1, 1000) AS g;
SELECT count(compress_chunk(c)) FROM show_chunks('pw') AS c;
SELECT count(*) FROM pw WHERE a = 7;
DROP TABLE w, pw;
SET client_min_messages = error;
SET ROLE postgres;
DROP EXTENSION bloom;
RESET ROLE;
-- what is dropped leaves nothing
DROP TABLE d, t;
SELECT count(*) FROM pg_class WHERE relname LIKE 'batch\_index\_%';
DROP FUNCTION differing, made;
DROP TABLE h, condition;
DROP COLLATION nocase;
