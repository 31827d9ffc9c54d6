-- The newest rows of many segments that share a clock, and what begins as they do: ties go by the next keys, conditions that no filter does are tried on a
-- few rows of each batch, then on more, and documents are read as far as that. Rows and their order are those of heap.
SET client_min_messages = warning;
SET timezone = 'UTC';
CREATE TABLE sn_heap (ts timestamptz NOT NULL, host text, id int, a int, note text, doc jsonb);
-- documents: members of several types; none, of SQL's or of JSON's kind; where d1 is, an array of one behind the rows that are tried first
INSERT INTO sn_heap SELECT timestamptz '2026-01-01' + i * interval '10 seconds', 'h' || h, i * 40 + h, (i * 7 + h) % 41, CASE WHEN (i + h) % 37 = 0 THEN 'n' || i % 9 END,
	CASE WHEN (i + h) % 11 = 0 THEN NULL WHEN (i + h) % 13 = 0 THEN 'null' WHEN i % 3 = 0 THEN jsonb_build_object('s', (i * 13 + h) % 101, 'w', jsonb_build_object('u', 'u' || i % 50))
		WHEN i % 3 = 1 THEN jsonb_build_object('s', ((i * 13 + h) % 101)::text, 'i', i) ELSE jsonb_build_object('s', i % 2 = 0) END
	|| CASE WHEN h % 10 = 1 AND i = 200 THEN '{"s": [1]}' ELSE '{}' END::jsonb
	FROM generate_series(1, 800) AS i, generate_series(1, 40) AS h;
CREATE TABLE sn (LIKE sn_heap);
SELECT count(*) FROM create_hypertable('sn', 'ts', chunk_time_interval => interval '1 hour');
ALTER TABLE sn SET (strata.segmentby = 'host', strata.orderby = 'ts DESC');
INSERT INTO sn SELECT * FROM sn_heap WHERE id % 19 > 0;
SELECT count(compress_chunk(c)) FROM show_chunks('sn') AS c;
INSERT INTO sn SELECT * FROM sn_heap WHERE id % 19 = 0;
DELETE FROM sn WHERE ts = '2026-01-01 01:00:10';
DELETE FROM sn_heap WHERE ts = '2026-01-01 01:00:10';
-- the same times in the other direction
CREATE TABLE su (LIKE sn_heap) USING strata WITH (strata.segmentby = 'host', strata.orderby = 'ts');
INSERT INTO su SELECT * FROM sn_heap WHERE id % 19 > 0;
SELECT compress_chunk('su') IS NOT NULL;
INSERT INTO su SELECT * FROM sn_heap WHERE id % 19 = 0;
CREATE INDEX ON sn (ts DESC);
ANALYZE sn, su, sn_heap;

CREATE FUNCTION differences() RETURNS TABLE (query text, rows bigint, sn bigint, su bigint) LANGUAGE plpgsql AS $$
DECLARE
	conditions text[] := ARRAY['true', 'doc->>''s'' = ''50''', 'doc->>''s'' = ''true'' AND a > 5', 'doc->''w''->>''u'' = ''u7''', 'note IS NOT NULL', 'a % 7 = 3 AND lower(host) LIKE ''%3''',
		'a + 1 > 20 AND (doc->>''s'' = ''3'' OR note = ''n4'')', '(ts, host) < (timestamptz ''2026-01-01 01:10'', ''h20'')', '(ts, host) > (timestamptz ''2026-01-01 00:10'', ''h20'')'];
	orders text[] := ARRAY['ts DESC, host, id', 'ts DESC, host DESC, id', 'ts, host, id', 'ts DESC, id', 'host, ts, id', 'host DESC, ts DESC, id'];
	c text;
	o text;
	n text;
	sql text;
BEGIN
	FOREACH c IN ARRAY conditions LOOP
		FOREACH o IN ARRAY orders LOOP
			FOREACH n IN ARRAY ARRAY['1', '30 OFFSET 7', '300'] LOOP
				sql := format('(SELECT row_number() OVER () AS n, x.* FROM (SELECT * FROM %%s WHERE %s ORDER BY %s LIMIT %s) AS x)', replace(c, '%', '%%'), o, n);
				query := format('%s ORDER BY %s LIMIT %s', c, o, n);
				EXECUTE 'SELECT count(*) FROM ' || format(sql, 'sn_heap') || ' AS x' INTO rows;
				EXECUTE 'SELECT count(*) FROM (' || format(sql, 'sn_heap') || ' EXCEPT ' || format(sql, 'sn') || ') AS x' INTO sn;
				EXECUTE 'SELECT count(*) FROM (' || format(sql, 'sn_heap') || ' EXCEPT ' || format(sql, 'su') || ') AS x' INTO su;
				RETURN NEXT;
			END LOOP;
		END LOOP;
	END LOOP;
END $$;
SELECT count(*) AS queries, sum(rows) AS rows, sum(sn) AS sn, sum(su) AS su FROM differences();
SELECT query, sn, su FROM differences() WHERE sn > 0 OR su > 0;

-- to and fro through rows of which some were tried together
BEGIN;
DECLARE s SCROLL CURSOR FOR SELECT id FROM su WHERE host = 'h3' AND doc->>'s' <> '50' ORDER BY ts;
DECLARE h SCROLL CURSOR FOR SELECT id FROM sn_heap WHERE host = 'h3' AND doc->>'s' <> '50' ORDER BY ts;
MOVE FORWARD 30 IN s;
MOVE FORWARD 30 IN h;
FETCH BACKWARD 2 FROM s;
FETCH BACKWARD 2 FROM h;
MOVE FORWARD 400 IN s;
MOVE FORWARD 400 IN h;
FETCH ABSOLUTE 10 FROM s;
FETCH ABSOLUTE 10 FROM h;
MOVE FORWARD ALL IN s;
MOVE FORWARD ALL IN h;
COMMIT;
-- an error behind a condition that has none
SELECT count(*) FROM (SELECT 1 FROM sn WHERE doc->>'s' <> '50' AND 100 / (a - 20) > -200 ORDER BY ts DESC, host LIMIT 3000) AS x;
DROP FUNCTION differences;
DROP TABLE sn, su, sn_heap;
