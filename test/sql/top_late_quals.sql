-- The first rows of an order under conditions that are tried late, on rows that may be among them only: the same as of a heap.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET strata.batch_rows = 500;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE lq_h (ts timestamptz NOT NULL, k text, j jsonb, s text, i int, n int, id int);
CREATE TABLE lq (LIKE lq_h);
SELECT count(*) FROM create_hypertable('lq', 'ts', chunk_time_interval => interval '12 hours', create_default_indexes => false);
ALTER TABLE lq SET (strata.segmentby = 'k', strata.orderby = 'ts DESC');
-- another order, in a table
CREATE VIEW lq_up_h AS SELECT ts, k, j, s, coalesce(i, -1) AS i, n, id FROM lq_h;
CREATE TABLE lq_up (LIKE lq_h) USING strata WITH (strata.segmentby = 'k', strata.orderby = 'i');
-- segments of very different lengths; equal times; the newest rows seldom pass
CREATE FUNCTION lq_rows(lo int, hi int) RETURNS SETOF lq_h LANGUAGE sql AS $$
	SELECT timestamptz '2020-01-01Z' + g / 3 * interval '30 seconds', CASE WHEN g % 40 = 0 THEN NULL ELSE 'k' || (g % 97) % (g % 13 + 1) END,
		CASE g % 11 WHEN 3 THEN '{}' WHEN 4 THEN '{"code": [1]}' WHEN 5 THEN NULL
			ELSE jsonb_build_object('code', CASE WHEN g % 211 = 7 THEN 502 ELSE 200 + g % 3 END, 'ms', g % 1009) END,
		md5(g::text) || CASE WHEN g % 307 = 1 THEN ' late' ELSE '' END, CASE WHEN g % 5 <> 0 THEN g / 2 END, g % 100, g
	FROM generate_series(lo, hi) AS g $$;
INSERT INTO lq_h SELECT * FROM lq_rows(0, 11999);
INSERT INTO lq SELECT * FROM lq_h;
INSERT INTO lq_up SELECT * FROM lq_up_h;
SELECT count(compress_chunk(c)) FROM show_chunks('lq') AS c;
SELECT count(compress_chunk('lq_up')) FROM (SELECT) AS x;
INSERT INTO lq_h SELECT ts, k, j, s, i, n, id + 100000 FROM lq_rows(300, 6000) WHERE id % 4 = 1;
INSERT INTO lq SELECT * FROM lq_h WHERE id >= 100000;
INSERT INTO lq_up SELECT * FROM lq_up_h WHERE id >= 100000;
DELETE FROM lq_h WHERE id % 17 = 3;
DELETE FROM lq WHERE id % 17 = 3;
DELETE FROM lq_up WHERE id % 17 = 3;
UPDATE lq_h SET s = s || ' late' WHERE id % 401 = 9;
UPDATE lq SET s = s || ' late' WHERE id % 401 = 9;
UPDATE lq_up SET s = s || ' late' WHERE id % 401 = 9;
ANALYZE lq_h, lq, lq_up;
CREATE FUNCTION lq_odd(v int) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RETURN v % 50 = 21; END $$;
ALTER FUNCTION lq_odd IMMUTABLE;
CREATE FUNCTION lq_differ() RETURNS TABLE (query text, way text) LANGUAGE plpgsql AS $$
DECLARE
	want text;
	got text;
	condition text;
	cut text;
	relation text;
	twin text;
BEGIN
	FOREACH relation IN ARRAY ARRAY['lq', 'lq_up'] LOOP
	FOREACH condition IN ARRAY ARRAY['j ->> ''code'' = ''502''', 'j ->> ''code'' = ''502'' AND n > 20', 's LIKE ''%late''', 's LIKE ''%late'' AND k = ''k1''',
		'lq_odd(n)', 'lq_odd(n) AND (j ->> ''ms'')::int > 900', 'length(s) = 37 OR n = 77', 'lower(k) = ''k2'' AND j ->> ''code'' = ''201''',
		'j IS NOT NULL AND upper(s) LIKE ''%LATE''', 'i + n > 4000 AND s LIKE ''%a%late''', 's LIKE ''never''', 'j @> ''{"code": 502}''', 's LIKE ''%1%'''] LOOP
		FOREACH cut IN ARRAY ARRAY['ts DESC, id LIMIT 20', 'ts, id DESC LIMIT 20', 'ts DESC, k, id LIMIT 3 OFFSET 11', 'ts, n DESC, id LIMIT 300', 'i DESC NULLS LAST, id LIMIT 10',
			'i NULLS FIRST, id LIMIT 700', 'i, id LIMIT 10', 'n, id LIMIT 15', 'k DESC, id LIMIT 9', 's, id LIMIT 9'] LOOP
			query := format('SELECT ts, k, j, s, i, n, id FROM %s WHERE %s ORDER BY %s', relation, condition, cut);
			twin := replace(query, 'FROM ' || relation, 'FROM ' || relation || '_h');
			EXECUTE format('SELECT md5(array_agg(x)::text) FROM (%s) AS x', twin) INTO want;
			FOREACH way IN ARRAY ARRAY['64MB', '64kB'] LOOP
				PERFORM set_config('work_mem', way, true);
				EXECUTE format('SELECT md5(array_agg(x)::text) FROM (%s) AS x', query) INTO got;
				IF want IS DISTINCT FROM got THEN
					RETURN NEXT;
				END IF;
			END LOOP;
			-- one key, of which rows may be any of those that are as good
			query := format('SELECT %s FROM %s WHERE %s ORDER BY %s', split_part(split_part(cut, ' ', 1), ',', 1), relation, condition,
				regexp_replace(cut, ',.* LIMIT', ' LIMIT'));
			twin := replace(query, 'FROM ' || relation, 'FROM ' || relation || '_h');
			EXECUTE format('SELECT array_agg(x)::text FROM (%s) AS x', twin) INTO want;
			EXECUTE format('SELECT array_agg(x)::text FROM (%s) AS x', query) INTO got;
			way := 'one key';
			IF want IS DISTINCT FROM got THEN
				RETURN NEXT;
			END IF;
		END LOOP;
	END LOOP;
	END LOOP;
END $$;
SELECT * FROM lq_differ();
-- once more with parameters and a rescan
SELECT g, x.* FROM generate_series(1, 3) AS g, LATERAL (SELECT ts, id FROM lq WHERE j ->> 'code' = (500 + g)::text AND lq_odd(n) ORDER BY ts DESC, id LIMIT 2) AS x;
SELECT g, x.* FROM generate_series(1, 3) AS g, LATERAL (SELECT ts, id FROM lq_h WHERE j ->> 'code' = (500 + g)::text AND lq_odd(n) ORDER BY ts DESC, id LIMIT 2) AS x;
DROP VIEW lq_up_h;
DROP FUNCTION lq_rows, lq_odd, lq_differ;
DROP TABLE lq, lq_h, lq_up;
