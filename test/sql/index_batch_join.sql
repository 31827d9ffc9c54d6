-- Values of a hash join's small side are looked up in batch indexes: the same rows come out as from heap, with the switches on and off.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET strata.batch_rows = 100;
SET strata.index_pages = 0;
SET max_parallel_workers_per_gather = 0;
SET enable_nestloop = off;
SET enable_mergejoin = off;
CREATE DOMAIN ij_id AS bigint;
CREATE TYPE ij_state AS ENUM ('new', 'open', 'done');
CREATE TABLE ijh (ts timestamptz NOT NULL, dev int, u uuid, b bigint, i int, s text, c text COLLATE "C", v varchar(20), p char(8), f float8, n numeric, d date, x ij_id, e ij_state, a int[], y bytea) USING heap;
CREATE FUNCTION ij_rows(first int, last int, step int) RETURNS SETOF ijh LANGUAGE sql AS $$
	SELECT timestamptz '2026-01-01' + g * interval '10 s', g % 4, CASE WHEN g % 50 <> 7 THEN md5((g % 5000)::text)::uuid END, g * 7919 % 10007, nullif(g * 7919 % 10007, 5), 's' || g * 7919 % 3001,
		'c' || g * 7919 % 3001, 'v' || g * 7919 % 3001, 'p' || g * 7919 % 3001, CASE g % 5000 WHEN 0 THEN 'NaN'::float8 WHEN 1 THEN '-0' WHEN 2 THEN 0 ELSE g * 7919 % 3001 END, (g * 7919 % 3001)::numeric / 4, date '2000-01-01' + g * 7919 % 3001,
		g * 7919 % 10007, (ARRAY['new', 'open', 'done'])[1 + g / 3000 % 3]::ij_state, ARRAY[g * 7919 % 3001, g % 2], decode(md5((g % 5000)::text), 'hex')
	FROM generate_series(first, last, step) AS g $$;
CREATE TABLE ij (LIKE ijh) PARTITION BY RANGE (ts) WITH (strata.chunk_interval = '12 hours', strata.segmentby = 'dev', strata.orderby = 'ts');
DO $$ DECLARE c text; BEGIN FOREACH c IN ARRAY ARRAY['u', 'b', 'i', 's', 'c', 'v', 'p', 'f', 'n', 'd', 'x', 'e', 'a', 'y'] LOOP EXECUTE format('CREATE INDEX ON ij (%I)', c); END LOOP; END $$;
INSERT INTO ij SELECT * FROM ij_rows(1, 12000, 1);
SELECT count(compress_chunk(c)) FROM show_chunks('ij') AS c;
-- batches that no index speaks for, rows that have left their batches, others beside these
ALTER TABLE ij SET (strata.direct_load = on);
INSERT INTO ij SELECT * FROM ij_rows(12001, 15000, 3);
ALTER TABLE ij RESET (strata.direct_load);
INSERT INTO ij SELECT * FROM ij_rows(100, 12000, 37);
DELETE FROM ij WHERE b % 101 = 5;
UPDATE ij SET b = b + 1, u = md5(b::text)::uuid, s = 's1' WHERE b % 103 = 6;
INSERT INTO ijh SELECT * FROM ij;
-- values that are there, that are not, twice, and none
CREATE TABLE ijd AS SELECT g AS id, md5(g::text)::uuid AS u, g * 31 AS b4, g::bigint * 31 AS b8, (g * 31)::numeric AS bn, g::smallint AS b2, 's' || g * 17 AS s, 'c' || g * 17 AS c, 'v' || g * 17 AS v, ('p' || g * 17)::char(8) AS p,
		CASE g WHEN 0 THEN 'NaN'::float8 WHEN 1 THEN 0 ELSE g * 17 END AS f, CASE g WHEN 0 THEN 'NaN'::float4 WHEN 1 THEN '-0' ELSE g * 17 END AS f4, g * 17 / 4.0000 AS n, date '2000-01-01' + g * 17 AS d, timestamp '2000-01-01' + g * interval '17 days' AS day,
		(ARRAY['new', 'open'])[1 + g % 2]::ij_state AS e, ARRAY[g * 17, g % 2] AS a, decode(md5(g::text), 'hex') AS y, g % 5 AS site FROM generate_series(0, 199) AS g;
INSERT INTO ijd (id, site) VALUES (900, 1), (901, 1);
INSERT INTO ijd SELECT * FROM ijd WHERE id IN (11, 12);
INSERT INTO ijd (id, u, b4, b8, s, site) SELECT 1000 + g, md5('none' || g)::uuid, -g, -g, 'none' || g, 7 FROM generate_series(1, 30) AS g;
ANALYZE ij, ijh, ijd;
CREATE FUNCTION ij_check(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	of_heap text;
	off text;
	on_ text;
	how CONSTANT text := 'SELECT count(*) || '' '' || coalesce(md5(string_agg(x::text, '','' ORDER BY x::text COLLATE "C")), '''') FROM (%s) AS x';
BEGIN
	EXECUTE format(how, replace(query, 'TABLE_', 'ijh')) INTO of_heap;
	EXECUTE format(how, replace(query, 'TABLE_', 'ij')) INTO on_;
	PERFORM set_config('strata.enable_batch_index', 'off', true);
	EXECUTE format(how, replace(query, 'TABLE_', 'ij')) INTO off;
	PERFORM set_config('strata.enable_batch_index', 'on', true);
	RETURN CASE WHEN of_heap = on_ AND of_heap = off THEN 'same' ELSE of_heap || ', off ' || off || ', on ' || on_ END || CASE WHEN of_heap LIKE '0 %' THEN ', no rows' ELSE '' END;
END $$;
CREATE TABLE ij_queries (query text);
INSERT INTO ij_queries VALUES
	('SELECT f.*, d.id FROM TABLE_ f JOIN ijd d USING (u) WHERE site = 1'),
	('SELECT f.* FROM TABLE_ f JOIN ijd d ON f.b = d.b8 WHERE site = 1'),
	('SELECT f.* FROM TABLE_ f JOIN ijd d ON f.b = d.b4 WHERE site = 1'),
	('SELECT f.* FROM TABLE_ f JOIN ijd d ON f.b = d.b2 WHERE site = 1'),
	('SELECT f.* FROM TABLE_ f JOIN ijd d ON f.b = d.bn WHERE site = 1'),
	('SELECT f.* FROM TABLE_ f JOIN ijd d ON f.i = d.b8 WHERE site = 1'),
	('SELECT f.* FROM TABLE_ f JOIN ijd d ON f.i = d.b4 WHERE site = 1'),
	('SELECT f.* FROM TABLE_ f JOIN ijd d ON f.x = d.b4 WHERE site = 1'),
	('SELECT f.* FROM TABLE_ f JOIN ijd d USING (s) WHERE site = 1'),
	('SELECT f.* FROM TABLE_ f JOIN ijd d ON f.c = d.c COLLATE "C" WHERE site = 1'),
	('SELECT f.* FROM TABLE_ f JOIN ijd d ON f.s = d.s COLLATE "C" WHERE site = 1'),
	('SELECT f.* FROM TABLE_ f JOIN ijd d USING (v) WHERE site = 1'),
	('SELECT f.* FROM TABLE_ f JOIN ijd d USING (p) WHERE site = 1'),
	('SELECT f.* FROM TABLE_ f JOIN ijd d ON f.p = d.s WHERE site = 1'),
	('SELECT f.* FROM TABLE_ f JOIN ijd d USING (f) WHERE site = 1 OR id < 2'),
	('SELECT f.* FROM TABLE_ f JOIN ijd d ON f.f = d.f4 WHERE site = 1 OR id < 2'),
	('SELECT f.* FROM TABLE_ f JOIN ijd d USING (n) WHERE site = 1'),
	('SELECT f.* FROM TABLE_ f JOIN ijd d USING (d) WHERE site = 1'),
	('SELECT f.* FROM TABLE_ f JOIN ijd d ON f.d = d.day WHERE site = 1'),
	('SELECT f.* FROM TABLE_ f JOIN ijd d USING (e) WHERE id < 2 AND f.b < 300'),
	('SELECT f.* FROM TABLE_ f JOIN ijd d USING (a) WHERE site = 1'),
	('SELECT f.* FROM TABLE_ f JOIN ijd d USING (y) WHERE site = 1'),
	('SELECT f.* FROM TABLE_ f JOIN ijd d USING (u) JOIN ijd z ON z.s = f.s OR z.b8 = f.b WHERE d.site < 3 AND z.site < 4'),
	('SELECT f.* FROM TABLE_ f WHERE u IN (SELECT u FROM ijd WHERE site = 2)'),
	('SELECT f.* FROM TABLE_ f WHERE u IN (SELECT u FROM ijd WHERE site = 7)'),
	('SELECT f.* FROM TABLE_ f WHERE u IN (SELECT u FROM ijd WHERE site = 8)'),
	('SELECT f.* FROM TABLE_ f WHERE EXISTS (SELECT 1 FROM ijd WHERE ijd.u = f.u AND site = 2)'),
	('SELECT f.* FROM TABLE_ f WHERE NOT EXISTS (SELECT 1 FROM ijd WHERE ijd.u = f.u AND site = 2) AND b < 500'),
	('SELECT f.* FROM TABLE_ f WHERE b < 500 AND i NOT IN (SELECT b4 FROM ijd WHERE site = 2)'),
	('SELECT f.*, d.id FROM TABLE_ f LEFT JOIN ijd d ON d.u = f.u AND site = 2 WHERE f.b < 500'),
	('SELECT f.*, d.id FROM TABLE_ f RIGHT JOIN ijd d ON d.u = f.u AND f.b > 500 WHERE site IN (2, 7)'),
	('SELECT f.*, d.id FROM TABLE_ f FULL JOIN ijd d ON d.u = f.u'),
	('SELECT f.*, d.id FROM TABLE_ f JOIN ijd d USING (u) WHERE site = 1 AND f.ts > ''2026-01-01 13:54'' AND f.ts < ''2026-01-01 14:10'''),
	('SELECT f.*, d.id FROM TABLE_ f JOIN ijd d USING (u) WHERE site = 1 AND f.dev = 2'),
	('SELECT f.*, d.id FROM TABLE_ f JOIN ijd d USING (u) WHERE site = 1 AND f.s BETWEEN ''s1'' AND ''s5'''),
	('SELECT f.*, d.id, z.id FROM TABLE_ f JOIN ijd d USING (u) JOIN ijd z ON z.b4 = f.i WHERE d.site < 3 AND z.site < 5'),
	('SELECT d.site, count(*), sum(f.b), min(f.s) FROM TABLE_ f JOIN ijd d USING (u) WHERE d.site < 3 GROUP BY 1'),
	('SELECT x.*, d.id FROM (SELECT u, count(*), max(b) FROM TABLE_ GROUP BY u) x JOIN ijd d USING (u) WHERE site = 3'),
	('SELECT x.u, d.id FROM (SELECT u FROM TABLE_ ORDER BY ts, b, i, s LIMIT 500) x JOIN ijd d USING (u) WHERE site = 3'),
	('SELECT o.g, (SELECT count(*) FROM TABLE_ f JOIN ijd d USING (u) WHERE d.site = 1 AND f.b > o.g) FROM generate_series(0, 9000, 3000) AS o (g)'),
	('SELECT o.g, (SELECT count(*) FROM TABLE_ f JOIN ijd d USING (u) WHERE d.site = o.g) FROM generate_series(0, 4) AS o (g)'),
	('SELECT a.b, z.b FROM TABLE_ a JOIN TABLE_ z USING (u) WHERE a.b < 100');
SELECT query, ij_check(query) FROM ij_queries;
-- many values, more than are looked up
INSERT INTO ijd (id, u, b8, site) SELECT g, md5(g::text)::uuid, g, 20 FROM generate_series(0, 40000) AS g;
SELECT ij_check('SELECT f.* FROM TABLE_ f JOIN ijd d USING (u) WHERE site = 20');
SELECT ij_check('SELECT f.* FROM TABLE_ f JOIN ijd d ON f.b = d.b8 WHERE site = 20');
-- a prepared statement, whose plan outlives an index
SET plan_cache_mode = force_generic_plan;
PREPARE ij_p (int) AS SELECT count(*), sum(f.b) FROM ij f JOIN ijd d USING (u) WHERE site = $1;
PREPARE ij_ph (int) AS SELECT count(*), sum(f.b) FROM ijh f JOIN ijd d USING (u) WHERE site = $1;
EXECUTE ij_p (1);
EXECUTE ij_ph (1);
DROP INDEX ij_u_idx;
EXECUTE ij_p (1);
CREATE INDEX ON ij USING hash (u);
EXECUTE ij_p (4);
EXECUTE ij_ph (4);
DEALLOCATE ij_p;
DEALLOCATE ij_ph;
RESET plan_cache_mode;
-- a cursor to and fro, whose snapshot is older than changes
BEGIN;
DECLARE ij_c SCROLL CURSOR FOR SELECT f.b FROM ij f JOIN ijd d USING (u) WHERE site = 1;
MOVE 2 FROM ij_c;
DELETE FROM ij WHERE u IN (SELECT u FROM ijd WHERE site = 1);
MOVE FORWARD ALL FROM ij_c;
MOVE BACKWARD ALL FROM ij_c;
SELECT count(*) FROM ij f JOIN ijd d USING (u) WHERE site = 1;
ROLLBACK;
-- changes and locks of rows that are joined
BEGIN;
SELECT count(*) FROM (SELECT f.ts FROM ij f JOIN ijd d USING (u) WHERE site = 4 FOR UPDATE OF f) x;
WITH a AS (UPDATE ij f SET f = 2 FROM ijd d WHERE d.u = f.u AND site = 4 RETURNING f.b), z AS (UPDATE ijh f SET f = 2 FROM ijd d WHERE d.u = f.u AND site = 4 RETURNING f.b)
SELECT (SELECT count(*) FROM a) = (SELECT count(*) FROM z) AS same, (SELECT count(*) > 0 FROM a) AS some;
WITH a AS (DELETE FROM ij f USING ijd d WHERE d.u = f.u AND site = 3 RETURNING f.b), z AS (DELETE FROM ijh f USING ijd d WHERE d.u = f.u AND site = 3 RETURNING f.b)
SELECT (SELECT count(*) FROM a) = (SELECT count(*) FROM z) AS same, (SELECT count(*) > 0 FROM a) AS some;
SELECT ij_check('SELECT * FROM TABLE_');
ROLLBACK;
-- workers
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT query, ij_check(query) FROM ij_queries WHERE query ~ 'site = [127]';
SET enable_parallel_hash = off;
SELECT ij_check('SELECT f.*, d.id FROM TABLE_ f JOIN ijd d USING (u) WHERE site = 1');
DROP TABLE ij, ijh, ijd, ij_queries CASCADE;
DROP TYPE ij_state;
DROP DOMAIN ij_id;
DROP FUNCTION ij_check;
