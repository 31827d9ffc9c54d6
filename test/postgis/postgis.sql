-- Run by tools/postgis.sh.  Ends with an error where an answer differs from heap's, or a batch index is not used.
\set ON_ERROR_STOP 1
SET client_min_messages = warning;
SET timezone = 'UTC';
DROP SCHEMA IF EXISTS gis CASCADE;
CREATE SCHEMA gis;
CREATE EXTENSION IF NOT EXISTS strata;
CREATE EXTENSION IF NOT EXISTS postgis;
SET search_path = gis, public;
SET strata.index_pages = 0;
SET strata.batch_rows = 200;
CREATE TABLE h (ts timestamptz NOT NULL, veh int, pos geometry(Point, 4326), geo geography, area geometry, id int);
SELECT setseed(0.5);
INSERT INTO h SELECT '2026-01-01'::timestamptz + n * interval '10 s', v,
	CASE WHEN n % 997 = 0 THEN NULL WHEN n % 991 = 0 THEN 'SRID=4326;POINT EMPTY'::geometry ELSE ST_SetSRID(ST_MakePoint(x, y), 4326) END,
	CASE WHEN n % 3 = 0 THEN ST_SetSRID(ST_MakePoint(x, y), 4326)::geography END,
	CASE n % 40 WHEN 0 THEN ST_Buffer(ST_MakePoint(x, y), 0.01, 2) WHEN 1 THEN ST_MakeLine(ST_MakePoint(x, y), ST_MakePoint(x + 0.05, y - 0.03)) WHEN 2 THEN 'GEOMETRYCOLLECTION EMPTY' END, v * 1000 + n
FROM (SELECT v, n, 4 + 2 * (v * 7919 % 100) / 100.0 + sum(random() - 0.5) OVER w * 0.002 AS x, 50 + 2 * (v * 104729 % 100) / 100.0 + sum(random() - 0.5) OVER w * 0.002 AS y
	FROM generate_series(1, 100) AS v, generate_series(1, 1000) AS n WINDOW w AS (PARTITION BY v ORDER BY n)) AS s;
CREATE TABLE t (LIKE h) USING strata WITH (strata.segmentby = 'veh', strata.orderby = 'ts');
CREATE TABLE b (LIKE h) USING strata WITH (strata.segmentby = 'veh', strata.orderby = 'ts');
INSERT INTO t TABLE h;
INSERT INTO b TABLE h;
CREATE INDEX t_pos ON t USING gist (pos);
CREATE INDEX t_geo ON t USING gist (geo);
CREATE INDEX t_area ON t USING gist (area);
SELECT compress_chunk('t');
SELECT compress_chunk('b');
CREATE INDEX b_pos ON b USING brin (pos);
CREATE INDEX b_geo ON b USING brin (geo);
CREATE INDEX b_area ON b USING brin (area);
-- an expression, and some rows
CREATE INDEX b_made ON b USING gist (ST_Transform(pos, 3857)) WHERE pos IS NOT NULL;
UPDATE h SET pos = ST_SetSRID(ST_MakePoint(5, 51), 4326) WHERE id % 7001 = 0;
UPDATE t SET pos = ST_SetSRID(ST_MakePoint(5, 51), 4326) WHERE id % 7001 = 0;
UPDATE b SET pos = ST_SetSRID(ST_MakePoint(5, 51), 4326) WHERE id % 7001 = 0;
DELETE FROM h WHERE id % 5003 = 0;
DELETE FROM t WHERE id % 5003 = 0;
DELETE FROM b WHERE id % 5003 = 0;
VACUUM (ANALYZE) h, t, b;
CREATE TABLE condition (c text, served boolean);
INSERT INTO condition VALUES
	('pos && ST_MakeEnvelope(4.5, 50.5, 4.55, 50.55, 4326)', true), ('ST_Intersects(pos, ST_MakeEnvelope(4.5, 50.5, 4.55, 50.55, 4326))', true), ('ST_Intersects(ST_MakeEnvelope(4.5, 50.5, 4.55, 50.55, 4326), pos)', true),
	('ST_Within(pos, ST_MakeEnvelope(4.5, 50.5, 4.55, 50.55, 4326))', true), ('ST_Contains(ST_MakeEnvelope(4.5, 50.5, 4.55, 50.55, 4326), pos)', true), ('ST_DWithin(pos, ST_SetSRID(ST_MakePoint(5, 51), 4326), 0.02)', true),
	('ST_DWithin(geo, ''POINT(5 51)''::geography, 3000)', true), ('geo && ''LINESTRING(5 51, 5.01 51.01)''::geography', true), ('ST_Intersects(geo, ''POLYGON((5 51, 5.05 51, 5.05 51.05, 5 51.05, 5 51))''::geography)', true),
	('ST_Intersects(area, ST_MakeEnvelope(4.5, 50.5, 4.6, 50.6))', true), ('ST_Crosses(area, ST_MakeLine(ST_MakePoint(4.5, 50.5), ST_MakePoint(4.6, 50.6)))', true), ('area && ST_MakeEnvelope(4.5, 50.5, 4.52, 50.52)', true),
	('ST_DWithin(area, ST_MakePoint(5, 51), 0.03)', true), ('ST_Intersects(pos, ST_MakeEnvelope(4.5, 50.5, 4.55, 50.55, 4326)) AND ts < ''2026-01-01 01:00''', true), ('NOT ST_Intersects(pos, ST_MakeEnvelope(4, 50, 6, 52, 4326))', false),
	('ST_Intersects(pos, NULL)', false), ('ST_Intersects(pos, ''SRID=4326;POINT EMPTY'')', false), ('pos ~= ST_SetSRID(ST_MakePoint(5, 51), 4326)', false), ('pos = ST_SetSRID(ST_MakePoint(5, 51), 4326)', false), ('ST_IsEmpty(pos)', false), ('pos IS NULL', false),
	('ST_Disjoint(pos, ST_MakeEnvelope(4, 50, 6, 52, 4326))', false), ('ST_Intersects(pos, pos)', false), ('ST_DWithin(pos, ST_SetSRID(ST_MakePoint(5, 51), 4326), veh / 10000.0)', false), ('pos << ST_MakeEnvelope(4.1, 50, 4.2, 52, 4326)', false), ('area @ ST_MakeEnvelope(4.5, 50.5, 4.7, 50.7)', false),
	('ST_Intersects(ST_Transform(pos, 3857), ST_Transform(ST_MakeEnvelope(4.5, 50.5, 4.55, 50.55, 4326), 3857)) AND pos IS NOT NULL', false);
DO $$
DECLARE
	q record;
	n bigint;
	line text;
	used boolean;
	name text;
	switch text;
BEGIN
	FOR q IN TABLE condition LOOP
		FOREACH name IN ARRAY ARRAY['t', 'b'] LOOP
			FOREACH switch IN ARRAY ARRAY['off', 'on'] LOOP
				PERFORM set_config('strata.enable_batch_index', switch, false);
				EXECUTE format('WITH s AS MATERIALIZED (SELECT id FROM %s AS x WHERE %s), g AS MATERIALIZED (SELECT id FROM h AS x WHERE %2$s) SELECT count(*) FROM ((TABLE s EXCEPT ALL TABLE g) UNION ALL (TABLE g EXCEPT ALL TABLE s)) AS d', name, q.c) INTO n;
				IF n > 0 THEN RAISE '% rows of % differ (batch index %): %', n, name, switch, q.c; END IF;
			END LOOP;
			used := false;
			FOR line IN EXECUTE format('EXPLAIN SELECT id FROM %s AS x WHERE %s', name, q.c) LOOP used := used OR line LIKE '%Batch Index:%'; END LOOP;
			-- BRIN's classes of PostGIS let batches with empty geometries through
			IF q.served AND NOT used AND (name = 't' OR q.c ~ 'pos &&|Intersects\(pos|DWithin\(pos') THEN RAISE 'no batch index of % is used: %', name, q.c; END IF;
		END LOOP;
	END LOOP;
	-- the nearest rows: distances, since several may be as far
	FOREACH name IN ARRAY ARRAY['pos <-> ST_SetSRID(ST_MakePoint(5, 51), 4326)', 'geo <-> ''POINT(5 51)''::geography', 'area <-> ST_MakePoint(4.3, 51.2)'] LOOP
		EXECUTE format('WITH s AS MATERIALIZED (SELECT %s AS d FROM t ORDER BY 1 LIMIT 25), g AS MATERIALIZED (SELECT %1$s AS d FROM h ORDER BY 1 LIMIT 25) SELECT count(*) FROM ((TABLE s EXCEPT ALL TABLE g) UNION ALL (TABLE g EXCEPT ALL TABLE s)) AS d', name) INTO n;
		IF n > 0 THEN RAISE '% distances differ: %', n, name; END IF;
		EXECUTE format('WITH s AS MATERIALIZED (SELECT %s AS d FROM t WHERE ts > ''2026-01-01 01:00'' AND veh < 50 ORDER BY 1 LIMIT 25), g AS MATERIALIZED (SELECT %1$s AS d FROM h WHERE ts > ''2026-01-01 01:00'' AND veh < 50 ORDER BY 1 LIMIT 25) SELECT count(*) FROM ((TABLE s EXCEPT ALL TABLE g) UNION ALL (TABLE g EXCEPT ALL TABLE s)) AS d', name) INTO n;
		IF n > 0 THEN RAISE '% distances of some rows differ: %', n, name; END IF;
	END LOOP;
	SELECT count(*) INTO n FROM strata.verify('t'::regclass);
	IF n > 0 THEN RAISE 'verify(t): % problems', n; END IF;
	SELECT count(*) INTO n FROM strata.verify('b'::regclass);
	IF n > 0 THEN RAISE 'verify(b): % problems', n; END IF;
END $$;
-- joins, by each row's box
SET enable_hashjoin = off; SET enable_mergejoin = off;
SELECT n.t = n.h AND n.b = n.h AND n.h > 0 AS joins_are_the_same FROM (SELECT (SELECT count(*) FROM (SELECT pos FROM h WHERE id % 4999 = 1) AS o JOIN t AS x ON ST_DWithin(x.pos, o.pos, 0.01)) AS t,
	(SELECT count(*) FROM (SELECT pos FROM h WHERE id % 4999 = 1) AS o JOIN b AS x ON ST_DWithin(x.pos, o.pos, 0.01)) AS b, (SELECT count(*) FROM (SELECT pos FROM h WHERE id % 4999 = 1) AS o JOIN h AS x ON ST_DWithin(x.pos, o.pos, 0.01)) AS h) AS n \gset
SELECT 1 / (:'joins_are_the_same'::boolean)::int AS joins_are_the_same;
DROP SCHEMA gis CASCADE;
