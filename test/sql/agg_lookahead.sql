-- Groups looked up together, and sums of numerics in the cells of groups: numbers of groups around a step of the look-up, sums that
-- leave 64 bits and come back, scales that change within a batch and between batches, NaN and infinities.  Each answer is a heap's.
SET client_min_messages = error;
SET timezone = 'UTC';
CREATE TABLE al (ts timestamptz NOT NULL, seg int, g int, name text, f float8, wide numeric, scales numeric, odd numeric, small numeric(6, 2)) USING strata
	WITH (strata.segmentby = 'seg', strata.orderby = 'ts');
CREATE TABLE al_h (LIKE al);
-- g is i * 7919 % 1000: any number of groups up to 1,000 is g % n; wide: four values near the ends of 64 bits follow each other with
-- signs that let sums go beyond and return
INSERT INTO al_h SELECT timestamptz '2024-01-01Z' + i * interval '1 second', i / 3000, CASE WHEN i % 401 <> 0 THEN i * 7919 % 1000 END, 'n' || i * 7919 % 1000,
	CASE i % 503 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN 'Infinity' ELSE (i % 17)::text END::float8,
	CASE WHEN i % 7 = 0 THEN NULL WHEN i / 2000 % 2 = 0 THEN 9223372036854775807 - i % 3 ELSE -9223372036854775808 + i % 2 END,
	CASE WHEN i % 4000 < 2000 THEN CASE i % 4 WHEN 0 THEN 1.5 WHEN 1 THEN 1.50 WHEN 2 THEN -0.125 ELSE i % 9 END ELSE round(i * 0.37, i / 1000 % 5) END,
	CASE WHEN i < 3000 THEN (i % 19)::text WHEN i % 97 = 0 THEN 'NaN' WHEN i % 89 = 0 AND i > 6000 THEN 'Infinity' WHEN i % 83 = 0 AND i > 9000 THEN '-Infinity'
		WHEN i % 79 = 0 THEN '123456789012345678901234567890.5' WHEN i % 73 = 0 THEN '1e-25' ELSE (i % 19)::text END::numeric, i % 5000 * 0.01
	FROM generate_series(0, 11999) AS i;
INSERT INTO al SELECT * FROM al_h;
SELECT compress_chunk('al') IS NOT NULL AS compressed;
INSERT INTO al_h SELECT ts + interval '500 ms', seg, g, name, f, -wide, scales * 10, odd, small FROM al_h WHERE extract(second FROM ts) = 30;
INSERT INTO al SELECT * FROM al_h WHERE extract(milliseconds FROM ts) = 30500;
CREATE FUNCTION al_answer(query text, t text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C") FROM (%s) AS q', regexp_replace(query, '\mT\M', t, 'g')) INTO result;
	RETURN result;
END $$;
-- what the heap answered, which is asked once for each query; and settings under which all were asked (with all switches off, turning off one more is no other)
CREATE TABLE al_asked (question text PRIMARY KEY, answer text);
CREATE TABLE al_ways (way text);
CREATE FUNCTION al_differ() RETURNS TABLE (query text, strata text, heap text) LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM al_ways WHERE way = (SELECT string_agg(name || ' ' || setting, ',' ORDER BY name) FROM pg_settings WHERE name ~ '^strata.enable|work_mem|^hash_mem|parallel|^strata.agg')) THEN
		RETURN;
	END IF;
	INSERT INTO al_ways SELECT string_agg(name || ' ' || setting, ',' ORDER BY name) FROM pg_settings WHERE name ~ '^strata.enable|work_mem|^hash_mem|parallel|^strata.agg';
	FOR query IN SELECT format('SELECT %s FROM T WHERE %s GROUP BY %s', a, w, k)
		FROM (SELECT replace('g % N', 'N', n::text) FROM unnest(ARRAY[1, 7, 8, 9, 63, 64, 65, 127, 128, 129, 1000]) AS n
			UNION ALL VALUES ('name'), ('g % 65, seg'), ('name, seg % 2'), ('small'), ('ts')) AS keys(k),
		unnest(ARRAY['sum(wide), avg(wide), count(wide)', 'sum(scales), avg(scales), sum(small), min(odd)', 'sum(odd), avg(odd), sum(odd) FILTER (WHERE seg = 0)',
			'sum(f), max(f) + 0, count(f), sum(scales + 1), sum(small) FILTER (WHERE f > 3), avg(small * 2)', 'count(DISTINCT small), sum(wide) FILTER (WHERE seg = 1), array_agg(small ORDER BY ts)']) AS a,
		unnest(ARRAY['true', 'f <> 4', 'ts < ''2024-01-01 02:00:30Z'' AND seg > 0']) AS w LOOP
		strata := al_answer(query, 'al');
		INSERT INTO al_asked SELECT query, al_answer(query, 'al_h') WHERE NOT EXISTS (SELECT FROM al_asked AS a WHERE a.question = query);
		heap := (SELECT a.answer FROM al_asked AS a WHERE a.question = query);
		IF strata IS DISTINCT FROM heap THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
SELECT query, left(strata, 300) AS strata, left(heap, 300) AS heap FROM al_differ();
SET strata.enable_group_lookahead = off;
SELECT count(*) FROM al_differ();
RESET strata.enable_group_lookahead;
SET strata.enable_key_codes = off;
SELECT count(*) FROM al_differ();
RESET strata.enable_key_codes;
-- groups go to disk and come back; processes combine theirs (+ 0: which zero is the greatest depends on their order)
SET work_mem = '64kB';
SET strata.agg_least_groups = 16;
SET hash_mem_multiplier = 1;
SELECT count(*) FROM al_differ();
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(*) FROM al_differ();
DROP FUNCTION al_differ, al_answer;
DROP TABLE al, al_h, al_asked, al_ways;
