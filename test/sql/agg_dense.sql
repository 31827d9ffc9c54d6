-- Many groups of integer keys: found by the key where keys lie close together, whatever comes from far away later; groups without
-- aggregates as words of 64; cells of all sizes beside each other.  In memory and beyond it each answer is a heap's.
SET client_min_messages = error;
SET timezone = 'UTC';
SET strata.batch_rows = 500;
CREATE TABLE ade (ts timestamptz NOT NULL, seg int, u int, far int8, near int8, ends int8, s int2, d date, at timestamp, name text, v int, wide int8, f float8, r real, n numeric)
	USING strata WITH (strata.segmentby = 'seg', strata.orderby = 'ts');
CREATE TABLE ade_h (LIKE ade);
-- u: most rows of few of 4,000 users; far: ids that follow each other, then one far away in the middle, and down again; near: ascending by time
INSERT INTO ade_h SELECT timestamptz '2024-01-01Z' + i * interval '1 second', i / 5000, CASE WHEN i % 41 <> 0 THEN ((i::int8 * 7919 % 4000)::float8 ^ 2 / 4000)::int END,
	CASE WHEN i = 9000 THEN 1::int8 << 60 WHEN i = 9001 THEN -(1::int8 << 60) WHEN i < 12000 THEN 1000000000000 + i * 31 % 3000 ELSE 5000 - i % 2500 END, i / 3 - 2000,
	CASE i % 4 WHEN 0 THEN -9223372036854775808 + i % 700 WHEN 1 THEN 9223372036854775807 - i % 700 ELSE i % 700 END, (i * 7 % 65536 - 32768)::int2,
	date '2024-01-01' + i * 17 % 1500, timestamp '2024-01-01' + i % 900 * interval '1 microsecond', 'name ' || i * 13 % 3001, i % 1000 - 500, 9223372036854775807 - i,
	CASE i % 211 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN NULL ELSE (i % 16 * 0.25)::text END::float8, i % 8, i % 300 * 0.01 FROM generate_series(0, 19999) AS i;
INSERT INTO ade SELECT * FROM ade_h;
SELECT compress_chunk('ade') IS NOT NULL AS compressed;
INSERT INTO ade_h SELECT ts + interval '500 ms', seg, u + 3000, far, -near, ends, s, d + 700, at, name || CASE WHEN v > 0 THEN '' ELSE ' late' END, -v, wide, f, r, n FROM ade_h WHERE extract(second FROM ts) = 30;
INSERT INTO ade SELECT * FROM ade_h WHERE extract(milliseconds FROM ts) = 30500;
ANALYZE ade, ade_h;
CREATE FUNCTION ade_answer(query text, t text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C") FROM (%s) AS q', regexp_replace(query, '\mT\M', t, 'g')) INTO result;
	RETURN result;
END $$;
-- what the heap answered, which is asked once for each query; and under which settings it was asked (with all switches off, turning off one more is no other)
CREATE TABLE ade_asked (question text PRIMARY KEY, answer text);
CREATE TABLE ade_ways (way text, question text);
CREATE FUNCTION ade_differ(queries text[]) RETURNS TABLE (query text, strata text, heap text) LANGUAGE plpgsql AS $$
DECLARE
	settings text := (SELECT string_agg(name || ' ' || setting, ',' ORDER BY name) FROM pg_settings WHERE name ~ '^strata.enable|work_mem|^hash_mem|parallel|^strata.agg');
BEGIN
	FOREACH query IN ARRAY queries LOOP
		CONTINUE WHEN EXISTS (SELECT FROM ade_ways WHERE question = query AND way = settings);
		INSERT INTO ade_ways VALUES (settings, query);
		strata := ade_answer(query, 'ade');
		INSERT INTO ade_asked SELECT query, ade_answer(query, 'ade_h') WHERE NOT EXISTS (SELECT FROM ade_asked AS a WHERE a.question = query);
		heap := (SELECT a.answer FROM ade_asked AS a WHERE a.question = query);
		IF strata IS DISTINCT FROM heap THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
CREATE TABLE ade_queries AS SELECT array_agg(q) AS all FROM (
	SELECT format('SELECT %s, %s FROM T GROUP BY %s', k, a, k) AS q FROM
		unnest(ARRAY['u', 'far', 'near', 'ends', 's', 'd', 'at', 'u, seg', 'name', 'name, u % 7', 'ts', 'u % 300', 'v::int8 * 1000']) AS k,
		unnest(ARRAY['count(*)', 'min(ts), count(v), sum(wide), max(f) + 0, count(*) FILTER (WHERE v > 0), avg(v), sum(n), min(s), stddev(v), sum(v), min(r), avg(f) FILTER (WHERE f < 9), max(d), sum(r)',
			'max(name), count(*), array_agg(v ORDER BY ts), count(DISTINCT v), min(far), sum(s)', 'first(name, ts), count(*), last(v, ts), sum(DISTINCT v), avg(wide)']) AS a
	UNION ALL SELECT format('SELECT DISTINCT %s FROM T%s', k, w) FROM
		unnest(ARRAY['u', 'u, seg', 'u, name', 'name, u', 'far', 'far, name', 'ends, v', 's', 'd, u', 'at, v', 'near, v', 'v, near', 'u, d, seg', 'ts, u', 'name, d', 'u % 500, v', 'date_trunc(''hour'', ts), u']) AS k,
		unnest(ARRAY['', ' WHERE v > 0', ' WHERE u = 7', ' WHERE u IS NULL OR v = 3']) AS w
	UNION ALL VALUES ('SELECT u, v FROM T GROUP BY u, v HAVING u > v'), ('SELECT v, u FROM T GROUP BY 1, 2 ORDER BY 1, 2'), ('SELECT u, v, count(*) FROM T GROUP BY ROLLUP (u, v)'),
		('SELECT count(*), sum(u), sum(v) FROM (SELECT DISTINCT u, v FROM T) AS p'), ('SELECT u + v, count(*) FROM (SELECT DISTINCT u, v, seg FROM T) AS p GROUP BY 1'),
		('SELECT a, (SELECT sum(u * a + v) FROM (SELECT DISTINCT u, v FROM T WHERE seg <> a) AS p) FROM generate_series(0, 4) AS a'),
		('SELECT a, (SELECT sum(m * a) FROM (SELECT near, max(v) AS m FROM T WHERE seg <> a GROUP BY 1) AS p) FROM generate_series(0, 4) AS a'),
		('SELECT d.u, b.v, count(DISTINCT d.near) FROM T AS d JOIN (SELECT u, min(v) AS v FROM T GROUP BY 1) AS b USING (u) GROUP BY 1, 2'),
		('SELECT b.v, date_trunc(''hour'', d.ts), count(DISTINCT d.u) FROM T AS d JOIN (SELECT u, min(v) AS v FROM T GROUP BY 1) AS b USING (u) GROUP BY 1, 2'),
		('SELECT count(*) FROM (SELECT DISTINCT u, v FROM T LIMIT 3000) AS p')) AS q;
SELECT cardinality("all") FROM ade_queries;
SELECT query, left(strata, 300) AS strata, left(heap, 300) AS heap FROM ade_differ((SELECT "all" FROM ade_queries));
-- beyond memory: groups stay, go out and come back; words as well
SET work_mem = '100kB';
SET hash_mem_multiplier = 1;
SELECT query, left(strata, 300) AS strata, left(heap, 300) AS heap FROM ade_differ((SELECT "all" FROM ade_queries));
SET work_mem = '400kB';
SELECT query, left(strata, 300) AS strata, left(heap, 300) AS heap FROM ade_differ((SELECT "all"[53:130] FROM ade_queries));
SET strata.enable_key_codes = off;
SELECT query, left(strata, 300) AS strata, left(heap, 300) AS heap FROM ade_differ((SELECT "all"[53:130] FROM ade_queries));
RESET strata.enable_key_codes;
SET strata.enable_group_lookahead = off;
SELECT query, left(strata, 300) AS strata, left(heap, 300) AS heap FROM ade_differ((SELECT "all"[53:130] FROM ade_queries));
RESET strata.enable_group_lookahead;
RESET work_mem;
RESET hash_mem_multiplier;
-- in parallel
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SELECT query, left(strata, 300) AS strata, left(heap, 300) AS heap FROM ade_differ((SELECT "all"[1:52] FROM ade_queries));
DROP TABLE ade, ade_h, ade_queries, ade_asked, ade_ways;
DROP FUNCTION ade_answer, ade_differ;
-- words are of keys that are equal to the byte: 1.0 is 1.00, and yet another row shows it
CREATE COLLATION ade_ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE adw (ts timestamptz NOT NULL, k int, n numeric, f float8, v interval, t text COLLATE ade_ci) USING strata WITH (strata.orderby = 'ts');
INSERT INTO adw SELECT '2026-01-01Z'::timestamptz + i * interval '1 s', i, CASE i % 2 WHEN 0 THEN 1.0 ELSE 1.00 END, CASE i % 2 WHEN 0 THEN '0'::float8 ELSE '-0' END,
	CASE i % 2 WHEN 0 THEN '1 day'::interval ELSE '24:00' END, CASE i % 2 WHEN 0 THEN 'a' ELSE 'A' END FROM generate_series(0, 19999) i;
SELECT count(compress_chunk('adw')) FROM (SELECT) s;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '64kB';
SET strata.agg_least_groups = 16;
SELECT count(*) FILTER (WHERE n::text = '1.00'), count(*) FROM (SELECT DISTINCT k, n FROM adw) x;
SELECT count(*) FILTER (WHERE f::text = '-0'), count(*) FROM (SELECT k, f FROM adw GROUP BY 1, 2) x;
SELECT count(*) FILTER (WHERE v::text ~ '24'), count(*) FROM (SELECT DISTINCT v, k FROM adw) x;
SELECT count(*) FILTER (WHERE t::text COLLATE "C" = 'A'), count(*) FROM (SELECT t, k FROM adw GROUP BY 1, 2) x;
SELECT count(*) FILTER (WHERE x.n::text = '1.00'), count(*) FROM (SELECT DISTINCT k, n, k / 100 AS h FROM adw) x;
DROP TABLE adw;
DROP COLLATION ade_ci;
