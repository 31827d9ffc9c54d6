-- row_number() OVER (PARTITION BY ...) <= k: scans give the first k rows of each group and pass over the others; the answers are a heap's.
SET client_min_messages = error;
SET timezone = 'UTC';
SET enable_seqscan = off;
CREATE TABLE sw (ts timestamptz NOT NULL, host text, rack int, gone int, v float8, note text);
SELECT count(*) FROM create_hypertable('sw', 'ts', chunk_time_interval => interval '1 hour', create_default_indexes => false);
CREATE INDEX ON sw (host, ts DESC);
CREATE INDEX ON sw (host, rack, ts);
ALTER TABLE sw DROP gone;
ALTER TABLE sw SET (strata.segmentby = 'host, rack', strata.orderby = 'ts DESC');
CREATE TABLE sw_h (LIKE sw);
INSERT INTO sw_h SELECT timestamptz '2024-01-01Z' + i * interval '2 seconds', CASE WHEN i % 11 > 0 THEN 'h' || i % 11 END, CASE WHEN i % 3 > 0 THEN i % 3 END, i * 7919 % 100, CASE WHEN i % 2 = 0 THEN 'note' || i % 5 END FROM generate_series(1, 7000) AS i;
INSERT INTO sw SELECT * FROM sw_h;
SELECT count(compress_chunk(c)) AS chunks FROM show_chunks('sw') AS c;
INSERT INTO sw_h SELECT ts + interval '1 second', host, rack, v + 1, 'late' FROM sw_h WHERE extract(epoch FROM ts)::int % 46 = 0;
INSERT INTO sw SELECT * FROM sw_h WHERE note = 'late';
DELETE FROM sw_h WHERE v = 7 OR (host = 'h3' AND ts > '2024-01-01 01:00Z');
DELETE FROM sw WHERE v = 7 OR (host = 'h3' AND ts > '2024-01-01 01:00Z');
-- a chunk without batches
INSERT INTO sw_h SELECT timestamptz '2024-01-02Z' + i * interval '2 seconds', 'h' || i % 4, i % 2, i % 50, 'new' FROM generate_series(1, 200) AS i;
INSERT INTO sw SELECT * FROM sw_h WHERE note = 'new';
ANALYZE sw;
CREATE FUNCTION sw_answer(query text, t text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT md5(string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C")) || count(*) FROM (%s) AS q', regexp_replace(query, '\mT\M', t, 'g')) INTO result;
	RETURN result;
END $$;
-- what the heap answered, which is asked once for each query
CREATE TABLE sw_asked (question text, answer text);
CREATE FUNCTION sw_differ() RETURNS TABLE (query text, strata text, heap text) LANGUAGE plpgsql AS $$
BEGIN
	FOR query IN SELECT format('SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY %s ORDER BY %s) AS n FROM T WHERE %s) AS x WHERE %s', p, o, w, n)
			FROM unnest(ARRAY['host', 'host, rack', 'rack, host', 'rack', 'v', 'ts']) AS p, unnest(ARRAY['ts DESC', 'rack, ts']) AS o, unnest(ARRAY['true', 'host > ''h4'' AND note IS NOT NULL', 'length(note) > 4']) AS w,
			unnest(ARRAY['n <= 3', 'n = 2', '10 > n', 'n < 5 AND n <= 2', 'n <= 2 AND v > 20', '2::smallint >= n']) AS n
		-- other functions and windows of the same query see all rows
		UNION ALL SELECT format('SELECT * FROM (SELECT ts, host, %s AS o, row_number() OVER (PARTITION BY host ORDER BY ts) AS n FROM T) AS x WHERE n <= 2', f) FROM unnest(ARRAY['count(*) OVER (PARTITION BY host ORDER BY ts)', 'count(*) OVER (PARTITION BY host)', 'sum(v) OVER (PARTITION BY host)', 'lead(v, 5) OVER (PARTITION BY host ORDER BY ts)',
			'rank() OVER (PARTITION BY host ORDER BY v)', 'count(*) OVER ()', 'row_number() OVER (PARTITION BY rack ORDER BY ts, host)', 'row_number() OVER (ORDER BY ts)', 'first_value(v) OVER (PARTITION BY host ORDER BY ts DESC)', 'last_value(v) OVER (PARTITION BY host ORDER BY ts ROWS BETWEEN CURRENT ROW AND 3 FOLLOWING)']) AS f
		UNION ALL VALUES ('SELECT * FROM (SELECT host, v, rank() OVER (PARTITION BY host ORDER BY v) AS n FROM T) AS x WHERE n <= 2'), ('SELECT * FROM (SELECT host, v, dense_rank() OVER (PARTITION BY host ORDER BY ts) AS n FROM T) AS x WHERE n <= 2'), ('SELECT max(n), count(*) FROM (SELECT row_number() OVER (PARTITION BY host ORDER BY ts) AS n FROM T) AS x'),
			('SELECT h.host, x.* FROM (VALUES (''h1'', 1), (''h5'', 2), (NULL, 1)) AS h(host, k), LATERAL (SELECT * FROM (SELECT ts, rack, v, row_number() OVER (PARTITION BY rack ORDER BY ts DESC) AS n FROM T WHERE T.host = h.host) AS y WHERE n <= 2) AS x'),
			('SELECT h.k, x.* FROM (VALUES (1), (3)) AS h(k), LATERAL (SELECT * FROM (SELECT ts, host, row_number() OVER (PARTITION BY host ORDER BY ts DESC) AS n FROM T) AS y WHERE n <= h.k) AS x'),
			('SELECT DISTINCT host, count(*) OVER () FROM (SELECT host, row_number() OVER (PARTITION BY host ORDER BY ts DESC) AS n FROM T) AS y WHERE n <= 2'), ('SELECT * FROM (SELECT host, rack, row_number() OVER (PARTITION BY host ORDER BY ts DESC) AS n FROM (SELECT * FROM T WHERE v < 90 ORDER BY ts LIMIT 1000) AS z) AS y WHERE n <= 2') LOOP
		strata := sw_answer(query, 'sw');
		INSERT INTO sw_asked SELECT query, sw_answer(query, 'sw_h') WHERE NOT EXISTS (SELECT FROM sw_asked AS a WHERE a.question = query);
		heap := (SELECT a.answer FROM sw_asked AS a WHERE a.question = query);
		IF strata IS DISTINCT FROM heap THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
SELECT * FROM sw_differ();
SET strata.enable_window_limit = off;
SELECT count(*) FROM sw_differ();
RESET strata.enable_window_limit;
SET enable_sort = off;
SELECT count(*) FROM sw_differ();
-- one table, whose segments are no prefix of the order wanted, and which was sorted otherwise once
DROP TABLE sw;
CREATE TABLE sw (LIKE sw_h) USING strata WITH (strata.segmentby = 'host', strata.orderby = 'rack, ts');
CREATE INDEX ON sw (host, ts);
INSERT INTO sw SELECT * FROM sw_h WHERE v < 50;
SELECT compress_chunk('sw') IS NOT NULL AS compressed;
ALTER TABLE sw SET (strata.segmentby = 'rack', strata.orderby = 'ts');
INSERT INTO sw SELECT * FROM sw_h WHERE v >= 50 AND note IS NOT NULL;
SELECT compress_chunk('sw') IS NOT NULL AS compressed;
INSERT INTO sw SELECT * FROM sw_h WHERE v >= 50 AND note IS NULL;
SELECT count(*) FROM sw_differ();
-- parameters, and a cursor
PREPARE sw_p(int) AS SELECT host, to_char(ts, 'HH24:MI:SS') AS t FROM (SELECT *, row_number() OVER (PARTITION BY host ORDER BY ts) AS n FROM sw) AS x WHERE n <= $1 ORDER BY 1, 2 LIMIT 4;
EXECUTE sw_p(1);
EXECUTE sw_p(2);
BEGIN;
DECLARE sw_c SCROLL CURSOR FOR SELECT host, to_char(ts, 'HH24:MI:SS') AS t FROM (SELECT *, row_number() OVER (PARTITION BY host ORDER BY ts) AS n FROM sw) AS x WHERE n <= 2;
FETCH 3 FROM sw_c;
FETCH BACKWARD 1 FROM sw_c;
COMMIT;
DROP FUNCTION sw_differ, sw_answer;
DROP TABLE sw, sw_h;
