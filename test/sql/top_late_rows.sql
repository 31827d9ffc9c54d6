-- The first rows of an order where late rows, read by an index, take the places of others while they are read: keys by
-- reference, over more than one page of the index.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET max_parallel_workers_per_gather = 0;
CREATE TABLE tl_h (id int, x text, v interval, u uuid, n numeric, b bytea, w text, pad text);
CREATE TABLE tl (LIKE tl_h) USING strata WITH (strata.orderby = 'id');
CREATE INDEX ON tl (x);
CREATE INDEX ON tl (v DESC);
CREATE INDEX ON tl (u);
CREATE INDEX ON tl (n);
CREATE INDEX ON tl (b);
CREATE INDEX ON tl (w);
CREATE FUNCTION tl_rows(low boolean, n int) RETURNS SETOF tl_h LANGUAGE sql AS $$
	SELECT i, CASE WHEN low THEN 'a' WHEN i % 2 = 0 THEN 'z' ELSE 'm' END || lpad(k::text, 30, '0'),
		CASE WHEN low THEN -1 WHEN i % 2 = 0 THEN 3 ELSE 1 END * interval '1 year' + k * interval '1 s',
		(CASE WHEN low THEN 'a' WHEN i % 2 = 0 THEN 'f' ELSE 'b' END || lpad(k::text, 31, '0'))::uuid,
		CASE WHEN low THEN -1 WHEN i % 2 = 0 THEN 3 ELSE 1 END * 1e30::numeric + k,
		convert_to(CASE WHEN low THEN 'a' WHEN i % 2 = 0 THEN 'z' ELSE 'm' END || lpad(k::text, 30, '0'), 'UTF8'),
		CASE WHEN low THEN 'a' WHEN i % 2 = 0 THEN 'z' ELSE 'm' END || lpad(k::text, 5, '0') || repeat('w', 2000),
		CASE WHEN low THEN repeat('p', 1500) END
	FROM (SELECT i, (i * 7919) % 9973 AS k FROM generate_series(1, n) i) s $$;
INSERT INTO tl_h SELECT * FROM tl_rows(false, 6000);
INSERT INTO tl SELECT * FROM tl_h;
SELECT count(compress_chunk('tl')) FROM (SELECT) s;
INSERT INTO tl_h SELECT * FROM tl_rows(true, 1200);
INSERT INTO tl SELECT * FROM tl_rows(true, 1200);
-- better than all of the greatest, too
INSERT INTO tl_h SELECT id, 'zz' || x, v + interval '9 years', ('ff' || substr(u::text, 3))::uuid, n + 8e30, '\x7a7a' || b, 'zz' || w, pad FROM tl_rows(true, 1200);
INSERT INTO tl SELECT id, 'zz' || x, v + interval '9 years', ('ff' || substr(u::text, 3))::uuid, n + 8e30, '\x7a7a' || b, 'zz' || w, pad FROM tl_rows(true, 1200);
ANALYZE tl;
CREATE FUNCTION tl_differ() RETURNS TABLE (query text, want text, got text) LANGUAGE plpgsql AS $$
DECLARE
	col text;
	way text;
	n int;
BEGIN
	FOREACH col IN ARRAY '{x,v,u,n,b,w}'::text[] LOOP
		FOREACH way IN ARRAY ARRAY['@', '@ DESC NULLS LAST', '@, id', '@ DESC NULLS LAST, id DESC'] LOOP
			FOREACH n IN ARRAY '{3,400,900,1150,2000}'::int[] LOOP
				query := format('SELECT count(*), md5(string_agg(%1$I::text, '','' ORDER BY %1$I)), min(id), max(id) FROM (SELECT %1$I, id FROM tl ORDER BY %2$s LIMIT %3$s) s',
					col, replace(way, '@', quote_ident(col)), n);
				EXECUTE format('SELECT s::text FROM (%s) s', query) INTO got;
				EXECUTE format('SELECT s::text FROM (%s) s', replace(query, 'FROM tl ', 'FROM tl_h ')) INTO want;
				IF got <> want THEN
					RETURN NEXT;
				END IF;
			END LOOP;
		END LOOP;
	END LOOP;
END $$;
SELECT * FROM tl_differ();
SET strata.enable_top_n = off;
SELECT * FROM tl_differ();
RESET strata.enable_top_n;
-- the value in the scan's key is that of the plan's heap no more when the second row comes
SELECT count(*), min(x), max(x) FROM (SELECT x FROM tl ORDER BY x LIMIT 800) s;
DROP FUNCTION tl_differ;
DROP TABLE tl, tl_h CASCADE;

-- a condition's value, in a chunk that has no batches
CREATE TABLE tb (ts timestamptz NOT NULL, k int NOT NULL);
SELECT created FROM create_hypertable('tb', 'ts', chunk_time_interval => interval '10 days');
CREATE INDEX ON tb (k);
INSERT INTO tb SELECT '2026-01-08 00:00Z'::timestamptz + i * interval '10 s', i FROM generate_series(0, 50000) i;
INSERT INTO tb SELECT '2026-01-17 00:00Z'::timestamptz + i * interval '10 s', i FROM generate_series(0, 50010) i;
SELECT compress_chunk(c) IS NOT NULL AS compressed FROM show_chunks('tb', older_than => '2026-01-17 12:00Z'::timestamptz) c;
ANALYZE tb;
SELECT k FROM tb WHERE k < 60000 ORDER BY k DESC LIMIT 5;
SELECT x, (SELECT string_agg(k::text, ' ') FROM (SELECT k FROM tb WHERE k < x ORDER BY k DESC LIMIT 3) s) FROM (VALUES (60000), (50010), (50006), (0)) v(x);
SET strata.enable_pruning = off;
SELECT k FROM tb WHERE k < 60000 ORDER BY k DESC LIMIT 5;
RESET strata.enable_pruning;
DROP TABLE tb;

-- the next page of an order, in the middle of a chunk: late rows come by the bound, in place of those that the plan's
-- own index has
CREATE TABLE tq_h (ts timestamptz NOT NULL, k text NOT NULL, v int);
CREATE TABLE tq (LIKE tq_h) USING strata WITH (strata.segmentby = 'k', strata.orderby = 'ts DESC');
CREATE INDEX ON tq (ts DESC);
INSERT INTO tq_h SELECT '2026-01-01 00:00Z'::timestamptz + i / 20 * interval '10 s', 'k' || i % 20, i FROM generate_series(0, 39999) i;
INSERT INTO tq SELECT * FROM tq_h;
SELECT count(compress_chunk('tq')) FROM (SELECT) s;
INSERT INTO tq_h SELECT '2026-01-01 00:00Z'::timestamptz + i / 10 * interval '10 s', 'k' || i % 23, -i FROM generate_series(0, 19999) i;
INSERT INTO tq SELECT '2026-01-01 00:00Z'::timestamptz + i / 10 * interval '10 s', 'k' || i % 23, -i FROM generate_series(0, 19999) i;
INSERT INTO tq_h SELECT ts, k, -20000 FROM tq_h WHERE v % 1000 = 1;
INSERT INTO tq SELECT ts, k, -20000 FROM tq WHERE v % 1000 = 1;
VACUUM ANALYZE tq;
CREATE FUNCTION tq_differ() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	query text;
	want text;
	got text;
BEGIN
	FOR query IN SELECT format('SELECT string_agg(r::text, '' '' ORDER BY m) FROM (SELECT m, (SELECT string_agg(s::text, '' '' ORDER BY ts, k, v) FROM '
			'(SELECT * FROM tq WHERE (ts, k) %s (''2026-01-01 00:00Z''::timestamptz + m * interval ''1 minute'', ''k5'') %s ORDER BY ts %s, k %3$s, v LIMIT %s) s) AS r '
			'FROM (VALUES (0), (1), (77), (200), (400), (-1)) v(m)) t', cond, also, way, n)
			FROM (VALUES ('<', 'DESC'), ('>', 'ASC'), ('<=', 'DESC'), ('>', 'DESC')) c(cond, way),
				(VALUES (''), ('AND v < 0'), ('AND v = -20000'), ('AND k = ''k3''')) a(also), (VALUES (1), (30), (700)) l(n) LOOP
		EXECUTE query INTO got;
		EXECUTE replace(query, 'FROM tq ', 'FROM tq_h ') INTO want;
		IF got IS DISTINCT FROM want THEN
			RETURN NEXT query;
		END IF;
	END LOOP;
END $$;
SELECT tq_differ();
CREATE INDEX ON tq (v);
ANALYZE tq;
SELECT tq_differ();
DROP FUNCTION tq_differ;
DROP TABLE tq, tq_h;
