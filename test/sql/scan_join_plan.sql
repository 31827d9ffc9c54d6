-- Which batches a hash join's small side keeps from being read, and below which joins and nodes none are.
SET client_min_messages = error;
SET timezone = 'UTC';
SET strata.enable_join_pruning = on;
SET strata.batch_rows = 100;
SET max_parallel_workers_per_gather = 0;
SET enable_nestloop = off;
SET enable_mergejoin = off;
CREATE TABLE sp (ts timestamptz NOT NULL, k int, s text, b bigint, u uuid);
SELECT count(*) FROM create_hypertable('sp', 'ts', chunk_time_interval => interval '12 hours');
ALTER TABLE sp SET (strata.segmentby = 'k', strata.orderby = 'ts DESC');
INSERT INTO sp SELECT timestamptz '2020-01-01Z' + g * interval '10 seconds', g % 50, 's' || g % 50, g, md5((g / 100)::text)::uuid FROM generate_series(0, 17279) AS g;
SELECT count(compress_chunk(c)) FROM show_chunks('sp') AS c;
INSERT INTO sp SELECT ts + interval '1 second', k, s, b, u FROM sp WHERE b % 97 = 3;
CREATE TABLE spd AS SELECT g AS id, g::bigint AS id8, 's' || g AS s, md5(g::text)::uuid AS u, timestamptz '2020-01-01Z' + g * interval '10 seconds' AS at, g % 10 AS site FROM generate_series(0, 49) AS g;
ANALYZE sp, spd;
-- "n of m batches pruned", of all scans of the plan
CREATE FUNCTION sp_pruned(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	pruned int := 0;
	total int := 0;
	hashes int := 0;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		hashes := hashes + (line ~ 'Hash.* Join')::int;
		CONTINUE WHEN line !~ '^ *Batches: total';
		total := total + substring(line FROM 'total=(\d+)')::int;
		pruned := pruned + coalesce(substring(line FROM 'by join=(\d+)')::int, 0);
	END LOOP;
	RETURN pruned || ' of ' || total || CASE hashes WHEN 0 THEN ', no hash join' ELSE '' END;
END $$;
SELECT query, sp_pruned(query) FROM unnest(ARRAY[
	-- by segment, min and max
	'SELECT * FROM sp JOIN spd ON id = k WHERE site = 3',
	'SELECT * FROM sp JOIN spd ON id8 = k WHERE site = 3',
	'SELECT * FROM sp JOIN spd ON at = ts',
	'SELECT * FROM sp JOIN spd ON id = b WHERE site = 3',
	-- kinds of joins
	'SELECT * FROM sp WHERE k IN (SELECT id FROM spd WHERE site = 3)',
	'SELECT * FROM sp WHERE EXISTS (SELECT 1 FROM spd WHERE id = k AND site = 3)',
	'SELECT * FROM sp RIGHT JOIN spd ON id = k AND ts < ''2020-02-01'' WHERE site = 3',
	'SELECT * FROM sp WHERE NOT EXISTS (SELECT 1 FROM spd WHERE id = k AND site = 3)',
	'SELECT * FROM sp LEFT JOIN spd ON id = k AND site = 3',
	'SELECT * FROM sp FULL JOIN (SELECT * FROM spd WHERE site = 3) d ON id = k',
	-- what stands between
	'SELECT * FROM sp JOIN spd a ON a.id = k JOIN spd z ON z.at = ts WHERE a.site = 3',
	'SELECT a.site, count(*), sum(b) FROM sp JOIN spd a ON a.id = k WHERE a.site < 3 GROUP BY 1',
	'SELECT * FROM (SELECT k, ts FROM sp UNION ALL SELECT k, ts FROM sp WHERE ts > ''2020-01-02'') x JOIN spd ON id = k WHERE site = 3',
	'SELECT * FROM (SELECT k, ts FROM sp ORDER BY b LIMIT 10000) x JOIN spd ON id = k WHERE site = 3',
	'SELECT * FROM (SELECT k, count(*), max(b) FROM sp GROUP BY k) x JOIN spd ON id = k WHERE site = 3',
	'SELECT * FROM (SELECT DISTINCT ON (k) k, ts, b FROM sp ORDER BY k, ts DESC) x JOIN spd ON id = k WHERE site = 3',
	'SELECT * FROM (SELECT k, rank() OVER (PARTITION BY k ORDER BY b) FROM sp) x JOIN spd ON id = k WHERE site = 3',
	'SELECT * FROM (SELECT k, rank() OVER (PARTITION BY s ORDER BY b) FROM sp) x JOIN spd ON id = k WHERE site = 3',
	'SELECT * FROM (SELECT k, count(*) FROM sp GROUP BY ROLLUP (k, s)) x JOIN spd ON id = k WHERE site = 3',
	'SELECT * FROM (SELECT k, random() FROM sp) x JOIN spd ON id = k WHERE site = 3',
	'SELECT * FROM sp JOIN spd ON id = k WHERE site = 3 AND random() >= 0',
	'SELECT * FROM sp JOIN spd ON id = k WHERE site = (SELECT min(site) FROM spd)',
	'SELECT * FROM sp JOIN spd ON id = k WHERE site = 3 AND ts > ''2020-01-02''',
	'SELECT (SELECT count(*) FROM sp JOIN spd ON id = k WHERE site = o.id) FROM spd o WHERE o.id < 2']) AS query;
-- of more rows than values are listed of it is known where values are: of integers and times the places, of others the ends; not where the other side has few rows
CREATE TABLE spm AS SELECT g % 5 * 7 AS id, (g % 5 * 7)::bigint AS id8, timestamptz '2020-01-01Z' + g % 100 * interval '100 seconds' AS at, g % 3 * 5000 AS b, 10 + g % 3 AS w, 's1' || g % 10 AS s, ('s1' || g % 10) COLLATE "C" AS sc, g % 3 * 5000.0 AS n, NULL::int AS nothing, g AS no
	FROM generate_series(1, 50001) AS g;
ANALYZE spm;
SET work_mem = '64MB';
SELECT query, sp_pruned('SELECT * FROM (SELECT * FROM sp UNION ALL SELECT * FROM sp UNION ALL SELECT * FROM sp UNION ALL SELECT * FROM sp UNION ALL SELECT * FROM sp) AS sp ' || query) FROM unnest(ARRAY['WHERE EXISTS (SELECT 1 FROM spm WHERE spm.id = k AND no <> sp.b)', 'WHERE EXISTS (SELECT 1 FROM spm WHERE spm.id8 = k AND no <> sp.b)', 'WHERE EXISTS (SELECT 1 FROM spm WHERE spm.at = ts AND no <> sp.b)',
	'WHERE EXISTS (SELECT 1 FROM spm WHERE spm.b = sp.b AND no <> sp.b + 1)', 'WHERE EXISTS (SELECT 1 FROM spm WHERE spm.w = sp.k AND no <> sp.b)', 'WHERE EXISTS (SELECT 1 FROM spm WHERE spm.s = sp.s AND no <> sp.b)', 'WHERE EXISTS (SELECT 1 FROM spm WHERE nothing = sp.k AND no <> sp.b)',
	'JOIN spm ON id = k AND no = sp.b', 'WHERE k < 3 AND EXISTS (SELECT 1 FROM spm WHERE spm.id = k AND no <> sp.b)']) AS query;
RESET work_mem;
SET strata.enable_join_pruning = off;
SELECT sp_pruned('SELECT * FROM sp JOIN spd ON id = k WHERE site = 3');
SET strata.enable_join_pruning = on;
EXPLAIN (COSTS OFF) SELECT * FROM sp JOIN spd ON id = k WHERE site = 3;
-- what NOT IN and the like look into is made once for all chunks
CREATE FUNCTION sp_subplans(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	seen bool := false;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF seen THEN
			RETURN NEXT substring(line FROM 'loops=.*\)$');
		END IF;
		seen := line ~ '^ *(hashed )?SubPlan';
	END LOOP;
END $$;
SELECT sp_subplans('SELECT * FROM sp WHERE k NOT IN (SELECT id FROM spd WHERE site = 3)');
SELECT sp_subplans('SELECT count(*), sum(b) FROM sp WHERE k NOT IN (SELECT id FROM spd WHERE site = 3)');
SELECT sp_subplans('SELECT count(*) FROM sp WHERE k IN (SELECT id FROM spd WHERE site = 3) OR s NOT IN (SELECT s FROM spd WHERE site < 8)');
SET strata.enable_join_pruning = off;
SELECT sp_subplans('SELECT * FROM sp WHERE k NOT IN (SELECT id FROM spd WHERE site = 3)');
SET strata.enable_join_pruning = on;
-- not where a parameter is in it
SELECT x, (SELECT count(*) FROM sp WHERE k NOT IN (SELECT id + x FROM spd)) AS n FROM generate_series(0, 2) AS x;
-- of late rows and of batches, whichever come to it first, and only sometimes
SELECT x, (SELECT count(*) FROM sp WHERE b % 7 = 3 OR k NOT IN (SELECT id + x FROM spd)) AS n, (SELECT sum(b) FROM (SELECT b FROM sp WHERE b < 300 OR k NOT IN (SELECT id + x FROM spd) ORDER BY ts, k LIMIT 500) AS first) AS s
	FROM generate_series(0, 2) AS x;
DROP FUNCTION sp_subplans;
-- few segments are looked for by the index
SET strata.batch_rows = 10;
SELECT count(compress_chunk(c, recompress => true)) FROM show_chunks('sp') AS c;
CREATE FUNCTION sp_scan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ '(Join Filter|Batch|Row Store)' AND line !~ 'Buckets' THEN
			RETURN NEXT trim(line);
		END IF;
	END LOOP;
END $$;
SELECT sp_scan('SELECT ts FROM sp JOIN spd ON id = k WHERE id8 = 3 AND site = 3 AND ts < ''2020-01-01 12:00Z''');
SELECT sp_scan('SELECT ts FROM sp JOIN spd ON id = k WHERE site = 3 AND ts < ''2020-01-01 12:00Z''');
SELECT sp_scan('SELECT ts FROM sp JOIN spd ON id = k WHERE ts < ''2020-01-01 12:00Z''');
-- some row is enough: batches are looked up before the row store is read
SET enable_nestloop = on;
SET enable_hashjoin = off;
SET enable_hashagg = off;
SELECT sp_scan('SELECT id FROM spd WHERE EXISTS (SELECT 1 FROM sp WHERE k = id AND ts < ''2020-01-01 12:00Z'')');
SELECT sp_scan('SELECT id FROM spd WHERE EXISTS (SELECT 1 FROM sp WHERE k = id AND b < 2000 AND ts < ''2020-01-01 12:00Z'')');
-- so they are where an index finds many late rows
INSERT INTO sp SELECT timestamptz '2020-01-01Z' + g * interval '4 seconds', g % 50, repeat('wide', 100), g, NULL FROM generate_series(0, 9999) AS g;
CREATE INDEX ON sp (k, ts);
ANALYZE sp;
SET enable_bitmapscan = off;
SELECT sp_scan('SELECT id FROM spd WHERE EXISTS (SELECT 1 FROM sp WHERE k = id AND ts < ''2020-01-01 12:00Z'')');
DROP TABLE sp, spd;
DROP FUNCTION sp_pruned, sp_scan;
