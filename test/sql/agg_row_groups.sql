-- Late rows are brought together by group: the same answers as without that, and as a heap's, whatever the keys are.
SET client_min_messages = warning;
SET timezone = 'UTC';
CREATE COLLATION arg_blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE arg_h (ts timestamptz NOT NULL, k text, u uuid, f float8, n numeric, c text COLLATE arg_blind, long text, v int, nm name, iv interval);
CREATE TABLE arg (LIKE arg_h);
SELECT count(*) FROM create_hypertable('arg', 'ts', chunk_time_interval => interval '12 hours', create_default_indexes => false);
ALTER TABLE arg SET (strata.segmentby = 'k', strata.orderby = 'ts DESC');
CREATE FUNCTION arg_differ() RETURNS TABLE (query text, answers bigint) LANGUAGE plpgsql AS $$
DECLARE
	seen text[];
	way text;
	one text;
BEGIN
	FOREACH query IN ARRAY ARRAY[
		'SELECT k, count(*), sum(v), avg(f), min(ts), max(n) FROM arg GROUP BY k',
		'SELECT u, count(v), sum(n) FROM arg GROUP BY u',
		'SELECT f + 0.0, count(*) FROM arg GROUP BY f',
		'SELECT trim_scale(n), count(*), max(v) FROM arg GROUP BY n',
		'SELECT min(c COLLATE "C"), count(*) FROM arg GROUP BY c',
		'SELECT long, count(*), min(v) FROM arg GROUP BY long',
		'SELECT nm, extract(epoch FROM iv), count(*), sum(v) FROM arg GROUP BY nm, iv',
		'SELECT time_bucket(''1 hour'', ts), k, u, count(*), max(v) FROM arg GROUP BY 1, 2, 3',
		'SELECT date_trunc(''minute'', ts), count(*), sum(v) FROM arg GROUP BY 1',
		'SELECT k, v % 3, count(*), sum(v * 2) FROM arg GROUP BY 1, 2',
		'SELECT lower(k), count(*) FROM arg GROUP BY 1',
		'SELECT k, count(*) FILTER (WHERE v % 2 = 0), sum(CASE WHEN v > 500 THEN v ELSE 1 END) FROM arg GROUP BY k',
		'SELECT k, sum(CASE WHEN v > 500 THEN v WHEN v > 100 THEN 2 ELSE 1 END) FROM arg GROUP BY k',
		'SELECT k, count(DISTINCT u), count(*) FROM arg GROUP BY k',
		'SELECT k, sum(f), avg(f), min(f), max(f), count(f) FROM arg GROUP BY k',
		'SELECT k, round(stddev(v::float8)::numeric, 6), avg(v::float4), sum(v::float4), min(f::float4), max(v::int2), sum(v::int2), avg(v::bigint), min(ts::date) FROM arg GROUP BY k',
		'SELECT k, u, sum(v) FILTER (WHERE f > 1), avg(v::float8) FILTER (WHERE v > 7) FROM arg GROUP BY k, u',
		'SELECT k FROM arg GROUP BY k',
		'SELECT c COLLATE "C", sum(v::bigint) FROM arg GROUP BY c COLLATE "C"',
		'SELECT k, date_trunc(''hour'', ts), avg(v) FROM arg GROUP BY 1, 2 ORDER BY 2 DESC, 1 LIMIT 40',
		'SELECT k, first(v, ts), last(v, ts) FROM arg GROUP BY k',
		'SELECT DISTINCT ON (k) k, ts FROM arg ORDER BY k, ts DESC',
		'SELECT k, sum(v) FROM arg WHERE v > 300 AND ts > ''2020-01-01 03:00Z'' GROUP BY k',
		'SELECT added, count(*) FROM arg GROUP BY added',
		'SELECT v, count(*) FROM arg GROUP BY v'] LOOP
		seen := '{}';
		CONTINUE WHEN query LIKE '%added%' AND NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'arg'::regclass AND attname = 'added');
		FOREACH way IN ARRAY ARRAY['row_grouping', 'page_scan', 'vector_agg', 'none', 'heap'] LOOP
			IF way NOT IN ('none', 'heap') THEN
				PERFORM set_config('strata.enable_' || way, 'off', true);
			END IF;
			EXECUTE 'SELECT string_agg(x::text, '';'' ORDER BY x::text COLLATE "C") FROM ('
				|| CASE WHEN way = 'heap' THEN replace(query, 'FROM arg', 'FROM arg_h') ELSE query END || ') AS x' INTO one;
			seen := seen || coalesce(one, '-');
			IF way NOT IN ('none', 'heap') THEN
				PERFORM set_config('strata.enable_' || way, 'on', true);
			END IF;
		END LOOP;
		SELECT count(DISTINCT x) INTO answers FROM unnest(seen) AS x;
		IF answers <> 1 THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
CREATE FUNCTION arg_fill(first int, last int, sign int) RETURNS void LANGUAGE sql AS $$
	WITH late AS (INSERT INTO arg_h (ts, k, u, f, n, c, long, v, nm, iv)
		SELECT timestamptz '2020-01-01Z' + g * interval '20 seconds' + interval '1 second' * (sign + 1), nullif('host_' || g % 37, 'host_5'),
			CASE WHEN g % 9 <> 0 THEN md5((g % 23)::text)::uuid END,
			(ARRAY['NaN', '-0', '0', 'Infinity', '-Infinity', '1.5', NULL])[1 + g % 7]::float8, (ARRAY['1.0', '1.00', '1', 'NaN', NULL])[1 + g % 5]::numeric,
			(ARRAY['a', 'A', 'b', 'B', NULL])[1 + g % 5], repeat('same beginning ', g % 11) || g % 4 || repeat(' same end', g % 11),
			sign * g, 'n' || g % 13, CASE g % 3 WHEN 0 THEN interval '1 day' WHEN 1 THEN interval '24 hours' END
		FROM generate_series(first, last) AS g RETURNING *)
	INSERT INTO arg (ts, k, u, f, n, c, long, v, nm, iv) SELECT ts, k, u, f, n, c, long, v, nm, iv FROM late $$;
SELECT * FROM arg_differ();
SELECT arg_fill(1, 4000, 1);
SELECT * FROM arg_differ();
SELECT count(compress_chunk(c)) FROM show_chunks('arg') AS c;
SELECT * FROM arg_differ();
SELECT arg_fill(1, 3000, -1);
SELECT * FROM arg_differ();
-- late rows are added one by one, and are no runs
CREATE FUNCTION arg_runs(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line LIKE '%Runs:%' THEN RETURN ltrim(line); END IF;
	END LOOP;
	RETURN 'none';
END $$;
CREATE TABLE arg_one (ts timestamptz NOT NULL, k text, v int);
SELECT count(*) FROM create_hypertable('arg_one', 'ts', chunk_time_interval => interval '12 hours', create_default_indexes => false);
ALTER TABLE arg_one SET (strata.segmentby = 'k', strata.orderby = 'ts DESC');
INSERT INTO arg_one SELECT timestamptz '2020-01-01Z' + g * interval '1 second', 'k' || g % 10, g FROM generate_series(0, 2999) AS g;
SELECT count(compress_chunk(c)) FROM show_chunks('arg_one') AS c;
INSERT INTO arg_one SELECT timestamptz '2020-01-01Z' + g * interval '1 second', 'k' || g % 10, g FROM generate_series(0, 1999) AS g;
DO $$ DECLARE name text; BEGIN
	FOR name IN SELECT s.name FROM pg_settings AS s WHERE s.name LIKE 'strata.enable\_%' LOOP
		PERFORM set_config(name, 'on', false);
	END LOOP;
END $$;
SELECT arg_runs('SELECT k, sum(v) FROM arg_one GROUP BY k');
SET strata.enable_row_grouping = off;
SELECT arg_runs('SELECT k, sum(v) FROM arg_one GROUP BY k');
SET strata.enable_row_grouping = on;
-- as many groups as rows
SELECT arg_runs('SELECT v, count(*) FROM arg_one GROUP BY v');
-- columns that tuples have not, and some that nobody has any more
ALTER TABLE arg ADD COLUMN added text DEFAULT 'missing', DROP COLUMN nm;
ALTER TABLE arg_h ADD COLUMN added text DEFAULT 'missing', DROP COLUMN nm;
DELETE FROM arg WHERE v % 7 = 0;
DELETE FROM arg_h WHERE v % 7 = 0;
UPDATE arg SET k = 'moved' WHERE v % 11 = 0;
UPDATE arg_h SET k = 'moved' WHERE v % 11 = 0;
CREATE OR REPLACE FUNCTION arg_answers() RETURNS TABLE (different bigint) LANGUAGE sql AS $$
	SELECT count(*) FROM (SELECT k, added, count(*), sum(v) FROM arg GROUP BY 1, 2
		EXCEPT SELECT k, added, count(*), sum(v) FROM arg_h GROUP BY 1, 2) AS x $$;
SELECT * FROM arg_answers();
-- read again for each outer row, and by a cursor
SELECT x, (SELECT string_agg(k || s, ',' ORDER BY k) FROM (SELECT k, sum(v) AS s FROM arg_one WHERE v > x GROUP BY k) AS y) AS sums
FROM generate_series(1000, 3000, 500) AS x;
BEGIN;
DECLARE arg_c NO SCROLL CURSOR FOR SELECT k, sum(v), count(*) FROM arg_one GROUP BY k ORDER BY k;
FETCH 3 FROM arg_c;
FETCH 2 FROM arg_c;
COMMIT;
-- more texts than have numbers, of several partitions; some without a batch
CREATE TABLE arg_many (LIKE arg_one);
INSERT INTO arg_many SELECT timestamptz '2020-01-01Z' + g * interval '20 seconds', nullif('x' || g % 2500, 'x17'), g FROM generate_series(0, 9999) AS g;
WITH new AS (INSERT INTO arg_one SELECT * FROM arg_many RETURNING *) INSERT INTO arg_many SELECT * FROM arg_one;
SELECT count(*) FROM (SELECT k, sum(v), count(*), max(ts), min(v), avg(v::float8) FROM arg_one GROUP BY k
	EXCEPT SELECT k, sum(v), count(*), max(ts), min(v), avg(v::float8) FROM arg_many GROUP BY k) AS x;
SELECT count(*) FROM (SELECT k, max(ts), last(v, ts) FROM arg_one GROUP BY k EXCEPT SELECT k, max(ts), last(v, ts) FROM arg_many GROUP BY k) AS x;
-- groups that outgrow memory
SET work_mem = '64kB';
SET strata.agg_least_groups = 16;
SET hash_mem_multiplier = 1;
SELECT count(*), sum(s) FROM (SELECT k, v, sum(v) AS s FROM arg_one GROUP BY k, v) AS x;
SELECT count(*) FROM (SELECT k, sum(v), avg(v::float8), max(ts) FROM arg_one GROUP BY k EXCEPT SELECT k, sum(v), avg(v::float8), max(ts) FROM arg_many GROUP BY k) AS x;
DROP TABLE arg, arg_h, arg_one, arg_many;
DROP FUNCTION arg_differ, arg_fill, arg_runs, arg_answers;
DROP COLLATION arg_blind;
