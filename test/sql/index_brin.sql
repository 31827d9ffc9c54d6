-- BRIN indexes of a table lead to batches by their operator classes: answers are heap's, with the batch index and without, whatever became of the table.
SET timezone = 'UTC';
SET client_min_messages = error;
SET strata.batch_rows = 100;
-- small companions have none
SET strata.index_pages = 0;
CREATE TABLE t (ts timestamptz NOT NULL, dev int, a inet, r int4range, tr tstzrange, b box, f float8, g float4, n numeric, i int, l bigint, u uuid, tag text, v varchar(20), d date, by bytea, bo boolean)
	PARTITION BY RANGE (ts) WITH (strata.chunk_interval = '12 hours', strata.segmentby = 'dev', strata.orderby = 'ts');
CREATE TABLE h (LIKE t);
CREATE FUNCTION made(a int, b int, late interval = '0') RETURNS SETOF h LANGUAGE sql AS $$
	SELECT '2026-01-01'::timestamptz + i * interval '30 s' - late, i % 3,
		CASE i % 501 WHEN 0 THEN NULL WHEN 1 THEN '2001:db8::1' ELSE ('10.' || i / 300 % 256 || '.' || i % 256 || '.0/24')::inet END,
		CASE i % 333 WHEN 0 THEN 'empty' WHEN 1 THEN NULL WHEN 2 THEN int4range(NULL, i) WHEN 3 THEN int4range(i, NULL) ELSE int4range(i, i + 5) END,
		CASE WHEN i / 700 % 3 = 1 THEN NULL ELSE tstzrange('2026-01-01'::timestamptz + i * interval '30 s', '2026-01-01'::timestamptz + i * interval '40 s', '[]') END,
		CASE i % 777 WHEN 0 THEN NULL WHEN 1 THEN box(point('NaN', 1), point(1, 1)) WHEN 2 THEN box(point('-infinity', '-infinity'), point(i, i)) ELSE box(point(i, -i), point(i + 2, 2 - i)) END,
		CASE i % 500 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN '0' WHEN 3 THEN 'infinity' WHEN 4 THEN '-infinity' ELSE i / 7.0 END, CASE WHEN i % 900 = 0 THEN 'NaN' ELSE i / 8.0 END,
		CASE i % 600 WHEN 0 THEN 'NaN' WHEN 1 THEN NULL ELSE i / 4.0 END, i * 31 % 997, CASE WHEN i % 97 = 0 THEN -i ELSE i END, md5(i::text)::uuid, CASE WHEN i % 11 = 0 THEN NULL ELSE 'tag' || i / 10 END, 'v' || i % 1009,
		CASE i % 800 WHEN 0 THEN 'infinity' WHEN 1 THEN NULL ELSE '2026-01-01'::date + i / 50 END, decode(md5((i / 20)::text), 'hex'), i / 900 % 2 = 0
	FROM generate_series(a, b) AS i $$;
CREATE INDEX t_a ON t USING brin (a inet_inclusion_ops);
CREATE INDEX t_am ON t USING brin (a inet_minmax_ops);
CREATE INDEX t_r ON t USING brin (r);
CREATE INDEX t_tr ON t USING brin (tr);
CREATE INDEX t_b ON t USING brin (b);
CREATE INDEX t_f ON t USING brin (f float8_minmax_multi_ops (values_per_range = 16), g float4_minmax_ops);
CREATE INDEX t_n ON t USING brin (n numeric_minmax_multi_ops);
CREATE INDEX t_i ON t USING brin (i int4_bloom_ops);
CREATE INDEX t_l ON t USING brin (l int8_minmax_multi_ops, d);
CREATE INDEX t_u ON t USING brin (u uuid_bloom_ops, by bytea_minmax_ops);
CREATE INDEX t_tag ON t USING brin (tag text_bloom_ops, tag text_minmax_ops, v text_bloom_ops);
-- those are of no use for batches
CREATE INDEX t_part ON t USING brin (d) WHERE i > 5;
CREATE INDEX t_expr ON t USING brin ((i + 1));
INSERT INTO t SELECT * FROM made(1, 4000);
INSERT INTO h SELECT * FROM made(1, 4000);
SELECT count(compress_chunk(c)) FROM show_chunks('t') AS c;
ANALYZE t;
-- one row in twenty comes late
INSERT INTO t SELECT * FROM made(4001, 4200, '20 h');
INSERT INTO h SELECT * FROM made(4001, 4200, '20 h');
CREATE TABLE condition (c text);
INSERT INTO condition VALUES ('a << ''10.5.0.0/16'''), ('a <<= ''10.5.7.0/24'''), ('''10.5.7.0/24'' <<= a'), ('a >> ''10.5.7.3'''), ('a && ''2001:db8::/32'''), ('a = ''2001:db8::1'''), ('a < ''10.1.0.0'''), ('a > NULL'), ('a IN (''2001:db8::1'', ''10.5.7.0/24'')'),
	('r && int4range(777, 780)'), ('r @> 778'), ('778 <@ r'), ('r <@ int4range(100, 200)'), ('r @> ''empty''::int4range'), ('r = ''empty'''), ('r <@ ''empty''::int4range'), ('r << int4range(5, 6)'), ('r >> int4range(4150, 4151)'), ('r -|- int4range(10, 12)'), ('r = int4range(777, 782)'), ('r &< int4range(1, 20)'), ('r && int4range(NULL, NULL)'), ('r && NULL'), ('r IS NULL'), ('isempty(r)'), ('r < int4range(50, 51)'),
	('tr @> ''2026-01-01 12:00''::timestamptz'), ('tr && tstzrange(''2026-01-01 05:00'', ''2026-01-01 05:01'')'), ('tr IS NULL'), ('tr << ''[2026-01-01 00:30,2026-01-01 00:31]'''),
	('b && box(point(700, -700), point(705, -690))'), ('b @> point(700, -700)'), ('b <@ box(point(0, 0), point(50, -50))'), ('b << box(point(3, 0), point(4, 1))'), ('b |>> box(point(0, -20), point(1, -10))'), ('b && box(point(''-infinity'', 0), point(0, 0))'), ('b ~= box(point(700, -700), point(702, -698))'),
	('f = ''NaN'''), ('f > 590'), ('f < ''-0'''), ('f = 0'), ('f BETWEEN 100 AND 101'), ('f >= ''infinity'''), ('f <= ''-infinity'''), ('f < 5 AND g < 3'), ('f = 5::float4'), ('g = ''NaN'''), ('g BETWEEN 100 AND 100.5'), ('g < 100.5::float8 AND g > 100'), ('f IN (100, ''NaN'', NULL)'), ('n = ''NaN'''), ('n BETWEEN 200 AND 200.5'), ('n < 3'), ('n = 200'),
	('i = 31'), ('i IN (31, 62, 5000)'), ('i = 5000'), ('i = ANY (ARRAY(SELECT x.i FROM h AS x WHERE x.i = 7))'), ('i = ANY (NULL)'), ('i = ANY (''{}'')'), ('l < 0'), ('l BETWEEN -500 AND -100'), ('l = 700::int'), ('l > 3990 AND d > ''2026-03-01'''), ('d = ''infinity'''), ('d IS NULL'), ('d < ''2026-01-03'' AND l > 10'),
	('u = md5(''77'')::uuid'), ('u IN (md5(''1'')::uuid, md5(''4199'')::uuid)'), ('u = NULL'), ('by = decode(md5(''7''), ''hex'')'), ('by < ''\x02'''), ('tag = ''tag7'''), ('tag = ''tag7'' COLLATE "C"'), ('tag < ''tag10'''), ('tag > ''tag399'' AND v = ''v31'''), ('v = ''v31'''), ('v::text = ''v31'' OR tag = ''tag7'''), ('tag IS NULL'), ('v = ''none'''),
	('r && int4range(777, 780) AND b && box(point(700, -700), point(705, -790))'), ('r && int4range(777, 780) OR l = 3'), ('NOT r && int4range(10, 4000)'), ('d = ''2026-01-05'' AND i > 5'), ('i + 1 = 8');
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
-- joins, prepared statements, cursors, order
SET enable_hashjoin = off; SET enable_mergejoin = off;
SELECT count(*), sum(t.i) FROM generate_series(1, 4200, 300) AS k JOIN t ON t.r @> k;
SELECT g, x.ts FROM generate_series(5, 4200, 1000) AS g LEFT JOIN LATERAL (SELECT ts FROM t WHERE t.b @> point(g, 1 - g) ORDER BY ts DESC LIMIT 1) AS x ON true ORDER BY 1;
-- lists, another one for each row
SET seq_page_cost = 0;
SELECT g FROM generate_series(5, 4200, 70) AS g, LATERAL (SELECT count(*) AS n, sum(l) AS s FROM t WHERE t.l = ANY (ARRAY[g, g + 31, -g]) OFFSET 0) AS a,
	LATERAL (SELECT count(*) AS n, sum(l) AS s FROM h WHERE h.l = ANY (ARRAY[g, g + 31, -g]) OFFSET 0) AS b WHERE a <> b;
SELECT g FROM generate_series(5, 4200, 70) AS g, LATERAL (SELECT count(*) AS n, sum(l) AS s FROM t WHERE t.u = ANY (ARRAY[md5(g::text), md5((g + 1)::text)]::uuid[]) OFFSET 0) AS a,
	LATERAL (SELECT count(*) AS n, sum(l) AS s FROM h WHERE h.u = ANY (ARRAY[md5(g::text), md5((g + 1)::text)]::uuid[]) OFFSET 0) AS b WHERE a <> b;
RESET seq_page_cost;
RESET enable_hashjoin; RESET enable_mergejoin;
SET plan_cache_mode = force_generic_plan;
PREPARE by_range (int4range) AS SELECT count(*), min(ts) FROM t WHERE r && $1;
EXECUTE by_range('[777,780)');
EXECUTE by_range('empty');
EXECUTE by_range(NULL);
PREPARE by_list (int[]) AS SELECT count(*), min(ts) FROM t WHERE i = ANY ($1);
EXECUTE by_list('{31,62,NULL}');
EXECUTE by_list('{}');
EXECUTE by_list(NULL);
-- a long list is not asked for one by one
SELECT count(*), min(ts) FROM t WHERE i = ANY (ARRAY(SELECT x FROM generate_series(1, 300) AS x));
RESET plan_cache_mode;
BEGIN;
SET LOCAL strata.enable_parallel_scan = off;
DECLARE c SCROLL CURSOR FOR SELECT ts FROM t WHERE r && int4range(777, 779);
FETCH FORWARD 3 FROM c;
FETCH BACKWARD ALL c;
FETCH 1 c;
COMMIT;
SELECT count(compress_chunk(c, recompress => true)) FROM show_chunks('t') AS c;
SELECT * FROM differing('recompressed');
-- rows in batches change
UPDATE t SET r = int4range(777, 778), f = 'NaN', l = -7, tag = 'tag7' WHERE i % 97 = 0;
UPDATE h SET r = int4range(777, 778), f = 'NaN', l = -7, tag = 'tag7' WHERE i % 97 = 0;
DELETE FROM t WHERE i % 89 = 0 OR r @> 500;
DELETE FROM h WHERE i % 89 = 0 OR r @> 500;
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
BEGIN;
SAVEPOINT a;
DELETE FROM t;
SELECT count(compress_chunk(c, recompress => true)) FROM show_chunks('t') AS c;
ROLLBACK TO a;
COMMIT;
SELECT * FROM differing('a savepoint rolled back');
-- indexes come and go
DROP INDEX t_r, t_b;
SELECT * FROM differing('indexes dropped');
CREATE INDEX t_r ON t USING brin (r) WITH (pages_per_range = 1);
CREATE INDEX t_b ON t USING brin (b, r);
SELECT * FROM differing('indexes made on compressed chunks');
REINDEX INDEX t_r;
REINDEX TABLE t;
-- a schema: what was kept is made anew, with another number
CREATE SCHEMA re;
CREATE TABLE re.r (ts int NOT NULL, r int4range) USING strata WITH (strata.orderby = 'ts');
CREATE INDEX ON re.r USING brin (r);
INSERT INTO re.r SELECT i, int4range(i, i + 1) FROM generate_series(1, 1000) AS i;
SELECT compress_chunk('re.r');
CREATE FUNCTION first_run() RETURNS xid LANGUAGE plpgsql AS $$
DECLARE
	name regclass := (SELECT c.oid FROM pg_class AS c WHERE relname LIKE 'batch\_index\_%' AND relkind = 'r' ORDER BY c.oid DESC LIMIT 1);
	result xid;
BEGIN
	EXECUTE format('SELECT max(xmin::text::bigint)::text::xid FROM %s', name) INTO result;
	RETURN result;
END $$;
SET ROLE postgres;
SELECT first_run() AS before \gset
RESET ROLE;
-- (from 17 on an event trigger comes in between, with a snapshot)
SET ROLE postgres;
CREATE FUNCTION re.looks() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM count(*) FROM pg_class; END $$;
CREATE EVENT TRIGGER re_looks ON ddl_command_end EXECUTE FUNCTION re.looks();
RESET ROLE;
SET client_min_messages = warning;
REINDEX SCHEMA re;
SET client_min_messages = error;
SET ROLE postgres;
DROP EVENT TRIGGER re_looks;
DROP FUNCTION re.looks;
RESET ROLE;
SET ROLE postgres;
SELECT first_run() <> :'before'::xid AS again;
RESET ROLE;
SELECT (SELECT count(*) FROM re.r WHERE r @> 500), (SELECT count(*) FROM strata.verify('re.r'));
DROP FUNCTION first_run;
DROP TABLE re.r;
DROP SCHEMA re;
SELECT * FROM differing('reindexed');
VACUUM FULL t;
SELECT * FROM differing('rewritten');
-- columns
DROP INDEX t_l;
CREATE INDEX t_l ON t USING brin (l int8_minmax_multi_ops);
ALTER TABLE t ADD later int4range DEFAULT '[5,9)';
ALTER TABLE h ADD later int4range DEFAULT '[5,9)';
CREATE INDEX t_later ON t USING brin (later);
INSERT INTO condition VALUES ('later @> 7'), ('later @> 9');
SELECT * FROM differing('a column added');
DROP INDEX t_part, t_expr;
ALTER TABLE t ALTER tr TYPE tstzrange USING tr;
ALTER TABLE t ALTER d TYPE timestamp;
ALTER TABLE h ALTER d TYPE timestamp;
ALTER TABLE t ALTER v TYPE text;
ALTER TABLE h ALTER v TYPE text;
SELECT * FROM differing('types changed');
-- a table that does without
ALTER TABLE t SET (strata.batch_index = off);
SELECT count(compress_chunk(c, recompress => true)) FROM show_chunks('t') AS c;
SELECT * FROM differing('switched off for the table');
ALTER TABLE t RESET (strata.batch_index);
SELECT * FROM differing('and on again');
DROP TABLE t;
-- direct loads are found before anything speaks for them; batches are merged, and summaries with them
CREATE TABLE d (ts timestamptz NOT NULL, r int4range, x text) USING strata WITH (strata.orderby = 'ts', strata.direct_load = on);
CREATE INDEX ON d USING brin (r);
CREATE INDEX ON d USING brin (x text_bloom_ops);
CREATE INDEX ON d (x);
DO $$ BEGIN FOR k IN 0..9 LOOP
	INSERT INTO d SELECT '2026-01-01'::timestamptz + g * interval '1 s', int4range(g, g + 2), md5(g::text) FROM generate_series(k * 1000 + 1, k * 1000 + 1000) AS g;
	IF k % 2 = 0 THEN PERFORM compress_chunk('d'); END IF;
	DELETE FROM d WHERE ts < '2026-01-01'::timestamptz + k * 300 * interval '1 s';
END LOOP; END $$;
SELECT count(*) FROM d WHERE r @> 9500;
SELECT count(*) FROM d WHERE x = md5('9500') AND r @> 9500;
SELECT count(*) FROM d WHERE r @> 2000;
SELECT compress_chunk('d');
SELECT count(*) FROM d WHERE r @> 9500;
SELECT count(*) FROM strata.verify('d');
BEGIN;
TRUNCATE d;
INSERT INTO d VALUES ('2026-01-01', '[9500,9501)', 'x');
SELECT compress_chunk('d');
SELECT count(*) FROM d WHERE r @> 9500;
ROLLBACK;
SELECT count(*) FROM d WHERE r @> 9500;
DROP TABLE d;
DROP FUNCTION differing(text), made;
DROP TABLE h, condition;
SELECT count(*) FROM pg_class WHERE relname LIKE 'batch\_index\_%';
