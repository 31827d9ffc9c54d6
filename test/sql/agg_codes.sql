-- Keys of few values: the same groups whether they are looked up once a vector or for each run, and those of a heap.
SET client_min_messages = error;
SET timezone = 'UTC';
CREATE TABLE ac (ts timestamptz NOT NULL, host text, path text, small int2, status int, big int8, f float8, num numeric, b bool, ch char(4), arr int[]);
SELECT count(*) FROM create_hypertable('ac', 'ts', chunk_time_interval => interval '12 hours', create_default_indexes => false);
ALTER TABLE ac SET (strata.segmentby = 'host', strata.orderby = 'ts');
CREATE TABLE ac_h (LIKE ac);
INSERT INTO ac_h SELECT timestamptz '2024-03-09Z' + g * interval '17 seconds', 'host' || g % 3, CASE WHEN g % 13 <> 0 THEN '/Api/' || g * 7919::int8 % 11 || '/x' || g % 2 END,
	CASE WHEN g % 11 <> 0 THEN g * 31 % 9 - 4 END, 100 * (1 + g * 104729::int8 % 5), (g * 7919::int8 % 4 - 2) * 4611686018427387904::numeric::int8 / 2,
	CASE g % 7 WHEN 0 THEN '-0' WHEN 1 THEN '0' WHEN 2 THEN 'NaN' WHEN 3 THEN NULL ELSE (g % 4)::text END::float8, CASE g % 5 WHEN 0 THEN 1.5 WHEN 1 THEN 1.50 WHEN 2 THEN NULL ELSE g % 3 END,
	CASE WHEN g % 9 <> 0 THEN g * 3 % 4 = 1 END, 'c' || g * 7 % 5, ARRAY[g * 5 % 3] FROM generate_series(1, 6000) AS g;
INSERT INTO ac SELECT * FROM ac_h;
SELECT count(compress_chunk(c)) > 1 AS many FROM show_chunks('ac') AS c;
INSERT INTO ac_h SELECT ts, host, path || '/late', small, status, big, f, num, b, ch, arr FROM ac_h WHERE extract(epoch FROM ts)::int8 % 20 = 0 AND path IS NOT NULL;
INSERT INTO ac SELECT * FROM ac_h WHERE path LIKE '%/late';
DELETE FROM ac_h WHERE small = 4; DELETE FROM ac WHERE small = 4;
CREATE FUNCTION ac_answer(query text, t text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C") FROM (%s) AS q', regexp_replace(query, '\mT\M', t, 'g')) INTO result;
	RETURN result;
END $$;
-- what the heap answered, which is asked once for each query
CREATE TABLE ac_asked (question text, answer text);
CREATE FUNCTION ac_differ() RETURNS TABLE (query text, strata text, heap text) LANGUAGE plpgsql AS $$
BEGIN
	FOR query IN SELECT format('SELECT count(*), sum(status), min(ts), max(path) %s FROM T WHERE %s GROUP BY %s', more, w, k)
		FROM unnest(ARRAY['path', 'small', 'status', 'big', 'f', 'num', 'b', 'ch', 'arr', 'b, status', 'path, small, b', 'status, path, small, b', 'status, b, ch, small, host', 'lower(path)', 'upper(path), status', 'split_part(path, ''/'', 3)',
			'CASE WHEN status < 300 THEN ''ok'' WHEN small > 0 THEN path END', 'date_trunc(''hour'', ts), status', 'time_bucket(''20 minutes'', ts), path, b', 'status % 300', 'host, path || b::text', 'ts', 'big + small', 'nullif(path, ''/Api/3/x1''), b',
			'floor(f), small', 'f / 4', 'f * 1e300, b', 'status * 1000003::int8', 'big, small', 'status::float8 / 7', 'coalesce(split_part(path, ''/'', 3), ''none'')', 'upper(substr(path, 2, 3)), length(path)',
			'nullif(left(path, 7), ''/Api/4/''), f', 'left(path, 3)', 'upper(ch) || small']) AS k,
		unnest(ARRAY['true', 'status > 200', 'small <> 2 AND ts < ''2024-03-10''']) AS w, unnest(ARRAY['', ', count(DISTINCT path), array_agg(status ORDER BY ts, status), first(status, ts) IS NULL',
			', count(*) FILTER (WHERE status > 200), sum(small) FILTER (WHERE b), round(max(num), 1), sum(num), avg(f), sum(small * 2) FILTER (WHERE small > 0), stddev(status)']) AS more LOOP
		strata := ac_answer(query, 'ac');
		INSERT INTO ac_asked SELECT query, ac_answer(query, 'ac_h') WHERE NOT EXISTS (SELECT FROM ac_asked AS a WHERE a.question = query);
		heap := (SELECT a.answer FROM ac_asked AS a WHERE a.question = query);
		IF strata IS DISTINCT FROM heap THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
SELECT query, left(strata, 300) AS strata, left(heap, 300) AS heap FROM ac_differ();
SET strata.enable_key_codes = off;
SELECT count(*) FROM ac_differ();
RESET strata.enable_key_codes;
SET strata.enable_group_lookahead = off;
SELECT count(*) FROM ac_differ();
RESET strata.enable_group_lookahead;
SET work_mem = '64kB';
SET strata.agg_least_groups = 16;
SET hash_mem_multiplier = 1;
SELECT count(*) FROM ac_differ();
DROP FUNCTION ac_differ, ac_answer;
DROP TABLE ac, ac_h;
