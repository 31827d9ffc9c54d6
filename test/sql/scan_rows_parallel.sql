-- Workers read the row store by columns: the same rows as of a heap, and as one process finds them.
SET client_min_messages = error;
SET timezone = 'UTC';
SET strata.batch_rows = 100;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
CREATE TABLE srp (id int NOT NULL, ts timestamptz NOT NULL, gone int, k text, v int, f float8, n numeric, doc text, b bool);
CREATE TABLE srp_h (LIKE srp);
-- two chunks with late rows, and one without batches, as the newest mostly is
SELECT count(*) FROM create_hypertable('srp', 'ts', chunk_time_interval => interval '1 day', create_default_indexes => false);
ALTER TABLE srp SET (strata.segmentby = 'k', strata.orderby = 'ts DESC');
CREATE FUNCTION srp_make(first int, last int) RETURNS TABLE (id int, ts timestamptz, gone int, k text, v int, f float8, n numeric, doc text, b bool) LANGUAGE sql AS $$
	SELECT i, timestamptz '2024-01-01Z' + i * 13 % 4320 * interval '1 min', i, CASE i % 6 WHEN 5 THEN NULL ELSE 'k' || i % 6 END,
		CASE WHEN i % 7 <> 0 THEN i % 100 END, CASE i % 50 WHEN 1 THEN 'NaN' ELSE i * 0.25 END::float8, i / 8.0,
		CASE i % 9 WHEN 0 THEN NULL WHEN 1 THEN repeat(md5(i::text), 90) ELSE 'doc ' || i % 20 END, i % 3 = 0
	FROM generate_series(first, last) AS i
$$;
INSERT INTO srp_h SELECT * FROM srp_make(1, 6000);
INSERT INTO srp SELECT * FROM srp_h;
SELECT count(compress_chunk(c)) FROM (SELECT * FROM show_chunks('srp') AS c ORDER BY c LIMIT 2) AS c;
CREATE FUNCTION srp_differ() RETURNS TABLE (query text) LANGUAGE plpgsql AS $$
DECLARE
	answers text[];
	way text;
	one text;
BEGIN
	FOREACH query IN ARRAY ARRAY[
		-- no quals, some with kernels, some without, some that take the rest of the row, and an error that no row raises
		'SELECT k, count(*), sum(v), min(id), max(ts), count(doc) FROM srp GROUP BY k',
		'SELECT count(*), sum(f) FILTER (WHERE f < 1e9), avg(n), bool_or(b) FROM srp',
		'SELECT date_trunc(''hour'', ts), count(*), max(v) FROM srp WHERE v BETWEEN 20 AND 60 GROUP BY 1',
		'SELECT k, count(*), sum(v) FROM srp WHERE doc LIKE ''doc 1%'' AND v > 3 GROUP BY k',
		'SELECT v % 10, count(*), sum(length(doc)) FROM srp WHERE lower(k) = ''k2'' GROUP BY 1',
		'SELECT k, count(*) FROM srp WHERE doc ~ ''[0-9]{2}'' OR v = 17 GROUP BY k',
		'SELECT count(*), sum(v) FROM srp WHERE 1000 / id < 3 AND n > 20',
		'SELECT k, count(*) FROM srp WHERE ROW(srp.id, v) > ROW(500, 3) AND b GROUP BY k',
		'SELECT floor(f / 5), count(*) FROM srp WHERE f <> ''NaN'' GROUP BY 1',
		'SELECT tableoid::regclass::text ~ ''srp'', count(*) FROM srp WHERE v > 50 GROUP BY 1',
		-- rows, not groups
		'SELECT id, k, v, f FROM srp WHERE v > 90',
		'SELECT * FROM srp WHERE doc LIKE ''doc 1_'' AND upper(k) = ''K1''',
		'SELECT id, ts FROM srp WHERE ts >= ''2024-01-02'' AND k IS NULL',
		-- read again and again
		'SELECT w.x, (SELECT count(*) FROM srp WHERE v < w.x) FROM (VALUES (1), (50), (NULL)) AS w (x)',
		'SELECT a.k, a.n, b.v FROM (SELECT k, count(*) AS n FROM srp GROUP BY k) AS a, (SELECT v, count(*) AS n FROM srp GROUP BY v) AS b WHERE a.n > b.n * 10'] LOOP
		answers := '{}';
		FOREACH way IN ARRAY ARRAY['none', 'leader', 'page_scan', 'single', 'heap'] LOOP
			one := CASE WHEN way = 'heap' THEN replace(query, 'FROM srp', 'FROM srp_h AS srp') ELSE query END;
			PERFORM set_config('strata.enable_' || way, 'off', true) WHERE way = 'page_scan';
			PERFORM set_config('parallel_leader_participation', (way = 'leader')::text, true);
			PERFORM set_config('max_parallel_workers_per_gather', '0', true) WHERE way IN ('single', 'heap');
			PERFORM set_config('enable_material', (query !~ '^SELECT a')::text, true);
			EXECUTE 'SELECT string_agg(x::text, '';'' ORDER BY x::text COLLATE "C") FROM (' || one || ') AS x' INTO one;
			answers := answers || md5(coalesce(one, '-'));
			PERFORM set_config('strata.enable_' || way, 'on', true) WHERE way = 'page_scan';
			PERFORM set_config('max_parallel_workers_per_gather', '2', true);
		END LOOP;
		IF (SELECT count(DISTINCT a) FROM unnest(answers) AS a) <> 1 THEN
			query := query || ' ' || answers::text;
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
SELECT * FROM srp_differ();
-- late rows, more than a vector of them; pages that all see, and pages that changed since
WITH late AS (INSERT INTO srp_h SELECT * FROM srp_make(6001, 12000) RETURNING *) INSERT INTO srp SELECT * FROM late;
VACUUM ANALYZE srp;
SELECT * FROM srp_differ();
DELETE FROM srp WHERE id % 50 = 3 OR id BETWEEN 7000 AND 7300;
DELETE FROM srp_h WHERE id % 50 = 3 OR id BETWEEN 7000 AND 7300;
UPDATE srp SET v = v + 1, doc = doc || '!' WHERE id % 31 = 0;
UPDATE srp_h SET v = v + 1, doc = doc || '!' WHERE id % 31 = 0;
-- columns that went, came with a value for rows that have none, and came without
ALTER TABLE srp DROP COLUMN gone;
ALTER TABLE srp_h DROP COLUMN gone;
ALTER TABLE srp ADD COLUMN more int NOT NULL DEFAULT 7, ADD COLUMN text_more text DEFAULT 'long ' || repeat('x', 50), ADD COLUMN empty float8;
ALTER TABLE srp_h ADD COLUMN more int NOT NULL DEFAULT 7, ADD COLUMN text_more text DEFAULT 'long ' || repeat('x', 50), ADD COLUMN empty float8;
INSERT INTO srp SELECT id, ts, k, v, f, n, doc, b, id % 3, 'more ' || id % 4, id FROM srp_make(12001, 12900);
INSERT INTO srp_h SELECT id, ts, k, v, f, n, doc, b, id % 3, 'more ' || id % 4, id FROM srp_make(12001, 12900);
SELECT * FROM srp_differ();
SELECT more, text_more, count(*), sum(empty) FROM srp WHERE more + v > 8 GROUP BY 1, 2
	EXCEPT ALL SELECT more, text_more, count(*), sum(empty) FROM srp_h WHERE more + v > 8 GROUP BY 1, 2;
-- what this transaction has done, a savepoint took back, and a cursor's snapshot is older than
BEGIN;
INSERT INTO srp SELECT id, ts, k, v, f, n, doc, b FROM srp_make(13001, 14000);
INSERT INTO srp_h SELECT id, ts, k, v, f, n, doc, b FROM srp_make(13001, 14000);
DELETE FROM srp WHERE id % 11 = 1;
DELETE FROM srp_h WHERE id % 11 = 1;
SAVEPOINT s;
DELETE FROM srp WHERE id % 2 = 1;
INSERT INTO srp SELECT id, ts, k, v, f, n, doc, b FROM srp_make(15001, 16000);
ROLLBACK TO s;
SELECT * FROM srp_differ();
ROLLBACK;
-- compression in between; a kept plan, with quals that have values only when it runs
SET plan_cache_mode = force_generic_plan;
PREPARE srp_q(int, text) AS SELECT k, count(*), sum(v) FROM srp WHERE v > $1 AND doc LIKE $2 GROUP BY k ORDER BY k;
EXECUTE srp_q(40, 'doc%');
SELECT count(compress_chunk(c)) FROM show_chunks('srp') AS c;
INSERT INTO srp SELECT id, ts, k, v, f, n, doc, b FROM srp_make(14001, 14500);
EXECUTE srp_q(40, 'doc%');
EXECUTE srp_q(NULL, 'doc%');
INSERT INTO srp_h SELECT id, ts, k, v, f, n, doc, b FROM srp_make(14001, 14500);
SELECT * FROM srp_differ();
-- errors are those of one process; whoever comes to the row first raises them, and a worker adds a line of context
\set SHOW_CONTEXT never
SELECT sum(v) FROM srp WHERE 1 / (id - 14400) >= 0;
SELECT k, sum(1 / (id - 14401)) FROM srp GROUP BY k;
SELECT count(*) FROM srp TABLESAMPLE SYSTEM (100) WHERE v > 3;
SELECT count(*) FROM srp_h WHERE v > 3;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM srp_differ();
COMMIT;

DROP TABLE srp, srp_h;
DROP FUNCTION srp_differ, srp_make;
