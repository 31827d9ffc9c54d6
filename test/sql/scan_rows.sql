-- Rows of the row store, read into columns: the same answers as row by row,
-- and as a heap's, of every kind of column, whatever the rows look like.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET strata.batch_rows = 100;
CREATE TABLE scr_h (id int NOT NULL, ts timestamptz, gone text, b bool, s smallint, r real, d float8,
	k text, n numeric, u uuid, c char, i interval, a int[], big text);
CREATE TABLE scr (LIKE scr_h) USING strata WITH (strata.segmentby = 'k', strata.orderby = 'ts');
-- both: the same query, of the strata table in three ways and of the heap; as many answers as differ.
CREATE FUNCTION scr_differ(query text) RETURNS TABLE (answers bigint) LANGUAGE plpgsql AS $$
DECLARE
	one text;
	answer text;
	seen text[] := '{}';
	way text;
BEGIN
	FOREACH way IN ARRAY ARRAY['page_scan', 'row_grouping', 'vector_filter', 'vector_agg', 'none', 'heap'] LOOP
		IF way NOT IN ('none', 'heap') THEN
			PERFORM set_config('strata.enable_' || way, 'off', true);
		END IF;
		one := replace(query, 'scr', CASE WHEN way = 'heap' THEN 'scr_h' ELSE 'scr' END);
		EXECUTE 'SELECT string_agg(x::text, '';'' ORDER BY x::text) FROM (' || one || ') AS x' INTO answer;
		seen := seen || coalesce(answer, '-');
		IF way NOT IN ('none', 'heap') THEN
			PERFORM set_config('strata.enable_' || way, 'on', true);
		END IF;
	END LOOP;
	RETURN QUERY SELECT count(DISTINCT x) FROM unnest(seen) AS x;
END $$;
CREATE FUNCTION scr_check() RETURNS SETOF bigint LANGUAGE sql AS $$
	SELECT scr_differ(q) FROM unnest(ARRAY[
		'SELECT count(*) FROM scr',
		'SELECT count(*), count(ts), min(ts), max(id), sum(s), count(b), sum(id) FROM scr',
		'SELECT k, count(*), max(r), min(d), sum(n) FROM scr GROUP BY k',
		'SELECT u, c, i, count(*) FROM scr GROUP BY u, c, i',
		'SELECT max(length(big)), count(big), count(DISTINCT a) FROM scr',
		'SELECT b, count(*), max(s) FROM scr WHERE s > 3 OR d < 10 GROUP BY b',
		'SELECT count(*), sum(id) FROM scr WHERE ts IS NULL',
		'SELECT count(*), sum(s) FROM scr WHERE id BETWEEN 100 AND 1400 AND b',
		'SELECT count(*) FROM scr WHERE k = ''k1'' AND id > 30',
		'SELECT big, count(*) FROM scr WHERE id % 500 = 3 GROUP BY big',
		'SELECT count(*) FROM scr WHERE s IN (1, 2, 7) AND ts > ''2020-01-01 00:10Z''',
		'SELECT * FROM scr WHERE id = 77',
		'SELECT * FROM scr WHERE s = 3',
		'SELECT * FROM scr WHERE d < 90 AND id > 20',
		'SELECT id FROM scr WHERE d < 50',
		'SELECT big, a, n FROM scr WHERE k = ''k2'' AND s > 2',
		'SELECT id, scr FROM scr WHERE n IS NULL',
		'SELECT 1 FROM scr WHERE b',
		'SELECT id, big || c FROM scr WHERE ts IS NULL OR big LIKE ''z%''',
		'SELECT count(*) FROM scr WHERE id < 0']) AS q $$;
CREATE FUNCTION scr_fill(first int, last int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO scr_h (id, ts, gone, b, s, r, d, k, n, u, c, i, a, big)
	SELECT g, CASE WHEN g % 11 <> 0 THEN timestamptz '2020-01-01Z' + g * interval '1 second' END,
		repeat('g', g % 5), g % 3 = 0, nullif(g % 10, 4), g / 4, CASE WHEN g % 7 <> 0 THEN g % 100 END,
		'k' || g % 6, nullif(g % 13, 5) / 8.0, md5((g % 4)::text)::uuid, chr(65 + g % 3),
		g % 9 * interval '1 day', CASE WHEN g % 8 <> 0 THEN ARRAY[g, 1] END,
		CASE g % 500 WHEN 3 THEN (SELECT string_agg(md5((g + x)::text), '') FROM generate_series(1, 400) AS x)
			WHEN 4 THEN repeat('z', 9000) ELSE 'x' || g % 20 END
	FROM generate_series(first, last) AS g;
	INSERT INTO scr SELECT * FROM scr_h WHERE id BETWEEN first AND last;
END $$;
-- an empty table, a row store alone, batches alone, both
SELECT count(*) FROM scr;
SELECT * FROM scr_check() WHERE scr_check <> 1;
SELECT scr_fill(1, 1500);
SELECT * FROM scr_check() WHERE scr_check <> 1;
SELECT compress_chunk('scr');
SELECT scr_fill(1501, 2600);
SELECT * FROM scr_check() WHERE scr_check <> 1;
-- columns dropped and added, with and without a default, in rows from before and after
ALTER TABLE scr_h DROP COLUMN gone, ADD x int DEFAULT 7, ADD y text DEFAULT 'early', ADD z float8;
ALTER TABLE scr DROP COLUMN gone, ADD x int DEFAULT 7, ADD y text DEFAULT 'early', ADD z float8;
INSERT INTO scr_h (id, k, x, y, z) SELECT g, 'k1', g % 4, 'late', g FROM generate_series(3000, 3050) AS g;
INSERT INTO scr (id, k, x, y, z) SELECT g, 'k1', g % 4, 'late', g FROM generate_series(3000, 3050) AS g;
SELECT scr_differ('SELECT x, y, count(*), sum(x), max(z) FROM scr GROUP BY x, y');
SELECT scr_differ('SELECT count(*), sum(id) FROM scr WHERE x = 7');
SELECT scr_differ('SELECT count(*), sum(id) FROM scr WHERE z IS NULL AND x > 1');
-- few sets of columns that are null, beside rows of fewer columns; more columns than a word has bits
DO $$
BEGIN
	EXECUTE (SELECT format('CREATE TABLE scr_h_wide (%s); CREATE TABLE scr_wide (LIKE scr_h_wide) USING strata', string_agg(format('c%s %s', i, (ARRAY['int', 'text', 'float8', 'numeric', 'bool', 'uuid'])[1 + i % 6]), ', ' ORDER BY i)) FROM generate_series(1, 70) AS i);
	EXECUTE (SELECT format('INSERT INTO scr_h_wide SELECT %s FROM generate_series(1, 900) AS g', string_agg(
		format(CASE WHEN i % 5 = 0 THEN '%s' ELSE 'CASE WHEN g %% 3 <> ' || i % 4 || ' THEN %s END' END,
			(ARRAY['g % 9', 'repeat(''x'', g % 4)', 'g / 8.0', 'g / 100.0', 'g % 2 = 0', 'md5((g % 3)::text)::uuid'])[1 + i % 6]), ', ' ORDER BY i)) FROM generate_series(1, 70) AS i);
END $$;
INSERT INTO scr_wide SELECT * FROM scr_h_wide;
ALTER TABLE scr_h_wide ADD late text DEFAULT 'l', ADD later int;
ALTER TABLE scr_wide ADD late text DEFAULT 'l', ADD later int;
INSERT INTO scr_wide SELECT * FROM scr_h_wide WHERE c6 IS NULL;
INSERT INTO scr_h_wide SELECT * FROM scr_h_wide WHERE c6 IS NULL;
ALTER TABLE scr_h_wide ADD last int DEFAULT 5;
ALTER TABLE scr_wide ADD last int DEFAULT 5;
INSERT INTO scr_wide SELECT * FROM scr_h_wide;
INSERT INTO scr_h_wide SELECT * FROM scr_h_wide;
SELECT scr_differ(q) FROM unnest(ARRAY[
	'SELECT count(*), sum(c6), count(c1), sum(c2), sum(c3), count(c4) FROM scr_wide',
	'SELECT c1, c4, count(c5), sum(c3), min(c8), sum(c9) FROM scr_wide GROUP BY c1, c4',
	'SELECT c61, count(*), sum(c60), sum(c63), max(c62) FROM scr_wide GROUP BY c61',
	'SELECT c67, c64, count(*), sum(c66), sum(c69), max(c68), bool_or(c70) FROM scr_wide GROUP BY c67, c64',
	'SELECT late, count(later), sum(last), count(*) FROM scr_wide WHERE c70 OR c66 > 3 GROUP BY late',
	'SELECT count(*), sum(c30) FROM scr_wide WHERE c6 IS NULL AND c9 IS NOT NULL']) AS q;
DROP TABLE scr_wide, scr_h_wide;
-- what this transaction does and undoes; a cursor sees what was there when it was opened
BEGIN;
DELETE FROM scr WHERE id % 4 = 0;
DELETE FROM scr_h WHERE id % 4 = 0;
UPDATE scr SET s = 8 WHERE id % 10 = 1;
UPDATE scr_h SET s = 8 WHERE id % 10 = 1;
SELECT scr_differ('SELECT count(*), sum(id), sum(s) FROM scr');
DO $$
DECLARE
	t regclass;
	found CURSOR (low int) FOR SELECT * FROM scr WHERE d BETWEEN low AND 60 FOR UPDATE;
	found_h CURSOR (low int) FOR SELECT * FROM scr_h WHERE d BETWEEN low AND 60 FOR UPDATE;
BEGIN
	-- the row that stands under a cursor; rows that the command itself has changed
	FOR row IN found (40) LOOP
		UPDATE scr SET r = r + 1 WHERE CURRENT OF found;
	END LOOP;
	FOR row IN found_h (40) LOOP
		UPDATE scr_h SET r = r + 1 WHERE CURRENT OF found_h;
	END LOOP;
	FOREACH t IN ARRAY ARRAY['scr', 'scr_h']::regclass[] LOOP
		EXECUTE format('UPDATE %s SET d = d + 5 WHERE d < 30', t);
		EXECUTE format('INSERT INTO %s SELECT * FROM %1$s WHERE d = 33', t);
		EXECUTE format('DELETE FROM %s WHERE d BETWEEN 70 AND 71', t);
	END LOOP;
END $$;
SELECT scr_differ('SELECT k, count(*), sum(id), sum(d), sum(r) FROM scr GROUP BY k');
DECLARE ends SCROLL CURSOR FOR SELECT id FROM scr WHERE d = 42;
SELECT count(*) > 0 AS any FROM (SELECT 1 FROM scr WHERE d = 42) AS x;
MOVE ALL IN ends;
MOVE BACKWARD ALL IN ends;
CLOSE ends;
DECLARE before CURSOR FOR SELECT count(*), sum(id), sum(x) FROM scr;
SAVEPOINT one;
INSERT INTO scr (id, k) SELECT g, 'new' FROM generate_series(1, 500) AS g;
SELECT count(*), sum(id) FROM scr WHERE x = 7 AND id <= 500;
FETCH before;
ROLLBACK TO one;
SELECT scr_differ('SELECT k, count(*), sum(id), sum(s) FROM scr GROUP BY k');
ROLLBACK;
SELECT scr_differ('SELECT k, count(*), sum(id), sum(s) FROM scr GROUP BY k');
-- other kinds of transactions and tables are read by heapam
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT scr_differ('SELECT count(*), sum(id), sum(s) FROM scr WHERE id > 10');
COMMIT;
-- read again and again, with other values, as an inner side is
SELECT v, n FROM (VALUES (0), (2), (7)) AS v (v), LATERAL (SELECT count(*) AS n FROM scr WHERE s = v) AS counted ORDER BY v;
-- nothing to be evaluated where no row is
CREATE TABLE scr_empty (a int, ts timestamptz) USING strata;
SELECT count(*) FROM scr_empty WHERE a > 1;
-- a read that ends early, and then the whole
SELECT count(*) > 0 FROM (SELECT k FROM scr GROUP BY k LIMIT 1) AS x;
VACUUM scr;
SELECT scr_differ('SELECT k, count(*), sum(id), max(y), sum(s) FROM scr GROUP BY k');
DROP TABLE scr, scr_h, scr_empty;
DROP FUNCTION scr_differ, scr_check, scr_fill;
