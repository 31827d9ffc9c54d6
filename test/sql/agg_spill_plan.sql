-- Which groups leave memory, says the plan.
SET client_min_messages = error;
SET timezone = 'UTC';
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
CREATE TABLE aspp (ts timestamptz NOT NULL, seg int, id int, name text, f float8, n numeric, big bigint) USING strata
	WITH (strata.segmentby = 'seg', strata.orderby = 'ts');
CREATE TABLE aspp_h (LIKE aspp);
-- ids: a third comes again and again, the others seldom; equal numerics and floats in other bytes
INSERT INTO aspp_h SELECT timestamptz '2024-01-01Z' + i * interval '1 second', i / 10000, CASE WHEN i % 101 = 0 THEN NULL WHEN i % 3 = 0 THEN i % 300 ELSE i / 3 END,
	CASE WHEN i % 97 <> 0 THEN 'name ' || CASE WHEN i % 2 = 0 THEN i % 500 ELSE i / 4 END END, CASE i % 7 WHEN 0 THEN '-0' WHEN 1 THEN '0' WHEN 2 THEN 'NaN' ELSE (i / 5)::text END::float8,
	CASE WHEN i % 2 = 0 THEN i / 6 ELSE (i / 6)::numeric(20, 3) END, CASE WHEN i % 5 <> 0 THEN 9223372036854775807 - i END FROM generate_series(0, 29999) AS i;
INSERT INTO aspp SELECT * FROM aspp_h;
SELECT compress_chunk('aspp') IS NOT NULL AS compressed;
CREATE FUNCTION aspp_spills(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) ' || query LOOP
		IF line ~ 'Spills: [1-9]' THEN
			RETURN true;
		END IF;
	END LOOP;
	RETURN false;
END $$;
SELECT q, aspp_spills(q) FROM unnest(ARRAY['SELECT id, count(*) FROM aspp GROUP BY id', 'SELECT name, sum(n) FROM aspp GROUP BY name', 'SELECT ts, array_agg(id ORDER BY f) FROM aspp GROUP BY ts',
	'SELECT seg, count(DISTINCT name) FROM aspp GROUP BY seg', 'SELECT seg, count(DISTINCT id * 64) FROM aspp GROUP BY seg', 'SELECT seg, count(*) FROM aspp GROUP BY seg']) AS q;
-- groups without aggregates: as words of 64, where these are few
SELECT q, aspp_spills(q) FROM unnest(ARRAY['SELECT DISTINCT id, seg FROM aspp', 'SELECT seg, id FROM aspp GROUP BY id, seg', 'SELECT DISTINCT id * 64, seg FROM aspp', 'SELECT DISTINCT id, name FROM aspp']) AS q;
SET strata.enable_key_codes = off;
SELECT aspp_spills('SELECT DISTINCT id, seg FROM aspp');
RESET strata.enable_key_codes;
SET strata.enable_spill_files = off;
SELECT aspp_spills('SELECT id, count(*) FROM aspp GROUP BY id');
DROP FUNCTION aspp_spills;
DROP TABLE aspp, aspp_h;
