-- GiST indexes of a table lead to batches by their operator classes, and the nearest rows first: answers are heap's, with the batch index and without, whatever became of the table.
SET timezone = 'UTC';
SET client_min_messages = warning;
SET strata.batch_rows = 100;
-- small companions have none
SET strata.index_pages = 0;
CREATE EXTENSION IF NOT EXISTS btree_gist;
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE TABLE t (ts timestamptz NOT NULL, dev int, p point, b box, c circle, o polygon, r int4range, a inet, i int, l bigint, s smallint, f float8, g float4, d date, x timestamp, line text, words tsvector, id int)
	PARTITION BY RANGE (ts) WITH (strata.chunk_interval = '12 hours', strata.segmentby = 'dev', strata.orderby = 'ts');
CREATE TABLE h (LIKE t);
CREATE FUNCTION made(a int, b int, late interval = '0') RETURNS SETOF h LANGUAGE sql AS $$
	SELECT '2026-01-01'::timestamptz + i * interval '30 s' - late, i % 3,
		CASE i % 501 WHEN 0 THEN NULL WHEN 1 THEN point('-0', 1) WHEN 2 THEN point('infinity', i) WHEN 3 THEN point('-0', '-infinity') ELSE point(i / 3.0, i % 100) END,
		CASE i % 777 WHEN 0 THEN NULL WHEN 2 THEN box(point('-infinity', '-infinity'), point(i, i)) ELSE box(point(i, -i), point(i + 2, 2 - i)) END,
		CASE i % 600 WHEN 0 THEN NULL ELSE circle(point(i, -i), i % 7) END,
		CASE i % 700 WHEN 0 THEN NULL ELSE polygon(box(point(i, i), point(i + 1, i + 3))) END,
		CASE i % 333 WHEN 0 THEN 'empty' WHEN 1 THEN NULL WHEN 2 THEN int4range(NULL, i) WHEN 3 THEN int4range(i, NULL) ELSE int4range(i, i + 5) END,
		CASE i % 501 WHEN 0 THEN NULL WHEN 1 THEN '2001:db8::1' ELSE ('10.' || i / 300 % 256 || '.' || i % 256 || '.0/24')::inet END,
		CASE WHEN i % 97 = 0 THEN NULL ELSE i * 3 END, CASE WHEN i % 97 = 0 THEN -i ELSE i * 1000000007::bigint END, i % 30000, CASE i % 500 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN NULL WHEN 3 THEN 'infinity' ELSE i / 7.0 END, i / 8.0,
		CASE i % 800 WHEN 1 THEN NULL ELSE '2026-01-01'::date + i / 5 END, '2026-01-01'::timestamp + i * interval '7 min', 'line ' || md5((i / 50)::text), to_tsvector('simple', 'w' || i / 40 || ' all'), i
	FROM generate_series(a, b) AS i $$;
CREATE INDEX t_p ON t USING gist (p);
CREATE INDEX t_b ON t USING gist (b);
CREATE INDEX t_co ON t USING gist (c, o);
CREATE INDEX t_r ON t USING gist (r, dev);
CREATE INDEX t_a ON t USING gist (a inet_ops);
CREATE INDEX t_i ON t USING gist (i, l);
CREATE INDEX t_s ON t USING gist (s, g);
CREATE INDEX t_f ON t USING gist (f, s);
CREATE INDEX t_d ON t USING gist (d, x) INCLUDE (id);
CREATE INDEX t_line ON t USING gist (line gist_trgm_ops, words);
-- those are of no use for batches
CREATE INDEX t_part ON t USING gist (p) WHERE i > 5;
CREATE INDEX t_expr ON t USING gist ((center(b)));
INSERT INTO t SELECT * FROM made(1, 4000);
INSERT INTO h SELECT * FROM made(1, 4000);
SELECT count(compress_chunk(c)) FROM show_chunks('t') AS c;
ANALYZE t;
-- one row in twenty comes late
INSERT INTO t SELECT * FROM made(4001, 4200, '20 h');
INSERT INTO h SELECT * FROM made(4001, 4200, '20 h');
CREATE TABLE condition (c text);
INSERT INTO condition VALUES ('p <@ box(point(100, 0), point(110, 50))'), ('p << point(20, 0)'), ('p >> point(1390, 0)'), ('p <<| point(0, 1)'), ('p |>> point(0, 98)'), ('p ~= point(700 / 3.0, 0)'), ('p <@ polygon(box(point(5, 5), point(9, 90)))'), ('p <@ circle(point(500, 50), 20)'), ('box(point(100, 0), point(110, 50)) @> p'), ('p IS NULL'), ('p ~= NULL'),
	('b && box(point(700, -700), point(705, -690))'), ('b @> box(point(700, -700), point(700, -700))'), ('b <@ box(point(0, 0), point(50, -50))'), ('b << box(point(3, 0), point(4, 1))'), ('b |>> box(point(0, -20), point(1, -10))'), ('b && box(point(''-infinity'', 0), point(0, 0))'), ('b ~= box(point(700, -700), point(702, -698))'),
	('c && circle(point(100, -100), 5)'), ('c @> circle(point(100, -100), 1)'), ('c << circle(point(10, 0), 1)'), ('o && polygon(box(point(100, 100), point(103, 103)))'), ('o @> polygon(box(point(100, 100), point(100.5, 100.5)))'), ('o |>> polygon(box(point(0, 3900), point(1, 3901)))'),
	('r && int4range(777, 780)'), ('r @> 778'), ('778 <@ r'), ('r <@ int4range(100, 200)'), ('r @> ''empty''::int4range'), ('r = ''empty'''), ('r <@ ''empty''::int4range'), ('r << int4range(5, 6)'), ('r >> int4range(4150, 4151)'), ('r -|- int4range(10, 12)'), ('r = int4range(777, 782)'), ('r && int4range(777, 780) AND dev = 1'), ('r && NULL'), ('isempty(r)'),
	('a << ''10.5.0.0/16'''), ('a <<= ''10.5.7.0/24'''), ('a >> ''10.5.7.3'''), ('a && ''2001:db8::/32'''), ('a = ''2001:db8::1'''), ('a < ''10.1.0.0'''),
	('i = 600'), ('i IN (600, 1203, 5)'), ('i = ANY (NULL)'), ('i = ANY (''{}'')'), ('i <> 5 AND i < 30'), ('i BETWEEN 600 AND 650 AND l > 0'), ('i = 600::bigint'), ('l < 0'), ('l = 700 * 1000000007::bigint'), ('s = 7'), ('f = ''NaN'''), ('f > 590'), ('f = 0'), ('f >= ''infinity'''), ('f BETWEEN 100 AND 101 AND g > 99'), ('d = ''2026-02-01'''), ('d < ''2026-01-03'' AND x > ''2026-01-01 05:00'''), ('x = ''2026-01-02 00:00'''),
	('line LIKE ''%' || substr(md5('7'), 3, 9) || '%'''), ('line ILIKE ''%' || upper(substr(md5('7'), 3, 9)) || '%'''), ('line ~ ''' || substr(md5('9'), 3, 9) || ''''), ('words @@ ''w7 & all'''), ('words @@ ''w7 | w8'''), ('words @@ ''!all'''),
	('p <@ box(point(100, 0), point(110, 50)) AND r @> 320'), ('p <@ box(point(100, 0), point(110, 50)) OR l = 3'), ('NOT p << point(1390, 0)'), ('i > 5 AND p <@ box(point(1, 0), point(2, 50))'), ('center(b) <@ box(point(5, 5), point(9, -9))');
-- an order, and what of a row it is by
CREATE TABLE nearest (o text, k text DEFAULT 'true');
INSERT INTO nearest VALUES ('p <-> point(500, 50)', 'true'), ('point(1, 1) <-> p', 'true'), ('p <-> point(''infinity'', 0)', 'true'), ('p <-> point(''NaN'', 0)', 'true'), ('p <-> NULL', 'true'), ('p <-> point(700, 20)', 'dev = 1'), ('p <-> point(700, 20)', 'i % 100 = 7'), ('p <-> point(700, 20)', 'id = 4199'), ('p <-> point(700, 20)', 'false'), ('p <-> point(700, 20), id', 'true'), ('p <-> point(300, 20), id DESC', 'p <@ box(point(0, 0), point(250, 50))'),
	('c <-> point(500, -500)', 'true'), ('o <-> point(100, 2000)', 'true'), ('b <-> point(700, -900)', 'true'), ('i <-> 6000', 'true'), ('i <-> 6000, l DESC', 'true'), ('l <-> 7000000', 'true'), ('l <-> 7', 'true'), ('s <-> 100::int2', 'true'), ('f <-> 5', 'true'), ('f <-> ''NaN''', 'true'), ('g <-> 200', 'true'), ('d <-> ''2026-03-01''', 'true'), ('x <-> ''2026-01-10 03:00''::timestamp', 'true'), ('x <-> ''2027-01-10''::timestamp', 'true'), ('ts <-> ''2026-01-01 10:00''::timestamptz', 'true'), ('line <-> ''line ' || md5('7') || '''', 'true'), ('r -|- r, id', 'true'), ('(center(b)) <-> point(0, 0), id', 'true');
-- What differs from heap; the distances of the first rows are the same, whichever rows of one distance these are.
CREATE FUNCTION differing(what text) RETURNS TABLE (state text, differing bigint, problems bigint) LANGUAGE plpgsql AS $$
DECLARE
	q text;
	w text;
	wrong bigint := 0;
	n bigint;
	m bigint;
BEGIN
	FOREACH m IN ARRAY CASE what WHEN 'late rows' THEN ARRAY[0, 1, 2] ELSE ARRAY[2] END LOOP
		PERFORM set_config('strata.enable_batch_index', CASE WHEN m = 1 THEN 'off' ELSE 'on' END, true);
		-- by the index also where that would not pay
		PERFORM set_config('seq_page_cost', CASE WHEN m = 2 THEN '0' ELSE '1' END, true);
		PERFORM set_config('random_page_cost', CASE WHEN m = 2 THEN '0' ELSE '4' END, true);
		FOR q IN SELECT c FROM condition LOOP
			EXECUTE format('WITH s AS MATERIALIZED (SELECT h::text FROM t AS h WHERE %1$s), g AS MATERIALIZED (SELECT h::text FROM h WHERE %1$s) SELECT count(*) FROM ((TABLE s EXCEPT ALL TABLE g) UNION ALL (TABLE g EXCEPT ALL TABLE s)) AS d', q) INTO n;
			wrong := wrong + n;
			IF n > 0 THEN RAISE WARNING '% rows differ: %', n, q; END IF;
		END LOOP;
		FOR q, w IN SELECT o, k FROM nearest LOOP
			FOREACH n IN ARRAY ARRAY[1, 7, 300, 5000] LOOP
				EXECUTE format('WITH s AS MATERIALIZED (SELECT (%4$s)::text AS d, row_number() OVER () FROM (SELECT * FROM t WHERE %2$s ORDER BY %1$s LIMIT %3$s) AS t), g AS MATERIALIZED (SELECT (%4$s)::text AS d, row_number() OVER () FROM (SELECT * FROM h WHERE %2$s ORDER BY %1$s LIMIT %3$s) AS h) SELECT count(*) FROM ((TABLE s EXCEPT ALL TABLE g) UNION ALL (TABLE g EXCEPT ALL TABLE s)) AS d',
					q, w, n, CASE WHEN q LIKE '%, id%' THEN 'id' ELSE split_part(q, ', l', 1) END) INTO n;
				wrong := wrong + n;
				IF n > 0 THEN RAISE WARNING '% nearest differ: % %', n, q, w; END IF;
			END LOOP;
		END LOOP;
	END LOOP;
	RETURN QUERY SELECT what, wrong, (SELECT count(*) FROM strata.verify('t'));
END $$;
SELECT * FROM differing('late rows');
-- joins and parameters, of the value, of LIMIT and of OFFSET
SELECT g FROM generate_series(1, 1400, 100) AS g, LATERAL (SELECT array_agg(d) FROM (SELECT p <-> point(g, 30) AS d FROM t ORDER BY p <-> point(g, 30) LIMIT 3) AS x) AS s(s),
	LATERAL (SELECT array_agg(d) FROM (SELECT p <-> point(g, 30) AS d FROM h ORDER BY p <-> point(g, 30) LIMIT 3) AS x) AS s2(h) WHERE s <> h;
SELECT count(*) FROM generate_series(1, 4000, 500) AS k JOIN t ON t.r @> k;
SET plan_cache_mode = force_generic_plan;
PREPARE near (point, bigint, bigint) AS SELECT p, p <-> $1 FROM t ORDER BY p <-> $1 LIMIT $2 OFFSET $3;
EXECUTE near(point(700, 50), 2, 0);
EXECUTE near(point(1, 50), 2, 1);
EXECUTE near(NULL, 1, 0);
EXECUTE near(point(1, 50), 0, 1);
RESET plan_cache_mode;
SELECT p FROM t ORDER BY p <-> (SELECT point(70, 7)) LIMIT 2;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM t ORDER BY p <-> point(333, 33), id LIMIT 5;
FETCH FORWARD 3 FROM c;
FETCH BACKWARD ALL c;
FETCH 2 c;
COMMIT;
SELECT count(compress_chunk(c, recompress => true)) FROM show_chunks('t') AS c;
SELECT * FROM differing('recompressed');
-- rows in batches change
UPDATE t SET r = int4range(777, 778), p = point(500, 50), i = 6000 WHERE id % 97 = 0;
UPDATE h SET r = int4range(777, 778), p = point(500, 50), i = 6000 WHERE id % 97 = 0;
DELETE FROM t WHERE id % 89 = 0 OR r @> 500;
DELETE FROM h WHERE id % 89 = 0 OR r @> 500;
SELECT * FROM differing('changed');
DELETE FROM t WHERE ts < '2026-01-01 06:00';
DELETE FROM h WHERE ts < '2026-01-01 06:00';
SELECT * FROM differing('swept');
VACUUM t;
INSERT INTO t SELECT * FROM made(4201, 4700);
INSERT INTO h SELECT * FROM made(4201, 4700);
SELECT count(compress_chunk(c)) FROM show_chunks('t') AS c;
SELECT * FROM differing('compressed again');
-- an old snapshot does not see what has come, and what went
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT id FROM t ORDER BY p <-> point(1500, 50), id LIMIT 1;
SAVEPOINT a;
DELETE FROM t WHERE id > 4000;
SELECT count(*) FROM (SELECT id FROM t ORDER BY p <-> point(1500, 50), id LIMIT 1) AS x WHERE id > 4000;
ROLLBACK TO a;
SELECT id FROM t ORDER BY p <-> point(1500, 50), id LIMIT 1;
COMMIT;
SELECT count(decompress_chunk(c)) FROM show_chunks('t') AS c;
-- PostgreSQL's own index of floats loses rows beside NaN before 15.20, of a heap, too: none for rows
DROP INDEX t_f;
SELECT * FROM differing('decompressed');
SELECT count(compress_chunk(c)) FROM show_chunks('t') AS c;
CREATE INDEX t_f ON t USING gist (f, s);
-- indexes come and go
DROP INDEX t_r, t_p, t_expr;
SELECT * FROM differing('indexes dropped');
CREATE INDEX t_r ON t USING gist (r);
CREATE INDEX t_p ON t USING gist (p);
REINDEX INDEX t_b;
SELECT * FROM differing('indexes made on compressed chunks');
DROP INDEX t_part;
ALTER TABLE t ALTER x TYPE timestamptz;
ALTER TABLE h ALTER x TYPE timestamptz;
DELETE FROM nearest WHERE o LIKE 'x %';
INSERT INTO nearest VALUES ('x <-> ''2026-01-10 03:00''', 'true');
ALTER TABLE t DROP a;
ALTER TABLE h DROP a;
DELETE FROM condition WHERE c LIKE 'a %';
SELECT * FROM differing('types changed');
VACUUM FULL t;
SELECT * FROM differing('rewritten');
-- a table that does without
ALTER TABLE t SET (strata.batch_index = off);
SELECT * FROM differing('switched off for the table');
ALTER TABLE t RESET (strata.batch_index);
-- direct loads come before what is known, in no order
CREATE TABLE d (ts timestamptz NOT NULL, p point) USING strata WITH (strata.orderby = 'ts', strata.direct_load = on);
CREATE INDEX ON d USING gist (p);
INSERT INTO d SELECT '2026-01-01'::timestamptz + g * interval '1 s', point(g, 0) FROM generate_series(1, 1000) AS g;
SELECT compress_chunk('d');
INSERT INTO d SELECT '2026-01-02'::timestamptz + g * interval '1 s', point(g + 0.5, 0) FROM generate_series(1, 1000) AS g;
SELECT p FROM d ORDER BY p <-> point(500.2, 0) LIMIT 3;
BEGIN;
TRUNCATE d;
SELECT p FROM d ORDER BY p <-> point(500, 0) LIMIT 3;
ROLLBACK;
SELECT p FROM d ORDER BY p <-> point(500.2, 0) LIMIT 1;
SELECT count(*) FROM strata.verify('d');
-- coordinates that are no numbers: PostgreSQL's GiST loses them, and others with them; batches that have one are read, and so is what a value is asked of that has one
CREATE TABLE n (id int, p point, b box, c circle, o polygon, f float8, g float4) USING strata WITH (strata.orderby = 'id');
CREATE INDEX ON n USING gist (p);
CREATE INDEX ON n USING gist (b);
CREATE INDEX ON n USING gist (c);
CREATE INDEX ON n USING gist (o);
CREATE INDEX ON n USING gist (f);
CREATE INDEX ON n USING gist (g);
INSERT INTO n SELECT i, CASE i % 501 WHEN 1 THEN point('NaN', i) WHEN 2 THEN point(i, 'NaN') WHEN 3 THEN point('infinity', 1) ELSE point(i, 1) END, CASE i % 501 WHEN 1 THEN box(point('NaN', 1), point(1, 1)) ELSE box(point(i, 1), point(i, 2)) END,
	CASE i % 501 WHEN 1 THEN circle(point(i, i), 'NaN') ELSE circle(point(i, 1), 1) END, CASE i % 501 WHEN 1 THEN polygon(path '((NaN,1),(2,2),(3,3))') ELSE polygon(box(point(i, 1), point(i, 2))) END, CASE i % 200 WHEN 1 THEN 'NaN' ELSE i::float8 END, CASE i % 300 WHEN 1 THEN 'NaN' ELSE i::float4 END FROM generate_series(1, 2000) AS i;
SELECT compress_chunk('n');
-- what PostgreSQL's own index still has of these rows
VACUUM n;
CREATE FUNCTION answers(clause text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text[];
	one text;
BEGIN
	FOREACH one IN ARRAY ARRAY['on', 'off'] LOOP
		PERFORM set_config('strata.enable_batch_index', one, true);
		EXECUTE format('SELECT string_agg(x::text, '' '') FROM (SELECT %s) AS x', clause) INTO one;
		answer := answer || coalesce(one, 'none');
	END LOOP;
	RETURN CASE WHEN answer[1] = answer[2] THEN 'the same' ELSE array_to_string(answer, ' and not ') END;
END $$;
SET seq_page_cost = 0; SET random_page_cost = 0;
SELECT c, answers(c) FROM (VALUES ('p <-> point(700, 1) FROM n ORDER BY p <-> point(700, 1) LIMIT 7'), ('p <-> point(''NaN'', 1) FROM n ORDER BY p <-> point(''NaN'', 1) LIMIT 7'), ('p <-> point(5, ''NaN'') FROM n ORDER BY 1 LIMIT 7'), ('p <-> point(''infinity'', 1) FROM n ORDER BY 1 LIMIT 7'), ('p <-> point(700, 1) FROM n ORDER BY p <-> point(700, 1) LIMIT 1998'),
	('count(*) FROM n WHERE f = 50'), ('id FROM n WHERE f = ''NaN'''), ('count(*) FROM n WHERE f < ''NaN'''), ('count(*) FROM n WHERE f > 1990'), ('count(*) FROM n WHERE g <> ''NaN'''), ('count(*) FROM n WHERE g BETWEEN 2 AND 5'), ('f <-> 7 FROM n ORDER BY 1 LIMIT 5'), ('g <-> 7 FROM n ORDER BY 1 LIMIT 5'), ('f <-> ''NaN'' FROM n ORDER BY 1 LIMIT 5'),
	('c <-> point(700, 1) FROM n ORDER BY 1 LIMIT 5'), ('o <-> point(700, 1) FROM n ORDER BY 1 LIMIT 5'), ('b <-> point(700, 1) FROM n ORDER BY 1 LIMIT 5'), ('id FROM n WHERE p >> point(1990, 0)'), ('id FROM n WHERE p <@ box(point(1, 1), point(7, 7))'), ('id FROM n WHERE b && box(point(500, 0), point(507, 7))'), ('id FROM n WHERE b && box(point(''NaN'', 0), point(507, 7))'), ('id FROM n WHERE c && circle(point(500, 0), 2)'), ('id FROM n WHERE o && polygon(box(point(500, 0), point(507, 7)))')) AS v(c);
SELECT count(*) FROM strata.verify('n');
DROP TABLE n, d, t;
DROP FUNCTION differing(text), answers, made;
DROP TABLE h, condition, nearest;
SELECT count(*) FROM pg_class WHERE relname LIKE 'batch\_index\_%';
-- times without an end are equally far
CREATE TABLE th (id int, k int, ts timestamptz, pad text);
CREATE TABLE tt (LIKE th) USING strata WITH (strata.segmentby = 'k', strata.orderby = 'id');
CREATE INDEX ON tt USING gist (ts);
SET strata.batch_rows = 60;
SET strata.index_pages = 0;
INSERT INTO th SELECT i, i % 3, CASE WHEN i <= 300 THEN '2024-01-01'::timestamptz + i * interval '1 min' ELSE 'infinity' END, md5(i::text) FROM generate_series(1, 3000) i;
INSERT INTO tt TABLE th;
SELECT compress_chunk('tt');
ANALYZE tt;
SELECT string_agg(id::text, ',' ORDER BY n) FROM (SELECT row_number() OVER () AS n, * FROM (SELECT ts, id FROM tt ORDER BY ts <-> '2024-01-01'::timestamptz, id DESC LIMIT 305) y) x WHERE ts = 'infinity';
SELECT string_agg(id::text, ',' ORDER BY n) FROM (SELECT row_number() OVER () AS n, id FROM (SELECT id FROM tt ORDER BY ts <-> 'infinity', id LIMIT 7) y) x;
DROP TABLE th, tt;
RESET strata.batch_rows;
RESET strata.index_pages;
DROP EXTENSION btree_gist, pg_trgm;
