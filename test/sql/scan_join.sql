-- Scans below a hash join leave out what its small side has no value for: the same rows come out as from heap, with the switch on and off.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET strata.batch_rows = 50;
SET max_parallel_workers_per_gather = 0;
SET enable_nestloop = off;
SET enable_mergejoin = off;
CREATE DOMAIN sj_id AS int;
CREATE TABLE sjh (ts timestamptz NOT NULL, k int, s text, b bigint, f float8, n numeric, u uuid, d sj_id, day date) USING heap;
INSERT INTO sjh SELECT timestamptz '2020-01-01Z' + g * interval '20 seconds', nullif(g % 41, 7), nullif('s' || g % 41, 's9'), g * 37 % 1009,
		CASE g % 50 WHEN 0 THEN 'NaN'::float8 WHEN 1 THEN '-0' WHEN 2 THEN 'infinity' ELSE g % 50 END, g % 11 + 0.50, md5((g % 97)::text)::uuid, g % 13, date '2020-01-01' + g / 500
	FROM generate_series(0, 8639) AS g;
CREATE TABLE sj (LIKE sjh);
SELECT count(*) FROM create_hypertable('sj', 'ts', chunk_time_interval => interval '12 hours');
ALTER TABLE sj SET (strata.segmentby = 'k', strata.orderby = 'ts DESC');
INSERT INTO sj SELECT * FROM sjh;
SELECT count(compress_chunk(c)) FROM show_chunks('sj') AS c;
-- the other half, and rows that have left their batches
INSERT INTO sj SELECT ts + interval '1 second', k, s, b + 1, f, n, u, d, day FROM sj WHERE b % 17 = 3;
DELETE FROM sj WHERE b % 101 = 5;
UPDATE sj SET f = 1.5 WHERE b % 103 = 6;
TRUNCATE sjh;
INSERT INTO sjh SELECT * FROM sj;
CREATE TABLE sjd (id int, id8 bigint, id2 smallint, name text COLLATE "C", s text, v varchar(20), f float8, n numeric, u uuid, b bigint, site text, day timestamp, "at" timestamptz);
INSERT INTO sjd SELECT g, g, g, 'dev ' || g, 's' || g, 's' || g, CASE g WHEN 1 THEN 'NaN'::float8 WHEN 2 THEN 0 ELSE g END, g + 0.5000, md5(g::text)::uuid, g * 37, 'site ' || g % 5,
		date '2020-01-01' + g % 20, timestamptz '2020-01-01Z' + g * interval '20 seconds' FROM generate_series(0, 39) AS g;
INSERT INTO sjd (name, site) VALUES ('no values', 'site 1'), ('twice', 'site 1');
INSERT INTO sjd SELECT * FROM sjd WHERE id IN (11, 12);
ANALYZE sj, sjh, sjd;
-- The rows of a query of sj (as %s) as one number, of heap, and with the switch off and on; "same" when they are.
CREATE FUNCTION sj_check(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	of_heap text;
	off text;
	on_ text;
	how CONSTANT text := 'SELECT count(*) || '' '' || coalesce(md5(string_agg(x::text, '','' ORDER BY x::text COLLATE "C")), '''') FROM (%s) AS x';
BEGIN
	SET strata.enable_join_pruning = on;
	EXECUTE format(how, format(query, 'sjh', 'sjh')) INTO of_heap;
	EXECUTE format(how, format(query, 'sj', 'sj')) INTO on_;
	SET strata.enable_join_pruning = off;
	EXECUTE format(how, format(query, 'sj', 'sj')) INTO off;
	RESET strata.enable_join_pruning;
	RETURN CASE WHEN of_heap = on_ AND of_heap = off THEN 'same' ELSE of_heap || ', off ' || off || ', on ' || on_ END || CASE WHEN of_heap LIKE '0 %' THEN ', no rows' ELSE '' END;
END $$;
SELECT query, sj_check(query) FROM unnest(ARRAY[
	'SELECT f.*, name FROM %s f JOIN sjd ON sjd.id = k WHERE site = ''site 1''',
	'SELECT f.*, name FROM %s f JOIN sjd ON sjd.id8 = k WHERE site = ''site 1''',
	'SELECT f.*, name FROM %s f JOIN sjd ON sjd.id2 = k WHERE site = ''site 1''',
	'SELECT f.* FROM %s f WHERE k IN (SELECT id FROM sjd WHERE site = ''site 2'')',
	'SELECT f.* FROM %s f WHERE k IN (SELECT id FROM sjd WHERE site = ''nowhere'')',
	'SELECT f.* FROM %s f WHERE EXISTS (SELECT 1 FROM sjd WHERE id = k AND site = ''site 2'')',
	'SELECT f.* FROM %s f WHERE NOT EXISTS (SELECT 1 FROM sjd WHERE id = k AND site = ''site 2'')',
	'SELECT f.* FROM %s f WHERE k NOT IN (SELECT id FROM sjd WHERE id IS NOT NULL AND site <> ''site 2'')',
	'SELECT f.*, name FROM %s f LEFT JOIN sjd ON sjd.id = k AND site = ''site 1''',
	'SELECT f.*, name FROM %s f RIGHT JOIN sjd ON sjd.id = k AND f.b %% 7 = 1',
	'SELECT f.*, name FROM %s f FULL JOIN sjd ON sjd.id = k',
	'SELECT f.*, sjd.v FROM %s f JOIN sjd USING (s) WHERE site = ''site 1''',
	'SELECT f.*, sjd.v FROM %s f JOIN sjd ON sjd.v = f.s WHERE site = ''site 1''',
	'SELECT f.* FROM %s f JOIN sjd ON sjd.s = f.s COLLATE "C" WHERE site = ''site 1''',
	'SELECT f.* FROM %s f JOIN sjd USING (u) WHERE site = ''site 1''',
	'SELECT f.* FROM %s f JOIN sjd USING (f) WHERE site = ''site 1'' OR sjd.id = 2',
	'SELECT f.* FROM %s f JOIN sjd USING (n) WHERE site = ''site 1''',
	'SELECT f.* FROM %s f JOIN sjd USING (b) WHERE site = ''site 1''',
	'SELECT f.* FROM %s f JOIN sjd ON f.b = sjd.id WHERE site = ''site 1''',
	'SELECT f.* FROM %s f JOIN sjd ON f.d = sjd.id WHERE site = ''site 1''',
	'SELECT f.* FROM %s f JOIN sjd ON f.day = sjd.day WHERE site = ''site 1''',
	'SELECT f.* FROM %s f JOIN sjd ON f.ts = sjd.at WHERE site = ''site 1''',
	'SELECT f.* FROM %s f JOIN sjd ON f.k = sjd.id AND f.s = sjd.s AND f.b > sjd.b WHERE site = ''site 1''',
	'SELECT f.* FROM %s f JOIN sjd ON f.k = sjd.id + 1 WHERE site = ''site 1''',
	'SELECT f.* FROM %s f JOIN sjd ON f.k + 1 = sjd.id WHERE site = ''site 1''']) AS query;
-- several joins, subqueries, aggregates, sets
SELECT query, sj_check(query) FROM unnest(ARRAY[
	'SELECT f.*, a.name, z.name FROM %s f JOIN sjd a ON a.id = f.k JOIN sjd z ON z.u = f.u WHERE a.site = ''site 1'' AND z.site = ''site 3''',
	'SELECT f.*, a.name, z.name FROM %s f LEFT JOIN sjd a ON a.id = f.k JOIN sjd z ON z.u = f.u WHERE z.site = ''site 3''',
	'SELECT f.*, z.name FROM %s f LEFT JOIN sjd a ON a.id = f.k JOIN sjd z ON z.id = a.id WHERE z.site = ''site 3''',
	'SELECT site, count(*), sum(f.b), max(f.day) FROM %s f JOIN sjd d ON id = k WHERE site < ''site 3'' GROUP BY 1',
	'SELECT site, count(*) FROM %s f JOIN sjd d ON d.b = f.b WHERE site < ''site 3'' GROUP BY 1',
	'SELECT x.k, c, name FROM (SELECT k, count(*) AS c FROM %s f GROUP BY k) x JOIN sjd ON id = k WHERE site = ''site 3''',
	'SELECT x.k, c, name FROM (SELECT k, s, count(*) OVER (PARTITION BY s) AS c FROM %s f) x JOIN sjd ON id = k WHERE site = ''site 3''',
	'SELECT x.k, name FROM (SELECT k FROM %s f ORDER BY ts, k, b LIMIT 100) x JOIN sjd ON id = k WHERE site = ''site 3''',
	'SELECT x.k, name FROM (SELECT k, ts FROM %s f UNION ALL SELECT k, ts FROM %s) x JOIN sjd ON id = k WHERE site = ''site 3''',
	'SELECT x.k, name FROM (SELECT DISTINCT ON (k) k, ts, b FROM %s f ORDER BY k, ts DESC, b) x JOIN sjd ON id = k WHERE site = ''site 3''',
	'SELECT a.k, z.b FROM %s a JOIN %s z USING (k, b) JOIN sjd ON sjd.id = a.k WHERE site = ''site 3''',
	'SELECT a.k, z.b FROM %s a JOIN %s z USING (k, b) WHERE a.b < 300 AND z.f < 10',
	'WITH d AS MATERIALIZED (SELECT id FROM sjd WHERE site = ''site 3'') SELECT f.* FROM %s f JOIN d ON id = k',
	'WITH x AS MATERIALIZED (SELECT k, b FROM %s) SELECT x.* FROM x JOIN sjd ON id = k WHERE site = ''site 3'' UNION ALL SELECT x.* FROM x JOIN sjd ON id = k WHERE site = ''site 4''',
	'SELECT f.* FROM %s f JOIN sjd ON id = k WHERE site = (SELECT max(site) FROM sjd)',
	'SELECT f.* FROM %s f WHERE k = ANY (ARRAY(SELECT id FROM sjd WHERE site = ''site 3''))']) AS query;
-- the small side changes from row to row of what is above: the values may not be kept
SELECT query, sj_check(query) FROM unnest(ARRAY[
	'SELECT o.site, x.n FROM (SELECT DISTINCT site FROM sjd) o, LATERAL (SELECT count(*) AS n FROM %s f JOIN sjd ON id = k WHERE sjd.site = o.site) x',
	'SELECT o.site, (SELECT count(*) FROM %s f JOIN sjd ON id = k WHERE sjd.site = o.site) FROM (SELECT DISTINCT site FROM sjd) o',
	'SELECT o.site, (SELECT count(*) FROM (SELECT k, b FROM %s f ORDER BY b LIMIT 100000) f JOIN sjd ON id = k WHERE sjd.site = o.site) FROM (SELECT DISTINCT site FROM sjd) o',
	'SELECT o.site, (SELECT count(*) FROM %s f JOIN %s g USING (k, b) JOIN sjd ON id = k WHERE sjd.site = o.site) FROM (SELECT DISTINCT site FROM sjd) o',
	'WITH RECURSIVE r (k, n) AS (SELECT 1, 0 UNION ALL SELECT x.k, r.n + 1 FROM r, LATERAL (SELECT min(f.k) AS k FROM %s f JOIN sjd ON id = f.k WHERE id > r.k) x WHERE r.n < 5) SELECT * FROM r']) AS query;
-- what is made of all rows with a value, or of more than those
SELECT query, sj_check(query) FROM unnest(ARRAY[
	'SELECT x.*, name FROM (SELECT k, s, count(*), min(b), max(ts) FROM %s GROUP BY k, s) x JOIN sjd ON id = k WHERE site = ''site 3''',
	'SELECT x.*, name FROM (SELECT k, s, count(*), sum(b) FROM %s GROUP BY ROLLUP (k, s)) x JOIN sjd ON id = k WHERE site = ''site 3''',
	'SELECT x.*, name FROM (SELECT f, count(*), sum(b) FROM %s GROUP BY f) x JOIN sjd USING (f) WHERE site = ''site 2'' OR sjd.id = 2',
	'SELECT x.* FROM (SELECT n, count(*), sum(b) FROM %s GROUP BY n HAVING count(*) > 3) x JOIN sjd USING (n) WHERE site = ''site 3''',
	'SELECT x.*, name FROM (SELECT k %% 5 AS k, count(*), min(b) FROM %s GROUP BY 1) x JOIN sjd ON id = k WHERE site = ''site 3''',
	'SELECT x.*, name FROM (SELECT DISTINCT k, n FROM %s) x JOIN sjd ON id = k WHERE site = ''site 3''',
	'SELECT x.*, name FROM (SELECT DISTINCT ON (s) s, k, ts, b FROM %s ORDER BY s, ts DESC, b) x JOIN sjd ON id = k WHERE site = ''site 3''',
	'SELECT x.*, name FROM (SELECT k, s, ts, rank() OVER (PARTITION BY k ORDER BY ts, b) AS r FROM %s) x JOIN sjd ON id = k WHERE site = ''site 3'' AND r < 20',
	'SELECT x.*, name FROM (SELECT k, max(c) AS c FROM (SELECT k, s, count(*) AS c FROM %s GROUP BY k, s) y GROUP BY k) x JOIN sjd ON id = k WHERE site = ''site 3''',
	'SELECT x.*, name FROM (SELECT k, count(*) AS c FROM %s GROUP BY k ORDER BY c DESC, k LIMIT 7) x JOIN sjd ON id = k WHERE site = ''site 3''']) AS query;
-- rows looked up one by one: some row is enough, or none may be there
SET enable_nestloop = on;
SET enable_hashjoin = off;
SET enable_hashagg = off;
SET enable_material = off;
SELECT query, sj_check(query) FROM unnest(ARRAY[
	'SELECT * FROM sjd WHERE EXISTS (SELECT 1 FROM %s f WHERE f.k = sjd.id AND f.ts > ''2020-01-02'')',
	'SELECT * FROM sjd WHERE EXISTS (SELECT 1 FROM %s f WHERE f.k = sjd.id AND f.b > 990 AND f.f < 30)',
	'SELECT * FROM sjd WHERE NOT EXISTS (SELECT 1 FROM %s f WHERE f.k = sjd.id AND f.b > 990 AND f.f < 30)',
	'SELECT * FROM sjd WHERE EXISTS (SELECT 1 FROM %s f WHERE f.s = sjd.s AND f.k = sjd.id AND f.n > 9) OR site = ''site 1''',
	'SELECT * FROM sjd, LATERAL (SELECT max(b), count(*) FROM %s f WHERE f.k = sjd.id AND f.f < 3) x',
	'SELECT * FROM sjd LEFT JOIN %s f ON f.k = sjd.id AND f.b > 990 AND f.f < 30']) AS query;
CREATE FUNCTION sj_scroll(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
	there int;
	back int;
	again int;
BEGIN
	OPEN c SCROLL FOR EXECUTE query;
	MOVE FORWARD ALL FROM c;
	GET DIAGNOSTICS there = ROW_COUNT;
	MOVE BACKWARD ALL FROM c;
	GET DIAGNOSTICS back = ROW_COUNT;
	MOVE FORWARD 2 FROM c;
	MOVE BACKWARD 1 FROM c;
	MOVE FORWARD ALL FROM c;
	GET DIAGNOSTICS again = ROW_COUNT;
	CLOSE c;
	RETURN there || ' ' || back || ' ' || again;
END $$;
SELECT query, sj_scroll(format(query, 'sj')) = sj_scroll(format(query, 'sjh')) AS same, sj_scroll(format(query, 'sj')) FROM unnest(ARRAY[
	'SELECT sjd.id, f.b FROM sjd JOIN %s f ON f.k = sjd.id AND f.b > 1000 AND f.f < 30',
	'SELECT b FROM %s WHERE k = (SELECT 3) AND b > 980 AND f < 30']) AS query;
SET enable_nestloop = off;
RESET enable_hashjoin;
RESET enable_hashagg;
RESET enable_material;
-- a table in pieces, and one too large to be looked at
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
CREATE TABLE sjw AS SELECT g AS id, repeat('x', 200) AS pad FROM generate_series(0, 2999, 3) AS g;
CREATE TABLE sjl AS SELECT g AS id FROM generate_series(0, 60000) AS g;
ANALYZE sjw, sjl;
SELECT sj_check('SELECT f.*, pad FROM %s f JOIN sjw ON id = k');
RESET work_mem;
RESET hash_mem_multiplier;
SELECT sj_check('SELECT f.*, pad FROM %s f JOIN sjw ON id = k');
SELECT sj_check('SELECT f.* FROM %s f JOIN sjl ON id = b WHERE k < 20');
-- more rows than values are listed of: where they are
CREATE TABLE sjm AS SELECT CASE WHEN g % 1000 > 1 THEN g % 5 * 3 - 1 END AS id, (CASE WHEN g % 4 = 0 THEN 40 ELSE g % 9 END)::bigint AS id8, (g % 6 * 6)::smallint AS id2, 's' || g % 9 AS s, ('s' || g % 9) COLLATE "C" AS sc,
		CASE g % 4 WHEN 0 THEN '-0' ELSE '-infinity' END::float8 AS f, g % 5 + 0.5000 AS n, md5((g % 3)::text)::uuid AS u, -(g % 50)::bigint * 1000000007 + 900 AS b, CASE WHEN g % 5 = 0 THEN date 'infinity' ELSE date '2020-01-05' END AS day,
		CASE WHEN g % 7 = 0 THEN timestamptz '-infinity' ELSE timestamptz '2020-01-01Z' + g % 100 * interval '20 seconds' END AS "at", NULL::int AS nothing, g AS no
	FROM generate_series(1, 50001) AS g;
ANALYZE sjm;
SET work_mem = '64MB';
SELECT query, sj_check('SELECT f.* FROM (SELECT * FROM %s UNION ALL SELECT * FROM %s) AS f ' || query) FROM unnest(ARRAY['JOIN sjm ON id = k AND no < 50000 AND sjm.b = f.b', 'WHERE k IN (SELECT id FROM sjm)', 'WHERE k IN (SELECT id8 FROM sjm)', 'WHERE k IN (SELECT id2 FROM sjm OFFSET 0)', 'WHERE d IN (SELECT id2 FROM sjm OFFSET 0)',
	'WHERE EXISTS (SELECT 1 FROM sjm WHERE sjm.id = f.k AND sjm.no <> f.b)', 'WHERE EXISTS (SELECT 1 FROM sjm WHERE sjm.id8 = f.k AND sjm.no <> f.b)', 'WHERE EXISTS (SELECT 1 FROM sjm WHERE sjm.id2 = f.k AND sjm.no <> f.b)',
	'WHERE EXISTS (SELECT 1 FROM sjm WHERE sjm.s = f.s AND sjm.no <> f.b)', 'WHERE EXISTS (SELECT 1 FROM sjm WHERE sjm.sc = f.s COLLATE "C" AND sjm.no <> f.b)', 'WHERE EXISTS (SELECT 1 FROM sjm WHERE sjm.f = f.f AND sjm.no <> f.b)',
	'WHERE EXISTS (SELECT 1 FROM sjm WHERE sjm.n = f.n AND sjm.no <> f.b)', 'WHERE EXISTS (SELECT 1 FROM sjm WHERE sjm.u = f.u AND sjm.no <> f.b)', 'WHERE EXISTS (SELECT 1 FROM sjm WHERE sjm.b = f.b AND sjm.no <> f.b)',
	'WHERE EXISTS (SELECT 1 FROM sjm WHERE sjm.day = f.day AND sjm.no <> f.b)', 'WHERE EXISTS (SELECT 1 FROM sjm WHERE sjm.at = f.ts AND sjm.no <> f.b)',
	'WHERE EXISTS (SELECT 1 FROM sjm WHERE nothing = f.k AND sjm.no <> f.b)', 'WHERE EXISTS (SELECT 1 FROM sjm WHERE sjm.id = f.d AND sjm.at = f.ts AND sjm.no <> f.b)']) AS query;
RESET work_mem;
-- NOT IN in conditions: nulls on either side, several columns, none, parameters, other types
SELECT query, sj_check('SELECT f.* FROM %s f ' || query) FROM unnest(ARRAY['WHERE k NOT IN (SELECT id FROM sjd WHERE site = ''site 1'' AND id IS NOT NULL)', 'WHERE k NOT IN (SELECT id FROM sjd WHERE site = ''site 1'')', 'WHERE (k IN (SELECT id FROM sjd WHERE site = ''site 1'')) IS NULL',
	'WHERE (k, s) NOT IN (SELECT id, s FROM sjd WHERE id <> 3)', 'WHERE (k, s) NOT IN (SELECT id, s FROM sjd WHERE site = ''site 1'')', 'WHERE ((k, s) IN (SELECT id, s FROM sjd)) IS NULL', 'WHERE k NOT IN (SELECT id FROM sjd WHERE site = ''nowhere'')',
	'WHERE b NOT IN (SELECT id FROM sjd WHERE id > 2) AND f NOT IN (SELECT f FROM sjd WHERE f > 3)', 'WHERE k IN (SELECT id8 FROM sjd) OR n IN (SELECT n FROM sjd WHERE id < 4) OR u NOT IN (SELECT u FROM sjd WHERE u IS NOT NULL)',
	'WHERE b < 40 AND k NOT IN (SELECT id FROM sjd WHERE id > f.k - 3 AND id IS NOT NULL)', 'JOIN LATERAL (SELECT g.b FROM %1$s g WHERE g.b < 4 AND g.k NOT IN (SELECT id + f.d FROM sjd WHERE id IS NOT NULL)) l ON f.b = 4']) AS query;
-- what is evaluated for each row is evaluated for each row
CREATE SEQUENCE sj_seq;
CREATE FUNCTION sj_calls(query text, switch text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('strata.enable_join_pruning', switch, true);
	ALTER SEQUENCE sj_seq RESTART;
	EXECUTE query;
	RETURN nextval('sj_seq') - 1;
END $$;
SELECT query, sj_calls(query, 'on') = sj_calls(query, 'off') AS same FROM unnest(ARRAY[
	'SELECT f.* FROM sj f JOIN sjd ON id = k WHERE nextval(''sj_seq'') > 0 AND site = ''site 1''',
	'SELECT f.* FROM (SELECT k, nextval(''sj_seq'') FROM sj) f JOIN sjd ON id = k WHERE site = ''site 1''',
	'SELECT f.* FROM sj f LEFT JOIN sjd a ON a.u = f.u AND nextval(''sj_seq'') > 0 JOIN sjd ON sjd.id = k WHERE sjd.site = ''site 1''']) AS query;
-- prepared statements, with plans for any parameter
SET plan_cache_mode = force_generic_plan;
PREPARE sj_p (text) AS SELECT count(*), sum(f.b) FROM sj f JOIN sjd ON id = k WHERE site = $1;
PREPARE sj_ph (text) AS SELECT count(*), sum(f.b) FROM sjh f JOIN sjd ON id = k WHERE site = $1;
EXECUTE sj_p ('site 1');
EXECUTE sj_ph ('site 1');
EXECUTE sj_p ('site 4');
EXECUTE sj_ph ('site 4');
EXECUTE sj_p (NULL);
DEALLOCATE sj_p;
DEALLOCATE sj_ph;
RESET plan_cache_mode;
-- cursors that are left and gone on with, and ends of them
BEGIN;
DECLARE sj_c CURSOR FOR SELECT f.k, count(*) OVER () FROM sj f JOIN sjd ON id = k WHERE site = 'site 1';
FETCH 2 FROM sj_c;
UPDATE sjd SET site = 'site 9' WHERE id = 1;
MOVE FORWARD ALL FROM sj_c;
ROLLBACK;
-- changes and locks of rows that are joined
BEGIN;
SELECT count(*) FROM (SELECT f.ts FROM sj f JOIN sjd ON id = k WHERE site = 'site 4' AND f.b < 100 FOR UPDATE OF f) x;
WITH a AS (UPDATE sj f SET f = 2 FROM sjd WHERE id = k AND site = 'site 4' AND f.b < 100 RETURNING f.b), z AS (UPDATE sjh f SET f = 2 FROM sjd WHERE id = k AND site = 'site 4' AND f.b < 100 RETURNING f.b)
SELECT (SELECT count(*) FROM a) = (SELECT count(*) FROM z) AS same, (SELECT count(*) > 0 FROM a) AS some;
WITH a AS (DELETE FROM sj f USING sjd WHERE id = k AND site = 'site 3' RETURNING f.b), z AS (DELETE FROM sjh f USING sjd WHERE id = k AND site = 'site 3' RETURNING f.b)
SELECT (SELECT count(*) FROM a) = (SELECT count(*) FROM z) AS same, (SELECT count(*) > 0 FROM a) AS some;
SELECT sj_check('SELECT * FROM %s');
ROLLBACK;
-- the other forms that a table's segments take: several columns, none, settings changed since
ALTER TABLE sj SET (strata.segmentby = 's, k', strata.orderby = 'ts');
SELECT count(compress_chunk(c, recompress => true)) FROM show_chunks('sj') AS c LIMIT 1;
INSERT INTO sj SELECT ts + interval '2 seconds', k, s, b, f, n, u, d, day FROM sj WHERE b % 19 = 3;
TRUNCATE sjh;
INSERT INTO sjh SELECT * FROM sj;
SELECT query, sj_check(query) FROM unnest(ARRAY[
	'SELECT f.*, name FROM %s f JOIN sjd ON sjd.id = k WHERE site = ''site 1''',
	'SELECT f.*, name FROM %s f JOIN sjd USING (s) WHERE site = ''site 1''',
	'SELECT f.*, name FROM %s f JOIN sjd ON sjd.id = k AND sjd.s = f.s WHERE f.s IN (''s1'', ''s11'', ''s13'')']) AS query;
-- workers
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT query, sj_check(query) FROM unnest(ARRAY[
	'SELECT f.*, name FROM %s f JOIN sjd ON sjd.id = k WHERE site = ''site 1''',
	'SELECT f.* FROM %s f WHERE k IN (SELECT id FROM sjd WHERE site = ''site 2'')',
	'SELECT site, count(*) FROM %s f JOIN sjd ON id = k WHERE site < ''site 3'' GROUP BY 1',
	'SELECT f.* FROM %s f JOIN sjd ON id = k WHERE site = (SELECT max(site) FROM sjd)']) AS query;
SET enable_parallel_hash = off;
SELECT sj_check('SELECT f.*, name FROM %s f JOIN sjd ON sjd.id = k WHERE site = ''site 1''');
DROP TABLE sj, sjh, sjd, sjw, sjl;
DROP DOMAIN sj_id;
DROP SEQUENCE sj_seq;
DROP FUNCTION sj_check, sj_calls, sj_scroll;
