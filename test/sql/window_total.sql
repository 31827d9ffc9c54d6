-- A page of rows and how many there are, count(*) OVER (): the same with the switch on and off, and as of a heap.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET max_parallel_workers_per_gather = 0;
CREATE TABLE wt (ts timestamptz NOT NULL, k text, i int, id int);
SELECT count(*) FROM create_hypertable('wt', 'ts', chunk_time_interval => interval '12 hours');
ALTER TABLE wt SET (strata.segmentby = 'k', strata.orderby = 'ts');
INSERT INTO wt SELECT timestamptz '2020-01-01Z' + g * interval '40 seconds', nullif('k' || g % 7, 'k3'), g * 7 % 50, g FROM generate_series(0, 3599) AS g;
SELECT count(compress_chunk(c)) FROM show_chunks('wt') AS c;
INSERT INTO wt SELECT timestamptz '2020-01-01Z' + g * interval '33 seconds', 'k' || g % 9, g % 50, -g FROM generate_series(1, 300) AS g;
CREATE TABLE wt_h AS SELECT * FROM wt;
ANALYZE wt, wt_h;
CREATE FUNCTION wt_answer(query text, way text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	answer text := '';
BEGIN
	PERFORM set_config('strata_test.total', '1000', true);
	PERFORM set_config('strata.enable_windows', CASE way WHEN 'off' THEN 'off' ELSE 'on' END, true);
	-- not as a subquery: it is the statement itself that is changed
	FOR line IN EXECUTE replace(CASE way WHEN 'heap' THEN regexp_replace(query, '\mwt\M', 'wt_h', 'g') ELSE query END, 'SELECT ', 'SELECT id::text || '' '' || ') LOOP
		answer := answer || coalesce(line, '-') || ';';
	END LOOP;
	RETURN answer;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE FUNCTION wt_differ() RETURNS TABLE (query text, ways text) LANGUAGE plpgsql AS $$
BEGIN
	FOREACH query IN ARRAY ARRAY[
		'SELECT count(*) OVER () FROM wt ORDER BY id LIMIT 5', 'SELECT count(*) OVER () FROM wt WHERE k = ''k1'' ORDER BY ts DESC, id LIMIT 5 OFFSET 3',
		'SELECT count(*) OVER () + i FROM wt WHERE i > 40 AND ts < ''2020-01-02Z'' ORDER BY id LIMIT 5', 'SELECT count(*) OVER () FROM wt WHERE i > 99 ORDER BY id LIMIT 5',
		'SELECT count(*) OVER () FROM wt WHERE k IS NULL ORDER BY id DESC LIMIT 2', 'SELECT count(*) OVER () FROM wt ORDER BY id LIMIT 0', 'SELECT count(*) OVER () FROM wt ORDER BY id LIMIT NULL',
		'SELECT count(*) OVER () FROM wt ORDER BY count(*) OVER (), id FETCH FIRST 3 ROWS WITH TIES', 'SELECT count(*) OVER w FROM wt WINDOW w AS (), v AS (ORDER BY k) ORDER BY id LIMIT 3',
		'SELECT count(*) OVER () FROM wt WHERE 10 / (i - 7) > 1 ORDER BY id LIMIT 5', 'SELECT 10 / (id + 300) + count(*) OVER () FROM wt ORDER BY id LIMIT 5',
		'SELECT count(*) OVER () || wt::text FROM wt WHERE lower(k) LIKE ''k1%'' ORDER BY id LIMIT 3', 'SELECT count(*) OVER () FROM wt WHERE id IN (SELECT 5 UNION SELECT 6) ORDER BY id LIMIT 5',
		'SELECT count(*) OVER (ROWS 2 PRECEDING) FROM wt ORDER BY id LIMIT 5', 'SELECT count(*) OVER (PARTITION BY k) FROM wt ORDER BY id LIMIT 5', 'SELECT count(k) OVER () FROM wt ORDER BY id LIMIT 5',
		'SELECT count(*) FILTER (WHERE i = 3) OVER () FROM wt ORDER BY id LIMIT 5', 'SELECT count(*) OVER () + row_number() OVER (ORDER BY id) FROM wt ORDER BY id LIMIT 5',
		'SELECT count(*) OVER () + ceil(count(*) OVER () / 10.0) FROM wt WHERE i < 20 ORDER BY id LIMIT 5',
		'SELECT CASE WHEN id = 99999999 THEN count(*) OVER () END FROM wt WHERE 1 / (id - 50) < 5 ORDER BY id LIMIT 2',
		'SELECT (id > 0 OR count(*) OVER () > 5) FROM wt WHERE 1 / (id - 50) < 5 ORDER BY id DESC LIMIT 2',
		'SELECT set_config(''strata_test.total'', ''3000'', true) || '' '' || count(*) OVER () FROM wt WHERE id > coalesce(nullif(current_setting(''strata_test.total'', true), '''')::int, 0) ORDER BY id LIMIT 2',
		'SELECT DISTINCT count(*) OVER () FROM wt ORDER BY 1 LIMIT 5', 'SELECT a.i + count(*) OVER () FROM wt AS a JOIN wt AS b USING (id) ORDER BY id LIMIT 5'] LOOP
		SELECT string_agg(way, ', ') INTO ways FROM unnest(ARRAY['on', 'off']) AS way WHERE wt_answer(query, way) IS DISTINCT FROM wt_answer(query, 'heap');
		IF ways IS NOT NULL THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
SELECT * FROM wt_differ();
DELETE FROM wt WHERE id % 9 = 4;
DELETE FROM wt_h WHERE id % 9 = 4;
SELECT * FROM wt_differ();
SELECT wt_answer('SELECT count(*) OVER () FROM wt WHERE k = ''k1'' ORDER BY ts DESC LIMIT 2', 'on'), wt_answer('SELECT count(*) OVER () FROM wt WHERE 10 / (i - 7) > 1 ORDER BY id LIMIT 5', 'on');
SET strata.enable_windows = on;
PREPARE wt_page(text, int) AS SELECT id, count(*) OVER () FROM wt WHERE k = $1 ORDER BY id LIMIT 2 OFFSET $2;
SET plan_cache_mode = force_generic_plan;
EXECUTE wt_page('k1', 0);
EXECUTE wt_page('k2', 100);
INSERT INTO wt VALUES ('2020-01-01Z', 'k1', 1, -1000);
EXECUTE wt_page('k1', 0);
CREATE VIEW wt_view AS SELECT id, count(*) OVER () AS total FROM wt WHERE k = 'k1' ORDER BY id LIMIT 2;
SELECT * FROM wt_view;
SELECT pg_get_viewdef('wt_view'::regclass) LIKE '%count(*) OVER ()%';
DROP VIEW wt_view;
-- rows that somebody must not see are not counted
CREATE ROLE strata_test_total;
GRANT strata_test_total TO CURRENT_USER;
GRANT SELECT (ts, i, id) ON wt TO strata_test_total;
ALTER TABLE wt ENABLE ROW LEVEL SECURITY;
CREATE POLICY wt_some ON wt USING (i % 5 = 0);
SET ROLE strata_test_total;
SELECT i, count(*) OVER () FROM wt ORDER BY ts, id LIMIT 2;
\set VERBOSITY terse
SELECT k, count(*) OVER () FROM wt ORDER BY ts, id LIMIT 2;
RESET ROLE;
DROP FUNCTION wt_differ, wt_answer;
DROP TABLE wt, wt_h;
DROP ROLE strata_test_total;
