-- Groups that outgrow memory, in files and in a sort: many times what fits, keys of every kind, nulls, rows that are held, sets, DISTINCT, rescans and
-- cursors.  Each answer is a heap's.
SET client_min_messages = error;
SET timezone = 'UTC';
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
CREATE TABLE asp (ts timestamptz NOT NULL, seg int, id int, name text, f float8, n numeric, big bigint) USING strata
	WITH (strata.segmentby = 'seg', strata.orderby = 'ts');
CREATE TABLE asp_h (LIKE asp);
-- ids: a third comes again and again, the others seldom; equal numerics and floats in other bytes
INSERT INTO asp_h SELECT timestamptz '2024-01-01Z' + i * interval '1 second', i / 10000, CASE WHEN i % 101 = 0 THEN NULL WHEN i % 3 = 0 THEN i % 300 ELSE i / 3 END,
	CASE WHEN i % 97 <> 0 THEN 'name ' || CASE WHEN i % 2 = 0 THEN i % 500 ELSE i / 4 END END, CASE i % 7 WHEN 0 THEN '-0' WHEN 1 THEN '0' WHEN 2 THEN 'NaN' ELSE (i / 5)::text END::float8,
	CASE WHEN i % 2 = 0 THEN i / 6 ELSE (i / 6)::numeric(20, 3) END, CASE WHEN i % 5 <> 0 THEN 9223372036854775807 - i END FROM generate_series(0, 29999) AS i;
INSERT INTO asp SELECT * FROM asp_h;
SELECT compress_chunk('asp') IS NOT NULL AS compressed;
INSERT INTO asp_h SELECT ts + interval '500 ms', seg, id + 1, name || '!', f, -n, big FROM asp_h WHERE extract(second FROM ts) = 30;
INSERT INTO asp SELECT * FROM asp_h WHERE extract(milliseconds FROM ts) = 30500;
CREATE FUNCTION asp_answer(query text, t text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT count(*) || '' '' || sum(hashtextextended(q::text, 0)::numeric) FROM (%s) AS q', regexp_replace(query, '\mT\M', t, 'g')) INTO result;
	RETURN result;
END $$;
-- what the heap answered, which is asked once for each query; and settings under which all were asked (with all switches off, turning off one more is no other)
CREATE TABLE asp_asked (question text PRIMARY KEY, answer text);
CREATE TABLE asp_ways (way text);
CREATE FUNCTION asp_differ() RETURNS TABLE (query text, strata text, heap text) LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM asp_ways WHERE way = (SELECT string_agg(name || ' ' || setting, ',' ORDER BY name) FROM pg_settings WHERE name ~ '^strata.enable|work_mem|^hash_mem|parallel|^strata.agg')) THEN
		RETURN;
	END IF;
	INSERT INTO asp_ways SELECT string_agg(name || ' ' || setting, ',' ORDER BY name) FROM pg_settings WHERE name ~ '^strata.enable|work_mem|^hash_mem|parallel|^strata.agg';
	FOR query IN SELECT format('SELECT %s, %s FROM T %s', replace(k, 'ROLLUP', ''), a, 'GROUP BY ' || CASE k WHEN 'n' THEN 'trim_scale(n)' WHEN 'f + 0.0' THEN 'f' ELSE k END)
		FROM unnest(ARRAY['id', 'name', 'id, name', 'f + 0.0', 'trim_scale(n)', 'ts', 'big, seg', 'date_trunc(''minute'', ts), id % 50', 'ROLLUP(id, seg)']) AS k,
		unnest(ARRAY['count(*), min(ts), max(big), sum(id) FILTER (WHERE id % 2 = 0)', 'sum(n), max(name), sum(big)', 'count(DISTINCT seg), count(DISTINCT name), count(DISTINCT id), sum(DISTINCT id % 50)',
			'array_agg(id ORDER BY ts DESC)', 'first(id, ts), last(name, ts)', 'sum(n), avg(n), count(n)',
			'sum(CASE WHEN id % 500 = 3 THEN n * 1e18 ELSE n END), avg(CASE WHEN id % 1000 = 7 THEN ''NaN'' ELSE n / 10 END)',
			'percentile_disc(ARRAY[0.2, 0.9]) WITHIN GROUP (ORDER BY big), mode() WITHIN GROUP (ORDER BY seg)']) AS a
		WHERE NOT (k LIKE 'ROLLUP%' AND (a LIKE 'array%' OR a LIKE 'percentile%' OR a LIKE '%(DISTINCT%' OR a LIKE 'first%')) LOOP
		strata := asp_answer(query, 'asp');
		INSERT INTO asp_asked SELECT query, asp_answer(query, 'asp_h') WHERE NOT EXISTS (SELECT FROM asp_asked AS a WHERE a.question = query);
		heap := (SELECT a.answer FROM asp_asked AS a WHERE a.question = query);
		IF strata IS DISTINCT FROM heap THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
SELECT query, left(strata, 300) AS strata, left(heap, 300) AS heap FROM asp_differ();
SET strata.enable_spill_files = off;
SELECT count(*) FROM asp_differ();
RESET strata.enable_spill_files;
-- a rescan begins anew, wherever the one before it stopped
SELECT x, (SELECT count(*) FROM (SELECT id, count(*), min(name) FROM asp WHERE seg >= x GROUP BY id) AS g) AS groups,
	EXISTS (SELECT FROM (SELECT id, count(*) AS n FROM asp WHERE seg >= x GROUP BY id) AS g WHERE n > 1) AS stopped FROM generate_series(0, 2) AS x;
-- what is not read to its end leaves no files, of which a warning would tell
SET client_min_messages = warning;
BEGIN;
DECLARE asp_cursor CURSOR FOR SELECT id, count(*) FROM asp GROUP BY id;
MOVE 5000 asp_cursor;
SAVEPOINT before;
MOVE 3000 asp_cursor;
ROLLBACK TO before;
MOVE 1000 asp_cursor;
CLOSE asp_cursor;
COMMIT;
BEGIN;
DECLARE asp_cursor CURSOR FOR SELECT name, sum(n) FROM asp GROUP BY name;
MOVE 3000 asp_cursor;
SELECT 1 / 0;
ROLLBACK;
-- a state that alone outgrows memory
SELECT seg % 2 AS odd, length(string_agg(name, ',')), count(DISTINCT name) FROM asp GROUP BY 1 ORDER BY 1;
DROP FUNCTION asp_differ, asp_answer;
DROP TABLE asp, asp_h, asp_asked, asp_ways;
