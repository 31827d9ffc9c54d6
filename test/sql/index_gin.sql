-- GIN indexes of a table lead to batches by their keys: answers are heap's, with the batch index and without, whatever became of the table.
SET timezone = 'UTC';
SET client_min_messages = error;
SET strata.batch_rows = 100;
-- small companions have none
SET strata.index_pages = 0;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE TABLE t (ts timestamptz NOT NULL, dev int, body tsvector, tags text[], nums int[], fl float8[], ns numeric[], moods mood[], doc jsonb, dp jsonb, txt text, v varchar(40))
	PARTITION BY RANGE (ts) WITH (strata.chunk_interval = '12 hours', strata.segmentby = 'dev', strata.orderby = 'ts');
CREATE TABLE h (LIKE t);
CREATE FUNCTION made(a int, b int, late interval = '0') RETURNS SETOF h LANGUAGE sql AS $$
	SELECT '2026-01-01'::timestamptz + i * interval '30 s' - late, i % 3,
		CASE i % 301 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE to_tsvector('simple', format('common word%s err%s fox%s', i, i / 90, CASE WHEN i % 700 = 5 THEN ' rare fox jumps' ELSE '' END)) END,
		CASE i % 211 WHEN 0 THEN NULL WHEN 1 THEN '{}' WHEN 2 THEN '{NULL}' WHEN 3 THEN ARRAY[NULL, 'r' || i / 70] WHEN 4 THEN ARRAY['Red'] ELSE ARRAY['all', 'g' || i / 130, 'u' || i] END,
		CASE i % 401 WHEN 0 THEN NULL WHEN 1 THEN '{}' WHEN 2 THEN '[2:3]={7,8}' WHEN 3 THEN ARRAY[[i, i + 1], [i + 2, NULL]] ELSE ARRAY[i, i * 7 % 1000, -i / 50] END,
		CASE i % 503 WHEN 0 THEN ARRAY['NaN'] WHEN 1 THEN ARRAY['-0'] WHEN 2 THEN ARRAY['0'] WHEN 3 THEN ARRAY['infinity', '-infinity'] WHEN 4 THEN NULL ELSE ARRAY[(i / 8.0)::text] END::float8[],
		CASE i % 601 WHEN 0 THEN ARRAY['NaN'] WHEN 1 THEN ARRAY['1.50'] WHEN 2 THEN ARRAY['1.5'] ELSE ARRAY[(i / 4.0)::text] END::numeric[],
		CASE WHEN i / 500 % 3 = 1 THEN ARRAY['happy'] WHEN i % 50 = 0 THEN ARRAY['ok', NULL] ELSE ARRAY['sad'] END::mood[],
		d, d, CASE i % 333 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN '%_\' ELSE format('GET /Path/%s HTTP %s Straße', md5((i / 5)::text), i % 7) END, CASE i % 5 WHEN 0 THEN NULL ELSE md5((i / 100)::text) END
	FROM generate_series(a, b) AS i, LATERAL (SELECT CASE i % 250 WHEN 0 THEN NULL WHEN 1 THEN '{}' WHEN 2 THEN '[]' WHEN 3 THEN 'null' WHEN 4 THEN '"word"' WHEN 5 THEN '[1, "g5", null, true]' WHEN 6 THEN '{"a": null, "b": {}}'
		ELSE jsonb_build_object('id', i, 'g', 'g' || i / 110, 'n', jsonb_build_object('x', i / 60, 'list', jsonb_build_array(i, 'k' || i / 40))) || CASE WHEN i % 900 = 17 THEN '{"only": true, "1": 1.50}' ELSE '{}' END::jsonb END AS d) AS j $$;
CREATE INDEX t_body ON t USING gin (body);
CREATE INDEX t_tags ON t USING gin (tags);
CREATE INDEX t_several ON t USING gin (nums, fl, tags) WITH (fastupdate = off);
CREATE INDEX t_ns ON t USING gin (ns);
CREATE INDEX t_moods ON t USING gin (moods);
CREATE INDEX t_doc ON t USING gin (doc);
CREATE INDEX t_dp ON t USING gin (dp jsonb_path_ops);
-- of some rows, and of an expression
CREATE INDEX t_part ON t USING gin (tags) WHERE dev = 1;
CREATE INDEX t_expr ON t USING gin (to_tsvector('simple', txt));
-- contrib may be missing: answers are the same
DO $$ BEGIN
	IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_trgm') THEN
		CREATE EXTENSION pg_trgm;
		CREATE INDEX t_txt ON t USING gin (txt gin_trgm_ops, v gin_trgm_ops);
	END IF;
END $$;
INSERT INTO t SELECT * FROM made(1, 4000);
INSERT INTO h SELECT * FROM made(1, 4000);
SELECT count(compress_chunk(c)) FROM show_chunks('t') AS c;
ANALYZE t;
-- one row in twenty comes late
INSERT INTO t SELECT * FROM made(4001, 4200, '20 h');
INSERT INTO h SELECT * FROM made(4001, 4200, '20 h');
CREATE TABLE condition (c text);
INSERT INTO condition VALUES ('body @@ ''word77'''), ('body @@ ''err7 & common'''), ('body @@ ''rare & fox'''), ('body @@ ''rare <-> fox'''), ('body @@ ''err7 | word4100'''), ('body @@ ''!common'''), ('body @@ ''common & !err7'''), ('body @@ ''err1:*'''), ('body @@ ''word77 & err:*'''), ('body @@ ''word77:A'''), ('body @@ '''''), ('body @@ ''none'''), ('body @@ NULL'), ('''word77''::tsquery @@ body'), ('body @@@ ''word77'''), ('body = ''''::tsvector'), ('body @@ ANY (ARRAY[''word77'', ''word78'', NULL]::tsquery[])'), ('NOT body @@ ''common'''),
	('tags @> ''{u77}'''), ('tags @> ''{u77,all}'''), ('tags @> ''{u77,u78}'''), ('tags && ''{u77,u4100,none}'''), ('tags <@ ''{r3,Red}'''), ('tags <@ ''{}'''), ('tags = ''{}'''), ('tags = ''{Red}'''), ('tags = ''{all,g1,u150}'''), ('tags @> ''{}'''), ('tags && ''{}'''), ('tags @> ''{NULL}'''), ('tags && ''{NULL}'''), ('tags <@ ''{NULL}'''), ('tags = ''{NULL}'''), ('tags <@ ''{all,u77,g0}'''), ('''{u77}'' <@ tags'), ('tags @> ''{red}'''), ('tags IS NULL'), ('''u77'' = ANY (tags)'), ('tags @> ''{u77}'' OR tags @> ''{u4100}'''), ('NOT tags && ''{all}'''), ('tags = ''{NULL,r1}'''),
	('nums @> ''{77}'''), ('nums && ''{7,-3}'''), ('nums <@ ''{7,8}'''), ('nums = ''[2:3]={7,8}'''), ('nums @> ''{77}'' AND fl @> ''{9.625}'''), ('nums @> ''{77}'' AND tags && ''{u78}'''), ('nums && ''{-3}'' AND tags && ''{u160,u170}'''), ('fl @> ''{0}'''), ('fl @> ''{-0}'''), ('fl && ''{NaN}'''), ('fl @> ''{infinity,-infinity}'''), ('fl <@ ''{10,NaN}'''), ('ns @> ''{1.500}'''), ('ns && ''{NaN}'''), ('ns @> ''{100}'''), ('moods @> ''{happy}'''), ('moods @> ''{ok}'''), ('moods && ''{ok,NULL}'''),
	('X @> ''{"id": 77}'''), ('X @> ''{"g": "g5", "id": 560}'''), ('X @> ''{"n": {"x": 7}}'''), ('X @> ''{"n": {"list": ["k7"]}}'''), ('X @> ''{}'''), ('X @> ''[]'''), ('X @> ''null'''), ('X @> ''"word"'''), ('X @> ''[null]'''), ('X @> ''"g5"'''), ('X @> ''{"a": null}'''), ('X @> ''{"b": {}}'''), ('X @> ''{"1": 1.5}'''), ('X @> NULL'), ('X ? ''only'''), ('X ? ''word'''), ('X ? ''g5'''), ('X ?| ARRAY[''only'', ''a'', NULL]'), ('X ?& ARRAY[''only'', ''1'']'), ('X ?| ''{}'''), ('X ?& ''{}'''), ('X @? ''$.n.list[*] ? (@ == "k7")'''), ('X @? ''$.only'''), ('X @@ ''$.id == 77'''), ('X @@ ''$.id > 4100'''), ('X @@ ''$.n.x == 7 && $.g == "g4"'''), ('X @@ ''$.id == 77 || $.id == 78'''), ('X @@ ''!($.id == 77)'''), ('X @? ''$ ? (@.g == "g5")'''), ('X = ''{}'''), ('X @> ''{"id": 77}'' AND tags @> ''{u77}'''), ('X @> ''{"id": 4100}'''),
	('txt LIKE ''%'' || md5(''7'') || ''%'''), ('txt LIKE ''%/Path/%'''), ('txt ILIKE ''%/path/' || substr(md5('7'), 1, 9) || '%'''), ('txt ~ ''' || substr(md5('7'), 3, 6) || '.*HTTP [12]'''), ('txt ~* ''PATH/' || substr(md5('7'), 1, 6) || ''''), ('txt LIKE ''%a%'''), ('txt LIKE '''''), ('txt = '''''), ('txt LIKE ''%\%\_%'''), ('txt NOT LIKE ''%GET%'''), ('txt LIKE ANY (ARRAY[''%' || md5('8') || '%'', ''%' || md5('9') || '%''])'), ('v LIKE ''%' || substr(md5('30'), 5, 10) || '%'''), ('v = ''' || md5('30') || ''''), ('txt LIKE ''%HTTP 3%'' AND v LIKE ''%' || substr(md5('30'), 5, 10) || '%'''), ('txt ILIKE ''%STRASSE%'''), ('v ~ ''^' || substr(md5('30'), 1, 8) || '''');
INSERT INTO condition SELECT replace(c, 'X', x) FROM condition, unnest(ARRAY['doc', 'dp']) AS x WHERE c LIKE '%X%';
DELETE FROM condition WHERE c LIKE '%X%';
CREATE FUNCTION differing(what text) RETURNS TABLE (state text, differing bigint, problems bigint) LANGUAGE plpgsql AS $$
DECLARE
	q text;
	wrong bigint := 0;
	n bigint;
BEGIN
	FOR q IN SELECT c FROM condition LOOP
		FOREACH n IN ARRAY CASE what WHEN 'late rows' THEN ARRAY[0, 1, 2] ELSE ARRAY[2] END LOOP
			PERFORM set_config('strata.enable_batch_index', CASE WHEN n = 1 THEN 'off' ELSE 'on' END, true);
			-- by the index also where that would not pay
			PERFORM set_config('seq_page_cost', CASE WHEN n = 2 THEN '0' ELSE '1' END, true);
			PERFORM set_config('random_page_cost', CASE WHEN n = 2 THEN '0' ELSE '4' END, true);
			EXECUTE format('WITH s AS MATERIALIZED (SELECT h::text FROM t AS h WHERE %1$s), g AS MATERIALIZED (SELECT h::text FROM h WHERE %1$s) SELECT count(*) FROM ((TABLE s EXCEPT ALL TABLE g) UNION ALL (TABLE g EXCEPT ALL TABLE s)) AS d', q) INTO n;
			wrong := wrong + n;
			IF n > 0 THEN RAISE WARNING '% rows differ: %', n, q; END IF;
		END LOOP;
	END LOOP;
	RETURN QUERY SELECT what, wrong, (SELECT count(*) FROM strata.verify('t'));
END $$;
SELECT * FROM differing('late rows');
-- which lead to few batches
CREATE FUNCTION passed(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	result text := '';
	n int := 0;
BEGIN
	PERFORM set_config('seq_page_cost', '0', true), set_config('random_page_cost', '0', true);
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT * FROM t WHERE ' || condition LOOP
		n := n + coalesce(substring(line FROM 'pruned by index=(\d+)')::int, 0);
	END LOOP;
	RETURN CASE WHEN current_setting('strata.enable_batch_index') = 'off' OR n > 30 THEN 'most' WHEN n > 0 THEN 'some' ELSE 'none' END;
END $$;
SELECT c, passed(c) FROM unnest(ARRAY['body @@ ''word77''', 'body @@ ''word77 & err:*''', 'tags @> ''{u77}''', 'tags && ''{u77,u78}''', 'tags = ''{all,g1,u150}''', 'nums @> ''{77}'' AND fl @> ''{9.625}''', 'doc @> ''{"id": 77}''', 'doc ? ''only''', 'doc @@ ''$.id == 77''', 'dp @> ''{"n": {"x": 7}}''', 'dp @? ''$.n.list[*] ? (@ == "k7")''']) AS c WHERE passed(c) <> 'most';
SELECT 'txt LIKE' WHERE EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') AND (passed('txt LIKE ''%' || md5('7') || '%''') <> 'most' OR passed('v ~ ''^' || substr(md5('30'), 1, 8) || '''') <> 'most');
-- joins, prepared statements, cursors, order
SET enable_hashjoin = off; SET enable_mergejoin = off; SET seq_page_cost = 0; SET random_page_cost = 0;
SELECT count(*), sum(t.dev) FROM generate_series(1, 4200, 300) AS k JOIN t ON t.nums @> ARRAY[k];
SELECT g, x.ts FROM generate_series(77, 4200, 1000) AS g LEFT JOIN LATERAL (SELECT ts FROM t WHERE t.doc @> jsonb_build_object('id', g) ORDER BY ts DESC LIMIT 1) AS x ON true ORDER BY 1;
SELECT g FROM generate_series(5, 4200, 170) AS g, LATERAL (SELECT count(*) AS n, min(ts) AS s FROM t WHERE t.body @@ ('word' || g || ' | err' || g)::tsquery OFFSET 0) AS a,
	LATERAL (SELECT count(*) AS n, min(ts) AS s FROM h WHERE h.body @@ ('word' || g || ' | err' || g)::tsquery OFFSET 0) AS b WHERE a <> b;
RESET enable_hashjoin; RESET enable_mergejoin;
SET plan_cache_mode = force_generic_plan;
PREPARE by_tags (text[]) AS SELECT count(*), min(ts) FROM t WHERE tags && $1;
EXECUTE by_tags('{u77,u4100}');
EXECUTE by_tags('{}');
EXECUTE by_tags('{NULL}');
EXECUTE by_tags(NULL);
PREPARE by_doc (jsonb) AS SELECT count(*), min(ts) FROM t WHERE doc @> $1;
EXECUTE by_doc('{"id": 78}');
EXECUTE by_doc('{}');
PREPARE by_text (text) AS SELECT count(*), min(ts) FROM t WHERE txt LIKE $1;
EXECUTE by_text('%' || md5('7') || '%');
EXECUTE by_text('%');
RESET plan_cache_mode;
BEGIN;
SET LOCAL strata.enable_parallel_scan = off;
DECLARE c SCROLL CURSOR FOR SELECT ts FROM t WHERE tags && '{u77,u78,u79}';
FETCH FORWARD 2 FROM c;
FETCH BACKWARD ALL c;
FETCH 1 c;
COMMIT;
-- more keys than are looked up
SELECT count(*), min(ts) FROM t WHERE nums && ARRAY(SELECT x FROM generate_series(5000, 7000) AS x) OR tags && '{u77}';
RESET seq_page_cost; RESET random_page_cost;
SELECT count(compress_chunk(c, recompress => true)) FROM show_chunks('t') AS c;
SELECT * FROM differing('recompressed');
-- rows in batches change
UPDATE t SET body = 'word77', tags = '{u77,new}', doc = '{"id": 77}', dp = '{"id": 77}', nums = '{77}', txt = md5('7') WHERE extract(epoch FROM ts)::int % 97 = 0;
UPDATE h SET body = 'word77', tags = '{u77,new}', doc = '{"id": 77}', dp = '{"id": 77}', nums = '{77}', txt = md5('7') WHERE extract(epoch FROM ts)::int % 97 = 0;
DELETE FROM t WHERE tags @> '{g7}' OR doc @> '{"g": "g9"}' OR body @@ 'err11';
DELETE FROM h WHERE tags @> '{g7}' OR doc @> '{"g": "g9"}' OR body @@ 'err11';
SELECT * FROM differing('changed');
DELETE FROM t WHERE ts < '2026-01-01 06:00';
DELETE FROM h WHERE ts < '2026-01-01 06:00';
SELECT * FROM differing('swept');
VACUUM t;
INSERT INTO t SELECT * FROM made(4201, 4700);
INSERT INTO h SELECT * FROM made(4201, 4700);
SELECT count(compress_chunk(c)) FROM show_chunks('t') AS c;
SELECT * FROM differing('compressed again');
SELECT count(decompress_chunk(c)) FROM show_chunks('t') AS c;
VACUUM t;
SELECT count(compress_chunk(c)) FROM show_chunks('t') AS c;
BEGIN;
SAVEPOINT a;
DELETE FROM t;
SELECT count(compress_chunk(c, recompress => true)) FROM show_chunks('t') AS c;
ROLLBACK TO a;
COMMIT;
SELECT * FROM differing('a savepoint rolled back');
-- indexes come and go
DROP INDEX t_tags, t_doc;
SELECT * FROM differing('indexes dropped');
CREATE INDEX t_tags ON t USING gin (tags);
CREATE INDEX t_doc ON t USING gin (doc jsonb_path_ops, body);
SELECT * FROM differing('indexes made on compressed chunks');
REINDEX INDEX t_tags;
REINDEX TABLE t;
SELECT * FROM differing('reindexed');
VACUUM FULL t;
SELECT * FROM differing('rewritten');
-- columns
ALTER TABLE t ADD later text[] DEFAULT '{a,b}';
ALTER TABLE h ADD later text[] DEFAULT '{a,b}';
CREATE INDEX t_later ON t USING gin (later);
INSERT INTO condition VALUES ('later @> ''{a}'''), ('later && ''{c}''');
SELECT * FROM differing('a column added');
ALTER TABLE t ALTER nums TYPE bigint[];
ALTER TABLE h ALTER nums TYPE bigint[];
ALTER TABLE t ALTER fl TYPE numeric[];
ALTER TABLE h ALTER fl TYPE numeric[];
DELETE FROM condition WHERE c LIKE '%fl %' AND c LIKE '%infinity%';
SELECT * FROM differing('types changed');
-- a table that does without
ALTER TABLE t SET (strata.batch_index = off);
SELECT count(compress_chunk(c, recompress => true)) FROM show_chunks('t') AS c;
SELECT * FROM differing('switched off for the table');
ALTER TABLE t RESET (strata.batch_index);
SELECT * FROM differing('and on again');
DROP TABLE t;
-- direct loads are found before anything speaks for them; runs are merged
CREATE TABLE d (ts timestamptz NOT NULL, tags text[], x text) USING strata WITH (strata.orderby = 'ts', strata.direct_load = on);
CREATE INDEX CONCURRENTLY ON d USING gin (tags);
CREATE INDEX ON d (x);
DO $$ BEGIN FOR k IN 0..9 LOOP
	INSERT INTO d SELECT '2026-01-01'::timestamptz + g * interval '1 s', ARRAY['u' || g, 'all'], md5(g::text) FROM generate_series(k * 1000 + 1, k * 1000 + 1000) AS g;
	IF k % 2 = 0 THEN PERFORM compress_chunk('d'); END IF;
	DELETE FROM d WHERE ts < '2026-01-01'::timestamptz + k * 300 * interval '1 s';
END LOOP; END $$;
SELECT count(*) FROM d WHERE tags @> '{u9500}';
SELECT count(*) FROM d WHERE x = md5('9500') AND tags @> '{u9500}';
SELECT count(*) FROM d WHERE tags @> '{u2000}';
SELECT compress_chunk('d');
SELECT count(*) FROM d WHERE tags @> '{u9500}';
SELECT count(*) FROM strata.verify('d');
DROP INDEX d_tags_idx;
CREATE INDEX CONCURRENTLY ON d USING gin (tags);
REINDEX INDEX CONCURRENTLY d_tags_idx;
SELECT count(*) FROM d WHERE tags @> '{u9500}';
SELECT count(*) FROM strata.verify('d');
BEGIN;
TRUNCATE d;
INSERT INTO d VALUES ('2026-01-01', '{u9500}', 'x');
SELECT compress_chunk('d');
SELECT count(*) FROM d WHERE tags @> '{u9500}';
ROLLBACK;
SELECT count(*) FROM d WHERE tags @> '{u9500}';
DROP TABLE d;
-- batches of more keys than are kept are read
SET strata.batch_rows = 1000;
CREATE TABLE m (ts int NOT NULL, k int[]) USING strata WITH (strata.orderby = 'ts');
CREATE INDEX ON m USING gin (k);
INSERT INTO m SELECT i, CASE WHEN i <= 1000 THEN ARRAY(SELECT i * 60 + j FROM generate_series(1, 60) AS j) ELSE ARRAY[-i] END FROM generate_series(1, 3000) AS i;
SELECT compress_chunk('m');
ANALYZE m;
SET seq_page_cost = 0; SET random_page_cost = 0;
SELECT ts FROM m WHERE k @> '{30030}';
SELECT ts FROM m WHERE k @> '{-2500}';
SELECT ts FROM m WHERE k @> '{-1500,30030}';
SELECT count(*) FROM m WHERE k @> '{1}';
SELECT count(*) FROM strata.verify('m');
-- a key that is missing is found out
SET ROLE postgres;
DO $$ DECLARE
	name regclass := (SELECT c.oid FROM pg_class AS c WHERE relname LIKE 'batch\_index\_%' AND relkind = 'r' ORDER BY c.oid DESC LIMIT 1);
BEGIN
	EXECUTE format('DELETE FROM %s WHERE run >= 0', name);
END $$;
RESET ROLE;
SELECT DISTINCT column_name, problem FROM strata.verify('m');
REINDEX TABLE m;
SELECT count(*) FROM strata.verify('m');
-- advice says which indexes lead to batches
ALTER TABLE m ADD a text, ADD b int, ADD net inet, ADD js json;
CREATE INDEX ON m (ts);
CREATE INDEX ON m (a, b);
CREATE INDEX ON m USING brin (net inet_inclusion_ops, ts);
CREATE INDEX m_expr ON m ((b + 1));
CREATE INDEX m_part ON m (b) WHERE b > 0;
CREATE INDEX m_sp ON m USING spgist (net);
SELECT DISTINCT substring(reason FROM '; indexes lead.*') FROM advise_compression('m');
ALTER TABLE m SET (strata.batch_index = off);
SELECT DISTINCT substring(reason FROM '; index.*') FROM advise_compression('m');
DROP TABLE m;
-- collations whose equal texts are not the same bytes are not served
CREATE COLLATION either_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE ci (ts int NOT NULL, k text[] COLLATE either_case) USING strata WITH (strata.orderby = 'ts');
CREATE INDEX ON ci USING gin (k);
INSERT INTO ci SELECT i, ARRAY['K' || i] FROM generate_series(1, 3000) AS i;
SELECT compress_chunk('ci');
SELECT ts FROM ci WHERE k @> '{k77}';
SELECT count(*) FROM strata.verify('ci');
DROP TABLE ci;
DROP COLLATION either_case;
DROP FUNCTION differing(text), passed, made;
DROP TABLE h, condition;
DROP TYPE mood;
DROP EXTENSION IF EXISTS pg_trgm;
SELECT count(*) FROM pg_class WHERE relname LIKE 'batch\_index\_%';
