-- Aggregates with DISTINCT over both halves of a hypertable: the same answers as of a heap, and as without the switch.
SET client_min_messages = error;
SET timezone = 'UTC';
SET strata.batch_rows = 100;
CREATE COLLATION ad_any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE ad (ts timestamptz NOT NULL, host text, i2 int2, i4 int, i8 int8, num numeric, f4 float4, f8 float8, txt text,
	any_case text COLLATE ad_any_case, ch char(3), b bool, u uuid, iv interval, arr int[], d date, js json);
SELECT count(*) FROM create_hypertable('ad', 'ts', chunk_time_interval => interval '12 hours', create_default_indexes => false);
ALTER TABLE ad SET (strata.segmentby = 'host', strata.orderby = 'ts');
CREATE TABLE ad_h (LIKE ad);
CREATE FUNCTION ad_rows(first int, last int) RETURNS SETOF ad_h LANGUAGE sql AS $$
	SELECT timestamptz '2024-03-09Z' + g * interval '31 seconds', CASE g % 7 WHEN 6 THEN NULL ELSE 'host' || g % 7 END,
		CASE WHEN g % 11 <> 0 THEN g % 30 END, CASE WHEN g % 13 <> 0 THEN g * 7919 % 1009 - 500 END,
		CASE WHEN g % 17 <> 0 THEN (g % 500 - 250) * 36893488147419103 END,
		CASE g % 40 WHEN 7 THEN NULL WHEN 8 THEN 'NaN' WHEN 9 THEN 1.50 WHEN 10 THEN 1.5 WHEN 11 THEN 1.500 WHEN 12 THEN 'infinity' ELSE (g % 77)::numeric / 8 END,
		CASE g % 9 WHEN 0 THEN '-0' WHEN 1 THEN 0 WHEN 2 THEN 'NaN' WHEN 3 THEN NULL ELSE g % 20 / 4.0 END::float4,
		CASE g % 9 WHEN 0 THEN '-0' WHEN 1 THEN 0 WHEN 2 THEN 'NaN' WHEN 3 THEN NULL WHEN 4 THEN '-infinity' ELSE g % 200 / 4.0 END::float8,
		CASE g % 23 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE repeat(chr(97 + g % 5), g % 40 + 1) END,
		CASE g % 6 WHEN 0 THEN 'Ab' WHEN 1 THEN 'aB' WHEN 2 THEN NULL ELSE 'x' || g % 4 END, 'c' || g % 3, CASE g % 5 WHEN 0 THEN NULL ELSE g % 3 = 0 END,
		('00000000-0000-0000-0000-00000000000' || g % 4)::uuid,
		CASE g % 3 WHEN 0 THEN '1 mon' WHEN 1 THEN '30 days' ELSE '720:00:01' END::interval, ARRAY[g % 3, g % 2],
		CASE g % 60 WHEN 6 THEN 'infinity'::date ELSE '2024-01-01'::date + g % 9 END, '{}'::json
	FROM generate_series(first, last) AS g
$$;
INSERT INTO ad_h SELECT * FROM ad_rows(0, 3999);
INSERT INTO ad SELECT * FROM ad_h;
SELECT count(compress_chunk(c)) > 2 AS many FROM show_chunks('ad') AS c;
-- late ones, beside the batches
INSERT INTO ad SELECT * FROM ad_rows(4000, 4010);
WITH late AS (INSERT INTO ad_h SELECT (r).* FROM (SELECT jsonb_populate_record(x, '{"host": "late", "i4": 77777}') AS r FROM ad_rows(5, 3900) AS x
	WHERE extract(epoch FROM ts)::int8 % 20 = 0) AS q RETURNING *) INSERT INTO ad SELECT * FROM late;
INSERT INTO ad_h SELECT * FROM ad_rows(4000, 4010);
SELECT count(*), count(DISTINCT i4) AS i4, count(DISTINCT host) AS hosts, count(DISTINCT num) AS num FROM ad;

CREATE FUNCTION ad_answer(query text, t text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C") FROM (%s) AS q', regexp_replace(query, '\mT\M', t, 'g')) INTO result;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
-- sums are of one of the equal values (1.5 and 1.50, 1 mon and 30 days): which one is not defined, nor how it is shown
CREATE TABLE ad_list (id serial, list text);
INSERT INTO ad_list (list) VALUES
	('count(DISTINCT host)'), ('count(DISTINCT host), count(DISTINCT i4), count(*)'), ('count(DISTINCT i2), sum(DISTINCT i2), avg(DISTINCT i2), sum(i2)'),
	('sum(DISTINCT i4), avg(DISTINCT i4), min(DISTINCT i4), max(DISTINCT i4), max(ts)'), ('sum(DISTINCT i8), avg(DISTINCT i8) AS a, count(DISTINCT i8)'),
	('count(DISTINCT num), trim_scale(sum(DISTINCT num)), trim_scale(avg(DISTINCT num)), min(DISTINCT num)::float8'), ('count(DISTINCT f4), count(DISTINCT f8), min(DISTINCT f8), max(DISTINCT f4)'),
	('sum(DISTINCT f8), count(DISTINCT f4)'), ('avg(DISTINCT f4), stddev(DISTINCT f8)'), ('count(DISTINCT txt), count(txt), min(DISTINCT txt), count(DISTINCT txt) FILTER (WHERE i4 > 0)'),
	('count(DISTINCT any_case), count(DISTINCT ch), count(DISTINCT any_case COLLATE "C")'), ('count(DISTINCT b), bool_and(DISTINCT b), bool_or(DISTINCT b), every(DISTINCT b)'),
	('count(DISTINCT u), count(DISTINCT iv), justify_interval(sum(DISTINCT iv)), count(DISTINCT arr), count(DISTINCT d), max(DISTINCT d)'), ('count(DISTINCT 1), count(DISTINCT NULL::int), count(1)'),
	('count(DISTINCT date_trunc(''hour'', ts)), count(DISTINCT ts), count(DISTINCT time_bucket(''2 hours'', ts))'), ('count(DISTINCT i4 % 10), sum(DISTINCT i4 / 3 + 1), count(DISTINCT upper(txt))'),
	('count(DISTINCT i4) FILTER (WHERE host = ''host1''), count(DISTINCT i4) FILTER (WHERE false), count(DISTINCT i4), sum(i4) FILTER (WHERE host = ''host1'')'),
	('variance(DISTINCT i4), stddev_pop(DISTINCT i2), bit_or(DISTINCT i4), bit_xor(DISTINCT i4)'), ('count(DISTINCT (i4, host))'), ('count(DISTINCT js::text)'), ('count(DISTINCT i4 / i2)'),
	('count(DISTINCT txt ORDER BY txt)'), ('string_agg(DISTINCT host, '','')'), ('count(DISTINCT ad_nothing)'), ('count(DISTINCT random() < 2)');
CREATE TABLE ad_groups (id serial, list text);
INSERT INTO ad_groups (list) VALUES (''), ('host'), ('i2'), ('txt'), ('date_trunc(''hour'', ts)'), ('host, time_bucket(''3 hours'', ts)'), ('any_case'), ('num'), ('i4 % 7, b'), ('f8');
CREATE FUNCTION ad_differ(suffix text DEFAULT '') RETURNS TABLE (query text, strata text, heap text) LANGUAGE plpgsql AS $$
BEGIN
	FOR query IN SELECT format('SELECT %s FROM T WHERE %s %s', l.list, w, CASE g.list WHEN '' THEN '' ELSE 'GROUP BY ' || g.list END || suffix)
		FROM ad_list AS l, ad_groups AS g, unnest(ARRAY['true', 'ts < ''2024-03-09 20:00Z'' AND i4 % 5 <> 2', 'false']) AS w ORDER BY l.id, g.id, w LOOP
		strata := ad_answer(query, 'ad');
		heap := ad_answer(query, 'ad_h');
		IF strata IS DISTINCT FROM heap THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
SELECT query, left(strata, 200) AS strata, left(heap, 200) AS heap FROM ad_differ();
-- rows of batches deleted and changed
DELETE FROM ad WHERE i4 % 9 = 4; DELETE FROM ad_h WHERE i4 % 9 = 4;
UPDATE ad SET host = 'new', i2 = NULL WHERE i4 % 31 = 5; UPDATE ad_h SET host = 'new', i2 = NULL WHERE i4 % 31 = 5;
ALTER TABLE ad ADD more int DEFAULT 5; ALTER TABLE ad_h ADD more int DEFAULT 5;
INSERT INTO ad_list (list) VALUES ('count(DISTINCT more), sum(DISTINCT more + i2)');
SELECT query, left(strata, 200) AS strata, left(heap, 200) AS heap FROM ad_differ(' HAVING count(DISTINCT i4) > 1');
SET strata.enable_distinct_agg = off;
SELECT count(*) FROM ad_differ();
RESET strata.enable_distinct_agg;

-- beyond memory: sets and groups are spilled
SET work_mem = '64kB';
SET strata.agg_least_groups = 16;
SET hash_mem_multiplier = 1;
CREATE TABLE ad_many (ts timestamptz NOT NULL, k int, v int8, t text);
SELECT count(*) FROM create_hypertable('ad_many', 'ts', chunk_time_interval => interval '12 hours', create_default_indexes => false);
CREATE TABLE ad_many_h (LIKE ad_many);
INSERT INTO ad_many_h SELECT timestamptz '2024-03-09Z' + g * interval '3 seconds', g % 3000, g * 7919::int8 % 10007, 'text' || g * 7919::int8 % 5003 FROM generate_series(1, 25000) AS g;
INSERT INTO ad_many SELECT * FROM ad_many_h;
SELECT count(compress_chunk(c)) FROM show_chunks('ad_many') AS c;
INSERT INTO ad_many SELECT ts, k, -v, t || 'late' FROM ad_many_h WHERE v % 20 = 1;
INSERT INTO ad_many_h SELECT ts, k, -v, t || 'late' FROM ad_many_h WHERE v % 20 = 1;
SELECT query FROM unnest(ARRAY['SELECT count(DISTINCT v), sum(DISTINCT v), count(DISTINCT t), count(DISTINCT ts) FROM T',
	'SELECT k, count(DISTINCT v), sum(DISTINCT v), count(DISTINCT t), min(ts) FROM T GROUP BY k', 'SELECT k % 2, count(DISTINCT t), avg(DISTINCT v) FROM T GROUP BY 1',
	'SELECT t, count(DISTINCT k), sum(v) FROM T GROUP BY t ORDER BY t LIMIT 100', 'SELECT time_bucket(''1 hour'', ts) AS b, count(DISTINCT t) FROM T GROUP BY b ORDER BY b DESC LIMIT 3']) AS query
	WHERE ad_answer(query, 'ad_many') IS DISTINCT FROM ad_answer(query, 'ad_many_h');
RESET work_mem;
RESET hash_mem_multiplier;

-- rescans, parameters, cursors, subqueries
SELECT w.h, q.* FROM (VALUES ('host1'), ('late'), ('nobody')) AS w (h), LATERAL (SELECT count(DISTINCT i4), sum(DISTINCT i2), count(*) FROM ad WHERE host >= w.h) AS q
EXCEPT SELECT w.h, q.* FROM (VALUES ('host1'), ('late'), ('nobody')) AS w (h), LATERAL (SELECT count(DISTINCT i4), sum(DISTINCT i2), count(*) FROM ad_h WHERE host >= w.h) AS q;
SET plan_cache_mode = force_generic_plan;
PREPARE ad_p (int) AS SELECT host, count(DISTINCT i4 + $1) = count(DISTINCT i4) AS same, count(DISTINCT i2) FILTER (WHERE i4 > $1) AS n FROM ad GROUP BY host ORDER BY host NULLS FIRST LIMIT 3;
EXECUTE ad_p (1);
EXECUTE ad_p (NULL);
BEGIN;
DECLARE c CURSOR FOR SELECT host, count(DISTINCT i4) FROM ad GROUP BY host ORDER BY host;
FETCH 2 FROM c;
DELETE FROM ad;
FETCH 2 FROM c;
ROLLBACK;
SELECT count(DISTINCT i8 * 1000000) FROM ad;
DROP TABLE ad, ad_many, ad_many_h, ad_list, ad_groups;
DROP FUNCTION ad_answer, ad_differ, ad_rows;
DROP TABLE ad_h;
DROP COLLATION ad_any_case;
