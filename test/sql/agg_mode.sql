-- mode() of texts and the like: the same as of a heap, with ties, nulls, FILTER, collations, groups beyond memory.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET strata.batch_rows = 500;
SET max_parallel_workers_per_gather = 0;
CREATE COLLATION am_ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE DOMAIN am_domain AS text;
CREATE TABLE am (gone int, id int, seg text, few text, many text, uq text, c text COLLATE am_ci, e text COLLATE "en-x-icu", u uuid, by bytea, nm name,
	n numeric, bp char(5), dom am_domain, long text, v int) USING strata WITH (strata.segmentby = 'seg', strata.orderby = 'id');
ALTER TABLE am DROP COLUMN gone;
CREATE TABLE am_h (LIKE am);
INSERT INTO am_h SELECT g, 's' || g % 4, CASE WHEN g % 11 > 0 THEN 'f' || g * g % 7 END, 'm' || hashint4(g) % 700, md5(g::text), CASE WHEN g % 2 = 0 THEN 'x' ELSE 'X' END || g % 3,
	CASE g % 5 WHEN 0 THEN 'ä' WHEN 1 THEN 'a' WHEN 2 THEN 'B' WHEN 3 THEN 'b' ELSE 'Z' END || g % 2, md5((g % 90)::text)::uuid, decode(md5((g * 7 % 50)::text), 'hex'),
	('n' || g % 6)::name, g % 9 * 0.5, 'b' || g % 4, 'd' || g % 13, repeat('l' || g % 3, 400 + g % 2), g % 20 FROM generate_series(1, 6000) AS g;
INSERT INTO am SELECT * FROM am_h;
SELECT compress_chunk('am') IS NOT NULL;
ANALYZE am;
CREATE FUNCTION am_differ() RETURNS TABLE (query text, strata text, heap text) LANGUAGE plpgsql AS $$
DECLARE
	c text;
BEGIN
	FOREACH c IN ARRAY ARRAY['seg', 'few', 'many', 'uq', 'e', 'u', 'by', 'nm', 'bp', 'dom', 'upper(few)', 'many COLLATE "C"', 'few || seg', 'n', 'long', 'v::text', 'lower(c)'] LOOP
		FOREACH query IN ARRAY ARRAY['SELECT mode() WITHIN GROUP (ORDER BY X), mode() WITHIN GROUP (ORDER BY X DESC) FROM am',
			'SELECT v, mode() WITHIN GROUP (ORDER BY X), count(*) FROM am GROUP BY v', 'SELECT seg, mode() WITHIN GROUP (ORDER BY X), min(id) FROM am GROUP BY seg',
			'SELECT id / 700 AS b, seg, mode() WITHIN GROUP (ORDER BY X DESC) FILTER (WHERE v > 3), percentile_disc(0.5) WITHIN GROUP (ORDER BY X) FROM am WHERE few IS NOT NULL GROUP BY 1, 2',
			'SELECT mode() WITHIN GROUP (ORDER BY X) FROM am WHERE id < 0', 'SELECT id % 1500 AS b, mode() WITHIN GROUP (ORDER BY X) FROM am GROUP BY 1 HAVING mode() WITHIN GROUP (ORDER BY X) IS NOT NULL'] LOOP
			query := replace(query, 'X', c);
			EXECUTE format('SELECT md5(string_agg(x::text, '';'' ORDER BY x)), %L FROM (%s) AS x', '', query) INTO strata;
			EXECUTE format('SELECT md5(string_agg(x::text, '';'' ORDER BY x)), %L FROM (%s) AS x', '', replace(query, 'FROM am', 'FROM am_h')) INTO heap;
			IF strata IS DISTINCT FROM heap THEN
				RETURN NEXT;
			END IF;
		END LOOP;
	END LOOP;
END $$;
SELECT * FROM am_differ();
-- late rows, rows changed, little memory
INSERT INTO am_h SELECT id + 3, seg, few, many || 'x', uq, c, e, u, by, nm, n, bp, dom, long, v + 1 FROM am_h WHERE id % 10 = 3;
INSERT INTO am SELECT * FROM am_h WHERE many LIKE '%x';
UPDATE am SET few = 'zz', seg = 's9' WHERE id % 17 = 1;
UPDATE am_h SET few = 'zz', seg = 's9' WHERE id % 17 = 1;
SELECT * FROM am_differ();
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT * FROM am_differ();
RESET work_mem;
RESET hash_mem_multiplier;
-- equal ones that are not the same bytes: any of them
SELECT lower(mode() WITHIN GROUP (ORDER BY c)) FROM am;
SELECT lower(mode() WITHIN GROUP (ORDER BY c)) FROM am_h;
-- parameters, a subplan that is rescanned
PREPARE am_of(text) AS SELECT mode() WITHIN GROUP (ORDER BY few) FROM am WHERE seg = $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE am_of('s1');
EXECUTE am_of('s9');
EXECUTE am_of('none');
SELECT g, (SELECT mode() WITHIN GROUP (ORDER BY many) FROM am WHERE v = g) = (SELECT mode() WITHIN GROUP (ORDER BY many) FROM am_h WHERE v = g) FROM generate_series(1, 3) AS g;
DROP TABLE am, am_h;
DROP FUNCTION am_differ;
DROP DOMAIN am_domain;
DROP COLLATION am_ci;
