-- Early stops beside rows that came late: the answer is the same as without them, whichever half has the best rows.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET strata.batch_rows = 100;
CREATE TABLE alr (ts timestamptz NOT NULL, k text, v int);
SELECT count(*) FROM create_hypertable('alr', 'ts', chunk_time_interval => interval '1 hour', create_default_indexes => false);
ALTER TABLE alr SET (strata.segmentby = 'k', strata.orderby = 'ts DESC');
CREATE TABLE alr_h (ts timestamptz NOT NULL, k text, v int);
INSERT INTO alr_h SELECT timestamptz '2020-01-01Z' + g * interval '2 seconds', 'k' || g % 7, g FROM generate_series(0, 7199) AS g;
INSERT INTO alr SELECT * FROM alr_h;
SELECT count(compress_chunk(c)) FROM show_chunks('alr') AS c;
CREATE FUNCTION alr_differ() RETURNS TABLE (query text) LANGUAGE plpgsql AS $$
DECLARE
	answers text[];
	way text;
	one text;
BEGIN
	FOREACH query IN ARRAY ARRAY[
		'SELECT date_trunc(''minute'', ts), count(*), sum(v) FROM alr GROUP BY 1 ORDER BY 1 DESC LIMIT 5',
		'SELECT date_trunc(''minute'', ts), count(*), sum(v) FROM alr GROUP BY 1 ORDER BY 1 LIMIT 5',
		'SELECT date_trunc(''hour'', ts), k, count(*), max(v) FROM alr GROUP BY 1, 2 ORDER BY 1 DESC, 2 LIMIT 9',
		'SELECT date_trunc(''minute'', ts), max(v) FROM alr WHERE ts < ''2020-01-01 02:10:30Z'' GROUP BY 1 ORDER BY 1 DESC LIMIT 3',
		'SELECT ts, count(*), sum(v) FROM alr WHERE v > 3 GROUP BY 1 ORDER BY 1 DESC LIMIT 4',
		'SELECT date_trunc(''day'', ts), count(*), sum(v) FROM alr GROUP BY 1 ORDER BY 1 DESC LIMIT 1',
		'SELECT DISTINCT ON (k) * FROM alr ORDER BY k, ts DESC',
		'SELECT DISTINCT ON (k) * FROM alr ORDER BY k, ts',
		'SELECT k, max(ts), count(*) FROM (SELECT * FROM alr) AS a GROUP BY k ORDER BY k',
		'SELECT k, max(ts) FROM alr GROUP BY k ORDER BY k',
		'SELECT k, min(ts) FROM alr WHERE v % 3 = 1 GROUP BY k ORDER BY k'] LOOP
		answers := '{}';
		FOREACH way IN ARRAY ARRAY['early_stop', 'page_scan', 'row_grouping', 'none', 'heap'] LOOP
			one := CASE WHEN way = 'heap' THEN replace(query, 'alr', 'alr_h') ELSE query END;
			PERFORM set_config('strata.enable_' || way, 'off', true) WHERE way IN ('early_stop', 'page_scan', 'row_grouping');
			EXECUTE 'SELECT string_agg(x::text, '';'') FROM (' || one || ') AS x' INTO one;
			answers := answers || coalesce(one, '-');
			PERFORM set_config('strata.enable_' || way, 'on', true) WHERE way IN ('early_stop', 'page_scan', 'row_grouping');
		END LOOP;
		IF (SELECT count(DISTINCT a) FROM unnest(answers) AS a) <> 1 THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
SELECT * FROM alr_differ();
-- rows between the others
WITH late AS (INSERT INTO alr_h SELECT timestamptz '2020-01-01Z' + g * interval '1 second', 'k' || g % 7, -g
	FROM generate_series(1, 14399, 30) AS g RETURNING *) INSERT INTO alr SELECT * FROM late;
SELECT * FROM alr_differ();
-- a segment that only an old chunk has; the newest and the oldest row of all; more than a thousand late rows in one chunk
WITH late AS (INSERT INTO alr_h VALUES ('2020-01-01 00:30:00.5Z', 'only', 1), ('2020-01-01 03:59:59.5Z', 'k3', 2),
	('2020-01-01 00:00:00.5Z', 'k0', 3) RETURNING *) INSERT INTO alr SELECT * FROM late;
SELECT * FROM alr_differ();
WITH late AS (INSERT INTO alr_h SELECT timestamptz '2020-01-01 02:00:00.3Z' + g * interval '1 second', 'k' || g % 9, -g
	FROM generate_series(1, 3000) AS g RETURNING *) INSERT INTO alr SELECT * FROM late;
SELECT * FROM alr_differ();
-- by indexes of the table, where few late rows matter: the best of each group, those in the last buckets
CREATE INDEX ON alr (k, ts DESC);
CREATE INDEX ON alr (ts);
SELECT * FROM alr_differ();
WITH late AS (INSERT INTO alr_h SELECT timestamptz '2020-01-01 01:00:00.3Z' + g * interval '1 second', nullif('m' || g, 'm7'), g
	FROM generate_series(1, 900) AS g RETURNING *) INSERT INTO alr SELECT * FROM late;
SELECT * FROM alr_differ();
DELETE FROM alr WHERE v % 5 = 0;
DELETE FROM alr_h WHERE v % 5 = 0;
SELECT * FROM alr_differ();
-- a chunk without batches, and one without rows
WITH late AS (INSERT INTO alr_h SELECT timestamptz '2020-01-01 05:00:00.3Z' + g * interval '1 second', 'k' || g % 9, -g
	FROM generate_series(1, 500) AS g RETURNING *) INSERT INTO alr SELECT * FROM late;
SELECT * FROM alr_differ();
DELETE FROM alr WHERE ts >= '2020-01-01 05:00Z';
DELETE FROM alr_h WHERE ts >= '2020-01-01 05:00Z';
SELECT * FROM alr_differ();
-- a default partition has rows of any time
CREATE TABLE alr_rest PARTITION OF alr DEFAULT;
WITH late AS (INSERT INTO alr_h VALUES ('2031-01-01Z', 'k1', 1), ('2001-01-01Z', 'k2', 2) RETURNING *) INSERT INTO alr_rest SELECT * FROM late;
SELECT * FROM alr_differ();
DROP TABLE alr, alr_h;
DROP FUNCTION alr_differ;
